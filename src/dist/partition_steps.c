/*
 * dist/partition_steps.c - the steps of a distributed sort after its buckets are known: move and
 * sort (partition.c).
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
    LEAST_CUT = 16                  /* keys of fewer bits are divided by bits */
};

typedef struct echi_partition_run run_t;

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
        if (bucket->owner == run->d->rank) moved += p->have[echi_partition_cell(run, i, me)];
        next[i] = (uint32_t)(bucket->owner == run->d->rank
                                 ? echi_partition_got_at(run, i, me)
                                 : keys + p->send_at[echi_partition_cell(run, i, me)]);
    }
    if (moved == 0) return ECH_OK;
    run->divide.buckets = p->n_buckets;
    return run->ops->move(run->d->ctx, &run->divide, p->table, p->outside, next, s->got_keys);
}

/* ---- Groups of buckets ---- */

/* The buckets of this rank, in groups that are copied and sorted one after another. */
struct groups {
    uint32_t count, from[GROUPS + 1];
    /* offsets: of group g, from from[g] - from[0] + g on; tops: from from[g] - from[0] on */
    struct echi_partition_segments segments;
};

/* The bit from which on the keys of a bucket agree. */
static int top_of(const run_t *run, uint32_t i)
{
    const int all = (int)(8 * run->key_bytes), top = run->p.buckets[i].top;
    return top < 0 || top > all ? all : top;
}

/* The same, and where the first digit cuts the keys, if most keys have zeros below run->divide.cut:
 * there, if a bucket has few values of the bits above it; or at the top, if its keys are those
 * zeros. */
static uint32_t segment_top(const run_t *run, uint32_t i)
{
    const struct echi_bucket *bucket = &run->p.buckets[i];
    const uint32_t top = (uint32_t)top_of(run, i), cut = run->divide.cut;
    if (cut <= LEAST_CUT || top <= LEAST_CUT || bucket->top < 0) return top;
    if (top > cut) return top - cut <= ECHI_TOP_UPPER ? top | cut << ECHI_TOP_CUT : top;
    const uint64_t first = run->divide.low + run->p.bins[bucket->bin].offset;
    const uint64_t above = top == 64 ? 0 : first >> top;
    const uint64_t below_cut = ((uint64_t)1 << (cut - top)) - 1;
    return above & below_cut ? top : top | top << ECHI_TOP_CUT;
}

static void make_groups(const run_t *run, struct groups *g)
{
    const struct echi_partition *p = &run->p;
    const int me = run->d->rank;
    uint64_t elements = 0;
    uint32_t i = 0, at = 0;
    while (i < p->n_buckets && p->buckets[i].owner != me) i++;
    g->count = 0;
    g->from[0] = i;
    for (; i < p->n_buckets && p->buckets[i].owner == me; i++) {
        if (p->buckets[i].group == g->count) {
            g->count++;
            g->segments.offsets[at++] = elements = 0;
        }
        elements += p->buckets[i].count;
        g->segments.offsets[at++] = elements;
        g->segments.tops[i - g->from[0]] = segment_top(run, i);
        g->from[g->count] = i + 1;
    }
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
    const uint32_t *tops;
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
    part.offsets = s->segments->offsets + skip;
    part.tops = s->segments->tops + (part.from - g->from[0]);
    part.n = (size_t)g->segments.offsets[skip + part.to - part.from];
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
    request.tops = part->tops;
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
        const uint64_t from = p->send_at[echi_partition_cell(run, i, me)],
                       n = p->have[echi_partition_cell(run, i, me)];
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

/* All groups of this rank, while the next one is copied from the memory of other ranks. */
static ech_status sort_direct(run_t *run, const struct groups *g)
{
    const struct echi_backend *backend = run->d->ctx->backend;
    ech_status status = ECH_OK;
    for (uint32_t i = 0; g && i < g->count && status == ECH_OK; i++) {
        status = backend->wait_beside(run->d->ctx);
        if (status == ECH_OK) status = sort_group(run, g, i);
        if (status == ECH_OK && i + 1 < g->count)
            status = echi_partition_pull(run, g->from[i + 1], g->from[i + 2]);
    }
    return status;
}

/* The same, while the next group of each rank is exchanged: also if this rank has failed. */
static ech_status sort_queued(run_t *run, const struct groups *g, ech_status status)
{
    ech_ctx *ctx = run->d->ctx;
    const uint32_t rounds = echi_partition_groups(&run->p);
    ech_status queued = rounds ? echi_partition_queue(run, 0) : ECH_OK;
    for (uint32_t i = 0; i < rounds && queued == ECH_OK; i++) {
        const bool mine = g && i < g->count;
        if (status == ECH_OK) status = ctx->backend->wait_beside(ctx);
        if (i + 1 < rounds) queued = echi_partition_queue(run, i + 1);
        if (status == ECH_OK && mine)
            status = echi_partition_collect(run, g->from[i], g->from[i + 1]);
        if (status == ECH_OK && mine) status = sort_group(run, g, i);
    }
    if (status != ECH_OK) ctx->backend->wait_beside(ctx);
    const ech_status finished = echi_comm_finish(ctx, run->d->comm);
    return status != ECH_OK ? status : queued != ECH_OK ? queued : finished;
}

static ech_status sort_groups(run_t *run, const struct groups *g, ech_status status)
{
    if (status == ECH_OK && run->direct) return sort_direct(run, g);
    for (uint32_t i = 0; g && i < g->count && status == ECH_OK; i++) status = sort_group(run, g, i);
    return status;
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
        status = ech_copy(ctx, run->s->segments, &g->segments, sizeof g->segments);
    if (run->queues)
        TRY(echi_comm_agree(ctx, run->d->comm, status, NULL, 0));
    else if (!run->direct)
        TRY(echi_partition_exchange(run, status));
    else if (status == ECH_OK && g->count)
        status = echi_partition_pull(run, g->from[0], g->from[1]);
    status = sort_shared(run, status);
    if (status == ECH_OK) status = write_equal(run, &own->low, 0);
    if (status == ECH_OK) status = write_equal(run, &own->high, own->low.n + own->middle);
    status = run->queues ? sort_queued(run, g, status) : sort_groups(run, g, status);
done:
    if (status != ECH_OK && run->direct) { /* no copy may write to memory that is released */
        ctx->backend->wait_beside(ctx);
        ech_sync(ctx);
    }
    free(g);
    return status;
}
