/*
 * simt/race.c - the happens-before test: whether two accesses to the same bytes, at least one of
 * them a write, are ordered.
 *
 * For each 4 bytes of memory the emulator records the last write and the last read: the thread, and
 * the time by the clock of its block. An access is ordered after an earlier one
 *    of the same block    if there is a barrier of the block in between,
 *    of the same warp     if both lanes synchronised in between,
 *    of the same thread   always,
 *    of any thread        if its vector clock covers it: the other thread executed a fence after
 *                         the access and wrote a flag as an atomic or volatile
 *                         (simt_race_publish); this thread read the flag so (simt_race_read_flag)
 *                         and then executed a fence, or a barrier after a fence.  A clock is passed
 *                         on: to the block at a barrier, to the warp if all lanes synchronise, to
 *                         other threads by the thread's own flags.
 * This is the happens-before order of the PTX memory model, with the releases of flags reduced to
 * one entry per thread. The order in which the emulator happened to run the two accesses does not
 * matter, so a race is found even if the result was right.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simt/cells.h"
#include "simt/emulator.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES = 1 << 14 };

/* ---- Order ---- */

static inline bool covers(const struct simt_vector_clock *k, const struct simt_cell *c,
                          uint32_t reader)
{
    return k->all || (k->count && simt_vector_clock_covers(k, c, reader));
}

bool simt_race_ordered(const struct simt_cell *c, const struct simt_thread *t)
{
    const struct simt_block *b = t->block;
    const struct simt_warp *w = t->warp;
    if (c->kind & SIMT_GRID_READ) return true; /* the readers are not known: no report */
    if (c->serial == b->serial) {
        if (c->time < b->met) return true;
        if (!(c->kind & SIMT_BLOCK_READ) && c->thread / SIMT_LANES == w->number) {
            uint32_t lane = c->thread % SIMT_LANES;
            if (lane == t->lane && !(c->kind & SIMT_WARP_READ)) return true;
            if (c->time < w->met) return true;
            if (w->pair_met && !(c->kind & SIMT_WARP_READ) && c->time < w->pair_met[lane][t->lane])
                return true;
        }
    }
    return covers(&t->acquired, c, b->serial) || covers(&w->acquired, c, b->serial) ||
           covers(&b->acquired, c, b->serial);
}

/* ---- Reports ---- */

static void report(struct simt_thread *t, const struct simt_cell *other, bool write,
                   bool other_write, size_t bytes, uintptr_t pc, const struct simt_where *where)
{
    char place[64], who[96];
    simt_place(t->block->launch->function->module->begin + other->pc, place, sizeof place);
    if (other->serial == t->block->serial)
        simt_thread_name(&t->block->threads[other->thread], who, sizeof who);
    else
        simt_other_name(t, other, who, sizeof who);
    simt_found(SIMT_RACE, t->block->launch, t, pc,
               "%s %zu bytes of %s memory%s%s at byte %zu, which %s %s at %s; the accesses are not "
               "ordered",
               write ? "writes" : "reads", bytes, where->space, where->name ? " " : "",
               where->name ? where->name : "", where->offset,
               other->kind & (SIMT_WARP_READ | SIMT_BLOCK_READ) ? "others" : who,
               other_write ? "wrote" : "read", place);
}

/* Two writes of the same value are harmless; the value is known only after the second write. */
void simt_overwrite_settle(struct simt_thread *t)
{
    if (!t->overwrites) return;
    const void *at = t->overwrite.at;
    t->overwrites = false;
    if (memcmp(at, t->overwrite.old, t->overwrite.bytes) != 0)
        report(t, &t->overwrite.other, true, true, t->overwrite.bytes, t->overwrite.pc,
               &t->overwrite.where);
}

static void note_overwrite(struct simt_thread *t, const struct simt_cell *other, const void *at,
                           size_t bytes, uintptr_t pc)
{
    if (bytes > sizeof t->overwrite.old) bytes = sizeof t->overwrite.old;
    t->overwrites = true;
    t->overwrite.at = at;
    t->overwrite.bytes = bytes;
    memcpy(t->overwrite.old, at, bytes);
    t->overwrite.pc = pc;
    t->overwrite.other = *other;
    simt_locate(t, at, &t->overwrite.where);
}

