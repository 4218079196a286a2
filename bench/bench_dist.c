/*
 * bench_dist.c - measures distributed operations (echelon/dist.h): a thread per rank, each with a
 * GPU or with one thread of the CPU.
 *
 *     bench_dist [--device cuda|cpu] [--ranks R] [--log2 N] [--repeat K] [--only OP,TYPE]
 *                [--data random|sorted|skewed|equal]
 *
 * Rank r uses GPU r; R is the number of GPUs if it is not given.  Every rank has 2^N elements:
 * random bits; numbers that ascend over all ranks; random numbers of random lengths; or equal ones.
 * A CSV line has the operation, the type, the ranks, the elements of all ranks, the milliseconds of
 * the slowest rank (the median of K repetitions, 5), 10^9 elements per second, and the data.  The
 * first repetition is not counted.  Sorts are checked: every rank's share is in order, and the sum
 * of all elements is that of the input.  With 1 rank the same calls run on one device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench_ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_REPEATS = 100, K = 100 };

static const char *only; /* such as sort,u32; NULL: all */
static int repeats = 5, log2_n = 28;
static enum data { RANDOM, SORTED, SKEWED, EQUAL, DATA } data;
static const char *const data_names[DATA] = { "random", "sorted", "skewed", "equal" };

const char *bench_program = "bench_dist";

/* A rank: its arrays, of n elements of 8 bytes. */
struct rank {
    const struct bench_rank *rank;
    ech_ctx *ctx;
    ech_comm *comm;
    size_t n, bytes;
    void *in, *out, *values_in, *values_out;
};

