/*
 * lines/record.c - where the records of a block begin and end.
 *
 * A block is divided into chunks, and all threads count the terminators of the chunks, then store
 * the offsets.
 *
 * Where a record of CSV ends is defined by io_record_end(): a quote opens a value only at the begin
 * of a field.  For a search by all threads, a newline ends a record if the number of quotes before
 * it is even, so the quotes of the chunks are counted first.  Both are the same if every quote is
 * in its place: a quote after an even number of quotes begins a field, or follows the quote that
 * closed the value, which makes both one quote of the value; a quote after an odd number is
 * followed by a quote, or by the end of the field.  Then, from quote to quote, an odd number of
 * quotes is the same as being inside a value.  The search reports the first quote that is not in
 * its place; then lines_split() fails, and other functions read one record after the other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/io.h"
#include "io/threads.h"
#include "lines/quick.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { CHUNK_BYTES = 1 << 18 };

/* ---- One record ---- */

char lines_terminator(const struct lines_order *order)
{
    return order->terminator;
}

/* The length of the next CSV record. */
static size_t next_quoted(const struct lines_order *order, const char *text, size_t bytes)
{
    const char *open, *end = text + bytes;
    const char *newline = io_record_end(text, end, (char)order->delimiter, &open);
    return newline < end ? (size_t)(newline - text) + 1 : bytes;
}

size_t lines_next(const struct lines_order *order, const char *text, size_t bytes)
{
    if (order->csv) return next_quoted(order, text, bytes);
    const char *end = bytes ? memchr(text, order->terminator, bytes) : NULL;
    return end ? (size_t)(end - text) + 1 : bytes;
}

size_t lines_body(const struct lines_order *order, const char *record, size_t bytes)
{
    if (bytes == 0 || record[bytes - 1] != order->terminator) return bytes;
    /* Without its terminator, a CSV record may end in a newline between quotes. */
    if (order->csv && memchr(record, '"', bytes)) {
        const char *open, *end = record + bytes;
        if (io_record_end(record, end, (char)order->delimiter, &open) == end) return bytes;
    }
    return bytes - 1;
}

size_t lines_head(const struct lines_order *order, const char *text, size_t bytes, bool *whole)
{
    static const char mark[] = "\xEF\xBB\xBF";
    const size_t mark_bytes = sizeof mark - 1;
    *whole = true;
    if (!order->header && !order->csv) return 0;
    size_t head = 0;
    if (bytes >= mark_bytes && memcmp(text, mark, mark_bytes) == 0) head = mark_bytes;
    if (bytes < mark_bytes && memcmp(text, mark, bytes) == 0) *whole = false;
    if (!order->header) return head;
    const size_t first = lines_next(order, text + head, bytes - head);
    *whole = first && lines_body(order, text + head, first) < first;
    return head + first;
}

/* ---- Blocks ---- */

struct chunk {
    uint64_t quotes, ends; /* of this chunk; then before it */
};

struct split {
    const struct lines_order *order;
    const char *text;
    size_t bytes, n_chunks;
    struct chunk *chunks;
    void *begins;
    size_t begin_bytes;
    atomic_size_t misplaced; /* offset of the first quote of CSV in a wrong place; SIZE_MAX: none */
};

static void chunk_range(const struct split *s, int i, size_t *from, size_t *to)
{
    *from = (size_t)i * CHUNK_BYTES;
    *to = s->bytes - *from < CHUNK_BYTES ? s->bytes : *from + CHUNK_BYTES;
}

static uint64_t count_byte(const char *text, size_t n, char byte)
{
    enum { STEP = 128 }; /* a sum of 128 fits in a byte, so that the loop uses vectors of bytes */
    uint64_t total = 0;
    size_t i = 0;
    for (; n - i >= STEP; i += STEP) {
        uint8_t sum = 0;
        for (size_t j = 0; j < STEP; j++) sum = (uint8_t)(sum + (text[i + j] == byte));
        total += sum;
    }
    for (; i < n; i++) total += text[i] == byte;
    return total;
}

static void count_quotes(void *arg, int i)
{
    struct split *s = arg;
    size_t from, to;
    chunk_range(s, i, &from, &to);
    s->chunks[i].quotes = count_byte(s->text + from, to - from, '"');
}

/* Counts the ends.  If begins is NULL, also finds the first quote that is not in its place;
 * otherwise stores the offset after each end. */
