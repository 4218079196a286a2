/*
 * quantile/cpu/select.c - the elements of ranks, without a sort.
 *
 *     keys     ....|.....x.....|....    a sample has a key below the element and one above it, its
 *            pivots^           ^        pivots; one pass counts the keys on each side, and lists
 *                                       those in between, in which topk/cpu/bound.c selects
 *
 * One pass serves all targets.  The result does not depend on the sample.  If the element is not
 * between the pivots, or there are too many keys to list, the interval that contains it is known,
 * and another pass follows; after some passes the interval is bisected.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "quantile/cpu/common.h"

#include <math.h>
#include <string.h>

enum {
    ALL = 1024, /* so few keys are listed without a sample */
    SAMPLE_LEAST = 256,
    SHARE = 32,  /* elements per element of the sample, at least */
    SAMPLED = 3, /* passes with samples */
    USEFUL = 32  /* keys of a sample that are in the interval, at least */
};

void echi_quantile_lay_out(const struct echi_quantile *s, struct echi_layout *layout,
                           struct echi_quantile_job *job)
{
    const size_t bytes = (size_t)s->key_bytes;
    const size_t targets = echi_min(s->count, ECHI_QUANTILE_TARGETS);
    const size_t room = s->n / (targets > 1 ? 4 * targets : 8) + ECHI_QUANTILE_PART;
    job->room = echi_min(room, s->n);
    job->most = ECHI_QUANTILE_SAMPLE * targets;
    job->sample = echi_part(layout, job->most + 64, bytes);
    job->list = echi_part(layout, targets * (job->room + 64), bytes);
    job->copy = echi_part(layout, job->room + 64, bytes);
}

/* ---- A pass ---- */

/* Lists the keys of n elements that are between the pivots of a target. */
static void sift(struct echi_quantile_job *job, struct echi_quantile_target *t,
                 const struct echi_order *order, const void *x, size_t n, uint64_t counts[4])
{
    const size_t bytes = (size_t)job->request->key_bytes;
    uint64_t kept[ECHI_QUANTILE_BLOCK + 64];
    size_t at = atomic_load_explicit(&t->listed, memory_order_relaxed);
    if (job->threads == 1 && at + n <= job->room) {
        at += job->width->sift(order, x, n, &t->pivots, t->list + at * bytes, counts);
        atomic_store_explicit(&t->listed, at, memory_order_relaxed);
        return;
    }
    const size_t some = job->width->sift(order, x, n, &t->pivots, kept, counts);
    if (some == 0) return;
    at = atomic_fetch_add_explicit(&t->listed, some, memory_order_relaxed);
    if (at <= job->room && some <= job->room - at) memcpy(t->list + at * bytes, kept, some * bytes);
}

static void pass_part(void *arg, size_t i, int thread)
{
    struct echi_quantile_job *job = arg;
    const struct echi_quantile *s = job->request;
    const size_t from = i * job->part, to = echi_min(s->n, from + job->part);
    const bool encode = job->n_targets > 1 || job->count_nan;
    const struct echi_order *order = encode ? &echi_topk_encoded : &s->order;
    uint64_t e[ECHI_QUANTILE_BLOCK], sums[ECHI_QUANTILE_TARGETS][4] = { { 0 } }, nans = 0;
    (void)thread;
    for (size_t at = from; at < to; at += ECHI_QUANTILE_BLOCK) {
        const size_t n = echi_min(to - at, ECHI_QUANTILE_BLOCK);
        const void *x = (const char *)s->in + at * (size_t)s->key_bytes;
        if (encode) {
            job->keys->encode(&s->order, x, 1, n, e);
            x = e;
        }
        if (job->count_nan) nans += job->width->count_equal(order, x, n, s->order.last);
        for (size_t j = 0; j < job->n_targets; j++)
            if (!job->targets[j].done) sift(job, &job->targets[j], order, x, n, sums[j]);
    }
    for (size_t j = 0; j < job->n_targets; j++)
        for (int k = 0; k < 4; k++)
            atomic_fetch_add_explicit(&job->targets[j].counts[k], sums[j][k], memory_order_relaxed);
    atomic_fetch_add_explicit(&job->nans, nans, memory_order_relaxed);
}

