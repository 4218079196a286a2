/*
 * select/cuda/test.cuh - which elements of a vector pass: a test, or whether they begin a run.
 *
 * Keys of 8 bits are integers and are tested four per register, keys of 16 bits two per register;
 * others one by one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SELECT_CUDA_TEST_CUH
#define ECHI_SELECT_CUDA_TEST_CUH

#include "cuda/device/predicate.cuh"
#include "select/cuda/count.cuh"

enum { VECTOR = 16 / KEY_BYTES };

union vector {
    uint4 v;
    uint32_t word[4];
    ukey key[VECTOR];
};

#if KEY_BITS == 8

/* (e - low <= span) of four bytes at once: no borrow and no carry leaves its byte. */
static __device__ inline uint32_t test_bytes(const struct echi_predicate &p, uint32_t u)
{
    const uint32_t top = 0x80808080u, each = 0x01010101u;
    const uint32_t low = (uint32_t)p.low * each, span = (uint32_t)p.span * each;
    uint32_t e = (u ^ (uint32_t)p.order.sign * each) & (uint32_t)p.mask * each;
    uint32_t d = ((e | top) - (low & ~top)) ^ ((e ^ ~low) & top);
    uint32_t rest = (span | top) - (d & ~top);
    return top_bits((span & ~d) | (~(span ^ d) & rest));
}

static __device__ inline uint32_t test_vector(const struct select_args &a, int which,
                                              const union vector &v)
{
    const struct echi_predicate &p = a.test[which];
    uint32_t bits = 0;
#pragma unroll
    for (int w = 0; w < 4; w++) bits |= test_bytes(p, v.word[w]) << 4 * w;
    return p.invert ? bits ^ 0xffff : bits;
}

/* The elements that differ from their predecessor; before: the element before the vector. */
template <int FLOAT>
static __device__ inline uint32_t starts_of(const struct echi_order &o, const union vector &v,
                                            uint32_t before)
{
    uint32_t bits = 0, last = before << 24;
    (void)o;
#pragma unroll
    for (int w = 0; w < 4; w++) {
        bits |= nonzero_bytes(v.word[w] ^ __funnelshift_l(last, v.word[w], 8)) << 4 * w;
        last = v.word[w];
    }
    return bits;
}

typedef uint32_t uform;

#else

#if KEY_BITS == 16 && !defined(ONE_BY_ONE)
#define HALVES 1

/* The top bits of the halves of four words, as bits. */
static __device__ inline uint32_t top_bits_of(const uint32_t (&x)[4])
{
    uint32_t bits = 0;
#pragma unroll
    for (int w = 0; w < 4; w++) bits |= x[w] >> (15 - 2 * w) & 0x10001u << 2 * w;
    return (bits & 0x55) | (bits >> 15 & 0xaa);
}

/* The top bit of each half that is not zero. */
static __device__ inline uint32_t nonzero_halves(uint32_t x)
{
    return ((x & 0x7fff7fffu) + 0x7fff7fffu) | x;
}

/* min(x + y, most) of each half, modulo 2^16. */
static __device__ inline uint32_t add_min_halves(uint32_t x, uint32_t y, uint32_t most)
{
#ifdef __CUDACC__
    return __viaddmin_u16x2(x, y, most);
#else
    const uint32_t low = min((x + y) & 0xffff, most & 0xffff);
    return min(((x >> 16) + (y >> 16)) & 0xffff, most >> 16) << 16 | low;
#endif
}

/* test_by() of two elements at once: those that pass are less than span + 1. */
template <int SIGNED>
static __device__ inline uint32_t test_halves(const struct select_test &q, const union vector &v)
{
    const uint32_t each = 0x10001, invert = q.invert ? 0xff : 0;
    const uint32_t offset = (uint32_t)q.offset * each, most = (uint32_t)(q.span + 1) * each;
    const uint32_t negative = (uint32_t)q.negative * each;
    uint32_t passed[4];
    if ((uint32_t)q.span == 0xffff) return 0xff ^ invert;
#pragma unroll
    for (int w = 0; w < 4; w++) {
        uint32_t x = v.word[w];
        if (SIGNED) x ^= (x >> 15 & each) * 0xffff & negative;
        passed[w] = nonzero_halves(add_min_halves(x, offset, most) ^ most);
    }
    return top_bits_of(passed) ^ invert;
}
#endif

/* Tests with fewer operations than the general one: for integers; for signed integers and
 * floats. */
enum test_kind { TEST_PLAIN, TEST_SIGNED, TEST_ANY };

