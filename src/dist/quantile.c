/*
 * dist/quantile.c - ech_dist_quantiles(): each rank sorts its part; the elements between which the
 * quantiles are come from the search for splitters (split.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dist/dist.h"
#include "core/call.h"
#include "echelon/dist.h"
#include "echelon/search.h"
#include "quantile/method.h"
#include "reduce/value.h"

#include <stdlib.h>
#include <string.h>

struct job {
    struct echi_dist d;
    const void *in;
    void *out;
    const double *q;
    size_t n, n_q;
    ech_dtype dtype, out_dtype;
    ech_quantile_method method;
    ech_quantile_options options;
    void *keys, *inner; /* parts of the workspace */
    size_t inner_bytes;
};

/* The sizes of the parts that prepare() makes. */
static ech_status plan_inner(const char *device, size_t n, ech_dtype dtype, size_t *bytes)
{
    size_t search = 0;
    ech_status status = ech_sort_workspace(device, n, dtype, 0, NULL, bytes);
    if (status == ECH_OK)
        status = ech_search_workspace(device, ECH_SEARCH_CALL_LOWER, n, ECHI_SPLIT_NEEDLES, dtype,
                                      NULL, &search);
    if (search > *bytes) *bytes = search;
    return status;
}

ech_status ech_dist_quantiles_workspace(const char *device, size_t n, size_t n_q, ech_dtype dtype,
                                        const ech_quantile_options *options, size_t *bytes)
{
    READ_OPTIONS(NULL, ech_quantile_options, options);
    const ech_reduce_options count = { .size = sizeof count, .compare = ECH_COMPARE_IS_NAN };
    struct echi_need need = echi_need_begin(device, 1, bytes);
    struct echi_layout layout = { .base = NULL };
    const size_t needles = n_q < ECHI_SPLIT_NEEDLES / 512 ? n_q * 512 : ECHI_SPLIT_NEEDLES;
    size_t inner = 0, work = 0;
    if (need.status == ECH_OK) need.status = echi_check_dtype(NULL, "dtype", dtype);
    if (need.status == ECH_OK) need.status = plan_inner(device, n, dtype, &inner);
    if (need.status != ECH_OK) return need.status;
    echi_part(&layout, n, ech_dtype_bytes(dtype));
    echi_part(&layout, inner, 1);
    echi_part(&need.kept, layout.overflow ? SIZE_MAX : layout.bytes, 1);
    if (echi_dtype_is_float(dtype))
        need.status = ech_reduce_workspace(device, ECH_REDUCE_CALL_ROWS, ECH_OP_COUNT, n, 0, dtype,
                                           &count, &work);
    echi_need_step(&need, work, 8, 0);
    echi_need_step(&need, 0, echi_need_product(n_q, 8), echi_need_product(n_q, 8));
    echi_need_step(&need, 0, needles * ech_dtype_bytes(dtype), needles * sizeof(uint64_t));
    return echi_need_end(&need, bytes);
}

static ech_status check(ech_ctx *ctx, struct job *job)
{
    size_t bytes = 0;
    ech_status status;
    TRY(echi_check_dtype(ctx, "dtype", job->dtype));
    TRY(echi_check_count(ctx, "n", job->n, ech_dtype_bytes(job->dtype)));
    TRY(echi_check_count(ctx, "n_q", job->n_q, 64));
    const int out_dtype = ech_quantile_dtype(job->method, job->dtype);
    if (out_dtype < 0)
        FAIL(ctx, ECH_ERR_ARG, "method is %d, not an ech_quantile_method", (int)job->method);
    job->out_dtype = (ech_dtype)out_dtype;
    if (job->options.nan != ECH_NAN_PROPAGATE && job->options.nan != ECH_NAN_IGNORE)
        FAIL(ctx, ECH_ERR_ARG, "options->nan is %d, not an ech_nan", (int)job->options.nan);
    if (job->options.algorithm)
        FAIL(ctx, ECH_ERR_UNSUPPORTED, "options->algorithm is given; this call has only one");
    if (job->options.work_bytes) {
        TRY(ech_dist_quantiles_workspace(ech_device_name(ctx), job->n, job->n_q, job->dtype,
                                         &job->options, &bytes));
        TRY(echi_dist_check_work(ctx, "distributed quantiles", bytes, job->options.work_bytes));
    }
    if (job->n && !job->in) FAIL(ctx, ECH_ERR_ARG, "in is NULL");
    if (job->n_q && (!job->q || !job->out))
        FAIL(ctx, ECH_ERR_ARG, "%s is NULL", job->q ? "out" : "q");
    for (size_t i = 0; i < job->n_q; i++)
        if (!(job->q[i] >= 0 && job->q[i] <= 1))
            FAIL(ctx, ECH_ERR_ARG, "q[%zu] is %g, not from 0 to 1", i, job->q[i]);
done:
    return status;
}

