/*
 * cpu_rows.h - the competitors of the CPU module of the grid: each runs a row, or returns 0 if it
 * does not support the row.  Results are written to out[1], out2[1] and count[1].
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_GRID_CPU_ROWS_H
#define BENCH_GRID_CPU_ROWS_H

#include "grid.h"

#ifdef __cplusplus
extern "C" {
#endif

int row_std(struct grid_case *c);
int row_x86simdsort_avx512(struct grid_case *c);
int row_x86simdsort_avx2(struct grid_case *c);
int row_vqsort(struct grid_case *c);

#ifdef __cplusplus
}
#endif

#endif
