/*
 * topk/cuda/common.h - definitions that host and device code of top-k selections share: limits, the
 * sizes of samples and of lists of candidates, arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_TOPK_CUDA_COMMON_H
#define ECHI_TOPK_CUDA_COMMON_H

#include "core/both.h"
#include "core/index.h"
#include "core/order.h"

#include <math.h>

enum {
    TOPK_MOST = 2048,       /* the largest k of the kernels that sort the result on chip */
    TOPK_FEW = 64,          /* candidates that one warp sorts */
    TOPK_LANE_ELEMENTS = 8, /* of a lane of topk_lanes_... */
    TOPK_LANES_MOST = 64,   /* elements of a group of 8 lanes */
    TOPK_LANES_THREADS = 128,
    TOPK_WARP_MOST = 192, /* the largest k of topk_warp_... */
    TOPK_WARP_THREADS = 128,
    TOPK_WARP_CHUNK = 1024,     /* rows of at most this many elements always have a warp each */
    TOPK_WARP_ROWS = 1024,      /* ... and longer ones if there are this many */
    TOPK_THREADS = 1024,        /* of topk_block for rows, at most */
    TOPK_SEGMENT_THREADS = 512, /* of topk_block for segments */
    TOPK_EACH = 8,              /* elements of a thread of topk_block; 16 of topk_block_16 */
    TOPK_BLOCKS = 16,           /* of topk_block per multiprocessor, at most */
    TOPK_COUNT_GROUPS = 64, /* at most this number of rows: topk_count selects from longer ones */
    TOPK_COUNT_MOST = 1 << 15,   /* ... of at most this number of bytes */
    TOPK_ORDER_MOST = 1 << 13,   /* topk_order selects from rows of at most so many elements, */
    TOPK_ORDER_LEAST = TOPK_FEW, /* ... with a larger k */
    TOPK_BINS_LOG = 11,
    TOPK_FILTER_THREADS = 512,
    TOPK_CHUNK_MOST = 1 << 15,  /* elements of a chunk of topk_filter, at most; it is halved ... */
    TOPK_CHUNK_LEAST = 1 << 12, /* ... down to this number ... */
    TOPK_CHUNKS = 1 << 10,      /* ... while there are fewer chunks than this */
    TOPK_FILTER_BUFFER = 2048,  /* candidates that it collects in shared memory */
    TOPK_SAMPLE = 1 << 14,      /* elements of a sample, at most, */
    TOPK_SAMPLE_MOST = 1 << 17, /* ... or this number, if the pivot has a low rank in it */
    TOPK_SAMPLE_LEAST = 1 << 10,
    TOPK_SAMPLE_LARGE_OF = 1 << 13, /* of long rows, a large sample has one of this many elements */
    TOPK_LOW_RANK = 32,
    TOPK_SAMPLE_APART = 16, /* groups up to which many blocks load the samples */
    TOPK_SAMPLE_OF = 64,    /* one of this many elements, in between */
    TOPK_BYTES = 256,       /* keys of 8 bits */
    TOPK_WRITE_THREADS = 256
};

/* The number of candidates that the block sorts, and that ends the narrowing of the interval. */
ECHI_BOTH uint32_t topk_room(uint64_t k)
{
    uint32_t room = 32;
    while (room < 2 * k) room *= 2;
    return room;
}

/* The words of shared memory that they need: block_network() sorts at least 256. */
ECHI_BOTH uint32_t topk_room_words(uint64_t k)
{
    const uint32_t room = topk_room(k);
    return room > TOPK_FEW && room < 256 ? 256 : room;
}

/* The places of the elements of topk_list_8 that are equal to the k-th begin here; lower ones have
 * places in their chunk. */
#define TOPK_TIES ((uint32_t)1 << 31)

/* The number of candidates that ends the narrowing of the interval in topk_count, and the words of
 * shared memory that they need. */
ECHI_BOTH uint32_t topk_count_room(uint64_t k)
{
    uint32_t room = 128; /* words of a warp in count_sort() */
    if (k <= TOPK_FEW) return TOPK_FEW;
    while (room < k) room *= 2;
    return room;
}

/* ---- Long groups: a sample, then a filter ---- */

ECHI_BOTH uint64_t topk_sample_size(uint64_t n)
{
    const uint64_t some = n / TOPK_SAMPLE_OF;
    if (some < TOPK_SAMPLE_LEAST) return TOPK_SAMPLE_LEAST;
    return some < TOPK_SAMPLE ? some : (uint64_t)TOPK_SAMPLE;
}

