/*
 * simt/memory.c - the device's memory: one range of addresses, with a byte of state per four bytes,
 * and cells that record the last accesses.
 *
 * The ranges are reserved with the first allocation and use no memory until they are written. At
 * least GAP unallocated bytes separate two allocations.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* MAP_NORESERVE */
#include "core/poison.h"
#include "simt/emulator.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGN = 512, GAP = 512 };

uintptr_t simt_arena;
size_t simt_arena_bytes;
uint8_t *simt_meta;
struct simt_cells *simt_cells;

struct allocation {
    uintptr_t begin;
    size_t bytes;
    struct simt_owner owner;
};
struct list {
    struct allocation *of; /* sorted by address */
    size_t count, capacity;
};
static struct list lists[2]; /* indexed by enum simt_memory_kind */
static uint64_t used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *reserve(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return NULL;
    madvise(at, bytes, MADV_DONTDUMP);
    return at;
}

/* If the requested range cannot be reserved, tries smaller ones: the address space may be
 * limited. */
static bool open_arena(uint64_t bytes)
{
    for (; bytes >= 1 << 20; bytes /= 2) {
        void *arena = reserve(bytes), *meta = reserve(bytes / 4);
        void *cells = reserve(bytes / 4 * sizeof *simt_cells);
        if (arena && meta && cells) {
            simt_arena = (uintptr_t)arena;
            simt_arena_bytes = bytes;
            simt_meta = meta;
            simt_cells = cells;
            ASAN_POISON_MEMORY_REGION(arena, bytes);
            return true;
        }
        if (arena) munmap(arena, bytes);
        if (meta) munmap(meta, bytes / 4);
        if (cells) munmap(cells, bytes / 4 * sizeof *simt_cells);
    }
    return false;
}

uint64_t simt_memory_total(void)
{
    return simt_arena ? simt_arena_bytes : simt_options.memory_mib << 20;
}

uint64_t simt_memory_used(void)
{
    return used;
}

/* ---- The lists ---- */

