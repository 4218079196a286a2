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
    SAMPLE_LEAST = 256,
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

/* Lists the keys of a block that are between the pivots of a target. */
static void sift(struct echi_quantile_job *job, struct echi_quantile_target *t, const uint64_t *e,
                 size_t n, uint64_t counts[4])
{
    const size_t bytes = (size_t)job->request->key_bytes;
    uint64_t kept[ECHI_QUANTILE_BLOCK];
    size_t at = atomic_load_explicit(&t->listed, memory_order_relaxed);
    if (job->threads == 1 && at + n <= job->room) {
        at += job->width->sift(e, n, t->pivots, t->list + at * bytes, counts);
        atomic_store_explicit(&t->listed, at, memory_order_relaxed);
        return;
    }
    const size_t some = job->width->sift(e, n, t->pivots, kept, counts);
    if (some == 0) return;
    at = atomic_fetch_add_explicit(&t->listed, some, memory_order_relaxed);
    if (at <= job->room && some <= job->room - at) memcpy(t->list + at * bytes, kept, some * bytes);
}

static void pass_part(void *arg, size_t i, int thread)
{
    struct echi_quantile_job *job = arg;
    const struct echi_quantile *s = job->request;
    const size_t from = i * job->part, to = echi_min(s->n, from + job->part);
    uint64_t e[ECHI_QUANTILE_BLOCK + 64], sums[ECHI_QUANTILE_TARGETS][4] = { { 0 } }, nans = 0;
    (void)thread;
    for (size_t at = from; at < to; at += ECHI_QUANTILE_BLOCK) {
        const size_t n = echi_min(to - at, ECHI_QUANTILE_BLOCK);
        job->keys->encode(&s->order, (const char *)s->in + at * (size_t)s->key_bytes, 1, n, e);
        if (job->count_nan) nans += job->width->count_equal(e, n, s->order.last);
        for (size_t j = 0; j < job->n_targets; j++)
            if (!job->targets[j].done) sift(job, &job->targets[j], e, n, sums[j]);
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
    size_t n = s->n / 64 / 64 * 64;
    n = n < SAMPLE_LEAST ? SAMPLE_LEAST : echi_min(n * (job->n_targets > 1 ? 2 : 1), job->most);
    job->keys->sample(&s->order, s->in, 1, s->n, job->sample, n);
    return n;
}

static uint64_t sampled_key(const struct echi_quantile_job *job, size_t n, size_t rank)
{
    return job->keys->bisect(job->sample, n, rank, rank).limit;
}

/* Whether the next pass lists all keys of the interval, or bisects it; otherwise it takes pivots
 * from the sample. */
static bool choose_plain(const struct echi_quantile_job *job, struct echi_quantile_target *t,
                         int round)
{
    const uint64_t middle = t->low + (t->high - t->low) / 2;
    if (t->within <= (round ? job->room : ECHI_QUANTILE_SAMPLE)) {
        t->pivots[0] = t->low;
        t->pivots[1] = t->high;
        return true;
    }
    t->pivots[0] = t->pivots[1] = middle;
    return round >= SAMPLED;
}

/* Two keys of the interval that the rank is probably between. */
static void choose(const struct echi_quantile_job *job, struct echi_quantile_target *t, size_t n)
{
    if (n < USEFUL) return;
    const double share = ((double)(t->rank - t->below) + 0.5) / (double)t->within;
    const double middle = share * (double)n, side = 2 + 3 * sqrt((double)n * share * (1 - share));
    t->pivots[0] = middle - side < 1 ? t->low : sampled_key(job, n, (size_t)(middle - side));
    t->pivots[1] =
        middle + side > (double)n ? t->high : sampled_key(job, n, (size_t)(middle + side));
}

static void choose_all(struct echi_quantile_job *job, int round)
{
    size_t n = 0;
    for (size_t j = 0; j < job->n_targets; j++) {
        struct echi_quantile_target *t = &job->targets[j];
        if (t->done || choose_plain(job, t, round)) continue;
        if (n == 0 || round) n = draw(job);
        choose(job, t, round ? job->keys->narrow(job->sample, n, t->low, t->high) : n);
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

/* Finds the element, or the interval that contains it, after a pass. */
static void conclude(struct echi_quantile_job *job, struct echi_quantile_target *t)
{
    const uint64_t low = t->pivots[0], high = t->pivots[1], rank = t->rank;
    uint64_t c[4];
    for (int k = 0; k < 4; k++) c[k] = atomic_load(&t->counts[k]);
    t->done = true;
    if (rank < c[0]) {
        t->high = low - 1;
        t->within = c[0] - t->below;
        t->done = false;
    } else if (rank < c[1]) {
        t->found = (struct echi_quantile_found){ .key = low, .less = c[0], .equal = c[1] - c[0] };
    } else if (rank < c[2] && c[2] - c[1] <= job->room) {
        t->found = find_listed(job, t, rank - c[1]);
        t->found.less += c[1];
    } else if (rank < c[2]) {
        t->low = low + 1;
        t->high = high - 1;
        t->below = c[1];
        t->within = c[2] - c[1];
        t->done = false;
    } else if (rank < c[3]) {
        t->found = (struct echi_quantile_found){ .key = high, .less = c[2], .equal = c[3] - c[2] };
    } else {
        t->within -= c[3] - t->below;
        t->below = c[3];
        t->low = high + 1;
        t->done = false;
    }
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
            if (!job->targets[j].done) conclude(job, &job->targets[j]);
            done = done && job->targets[j].done;
        }
    }
}

/* ---- Equal elements ---- */

static void equal_part(void *arg, size_t i, int thread)
{
    struct echi_quantile_job *job = arg;
    const struct echi_quantile *s = job->request;
    const size_t from = i * job->part, to = echi_min(s->n, from + job->part);
    uint64_t e[ECHI_QUANTILE_BLOCK + 64];
    size_t count = 0;
    (void)thread;
    for (size_t at = from; at < to; at += ECHI_QUANTILE_BLOCK) {
        const size_t n = echi_min(to - at, ECHI_QUANTILE_BLOCK);
        job->keys->encode(&s->order, (const char *)s->in + at * (size_t)s->key_bytes, 1, n, e);
        count += job->width->count_equal(e, n, job->equal);
    }
    job->counts[i] = count;
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
    uint64_t e[ECHI_QUANTILE_BLOCK + 64];
    size_t i = 0;
    echi_quantile_count(job, key);
    for (; tie >= job->counts[i]; i++) tie -= job->counts[i];
    for (size_t at = i * job->part;; at += ECHI_QUANTILE_BLOCK) {
        const size_t n = echi_min(s->n - at, ECHI_QUANTILE_BLOCK);
        job->keys->encode(&s->order, (const char *)s->in + at * (size_t)s->key_bytes, 1, n, e);
        const size_t equal = job->width->count_equal(e, n, key);
        if (tie < equal) return at + job->width->find_equal(e, n, key, (size_t)tie);
        tie -= equal;
    }
}
