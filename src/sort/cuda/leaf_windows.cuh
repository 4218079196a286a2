/*
 * sort/cuda/leaf_windows.cuh - sorts the words of a leaf, which are placed by bin in shared memory.
 *
 * Each thread sorts a window of words in registers by a network, then the windows that straddle
 * those, and so on:
 *
 *         words     | a b | c d | e f | g h |
 *         round 0   |  sorted   |  sorted   |
 *         round 1         |  sorted   |
 *
 * A bin of c words touches at most (c - 2) / (half a window) + 2 half windows, and is sorted after
 * as many rounds.  The words are keys; with values, 32 bits of a key and its position.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_LEAF_WINDOWS_CUH
#define ECHI_SORT_CUDA_LEAF_WINDOWS_CUH

#include "sort/cuda/msd.cuh"

#if VAL_BYTES || KEY_BYTES == 4
#define WINDOW_NETWORK 16
typedef uint32_t leaf_word;
#else
#define WINDOW_NETWORK 8
typedef ukey leaf_word;
#endif

enum {
    WINDOW = WINDOW_NETWORK, /* words: 64 bytes */
    WINDOW_VECTORS = 4,
    WINDOW_EACH = WINDOW / WINDOW_VECTORS,
    LEAF_ROUNDS = 16 /* maximum; leaves that need more are left to another kernel */
};

/* The location of word p in shared memory: units of 16 bytes are permuted within 64 bytes, so that
 * adjacent threads, each of which reads 64 bytes, use all banks. */
static __device__ inline uint32_t leaf_place(uint32_t p)
{
    return p ^ (p >> 3 & 3 * WINDOW_EACH);
}

/* Sorts the window that begins at p, a multiple of half a window; MERGE: each half is already
 * sorted. */
template <int MERGE> static __device__ inline void window_sort(leaf_word *words, uint32_t p)
{
    union {
        uint4 vector[WINDOW_VECTORS];
        leaf_word word[WINDOW];
    } w;
#pragma unroll
    for (int j = 0; j < WINDOW_VECTORS; j++)
        w.vector[j] = *(const uint4 *)&words[leaf_place(p + j * WINDOW_EACH)];
#define COMPARE(i, j)                                                                              \
    {                                                                                              \
        const leaf_word x = w.word[i], y = w.word[j];                                              \
        w.word[i] = x < y ? x : y;                                                                 \
        w.word[j] = x < y ? y : x;                                                                 \
    }
    if (MERGE) {
#if WINDOW_NETWORK == 16
#define MERGE_16
#include "sort/network.def"
#undef MERGE_16
#else
#define MERGE_8
#include "sort/network.def"
#undef MERGE_8
#endif
    } else {
#if WINDOW_NETWORK == 16
#define NETWORK_16
#include "sort/network.def"
#undef NETWORK_16
#else
#define NETWORK_8
#include "sort/network.def"
#undef NETWORK_8
#endif
    }
#undef COMPARE
#pragma unroll
    for (int j = 0; j < WINDOW_VECTORS; j++)
        *(uint4 *)&words[leaf_place(p + j * WINDOW_EACH)] = w.vector[j];
}

/* Sorts words that are in order by bin; words past the last window are not modified.  A window that
 * straddles two others has one half of each, so after the first round the halves are merged.
 * THREADS: of the block. */
template <int THREADS>
static __device__ inline void windows_sort(leaf_word *words, uint32_t count, uint32_t rounds)
{
    const uint32_t windows = (count - 1) / WINDOW + 1;
    if (rounds == 0) return;
    for (uint32_t w = threadIdx.x; w < windows; w += THREADS) window_sort<0>(words, w * WINDOW);
    __syncthreads(); /* the windows are sorted */
    for (uint32_t round = 1; round < rounds; round++) {
        const uint32_t across = round & 1;
        for (uint32_t w = threadIdx.x; w < windows - across; w += THREADS)
            window_sort<1>(words, w * WINDOW + across * (WINDOW / 2));
        __syncthreads(); /* the next round's windows straddle these */
    }
}

#endif
