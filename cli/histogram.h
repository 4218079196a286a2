/*
 * histogram.h - shared by the files of "echelon hist": histogram.c chooses the bins and counts,
 * histogram_text.c prints bars, CSV and JSON, histogram_svg.c writes a chart.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_HISTOGRAM_H
#define ECHELON_CLI_HISTOGRAM_H

#include "job.h"

/* Edges of integer bins: wide enough for one past the maximum of every type. */
__extension__ typedef __int128 whole;

struct histogram {
    const char *name; /* of the input */
    const char *what; /* "f32", or "bytes" */
    const struct io_column *column;
    uint64_t n; /* number of elements */
    size_t bins;
    /* Bin b counts x with edge[b] <= x < edge[b + 1]; closed: the last bin includes its right
     * edge. */
    bool integers, closed, hex;
    whole *wholes;    /* [bins + 1], only for integers */
    double *edges;    /* [bins + 1] */
    uint64_t *counts; /* [bins + 3]: of the bins, below, above, NaN */
};

enum { HISTOGRAM_BELOW, HISTOGRAM_ABOVE, HISTOGRAM_NAN, HISTOGRAM_OUTSIDE };

/* Formats an edge in the shortest form that reads back as the same number, into text of
 * IO_NUMBER_TEXT bytes. */
void histogram_edge(const struct histogram *h, size_t i, char *text);
/* Formats an integer with all digits; returns the length. */
int histogram_whole(whole x, bool hex, char *text);
uint64_t histogram_most(const struct histogram *h); /* the maximum count of a bin */
/* The length of the bar of count, relative to the bar of the maximum count: 0 ... 1. */
double histogram_length(uint64_t count, uint64_t most, bool logarithmic);

/* Prints bars of block characters or ASCII. */
void histogram_draw(const struct histogram *h, bool logarithmic, bool ascii, FILE *to);
void histogram_csv(const struct histogram *h, FILE *to);
void histogram_json(const struct histogram *h, FILE *to);
io_status histogram_svg(const struct histogram *h, bool logarithmic, struct io_output *output,
                        struct io_error *error);

#endif