/* A number that differs if q does. */
static uint64_t hash_of(const double *q, size_t n)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < n; i++) {
        hash ^= quantile_bits_of_f64(q[i]);
        hash = (hash ^ hash >> 31) * 0x9e3779b97f4a7c15u;
    }
    return hash;
}

static ech_status prepare(struct job *job)
{
    ech_ctx *ctx = job->d.ctx;
    const char *device = ech_device_name(ctx);
    struct echi_layout layout = { .base = NULL };
    ech_status status = plan_inner(device, job->n, job->dtype, &job->inner_bytes);
    if (status != ECH_OK) return echi_fail(ctx, status, "%s", ech_error(NULL));
    for (int pass = 0; pass < 2; pass++) {
        job->keys = echi_part(&layout, job->n, ech_dtype_bytes(job->dtype));
        job->inner = echi_part(&layout, job->inner_bytes, 1);
        if (job->inner_bytes == 0) job->inner = NULL;
        if (pass == 1) break;
        status = echi_dist_work(&job->d, "distributed quantiles", layout.bytes, NULL, 0);
        if (status != ECH_OK) return status;
        layout = (struct echi_layout){ .base = job->d.work };
    }
    return ECH_OK;
}

/* Sorts the part of this rank, and counts its NaN. */
static ech_status sort_part(struct job *job, uint64_t *nans)
{
    const ech_sort_options sort = { .size = sizeof sort,
                                    .work = job->inner,
                                    .work_bytes = job->inner_bytes };
    const ech_reduce_options count = { .size = sizeof count, .compare = ECH_COMPARE_IS_NAN };
    ech_status status = ech_sort(job->d.ctx, job->in, job->keys, job->n, job->dtype, &sort);
    if (status == ECH_OK && echi_dtype_is_float(job->dtype))
        status = ech_reduce(job->d.ctx, ECH_OP_COUNT, job->keys, nans, job->n, job->dtype, &count);
    return status;
}

static int kind_of(ech_dtype dtype)
{
    if (dtype == ECH_BF16) return QUANTILE_BF16;
    if (echi_dtype_is_float(dtype)) return QUANTILE_FLOAT;
    return echi_dtype_is_signed(dtype) ? QUANTILE_SIGNED : QUANTILE_UNSIGNED;
}

/* The bits of a quantile between the elements with two encoded keys. */
static uint64_t quantile_bits(const struct job *job, const struct echi_order *order, uint64_t low,
                              uint64_t high, double weight)
{
    const int bytes = (int)ech_dtype_bytes(job->dtype), kind = kind_of(job->dtype);
    const uint64_t nan = order->float_mask ? echi_dtype_nan(job->dtype) : 0;
    const uint64_t a = quantile_bits_of_key(order, bytes, nan, low);
    if (ech_quantile_dtype(job->method, ECH_U8) != ECH_F64) return a;
    const uint64_t b = weight == 0 ? a : quantile_bits_of_key(order, bytes, nan, high);
    return quantile_bits_of_f64(
        quantile_between(quantile_number(kind, bytes, a), quantile_number(kind, bytes, b), weight));
}

