/*
 * sort/cuda/msd_pairs.h - what operation.c and msd_pairs.c agree on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_MSD_PAIRS_H
#define ECHI_SORT_CUDA_MSD_PAIRS_H

#include "cuda/cuda.h"
#include "sort/cuda/common.h"

/* A row of tuning.h. */
struct pairs_tuning {
    int key_bytes, moved_bytes;
    unsigned threads, items, blocks, leaf_threads, leaf_items, leaf_blocks;
};

/* How much of everything a sort by most significant digits can need. */
struct msd_plan {
    int levels, key_bytes;
    uint64_t tile, leaf;              /* keys */
    uint64_t segments, tiles, leaves; /* most: of a level, of a level, of all */
    const struct pairs_tuning *pairs; /* NULL: keys alone */
    unsigned count_blocks;
    bool few;            /* the first level is counted and planned by one launch */
    unsigned few_blocks; /* of few keys that crowd, at most */
    bool packed;         /* there is room for the lists of msd_packed.cuh */
};

/* NULL where no kernel is made for keys of that size with so much beside them. */
const struct pairs_tuning *echi_sort_pairs_tuning(int key_bytes, int moved_bytes);

/* Shared memory that a block may ask for. */
ech_status echi_cuda_shared_bytes(ech_ctx *ctx, unsigned *bytes);

/* Of few keys that crowd: says how large a tile is that so many blocks have shared memory for, on a
 * GPU with at most so much for one; returns how much a block takes, or least if that is more. */
unsigned echi_cuda_few_bytes(unsigned most, unsigned blocks, unsigned least, unsigned element_bytes,
                             struct sort_args *args);

/* Makes args->first zero, of few keys. */
ech_status echi_cuda_first(ech_ctx *ctx, struct sort_args *args);

/* Queues what begins the lists: msd.c. */
ech_status echi_cuda_sort_msd_begin(ech_ctx *ctx, const char *image, const struct sort_args *args);

/* Queues a sort of pairs, or of indices; args has its buffers. */
ech_status echi_cuda_sort_pairs(ech_ctx *ctx, const char *image, const struct msd_plan *plan,
                                struct sort_args *args);

#endif
