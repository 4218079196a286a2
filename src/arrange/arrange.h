/*
 * arrange/arrange.h - the checked request of a call that moves or generates elements without
 * interpreting them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_ARRANGE_ARRANGE_H
#define ECHI_ARRANGE_ARRANGE_H

#include "core/call.h"
#include "arrange/shuffle.h"

enum echi_arrange_what {
    ECHI_GATHER,
    ECHI_SCATTER,
    ECHI_REVERSE,
    ECHI_ROTATE,
    ECHI_TRANSPOSE,
    ECHI_FILL,
    ECHI_IOTA,
    ECHI_PERMUTATION,
    ECHI_SHUFFLE,
    ECHI_CONVERT_INDEX /* in, of index_bytes each, to out, of element_bytes each */
};

/* Fields that a call does not use are 0. */
struct echi_arrange {
    enum echi_arrange_what what;
    const void *in;
    void *out;
    size_t n; /* elements that are moved or generated */
    size_t element_bytes;
    const void *index;
    int index_bytes;         /* 4 or 8 */
    size_t limit;            /* each index must be less */
    size_t by;               /* ECHI_ROTATE: below n */
    size_t rows, columns;    /* ECHI_TRANSPOSE */
    const void *value;       /* ECHI_FILL: in host memory */
    ech_dtype dtype;         /* ECHI_IOTA */
    uint64_t start, step;    /* ... their bits; signed integers are sign-extended */
    struct echi_shuffle map; /* ECHI_PERMUTATION, ECHI_SHUFFLE */
    uint64_t first;          /* ECHI_PERMUTATION: the position of out[0] */
};

/* cpu/operation.c: gathers, by the dtype of the indices and the bytes of an element.  They have the
 * parameters of ech_gather(), which jumps to one of them.  That one checks the parameters, because
 * sizes are constants there, and jumps to echi_gather_any() unless the call is one on few elements
 * on the CPU without an error. */
enum { ECHI_GATHER_BYTES = 16 };
typedef ech_status echi_gather_function(ech_ctx *ctx, const void *in, const void *index, void *out,
                                        size_t n, size_t n_in, ech_dtype index_dtype,
                                        size_t element_bytes);
extern echi_gather_function *const echi_cpu_gathers[ECH_U64 + 1][ECHI_GATHER_BYTES + 1];
echi_gather_function echi_gather_any;

/* Fails if element_bytes is 0 or n * element_bytes overflows size_t. */
ech_status echi_check_elements(ech_ctx *ctx, size_t n, size_t bytes);

/* The call of a request: its name for messages, and the arrays in and out, if they are used. */
void echi_arrange_call(struct echi_call *call, ech_ctx *ctx, struct echi_arrange *a,
                       const char *what, size_t in_bytes, size_t out_bytes);

/* The map of a permutation of n positions; also for src/dist. */
struct echi_shuffle echi_shuffle_make(uint64_t n, uint64_t seed);

#endif
