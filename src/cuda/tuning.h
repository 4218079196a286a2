/*
 * cuda/tuning.h - constants measured on a GPU, in columns; host code and kernels read them.
 *
 * A tile is the keys that one block sorts at a time: threads x items keys. Larger tiles write
 * longer runs and look back less often; smaller ones leave room for more blocks. One row serves all
 * architectures until a measurement shows that one needs its own. Shared memory stays within the 64
 * KiB of sm_75.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_TUNING_H
#define ECHI_CUDA_TUNING_H

/* threads, items, blocks: of sort_onesweep; blocks: minimum number resident on a multiprocessor.
 * large: items of sort_block_large. H200, 2026-11-20. */
/* clang-format off */
/*      key value threads items blocks large */
#define SORT_TUNING(ROW)                                                                           \
    ROW(1,   0,    384,   22,   3,    16)                                                          \
    ROW(1,   4,    512,   20,   2,     8)                                                          \
    ROW(1,   8,    384,   16,   2,     8)                                                          \
    ROW(1,  16,    384,    8,   2,     6)                                                          \
    ROW(2,   0,    384,   24,   3,    16)                                                          \
    ROW(2,   4,    384,   16,   3,     8)                                                          \
    ROW(2,   8,    384,   16,   2,     8)                                                          \
    ROW(2,  16,    384,    8,   2,     6)                                                          \
    ROW(4,   0,    384,   22,   3,    12)                                                          \
    ROW(4,   4,    512,   20,   2,     8)                                                          \
    ROW(4,   8,    512,   15,   2,     8)                                                          \
    ROW(4,  16,    384,   10,   2,     6)                                                          \
    ROW(8,   0,    512,   15,   2,     7)                                                          \
    ROW(8,   4,    512,   15,   2,     6)                                                          \
    ROW(8,   8,    512,   12,   2,     6)                                                          \
    ROW(8,  16,    384,    9,   2,     6)
/* clang-format on */

/* Keys of 8 and 16 bits with values on GPUs with 227 KiB of shared memory per block
 * (sort/cuda/staged.cuh); not fewer keys per tile than above. H200, 2026-11-27. */
/* clang-format off */
/*      key value threads items blocks */
#define SORT_STAGED_TUNING(ROW)                                                                    \
    ROW(1,   4,    512,   21,   2)                                                                 \
    ROW(1,   8,    512,   16,   2)                                                                 \
    ROW(1,  16,    512,    9,   2)                                                                 \
    ROW(2,   4,    512,   21,   2)                                                                 \
    ROW(2,   8,    512,   15,   2)                                                                 \
    ROW(2,  16,    512,    9,   2)
/* clang-format on */

/* 16-bit keys without values (sort/cuda/count.cuh): smaller arrays are sorted in two passes
 * instead.  Keys of any distribution are counted in less time from here on, most of them from 2^18
 * on. H100 and H200, 2026-11-28. */
enum { SORT_COUNT_MIN = 3 << 20 };

/* A sort in one block (sort/cuda/small.cuh): threads, and keys per thread; items of
 * sort_block_large are above. H200, 2026-11-22. */
enum {
    SORT_BLOCK_SMALL_THREADS = 512,
    SORT_BLOCK_SMALL_ITEMS = 2,
    SORT_BLOCK_MEDIUM_THREADS = 1024,
    SORT_BLOCK_MEDIUM_ITEMS = 4,
    SORT_BLOCK_LARGE_THREADS = 1024
};

/* Keys of 16 bits with values are sorted as words of key and position (sort/cuda/words.cuh), from
 * MIN to MOST elements; in one block up to ITEMS per thread of sort_words_large.  Samplesort ranks
 * up to PAIRS words by comparing all pairs; a block sorts buckets of up to SAMPLE_ITEMS per thread.
 * H200, 2026-11-28. */
enum {
    SORT_WORDS_MIN = 2048,
    SORT_WORDS_ITEMS = 6,
    SORT_WORDS_SAMPLE_ITEMS = 8,
    SORT_WORDS_PAIRS = 512
};
#define SORT_WORDS_MOST(value_bytes) ((value_bytes) == 4 ? 24u << 10 : 16u << 10)

