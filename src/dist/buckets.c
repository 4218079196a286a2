/*
 * dist/buckets.c - chooses the buckets of a distributed sort, and where the keys of each rank go.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dist/partition.h"

#include <stdlib.h>
#include <string.h>

enum {
    BINS = ECHI_DIVIDE_BINS,
    LEAST_BITS = 7, /* of a divided bin */
    FEW = 4,        /* a quarter of the elements */
    PARTS = 8       /* of a share, each a group: of 4 to 32, the fastest; H200 */
};

static void lay_out(struct echi_partition *p, size_t ranks, struct echi_layout *layout)
{
    const size_t cells = ECHI_DIVIDE_BUCKETS * ranks;
    p->counts = echi_part(layout, ranks * ECHI_DIVIDE_SLOTS, sizeof *p->counts);
    p->bins = echi_part(layout, ECHI_DIVIDE_SLOTS, sizeof *p->bins);
    p->start = echi_part(layout, ECHI_DIVIDE_SLOTS + 1, sizeof *p->start);
    p->shared_before = echi_part(layout, ECHI_DIVIDE_SLOTS + 1, sizeof *p->shared_before);
    p->buckets = echi_part(layout, ECHI_DIVIDE_BUCKETS, sizeof *p->buckets);
    p->have = echi_part(layout, cells, sizeof *p->have);
    p->send_at = echi_part(layout, cells, sizeof *p->send_at);
    p->shares = echi_part(layout, ranks, sizeof *p->shares);
    p->table = echi_part(layout, 1, sizeof *p->table);
}

/* The tables remain in the communicator for the next call. */
bool echi_partition_allocate(struct echi_partition *p, const struct echi_dist *d)
{
    const size_t ranks = (size_t)d->ranks;
    struct echi_layout layout = { .base = NULL };
    *p = (struct echi_partition){ .d = d };
    lay_out(p, ranks, &layout);
    if (d->comm->tables_bytes < layout.bytes) {
        free(d->comm->tables);
        d->comm->tables = malloc(layout.bytes);
        d->comm->tables_bytes = d->comm->tables ? layout.bytes : 0;
    }
    if (!d->comm->tables) return false;
    layout = (struct echi_layout){ .base = d->comm->tables };
    lay_out(p, ranks, &layout);
    p->shared_before[0] = 0;
    memset(p->shares, 0, ranks * sizeof *p->shares);
    memset(p->table, 0, sizeof *p->table);
    return true;
}

/* ---- Bins ---- */

uint32_t *echi_partition_counts(const struct echi_partition *p)
{
    return p->counts + (size_t)(p->table->entries / BINS - 1) * (size_t)p->d->ranks * BINS;
}

/* The elements of a rank in the bin of an entry. */
static uint32_t count_of(const struct echi_partition *p, size_t rank, uint32_t entry)
{
    const size_t round = entry / BINS;
    return p->counts[(round * (size_t)p->d->ranks + rank) * BINS + entry % BINS];
}

