/*
 * arrange_case.h - one case of test_arrange, as a row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ARRANGE_CASE_H
#define ARRANGE_CASE_H

#include "test.h"

enum arrange_what {
    GATHER,
    SCATTER,
    REVERSE,
    ROTATE,
    TRANSPOSE,
    FILL,
    IOTA,
    PERMUTATION,
    SHUFFLE,
    SAMPLE
};

/* Where the arrays lie; of the CPU all is one. */
enum arrange_place { ON_DEVICE, ON_HOST, IN_ON_HOST, OUT_ON_HOST, PLACES };

struct arrange_case {
    enum arrange_what what;
    size_t n;             /* TRANSPOSE: rows; SAMPLE: of what is drawn from */
    size_t other;         /* GATHER, SCATTER: the elements that indices reach; ROTATE: by;
                             TRANSPOSE: columns; SAMPLE: how many */
    size_t element_bytes; /* IOTA, PERMUTATION: of dtype */
    ech_dtype dtype;      /* IOTA, PERMUTATION; of GATHER and SCATTER the index */
    int variant; /* GATHER: order of the indices; IOTA: start and step; REVERSE: in place */
    uint64_t seed;
    int offset; /* elements by which device arrays are off their alignment, bytes in host memory */
    enum arrange_place place;
};

void arrange_case_id(const struct arrange_case *c, char *id, size_t capacity_bytes);

/* Calls run with every case. */
void arrange_cases(void (*run)(const struct arrange_case *c));

/* The data of a case: the inputs, and what must be in out afterwards. */
struct arrange_data {
    size_t in_bytes, index_bytes, out_bytes;
    unsigned char *in, *index, *before, *after; /* out, before the call and after it */
};

bool arrange_data_make(const struct arrange_case *c, uint64_t seed, struct arrange_data *d);
void arrange_data_free(struct arrange_data *d);

/* start and step of an IOTA, [1] of dtype each; NULL for none. */
void arrange_iota_of(const struct arrange_case *c, uint64_t values[2], const void **start,
                     const void **step);

/* Runs a case and checks it. */
void arrange_run(ech_ctx *ctx, const struct arrange_case *c, const struct arrange_data *d);

/* Position i of the order of docs/arrange.md. */
uint64_t oracle_permutation(uint64_t n, uint64_t seed, uint64_t i);

/* ... and what it looks like: test_arrange_order.c */
void arrange_order(ech_ctx *ctx);

#endif
