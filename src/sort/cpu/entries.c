/*
 * sort/cpu/entries.c - stable counting sorts of keys with values, in which no key is moved: if the
 * keys are in a small range, with a counter for each key of the range; if there are few distinct
 * keys, with a counter for each of them.
 *
 *     keys     7 5 7 4 5     count -> 1 of 4, 2 of 5, 0 of 6, 2 of 7     keys    4 5 5 7 7
 *     values   0 1 2 3 4     place ->                                    values  3 1 4 0 2
 *
 * The distinct keys are those of a sample.  A key that is not in the sample ends the attempt.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cpu/common.h"

#include <string.h>

enum {
    MOST = 1 << 11, /* keys of the range */
    SHARE = 4,      /* elements per key of the range, at least */
    SAMPLE = 16,
    VALUES_KEYS = 512,    /* fewer keys are sorted faster otherwise */
    VALUES_SHARE = 8,     /* the distinct keys are those of a sample of one key in 8, at most */
    VALUES_DISTINCT = 13, /* in the first SAMPLE, at most: 16 of 32 values have 12.7 */
    TRIALS = 64           /* multipliers; one of seven separates 32 values */
};

/* ---- The outputs ---- */

/* Whether x contains all bits of a key, except for the sign of zero and the bits of NaN. */
static bool is_whole(const struct echi_sort_job *job)
{
    const uint64_t all = ~(uint64_t)0 >> (64 - 8 * job->key_bytes);
    return !job->window.begin && (job->window.mask & all) == all;
}

/* Whether the keys of the result can be written without reading them: one key encodes an x. */
static bool can_fill(const struct echi_sort_job *job)
{
    return is_whole(job) && !job->window.order.merge;
}

static bool can_place(const struct echi_sort_job *job, size_t n)
{
    return job->sort->stable && (job->value_bytes == 4 || job->value_bytes == 8) && n <= UINT32_MAX;
}

/* Replaces counts by the positions before them, and writes the keys of out. */
static void fill_keys(const struct echi_sort_job *job, uint32_t *at, size_t entries, char *out,
                      const uint64_t *x, uint64_t low)
{
    uint32_t before = 0;
    for (size_t e = 0; e < entries; e++) {
        const uint32_t count = at[e];
        if (count && out)
            job->width->fill(&job->window.order, x ? x[e] : low + e, out + before * job->key_bytes,
                             count);
        at[e] = before;
        before += count;
    }
}

static char *out_keys(const struct echi_sort_job *job, size_t offset)
{
    return job->keep_keys ? job->out.keys + offset * job->key_bytes : NULL;
}

/* ---- Keys in a small range ---- */

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
    const size_t entries = find_digits(job, from->keys, n, &digits);
    if (!entries) return false;
    memset(at, 0, entries * sizeof *at);
    job->width->count_entries(&digits, NULL, from->keys, n, at);
    fill_keys(job, at, entries, out_keys(job, offset), NULL, digits.low);
    job->width->place(&digits, NULL, from->keys, n, from->values, job->value_bytes, at,
                      job->out.values + offset * job->value_bytes);
    return true;
}

bool echi_sort_entries(const struct echi_sort_job *job, const struct echi_sort_arrays *from,
                       size_t offset, size_t n)
{
    if (!can_place(job, n) || n < SAMPLE || (job->keep_keys && !can_fill(job))) return false;
    return sort_entries(job, from, offset, n);
}

/* ---- Few distinct keys ---- */

/* Whether a few keys of the array have so few distinct ones that a larger sample may have at most
 * ECHI_VALUES. */
static bool looks_few(const struct echi_sort_job *job, const char *keys, size_t n)
{
    uint64_t sample[SAMPLE];
    int distinct = 0;
    job->width->sample(&job->window, keys, n, sample, SAMPLE);
    for (int i = 0, j; i < SAMPLE; i++) {
        for (j = 0; j < i && sample[j] != sample[i]; j++) {
        }
        distinct += j == i;
    }
    return distinct <= VALUES_DISTINCT;
}

/* Chooses a multiplier for which the values have different hashes. */
static bool find_multiplier(struct echi_values *v, size_t key_bytes)
{
    const unsigned shift = 64 - 8 * (unsigned)key_bytes; /* products to the upper bits of 64 */
    uint64_t state = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        uint64_t used[(1 << ECHI_HASH_BITS) / 64] = { 0 };
        int i = 0;
        state += 0x9e3779b97f4a7c15u;
        v->multiplier = (state ^ state >> 31) * 0xbf58476d1ce4e5b9u | 1;
        for (; i < v->count; i++) {
            const uint64_t product = v->x[i] * v->multiplier << shift;
            const unsigned hash = (unsigned)(product >> (64 - ECHI_HASH_BITS));
            const uint64_t bit = (uint64_t)1 << hash % 64;
            if (used[hash / 64] & bit) break;
            used[hash / 64] |= bit;
            v->entry[hash] = (uint8_t)i;
        }
        if (i == v->count) return true;
    }
    return false;
}

/* Counts the keys that have the bits of a value, and returns whether all keys have: then those of
 * the result can be filled. */
static bool tally_values(const struct echi_sort_job *job, const struct echi_values *v,
                         const char *keys, size_t n, uint32_t *at)
{
    size_t counts[ECHI_VALUES] = { 0 }, found = 0;
    if (!is_whole(job)) return false;
    job->width->tally(&job->window.order, keys, n, v->x, v->count, counts);
    for (int i = 0; i < v->count; i++) {
        at[i] = (uint32_t)counts[i];
        found += counts[i];
    }
    return found == n;
}

/* Counts the keys; false if one of them is not a value. */
static bool count_values(const struct echi_sort_job *job, const struct echi_values *v,
                         const char *keys, size_t n, uint32_t *at, bool *fills)
{
    *fills = tally_values(job, v, keys, n, at);
    if (*fills || can_fill(job)) return *fills;
    memset(at, 0, ECHI_VALUES * sizeof *at);
    return job->width->count_entries(NULL, v, keys, n, at);
}

static __attribute__((noinline)) bool sort_values(const struct echi_sort_job *job,
                                                  const struct echi_sort_arrays *from,
                                                  size_t offset, size_t n)
{
    struct echi_values v;
    uint32_t at[ECHI_VALUES], key_at[ECHI_VALUES];
    bool fills;
    if (!looks_few(job, from->keys, n)) return false;
    v.window = job->window;
    v.count = echi_sort_sample_values(job, from->keys, n, n / VALUES_SHARE, v.x);
    if (!v.count) return false;
    memset(v.entry, 0, sizeof v.entry);
    if (!find_multiplier(&v, job->key_bytes) || !count_values(job, &v, from->keys, n, at, &fills))
        return false;
    fill_keys(job, at, (size_t)v.count, fills ? out_keys(job, offset) : NULL, v.x, 0);
    memcpy(key_at, at, sizeof at);
    if (job->keep_keys && !fills)
        job->width->place(NULL, &v, from->keys, n, from->keys, job->key_bytes, key_at,
                          out_keys(job, offset));
    job->width->place(NULL, &v, from->keys, n, from->values, job->value_bytes, at,
                      job->out.values + offset * job->value_bytes);
    return true;
}

bool echi_sort_values(const struct echi_sort_job *job, const struct echi_sort_arrays *from,
                      size_t offset, size_t n)
{
    if (!can_place(job, n) || n < VALUES_KEYS || job->key_bytes < 4) return false;
    return sort_values(job, from, offset, n);
}
