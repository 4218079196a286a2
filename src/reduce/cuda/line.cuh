/*
 * reduce/cuda/line.cuh - adds vectors to a thread's lanes, and folds the lanes: a start, an add and
 * an end for each kind of reduction.
 *
 * FULL is 1 if all elements of the vector are used, in variances also NaN; otherwise the first
 * `count` are, and the others are lane_fill().  `at`: position of the vector in the chunk.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_REDUCE_CUDA_LINE_CUH
#define ECHI_REDUCE_CUDA_LINE_CUH

#include "reduce/cuda/lanes.cuh"
#include "reduce/cuda/other.cuh"

/* The bits of a 1 for products of floats, of a 0 for all other kinds. */
template <int KIND> static __device__ inline ukey lane_fill(void)
{
    if (KIND != REDUCE_PRODUCT && KIND != REDUCE_PRODUCT64) return 0;
    return (ukey)(REDUCE_FLOAT == 2 ? 0x3f80u
                  : KEY_BITS == 16  ? 0x3c00u
                  : KEY_BITS == 32  ? 0x3f800000ull
                                    : 0x3ffull << 52);
}

/* ---- Floats ---- */

static __device__ inline float kept(float x, float instead, uint32_t ignore)
{
    return ignore && x != x ? instead : x;
}

static __device__ inline double kept(double x, double instead, uint32_t ignore)
{
    return ignore && x != x ? instead : x;
}

#if REDUCE_FLOAT
static __device__ inline void lanes_start(struct lanes<REDUCE_SUM> &l)
{
    fill_lanes(l.lane, -0.0f);
}

template <int FULL>
static __device__ inline void lanes_add(const struct reduce_args &a, struct lanes<REDUCE_SUM> &l,
                                        const struct vector &v, const struct vector &, uint32_t,
                                        uint32_t)
{
    if (a.rule.ignore) {
#pragma unroll
        for (int i = 0; i < VECTOR; i++) l.lane[i] += kept(to_f32(vector_element(v, i)), -0.0f, 1);
        return;
    }
#pragma unroll
    for (int i = 0; i < VECTOR; i++) l.lane[i] += to_f32(vector_element(v, i));
}

static __device__ inline struct value lanes_end(const struct reduce_args &,
                                                struct lanes<REDUCE_SUM> &l)
{
    struct value v = { bits_of(add_lanes(l.lane)), 0, 0, 0 };
    return v;
}

static __device__ inline void lanes_start(struct lanes<REDUCE_PRODUCT> &l)
{
    fill_lanes(l.lane, 1.0f);
}

template <int FULL>
static __device__ inline void lanes_add(const struct reduce_args &a,
                                        struct lanes<REDUCE_PRODUCT> &l, const struct vector &v,
                                        const struct vector &, uint32_t, uint32_t)
{
#pragma unroll
    for (int i = 0; i < VECTOR; i++)
        l.lane[i] *= kept(to_f32(vector_element(v, i)), 1.0f, a.rule.ignore);
}

static __device__ inline struct value lanes_end(const struct reduce_args &,
                                                struct lanes<REDUCE_PRODUCT> &l)
{
    struct value v = { bits_of(multiply_lanes(l.lane)), 0, 0, 0 };
    return v;
}

static __device__ inline void lanes_start(struct lanes<REDUCE_DOT> &l)
{
    fill_lanes(l.lane, -0.0f);
}

template <int FULL>
static __device__ inline void lanes_add(const struct reduce_args &a, struct lanes<REDUCE_DOT> &l,
                                        const struct vector &v, const struct vector &w, uint32_t,
                                        uint32_t)
{
#pragma unroll
    for (int i = 0; i < VECTOR; i++) {
        float x = to_f32(vector_element(v, i)), y = to_f32(vector_element(w, i)), product = x * y;
        bool skip = a.rule.ignore && (x != x || y != y);
        l.lane[i] += skip ? -0.0f : product;
    }
}

static __device__ inline struct value lanes_end(const struct reduce_args &,
                                                struct lanes<REDUCE_DOT> &l)
{
    struct value v = { bits_of(add_lanes(l.lane)), 0, 0, 0 };
    return v;
}

static __device__ inline void lanes_start(struct lanes<REDUCE_PRODUCT64> &l)
{
    fill_lanes(l.lane, 1.0);
}

template <int FULL>
static __device__ inline void lanes_add(const struct reduce_args &a,
                                        struct lanes<REDUCE_PRODUCT64> &l, const struct vector &v,
                                        const struct vector &, uint32_t, uint32_t)
{
#pragma unroll
    for (int i = 0; i < VECTOR; i++)
        l.lane[i] *= kept(to_f64(a.rule, vector_element(v, i)), 1.0, a.rule.ignore);
}

