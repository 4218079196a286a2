/*
 * simt/access.c - every memory access of a kernel, reported by calls that the compiler inserts.
 *
 * Kernels are compiled with the instrumentation of the thread sanitizer. The functions that it
 * calls are defined here instead of in the sanitizer's runtime: each access is checked and counted
 * before it is executed. Basic blocks are reported by the calls of the coverage instrumentation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simt/cells.h"
#include "simt/emulator.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NULL_PAGE = 4096 /* bytes: no memory of the device is there */ };

#define CALLER ((uintptr_t)__builtin_return_address(0) - 1)

/* ---- Reports ---- */

static void __attribute__((noreturn))
out_of_bounds(struct simt_thread *t, const void *at, size_t bytes, unsigned kind, uintptr_t pc,
              const char *what)
{
    simt_found(SIMT_BOUNDS, t->block->launch, t, pc, "%s %zu bytes at 0x%" PRIxPTR ", %s",
               kind & SIMT_WRITE ? "writes" : "reads", bytes, (uintptr_t)at, what);
    simt_abandon(t);
}

/* Describes the address relative to the nearest allocation. */
static void __attribute__((noreturn, noinline))
global_out_of_bounds(struct simt_thread *t, const void *at, size_t bytes, unsigned kind,
                     uintptr_t pc)
{
    char what[160];
    void *base, *next;
    size_t length, next_length;
    if (simt_options.profile) simt_trace_add(t, SIMT_GLOBAL, kind, (uintptr_t)at, bytes, pc);
    const bool below = simt_memory_below(at, &base, &length);
    if (simt_memory_above(at, &next, &next_length) &&
        (!below ||
         (char *)next - (const char *)at < (const char *)at - (char *)base - (ptrdiff_t)length))
        snprintf(what, sizeof what, "%td bytes before an allocation of %zu bytes",
                 (char *)next - (const char *)at, next_length);
    else if (below)
        snprintf(what, sizeof what, "%td bytes from the beginning of an allocation of %zu bytes",
                 (const char *)at - (char *)base, length);
    else
        snprintf(what, sizeof what, "which is not allocated");
    out_of_bounds(t, at, bytes, kind, pc, what);
}

static void __attribute__((noreturn))
misaligned(struct simt_thread *t, const void *at, size_t bytes, unsigned kind, uintptr_t pc)
{
    simt_found(SIMT_MISALIGNED, t->block->launch, t, pc,
               "%s %zu bytes at %p, which is not a multiple of %zu",
               kind & SIMT_WRITE ? "writes" : "reads", bytes, at, bytes);
    simt_abandon(t);
}

static void __attribute__((cold, noinline))
uninitialised(struct simt_thread *t, const void *at, size_t bytes, uintptr_t pc)
{
    struct simt_where where;
    simt_locate(t, at, &where);
    simt_found(SIMT_UNWRITTEN, t->block->launch, t, pc,
               "reads %zu bytes of %s memory%s%s at byte %zu, which is uninitialised", bytes,
               where.space, where.name ? " " : "", where.name ? where.name : "", where.offset);
}

/* Several workers may access the same cells concurrently: 256 bytes of memory share a lock, and an
 * aligned access is within them. */
static atomic_flag *lock_cells(const struct simt_launch *l, size_t offset)
{
    static atomic_flag locks[1024];
    if (l->workers == 1) return NULL;
    atomic_flag *lock = &locks[offset / 256 % 1024];
    while (atomic_flag_test_and_set_explicit(lock, memory_order_acquire)) {
    }
    return lock;
}

