/*
 * select/cuda/common.h - definitions that host code and kernels of selections share: tiles and
 * arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SELECT_CUDA_COMMON_H
#define ECHI_SELECT_CUDA_COMMON_H

#include "core/predicate.h"

enum {
    SELECT_THREADS = 512,
    SELECT_TILE_BYTES =
        1 << 15,              /* of elements that a block tests: 4 vectors of 16 bytes per thread */
    SELECT_SUM_TILES = 512,   /* of a partition, at most: a block adds the counts of all tiles */
    SELECT_RUN_TILES = 256,   /* of runs, at most: a block adds the counts of all tiles before */
    SELECT_GROUP_TILES = 128, /* of more tiles of a partition, a block adds the counts of groups */
    SELECT_COUNT_BLOCKS = 4,  /* per multiprocessor, of select_count */
    SELECT_PLACE_BLOCKS = 3,  /* ... of a partition, resident */
    SELECT_FEW_TILES = 64,    /* tiles are smaller if there are not so many */
    SELECT_SLOTS = 2,         /* tiles that a block of ring.cu holds */
    SELECT_SLOT_BYTES = SELECT_TILE_BYTES + 16,
    SELECT_RING_THREADS = 256,
    SELECT_RING_BLOCKS = 3,        /* per multiprocessor */
    SELECT_RING_TILES = 6,         /* minimum per block for the ring */
    SELECT_PART_BYTES = 1 << 12,   /* the part of a warp of a tile of bulk.cu */
    SELECT_WORKERS = 27,           /* maximum number of warps of such a block that take parts */
    SELECT_WORKERS_FLAGS = 23,     /* ... of partitions, by flags, and with values */
    SELECT_WORKERS_MIN = 8,        /* ... minimum for bulk copies */
    SELECT_BULK_BYTES = 221 << 10, /* shared memory for parts */
    SELECT_BULK_LESS = 97 << 10,   /* ... if a block has 99 KiB */
    SELECT_SPARSE = 32, /* if flags select at most one of this many elements, only those are read */
    SELECT_FLAGS_TILES = 16,     /* minimum per block with flags */
    SELECT_BULK_TILES = 3,       /* minimum per block */
    SELECT_FLAGGED_BYTES = 2,    /* by flags, all elements of up to so many bytes are read */
    SELECT_FEW_BYTES = 1 << 22,  /* runs of up to so many bytes: tiles of half the size */
    SELECT_CHUNK = 1 << 11,      /* flags that a warp of select_count counts at a time */
    SELECT_TILE_FLAGS = 1 << 14, /* flags of a block: 2 vectors of 16 per thread */
    SELECT_TILE_RUNS = 1 << 12,  /* lengths of a block: 8 per thread */
    SELECT_DECODE_BLOCKS = 3,    /* per multiprocessor, of decode_write */
    SELECT_TILE_MIN = 1 << 12,   /* minimum number of elements of a tile */
    SELECT_WORDS_FIRST =
        4 /* words before the tile status descriptors: finished blocks, tickets, a gap, a total */
};

enum select_source { SELECT_BYTES, SELECT_BITS, SELECT_TEST, SELECT_STARTS, SELECT_THREE };

/* A test with few operations.  For the bits u of an element of width w, modulo 2^w,
 *
 *     passes = ((u ^ (negative u ? negative : 0)) + offset <= span) != invert
 *
 * This is the test of core/predicate.h, with the sign, the shift and the lower limit combined into
 * one number. */
struct select_test {
    uint64_t negative, offset, span;
    uint32_t simple; /* 0: the test has no such form */
    uint32_t invert;
};

/* The argument of all kernels that select. */
struct select_args {
    const void *in;
    const uint8_t *flags;
    void *out;          /* elements; NULL: none */
    void *starts;       /* positions, u64; NULL: none */
    uint64_t *lengths;  /* of runs; NULL: none */
    const void *values; /* values, loaded by position; NULL: none */
    void *values_out;
    uint64_t *count;
    uint64_t *words; /* tile status descriptors: tile.cuh; NULL for one tile */
    uint32_t *first; /* [tiles], with lengths: the start of each tile's first run */
    uint64_t n, tiles;
    uint64_t group;       /* tiles that share a word, stored after those of the tiles; 0: none */
    uint64_t counting;    /* of a partition: the first so many blocks count a tile each */
    uint64_t value_words; /* a value consists of this many words of value_word_bytes */
    uint32_t value_word_bytes;
    uint32_t skew; /* elements by which the first vector of tile 0 begins before the array */
    uint32_t source;
    uint32_t invert;
    uint32_t tile_n;  /* elements of a tile */
    uint32_t rows;    /* vectors per lane */
    uint32_t narrow;  /* positions are of 32 bits */
    uint32_t close;   /* starts has one more element, n */
    uint32_t clear;   /* the last block to finish sets the words to zero */
    uint32_t each;    /* tiles of flags that a block of a partition counts */
    uint16_t *packed; /* select_count: the flags as bits, for the next launch; NULL: not stored */
    struct echi_predicate test[2];
    struct select_test quick[2]; /* the same tests, simplified */
};

/* Run-length decoding: sums per tile of runs, and outputs. */
struct decode_args {
    const void *in;
    const uint64_t *lengths;
    void *out;
    uint64_t *words;
    uint64_t *data_error;
    uint64_t runs, tiles, n;
    uint64_t share;         /* outputs per block */
    uint64_t element_words; /* an element consists of this many words of word_bytes */
    uint32_t word_bytes;
    uint32_t clear;
};

#endif
