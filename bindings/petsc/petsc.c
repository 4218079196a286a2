/*
 * petsc.c - libechelon_petsc.so: a matrix type and a solver of PETSc that use libechelon.
 *
 *     MATAIJ, any communicator     rows of this process, with columns of the whole matrix
 *       "aijechelon"               an AIJ matrix whose MatMult() is ech_dist_spmv()
 *       "echelon_cg"               a KSP whose solution is computed by ech_dist_solve()
 *
 * PETSc loads the library with -dll_append, or a program calls
 * PetscDLLibraryRegister_echelon_petsc().  It is compiled together with src/comm/mpi/mpi.c by the
 * mpicc with which PETSc was built.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <echelon.h>
#include <echelon/mpi.h>
#include <petsc/private/kspimpl.h>
#include <petsc/private/matimpl.h>
#include <petscksp.h>

#if !defined(PETSC_USE_REAL_DOUBLE) || defined(PETSC_USE_COMPLEX)
#error "libechelon_petsc needs a PETSc with real numbers of double precision"
#endif

PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_echelon_petsc(void);

/* What a process has of a matrix in libechelon. */
struct echelon {
    MPI_Comm mpi;
    ech_ctx *ctx;
    ech_comm *comm;
    ech_dist_csr *matrix;
    PetscObjectId id; /* of the matrix from which it was made, in this state */
    PetscObjectState state;
};

#define ECH_CALL(e, call)                                                                          \
    do {                                                                                           \
        const ech_status ech_result = (call);                                                      \
        PetscCheck(ech_result == ECH_OK, (e)->mpi, PETSC_ERR_LIB, "libechelon: %s: %s",            \
                   ech_status_name(ech_result),                                                    \
                   (e)->ctx && ech_error((e)->ctx)[0] ? ech_error((e)->ctx) : ech_error(NULL));    \
    } while (0)

/* ---- Contexts and matrices ---- */

/* The device is that of the option -echelon_device or of the environment variable ECHELON_DEVICE;
 * the CPU if neither is set.  "cuda:all" selects a GPU by the number of the process. */
static PetscErrorCode open_context(struct echelon *e)
{
    char device[64] = "cpu";
    const char *variable = getenv("ECHELON_DEVICE");
    PetscBool all = PETSC_FALSE;
    PetscMPIInt rank;
    PetscFunctionBegin;
    if (variable && *variable) PetscCall(PetscStrncpy(device, variable, sizeof device));
    PetscCall(PetscOptionsGetString(NULL, NULL, "-echelon_device", device, sizeof device, NULL));
    PetscCall(PetscStrcmp(device, "cuda:all", &all));
    if (all) {
        const int gpus = ech_device_count() - 1;
        PetscCallMPI(MPI_Comm_rank(e->mpi, &rank));
        PetscCall(PetscSNPrintf(device, sizeof device, "cuda:%d", rank % (gpus > 0 ? gpus : 1)));
    }
    ECH_CALL(e, ech_open(&e->ctx, device));
    ECH_CALL(e, ech_comm_mpi(&e->comm, &e->mpi, NULL));
    PetscFunctionReturn(0);
}

static PetscErrorCode echelon_destroy(struct echelon **of)
{
    struct echelon *e = *of;
    PetscFunctionBegin;
    if (!e) PetscFunctionReturn(0);
    ech_dist_csr_free(e->matrix);
    ech_comm_close(e->comm);
    ech_close(e->ctx);
    PetscCall(PetscFree(e));
    *of = NULL;
    PetscFunctionReturn(0);
}

static PetscErrorCode echelon_create(MPI_Comm mpi, struct echelon **of)
{
    PetscFunctionBegin;
    PetscCall(PetscNew(of));
    (*of)->mpi = mpi;
    PetscFunctionReturn(0);
}

