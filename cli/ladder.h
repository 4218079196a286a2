/*
 * ladder.h - shared by the files of "echelon ladder": ladder.c runs the rungs, ladder_table.c
 * prints the results, ladder_svg.c draws them, ladder_settings.c
 * changes rungs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_LADDER_H
#define ECHELON_CLI_LADDER_H

#include "ladder/ladder.h"
#include "cli.h"
#include "io/io.h"

enum { LADDER_CLAIMS = 32 /* maximum per ladder */ };

/* The results of one ladder. */
struct ladder_report {
    struct results results;
    uint64_t checks, wrong;    /* runs at irregular sizes */
    bool whole;                /* all rungs ran at the ladder's own n, so claims can be verified */
    bool holds[LADDER_CLAIMS]; /* for each claim about this kind of device */
    char because[LADDER_CLAIMS][256];
};

/* The words of the options that change rungs; NULL: not given. */
struct ladder_setting_words {
    const char *bits, *digit_bits, *columns;
};

/* ladder_settings.c.  They return an exit code, after a message. */
int ladder_parse_settings(const struct ladder_setting_words *words,
                          struct ladder_settings *settings);
/* one: whether the command runs one ladder. */
int ladder_check_settings(const struct ladder *ladder, bool one,
                          const struct ladder_setting_words *words);
bool ladder_has_settings(const struct ladder_settings *settings);
/* The ladder with the rungs that the settings define; valid until the next call. */
const struct ladder *ladder_adapt(const struct ladder *ladder,
                                  const struct ladder_settings *settings);

/* Whether a claim is about the kind of device that was measured, and can be verified. */
bool ladder_judges(const struct ladder_report *report, const struct claim *claim);
/* The speedup of a row over the first row with the same n; 0: unknown. */
double ladder_speed_up(const struct results *results, const struct result *row);
double ladder_ceiling_percent(const struct results *results, const struct result *row);
/* Sectors of global memory per load or store of a warp; the share of branches that diverge. */
double ladder_sectors_per_request(const struct simt_counts *counts);
double ladder_divergent_percent(const struct simt_counts *counts);

void ladder_text(const struct ladder_report *reports, int count, FILE *to);
void ladder_json(const struct ladder_report *reports, int count, FILE *to);
void ladder_csv(const struct ladder_report *reports, int count, FILE *to);
/* ---- The user's kernels instead of those of a rung: ladder_try.c ---- */

/* Compiles the file for the SIMT emulator, and finds the rung whose kernels it defines; rung 0: by
 * their names.  Each function returns EXIT_DONE, or another exit code after a message. */
int ladder_try_open(struct ladder_device *device, const struct ladder *ladder, ech_dtype type,
                    const char *file, int rung);
/* The number of the rung. */
int ladder_try_number(void);
/* Checks the user's kernels at the sizes of the ladder. */
int ladder_try_check(struct ladder_report *report, ech_dtype type);
/* Adds a row with the counts of the user's kernels, in place of those of the rung. */
int ladder_try_measure(struct ladder_report *report, const struct rung *rung, ech_dtype type,
                       uint64_t n, const struct ladder_data *data);
void ladder_try_close(void);

/* Draws bars: throughput on a GPU, otherwise counts of the SIMT emulator. */
int ladder_plot(const struct ladder_report *report, const char *path);
/* Writes one self-contained page with the charts, tables and claims of all reports, and commits the
 * output. */
int ladder_html(const struct ladder_report *reports, int count, struct io_output *output);

#endif
