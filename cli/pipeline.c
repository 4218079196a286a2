/*
 * pipeline.c - blocks of data that several threads work on, and that are taken and given in order.
 *
 *     thread 0   take 0 | work 0 .......... | give 0 | take 2 | ...
 *     thread 1          | take 1 | work 1 .......... | give 1 | ...
 *
 * Memory is limited by the slots, of which each thread has one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pipeline.h"

#include "io/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { MOST_THREADS = 64 };

struct state {
    const struct pipeline *pipeline;
    size_t slot_bytes;
    pthread_mutex_t taking, giving;
    pthread_cond_t given_one; /* with giving */
    uint64_t taken, given;    /* counts of blocks, of taking and giving */
    bool ended;               /* take() has returned false; of taking */
    atomic_bool stopped;      /* give() has returned false */
    atomic_int slots;         /* threads that have a slot */
};

static bool take(struct state *s, void *slot, uint64_t *block)
{
    const struct pipeline *p = s->pipeline;
    pthread_mutex_lock(&s->taking);
    *block = s->taken;
    s->ended = s->ended || s->stopped || !p->take(p->arg, slot, *block);
    const bool more = !s->ended;
    s->taken += more;
    pthread_mutex_unlock(&s->taking);
    return more;
}

/* Blocks after a failure are dropped. */
static void give(struct state *s, void *slot, uint64_t block)
{
    const struct pipeline *p = s->pipeline;
    pthread_mutex_lock(&s->giving);
    while (s->given != block) pthread_cond_wait(&s->given_one, &s->giving);
    if (!s->stopped && !p->give(p->arg, slot, block)) s->stopped = true;
    s->given++;
    pthread_cond_broadcast(&s->given_one);
    pthread_mutex_unlock(&s->giving);
}

static void *run_blocks(void *arg)
{
    struct state *s = arg;
    const struct pipeline *p = s->pipeline;
    uint64_t block;
    void *slot = calloc(1, s->slot_bytes);
    if (!slot) return NULL; /* the other threads do its work */
    s->slots++;
    while (take(s, slot, &block)) {
        p->work(p->arg, slot, block);
        give(s, slot, block);
    }
    free(slot);
    return NULL;
}

bool pipeline_run(const struct pipeline *pipeline, int threads, size_t slot_bytes)
{
    struct state s = { .pipeline = pipeline, .slot_bytes = slot_bytes };
    pthread_t others[MOST_THREADS];
    int started = 0, wanted = io_threads();
    if (threads > 0 && threads < wanted) wanted = threads;
    if (wanted > MOST_THREADS) wanted = MOST_THREADS;
    pthread_mutex_init(&s.taking, NULL);
    pthread_mutex_init(&s.giving, NULL);
    pthread_cond_init(&s.given_one, NULL);
    while (started < wanted - 1 && pthread_create(&others[started], NULL, run_blocks, &s) == 0)
        started++;
    run_blocks(&s);
    for (int i = 0; i < started; i++) pthread_join(others[i], NULL);
    pthread_cond_destroy(&s.given_one);
    pthread_mutex_destroy(&s.giving);
    pthread_mutex_destroy(&s.taking);
    return s.slots > 0;
}
