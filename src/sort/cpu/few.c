/*
 * sort/cpu/few.c - stable sort of a block with values whose keys have few distinct values: for each
 * of these values, the elements with this key are packed.
 *
 *     keys     b a a b a   ->  a: 0 1 1 0 1   b: 1 0 0 1 0     bits, by the kernels of select/cpu
 *     values   0 1 2 3 4   ->  1 2 4 | 0 3
 *
 * The distinct keys are those of a sample. If another one exists, the attempt ends after a count.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "select/cpu/common.h"
#include "sort/cpu/common.h"

enum {
    FEW = 6,          /* maximum number of distinct keys */
    FEW_KEYS = 512,   /* smaller blocks do not repay a sample */
    FEW_SAMPLE = 16,  /* keys that decide whether ... */
    FEW_SAMPLES = 64, /* ... so many are compared */
};

struct few {
    const struct echi_sort_job *job;
    int count;
    uint64_t x[FEW + 1];
};

/* Adds the distinct keys of a sample; false if there are too many. */
static bool add_sample(struct few *f, const char *keys, size_t n, int size)
{
    uint64_t sample[FEW_SAMPLES];
    f->job->width->sample(&f->job->window, keys, n, sample, (size_t)size);
    for (int i = 0; i < size; i++) {
        int v = 0;
        while (v < f->count && f->x[v] != sample[i]) v++;
        if (v < f->count) continue;
        if (v == FEW) return false;
        while (v > 0 && f->x[v - 1] > sample[i]) {
            f->x[v] = f->x[v - 1];
            v--;
        }
        f->x[v] = sample[i];
        f->count++;
    }
    return true;
}

/* Packs the elements with one key from output `to` on. */
static void pack_equal(const struct echi_sort_job *job, const struct echi_sort_arrays *from,
                       size_t n, uint64_t x, size_t to)
{
    const struct echi_select_isa *isa = echi_select_isa_of_machine();
    const struct echi_select_width *keys = echi_select_width_of_machine(job->key_bytes);
    const struct echi_select_width *values = echi_select_width_of_machine(job->value_bytes);
    struct echi_predicate equal = { .order = job->window.order, .mask = job->window.mask };
    uint64_t bits[ECHI_SELECT_WORDS];
    equal.order.flip = 0; /* kernels of integers do not apply it */
    equal.low = x ^ (job->window.order.flip & equal.mask);
    for (size_t i = 0; i < n; i += ECHI_SELECT_BLOCK) {
        const size_t here = echi_min(ECHI_SELECT_BLOCK, n - i);
        char *out = job->out.values + to * job->value_bytes;
        keys->test(&equal, from->keys + i * job->key_bytes, here, bits);
        if (job->keep_keys)
            keys->keep(job->out.keys + to * job->key_bytes, from->keys + i * job->key_bytes, bits,
                       here);
        if (from->values)
            values->keep(out, from->values + i * job->value_bytes, bits, here);
        else if (job->value_bytes == 4)
            isa->keep_positions32((uint32_t *)(void *)out, i, bits, here);
        else
            isa->keep_positions((uint64_t *)(void *)out, i, bits, here);
        to += isa->count(bits, here);
    }
}

bool echi_sort_few(const struct echi_sort_job *job, const struct echi_sort_arrays *from,
                   size_t offset, size_t n)
{
    struct few f = { .job = job };
    size_t count[FEW] = { 0 }, found = 0;
    const uint64_t all = ~(uint64_t)0 >> (64 - 8 * job->key_bytes);
    if (n < FEW_KEYS || !job->value_bytes || job->window.begin || (job->window.mask & all) != all ||
        !echi_select_width_of_machine(job->value_bytes))
        return false;
    if (!add_sample(&f, from->keys, n, FEW_SAMPLE) || !add_sample(&f, from->keys, n, FEW_SAMPLES))
        return false;
    job->width->tally(&job->window, from->keys, n, f.x, f.count, count);
    for (int v = 0; v < f.count; v++) found += count[v];
    if (found != n) return false;
    for (int v = 0; v < f.count; offset += count[v++]) pack_equal(job, from, n, f.x[v], offset);
    return true;
}
