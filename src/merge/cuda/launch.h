/*
 * merge/cuda/launch.h - the step that launches a kernel of merges.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_MERGE_CUDA_LAUNCH_H
#define ECHI_MERGE_CUDA_LAUNCH_H

#include "cuda/steps.h"
#include "merge/cuda/common.h"

enum { MERGE_BLOCKS_MOST = 1 << 30 }; /* per launch */

/* level: the round of merges of many arrays, otherwise -1. */
static inline void merge_launch(struct echi_steps *steps, const char *module, enum echi_phase phase,
                                const char *kernel, uint64_t blocks, int level)
{
    echi_step_add(steps, (struct echi_step){ .phase = phase,
                                             .kind = ECHI_LAUNCH_PDL,
                                             .module = module,
                                             .name = kernel,
                                             .blocks = echi_cuda_least(blocks, MERGE_BLOCKS_MOST),
                                             .threads = MERGE_THREADS,
                                             .level = level });
}

#endif
