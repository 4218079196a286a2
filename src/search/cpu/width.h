/*
 * search/cpu/width.h - template: binary searches of several needles at a time, for one key width.
 *
 *   FROM      u8 ... u64 (undefined at the end)
 *
 * The searches of LANES needles advance together, a step of each in turn, without a branch that
 * depends on keys. The loads of a step are independent, so that their cache misses overlap.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#define NAME(x) JOINED(x##_, FROM)
#define KEY     JOINED(FROM, _element)

/* The order-preserving form (core/order.h) of an element. -0 and +0, and all NaN, remain different,
 * which takes fewer steps. */
INLINE KEY NAME(form)(const struct echi_order *o, KEY u, bool is_float)
{
    if (!is_float) return (KEY)(u ^ (KEY)(o->sign ^ o->flip));
    const KEY negative = (KEY)(0 - (u >> (8 * sizeof(KEY) - 1)));
    return (KEY)((KEY)((KEY)(u ^ (negative | (KEY)o->sign)) - (KEY)o->shift) ^ (KEY)o->flip);
}

/* The form with which elements are compared to find the position of a needle: the last one of the
 * elements that equal it, if upper, otherwise the first one. */
INLINE KEY NAME(limit)(const struct echi_order *o, KEY needle, bool is_float, bool upper)
{
    const KEY flip = (KEY)o->flip, e = NAME(form)(o, needle, is_float);
    if (!is_float) return e;
    const KEY ascending = (KEY)(e ^ flip), zero = (KEY)o->zero, last = (KEY)o->last;
    KEY low = ascending, high = ascending;
    if (o->merge && (ascending == zero || ascending == (KEY)(zero + 1))) {
        low = zero;
        high = (KEY)(zero + 1);
    } else if (ascending >= last) {
        low = last;
        high = (KEY)-1;
    }
    return (KEY)((upper != (flip != 0) ? high : low) ^ flip);
}

/* at[j] becomes how many of n elements of sorted precede the needle j, or do not follow it, if
 * upper; count is at most `lanes`, a constant that is at most LANES. encoded: the elements are
 * forms. */
INLINE void NAME(some)(const struct echi_search *s, const KEY *needles, size_t count,
                       const KEY *sorted, size_t n, size_t *at, bool is_float, bool upper,
                       bool encoded, size_t lanes)
{
    const struct echi_order o = s->order;
    KEY x[LANES];
    size_t low[LANES];
    for (size_t j = 0; j < lanes; j++) {
        x[j] = NAME(limit)(&o, needles[j < count ? j : 0], is_float, upper);
        low[j] = 0;
    }
    for (size_t left = n, half; left; left -= half) { /* the position is in low ... low + left */
        half = left - left / 2;
        for (size_t j = 0; j < lanes; j++) {
            const KEY key = sorted[low[j] + half - 1];
            const KEY e = encoded ? key : NAME(form)(&o, key, is_float);
            const bool right = upper ? e <= x[j] : e < x[j];
            /* Compilers make a branch of ?: for floats. */
            low[j] += is_float && !encoded ? half & (0 - (size_t)right) : right ? half : 0;
        }
    }
    for (size_t j = 0; j < count; j++) at[j] = low[j];
}

INLINE void NAME(lanes)(const struct echi_search *s, const KEY *needles, size_t count,
                        const KEY *sorted, size_t n, size_t *at, bool is_float, bool upper,
                        bool encoded)
{
    size_t i = 0;
    if (count == LANES) {
        NAME(some)(s, needles, LANES, sorted, n, at, is_float, upper, encoded, LANES);
        return;
    }
    for (; i < count; i += FEW_LANES) NAME(some)
    (s, needles + i, echi_min(count - i, FEW_LANES), sorted, n, at + i, is_float, upper, encoded,
     FEW_LANES);
}

/* Whether the position is right: in order with the elements before and after it. */
INLINE bool NAME(right)(const struct echi_search *s, KEY needle, size_t at, bool is_float,
                        bool upper)
{
    const struct echi_order o = s->order;
    const KEY *sorted = (const KEY *)s->sorted, x = NAME(limit)(&o, needle, is_float, upper);
    if (at > 0) {
        const KEY e = NAME(form)(&o, sorted[at - 1], is_float);
        if (upper ? e > x : e >= x) return false;
    }
    if (at < s->n) {
        const KEY e = NAME(form)(&o, sorted[at], is_float);
        if (upper ? e <= x : e < x) return false;
    }
    return true;
}

INLINE void NAME(each)(const struct echi_search *s, const KEY *needles, size_t count,
                       const KEY *sorted, size_t n, size_t *at, bool is_float, bool upper,
                       bool encoded)
{
    for (size_t i = 0; i < count; i += LANES) NAME(lanes)
    (s, needles + i, echi_min(LANES, count - i), sorted, n, at + i, is_float, upper, encoded);
}

/* Few elements are encoded before the search, not in each of its steps. */
INLINE void NAME(block)(const struct echi_search *s, size_t first, size_t count, size_t *at,
                        bool is_float, bool upper)
{
    const KEY *needles = (const KEY *)s->needles + first, *sorted = s->sorted;
    const struct echi_order o = s->order;
    KEY forms[FORMS_BYTES / sizeof(KEY)];
    if (s->n > FORMS_BYTES / sizeof(KEY) || s->n > FORMS_SHARE * count) {
        NAME(each)(s, needles, count, sorted, s->n, at, is_float, upper, false);
        return;
    }
    for (size_t i = 0; i < s->n; i++) forms[i] = NAME(form)(&o, sorted[i], is_float);
    NAME(each)(s, needles, count, forms, s->n, at, is_float, upper, true);
}

/* The same for needles that are probably sorted: their positions are between those of the first and
 * the last one. A position at an end of this range is checked. */
INLINE void NAME(range)(const struct echi_search *s, size_t first, size_t count, size_t *at,
                        bool is_float, bool upper)
{
    const KEY *needles = (const KEY *)s->needles + first, *sorted = s->sorted;
    const KEY ends[2] = { needles[0], needles[count - 1] };
    size_t end[2];
    NAME(lanes)(s, ends, 2, sorted, s->n, end, is_float, upper, false);
    const size_t from = end[0], n = end[1] < from ? 0 : end[1] - from;
    NAME(each)(s, needles, count, sorted + from, n, at, is_float, upper, false);
    for (size_t i = 0; i < count; i++) {
        at[i] += from;
        if ((at[i] == from || at[i] == from + n) &&
            !NAME(right)(s, needles[i], at[i], is_float, upper))
            NAME(lanes)(s, needles + i, 1, sorted, s->n, at + i, is_float, upper, false);
    }
}

/* The positions of needles first ... first + count - 1; count is at least 1. */
static void NAME(search)(const struct echi_search *s, size_t first, size_t count, bool sorted,
                         size_t *at)
{
#define CASES(function)                                                                            \
    if (s->order.float_mask && s->upper)                                                           \
        NAME(function)(s, first, count, at, true, true);                                           \
    else if (s->order.float_mask)                                                                  \
        NAME(function)(s, first, count, at, true, false);                                          \
    else if (s->upper)                                                                             \
        NAME(function)(s, first, count, at, false, true);                                          \
    else                                                                                           \
        NAME(function)(s, first, count, at, false, false)
    if (sorted) {
        CASES(range);
    } else {
        CASES(block);
    }
#undef CASES
}

#undef NAME
#undef KEY
#undef FROM
