/*
 * cpu/gf2_avx512.c - the kernels of gf2_kernels.h, compiled for AVX-512 with GFNI.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2.h"

#define NAME(x)      x##_avx512
#define NAME_TEXT    "avx512 gfni"
#define OPERAND_FAST true
#include "gf2_affine_avx512.h"
#include "gf2_kernels.h"
