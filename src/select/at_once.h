/*
 * select/at_once.h - selections of few elements without options, run at once.
 *
 * The functions return false if a call is not one on few elements on the CPU with simple arrays.
 * The complete path then finds what is wrong, if anything is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SELECT_AT_ONCE_H
#define ECHI_SELECT_AT_ONCE_H

#include "core/call.h"
#include "cpu/cpu.h"
#include "select/select.h"

enum { AT_ONCE = 1024 };

/* Sets all fields except the tests to 0: for few elements, this takes less time than to clear the
 * whole struct. */
INLINED void begin_at_once(struct echi_select *s, enum echi_select_what what,
                           enum echi_select_by by, const void *in, void *out, uint64_t *count,
                           size_t n)
{
    s->what = what;
    s->by = by;
    s->in = in;
    s->flags = NULL;
    s->out = out;
    s->starts = NULL;
    s->narrow = s->close = s->invert = false;
    s->values = s->values_out = NULL;
    s->lengths = NULL;
    s->lengths_in = NULL;
    s->count = count;
    s->n = n;
    s->out_n = 0;
    s->element_bytes = s->value_bytes = 0;
}

INLINED bool run_at_once(const ech_ctx *ctx, const struct echi_select *s)
{
    (void)ctx; /* it is of the CPU */
    return echi_cpu_select.quick(s);
}

INLINED bool typed_is_simple(const ech_ctx *ctx, struct echi_select *s, ech_dtype dtype)
{
    if (s->n - 1 >= AT_ONCE || !echi_dtype_known(dtype)) return false;
    const size_t each = echi_dtype_bytes(dtype), bytes = s->n * each;
    const struct echi_span in = { s->in, bytes, each };
    const struct echi_span out[3] = { { s->count, sizeof *s->count, sizeof *s->count },
                                      { s->out, bytes, each },
                                      { s->lengths, s->n * sizeof *s->lengths, 8 } };
    s->element_bytes = each;
    return s->lengths ? echi_call_is_simple(ctx, &in, 1, out, 3)
                      : echi_call_is_simple(ctx, &in, 1, out, 2);
}

INLINED bool test_at_once(ech_ctx *ctx, enum echi_select_what what, const void *in, void *out,
                          uint64_t *count, size_t n, ech_dtype dtype, ech_compare compare,
                          const void *value)
{
    struct echi_select s;
    begin_at_once(&s, what, ECHI_BY_TEST, in, out, count, n);
    return typed_is_simple(ctx, &s, dtype) &&
           echi_predicate_make(ctx, dtype, compare, value, &s.test[0]) == ECH_OK &&
           run_at_once(ctx, &s);
}

INLINED bool runs_at_once(const ech_ctx *ctx, const void *in, void *out, uint64_t *lengths,
                          uint64_t *count, size_t n, ech_dtype dtype)
{
    struct echi_select s;
    begin_at_once(&s, ECHI_KEEP, ECHI_BY_STARTS, in, out, count, n);
    s.lengths = lengths;
    if (!typed_is_simple(ctx, &s, dtype)) return false;
    s.test[0].order = echi_order_ascending(dtype, true);
    return run_at_once(ctx, &s);
}

INLINED bool flags_at_once(const ech_ctx *ctx, enum echi_select_what what, const void *in,
                           const uint8_t *flags, void *out, uint64_t *count, size_t n,
                           size_t element_bytes)
{
    enum { MOST_BYTES = 16 };
    const size_t bytes = n * element_bytes;
    const struct echi_span ins[2] = { { in, bytes, 1 }, { flags, n, 1 } };
    const struct echi_span outs[2] = { { out, bytes, 1 }, { count, sizeof *count, 8 } };
    if (n - 1 >= AT_ONCE || element_bytes - 1 >= MOST_BYTES ||
        !echi_call_is_simple(ctx, ins, 2, outs, 2))
        return false;
    struct echi_select s;
    begin_at_once(&s, what, ECHI_BY_BYTES, in, out, count, n);
    s.flags = flags;
    s.element_bytes = element_bytes;
    return run_at_once(ctx, &s);
}

INLINED bool decode_at_once(const ech_ctx *ctx, const void *in, const uint64_t *lengths, void *out,
                            size_t runs, size_t n, size_t element_bytes)
{
    enum { MOST_N = 1 << 20, MOST_BYTES = 16 };
    const struct echi_span ins[2] = { { in, runs * element_bytes, 1 },
                                      { lengths, runs * sizeof *lengths, sizeof *lengths } };
    const struct echi_span outs[1] = { { out, n * element_bytes, 1 } };
    if (runs - 1 >= AT_ONCE || n - 1 >= MOST_N || element_bytes - 1 >= MOST_BYTES ||
        !echi_call_is_simple(ctx, ins, 2, outs, 1))
        return false;
    struct echi_select s;
    begin_at_once(&s, ECHI_DECODE, ECHI_BY_BYTES, in, out, NULL, runs);
    s.lengths_in = lengths;
    s.out_n = n;
    s.element_bytes = element_bytes;
    return run_at_once(ctx, &s);
}

#endif
