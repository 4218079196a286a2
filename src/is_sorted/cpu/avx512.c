/*
 * is_sorted/cpu/avx512.c - the kernels of ech_is_sorted(), compiled for AVX-512.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA echi_is_sorted_avx512
#include "is_sorted/cpu/kernels.h"
