/*
 * quantile/cpu/avx2.c - the kernels of selections by rank, compiled for AVX2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA echi_quantile_avx2
#include "quantile/cpu/kernels.h"