static uint64_t find_quoted_ends(struct split *s, size_t from, size_t to, bool quoted, void *begins,
                                 uint64_t at)
{
    const struct quoted_text q = { .text = s->text,
                                   .bytes = s->bytes,
                                   .begin_bytes = s->begin_bytes,
                                   .delimiter = (char)s->order->delimiter,
                                   .misplaced = &s->misplaced };
    size_t i = to;
    uint64_t n = lines_quick_quoted(&q, from, &i, &quoted, begins, at);
    for (; i < to; i++) {
        if (s->text[i] == '"') {
            if (!begins && !lines_is_in_place(&q, i, !quoted)) lines_set_misplaced(&q, i);
            quoted = !quoted;
        }
        if (s->text[i] != '\n' || quoted) continue;
        n++;
        if (begins) store_uint(begins, s->begin_bytes, at + n, i + 1);
    }
    return n;
}

static void count_ends(void *arg, int i)
{
    struct split *s = arg;
    size_t from, to;
    chunk_range(s, i, &from, &to);
    s->chunks[i].ends = s->order->csv
                            ? find_quoted_ends(s, from, to, s->chunks[i].quotes & 1, NULL, 0)
                            : count_byte(s->text + from, to - from, s->order->terminator);
}

/* Stores the ends in whole blocks of 64 bytes; returns where it stops. */
static const char *store_ends(const struct split *s, const char *p, const char *end, uint64_t *at)
{
#ifdef __SSE2__
    const __m128i byte = _mm_set1_epi8(s->order->terminator);
    for (; end - p >= 64; p += 64) {
        uint64_t ends = 0;
        for (int i = 0; i < 4; i++) {
            const __m128i text = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
            ends |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(text, byte)) << 16 * i;
        }
        for (; ends; ends &= ends - 1)
            store_uint(s->begins, s->begin_bytes, ++*at,
                       (uint64_t)(p - s->text) + (uint64_t)__builtin_ctzll(ends) + 1);
    }
#else
    (void)s, (void)end, (void)at;
#endif
    return p;
}

static void store_begins(void *arg, int i)
{
    struct split *s = arg;
    size_t from, to;
    chunk_range(s, i, &from, &to);
    uint64_t at = s->chunks[i].ends;
    if (s->order->csv) {
        find_quoted_ends(s, from, to, s->chunks[i].quotes & 1, s->begins, at);
        return;
    }
    const char *p = s->text + from, *end = s->text + to;
    p = store_ends(s, p, end, &at);
    while (p < end && (p = memchr(p, s->order->terminator, (size_t)(end - p)))) {
        p++;
        store_uint(s->begins, s->begin_bytes, ++at, (uint64_t)(p - s->text));
    }
}

/* Counts the ends of all chunks and returns their number; then chunk i has the numbers before it.
 * Returns UINT64_MAX if out of memory. */
static uint64_t count_chunks(struct split *s, int threads)
{
    s->n_chunks = (s->bytes + CHUNK_BYTES - 1) / CHUNK_BYTES;
    s->chunks = calloc(s->n_chunks + 1, sizeof *s->chunks);
    if (!s->chunks) return UINT64_MAX;
    uint64_t quotes = 0, ends = 0;
    if (s->order->csv) io_for_each_by(threads, (int)s->n_chunks, count_quotes, s);
    for (size_t i = 0; i < s->n_chunks; i++) {
        const uint64_t n = s->chunks[i].quotes;
        s->chunks[i].quotes = quotes;
        quotes += n;
    }
    io_for_each_by(threads, (int)s->n_chunks, count_ends, s);
    for (size_t i = 0; i < s->n_chunks; i++) {
        const uint64_t n = s->chunks[i].ends;
        s->chunks[i].ends = ends;
        ends += n;
    }
    s->chunks[s->n_chunks].quotes = quotes;
    return ends;
}

/* Whether the block ends in a terminator, given the number of its quotes. */
static bool is_ended(const struct split *s)
{
    return s->bytes && s->text[s->bytes - 1] == s->order->terminator &&
           !(s->order->csv && s->chunks[s->n_chunks].quotes & 1);
}

