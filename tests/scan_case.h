/*
 * scan_case.h - one case of test_scan, its data and the expected result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCAN_CASE_H
#define SCAN_CASE_H

#include "test.h"

enum scan_shape { SCAN_WHOLE, SCAN_ROWS, SCAN_SEGMENTS, SCAN_KEYS };

struct scan_case {
    enum scan_shape shape;
    ech_op op;
    ech_dtype dtype;
    size_t n, columns; /* SCAN_ROWS: n is a multiple of columns */
    int exclusive, backward, wide, ignore_nan, init;
    const char *dist;    /* "small", "unit", "special", "bits", "zeros" */
    ech_dtype key_dtype; /* SCAN_KEYS */
    size_t run;          /* SCAN_SEGMENTS, SCAN_KEYS: mean length of a segment */
    bool always;         /* test_drawn_often() */
};

struct scan_data {
    const struct scan_case *c;
    size_t bytes, out_bytes; /* of an element */
    char *in, *keys, *want;
    char *written; /* [n]: 1 if want is defined */
    uint64_t *offsets;
    size_t segments;
    uint64_t init[1];
};

/* Creates the data and the expected result; false if memory is exhausted. */
bool scan_data_make(const struct scan_case *c, uint64_t seed, struct scan_data *d);
void scan_data_free(struct scan_data *d);

/* Fills written and want (scan_oracle.c). */
bool scan_oracle(struct scan_data *d, const char *heads);

/* Whether two elements of out are equal. For minima and maxima all NaN are equal. */
bool scan_same(const struct scan_data *d, const void *a, const void *b);

bool scan_is_nan(ech_dtype dtype, uint64_t u);
ech_dtype scan_out_dtype(const struct scan_case *c);

/* Runs the case in several ways on the context's device. */
void scan_run(ech_ctx *ctx, const struct scan_data *d, uint64_t seed);

/* Calls the function of the case's shape. */
ech_status scan_call(ech_ctx *ctx, const struct scan_data *d, const void *in, void *out,
                     const void *keys, const void *offsets, const ech_scan_options *options);

/* The type of the offsets that scan_call() takes. */
ech_dtype scan_offsets_dtype(const struct scan_data *d);

#endif
