/*
 * direct/cuda/operation.c - steps of direct solvers on the GPU, host code: the table of kernels,
 * one or two launches each.
 *
 *     workspace   [ a panel by columns | state shared by its blocks ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "direct/cuda/common.h"
#include "core/backend.h"
#include "cuda/steps.h"

static uint64_t parts_of(uint64_t n, uint64_t part)
{
    return n / part + (n % part != 0);
}

/* The smallest power of two that is at least n, but not more than `most`. */
static uint64_t across(uint64_t n, uint64_t most)
{
    uint64_t power = 1;
    while (power < most && power < n) power *= 2;
    return power;
}

/* ---- The kernels ---- */

/* A kernel of a step: the first row with this step whose condition holds is used. */
struct kernel {
    int what; /* enum echi_direct_what */
    const char *kernel;
    bool (*can)(const struct echi_direct_step *s); /* NULL: always */
    uint64_t (*blocks)(const struct echi_direct_step *s);
    unsigned threads;
    bool waits;       /* blocks wait for each other: they use a panel and a state */
    const char *then; /* a second kernel, of DIRECT_THREADS threads */
    bool (*has_then)(const struct echi_direct_step *s); /* NULL: always */
    uint64_t (*then_blocks)(const struct echi_direct_step *s);
};

static uint64_t one(const struct echi_direct_step *s)
{
    (void)s;
    return 1;
}

static uint64_t by_columns(const struct echi_direct_step *s)
{
    return s->cols;
}

static uint64_t by_rows_of_threads(const struct echi_direct_step *s)
{
    return parts_of(s->rows, DIRECT_THREADS);
}

static uint64_t by_rows_of_warps(const struct echi_direct_step *s)
{
    return parts_of(s->rows, DIRECT_THREADS / 32);
}

static uint64_t by_column_threads(const struct echi_direct_step *s)
{
    return parts_of(s->cols, DIRECT_COLUMN_THREADS);
}

static uint64_t by_peaks(const struct echi_direct_step *s)
{
    return parts_of(s->cols, across(s->cols, ECHI_DIRECT_LEAF));
}

static uint64_t by_row_tiles(const struct echi_direct_step *s)
{
    return parts_of(s->rows, ECHI_DIRECT_LEAF);
}

static uint64_t by_column_tiles(const struct echi_direct_step *s)
{
    return parts_of(s->cols, ECHI_DIRECT_LEAF);
}

static uint64_t by_elements(const struct echi_direct_step *s)
{
    return parts_of(s->rows * s->cols, DIRECT_THREADS);
}

static uint64_t by_moves(const struct echi_direct_step *s)
{
    return parts_of(s->rows, DIRECT_THREADS / across(s->cols, DIRECT_THREADS));
}

static uint64_t by_pairs_of_tiles(const struct echi_direct_step *s)
{
    const uint64_t tiles = by_row_tiles(s);
    return tiles < 46340 ? tiles * tiles : INT32_MAX;
}

static bool is_large(const struct echi_direct_step *s)
{
    return s->rows > ECHI_DIRECT_LEAF;
}

static bool is_turned(const struct echi_direct_step *s)
{
    return s->turned;
}

static bool compares(const struct echi_direct_step *s)
{
    return s->compare;
}

enum { THREADS = DIRECT_THREADS, MANY = DIRECT_PANEL_THREADS };

