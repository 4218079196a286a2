/*
 * direct/cpu/avx512.c - the steps of direct solvers, compiled for AVX-512.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA echi_direct_avx512
#include "direct/cpu/kernels.h"
