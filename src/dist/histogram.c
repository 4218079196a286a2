/*
 * dist/histogram.c - ech_dist_histogram(), ech_dist_histogram_edges() and ech_dist_bincount(): each
 * rank counts its elements, and the counters of all ranks are added.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dist/dist.h"
#include "core/call.h"
#include "echelon/dist.h"

#include <stdlib.h>
#include <string.h>

enum kind { EQUAL_BINS, EDGES, INTEGERS };

struct job {
    struct echi_dist d;
    enum kind kind;
    const void *in, *edges;
    void *counts;
    size_t n, bins, cells; /* cells: counters in all */
    ech_dtype dtype;
    double lower, upper;
    ech_histogram_options options;
};

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static ech_status count_cells(ech_ctx *ctx, struct job *job)
{
    const size_t channels = job->options.channels > 1 ? (size_t)job->options.channels : 1;
    const size_t more = job->options.outside == ECH_OUTSIDE_COUNT ? 3 : 0;
    size_t bins;
    if (__builtin_add_overflow(job->bins, more, &bins) ||
        __builtin_mul_overflow(bins, channels, &job->cells) || job->cells > PTRDIFF_MAX / 16)
        return echi_fail(ctx, ECH_ERR_ARG, "bins is %zu: the size of counts overflows size_t",
                         job->bins);
    return ECH_OK;
}

ech_status ech_dist_histogram_workspace(const char *device, size_t n, ech_dtype dtype, size_t bins,
                                        const ech_histogram_options *options, size_t *bytes)
{
    READ_OPTIONS(NULL, ech_histogram_options, options);
    struct echi_need need = echi_need_begin(device, 1, bytes);
    struct job job = { .bins = bins, .options = *options };
    size_t work = 0, all = 0;
    if (need.status == ECH_OK) need.status = count_cells(NULL, &job);
    if (need.status == ECH_OK) {
        all = options->channels > 1 ? echi_need_product(bins, (size_t)options->channels) : bins;
        need.status = ech_histogram_workspace(device, n, dtype, all, options, &work);
    }
    echi_need_step(&need, work, echi_need_product(job.cells, 8),
                   bins < SIZE_MAX ? echi_need_product(bins + 1, 8) : SIZE_MAX);
    return echi_need_end(&need, bytes);
}

static ech_status check(ech_ctx *ctx, struct job *job)
{
    size_t bytes = 0;
    const ech_histogram_options *o = &job->options;
    ech_status status;
    TRY(echi_check_dtype(ctx, "dtype", job->dtype));
    if (job->bins == 0) FAIL(ctx, ECH_ERR_ARG, "bins is 0");
    if (o->channels < 0) FAIL(ctx, ECH_ERR_ARG, "options->channels is %d", o->channels);
    if (o->accumulate != 0 && o->accumulate != 1)
        FAIL(ctx, ECH_ERR_ARG, "options->accumulate is %d, not 0 or 1", o->accumulate);
    if (o->work_bytes) {
        TRY(ech_dist_histogram_workspace(ech_device_name(ctx), job->n, job->dtype, job->bins, o,
                                         &bytes));
        TRY(echi_dist_check_work(ctx, "a distributed histogram", bytes, o->work_bytes));
    }
    if (!job->counts) FAIL(ctx, ECH_ERR_ARG, "counts is NULL");
    if (o->weights && echi_dtype_known(o->weights_dtype) && echi_dtype_is_float(o->weights_dtype))
        FAIL(ctx, ECH_ERR_UNSUPPORTED,
             "options->weights_dtype is %s: distributed histograms have weights of integers only",
             ech_dtype_name(o->weights_dtype));
    TRY(count_cells(ctx, job));
done:
    return status;
}

/* Sets *hash to a number that is nearly always different if the edges are. */
static ech_status hash_edges(ech_ctx *ctx, const struct job *job, uint64_t *hash)
{
    const size_t bytes = (job->bins + 1) * ech_dtype_bytes(job->dtype);
    ech_status status;
    unsigned char *edges = malloc(bytes);
    if (!edges) FAIL(ctx, ECH_ERR_MEMORY, "out of memory: %zu edges", job->bins + 1);
    if (!job->edges) FAIL(ctx, ECH_ERR_ARG, "edges is NULL");
    TRY(ech_copy(ctx, edges, job->edges, bytes));
    for (size_t i = 0; i < bytes; i++) *hash = (*hash ^ edges[i]) * 0x100000001B3u; /* FNV-1a */
done:
    free(edges);
    return status;
}

