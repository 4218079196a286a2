/*
 * cpu/gf2_avx2.c - the kernels of gf2_kernels.h, compiled for AVX2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2.h"

#define NAME(x)      x##_avx2
#define NAME_TEXT    "avx2"
#define OPERAND_FAST true
#include "gf2_affine_avx2.h"
#include "gf2_kernels.h"
