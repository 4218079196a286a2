/*
 * reduce/cuda/value.cuh - the value of a part of an array, in at most three words: merged,
 * exchanged among lanes, stored, converted to a result.
 *
 * Within a chunk the words are sums that lanes can add; value_close() converts them to the form in
 * which chunks are merged.  The two forms differ only for the variance, and for sums of small
 * integers in f64.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_REDUCE_CUDA_VALUE_CUH
#define ECHI_REDUCE_CUDA_VALUE_CUH

#include "reduce/cuda/vector.cuh"
#include "cuda/device/order.cuh"
#include "reduce/cuda/common.h"
#include "cuda/device/warp.cuh"

#ifndef REDUCE_FLOAT
#define REDUCE_FLOAT 0
#endif

/* Sums of these elements in f64 are exact within a chunk: integers until value_close(). */
#define REDUCE_EXACT (!REDUCE_FLOAT && KEY_BITS <= 16)

/* How distances of a variance are computed. */
#define REDUCE_WHOLE (!REDUCE_FLOAT && KEY_BITS == 64)
#define REDUCE_F64   (REDUCE_FLOAT && KEY_BITS == 64)
enum {
    REDUCE_SPREAD = REDUCE_WHOLE ? ECHI_SPREAD_INTEGER
                    : REDUCE_F64 ? ECHI_SPREAD_F64
                                 : ECHI_SPREAD_PLAIN
};

/* The center of a variance's distances; of integers center_of_integer(). */
#if REDUCE_WHOLE
typedef uint64_t center;
#else
typedef double center;
#endif

/* a: a sum, a product, a rank, the minimum e, or a count; b: NaN left out, a position, or the
 * maximum e.
 *
 * A variance has, while lanes are added, a: the count and, from VALUE_SOME on, lanes of f64 with a
 * distance that is not 0; b, c: the sums of distances and of their squares.  Then it is a struct
 * echi_moments, a: n, b: offset, c: m2, d: center.  The two lowest bits of a contain the scale, as
 * they are 0 in every n below 2^51.  A value of value_close() with a scale has no sums yet. */
struct value {
    uint64_t a, b, c, d;
};

static const uint64_t VALUE_SOME = (uint64_t)1 << 32;

template <int KIND> static __device__ inline constexpr int value_words(void)
{
    return KIND == REDUCE_VARIANCE ? (KEY_BITS == 64 ? 4 : 3)
           : KIND == REDUCE_SUM64 || KIND == REDUCE_DOT64 || KIND == REDUCE_MINMAX ||
                   KIND == REDUCE_ARG
               ? 2
               : 1;
}

template <int KIND> static __device__ inline constexpr bool value_is_f32(void)
{
    return KIND == REDUCE_SUM || KIND == REDUCE_PRODUCT || KIND == REDUCE_DOT;
}

static __device__ inline float f32_of(uint64_t u)
{
    return __uint_as_float((uint32_t)u);
}

static __device__ inline uint64_t bits_of(float x)
{
    return __float_as_uint(x);
}

static __device__ inline double f64_of(uint64_t u)
{
    return __longlong_as_double((long long)u);
}

static __device__ inline uint64_t bits_of(double x)
{
    return (uint64_t)__double_as_longlong(x);
}

/* Code for rows and segments of this kind is unrolled, with most vectors in flight; other kinds use
 * loops, which keep their kernels small. */
template <int KIND> static __device__ inline constexpr bool is_common(void)
{
    return KIND == REDUCE_SUM && KEY_BITS == 32;
}

/* The identity element of merging. */
template <int KIND> static __device__ inline struct value value_nothing(void)
{
    struct value v = { 0, 0, 0, 0 };
    if (KIND == REDUCE_SUM || KIND == REDUCE_DOT) v.a = bits_of(-0.0f);
    if (KIND == REDUCE_PRODUCT) v.a = bits_of(1.0f);
    if (KIND == REDUCE_SUM64 || KIND == REDUCE_DOT64) v.a = bits_of(-0.0);
    if (KIND == REDUCE_PRODUCT64) v.a = bits_of(1.0);
    if (KIND == REDUCE_MINMAX) v.a = UINT64_MAX;
    if (KIND == REDUCE_ARG) v.b = UINT64_MAX;
    return v;
}

