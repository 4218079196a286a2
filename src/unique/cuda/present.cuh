/*
 * unique/cuda/present.cuh - distinct keys of 8 or 16 bits without a sort: one byte, then one bit
 * for each value.
 *
 *     mark    a block sets the bytes of the values of its keys, in shared memory, and converts
 *             them to bits
 *     merge   it sets those bits that are not yet set in global memory
 *     pack    the last block to finish writes the values whose bits are set, in ascending order
 *
 *     bit u   is that of the key with the bits u.  The order is that of f = u ^ (sign | (negative
 *             float ? ~0 : 0)): a word of bits by f is a word of bits by u, or is reversed.
 *
 * Stores of a byte need no atomic, because all threads store the same number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_UNIQUE_CUDA_PRESENT_CUH
#define ECHI_UNIQUE_CUDA_PRESENT_CUH

#include "cuda/device/order.cuh"
#include "select/cuda/tile.cuh"
#include "unique/cuda/common.h"

extern __shared__ __align__(16) unsigned char shared_bytes[];

enum {
    VALUES = 1 << KEY_BITS,
    PRESENT_WORDS = VALUES / 32,
    PRESENT_ROWS = PRESENT_WORDS / UNIQUE_THREADS ? PRESENT_WORDS / UNIQUE_THREADS : 1,
    VECTOR_KEYS = 16 / KEY_BYTES,
    VECTORS = 4 /* that a thread loads at once */
};

static_assert(PRESENT_ROWS * WARPS <= 64, "the sums of rows are scanned by two per lane");

union present_shared {
    uint8_t seen[VALUES]; /* 1: a key of the block has this value */
    uint4 vectors[VALUES / 16];
    struct { /* then */
        uint32_t bits[PRESENT_WORDS];
        uint32_t sums[PRESENT_ROWS * WARPS];
        unsigned long long first; /* a position */
    };
};

static_assert(sizeof(union present_shared) <= UNIQUE_PRESENT_SHARED(KEY_BYTES),
              "the host gives less shared memory");

/* ---- Mark ---- */

static __device__ inline void mark_vector(union present_shared &s, const uint4 &v)
{
    const uint32_t words[4] = { v.x, v.y, v.z, v.w };
#pragma unroll
    for (int k = 0; k < VECTOR_KEYS; k++)
        store_shared_u8(s.seen + (words[k * KEY_BYTES / 4] >> k * KEY_BITS % 32 & (VALUES - 1)), 1);
}

/* All keys: whole vectors, and those before and after them. */
static __device__ inline void mark_all(const struct unique_args &a, union present_shared &s)
{
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
            if (i + q * step < vectors) mark_vector(s, v[q]);
    }
    if (thread < head) store_shared_u8(s.seen + in[thread], 1);
    if (tail + thread < a.n) store_shared_u8(s.seen + in[tail + thread], 1);
}

/* The word of a thread's row: words of bits are distributed to rows, then warps, then lanes. */
static __device__ inline uint32_t word_of(int row)
{
    return row * UNIQUE_THREADS + threadIdx.x;
}

/* Bytes that are 0 or 1 as bits 0 ... 3: the products of the factor's bits do not collide. */
static __device__ inline uint32_t bits_of(uint32_t x)
{
    return x * 0x10204080u >> 28;
}

static __device__ inline void find_words(const union present_shared &s,
                                         uint32_t (&word)[PRESENT_ROWS])
{
#pragma unroll
    for (int j = 0; j < PRESENT_ROWS; j++) {
        word[j] = 0;
        if (word_of(j) >= PRESENT_WORDS) continue;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const uint4 v = s.vectors[2 * word_of(j) + half];
            word[j] |= (bits_of(v.x) | bits_of(v.y) << 4 | bits_of(v.z) << 8 | bits_of(v.w) << 12)
                       << 16 * half;
        }
    }
}

/* ---- Merge ---- */

/* Adds the block's words to those of all blocks; whether it is the last block, which then has the
 * words of all. */
static __device__ inline bool merge(const struct unique_args &a, uint32_t (&word)[PRESENT_ROWS])
{
    if (gridDim.x == 1) return true;
#pragma unroll
    for (int j = 0; j < PRESENT_ROWS; j++)
        if (word[j] && word[j] & ~load_relaxed(a.bits + word_of(j)))
            atomicOr(a.bits + word_of(j), word[j]);
    __syncthreads(); /* every thread has added its words */
    uint32_t last = 0;
    if (threadIdx.x == 0) {
        __threadfence(); /* orders what the block has added before its atomic */
        last = atomicAdd((unsigned long long *)a.words, 1ull) == gridDim.x - 1;
        __threadfence(); /* ... and what other blocks added before */
    }
    if (!__syncthreads_or((int)last)) return false;
#pragma unroll
    for (int j = 0; j < PRESENT_ROWS; j++) {
        if (word_of(j) >= PRESENT_WORDS) continue;
        word[j] = load_relaxed(a.bits + word_of(j));
        if (a.clear) a.bits[word_of(j)] = 0;
    }
    if (a.clear && threadIdx.x == 0) a.words[0] = 0;
    return true;
}

/* ---- Pack ---- */

/* Word w of the bits by f. */
static __device__ inline uint32_t ordered_word(const struct unique_args &a,
                                               const union present_shared &s, uint32_t w)
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

