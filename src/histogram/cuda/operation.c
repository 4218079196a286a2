/*
 * histogram/cuda/operation.c - histograms on the GPU, host code: the table of strategies, the plan,
 * and the steps.
 *
 *     algorithm   counters                                     launches
 *     bytes       in shared memory, 256 per channel            1; for large arrays, after a memset
 *     shared      in shared memory                             the same
 *     multiblock  in shared memory, a part of them per block   the same
 *     global      in global memory                             a memset, then 1
 *     weights     sums in the workspace                        a memset, then 2 or 3
 *
 * The numbers of blocks, columns and parts depend on the GPU; they do not affect counts or the size
 * of the workspace.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "histogram/cuda/common.h"
#include "core/backend.h"
#include "histogram/histogram.h"
#include "cuda/steps.h"

#define INLINE static inline
#include "core/exact.h"

#include <stdio.h>
#include <string.h>

enum {
    ONE_BLOCK_N = 16384, /* maximum of elements for which one block is faster than two launches */
    BLOCKS = 2           /* per multiprocessor */
};

struct strategy;

/* The part of the plan that depends only on the request. */
struct plan {
    const struct strategy *strategy;
    char module[24];
    size_t copies, work_bytes; /* of a histogram with weights: tables of sums */
};

/* The state of building the steps. */
struct build {
    const struct echi_histogram *h;
    const struct plan *plan;
    struct echi_gpu gpu;
    struct histogram_args *args; /* the argument of all kernels */
    struct echi_steps *steps;
};

struct strategy {
    const char *name, *what;
    const char *when; /* when it is chosen, for the documentation */
    bool (*can)(const struct echi_histogram *h);
    bool (*best)(const struct echi_histogram *h); /* chosen if true and no algorithm is named */
    void (*size)(const struct echi_histogram *h, struct plan *plan); /* (optional) */

    /* (optional) Sets pointers of args to its parts of the workspace. */
    void (*lay_out)(const struct echi_histogram *h, const struct plan *plan,
                    struct echi_layout *layout, struct histogram_args *args);
    void (*steps)(const struct build *b);
};

/* ---- Conditions ---- */

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

/* Tables in shared memory are worth it if there are at least as many elements as counters. */
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

/* ---- Steps ---- */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void launch(const struct build *b, enum echi_phase phase, const char *kernel,
                   uint64_t blocks, unsigned threads, size_t shared_bytes)
{
    echi_step_add(b->steps, (struct echi_step){ .phase = phase,
                                                .kind = ECHI_LAUNCH,
                                                .module = b->plan->module,
                                                .name = kernel,
                                                .blocks = (unsigned)blocks,
                                                .threads = threads,
                                                .shared_bytes = (unsigned)shared_bytes,
                                                .level = -1 });
}

static void clear(const struct build *b, void *at, size_t bytes)
{
    echi_step_add(
        b->steps,
        (struct echi_step){
            .phase = ECHI_PLAN, .kind = ECHI_CLEAR, .level = -1, .to = at, .bytes = bytes });
}

static void clear_counts(const struct build *b)
{
    if (!b->h->add) clear(b, b->h->counts, b->h->counters * sizeof(uint64_t));
}

/* The maximum shared memory of a block, minus the part that the system reserves. */
static size_t most_shared_bytes(const struct build *b)
{
    return b->gpu.shared_bytes > 48 << 10 ? b->gpu.shared_bytes : 48 << 10;
}

/* Groups of blocks: enough to fill the GPU; few enough that each has at least as many elements as
 * counters; and so many that none has 2^32 elements. */
static uint64_t groups_of(const struct build *b, uint64_t fill, unsigned threads)
{
    const struct echi_histogram *h = b->h;
    if (h->n <= ONE_BLOCK_N) return 1;
    uint64_t each = most(h->counters, (uint64_t)threads * 16 / (unsigned)h->key_bytes);
    uint64_t groups = least(h->n / each + 1, most(fill * (unsigned)b->gpu.multiprocessors, 1));
    return most(groups, (h->n >> 31) + 1);
}

/* As many columns as fit in HISTOGRAM_TABLE_BYTES. */
static uint32_t columns_of(uint64_t counters, size_t bytes)
{
    uint32_t bits = 0;
    while (bits < HISTOGRAM_COLUMN_BITS && (counters * 4 << (bits + 1)) <= bytes) bits++;
    return bits;
}

static void steps_of_bytes(const struct build *b)
{
    struct histogram_args *args = b->args;
    size_t limit = most_shared_bytes(b) / BLOCKS - 1024;
    args->column_bits = args->channels == 1 ? HISTOGRAM_COLUMN_BITS
                                            : columns_of((uint64_t)args->channels * 256, limit);
    size_t bytes = (size_t)args->channels * 256 * 4 << args->column_bits;
    uint64_t blocks = groups_of(b, BLOCKS, HISTOGRAM_THREADS);
    if (blocks > 1) clear_counts(b);
    launch(b, ECHI_COUNT, "histogram_bytes", blocks, HISTOGRAM_THREADS, bytes);
}

