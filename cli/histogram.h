/*
 * histogram.h - what the parts of "echelon hist" agree on: histogram.c chooses the bins and counts,
 * histogram_text.c draws and lists them, histogram_svg.c makes a chart.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_HISTOGRAM_H
#define ECHELON_CLI_HISTOGRAM_H

#include "job.h"

/* Ends of bins of integers: those of every type, and one past them. */
__extension__ typedef __int128 whole;

struct histogram {
    const char *name; /* of the input */
    const char *what; /* "f32", or "bytes" */
    uint64_t n;       /* numbers in all */
    size_t bins;
    /* Bin b has the x with edge[b] <= x < edge[b + 1], the last one its end too when closed. */
    bool integers, closed, hex;
    whole *wholes;    /* [bins + 1] of integers */
    double *edges;    /* [bins + 1] */
    uint64_t *counts; /* [bins + 3]: those of the bins, below, above, NaN */
};

enum { HISTOGRAM_BELOW, HISTOGRAM_ABOVE, HISTOGRAM_NAN, HISTOGRAM_OUTSIDE };

/* An edge in the shortest form that reads back, into text of IO_NUMBER_TEXT bytes. */
void histogram_edge(const struct histogram *h, size_t i, char *text);
/* An integer in full; returns the length. */
int histogram_whole(whole x, bool hex, char *text);
uint64_t histogram_most(const struct histogram *h); /* the greatest count of a bin */
/* How long the bar of count is beside the longest, of most: 0 ... 1. */
double histogram_length(uint64_t count, uint64_t most, bool logarithmic);

/* Bars in the terminal, of block characters or in ASCII. */
void histogram_draw(const struct histogram *h, bool logarithmic, bool ascii, FILE *to);
void histogram_csv(const struct histogram *h, FILE *to);
void histogram_json(const struct histogram *h, FILE *to);
io_status histogram_svg(const struct histogram *h, bool logarithmic, struct io_output *output,
                        struct io_error *error);

#endif
