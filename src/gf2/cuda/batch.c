/*
 * gf2/cuda/batch.c - many small eliminations over GF(2) on the GPU, host code: the plan, the table
 * of strategies, and their steps.
 *
 *     matrix                             gauss                   m4r
 *     up to 32 x 128                     gf2_batch_lanes         gf2_batch_rows
 *     up to 1024 x 1024, 512 x 2048      gf2_batch_memory,       gf2_batch_rows
 *     larger                             one column at a time    gf2_batch_memory
 *
 * A call is one kernel launch.  If a matrix of gf2_batch_memory does not fit in shared memory, it
 * is in a slot of the workspace; each block has one slot.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2/cuda/batch.h"
#include "gf2/gf2.h"
#include "cuda/steps.h"

#include <string.h>

enum {
    ANY_SHARED_BYTES = 64 << 10, /* available to a block on every GPU */
    BLOCKS = 1 << 30             /* maximum of a launch */
};
static const size_t most_workspace = (size_t)1 << 30; /* unless one matrix needs more */

/* The sizes of struct rows_shared and struct memory_shared (batch_rows.cuh, _memory.cuh). */
#define ROWS_SHARED_BYTES                                                                          \
    (sizeof(uint32_t) * (BATCH_GROUPS * BATCH_ENTRIES + 2 * BATCH_WORDS) +                         \
     sizeof(struct batch_panel))
#define MEMORY_SHARED_BYTES                                                                        \
    (((BATCH_STRIP * sizeof(uint64_t) + sizeof(uint32_t)) * BATCH_GROUPS * BATCH_ENTRIES +         \
      BATCH_PANEL * sizeof(uint32_t) + sizeof(struct batch_panel) + 7) /                           \
     8 * 8)

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t words32(size_t cols)
{
    return cols / 32 + (cols % 32 != 0);
}

/* ---- Choice of the kernel ---- */

static bool fits_lanes(const struct echi_gf2_batch *b)
{
    return b->a.rows <= BATCH_LANE_ROWS && words32(b->a.cols) <= BATCH_LANE_WORDS;
}

/* Whether the matrix fits in the registers of a block. */
static bool fits_rows(const struct echi_gf2_batch *b)
{
    const size_t words = words32(b->a.cols);
    return (b->a.rows <= BATCH_ROWS && words <= BATCH_WORDS / 2) ||
           (b->a.rows <= BATCH_ROWS / 2 && words <= BATCH_WORDS);
}

/* The kernel's words per row, and the shared memory of a block with this many threads. */
static unsigned row_words(size_t width)
{
    unsigned words = 4;
    while (words < words32(width)) words *= 2;
    return words;
}

static unsigned row_threads(const struct echi_gf2_batch *b)
{
    return (unsigned)((b->a.rows + 31) / 32 * 32);
}

static size_t row_bytes(const struct echi_gf2_batch *b, size_t width)
{
    const size_t pitch = row_words(width) + 1, threads = row_threads(b);
    const size_t tables = BATCH_PANEL * pitch + BATCH_GROUPS * BATCH_ENTRIES * pitch;
    const size_t stage = b->order ? 2 * echi_gf2_words(b->a.cols) + 1 : BATCH_STAGE_WORDS + 1;
    const size_t room = threads * stage > tables ? threads * stage : tables;
    const size_t lists = 4 * threads + (b->order ? b->a.cols : 0);
    return ROWS_SHARED_BYTES + (lists + room) * sizeof(uint32_t);
}

static bool fits_registers(const struct echi_gf2_batch *b, size_t shared_bytes)
{
    return fits_rows(b) && row_bytes(b, b->a.cols) <= shared_bytes;
}

static bool fits_warp(const struct echi_gf2_batch *b, size_t shared_bytes)
{
    (void)shared_bytes;
    return fits_lanes(b);
}

struct strategy;

/* The plan, which depends on the request only. */
struct plan {
    const struct strategy *strategy;
};

/* Everything needed to make and to run the steps of a call. */
struct whole {
    struct gf2_batch_args args;
    struct echi_steps steps;
};

struct strategy {
    const char *name, *what;
    const char *when;                             /* when it is chosen, for the documentation */
    bool (*best)(const struct echi_gf2_batch *b); /* whether it is chosen if no strategy is named */

