/*
 * sort/cuda/msd.h - definitions that host and device code of the MSD radix sort share: sizes,
 * device structures, arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_MSD_H
#define ECHI_SORT_CUDA_MSD_H

#include "sort/cuda/passes.h"
#include "sort/divide_sizes.h"

enum {
    SORT_MSD_LEVELS = 9, /* 8, then at least 7, then 8 bits each: 64 bits */
    SORT_MSD_LEVELS_32 = 5,
    SORT_MSD_ROW = SORT_BINS + 2 /* a segment's counts, and the bits in which its keys differ */
};

/* Keys that a block of sort_ordered_copy copies at a time. */
#define SORT_ORDERED_TILE(key_bytes) (SORT_ORDERED_THREADS * 64u / (unsigned)(key_bytes))

/* Dynamic shared memory of sort_msd_scatter: a tile, and two counters per bin; of sort_msd_leaf
 * and sort_msd_skewed_leaf: a leaf and its bins. */
#define SORT_MSD_TILE(key_bytes) (SORT_MSD_THREADS * (SORT_MSD_THREAD_BYTES / (key_bytes)))
#define SORT_MSD_SHARED_BYTES    (SORT_MSD_THREADS * SORT_MSD_THREAD_BYTES + SORT_BINS * 8 + 64)
#define SORT_MSD_LEAF(key_bytes) (SORT_LEAF_THREADS * (SORT_LEAF_THREAD_BYTES / (key_bytes)))
#define SORT_LEAF_FULL(leaf)     ((leaf) / 16 * 15) /* keys: digits are not quite even */
#define SORT_SKEWED_LEAF_SHARED_BYTES(large)                                                       \
    (SORT_SKEWED_LEAF_THREADS * ((large) ? 128u : 64u) + (4u << SORT_LEAF_BINS_LOG) + 512u)
#define SORT_LEAF_SHARED_BYTES(large)                                                              \
    ((1u + (large)) * (SORT_LEAF_THREADS * SORT_LEAF_THREAD_BYTES + 1280u) +                       \
     (4u << SORT_LEAF_BINS_LOG))

/* Dynamic shared memory of small_lsd.cuh: counters of warps, three per bin, and a tile. */
#define SORT_SMALL_LSD_SHARED_BYTES(tile, element_bytes)                                           \
    ((SORT_MSD_THREADS / 32 + 3) * SORT_BINS * 4u + 32u + (tile) * (element_bytes))

/* Dynamic shared memory of the scatter with values, msd_pairs.cu: a tile's keys or values, or the
 * counters of its warps, and the target of each digit; staged: the values that are copied
 * meanwhile.  For a leaf with values: its order, and its bins, keys or values; for skewed keys the
 * size of sort_block.  Values of 16 bytes stay in global memory. */
#define SORT_PAIRS_SHARED_BYTES(threads, items, key_bytes, value_bytes, staged)                    \
    (SORT_SHARED_BYTES(threads, items,                                                             \
                       (key_bytes) > (value_bytes) ? (key_bytes) : (value_bytes)) +                \
     (staged) * (threads) * (items) * (value_bytes))
#define SORT_PAIRS_LEAF_SHARED_BYTES(leaf, key_bytes, value_bytes, staged)                         \
    ((leaf)*4u + 448u +                                                                            \
     (leaf) * ((key_bytes) == 8 || ((value_bytes) == 8 && !(staged)) ? 8u : 4u) +                  \
     (leaf) * ((staged) && (value_bytes) <= 8 ? (unsigned)(value_bytes) : 0u))

/* Dynamic shared memory of msd_packed.cuh: two counters per word; a tile of pairs, a copy of their
 * values, and two words per digit. */
#define SORT_PACKED_COUNT_BYTES         (4u << (2 * SORT_DIGIT_BITS - 1))
#define SORT_PACKED_TILE(level)         (SORT_PACKED_THREADS * SORT_PACKED_ITEMS(level))
#define SORT_PACKED_TILES(n)            ((n) / SORT_PACKED_TILE(1) + SORT_BINS) /* of a level */
#define SORT_PACKED_PIECES              1024u                                   /* of a map */
#define SORT_PACKED_SHARED_BYTES(level) (SORT_PACKED_TILE(level) * 12u + SORT_BINS * 8u + 64u)

