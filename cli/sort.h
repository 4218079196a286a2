/*
 * sort.h - shared by the files of "echelon sort".
 *
 *     sort.c          the options; decides between numbers and lines
 *     sort_input.c    opens the inputs, reads text, finds out whether it is numbers
 *     sort_numbers.c  numbers: rows, check, output; sort_stages.c calls the library
 *     sort_lines.c    lines in memory; sort_check.c checks their order, sort_merge.c merges sorted
 *                     inputs, sort_debug.c underlines keys
 *     sort_files.c    files of any size (sort_files.h); sort_rows.c rows and columns of a matrix;
 *                     sort_check_numbers.c the check of such files
 *     sort_distributed.c  several processes or GPUs; sort_processes.c, sort_ranks.c, sort_part*.c
 *
 * "echelon profile" uses sort_numbers.c and sort_stages.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_SORT_H
#define ECHELON_CLI_SORT_H

#include "job.h"
#include "lines/lines.h"

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

/* The options of lines, as typed. */
struct sort_lines_words {
    struct cli_list keys;
    struct cli_optional check;
    const char *sort, *files0, *parallel, *separator, *random_source, *batch_size;
    bool blanks, dictionary, fold, general, human, nonprinting, month, numeric, random, version;
    bool stable, zero, merge, string, csv, debug, check_quiet;
};

/* The options of the external sort. */
struct sort_files_words {
    const char *record;
    struct cli_list directories;
    bool dry_run, verify, consume;
    bool records; /* --record is given, or the keys are those of a .npy array */
    struct cli_optional resume;
    uint64_t budget; /* of --memory; set by sort_files_budget() */
};

struct sort_set {
    struct sort_words words;
    struct sort_lines_words text;
    struct sort_files_words files;
    const char *rows, *axis;
    uint64_t columns; /* value of --rows; 0: not given */
    bool unique, check, distributed;
    const char *time_limit;
    bool line_option; /* an option is only for lines */
};

/* The inputs, and the text of all of them. */
struct sort_text {
    const char *const *names;
    int n_names;
    char *list; /* memory of names from --files0-from */
    const char **listed;
    struct lines_order *order; /* of lines */
    char *text;                /* every record has its terminator */
    size_t bytes, room;
    size_t head;             /* bytes that stay first: a byte order mark, a header */
    struct io_source *first; /* the first input, if it is open already; from malloc() */
    char *ahead;             /* what was read of it; NULL: its own look-ahead */
};

/* These functions return EXIT_DONE, or an exit code after a message. */

/* Fills job and its options, except --bits, whose range depends on the type of the column. */
int sort_parse(struct sort_job *job, const struct sort_words *words);
/* Reads the input into the column, and parses --bits. */
int sort_load(struct sort_job *job, const struct sort_words *words);

/* The end of sort_load(), after the column has been read. */
int sort_loaded(struct sort_job *job, const struct sort_words *words);

/* ---- Numbers: sort_numbers.c ---- */

int sort_parse_rows(struct sort_set *set);
/* Sorts the column that was loaded, and writes it. */
int sort_numbers(const struct sort_set *set, struct sort_job *job, struct io_output *output);
/* preceding: elements before the column. */
int sort_check_numbers(const struct sort_set *set, const struct sort_job *job, uint64_t preceding);
/* Checks an input that does not fit in memory, block by block; then *done is set.  Otherwise
 * text->first is the input, if it is open: sort_check_numbers.c. */
int sort_check_files(const struct sort_set *set, struct sort_job *job, struct sort_text *text,
                     bool *done);

/* ---- Input: sort_input.c ---- */

/* Sets names to the operands, or to the list of --files0-from, or to standard input. */
int sort_find_inputs(const struct sort_set *set, struct sort_text *text, int count,
                     char **operands);
/* Makes the order of lines from the options. */
int sort_make_order(const struct sort_set *set, struct sort_text *text);
/* Reads all inputs as text, and finds columns by name. */
int sort_read_text(struct sort_job *job, struct sort_text *text);
/* Opens an input, which must be text. */
int sort_open_text(struct io_source *source, const char *name);
/* The name of an input for messages. */
const char *sort_name(const struct sort_text *text, int i);
/* Fails if the head of a further input is not that of the first one, which is in text. */
int sort_same_head(const struct sort_text *text, const char *name, const char *head, size_t bytes);
/* Finds columns by name in the head of the first input. */
int sort_bind(struct sort_text *text, const char *head, size_t bytes);
/* Reads the only input as numbers or, if it is not numbers, as text.  Sets *numbers. */
int sort_read_any(const struct sort_set *set, struct sort_job *job, struct sort_text *text,
                  bool *numbers);
void sort_free_text(struct sort_text *text);

/* ---- Lines ---- */

/* Sorts the lines that were read, and writes them. */
int sort_lines(const struct sort_set *set, struct sort_job *job, struct sort_text *text,
               struct io_output *output);
/* Fails if the text is not sorted. */
int sort_check_lines(const struct sort_set *set, const struct sort_text *text, const char *name);
/* Fails because of a quote of CSV in a wrong place. */
int sort_bad_quote(const char *name, const char *text, size_t bytes, size_t quote);
/* Reads an input block by block and fails if it is not sorted. */
int sort_check_stream(const struct sort_set *set, struct sort_text *text);
/* The same for an open input, which the caller closes. */
int sort_check_source(const struct sort_set *set, struct sort_text *text, struct io_source *source);
/* Merges inputs that are sorted already. */
int sort_merge(const struct sort_set *set, struct sort_job *job, struct sort_text *text,
               struct io_output *output);
/* Writes a record, and underlines its keys. */
io_status sort_write_debug(struct io_output *output, const struct lines_order *order,
                           const char *record, size_t bytes, struct io_error *error);
/* Prints what may surprise about the keys, on standard error. */
void sort_warn_keys(const struct lines_order *order);

/* ---- Files of any size: sort_files.c ---- */

/* Parses --memory, and replaces it by a number of bytes. */
int sort_files_budget(struct sort_set *set);
/* The first option that needs this sort; NULL: none. */
const char *sort_files_option(const struct sort_set *set);
/* Sorts the inputs if they are too large for the memory, or if an option needs it; then *done is
 * set.  lines: an option requires lines. */
int sort_files(const struct sort_set *set, struct sort_job *job, struct sort_text *text, bool lines,
               struct io_output *output, bool *done);

/* Sorts the rows or columns of a matrix that is too large for the memory: sort_rows.c.  Otherwise
 * *done is not set, and text->first is the input. */
int sort_rows(const struct sort_set *set, struct sort_job *job, struct sort_text *text,
              struct io_output *output, bool *done);

/* ---- Several ranks: sort_distributed.c ---- */

bool sort_is_distributed(const struct sort_set *set);
/* Whether this process is not rank 0, which prints the messages before the ranks are connected:
 * sort_processes.c. */
bool sort_is_silent(void);
/* Sorts the input on several processes or devices.  line: an option that is only for lines.  *done
 * is false if one device of "cuda:all" is to sort it, which set then names. */
int sort_distributed(struct sort_set *set, struct sort_job *job, struct sort_text *text,
                     const char *line, bool *done);

/* ---- Calls of the library: sort_stages.c ---- */

/* Sorts the column, or computes the index. */
int sort_column(struct sort_job *job);

/* Writes the plan of the sort as lines of text. */
void sort_plan(const struct sort_job *job, char *text, size_t bytes);

#endif
