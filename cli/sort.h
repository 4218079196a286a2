/*
 * sort.h - shared by the files of "echelon sort": sort.c reads and writes, sort_stages.c calls the
 * library.  "echelon profile" uses both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_SORT_H
#define ECHELON_CLI_SORT_H

#include "job.h"

/* The values of the options of the column and the order, as typed. */
struct sort_words {
    struct job_words job;
    const char *bits, *order, *algorithm;
    bool reverse, argsort;
};

/* Rows of an option table, for a struct sort_words. */
#define SORT_COLUMN_OPTIONS(words)                                                                 \
    JOB_TYPE_OPTIONS((words).job),                                                                 \
        { 0, "bits", "FIRST:END", &(words).bits,                                                   \
          "sort by bits FIRST to END - 1 of the key; bit 0 is the lowest" },                       \
    {                                                                                              \
        0, "order", "ORDER", &(words).order,                                                       \
            "order of floats: nan-last, with -0 = +0 (default), or\ntotal: IEEE 754 totalOrder"    \
    }

struct sort_job {
    struct job base; /* first, so that a pointer to it can be converted to a struct sort_job * */
    ech_sort_options options;
    bool argsort;
    size_t rows, cols; /* sorts each row of cols numbers; cols 0: one array */
    void *values; /* [n] of value_bytes, moved with the keys: lines of text; the caller frees it */
    size_t value_bytes;
    bool staged; /* copy to the GPU and back separately, so that each copy can be timed */
    void *index; /* result of an argsort: [n] of index_bytes; from malloc() */
    size_t index_bytes;
};

/* These functions return EXIT_DONE, or an exit code after a message. */

/* Fills job and its options, except --bits, whose range depends on the type of the column. */
int sort_parse(struct sort_job *job, const struct sort_words *words);
/* Reads the input into the column, and parses --bits. */
int sort_load(struct sort_job *job, const struct sort_words *words);

/* Sorts the column, or computes the index. */
int sort_column(struct sort_job *job);

/* Writes the plan of the sort as lines of text. */
void sort_plan(const struct sort_job *job, char *text, size_t bytes);

#endif
