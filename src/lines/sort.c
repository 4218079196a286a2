/*
 * lines/sort.c - sorts the records of a block in memory.
 *
 *     records -> words of 7 bytes of their keys -> ech_sort_pairs() -> ties -> next words -> ...
 *
 * A word and the position of its record are sorted as key and value.  Small ties are sorted by one
 * thread each (ties.c), large ones by the library, as the whole block is.  The first two words of a
 * key are stored, while the record is in the cache.  Other words are encoded again for a tie, so
 * that the memory depends only on the number of records.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/threads.h"
#include "lines/quick.h"
#include "lines/repeat.h"
#include "lines/ties.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 1 << 12, /* records that a thread takes at a time, a multiple of 64 */
    LARGE = 1 << 14, /* a tie with more records is sorted by all threads */
    FEW = 1 << 10    /* a block with fewer records is sorted by one thread */
};

/* Records that agree in their first depth bytes, which the library sorts. */
struct range {
    uint64_t from, n;
    size_t depth;
};

struct work {
    struct block block;
    struct pool pool;
    struct range range;    /* that is being sorted */
    struct range *waiting; /* large ties */
    atomic_size_t n_waiting;
    atomic_size_t common;
    bool first;         /* the range is the block, whose index is the order of the records */
    bool has_next;      /* ties of the range are sorted by block.next */
    atomic_bool failed; /* out of memory */
};

/* ---- Passes over a range, by all threads ---- */

/* Chunk i of the range: positions [from, to) of the index; chunks begin at multiples of CHUNK. */
static void chunk_of(const struct work *w, int i, uint64_t *from, uint64_t *to)
{
    const uint64_t first = w->range.from, end = first + w->range.n;
    const uint64_t begin = (first / CHUNK + (uint64_t)i) * CHUNK;
    *from = begin < first ? first : begin;
    *to = end - begin < CHUNK ? end : begin + CHUNK;
}

static void each_chunk(struct work *w, void (*run)(void *arg, int i))
{
    const uint64_t first = w->range.from / CHUNK, end = w->range.from + w->range.n;
    io_for_each_by(w->block.threads, (int)((end + CHUNK - 1) / CHUNK - first), run, w);
}

static void number_records(const struct block *b, uint64_t from, uint64_t to)
{
    for (; from < to; from++) store_uint(b->index, b->index_bytes, from, from);
}

/* gcc removes calls of a function that only prefetches, because it has no result. */
#define INLINE static inline __attribute__((always_inline))

INLINE void prefetch(const struct block *b, uint64_t i, uint64_t end)
{
    enum { BEGINS_AHEAD = 32, TEXT_AHEAD = 16 };
    if (i + BEGINS_AHEAD < end)
        __builtin_prefetch((const char *)b->begins +
                           load_uint(b->index, b->index_bytes, i + BEGINS_AHEAD) * b->begin_bytes);
    if (i + TEXT_AHEAD < end)
        __builtin_prefetch(b->text +
                           load_uint(b->begins, b->begin_bytes,
                                     load_uint(b->index, b->index_bytes, i + TEXT_AHEAD)));
}

static void make_words(void *arg, int i)
{
    struct work *w = arg;
    const struct block *b = &w->block;
    uint64_t from, to;
    chunk_of(w, i, &from, &to);
    if (w->first) {
        number_records(b, from, to);
        if (b->order->common && (b->order->whole || !b->skip)) {
            lines_quick_words(b, from, to);
            return;
        }
        for (; from < to && b->next; from++) b->words[from] = block_words(b, from, &b->next[from]);
        for (; from < to; from++) b->words[from] = block_word(b, from, b->skip);
        return;
    }
    for (; from < to; from++) {
        prefetch(b, from, to);
        b->words[from] = block_word(b, load_uint(b->index, b->index_bytes, from), w->range.depth);
    }
}

/* A bit of the first and the last words of a chunk is in a word of the bitmap that another range
 * may share, but not at the same time. */
