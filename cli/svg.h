/*
 * svg.h - what the charts share: SVG as it is written, text in it, steps of an axis.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_SVG_H
#define ECHELON_CLI_SVG_H

#include "io/io.h"

struct svg {
    struct io_output *output;
    struct io_error *error;
    io_status status; /* after a failure nothing more is written */
};

void svg_put(struct svg *svg, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Any bytes, as text that XML allows. */
void svg_put_text(struct svg *svg, const char *text);

/* The head of a chart: the style of its parts, background, and a title. */
void svg_begin(struct svg *svg, int width, int height, const char *title);

/* 1, 2 or 5 times a power of ten, of which there are at most so many in a range. */
double svg_nice_step(double range, int most);

#endif
