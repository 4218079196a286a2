/*
 * matmul/cpu/avx512.c - the kernels of products, compiled for AVX-512.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA echi_matmul_avx512
#include "matmul/cpu/kernels.h"
