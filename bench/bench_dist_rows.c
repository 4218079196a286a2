/*
 * bench_dist_rows.c - the operations that bench_dist measures, on several ranks and on one device,
 * and their data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench_dist.h"

#include <stdlib.h>
#include <string.h>

enum { K = 100, BINS = 256, QUANTILES = 3, SEED = 7 };

static const double quantiles[QUANTILES] = { 0.01, 0.5, 0.99 };

const char *bench_algorithm;

/* ---- Operations ---- */

static ech_sort_options sort_options(void)
{
    return (ech_sort_options){ .size = sizeof(ech_sort_options), .algorithm = bench_algorithm };
}

static ech_status sort(const struct bench_rank *r, struct bench_arrays *a, ech_dtype dtype)
{
    const ech_sort_options options = sort_options();
    a->n_out = a->n;
    return ech_dist_sort(r->ctx, r->comm, a->in, a->out, a->n, ECH_DIST_EVEN, dtype, &options);
}

static ech_status sort_u32(const struct bench_rank *r, struct bench_arrays *a)
{
    return sort(r, a, ECH_U32);
}

static ech_status sort_u64(const struct bench_rank *r, struct bench_arrays *a)
{
    return sort(r, a, ECH_U64);
}

static ech_status one_sort_u32(ech_ctx *ctx, struct bench_arrays *a)
{
    a->n_out = a->n;
    return ech_sort(ctx, a->in, a->out, a->n, ECH_U32, NULL);
}

static ech_status one_sort_u64(ech_ctx *ctx, struct bench_arrays *a)
{
    a->n_out = a->n;
    return ech_sort(ctx, a->in, a->out, a->n, ECH_U64, NULL);
}

static ech_status pairs(const struct bench_rank *r, struct bench_arrays *a)
{
    const ech_sort_options options = sort_options();
    a->n_out = a->n;
    return ech_dist_sort_pairs(r->ctx, r->comm, a->in, a->values_in, a->out, a->values_out, a->n,
                               ECH_DIST_EVEN, ECH_U32, 4, &options);
}

static ech_status one_pairs(ech_ctx *ctx, struct bench_arrays *a)
{
    a->n_out = a->n;
    return ech_sort_pairs(ctx, a->in, a->values_in, a->out, a->values_out, a->n, ECH_U32, 4, NULL);
}

static ech_status argsort(const struct bench_rank *r, struct bench_arrays *a)
{
    const ech_sort_options options = sort_options();
    a->n_out = a->n;
    return ech_dist_argsort(r->ctx, r->comm, a->in, a->out, a->n, ECH_DIST_EVEN, ECH_U32, ECH_U64,
                            &options);
}

static ech_status one_argsort(ech_ctx *ctx, struct bench_arrays *a)
{
    a->n_out = a->n;
    return ech_argsort(ctx, a->in, a->out, a->n, ECH_U32, ECH_U64, NULL);
}

static ech_status sum(const struct bench_rank *r, struct bench_arrays *a)
{
    return ech_dist_reduce(r->ctx, r->comm, ECH_OP_SUM, a->in, a->out, a->n, ECH_U32, NULL);
}

static ech_status one_sum(ech_ctx *ctx, struct bench_arrays *a)
{
    return ech_reduce(ctx, ECH_OP_SUM, a->in, a->out, a->n, ECH_U32, NULL);
}

static ech_status scan(const struct bench_rank *r, struct bench_arrays *a)
{
    a->n_out = a->n;
    return ech_dist_scan(r->ctx, r->comm, ECH_OP_SUM, a->in, a->out, a->n, ECH_U32, NULL);
}

static ech_status one_scan(ech_ctx *ctx, struct bench_arrays *a)
{
    a->n_out = a->n;
    return ech_scan(ctx, ECH_OP_SUM, a->in, a->out, a->n, ECH_U32, NULL);
}

static ech_status topk(const struct bench_rank *r, struct bench_arrays *a)
{
    return ech_dist_topk(r->ctx, r->comm, a->in, a->out, NULL, a->n, K, ECH_U32, ECH_U64, NULL);
}

static ech_status one_topk(ech_ctx *ctx, struct bench_arrays *a)
{
    return ech_topk(ctx, a->in, a->out, NULL, a->n, K, ECH_U32, ECH_U64, NULL);
}

