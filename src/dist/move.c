/*
 * dist/move.c - moves of consecutive elements between ranks: ech_dist_rebalance(), and the tails of
 * granules, which an operation processes as a whole.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dist/dist.h"
#include "core/call.h"
#include "echelon/dist.h"

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The message of the elements that are in both ranges; 0 bytes if there are none. */
static ech_comm_message overlap(const void *array, uint64_t first, uint64_t end,
                                uint64_t other_first, uint64_t other_end, int rank,
                                size_t element_bytes)
{
    const uint64_t from = later(first, other_first), to = earlier(end, other_end);
    if (from >= to) return (ech_comm_message){ NULL, 0, rank };
    return (ech_comm_message){ echi_after(array, (from - first) * element_bytes),
                               (to - from) * element_bytes, rank };
}

ech_status echi_dist_move(struct echi_dist *d, const void *in, const uint64_t *in_first, void *out,
                          const uint64_t *out_first, size_t element_bytes)
{
    const int me = d->rank;
    const size_t ranks = (size_t)d->ranks;
    for (int r = 0; r < d->ranks; r++) {
        d->messages[r] = overlap(in, in_first[me], in_first[me + 1], out_first[r], out_first[r + 1],
                                 r, element_bytes);
        d->messages[ranks + (size_t)r] = overlap(out, out_first[me], out_first[me + 1], in_first[r],
                                                 in_first[r + 1], r, element_bytes);
    }
    return echi_comm_exchange(d->ctx, d->comm, d->messages, ranks, d->messages + ranks, ranks);
}

ech_status ech_dist_rebalance(ech_ctx *ctx, ech_comm *comm, const void *in, void *out, size_t n,
                              size_t n_out, size_t element_bytes)
{
    static const char *const names[] = { "element_bytes", NULL };
    struct echi_comm_call call = {
        .name = "ech_dist_rebalance", .option = { element_bytes }, .n = n, .n_out = n_out
    };
    struct echi_dist d;
    ech_status status = ECH_OK;
    if (element_bytes == 0) status = echi_fail(ctx, ECH_ERR_ARG, "element_bytes is 0");
    if (status == ECH_OK) status = echi_check_count(ctx, "n", n, element_bytes);
    if (status == ECH_OK && n && !in) status = echi_fail(ctx, ECH_ERR_ARG, "in is NULL");
    if (status == ECH_OK && n_out && n_out != ECH_DIST_EVEN && !out)
        status = echi_fail(ctx, ECH_ERR_ARG, "out is NULL");
    status = echi_dist_begin(&d, ctx, comm, &call, names, status, true);
    if (status != ECH_OK) return status;
    if (echi_dist_n_out(&d) && !out) status = echi_fail(ctx, ECH_ERR_ARG, "out is NULL");
    TRY(echi_comm_agree(ctx, comm, status, NULL, 0));
    TRY(echi_dist_move(&d, in, d.in_first, out, d.out_first, element_bytes));
done:
    return echi_dist_end(&d, status);
}

/* ---- Granules ---- */

static uint64_t granule_begin(uint64_t position, uint64_t granule, uint64_t phase)
{
    return position < phase ? 0 : phase + (position - phase) / granule * granule;
}

static uint64_t granule_end(uint64_t position, uint64_t granule, uint64_t phase, uint64_t total)
{
    if (position < phase) return phase;
    const uint64_t begin = granule_begin(position, granule, phase);
    return total - begin < granule ? total : begin + granule;
}

struct echi_granules echi_dist_granules(const struct echi_dist *d, int rank, uint64_t granule,
                                        uint64_t phase)
{
    const uint64_t first = d->in_first[rank], end = d->in_first[rank + 1];
    struct echi_granules g = { first, first, end, end, end };
    if (first == end) return g;
    if (granule_begin(first, granule, phase) < first)
        g.whole_from = earlier(end, granule_end(first, granule, phase, d->total));
    if (g.whole_from == end) return g;
    const uint64_t last_end = granule_end(end - 1, granule, phase, d->total);
    if (last_end == end) return g;
    g.tail_from = granule_begin(end - 1, granule, phase);
    g.tail_to = last_end;
    return g;
}

ech_status echi_dist_tails(struct echi_dist *d, void *array, void *tail, uint64_t granule,
                           uint64_t phase, size_t element_bytes, bool back)
{
    const size_t ranks = (size_t)d->ranks;
    const struct echi_granules mine = echi_dist_granules(d, d->rank, granule, phase);
    ech_comm_message *tails = d->messages, *heads = d->messages + ranks;
    for (int r = 0; r < d->ranks; r++) {
        const struct echi_granules other = echi_dist_granules(d, r, granule, phase);
        /* my tail and the head of the other rank; with r == rank, my part of my tail */
        const bool self = r == d->rank;
        const uint64_t from = self ? mine.tail_from : other.first;
        const uint64_t to = self ? mine.end : other.whole_from;
        tails[r] = overlap(tail, mine.tail_from, mine.tail_to, from, to, r, element_bytes);
        heads[r] =
            self ? overlap(array, mine.first, mine.end, mine.tail_from, mine.end, r, element_bytes)
                 : overlap(array, mine.first, mine.whole_from, other.tail_from, other.tail_to, r,
                           element_bytes);
    }
    return back ? echi_comm_exchange(d->ctx, d->comm, tails, ranks, heads, ranks)
                : echi_comm_exchange(d->ctx, d->comm, heads, ranks, tails, ranks);
}
