/*
 * direct/cuda/operation.c - steps of direct solvers on the GPU, host half: a launch or two a step.
 *
 *     workspace   [ a panel by columns | what its blocks tell each other ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "direct/cuda/common.h"
#include "core/backend.h"
#include "cuda/cuda.h"

/* Of which a step has so many blocks as it has rows, or what else it goes by. */
struct shape {
    const char *kernel;
    uint64_t blocks;
    unsigned threads;
};

static uint64_t parts_of(uint64_t n, uint64_t part)
{
    return n / part + (n % part != 0);
}

/* The power of two that is enough for n, `most` at most. */
static uint64_t across(uint64_t n, uint64_t most)
{
    uint64_t power = 1;
    while (power < most && power < n) power *= 2;
    return power;
}

static struct shape shape_of(const struct echi_direct_step *s)
{
    const uint64_t rows = s->rows, cols = s->cols;
    const unsigned threads = DIRECT_THREADS, many = DIRECT_PANEL_THREADS;
    switch ((enum echi_direct_what)s->what) {
    case ECHI_DIRECT_COPY:
    case ECHI_DIRECT_ADD:
    case ECHI_DIRECT_MAKE:
    case ECHI_DIRECT_REFLECTORS:
        break;
    case ECHI_DIRECT_ROWS:
        return (struct shape){ "direct_rows", parts_of(rows, threads / 32), threads };
    case ECHI_DIRECT_COLUMNS:
        return (struct shape){ "direct_columns", parts_of(cols, DIRECT_COLUMN_THREADS),
                               DIRECT_COLUMN_THREADS };
    case ECHI_DIRECT_PEAKS:
        return (struct shape){ "direct_peaks", parts_of(cols, across(cols, ECHI_DIRECT_LEAF)),
                               many };
    case ECHI_DIRECT_DIAGONAL:
        return (struct shape){ "direct_diagonal", parts_of(rows, threads), threads };
    case ECHI_DIRECT_LU:
        return (struct shape){ "direct_lu", cols, many };
    case ECHI_DIRECT_CHOLESKY:
        return (struct shape){ "direct_cholesky", 1, many };
    case ECHI_DIRECT_QR:
        return (struct shape){ "direct_qr", cols, many };
    case ECHI_DIRECT_CHAIN:
        return (struct shape){ "direct_chain", 1, 32 };
    case ECHI_DIRECT_SWAP:
        return (struct shape){ "direct_swap", parts_of(cols, ECHI_DIRECT_LEAF), many };
    case ECHI_DIRECT_SUM:
        return (struct shape){ "direct_sum", parts_of(rows * cols, threads), threads };
    case ECHI_DIRECT_TRIANGLE:
        if (rows > ECHI_DIRECT_LEAF)
            return (struct shape){ "direct_vector", parts_of(rows, ECHI_DIRECT_LEAF), many };
        return (struct shape){ "direct_triangle", parts_of(cols, ECHI_DIRECT_LEAF), many };
    case ECHI_DIRECT_RESIDUAL:
        return (struct shape){ "direct_residual", parts_of(rows, threads / 32), threads };
    case ECHI_DIRECT_ESTIMATE:
        return s->turned ? (struct shape){ "direct_place", 1, many }
                         : (struct shape){ "direct_signs", 1, ECHI_DIRECT_ESTIMATE_LANES };
    }
    return (struct shape){ "direct_move", parts_of(rows, threads / across(cols, threads)),
                           threads };
}

static ech_status launch(ech_ctx *ctx, struct shape shape, const struct direct_args *args)
{
    const unsigned blocks = shape.blocks < INT32_MAX ? (unsigned)shape.blocks : INT32_MAX;
    return echi_cuda_launch_early(ctx, args->step.f64 ? "direct_f64" : "direct_f32", shape.kernel,
                                  blocks, shape.threads, 0, args);
}

static ech_status lay_out(const struct echi_direct_step *step, struct direct_args *args, void *work,
                          size_t *bytes)
{
    struct echi_layout layout = { .base = work };
    args->panel = echi_part(&layout, step->rows, ECHI_DIRECT_LEAF * (step->f64 ? 8 : 4));
    args->state = echi_part(&layout, 1, sizeof *args->state);
    *bytes = layout.bytes;
    return layout.overflow ? echi_fail(NULL, ECH_ERR_MEMORY,
                                       "the workspace of a panel is larger than any memory")
                           : ECH_OK;
}

/* Of a step whose rows are as many as any step's. */
static ech_status workspace(const void *request, void *plan, size_t *bytes)
{
    (void)plan;
    struct direct_args args;
    return lay_out(request, &args, NULL, bytes);
}

/* Blocks that wait for each other: a panel by its columns, which then goes back; a triangle of one
 * column. */
static ech_status run_waiting(ech_ctx *ctx, struct direct_args *args, void *work)
{
    const uint64_t tiles = parts_of(args->step.rows, ECHI_DIRECT_LEAF);
    size_t bytes;
    void *state = NULL;
    ech_status status;
    TRY(lay_out(&args->step, args, work, &bytes));
    TRY(echi_cuda_zeros(ctx, args->state, sizeof *args->state, &state));
    args->state = state;
    TRY(launch(ctx, shape_of(&args->step), args));
    if (args->step.what != ECHI_DIRECT_TRIANGLE)
        TRY(launch(ctx, (struct shape){ "direct_panel_back", tiles, DIRECT_THREADS }, args));
done:
    return status;
}

static ech_status run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    (void)plan;
    struct direct_args args = { .step = *(const struct echi_direct_step *)request };
    ech_status status;
    if (args.step.what == ECHI_DIRECT_LU || args.step.what == ECHI_DIRECT_QR ||
        (args.step.what == ECHI_DIRECT_TRIANGLE && args.step.rows > ECHI_DIRECT_LEAF))
        return run_waiting(ctx, &args, work);
    TRY(launch(ctx, shape_of(&args.step), &args));
    if (args.step.what == ECHI_DIRECT_ROWS && args.step.compare) {
        const uint64_t tiles = parts_of(args.step.rows, ECHI_DIRECT_LEAF);
        const uint64_t all = tiles < 46340 ? tiles * tiles : INT32_MAX;
        TRY(launch(ctx, (struct shape){ "direct_symmetric", all, DIRECT_THREADS }, &args));
    }
done:
    return status;
}

const struct echi_operation echi_cuda_direct = { .plan = workspace, .run = run };
