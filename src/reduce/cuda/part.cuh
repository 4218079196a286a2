/*
 * reduce/cuda/part.cuh - parts of a segment, reduced by one warp: at most a chunk.
 *
 *     chunk       8 lines of 512 bytes; a thread has 16 bytes of each
 *     vectors     one thread's vectors of a part that is at most a line
 *
 * add_aligned() adds complete and aligned chunks of long parts, add_around() all other chunks.  For
 * sums of floats, add_common() adds all chunks.  Kinds for which neither order nor position
 * matters use value_of_any(), for parts of any length.
 *
 * All others fold the same lanes in the same order, so a segment's result does not depend on which
 * one is used.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_REDUCE_CUDA_PART_CUH
#define ECHI_REDUCE_CUDA_PART_CUH

#include "reduce/cuda/sums.cuh"

/* The surroundings of a chunk of any alignment in an array. */
struct around {
    const char *at;     /* the last multiple of 16 at or before the start of the chunk */
    uint32_t shift;     /* bytes from there to the chunk */
    uint32_t low, high; /* the bytes from `at` on that are in the array */
};

static __device__ inline struct around around_of(const struct reduce_args &a, const void *in,
                                                 const ukey *x)
{
    const char *first = (const char *)in, *end = first + a.n * KEY_BYTES;
    struct around r = { (const char *)((uintptr_t)x & ~(uintptr_t)15), 0, 0, 0 };
    const uint64_t rest = (uint64_t)(end - r.at);
    r.shift = (uint32_t)((uintptr_t)x & 15);
    r.low = r.at < first ? r.shift : 0;
    r.high = rest < 2 * ECHI_CHUNK_BYTES ? (uint32_t)rest : 2 * ECHI_CHUNK_BYTES;
    return r;
}

/* Whether the aligned vectors that contain `count` elements of the chunk from `at` on are within
 * the array. */
static __device__ inline bool is_inside(const struct around &r, uint32_t at, uint32_t count)
{
    const uint32_t from = at * KEY_BYTES;
    return count == 0 ||
           (from >= r.low && from + ((r.shift + count * KEY_BYTES + 15) & ~15u) <= r.high);
}

static __device__ inline void load_around(const struct around &r, uint32_t at, uint32_t count,
                                          struct raw<1, 1> &raw)
{
    const char *from = r.at + at * KEY_BYTES;
    if (is_inside(r, at, count))
        raw_load<1, 1>(from, r.shift, count * KEY_BYTES, raw);
    else
        raw.v[0] = vector_at_end((const ukey *)(from + r.shift), count);
}

/* Aligns the loaded vectors. */
static __device__ inline struct vector take_around(const struct around &r, uint32_t at,
                                                   uint32_t count, ukey fill,
                                                   const struct raw<1, 1> &raw)
{
    struct vector v[1] = { raw.v[0] };
    if (r.shift && is_inside(r, at, count)) raw_shift<1, 1>(raw, r.shift, v);
    return vector_filled(v[0], count, fill);
}

/* Adds the n elements of a chunk of any length and alignment, in a loop over lines that prefetches
 * some lines. */
template <int KIND>
static __device__ inline void add_around(const struct reduce_args &a, struct lanes<KIND> &lanes,
                                         const struct place &p, uint32_t n)
{
    enum { AHEAD = has_two<KIND>() || (REDUCE_F64 && KIND == REDUCE_VARIANCE) ? 1 : 2 };
    const struct around x = around_of(a, a.in, p.x);
    const struct around y = has_two<KIND>() ? around_of(a, a.b, p.y) : x;
    struct raw<1, 1> v[AHEAD + 1], w[AHEAD + 1];
    set_center(lanes, center_of_chunk<KIND>(a, p.x, n));
#pragma unroll 1
    for (uint32_t line = 0; line * LINE < n + AHEAD * LINE; line++) {
        uint32_t at = p.at + line * LINE, here = elements_here(n, at);
        load_around(x, at, here, v[AHEAD]);
        if (has_two<KIND>()) load_around(y, at, here, w[AHEAD]);
        at -= AHEAD * LINE;
        here = line < AHEAD ? 0 : elements_here(n, at);
        if (here) {
            const struct vector vx = take_around(x, at, here, lane_fill<KIND>(), v[0]);
            const struct vector vy =
                has_two<KIND>() ? take_around(y, at, here, lane_fill<KIND>(), w[0]) : vx;
            lanes_add<0>(a, lanes, vx, vy, here, p.first + at);
        }
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            v[i] = v[i + 1];
            if (has_two<KIND>()) w[i] = w[i + 1];
        }
    }
}

