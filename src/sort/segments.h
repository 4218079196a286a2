/*
 * sort/segments.h - a sort of rows or of segments whose arguments are checked, as the backends take
 * it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_SEGMENTS_H
#define ECHI_SORT_SEGMENTS_H

#include "core/rows.h"
#include "sort/sort.h"

struct echi_sort_segments {
    struct echi_sort
        sort;      /* n: of segments, the elements of the arrays; of rows, those of all rows.
                              room_bytes is not used */
    size_t groups; /* rows or segments */
    size_t cols;   /* of a row; 0: segments */
    struct echi_strides in, out; /* of rows */
    const void *offsets;         /* of segments; NULL: rows */
    const void *ends;            /* NULL: a segment ends where the next one begins */
    struct echi_index offsets_index;
    int top_bit;             /* GPU only, for keys of 4 and 8 bytes: the keys of each segment agree
                                in the bits from this one up, which is at least 8; 0: unknown */
    const uint32_t *tops;    /* GPU only: NULL, or this bit for each segment, in device memory; of
                                keys without values also ECHI_TOP_CUT */
    const uint64_t *count;   /* GPU only: NULL, or the number of segments, in device memory, at most
                              groups */
    size_t portion, longest; /* GPU only: 0, or the elements that are sorted at a time, which limits
                                the workspace; and of a segment, at most */
    bool plain; /* GPU only: only networks of a warp and MSD radix sort: the smallest workspace */
};

/* Whether the elements of each row are adjacent in an array. */
static inline bool echi_rows_adjacent(const struct echi_sort_segments *s,
                                      const struct echi_strides *strides)
{
    return s->cols <= 1 || strides->element == 1;
}

#endif
