/*
 * quantile_sample.c - the sample of the GPU's algorithm "select" in test_quantile.
 *
 *     sampled   sorted, reversed and other regular arrays: every rank must be in its bracket
 *     misled    arrays whose sampled elements contain no information: ranks are not in their
 *               brackets, and the whole input is searched
 *
 * The state at the beginning of the workspace counts the ranks that were not in their bracket.  The
 * search of the whole input would hide a biased sample, because its results are the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "quantile_case.h"

#include "quantile/cuda/common.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 150001, RANKS = 9 };

/* The first three are not near the ends. */
static const double q[RANKS] = { 0.4, 0.75, 0.5, 0.01, 0.1, 0.25, 0, 0.99, 1 };

static double values[MOST], sorted[MOST];

/* ---- Data ---- */

static const char *const orders[] = { "sorted", "reversed", "pipe",   "constant",
                                      "few",    "periodic", "blocks", "random" };
enum { ORDERS = sizeof orders / sizeof *orders };

/* Element i of n: integers of 16 bits. */
static double value_at(int order, size_t i, size_t n)
{
    const size_t scaled = i * 65535 / n, mixed = i * 40503 % 65521;
    switch (order) {
    case 0:
        return (double)scaled;
    case 1:
        return (double)(65535 - scaled);
    case 2: /* ascending, then descending */
        return (double)(2 * (i < n / 2 ? scaled : 65534 - scaled) % 65536);
    case 3:
        return 4711;
    case 4:
        return (double)(mixed % 7 * 1000);
    case 5:
        return (double)(i % 1000);
    case 6: /* the largest elements are last, in a mixed order */
        return (double)(i >= n - n / 64 ? 60000 + mixed % 5000 : mixed % 60000);
    default:
        return (double)mixed;
    }
}

static int compare_values(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void sort_values(size_t n)
{
    memcpy(sorted, values, n * sizeof *values);
    qsort(sorted, n, sizeof *sorted, compare_values);
}

/* The values as elements of dtype. */
static void convert(ech_dtype dtype, size_t n, void *to)
{
    for (size_t i = 0; i < n; i++) {
        if (dtype == ECH_U16) ((uint16_t *)to)[i] = (uint16_t)values[i];
        if (dtype == ECH_U32) ((uint32_t *)to)[i] = (uint32_t)values[i];
        if (dtype == ECH_F64) ((double *)to)[i] = values[i];
    }
}

static double element(ech_dtype dtype, const void *from, size_t i)
{
    return dtype == ECH_U16   ? (double)((const uint16_t *)from)[i]
           : dtype == ECH_U32 ? (double)((const uint32_t *)from)[i]
                              : ((const double *)from)[i];
}

/* ---- Calls ---- */

struct arrays {
    struct buffer in, out, index, work;
    char got[MOST * 8];
};

static struct arrays arrays;

static void free_arrays(void)
{
    struct buffer *all[] = { &arrays.in, &arrays.out, &arrays.index, &arrays.work };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->base) buffer_free(all[i]);
}

static bool make_arrays(ech_ctx *ctx, ech_quantile_call call, size_t n, size_t count,
                        ech_dtype dtype, ech_quantile_options *o)
{
    const size_t size = ech_dtype_bytes(dtype);
    size_t bytes = 0;
    arrays.in = arrays.out = arrays.index = arrays.work = (struct buffer){ .base = NULL };
    convert(dtype, n, arrays.got);
    if (!CHECK_STATUS(
            ech_quantile_workspace(ech_device_name(ctx), call, n, count, dtype, o, &bytes), ECH_OK))
        return false;
    o->work_bytes = bytes;
    const bool made =
        buffer_make(&arrays.in, ctx, n * size, 0) && buffer_set(&arrays.in, arrays.got) &&
        buffer_make(&arrays.out, ctx, n * 8, 0) && buffer_make(&arrays.index, ctx, n * 8, 0) &&
        buffer_make(&arrays.work, ctx, bytes, 0);
    o->work = arrays.work.data;
    return made;
}

/* Checks the number of ranks of the last call that were not in their bracket; UINT64_MAX: at least
 * one. */
static void check_missed(ech_ctx *ctx, uint64_t expected)
{
    struct quantile_state state;
    if (!CHECK_STATUS(ech_copy(ctx, &state, arrays.work.data, sizeof state), ECH_OK)) return;
    if (expected == UINT64_MAX)
        CHECK(state.missed > 0);
    else
        CHECK_INT(state.missed, expected);
}

/* Quantiles, which are elements. */
static void try_quantiles(ech_ctx *ctx, size_t n, size_t count, ech_dtype dtype, uint64_t expected)
{
    ech_quantile_options o = { .size = sizeof o, .algorithm = "select" };
    if (make_arrays(ctx, ECH_QUANTILE_CALL_QUANTILES, n, count, dtype, &o) &&
        CHECK_STATUS(ech_quantiles(ctx, arrays.in.data, arrays.out.data, q, n, count, dtype,
                                   ECH_QUANTILE_LOWER, &o),
                     ECH_OK) &&
        CHECK_STATUS(ech_sync(ctx), ECH_OK) && buffer_get(&arrays.out, arrays.got)) {
        for (size_t i = 0; i < count; i++)
            CHECK(element(dtype, arrays.got, i) == sorted[(size_t)(q[i] * (double)(n - 1))]);
        check_missed(ctx, expected);
    }
    free_arrays();
}

