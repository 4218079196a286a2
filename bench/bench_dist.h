/*
 * bench_dist.h - the operations that bench_dist measures, and their data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_DIST_H
#define BENCH_DIST_H

#include "bench_ranks.h"

/* The arrays of a rank, or of one device. */
struct bench_arrays {
    size_t n, bytes, values_bytes; /* elements; bytes of in, of values */
    size_t out_bytes;
    void *in, *out, *values_in, *values_out;
    size_t n_in, n_out; /* set by a call: elements of in that were read, n unless set; of out */
};

/* An operation. */
struct bench_row {
    const char *name;
    ech_dtype dtype;
    bool sorts;
    size_t value_bytes;  /* 0: none */
    size_t result_bytes; /* of a result that every rank receives; 0: it is an array */
    size_t out_bytes;    /* of an element of out; 0: that of dtype */
    ech_status (*run)(const struct bench_rank *r, struct bench_arrays *a);
    ech_status (*one)(ech_ctx *ctx, struct bench_arrays *a); /* the same on one device */
};
extern const struct bench_row bench_rows[];
extern const int bench_n_rows;

extern const char *bench_algorithm; /* of sorts on several ranks; NULL: chosen */

enum bench_data { BENCH_RANDOM, BENCH_SORTED, BENCH_SKEWED, BENCH_EQUAL, BENCH_DATA };
extern const char *const bench_data_names[BENCH_DATA];

/* Fills in and values_in. */
void bench_fill(const struct bench_rank *r, const struct bench_arrays *a, enum bench_data data);

#endif
