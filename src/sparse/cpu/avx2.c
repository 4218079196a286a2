/*
 * sparse/cpu/avx2.c - the kernels of products of sparse matrices, compiled for AVX2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA echi_sparse_avx2
#include "sparse/cpu/kernels.h"
