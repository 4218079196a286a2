/*
 * lines/ties.c - sorts records whose full keys agree in their first bytes, by one thread.
 *
 *     tie -> words of the next 7 bytes -> stable merge sort -> smaller ties -> ...
 *
 * If all words agree, the common prefix of the keys is skipped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "lines/ties.h"

#include <stdlib.h>
#include <string.h>

/* A record of a tie, and the bytes of its full key from a depth on that is the same for all. */
struct item {
    uint64_t word, record;
    const unsigned char *key;
    size_t bytes; /* of key; with MORE, other bytes follow */
};

#define MORE ((size_t)1 << (8 * sizeof(size_t) - 1))

/* What is the same for all items of a tie. */
struct tie {
    const struct block *block;
    size_t base; /* depth of item.key */
};

enum { ON_STACK = 64, WINDOW = 1024, KEY_BYTES = 64, MOST_RANKED = 24 };

/* ---- Memory ---- */

/* malloc() would return the pages to the system and clear them again for each tie. */
static void *take_memory(const struct block *b, size_t bytes)
{
    if (bytes > b->pool->bytes) return malloc(bytes);
    for (int i = 0; i < POOL_SLOTS; i++) {
        if (!atomic_load_explicit(&b->pool->free[i], memory_order_relaxed)) continue;
        void *memory = atomic_exchange(&b->pool->free[i], NULL);
        if (memory) return memory;
    }
    return malloc(b->pool->bytes);
}

static void give_memory(const struct block *b, void *memory, size_t bytes)
{
    for (int i = 0; memory && bytes <= b->pool->bytes && i < POOL_SLOTS; i++) {
        void *none = NULL;
        if (atomic_compare_exchange_strong(&b->pool->free[i], &none, memory)) return;
    }
    free(memory);
}

void lines_free_pool(struct pool *pool)
{
    for (int i = 0; i < POOL_SLOTS; i++) free(atomic_exchange(&pool->free[i], NULL));
}

/* ---- Common prefixes ---- */

static size_t common_bytes(const unsigned char *a, const unsigned char *b, size_t n)
{
    size_t i = 0;
    while (i < n && a[i] == b[i]) i++;
    return i;
}

/* Bytes [depth, depth + room) of the full key of a record; returns how many there are. */
static size_t window_of(const struct block *b, uint64_t record, size_t depth, unsigned char *to,
                        size_t room)
{
    size_t bytes;
    const char *text = block_record(b, record, &bytes);
    struct sink sink = { .to = to, .skip = depth, .room = room };
    lines_encode(b->order, text, bytes, b->order->resort, &sink);
    return sink.n < depth ? 0 : sink.n - depth < room ? sink.n - depth : room;
}

size_t lines_common(const struct block *b, uint64_t model, uint64_t from, uint64_t to, size_t depth)
{
    unsigned char first[WINDOW], other[WINDOW];
    const uint64_t chosen = load_uint(b->index, b->index_bytes, model);
    for (size_t room = 64;; room = WINDOW) {
        size_t common = window_of(b, chosen, depth, first, room);
        for (uint64_t i = from; i < to && common; i++) {
            const uint64_t record = load_uint(b->index, b->index_bytes, i);
            const size_t have = window_of(b, record, depth, other, common);
            common = common_bytes(first, other, have < common ? have : common);
        }
        depth += common;
        if (common < room) return depth;
    }
}

/* ---- Sort of items ---- */

/* Moves each item to its rank: the number of items before it.  No branch depends on the words.
 * temp has room for n items. */
static void rank_items(struct item *items, struct item *temp, size_t n)
{
    uint64_t words[MOST_RANKED];
    for (size_t i = 0; i < n; i++) words[i] = items[i].word;
    for (size_t i = 0; i < n; i++) {
        size_t rank = 0;
        for (size_t j = 0; j < i; j++) rank += words[j] <= words[i];
        for (size_t j = i + 1; j < n; j++) rank += words[j] < words[i];
        temp[rank] = items[i];
    }
    memcpy(items, temp, n * sizeof *items);
}

/* Sorts by word, stably; temp has room for n items. */
static void merge_sort(struct item *items, struct item *temp, size_t n)
{
    if (n <= MOST_RANKED) {
        rank_items(items, temp, n);
        return;
    }
    const size_t half = n / 2;
    merge_sort(items, temp, half);
    merge_sort(items + half, temp, n - half);
    if (items[half - 1].word <= items[half].word) return;
    memcpy(temp, items, half * sizeof *items);
    size_t left = 0, right = half, to = 0;
    while (left < half && right < n) {
        const bool later = items[right].word < temp[left].word;
        const struct item *one = later ? &items[right] : &temp[left];
        items[to++] = *one;
        right += later;
        left += !later;
    }
    memcpy(items + to, temp + left, (half - left) * sizeof *items);
}

