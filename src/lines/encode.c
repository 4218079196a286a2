/*
 * lines/encode.c - the normalized key of a record as a stream of bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "lines/order.h"

#include <string.h>

/* Appends bytes as they are. */
static void put_raw(struct sink *s, const char *at, size_t n)
{
    const size_t end = s->skip + s->room;
    size_t from = s->n < s->skip ? s->skip - s->n : 0;
    size_t to = s->n < end ? end - s->n : 0;
    if (to > n) to = n;
    for (size_t i = from; i < to; i++) s->to[s->n + i - s->skip] = (unsigned char)at[i] ^ s->flip;
    s->n += n;
}

/* Appends bytes that end in 0; 0 and 1 become 1 1 and 1 2, so that the end is the minimum. */
static void put_ended(struct sink *s, const char *at, size_t n)
{
    for (size_t i = 0; i < n && !sink_full(s); i++) {
        const unsigned char byte = (unsigned char)at[i];
        if (byte < 2) sink_put(s, 1);
        sink_put(s, byte < 2 ? byte + 1 : byte);
    }
    sink_put(s, 0);
}

void lines_encode(const struct lines_order *order, const char *record, size_t bytes, bool resort,
                  struct sink *sink)
{
    if (order->direct) {
        size_t n;
        const char *at = lines_direct(order, record, bytes, &n);
        put_raw(sink, at, n);
        return;
    }
    (void)resort;
    sink->flip = order->reversed ? 0xff : 0;
    put_ended(sink, record, bytes);
    sink->flip = 0;
}

size_t lines_key(const struct lines_order *order, const char *record, size_t bytes,
                 unsigned char *to, size_t room)
{
    struct sink sink = { .to = to, .room = room, .measure = true };
    lines_encode(order, record, bytes, false, &sink);
    return sink.n;
}

size_t lines_full_key(const struct lines_order *order, const char *record, size_t bytes,
                      unsigned char *to, size_t room)
{
    struct sink sink = { .to = to, .room = room, .measure = true };
    lines_encode(order, record, bytes, order->resort, &sink);
    return sink.n;
}

static uint64_t big_endian(const unsigned char *at)
{
    uint64_t word = 0;
    for (int i = 0; i < 8; i++) word = word << 8 | at[i];
    return word;
}

uint64_t lines_prefix(const struct lines_order *order, const char *record, size_t bytes)
{
    unsigned char prefix[8] = { 0 };
    struct sink sink = { .to = prefix, .room = sizeof prefix };
    lines_encode(order, record, bytes, false, &sink);
    return big_endian(prefix);
}

uint64_t lines_word(const struct lines_order *order, const char *record, size_t bytes, size_t depth)
{
    unsigned char window[8] = { 0 };
    struct sink sink = { .to = window, .skip = depth, .room = sizeof window };
    lines_encode(order, record, bytes, order->resort, &sink);
    const size_t left = sink.n > depth ? sink.n - depth : 0;
    window[WORD_BYTES] = (unsigned char)(left < WORD_MORE ? left : WORD_MORE);
    return big_endian(window);
}

const char *lines_direct(const struct lines_order *order, const char *record, size_t bytes,
                         size_t *key_bytes)
{
    if (!order->direct) return NULL;
    *key_bytes = bytes;
    return record;
}
