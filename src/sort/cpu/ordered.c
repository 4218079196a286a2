/*
 * sort/cpu/ordered.c - input that is already in order, or in reverse order: one read detects it and
 * ends at the first pair that disproves it; then the input is only copied.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cpu/common.h"

#include <string.h>

enum { PROBE = 1024 }; /* keys that one thread reads before it starts others */

void echi_copy(char *to, const char *from, size_t bytes)
{
    if (to != from) memcpy(to, from, bytes);
}

/* Swaps a[0 .. n) with the n elements before b, in mirrored order. */
#define MIRROR(type)                                                                               \
    if (bytes == sizeof(type) && (uintptr_t)a % sizeof(type) == 0 &&                               \
        (uintptr_t)b % sizeof(type) == 0) {                                                        \
        type *x = (type *)(void *)a, *y = (type *)(void *)b - n;                                   \
        for (size_t i = 0; i < n; i++) {                                                           \
            type t = x[i];                                                                         \
            x[i] = y[n - 1 - i];                                                                   \
            y[n - 1 - i] = t;                                                                      \
        }                                                                                          \
        return;                                                                                    \
    }

static void mirror(char *a, char *b, size_t n, size_t bytes)
{
    MIRROR(uint32_t)
    MIRROR(uint64_t)
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < bytes; k++) {
            char *x = a + i * bytes + k, *y = b - (i + 1) * bytes + k, t = *x;
            *x = *y;
            *y = t;
        }
}

#undef MIRROR

#define REVERSE(size)                                                                              \
    if (bytes == size) {                                                                           \
        for (size_t i = 0; i < n; i++) memcpy(to + i * size, from + (n - 1 - i) * size, size);     \
        return;                                                                                    \
    }

static void reverse(char *to, const char *from, size_t n, size_t bytes)
{
    REVERSE(4)
    REVERSE(8)
    for (size_t i = 0; i < n; i++) memcpy(to + i * bytes, from + (n - 1 - i) * bytes, bytes);
}

#undef REVERSE

void echi_reverse(char *to, const char *from, size_t n, size_t bytes)
{
    if (to == from)
        mirror(to, to + n * bytes, n / 2, bytes);
    else
        reverse(to, from, n, bytes);
}

struct check {
    const struct echi_sort_job *job;
    size_t part_n;
    enum echi_run run; /* order that the whole array would have */
    atomic_bool failed;
};

/* Adjacent parts share one key, so if all parts are in order, the array is. */
static void check_part(void *arg, size_t i, int thread)
{
    (void)thread;
    struct check *c = arg;
    const struct echi_sort_job *job = c->job;
    if (atomic_load_explicit(&c->failed, memory_order_relaxed)) return;
    size_t first = i * c->part_n, n = echi_min(job->sort->n - first, c->part_n + 1);
    enum echi_run run =
        job->width->run(&job->window, job->in.keys + first * job->key_bytes, n, job->sort->stable);
    /* All keys equal is both orders; run() returns ascending. */
    bool equal = run == ECHI_ASCENDING && !job->sort->stable && c->run == ECHI_REVERSED &&
                 !job->width->differ(&job->window, job->in.keys + first * job->key_bytes, n);
    if (run == c->run || equal || n < 2) return;
    atomic_store_explicit(&c->failed, true, memory_order_relaxed);
}

/* Part [first, first + n) of one array of the output. */
static void copy_array(const struct check *c, char *to, const char *from, size_t first, size_t n,
                       size_t bytes)
{
    size_t all = c->job->sort->n;
    if (c->run == ECHI_ASCENDING) {
        echi_copy(to + first * bytes, from + first * bytes, n * bytes);
    } else if (to != from) {
        reverse(to + first * bytes, from + (all - first - n) * bytes, n, bytes);
    } else if (first <
               all / 2) { /* in place: the parts of the lower half are swapped with their mirror
                             images */
        n = echi_min(n, all / 2 - first);
        mirror(to + first * bytes, to + (all - first) * bytes, n, bytes);
    }
}

