/*
 * comm_nccl.c - communicators of NCCL: over another communicator, existing ones, and without NCCL.
 *
 * ECHELON_NCCL names the library: on the emulator fake_libnccl.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "comm_case.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct nccl_id {
    char bytes[128];
};

/* The functions with which a program makes a communicator of NCCL. */
struct nccl {
    struct nccl_id id;
    int (*init)(void **comm, int ranks, struct nccl_id id, int rank);
    int (*destroy)(void *comm);
};

/* Sorts arrays in memory of the GPU, and moves and adds arrays in host memory. */
static ech_status use_nccl(struct dist_rank *r, ech_comm *comm)
{
    uint32_t keys[N], expected[N], moved[N];
    float ones[N], sum = 0;
    for (uint32_t i = 0; i < N; i++) {
        keys[i] = i * (uint32_t)r->ranks + (uint32_t)r->rank;
        expected[i] = (uint32_t)r->rank * N + i;
        ones[i] = 1;
    }
    const void *in = dist_array(r, keys, sizeof keys);
    void *out = dist_array(r, NULL, sizeof expected);
    ech_status status = ech_dist_sort(r->ctx, comm, in, out, N, ECH_DIST_EVEN, ECH_U32, NULL);
    if (status == ECH_OK) dist_expect(r, "out", out, expected, sizeof expected);
    if (status == ECH_OK)
        status = ech_dist_rebalance(r->ctx, comm, keys, moved, N, N, sizeof *keys);
    if (status == ECH_OK && memcmp(keys, moved, sizeof keys) != 0)
        snprintf(r->problem, sizeof r->problem, "elements have changed");
    if (status == ECH_OK)
        status = ech_dist_reduce(r->ctx, comm, ECH_OP_SUM, ones, &sum, N, ECH_F32, NULL);
    if (status == ECH_OK && sum != (float)(N * r->ranks))
        snprintf(r->problem, sizeof r->problem, "the sum is %g", (double)sum);
    return status;
}

/* Each rank adds a share of the counters, and the shares are gathered in several steps. */
static ech_status use_histogram(struct dist_rank *r, ech_comm *comm)
{
    uint64_t *counts = dist_allocate(COMM_BINS * sizeof *counts);
    uint32_t keys[N];
    for (uint32_t i = 0; i < N; i++) keys[i] = (i * (uint32_t)r->ranks + (uint32_t)r->rank) * 350;
    const ech_status status =
        ech_dist_histogram(r->ctx, comm, keys, counts, N, ECH_U32, COMM_BINS, 0, COMM_BINS, NULL);
    for (uint32_t i = 0; i < COMM_BINS && status == ECH_OK; i++)
        if (counts[i] != (i % 350 == 0 && i / 350 < (uint32_t)(N * r->ranks)) && !r->problem[0])
            snprintf(r->problem, sizeof r->problem, "counter %u is %llu", i,
                     (unsigned long long)counts[i]);
    free(counts);
    return status;
}

/* Sorts by the method `partition`, whose exchange overlaps with sorts, all numbers below 2^bits. */
static ech_status use_partition(struct dist_rank *r, ech_comm *comm)
{
    enum { BITS = 16, ODD = 40503, UNEVEN = 37 };
    const size_t all = (size_t)1 << BITS, each = all / (size_t)r->ranks;
    const size_t first = each * (size_t)r->rank + (r->rank ? UNEVEN : 0);
    const size_t end = r->rank == r->ranks - 1 ? all : each * (size_t)(r->rank + 1) + UNEVEN;
    const size_t n = end - first;
    const ech_sort_options options = { .size = sizeof options, .algorithm = "partition" };
    uint32_t *keys = dist_allocate(n * sizeof *keys), *expected = dist_allocate(n * sizeof *keys);
    for (size_t i = 0; i < n; i++) {
        keys[i] = (uint32_t)((first + i) * ODD % all);
        expected[i] = (uint32_t)(first + i);
    }
    const void *in = dist_array(r, keys, n * sizeof *keys);
    void *out = dist_array(r, NULL, n * sizeof *keys);
    const ech_status status = ech_dist_sort(r->ctx, comm, in, out, n, n, ECH_U32, &options);
    if (status == ECH_OK) dist_expect(r, "out", out, expected, n * sizeof *keys);
    free(keys);
    free(expected);
    return status;
}

