/*
 * reduce/cuda/operation.c - reductions on the GPU, host code: the plan, the table of strategies,
 * and their steps.
 *
 *     rows, and entire arrays       more than REDUCE_LONG_CHUNKS chunks, or few rows of several
 *                                  chunks: only reduce_KIND_long; also rows longer than a line,
 *                                  one per warp; otherwise only reduce_KIND_segments
 *     segments                     reduce_KIND_long with a block per segment, or both: the first
 *                                  lists the long segments for the second
 *     runs of keys                 first the starts of the runs (select/cuda/operation.c), then
 *                                  like segments
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reduce/reduce.h"
#include "core/backend.h"
#include "cuda/steps.h"
#include "select/cuda/runs.h"
#include "reduce/cuda/common.h"
#include "reduce/cuda/items.h"

#include <stdio.h>

enum {
    SHARED_ROWS = 1024,
    BLOCK_CHUNKS = 8, /* maximum of a row that one block reduces, however few rows there are */
    /* Per multiprocessor: */
    ROWS_AT_ONCE = 256,  /* rows that warps share before they take 32 each */
    SEGMENT_WARPS = 16,  /* minimum before a warp loads more segments as a unit */
    RESIDENT_WARPS = 32, /* of blocks of a segment each */
    /* Mean length of segments that blocks reduce, at least: few, in small arrays, others. */
    FEW_SEGMENTS = 4096,
    BLOCK_MEAN_BYTES_FEW = 128,
    BLOCK_MEAN_BYTES_SMALL = 2 << 10,
    BLOCK_MEAN_BYTES_LARGE = 2800,
    SMALL_CHUNKS = 1024,
    MIN_WARP_BYTES = 2048, /* of a segment, per warp, if all blocks are resident together */
    WARP_BYTES = 5120,     /* ... otherwise */
    MODULE_BYTES = 32
};

static const struct {
    const char *segments, *shared; /* kernels */
    size_t words;                  /* of a value, at most */
} kinds[ECHI_REDUCE_KINDS] = {
    [ECHI_REDUCE_ISUM] = { "reduce_isum_segments", "reduce_isum_long", 1 },
    [ECHI_REDUCE_IPRODUCT] = { "reduce_other_segments", "reduce_other_long", 1 },
    [ECHI_REDUCE_IDOT] = { NULL, "reduce_idot_long", 1 },
    [ECHI_REDUCE_SUM] = { "reduce_sum_segments", "reduce_sum_long", 1 },
    [ECHI_REDUCE_PRODUCT] = { "reduce_product_segments", "reduce_product_long", 1 },
    [ECHI_REDUCE_DOT] = { NULL, "reduce_dot_long", 1 },
    [ECHI_REDUCE_SUM64] = { "reduce_sum64_segments", "reduce_sum64_long", 2 },
    [ECHI_REDUCE_PRODUCT64] = { "reduce_product64_segments", "reduce_product64_long", 1 },
    [ECHI_REDUCE_DOT64] = { NULL, "reduce_dot64_long", 2 },
    [ECHI_REDUCE_VARIANCE] = { "reduce_variance_segments", "reduce_variance_long", 4 },
    [ECHI_REDUCE_BITS] = { "reduce_other_segments", "reduce_other_long", 1 },
    [ECHI_REDUCE_MAX] = { "reduce_max_segments", "reduce_max_long", 1 },
    [ECHI_REDUCE_MINMAX] = { "reduce_minmax_segments", "reduce_minmax_long", 2 },
    [ECHI_REDUCE_ARG] = { "reduce_arg_segments", "reduce_arg_long", 2 },
    [ECHI_REDUCE_COUNT] = { "reduce_other_segments", "reduce_other_long", 1 },
};

/* ---- The plan ---- */

struct strategy;

/* The plan, which depends on the request only. */
struct plan {
    const struct strategy *strategy;
    char module[MODULE_BYTES];
    uint64_t capacity; /* maximum number of items */
};

/* Parts of the workspace. */
struct parts {
    uint64_t *partials;
    uint32_t *done;
    struct reduce_item *items;
    struct reduce_counts *counts;
    struct reduce_turns *turns;
    uint64_t *starts;
    void *runs;
};

