/*
 * merge/merge.h - a merge of two arrays, and of several runs, whose arguments are checked, as the
 * backends take them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_MERGE_MERGE_H
#define ECHI_MERGE_MERGE_H

#include "core/index.h"
#include "sort/sort.h"

/* The two inputs are numbered 0 and 1. */
struct echi_merge {
    const void *keys[2];
    const void *values[2];
    void *keys_out, *values_out;
    size_t n[2];
    ech_dtype dtype;
    size_t key_bytes;
    size_t value_bytes;      /* 0: none */
    struct echi_order order; /* merged: equal keys have one encoded key */
    const char *algorithm;   /* NULL: the backend chooses */
};

/* A merge of the runs of one array. */
struct echi_merge_many {
    const void *keys, *values, *offsets;
    void *keys_out, *values_out;
    size_t n, runs;
    struct echi_index index; /* of the offsets */
    ech_dtype dtype;
    size_t key_bytes;
    size_t value_bytes;      /* 0: none */
    struct echi_order order; /* merged */
    const char *algorithm;   /* NULL: the backend chooses */
};

/* The number of rounds that merge pairs of neighbours: the binary logarithm of the number of runs,
 * rounded up. */
unsigned echi_merge_rounds(const struct echi_merge_many *m);

/* The sort whose result equals that of the merge, if this algorithm was chosen. */
struct echi_sort echi_merge_sort(const struct echi_merge_many *m);

enum echi_merge_way { ECHI_MERGE_ROUNDS, ECHI_MERGE_SORT };

/* Chooses the algorithm: rounds, if there are at most `most`.  device: for messages. */
ech_status echi_merge_choose(const struct echi_merge_many *m, const char *device, size_t most,
                             enum echi_merge_way *way);
const char *echi_merge_way_name(enum echi_merge_way way);

/* Checks the options of all merges except the algorithm. */
ech_status echi_merge_check_options(ech_ctx *ctx, const ech_merge_options *options);

/* ---- Short calls ----
 *
 * ech_merge() without options jumps to one of these functions, which checks the arrays and, unless
 * the call is one on few keys on the CPU without an error, jumps to echi_merge_any(). */

typedef ech_status echi_merge_function(ech_ctx *ctx, const void *a, const void *b, void *out,
                                       size_t n_a, size_t n_b, ech_dtype dtype,
                                       const ech_merge_options *options);
/* cpu/operation.c: by echi_cpu_level() and log2 of the bytes of a key; NULL: there is none. */
extern echi_merge_function *const *const echi_merge_calls[];
echi_merge_function echi_merge_any;

#endif
