/*
 * matmul/cpu/avx2.c - the kernels of products, compiled for AVX2 and FMA.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA echi_matmul_avx2
#include "matmul/cpu/kernels.h"
