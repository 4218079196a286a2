/*
 * quantile_case.h - one case of test_quantile: the call, its data and the expected result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef QUANTILE_CASE_H
#define QUANTILE_CASE_H

#include "sort_case.h"

struct quantile_case {
    ech_quantile_call call;
    ech_dtype dtype;
    size_t n, count;
    const char *dist;    /* a name in keys.c */
    const char *outputs; /* v: values, i: positions */
    ech_dtype index_dtype;
    ech_quantile_method method;
    bool ignore_nan;
};

struct quantile_arrays {
    struct buffer in, out, index, work;
};

/* Keys and their sorted positions, which the cases of one dtype, n and distribution share. */
struct quantile_data {
    char *keys;
    uint32_t *order;
};

struct expected {
    const char *keys;
    char *out;
    void *index; /* of index_dtype */
    size_t outputs, out_bytes;
    uint64_t *ranks; /* [count], with repetitions */
    size_t distinct;
    double *q;
};

/* quantile_oracle.c */
bool data_make(const struct quantile_case *c, uint64_t seed, struct quantile_data *d);
void data_free(struct quantile_data *d);
bool expect(const struct quantile_case *c, const struct quantile_data *d, uint64_t seed,
            struct expected *e);
void free_expected(struct expected *e);

/* quantile_bad.c: calls that fail; quantiles of a few numbers. */
void quantile_bad(ech_ctx *ctx);
void quantile_known(ech_ctx *ctx);

/* quantile_sample.c: orders of elements for which the GPU's sample must suffice, and arrays for
 * which it does not. */
void quantile_sampled(ech_ctx *ctx);
void quantile_misled(ech_ctx *ctx);

#endif
