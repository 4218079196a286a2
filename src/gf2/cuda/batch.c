/*
 * gf2/cuda/batch.c - many small eliminations over GF(2) on the GPU, host half: which kernel, and
 * its workspace.
 *
 *     matrix                             gauss                   russians
 *     up to 32 x 128                     gf2_batch_lanes         gf2_batch_rows
 *     up to 1024 x 1024, 512 x 2048      gf2_batch_memory, of    gf2_batch_rows
 *     larger                             one column at a time    gf2_batch_memory
 *
 * One kernel does all.  A matrix that gf2_batch_memory has no room for in shared memory is in a
 * slot of the workspace, one for each block.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2/cuda/batch.h"
#include "gf2/gf2.h"
#include "cuda/cuda.h"

#include <stdio.h>
#include <string.h>

enum {
    ANY_SHARED_BYTES = 64 << 10, /* what a block can have on every GPU */
    BLOCKS = 1 << 30             /* most of a launch */
};
static const size_t most_workspace = (size_t)1 << 30; /* unless one matrix takes more */

/* What struct rows_shared and struct memory_shared take (batch_rows.cuh, _memory.cuh). */
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

/* ---- Which kernel ---- */

static bool fits_lanes(const struct echi_gf2_batch *b)
{
    return b->a.rows <= BATCH_LANE_ROWS && words32(b->a.cols) <= BATCH_LANE_WORDS;
}

/* Whether threads' registers hold the matrix. */
static bool fits_rows(const struct echi_gf2_batch *b)
{
    const size_t words = words32(b->a.cols);
    return (b->a.rows <= BATCH_ROWS && words <= BATCH_WORDS / 2) ||
           (b->a.rows <= BATCH_ROWS / 2 && words <= BATCH_WORDS);
}

/* The kernel's words, and the shared memory of a block of so many threads. */
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

enum { GAUSS, RUSSIANS, ALGORITHMS };

static const struct {
    const char *name, *what;
} algorithms[ALGORITHMS] = {
    [GAUSS] = { "gauss", "one pivot after the other" },
    [RUSSIANS] = { "russians",
                   "32 columns at a time, rows added by tables of sums of five pivots" },
};

static ech_status choose(const struct echi_gf2_batch *b, int *choice)
{
    *choice = fits_lanes(b) ? GAUSS : RUSSIANS;
    for (int i = 0; b->algorithm && i <= ALGORITHMS; i++) {
        if (i == ALGORITHMS)
            return echi_fail(NULL, ECH_ERR_ARG,
                             "options->algorithm is \"%s\", and batches on the GPU have \"gauss\" "
                             "and \"russians\"",
                             b->algorithm);
        *choice = i;
        if (strcmp(b->algorithm, algorithms[i].name) == 0) break;
    }
    return ECH_OK;
}

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

/* Which GPU it is for is not known: where one may need slots there are some. */
static ech_status workspace(const void *request, void *plan, size_t *bytes)
{
    (void)plan;
    const struct echi_gf2_batch *b = request;
    struct echi_layout layout = { .base = NULL };
    int algorithm;
    ech_status status;
    *bytes = 0;
    TRY(choose(b, &algorithm));
    if (algorithm == GAUSS && fits_lanes(b)) return ECH_OK;
    if (algorithm == RUSSIANS && fits_rows(b) && row_bytes(b, b->a.cols) <= ANY_SHARED_BYTES)
        return ECH_OK;
    echi_part(&layout, slots_of(b), (matrix_words(b) + list_words(b)) * sizeof(uint64_t));
    if (layout.overflow) FAIL(NULL, ECH_ERR_MEMORY, "the workspace is larger than any memory");
    *bytes = layout.bytes;
done:
    return status;
}

static ech_status explain(const void *request, struct echi_text *text)
{
    const struct echi_gf2_batch *b = request;
    size_t bytes;
    int algorithm;
    ech_status status;
    TRY(choose(b, &algorithm));
    TRY(workspace(b, NULL, &bytes));
    echi_print(text, "algorithm  %s: %s\n", algorithms[algorithm].name, algorithms[algorithm].what);
    echi_print(text, "could be   %s: %s\n", algorithms[!algorithm].name,
               algorithms[!algorithm].what);
    if (algorithm == GAUSS && fits_lanes(b))
        echi_print(text, "launch     gf2_batch_lanes: a row a lane, several matrices a warp\n");
    else if (algorithm == RUSSIANS && fits_rows(b))
        echi_print(text, "launch     gf2_batch_rows%u, %u threads a block: a row a thread%s\n",
                   row_words(b->a.cols), row_threads(b),
                   bytes ? "; gf2_batch_memory where shared memory is small" : "");
    else
        echi_print(text, "launch     gf2_batch_memory, %d threads a block\n", BATCH_MEMORY_THREADS);
    echi_print(text, "workspace  %zu bytes\n", bytes);
done:
    return status;
}