/* ---- Ties ---- */

/* Records with equal keys: all but the first are dropped. */
static void drop_equal(const struct block *b, const struct item *items, size_t n)
{
    if (!b->drops) return;
    for (size_t i = 1; i < n; i++) b->drops[items[i].record] = 1;
}

static uint64_t word_of(const struct tie *t, const struct item *item, size_t depth)
{
    const size_t skip = depth - t->base, have = item->bytes & ~MORE;
    if (!(item->bytes & MORE))
        return skip < have ? lines_load_word(item->key + skip, have - skip) : 0;
    if (skip + WORD_MORE <= have) return lines_load_word(item->key + skip, have - skip);
    return block_word(t->block, item->record, depth);
}

/* Skips what all keys have in common. */
static size_t skip_common(const struct tie *t, const struct item *items, size_t n, size_t depth)
{
    const struct block *b = t->block;
    unsigned char few[2 * WINDOW], *first = few, *other = few + WINDOW, *larger = NULL;
    for (size_t room = WINDOW / 16;; room = larger ? LONG_WINDOW : WINDOW) {
        size_t common = window_of(b, items[0].record, depth, first, room);
        for (size_t i = 1; i < n && common; i++) {
            const size_t have = window_of(b, items[i].record, depth, other, common);
            common = common_bytes(first, other, have < common ? have : common);
        }
        depth += common;
        if (common < room) break;
        /* A window is encoded from the beginning of the key, so long prefixes need large ones. */
        if (!larger && depth >= 4 * WINDOW) {
            larger = malloc(2 * LONG_WINDOW);
            if (larger) first = larger, other = larger + LONG_WINDOW;
        }
    }
    free(larger);
    return depth;
}

/* Stores the words of the items at a depth.  Returns whether all are the same. */
static bool make_words(const struct tie *t, struct item *items, size_t n, size_t depth)
{
    bool same = true;
    for (size_t i = 0; i < n; i++) {
        items[i].word = word_of(t, &items[i], depth);
        same &= items[i].word == items[0].word;
    }
    return same;
}

/* Sorts items whose keys agree in their first depth bytes.  Recurses for all ties but the largest,
 * so that the recursion has at most log2(n) levels. */
static void sort_items(const struct tie *t, struct item *items, struct item *temp, size_t n,
                       size_t depth)
{
    while (n > 1) {
        const bool same = make_words(t, items, n, depth);
        if (same && (items[0].word & 0xff) < WORD_MORE) {
            drop_equal(t->block, items, n);
            return;
        }
        depth += WORD_BYTES;
        if (same) {
            if (depth - t->base > KEY_BYTES) depth = skip_common(t, items, n, depth);
            continue;
        }
        merge_sort(items, temp, n);
        struct item *largest = items;
        size_t most = 0;
        for (size_t i = 0, end; i < n; i = end) {
            for (end = i + 1; end < n && items[end].word == items[i].word; end++) {
            }
            if (end == i + 1) continue;
            if ((items[i].word & 0xff) < WORD_MORE) {
                drop_equal(t->block, items + i, end - i);
                continue;
            }
            struct item *smaller = items + i;
            size_t fewer = end - i;
            if (fewer > most) {
                struct item *const other = largest;
                const size_t count = most;
                largest = smaller, most = fewer;
                smaller = other, fewer = count;
            }
            if (fewer > 1) sort_items(t, smaller, temp, fewer, depth);
        }
        items = largest;
        n = most;
    }
}

/* ---- Ties of stored words ---- */

struct pair {
    uint64_t word, record;
};

/* Moves each pair to its rank: the number of pairs before it.  No branch depends on the words.
 * temp has room for n pairs. */
static void rank_pairs(struct pair *pairs, struct pair *temp, size_t n)
{
    uint64_t words[MOST_RANKED];
    for (size_t i = 0; i < n; i++) words[i] = pairs[i].word;
    for (size_t i = 0; i < n; i++) {
        size_t rank = 0;
        for (size_t j = 0; j < i; j++) rank += words[j] <= words[i];
        for (size_t j = i + 1; j < n; j++) rank += words[j] < words[i];
        temp[rank] = pairs[i];
    }
    memcpy(pairs, temp, n * sizeof *pairs);
}

