/*
 * gf2/cpu/avx2.c - the kernels of kernels.h, compiled for AVX2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2/cpu/common.h"

#define NAME(x)      x##_avx2
#define NAME_TEXT    "avx2"
#define OPERAND_FAST true
#include "gf2/cpu/affine_avx2.h"
#include "gf2/cpu/kernels.h"
