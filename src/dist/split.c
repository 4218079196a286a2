/*
 * dist/split.c - exact splitters: divides the sorted concatenation of the ranks' arrays at given
 * positions.
 *
 * Each rank has sorted its array.  The key at a position is found digit by digit, from the top, for
 * all positions at once: a round counts how many keys of all ranks are below each of the 256 values
 * of the next digit, by binary searches, and keeps the digit whose keys include the position.
 *
 *     digits known   0x3f??      counts below 0x3f00, 0x3f01, ..., 0x3fff, added over all ranks
 *                    0x3f8?      the last value with count <= position
 *
 * Keys that equal the key at the position are divided by rank, then by position in the rank's
 * array. The result is therefore exact for every distribution of keys.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dist/dist.h"
#include "echelon/search.h"
#include "reduce/value.h"

#include <stdlib.h>

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS, BATCH = ECHI_SPLIT_NEEDLES / DIGITS };

struct search {
    struct echi_dist *d;
    const struct echi_sorted *sorted;
    struct echi_order order;
    int bytes;
    uint64_t ones;   /* the largest encoded key */
    char *needles;   /* [ECHI_SPLIT_NEEDLES] of dtype */
    uint64_t *below; /* [ECHI_SPLIT_NEEDLES] */
    uint64_t *more;  /* [ECHI_SPLIT_NEEDLES] for keys that wrap */
};

struct echi_order echi_sorted_order(const struct echi_sorted *sorted)
{
    return echi_order_make(sorted->dtype, sorted->order, sorted->descending, !sorted->by_bits);
}

/* ---- Counts on this rank ---- */

/* Searches the needles in keys[from ... to - 1].  Copies of the needles and of the results are in
 * the workspace, too. */
static ech_status lower_bounds(const struct search *s, size_t from, size_t to, size_t m,
                               uint64_t *below)
{
    const struct echi_sorted *sorted = s->sorted;
    const ech_search_options options = { .size = sizeof options,
                                         .descending = sorted->descending,
                                         .order =
                                             sorted->by_bits ? ECH_ORDER_TOTAL : sorted->order };
    const char *keys = sorted->keys ? (const char *)sorted->keys + from * (size_t)s->bytes : NULL;
    struct echi_lent lent;
    echi_lend(&lent, s->d->ctx, sorted->work, sorted->work_bytes);
    const ech_status status = ech_lower_bound(s->d->ctx, keys, s->needles, below, to - from, m,
                                              sorted->dtype, ECH_U64, &options);
    echi_lent_end(&lent);
    return status;
}

/* Sets below[i] to the number of keys whose encoded form is less than e[i]. */
static ech_status count_below(const struct search *s, const uint64_t *e, size_t m, uint64_t *below)
{
    const struct echi_sorted *sorted = s->sorted;
    const size_t n = sorted->n, wrapped = sorted->wrapped;
    const bool first = sorted->descending; /* the keys that wrap come first */
    /* the lowest encoded key, before it is flipped, that wraps */
    const uint64_t wrap = s->ones - s->order.shift + 1;
    for (size_t i = 0; i < m; i++) {
        const uint64_t u = order_bits(&s->order, s->bytes, e[i]);
        result_store(s->needles, i, (uint32_t)s->bytes, u);
    }
    ech_status status =
        first ? lower_bounds(s, wrapped, n, m, below) : lower_bounds(s, 0, n - wrapped, m, below);
    if (status == ECH_OK && wrapped)
        status = first ? lower_bounds(s, 0, wrapped, m, s->more)
                       : lower_bounds(s, n - wrapped, n, m, s->more);
    for (size_t i = 0; status == ECH_OK && i < m; i++) {
        const uint64_t plain = e[i] ^ s->order.flip;
        if (sorted->by_bits && s->order.shift && plain >= wrap)
            below[i] = (wrapped ? s->more[i] : 0) + (first ? 0 : n - wrapped);
        else if (sorted->by_bits && first)
            below[i] += wrapped;
        else if (!sorted->by_bits && plain > s->order.last) /* past NaN, which are all equal */
            below[i] = first ? 0 : n;
    }
    return status;
}

static bool search_begin(struct search *s, struct echi_dist *d, const struct echi_sorted *sorted,
                         size_t needles)
{
    *s = (struct search){ .d = d,
                          .sorted = sorted,
                          .order = echi_sorted_order(sorted),
                          .bytes = (int)ech_dtype_bytes(sorted->dtype) };
    s->ones = ~(uint64_t)0 >> (64 - 8 * s->bytes);
    s->needles = malloc(needles * (size_t)s->bytes);
    s->below = calloc(2 * needles, sizeof *s->below);
    s->more = calloc(needles, sizeof *s->more);
    return s->needles && s->below && s->more;
}

static void search_end(struct search *s)
{
    free(s->needles);
    free(s->below);
    free(s->more);
}

ech_status echi_dist_count_below(struct echi_dist *d, const struct echi_sorted *sorted,
                                 const uint64_t *e, size_t m, uint64_t *below)
{
    struct search s;
    ech_status status = ECH_OK;
    if (!search_begin(&s, d, sorted, m))
        status = echi_fail(d->ctx, ECH_ERR_MEMORY, "out of memory: %zu searches", m);
    if (status == ECH_OK) status = count_below(&s, e, m, below);
    search_end(&s);
    return status;
}

