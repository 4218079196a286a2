/*
 * scan/cuda/line.cuh - scans a line: one vector of 16 bytes per lane of a warp.
 *
 *     up     each lane combines the elements of its vector in order; then the lanes are scanned by
 *            steps of 1, 2, 4, 8, 16 (Hillis and Steele)
 *     down   each lane has the prefix of its vector, and writes
 *
 * With segment flags (bits at positions where a segment begins) no value passes a flag.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SCAN_CUDA_LINE_CUH
#define ECHI_SCAN_CUDA_LINE_CUH

#include "scan/cuda/vector.cuh"

/* ---- Up ---- */

/* Vectors whose results take longer to write than a function call, or many more instructions: they
 * are processed by a function, because the code is used in many places. */
template <int OP, int SEGMENTED> static __device__ inline constexpr bool is_called(void)
{
    return SCAN_WIDE || (KEY_BITS <= 16 && (OP != SUM || (SEGMENTED && !SCAN_FLOAT)));
}

/* OTHER has one kernel for scans with and without segments: it tests each vector. */
template <int OP, int SEGMENTED> static __device__ inline bool no_flags(uint32_t flags)
{
    return SEGMENTED && OP == OTHER && is_called<OP, SEGMENTED>() && !flags;
}

/* Converts elements in memory to the inputs of value_of(); and results to elements. */
static __device__ inline void encode_words(const struct scan_args &a, uint4 &v)
{
#if SCAN_WORDS
    v.x = word_encode(a.order, v.x), v.y = word_encode(a.order, v.y);
    v.z = word_encode(a.order, v.z), v.w = word_encode(a.order, v.w);
#else
    (void)a, (void)v;
#endif
}

static __device__ inline void decode_words(const struct scan_args &a, uout (&e)[VECTOR])
{
#if SCAN_WORDS
    union vector v;
#pragma unroll
    for (int j = 0; j < VECTOR; j++) v.e[j] = e[j];
#pragma unroll
    for (int w = 0; w < 4; w++) v.word[w] = word_decode(a.order, v.word[w]);
#pragma unroll
    for (int j = 0; j < VECTOR; j++) e[j] = v.e[j];
#else
    (void)a, (void)e;
#endif
}

template <int OP, int SEGMENTED>
static __device__ inline value vector_sum(const struct scan_args &a, const union vector &v,
                                          uint32_t flags)
{
    value x = value_of<OP>(a, v.e[0]);
    if (SEGMENTED && flags & 1) x = combine<OP>(a, value_of_bits(a.first), x);
#pragma unroll
    for (int j = 1; j < VECTOR; j++) {
        value left = SEGMENTED && flags >> j & 1 ? value_of_bits(a.first) : x;
        x = combine<OP>(a, left, value_of<OP>(a, v.e[j]));
    }
    return x;
}

/* For OTHER a loop per operator; BITS is the default. */
template <int OP, int SEGMENTED>
static __device__ inline value vector_sum_by(const struct scan_args &a, const union vector &v,
                                             uint32_t flags)
{
    if (OP != OTHER || !is_called<OP, SEGMENTED>()) return vector_sum<OP, SEGMENTED>(a, v, flags);
    if (SCAN_WIDE && a.other == SCAN_SUM) return vector_sum<SUM, SEGMENTED>(a, v, flags);
    if (SCAN_WORDS && a.other == SCAN_MIN) return vector_sum<MIN, SEGMENTED>(a, v, flags);
    if (!SCAN_WORDS || a.other == SCAN_PRODUCT) return vector_sum<PRODUCT, SEGMENTED>(a, v, flags);
    return vector_sum<BITS, SEGMENTED>(a, v, flags);
}

template <int OP, int SEGMENTED>
static __device__ __noinline__ value vector_sum_called(const struct scan_args &a, uint4 v,
                                                       uint32_t flags)
{
    union vector u;
    if (OP != SUM) encode_words(a, v);
    u.all = v;
    return no_flags<OP, SEGMENTED>(flags) ? vector_sum_by<OP, 0>(a, u, 0)
                                          : vector_sum_by<OP, SEGMENTED>(a, u, flags);
}

/* The total of the vector from its last flag on, or of all its elements. */
template <int OP, int SEGMENTED>
static __device__ inline value vector_total(const struct scan_args &a, const union vector &v,
                                            uint32_t flags)
{
    return is_called<OP, SEGMENTED>() ? vector_sum_called<OP, SEGMENTED>(a, v.all, flags)
                                      : vector_sum<OP, SEGMENTED>(a, v, flags);
}

/* The last of a set of lanes; 0 if it is empty. */
static __device__ inline uint32_t last_lane(uint32_t lanes)
{
    return lanes ? 31 - __clz((int)lanes) : 0;
}

/* The number of unrolled steps: 1 for OTHER, whose combine() is longer. */
template <int OP> static __device__ inline constexpr int unrolled(int steps)
{
    return OP == OTHER && (SCAN_WIDE || !SCAN_FLOAT) ? 1 : steps;
}

