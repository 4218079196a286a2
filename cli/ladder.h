/*
 * ladder.h - what the parts of "echelon ladder" agree on: ladder.c runs the rungs, ladder_table.c
 * prints what came of it, ladder_svg.c draws it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_LADDER_H
#define ECHELON_CLI_LADDER_H

#include "ladder/ladder.h"
#include "cli.h"

enum { LADDER_CLAIMS = 32 /* of a ladder, at most */ };

/* What came of one ladder. */
struct ladder_report {
    struct results results;
    uint64_t checks, wrong;    /* runs at awkward sizes */
    bool whole;                /* all rungs ran at the ladder's own n: its claims can be judged */
    bool holds[LADDER_CLAIMS]; /* of each claim that is of this kind of device */
    char because[LADDER_CLAIMS][256];
};

/* Whether a claim is one of the device that the results are of. */
bool ladder_judges(const struct ladder_report *report, const struct claim *claim);
/* Of a row: how many times faster than the first row of the same n; 0: not known. */
double ladder_speed_up(const struct results *results, const struct result *row);
double ladder_roof_percent(const struct results *results, const struct result *row);

void ladder_text(const struct ladder_report *reports, int count, FILE *to);
void ladder_json(const struct ladder_report *reports, int count, FILE *to);
void ladder_csv(const struct ladder_report *reports, int count, FILE *to);
/* Bars of time on a GPU, else of the executor's counts. */
int ladder_plot(const struct ladder_report *report, const char *path);

#endif