/* The bin with this position, which is less than total. */
static uint32_t bin_of(const struct echi_partition *p, uint64_t position)
{
    uint32_t low = 0, high = p->n_bins; /* start[low] <= position < start[high] */
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (p->start[middle] <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Adds the bins of 2^bits entries, of 2^shift keys each, that begin at an offset in the range. */
static void add_bins(struct echi_partition *p, uint32_t first, uint32_t bits, int shift,
                     uint64_t offset)
{
    for (uint32_t i = 0; i < 1u << bits; i++) {
        const uint32_t entry = first + i, node = p->table->entry[entry];
        const uint64_t at = offset + (shift < 0 ? (uint64_t)i >> -shift : (uint64_t)i << shift);
        if (node & ECHI_DIVIDE_IS_NODE) {
            const struct echi_divide_node *n = &p->table->node[node - ECHI_DIVIDE_IS_NODE];
            add_bins(p, n->first, n->bits, n->shift, at);
        } else {
            p->bins[p->n_bins++] = (struct echi_bin){ at, entry, (uint8_t)bits, (int8_t)shift };
        }
    }
}

static void add_lengths(struct echi_partition *p)
{
    const uint32_t m = p->lengths, last = (uint32_t)(p->shift + ECHI_DIVIDE_BIN_BITS) - m;
    add_bins(p, 0, m, 0, 0);
    for (uint32_t e = 0; e < last; e++)
        add_bins(p, (e + 1) << m, m, (int)e, (uint64_t)1 << (m + e));
}

/* Finds the first positions of the bins, and those that several ranks share. */
static void find_bins(struct echi_partition *p)
{
    const struct echi_dist *d = p->d;
    p->n_bins = 0;
    if (p->lengths)
        add_lengths(p);
    else
        add_bins(p, 0, ECHI_DIVIDE_BIN_BITS, p->shift, 0);
    p->start[0] = 0;
    for (uint32_t b = 0; b < p->n_bins; b++) {
        uint64_t sum = p->start[b];
        for (int r = 0; r < d->ranks; r++) sum += count_of(p, (size_t)r, p->bins[b].entry);
        p->start[b + 1] = sum;
        p->shared_before[b + 1] = 0;
    }
    for (int r = 1; r < d->ranks; r++) {
        const uint64_t at = d->out_first[r];
        if (at == 0 || at == d->total) continue;
        const uint32_t b = bin_of(p, at);
        if (p->start[b] < at) p->shared_before[b + 1] = 1;
    }
    for (uint32_t b = 0; b < p->n_bins; b++) p->shared_before[b + 1] += p->shared_before[b];
}

static bool is_shared(const struct echi_partition *p, uint32_t bin)
{
    return p->shared_before[bin + 1] != p->shared_before[bin];
}

/* Whether a bin has keys outside the range. */
static bool is_open(const struct echi_partition *p, uint32_t bin)
{
    return p->outside && (bin == 0 || bin == p->n_bins - 1);
}

/* Whether all keys of a bin are equal. */
static bool is_constant(const struct echi_partition *p, uint32_t bin)
{
    return !p->in_order && p->bins[bin].shift == 0 && !is_open(p, bin);
}

/* ---- Bins with many elements ---- */

/* The maximum numbers of elements of bins that are not divided. */
struct most {
    uint64_t shared; /* because all ranks sort these elements */
    uint64_t owned;  /* of one rank: because buckets should have about equally many */
};

/* Whether a bin of one rank has more elements than this, whose keys differ in more than few
 * bits. */
static bool is_large(const struct echi_partition *p, uint32_t bin, uint64_t most)
{
    return !is_shared(p, bin) && p->bins[bin].shift > ECHI_PARTITION_LEAST_TOP &&
           p->start[bin + 1] - p->start[bin] > most;
}

/* Another count and a slower move cost more time than another level of the sort of a bucket, unless
 * many elements would need that level.  But a bucket must not be larger than a group. */
static struct most most_of(const struct echi_partition *p, uint64_t most)
{
    const uint64_t group = p->d->total / (uint64_t)p->d->ranks / (2 * PARTS);
    uint64_t sum = 0;
    for (uint32_t b = 0; b < p->n_bins; b++)
        if (is_large(p, b, most)) sum += p->start[b + 1] - p->start[b];
    return (struct most){ most, sum <= p->d->total / FEW && most < group ? group : most };
}

static bool is_crowded(const struct echi_partition *p, uint32_t bin, struct most most)
{
    if (!is_shared(p, bin)) return is_large(p, bin, most.owned);
    return p->bins[bin].shift != 0 && p->start[bin + 1] - p->start[bin] > most.shared;
}

uint32_t echi_partition_lengths(uint32_t bits)
{
    uint32_t lengths = 0;
    while (ECHI_DIVIDE_LENGTH_BINS(lengths + 1, bits) <= BINS) lengths++;
    return lengths;
}

bool echi_partition_near(const struct echi_partition *p, uint64_t most)
{
    uint64_t first = 0;
    for (int r = 0; r < p->d->ranks; r++) first += count_of(p, (size_t)r, 0);
    return first > most && p->shift > 0;
}

bool echi_partition_divide(struct echi_partition *p, uint64_t limit, uint32_t *first_node)
{
    struct echi_divide_table *table = p->table;
    uint32_t count, bits = ECHI_DIVIDE_BIN_BITS, at = table->entries;
    find_bins(p);
    struct most most = most_of(p, limit);
    *first_node = table->nodes;
    if (table->entries == ECHI_DIVIDE_SLOTS) return false;
    for (;; most = (struct most){ 2 * most.shared, 2 * most.owned }) {
        count = 0;
        for (uint32_t b = 0; b < p->n_bins; b++) count += is_crowded(p, b, most);
        if (count <= ECHI_DIVIDE_NEW) break;
    }
    if (count == 0) return false;
    while (bits > LEAST_BITS && count << bits > BINS) bits--;
    for (uint32_t b = 0; b < p->n_bins; b++) {
        const struct echi_bin *bin = &p->bins[b];
        if (!is_crowded(p, b, most)) continue;
        struct echi_divide_node *node = &table->node[table->nodes];
        node->first = at;
        node->bits = (uint16_t)(bin->shift < (int)bits ? bin->shift : (int)bits);
        node->shift = (uint16_t)(bin->shift - node->bits);
        table->entry[bin->entry] = (uint16_t)(ECHI_DIVIDE_IS_NODE + table->nodes++);
        at += 1u << bits;
    }
    table->entries += BINS;
    return true;
}

/* ---- Buckets ---- */

/* Whether 2^log bins can be one bucket: those of a part of the table, which is aligned. */
static bool can_join(const struct echi_partition *p, uint32_t bin, uint32_t log, uint64_t most)
{
    const uint32_t end = bin + (1u << log), entry = p->bins[bin].entry;
    if (log > p->bins[bin].bits || entry % (1u << log) || end > p->n_bins) return false;
    if (p->bins[end - 1].entry != entry + (1u << log) - 1) return false; /* some are divided */
    if (p->shared_before[end] != p->shared_before[bin]) return false;
    const uint64_t from = p->start[bin], to = p->start[end];
    if (from == to) return true;
    return to - from <= most &&
           to <= p->d->out_first[echi_dist_owner(p->d, p->d->out_first, from) + 1];
}

static bool add_buckets(struct echi_partition *p, uint64_t most)
{
    p->n_buckets = 0;
    for (uint32_t bin = 0; bin < p->n_bins;) {
        const bool shared = is_shared(p, bin);
        uint32_t log = 0;
        while (!shared && can_join(p, bin, log + 1, most)) log++;
        const uint32_t end = bin + (1u << log);
        const uint64_t from = p->start[bin], count = p->start[end] - from;
        if (count) {
            if (p->n_buckets == ECHI_DIVIDE_BUCKETS) return false;
            const int keys = p->bins[bin].shift + (int)log, top = keys > 0 ? keys : 0;
            const int owner = !shared               ? echi_dist_owner(p->d, p->d->out_first, from)
                              : is_constant(p, bin) ? ECHI_PARTITION_EQUAL
                                                    : ECHI_PARTITION_SHARED;
            p->buckets[p->n_buckets++] = (struct echi_bucket){
                bin, log, is_open(p, bin) || is_open(p, end - 1) ? -1 : top, owner, 0, from, count
            };
        }
        bin = end;
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
                have += count_of(p, r, p->bins[bucket->bin + b].entry);
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

/* Whether a bucket is the first one of its group. */
static bool begins_group(const struct echi_partition *p, uint32_t i)
{
    const struct echi_bucket *bucket = &p->buckets[i], *before = bucket - 1;
    return i == 0 || before->owner != bucket->owner || before->group != bucket->group;
}

/* A rank sends its keys of shared bins, then those of the buckets of other ranks.  At the end are
 * those that no rank reads. */
static void place_sends(struct echi_partition *p)
{
    const size_t ranks = (size_t)p->d->ranks;
    for (size_t r = 0; r < ranks; r++) {
        uint64_t at = 0;
        for (int pass = 0; pass < 3; pass++) {
            for (uint32_t i = 0; i < p->n_buckets; i++) {
                const int owner = p->buckets[i].owner;
                const int when = owner == ECHI_PARTITION_SHARED ? 0 : owner < 0 ? 2 : 1;
                if (pass != when || owner == (int)r) continue;
                if (pass == 1 && begins_group(p, i)) at = (at + p->align - 1) / p->align * p->align;
                p->send_at[i * ranks + r] = at;
                at += p->have[i * ranks + r];
            }
            if (pass == 0) p->shares[r].shared = at;
            if (pass == 1) p->shares[r].needed = at;
        }
    }
}

/* The part of a shared bin that a rank has: the elements of [first, end). */
static struct echi_end end_of(const struct echi_partition *p, uint32_t bin, uint64_t first,
                              uint64_t end)
{
    const uint64_t from = p->start[bin] > first ? p->start[bin] : first;
    const uint64_t to = p->start[bin + 1] < end ? p->start[bin + 1] : end;
    return (struct echi_end){ to - from, p->bins[bin].offset, is_constant(p, bin) };
}

static void add_shares(struct echi_partition *p)
{
    const struct echi_dist *d = p->d;
    for (int r = 0; r < d->ranks; r++) {
        const uint64_t first = d->out_first[r], end = d->out_first[r + 1];
        struct echi_share *share = &p->shares[r];
        share->low = share->high = (struct echi_end){ 0 };
        if (first < end) {
            const uint32_t low = bin_of(p, first);
            if (is_shared(p, low) && p->start[low] < first) share->low = end_of(p, low, first, end);
        }
        if (first + share->low.n < end && end < d->total) {
            const uint32_t high = bin_of(p, end);
            if (is_shared(p, high) && p->start[high] < end)
                share->high = end_of(p, high, first + share->low.n, end);
        }
        share->start = first + share->low.n;
        share->middle = end - share->high.n - share->start;
    }
}

/* ---- Groups ---- */

/* The size of a group after `done` elements of a rank.  Before the first one has arrived, nothing
 * is sorted: the first ones are smaller. */
static uint64_t group_size(const struct echi_partition *p, int rank, uint64_t done)
{
    const uint64_t part = p->shares[rank].middle / PARTS + 1;
    const uint64_t most = done < part / 4 ? part / 4 : done < part ? part / 2 : part;
    return most > p->group_least ? most : p->group_least;
}

static void choose_groups(struct echi_partition *p)
{
    int owner = -1;
    uint64_t done = 0, elements = 0;
    uint32_t group = 0;
    for (uint32_t i = 0; i < p->n_buckets; i++) {
        struct echi_bucket *bucket = &p->buckets[i];
        if (bucket->owner < 0) continue;
        if (bucket->owner != owner) {
            owner = bucket->owner;
            done = elements = group = 0;
        } else if (elements >= group_size(p, owner, done) && group + 1 < ECHI_PARTITION_GROUPS) {
            done += elements;
            elements = 0;
            group++;
        }
        bucket->group = group;
        elements += bucket->count;
    }
}

uint32_t echi_partition_groups(const struct echi_partition *p)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->n_buckets; i++)
        if (p->buckets[i].owner >= 0 && p->buckets[i].group >= count)
            count = p->buckets[i].group + 1;
    return count;
}

bool echi_partition_plan(struct echi_partition *p, uint64_t most)
{
    while (!add_buckets(p, most)) {
        if (most >= p->d->total) return false;
        most *= 2;
    }
    count_parts(p);
    add_shares(p);
    choose_groups(p);
    if (p->in_order)
        place_in_order(p);
    else
        place_sends(p);
    return true;
}