/* The number of blocks of a kernel whose threads each process a few of n items at a time. */
static uint64_t move_blocks(const struct build *b, uint64_t n)
{
    uint64_t blocks =
        least(n / (HISTOGRAM_MOVE_THREADS * 4) + 1, 4 * (uint64_t)b->gpu.multiprocessors);
    return most(blocks, (n >> 31) + 1);
}

static void steps_of_global(const struct build *b)
{
    const struct echi_histogram *h = b->h;
    const bool values = h->channels == 1 && !h->pairs && h->x.kind == ECHI_BINS_SHIFT &&
                        h->counters < HISTOGRAM_NARROW;
    clear_counts(b);
    launch(b, ECHI_COUNT, values ? "histogram_shift" : "histogram_global", move_blocks(b, h->n),
           HISTOGRAM_MOVE_THREADS, 0);
}

/* What histogram_shared and histogram_edges support; histogram_mixed counts everything else. */
static bool is_even(const struct echi_histogram *h)
{
    return h->x.kind != ECHI_BINS_WIDE && h->x.kind != ECHI_BINS_EDGES &&
           h->x.kind != ECHI_BINS_NONE;
}

/* Bytes of the edges and of their cells, if they are copied to shared memory. */
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

static void steps_of_shared(const struct build *b)
{
    const struct echi_histogram *h = b->h;
    struct histogram_args *args = b->args;
    if (h->x.kind == ECHI_BINS_EDGES &&
        ((size_t)h->key_bytes * 2 << h->x.top) > HISTOGRAM_EDGE_BYTES) {
        steps_of_global(b); /* needs as many reads of edges in global memory */
        return;
    }
    const size_t limit = most_shared_bytes(b), edge_bytes = edge_bytes_of(h, limit, args);
    const char *kernel = args->cells                                   ? "histogram_edges"
                         : h->channels == 1 && !h->pairs && is_even(h) ? "histogram_shared"
                                                                       : "histogram_mixed";
    uint64_t counters = (limit - edge_bytes) / 4 - 256;
    args->parts = (uint32_t)((h->counters + counters - 1) / counters);
    args->part_counters = (uint32_t)((h->counters + args->parts - 1) / args->parts);
    args->column_bits = columns_of(args->part_counters, HISTOGRAM_TABLE_BYTES);
    size_t bytes = ((size_t)args->part_counters * 4 << args->column_bits) + 4 + edge_bytes;
    uint64_t fill = args->parts == 1 && bytes <= limit / BLOCKS - 1024 ? BLOCKS : 1;
    uint64_t groups = groups_of(b, fill, HISTOGRAM_THREADS);
    if (groups >= 2 * args->parts) groups /= args->parts;
    groups = most(groups, (h->n >> 31) + 1);
    if (groups > 1) clear_counts(b);
    launch(b, ECHI_COUNT, kernel, groups * args->parts, HISTOGRAM_THREADS, bytes);
}

/* ---- Weights ---- */

static void size_weights(const struct echi_histogram *h, struct plan *plan)
{
    plan->copies = HISTOGRAM_SPREAD / h->counters;
    if (plan->copies > HISTOGRAM_COPIES) plan->copies = HISTOGRAM_COPIES;
    if (plan->copies == 0) plan->copies = 1;
}

/* Adjacent, because they are cleared together. */
static void lay_out_weights(const struct echi_histogram *h, const struct plan *plan,
                            struct echi_layout *layout, struct histogram_args *args)
{
    size_t words = float_weights(h) ? ECHI_EXACT_WORDS : 1, tables;
    args->largest = echi_part(layout, 1, sizeof(uint64_t));
    if (__builtin_mul_overflow(h->counters, words * plan->copies, &tables)) layout->overflow = true;
    args->sums = echi_part(layout, tables, sizeof(uint64_t));
}