/* Combines the lanes from `from` up to this one; from is at most this lane. */
template <int OP>
static __device__ inline value lanes_scan(const struct scan_args &a, value x, uint32_t from)
{
#pragma unroll(unrolled <OP>(5))
    for (int step = 1; step < 32; step *= 2) {
        value below = lane_up(x, step);
        if (lane_id() >= from + step) x = combine<OP>(a, below, x);
    }
    return x;
}

/* The same for several lines at once: a shuffle has a long latency, but many can be in flight. */
template <int OP>
static __device__ inline void lines_scan(const struct scan_args &a, value (&x)[SCAN_SLOTS],
                                         const uint32_t (&from)[SCAN_SLOTS])
{
#pragma unroll(unrolled <OP>(5))
    for (int step = 1; step < 32; step *= 2) {
        value below[SCAN_SLOTS];
#pragma unroll
        for (int k = 0; k < SCAN_SLOTS; k++) below[k] = lane_up(x[k], step);
#pragma unroll
        for (int k = 0; k < SCAN_SLOTS; k++)
            if (lane_id() >= from[k] + step) x[k] = combine<OP>(a, below[k], x[k]);
    }
}

/* Merges two sets of lines: lanes whose bit `step` is 0 continue with x, the others with y. */
template <int OP>
static __device__ inline value lines_merge(const struct scan_args &a, value x, value y, int step)
{
    const bool odd = lane_id() & step;
    return combine<OP>(a, odd ? y : x, lane_across(odd ? x : y, step));
}

/* Folds several lines into one value per lane, by steps from `step` on. */
template <int OP, int LINES>
static __device__ inline value lines_fold(const struct scan_args &a, value (&x)[LINES], int step)
{
#pragma unroll
    for (int lines = LINES; lines > 1; lines /= 2, step *= 2) {
#pragma unroll
        for (int k = 0; k < lines / 2; k++) x[k] = lines_merge<OP>(a, x[2 * k], x[2 * k + 1], step);
    }
    return x[0];
}

/* The totals of the lines: lane k gets line k's.  The same tree as above for the last lane,
 * adjacent lanes first.  In the first steps half of the lanes continue with one line, half with
 * another. */
template <int OP>
static __device__ inline value lines_total(const struct scan_args &a, value (&x)[SCAN_SLOTS])
{
    value sum = lines_fold<OP, SCAN_SLOTS>(a, x, 1);
#pragma unroll
    for (int step = SCAN_SLOTS; step < 32; step *= 2)
        sum = combine<OP>(a, sum, lane_across(sum, step));
    return sum;
}

/* Lane r has line r's total, and gets the inclusive prefix over the lines. flagged: lines with
 * flags. */
template <int OP, int SEGMENTED>
static __device__ inline value lines_sum(const struct scan_args &a, value x, uint32_t flagged)
{
    value sum = neutral<OP>(a);
#pragma unroll 8
    for (int r = 0; r < SCAN_LINES; r++) {
        value line = lane_at(x, r);
        if (r <= (int)lane_id())
            sum = SEGMENTED && flagged >> r & 1 ? line : combine<OP>(a, sum, line);
    }
    return sum;
}

/* ---- Lines of which a thread has one vector each ---- */

struct line_part {
    union vector v[SCAN_SLOTS];
    uint32_t flags[SCAN_SLOTS]; /* one bit per element */
};

/* Computes the prefix of each vector in its line, and the preceding lanes that have flags. */
template <int OP, int SEGMENTED>
static __device__ inline void lines_before(const struct scan_args &a, const struct line_part &part,
                                           value (&x)[SCAN_SLOTS], uint32_t (&below)[SCAN_SLOTS])
{
    uint32_t from[SCAN_SLOTS];
#pragma unroll
    for (int k = 0; k < SCAN_SLOTS; k++) {
        x[k] = vector_total<OP, SEGMENTED>(a, part.v[k], part.flags[k]);
        from[k] = below[k] = 0;
        if (!SEGMENTED) continue;
        uint32_t with_flag = __ballot_sync(WARP_ALL, part.flags[k] != 0);
        below[k] = with_flag & lanes_below();
        from[k] = last_lane(with_flag & (lanes_below() | 1u << lane_id()));
    }
    lines_scan<OP>(a, x, from);
#pragma unroll
    for (int k = 0; k < SCAN_SLOTS; k++) {
        x[k] = lane_up(x[k], 1);
        if (lane_id() == 0) x[k] = neutral<OP>(a);
    }
}

/* ---- Down ---- */

/* Sequentially, because for integers any order gives the same result. */
template <int OP, int SEGMENTED>
static __device__ inline void integer_results(const struct scan_args &a, const union vector &v,
                                              uint32_t flags, value x, uout (&e)[VECTOR])
{
#pragma unroll
    for (int j = 0; j < VECTOR; j++) {
        const value left = SEGMENTED && flags >> j & 1 ? value_of_bits(a.first) : x;
        x = combine<OP>(a, left, value_of<OP>(a, v.e[j]));
        e[j] = element_of<OP>(a, a.exclusive ? left : x);
    }
}

