/*
 * topk/cpu/avx2.c - the kernels of a top-k selection, compiled for AVX2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA      echi_topk_avx2
#define ISA_NAME "avx2"
#include "topk/cpu/kernels.h"
