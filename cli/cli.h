/*
 * cli.h - shared by all subcommands: the table of subcommands, options, messages, exit codes,
 * progress, JSON.
 *
 * A subcommand is one file with one struct command, listed in main.c.  Its options are a table; the
 * parser, the help and the suggestions use the same table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_H
#define ECHELON_CLI_H

#include "echelon.h"
#include "io/io.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* ---- Exit codes and messages: message.c ---- */

enum {
    EXIT_DONE = 0,
    EXIT_NO = 1,     /* a negative result: not sorted, not converged, a kernel has faults */
    EXIT_BAD = 2,    /* usage, bad input, or a file that cannot be read or written */
    EXIT_DEVICE = 3, /* the device is not available or failed */
    EXIT_MEMORY = 4
};

/* Prints "echelon sort: <message>" on standard error and returns code. */
int cli_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
#ifdef __clang_analyzer__ /* clang-tidy reads one file at a time; here it sees what is returned */
#define cli_fail(code, ...) ((void)cli_fail(code, __VA_ARGS__), (code))
#endif
/* Colours: color.c.  Returns an escape sequence, or "" if the output is not coloured: without
 * --color always, to a file, a pipe or a terminal that does not support it. */
enum cli_style { CLI_PLAIN, CLI_ERROR, CLI_HEADING, CLI_OPTION };
const char *cli_style(FILE *to, enum cli_style style);
void cli_print_heading(FILE *to, const char *text);
int cli_set_color(const char *when); /* auto, always or never; EXIT_BAD after a message */

/* Prints text with bytes that are not printable UTF-8 as \x1b; messages are printed so, too. */
void cli_print_name(FILE *to, const char *text);
/* Print the message of the error and return the exit code of the status. */
int cli_fail_io(io_status status, const struct io_error *error);
int cli_fail_ech(ech_status status, const ech_ctx *ctx);
#ifdef __clang_analyzer__
#define cli_fail_ech(status, ctx) ((void)cli_fail_ech(status, ctx), EXIT_DEVICE)
#endif

/* ---- Options: options.c ---- */

struct option {
    char letter;       /* 0: none; docs/cli.md lists all letters */
    const char *name;  /* without the dashes; NULL ends a table */
    const char *value; /* placeholder of the value in the help; NULL: a flag; "[=WORD]": the value
                          is optional, and only follows an equals sign */
    void *target;      /* a bool for a flag, a struct cli_list if the option may be repeated, a
                          struct cli_optional if the value is optional, otherwise a const char * */
    const char *help;
};

/* The values of an option that may be repeated. */
struct cli_list {
    const char *words[64];
    int count;
};

/* An option whose value is optional. */
struct cli_optional {
    bool given;
    const char *value; /* NULL: none */
};
bool cli_is_optional(const struct option *option);

/* What the value of an option or an operand can be, for completion. */
enum cli_kind { CLI_WORDS, CLI_FILE, CLI_DIRECTORY, CLI_ALGORITHM };
struct cli_value {
    const char
        *key; /* an option, such as "--method", or a placeholder, such as "TYPE"; NULL ends */
    enum cli_kind kind;
    const char *words;          /* of CLI_WORDS: words separated by blanks, or NULL */
    const char *(*word)(int i); /* of CLI_WORDS: word i, NULL after the last one */
};
extern const struct cli_value cli_values[]; /* of all subcommands; completion.c */

enum { CLI_ANY = INT_MAX }; /* any number of operands */

struct command {
    const char *name;
    const char *summary;
    const char *usage;    /* lines of "echelon sort [OPTION]... INPUT" */
    const char *examples; /* lines of help */
    const char *notes;    /* printed after the options; may be "" */
    const struct option *options;
    const char *const *repeated; /* names of options that may be repeated; NULL ends it, or NULL */
    const struct cli_value *values; /* that cli_values lacks, or has otherwise; or NULL */
    int most_operands;
    int (*run)(int count, char **operands);
};

extern const struct command *const cli_commands[]; /* main.c; NULL ends it */
extern const char *cli_command; /* name of the running subcommand, for messages */
extern bool cli_silent;         /* another process prints the same messages */

extern const struct option cli_common_options[]; /* of all subcommands: --help and so on */
struct cli_common {
    bool help, version;
};

/* Sets the targets of the options and *common, and copies the operands in order.  A long option may
 * be abbreviated.  Returns EXIT_DONE, or EXIT_BAD after a message. */
int cli_parse(const struct command *command, int argc, char **argv, char **operands, int *count,
              struct cli_common *common);
void cli_print_help(const struct command *command);

/* Help texts of options that many subcommands have. */
#define CLI_DEVICE_HELP    "cpu, cuda, cuda:1 or simt; default: the first GPU, otherwise\nthe CPU"
#define CLI_THREADS_HELP   "maximum number of CPU threads; 0: all (default)"
#define CLI_ALGORITHM_HELP "use this algorithm instead of the automatic choice"
#define CLI_TYPES          "i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64"
#define CLI_TERMINAL                                                                               \
    "the output is binary and standard output is a terminal: give -o FILE, or redirect the output"

