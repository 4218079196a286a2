/*
 * lines/field.c - the part of a record that a key compares.
 *
 * Without a delimiter, a field is blanks followed by other characters.  With one, fields are the
 * text between delimiters; in CSV a delimiter between quotes does not end a field, and characters
 * of the value are counted, not quotes.  Positions beyond the end of a record are its end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "lines/order.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* ---- Plain text ---- */

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at)) at++;
    return at;
}

/* A word whose lowest byte of 0x80 is at the first byte of text that is the character. */
static uint64_t find_byte(uint64_t text, unsigned char c)
{
    const uint64_t ones = 0x0101010101010101, high = 0x8080808080808080, x = text ^ ones * c;
    return (x - ones) & ~x & high;
}

/* The first blank of [at, end), or end. */
static const char *find_blank(const char *at, const char *end)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    for (; end - at >= 8; at += 8) {
        uint64_t text;
        memcpy(&text, at, sizeof text);
        const uint64_t found = find_byte(text, ' ') | find_byte(text, '\t') | find_byte(text, '\n');
        if (found) return at + __builtin_ctzll(found) / 8;
    }
#endif
    while (at < end && !is_blank(*at)) at++;
    return at;
}

#ifdef __SSE2__

enum { NEAR = 32 };

/* A bit for each of the next 32 bytes that is a blank. */
static uint64_t near_blanks(const char *at)
{
    uint64_t blanks = 0;
    for (int i = 0; i < NEAR; i += 16) {
        const __m128i text = _mm_loadu_si128((const __m128i *)(const void *)(at + i));
        const __m128i any = _mm_or_si128(_mm_cmpeq_epi8(text, _mm_set1_epi8(' ')),
                                         _mm_or_si128(_mm_cmpeq_epi8(text, _mm_set1_epi8('\t')),
                                                      _mm_cmpeq_epi8(text, _mm_set1_epi8('\n'))));
        blanks |= (uint64_t)(uint32_t)_mm_movemask_epi8(any) << i;
    }
    return blanks;
}

/* Where the fields of a key begin and end, if blanks separate them, the key ends with a field, and
 * both places are within 32 bytes. */
static bool near_span(const struct lines_order *order, const struct key *key, struct span *span,
                      const char *limit)
{
    const char *at = span->at;
    if (!limit || limit - at < NEAR || order->delimiter != LINES_BLANKS ||
        key->last_field == SIZE_MAX || key->last_field < key->first_field || key->last_char)
        return false;
    const size_t left = (size_t)(span->end - at), known = left < NEAR ? left : NEAR;
    const uint64_t inside = ((uint64_t)1 << known) - 1;
    const uint64_t blanks = near_blanks(at) & inside, ends = blanks | ~inside;
    size_t i = 0, begin = SIZE_MAX;
    for (size_t field = 0; field <= key->last_field && i < known; field++) {
        if (field == key->first_field) begin = i;
        i += (size_t)__builtin_ctzll(~blanks >> i); /* bit 32 and later ones are 0 */
        if (i < known) i += (size_t)__builtin_ctzll(ends >> i);
    }
    if (i >= known && left != known) return false;
    span->at = at + (begin == SIZE_MAX ? i : begin); /* the record may have fewer fields */
    span->end = at + i;
    return true;
}

#else

static bool near_span(const struct lines_order *order, const struct key *key, struct span *span,
                      const char *limit)
{
    (void)order, (void)key, (void)span, (void)limit;
    return false;
}

#endif

/* Skips n fields that blanks separate. */
static const char *skip_fields(const char *at, const char *end, size_t n)
{
    while (at < end && n--) at = find_blank(skip_blanks(at, end), end);
    return at;
}

/* Skips n fields with their delimiters. */
static const char *skip_delimited(const char *at, const char *end, size_t n, char delimiter)
{
    while (at < end && n--) {
        const char *found = memchr(at, delimiter, (size_t)(end - at));
        at = found ? found + 1 : end;
    }
    return at;
}

static const char *advance(const char *at, const char *end, size_t n)
{
    return n < (size_t)(end - at) ? at + n : end;
}

/* at is the beginning of field from, which is not after the last field. */
static const char *find_last(const struct lines_order *order, const struct key *key, const char *at,
                             const char *end, size_t from)
{
    const size_t fields = key->last_field - from;
    const bool blanks = order->delimiter == LINES_BLANKS;
    if (key->last_char == 0) { /* all of the field, without its delimiter */
        if (blanks) return skip_fields(at, end, fields + 1);
        at = skip_delimited(at, end, fields, (char)order->delimiter);
        const char *found = at < end ? memchr(at, order->delimiter, (size_t)(end - at)) : NULL;
        return found ? found : end;
    }
    at = blanks ? skip_fields(at, end, fields)
                : skip_delimited(at, end, fields, (char)order->delimiter);
    if (key->skip_end) at = skip_blanks(at, end);
    return advance(at, end, key->last_char);
}

