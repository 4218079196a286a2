/*
 * job.h - shared by the subcommands that read a column of numbers, process it with the library and
 * write the result: their options, the stages of a run, the time of each stage.
 *
 *     job_run()  open the device -> open the output -> body -> report -> close
 *     body       job_load() -> work -> write_...() -> job_commit()
 *
 * The output is opened before the input is read, so that an unwritable directory is reported
 * before the computation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_JOB_H
#define ECHELON_CLI_JOB_H

#include "cli.h"

/* The values of the options, as typed. */
struct job_words {
    const char *type, *format, *column, *delimiter;
    const char *output, *device, *threads, *memory;
    bool header, no_header, timing, json;
};

/* Rows of an option table, for a struct job_words. */
#define JOB_OUTPUT_OPTION(words)                                                                   \
    {                                                                                              \
        'o', "output", "FILE", &(words).output,                                                    \
            "write the output to FILE, which may be INPUT;\ndefault: standard output"              \
    }
#define JOB_TYPE_OPTIONS(words)                                                                    \
    { 'y', "type", "TYPE", &(words).type,                                                          \
      "element type: i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64" },                            \
    {                                                                                              \
        0, "format", "FORMAT", &(words).format,                                                    \
            "format of INPUT: npy, raw or text; default: see "                                     \
            "below"                                                                                \
    }
#define JOB_FIELD_OPTIONS(words)                                                                   \
    { 'k', "column", "COLUMN", &(words).column,                                                    \
      "column of a delimited text: its number, counted from 1, or\nits name in the first line" },  \
        { 't', "delimiter", "CHAR", &(words).delimiter,                                            \
          "column separator; default: tab, comma or semicolon, if the\nfirst line contains "       \
          "one, "                                                                                  \
          "otherwise blanks" },                                                                    \
        { 0, "header", NULL, &(words).header, "the first line of the text is a header" },          \
    {                                                                                              \
        0, "no-header", NULL, &(words).no_header,                                                  \
            "it is not; default: it is if COLUMN is a name, or if its\n"                           \
            "column is text and that of the second line is a number"                               \
    }
#define JOB_DEVICE_OPTIONS(words)                                                                  \
    { 'D', "device", "DEVICE", &(words).device, CLI_DEVICE_HELP },                                 \
    {                                                                                              \
        0, "threads", "N", &(words).threads, CLI_THREADS_HELP                                      \
    }
#define JOB_TIMING_OPTION(words)                                                                   \
    {                                                                                              \
        0, "timing", NULL, &(words).timing, "print times and memory usage on standard error"       \
    }
#define JOB_REPORT_OPTIONS(words)                                                                  \
    JOB_TIMING_OPTION(words),                                                                      \
    {                                                                                              \
        0, "json", NULL, &(words).json,                                                            \
            "print times and memory usage as JSON, on standard output if\nthe data is written to " \
            "a file, otherwise on standard error"                                                  \
    }

/* Part of the help of these subcommands. */
#define JOB_INPUT_NOTES                                                                            \
    "INPUT \"-\" is standard input, the default.  --format selects the format of INPUT.  "         \
    "Without\n"                                                                                    \
    "it, the extension does: .npy; .txt .text .csv .tsv (text); .raw .bin, or a type such as\n"    \
    ".u32 (raw).  Without a known extension, the first bytes do: .npy or text; otherwise INPUT\n"  \
    "is raw and needs --type.  Text has one number per line, or --column selects a column.\n"

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
    uint64_t bytes; /* moved or processed; 0: the stage has no rate */
};

struct job {
    const char *command;        /* for the report: "argsort" */
    const char *work, *working; /* names of STAGE_WORK: "sort", "sorting" */
    const char *note;           /* a line for the report; NULL: none */
    const char *device_note;    /* another one, about the device */
    bool own_json;              /* --json is the format of the result; body writes it */
    ech_ctx *ctx;
    struct io_column column;
    int dimensions;             /* maximum for a .npy input; 0: one */
    struct io_records *records; /* receives the fields of a structured .npy input; NULL: an error */
    uint64_t record_bytes;      /* the elements are records of this size; 0: numbers */
    bool positions;             /* the output is positions, which are numbers also for lines */
    bool strings;               /* the keys of the column are ranks of strings; table.h */
    const char *input, *output; /* names, for the report */
    io_format out_format;       /* set by job_plan_output() */
    uint64_t n_out;             /* number of elements written */
    int threads;                /* maximum that a call on the CPU uses */
    struct stage_time stages[STAGES];
    double started;
    struct cli_progress progress;
    /* Writes the plan of the call as lines of text, for the report; may be NULL. */
    void (*plan)(const struct job *job, char *text, size_t bytes);
};

