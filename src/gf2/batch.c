/*
 * gf2/batch.c - ech_gf2_echelon_batched() and its related functions: checks the arguments and calls
 * the backend.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2/batch.h"

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Copies the options to the request. */
static void from_options(struct echi_gf2_batch *batch, const struct echi_gf2_elimination *e)
{
    batch->wide_index = e->wide_index;
    batch->columns = e->columns;
    batch->max_rank = least(e->columns, e->a.rows);
    if (e->max_rank) batch->max_rank = least(batch->max_rank, e->max_rank);
    batch->reduced = e->reduced;
    batch->order = e->order;
    batch->algorithm = e->algorithm;
}

void echi_gf2_plan_batch(struct echi_gf2_batch *batch, const struct echi_gf2_elimination *e,
                         size_t count)
{
    *batch = (struct echi_gf2_batch){ .a = { .count = count,
                                             .rows = e->a.rows,
                                             .cols = e->a.cols,
                                             .stride = e->a.stride,
                                             .batch_stride = e->a.rows * e->a.stride } };
    from_options(batch, e);
}

/* ---- Calls ---- */

static ech_status check_batch(ech_ctx *ctx, const ech_gf2_batch *a, bool written,
                              struct echi_gf2_batch *batch, struct echi_gf2_elimination *e)
{
    ech_status status;
    ech_gf2 view;
    size_t each;
    if (!a) FAIL(ctx, ECH_ERR_ARG, "a is NULL");
    TRY(echi_read_struct(ctx, "a", "ech_gf2_batch", a, &batch->a, sizeof batch->a));
    a = &batch->a;
    view = (ech_gf2){ .size = sizeof(ech_gf2),
                      .words = a->words,
                      .rows = a->rows,
                      .cols = a->cols,
                      .stride = a->stride };
    TRY(echi_gf2_check(ctx, "a", &view, &e->a));
    each = a->rows && a->cols ? (a->rows - 1) * a->stride + echi_gf2_words(a->cols) : 0;
    if (a->batch_stride < each && !(a->batch_stride == 0 && !written) && a->count > 1)
        FAIL(ctx, ECH_ERR_ARG, "a->batch_stride is %zu words, less than the %zu of a matrix",
             a->batch_stride, each);
    TRY(echi_check_count(ctx, "a->count", a->count, sizeof(uint64_t)));
    if (a->batch_stride && a->count > PTRDIFF_MAX / sizeof(uint64_t) / a->batch_stride)
        FAIL(ctx, ECH_ERR_ARG, "a->count is %zu of %zu words: the size overflows size_t", a->count,
             a->batch_stride);
    if (least(a->rows, a->cols) && a->count > PTRDIFF_MAX / sizeof(uint64_t) / a->cols)
        FAIL(ctx, ECH_ERR_ARG, "a->count is %zu: the size of the orders overflows size_t",
             a->count);
done:
    return status;
}

static bool empty(const ech_gf2_batch *a)
{
    return a->rows == 0 || a->cols == 0;
}

/* Rejects an unknown algorithm. Backends never get batches without bits. */
static ech_status check_algorithm(ech_ctx *ctx, const ech_gf2_echelon_options *options)
{
    const struct echi_gf2_elimination e = { .a = { .rows = 1, .cols = 1, .stride = 1 },
                                            .columns = 1,
                                            .algorithm = options->algorithm };
    struct echi_gf2_batch bit;
    echi_gf2_plan_batch(&bit, &e, 1);
    const struct echi_call call = { .what = "a batch",
                                    .operation = ctx->backend->operations[ECHI_OP_gf2_batch],
                                    .request = &bit };
    return echi_call_check(ctx, &call);
}

static ech_status begin(ech_ctx *ctx, const ech_gf2_batch *a, bool written,
                        const ech_gf2_echelon_options *options, const char *refused,
                        struct echi_gf2_batch *batch)
{
    struct echi_gf2_elimination e = { .call = ECH_GF2_CALL_BATCHED };
    ech_status status;
    TRY(echi_gf2_backend(ctx, ctx ? ctx->backend->operations[ECHI_OP_gf2_batch] : NULL));
    TRY(check_batch(ctx, a, written, batch, &e));
    TRY(echi_gf2_eliminate_options(ctx, options, refused, &e));
    from_options(batch, &e);
    if (batch->a.count == 0 || empty(&batch->a)) TRY(check_algorithm(ctx, options));
done:
    return status;
}

