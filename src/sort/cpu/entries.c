/*
 * sort/cpu/entries.c - stable counting sort of keys with values, if the keys are in a small range:
 * a counter for each key of the range, and no key is moved.
 *
 *     keys     7 5 7 4 5     count -> 1 of 4, 2 of 5, 0 of 6, 2 of 7     keys    4 5 5 7 7
 *     values   0 1 2 3 4     place ->                                    values  3 1 4 0 2
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cpu/common.h"

#include <string.h>

enum {
    MOST = 1 << 11, /* keys of the range */
    SHARE = 4,      /* elements per key of the range, at least */
    SAMPLE = 16
};

/* Sets digits to the keys of the range; returns their number, or 0 if there are too many. */
static size_t find_digits(const struct echi_sort_job *job, const char *keys, size_t n,
                          struct echi_digits *digits)
{
    const uint64_t most = echi_min(MOST, n / SHARE);
    uint64_t sample[SAMPLE], low = ~(uint64_t)0, high = 0;
    job->width->sample(&job->window, keys, n, sample, SAMPLE);
    for (int i = 0; i < SAMPLE; i++) {
        low = sample[i] < low ? sample[i] : low;
        high = sample[i] > high ? sample[i] : high;
    }
    if (high - low >= most) return 0;
    const uint64_t range = job->width->range(&job->window, keys, n, &digits->low);
    digits->window = job->window;
    digits->shift = 0;
    return range < most ? (size_t)range + 1 : 0;
}

/* A function of its own, because of its stack frame. */
static __attribute__((noinline)) bool sort_entries(const struct echi_sort_job *job,
                                                   const struct echi_sort_arrays *from,
                                                   size_t offset, size_t n)
{
    uint32_t at[MOST];
    struct echi_digits digits;
    const char *keys = from->keys + offset * job->key_bytes;
    const size_t entries = find_digits(job, keys, n, &digits);
    if (!entries) return false;
    memset(at, 0, entries * sizeof *at);
    job->width->count_entries(&digits, keys, n, at);
    char *keys_out = job->keep_keys ? job->out.keys + offset * job->key_bytes : NULL;
    uint32_t before = 0;
    for (size_t e = 0; e < entries; e++) {
        const uint32_t count = at[e];
        if (count && keys_out)
            job->width->fill(&job->window.order, digits.low + e, keys_out + before * job->key_bytes,
                             count);
        at[e] = before;
        before += count;
    }
    job->width->place(&digits, keys, n,
                      from->values ? from->values + offset * job->value_bytes : NULL,
                      job->value_bytes, at, job->out.values + offset * job->value_bytes);
    return true;
}

bool echi_sort_entries(const struct echi_sort_job *job, const struct echi_sort_arrays *from,
                       size_t offset, size_t n)
{
    const uint64_t all = ~(uint64_t)0 >> (64 - 8 * job->key_bytes);
    const bool whole = !job->window.begin && (job->window.mask & all) == all;
    if (!job->sort->stable || (job->value_bytes != 4 && job->value_bytes != 8) || n < SAMPLE ||
        n > UINT32_MAX || (job->keep_keys && (!whole || job->window.order.merge)))
        return false; /* keys that are kept are those of their entries */
    return sort_entries(job, from, offset, n);
}
