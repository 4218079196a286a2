/*
 * is_sorted/cpu/width.h - template: finds the first key that is out of order, for one key width.
 *
 *   FROM      u8 ... u64 (undefined at the end)
 *
 * A step compares some hundred neighbours without a branch, so that compilers vectorise it. Only a
 * step that contains an element out of order is searched for its position.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#define NAME(x) JOINED(x##_, FROM)
#define KEY     JOINED(FROM, _element)
#include "cpu/predicate.h"

INLINE KEY NAME(form)(const struct echi_order *o, KEY u, enum echi_form as)
{
    if (as == ECHI_AS_MERGED) return NAME(merged)(o, u);
    if (as == ECHI_AS_BITS) return (KEY)(u ^ (KEY)(o->sign ^ o->flip));
    KEY negative = (KEY)(0 - (u >> (8 * sizeof(KEY) - 1)));
    return (KEY)((KEY)((KEY)(u ^ (negative | (KEY)o->sign)) - (KEY)o->shift) ^ (KEY)o->flip);
}

INLINE bool NAME(bad)(const struct echi_order *o, const KEY *at, enum echi_form as, bool strict)
{
    KEY before = NAME(form)(o, at[-1], as), now = NAME(form)(o, at[0], as);
    return strict ? now <= before : now < before;
}

INLINE bool NAME(any)(const struct echi_order *o, const KEY *at, size_t n, enum echi_form as,
                      bool strict)
{
    KEY any = 0;
    for (size_t i = 0; i < n; i++) any |= (KEY)NAME(bad)(o, at + i, as, strict);
    return any;
}

/* first: the encoding that every step compares. Merging never reverses two keys, so keys that are
 * in order before it are in order after it. */
INLINE size_t NAME(search)(const struct echi_order *order, const KEY *x, size_t from, size_t to,
                           enum echi_form first, bool strict)
{
    enum { STEP = 512 };
    const struct echi_order o = *order;
    const enum echi_form exact = first == ECHI_AS_BITS ? first : ECHI_AS_MERGED;
    for (; from < to; from += STEP) {
        const size_t here = to - from < STEP ? to - from : STEP;
        if (!NAME(any)(&o, x + from, here, first, strict)) continue;
        if (first != exact && !NAME(any)(&o, x + from, here, exact, strict)) continue;
        while (!NAME(bad)(&o, x + from, exact, strict)) from++;
        return from;
    }
    return to;
}

static size_t NAME(first)(const struct echi_order *order, bool strict, const void *keys,
                          size_t from, size_t to)
{
    const KEY *x = (const KEY *)keys;
    if (order->float_mask)
        return strict ? NAME(search)(order, x, from, to, ECHI_AS_MERGED, true)
                      : NAME(search)(order, x, from, to, ECHI_AS_FLOATS, false);
    return strict ? NAME(search)(order, x, from, to, ECHI_AS_BITS, true)
                  : NAME(search)(order, x, from, to, ECHI_AS_BITS, false);
}

#undef NAME
#undef KEY
#undef FROM