/* The elimination's blocks are made on a stream that is not the one of the communicator. */
static ech_status use_blocks(struct dist_rank *r, ech_comm *comm)
{
    enum { ROWS = 300, BLOCK = 64, BLOCKS = 5, WORDS = ROWS * BLOCKS };
    uint64_t words[WORDS];
    struct rng rng = { 7 };
    for (int i = 0; i < WORDS; i++) words[i] = rng_next(&rng);
    const size_t cols = ech_dist_gf2_cols((size_t)BLOCK * BLOCKS, BLOCK, r->rank, r->ranks);
    const size_t stride = ech_gf2_stride(cols);
    uint64_t own[WORDS] = { 0 };
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < cols / BLOCK; j++)
            own[i * stride + j] = words[i * BLOCKS + j * (size_t)r->ranks + (size_t)r->rank];
    ech_gf2 a = { .size = sizeof a, .rows = ROWS, .cols = cols, .stride = stride };
    ech_gf2 whole = { .size = sizeof whole, .rows = ROWS, .cols = (size_t)BLOCK * BLOCKS };
    uint32_t rank = 0, expected = 0;
    whole.stride = BLOCKS;
    whole.words = words;
    a.words = dist_array(r, own, ROWS * stride * 8);
    ech_status status = ech_gf2_rank(r->ctx, &whole, &expected, NULL);
    if (status == ECH_OK)
        status = ech_dist_gf2_rank(r->ctx, comm, &a, &rank, (size_t)BLOCK * BLOCKS, BLOCK, NULL);
    if (status == ECH_OK && rank != expected)
        snprintf(r->problem, sizeof r->problem, "the rank is %u, not %u", rank, expected);
    return status;
}

static ech_status nccl_over(struct dist_rank *r)
{
    ech_comm *comm = NULL;
    ech_status status = ech_comm_nccl_over(&comm, r->ctx, r->comm, NULL);
    if (status != ECH_OK) {
        snprintf(r->problem, sizeof r->problem, "%.200s", ech_error(NULL));
        return ECH_OK;
    }
    status = use_nccl(r, comm);
    if (status == ECH_OK) status = use_partition(r, comm);
    if (status == ECH_OK) status = use_blocks(r, comm);
    ech_comm_close(comm);
    return status == ECH_OK ? comm_sort(r, r->comm) : status;
}

/* An existing communicator of NCCL, which is used for everything; the last rank then ends. */
static ech_status nccl_existing(struct dist_rank *r)
{
    const struct nccl *nccl = r->task;
    const ech_comm_options options = { .size = sizeof options, .time_limit_s = LIMIT_S };
    ech_comm *comm = NULL;
    void *raw = NULL;
    if (nccl->init(&raw, r->ranks, nccl->id, r->rank) != 0 ||
        ech_comm_nccl(&comm, r->ctx, raw, &options) != ECH_OK) {
        snprintf(r->problem, sizeof r->problem, "%.200s", ech_error(NULL));
        return ECH_OK;
    }
    ech_status status = use_nccl(r, comm);
    if (status == ECH_OK) status = use_histogram(r, comm);
    if (status == ECH_OK && r->rank != r->ranks - 1) {
        comm_expect(r, comm_sort(r, comm), ECH_ERR_COMM, "");
        comm_expect(r, comm_sort(r, comm), ECH_ERR_COMM, "the communicator has failed");
    }
    ech_comm_close(comm);
    if (r->rank == r->ranks - 1) nccl->destroy(raw); /* the others have been aborted */
    return status;
}

