/*
 * runs.h - sorted numbers of several files, or lines that are sorted by a number or as text: the
 * inputs of "echelon merge", "echelon set" and "echelon search".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_RUNS_H
#define CLI_RUNS_H

#include "table.h"

/* Sorted numbers; from malloc(). */
struct run {
    char *keys;
    uint64_t *places; /* of their lines in the texts of all files; NULL: no lines */
    size_t n;
};

struct runs_job {
    struct job base; /* first, so that a pointer to it can be converted; its column is the first */
    int descending;
    ech_order order;
    int count;                 /* of the files */
    const char **names;        /* [count] */
    struct io_column *columns; /* [count] the first one is moved to base */
    struct run *runs;          /* [count] */
    uint64_t *begins;          /* [count + 1] where the text of each file begins in all of them */
    bool lines;                /* the output is lines */
    bool string;               /* the option --string */
    bool text; /* the files are text; the numbers are ranks among all of their strings */
    struct table_column *strings; /* [count] until they are ranked */
    struct table_column all;      /* the strings of all files, one after the other */
};

/* Takes the names of the files; none: standard input. */
int runs_name(struct runs_job *job, int count, char **operands);

/* Loads all files, checks their order and types, plans the output, and makes the runs. */
int runs_load(struct runs_job *job, const struct job_words *words, struct io_output *output);

/* Steps of runs_load(), for other inputs.  The first fails if the column of the base is not sorted;
 * the second, if the columns have different types.  A text without numbers has any type. */
int runs_check_sorted(const struct runs_job *job);
int runs_check_types(struct runs_job *job);

/* ---- Files of text: runs_text.c ---- */

/* Reads file i, base.input, to base.column.  If it is text, strings[i] and job->text are set. */
int runs_load_one(struct runs_job *job, const struct job_words *words, int i);
/* Makes ranks of the strings of all files, and checks that each file is sorted. */
int runs_rank(struct runs_job *job);

/* ---- Runs ---- */

/* Allocates a run of n elements. */
int runs_allocate(struct runs_job *job, size_t n, const char *what, struct run *run);
void runs_free_run(struct run *run);

/* Writes the first run, which has base.n_out elements: its numbers, or the header line of the first
 * file that has one and the lines. */
int runs_write(struct runs_job *job, struct io_output *output);

void runs_free(struct runs_job *job);

#endif
