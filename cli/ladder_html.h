/*
 * ladder_html.h - shared by the files of "echelon ladder --html": ladder_html.c writes the page,
 * ladder_chart.c its charts, ladder_quantity.c has the quantities that both show.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_LADDER_HTML_H
#define ECHELON_CLI_LADDER_HTML_H

#include "ladder.h"
#include "svg.h"

enum quantity {
    QUANTITY_END,
    QUANTITY_TIME,
    QUANTITY_ELEMENTS, /* per second, as the two below */
    QUANTITY_BYTES,
    QUANTITY_OPERATIONS,
    QUANTITY_CEILING,
    QUANTITY_SPEED_UP,
    QUANTITY_LAUNCHES,
    QUANTITY_SECTORS,
    QUANTITY_CONFLICTS,
    QUANTITY_CONFLICTS16,
    QUANTITY_DIVERGENT,
    QUANTITY_BARRIERS,
    QUANTITY_WARP_OPERATIONS
};

enum { QUANTITY_TEXT = 32 };

/* The quantities that the device measures for the ladder; QUANTITY_END ends the list. */
const enum quantity *ladder_quantities(const struct results *results);
const char *quantity_name(enum quantity quantity);
double quantity_value(enum quantity quantity, const struct results *results,
                      const struct result *row);
/* Writes a value with its unit to text[QUANTITY_TEXT]. */
void quantity_text(enum quantity quantity, double value, char *text);

/* Horizontal bars of all quantities for the right rows with n elements. */
void ladder_chart_bars(struct svg *to, const struct results *results, uint64_t n);
/* Times by n, one line per rung; nothing unless at least two sizes have times. */
void ladder_chart_times(struct svg *to, const struct results *results);

#endif