static void mark_ties(void *arg, int i)
{
    struct work *w = arg;
    const struct block *b = &w->block;
    uint64_t from, to;
    chunk_of(w, i, &from, &to);
    while (from < to) {
        const uint64_t first = from % 64, n = to - from < 64 - first ? to - from : 64 - first;
        uint64_t bits = from == w->range.from;
        for (uint64_t j = bits; j < n; j++)
            bits |= (uint64_t)(b->words[from + j] != b->words[from + j - 1]) << j;
        const uint64_t mask = (n < 64 ? ((uint64_t)1 << n) - 1 : UINT64_MAX) << first;
        b->ties[from / 64] = (b->ties[from / 64] & ~mask) | bits << first;
        from += n;
    }
}

/* The first position from at on whose word differs from the one before (differs 1), or is the same
 * (differs 0); end if there is none. */
static uint64_t find_mark(const struct block *b, uint64_t at, uint64_t end, bool differs)
{
    while (at < end) {
        const uint64_t bits = (differs ? b->ties[at / 64] : ~b->ties[at / 64]) >> at % 64;
        if (bits) {
            at += (uint64_t)__builtin_ctzll(bits);
            return at < end ? at : end;
        }
        at = (at / 64 + 1) * 64;
    }
    return end;
}

static void sort_one_tie(struct work *w, uint64_t from, uint64_t n)
{
    enum { SEVERAL = 8 };
    const struct block *b = &w->block;
    if ((b->words[from] & 0xff) < WORD_MORE ||
        (!w->has_next && n >= SEVERAL && lines_are_same(b, from, n))) {
        /* equal keys */
        for (uint64_t i = 1; b->drops && i < n; i++)
            b->drops[load_uint(b->index, b->index_bytes, from + i)] = 1;
        return;
    }
    const size_t depth = w->range.depth + WORD_BYTES;
    if (n > LARGE) {
        const size_t slot = atomic_fetch_add(&w->n_waiting, 1);
        w->waiting[slot] = (struct range){ from, n, depth };
    } else if (w->has_next ? !lines_sort_next(b, from, n) : !lines_sort_tie(b, from, n, depth)) {
        atomic_store(&w->failed, true);
    }
}

/* Loads the records of ties, so that their misses of the cache overlap. */
INLINE void prefetch_ties(const struct block *b, uint64_t from, uint64_t to, size_t depth)
{
    for (uint64_t i = from; i < to; i++)
        __builtin_prefetch((const char *)b->begins +
                           load_uint(b->index, b->index_bytes, i) * b->begin_bytes);
    for (uint64_t i = from; i < to; i++)
        __builtin_prefetch(
            b->text + depth +
            load_uint(b->begins, b->begin_bytes, load_uint(b->index, b->index_bytes, i)));
}

INLINE void prefetch_next(const struct block *b, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        __builtin_prefetch(&b->next[load_uint(b->index, b->index_bytes, i)]);
}

/* The ties that begin in a chunk. */
static void sort_ties(void *arg, int i)
{
    enum { AHEAD = 128 };
    struct work *w = arg;
    const struct block *b = &w->block;
    const uint64_t end = w->range.from + w->range.n;
    uint64_t from, to;
    chunk_of(w, i, &from, &to);
    /* A tie that continues from the chunk before is not sorted here. */
    from = find_mark(b, from, end, true);
    uint64_t loaded = from;
    for (;;) {
        from = find_mark(b, from + 1, end, false) - 1;
        if (from >= to || from + 1 >= end) return;
        const uint64_t next = find_mark(b, from + 1, end, true);
        if (next > loaded && next - from <= AHEAD) {
            /* Other threads write the index behind the ties of this chunk. */
            const uint64_t last = next < to ? to : next;
            const uint64_t stop = last - from < AHEAD ? last : from + AHEAD;
            if (w->has_next)
                prefetch_next(b, from, stop);
            else
                prefetch_ties(b, from, stop, b->order->whole ? w->range.depth : 0);
            loaded = stop;
        }
        sort_one_tie(w, from, next - from);
        from = next;
    }
}

static void find_common(void *arg, int i)
{
    struct work *w = arg;
    uint64_t from, to;
    chunk_of(w, i, &from, &to);
    /* With the first record of the range, so that all chunks have the same prefix. */
    size_t common = lines_common(&w->block, w->range.from, from, to, w->range.depth);
    size_t now = atomic_load(&w->common);
    while (common < now && !atomic_compare_exchange_weak(&w->common, &now, common)) {
    }
}

