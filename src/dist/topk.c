/*
 * dist/topk.c - ech_dist_topk(): each rank selects its k best elements, all ranks gather them, and
 * each selects the k best of these.
 *
 * The gathered elements lie in the order of ranks, and those of a rank in the order of the
 * selection, so that of equal elements the one with the lower position comes first, as in
 * ech_topk().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dist/dist.h"
#include "core/call.h"
#include "echelon/dist.h"
#include "reduce/value.h"

#include <stdlib.h>
#include <string.h>

struct choice {
    uint64_t position, candidate;
};

struct job {
    struct echi_dist d;
    const void *in;
    void *values, *indices;
    size_t n, k, bytes; /* bytes: of an element */
    ech_dtype dtype, index_dtype;
    ech_topk_options options;
    /* in host memory; most: the maximum number of candidates of a rank, and all of them */
    size_t most, count;
    char *mine, *all;
    uint64_t *mine_at, *all_at, *chosen;
    struct choice *choices;
    char *result; /* [k] of the larger of both types */
};

/* Up to this many candidates are merged on the processor. */
enum { FEW = 1 << 14 };

/* What the selection from `count` candidates needs. */
static ech_status plan_last(struct echi_need *need, const char *device, size_t count, size_t k,
                            ech_dtype dtype, const ech_topk_options *options)
{
    const ech_topk_options plain = { .size = sizeof plain,
                                     .smallest = options->smallest,
                                     .order = options->order };
    size_t work = 0;
    const ech_status status =
        ech_topk_workspace(device, ECH_TOPK_CALL_ARRAY, count, 1, k, dtype, &plain, &work);
    echi_need_step(need, work, echi_need_product(count, ech_dtype_bytes(dtype)),
                   echi_need_product(k, 8));
    return status;
}

ech_status ech_dist_topk_workspace(const char *device, int ranks, size_t n, size_t k,
                                   ech_dtype dtype, const ech_topk_options *options, size_t *bytes)
{
    READ_OPTIONS(NULL, ech_topk_options, options);
    struct echi_need need = echi_need_begin(device, ranks, bytes);
    const size_t own = n < k ? n : k, all = ranks > 0 ? echi_need_product(k, (size_t)ranks) : 0;
    ech_topk_options local = *options;
    size_t work = 0;
    local.unsorted = 0; /* of the selection of a rank: select_own() */
    if (need.status == ECH_OK) need.status = echi_check_dtype(NULL, "dtype", dtype);
    if (need.status != ECH_OK) return need.status;
    need.status = ech_topk_workspace(device, ECH_TOPK_CALL_ARRAY, n, 1, own, dtype, &local, &work);
    echi_need_step(&need, work, echi_need_product(own, ech_dtype_bytes(dtype)),
                   echi_need_product(own, 8));
    if (need.status == ECH_OK && all > FEW)
        need.status = plan_last(&need, device, all, k, dtype, options);
    return echi_need_end(&need, bytes);
}

/* Whether the workspace is enough for the last selection: that of fewer candidates may be
 * larger. */
static bool is_enough(const struct job *job)
{
    const char *device = ech_device_name(job->d.ctx);
    size_t bytes = 0, need_bytes = 0;
    struct echi_need need = echi_need_begin(device, 1, &need_bytes);
    return ech_dist_topk_workspace(device, job->d.ranks, job->n, job->k, job->dtype, &job->options,
                                   &bytes) == ECH_OK &&
           plan_last(&need, device, job->count, job->k, job->dtype, &job->options) == ECH_OK &&
           echi_need_end(&need, &need_bytes) == ECH_OK && need_bytes <= bytes;
}

static ech_status check(ech_ctx *ctx, const ech_comm *comm, const struct job *job)
{
    const ech_topk_options *o = &job->options;
    size_t bytes = 0;
    ech_status status;
    TRY(echi_check_dtype(ctx, "dtype", job->dtype));
    TRY(echi_check_count(ctx, "n", job->n, job->bytes));
    TRY(echi_check_count(ctx, "k", job->k, 16));
    if (o->counts) FAIL(ctx, ECH_ERR_ARG, "options->counts is given, but this call has no rows");
    if (o->row_stride || o->element_stride || o->out_row_stride || o->out_element_stride)
        FAIL(ctx, ECH_ERR_ARG, "options has strides, but this call has no rows");
    if (o->work_bytes && comm) {
        TRY(ech_dist_topk_workspace(ech_device_name(ctx), ech_comm_size(comm), job->n, job->k,
                                    job->dtype, o, &bytes));
        TRY(echi_dist_check_work(ctx, "a distributed top-k", bytes, o->work_bytes));
    }
    if (job->k && !job->values && !job->indices)
        FAIL(ctx, ECH_ERR_ARG, "values and indices are both NULL");
    if (job->n && !job->in) FAIL(ctx, ECH_ERR_ARG, "in is NULL");
done:
    return status;
}

