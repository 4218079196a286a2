/*
 * quantile/cpu/avx512.c - the kernels of selections by rank, compiled for AVX-512.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA echi_quantile_avx512
#include "quantile/cpu/kernels.h"
