/*
 * histogram/cuda/operation.c - histograms on the GPU, host half: chooses, lays out the workspace,
 * queues kernels.
 *
 *     algorithm   counters                                     launches
 *     bytes       in shared memory, 256 a channel              1, of large arrays after a memset
 *     shared      in shared memory                             the same
 *     split       in shared memory, a part of them each block  the same
 *     global      in memory                                    a memset, then 1
 *     weights     sums in the workspace                        a memset, then 2 or 3
 *
 * What depends on the GPU, the number of blocks, columns and parts, changes no count and no byte of
 * the workspace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "histogram/cuda/common.h"
#include "core/backend.h"
#include "histogram/histogram.h"
#include "cuda/cuda.h"

#define INLINE static inline
#include "core/exact.h"

#include <stdio.h>
#include <string.h>

enum {
    ALONE_N = 16384, /* elements that one block counts before two launches would */
    BLOCKS = 2       /* of a multiprocessor */
};

struct algorithm {
    const char *name, *what;
    bool (*applicable)(const struct echi_histogram *h);
    bool (*chosen)(const struct echi_histogram *h);
};

/* ---- Algorithms ---- */

static bool float_weights(const struct echi_histogram *h)
{
    return h->weighted && echi_dtype_is_float(h->weights_dtype);
}

static bool can_bytes(const struct echi_histogram *h)
{
    return h->key_bytes == 1 && !h->weighted && !h->pairs && h->channels <= HISTOGRAM_CHANNELS;
}

static bool can_shared(const struct echi_histogram *h)
{
    return !h->weighted && h->counters <= HISTOGRAM_SHARED;
}

static bool can_split(const struct echi_histogram *h)
{
    return !h->weighted && h->counters <= HISTOGRAM_SPLIT;
}

static bool can_global(const struct echi_histogram *h)
{
    return !h->weighted;
}

/* Tables on the chip pay when there are as many elements as counters. */
static bool worth_shared(const struct echi_histogram *h)
{
    return can_shared(h) && (h->counters <= 4096 || h->n >= h->counters);
}

static bool worth_split(const struct echi_histogram *h)
{
    return can_split(h) && h->n >= 4 * h->counters;
}

static bool has_weights(const struct echi_histogram *h)
{
    return h->weighted;
}

enum { BYTES, SHARED, SPLIT, GLOBAL, WEIGHTS, ALGORITHMS };

/* The first that is chosen runs unless one is named. */
static const struct algorithm algorithms[ALGORITHMS] = {
    [BYTES] = { "bytes", "bytes by their value in shared memory, then the map of 256 counts",
                can_bytes, can_bytes },
    [SHARED] = { "shared", "counters in shared memory", can_shared, worth_shared },
    [SPLIT] = { "split",
                "counters in shared memory, split among blocks that read the same elements",
                can_split, worth_split },
    [GLOBAL] = { "global", "counters in memory, those of frequent values in shared memory",
                 can_global, can_global },
    [WEIGHTS] = { "weights", "sums of whole numbers in memory, whatever the weights are",
                  has_weights, has_weights },
};

static ech_status choose(const struct echi_histogram *h, int *choice)
{
    for (int i = 0; i < ALGORITHMS; i++) {
        if (h->algorithm && strcmp(h->algorithm, algorithms[i].name) != 0) continue;
        if (h->algorithm ? algorithms[i].applicable(h) : algorithms[i].chosen(h)) {
            *choice = i;
            return ECH_OK;
        }
        if (h->algorithm)
            return echi_fail(NULL, ECH_ERR_ARG,
                             "the algorithm \"%s\" of the GPU (%s) cannot do this histogram",
                             algorithms[i].name, algorithms[i].what);
    }
    return echi_fail(NULL, ECH_ERR_ARG,
                     "options->algorithm is \"%s\", and the GPU has \"bytes\", \"shared\", "
                     "\"split\", \"global\" and \"weights\"",
                     h->algorithm);
}

/* ---- Workspace: of weights alone ---- */

struct parts {
    uint64_t *largest, *sums; /* one after the other: cleared together */
    size_t copies, bytes;
};

