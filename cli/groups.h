/*
 * groups.h - the rows of a table in groups of equal keys, and a table with one line per group.
 *
 *     keys     b a b a        order    1 3 0 2        the rows, sorted by their keys
 *     values   5 1 7 2        offsets  0 2 4          where each group begins in order
 *     groups   a: 1 2, b: 5 7
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_GROUPS_H
#define ECHELON_CLI_GROUPS_H

#include "table.h"

enum { GROUPS_KEYS = 16, GROUPS_VALUES = 64 };

/* The columns of the output. */
struct groups_value {
    char name[40]; /* "sum"; the title is "sum(price)" */
    ech_dtype dtype;
    const char *results; /* of group g at results + g * stride * the size of dtype */
    size_t stride;
    bool position; /* UINT64_MAX is "none" */
    bool plain;    /* the title is the name, without a column */
};

struct groups {
    struct table table;
    int keys[GROUPS_KEYS]; /* positions of the key columns in the table */
    int key_count;
    int value; /* position of the column of numbers; -1: none */
    uint64_t count;
    ech_dtype index_dtype; /* of order */
    void *order;
    uint64_t *offsets; /* [count + 1] */
    void *sorted;      /* the numbers in this order */
    struct groups_value values[GROUPS_VALUES];
    int value_count;
};

/* Selects the key columns that --by gives, and the column of numbers if needs_value. */
int groups_plan(struct groups *groups, const struct cli_list *by, bool string,
                const struct job_words *words, bool needs_value);
/* Reads the input, finds the groups and sorts the numbers by group. */
int groups_load(struct job *job, const struct job_words *words, struct groups *groups);
/* The row that is at place i in the order of the groups. */
uint64_t groups_row(const struct groups *groups, uint64_t i);
/* Fails if two values have the same name. */
int groups_check(const struct groups *groups);
/* Writes a line per group: its keys, then its values; after a header line if the input has one. */
int groups_write(struct job *job, struct io_output *output, const struct groups *groups);
/* Prints the same as an object of JSON on standard output. */
int groups_print_json(const struct job *job, const struct groups *groups);
void groups_free(struct groups *groups);

#endif
