/*
 * histogram/histogram.h - the checked request of a histogram, which histogram.c passes to a
 * backend.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_HISTOGRAM_HISTOGRAM_H
#define ECHI_HISTOGRAM_HISTOGRAM_H

#include "histogram/bins.h"
#include "core/internal.h"

struct echi_histogram {
    const void *in, *in_y; /* in_y NULL: one dimension */
    const void *edges;     /* [x.bins + 1] with ECHI_BINS_EDGES */
    const void *weights;   /* NULL: each element counts for one */
    void *counts;          /* [channels][stride] of 8 bytes */
    size_t n;
    ech_dtype dtype, weights_dtype;
    int key_bytes;
    bool pairs;    /* two dimensions */
    bool weighted; /* also set in a query, in which the pointer is not known */
    bool add;
    struct echi_bins x, y;
    size_t channels, stride, counters; /* counters = channels * stride */
    const char *algorithm;             /* NULL: the backend chooses */
};

/*
 * bins.c: fill the map; the number of bins and the slots of values outside must be set.
 * lower_name and upper_name are the names of the arguments, for messages.
 */
ech_status echi_bins_even(ech_ctx *ctx, struct echi_bins *b, ech_dtype dtype, double lower,
                          double upper, const char *lower_name, const char *upper_name,
                          bool closed);
ech_status echi_bins_count(ech_ctx *ctx, struct echi_bins *b, ech_dtype dtype);
void echi_bins_edges(struct echi_bins *b, ech_dtype dtype, bool closed);

#endif