/* Copies the rows of this process. */
static PetscErrorCode take_rows(Mat a, int64_t **offsets, int64_t **columns, double **values)
{
    PetscInt begin, end, count, most = 0;
    const PetscInt *cols;
    const PetscScalar *vals;
    PetscFunctionBegin;
    PetscCall(MatGetOwnershipRange(a, &begin, &end));
    PetscCall(PetscMalloc1(end - begin + 1, offsets));
    (*offsets)[0] = 0;
    for (PetscInt i = begin; i < end; i++) {
        PetscCall(MatGetRow(a, i, &count, NULL, NULL));
        (*offsets)[i - begin + 1] = (*offsets)[i - begin] + count;
        PetscCall(MatRestoreRow(a, i, &count, NULL, NULL));
    }
    most = (PetscInt)(*offsets)[end - begin];
    PetscCall(PetscMalloc2(most, columns, most, values));
    for (PetscInt i = begin; i < end; i++) {
        const int64_t at = (*offsets)[i - begin];
        PetscCall(MatGetRow(a, i, &count, &cols, &vals));
        for (PetscInt k = 0; k < count; k++) {
            (*columns)[at + k] = cols[k];
            (*values)[at + k] = vals[k];
        }
        PetscCall(MatRestoreRow(a, i, &count, &cols, &vals));
    }
    PetscFunctionReturn(0);
}

/* Makes the distributed matrix if a is not the one from which it was made, or has changed. */
static PetscErrorCode echelon_update(struct echelon *e, Mat a)
{
    PetscObjectId id;
    PetscObjectState state;
    PetscInt rows, cols, n;
    int64_t *offsets, *columns;
    double *values;
    PetscFunctionBegin;
    PetscCall(PetscObjectGetId((PetscObject)a, &id));
    PetscCall(PetscObjectStateGet((PetscObject)a, &state));
    if (e->matrix && e->id == id && e->state == state) PetscFunctionReturn(0);
    PetscCall(MatGetSize(a, &rows, &cols));
    PetscCall(MatGetLocalSize(a, &n, NULL));
    PetscCheck(rows == cols, e->mpi, PETSC_ERR_ARG_SIZ,
               "libechelon: the matrix is %" PetscInt_FMT " x %" PetscInt_FMT ", not square", rows,
               cols);
    if (!e->ctx) PetscCall(open_context(e));
    PetscCall(take_rows(a, &offsets, &columns, &values));
    ech_dist_csr_free(e->matrix);
    e->matrix = NULL;
    const ech_csr csr = { .size = sizeof csr,
                          .rows = (size_t)n,
                          .cols = (size_t)cols,
                          .nnz = (size_t)offsets[n],
                          .row_offsets = offsets,
                          .col_indices = columns,
                          .values = values,
                          .index_dtype = ECH_I64,
                          .dtype = ECH_F64 };
    ECH_CALL(e, ech_dist_csr_create(e->ctx, e->comm, &csr, &e->matrix));
    PetscCall(PetscFree(offsets));
    PetscCall(PetscFree2(columns, values));
    e->id = id;
    e->state = state;
    PetscFunctionReturn(0);
}

/* ---- The matrix type "aijechelon" ---- */

static PetscErrorCode container_destroy(void *e)
{
    struct echelon *of = e;
    return echelon_destroy(&of);
}

static PetscErrorCode mat_echelon(Mat a, struct echelon **e)
{
    PetscContainer container;
    PetscFunctionBegin;
    *e = NULL;
    PetscCall(PetscObjectQuery((PetscObject)a, "echelon", (PetscObject *)&container));
    if (container) PetscCall(PetscContainerGetPointer(container, (void **)e));
    PetscFunctionReturn(0);
}

static PetscErrorCode MatMult_AIJEchelon(Mat a, Vec x, Vec y)
{
    struct echelon *e;
    const PetscScalar *in;
    PetscScalar *out;
    PetscFunctionBegin;
    PetscCall(mat_echelon(a, &e));
    PetscCheck(e, PetscObjectComm((PetscObject)a), PETSC_ERR_PLIB, "not an aijechelon matrix");
    PetscCall(echelon_update(e, a));
    PetscCall(VecGetArrayRead(x, &in));
    PetscCall(VecGetArrayWrite(y, &out));
    ECH_CALL(e, ech_dist_spmv(e->ctx, e->comm, 1, e->matrix, in, 0, out));
    PetscCall(VecRestoreArrayRead(x, &in));
    PetscCall(VecRestoreArrayWrite(y, &out));
    PetscFunctionReturn(0);
}

