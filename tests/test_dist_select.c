/*
 * test_dist_select.c - distributed histograms, top-k, unique elements and quantiles return the bits
 * that one device returns for the concatenation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dist_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ech_ctx *one; /* the device whose results are expected */
static const char *device;

static const void *part_of_input(struct dist_rank *r, const struct dist_task *t)
{
    return dist_array(r, t->in + t->first[r->rank] * t->bytes, dist_part(t->first, r) * t->bytes);
}

/* Begins a case with random sizes; false if it is not run. */
static bool begin(const char *what, ech_dtype dtype, enum dist_data data, int ranks,
                  struct rng *rng, struct dist_task *t)
{
    *rng = dist_seed(what, dtype, (int)data, ranks);
    const enum dist_division division = (enum dist_division)rng_below(rng, DIST_DIVISIONS);
    const size_t total = (size_t)rng_below(rng, rng_below(rng, 4) ? 3000 : 12);
    if (!dist_drawn(what, ranks, total, total < 1000)) return false;
    if (!test_begin("%s(%s,n=%zu,%s,ranks=%d,division=%s) on %s", what, ech_dtype_name(dtype),
                    total, dist_data_names[data], ranks, dist_division_names[division], device))
        return false;
    *t = dist_task_make(dtype, total, data, ranks, division, rng);
    return true;
}

static void end(struct dist_task *t)
{
    dist_task_free(t);
    test_end();
}

/* ---- Histograms ---- */

enum { PREVIOUS = 1000 }; /* contents of counters before a call that accumulates */

enum histogram { EQUAL_BINS, EDGES, INTEGERS, HISTOGRAMS };

static ech_status histogram(ech_ctx *ctx, ech_comm *comm, const struct dist_task *t, const void *in,
                            uint64_t *counts, size_t n, const ech_histogram_options *options)
{
    const double upper = t->dtype < ECH_F16 ? 90 : 6.5;
    if (t->argsort) /* of integers */
        return comm ? ech_dist_bincount(ctx, comm, in, counts, n, t->dtype, t->k, options)
                    : ech_bincount(ctx, in, counts, n, t->dtype, t->k, options);
    if (t->q) { /* with edges of dtype */
        return comm ? ech_dist_histogram_edges(ctx, comm, in, t->q, counts, n, t->dtype, t->k,
                                               options)
                    : ech_histogram_edges(ctx, in, t->q, counts, n, t->dtype, t->k, options);
    }
    return comm ? ech_dist_histogram(ctx, comm, in, counts, n, t->dtype, t->k, -1, upper, options)
                : ech_histogram(ctx, in, counts, n, t->dtype, t->k, -1, upper, options);
}

static ech_status run_histogram(struct dist_rank *r)
{
    const struct dist_task *t = r->task;
    const size_t n = dist_part(t->first, r);
    ech_histogram_options options = t->histogram;
    uint64_t *before = dist_allocate(t->result_bytes);
    for (size_t i = 0; i < t->result_bytes / 8; i++) before[i] = PREVIOUS;
    uint64_t *counts = dist_array(r, before, t->result_bytes);
    free(before);
    if (options.weights) options.weights = dist_array(r, t->values + t->first[r->rank] * 4, n * 4);
    const void *in = part_of_input(r, t);
    size_t bytes = 0;
    ech_status status =
        ech_dist_histogram_workspace(ech_device_name(r->ctx), n, t->dtype, t->k, &options, &bytes);
    if (status != ECH_OK) return status;
    dist_work_begin(r, bytes, &options.work, &options.work_bytes);
    status = histogram(r->ctx, r->comm, t, in, counts, n, &options);
    dist_work_end(r);
    if (status == ECH_OK) dist_expect(r, "counts", counts, t->more, t->result_bytes);
    return status;
}

