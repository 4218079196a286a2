/*
 * lines/encode.c - the normalized key of a record as a stream of bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "lines/order.h"

#include <stdlib.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
/* For rare cases, so that the callers need no frame for them. */
#define NOINLINE __attribute__((noinline))

/* Whether a byte of the word is 0 or 1. */
static bool has_small_byte(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101, high = 0x8080808080808080;
    return ((word - 2 * ones) & ~word & high) != 0;
}

/* The bytes of a word, of which a to z become A to Z. */
static uint64_t upper(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101, high = 0x8080808080808080, low = word & ~high;
    const uint64_t from_a = low + ones * (0x80 - 'a'), after_z = low + ones * (0x7f - 'z');
    return word - (((from_a ^ after_z) & ~word & high) >> 2);
}

/* Appends at most 8 bytes, of which none is 0 or 1, if all of them are in the window, or all before
 * it.  Returns false if it appends nothing. */
INLINE bool put_word(struct sink *s, const char *at, size_t n, bool fold)
{
    enum { WORD = 8 };
    uint64_t word, keep = UINT64_MAX;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (n < WORD) {
        if (!s->limit || s->limit - at < WORD) return false;
        keep = ((uint64_t)1 << 8 * n) - 1;
    } else {
        n = WORD;
    }
#else
    if (n < WORD) return false;
    n = WORD;
#endif
    const bool inside = s->n >= s->skip && s->n - s->skip + WORD <= s->room;
    if (!inside && s->n + n > s->skip) return false;
    memcpy(&word, at, sizeof word);
    if (has_small_byte(word | ~keep)) return false;
    if (inside) {
        word = ((fold ? upper(word) : word) ^ (s->flip ? UINT64_MAX : 0)) & keep;
        memcpy(s->to + (s->n - s->skip), &word, sizeof word);
    }
    s->n += n;
    return true;
}

/* Appends bytes that end in 0; 0 and 1 become 1 1 and 1 2, so that the end is the minimum. */
INLINE void put_ended(struct sink *s, const char *at, size_t n, bool fold)
{
    enum { WORD = 8 };
    for (size_t i = 0; i < n && !sink_full(s);) {
        if (put_word(s, at + i, n - i, fold)) {
            i += n - i < WORD ? n - i : WORD;
            continue;
        }
        unsigned char byte = (unsigned char)at[i++];
        if (fold && byte >= 'a' && byte <= 'z') byte = (unsigned char)(byte - 'a' + 'A');
        if (byte < 2) sink_put(s, 1);
        sink_put(s, byte < 2 ? (unsigned char)(byte + 1) : byte);
    }
    sink_put(s, 0);
}

/* The same for filtered text without quotes. */
static void put_mapped(struct sink *s, const struct span *span, const uint16_t *map)
{
    const size_t full = s->measure ? SIZE_MAX : s->skip + s->room;
    size_t n = s->n;
    for (const char *at = span->at; at < span->end && n < full; at++) {
        const uint16_t byte = map[(unsigned char)*at];
        if (byte == DROPPED) continue;
        if (byte < 2) {
            if (n - s->skip < s->room) s->to[n - s->skip] = 1 ^ s->flip;
            n++;
        }
        if (n - s->skip < s->room)
            s->to[n - s->skip] = (unsigned char)(byte + (byte < 2)) ^ s->flip;
        n++;
    }
    s->n = n;
    sink_put(s, 0);
}

/* The same for a reader. */
NOINLINE static void put_filtered(struct sink *s, struct reader reader)
{
    if (!reader.span.quoted && reader.map) {
        put_mapped(s, &reader.span, reader.map);
        return;
    }
    for (int c; !sink_full(s) && (c = lines_read(&reader)) >= 0;) {
        if (c < 2) sink_put(s, 1);
        sink_put(s, (unsigned char)(c < 2 ? c + 1 : c));
    }
    sink_put(s, 0);
}

/* A number is at the beginning of a value, so quotes of CSV end it if they are inside. */
static void put_number(struct sink *s, enum kind kind, const char *at, const char *end)
{
    switch (kind) {
    case KIND_NUMBER:
        lines_put_number(s, at, end);
        break;
    case KIND_GENERAL:
        lines_put_general(s, at, end);
        break;
    case KIND_HUMAN:
        lines_put_human(s, at, end);
        break;
    default:
        lines_put_month(s, at, end);
        break;
    }
}

/* A number, of which filters or quotes have to be applied first. */
NOINLINE static void put_copied_number(struct sink *s, enum kind kind, struct reader reader)
{
    enum { ON_STACK = 512 };
    const size_t most = (size_t)(reader.span.end - reader.span.at);
    char few[ON_STACK], *copy = most <= ON_STACK ? few : malloc(most);
    /* Without memory, the number is that of the first bytes. */
    const size_t n = lines_read_some(&reader, copy ? copy : few, copy ? most : ON_STACK);
    const char *limit = s->limit;
    s->limit = NULL; /* it is that of the record */
    put_number(s, kind, copy ? copy : few, (copy ? copy : few) + n);
    s->limit = limit;
    if (copy != few) free(copy);
}

