/*
 * cpu/groups.c - rows and segments: the check of offsets, and their distribution to threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/groups.h"
#include "core/call.h"
#include "core/data_error.h"

enum {
    WAKE_ELEMENTS = 1 << 14,  /* fewer do not repay waking threads */
    CHUNK_ELEMENTS = 1 << 12, /* a thread takes at least this many at once ... */
    CHUNKS = 32,              /* ... and a thread's share is at least this many chunks */
    GROUP_ELEMENTS = 16,      /* a group takes as much time as this many elements more */
    CHECK_GROUPS = 1 << 14    /* offsets that are checked together */
};

size_t echi_parts(size_t n)
{
    const size_t few = echi_min(n >> 16, 4), many = echi_min(n >> 18, ECHI_PARTS);
    const size_t parts = few > many ? few : many;
    return parts ? parts : 1;
}

int echi_groups_threads(const ech_ctx *ctx, const struct echi_groups *g)
{
    if (g->n < WAKE_ELEMENTS) return 1;
    return (int)echi_min((size_t)echi_threads(ctx), echi_parts(g->n));
}

size_t echi_groups_longest(const struct echi_groups *g, int threads)
{
    return threads == 1 ? SIZE_MAX : g->n / (2 * (size_t)threads);
}

/* ---- Offsets ---- */

/* Checks some segments, and lists those that are long. */
static void check_some(void *arg, size_t i, int thread)
{
    struct echi_groups *all = arg;
    const struct echi_index index = all->index;
    const void *ends = all->ends ? all->ends : all->offsets;
    const size_t first = i * CHECK_GROUPS, some = echi_min(CHECK_GROUPS, all->groups - first);
    uint64_t last = first ? echi_index_at(ends, index, first - 1) : 0;
    (void)thread;
    for (size_t g = first; g < first + some; g++) {
        const uint64_t begin = echi_index_at(all->offsets, index, g);
        const uint64_t end = echi_index_at(ends, index, g + !all->ends);
        if (begin > all->n)
            echi_note_error(&all->error, ECHI_OFFSETS_PAST_END, g);
        else if (begin < last)
            echi_note_error(&all->error, all->ends ? ECHI_SEGMENTS_OVERLAP : ECHI_OFFSETS_DECREASE,
                            g);
        else if (all->ends && (end < begin || end > all->n))
            echi_note_error(&all->error, ECHI_SEGMENT_END, g);
        else if (end > begin && end - begin > all->longest) {
            const size_t at = atomic_fetch_add(&all->long_count, 1);
            if (at < ECHI_MOST_LONG) all->longs[at] = g; /* more are not in order: an error */
        }
        last = all->ends ? end : begin;
    }
}

ech_status echi_groups_check(ech_ctx *ctx, struct echi_groups *g)
{
    const size_t blocks = (g->groups + CHECK_GROUPS - 1) / CHECK_GROUPS;
    if (!g->offsets) return ECH_OK;
    echi_parallel(blocks > 1 ? echi_threads(ctx) : 1, blocks, check_some, g);
    if (!g->ends) {
        const uint64_t end = echi_index_at(g->offsets, g->index, g->groups);
        const uint64_t last = echi_index_at(g->offsets, g->index, g->groups - 1);
        if (end > g->n)
            echi_note_error(&g->error, ECHI_OFFSETS_PAST_END, g->groups);
        else if (end < last)
            echi_note_error(&g->error, ECHI_OFFSETS_DECREASE, g->groups);
    }
    return echi_noted_error(ctx, g->error);
}

/* ---- Distribution ---- */

size_t echi_groups_long(const struct echi_groups *g)
{
    if (g->offsets) return g->long_count;
    return g->cols > g->longest ? g->groups : 0;
}

/* The first group of a chunk: chunks have about equally many elements plus GROUP_ELEMENTS per
 * group, so that neither long nor empty segments are all in one chunk. */
static size_t first_group(const struct echi_groups *g, size_t chunk)
{
    const size_t before = chunk * g->chunk_size;
    size_t low = 0, high = g->groups;
    if (chunk == 0) return 0;
    if (chunk == g->chunks) return g->groups;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (echi_group_begin(g, middle) + middle * GROUP_ELEMENTS < before)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void run_chunk(void *arg, size_t i, int thread)
{
    const struct echi_groups *all = arg;
    all->run(all->arg, first_group(all, i), first_group(all, i + 1), thread);
}

void echi_groups_run(struct echi_groups *g, int threads,
                     void (*run)(void *arg, size_t first, size_t last, int thread), void *arg)
{
    const size_t size = g->n + g->groups * GROUP_ELEMENTS;
    if (!g->offsets && g->cols > g->longest) return; /* all rows are long */
    g->run = run;
    g->arg = arg;
    g->chunks = echi_min(size / CHUNK_ELEMENTS + 1, (size_t)threads * CHUNKS);
    if (threads == 1) g->chunks = 1;
    g->chunk_size = size / g->chunks + 1;
    echi_parallel(threads, g->chunks, run_chunk, g);
}
