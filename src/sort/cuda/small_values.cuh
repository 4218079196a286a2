/*
 * sort/cuda/small_values.cuh - a block sorts few 16-bit keys without values.
 *
 *     bits      a bit for each value, set if the value occurs
 *     rank      the rank of a value among those that occur: the number of lower bits
 *     count     how often the value of each rank occurs; the value itself
 *     mark      the places of the values in the output (marks.cuh)
 *
 * Nothing depends on how the keys are distributed: the hardware combines a warp's additions of one
 * to the same counter.  The keys stay in registers, so a sort in place needs no copy.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_SMALL_VALUES_CUH
#define ECHI_SORT_CUDA_SMALL_VALUES_CUH

#include "cuda/device/block_range.cuh"
#include "sort/cuda/block.h"
#include "sort/cuda/marks.cuh"

enum {
    VALUES_BITS = 16, /* values of a word of bits, whose upper half is the rank of the first */
    VALUES_WORDS = (1 << 16) / VALUES_BITS
};

struct values_shared {
    union {
        uint4 bits[VALUES_WORDS / 4]; /* zero between two groups */
        uint4 marks[SORT_VALUES_TILE / VECTOR_KEYS + 1];
    };
    uint4 counts[SORT_VALUES_TILE / 4]; /* of the values by rank; zero between two groups */
    uint2 values[SORT_VALUES_TILE / 4]; /* ... themselves: four of 16 bits */
    uint32_t sums[32];
};
static_assert(sizeof(struct values_shared) <= SORT_VALUES_BYTES,
              "the host gives less shared memory than the kernel uses");

/* The keys of a thread.  A vector of equal keys is one key, which occurs eight times. */
template <int WARPS> struct values_keys {
    enum { VECTORS = (SORT_VALUES_TILE / VECTOR_KEYS - 1) / (32 * WARPS) + 1 };
    union key_vector v[VECTORS];
    uint32_t exist[VECTORS]; /* a bit for each key */
    uint32_t times[VECTORS];
};

/* Whether n keys fit in the registers of the block. */
static __device__ inline bool values_fit(const ukey *in, uint64_t n)
{
    return n <= (uint64_t)SORT_VALUES_TILE - marks_skew(in);
}

/* Before the first group. */
template <int WARPS> static __device__ inline void values_clear(struct values_shared &s)
{
    for (uint32_t i = threadIdx.x; i < VALUES_WORDS / 4; i += 32 * WARPS)
        s.bits[i] = make_uint4(0, 0, 0, 0);
    for (uint32_t i = threadIdx.x; i < SORT_VALUES_TILE / 4; i += 32 * WARPS)
        s.counts[i] = make_uint4(0, 0, 0, 0);
    __syncthreads(); /* bits and counters are zero */
}

/* ---- Phases ---- */

template <int WARPS>
static __device__ inline void values_load(const struct echi_order &o, const ukey *in, uint32_t n,
                                          struct values_keys<WARPS> &k)
{
    const uint32_t before = marks_skew(in), end = before + n;
#pragma unroll
    for (int j = 0; j < values_keys<WARPS>::VECTORS; j++) {
        const uint32_t at = (threadIdx.x + j * (32 * WARPS)) * VECTOR_KEYS;
        k.exist[j] = 0;
        k.times[j] = 1;
        if (at >= end) continue;
        if (at >= before && at + VECTOR_KEYS <= end) {
            k.v[j].vector = *(const uint4 *)(in + at - before);
            k.exist[j] = (1 << VECTOR_KEYS) - 1;
            continue;
        }
#pragma unroll
        for (int i = 0; i < VECTOR_KEYS; i++) {
            const bool here = at + i >= before && at + i < end;
            k.v[j].key[i] = here ? in[at + i - before] : (ukey)0;
            k.exist[j] |= (uint32_t)here << i;
        }
    }
#pragma unroll
    for (int j = 0; j < values_keys<WARPS>::VECTORS; j++) {
        if (!k.exist[j]) continue;
        const uint4 &u = k.v[j].vector;
        if (k.exist[j] == (1 << VECTOR_KEYS) - 1 && u.x == u.y && u.x == u.z && u.x == u.w &&
            u.x >> 16 == (u.x & 0xffff)) {
            k.times[j] = VECTOR_KEYS;
            k.exist[j] = 1;
        }
#pragma unroll
        for (int i = 0; i < VECTOR_KEYS; i++) k.v[j].key[i] = order_encode(o, k.v[j].key[i]);
    }
}

/* Sets the bits of the values. */
template <int WARPS>
static __device__ inline void values_set_bits(struct values_shared &s,
                                              const struct values_keys<WARPS> &k)
{
    uint32_t *words = (uint32_t *)s.bits;
#pragma unroll
    for (int j = 0; j < values_keys<WARPS>::VECTORS; j++) {
        if (!k.exist[j]) continue;
#pragma unroll
        for (int i = 0; i < VECTOR_KEYS; i++) {
            const uint32_t e = k.v[j].key[i], bit = 1u << e % VALUES_BITS;
            if ((k.exist[j] >> i & 1) && !(*(volatile uint32_t *)&words[e / VALUES_BITS] & bit))
                atomicOr(&words[e / VALUES_BITS], bit);
        }
    }
    __syncthreads(); /* the bits are set */
}

/* The sum over the warps before this one; total: over all. */
template <int WARPS>
static __device__ inline uint32_t values_before(struct values_shared &s, uint32_t own,
                                                uint32_t &total)
{
    const uint32_t lane = lane_id();
    if (lane == 31) s.sums[threadIdx.x / 32] = own;
    __syncthreads(); /* the sums of the warps are written */
    const uint32_t part = lane < WARPS ? s.sums[lane] : 0;
    total = warp_sum(part);
    return warp_sum(lane < threadIdx.x / 32 ? part : 0);
}