static void put_key(const struct lines_order *order, const struct key *key, const char *record,
                    size_t bytes, struct sink *s)
{
    const struct span span = key->all ? (struct span){ record, record + bytes, false, false }
                                      : lines_span_of(order, key, record, bytes, s->limit);
    const bool plain = !span.quoted && !key->filtered;
    s->flip = key->reverse ? 0xff : 0;
    if (key->kind == KIND_BYTES && plain)
        put_ended(s, span.at, (size_t)(span.end - span.at), false);
    else if (key->kind == KIND_BYTES && key->folds && !span.quoted)
        put_ended(s, span.at, (size_t)(span.end - span.at), true);
    else if (key->kind == KIND_BYTES)
        put_filtered(s, lines_reader(key, span));
    else if (key->kind == KIND_VERSION)
        lines_put_version(s, lines_reader(key, span));
    else if (key->kind == KIND_RANDOM)
        lines_put_random(s, lines_reader(key, span), order->seed);
    else if (plain)
        put_number(s, key->kind, span.at, span.end);
    else
        put_copied_number(s, key->kind, lines_reader(key, span));
    s->flip = 0;
}

void lines_encode(const struct lines_order *order, const char *record, size_t bytes, bool resort,
                  struct sink *sink)
{
    if (order->direct) {
        size_t n;
        const char *at = lines_direct(order, record, bytes, &n);
        sink_put_all(sink, at, n);
        return;
    }
    for (int i = 0; i < order->n_keys && !sink_full(sink); i++)
        put_key(order, &order->keys[i], record, bytes, sink);
    if (!resort || sink_full(sink)) return;
    if (order->reversed) {
        sink->flip = 0xff;
        put_ended(sink, record, bytes, false);
        sink->flip = 0;
    } else {
        sink_put_all(sink, record, bytes);
    }
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
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return __builtin_bswap64(word);
#else
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
#endif
}

uint64_t lines_prefix(const struct lines_order *order, const char *record, size_t bytes)
{
    unsigned char prefix[8] = { 0 };
    struct sink sink = { .to = prefix, .room = sizeof prefix };
    lines_encode(order, record, bytes, false, &sink);
    return big_endian(prefix);
}

uint64_t lines_word(const struct lines_order *order, const char *record, size_t bytes, size_t depth,
                    const char *limit)
{
    if (order->direct) {
        size_t n;
        const char *at = lines_direct(order, record, bytes, &n);
        return depth < n ? lines_load_word((const unsigned char *)at + depth, n - depth) : 0;
    }
    unsigned char window[8] = { 0 };
    struct sink sink = { .to = window, .skip = depth, .room = sizeof window, .limit = limit };
    lines_encode(order, record, bytes, order->resort, &sink);
    const size_t left = sink.n > depth ? sink.n - depth : 0;
    window[WORD_BYTES] = (unsigned char)(left < WORD_MORE ? left : WORD_MORE);
    return big_endian(window);
}

/* The words of a key, which is at at. */
static uint64_t direct_words(const unsigned char *at, size_t n, uint64_t *next)
{
    if (n < WORD_BYTES + WORD_MORE) {
        *next = n > WORD_BYTES ? lines_load_word(at + WORD_BYTES, n - WORD_BYTES) : 0;
        return lines_load_word(at, n);
    }
    const uint64_t last = 0xff;
    *next = (big_endian(at + WORD_BYTES) & ~last) | WORD_MORE;
    return (big_endian(at) & ~last) | WORD_MORE;
}

uint64_t lines_words(const struct lines_order *order, const char *record, size_t bytes,
                     size_t depth, uint64_t *next, const char *limit)
{
    size_t n;
    if (order->direct) {
        const char *at = lines_direct(order, record, bytes, &n);
        const size_t skip = depth < n ? depth : n;
        return direct_words((const unsigned char *)at + skip, n - skip, next);
    }
    enum { ROOM = 16 }; /* a multiple of the bytes that encoders append at once */
    unsigned char window[ROOM] = { 0 };
    struct sink sink = { .to = window, .skip = depth, .room = ROOM, .limit = limit };
    lines_encode(order, record, bytes, order->resort, &sink);
    n = sink.n > depth ? sink.n - depth : 0;
    return direct_words(window, n < ROOM ? n : ROOM, next);
}

const char *lines_direct(const struct lines_order *order, const char *record, size_t bytes,
                         size_t *key_bytes)
{
    if (!order->direct) return NULL;
    *key_bytes = bytes;
    if (order->whole) return record;
    const struct span span = lines_span_of(order, &order->keys[0], record, bytes, NULL);
    *key_bytes = (size_t)(span.end - span.at);
    return span.at;
}
