/*
 * topk/cpu/avx512.c - the kernels of a top-k selection, compiled for AVX-512.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA      echi_topk_avx512
#define ISA_NAME "avx512"
#include "topk/cpu/kernels.h"
