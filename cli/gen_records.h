/*
 * gen_records.h - "echelon gen records": writes the records of the sort benchmark.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_GEN_RECORDS_H
#define ECHELON_CLI_GEN_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

/* The options of "echelon gen records". */
struct gen_records {
    const char *start, *threads; /* as typed, or NULL */
    bool ascii, skewed, checksum;
};

/* Writes n records to output (NULL: standard output).  Returns an exit code. */
int gen_records(const struct gen_records *options, uint64_t n, const char *output);

#endif
