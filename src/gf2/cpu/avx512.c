/*
 * gf2/cpu/avx512.c - the kernels of kernels.h, compiled for AVX-512 with GFNI.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2/cpu/common.h"

#define NAME(x)      x##_avx512
#define NAME_TEXT    "avx512 gfni"
#define OPERAND_FAST true
#include "gf2/cpu/affine_avx512.h"
#include "gf2/cpu/kernels.h"
