/*
 * petsc_cg.c - conjugate gradients with Jacobi by PETSc and by ech_dist_solve() in one program: the
 * same MPI processes, matrix, right side and tolerance.  bench/petsc_cg.sh builds and runs it.
 *
 *     petsc_cg -side S -repeats R -rtol T
 *
 * The matrix is that of Poisson's equation on a cube of S x S x S points, f64, in rows of each
 * process.  Both use the norm of the residual without the preconditioner, relative to that of b,
 * and begin with x = 0.  The solves alternate; the time is the shortest one of the slowest process.
 * A CSV line has the program, processes, unknowns, iterations, milliseconds of a solve, of an
 * iteration, and |b - A x| / |b|, which PETSc computes from each x.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <echelon.h>
#include <echelon/mpi.h>
#include <petscksp.h>
#include <petsctime.h>

#define ECH_CALL(call)                                                                             \
    do {                                                                                           \
        const ech_status ech_result = (call);                                                      \
        PetscCheck(ech_result == ECH_OK, PETSC_COMM_WORLD, PETSC_ERR_LIB, "libechelon: %s",        \
                   ech_status_name(ech_result));                                                   \
    } while (0)

static struct {
    PetscInt side, n, begin, end; /* n: unknowns; rows of this process */
    PetscReal rtol;
    Mat a;
    Vec b, x;
    KSP ksp;
    ech_ctx *ctx;
    ech_comm *comm;
    ech_dist_csr *matrix;
} s;

/* The columns and values of a row, in ascending order; their number. */
static int row_of(PetscInt i, PetscInt *columns, PetscScalar *values)
{
    const PetscInt step[3] = { 1, s.side, s.side * s.side };
    const PetscInt at[3] = { i % s.side, i / s.side % s.side, i / (s.side * s.side) };
    int n = 0;
    for (int d = 3; d-- > 0;)
        if (at[d] > 0) {
            columns[n] = i - step[d];
            values[n++] = -1;
        }
    columns[n] = i;
    values[n++] = 6;
    for (int d = 0; d < 3; d++)
        if (at[d] + 1 < s.side) {
            columns[n] = i + step[d];
            values[n++] = -1;
        }
    return n;
}

