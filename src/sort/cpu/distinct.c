/*
 * sort/cpu/distinct.c - sort of many keys with few distinct values: finds the values in a sample,
 * counts them by comparing every key with every value, and writes each value that often.
 *
 *     sample -> values a < b < c     keys -> how many a, b, c; all of them? -> a a a b b c c c
 *
 * A key that is not in the sample ends the attempt in the part that contains it.  With 32 values,
 * counting is still cheaper than one pass that moves keys.  Few keys repay only a small sample with
 * fewer values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cpu/common.h"

#include <string.h>

enum {
    DISTINCT = ECHI_VALUES,  /* maximum number of values */
    DISTINCT_SAMPLE = 256,   /* sampled keys */
    DISTINCT_KEYS = 1 << 16, /* smaller arrays do not repay a sample */
    DISTINCT_PART = 1 << 16, /* keys counted, or written, as one unit */
    SOME = 4,                /* the same for fewer keys: values, ... */
    SOME_SAMPLE = 8,
    SOME_FIRST = 256 /* keys that nearly always decide whether there are more values */
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
    job->width->tally(&job->window.order, job->in.keys + part * DISTINCT_PART * job->key_bytes, n,
                      f->x, f->values, count);
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

/* Whether two of the first keys are equal, which is true for few distinct values: most other input
 * fails here. */
static inline bool some_equal(const char *keys, size_t key_bytes)
{
    const uint64_t mask = ~(uint64_t)0 >> (64 - 8 * key_bytes);
    uint64_t x[SOME + 1];
    bool equal = false;
    for (size_t i = 0; i <= SOME; i++) {
        memcpy(&x[i], keys + i * key_bytes, sizeof x[i]); /* there are more keys */
        x[i] &= mask;
        for (size_t j = 0; j < i; j++) equal |= x[i] == x[j];
    }
    return equal;
}

/* Sorts keys with at most SOME values; otherwise returns false. */
static bool sort_some(const struct echi_sort_width *width, const struct echi_window *window,
                      const void *keys, void *out, size_t n, size_t key_bytes)
{
    uint64_t sample[SOME_SAMPLE], x[SOME];
    size_t count[SOME] = { 0 }, found = 0;
    int values = 0;
    if (!some_equal(keys, key_bytes)) return false;
    width->sample(window, keys, n, sample, SOME_SAMPLE);
    for (int i = 0; i < SOME_SAMPLE; i++) {
        int v = 0;
        while (v < values && x[v] < sample[i]) v++;
        if (v < values && x[v] == sample[i]) continue;
        if (values == SOME) return false;
        for (int j = values++; j > v; j--) x[j] = x[j - 1];
        x[v] = sample[i];
    }
    for (size_t i = 0, part; i < n; i += part) {
        part = i ? n - i : echi_min(n, SOME_FIRST);
        width->tally(&window->order, (const char *)keys + i * key_bytes, part, x, values, count);
        found = 0;
        for (int v = 0; v < values; v++) found += count[v];
        if (found != i + part) return false;
    }
    char *to = out;
    for (int v = 0; v < values; to += count[v++] * key_bytes)
        width->fill(&window->order, x[v], to, count[v]);
    return true;
}

int echi_sort_sample_values(const struct echi_sort_job *job, const char *keys, size_t n,
                            size_t most, uint64_t *x)
{
    uint64_t sample[DISTINCT_SAMPLE], work[DISTINCT_SAMPLE];
    const size_t size = echi_min(DISTINCT_SAMPLE, most);
    int values = 0;
    job->width->sample(&job->window, keys, n, sample, size);
    job->isa->widths[3]->sort(sample, work, size, false, 0, 64);
    for (size_t i = 0; i < size; i++) {
        if (i && sample[i] == sample[i - 1]) continue;
        if (values == ECHI_VALUES) return 0;
        x[values++] = sample[i];
    }
    return values;
}

bool echi_sort_distinct(const struct echi_sort_job *job)
{
    struct distinct f = { .job = job };
    size_t n = job->sort->n;
    if (job->sort->stable || n <= job->isa->check_keys) return false;
    if (n < DISTINCT_KEYS)
        return job->key_bytes > 1 &&
               sort_some(job->width, &job->window, job->in.keys, job->out.keys, n, job->key_bytes);
    f.values = echi_sort_sample_values(job, job->in.keys, n, DISTINCT_SAMPLE, f.x);
    if (!f.values) return false;
    size_t parts = (n + DISTINCT_PART - 1) / DISTINCT_PART;
    echi_parallel(job->threads, parts, count_part, &f);
    if (f.failed) return false;
    echi_parallel(job->threads, parts, write_part, &f);
    return true;
}

void echi_sort_keys(const struct echi_sort_width *width, const struct echi_window *window,
                    const void *keys, void *out, void *work, size_t n, size_t key_bytes)
{
    const enum echi_run run = width->run(window, keys, n, false);
    if (run == ECHI_ASCENDING)
        echi_copy(out, keys, n * key_bytes);
    else if (run == ECHI_REVERSED)
        echi_reverse(out, keys, n, key_bytes);
    else if (!sort_some(width, window, keys, out, n, key_bytes))
        width->sort_keys(&window->order, keys, out, work, n);
}