template <int KIND>
static __device__ inline uint32_t test_by(const struct select_args &a, int which,
                                          const union vector &v)
{
    const struct select_test &q = a.quick[which];
#ifdef HALVES
    if (KIND != TEST_ANY) return test_halves<KIND == TEST_SIGNED>(q, v);
#endif
    const ukey negative = (ukey)q.negative, offset = (ukey)q.offset, span = (ukey)q.span;
    uint32_t bits = q.invert && KIND != TEST_ANY ? (1u << VECTOR) - 1 : 0;
#pragma unroll
    for (int k = 0; k < VECTOR; k++) {
        const ukey flip = (ukey)((skey)v.key[k] >> (KEY_BITS - 1)) & negative;
        if (KIND == TEST_ANY)
            bits |= (uint32_t)predicate_passes(a.test[which], v.key[k]) << k;
        else if ((ukey)((KIND == TEST_PLAIN ? v.key[k] : v.key[k] ^ flip) + offset) <= span)
            bits ^= 1u << k;
    }
    return bits;
}

/* Long code that is rarely needed is not inlined: otherwise there would be a copy for each vector
 * that a thread holds. */
#if KEY_BITS == 16
#define CALLED __noinline__
#else
#define CALLED inline
#endif

static __device__ CALLED uint32_t test_any(const struct select_args &a, int which, uint4 v)
{
    union vector u;
    u.v = v;
    return test_by<TEST_ANY>(a, which, u);
}

static __device__ inline uint32_t test_vector(const struct select_args &a, int which,
                                              const union vector &v)
{
    const struct select_test &q = a.quick[which];
    if (!q.simple) return test_any(a, which, v.v);
    return q.negative ? test_by<TEST_SIGNED>(a, which, v) : test_by<TEST_PLAIN>(a, which, v);
}

/* The type of a key in a shuffle. */
#if KEY_BITS == 64
typedef unsigned long long uform;
#else
typedef uint32_t uform;
#endif

/* Equal for equal floats, different for others. */
static __device__ inline ukey form_of(const struct echi_order &o, ukey u)
{
    return (ukey)order_merge(o, order_encode(o, u));
}

/* Whether a float may equal one with other bits: zeros, NaN, and, harmlessly, infinities. */
static __device__ inline bool is_special(const struct echi_order &o, ukey u)
{
    const uint32_t width = KEY_BITS < 32 ? KEY_BITS : 32, ones = ~0u >> (32 - width);
    const ukey infinity = (ukey)(((ukey) ~(ukey)0 >> 1) - (ukey)o.shift);
    const uint32_t top = (uint32_t)(u >> (KEY_BITS - width)) << 1 & ones; /* without the sign */
    return top - 1 >= ((uint32_t)(infinity >> (KEY_BITS - width)) << 1) - 1;
}

/* The starts of runs in a vector in which different special floats are adjacent. */
static __device__ CALLED uint32_t starts_by_form(const struct echi_order &o, uint4 v, uform before)
{
    uint32_t bits = 0;
    ukey last = form_of(o, (ukey)before);
    union vector u;
    u.v = v;
#pragma unroll
    for (int k = 0; k < VECTOR; k++) {
        const ukey own = form_of(o, u.key[k]);
        if (own != last) bits |= 1u << k;
        last = own;
    }
    return bits;
}

#ifdef HALVES
template <int FLOAT>
static __device__ inline uint32_t starts_of(const struct echi_order &o, const union vector &v,
                                            uform before)
{
    const uint32_t beyond = (uint32_t)(o.shift + 1) * 0x10001; /* 2^15 - infinity */
    uint32_t differ[4], special[4], any = 0, last = before << 16;
#pragma unroll
    for (int w = 0; w < 4; w++) {
        differ[w] = nonzero_halves(v.word[w] ^ __funnelshift_l(last, v.word[w], 16));
        last = v.word[w];
        if (!FLOAT) continue;
        const uint32_t size = v.word[w] & 0x7fff7fffu;
        special[w] = (size + beyond) | ~(size + 0x7fff7fffu);
        any |= special[w];
    }
    const uint32_t bits = top_bits_of(differ);
    if (!FLOAT || !(any & 0x80008000u)) return bits;
    const uint32_t mine = top_bits_of(special);
    const uint32_t both = mine & (mine << 1 | is_special(o, (ukey)before));
    return both & bits ? starts_by_form(o, v.v, before) : bits;
}
#else
template <int FLOAT>
static __device__ inline uint32_t starts_of(const struct echi_order &o, const union vector &v,
                                            uform before)
{
    uint32_t bits = 0;
    ukey last = (ukey)before;
    bool special = FLOAT && is_special(o, last), differ = false;
#pragma unroll
    for (int k = 0; k < VECTOR; k++) {
        const bool other = v.key[k] != last, both = special;
        if (other) bits |= 1u << k;
        last = v.key[k];
        if (FLOAT) special = is_special(o, last);
        if (FLOAT) differ |= other && both && special;
    }
    return FLOAT && differ ? starts_by_form(o, v.v, before) : bits;
}
#endif
#endif

#endif
