/*
 * simt/atomic.c - atomic operations: reads, writes, and read-modify-write operations.
 *
 * Blocks run on several threads of this machine, so its own atomics are used.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simt/emulator.h"

#include <string.h>

#define CALLER ((uintptr_t)__builtin_return_address(0) - 1)

static int64_t as_signed(uint64_t value, unsigned bytes)
{
    unsigned unused = 64 - 8 * bytes;
    return (int64_t)(value << unused) >> unused;
}

static uint64_t add_float(uint64_t a, uint64_t b, unsigned bytes)
{
    uint64_t sum = 0;
    if (bytes == 4) {
        float x, y;
        memcpy(&x, &a, 4);
        memcpy(&y, &b, 4);
        x += y;
        memcpy(&sum, &x, 4);
    } else {
        double x, y;
        memcpy(&x, &a, 8);
        memcpy(&y, &b, 8);
        x += y;
        memcpy(&sum, &x, 8);
    }
    return sum;
}

/* The value that is stored in place of `old`. */
static uint64_t changed(enum simt_atomic_op op, uint64_t old, uint64_t value, uint64_t compare,
                        unsigned bytes)
{
    switch (op) {
    case SIMT_ATOMIC_ADD:
        return old + value;
    case SIMT_ATOMIC_EXCHANGE:
        return value;
    case SIMT_ATOMIC_MIN_UNSIGNED:
        return value < old ? value : old;
    case SIMT_ATOMIC_MAX_UNSIGNED:
        return value > old ? value : old;
    case SIMT_ATOMIC_MIN_SIGNED:
        return as_signed(value, bytes) < as_signed(old, bytes) ? value : old;
    case SIMT_ATOMIC_MAX_SIGNED:
        return as_signed(value, bytes) > as_signed(old, bytes) ? value : old;
    case SIMT_ATOMIC_AND:
        return old & value;
    case SIMT_ATOMIC_OR:
        return old | value;
    case SIMT_ATOMIC_XOR:
        return old ^ value;
    case SIMT_ATOMIC_INC:
        return old >= value ? 0 : old + 1;
    case SIMT_ATOMIC_DEC:
        return old == 0 || old > value ? value : old - 1;
    case SIMT_ATOMIC_COMPARE:
        return old == compare ? value : old;
    case SIMT_ATOMIC_ADD_FLOAT:
        return add_float(old, value, bytes);
    }
    return old;
}

#define CHANGE(type)                                                                               \
    do {                                                                                           \
        type old = __atomic_load_n((type *)at, __ATOMIC_RELAXED);                                  \
        while (!__atomic_compare_exchange_n((type *)at, &old,                                      \
                                            (type)changed(op, old, value, compare, bytes), false,  \
                                            __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {                 \
        }                                                                                          \
        return old;                                                                                \
    } while (0)

static uint64_t execute(enum simt_atomic_op op, void *at, unsigned bytes, uint64_t value,
                        uint64_t compare)
{
    if (bytes == 2) CHANGE(uint16_t);
    if (bytes == 4) CHANGE(uint32_t);
    CHANGE(uint64_t);
}

SIMT_API uint64_t simt_atomic(enum simt_atomic_op op, void *at, unsigned bytes, uint64_t value,
                              uint64_t compare)
{
    const unsigned kind = SIMT_WRITE | SIMT_STRONG | SIMT_CHANGE;
    struct simt_thread *t = simt_self;
    if (t->polled == at) simt_give_way(t, CALLER); /* a retry: it is waiting for other threads */
    t->polled = at;
    if (!t->block->launch->function->module->image->reports_accesses)
        return execute(op, at, bytes, value, compare);
    simt_access(t, at, bytes, kind, CALLER);
    atomic_flag *held = simt_flag_hold(t, at, bytes, kind, CALLER);
    simt_race_read_flag(t, at, false);
    simt_race_publish(t, at, false);
    uint64_t old = execute(op, at, bytes, value, compare);
    simt_flag_release(held);
    return old;
}
