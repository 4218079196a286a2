/*
 * svg.h - shared by the charts: SVG output, escaped text, steps of an axis.
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

/* Writes any bytes as valid XML text. */
void svg_put_text(struct svg *svg, const char *text);

/* Begins a chart: styles, background and title. */
void svg_begin(struct svg *svg, int width, int height, const char *title);

/* A step of 1, 2 or 5 times a power of ten, so that at most `most` steps fit in the range. */
double svg_nice_step(double range, int most);

#endif