/* Writes the rank of the first value of each word of bits; returns the number of values. */
template <int WARPS> static __device__ inline uint32_t values_rank(struct values_shared &s)
{
    enum { EACH = VALUES_WORDS / 4 / WARPS / 32 }; /* vectors of a thread */
    static_assert(EACH >= 1, "at most 32 warps");
    uint4 w[EACH];
    uint32_t at[EACH], sum = 0, total;
    const uint32_t first = threadIdx.x / 32 * (32 * EACH) + lane_id();
#pragma unroll
    for (int j = 0; j < EACH; j++) {
        w[j] = s.bits[first + 32 * j];
        const uint32_t mine =
            (uint32_t)(__popc(w[j].x) + __popc(w[j].y) + __popc(w[j].z) + __popc(w[j].w));
        const uint32_t through = warp_scan(mine);
        at[j] = sum + through - mine;
        sum += __shfl_sync(WARP_ALL, through, 31);
    }
    const uint32_t before = values_before<WARPS>(s, sum, total);
#pragma unroll
    for (int j = 0; j < EACH; j++) {
        uint32_t rank = at[j] + before;
        uint32_t *word[] = { &w[j].x, &w[j].y, &w[j].z, &w[j].w };
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const uint32_t bits = *word[i];
            *word[i] = bits | rank << 16;
            rank += (uint32_t)__popc(bits);
        }
        s.bits[first + 32 * j] = w[j];
    }
    if (threadIdx.x < (0u - total) % 4) ((ukey *)s.values)[total + threadIdx.x] = 0; /* is read */
    __syncthreads(); /* the ranks are written */
    return total;
}

/* Counts the keys of each value. */
template <int WARPS>
static __device__ inline void values_count(struct values_shared &s,
                                           const struct values_keys<WARPS> &k)
{
    const uint32_t *words = (const uint32_t *)s.bits;
    uint32_t *counts = (uint32_t *)s.counts;
    ukey *values = (ukey *)s.values;
#pragma unroll
    for (int j = 0; j < values_keys<WARPS>::VECTORS; j++) {
        if (!k.exist[j]) continue;
#pragma unroll
        for (int i = 0; i < VECTOR_KEYS; i++) {
            if (!(k.exist[j] >> i & 1)) continue;
            const uint32_t e = k.v[j].key[i], word = words[e / VALUES_BITS];
            const uint32_t lower = word & ((1u << e % VALUES_BITS) - 1);
            const uint32_t rank = (word >> 16) + (uint32_t)__popc(lower);
            values[rank] = (ukey)e;
            if (i == 0 && k.times[j] > 1)
                atomicAdd(&counts[rank], (uint32_t)VECTOR_KEYS);
            else
                atomicAdd(&counts[rank], 1); /* the hardware combines those of a warp */
        }
    }
    __syncthreads(); /* the values are counted */
}

/* Marks the places of all values; the first one is `to`.  A warp has adjacent ranks. */
template <int WARPS>
static __device__ inline void values_mark(struct values_shared &s, uint32_t distinct, uint32_t to)
{
    const uint32_t rounds = (distinct - 1) / (WARPS * 128) + 1, warp = threadIdx.x / 32;
    const uint32_t first = rounds * 32 * warp + lane_id();
    uint32_t sum = 0, total;
    for (uint32_t i = threadIdx.x; i < VALUES_WORDS / 4; i += 32 * WARPS)
        s.bits[i] = make_uint4(0, 0, 0, 0); /* becomes the marks */
#pragma unroll 1
    for (uint32_t r = 0; r < rounds && 4 * (first + 32 * r) < distinct; r++) {
        const uint4 c = s.counts[first + 32 * r];
        sum += c.x + c.y + c.z + c.w;
    }
    sum = warp_sum(sum);
    to += values_before<WARPS>(s, sum, total); /* also: the marks are clear */
    ukey *marks = (ukey *)s.marks;
#pragma unroll 1
    for (uint32_t r = 0; r < rounds; r++) {
        const uint32_t i = first + 32 * r;
        uint4 c = make_uint4(0, 0, 0, 0);
        uint2 v = make_uint2(0, 0);
        if (4 * i < distinct) {
            c = s.counts[i];
            v = s.values[i];
        }
        const uint32_t own = c.x + c.y + c.z + c.w, through = warp_scan(own);
        uint32_t at = to + through - own;
        to += __shfl_sync(WARP_ALL, through, 31);
        if (!own) continue;
        s.counts[i] = make_uint4(0, 0, 0, 0);
        marks_put(marks, v.x & 0xffff, at, c.x);
        marks_put(marks, v.x >> 16, at += c.x, c.y);
        marks_put(marks, v.y & 0xffff, at += c.y, c.z);
        marks_put(marks, v.y >> 16, at += c.z, c.w);
    }
    __syncthreads(); /* the places are marked */
}

/* ---- All ---- */

/* Sorts n keys, at least one.  Before and afterwards, bits and counters are zero. */
template <int WARPS>
static __device__ inline void values_sort(const struct echi_order &o, struct values_shared &s,
                                          const ukey *in, ukey *out, uint32_t n)
{
    struct values_keys<WARPS> k;
    values_load<WARPS>(o, in, n, k);
    values_set_bits<WARPS>(s, k);
    const uint32_t distinct = values_rank<WARPS>(s);
    values_count<WARPS>(s, k);
    values_mark<WARPS>(s, distinct, marks_skew(out));
    marks_write<WARPS>(o, s.marks, out, n);
}

#endif
