/*
 * test_dist.c - distributed operations return the bits that one device returns for the
 * concatenation, for 1 to 16 ranks and every division of the array.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dist_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ech_ctx *one; /* the device whose results are expected */
static const char *device;

/* ---- Sorts ---- */

static ech_status run_sort(struct dist_rank *r)
{
    const struct dist_task *t = r->task;
    const size_t n = dist_part(t->first, r), n_out = dist_part(t->out_first, r), v = t->value_bytes;
    const size_t asked = t->even ? ECH_DIST_EVEN : n_out;
    const uint64_t from = t->first[r->rank], out_from = t->out_first[r->rank];
    const bool host = t->hosts >> r->rank & 1;
    r->host = host;
    const void *in = dist_array(r, t->in + from * t->bytes, n * t->bytes);
    void *out = dist_array(r, NULL, n_out * t->bytes), *values_out = NULL;
    const void *values = v && !t->argsort ? dist_array(r, t->values + from * v, n * v) : NULL;
    ech_sort_options options = t->sort;
    size_t work_bytes = 0;
    ech_status status = ech_dist_sort_workspace(ech_device_name(r->ctx), r->ranks, n, n_out,
                                                t->dtype, v, t->argsort, &options, &work_bytes);
    if (status != ECH_OK) return status;
    if (t->k) { /* the workspace of the caller */
        r->host = false;
        options.work = dist_array(r, NULL, work_bytes);
        options.work_bytes = options.work ? work_bytes : 0;
        r->host = host;
    }
    if (v) values_out = dist_array(r, NULL, n_out * v);
    uint64_t held, peak;
    ech_memory_usage(r->ctx, 1, &held, NULL);
    if (t->argsort)
        status = ech_dist_argsort(r->ctx, r->comm, in, values_out, n, asked, t->dtype,
                                  t->index_dtype, &options);
    else if (v)
        status = ech_dist_sort_pairs(r->ctx, r->comm, in, values, out, values_out, n, asked,
                                     t->dtype, v, &options);
    else
        status = ech_dist_sort(r->ctx, r->comm, in, out, n, asked, t->dtype, &options);
    if (status != ECH_OK) return status;
    ech_memory_usage(r->ctx, 0, NULL, &peak);
    if (!host && peak - held > (t->k && work_bytes ? 0 : work_bytes))
        snprintf(r->problem, sizeof r->problem, "holds %llu bytes, but the query returns %zu",
                 (unsigned long long)(peak - held), work_bytes);
    if (!t->argsort) dist_expect(r, "keys", out, t->out + out_from * t->bytes, n_out * t->bytes);
    if (v) dist_expect(r, "values", values_out, t->out_values + out_from * v, n_out * v);
    return ECH_OK;
}

static ech_status expect_sorted(struct dist_task *t)
{
    ech_sort_options options = t->sort;
    options.algorithm = NULL; /* which is a method of distributed sorts */
    t->out = dist_allocate(t->total * t->bytes);
    t->out_values = dist_allocate(t->total * t->value_bytes);
    if (t->argsort)
        return ech_argsort(one, t->in, t->out_values, t->total, t->dtype, t->index_dtype, &options);
    if (!t->value_bytes) return ech_sort(one, t->in, t->out, t->total, t->dtype, &options);
    return ech_sort_pairs(one, t->in, t->values, t->out, t->out_values, t->total, t->dtype,
                          t->value_bytes, &options);
}