/* ---- The common prefix of all keys ---- */

static const char *direct_key(const struct block *b, uint64_t record, size_t *n)
{
    size_t bytes;
    const char *text = block_record(b, record, &bytes);
    return lines_direct(b->order, text, bytes, n);
}

/* The first bytes, at most most, in which a key that is a part of the record agrees with first. */
static size_t agree(const struct block *b, uint64_t record, const char *first, size_t most)
{
    size_t n, i = 0;
    const char *key = direct_key(b, record, &n);
    if (n < most) most = n;
    if (memcmp(key, first, most) == 0) return most;
    while (key[i] == first[i]) i++;
    return i;
}

static void find_direct(void *arg, int i)
{
    struct work *w = arg;
    size_t n, now = atomic_load(&w->common);
    const char *first = direct_key(&w->block, 0, &n);
    uint64_t from, to;
    chunk_of(w, i, &from, &to);
    for (; from < to && now; from++) {
        const size_t common = agree(&w->block, from, first, now);
        if (common == now) continue;
        now = atomic_load(&w->common);
        while (common < now && !atomic_compare_exchange_weak(&w->common, &now, common)) {
        }
        now = atomic_load(&w->common);
    }
}

static void number_chunk(void *arg, int i)
{
    struct work *w = arg;
    uint64_t from, to;
    chunk_of(w, i, &from, &to);
    number_records(&w->block, from, to);
}

/* Words of keys that begin as all others would be the same.  A sample shows in most cases that
 * there is no such prefix, or that it is short. */
static void skip_prefix(struct work *w)
{
    enum { SAMPLE = 64, SHORT = 3 };
    struct block *b = &w->block;
    const bool direct = b->order->direct;
    size_t common;
    if (direct) {
        const char *first = direct_key(b, 0, &common);
        for (uint64_t i = 1; i <= SAMPLE && common > SHORT; i++)
            common = agree(b, b->n / (SAMPLE + 1) * i, first, common);
    } else {
        common = SIZE_MAX;
        for (uint64_t i = 1; i <= SAMPLE && common >= WORD_BYTES; i++) {
            const uint64_t record = b->n / (SAMPLE + 1) * i;
            store_uint(b->index, b->index_bytes, 0, 0);
            store_uint(b->index, b->index_bytes, 1, record);
            const size_t one = lines_common(b, 0, 1, 2, 0);
            if (one < common) common = one;
        }
    }
    if (common < (direct ? SHORT + 1 : WORD_BYTES)) return;
    each_chunk(w, number_chunk);
    atomic_store(&w->common, direct ? common : SIZE_MAX);
    each_chunk(w, direct ? find_direct : find_common);
    b->skip = w->range.depth = w->common;
}

/* ---- The sort ---- */

static ech_status sort_range(ech_ctx *ctx, struct work *w)
{
    struct block *b = &w->block;
    const struct range *r = &w->range;
    each_chunk(w, make_words);
    ech_sort_options options = { .size = sizeof options };
    ech_status status =
        ech_sort_pairs(ctx, b->words + r->from, (char *)b->index + r->from * b->index_bytes,
                       b->words + r->from, (char *)b->index + r->from * b->index_bytes,
                       (size_t)r->n, ECH_U64, b->index_bytes, &options);
    if (status != ECH_OK) return status;
    each_chunk(w, mark_ties);
    w->has_next = b->next && w->first;
    each_chunk(w, sort_ties);
    return ECH_OK;
}

