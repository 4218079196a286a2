/*
 * condition.h - a condition on one column of a table: 'price>=3', 'city==Oslo', '2:1..10', '>=0'.
 *
 *     [COLUMN] SIGN VALUE      COLUMN:LOW..HIGH      [COLUMN:] nan, zero or nonzero
 *
 * A value in double quotes is compared as text.  A value without quotes that is not a number is
 * text, too, but then the column must not be numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_CONDITION_H
#define ECHELON_CLI_CONDITION_H

#include "table.h"

struct condition {
    const char *text;    /* as typed */
    char *memory;        /* all words below are parts of it */
    const char *column;  /* NULL: --column, or the whole line */
    bool string, quoted; /* it compares text; a value is in double quotes */
    int tests;           /* 2 for a range with two ends */
    const char *test[2]; /* of numbers: ">=3", for where_parse() */
    ech_compare compare[2];
    const char *value[2]; /* of strings */
    size_t bytes[2];
    int at; /* position of its column in a table */
};

/* Parses text.  Returns EXIT_DONE, or EXIT_BAD after a message. */
int condition_parse(const char *text, struct condition *condition);
void condition_free(struct condition *condition);

/* Selects the columns of n conditions; column is that of conditions without one. */
int condition_columns(struct condition *conditions, int n, const char *column, int type,
                      struct table *table);

/* Fails if a condition compares a column of numbers with text, or strings with numbers. */
int condition_check(const struct job *job, const struct condition *condition,
                    const struct table *table);

/* Adds 1 to votes[i] for each row i that satisfies the condition.  scratch: [n] of 9 bytes. */
int condition_apply(struct job *job, const struct condition *condition, const struct table *table,
                    uint8_t *votes, void *scratch);

#endif
