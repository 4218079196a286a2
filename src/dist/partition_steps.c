/*
 * dist/partition_steps.c - the steps of a distributed sort after its buckets are known: move,
 * exchange, sort (partition.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "dist/partition.h"
#include "echelon/arrange.h"
#include "sort/segments.h"

#include <stdlib.h>
#include <string.h>

enum {
    GROUPS = ECHI_PARTITION_GROUPS, /* maximum number of groups */
    PARTS = 8,                      /* of a share, each a group: of 4 to 32, the fastest; H200 */
    GROUP_BYTES = 1 << 26,          /* minimum size of one */
    PULL_RANKS = 2 /* of more ranks, keys are copied by a kernel: the copies take longest */
};

typedef struct echi_partition_run run_t;

/* ---- Positions ---- */

static size_t cell(const run_t *run, uint32_t bucket, size_t rank)
{
    return (size_t)bucket * (size_t)run->d->ranks + rank;
}

/* Where the elements of a rank in a bucket of this rank are in `got`. */
static uint64_t got_at(const run_t *run, uint32_t bucket, size_t rank)
{
    uint64_t at = run->p.buckets[bucket].start - run->p.shares[run->d->rank].start;
    for (size_t r = 0; r < rank; r++) at += run->p.have[cell(run, bucket, r)];
    return at;
}

/* ---- Move ---- */

ech_status echi_partition_move(run_t *run)
{
    const struct echi_partition *p = &run->p;
    const struct echi_dist_sort *s = run->s;
    const size_t me = (size_t)run->d->rank;
    uint64_t moved = p->shares[me].needed;
    const uint64_t keys =
        (uint64_t)((const char *)s->keys - (const char *)s->got_keys) / run->key_bytes;
    uint32_t next[ECHI_DIVIDE_BUCKETS] = { 0 };
    if (echi_partition_has_values(run)) return ECH_OK; /* they have been sorted by windows */
    for (uint32_t i = 0; i < p->n_buckets; i++) {
        const struct echi_bucket *bucket = &p->buckets[i];
        for (uint32_t b = 0; b < 1u << bucket->log; b++)
            p->table->entry[p->bins[bucket->bin + b].entry] = (uint16_t)i;
        if (bucket->owner == run->d->rank) moved += p->have[cell(run, i, me)];
        next[i] = (uint32_t)(bucket->owner == run->d->rank ? got_at(run, i, me)
                                                           : keys + p->send_at[cell(run, i, me)]);
    }
    if (moved == 0) return ECH_OK;
    run->divide.buckets = p->n_buckets;
    return run->ops->move(run->d->ctx, &run->divide, p->table, p->outside, next, s->got_keys);
}

/* ---- Exchange ---- */

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
            const size_t have = (size_t)p->have[cell(run, i, r)] * bytes;
            if (have)
                run->copies[n++] = (struct echi_copy){ got + got_at(run, i, r) * bytes,
                                                       run->sent[2 * r + (size_t)array] +
                                                           p->send_at[cell(run, i, r)] * bytes,
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
            const size_t r = (me + k) % ranks, have = (size_t)p->have[cell(run, i, r)] * bytes;
            if (have)
                run->copies[n++] = (struct echi_copy){ got + got_at(run, i, r) * bytes,
                                                       (const char *)run->sent[2 * r] +
                                                           p->send_at[cell(run, i, r)] * bytes,
                                                       have };
            if (n < ECHI_DIVIDE_BUCKETS && (i + 1 < to || k + 1 < ranks)) continue;
            const ech_status status = run->ops->pull(run->d->ctx, (int)bytes, run->copies, n);
            if (status != ECH_OK) return status;
            n = 0;
        }
    return ECH_OK;
}

static ech_status pull(run_t *run, uint32_t from, uint32_t to)
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
        const uint64_t own = p->have[cell(run, i, me)] * bytes;
        if (owner < 0) continue;
        for (size_t r = 0; owner == run->d->rank && r < ranks; r++)
            if ((r != me || self) && p->have[cell(run, i, r)])
                in[receives++] = (ech_comm_message){ got + got_at(run, i, r) * bytes,
                                                     p->have[cell(run, i, r)] * bytes, (int64_t)r };
        if ((owner != run->d->rank || self) && own)
            messages[sends++] =
                (ech_comm_message){ keys + p->send_at[cell(run, i, me)] * bytes, own, owner };
    }
    return echi_comm_exchange(run->d->ctx, run->d->comm, messages, sends, in, receives);
}

