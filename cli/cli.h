/*
 * cli.h - what the subcommands share: the table of them, options, messages, exit codes, progress,
 * JSON.
 *
 * A subcommand is one file with one struct command, listed in main.c.  Its options are a table of
 * where each value goes, from which the parser, the help and the suggestions all work.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_H
#define ECHELON_CLI_H

#include "echelon.h"
#include "io/io.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* ---- Exit codes and messages: message.c ---- */

enum {
    EXIT_DONE = 0,
    EXIT_NO = 1,     /* the answer is no: not sorted, or a kernel has faults */
    EXIT_BAD = 2,    /* usage, bad input, or a file that cannot be read or written */
    EXIT_DEVICE = 3, /* the device is not there or failed */
    EXIT_MEMORY = 4
};

/* Prints "echelon sort: <message>" on standard error and returns code. */
int cli_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
#ifdef __clang_analyzer__ /* clang-tidy reads one file at a time; here it sees what is returned */
#define cli_fail(code, ...) ((void)cli_fail(code, __VA_ARGS__), (code))
#endif
/* The exit code of a status; cli_fail_*() print the message that belongs to it too. */
int cli_fail_io(io_status status, const struct io_error *error);
int cli_fail_ech(ech_status status, const ech_ctx *ctx);
#ifdef __clang_analyzer__
#define cli_fail_ech(status, ctx) ((void)cli_fail_ech(status, ctx), EXIT_DEVICE)
#endif

/* ---- Options: options.c ---- */

struct option {
    char letter;       /* 0: none */
    const char *name;  /* without its dashes; NULL ends a table */
    const char *value; /* name of its value, in help; NULL: a flag */
    void *target;      /* bool of a flag, const char * of a value */
    const char *help;
};

struct command {
    const char *name;
    const char *summary;
    const char *usage;    /* lines of "echelon sort [OPTION]... INPUT" */
    const char *examples; /* lines of help */
    const char *notes;    /* after the options; may be "" */
    const struct option *options;
    int most_operands;
    int (*run)(int count, char **operands);
};

extern const struct command *const cli_commands[]; /* main.c; NULL ends it */
extern const char *cli_command;                    /* name of the one that runs, for messages */

/* Fills the targets of options; operands get the rest of argv, in order.  EXIT_DONE, or EXIT_BAD
 * after a message.  *help is set where --help is among them. */
int cli_parse(const struct command *command, int argc, char **argv, char **operands, int *count,
              bool *help);
void cli_print_help(const struct command *command);
/* The candidate nearest to word by edits, NULL when none is near. */
const char *cli_nearest(const char *word, const char *const *candidates, int n);
/* Says that word is no what, and which of the candidates may have been meant.  EXIT_BAD. */
int cli_unknown(const char *what, const char *word, const char *const *candidates, int n);

/* ---- Values of options: values.c.  Each prints what is wrong and returns EXIT_BAD ---- */

/* 100M, 1e6, 2^20, 4Ki */
int cli_parse_count(const char *option, const char *text, uint64_t *value);
int cli_parse_dtype(const char *text, int *dtype);   /* NULL text: -1 */
int cli_parse_format(const char *text, int *format); /* likewise */
int cli_parse_bits(const char *text, ech_dtype dtype, ech_sort_options *options);
int cli_parse_order(const char *text, ech_order *order);
int cli_parse_nan(const char *text, ech_nan *nan);
int cli_parse_op(const char *text, ech_op *op); /* as "echelon reduce" names them; reduce.c */
int cli_parse_threads(const char *text, int *threads);
struct distribution; /* distributions.h */
int cli_parse_distribution(const char *name, const struct distribution **found);
int cli_check_distribution(const struct distribution *distribution, ech_dtype dtype);

/* Opens a device, with threads (0: all) and what ECHELON_LOG asks for on standard error. */
int cli_open(ech_ctx **ctx, const char *device, int threads);

/* ---- Progress and JSON: report.c ---- */

double cli_seconds(void); /* of a clock that only goes forward */

/* Shows "reading 45%, 3 s left" while bytes move, from the second second on and on a terminal
 * alone. */
struct cli_progress {
    struct io_progress io;
    const char *what;
    double started, began, shown; /* the whole, the stage, the line last */
    bool visible, enabled;
};
void cli_progress_start(struct cli_progress *progress);
void cli_progress_stage(struct cli_progress *progress, const char *what);
int cli_progress_told(void *progress, double done); /* an ech_progress_function */
void cli_progress_say(struct cli_progress *progress, const char *text); /* instead of a share */
void cli_progress_end(struct cli_progress *progress);

/* JSON, written as it comes: commas and quotes are seen to, nesting is the caller's. */
struct json {
    FILE *to;
    bool comma;
};
void json_open(struct json *json, const char *key, char bracket); /* key NULL in an array */
void json_close(struct json *json, char bracket);
void json_text(struct json *json, const char *key, const char *value);
void json_count(struct json *json, const char *key, uint64_t value);
void json_number(struct json *json, const char *key, double value); /* of 6 digits */
/* One in words, or one of dtype exactly; null for what JSON has no number for. */
void json_literal(struct json *json, const char *key, const char *number);
void json_value(struct json *json, const char *key, ech_dtype dtype, const void *value);

uint64_t cli_peak_host_bytes(void);

extern const struct command command_sort, command_reduce, command_scan, command_hist, command_stats,
    command_unique, command_select, command_shuf, command_gen, command_gf2, command_info,
    command_explain, command_profile, command_matrix, command_matmul, command_solve, command_ladder;

#endif
