/*
 * dist/partition.c - the sort of keys that divides them among the ranks before the exchange.
 *
 *     range      of samples of all ranks
 *     count      keys in each bin of the range; every rank gathers the counts of all (buckets.c)
 *     move       keys of this rank to their place in `got`, the others to `keys`, by buckets
 *     exchange   the buckets of this rank, in groups; where ranks read each other's memory, copies
 *                of a group overlap with the sort of the one before
 *     sort       the buckets of a group
 *
 *     keys   | shared bins | buckets of rank 0 | of rank 2 | ...      of this rank, rank 1
 *     got    | own, from 0, 1, 2 | own, from 0, 1, 2 | ...            its buckets
 *     out    | low | own buckets, sorted                     | high |
 *
 * Keys of bins that several ranks share are few.  They are sorted by the method for all keys, which
 * divides equal keys exactly: low and high.  If they are not few, nothing has been moved, and all
 * keys are sorted by that method.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dist/partition.h"
#include "core/call.h"
#include "dist/sort.h"
#include "sort/segments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static double dbg_t;
static void dbg(struct echi_dist *d, const char *what)
{
    if (!getenv("DSORT_TIME") || d->rank) return;
    if (getenv("DSORT_SYNC")) ech_sync(d->ctx);
    const double t = echi_comm_now();
    if (what) fprintf(stderr, "%s %.3f ms; ", what, (t - dbg_t) * 1e3);
    dbg_t = t;
}

enum {
    BINS = ECHI_DIVIDE_BINS,
    SHARED_LEAST = 1 << 14, /* keys of shared bins for which a rank has room, at least */
    GROUPS = 8,             /* maximum number of groups */
    GROUP_BYTES = 1 << 26,  /* minimum size of one */
    SORT_LEAST_TOP = 8      /* bits of a digit of the sort */
};

/* Buckets of this many keys or fewer are sorted in one level and leaves: sort/cuda/tuning.h. */
static uint64_t bucket_keys(size_t key_bytes)
{
    return (uint64_t)17280 * 256 * 4 / key_bytes;
}

size_t echi_partition_shared(size_t n)
{
    return n < SHARED_LEAST ? n : SHARED_LEAST + (n - SHARED_LEAST) / 16;
}

bool echi_partition_can(const struct echi_dist_sort *s, const struct echi_backend *backend)
{
    const size_t key_bytes = ech_dtype_bytes(s->dtype);
    return backend->divide && s->value_bytes == 0 && !s->positions && key_bytes >= 4 &&
           s->n < UINT32_MAX - s->n_out - 1024;
}

/* ---- Range and counts ---- */

struct range {
    uint64_t low, high;
    int32_t can, direct; /* direct: the other ranks can read this rank's memory */
};

struct run {
    struct echi_dist *d;
    struct echi_dist_sort *s;
    struct echi_partition p;
    struct echi_divide divide;
    const struct echi_divide_ops *ops;
    size_t key_bytes;
    bool direct;
    bool outside; /* keys are outside the range of the samples */
};

static bool on_device(struct run *run, const void *array, size_t n)
{
    ech_ctx *ctx = run->d->ctx;
    enum echi_side side;
    if (n == 0) return true;
    return ctx->backend->side(ctx, array, &side, NULL) == ECH_OK && side == ECHI_DEVICE;
}

static uint64_t last_of(uint64_t low, uint32_t bits)
{
    return bits == 64 ? ~(uint64_t)0 : low + ((uint64_t)1 << bits) - 1;
}

/* The range of this rank's sample. */
static ech_status own_range(struct run *run, struct range *range)
{
    struct echi_dist_sort *s = run->s;
    ech_ctx *ctx = run->d->ctx;
    *range = (struct range){ .low = ~(uint64_t)0 };
    run->ops = ctx->backend->divide;
    if (!echi_partition_can(s, ctx->backend) || !run->ops->can(ctx) ||
        !on_device(run, s->keys_in, s->n) || !on_device(run, s->keys_out, s->n_out))
        return ECH_OK;
    range->can = 1;
    range->direct = ctx->backend->copy_beside && echi_comm_direct(run->d->comm);
    run->divide =
        (struct echi_divide){ .keys = s->keys_in,
                              .n = s->n,
                              .key_bytes = (int)run->key_bytes,
                              .order = echi_order_make(s->dtype, s->order, s->descending, false),
                              .work = s->divide };
    if (s->n == 0) return ECH_OK;
    const ech_status status = run->ops->range(ctx, &run->divide);
    range->low = run->divide.low;
    range->high = last_of(run->divide.low, run->divide.bits);
    return status;
}

