/*
 * cpu/sort_ordered.c - input that is in order already, or in reverse order, is found out in one read
 * that ends at the first pair that disproves it, and then only copied.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort.h"

#include <string.h>

enum { PROBE = 1024 }; /* keys that one thread looks at before others are asked */

void echi_copy(char *to, const char *from, size_t bytes)
{
    if (to != from) memcpy(to, from, bytes);
}

#define REVERSE(size)                                                                              \
    if (bytes == size) {                                                                           \
        for (size_t i = 0; i < n; i++) memcpy(to + i * size, from + (n - 1 - i) * size, size);     \
        return;                                                                                    \
    }

static void swap_bytes(char *a, char *b, size_t bytes)
{
    char t[64];
    for (size_t m; bytes; a += m, b += m, bytes -= m) {
        m = echi_min(bytes, sizeof t);
        memcpy(t, a, m);
        memcpy(a, b, m);
        memcpy(b, t, m);
    }
}

void echi_reverse(char *to, const char *from, size_t n, size_t bytes)
{
    if (to == from) {
        for (size_t i = 0; i < n / 2; i++)
            swap_bytes(to + i * bytes, to + (n - 1 - i) * bytes, bytes);
        return;
    }
    REVERSE(4)
    REVERSE(8)
    for (size_t i = 0; i < n; i++) memcpy(to + i * bytes, from + (n - 1 - i) * bytes, bytes);
}

#undef REVERSE

struct check {
    const struct echi_sort_job *job;
    size_t part_n;
    enum echi_run run; /* what the whole must be */
    bool failed;
};

/* A part overlaps the next by one key, so parts in order are a whole in order. */
static void check_part(void *arg, size_t i, int thread)
{
    (void)thread;
    struct check *c = arg;
    const struct echi_sort_job *job = c->job;
    bool failed;
#ifdef _OPENMP
#pragma omp atomic read
#endif
    failed = c->failed;
    if (failed) return;
    size_t first = i * c->part_n, n = echi_min(job->sort->n - first, c->part_n + 1);
    enum echi_run run = job->width->run(&job->window, job->in.keys + first * job->key_bytes, n,
                                        job->sort->stable);
    /* All equal is both orders; run() calls it ascending. */
    bool equal = run == ECHI_ASCENDING && !job->sort->stable && c->run == ECHI_REVERSED &&
                 !job->width->differ(&job->window, job->in.keys + first * job->key_bytes, n);
    if (run == c->run || equal || n < 2) return;
#ifdef _OPENMP
#pragma omp atomic write
#endif
    c->failed = true;
}

static void copy_part(void *arg, size_t i, int thread)
{
    (void)thread;
    const struct check *c = arg;
    const struct echi_sort_job *job = c->job;
    size_t first = i * c->part_n, n = echi_min(job->sort->n - first, c->part_n);
    size_t source = c->run == ECHI_ASCENDING ? first : job->sort->n - first - n;
    void (*const keep)(char *, const char *, size_t, size_t) = echi_reverse;
    if (job->keep_keys) {
        char *to = job->out.keys + first * job->key_bytes;
        const char *from = job->in.keys + source * job->key_bytes;
        if (c->run == ECHI_ASCENDING) echi_copy(to, from, n * job->key_bytes);
        else keep(to, from, n, job->key_bytes);
    }
    if (!job->value_bytes) return;
    char *to = job->out.values + first * job->value_bytes;
    if (!job->in.values) {
        for (size_t j = 0; j < n; j++) {
            uint64_t position = c->run == ECHI_ASCENDING ? first + j : job->sort->n - 1 - first - j;
            uint32_t narrow = (uint32_t)position;
            if (job->value_bytes == 4) memcpy(to + 4 * j, &narrow, 4);
            else memcpy(to + 8 * j, &position, 8);
        }
        return;
    }
    const char *from = job->in.values + source * job->value_bytes;
    if (c->run == ECHI_ASCENDING) echi_copy(to, from, n * job->value_bytes);
    else keep(to, from, n, job->value_bytes);
}

bool echi_sort_ordered(const struct echi_sort_job *job)
{
    size_t n = job->sort->n;
    struct check c = { .job = job, .part_n = n };
    c.run = job->width->run(&job->window, job->in.keys, echi_min(n, PROBE), job->sort->stable);
    if (c.run == ECHI_UNORDERED) return false;
    if (n > PROBE) {
        /* The first keys may be all equal: the last pair of different ends decides. */
        size_t parts = echi_min(n / PROBE, (size_t)8 * (size_t)job->threads);
        c.part_n = (n + parts - 1) / parts;
        if (c.run == ECHI_ASCENDING && !job->sort->stable) {
            uint64_t ends[2];
            job->width->sample(&job->window, job->in.keys, 1, &ends[0], 1);
            job->width->sample(&job->window, job->in.keys + (n - 1) * job->key_bytes, 1, &ends[1], 1);
            if (ends[0] > ends[1]) c.run = ECHI_REVERSED;
        }
        echi_parallel(job->threads, parts, check_part, &c);
        if (c.failed) return false;
    }
    bool in_place = job->in.keys == job->out.keys || (job->in.values && job->in.values == job->out.values);
    size_t parts = (n + c.part_n - 1) / c.part_n;
    if (c.run == ECHI_REVERSED && in_place) { /* the parts would read what others write */
        parts = 1;
        c.part_n = n;
    }
    echi_parallel(job->threads, parts, copy_part, &c);
    return true;
}
