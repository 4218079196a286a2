/*
 * search/cuda/tree.cuh - a search in a tree of samples: its levels, and the kernels that make and
 * read them.
 *
 *     sorted      | window 0 | window 1 | window 2 | ...          128 bytes each
 *     level 1             x          x          x     ...         the last key of each window
 *     level 2                                   x     ...         the last key of each sector of
 *     ...                                                         32 bytes
 *     top         at most 4095 keys, as a binary tree in shared memory
 *
 * How many keys of a level are less than the needle is the number of the sector or window below it
 * that contains its position. The last sector and the last window have no key above them. Levels
 * contain codes, and after the last key up to the end of its sector, codes of all ones, which are
 * not less than any needle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SEARCH_CUDA_TREE_CUH
#define ECHI_SEARCH_CUDA_TREE_CUH

#include "search/cuda/needle.cuh"

enum { WINDOW = SEARCH_WINDOW(KEY_BYTES), SECTOR = SEARCH_SECTOR(KEY_BYTES) };

/* ---- The levels ---- */

extern "C" __global__ void __launch_bounds__(SEARCH_THREADS)
    search_build(const __grid_constant__ struct search_args a)
{
    const uint64_t first = (uint64_t)blockIdx.x * SEARCH_THREADS + threadIdx.x;
    const uint64_t step = (uint64_t)gridDim.x * SEARCH_THREADS;
    wait_for_earlier();
    for (uint64_t i = first; i < a.count[1]; i += step) {
        const ukey *sorted = (const ukey *)a.sorted;
        const ukey code = merge_form(a.order, __ldcs(sorted + (i * WINDOW + WINDOW - 1)));
        uint64_t keys = i + 1; /* of this level, up to this one */
        ((ukey *)a.level[1])[i] = code;
        for (uint32_t l = 2; l <= a.levels && keys % SECTOR == 0; l++) {
            keys /= SECTOR;
            if (keys > a.count[l]) break;
            ((ukey *)a.level[l])[keys - 1] = code;
        }
    }
    if (first < SECTOR) /* the end of each level, up to a complete sector */
        for (uint32_t l = 1; l <= a.levels; l++) {
            const uint64_t i = a.count[l] + first;
            if (i < ((a.count[l] - 1) / SECTOR + 1) * SECTOR)
                ((ukey *)a.level[l])[i] = (ukey) ~(ukey)0;
        }
}

/* Loads the top level as a binary tree in the order of its levels: first the middle key, then those
 * of both halves. Equal steps of different lanes thus read different banks. */
static __device__ inline void load_top(const struct search_args &a, ukey *top)
{
    const uint32_t n = (uint32_t)a.count[a.levels], slots = (1u << a.top_bits) - 1;
    const ukey *from = (const ukey *)(a.levels ? a.level[a.levels] : a.sorted);
    for (uint32_t i = threadIdx.x; i < slots; i += SEARCH_TREE_THREADS) {
        const uint32_t zeros = __ffs(i + 1) - 1, depth = a.top_bits - 1 - zeros;
        ukey code = (ukey) ~(ukey)0;
        if (i < n) code = a.levels ? from[i] : merge_form(a.order, from[i]);
        top[(1u << depth) - 1 + ((i + 1) >> (zeros + 1))] = code;
    }
}

/* ---- The search ---- */

/* 32 bytes of adjacent keys, which are aligned to 16 bytes. */
struct sector {
    uint4 words[2];
};

static __device__ inline struct sector load_sector(const ukey *from)
{
    struct sector s;
#pragma unroll
    for (int w = 0; w < 2; w++) s.words[w] = __ldg((const uint4 *)from + w);
    return s;
}

/* How many of its keys are less than the code. ENCODED: they are codes. */
template <bool ENCODED>
static __device__ inline uint32_t count_less(const struct search_args &a, const struct sector &s,
                                             ukey code)
{
    uint32_t less = 0;
#pragma unroll
    for (int w = 0; w < 2; w++) {
        union {
            uint4 word;
            ukey keys[SECTOR / 2];
        } half;
        half.word = s.words[w];
#pragma unroll
        for (int i = 0; i < SECTOR / 2; i++)
            less += (ENCODED ? half.keys[i] : merge_form(a.order, half.keys[i])) < code;
    }
    return less;
}

/* One level: at[k] counts sectors of it, then its keys. */
template <typename place>
static __device__ inline void descend(const struct search_args &a, const ukey *level,
                                      const struct needle (&x)[SEARCH_ITEMS],
                                      place (&at)[SEARCH_ITEMS])
{
    struct sector keys[SEARCH_ITEMS];
#pragma unroll
    for (int k = 0; k < SEARCH_ITEMS; k++) keys[k] = load_sector(level + at[k] * SECTOR);
#pragma unroll
    for (int k = 0; k < SEARCH_ITEMS; k++)
        at[k] = at[k] * SECTOR + count_less<true>(a, keys[k], x[k].code);
}

