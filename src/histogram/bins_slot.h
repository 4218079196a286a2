/*
 * histogram/bins_slot.h - template: the map of bins.h on elements of one width, for the CPU and for
 * kernels.
 *
 *   KEY_BITS  8, 16, 32 or 64
 *   KEY       the unsigned type of this many bits
 *   SLOT      uint32_t if all slots are less than 2^30, otherwise uint64_t
 *   NAME(x)   x##_u8 ...
 *   INLINE    static inline, or the qualifiers of a kernel's functions
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef ECHI_HISTOGRAM_BINS_SLOT_H
#define ECHI_HISTOGRAM_BINS_SLOT_H
#include "histogram/bins.h"
#include "core/half.h"

#include <string.h>

INLINE uint32_t bins_high_32(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 32);
}

INLINE uint64_t bins_high_64(uint64_t a, uint64_t b)
{
#ifdef __CUDACC__
    return __umul64hi(a, b);
#else
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)a * b >> 64);
#endif
}

INLINE double bins_double(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
#endif

/* Sums of 8 and 16 bit keys are computed in 32 bits. */
#if KEY_BITS == 64
#define WIDE uint64_t
#else
#define WIDE uint32_t
#endif

INLINE KEY NAME(bins_merged)(const struct echi_order *o, KEY u)
{
    KEY negative = (KEY)(0 - (KEY)(u >> (KEY_BITS - 1))) & (KEY)o->float_mask;
    KEY e = (KEY)((KEY)(u ^ (negative | (KEY)o->sign)) - (KEY)o->shift);
    e = (KEY)(e + (e == (KEY)o->zero ? (KEY)o->merge : 0));
    return e > (KEY)o->last ? (KEY)o->last : e;
}

INLINE SLOT NAME(slot_side)(const struct echi_bins *b, bool below)
{
    return (SLOT)(below ? b->below : b->above);
}

INLINE SLOT NAME(slot_least)(const struct echi_bins *b, SLOT slot)
{
    return slot < (SLOT)b->bins ? slot : (SLOT)(b->bins - 1);
}

/* Whether u is in a bin, and that bin if so; together, the slot. */
INLINE bool NAME(holds_whole)(const struct echi_bins *b, KEY u)
{
    return (KEY)((KEY)(u ^ (KEY)b->order.sign) - (KEY)b->first) <= (KEY)b->span;
}

INLINE SLOT NAME(bin_shift)(const struct echi_bins *b, KEY u)
{
    KEY d = (KEY)((KEY)(u ^ (KEY)b->order.sign) - (KEY)b->first);
    return NAME(slot_least)(b, (SLOT)(((WIDE)d + (WIDE)b->offset) >> b->shift));
}

INLINE SLOT NAME(slot_shift)(const struct echi_bins *b, KEY u)
{
    KEY e = (KEY)(u ^ (KEY)b->order.sign);
    SLOT side = NAME(slot_side)(b, e < (KEY)b->first);
    return NAME(holds_whole)(b, u) ? NAME(bin_shift)(b, u) : side;
}

/* The product with the reciprocal is the quotient or one less; a comparison of two products
 * corrects it. */
INLINE SLOT NAME(bin_scale)(const struct echi_bins *b, KEY u)
{
    KEY d = (KEY)((KEY)(u ^ (KEY)b->order.sign) - (KEY)b->first);
    uint32_t at = (uint32_t)d + (uint32_t)b->offset, rest = (uint32_t)b->rest;
    uint32_t quotient = bins_high_32(at, (uint32_t)b->scale);
    quotient += ((uint64_t)quotient + 1) * (uint32_t)b->range <= (uint64_t)at * rest;
    return NAME(slot_least)(b, (SLOT)(at * (uint32_t)b->each + quotient));
}

INLINE SLOT NAME(slot_scale)(const struct echi_bins *b, KEY u)
{
    KEY e = (KEY)(u ^ (KEY)b->order.sign);
    SLOT side = NAME(slot_side)(b, e < (KEY)b->first);
    return NAME(holds_whole)(b, u) ? NAME(bin_scale)(b, u) : side;
}

INLINE SLOT NAME(slot_wide)(const struct echi_bins *b, KEY u)
{
    KEY e = (KEY)(u ^ (KEY)b->order.sign), d = (KEY)(e - (KEY)b->first);
    if (d > (KEY)b->span) return NAME(slot_side)(b, e < (KEY)b->first);
    uint64_t at = (uint64_t)d + b->offset, quotient = bins_high_64(at, b->scale);
    uint64_t next_high = bins_high_64(quotient + 1, b->range), next = (quotient + 1) * b->range;
    uint64_t whole_high = bins_high_64(at, b->rest), whole = at * b->rest;
    bool more = next_high < whole_high || (next_high == whole_high && next <= whole);
    if (b->range && more) quotient++;
    uint64_t slot = at * b->each + quotient;
    return (SLOT)(slot < b->bins ? slot : b->bins - 1);
}

INLINE bool NAME(holds_f32)(const struct echi_bins *b, float x)
{
    return x >= (float)b->lower && x <= (float)b->last;
}