static void histogram_case(ech_dtype dtype, enum histogram kind, enum dist_data data, int ranks)
{
    static const char *const kinds[] = { "histogram", "histogram_edges", "bincount" };
    static const int32_t edges[] = { 1, 4, 30, 31, 99 };
    struct rng rng;
    struct dist_task t;
    if (kind == EDGES && dtype != ECH_I32 && dtype != ECH_U32) return;
    if (kind == INTEGERS && dtype >= ECH_F16) return;
    if (!begin(kinds[kind], dtype, data, ranks, &rng, &t)) return;
    t.k = rng_below(&rng, 8) ? 1 + (size_t)rng_below(&rng, 300) : 30000;
    t.argsort = kind == INTEGERS;
    t.histogram = (ech_histogram_options){ .size = sizeof t.histogram,
                                           .outside = (ech_outside)rng_below(&rng, 3),
                                           .accumulate = (int)rng_below(&rng, 2) };
    if (kind == EDGES) {
        t.q = dist_allocate(sizeof edges);
        memcpy(t.q, edges, sizeof edges);
        t.k = 4;
    }
    t.values = dist_allocate(t.total * 4);
    dist_fill(t.values, t.total, ECH_I32, DIST_BITS, &rng);
    if (rng_below(&rng, 3) == 0) {
        t.histogram.weights = t.values;
        t.histogram.weights_dtype = ECH_I32;
    }
    t.result_bytes = 8 * (t.k + (t.histogram.outside == ECH_OUTSIDE_COUNT ? 3 : 0));
    t.more = dist_allocate(t.result_bytes);
    for (size_t i = 0; i < t.result_bytes / 8; i++) t.more[i] = PREVIOUS;
    if (CHECK_STATUS(histogram(one, NULL, &t, t.in, t.more, t.total, &t.histogram), ECH_OK))
        dist_run(ranks, 0, run_histogram, &t, ECH_OK, NULL);
    end(&t);
}

/* ---- Top-k ---- */

static ech_status run_topk(struct dist_rank *r)
{
    const struct dist_task *t = r->task;
    const size_t index_bytes = ech_dtype_bytes(t->index_dtype);
    void *values = t->out ? dist_array(r, NULL, t->k * t->bytes) : NULL;
    void *indices = t->out_values ? dist_array(r, NULL, t->k * index_bytes) : NULL;
    const size_t n = dist_part(t->first, r);
    const void *in = part_of_input(r, t);
    ech_topk_options options = t->topk;
    size_t bytes = 0;
    ech_status status = ech_dist_topk_workspace(ech_device_name(r->ctx), r->ranks, n, t->k,
                                                t->dtype, &options, &bytes);
    if (status != ECH_OK) return status;
    dist_work_begin(r, bytes, &options.work, &options.work_bytes);
    status = ech_dist_topk(r->ctx, r->comm, in, values, indices, n, t->k, t->dtype, t->index_dtype,
                           &options);
    dist_work_end(r);
    if (status != ECH_OK) return status;
    if (values) dist_expect(r, "values", values, t->out, t->k * t->bytes);
    if (indices) dist_expect(r, "indices", indices, t->out_values, t->k * index_bytes);
    return ECH_OK;
}

static void topk_case(ech_dtype dtype, enum dist_data data, int ranks)
{
    static const ech_dtype index_dtypes[] = { ECH_I32, ECH_U32, ECH_I64, ECH_U64 };
    struct rng rng;
    struct dist_task t;
    if (!begin("topk", dtype, data, ranks, &rng, &t)) return;
    const uint64_t outputs = rng_below(&rng, 3);
    t.k = (size_t)rng_below(&rng, (rng_below(&rng, 2) ? t.total : t.total / 20) + 1);
    t.index_dtype = index_dtypes[rng_below(&rng, 4)];
    t.topk = (ech_topk_options){ .size = sizeof t.topk,
                                 .smallest = (int)rng_below(&rng, 2),
                                 .unsorted = (int)rng_below(&rng, 2),
                                 .order = (ech_order)rng_below(&rng, 2) };
    if (outputs != 1) t.out = dist_allocate(t.k * t.bytes);
    if (outputs != 2) t.out_values = dist_allocate(t.k * 8);
    if (CHECK_STATUS(
            ech_topk(one, t.in, t.out, t.out_values, t.total, t.k, dtype, t.index_dtype, &t.topk),
            ECH_OK))
        dist_run(ranks, 0, run_topk, &t, ECH_OK, NULL);
    end(&t);
}