/* Sample sort (sort/cuda/sample.cu): buckets of MIN_KEYS keys, until there are as many as a large
 * GPU has multiprocessors; then the number of buckets is a multiple of that, up to the maximum.
 * items: keys that a thread can hold, on sm_75 (narrow) and on later GPUs. H200, 2026-11-22. */
enum {
    SORT_SAMPLE_THREADS = 1024,
    SORT_SAMPLE_WAVE = 128,
    SORT_SAMPLE_MIN_KEYS = 256,
    SORT_SAMPLE_MOST_BYTES = 1 << 23, /* keys without values */
    SORT_SAMPLE_MOST_VALUES = 1 << 20 /* keys with values */
};
/* Numbers of keys: below, sample sort is chosen; from this number on, MSD radix sort. */
#define SORT_MSD_MIN(key_bytes, floats)                                                            \
    ((key_bytes) == 8 && !(floats) ? (1u << 18) + 1 : (1u << 19) + 1)
#define SORT_SAMPLE_BUCKETS(value_bytes) ((value_bytes) ? 256u : 512u) /* maximum */
#define SORT_SAMPLE_KEYS(key_bytes)      ((key_bytes) == 8 ? 2048u : 4096u)
#define SORT_SAMPLE_ITEMS(key_bytes, value_bytes, narrow)                                          \
    (!(narrow) ? ((key_bytes) == 8 ? 7u : 10u) : (key_bytes) == 4 ? 6u : (value_bytes) ? 4u : 3u)

/* MSD radix sort (sort/cuda/msd.cu): bytes per thread of a tile, in registers, and of a leaf, which
 * consists of windows of 64 bytes. blocks: resident on a multiprocessor. H200, 2026-11-22. */
enum {
    SORT_MSD_COUNT_PLAN_KEYS = 2048, /* ... by blocks of at least this many */
    SORT_LAUNCHED_MIN = 1 << 25,     /* keys: from this number on, one more level has launches */
    SORT_BUCKETS_BIN_BITS = 15,      /* maximum, of the bins from which buckets are made */
    SORT_BUCKETS_THREADS = 1024,
    SORT_MSD_THREADS = 512,
    SORT_MSD_THREAD_BYTES = 112,
    SORT_MSD_BLOCKS = 2,
    SORT_MSD_COUNT_THREADS = 512,
    SORT_MSD_COUNT_BLOCKS = 2,
    SORT_LEAF_THREADS = 512,
    SORT_LEAF_THREAD_BYTES = 72, /* twice this for a large leaf */
    SORT_LEAF_BLOCKS = 3,
    SORT_LEAF_LARGE_BLOCKS = 2,
    SORT_LEAF_BINS_LOG = 12,
    SORT_SKEWED_LEAF_THREADS = 576, /* each has 64 bytes of a leaf, or 128 of a large one */
    SORT_SKEWED_LEAF_BLOCKS = 2
};

/* Tiles and leaves of a block of a large array: fewer blocks end earlier if there is nothing to do.
 * With fewer keys the blocks would be distributed unevenly.  H200, 2026-11-27. */
#define SORT_EACH(n) ((n) >= (uint64_t)1 << 27 ? 4u : 1u)

/* Arrays of fewer keys than SORT_MSD_SMALL: the first level is counted and planned in one launch.
 * If the keys are skewed (sort/cuda/small_lsd.cuh), at most SORT_SMALL_LSD_BLOCKS blocks sort them
 * by LSD radix sort, each at least SORT_SMALL_LSD_KEYS keys; a group of blocks has a row of sums.
 *
 * Keys are skewed if, of 100 keys of a sample, at least SHARE are in bins of their first bits that
 * appear to have more than LEAVES leaves.  Exception: if half of such a bin is one key, MSD levels
 * are as fast, except for 32-bit keys with values, and for up to EQUAL without.  With at most
 * DIFFERENT different keys, MSD levels are faster.  H200, 2026-11-22. */