/* Kinds whose result does not depend on the order, so that a warp's lanes may cover many chunks. */
template <int KIND> static __device__ inline constexpr bool value_any_order(void)
{
    return KIND == REDUCE_ISUM || KIND == REDUCE_IDOT || KIND >= REDUCE_BITS;
}

/* ... and also not on the positions of the elements, so that the lanes may begin at an aligned
 * address: value_of_any() in part.cuh. */
template <int KIND> static __device__ inline constexpr bool value_any_place(void)
{
    return value_any_order<KIND>() && KIND != REDUCE_IDOT && KIND != REDUCE_ARG;
}

/* Sums without other data than the sum itself, of which many fit in registers. */
template <int KIND> static __device__ inline constexpr bool is_plain_sum(void)
{
    return is_common<KIND>() || KIND == REDUCE_ISUM || (KIND == REDUCE_SUM64 && REDUCE_F64);
}

/* ---- Merging ---- */

/* Divisions need much code and are in no loop over elements: functions that are called keep the
 * kernels small. */
static __device__ inline struct value value_of(struct echi_moments m)
{
    struct value v = { bits_of(m.n), bits_of(m.offset), bits_of(m.m2), m.center };
    if (REDUCE_F64) v.a |= m.scale;
    return v;
}

static __device__ inline struct echi_moments moments_of(struct value v)
{
    const uint64_t scale = REDUCE_F64 ? v.a & 3 : 0;
    struct echi_moments m = { f64_of(v.a ^ scale), f64_of(v.b), f64_of(v.c), v.d, (uint32_t)scale };
    return m;
}

static __device__ __noinline__ struct value moments_joined(struct value x, struct value y)
{
    return value_of(moments_merge(REDUCE_SPREAD, moments_of(x), moments_of(y)));
}

/* n may have VALUE_SOME. */
static __device__ __noinline__ struct value moments_closed(uint64_t n, uint64_t k, double s1,
                                                           double s2)
{
    const uint64_t count = REDUCE_F64 ? n & (VALUE_SOME - 1) : n;
    struct value v =
        value_of(moments_make(REDUCE_SPREAD, (double)count, k, s1, s2, ECHI_SCALE_NONE));
    if (REDUCE_F64) v.a |= scale_of_squares(s2, n >= VALUE_SOME);
    return v;
}

static __device__ inline uint64_t center_bits(center k)
{
    return REDUCE_WHOLE ? (uint64_t)k : bits_of((double)k);
}

static __device__ inline center center_of_bits(uint64_t bits)
{
    return REDUCE_WHOLE ? (center)bits : (center)f64_of(bits);
}

/* Products are stored XORed with 1, so that 0 is the identity element of all kinds. */
static __device__ inline uint64_t other_merge(const struct reduce_args &args, uint64_t x,
                                              uint64_t y)
{
    if (args.kind == REDUCE_IPRODUCT) return ((x ^ 1) * (y ^ 1)) ^ 1;
    if (args.kind != REDUCE_BITS) return x + y;
    return args.rule.exclusive ? x ^ y : x | y;
}

/* x precedes y. */
template <int KIND>
static __device__ inline struct value value_merge(const struct reduce_args &args, struct value x,
                                                  struct value y)
{
    if (KIND == REDUCE_ISUM || KIND == REDUCE_IDOT) x.a += y.a;
    if (KIND == REDUCE_OTHER) x.a = other_merge(args, x.a, y.a);
    if (KIND == REDUCE_SUM || KIND == REDUCE_DOT) x.a = bits_of(f32_of(x.a) + f32_of(y.a));
    if (KIND == REDUCE_PRODUCT) x.a = bits_of(f32_of(x.a) * f32_of(y.a));
    if (KIND == REDUCE_SUM64 || KIND == REDUCE_DOT64) {
        x.a = bits_of(f64_of(x.a) + f64_of(y.a));
        x.b += y.b;
    }
    if (KIND == REDUCE_PRODUCT64) x.a = bits_of(f64_of(x.a) * f64_of(y.a));
    if (KIND == REDUCE_MAX) x.a = y.a > x.a ? y.a : x.a;
    if (KIND == REDUCE_MINMAX) {
        x.a = y.a < x.a ? y.a : x.a;
        x.b = y.b > x.b ? y.b : x.b;
    }
    if (KIND == REDUCE_ARG) {
        bool second = y.a > x.a || (y.a == x.a && y.b < x.b);
        x.a = second ? y.a : x.a;
        x.b = second ? y.b : x.b;
    }
    if (KIND == REDUCE_VARIANCE) x = moments_joined(x, y);
    return x;
}

