/*
 * sort/cpu/frequent.c - one stable division of elements with values by the key of most elements:
 * smaller keys, this key, larger keys.
 *
 *     keys     b a b b c b   ->  a | b b b b | c
 *     values   0 1 2 3 4 5   ->  1 | 0 2 3 5 | 4
 *
 * A scatter counts and moves each element in turn, and waits for the previous one if it has the
 * same bucket.  Here elements are compared and packed by vectors (select/cpu), and this key is not
 * moved at all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cpu/frequent.h"
#include "select/cpu/common.h"

#include <string.h>

enum { LESS, EQUAL, GREATER, WAYS };
enum {
    SAMPLE = 64,
    FREQUENT = 20 /* samples with the key, at least: others take two scatters */
};

/* Finds the most frequent key of a sample; false if it is not frequent. */
static bool find_key(const struct echi_sort_job *job, const char *keys, size_t n, uint64_t *x)
{
    uint64_t sample[SAMPLE], best = 0;
    job->width->sample(&job->window, keys, n, sample, SAMPLE);
    for (int i = 0; i < SAMPLE && best < SAMPLE / 2; i++) {
        uint64_t count = 0;
        for (int j = 0; j < SAMPLE; j++) count += sample[j] == sample[i];
        if (count > best) *x = sample[i];
        best = count > best ? count : best;
    }
    return best >= FREQUENT;
}

/* Which of n keys are equal to x, and which are less; bits past n are zero. */
static void find_bits(const struct echi_frequent *f, const char *keys, size_t n,
                      uint64_t bits[WAYS][ECHI_SELECT_WORDS])
{
    const struct echi_sort_job *job = f->job;
    const uint64_t all = job->window.mask & (~(uint64_t)0 >> (64 - 8 * job->key_bytes));
    const uint64_t flip = job->window.order.flip & all, x = f->x ^ flip;
    const struct echi_select_width *width = echi_select_width_of_machine(job->key_bytes);
    struct echi_predicate test = { .order = job->window.order, .mask = all, .low = x };
    const size_t words = (n + 63) / 64;
    test.order.flip = 0; /* kernels of integers do not apply it */
    width->test(&test, keys, n, bits[EQUAL]);
    test.low = flip ? x + 1 : 0;
    test.span = flip ? all - x - 1 : x - 1;
    if (x == (flip ? all : 0))
        memset(bits[LESS], 0, words * sizeof *bits[LESS]);
    else
        width->test(&test, keys, n, bits[LESS]);
    for (size_t w = 0; w < words; w++) bits[GREATER][w] = ~(bits[LESS][w] | bits[EQUAL][w]);
    if (n % 64) bits[GREATER][words - 1] &= ((uint64_t)1 << n % 64) - 1;
}

static size_t part_size(const struct echi_frequent *f, size_t part)
{
    return echi_min(f->part_n, f->n - part * f->part_n);
}

static void count_part(void *arg, size_t part, int thread)
{
    const struct echi_frequent *f = arg;
    const struct echi_select_isa *isa = echi_select_isa_of_machine();
    const size_t first = f->offset + part * f->part_n, n = part_size(f, part);
    size_t *counts = f->counts + part * ECHI_BUCKETS;
    uint64_t bits[WAYS][ECHI_SELECT_WORDS];
    (void)thread;
    counts[LESS] = counts[EQUAL] = 0;
    for (size_t i = 0; i < n; i += ECHI_SELECT_BLOCK) {
        const size_t here = echi_min(ECHI_SELECT_BLOCK, n - i);
        find_bits(f, f->from.keys + (first + i) * f->job->key_bytes, here, bits);
        counts[LESS] += isa->count(bits[LESS], here);
        counts[EQUAL] += isa->count(bits[EQUAL], here);
    }
    counts[GREATER] = n - counts[LESS] - counts[EQUAL];
}

/* Packs the values, or the positions, of n elements from `at` on. */
static void pack_values(const struct echi_frequent *f, size_t at, size_t n, const uint64_t *bits,
                        char *to)
{
    const struct echi_select_isa *isa = echi_select_isa_of_machine();
    const size_t bytes = f->job->value_bytes;
    if (!f->index)
        echi_select_width_of_machine(bytes)->keep(to, f->from.values + at * bytes, bits, n);
    else if (bytes == 4)
        isa->keep_positions32((uint32_t *)(void *)to, at, bits, n);
    else
        isa->keep_positions((uint64_t *)(void *)to, at, bits, n);
}

static void write_part(void *arg, size_t part, int thread)
{
    const struct echi_frequent *f = arg;
    const struct echi_sort_job *job = f->job;
    const struct echi_select_isa *isa = echi_select_isa_of_machine();
    const struct echi_select_width *keys = echi_select_width_of_machine(job->key_bytes);
    const size_t first = f->offset + part * f->part_n, n = part_size(f, part);
    size_t *at = f->counts + part * ECHI_BUCKETS;
    uint64_t bits[WAYS][ECHI_SELECT_WORDS];
    (void)thread;
    for (size_t i = 0; i < n; i += ECHI_SELECT_BLOCK) {
        const size_t here = echi_min(ECHI_SELECT_BLOCK, n - i);
        const char *in = f->from.keys + (first + i) * job->key_bytes;
        find_bits(f, in, here, bits);
        for (int way = 0; way < WAYS; way++) {
            const struct echi_sort_arrays *to = way == EQUAL ? &f->equal_to : &f->to;
            if (way != EQUAL || f->move_keys)
                keys->keep(to->keys + at[way] * job->key_bytes, in, bits[way], here);
            pack_values(f, first + i, here, bits[way], to->values + at[way] * job->value_bytes);
            at[way] += isa->count(bits[way], here);
        }
    }
}

bool echi_sort_frequent(struct echi_frequent *f, int threads)
{
    const struct echi_sort_job *job = f->job;
    const uint64_t all = ~(uint64_t)0 >> (64 - 8 * job->key_bytes);
    const size_t bytes = job->value_bytes;
    if (!bytes || job->window.begin || (job->window.mask & all) != all ||
        !echi_select_width_of_machine(bytes) ||
        !find_key(job, f->from.keys + f->offset * job->key_bytes, f->n, &f->x))
        return false;
    const size_t blocks = (f->n + ECHI_SELECT_BLOCK - 1) / ECHI_SELECT_BLOCK;
    f->part_n = (blocks + (size_t)threads - 1) / (size_t)threads * ECHI_SELECT_BLOCK;
    f->move_keys = job->window.order.merge != 0;
    const size_t parts = (f->n + f->part_n - 1) / f->part_n;
    echi_parallel(threads, parts, count_part, f);
    size_t at = f->offset;
    for (int way = 0; way < WAYS; way++) {
        f->start[way] = at;
        for (size_t part = 0; part < parts; part++) {
            size_t *count = &f->counts[part * ECHI_BUCKETS + (size_t)way];
            const size_t own = *count;
            *count = at;
            at += own;
        }
    }
    f->start[WAYS] = at;
    echi_parallel(threads, parts, write_part, f);
    return true;
}