static ech_status count(struct job *job, uint64_t *counts)
{
    ech_ctx *ctx = job->d.ctx;
    ech_histogram_options local = job->options;
    local.accumulate = 0;
    local.work = NULL;
    local.work_bytes = 0;
    switch (job->kind) {
    case EQUAL_BINS:
        return ech_histogram(ctx, job->in, counts, job->n, job->dtype, job->bins, job->lower,
                             job->upper, &local);
    case EDGES:
        return ech_histogram_edges(ctx, job->in, job->edges, counts, job->n, job->dtype, job->bins,
                                   &local);
    default:
        return ech_bincount(ctx, job->in, counts, job->n, job->dtype, job->bins, &local);
    }
}

static ech_status run(struct job *job)
{
    ech_ctx *ctx = job->d.ctx;
    const size_t bytes = job->cells * sizeof(uint64_t);
    uint64_t *counts = malloc(bytes), *before = NULL;
    ech_status status = ECH_OK;
    if (!counts) status = echi_fail(ctx, ECH_ERR_MEMORY, "out of memory: %zu counters", job->cells);
    if (status == ECH_OK) status = count(job, counts);
    TRY(echi_comm_sum(ctx, job->d.comm, status, counts, job->cells));
    if (job->options.accumulate) {
        before = malloc(bytes);
        if (!before) FAIL(ctx, ECH_ERR_MEMORY, "out of memory: %zu counters", job->cells);
        TRY(ech_copy(ctx, before, job->counts, bytes));
        for (size_t i = 0; i < job->cells; i++) counts[i] += before[i];
    }
    TRY(ech_copy(ctx, job->counts, counts, bytes));
done:
    free(counts);
    free(before);
    return status;
}

static ech_status call(ech_ctx *ctx, ech_comm *comm, const char *name, struct job *job,
                       const ech_histogram_options *given)
{
    static const char *const names[] = { "dtype",
                                         "bins",
                                         "lower (as bits)",
                                         "upper (as bits)",
                                         "options->channels",
                                         "options->outside",
                                         "options->include_right",
                                         "whether options->weights is given",
                                         "options->weights_dtype",
                                         "options->accumulate",
                                         "edges (as a hash)",
                                         NULL };
    uint64_t hash = 0xCBF29CE484222325u;
    ech_status status =
        echi_read_options(ctx, "ech_histogram_options", given, &job->options, sizeof job->options,
                          offsetof(ech_histogram_options, work));
    const ech_histogram_options *o = &job->options;
    if (status == ECH_OK) status = check(ctx, job);
    if (status == ECH_OK && job->kind == EDGES) status = hash_edges(ctx, job, &hash);
    struct echi_comm_call call = {
        .option = { (uint64_t)job->dtype, job->bins, bits_of(job->lower), bits_of(job->upper),
                    (uint64_t)o->channels, (uint64_t)o->outside, (uint64_t)o->include_right,
                    o->weights != NULL, (uint64_t)o->weights_dtype, (uint64_t)o->accumulate, hash },
        .n = job->n
    };
    memcpy(call.name, name, strlen(name));
    status = echi_dist_begin(&job->d, ctx, comm, &call, names, status, false);
    if (status != ECH_OK) return status;
    echi_dist_lend(&job->d, o->work, o->work_bytes);
    return echi_dist_end(&job->d, run(job));
}

ech_status ech_dist_histogram(ech_ctx *ctx, ech_comm *comm, const void *in, void *counts, size_t n,
                              ech_dtype dtype, size_t bins, double lower, double upper,
                              const ech_histogram_options *options)
{
    struct job job = { .kind = EQUAL_BINS,
                       .in = in,
                       .counts = counts,
                       .n = n,
                       .bins = bins,
                       .dtype = dtype,
                       .lower = lower,
                       .upper = upper };
    return call(ctx, comm, "ech_dist_histogram", &job, options);
}

ech_status ech_dist_histogram_edges(ech_ctx *ctx, ech_comm *comm, const void *in, const void *edges,
                                    void *counts, size_t n, ech_dtype dtype, size_t bins,
                                    const ech_histogram_options *options)
{
    struct job job = { .kind = EDGES,
                       .in = in,
                       .edges = edges,
                       .counts = counts,
                       .n = n,
                       .bins = bins,
                       .dtype = dtype };
    return call(ctx, comm, "ech_dist_histogram_edges", &job, options);
}

ech_status ech_dist_bincount(ech_ctx *ctx, ech_comm *comm, const void *in, void *counts, size_t n,
                             ech_dtype dtype, size_t bins, const ech_histogram_options *options)
{
    struct job job = {
        .kind = INTEGERS, .in = in, .counts = counts, .n = n, .bins = bins, .dtype = dtype
    };
    return call(ctx, comm, "ech_dist_bincount", &job, options);
}
