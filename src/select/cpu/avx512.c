/*
 * select/cpu/avx512.c - the kernels of selections for AVX-512: packed by compress instructions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA echi_select_avx512
#include "select/cpu/kernels.h"
