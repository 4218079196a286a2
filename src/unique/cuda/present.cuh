/*
 * unique/cuda/present.cuh - distinct keys of 8 or 16 bits without a sort: one bit for each value.
 *
 *     mark    a block sets the bits of the values of its keys, in shared memory
 *     merge   it sets those bits that are not yet set in global memory
 *     pack    the last block to finish writes the values whose bits are set, in ascending order
 *
 *     bit u   is that of the key with the bits u.  The order is that of f = u ^ (sign | (negative
 *             float ? ~0 : 0)): a word of bits by f is a word of bits by u, or is reversed.
 *
 * For floats, the first positions of zero and of NaN are found too, because the first of equal keys
 * is written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_UNIQUE_CUDA_PRESENT_CUH
#define ECHI_UNIQUE_CUDA_PRESENT_CUH

#include "cuda/device/order.cuh"
#include "select/cuda/tile.cuh"
#include "unique/cuda/common.h"

enum {
    VALUES = 1 << KEY_BITS,
    PRESENT_WORDS = VALUES / 32,
    PRESENT_ROWS = PRESENT_WORDS / UNIQUE_THREADS ? PRESENT_WORDS / UNIQUE_THREADS : 1,
    VECTOR_KEYS = 16 / KEY_BYTES,
    VECTORS = 4 /* that a thread loads at once */
};

static_assert((int)PRESENT_WORDS <= (int)UNIQUE_PRESENT_WORDS, "the host provides fewer words");

struct present_shared {
    uint32_t bits[PRESENT_WORDS]; /* by the bits of the key */
    unsigned long long zero, nan; /* complements of first positions */
    uint32_t sums[WARPS];
    uint32_t last; /* whether this block is the last one */
};

/* The first zero and NaN that a thread has found, as complements of positions. */
struct found {
    uint64_t zero, nan;
};

/* ---- Mark ---- */

static __device__ inline bool is_marked(const struct present_shared &s, uint32_t u)
{
    return load_shared(s.bits + u / 32) >> u % 32 & 1;
}

static __device__ inline void mark(const struct unique_args &a, struct present_shared &s,
                                   uint32_t u, uint64_t i, struct found &first)
{
    if (!is_marked(s, u)) atomicOr(s.bits + u / 32, 1u << u % 32);
    if (KEY_BITS == 8 || !a.order.float_mask) return;
    const uint32_t magnitude = u & (VALUES / 2 - 1);
    if (magnitude == 0) first.zero = max(first.zero, ~i);
    if (magnitude > a.infinity) first.nan = max(first.nan, ~i);
}

/* Whether a float is a zero or a NaN, or an infinity. */
static __device__ inline bool is_special(const struct unique_args &a, uint32_t u)
{
    return ((u << 1 & (VALUES - 1)) - 1) >= a.infinity * 2 - 1;
}

/* The keys of a vector whose first one is key i. */
static __device__ inline void mark_vector(const struct unique_args &a, struct present_shared &s,
                                          const uint4 &v, uint64_t i, struct found &first)
{
    const uint32_t words[4] = { v.x, v.y, v.z, v.w };
    uint32_t all = 1, special = 0;
#pragma unroll
    for (int k = 0; k < VECTOR_KEYS; k++) {
        const uint32_t u = words[k * KEY_BYTES / 4] >> k * KEY_BITS % 32 & (VALUES - 1);
        all &= load_shared(s.bits + u / 32) >> u % 32;
        if (KEY_BITS == 16) special |= is_special(a, u);
    }
    if (all && !(special && a.order.float_mask)) return;
#pragma unroll 1
    for (int k = 0; k < VECTOR_KEYS; k++) {
        const uint32_t word = k * KEY_BYTES < 8    ? k * KEY_BYTES < 4 ? v.x : v.y
                              : k * KEY_BYTES < 12 ? v.z
                                                   : v.w;
        mark(a, s, word >> k * KEY_BITS % 32 & (VALUES - 1), i + k, first);
    }
}