/* ---- Pivots ---- */

/* Encodes keys from all parts of the input; returns their number. */
static size_t draw(const struct echi_quantile_job *job)
{
    const struct echi_quantile *s = job->request;
    size_t n = s->n / SHARE / 64 * 64;
    n = n < SAMPLE_LEAST ? SAMPLE_LEAST : echi_min(n, job->most);
    job->keys->sample(&s->order, s->in, 1, s->n, job->sample, n);
    return n;
}

static uint64_t sampled_key(const struct echi_quantile_job *job, size_t n, size_t rank)
{
    return job->keys->bisect(job->sample, n, rank, rank).limit;
}

static size_t count_sampled(const struct echi_quantile_job *job, size_t n, uint64_t key)
{
    return job->width->count_equal(&echi_topk_encoded, job->sample, n, key);
}

/* Whether the next pass lists all keys of the interval, or bisects it; otherwise it takes pivots
 * from the sample. */
static bool choose_plain(const struct echi_quantile_job *job, struct echi_quantile_target *t,
                         int round)
{
    const uint64_t middle = t->low + (t->high - t->low) / 2;
    const bool all = t->within <= (round ? job->room : ALL);
    t->pivots =
        (struct echi_quantile_pivots){ all ? t->low : middle, all ? t->high : middle, true };
    return all || round >= SAMPLED;
}

/* Two keys of the interval that the rank is probably between.  If neither is a frequent key, the
 * pass needs fewer counts. */
static void choose(const struct echi_quantile_job *job, struct echi_quantile_target *t, size_t n)
{
    enum { RARE = 2 };
    struct echi_quantile_pivots *p = &t->pivots;
    if (n < USEFUL) return;
    const double share = ((double)(t->rank - t->below) + 0.5) / (double)t->within;
    const double middle = share * (double)n, side = 2 + 3 * sqrt((double)n * share * (1 - share));
    p->low = middle - side < 1 ? t->low : sampled_key(job, n, (size_t)(middle - side));
    p->high = middle + side > (double)n ? t->high : sampled_key(job, n, (size_t)(middle + side));
    p->exact = p->low == p->high || count_sampled(job, n, p->low) > RARE ||
               count_sampled(job, n, p->high) > RARE;
}

static void choose_all(struct echi_quantile_job *job, int round)
{
    size_t n = 0;
    for (size_t j = 0; j < job->n_targets; j++) {
        struct echi_quantile_target *t = &job->targets[j];
        if (t->done || choose_plain(job, t, round)) continue;
        if (n == 0 || round) n = draw(job);
        choose(job, t, round ? job->keys->narrow(job->sample, n, t->low, t->high, job->sample) : n);
    }
}

/* ---- The elements ---- */

/* The listed keys contain the element; `rank` counts them. */
static struct echi_quantile_found find_listed(struct echi_quantile_job *job,
                                              struct echi_quantile_target *t, uint64_t rank)
{
    const size_t n = (size_t)atomic_load(&t->listed);
    struct echi_quantile_found found;
    memcpy(job->copy, t->list, n * (size_t)job->request->key_bytes);
    const struct echi_bound bound = echi_topk_bound(job->keys, job->copy, n, (size_t)rank + 1);
    job->width->describe(t->list, n, bound.limit, &found);
    return found;
}

/* The element is at most the key `high`, or at least the key `low`. */
static void keep_below(struct echi_quantile_target *t, uint64_t high, uint64_t count)
{
    t->high = high;
    t->within = count - t->below;
}

static void keep_above(struct echi_quantile_target *t, uint64_t low, uint64_t count)
{
    t->low = low;
    t->within -= count - t->below;
    t->below = count;
}

