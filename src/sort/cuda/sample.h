/*
 * sort/cuda/sample.h - definitions that host and device code of the sample sort share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_SAMPLE_H
#define ECHI_SORT_CUDA_SAMPLE_H

#include "sort/cuda/block.h"

/* Dynamic shared memory of sort_sample: that of a block that ranks keys by bins, or digit by digit,
 * plus the splitters. */
#define SORT_SAMPLE_SHARED_BYTES(key_bytes, value_bytes, narrow)                                   \
    (SORT_BINS_SHARED_BYTES(SORT_SAMPLE_THREADS,                                                   \
                            SORT_SAMPLE_ITEMS(key_bytes, value_bytes, narrow), key_bytes, 2u) +    \
     SORT_SAMPLE_BUCKETS(value_bytes) * ((key_bytes) + 4u) + SORT_SAMPLE_THREADS / SORT_WARP * 8u)

/* Keys of 16 bits with values or indices are sorted as words of 32 bits (words.cuh). */
struct sort_words {
    void *keys, *values; /* copies of the input, which the output overwrites; NULL in one block */
    uint32_t value_bytes, position_bits;
};

/* Dynamic shared memory of a block that sorts words, and of samplesort. */
#define SORT_WORDS_SHARED_BYTES(threads, items)                                                    \
    (SORT_BINS_SHARED_BYTES(threads, items, 4u, 0u) >                                              \
             SORT_BLOCK_SHARED_BYTES(threads, items, 4, 0)                                         \
         ? SORT_BINS_SHARED_BYTES(threads, items, 4u, 0u)                                          \
         : (unsigned)SORT_BLOCK_SHARED_BYTES(threads, items, 4, 0))
#define SORT_WORDS_SAMPLE_BYTES                                                                    \
    (SORT_WORDS_SHARED_BYTES(SORT_SAMPLE_THREADS, SORT_WORDS_SAMPLE_ITEMS) +                       \
     SORT_SAMPLE_BUCKETS(0) * 8u + SORT_SAMPLE_THREADS / SORT_WARP * 8u)

struct sort_sample_args {
    struct sort_common common;
    uint32_t buckets, tile;   /* number of tiles, and of buckets; keys of a tile */
    uint32_t samples, stride; /* 2^each_log for each bucket; one of `stride` keys is sampled */
    int32_t each_log;
    uint16_t *starts;  /* [buckets + 1][buckets]: start of each bucket in each tile */
    uint32_t *arrived; /* [2]: number of blocks at the barrier, and past it; zero between
                          launches */
    struct sort_words words;
};

#endif