static struct span plain_span(const struct lines_order *order, const struct key *key,
                              const char *record, const char *end, const char *limit)
{
    struct span span = { record, end, false, false };
    if (!near_span(order, key, &span, limit)) {
        if (key->first_field)
            span.at = order->delimiter == LINES_BLANKS
                          ? skip_fields(record, end, key->first_field)
                          : skip_delimited(record, end, key->first_field, (char)order->delimiter);
        if (key->last_field != SIZE_MAX) {
            const bool after = key->last_field >= key->first_field;
            span.end =
                find_last(order, key, after ? span.at : record, end, after ? key->first_field : 0);
        }
    }
    if (key->skip_start) span.at = skip_blanks(span.at, end);
    if (key->first_char) span.at = advance(span.at, end, key->first_char);
    if (span.end < span.at) span.end = span.at;
    return span;
}

/* ---- CSV ---- */

/* The end of the field at at: its delimiter, or end.  *quotes: whether it contains quotes. */
static const char *quoted_end(const char *at, const char *end, char delimiter, bool *quotes)
{
    bool inside = false;
    for (; at < end && (inside || *at != delimiter); at++) {
        if (*at != '"') continue;
        inside = !inside;
        *quotes = true;
    }
    return at;
}

/* Skips n fields with their delimiters; *past is set if the record has fewer. */
static const char *skip_quoted(const char *at, const char *end, size_t n, char delimiter)
{
    bool quotes;
    while (at < end && n--) {
        at = quoted_end(at, end, delimiter, &quotes);
        if (at < end) at++;
    }
    return at;
}

/* Reads the next byte of values; a quote at the end of a value may follow. */
static int read_value(struct span *span)
{
    while (span->at < span->end) {
        const char c = *span->at++;
        if (c != '"') return (unsigned char)c;
        if (!span->inside) {
            span->inside = true;
        } else if (span->at < span->end && *span->at == '"') {
            span->at++;
            return '"';
        } else {
            span->inside = false;
        }
    }
    return -1;
}

static void skip_value_blanks(struct span *span)
{
    for (struct span next = *span; next.at < next.end;) {
        const int c = read_value(&next);
        if (c < 0 || !is_blank((char)c)) return;
        *span = next;
    }
}

static void skip_values(struct span *span, size_t n)
{
    while (n-- && read_value(span) >= 0) {
    }
}

static struct span quoted_span(const struct lines_order *order, const struct key *key,
                               const char *record, const char *end)
{
    const char delimiter = (char)order->delimiter;
    struct span span = { record, end, true, false };
    span.at = skip_quoted(record, end, key->first_field, delimiter);
    const char *stop = end;
    bool quotes = true;
    if (key->last_field != SIZE_MAX) {
        const bool same = key->last_field == key->first_field;
        stop = same ? span.at : skip_quoted(record, end, key->last_field, delimiter);
        if (key->last_char) {
            struct span last = { stop, end, true, false };
            if (key->skip_end) skip_value_blanks(&last);
            skip_values(&last, key->last_char);
            stop = last.at;
        } else {
            bool found = false;
            stop = quoted_end(stop, end, delimiter, &found);
            if (same) quotes = found;
        }
    }
    span.end = stop < span.at ? span.at : stop;
    span.quoted = quotes;
    if (!quotes && key->first_char == 0 && !key->skip_start) return span;
    if (key->skip_start) skip_value_blanks(&span);
    skip_values(&span, key->first_char);
    return span;
}

struct span lines_span_of(const struct lines_order *order, const struct key *key,
                          const char *record, size_t bytes, const char *limit)
{
    const char *end = record + bytes;
    if (!order->csv || key->keep_quotes) return plain_span(order, key, record, end, limit);
    if (bytes && end[-1] == '\r') end--; /* part of the end of a CSV record */
    return quoted_span(order, key, record, end);
}

/* ---- Readers ---- */

struct reader lines_reader(const struct key *key, struct span span)
{
    return (struct reader){ .span = span, .map = key->filtered ? key->map : NULL };
}

int lines_read(struct reader *reader)
{
    struct span *span = &reader->span;
    for (;;) {
        const int c = span->quoted           ? read_value(span)
                      : span->at < span->end ? (unsigned char)*span->at++
                                             : -1;
        if (c < 0 || !reader->map) return c;
        if (reader->map[c] != DROPPED) return reader->map[c];
    }
}

size_t lines_read_some(struct reader *reader, char *to, size_t room)
{
    size_t n = 0;
    for (int c; n < room && (c = lines_read(reader)) >= 0;) to[n++] = (char)c;
    return n;
}
