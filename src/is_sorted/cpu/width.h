/*
 * is_sorted/cpu/width.h - template: finds the first key that is out of order, for one key width.
 *
 *   FROM      u8 ... u64 (undefined at the end)
 *
 * A step compares some hundred neighbours without a branch, which compilers turn into vectors.
 * Only a step that has an element out of order is searched for its position.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#define NAME(x) JOINED(x##_, FROM)
#define KEY     JOINED(FROM, _element)
#include "cpu/predicate.h"

INLINE KEY NAME(form)(const struct echi_order *o, KEY u, bool plain)
{
    return plain ? (KEY)(u ^ (KEY)(o->sign ^ o->flip)) : NAME(merged)(o, u);
}

INLINE KEY NAME(bad)(const struct echi_order *o, const KEY *at, bool plain, bool strict)
{
    KEY before = NAME(form)(o, at[-1], plain), now = NAME(form)(o, at[0], plain);
    return (KEY)(strict ? now <= before : now < before);
}

/* plain: not of floats. */
INLINE size_t NAME(search)(const struct echi_order *order, const KEY *x, size_t from, size_t to,
                           bool plain, bool strict)
{
    enum { STEP = 512 };
    const struct echi_order o = *order;
    for (; from < to; from += STEP) {
        const size_t here = to - from < STEP ? to - from : STEP;
        KEY any = 0;
        for (size_t i = 0; i < here; i++) any |= NAME(bad)(&o, x + from + i, plain, strict);
        if (!any) continue;
        while (!NAME(bad)(&o, x + from, plain, strict)) from++;
        return from;
    }
    return to;
}

static size_t NAME(first)(const struct echi_order *order, bool strict, const void *keys,
                          size_t from, size_t to)
{
    const KEY *x = (const KEY *)keys;
    if (order->float_mask)
        return strict ? NAME(search)(order, x, from, to, false, true)
                      : NAME(search)(order, x, from, to, false, false);
    return strict ? NAME(search)(order, x, from, to, true, true)
                  : NAME(search)(order, x, from, to, true, false);
}

#undef NAME
#undef KEY
#undef FROM
