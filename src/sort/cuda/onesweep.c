/*
 * sort/cuda/onesweep.c - sorts by least significant digits on the GPU, host half: the size of a
 * tile, and what is queued.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cuda/onesweep.h"

static const struct passes_tuning tunings[] = {
#define ROW(key, value, threads, items, blocks, alone)                                             \
    { key, value, threads, items, blocks, alone },
    SORT_TUNING(ROW)
#undef ROW
};

const struct passes_tuning *echi_sort_passes_tuning(int key_bytes, int moved_bytes)
{
    const struct passes_tuning *t = tunings;
    while (t->key_bytes != key_bytes || t->moved_bytes != moved_bytes) t++;
    return t;
}

struct onesweep_plan echi_cuda_plan_onesweep(const struct echi_sort *s, int moved_bytes)
{
    const struct passes_tuning *t = echi_sort_passes_tuning(s->key_bytes, moved_bytes);
    int widest = s->key_bytes > moved_bytes ? s->key_bytes : moved_bytes;
    unsigned tile = t->threads * t->items;
    struct onesweep_plan plan = { t->threads, tile,
                                  SORT_SHARED_BYTES(t->threads, t->items, (unsigned)widest),
                                  t->blocks, ((uint64_t)s->n + tile - 1) / tile };
    return plan;
}

unsigned echi_cuda_move_blocks(const ech_ctx *ctx, uint64_t n, unsigned each)
{
    const struct echi_cuda *cuda = ctx->state;
    return echi_cuda_least(n / (SORT_MOVE_THREADS * each) + 1,
                           32 * (uint64_t)cuda->multiprocessors);
}

ech_status echi_cuda_sort_histogram(ech_ctx *ctx, const char *image, uint64_t tiles,
                                    struct sort_args *args)
{
    const struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    size_t clear_bytes = sizeof *args->state;
    if (args->status)
        clear_bytes = (size_t)((char *)(args->status + tiles * SORT_BINS) - (char *)args->state);
    CU(cuMemsetD8Async, (CUdeviceptr)(uintptr_t)args->state, 0, clear_bytes, echi_cuda_stream(ctx));

    /* A block counts in 32 bits: the grid grows with n past what fills the GPU. */
    uint64_t fill = SORT_HISTOGRAM_BLOCKS * (uint64_t)cuda->multiprocessors, needed = args->n >> 31;
    uint64_t work = args->n / (SORT_HISTOGRAM_THREADS * 16) + 1;
    unsigned blocks = echi_cuda_least(work, fill > needed ? fill : needed);
    TRY(echi_cuda_launch(ctx, image, "sort_histogram", blocks, SORT_HISTOGRAM_THREADS, 0, args));
    TRY(echi_cuda_launch(ctx, image, "sort_plan", 1, SORT_BINS, 0, args));
done:
    return status;
}

ech_status echi_cuda_sort_onesweep(ech_ctx *ctx, const char *image,
                                   const struct onesweep_plan *plan, struct sort_args *args)
{
    ech_status status = ECH_OK;
    uint64_t portion_tiles = SORT_PORTION / plan->tile;
    TRY(echi_cuda_sort_histogram(ctx, image, plan->tiles, args));
    for (args->pass = 0; args->pass < args->passes; args->pass++)
        for (args->portion = 0; args->portion * portion_tiles < plan->tiles; args->portion++) {
            uint64_t left = plan->tiles - args->portion * portion_tiles;
            TRY(echi_cuda_launch(ctx, image, "sort_onesweep", echi_cuda_least(left, portion_tiles),
                                 plan->threads, plan->shared_bytes, args));
        }
    TRY(echi_cuda_launch(ctx, image, "sort_finish", echi_cuda_move_blocks(ctx, args->n, 1),
                         SORT_MOVE_THREADS, 0, args));
done:
    return status;
}
