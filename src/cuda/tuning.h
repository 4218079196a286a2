/*
 * cuda/tuning.h - numbers measured on a GPU, in columns; both halves of the backend read them.
 *
 * A tile is what one block sorts at a time: threads x items keys.  Larger tiles write longer runs
 * and look back less often; smaller ones leave room for more blocks.  One row serves every
 * architecture until one is measured to want its own; shared memory stays within what sm_75 has, 64
 * KiB.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_TUNING_H
#define ECHI_CUDA_TUNING_H

/* threads, items, blocks: of sort_onesweep; blocks: least number resident on a multiprocessor.
 * alone: items of sort_block_large.  H200, 2026-11-20. */
/* clang-format off */
/*      key value threads items blocks alone */
#define SORT_TUNING(ROW)                                                                           \
    ROW(1,   0,    384,   22,   3,    16)                                                          \
    ROW(1,   4,    512,   20,   2,     8)                                                          \
    ROW(1,   8,    512,   15,   2,     8)                                                          \
    ROW(1,  16,    384,   10,   2,     6)                                                          \
    ROW(2,   0,    384,   24,   3,    16)                                                          \
    ROW(2,   4,    512,   20,   2,     8)                                                          \
    ROW(2,   8,    512,   15,   2,     8)                                                          \
    ROW(2,  16,    384,   10,   2,     6)                                                          \
    ROW(4,   0,    384,   22,   3,    12)                                                          \
    ROW(4,   4,    512,   20,   2,     8)                                                          \
    ROW(4,   8,    512,   15,   2,     8)                                                          \
    ROW(4,  16,    384,   10,   2,     6)                                                          \
    ROW(8,   0,    512,   15,   2,     7)                                                          \
    ROW(8,   4,    512,   15,   2,     6)                                                          \
    ROW(8,   8,    512,   12,   2,     6)                                                          \
    ROW(8,  16,    384,   10,   2,     6)
/* clang-format on */

/* Keys of 16 bits alone (sort/cuda/count.cuh): fewer are not counted, but sorted in two passes. */
enum { SORT_COUNT_LEAST = 1 << 24 };

/* A sort in one block (sort/cuda/small.cuh): threads, and keys of a thread; items of
 * sort_block_large are above.  H200, 2026-11-22. */
enum {
    SORT_BLOCK_SMALL_THREADS = 512,
    SORT_BLOCK_SMALL_ITEMS = 2,
    SORT_BLOCK_MEDIUM_THREADS = 1024,
    SORT_BLOCK_MEDIUM_ITEMS = 4,
    SORT_BLOCK_LARGE_THREADS = 1024
};

/* Sample sort (sort/cuda/sample.cu): buckets of so few keys, until there are as many as a large GPU
 * has multiprocessors, then multiples of that, while there may be more.  items: keys that a thread
 * can hold, on sm_75 (narrow) and on what came after.  H200, 2026-11-22. */
enum {
    SORT_SAMPLE_THREADS = 1024,
    SORT_SAMPLE_WAVE = 128,
    SORT_SAMPLE_LEAST_KEYS = 256,
    SORT_SAMPLE_MOST_BYTES = 1 << 23, /* of keys alone */
    SORT_SAMPLE_MOST_VALUES = 1 << 20 /* keys with values */
};
/* Keys: below, samplesort is chosen; from so many on, sorts by most significant digits. */
#define SORT_MSD_LEAST(key_bytes, floats)                                                          \
    ((key_bytes) == 8 && !(floats) ? (1u << 18) + 1 : (1u << 19) + 1)
#define SORT_SAMPLE_BUCKETS(value_bytes) ((value_bytes) ? 256u : 512u) /* most */
#define SORT_SAMPLE_KEYS(key_bytes)      ((key_bytes) == 8 ? 2048u : 4096u)
#define SORT_SAMPLE_ITEMS(key_bytes, value_bytes, narrow)                                          \
    (!(narrow) ? ((key_bytes) == 8 ? 7u : 10u) : (key_bytes) == 4 ? 6u : (value_bytes) ? 4u : 3u)

/* Most significant digit first (sort/cuda/msd.cu): how much a thread has of a tile, in registers,
 * and of a leaf, which is made of windows of 64 bytes.  blocks: resident on a multiprocessor.
 * H200, 2026-11-22. */