/* Returns the candidate with the smallest edit distance to word, or NULL if none is close. */
const char *cli_nearest(const char *word, const char *const *candidates, int n);
/* Reports an unknown word and the closest candidate, or all of them.  Returns EXIT_BAD. */
int cli_unknown(const char *what, const char *word, const char *const *candidates, int n);

/* ---- Values of options: values.c.  Each returns EXIT_DONE, or EXIT_BAD after a message ---- */

/* 100M, 1e6, 2^20, 4Ki */
int cli_parse_count(const char *option, const char *text, uint64_t *value);
int cli_parse_dtype(const char *text, int *dtype);   /* NULL text: -1 */
int cli_parse_format(const char *text, int *format); /* NULL text: -1 */
int cli_parse_bits(const char *text, ech_dtype dtype, ech_sort_options *options);
int cli_parse_order(const char *text, ech_order *order);
int cli_parse_nan(const char *text, ech_nan *nan);
int cli_parse_op(const char *text, ech_op *op); /* an operation of "echelon reduce"; reduce.c */
int cli_parse_scan_op(const char *text, ech_op *op); /* an operation of "echelon scan"; scan.c */
int cli_parse_threads(const char *text, int *threads);
int cli_parse_threads_of(const char *option, const char *text, int *threads);
struct distribution; /* distributions.h */
int cli_parse_distribution(const char *name, const struct distribution **found);
int cli_check_distribution(const struct distribution *distribution, ech_dtype dtype);
/* "u32"; "bytes10", or "10"; "unsigned16", "signed16": a little-endian integer of that many bytes.
 * Sets the type of the key; returns false without a message if the word is none of these. */
bool cli_parse_key_type(const char *word, ech_record_key *key);
/* Removes ":desc" or ":asc" at the end of a key, and sets the direction. */
void cli_take_direction(char *word, ech_record_key *key);

/* Opens a device with a number of threads (0: all), and the log that ECHELON_LOG selects. */
int cli_open(ech_ctx **ctx, const char *device, int threads);

/* ---- File names: paths.c.  Each returns EXIT_DONE, or EXIT_BAD after a message ---- */

/* Fails if the file of the option is also one of n inputs.  A name may be NULL: not given. */
int cli_check_output(const char *option, const char *output, const char *const *inputs, int n);
/* Fails if two of n outputs are the same file. */
int cli_check_outputs(const char *const *outputs, int n);
/* Fails if a file cannot be created there; for a check before the computation.  NULL: not given. */
int cli_check_writable(const char *path);
/* Raises the limit of open files if n inputs at the same time need it; fails if that is not
 * permitted. */
int cli_permit_files(int n);
/* How many files can be opened in addition to those that are open: at most n, for which it raises
 * the limit if that is permitted. */
int cli_open_files(int n);

/* ---- Progress and JSON: report.c ---- */

double cli_seconds(void); /* of a monotonic clock */

/* Shows a line such as "reading 45%, 3 s left".  The line appears after one second, and only if
 * standard error is a terminal. */
struct cli_progress {
    struct io_progress io;
    const char *what;
    double started, began, shown; /* times: of the run, of the stage, of the last update */
    bool visible, enabled;
};
void cli_progress_start(struct cli_progress *progress);
void cli_progress_stage(struct cli_progress *progress, const char *what);
int cli_report_progress(void *progress, double done); /* an ech_progress_function */
void cli_progress_say(struct cli_progress *progress, const char *text); /* shows text, no percent */
void cli_progress_end(struct cli_progress *progress);

/* JSON output.  These functions write commas and quotes; the caller is responsible for nesting. */
struct json {
    FILE *to;
    bool comma;
};
void json_open(struct json *json, const char *key, char bracket); /* key NULL in an array */
void json_close(struct json *json, char bracket);
void json_text(struct json *json, const char *key, const char *value);
void json_count(struct json *json, const char *key, uint64_t value);
void json_number(struct json *json, const char *key, double value); /* 6 digits */
void json_exact(struct json *json, const char *key, double value);  /* all digits */
/* A number given as text, or an exact number of a dtype.  NaN and infinity become null. */
void json_literal(struct json *json, const char *key, const char *number);
void json_value(struct json *json, const char *key, ech_dtype dtype, const void *value);
/* Whether the first line of a text is a header; nothing for other formats. */
void json_header(struct json *json, const struct io_column *column);

/* The length of the UTF-8 character at text; 0 if it is invalid, or at the end. */
size_t cli_utf8(const char *text);
uint64_t cli_peak_host_bytes(void);

extern const struct command command_sort, command_records, command_topk, command_merge, command_set,
    command_search, command_reduce, command_scan, command_hist, command_stats, command_quantile,
    command_unique, command_select, command_shuf, command_gen, command_gf2, command_info,
    command_explain, command_profile, command_matrix, command_matmul, command_solve, command_ladder,
    command_emulate, command_check, command_bench, command_completion;

#endif