static __device__ inline struct value lanes_end(const struct reduce_args &,
                                                struct lanes<REDUCE_PRODUCT64> &l)
{
    struct value v = { bits_of(multiply_lanes(l.lane)), 0, 0, 0 };
    return v;
}

static __device__ inline void lanes_start(struct lanes<REDUCE_DOT64> &l)
{
    fill_lanes(l.lane, -0.0);
}

template <int FULL>
static __device__ inline void lanes_add(const struct reduce_args &a, struct lanes<REDUCE_DOT64> &l,
                                        const struct vector &v, const struct vector &w, uint32_t,
                                        uint32_t)
{
#pragma unroll
    for (int i = 0; i < VECTOR; i++) {
        double x = to_f64(a.rule, vector_element(v, i)), y = to_f64(a.rule, vector_element(w, i));
        double product = x * y;
        bool skip = a.rule.ignore && (x != x || y != y);
        l.lane[i] += skip ? -0.0 : product;
    }
}

static __device__ inline struct value lanes_end(const struct reduce_args &,
                                                struct lanes<REDUCE_DOT64> &l)
{
    struct value v = { bits_of(add_lanes(l.lane)), 0, 0, 0 };
    return v;
}
#endif

/* ---- Floats and integers in f64 ---- */

#if REDUCE_EXACT
static __device__ inline void exact_start(struct exact_lanes &l)
{
    l.n = l.sum = 0;
    l.squares = 0;
}

template <int FULL>
static __device__ inline void exact_add(const struct reduce_args &a, struct exact_lanes &l,
                                        const struct vector &v, uint32_t count, bool squares)
{
    const uint32_t sign = spread(a.rule.sign);
    l.n += FULL ? (uint32_t)VECTOR : count;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const uint32_t w = (v.w[i] ^ sign) & (FULL ? ~0u : vector_mask(i, count));
#if KEY_BITS == 8
        l.sum = __dp4a(w, 0x01010101u, l.sum);
        if (squares) l.squares = __dp4a(w, w, l.squares);
#else
        const uint32_t low = w & 0xffff, high = w >> 16;
        l.sum = __dp2a_lo(w, 0x00000101u, l.sum);
        if (squares) l.squares += (uint64_t)(low * low) + high * high;
#endif
    }
}

/* The signed sums of the elements and of their squares. */
static __device__ inline void exact_end(const struct reduce_args &a, const struct exact_lanes &l,
                                        uint64_t *sum, uint64_t *squares)
{
    const uint64_t sign = (ukey)a.rule.sign, bias = sign * l.n;
    *sum = l.sum - bias;
    *squares = l.squares - sign * (2 * (uint64_t)l.sum - bias);
}

static __device__ inline void lanes_start(struct lanes<REDUCE_SUM64> &l)
{
    exact_start(l.of);
}

template <int FULL>
static __device__ inline void lanes_add(const struct reduce_args &a, struct lanes<REDUCE_SUM64> &l,
                                        const struct vector &v, const struct vector &,
                                        uint32_t count, uint32_t)
{
    exact_add<FULL>(a, l.of, v, count, a.rule.finish == ECHI_FINISH_NORM);
}

static __device__ inline struct value lanes_end(const struct reduce_args &a,
                                                struct lanes<REDUCE_SUM64> &l)
{
    struct value v = { 0, 0, 0, 0 };
    uint64_t squares;
    exact_end(a, l.of, &v.a, &squares);
    if (a.rule.finish == ECHI_FINISH_NORM) v.a = squares;
    return v;
}

static __device__ inline void lanes_start(struct lanes<REDUCE_VARIANCE> &l)
{
    exact_start(l.of);
}

template <int FULL>
static __device__ inline void lanes_add(const struct reduce_args &a,
                                        struct lanes<REDUCE_VARIANCE> &l, const struct vector &v,
                                        const struct vector &, uint32_t count, uint32_t)
{
    exact_add<FULL>(a, l.of, v, count, true);
}

static __device__ inline struct value lanes_end(const struct reduce_args &a,
                                                struct lanes<REDUCE_VARIANCE> &l)
{
    struct value v = { l.of.n, 0, 0, 0 };
    exact_end(a, l.of, &v.b, &v.c);
    return v;
}
#else
static __device__ inline void lanes_start(struct lanes<REDUCE_SUM64> &l)
{
    fill_lanes(l.lane, -0.0);
    l.ignored = 0;
}

