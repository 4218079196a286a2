/*
 * sort/cuda/lsd.c - least significant digits in few launches, host half: as many blocks as the GPU
 * holds at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cuda/lsd.h"
#include "core/backend.h"
#include "sort/cuda/msd.h"

#include <stdio.h>

/* Blocks of a kernel that a multiprocessor holds: so many by its registers, and by its threads and
 * its shared memory, of which a block may have all but 1 KiB, and takes 1 KiB more than it asks
 * for. */
static unsigned resident(unsigned blocks, unsigned threads, unsigned most_threads,
                         unsigned shared_bytes, unsigned most_shared_bytes)
{
    unsigned by_threads = most_threads / threads;
    unsigned by_shared = (most_shared_bytes + 1024) / (shared_bytes + 1024);
    return echi_cuda_least(blocks, echi_cuda_least(by_threads, by_shared));
}

ech_status echi_cuda_sort_lsd(ech_ctx *ctx, int key_bytes, int moved_bytes,
                              const struct onesweep_plan *plan, struct sort_args *args)
{
    enum { STATIC_BYTES = 256 }; /* at most, of either kernel, beside its counters */
    const struct echi_cuda *cuda = ctx->state;
    ech_status status = ECH_OK;
    char image[32];
    unsigned shared_bytes = 0, threads = cuda->architecture < 80 ? 1024 : 1536;
    uint64_t processors = (uint64_t)cuda->multiprocessors;
    snprintf(image, sizeof image, "sort_k%d_v%d", 8 * key_bytes, moved_bytes);
    TRY(echi_cuda_shared_bytes(ctx, &shared_bytes));
    unsigned counting = resident(SORT_LSD_COUNT_BLOCKS, SORT_HISTOGRAM_THREADS, threads,
                                 (unsigned)key_bytes * SORT_BINS * 4 + STATIC_BYTES, shared_bytes);
    unsigned passing = resident(plan->blocks, plan->threads, threads,
                                plan->shared_bytes + STATIC_BYTES, shared_bytes);
    uint64_t parts = args->n / (SORT_HISTOGRAM_THREADS * 16) + 1;
    TRY(echi_cuda_launch_together(ctx, image, "sort_lsd_begin",
                                  echi_cuda_least(parts, counting * processors),
                                  SORT_HISTOGRAM_THREADS, 0, args));
    TRY(echi_cuda_launch_together(ctx, image, "sort_lsd",
                                  echi_cuda_least(plan->tiles, passing * processors), plan->threads,
                                  plan->shared_bytes, args));
    if (args->in_place) /* the last pass of an odd number of them ends elsewhere */
        TRY(echi_cuda_launch(ctx, image, "sort_lsd_finish", echi_cuda_least(parts, 4 * processors),
                             SORT_MOVE_THREADS, 0, args));
done:
    return status;
}
