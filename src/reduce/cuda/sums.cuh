/*
 * reduce/cuda/sums.cuh - sums of floats of a chunk at any address.
 *
 *     memory        |  .  .  a  b | c  d  e  f | ...      aligned vectors
 *     lanes 0 ...      -  -  a  b   c  d  e  f            two places too high
 *     at the end       a  b  c  d   e  f ...              the sums of lanes are moved down
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_REDUCE_CUDA_SUMS_CUH
#define ECHI_REDUCE_CUDA_SUMS_CUH

#include "reduce/cuda/place.cuh"

static __device__ inline float from_lane(float x, uint32_t lane)
{
    return __uint_as_float(__shfl_sync(WARP_ALL, __float_as_uint(x), (int)lane));
}

static __device__ inline double from_lane(double x, uint32_t lane)
{
    return f64_of(__shfl_sync(WARP_ALL, (unsigned long long)bits_of(x), (int)lane));
}

/* Moves the lanes of the warp down by `by` lanes, fewer than a thread has; the first ones become
 * the last. */
template <typename number> static __device__ inline void rotate(number (&lane)[VECTOR], uint32_t by)
{
#pragma unroll
    for (int step = 1; step < VECTOR; step *= 2) {
        number first[VECTOR];
        if (!(by & step)) continue;
#pragma unroll
        for (int i = 0; i < step; i++) first[i] = from_lane(lane[i], (lane_id() + 1) % 32);
#pragma unroll
        for (int i = 0; i < VECTOR; i++)
            lane[i] = i + step < VECTOR ? lane[i + step] : first[i + step - VECTOR];
    }
}

template <int KIND> static __device__ inline void rotate_lanes(struct lanes<KIND> &, uint32_t)
{
}

#if REDUCE_FLOAT && KEY_BITS < 64
static __device__ inline void rotate_lanes(struct lanes<REDUCE_SUM> &l, uint32_t by)
{
    rotate(l.lane, by);
}
#elif REDUCE_F64
static __device__ inline void rotate_lanes(struct lanes<REDUCE_SUM64> &l, uint32_t by)
{
    rotate(l.lane, by);
}
#endif

/* A zero that does not change a sum. */
static const ukey NEGATIVE_ZERO = (ukey)1 << (KEY_BITS - 1);

/* Word i of a vector of equal elements. */
static __device__ inline uint32_t word_of(uint64_t element, int i)
{
    return KEY_BITS == 64 ? (uint32_t)(element >> 32 * (i % 2)) : spread(element);
}

/* A vector if it exists, otherwise other elements.  A sum adds these instead of skipping the
 * vector, because the compiler delays a load whose value is used conditionally. */
static __device__ inline struct vector vector_if(bool there, struct vector v, uint64_t other)
{
#pragma unroll
    for (int i = 0; i < 4; i++) v.w[i] = there ? v.w[i] : word_of(other, i);
    return v;
}

/* Adds the n elements of a chunk one by one, as a function call. */
template <int KIND>
static __device__ __noinline__ struct lanes<KIND>
added_slowly(const struct reduce_args &a, struct lanes<KIND> lanes, const ukey *x, uint32_t n) {
#pragma unroll 1
    for (uint32_t at = lane_id() * VECTOR; at < n; at += LINE) {
        const struct vector v =
            vector_between(x + at, 0, min(n - at, (uint32_t)VECTOR), NEGATIVE_ZERO);
        lanes_add<1>(a, lanes, v, v, VECTOR, 0);
    }
    return lanes;
}

/* The vector without its first elements, instead of which it has zeros that do not change a sum. */
static __device__ inline struct vector
vector_without(struct vector v, uint32_t first)
{
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const uint32_t mask = vector_mask(i, first);
        v.w[i] = (v.w[i] & ~mask) | (word_of(NEGATIVE_ZERO, i) & mask);
    }
    return v;
}

/* Adds the n elements of a chunk of any length and alignment, which begins `begin` elements into
 * the array: for common kinds.  The threads load aligned vectors, of which the first may contain
 * `skip` elements before the chunk.  So each element is added to the lane `skip` places above its
 * own, in the same order, and the sums are moved at the end. */
template <int KIND, int LONG>
static __device__ inline void add_common(const struct reduce_args &a, struct lanes<KIND> &lanes,
                                         uint64_t begin, uint32_t n)
{
    enum { LINES = lines_at_a_time<KIND, LONG>() };
    struct place p = { (const ukey *)a.in + begin, (const ukey *)a.in + begin, 0, 0, 0, 0 };
    p.shift = (uint32_t)((uintptr_t)p.x & 15);
    p.at = lane_id() * VECTOR;
    if (n == CHUNK && p.shift == 0) {
#pragma unroll 1
        for (uint32_t line = 0; line < ECHI_CHUNK_LINES; line += LINES)
            add_lines<KIND, LINES, 1>(a, lanes, p, line, LINES);
        return;
    }

    const uint32_t skip = p.shift / KEY_BYTES, end = skip + n, vectors = end / VECTOR;
    const uint32_t first = p.at == 0 ? skip : 0;
    const ukey *x = p.x - skip;
    if ((const char *)x < (const char *)a.in) { /* the array does not begin at a multiple of 16 */
        lanes = added_slowly(a, lanes, p.x, n);
        return;
    }
    /* A partial vector at the end is loaded first and added last. */
    const bool has_tail = vectors % 32 == lane_id() && end % VECTOR;
    struct vector tail = { { 0, 0, 0, 0 } };
    if (has_tail)
        tail =
            vector_between(x + vectors * VECTOR, vectors ? 0 : first, end % VECTOR, NEGATIVE_ZERO);
#pragma unroll 1
    for (uint32_t line = 0; 32 * line < vectors; line += LINES) {
        struct vector v[LINES];
        const uint32_t at = lane_id() + 32 * line;
#pragma unroll
        for (int i = 0; i < LINES; i++)
            v[i] = vector_at((const char *)x + 16 * min(at + 32 * i, vectors - 1));
        if (line == 0 && first) v[0] = vector_without(v[0], first);
#pragma unroll
        for (int i = 0; i < LINES; i++) {
            v[i] = vector_if(at + 32 * i < vectors, v[i], NEGATIVE_ZERO);
            lanes_add<1>(a, lanes, v[i], v[i], VECTOR, 0);
        }
    }
    if (has_tail) lanes_add<1>(a, lanes, tail, tail, VECTOR, 0);
    rotate_lanes(lanes, skip);
}

#endif