/* A segment that msd.cuh divides: its keys agree in all bits from shift + bits up, and do not fit
 * in a leaf.  Each level has a list of segments, made by the level before. */
struct sort_segment {
    uint32_t begin, count;
    uint32_t first_tile;
    uint32_t source; /* enum sort_buffer */
    uint32_t shift, bits;
    uint32_t moves;  /* enum sort_moves */
    uint32_t known;  /* enum sort_known */
    uint64_t prefix; /* the keys without the digit (SORT_WRITTEN), or first quantised value.  With
                        values: the position from which generated indices count; SORT_CLAMPED: the
                        first digit */
};

/* The digits have been counted; the digits are by value (msd_value.cuh), not of bits; the digits
 * are key >> shift, minus the first one, and keys outside their range have the first or the last
 * digit; the digits of the keys' low `shift` bits are by length, with a cut at bit
 * `bits` (lengths.cuh); the digits are of mapped keys (packed_map.cuh). */
enum sort_known {
    SORT_COUNTED = 1,
    SORT_BY_VALUE = 2,
    SORT_CLAMPED = 4,
    SORT_BY_LENGTH = 8,
    SORT_BY_MAP = 16
};

/* What the scatter does with a segment: leaves it in place, since its keys have one digit; moves
 * its keys; or, if keys with the same digit are equal, writes them to the output from their
 * counts.  Before it is planned: whether many of its keys have zeros below the digit. */
enum sort_moves { SORT_STAYS, SORT_MOVES, SORT_WRITTEN, SORT_ZEROS_BELOW };

/* Keys that a block finishes.  Without values, the keys in the form of order_encode() are in low +
 * [0, 2^bits); or they are uneven, and the leaf finds their range.  From bit SORT_LEAF_SAME of
 * `bits` on: the number of low bits in which they are known to agree. */
enum { SORT_LEAF_UNEVEN = 255, SORT_LEAF_SAME = 8 };
struct sort_leaf {
    uint32_t begin, count, source;
    uint32_t bits;
    uint64_t low; /* with values: the position from which generated indices count */
};

enum sort_seen { SORT_SEEN_FALL = 1, SORT_SEEN_RISE = 2, SORT_SEEN_BOTH = 3 };

/* How sort_ordered_copy writes input whose sample is in order. */
enum sort_copies { SORT_COPIES_NONE, SORT_COPIES_FORWARD, SORT_COPIES_REVERSED };

/* A map of keys to words that are evenly distributed, if the keys are distributed like a sample:
 * packed_map.cuh.  Keys are distances from the lowest one, without a gap that has no keys. */
struct sort_map {
    uint32_t low;
    uint32_t gap, above; /* the distance where the gap begins; the first key after it */
    uint32_t lower;      /* what is subtracted from keys after the gap */
    uint32_t last;       /* distance; longer ones count as this one */
    uint32_t shift;      /* of a distance to its piece */
};

/* What sort_packed_map has to do, or has done. */
enum sort_mapping { SORT_MAPS_NONE, SORT_MAPS, SORT_MAPPED };

struct sort_msd {
    uint32_t segments[SORT_MSD_LEVELS + 2], tiles[SORT_MSD_LEVELS + 2]; /* of each level */
    uint32_t leaves, skewed_leaves;
    uint32_t seen;    /* order of adjacent keys in the input: enum sort_seen */
    uint32_t copies;  /* enum sort_copies; if not NONE, input that is in order has been copied */
    uint32_t arrived; /* blocks at barriers of sort_msd_tail_levels */
    uint32_t skewed;  /* 1: sort_lsd, or small_lsd_sort(), sorts, and the levels do nothing */
    uint32_t lsd_arrived[2]; /* ... of sort_lsd_begin, and of sort_lsd */
    /* Only for msd_packed.cuh: */
    uint32_t even;   /* number of low bits that differ in a sample, if its first bits are evenly
                        distributed; or 0 */
    uint32_t uneven; /* 1: the keys are not distributed like their sample */
    uint32_t packed_tiles; /* of the second level; 0: it has no keys */
    uint32_t mapping;      /* enum sort_mapping */
    uint32_t map_arrived;  /* blocks of sort_packed_map that have counted */
    uint32_t first_leaf; /* of those that the levels make, for keys that two digits do not divide */
    struct sort_map map;
    uint64_t last; /* a pair */
};