static ech_status exchange(run_t *run, ech_status status)
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

/* ---- Groups of buckets ---- */

/* The buckets of this rank, in groups that are copied and sorted one after another. */
struct groups {
    uint32_t count, from[GROUPS + 1];
    uint64_t offsets[ECHI_PARTITION_OFFSETS]; /* of group g, from from[g] - from[0] + g on */
};

/* Before the first group has arrived, nothing is sorted: the first ones are smaller. */
static void make_groups(const run_t *run, struct groups *g)
{
    const struct echi_partition *p = &run->p;
    const int me = run->d->rank;
    const bool named = run->s->method == ECHI_DIST_PARTITION; /* for tests */
    const uint64_t least = named ? 1 : GROUP_BYTES / (run->key_bytes + run->s->value_bytes);
    const uint64_t part = p->shares[me].middle / PARTS + 1;
    uint64_t done = 0;
    uint32_t i = 0, at = 0;
    while (i < p->n_buckets && p->buckets[i].owner != me) i++;
    g->count = 0;
    g->from[0] = i;
    while (i < p->n_buckets && p->buckets[i].owner == me) {
        const uint64_t most = done < part / 4 ? part / 4 : done < part ? part / 2 : part;
        const uint64_t each = !run->direct ? UINT64_MAX : most > least ? most : least;
        uint64_t elements = 0;
        g->count++;
        g->offsets[at++] = 0;
        for (; i < p->n_buckets && p->buckets[i].owner == me &&
               (elements < each || g->count == GROUPS);
             i++) {
            elements += p->buckets[i].count;
            g->offsets[at++] = elements;
        }
        g->from[g->count] = i;
        done += elements;
    }
}

/* The bit from which on the keys of a bucket agree. */
static int top_of(const run_t *run, uint32_t i)
{
    const int all = (int)(8 * run->key_bytes), top = run->p.buckets[i].top;
    return top < 0 || top > all ? all : top;
}

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

ech_status echi_partition_work(const struct echi_dist_sort *s, const char *device,
                               const struct echi_backend *backend, size_t *bytes)
{
    static const uint64_t none;
    struct echi_sort_segments request =
        request_of(s, s->n_out, ECHI_DIVIDE_BUCKETS, ECHI_PARTITION_LEAST_TOP);
    ech_sort_options options = { .size = sizeof options };
    *bytes = 0;
    if (s->value_bytes == 0) {
        request.offsets = &none;
        if (s->n_out == 0) return ECH_OK;
        return echi_operation_workspace(backend->operations[ECHI_OP_sort_segments], &request,
                                        bytes);
    }
    options.begin_bit = (int)(8 * ech_dtype_bytes(s->dtype)) - 8;
    return ech_sort_workspace(device, s->n, s->dtype, s->value_bytes, &options, bytes);
}

/* ---- Sort ---- */

/* A group of buckets, in `got` and in the output. */
struct part {
    uint32_t from, to;
    char *keys, *keys_out, *values, *values_out;
    const uint64_t *offsets; /* of the buckets, in memory of the device */
    size_t n;
};

static struct part part_of(const run_t *run, const struct groups *g, uint32_t group)
{
    const struct echi_share *share = &run->p.shares[run->d->rank];
    const struct echi_dist_sort *s = run->s;
    struct part part = { .from = g->from[group], .to = g->from[group + 1] };
    const uint32_t skip = part.from - g->from[0] + group;
    const uint64_t first = run->p.buckets[part.from].start - share->start;
    char *keys_out = s->keys_out ? s->keys_out : s->merged;
    part.keys = (char *)s->got_keys + first * run->key_bytes;
    part.keys_out = keys_out + (share->low.n + first) * run->key_bytes;
    part.values = echi_after(s->got_values, first * s->value_bytes);
    part.values_out = echi_after(s->values_out, (share->low.n + first) * s->value_bytes);
    part.offsets = (const uint64_t *)s->offsets + skip;
    part.n = (size_t)g->offsets[skip + part.to - part.from];
    return part;
}