static ech_status lay_out(const struct echi_histogram *h, void *work, struct parts *parts)
{
    struct echi_layout layout = { .base = work };
    *parts = (struct parts){ .copies = 1 };
    if (!h->weighted) return ECH_OK;
    size_t words = float_weights(h) ? ECHI_EXACT_WORDS : 1, tables;
    parts->copies = HISTOGRAM_SPREAD / h->counters;
    if (parts->copies > HISTOGRAM_COPIES) parts->copies = HISTOGRAM_COPIES;
    if (parts->copies == 0) parts->copies = 1;
    parts->largest = echi_part(&layout, 1, sizeof(uint64_t));
    if (__builtin_mul_overflow(h->counters, words * parts->copies, &tables)) layout.overflow = true;
    parts->sums = echi_part(&layout, tables, sizeof(uint64_t));
    if (layout.overflow)
        return echi_fail(NULL, ECH_ERR_MEMORY,
                         "bins is %zu: the workspace is larger than any memory", h->x.bins);
    parts->bytes = layout.bytes;
    return ECH_OK;
}

static ech_status histogram_workspace(const void *request, void *plan, size_t *bytes)
{
    (void)plan;
    const struct echi_histogram *h = request;
    struct parts parts;
    int algorithm;
    ech_status status = choose(h, &algorithm);
    if (status == ECH_OK) status = lay_out(h, NULL, &parts);
    if (status == ECH_OK) *bytes = parts.bytes;
    return status;
}

static ech_status histogram_explain(const void *request, struct echi_text *text)
{
    const struct echi_histogram *h = request;
    struct parts parts;
    int algorithm;
    ech_status status = choose(h, &algorithm);
    if (status == ECH_OK) status = lay_out(h, NULL, &parts);
    if (status != ECH_OK) return status;
    echi_print(text, "algorithm  %s: %s\n", algorithms[algorithm].name, algorithms[algorithm].what);
    for (int i = 0; i < ALGORITHMS; i++)
        if (i != algorithm && algorithms[i].applicable(h))
            echi_print(text, "could be   %s: %s\n", algorithms[i].name, algorithms[i].what);
    echi_print(text, "image      histogram_k%d\n", 8 * h->key_bytes);
    if (algorithm == WEIGHTS)
        echi_print(text, "launch     %shistogram_weights, histogram_sums; %zu tables of %zu sums\n",
                   float_weights(h) ? "histogram_largest, " : "", parts.copies, h->counters);
    else
        echi_print(text, "launch     histogram_%s, %d threads a block\n",
                   algorithm == BYTES    ? "bytes"
                   : algorithm == GLOBAL ? "global"
                                         : "shared",
                   algorithm == GLOBAL ? HISTOGRAM_MOVE_THREADS : HISTOGRAM_THREADS);
    echi_print(text, "workspace  %zu bytes\n", parts.bytes);
    return ECH_OK;
}

/* ---- Launches ---- */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static ech_status launch(ech_ctx *ctx, const struct echi_histogram *h, const char *kernel,
                         uint64_t blocks, unsigned threads, size_t shared_bytes,
                         const struct histogram_args *args)
{
    char image[24];
    snprintf(image, sizeof image, "histogram_k%d", 8 * h->key_bytes);
    return echi_cuda_launch(ctx, image, kernel, (unsigned)blocks, threads, (unsigned)shared_bytes,
                            args);
}

static ech_status clear(ech_ctx *ctx, void *at, size_t bytes)
{
    const struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    CU(cuMemsetD8Async, (CUdeviceptr)(uintptr_t)at, 0, bytes, echi_cuda_stream(ctx));
done:
    return status;
}

/* Shared memory that a block can have, less what the system keeps of it. */
static size_t most_shared_bytes(const ech_ctx *ctx)
{
    const struct echi_cuda *cuda = ctx->state;
    return cuda->shared_bytes > 48 << 10 ? cuda->shared_bytes : 48 << 10;
}

/* Groups of blocks: enough to fill the GPU, few enough that each has as many elements as counters,
 * and so many that none has 2^32 elements. */