/* Allocations fail, with and without another communicator for gathers. */
static ech_status nccl_failing(struct dist_rank *r)
{
    const unsigned staged = /* calls that send arrays in host memory */
        1u << COMM_REDUCE | 1u << COMM_SCAN | 1u << COMM_SHUFFLE | 1u << COMM_REBALANCE |
        1u << COMM_HISTOGRAM;
    const struct nccl *nccl = r->task;
    struct comm_failing failing;
    ech_comm *comm = NULL;
    ech_status status = ECH_OK;
    void *raw = NULL;
    comm_failing_begin(r, &failing);
    if (!nccl)
        status = ech_comm_nccl_over(&comm, r->ctx, r->comm, NULL);
    else if (nccl->init(&raw, r->ranks, nccl->id, r->rank) == 0)
        status = ech_comm_nccl(&comm, r->ctx, raw, NULL);
    if (status == ECH_OK && comm) {
        status = comm_failing_calls(r, comm, &failing, staged, staged);
        ech_comm_close(comm);
    } else {
        snprintf(r->problem, sizeof r->problem, "%.200s", ech_error(NULL));
    }
    if (raw && !r->problem[0]) nccl->destroy(raw);
    comm_failing_end(r, &failing);
    return status;
}

/* ranks: at most one per GPU, except on the emulator. */
static void nccl(int ranks, void *handle)
{
    struct nccl nccl = { .init = NULL };
    int (*get_id)(struct nccl_id * id) = NULL;
    if (!test_begin("NCCL")) return;
    if (handle) {
        void *symbols[] = { dlsym(handle, "ncclCommInitRank"), dlsym(handle, "ncclCommDestroy"),
                            dlsym(handle, "ncclGetUniqueId") };
        memcpy(&nccl.init, &symbols[0], sizeof symbols[0]);
        memcpy(&nccl.destroy, &symbols[1], sizeof symbols[1]);
        memcpy(&get_id, &symbols[2], sizeof symbols[2]);
        CHECK_INT(get_id(&nccl.id), 0);
        if (ranks > 1) {
            dist_run(ranks, 0, nccl_failing, &nccl, ECH_OK, NULL);
            dist_run(ranks, 0, nccl_failing, NULL, ECH_OK, NULL);
            CHECK_INT(get_id(&nccl.id), 0);
        }
        dist_run(ranks, 0, nccl_over, NULL, ECH_OK, NULL);
        dist_run(ranks, 0, nccl_existing, &nccl, ECH_OK, NULL);
    } else {
        test_skip("ECHELON_NCCL does not name a library, or there are no GPUs");
    }
    test_end();
}

/* task: a part of the message. */
static ech_status nccl_missing(struct dist_rank *r)
{
    ech_comm *comm = NULL;
    int raw;
    const ech_status status = ech_comm_nccl_over(&comm, r->ctx, r->comm, NULL);
    if (status != ECH_ERR_UNSUPPORTED || comm || !strstr(ech_error(NULL), "rank 0: ") ||
        !strstr(ech_error(NULL), r->task))
        snprintf(r->problem, sizeof r->problem, "%.200s", ech_error(NULL));
    if (ech_comm_nccl(&comm, r->ctx, &raw, NULL) != ECH_ERR_UNSUPPORTED || comm ||
        !strstr(ech_error(NULL), r->task))
        snprintf(r->problem, sizeof r->problem, "%.200s", ech_error(NULL));
    return comm_sort(r, r->comm);
}

static void missing(const char *id, char *part)
{
    if (!test_begin("%s", id)) return;
    dist_run(RANKS, 0, nccl_missing, part, ECH_OK, NULL);
    test_end();
}

void comm_nccl(const char *device)
{
    const char *name = getenv("ECHELON_NCCL");
    void *handle = name ? dlopen(name, RTLD_NOW) : NULL;
    char part[256];
    if (strcmp(device, "cpu") == 0) {
        missing("NCCL for contexts of the CPU", (char[]){ "ctx is a context of the CPU" });
        return;
    }
    snprintf(part, sizeof part, "NCCL was not found: %.100s", name ? name : "");
    if (name && !handle) {
        missing("NCCL is missing", part);
    } else if (name && !dlsym(handle, "ncclCommInitRank")) {
        snprintf(part, sizeof part, "%.100s has no function ncclGetErrorString()", name);
        missing("NCCL is another library", part);
    } else {
        const int gpus = ech_device_count() - 1;
        nccl(strcmp(device, "simt") == 0 || gpus > RANKS ? RANKS : gpus, handle);
    }
}