/* The range of all samples; false if a rank cannot divide its keys. */
static bool common_range(struct run *run)
{
    struct range all = { .low = ~(uint64_t)0, .direct = 1 };
    for (int r = 0; r < run->d->ranks; r++) {
        struct range of;
        memcpy(&of, run->d->comm->notes[r].note, sizeof of);
        if (!of.can) return false;
        if (of.low < all.low) all.low = of.low;
        if (of.high > all.high) all.high = of.high;
        all.direct = all.direct && of.direct;
    }
    uint32_t bits = ECHI_DIVIDE_BIN_BITS;
    while (bits < 8 * run->key_bytes && all.low >> bits != all.high >> bits) bits++;
    run->divide.bits = bits;
    run->divide.low = bits == 64 ? 0 : all.low >> bits << bits;
    run->direct = all.direct;
    return true;
}

/* Whether every rank has room for the keys of shared bins. */
static bool few_shared(const struct run *run)
{
    const struct echi_dist *d = run->d;
    for (int r = 0; r < d->ranks; r++) {
        const struct echi_share *share = &run->p.shares[r];
        const uint64_t n = d->in_first[r + 1] - d->in_first[r];
        const uint64_t n_out = d->out_first[r + 1] - d->out_first[r];
        if (share->shared > echi_partition_shared((size_t)n) ||
            share->low + share->high > echi_partition_shared((size_t)n_out))
            return false;
    }
    return true;
}

/* The maximum size of a bucket: each rank should have enough of them to fill a GPU. */
static uint64_t most_keys(const struct run *run)
{
    const uint64_t each = run->d->total / (uint64_t)run->d->ranks / 64;
    const uint64_t one_level = getenv("DSORT_BUCKET") ? strtoull(getenv("DSORT_BUCKET"), NULL, 0)
                                                      : bucket_keys(run->key_bytes);
    return each < one_level ? each : one_level;
}

/* ---- Move ---- */

/* The first key that this rank sends, counted from the first one that it gets. */
static uint64_t send_base(const struct run *run)
{
    return (uint64_t)((const char *)run->s->keys - (const char *)run->s->got_keys) / run->key_bytes;
}

/* Where the keys of a rank begin in this bucket of this rank, counted from the bucket. */
static uint64_t place_in_bucket(const struct run *run, uint32_t bucket, size_t rank)
{
    const uint64_t *have = run->p.have + (size_t)bucket * (size_t)run->d->ranks;
    uint64_t at = 0;
    for (size_t r = 0; r < rank; r++) at += have[r];
    return at;
}

static uint64_t got_at(const struct run *run, uint32_t bucket, size_t rank)
{
    return run->p.buckets[bucket].start - run->p.shares[run->d->rank].start +
           place_in_bucket(run, bucket, rank);
}

static ech_status move(struct run *run)
{
    const struct echi_partition *p = &run->p;
    const size_t ranks = (size_t)run->d->ranks, me = (size_t)run->d->rank;
    uint32_t next[ECHI_DIVIDE_BUCKETS] = { 0 };
    for (uint32_t i = 0; i < p->n_buckets; i++)
        next[i] = (uint32_t)(p->buckets[i].owner == run->d->rank
                                 ? got_at(run, i, me)
                                 : send_base(run) + p->send_at[i * ranks + me]);
    const ech_status status = run->ops->move(run->d->ctx, &run->divide, p->bucket_of, next,
                                             ECHI_DIVIDE_BUCKETS, run->s->got_keys);
    return status == ECH_OK ? ech_sync(run->d->ctx) : status; /* other ranks read the keys */
}

/* ---- Exchange ---- */

/* Queues copies of the buckets [from, to) from the memory of the other ranks. */
static ech_status pull(struct run *run, uint32_t from, uint32_t to)
{
    const struct echi_partition *p = &run->p;
    const size_t ranks = (size_t)run->d->ranks, me = (size_t)run->d->rank;
    ech_ctx *ctx = run->d->ctx;
    ech_status status = ECH_OK;
    for (uint32_t i = from; i < to; i++)
        for (size_t k = 1; k < ranks && status == ECH_OK; k++) {
            const size_t r = (me + k) % ranks,
                         bytes = (size_t)p->have[i * ranks + r] * run->key_bytes;
            const char *base;
            if (bytes == 0) continue;
            memcpy(&base, run->d->comm->notes[r].note, sizeof base);
            status = ctx->backend->copy_beside(
                ctx, (char *)run->s->got_keys + got_at(run, i, r) * run->key_bytes,
                base + p->send_at[i * ranks + r] * run->key_bytes, bytes);
        }
    return status;
}

