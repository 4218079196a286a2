/*
 * sort_runs.c - cuts sorted runs where the first so many keys of all of them end.
 *
 *     run 0   1 3 3 | 8 9        the first 7 of all: the key at that rank is found bit by bit, from
 *     run 1   2 3 4 | 4 5        how many keys are less than a candidate; of keys equal to it,
 *     run 2   3 | 4 6 7 7        those of the first runs are taken
 *
 * A candidate is looked for between what the last two left in question alone, so that all bits
 * together cost little more than one search of each run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort_runs.h"

#include <string.h>

/* What keys are compared by. */
static uint64_t value(const struct echi_runs *r, uint64_t mask, size_t i)
{
    uint64_t u = 0;
    memcpy(&u, r->keys + i * (size_t)r->key_bytes, (size_t)r->key_bytes); /* little-endian */
    return echi_order_encode(&r->order, r->key_bytes, u) >> r->begin_bit & mask;
}

/* The first of [low, high) of a run that begins at `first` whose value is x or more; else high. */
static size_t lower_bound(const struct echi_runs *r, uint64_t mask, size_t first, size_t low,
                          size_t high, uint64_t x)
{
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (value(r, mask, first + middle) < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void echi_runs_split(const struct echi_runs *r, size_t rank, size_t *at, size_t *scratch)
{
    int bits = r->end_bit - r->begin_bit;
    uint64_t mask = bits ? ~(uint64_t)0 >> (64 - bits) : 0, x = 0;
    size_t *high = scratch, *middle = scratch + r->runs, less = 0;
    for (size_t i = 0; i < r->runs; i++)
        high[i] = r->n - i * r->run_n < r->run_n ? r->n - i * r->run_n : r->run_n;
    if (rank >= r->n) {
        memcpy(at, high, r->runs * sizeof *at);
        return;
    }
    for (int bit = bits - 1; bit >= 0; bit--) {
        uint64_t candidate = x | (uint64_t)1 << bit;
        size_t below = 0;
        for (size_t i = 0; i < r->runs; i++) {
            middle[i] = lower_bound(r, mask, i * r->run_n, at[i], high[i], candidate);
            below += middle[i];
        }
        memcpy(below <= rank ? at : high, middle, r->runs * sizeof *at);
        if (below <= rank) x = candidate;
    }
    for (size_t i = 0; i < r->runs; i++) less += at[i];
    for (size_t i = 0, left = rank - less; i < r->runs; i++) {
        size_t equal = high[i] - at[i];
        if (equal > left) equal = left;
        at[i] += equal;
        left -= equal;
    }
}
