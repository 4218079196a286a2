/*
 * solve/gmres.c - restarted GMRES (Saad and Schultz, 1986) with right preconditioning, so that its
 * residual is that of the system.
 *
 *     w = A M^-1 v_j        h_ij = w.v_i, w -= h_ij v_i for i = 0 ... j     (Gram-Schmidt)
 *     h_j+1,j = |w|         rotations make H triangular, and give the residual
 *     x += M^-1 (y_0 v_0 + y_1 v_1 + ...)     at the end of a cycle or of the solve
 *
 * Blocked Gram-Schmidt: classical within blocks of eight vectors, modified between blocks.  One
 * pass subtracts eight vectors from w and computes the dot products with the next eight: it reads w
 * and 16 vectors, while one vector at a time would read w eight times more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/solve.h"
#include "solve/recur.h"

enum { V = ECHI_R }; /* the first of restart + 1; then the result of M */

static int restart_of(const struct echi_run *run)
{
    return run->call->options.restart;
}

static size_t vectors(const struct echi_solve *call)
{
    return V + (size_t)call->options.restart + 1 + echi_solve_has_m(&call->options);
}

static void *z_of(const struct echi_run *run, void *r)
{
    return run->m ? echi_vector(run, V + (size_t)restart_of(run) + 1) : r;
}

/* ---- A pass of Gram-Schmidt over w ---- */

static struct echi_solve_step project(const struct echi_run *run, void *w, double factor)
{
    struct echi_solve_step step = echi_step(run);
    step.what = ECHI_SOLVE_PROJECT;
    step.b.out = w;
    step.projection.factor = factor;
    return step;
}

/* Vectors first ... end - 1 of the basis, at most as many as one pass can process. */
static int some_of(const struct echi_run *run, int first, int end, const void **vectors)
{
    int count = 0;
    for (; count < ECHI_SOLVE_VECTORS && first + count < end; count++)
        vectors[count] = echi_vector(run, V + (size_t)(first + count));
    return count;
}

static void lose(const struct echi_run *run, struct echi_solve_step *step, int first, int end,
                 int scalar)
{
    struct echi_solve_projection *p = &step->projection;
    p->losses = some_of(run, first, end, p->loses);
    p->loses_by = scalar;
}

static void meet(const struct echi_run *run, struct echi_solve_step *step, int first, int end,
                 int scalar)
{
    struct echi_solve_projection *p = &step->projection;
    p->meetings = step->dots = some_of(run, first, end, p->meets);
    p->meets_to = scalar;
}

/* ---- The method ---- */

static ech_status begin(struct echi_run *run)
{
    struct echi_solve_step norm = echi_step(run), scale = norm;
    void *v = echi_vector(run, V);
    ech_status status;
    run->column = 0;
    norm.e = v;
    echi_dot(&norm, ECHI_OF_E, ECHI_OF_E);
    norm.after = ECHI_RECUR_GMRES_START;
    norm.restart = restart_of(run);
    TRY(echi_do(run, &norm));
    scale.a.out = v;
    echi_term(&scale.a, v, ECHI_GM_SCALE, 1);
    TRY(echi_do(run, &scale));
done:
    return status;
}

/* Adds the columns of this cycle that the host has checked to x. */
static ech_status finish(struct echi_run *run)
{
    const int m = restart_of(run);
    const int columns = (int)((uint64_t)run->head[ECHI_S_ITERATION] - run->begun);
    void *sum = echi_vector(run, ECHI_Q);
    struct echi_solve_step add = echi_step(run);
    ech_status status;
    if (columns == 0) return ECH_OK;
    TRY(echi_do_scalars(run, ECHI_RECUR_GMRES_SOLVE, columns, m, false));
    TRY(echi_copy_vector(run, sum, NULL));
    for (int j = 0; j < columns; j += ECHI_SOLVE_VECTORS) {
        struct echi_solve_step step = project(run, sum, -1);
        step.guarded = 0;
        lose(run, &step, j, columns, solve_gmres_list(m, ECHI_GM_Y, j));
        TRY(echi_do(run, &step));
    }
    TRY(echi_precondition(run, sum, z_of(run, sum)));
    add.guarded = 0;
    add.a.out = run->x;
    echi_term(&add.a, run->x, -1, 1);
    echi_term(&add.a, z_of(run, sum), -1, 1);
    TRY(echi_do(run, &add));
done:
    return status;
}

/* The end of a full cycle: computes x, and starts the next cycle from there. */
static ech_status turn_over(struct echi_run *run)
{
    double residual;
    ech_status status;
    TRY(echi_look(run));
    if (run->ended) return ECH_OK;
    TRY(finish(run));
    TRY(echi_residual(run, &residual));
    run->begun = (uint64_t)run->head[ECHI_S_ITERATION];
    TRY(begin(run));
done:
    return status;
}

static ech_status iterate(struct echi_run *run)
{
    const int m = restart_of(run);
    ech_status status;
    if (run->column == (unsigned)m) TRY(turn_over(run));
    if (run->ended) return ECH_OK;
    const int j = (int)run->column++;
    void *v = echi_vector(run, V + (size_t)j), *w = echi_vector(run, V + (size_t)j + 1);
    TRY(echi_precondition(run, v, z_of(run, v)));
    TRY(echi_apply(run, z_of(run, v), w));
    for (int i = 0, last = 0; !last; i += ECHI_SOLVE_VECTORS) {
        const int before = i - ECHI_SOLVE_VECTORS;
        struct echi_solve_step step = project(run, w, 1);
        last = i > j;
        if (i) lose(run, &step, before, j + 1, solve_gmres_h(m, before, j));
        if (!last) meet(run, &step, i, j + 1, solve_gmres_h(m, i, j));
        if (last) {
            step.dots = 1;
            step.after = ECHI_RECUR_GMRES_NORM;
            step.column = j;
            step.restart = m;
        }
        TRY(echi_do(run, &step));
    }
    struct echi_solve_step scale = echi_step(run);
    scale.a.out = w;
    echi_term(&scale.a, w, ECHI_GM_SCALE, 1);
    TRY(echi_do(run, &scale));
done:
    return status;
}

const struct echi_method echi_solve_gmres = {
    .name = "gmres", .vectors = vectors, .begin = begin, .iterate = iterate, .finish = finish
};
