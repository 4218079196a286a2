/*
 * solve/diagonal.c - diagonal preconditioners: the diagonal, or diagonal blocks (block Jacobi).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/solve.h"

#include <string.h>

/* The location of the diagonal: in a sparse matrix, or in a vector with a stride. */
static void find_diagonal(const struct echi_run *run, struct echi_solve_step *step)
{
    const ech_operator *a = &run->call->a;
    const ech_csr *csr = &run->call->csr;
    step->e = a->dense ? a->dense : a->diagonal;
    step->e_step = a->dense ? a->stride + 1 : 1;
    if (a->csr)
        step->csr =
            (struct echi_solve_csr){ .offsets = csr->row_offsets,
                                     .columns = csr->col_indices,
                                     .values = csr->values,
                                     .entries = csr->nnz,
                                     .index_bytes = (int32_t)ech_dtype_bytes(csr->index_dtype) };
}

/* Runs a step that may find a zero or a missing pivot. */
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
        run->report->failed_index = ~where;
    }
done:
    return status;
}

ech_status echi_diagonal_invert(struct echi_run *run, enum echi_invert how, double scale, bool *bad)
{
    struct echi_solve_step step = echi_step(run);
    step.what = ECHI_SOLVE_INVERT;
    step.a.out = run->parts.diagonal;
    step.invert = (int32_t)how;
    step.scale = scale;
    find_diagonal(run, &step);
    return make(run, &step, bad);
}

/* ---- The diagonal ---- */

static bool is_diagonal(ech_method method, ech_precond precond)
{
    return method == ECH_METHOD_JACOBI || precond == ECH_PRECOND_JACOBI;
}

/* The requirement on the diagonal.  It must be positive if "auto" assumes a positive definite
 * matrix; MINRES needs a positive definite M. */
static enum echi_invert invert_for(const struct echi_run *run)
{
    const ech_method method = run->report->method;
    if (run->call->options.method == ECH_METHOD_AUTO)
        return method == ECH_METHOD_CG ? ECHI_INVERT_POSITIVE : ECHI_INVERT_NONZERO;
    return method == ECH_METHOD_MINRES ? ECHI_INVERT_ABSOLUTE : ECHI_INVERT_NONZERO;
}

static ech_status make_diagonal(struct echi_run *run)
{
    bool bad = false;
    const ech_status status = echi_diagonal_invert(run, invert_for(run), 1, &bad);
    run->diagonal = run->parts.diagonal;
    if (bad) run->report->status = ECH_SOLVE_STATUS_STOPPED_SINGULAR;
    return status;
}

static ech_status apply_diagonal(struct echi_run *run, const void *r, void *z)
{
    struct echi_solve_step step = echi_step(run);
    echi_term(&step.b, r, -1, 1);
    step.diagonal = run->diagonal;
    step.z = z;
    return echi_do(run, &step);
}

const struct echi_preconditioner echi_precond_diagonal = { is_diagonal, make_diagonal,
                                                           apply_diagonal };

/* ---- Diagonal blocks ---- */

static bool is_blocks(ech_method method, ech_precond precond)
{
    (void)method;
    return precond == ECH_PRECOND_BLOCK_JACOBI;
}

/* The columns of diagonal blocks have the distance of vectors. */
static struct echi_solve_step blocks_step(const struct echi_run *run, enum echi_solve_what what)
{
    struct echi_solve_step step = echi_step(run);
    step.what = (int32_t)what;
    step.block = run->call->options.block;
    step.block_step = run->parts.vector_bytes / (size_t)step.bytes;
    return step;
}

static ech_status make_blocks(struct echi_run *run)
{
    struct echi_solve_step step = blocks_step(run, ECHI_SOLVE_BLOCKS);
    bool bad = false;
    step.a.out = run->parts.blocks;
    find_diagonal(run, &step);
    step.e_step = run->call->a.stride;
    const ech_status status = make(run, &step, &bad);
    if (bad) run->report->status = ECH_SOLVE_STATUS_STOPPED_SINGULAR;
    return status;
}

static ech_status apply_blocks(struct echi_run *run, const void *r, void *z)
{
    struct echi_solve_step step = blocks_step(run, ECHI_SOLVE_BLOCKED);
    step.diagonal = run->parts.blocks;
    step.e = r;
    step.a.out = z;
    return echi_do(run, &step);
}

const struct echi_preconditioner echi_precond_blocks = { is_blocks, make_blocks, apply_blocks };