INLINE SLOT NAME(bin_f32)(const struct echi_bins *b, float x)
{
    const SLOT end = (SLOT)b->bins - 1;
    float t = (x - (float)b->lower) * (float)b->factor;
    SLOT slot = sizeof(SLOT) == 4 ? (SLOT)(int32_t)t : (SLOT)(int64_t)t;
    return slot > end ? end : slot;
}

INLINE SLOT NAME(slot_f32)(const struct echi_bins *b, float x)
{
    const float lower = (float)b->lower, last = (float)b->last;
    const SLOT below = (SLOT)b->below, above = (SLOT)b->above;
    const bool is_below = x<lower, is_above = x> last, inside = NAME(holds_f32)(b, x);
    SLOT side = (SLOT)b->nan;
    side = is_below ? below : side;
    side = is_above ? above : side;
    SLOT slot = NAME(bin_f32)(b, inside ? x : lower);
    return inside ? slot : side;
}

#if KEY_BITS == 64
INLINE bool NAME(holds_f64)(const struct echi_bins *b, double x)
{
    return x >= b->lower && x <= b->last;
}

INLINE SLOT NAME(bin_f64)(const struct echi_bins *b, double x)
{
    const SLOT end = (SLOT)b->bins - 1;
    double t = (x - b->lower) * b->factor;
    SLOT slot = sizeof(SLOT) == 4 ? (SLOT)(int32_t)t : (SLOT)(int64_t)t;
    return slot > end ? end : slot;
}

INLINE SLOT NAME(slot_f64)(const struct echi_bins *b, double x)
{
    const double lower = b->lower, last = b->last;
    const SLOT below = (SLOT)b->below, above = (SLOT)b->above;
    const bool is_below = x<lower, is_above = x> last, inside = NAME(holds_f64)(b, x);
    SLOT side = (SLOT)b->nan;
    side = is_below ? below : side;
    side = is_above ? above : side;
    SLOT slot = NAME(bin_f64)(b, inside ? x : lower);
    return inside ? slot : side;
}
#endif

/* The slot of e, if `at` edges are not greater than e. */
INLINE SLOT NAME(slot_after)(const struct echi_bins *b, const KEY *edges, KEY e, SLOT at, bool raw)
{
    if (at < (SLOT)b->bins + 1) return at ? at - 1 : (SLOT)b->below;
    const KEY last = raw ? NAME(bins_merged)(&b->order, edges[b->bins]) : edges[b->bins];
    if (b->order.float_mask && e == (KEY)b->order.last) return (SLOT)b->nan;
    return b->closed && e == last ? (SLOT)(b->bins - 1) : (SLOT)b->above;
}

/* raw: the edges are in the caller's memory. Otherwise they are merged and padded to (2 << top) - 1
 * with all ones. The number of steps of the binary search does not depend on the element, so that
 * lanes do not diverge and there are no branch mispredictions. */
INLINE SLOT NAME(slot_edges)(const struct echi_bins *b, const KEY *edges, KEY u, bool raw)
{
    const KEY e = NAME(bins_merged)(&b->order, u);
    SLOT at = 0;
    for (SLOT step = (SLOT)1 << b->top; step; step >>= 1) {
        const SLOT next = at + step;
        if (raw && next > (SLOT)b->bins + 1) continue;
        const KEY edge = raw ? NAME(bins_merged)(&b->order, edges[next - 1]) : edges[next - 1];
        at += step & (0 - (SLOT)(edge <= e));
    }
    return NAME(slot_after)(b, edges, e, at, raw);
}

/* A map of any kind. */
INLINE SLOT NAME(slot_any)(const struct echi_bins *b, const KEY *edges, KEY u)
{
    switch (b->kind) {
    case ECHI_BINS_SHIFT:
        return NAME(slot_shift)(b, u);
    case ECHI_BINS_SCALE:
        return NAME(slot_scale)(b, u);
    case ECHI_BINS_WIDE:
        return NAME(slot_wide)(b, u);
#if KEY_BITS == 16
    case ECHI_BINS_F16:
        return NAME(slot_f32)(b, echi_f32_of_f16(u));
    case ECHI_BINS_BF16:
        return NAME(slot_f32)(b, echi_f32_of_bf16((uint32_t)u));
#elif KEY_BITS == 32
    case ECHI_BINS_FLOAT:
        return NAME(slot_f32)(b, echi_f32_of_bits(u));
#elif KEY_BITS == 64
    case ECHI_BINS_FLOAT:
        return NAME(slot_f64)(b, bins_double(u));
#endif
    case ECHI_BINS_EDGES:
        return NAME(slot_edges)(b, edges, u, true);
    default:
        return (SLOT)b->below;
    }
}

/* The slot of the pair u, v in two dimensions. */
INLINE SLOT NAME(slot_pair)(const struct echi_bins *x, const struct echi_bins *y, KEY u, KEY v)
{
    SLOT slot_x = NAME(slot_any)(x, 0, u), slot_y = NAME(slot_any)(y, 0, v);
    bool counted = slot_x != (SLOT)ECHI_NO_SLOT && slot_y != (SLOT)ECHI_NO_SLOT;
    return counted ? slot_x * (SLOT)y->bins + slot_y : (SLOT)ECHI_NO_SLOT;
}

#undef WIDE