/* The highest bits in which words differ, moved together, so that they number buckets: of decimal
 * digits, four bits of each. */
enum { MOST_BITS = 12, RADIX = 256 /* pairs from which on buckets are faster than a merge */ };
struct bits {
    uint64_t masks[MOST_BITS]; /* of runs of adjacent bits */
    int shifts[MOST_BITS];     /* to the right */
    int runs, count;
};

static struct bits find_bits(uint64_t differ, int most)
{
    struct bits b = { .runs = 0 };
    int lengths[MOST_BITS];
    while (differ && b.count < most) {
        const int high = 63 - __builtin_clzll(differ);
        int n = 1;
        while (n <= high && n < most - b.count && differ >> (high - n) & 1) n++;
        const uint64_t mask = (((uint64_t)1 << n) - 1) << (high - n + 1);
        b.masks[b.runs] = mask;
        b.shifts[b.runs] = high - n + 1;
        lengths[b.runs++] = n;
        b.count += n;
        differ &= ~mask;
    }
    for (int i = 0, below = b.count; i < b.runs; i++) {
        below -= lengths[i];
        b.shifts[i] -= below; /* negative: to the left */
    }
    return b;
}

static inline size_t bucket_of(const struct bits *b, uint64_t word)
{
    uint64_t bucket = 0;
    for (int i = 0; i < b->runs; i++) {
        const uint64_t part = word & b->masks[i];
        bucket |= b->shifts[i] >= 0 ? part >> b->shifts[i] : part << -b->shifts[i];
    }
    return (size_t)bucket;
}

static void merge_pairs(struct pair *pairs, struct pair *temp, size_t n);

/* Moves pairs to buckets, stably, and sorts each. */
static void bucket_pairs(struct pair *pairs, struct pair *temp, size_t n)
{
    enum { FEW_PER_BUCKET = 3 }; /* binary logarithm */
    uint32_t ends[(1 << MOST_BITS) + 1];
    uint64_t differ = 0;
    for (size_t i = 1; i < n; i++) differ |= pairs[i].word ^ pairs[0].word;
    if (!differ) return;
    const int wanted = 63 - __builtin_clzll(n) - FEW_PER_BUCKET;
    const struct bits bits = find_bits(differ, wanted < MOST_BITS ? wanted : MOST_BITS);
    const size_t buckets = (size_t)1 << bits.count;
    memset(ends, 0, (buckets + 1) * sizeof *ends);
    for (size_t i = 0; i < n; i++) ends[bucket_of(&bits, pairs[i].word) + 1]++;
    for (size_t i = 1; i <= buckets; i++) ends[i] += ends[i - 1];
    for (size_t i = 0; i < n; i++) temp[ends[bucket_of(&bits, pairs[i].word)]++] = pairs[i];
    memcpy(pairs, temp, n * sizeof *pairs);
    for (size_t i = 0, begin = 0; i < buckets; begin = ends[i++])
        if (ends[i] - begin > 1) merge_pairs(pairs + begin, temp + begin, ends[i] - begin);
}

/* Sorts by word, stably; temp has room for n pairs. */
static void merge_pairs(struct pair *pairs, struct pair *temp, size_t n)
{
    if (n <= MOST_RANKED) {
        rank_pairs(pairs, temp, n);
        return;
    }
    if (n >= RADIX) {
        bucket_pairs(pairs, temp, n);
        return;
    }
    const size_t half = n / 2;
    merge_pairs(pairs, temp, half);
    merge_pairs(pairs + half, temp, n - half);
    if (pairs[half - 1].word <= pairs[half].word) return;
    memcpy(temp, pairs, half * sizeof *pairs);
    size_t left = 0, right = half, to = 0;
    while (left < half && right < n) {
        const bool later = pairs[right].word < temp[left].word;
        pairs[to++] = later ? pairs[right] : temp[left];
        right += later;
        left += !later;
    }
    memcpy(pairs + to, temp + left, (half - left) * sizeof *pairs);
}

bool lines_are_same(const struct block *b, uint64_t from, uint64_t n)
{
    enum { AHEAD = 8 };
    size_t bytes, other_bytes;
    const char *first = block_record(b, load_uint(b->index, b->index_bytes, from), &bytes);
    for (uint64_t i = 1; i < n; i++) {
        if (i + AHEAD < n)
            __builtin_prefetch(block_record(
                b, load_uint(b->index, b->index_bytes, from + i + AHEAD), &other_bytes));
        const char *other =
            block_record(b, load_uint(b->index, b->index_bytes, from + i), &other_bytes);
        if (bytes != other_bytes || memcmp(first, other, bytes) != 0) return false;
    }
    return true;
}