/* Sums over the blocks that count the first level of a small array; zero between launches. */
struct sort_first_counts {
    uint32_t counts[SORT_MSD_ROW];
    uint32_t seen, done; /* as in sort_msd; number of blocks that have counted or sampled */
    uint32_t skewed;     /* 1: keys are skewed */
};

/* The result of sampling and planning in msd_buckets.cuh. */
struct sort_buckets {
    uint64_t low;         /* minimum key of the first bin, in the form of order_encode() */
    uint32_t bits, shift; /* keys of all bins agree from bit `bits` up, keys of one bin from `shift`
                             up */
    uint32_t table;       /* 1: sort_buckets_scatter moves keys, 0: sort_msd_scatter, or _floats */
    uint64_t least, most; /* minimum key below and maximum key above all bins; otherwise ~0 and 0 */
    double scale, offset; /* of values (msd_value.cuh) */
    uint32_t by_value;    /* 1: bins are by value, with this many bits */
    uint32_t lengths;     /* 0, or bins are by length, which keeps this many bits (lengths.cuh) */
    uint32_t cut;         /* 0, or where a number of random length begins */
};

/* If MANY keys of a sample have zeros in the SORT_ZEROS bits below a bit, and MORE than below the
 * next bit, a number of random length begins there. */
#define SORT_ZEROS              4
#define SORT_ZEROS_MANY(sample) ((sample) / 8 * 5)
#define SORT_ZEROS_MORE(sample) ((sample) / 8)

/* The lists of all levels; odd and even levels use different lists. */
struct sort_lists {
    struct sort_msd *msd;
    int32_t levels;
    struct sort_segment *segments[2];
    uint32_t *counts[2];  /* [segments][SORT_MSD_ROW]; then the output position of each bin's next
                             key */
    uint32_t *tile_of[2]; /* [tiles]: the segment of each tile */
    struct sort_leaf *leaves;
    uint32_t *skewed_leaves; /* numbers of leaves that are left to sort_msd_skewed_leaf */
    /* For small arrays; otherwise NULL. */
    struct sort_first_counts *first_counts;
    uint32_t *small_lsd_counts; /* [blocks][SORT_BINS] */
    uint32_t *small_lsd_sums;   /* [2][SORT_SMALL_LSD_BLOCKS / SORT_SMALL_LSD_GROUP][SORT_BINS]: of
                                   even and of odd passes */
    uint32_t small_lsd_tile;    /* keys that a block has shared memory for */
    uint32_t small_lsd;         /* 1: small_lsd.cuh sorts skewed keys, 0: lsd.cuh */
};

/* Keys without values. */
struct sort_msd_args {
    struct sort_common common;
    struct sort_lists lists;
    uint32_t leaf;                /* maximum number of keys of a leaf */
    struct sort_buckets *buckets; /* this and the following: msd_buckets.cuh */
    uint32_t *bins;               /* [2^bin_bits]: keys of each bin */
    uint8_t *bin_bucket;          /* [2^bin_bits]: the bucket of each */
    int32_t bin_bits;
    uint32_t floats;   /* bins may be by value: msd_value.cuh */
    uint32_t adaptive; /* skewed.cuh: skewed keys are left to lsd.cuh */
};

/* Keys with values. */
struct sort_pairs_args {
    struct sort_common common;
    struct sort_lists lists;
    uint32_t *rows;   /* [tiles][SORT_BINS]: keys of each digit in earlier tiles of the tile's
                         piece */
    uint32_t *pieces; /* [count_blocks][SORT_BINS]: ... and in all pieces up to the block's last */
    uint32_t count_blocks; /* of a level */
    uint32_t packed;       /* msd_packed.cuh may sort them */
};

/* lsd.cuh: passes, if keys are skewed. */
struct sort_lsd_args {
    struct sort_passes_args passes;
    struct sort_msd *msd;
};

#endif