static void global_access(struct simt_thread *t, const void *at, size_t bytes, unsigned kind,
                          uintptr_t pc)
{
    size_t offset = (uintptr_t)at - simt_arena, first = offset % 4;
    bool whole = true;
    if (!t->waited)
        simt_found(SIMT_RACE, t->block->launch, t, pc,
                   "%s %zu bytes of global memory in a launch that may begin early, before it has "
                   "waited for the launches before it",
                   kind & SIMT_WRITE ? "writes" : "reads", bytes);
    for (size_t done = 0, cell = offset / 4; done < bytes; cell++) {
        size_t begin = done ? 0 : first, here = 4 - begin < bytes - done ? 4 - begin : bytes - done;
        unsigned bits = ((1u << here) - 1) << begin, meta = simt_meta[cell];
        if ((meta & bits) != bits) global_out_of_bounds(t, at, bytes, kind, pc);
        if (kind & SIMT_WRITE && (meta >> 4 & bits) != bits)
            __atomic_fetch_or(&simt_meta[cell], (uint8_t)(bits << 4), __ATOMIC_RELAXED);
        if (!(kind & SIMT_WRITE) || kind & SIMT_CHANGE) whole &= (meta >> 4 & bits) == bits;
        done += here;
    }
    if (kind & SIMT_WRITE) t->wrote = t->block->clock;
    if (kind & SIMT_CHANGE && simt_options.weak) simt_weak_change(t, (void *)(uintptr_t)at, bytes);
    if (simt_options.check) {
        if (!whole) uninitialised(t, at, bytes, pc);
        atomic_flag *lock = lock_cells(t->block->launch, offset);
        simt_race_check(t, &simt_cells[offset / 4], at, bytes, kind, pc,
                        t->block->launch->first_serial);
        simt_flag_release(lock);
    }
    if (simt_options.profile && !(kind & SIMT_COUNTED))
        simt_trace_add(t, SIMT_GLOBAL, kind, (uintptr_t)at, bytes, pc);
    if (simt_options.weak && (kind & (SIMT_WRITE | SIMT_CHANGE)) == SIMT_WRITE)
        simt_weak_store(t, (void *)(uintptr_t)at, bytes);
}

/* With several workers, another one may access a flag between the check of an atomic operation and
 * the operation itself. So it is recorded again, and its cells stay locked until it has been
 * executed: the last recorded operation is the one that was executed last. */
atomic_flag *simt_flag_hold(struct simt_thread *t, const void *at, size_t bytes, unsigned kind,
                            uintptr_t pc)
{
    const struct simt_launch *l = t->block->launch;
    const size_t offset = (uintptr_t)at - simt_arena;
    if (offset >= simt_arena_bytes || !simt_options.check) return NULL;
    atomic_flag *held = lock_cells(l, offset);
    if (held) simt_race_check(t, &simt_cells[offset / 4], at, bytes, kind, pc, l->first_serial);
    return held;
}

void simt_flag_release(atomic_flag *held)
{
    if (held) atomic_flag_clear_explicit(held, memory_order_release);
}

/* Whether all of the bytes were written before; `written` has a byte of 0 or 1 per byte. */
static inline bool note_written(uint8_t *written, size_t bytes, bool writes)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t was = ones, also = ones;
    if (bytes == 16) memcpy(&also, written + 8, 8);
    if (bytes == 16 && writes) memcpy(written + 8, &ones, 8);
    switch (bytes) {
    case 4:
        memcpy(&was, written, 4);
        if (writes) memcpy(written, &ones, 4);
        break;
    case 8:
    case 16:
        memcpy(&was, written, 8);
        if (writes) memcpy(written, &ones, 8);
        break;
    default:
        for (size_t i = 0; i < bytes; i++) {
            was &= ~(uint64_t)1 | written[i];
            written[i] |= writes;
        }
    }
    return was == ones && also == ones;
}

static inline bool within_dynamic(const struct simt_thread *t, size_t offset, size_t bytes)
{
    size_t dynamic = offset - t->block->module->dynamic;
    return dynamic >= SIMT_MOST_SHARED_BYTES || dynamic + bytes <= t->block->launch->shared_bytes;
}

static void __attribute__((noreturn, noinline))
shared_out_of_bounds(struct simt_thread *t, const void *at, size_t offset, size_t bytes,
                     unsigned kind, uintptr_t pc)
{
    char what[120];
    if (simt_options.profile) simt_trace_add(t, SIMT_SHARED, kind, offset, bytes, pc);
    snprintf(what, sizeof what, "which is byte %zu of %u bytes of dynamic shared memory",
             offset - t->block->module->dynamic, t->block->launch->shared_bytes);
    out_of_bounds(t, at, bytes, kind, pc, what);
}