static ech_status allocate(struct job *job)
{
    const size_t ranks = (size_t)job->d.ranks;
    for (int r = 0; r < job->d.ranks; r++) {
        const uint64_t n = job->d.in_first[r + 1] - job->d.in_first[r];
        const size_t k = n < job->k ? (size_t)n : job->k;
        if (k > job->most) job->most = k;
        job->count += k;
    }
    job->mine = calloc(job->most + 1, job->bytes);
    job->mine_at = calloc(job->most + 1, sizeof *job->mine_at);
    job->all = calloc(ranks * job->most + 1, job->bytes);
    job->all_at = calloc(ranks * job->most + 1, sizeof *job->all_at);
    job->chosen = calloc(job->k + 1, sizeof *job->chosen);
    job->choices = calloc(job->k + 1, sizeof *job->choices);
    job->result = calloc(job->k + 1, 8);
    if (job->mine && job->mine_at && job->all && job->all_at && job->chosen && job->choices &&
        job->result)
        return ECH_OK;
    return echi_fail(job->d.ctx, ECH_ERR_MEMORY, "out of memory: %zu candidates", job->count);
}

static void release(struct job *job)
{
    free(job->mine);
    free(job->mine_at);
    free(job->all);
    free(job->all_at);
    free(job->chosen);
    free(job->choices);
    free(job->result);
}

/* The candidates of this rank, the best first, with their positions in the concatenation. */
static ech_status select_own(struct job *job)
{
    const struct echi_dist *d = &job->d;
    const size_t k = job->n < job->k ? job->n : job->k;
    ech_topk_options local = job->options;
    local.unsorted = 0;
    local.work = NULL;
    local.work_bytes = 0;
    const ech_status status =
        ech_topk(d->ctx, job->in, job->mine, job->mine_at, job->n, k, job->dtype, ECH_U64, &local);
    for (size_t i = 0; i < k; i++) job->mine_at[i] += d->in_first[d->rank];
    return status;
}

/* Removes the gaps between the candidates of different ranks. */
static void pack(struct job *job)
{
    size_t at = 0;
    for (size_t r = 0; r < (size_t)job->d.ranks; r++) {
        const uint64_t n = job->d.in_first[r + 1] - job->d.in_first[r];
        const size_t k = n < job->k ? (size_t)n : job->k;
        memmove(job->all + at * job->bytes, job->all + r * job->most * job->bytes, k * job->bytes);
        memmove(job->all_at + at, job->all_at + r * job->most, k * sizeof *job->all_at);
        at += k;
    }
}

static int compare_positions(const void *a, const void *b)
{
    const uint64_t x = ((const struct choice *)a)->position;
    const uint64_t y = ((const struct choice *)b)->position;
    return (x > y) - (x < y);
}

/* Whether candidate a precedes b, which has a higher position. */
static bool is_first(const struct job *job, const struct echi_order *order, size_t a, size_t b)
{
    uint64_t x = 0, y = 0;
    memcpy(&x, job->all + a * job->bytes, job->bytes);
    memcpy(&y, job->all + b * job->bytes, job->bytes);
    return echi_order_encode(order, (int)job->bytes, x) <=
           echi_order_encode(order, (int)job->bytes, y);
}

/* Few candidates are merged here, because a GPU needs longer to receive them.  next [ranks]. */
static void merge_ranks(struct job *job, size_t *next)
{
    const struct echi_dist *d = &job->d;
    const struct echi_order order =
        echi_order_make(job->dtype, job->options.order, !job->options.smallest, true);
    size_t at = 0;
    for (int r = 0; r < d->ranks; r++) {
        const uint64_t n = d->in_first[r + 1] - d->in_first[r];
        next[r] = at;
        at += n < job->k ? (size_t)n : job->k;
        next[d->ranks + r] = at; /* their end */
    }
    for (size_t i = 0; i < job->k; i++) {
        int best = -1;
        for (int r = 0; r < d->ranks; r++)
            if (next[r] < next[d->ranks + r] &&
                (best < 0 || !is_first(job, &order, next[best], next[r])))
                best = r;
        job->chosen[i] = next[best]++;
    }
}

