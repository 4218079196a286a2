/*
 * sort/cuda/common.h - what the two halves of the GPU sort agree on: sizes, device structures,
 * arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_COMMON_H
#define ECHI_SORT_CUDA_COMMON_H

#include "core/order.h"
#include "cuda/tuning.h"

enum {
    SORT_DIGIT_BITS = 8,
    SORT_BINS = 1 << SORT_DIGIT_BITS,
    SORT_PASSES = 8,        /* most: a 64-bit key */
    SORT_PORTION = 1 << 29, /* most keys of a launch of sort_onesweep: its counts have 30 bits */
    SORT_BINS_MOST = 32,    /* keys in a bin that are compared with each other */
    SORT_BINS_EACH = 8,     /* bins of a thread, where a block ranks keys by bins */
    SORT_HISTOGRAM_THREADS = 512,
    SORT_HISTOGRAM_BLOCKS = 4, /* a multiprocessor */
    SORT_MOVE_THREADS = 256,
    SORT_COUNT_THREADS = 1024, /* of sort_count */
    SORT_VALUES = 1 << 16,     /* of a key of 16 bits */
    SORT_MSD_LEVELS = 9,       /* 8, then at least 7, then 8 bits each: 64 bits */
    SORT_MSD_LEVELS_32 = 5,
    SORT_MSD_ROW = SORT_BINS + 2, /* a segment's counts, and the bits in which its keys differ */
    SORT_WARP = 32
};

/* Dynamic shared memory of sort_onesweep: the larger of the counters and the tile's keys or values,
 * then what else struct pass_shared holds. */
#define SORT_SHARED_BYTES(threads, items, widest)                                                  \
    (((threads) / SORT_WARP * SORT_BINS * 4 > (threads) * (items) * (widest)                       \
          ? (threads) / SORT_WARP * SORT_BINS * 4                                                  \
          : (threads) * (items) * (widest)) +                                                      \
     SORT_BINS * 8 + 64)

/* ... and of sort_block: the same of keys, with values also of where each key came from. */
#define SORT_BLOCK_SHARED_BYTES(threads, items, key_bytes, place_bytes)                            \
    (((threads) / SORT_WARP * SORT_BINS * 4 > (threads) * (items) * ((key_bytes) + (place_bytes))  \
          ? (threads) / SORT_WARP * SORT_BINS * 4                                                  \
          : (threads) * (items) * ((key_bytes) + (place_bytes))) +                                 \
     64)

/* ... where it ranks keys by bins: of what else is as large as a digit the passes are few. */
#define SORT_BY_BINS(key_bytes, value_bytes) ((key_bytes) >= 4 && (value_bytes) <= 8)
#define SORT_BINS_SHARED_BYTES(threads, items, key_bytes, place_bytes)                             \
    ((unsigned)(threads) *                                                                         \
         ((unsigned)(items) * ((key_bytes) + (place_bytes)) + SORT_BINS_EACH * 2u) +               \
     (unsigned)((threads) * (items)) / SORT_BINS_MOST * 4u +                                       \
     (unsigned)(threads) / SORT_WARP * (2u * (key_bytes) + 8u) + 16u)

/* ... of sort_sample: that of a block that ranks keys by bins, or digit by digit, and splitters. */
#define SORT_SAMPLE_SHARED_BYTES(key_bytes, value_bytes, narrow)                                   \
    (SORT_BINS_SHARED_BYTES(SORT_SAMPLE_THREADS,                                                   \
                            SORT_SAMPLE_ITEMS(key_bytes, value_bytes, narrow), key_bytes, 2u) +    \
     SORT_SAMPLE_BUCKETS(value_bytes) * ((key_bytes) + 4u) + SORT_SAMPLE_THREADS / SORT_WARP * 8u)

/* Where in its part of the input the t-th key of a sample lies: this, of 2^32. */
#define SORT_SAMPLE_HASH(t) ((uint32_t)(t)*2654435761u >> 7)

/* ... of sort_msd_scatter: a tile, and two counters a bin; of sort_msd_leaf: a leaf and its
 * bins. */
#define SORT_MSD_TILE(key_bytes) (SORT_MSD_THREADS * (SORT_MSD_THREAD_BYTES / (key_bytes)))
#define SORT_MSD_SHARED_BYTES    (SORT_MSD_THREADS * SORT_MSD_THREAD_BYTES + SORT_BINS * 8 + 64)
#define SORT_MSD_LEAF(key_bytes) (SORT_LEAF_THREADS * (SORT_LEAF_THREAD_BYTES / (key_bytes)))
#define SORT_LEAF_SHARED_BYTES(large)                                                              \
    ((1u + (large)) * (SORT_LEAF_THREADS * SORT_LEAF_THREAD_BYTES + 1280u) +                       \
     (4u << SORT_LEAF_BINS_LOG))