/* Writes the quantiles of n elements to results in host memory. */
static ech_status find(struct job *job, ech_status status, uint64_t n, char *results)
{
    struct echi_dist *d = &job->d;
    const struct echi_sorted sorted = { .keys = job->keys,
                                        .n = job->n,
                                        .dtype = job->dtype,
                                        .order = ECH_ORDER_NAN_LAST,
                                        .work = job->inner,
                                        .work_bytes = job->inner_bytes };
    const struct echi_order order = echi_sorted_order(&sorted);
    const uint32_t bytes = (uint32_t)ech_dtype_bytes(job->out_dtype);
    uint64_t *positions = calloc(4 * job->n_q + 1, sizeof *positions);
    uint64_t *keys = positions ? positions + 2 * job->n_q : NULL;
    if (status == ECH_OK && !positions)
        status = echi_fail(d->ctx, ECH_ERR_MEMORY, "out of memory: %zu quantiles", job->n_q);
    TRY(echi_comm_agree(d->ctx, d->comm, status, NULL, 0));
    for (size_t i = 0; i < job->n_q; i++) {
        const struct quantile_place at = quantile_place_of((int)job->method, job->q[i], n);
        positions[2 * i] = at.rank;
        positions[2 * i + 1] = at.next;
    }
    TRY(echi_dist_split(d, ECH_OK, &sorted, positions, 2 * job->n_q, NULL, keys));
    for (size_t i = 0; i < job->n_q; i++) {
        const struct quantile_place at = quantile_place_of((int)job->method, job->q[i], n);
        result_store(results, i, bytes,
                     quantile_bits(job, &order, keys[2 * i], keys[2 * i + 1], at.weight));
    }
done:
    free(positions);
    return status;
}

static ech_status run(struct job *job)
{
    struct echi_dist *d = &job->d;
    const uint32_t bytes = (uint32_t)ech_dtype_bytes(job->out_dtype);
    uint64_t nans = 0;
    char *results = malloc(job->n_q * bytes + 1);
    ech_status status = prepare(job);
    if (status == ECH_OK && !results)
        status = echi_fail(d->ctx, ECH_ERR_MEMORY, "out of memory: %zu quantiles", job->n_q);
    if (status == ECH_OK) status = sort_part(job, &nans);
    TRY(echi_comm_sum(d->ctx, d->comm, status, &nans, 1));
    if (d->total == nans || (nans && job->options.nan == ECH_NAN_PROPAGATE))
        for (size_t i = 0; i < job->n_q; i++)
            result_store(results, i, bytes, echi_dtype_nan(job->out_dtype));
    else
        TRY(find(job, ECH_OK, d->total - nans, results));
    if (job->n_q) TRY(ech_copy(d->ctx, job->out, results, job->n_q * bytes));
done:
    free(results);
    return status;
}

ech_status ech_dist_quantiles(ech_ctx *ctx, ech_comm *comm, const void *in, void *out,
                              const double *q, size_t n, size_t n_q, ech_dtype dtype,
                              ech_quantile_method method, const ech_quantile_options *given)
{
    static const char *const names[] = { "n_q",          "dtype",         "method",
                                         "options->nan", "q (as a hash)", NULL };
    struct job job = {
        .in = in, .out = out, .q = q, .n = n, .n_q = n_q, .dtype = dtype, .method = method
    };
    ech_status status = echi_read_options(ctx, "ech_quantile_options", given, &job.options,
                                          sizeof job.options, offsetof(ech_quantile_options, work));
    if (status == ECH_OK) status = check(ctx, &job);
    struct echi_comm_call call = { .name = "ech_dist_quantiles",
                                   .option = { n_q, (uint64_t)dtype, (uint64_t)method,
                                               (uint64_t)job.options.nan,
                                               status == ECH_OK ? hash_of(q, n_q) : 0 },
                                   .n = n };
    status = echi_dist_begin(&job.d, ctx, comm, &call, names, status, false);
    if (status != ECH_OK) return status;
    echi_dist_lend(&job.d, job.options.work, job.options.work_bytes);
    job.options.work = NULL;
    job.options.work_bytes = 0;
    if (job.d.total == 0) /* as without ranks */
        status = ech_quantiles(ctx, NULL, out, q, 0, n_q, dtype, method, &job.options);
    else
        status = run(&job);
    return echi_dist_end(&job.d, status);
}