/* Everything needed to make and to run the steps of a call. */
struct whole {
    struct reduce_args args;
    const struct echi_reduce *r;
    struct parts parts;
    struct echi_steps steps;
};

/* The context in which steps are made. */
struct build {
    const struct echi_reduce *r;
    const struct plan *plan;
    struct echi_gpu gpu;
    struct whole *w;
};

struct strategy {
    const char *name, *what;
    const char *when; /* when it is chosen, for the documentation */
    bool (*can)(const struct echi_reduce *r);
    bool (*shares)(const struct echi_reduce *r); /* several blocks share rows or segments */
    void (*steps)(const struct build *b);
};

static void module_of(const struct echi_reduce *r, char module[MODULE_BYTES])
{
    if (echi_dtype_is_float(r->dtype) && r->kind < ECHI_REDUCE_BITS)
        snprintf(module, MODULE_BYTES, "reduce_%s", ech_dtype_name(r->dtype));
    else
        snprintf(module, MODULE_BYTES, "reduce_k%u", 8 * r->rule.bytes);
}

static void lay_out(const struct echi_reduce *r, const struct plan *plan,
                    struct echi_layout *layout, struct parts *parts)
{
    *parts = (struct parts){ .partials = NULL };
    if (plan->capacity) {
        parts->partials =
            echi_part(layout, plan->capacity, kinds[r->kind].words * sizeof(uint64_t));
        parts->done = echi_part(layout, plan->capacity, sizeof *parts->done);
    }
    if (plan->capacity && r->shape != ECHI_REDUCE_ROWS) {
        parts->items = echi_part(layout, plan->capacity, sizeof *parts->items);
        parts->counts = echi_part(layout, 1, sizeof *parts->counts);
        parts->turns = echi_part(layout, 1, sizeof *parts->turns);
    }
    if (r->shape == ECHI_REDUCE_BY_KEY && r->n) {
        parts->starts = echi_part(layout, r->n + 1, sizeof *parts->starts);
        parts->runs = echi_part(layout, echi_cuda_runs_workspace(r->n), 1);
    }
}

/* ---- Steps ---- */

static void launch(const struct build *b, enum echi_phase phase, const char *kernel,
                   unsigned blocks, unsigned threads, size_t shared_bytes)
{
    echi_step_add(&b->w->steps, (struct echi_step){ .phase = phase,
                                                    .kind = ECHI_LAUNCH_PDL,
                                                    .module = b->plan->module,
                                                    .name = kernel,
                                                    .blocks = blocks,
                                                    .threads = threads,
                                                    .shared_bytes = (unsigned)shared_bytes,
                                                    .level = -1 });
}

static void launch_segments(const struct build *b)
{
    const struct reduce_args *args = &b->w->args;
    uint64_t warps = (args->segments << args->row_share) / args->each + 1;
    uint64_t most = args->offsets ? 16 * (uint64_t)b->gpu.multiprocessors : (uint64_t)1 << 24;
    launch(b, ECHI_MOVE, kinds[b->r->kind].segments,
           echi_cuda_least(warps / REDUCE_WARPS + 1, most), REDUCE_THREADS, 0);
}

/* chunks: the maximum that a block has at a time. */
static void launch_long(const struct build *b, enum echi_phase phase, uint64_t blocks,
                        uint32_t chunks)
{
    const struct echi_reduce *r = b->r;
    const uint32_t warps = b->w->args.warps;
    const bool rows = !b->w->args.row_items && !b->w->args.offsets; /* one per warp */
    const uint32_t all = r->rule.bytes == 4 && !rows ? 1 : warps;
    const uint32_t parts = r->kind == ECHI_REDUCE_VARIANCE && r->rule.bytes <= 4 ? all : 0;
    launch(b, phase, kinds[r->kind].shared, echi_cuda_least(blocks, (uint64_t)1 << 30),
           warps * REDUCE_WARP,
           REDUCE_SHARED_BYTES(kinds[r->kind].words, parts ? REDUCE_MOST_CHUNKS : chunks) +
               parts * REDUCE_PART_BYTES);
}