/* The number of allocations that begin at or below the address. */
static size_t rank(const struct list *l, uintptr_t address)
{
    size_t low = 0, high = l->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (l->of[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool insert(struct list *l, uintptr_t begin, size_t bytes)
{
    if (l->count == l->capacity) {
        size_t capacity = l->capacity ? 2 * l->capacity : 64;
        struct allocation *more = realloc(l->of, capacity * sizeof *more);
        if (!more) return false;
        l->of = more;
        l->capacity = capacity;
    }
    size_t at = rank(l, begin);
    memmove(l->of + at + 1, l->of + at, (l->count - at) * sizeof *l->of);
    l->of[at] = (struct allocation){ .begin = begin, .bytes = bytes };
    l->count++;
    return true;
}

static const struct allocation *holder(const struct list *l, uintptr_t address)
{
    size_t at = rank(l, address);
    if (at == 0 || address - l->of[at - 1].begin >= l->of[at - 1].bytes) return NULL;
    return &l->of[at - 1];
}

/* The first gap that is large enough. */
static uintptr_t find_gap(const struct list *l, size_t bytes)
{
    uintptr_t at = simt_arena + ALIGN;
    for (size_t i = 0; i <= l->count; i++) {
        uintptr_t end = i < l->count ? l->of[i].begin : simt_arena + simt_arena_bytes;
        if (end > at && end - at >= bytes && end - at - bytes >= GAP) return at;
        if (i < l->count) at = (l->of[i].begin + l->of[i].bytes + GAP + ALIGN - 1) / ALIGN * ALIGN;
    }
    return 0;
}

/* Sets or clears bits of meta for each byte. */
static void mark(uintptr_t begin, size_t bytes, unsigned set, unsigned clear)
{
    uintptr_t at = begin - simt_arena, end = at + bytes;
    for (; at < end && at % 4; at++) {
        simt_meta[at / 4] &= (uint8_t) ~((clear & 0x11u) << at % 4);
        simt_meta[at / 4] |= (uint8_t)((set & 0x11u) << at % 4);
    }
    if ((set | clear) == 0xff) { /* no bits of the old value are kept */
        memset(simt_meta + at / 4, (int)set, (end - at) / 4);
        at += (end - at) / 4 * 4;
    }
    for (; at + 4 <= end; at += 4)
        simt_meta[at / 4] = (uint8_t)((simt_meta[at / 4] & ~clear) | set);
    for (; at < end; at++) {
        simt_meta[at / 4] &= (uint8_t) ~((clear & 0x11u) << at % 4);
        simt_meta[at / 4] |= (uint8_t)((set & 0x11u) << at % 4);
    }
}

/* ---- Functions for the driver ---- */

static void *allocate_device(size_t bytes)
{
    if (!simt_arena && !open_arena(simt_memory_total())) return NULL;
    uintptr_t at = find_gap(&lists[SIMT_MEMORY_DEVICE], bytes);
    if (!at || !insert(&lists[SIMT_MEMORY_DEVICE], at, bytes)) return NULL;
    used += bytes;
    mark(at, bytes, SIMT_META_LIVE, SIMT_META_WRITTEN);
    ASAN_UNPOISON_MEMORY_REGION((void *)at, bytes);
    return (void *)at;
}

static void *allocate_pinned(size_t bytes)
{
    void *at = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (at && !insert(&lists[SIMT_MEMORY_PINNED], (uintptr_t)at, bytes)) {
        free(at);
        at = NULL;
    }
    return at;
}

void *simt_memory_allocate(size_t bytes, enum simt_memory_kind kind)
{
    if (bytes == 0 || bytes > SIZE_MAX / 2) return NULL;
    pthread_mutex_lock(&lock);
    void *at = kind == SIMT_MEMORY_DEVICE ? allocate_device(bytes) : allocate_pinned(bytes);
    pthread_mutex_unlock(&lock);
    return at;
}

bool simt_memory_release(void *pointer, enum simt_memory_kind kind)
{
    struct list *l = &lists[kind];
    pthread_mutex_lock(&lock);
    size_t at = rank(l, (uintptr_t)pointer);
    bool found = at && l->of[at - 1].begin == (uintptr_t)pointer;
    if (found) {
        size_t bytes = l->of[--at].bytes;
        memmove(l->of + at, l->of + at + 1, (l->count - at - 1) * sizeof *l->of);
        l->count--;
        if (kind == SIMT_MEMORY_DEVICE) {
            used -= bytes;
            mark((uintptr_t)pointer, bytes, 0, SIMT_META_LIVE | SIMT_META_WRITTEN);
            ASAN_POISON_MEMORY_REGION(pointer, bytes);
        } else {
            free(pointer);
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}

bool simt_memory_find(const void *pointer, void **base, size_t *bytes, enum simt_memory_kind *kind)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (int k = SIMT_MEMORY_DEVICE; k <= SIMT_MEMORY_PINNED && !found; k++) {
        const struct allocation *a = holder(&lists[k], (uintptr_t)pointer);
        if (!a) continue;
        found = true;
        *base = (void *)a->begin;
        *bytes = a->bytes;
        *kind = (enum simt_memory_kind)k;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* The allocation of device memory with the highest address that is not above the given one. */
bool simt_memory_below(const void *pointer, void **base, size_t *bytes)
{
    const struct list *l = &lists[SIMT_MEMORY_DEVICE];
    pthread_mutex_lock(&lock);
    size_t at = rank(l, (uintptr_t)pointer);
    if (at) {
        *base = (void *)l->of[at - 1].begin;
        *bytes = l->of[at - 1].bytes;
    }
    pthread_mutex_unlock(&lock);
    return at > 0;
}

/* The one with the lowest address that is above. */
bool simt_memory_above(const void *pointer, void **base, size_t *bytes)
{
    const struct list *l = &lists[SIMT_MEMORY_DEVICE];
    pthread_mutex_lock(&lock);
    const size_t at = rank(l, (uintptr_t)pointer);
    const bool found = at < l->count;
    if (found) {
        *base = (void *)l->of[at].begin;
        *bytes = l->of[at].bytes;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void simt_memory_written(void *pointer, size_t bytes)
{
    if ((uintptr_t)pointer - simt_arena < simt_arena_bytes)
        mark((uintptr_t)pointer, bytes, SIMT_META_WRITTEN, 0);
}

bool simt_memory_holds(const void *pointer, size_t bytes)
{
    if ((uintptr_t)pointer - simt_arena >= simt_arena_bytes) return true; /* host memory */
    pthread_mutex_lock(&lock);
    const struct allocation *a = holder(&lists[SIMT_MEMORY_DEVICE], (uintptr_t)pointer);
    bool holds = a && bytes <= a->bytes - ((uintptr_t)pointer - a->begin);
    pthread_mutex_unlock(&lock);
    return holds;
}

void simt_memory_set_owner(const void *pointer, struct simt_owner owner)
{
    struct list *l = &lists[SIMT_MEMORY_DEVICE];
    pthread_mutex_lock(&lock);
    const size_t at = rank(l, (uintptr_t)pointer);
    if (at) l->of[at - 1].owner = owner;
    pthread_mutex_unlock(&lock);
}

bool simt_memory_owner(const void *pointer, struct simt_owner *owner)
{
    pthread_mutex_lock(&lock);
    const struct allocation *a = holder(&lists[SIMT_MEMORY_DEVICE], (uintptr_t)pointer);
    if (a) *owner = a->owner;
    pthread_mutex_unlock(&lock);
    return a != NULL;
}
