/*
 * columns/word.h - the key of a row, as words of 64 bits.
 *
 * The key of a row is the concatenation of the encoded elements of its columns (core/order.h), the
 * first column at the top.  A column with a bitmap has one more bit above its element, and an
 * element of zeros if it is null.  Keys compare as rows do.
 *
 *     column     | 0: null bit, 16 bits | 1: 32 bits | 2: 64 bits |      113 bits
 *     word       | 0: 64 bits                  | 1: 49 bits       |
 *
 * `low` of a column or a word is the number of bits of the key that are below it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_COLUMNS_WORD_H
#define ECHI_COLUMNS_WORD_H

#include "core/both.h"
#include "core/order.h"

#include <stdint.h>

enum { ECHI_COLUMNS = 16 };

struct echi_column {
    const void *data;
    const uint8_t *validity; /* NULL: no nulls */
    uint64_t validity_offset;
    struct echi_order order; /* merged */
    uint32_t bytes;          /* of an element */
    uint32_t low;
    uint32_t nulls_first;
};

/* One word of the key: bits [low, low + bits), which are bits of columns [first, first + count). */
struct echi_column_word {
    uint32_t low, bits, first, count;
};

ECHI_BOTH uint64_t echi_column_load(const void *data, uint32_t bytes, uint64_t i)
{
    if (bytes == 4) return ((const uint32_t *)data)[i];
    if (bytes == 8) return ((const uint64_t *)data)[i];
    if (bytes == 2) return ((const uint16_t *)data)[i];
    return ((const uint8_t *)data)[i];
}

/* The map of core/order.h for the bits u of an element. */
ECHI_BOTH uint64_t echi_column_encode(const struct echi_order *o, uint32_t bytes, uint64_t u)
{
    const uint64_t ones = ~(uint64_t)0 >> (64 - 8 * bytes);
    const uint64_t negative = u >> (8 * bytes - 1) ? o->float_mask : 0;
    uint64_t e = ((u ^ (o->sign | negative)) - o->shift) & ones;
    if (e == o->zero) e += o->merge;
    if (e > o->last) e = o->last;
    return e ^ o->flip;
}

/* 1: element i is not null. */
ECHI_BOTH uint32_t echi_column_valid(const struct echi_column *c, uint64_t i)
{
    const uint64_t bit = c->validity_offset + i;
    return c->validity[bit >> 3] >> (bit & 7) & 1;
}

/* The bits of value that are in a word `shift` bits below (if positive) or above it. */
ECHI_BOTH uint64_t echi_column_place(uint64_t value, int32_t shift)
{
    if (shift >= 64 || shift <= -64) return 0;
    return shift >= 0 ? value << shift : value >> -shift;
}

/* What a column contributes to a word; the caller masks the word's bits.  e is the encoded
 * element; valid is 1 without a bitmap. */
ECHI_BOTH uint64_t echi_column_part(const struct echi_column *c, const struct echi_column_word *w,
                                    uint64_t e, uint32_t valid)
{
    const int32_t shift = (int32_t)c->low - (int32_t)w->low;
    uint64_t part = valid ? echi_column_place(e, shift) : 0;
    if (c->validity)
        part |= echi_column_place(valid == c->nulls_first, shift + 8 * (int32_t)c->bytes);
    return part;
}

ECHI_BOTH uint64_t echi_column_mask(const struct echi_column_word *w)
{
    return ~(uint64_t)0 >> (64 - w->bits);
}

#endif
