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

struct item {
    uint64_t word, record;
};

enum { FEW = 16, ON_STACK = 64, WINDOW = 4096 };

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

static void insert_few(struct item *items, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const struct item one = items[i];
        size_t at = i;
        for (; at && items[at - 1].word > one.word; at--) items[at] = items[at - 1];
        items[at] = one;
    }
}

/* Sorts by word, stably; temp has room for n items. */
static void merge_sort(struct item *items, struct item *temp, size_t n)
{
    if (n <= FEW) {
        insert_few(items, n);
        return;
    }
    const size_t half = n / 2;
    merge_sort(items, temp, half);
    merge_sort(items + half, temp, n - half);
    if (items[half - 1].word <= items[half].word) return;
    memcpy(temp, items, half * sizeof *items);
    size_t left = 0, right = half, to = 0;
    while (left < half && right < n)
        items[to++] = items[right].word < temp[left].word ? items[right++] : temp[left++];
    memcpy(items + to, temp + left, (half - left) * sizeof *items);
}

/* ---- Ties ---- */

/* Records with equal keys: all but the first are dropped. */
static void drop_equal(const struct block *b, const struct item *items, size_t n)
{
    if (!b->drops) return;
    for (size_t i = 1; i < n; i++) b->drops[items[i].record] = 1;
}

static void sort_two(const struct block *b, struct item *items)
{
    size_t first_bytes, second_bytes;
    const char *first = block_record(b, items[0].record, &first_bytes);
    const char *second = block_record(b, items[1].record, &second_bytes);
    const int order = lines_compare(b->order, first, first_bytes, second, second_bytes);
    if (order > 0) {
        const struct item one = items[0];
        items[0] = items[1];
        items[1] = one;
    }
    if (order == 0) drop_equal(b, items, 2);
}

/* Skips what all keys have in common. */
static size_t skip_common(const struct block *b, const struct item *items, size_t n, size_t depth)
{
    unsigned char first[WINDOW], other[WINDOW];
    for (size_t room = 64;; room = WINDOW) {
        size_t common = window_of(b, items[0].record, depth, first, room);
        for (size_t i = 1; i < n && common; i++) {
            const size_t have = window_of(b, items[i].record, depth, other, common);
            common = common_bytes(first, other, have < common ? have : common);
        }
        depth += common;
        if (common < room) return depth;
    }
}

/* Sorts items whose keys agree in their first depth bytes.  Recurses for all ties but the largest,
 * so that the recursion has at most log2(n) levels. */
static void sort_items(const struct block *b, struct item *items, struct item *temp, size_t n,
                       size_t depth)
{
    while (n > 2) {
        bool same = true;
        for (size_t i = 0; i < n; i++) {
            items[i].word = block_word(b, items[i].record, depth);
            same &= items[i].word == items[0].word;
        }
        if (same && (items[0].word & 0xff) < WORD_MORE) {
            drop_equal(b, items, n);
            return;
        }
        depth += WORD_BYTES;
        if (same) {
            depth = skip_common(b, items, n, depth);
            continue;
        }
        merge_sort(items, temp, n);
        struct item *largest = items;
        size_t most = 0;
        for (size_t i = 0, end; i < n; i = end) {
            for (end = i + 1; end < n && items[end].word == items[i].word; end++) {
            }
            if ((items[i].word & 0xff) < WORD_MORE) {
                drop_equal(b, items + i, end - i);
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
            if (fewer > 1) sort_items(b, smaller, temp, fewer, depth);
        }
        items = largest;
        n = most;
    }
    if (n == 2) sort_two(b, items);
}

bool lines_sort_tie(const struct block *b, uint64_t from, uint64_t n, size_t depth)
{
    struct item few[2 * ON_STACK];
    const size_t count = (size_t)n;
    struct item *items = count <= ON_STACK ? few : malloc(2 * count * sizeof *items);
    if (!items) return false;
    for (size_t i = 0; i < count; i++)
        items[i] = (struct item){ .record = load_uint(b->index, b->index_bytes, from + i) };
    sort_items(b, items, items + count, count, depth);
    for (size_t i = 0; i < count; i++)
        store_uint(b->index, b->index_bytes, from + i, items[i].record);
    if (items != few) free(items);
    return true;
}