/* Exchanges all buckets by the communicator.  status: that of this rank. */
static ech_status exchange(struct run *run)
{
    const struct echi_partition *p = &run->p;
    const size_t ranks = (size_t)run->d->ranks, me = (size_t)run->d->rank;
    size_t sends = 0, receives = 0;
    ech_comm_message *messages = calloc((ranks + 1) * p->n_buckets + 1, sizeof *messages);
    ech_status status = ECH_OK;
    if (!messages)
        status = echi_fail(run->d->ctx, ECH_ERR_MEMORY, "out of memory: %u messages", p->n_buckets);
    TRY(echi_comm_agree(run->d->ctx, run->d->comm, status, NULL, 0));
    ech_comm_message *in = messages + p->n_buckets;
    for (uint32_t i = 0; i < p->n_buckets; i++) {
        const int owner = p->buckets[i].owner;
        if (owner < 0) continue;
        for (size_t r = 0; owner == run->d->rank && r < ranks; r++)
            if (r != me && p->have[i * ranks + r])
                in[receives++] =
                    (ech_comm_message){ (char *)run->s->got_keys +
                                            got_at(run, i, r) * run->key_bytes,
                                        p->have[i * ranks + r] * run->key_bytes, (int64_t)r };
        if (owner != run->d->rank && p->have[i * ranks + me])
            messages[sends++] =
                (ech_comm_message){ (char *)run->s->keys +
                                        p->send_at[i * ranks + me] * run->key_bytes,
                                    p->have[i * ranks + me] * run->key_bytes, owner };
    }
    status = echi_comm_exchange(run->d->ctx, run->d->comm, messages, sends, in, receives);
done:
    free(messages);
    return status;
}

/* ---- Sort ---- */

static struct echi_sort_segments request_of(const struct echi_dist_sort *s, size_t n, size_t groups,
                                            int top_bit)
{
    const int key_bytes = (int)ech_dtype_bytes(s->dtype);
    return (struct echi_sort_segments){ .sort = { .n = n,
                                                  .dtype = s->dtype,
                                                  .key_bytes = key_bytes,
                                                  .order = echi_order_make(s->dtype, s->order,
                                                                           s->descending, false),
                                                  .end_bit = 8 * key_bytes },
                                        .groups = groups,
                                        .in = { 1, 1 },
                                        .out = { 1, 1 },
                                        .offsets_index = ECHI_INDEX_U64,
                                        .top_bit = top_bit };
}

ech_status echi_partition_work(const struct echi_dist_sort *s, const struct echi_backend *backend,
                               size_t *bytes)
{
    static const uint64_t none;
    struct echi_sort_segments request = request_of(s, s->n_out, ECHI_DIVIDE_BUCKETS, 8);
    *bytes = 0;
    if (s->n_out == 0) return ECH_OK;
    request.offsets = &none;
    return echi_operation_workspace(backend->operations[ECHI_OP_sort_segments], &request, bytes);
}

/* The buckets of this rank, in groups that are copied and sorted one after another. */
struct groups {
    uint32_t count, from[GROUPS + 1];
    uint64_t offsets[ECHI_DIVIDE_BUCKETS + GROUPS]; /* of group g: from[g] - from[0] + g ... */
};

static void make_groups(const struct run *run, struct groups *g)
{
    const struct echi_partition *p = &run->p;
    const struct echi_share *share = &p->shares[run->d->rank];
    const uint64_t least = GROUP_BYTES / run->key_bytes,
                   part = share->middle / (getenv("DSORT_GROUPS")
                                               ? strtoull(getenv("DSORT_GROUPS"), NULL, 0)
                                               : GROUPS) +
                          1;
    const uint64_t each = run->direct ? (part > least ? part : least) : UINT64_MAX;
    uint32_t i = 0, at = 0;
    while (i < p->n_buckets && p->buckets[i].owner != run->d->rank) i++;
    g->count = 0;
    while (i < p->n_buckets && share->middle) {
        uint64_t keys = 0;
        g->from[g->count++] = i;
        g->offsets[at++] = 0;
        for (; i < p->n_buckets && p->buckets[i].owner == run->d->rank &&
               (keys < each || g->count == GROUPS);
             i++) {
            keys += p->buckets[i].count;
            g->offsets[at++] = keys;
        }
        g->from[g->count] = i;
        if (i == p->n_buckets || p->buckets[i].owner != run->d->rank) break;
    }
}