/* ... of sort_count: two bytes for each value of its part. */
#define SORT_COUNT_SHARED_BYTES(parts) (SORT_VALUES * 2 / (parts))
/* ... of few keys that crowd, few.cuh: counters of warps, three a bin, and a tile. */
#define SORT_FEW_SHARED_BYTES(tile, element_bytes)                                                 \
    ((SORT_MSD_THREADS / 32 + 3) * SORT_BINS * 4u + 32u + (tile) * (element_bytes))
/* ... of the same with values, msd_pairs.cu: a tile's keys or values, or the counters of its
 * warps, where each digit goes, and where copies beside the kernel go
 * to, the next tile; a leaf's order, and its bins, keys or values; or what sort_block
 * takes, where keys crowd.  Values of 16 bytes stay in memory. */
#define SORT_PAIRS_SHARED_BYTES(threads, items, key_bytes, value_bytes, staged)                    \
    (SORT_SHARED_BYTES(threads, items,                                                             \
                       (key_bytes) > (value_bytes) ? (key_bytes) : (value_bytes)) +                \
     (staged) * (threads) * (items) * (value_bytes))
#define SORT_PAIRS_LEAF_SHARED_BYTES(leaf, key_bytes, value_bytes, staged)                         \
    ((leaf)*4u + 448u +                                                                            \
     (leaf) * ((key_bytes) == 8 || ((value_bytes) == 8 && !(staged)) ? 8u : 4u) +                  \
     (leaf) * ((staged) && (value_bytes) <= 8 ? (unsigned)(value_bytes) : 0u))

/* ... of msd_packed.cuh: two counters a word; a tile of pairs, their values once more, and two
 * words a digit. */
#define SORT_PACKED_COUNT_BYTES         (4u << (2 * SORT_DIGIT_BITS - 1))
#define SORT_PACKED_TILE(level)         (SORT_PACKED_THREADS * SORT_PACKED_ITEMS(level))
#define SORT_PACKED_TILES(n)            ((n) / SORT_PACKED_TILE(1) + SORT_BINS) /* of a level */
#define SORT_PACKED_SHARED_BYTES(level) (SORT_PACKED_TILE(level) * 12u + SORT_BINS * 8u + 64u)

/* Where the keys of a pass are: indices into the buffers of sort_args.  Packed: each beside its
 * value, in the temporary buffers of both, which lie next to each other. */
enum sort_buffer { SORT_IN, SORT_OUT, SORT_TMP, SORT_PACKED };

/* What the passes do, decided on the device once the histograms are known; sort_plan writes it. */
struct sort_pass {
    uint32_t active;         /* 0: every key has the same digit; the pass does nothing */
    uint32_t first, last;    /* of the active passes */
    uint32_t source, target; /* enum sort_buffer */
    uint32_t epoch;          /* number of active passes before, modulo 2 */
};

struct sort_state {
    uint64_t histogram[SORT_PASSES][SORT_BINS];
    uint64_t base[SORT_PASSES][2]
                 [SORT_BINS]; /* where each bin's next key goes, by parity of the portion */
    uint32_t tiles_taken[SORT_PASSES];
    struct sort_pass pass[SORT_PASSES];
    uint32_t finish; /* 1 + enum sort_buffer to copy to the output at the end; 0: nothing to copy */
};

/* What msd.cuh splits: keys that agree in all bits from shift + bits up, and that no leaf can
 * hold.  Each level has a list of them, made by the level before. */
struct sort_segment {
    uint32_t begin, count;
    uint32_t first_tile;
    uint32_t source; /* enum sort_buffer */
    uint32_t shift, bits;
    uint32_t moves;  /* enum sort_moves */
    uint32_t known;  /* enum sort_known */
    uint64_t prefix; /* what its keys are without the digit, for SORT_WRITTEN; or their places */
};

/* Its digits are counted already; and they are of places (msd_value.cuh), not of bits. */
enum sort_known { SORT_COUNTED = 1, SORT_BY_PLACE = 2 };

/* What the scatter does with a segment: leaves it where it is, since its keys have one digit; moves
 * its keys; or, where the digit is the last, writes them from their counts to the output. */
enum sort_moves { SORT_STAYS, SORT_MOVES, SORT_WRITTEN };

/* Keys that a block finishes.  Those of keys alone, in the form of order_encode(), are low + [0,
 * 2^bits); or uneven, and their range is to be found. */
enum { SORT_LEAF_UNEVEN = 255 };
struct sort_leaf {
    uint32_t begin, count, source;
    uint32_t bits;
    uint64_t low;
};

enum sort_seen { SORT_SEEN_FALL = 1, SORT_SEEN_RISE = 2, SORT_SEEN_BOTH = 3 };

