/*
 * histogram/bins.h - the map from an element to its counter in a histogram, as parameters.
 *
 * As in core/order.h, dtypes are reduced: integers of one width, signed and unsigned, share their
 * maps, and edges of all dtypes are compared in the order-preserving form. bins_slot.h is the map
 * itself, for the CPU and for kernels, to which the struct is passed by value. The slot of an
 * element is its bin, or one of below, above and nan if it is in no bin.
 *
 *     integers  d = e(x) - first            d > span: outside
 *               slot = (d + offset) * bins / range, exactly, in one of three forms
 *     floats    slot = (x - lower) * factor, rounded at each operation, if lower <= x <= last
 *     edges     slot = the number of edges not greater than x, minus one
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_HISTOGRAM_BINS_H
#define ECHI_HISTOGRAM_BINS_H

#include "core/order.h"

#define ECHI_NO_SLOT UINT64_MAX /* the slot of an element that is not counted */

enum echi_bins_kind {
    ECHI_BINS_SHIFT, /* (d + offset) >> shift */
    ECHI_BINS_SCALE, /* d' * each + d' * rest / range, d' = d + offset in 32 bits */
    ECHI_BINS_WIDE,  /* the same in 64 bits; range 0 means 2^64 */
    ECHI_BINS_F16,
    ECHI_BINS_BF16,
    ECHI_BINS_FLOAT, /* f32 or f64 */
    ECHI_BINS_EDGES,
    ECHI_BINS_NONE /* no value of the dtype is in a bin: all are below */
};

struct echi_bins {
    struct echi_order order;      /* ECHI_BINS_EDGES: all of it; integers: only the sign */
    uint64_t bins;                /* at least 1 */
    uint64_t below, above, nan;   /* slots of elements in no bin */
    uint64_t first, span, offset; /* integers */
    uint64_t each, rest, range;   /* bins = each * range + rest, rest < range */
    uint64_t scale;               /* rest * 2^32 / range, ECHI_BINS_WIDE: rest * 2^64 / range */
    double lower, last, factor;   /* floats; last: the maximum that is in a bin */
    uint32_t kind, shift;         /* enum echi_bins_kind */
    uint32_t closed;              /* ECHI_BINS_EDGES: the last edge is in the last bin */
    uint32_t top;                 /* ... log2 of the first step of the binary search */
};

#endif