/* offset: in the shared memory of `owner`, with the layout of struct simt_block. */
static void shared_access(struct simt_thread *t, struct simt_block *owner, size_t offset,
                          const void *at, size_t bytes, unsigned kind, uintptr_t pc)
{
    if (!within_dynamic(t, offset, bytes)) shared_out_of_bounds(t, at, offset, bytes, kind, pc);
    bool whole = note_written(owner->written + offset, bytes, kind & SIMT_WRITE);
    if (simt_options.check) {
        if (!whole && (!(kind & SIMT_WRITE) || kind & SIMT_CHANGE)) uninitialised(t, at, bytes, pc);
        simt_race_check(t, &owner->cells[offset / 4], at, bytes, kind, pc, owner->oldest);
    }
    if (simt_options.profile && !(kind & SIMT_COUNTED))
        simt_trace_add(t, SIMT_SHARED, kind, offset, bytes, pc);
}

static void set_written(struct simt_thread *t, const void *at, size_t bytes, int written)
{
    size_t offset = (uintptr_t)at - (uintptr_t)t->block->worker->shared;
    if (offset < t->block->module->shared_bytes) memset(t->block->written + offset, written, bytes);
}

void simt_shared_forget(struct simt_thread *t, const void *at, size_t bytes)
{
    set_written(t, at, bytes, 0);
}

void simt_shared_written(struct simt_thread *t, const void *at, size_t bytes)
{
    set_written(t, at, bytes, 1);
}

/* Shared memory of another block of the cluster, at an address that simt_cluster_map() returned. */
static bool __attribute__((noinline))
cluster_access(struct simt_thread *t, const void *at, size_t bytes, unsigned kind, uintptr_t pc)
{
    const struct simt_cluster *c = t->block->cluster;
    for (uint32_t i = 0; c && i < c->count; i++) {
        size_t offset = (uintptr_t)at - (uintptr_t)c->blocks[i]->saved;
        if (offset >= t->block->launch->function->module->shared_bytes) continue;
        if (c->blocks[i]->over)
            out_of_bounds(t, at, bytes, kind, pc,
                          "which is shared memory of a block that has ended");
        shared_access(t, c->blocks[i], offset, at, bytes, kind, pc);
        return true;
    }
    return false;
}

/* The kernel's arguments, which are copied by the code that calls the kernel. */
static bool is_parameter(const struct simt_launch *l, uintptr_t at)
{
    const struct simt_kernel *k = l->function->kernel;
    if (at - (uintptr_t)l->parameters < k->parameter_count * sizeof *l->parameters) return true;
    for (uint32_t i = 0; i < k->parameter_count; i++)
        if (at - (uintptr_t)l->parameters[i] < k->parameter_bytes[i]) return true;
    return false;
}

/* Memory that is neither in the arena nor the block's own. */
static void __attribute__((noinline))
other_access(struct simt_thread *t, const void *at, size_t bytes, unsigned kind, uintptr_t pc)
{
    const uintptr_t address = (uintptr_t)at;
    enum simt_memory_kind where;
    void *base;
    size_t length;
    if (is_parameter(t->block->launch, address) || cluster_access(t, at, bytes, kind, pc)) return;
    if (!simt_memory_find(at, &base, &length, &where))
        out_of_bounds(t, at, bytes, kind, pc,
                      address < NULL_PAGE ? "relative to a null pointer"
                                          : "which is not memory of the device");
}

void simt_access(struct simt_thread *t, const void *at, size_t bytes, unsigned kind, uintptr_t pc)
{
    struct simt_block *block = t->block;
    const struct simt_loaded *module = block->module;
    const char *shared = block->worker->shared;
    uintptr_t address = (uintptr_t)at;
    if (t->overwrites) simt_overwrite_settle(t);
    t->pc = pc;
    if (!(kind & SIMT_STRONG)) t->polled = NULL;
    if (kind & SIMT_WRITE) simt_event(block);
    if (address - (uintptr_t)t->fiber.stack < t->fiber.bytes) return; /* a local variable */
    bool aligned = bytes & (bytes - 1) || address % bytes == 0;
    if (address - simt_arena < simt_arena_bytes) {
        if (kind & SIMT_WRITE && simt_options.yield) simt_let_others_see(t, kind & SIMT_STRONG, pc);
        if (!aligned) misaligned(t, at, bytes, kind, pc);
        global_access(t, at, bytes, kind, pc);
    } else if (address - (uintptr_t)shared < module->shared_bytes) {
        if (!aligned) misaligned(t, at, bytes, kind, pc);
        shared_access(t, block, address - (uintptr_t)shared, at, bytes, kind, pc);
    } else if (address - module->begin < module->end - module->begin) {
        return; /* a constant or a __device__ variable */
    } else {
        other_access(t, at, bytes, kind, pc);
    }
}