static uint64_t groups_of(const ech_ctx *ctx, const struct echi_histogram *h, uint64_t fill,
                          unsigned threads)
{
    const struct echi_cuda *cuda = ctx->state;
    if (h->n <= ALONE_N) return 1;
    uint64_t each = most(h->counters, (uint64_t)threads * 16 / (unsigned)h->key_bytes);
    uint64_t groups = least(h->n / each + 1, most(fill * (unsigned)cuda->multiprocessors, 1));
    return most(groups, (h->n >> 31) + 1);
}

/* So many columns that the counters fill HISTOGRAM_TABLE_BYTES. */
static uint32_t columns_of(uint64_t counters, size_t bytes)
{
    uint32_t bits = 0;
    while (bits < HISTOGRAM_COLUMN_BITS && (counters * 4 << (bits + 1)) <= bytes) bits++;
    return bits;
}

static ech_status run_bytes(ech_ctx *ctx, const struct echi_histogram *h,
                            struct histogram_args *args)
{
    ech_status status = ECH_OK;
    size_t limit = most_shared_bytes(ctx) / BLOCKS - 1024;
    args->column_bits = args->channels == 1 ? HISTOGRAM_COLUMN_BITS
                                            : columns_of((uint64_t)args->channels * 256, limit);
    size_t bytes = (size_t)args->channels * 256 * 4 << args->column_bits;
    uint64_t blocks = groups_of(ctx, h, BLOCKS, HISTOGRAM_THREADS);
    if (blocks > 1 && !h->add) TRY(clear(ctx, h->counts, h->counters * sizeof(uint64_t)));
    TRY(launch(ctx, h, "histogram_bytes", blocks, HISTOGRAM_THREADS, bytes, args));
done:
    return status;
}

/* Blocks of a kernel whose threads each take a few of n things at a time. */
static uint64_t move_blocks(const ech_ctx *ctx, uint64_t n)
{
    const struct echi_cuda *cuda = ctx->state;
    uint64_t blocks =
        least(n / (HISTOGRAM_MOVE_THREADS * 4) + 1, 4 * (uint64_t)cuda->multiprocessors);
    return most(blocks, (n >> 31) + 1);
}

static ech_status run_global(ech_ctx *ctx, const struct echi_histogram *h,
                             struct histogram_args *args)
{
    ech_status status = ECH_OK;
    const bool values = h->channels == 1 && !h->pairs && h->x.kind == ECHI_BINS_SHIFT &&
                        h->counters < HISTOGRAM_NARROW;
    if (!h->add) TRY(clear(ctx, h->counts, h->counters * sizeof(uint64_t)));
    TRY(launch(ctx, h, values ? "histogram_shift" : "histogram_global", move_blocks(ctx, h->n),
               HISTOGRAM_MOVE_THREADS, 0, args));
done:
    return status;
}

/* What histogram_shared and histogram_edges count; the rest is histogram_mixed's. */
static bool is_even(const struct echi_histogram *h)
{
    return h->x.kind != ECHI_BINS_WIDE && h->x.kind != ECHI_BINS_EDGES &&
           h->x.kind != ECHI_BINS_NONE;
}

/* Bytes of the edges and of their cells, if they go into shared memory. */
static size_t edge_bytes_of(const struct echi_histogram *h, size_t limit,
                            struct histogram_args *args)
{
    if (h->x.kind != ECHI_BINS_EDGES) return 0;
    size_t bytes = ((size_t)h->key_bytes * 2 << h->x.top) + 8;
    args->shared_edges = 1;
    uint32_t bits = h->x.top + 2 < HISTOGRAM_CELL_BITS ? h->x.top + 2 : HISTOGRAM_CELL_BITS;
    if (h->channels > 1 || bytes + ((size_t)4 << bits) > limit / 2) return bytes;
    args->cells = 1u << bits;
    args->cell_kind = !echi_dtype_is_float(h->dtype) ? HISTOGRAM_CELLS_WHOLE
                      : h->dtype == ECH_F16          ? HISTOGRAM_CELLS_F16
                                                     : HISTOGRAM_CELLS_FLOAT;
    return bytes + ((size_t)4 << bits);
}

