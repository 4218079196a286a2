/*
 * dist/unique.c - ech_dist_unique(): a distributed sort, the runs of equal elements on each rank,
 * and a rebalance of the results.
 *
 * A run may continue on later ranks.  It belongs to the rank on which it begins:
 *
 *     sorted    | 1 1 2 3 3 | 3 3 3 | 3 4 4 |
 *     runs      | 1 2 3     | -     | 4     |      the lengths of 3 are added on the first rank
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "dist/sort.h"
#include "echelon/dist.h"
#include "echelon/select.h"

#include <stdlib.h>
#include <string.h>

/* The ends of a rank's sorted part; keys are encoded, so that equal elements have equal keys. */
struct ends {
    uint64_t runs, first_key, last_key, first_length;
};

struct job {
    struct echi_dist d;
    struct echi_dist_sort sort;
    const void *in;
    void *values;
    uint64_t *first, *counts;
    size_t n, capacity, bytes; /* bytes: of an element */
    void *work;                /* of the caller */
    size_t work_bytes;
    ech_dtype dtype;
    ech_dist_layout *layout;
    struct ends *ends; /* [ranks] */
    /* parts of the workspace, [n_out] each */
    void *keys, *run_keys;
    uint64_t *positions, *run_positions, *lengths;
};

static ech_status check(ech_ctx *ctx, const struct job *job, const ech_unique_options *options)
{
    ech_status status;
    TRY(echi_check_dtype(ctx, "dtype", job->dtype));
    TRY(echi_check_count(ctx, "n", job->n, job->bytes));
    if (!job->layout) FAIL(ctx, ECH_ERR_ARG, "layout is NULL");
    TRY(echi_check_size(ctx, "layout", "ech_dist_layout", job->layout->size, sizeof *job->layout));
    if (options->appearance)
        FAIL(ctx, ECH_ERR_UNSUPPORTED,
             "options->appearance is %d; distributed calls support only 0", options->appearance);
    if (job->n && !job->in) FAIL(ctx, ECH_ERR_ARG, "in is NULL");
    if (job->capacity && !job->values) FAIL(ctx, ECH_ERR_ARG, "values is NULL");
done:
    return status;
}

/* Lays out the parts; without a base, only the size. */
static ech_status lay_out(struct job *job, const char *device, struct echi_layout *layout)
{
    const size_t n_out = job->sort.n_out;
    const ech_status status = echi_dist_sort_plan(&job->sort, device, job->d.ranks, layout);
    job->keys = echi_part(layout, n_out, job->bytes);
    job->run_keys = echi_part(layout, n_out, job->bytes);
    job->lengths = echi_part(layout, n_out, sizeof *job->lengths);
    job->positions = echi_part(layout, job->sort.positions ? n_out : 0, sizeof *job->positions);
    job->run_positions = echi_part(layout, job->first ? n_out : 0, sizeof *job->run_positions);
    return status;
}

/* The sort of a call that writes positions, or does not. */
static struct echi_dist_sort sort_of(const void *in, size_t n, size_t n_out, ech_dtype dtype,
                                     bool first)
{
    /* the first of equal elements counts: floats need a stable sort, for -0 and NaN */
    const bool positions = first || echi_dtype_is_float(dtype);
    return (struct echi_dist_sort){ .dtype = dtype,
                                    .n = n,
                                    .n_out = n_out,
                                    .value_bytes = positions ? sizeof(uint64_t) : 0,
                                    .positions = positions,
                                    .index_dtype = ECH_U64,
                                    .keys_in = in };
}

ech_status ech_dist_unique_workspace(const char *device, int ranks, size_t n, size_t n_out,
                                     ech_dtype dtype, int first, size_t *bytes)
{
    struct echi_need need = echi_need_begin(device, ranks, bytes);
    struct echi_layout layout = { .base = NULL };
    uint64_t none = 0;
    size_t work = 0;
    if (need.status == ECH_OK) need.status = echi_check_dtype(NULL, "dtype", dtype);
    if (need.status == ECH_OK && first != 0 && first != 1)
        need.status = echi_fail(NULL, ECH_ERR_ARG, "first is %d, not 0 or 1", first);
    if (need.status != ECH_OK) return need.status;
    struct job job = { .d = { .ranks = ranks },
                       .sort = sort_of(NULL, n, n_out, dtype, first),
                       .bytes = ech_dtype_bytes(dtype),
                       .first = first ? &none : NULL };
    need.status = lay_out(&job, device, &layout);
    echi_part(&need.kept, layout.overflow ? SIZE_MAX : layout.bytes, 1);
    echi_need_step(&need, 0, ECHI_SPLIT_NEEDLES * job.bytes, ECHI_SPLIT_NEEDLES * sizeof none);
    if (need.status == ECH_OK) /* keys that wrap are counted */
        need.status = ech_reduce_workspace(device, ECH_REDUCE_CALL_ROWS, ECH_OP_COUNT, n, 0, dtype,
                                           NULL, &work);
    echi_need_step(&need, work, sizeof(uint64_t), 0);
    if (need.status == ECH_OK)
        need.status = ech_select_workspace(device, ECH_SELECT_CALL_RLE_ENCODE, n_out, job.bytes, 0,
                                           NULL, &work);
    echi_need_step(&need, work, sizeof(uint64_t), 0);
    if (need.status == ECH_OK && first)
        need.status = ech_select_workspace(device, ECH_SELECT_CALL_UNIQUE_BY_KEY, n_out, job.bytes,
                                           sizeof(uint64_t), NULL, &work);
    echi_need_step(&need, work, sizeof(uint64_t), 0);
    return echi_need_end(&need, bytes);
}

