/*
 * core/predicate.c - converts an ech_compare and its value to the parameters of predicate.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/internal.h"

uint64_t echi_order_encode(const struct echi_order *o, int bytes, uint64_t u)
{
    int width = 8 * bytes;
    uint64_t ones = ~(uint64_t)0 >> (64 - width), top = (uint64_t)1 << (width - 1);
    uint64_t e = u ^ (o->sign | (u & top ? o->float_mask : 0));
    e = (e - o->shift) & ones;
    if (e == o->zero) e += o->merge;
    if (e > o->last) e = o->last;
    return e ^ o->flip;
}

uint64_t echi_order_decode(const struct echi_order *o, int bytes, uint64_t e)
{
    int width = 8 * bytes;
    uint64_t ones = ~(uint64_t)0 >> (64 - width), top = (uint64_t)1 << (width - 1);
    uint64_t u = ((e ^ o->flip) + o->shift) & ones;
    return (u ^ (o->sign | (u & top ? 0 : o->float_mask))) & ones;
}

/* Values from first to last pass; with invert, all others. */
static void take_range(struct echi_predicate *p, uint64_t first, uint64_t last, bool invert)
{
    p->low = first;
    p->span = last - first;
    p->invert = invert;
}

static void take_all(struct echi_predicate *p, uint64_t ones, bool invert)
{
    take_range(p, 0, ones, invert);
}

static void take_less(struct echi_predicate *p, uint64_t e, uint64_t ones)
{
    if (e)
        take_range(p, 0, e - 1, false);
    else
        take_all(p, ones, true);
}

static void take_greater(struct echi_predicate *p, uint64_t e, uint64_t most)
{
    if (e < most)
        take_range(p, e + 1, most, false);
    else
        take_all(p, p->mask, true);
}

/* A test that a fast path does not have: of bits, without a value, or invalid. */
static ech_status make_other(ech_ctx *ctx, ech_dtype dtype, ech_compare compare, const void *value,
                             struct echi_predicate *p)
{
    const bool of_bits = compare >= ECH_COMPARE_HAS_ANY && compare <= ECH_COMPARE_HAS_NONE;
    const bool unary = compare == ECH_COMPARE_NONZERO || compare == ECH_COMPARE_IS_NAN;
    const bool is_float = echi_dtype_is_float(dtype);
    if ((unsigned)compare > ECH_COMPARE_HAS_NONE)
        return echi_fail(ctx, ECH_ERR_ARG, "compare is %d, not an ech_compare", (int)compare);
    if (!unary && !value)
        return echi_fail(ctx, ECH_ERR_ARG, "value is NULL, but compare needs a value");
    if (of_bits && is_float)
        return echi_fail(ctx, ECH_ERR_ARG, "compare tests bits, which is not supported for %s",
                         ech_dtype_name(dtype));
    const int bytes = echi_dtypes[dtype].bytes;
    const uint64_t ones = ~(uint64_t)0 >> (64 - 8 * bytes);
    if (of_bits) {
        const uint64_t u = echi_load_number(value, (size_t)bytes);
        p->order = (struct echi_order){ .last = ones };
        p->mask = u;
        take_range(p, compare == ECH_COMPARE_HAS_ALL ? u : 0,
                   compare == ECH_COMPARE_HAS_ALL ? u : 0, compare == ECH_COMPARE_HAS_ANY);
        return ECH_OK;
    }
    p->order = echi_order_ascending(dtype, true);
    p->mask = ones;
    const uint64_t nan = p->order.last, zero = echi_order_encode(&p->order, bytes, 0);
    if (compare == ECH_COMPARE_NONZERO)
        take_range(p, zero, zero, true);
    else if (is_float)
        take_range(p, nan, nan, false);
    else
        take_all(p, ones, true);
    return ECH_OK;
}

ech_status echi_predicate_make(ech_ctx *ctx, ech_dtype dtype, ech_compare compare,
                               const void *value, struct echi_predicate *p)
{
    const bool compares = compare >= ECH_COMPARE_LESS && compare <= ECH_COMPARE_GREATER;
    if (!compares || !value) return make_other(ctx, dtype, compare, value, p);
    const struct echi_order *order = &echi_orders[1][dtype];
    const int bytes = echi_dtypes[dtype].bytes;
    const bool is_float = order->float_mask != 0;
    const uint64_t ones = is_float ? order->float_mask : order->last,
                   u = echi_load_number(value, (size_t)bytes);
    const uint64_t e = is_float ? echi_order_encode(order, bytes, u) : u ^ order->sign;
    const uint64_t most = is_float ? order->last - 1 : ones; /* the maximum that is not NaN */
    p->order = *order;
    p->mask = ones;
    if (is_float && e == order->last) { /* the value is NaN */
        take_all(p, ones, compare != ECH_COMPARE_NOT_EQUAL);
        return ECH_OK;
    }
    switch (compare) {
    case ECH_COMPARE_LESS:
        take_less(p, e, ones);
        break;
    case ECH_COMPARE_LESS_EQUAL:
        take_range(p, 0, e, false);
        break;
    case ECH_COMPARE_GREATER_EQUAL:
        take_range(p, e, most, false);
        break;
    case ECH_COMPARE_GREATER:
        take_greater(p, e, most);
        break;
    default:
        take_range(p, e, e, compare == ECH_COMPARE_NOT_EQUAL);
    }
    return ECH_OK;
}