template <int FULL>
static __device__ inline void lanes_add(const struct reduce_args &a, struct lanes<REDUCE_SUM64> &l,
                                        const struct vector &v, const struct vector &, uint32_t,
                                        uint32_t)
{
    const bool squares = a.rule.finish == ECHI_FINISH_NORM;
#pragma unroll
    for (int i = 0; i < VECTOR; i++) {
        double x = to_f64(a.rule, vector_element(v, i));
        if (REDUCE_FLOAT && a.rule.ignore && x != x) {
            l.ignored++;
            x = -0.0;
        }
        l.lane[i] += squares ? x * x : x;
    }
}

static __device__ inline struct value lanes_end(const struct reduce_args &,
                                                struct lanes<REDUCE_SUM64> &l)
{
    struct value v = { bits_of(add_lanes(l.lane)), l.ignored, 0, 0 };
    return v;
}

static __device__ inline void lanes_start(struct lanes<REDUCE_VARIANCE> &l)
{
    fill_lanes(l.lane, -0.0);
    fill_lanes(l.square, -0.0);
    l.n = l.some = 0;
}

static __device__ inline void note_distance(struct lanes<REDUCE_VARIANCE> &l, double d)
{
    if (REDUCE_F64) l.some |= (uint32_t)__double2hiint(d) | (uint32_t)__double2loint(d);
}

template <int FULL>
static __device__ inline void lanes_add(const struct reduce_args &a,
                                        struct lanes<REDUCE_VARIANCE> &l, const struct vector &v,
                                        const struct vector &, uint32_t count, uint32_t)
{
    if (FULL || (count == VECTOR && !(REDUCE_FLOAT && a.rule.ignore))) {
        l.n += VECTOR;
#pragma unroll
        for (int i = 0; i < VECTOR; i++) {
            double d = distance_of(a.rule, vector_element(v, i), l.k);
            note_distance(l, d);
            l.lane[i] += d;
            l.square[i] += d * d;
        }
    } else {
#pragma unroll
        for (int i = 0; i < VECTOR; i++) {
            const ukey u = vector_element(v, i);
            double x = to_f64(a.rule, u), d = distance_of(a.rule, u, l.k);
            bool there = i < count && !(REDUCE_FLOAT && a.rule.ignore && x != x);
            l.n += there;
            if (there) note_distance(l, d);
            l.lane[i] += there ? d : -0.0;
            l.square[i] += there ? d * d : -0.0;
        }
    }
}

static __device__ inline struct value lanes_end(const struct reduce_args &,
                                                struct lanes<REDUCE_VARIANCE> &l)
{
    struct value v = { l.n, bits_of(add_lanes(l.lane)), bits_of(add_lanes(l.square)), 0 };
    if (REDUCE_F64 && l.some) v.a += VALUE_SOME;
    return v;
}
#endif

/* ---- Integers ---- */

#if !REDUCE_FLOAT
static __device__ inline void lanes_start(struct lanes<REDUCE_ISUM> &l)
{
    l.sum = 0;
}

/* Inverted sign bits make the elements unsigned; value_result() corrects the sum. */
template <int FULL>
static __device__ inline void lanes_add(const struct reduce_args &a, struct lanes<REDUCE_ISUM> &l,
                                        const struct vector &v, const struct vector &,
                                        uint32_t count, uint32_t)
{
    const uint32_t sign = spread(a.rule.sign);
    uint32_t some = 0;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        uint32_t keep = FULL ? ~0u : vector_mask(i, count);
#if KEY_BITS == 8
        some = __dp4a((v.w[i] ^ sign) & keep, 0x01010101u, some);
#elif KEY_BITS == 16
        some = __dp2a_lo((v.w[i] ^ sign) & keep, 0x00000101u, some);
#elif KEY_BITS == 32
        l.sum += (v.w[i] ^ sign) & keep;
#else
        if (i % 2) l.sum += keep ? ((uint64_t)v.w[i] << 32 | v.w[i & ~1]) ^ a.rule.sign : 0;
#endif
    }
    l.sum += some;
    (void)sign;
}

static __device__ inline void lanes_start(struct lanes<REDUCE_IDOT> &l)
{
    l.sum = 0;
}

template <int FULL>
static __device__ inline void lanes_add(const struct reduce_args &a, struct lanes<REDUCE_IDOT> &l,
                                        const struct vector &v, const struct vector &w, uint32_t,
                                        uint32_t)
{
#if KEY_BITS == 8
    uint32_t some = 0;
#pragma unroll
    for (int i = 0; i < 4; i++)
        some = a.rule.sign ? (uint32_t)__dp4a((int)v.w[i], (int)w.w[i], (int)some)
                           : __dp4a(v.w[i], w.w[i], some);
    l.sum += widened(a.rule, some);
#elif KEY_BITS == 64
#pragma unroll
    for (int i = 0; i < VECTOR; i++) l.sum += vector_element(v, i) * vector_element(w, i);
#else
#pragma unroll
    for (int i = 0; i < VECTOR; i++) {
        uint32_t x = extended(a.rule, vector_element(v, i));
        uint32_t y = extended(a.rule, vector_element(w, i));
        l.sum += KEY_BITS == 16 ? widened(a.rule, x * y) : widened(a.rule, x) * widened(a.rule, y);
    }
#endif
}

