/*
 * scan/cpu/avx2.c - the scan's kernels for AVX2 and F16C.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define SCAN_TABLE echi_scan_avx2
#define SCAN_CALLS echi_scan_calls_avx2
#include "scan/cpu/kernels.h"
