/*
 * core/data_error.h - errors in the data that only a kernel can detect, as a number that it stores
 * for the host.
 *
 * A data error is where << 8 | what. The CPU fails with its message immediately. A kernel stores
 * the one with the lowest `where` in the context's memory, inverted so that zero means no error,
 * and ech_sync() reads it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CORE_DATA_ERROR_H
#define ECHI_CORE_DATA_ERROR_H

enum echi_data_error {
    ECHI_OFFSETS_DECREASE = 1, /* offsets[where] is less than the previous offset */
    ECHI_OFFSETS_PAST_END,     /* offsets[where] is greater than n */
    ECHI_EDGES_NOT_RISING,     /* edges[where] is not greater than the previous edge */
    ECHI_INDEX_TOO_LARGE,      /* index[where] is out of range */
    ECHI_LENGTHS_TOO_LARGE,    /* lengths[0] ... lengths[where] add up to more than n */
    ECHI_ORDER_TOO_LARGE,      /* column_order[where] is not a column of the matrix */
    ECHI_ORDER_TWICE,          /* order[where] occurs more than once */
    ECHI_BASIS_TOO_SHORT, /* the nullspace has more than `where` vectors, basis only as many rows */
    ECHI_COO_ROW,         /* rows[where] is not a row of the matrix */
    ECHI_COO_COLUMN,      /* columns[where] is not a column of the matrix */
    ECHI_CSR_BEGIN,       /* offsets[0] is not 0 */
    ECHI_CSR_ROW,         /* row `where` ends before it begins, or after the last entry */
    ECHI_CSR_END,         /* the last offset, offsets[where], is not the number of entries */
    ECHI_CSR_COLUMN,      /* row `where` has a column index outside the matrix */
    ECHI_CSR_ORDER,       /* row `where` has column indices that are not in ascending order */
    ECHI_SEGMENTS_OVERLAP, /* offsets[where] is less than the end of the segment before */
    ECHI_SEGMENT_END,      /* ends[where] is less than offsets[where], or greater than n */
    ECHI_SEGMENT_TOO_LONG, /* segment `where` has more elements than a GPU sort supports */
    ECHI_COUNT_TOO_LARGE,  /* counts[where] is greater than k, or negative */
    ECHI_RUNS_BEGIN,       /* offsets[0] is not 0 */
    ECHI_RUNS_END,         /* offsets[where], the last one, is not n */
    ECHI_STRINGS_PAST_END, /* offsets[where] is greater than total_bytes */
    ECHI_DATA_ERRORS
};

#endif
