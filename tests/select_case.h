/*
 * select_case.h - one case of test_select: what is called on what, and the oracle's answer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SELECT_CASE_H
#define SELECT_CASE_H

#include "test.h"

enum select_call {
    CALL_SELECT_FLAGS,
    CALL_SELECT_IF,
    CALL_PARTITION_FLAGS,
    CALL_PARTITION_IF,
    CALL_THREE,
    CALL_UNIQUE,
    CALL_UNIQUE_BY_KEY,
    CALL_ENCODE,
    CALL_DECODE
};

/* What a case is after, beside the right answer. */
enum select_kind { SELECT_PLAIN, SELECT_REPEAT, SELECT_THREADS };

struct select_case {
    enum select_kind kind;
    enum select_call call;
    ech_dtype dtype;
    size_t n;             /* CALL_DECODE: runs */
    size_t element_bytes; /* of calls by flags and CALL_DECODE */
    size_t value_bytes;   /* of CALL_UNIQUE_BY_KEY */
    ech_compare compare;
    bool invert, index, packed;
    int percent;      /* of flags that are set */
    const char *dist; /* name in the table of keys.c, or "len10": runs of that mean length */
    bool always;      /* in a quick run too */
    size_t extra;     /* CALL_DECODE: room in out beyond what the lengths add up to */
};

/* An array of the call: where it is filled from, and what it must hold at the end. */
struct select_array {
    const char *name;
    size_t bytes;      /* 0: not an array of this call */
    size_t align;      /* of an element */
    size_t gpu_align;  /* what GPU memory of it must be aligned to */
    char *input;       /* [bytes], of inputs */
    char *want;        /* [want_bytes], of outputs */
    size_t want_bytes; /* what lies beyond is not looked at */
};

enum {
    ARRAY_IN,
    ARRAY_FLAGS,
    ARRAY_VALUES,
    ARRAY_LENGTHS,
    ARRAY_OUT,
    ARRAY_VALUES_OUT,
    ARRAY_LENGTHS_OUT,
    ARRAY_COUNT,
    ARRAYS
};

struct select_data {
    const struct select_case *c;
    size_t element_bytes, out_n; /* out_n: room in out of CALL_DECODE */
    char value[8], high[8];      /* what is compared with */
    struct select_array arrays[ARRAYS];
};

/* select_cases.c: calls run with every case of the table. */
void select_cases(void (*run)(const struct select_case *));

/* "select_if(f32,n=1000003,less,dist=few)" */
void select_case_id(const struct select_case *c, char *text, size_t capacity_bytes);

/* select_oracle.c: makes a case's data, and its answer, by comparisons in long double and one
 * element after the other. */
bool select_make(const struct select_case *c, uint64_t seed, struct select_data *d);
void select_free(struct select_data *d);

/* select_run.c: runs a case on a device in each way that memory can be given. */
void select_run(ech_ctx *ctx, const struct select_data *d, uint64_t seed);

/* select_bad.c: what must fail, and how. */
void select_bad(ech_ctx *ctx);

/* The type of the positions that a case with `index` asks for. */
ech_dtype select_positions(const struct select_case *c);

#endif
