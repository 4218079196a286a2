/*
 * explain.h - shared by the files of "echelon explain".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_EXPLAIN_H
#define ECHELON_CLI_EXPLAIN_H

#include "cli.h"

/* The options, as typed; the members after "parsed" are set by run() in explain.c. */
struct explain {
    const char *type, *n, *values, *bins, *device, *bits, *order, *algorithm, *shape, *b_columns;
    const char *batch_count, *method, *precond, *nnz, *rows, *segments, *head, *runs, *needles;
    const char *ranks, *record;
    bool argsort, reverse, transpose_a, transpose_b, needles_sorted, appearance, mode, nulls, json;
    bool by_key;
    /* parsed */
    const char *call;   /* the second operand; NULL: none */
    uint64_t count;     /* --n */
    uint64_t extent[2]; /* --shape */
    ech_dtype dtype;    /* not for columns, records, strings, and operations with --shape */
    ech_format format;
    char *captured; /* [EXPLAIN_TEXT] receives the text instead of standard output; or NULL */
};

enum { EXPLAIN_TEXT = 16384 };

/* Prints text if the status is ECH_OK, otherwise the error message. */
int explain_print(const struct explain *set, ech_status status, const char *text);
/* Parses the value of an option, or copies the default if text is NULL. */
int explain_count(const char *option, const char *text, uint64_t otherwise, uint64_t *count);
/* The number of rows of --rows, or of segments; 0: one array. */
int explain_groups(const struct explain *set, uint64_t *groups);
/* Finds the call (by default the first name) in names; *index is its position. */
int explain_call(const struct explain *set, const char *what, const char *const *names, int n,
                 int *index);
/* Appends the algorithms of the operation that has the name of a subcommand to words, which are
 * separated by blanks; no more than once. */
void explain_algorithms(const char *operation, char *words, size_t capacity);

/* ---- explain_sort.c ---- */

int explain_sort(const struct explain *set);
int explain_topk(const struct explain *set);
int explain_hist(const struct explain *set);
int explain_is_sorted(const struct explain *set);

/* ---- explain_arrays.c ---- */

int explain_merge(const struct explain *set);
int explain_set(const struct explain *set);
int explain_search(const struct explain *set);
int explain_unique(const struct explain *set);
int explain_quantile(const struct explain *set);
int explain_columns(const struct explain *set);
int explain_records(const struct explain *set);
int explain_strings(const struct explain *set);

/* ---- explain_calls.c ---- */

int explain_scan(const struct explain *set);
int explain_reduce(const struct explain *set);
int explain_select(const struct explain *set);
int explain_arrange(const struct explain *set);

/* ---- explain_numbers.c ---- */

int explain_gf2(const struct explain *set);
int explain_matmul(const struct explain *set);
int explain_matvec(const struct explain *set);
int explain_csr(const struct explain *set);
int explain_solve(const struct explain *set);

#endif