static void sort_case(ech_dtype dtype, enum dist_data data, int ranks, int kind)
{
    static const char *const kinds[] = { "sort", "sort_pairs", "argsort" };
    static const ech_dtype index_dtypes[] = { ECH_I32, ECH_U32, ECH_I64, ECH_U64 };
    struct rng rng = dist_seed(kinds[kind], dtype, (int)data, ranks);
    const enum dist_division division = (enum dist_division)rng_below(&rng, DIST_DIVISIONS);
    const size_t total = (size_t)rng_below(&rng, rng_below(&rng, 4) ? 3000 : 20);
    const int descending = (int)rng_below(&rng, 2);
    const ech_order order = (ech_order)(rng_below(&rng, 3) == 0);
    static const char *const methods[] = { NULL, "runs", "partition", "gather" };
    const char *method = methods[rng_below(&rng, 4)];
    if (!dist_drawn(kinds[kind], ranks, total, total < 1000)) return;
    if (!test_begin("%s(%s,n=%zu,%s,ranks=%d,division=%s%s%s%s%s) on %s", kinds[kind],
                    ech_dtype_name(dtype), total, dist_data_names[data], ranks,
                    dist_division_names[division], descending ? ",desc" : "", order ? ",total" : "",
                    method ? "," : "", method ? method : "", device))
        return;
    struct dist_task t = dist_task_make(dtype, total, data, ranks, division, &rng);
    t.sort = (ech_sort_options){ .size = sizeof t.sort, .descending = descending, .order = order };
    t.sort.algorithm = method;
    t.argsort = kind == 2;
    t.index_dtype = index_dtypes[rng_below(&rng, 4)];
    t.value_bytes = kind == 1   ? 1 + (size_t)rng_below(&rng, 12)
                    : kind == 2 ? ech_dtype_bytes(t.index_dtype)
                                : 0;
    t.k = (size_t)rng_below(&rng, 2);
    t.hosts = rng_below(&rng, 2)   ? 0
              : rng_below(&rng, 2) ? ~0u
                                   : (unsigned)rng_below(&rng, 1 << 16);
    t.values = dist_allocate(total * t.value_bytes);
    dist_fill(t.values, total * t.value_bytes, ECH_U8, DIST_BITS, &rng);
    if (CHECK_STATUS(expect_sorted(&t), ECH_OK)) dist_run(ranks, 0, run_sort, &t, ECH_OK, NULL);
    dist_task_free(&t);
    test_end();
}

/* Rank 1 has no room on its GPU for copies of both its arrays in host memory. */
static ech_status run_tight(struct dist_rank *r)
{
    const struct dist_task *t = r->task;
    const uint64_t from = t->first[r->rank], out_from = t->out_first[r->rank];
    const size_t n = dist_part(t->first, r), n_out = dist_part(t->out_first, r);
    size_t work_bytes = 0;
    uint64_t held;
    r->host = true;
    const void *in = dist_array(r, t->in + from * t->bytes, n * t->bytes);
    void *out = dist_array(r, NULL, n_out * t->bytes);
    ech_status status = ech_dist_sort_workspace(ech_device_name(r->ctx), r->ranks, n, n_out,
                                                t->dtype, 0, 0, &t->sort, &work_bytes);
    ech_memory_usage(r->ctx, 1, &held, NULL);
    if (status == ECH_OK && r->rank == 1)
        status = ech_set_memory_limit(r->ctx, held + work_bytes + (n + n_out) * t->bytes / 4 * 3);
    if (status == ECH_OK)
        status = ech_dist_sort(r->ctx, r->comm, in, out, n, n_out, t->dtype, &t->sort);
    if (status == ECH_OK)
        dist_expect(r, "keys", out, t->out + out_from * t->bytes, n_out * t->bytes);
    ech_set_memory_limit(r->ctx, 0);
    return status;
}

static void tight_case(void)
{
    struct rng rng = dist_seed("tight", ECH_U32, DIST_BITS, 2);
    if (!dist_can_run(2) || strcmp(device, "cpu") == 0) return;
    if (!test_begin("arrays in host memory without room for copies on %s", device)) return;
    struct dist_task t = dist_task_make(ECH_U32, 20000, DIST_BITS, 2, DIST_EVEN, &rng);
    t.sort = (ech_sort_options){ .size = sizeof t.sort, .algorithm = "runs" };
    if (CHECK_STATUS(expect_sorted(&t), ECH_OK)) dist_run(2, 0, run_tight, &t, ECH_OK, NULL);
    dist_task_free(&t);
    test_end();
}