static void get_zeros(const struct build *b, void *part, void *slot, size_t bytes)
{
    echi_step_add(&b->w->steps, (struct echi_step){ .phase = ECHI_PLAN,
                                                    .kind = ECHI_ZEROS,
                                                    .level = -1,
                                                    .to = part,
                                                    .slot = slot,
                                                    .bytes = bytes });
}

static bool never(const struct echi_reduce *r)
{
    (void)r;
    return false;
}

static bool always(const struct echi_reduce *r)
{
    (void)r;
    return true;
}

/* ---- Strategies: nothing to reduce ---- */

static bool is_empty(const struct echi_reduce *r)
{
    if (r->shape == ECHI_REDUCE_ROWS) return r->rows == 0;
    return r->shape == ECHI_REDUCE_SEGMENTS ? r->segments == 0 : r->n == 0;
}

static void steps_of_nothing(const struct build *b)
{
    if (b->r->shape == ECHI_REDUCE_BY_KEY)
        echi_step_add(&b->w->steps, (struct echi_step){ .phase = ECHI_FINISH,
                                                        .kind = ECHI_CLEAR,
                                                        .level = -1,
                                                        .to = b->r->count,
                                                        .bytes = sizeof *b->r->count });
}

/* ---- Strategies: rows ---- */

static bool can_share(const struct echi_reduce *r)
{
    const uint64_t row = chunks_of(r, r->columns);
    return r->shape == ECHI_REDUCE_ROWS && (!kinds[r->kind].segments || row > REDUCE_LONG_CHUNKS ||
                                            (row > 1 && r->rows < SHARED_ROWS));
}

static bool some_blocks(const struct echi_reduce *r)
{
    return chunks_of(r, r->columns) > BLOCK_CHUNKS;
}

/* Whether the blocks of an array read adjacent vectors: a value per block, and no distant
 * addresses, which matters if the array is in memory.  Kernels count elements with 32 bits. */
static bool reads_together(const struct build *b)
{
    const struct echi_reduce *r = b->r;
    const bool kind =
        r->kind == ECHI_REDUCE_ISUM || r->kind == ECHI_REDUCE_MAX || r->kind == ECHI_REDUCE_MINMAX;
    return kind && r->rows == 1 && r->columns <= UINT32_MAX &&
           r->columns * r->rule.bytes > b->gpu.l2_bytes;
}

/* Rows that blocks share: with fewer rows, items are smaller.  A row of few chunks has one block,
 * because blocks need about 2 us to combine their values. */
static void steps_of_shared(const struct build *b)
{
    const struct echi_reduce *r = b->r;
    struct reduce_args *args = &b->w->args;
    uint64_t row = chunks_of(r, r->columns), chunks = row * r->rows;
    if (row == 0) row = 1;
    args->warps = chunks < 128 ? 1 : chunks < 256 ? 2 : chunks < 512 ? 4 : REDUCE_WARPS;
    if (row <= BLOCK_CHUNKS)
        while (args->warps < row) args->warps *= 2;
    args->item = chunks_of_item(r, row, args->warps, (uint64_t)b->gpu.multiprocessors);
    const uint64_t resident = resident_blocks(r, (uint64_t)b->gpu.multiprocessors);
    const uint64_t equal = (row + resident - 1) / resident; /* chunks: one item per block */
    const bool any_order = r->kind <= ECHI_REDUCE_IDOT || r->kind >= ECHI_REDUCE_BITS;
    if (any_order && r->rows == 1 && equal > args->warps && equal <= REDUCE_MOST_CHUNKS)
        args->item = (uint32_t)equal;
    if (r->kind != ECHI_REDUCE_VARIANCE && r->rows == 1 && row > resident * REDUCE_WARPS &&
        args->item < 2 * REDUCE_WARPS) /* so that all are resident together */
        args->warps = REDUCE_WARPS / 2;
    while (r->rows == 1 && row > args->item &&
           (row + args->item - 1) / args->item > b->plan->capacity)
        args->item *= 2;
    args->row_items = (row + args->item - 1) / args->item;
    if (reads_together(b)) {
        args->item = 0;
        args->row_items = (row + args->warps - 1) / args->warps;
        if (args->row_items > resident) args->row_items = resident;
    }
    args->done = NULL;
    if (args->row_items > 1)
        get_zeros(b, b->w->parts.done, &args->done, r->rows * sizeof(uint32_t));
    launch_long(b, ECHI_MOVE, args->row_items * r->rows,
                args->item ? args->item : (uint32_t)REDUCE_WARPS);
}