/* A run of n equal words: equal keys, or a smaller tie. */
static bool finish_run(const struct block *b, uint64_t from, uint64_t n, uint64_t word)
{
    if ((word & 0xff) >= WORD_MORE && !lines_are_same(b, from, n))
        return lines_sort_tie(b, from, n, b->skip + (size_t)2 * WORD_BYTES);
    for (uint64_t i = 1; b->drops && i < n; i++)
        b->drops[load_uint(b->index, b->index_bytes, from + i)] = 1;
    return true;
}

bool lines_sort_next(const struct block *b, uint64_t from, uint64_t n)
{
    struct pair few[2 * ON_STACK];
    const size_t count = (size_t)n;
    const size_t bytes = 2 * count * sizeof few[0];
    struct pair *pairs = count <= ON_STACK ? few : take_memory(b, bytes);
    if (!pairs) return false;
    for (size_t i = 0; i < count; i++) {
        pairs[i].record = load_uint(b->index, b->index_bytes, from + i);
        pairs[i].word = b->next[pairs[i].record];
    }
    merge_pairs(pairs, pairs + count, count);
    for (size_t i = 0; i < count; i++) {
        store_uint(b->index, b->index_bytes, from + i, pairs[i].record);
        b->words[from + i] = pairs[i].word;
    }
    if (pairs != few) give_memory(b, pairs, bytes);
    bool done = true;
    for (uint64_t i = from, end; i < from + n && done; i = end) {
        const uint64_t word = b->words[i];
        for (end = i + 1; end < from + n && b->words[end] == word; end++) {
        }
        if (end - i > 1) done = finish_run(b, i, end - i, word);
    }
    return done;
}

/* ---- Ties of keys ---- */

/* Points an item to its key, or to a copy of the next bytes of it in window. */
static void take_key(const struct tie *t, struct item *item, unsigned char *window)
{
    const struct block *b = t->block;
    size_t bytes, n;
    const char *text = block_record(b, item->record, &bytes);
    if (b->order->direct) {
        const char *key = lines_direct(b->order, text, bytes, &n);
        item->key = (const unsigned char *)key + (t->base < n ? t->base : n);
        item->bytes = t->base < n ? n - t->base : 0;
        return;
    }
    struct sink sink = {
        .to = window, .skip = t->base, .room = KEY_BYTES, .limit = b->text + b->bytes
    };
    lines_encode(b->order, text, bytes, b->order->resort, &sink);
    item->key = window;
    const size_t left = sink.n > t->base ? sink.n - t->base : 0;
    item->bytes = left < KEY_BYTES ? left : KEY_BYTES | MORE;
}

size_t lines_tie_bytes(const struct lines_order *order, size_t n)
{
    return n * (2 * sizeof(struct item) + (order->direct ? 0 : KEY_BYTES)); /* pairs are smaller */
}

bool lines_sort_tie(const struct block *b, uint64_t from, uint64_t n, size_t depth)
{
    struct item few[2 * ON_STACK];
    unsigned char few_keys[ON_STACK * KEY_BYTES];
    const struct tie t = { .block = b, .base = depth };
    const size_t count = (size_t)n;
    const size_t bytes = lines_tie_bytes(b->order, count);
    void *memory = count <= ON_STACK ? NULL : take_memory(b, bytes);
    if (count > ON_STACK && !memory) return false;
    struct item *items = memory ? memory : few;
    unsigned char *keys = memory ? (unsigned char *)(items + 2 * count) : few_keys;
    /* The misses of the cache of all records overlap. */
    for (size_t i = 0; i < count; i++) {
        items[i].record = load_uint(b->index, b->index_bytes, from + i);
        __builtin_prefetch((const char *)b->begins + items[i].record * b->begin_bytes);
    }
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(b->text + load_uint(b->begins, b->begin_bytes, items[i].record) +
                           (b->order->direct ? depth : 0));
    for (size_t i = 0; i < count; i++) take_key(&t, &items[i], keys + i * KEY_BYTES);
    sort_items(&t, items, items + count, count, depth);
    for (size_t i = 0; i < count; i++)
        store_uint(b->index, b->index_bytes, from + i, items[i].record);
    if (memory) give_memory(b, memory, bytes);
    return true;
}
