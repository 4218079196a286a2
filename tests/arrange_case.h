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

/* Where the arrays are. The CPU device has only one kind of memory. */
enum arrange_place { ON_DEVICE, ON_HOST, IN_ON_HOST, OUT_ON_HOST, PLACES };

struct arrange_case {
    enum arrange_what what;
    size_t n;             /* TRANSPOSE: rows; SAMPLE: size of the population */
    size_t other;         /* GATHER, SCATTER: number of elements that indices address; ROTATE:
                           * distance; TRANSPOSE: columns; SAMPLE: sample size */
    size_t element_bytes; /* IOTA, PERMUTATION: of dtype */
    ech_dtype dtype;      /* IOTA, PERMUTATION: of the elements; GATHER, SCATTER: of the index */
    int variant; /* GATHER: order of the indices; IOTA: start and step; REVERSE: in place */
    uint64_t seed;
    int offset; /* misalignment: elements in device memory, bytes in host memory */
    enum arrange_place place;
    bool always; /* test_drawn_often() */
};

void arrange_case_id(const struct arrange_case *c, char *id, size_t capacity_bytes);

/* Calls run() with every case. */
void arrange_cases(void (*run)(const struct arrange_case *c));

/* The data of a case: the inputs, and the expected contents of out. */
struct arrange_data {
    size_t in_bytes, index_bytes, out_bytes;
    unsigned char *in, *index, *before, *after; /* out before and after the call */
};

bool arrange_data_make(const struct arrange_case *c, uint64_t seed, struct arrange_data *d);
void arrange_data_free(struct arrange_data *d);

/* Start and step of an IOTA, one element of dtype each; NULL: the default. */
void arrange_iota_of(const struct arrange_case *c, uint64_t values[2], const void **start,
                     const void **step);

/* Runs a case and checks it. */
void arrange_run(ech_ctx *ctx, const struct arrange_case *c, const struct arrange_data *d);

/* Element i of the permutation that docs/arrange.md defines. */
uint64_t oracle_permutation(uint64_t n, uint64_t seed, uint64_t i);

/* Statistical tests of the permutation: arrange_order.c */
void arrange_order(ech_ctx *ctx);

#endif
