/*
 * sort/cpu/few.c - stable sort of a block with values in which few keys are frequent: for each of
 * these keys, the elements with this key are packed; the others are sorted as a smaller block.
 *
 *     keys     b a a b c a   ->  a: 0 1 1 0 0 1   b: 1 0 0 1 0 0     bits, by select/cpu
 *     values   0 1 2 3 4 5   ->  1 2 5 | 0 3 | 4
 *
 * The frequent keys are those of a sample.  If the others are too many, the attempt ends after a
 * count.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "select/cpu/common.h"
#include "sort/cpu/common.h"

#include <string.h>

enum {
    FEW = 6,          /* maximum number of frequent keys */
    FEW_KEYS = 512,   /* smaller blocks do not repay a sample */
    FEW_SAMPLE = 16,  /* keys that decide whether ... */
    FEW_SAMPLES = 48, /* ... so many are compared */
    FREQUENT = 3,     /* samples of a frequent key */
    SHARE = 4,        /* at most one of four elements has another key */
    WORDS = ECHI_BLOCK_KEYS / 64
};

struct few {
    const struct echi_sort_job *job;
    const struct echi_sort_arrays *from;
    size_t n;
    int count; /* of frequent keys, in ascending order: */
    uint64_t x[FEW];
    unsigned samples[FEW];
    size_t elements[FEW];
    uint64_t bits[FEW][WORDS], others[WORDS];
    /* the other elements, sorted: their encoded keys, keys and places in the block */
    size_t n_others;
    char *encoded, *keys;
    uint32_t *places;
};

/* Counts the keys of a sample; returns how many have one of the first FEW distinct keys. */
static int add_sample(struct few *f, int size)
{
    uint64_t sample[FEW_SAMPLES];
    int found = 0;
    f->job->width->sample(&f->job->window, f->from->keys, f->n, sample, (size_t)size);
    for (int i = 0; i < size; i++) {
        int v = 0;
        while (v < f->count && f->x[v] != sample[i]) v++;
        if (v == FEW) continue;
        found++;
        if (v == f->count) {
            f->x[f->count] = sample[i];
            f->samples[f->count++] = 0;
        }
        f->samples[v]++;
    }
    return found;
}

/* Keeps the frequent keys of the sample, in ascending order. */
static void choose_frequent(struct few *f)
{
    int count = 0;
    for (int i = 0; i < f->count; i++) {
        const uint64_t x = f->x[i];
        int v = count;
        if (f->samples[i] < FREQUENT) continue;
        for (; v > 0 && f->x[v - 1] > x; v--) f->x[v] = f->x[v - 1];
        f->x[v] = x;
        count++;
    }
    f->count = count;
}

/* Computes which elements have each frequent key, and which have none of them. */
static void find_elements(struct few *f)
{
    const struct echi_select_isa *isa = echi_select_isa_of_machine();
    const struct echi_select_width *width = echi_select_width_of_machine(f->job->key_bytes);
    const size_t words = (f->n + 63) / 64;
    struct echi_predicate equal = { .order = f->job->window.order, .mask = f->job->window.mask };
    f->n_others = f->n;
    memset(f->others, 0xff, words * sizeof *f->others);
    if (f->n % 64) f->others[words - 1] = ((uint64_t)1 << f->n % 64) - 1;
    equal.order.flip = 0; /* kernels of integers do not apply it */
    for (int v = 0; v < f->count; v++) {
        equal.low = f->x[v] ^ (f->job->window.order.flip & equal.mask);
        width->test(&equal, f->from->keys, f->n, f->bits[v]);
        f->elements[v] = isa->count(f->bits[v], f->n);
        f->n_others -= f->elements[v];
        for (size_t w = 0; w < words; w++) f->others[w] &= ~f->bits[v][w];
    }
}

/* Sorts the other elements in scratch. */
static void sort_others(struct few *f, char *scratch)
{
    const struct echi_select_width *width = echi_select_width_of_machine(f->job->key_bytes);
    const size_t m = f->n_others, key_bytes = m * f->job->key_bytes;
    struct echi_sort_job job = *f->job;
    struct echi_sort_arrays unsorted = { scratch, scratch + m * 16 }; /* keys are aligned */
    f->encoded = unsorted.keys;
    f->keys = scratch + m * 8;
    f->places = (uint32_t *)(void *)(scratch + m * 20);
    width->keep(unsorted.keys, f->from->keys, f->others, f->n);
    echi_select_isa_of_machine()->keep_positions32((uint32_t *)(void *)unsorted.values, 0,
                                                   f->others, f->n);
    job.value_bytes = sizeof *f->places;
    job.keep_keys = true;
    job.out = (struct echi_sort_arrays){ f->keys, (char *)f->places };
    echi_sort_block(&job, unsorted, 0, m, scratch + m * 24);
    memcpy(f->encoded, f->keys, key_bytes);
    job.width->encode(&job.window, f->encoded, f->encoded, m);
}