/* ---- One access ---- */

static bool conflicts(const struct simt_cell *c, struct simt_words mine, struct simt_thread *t)
{
    const uint64_t who = simt_cell_words(c).who & mine.who;
    return who & SIMT_IN_BYTES(0xff) && !(who & SIMT_IN_KIND(SIMT_STRONG)) && !simt_ordered(c, t);
}

static void __attribute__((cold, noinline))
found(struct simt_thread *t, const struct simt_cell *other, bool other_write, const void *at,
      size_t bytes, unsigned kind, uintptr_t pc)
{
    struct simt_where where;
    if (other_write && (kind & (SIMT_WRITE | SIMT_CHANGE)) == SIMT_WRITE &&
        !(other->kind & SIMT_STRONG)) {
        note_overwrite(t, other, at, bytes, pc);
    } else {
        simt_locate(t, at, &where);
        report(t, other, kind & SIMT_WRITE, other_write, bytes, pc, &where);
    }
}

void simt_race_check(struct simt_thread *t, struct simt_cells *cells, const void *at, size_t bytes,
                     unsigned kind, uintptr_t pc, uint32_t oldest)
{
    const simt_time met = t->block->met;
    const struct simt_words now = simt_words_now(t, kind, pc);
    const bool writes = kind & SIMT_WRITE;
    size_t first = (uintptr_t)at % 4;
    bool reported = false;
    for (size_t done = 0; done < bytes; cells++, first = 0) {
        size_t here = 4 - first < bytes - done ? 4 - first : bytes - done;
        struct simt_words mine = now;
        mine.who |= SIMT_IN_BYTES(((1u << here) - 1) << first);
        if (!simt_plainly_ordered(simt_cell_words(&cells->write), mine, oldest, met) && !reported &&
            conflicts(&cells->write, mine, t)) {
            reported = true;
            found(t, &cells->write, true, at, bytes, kind, pc);
        }
        if (writes && !simt_plainly_ordered(simt_cell_words(&cells->read), mine, oldest, met) &&
            !reported && conflicts(&cells->read, mine, t)) {
            reported = true;
            found(t, &cells->read, false, at, bytes, kind, pc);
        }
        if (writes)
            simt_note_write(&cells->write, mine);
        else
            simt_note_read(&cells->read, mine, oldest, t);
        done += here;
    }
}

/* ---- Fences (release and acquire), and flags ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct message {
    const void *at;
    struct simt_vector_clock released;
    uint32_t version; /* incremented at each release */
    struct message *next;
} * messages[MESSAGES];
static atomic_uint message_count;

static struct message **find_message(const void *at)
{
    struct message **m = &messages[((uintptr_t)at >> 2) * 0x9e3779b1u % MESSAGES];
    while (*m && (*m)->at != at) m = &(*m)->next;
    return m;
}

void simt_race_reset(void)
{
    if (message_count == 0) return;
    for (int i = 0; i < MESSAGES; i++)
        while (messages[i]) {
            struct message *m = messages[i];
            messages[i] = m->next;
            free(m->released.known);
            free(m);
        }
    message_count = 0;
}

/* Acquires what was read from flags; a fence of block scope acquires only entries of the block. */
static void acquire(struct simt_thread *t, enum simt_scope scope)
{
    struct simt_vector_clock *unacquired = &t->unacquired;
    uint32_t left = 0;
    for (uint32_t i = 0; i < unacquired->count; i++)
        if (scope != SIMT_BLOCK || unacquired->known[i].serial == t->block->serial)
            simt_vector_clock_add(&t->acquired, &unacquired->known[i]);
        else
            unacquired->known[left++] = unacquired->known[i];
    t->acquired.all |= unacquired->all;
    unacquired->all = false;
    unacquired->count = left;
}

