/*
 * simt/record.c - records what the warps of one block do, for tools that show it step by step.
 *
 * The events are those that profile.c counts: requests to memory, divergent branches, and
 * synchronisation. Within a warp they are in the order of its first lane; the accesses between two
 * synchronisations of a warp are recorded at the second one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simt/emulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    struct simt_event *events;
    size_t count, most;
    uint64_t block;
    bool truncated;
} record;

SIMT_API bool simt_record(uint64_t block, size_t most)
{
    free(record.events);
    memset(&record, 0, sizeof record);
    if (most) record.events = malloc(most * sizeof *record.events);
    if (most && !record.events) return false;
    record.block = block;
    record.most = most;
    return true;
}

SIMT_API size_t simt_recorded(const struct simt_event **events, bool *truncated)
{
    *events = record.events;
    *truncated = record.truncated;
    return record.count;
}

bool simt_records(const struct simt_block *b)
{
    return record.most && b->number == record.block;
}

struct simt_event *simt_record_add(const struct simt_warp *w, enum simt_event_kind kind,
                                   uint32_t lanes, uintptr_t pc)
{
    if (!simt_records(w->block)) return NULL;
    if (record.count == record.most) {
        record.truncated = true;
        return NULL;
    }
    struct simt_event *e = &record.events[record.count++];
    memset(e, 0, sizeof *e);
    e->kind = kind;
    e->warp = w->number;
    e->lanes = lanes;
    simt_place(pc, e->place, sizeof e->place);
    return e;
}

/* The beginning of the variable that contains the offset in shared memory, and its name. */
void simt_record_shared(struct simt_event *e, const struct simt_block *b, uint64_t offset)
{
    size_t inside = (size_t)offset - b->module->dynamic;
    const char *name = NULL;
    e->shared = true;
    if (inside >= SIMT_MOST_SHARED_BYTES)
        name = simt_static_name(b->module, (size_t)offset, &inside);
    e->base = offset - inside;
    if (name) snprintf(e->name, sizeof e->name, "%s", name);
}

static const char *const operations[SIMT_WARP_OPS] = {
    [SIMT_WARP_SYNC] = "__syncwarp",     [SIMT_WARP_SHUFFLE] = "shuffle",
    [SIMT_WARP_BALLOT] = "ballot",       [SIMT_WARP_MATCH_ANY] = "match_any",
    [SIMT_WARP_MATCH_ALL] = "match_all", [SIMT_WARP_ADD] = "reduce_add",
    [SIMT_WARP_MIN_U32] = "reduce_min",  [SIMT_WARP_MAX_U32] = "reduce_max",
    [SIMT_WARP_MIN_S32] = "reduce_min",  [SIMT_WARP_MAX_S32] = "reduce_max",
    [SIMT_WARP_AND] = "reduce_and",      [SIMT_WARP_OR] = "reduce_or",
    [SIMT_WARP_XOR] = "reduce_xor",
};

void simt_record_operation(const struct simt_warp *w, enum simt_warp_op op, uint32_t lanes,
                           uintptr_t pc)
{
    struct simt_event *e = simt_record_add(w, SIMT_EVENT_WARP, lanes, pc);
    if (e) snprintf(e->name, sizeof e->name, "%s", operations[op]);
}

void simt_record_barrier(const struct simt_block *b, uint32_t warps, uintptr_t pc)
{
    for (uint32_t i = 0; i < b->warp_count; i++) {
        const struct simt_warp *w = &b->warps[i];
        if (warps >> i & 1) simt_record_add(w, SIMT_EVENT_BARRIER, w->exists & ~w->ended, pc);
    }
}
