/*
 * test_comm.c - communicators: calls that differ between ranks, failures of one rank, time limits,
 * and tables of the caller.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "comm_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void sleep_s(double s)
{
    nanosleep(&(struct timespec){ .tv_sec = (time_t)s, .tv_nsec = (long)((s - (int)s) * 1e9) },
              NULL);
}

void comm_expect(struct dist_rank *r, ech_status status, ech_status wanted, const char *part)
{
    const char *message = status == ECH_OK ? "" : ech_error(r->ctx);
    if (r->problem[0]) return;
    if (status != wanted)
        snprintf(r->problem, sizeof r->problem, "%s, not %s: %.150s", ech_status_name(status),
                 ech_status_name(wanted), message);
    else if (part && !strstr(message, part))
        snprintf(r->problem, sizeof r->problem, "\"%.180s\" lacks \"%.50s\"", message, part);
}

ech_status comm_sort(struct dist_rank *r, ech_comm *comm)
{
    uint32_t keys[N], out[N];
    for (uint32_t i = 0; i < N; i++) keys[i] = (i * 7919 + (uint32_t)r->rank * 31) % 1000;
    const ech_status status = ech_dist_sort(r->ctx, comm, keys, out, N, N, ECH_U32, NULL);
    for (int i = 1; status == ECH_OK && i < N; i++)
        if (out[i - 1] > out[i]) snprintf(r->problem, sizeof r->problem, "not sorted");
    return status;
}

static ech_status sort(struct dist_rank *r)
{
    return comm_sort(r, r->comm);
}

/* ---- Calls that differ ---- */

static ech_status other_call(struct dist_rank *r)
{
    uint64_t sum;
    const uint32_t in = 1;
    if (r->rank == 2)
        comm_expect(r, ech_dist_reduce(r->ctx, r->comm, ECH_OP_SUM, &in, &sum, 1, ECH_U32, NULL),
                    ECH_ERR_ARG,
                    "call 1 of rank 2 is ech_dist_reduce(), but call 1 of rank 0 is "
                    "ech_dist_sort()");
    else
        comm_expect(r, sort(r), ECH_ERR_ARG, "rank 2 is ech_dist_reduce()");
    return sort(r);
}

static ech_status other_order(struct dist_rank *r)
{
    if (r->rank == 1) /* one call more than the others: the next one is not their first */
        comm_expect(r, ech_comm_barrier(r->comm), ECH_ERR_ARG, NULL);
    else
        comm_expect(r, sort(r), ECH_ERR_ARG, "call 1 of rank 1 is ech_comm_barrier()");
    return sort(r);
}

static ech_status other_dtype(struct dist_rank *r)
{
    uint32_t in[N] = { 0 }, out[N];
    comm_expect(
        r, ech_dist_sort(r->ctx, r->comm, in, out, N, N, r->rank == 3 ? ECH_F32 : ECH_U32, NULL),
        ECH_ERR_ARG, "dtype is f32 on rank 3, but u32 on rank 0");
    return sort(r);
}

static ech_status other_options(struct dist_rank *r)
{
    uint32_t in[N] = { 0 }, out[N];
    const ech_sort_options sorts = { .size = sizeof sorts, .descending = r->rank == 1 };
    comm_expect(r, ech_dist_sort(r->ctx, r->comm, in, out, N, N, ECH_U32, &sorts), ECH_ERR_ARG,
                "options->descending is 1 on rank 1, but 0 on rank 0");
    const ech_topk_options topk = { .size = sizeof topk, .smallest = r->rank == 2 };
    comm_expect(r, ech_dist_topk(r->ctx, r->comm, in, out, NULL, N, 3, ECH_U32, ECH_U32, &topk),
                ECH_ERR_ARG, "options->smallest is 1 on rank 2");
    comm_expect(r,
                ech_dist_topk(r->ctx, r->comm, in, out, NULL, N, r->rank == 1 ? 4 : 3, ECH_U32,
                              ECH_U32, NULL),
                ECH_ERR_ARG, "k is 4 on rank 1, but 3 on rank 0");
    return sort(r);
}

