/*
 * simt/weak.c - the option weak: other blocks see a block's stores to global memory late, and in
 * any order, unless a fence orders them.
 *
 * Compiled code writes to memory directly. So a store is recorded with the bytes that it replaces,
 * and memory is changed when the worker switches between blocks:
 *
 *     the block is suspended    the bytes of stores that are not visible yet are replaced by the
 *                               previous ones, the last store first
 *     the block continues       ... and stored again, the first store first
 *     a store becomes visible   its record is deleted, and with it those of earlier stores to the
 *                               same bytes
 *
 * Stores become visible at fences of device scope, for all stores that are ordered before the
 * fence; at a barrier of the cluster; before an atomic operation of the block on the same bytes;
 * and at random times. The blocks run on one worker: another one could access memory at any time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simt/emulator.h"

#include <stdlib.h>
#include <string.h>

enum { SEEN_AT_STORE = 16, SEEN_AT_SWITCH = 8 }; /* one of this many stores, on average */

static bool overlap(const struct simt_store *s, const char *at, size_t bytes)
{
    return s->at < at + bytes && at < s->at + s->bytes;
}

/* Makes the marked stores visible, with all earlier ones that overlap them. Deletes their
 * records. */
static void see(struct simt_block *b, bool *marked)
{
    struct simt_stores *q = &b->stores;
    uint32_t left = 0;
    for (uint32_t i = q->count; i-- > 0;)
        for (uint32_t j = 0; marked[i] && j < i; j++)
            if (overlap(&q->of[j], q->of[i].at, q->of[i].bytes)) marked[j] = true;
    for (uint32_t i = 0; i < q->count; i++) {
        struct simt_store *s = &q->of[i];
        if (!marked[i]) {
            q->of[left++] = *s;
            continue;
        }
        if (!q->hidden) continue;
        memcpy(s->at, s->other, s->bytes);
    }
    q->count = left;
}

void simt_weak_store(struct simt_thread *t, void *at, size_t bytes)
{
    struct simt_block *b = t->block;
    struct simt_stores *q = &b->stores;
    const bool full = q->count == SIMT_MOST_STORES;
    if (!q->of) q->of = malloc(SIMT_MOST_STORES * sizeof *q->of);
    if (!q->of) return; /* visible at once */
    if (q->count && (simt_draw(&b->worker->random, SEEN_AT_STORE) == 0 || full)) {
        bool marked[SIMT_MOST_STORES] = { false };
        marked[simt_draw(&b->worker->random, q->count)] = true;
        see(b, marked);
    }
    struct simt_store *s = &q->of[q->count++];
    *s = (struct simt_store){
        .at = at, .bytes = (uint8_t)bytes, .thread = (uint16_t)t->number, .time = b->clock
    };
    memcpy(s->other, at, bytes);
}

void simt_weak_change(struct simt_thread *t, void *at, size_t bytes)
{
    struct simt_stores *q = &t->block->stores;
    bool marked[SIMT_MOST_STORES], any = false;
    for (uint32_t i = 0; i < q->count; i++) any |= marked[i] = overlap(&q->of[i], at, bytes);
    if (any) see(t->block, marked);
}

void simt_weak_fence(struct simt_thread *t)
{
    struct simt_stores *q = &t->block->stores;
    bool marked[SIMT_MOST_STORES], any = false;
    for (uint32_t i = 0; i < q->count; i++) {
        const struct simt_cell cell = { .serial = t->block->serial,
                                        .thread = q->of[i].thread,
                                        .bytes = 0xf,
                                        .kind = SIMT_WRITE,
                                        .time = q->of[i].time };
        any |= marked[i] = simt_race_ordered(&cell, t);
    }
    if (any) see(t->block, marked);
}

/* Counts as progress, because all stores become visible after some time. */
void simt_weak_drain(struct simt_block *b)
{
    bool marked[SIMT_MOST_STORES];
    b->worker->events++;
    for (uint32_t i = 0; i < b->stores.count; i++)
        marked[i] = simt_draw(&b->worker->random, SEEN_AT_SWITCH) == 0;
    see(b, marked);
}

void simt_weak_flush(struct simt_block *b)
{
    bool marked[SIMT_MOST_STORES];
    memset(marked, true, sizeof marked);
    if (b->stores.count) see(b, marked);
}

static void swap(struct simt_store *s)
{
    char now[16];
    memcpy(now, s->at, s->bytes);
    memcpy(s->at, s->other, s->bytes);
    memcpy(s->other, now, s->bytes);
}

void simt_weak_hide(struct simt_block *b)
{
    for (uint32_t i = b->stores.count; i-- > 0;) swap(&b->stores.of[i]);
    b->stores.hidden = true;
}

void simt_weak_show(struct simt_block *b)
{
    for (uint32_t i = 0; i < b->stores.count; i++) swap(&b->stores.of[i]);
    b->stores.hidden = false;
}
