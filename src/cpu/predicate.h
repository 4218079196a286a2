/*
 * cpu/predicate.h - template: the test of predicate.h on elements of one width.
 *
 *   KEY       uint8_t ... uint64_t
 *   NAME(x)   x##_u8 ...
 *
 * SPDX-License-Identifier: Apache-2.0
 */

static inline KEY NAME(merged)(const struct echi_order *o, KEY u)
{
    KEY negative = (KEY)(0 - (u >> (8 * sizeof(KEY) - 1))) & (KEY)o->float_mask;
    KEY e = (KEY)((KEY)(u ^ (negative | (KEY)o->sign)) - (KEY)o->shift);
    e = (KEY)(e + (e == (KEY)o->zero ? (KEY)o->merge : 0));
    return (KEY)((e > (KEY)o->last ? (KEY)o->last : e) ^ (KEY)o->flip);
}

static inline bool NAME(passes)(const struct echi_predicate *p, KEY u)
{
    KEY e = NAME(merged)(&p->order, u) & (KEY)p->mask;
    return ((KEY)(e - (KEY)p->low) <= (KEY)p->span) != (p->invert != 0);
}
