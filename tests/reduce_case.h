/*
 * reduce_case.h - one case of test_reduce: the call, its data and the expected result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REDUCE_CASE_H
#define REDUCE_CASE_H

#include "test.h"

enum reduce_shape { WHOLE, ROWS, SEGMENTS, BY_KEY, DOT };

struct reduce_case {
    enum reduce_shape shape;
    ech_op op;
    ech_dtype dtype;
    size_t n;            /* elements, or elements per row */
    size_t parts;        /* rows or segments */
    const char *dist;    /* "tame", "nan" (tame with NaN), those of extreme() in test_reduce.c, or a
                            name in keys.c */
    const char *lengths; /* SEGMENTS, BY_KEY: "few", "mixed", "one", "power" */
    int ignore, wide, ddof;
    ech_compare compare;
    ech_dtype key_dtype; /* BY_KEY */
    bool always;         /* test_drawn_often() */
    bool cpu_only;       /* larger than the caches of a CPU; takes long on the emulator */
};

/* One row, segment or run with n elements. */
struct reduce_part {
    const char *in, *b;
    size_t n;
};

/* reduce_oracle.c: the bits of a result, two for ECH_OP_MINMAX. It follows echelon/reduce.h and
 * docs/reduce.md and shares no code with the library. */
void oracle_reduce(const struct reduce_case *c, const void *value, struct reduce_part part,
                   uint64_t bits[2]);

/* Whether keys of dtype are equal in the order of ech_sort(). */
bool oracle_equal(ech_dtype dtype, const char *a, const char *b);

/* reduce_cases.c: calls run() with every case. */
void reduce_cases(void (*run)(const struct reduce_case *));
void reduce_case_id(const struct reduce_case *c, char *text, size_t capacity_bytes);

/* reduce_run.c: runs a case on a device and compares. */
struct reduce_data {
    const struct reduce_case *c;
    size_t n, parts; /* total number of elements; number of results */
    size_t in_bytes, out_bytes, key_bytes;
    char *in, *b, *keys, *keys_out; /* NULL if unused */
    uint64_t *offsets;
    char *out; /* the expected result */
    char value[8];
};
void reduce_run(ech_ctx *ctx, const struct reduce_data *data, uint64_t seed);

/* reduce_calls.c: invalid arguments, invalid offsets, failing allocations. */
void reduce_calls(ech_ctx *ctx);

#endif
