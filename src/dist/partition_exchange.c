/*
 * dist/partition_exchange.c - the exchange of a distributed sort whose buckets are known
 * (partition.c).
 *
 *     direct     the owner of a bucket copies its elements from the memory of the other ranks
 *     queued     a message per pair of ranks and group of buckets; each part is then moved to its
 *                bucket:
 *                    sent by rank 1   | bucket 3 | bucket 4 | bucket 5 |
 *                    sent by rank 2   | bucket 3 | bucket 4 | bucket 5 |
 *                    got              | own, 1, 2 | own, 1, 2 | own, 1, 2 |
 *     otherwise  a message per pair of ranks and bucket, before any bucket is sorted
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "dist/partition.h"

#include <stdlib.h>

enum {
    /* With more ranks a kernel copies the keys. On four H200 the copy engines are 1 % faster for
     * keys of 4 bytes, the kernel 6 % for 8 bytes; on eight the kernel 14 % for 4 bytes, and none
     * for 8. */
    PULL_RANKS = 4,
    ALIGN = ECHI_PARTITION_ALIGN
};

typedef struct echi_partition_run run_t;

/* The keys, or the values, of the buckets of this rank are copied from the memory of all ranks that
 * have some. */
static ech_status pull_array(run_t *run, uint32_t from, uint32_t to, int array)
{
    const struct echi_partition *p = &run->p;
    const size_t ranks = (size_t)run->d->ranks, me = (size_t)run->d->rank;
    const size_t bytes = array ? run->s->value_bytes : run->key_bytes;
    char *got = array ? run->s->got_values : run->s->got_keys;
    ech_ctx *ctx = run->d->ctx;
    ech_status status = ECH_OK;
    for (size_t k = echi_partition_has_values(run) ? 0 : 1; k < ranks && status == ECH_OK; k++) {
        const size_t r = (me + k) % ranks;
        size_t n = 0;
        for (uint32_t i = from; i < to; i++) {
            const size_t have = (size_t)p->have[echi_partition_cell(run, i, r)] * bytes;
            if (have)
                run->copies[n++] =
                    (struct echi_copy){ got + echi_partition_got_at(run, i, r) * bytes,
                                        run->sent[2 * r + (size_t)array] +
                                            p->send_at[echi_partition_cell(run, i, r)] * bytes,
                                        have };
        }
        status = ctx->backend->copy_beside(ctx, (unsigned)(k % ECHI_LANES), run->copies, n);
    }
    return status;
}

/* The same for keys without values by a kernel, which takes the buckets of all ranks in turn. */
static ech_status pull_keys(run_t *run, uint32_t from, uint32_t to)
{
    const struct echi_partition *p = &run->p;
    const size_t ranks = (size_t)run->d->ranks, me = (size_t)run->d->rank, bytes = run->key_bytes;
    char *got = run->s->got_keys;
    size_t n = 0;
    for (uint32_t i = from; i < to; i++)
        for (size_t k = 1; k < ranks; k++) {
            const size_t r = (me + k) % ranks,
                         have = (size_t)p->have[echi_partition_cell(run, i, r)] * bytes;
            if (have)
                run->copies[n++] =
                    (struct echi_copy){ got + echi_partition_got_at(run, i, r) * bytes,
                                        (const char *)run->sent[2 * r] +
                                            p->send_at[echi_partition_cell(run, i, r)] * bytes,
                                        have };
            if (n < ECHI_DIVIDE_BUCKETS && (i + 1 < to || k + 1 < ranks)) continue;
            const ech_status status = run->ops->pull(run->d->ctx, (int)bytes, run->copies, n, true);
            if (status != ECH_OK) return status;
            n = 0;
        }
    return ECH_OK;
}

ech_status echi_partition_pull(run_t *run, uint32_t from, uint32_t to)
{
    if (run->ops && !echi_partition_has_values(run) && run->d->ranks > PULL_RANKS)
        return pull_keys(run, from, to);
    const ech_status status = pull_array(run, from, to, 0);
    return status == ECH_OK && echi_partition_has_values(run) ? pull_array(run, from, to, 1)
                                                              : status;
}

/* The same by the communicator, for all buckets of all ranks. */
static ech_status exchange_array(run_t *run, ech_comm_message *messages, int array)
{
    const struct echi_partition *p = &run->p;
    const size_t ranks = (size_t)run->d->ranks, me = (size_t)run->d->rank;
    const size_t bytes = array ? run->s->value_bytes : run->key_bytes;
    char *keys = array ? run->s->values : run->s->keys;
    char *got = array ? run->s->got_values : run->s->got_keys;
    const bool self = echi_partition_has_values(run);
    size_t sends = 0, receives = 0;
    ech_comm_message *in = messages + p->n_buckets;
    for (uint32_t i = 0; i < p->n_buckets; i++) {
        const int owner = p->buckets[i].owner;
        const uint64_t own = p->have[echi_partition_cell(run, i, me)] * bytes;
        if (owner < 0) continue;
        for (size_t r = 0; owner == run->d->rank && r < ranks; r++)
            if ((r != me || self) && p->have[echi_partition_cell(run, i, r)])
                in[receives++] =
                    (ech_comm_message){ got + echi_partition_got_at(run, i, r) * bytes,
                                        p->have[echi_partition_cell(run, i, r)] * bytes,
                                        (int64_t)r };
        if ((owner != run->d->rank || self) && own)
            messages[sends++] =
                (ech_comm_message){ keys + p->send_at[echi_partition_cell(run, i, me)] * bytes, own,
                                    owner };
    }
    return echi_comm_exchange_device(run->d->ctx, run->d->comm, messages, sends, in, receives);
}

