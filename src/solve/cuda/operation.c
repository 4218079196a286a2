/*
 * solve/cuda/operation.c - steps of iterative solvers on the GPU, host half: one launch a step.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/backend.h"
#include "solve/step.h"
#include "cuda/cuda.h"

static const char *const kernels[] = {
    [ECHI_SOLVE_UPDATE] = "solve_update", [ECHI_SOLVE_PROJECT] = "solve_project",
    [ECHI_SOLVE_RANDOM] = "solve_random", [ECHI_SOLVE_INVERT] = "solve_invert",
    [ECHI_SOLVE_BLOCKS] = "solve_blocks", [ECHI_SOLVE_BLOCKED] = "solve_blocked",
    [ECHI_SOLVE_SWEEP] = "solve_sweep"
};

/* Kernels that are for one shape of step each, as kernels.cu has them; else it is solve_update.
 * The vectors of these are aligned. */
static const struct {
    const char *kernel;
    struct echi_solve_shape shape;
    int32_t after;
} shapes[] = {
    { "solve_ef", { 0, 0, 0, ECHI_DOTS_EF }, ECHI_AFTER_EF },
    { "solve_ee", { 0, 0, 0, ECHI_DOTS_EE }, ECHI_AFTER_EE },
    { "solve_ef_ee", { 0, 0, 0, ECHI_DOTS_EF_EE }, ECHI_AFTER_EF_EE },
    { "solve_b1", { 0, 1, 0, 0 }, ECHI_AFTER_NONE },
    { "solve_b2", { 0, 2, 0, 0 }, ECHI_AFTER_NONE },
    { "solve_b3", { 0, 3, 0, 0 }, ECHI_AFTER_NONE },
    { "solve_b1z", { 0, 1, 1, 0 }, ECHI_AFTER_NONE },
    { "solve_b2z", { 0, 2, 1, 0 }, ECHI_AFTER_NONE },
    { "solve_b3z", { 0, 3, 1, 0 }, ECHI_AFTER_NONE },
    { "solve_b2_bb", { 0, 2, 0, ECHI_DOTS_BB }, ECHI_AFTER_B2_BB },
    { "solve_b2_be", { 0, 2, 0, ECHI_DOTS_BE }, ECHI_AFTER_B2_BE },
    { "solve_b2z_bb", { 0, 2, 1, ECHI_DOTS_BB }, ECHI_AFTER_RESIDUAL },
    { "solve_b2z_bz", { 0, 2, 1, ECHI_DOTS_BZ }, ECHI_AFTER_B2Z_BZ },
    { "solve_b2z_bb_bz", { 0, 2, 1, ECHI_DOTS_BB_BZ }, ECHI_AFTER_B2Z_BB_BZ },
    { "solve_a2b2", { 2, 2, 0, 0 }, ECHI_AFTER_NONE },
    { "solve_a2b2_bb", { 2, 2, 0, ECHI_DOTS_BB }, ECHI_AFTER_RESIDUAL },
    { "solve_a2b2z_bb", { 2, 2, 1, ECHI_DOTS_BB }, ECHI_AFTER_RESIDUAL },
    { "solve_a3b2", { 3, 2, 0, 0 }, ECHI_AFTER_A3B2 },
    { "solve_a3b2_bb_be", { 3, 2, 0, ECHI_DOTS_BB_BE }, ECHI_AFTER_A3B2_BB_BE },
};

/* A sum alone is b; and what there is, as numbers. */
static void find_shape(struct echi_solve_step *step)
{
    struct echi_solve_shape *shape = &step->shape;
    if (!step->b.out && step->b.terms == 0 && !step->diagonal) {
        step->b = step->a;
        step->a = (struct echi_solve_sum){ .out = NULL };
        for (int k = 0; k < step->dots; k++) {
            if (step->left[k] == ECHI_OF_A) step->left[k] = ECHI_OF_B;
            if (step->right[k] == ECHI_OF_A) step->right[k] = ECHI_OF_B;
        }
    }
    *shape = (struct echi_solve_shape){ step->a.terms, step->b.terms, step->diagonal != NULL, 0 };
    for (int k = 0; k < step->dots; k++)
        shape->dots |= (64 | step->left[k] << 3 | step->right[k]) << (ECHI_DOT_BITS * k);
}

static const char *kernel_of(const struct echi_solve_step *step)
{
    const struct echi_solve_shape *wanted = &step->shape;
    for (size_t i = 0; step->aligned && i < sizeof shapes / sizeof *shapes; i++) {
        const struct echi_solve_shape *shape = &shapes[i].shape;
        if (wanted->a == shape->a && wanted->b == shape->b && wanted->z == shape->z &&
            wanted->dots == shape->dots && (shapes[i].after >> step->after & 1))
            return shapes[i].kernel;
    }
    return kernels[ECHI_SOLVE_UPDATE];
}

