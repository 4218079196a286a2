/*
 * is_sorted/cuda/words.cuh - keys packed in words: their encoding, and comparisons of all keys of a
 * word at once.
 *
 *     word     | d | c | b | a |      four keys of 8 bits, two of 16, one of 32 or 64
 *     before   | c | b | a | z |      the key before each, from the previous word
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_IS_SORTED_CUDA_WORDS_CUH
#define ECHI_IS_SORTED_CUDA_WORDS_CUH

#include "cuda/device/order.cuh"

#if KEY_BITS == 64
typedef uint64_t uword;
#else
typedef uint32_t uword;
#endif

enum {
    WORD_BITS = 8 * sizeof(uword),
    WORDS = 16 / sizeof(uword), /* per vector */
    VECTOR = 16 / KEY_BYTES     /* keys per vector */
};

/* A number repeated in each key of a word. */
static __device__ inline uword word_of(uint64_t key)
{
#if KEY_BITS == 8
    return (uint32_t)(key & 0xff) * 0x01010101u;
#elif KEY_BITS == 16
    return (uint32_t)(key & 0xffff) * 0x00010001u;
#else
    return (uword)key;
#endif
}

/* The top bit of each key. */
static __device__ inline uword word_tops(void)
{
    return word_of((uint64_t)1 << (KEY_BITS - 1));
}

/* Encodes keys like order_encode(); STRICT: with equal keys merged. */
template <int STRICT, int FLOAT>
static __device__ inline uword word_encode(const struct echi_order &o, uword w)
{
    if (!FLOAT) return w ^ word_of(o.sign ^ o.flip);
#if KEY_BITS == 16
    if (STRICT) {
        const uint32_t low = order_merge(o, order_encode(o, (ukey)w));
        const uint32_t high = order_merge(o, order_encode(o, (ukey)(w >> 16)));
        return low | high << 16;
    }
    /* Two keys at once; o.shift has no top bit, so that there is no borrow between keys. */
    const uint32_t tops = word_tops();
    const uint32_t e = w ^ ((w >> 15 & 0x00010001u) * 0xffffu | tops);
    return ((e | tops) - word_of(o.shift)) ^ (~e & tops) ^ word_of(o.flip);
#else
    const ukey e = order_encode(o, (ukey)w);
    return STRICT ? order_merge(o, e) : e;
#endif
}

/* The key before each key of a word. */
static __device__ inline uword word_before(uword before, uword w)
{
#if KEY_BITS < 32
    return __funnelshift_l(before, w, KEY_BITS);
#else
    return before;
#endif
}

/* In the top bit of each key: whether it is less than the key of y. */
static __device__ inline uword word_less(uword x, uword y)
{
#if KEY_BITS < 32
    const uint32_t tops = word_tops();
    const uint32_t rest = (x | tops) - (y & ~tops); /* top bit: not less without its top bits */
    return (~x & y) | (~(x ^ y) & ~rest);
#else
    return (uword)(x < y) << (WORD_BITS - 1);
#endif
}

/* In the top bit of each key: whether it is out of order after the key of y. */
template <int STRICT> static __device__ inline uword word_bad(uword x, uword y)
{
    return STRICT ? ~word_less(y, x) : word_less(x, y);
}

#endif
