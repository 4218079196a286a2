/*
 * reduce/cpu/avx512.c - the reduction's kernels, compiled for AVX-512.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA echi_reduce_avx512
#include "reduce/cpu/kernels.h"