static ech_status sort_all(ech_ctx *ctx, struct work *w, char error[LINES_ERROR])
{
    w->range = (struct range){ 0, w->block.n, 0 };
    if (w->block.n <= FEW) {
        number_records(&w->block, 0, w->block.n);
        if (w->block.n > 1 && !lines_sort_tie(&w->block, 0, w->block.n, 0)) return ECH_ERR_MEMORY;
        return ECH_OK;
    }
    skip_prefix(w);
    for (w->first = true; w->first || w->n_waiting; w->first = false) {
        if (!w->first) {
            w->range = w->waiting[--w->n_waiting];
            atomic_store(&w->common, SIZE_MAX);
            each_chunk(w, find_common);
            w->range.depth = w->common;
        }
        const ech_status status = sort_range(ctx, w);
        if (status != ECH_OK) {
            snprintf(error, LINES_ERROR, "%s", ech_error(ctx));
            return status;
        }
        if (w->failed) return ECH_ERR_MEMORY;
    }
    return ECH_OK;
}

static size_t index_bytes_of(uint64_t n)
{
    return n <= UINT32_MAX ? 4 : 8;
}

uint64_t lines_memory(const struct lines_order *order, size_t bytes, uint64_t n, int threads)
{
    const size_t index_bytes = index_bytes_of(n), begin_bytes = bytes < UINT32_MAX ? 4 : 8;
    size_t workspace = 0;
    ech_sort_options options = { .size = sizeof options };
    ech_sort_workspace("cpu", (size_t)n, ECH_U64, index_bytes, &options, &workspace);
    enum { FIXED = 8 << 20 }; /* also for arrays that end within a huge page */
    const uint64_t most = n < LARGE ? n : LARGE;
    const uint64_t used = (uint64_t)(threads > 0 ? threads : io_threads());
    return n * ((order->number ? 8 : 16) + index_bytes + begin_bytes + (order->unique ? 1 : 0)) +
           n / 8 + workspace + used * (lines_tie_bytes(order, (size_t)most) + 2 * LONG_WINDOW) +
           bytes / 1024 + FIXED;
}

/* Removes dropped records from the index. */
static void keep_unique(struct lines_sorted *sorted, const uint8_t *drops)
{
    uint64_t to = 0;
    for (uint64_t i = 0; i < sorted->n; i++) {
        const uint64_t record = load_uint(sorted->index, sorted->index_bytes, i);
        if (!drops[record]) store_uint(sorted->index, sorted->index_bytes, to++, record);
    }
    sorted->n = to;
}

static bool allocate(struct work *w, struct lines_sorted *sorted)
{
    struct block *b = &w->block;
    const size_t n = (size_t)b->n;
    b->index = sorted->index = lines_allocate(n * b->index_bytes);
    b->words = lines_allocate(n * sizeof *b->words);
    /* A number rarely needs a second word. */
    if (!b->order->number) b->next = lines_allocate(n * sizeof *b->next);
    b->ties = calloc(n / 64 + 1, sizeof *b->ties);
    w->waiting = malloc((n / LARGE + 1) * sizeof *w->waiting);
    if (b->order->unique) b->drops = calloc(n + 1, 1);
    return b->index && b->words && (b->next || b->order->number) && b->ties && w->waiting &&
           (b->drops || !b->order->unique);
}

/* Sorts the records of a block: sets the index, and leaves the words for the spans. */
static ech_status sort_block(ech_ctx *ctx, struct work *w, struct lines_sorted *sorted,
                             char error[LINES_ERROR])
{
    struct block *b = &w->block;
    b->index_bytes = sorted->index_bytes = index_bytes_of(b->n);
    sorted->n = b->n;
    b->pool = &w->pool;
    w->pool.bytes = lines_tie_bytes(b->order, b->n < LARGE ? (size_t)b->n : LARGE);
    const ech_status status = allocate(w, sorted) ? sort_all(ctx, w, error) : ECH_ERR_MEMORY;
    lines_free_pool(&w->pool);
    if (status == ECH_OK && b->drops) keep_unique(sorted, b->drops);
    sorted->spans = b->words;
    free(b->next);
    free(b->ties);
    free(b->drops);
    free(w->waiting);
    return status;
}

/* ---- Few different records ---- */

struct expansion {
    const uint32_t *index, *counts;
    uint32_t *to; /* the positions of the records in order, each as often as it occurs */
    uint64_t *starts;
    uint64_t n;
};

