/*
 * reduce/cuda/place.cuh - what parts of a segment share: centers of variances, values that need a
 * scale, the position of a warp in a chunk, and full aligned lines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_REDUCE_CUDA_PLACE_CUH
#define ECHI_REDUCE_CUDA_PLACE_CUH

#include "reduce/cuda/line.cuh"

template <int KIND> static __device__ inline constexpr bool has_two(void)
{
    return KIND == REDUCE_DOT || KIND == REDUCE_DOT64 || KIND == REDUCE_IDOT;
}

/* Sums that add_common() adds. */
template <int KIND> static __device__ inline constexpr bool has_common(void)
{
    return KIND == REDUCE_SUM || (KIND == REDUCE_SUM64 && REDUCE_F64);
}

/* LONG: the chunks of long.cuh, of rows or of segments. */
enum { LONG_ROWS = 1, LONG_SEGMENTS };

/* The number of lines that a warp loads before it adds the first: half a chunk, so that registers
 * suffice for four blocks per multiprocessor.  A thread with sixteen lanes of doubles needs far
 * more registers anyway, so its long parts load a full chunk; so do sums of segments, of which a
 * warp has few chunks. */
template <int KIND, int LONG> static __device__ inline constexpr int lines_at_a_time(void)
{
    if (has_two<KIND>()) return KEY_BITS <= 16 ? 4 : (int)ECHI_CHUNK_LINES;
    if (LONG == LONG_SEGMENTS && has_common<KIND>() && KEY_BITS >= 32) return ECHI_CHUNK_LINES;
    return LONG && KEY_BITS <= 16 && REDUCE_FLOAT && KIND == REDUCE_VARIANCE ? (int)ECHI_CHUNK_LINES
                                                                             : 4;
}

/* Kinds for which long.cuh has chunk_staged(): with 64 bits, the call would take registers from the
 * loop over full chunks. */
template <int KIND> static __device__ inline constexpr bool is_staged(void)
{
    return KIND == REDUCE_VARIANCE && KEY_BITS <= 32;
}

/* ... and fold_sums(): for floats of 32 bits, a fold per chunk takes as long, and leaves the shared
 * memory to the L1 cache. */
template <int KIND> static __device__ inline constexpr bool folds_sums(void)
{
    return is_staged<KIND>() && KEY_BITS <= 16;
}

/* Whether chunk_staged() can be used for a chunk at x. */
template <int KIND>
static __device__ inline bool can_stage(const struct reduce_args &a, const ukey *x)
{
    return !((uintptr_t)x & 15) && !(KIND == REDUCE_VARIANCE && REDUCE_FLOAT && a.rule.ignore);
}

/* The center from which a variance's distances are measured; other kinds have none. */
static __device__ inline void set_center(struct lanes<REDUCE_VARIANCE> &l, center k)
{
    l.k = k;
}

template <int KIND> static __device__ inline void set_center(struct lanes<KIND> &, center)
{
}

static __device__ inline center get_center(const struct lanes<REDUCE_VARIANCE> &l)
{
    return l.k;
}

template <int KIND> static __device__ inline center get_center(const struct lanes<KIND> &)
{
    return 0;
}

/* Uses the first element of the warp's vectors as center, so that no extra load is waited for. */
static __device__ inline void center_on(const struct reduce_args &a,
                                        struct lanes<REDUCE_VARIANCE> &l, const struct vector &v)
{
    uint64_t first = __shfl_sync(WARP_ALL, (unsigned long long)vector_element(v, 0), 0);
    l.k = center_make(a.rule, (ukey)first);
}

template <int KIND>
static __device__ inline void center_on(const struct reduce_args &, struct lanes<KIND> &,
                                        const struct vector &)
{
}

static __device__ inline uint32_t elements_here(uint32_t n, uint32_t at)
{
    return n <= at ? 0 : n - at < VECTOR ? n - at : (uint32_t)VECTOR;
}

static __device__ inline bool is_ignored(const struct reduce_args &a, ukey u)
{
    const double x = to_f64(a.rule, u);
    return REDUCE_FLOAT && a.rule.ignore && x != x;
}

/* The first number after x[0], a NaN that is ignored: for few elements. */
static __device__ __noinline__ center first_number(const struct reduce_args &a, const ukey *x,
                                                   uint32_t n)
{
    uint32_t i = 1;
    while (i < n && is_ignored(a, x[i])) i++;
    return center_make(a.rule, x[i < n ? i : 0]);
}

/* The first element of a part; the first number if NaN are ignored. */
template <int KIND>
static __device__ inline center center_of(const struct reduce_args &a, const ukey *x, uint32_t n)
{
    if (KIND != REDUCE_VARIANCE || n == 0) return 0;
    return is_ignored(a, x[0]) ? first_number(a, x, n) : center_make(a.rule, x[0]);
}

/* The same for a chunk, by a warp: each lane searches a number, and the first one is used. */
template <int KIND>
static __device__ inline center center_of_chunk(const struct reduce_args &a, const ukey *x,
                                                uint32_t n)
{
    if (KIND != REDUCE_VARIANCE || n == 0) return 0;
    uint32_t at = 0;
    if (is_ignored(a, x[0]))
        for (at = 1 + lane_id(); at < n && is_ignored(a, x[at]);) at += 32;
#pragma unroll
    for (int step = 1; REDUCE_FLOAT && step < 32; step *= 2)
        at = min(at, __shfl_xor_sync(WARP_ALL, at, step));
    return center_make(a.rule, x[at < n ? at : 0]);
}

