/*
 * cpu/scan_avx512.c - the portable kernels, compiled for AVX-512: the loops of
 * scan_float.h vectorise.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define SCAN_TABLE echi_scan_avx512
#include "scan_kernels.h"
