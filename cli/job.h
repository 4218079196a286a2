/*
 * job.h - what the subcommands share that read a column of numbers, have the library work on it,
 * and write: their options, the steps of a run, what each step took.
 *
 *     job_run()  open the device -> open the output -> body -> report -> close
 *     body       job_load() -> work -> write_...() -> job_commit()
 *
 * The output is opened before the input is read, so that a directory which cannot be written is an
 * error at once and not after the work.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_JOB_H
#define ECHELON_CLI_JOB_H

#include "cli.h"

/* What options say, as it was typed. */
struct job_words {
    const char *type, *format, *column, *delimiter;
    const char *output, *device, *threads, *memory;
    bool stats, json;
};

/* Rows of a table of options, for a struct job_words. */
#define JOB_OUTPUT_OPTION(words)                                                                   \
    {                                                                                              \
        'o', "output", "FILE", &(words).output,                                                    \
            "write there, which may be INPUT; default: standard output"                            \
    }
#define JOB_TYPE_OPTIONS(words)                                                                    \
    { 't', "type", "TYPE", &(words).type, "i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64" },      \
    {                                                                                              \
        0, "format", "FORMAT", &(words).format, "npy, raw or text; default: see below"             \
    }
#define JOB_FIELD_OPTIONS(words)                                                                   \
    { 'k', "column", "COLUMN", &(words).column,                                                    \
      "of a text with several, this one: a number from 1, or its\nname in the first line" },       \
    {                                                                                              \
        0, "delimiter", "CHAR", &(words).delimiter,                                                \
            "between columns; default: tab, comma or semicolon, if the\nfirst line has one, else " \
            "blanks"                                                                               \
    }
#define JOB_DEVICE_OPTIONS(words)                                                                  \
    { 'd', "device", "DEVICE", &(words).device,                                                    \
      "cpu, cuda, cuda:1, simt; default: the first GPU, else cpu" },                               \
    {                                                                                              \
        0, "threads", "N", &(words).threads, "CPU threads, at most; 0: all"                        \
    }
#define JOB_STATS_OPTION(words)                                                                    \
    {                                                                                              \
        0, "stats", NULL, &(words).stats, "print times and memory on standard error"               \
    }
#define JOB_REPORT_OPTIONS(words)                                                                  \
    JOB_STATS_OPTION(words),                                                                       \
    {                                                                                              \
        0, "json", NULL, &(words).json,                                                            \
            "the same as JSON; on standard output when the data goes to\na file, else on "         \
            "standard error"                                                                       \
    }

/* For the help of all of them. */
#define JOB_INPUT_NOTES                                                                            \
    "INPUT \"-\", the default, is standard input.  Without --format, the format is that of the\n"  \
    "extension (.npy; .txt .text .csv .tsv; .raw .bin, or .u32 and so on, which says the type\n"   \
    "too), else .npy or text when the file begins like it, else raw when --type is given.\n"       \
    "Text is one number a line, or --column of each line.\n"

enum stage {
    STAGE_OPEN,
    STAGE_READ,
    STAGE_UPLOAD,
    STAGE_WORK,
    STAGE_DOWNLOAD,
    STAGE_WRITE,
    STAGES
};

struct stage_time {
    bool ran;
    double seconds;
    uint64_t bytes; /* that it moved or worked on; 0: it has no rate */
};

struct job {
    const char *command;        /* for the report: "argsort" */
    const char *work, *working; /* what STAGE_WORK is called: "sort", "sorting" */
    const char *note;           /* a line for the report, NULL: none */
    bool own_json;              /* --json is of the result, which body writes */
    ech_ctx *ctx;
    struct io_column column;
    int dimensions;             /* most that a .npy input may have; 0: one */
    const char *input, *output; /* names, for the report */
    io_format out_format;       /* job_plan_output() */
    uint64_t n_out;             /* elements that were written */
    struct stage_time stages[STAGES];
    double started;
    struct cli_progress progress;
    /* Writes what would run, in lines, for the report; NULL: nothing to say. */
    void (*plan)(const struct job *job, char *text, size_t bytes);
};

/* ---- Steps of a run: job.c.  Each: EXIT_DONE, or an exit code after its message ---- */

/* Fails when there is no INPUT and standard input is a terminal; else job->input is set. */
int job_input(struct job *job, int count, char **operands);
/* All between the options and the exit code; frees the column. */
int job_run(struct job *job, const struct job_words *words,
            int (*body)(struct job *job, struct io_output *output));
/* What the words say of the input. */
int job_hints(const struct job_words *words, struct io_hints *hints);
/* Reads job->input into the column. */
int job_load(struct job *job, const struct job_words *words);
/* Fails when output is a terminal, and binary data would be noise there. */
int job_refuse_terminal(const struct io_output *output);
/* Finds out from the output's name the format of it, where the name says one, else it is that of
 * the input; where it is not text, the column has lines no more.  Fails when the name says another
 * type than dtype of raw elements, and as job_refuse_terminal(). */
int job_plan_output(struct job *job, const struct job_words *words, const struct io_output *output,
                    ech_dtype dtype);
/* The same for what is text in any case. */
int job_plan_text(const struct job_words *words);
/* Ends the stage of writing: status is how it went so far. */
int job_commit(struct job *job, struct io_output *output, io_status status, struct io_error *error);
int job_no_memory(const struct job *job, uint64_t bytes, const char *what);
#ifdef __clang_analyzer__ /* as cli_fail() */
#define job_no_memory(job, bytes, what) ((void)job_no_memory(job, bytes, what), EXIT_MEMORY)
#endif

/* A stage runs from stage_begin() to stage_end(). */
void stage_begin(struct job *job, enum stage stage);
void stage_end(struct job *job, enum stage stage, uint64_t bytes);

/* ---- Writing: write.c ---- */

/* Lines of the column's text, to the byte: those that begin at lines[0 .. n-1], and before them the
 * one that names the columns. */
io_status write_lines(struct io_output *output, const struct io_column *column,
                      const uint64_t *lines, uint64_t n, struct io_error *error);
/* The first n keys of the column; as .npy with the header of the input while it is true. */
io_status write_keys(struct io_output *output, struct io_column *column, io_format format,
                     uint64_t n, struct io_error *error);
/* Values of any type. */
io_status write_values(struct io_output *output, io_format format, ech_dtype dtype,
                       const void *values, uint64_t n, struct io_error *error);
/* One value a line. */
io_status write_numbers(struct io_output *output, ech_dtype dtype, const void *values, uint64_t n,
                        struct io_error *error);
/* Positions, held in 4 or 8 bytes each, written as u64. */
io_status write_index(struct io_output *output, io_format format, const void *index,
                      size_t index_bytes, uint64_t n, struct io_error *error);

/* ---- Tests of elements: where.c ---- */

/* A test such as ">=3", for a column of dtype. */
struct where {
    ech_compare compare;
    uint64_t value; /* its first bytes are one element */
};

/* EXIT_DONE, or EXIT_BAD after a message that begins with what, "--where" or "WHERE". */
int where_parse(const char *what, const char *text, ech_dtype dtype, struct where *where);
/* Fails when it is no test of any type, before anything is read. */
int where_check(const char *what, const char *text);

#endif
