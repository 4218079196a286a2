/*
 * simt/where.c - the description of a memory address in messages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simt/emulator.h"

/* The block whose shared memory contains the address, and the offset there; NULL: none. */
static const struct simt_block *owner_of(const struct simt_thread *t, uintptr_t at, size_t *offset)
{
    const struct simt_block *b = t->block;
    const struct simt_cluster *c = b->cluster;
    *offset = at - (uintptr_t)b->worker->shared;
    if (*offset < b->module->shared_bytes) return b;
    for (uint32_t i = 0; c && i < c->count; i++) {
        *offset = at - (uintptr_t)c->blocks[i]->saved;
        if (*offset < b->module->shared_bytes) return c->blocks[i];
    }
    return NULL;
}

void simt_locate(const struct simt_thread *t, const void *at, struct simt_where *where)
{
    const struct simt_loaded *module = t->block->module;
    void *base;
    size_t offset, bytes;
    *where = (struct simt_where){ .space = "global" };
    if (simt_memory_below(at, &base, &bytes)) where->offset = (uintptr_t)at - (uintptr_t)base;
    if ((uintptr_t)at - simt_arena < simt_arena_bytes || !owner_of(t, (uintptr_t)at, &offset))
        return;
    where->space = "shared";
    where->offset = offset - module->dynamic;
    if (where->offset >= SIMT_MOST_SHARED_BYTES)
        where->name = simt_static_name(module, offset, &where->offset);
}