/* A sum of a variance's chunk, or of two. */
static __device__ inline uint64_t sum_add(uint64_t x, uint64_t y)
{
    return REDUCE_EXACT ? x + y : bits_of(f64_of(x) + f64_of(y));
}

/* The same within a chunk: for a variance a is the count, b and c are sums. */
template <int KIND>
static __device__ inline struct value value_add(const struct reduce_args &args, struct value x,
                                                struct value y)
{
    if (KIND == REDUCE_SUM64 && REDUCE_EXACT) {
        x.a += y.a;
        return x;
    }
    if (KIND != REDUCE_VARIANCE) return value_merge<KIND>(args, x, y);
    x.a += y.a;
    x.b = sum_add(x.b, y.b);
    x.c = sum_add(x.c, y.c);
    return x;
}

/* Converts a chunk's lanes, whose distances were from k, to its value.  Exact sums are of the
 * elements themselves: the sums of distances follow from them, without rounding.  Sums of f64 that
 * need a scale are only marked: needs_scale(). */
template <int KIND> static __device__ inline struct value value_close(struct value v, center k)
{
    if (KIND == REDUCE_SUM64 && REDUCE_EXACT) v.a = bits_of((double)(int64_t)v.a);
    if (KIND != REDUCE_VARIANCE) return v;
    double s1 = f64_of(v.b), s2 = f64_of(v.c);
    if (REDUCE_EXACT) {
        const int64_t from = (int64_t)k, sum = (int64_t)v.b, n = (int64_t)v.a;
        s1 = (double)(sum - n * from);
        s2 = (double)((int64_t)v.c - (2 * sum - n * from) * from);
    }
    if ((uint32_t)v.a != CHUNK || (REDUCE_F64 && !(s2 >= ECHI_TINY && s2 <= ECHI_MOST)))
        return moments_closed(v.a, center_bits(k), s1, s2);
    return value_of(moments_make_by(REDUCE_SPREAD, CHUNK, 1.0 / CHUNK, center_bits(k), s1, s2));
}

template <int KIND> static __device__ inline uint32_t needs_scale(const struct value &v)
{
    return KIND == REDUCE_VARIANCE && REDUCE_F64 ? (uint32_t)v.a & 3 : 0;
}

/* ---- Exchange among lanes ---- */

/* closed: converted by value_close(). */
template <int KIND>
static __device__ inline struct value value_from(struct value v, int step, bool closed)
{
    if (value_is_f32<KIND>()) {
        v.a = __shfl_xor_sync(WARP_ALL, (uint32_t)v.a, step);
        return v;
    }
    v.a = __shfl_xor_sync(WARP_ALL, (unsigned long long)v.a, step);
    if (value_words<KIND>() > 1) v.b = __shfl_xor_sync(WARP_ALL, (unsigned long long)v.b, step);
    if (value_words<KIND>() > 2) v.c = __shfl_xor_sync(WARP_ALL, (unsigned long long)v.c, step);
    if (value_words<KIND>() > 3 && closed)
        v.d = __shfl_xor_sync(WARP_ALL, (unsigned long long)v.d, step);
    return v;
}

/* Folds adjacent lanes, then pairs, ...: every lane of a group gets the value of the group.
 * CLOSED: of full chunks. */
template <int KIND, int LANES, int CLOSED>
static __device__ inline struct value value_fold(const struct reduce_args &args, struct value v)
{
#pragma unroll(CLOSED && !is_common <KIND>() ? 1 : 5)
    for (int step = 1; step < LANES; step *= 2) {
        struct value other = value_from<KIND>(v, step, CLOSED);
        bool second = KIND == REDUCE_VARIANCE && CLOSED && (lane_id() & step);
        struct value x = second ? other : v, y = second ? v : other; /* other kinds are
                                                                        commutative */
        v = CLOSED ? value_merge<KIND>(args, x, y) : value_add<KIND>(args, x, y);
    }
    return v;
}