/* ---- Launches ---- */

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
                                    .step = b->a.step,
                                    .rows = (uint32_t)b->a.rows,
                                    .cols = (uint32_t)b->a.cols,
                                    .columns = (uint32_t)b->columns,
                                    .max_rank = (uint32_t)b->max_rank,
                                    .width = (uint32_t)(b->out ? b->a.cols : b->columns),
                                    .reduced = b->b || (b->reduced && b->out) };
}

static ech_status launch(ech_ctx *ctx, const char *kernel, size_t blocks, unsigned threads,
                         size_t shared_bytes, const struct gf2_batch_args *args)
{
    return echi_cuda_launch(ctx, "gf2_batch_all", kernel, (unsigned)least(blocks, BLOCKS), threads,
                            (unsigned)shared_bytes, args);
}

static ech_status run_lanes(ech_ctx *ctx, const struct gf2_batch_args *args)
{
    const unsigned lanes = args->rows <= 8 ? 8 : args->rows <= 16 ? 16 : 32;
    const unsigned each = BATCH_LANE_THREADS / lanes;
    const char *kernel = args->cols <= 32   ? "gf2_batch_lanes1"
                         : args->cols <= 64 ? "gf2_batch_lanes2"
                                            : "gf2_batch_lanes4";
    return launch(ctx, kernel, (args->count + each - 1) / each, BATCH_LANE_THREADS, 0, args);
}

static ech_status run_rows(ech_ctx *ctx, const struct echi_gf2_batch *b,
                           const struct gf2_batch_args *args)
{
    const unsigned words = row_words(args->width);
    const char *kernel = words == 4    ? "gf2_batch_rows4"
                         : words == 8  ? "gf2_batch_rows8"
                         : words == 16 ? "gf2_batch_rows16"
                         : words == 32 ? "gf2_batch_rows32"
                                       : "gf2_batch_rows64";
    return launch(ctx, kernel, args->count, row_threads(b), row_bytes(b, args->width), args);
}

/* What fits goes to shared memory: the lists first. */
static ech_status run_memory(ech_ctx *ctx, const struct echi_gf2_batch *b,
                             struct gf2_batch_args *args, size_t most, bool one_by_one)
{
    const struct echi_cuda *cuda = ctx->state;
    const size_t lists = list_words(b) * sizeof(uint64_t);
    const size_t matrix = matrix_words(b) * sizeof(uint64_t);
    size_t bytes = MEMORY_SHARED_BYTES;
    args->panel = one_by_one ? 1 : BATCH_PANEL;
    args->slot_words = matrix_words(b) + list_words(b);
    args->lists_in_shared = lists <= most - bytes;
    if (args->lists_in_shared) bytes += lists;
    args->in_shared = matrix <= most - bytes;
    if (args->in_shared) bytes += matrix;
    return launch(ctx, "gf2_batch_memory", least(slots_of(b), (size_t)cuda->multiprocessors),
                  BATCH_MEMORY_THREADS, bytes, args);
}

static ech_status run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    (void)plan;
    const struct echi_gf2_batch *b = request;
    const struct echi_cuda *cuda = ctx->state;
    struct gf2_batch_args args = args_of(b);
    const size_t most = cuda->shared_bytes;
    int algorithm;
    ech_status status = choose(b, &algorithm);
    if (status != ECH_OK) return echi_fail(ctx, status, "%s", ech_error(NULL));
    if (b->a.count == 0) return ECH_OK;
    args.slots = work;
    if (b->order) args.complaint = echi_cuda_complaint(ctx);
    if (algorithm == GAUSS && fits_lanes(b)) return run_lanes(ctx, &args);
    if (algorithm == RUSSIANS && fits_rows(b) && row_bytes(b, b->a.cols) <= most)
        return run_rows(ctx, b, &args);
    return run_memory(ctx, b, &args, most, algorithm == GAUSS);
}

const struct echi_operation echi_cuda_gf2_batch = { .plan = workspace,
                                                    .explain = explain,
                                                    .run = run };