uint64_t lines_count(const struct lines_order *order, const char *text, size_t bytes, int threads)
{
    struct split s = { .order = order, .text = text, .bytes = bytes, .misplaced = SIZE_MAX };
    uint64_t n = count_chunks(&s, threads);
    if (n != UINT64_MAX) n += bytes && !is_ended(&s);
    free(s.chunks);
    if (n != UINT64_MAX && s.misplaced == SIZE_MAX) return n;
    n = 0;
    for (size_t at = 0; at < bytes; at += lines_next(order, text + at, bytes - at)) n++;
    return n;
}

size_t lines_complete(const struct lines_order *order, const char *text, size_t bytes, int threads,
                      size_t *misplaced)
{
    if (misplaced) *misplaced = SIZE_MAX;
    if (!order->csv) {
        while (bytes && text[bytes - 1] != order->terminator) bytes--;
        return bytes;
    }
    struct split s = { .order = order, .text = text, .bytes = bytes, .misplaced = SIZE_MAX };
    const bool counted = count_chunks(&s, threads) != UINT64_MAX;
    bool quoted = counted && s.chunks[s.n_chunks].quotes & 1;
    free(s.chunks);
    if (misplaced) *misplaced = s.misplaced;
    if (counted && s.misplaced == SIZE_MAX) {
        for (; bytes; bytes--) { /* backwards, so that the state is that after text[bytes - 1] */
            if (text[bytes - 1] == '\n' && !quoted) break;
            quoted ^= text[bytes - 1] == '"';
        }
        return bytes;
    }
    size_t at = 0;
    for (size_t n; at < bytes; at += n) {
        n = lines_next(order, text + at, bytes - at);
        if (at + n == bytes && lines_body(order, text + at, n) == n) break;
    }
    return at;
}

/* The quote that is not closed: the last one, because the others are pairs. */
static size_t last_quote(const char *text, size_t bytes)
{
    while (bytes && text[bytes - 1] != '"') bytes--;
    return bytes ? bytes - 1 : 0;
}

size_t lines_open_quote(const char *text, size_t bytes)
{
    return count_byte(text, bytes, '"') & 1 ? last_quote(text, bytes) : SIZE_MAX;
}

size_t lines_misplaced(const struct lines_order *order, const char *text, size_t bytes, int threads)
{
    struct split s = { .order = order, .text = text, .bytes = bytes, .misplaced = SIZE_MAX };
    if (!order->csv || count_chunks(&s, threads) == UINT64_MAX) return SIZE_MAX;
    const bool open = s.chunks[s.n_chunks].quotes & 1;
    free(s.chunks);
    return s.misplaced == SIZE_MAX && open ? last_quote(text, bytes) : s.misplaced;
}

void lines_quote_error(const char *text, size_t bytes, size_t at, char error[LINES_ERROR])
{
    enum { AROUND = 24 };
    const size_t from = at < AROUND ? 0 : at - AROUND;
    const size_t to = bytes - at < AROUND ? bytes : at + AROUND;
    snprintf(error, LINES_ERROR,
             "a quote is inside a field without quotes, does not end a field, or is not closed; "
             "near: %.*s",
             (int)(to - from), text + from);
}

uint64_t lines_split(const struct lines_order *order, const char *text, size_t bytes, int threads,
                     void **begins, size_t *begin_bytes, size_t *misplaced)
{
    struct split s = { .order = order, .text = text, .bytes = bytes, .misplaced = SIZE_MAX };
    *begins = NULL;
    s.begin_bytes = *begin_bytes = bytes < UINT32_MAX ? 4 : 8;
    uint64_t n = count_chunks(&s, threads);
    if (n == UINT64_MAX) return n;
    const bool ended = is_ended(&s);
    const uint64_t records = n + (bytes && !ended);
    s.begins =
        records < PTRDIFF_MAX / 8 ? lines_allocate((size_t)(records + 1) * s.begin_bytes) : NULL;
    if (s.begins) {
        store_uint(s.begins, s.begin_bytes, 0, 0);
        io_for_each_by(threads, (int)s.n_chunks, store_begins, &s);
        if (bytes && !ended) store_uint(s.begins, s.begin_bytes, records, bytes + 1);
    }
    *misplaced = s.misplaced;
    if (order->csv && *misplaced == SIZE_MAX && s.chunks[s.n_chunks].quotes & 1)
        *misplaced = last_quote(text, bytes);
    free(s.chunks);
    *begins = s.begins;
    return s.begins ? records : UINT64_MAX;
}