/* The first bit in which the keys of each bucket of a group agree with those above. */
static int top_bit(const struct run *run, uint32_t from, uint32_t to)
{
    const int all = (int)(8 * run->key_bytes);
    int top = SORT_LEAST_TOP;
    for (uint32_t i = from; i < to; i++) {
        const struct echi_bucket *bucket = &run->p.buckets[i];
        const int own = (int)(run->divide.bits - ECHI_DIVIDE_BIN_BITS + bucket->log);
        const bool end = bucket->bin == 0 || bucket->bin + (1u << bucket->log) == BINS;
        if (end && run->outside) return all;
        if (own > top) top = own;
    }
    return top < all ? top : all;
}

static ech_status sort_group(struct run *run, const struct groups *g, uint32_t group)
{
    const struct echi_partition *p = &run->p;
    const struct echi_share *share = &p->shares[run->d->rank];
    const uint32_t from = g->from[group], to = g->from[group + 1], skip = from - g->from[0] + group;
    const uint64_t first = p->buckets[from].start - share->start;
    struct echi_dist_sort *s = run->s;
    ech_ctx *ctx = run->d->ctx;
    struct echi_sort_segments request =
        request_of(s, (size_t)g->offsets[skip + to - from], to - from, top_bit(run, from, to));
    const struct echi_operation *operation = ctx->backend->operations[ECHI_OP_sort_segments];
    void *owned = NULL;
    size_t need = 0;
    request.sort.keys_in = (char *)s->got_keys + first * run->key_bytes;
    request.sort.keys_out = (char *)s->keys_out + (share->low + first) * run->key_bytes;
    request.offsets = (uint64_t *)s->offsets + skip;
    ech_status status = echi_operation_workspace(operation, &request, &need);
    if (status == ECH_OK && need > s->inner_bytes)
        status = echi_allocate(ctx, need, "a distributed sort", &owned);
    if (status == ECH_OK && ctx->backend->enter) status = ctx->backend->enter(ctx);
    if (status == ECH_OK) {
        status = echi_operation_run(ctx, operation, &request, owned ? owned : s->inner);
        if (ctx->backend->leave) ctx->backend->leave(ctx);
    }
    echi_release(ctx, owned, owned ? need : 0);
    return status;
}

/* Keys of shared bins, by the method for all keys: low, and high, of the output. */
static ech_status sort_shared(struct run *run, ech_status status)
{
    struct echi_dist *d = run->d, shared = *d;
    const struct echi_dist_sort *s = run->s;
    const struct echi_share *own = &run->p.shares[d->rank];
    const size_t ranks = (size_t)d->ranks, bytes = run->key_bytes;
    struct echi_dist_sort sort = { .dtype = s->dtype,
                                   .n = (size_t)own->shared,
                                   .n_out = (size_t)(own->low + own->high),
                                   .descending = s->descending,
                                   .order = s->order,
                                   .keys_in = s->keys,
                                   .keys_out = s->shared_out };
    struct echi_layout layout = { .base = NULL };
    void *owned = NULL;
    shared.in_first = run->p.start; /* no longer needed */
    shared.out_first = shared.in_first + ranks + 1;
    shared.in_first[0] = shared.out_first[0] = 0;
    for (size_t r = 0; r < ranks; r++) {
        const struct echi_share *share = &run->p.shares[r];
        shared.in_first[r + 1] = shared.in_first[r] + share->shared;
        shared.out_first[r + 1] = shared.out_first[r] + share->low + share->high;
    }
    shared.total = shared.in_first[ranks];
    if (shared.total == 0) return status;
    if (status == ECH_OK)
        status = echi_dist_sort_plan(&sort, ech_device_name(d->ctx), d->ranks, &layout);
    const size_t need = layout.bytes;
    if (status == ECH_OK && need > s->shared_bytes)
        status = echi_allocate(d->ctx, need, "a distributed sort", &owned);
    layout = (struct echi_layout){ .base = owned ? owned : s->shared_work };
    if (status == ECH_OK) status = echi_dist_sort_plan(&sort, NULL, d->ranks, &layout);
    status = echi_dist_sort_merge(&shared, &sort, status);
    if (status == ECH_OK && own->low)
        status = ech_copy_async(d->ctx, s->keys_out, sort.keys_out, own->low * bytes);
    if (status == ECH_OK && own->high)
        status = ech_copy_async(d->ctx, (char *)s->keys_out + (own->low + own->middle) * bytes,
                                (char *)sort.keys_out + own->low * bytes, own->high * bytes);
    echi_release(d->ctx, owned, owned ? need : 0);
    return status;
}