enum {
    SORT_MSD_COUNT_PLAN_KEYS = 2048, /* ... by blocks of so many, or more */
    SORT_BUCKETS_LEAST = 1 << 25,    /* keys: below, the first level has digits, not buckets */
    SORT_BUCKETS_BIN_BITS = 15,      /* at most, of the bins that buckets are made of */
    SORT_BUCKETS_THREADS = 1024,
    SORT_MSD_THREADS = 512,
    SORT_MSD_THREAD_BYTES = 112,
    SORT_MSD_BLOCKS = 2,
    SORT_MSD_COUNT_THREADS = 512,
    SORT_MSD_COUNT_BLOCKS = 2,
    SORT_LEAF_THREADS = 512,
    SORT_LEAF_THREAD_BYTES = 72, /* of a large leaf twice that */
    SORT_LEAF_BLOCKS = 3,
    SORT_LEAF_LARGE_BLOCKS = 2,
    SORT_LEAF_BINS_LOG = 12,
    SORT_SKEWED_LEAF_THREADS = 576, /* each has 64 bytes of a leaf, or of a large one twice that */
    SORT_SKEWED_LEAF_BLOCKS = 2
};

/* Small arrays, of fewer keys: their first level is counted and planned at once.  Where keys are
 * skewed (sort/cuda/small_lsd.cuh), so many blocks at most sort them by least significant digits,
 * each so many keys or more; a group of blocks has a row of sums.
 *
 * They are skewed where of 100 keys of a sample, so many (share) are in bins of their first bits
 * that seem to have more than so many leaves, unless half of such a bin is one key: then levels are
 * as fast, but for keys of 32 bits, up to so many, that are one tile a block (equal).  Of no
 * more than so many different keys, levels are faster.  H200, 2026-11-22. */
#define SORT_MSD_SMALL(key_bytes) ((key_bytes) == 8 ? 1u << 23 : 1u << 24)
enum {
    SORT_SMALL_LSD_BLOCKS = 512,
    SORT_SMALL_LSD_KEYS = 4096,
    SORT_SMALL_LSD_GROUP = 16,
    SORT_SMALL_LSD_SAMPLES = 4, /* a thread */
    SORT_SMALL_LSD_SHARE = 10,
    SORT_SMALL_LSD_DIFFERENT = 32
};
#define SORT_SMALL_LSD_LEAVES(key_bytes, value_bytes)                                              \
    ((key_bytes) == 8 ? 2u : (value_bytes) ? 4u : 8u)
#define SORT_SMALL_LSD_EQUAL(key_bytes, value_bytes)                                               \
    ((key_bytes) == 8 ? 0u : (24u << 20) / ((key_bytes) + (value_bytes)))

/* Floats by digits of values (sort/cuda/msd_value.cuh), of so many keys or more, unless it is
 * named: below, bins of bits make leaves, too, and choosing takes longer than it saves. */
#define SORT_VALUE_DIGITS_LEAST(key_bytes) ((key_bytes) == 8 ? 1u << 25 : 1u << 26)

/* Skewed keys (sort/cuda/skewed.cuh) are sorted by least significant digits, of so many keys or
 * more; a block of so many threads looks at a sample of two keys each.  bits: that neighbours in
 * the sorted sample share, of 100 that differ at least so many (share), where keys are skewed.
 * equal: of 100 keys so many are one key, for which passes over keys alone of 32 bits are slow, and
 * so are levels of pairs.  H200, 2026-11-22. */
enum { SORT_SKEWED_THREADS = 1024, SORT_LSD_COUNT_BLOCKS = 3 /* a multiprocessor */ };
#define SORT_SKEWED_LEAST(key_bytes)              ((key_bytes) == 8 ? 1u << 23 : 1u << 24)
#define SORT_SKEWED_BITS(key_bytes, value_bytes)  ((key_bytes) == 8 ? 22 : (value_bytes) ? 17 : 20)
#define SORT_SKEWED_SHARE(key_bytes, value_bytes) ((key_bytes) == 4 && (value_bytes) ? 10 : 30)
#define SORT_SKEWED_EQUAL(value_bytes)            ((value_bytes) ? 60 : 20)