static void *memory(const struct rank *r, size_t bytes)
{
    void *p = NULL;
    bench_must(ech_malloc(r->ctx, &p, bytes), r->ctx);
    return p;
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Two u32, or a u64. */
static uint64_t word(const struct rank *r, size_t i)
{
    const uint64_t x = mix(((uint64_t)r->rank->number << 40) + i + 1);
    const uint64_t position = (uint64_t)r->rank->number * (r->bytes / 8) + i; /* of the word */
    const uint64_t words = (uint64_t)bench_ranks * (r->bytes / 8);
    switch (data) {
    case SORTED: /* both halves ascend */
        return (uint64_t)((double)position / (double)words * 0x1p32) * 0x100000001u;
    case SKEWED:
        return (x >> 32 >> x % 32) << 32 | (uint32_t)mix(x) >> (x >> 5) % 32;
    case EQUAL:
        return 0x700000007u;
    default:
        return x;
    }
}

static void fill(const struct rank *r)
{
    enum { BLOCK = 1 << 20 };
    const size_t words = r->bytes / 8;
    uint64_t *block = malloc(BLOCK * sizeof *block);
    if (!block) bench_stop("out of memory");
    for (size_t from = 0; from < words; from += BLOCK) {
        const size_t count = words - from < BLOCK ? words - from : BLOCK;
        for (size_t i = 0; i < count; i++) block[i] = word(r, from + i);
        bench_must(ech_copy(r->ctx, (char *)r->in + from * 8, block, count * 8), r->ctx);
    }
    free(block);
}

/* ---- Operations ---- */

static ech_status sort_u32(const struct rank *r)
{
    return ech_dist_sort(r->ctx, r->comm, r->in, r->out, r->n, ECH_DIST_EVEN, ECH_U32, NULL);
}

static ech_status sort_u64(const struct rank *r)
{
    return ech_dist_sort(r->ctx, r->comm, r->in, r->out, r->n, ECH_DIST_EVEN, ECH_U64, NULL);
}

static ech_status pairs(const struct rank *r)
{
    return ech_dist_sort_pairs(r->ctx, r->comm, r->in, r->values_in, r->out, r->values_out, r->n,
                               ECH_DIST_EVEN, ECH_U32, 4, NULL);
}

static ech_status sum_u32(const struct rank *r)
{
    return ech_dist_reduce(r->ctx, r->comm, ECH_OP_SUM, r->in, r->out, r->n, ECH_U32, NULL);
}

static ech_status scan_u32(const struct rank *r)
{
    return ech_dist_scan(r->ctx, r->comm, ECH_OP_SUM, r->in, r->out, r->n, ECH_U32, NULL);
}

static ech_status topk_u32(const struct rank *r)
{
    return ech_dist_topk(r->ctx, r->comm, r->in, r->out, NULL, r->n, K, ECH_U32, ECH_U64, NULL);
}

static const struct row {
    const char *name;
    ech_dtype dtype;
    bool sorts;
    ech_status (*run)(const struct rank *r);
} rows[] = {
    { "sort", ECH_U32, true, sort_u32 },    { "sort", ECH_U64, true, sort_u64 },
    { "sort_pairs", ECH_U32, true, pairs }, { "sum", ECH_U32, false, sum_u32 },
    { "scan", ECH_U32, false, scan_u32 },   { "topk", ECH_U32, false, topk_u32 },
};

/* The sum of all elements on all ranks, modulo 2^32 or 2^64. */
static uint64_t checksum(const struct rank *r, const void *array, ech_dtype dtype)
{
    uint64_t *sum = memory(r, sizeof *sum), result = 0;
    bench_must(ech_dist_reduce(r->ctx, r->comm, ECH_OP_SUM, array, sum, r->n, dtype, NULL), r->ctx);
    bench_must(ech_copy(r->ctx, &result, sum, ech_dtype_bytes(dtype)), r->ctx);
    ech_free(r->ctx, sum, sizeof *sum);
    return result;
}

static void check_sorted(const struct rank *r, ech_dtype dtype)
{
    uint64_t *position = memory(r, sizeof *position), where = 0;
    bench_must(ech_is_sorted(r->ctx, r->out, position, r->n, dtype, NULL), r->ctx);
    bench_must(ech_copy(r->ctx, &where, position, sizeof where), r->ctx);
    ech_free(r->ctx, position, sizeof *position);
    if (where != r->n) bench_stop("a share is not in order");
    if (checksum(r, r->in, dtype) != checksum(r, r->out, dtype)) bench_stop("elements are missing");
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Whether --only names this row. */
static bool is_wanted(const struct row *row)
{
    char name[64];
    snprintf(name, sizeof name, "%s,%s", row->name, ech_dtype_name(row->dtype));
    return !only || strcmp(only, name) == 0;
}

static void measure(const struct rank *r, const struct row *row)
{
    double of[MOST_REPEATS];
    for (int i = 0; i <= repeats; i++) {
        bench_must(ech_sync(r->ctx), r->ctx);
        bench_must(ech_comm_barrier(r->comm), r->ctx);
        const double begin = bench_now();
        bench_must(row->run(r), r->ctx);
        bench_must(ech_sync(r->ctx), r->ctx);
        const double slowest = bench_slowest(r->rank, bench_now() - begin);
        if (i) of[i - 1] = slowest;
    }
    if (row->sorts) check_sorted(r, row->dtype);
    if (r->rank->number) return;
    qsort(of, (size_t)repeats, sizeof *of, compare);
    const double total = (double)r->n * bench_ranks, median = of[repeats / 2];
    printf("%s,%s,%d,%.0f,%.3f,%.2f,%s\n", row->name, ech_dtype_name(row->dtype), bench_ranks,
           total, median, total / median * 1e-6, data_names[data]);
    fflush(stdout);
}

static void run_rank(const struct bench_rank *rank)
{
    struct rank r = {
        .rank = rank, .ctx = rank->ctx, .comm = rank->comm, .n = (size_t)1 << log2_n
    };
    r.bytes = r.n * (only && strstr(only, "32") && !strstr(only, "pairs") ? 4 : 8);
    r.in = memory(&r, r.bytes);
    r.out = memory(&r, r.bytes);
    r.values_in = memory(&r, r.bytes / 2);
    r.values_out = memory(&r, r.bytes / 2);
    fill(&r);
    bench_must(ech_copy(r.ctx, r.values_in, r.in, r.bytes / 2), r.ctx);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (is_wanted(&rows[i])) measure(&r, &rows[i]);
    ech_free(r.ctx, r.in, r.bytes);
    ech_free(r.ctx, r.out, r.bytes);
    ech_free(r.ctx, r.values_in, r.bytes / 2);
    ech_free(r.ctx, r.values_out, r.bytes / 2);
}

static enum data data_of(const char *name)
{
    for (int i = 0; i < DATA; i++)
        if (strcmp(name, data_names[i]) == 0) return (enum data)i;
    bench_stop("--data needs random, sorted, skewed or equal");
    return RANDOM;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i += 2) {
        const char *value = argv[i + 1];
        if (bench_rank_option(argv[i], value)) continue;
        if (strcmp(argv[i], "--data") == 0 && value)
            data = data_of(value);
        else if (strcmp(argv[i], "--only") == 0 && value)
            only = value;
        else if (strcmp(argv[i], "--log2") == 0)
            log2_n = bench_number(argv[i], value, 8, 34);
        else if (strcmp(argv[i], "--repeat") == 0)
            repeats = bench_number(argv[i], value, 1, MOST_REPEATS);
        else
            return fprintf(stderr, "usage: bench_dist [--device cuda|cpu] [--ranks R] [--log2 N] "
                                   "[--repeat K] [--only OP,TYPE] [--data NAME]\n"),
                   2;
    }
    bench_open_ranks();
    printf("# %s; %s; %d ranks\nop,dtype,ranks,elements,ms,g_per_s,data\n", ech_version(),
           bench_device_name(), bench_ranks);
    bench_run_ranks(run_rank);
    return 0;
}
