/*
 * dist/buckets.c - chooses the buckets of a distributed sort, and where the keys of each rank go.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dist/partition.h"

#include <stdlib.h>

enum { BINS = ECHI_DIVIDE_BINS };

bool echi_partition_allocate(struct echi_partition *p, const struct echi_dist *d)
{
    const size_t ranks = (size_t)d->ranks, cells = ECHI_DIVIDE_BUCKETS * ranks;
    *p = (struct echi_partition){ .d = d };
    p->counts = calloc(ranks * BINS, sizeof *p->counts);
    p->start = calloc(BINS + 1, sizeof *p->start);
    p->shared_before = calloc(BINS + 1, sizeof *p->shared_before);
    p->buckets = calloc(ECHI_DIVIDE_BUCKETS, sizeof *p->buckets);
    p->have = calloc(cells, sizeof *p->have);
    p->send_at = calloc(cells, sizeof *p->send_at);
    p->shares = calloc(ranks, sizeof *p->shares);
    return p->counts && p->start && p->shared_before && p->buckets && p->have && p->send_at &&
           p->shares;
}

void echi_partition_free(struct echi_partition *p)
{
    free(p->counts);
    free(p->start);
    free(p->shared_before);
    free(p->buckets);
    free(p->have);
    free(p->send_at);
    free(p->shares);
}

/* ---- Bins ---- */

/* The bin with this position, which is less than total. */
static uint32_t bin_of(const struct echi_partition *p, uint64_t position)
{
    uint32_t low = 0, high = BINS; /* start[low] <= position < start[high] */
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (p->start[middle] <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Finds the first positions of the bins, and those that several ranks share. */
static void add_bins(struct echi_partition *p)
{
    const struct echi_dist *d = p->d;
    for (uint32_t b = 0; b < BINS; b++) p->start[b + 1] = 0;
    for (int r = 0; r < d->ranks; r++)
        for (uint32_t b = 0; b < BINS; b++) p->start[b + 1] += p->counts[(size_t)r * BINS + b];
    for (uint32_t b = 0; b < BINS; b++) {
        p->start[b + 1] += p->start[b];
        p->shared_before[b + 1] = 0;
    }
    for (int r = 1; r < d->ranks; r++) {
        const uint64_t at = d->out_first[r];
        if (at == 0 || at == d->total) continue;
        const uint32_t b = bin_of(p, at);
        if (p->start[b] < at) p->shared_before[b + 1] = 1;
    }
    for (uint32_t b = 0; b < BINS; b++) p->shared_before[b + 1] += p->shared_before[b];
}

static bool is_shared(const struct echi_partition *p, uint32_t bin)
{
    return p->shared_before[bin + 1] != p->shared_before[bin];
}

/* ---- Buckets ---- */

/* Whether 2^log bins can be one bucket. */
static bool can_join(const struct echi_partition *p, uint32_t bin, uint32_t log, uint64_t most)
{
    const uint32_t end = bin + (1u << log);
    if (bin % (1u << log) || end > BINS) return false;
    if (p->shared_before[end] != p->shared_before[bin]) return false;
    const uint64_t from = p->start[bin], to = p->start[end];
    if (from == to) return true;
    return to - from <= most &&
           to <= p->d->out_first[echi_dist_owner(p->d, p->d->out_first, from) + 1];
}

static bool add_buckets(struct echi_partition *p, uint64_t most)
{
    p->n_buckets = 0;
    for (uint32_t bin = 0; bin < BINS;) {
        const bool shared = is_shared(p, bin);
        uint32_t log = 0;
        while (!shared && can_join(p, bin, log + 1, most)) log++;
        const uint64_t from = p->start[bin], count = p->start[bin + (1u << log)] - from;
        if (count) {
            if (p->n_buckets == ECHI_DIVIDE_BUCKETS) return false;
            p->buckets[p->n_buckets++] = (struct echi_bucket){
                bin, log, shared ? -1 : echi_dist_owner(p->d, p->d->out_first, from), from, count
            };
        }
        bin += 1u << log;
    }
    return true;
}

static void count_parts(struct echi_partition *p)
{
    const size_t ranks = (size_t)p->d->ranks;
    for (uint32_t i = 0; i < p->n_buckets; i++) {
        const struct echi_bucket *bucket = &p->buckets[i];
        for (size_t r = 0; r < ranks; r++) {
            uint64_t have = 0;
            for (uint32_t b = 0; b < 1u << bucket->log; b++)
                have += p->counts[r * BINS + bucket->bin + b];
            p->have[i * ranks + r] = have;
        }
    }
}

/* A rank has its elements in the order of bins. */
static void place_in_order(struct echi_partition *p)
{
    const size_t ranks = (size_t)p->d->ranks;
    for (size_t r = 0; r < ranks; r++) {
        uint64_t at = 0;
        p->shares[r].shared = 0;
        for (uint32_t i = 0; i < p->n_buckets; i++) {
            p->send_at[i * ranks + r] = at;
            at += p->have[i * ranks + r];
            if (p->buckets[i].owner < 0) p->shares[r].shared += p->have[i * ranks + r];
        }
    }
}

/* A rank sends its keys of shared bins, then those of the buckets of other ranks. */
static void place_sends(struct echi_partition *p)
{
    const size_t ranks = (size_t)p->d->ranks;
    for (size_t r = 0; r < ranks; r++) {
        uint64_t at = 0;
        for (int pass = 0; pass < 2; pass++) {
            for (uint32_t i = 0; i < p->n_buckets; i++) {
                const int owner = p->buckets[i].owner;
                if (pass == 0 ? owner >= 0 : owner < 0 || owner == (int)r) continue;
                p->send_at[i * ranks + r] = at;
                at += p->have[i * ranks + r];
            }
            if (pass == 0) p->shares[r].shared = at;
        }
    }
}

static void add_shares(struct echi_partition *p)
{
    const struct echi_dist *d = p->d;
    for (int r = 0; r < d->ranks; r++) {
        const uint64_t first = d->out_first[r], end = d->out_first[r + 1];
        struct echi_share *share = &p->shares[r];
        uint64_t start = first, stop = end; /* of its own buckets */
        if (first < end && is_shared(p, bin_of(p, first)) && p->start[bin_of(p, first)] < first)
            start = p->start[bin_of(p, first) + 1];
        if (first < end && end < d->total && is_shared(p, bin_of(p, end)) &&
            p->start[bin_of(p, end)] < end)
            stop = p->start[bin_of(p, end)];
        if (start > end) start = stop = end; /* all in one shared bin */
        if (stop < start) stop = start;
        share->start = start;
        share->low = start - first;
        share->middle = stop - start;
        share->high = end - stop;
    }
}

bool echi_partition_plan(struct echi_partition *p, uint64_t most)
{
    add_bins(p);
    while (!add_buckets(p, most)) {
        if (most >= p->d->total) return false;
        most *= 2;
    }
    count_parts(p);
    if (p->in_order)
        place_in_order(p);
    else
        place_sends(p);
    add_shares(p);
    return true;
}
