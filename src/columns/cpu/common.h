/*
 * columns/cpu/common.h - declarations that the files of the CPU's sort by columns share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_COLUMNS_CPU_COMMON_H
#define ECHI_COLUMNS_CPU_COMMON_H

#include "columns/columns.h"
#include "cpu/groups.h"

enum { COLUMNS_SHORT = 1 << 13 /* rows of a tie that one thread sorts, at most */ };

/* A running sort. */
struct echi_columns_job {
    ech_ctx *ctx;
    const struct echi_columns *request;
    int threads;
    void *words;     /* [n], of as many bytes as word 0 has */
    void *sort_work; /* of a sort */
    size_t room;     /* refine: the rows of a short tie, at most COLUMNS_SHORT */
    char *own;       /* refine: own_bytes per thread */
    size_t own_bytes;
    void *indices; /* of the request, or in the workspace for records */
    void *copy;    /* of records that are sorted in place */
};

/* ---- words.c ---- */

/* out[i] = the word of the row at position[i], in the word's bytes.  positions,
 * of the request's index_bytes, may be NULL: 0, 1, 2, ... */
void echi_columns_build(const struct echi_columns_job *job, uint32_t word, const void *positions,
                        void *out, size_t n, int threads);

/* The same for one row. */
uint64_t echi_columns_at(const struct echi_columns *c, const struct echi_column_word *w,
                         uint64_t position);

/* ---- refine.c ---- */

/* Sorts rows [begin, begin + n), which are sorted by words[n], their words number `word`, by the
 * words below it.  Changes words. */
ech_status echi_columns_refine(const struct echi_columns_job *job, uint32_t word, size_t begin,
                               size_t n, uint64_t *words);

/* ---- operation.c ---- */

/* Sorts positions [begin, begin + n) by a word, in place, stably, and writes the sorted words to
 * words[n]. */
ech_status echi_columns_pass(const struct echi_columns_job *job, uint32_t word, size_t begin,
                             size_t n, void *words, void *sort_work, int threads);

#endif
