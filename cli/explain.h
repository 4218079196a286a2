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

enum { EXPLAIN_TEXT = 16384 };

/* Prints text if the status is ECH_OK, otherwise the error message. */
static inline int explain_print(ech_status status, const char *text)
{
    if (status != ECH_OK) return cli_fail_ech(status, NULL);
    fputs(text, stdout);
    return EXIT_DONE;
}

/* ---- explain_numbers.c ---- */

int explain_matmul(const struct explain_numbers *set);
int explain_solve(const struct explain_numbers *set);

#endif
