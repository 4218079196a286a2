/*
 * sort/cuda/segments.h - definitions that host and device code of sorts of rows and segments share:
 * where the groups are, classes of lengths, arguments.
 *
 * A group is a row or a segment.  Class c has the groups of 2^(c - 1) + 1 to 2^c elements:
 *
 *     up to one warp's words     sort_short_rows, sort_short_segments: a lane, part of a warp, or a
 *                                warp per group
 *     up to 16 times as many     sort_short_block: a block per group
 *     more                       long: the lists of msd.h
 *
 * Keys of 8 and 16 bits without positions are counted by sort_short_block, which has no limit: for
 * them, only groups that several blocks should share are long, and there is one list instead of
 * SORT_BLOCK_CLASSES.
 *
 * A word is a key, or a key and its position, which makes any sort stable.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_SEGMENTS_H
#define ECHI_SORT_CUDA_SEGMENTS_H

#include "core/index.h"
#include "sort/cuda/msd.h"
#include "sort/divide_sizes.h"

enum {
    SORT_GROUPS_THREADS = 256,
    SORT_SHORT_THREADS = 256,       /* of sort_short_rows and sort_short_segments */
    SORT_SHORT_BLOCKS = 4,          /* per multiprocessor; 3 with positions */
    SORT_SHORT_BLOCK_THREADS = 512, /* of sort_short_block at most: 64 bytes of words each */
    SORT_SHORT_CLASSES = 10,        /* of a warp at most */
    SORT_BLOCK_CLASSES = 4,         /* of sort_short_block */
    SORT_LONG = SORT_BLOCK_CLASSES, /* the list of long segments, after those of these classes */
    SORT_CHUNK = 1024,              /* segments that a block takes at once, at most */
    SORT_CHUNK_ELEMENTS = 1 << 13,  /* ... and about this many elements */
    SORT_SHORT_FAR_ROWS = 1 << 22,  /* rows at this distance or more are packed */
    SORT_SHORT_WARP_BYTES = 2048,   /* words of a warp */
    SORT_COUNTED_BYTES = 1 << 16,   /* of counters of 16-bit keys, at most */
    SORT_GROUP_BINS_TILES = 3,      /* of a segment that sort_group_bins sorts, if the array is not
                                       longer */
    SORT_GROUP_BINS_MOST = 5 << 18, /* elements of an array that it sorts, at most; ... */
    SORT_GROUP_LISTED_MOST = 1 << 22, /* if segments of this class are exceptions */
    SORT_GROUP_LISTED_MEAN = 128,
    SORT_GROUP_BINS_MEAN = 512,   /* ... whose segments are not listed, at least */
    SORT_NETWORK_LARGE = 1 << 21, /* 16-bit keys; rows of more elements are sorted by networks */
    SORT_COUNTED_WIDE_MOST = 1 << 18, /* ... elements of an array for sort_counted, at most */
    SORT_COUNTED_WIDE_MEAN = 1 << 11, /* ... of its groups on average, at least */
    SORT_PACK_TILE = 32               /* rows and columns */
};

/* A tile of sort_group_bins, which has 16 times the words of a warp: threads, bytes of a thread. */
#define SORT_GROUP_BINS_THREADS 1024
#define SORT_GROUP_BINS_BYTES   (16 * SORT_SHORT_WARP_BYTES / SORT_GROUP_BINS_THREADS)

/* Threads of sort_short_block if it counts, and of sort_counted. */
#define SORT_COUNTED_THREADS(key_bytes) ((key_bytes) == 1 ? 256 : 512)
#define SORT_COUNTED_WIDE_THREADS       1024

/* log2 of the words of a warp: words have 4, 8 or 16 bytes. */
#define SORT_SHORT_WORD_BYTES(key_bytes, positions)                                                \
    (!(positions) ? ((key_bytes) == 8 ? 8 : 4) : (key_bytes) == 8 ? 16 : (key_bytes) == 4 ? 8 : 4)