/* Folds the values of parts in the first `count` lanes, at most 32; lane 0 gets the result.  Only
 * merges of variances take so long that fewer steps are faster. */
template <int KIND>
static __device__ inline struct value value_fold_some(const struct reduce_args &args,
                                                      struct value v, uint32_t count)
{
    const bool is_slow = KIND == REDUCE_VARIANCE;
    if (!is_slow) v = value_fold<KIND, 32, 1>(args, v);
#pragma unroll 1
    for (uint32_t step = 1; is_slow && step < count; step *= 2) {
        const struct value other = value_from<KIND>(v, (int)step, true);
        const bool second = lane_id() & step;
        v = value_merge<KIND>(args, second ? other : v, second ? v : other);
    }
    return v;
}

static __device__ inline uint32_t sum_of_lanes(uint32_t n)
{
#pragma unroll
    for (int step = 1; step < 32; step *= 2) n += __shfl_xor_sync(WARP_ALL, n, step);
    return n;
}

/* Folds the two sums of a variance's chunk of n elements at once: even lanes fold one, odd lanes
 * the other. */
static __device__ inline struct value value_fold_sums(struct value v, uint32_t n)
{
    const bool odd = lane_id() & 1;
    uint64_t mine = odd ? v.c : v.b;
    const uint64_t give = odd ? v.b : v.c;
    mine = sum_add(mine, __shfl_xor_sync(WARP_ALL, (unsigned long long)give, 1));
#pragma unroll
    for (int step = 2; step < 32; step *= 2)
        mine = sum_add(mine, __shfl_xor_sync(WARP_ALL, (unsigned long long)mine, step));
    const uint64_t other = __shfl_xor_sync(WARP_ALL, (unsigned long long)mine, 1);
    v.a = n;
    v.b = odd ? other : mine;
    v.c = odd ? mine : other;
    return v;
}

/* ---- In memory ---- */

/* A value in shared memory: only the words that the kind has. */
template <int KIND> struct packed {
    uint64_t word[value_words<KIND>()];
};

template <int KIND>
static __device__ inline void value_keep(struct packed<KIND> *to, const struct value &v)
{
    const uint64_t words[] = { v.a, v.b, v.c, v.d };
#pragma unroll
    for (int i = 0; i < value_words<KIND>(); i++) to->word[i] = words[i];
}

template <int KIND>
static __device__ inline struct value value_kept(const struct packed<KIND> *from)
{
    uint64_t words[4] = { 0, 0, 0, 0 };
#pragma unroll
    for (int i = 0; i < value_words<KIND>(); i++) words[i] = from->word[i];
    struct value v = { words[0], words[1], words[2], words[3] };
    return v;
}

template <int KIND>
static __device__ inline void value_store(uint64_t *to, uint64_t index, struct value v)
{
    to += index * value_words<KIND>();
    to[0] = v.a;
    if (value_words<KIND>() > 1) to[1] = v.b;
    if (value_words<KIND>() > 2) to[2] = v.c;
    if (value_words<KIND>() > 3) to[3] = v.d;
}

/* Bypasses the L1 cache, which does not see the writes of other multiprocessors. */
template <int KIND>
static __device__ inline struct value value_load(const uint64_t *from, uint64_t index)
{
    struct value v = value_nothing<KIND>();
    from += index * value_words<KIND>();
    v.a = __ldcg(from);
    if (value_words<KIND>() > 1) v.b = __ldcg(from + 1);
    if (value_words<KIND>() > 2) v.c = __ldcg(from + 2);
    if (value_words<KIND>() > 3) v.d = __ldcg(from + 3);
    return v;
}

/* ---- Results ---- */

/* An element's rank for arg, from its order_encode() form: the maximum wins. */
static __device__ inline ukey arg_rank(const struct echi_reduce_rule &rule, ukey e)
{
    e = order_merge(rule.order, e);
    return e == (ukey)rule.order.last ? (ukey)rule.special
                                      : (ukey)((e ^ (ukey)rule.flip) + (ukey)rule.add);
}