/* After the agreement on what has been moved. */
static ech_status finish(struct run *run)
{
    ech_ctx *ctx = run->d->ctx;
    struct groups *g = calloc(1, sizeof *g);
    ech_status status = ECH_OK;
    if (g) make_groups(run, g);
    if (!g) status = echi_fail(ctx, ECH_ERR_MEMORY, "out of memory: groups of buckets");
    if (status == ECH_OK && g->count)
        status = ech_copy_async(ctx, run->s->offsets, g->offsets,
                                (g->from[g->count] - g->from[0] + g->count) * sizeof *g->offsets);
    if (!run->direct) {
        status = echi_comm_agree(ctx, run->d->comm, status, NULL, 0);
        if (status == ECH_OK) status = exchange(run);
    } else if (status == ECH_OK && g->count) {
        status = pull(run, g->from[0], g->from[1]);
    }
    dbg(run->d, "pull");
    status = sort_shared(run, status);
    dbg(run->d, "shared");
    for (uint32_t i = 0; g && i < g->count && status == ECH_OK; i++) {
        if (run->direct) status = ctx->backend->wait_beside(ctx);
        if (status == ECH_OK) status = sort_group(run, g, i);
        if (run->direct && status == ECH_OK && i + 1 < g->count)
            status = pull(run, g->from[i + 1], g->from[i + 2]);
    }
    if (status != ECH_OK && run->direct) { /* no copy may write to memory that is released */
        ctx->backend->wait_beside(ctx);
        ech_sync(ctx);
    }
    free(g);
    return status;
}

ech_status echi_dist_sort_partition(struct echi_dist *d, struct echi_dist_sort *s,
                                    ech_status status, bool *done)
{
    struct run run = { .d = d, .s = s, .key_bytes = ech_dtype_bytes(s->dtype) };
    struct range range = { 0 };
    uint32_t *counts = calloc(BINS, sizeof *counts);
    const void *sent = s->keys;
    uint64_t outside = 0;
    *done = false;
    if ((!echi_partition_allocate(&run.p, d) || !counts) && status == ECH_OK)
        status = echi_fail(d->ctx, ECH_ERR_MEMORY, "out of memory for %d ranks", d->ranks);
    dbg(d, NULL);
    if (status == ECH_OK) status = own_range(&run, &range);
    TRY(echi_comm_agree(d->ctx, d->comm, status, &range, sizeof range));
    if (!common_range(&run)) goto done;
    dbg(d, "range");
    status = run.ops->count(d->ctx, &run.divide, counts, &run.outside);
    outside = run.outside;
    TRY(echi_comm_agree(d->ctx, d->comm, status, &outside, sizeof outside));
    for (int r = 0; r < d->ranks; r++) run.outside |= d->comm->notes[r].note[0] != 0;
    TRY(echi_comm_allgather(d->ctx, d->comm, counts, run.p.counts, BINS * sizeof *counts));
    dbg(d, "count");
    if (!echi_partition_plan(&run.p, most_keys(&run)) || !few_shared(&run)) goto done;
    *done = true;
    dbg(d, "plan");
    status = move(&run);
    dbg(d, "move");
    TRY(echi_comm_agree(d->ctx, d->comm, status, &sent, sizeof sent));
    dbg(d, "agree");
    status = finish(&run);
    dbg(d, "queued");
    if (getenv("DSORT_TIME")) ech_sync(d->ctx);
    dbg(d, "sorted");
    if (getenv("DSORT_TIME") && d->rank == 0) fprintf(stderr, "%u buckets\n", run.p.n_buckets);
done:
    free(counts);
    echi_partition_free(&run.p);
    return status;
}