struct sort_msd {
    uint32_t segments[SORT_MSD_LEVELS + 2], tiles[SORT_MSD_LEVELS + 2]; /* of each level */
    uint32_t leaves, crowded;
    uint32_t seen;            /* of keys next to each other in the input: enum sort_seen */
    uint32_t meetings;        /* of blocks of sort_msd_rest */
    uint32_t crowd;           /* 1: sort_lsd, or few_sort(), sorts, and the levels do nothing */
    uint32_t lsd_meetings[2]; /* ... of sort_lsd_begin, and of sort_lsd */
    /* msd_packed.cuh alone */
    uint32_t even;   /* so many low bits differ in a sample, which is even in the first; or 0 */
    uint32_t uneven; /* 1: the keys are not as their sample */
    uint32_t packed_tiles; /* of the second level; 0: it has none of the keys */
    uint64_t last;         /* a pair */
};

/* What blocks add up that count the first level of few keys; zero between launches. */
struct sort_first {
    uint32_t counts[SORT_MSD_ROW];
    uint32_t seen, done; /* as in sort_msd; blocks that have counted, or looked */
    uint32_t crowd;      /* 1: keys crowd */
};

/* What msd_top.cuh knows of the keys. */
struct sort_top {
    uint64_t low;         /* the first bin's least key, in the form of order_encode(); all keys */
    uint32_t bits, shift; /* of the bins agree from bits up, and those of one from shift up */
    uint32_t table;       /* 1: sort_top_scatter moves keys, 0: sort_msd_scatter, or _floats */
    uint64_t least, most; /* of keys below and above all bins; else ~0 and 0 */
    double scale, offset; /* of places (msd_value.cuh) */
    uint32_t places;      /* 1: bins are of places, which have so many bits */
};

/* One struct serves every kernel of the sort. */
struct sort_args {
    const void *keys_in;
    void *keys_out, *keys_tmp;
    const void *values_in; /* NULL with index: the values are the positions */
    void *values_out, *values_tmp;
    struct sort_state *state;
    uint32_t *status; /* [tiles][SORT_BINS], for the look-back */
    uint64_t n;
    uint64_t portion; /* which SORT_PORTION / tile tiles this launch of sort_onesweep does */
    struct echi_order order;
    int32_t begin_bit, end_bit;
    int32_t pass, passes;
    uint32_t
        in_place; /* keys or values are where they came from: the first pass must not write there */
    uint32_t stays;        /* both are: with no pass to run there is nothing to do */
    uint32_t index;        /* values are generated, not read */
    uint32_t discard_keys; /* the last pass need not write keys */
    uint32_t unstable;     /* equal keys may change places */
    /* count.cuh alone */
    uint64_t *begins; /* [SORT_VALUES + 1]: how often each value occurs, then where it begins */
    uint32_t parts;   /* of the values: so many blocks read the same keys */
    /* sample.cu alone */
    uint32_t buckets, tile;   /* tiles, and as many buckets; keys of a tile */
    uint32_t samples, stride; /* 2^each_log for each bucket; one of so many keys is a sample */
    int32_t each_log;
    uint16_t *starts; /* [buckets + 1][buckets]: where each bucket begins in each tile */
    uint32_t *meet;   /* [2], zero between launches */
    /* msd.cuh alone; lists of odd levels lie beside those of even ones */
    int32_t level, levels;
    struct sort_msd *msd;
    struct sort_first *first; /* of few keys; else NULL */
    uint32_t *few_counts;     /* [blocks][SORT_BINS], few.cuh; NULL unless keys are few */
    uint32_t *few_sums;       /* [2][SORT_FEW_BLOCKS / SORT_FEW_GROUP][SORT_BINS]: of even passes
                                 and odd ones */
    uint32_t few_tile;        /* keys that a block has shared memory for */
    struct sort_segment *segments[2];
    uint32_t *counts[2];  /* [segments][SORT_MSD_ROW]; then where each bin's next key goes */
    uint32_t *tile_of[2]; /* [tiles]: which segment a tile belongs to */
    struct sort_leaf *leaves;
    struct sort_top *top; /* msd_top.cuh alone */
    uint32_t *top_bins;   /* [2^top_bits]: keys of each bin */
    uint8_t *top_class;   /* [2^top_bits]: the class of each */
    int32_t top_bits;
    uint32_t leaf;     /* keys alone: most keys of a leaf */
    uint32_t floats;   /* bins may be of places: msd_value.cuh */
    uint32_t adaptive; /* crowd.cuh: keys that crowd are left to lsd.cuh */
    uint32_t *crowded; /* numbers of leaves that sort_msd_leaf leaves to sort_msd_crowded */
    /* msd_pairs.cu alone */
    uint32_t *rows;   /* [tiles][SORT_BINS]: keys of each digit in earlier tiles of its piece */
    uint32_t *pieces; /* [count_blocks][SORT_BINS]: ... and in pieces up to this block's last */
    uint32_t count_blocks; /* of a level */
    uint32_t plain;        /* keys are compared as they are encoded, all bits of them */
    uint32_t packed;       /* msd_packed.cuh may sort them */
    uint32_t same;         /* they are encoded as they are */
};

#endif
