/*
 * quantile/cpu/select.c - the element of a rank, without a sort.
 *
 *     keys     ....|.....x.....|....    a sample has a key below the element and one above it
 *              low ^           ^ high   one pass counts the keys on each side, and lists those in
 *                                       between, in which topk/cpu/bound.c selects
 *
 * The result does not depend on the sample.  If the element is not between low and high, or there
 * are too many keys to list, the interval that contains it is known, and another pass follows;
 * after some passes the interval is bisected.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "quantile/cpu/common.h"

#include <math.h>
#include <string.h>

enum {
    SAMPLE_LEAST = 256,
    SAMPLED = 3, /* passes with samples */
    USEFUL = 32  /* keys of a sample that are in the interval, at least */
};

size_t echi_quantile_room(size_t n)
{
    return n / 8 + ECHI_QUANTILE_PART;
}

/* ---- A pass ---- */

static void pass_part(void *arg, size_t i, int thread)
{
    struct echi_quantile_job *job = arg;
    const struct echi_quantile *s = job->request;
    const size_t bytes = (size_t)s->key_bytes;
    const size_t from = i * job->part, to = echi_min(s->n, from + job->part);
    uint64_t e[ECHI_TOPK_BLOCK];
    uint64_t sums[4] = { 0 };
    (void)thread;
    for (size_t at = from; at < to; at += ECHI_TOPK_BLOCK) {
        const size_t n = echi_min(to - at, ECHI_TOPK_BLOCK);
        size_t counts[4];
        job->keys->encode(&s->order, (const char *)s->in + at * bytes, 1, n, e);
        job->keys->tally(e, n, job->low, job->high, counts);
        for (int k = 0; k < 4; k++) sums[k] += counts[k];
        if (counts[2] <= counts[1]) continue;
        const size_t some = job->keys->narrow(e, n, job->low + 1, job->high - 1);
        const size_t to_list = atomic_fetch_add_explicit(&job->listed, some, memory_order_relaxed);
        if (to_list <= job->room && some <= job->room - to_list)
            memcpy(job->list + to_list * bytes, e, some * bytes);
    }
    for (int k = 0; k < 4; k++)
        atomic_fetch_add_explicit(&job->tally[k], sums[k], memory_order_relaxed);
}

static void pass(struct echi_quantile_job *job, uint64_t low, uint64_t high)
{
    job->low = low;
    job->high = high;
    atomic_store(&job->listed, 0);
    for (int k = 0; k < 4; k++) atomic_store(&job->tally[k], 0);
    echi_parallel(job->threads, job->parts, pass_part, job);
}

/* ---- Pivots ---- */

/* An interval of keys, inclusive, and how many keys are less than low, and in it. */
struct interval {
    uint64_t low, high, below, within;
};

static uint64_t sampled_key(const struct echi_topk_width *keys, const void *sample, size_t n,
                            size_t rank)
{
    return keys->bisect(sample, n, rank, rank).limit;
}

/* Two keys of the interval that the rank is probably between. */
static void choose(const struct echi_quantile_job *job, const struct interval *in, uint64_t rank,
                   int round, uint64_t *low, uint64_t *high)
{
    const struct echi_quantile *s = job->request;
    void *sample = job->sample;
    size_t n = s->n / 64 / 64 * 64;
    n = n < SAMPLE_LEAST ? SAMPLE_LEAST : echi_min(n, ECHI_QUANTILE_SAMPLE);
    if (in->within <= (round ? job->room : ECHI_QUANTILE_SAMPLE)) { /* all of them are listed */
        *low = in->low;
        *high = in->high;
        return;
    }
    *low = *high = in->low + (in->high - in->low) / 2;
    if (round >= SAMPLED) return;
    job->keys->sample(&s->order, s->in, 1, s->n, sample, n);
    n = job->keys->narrow(sample, n, in->low, in->high);
    if (n < USEFUL) return;
    const double share = ((double)(rank - in->below) + 0.5) / (double)in->within;
    const double middle = share * (double)n, side = 2 + 3 * sqrt((double)n * share * (1 - share));
    *low = middle - side < 1 ? in->low : sampled_key(job->keys, sample, n, (size_t)(middle - side));
    *high = middle + side > (double)n ? in->high
                                      : sampled_key(job->keys, sample, n, (size_t)(middle + side));
}

/* ---- The element ---- */

/* The listed keys contain the element; `rank` counts them. */
static struct echi_quantile_found find_listed(struct echi_quantile_job *job, uint64_t rank)
{
    const size_t n = (size_t)atomic_load(&job->listed);
    struct echi_quantile_found found;
    memcpy(job->copy, job->list, n * (size_t)job->request->key_bytes);
    const struct echi_bound bound = echi_topk_bound(job->keys, job->copy, n, (size_t)rank + 1);
    job->width->describe(job->list, n, bound.limit, &found);
    return found;
}

struct echi_quantile_found echi_quantile_select(struct echi_quantile_job *job, uint64_t rank)
{
    const struct echi_quantile *s = job->request;
    struct interval in = { 0, ~(uint64_t)0 >> (64 - 8 * s->key_bytes), 0, s->n };
    for (int round = 0;; round++) {
        uint64_t low, high, c[4];
        choose(job, &in, rank, round, &low, &high);
        pass(job, low, high);
        for (int k = 0; k < 4; k++) c[k] = atomic_load(&job->tally[k]);
        if (rank < c[0]) {
            in.high = low - 1;
            in.within = c[0] - in.below;
        } else if (rank < c[1]) {
            return (struct echi_quantile_found){ .key = low, .less = c[0], .equal = c[1] - c[0] };
        } else if (rank < c[2] && c[2] - c[1] <= job->room) {
            struct echi_quantile_found found = find_listed(job, rank - c[1]);
            found.less += c[1];
            return found;
        } else if (rank < c[2]) {
            in = (struct interval){ low + 1, high - 1, c[1], c[2] - c[1] };
        } else if (rank < c[3]) {
            return (struct echi_quantile_found){ .key = high, .less = c[2], .equal = c[3] - c[2] };
        } else {
            in.within -= c[3] - in.below;
            in.below = c[3];
            in.low = high + 1;
        }
    }
}

/* ---- Equal elements ---- */

static void equal_part(void *arg, size_t i, int thread)
{
    struct echi_quantile_job *job = arg;
    const struct echi_quantile *s = job->request;
    const size_t from = i * job->part;
    (void)thread;
    job->counts[i] =
        job->width->count_equal(&s->order, s->in, from, echi_min(s->n, from + job->part), job->low);
}

uint64_t echi_quantile_count(struct echi_quantile_job *job, uint64_t key)
{
    uint64_t count = 0;
    job->low = key;
    echi_parallel(job->threads, job->parts, equal_part, job);
    for (size_t i = 0; i < job->parts; i++) count += job->counts[i];
    return count;
}

uint64_t echi_quantile_position(struct echi_quantile_job *job, uint64_t key, uint64_t tie)
{
    size_t i = 0;
    echi_quantile_count(job, key);
    for (; tie >= job->counts[i]; i++) tie -= job->counts[i];
    return job->width->find_equal(&job->request->order, job->request->in, i * job->part, key,
                                  (size_t)tie);
}