template <int KIND>
static __device__ inline struct value lanes_end(const struct reduce_args &, struct lanes<KIND> &l)
{
    struct value v = { l.sum, 0, 0, 0 };
    return v;
}

/* ---- Bits and order ---- */

static __device__ inline void lanes_start(struct lanes<REDUCE_MAX> &l)
{
    most_start(l.most);
}

template <int FULL>
static __device__ inline void lanes_add(const struct reduce_args &a, struct lanes<REDUCE_MAX> &l,
                                        const struct vector &v, const struct vector &,
                                        uint32_t count, uint32_t)
{
    uint32_t e[4];
    encode<FULL>(a.rule.order, v, count, e);
    most_add(l.most, e);
}

static __device__ inline struct value lanes_end(const struct reduce_args &,
                                                struct lanes<REDUCE_MAX> &l)
{
    struct value v = { most_end(l.most), 0, 0, 0 };
    return v;
}

static __device__ inline void lanes_start(struct lanes<REDUCE_MINMAX> &l)
{
    most_start(l.most);
    most_start(l.inverted);
}

/* The distance of the NaN from the end of the order.  If they are ignored, adding it to e wraps
 * them to the bottom, below the shifted numbers. */
static __device__ inline ukey wrap_of(const struct reduce_args &a)
{
    return a.rule.ignore ? (ukey) ~(ukey)a.rule.limit : 0;
}

template <int FULL>
static __device__ inline void lanes_add(const struct reduce_args &a, struct lanes<REDUCE_MINMAX> &l,
                                        const struct vector &v, const struct vector &,
                                        uint32_t count, uint32_t)
{
    uint32_t e[4], inverted[4];
    const ukey wrap = wrap_of(a);
    encode<1>(a.rule.order, v, count, e);
#pragma unroll
    for (int i = 0; i < 4; i++) inverted[i] = ~e[i];
    add_to_all(e, wrap);
    if (!FULL)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            e[i] &= vector_mask(i, count);
            inverted[i] &= vector_mask(i, count);
        }
    most_add(l.most, e);
    most_add(l.inverted, inverted);
}

static __device__ inline struct value lanes_end(const struct reduce_args &a,
                                                struct lanes<REDUCE_MINMAX> &l)
{
    uint64_t most = most_end(l.most);
    struct value v = { (ukey) ~(ukey)most_end(l.inverted), most, 0, 0 };
    v.b = most > wrap_of(a) ? most - wrap_of(a) : 0;
    return v;
}

static __device__ inline void lanes_start(struct lanes<REDUCE_ARG> &l)
{
    l.best = 0;
    l.at = ~0u;
}

/* The value that is added to e ^ flip, so that NaN are last if they decide and first if they are
 * ignored. */
static __device__ inline ukey arg_wrap(const struct echi_reduce_rule &rule)
{
    const ukey last = (ukey)rule.order.last;
    if (!rule.order.float_mask || (rule.flip != 0) == (rule.ignore != 0)) return 0;
    return rule.flip ? last : (ukey)-last;
}

/* Records the vector; arg_result() finds the element at the end.  The maximum of a vector is found
 * in an order that distinguishes -0 and +0, and NaN; only this maximum is converted to a rank. */
template <int FULL>
static __device__ inline void lanes_add(const struct reduce_args &a, struct lanes<REDUCE_ARG> &l,
                                        const struct vector &v, const struct vector &,
                                        uint32_t count, uint32_t at)
{
    const ukey wrap = arg_wrap(a.rule), flip = (ukey)a.rule.flip;
    struct most most;
    uint32_t e[4];
    most_start(most);
    encode<1>(a.rule.order, v, count, e);
#pragma unroll
    for (int i = 0; i < 4; i++) e[i] ^= spread(flip);
    add_to_all(e, wrap);
    if (!FULL)
#pragma unroll
        for (int i = 0; i < 4; i++) e[i] &= vector_mask(i, count);
    most_add(most, e);
    const ukey best = arg_rank(a.rule, (ukey)((ukey)most_end(most) - wrap) ^ flip);
    if (best > l.best || l.at == ~0u) {
        l.best = best;
        l.at = at;
    }
}

static __device__ inline struct value lanes_end(const struct reduce_args &,
                                                struct lanes<REDUCE_ARG> &l)
{
    struct value v = { l.best, l.at == ~0u ? UINT64_MAX : l.at, 0, 0 };
    return v;
}

#endif

#endif