void simt_race_fence(struct simt_thread *t, enum simt_scope scope)
{
    simt_time now = ++t->block->clock;
    struct simt_vector_clock_entry released = { t->block->serial, (uint16_t)t->number, now, now,
                                                t->warp->met,     t->block->met };
    if (scope == SIMT_BLOCK)
        released.own = t->released.own;
    else
        t->block->fences++;
    t->released = released;
    /* With several workers a flag may be written between simt_race_read_flag() and the load
     * itself. */
    if (t->flag) simt_race_read_flag(t, t->flag, false);
    acquire(t, scope);
    if (simt_options.weak && scope != SIMT_BLOCK) simt_weak_fence(t);
}

/* Releases actions of lanes that synchronised with this one without the rest of the warp. */
static void release_pairs(struct simt_vector_clock *k, const struct simt_thread *t)
{
    const struct simt_warp *w = t->warp;
    for (uint32_t i = 0; w->pair_met && i < w->lanes; i++) {
        simt_time met = w->pair_met[i][t->lane];
        if (!met || i == t->lane) continue;
        simt_time before = met < t->released.near ? met : 0; /* the fence came later */
        struct simt_vector_clock_entry lane = { t->block->serial,
                                                (uint16_t)w->threads[i].number,
                                                met < t->released.own ? before : 0,
                                                before,
                                                0,
                                                0 };
        if (before) simt_vector_clock_add(k, &lane);
    }
}

/* The thread writes a flag, as an atomic or volatile: a reader can acquire what the thread did
 * before its last fence. replaces: a store, which ends the releases of earlier writers to it; an
 * atomic read-modify-write continues them. */
void simt_race_publish(struct simt_thread *t, const void *at, bool replaces)
{
    const bool fenced = t->released.serial != 0; /* has executed a fence */
    const bool releases =
        fenced || t->acquired.count || t->warp->acquired.count || t->block->acquired.count;
    if (!releases && message_count == 0) return;
    pthread_mutex_lock(&lock);
    struct message **place = find_message(at), *m = *place;
    if (!m && releases) {
        m = calloc(1, sizeof *m);
        if (m) {
            m->at = at;
            *place = m;
            message_count++;
        } else {
            simt_no_memory(t->block->launch);
        }
    }
    if (m) m->version++;
    if (m && replaces) simt_vector_clock_clear(&m->released);
    if (m && releases) {
        if (fenced) simt_vector_clock_add(&m->released, &t->released);
        if (fenced) release_pairs(&m->released, t);
        simt_vector_clock_merge(&m->released, &t->acquired);
        simt_vector_clock_merge(&m->released, &t->warp->acquired);
        simt_vector_clock_merge(&m->released, &t->block->acquired);
    }
    pthread_mutex_unlock(&lock);
}

void simt_race_read_flag(struct simt_thread *t, const void *at, bool acquires)
{
    bool again = t->flag == at && !acquires; /* it is polling, and usually acquires nothing new */
    t->flag = at;
    if (!again) t->flag_version = 0; /* that was the version of another flag */
    if (message_count == 0) return;
    pthread_mutex_lock(&lock);
    struct message *m = *find_message(at);
    if (m && !(again && t->flag_version == m->version)) {
        simt_vector_clock_merge(acquires ? &t->acquired : &t->unacquired, &m->released);
        t->flag_version = acquires ? 0 : m->version;
    }
    pthread_mutex_unlock(&lock);
}

/* ---- Synchronisation ---- */

/* Some lanes, not all, exchange their clocks. */
static void share(struct simt_warp *w, uint32_t lanes)
{
    struct simt_vector_clock all = { 0 };
    for (uint32_t i = 0; i < w->lanes; i++)
        if (lanes >> i & 1) simt_vector_clock_merge(&all, &w->threads[i].acquired);
    if (all.count || all.all)
        for (uint32_t i = 0; i < w->lanes; i++)
            if (lanes >> i & 1) simt_vector_clock_merge(&w->threads[i].acquired, &all);
    simt_vector_clock_free(&all);
}

