/*
 * solve/bicgstab.c - BiCGSTAB (van der Vorst, 1992) with right preconditioning, so that its
 * residual is that of the system.
 *
 *     v = A M^-1 p        alpha = rho / r0.v       s = r - alpha v
 *     t = A M^-1 s        omega = t.s / t.t
 *     x += alpha M^-1 p + omega M^-1 s             r = s - omega t
 *     beta = (r0.r / rho) (alpha / omega)          p = r + beta (p - omega v)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/solve.h"
#include "solve/recur.h"

enum { R0 = ECHI_VECTORS, P, S, T, VECTORS, PM = VECTORS, SM, VECTORS_M };

static size_t vectors(const struct echi_solve *call)
{
    return echi_solve_has_m(&call->options) ? VECTORS_M : VECTORS;
}

static ech_status begin(struct echi_run *run)
{
    struct echi_solve_step step = echi_step(run);
    ech_status status;
    step.a.out = echi_vector(run, R0);
    echi_term(&step.a, echi_vector(run, ECHI_R), -1, 1);
    step.b.out = echi_vector(run, P);
    echi_term(&step.b, echi_vector(run, ECHI_R), -1, 1);
    echi_precondition_by(run, &step, echi_vector(run, PM));
    echi_dot(&step, ECHI_OF_A, ECHI_OF_B);
    step.after = ECHI_RECUR_BI_START;
    TRY(echi_do(run, &step));
    TRY(echi_precondition_after(run, echi_vector(run, P), echi_vector(run, PM)));
done:
    return status;
}

static ech_status iterate(struct echi_run *run)
{
    void *v = echi_vector(run, ECHI_Q), *r = echi_vector(run, ECHI_R);
    void *r0 = echi_vector(run, R0), *p = echi_vector(run, P);
    void *s = echi_vector(run, S), *t = echi_vector(run, T);
    void *pm = run->m ? echi_vector(run, PM) : p;
    void *sm = run->m ? echi_vector(run, SM) : s;
    struct echi_solve_step alpha = echi_step(run), half = alpha, omega = alpha, whole = alpha,
                           turn = alpha;
    ech_status status;
    TRY(echi_apply(run, pm, v));
    alpha.e = r0;
    alpha.f = v;
    echi_dot(&alpha, ECHI_OF_E, ECHI_OF_F);
    alpha.after = ECHI_RECUR_BI_ALPHA;
    TRY(echi_do(run, &alpha));
    half.b.out = s;
    echi_term(&half.b, r, -1, 1);
    echi_term(&half.b, v, ECHI_BI_ALPHA, -1);
    echi_precondition_by(run, &half, sm);
    TRY(echi_do(run, &half));
    TRY(echi_precondition_after(run, s, sm));
    TRY(echi_apply(run, sm, t));
    omega.e = t;
    omega.f = s;
    echi_dot(&omega, ECHI_OF_E, ECHI_OF_F);
    echi_dot(&omega, ECHI_OF_E, ECHI_OF_E);
    omega.after = ECHI_RECUR_BI_OMEGA;
    TRY(echi_do(run, &omega));
    whole.a.out = run->x;
    echi_term(&whole.a, run->x, -1, 1);
    echi_term(&whole.a, pm, ECHI_BI_ALPHA, 1);
    echi_term(&whole.a, sm, ECHI_BI_OMEGA, 1);
    whole.b.out = r;
    echi_term(&whole.b, s, -1, 1);
    echi_term(&whole.b, t, ECHI_BI_OMEGA, -1);
    whole.e = r0;
    echi_dot(&whole, ECHI_OF_B, ECHI_OF_B);
    echi_dot(&whole, ECHI_OF_B, ECHI_OF_E);
    whole.after = ECHI_RECUR_BI_BETA;
    TRY(echi_do(run, &whole));
    turn.b.out = p;
    echi_term(&turn.b, r, -1, 1);
    echi_term(&turn.b, p, ECHI_BI_BETA, 1);
    echi_term(&turn.b, v, ECHI_BI_BETA_OMEGA, -1);
    echi_precondition_by(run, &turn, pm);
    TRY(echi_do(run, &turn));
    TRY(echi_precondition_after(run, p, pm));
done:
    return status;
}

const struct echi_method echi_solve_bicgstab = {
    .name = "bicgstab", .vectors = vectors, .begin = begin, .iterate = iterate
};
