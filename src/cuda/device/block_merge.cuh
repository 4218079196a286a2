/*
 * cuda/device/block_merge.cuh - sorts the keys that a block holds in shared memory by merging, in a
 * time that does not depend on their distribution.
 *
 *     runs      each thread sorts 64 bytes of keys in registers, by a network
 *     merges    two adjacent runs become one of twice the length: each thread finds where its
 *               window of the result begins in both runs, and merges from there
 *
 *         keys      | d b | a c | h f | g e |
 *         runs      | b d | a c | f h | e g |
 *         merged    |  a b c d  |  e f g h  |
 *
 * It is for skewed keys: other keys are ranked faster by bins.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_DEVICE_BLOCK_MERGE_CUH
#define ECHI_CUDA_DEVICE_BLOCK_MERGE_CUH

#include "cuda/device/block_range.cuh"

enum {
    MERGE_RUN = 64 / KEY_BYTES, /* keys of an initial run */
    MERGE_EACH = 16 / KEY_BYTES /* keys per vector */
};

/* The keys of a thread; RUNS: the number of initial runs. */
template <int RUNS> struct merge_window {
    enum { KEYS = RUNS * MERGE_RUN, VECTORS = KEYS / MERGE_EACH };
    union {
        uint4 vector[VECTORS];
        ukey key[KEYS];
    };
};

/* The position of key p in shared memory. Words of 16 bytes are permuted within each 64 bytes, so
 * that adjacent threads, which each read 16 bytes, use all banks. */
static __device__ inline uint32_t merge_place(uint32_t p)
{
    return p ^ (p >> 3 & 3 * MERGE_EACH);
}

/* Sorts each run of a window. */
template <int RUNS> static __device__ inline void window_order(struct merge_window<RUNS> &w)
{
#define COMPARE(i, j)                                                                              \
    {                                                                                              \
        const ukey x = w.key[first + (i)], y = w.key[first + (j)];                                 \
        w.key[first + (i)] = key_min(x, y);                                                        \
        w.key[first + (j)] = key_max(x, y);                                                        \
    }
#pragma unroll
    for (int first = 0; first < RUNS * MERGE_RUN; first += MERGE_RUN) {
#if KEY_BYTES == 4
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
}

/* For two runs, [from, middle) and [middle, end): how many of the first `count` keys of the merged
 * run are from the first run. */
static __device__ inline uint32_t merge_split(const ukey *keys, uint32_t from, uint32_t middle,
                                              uint32_t end, uint32_t count)
{
    uint32_t low = count > end - middle ? count - (end - middle) : 0;
    uint32_t high = min(count, middle - from);
    while (low < high) {
        const uint32_t i = (low + high) / 2;
        if (keys[merge_place(from + i)] <= keys[merge_place(middle + count - 1 - i)])
            low = i + 1;
        else
            high = i;
    }
    return low;
}

/* The window that begins at position `count` of the merged run. */
template <int RUNS>
static __device__ inline void merge_runs(const ukey *keys, uint32_t from, uint32_t middle,
                                         uint32_t end, uint32_t count, struct merge_window<RUNS> &w)
{
    const uint32_t split = merge_split(keys, from, middle, end, count);
    uint32_t x = from + split, y = middle + count - split;
    ukey first = keys[merge_place(x)]; /* not used if x is middle */
    ukey second = keys[merge_place(min(y, end - 1))];
#pragma unroll
    for (int k = 0; k < merge_window<RUNS>::KEYS; k++) {
        const bool take = y == end || (x < middle && first <= second);
        w.key[k] = take ? first : second;
        if (take)
            x++;
        else
            y++;
        const ukey next = keys[merge_place(min(take ? x : y, end - 1))];
        if (take)
            first = next;
        else
            second = next;
    }
}

/* A thread waits for the threads whose keys are merged with its own: those of its warp, or of the
 * block. */
static __device__ inline void merge_wait(uint32_t threads)
{
    if (threads <= 32)
        __syncwarp(); /* all lanes have written, or read */
    else
        __syncthreads(); /* all threads have written, or read */
}

/* Sorts `count` keys; there must be a thread for each window of them. Key p is at merge_place(p),
 * whichever thread wrote it; every thread of the block calls this function, and can then read the
 * result. */
template <int RUNS> static __device__ inline void block_merge(ukey *keys, uint32_t count)
{
    typedef struct merge_window<RUNS> window;
    const uint32_t me = threadIdx.x, at = me * window::KEYS;
    const uint32_t all = (count + window::KEYS - 1) / window::KEYS * window::KEYS;
    if (count + me < all) keys[merge_place(count + me)] = (ukey) ~(ukey)0; /* stays last */
    __syncthreads(); /* all keys are written */
    window w;
    if (at < all) {
#pragma unroll
        for (int j = 0; j < window::VECTORS; j++)
            w.vector[j] = *(const uint4 *)&keys[merge_place(at + j * MERGE_EACH)];
        window_order(w);
    }
    bool moved = at < all;
    for (uint32_t run = MERGE_RUN;; run *= 2) {
        if (moved)
#pragma unroll
            for (int j = 0; j < window::VECTORS; j++)
                *(uint4 *)&keys[merge_place(at + j * MERGE_EACH)] = w.vector[j];
        if (run >= all) break;
        const uint32_t from = at & ~(2 * run - 1), middle = from + run;
        const uint32_t end = min(all, middle + run), threads = 2 * run / window::KEYS;
        merge_wait(threads);
        moved =
            at < all && middle < end && keys[merge_place(middle)] < keys[merge_place(middle - 1)];
        if (moved) merge_runs<RUNS>(keys, from, middle, end, at - from, w);
        merge_wait(threads);
    }
    __syncthreads(); /* the keys are sorted */
}

#endif
