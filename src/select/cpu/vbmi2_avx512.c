/*
 * select/cpu/vbmi2_avx512.c - the kernels for elements of 8 and 16 bits, for AVX-512 with VBMI2,
 * which compresses such elements.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA echi_select_vbmi2
#define NARROW
#include "select/cpu/kernels.h"
