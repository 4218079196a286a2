/*
 * cpu/scan_avx2.c - the portable kernels, compiled for AVX2: the loops of scan_float.h vectorise.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define SCAN_TABLE echi_scan_avx2
#include "scan_kernels.h"
