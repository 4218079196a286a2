/*
 * cpu/sparse_portable.c - the kernels of products of sparse matrices, for any machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA echi_sparse_portable
#include "sparse_kernels.h"
