/*
 * sort/cuda/onesweep.h - sorts by least significant digits, as operation.c calls them, and what
 * counting shares with them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_ONESWEEP_H
#define ECHI_SORT_CUDA_ONESWEEP_H

#include "core/backend.h"
#include "cuda/cuda.h"
#include "sort/cuda/common.h"

/* A row of tuning.h. */
struct passes_tuning {
    int key_bytes, moved_bytes;
    unsigned threads, items, blocks, alone;
};

const struct passes_tuning *echi_sort_passes_tuning(int key_bytes, int moved_bytes);

struct onesweep_plan {
    unsigned threads, tile, shared_bytes; /* of sort_onesweep */
    unsigned blocks;                      /* a multiprocessor */
    uint64_t tiles;
};

struct onesweep_plan echi_cuda_plan_onesweep(const struct echi_sort *s, int moved_bytes);

/* Clears the state, and the look-back of so many tiles that follows it; counts every digit; plans.
 */
ech_status echi_cuda_sort_histogram(ech_ctx *ctx, const char *image, uint64_t tiles,
                                    struct sort_args *args);

/* Queues all passes. */
ech_status echi_cuda_sort_onesweep(ech_ctx *ctx, const char *image,
                                   const struct onesweep_plan *plan, struct sort_args *args);

/* Blocks of a kernel that moves n things, each thread `each` at a time. */
unsigned echi_cuda_move_blocks(const ech_ctx *ctx, uint64_t n, unsigned each);

#endif
