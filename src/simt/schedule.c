/*
 * simt/schedule.c - the scheduler: threads are suspended, wait, are woken and yield.
 *
 * A thread runs until it must wait. Then the next ready lane of its warp runs, otherwise the next
 * warp with a ready lane. So the lanes of a warp arrive at each synchronisation one after another,
 * and the last to arrive continues immediately. A thread that polls memory yields in the same way.
 * If no thread of the block can do more than poll, simt_block_run() returns to the worker.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simt/emulator.h"

#include <stdlib.h>

/* An atomic or volatile store counts as this many plain stores for the option yield: other blocks
 * read it before this block has ended. */
enum { STRONG_STEPS = 16 };

_Thread_local struct simt_thread *simt_self __attribute__((tls_model("initial-exec")));
_Thread_local int32_t simt_steps_left __attribute__((tls_model("initial-exec")));

static void set_ready(struct simt_thread *t, bool ready)
{
    struct simt_warp *w = t->warp;
    struct simt_block *b = t->block;
    uint32_t bit = 1u << b->order_of[w->number];
    w->ready = ready ? w->ready | 1u << t->lane : w->ready & ~(1u << t->lane);
    b->ready_warps = w->ready ? b->ready_warps | bit : b->ready_warps & ~bit;
}

/* Bits of `mask` above `bit`, which may be 31. */
static uint32_t above(uint32_t mask, uint32_t bit)
{
    return bit >= 31 ? 0 : mask & ~((2u << bit) - 1);
}

/* Lanes of `mask` that run after lane `last` of `w`. */
static uint32_t lanes_after(const struct simt_warp *w, uint32_t mask, uint32_t last)
{
    return w->descends ? mask & ((1u << last) - 1) : above(mask, last);
}

static uint32_t first_lane(const struct simt_warp *w, uint32_t mask)
{
    return w->descends ? SIMT_LANES - 1 - (uint32_t)__builtin_clz(mask)
                       : (uint32_t)__builtin_ctz(mask);
}

/* The next thread to run after lane `last` of `w`; NULL if none is ready. */
static struct simt_thread *choose(struct simt_block *b, struct simt_warp *w, bool stay)
{
    uint32_t lanes = lanes_after(w, w->ready, w->last);
    if (!lanes && stay) lanes = w->ready;
    if (!lanes) {
        if (!b->ready_warps) return NULL;
        uint32_t warps = above(b->ready_warps, b->order_of[w->number]);
        if (!warps) warps = b->ready_warps;
        w = &b->warps[b->warp_order[__builtin_ctz(warps)]];
        lanes = w->ready;
    }
    w->last = first_lane(w, lanes);
    return &w->threads[w->last];
}

/* Makes t the running thread. With a profile, the hook takes its slow path for each basic block. */
static void enter(struct simt_thread *t)
{
    simt_self = t;
    t->steps = 0;
    simt_steps_left = simt_options.profile ? 0 : SIMT_STEPS;
}

static void return_to_worker(struct simt_thread *t, bool ends)
{
    struct simt_block *b = t->block;
    b->last_warp = t->warp;
    simt_self = NULL;
    simt_fiber_switch(&t->fiber, &b->worker->fiber, ends);
}

/* Runs another thread; returns when t is scheduled again. */
static void leave(struct simt_thread *t, bool stay)
{
    struct simt_block *b = t->block;
    struct simt_thread *next = choose(b, t->warp, stay);
    if (!next) {
        return_to_worker(t, t->waits == SIMT_ENDED);
        return;
    }
    enter(next);
    if (next != t) simt_fiber_switch(&t->fiber, &next->fiber, t->waits == SIMT_ENDED);
}

void simt_wait(struct simt_thread *t, enum simt_wait why, uintptr_t pc)
{
    t->waits = why;
    t->pc = pc;
    t->polled = NULL;
    set_ready(t, false);
    simt_event(t->block);
    leave(t, true);
}

void simt_wake(struct simt_thread *t)
{
    t->waits = SIMT_RUNS;
    set_ready(t, true);
}

/* With the option yield, many blocks poll while one runs: they poll for a shorter time. */
static uint32_t patience(const struct simt_block *b)
{
    uint32_t ready = 0;
    if (!simt_options.yield) return 2 * b->alive;
    for (uint32_t i = 0; i < b->warp_count; i++)
        ready += (uint32_t)__builtin_popcount(b->warps[i].ready);
    return ready;
}

void simt_give_way(struct simt_thread *t, uintptr_t pc)
{
    struct simt_block *b = t->block;
    if (t->overwrites) simt_overwrite_settle(t);
    t->pc = pc;
    if (atomic_load_explicit(&b->launch->failed, memory_order_relaxed)) simt_abandon(t);
    if (++b->idle_yields > patience(b)) {
        b->idle_yields = 0;
        b->polls = true;
        return_to_worker(t, false);
        return;
    }
    leave(t, false);
}

/* The worker runs other blocks, and may begin one. */
static void suspend_block(struct simt_thread *t, uintptr_t pc)
{
    if (t->overwrites) simt_overwrite_settle(t);
    t->pc = pc;
    t->block->worker->gave_way = true;
    if (atomic_load_explicit(&t->block->launch->failed, memory_order_relaxed)) simt_abandon(t);
    return_to_worker(t, false);
}

void simt_look_again(struct simt_thread *t, const void *at, uintptr_t pc)
{
    struct simt_block *b = t->block;
    bool again = t->looked == at;
    t->looked = at;
    if (!again || ++b->looks < SIMT_LANES) return;
    b->looks = 0;
    b->polls = true;
    suspend_block(t, pc);
}

void simt_let_others_see(struct simt_thread *t, bool strong, uintptr_t pc)
{
    struct simt_worker *w = t->block->worker;
    if (w->until_yield == 0)
        w->until_yield = 1 + simt_draw(&w->random, (uint32_t)(2 * simt_options.yield - 1));
    uint32_t steps = strong ? STRONG_STEPS : 1;
    w->until_yield -= steps < w->until_yield ? steps : w->until_yield;
    if (w->until_yield) return;
    t->block->next_thread = t; /* the order of its threads does not change */
    suspend_block(t, pc);
}

void simt_stop(struct simt_thread *t)
{
    t->waits = SIMT_ENDED;
    set_ready(t, false);
    simt_event(t->block);
}

void simt_leave_for_good(struct simt_thread *t)
{
    if (t->block->over) return_to_worker(t, true);
    leave(t, true);
    abort(); /* a thread that has ended is never resumed */
}

void simt_abandon(struct simt_thread *t)
{
    atomic_store(&t->block->launch->failed, true);
    t->block->over = true;
    return_to_worker(t, true);
    abort(); /* an abandoned thread is never resumed */
}

void simt_block_run(struct simt_block *b)
{
    struct simt_thread *t = b->next_thread ? b->next_thread : choose(b, b->last_warp, false);
    b->next_thread = NULL;
    if (!t) return;
    enter(t);
    simt_fiber_switch(&b->worker->fiber, &t->fiber, false);
    simt_self = NULL;
}