/* ---- Keys that are not evenly distributed, or in order ---- */

enum uneven { LENGTHS, CLUSTERS, HALF_EQUAL, RISING, FALLING, NARROW, HALVES, UNEVEN };
static const char *const uneven_names[] = { "lengths", "clusters", "half equal", "rising",
                                            "falling", "narrow",   "halves" };

static uint64_t uneven_key(enum uneven kind, size_t i, size_t n, int bits, struct rng *rng)
{
    const uint64_t x = rng_next(rng), step = ~(uint64_t)0 / (n + 1);
    switch (kind) {
    case LENGTHS:
        return x >> (64 - bits) >> rng_below(rng, (uint64_t)bits);
    case CLUSTERS: /* narrow ranges, and few other keys */
        if (x % 64 == 0) return x >> (64 - bits);
        return (x % 3 + 1) * ((uint64_t)1 << (bits - 3)) + x / 3 % 3000;
    case HALF_EQUAL:
        return x & 1 ? (uint64_t)5 << (bits - 4) : x >> (64 - bits);
    case RISING:
        return i * step >> (64 - bits);
    case NARROW: /* fewer keys than ranges that are counted */
        return 8100 + (x & 1 ? 50 : x / 2 % 200);
    case HALVES: /* of random lengths */
        return uneven_key(LENGTHS, i, n, bits / 2, rng) << bits / 2 |
               uneven_key(LENGTHS, i, n, bits / 2, rng);
    default:
        return (n - i) * step >> (64 - bits);
    }
}

static void uneven_case(ech_dtype dtype, enum uneven kind, int ranks)
{
    struct rng rng = dist_seed("uneven", dtype, (int)kind, ranks);
    const size_t bytes = ech_dtype_bytes(dtype);
    /* buckets of many keys with few values of the first half */
    const size_t least = kind == HALVES && dtype == ECH_U64 && ranks == 2 ? 300000 : 10000;
    const size_t total = least + (size_t)rng_below(&rng, 20000);
    const enum dist_division division = (enum dist_division)rng_below(&rng, DIST_DIVISIONS);
    const int descending = (int)rng_below(&rng, 3) == 0 && kind != HALVES;
    const bool pairs = kind == NARROW || (kind == RISING && rng_below(&rng, 2));
    if (!dist_drawn(pairs ? "uneven pairs" : "uneven", ranks, total, false)) return;
    if (!test_begin("sort%s(%s,n=%zu,%s,ranks=%d,division=%s%s,partition) on %s",
                    pairs ? "_pairs" : "", ech_dtype_name(dtype), total, uneven_names[kind], ranks,
                    dist_division_names[division], descending ? ",desc" : "", device))
        return;
    struct dist_task t = dist_task_make(dtype, total, DIST_BITS, ranks, division, &rng);
    t.value_bytes = pairs ? 4 : 0;
    t.values = dist_allocate(total * t.value_bytes);
    dist_fill(t.values, total * t.value_bytes, ECH_U8, DIST_BITS, &rng);
    for (size_t i = 0; i < total; i++) {
        const uint64_t key = uneven_key(kind, i, total, (int)(8 * bytes), &rng);
        memcpy(t.in + i * bytes, &key, bytes);
    }
    t.sort = (ech_sort_options){ .size = sizeof t.sort,
                                 .descending = descending,
                                 .algorithm = "partition" };
    if (CHECK_STATUS(expect_sorted(&t), ECH_OK)) dist_run(ranks, 0, run_sort, &t, ECH_OK, NULL);
    dist_task_free(&t);
    test_end();
}

/* ---- Rebalance ---- */

