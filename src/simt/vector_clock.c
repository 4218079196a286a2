/*
 * simt/vector_clock.c - vector clocks: the actions of other threads that a thread has acquired.
 *
 * An entry contains, for one thread, the time before which all its actions are ordered. Entries are
 * sorted by block and thread, so that two clocks are merged in one pass.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simt/emulator.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_KNOWN = 4096 };

static void later(simt_time *time, simt_time than)
{
    if (*time < than) *time = than;
}

static uint64_t key_of(const struct simt_vector_clock_entry *e)
{
    return (uint64_t)e->serial << 16 | e->thread;
}

static uint32_t place_of(const struct simt_vector_clock *k, uint64_t key)
{
    uint32_t low = 0, high = k->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (key_of(&k->known[middle]) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_up(struct simt_vector_clock_entry *e, const struct simt_vector_clock_entry *what)
{
    later(&e->own, what->own);
    later(&e->near, what->near);
    later(&e->warp, what->warp);
    later(&e->block, what->block);
}

/* Reserves room for `count`; if there is too much to keep, everything counts as known. */
static bool make_room(struct simt_vector_clock *k, uint32_t count)
{
    if (k->all || count <= k->capacity) return !k->all;
    uint32_t capacity = k->capacity ? k->capacity : 8;
    while (capacity < count) capacity *= 2;
    struct simt_vector_clock_entry *more =
        capacity > MOST_KNOWN ? NULL : realloc(k->known, capacity * sizeof *more);
    k->all = !more;
    if (!more) return false;
    k->known = more;
    k->capacity = capacity;
    return true;
}

void simt_vector_clock_add(struct simt_vector_clock *k, const struct simt_vector_clock_entry *what)
{
    uint32_t at = place_of(k, key_of(what));
    if (at < k->count && key_of(&k->known[at]) == key_of(what)) {
        add_up(&k->known[at], what);
    } else if (make_room(k, k->count + 1)) {
        memmove(k->known + at + 1, k->known + at, (k->count - at) * sizeof *k->known);
        k->known[at] = *what;
        k->count++;
    }
}

static bool contains(const struct simt_vector_clock *k, const struct simt_vector_clock *from)
{
    uint32_t i = 0;
    for (uint32_t j = 0; j < from->count; j++, i++) {
        const struct simt_vector_clock_entry *e = &from->known[j];
        while (i < k->count && key_of(&k->known[i]) < key_of(e)) i++;
        if (i == k->count || key_of(&k->known[i]) != key_of(e) || k->known[i].own < e->own ||
            k->known[i].near < e->near || k->known[i].warp < e->warp ||
            k->known[i].block < e->block)
            return false;
    }
    return true;
}

/* Merges from the end, in the room after the existing entries. */
void simt_vector_clock_merge(struct simt_vector_clock *k, const struct simt_vector_clock *from)
{
    k->all |= from->all;
    if (k == from || from->count == 0 || contains(k, from) || !make_room(k, k->count + from->count))
        return;
    uint32_t i = k->count, j = from->count, to = i + j;
    while (i || j) {
        uint64_t mine = i ? key_of(&k->known[i - 1]) : 0;
        uint64_t theirs = j ? key_of(&from->known[j - 1]) : 0;
        if (i && j && mine == theirs) {
            struct simt_vector_clock_entry both = k->known[--i];
            add_up(&both, &from->known[--j]);
            k->known[--to] = both;
        } else if (!j || (i && mine > theirs)) {
            k->known[--to] = k->known[--i];
        } else {
            k->known[--to] = from->known[--j];
        }
    }
    uint32_t count = k->count + from->count - to;
    memmove(k->known, k->known + to, count * sizeof *k->known);
    k->count = count;
}

void simt_vector_clock_clear(struct simt_vector_clock *k)
{
    k->count = 0;
    k->all = false;
}

void simt_vector_clock_free(struct simt_vector_clock *k)
{
    free(k->known);
    memset(k, 0, sizeof *k);
}

bool simt_vector_clock_covers(const struct simt_vector_clock *k, const struct simt_cell *c,
                              uint32_t reader)
{
    if (k->all) return true;
    for (uint32_t i = place_of(k, (uint64_t)c->serial << 16);
         i < k->count && k->known[i].serial == c->serial; i++) {
        const struct simt_vector_clock_entry *e = &k->known[i];
        if (c->time < e->block) return true;
        if (c->kind & SIMT_BLOCK_READ) continue;
        if (c->thread / SIMT_LANES == e->thread / SIMT_LANES && c->time < e->warp) return true;
        simt_time own = c->serial == reader ? e->near : e->own;
        if (!(c->kind & SIMT_WARP_READ) && c->thread == e->thread && c->time < own) return true;
    }
    return false;
}
