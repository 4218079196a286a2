/*
 * sort/cpu/digits.c - the map from keys to the buckets of a scatter, from a sample of the keys.
 *
 *     x in [low, high]  --(x - low) >> shift-->  4096 entries  --table-->  256 buckets
 *
 * For evenly distributed keys the table is linear.  Otherwise (floats use their exponents unevenly)
 * it gives every bucket about equally many keys of the sample.  Keys outside of the sample's range
 * belong to the first or the last entry, so the map is monotone for all keys.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cpu/common.h"

#include <string.h>

enum { SAMPLE = 1024, UNEVEN = 6 /* times the mean: the maximum for a linear table */ };

static void spread_linearly(struct echi_digits *d, size_t entries)
{
    for (size_t i = 0; i < ECHI_ENTRIES; i++)
        d->bucket[i] = (uint8_t)(echi_min(i, entries - 1) * ECHI_BUCKETS / entries);
}

static bool crowded(const struct echi_digits *d, const uint16_t *in_entry)
{
    unsigned in_bucket[ECHI_BUCKETS] = { 0 }, most = 0;
    for (size_t i = 0; i < ECHI_ENTRIES; i++) {
        unsigned *count = &in_bucket[d->bucket[i]];
        *count += in_entry[i];
        if (*count > most) most = *count;
    }
    return most > UNEVEN * SAMPLE / ECHI_BUCKETS;
}

/* An entry is assigned by the middle of its keys in the sorted sample, so a frequent entry gets its
 * own bucket.
 */
static void spread_evenly(struct echi_digits *d, const uint16_t *in_entry)
{
    size_t below = 0;
    for (size_t i = 0; i < ECHI_ENTRIES; i++) {
        size_t bucket = (2 * below + in_entry[i]) * ECHI_BUCKETS / (2 * SAMPLE);
        d->bucket[i] = (uint8_t)echi_min(bucket, ECHI_BUCKETS - 1);
        below += in_entry[i];
    }
}

static bool digits_exact(const struct echi_sort_job *job, const char *keys, size_t n,
                         struct echi_digits *d)
{
    uint64_t first, differ = job->width->differ(&d->window, keys, n);
    if (!differ) return false;
    job->width->sample(&d->window, keys, 1, &first, 1);
    int bits = echi_bit_length(differ);
    d->low = bits == 64 ? 0 : first >> bits << bits;
    d->shift = bits > 12 ? bits - 12 : 0;
    spread_linearly(d, (size_t)1 << (bits > 12 ? 12 : bits));
    return true;
}

bool echi_sort_digits(const struct echi_sort_job *job, const char *keys, size_t n, bool exact,
                      struct echi_digits *d)
{
    d->window = job->window;
    if (exact || n < SAMPLE) return digits_exact(job, keys, n, d);
    uint64_t sample[SAMPLE], low = ~(uint64_t)0, high = 0;
    job->width->sample(&d->window, keys, n, sample, SAMPLE);
    for (size_t i = 0; i < SAMPLE; i++) {
        if (sample[i] < low) low = sample[i];
        if (sample[i] > high) high = sample[i];
    }
    if (low == high) return digits_exact(job, keys, n, d);

    int bits = echi_bit_length(high - low);
    d->low = low;
    d->shift = bits > 12 ? bits - 12 : 0;
    uint16_t in_entry[ECHI_ENTRIES] = { 0 };
    for (size_t i = 0; i < SAMPLE; i++) in_entry[(sample[i] - low) >> d->shift]++;
    spread_linearly(d, (size_t)((high - low) >> d->shift) + 1);
    if (crowded(d, in_entry)) spread_evenly(d, in_entry);
    return true;
}