static PetscErrorCode make_petsc(void)
{
    PetscInt columns[7];
    PetscScalar values[7];
    PC pc;
    PetscFunctionBeginUser;
    PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, s.n, s.n, 7, NULL, 2, NULL,
                           &s.a));
    PetscCall(MatGetOwnershipRange(s.a, &s.begin, &s.end));
    for (PetscInt i = s.begin; i < s.end; i++) {
        const int n = row_of(i, columns, values);
        PetscCall(MatSetValues(s.a, 1, &i, n, columns, values, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(s.a, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(s.a, MAT_FINAL_ASSEMBLY));
    PetscCall(MatCreateVecs(s.a, &s.x, &s.b));
    for (PetscInt i = s.begin; i < s.end; i++)
        PetscCall(VecSetValue(s.b, i, (PetscScalar)(i % 17) - 8, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(s.b));
    PetscCall(VecAssemblyEnd(s.b));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &s.ksp));
    PetscCall(KSPSetOperators(s.ksp, s.a, s.a));
    PetscCall(KSPSetType(s.ksp, KSPCG));
    PetscCall(KSPSetNormType(s.ksp, KSP_NORM_UNPRECONDITIONED));
    PetscCall(KSPSetTolerances(s.ksp, s.rtol, 1e-300, PETSC_DEFAULT, 100000));
    PetscCall(KSPGetPC(s.ksp, &pc));
    PetscCall(PCSetType(pc, PCJACOBI));
    PetscCall(KSPSetFromOptions(s.ksp));
    PetscCall(KSPSetUp(s.ksp));
    PetscFunctionReturn(0);
}

static PetscErrorCode make_echelon(void)
{
    const PetscInt rows = s.end - s.begin;
    MPI_Comm mpi = PETSC_COMM_WORLD;
    PetscInt *offsets, *columns;
    PetscScalar *values;
    PetscFunctionBeginUser;
    PetscCall(PetscMalloc3(rows + 1, &offsets, 7 * rows, &columns, 7 * rows, &values));
    offsets[0] = 0;
    for (PetscInt i = 0; i < rows; i++)
        offsets[i + 1] =
            offsets[i] + row_of(s.begin + i, columns + offsets[i], values + offsets[i]);
    const ech_csr csr = { .size = sizeof csr,
                          .rows = (size_t)rows,
                          .cols = (size_t)s.n,
                          .nnz = (size_t)offsets[rows],
                          .row_offsets = offsets,
                          .col_indices = columns,
                          .values = values,
                          .index_dtype = sizeof(PetscInt) == 4 ? ECH_I32 : ECH_I64,
                          .dtype = ECH_F64 };
    ECH_CALL(ech_open(&s.ctx, "cpu"));
    ECH_CALL(ech_set_threads(s.ctx, 1)); /* as PETSc */
    ECH_CALL(ech_comm_mpi(&s.comm, &mpi, NULL));
    ECH_CALL(ech_dist_csr_create(s.ctx, s.comm, &csr, &s.matrix));
    PetscCall(PetscFree3(offsets, columns, values));
    PetscFunctionReturn(0);
}

static PetscErrorCode solve_petsc(PetscInt *iterations)
{
    PetscFunctionBeginUser;
    PetscCall(VecSet(s.x, 0));
    PetscCall(KSPSolve(s.ksp, s.b, s.x));
    PetscCall(KSPGetIterationNumber(s.ksp, iterations));
    PetscFunctionReturn(0);
}

static PetscErrorCode solve_echelon(PetscInt *iterations)
{
    const ech_solve_options options = { .size = sizeof options,
                                        .method = ECH_METHOD_CG,
                                        .precond = ECH_PRECOND_JACOBI,
                                        .rtol = s.rtol,
                                        .max_iterations = 100000 };
    ech_solve_report report = { .size = sizeof report };
    const PetscScalar *b;
    PetscScalar *x;
    PetscFunctionBeginUser;
    PetscCall(VecGetArrayRead(s.b, &b));
    PetscCall(VecGetArrayWrite(s.x, &x));
    ECH_CALL(ech_dist_solve(s.ctx, s.comm, s.matrix, b, x, &options, &report));
    PetscCall(VecRestoreArrayWrite(s.x, &x));
    PetscCall(VecRestoreArrayRead(s.b, &b));
    *iterations = (PetscInt)report.iterations;
    PetscFunctionReturn(0);
}

static const struct program {
    const char *name;
    PetscErrorCode (*solve)(PetscInt *iterations);
} programs[] = { { "KSPSolve", solve_petsc }, { "ech_dist_solve", solve_echelon } };

/* One solve: the seconds of the slowest process. */
static PetscErrorCode measure(const struct program *p, PetscInt *iterations, double *seconds)
{
    PetscLogDouble begin, end;
    PetscFunctionBeginUser;
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    PetscCall(PetscTime(&begin));
    PetscCall(p->solve(iterations));
    PetscCall(PetscTime(&end));
    *seconds = end - begin;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, seconds, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
    PetscFunctionReturn(0);
}

static PetscErrorCode print(const struct program *p, PetscInt iterations, double seconds)
{
    PetscMPIInt processes;
    PetscReal residual, norm;
    Vec r;
    PetscFunctionBeginUser;
    PetscCall(VecDuplicate(s.b, &r));
    PetscCall(MatMult(s.a, s.x, r));
    PetscCall(VecAYPX(r, -1, s.b));
    PetscCall(VecNorm(r, NORM_2, &residual));
    PetscCall(VecNorm(s.b, NORM_2, &norm));
    PetscCall(VecDestroy(&r));
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &processes));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "%s,%d,%" PetscInt_FMT ",%" PetscInt_FMT ",%.2f,%.4f,%.3e\n", p->name,
                          processes, s.n, iterations, 1e3 * seconds,
                          1e3 * seconds / (double)iterations, (double)(residual / norm)));
    PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
    enum { PROGRAMS = sizeof programs / sizeof *programs };
    PetscInt repeats = 5, iterations = 0;
    double best[PROGRAMS], seconds;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    s.side = 100;
    s.rtol = 1e-8;
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-side", &s.side, NULL));
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeats", &repeats, NULL));
    PetscCall(PetscOptionsGetReal(NULL, NULL, "-rtol", &s.rtol, NULL));
    s.n = s.side * s.side * s.side;
    PetscCall(make_petsc());
    PetscCall(make_echelon());
    for (PetscInt i = 0; i <= repeats; i++)
        for (int p = 0; p < PROGRAMS; p++) {
            PetscCall(measure(&programs[p], &iterations, &seconds));
            if (i < 2 || seconds < best[p]) best[p] = seconds; /* the first solve does not count */
            if (i == repeats) PetscCall(print(&programs[p], iterations, best[p]));
        }
    ech_dist_csr_free(s.matrix);
    ech_comm_close(s.comm);
    ech_close(s.ctx);
    PetscCall(KSPDestroy(&s.ksp));
    PetscCall(VecDestroy(&s.x));
    PetscCall(VecDestroy(&s.b));
    PetscCall(MatDestroy(&s.a));
    PetscCall(PetscFinalize());
    return 0;
}
