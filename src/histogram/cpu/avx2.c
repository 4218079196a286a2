/*
 * histogram/cpu/avx2.c - the histogram's kernels, compiled for AVX2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define ISA echi_histogram_avx2
#include "histogram/cpu/kernels.h"
