/*
 * solve/recur.h - the scalar recurrences of iterative solvers between steps: shared by the CPU and
 * the one GPU thread that computes them.
 *
 * Each recurrence reads its inputs, computes, and then writes.  Square roots and quotients are
 * correctly rounded everywhere, so that all devices compute the same numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SOLVE_RECUR_H
#define ECHI_SOLVE_RECUR_H

#include "core/both.h"
#include "solve/step.h"

#include <math.h>

/* The methods' own scalars. */
enum {
    ECHI_CG_RZ = ECHI_S_OWN,
    ECHI_CG_ALPHA,
    ECHI_CG_BETA,
    ECHI_CG_DUE, /* nonzero: alpha p has not been added to x */
    ECHI_BI_RHO = ECHI_S_OWN,
    ECHI_BI_ALPHA,
    ECHI_BI_OMEGA,
    ECHI_BI_BETA,
    ECHI_BI_BETA_OMEGA,
    ECHI_MR_BETA = ECHI_S_OWN,
    ECHI_MR_INVERSE, /* 1 / beta */
    ECHI_MR_OLD,     /* beta / previous beta */
    ECHI_MR_ALFA,
    ECHI_MR_ALFA_BETA, /* alfa / beta */
    ECHI_MR_DBAR,
    ECHI_MR_EPSILON,
    ECHI_MR_PHIBAR,
    ECHI_MR_COS,
    ECHI_MR_SIN,
    ECHI_MR_W_V, /* coefficients of the next direction ... */
    ECHI_MR_W_1,
    ECHI_MR_W_2,
    ECHI_MR_PHI, /* ... of x, and of the residual */
    ECHI_MR_R_OLD,
    ECHI_MR_R_NEW,
    ECHI_GM_SCALE = ECHI_S_OWN /* 1 / the norm of the last vector */
};

/* GMRES: columns of H, each of restart + 1; then cosines, sines, the right-hand side, y. */
ECHI_BOTH int solve_gmres_h(int restart, int row, int column)
{
    return ECHI_S_MORE + column * (restart + 1) + row;
}

ECHI_BOTH int solve_gmres_list(int restart, int list, int i)
{
    return ECHI_S_MORE + (restart + list) * (restart + 1) + i;
}

enum { ECHI_GM_COS, ECHI_GM_SIN, ECHI_GM_G, ECHI_GM_Y, ECHI_GM_LISTS };

ECHI_BOTH void solve_stop(double *s, enum echi_solve_stop why)
{
    if (s[ECHI_S_STOP] == 0) s[ECHI_S_STOP] = why;
}

/* Neither infinite nor NaN. */
ECHI_BOTH int solve_finite(double x)
{
    return x - x == 0;
}

/* Counts an iteration; decides whether to stop. */
ECHI_BOTH void solve_count(double *s, double residual)
{
    const double done = s[ECHI_S_ITERATION] + 1, target = s[ECHI_S_TARGET];
    const double limit = s[ECHI_S_LIMIT], last = s[ECHI_S_LAST], best = s[ECHI_S_BEST];
    const double best_at = s[ECHI_S_BEST_AT], stall = s[ECHI_S_STALL], stop = s[ECHI_S_STOP];
    s[ECHI_S_RING + (int)((uint64_t)(done - 1) % ECHI_SOLVE_RING)] = residual;
    s[ECHI_S_ITERATION] = done;
    s[ECHI_S_RESIDUAL] = residual;
    if (residual < 0.999 * best) {
        s[ECHI_S_BEST] = residual;
        s[ECHI_S_BEST_AT] = done;
    }
    if (stop != 0) return;
    if (!solve_finite(residual))
        s[ECHI_S_STOP] = ECHI_STOP_NAN;
    else if (residual <= target)
        s[ECHI_S_STOP] = ECHI_STOP_SMALL;
    else if (residual > limit)
        s[ECHI_S_STOP] = ECHI_STOP_DIVERGED;
    else if (done >= last)
        s[ECHI_S_STOP] = ECHI_STOP_ITERATIONS;
    else if (!(residual < 0.999 * best) && done - best_at >= stall)
        s[ECHI_S_STOP] = ECHI_STOP_STAGNATED;
}

