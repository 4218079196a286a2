/*
 * core/data_error.h - what only the data shows to be wrong, as a number that a kernel can leave
 * behind.
 *
 * A data error is where << 8 | what.  The CPU fails with its text at once; a kernel leaves the one
 * with the least `where` in the context's memory, inverted so that no error is zero, and
 * ech_sync() finds it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CORE_DATA_ERROR_H
#define ECHI_CORE_DATA_ERROR_H

enum echi_data_error {
    ECHI_OFFSETS_DECREASE = 1, /* offsets[where] is less than the one before */
    ECHI_OFFSETS_PAST_END,     /* offsets[where] is more than n */
    ECHI_EDGES_NOT_RISING,     /* edges[where] is not greater than the one before */
    ECHI_INDEX_TOO_LARGE,      /* index[where] is not less than the number of elements */
    ECHI_LENGTHS_TOO_LARGE,    /* lengths[0] ... lengths[where] add up to more than n */
    ECHI_ORDER_TOO_LARGE,      /* order[where] is not a row or column of the matrix */
    ECHI_ORDER_TWICE,          /* order[where] occurs in it more than once */
    ECHI_BASIS_TOO_SHORT,      /* the basis has where + 1 vectors, and that is more than its rows */
    ECHI_COO_ROW,              /* rows[where] is not a row of the matrix */
    ECHI_COO_COLUMN,           /* columns[where] is not a column of the matrix */
    ECHI_CSR_BEGIN,            /* offsets[0] is not 0 */
    ECHI_CSR_ROW,              /* row where ends before it begins, or past the entries */
    ECHI_CSR_END,              /* offsets[where], the last, is not the number of entries */
    ECHI_CSR_COLUMN,           /* row where has a column that is none */
    ECHI_CSR_ORDER,            /* row where has columns that do not rise */
    ECHI_DATA_ERRORS
};

#endif