/* The position of the first element of that rank, which is in the vector at v.b. */
static __device__ inline uint64_t arg_result(const struct echi_reduce_rule &rule, struct value v,
                                             const ukey *x, uint64_t n)
{
    if (v.b >= n || v.a < rule.limit) return UINT64_MAX;
    while (v.b + 1 < n && arg_rank(rule, order_encode(rule.order, x[v.b])) != (ukey)v.a) v.b++;
    return v.b;
}

static __device__ inline uint64_t other_bits(const struct reduce_args &args, uint64_t v, uint64_t n)
{
    const struct echi_reduce_rule &rule = args.rule;
    if (args.kind == REDUCE_BITS) return v ^ rule.first;
    return args.kind == REDUCE_IPRODUCT ? v ^ 1 : count_result(&rule, v, n);
}

/* The result of the n elements from x on, for kinds that have one. */
template <int KIND>
static __device__ inline uint64_t value_bits(const struct reduce_args &args, struct value v,
                                             const ukey *x, uint64_t n)
{
    const struct echi_reduce_rule &rule = args.rule;
    uint64_t bits = v.a;
    if (KIND == REDUCE_ISUM) bits -= n * rule.sign; /* sign bits were inverted before the sum */
    if (KIND == REDUCE_SUM || KIND == REDUCE_DOT) bits = f32_result(f32_of(v.a) + 0.0f);
    if (KIND == REDUCE_PRODUCT) bits = f32_result(f32_of(v.a));
    if (KIND == REDUCE_SUM64 || KIND == REDUCE_DOT64)
        bits = sum_result(&rule, f64_of(v.a), n - v.b);
    if (KIND == REDUCE_PRODUCT64) bits = f64_result(f64_of(v.a));
    if (KIND == REDUCE_VARIANCE) bits = moments_result(&rule, moments_of(v));
    if (KIND == REDUCE_OTHER) bits = other_bits(args, v.a, n);
    if (KIND == REDUCE_MAX) bits = max_result(&rule, v.a);
    if (KIND == REDUCE_ARG) bits = arg_result(rule, v, x, n);
    return bits;
}

/* Writes result number `index`, of the n elements from x on. */
template <int KIND>
static __device__ inline void value_write(const struct reduce_args &args, struct value v,
                                          const ukey *x, uint64_t n, uint64_t index)
{
    const struct echi_reduce_rule &rule = args.rule;
    if ((KIND == REDUCE_VARIANCE || KIND == REDUCE_SUM64) && rule.raw) {
        uint64_t *raw = (uint64_t *)args.out + ECHI_RAW_WORDS * index;
        const uint64_t scale = KIND == REDUCE_VARIANCE && REDUCE_F64 ? v.a & 3 : 0;
        raw[0] = v.a ^ scale;
        raw[1] = v.b;
        raw[2] = v.c;
        raw[3] = v.d;
        raw[4] = scale;
    } else if (KIND == REDUCE_MINMAX) {
        uint64_t ends[2];
        minmax_result(&rule, v.a, v.b, ends);
        result_store(args.out, 2 * index, rule.bytes, ends[0]);
        result_store(args.out, 2 * index + 1, rule.bytes, ends[1]);
    } else {
        result_store(args.out, index, rule.out_bytes, value_bits<KIND>(args, v, x, n));
    }
}

/* The same as a function call, which loads the arguments of the kernel like data. */
template <int KIND>
static __device__ __noinline__ void value_written(const struct reduce_args &args, struct value v,
                                                  const ukey *x, uint64_t n, uint64_t index)
{
    value_write<KIND>(args, v, x, n, index);
}

/* The same for segments.cuh, which has several calls: results of few instructions are inlined. */
template <int KIND>
static __device__ inline void value_result(const struct reduce_args &args, struct value v,
                                           const ukey *x, uint64_t n, uint64_t index)
{
    if (KIND == REDUCE_SUM || KIND == REDUCE_ISUM)
        result_store(args.out, index, args.rule.out_bytes, value_bits<KIND>(args, v, x, n));
    else
        value_written<KIND>(args, v, x, n, index);
}

#endif