static void steps_of_weights(const struct build *b)
{
    const struct echi_histogram *h = b->h;
    const uint64_t blocks = move_blocks(b, h->n);
    b->args->copies = b->plan->copies;
    clear(b, b->args->largest, b->plan->work_bytes);
    if (float_weights(h))
        launch(b, ECHI_LOOK, "histogram_largest", blocks, HISTOGRAM_MOVE_THREADS, 0);
    launch(b, ECHI_COUNT, "histogram_weights", blocks, HISTOGRAM_MOVE_THREADS, 0);
    launch(b, ECHI_FINISH, "histogram_sums", move_blocks(b, h->counters), HISTOGRAM_MOVE_THREADS,
           0);
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

/* ---- The strategies ---- */

/* The first row whose `best` is true runs, unless one is named. */
static const struct strategy strategies[] = {
    {
        .name = "bytes",
        .what = "counts the 256 byte values in shared memory, then maps these counts to bins",
        .when = "8-bit elements, no weights, one dimension, up to 8 channels",
        .can = can_bytes,
        .best = can_bytes,
        .steps = steps_of_bytes,
    },
    {
        .name = "shared",
        .what = "counters in shared memory",
        .when = "up to 7,680 counters; with more than 4,096 of them, at least as many elements as "
                "counters",
        .can = can_shared,
        .best = worth_shared,
        .steps = steps_of_shared,
    },
    {
        .name = "multiblock",
        .what = "counters in shared memory, divided among blocks that read the same elements",
        .when = "up to 65,536 counters and at least four elements per counter",
        .can = can_split,
        .best = worth_split,
        .steps = steps_of_shared,
    },
    {
        .name = "global",
        .what = "counters in global memory, those of frequent values in shared memory",
        .when = "all other histograms without weights",
        .can = can_global,
        .best = can_global,
        .steps = steps_of_global,
    },
    {
        .name = "weights",
        .what = "integer sums in global memory; float weights are converted to integers",
        .when = "histograms with weights",
        .can = has_weights,
        .best = has_weights,
        .size = size_weights,
        .lay_out = lay_out_weights,
        .steps = steps_of_weights,
    },
};
enum { STRATEGIES = sizeof strategies / sizeof *strategies };

static ech_status choose(const struct echi_histogram *h, const struct strategy **choice)
{
    for (int i = 0; i < STRATEGIES; i++) {
        const struct strategy *a = &strategies[i];
        if (h->algorithm && strcmp(h->algorithm, a->name) != 0) continue;
        if (h->algorithm ? a->can(h) : a->best(h)) {
            *choice = a;
            return ECH_OK;
        }
        if (h->algorithm)
            return echi_fail(NULL, ECH_ERR_ARG,
                             "the algorithm \"%s\" of the GPU (%s) does not support this histogram",
                             a->name, a->what);
    }
    return echi_fail(NULL, ECH_ERR_ARG,
                     "options->algorithm is \"%s\": the GPU has \"bytes\", \"shared\", "
                     "\"multiblock\", \"global\" and \"weights\"",
                     h->algorithm);
}

static ech_status plan_histogram(const void *request, void *place, size_t *work_bytes)
{
    const struct echi_histogram *h = request;
    struct plan *plan = place;
    struct echi_layout layout = { 0 };
    struct histogram_args args;
    *plan = (struct plan){ 0 };
    *work_bytes = 0;
    ech_status status = choose(h, &plan->strategy);
    if (status != ECH_OK) return status;
    snprintf(plan->module, sizeof plan->module, "histogram_k%d", 8 * h->key_bytes);
    if (plan->strategy->size) plan->strategy->size(h, plan);
    if (plan->strategy->lay_out) plan->strategy->lay_out(h, plan, &layout, &args);
    if (layout.overflow)
        return echi_fail(NULL, ECH_ERR_MEMORY, "bins is %zu: the workspace size overflows size_t",
                         h->x.bins);
    *work_bytes = plan->work_bytes = layout.bytes;
    return ECH_OK;
}

static struct histogram_args args_of(const struct echi_histogram *h)
{
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
    if (h->weighted) args.weights_type = weights_type(h);
    return args;
}

static void make_steps(const struct echi_histogram *h, const struct plan *plan, struct echi_gpu gpu,
                       void *work, struct histogram_args *args, struct echi_steps *steps)
{
    struct echi_layout layout = { .base = work };
    const struct build b = { h, plan, gpu, args, steps };
    *args = args_of(h);
    steps->count = 0;
    if (plan->strategy->lay_out) plan->strategy->lay_out(h, plan, &layout, args);
    if (h->edges && gpu.ctx) args->data_error = echi_cuda_error_word(gpu.ctx);
    plan->strategy->steps(&b);
}

static ech_status run_histogram(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    struct histogram_args args;
    struct echi_steps steps;
    make_steps(request, plan, echi_gpu_of(ctx), work, &args, &steps);
    return echi_cuda_enqueue(ctx, &steps, &args, NULL);
}

static ech_status explain_histogram(const void *request, struct echi_explain *e)
{
    const struct echi_histogram *h = request;
    struct histogram_args args;
    struct echi_steps steps;
    struct plan plan;
    size_t bytes;
    ech_status status = plan_histogram(h, &plan, &bytes);
    if (status != ECH_OK) return status;
    make_steps(h, &plan, echi_gpu_of(NULL), NULL, &args, &steps);
    echi_explain_algorithm(e, true, plan.strategy->name, "%s", plan.strategy->what);
    for (int i = 0; i < STRATEGIES; i++)
        if (&strategies[i] != plan.strategy && strategies[i].can(h))
            echi_explain_algorithm(e, false, strategies[i].name, "%s", strategies[i].what);
    echi_explain_line(e, "module", "%s", plan.module);
    echi_explain_steps(e, &steps);
    if (plan.copies)
        echi_explain_line(e, "tables", "%zu, of %zu sums each", plan.copies, h->counters);
    return ECH_OK;
}

const struct echi_operation echi_cuda_histogram = {
    .plan = plan_histogram,
    .plan_bytes = sizeof(struct plan),
    .explain = explain_histogram,
    .run = run_histogram,
};