static bool can_lines(const struct echi_reduce *r)
{
    return r->shape == ECHI_REDUCE_ROWS && r->columns * r->rule.bytes > ECHI_LINE_BYTES;
}

static void steps_of_lines(const struct build *b)
{
    b->w->args.warps = REDUCE_WARPS;
    launch_long(b, ECHI_MOVE, b->r->rows / REDUCE_WARPS + 1, REDUCE_MOST_CHUNKS);
}

static bool can_rows(const struct echi_reduce *r)
{
    return r->shape == ECHI_REDUCE_ROWS;
}

static void steps_of_rows(const struct build *b)
{
    const struct echi_reduce *r = b->r;
    struct reduce_args *args = &b->w->args;
    const size_t bytes = r->columns * r->rule.bytes;
    args->capacity = 0;
    args->each = 32;
    if (bytes && ((uintptr_t)r->in | bytes) % 16 == 0)
        args->row_lanes = bytes <= 32 ? 2 : bytes <= 128 ? 8 : bytes <= 256 ? 16 : 32;
    while (8u << args->row_share < args->row_lanes &&
           r->rows << args->row_share < ROWS_AT_ONCE * (uint64_t)b->gpu.multiprocessors)
        args->row_share++;
    launch_segments(b);
}

/* ---- Strategies: segments ---- */

static bool can_segments(const struct echi_reduce *r)
{
    return r->shape == ECHI_REDUCE_SEGMENTS;
}

static uint64_t mean_bytes(const struct echi_reduce *r)
{
    return r->n / r->segments * r->rule.bytes;
}

/* Whether one could be so long that several blocks must share it. */
static bool some_shared(const struct echi_reduce *r)
{
    return chunks_of(r, r->n) >
           (REDUCE_LISTS((int)r->kind) ? REDUCE_BLOCK_CHUNKS : REDUCE_ALONE_CHUNKS);
}

/* Whether a block reduces a segment: not if they are short.  In a small array, a warp per segment
 * would leave most of the GPU idle. If most segments are shared, there may be too few blocks. */
static bool per_block(const struct echi_reduce *r)
{
    const bool lists = REDUCE_LISTS((int)r->kind);
    const bool small = chunks_of(r, r->n) <= SMALL_CHUNKS;
    const bool few = lists && r->segments <= FEW_SEGMENTS;
    const uint64_t mean = r->shape == ECHI_REDUCE_SEGMENTS ? mean_bytes(r) : 0;
    const uint64_t many = small ? BLOCK_MEAN_BYTES_SMALL : BLOCK_MEAN_BYTES_LARGE;
    const uint64_t least = few ? BLOCK_MEAN_BYTES_FEW : many;
    return (small || lists) && mean >= least &&
           (mean <= REDUCE_LONG_CHUNKS * ECHI_CHUNK_BYTES || !some_shared(r));
}

/* If all segments can be resident together, as many as fit, with at least half a chunk each;
 * otherwise so few that each has more than a chunk. */
static uint32_t warps_of_segment(const struct build *b)
{
    const uint64_t resident = RESIDENT_WARPS * (uint64_t)b->gpu.multiprocessors;
    const uint64_t bytes = mean_bytes(b->r);
    const bool together = b->w->args.segments <= resident;
    uint32_t warps = REDUCE_WARPS;
    while (warps > 1 && together &&
           (b->w->args.segments * warps > resident || bytes <= warps * MIN_WARP_BYTES))
        warps /= 2;
    while (warps > 1 && !together && bytes < warps * WARP_BYTES) warps /= 2;
    return warps;
}

/* The segments that the step before has listed. */
static void launch_listed(const struct build *b)
{
    const uint64_t most = 3 * (uint64_t)b->gpu.multiprocessors;
    b->w->args.warps = REDUCE_WARPS;
    launch_long(b, ECHI_FINISH, echi_cuda_least(b->w->args.capacity, most), REDUCE_ITEM_CHUNKS);
}