void simt_race_met_lanes(struct simt_warp *w, uint32_t lanes)
{
    simt_time now = ++w->block->clock;
    if (lanes != (w->exists & ~w->ended)) {
        if (!w->pair_met) w->pair_met = calloc(SIMT_LANES, sizeof *w->pair_met);
        if (!w->pair_met) simt_no_memory(w->block->launch);
        for (uint32_t i = 0; w->pair_met && i < SIMT_LANES; i++)
            for (uint32_t j = 0; j < SIMT_LANES; j++)
                if (lanes >> i & 1 && lanes >> j & 1) w->pair_met[i][j] = now;
        share(w, lanes);
        return;
    }
    w->met = now;
    for (uint32_t i = 0; i < w->lanes; i++)
        if (w->threads[i].acquired.count || w->threads[i].acquired.all) {
            simt_vector_clock_merge(&w->acquired, &w->threads[i].acquired);
            simt_vector_clock_clear(&w->threads[i].acquired);
        }
}

/* After a barrier, any thread of the block can release what threads did before their fences;
 * usually that is all that they did. */
static void share_fences(struct simt_block *b)
{
    bool all = true;
    for (uint32_t i = 0; i < b->thread_count; i++)
        all &= b->threads[i].wrote == 0 || b->threads[i].wrote < b->threads[i].released.own;
    if (all) {
        struct simt_vector_clock_entry everything = { b->serial, 0, 0, 0, 0, b->clock + 1 };
        simt_vector_clock_add(&b->acquired, &everything);
    } else {
        for (uint32_t i = 0; i < b->thread_count; i++)
            if (b->threads[i].released.own > b->met)
                simt_vector_clock_add(&b->acquired, &b->threads[i].released);
    }
    b->fences = 0;
}

void simt_race_met_block(struct simt_block *b)
{
    if (b->fences) share_fences(b);
    b->met = ++b->clock;
    for (uint32_t i = 0; i < b->thread_count; i++) {
        struct simt_vector_clock *k = &b->threads[i].acquired;
        if (!k->count && !k->all) continue;
        simt_vector_clock_merge(&b->acquired, k);
        simt_vector_clock_clear(k);
    }
    for (uint32_t i = 0; i < b->warp_count; i++) {
        struct simt_vector_clock *k = &b->warps[i].acquired;
        if (!k->count && !k->all) continue;
        simt_vector_clock_merge(&b->acquired, k);
        simt_vector_clock_clear(k);
    }
}

/* Warps synchronised at a named barrier: those that waited acquire the actions of those that
 * arrived. */
void simt_race_met_warps(struct simt_block *b, uint32_t came, uint32_t waited)
{
    for (uint32_t i = 0; i < b->warp_count; i++)
        if (came >> i & 1)
            simt_race_met_lanes(&b->warps[i], b->warps[i].exists & ~b->warps[i].ended);
    for (uint32_t i = 0; i < b->warp_count; i++) {
        if (!(waited >> i & 1)) continue;
        for (uint32_t j = 0; j < b->warp_count; j++) {
            if (!(came >> j & 1) || i == j) continue;
            struct simt_vector_clock_entry known = {
                b->serial, (uint16_t)(j * SIMT_LANES), 0, 0, b->warps[j].met, b->met
            };
            simt_vector_clock_add(&b->warps[i].acquired, &known);
            simt_vector_clock_merge(&b->warps[i].acquired, &b->warps[j].acquired);
        }
    }
}

void simt_race_met_cluster(struct simt_cluster *c)
{
    for (uint32_t i = 0; i < c->count; i++) simt_race_met_block(c->blocks[i]);
    for (uint32_t i = 0; i < c->count; i++)
        for (uint32_t j = 0; j < c->count; j++) {
            if (i == j) continue;
            struct simt_vector_clock_entry known = { c->blocks[j]->serial, 0, 0, 0, 0,
                                                     c->blocks[j]->met };
            simt_vector_clock_add(&c->blocks[i]->acquired, &known);
            simt_vector_clock_merge(&c->blocks[i]->acquired, &c->blocks[j]->acquired);
        }
}
