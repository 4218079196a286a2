/*
 * example.c - a program of PETSc that does not know libechelon: solves Poisson's equation on a
 * square grid with the solver that its options name.
 *
 *     example -n POINTS -dll_append libechelon_petsc.so -ksp_type echelon_cg
 *
 * Prints the iterations, the reason, the error against the exact solution, and the milliseconds of
 * the second solve.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <petscksp.h>
#include <petsctime.h>

static PetscErrorCode fill(Mat a, PetscInt n)
{
    PetscInt begin, end;
    PetscFunctionBeginUser;
    PetscCall(MatGetOwnershipRange(a, &begin, &end));
    for (PetscInt i = begin; i < end; i++) {
        const PetscInt x = i % n, y = i / n;
        if (y > 0) PetscCall(MatSetValue(a, i, i - n, -1, INSERT_VALUES));
        if (x > 0) PetscCall(MatSetValue(a, i, i - 1, -1, INSERT_VALUES));
        PetscCall(MatSetValue(a, i, i, 4 + 0.5 * (double)(i % 5), INSERT_VALUES));
        if (x + 1 < n) PetscCall(MatSetValue(a, i, i + 1, -1, INSERT_VALUES));
        if (y + 1 < n) PetscCall(MatSetValue(a, i, i + n, -1, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
    Mat a;
    Vec x, b, exact;
    KSP ksp;
    PetscInt n = 40, iterations;
    PetscReal error;
    KSPConvergedReason reason;
    PetscLogDouble begin, end;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
    PetscCall(MatCreate(PETSC_COMM_WORLD, &a));
    PetscCall(MatSetSizes(a, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n));
    PetscCall(MatSetFromOptions(a));
    PetscCall(MatSeqAIJSetPreallocation(a, 5, NULL));
    PetscCall(MatMPIAIJSetPreallocation(a, 5, NULL, 2, NULL));
    PetscCall(fill(a, n));
    PetscCall(MatCreateVecs(a, &x, &b));
    PetscCall(VecDuplicate(x, &exact));
    PetscCall(VecSet(exact, 1));
    PetscCall(MatMult(a, exact, b));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, a, a));
    PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(PetscTime(&begin));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(PetscTime(&end));
    PetscCall(KSPGetIterationNumber(ksp, &iterations));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(VecAXPY(x, -1, exact));
    PetscCall(VecNorm(x, NORM_INFINITY, &error));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "%" PetscInt_FMT " iterations, %s, error %.17g, %.1f ms\n", iterations,
                          KSPConvergedReasons[reason], (double)error, 1e3 * (end - begin)));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&exact));
    PetscCall(MatDestroy(&a));
    PetscCall(PetscFinalize());
    return 0;
}