/* One element and its position. */
static void try_nth(ech_ctx *ctx, size_t n, size_t rank, ech_dtype dtype, uint64_t expected)
{
    ech_quantile_options o = { .size = sizeof o, .algorithm = "select" };
    uint64_t at = 0;
    size_t before = 0;
    if (make_arrays(ctx, ECH_QUANTILE_CALL_NTH, n, 1, dtype, &o) &&
        CHECK_STATUS(ech_nth_element(ctx, arrays.in.data, arrays.out.data, arrays.index.data, n,
                                     rank, dtype, ECH_U64, &o),
                     ECH_OK) &&
        CHECK_STATUS(ech_sync(ctx), ECH_OK) && buffer_get(&arrays.out, arrays.got)) {
        CHECK(element(dtype, arrays.got, 0) == sorted[rank]);
        if (buffer_get(&arrays.index, arrays.got)) memcpy(&at, arrays.got, sizeof at);
        if (CHECK(at < n)) {
            for (size_t i = 0; i < n; i++)
                before += values[i] < values[at] || (values[i] == values[at] && i < at);
            CHECK_INT(before, rank);
        }
        check_missed(ctx, expected);
    }
    free_arrays();
}

/* Several ranks; checks the parts. */
static void try_partition(ech_ctx *ctx, size_t n, ech_dtype dtype, uint64_t expected)
{
    ech_quantile_options o = { .size = sizeof o, .algorithm = "select" };
    const uint64_t ranks[4] = { n / 3, n / 2, n / 2 + 1, n / 4 * 3 };
    size_t wrong = 0;
    if (make_arrays(ctx, ECH_QUANTILE_CALL_PARTITION, n, 4, dtype, &o) &&
        CHECK_STATUS(ech_partition_at(ctx, arrays.in.data, arrays.out.data, arrays.index.data, n,
                                      ranks, 4, dtype, ECH_U64, &o),
                     ECH_OK) &&
        CHECK_STATUS(ech_sync(ctx), ECH_OK) && buffer_get(&arrays.out, arrays.got)) {
        for (int r = 0; r < 4; r++)
            for (size_t i = 0; i < n; i++) {
                const double x = element(dtype, arrays.got, i), bound = sorted[ranks[r]];
                wrong += i < ranks[r] ? x > bound : i > ranks[r] ? x < bound : x != bound;
            }
        CHECK_INT(wrong, 0);
        check_missed(ctx, expected);
    }
    free_arrays();
}

/* ---- Regular arrays ---- */

static const size_t sampled_n[] = { 1900, 2047, 4999, 70001, MOST };
static const ech_dtype sampled_types[] = { ECH_U32, ECH_F64, ECH_U16 };

void quantile_sampled(ech_ctx *ctx)
{
    if (test_is_cpu(ctx)) return;
    for (size_t k = 0; k < sizeof sampled_n / sizeof *sampled_n; k++)
        for (int order = 0; order < ORDERS; order++) {
            const size_t n = sampled_n[k];
            const ech_dtype dtype = sampled_types[(k + (size_t)order) % 3];
            if (!test_begin("sampled(%s,%s,n=%zu,%s)", ech_device_name(ctx), ech_dtype_name(dtype),
                            n, orders[order]))
                continue;
            for (size_t i = 0; i < n; i++) values[i] = value_at(order, i, n);
            sort_values(n);
            try_quantiles(ctx, n, RANKS, dtype, 0);
            try_quantiles(ctx, n, 2, dtype, 0);
            try_nth(ctx, n, n / 2, dtype, 0);
            try_nth(ctx, n, n - 2, dtype, 0);
            test_end();
        }
}

/* ---- A sample without information ---- */

static const size_t misled_n[] = { 4096, 65536, MOST };

static size_t sample_size(size_t n)
{
    return n / 64 < QUANTILE_SAMPLE_LEAST ? (size_t)QUANTILE_SAMPLE_LEAST : n / 64;
}

/* The position of element i of the GPU's sample (cuda/device/sample.cuh). */
static size_t sampled_at(uint64_t n, uint64_t sample, uint64_t i)
{
    const uint64_t part = (n << 20) / sample, first = i * part >> 20;
    const uint64_t size = ((i + 1) * part >> 20) - first;
    uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    return (size_t)(first + ((x >> 32) * size >> 32));
}

/* The elements at the positions of the sample are 0, the others 5, 6, ... in a mixed order, so that
 * no pivot is near a rank; or, if order is "few", three different ones. */
static void mislead(size_t n, bool few)
{
    for (size_t i = 0; i < n; i++)
        values[i] = (double)(5 + (few ? i * 40503 % 65521 % 3 * 9 : i * 40503 % 65521));
    for (size_t i = 0; i < sample_size(n); i++) values[sampled_at(n, sample_size(n), i)] = 0;
    sort_values(n);
}

void quantile_misled(ech_ctx *ctx)
{
    if (test_is_cpu(ctx)) return;
    for (size_t k = 0; k < sizeof misled_n / sizeof *misled_n; k++)
        for (int few = 0; few < 2; few++) {
            const size_t n = misled_n[k];
            const ech_dtype dtype = sampled_types[(k + (size_t)few) % 3];
            if (!test_begin("misled(%s,%s,n=%zu%s)", ech_device_name(ctx), ech_dtype_name(dtype), n,
                            few ? ",few" : ""))
                continue;
            mislead(n, few);
            try_quantiles(ctx, n, 2, dtype, UINT64_MAX);
            /* an element of 16-bit keys is searched without a sample */
            try_nth(ctx, n, n / 2, dtype, dtype == ECH_U16 ? 0 : UINT64_MAX);
            try_partition(ctx, n, dtype, UINT64_MAX);
            test_end();
        }
}