/* The k best of the candidates, in the order of the result. */
static ech_status select_all(struct job *job)
{
    size_t *next = NULL;
    if (job->k * (size_t)job->d.ranks <= FEW || !is_enough(job))
        next = calloc(2 * (size_t)job->d.ranks, sizeof *next);
    const ech_topk_options options = { .size = sizeof options,
                                       .smallest = job->options.smallest,
                                       .order = job->options.order };
    ech_status status = ECH_OK;
    if (next)
        merge_ranks(job, next);
    else
        status = ech_topk(job->d.ctx, job->all, NULL, job->chosen, job->count, job->k, job->dtype,
                          ECH_U64, &options);
    free(next);
    if (status != ECH_OK) return status;
    for (size_t i = 0; i < job->k; i++)
        job->choices[i] = (struct choice){ job->all_at[job->chosen[i]], job->chosen[i] };
    if (job->options.unsorted) qsort(job->choices, job->k, sizeof *job->choices, compare_positions);
    return ECH_OK;
}

static ech_status write_results(struct job *job)
{
    const uint32_t index_bytes = (uint32_t)ech_dtype_bytes(job->index_dtype);
    ech_status status = ECH_OK;
    for (size_t i = 0; job->values && i < job->k; i++)
        memcpy(job->result + i * job->bytes, job->all + job->choices[i].candidate * job->bytes,
               job->bytes);
    if (job->values) status = ech_copy(job->d.ctx, job->values, job->result, job->k * job->bytes);
    if (!job->indices || status != ECH_OK) return status;
    for (size_t i = 0; i < job->k; i++)
        result_store(job->result, i, index_bytes, job->choices[i].position);
    return ech_copy(job->d.ctx, job->indices, job->result, job->k * index_bytes);
}

static ech_status run(struct job *job)
{
    struct echi_dist *d = &job->d;
    ech_status status = ECH_OK;
    if (job->k > d->total)
        status = echi_fail(d->ctx, ECH_ERR_ARG, "k is %zu, but all ranks have %llu elements",
                           job->k, (unsigned long long)d->total);
    else if (job->indices)
        status = echi_check_index(d->ctx, "index_dtype", job->index_dtype, "the total n", d->total);
    if (status == ECH_OK) status = allocate(job);
    if (status == ECH_OK) status = select_own(job);
    TRY(echi_comm_agree(d->ctx, d->comm, status, NULL, 0));
    TRY(echi_comm_allgather(d->ctx, d->comm, job->mine, job->all, job->most * job->bytes));
    TRY(echi_comm_allgather(d->ctx, d->comm, job->mine_at, job->all_at,
                            job->most * sizeof *job->mine_at));
    pack(job);
    TRY(select_all(job));
    TRY(write_results(job));
done:
    release(job);
    return status;
}

ech_status ech_dist_topk(ech_ctx *ctx, ech_comm *comm, const void *in, void *values, void *indices,
                         size_t n, size_t k, ech_dtype dtype, ech_dtype index_dtype,
                         const ech_topk_options *given)
{
    static const char *const names[] = { "k",
                                         "dtype",
                                         "index_dtype",
                                         "options->smallest",
                                         "options->unsorted",
                                         "options->order",
                                         "whether values is given",
                                         "whether indices is given",
                                         NULL };
    struct job job = { .in = in,
                       .values = values,
                       .indices = indices,
                       .n = n,
                       .k = k,
                       .bytes = ech_dtype_bytes(dtype),
                       .dtype = dtype,
                       .index_dtype = index_dtype };
    ech_status status = echi_read_options(ctx, "ech_topk_options", given, &job.options,
                                          sizeof job.options, offsetof(ech_topk_options, work));
    const ech_topk_options *o = &job.options;
    if (status == ECH_OK) status = check(ctx, comm, &job);
    struct echi_comm_call call = {
        .name = "ech_dist_topk",
        .option = { k, (uint64_t)dtype, indices ? (uint64_t)index_dtype : 0, (uint64_t)o->smallest,
                    (uint64_t)o->unsorted, (uint64_t)o->order, values != NULL, indices != NULL },
        .n = n
    };
    status = echi_dist_begin(&job.d, ctx, comm, &call, names, status, false);
    if (status != ECH_OK) return status;
    echi_dist_lend(&job.d, o->work, o->work_bytes);
    return echi_dist_end(&job.d, run(&job));
}
