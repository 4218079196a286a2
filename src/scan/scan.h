/*
 * scan/scan.h - a scan whose arguments are checked, as the backends receive it.
 *
 * Types are reduced first.  Minima, maxima and the operators on bits use e = encode(u) of
 * core/order.h, so that they become a minimum of unsigned integers, OR, or XOR:
 *
 *     min   e in the order with NaN first      max   the same with flipped bits
 *     and   or with flipped bits               or, xor, and sums and products of integers: e = u
 *
 * Only sums and products of floats use numeric values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SCAN_SCAN_H
#define ECHI_SCAN_SCAN_H

#include "core/internal.h"

enum echi_scan_shape { ECHI_SCAN_WHOLE, ECHI_SCAN_ROWS, ECHI_SCAN_SEGMENTS, ECHI_SCAN_KEYS };

enum echi_scan_op { ECHI_SCAN_SUM, ECHI_SCAN_MIN, ECHI_SCAN_PRODUCT, ECHI_SCAN_OR, ECHI_SCAN_XOR };

struct echi_scan {
    enum echi_scan_shape shape;
    const void *in;
    void *out;            /* in if in place */
    size_t n;             /* of all rows */
    size_t rows, columns; /* 1 and n without rows */
    const void *offsets;  /* [segments + 1], read by offsets_index */
    struct echi_index offsets_index;
    size_t segments;
    const void *keys;
    struct echi_order key_order; /* merged: equal keys have one form */
    ech_dtype dtype, key_dtype;
    enum echi_scan_op op;
    bool is_float;  /* values are added or multiplied as floats */
    bool is_signed; /* wide: integers are extended with their sign */
    bool wide;      /* out, and the computation, have 64 bits, and in has fewer */
    bool exclusive, backward;
    bool ignore_nan;         /* is_float: a NaN counts as the identity element */
    struct echi_order order; /* of e, for types that are not floats */
    uint64_t clamp;          /* the maximum e: a NaN that is ignored is greater */
    uint64_t first;          /* the initial value, as bits of the type of the computation: e, f32 or
                                f64 */
};

/* The bytes of an element of out. */
static inline size_t echi_scan_out_bytes(const struct echi_scan *s)
{
    return s->wide ? 8 : echi_dtype_bytes(s->dtype);
}

/* cpu/operation.c: a scan of a whole array of n elements, at least 1 and at most 1024.  The arrays
 * and sizes of the request are not used. */
void echi_cpu_scan_few(const struct echi_scan *s, const void *in, void *out, size_t n);

/* ---- Short calls ----
 *
 * ech_scan() of sums without options jumps to one of these functions, which checks the arrays and,
 * unless the call is one on few elements on the CPU without an error, jumps to echi_scan_any(). */

typedef ech_status echi_scan_function(ech_ctx *ctx, ech_op op, const void *in, void *out, size_t n,
                                      ech_dtype dtype, const ech_scan_options *options);
enum {
    ECHI_SCAN_FEW_INTEGERS = 24, /* elements at most; the complete function has vectors */
    ECHI_SCAN_FEW_BYTES = 512    /* of floats: a line of scan/cpu/float.h */
};
/* cpu/operation.c: by echi_cpu_level() and the dtype; NULL: there is none. */
extern echi_scan_function *const *const echi_scan_calls[];
echi_scan_function echi_scan_any;

/* ech_scan() with these bits in `first`, instead of options->init; for src/dist. */
ech_status echi_scan_from(ech_ctx *ctx, ech_op op, const void *in, void *out, size_t n,
                          ech_dtype dtype, const ech_scan_options *options, uint64_t first);

/* Checks the arguments of ech_scan() without arrays, and fills in the request. */
ech_status echi_scan_request(ech_ctx *ctx, struct echi_scan *s, ech_op op, ech_dtype dtype,
                             const ech_scan_options *options);

/* What the GPU offers for scans of floats on several ranks. */
struct echi_scan_ops {
    size_t tile_bytes; /* of in */
    /* Runs a scan of several tiles, rows is 1, and sets the totals of its tiles in the order of the
     * scan, as bits like s->first; in host memory. */
    ech_status (*tile_totals)(ech_ctx *ctx, const struct echi_scan *s, uint64_t *totals);
};

#endif
