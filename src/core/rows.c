/*
 * core/rows.c - arrays of rows with strides: defaults and checks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/rows.h"

size_t echi_rows_extent(size_t rows, size_t cols, const struct echi_strides *strides)
{
    size_t down, across, all;
    if (rows == 0 || cols == 0) return 0;
    if (__builtin_mul_overflow(rows - 1, strides->row, &down) ||
        __builtin_mul_overflow(cols - 1, strides->element, &across) ||
        __builtin_add_overflow(down, across, &all) || all > PTRDIFF_MAX - 1)
        return SIZE_MAX;
    return all + 1;
}

/* No two elements are at the same place. */
static bool strides_differ(size_t rows, size_t cols, const struct echi_strides *strides)
{
    size_t least;
    if (rows <= 1 || cols <= 1) return true;
    if (strides->row >= strides->element)
        return !__builtin_mul_overflow(cols, strides->element, &least) && strides->row >= least;
    return !__builtin_mul_overflow(rows, strides->row, &least) && strides->element >= least;
}

ech_status echi_rows_strides(ech_ctx *ctx, const char *prefix, size_t rows, size_t cols,
                             const struct echi_strides *otherwise, struct echi_strides *strides)
{
    ech_status status = ECH_OK;
    if (!strides->element) strides->element = otherwise->element;
    if (!strides->row) strides->row = otherwise->row;
    if (!strides->row && __builtin_mul_overflow(cols, strides->element, &strides->row))
        FAIL(ctx, ECH_ERR_ARG,
             "options->%selement_stride is %zu for rows of %zu: the product overflows size_t",
             prefix, strides->element, cols);
    if (strides->row == 0) strides->row = 1; /* rows without elements */
    if (!strides_differ(rows, cols, strides))
        FAIL(ctx, ECH_ERR_ARG,
             "options->%srow_stride is %zu and %selement_stride is %zu: elements of %zu rows of "
             "%zu would be at the same place",
             prefix, strides->row, prefix, strides->element, rows, cols);
    if (echi_rows_extent(rows, cols, strides) == SIZE_MAX)
        FAIL(ctx, ECH_ERR_ARG,
             "options->%srow_stride is %zu and %selement_stride is %zu: %zu rows of %zu overflow "
             "size_t",
             prefix, strides->row, prefix, strides->element, rows, cols);
done:
    return status;
}
