/*
 * sort/cpu/count.c - counting sort of keys of 8 or 16 bits without values: counts each value, then
 * writes it that often.
 *
 *     keys --count, per part--> counts[part][value] --sum--> start[value] --fill--> out
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cpu/count.h"

#include <string.h>

enum { CHUNK = 512, FILL_VALUES = 1024 };

struct count {
    const struct echi_sort_job *job;
    size_t values, parts, part_n;
    size_t *counts; /* [parts][values]; then [0][v] is the end of v's run in out */
};

size_t echi_sort_count_parts(size_t n, size_t key_bytes)
{
    size_t most = key_bytes == 1 ? ECHI_PARTS : 8, parts = n >> (key_bytes == 1 ? 16 : 20);
    return parts < 1 ? 1 : echi_min(parts, most);
}

size_t echi_sort_count_counters(size_t n, size_t key_bytes)
{
    return echi_sort_count_parts(n, key_bytes) << (8 * key_bytes);
}

/* Two counters per value if they fit in the L1 cache: a counter that was just written is not ready
 * for the next key. */
static void count_8(const uint8_t *x, size_t n, uint32_t *table)
{
    size_t i = 0;
    for (; i + 3 < n; i += 4)
        for (size_t k = 0; k < 4; k++) table[256 * k + x[i + k]]++;
    for (; i < n; i++) table[x[i]]++;
}

static void count_part(void *arg, size_t part, int thread)
{
    (void)thread;
    const struct count *c = arg;
    size_t bytes = c->job->key_bytes, first = part * c->part_n;
    size_t n = first < c->job->sort->n ? echi_min(c->part_n, c->job->sort->n - first) : 0;
    size_t *counts = c->counts + part * c->values;
    const char *keys = c->job->in.keys + first * bytes;
    union {
        uint8_t x1[CHUNK];
        uint16_t x2[CHUNK];
    } x;
    uint32_t table[4 * 256];
    memset(counts, 0, c->values * sizeof *counts);
    for (size_t base = 0, some; base < n; base += some) {
        some = echi_min(n - base, (size_t)1 << 31);
        memset(table, 0, sizeof table);
        for (size_t i = 0, m; i < some; i += m) {
            m = echi_min(CHUNK, some - i);
            c->job->width->encode(&c->job->window, keys + (base + i) * bytes, &x, m);
            if (bytes == 1)
                count_8(x.x1, m, table);
            else
                for (size_t j = 0; j < m; j++) counts[x.x2[j]]++;
        }
        if (bytes == 1)
            for (size_t v = 0; v < 4 * 256; v++) counts[v % 256] += table[v];
    }
}

static void fill_part(void *arg, size_t part, int thread)
{
    (void)thread;
    const struct count *c = arg;
    uint16_t wide[FILL_VALUES];
    uint8_t narrow[FILL_VALUES];
    size_t first = part * FILL_VALUES, n = echi_min(FILL_VALUES, c->values - first);
    for (size_t i = 0; i < n; i++) {
        wide[i] = (uint16_t)(first + i);
        narrow[i] = (uint8_t)(first + i);
    }
    bool one = c->job->key_bytes == 1;
    c->job->width->decode(&c->job->window.order, one ? (void *)narrow : (void *)wide, n);
    size_t at = first ? c->counts[first - 1] : 0;
    uint16_t *out = (uint16_t *)(void *)c->job->out.keys;
    for (size_t i = 0; i < n; i++) {
        size_t end = c->counts[first + i];
        if (one)
            memset(c->job->out.keys + at, narrow[i], end - at);
        else
            for (size_t j = at; j < end; j++) out[j] = wide[i];
        at = end;
    }
}

void echi_sort_count(const struct echi_sort_job *job)
{
    struct count c = { .job = job,
                       .values = (size_t)1 << (8 * job->key_bytes),
                       .counts = job->counts };
    size_t n = job->sort->n;
    c.parts = echi_min(echi_sort_count_parts(n, job->key_bytes), (size_t)job->threads);
    c.part_n = (n + c.parts - 1) / c.parts;
    echi_parallel(job->threads, c.parts, count_part, &c);
    size_t end = 0;
    for (size_t v = 0; v < c.values; v++) {
        for (size_t part = 0; part < c.parts; part++) end += c.counts[part * c.values + v];
        c.counts[v] = end;
    }
    int threads = n < ((size_t)1 << 20) ? 1 : job->threads;
    echi_parallel(threads, (c.values + FILL_VALUES - 1) / FILL_VALUES, fill_part, &c);
}
