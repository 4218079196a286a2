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

/* The number of lines that a warp loads before it adds the first: half a chunk, so that registers
 * suffice for four blocks per multiprocessor.  A thread with sixteen lanes of doubles needs far
 * more registers anyway, so its long parts load a full chunk. */
template <int KIND, int LONG> static __device__ inline constexpr int lines_at_a_time(void)
{
    if (has_two<KIND>()) return KEY_BITS <= 16 ? 4 : (int)ECHI_CHUNK_LINES;
    return LONG && KEY_BITS <= 16 && REDUCE_FLOAT && KIND == REDUCE_VARIANCE ? (int)ECHI_CHUNK_LINES
                                                                             : 4;
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

static __device__ inline float from_lane(float x, uint32_t lane)
{
    return __uint_as_float(__shfl_sync(WARP_ALL, __float_as_uint(x), (int)lane));
}

static __device__ inline double from_lane(double x, uint32_t lane)
{
    return f64_of(__shfl_sync(WARP_ALL, (unsigned long long)bits_of(x), (int)lane));
}

/* Moves the lanes of the warp down by `by` lanes, fewer than a thread has; the first ones become the
 * last. */
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

static const ukey NEGATIVE_ZERO = (ukey)1 << (KEY_BITS - 1);

/* Word i of a vector of equal elements. */
static __device__ inline uint32_t word_of(uint64_t element, int i)
{
    return KEY_BITS == 64 ? (uint32_t)(element >> 32 * (i % 2)) : spread(element);
}

/* A vector if it is there, otherwise other elements.  A sum adds these instead of skipping the
 * vector, because the compiler delays a load whose value is used conditionally. */
static __device__ inline struct vector vector_if(bool there, struct vector v, uint64_t other)
{
#pragma unroll
    for (int i = 0; i < 4; i++) v.w[i] = there ? v.w[i] : word_of(other, i);
    return v;
}

/* The elements from `from` to `to` of the vector at x, and zeros that do not change a sum. */
static __device__ inline struct vector vector_between(const ukey *x, uint32_t from, uint32_t to)
{
    struct vector v = { { 0, 0, 0, 0 } };
#pragma unroll
    for (int i = 0; i < VECTOR; i++) {
        const ukey u = i >= from && i < to ? x[i] : NEGATIVE_ZERO;
#if KEY_BITS == 64
        v.w[2 * i] = (uint32_t)u;
        v.w[2 * i + 1] = (uint32_t)(u >> 32);
#else
        v.w[i * KEY_BYTES / 4] |= (uint32_t)u << i * KEY_BITS % 32;
#endif
    }
    return v;
}

/* Adds the n elements of a chunk one by one, as a function call. */
template <int KIND>
static __device__ __noinline__ struct lanes<KIND>
added_slowly(const struct reduce_args &a, struct lanes<KIND> lanes, const ukey *x, uint32_t n) {
#pragma unroll 1
    for (uint32_t at = lane_id() * VECTOR; at < n; at += LINE) {
        const struct vector v = vector_between(x + at, 0, min(n - at, (uint32_t)VECTOR));
        lanes_add<1>(a, lanes, v, v, VECTOR, 0);
    }
    return lanes;
}

/* The vector without its first elements, instead of which it has such zeros. */
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
    if (has_tail) tail = vector_between(x + vectors * VECTOR, vectors ? 0 : first, end % VECTOR);
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
 * is number `warp`; in every lane.  A function call, because both kernels of a kind share it. */
template <int KIND>
static __device__ __noinline__ struct value value_of_any(const struct reduce_args &a, const ukey *x,
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