static ech_status run_rebalance(struct dist_rank *r)
{
    const struct dist_task *t = r->task;
    const size_t n = dist_part(t->first, r), n_out = dist_part(t->out_first, r);
    const void *in = dist_array(r, t->in + t->first[r->rank] * t->bytes, n * t->bytes);
    void *out = dist_array(r, NULL, n_out * t->bytes);
    ech_dist_layout layout = { .size = sizeof layout };
    ech_status status = ech_dist_share(r->comm, n, &layout);
    if (status == ECH_OK && (layout.total != t->total || layout.first != t->first[r->rank] ||
                             layout.n_out != ech_dist_even_share(t->total, r->rank, r->ranks) ||
                             (t->even && layout.out_first != t->out_first[r->rank])))
        snprintf(r->problem, sizeof r->problem, "the layout is wrong");
    if (status == ECH_OK)
        status = ech_dist_rebalance(r->ctx, r->comm, in, out, n, t->even ? ECH_DIST_EVEN : n_out,
                                    t->bytes);
    if (status == ECH_OK)
        dist_expect(r, "out", out, t->in + t->out_first[r->rank] * t->bytes, n_out * t->bytes);
    return status;
}

static void rebalance_case(int ranks, enum dist_division division)
{
    struct rng rng = dist_seed("rebalance", ECH_U16, (int)division, ranks);
    const size_t total = 1 + rng_below(&rng, 500);
    if (!dist_always("rebalance", ranks, total)) return;
    if (!test_begin("rebalance(ranks=%d,division=%s) on %s", ranks, dist_division_names[division],
                    device))
        return;
    struct dist_task t = dist_task_make(ECH_U16, total, DIST_BITS, ranks, division, &rng);
    dist_run(ranks, 0, run_rebalance, &t, ECH_OK, NULL);
    dist_task_free(&t);
    test_end();
}

static ech_status run_shuffle(struct dist_rank *r)
{
    const struct dist_task *t = r->task;
    const size_t n = dist_part(t->first, r), n_out = dist_part(t->out_first, r);
    const void *in = dist_array(r, t->in + t->first[r->rank] * t->bytes, n * t->bytes);
    void *out = dist_array(r, NULL, n_out * t->bytes);
    size_t bytes = 0;
    ech_status status =
        ech_dist_shuffle_workspace(ech_device_name(r->ctx), n, n_out, t->bytes, &bytes);
    if (status != ECH_OK) return status;
    r->allowed = bytes;
    ech_memory_usage(r->ctx, 1, &r->held, NULL);
    status = ech_dist_shuffle(r->ctx, r->comm, in, out, n, t->even ? ECH_DIST_EVEN : n_out,
                              t->bytes, t->k);
    dist_work_end(r);
    if (status == ECH_OK)
        dist_expect(r, "out", out, t->out + t->out_first[r->rank] * t->bytes, n_out * t->bytes);
    return status;
}

static void shuffle_case(int ranks, enum dist_division division)
{
    static const ech_dtype dtypes[] = { ECH_U8, ECH_U32, ECH_U16, ECH_U64 };
    const ech_dtype dtype = dtypes[(ranks + (int)division) % 4];
    struct rng rng = dist_seed("shuffle", dtype, (int)division, ranks);
    const size_t total = rng_below(&rng, 2000);
    if (!dist_always("shuffle", ranks, total)) return;
    if (!test_begin("shuffle(%s,ranks=%d,division=%s) on %s", ech_dtype_name(dtype), ranks,
                    dist_division_names[division], device))
        return;
    struct dist_task t = dist_task_make(dtype, total, DIST_BITS, ranks, division, &rng);
    t.k = (size_t)rng_next(&rng);
    t.out = dist_allocate(t.total * t.bytes);
    if (CHECK_STATUS(ech_shuffle(one, t.in, t.out, t.total, t.bytes, t.k), ECH_OK))
        dist_run(ranks, 0, run_shuffle, &t, ECH_OK, NULL);
    dist_task_free(&t);
    test_end();
}