/* ---- Stages of a run: job.c.  Each returns EXIT_DONE, or an exit code after a message ---- */

/* Sets job->input.  Fails if there is no INPUT and standard input is a terminal. */
int job_input(struct job *job, int count, char **operands);
/* Runs a subcommand after its options are parsed; frees the column. */
int job_run(struct job *job, const struct job_words *words,
            int (*body)(struct job *job, struct io_output *output));
/* Parses the options of the input. */
int job_hints(const struct job_words *words, struct io_hints *hints);
/* Reads job->input into the column. */
int job_load(struct job *job, const struct job_words *words);
/* Transposes a .npy array of two dimensions in Fortran order, so that its rows are contiguous. */
int job_make_rows(struct job *job);
/* Fails if the output is a terminal; for binary data. */
int job_refuse_terminal(const struct io_output *output);
/* Sets the format of the output from its extension, or to that of the input if the extension is
 * unknown.  If the format is not text, frees the column's lines.  Fails if the extension means
 * another type than dtype, or if binary output would go to a terminal. */
int job_plan_output(struct job *job, const struct job_words *words, const struct io_output *output,
                    ech_dtype dtype);
/* Fails if the extension of the output means another format than text. */
int job_plan_text(const struct job_words *words);
/* Commits the output if status is IO_OK, and ends the write stage. */
int job_commit(struct job *job, struct io_output *output, io_status status, struct io_error *error);
int job_no_memory(const struct job *job, uint64_t bytes, const char *what);
#ifdef __clang_analyzer__ /* as cli_fail() */
#define job_no_memory(job, bytes, what) ((void)job_no_memory(job, bytes, what), EXIT_MEMORY)
#endif

/* A stage runs from stage_begin() to stage_end(). */
void stage_begin(struct job *job, enum stage stage);
void stage_end(struct job *job, enum stage stage, uint64_t bytes);

/* ---- Writing: write.c ---- */

/* Writes lines of the column's text unchanged: first the header line, if any, then the lines that
 * begin at lines[0 .. n-1]. */
io_status write_lines(struct io_output *output, const struct io_column *column,
                      const uint64_t *lines, uint64_t n, struct io_error *error);
/* Writes the first n keys of the column.  A .npy header is copied if n is unchanged. */
io_status write_keys(struct io_output *output, struct io_column *column, io_format format,
                     uint64_t n, struct io_error *error);
/* Writes values of any type. */
io_status write_values(struct io_output *output, io_format format, ech_dtype dtype,
                       const void *values, uint64_t n, struct io_error *error);
/* Writes one value per line. */
io_status write_numbers(struct io_output *output, ech_dtype dtype, const void *values, uint64_t n,
                        struct io_error *error);
/* Writes positions, stored in 4 or 8 bytes each, as u64.  matrix: a column whose shape, with two
 * dimensions, a .npy output has; NULL: one dimension. */
io_status write_index(struct io_output *output, io_format format, const void *index,
                      size_t index_bytes, uint64_t n, const struct io_column *matrix,
                      struct io_error *error);

/* ---- Conditions on elements: where.c ---- */

/* A condition such as ">=3", for a column of a dtype. */
struct where {
    ech_compare compare;
    uint64_t value; /* its first bytes are an element of the dtype */
};

/* Returns EXIT_DONE, or EXIT_BAD after a message that begins with what: "--where" or "WHERE". */
int where_parse(const char *what, const char *text, ech_dtype dtype, struct where *where);
/* Fails if text is not a condition for any type; for a check before the input is read. */
int where_check(const char *what, const char *text);
/* Whether text is a number of a condition: decimal or hexadecimal. */
bool where_is_number(const char *text);
/* The length of the comparison sign at the beginning of text; 0 if there is none. */
size_t where_sign(const char *text, ech_compare *compare);

#endif
