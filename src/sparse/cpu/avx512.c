/*
 * sparse/cpu/avx512.c - the kernels of products of sparse matrices, compiled for AVX-512.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA echi_sparse_avx512
#include "sparse/cpu/kernels.h"
