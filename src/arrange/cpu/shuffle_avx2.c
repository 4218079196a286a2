/*
 * arrange/cpu/shuffle_avx2.c - the kernel of shuffle_kernels.h, compiled for AVX2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define NAME(x) x##_avx2
#include "arrange/cpu/shuffle_kernels.h"

echi_shuffle_positions *const echi_shuffle_avx2 = positions_avx2;