void echi_need_split(struct echi_need *need, int ranks, size_t n, ech_dtype dtype)
{
    const size_t needles = (size_t)(ranks < BATCH ? ranks : BATCH) * DIGITS;
    size_t work = 0;
    if (need->status == ECH_OK)
        need->status = ech_search_workspace(need->device, ECH_SEARCH_CALL_LOWER, n, needles, dtype,
                                            NULL, &work);
    echi_need_step(need, work, needles * ech_dtype_bytes(dtype), needles * sizeof(uint64_t));
}

/* ---- Rounds ---- */

/* Refines the keys at some positions by one digit. */
static ech_status refine(const struct search *s, ech_status status, const uint64_t *positions,
                         size_t count, int shift, uint64_t *keys)
{
    uint64_t *probes = s->below + ECHI_SPLIT_NEEDLES; /* a second array */
    for (size_t i = 0; i < count * DIGITS; i++)
        probes[i] = keys[i / DIGITS] | (uint64_t)(i % DIGITS) << shift;
    if (status == ECH_OK) status = count_below(s, probes, count * DIGITS, s->below);
    status = echi_comm_sum(s->d->ctx, s->d->comm, status, s->below, count * DIGITS);
    for (size_t i = 0; status == ECH_OK && i < count; i++) {
        const uint64_t *below = s->below + i * DIGITS;
        uint64_t digit = DIGITS - 1;
        while (digit > 0 && below[digit] > positions[i]) digit--;
        keys[i] |= digit << shift;
    }
    return status;
}

/* Divides the keys that equal the splitters: all[r][i] are the keys of rank r below splitter i, and
 * those that equal it. */
static void divide(const struct echi_dist *d, const uint64_t *positions, size_t count,
                   const uint64_t *all, uint64_t *cuts)
{
    const size_t ranks = (size_t)d->ranks;
    for (size_t i = 0; i < count; i++) {
        uint64_t left = positions[i];
        for (size_t r = 0; r < ranks; r++) left -= all[2 * (r * count + i)];
        for (size_t r = 0; r < ranks; r++) {
            const uint64_t below = all[2 * (r * count + i)], equal = all[2 * (r * count + i) + 1];
            const uint64_t take = equal < left ? equal : left;
            cuts[i * ranks + r] = below + take;
            left -= take;
        }
    }
}

/* The cuts at splitters whose keys are known. */
static ech_status cut(const struct search *s, ech_status status, const uint64_t *positions,
                      size_t count, const uint64_t *keys, uint64_t *cuts)
{
    struct echi_dist *d = s->d;
    uint64_t *next = s->below + ECHI_SPLIT_NEEDLES, *all = NULL, *mine = NULL;
    all = calloc((size_t)d->ranks * count * 2, sizeof *all);
    mine = calloc(count * 2, sizeof *mine);
    if (status == ECH_OK && (!all || !mine))
        status = echi_fail(d->ctx, ECH_ERR_MEMORY, "out of memory: %zu splitters", count);
    for (size_t i = 0; i < count; i++) {
        next[2 * i] = keys[i];
        next[2 * i + 1] = keys[i] == s->ones ? keys[i] : keys[i] + 1;
    }
    if (status == ECH_OK) status = count_below(s, next, 2 * count, s->below);
    for (size_t i = 0; status == ECH_OK && i < count; i++) {
        const uint64_t end = keys[i] == s->ones ? s->sorted->n : s->below[2 * i + 1];
        mine[2 * i] = s->below[2 * i];
        mine[2 * i + 1] = end - s->below[2 * i];
    }
    TRY(echi_comm_agree(d->ctx, d->comm, status, NULL, 0));
    TRY(echi_comm_allgather(d->ctx, d->comm, mine, all, count * 2 * sizeof *mine));
    divide(d, positions, count, all, cuts);
done:
    free(all);
    free(mine);
    return status;
}

/* At most BATCH positions, each less than total. */
static ech_status split_batch(const struct search *s, ech_status status, const uint64_t *positions,
                              size_t count, uint64_t *cuts, uint64_t *keys)
{
    uint64_t found[BATCH] = { 0 };
    for (int shift = 8 * s->bytes - DIGIT_BITS; shift >= 0; shift -= DIGIT_BITS) {
        status = refine(s, status, positions, count, shift, found);
        if (status != ECH_OK) return status;
    }
    for (size_t i = 0; keys && i < count; i++) keys[i] = found[i];
    return cuts ? cut(s, status, positions, count, found, cuts) : status;
}

ech_status echi_dist_split(struct echi_dist *d, ech_status status, const struct echi_sorted *sorted,
                           const uint64_t *positions, size_t count, uint64_t *cuts, uint64_t *keys)
{
    struct search s;
    const size_t ranks = (size_t)d->ranks;
    if (!search_begin(&s, d, sorted, ECHI_SPLIT_NEEDLES) && status == ECH_OK)
        status = echi_fail(d->ctx, ECH_ERR_MEMORY, "out of memory for splitters");
    TRY(echi_comm_agree(d->ctx, d->comm, status, NULL, 0));
    for (size_t i = 0; i < count;) {
        size_t here = 0;
        while (here < BATCH && i + here < count && positions[i + here] < d->total) here++;
        if (here > 0) {
            TRY(split_batch(&s, ECH_OK, positions + i, here, cuts ? cuts + i * ranks : NULL,
                            keys ? keys + i : NULL));
        } else { /* everything precedes total */
            for (size_t r = 0; cuts && r < ranks; r++)
                cuts[i * ranks + r] = d->in_first[r + 1] - d->in_first[r];
            if (keys) keys[i] = 0;
            here = 1;
        }
        i += here;
    }
done:
    search_end(&s);
    return status;
}