static ech_status run_shared(ech_ctx *ctx, const struct echi_histogram *h,
                             struct histogram_args *args)
{
    ech_status status = ECH_OK;
    if (h->x.kind == ECHI_BINS_EDGES &&
        ((size_t)h->key_bytes * 2 << h->x.top) > HISTOGRAM_EDGE_BYTES)
        return run_global(ctx, h, args); /* as many looks at edges in memory anyway */
    const size_t limit = most_shared_bytes(ctx), edge_bytes = edge_bytes_of(h, limit, args);
    const char *kernel = args->cells                                   ? "histogram_edges"
                         : h->channels == 1 && !h->pairs && is_even(h) ? "histogram_shared"
                                                                       : "histogram_mixed";
    uint64_t counters = (limit - edge_bytes) / 4 - 256;
    args->parts = (uint32_t)((h->counters + counters - 1) / counters);
    args->part_counters = (uint32_t)((h->counters + args->parts - 1) / args->parts);
    args->column_bits = columns_of(args->part_counters, HISTOGRAM_TABLE_BYTES);
    size_t bytes = ((size_t)args->part_counters * 4 << args->column_bits) + 4 + edge_bytes;
    uint64_t fill = args->parts == 1 && bytes <= limit / BLOCKS - 1024 ? BLOCKS : 1;
    uint64_t groups = groups_of(ctx, h, fill, HISTOGRAM_THREADS);
    if (groups >= 2 * args->parts) groups /= args->parts;
    groups = most(groups, (h->n >> 31) + 1);
    if (groups > 1 && !h->add) TRY(clear(ctx, h->counts, h->counters * sizeof(uint64_t)));
    TRY(launch(ctx, h, kernel, groups * args->parts, HISTOGRAM_THREADS, bytes, args));
done:
    return status;
}

static ech_status run_weights(ech_ctx *ctx, const struct echi_histogram *h,
                              const struct parts *parts, struct histogram_args *args)
{
    ech_status status = ECH_OK;
    args->largest = parts->largest;
    args->sums = parts->sums;
    args->copies = parts->copies;
    TRY(clear(ctx, parts->largest, parts->bytes));
    uint64_t blocks = move_blocks(ctx, h->n);
    if (float_weights(h))
        TRY(launch(ctx, h, "histogram_largest", blocks, HISTOGRAM_MOVE_THREADS, 0, args));
    TRY(launch(ctx, h, "histogram_weights", blocks, HISTOGRAM_MOVE_THREADS, 0, args));
    TRY(launch(ctx, h, "histogram_sums", move_blocks(ctx, h->counters), HISTOGRAM_MOVE_THREADS, 0,
               args));
done:
    return status;
}

static enum histogram_weights weights_type(const struct echi_histogram *h)
{
    switch (h->weights_dtype) {
    case ECH_I32:
        return HISTOGRAM_I32;
    case ECH_U32:
        return HISTOGRAM_U32;
    case ECH_F32:
        return HISTOGRAM_F32;
    case ECH_F64:
        return HISTOGRAM_F64;
    default:
        return HISTOGRAM_64;
    }
}

static ech_status histogram_run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    (void)plan;
    const struct echi_histogram *h = request;
    struct parts parts;
    int algorithm;
    ech_status status = choose(h, &algorithm);
    if (status == ECH_OK) status = lay_out(h, work, &parts);
    if (status != ECH_OK) return echi_fail(ctx, status, "%s", ech_error(NULL));
    struct histogram_args args = { .in = h->in,
                                   .in_y = h->pairs ? h->in_y : NULL,
                                   .edges = h->edges,
                                   .weights = h->weights,
                                   .counts = h->counts,
                                   .n = h->n,
                                   .stride = h->stride,
                                   .counters = h->counters,
                                   .x = h->x,
                                   .y = h->y,
                                   .channels = (uint32_t)h->channels,
                                   .parts = 1,
                                   .add = h->add };
    if (h->edges) args.complaint = echi_cuda_complaint(ctx);
    if (h->weighted) args.weights_type = weights_type(h);
    switch (algorithm) {
    case BYTES:
        return run_bytes(ctx, h, &args);
    case SHARED:
    case SPLIT:
        return run_shared(ctx, h, &args);
    case GLOBAL:
        return run_global(ctx, h, &args);
    default:
        return run_weights(ctx, h, &parts, &args);
    }
}

const struct echi_operation echi_cuda_histogram = { .plan = histogram_workspace,
                                                    .explain = histogram_explain,
                                                    .run = histogram_run };
