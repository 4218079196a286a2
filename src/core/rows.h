/*
 * core/rows.h - arrays of rows with strides: defaults and checks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CORE_ROWS_H
#define ECHI_CORE_ROWS_H

#include "core/internal.h"

/* Element j of row i is at i * row + j * element. */
struct echi_strides {
    size_t row, element; /* at least 1, after echi_rows_strides() */
};

/* Replaces strides of 0: the element stride by that of otherwise; the row stride by that of
 * otherwise, or, if that is 0, by cols * element.  Checks that no two elements are at the same
 * place and that their distances fit in size_t.  The message names
 * options-><prefix>row_stride and options-><prefix>element_stride. */
ech_status echi_rows_strides(ech_ctx *ctx, const char *prefix, size_t rows, size_t cols,
                             const struct echi_strides *otherwise, struct echi_strides *strides);

/* The number of elements from the first to the last of the rows, or SIZE_MAX. */
size_t echi_rows_extent(size_t rows, size_t cols, const struct echi_strides *strides);

#endif