    /* Whether a matrix fits in the registers of the strategy's own kernel, with this much shared
     * memory per block, and the steps in that case.  Otherwise gf2_batch_memory, with the given
     * number of columns per panel. */
    bool (*fits)(const struct echi_gf2_batch *b, size_t shared_bytes);
    void (*steps)(const struct echi_gf2_batch *b, struct whole *w);
    uint32_t panel;
};

/* ---- Workspace ---- */

/* Words of 64 bits of a matrix, and of the lists of its rows. */
static size_t matrix_words(const struct echi_gf2_batch *b)
{
    return b->a.rows * echi_gf2_words(b->a.cols);
}

static size_t list_words(const struct echi_gf2_batch *b)
{
    return (4 * b->a.rows + least(b->a.rows, b->a.cols) + words32(b->a.cols) + 1) / 2;
}

static size_t slots_of(const struct echi_gf2_batch *b)
{
    const size_t each = (matrix_words(b) + list_words(b)) * sizeof(uint64_t);
    const size_t slots = least(least(b->a.count, BATCH_SLOTS), most_workspace / each);
    return slots ? slots : 1;
}

/* ---- Steps ---- */

static struct gf2_batch_args args_of(const struct echi_gf2_batch *b)
{
    return (struct gf2_batch_args){ .a = b->a.words,
                                    .out = b->out,
                                    .order = b->order,
                                    .rank = b->rank,
                                    .pivots = b->pivots,
                                    .b = b->b,
                                    .x = b->x,
                                    .solvable = b->solvable,
                                    .count = b->a.count,
                                    .stride = b->a.stride,
                                    .step = b->a.batch_stride,
                                    .rows = (uint32_t)b->a.rows,
                                    .cols = (uint32_t)b->a.cols,
                                    .columns = (uint32_t)b->columns,
                                    .max_rank = (uint32_t)b->max_rank,
                                    .width = (uint32_t)(b->out ? b->a.cols : b->columns),
                                    .reduced = b->b || (b->reduced && b->out) };
}

static void launch(struct whole *w, const char *kernel, size_t blocks, unsigned threads,
                   size_t shared_bytes)
{
    echi_step_add(&w->steps, (struct echi_step){ .phase = ECHI_MOVE,
                                                 .kind = ECHI_LAUNCH,
                                                 .module = "gf2_batch_all",
                                                 .name = kernel,
                                                 .blocks = (unsigned)least(blocks, BLOCKS),
                                                 .threads = threads,
                                                 .shared_bytes = (unsigned)shared_bytes,
                                                 .level = -1 });
}

static void steps_of_lanes(const struct echi_gf2_batch *b, struct whole *w)
{
    const struct gf2_batch_args *args = &w->args;
    const unsigned lanes = args->rows <= 8 ? 8 : args->rows <= 16 ? 16 : 32;
    const unsigned each = BATCH_LANE_THREADS / lanes;
    const char *kernel = args->cols <= 32   ? "gf2_batch_lanes1"
                         : args->cols <= 64 ? "gf2_batch_lanes2"
                                            : "gf2_batch_lanes4";
    (void)b;
    launch(w, kernel, (args->count + each - 1) / each, BATCH_LANE_THREADS, 0);
}

static void steps_of_rows(const struct echi_gf2_batch *b, struct whole *w)
{
    const unsigned words = row_words(w->args.width);
    const char *kernel = words == 4    ? "gf2_batch_rows4"
                         : words == 8  ? "gf2_batch_rows8"
                         : words == 16 ? "gf2_batch_rows16"
                         : words == 32 ? "gf2_batch_rows32"
                                       : "gf2_batch_rows64";
    launch(w, kernel, w->args.count, row_threads(b), row_bytes(b, w->args.width));
}

/* Shared memory has the lists first, and then the matrix, if they fit. */
static void steps_of_memory(const struct echi_gf2_batch *b, const struct strategy *strategy,
                            struct echi_gpu gpu, struct whole *w)
{
    const size_t most = gpu.shared_bytes;
    const size_t lists = list_words(b) * sizeof(uint64_t);
    const size_t matrix = matrix_words(b) * sizeof(uint64_t);
    size_t bytes = MEMORY_SHARED_BYTES;
    struct gf2_batch_args *args = &w->args;
    args->panel = strategy->panel;
    args->slot_words = matrix_words(b) + list_words(b);
    args->lists_in_shared = lists <= most - bytes;
    if (args->lists_in_shared) bytes += lists;
    args->in_shared = matrix <= most - bytes;
    if (args->in_shared) bytes += matrix;
    launch(w, "gf2_batch_memory", least(slots_of(b), (size_t)gpu.multiprocessors),
           BATCH_MEMORY_THREADS, bytes);
}