static ech_status prepare(struct job *job)
{
    struct echi_dist *d = &job->d;
    struct echi_layout layout = { .base = NULL };
    const size_t n_out = echi_dist_n_out(d);
    size_t bytes = 0;
    job->sort = sort_of(job->in, job->n, n_out, job->dtype, job->first);
    const bool positions = job->sort.positions;
    if (job->work_bytes) {
        const ech_status status =
            ech_dist_unique_workspace(ech_device_name(d->ctx), d->ranks, job->n, n_out, job->dtype,
                                      job->first != NULL, &bytes);
        if (status != ECH_OK) return echi_fail(d->ctx, status, "%s", ech_error(NULL));
        if (echi_dist_check_work(d->ctx, "a search for distinct elements", bytes,
                                 job->work_bytes) != ECH_OK)
            return ECH_ERR_MEMORY;
        echi_dist_lend(d, job->work, job->work_bytes);
    }
    ech_status status = lay_out(job, ech_device_name(d->ctx), &layout);
    if (status != ECH_OK) return echi_fail(d->ctx, status, "%s", ech_error(NULL));
    status = echi_dist_work(d, "distributed unique elements", layout.bytes, NULL, 0);
    if (status != ECH_OK) return status;
    layout = (struct echi_layout){ .base = d->work };
    status = lay_out(job, NULL, &layout);
    job->sort.keys_out = job->keys;
    job->sort.values_out = positions ? job->positions : NULL;
    return status;
}

/* The runs of this rank. */
static ech_status find_runs(struct job *job, struct ends *ends, uint64_t *last_length)
{
    ech_ctx *ctx = job->d.ctx;
    const size_t n = job->sort.n_out;
    const struct echi_order order = echi_order_ascending(job->dtype, true);
    uint64_t runs = 0, first = 0, last = 0;
    ech_status status;
    *ends = (struct ends){ .runs = 0 };
    if (n == 0) return ECH_OK;
    TRY(ech_rle_encode(ctx, job->keys, job->run_keys, job->lengths, &runs, n, job->dtype, NULL));
    if (job->first)
        TRY(ech_unique_by_key(ctx, job->keys, job->positions, job->run_keys, job->run_positions,
                              &runs, n, job->dtype, sizeof(uint64_t), NULL));
    TRY(ech_copy(ctx, &first, job->run_keys, job->bytes));
    TRY(ech_copy(ctx, &last, (char *)job->run_keys + (runs - 1) * job->bytes, job->bytes));
    TRY(ech_copy(ctx, &ends->first_length, job->lengths, sizeof *job->lengths));
    TRY(ech_copy(ctx, last_length, job->lengths + runs - 1, sizeof *job->lengths));
    ends->runs = runs;
    ends->first_key = echi_order_encode(&order, (int)job->bytes, first);
    ends->last_key = echi_order_encode(&order, (int)job->bytes, last);
done:
    return status;
}

/* Whether the first run of a rank continues that of the rank before it that has elements. */
static bool continues(const struct job *job, int rank)
{
    const struct ends *ends = job->ends;
    if (ends[rank].runs == 0) return false;
    for (int before = rank - 1; before >= 0; before--)
        if (ends[before].runs) return ends[before].last_key == ends[rank].first_key;
    return false;
}

/* The number of elements of the last run of this rank on later ranks. */
static uint64_t length_on_later_ranks(const struct job *job)
{
    uint64_t length = 0;
    for (int r = job->d.rank + 1; r < job->d.ranks; r++) {
        if (job->ends[r].runs == 0) continue;
        if (!continues(job, r)) break;
        length += job->ends[r].first_length;
        if (job->ends[r].runs > 1) break;
    }
    return length;
}

/* Adds the elements on later ranks to the last run of this rank. */
static ech_status complete_last(struct job *job, uint64_t last_length)
{
    const uint64_t runs = job->ends[job->d.rank].runs, more = length_on_later_ranks(job);
    if (runs == 0 || more == 0) return ECH_OK;
    last_length += more;
    return ech_copy(job->d.ctx, job->lengths + runs - 1, &last_length, sizeof last_length);
}