static void expand_chunk(void *arg, int i)
{
    const struct expansion *e = arg;
    const uint64_t from = (uint64_t)i * CHUNK, to = e->n - from < CHUNK ? e->n : from + CHUNK;
    uint32_t *out = e->to + e->starts[i];
    for (uint64_t j = from; j < to; j++) {
        const uint32_t record = e->index[j], count = e->counts[record];
        for (uint32_t k = 0; k < count; k++) *out++ = record;
    }
}

/* Repeats the records of a sorted block as often as they occur.  Returns false if memory lacks. */
static bool expand(struct lines_sorted *sorted, const struct repeats *r, int threads)
{
    struct expansion e = { .index = sorted->index, .counts = r->counts, .n = sorted->n };
    const uint64_t chunks = (e.n + CHUNK - 1) / CHUNK;
    uint64_t n = 0;
    e.starts = malloc((size_t)chunks * sizeof *e.starts);
    for (uint64_t i = 0; e.starts && i < e.n; i++) {
        if (i % CHUNK == 0) e.starts[i / CHUNK] = n;
        n += r->counts[e.index[i]];
    }
    if (e.starts) e.to = lines_allocate((size_t)n * sizeof *e.to);
    if (e.to) {
        io_for_each_by(threads, (int)chunks, expand_chunk, &e);
        free(sorted->index);
        free(sorted->spans);
        sorted->spans = NULL;
        sorted->index = e.to;
        sorted->n = n;
    }
    free(e.starts);
    return e.to != NULL;
}

/* Sorts different records.  Takes over the text and the begins. */
static ech_status sort_repeats(ech_ctx *ctx, const struct block *all, struct repeats *r,
                               struct lines_sorted *sorted, char error[LINES_ERROR])
{
    struct work w = { .block = { .order = all->order,
                                 .text = r->text,
                                 .bytes = r->bytes,
                                 .begins = r->begins,
                                 .begin_bytes = sizeof *r->begins,
                                 .n = r->n,
                                 .threads = all->threads } };
    free(sorted->begins);
    sorted->text = sorted->copy = r->text;
    sorted->bytes = r->bytes;
    sorted->begins = r->begins;
    sorted->begin_bytes = sizeof *r->begins;
    r->text = NULL;
    r->begins = NULL;
    const ech_status status = sort_block(ctx, &w, sorted, error);
    if (status != ECH_OK || all->order->unique) return status;
    return expand(sorted, r, all->threads) ? ECH_OK : ECH_ERR_MEMORY;
}

ech_status lines_sort(ech_ctx *ctx, const struct lines_order *order, const char *text, size_t bytes,
                      int threads, struct lines_sorted *sorted, char error[LINES_ERROR])
{
    struct work w = { .block = {
                          .order = order, .text = text, .bytes = bytes, .threads = threads } };
    struct block *b = &w.block;
    struct repeats repeats;
    *sorted =
        (struct lines_sorted){ .text = text, .bytes = bytes, .terminator = order->terminator };
    snprintf(error, LINES_ERROR, "out of memory for the records of %zu bytes of text", bytes);
    size_t misplaced = SIZE_MAX;
    b->n =
        lines_split(order, text, bytes, threads, &sorted->begins, &sorted->begin_bytes, &misplaced);
    if (b->n == UINT64_MAX) return ECH_ERR_MEMORY;
    if (misplaced != SIZE_MAX) {
        lines_free(sorted);
        lines_quote_error(text, bytes, misplaced, error);
        return ECH_ERR_ARG;
    }
    b->begins = sorted->begins;
    b->begin_bytes = sorted->begin_bytes;
    sorted->n_read = b->n;
    ech_status status = lines_find_repeats(b, &repeats)
                            ? sort_repeats(ctx, b, &repeats, sorted, error)
                            : sort_block(ctx, &w, sorted, error);
    lines_free_repeats(&repeats);
    if (status == ECH_OK && !lines_sum(sorted, threads)) status = ECH_ERR_MEMORY;
    if (status != ECH_OK) lines_free(sorted);
    return status;
}

void lines_free(struct lines_sorted *sorted)
{
    free(sorted->begins);
    free(sorted->index);
    free(sorted->sums);
    free(sorted->copy);
    free(sorted->spans);
    *sorted = (struct lines_sorted){ 0 };
}