/* The sector that begins at key `at` of the array; it may be incomplete. */
template <typename place>
static __device__ inline place count_sector(const struct search_args &a, place at, ukey code)
{
    const ukey *sorted = (const ukey *)a.sorted;
    place less = 0;
    for (int i = 0; i < SECTOR; i++)
        less += at + i < (place)a.n && merge_form(a.order, __ldg(sorted + at + i)) < code;
    return less;
}

/* The sorted array: at[k] counts windows, then keys. */
template <typename place>
static __device__ inline void search_windows(const struct search_args &a,
                                             const struct needle (&x)[SEARCH_ITEMS],
                                             place (&at)[SEARCH_ITEMS])
{
    const ukey *sorted = (const ukey *)a.sorted;
    const bool aligned = (uintptr_t)sorted % 16 == 0;
    const place n = (place)a.n;
#pragma unroll
    for (int k = 0; k < SEARCH_ITEMS; k++) at[k] *= WINDOW;
#pragma unroll
    for (int step = WINDOW / 2; step >= SECTOR; step /= 2) {
        ukey key[SEARCH_ITEMS];
#pragma unroll
        for (int k = 0; k < SEARCH_ITEMS; k++) {
            const place i = at[k] + (step - 1);
            key[k] = __ldg(sorted + (i < n ? i : n - 1));
        }
#pragma unroll
        for (int k = 0; k < SEARCH_ITEMS; k++)
            if (at[k] + (step - 1) < n && merge_form(a.order, key[k]) < x[k].code) at[k] += step;
    }
    struct sector keys[SEARCH_ITEMS];
#pragma unroll
    for (int k = 0; k < SEARCH_ITEMS; k++)
        if (aligned) keys[k] = load_sector(sorted + (at[k] + SECTOR <= n ? at[k] : 0));
#pragma unroll
    for (int k = 0; k < SEARCH_ITEMS; k++)
        if (aligned && at[k] + SECTOR <= n)
            at[k] += count_less<false>(a, keys[k], x[k].code);
        else
            at[k] += count_sector<place>(a, at[k], x[k].code);
}

template <typename place>
static __device__ inline void search_tree_tile(const struct search_args &a, uint64_t tile,
                                               const ukey *top)
{
    const uint64_t first = tile * SEARCH_TREE_TILE + threadIdx.x;
    struct needle x[SEARCH_ITEMS];
    place at[SEARCH_ITEMS];
#pragma unroll
    for (int k = 0; k < SEARCH_ITEMS; k++) {
        const uint64_t i = first + k * SEARCH_TREE_THREADS;
        x[k] = needle_at(a, i < a.m ? i : a.m - 1);
    }
    uint32_t slot[SEARCH_ITEMS] = { 0 };
    for (uint32_t b = 0; b < a.top_bits; b++) {
#pragma unroll
        for (int k = 0; k < SEARCH_ITEMS; k++)
            slot[k] = 2 * slot[k] + 1 + (top[slot[k]] < x[k].code);
    }
#pragma unroll
    for (int k = 0; k < SEARCH_ITEMS; k++) at[k] = slot[k] - ((1u << a.top_bits) - 1);
    if (a.levels) {
        for (uint32_t l = a.levels - 1; l > 0; l--)
            descend<place>(a, (const ukey *)a.level[l], x, at);
        search_windows<place>(a, x, at);
    }
#pragma unroll
    for (int k = 0; k < SEARCH_ITEMS; k++) {
        const uint64_t i = first + k * SEARCH_TREE_THREADS;
        if (i < a.m) store_position(a, i, x[k].after_all ? a.n : (uint64_t)at[k]);
    }
}

extern "C" __global__ void
__launch_bounds__(SEARCH_TREE_THREADS, RESIDENT_BLOCKS(SEARCH_TREE_BLOCKS, SEARCH_TREE_THREADS))
    search_tree(const __grid_constant__ struct search_args a)
{
    __shared__ ukey top[SEARCH_TOP];
    wait_for_earlier();
    load_top(a, top);
    __syncthreads(); /* the top level is loaded */
    for (uint64_t tile = blockIdx.x; tile < a.tiles; tile += gridDim.x) {
        if (a.n < (uint64_t)1 << 31)
            search_tree_tile<uint32_t>(a, tile, top);
        else
            search_tree_tile<uint64_t>(a, tile, top);
    }
}

#endif
