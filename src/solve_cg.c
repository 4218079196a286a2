/*
 * solve_cg.c - conjugate gradients (Hestenes and Stiefel, 1952), preconditioned.
 *
 *     q = A p             alpha = r.z / p.q
 *     x += alpha p        r -= alpha q        z = M^-1 r        beta = r.z / the r.z before
 *     p = z + beta p
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve.h"
#include "solve_recur.h"

enum { Z = ECHI_VECTORS, P, VECTORS };

static size_t vectors(const struct echi_solve *call)
{
    (void)call;
    return VECTORS;
}

static void *z_of(const struct echi_run *run)
{
    return echi_vector(run, run->preconditioned ? Z : ECHI_R);
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

static ech_status iterate(struct echi_run *run)
{
    void *p = echi_vector(run, P), *q = echi_vector(run, ECHI_Q), *r = echi_vector(run, ECHI_R);
    struct echi_solve_step product = echi_step(run), update = product, again = product,
                           turn = product;
    const bool apart = run->preconditioned && !run->diagonal;
    ech_status status;
    TRY(echi_apply(run, p, q));
    product.e = p;
    product.f = q;
    echi_dot(&product, ECHI_OF_E, ECHI_OF_F);
    product.after = ECHI_RECUR_CG_ALPHA;
    TRY(echi_do(run, &product));
    update.a.out = run->x;
    echi_term(&update.a, run->x, -1, 1);
    echi_term(&update.a, p, ECHI_CG_ALPHA, 1);
    update.b.out = r;
    echi_term(&update.b, r, -1, 1);
    echi_term(&update.b, q, ECHI_CG_ALPHA, -1);
    echi_precondition_by(run, &update, z_of(run));
    echi_dot(&update, ECHI_OF_B, ECHI_OF_B);
    if (!apart) echi_dot(&update, ECHI_OF_B, run->diagonal ? ECHI_OF_Z : ECHI_OF_B);
    update.after = apart ? ECHI_RECUR_RESIDUAL : ECHI_RECUR_CG_BETA;
    TRY(echi_do(run, &update));
    TRY(echi_precondition_after(run, r, z_of(run)));
    if (apart) {
        again.e = r;
        again.f = z_of(run);
        echi_dot(&again, ECHI_OF_E, ECHI_OF_F);
        again.after = ECHI_RECUR_CG_RZ;
        TRY(echi_do(run, &again));
    }
    turn.a.out = p;
    echi_term(&turn.a, z_of(run), -1, 1);
    echi_term(&turn.a, p, ECHI_CG_BETA, 1);
    TRY(echi_do(run, &turn));
done:
    return status;
}

const struct echi_method echi_solve_cg = {
    .name = "cg", .vectors = vectors, .begin = begin, .iterate = iterate
};
