/*
 * lines/debug.c - what a key of a record compares, and what may surprise about an order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "lines/order.h"

#include <stdio.h>

bool lines_underline(const struct lines_order *order, int i, const char *record, size_t bytes,
                     size_t *from, size_t *n)
{
    *from = 0;
    *n = bytes;
    if (i >= order->n_keys) return i == order->n_keys && order->underlined;
    const struct key *key = &order->keys[i];
    struct span span = lines_span_of(order, key, record, bytes, NULL);
    const bool number = key->kind == KIND_NUMBER || key->kind == KIND_GENERAL ||
                        key->kind == KIND_HUMAN || key->kind == KIND_MONTH;
    if (number && !span.quoted) span.end = lines_number_end(key->kind, &span.at, span.end);
    *from = (size_t)(span.at - record);
    *n = (size_t)(span.end - span.at);
    return true;
}

/* Whether leading blanks are part of a key without a delimiter. */
static bool has_blanks(const struct lines_order *order, const struct key *key)
{
    const bool skipped = key->kind == KIND_NUMBER || key->kind == KIND_GENERAL ||
                         key->kind == KIND_HUMAN || key->kind == KIND_MONTH;
    if (order->delimiter != LINES_BLANKS || key->name) return false;
    if (key->last_field == 0 && key->last_char) return false; /* -k1.x,1.y */
    return (!key->skip_start && !skipped) || (!key->skip_start && key->first_char) ||
           (!key->skip_end && key->last_char);
}

bool lines_warning(const struct lines_order *order, int i, char *text, size_t capacity_bytes)
{
    text[0] = 0;
    if (i >= order->n_keys) return false;
    const struct key *key = &order->keys[i];
    const bool number =
        key->kind == KIND_NUMBER || key->kind == KIND_GENERAL || key->kind == KIND_HUMAN;
    if (key->keep_quotes) return true;
    if (key->last_field < key->first_field)
        snprintf(text, capacity_bytes, "key %d ends before it begins: it is always empty", i + 1);
    else if (has_blanks(order, key))
        snprintf(text, capacity_bytes,
                 "key %d includes the blanks before the field; the letter b skips them", i + 1);
    else if (number && key->last_field != key->first_field)
        snprintf(text, capacity_bytes,
                 "key %d is a number, but goes on beyond its field; end it with \",%zu\"", i + 1,
                 key->first_field + 1);
    return true;
}