static struct echi_call call_of(ech_ctx *ctx, struct echi_gf2_batch *batch,
                                const ech_gf2_echelon_options *options)
{
    const ech_gf2_batch *a = &batch->a;
    struct echi_call call = { .what = "a batch",
                              .operation = ctx->backend->operations[ECHI_OP_gf2_batch],
                              .request = batch,
                              .work = options->work,
                              .work_bytes = options->work_bytes };
    size_t words = (a->rows - 1) * a->stride + echi_gf2_words(a->cols);
    words += (a->count - 1) * a->batch_stride;
    echi_call_add(&call, "a", &batch->a.words, words * sizeof(uint64_t), sizeof(uint64_t), ECHI_IN);
    if (batch->order)
        echi_gf2_add_positions(&call, "options->column_order", &batch->order,
                               a->count * batch->columns, batch->wide_index, ECHI_IN);
    return call;
}

/* Matrices without bits have rank 0, and a vector is in their image if it is 0; backends never get
 * them.  Results are written bytewise, in any kind of memory. */
static ech_status fill(ech_ctx *ctx, void *out, size_t count, size_t bytes, unsigned char value)
{
    return ech_fill(ctx, out, count * bytes, 1, &value);
}

ech_status ech_gf2_echelon_batched(ech_ctx *ctx, ech_gf2_batch *a, uint32_t *rank, void *pivots,
                                   const ech_gf2_echelon_options *options)
{
    READ_OPTIONS(ctx, ech_gf2_echelon_options, options);
    struct echi_gf2_batch batch = { .rank = rank, .pivots = pivots };
    ech_status status;
    TRY(begin(ctx, a, true, options, "tr", &batch));
    if (empty(a)) return fill(ctx, rank, a->count, sizeof *rank, 0);
    if (a->count == 0) return ECH_OK;
    struct echi_call call = call_of(ctx, &batch, options);
    echi_gf2_add_array(&call, "rank", &batch.rank, a->count, sizeof *rank, ECHI_OUT);
    if (pivots)
        echi_gf2_add_positions(&call, "pivots", &batch.pivots, a->count * least(a->rows, a->cols),
                               batch.wide_index, ECHI_OUT);
    batch.out = batch.a.words;
    struct echi_array *out = echi_call_add(&call, "a", &batch.out, echi_call_array(&call, 0)->bytes,
                                           sizeof(uint64_t), ECHI_KEPT);
    out->may_be = 1;
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

ech_status ech_gf2_rank_batched(ech_ctx *ctx, const ech_gf2_batch *a, uint32_t *rank,
                                const ech_gf2_echelon_options *options)
{
    READ_OPTIONS(ctx, ech_gf2_echelon_options, options);
    struct echi_gf2_batch batch = { .rank = rank };
    ech_status status;
    TRY(begin(ctx, a, false, options, "tr", &batch));
    batch.reduced = false;
    if (empty(a)) return fill(ctx, rank, a->count, sizeof *rank, 0);
    if (a->count == 0) return ECH_OK;
    struct echi_call call = call_of(ctx, &batch, options);
    echi_gf2_add_array(&call, "rank", &batch.rank, a->count, sizeof *rank, ECHI_OUT);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

ech_status ech_gf2_solve_batched(ech_ctx *ctx, const ech_gf2_batch *a, const uint64_t *b,
                                 uint64_t *x, uint8_t *solvable,
                                 const ech_gf2_echelon_options *options)
{
    READ_OPTIONS(ctx, ech_gf2_echelon_options, options);
    struct echi_gf2_batch batch = { .b = b, .x = x, .solvable = solvable };
    ech_status status;
    TRY(begin(ctx, a, false, options, "mtrf", &batch));
    if (a->count == 0) return ECH_OK;
    if (a->rows == 0) { /* x has no conditions */
        TRY(fill(ctx, x, a->count * echi_gf2_words(a->cols), sizeof *x, 0));
        return fill(ctx, solvable, a->count, 1, 1);
    }
    if (a->cols == 0)
        FAIL(ctx, ECH_ERR_ARG, "a has %zu rows and no columns: x would be empty", a->rows);
    struct echi_call call = call_of(ctx, &batch, options);
    const size_t word = sizeof(uint64_t);
    echi_gf2_add_array(&call, "b", &batch.b, a->count * echi_gf2_words(a->rows), word, ECHI_IN);
    echi_gf2_add_array(&call, "x", &batch.x, a->count * echi_gf2_words(a->cols), word, ECHI_OUT);
    echi_gf2_add_array(&call, "solvable", &batch.solvable, a->count, 1, ECHI_OUT);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}
