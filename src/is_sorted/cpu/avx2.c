/*
 * is_sorted/cpu/avx2.c - the kernels of ech_is_sorted(), compiled for AVX2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA echi_is_sorted_avx2
#include "is_sorted/cpu/kernels.h"