static void steps_of_blocks(const struct build *b)
{
    struct reduce_args *args = &b->w->args;
    args->warps = warps_of_segment(b);
    args->item = REDUCE_ITEM_CHUNKS;
    if (!REDUCE_LISTS((int)b->r->kind)) args->capacity = 0; /* the array is small */
    if (args->capacity) {
        get_zeros(b, b->w->parts.counts, &args->counts, sizeof *b->w->parts.counts);
        args->scans = (uint32_t)(args->segments / (args->warps * REDUCE_WARP) + 1);
    }
    launch_long(b, ECHI_MOVE, args->scans + args->segments, REDUCE_ITEM_CHUNKS);
    b->w->steps.step[b->w->steps.count - 1].units = 1;
}

/* With longer segments on average, a warp loads fewer of them as a unit; also if there are few.
 * Blocks then share all but the short ones: a warp per segment would leave most of the GPU idle. */
static void steps_of_segments(const struct build *b)
{
    const struct echi_reduce *r = b->r;
    struct reduce_args *args = &b->w->args;
    const uint64_t mean = r->n / args->segments * r->rule.bytes;
    if (per_block(r)) {
        steps_of_blocks(b);
        return;
    }
    args->each = args->segments_at             ? 8
                 : mean <= ECHI_LINE_BYTES     ? 32
                 : mean <= 8 * ECHI_LINE_BYTES ? 8
                                               : 1;
    while (args->each > 4 &&
           args->segments / args->each < SEGMENT_WARPS * (uint64_t)b->gpu.multiprocessors)
        args->each /= 2;
    args->long_chunks =
        args->segments <= REDUCE_FEW_SEGMENTS ? REDUCE_FEW_CHUNKS : REDUCE_LONG_CHUNKS;
    if (args->capacity) get_zeros(b, b->w->parts.counts, &args->counts, sizeof *b->w->parts.counts);
    launch_segments(b);
    args->item = REDUCE_ITEM_CHUNKS;
    if (args->capacity) launch_listed(b);
}

static bool can_runs(const struct echi_reduce *r)
{
    return r->shape == ECHI_REDUCE_BY_KEY;
}

static ech_status find_runs(ech_ctx *ctx, void *user)
{
    const struct whole *w = user;
    return echi_cuda_runs(ctx, w->r->keys, w->r->key_dtype, w->r->n, w->r->keys_out,
                          w->parts.starts, w->r->count, w->parts.runs);
}

static void steps_of_runs(const struct build *b)
{
    struct whole *w = b->w;
    echi_step_add(&w->steps, (struct echi_step){ .phase = ECHI_LOOK,
                                                 .kind = ECHI_CALL,
                                                 .level = -1,
                                                 .name = "a selection: the starts of runs of keys",
                                                 .call = find_runs,
                                                 .user = w });
    w->args.offsets = w->parts.starts;
    w->args.offsets_index = ECHI_INDEX_U64;
    w->args.segments_at = b->r->count;
    w->args.segments = b->r->n;
    steps_of_segments(b);
}

/* ---- The strategies ---- */

/* The first one that applies is used. */
static const struct strategy strategies[] = {
    {
        .name = "empty",
        .what = "writes only a count of zero runs",
        .when = "there are no rows, segments or keys",
        .can = is_empty,
        .shares = never,
        .steps = steps_of_nothing,
    },
    {
        .name = "shared",
        .what = "blocks share a row: the last one combines the partial results",
        .when = "rows of more than 128 KiB, fewer than 1,024 rows of more than 4 KiB, and dot "
                "products",
        .can = can_share,
        .shares = some_blocks,
        .steps = steps_of_shared,
    },
    {
        .name = "lines",
        .what = "one warp per row",
        .when = "other rows longer than a line of 512 bytes",
        .can = can_lines,
        .shares = never,
        .steps = steps_of_lines,
    },
    {
        .name = "rows",
        .what = "a warp reduces 32 rows, with 2, 8 or 32 lanes per row",
        .when = "all other rows",
        .can = can_rows,
        .shares = never,
        .steps = steps_of_rows,
    },
    {
        .name = "segments",
        .what = "a warp reduces 1 to 32 segments, or a block one; long ones are listed, and blocks "
                "share them",
        .when = "segments",
        .can = can_segments,
        .shares = some_shared,
        .steps = steps_of_segments,
    },
    {
        .name = "runs",
        .what = "a selection finds the starts of runs of equal keys, then like segments",
        .when = "reductions by key",
        .can = can_runs,
        .shares = always,
        .steps = steps_of_runs,
    },
};

