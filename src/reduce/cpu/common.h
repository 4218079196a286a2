/*
 * reduce/cpu/common.h - declarations that the files of the CPU's reduction share: the value of a
 * chunk, and the kernels that compute it, by instruction set.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_REDUCE_CPU_COMMON_H
#define ECHI_REDUCE_CPU_COMMON_H

#include "reduce/reduce.h"

enum { ECHI_DTYPES = 12 };

/* The value of one or several chunks: one member, by enum echi_reduce_kind. */
struct echi_value {
    union {
        uint64_t u; /* sums and products of integers, bits, the maximum e, a count */
        float f;
        struct {
            double sum;
            uint64_t ignored; /* number of NaN that were ignored */
        } d;
        struct echi_moments moments;
        struct {
            uint64_t least, most;
        } ends;
        struct {
            uint64_t rank, at; /* initially both UINT64_MAX */
        } best;
    };
};

/* Sets a value of n elements, at most a chunk; then of the next n elements, and so on for `rows`
 * values.  For ARG the value on entry is the best so far; its `at` counts from the chunk's start,
 * and is kept unless the chunk has a better one. */
typedef void echi_chunk_function(const struct echi_reduce_rule *rule, const void *in, const void *b,
                                 size_t n, size_t rows, struct echi_value *value);

struct echi_reduce_isa {
    echi_chunk_function *chunk[ECHI_REDUCE_KINDS][ECHI_DTYPES];
    /* By key width, 1, 2, 4, 8: the number of keys in keys[from ... to - 1] that differ from their
     * predecessor, and the end of the run that contains keys[at]. */
    size_t (*run_starts[9])(const struct echi_order *order, const void *keys, size_t from,
                            size_t to);
    size_t (*run_end[9])(const struct echi_order *order, const void *keys, size_t at, size_t n);
};

extern const struct echi_reduce_isa echi_reduce_portable, echi_reduce_avx2, echi_reduce_avx512;

/* The kernels that a call uses, and the enum echi_spread of a type: also for src/dist. */
const struct echi_reduce_isa *echi_reduce_isa_of_machine(void);

int echi_reduce_spread(ech_dtype dtype); /* enum echi_spread */

/* ---- values.c ---- */

/* The value of no elements. */
struct echi_value echi_reduce_nothing(const struct echi_reduce *r);

/* Merges the values of adjacent ranges; a precedes b. */
struct echi_value echi_reduce_merge(const struct echi_reduce *r, int spread, struct echi_value a,
                                    struct echi_value b);

/* Writes result number `index` to r->out, of n elements. */
void echi_reduce_result(const struct echi_reduce *r, struct echi_value v, size_t n, size_t index);

/* The value of a result with rule.raw. */
struct echi_value echi_reduce_value(const struct echi_reduce *r, const uint64_t *raw);

#endif
