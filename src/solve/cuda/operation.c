/*
 * solve/cuda/operation.c - steps of iterative solvers on the GPU, host code: the table of kernels;
 * one launch per step, or one per level of a sweep.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/backend.h"
#include "solve/step.h"
#include "cuda/steps.h"

enum { THREADS = 32 * ECHI_SOLVE_WARPS };

/* Everything needed to make and to run a step.  It begins with the kernels' argument. */
struct whole {
    struct echi_solve_step step;
    struct echi_gpu gpu;
    struct echi_steps steps;
};

static void launch(struct whole *w, const char *kernel, uint64_t blocks, unsigned threads)
{
    echi_step_add(&w->steps,
                  (struct echi_step){ .phase = ECHI_MOVE,
                                      .kind = ECHI_LAUNCH,
                                      .module = w->step.bytes == 4 ? "solve_f32" : "solve_f64",
                                      .name = kernel,
                                      .blocks = (unsigned)blocks,
                                      .threads = threads,
                                      .level = -1 });
}

/* Specialised kernels, each for one shape of step, as in kernels.cu; other steps use solve_update.
 * Their vectors are aligned. */
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

/* Encodes the shape of a step as numbers.  A single sum is moved to b. */
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
    return "solve_update";
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

/* ---- Steps ---- */

static ech_status add_items(struct whole *w, const char *kernel)
{
    struct echi_solve_step *step = &w->step;
    const uint64_t items = echi_solve_items(step->n, step->bytes);
    if (items > INT32_MAX)
        return echi_fail(w->gpu.ctx, ECH_ERR_UNSUPPORTED,
                         "the vectors are too long: more items than a grid can have blocks");
    launch(w, kernel, items, step->item < ECHI_SOLVE_WARPS ? 32 * step->item : THREADS);
    return ECH_OK;
}

static void align(struct echi_solve_step *step)
{
    step->item = (uint32_t)echi_solve_item_chunks(echi_solve_chunks(step->n, step->bytes));
    step->aligned = is_aligned(step);
}

static ech_status steps_of_update(struct whole *w, const char *kernel)
{
    (void)kernel;
    align(&w->step);
    find_shape(&w->step);
    return add_items(w, kernel_of(&w->step));
}

static ech_status steps_of_project(struct whole *w, const char *kernel)
{
    align(&w->step);
    return add_items(w, kernel);
}

static ech_status steps_of_elements(struct whole *w, const char *kernel)
{
    const uint64_t blocks = w->step.n / THREADS + 1;
    const uint64_t most = 16 * (uint64_t)w->gpu.multiprocessors;
    launch(w, kernel, blocks < most ? blocks : most, THREADS);
    return ECH_OK;
}

static ech_status rows_too_many(const struct whole *w)
{
    return echi_fail(w->gpu.ctx, ECH_ERR_UNSUPPORTED,
                     "the vectors are too long: more rows than a grid can have threads");
}

/* Diagonal blocks are inverted by as many warps as fit on the GPU. */
static ech_status steps_of_blocks(struct whole *w, const char *kernel)
{
    const uint64_t rows = ECHI_SOLVE_BLOCK_WARPS * (uint64_t)w->step.block;
    const uint64_t blocks = (w->step.n + rows - 1) / rows;
    const uint64_t most = 32 * (uint64_t)w->gpu.multiprocessors;
    launch(w, kernel, blocks > most ? most : blocks, 32 * ECHI_SOLVE_BLOCK_WARPS);
    return ECH_OK;
}

/* Each thread block applies several diagonal blocks. */
static ech_status steps_of_blocked(struct whole *w, const char *kernel)
{
    const uint64_t block = (uint64_t)w->step.block;
    const uint64_t rows = ECHI_SOLVE_BLOCK_THREADS / block * block;
    const uint64_t blocks = (w->step.n + rows - 1) / rows;
    if (blocks > INT32_MAX) return rows_too_many(w);
    launch(w, kernel, blocks, ECHI_SOLVE_BLOCK_THREADS);
    return ECH_OK;
}

static uint64_t blocks_of_level(const struct echi_solve_step *step, uint64_t level)
{
    return (step->levels[level + 1] - step->levels[level] + THREADS - 1) / THREADS;
}

/* One launch per level; set_args() sets its rows and its blocks. */
static ech_status steps_of_sweep(struct whole *w, const char *kernel)
{
    const struct echi_solve_step *step = &w->step;
    for (uint64_t level = 0; level < step->level_count; level++)
        if (blocks_of_level(step, level) > INT32_MAX) return rows_too_many(w);
    if (step->level_count == 0) return ECH_OK;
    launch(w, kernel, blocks_of_level(step, 0), THREADS);
    w->steps.step[0].parts = step->level_count;
    return ECH_OK;
}

static void set_args(void *args, struct echi_step *launched, uint64_t part)
{
    struct echi_solve_step *step = &((struct whole *)args)->step;
    if (!launched->parts) return;
    step->begin = step->levels[part];
    step->end = step->levels[part + 1];
    launched->blocks = launched->last_blocks = (unsigned)blocks_of_level(step, part);
}

static const struct {
    const char *kernel;
    ech_status (*steps)(struct whole *w, const char *kernel);
} kernels[] = {
    [ECHI_SOLVE_UPDATE] = { "solve_update", steps_of_update },
    [ECHI_SOLVE_PROJECT] = { "solve_project", steps_of_project },
    [ECHI_SOLVE_RANDOM] = { "solve_random", steps_of_elements },
    [ECHI_SOLVE_INVERT] = { "solve_invert", steps_of_elements },
    [ECHI_SOLVE_BLOCKS] = { "solve_blocks", steps_of_blocks },
    [ECHI_SOLVE_BLOCKED] = { "solve_blocked", steps_of_blocked },
    [ECHI_SOLVE_SWEEP] = { "solve_sweep", steps_of_sweep },
};

static ech_status run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    (void)plan, (void)work;
    struct whole w;
    ech_status status = ECH_OK;
    w.step = *(const struct echi_solve_step *)request;
    w.gpu = echi_gpu_of(ctx);
    w.steps.count = 0;
    TRY(kernels[w.step.what].steps(&w, kernels[w.step.what].kernel));
    TRY(echi_cuda_enqueue(ctx, &w.steps, &w, set_args));
done:
    return status;
}

static ech_status workspace(const void *request, void *plan, size_t *bytes)
{
    (void)plan;
    (void)request;
    *bytes = 0;
    return ECH_OK;
}

const struct echi_operation echi_cuda_solve = { .plan = workspace, .run = run };