static const struct kernel kernels[] = {
    { .what = ECHI_DIRECT_COPY, .kernel = "direct_move", .blocks = by_moves, .threads = THREADS },
    { .what = ECHI_DIRECT_ADD, .kernel = "direct_move", .blocks = by_moves, .threads = THREADS },
    { .what = ECHI_DIRECT_MAKE, .kernel = "direct_move", .blocks = by_moves, .threads = THREADS },
    { .what = ECHI_DIRECT_REFLECTORS,
      .kernel = "direct_move",
      .blocks = by_moves,
      .threads = THREADS },
    { .what = ECHI_DIRECT_ROWS,
      .kernel = "direct_rows",
      .blocks = by_rows_of_warps,
      .threads = THREADS,
      .then = "direct_symmetric",
      .has_then = compares,
      .then_blocks = by_pairs_of_tiles },
    { .what = ECHI_DIRECT_COLUMNS,
      .kernel = "direct_columns",
      .blocks = by_column_threads,
      .threads = DIRECT_COLUMN_THREADS },
    { .what = ECHI_DIRECT_PEAKS, .kernel = "direct_peaks", .blocks = by_peaks, .threads = MANY },
    { .what = ECHI_DIRECT_DIAGONAL,
      .kernel = "direct_diagonal",
      .blocks = by_rows_of_threads,
      .threads = THREADS },
    { .what = ECHI_DIRECT_LU,
      .kernel = "direct_lu",
      .blocks = by_columns,
      .threads = MANY,
      .waits = true,
      .then = "direct_panel_back",
      .then_blocks = by_row_tiles },
    { .what = ECHI_DIRECT_CHOLESKY, .kernel = "direct_cholesky", .blocks = one, .threads = MANY },
    { .what = ECHI_DIRECT_QR,
      .kernel = "direct_qr",
      .blocks = by_columns,
      .threads = MANY,
      .waits = true,
      .then = "direct_panel_back",
      .then_blocks = by_row_tiles },
    { .what = ECHI_DIRECT_CHAIN, .kernel = "direct_chain", .blocks = one, .threads = 32 },
    { .what = ECHI_DIRECT_SWAP,
      .kernel = "direct_swap",
      .blocks = by_column_tiles,
      .threads = MANY },
    { .what = ECHI_DIRECT_SUM, .kernel = "direct_sum", .blocks = by_elements, .threads = THREADS },
    { .what = ECHI_DIRECT_TRIANGLE,
      .kernel = "direct_vector",
      .can = is_large,
      .blocks = by_row_tiles,
      .threads = MANY,
      .waits = true },
    { .what = ECHI_DIRECT_TRIANGLE,
      .kernel = "direct_triangle",
      .blocks = by_column_tiles,
      .threads = MANY },
    { .what = ECHI_DIRECT_RESIDUAL,
      .kernel = "direct_residual",
      .blocks = by_rows_of_warps,
      .threads = THREADS },
    { .what = ECHI_DIRECT_ESTIMATE,
      .kernel = "direct_place",
      .can = is_turned,
      .blocks = one,
      .threads = MANY },
    { .what = ECHI_DIRECT_ESTIMATE,
      .kernel = "direct_signs",
      .blocks = one,
      .threads = ECHI_DIRECT_ESTIMATE_LANES },
};

static const struct kernel *choose(const struct echi_direct_step *s)
{
    const struct kernel *a = kernels;
    while (a->what != (int)s->what || (a->can && !a->can(s))) a++;
    return a;
}

/* ---- Steps ---- */

static void launch(struct echi_steps *steps, const struct direct_args *args, const char *kernel,
                   uint64_t blocks, unsigned threads)
{
    echi_step_add(steps,
                  (struct echi_step){ .phase = ECHI_MOVE,
                                      .kind = ECHI_LAUNCH_PDL,
                                      .module = args->step.f64 ? "direct_f64" : "direct_f32",
                                      .name = kernel,
                                      .blocks = blocks < INT32_MAX ? (unsigned)blocks : INT32_MAX,
                                      .threads = threads,
                                      .level = -1 });
}

static ech_status lay_out(const struct echi_direct_step *step, struct direct_args *args, void *work,
                          size_t *bytes)
{
    struct echi_layout layout = { .base = work };
    args->panel = echi_part(&layout, step->rows, ECHI_DIRECT_LEAF * (step->f64 ? 8 : 4));
    args->state = echi_part(&layout, 1, sizeof *args->state);
    *bytes = layout.bytes;
    return layout.overflow
               ? echi_fail(NULL, ECH_ERR_MEMORY, "the workspace of a panel exceeds SIZE_MAX bytes")
               : ECH_OK;
}

/* The maximum number of rows over all steps determines the workspace. */
static ech_status workspace(const void *request, void *plan, size_t *bytes)
{
    (void)plan;
    struct direct_args args;
    return lay_out(request, &args, NULL, bytes);
}

static ech_status run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    (void)plan;
    struct direct_args args = { .step = *(const struct echi_direct_step *)request };
    const struct kernel *a = choose(&args.step);
    struct echi_steps steps;
    size_t bytes;
    ech_status status = ECH_OK;
    steps.count = 0;
    if (a->waits) {
        TRY(lay_out(&args.step, &args, work, &bytes));
        echi_step_add(&steps, (struct echi_step){ .phase = ECHI_PLAN,
                                                  .kind = ECHI_ZEROS,
                                                  .level = -1,
                                                  .to = args.state,
                                                  .slot = &args.state,
                                                  .bytes = sizeof *args.state });
    }
    launch(&steps, &args, a->kernel, a->blocks(&args.step), a->threads);
    if (a->then && (!a->has_then || a->has_then(&args.step)))
        launch(&steps, &args, a->then, a->then_blocks(&args.step), DIRECT_THREADS);
    TRY(echi_cuda_enqueue(ctx, &steps, &args, NULL));
done:
    return status;
}

const struct echi_operation echi_cuda_direct = { .plan = workspace, .run = run };
