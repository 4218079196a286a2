/*
 * select/cuda/common.h - what the two halves of the GPU selections agree on: tiles and arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SELECT_CUDA_COMMON_H
#define ECHI_SELECT_CUDA_COMMON_H

#include "core/predicate.h"

enum {
    SELECT_THREADS = 512,
    SELECT_TILE_BYTES =
        1 << 15,      /* of elements that a block tests: 4 vectors of 16 bytes a thread */
    SELECT_SLOTS = 2, /* tiles that a block of ring.cu holds */
    SELECT_SLOT_BYTES = SELECT_TILE_BYTES + 16,
    SELECT_RING_THREADS = 256,
    SELECT_RING_BLOCKS = 3,        /* a multiprocessor */
    SELECT_RING_TILES = 6,         /* or more of each block, or there is no ring */
    SELECT_PART_BYTES = 1 << 12,   /* of a tile of bulk.cu, a warp's */
    SELECT_WORKERS = 27,           /* warps of a block there that take parts, at most */
    SELECT_WORKERS_FLAGS = 23,     /* ... of partitions, by flags, and with values */
    SELECT_WORKERS_LEAST = 8,      /* ... or nothing is copied in bulk */
    SELECT_BULK_BYTES = 221 << 10, /* of shared memory, for parts */
    SELECT_BULK_LESS = 97 << 10,   /* ... where a block has 99 KiB */
    SELECT_SPARSE = 32,            /* if flags keep one of so many or fewer, only those are read */
    SELECT_FLAGS_TILES = 16,       /* of a block, where flags select */
    SELECT_BULK_TILES = 3,         /* or more of each block */
    SELECT_TILE_FLAGS = 1 << 14,   /* flags of a block: 2 vectors of 16 a thread */
    SELECT_TILE_RUNS = 1 << 12,    /* lengths of a block: 8 a thread */
    SELECT_DECODE_BLOCKS = 3,      /* a multiprocessor, of decode_write */
    SELECT_TILE_LEAST = 1 << 12,   /* no tile has fewer elements */
    SELECT_WORDS_FIRST =
        2 /* words of the look-back that are none: the finished blocks, and a gap */
};

enum select_source { SELECT_BYTES, SELECT_BITS, SELECT_TEST, SELECT_STARTS, SELECT_THREE };

/* A test as few operations: of an element's bits u of width w, modulo 2^w,
 *
 *     passes = ((u ^ (negative u ? negative : 0)) + offset <= span) != invert
 *
 * which is that of core/predicate.h, the sign, the shift and the least that passes being one
 * number. */
struct select_test {
    uint64_t negative, offset, span;
    uint32_t simple; /* 0: it is not such a test */
    uint32_t invert;
};

/* One struct serves every kernel that selects. */
struct select_args {
    const void *in;
    const uint8_t *flags;
    void *out;          /* elements; NULL: none */
    void *starts;       /* positions, u64; NULL: none */
    uint64_t *lengths;  /* of runs; NULL: none */
    const void *values; /* what goes along, fetched by position; NULL: nothing */
    void *values_out;
    uint64_t *count;
    uint64_t *words; /* look-back: tile.cuh; NULL for one tile */
    uint32_t *first; /* [tiles], with lengths: where in each tile the first run begins */
    uint64_t n, tiles;
    uint64_t group;       /* tiles that have a word together, behind those of the tiles; 0: none */
    uint64_t value_words; /* of value_word_bytes make one value */
    uint32_t value_word_bytes;
    uint32_t skew; /* elements by which the first vector of tile 0 begins before the array */
    uint32_t source;
    uint32_t invert;
    uint32_t tile_n; /* elements of a tile */
    uint32_t narrow; /* positions are of 32 bits */
    uint32_t close;  /* starts has one place more, for n */
    uint32_t clear;  /* the last block to finish leaves the words zero */
    struct echi_predicate test[2];
    struct select_test quick[2]; /* the same tests */
};

/* Decoding of runs: of the tiles' sums, and of the outputs. */
struct decode_args {
    const void *in;
    const uint64_t *lengths;
    void *out;
    uint64_t *words;
    uint64_t *data_error;
    uint64_t runs, tiles, n;
    uint64_t share;         /* outputs of a block */
    uint64_t element_words; /* of word_bytes make one element */
    uint32_t word_bytes;
    uint32_t clear;
};

#endif