/* Each operation names the argument that differs, on every rank, and the rank. */
static ech_status other_arguments(struct dist_rank *r)
{
    const bool other = r->rank == 2;
    uint32_t in[N] = { 0 }, out[N], edges[] = { 1, 5, 9, other ? 13 : 12 };
    uint64_t more[N];
    double q[2] = { 0.25, other ? 0.5 : 0.75 };
    float init = other ? 2 : 1;
    ech_dist_layout layout = { .size = sizeof layout };
    const ech_scan_options scan = { .size = sizeof scan, .exclusive = other };
    const ech_scan_options from = { .size = sizeof from, .init = &init };
    const ech_reduce_options reduce = { .size = sizeof reduce, .nan = (ech_nan)other };
    const ech_quantile_options quantile = { .size = sizeof quantile, .nan = (ech_nan)other };
    const ech_histogram_options histogram = { .size = sizeof histogram,
                                              .outside = (ech_outside)other };
    const ech_dtype dtype = other ? ECH_I32 : ECH_U32, floats = other ? ECH_F32 : ECH_U32;
    const ech_op op = other ? ECH_OP_MAX : ECH_OP_MIN;
    ech_ctx *ctx = r->ctx;
    ech_comm *comm = r->comm;
#define DIFFERS(call, part) comm_expect(r, call, ECH_ERR_ARG, part)
    DIFFERS(ech_dist_scan(ctx, comm, ECH_OP_SUM, in, out, N, dtype, NULL),
            "ech_dist_scan(): dtype is i32 on rank 2, but u32 on rank 0");
    DIFFERS(ech_dist_scan(ctx, comm, op, in, out, N, ECH_U32, NULL), "op is");
    DIFFERS(ech_dist_scan(ctx, comm, ECH_OP_SUM, in, out, N, ECH_U32, &scan),
            "options->exclusive is 1 on rank 2, but 0 on rank 0");
    DIFFERS(ech_dist_scan(ctx, comm, ECH_OP_SUM, in, out, N, ECH_F32, &from), "options->init is");
    DIFFERS(ech_dist_reduce(ctx, comm, ECH_OP_MIN, in, out, N, dtype, NULL),
            "ech_dist_reduce(): dtype is i32 on rank 2, but u32 on rank 0");
    DIFFERS(ech_dist_reduce(ctx, comm, op, in, out, N, ECH_U32, NULL), "op is");
    DIFFERS(ech_dist_reduce(ctx, comm, ECH_OP_MIN, in, out, N, ECH_F32, &reduce),
            "options->nan is 1 on rank 2, but 0 on rank 0");
    DIFFERS(ech_dist_quantiles(ctx, comm, in, more, q, N, 1, dtype, ECH_QUANTILE_LINEAR, NULL),
            "ech_dist_quantiles(): dtype is i32 on rank 2, but u32 on rank 0");
    DIFFERS(ech_dist_quantiles(ctx, comm, in, more, q, N, 2, ECH_U32, ECH_QUANTILE_LINEAR, NULL),
            "q (as a hash) is");
    DIFFERS(ech_dist_quantiles(ctx, comm, in, more, q, N, 1 + other, ECH_U32, ECH_QUANTILE_LINEAR,
                               NULL),
            "n_q is 2 on rank 2, but 1 on rank 0");
    DIFFERS(
        ech_dist_quantiles(ctx, comm, in, more, q, N, 1, ECH_F32, ECH_QUANTILE_LINEAR, &quantile),
        "options->nan is 1 on rank 2, but 0 on rank 0");
    DIFFERS(ech_dist_unique(ctx, comm, in, out, NULL, NULL, N, N, floats, NULL, &layout),
            "ech_dist_unique(): dtype is f32 on rank 2, but u32 on rank 0");
    DIFFERS(ech_dist_unique(ctx, comm, in, out, NULL, other ? more : NULL, N, N, ECH_U32, NULL,
                            &layout),
            "whether counts is given is 1 on rank 2, but 0 on rank 0");
    DIFFERS(ech_dist_shuffle(ctx, comm, in, out, N, N, other ? 2 : 4, 5),
            "ech_dist_shuffle(): element_bytes is 2 on rank 2, but 4 on rank 0");
    DIFFERS(ech_dist_shuffle(ctx, comm, in, out, N, N, 4, other ? 6 : 5),
            "seed is 6 on rank 2, but 5 on rank 0");
    DIFFERS(ech_dist_topk(ctx, comm, in, out, NULL, N, 3, floats, ECH_U32, NULL),
            "ech_dist_topk(): dtype is f32 on rank 2, but u32 on rank 0");
    DIFFERS(ech_dist_topk(ctx, comm, in, out, more, N, 3, ECH_U32, other ? ECH_U64 : ECH_U32, NULL),
            "index_dtype is u64 on rank 2, but u32 on rank 0");
    DIFFERS(ech_dist_histogram(ctx, comm, in, more, N, ECH_U32, 3, 0, other ? 7 : 8, NULL),
            "upper (as bits) is");
    DIFFERS(ech_dist_histogram_edges(ctx, comm, in, edges, more, N, ECH_U32, 3, NULL),
            "ech_dist_histogram_edges(): edges (as a hash) is");
    DIFFERS(ech_dist_histogram_edges(ctx, comm, in, edges, more, N, dtype, 2, NULL),
            "dtype is i32 on rank 2, but u32 on rank 0");
    DIFFERS(ech_dist_bincount(ctx, comm, in, more, N, ECH_U32, other ? 4 : 3, NULL),
            "ech_dist_bincount(): bins is 4 on rank 2, but 3 on rank 0");
    DIFFERS(ech_dist_bincount(ctx, comm, in, more, N, ECH_U32, 3, &histogram),
            "options->outside is 1 on rank 2, but 0 on rank 0");
    DIFFERS(ech_dist_rebalance(ctx, comm, in, out, N, N, other ? 2 : 4),
            "ech_dist_rebalance(): element_bytes is 2 on rank 2, but 4 on rank 0");
#undef DIFFERS
    /* equal edges */
    comm_expect(r, ech_dist_histogram_edges(ctx, comm, in, edges, more, N, ECH_U32, 2, NULL),
                ECH_OK, NULL);
    return sort(r);
}