/* A message of more than 2 GiB, from rank 0 to rank 1. */
enum { LARGE_BYTES = INT32_MAX };

static unsigned char large_byte(size_t i)
{
    return (unsigned char)(i * 2654435761u >> 20);
}

static ech_status run_large(struct dist_rank *r)
{
    const size_t bytes = (size_t)LARGE_BYTES + 1000;
    unsigned char *memory = malloc(bytes);
    if (!memory) {
        snprintf(r->problem, sizeof r->problem, "out of memory");
        ech_comm_abort(r->comm, "out of memory");
        return ECH_OK;
    }
    for (size_t i = 0; i < bytes && r->rank == 0; i++) memory[i] = large_byte(i);
    const ech_status status = r->rank
                                  ? ech_dist_rebalance(r->ctx, r->comm, NULL, memory, 0, bytes, 1)
                                  : ech_dist_rebalance(r->ctx, r->comm, memory, NULL, bytes, 0, 1);
    for (size_t i = 0; i < bytes && r->rank == 1 && !r->problem[0]; i++)
        if (memory[i] != large_byte(i))
            snprintf(r->problem, sizeof r->problem, "byte %zu is wrong", i);
    free(memory);
    return status;
}

static void large_case(void)
{
    if (!test_options.large || !dist_can_run(2)) return;
    if (!test_begin("a message of more than 2 GiB on %s", device)) return;
    dist_run(2, 0, run_large, NULL, ECH_OK, NULL);
    test_end();
}

/* ---- Reductions and scans ---- */

static ech_status run_reduce(struct dist_rank *r)
{
    const struct dist_task *t = r->task;
    const size_t n = dist_part(t->first, r);
    const void *in = dist_array(r, t->in + t->first[r->rank] * t->bytes, n * t->bytes);
    void *out = dist_array(r, NULL, t->result_bytes);
    ech_reduce_options options = t->reduce;
    size_t bytes = 0;
    ech_status status = ech_dist_reduce_workspace(ech_device_name(r->ctx), r->ranks, t->op, n,
                                                  t->dtype, &options, &bytes);
    if (status != ECH_OK) return status;
    dist_work_begin(r, bytes, &options.work, &options.work_bytes);
    status = ech_dist_reduce(r->ctx, r->comm, t->op, in, out, n, t->dtype, &options);
    dist_work_end(r);
    if (status == ECH_OK) dist_expect(r, "the result", out, t->out, t->result_bytes);
    return status;
}

static void reduce_case(ech_op op, ech_dtype dtype, enum dist_data data, int ranks)
{
    struct rng rng = dist_seed("reduce", dtype, (int)data + 100 * (int)op, ranks);
    const enum dist_division division = (enum dist_division)rng_below(&rng, DIST_DIVISIONS);
    const size_t chunk = 4096 / ech_dtype_bytes(dtype);
    const size_t total = (size_t)rng_below(&rng, rng_below(&rng, 6) ? 40 * chunk : 5);
    uint64_t value = 0;
    struct dist_task t;
    ech_reduce_options options = { .size = sizeof options,
                                   .nan = (ech_nan)rng_below(&rng, 2),
                                   .accumulate_wide = (int)rng_below(&rng, 2),
                                   .compare = (ech_compare)rng_below(&rng, 7),
                                   .ddof = (int)rng_below(&rng, 2),
                                   .value = &value };
    const int result = ech_reduce_dtype(op, dtype, options.accumulate_wide);
    if (result < 0 || !dist_drawn("reduce", ranks, total, total < 3000)) return;
    if (!test_begin("reduce(op=%d,%s,n=%zu,%s,ranks=%d,division=%s) on %s", (int)op,
                    ech_dtype_name(dtype), total, dist_data_names[data], ranks,
                    dist_division_names[division], device))
        return;
    t = dist_task_make(dtype, total, data, ranks, division, &rng);
    t.op = op;
    t.reduce = options;
    dist_fill(&value, 1, dtype, DIST_NUMBERS, &rng);
    t.result_bytes = ech_dtype_bytes((ech_dtype)result) * (op == ECH_OP_MINMAX ? 2 : 1);
    t.out = dist_allocate(t.result_bytes);
    if (CHECK_STATUS(ech_reduce(one, op, t.in, t.out, total, dtype, &options), ECH_OK))
        dist_run(ranks, 0, run_reduce, &t, ECH_OK, NULL);
    dist_task_free(&t);
    test_end();
}

