/*
 * simt/warp.c - collective operations of a warp: shuffles, ballots, matches, reductions.
 *
 * Each lane that arrives stores its value and waits. The last lane of those that are in the mask
 * and have not ended computes the results of all and continues. Lanes with different masks can be
 * in different operations at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simt/emulator.h"

#include <string.h>

#define CALLER ((uintptr_t)__builtin_return_address(0) - 1)

#define EACH_LANE(lane, mask)                                                                      \
    for (uint32_t left_ = (mask), lane = 0;                                                        \
         left_ && (lane = (uint32_t)__builtin_ctz(left_), true); left_ &= left_ - 1)

/* ---- Results ---- */

static uint32_t ballot(const struct simt_warp *w, uint32_t lanes)
{
    uint32_t ones = 0;
    EACH_LANE (lane, lanes) ones |= (uint32_t)(w->threads[lane].value != 0) << lane;
    return ones;
}

static void shuffle(struct simt_warp *w, uint32_t lanes)
{
    EACH_LANE (lane, lanes) {
        struct simt_thread *t = &w->threads[lane];
        if (lanes >> t->source & 1) {
            t->result = w->threads[t->source].value;
        } else {
            t->result = t->value;
            simt_found(SIMT_MASK, w->block->launch, t, t->pc, "shuffles from lane %u, which %s",
                       t->source,
                       w->ended >> t->source & 1       ? "has ended"
                       : !(w->exists >> t->source & 1) ? "the block does not have"
                                                       : "is not in the mask");
        }
    }
}

static void match(struct simt_warp *w, uint32_t lanes, bool all)
{
    uint32_t left = lanes;
    while (left) { /* the lanes with the value of the first one, and so on */
        uint32_t peers = 0;
        uint64_t value = w->threads[__builtin_ctz(left)].value;
        EACH_LANE (lane, left)
            if (w->threads[lane].value == value) peers |= 1u << lane;
        EACH_LANE (peer, peers) w->threads[peer].result = !all ? peers : peers == lanes ? lanes : 0;
        left &= ~peers;
    }
}

