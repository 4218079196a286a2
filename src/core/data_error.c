/*
 * core/data_error.c - errors that only the data reveals: noted by threads and kernels, and reported
 * by the call or by ech_sync().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/data_error.h"
#include "core/call.h"

#include <stdatomic.h>

ech_status echi_report_error(ech_ctx *ctx, unsigned what, uint64_t where)
{
    static const struct {
        const char *array, *fault;
    } texts[ECHI_DATA_ERRORS] = {
        [ECHI_OFFSETS_DECREASE] = { "offsets", "is less than the one before" },
        [ECHI_OFFSETS_PAST_END] = { "offsets", "is more than n" },
        [ECHI_EDGES_NOT_RISING] = { "edges", "is not greater than the one before" },
        [ECHI_INDEX_TOO_LARGE] = { "index", "is out of range" },
        [ECHI_LENGTHS_TOO_LARGE] = { "lengths", "and the lengths before it add up to more than n" },
        [ECHI_ORDER_TOO_LARGE] = { "column_order", "is not a column of the matrix" },
        [ECHI_ORDER_TWICE] = { "column_order", "occurs more than once" },
        [ECHI_BASIS_TOO_SHORT] = { "basis", "does not exist: the nullspace has more vectors than "
                                            "basis has rows" },
        [ECHI_COO_ROW] = { "rows", "is not a row of the matrix" },
        [ECHI_COO_COLUMN] = { "cols", "is not a column of the matrix" },
        [ECHI_CSR_BEGIN] = { "a->row_offsets", "is not 0" },
        [ECHI_CSR_ROW] = { "a: row", "ends before it begins, or after the last entry" },
        [ECHI_CSR_END] = { "a->row_offsets", "is not the number of entries" },
        [ECHI_CSR_COLUMN] = { "a: row", "has a column index outside the matrix" },
        [ECHI_SEGMENTS_OVERLAP] = { "offsets", "is less than the end of the segment before" },
        [ECHI_SEGMENT_END] = { "ends", "is less than the segment's offset, or more than n" },
        [ECHI_SEGMENT_TOO_LONG] = { "offsets", "begins a segment of more than 2^31 elements" },
        [ECHI_COUNT_TOO_LARGE] = { "options->counts", "is negative or more than k" },
        [ECHI_RUNS_BEGIN] = { "offsets", "is not 0" },
        [ECHI_RUNS_END] = { "offsets", "is not n" },
        [ECHI_STRINGS_PAST_END] = { "offsets", "is more than total_bytes" },
        [ECHI_CSR_ORDER] = { "a: row", "has column indices that are not in ascending order" },
    };
    return echi_fail(ctx, ECH_ERR_ARG, "%s[%llu] %s", texts[what].array, (unsigned long long)where,
                     texts[what].fault);
}

void echi_note_error(_Atomic uint64_t *word, unsigned what, uint64_t where)
{
    uint64_t mine = ~(where << 8 | what), now = atomic_load(word);
    while (mine > now && !atomic_compare_exchange_weak(word, &now, mine)) {
    }
}

ech_status echi_noted_error(ech_ctx *ctx, uint64_t word)
{
    return word ? echi_report_error(ctx, (unsigned)(~word & 0xff), ~word >> 8) : ECH_OK;
}
