/*
 * table_read.h - reads columns of strings from a text, and columns from an array of records.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_TABLE_READ_H
#define ECHELON_CLI_TABLE_READ_H

#include "table.h"

/* Sets [*at, *end) to the column of row i, without its quotes.  Returns false if the row has fewer
 * columns, or if its quotes are malformed; then *fault is the reason, otherwise NULL. */
bool table_cut(const struct io_column *c, const struct table_column *column, uint64_t i,
               const char **at, const char **end, const char **fault);

/* Reads the strings of a column of a text.  Returns EXIT_DONE, or an exit code after a message. */
int table_read_strings(struct job *job, struct table_column *column);

/* Reads the columns of the table from the array of records in job->column. */
int table_read_records(struct job *job, struct table *table);

/* Copies [at, end), in which "" is a quote if quoted; returns the end of the copy. */
char *table_copy_field(char *to, const char *at, const char *end, bool quoted);

#endif