static ech_status wrong_sizes(struct dist_rank *r)
{
    uint32_t in[N] = { 0 }, out[N];
    comm_expect(r, ech_dist_sort(r->ctx, r->comm, in, out, N, N - (r->rank == 1), ECH_U32, NULL),
                ECH_ERR_ARG, "n_out of all ranks together is 399, but the result has 400 elements");
    comm_expect(
        r,
        ech_dist_sort(r->ctx, r->comm, in, out, N, r->rank == 2 ? ECH_DIST_EVEN : N, ECH_U32, NULL),
        ECH_ERR_ARG, "n_out is ECH_DIST_EVEN on rank 2, but not on all ranks");
    comm_expect(r, ech_dist_topk(r->ctx, r->comm, in, out, NULL, N, 401, ECH_U32, ECH_U32, NULL),
                ECH_ERR_ARG, "k is 401, but all ranks have 400 elements");
    ech_dist_layout layout = { .size = sizeof layout };
    comm_expect(r,
                ech_dist_unique(r->ctx, r->comm, in, out, NULL, NULL, N, r->rank > 0, ECH_U32, NULL,
                                &layout),
                ECH_ERR_ARG, "rank 0: capacity is 0, but this rank receives 1");
    return sort(r);
}

/* An invalid argument on one rank. */
static ech_status bad_argument(struct dist_rank *r)
{
    uint32_t in[N] = { 0 }, out[N];
    const bool bad = r->rank == 2;
    const ech_scan_options scan = { .size = sizeof scan, .reverse = bad ? 7 : 0 };
    comm_expect(r, ech_dist_sort(r->ctx, r->comm, bad ? NULL : in, out, N, N, ECH_U32, NULL),
                ECH_ERR_ARG, "rank 2: in is NULL");
    comm_expect(r, ech_dist_sort(r->ctx, r->comm, in, bad ? NULL : out, N, N, ECH_U32, NULL),
                ECH_ERR_ARG, "rank 2: out is NULL");
    comm_expect(r, ech_dist_scan(r->ctx, r->comm, ECH_OP_SUM, in, out, N, ECH_U32, &scan),
                ECH_ERR_ARG, "rank 2: options->reverse is 7");
    comm_expect(r, ech_dist_rebalance(r->ctx, r->comm, in, out, N, N, bad ? 0 : 4), ECH_ERR_ARG,
                "rank 2: element_bytes is 0");
    ech_sort_options sorts = { .size = sizeof sorts, .begin_bit = 3 };
    comm_expect(r, ech_dist_sort(r->ctx, r->comm, in, out, N, N, ECH_U32, &sorts),
                ECH_ERR_UNSUPPORTED, "begin_bit");
    sorts = (ech_sort_options){ .size = sizeof sorts, .algorithm = bad ? "none such" : NULL };
    comm_expect(r, ech_dist_sort(r->ctx, r->comm, in, out, N, N, ECH_U32, &sorts), ECH_ERR_ARG,
                "rank 2: ");
    return sort(r);
}

