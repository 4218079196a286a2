/*
 * reduce/cuda/operation.c - reductions on the GPU, host half: chooses kernels, lays out the
 * workspace.
 *
 *     rows, the array among them   of more than REDUCE_LONG_CHUNKS, or few of more than one:
 *                                  reduce_KIND_long alone; also those longer than a line, each
 *                                  by a warp; else reduce_KIND_segments alone
 *     segments                     both: the first lists the long ones for the second
 *     runs of keys                 first where the runs begin (select/cuda/operation.c), then as
 * segments
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reduce/reduce.h"
#include "core/backend.h"
#include "cuda/cuda.h"
#include "select/cuda/runs.h"
#include "reduce/cuda/common.h"

#include <stdio.h>

enum {
    FEW_ROWS = 1024,
    BLOCKS_EACH = 8,    /* of a multiprocessor, at least, before items grow */
    BLOCKS_AT_ONCE = 3, /* ... and before small ones do */
    IMAGE_BYTES = 32
};

static const struct {
    const char *segments, *shared; /* kernels */
    size_t words;                  /* of a value */
} kinds[ECHI_REDUCE_KINDS] = {
    [ECHI_REDUCE_ISUM] = { "reduce_isum_segments", "reduce_isum_long", 1 },
    [ECHI_REDUCE_IPRODUCT] = { "reduce_iproduct_segments", "reduce_iproduct_long", 1 },
    [ECHI_REDUCE_IDOT] = { NULL, "reduce_idot_long", 1 },
    [ECHI_REDUCE_SUM] = { "reduce_sum_segments", "reduce_sum_long", 1 },
    [ECHI_REDUCE_PRODUCT] = { "reduce_product_segments", "reduce_product_long", 1 },
    [ECHI_REDUCE_DOT] = { NULL, "reduce_dot_long", 1 },
    [ECHI_REDUCE_SUM64] = { "reduce_sum64_segments", "reduce_sum64_long", 2 },
    [ECHI_REDUCE_PRODUCT64] = { "reduce_product64_segments", "reduce_product64_long", 1 },
    [ECHI_REDUCE_DOT64] = { NULL, "reduce_dot64_long", 2 },
    [ECHI_REDUCE_VARIANCE] = { "reduce_variance_segments", "reduce_variance_long", 3 },
    [ECHI_REDUCE_BITS] = { "reduce_bits_segments", "reduce_bits_long", 1 },
    [ECHI_REDUCE_MAX] = { "reduce_max_segments", "reduce_max_long", 1 },
    [ECHI_REDUCE_MINMAX] = { "reduce_minmax_segments", "reduce_minmax_long", 2 },
    [ECHI_REDUCE_ARG] = { "reduce_arg_segments", "reduce_arg_long", 2 },
    [ECHI_REDUCE_COUNT] = { "reduce_count_segments", "reduce_count_long", 1 },
};

static void image_of(const struct echi_reduce *r, char image[IMAGE_BYTES])
{
    if (echi_dtype_is_float(r->dtype) && r->kind < ECHI_REDUCE_BITS)
        snprintf(image, IMAGE_BYTES, "reduce_%s", ech_dtype_name(r->dtype));
    else
        snprintf(image, IMAGE_BYTES, "reduce_k%u", 8 * r->rule.bytes);
}

static uint64_t chunks_of(const struct echi_reduce *r, uint64_t n)
{
    uint64_t chunk = ECHI_CHUNK_BYTES / r->rule.bytes;
    return n / chunk + (n % chunk != 0);
}

/* ---- Workspace ---- */

struct parts {
    uint64_t *partials;
    uint32_t *done;
    struct reduce_item *items;
    struct reduce_counts *counts;
    uint64_t *starts;
    void *runs;
    uint64_t capacity; /* items that there is room for */
};

/* The most items of any rows or segments with n elements.  Rows are cut in items of one warp only
 * while there are fewer than 512 chunks, and of eight warps else; long segments are of 33
 * chunks at least, and an item has 32. */
