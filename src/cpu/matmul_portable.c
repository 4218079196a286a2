/*
 * cpu/matmul_portable.c - the kernels of products, compiled for any machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA echi_matmul_portable
#include "matmul_kernels.h"