ech_status echi_partition_exchange(run_t *run, ech_status status)
{
    ech_comm_message *messages =
        calloc(((size_t)run->d->ranks + 1) * run->p.n_buckets + 1, sizeof *messages);
    if (status == ECH_OK && !messages)
        status =
            echi_fail(run->d->ctx, ECH_ERR_MEMORY, "out of memory: %u buckets", run->p.n_buckets);
    TRY(echi_comm_agree(run->d->ctx, run->d->comm, status, NULL, 0));
    status = exchange_array(run, messages, 0);
    if (echi_partition_has_values(run)) {
        const ech_status second = exchange_array(run, messages, 1);
        if (status == ECH_OK) status = second;
    }
done:
    free(messages);
    return status;
}

/* ---- Queued exchanges ---- */

static bool is_of(const struct echi_bucket *bucket, int owner, uint32_t group)
{
    return bucket->owner == owner && bucket->group == group;
}

/* What rank `from` sends to rank `owner` of a group: the first bucket, and the number of keys. */
static uint64_t count_sent(const run_t *run, int owner, uint32_t group, size_t from,
                           uint32_t *first)
{
    const struct echi_partition *p = &run->p;
    uint64_t n = 0;
    *first = p->n_buckets;
    for (uint32_t i = 0; i < p->n_buckets; i++) {
        if (!is_of(&p->buckets[i], owner, group)) continue;
        if (*first == p->n_buckets) *first = i;
        n += p->have[echi_partition_cell(run, i, from)];
    }
    return n;
}

/* Where the keys of a group that a rank sends to this rank land, in keys of the output.  Addresses
 * are aligned if there is room, because NCCL is slow otherwise. */
static char *landing(const run_t *run, uint32_t group, size_t from)
{
    const struct echi_share *own = &run->p.shares[run->d->rank];
    const size_t ranks = (size_t)run->d->ranks, me = (size_t)run->d->rank, bytes = run->key_bytes;
    char *begin = run->s->keys_out;
    uint64_t packed = 0, aligned = 0, before_packed = 0, before_aligned = 0;
    uint32_t first = 0;
    for (size_t r = 0; r < ranks; r++) {
        if (r == from) {
            before_packed = packed;
            before_aligned = aligned;
        }
        if (r == me) continue;
        const uint64_t n = count_sent(run, (int)me, group, r, &first) * bytes;
        packed += n;
        aligned += (n + ALIGN - 1) / ALIGN * ALIGN;
    }
    begin += (own->low.n + run->p.buckets[first].start - own->start) * bytes;
    const size_t gap = (size_t)(-(uintptr_t)begin % ALIGN);
    const uint64_t own_bytes = count_sent(run, (int)me, group, me, &first) * bytes;
    return packed + own_bytes >= gap + aligned ? begin + gap + before_aligned
                                               : begin + before_packed;
}

ech_status echi_partition_queue(run_t *run, uint32_t group)
{
    const struct echi_partition *p = &run->p;
    const size_t ranks = (size_t)run->d->ranks, me = (size_t)run->d->rank, bytes = run->key_bytes;
    ech_comm_message *sends = run->d->messages, *receives = sends + ranks;
    size_t n_sends = 0, n_receives = 0;
    for (size_t r = 0; r < ranks; r++) {
        uint32_t first;
        if (r == me) continue;
        const uint64_t sent = count_sent(run, (int)r, group, me, &first) * bytes;
        if (sent)
            sends[n_sends++] =
                (ech_comm_message){ (char *)run->s->keys +
                                        p->send_at[echi_partition_cell(run, first, me)] * bytes,
                                    sent, (int64_t)r };
        const uint64_t got = count_sent(run, (int)me, group, r, &first) * bytes;
        if (got)
            receives[n_receives++] = (ech_comm_message){ landing(run, group, r), got, (int64_t)r };
    }
    return echi_comm_queue(run->d->ctx, run->d->comm, sends, n_sends, receives, n_receives);
}

ech_status echi_partition_collect(run_t *run, uint32_t from, uint32_t to)
{
    const struct echi_partition *p = &run->p;
    const size_t ranks = (size_t)run->d->ranks, me = (size_t)run->d->rank, bytes = run->key_bytes;
    ech_status status = ECH_OK;
    for (size_t r = 0; r < ranks && status == ECH_OK; r++) {
        size_t n = 0;
        if (r == me) continue;
        const char *at = landing(run, p->buckets[from].group, r);
        for (uint32_t i = from; i < to; i++) {
            const size_t have = (size_t)p->have[echi_partition_cell(run, i, r)] * bytes;
            if (have)
                run->copies[n++] = (struct echi_copy){
                    (char *)run->s->got_keys + echi_partition_got_at(run, i, r) * bytes, at, have
                };
            at += have;
        }
        status = run->ops->pull(run->d->ctx, (int)bytes, run->copies, n, false);
    }
    return status;
}