/* ---- The most frequent accesses ---- */

/* Whether memory with these bytes of state, one per cell, is initialised, or is written now. */
static inline bool note_global(uint8_t *meta, uintptr_t at, size_t bytes, bool writes)
{
    uint32_t was = 0, all = 0xffffffff;
    if (bytes < 4) {
        const unsigned bits = ((1u << bytes) - 1) << at % 4, live = *meta & bits;
        if (live != bits || (!writes && (*meta >> 4 & bits) != bits)) return false;
        if (writes) *meta |= (uint8_t)(bits << 4);
        return true;
    }
    memcpy(&was, meta, bytes / 4);
    all >>= 32 - 8 * (bytes / 4);
    if (was == all) return true;
    if (!writes || (was & (all & 0x0f0f0f0f)) != (all & 0x0f0f0f0f)) return false;
    memcpy(meta, &all, bytes / 4);
    return true;
}

/* Does what simt_access() does, for an aligned plain access that needs no report. Returns false for
 * others, and has then done nothing that simt_access() does not do again. */
static inline __attribute__((always_inline)) bool
quick_access(struct simt_thread *t, uintptr_t at, size_t bytes, unsigned kind, uintptr_t pc)
{
    struct simt_block *b = t->block;
    if (t->overwrites) return false;
    if (at - (uintptr_t)t->fiber.stack >= t->fiber.bytes) {
        const size_t offset = at - (uintptr_t)b->worker->shared, place = at - simt_arena;
        if (at % bytes) return false;
        if (offset < b->module->shared_bytes) {
            if (!b->quick_shared || !within_dynamic(t, offset, bytes)) return false;
            if (!note_written(b->written + offset, bytes, kind & SIMT_WRITE) &&
                !(kind & SIMT_WRITE))
                return false;
            if (!simt_race_passes(t, &b->cells[offset / 4], at, bytes, kind, pc, b->oldest))
                return false;
            if (b->profiled) simt_trace_add(t, SIMT_SHARED, kind, offset, bytes, pc);
        } else if (place < simt_arena_bytes) {
            if (!b->quick_global || !t->waited ||
                !note_global(&simt_meta[place / 4], at, bytes, kind & SIMT_WRITE))
                return false;
            if (!simt_race_passes(t, &simt_cells[place / 4], at, bytes, kind, pc,
                                  b->launch->first_serial))
                return false;
            if (kind & SIMT_WRITE) t->wrote = b->clock;
            if (b->profiled) simt_trace_add(t, SIMT_GLOBAL, kind, at, bytes, pc);
        } else {
            return false;
        }
    }
    t->pc = pc;
    t->polled = NULL;
    if (kind & SIMT_WRITE) simt_event(b);
    return true;
}

static inline __attribute__((always_inline)) void plain(const void *at, size_t bytes, unsigned kind,
                                                        uintptr_t pc)
{
    struct simt_thread *t = simt_self;
    if (t && !quick_access(t, (uintptr_t)at, bytes, kind, pc)) simt_access(t, at, bytes, kind, pc);
}

/* A thread that reads the same flag again, or retries the same atomic, is waiting for other
 * threads. */
static void poll(struct simt_thread *t, const void *at, uintptr_t pc)
{
    if (t->polled == at) simt_give_way(t, pc);
    t->polled = at;
}

/* ---- Hooks called by the compiler: plain accesses ---- */