/* The moments of n elements of f64, at most a chunk, whose distances need a scale; by the warp. */
static __device__ __noinline__ struct value chunk_scaled(const struct reduce_args &a, const ukey *x,
                                                         uint32_t n, uint32_t scale)
{
    const double k = (double)center_of_chunk<REDUCE_VARIANCE>(a, x, n);
    double s1[VECTOR], s2[VECTOR];
    struct value v;
    uint32_t count = 0;
    fill_lanes(s1, -0.0);
    fill_lanes(s2, -0.0);
#pragma unroll 1
    for (uint32_t at = lane_id() * VECTOR; at < n; at += LINE)
#pragma unroll
        for (int i = 0; i < VECTOR; i++) {
            if (at + i >= n || is_ignored(a, x[at + i])) continue;
            const double d = scaled_distance(to_f64(a.rule, x[at + i]), k, scale);
            s1[i] += d;
            s2[i] += d * d;
            count++;
        }
    v.b = bits_of(add_lanes(s1));
    v.c = bits_of(add_lanes(s2));
    v = value_fold_sums(v, sum_of_lanes(count));
    return value_of(
        moments_make(REDUCE_SPREAD, (double)v.a, bits_of(k), f64_of(v.b), f64_of(v.c), scale));
}

/* The same for at most a line, by one thread: a binary counter of pairwise sums. */
static __device__ __noinline__ struct value line_scaled(const struct reduce_args &a, const ukey *x,
                                                        uint32_t n, uint32_t scale)
{
    enum { LEVELS = 8 };
    static_assert(!REDUCE_F64 || LINE < 1 << LEVELS, "a line has a level for each power of two");
    const double k = (double)center_of<REDUCE_VARIANCE>(a, x, n);
    double s1[LEVELS], s2[LEVELS], sum = -0.0, squares = -0.0;
    uint32_t count = 0;
#pragma unroll 1
    for (uint32_t i = 0; i < n; i++) {
        const bool there = !is_ignored(a, x[i]);
        double d = there ? scaled_distance(to_f64(a.rule, x[i]), k, scale) : -0.0;
        double square = there ? d * d : -0.0;
        int l = 0;
        for (; i >> l & 1; l++) {
            d = s1[l] + d;
            square = s2[l] + square;
        }
        s1[l] = d;
        s2[l] = square;
        count += there;
    }
#pragma unroll 1
    for (int l = 0; n >> l; l++)
        if (n >> l & 1) {
            sum = s1[l] + sum;
            squares = s2[l] + squares;
        }
    return value_of(moments_make(REDUCE_SPREAD, (double)count, bits_of(k), sum, squares, scale));
}

/* Whether the aligned vectors that contain n elements from x on are within the array at in. */
static __device__ inline bool lies_within(const struct reduce_args &a, const void *in,
                                          const ukey *x, uint32_t n)
{
    const char *first = (const char *)in, *end = first + a.n * KEY_BYTES;
    const char *from = (const char *)((uintptr_t)x & ~(uintptr_t)15);
    const char *to = (const char *)(((uintptr_t)(x + n) + 15) & ~(uintptr_t)15);
    return from >= first && to <= end;
}

/* The position of a warp in a chunk. */
struct place {
    const ukey *x, *y;       /* of the chunk */
    uint32_t shift, shift_y; /* distance from the preceding multiple of 16 bytes */
    uint32_t at;             /* this thread's first element in a line */
    uint32_t first;          /* position of the chunk in the range of the lanes */
};

/* The place of the chunk that begins `begin` elements into the arrays and `first` into the range of
 * the lanes. */
template <int KIND>
static __device__ inline struct place place_of(const struct reduce_args &a, uint64_t begin,
                                               uint32_t first)
{
    struct place p = { (const ukey *)a.in + begin, (const ukey *)a.b + begin, 0, 0, 0, first };
    p.shift = (uint32_t)((uintptr_t)p.x & 15);
    p.shift_y = (uint32_t)((uintptr_t)p.y & 15);
    p.at = lane_id() * VECTOR;
    return p;
}

/* Adds the thread's vectors of aligned arrays, all loaded before the first is added: one vector of
 * each of LINES lines or, with ALL 0, of the first `lines`. */
template <int KIND, int LINES, int ALL>
static __device__ inline void add_lines(const struct reduce_args &a, struct lanes<KIND> &lanes,
                                        const struct place &p, uint32_t line, uint32_t lines)
{
    struct vector v[LINES], w[LINES];
    const uint32_t at = p.at + line * LINE;
    vector_lines<LINES, ALL>((const char *)(p.x + at), lines, v);
    if (has_two<KIND>()) vector_lines<LINES, ALL>((const char *)(p.y + at), lines, w);
    if (ALL && line == 0) center_on(a, lanes, v[0]);
#pragma unroll
    for (int i = 0; i < LINES; i++)
        if (ALL || i < lines)
            lanes_add<1>(a, lanes, v[i], has_two<KIND>() ? w[i] : v[i], VECTOR,
                         p.first + at + i * LINE);
}

#endif
