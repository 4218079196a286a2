/*
 * solve/richardson.c - x += omega M^-1 (b - A x) (Richardson, 1911); Jacobi's method if M is the
 * diagonal, Gauss-Seidel if it is the lower triangle, SOR if that includes omega.
 *
 * The residual is recomputed from x in each iteration.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/solve.h"
#include "solve/recur.h"

enum { Z = ECHI_VECTORS, P, VECTORS }; /* P: of bounds.c */

static size_t vectors(const struct echi_solve *call)
{
    (void)call;
    return VECTORS;
}

static void *z_of(const struct echi_run *run)
{
    return echi_vector(run, run->m ? Z : ECHI_R);
}

static ech_status begin(struct echi_run *run)
{
    const ech_method method = run->report->method;
    const bool triangle = method == ECH_METHOD_GAUSS_SEIDEL || method == ECH_METHOD_SOR;
    const bool of_m = triangle || run->report->precond == ECH_PRECOND_SSOR;
    const double omega = of_m ? 0 : run->call->options.omega;
    run->step = omega > 0 ? omega
                : triangle || method == ECH_METHOD_JACOBI
                    ? 1
                    : 2 / (run->report->lower + run->report->upper);
    return echi_precondition(run, echi_vector(run, ECHI_R), z_of(run));
}

static ech_status iterate(struct echi_run *run)
{
    void *q = echi_vector(run, ECHI_Q);
    struct echi_solve_step move = echi_step(run), update = move;
    ech_status status;
    move.a.out = run->x;
    echi_term(&move.a, run->x, -1, 1);
    echi_term(&move.a, z_of(run), -1, run->step);
    TRY(echi_do(run, &move));
    TRY(echi_apply(run, run->x, q));
    update.b.out = echi_vector(run, ECHI_R);
    echi_term(&update.b, run->b, -1, 1);
    echi_term(&update.b, q, -1, -1);
    echi_precondition_by(run, &update, z_of(run));
    echi_dot(&update, ECHI_OF_B, ECHI_OF_B);
    update.after = ECHI_RECUR_RESIDUAL;
    TRY(echi_do(run, &update));
    TRY(echi_precondition_after(run, echi_vector(run, ECHI_R), z_of(run)));
done:
    return status;
}

const struct echi_method echi_solve_richardson = {
    .name = "richardson", .vectors = vectors, .begin = begin, .iterate = iterate
};
