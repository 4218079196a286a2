/*
 * scan/cpu/flags.h - template: the starts of runs of equal keys in a tile.
 *
 *   KEY       uint8_t ... uint64_t
 *   NAME(x)   x##_u8 ...
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/predicate.h"

static void NAME(flags)(const struct echi_scan *s, uint8_t *flags, size_t at, size_t count)
{
    const KEY *keys = s->keys;
    const struct echi_order *o = &s->key_order;
    const ptrdiff_t step = s->backward ? -1 : 1;
    keys += s->backward ? s->n - 1 - at : at;
    flags[0] = at == 0 || NAME(merged)(o, keys[0]) != NAME(merged)(o, keys[-step]);
    for (size_t i = 1; i < count; i++, keys += step)
        flags[i] = NAME(merged)(o, keys[0]) != NAME(merged)(o, keys[step]);
}