PETSC_EXTERN PetscErrorCode MatCreate_AIJEchelon(Mat a);
PetscErrorCode MatCreate_AIJEchelon(Mat a)
{
    struct echelon *e;
    PetscContainer container;
    PetscFunctionBegin;
    PetscCall(MatSetType(a, MATAIJ)); /* becomes seqaij or mpiaij */
    PetscCall(echelon_create(PetscObjectComm((PetscObject)a), &e));
    PetscCall(PetscContainerCreate(PetscObjectComm((PetscObject)a), &container));
    PetscCall(PetscContainerSetPointer(container, e));
    PetscCall(PetscContainerSetUserDestroy(container, container_destroy));
    PetscCall(PetscObjectCompose((PetscObject)a, "echelon", (PetscObject)container));
    PetscCall(PetscContainerDestroy(&container));
    a->ops->mult = MatMult_AIJEchelon;
    PetscFunctionReturn(0);
}

/* ---- The solver "echelon_cg" ---- */

struct solver {
    struct echelon *e;
    ech_precond precond;
    int block;
};

/* The preconditioner: none, jacobi, or pbjacobi, whose blocks are those of the matrix.  If the type
 * of PC is another one that is not an option of the user, it becomes jacobi. */
static PetscErrorCode choose_pc(KSP ksp, struct solver *s)
{
    const char *prefix;
    PetscBool none, jacobi, blocks, given;
    PetscInt block = 1;
    PC pc;
    Mat a, p;
    PetscFunctionBegin;
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(KSPGetOptionsPrefix(ksp, &prefix));
    PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCNONE, &none));
    PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCJACOBI, &jacobi));
    PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCPBJACOBI, &blocks));
    PetscCall(PetscOptionsHasName(NULL, prefix, "-pc_type", &given));
    PetscCheck(none || jacobi || blocks || !given, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
               "echelon_cg supports -pc_type none, jacobi and pbjacobi");
    if (!none && !jacobi && !blocks) PetscCall(PCSetType(pc, PCJACOBI));
    PetscCall(KSPGetOperators(ksp, &a, &p));
    PetscCheck(a == p || none, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
               "echelon_cg makes the preconditioner from the operator; another Pmat is given");
    if (blocks) PetscCall(MatGetBlockSize(p, &block));
    s->precond = none ? ECH_PRECOND_NONE : blocks ? ECH_PRECOND_BLOCK_JACOBI : ECH_PRECOND_JACOBI;
    s->block = (int)block;
    PetscFunctionReturn(0);
}

static PetscErrorCode KSPSetUp_EchelonCG(KSP ksp)
{
    struct solver *s = ksp->data;
    Mat a;
    PetscFunctionBegin;
    PetscCall(choose_pc(ksp, s));
    if (!s->e) PetscCall(echelon_create(PetscObjectComm((PetscObject)ksp), &s->e));
    PetscCall(KSPGetOperators(ksp, &a, NULL));
    PetscCall(echelon_update(s->e, a));
    PetscFunctionReturn(0);
}

static KSPConvergedReason reason_of(ech_solve_status status)
{
    switch (status) {
    case ECH_SOLVE_STATUS_CONVERGED_RTOL:
        return KSP_CONVERGED_RTOL;
    case ECH_SOLVE_STATUS_CONVERGED_ATOL:
        return KSP_CONVERGED_ATOL;
    case ECH_SOLVE_STATUS_STOPPED_ITERATIONS:
        return KSP_DIVERGED_ITS;
    case ECH_SOLVE_STATUS_STOPPED_DIVERGED:
        return KSP_DIVERGED_DTOL;
    case ECH_SOLVE_STATUS_STOPPED_INDEFINITE:
        return KSP_DIVERGED_INDEFINITE_MAT;
    case ECH_SOLVE_STATUS_STOPPED_NAN:
        return KSP_DIVERGED_NANORINF;
    case ECH_SOLVE_STATUS_STOPPED_SINGULAR:
        return KSP_DIVERGED_PC_FAILED;
    default:
        return KSP_DIVERGED_BREAKDOWN;
    }
}

/* Passes the residuals to the monitors and the history of the KSP, after the solve. */
static PetscErrorCode report(KSP ksp, const ech_solve_report *report, const double *history)
{
    PetscFunctionBegin;
    for (size_t i = 0; i < report->history_count; i++) {
        ksp->its = (PetscInt)i;
        ksp->rnorm = history[i];
        PetscCall(KSPLogResidualHistory(ksp, history[i]));
        PetscCall(KSPMonitor(ksp, (PetscInt)i, history[i]));
    }
    ksp->its = (PetscInt)report->iterations;
    ksp->rnorm = report->residual;
    ksp->reason = reason_of(report->status);
    PetscFunctionReturn(0);
}