#define SORT_MSD_SMALL(key_bytes) ((key_bytes) == 8 ? 1u << 23 : 1u << 24)
enum {
    SORT_SMALL_LSD_BLOCKS = 512,
    SORT_SMALL_LSD_KEYS = 4096,
    SORT_SMALL_LSD_GROUP = 16,
    SORT_SMALL_LSD_SAMPLES = 4, /* per thread */
    SORT_SMALL_LSD_SHARE = 10,
    SORT_SMALL_LSD_DIFFERENT = 32
};
#define SORT_SMALL_LSD_LEAVES(key_bytes, value_bytes)                                              \
    ((key_bytes) == 8 ? 2u : (value_bytes) ? 4u : 8u)
#define SORT_SMALL_LSD_EQUAL(key_bytes, value_bytes)                                               \
    ((key_bytes) == 8 ? 0u : (value_bytes) ? ~0u : (24u << 20) / (key_bytes))

/* Minimum number of keys for digits of values of floats (sort/cuda/msd_value.cuh), unless the
 * algorithm is named. For smaller arrays, bins of bits also make leaves, and the choice takes
 * longer than it saves. */
#define SORT_VALUE_DIGITS_MIN(key_bytes) ((key_bytes) == 8 ? 1u << 25 : 1u << 26)

/* At least MIN keys are sorted by LSD radix sort if they are skewed (sort/cuda/skewed.cuh); the
 * threads of a block read a sample of two keys each. Keys are skewed if at least SHARE of 100
 * different neighbours in the sorted sample share their first BITS bits. EQUAL: if this many of 100
 * keys are equal, passes over 32-bit keys without values are slow, and so are MSD levels of pairs.
 * H200, 2026-11-22. */
enum { SORT_SKEWED_THREADS = 1024, SORT_LSD_COUNT_BLOCKS = 3 /* per multiprocessor */ };
/* Argsorts of at least so many keys to indices of 8 bytes move indices of 4 bytes and widen them at
 * the end (sort/cuda/plan.c): below, another launch costs what it saves.  H200, 2026-11-27. */
enum { SORT_WIDEN_MIN = 1 << 19 };
/* The copy of input that is in order in a sample (sort/cuda/ordered.cuh).  H200, 2026-11-27. */
enum { SORT_ORDERED_THREADS = 512, SORT_ORDERED_BLOCKS = 4 /* per multiprocessor */ };
#define SORT_SKEWED_MIN(key_bytes)                ((key_bytes) == 8 ? 1u << 23 : 1u << 24)
#define SORT_SKEWED_BITS(key_bytes, value_bytes)  ((key_bytes) == 8 ? 22 : (value_bytes) ? 17 : 20)
#define SORT_SKEWED_SHARE(key_bytes, value_bytes) ((key_bytes) == 4 && (value_bytes) ? 10 : 30)
#define SORT_SKEWED_EQUAL(value_bytes)            ((value_bytes) ? 60 : 20)

/* The sort with little workspace (sort/cuda/low_memory.c). From MIN elements on, the arrays are
 * sorted in pages with a pool of at most PAGES_MOST, or, with values that are not of 4, 8 or 16
 * bytes, in windows of 2 / BLOCKS of the array. Chosen, not measured. */
enum { SORT_LOW_MEMORY_BLOCKS = 8, SORT_LOW_MEMORY_MIN = 1 << 14, SORT_PAGES_MOST = 8192 };

/* From BINS_MIN elements on, if the arrays are not sorted in place, the bins of the first digit are
 * sorted as segments, unless one has more than n / BINS elements; below, in place (SORT_RESIDES),
 * if a block per tile of a bin can be resident.  H200, 2026-11-27. */
enum { SORT_LOW_MEMORY_BINS_MIN = 1 << 27, SORT_LOW_MEMORY_BINS = 64 };

