/*
 * reduce/reduce.h - the checked form of a reduction: the array, its division into rows or segments,
 * and the operation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_REDUCE_REDUCE_H
#define ECHI_REDUCE_REDUCE_H

#include "core/internal.h"
#include "reduce/value.h"

/* The computation; together with the rule it represents an ech_op. */
enum echi_reduce_kind {
    ECHI_REDUCE_ISUM, /* integers, modulo 2^64 */
    ECHI_REDUCE_IPRODUCT,
    ECHI_REDUCE_IDOT,
    ECHI_REDUCE_SUM, /* f16, bf16, f32 in f32 */
    ECHI_REDUCE_PRODUCT,
    ECHI_REDUCE_DOT,
    ECHI_REDUCE_SUM64, /* any dtype in f64 */
    ECHI_REDUCE_PRODUCT64,
    ECHI_REDUCE_DOT64,
    ECHI_REDUCE_VARIANCE,
    ECHI_REDUCE_BITS, /* the rest: elements by width */
    ECHI_REDUCE_MAX,
    ECHI_REDUCE_MINMAX,
    ECHI_REDUCE_ARG,
    ECHI_REDUCE_COUNT,
    ECHI_REDUCE_KINDS
};

enum echi_reduce_shape {
    ECHI_REDUCE_ROWS, /* [rows][columns]; an entire array is one row */
    ECHI_REDUCE_SEGMENTS,
    ECHI_REDUCE_BY_KEY
};

struct echi_reduce {
    enum echi_reduce_kind kind;
    enum echi_reduce_shape shape;
    ech_dtype dtype, key_dtype;
    struct echi_reduce_rule rule;
    const void *in, *b; /* b: the second array of a dot product */
    const void *keys;
    const void *offsets; /* [segments + 1], read by offsets_index */
    struct echi_index offsets_index;
    void *out, *keys_out;
    uint64_t *count;
    size_t n;                       /* elements in all */
    size_t rows, columns, segments; /* depending on the shape */
};

/* cpu/operation.c: the reduction of n elements, at least 1, at once, without the time of a copy of
 * the request, whose arrays and sizes are not used. false: there are too many. */
bool echi_cpu_reduce_few(const struct echi_reduce *r, const void *in, void *out, size_t n);

/* ---- Short calls ----
 *
 * ech_reduce() without options jumps to one of these functions, which checks the arrays and, unless
 * the call is one on few elements on the CPU without an error, jumps to echi_reduce_any(). */

typedef ech_status echi_reduce_function(ech_ctx *ctx, ech_op op, const void *in, void *out,
                                        size_t n, ech_dtype dtype,
                                        const ech_reduce_options *options);
enum { ECHI_REDUCE_FEW = 1 << 15 }; /* no function takes more elements */
/* cpu/values.c: by echi_cpu_level(), the operation and the dtype; NULL: there is none. */
extern echi_reduce_function *const (*const echi_reduce_calls[])[ECHI_DTYPE_COUNT];
echi_reduce_function echi_reduce_any;

/* The request of a reduction without its arrays and sizes; for src/dist. */
ech_status echi_reduce_request(ech_ctx *ctx, struct echi_reduce *r, ech_op op, ech_dtype dtype,
                               const ech_reduce_options *options);

#endif
