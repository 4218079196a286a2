/*
 * solve/cg.c - conjugate gradients (Hestenes and Stiefel, 1952), preconditioned.
 *
 *     q = A p             alpha = r.z / p.q
 *     r -= alpha q        z = M^-1 r        beta = r.z / previous r.z
 *     x += alpha p        p = z + beta p
 *
 * x is updated in the step that reads p for the next p.  If the solver stops in between, finish()
 * updates it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/solve.h"
#include "solve/recur.h"

enum { Z = ECHI_VECTORS, P, VECTORS };

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
    struct echi_solve_step step = echi_step(run);
    ech_status status;
    TRY(echi_precondition(run, echi_vector(run, ECHI_R), z_of(run)));
    step.a.out = echi_vector(run, P);
    echi_term(&step.a, z_of(run), -1, 1);
    step.e = echi_vector(run, ECHI_R);
    echi_dot(&step, ECHI_OF_A, ECHI_OF_E);
    step.after = ECHI_RECUR_CG_START;
    TRY(echi_do(run, &step));
done:
    return status;
}

static void move_x(const struct echi_run *run, struct echi_solve_step *step)
{
    step->a.out = run->x;
    echi_term(&step->a, run->x, -1, 1);
    echi_term(&step->a, echi_vector(run, P), ECHI_CG_ALPHA, 1);
}

static ech_status iterate(struct echi_run *run)
{
    void *p = echi_vector(run, P), *q = echi_vector(run, ECHI_Q), *r = echi_vector(run, ECHI_R);
    struct echi_solve_step product = echi_step(run), update = product, again = product,
                           turn = product;
    const bool apart = run->m && !run->diagonal;
    ech_status status;
    TRY(echi_apply(run, p, q));
    product.e = p;
    product.f = q;
    echi_dot(&product, ECHI_OF_E, ECHI_OF_F);
    product.after = ECHI_RECUR_CG_ALPHA;
    TRY(echi_do(run, &product));
    update.b.out = r;
    echi_term(&update.b, r, -1, 1);
    echi_term(&update.b, q, ECHI_CG_ALPHA, -1);
    echi_precondition_by(run, &update, z_of(run));
    echi_dot(&update, ECHI_OF_B, ECHI_OF_B);
    if (run->diagonal) echi_dot(&update, ECHI_OF_B, ECHI_OF_Z);
    update.after = apart           ? ECHI_RECUR_RESIDUAL
                   : run->diagonal ? ECHI_RECUR_CG_BETA
                                   : ECHI_RECUR_CG_BETA_RR;
    TRY(echi_do(run, &update));
    TRY(echi_precondition_after(run, r, z_of(run)));
    if (apart) {
        again.e = r;
        again.f = z_of(run);
        echi_dot(&again, ECHI_OF_E, ECHI_OF_F);
        again.after = ECHI_RECUR_CG_RZ;
        TRY(echi_do(run, &again));
    }
    move_x(run, &turn);
    turn.b.out = p;
    echi_term(&turn.b, z_of(run), -1, 1);
    echi_term(&turn.b, p, ECHI_CG_BETA, 1);
    TRY(echi_do(run, &turn));
done:
    return status;
}

static ech_status finish(struct echi_run *run)
{
    struct echi_solve_step last = echi_step(run);
    if (run->head[ECHI_S_STOP] == 0 || run->head[ECHI_CG_DUE] == 0) return ECH_OK;
    move_x(run, &last);
    return echi_do(run, &last);
}

const struct echi_method echi_solve_cg = {
    .name = "cg", .vectors = vectors, .begin = begin, .iterate = iterate, .finish = finish
};