/* Copies of host memory (exchange.c).  H200 on 16 cores, 2026-11-22, GB/s for 1 GiB in each
 * direction, both at once, between pinned memory and the device, by the size of a copy:
 *     32 MiB  50      4 MiB  48      2 MiB  46      1 MiB  44
 * The rates are the same with a second stream per direction.  Out-of-core sorts of 2^28 u32 keys,
 * ms, from pinned and pageable memory, by the size of a copy (2 MiB: copies without parts):
 *     2 MiB, 12 threads   51, 52      8 MiB, 12 threads   49, 47      8 MiB, 14 threads   49, 46
 * With these 14 and a coordinating thread, pinned memory is sorted 3 ms faster if its first copy up
 * goes through slots: while threads write memory, the link reads memory at 45 GB/s, and cached data
 * at 51.  The driver's copies of pageable memory: 8 up and 16 down; pinning the memory first: 32,
 * without any copy. */
enum {
    LINK_THREADS = 14,
    LINK_COPY_BYTES = 8 << 20,
    LINK_PART_BYTES = 512 << 10, /* of a copy, that a thread takes at a time */
    LINK_MIN_BYTES = 128 << 10,  /* minimum of a part */
    LINK_SMALL_BYTES = 1 << 20   /* per direction: the driver is as fast, without waking threads */
};

/* Out-of-core sorts (sort/cuda/host.c). The first chunk is copied up and the last one down without
 * overlap, twice, so chunks should be small. But for each chunk a thread cuts all runs, which must
 * take less time than the chunk's copy. */
enum {
    LINK_CHUNKS = 32,
    LINK_CHUNK_BYTES = 16 << 20, /* minimum, unless memory is short */
    LINK_MIN_CHUNK = 1024 /* elements: if four such chunks do not fit in memory, the sort fails */
};

/* MSD radix sort of pairs (sort/cuda/msd_pairs.cu): a scatter's tile and blocks per multiprocessor,
 * and those of a leaf. If no copy overlaps with the kernel, a leaf has SORT_PAIRS_LEAF keys. H200,
 * 2026-11-22. */
/* clang-format off */
/*      key value threads items blocks leaf_threads leaf_items leaf_blocks */
#define SORT_PAIRS_TUNING(ROW)                                                                     \
    ROW(4,   4,    512,   16,   2,     288,         16,        4)                                  \
    ROW(4,   8,    512,   12,   2,     288,         16,        3)                                  \
    ROW(4,  16,    512,    6,   2,     576,          8,        2)                                  \
    ROW(8,   4,    512,   12,   2,     512,          9,        3)                                  \
    ROW(8,   8,    512,   10,   2,     576,          8,        2)                                  \
    ROW(8,  16,    512,    6,   2,     576,          8,        2)
/* clang-format on */
enum {
    SORT_PAIRS_LEAF = 4608,      /* keys of the smallest leaf of a row */
    SORT_PAIRS_MIN_BITS = 24,    /* or fewer: a few passes of LSD radix sort are faster */
    SORT_PAIRS_COUNT_BLOCKS = 2, /* per multiprocessor, with a scatter's threads */
    SORT_PAIRS_PIECES = 1024     /* maximum number of blocks that count */
};

/* Pairs of 32-bit keys that are uniform in a sample (sort/cuda/msd_packed.cuh): a tile of the first
 * and of the second level, and blocks per multiprocessor. SHARED: at most this many of 2047
 * neighbours in the sorted sample have the same first 16 bits; of uniform keys, 32 have. H200,
 * 2026-11-22. */
enum {
    SORT_PACKED_MIN = 1 << 25, /* keys: below, the additional launches cost what they save */
    SORT_PACKED_FLOATS_MIN = 1 << 26,
    SORT_PACKED_COUNT_THREADS = 1024,
    SORT_PACKED_THREADS = 256,
    SORT_PACKED_BLOCKS = 3,
    SORT_PACKED_SHARED = 52,
    SORT_PACKED_LARGE = 16 /* of 16 keys, at most one is in a bin that is larger than a leaf */
};
#define SORT_PACKED_ITEMS(level) ((level) ? 20 : 22)
#define SORT_PACKED_FILL(leaf)   ((leaf) / 32 * 25) /* keys of a leaf by mapped digits */

#endif