/* The same as a function call, for kinds whose lanes cover many chunks: its registers are not
 * shared with the loop over full chunks. */
template <int KIND>
static __device__ __noinline__ struct lanes<KIND>
added_around(const struct reduce_args &a, struct lanes<KIND> lanes, struct place p, uint32_t n) {
    add_around(a, lanes, p, n);
    return lanes;
}

/* Adds the n elements of a chunk, if they can be loaded without handling alignment and ends. */
template <int KIND, int LONG>
static __device__ inline bool add_aligned(const struct reduce_args &a, struct lanes<KIND> &lanes,
                                          const struct place &p, uint32_t n)
{
    enum { LINES = lines_at_a_time<KIND, LONG>() };
    if (!LONG || p.shift || (has_two<KIND>() && p.shift_y)) return false;
    if (n == CHUNK && !(KIND == REDUCE_VARIANCE && REDUCE_FLOAT && a.rule.ignore)) {
#pragma unroll 1
        for (uint32_t line = 0; line < ECHI_CHUNK_LINES; line += LINES)
            add_lines<KIND, LINES, 1>(a, lanes, p, line, LINES);
        return true;
    }
    return false;
}

/* The first or the last elements of a part, which are not a full aligned vector. */
struct edge {
    struct vector v;
    uint32_t count, shift; /* elements; bytes before them in v */
};

static __device__ inline struct edge edge_load(const struct reduce_args &a, const ukey *x,
                                               uint32_t count)
{
    const char *first = (const char *)a.in, *end = first + a.n * KEY_BYTES;
    const char *at = (const char *)((uintptr_t)x & ~(uintptr_t)15);
    struct edge e = { { { 0, 0, 0, 0 } }, count, (uint32_t)((uintptr_t)x & 15) };
    if (count == 0) return e;
    if (at >= first && at + 16 <= end) {
        e.v = vector_at(at);
    } else {
        e.v = vector_at_end(x, count);
        e.shift = 0;
    }
    return e;
}

template <int KIND>
static __device__ inline void edge_add(const struct reduce_args &a, struct lanes<KIND> &lanes,
                                       const struct edge &e)
{
    struct raw<1, 1> raw = {
        {
            e.v,
            {
                {
                    0, 0, 0, 0
                }
            }
        }
    };
    struct vector v[1];
    if (e.count == 0) return;
    raw_shift<1, 1>(raw, e.shift, v);
    lanes_add<0>(a, lanes, v[0], v[0], e.count, 0);
}

/* The value of the warp's lanes, in every lane.  The range of the lanes begins `first` elements
 * into the segment.  A variance is of n elements, at most a chunk; SOME: of those that are not
 * NaN. */
template <int KIND, int SOME>
static __device__ inline struct value
close_lanes(const struct reduce_args &a, struct lanes<KIND> &lanes, uint64_t first, uint32_t n)
{
    struct value v = lanes_end(a, lanes);
    if (KIND == REDUCE_VARIANCE) {
        const bool some = REDUCE_F64 && __any_sync(WARP_ALL, v.a >= VALUE_SOME);
        v = value_fold_sums(v, REDUCE_FLOAT && SOME ? sum_of_lanes((uint32_t)v.a) : n);
        if (some) v.a += VALUE_SOME;
    } else
        v = value_fold<KIND, 32, 0>(a, v);
    if (KIND == REDUCE_ARG && v.b != UINT64_MAX) v.b += first;
    return value_close<KIND>(v, get_center(lanes));
}

/* The value of n elements of any alignment, of which `warps` warps have lines in turn, and this one
 * is number `warp`; in every lane. */
