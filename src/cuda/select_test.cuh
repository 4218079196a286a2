/*
 * cuda/select_test.cuh - which elements of a vector pass: a test, or being the first of a run.
 *
 * Keys of 8 bits are integers and are tested four in a register; others one by one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_SELECT_TEST_CUH
#define ECHI_CUDA_SELECT_TEST_CUH

#include "predicate.cuh"
#include "select_tile.cuh"

enum { VECTOR = 16 / KEY_BYTES };

union vector {
    uint4 v;
    uint32_t word[4];
    ukey key[VECTOR];
};

/* The top bits of four bytes as bits 0 ... 3: the products of the factor's bits do not meet. */
static __device__ inline uint32_t top_bits(uint32_t x)
{
    return ((x & 0x80808080u) >> 7) * 0x10204080u >> 28;
}

/* Bytes that are not zero, as bits. */
static __device__ inline uint32_t nonzero_bytes(uint32_t x)
{
    return top_bits(((x & 0x7f7f7f7fu) + 0x7f7f7f7fu) | x);
}

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

static __device__ inline uint32_t test_vector(const struct echi_predicate &p, const union vector &v)
{
    uint32_t bits = 0;
#pragma unroll
    for (int w = 0; w < 4; w++) bits |= test_bytes(p, v.word[w]) << 4 * w;
    return p.invert ? bits ^ 0xffff : bits;
}

/* The elements that are not what lies before them; before: the vector's neighbour. */
static __device__ inline uint32_t heads_of(const struct echi_order &o, const union vector &v,
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

static __device__ inline uform form_of(const struct echi_order &o, ukey u)
{
    (void)o;
    return u;
}

#else

static __device__ inline uint32_t test_vector(const struct echi_predicate &p, const union vector &v)
{
    uint32_t bits = 0;
#pragma unroll
    for (int k = 0; k < VECTOR; k++) bits |= (uint32_t)predicate_passes(p, v.key[k]) << k;
    return bits;
}

/* What a shuffle takes of a key. */
#if KEY_BITS == 64
typedef unsigned long long uform;
#else
typedef uint32_t uform;
#endif

/* Equal for equal keys, and for no others. */
static __device__ inline uform form_of(const struct echi_order &o, ukey u)
{
    return o.float_mask ? order_merge(o, order_encode(o, u)) : u;
}

static __device__ inline uint32_t heads_of(const struct echi_order &o, const union vector &v,
                                           uform before)
{
    uint32_t bits = 0;
#pragma unroll
    for (int k = 0; k < VECTOR; k++) {
        uform own = form_of(o, v.key[k]);
        bits |= (uint32_t)(own != before) << k;
        before = own;
    }
    return bits;
}
#endif

#endif
