/*
 * histogram_case.h - one case of test_histogram: the call, its data and the expected result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef HISTOGRAM_CASE_H
#define HISTOGRAM_CASE_H

#include "test.h"

enum histogram_kind { EVEN, EDGES, COUNT, PAIRS };

struct histogram_case {
    enum histogram_kind kind;
    ech_dtype dtype;
    size_t n, bins, y_bins;
    double lower, upper; /* of both dimensions */
    int channels;        /* 0: the default, 1 */
    ech_outside outside;
    bool closed, add, weighted;
    ech_dtype weights; /* if weighted */
    const char *dist;  /* "inside", "ends", or a name in keys.c */
    bool always;       /* test_drawn_often() */
};

struct histogram_data {
    const struct histogram_case *c;
    size_t bytes, weight_bytes, stride, counters;
    char *in, *in_y, *edges, *weights; /* NULL if unused */
    uint64_t *before, *after;          /* [counters]: with add, counts before the call; expected */
};

/* histogram_cases.c: calls run() with every case. */
void histogram_cases(void (*run)(const struct histogram_case *));

/* histogram_oracle.c: creates the data and the expected result; shares no code with the library. */
bool histogram_make(const struct histogram_case *c, uint64_t seed, struct histogram_data *d);
void histogram_free(struct histogram_data *d);

/* histogram_run.c: runs a case on a device with one algorithm; NULL: the library's choice. */
void histogram_run(ech_ctx *ctx, const struct histogram_data *d, const char *algorithm,
                   uint64_t seed);
ech_histogram_options histogram_options(const struct histogram_case *c, const char *algorithm);

/* The call with arbitrary pointers. */
ech_status histogram_call(ech_ctx *ctx, const struct histogram_case *c, const void *in,
                          const void *in_y, const void *edges, void *counts,
                          const ech_histogram_options *options);

#endif