static ech_status sort_keys(run_t *run, const struct part *part)
{
    ech_ctx *ctx = run->d->ctx;
    const struct echi_operation *operation = ctx->backend->operations[ECHI_OP_sort_segments];
    int top = ECHI_PARTITION_LEAST_TOP;
    void *owned = NULL;
    size_t need = 0;
    for (uint32_t i = part->from; i < part->to; i++)
        if (top_of(run, i) > top) top = top_of(run, i);
    struct echi_sort_segments request = request_of(run->s, part->n, part->to - part->from, top);
    request.sort.keys_in = part->keys;
    request.sort.keys_out = part->keys_out;
    request.offsets = part->offsets;
    ech_status status = echi_operation_workspace(operation, &request, &need);
    if (status == ECH_OK && need > run->s->inner_bytes)
        status = echi_allocate(ctx, need, "a distributed sort", &owned);
    if (status == ECH_OK && ctx->backend->enter) status = ctx->backend->enter(ctx);
    if (status == ECH_OK) {
        status = echi_operation_run(ctx, operation, &request, owned ? owned : run->s->inner);
        if (ctx->backend->leave) ctx->backend->leave(ctx);
    }
    echi_release(ctx, owned, owned ? need : 0);
    return status;
}

/* The keys of a group are adjacent ones. */
static ech_status sort_pairs(run_t *run, const struct part *part)
{
    const struct echi_dist_sort *s = run->s;
    ech_sort_options options = { .size = sizeof options,
                                 .descending = s->descending,
                                 .order = s->order };
    size_t need = 0;
    ech_status status = ech_sort_workspace(ech_device_name(run->d->ctx), part->n, s->dtype,
                                           s->value_bytes, &options, &need);
    if (status != ECH_OK) return status;
    if (need <= s->inner_bytes) {
        options.work = s->inner;
        options.work_bytes = s->inner_bytes;
    }
    return ech_sort_pairs(run->d->ctx, part->keys, part->values, part->keys_out, part->values_out,
                          part->n, s->dtype, s->value_bytes, &options);
}

/* ---- Shared bins ---- */

/* Values of shared bins that are apart are copied together. */
static ech_status collect_shared(run_t *run)
{
    const struct echi_partition *p = &run->p;
    const struct echi_dist_sort *s = run->s;
    const size_t me = (size_t)run->d->rank;
    ech_ctx *ctx = run->d->ctx;
    ech_status status = ECH_OK;
    uint64_t at = 0;
    for (uint32_t i = 0; i < p->n_buckets && status == ECH_OK; i++) {
        const uint64_t from = p->send_at[cell(run, i, me)], n = p->have[cell(run, i, me)];
        if (p->buckets[i].owner != ECHI_PARTITION_SHARED || n == 0) continue;
        status = ech_copy_async(ctx, (char *)s->shared_in + at * run->key_bytes,
                                (char *)s->keys + from * run->key_bytes, n * run->key_bytes);
        if (status == ECH_OK)
            status = ech_copy_async(ctx, (char *)s->shared_values_in + at * s->value_bytes,
                                    (char *)s->values + from * s->value_bytes, n * s->value_bytes);
        at += n;
    }
    return status;
}

/* The elements of an end of a share that are sorted: its keys differ. */
static uint64_t to_sort(const struct echi_end *end)
{
    return end->equal ? 0 : end->n;
}

/* Copies the sorted elements of shared bins before and after those of the own buckets. */
static ech_status write_ends(run_t *run, void *out, const void *from, size_t bytes)
{
    const struct echi_share *own = &run->p.shares[run->d->rank];
    const uint64_t low = to_sort(&own->low), high = to_sort(&own->high);
    ech_status status = ECH_OK;
    if (low && bytes && out) status = ech_copy_async(run->d->ctx, out, from, low * bytes);
    if (high && bytes && out && status == ECH_OK)
        status = ech_copy_async(run->d->ctx, (char *)out + (own->low.n + own->middle) * bytes,
                                (const char *)from + low * bytes, high * bytes);
    return status;
}

/* Writes the keys of an end of a share that are equal, from position `at` of the share on. */
static ech_status write_equal(run_t *run, const struct echi_end *end, uint64_t at)
{
    char *out = run->s->keys_out;
    if (!end->equal || end->n == 0) return ECH_OK;
    const uint64_t key =
        echi_order_decode(&run->divide.order, (int)run->key_bytes, run->divide.low + end->offset);
    return ech_fill(run->d->ctx, out + at * run->key_bytes, end->n, run->key_bytes, &key);
}

