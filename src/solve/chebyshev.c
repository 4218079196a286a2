/*
 * solve/chebyshev.c - Chebyshev iteration (Golub and Varga, 1961): the minimax polynomial between
 * two bounds of the eigenvalues, without dot products except for the residual.
 *
 *     theta = (upper + lower) / 2      delta = (upper - lower) / 2      rho = delta / theta
 *     d = z / theta
 *     x += d     r -= A d     z = M^-1 r
 *     next = 1 / (2 theta / delta - rho)     d = next rho d + 2 next / delta z     rho = next
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/solve.h"
#include "solve/recur.h"

enum { Z = ECHI_VECTORS, D, VECTORS };

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
    const double theta = (run->report->upper + run->report->lower) / 2;
    const double delta = (run->report->upper - run->report->lower) / 2;
    struct echi_solve_step step = echi_step(run);
    ech_status status;
    run->step = delta / theta;
    TRY(echi_precondition(run, echi_vector(run, ECHI_R), z_of(run)));
    step.a.out = echi_vector(run, D);
    echi_term(&step.a, z_of(run), -1, 1 / theta);
    TRY(echi_do(run, &step));
done:
    return status;
}

static ech_status iterate(struct echi_run *run)
{
    const double theta = (run->report->upper + run->report->lower) / 2;
    const double delta = (run->report->upper - run->report->lower) / 2;
    const double rho = run->step;
    void *d = echi_vector(run, D), *q = echi_vector(run, ECHI_Q), *r = echi_vector(run, ECHI_R);
    struct echi_solve_step update = echi_step(run), turn = update;
    ech_status status;
    TRY(echi_apply(run, d, q));
    update.a.out = run->x;
    echi_term(&update.a, run->x, -1, 1);
    echi_term(&update.a, d, -1, 1);
    update.b.out = r;
    echi_term(&update.b, r, -1, 1);
    echi_term(&update.b, q, -1, -1);
    echi_precondition_by(run, &update, z_of(run));
    echi_dot(&update, ECHI_OF_B, ECHI_OF_B);
    update.after = ECHI_RECUR_RESIDUAL;
    TRY(echi_do(run, &update));
    TRY(echi_precondition_after(run, echi_vector(run, ECHI_R), z_of(run)));
    /* If lower = upper, delta is 0, and so is the next coefficient. */
    const double next = delta > 0 ? 1 / (2 * theta / delta - rho) : 0;
    turn.a.out = d;
    echi_term(&turn.a, d, -1, next * rho);
    echi_term(&turn.a, z_of(run), -1, delta > 0 ? 2 * next / delta : 1 / theta);
    TRY(echi_do(run, &turn));
    run->step = next;
done:
    return status;
}

const struct echi_method echi_solve_chebyshev = {
    .name = "chebyshev", .vectors = vectors, .begin = begin, .iterate = iterate
};