/* All keys: whole vectors, and those before and after them. */
static __device__ inline struct found mark_all(const struct unique_args &a,
                                               struct present_shared &s)
{
    struct found first = { 0, 0 };
    const ukey *in = (const ukey *)a.in;
    const uint64_t thread = (uint64_t)blockIdx.x * UNIQUE_THREADS + threadIdx.x;
    const uint64_t step = (uint64_t)gridDim.x * UNIQUE_THREADS;
    const uint64_t head = min(-(uintptr_t)in % 16 / KEY_BYTES, a.n);
    const uint64_t vectors = (a.n - head) / VECTOR_KEYS, tail = head + vectors * VECTOR_KEYS;
    const uint4 *from = (const uint4 *)(in + head);
    for (uint64_t i = thread; i < vectors; i += VECTORS * step) {
        uint4 v[VECTORS];
#pragma unroll
        for (int q = 0; q < VECTORS; q++)
            if (i + q * step < vectors) v[q] = __ldcs(from + i + q * step);
#pragma unroll
        for (int q = 0; q < VECTORS; q++)
            if (i + q * step < vectors)
                mark_vector(a, s, v[q], head + (i + q * step) * VECTOR_KEYS, first);
    }
    if (thread < head) mark(a, s, in[thread], thread, first);
    if (tail + thread < a.n) mark(a, s, in[tail + thread], tail + thread, first);
    return first;
}

/* ---- Merge ---- */

/* Adds the block's bits to those of all blocks; whether it is the last block, which then has the
 * bits of all. */
static __device__ inline bool merge(const struct unique_args &a, struct present_shared &s)
{
    if (gridDim.x == 1) return true;
    for (uint32_t w = threadIdx.x; w < PRESENT_WORDS; w += UNIQUE_THREADS) {
        const uint32_t bits = s.bits[w];
        if (bits & ~load_relaxed(a.bits + w)) atomicOr(a.bits + w, bits);
    }
    if (threadIdx.x == 0) {
        if (s.zero) atomicMax((unsigned long long *)&a.firsts->zero, s.zero);
        if (s.nan) atomicMax((unsigned long long *)&a.firsts->nan, s.nan);
    }
    __syncthreads(); /* every thread has added its words */
    if (threadIdx.x == 0) {
        __threadfence(); /* orders what the block has added before its atomic */
        s.last = atomicAdd((unsigned long long *)a.words, 1ull) == gridDim.x - 1;
        __threadfence(); /* ... and what other blocks added before */
    }
    __syncthreads(); /* it is known whether the block is the last */
    if (!s.last) return false;
    for (uint32_t w = threadIdx.x; w < PRESENT_WORDS; w += UNIQUE_THREADS) {
        s.bits[w] = load_relaxed(a.bits + w);
        if (a.clear) a.bits[w] = 0;
    }
    if (threadIdx.x == 0) {
        s.zero = load_relaxed_u64(&a.firsts->zero);
        s.nan = load_relaxed_u64(&a.firsts->nan);
        if (a.clear) {
            a.words[0] = 0;
            *a.firsts = {};
        }
    }
    __syncthreads(); /* the bits of all blocks are in shared memory */
    return true;
}

/* ---- Pack ---- */

/* Word w of the bits by f. */
static __device__ inline uint32_t ordered_word(const struct unique_args &a,
                                               const struct present_shared &s, uint32_t w)
{
    const uint32_t sign = a.order.sign ? PRESENT_WORDS / 2 : 0;
    if (a.order.float_mask && w < sign) return __brev(s.bits[PRESENT_WORDS - 1 - w]);
    return s.bits[w ^ sign];
}

/* The bits of keys from low to high, of 32 from `begin` on. */
static __device__ inline uint32_t bits_within(uint32_t begin, uint32_t low, uint32_t high)
{
    uint32_t bits = WARP_ALL;
    if (low > begin) bits = low - begin < 32 ? bits << (low - begin) : 0;
    if (high < begin) return 0;
    if (high - begin < 31) bits &= (2u << (high - begin)) - 1;
    return bits;
}

