/*
 * simt/block.c - the threads of a block as fibers: how they begin and end, and the barriers at
 * which they synchronise.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simt/emulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLER ((uintptr_t)__builtin_return_address(0) - 1)

/* ---- Indices of a thread ---- */

SIMT_API unsigned simt_thread_index(enum simt_axis axis)
{
    return simt_self->index[axis];
}

SIMT_API unsigned simt_block_index(enum simt_axis axis)
{
    return simt_self->block->index[axis];
}

SIMT_API unsigned simt_block_size(enum simt_axis axis)
{
    return simt_self->block->launch->block[axis];
}

SIMT_API unsigned simt_grid_size(enum simt_axis axis)
{
    return simt_self->block->launch->grid[axis];
}

SIMT_API unsigned simt_lane(void)
{
    return simt_self->lane;
}

SIMT_API unsigned simt_dynamic_shared_bytes(void)
{
    return simt_self->block->launch->shared_bytes;
}

SIMT_API uint64_t simt_clock(void)
{
    return ++simt_self->block->worker->clock;
}

/* ---- Functions of a single thread ---- */

SIMT_API void simt_yield(void)
{
    simt_give_way(simt_self, CALLER);
}

SIMT_API void simt_wait_earlier(void)
{
    simt_self->waited = true;
}

SIMT_API void simt_trap(const char *what)
{
    struct simt_thread *t = simt_self;
    simt_found(SIMT_TRAP, t->block->launch, t, CALLER, "%s", what);
    simt_abandon(t);
}

/* ---- Barriers ---- */

static void release_barrier(struct simt_block *b, unsigned number)
{
    struct simt_barrier *bar = &b->barriers[number];
    uint32_t waiting = 0; /* warps */
    b->vote = bar->count;
    b->vote_all = bar->count == (int)bar->arrived;
    for (uint32_t i = 0; i < b->thread_count; i++) {
        struct simt_thread *t = &b->threads[i];
        if (t->waits != SIMT_AT_BARRIER || t->barrier != number) continue;
        waiting |= 1u << t->warp->number;
        simt_wake(t);
    }
    if (bar->expected == 0 && simt_options.profile)
        for (uint32_t i = 0; i < b->warp_count; i++) simt_trace_flush(&b->warps[i]);
    if (simt_options.profile) simt_record_barrier(b, bar->warps, bar->pc);
    if (bar->expected == 0)
        simt_race_met_block(b);
    else
        simt_race_met_warps(b, bar->warps, waiting);
    memset(bar, 0, sizeof *bar);
}

/* Threads that have returned do not count at a barrier: that is defined. But a thread that bypassed
 * the barrier and then executed a later line was probably meant to arrive. */
static void check_ended(struct simt_block *b, const struct simt_thread *t, uintptr_t pc)
{
    uint32_t ended = b->thread_count - b->alive;
    uintptr_t before = 0;
    if (b->ended_checked == ended && b->ended_pc == pc) return;
    b->ended_checked = ended;
    b->ended_pc = pc;
    for (uint32_t i = 0; i < b->thread_count; i++) {
        const struct simt_thread *other = &b->threads[i];
        char who[96], place[64];
        if (other->waits != SIMT_ENDED || !other->pc || other->pc == before) continue;
        before = other->pc;
        if (!simt_later_line(other->pc, pc)) continue;
        simt_thread_name(other, who, sizeof who);
        simt_place(other->pc, place, sizeof place);
        simt_found(SIMT_DIVERGENT_BARRIER, b->launch, t, pc,
                   "waits for %s, which ended after %s without arriving", who, place);
        return;
    }
}

/* The first thread to arrive defines the line; the others should arrive at the same line. */
static void note_place(struct simt_thread *t, struct simt_barrier *bar, uintptr_t pc)
{
    if (bar->arrived == 0) {
        bar->pc = pc;
        bar->first = t->number;
    } else if (pc != bar->pc && bar->expected == 0 && !simt_same_line(pc, bar->pc)) {
        char place[64], other[64];
        simt_place(bar->pc, place, sizeof place);
        simt_thread_name(&t->block->threads[bar->first], other, sizeof other);
        simt_found(SIMT_DIVERGENT_BARRIER, t->block->launch, t, pc,
                   "arrives at this barrier while %s is at the barrier of %s", other, place);
    }
}