static ech_status histogram(const struct bench_rank *r, struct bench_arrays *a)
{
    return ech_dist_histogram(r->ctx, r->comm, a->in, a->out, a->n, ECH_U32, BINS, 0, 0x1p32, NULL);
}

static ech_status one_histogram(ech_ctx *ctx, struct bench_arrays *a)
{
    return ech_histogram(ctx, a->in, a->out, a->n, ECH_U32, BINS, 0, 0x1p32, NULL);
}

/* BINS bins; the last one is as wide as all others together. */
static const uint32_t *edges(void)
{
    static uint32_t edge[BINS + 1];
    for (uint32_t i = 0; i < BINS; i++) edge[i] = i << 23;
    edge[BINS] = UINT32_MAX;
    return edge;
}

static ech_status histogram_edges(const struct bench_rank *r, struct bench_arrays *a)
{
    return ech_dist_histogram_edges(r->ctx, r->comm, a->in, edges(), a->out, a->n, ECH_U32, BINS,
                                    NULL);
}

static ech_status one_histogram_edges(ech_ctx *ctx, struct bench_arrays *a)
{
    return ech_histogram_edges(ctx, a->in, edges(), a->out, a->n, ECH_U32, BINS, NULL);
}

static ech_status bincount(const struct bench_rank *r, struct bench_arrays *a)
{
    return ech_dist_bincount(r->ctx, r->comm, a->in, a->out, a->n, ECH_U8, BINS, NULL);
}

static ech_status one_bincount(ech_ctx *ctx, struct bench_arrays *a)
{
    return ech_bincount(ctx, a->in, a->out, a->n, ECH_U8, BINS, NULL);
}

static ech_status quantile(const struct bench_rank *r, struct bench_arrays *a)
{
    return ech_dist_quantiles(r->ctx, r->comm, a->in, a->out, quantiles, a->n, QUANTILES, ECH_U32,
                              ECH_QUANTILE_LINEAR, NULL);
}

static ech_status one_quantile(ech_ctx *ctx, struct bench_arrays *a)
{
    return ech_quantiles(ctx, a->in, a->out, quantiles, a->n, QUANTILES, ECH_U32,
                         ECH_QUANTILE_LINEAR, NULL);
}

static ech_status unique(const struct bench_rank *r, struct bench_arrays *a)
{
    ech_dist_layout layout = { .size = sizeof layout };
    const ech_status status = ech_dist_unique(r->ctx, r->comm, a->in, a->out, NULL, NULL, a->n,
                                              a->n, ECH_U32, NULL, &layout);
    a->n_out = (size_t)layout.n_out;
    return status;
}

static ech_status one_unique(ech_ctx *ctx, struct bench_arrays *a)
{
    uint64_t count = 0;
    const ech_status status =
        ech_unique_all(ctx, a->in, a->out, NULL, NULL, NULL, &count, a->n, ECH_U32, ECH_U64, NULL);
    a->n_out = (size_t)count;
    return status;
}

static ech_status shuffle(const struct bench_rank *r, struct bench_arrays *a)
{
    a->n_out = a->n;
    return ech_dist_shuffle(r->ctx, r->comm, a->in, a->out, a->n, ECH_DIST_EVEN, 4, SEED);
}

static ech_status one_shuffle(ech_ctx *ctx, struct bench_arrays *a)
{
    a->n_out = a->n;
    return ech_shuffle(ctx, a->in, a->out, a->n, 4, SEED);
}

/* Even shares of an array of which each rank has the fewer elements, the higher its number is. */
static ech_status rebalance(const struct bench_rank *r, struct bench_arrays *a)
{
    ech_dist_layout layout = { .size = sizeof layout };
    a->n_in = a->n / (size_t)(r->number + 1);
    const ech_status status = ech_dist_share(r->comm, a->n_in, &layout);
    a->n_out = (size_t)layout.n_out;
    if (status != ECH_OK) return status;
    return ech_dist_rebalance(r->ctx, r->comm, a->in, a->out, a->n_in, ECH_DIST_EVEN, 4);
}

static ech_status one_rebalance(ech_ctx *ctx, struct bench_arrays *a)
{
    a->n_out = a->n;
    return ech_copy(ctx, a->out, a->in, a->n * 4);
}

