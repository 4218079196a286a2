/*
 * matmul/cpu/portable.c - the kernels of products, compiled for any machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA echi_matmul_portable
#include "matmul/cpu/kernels.h"