/* The vector's results, given its prefix `before`. */
template <int OP, int SEGMENTED>
static __device__ inline void vector_results(const struct scan_args &a, const union vector &v,
                                             uint32_t flags, value before, uout (&e)[VECTOR])
{
    if (!SCAN_FLOAT && (SEGMENTED || is_called<OP, SEGMENTED>())) {
        integer_results<OP, SEGMENTED>(a, v, flags, before, e);
        return;
    }
    value x = before;
    bool seen = false; /* whether there is a flag at or before this element */
#pragma unroll
    for (int j = 0; j < VECTOR; j++) {
        value mine = value_of<OP>(a, v.e[j]);
        const bool flag = SEGMENTED && flags >> j & 1;
        if (flag)
            x = combine<OP>(a, value_of_bits(a.first), mine);
        else
            x = j ? combine<OP>(a, x, mine) : mine;
        seen |= flag;
        e[j] = element_of<OP>(a, SEGMENTED && seen ? x : combine<OP>(a, before, x));
    }
    if (!a.exclusive) return;
    uout last = element_of<OP>(a, before);
#pragma unroll
    for (int j = 0; j < VECTOR; j++) {
        uout mine = e[j];
        e[j] = SEGMENTED && flags >> j & 1 ? element_of<OP>(a, value_of_bits(a.first)) : last;
        last = mine;
    }
}

template <int OP, int SEGMENTED>
static __device__ inline void vector_results_by(const struct scan_args &a, const union vector &v,
                                                uint32_t flags, value before, uout (&e)[VECTOR])
{
    if (OP != OTHER || !is_called<OP, SEGMENTED>())
        vector_results<OP, SEGMENTED>(a, v, flags, before, e);
    else if (SCAN_WIDE && a.other == SCAN_SUM)
        vector_results<SUM, SEGMENTED>(a, v, flags, before, e);
    else if (SCAN_WORDS && a.other == SCAN_MIN)
        vector_results<MIN, SEGMENTED>(a, v, flags, before, e);
    else if (!SCAN_WORDS || a.other == SCAN_PRODUCT)
        vector_results<PRODUCT, SEGMENTED>(a, v, flags, before, e);
    else
        vector_results<BITS, SEGMENTED>(a, v, flags, before, e);
}

/* The same, and stores the results, element by element if necessary. */
template <int OP, int SEGMENTED>
static __device__ __noinline__ void finish_called(const struct scan_args &a, struct scan_row row,
                                                  uint64_t at, uint4 v, uint32_t flags,
                                                  value before)
{
    union vector u;
    uout e[VECTOR];
    if (OP != SUM) encode_words(a, v);
    u.all = v;
    if (no_flags<OP, SEGMENTED>(flags))
        vector_results_by<OP, 0>(a, u, 0, before, e);
    else
        vector_results_by<OP, SEGMENTED>(a, u, flags, before, e);
    if (OP != SUM) decode_words(a, e);
    if (stored_whole(a, row, at)) {
        store_whole(a, row, at, e);
        return;
    }
    const uint32_t set = elements_within(at, row.begin, row.end, a.backward);
    uout *to = row.out + (a.backward ? row.n - at - VECTOR : at);
#pragma unroll
    for (int j = 0; j < VECTOR; j++)
        if (set >> j & 1) to[j] = a.backward ? e[VECTOR - 1 - j] : e[j];
}

template <int OP, int SEGMENTED>
static __device__ inline void finish_vector(const struct scan_args &a, const struct scan_row &row,
                                            uint64_t at, const union vector &v, uint32_t flags,
                                            value before)
{
    uout e[VECTOR];
    if (!is_called<OP, SEGMENTED>() && stored_whole(a, row, at)) {
        vector_results<OP, SEGMENTED>(a, v, flags, before, e);
        store_whole(a, row, at, e);
    } else {
        finish_called<OP, SEGMENTED>(a, row, at, v.all, flags, before);
    }
}

/* A thread's vectors of a tile, one line apart; x: the prefix of each.  WHOLE is the result of
 * tile_stored_whole(). */
template <int OP, int SEGMENTED>
static __device__ inline void finish_part(const struct scan_args &a, const struct scan_row &row,
                                          uint64_t at, struct line_part &part,
                                          const value (&x)[SCAN_SLOTS], bool whole)
{
    if (!is_called<OP, SEGMENTED>() && whole) {
#pragma unroll
        for (int k = 0; k < SCAN_SLOTS; k++) {
            uout e[VECTOR];
            forget_elements(part.v[k]);
            vector_results<OP, SEGMENTED>(a, part.v[k], part.flags[k], x[k], e);
            store_whole(a, row, at + k * LINE, e);
        }
    } else {
#pragma unroll
        for (int k = 0; k < SCAN_SLOTS; k++)
            finish_called<OP, SEGMENTED>(a, row, at + k * LINE, part.v[k].all, part.flags[k], x[k]);
    }
}

#endif
