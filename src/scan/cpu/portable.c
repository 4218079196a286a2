/*
 * scan/cpu/portable.c - the scan's kernels for any machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define SCAN_TABLE echi_scan_portable
#define SCAN_CALLS echi_scan_calls_portable
#include "scan/cpu/kernels.h"
