/*
 * quantile/cpu/partition.c - a partition around bounds.
 *
 *     parts    0 0 0 0 | b0 | 1 1 1 1 1 | b1 | 2 2     begin at 0, r0 + 1, r1 + 1
 *
 * One thread moves the elements in one pass, because the beginnings are known.  With several
 * threads, the elements before each bound are counted per part of the input first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "quantile/cpu/common.h"

#include <string.h>

enum {
    MOVE_BOUNDS = 8 /* more bounds: place() is faster than move() */
};

static struct echi_quantile_places places_of(const struct echi_quantile_job *job, size_t part)
{
    const size_t bounds = job->request->count;
    uint64_t *words = job->counts + part * job->state;
    return (struct echi_quantile_places){ .to = words,
                                          .end = words + bounds + 1,
                                          .seen = words + 2 * bounds + 2,
                                          .next = words + 3 * bounds + 2 };
}

/* ---- In any order ---- */

static void count_part(void *arg, size_t i, int thread)
{
    const struct echi_quantile_job *job = arg;
    const struct echi_quantile *s = job->request;
    const size_t from = i * job->part, to = echi_min(s->n, from + job->part);
    uint64_t *counts = job->counts + i * job->state, e[ECHI_QUANTILE_BLOCK];
    (void)thread;
    memset(counts, 0, job->state * sizeof *counts);
    for (size_t at = from; at < to; at += ECHI_QUANTILE_BLOCK) {
        const size_t n = echi_min(to - at, ECHI_QUANTILE_BLOCK);
        const char *x = (const char *)s->in + at * (size_t)s->key_bytes;
        if (s->count > 1) job->keys->encode(&s->order, x, 1, n, e);
        job->width->count(job, s->count > 1 ? &echi_topk_encoded : &s->order,
                          s->count > 1 ? (const void *)e : x, n, counts);
    }
}

static void move_part(void *arg, size_t i, int thread)
{
    const struct echi_quantile_job *job = arg;
    const struct echi_quantile *s = job->request;
    const size_t from = i * job->part, to = echi_min(s->n, from + job->part);
    const struct echi_quantile_places places = places_of(job, i);
    (void)thread;
    (s->count <= MOVE_BOUNDS ? job->width->move : job->width->place)(job, from, to, &places);
}

/* Replaces the counts of each part of the input by its places: elements that earlier parts of the
 * input have before a bound come first. */
static void place_parts(struct echi_quantile_job *job, bool counted)
{
    const struct echi_quantile *s = job->request;
    uint64_t less[ECHI_RANKS] = { 0 }, equal[ECHI_RANKS] = { 0 };
    for (size_t i = 0; i < job->parts; i++) {
        const struct echi_quantile_places places = places_of(job, i);
        uint64_t own[2 * ECHI_RANKS] = { 0 };
        uint64_t begin = 0, before = 0; /* of a part; elements before it, of earlier parts */
        if (counted) memcpy(own, places.to, 2 * s->count * sizeof *own);
        for (size_t k = 0; k < s->count; k++) {
            const uint64_t tie = job->bounds[k].tie;
            const uint64_t to_bound = less[k] + (equal[k] < tie ? equal[k] : tie);
            places.to[k] = begin + to_bound - before;
            begin = s->ranks[k] + 1;
            before = to_bound + (equal[k] > tie);
            places.seen[k] = equal[k];
            places.next[k] = k;
            places.end[k] = s->ranks[k];
            less[k] += own[2 * k];
            equal[k] += own[2 * k + 1];
        }
        places.to[s->count] = begin + i * job->part - before;
        places.end[s->count] = s->n;
        for (size_t k = 0; i > 0 && k <= s->count; k++) places_of(job, i - 1).end[k] = places.to[k];
    }
}

/* ---- Input in order ---- */

static void copy_part(void *arg, size_t i, int thread)
{
    const struct echi_quantile_job *job = arg;
    const struct echi_quantile *s = job->request;
    const size_t from = i * job->part, to = echi_min(s->n, from + job->part);
    const size_t bytes = (size_t)s->key_bytes;
    (void)thread;
    if (s->out)
        memcpy((char *)s->out + from * bytes, (const char *)s->in + from * bytes,
               (to - from) * bytes);
    if (s->index && s->index_bytes == 4)
        for (size_t p = from; p < to; p++) ((uint32_t *)s->index)[p] = (uint32_t)p;
    else if (s->index)
        for (size_t p = from; p < to; p++) ((uint64_t *)s->index)[p] = p;
}

/* ---- The partition ---- */

void echi_quantile_partition(struct echi_quantile_job *job)
{
    const struct echi_quantile *s = job->request;
    if (job->ordered || s->count == 0) {
        echi_parallel(job->threads, job->parts, copy_part, job);
        return;
    }
    if (job->threads == 1) {
        job->parts = 1;
        job->part = s->n;
    } else {
        echi_parallel(job->threads, job->parts, count_part, job);
    }
    place_parts(job, job->threads > 1);
    echi_parallel(job->threads, job->parts, move_part, job);
}