/* ---- Failures of one rank ---- */

/* Every allocation of one rank fails in turn; all ranks must report it, and continue. */
static ech_status out_of_memory(struct dist_rank *r)
{
    uint32_t in[N] = { 0 }, out[N];
    float floats[N] = { 0 }, sum;
    ech_dist_layout layout = { .size = sizeof layout };
    if (r->rank == 1) ech_set_memory_limit(r->ctx, 300);
    comm_expect(r, ech_dist_sort(r->ctx, r->comm, in, out, N, N, ECH_U32, NULL), ECH_ERR_MEMORY,
                "rank 1: out of memory");
    comm_expect(r,
                ech_dist_unique(r->ctx, r->comm, in, out, NULL, NULL, N, N, ECH_U32, NULL, &layout),
                ECH_ERR_MEMORY, "rank 1: out of memory");
    const double q = 0.5;
    double median;
    comm_expect(r,
                ech_dist_quantiles(r->ctx, r->comm, in, &median, &q, N, 1, ECH_U32,
                                   ECH_QUANTILE_LINEAR, NULL),
                ECH_ERR_MEMORY, "rank 1: out of memory");
    if (r->rank == 1) ech_set_memory_limit(r->ctx, 100);
    if (r->rank < 2) /* the tail of rank 0 or 1 is collected in a buffer */
        comm_expect(r,
                    ech_dist_reduce(r->ctx, r->comm, ECH_OP_SUM, floats, &sum, r->rank ? 50 : 0,
                                    ECH_F32, NULL),
                    ECH_ERR_MEMORY, "rank 1: out of memory");
    else
        comm_expect(r, ech_dist_reduce(r->ctx, r->comm, ECH_OP_SUM, floats, &sum, N, ECH_F32, NULL),
                    ECH_ERR_MEMORY, "rank 1: out of memory");
    ech_set_memory_limit(r->ctx, 0);
    return sort(r);
}

static void *failing_allocate(void *user, size_t bytes, void *stream)
{
    struct comm_failing *failing = user;
    void *pointer = NULL;
    (void)stream;
    if (failing->left-- == 0) return NULL;
    if (!failing->memory) return aligned_alloc(256, (bytes + 255) / 256 * 256);
    return ech_malloc(failing->memory, &pointer, bytes) == ECH_OK ? pointer : NULL;
}

