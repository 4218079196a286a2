/*
 * reduce/cpu/avx2.c - the reduction's kernels, compiled for AVX2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA echi_reduce_avx2
#include "reduce/cpu/kernels.h"
