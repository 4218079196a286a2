/*
 * lines/repeat.c - blocks in which few records differ: each different record is sorted once.
 *
 *     sample -> table of hashes, by all threads -> different records and their counts
 *
 * A slot of the table has the offset of a record and some bits of its hash.  Records with the same
 * bits are compared byte by byte, so a block of records that only have the same hash costs time,
 * but is sorted correctly.  The table is abandoned if more records differ than the sample
 * suggests.  It needs no more memory than the words of all records would.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "lines/repeat.h"

#include "io/threads.h"
#include "lines/hash.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST = 1 << 14, /* a block with fewer records is not examined */
    SAMPLE = 1 << 11,
    BATCH = 32,
    MOST_PROBES = 64,
    OFFSET_BITS = 40
};

static const uint64_t offset_mask = ((uint64_t)1 << OFFSET_BITS) - 1;

struct table {
    const struct block *block;
    _Atomic uint64_t *slots; /* [slots] 0: free; otherwise 1 plus an offset, and bits of a hash */
    uint32_t *counts;        /* [parts][slots] */
    size_t mask, parts, most;
    atomic_size_t used; /* slots */
    atomic_bool full;
};

static inline bool same_bytes(const char *a, const char *b, size_t n, const char *limit)
{
    if (n <= HASH_SHORT && limit - a >= HASH_SHORT && limit - b >= HASH_SHORT) {
        const size_t more = n < 8 ? 0 : n - 8;
        return ((hash_load_masked(a, n) ^ hash_load_masked(b, n)) |
                (hash_load_masked(a + 8, more) ^ hash_load_masked(b + 8, more))) == 0;
    }
    if (n < 8) return memcmp(a, b, n) == 0;
    uint64_t differ = hash_load(a + n - 8) ^ hash_load(b + n - 8);
    for (; n > 8 && !differ; a += 8, b += 8, n -= 8) differ = hash_load(a) ^ hash_load(b);
    return !differ;
}

/* ---- The sample ---- */

/* An estimate of the number of different records: those of the sample, and as many others as the
 * counts of those that occur once and twice suggest (the estimator of Chao). */
static double estimate(const struct block *b)
{
    enum { SLOTS = 2 * SAMPLE };
    uint64_t keys[SLOTS] = { 0 };
    uint16_t counts[SLOTS] = { 0 };
    const char *limit = b->text + b->bytes;
    const uint64_t step = b->n / SAMPLE;
    uint64_t state = 1;
    double different = 0, once = 0, twice = 0;
    for (uint64_t i = 0; i < SAMPLE; i++) {
        size_t bytes;
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        const char *text = block_record(b, i * step + (state >> 33) % step, &bytes);
        const uint64_t key = hash_bytes(text, bytes, limit) | 1;
        size_t slot = key >> 53 << 1;
        while (keys[slot] && keys[slot] != key) slot = (slot + 1) % SLOTS;
        keys[slot] = key;
        const uint16_t before = counts[slot]++;
        different += before == 0;
        once += before == 0 ? 1 : before == 1 ? -1 : 0;
        twice += before == 1 ? 1 : before == 2 ? -1 : 0;
    }
    return different + once * once / (2 * (twice + 1));
}

/* ---- The table ---- */

/* Whether the record at an offset has the same bytes.  Its length is not stored: a record that
 * begins with these bytes and then has a terminator, or the end of the block, ends there. */
static bool is_same(const struct block *b, size_t offset, const char *text, size_t n)
{
    const char *other = b->text + offset, *limit = b->text + b->bytes;
    const size_t left = b->bytes - offset;
    if (left < n || (left > n && other[n] != b->order->terminator)) return false;
    return same_bytes(other, text, n, limit);
}

/* Counts a record.  Returns false if the table is full. */
static bool count_record(struct table *t, uint32_t *counts, const char *text, size_t n, uint64_t h)
{
    const uint64_t own = (uint64_t)(text - t->block->text) + 1, tag = h & ~offset_mask;
    size_t slot = (size_t)h & t->mask;
    for (int probe = 0; probe < MOST_PROBES; probe++, slot = (slot + 1) & t->mask) {
        /* A slot is written once, and what it stands for does not change. */
        uint64_t now = atomic_load_explicit(&t->slots[slot], memory_order_relaxed);
        if (!now) {
            if (atomic_compare_exchange_strong_explicit(
                    &t->slots[slot], &now, tag | own, memory_order_relaxed, memory_order_relaxed)) {
                counts[slot] = 1;
                return atomic_fetch_add_explicit(&t->used, 1, memory_order_relaxed) < t->most;
            }
        }
        if ((now & ~offset_mask) != tag) continue;
        if (!is_same(t->block, (size_t)(now & offset_mask) - 1, text, n)) continue;
        counts[slot]++;
        return true;
    }
    return false;
}