#define SORT_SHORT_LOG(word_bytes) ((word_bytes) == 4 ? 9 : (word_bytes) == 8 ? 8 : 7)

/* What sort_short_segments finds; zero before. */
struct sort_groups_state {
    uint32_t counts[SORT_BLOCK_CLASSES + 1]; /* segments in each list */
    uint32_t bad;      /* 1: the offsets are invalid, and long segments are not sorted */
    uint32_t finished; /* blocks that have ended, of the kernel that resets the state */
    uint64_t longest;  /* elements of the segments that sort_group_bins leaves to other kernels */
};

/* Where the groups are. */
struct sort_groups {
    const void *offsets, *ends; /* offsets NULL: rows; ends NULL: a segment ends where the next one
                                   begins */
    struct echi_index index;
    uint64_t groups, cols, in_row, out_row;
    const uint64_t *count; /* NULL: groups.  Otherwise the number of segments, at most groups */
    uint64_t n;
    uint32_t row_class;                        /* of all rows */
    uint32_t most_class;                       /* longer groups are long */
    uint32_t chunk;                            /* segments that a block takes at once */
    uint32_t *lists[SORT_BLOCK_CLASSES + 1];   /* of segments; rows: NULL */
    uint64_t capacity[SORT_BLOCK_CLASSES + 1]; /* of the lists */
    struct sort_groups_state *state;           /* rows: NULL */
    uint64_t *data_error;
};

/* The first lists of msd.h, for long groups in a part of the array.  Positions in the lists are
 * relative to base. */
struct sort_long {
    uint64_t base, end; /* groups that begin in [base, end) */
    struct sort_lists lists;
    uint64_t segments, tiles, leaves; /* capacity of the lists */
    uint32_t tile, leaf;
    uint32_t top;         /* the keys of each segment agree in the bits from this one up */
    const uint32_t *tops; /* NULL, or this bit for each segment, with ECHI_TOP_CUT */
    uint32_t global; /* generated indices are 1 + the position relative to base, not the position in
                        the group */
};

/* sort_short_...: words; sort_group_bins. */
struct sort_short_args {
    struct sort_common common; /* n is not used */
    struct sort_groups groups;
    uint32_t value_bytes, unit; /* values without an index: moved in units of 1 to 8 bytes */
    uint32_t index_bytes;       /* the values are positions in the group */
    uint32_t block_class;       /* of sort_short_block: one of those beyond a warp's, from 0 */
    uint32_t window;            /* of sort_short_block that counts: bytes of counters */
    uint32_t all;               /* one group per block: all, which are not listed */
    uint32_t reset;             /* ... and the state is zero afterwards */
    uint32_t gather;            /* keys are loaded again by position: their words do not contain all
                                   of their bits */
    struct sort_msd *clear;     /* sort_short_segments: becomes zero; or NULL */
    struct sort_long to;        /* sort_group_bins: long segments, unless lists.msd is NULL */
};

/* sort_groups_long: the long groups. */
struct sort_long_args {
    struct sort_groups groups;
    uint64_t first_row, rows; /* of rows: these */
    struct sort_long to;
};

/* sort_short_widen: keys of 8 and 16 bits to the top bits of 32, in the form that is compared; the
 * index of each becomes 0. */
struct sort_widen_args {
    struct sort_common common;
    const struct sort_groups_state *state; /* without long segments nothing is done; NULL: rows */
    uint32_t *wide, *index;
};

/* sort_groups_gather: to[p] = from[index[p] - 1], unless index[p] is 0. */
struct sort_gather_args {
    const struct sort_groups_state *state; /* as before */
    const void *from;
    void *to;
    const uint32_t *index;
    uint64_t n;
    uint32_t unit, units; /* of an element */
};

/* sort_groups_pack: rows with strides to adjacent ones, or back. */
struct sort_pack_args {
    const void *from;
    void *to;
    uint64_t rows, cols;
    uint64_t from_row, from_element, to_row, to_element;
    uint32_t unit, units;
};

#endif