static uint32_t combine(enum simt_warp_op op, uint32_t a, uint32_t b)
{
    switch (op) {
    case SIMT_WARP_ADD:
        return a + b;
    case SIMT_WARP_MIN_U32:
        return a < b ? a : b;
    case SIMT_WARP_MAX_U32:
        return a > b ? a : b;
    case SIMT_WARP_MIN_S32:
        return (int32_t)a < (int32_t)b ? a : b;
    case SIMT_WARP_MAX_S32:
        return (int32_t)a > (int32_t)b ? a : b;
    case SIMT_WARP_AND:
        return a & b;
    case SIMT_WARP_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

static void finish(struct simt_warp *w, const struct simt_meet *m)
{
    uint32_t lanes = m->arrived, first = (uint32_t)__builtin_ctz(lanes);
    uint64_t result = 0;
    switch (m->op) {
    case SIMT_WARP_SYNC:
        break;
    case SIMT_WARP_SHUFFLE:
        shuffle(w, lanes);
        return;
    case SIMT_WARP_MATCH_ANY:
        match(w, lanes, false);
        return;
    case SIMT_WARP_MATCH_ALL:
        match(w, lanes, true);
        return;
    case SIMT_WARP_BALLOT:
        result = ballot(w, lanes);
        break;
    default:
        result = (uint32_t)w->threads[first].value;
        EACH_LANE (lane, lanes & ~(1u << first))
            result = combine(m->op, (uint32_t)result, (uint32_t)w->threads[lane].value);
    }
    EACH_LANE (each, lanes) w->threads[each].result = result;
}

/* ---- Synchronisation ---- */

/* All lanes should arrive at the same line: on the device one instruction serves all. */
static void check_place(const struct simt_warp *w, const struct simt_meet *m)
{
    const struct simt_thread *first = &w->threads[__builtin_ctz(m->arrived)];
    char place[64];
    if (m->op == SIMT_WARP_SYNC) return; /* may be called at several lines */
    EACH_LANE (lane, m->apart ? m->arrived : 0) {
        const struct simt_thread *t = &w->threads[lane];
        if (t->pc == first->pc || simt_same_line(t->pc, first->pc)) continue;
        simt_place(first->pc, place, sizeof place);
        simt_found(SIMT_MASK, w->block->launch, t, t->pc,
                   "is at another warp operation than lane %u, which is at %s", first->lane, place);
        return;
    }
    EACH_LANE (gone, m->mask & w->ended) {
        const struct simt_thread *t = &w->threads[gone];
        if (t->warp_pc != first->pc || t->mask == m->mask) continue;
        simt_found(SIMT_MASK, w->block->launch, first, first->pc,
                   "names lane %u in the mask %08x, but that lane used the mask %08x", gone,
                   m->mask, t->mask);
        return;
    }
}

static struct simt_meet *find_meet(struct simt_warp *w, uint32_t mask, enum simt_warp_op op,
                                   uintptr_t pc)
{
    for (uint32_t i = 0; i < w->meet_count; i++)
        if (w->meets[i].mask == mask && w->meets[i].op == op) return &w->meets[i];
    struct simt_meet *m = &w->meets[w->meet_count++]; /* each has a lane: at most 32 */
    *m = (struct simt_meet){ .mask = mask, .op = op, .pc = pc };
    return m;
}

static void complete(struct simt_warp *w, struct simt_meet *m, uint32_t running)
{
    struct simt_meet met = *m;
    *m = w->meets[--w->meet_count];
    EACH_LANE (lane, met.arrived & ~running) simt_wake(&w->threads[lane]);
    finish(w, &met);
    check_place(w, &met);
    if (simt_options.profile) {
        simt_trace_meeting(w, false, w->threads[__builtin_ctz(met.arrived)].pc);
        if (met.arrived == (w->exists & ~w->ended)) simt_trace_flush(w);
        simt_record_operation(w, met.op, met.arrived, met.pc);
    }
    if (met.op == SIMT_WARP_SYNC) simt_race_met_lanes(w, met.arrived);
}

SIMT_API uint64_t simt_warp(enum simt_warp_op op, uint32_t mask, uint64_t value, unsigned source)
{
    struct simt_thread *t = simt_self;
    struct simt_warp *w = t->warp;
    uintptr_t pc = CALLER;
    uint32_t me = 1u << t->lane;
    if (t->overwrites) simt_overwrite_settle(t);
    t->op = op;
    t->mask = mask;
    t->value = value;
    t->source = source % SIMT_LANES;
    t->pc = t->warp_pc = pc;
    if (!(mask & me)) {
        simt_found(SIMT_MASK, t->block->launch, t, pc,
                   "calls a warp operation with the mask %08x, which does not contain its own lane",
                   mask);
        simt_abandon(t);
    }
    t->polled = NULL;
    struct simt_meet *m = find_meet(w, mask, op, pc);
    m->arrived |= me;
    m->apart |= m->pc != pc;
    if (m->arrived == (mask & w->exists & ~w->ended))
        complete(w, m, me);
    else
        simt_wait(t, SIMT_AT_WARP, pc);
    return t->result;
}

void simt_warp_ended(struct simt_warp *w)
{
    for (uint32_t i = 0; i < w->meet_count; i++) {
        struct simt_meet *m = &w->meets[i];
        if (m->arrived && m->arrived == (m->mask & w->exists & ~w->ended)) {
            complete(w, m, 0);
            i--; /* another entry has replaced it */
        }
    }
    if (w->ended == w->exists && simt_options.profile) simt_trace_flush(w);
}

uint32_t simt_warp_arrived(const struct simt_thread *t)
{
    const struct simt_warp *w = t->warp;
    for (uint32_t i = 0; i < w->meet_count; i++)
        if (w->meets[i].mask == t->mask && w->meets[i].op == t->op) return w->meets[i].arrived;
    return 0;
}

/* The active lanes, as far as this is defined for threads that run one after another: all that
 * neither wait nor have ended. */
SIMT_API uint32_t simt_active_mask(void)
{
    const struct simt_thread *t = simt_self;
    return t->warp->ready | 1u << t->lane;
}
