/*
 * sort.h - what the two halves of "echelon sort" agree on: sort.c reads and writes, sort_stages.c
 * calls the library and keeps the times.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_SORT_H
#define ECHELON_CLI_SORT_H

#include "cli.h"

enum stage {
    STAGE_OPEN,
    STAGE_READ,
    STAGE_UPLOAD,
    STAGE_SORT,
    STAGE_DOWNLOAD,
    STAGE_WRITE,
    STAGES
};

struct stage_time {
    bool ran;
    double seconds;
    uint64_t bytes; /* that it moved or sorted; 0: it has no rate */
};

struct sort_job {
    ech_ctx *ctx;
    struct io_column column;
    ech_sort_options options;
    bool argsort;
    bool staged; /* copy to a GPU and back here, so that each can be timed */
    void *index; /* of an argsort: [n] of index_bytes; from malloc() */
    size_t index_bytes;
    uint64_t n_out;             /* elements to write, fewer than were read after --unique */
    const char *input, *output; /* names, for the report */
    struct stage_time stages[STAGES];
    double started;
    struct cli_progress progress;
};

/* A stage runs from stage_begin() to stage_end(). */
void stage_begin(struct sort_job *job, enum stage stage);
void stage_end(struct sort_job *job, enum stage stage, uint64_t bytes);

/* Sorts the column, or fills the index.  EXIT_DONE, or an exit code after its message. */
int sort_column(struct sort_job *job);

void report_text(struct sort_job *job, FILE *to);
void report_json(struct sort_job *job, FILE *to);

#endif
