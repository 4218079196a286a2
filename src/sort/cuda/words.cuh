/*
 * sort/cuda/words.cuh - keys of 16 bits with values as words of 32 bits, which are all
 * different and can be sorted as keys without values:
 *
 *     | the bits of the key that are compared | its position |
 *
 * The sorted positions are those from which the output's keys and values are loaded.  In place,
 * several blocks load them from a copy.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_WORDS_CUH
#define ECHI_SORT_CUDA_WORDS_CUH

#include "cuda/device/instance.cuh"
#include "sort/cuda/sample.h"

enum { WORD_UP = 16 }; /* a key is in the upper half of a word when it is mapped */

/* The word of the key at a position: the map of core/order.h, with the key in the highest bits. */
static __device__ inline uint32_t word_at(const struct sort_sample_args &a, uint32_t at)
{
    const struct echi_order &o = a.common.order;
    const uint32_t bits = (uint32_t)(a.common.end_bit - a.common.begin_bit);
    uint32_t e = (uint32_t)((const uint16_t *)a.common.keys_in)[at] << WORD_UP;
    e ^= ((uint32_t)((int32_t)e >> 31) & (uint32_t)o.float_mask << WORD_UP) | (uint32_t)o.sign
                                                                                  << WORD_UP;
    e -= (uint32_t)o.shift << WORD_UP;
    if (e == (uint32_t)o.zero << WORD_UP) e += (uint32_t)o.merge << WORD_UP;
    e = min(e, (uint32_t)o.last << WORD_UP) ^ (uint32_t)o.flip << WORD_UP;
    e = e >> (WORD_UP + (uint32_t)a.common.begin_bit) & ((1u << bits) - 1);
    return e << a.words.position_bits | at;
}

/* Copies what the output overwrites. */
static __device__ inline void word_copy(const struct sort_sample_args &a, uint32_t at)
{
    const struct sort_words &w = a.words;
    ((uint16_t *)w.keys)[at] = ((const uint16_t *)a.common.keys_in)[at];
    if (a.common.index) return;
    for (uint32_t i = 0; i < w.value_bytes / 4; i++)
        ((uint32_t *)w.values)[at * (w.value_bytes / 4) + i] =
            ((const uint32_t *)a.common.values_in)[at * (w.value_bytes / 4) + i];
}

/* Writes the keys and the values of words to their ranks; mine has a bit for each word that
 * exists. */
template <typename type, int ITEMS>
static __device__ inline void words_write_as(const struct sort_sample_args &a,
                                             const uint32_t (&word)[ITEMS],
                                             const uint32_t (&rank)[ITEMS], uint32_t mine)
{
    const struct sort_words &w = a.words;
    const bool copied = a.common.in_place && w.keys;
    const uint16_t *keys = (const uint16_t *)(copied ? w.keys : a.common.keys_in);
    const type *values = (const type *)(copied ? w.values : a.common.values_in);
    const uint32_t mask = (1u << w.position_bits) - 1;
    uint16_t key[ITEMS];
    type value[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (mine >> i & 1) {
            if (!a.common.discard_keys) key[i] = keys[word[i] & mask];
            if (!a.common.index) value[i] = values[word[i] & mask];
        }
    if (a.common.in_place && !w.keys) __syncthreads(); /* all threads of the block have read */
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (mine >> i & 1) {
            if (!a.common.discard_keys) ((uint16_t *)a.common.keys_out)[rank[i]] = key[i];
            if (!a.common.index) ((type *)a.common.values_out)[rank[i]] = value[i];
        }
    if (!a.common.index) return;
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (mine >> i & 1) {
            if (w.value_bytes == 4)
                ((uint32_t *)a.common.values_out)[rank[i]] = word[i] & mask;
            else
                ((uint64_t *)a.common.values_out)[rank[i]] = word[i] & mask;
        }
}

template <int ITEMS>
static __device__ inline void words_write(const struct sort_sample_args &a,
                                          const uint32_t (&word)[ITEMS],
                                          const uint32_t (&rank)[ITEMS], uint32_t mine)
{
    if (a.words.value_bytes == 4 || a.common.index)
        words_write_as<uint32_t, ITEMS>(a, word, rank, mine);
    else if (a.words.value_bytes == 8)
        words_write_as<uint64_t, ITEMS>(a, word, rank, mine);
    else
        words_write_as<ulonglong2, ITEMS>(a, word, rank, mine);
}

#endif
