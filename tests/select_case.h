/*
 * select_case.h - one case of test_select: the call, its data and the expected result.
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

/* What a case tests in addition to the result. */
enum select_kind { SELECT_PLAIN, SELECT_REPEAT, SELECT_THREADS };

struct select_case {
    enum select_kind kind;
    enum select_call call;
    ech_dtype dtype;
    size_t n;             /* CALL_DECODE: runs */
    size_t element_bytes; /* calls by flags, CALL_DECODE */
    size_t value_bytes;   /* CALL_UNIQUE_BY_KEY */
    ech_compare compare;
    bool invert, index, packed;
    int percent;      /* of the flags that are set */
    const char *dist; /* a name in keys.c, or "len10": runs with this mean length */
    bool always;      /* also with --quick */
    bool cpu_only;    /* larger than the caches of a CPU; takes long on the emulator */
    size_t extra;     /* CALL_DECODE: capacity of out beyond the sum of the lengths */
};

/* An array of the call: its initial contents and its expected contents. */
struct select_array {
    const char *name;
    size_t bytes;      /* 0: the call has no such array */
    size_t align;      /* of an element */
    size_t gpu_align;  /* required alignment in GPU memory */
    char *input;       /* [bytes], inputs */
    char *want;        /* [want_bytes], outputs */
    size_t want_bytes; /* bytes beyond this are not checked */
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
    size_t element_bytes, out_n; /* out_n: capacity of out for CALL_DECODE */
    char value[8], high[8];      /* operands of the comparison */
    struct select_array arrays[ARRAYS];
};

/* select_cases.c: calls run() with every case. */
void select_cases(void (*run)(const struct select_case *));

/* For example "select_if(f32,n=1000003,less,dist=few)". */
void select_case_id(const struct select_case *c, char *text, size_t capacity_bytes);

/* select_oracle.c: creates the data of a case, and computes the expected result sequentially with
 * comparisons in long double. */
bool select_make(const struct select_case *c, uint64_t seed, struct select_data *d);
void select_free(struct select_data *d);

/* select_run.c: runs a case on a device, in each way that memory can be given. */
void select_run(ech_ctx *ctx, const struct select_data *d, uint64_t seed);

/* select_bad.c: calls that must fail. */
void select_bad(ech_ctx *ctx);

/* The type of the positions that a case with `index` asks for. */
ech_dtype select_positions(const struct select_case *c);

#endif
