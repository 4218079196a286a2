/*
 * sort/cpu/distinct.c - sort of many keys with few distinct values: finds the values in a sample,
 * counts them by comparing every key with every value, and writes each value that often.
 *
 *     sample -> values a < b < c     keys -> how many a, b, c; all of them? -> a a a b b c c c
 *
 * A key that is not in the sample ends the attempt in the part that contains it.  With 32 values,
 * counting is still cheaper than one pass that moves keys.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cpu/common.h"

#include <string.h>

enum {
    DISTINCT = 32,           /* maximum number of values */
    DISTINCT_SAMPLE = 256,   /* sampled keys */
    DISTINCT_KEYS = 1 << 16, /* smaller arrays do not repay a sample */
    DISTINCT_PART = 1 << 16  /* keys counted, or written, as one unit */
};

struct distinct {
    const struct echi_sort_job *job;
    int values;
    atomic_bool failed;
    uint64_t x[DISTINCT];
    atomic_size_t count[DISTINCT];
};

static size_t part_n(const struct distinct *f, size_t part)
{
    return echi_min(DISTINCT_PART, f->job->sort->n - part * DISTINCT_PART);
}

static void count_part(void *arg, size_t part, int thread)
{
    (void)thread;
    struct distinct *f = arg;
    const struct echi_sort_job *job = f->job;
    size_t count[DISTINCT] = { 0 }, found = 0, n = part_n(f, part);
    if (atomic_load_explicit(&f->failed, memory_order_relaxed)) return;
    job->width->tally(&job->window, job->in.keys + part * DISTINCT_PART * job->key_bytes, n, f->x,
                      f->values, count);
    for (int v = 0; v < f->values; v++) {
        found += count[v];
        atomic_fetch_add_explicit(&f->count[v], count[v], memory_order_relaxed);
    }
    if (found == n) return;
    atomic_store_explicit(&f->failed, true, memory_order_relaxed);
}

static void write_part(void *arg, size_t part, int thread)
{
    (void)thread;
    const struct distinct *f = arg;
    size_t first = part * DISTINCT_PART, end = first + part_n(f, part), start = 0;
    for (int v = 0; v < f->values && start < end; v++) {
        size_t stop = start + f->count[v];
        size_t from = start > first ? start : first, to = echi_min(stop, end);
        if (from < to)
            f->job->width->fill(&f->job->window.order, f->x[v],
                                f->job->out.keys + from * f->job->key_bytes, to - from);
        start = stop;
    }
}

bool echi_sort_distinct(const struct echi_sort_job *job)
{
    struct distinct f = { .job = job };
    uint64_t sample[DISTINCT_SAMPLE], work[DISTINCT_SAMPLE];
    size_t n = job->sort->n;
    if (n < DISTINCT_KEYS || job->sort->stable) return false;
    job->width->sample(&job->window, job->in.keys, n, sample, DISTINCT_SAMPLE);
    job->isa->widths[3]->sort(sample, work, DISTINCT_SAMPLE, false, 0, 64);
    for (int i = 0; i < DISTINCT_SAMPLE; i++) {
        if (i && sample[i] == sample[i - 1]) continue;
        if (f.values == DISTINCT) return false;
        f.x[f.values++] = sample[i];
    }
    size_t parts = (n + DISTINCT_PART - 1) / DISTINCT_PART;
    echi_parallel(job->threads, parts, count_part, &f);
    if (f.failed) return false;
    echi_parallel(job->threads, parts, write_part, &f);
    return true;
}