/* The sort that needs little workspace (sort/cuda/low_memory.c): a workspace for
 * 2 / SORT_LOW_MEMORY_BLOCKS of the array, which is sorted SORT_LOW_MEMORY_BLOCKS - 1 times.
 * Chosen, not measured. */
enum { SORT_LOW_MEMORY_BLOCKS = 8, SORT_LOW_MEMORY_LEAST = 1 << 14 };

/* Copies of host memory (exchange.c).  H200 on 16 cores, 2026-11-22, GB/s of 1 GiB each way, both
 * at once, between pinned memory and the device, by the size of a copy:
 *     32 MiB  50      4 MiB  48      2 MiB  46      1 MiB  44
 * and in a second stream for each way the same.  Sorts of 2^28 u32 keys in parts, ms, pinned and
 * pageable, where parts are copies by themselves, and by what they are parts of:
 *     2 MiB, 12 threads   51, 52      8 MiB, 12 threads   49, 47      8 MiB, 14 threads   49, 46
 * With these 14 and one that conducts, pinned memory is sorted 3 ms sooner if it is filled into
 * slots on its first way up: beside threads that write memory, the link reads memory at 45 GB/s,
 * and what is in the cache at 51.  The driver's own way: 8 up and 16 down; pinning the memory
 * first: 32, before anything is copied. */
enum {
    LINK_THREADS = 14,
    LINK_COPY_BYTES = 8 << 20,
    LINK_PART_BYTES = 512 << 10,  /* of a copy, for a thread */
    LINK_LEAST_BYTES = 128 << 10, /* of a part */
    LINK_SMALL_BYTES = 1 << 20    /* each way: as good by the driver, without waking threads */
};

/* Sorts of host memory in parts (sort/cuda/host.c).  The first chunk comes alone and the last one
 * leaves alone, twice, so that chunks should be small; but of each, a thread cuts all runs in less
 * time than the chunk is on the link. */
enum {
    LINK_CHUNKS = 32,
    LINK_CHUNK_BYTES = 16 << 20, /* smaller ones are not made, unless memory is short */
    LINK_LEAST_CHUNK = 1024      /* elements: with less memory than four such need, it fails */
};

/* Pairs, most significant digit first (sort/cuda/msd_pairs.cu): a scatter's tile, and the blocks
 * that share a multiprocessor; the same of a leaf.  Where nothing is copied beside a kernel, a leaf
 * has SORT_PAIRS_LEAF.  H200, 2026-11-22. */
/* clang-format off */
/*      key value threads items blocks leaf_threads leaf_items leaf_blocks */
#define SORT_PAIRS_TUNING(ROW)                                                                     \
    ROW(4,   4,    512,   16,   2,     288,         16,        4)                                  \
    ROW(4,   8,    512,   12,   2,     288,         16,        3)                                  \
    ROW(4,  16,    512,    6,   2,     576,          8,        2)                                  \
    ROW(8,   4,    512,   10,   2,     576,          8,        2)                                  \
    ROW(8,   8,    512,   10,   2,     576,          8,        2)                                  \
    ROW(8,  16,    512,    6,   2,     576,          8,        2)
/* clang-format on */
enum {
    SORT_PAIRS_LEAF = 4608,      /* keys, of the least leaf of a row */
    SORT_PAIRS_LEAST_BITS = 24,  /* of at most so many, a few passes by digits are faster */
    SORT_PAIRS_COUNT_BLOCKS = 2, /* a multiprocessor, of a scatter's threads */
    SORT_PAIRS_PIECES = 1024     /* at most so many blocks count */
};

/* Pairs of 32-bit keys that look even in a sample (sort/cuda/msd_packed.cuh): a tile of the first
 * and of the second level, and the blocks of a multiprocessor; shared: of 2047 neighbours in the
 * sorted sample at most so many have the same first 16 bits, where 32 of even keys have.  H200,
 * 2026-11-22. */
enum {
    SORT_PACKED_LEAST = 1 << 25, /* keys: below, the launches take what they save */
    SORT_PACKED_COUNT_THREADS = 1024,
    SORT_PACKED_THREADS = 256,
    SORT_PACKED_BLOCKS = 3,
    SORT_PACKED_SHARED = 52
};
#define SORT_PACKED_ITEMS(level) ((level) ? 20 : 24)

#endif
