/*
 * explain.h - shared by the files of "echelon explain".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_EXPLAIN_H
#define ECHELON_CLI_EXPLAIN_H

#include "cli.h"

/* The options of "explain matmul" and "explain solve", as typed. */
struct explain_numbers {
    const char *type, *b_columns, *nnz, *method, *precond, *device, *algorithm;
    bool transpose_a, transpose_b;
    ech_format format;
    uint64_t shape[2];
};

/* The options of the operations of explain_arrays.c; text is as typed. */
struct explain_arrays {
    const char *type, *values, *order, *runs, *needles, *ranks, *device, *algorithm;
    bool reverse, needles_sorted, appearance, mode, nulls;
    uint64_t n;
    ech_dtype dtype; /* not for columns and strings */
    ech_format format;
};

enum { EXPLAIN_TEXT = 16384 };

/* Prints text if the status is ECH_OK, otherwise the error message. */
static inline int explain_print(ech_status status, const char *text)
{
    if (status != ECH_OK) return cli_fail_ech(status, NULL);
    fputs(text, stdout);
    return EXIT_DONE;
}

/* ---- explain_arrays.c ---- */

int explain_merge(const struct explain_arrays *set);
int explain_set(const struct explain_arrays *set, const char *operation); /* NULL: none is given */
int explain_search(const struct explain_arrays *set);
int explain_unique(const struct explain_arrays *set);
int explain_quantile(const struct explain_arrays *set);
int explain_columns(const struct explain_arrays *set);
int explain_strings(const struct explain_arrays *set);

/* ---- explain_numbers.c ---- */

int explain_matmul(const struct explain_numbers *set);
int explain_solve(const struct explain_numbers *set);

#endif