static uint64_t most_items(uint64_t chunks)
{
    uint64_t some = chunks / 3 + 3072;
    return chunks < 2 ? 0 : 2 * chunks < some ? 2 * chunks : some;
}

static size_t lay_out(const struct echi_reduce *r, void *base, bool *overflow, struct parts *parts)
{
    struct echi_layout layout = { .base = base };
    *parts = (struct parts){ .capacity = most_items(chunks_of(r, r->n)) };
    if (parts->capacity) {
        parts->partials =
            echi_part(&layout, parts->capacity, kinds[r->kind].words * sizeof(uint64_t));
        parts->done = echi_part(&layout, parts->capacity, sizeof *parts->done);
        parts->items = echi_part(&layout, parts->capacity, sizeof *parts->items);
        parts->counts = echi_part(&layout, 1, sizeof *parts->counts);
    }
    if (r->shape == ECHI_REDUCE_BY_KEY && r->n) {
        parts->starts = echi_part(&layout, r->n + 1, sizeof *parts->starts);
        parts->runs = echi_part(&layout, echi_cuda_runs_workspace(r->n), 1);
    }
    *overflow = layout.overflow;
    return layout.bytes;
}

static ech_status workspace(const void *request, void *plan, size_t *bytes)
{
    (void)plan;
    const struct echi_reduce *r = request;
    struct parts parts;
    bool overflow;
    *bytes = lay_out(r, NULL, &overflow, &parts);
    if (overflow)
        return echi_fail(NULL, ECH_ERR_MEMORY, "n is %zu: the workspace is larger than any memory",
                         r->n);
    return ECH_OK;
}

/* ---- Launches ---- */

static ech_status launch_segments(ech_ctx *ctx, const struct echi_reduce *r,
                                  const struct reduce_args *args)
{
    const struct echi_cuda *cuda = ctx->state;
    char image[IMAGE_BYTES];
    uint64_t warps = args->segments / args->each + 1;
    uint64_t most = args->offsets ? 16 * (uint64_t)cuda->multiprocessors : (uint64_t)1 << 24;
    image_of(r, image);
    return echi_cuda_launch_early(ctx, image, kinds[r->kind].segments,
                                  echi_cuda_least(warps / REDUCE_WARPS + 1, most), REDUCE_THREADS,
                                  0, args);
}

static ech_status launch_long(ech_ctx *ctx, const struct echi_reduce *r,
                              const struct reduce_args *args, uint64_t blocks)
{
    char image[IMAGE_BYTES];
    image_of(r, image);
    return echi_cuda_launch_early(ctx, image, kinds[r->kind].shared,
                                  echi_cuda_least(blocks, (uint64_t)1 << 30),
                                  args->warps * REDUCE_WARP, 0, args);
}

/* Rows that blocks share: the fewer there are, the smaller are the items. */
static ech_status long_rows(ech_ctx *ctx, const struct echi_reduce *r, struct reduce_args *args,
                            const struct parts *parts)
{
    ech_status status = ECH_OK;
    const struct echi_cuda *cuda = ctx->state;
    uint64_t row = chunks_of(r, r->columns), chunks = row * r->rows;
    void *zeros = NULL;
    if (row == 0) row = 1;
    args->warps = chunks < 128 ? 1 : chunks < 256 ? 2 : chunks < 512 ? 4 : REDUCE_WARPS;
    args->item = args->warps;
    while (args->item < REDUCE_MOST_CHUNKS && args->item < row &&
           (row / args->item / 2 + 1) * r->rows >=
               (args->item < REDUCE_ITEM_CHUNKS ? BLOCKS_AT_ONCE : BLOCKS_EACH) *
                   (uint64_t)cuda->multiprocessors)
        args->item *= 2;
    args->row_items = (row + args->item - 1) / args->item;
    if (args->row_items > 1)
        TRY(echi_cuda_zeros(ctx, parts->done, r->rows * sizeof(uint32_t), &zeros));
    args->done = zeros;
    TRY(launch_long(ctx, r, args, args->row_items * r->rows));
done:
    return status;
}

