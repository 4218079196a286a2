/*
 * select/cuda/word.cuh - words of 1 to 16 bytes, which are moved in one access; an element of any
 * size consists of words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SELECT_CUDA_WORD_CUH
#define ECHI_SELECT_CUDA_WORD_CUH

#include <stdint.h>

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

#endif
