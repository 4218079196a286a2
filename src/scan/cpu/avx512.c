/*
 * scan/cpu/avx512.c - the scan's kernels for AVX-512.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define SCAN_TABLE echi_scan_avx512
#define SCAN_CALLS echi_scan_calls_avx512
#include "scan/cpu/kernels.h"
