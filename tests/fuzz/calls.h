/*
 * calls.h - a call that fuzz_calls.c makes: arguments from the bytes of the input, arrays between
 * guard zones, and what is checked afterwards.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_FUZZ_CALLS_H
#define ECHELON_FUZZ_CALLS_H

#include "fuzz.h"

#include <echelon.h>

#include <stdbool.h>
#include <stdint.h>

struct input {
    const unsigned char *at;
    size_t left;
};

/* The next byte; 0 at the end. */
unsigned take(struct input *in);

enum { AREAS = 8 };

struct area {
    unsigned char *base, *data, *before; /* before: a copy of data, as it was before the call */
    size_t bytes;
    bool constant;
};

/* What is wrong with the call. */
enum spoil { NOTHING, ARRAY_NULL, ARRAY_UNALIGNED, SIZE_FIELD, WORK_SMALL, ALGORITHM, SPOILS };

struct call {
    struct input *in;
    ech_ctx *ctx;
    struct area areas[AREAS];
    int count;
    enum spoil spoil;
    int which;          /* array to spoil */
    bool spoiled;       /* the call must fail */
    bool array_spoiled; /* the same, unless there is nothing to do */
    bool
        data_error; /* the call may also fail because of its data, which leaves outputs undefined */
};

void call_begin(struct call *c, struct input *in, ech_ctx *ctx);

/* An array with elements from the input, or one that the call writes; align: what the call
 * requires. */
void *array_in(struct call *c, size_t n, size_t element_bytes, size_t align);
void *array_out(struct call *c, size_t n, size_t element_bytes, size_t align);

/* The last array, before its pointer is spoiled; to change its elements, or for the result. */
void *array_last(struct call *c);
void array_keep(struct call *c); /* after it was changed */

/* Completes options: the size field. */
void call_size(struct call *c, size_t *size);

/* Completes options: the size field, a workspace of needed bytes, and the algorithm. */
void call_options(struct call *c, size_t *size, void **work, size_t *work_bytes, size_t needed,
                  const char **algorithm);

/* Checks the status, the message and the memory around the arrays; true: the result is to be
 * checked. */
bool call_check(struct call *c, ech_status status);
void call_end(struct call *c);

ech_dtype take_dtype(struct input *in);
ech_dtype take_index(struct input *in);
size_t take_size(struct input *in);

/* calls_arrays.c: sorts an array in place. */
void sort_array(void *keys, size_t n, ech_dtype dtype, bool descending);

/* calls_columns.c: a sort by columns. */
void call_columns(struct input *in, ech_ctx *ctx);
void call_records(struct input *in, ech_ctx *ctx);

/* calls_sets.c: a set operation. */
void call_set(struct input *in, ech_ctx *ctx);
/* calls_search.c: a search; a merge of runs. */
void call_search(struct input *in, ech_ctx *ctx);
void call_merge_many(struct input *in, ech_ctx *ctx);

/* calls_strings.c: a sort of strings. */
void call_strings(struct input *in, ech_ctx *ctx);

/* calls_quantile.c: an element of a rank, a partition, or quantiles. */
void call_quantile(struct input *in, ech_ctx *ctx);

/* calls_bits.c: a transpose; a product over GF(2). */
void call_transpose(struct input *in, ech_ctx *ctx);
void call_bits(struct input *in, ech_ctx *ctx);

/* calls_arrays.c: one call of an operation. */
void call_operation(struct input *in, ech_ctx *ctx);

#endif