/* NOLINTBEGIN(bugprone-reserved-identifier): the names are the compiler's */
#define HOOK(type) SIMT_API type
#define PLAIN(bytes)                                                                               \
    HOOK(void) __tsan_read##bytes(void *at);                                                       \
    HOOK(void) __tsan_write##bytes(void *at);                                                      \
    HOOK(void) __tsan_unaligned_read##bytes(void *at);                                             \
    HOOK(void) __tsan_unaligned_write##bytes(void *at);                                            \
    HOOK(void) __tsan_volatile_read##bytes(void *at);                                              \
    HOOK(void) __tsan_volatile_write##bytes(void *at);                                             \
    HOOK(void) __tsan_unaligned_volatile_read##bytes(void *at);                                    \
    HOOK(void) __tsan_unaligned_volatile_write##bytes(void *at);                                   \
    HOOK(void) __tsan_read##bytes(void *at)                                                        \
    {                                                                                              \
        plain(at, bytes, SIMT_READ, CALLER);                                                       \
    }                                                                                              \
    HOOK(void) __tsan_write##bytes(void *at)                                                       \
    {                                                                                              \
        plain(at, bytes, SIMT_WRITE, CALLER);                                                      \
    }                                                                                              \
    HOOK(void) __tsan_unaligned_read##bytes(void *at)                                              \
    {                                                                                              \
        plain(at, bytes, SIMT_READ, CALLER);                                                       \
    }                                                                                              \
    HOOK(void) __tsan_unaligned_write##bytes(void *at)                                             \
    {                                                                                              \
        plain(at, bytes, SIMT_WRITE, CALLER);                                                      \
    }                                                                                              \
    HOOK(void) __tsan_volatile_read##bytes(void *at)                                               \
    {                                                                                              \
        simt_flag_read(at, bytes, false, CALLER);                                                  \
    }                                                                                              \
    HOOK(void) __tsan_volatile_write##bytes(void *at)                                              \
    {                                                                                              \
        flag_write(at, bytes, CALLER);                                                             \
    }                                                                                              \
    HOOK(void) __tsan_unaligned_volatile_read##bytes(void *at)                                     \
    {                                                                                              \
        simt_flag_read(at, bytes, false, CALLER);                                                  \
    }                                                                                              \
    HOOK(void) __tsan_unaligned_volatile_write##bytes(void *at)                                    \
    {                                                                                              \
        flag_write(at, bytes, CALLER);                                                             \
    }

void simt_flag_read(const void *at, size_t bytes, bool acquires, uintptr_t pc)
{
    struct simt_thread *t = simt_self;
    if (!t) return;
    if ((uintptr_t)at - simt_arena < simt_arena_bytes) simt_look_again(t, at, pc);
    poll(t, at, pc);
    simt_access(t, at, bytes, SIMT_READ | SIMT_STRONG, pc);
    simt_race_read_flag(t, at, acquires);
}

/* Until simt_flag_release(), no other worker accesses the flag. */
static atomic_flag *hold_and_publish(const void *at, size_t bytes, bool releases, uintptr_t pc)
{
    struct simt_thread *t = simt_self;
    if (!t) return NULL;
    if (releases) simt_race_fence(t, SIMT_DEVICE);
    simt_access(t, at, bytes, SIMT_WRITE | SIMT_STRONG, pc);
    atomic_flag *held = simt_flag_hold(t, at, bytes, SIMT_WRITE | SIMT_STRONG, pc);
    simt_race_publish(t, at, true);
    return held;
}

/* A volatile store is executed after the return. */
static void flag_write(const void *at, size_t bytes, uintptr_t pc)
{
    simt_flag_release(hold_and_publish(at, bytes, false, pc));
}

PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

HOOK(void) __tsan_read_range(void *at, size_t bytes);
HOOK(void) __tsan_write_range(void *at, size_t bytes);
HOOK(void *) __tsan_memcpy(void *to, const void *from, size_t bytes);
HOOK(void *) __tsan_memmove(void *to, const void *from, size_t bytes);
HOOK(void *) __tsan_memset(void *to, int value, size_t bytes);

/* A struct is copied in the widest words that its address allows, as on the device. */
static void range(const char *at, size_t bytes, unsigned kind, uintptr_t pc)
{
    if (!simt_self) return;
    while (bytes) {
        size_t word = 16;
        while (word > bytes || (uintptr_t)at % word) word /= 2;
        simt_access(simt_self, at, word, kind, pc);
        at += word;
        bytes -= word;
    }
}

HOOK(void) __tsan_read_range(void *at, size_t bytes)
{
    range(at, bytes, SIMT_READ, CALLER);
}
HOOK(void) __tsan_write_range(void *at, size_t bytes)
{
    range(at, bytes, SIMT_WRITE, CALLER);
}

