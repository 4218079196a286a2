/*
 * reduce/cpu/common.h - what the files of the CPU's reduction share: the value of a chunk, and the
 * kernels that make one, by instruction set.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_REDUCE_CPU_COMMON_H
#define ECHI_REDUCE_CPU_COMMON_H

#include "reduce/reduce.h"

enum { ECHI_DTYPES = 12 };

/* What is known of a chunk, or of several: one member, by enum echi_reduce_kind. */
struct echi_value {
    union {
        uint64_t u; /* sums and products of integers, bits, the greatest e, a count */
        float f;
        struct {
            double sum;
            uint64_t ignored; /* how many NaN were not added */
        } d;
        struct echi_moments moments;
        struct {
            uint64_t least, most;
        } ends;
        struct {
            uint64_t rank, at; /* at UINT64_MAX: nothing yet */
        } best;
    };
};

/* Sets a value of n elements, a chunk at most; then of the n that follow, and so on for `rows`
 * values.  For ARG a value is the best so far, whose `at` stays unless the chunk has a better one,
 * and counts from the chunk's start. */
typedef void echi_chunk_function(const struct echi_reduce_rule *rule, const void *in, const void *b,
                                 size_t n, size_t rows, struct echi_value *value);

struct echi_reduce_isa {
    echi_chunk_function *chunk[ECHI_REDUCE_KINDS][ECHI_DTYPES];
    /* By the width of keys, 1, 2, 4, 8: how many of keys[from ... to - 1] differ from the one
     * before, and where the run that keys[at] is in ends. */
    size_t (*run_starts[9])(const struct echi_order *order, const void *keys, size_t from,
                            size_t to);
    size_t (*run_end[9])(const struct echi_order *order, const void *keys, size_t at, size_t n);
};

extern const struct echi_reduce_isa echi_reduce_portable, echi_reduce_avx2, echi_reduce_avx512;

#endif