/* A number from -1 to 1 for a position: SplitMix64 (Steele, Lea and Flood, 2014). */
ECHI_BOTH double solve_uniform(uint64_t seed, uint64_t i)
{
    uint64_t x = (i + seed * 0x632be59bd9b4e019u + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    x = x ^ x >> 31;
    return (double)(x >> 11) / 4503599627370496.0 - 1; /* divided by 2^52 */
}

/* ---- Conjugate gradients ---- */

ECHI_BOTH void solve_cg_alpha(double *s)
{
    const double rz = s[ECHI_CG_RZ], pq = s[ECHI_S_DOT];
    if (!solve_finite(pq)) solve_stop(s, ECHI_STOP_NAN);
    if (!(pq > 0)) solve_stop(s, ECHI_STOP_INDEFINITE);
    s[ECHI_CG_ALPHA] = rz / pq;
    s[ECHI_CG_DUE] = s[ECHI_S_STOP] == 0;
}

ECHI_BOTH void solve_cg_beta(double *s, double rz)
{
    const double before = s[ECHI_CG_RZ];
    s[ECHI_CG_RZ] = rz;
    s[ECHI_CG_BETA] = rz / before;
    if (!(rz > 0)) solve_stop(s, solve_finite(rz) ? ECHI_STOP_INDEFINITE : ECHI_STOP_NAN);
}

/* ---- BiCGSTAB ---- */

ECHI_BOTH void solve_bi_alpha(double *s)
{
    const double rho = s[ECHI_BI_RHO], rv = s[ECHI_S_DOT];
    if (!solve_finite(rv)) solve_stop(s, ECHI_STOP_NAN);
    if (rv == 0) solve_stop(s, ECHI_STOP_BREAKDOWN);
    s[ECHI_BI_ALPHA] = rho / rv;
}

ECHI_BOTH void solve_bi_omega(double *s)
{
    const double ts = s[ECHI_S_DOT], tt = s[ECHI_S_DOT + 1];
    s[ECHI_BI_OMEGA] = tt > 0 ? ts / tt : 0;
    if (!solve_finite(tt)) solve_stop(s, ECHI_STOP_NAN);
}

ECHI_BOTH void solve_bi_beta(double *s)
{
    const double rr = s[ECHI_S_DOT], rho = s[ECHI_S_DOT + 1], before = s[ECHI_BI_RHO];
    const double alpha = s[ECHI_BI_ALPHA], omega = s[ECHI_BI_OMEGA];
    const double beta = rho / before * (alpha / omega);
    s[ECHI_BI_RHO] = rho;
    s[ECHI_BI_BETA] = beta;
    s[ECHI_BI_BETA_OMEGA] = beta * omega;
    solve_count(s, sqrt(rr));
    if (rho == 0 || omega == 0 || !solve_finite(beta)) solve_stop(s, ECHI_STOP_BREAKDOWN);
}

/* ---- MINRES ---- */

ECHI_BOTH void solve_minres_start(double *s)
{
    const double rz = s[ECHI_S_DOT], beta = sqrt(rz);
    s[ECHI_MR_BETA] = beta;
    s[ECHI_MR_INVERSE] = 1 / beta;
    s[ECHI_MR_OLD] = 0;
    s[ECHI_MR_DBAR] = 0;
    s[ECHI_MR_EPSILON] = 0;
    s[ECHI_MR_PHIBAR] = beta;
    s[ECHI_MR_COS] = -1;
    s[ECHI_MR_SIN] = 0;
    if (!(rz > 0)) solve_stop(s, solve_finite(rz) ? ECHI_STOP_INDEFINITE : ECHI_STOP_NAN);
}

ECHI_BOTH void solve_minres_alfa(double *s)
{
    const double alfa = s[ECHI_S_DOT], beta = s[ECHI_MR_BETA];
    s[ECHI_MR_ALFA] = alfa;
    s[ECHI_MR_ALFA_BETA] = alfa / beta;
    if (!solve_finite(alfa)) solve_stop(s, ECHI_STOP_NAN);
}

/* The reflections of Paige and Saunders (1975). */
ECHI_BOTH void solve_minres_rotate(double *s)
{
    const double bb = s[ECHI_S_DOT], old = s[ECHI_MR_BETA], alfa = s[ECHI_MR_ALFA];
    const double dbar = s[ECHI_MR_DBAR], old_epsilon = s[ECHI_MR_EPSILON];
    const double c = s[ECHI_MR_COS], d = s[ECHI_MR_SIN], phibar = s[ECHI_MR_PHIBAR];
    const double beta = sqrt(bb);
    const double delta = c * dbar + d * alfa, gbar = d * dbar - c * alfa;
    const double gamma = sqrt(gbar * gbar + beta * beta);
    const double cosine = gbar / gamma, sine = beta / gamma;
    const double phi = cosine * phibar, next = sine * phibar;
    s[ECHI_MR_BETA] = beta;
    s[ECHI_MR_INVERSE] = beta > 0 ? 1 / beta : 0;
    s[ECHI_MR_OLD] = beta / old;
    s[ECHI_MR_DBAR] = -c * beta;
    s[ECHI_MR_EPSILON] = d * beta;
    s[ECHI_MR_COS] = cosine;
    s[ECHI_MR_SIN] = sine;
    s[ECHI_MR_PHIBAR] = next;
    s[ECHI_MR_W_V] = 1 / gamma;
    s[ECHI_MR_W_1] = old_epsilon / gamma;
    s[ECHI_MR_W_2] = delta / gamma;
    s[ECHI_MR_PHI] = phi;
    s[ECHI_MR_R_OLD] = sine * sine;
    s[ECHI_MR_R_NEW] = beta > 0 ? next * cosine / beta : 0;
    if (!(bb >= 0)) solve_stop(s, solve_finite(bb) ? ECHI_STOP_INDEFINITE : ECHI_STOP_NAN);
    if (!(gamma > 0)) solve_stop(s, ECHI_STOP_BREAKDOWN);
}

ECHI_BOTH void solve_minres_end(double *s, double residual)
{
    const double beta = s[ECHI_MR_BETA];
    solve_count(s, residual);
    if (!(beta > 0)) solve_stop(s, ECHI_STOP_BREAKDOWN);
}

/* ---- GMRES ---- */

ECHI_BOTH void solve_gmres_start(double *s, int m)
{
    const double rr = s[ECHI_S_DOT], norm = sqrt(rr);
    s[solve_gmres_list(m, ECHI_GM_G, 0)] = norm;
    s[ECHI_GM_SCALE] = 1 / norm;
    if (!solve_finite(norm)) solve_stop(s, ECHI_STOP_NAN);
}

/* The last entry of a column: applies the previous rotations, then a new one that clears it. */
ECHI_BOTH void solve_gmres_norm(double *s, int m, int column)
{
    double *h = s + solve_gmres_h(m, 0, column);
    double *c = s + solve_gmres_list(m, ECHI_GM_COS, 0);
    double *d = s + solve_gmres_list(m, ECHI_GM_SIN, 0);
    double *g = s + solve_gmres_list(m, ECHI_GM_G, 0);
    const double below = sqrt(s[ECHI_S_DOT]), right = g[column];
    double at = h[0];
    for (int i = 0; i < column; i++) {
        const double next = h[i + 1], cosine = c[i], sine = d[i];
        h[i] = cosine * at + sine * next;
        at = cosine * next - sine * at;
    }
    const double norm = sqrt(at * at + below * below);
    const double cosine = norm > 0 ? at / norm : 1, sine = norm > 0 ? below / norm : 0;
    h[column] = norm;
    c[column] = cosine;
    d[column] = sine;
    g[column] = cosine * right;
    g[column + 1] = -sine * right;
    s[ECHI_GM_SCALE] = below > 0 ? 1 / below : 0;
    solve_count(s, fabs(norm > 0 ? sine * right : right));
    if (!(below > 0)) solve_stop(s, ECHI_STOP_BREAKDOWN);
}

/* y of the first `columns` columns; a zero column adds nothing. */
ECHI_BOTH void solve_gmres_solve(double *s, int m, int columns)
{
    const double *g = s + solve_gmres_list(m, ECHI_GM_G, 0);
    double *y = s + solve_gmres_list(m, ECHI_GM_Y, 0);
    for (int i = columns - 1; i >= 0; i--) {
        double sum = g[i];
        for (int j = i + 1; j < columns; j++) sum -= s[solve_gmres_h(m, i, j)] * y[j];
        const double pivot = s[solve_gmres_h(m, i, i)];
        y[i] = pivot > 0 || pivot < 0 ? sum / pivot : 0;
    }
}

/* ---- Dispatch ---- */

ECHI_BOTH void solve_recur(int what, double *s, int column, int restart)
{
    const double first = s[ECHI_S_DOT];
    switch (what) {
    case ECHI_RECUR_RESIDUAL:
        solve_count(s, sqrt(first));
        break;
    case ECHI_RECUR_CG_START:
        s[ECHI_CG_RZ] = first;
        s[ECHI_CG_DUE] = 0;
        if (!(first > 0)) solve_stop(s, solve_finite(first) ? ECHI_STOP_INDEFINITE : ECHI_STOP_NAN);
        break;
    case ECHI_RECUR_CG_ALPHA:
        solve_cg_alpha(s);
        break;
    case ECHI_RECUR_CG_BETA:
        solve_count(s, sqrt(first));
        solve_cg_beta(s, s[ECHI_S_DOT + 1]);
        break;
    case ECHI_RECUR_CG_BETA_RR:
        solve_count(s, sqrt(first));
        solve_cg_beta(s, first);
        break;
    case ECHI_RECUR_CG_RZ:
        solve_cg_beta(s, first);
        break;
    case ECHI_RECUR_BI_START:
        s[ECHI_BI_RHO] = first;
        break;
    case ECHI_RECUR_BI_ALPHA:
        solve_bi_alpha(s);
        break;
    case ECHI_RECUR_BI_OMEGA:
        solve_bi_omega(s);
        break;
    case ECHI_RECUR_BI_BETA:
        solve_bi_beta(s);
        break;
    case ECHI_RECUR_MINRES_START:
        solve_minres_start(s);
        break;
    case ECHI_RECUR_MINRES_ALFA:
        solve_minres_alfa(s);
        break;
    case ECHI_RECUR_MINRES_ROTATE:
        solve_minres_rotate(s);
        break;
    case ECHI_RECUR_MINRES_END:
        solve_minres_end(s, fabs(s[ECHI_MR_PHIBAR]));
        break;
    case ECHI_RECUR_MINRES_RR:
        solve_minres_end(s, sqrt(first));
        break;
    case ECHI_RECUR_GMRES_START:
        solve_gmres_start(s, restart);
        break;
    case ECHI_RECUR_GMRES_NORM:
        solve_gmres_norm(s, restart, column);
        break;
    case ECHI_RECUR_GMRES_SOLVE:
        solve_gmres_solve(s, restart, column);
        break;
    default:
        break;
    }
}

#endif
