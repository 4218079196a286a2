/*
 * runs.h - sorted numbers of several files, or lines that are sorted by a number: the inputs of
 * "echelon merge", "echelon set" and "echelon search".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_RUNS_H
#define CLI_RUNS_H

#include "job.h"

enum { MOST_FILES = 64 };

/* Sorted numbers; from malloc(). */
struct run {
    char *keys;
    uint64_t *places; /* of their lines: the file and the offset; NULL: no lines */
    size_t n;
};

struct runs_job {
    struct job base; /* first, so that a pointer to it can be converted; its column is the first */
    int descending;
    ech_order order;
    const char *names[MOST_FILES];
    struct io_column columns[MOST_FILES]; /* the first one is moved to base */
    struct run runs[MOST_FILES];
    int count;
    bool lines; /* the output is lines */
};

/* Takes the names of the files; none: standard input. */
int runs_name(struct runs_job *job, int count, char **operands);

/* Loads all files, checks their order and types, plans the output, and makes the runs. */
int runs_load(struct runs_job *job, const struct job_words *words, struct io_output *output);

/* Steps of runs_load(), for other inputs.  The first fails if the column of the base is not sorted;
 * the second, if the columns have different types.  A text without numbers has any type. */
int runs_check_sorted(const struct runs_job *job);
int runs_check_types(struct runs_job *job);

/* Allocates a run of n elements. */
int runs_allocate(struct runs_job *job, size_t n, const char *what, struct run *run);
void runs_free_run(struct run *run);

/* Writes the first run, which has base.n_out elements: its numbers, or the header line of the first
 * file that has one and the lines. */
int runs_write(struct runs_job *job, struct io_output *output);

void runs_free(struct runs_job *job);

#endif