static __device__ inline ukey key_of(const struct unique_args &a, uint32_t f)
{
    const bool negative = a.order.float_mask && f < VALUES / 2;
    return (ukey)(negative ? ~f : f ^ (uint32_t)a.order.sign);
}

static __device__ inline void pack(const struct unique_args &a, struct present_shared &s)
{
    const uint32_t low = (uint32_t)a.order.shift, warp = threadIdx.x / 32;
    const bool floats = KEY_BITS == 16 && a.order.float_mask;
    const uint32_t high = floats ? (uint32_t)a.order.last - 1 + low : VALUES - 1;
    const bool zeros = floats && s.bits[0] & 1 && s.bits[PRESENT_WORDS / 2] & 1;
    const ukey *in = (const ukey *)a.in;
    ukey *values = (ukey *)a.values;
    uint32_t word[PRESENT_ROWS], through[PRESENT_ROWS], own = 0, total;
#pragma unroll
    for (int j = 0; j < PRESENT_ROWS; j++) { /* a lane holds a word of each row */
        const uint32_t w = (warp * PRESENT_ROWS + j) * 32 + lane_id();
        word[j] = w < PRESENT_WORDS ? ordered_word(a, s, w) & bits_within(32 * w, low, high) : 0;
        if (zeros && w == PRESENT_WORDS / 2) word[j] &= ~1u; /* +0 is the run of -0 */
        through[j] = own + warp_scan(__popc(word[j]));
        own = __shfl_sync(WARP_ALL, through[j], 31);
    }
    if (lane_id() == 0) s.sums[warp] = own;
    __syncthreads(); /* every warp has its sum */
    const uint32_t before = warps_before(s.sums, &total);
    if (threadIdx.x == 0) {
        *a.count = total + (s.nan != 0);
        if (values && s.nan) values[total] = in[~s.nan];
    }
    if (!values) return;
#pragma unroll
    for (int j = 0; j < PRESENT_ROWS; j++)
        for (uint32_t some = __ballot_sync(WARP_ALL, word[j] != 0); some; some &= some - 1) {
            const int from = __ffs((int)some) - 1;
            const uint32_t bits = __shfl_sync(WARP_ALL, word[j], from);
            const uint32_t rank = before + __shfl_sync(WARP_ALL, through[j], from) - __popc(bits);
            const uint32_t f = ((warp * PRESENT_ROWS + j) * 32 + from) * 32 + lane_id();
            if (!(bits >> lane_id() & 1)) continue;
            values[rank + __popc(bits & lanes_below())] =
                zeros && f == VALUES / 2 - 1 ? in[~s.zero] : key_of(a, f);
        }
}

static __device__ inline uint64_t warp_most(uint64_t x)
{
#pragma unroll
    for (int step = 16; step; step /= 2)
        x = max(x, (uint64_t)__shfl_xor_sync(WARP_ALL, (unsigned long long)x, step));
    return x;
}

static __device__ inline void find_present(const struct unique_args &a, struct present_shared &s)
{
    for (uint32_t w = threadIdx.x; w < PRESENT_WORDS; w += UNIQUE_THREADS) s.bits[w] = 0;
    if (threadIdx.x == 0) s.zero = s.nan = 0;
    __syncthreads(); /* no bit is set */
    wait_for_earlier();
    struct found first = mark_all(a, s);
    if (KEY_BITS == 16 && a.order.float_mask) {
        first.zero = warp_most(first.zero);
        first.nan = warp_most(first.nan);
        if (lane_id() == 0 && first.zero) atomicMax(&s.zero, (unsigned long long)first.zero);
        if (lane_id() == 0 && first.nan) atomicMax(&s.nan, (unsigned long long)first.nan);
    }
    __syncthreads(); /* all bits of the block are set */
    if (merge(a, s)) pack(a, s);
}

#endif
