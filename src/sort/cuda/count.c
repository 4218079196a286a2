/*
 * sort/cuda/count.c - keys of 8 or 16 bits alone on the GPU, counted and written, host half.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cuda/count.h"
#include "sort/cuda/msd.h"
#include "sort/cuda/onesweep.h"

/* Keys of 16 bits.  A block may have shared memory for the counters of all values, or of half of
 * them. */
static ech_status count_wide(ech_ctx *ctx, const char *image, struct sort_args *args)
{
    const struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    unsigned shared_bytes = 0;
    TRY(echi_cuda_shared_bytes(ctx, &shared_bytes));
    args->parts = shared_bytes >= SORT_COUNT_SHARED_BYTES(1) ? 1 : 2;
    CU(cuMemsetD8Async, (CUdeviceptr)(uintptr_t)args->begins, 0, SORT_VALUES * sizeof *args->begins,
       echi_cuda_stream(ctx));
    unsigned groups =
        echi_cuda_least(args->n / (4 * SORT_VALUES) + 1, (uint64_t)cuda->multiprocessors);
    TRY(echi_cuda_launch(ctx, image, "sort_count", groups * args->parts, SORT_COUNT_THREADS,
                         SORT_COUNT_SHARED_BYTES(args->parts), args));
    TRY(echi_cuda_launch(ctx, image, "sort_count_plan", 1, SORT_COUNT_THREADS, 0, args));
    TRY(echi_cuda_launch(ctx, image, "sort_count_fill", echi_cuda_move_blocks(ctx, args->n, 32),
                         SORT_MOVE_THREADS, 0, args));
done:
    return status;
}

ech_status echi_cuda_sort_count(ech_ctx *ctx, const char *image, struct sort_args *args)
{
    ech_status status = ECH_OK;
    if (args->begins) return count_wide(ctx, image, args);
    TRY(echi_cuda_sort_histogram(ctx, image, 0, args));
    TRY(echi_cuda_launch(ctx, image, "sort_fill", echi_cuda_move_blocks(ctx, args->n, 16),
                         SORT_MOVE_THREADS, 0, args));
done:
    return status;
}