static ech_status run_scan(struct dist_rank *r)
{
    const struct dist_task *t = r->task;
    const size_t n = dist_part(t->first, r), bytes = t->result_bytes;
    const void *in = dist_array(r, t->in + t->first[r->rank] * t->bytes, n * t->bytes);
    void *out = dist_array(r, NULL, n * bytes);
    ech_scan_options options = t->scan;
    size_t work_bytes = 0;
    ech_status status = ech_dist_scan_workspace(ech_device_name(r->ctx), r->ranks, t->op, n,
                                                t->dtype, &options, &work_bytes);
    if (status != ECH_OK) return status;
    dist_work_begin(r, work_bytes, &options.work, &options.work_bytes);
    status = ech_dist_scan(r->ctx, r->comm, t->op, in, out, n, t->dtype, &options);
    dist_work_end(r);
    if (status == ECH_OK) dist_expect(r, "out", out, t->out + t->first[r->rank] * bytes, n * bytes);
    return status;
}

/* groups: about how many groups of a scan of floats the array has; 0: a small array. */
static void scan_case(ech_op op, ech_dtype dtype, int ranks, int groups)
{
    struct rng rng = dist_seed("scan", dtype, (int)op, ranks);
    const enum dist_division division = (enum dist_division)rng_below(&rng, DIST_DIVISIONS);
    const bool is_float = dtype >= ECH_F16, arithmetic = op <= ECH_OP_PRODUCT;
    const enum dist_data data =
        arithmetic ? (rng_below(&rng, 8) ? DIST_NUMBERS : DIST_FEW) : DIST_FEW;
    const size_t group = (size_t)32 * 32 * 32 * 16 / ech_dtype_bytes(dtype);
    const size_t total =
        groups ? (size_t)rng_below(&rng, (uint64_t)groups * group) : (size_t)rng_below(&rng, 3000);
    uint64_t init = 0;
    struct dist_task t;
    ech_scan_options options = { .size = sizeof options,
                                 .exclusive = (int)rng_below(&rng, 2),
                                 .reverse = (int)rng_below(&rng, 2),
                                 .accumulate_wide = (int)rng_below(&rng, 2),
                                 .nan = (ech_nan)rng_below(&rng, 2),
                                 .init = rng_below(&rng, 2) ? &init : NULL };
    const bool wide = options.accumulate_wide && arithmetic && ech_dtype_bytes(dtype) < 8;
    if (is_float && op >= ECH_OP_AND) return;
    if (!dist_drawn(groups ? "large scan" : "scan", ranks, total, groups == 0)) return;
    if (!test_begin("scan(op=%d,%s,n=%zu,%s,ranks=%d,division=%s%s%s%s%s) on %s", (int)op,
                    ech_dtype_name(dtype), total, dist_data_names[data], ranks,
                    dist_division_names[division], options.exclusive ? ",exclusive" : "",
                    options.reverse ? ",reverse" : "", options.init ? ",init" : "",
                    wide ? ",wide" : "", device))
        return;
    t = dist_task_make(dtype, total, data, ranks, division, &rng);
    t.op = op;
    t.scan = options;
    t.result_bytes = wide ? 8 : t.bytes;
    dist_fill(&init, 1, wide ? is_float ? ECH_F64 : ECH_I64 : dtype, DIST_NUMBERS, &rng);
    t.out = dist_allocate(total * t.result_bytes);
    if (CHECK_STATUS(ech_scan(one, op, t.in, t.out, total, dtype, &options), ECH_OK))
        dist_run(ranks, 0, run_scan, &t, ECH_OK, NULL);
    dist_task_free(&t);
    test_end();
}

