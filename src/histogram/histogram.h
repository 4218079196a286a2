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

/* ---- Short calls ----
 *
 * ech_histogram() and ech_bincount() without options jump to one of these functions, which checks
 * the arrays and, unless the call is one on few elements on the CPU without an error, jumps to
 * echi_..._any(). */

typedef ech_status echi_even_function(ech_ctx *ctx, const void *in, void *counts, size_t n,
                                      ech_dtype dtype, size_t bins, double lower, double upper,
                                      const ech_histogram_options *options);
typedef ech_status echi_bincount_function(ech_ctx *ctx, const void *in, void *counts, size_t n,
                                          ech_dtype dtype, size_t bins,
                                          const ech_histogram_options *options);
enum { ECHI_HISTOGRAM_FEW = 64 }; /* elements at most */
struct echi_histogram_calls {
    echi_even_function *histogram[ECHI_DTYPE_COUNT]; /* NULL: there is none */
    echi_bincount_function *bincount[ECHI_DTYPE_COUNT];
};
/* cpu/operation.c: by echi_cpu_level(). */
extern const struct echi_histogram_calls *const echi_histogram_calls[];
echi_even_function echi_histogram_any;
echi_bincount_function echi_bincount_any;

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