static void failing_release(void *user, void *pointer, size_t bytes, void *stream)
{
    struct comm_failing *failing = user;
    (void)stream;
    if (failing->memory)
        ech_free(failing->memory, pointer, bytes);
    else
        free(pointer);
}

/* Call number i, on arrays whose sizes differ between ranks. */
static ech_status some_call(struct dist_rank *r, ech_comm *comm, int i)
{
    const size_t n = 30 + 7 * (size_t)r->rank;
    float in[N], out[N], more[N];
    uint64_t index[N], counts[N];
    const double q = 0.5;
    ech_dist_layout layout = { .size = sizeof layout };
    for (size_t j = 0; j < n; j++) in[j] = (float)(j * 13 % 50) - 20;
    switch (i) {
    case 0:
        return ech_dist_sort(r->ctx, comm, in, out, n, n, ECH_F32, NULL);
    case 1:
        return ech_dist_sort_pairs(r->ctx, comm, in, in, out, more, n, n, ECH_F32, 4, NULL);
    case 2:
        return ech_dist_argsort(r->ctx, comm, in, index, n, n, ECH_F32, ECH_U64, NULL);
    case COMM_REDUCE:
        return ech_dist_reduce(r->ctx, comm, ECH_OP_SUM, in, out, n, ECH_F32, NULL);
    case 4:
        return ech_dist_reduce(r->ctx, comm, ECH_OP_VARIANCE, in, out, n, ECH_F32, NULL);
    case COMM_SCAN:
        return ech_dist_scan(r->ctx, comm, ECH_OP_SUM, in, out, n, ECH_F32, NULL);
    case 6:
        return ech_dist_unique(r->ctx, comm, in, out, index, counts, n, N, ECH_F32, NULL, &layout);
    case 7:
        return ech_dist_quantiles(r->ctx, comm, in, counts, &q, n, 1, ECH_F32, ECH_QUANTILE_LINEAR,
                                  NULL);
    case 8:
        return ech_dist_topk(r->ctx, comm, in, out, index, n, 20, ECH_F32, ECH_U64, NULL);
    case COMM_SHUFFLE:
        return ech_dist_shuffle(r->ctx, comm, in, out, n, n, sizeof *in, 5);
    case COMM_HISTOGRAM: {
        uint64_t *many = dist_allocate(COMM_BINS * sizeof *many);
        const ech_status status =
            ech_dist_histogram(r->ctx, comm, in, many, n, ECH_F32, COMM_BINS, -20, 30, NULL);
        free(many);
        return status;
    }
    default: /* COMM_REBALANCE */
        return ech_dist_rebalance(r->ctx, comm, in, out, n, n, sizeof *in);
    }
}

void comm_failing_begin(struct dist_rank *r, struct comm_failing *failing)
{
    const ech_allocator allocator = { sizeof allocator, failing_allocate, failing_release,
                                      failing };
    *failing = (struct comm_failing){ .left = -1 };
    if (r->rank != 1) return;
    ech_trim(r->ctx);
    if (!test_is_cpu(r->ctx) && ech_open(&failing->memory, ech_device_name(r->ctx)) != ECH_OK)
        snprintf(r->problem, sizeof r->problem, "%.200s", ech_error(NULL));
    if (ech_set_allocator(r->ctx, &allocator) != ECH_OK)
        snprintf(r->problem, sizeof r->problem, "%.200s", ech_error(r->ctx));
}

ech_status comm_failing_calls(struct dist_rank *r, ech_comm *comm, struct comm_failing *failing,
                              unsigned calls, unsigned allocate)
{
    enum { MOST = 200 }; /* allocations of a call */
    for (int i = 0; i < COMM_CALLS && !r->problem[0]; i++) {
        if (!(calls >> i & 1)) continue;
        ech_status status = ECH_ERR_MEMORY;
        int k = 0;
        for (; k < MOST && status == ECH_ERR_MEMORY; k++) {
            failing->left = k;
            status = some_call(r, comm, i);
            if (status == ECH_ERR_MEMORY)
                comm_expect(r, status, ECH_ERR_MEMORY, "rank 1: out of memory");
        }
        comm_expect(r, status, ECH_OK, NULL);
        if (k == 1 && allocate >> i & 1 && !r->problem[0])
            snprintf(r->problem, sizeof r->problem, "call %d allocates nothing", i);
        if (r->problem[0]) ech_comm_abort(comm, "a failed check");
    }
    failing->left = -1;
    return r->problem[0] ? ECH_OK : comm_sort(r, comm);
}

