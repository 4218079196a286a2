/*
 * reduce.h - shared by the files of "echelon reduce": operations and options.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_REDUCE_H
#define ECHELON_CLI_REDUCE_H

#include "job.h"

struct reduction {
    const char *name;
    ech_op op;
    bool of_some; /* undefined for empty input */
};

/* The values of the options, as typed. */
struct reduce_words {
    struct job_words job;
    const char *nan, *where, *rows, *ddof;
    struct cli_list by;
    bool accumulate_wide, string;
};

/* Finds an operation, or fails after a message. */
int reduce_find(const char *name, const struct reduction **found);
/* Parses the options for the operation; --where and --ddof must apply to it. */
int reduce_options(const struct reduce_words *words, const struct reduction *reduction,
                   ech_reduce_options *out);

/* ---- With --by: reduce_by.c ---- */

/* Parses the operations, separated by commas, and the options. */
int reduce_by_plan(const struct reduce_words *words, char *operations);
int reduce_by_to(struct job *job, struct io_output *output); /* for job_run() */
void reduce_by_free(void);

#endif
