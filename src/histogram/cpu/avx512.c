/*
 * histogram/cpu/avx512.c - the histogram's kernels, compiled for AVX-512.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA echi_histogram_avx512
#include "histogram/cpu/kernels.h"
