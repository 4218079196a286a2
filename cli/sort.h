/*
 * sort.h - what the two halves of "echelon sort" agree on: sort.c reads and writes, sort_stages.c
 * calls the library.  "echelon profile" reads and calls by them too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_SORT_H
#define ECHELON_CLI_SORT_H

#include "job.h"

/* What options say of the column and of the order, as it was typed. */
struct sort_words {
    struct job_words job;
    const char *bits, *order, *algorithm;
    bool reverse, argsort;
};

/* Rows of a table of options, for a struct sort_words. */
#define SORT_COLUMN_OPTIONS(words)                                                                 \
    JOB_TYPE_OPTIONS((words).job),                                                                 \
        { 0, "bits", "FIRST:END", &(words).bits,                                                   \
          "sort by these bits of the key alone, 0 the lowest" },                                   \
    {                                                                                              \
        0, "order", "ORDER", &(words).order,                                                       \
            "of floats: nan-last, where -0 equals +0 (default), or\ntotal, IEEE 754 totalOrder"    \
    }

struct sort_job {
    struct job base; /* the first, so that a struct job is a struct sort_job where it is one */
    ech_sort_options options;
    bool argsort;
    void *values; /* [n] of value_bytes that go along: the lines of text; the caller's to free */
    size_t value_bytes;
    bool staged; /* copy to a GPU and back here, so that each can be timed */
    void *index; /* of an argsort: [n] of index_bytes; from malloc() */
    size_t index_bytes;
};

/* Fills job but for what comes from the input, and its options but for the bits: what they may be,
 * the type of the column says. */
int sort_parse(struct sort_job *job, const struct sort_words *words);
/* Reads the input into the column.  Each: EXIT_DONE, or an exit code after its message. */
int sort_load(struct sort_job *job, const struct sort_words *words);

/* Sorts the column, or fills the index.  EXIT_DONE, or an exit code after its message. */
int sort_column(struct sort_job *job);

/* What runs, in lines. */
void sort_plan(const struct sort_job *job, char *text, size_t bytes);

#endif