/* Whether the arrival of t completes the barrier. */
static bool arrive(struct simt_thread *t, unsigned number, unsigned threads, int predicate,
                   uintptr_t pc)
{
    struct simt_block *b = t->block;
    if (t->overwrites) simt_overwrite_settle(t);
    if (number >= SIMT_BARRIERS || threads % SIMT_LANES || (!threads && number)) {
        simt_found(SIMT_LIMIT, b->launch, t, pc,
                   "barrier %u of %u threads: there are 16 barriers, for multiples of 32 threads",
                   number, threads);
        simt_abandon(t);
    }
    struct simt_barrier *bar = &b->barriers[number];
    if (bar->arrived && bar->expected != threads) {
        simt_found(SIMT_DIVERGENT_BARRIER, b->launch, t, pc,
                   "arrives at barrier %u for %u threads, but others wait for %u", number, threads,
                   bar->expected);
        simt_abandon(t);
    }
    bar->expected = threads;
    note_place(t, bar, pc);
    bar->arrived++;
    if (simt_options.profile && !(bar->warps >> t->warp->number & 1))
        simt_trace_meeting(t->warp, true, pc);
    bar->warps |= 1u << t->warp->number;
    bar->count += predicate != 0;
    simt_event(b);
    return bar->arrived == (threads ? threads : b->alive);
}

static void meet(unsigned number, unsigned threads, int predicate, uintptr_t pc)
{
    struct simt_thread *t = simt_self;
    struct simt_block *b = t->block;
    bool last = arrive(t, number, threads, predicate, pc);
    t->barrier = number;
    if (last) {
        if (b->alive < b->thread_count && threads == 0) check_ended(b, t, pc);
        t->waits = SIMT_AT_BARRIER;
        release_barrier(b, number);
    } else {
        simt_wait(t, SIMT_AT_BARRIER, pc);
    }
}

SIMT_API void simt_barrier(unsigned barrier, unsigned threads)
{
    meet(barrier, threads, 0, CALLER);
}

SIMT_API void simt_barrier_arrive(unsigned barrier, unsigned threads)
{
    struct simt_thread *t = simt_self;
    if (arrive(t, barrier, threads, 0, CALLER)) release_barrier(t->block, barrier);
}

SIMT_API int simt_barrier_vote(enum simt_vote vote, int predicate)
{
    struct simt_block *b = simt_self->block;
    meet(0, 0, predicate, CALLER);
    return vote == SIMT_VOTE_COUNT ? b->vote : vote == SIMT_VOTE_AND ? b->vote_all : b->vote != 0;
}

/* ---- Beginning and end of a thread ---- */

static void end_thread(struct simt_thread *t)
{
    struct simt_block *b = t->block;
    struct simt_warp *w = t->warp;
    if (!simt_fiber_sound(&t->fiber)) {
        simt_found(SIMT_STACK, b->launch, t, t->pc,
                   "local variables exceed the %zu bytes of a thread's stack", t->fiber.bytes);
        simt_abandon(t);
    }
    simt_overwrite_settle(t);
    simt_stop(t);
    b->alive--;
    w->ended |= 1u << t->lane;
    if (b->barriers[0].arrived && b->barriers[0].arrived == b->alive) {
        check_ended(b, &b->threads[b->barriers[0].first], b->barriers[0].pc);
        release_barrier(b, 0);
    }
    simt_warp_ended(w);
    if (b->cluster) simt_cluster_ended(b);
    if (b->alive == 0) b->over = true;
    simt_leave_for_good(t);
}

static void run_thread(void)
{
    simt_fiber_entered();
    struct simt_thread *t = simt_self;
    const struct simt_launch *launch = t->block->launch;
    launch->function->kernel->call(launch->parameters);
    end_thread(t);
}