/* The position of the first zero or NaN, which exists; by all threads. */
static __device__ inline uint64_t find_like(const struct unique_args &a, union present_shared &s,
                                            bool nan)
{
    const uint32_t infinity = (uint32_t)(a.order.last - 1 + a.order.shift) & (VALUES / 2 - 1);
    if (threadIdx.x == 0) s.first = ~0ull;
    uint64_t found = ~(uint64_t)0;
    for (uint64_t begin = 0; !__syncthreads_or(found != ~(uint64_t)0);
         begin += VECTOR_KEYS * UNIQUE_THREADS)
#pragma unroll
        for (int k = 0; k < VECTOR_KEYS; k++) {
            const uint64_t i = begin + k * UNIQUE_THREADS + threadIdx.x;
            const uint32_t u = i < a.n ? ((const ukey *)a.in)[i] & (VALUES / 2 - 1) : 1;
            if (nan ? u > infinity : u == 0) found = min(found, i);
        }
    if (found != ~(uint64_t)0) atomicMin(&s.first, (unsigned long long)found);
    __syncthreads(); /* the first of all threads is known */
    const uint64_t first = s.first;
    __syncthreads(); /* s.first may be written again */
    return first;
}

/* The exclusive prefix sums of the rows; sums[] must contain the sum of each row of each warp. */
static __device__ inline uint32_t rows_before(const union present_shared &s,
                                              uint32_t (&before)[PRESENT_ROWS])
{
    const uint32_t lane = lane_id(), rows = PRESENT_ROWS * WARPS;
    const uint32_t low = lane < rows ? s.sums[lane] : 0;
    const uint32_t high = lane + 32 < rows ? s.sums[lane + 32] : 0;
    const uint32_t through_low = warp_scan(low), half = __shfl_sync(WARP_ALL, through_low, 31);
    const uint32_t through_high = warp_scan(high) + half;
#pragma unroll
    for (int j = 0; j < PRESENT_ROWS; j++) {
        const uint32_t row = j * WARPS + threadIdx.x / 32;
        const uint32_t of_low = __shfl_sync(WARP_ALL, through_low - low, row % 32);
        const uint32_t of_high = __shfl_sync(WARP_ALL, through_high - high, row % 32);
        before[j] = row < 32 ? of_low : of_high;
    }
    return __shfl_sync(WARP_ALL, through_high, 31);
}

/* The words are in s.bits. */
static __device__ inline void pack(const struct unique_args &a, union present_shared &s)
{
    const uint32_t warp = threadIdx.x / 32, low = (uint32_t)a.order.shift;
    const bool floats = KEY_BITS == 16 && a.order.float_mask;
    const uint32_t high = floats ? (uint32_t)a.order.last - 1 + low : VALUES - 1;
    const bool zeros = floats && s.bits[0] & 1 && s.bits[PRESENT_WORDS / 2] & 1;
    const ukey *in = (const ukey *)a.in;
    ukey *values = (ukey *)a.values;
    uint32_t word[PRESENT_ROWS], through[PRESENT_ROWS], before[PRESENT_ROWS], nan = 0;
#pragma unroll
    for (int j = 0; j < PRESENT_ROWS; j++) {
        const uint32_t w = word_of(j);
        const uint32_t all = w < PRESENT_WORDS ? ordered_word(a, s, w) : 0;
        word[j] = all & bits_within(32 * w, low, high);
        nan |= all & ~word[j];
        if (zeros && w == PRESENT_WORDS / 2) word[j] &= ~1u; /* +0 is in the run of -0 */
        through[j] = warp_scan(__popc(word[j]));
        if (lane_id() == 31) s.sums[j * WARPS + warp] = through[j];
    }
    nan = __syncthreads_or((int)nan); /* also: the sums are complete */
    const uint32_t total = rows_before(s, before);
    if (threadIdx.x == 0) *a.count = total + (nan != 0);
    if (!values) return;
    ukey zero = 0;
    if (zeros) zero = in[find_like(a, s, false)];
    if (nan) {
        const uint64_t first = find_like(a, s, true);
        if (threadIdx.x == 0) values[total] = in[first];
    }
#pragma unroll
    for (int j = 0; j < PRESENT_ROWS; j++)
        for (uint32_t some = __ballot_sync(WARP_ALL, word[j] != 0); some; some &= some - 1) {
            const int from = __ffs((int)some) - 1;
            const uint32_t bits = __shfl_sync(WARP_ALL, word[j], from);
            const uint32_t rank =
                before[j] + __shfl_sync(WARP_ALL, through[j], from) - __popc(bits);
            const uint32_t f = (j * UNIQUE_THREADS + warp * 32 + from) * 32 + lane_id();
            if (bits >> lane_id() & 1)
                values[rank + __popc(bits & lanes_below())] =
                    zeros && f == VALUES / 2 - 1 ? zero : key_of(a, f);
        }
}

static __device__ inline void find_present(const struct unique_args &a)
{
    union present_shared &s = *(union present_shared *)shared_bytes;
    uint32_t word[PRESENT_ROWS];
    for (uint32_t i = threadIdx.x; i < VALUES / 16; i += UNIQUE_THREADS)
        s.vectors[i] = make_uint4(0, 0, 0, 0);
    __syncthreads(); /* no value is marked */
    wait_for_earlier();
    mark_all(a, s);
    __syncthreads(); /* the values of the block are marked */
    find_words(s, word);
    if (!merge(a, word)) return;
    __syncthreads(); /* the marks are converted */
#pragma unroll
    for (int j = 0; j < PRESENT_ROWS; j++)
        if (word_of(j) < PRESENT_WORDS) s.bits[word_of(j)] = word[j];
    __syncthreads(); /* the words are in shared memory */
    pack(a, s);
}

#endif