/* ---- Unique ---- */

static ech_status run_unique(struct dist_rank *r)
{
    const struct dist_task *t = r->task;
    const size_t n = dist_part(t->first, r);
    const size_t share = (size_t)ech_dist_even_share(t->k, r->rank, r->ranks);
    const size_t capacity =
        t->even ? share : (size_t)ech_dist_even_share(t->total, r->rank, r->ranks);
    ech_dist_layout layout = { .size = sizeof layout };
    void *values = dist_array(r, NULL, capacity * t->bytes);
    uint64_t *first = t->argsort ? dist_array(r, NULL, capacity * 8) : NULL;
    uint64_t *counts = dist_array(r, NULL, capacity * 8);
    const void *in = part_of_input(r, t);
    ech_unique_options options = { .size = sizeof options };
    size_t bytes = 0;
    ech_status status = ech_dist_unique_workspace(
        ech_device_name(r->ctx), r->ranks, n,
        (size_t)ech_dist_even_share(t->total, r->rank, r->ranks), t->dtype, t->argsort, &bytes);
    if (status != ECH_OK) return status;
    dist_work_begin(r, bytes, &options.work, &options.work_bytes);
    status = ech_dist_unique(r->ctx, r->comm, in, values, first, counts, n, capacity, t->dtype,
                             &options, &layout);
    dist_work_end(r);
    if (status != ECH_OK) return status;
    if (layout.total != t->k || layout.n_out != share) {
        snprintf(r->problem, sizeof r->problem, "%llu distinct elements, not %zu",
                 (unsigned long long)layout.total, t->k);
        return ECH_OK;
    }
    dist_expect(r, "values", values, t->out + layout.out_first * t->bytes, share * t->bytes);
    dist_expect(r, "counts", counts, t->more + layout.out_first, share * 8);
    if (first)
        dist_expect(r, "first", first, (uint64_t *)(void *)t->out_values + layout.out_first,
                    share * 8);
    return ECH_OK;
}

static void unique_case(ech_dtype dtype, enum dist_data data, int ranks)
{
    struct rng rng;
    struct dist_task t;
    uint64_t count = 0;
    if (!begin("unique", dtype, data, ranks, &rng, &t)) return;
    t.argsort = rng_below(&rng, 2);
    t.out = dist_allocate(t.total * t.bytes);
    t.out_values = dist_allocate(t.total * 8);
    t.more = dist_allocate(t.total * 8);
    if (CHECK_STATUS(ech_unique_all(one, t.in, t.out, t.out_values, NULL, t.more, &count, t.total,
                                    dtype, ECH_U64, NULL),
                     ECH_OK)) {
        t.k = (size_t)count;
        dist_run(ranks, 0, run_unique, &t, ECH_OK, NULL);
    }
    end(&t);
}

/* ---- Quantiles ---- */

static ech_status run_quantiles(struct dist_rank *r)
{
    const struct dist_task *t = r->task;
    void *out = dist_array(r, NULL, t->result_bytes);
    const size_t n = dist_part(t->first, r);
    const void *in = part_of_input(r, t);
    ech_quantile_options options = t->quantile;
    size_t bytes = 0;
    ech_status status =
        ech_dist_quantiles_workspace(ech_device_name(r->ctx), n, t->k, t->dtype, &options, &bytes);
    if (status != ECH_OK) return status;
    dist_work_begin(r, bytes, &options.work, &options.work_bytes);
    status =
        ech_dist_quantiles(r->ctx, r->comm, in, out, t->q, n, t->k, t->dtype, t->method, &options);
    dist_work_end(r);
    if (status == ECH_OK) dist_expect(r, "quantiles", out, t->out, t->result_bytes);
    return status;
}

