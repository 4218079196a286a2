/*
 * reduce/cuda/other.cuh - the lanes of products of integers, bits and counts, which share kernels.
 *
 * The parameters are those of line.cuh.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_REDUCE_CUDA_OTHER_CUH
#define ECHI_REDUCE_CUDA_OTHER_CUH

#include "reduce/cuda/lanes.cuh"

#if !REDUCE_FLOAT
/* The product of a word of small integers fits in 32 bits. */
template <int FULL>
static __device__ inline void product_add(const struct reduce_args &a, uint32_t (&lane)[4],
                                          const struct vector &v, uint32_t count)
{
    enum { EACH = KEY_BITS < 32 ? 4 / KEY_BYTES : 1 };
    uint64_t sum = ((uint64_t)lane[1] << 32 | lane[0]) ^ 1;
#pragma unroll
    for (int i = 0; i < VECTOR; i += EACH) {
#if KEY_BITS == 64
        sum *= FULL || i < count ? vector_element(v, i) : 1;
#else
        uint32_t product = 1;
#pragma unroll
        for (int j = 0; j < EACH; j++)
            product *= FULL || i + j < count ? extended(a.rule, vector_element(v, i + j)) : 1;
        sum *= widened(a.rule, product);
#endif
    }
    sum ^= 1;
    lane[0] = (uint32_t)sum;
    lane[1] = (uint32_t)(sum >> 32);
}

template <int FULL>
static __device__ inline void bits_add(const struct reduce_args &a, uint32_t (&lane)[4],
                                       const struct vector &v, uint32_t count)
{
    const uint32_t first = KEY_BITS == 64 ? (uint32_t)a.rule.first : spread(a.rule.first);
    const uint32_t also = a.rule.exclusive ? 0 : ~0u;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        uint32_t x = (v.w[i] ^ first) & (FULL ? ~0u : vector_mask(i, count));
        lane[i] = (lane[i] ^ x) | (lane[i] & x & also);
    }
}

static __device__ inline uint64_t bits_end(const struct reduce_args &a, const uint32_t (&lane)[4])
{
    uint64_t x = (uint64_t)lane[1] << 32 | lane[0], y = (uint64_t)lane[3] << 32 | lane[2];
    x = a.rule.exclusive ? x ^ y : x | y;
#pragma unroll
    for (int bits = 32; bits >= KEY_BITS; bits /= 2)
        x = a.rule.exclusive ? x ^ x >> bits : x | x >> bits;
    return (ukey)x;
}

/* The number of elements within the range; for bytes from the carries of a subtraction. */
template <int FULL>
static __device__ inline uint32_t count_of(const struct reduce_args &a, const struct vector &v,
                                           uint32_t count)
{
    const struct echi_reduce_rule &rule = a.rule;
    uint32_t n = 0;
#if KEY_BITS == 8
    const uint32_t mask = spread(rule.mask), low = spread(rule.low), span = spread(rule.span);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        uint32_t d = word_sub(word_encode(rule.order, v.w[i]) & mask, low);
        uint32_t rest = (span | TOPS) - (d & ~TOPS);
        uint32_t within = ((span & ~d) | (~(span ^ d) & rest)) & TOPS;
        n += __popc(FULL ? within : within & vector_mask(i, count));
    }
#else
#pragma unroll
    for (int i = 0; i < VECTOR; i++) {
        ukey e = order_encode(rule.order, vector_element(v, i)) & (ukey)rule.mask;
        n += (FULL || i < count) && (ukey)(e - (ukey)rule.low) <= (ukey)rule.span;
    }
#endif
    return n;
}

/* The number of elements that are neither within the range nor NaN. */
template <int FULL>
static __device__ inline uint32_t count_of_numbers(const struct reduce_args &a,
                                                   const struct vector &v, uint32_t count)
{
    const struct echi_reduce_rule &rule = a.rule;
    uint32_t n = 0;
#pragma unroll
    for (int i = 0; i < VECTOR; i++) {
        ukey e = order_encode(rule.order, vector_element(v, i));
        const bool within = (ukey)(e - (ukey)rule.low) <= (ukey)rule.span;
        n += (FULL || i < count) && !within && e <= (ukey)rule.limit;
    }
    return n;
}

static __device__ inline void lanes_start(struct lanes<REDUCE_OTHER> &l)
{
    l.w[0] = l.w[1] = l.w[2] = l.w[3] = 0;
}

template <int FULL>
static __device__ inline void lanes_add(const struct reduce_args &a, struct lanes<REDUCE_OTHER> &l,
                                        const struct vector &v, const struct vector &,
                                        uint32_t count, uint32_t)
{
    if (a.kind == REDUCE_COUNT)
        l.w[0] += count_of<FULL>(a, v, count);
    else if (a.kind == REDUCE_BITS)
        bits_add<FULL>(a, l.w, v, count);
    else if (a.kind == REDUCE_NUMBERS)
        l.w[0] += count_of_numbers<FULL>(a, v, count);
    else
        product_add<FULL>(a, l.w, v, count);
}

static __device__ inline struct value lanes_end(const struct reduce_args &a,
                                                struct lanes<REDUCE_OTHER> &l)
{
    struct value v = { (uint64_t)l.w[1] << 32 | l.w[0], 0, 0, 0 };
    if (a.kind == REDUCE_BITS) v.a = bits_end(a, l.w);
    return v;
}
#endif

#endif