void comm_failing_end(struct dist_rank *r, struct comm_failing *failing)
{
    if (r->rank != 1) return;
    if (ech_set_allocator(r->ctx, NULL) != ECH_OK && !r->problem[0])
        snprintf(r->problem, sizeof r->problem, "%.200s", ech_error(r->ctx));
    ech_close(failing->memory);
}

static ech_status failing_memory(struct dist_rank *r)
{
    struct comm_failing failing;
    comm_failing_begin(r, &failing);
    const unsigned all = (1u << COMM_CALLS) - 1, sorts = 7;
    const ech_status status = comm_failing_calls(r, r->comm, &failing, all, sorts);
    comm_failing_end(r, &failing);
    return status;
}

#define TRY(call)                                                                                  \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != ECH_OK) goto done;                                                           \
    } while (0)

/* Sorts 2^13 keys of a rank, in and out in memory of another context. */
static ech_status sort_other(struct dist_rank *r, const char *algorithm, uint32_t *in,
                             uint32_t *out)
{
    enum { KEYS = 1 << 13 };
    const ech_sort_options options = { .size = sizeof options, .algorithm = algorithm };
    uint32_t *keys = dist_allocate(KEYS * sizeof *keys);
    uint64_t sums[2];
    ech_status status;
    for (uint32_t i = 0; i < KEYS; i++) keys[i] = (i * 7919 + (uint32_t)r->rank * 31) * 2654435761u;
    TRY(ech_copy(r->ctx, in, keys, KEYS * sizeof *keys));
    TRY(ech_dist_sort(r->ctx, r->comm, in, out, KEYS, KEYS, ECH_U32, &options));
    TRY(ech_dist_reduce(r->ctx, r->comm, ECH_OP_SUM, in, &sums[0], KEYS, ECH_U32, NULL));
    TRY(ech_dist_reduce(r->ctx, r->comm, ECH_OP_SUM, out, &sums[1], KEYS, ECH_U32, NULL));
    TRY(ech_copy(r->ctx, keys, out, KEYS * sizeof *keys));
    for (int i = 1; i < KEYS; i++)
        if (keys[i - 1] > keys[i]) snprintf(r->problem, sizeof r->problem, "not sorted");
    if (sums[0] != sums[1]) snprintf(r->problem, sizeof r->problem, "other keys");
done:
    free(keys);
    return status;
}

/* Other GPUs read memory of another context, which its pool must permit. */
static ech_status other_memory(struct dist_rank *r)
{
    struct comm_failing other = { .left = -1 };
    const ech_allocator allocator = { sizeof allocator, failing_allocate, failing_release, &other };
    const size_t bytes = sizeof(uint32_t) << 13;
    uint32_t *in = NULL, *out = NULL, rank = 0;
    ech_gf2 identity = { .size = sizeof identity, .rows = 256, .cols = 64, .stride = 1 };
    ech_status status;
    ech_trim(r->ctx);
    TRY(ech_open(&other.memory, ech_device_name(r->ctx)));
    TRY(ech_set_allocator(r->ctx, &allocator));
    TRY(ech_malloc(other.memory, (void **)&in, bytes));
    TRY(ech_malloc(other.memory, (void **)&out, bytes));
    TRY(sort_other(r, "partition", in, out));
    TRY(sort_other(r, "runs", in, out));
    identity.words = (uint64_t *)in;
    {
        uint64_t words[256] = { 0 };
        for (int i = 0; i < 64; i++) words[64 * r->rank + i] = (uint64_t)1 << i;
        TRY(ech_copy(r->ctx, in, words, sizeof words));
    }
    TRY(ech_dist_gf2_rank(r->ctx, r->comm, &identity, &rank, 256, 64, NULL));
    if (rank != 256) snprintf(r->problem, sizeof r->problem, "the rank is %u", rank);
done:
    ech_free(other.memory, in, bytes);
    ech_free(other.memory, out, bytes);
    if (ech_set_allocator(r->ctx, NULL) != ECH_OK && status == ECH_OK) status = ECH_ERR_ARG;
    ech_close(other.memory);
    return status;
}