HOOK(void *) __tsan_memcpy(void *to, const void *from, size_t bytes)
{
    range(from, bytes, SIMT_READ, CALLER);
    range(to, bytes, SIMT_WRITE, CALLER);
    return memcpy(to, from, bytes);
}

HOOK(void *) __tsan_memmove(void *to, const void *from, size_t bytes)
{
    range(from, bytes, SIMT_READ, CALLER);
    range(to, bytes, SIMT_WRITE, CALLER);
    return memmove(to, from, bytes);
}

HOOK(void *) __tsan_memset(void *to, int value, size_t bytes)
{
    range(to, bytes, SIMT_WRITE, CALLER);
    return memset(to, value, bytes);
}

/* ---- Hooks called by the compiler: atomics ---- */

/* Loads and stores by __atomic_load_n() and __atomic_store_n(), the C equivalents of instructions
 * in cuda/device/ptx.cuh; read-modify-write operations use simt_atomic(). */
#define ATOMIC(bits, type)                                                                         \
    HOOK(type) __tsan_atomic##bits##_load(const volatile type *at, int order);                     \
    HOOK(void) __tsan_atomic##bits##_store(volatile type *at, type value, int order);              \
    HOOK(type) __tsan_atomic##bits##_load(const volatile type *at, int order)                      \
    {                                                                                              \
        const void *flag = (const void *)(uintptr_t)at;                                            \
        simt_flag_read(flag, sizeof(type), false, CALLER);                                         \
        type value = __atomic_load_n(at, __ATOMIC_SEQ_CST);                                        \
        if (simt_self && (order == __ATOMIC_ACQUIRE || order == __ATOMIC_SEQ_CST))                 \
            simt_race_read_flag(simt_self, flag, true);                                            \
        return value;                                                                              \
    }                                                                                              \
    HOOK(void) __tsan_atomic##bits##_store(volatile type *at, type value, int order)               \
    {                                                                                              \
        atomic_flag *held =                                                                        \
            hold_and_publish((const void *)(uintptr_t)at, sizeof(type),                            \
                             order == __ATOMIC_RELEASE || order == __ATOMIC_SEQ_CST, CALLER);      \
        __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                             \
        simt_flag_release(held);                                                                   \
    }

ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

HOOK(void) __tsan_atomic_thread_fence(int order);
HOOK(void) __tsan_atomic_thread_fence(int order)
{
    (void)order;
    if (simt_self) simt_race_fence(simt_self, SIMT_DEVICE);
}

SIMT_API void simt_fence(enum simt_scope scope)
{
    simt_race_fence(simt_self, scope);
}

/* ---- Hooks called by the compiler: others ---- */

HOOK(void) __sanitizer_cov_trace_pc(void);
HOOK(void) __tsan_func_entry(void *caller);
HOOK(void) __tsan_func_exit(void);
HOOK(void) __tsan_init(void);
HOOK(void) __tsan_vptr_update(void **at, void *value);
HOOK(void) __tsan_vptr_read(void **at);

/* The profile records every basic block. Otherwise only the last of those that a thread may run
 * before it yields takes this path. */
static void __attribute__((noinline)) count_block(uintptr_t pc)
{
    struct simt_thread *t = simt_self;
    if (!t) return;
    if (simt_options.profile) {
        simt_trace_add(t, SIMT_BRANCH, 0, 0, 0, pc);
        if (++t->steps < SIMT_STEPS) return;
    }
    t->block->worker->long_steps++;
    simt_give_way(t, pc);
}

HOOK(void) __sanitizer_cov_trace_pc(void)
{
    if (--simt_steps_left <= 0) count_block(CALLER);
}

HOOK(void) __tsan_func_entry(void *caller)
{
    (void)caller;
}
HOOK(void) __tsan_func_exit(void)
{
}
HOOK(void) __tsan_init(void)
{
}
HOOK(void) __tsan_vptr_update(void **at, void *value)
{
    (void)at, (void)value;
}
HOOK(void) __tsan_vptr_read(void **at)
{
    (void)at;
}
/* NOLINTEND(bugprone-reserved-identifier) */
