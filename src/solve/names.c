/*
 * solve/names.c - the names of methods, preconditioners and reasons, and the steps of each method.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/solve.h"

#include <string.h>

static const struct {
    const char *name;
    const struct echi_method *steps; /* NULL: chosen */
} methods[ECHI_METHODS] = {
    [ECH_METHOD_AUTO] = { "auto", NULL },
    [ECH_METHOD_RICHARDSON] = { "richardson", &echi_solve_richardson },
    [ECH_METHOD_JACOBI] = { "jacobi", &echi_solve_richardson },
    [ECH_METHOD_CHEBYSHEV] = { "chebyshev", &echi_solve_chebyshev },
    [ECH_METHOD_CG] = { "cg", &echi_solve_cg },
    [ECH_METHOD_MINRES] = { "minres", &echi_solve_minres },
    [ECH_METHOD_BICGSTAB] = { "bicgstab", &echi_solve_bicgstab },
    [ECH_METHOD_GMRES] = { "gmres", &echi_solve_gmres },
    [ECH_METHOD_GAUSS_SEIDEL] = { "gauss-seidel", &echi_solve_richardson },
    [ECH_METHOD_SOR] = { "sor", &echi_solve_richardson },
};

static const char *const preconds[ECHI_PRECONDS] = {
    [ECH_PRECOND_NONE] = "none", [ECH_PRECOND_JACOBI] = "jacobi",
    [ECH_PRECOND_SSOR] = "ssor", [ECH_PRECOND_ILU0] = "ilu0",
    [ECH_PRECOND_IC0] = "ic0",   [ECH_PRECOND_BLOCK_JACOBI] = "block-jacobi",
};

const char *ech_method_name(ech_method method)
{
    return (unsigned)method < ECHI_METHODS ? methods[method].name : "?";
}

int ech_method_from_name(const char *name)
{
    for (int i = 0; name && i < ECHI_METHODS; i++)
        if (strcmp(name, methods[i].name) == 0) return i;
    return -1;
}

const char *ech_precond_name(ech_precond precond)
{
    return (unsigned)precond < ECHI_PRECONDS ? preconds[precond] : "?";
}

int ech_precond_from_name(const char *name)
{
    for (int i = 0; name && i < ECHI_PRECONDS; i++)
        if (strcmp(name, preconds[i]) == 0) return i;
    return -1;
}

const char *ech_solve_status_text(ech_solve_status reason)
{
    switch (reason) {
    case ECH_SOLVE_STATUS_CONVERGED_RTOL:
        return "converged: the residual is at most rtol times that of x = 0";
    case ECH_SOLVE_STATUS_CONVERGED_ATOL:
        return "converged: the residual is at most atol";
    case ECH_SOLVE_STATUS_STOPPED_ITERATIONS:
        return "not converged within the iterations allowed";
    case ECH_SOLVE_STATUS_STOPPED_DIVERGED:
        return "diverged: the residual grew beyond dtol";
    case ECH_SOLVE_STATUS_STOPPED_BREAKDOWN:
        return "broke down: the method would divide by zero; another method may do";
    case ECH_SOLVE_STATUS_STOPPED_STAGNATED:
        return "stagnated: the residual does not fall any more; the system may be singular or the "
               "tolerance beyond what the type can reach";
    case ECH_SOLVE_STATUS_STOPPED_INDEFINITE:
        return "the matrix or the preconditioner is not symmetric positive definite; MINRES solves "
               "symmetric, GMRES all systems";
    case ECH_SOLVE_STATUS_STOPPED_NAN:
        return "NaN or infinity in the matrix, the right-hand side or the guess, or numbers beyond "
               "the type's range";
    case ECH_SOLVE_STATUS_STOPPED_MONITOR:
        return "ended by the monitor";
    case ECH_SOLVE_STATUS_STOPPED_SINGULAR:
        return "a zero on the diagonal, or for a pivot, by which would be divided";
    }
    return "?";
}

const struct echi_method *echi_method_of(ech_method method)
{
    return methods[method].steps;
}
