/*
 * sort/runs.c - cuts sorted runs where the first `rank` keys of all of them end.
 *
 *     run 0   1 3 3 | 8 9        rank 7: the key at that rank is found bit by bit, by counting the
 *     run 1   2 3 4 | 4 5        keys that are less than a candidate; keys equal to it are taken
 *     run 2   3 | 4 6 7 7        from the first runs
 *
 * Runs of similar data have similar keys at similar positions.  So the first candidates are keys
 * slightly before and after the position of the cut in that case; then few keys are undecided when
 * the bits are found.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/runs.h"

#include <string.h>

/* The bounds of a cut: the key at its rank is at least `least` and, if bounded, less than `above`.
 * low and high: the positions in each run of the first key that is not less than these; or the
 * start and end of the run. */
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

/* The value by which keys are compared. */
static uint64_t value(const struct cut *c, size_t run, size_t i)
{
    const struct echi_runs *r = c->runs;
    uint64_t u = 0;
    memcpy(&u, key_at(c, run, i), (size_t)r->key_bytes); /* little-endian */
    return echi_order_encode(&r->order, r->key_bytes, u) >> r->begin_bit & c->mask;
}

/* The first undecided key of a run whose value is at least x; in few steps if it is close to
 * `near`. */
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

/* The number of undecided keys; *before: the number of keys before them. */
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

/* The fraction of a run's undecided keys that precede the cut if all runs are similar. */
static double share(const struct cut *c)
{
    size_t before, left = in_question(c, &before);
    return (double)(c->rank - before) / (double)left;
}

/* Moves a bound to the position of x; true if it is the lower bound. */
static bool narrow(struct cut *c, uint64_t x)
{
    size_t below = 0;
    double before_cut = share(c);
    for (size_t i = 0; i < c->runs->runs; i++) {
        size_t n = c->high[i] - c->low[i];
        c->middle[i] = c->low[i] + (size_t)(before_cut * (double)n);
        if (n) __builtin_prefetch(key_at(c, i, c->middle[i])); /* all cache misses at once */
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

/* Narrows by a key of the run with the most undecided keys, twice the standard deviation before or
 * after the expected position of the cut. */
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