static void copy_part(void *arg, size_t i, int thread)
{
    (void)thread;
    const struct check *c = arg;
    const struct echi_sort_job *job = c->job;
    size_t first = i * c->part_n, n = echi_min(job->sort->n - first, c->part_n);
    size_t bytes = job->value_bytes;
    if (job->keep_keys) copy_array(c, job->out.keys, job->in.keys, first, n, job->key_bytes);
    if (bytes && job->in.values) copy_array(c, job->out.values, job->in.values, first, n, bytes);
    if (!bytes || job->in.values) return;
    const bool up = c->run == ECHI_ASCENDING;
    const uint64_t from = up ? first : job->sort->n - 1 - first, step = up ? 1 : ~(uint64_t)0;
    uint64_t *wide = (uint64_t *)(void *)job->out.values;
    uint32_t *narrow = (uint32_t *)(void *)job->out.values;
    if (bytes == 4)
        for (size_t j = 0; j < n; j++) narrow[first + j] = (uint32_t)(from + j * step);
    else
        for (size_t j = 0; j < n; j++) wide[first + j] = from + j * step;
}

bool echi_sort_ordered(const struct echi_sort_job *job)
{
    size_t n = job->sort->n;
    struct check c = { .job = job, .part_n = n };
    c.run = job->width->run(&job->window, job->in.keys, echi_min(n, PROBE), job->sort->stable);
    if (c.run == ECHI_UNORDERED) return false;
    if (n > PROBE) {
        /* The first keys may be all equal: the last pair of different keys at part boundaries
         * decides. */
        size_t parts = echi_min(n / PROBE, (size_t)8 * (size_t)job->threads);
        c.part_n = (n + parts - 1) / parts;
        if (c.run == ECHI_ASCENDING && !job->sort->stable) {
            uint64_t ends[2];
            job->width->sample(&job->window, job->in.keys, 1, &ends[0], 1);
            job->width->sample(&job->window, job->in.keys + (n - 1) * job->key_bytes, 1, &ends[1],
                               1);
            if (ends[0] > ends[1]) c.run = ECHI_REVERSED;
        }
        echi_parallel(job->threads, parts, check_part, &c);
        if (c.failed) return false;
    }
    size_t parts = (n + c.part_n - 1) / c.part_n;
    echi_parallel(job->threads, parts, copy_part, &c);
    return true;
}

/* ---- Only a check ---- */

struct ascent {
    const struct echi_sort_width *width;
    struct echi_window window;
    const char *keys;
    size_t n, part_n, key_bytes;
    atomic_bool failed;
};

static void ascend_part(void *arg, size_t i, int thread)
{
    (void)thread;
    struct ascent *a = arg;
    if (atomic_load_explicit(&a->failed, memory_order_relaxed)) return;
    const size_t first = i * a->part_n, n = echi_min(a->n - first, a->part_n + 1);
    if (a->width->run(&a->window, a->keys + first * a->key_bytes, n, false) != ECHI_ASCENDING)
        atomic_store_explicit(&a->failed, true, memory_order_relaxed);
}

bool echi_sort_is_ascending(const struct echi_order *order, const void *keys, size_t n,
                            size_t key_bytes, int threads)
{
    struct ascent a = { .width = echi_cpu_sort_isa()->widths[echi_bit_length(key_bytes) - 1],
                        .window = { .order = *order, .mask = ~(uint64_t)0 },
                        .keys = keys,
                        .n = n,
                        .part_n = echi_min(n, PROBE),
                        .key_bytes = key_bytes };
    if (n == 0) return true;
    ascend_part(&a, 0, 0); /* most input fails here, before other threads start */
    if (n <= PROBE || a.failed) return !a.failed;
    const size_t parts = echi_min(n / PROBE, (size_t)8 * (size_t)threads);
    a.part_n = (n + parts - 1) / parts;
    echi_parallel(threads, (n + a.part_n - 1) / a.part_n, ascend_part, &a);
    return !a.failed;
}
