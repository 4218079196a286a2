/*
 * simt/cluster.c - clusters: their barrier, and access to the shared memory of other blocks.
 *
 * All blocks of a cluster run on one worker, one at a time. The shared memory of the others is
 * saved in memory, and an address there is used as the mapped address.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simt/emulator.h"

#define CALLER ((uintptr_t)__builtin_return_address(0) - 1)

SIMT_API unsigned simt_cluster_rank(void)
{
    return simt_self->block->rank;
}

SIMT_API unsigned simt_cluster_blocks(void)
{
    return simt_self->block->launch->cluster_blocks;
}

static void release(struct simt_cluster *c)
{
    c->arrived = 0;
    c->phase++;
    for (uint32_t i = 0; i < c->count; i++) simt_weak_flush(c->blocks[i]); /* for the cluster */
    for (uint32_t i = 0; i < c->count; i++)
        for (uint32_t j = 0; j < c->blocks[i]->thread_count; j++) {
            struct simt_thread *t = &c->blocks[i]->threads[j];
            if (t->waits == SIMT_AT_CLUSTER) simt_wake(t);
        }
    simt_race_met_cluster(c);
}

SIMT_API void simt_cluster_arrive(void)
{
    struct simt_thread *t = simt_self;
    struct simt_cluster *c = t->block->cluster;
    if (t->overwrites) simt_overwrite_settle(t);
    if (t->cluster_arrived) {
        simt_found(SIMT_DIVERGENT_BARRIER, t->block->launch, t, CALLER,
                   "arrives at the cluster's barrier again without waiting first");
        simt_abandon(t);
    }
    t->cluster_arrived = true;
    t->cluster_phase = c->phase;
    t->block->worker->events++;
    if (++c->arrived == c->alive) release(c);
}

SIMT_API void simt_cluster_wait(void)
{
    struct simt_thread *t = simt_self;
    if (!t->cluster_arrived) {
        simt_found(SIMT_DIVERGENT_BARRIER, t->block->launch, t, CALLER,
                   "waits at the cluster's barrier without arriving first");
        simt_abandon(t);
    }
    if (t->block->cluster->phase == t->cluster_phase) simt_wait(t, SIMT_AT_CLUSTER, CALLER);
    t->cluster_arrived = false;
}

/* A thread of the block has ended: the others no longer wait for it. */
void simt_cluster_ended(struct simt_block *b)
{
    struct simt_cluster *c = b->cluster;
    c->alive--;
    if (c->alive && c->arrived == c->alive) release(c);
}

SIMT_API void *simt_cluster_map(const void *pointer, unsigned rank)
{
    struct simt_thread *t = simt_self;
    struct simt_block *b = t->block;
    uintptr_t address = (uintptr_t)pointer;
    size_t offset = address - (uintptr_t)b->worker->shared;
    bool shared = offset < b->launch->function->module->shared_bytes;
    if (rank >= b->launch->cluster_blocks || !shared) {
        simt_found(SIMT_BOUNDS, b->launch, t, CALLER, "maps %p to block %u of a cluster of %u: %s",
                   pointer, rank, b->launch->cluster_blocks,
                   shared ? "there is no such block" : "the address is not in shared memory");
        simt_abandon(t);
    }
    return rank == b->rank ? (void *)address : b->cluster->blocks[rank]->saved + offset;
}
