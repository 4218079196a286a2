/*
 * lines/gather.c - copies the records of a sorted block in order.
 *
 * The bytes of each chunk of records are summed after the sort, so that the threads know where each
 * chunk begins in the output.  Then the place of each record is stored, too, so that copies read
 * only the text in random order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/threads.h"
#include "lines/order.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 11 /* records */ };

static uint64_t n_chunks(const struct lines_sorted *s)
{
    return (s->n + CHUNK - 1) / CHUNK;
}

/* A span is the offset of a record, and above it the length with a terminator. */
enum { OFFSET_BITS = 40 };
#define OFFSET_MASK (((uint64_t)1 << OFFSET_BITS) - 1)
#define MOST_LENGTH (UINT64_MAX >> OFFSET_BITS) /* stands for all lengths from it on */

/* The i-th record in order, and its length with a terminator. */
static const char *find_record(const struct lines_sorted *s, uint64_t i, size_t *bytes)
{
    const uint64_t record = load_uint(s->index, s->index_bytes, i);
    const uint64_t begin = load_uint(s->begins, s->begin_bytes, record);
    *bytes = (size_t)(load_uint(s->begins, s->begin_bytes, record + 1) - begin);
    return s->text + begin;
}

static inline const char *record_at(const struct lines_sorted *s, uint64_t i, size_t *bytes)
{
    if (!s->spans) return find_record(s, i, bytes);
    const uint64_t span = s->spans[i];
    *bytes = (size_t)(span >> OFFSET_BITS);
    if (*bytes == MOST_LENGTH) return find_record(s, i, bytes);
    return s->text + (span & OFFSET_MASK);
}

const char *lines_record(const struct lines_sorted *sorted, uint64_t i, size_t *bytes)
{
    const char *record = record_at(sorted, i, bytes);
    --*bytes;
    return record;
}

/* ---- Sums ---- */

static void sum_chunk(void *arg, int chunk)
{
    enum { AHEAD = 64 };
    const struct lines_sorted *s = arg;
    const uint64_t from = (uint64_t)chunk * CHUNK;
    const uint64_t to = s->n - from < CHUNK ? s->n : from + CHUNK;
    uint64_t sum = 0;
    for (uint64_t i = from; i < to; i++) {
        size_t bytes;
        if (i + AHEAD < to)
            __builtin_prefetch((const char *)s->begins +
                               load_uint(s->index, s->index_bytes, i + AHEAD) * s->begin_bytes);
        const char *record = find_record(s, i, &bytes);
        sum += bytes;
        if (!s->spans) continue;
        const uint64_t kept = bytes < MOST_LENGTH ? bytes : MOST_LENGTH;
        s->spans[i] = kept << OFFSET_BITS | (uint64_t)(record - s->text);
    }
    s->sums[chunk + 1] = sum;
}

bool lines_sum(struct lines_sorted *sorted, int threads)
{
    const uint64_t n = n_chunks(sorted);
    if (sorted->bytes > OFFSET_MASK) {
        free(sorted->spans);
        sorted->spans = NULL;
    }
    sorted->sums = malloc((size_t)(n + 1) * sizeof *sorted->sums);
    if (!sorted->sums) return false;
    sorted->sums[0] = 0;
    io_for_each_by(threads, (int)n, sum_chunk, sorted);
    for (uint64_t i = 0; i < n; i++) sorted->sums[i + 1] += sorted->sums[i];
    sorted->out_bytes = sorted->sums[n];
    return true;
}

/* ---- Copies ---- */

struct gather {
    const struct lines_sorted *sorted;
    uint64_t first;    /* chunk */
    uint64_t from, to; /* bytes of the output that are copied */
    char *out;         /* byte from */
};

/* Copies n bytes of a record, with its terminator, from byte skip. */
static void copy_record(const struct lines_sorted *s, const char *record, size_t bytes, size_t skip,
                        size_t n, char *to)
{
    const size_t left = s->bytes - (size_t)(record - s->text); /* one less without a terminator */
    if (left >= bytes) {
        memcpy(to, record + skip, n);
        return;
    }
    const size_t body = bytes - 1 > skip ? bytes - 1 - skip : 0;
    memcpy(to, record + skip, n < body ? n : body);
    if (n > body) to[n - 1] = s->terminator;
}

static void copy_chunk(void *arg, int i)
{
    enum { INDEX_AHEAD = 96, TEXT_AHEAD = 64, SHORT = 32, LINE = 64 };
    const struct gather *g = arg;
    const struct lines_sorted *s = g->sorted;
    const uint64_t chunk = g->first + (uint64_t)i, first = chunk * CHUNK;
    const uint64_t end = s->n - first < CHUNK ? s->n : first + CHUNK;
    uint64_t at = s->sums[chunk];
    const uint64_t stop = s->sums[chunk + 1] < g->to ? s->sums[chunk + 1] : g->to;
    for (uint64_t r = first; r < end && at < g->to; r++) {
        size_t bytes;
        if (!s->spans && r + INDEX_AHEAD < end)
            __builtin_prefetch((const char *)s->begins +
                               load_uint(s->index, s->index_bytes, r + INDEX_AHEAD) *
                                   s->begin_bytes);
        if (r + TEXT_AHEAD < end) {
            size_t other;
            const char *ahead = record_at(s, r + TEXT_AHEAD, &other);
            __builtin_prefetch(ahead);
            __builtin_prefetch(ahead + (other < SHORT ? SHORT : other) - 1);
        }
        const char *record = record_at(s, r, &bytes);
        const uint64_t skip = at < g->from ? g->from - at : 0;
        if (skip == 0 && bytes <= LINE && stop - at >= LINE &&
            s->bytes - (size_t)(record - s->text) >= LINE) {
            /* The bytes after the record are replaced by the next one. */
            char *to = g->out + (at - g->from);
            memcpy(to, record, SHORT);
            if (bytes > SHORT) memcpy(to + SHORT, record + SHORT, LINE - SHORT);
        } else if (skip < bytes) {
            const uint64_t end_byte = g->to - at < bytes ? g->to - at : bytes;
            copy_record(s, record, bytes, (size_t)skip, (size_t)(end_byte - skip),
                        g->out + (at + skip - g->from));
        }
        at += bytes;
    }
}

/* The last chunk that begins at or before a byte of the output. */
static uint64_t find_chunk(const struct lines_sorted *s, uint64_t byte)
{
    uint64_t low = 0, high = n_chunks(s);
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (s->sums[middle] <= byte)
            low = middle;
        else
            high = middle;
    }
    return low;
}

size_t lines_gather(const struct lines_sorted *sorted, struct lines_cursor *cursor, char *to,
                    size_t room, int threads)
{
    const uint64_t left = sorted->out_bytes - cursor->at;
    const size_t n = left < room ? (size_t)left : room;
    if (n == 0) return 0;
    struct gather g = { .sorted = sorted,
                        .from = cursor->at,
                        .to = cursor->at + n,
                        .out = to,
                        .first = find_chunk(sorted, cursor->at) };
    const uint64_t last = find_chunk(sorted, g.to - 1);
    io_for_each_by(threads, (int)(last - g.first + 1), copy_chunk, &g);
    cursor->at += n;
    return n;
}
