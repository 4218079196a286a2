/*
 * sort/runs.c - cuts sorted runs where the first so many keys of all of them end.
 *
 *     run 0   1 3 3 | 8 9        the first 7 of all: the key at that rank is found bit by bit, from
 *     run 1   2 3 4 | 4 5        how many keys are less than a candidate; of keys equal to it,
 *     run 2   3 | 4 6 7 7        those of the first runs are taken
 *
 * Runs of like data have like keys at like places.  So the first candidates are keys from a little
 * before and after where the cut would be then; little is left in question when the bits are found.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/runs.h"

#include <string.h>

/* What is known of a cut: the key at its rank is `least` or more and, if bounded, less than
 * `above`; in run i, where keys less than these end, or the run begins and ends. */
struct cut {
    const struct echi_runs *runs;
    size_t rank, *low, *high, *middle;
    uint64_t mask, least, above;
    bool bounded;
};

static const char *key_at(const struct cut *c, size_t run, size_t i)
{
    return c->runs->keys + (c->runs->starts[run] + i) * (size_t)c->runs->key_bytes;
}

/* What keys are compared by. */
static uint64_t value(const struct cut *c, size_t run, size_t i)
{
    const struct echi_runs *r = c->runs;
    uint64_t u = 0;
    memcpy(&u, key_at(c, run, i), (size_t)r->key_bytes); /* little-endian */
    return echi_order_encode(&r->order, r->key_bytes, u) >> r->begin_bit & c->mask;
}

/* The first in question of a run whose value is x or more, in few steps if it is near. */
static size_t lower_bound(const struct cut *c, size_t run, size_t near, uint64_t x)
{
    size_t low = c->low[run], high = c->high[run], step = 32;
    if (near >= high) near = high - 1;
    if (value(c, run, near) < x) {
        for (low = near + 1; step < high - low; step *= 2) {
            if (value(c, run, low + step - 1) >= x) {
                high = low + step - 1;
                break;
            }
            low += step;
        }
    } else {
        for (high = near; step < high - low; step *= 2) {
            if (value(c, run, high - step) < x) {
                low = high - step + 1;
                break;
            }
            high -= step;
        }
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (value(c, run, middle) < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Keys in question, and those before them. */
static size_t in_question(const struct cut *c, size_t *before)
{
    size_t left = 0;
    *before = 0;
    for (size_t i = 0; i < c->runs->runs; i++) {
        left += c->high[i] - c->low[i];
        *before += c->low[i];
    }
    return left;
}

/* Which part of a run's keys in question are before the cut if all runs are alike. */
static double share(const struct cut *c)
{
    size_t before, left = in_question(c, &before);
    return (double)(c->rank - before) / (double)left;
}

/* Moves a bound to where the keys less than x end; true if it is the lower one. */
static bool narrow(struct cut *c, uint64_t x)
{
    size_t below = 0;
    double before_cut = share(c);
    for (size_t i = 0; i < c->runs->runs; i++) {
        size_t n = c->high[i] - c->low[i];
        c->middle[i] = c->low[i] + (size_t)(before_cut * (double)n);
        if (n) __builtin_prefetch(key_at(c, i, c->middle[i])); /* the misses of all at once */
    }
    for (size_t i = 0; i < c->runs->runs; i++) {
        bool any = c->high[i] > c->low[i];
        c->middle[i] = any ? lower_bound(c, i, c->middle[i], x) : c->low[i];
        below += c->middle[i];
    }
    bool lower = below <= c->rank;
    memcpy(lower ? c->low : c->high, c->middle, c->runs->runs * sizeof *c->low);
    if (lower) {
        c->least = x;
    } else {
        c->above = x;
        c->bounded = true;
    }
    return lower;
}

/* Narrows by a key of the run that has most in question, of twice the deviation before or after
 * where the cut is expected in it. */
static void guess(struct cut *c, bool after)
{
    size_t run = 0, deviation = 16;
    for (size_t i = 1; i < c->runs->runs; i++)
        if (c->high[i] - c->low[i] > c->high[run] - c->low[run]) run = i;
    size_t n = c->high[run] - c->low[run], at = (size_t)(share(c) * (double)n);
    while (deviation * deviation < 4 * at) deviation *= 2;
    if (after)
        at = at + deviation < n ? at + deviation : n - 1;
    else
        at = at > deviation ? at - deviation : 0;
    narrow(c, value(c, run, c->low[run] + at));
}

void echi_runs_split(const struct echi_runs *r, size_t rank, size_t *at, size_t *scratch)
{
    enum { GUESSES = 6, FEW = 128 };
    int bits = r->end_bit - r->begin_bit;
    struct cut c = { .runs = r,
                     .rank = rank,
                     .low = at,
                     .high = scratch,
                     .middle = scratch + r->runs,
                     .mask = bits ? ~(uint64_t)0 >> (64 - bits) : 0 };
    uint64_t x = 0;
    size_t less;
    for (size_t i = 0; i < r->runs; i++) c.high[i] = r->starts[i + 1] - r->starts[i];
    if (rank >= r->starts[r->runs]) {
        memcpy(at, c.high, r->runs * sizeof *at);
        return;
    }
    for (int i = 0; i < GUESSES && in_question(&c, &less) > FEW * r->runs; i++)
        guess(&c, i % 2 == 0);
    for (int bit = bits - 1; bit >= 0; bit--) {
        uint64_t candidate = x | (uint64_t)1 << bit;
        if (c.bounded && candidate >= c.above) continue;
        if (candidate <= c.least || narrow(&c, candidate)) x = candidate;
    }
    in_question(&c, &less);
    for (size_t i = 0, left = rank - less; i < r->runs; i++) {
        size_t equal = c.high[i] - at[i];
        if (equal > left) equal = left;
        at[i] += equal;
        left -= equal;
    }
}
