/*
 * strings/key.h - a part of a string as a key of 64 bits, for the CPU and for kernels.
 *
 * The key of a string at a depth consists of its next seven bytes and a count:
 *
 *     bits 63 ... 8    the bytes from the depth on, the first one at the top, padded with zeros
 *     bits 7 ... 0     1 + the number of bytes that remain, at most 1 + 8
 *
 * The count distinguishes padding from bytes of zero.  Equal keys whose count is less than 9 belong
 * to equal strings, if the strings are equal before the depth.  Equal keys with the count 9 are
 * open: the strings continue.  A descending sort uses the complement.  The key of a null is 0 or
 * all ones, which is not a key of a string.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_STRINGS_KEY_H
#define ECHI_STRINGS_KEY_H

#include "core/both.h"
#include "core/index.h"

#include <stdint.h>

enum { STRINGS_STEP = 7, /* bytes of a string in a key */ STRINGS_OPEN = STRINGS_STEP + 2 };

struct echi_string_array {
    const void *offsets; /* [n + 1] */
    const uint8_t *bytes;
    const uint8_t *validity; /* NULL: no nulls */
    uint64_t validity_offset, n, total_bytes;
    struct echi_index index; /* of the offsets */
    uint32_t descending, nulls_first;
};

struct echi_string {
    uint64_t begin, n;
};

/* String i.  If its offsets are invalid, they are bounded so that the string is within the
 * array. */
ECHI_BOTH struct echi_string echi_string_at(const struct echi_string_array *a, uint64_t i)
{
    uint64_t begin = echi_index_at(a->offsets, a->index, i);
    uint64_t end = echi_index_at(a->offsets, a->index, i + 1);
    struct echi_string s;
    if (begin > a->total_bytes) begin = a->total_bytes;
    if (end > a->total_bytes) end = a->total_bytes;
    s.begin = begin;
    s.n = end > begin ? end - begin : 0;
    return s;
}

ECHI_BOTH uint32_t echi_string_null(const struct echi_string_array *a, uint64_t i)
{
    const uint64_t bit = a->validity_offset + i;
    return a->validity && !(a->validity[bit >> 3] >> (bit & 7) & 1);
}

ECHI_BOTH uint64_t echi_string_null_key(const struct echi_string_array *a)
{
    return a->nulls_first ? 0 : ~(uint64_t)0;
}

/* The key of a string with `left` bytes after the depth, the first eight of which are in word, the
 * first one at the top.  Bits of word after the end of the string have no effect. */
ECHI_BOTH uint64_t echi_string_key(const struct echi_string_array *a, uint64_t word, uint64_t left)
{
    const uint64_t kept = left < STRINGS_STEP ? left : (uint64_t)STRINGS_STEP;
    const uint64_t mask = ~(~(uint64_t)0 >> (8 * kept));
    const uint64_t key = (word & mask) | (1 + (left <= STRINGS_STEP ? left : STRINGS_STEP + 1));
    return a->descending ? ~key : key;
}

/* Whether strings with this key, equal before it, may differ after it. */
ECHI_BOTH uint32_t echi_string_open(const struct echi_string_array *a, uint64_t key)
{
    return ((a->descending ? ~key : key) & 0xff) == STRINGS_OPEN;
}

#endif
