/*
 * simt/async.c - asynchronous copies from global to shared memory, and the barriers in shared
 * memory that count them.
 *
 *     simt_copy_async()     checks both accesses; the destination becomes uninitialised
 *     simt_copy_wait(n)     performs the copies of all groups except the last n
 *     simt_copy_bulk()      checks both accesses; the destination becomes uninitialised
 *     simt_mbarrier_done()  performs the bulk copies of this barrier, then reads the barrier
 *
 * So a thread that does not wait reads what was in shared memory before, and the read is reported
 * as uninitialised.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simt/emulator.h"

#include <stdlib.h>
#include <string.h>

#define CALLER ((uintptr_t)__builtin_return_address(0) - 1)

static bool reports(const struct simt_thread *t)
{
    return t->block->launch->function->module->image->reports_accesses;
}

static void add(struct simt_thread *t, struct simt_copies *c, struct simt_copy copy)
{
    if (c->count == c->capacity) {
        uint32_t capacity = c->capacity ? 2 * c->capacity : 16;
        struct simt_copy *more = realloc(c->of, capacity * sizeof *more);
        if (!more) {
            atomic_store(&t->block->launch->no_memory, true);
            simt_abandon(t);
        }
        c->of = more;
        c->capacity = capacity;
    }
    c->of[c->count++] = copy;
}

/* ---- Copies of single threads ---- */

/* The two accesses are different instructions for the profile; both addresses are in the call. */
SIMT_API void simt_copy_async(void *to, const void *from, unsigned bytes)
{
    struct simt_thread *t = simt_self;
    const uintptr_t pc = CALLER;
    if (reports(t)) {
        simt_access(t, from, bytes, SIMT_READ, pc);
        simt_access(t, to, bytes, SIMT_WRITE, pc - 1);
        simt_shared_forget(t, to, bytes);
    }
    add(t, &t->copies, (struct simt_copy){ .to = to, .from = from, .bytes = bytes, .pc = pc });
}

SIMT_API void simt_copy_commit(void)
{
    simt_self->copies.groups++;
    for (uint32_t i = simt_self->copies.count; i && !simt_self->copies.of[i - 1].group; i--)
        simt_self->copies.of[i - 1].group = simt_self->copies.groups;
}

/* A copy in no group is not waited for. */
SIMT_API void simt_copy_wait(unsigned groups)
{
    struct simt_thread *t = simt_self;
    struct simt_copies *c = &t->copies;
    uint32_t left = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        const struct simt_copy *copy = &c->of[i];
        if (copy->group == 0 || c->groups - copy->group < groups) {
            c->of[left++] = *copy;
            continue;
        }
        if (reports(t)) { /* both accesses happen between the two calls: they are checked twice */
            simt_access(t, copy->from, copy->bytes, SIMT_READ | SIMT_COUNTED, copy->pc);
            simt_access(t, copy->to, copy->bytes, SIMT_WRITE | SIMT_COUNTED, copy->pc - 1);
        }
        memcpy(copy->to, copy->from, copy->bytes);
    }
    c->count = left;
}

/* ---- Barriers in shared memory ----
 *
 *     parity of the phase | pending bytes + 2^21 | pending arrivals | count
 *     1                     23                     20                 20 bits */

enum { FIELD = 20 };
#define COUNT  ((UINT64_C(1) << FIELD) - 1)
#define NONE   (UINT64_C(1) << (3 * FIELD + 1)) /* no pending bytes */
#define PARITY (UINT64_C(1) << 63)

SIMT_API void simt_mbarrier_init(uint64_t *barrier, uint32_t count)
{
    struct simt_thread *t = simt_self;
    if (reports(t)) simt_access(t, barrier, sizeof *barrier, SIMT_WRITE, CALLER);
    *barrier = NONE | (uint64_t)count << FIELD | count;
}

/* This many threads arrive, and this many more bytes are pending. All threads that can access the
 * barrier run on one worker. */
static void change(uint64_t *barrier, uint32_t arrivals, int64_t bytes)
{
    const uint64_t count = *barrier & COUNT;
    uint64_t next = *barrier - ((uint64_t)arrivals << FIELD) + ((uint64_t)bytes << 2 * FIELD);
    if ((next & ~PARITY) == (NONE | count)) next = (next ^ PARITY) + (count << FIELD);
    *barrier = next;
}

/* Earlier writes of the thread become visible to threads of the block that wait. */
SIMT_API void simt_mbarrier_arrive(uint64_t *barrier, uint32_t expected_bytes)
{
    struct simt_thread *t = simt_self;
    if (reports(t)) {
        simt_race_fence(t, SIMT_BLOCK);
        simt_access(t, barrier, sizeof *barrier, SIMT_WRITE | SIMT_STRONG | SIMT_CHANGE, CALLER);
        simt_race_read_flag(t, barrier, false);
        simt_race_publish(t, barrier, false);
    }
    change(barrier, 1, expected_bytes);
}

/* ---- Bulk copies ---- */

SIMT_API void simt_copy_bulk(void *to, const void *from, uint32_t bytes, uint64_t *barrier)
{
    struct simt_thread *t = simt_self;
    const uintptr_t pc = CALLER;
    for (uint32_t i = 0; reports(t) && i < bytes / 16; i++) {
        simt_access(t, (const char *)from + 16 * i, 16, SIMT_READ, pc);
        simt_access(t, (char *)to + 16 * i, 16, SIMT_WRITE, pc - 1);
    }
    if (reports(t)) {
        simt_access(t, barrier, sizeof *barrier, SIMT_WRITE | SIMT_STRONG | SIMT_CHANGE, pc - 2);
        simt_race_read_flag(t, barrier, false);
        simt_race_fence(t, SIMT_BLOCK);
        simt_shared_forget(t, to, bytes);
    }
    add(t, &t->block->bulk, (struct simt_copy){ to, from, bytes, 0, pc, barrier, t, t->released });
}

/* Publishes the copy for the thread that began it, as of that time. */
static void perform(const struct simt_copy *copy)
{
    struct simt_thread *by = copy->by;
    const struct simt_vector_clock_entry now = by->released;
    memcpy(copy->to, copy->from, copy->bytes);
    if (reports(by)) {
        simt_shared_written(by, copy->to, copy->bytes);
        by->released = copy->released;
        simt_race_publish(by, copy->barrier, false);
        by->released = now;
    }
    change(copy->barrier, 0, -(int64_t)copy->bytes);
    simt_event(by->block);
}

SIMT_API int simt_mbarrier_done(uint64_t *barrier, uint32_t parity)
{
    struct simt_thread *t = simt_self;
    struct simt_copies *c = &t->block->bulk;
    const uintptr_t pc = CALLER;
    uint32_t left = 0;
    for (uint32_t i = 0; i < c->count; i++)
        if (c->of[i].barrier == barrier)
            perform(&c->of[i]);
        else
            c->of[left++] = c->of[i];
    c->count = left;
    if (reports(t)) {
        simt_flag_read(barrier, sizeof *barrier, false, pc);
        simt_race_read_flag(t, barrier, true);
    }
    return *barrier >> 63 != parity;
}
