/*
 * segments_case.h - one case of test_sort_segments: the call, its data and the expected result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SEGMENTS_CASE_H
#define SEGMENTS_CASE_H

#include "sort_case.h"

struct segments_case {
    struct sort_case sort; /* dtype, values, order, distribution; n is computed */
    size_t rows, cols;     /* of rows; rows 0: segments */
    /* Strides: "" (adjacent), "padded", "columns", "columns-rows" (from columns to rows),
     * "rows-columns", "spread" */
    const char *strides;
    const char *lengths; /* of segments: a name in segments_data.c */
    size_t n;            /* of segments: about as many elements */
    bool ends;           /* with gaps, and ends */
    ech_dtype offsets_dtype;
};

/* The groups of a case, and where their elements are. */
struct segments_data {
    const struct segments_case *c;
    size_t groups, n, in_extent, out_extent; /* n: of rows rows * cols */
    size_t row_stride, element_stride, out_row_stride, out_element_stride;
    uint64_t *offsets, *ends; /* NULL: rows */
    size_t key_bytes, value_bytes;
    char *keys, *values; /* [in_extent] */
    size_t *from, *to;   /* [sorted]: element to[i] of the output is element from[i] of the input */
    uint64_t *position;  /* [sorted]: in its group */
    size_t sorted;       /* elements in groups */
};

/* segments_cases.c */
void segments_cases(void (*run)(const struct segments_case *));
void segments_case_id(const struct segments_case *c, char *text, size_t capacity_bytes);

/* segments_data.c: creates the groups, the keys, and, by the oracle of sorts, the order. */
bool segments_make(const struct segments_case *c, uint64_t seed, struct segments_data *d);
void segments_free(struct segments_data *d);

/* segments_large.c: more than 2^32 elements, if memory suffices. */
void segments_large(ech_ctx *ctx);

#endif
