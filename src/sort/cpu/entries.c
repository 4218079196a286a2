/*
 * sort/cpu/entries.c - stable counting sort of keys with values, if the keys are in a small range:
 * a counter for each key of the range, and no key is moved.  Low bits that are the same in all keys
 * are not part of the range: few values often differ only in their top bits.
 *
 *     keys     7 5 7 4 5     count -> 1 of 4, 2 of 5, 0 of 6, 2 of 7     keys    4 5 5 7 7
 *     values   0 1 2 3 4     place ->                                    values  3 1 4 0 2
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cpu/common.h"

#include <string.h>

enum {
    MOST = 1 << 11,   /* keys of the range */
    SHARE = 4,        /* elements per key of the range, at least ... */
    BLOCK_SHARE = 16, /* ... in a block, which is sorted in less time, ... */
    KEYS_SHARE = 32,  /* ... and without values */
    SAMPLE = 16
};

static int lowest_bit(uint64_t bits)
{
    return bits ? __builtin_ctzll(bits) : 0;
}

/* Sets digits to the keys of the range; returns their number, or 0 if there are too many for
 * `share` elements per key. */
static size_t find_digits(const struct echi_sort_job *job, const char *keys, size_t n, size_t share,
                          struct echi_digits *digits)
{
    const uint64_t most = echi_min(MOST, n / share);
    uint64_t sample[SAMPLE], low = ~(uint64_t)0, high = 0, differ = 0;
    job->width->sample(&job->window, keys, n, sample, SAMPLE);
    for (int i = 0; i < SAMPLE; i++) {
        low = sample[i] < low ? sample[i] : low;
        high = sample[i] > high ? sample[i] : high;
        differ |= sample[i] ^ sample[0];
    }
    int shift = lowest_bit(differ);
    if ((high - low) >> shift >= most) return 0;
    const uint64_t range = job->width->range(&job->window, keys, n, &digits->low);
    if (shift) shift = lowest_bit(job->width->differ(&job->window, keys, n));
    digits->window = job->window;
    digits->shift = shift;
    return range >> shift < most ? (size_t)(range >> shift) + 1 : 0;
}

/* Writes the keys from `offset` on; end[e] is the end of entry e. */
static void fill_keys(const struct echi_sort_job *job, const struct echi_digits *digits,
                      const uint32_t *end, size_t entries, size_t offset)
{
    char *keys = job->out.keys + offset * job->key_bytes;
    for (size_t e = 0, first = 0; e < entries; first = end[e++])
        if (end[e] > first)
            job->width->fill(&job->window.order, digits->low + ((uint64_t)e << digits->shift),
                             keys + first * job->key_bytes, end[e] - first);
}

/* Functions of their own, because of their stack frames. */
static __attribute__((noinline)) bool sort_entries(const struct echi_sort_job *job,
                                                   const struct echi_sort_arrays *from,
                                                   size_t offset, size_t n, char *to)
{
    uint32_t at[MOST];
    struct echi_digits digits;
    const char *keys = from->keys + offset * job->key_bytes;
    const size_t entries =
        find_digits(job, keys, n, n > ECHI_BLOCK_KEYS ? SHARE : BLOCK_SHARE, &digits);
    if (!entries) return false;
    memset(at, 0, entries * sizeof *at);
    job->width->count_entries(&digits, keys, n, at);
    uint32_t before = 0;
    for (size_t e = 0; e < entries; e++) {
        const uint32_t count = at[e];
        at[e] = before;
        before += count;
    }
    job->width->place(&digits, keys, n,
                      from->values ? from->values + offset * job->value_bytes : NULL,
                      job->value_bytes, at, to + offset * job->value_bytes);
    echi_copy(job->out.values + offset * job->value_bytes, to + offset * job->value_bytes,
              n * job->value_bytes);
    if (job->keep_keys) /* last, because they may be the keys of from */
        fill_keys(job, &digits, at, entries, offset);
    return true;
}

bool echi_sort_entries(const struct echi_sort_job *job, const struct echi_sort_arrays *from,
                       size_t offset, size_t n, char *to)
{
    const uint64_t all = ~(uint64_t)0 >> (64 - 8 * job->key_bytes);
    const bool whole = !job->window.begin && (job->window.mask & all) == all;
    if (!job->sort->stable || (job->value_bytes != 4 && job->value_bytes != 8) || n < SAMPLE ||
        n > UINT32_MAX || (job->keep_keys && (!whole || job->window.order.merge)))
        return false; /* keys that are kept are those of their entries */
    return sort_entries(job, from, offset, n, to);
}

static __attribute__((noinline)) bool sort_range(const struct echi_sort_job *job)
{
    uint32_t end[MOST];
    struct echi_digits digits;
    const size_t n = job->sort->n;
    const size_t entries = find_digits(job, job->in.keys, n, KEYS_SHARE, &digits);
    if (!entries) return false;
    memset(end, 0, entries * sizeof *end);
    job->width->count_entries(&digits, job->in.keys, n, end);
    for (size_t e = 1; e < entries; e++) end[e] += end[e - 1];
    fill_keys(job, &digits, end, entries, 0);
    return true;
}

bool echi_sort_range(const struct echi_sort_job *job)
{
    const size_t n = job->sort->n;
    if (job->threads > 1 || job->key_bytes < 4 || n < KEYS_SHARE || n > UINT32_MAX) return false;
    return sort_range(job);
}