/* Where the results of each rank begin, and their shares: [ranks + 1] each. */
static ech_status plan_shares(struct job *job, uint64_t *from, uint64_t *shares)
{
    const struct echi_dist *d = &job->d;
    for (int r = 0; r < d->ranks; r++)
        from[r + 1] = from[r] + job->ends[r].runs - continues(job, r);
    echi_dist_even(from[d->ranks], d->ranks, shares);
    const ech_dist_layout layout = { .size = sizeof layout,
                                     .total = from[d->ranks],
                                     .first = from[d->rank],
                                     .n_out = shares[d->rank + 1] - shares[d->rank],
                                     .out_first = shares[d->rank] };
    echi_write_struct(&layout, sizeof layout, job->layout);
    if (layout.n_out <= job->capacity) return ECH_OK;
    return echi_fail(d->ctx, ECH_ERR_ARG,
                     "capacity is %zu, but this rank receives %llu distinct elements",
                     job->capacity, (unsigned long long)layout.n_out);
}

/* Moves the runs that begin on each rank to their shares. */
static ech_status move_runs(struct job *job, const uint64_t *from, const uint64_t *shares)
{
    const size_t skip = continues(job, job->d.rank);
    struct echi_dist *d = &job->d;
    ech_status status = echi_dist_move(d, echi_after(job->run_keys, skip * job->bytes), from,
                                       job->values, shares, job->bytes);
    const ech_status second =
        job->counts ? echi_dist_move(d, echi_after(job->lengths, skip * sizeof *job->lengths), from,
                                     job->counts, shares, sizeof *job->counts)
                    : ECH_OK;
    if (status == ECH_OK) status = second;
    const ech_status third =
        job->first
            ? echi_dist_move(d, echi_after(job->run_positions, skip * sizeof *job->run_positions),
                             from, job->first, shares, sizeof *job->first)
            : ECH_OK;
    return status == ECH_OK ? third : status;
}

static ech_status run(struct job *job)
{
    struct echi_dist *d = &job->d;
    const size_t ranks = (size_t)d->ranks;
    uint64_t last_length = 0, *from = calloc(2 * (ranks + 1), sizeof *from);
    struct ends ends = { .runs = 0 };
    ech_status status = prepare(job);
    job->ends = calloc(ranks, sizeof *job->ends);
    if (status == ECH_OK && (!from || !job->ends))
        status = echi_fail(d->ctx, ECH_ERR_MEMORY, "out of memory for %zu ranks", ranks);
    status = echi_dist_sort_run(d, &job->sort, status);
    if (status == ECH_OK) status = find_runs(job, &ends, &last_length);
    TRY(echi_comm_agree(d->ctx, d->comm, status, &ends, sizeof ends));
    for (size_t r = 0; r < ranks; r++)
        memcpy(&job->ends[r], d->comm->notes[r].note, sizeof *job->ends);
    status = complete_last(job, last_length);
    const ech_status planned = plan_shares(job, from, from + ranks + 1);
    TRY(echi_comm_agree(d->ctx, d->comm, status == ECH_OK ? planned : status, NULL, 0));
    status = move_runs(job, from, from + ranks + 1);
done:
    free(from);
    free(job->ends);
    return status;
}

ech_status ech_dist_unique(ech_ctx *ctx, ech_comm *comm, const void *in, void *values,
                           uint64_t *first, uint64_t *counts, size_t n, size_t capacity,
                           ech_dtype dtype, const ech_unique_options *given,
                           ech_dist_layout *layout)
{
    static const char *const names[] = { "dtype", "whether first is given",
                                         "whether counts is given", NULL };
    ech_unique_options options = { .size = sizeof options };
    struct job job = { .in = in,
                       .values = values,
                       .first = first,
                       .counts = counts,
                       .n = n,
                       .capacity = capacity,
                       .bytes = ech_dtype_bytes(dtype),
                       .dtype = dtype,
                       .layout = layout };
    ech_status status = echi_read_options(ctx, "ech_unique_options", given, &options,
                                          sizeof options, offsetof(ech_unique_options, work));
    if (status == ECH_OK) status = check(ctx, &job, &options);
    job.work = options.work;
    job.work_bytes = options.work_bytes;
    struct echi_comm_call call = {
        .name = "ech_dist_unique",
        .option = { (uint64_t)dtype, first != NULL, counts != NULL },
        .n = n,
        .n_out = ECH_DIST_EVEN /* the sorted elements are shared evenly */
    };
    status = echi_dist_begin(&job.d, ctx, comm, &call, names, status, true);
    if (status != ECH_OK) return status;
    return echi_dist_end(&job.d, run(&job));
}
