/*
 * solve/names.c - the names of methods, preconditioners and status values, and the steps of each
 * method.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/solve.h"

#include <string.h>

static const struct {
    const char *name;
    const struct echi_method *steps; /* NULL: auto */
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
    [ECH_PRECOND_ILUT] = "ilut",
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
        return "converged: the residual is at most rtol |b|";
    case ECH_SOLVE_STATUS_CONVERGED_ATOL:
        return "converged: the residual is at most atol";
    case ECH_SOLVE_STATUS_STOPPED_ITERATIONS:
        return "not converged: the maximum number of iterations was reached";
    case ECH_SOLVE_STATUS_STOPPED_DIVERGED:
        return "diverged: the residual grew by more than a factor of dtol";
    case ECH_SOLVE_STATUS_STOPPED_BREAKDOWN:
        return "breakdown: the method would divide by zero; try another method";
    case ECH_SOLVE_STATUS_STOPPED_STAGNATED:
        return "stagnated: the residual no longer decreases; the system may be singular, or the "
               "tolerance smaller than the type can reach";
    case ECH_SOLVE_STATUS_STOPPED_INDEFINITE:
        return "the matrix or the preconditioner is not symmetric positive definite; use MINRES "
               "for symmetric systems, GMRES for all others";
    case ECH_SOLVE_STATUS_STOPPED_NAN:
        return "NaN or infinity in the matrix, the right-hand side or the initial guess, or "
               "overflow";
    case ECH_SOLVE_STATUS_STOPPED_MONITOR:
        return "stopped by the monitor";
    case ECH_SOLVE_STATUS_STOPPED_SINGULAR:
        return "zero on the diagonal, or zero pivot";
    }
    return "?";
}

const struct echi_method *echi_method_of(ech_method method)
{
    return methods[method].steps;
}
