/*
 * direct/cpu/avx2.c - the steps of direct solvers, compiled for AVX2 and FMA.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA echi_direct_avx2
#include "direct/cpu/kernels.h"