const struct bench_row bench_rows[] = {
    { "sort", ECH_U32, true, 0, 0, 0, sort_u32, one_sort_u32 },
    { "sort", ECH_U64, true, 0, 0, 0, sort_u64, one_sort_u64 },
    { "sort_pairs", ECH_U32, true, 4, 0, 0, pairs, one_pairs },
    { "argsort", ECH_U32, false, 0, 0, 8, argsort, one_argsort },
    { "sum", ECH_U32, false, 0, 4, 0, sum, one_sum },
    { "scan", ECH_U32, false, 0, 0, 0, scan, one_scan },
    { "topk", ECH_U32, false, 0, K * 4, 0, topk, one_topk },
    { "histogram", ECH_U32, false, 0, BINS * 8, 0, histogram, one_histogram },
    { "histogram_edges", ECH_U32, false, 0, BINS * 8, 0, histogram_edges, one_histogram_edges },
    { "bincount", ECH_U8, false, 0, BINS * 8, 0, bincount, one_bincount },
    { "quantiles", ECH_U32, false, 0, QUANTILES * 8, 0, quantile, one_quantile },
    { "unique", ECH_U32, false, 0, 0, 0, unique, one_unique },
    { "shuffle", ECH_U32, false, 0, 0, 0, shuffle, one_shuffle },
    { "rebalance", ECH_U32, false, 0, 0, 0, rebalance, one_rebalance },
};
const int bench_n_rows = sizeof bench_rows / sizeof *bench_rows;

/* ---- Data ---- */

const char *const bench_data_names[BENCH_DATA] = { "random", "sorted", "skewed", "equal" };

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Two u32 of random lengths; as a u64, its upper half has one. */
static uint64_t skewed_word(const struct bench_rank *r, size_t i)
{
    const uint64_t x = mix(((uint64_t)r->number << 40) + i + 1);
    return (x >> 32 >> x % 32) << 32 | (uint32_t)mix(x) >> (x >> 5) % 32;
}

static void fill_skewed(const struct bench_rank *r, void *in, size_t words)
{
    enum { BLOCK = 1 << 20 };
    uint64_t *block = malloc(BLOCK * sizeof *block);
    if (!block) bench_stop("out of memory");
    for (size_t from = 0; from < words; from += BLOCK) {
        const size_t count = words - from < BLOCK ? words - from : BLOCK;
        for (size_t i = 0; i < count; i++) block[i] = skewed_word(r, from + i);
        bench_must(ech_copy(r->ctx, (char *)in + from * 8, block, count * 8), r->ctx);
    }
    free(block);
}

/* The words ascend over all ranks; unless they are keys of 8 bytes, both of their halves do. */
static void fill_sorted(const struct bench_rank *r, void *in, size_t words, bool wide)
{
    const uint64_t all = (uint64_t)bench_ranks * words;
    const uint64_t step = wide ? UINT64_MAX / all : ((uint64_t)1 << 32) / all * 0x100000001u;
    const uint64_t start = (uint64_t)r->number * words * step;
    if (step == 0) bench_stop("--data sorted needs at most 2^32 words of 8 bytes");
    bench_must(ech_iota(r->ctx, in, words, ECH_U64, &start, &step), r->ctx);
}

static void fill_random(const struct bench_rank *r, void *in, size_t words, uint64_t seed)
{
    enum { ROW_WORDS = 64 };
    ech_gf2 m = { .size = sizeof m,
                  .words = in,
                  .rows = words / ROW_WORDS,
                  .cols = ROW_WORDS * 64,
                  .stride = ROW_WORDS };
    bench_must(ech_gf2_random(r->ctx, &m, 0.5, seed * BENCH_MOST_RANKS + (uint64_t)r->number),
               r->ctx);
}

void bench_fill(const struct bench_rank *r, const struct bench_arrays *a, enum bench_data data)
{
    const uint64_t seven = 0x700000007u;
    const size_t words = a->bytes / 8;
    if (data == BENCH_RANDOM)
        fill_random(r, a->in, words, 1);
    else if (data == BENCH_SORTED)
        fill_sorted(r, a->in, words, a->bytes / 8 >= a->n);
    else if (data == BENCH_SKEWED)
        fill_skewed(r, a->in, words);
    else
        bench_must(ech_fill(r->ctx, a->in, words, sizeof seven, &seven), r->ctx);
    if (a->values_bytes) fill_random(r, a->values_in, a->values_bytes / 8, 2);
}