/* -log of a bound of the probability that a Poisson variable with this mean deviates from it as far
 * as x, in the direction of x (Chernoff). */
ECHI_BOTH float topk_surprise(float mean, float x)
{
    return x * (logf(x / mean) - 1) + mean;
}

/* The rank in the sample of the pivot: the lowest one so that, except with a probability of 1.5e-8,
 * at least k elements are not worse than it.  About k * sample / n of the k best elements are in
 * the sample. */
ECHI_BOTH uint64_t topk_pivot_rank(uint64_t n, uint64_t k, uint64_t sample)
{
    const float mean = (float)k * (float)sample / (float)n;
    uint64_t rank = (uint64_t)mean + 1;
    while (rank < sample && topk_surprise(mean, (float)rank) < 18) rank++;
    return rank;
}

/* The room for candidates: except with the same probability, no more elements are better than the
 * pivot. */
ECHI_BOTH uint64_t topk_candidate_room(uint64_t n, uint64_t k, uint64_t sample)
{
    const uint64_t rank = topk_pivot_rank(n, k, sample), each = n / sample + 1;
    uint64_t most = rank + 1;
    while (topk_surprise((float)most, (float)rank) < 18) most += 1 + most / 32;
    return each * most + k < n ? each * most + k : n;
}

/* A long group while it is processed; zero before, except for the fields set with it. */
struct topk_long {
    uint64_t group;
    uint64_t candidates; /* its first one in the list of all */
    uint64_t room;       /* for candidates */
    uint64_t rank;       /* of the pivot in the sample */
    uint64_t pivot;
    uint64_t first_chunk, chunks;
    uint64_t best_inverted; /* ~key of the best candidate: 0 before there is one */
    uint64_t better;        /* elements better than the pivot */
    uint64_t equal;         /* elements equal to the pivot */
};

/* One array of keys of 8 bits: the elements of each key, and the array; zero before. */
struct topk_totals {
    uint32_t bins[TOPK_BYTES];
    struct topk_long all;
};

/* Lists of segments, zero before. */
struct topk_lists {
    uint32_t chip, longs; /* segments that a block selects from, and long ones */
    uint32_t chunks;
    uint64_t candidates;
};

/* The argument of all kernels that select. */
struct topk_args {
    const void *in;
    void *values, *indices; /* NULL: not needed */
    const void *offsets, *ends, *counts;
    struct echi_index offsets_index, counts_index;
    uint64_t n, groups, cols, k;
    uint64_t in_row, out_row, out_element;
    struct echi_order order;
    uint32_t key_bytes; /* of an element */
    uint32_t index_bytes;
    uint32_t sorted;
    uint32_t chip;     /* groups of more elements are long */
    uint32_t bins_log; /* of topk_block */
    uint64_t *data_error;
    /* Segments: */
    struct topk_lists *lists;
    uint32_t *chip_list;
    uint64_t chip_room, long_room, chunk_room, candidate_room;
    /* Long groups: */
    struct topk_long *longs;
    uint64_t long_rows;         /* of rows: their number */
    uint32_t chunk;             /* elements */
    uint32_t *chunk_of;         /* of segments: the number in longs of each chunk */
    uint32_t *chunk_equal;      /* elements equal to the pivot */
    void *candidates;           /* words */
    struct topk_totals *totals; /* of one array of keys of 8 bits */
    uint32_t *chunk_bins; /* ... [TOPK_BYTES][chunks]: the elements of each key in each chunk */
    uint64_t *split_keys; /* of one group's candidates, if keys have 64 bits */
    uint32_t *split_positions;
    void *samples;               /* of 4 or 8 bytes; NULL: topk_sample loads them */
    uint64_t row_room, row_rank; /* of rows: candidates of each, and the rank of the pivot, */
    uint64_t row_sample;         /* ... and elements of the sample */
};

/* topk_pick, topk_write: the first k positions of each group. */
struct topk_write_args {
    struct topk_args topk;
    const void *from;    /* positions */
    uint64_t from_row;   /* distance of groups; 0: as in the array */
    uint32_t from_bytes; /* 4 or 8: a position, or with words a word of 8 that contains one */
    uint32_t words;
    void *picks; /* topk_pick: [groups][k] of from_bytes, the largest number if there is none */
};

#endif