/* Finds the element, or the interval that contains it, after a pass. */
static bool conclude(struct echi_quantile_job *job, struct echi_quantile_target *t)
{
    const struct echi_quantile_pivots p = t->pivots;
    const uint64_t rank = t->rank;
    uint64_t c[4];
    for (int k = 0; k < 4; k++) c[k] = atomic_load(&t->counts[k]);
    if (!p.exact) c[2] = c[1] + atomic_load(&t->listed);
    if (rank >= c[1] && rank < c[2]) {
        if (c[2] - c[1] <= job->room) {
            t->found = find_listed(job, t, rank - c[1]);
            t->found.less += c[1];
            return true;
        }
        keep_above(t, p.low + 1, c[1]);
        keep_below(t, p.high - 1, c[2]);
    } else if (rank < c[1] && !p.exact) {
        keep_below(t, p.low, c[1]);
    } else if (!p.exact) {
        keep_above(t, p.high, c[2]);
    } else if (rank < c[0]) {
        keep_below(t, p.low - 1, c[0]);
    } else if (rank < c[1]) {
        t->found = (struct echi_quantile_found){ .key = p.low, .less = c[0], .equal = c[1] - c[0] };
        return true;
    } else if (rank < c[3]) {
        t->found =
            (struct echi_quantile_found){ .key = p.high, .less = c[2], .equal = c[3] - c[2] };
        return true;
    } else {
        keep_above(t, p.high + 1, c[3]);
    }
    return false;
}

void echi_quantile_select(struct echi_quantile_job *job, const uint64_t *ranks, size_t n)
{
    const struct echi_quantile *s = job->request;
    const size_t bytes = (size_t)s->key_bytes;
    bool done = n == 0;
    job->n_targets = n;
    for (size_t j = 0; j < n; j++) {
        job->targets[j] =
            (struct echi_quantile_target){ .rank = ranks[j],
                                           .high = ~(uint64_t)0 >> (64 - 8 * bytes),
                                           .within = s->n,
                                           .list = job->list + j * (job->room + 64) * bytes };
    }
    for (int round = 0; !done; round++) {
        choose_all(job, round);
        for (size_t j = 0; j < n; j++) {
            atomic_store(&job->targets[j].listed, 0);
            for (int k = 0; k < 4; k++) atomic_store(&job->targets[j].counts[k], 0);
        }
        echi_parallel(job->threads, job->parts, pass_part, job);
        job->count_nan = false;
        done = true;
        for (size_t j = 0; j < n; j++) {
            struct echi_quantile_target *t = &job->targets[j];
            t->done = t->done || conclude(job, t);
            done = done && t->done;
        }
    }
}

/* ---- Equal elements ---- */

static void equal_part(void *arg, size_t i, int thread)
{
    struct echi_quantile_job *job = arg;
    const struct echi_quantile *s = job->request;
    const size_t from = i * job->part, to = echi_min(s->n, from + job->part);
    const char *x = (const char *)s->in + from * (size_t)s->key_bytes;
    (void)thread;
    job->counts[i] = job->width->count_equal(&s->order, x, to - from, job->equal);
}

uint64_t echi_quantile_count(struct echi_quantile_job *job, uint64_t key)
{
    uint64_t count = 0;
    job->equal = key;
    echi_parallel(job->threads, job->parts, equal_part, job);
    for (size_t i = 0; i < job->parts; i++) count += job->counts[i];
    return count;
}

uint64_t echi_quantile_position(struct echi_quantile_job *job, uint64_t key, uint64_t tie)
{
    const struct echi_quantile *s = job->request;
    size_t i = 0;
    echi_quantile_count(job, key);
    for (; tie >= job->counts[i]; i++) tie -= job->counts[i];
    const size_t from = i * job->part;
    const char *x = (const char *)s->in + from * (size_t)s->key_bytes;
    return from + job->width->find_equal(&s->order, x, s->n - from, key, (size_t)tie);
}