static PetscErrorCode KSPSolve_EchelonCG(KSP ksp)
{
    struct solver *s = ksp->data;
    struct echelon *e = s->e;
    ech_solve_report outcome = { .size = sizeof outcome };
    double *history;
    const PetscScalar *b;
    PetscScalar *x;
    PetscFunctionBegin;
    PetscCheck(!ksp->transpose_solve, e->mpi, PETSC_ERR_SUP,
               "echelon_cg does not solve transposed systems");
    PetscCall(PetscMalloc1(ksp->max_it + 1, &history));
    const ech_solve_options options = { .size = sizeof options,
                                        .method = ECH_METHOD_CG,
                                        .precond = s->precond,
                                        .block = s->block,
                                        .rtol = ksp->rtol,
                                        .atol = ksp->abstol,
                                        .dtol = ksp->divtol,
                                        .max_iterations = (uint64_t)ksp->max_it,
                                        .use_initial_guess = !ksp->guess_zero,
                                        .history = history,
                                        .history_capacity = (size_t)ksp->max_it + 1 };
    PetscCall(VecGetArrayRead(ksp->vec_rhs, &b));
    PetscCall(VecGetArray(ksp->vec_sol, &x));
    ECH_CALL(e, ech_dist_solve(e->ctx, e->comm, e->matrix, b, x, &options, &outcome));
    PetscCall(VecRestoreArrayRead(ksp->vec_rhs, &b));
    PetscCall(VecRestoreArray(ksp->vec_sol, &x));
    if (outcome.history_count > (size_t)ksp->max_it + 1)
        outcome.history_count = (size_t)ksp->max_it + 1;
    PetscCall(report(ksp, &outcome, history));
    PetscCall(PetscFree(history));
    PetscFunctionReturn(0);
}

static PetscErrorCode KSPReset_EchelonCG(KSP ksp)
{
    struct solver *s = ksp->data;
    PetscFunctionBegin;
    PetscCall(echelon_destroy(&s->e));
    PetscFunctionReturn(0);
}

static PetscErrorCode KSPDestroy_EchelonCG(KSP ksp)
{
    PetscFunctionBegin;
    PetscCall(KSPReset_EchelonCG(ksp));
    PetscCall(KSPDestroyDefault(ksp));
    PetscFunctionReturn(0);
}

static PetscErrorCode KSPView_EchelonCG(KSP ksp, PetscViewer viewer)
{
    const struct solver *s = ksp->data;
    PetscBool ascii;
    PetscFunctionBegin;
    PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
    if (ascii)
        PetscCall(PetscViewerASCIIPrintf(
            viewer, "  libechelon %s on %s, preconditioner %s\n", ech_version(),
            s->e && s->e->ctx ? ech_device_name(s->e->ctx) : "-", ech_precond_name(s->precond)));
    PetscFunctionReturn(0);
}

PETSC_EXTERN PetscErrorCode KSPCreate_EchelonCG(KSP ksp);
PetscErrorCode KSPCreate_EchelonCG(KSP ksp)
{
    struct solver *s;
    PetscFunctionBegin;
    PetscCall(PetscNew(&s));
    ksp->data = s;
    PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_LEFT, 3));
    PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_LEFT, 1));
    ksp->ops->setup = KSPSetUp_EchelonCG;
    ksp->ops->solve = KSPSolve_EchelonCG;
    ksp->ops->reset = KSPReset_EchelonCG;
    ksp->ops->destroy = KSPDestroy_EchelonCG;
    ksp->ops->view = KSPView_EchelonCG;
    ksp->ops->buildsolution = KSPBuildSolutionDefault;
    ksp->ops->buildresidual = KSPBuildResidualDefault;
    PetscFunctionReturn(0);
}

/* ---- Registration ---- */

PetscErrorCode PetscDLLibraryRegister_echelon_petsc(void)
{
    PetscFunctionBegin;
    PetscCall(KSPRegister("echelon_cg", KSPCreate_EchelonCG));
    PetscCall(MatRegister("aijechelon", MatCreate_AIJEchelon));
    PetscFunctionReturn(0);
}