/* ---- The strategies ---- */

static bool is_small(const struct echi_gf2_batch *b)
{
    return fits_lanes(b);
}

static bool is_larger(const struct echi_gf2_batch *b)
{
    return !fits_lanes(b);
}

static const struct strategy strategies[] = {
    {
        .name = "gauss",
        .what = "one pivot at a time",
        .when = "matrices of up to 32 x 128",
        .best = is_small,
        .fits = fits_warp,
        .steps = steps_of_lanes,
        .panel = 1,
    },
    {
        .name = "m4r",
        .what = "32 columns at a time, tables of linear combinations of five pivot rows",
        .when = "larger matrices",
        .best = is_larger,
        .fits = fits_registers,
        .steps = steps_of_rows,
        .panel = BATCH_PANEL,
    },
};
enum { STRATEGIES = sizeof strategies / sizeof *strategies };

static ech_status choose(const struct echi_gf2_batch *b, const struct strategy **choice)
{
    for (int i = 0; i < STRATEGIES; i++) {
        *choice = &strategies[i];
        if (b->algorithm ? strcmp(b->algorithm, (*choice)->name) == 0 : (*choice)->best(b))
            return ECH_OK;
    }
    return echi_fail(NULL, ECH_ERR_ARG,
                     "unknown algorithm \"%s\"; available for batches on the GPU: gauss, m4r",
                     b->algorithm);
}

/* The GPU is not known here: the slots are included if any GPU needs them. */
static ech_status plan_batch(const void *request, void *place, size_t *work_bytes)
{
    const struct echi_gf2_batch *b = request;
    struct plan *plan = place;
    struct echi_layout layout = { .base = NULL };
    ech_status status;
    *work_bytes = 0;
    TRY(choose(b, &plan->strategy));
    if (plan->strategy->fits(b, ANY_SHARED_BYTES)) return ECH_OK;
    echi_part(&layout, slots_of(b), (matrix_words(b) + list_words(b)) * sizeof(uint64_t));
    if (layout.overflow) FAIL(NULL, ECH_ERR_MEMORY, "the workspace exceeds SIZE_MAX bytes");
    *work_bytes = layout.bytes;
done:
    return status;
}

static void make_steps(const struct echi_gf2_batch *b, const struct plan *plan, struct echi_gpu gpu,
                       void *work, struct whole *w)
{
    const struct strategy *strategy = plan->strategy;
    w->steps.count = 0;
    w->args = args_of(b);
    if (b->a.count == 0) return;
    w->args.slots = work;
    if (b->order && gpu.ctx) w->args.data_error = echi_cuda_error_word(gpu.ctx);
    if (strategy->fits(b, gpu.shared_bytes))
        strategy->steps(b, w);
    else
        steps_of_memory(b, strategy, gpu, w);
}

static ech_status run_batch(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    struct whole w;
    make_steps(request, plan, echi_gpu_of(ctx), work, &w);
    return echi_cuda_enqueue(ctx, &w.steps, &w.args, NULL);
}

static ech_status explain_batch(const void *request, struct echi_explain *e)
{
    const struct echi_gf2_batch *b = request;
    const struct echi_gpu gpu = echi_gpu_of(NULL);
    struct plan plan;
    struct whole w;
    size_t bytes;
    ech_status status;
    TRY(plan_batch(b, &plan, &bytes));
    make_steps(b, &plan, gpu, NULL, &w);
    echi_explain_algorithm(e, true, plan.strategy->name, "%s", plan.strategy->what);
    for (int i = 0; i < STRATEGIES; i++)
        if (&strategies[i] != plan.strategy)
            echi_explain_algorithm(e, false, strategies[i].name, "%s", strategies[i].what);
    echi_explain_steps(e, &w.steps);
    if (bytes && plan.strategy->fits(b, gpu.shared_bytes))
        echi_explain_line(e, "fallback", "gf2_batch_memory, on GPUs with less shared memory");
done:
    return status;
}

const struct echi_operation echi_cuda_gf2_batch = {
    .plan = plan_batch,
    .plan_bytes = sizeof(struct plan),
    .explain = explain_batch,
    .run = run_batch,
};
