/*
 * ladder_quantity.c - the quantities that "echelon ladder --html" shows of a rung: times and rates
 * on a GPU, counts on the SIMT emulator.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder_html.h"

#include <stdio.h>

const enum quantity *ladder_quantities(const struct results *results)
{
    static const enum quantity counts[] = {
        QUANTITY_LAUNCHES,  QUANTITY_SECTORS,  QUANTITY_CONFLICTS,       QUANTITY_CONFLICTS16,
        QUANTITY_DIVERGENT, QUANTITY_BARRIERS, QUANTITY_WARP_OPERATIONS, QUANTITY_END,
    };
    static const enum quantity memory[] = { QUANTITY_TIME,    QUANTITY_ELEMENTS, QUANTITY_BYTES,
                                            QUANTITY_CEILING, QUANTITY_SPEED_UP, QUANTITY_END };
    static const enum quantity arithmetic[] = { QUANTITY_TIME, QUANTITY_OPERATIONS,
                                                QUANTITY_CEILING, QUANTITY_SPEED_UP, QUANTITY_END };
    static const enum quantity times[] = { QUANTITY_TIME, QUANTITY_ELEMENTS, QUANTITY_SPEED_UP,
                                           QUANTITY_END };
    if (results->device->simt) return counts;
    return results->ladder->ceiling == CEILING_MEMORY       ? memory
           : results->ladder->ceiling == CEILING_ARITHMETIC ? arithmetic
                                                            : times;
}

const char *quantity_name(enum quantity quantity)
{
    switch (quantity) {
    case QUANTITY_TIME:
        return "time";
    case QUANTITY_ELEMENTS:
        return "10^9 per second";
    case QUANTITY_BYTES:
        return "GB/s";
    case QUANTITY_OPERATIONS:
        return "GFLOP/s";
    case QUANTITY_CEILING:
        return "of the ceiling";
    case QUANTITY_SPEED_UP:
        return "speedup";
    case QUANTITY_LAUNCHES:
        return "launches";
    case QUANTITY_SECTORS:
        return "sectors/request";
    case QUANTITY_CONFLICTS:
        return "bank conflicts";
    case QUANTITY_CONFLICTS16:
        return "with 16 banks";
    case QUANTITY_DIVERGENT:
        return "divergent";
    case QUANTITY_BARRIERS:
        return "barriers";
    case QUANTITY_WARP_OPERATIONS:
        return "warp operations";
    case QUANTITY_END:
        break;
    }
    return "";
}

/* In units of 10^9 per second. */
static double rate(double amount, const struct result *row)
{
    return row->ms > 0 ? amount / row->ms * 1e-6 : 0;
}

double quantity_value(enum quantity quantity, const struct results *results,
                      const struct result *row)
{
    const struct simt_counts *c = &row->counts;
    switch (quantity) {
    case QUANTITY_TIME:
        return row->ms;
    case QUANTITY_ELEMENTS:
        return rate((double)row->n, row);
    case QUANTITY_BYTES:
        return rate(row->bytes, row);
    case QUANTITY_OPERATIONS:
        return rate(row->operations, row);
    case QUANTITY_CEILING:
        return ladder_ceiling_percent(results, row);
    case QUANTITY_SPEED_UP:
        return ladder_speed_up(results, row);
    case QUANTITY_LAUNCHES:
        return (double)row->launches;
    case QUANTITY_SECTORS:
        return ladder_sectors_per_request(c);
    case QUANTITY_CONFLICTS:
        return (double)c->bank_conflicts;
    case QUANTITY_CONFLICTS16:
        return (double)c->bank16_conflicts;
    case QUANTITY_DIVERGENT:
        return ladder_divergent_percent(c);
    case QUANTITY_BARRIERS:
        return (double)c->barriers;
    case QUANTITY_WARP_OPERATIONS:
        return (double)c->warp_operations;
    case QUANTITY_END:
        break;
    }
    return 0;
}

void quantity_text(enum quantity quantity, double value, char *text)
{
    const char *format = "%.0f"; /* exact counts */
    switch (quantity) {
    case QUANTITY_TIME:
        if (value < 1)
            snprintf(text, QUANTITY_TEXT, "%.3g us", 1000 * value);
        else
            snprintf(text, QUANTITY_TEXT, "%.4g ms", value);
        return;
    case QUANTITY_CEILING:
    case QUANTITY_DIVERGENT:
        format = "%.1f %%";
        break;
    case QUANTITY_SPEED_UP:
    case QUANTITY_SECTORS:
        format = "%.2f";
        break;
    case QUANTITY_ELEMENTS:
    case QUANTITY_BYTES:
    case QUANTITY_OPERATIONS:
        format = value < 100 ? "%.3g" : "%.0f";
        break;
    default:
        break;
    }
    snprintf(text, QUANTITY_TEXT, format, value);
}