static ech_status plan_reduce(const void *request, void *place, size_t *work_bytes)
{
    const struct echi_reduce *r = request;
    struct plan *plan = place;
    struct echi_layout layout = { 0 };
    struct parts parts;
    *plan = (struct plan){ .strategy = strategies };
    while (!plan->strategy->can(r)) plan->strategy++;
    if (plan->strategy->shares(r))
        plan->capacity = r->shape == ECHI_REDUCE_ROWS && r->rows == 1
                             ? most_row_items(chunks_of(r, r->n))
                             : most_items(chunks_of(r, r->n));
    module_of(r, plan->module);
    lay_out(r, plan, &layout, &parts);
    *work_bytes = layout.bytes;
    if (layout.overflow)
        return echi_fail(NULL, ECH_ERR_MEMORY, "n is %zu: the workspace exceeds SIZE_MAX bytes",
                         r->n);
    return ECH_OK;
}

static bool count_of_numbers(const struct echi_reduce *r)
{
    return r->kind == ECHI_REDUCE_COUNT && r->rule.invert && r->rule.ignore;
}

static void make_steps(const struct echi_reduce *r, const struct plan *plan, struct echi_gpu gpu,
                       void *work, struct whole *w)
{
    const bool rows = r->shape == ECHI_REDUCE_ROWS;
    const uint64_t limit =
        r->offsets_index.sign && r->n > INT32_MAX ? (uint64_t)INT32_MAX : (uint64_t)r->n;
    struct echi_layout layout = { .base = work };
    const struct build b = { r, plan, gpu, w };
    w->r = r;
    w->steps.count = 0;
    lay_out(r, plan, &layout, &w->parts);
    w->args = (struct reduce_args){ .in = r->in,
                                    .b = r->b,
                                    .out = r->out,
                                    .offsets = r->offsets,
                                    .offsets_index = { r->offsets_index.bytes, 0 },
                                    .offsets_limit = limit,
                                    .segments = rows ? r->rows : r->segments,
                                    .columns = rows ? r->columns : 0,
                                    .n = r->n,
                                    .long_chunks = REDUCE_LONG_CHUNKS,
                                    .partials = w->parts.partials,
                                    .done = w->parts.done,
                                    .items = w->parts.items,
                                    .turns = w->parts.turns,
                                    .capacity = plan->capacity,
                                    .kind = count_of_numbers(r) ? REDUCE_NUMBERS : r->kind,
                                    .rule = r->rule };
    if (!rows && gpu.ctx) w->args.data_error = echi_cuda_error_word(gpu.ctx);
    plan->strategy->steps(&b);
}

static void set_args(void *args, struct echi_step *step, uint64_t part)
{
    struct reduce_args *a = args;
    (void)part;
    a->per_block = step->units;
    a->warps = step->threads / REDUCE_WARP;
}

static ech_status run_reduce(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    struct whole w;
    make_steps(request, plan, echi_gpu_of(ctx), work, &w);
    return echi_cuda_enqueue(ctx, &w.steps, &w.args, set_args);
}

static ech_status explain_reduce(const void *request, struct echi_explain *e)
{
    struct plan plan;
    struct whole w;
    size_t bytes;
    const ech_status status = plan_reduce(request, &plan, &bytes);
    if (status != ECH_OK) return status;
    make_steps(request, &plan, echi_gpu_of(NULL), NULL, &w);
    echi_explain_algorithm(e, true, plan.strategy->name, "%s", plan.strategy->what);
    echi_explain_line(e, "module", "%s", plan.module);
    echi_explain_steps(e, &w.steps);
    return ECH_OK;
}

const struct echi_operation echi_cuda_reduce = {
    .plan = plan_reduce,
    .plan_bytes = sizeof(struct plan),
    .explain = explain_reduce,
    .run = run_reduce,
};