static ech_status work_too_small(struct dist_rank *r)
{
    uint32_t in[N] = { 0 }, out[N];
    void *work = dist_array(r, NULL, 256);
    const ech_sort_options options = { .size = sizeof options,
                                       .work = r->rank == 3 ? work : NULL,
                                       .work_bytes = r->rank == 3 ? 256 : 0 };
    comm_expect(r, ech_dist_sort(r->ctx, r->comm, in, out, N, N, ECH_U32, &options), ECH_ERR_MEMORY,
                "rank 3: options->work_bytes is 256, but a distributed sort needs ");
    return sort(r);
}

/* A thread that ends without the next call. */
static ech_status dead_rank(struct dist_rank *r)
{
    if (r->rank == 2) return ECH_OK;
    const double start = now();
    comm_expect(r, sort(r), ECH_ERR_COMM, "rank 2 did not answer within 0.15 s");
    if (now() - start < LIMIT_S * 0.9) snprintf(r->problem, sizeof r->problem, "too early");
    const double again = now();
    comm_expect(r, sort(r), ECH_ERR_COMM, "rank 2 did not answer within 0.15 s");
    if (now() - again > LIMIT_S) snprintf(r->problem, sizeof r->problem, "waits again");
    const ech_status status = ech_comm_poll(r->comm);
    if (status != ECH_ERR_COMM) snprintf(r->problem, sizeof r->problem, "no error to poll");
    return ECH_OK;
}

/* A rank that arrives after the others have given up fails, too. */
static ech_status slow_rank(struct dist_rank *r)
{
    if (r->rank == 0) sleep_s(2 * LIMIT_S);
    comm_expect(r, sort(r), ECH_ERR_COMM, "rank 0 did not answer within 0.15 s");
    return ECH_OK;
}

/* The others fail at once, although the limit is long. */
static ech_status aborting_rank(struct dist_rank *r)
{
    const double start = now();
    if (r->rank == 3) {
        sleep_s(0.02);
        ech_comm_abort(r->comm, "no more data");
    }
    comm_expect(r, sort(r), ECH_ERR_COMM, "rank 3 has aborted it: no more data");
    if (now() - start > 10) snprintf(r->problem, sizeof r->problem, "too late");
    return ECH_OK;
}

/* ---- Two communicators ---- */

struct two {
    ech_comm *comms[RANKS];
};

static ech_status two_communicators(struct dist_rank *r)
{
    const struct two *two = r->task;
    ech_status status = ECH_OK;
    for (int i = 0; i < 20 && status == ECH_OK; i++)
        status = comm_sort(r, i % 3 ? r->comm : two->comms[r->rank]);
    return status;
}

static ech_status two_calls(struct dist_rank *r)
{
    const struct two *two = r->task;
    /* one communicator fails, the other one is not affected */
    if (r->rank == 1) ech_comm_abort(two->comms[1], "a test");
    if (r->rank != 1) comm_expect(r, comm_sort(r, two->comms[r->rank]), ECH_ERR_COMM, "a test");
    return sort(r);
}

static void two_case(const char *id, dist_function *run)
{
    struct two two;
    if (!test_begin("%s", id)) return;
    if (CHECK_STATUS(ech_comm_threads(two.comms, NULL, RANKS, NULL), ECH_OK))
        dist_run(RANKS, 0, run, &two, ECH_OK, NULL);
    for (int r = 0; r < RANKS; r++) ech_comm_close(two.comms[r]);
    test_end();
}