template <int KIND>
static __device__ inline struct value value_in_any_order(const struct reduce_args &a, const ukey *x,
                                                         uint32_t n, uint32_t warp, uint32_t warps)
{
    enum {
        LINES = is_plain_sum<KIND>() && KEY_BITS >= 32 ? 8 : 4, /* loaded before the first is
                                                                   added */
        REPEATS = KIND == REDUCE_MAX || KIND == REDUCE_MINMAX   /* vectors may be added again */
    };
    const uint32_t first = warp * 32 + lane_id(), step = warps * 32;
    const uint32_t skew = (uint32_t)((uintptr_t)x & 15);
    const uint32_t head = min(n, skew ? (16 - skew) / KEY_BYTES : 0);
    const uint32_t vectors = (n - head) / VECTOR, tail = (n - head) % VECTOR;
    const char *at = (const char *)(x + head);
    const struct edge edge = edge_load(a, first ? x + (n - tail) : x,
                                       first > 1 ? 0
                                       : first   ? tail
                                                 : head);
    struct lanes<KIND> lanes;
    lanes_start(lanes);
#pragma unroll 1
    for (uint32_t i = first; i < vectors; i += LINES * step) {
        struct vector v[LINES];
#pragma unroll
        for (int j = 0; j < LINES; j++)
            v[j] = vector_at(at + (uint64_t)min(i + j * step, vectors - 1) * 16);
#pragma unroll(is_plain_sum <KIND>() || KIND == REDUCE_MAX ? (int)LINES : 1)
        for (int j = 0; j < LINES; j++) {
            const bool here = i + j * step < vectors;
            if (is_plain_sum<KIND>()) v[0] = vector_if(here, v[0], a.rule.sign);
            if (is_plain_sum<KIND>() || REPEATS || here)
                lanes_add<1>(a, lanes, v[0], v[0], VECTOR, 0);
#pragma unroll
            for (int k = 1; k < LINES; k++) v[k - 1] = v[k];
        }
    }
    edge_add(a, lanes, edge);
    return close_lanes<KIND, 0>(a, lanes, 0, 0);
}

/* The same as a function call: for segments.cuh. */
template <int KIND>
static __device__ __noinline__ struct value value_of_any(const struct reduce_args &a, const ukey *x,
                                                         uint32_t n, uint32_t warp, uint32_t warps)
{
    return value_in_any_order<KIND>(a, x, n, warp, warps);
}

/* The value of the n elements of a chunk of any length and alignment, as a function call. */
template <int KIND>
static __device__ __noinline__ struct value chunk_around(const struct reduce_args &a,
                                                         uint64_t begin, uint64_t first, uint32_t n)
{
    const struct place p = place_of<KIND>(a, begin, 0);
    struct lanes<KIND> lanes;
    lanes_start(lanes);
    add_around(a, lanes, p, n);
    return close_lanes<KIND, 1>(a, lanes, first, n);
}

/* The value of n elements, at most a chunk, that begin `begin` elements into the arrays and `first`
 * into their segment; in every lane.  LONG: for long.cuh. */
template <int KIND, int LONG>
static __device__ inline struct value reduce_chunk(const struct reduce_args &a, uint64_t begin,
                                                   uint64_t first, uint32_t n)
{
    struct lanes<KIND> lanes;
    lanes_start(lanes);
    if (has_common<KIND>()) {
        add_common<KIND, LONG>(a, lanes, begin, n);
        return close_lanes<KIND, 0>(a, lanes, first, n);
    }
    const struct place p = place_of<KIND>(a, begin, 0);
    if (add_aligned<KIND, LONG>(a, lanes, p, n)) return close_lanes<KIND, 0>(a, lanes, first, n);
    return chunk_around<KIND>(a, begin, first, n);
}

/* The value of one vector; for the variance with the distances from k, not yet closed. */
template <int KIND>
static __device__ inline struct value reduce_vector(const struct reduce_args &a,
                                                    const struct vector &v, uint32_t count,
                                                    uint32_t at, center k)
{
    struct lanes<KIND> lanes;
    lanes_start(lanes);
    set_center(lanes, k);
    if (count) lanes_add<0>(a, lanes, v, v, count, at);
    return lanes_end(a, lanes);
}

/* The same for consecutive vectors of a part with n elements; the first is at `at`, and `shift`
 * bytes past a multiple of 16. */
template <int KIND, int VECTORS, int SHIFTED>
static __device__ inline struct value
reduce_vectors(const struct reduce_args &a, const struct raw<VECTORS, SHIFTED> &raw, uint32_t shift,
               uint32_t n, uint32_t at, center k)
{
    struct vector v[VECTORS];
    struct value value[VECTORS];
    raw_shift<VECTORS, SHIFTED>(raw, shift, v);
#pragma unroll
    for (int i = 0; i < VECTORS; i++, at += VECTOR) {
        const uint32_t here = elements_here(n, at);
        v[i] = vector_filled(v[i], here, lane_fill<KIND>());
        value[i] = reduce_vector<KIND>(a, v[i], here, at, k);
    }
#pragma unroll
    for (int half = VECTORS / 2; half; half /= 2)
#pragma unroll
        for (int i = 0; i < half; i++)
            value[i] = value_add<KIND>(a, value[2 * i], value[2 * i + 1]);
    return value[0];
}

#endif
