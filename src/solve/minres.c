/*
 * solve/minres.c - MINRES (Paige and Saunders, 1975): minimises the residual of symmetric systems,
 * definite or not.
 *
 *     v = z / beta       y = A v - (beta / previous beta) y''
 *     alfa = v.y         y = y - (alfa / beta) y'          z = M^-1 y        beta = sqrt(y.z)
 *     w = (v - epsilon w'' - delta w') / gamma             x += phi w
 *
 * Without M the residual's norm is |phibar|. With M, the residual vector is updated too: r = sin^2
 * r - phibar cos y / beta, whose norm is that of the system, not that of M.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/solve.h"
#include "solve/recur.h"

enum { Y = ECHI_VECTORS, W = Y + 3, VECTORS = W + 3, Z = VECTORS, VECTORS_M };

static size_t vectors(const struct echi_solve *call)
{
    return echi_solve_has_m(&call->options) ? VECTORS_M : VECTORS;
}

/* One of three vectors used in rotation: the one of `ago` iterations ago. */
static void *of_three(const struct echi_run *run, int first, unsigned ago)
{
    return echi_vector(run, (size_t)first + (run->turn + 3 - ago) % 3);
}

/* z = M^-1 y, and y.z. */
static ech_status dot_with_m(struct echi_run *run, const void *y, enum echi_solve_recur after)
{
    void *z = run->m ? echi_vector(run, Z) : NULL;
    struct echi_solve_step step = echi_step(run);
    ech_status status;
    TRY(echi_precondition(run, y, z));
    step.e = y;
    step.f = z;
    echi_dot(&step, ECHI_OF_E, z ? ECHI_OF_F : ECHI_OF_E);
    step.after = (int32_t)after;
    TRY(echi_do(run, &step));
done:
    return status;
}

static ech_status begin(struct echi_run *run)
{
    struct echi_solve_step step = echi_step(run);
    ech_status status;
    run->turn = 0;
    TRY(echi_copy_vector(run, of_three(run, Y, 2), NULL));
    TRY(echi_copy_vector(run, of_three(run, W, 1), NULL));
    TRY(echi_copy_vector(run, of_three(run, W, 2), NULL));
    step.b.out = of_three(run, Y, 1);
    echi_term(&step.b, echi_vector(run, ECHI_R), -1, 1);
    TRY(echi_do(run, &step));
    TRY(dot_with_m(run, of_three(run, Y, 1), ECHI_RECUR_MINRES_START));
done:
    return status;
}

static ech_status lanczos(struct echi_run *run, void *v, void *y)
{
    const void *before = of_three(run, Y, 1), *before_that = of_three(run, Y, 2);
    struct echi_solve_step scale = echi_step(run), first = scale, second = scale;
    ech_status status;
    scale.a.out = v;
    echi_term(&scale.a, run->m ? echi_vector(run, Z) : before, ECHI_MR_INVERSE, 1);
    TRY(echi_do(run, &scale));
    TRY(echi_apply(run, v, y));
    first.b.out = y;
    echi_term(&first.b, y, -1, 1);
    echi_term(&first.b, before_that, ECHI_MR_OLD, -1);
    first.e = v;
    echi_dot(&first, ECHI_OF_B, ECHI_OF_E);
    first.after = ECHI_RECUR_MINRES_ALFA;
    TRY(echi_do(run, &first));
    second.b.out = y;
    echi_term(&second.b, y, -1, 1);
    echi_term(&second.b, before, ECHI_MR_ALFA_BETA, -1);
    if (run->m && !run->diagonal) {
        TRY(echi_do(run, &second));
        return dot_with_m(run, y, ECHI_RECUR_MINRES_ROTATE);
    }
    echi_precondition_by(run, &second, echi_vector(run, Z));
    echi_dot(&second, ECHI_OF_B, run->diagonal ? ECHI_OF_Z : ECHI_OF_B);
    second.after = ECHI_RECUR_MINRES_ROTATE;
    TRY(echi_do(run, &second));
done:
    return status;
}

static ech_status iterate(struct echi_run *run)
{
    void *v = echi_vector(run, ECHI_Q), *y = of_three(run, Y, 0), *w = of_three(run, W, 0);
    void *r = echi_vector(run, ECHI_R);
    struct echi_solve_step update = echi_step(run), residual = update;
    ech_status status;
    TRY(lanczos(run, v, y));
    update.a.out = w;
    echi_term(&update.a, v, ECHI_MR_W_V, 1);
    echi_term(&update.a, of_three(run, W, 2), ECHI_MR_W_1, -1);
    echi_term(&update.a, of_three(run, W, 1), ECHI_MR_W_2, -1);
    update.b.out = run->x;
    echi_term(&update.b, run->x, -1, 1);
    echi_term(&update.b, w, ECHI_MR_PHI, 1);
    if (!run->m) update.after = ECHI_RECUR_MINRES_END;
    TRY(echi_do(run, &update));
    run->turn = (run->turn + 1) % 3;
    if (!run->m) return ECH_OK;
    residual.b.out = r;
    echi_term(&residual.b, r, ECHI_MR_R_OLD, 1);
    echi_term(&residual.b, y, ECHI_MR_R_NEW, -1);
    echi_dot(&residual, ECHI_OF_B, ECHI_OF_B);
    residual.after = ECHI_RECUR_MINRES_RR;
    TRY(echi_do(run, &residual));
done:
    return status;
}

const struct echi_method echi_solve_minres = {
    .name = "minres", .vectors = vectors, .begin = begin, .iterate = iterate
};