static void quantile_case(ech_dtype dtype, enum dist_data data, int ranks)
{
    struct rng rng;
    struct dist_task t;
    if (!begin("quantiles", dtype, data, ranks, &rng, &t)) return;
    t.method = (ech_quantile_method)rng_below(&rng, ECH_QUANTILE_NEAREST + 1);
    t.k = (size_t)rng_below(&rng, rng_below(&rng, 4) ? 8 : 100);
    t.q = dist_allocate(t.k * sizeof *t.q);
    for (size_t i = 0; i < t.k; i++) t.q[i] = (double)rng_below(&rng, 101) / 100;
    t.quantile = (ech_quantile_options){ .size = sizeof t.quantile,
                                         .nan = (ech_nan)(rng_below(&rng, 4) != 0) };
    t.result_bytes = t.k * ech_dtype_bytes((ech_dtype)ech_quantile_dtype(t.method, dtype));
    t.out = dist_allocate(t.result_bytes);
    const ech_status wanted =
        ech_quantiles(one, t.in, t.out, t.q, t.total, t.k, dtype, t.method, &t.quantile);
    dist_run(ranks, 0, run_quantiles, &t, wanted, NULL);
    end(&t);
}

/* ---- A workspace that is too small on one rank ---- */

enum { SMALL = 2 }; /* the rank */

static ech_status run_small(struct dist_rank *r)
{
    const struct dist_task *t = r->task;
    const size_t n = dist_part(t->first, r);
    const void *in = part_of_input(r, t);
    void *out = dist_array(r, NULL, 8 * t->k);
    const double q[2] = { 0.25, 0.5 };
    ech_dist_layout layout = { .size = sizeof layout };
    ech_reduce_options reduce = { .size = sizeof reduce };
    ech_topk_options topk = { .size = sizeof topk };
    ech_unique_options unique = { .size = sizeof unique };
    ech_quantile_options quantile = { .size = sizeof quantile };
    void *work = dist_array(r, NULL, 256);
    if (r->rank == SMALL) {
        reduce.work = topk.work = unique.work = quantile.work = work;
        reduce.work_bytes = topk.work_bytes = unique.work_bytes = quantile.work_bytes = 256;
    }
    if (t->op == 0)
        return ech_dist_reduce(r->ctx, r->comm, ECH_OP_SUM, in, out, n, t->dtype, &reduce);
    if (t->op == 1)
        return ech_dist_topk(r->ctx, r->comm, in, out, NULL, n, t->k, t->dtype, ECH_U32, &topk);
    if (t->op == 2)
        return ech_dist_unique(r->ctx, r->comm, in, out, NULL, NULL, n, t->k, t->dtype, &unique,
                               &layout);
    return ech_dist_quantiles(r->ctx, r->comm, in, out, q, n, 2, t->dtype, ECH_QUANTILE_LINEAR,
                              &quantile);
}

static void small_case(int what)
{
    struct rng rng = dist_seed("small", ECH_F32, what, 3);
    if (!dist_can_run(3) || !test_begin("work(%d) on %s", what, device)) return;
    struct dist_task t = dist_task_make(ECH_F32, 2000, DIST_NUMBERS, 3, DIST_EVEN, &rng);
    t.op = (ech_op)what;
    t.k = 2000;
    dist_run(3, 0, run_small, &t, ECH_ERR_MEMORY, "rank 2: options->work_bytes is 256");
    end(&t);
}

/* ---- All cases ---- */

static void cases(int ranks)
{
    for (int dtype = 0; dtype <= ECH_F64; dtype++)
        for (int data = 0; data < DIST_DATA; data++) {
            for (int kind = 0; data >= DIST_SKEWED && kind < HISTOGRAMS; kind++)
                histogram_case((ech_dtype)dtype, (enum histogram)kind, (enum dist_data)data, ranks);
            topk_case((ech_dtype)dtype, (enum dist_data)data, ranks);
            unique_case((ech_dtype)dtype, (enum dist_data)data, ranks);
            quantile_case((ech_dtype)dtype, (enum dist_data)data, ranks);
        }
}

int main(int argc, char **argv)
{
    static const char *const operations[] = { "histogram", "histogram_edges", "bincount", "topk",
                                              "unique",    "quantiles",       NULL };
    test_main(argc, argv);
    device = dist_open();
    if (ech_open(&one, device) != ECH_OK) return 1;
    dist_cases(cases, operations);
    for (int what = 0; what < 4; what++) small_case(what);
    ech_close(one);
    dist_close();
    return test_finish();
}