/* A copy from the memory of another device fails, until a communicator permits it. */
static void other_device_case(void)
{
    ech_ctx *contexts[2] = { one, NULL };
    ech_comm *comms[2] = { NULL };
    void *there = NULL, *here = NULL;
    if (strcmp(device, "simt") != 0 || ech_open(&contexts[1], "simt:1") != ECH_OK) return;
    if (test_begin("memory of another device on %s", device)) {
        CHECK_STATUS(ech_malloc(contexts[1], &there, 64), ECH_OK);
        CHECK_STATUS(ech_malloc(one, &here, 64), ECH_OK);
        CHECK_STATUS(ech_copy(one, here, there, 64), ECH_ERR_DEVICE);
        CHECK_STATUS(ech_comm_threads(comms, contexts, 2, NULL), ECH_OK);
        CHECK_STATUS(ech_copy(one, here, there, 64), ECH_OK);
        for (int r = 0; r < 2; r++) ech_comm_close(comms[r]);
        ech_free(contexts[1], there, 64);
        ech_free(one, here, 64);
        test_end();
    }
    ech_close(contexts[1]);
}

/* ---- All cases ---- */

static void sorts(int ranks)
{
    for (int kind = 0; kind < 3; kind++)
        for (int dtype = 0; dtype <= ECH_F64; dtype++)
            for (int data = 0; data < DIST_NUMBERS; data++)
                sort_case((ech_dtype)dtype, (enum dist_data)data, ranks, kind);
}

static void uneven_sorts(int ranks)
{
    static const ech_dtype dtypes[] = { ECH_U32, ECH_I32, ECH_F32, ECH_U64, ECH_I64, ECH_F64 };
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        for (int kind = 0; kind < UNEVEN; kind++) uneven_case(dtypes[i], (enum uneven)kind, ranks);
}

static void reductions(int ranks)
{
    for (int op = 0; op <= ECH_OP_STDDEV; op++)
        for (int dtype = 0; dtype <= ECH_F64; dtype++)
            for (int data = 0; data < DIST_DATA; data += 1 + op % 2 + (data == 1))
                reduce_case((ech_op)op, (ech_dtype)dtype, (enum dist_data)data, ranks);
}

static void scans(int ranks)
{
    for (int op = 0; op <= ECH_OP_XOR; op++)
        for (int dtype = 0; dtype <= ECH_F64; dtype++)
            scan_case((ech_op)op, (ech_dtype)dtype, ranks, 0);
    for (int op = 0; op <= ECH_OP_PRODUCT; op++)
        for (int dtype = ECH_F16; dtype <= ECH_F64; dtype++)
            scan_case((ech_op)op, (ech_dtype)dtype, ranks, 5);
}

static void cases(int ranks)
{
    sorts(ranks);
    uneven_sorts(ranks);
    reductions(ranks);
    scans(ranks);
    for (int division = 0; division < DIST_DIVISIONS; division++) {
        rebalance_case(ranks, (enum dist_division)division);
        shuffle_case(ranks, (enum dist_division)division);
    }
}

int main(int argc, char **argv)
{
    static const char *const operations[] = { "sort", "sort_pairs", "argsort", "reduce",
                                              "scan", "rebalance",  "shuffle", NULL };
    test_main(argc, argv);
    device = dist_open();
    if (ech_open(&one, device) != ECH_OK) return 1;
    other_device_case();
    tight_case();
    dist_cases(cases, operations);
    large_case();
    ech_close(one);
    dist_close();
    return test_finish();
}