/* ---- A rank that closes its communicator ---- */

static ech_status closing_rank(struct dist_rank *r)
{
    const struct two *two = r->task;
    if (r->rank == 1) {
        sleep_s(0.02);
        ech_comm_close(two->comms[1]);
        return ECH_OK;
    }
    comm_expect(r, comm_sort(r, two->comms[r->rank]), ECH_ERR_COMM,
                "another rank has closed its communicator");
    ech_comm_close(two->comms[r->rank]);
    return ECH_OK;
}

static void closing(void)
{
    struct two two;
    if (!test_begin("a rank closes its communicator while others wait")) return;
    if (CHECK_STATUS(ech_comm_threads(two.comms, NULL, RANKS, NULL), ECH_OK))
        dist_run(RANKS, 0, closing_rank, &two, ECH_OK, NULL);
    test_end();
}

/* ---- Libraries ---- */

static void libraries(void)
{
    ech_comm *comm = NULL;
    if (!test_begin("libraries of communicators")) return;
    unsetenv("ECHELON_COMM");
    if (CHECK_STATUS(ech_comm_open(&comm, NULL, NULL), ECH_OK)) {
        CHECK_INT(ech_comm_size(comm), 1);
        CHECK_STATUS(ech_comm_barrier(comm), ECH_OK);
        CHECK_STATUS(ech_comm_poll(comm), ECH_OK);
        ech_dist_layout layout = { .size = sizeof layout };
        CHECK_STATUS(ech_dist_share(comm, 12, &layout), ECH_OK);
        CHECK(layout.total == 12 && layout.n_out == 12);
        ech_comm_close(comm);
    }
    CHECK_FAILS(NULL, ech_comm_open(&comm, "libechelon_no_such.so", NULL), ECH_ERR_UNSUPPORTED,
                "libechelon_no_such.so");
    CHECK_FAILS(NULL, ech_comm_open(&comm, "libm.so.6", NULL), ECH_ERR_UNSUPPORTED,
                "does not export ech_comm_library()");
    setenv("ECHELON_COMM", "libechelon_other.so", 1);
    CHECK_FAILS(NULL, ech_comm_open(&comm, NULL, NULL), ECH_ERR_UNSUPPORTED, "libechelon_other.so");
    unsetenv("ECHELON_COMM");
    CHECK(comm == NULL);
    test_end();
}

/* ---- All cases ---- */

static void run_case(const char *id, double limit_s, dist_function *run)
{
    if (!test_begin("%s", id)) return;
    dist_run(RANKS, limit_s, run, NULL, ECH_OK, NULL);
    test_end();
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    unsetenv("ECHELON_COMM");
    const char *device = dist_open();
    run_case("a rank makes another call", 0, other_call);
    run_case("a rank makes one call more", 0, other_order);
    run_case("a rank has another dtype", 0, other_dtype);
    run_case("a rank has other options", 0, other_options);
    run_case("a rank has another argument", 0, other_arguments);
    run_case("sizes that do not add up", 0, wrong_sizes);
    run_case("a rank has an invalid argument", 0, bad_argument);
    run_case("a rank has no memory", 0, out_of_memory);
    run_case("each allocation of a rank fails", 5, failing_memory);
    run_case("memory of another context", 0, other_memory);
    run_case("a rank has a workspace that is too small", 0, work_too_small);
    run_case("a rank ends", LIMIT_S, dead_rank);
    run_case("a rank is slow", LIMIT_S, slow_rank);
    run_case("a rank aborts", 0, aborting_rank);
    two_case("two communicators in turn", two_communicators);
    two_case("one of two communicators fails", two_calls);
    closing();
    comm_tables();
    comm_nccl(device);
    libraries();
    dist_close();
    return test_finish();
}
