/*
 * cuda/sort_gather.cu - fetches values by index, for sizes that the sort does not carry along
 * itself.
 *
 * Threads of a value are neighbours, so a value is read as one piece whatever its size.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include "sort.h"

#ifndef INDEX_BYTES
#define INDEX_BYTES 4
#endif
#if INDEX_BYTES == 4
typedef uint32_t uindex;
#else
typedef uint64_t uindex;
#endif

template <int BYTES> struct word;
template <> struct word<1> {
    uint8_t w;
};
template <> struct word<2> {
    uint16_t w;
};
template <> struct word<4> {
    uint32_t w;
};
template <> struct word<8> {
    uint64_t w;
};
template <> struct word<16> {
    uint4 w;
};

template <int BYTES> static __device__ inline void gather(const struct sort_gather_args &a)
{
    const struct word<BYTES> *from = (const struct word<BYTES> *)a.from;
    struct word<BYTES> *to = (struct word<BYTES> *)a.to;
    const uindex *index = (const uindex *)a.index;
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x, count = a.n * a.words;
    /* i = value * words + part, kept as its two parts: a 64-bit division a word would cost more
     * than the copy */
    uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t value = i / a.words, part = i % a.words;
    const uint64_t step_value = step / a.words, step_part = step % a.words;
    for (; i < count; i += step) {
        to[i] = from[index[value] * a.words + part];
        value += step_value;
        part += step_part;
        if (part >= a.words) {
            part -= a.words;
            value++;
        }
    }
}

extern "C" __global__ void __launch_bounds__(SORT_MOVE_THREADS)
    sort_gather(const __grid_constant__ struct sort_gather_args a)
{
    switch (a.word_bytes) {
    case 1:
        gather<1>(a);
        break;
    case 2:
        gather<2>(a);
        break;
    case 4:
        gather<4>(a);
        break;
    case 8:
        gather<8>(a);
        break;
    default:
        gather<16>(a);
        break;
    }
}