/* A call for the elements of shared bins; positions: [2][ranks + 1]. */
static struct echi_dist shared_call(const run_t *run, uint64_t *positions)
{
    const size_t ranks = (size_t)run->d->ranks;
    struct echi_dist d = *run->d;
    d.in_first = positions;
    d.out_first = positions + ranks + 1;
    d.in_first[0] = d.out_first[0] = 0;
    for (size_t r = 0; r < ranks; r++) {
        const struct echi_share *share = &run->p.shares[r];
        d.in_first[r + 1] = d.in_first[r] + share->shared;
        d.out_first[r + 1] = d.out_first[r] + to_sort(&share->low) + to_sort(&share->high);
    }
    d.total = d.in_first[ranks];
    return d;
}

static ech_status sort_shared(run_t *run, ech_status status)
{
    const struct echi_dist_sort *s = run->s;
    const struct echi_share *own = &run->p.shares[run->d->rank];
    ech_ctx *ctx = run->d->ctx;
    const bool values = echi_partition_has_values(run);
    struct echi_dist d = shared_call(run, run->p.start); /* which is no longer needed */
    struct echi_dist_sort sort = { .dtype = s->dtype,
                                   .n = (size_t)own->shared,
                                   .n_out = (size_t)(to_sort(&own->low) + to_sort(&own->high)),
                                   .value_bytes = s->value_bytes,
                                   .descending = s->descending,
                                   .order = s->order,
                                   .keys_in = values ? s->shared_in : s->keys,
                                   .keys_out = s->shared_out,
                                   .values_in = s->shared_values_in,
                                   .values_out = s->shared_values_out,
                                   .gathers = d.total <= run->gathers,
                                   .most = d.total <= run->gathers ? (size_t)d.total : 0 };
    struct echi_layout layout = { .base = NULL };
    void *owned = NULL;
    if (d.total == 0) return status;
    if (status == ECH_OK && values) status = collect_shared(run);
    if (status == ECH_OK)
        status = echi_dist_sort_plan(&sort, ech_device_name(ctx), d.ranks, &layout);
    const size_t need = layout.bytes;
    if (status == ECH_OK && need > s->shared_bytes)
        status = echi_allocate(ctx, need, "a distributed sort", &owned);
    layout = (struct echi_layout){ .base = owned ? owned : s->shared_work };
    if (status == ECH_OK) status = echi_dist_sort_plan(&sort, NULL, d.ranks, &layout);
    status = sort.gathers ? echi_dist_sort_gather(&d, &sort, status)
                          : echi_dist_sort_merge(&d, &sort, status);
    if (status == ECH_OK) status = write_ends(run, s->keys_out, sort.keys_out, run->key_bytes);
    if (status == ECH_OK) status = write_ends(run, s->values_out, sort.values_out, s->value_bytes);
    echi_release(ctx, owned, owned ? need : 0);
    return status;
}

/* ---- All steps ---- */

static ech_status sort_group(run_t *run, const struct groups *g, uint32_t group)
{
    const struct part part = part_of(run, g, group);
    return echi_partition_has_values(run) ? sort_pairs(run, &part) : sort_keys(run, &part);
}

ech_status echi_partition_finish(run_t *run)
{
    ech_ctx *ctx = run->d->ctx;
    struct groups *g = calloc(1, sizeof *g);
    const struct echi_share *own = &run->p.shares[run->d->rank];
    ech_status status = ECH_OK;
    if (g)
        make_groups(run, g);
    else
        status = echi_fail(ctx, ECH_ERR_MEMORY, "out of memory: groups of buckets");
    if (status == ECH_OK && g->count)
        status = ech_copy(ctx, run->s->offsets, g->offsets,
                          (g->from[g->count] - g->from[0] + g->count) * sizeof *g->offsets);
    if (!run->direct)
        TRY(exchange(run, status));
    else if (status == ECH_OK && g->count)
        status = pull(run, g->from[0], g->from[1]);
    status = sort_shared(run, status);
    if (status == ECH_OK) status = write_equal(run, &own->low, 0);
    if (status == ECH_OK) status = write_equal(run, &own->high, own->low.n + own->middle);
    for (uint32_t i = 0; g && i < g->count && status == ECH_OK; i++) {
        if (run->direct) status = ctx->backend->wait_beside(ctx);
        if (status == ECH_OK) status = sort_group(run, g, i);
        if (run->direct && status == ECH_OK && i + 1 < g->count)
            status = pull(run, g->from[i + 1], g->from[i + 2]);
    }
done:
    if (status != ECH_OK && run->direct) { /* no copy may write to memory that is released */
        ctx->backend->wait_beside(ctx);
        ech_sync(ctx);
    }
    free(g);
    return status;
}