struct hashed {
    const char *text;
    size_t bytes;
    uint64_t hash;
};

static void count_batch(struct table *t, uint32_t *counts, uint64_t from, uint64_t n)
{
    const struct block *b = t->block;
    struct hashed batch[BATCH];
    for (uint64_t i = 0; i < n; i++) {
        struct hashed *one = &batch[i];
        one->text = block_record(b, from + i, &one->bytes);
        one->hash = hash_bytes(one->text, one->bytes, b->text + b->bytes);
        __builtin_prefetch((const void *)&t->slots[one->hash & t->mask]);
        __builtin_prefetch(&counts[one->hash & t->mask], 1);
    }
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t now =
            atomic_load_explicit(&t->slots[batch[i].hash & t->mask], memory_order_relaxed);
        if (now) __builtin_prefetch(b->text + (now & offset_mask) - 1);
    }
    for (uint64_t i = 0; i < n; i++)
        if (!count_record(t, counts, batch[i].text, batch[i].bytes, batch[i].hash)) {
            atomic_store_explicit(&t->full, true, memory_order_relaxed);
            return;
        }
}

static void count_part(void *arg, int part)
{
    struct table *t = arg;
    const uint64_t n = t->block->n, each = (n + t->parts - 1) / t->parts;
    const uint64_t from = each * (uint64_t)part < n ? each * (uint64_t)part : n;
    const uint64_t end = n - from < each ? n : from + each;
    uint32_t *counts = t->counts + (size_t)part * (t->mask + 1);
    for (uint64_t at = from; at < end; at += BATCH) {
        if (atomic_load_explicit(&t->full, memory_order_relaxed)) return;
        count_batch(t, counts, at, end - at < BATCH ? end - at : BATCH);
    }
}

/* ---- The different records ---- */

/* Copies them one after the other, each with a terminator.  Returns false if they are more than
 * room bytes, or memory lacks. */
static bool copy_records(const struct table *t, size_t room, struct repeats *r)
{
    const struct block *b = t->block;
    const size_t n = atomic_load(&t->used);
    r->text = lines_allocate(room);
    r->begins = malloc((n + 1) * sizeof *r->begins);
    r->counts = malloc((n + 1) * sizeof *r->counts);
    if (!r->text || !r->begins || !r->counts) return false;
    size_t at = 0;
    for (size_t slot = 0; slot <= t->mask; slot++) {
        const uint64_t now = atomic_load_explicit(&t->slots[slot], memory_order_relaxed);
        if (!now) continue;
        const size_t offset = (size_t)(now & offset_mask) - 1;
        size_t bytes = lines_next(b->order, b->text + offset, b->bytes - offset);
        bytes = lines_body(b->order, b->text + offset, bytes);
        if (room - at <= bytes) return false;
        memcpy(r->text + at, b->text + offset, bytes);
        r->text[at + bytes] = b->order->terminator;
        r->begins[r->n] = (uint32_t)at;
        uint64_t count = 0;
        for (size_t part = 0; part < t->parts; part++)
            count += t->counts[part * (t->mask + 1) + slot];
        r->counts[r->n++] = (uint32_t)count;
        at += bytes + 1;
    }
    r->begins[r->n] = (uint32_t)at;
    r->bytes = at;
    return true;
}

bool lines_find_repeats(const struct block *b, struct repeats *r)
{
    *r = (struct repeats){ 0 };
    if (b->n < LEAST || b->n > UINT32_MAX || b->bytes >= offset_mask || !b->order->total)
        return false;
    const double different = estimate(b);
    if (different > (double)b->n / 4) return false;
    struct table t = { .block = b, .parts = (size_t)(b->threads > 0 ? b->threads : io_threads()) };
    size_t slots = 1 << 10;
    while ((double)slots < 2 * different) slots *= 2;
    const size_t each = sizeof *t.slots + t.parts * sizeof *t.counts;
    const size_t room = (size_t)(b->n < UINT32_MAX / 8 ? 8 * b->n : UINT32_MAX - 1);
    if (slots * each > room) return false;
    t.mask = slots - 1;
    t.most = slots / 4 * 3 < b->n / 4 ? slots / 4 * 3 : (size_t)(b->n / 4);
    char *memory = lines_allocate(slots * each);
    if (!memory) return false;
    memset(memory, 0, slots * each);
    t.slots = (_Atomic uint64_t *)(void *)memory;
    t.counts = (uint32_t *)(void *)(memory + slots * sizeof *t.slots);
    io_for_each_by((int)t.parts, (int)t.parts, count_part, &t);
    const bool found = !atomic_load(&t.full) && copy_records(&t, room, r);
    free(memory);
    if (!found) lines_free_repeats(r);
    return found;
}

void lines_free_repeats(struct repeats *r)
{
    free(r->text);
    free(r->begins);
    free(r->counts);
    *r = (struct repeats){ 0 };
}
