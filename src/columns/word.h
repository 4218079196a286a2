/*
 * columns/word.h - the key of a row, as words of 64 bits.
 *
 * The key of a row is the concatenation of the encoded elements of its columns (core/order.h), the
 * first column at the top.  A column with a bitmap has one more bit above its element, and an
 * element of zeros if it is null.  Keys compare as rows do.  An element of more than 8 bytes
 * consists of parts of at most 8 bytes, the most significant one at the top.
 *
 *     column     | 0: null bit, 16 bits | 1: 32 bits | 2: 64 bits |      113 bits
 *     word       | 0: 64 bits                  | 1: 49 bits       |
 *
 * `low` of a part or a word is the number of bits of the key that are below it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_COLUMNS_WORD_H
#define ECHI_COLUMNS_WORD_H

#include "core/both.h"
#include "core/order.h"

#include <stdint.h>

enum {
    ECHI_COLUMNS = 16,
    ECHI_KEY_BYTES = 512,                               /* of all columns together */
    ECHI_KEY_PARTS = ECHI_KEY_BYTES / 8 + ECHI_COLUMNS, /* of their elements */
    ECHI_WORDS = (8 * ECHI_KEY_BYTES + ECHI_COLUMNS) / 64 + 1,
    ECHI_WORD_PARTS = 9 /* of a word: a part has at least 8 bits */
};

/* Where the elements of a column are. */
struct echi_source {
    const void *data;
    const uint8_t *validity; /* NULL: no nulls */
    uint64_t validity_offset;
    uint64_t stride; /* bytes from one element to the next */
    uint32_t bytes;  /* of an element */
    uint32_t align;  /* of data, which the caller guarantees */
};

struct echi_part {
    struct echi_order order; /* merged */
    uint32_t source;
    uint32_t offset; /* of its first byte in the element */
    uint32_t bytes;  /* 1 to 8 */
    uint32_t low;
    uint8_t null_bit;    /* 1: the bit of the bitmap is above this part */
    uint8_t nulls_first; /* 1: nulls precede all other elements */
    uint8_t reversed;    /* 1: the first byte is the most significant one */
    uint8_t aligned;     /* in the argument of a kernel: 1: one access loads the part */
};

/* One word of the key: bits [low, low + bits), which are bits of parts [first, first + count). */
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

/* Reverses the order of the lowest `bytes` bytes of u; the others are 0. */
ECHI_BOTH uint64_t echi_reverse_bytes(uint64_t u, uint32_t bytes)
{
    u = (u & 0x00FF00FF00FF00FF) << 8 | (u >> 8 & 0x00FF00FF00FF00FF);
    u = (u & 0x0000FFFF0000FFFF) << 16 | (u >> 16 & 0x0000FFFF0000FFFF);
    return (u << 32 | u >> 32) >> (64 - 8 * bytes);
}

/* Where a part of element i is. */
ECHI_BOTH const uint8_t *echi_part_at(const struct echi_source *s, const struct echi_part *p,
                                      uint64_t i)
{
    return (const uint8_t *)s->data + p->offset + i * s->stride;
}

/* The bits of a part at any address. */
ECHI_BOTH uint64_t echi_load_bytes(const uint8_t *at, uint32_t bytes)
{
    uint64_t u = 0;
    for (uint32_t b = 0; b < bytes; b++) u |= (uint64_t)at[b] << 8 * b;
    return u;
}

/* The map of core/order.h for the bits u of an element or a part. */
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
ECHI_BOTH uint32_t echi_source_valid(const struct echi_source *s, uint64_t i)
{
    if (!s->validity) return 1;
    const uint64_t bit = s->validity_offset + i;
    return s->validity[bit >> 3] >> (bit & 7) & 1;
}

/* The bits of value that are in a word `shift` bits below (if positive) or above it. */
ECHI_BOTH uint64_t echi_column_place(uint64_t value, int32_t shift)
{
    if (shift >= 64 || shift <= -64) return 0;
    return shift >= 0 ? value << shift : value >> -shift;
}

/* What a part contributes to a word; the caller masks the word's bits.  e is the encoded part;
 * valid is 1 if the element is not null. */
ECHI_BOTH uint64_t echi_part_place(const struct echi_part *p, const struct echi_column_word *w,
                                   uint64_t e, uint32_t valid)
{
    const int32_t shift = (int32_t)p->low - (int32_t)w->low;
    uint64_t word = valid ? echi_column_place(e, shift) : 0;
    if (p->null_bit)
        word |= echi_column_place(valid == p->nulls_first, shift + 8 * (int32_t)p->bytes);
    return word;
}

ECHI_BOTH uint64_t echi_column_mask(const struct echi_column_word *w)
{
    return ~(uint64_t)0 >> (64 - w->bits);
}

#endif
