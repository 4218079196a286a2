/*
 * sort/cuda/lsd.c - LSD radix sort in few launches, for skewed keys: the grid is as large as can be
 * resident on the GPU.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cuda/plan.h"

static void add(const struct sort_build *b, enum echi_phase phase, enum echi_step_kind kind,
                const char *kernel, unsigned blocks, unsigned threads, unsigned shared_bytes,
                struct sort_lsd_args *args)
{
    echi_step_add(b->steps, (struct echi_step){ .phase = phase,
                                                .kind = kind,
                                                .module = b->plan->passes_module,
                                                .name = kernel,
                                                .when = "the sample is skewed",
                                                .blocks = blocks,
                                                .threads = threads,
                                                .shared_bytes = shared_bytes,
                                                .level = -1,
                                                .args = args });
}

void echi_sort_lsd_steps(const struct sort_build *b)
{
    enum { STATIC_BYTES = 256 }; /* maximum of either kernel, in addition to its counters */
    const struct onesweep_plan *plan = &b->plan->onesweep;
    const struct sort_common *args = &b->args->common;
    struct sort_lsd_args *lsd = &b->args->lsd;
    uint64_t processors = (uint64_t)b->gpu.multiprocessors;
    const unsigned shared_bytes = echi_sort_onesweep_bytes(b);
    unsigned counting =
        echi_gpu_resident(&b->gpu, SORT_LSD_COUNT_BLOCKS, SORT_HISTOGRAM_THREADS,
                          (unsigned)b->sort->key_bytes * SORT_BINS * 4 + STATIC_BYTES);
    unsigned passing =
        echi_gpu_resident(&b->gpu, plan->blocks, plan->threads, shared_bytes + STATIC_BYTES);
    lsd->passes.common = *args;
    lsd->passes.counts = (struct sort_counts *)lsd->passes.state;
    lsd->msd = b->args->lists.msd;
    uint64_t parts = args->n / (SORT_HISTOGRAM_THREADS * 16) + 1;
    add(b, ECHI_COUNT, ECHI_LAUNCH_COOPERATIVE, "sort_lsd_begin",
        echi_cuda_least(parts, counting * processors), SORT_HISTOGRAM_THREADS, 0, lsd);
    if (echi_sort_by_map_or_passes(b))
        for (int pass = 0; pass < b->plan->passes; pass++) {
            b->args->lsd_pass[pass] = *lsd;
            b->args->lsd_pass[pass].passes.common.level = pass;
            add(b, ECHI_MOVE, ECHI_LAUNCH_PDL, "sort_lsd_pass",
                echi_cuda_least(plan->tiles, UINT32_MAX), plan->threads, shared_bytes,
                &b->args->lsd_pass[pass]);
        }
    else
        add(b, ECHI_MOVE, ECHI_LAUNCH_COOPERATIVE, "sort_lsd",
            echi_cuda_least(plan->tiles, passing * processors), plan->threads, shared_bytes, lsd);
    if (args->in_place) /* an odd number of passes ends in another buffer */
        add(b, ECHI_FINISH, ECHI_LAUNCH, "sort_lsd_finish", echi_cuda_least(parts, 4 * processors),
            SORT_MOVE_THREADS, 0, lsd);
}