static void begin_warps(struct simt_block *b)
{
    b->ready_warps = 0;
    for (uint32_t i = 0; i < b->warp_count; i++) {
        struct simt_warp *w = &b->warps[i];
        uint32_t left = b->thread_count - i * SIMT_LANES;
        simt_time(*pair_met)[SIMT_LANES] = w->pair_met;
        struct simt_vector_clock clock = w->acquired;
        if (pair_met) memset(pair_met, 0, SIMT_LANES * sizeof *pair_met);
        clock.count = 0, clock.all = false;
        *w = (struct simt_warp){ .block = b,
                                 .threads = &b->threads[i * SIMT_LANES],
                                 .number = i,
                                 .lanes = left < SIMT_LANES ? left : SIMT_LANES,
                                 .pair_met = pair_met,
                                 .acquired = clock };
        w->exists = w->lanes == SIMT_LANES ? 0xffffffffu : (1u << w->lanes) - 1;
        w->ready = w->exists;
        w->descends = b->warp_descends >> i & 1;
        w->last = w->descends ? 0 : SIMT_LANES - 1;
        b->ready_warps |= 1u << b->order_of[i];
    }
}

static void begin_threads(struct simt_block *b)
{
    const uint32_t *size = b->launch->block;
    const size_t cleared = offsetof(struct simt_thread, block);
    for (uint32_t i = 0; i < b->thread_count; i++) {
        struct simt_thread *t = &b->threads[i];
        memset((char *)t + cleared, 0, offsetof(struct simt_thread, acquired) - cleared);
        simt_vector_clock_clear(&t->acquired);
        simt_vector_clock_clear(&t->unacquired);
        t->copies.count = t->copies.groups = 0;
        t->block = b;
        t->waited = !b->launch->early;
        t->warp = &b->warps[i / SIMT_LANES];
        t->number = i;
        t->lane = i % SIMT_LANES;
        t->index[0] = i % size[0];
        t->index[1] = i / size[0] % size[1];
        t->index[2] = i / size[0] / size[1];
        simt_fiber_begin(&t->fiber, run_thread);
    }
}

void simt_block_begin(struct simt_block *b)
{
    b->alive = b->thread_count;
    b->idle_yields = 0;
    b->profiled = simt_options.profile;
    b->quick_shared = simt_options.check;
    b->quick_global =
        b->quick_shared && !simt_options.yield && !simt_options.weak && b->launch->workers == 1;
    b->clock = 1;
    b->ended_checked = 0;
    b->fences = 0;
    b->met = 0;
    b->over = false;
    b->polls = false;
    b->next_thread = NULL;
    b->looks = 0;
    b->acquired.count = 0, b->acquired.all = false;
    b->bulk.count = 0;
    b->stores.count = 0;
    b->stores.hidden = false;
    memset(b->barriers, 0, sizeof b->barriers);
    begin_warps(b);
    begin_threads(b);
    b->last_warp = &b->warps[b->warp_order[b->warp_count - 1]];
}

/* ---- Deadlocks ---- */

static const char *const waits_at[] = { "runs", "waits for lanes of its warp", "waits at a barrier",
                                        "waits for its cluster", "has ended" };

void simt_block_explain(struct simt_block *b)
{
    struct simt_thread *culprit = NULL;
    uint32_t counts[SIMT_ENDED + 1] = { 0 };
    for (uint32_t i = 0; i < b->thread_count; i++) {
        struct simt_thread *t = &b->threads[i];
        counts[t->waits]++;
        if (t->waits != SIMT_ENDED && (!culprit || t->waits < culprit->waits)) culprit = t;
    }
    if (!culprit) return;
    char others[200] = "";
    int at = 0;
    for (int i = 0; i <= SIMT_ENDED; i++)
        if (counts[i] && at < (int)sizeof others - 1)
            at += snprintf(others + at, sizeof others - (size_t)at, "%s%u: %s", at ? ", " : "",
                           counts[i], i == SIMT_RUNS ? "polls memory" : waits_at[i]);
    bool warp = culprit->waits == SIMT_AT_WARP;
    char mask[64] = "";
    if (warp)
        snprintf(mask, sizeof mask, " (mask %08x, of which %08x arrived)", culprit->mask,
                 simt_warp_arrived(culprit));
    simt_found(SIMT_DEADLOCK, b->launch, culprit, culprit->pc,
               "%s%s, which can never end; threads of the block: %s",
               culprit->waits == SIMT_RUNS ? "waits for memory that no thread writes"
                                           : waits_at[culprit->waits],
               mask, others);
}
