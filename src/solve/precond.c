/*
 * solve/precond.c - what stands for A and is easily solved: the diagonal, squares along it;
 * triangles are in factor.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/solve.h"

#include <string.h>

/* Where the diagonal is: in a sparse matrix, or a vector with a distance between its elements. */
static void find_diagonal(const struct echi_run *run, struct echi_solve_step *step)
{
    const ech_operator *a = &run->call->a;
    const ech_csr *csr = &run->call->csr;
    step->e = a->dense ? a->dense : a->diagonal;
    step->e_step = a->dense ? a->stride + 1 : 1;
    if (a->csr)
        step->csr = (struct echi_solve_csr){ .offsets = csr->offsets,
                                             .columns = csr->columns,
                                             .values = csr->values,
                                             .entries = csr->entries,
                                             .index_bytes = (int32_t)ech_dtype_bytes(csr->index) };
}

/* Runs what may find a row that it cannot divide by. */
static ech_status make(struct echi_run *run, const struct echi_solve_step *step, bool *bad)
{
    uint64_t where;
    ech_status status;
    *bad = false;
    memset(run->head, 0, sizeof run->head);
    TRY(echi_put(run));
    TRY(echi_do(run, step));
    TRY(echi_fetch(run));
    memcpy(&where, &run->head[ECHI_S_WHERE], sizeof where);
    if (where) {
        *bad = true;
        run->report->where = ~where;
    }
    run->preconditioned = true;
done:
    return status;
}

ech_status echi_precond_make(struct echi_run *run, enum echi_invert how, double scale, bool *bad)
{
    struct echi_solve_step step = echi_step(run);
    step.what = ECHI_SOLVE_INVERT;
    step.a.out = run->diagonal = run->parts.diagonal;
    step.invert = (int32_t)how;
    step.scale = scale;
    find_diagonal(run, &step);
    return make(run, &step, bad);
}

/* A square's columns lie as far apart as vectors do. */
static struct echi_solve_step blocks_step(const struct echi_run *run, enum echi_solve_what what)
{
    struct echi_solve_step step = echi_step(run);
    step.what = (int32_t)what;
    step.block = run->call->options.block;
    step.block_step = run->parts.vector_bytes / (size_t)step.bytes;
    return step;
}

ech_status echi_blocks_make(struct echi_run *run, bool *bad)
{
    struct echi_solve_step step = blocks_step(run, ECHI_SOLVE_BLOCKS);
    step.a.out = run->parts.blocks;
    find_diagonal(run, &step);
    step.e_step = run->call->a.stride;
    run->blocked = true;
    return make(run, &step, bad);
}

void echi_precondition_by(const struct echi_run *run, struct echi_solve_step *step, void *z)
{
    if (!run->diagonal) return;
    step->diagonal = run->diagonal;
    step->z = z;
}

ech_status echi_precondition_after(struct echi_run *run, const void *r, void *z)
{
    if (!run->preconditioned || run->diagonal) return ECH_OK;
    return echi_precondition(run, r, z);
}

ech_status echi_precondition(struct echi_run *run, const void *r, void *z)
{
    struct echi_solve_step step = echi_step(run);
    if (!run->preconditioned) return ECH_OK;
    if (run->blocked) {
        step = blocks_step(run, ECHI_SOLVE_BLOCKED);
        step.diagonal = run->parts.blocks;
        step.e = r;
        step.a.out = z;
        return echi_do(run, &step);
    }
    if (!run->diagonal) return echi_factor_solve(run, r, z);
    echi_term(&step.b, r, -1, 1);
    echi_precondition_by(run, &step, z);
    return echi_do(run, &step);
}
