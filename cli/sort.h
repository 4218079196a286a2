/*
 * sort.h - what the two halves of "echelon sort" agree on: sort.c reads and writes, sort_stages.c
 * calls the library and keeps the times.  "echelon profile" reads and calls by them too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_SORT_H
#define ECHELON_CLI_SORT_H

#include "cli.h"

/* What options say of the column and of the order, as it was typed. */
struct sort_words {
    const char *type, *format, *bits, *order, *algorithm;
    bool reverse, argsort;
};

/* Rows of a table of options, for a struct sort_words. */
#define SORT_COLUMN_OPTIONS(words)                                                                 \
    { 't', "type", "TYPE", &(words).type, "i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64" },      \
        { 0, "format", "FORMAT", &(words).format, "npy, raw or text; default: see below" },        \
        { 0, "bits", "FIRST:END", &(words).bits,                                                   \
          "sort by these bits of the key alone, 0 the lowest" },                                   \
    {                                                                                              \
        0, "order", "ORDER", &(words).order,                                                       \
            "of floats: nan-last, where -0 equals +0 (default), or\ntotal, IEEE 754 totalOrder"    \
    }

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
    void *values; /* [n] of value_bytes that go along: the lines of text; the caller's to free */
    size_t value_bytes;
    bool staged; /* copy to a GPU and back here, so that each can be timed */
    void *index; /* of an argsort: [n] of index_bytes; from malloc() */
    size_t index_bytes;
    uint64_t n_out;             /* elements to write, fewer than were read after --unique */
    const char *input, *output; /* names, for the report */
    struct stage_time stages[STAGES];
    double started;
    struct cli_progress progress;
};

/* Fills job->options, but for the bits: what they may be, the type of the column says. */
int sort_parse(struct sort_job *job, const struct sort_words *words);
/* Reads job->input into the column.  Each: EXIT_DONE, or an exit code after its message. */
int sort_load(struct sort_job *job, const struct sort_words *words);

/* A stage runs from stage_begin() to stage_end(). */
void stage_begin(struct sort_job *job, enum stage stage);
void stage_end(struct sort_job *job, enum stage stage, uint64_t bytes);

/* Sorts the column, or fills the index.  EXIT_DONE, or an exit code after its message. */
int sort_column(struct sort_job *job);

void plan_text(const struct sort_job *job, char *text, size_t bytes); /* what runs, in lines */
void report_text(struct sort_job *job, FILE *to);
void report_json(struct sort_job *job, FILE *to);

#endif