static ech_status rows(ech_ctx *ctx, const struct echi_reduce *r, struct reduce_args *args,
                       const struct parts *parts)
{
    uint64_t row = chunks_of(r, r->columns);
    args->segments = r->rows;
    args->columns = r->columns;
    if (r->rows == 0) return ECH_OK;
    if (!kinds[r->kind].segments || row > REDUCE_LONG_CHUNKS || (row > 1 && r->rows < FEW_ROWS))
        return long_rows(ctx, r, args, parts);
    const size_t bytes = r->columns * r->rule.bytes;
    if (bytes > ECHI_LINE_BYTES) {
        args->warps = REDUCE_WARPS;
        return launch_long(ctx, r, args, r->rows / REDUCE_WARPS + 1);
    }
    args->capacity = 0;
    args->each = 32;
    if (bytes && ((uintptr_t)r->in | bytes) % 16 == 0)
        args->row_lanes = bytes <= 32 ? 2 : bytes <= 128 ? 8 : 32;
    return launch_segments(ctx, r, args);
}

/* The longer segments are in the mean, the fewer a warp looks at. */
static ech_status segments(ech_ctx *ctx, const struct echi_reduce *r, struct reduce_args *args,
                           const struct parts *parts)
{
    const struct echi_cuda *cuda = ctx->state;
    ech_status status = ECH_OK;
    void *zeros = NULL;
    if (args->segments == 0) return ECH_OK;
    uint64_t mean = r->n / args->segments * r->rule.bytes;
    args->each = args->segments_at             ? 8
                 : mean <= ECHI_LINE_BYTES     ? 32
                 : mean <= 8 * ECHI_LINE_BYTES ? 8
                                               : 1;
    if (chunks_of(r, r->n) <= REDUCE_LONG_CHUNKS) args->capacity = 0;
    if (args->capacity) TRY(echi_cuda_zeros(ctx, parts->counts, sizeof *parts->counts, &zeros));
    args->counts = zeros;
    TRY(launch_segments(ctx, r, args));
    if (!args->capacity) return ECH_OK;
    args->warps = REDUCE_WARPS;
    args->item = REDUCE_ITEM_CHUNKS;
    TRY(launch_long(ctx, r, args,
                    echi_cuda_least(args->capacity, 3 * (uint64_t)cuda->multiprocessors)));
done:
    return status;
}

static ech_status run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    (void)plan;
    const struct echi_reduce *r = request;
    const struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    struct parts parts;
    bool overflow;
    ech_status status = ECH_OK;
    lay_out(r, work, &overflow, &parts);
    struct reduce_args args = { .in = r->in,
                                .b = r->b,
                                .out = r->out,
                                .offsets = r->offsets,
                                .segments = r->segments,
                                .n = r->n,
                                .partials = parts.partials,
                                .done = parts.done,
                                .items = parts.items,
                                .capacity = parts.capacity,
                                .rule = r->rule };
    if (r->shape == ECHI_REDUCE_ROWS) return rows(ctx, r, &args, &parts);
    args.complaint = echi_cuda_complaint(ctx);
    if (r->shape == ECHI_REDUCE_BY_KEY) {
        if (r->n == 0) {
            CU(cuMemsetD8Async, (CUdeviceptr)(uintptr_t)r->count, 0, sizeof *r->count,
               echi_cuda_stream(ctx));
            return ECH_OK;
        }
        TRY(echi_cuda_runs(ctx, r->keys, r->key_dtype, r->n, r->keys_out, parts.starts, r->count,
                           parts.runs));
        args.offsets = parts.starts;
        args.segments_at = r->count;
        args.segments = r->n;
    }
    TRY(segments(ctx, r, &args, &parts));
done:
    return status;
}

const struct echi_operation echi_cuda_reduce = { .plan = workspace, .run = run };
