/*
 * arrange/cpu/shuffle_avx512.c - the kernel of shuffle_kernels.h, compiled for AVX-512.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define NAME(x) x##_avx512
#include "arrange/cpu/shuffle_kernels.h"

echi_shuffle_positions *const echi_shuffle_avx512 = positions_avx512;
