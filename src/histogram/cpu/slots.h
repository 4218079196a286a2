/*
 * histogram/cpu/slots.h - template: the counters of a block of elements, one loop per kind of map,
 * which the compiler vectorises if possible.
 *
 *   KEY_BITS, KEY, SLOT, NAME, INLINE  of ../bins_slot.h
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "histogram/bins_slot.h"

#define FOR(expression)                                                                            \
    for (size_t i = 0; i < n; i++) {                                                               \
        const KEY u = in[i];                                                                       \
        slots[i] = (expression);                                                                   \
    }

/* The binary searches of a block are interleaved: their loads of edges do not wait for each other,
 * and become gathers if the instruction set has them. */
static void NAME(slots_edges)(const struct echi_histogram_job *job, const KEY *in, size_t n,
                              SLOT *restrict slots)
{
    const struct echi_bins b = job->h->x;
    const KEY *restrict edges = job->edges;
    KEY e[ECHI_SLOTS];
    for (size_t i = 0; i < n; i++) e[i] = NAME(bins_merged)(&b.order, in[i]);
    for (size_t i = 0; i < n; i++) slots[i] = 0;
    for (SLOT step = (SLOT)1 << b.top; step; step >>= 1)
        for (size_t i = 0; i < n; i++)
            slots[i] += step & (0 - (SLOT)(edges[slots[i] + step - 1] <= e[i]));
    for (size_t i = 0; i < n; i++) slots[i] = NAME(slot_after)(&b, edges, e[i], slots[i], false);
}

#if KEY_BITS == 64
/* slot_f64() of bins_slot.h, computed in f64 as far as possible: vectors then have lanes of one
 * width. Slots are exact as f64. */
struct NAME(in_f64) {
    double lower, last, factor, end, below, above, nan;
};

static inline double NAME(as_f64)(uint64_t slot)
{
    return slot == ECHI_NO_SLOT ? -1 : (double)slot;
}

static inline SLOT NAME(slot_in_f64)(const struct NAME(in_f64) * b, double x)
{
    double t = (x - b->lower) * b->factor, side = b->nan;
    t = t > b->end ? b->end : t;
    side = x < b->lower ? b->below : side;
    side = x > b->last ? b->above : side;
    t = x >= b->lower ? t : side;
    t = x <= b->last ? t : side;
    return sizeof(SLOT) == 4 ? (SLOT)(int32_t)t : (SLOT)(int64_t)t;
}
#endif

static void NAME(slots_one)(const struct echi_histogram_job *job, const KEY *in, size_t n,
                            SLOT *restrict slots)
{
    const struct echi_bins b = job->h->x; /* a copy: stores to slots cannot alias it */
    const KEY *edges = job->edges;
    switch (b.kind) {
    case ECHI_BINS_SHIFT:
        FOR(NAME(slot_shift)(&b, u))
        break;
    case ECHI_BINS_SCALE:
        FOR(NAME(slot_scale)(&b, u))
        break;
#if KEY_BITS == 16
    case ECHI_BINS_F16:
        FOR(NAME(slot_f32)(&b, echi_f32_of_f16(u)))
        break;
    case ECHI_BINS_BF16:
        FOR(NAME(slot_f32)(&b, echi_f32_of_bf16(u)))
        break;
#elif KEY_BITS == 32
    case ECHI_BINS_FLOAT:
        FOR(NAME(slot_f32)(&b, echi_f32_of_bits(u)))
        break;
#elif KEY_BITS == 64
    case ECHI_BINS_FLOAT: {
        const struct NAME(in_f64) f = { b.lower,
                                        b.last,
                                        b.factor,
                                        (double)(b.bins - 1),
                                        NAME(as_f64)(b.below),
                                        NAME(as_f64)(b.above),
                                        NAME(as_f64)(b.nan) };
        FOR(NAME(slot_in_f64)(&f, bins_double(u)))
        break;
    }
#endif
    case ECHI_BINS_EDGES:
        if (job->raw)
            FOR(NAME(slot_edges)(&b, edges, u, true))
        else
            NAME(slots_edges)(job, in, n, slots);
        break;
    default:
        FOR(NAME(slot_any)(&b, edges, u))
    }
}

/* Not inlined, so that a call on few elements does not save registers for it. */
static __attribute__((noinline)) bool NAME(slots_any)(const struct echi_histogram_job *job,
                                                      size_t from, size_t n, SLOT *slots)
{
    const struct echi_histogram *h = job->h;
    const KEY *in = (const KEY *)h->in + from;
    const SLOT none = (SLOT)h->counters;
    if (h->pairs) {
        const struct echi_bins x = h->x, y = h->y;
        const KEY *in_y = (const KEY *)h->in_y + from;
        for (size_t i = 0; i < n; i++) slots[i] = NAME(slot_pair)(&x, &y, in[i], in_y[i]);
    } else {
        NAME(slots_one)(job, in, n, slots);
    }
    SLOT others = 0;
    for (size_t i = 0; i < n; i++) {
        others |= slots[i] == (SLOT)ECHI_NO_SLOT;
        slots[i] = slots[i] == (SLOT)ECHI_NO_SLOT ? none : slots[i];
    }
    if (h->channels == 1) return others != 0;
    for (size_t i = 0, channel = from % h->channels; i < n; i++) {
        if (slots[i] != none) slots[i] += (SLOT)(channel * h->stride);
        channel = channel + 1 == h->channels ? 0 : channel + 1;
    }
    return others != 0;
}

static bool NAME(slots)(const struct echi_histogram_job *job, size_t from, size_t n, SLOT *slots)
{
#ifdef __AVX512F__
    bool outside;
    if (quick_slots(job->h, (const KEY *)job->h->in + from, n, sizeof(KEY), slots, &outside))
        return outside;
#endif
    return NAME(slots_any)(job, from, n, slots);
}

#undef FOR
