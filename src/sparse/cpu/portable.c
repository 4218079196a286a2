/*
 * sparse/cpu/portable.c - the kernels of products of sparse matrices, for any machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA echi_sparse_portable
#include "sparse/cpu/kernels.h"