/* The number of other elements with a key less than x. */
static size_t others_below(const struct few *f, uint64_t x)
{
    const size_t bytes = f->job->key_bytes;
    size_t from = 0, to = f->n_others;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        uint64_t key = 0;
        memcpy(&key, f->encoded + middle * bytes, bytes); /* little-endian */
        if (key < x)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Writes the values of other elements [from, to), or their places; bytes is a constant for the
 * sizes that write_others() lists. */
static inline __attribute__((always_inline)) void write_values(const struct few *f, size_t from,
                                                               size_t to, char *out, size_t bytes)
{
    const char *values = f->from->values;
    for (size_t i = from; i < to; i++, out += bytes) {
        const uint64_t place = f->places[i];
        memcpy(out, values ? values + place * bytes : (const char *)&place, bytes);
    }
}

/* Writes other elements [from, to) at output `at`. */
static void write_others(const struct few *f, size_t from, size_t to, size_t at)
{
    const struct echi_sort_job *job = f->job;
    const size_t key_bytes = job->key_bytes, bytes = job->value_bytes;
    char *out = job->out.values + at * bytes;
    if (job->keep_keys && to > from)
        memcpy(job->out.keys + at * key_bytes, f->keys + from * key_bytes, (to - from) * key_bytes);
    if (bytes == 4)
        write_values(f, from, to, out, 4);
    else if (bytes == 8)
        write_values(f, from, to, out, 8);
    else
        write_values(f, from, to, out, bytes);
}

/* Packs the elements with frequent key v from output `at` on. */
static void pack_equal(const struct few *f, int v, size_t at)
{
    const struct echi_sort_job *job = f->job;
    const struct echi_select_isa *isa = echi_select_isa_of_machine();
    char *keys_out = job->keep_keys ? job->out.keys + at * job->key_bytes : NULL;
    char *out = job->out.values + at * job->value_bytes;
    if (keys_out && job->window.order.merge)
        echi_select_width_of_machine(job->key_bytes)
            ->keep(keys_out, f->from->keys, f->bits[v], f->n);
    else if (keys_out)
        job->width->fill(&job->window.order, f->x[v], keys_out, f->elements[v]);
    if (f->from->values)
        echi_select_width_of_machine(job->value_bytes)
            ->keep(out, f->from->values, f->bits[v], f->n);
    else if (job->value_bytes == 4)
        isa->keep_positions32((uint32_t *)(void *)out, 0, f->bits[v], f->n);
    else
        isa->keep_positions((uint64_t *)(void *)out, 0, f->bits[v], f->n);
}

/* A function of its own, so that its stack frame is not part of other sorts. */
static __attribute__((noinline)) bool sort_few(const struct echi_sort_job *job,
                                               const struct echi_sort_arrays *from, size_t offset,
                                               size_t n, void *scratch)
{
    struct few f;
    f.job = job;
    f.from = from;
    f.n = n;
    f.count = 0;
    if (add_sample(&f, FEW_SAMPLE) < FEW_SAMPLE * 3 / 4) return false;
    if (add_sample(&f, FEW_SAMPLES) < FEW_SAMPLES * 3 / 4) return false;
    choose_frequent(&f);
    find_elements(&f);
    if (f.n_others > n / SHARE) return false;
    if (f.n_others) sort_others(&f, scratch);
    size_t written = 0; /* other elements */
    for (int v = 0; v < f.count; offset += f.elements[v++]) {
        const size_t below = f.n_others ? others_below(&f, f.x[v]) : 0;
        write_others(&f, written, below, offset);
        offset += below - written;
        written = below;
        pack_equal(&f, v, offset);
    }
    write_others(&f, written, f.n_others, offset);
    return true;
}

bool echi_sort_few(const struct echi_sort_job *job, const struct echi_sort_arrays *from,
                   size_t offset, size_t n, void *scratch)
{
    const uint64_t all = ~(uint64_t)0 >> (64 - 8 * job->key_bytes);
    if (n < FEW_KEYS || !job->value_bytes || job->window.begin || (job->window.mask & all) != all ||
        !echi_select_width_of_machine(job->value_bytes))
        return false;
    return sort_few(job, from, offset, n, scratch);
}