static bool is_aligned(const struct echi_solve_step *step)
{
    uintptr_t bits = (uintptr_t)step->a.out | (uintptr_t)step->b.out | (uintptr_t)step->diagonal |
                     (uintptr_t)step->z | (uintptr_t)step->e | (uintptr_t)step->f;
    for (int k = 0; k < step->projection.losses; k++) bits |= (uintptr_t)step->projection.loses[k];
    for (int k = 0; k < step->projection.meetings; k++)
        bits |= (uintptr_t)step->projection.meets[k];
    for (int k = 0; k < step->a.terms; k++) bits |= (uintptr_t)step->a.v[k];
    for (int k = 0; k < step->b.terms; k++) bits |= (uintptr_t)step->b.v[k];
    return bits % 16 == 0;
}

/* A launch a level. */
static ech_status sweep(ech_ctx *ctx, const char *image, struct echi_solve_step *step)
{
    const unsigned threads = 32 * ECHI_SOLVE_WARPS;
    ech_status status = ECH_OK;
    for (uint64_t l = 0; l < step->level_count; l++) {
        step->begin = step->levels[l];
        step->end = step->levels[l + 1];
        const uint64_t blocks = (step->end - step->begin + threads - 1) / threads;
        if (blocks > INT32_MAX)
            FAIL(ctx, ECH_ERR_UNSUPPORTED,
                 "the vectors are too long: more rows than a grid has threads");
        TRY(echi_cuda_launch(ctx, image, kernels[ECHI_SOLVE_SWEEP], (unsigned)blocks, threads, 0,
                             step));
    }
done:
    return status;
}

/* Squares: of as many warps as there is room for, or of each block of threads some. */
static ech_status squares(ech_ctx *ctx, const char *image, struct echi_solve_step *step)
{
    const struct echi_cuda *cuda = ctx->state;
    const bool inverts = step->what == ECHI_SOLVE_BLOCKS;
    const unsigned threads = inverts ? 32 * ECHI_SOLVE_BLOCK_WARPS : ECHI_SOLVE_BLOCK_THREADS;
    const uint64_t block = (uint64_t)step->block;
    const uint64_t rows = inverts ? ECHI_SOLVE_BLOCK_WARPS * block : threads / block * block;
    const uint64_t blocks = (step->n + rows - 1) / rows,
                   most = 32 * (uint64_t)cuda->multiprocessors;
    if (!inverts && blocks > INT32_MAX)
        return echi_fail(ctx, ECH_ERR_UNSUPPORTED,
                         "the vectors are too long: more rows than a grid has threads");
    return echi_cuda_launch(ctx, image, kernels[step->what],
                            (unsigned)(inverts && blocks > most ? most : blocks), threads, 0, step);
}

static ech_status run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    (void)plan;
    const struct echi_cuda *cuda = ctx->state;
    struct echi_solve_step step = *(const struct echi_solve_step *)request;
    const char *image = step.bytes == 4 ? "solve_f32" : "solve_f64";
    const char *kernel = kernels[step.what];
    const unsigned threads = 32 * ECHI_SOLVE_WARPS;
    (void)work;
    if (step.what <= ECHI_SOLVE_PROJECT) {
        const uint64_t chunks = echi_solve_chunks(step.n, step.bytes);
        const uint64_t items = echi_solve_items(step.n, step.bytes);
        step.item = (uint32_t)echi_solve_item_chunks(chunks);
        step.aligned = is_aligned(&step);
        if (step.what == ECHI_SOLVE_UPDATE) find_shape(&step);
        if (items > INT32_MAX)
            return echi_fail(ctx, ECH_ERR_UNSUPPORTED,
                             "the vectors are too long: more items than a grid has blocks");
        if (step.what == ECHI_SOLVE_UPDATE) kernel = kernel_of(&step);
        return echi_cuda_launch(ctx, image, kernel, (unsigned)items,
                                step.item < ECHI_SOLVE_WARPS ? 32 * step.item : threads, 0, &step);
    }
    if (step.what == ECHI_SOLVE_SWEEP) return sweep(ctx, image, &step);
    if (step.what == ECHI_SOLVE_BLOCKS || step.what == ECHI_SOLVE_BLOCKED)
        return squares(ctx, image, &step);
    const uint64_t blocks = step.n / threads + 1, most = 16 * (uint64_t)cuda->multiprocessors;
    return echi_cuda_launch(ctx, image, kernel, (unsigned)(blocks < most ? blocks : most), threads,
                            0, &step);
}

static ech_status workspace(const void *request, void *plan, size_t *bytes)
{
    (void)plan;
    (void)request;
    *bytes = 0;
    return ECH_OK;
}

const struct echi_operation echi_cuda_solve = { .plan = workspace, .run = run };
