/*
 * topk_sample.c - the sample of the GPU's algorithm "select" in test_topk.
 *
 *     sampled   sorted arrays whose best elements are last: the sample must contain some of them
 *     misled    arrays whose sampled elements are the worst: the pivot is wrong, and the selection
 *               is repaired
 *
 * The repair would hide a biased sample, because its results are the same.  The workspace begins
 * with the state of the selection, where a repair leaves its mark.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "topk_case.h"

#include "topk/cuda/common.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT = 64, EXPLANATION = 4096 };

/* n + 1 is a multiple of the number of strata: strata of n / sample elements, rounded down, would
 * omit nearly as many elements at the end as there are strata. */
static const size_t sampled_n[] = { 17 * 1024 - 1, 18 * 1024 - 1, 65 * 16384 - 1 };
static const size_t large_n[] = { (1 << 28) - 1, (1 << 30) - 1 }; /* with a large sample */
static const size_t misled_n[] = { 20011, 70001 };

/* The position of element i of the GPU's sample (cuda/device/sample.cuh). */
static size_t sampled_at(uint64_t n, uint64_t sample, uint64_t i)
{
    const uint64_t part = (n << 20) / sample, first = i * part >> 20;
    const uint64_t size = ((i + 1) * part >> 20) - first;
    uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    return (size_t)(first + ((x >> 32) * size >> 32));
}

/* Whether the algorithm takes a sample of such an array. */
static bool takes_sample(ech_ctx *ctx, size_t n, const ech_topk_options *o)
{
    char text[EXPLANATION];
    return CHECK_STATUS(ech_topk_explain(ech_device_name(ctx), ECH_TOPK_CALL_ARRAY, n, 1, KEPT,
                                         ECH_U32, o, ECH_FORMAT_TEXT, text, sizeof text),
                        ECH_OK) &&
           CHECK(strstr(text, "topk_filter") && strstr(text, "topk_repair"));
}

static void check(ech_ctx *ctx, struct buffer *values, struct buffer *work, const uint32_t *wanted,
                  bool repaired)
{
    uint32_t got[KEPT];
    struct topk_long state;
    if (!CHECK_STATUS(ech_sync(ctx), ECH_OK) || !buffer_get(values, (char *)got) ||
        !CHECK_STATUS(ech_copy(ctx, &state, work->data, sizeof state), ECH_OK))
        return;
    CHECK(memcmp(got, wanted, sizeof got) == 0);
    /* A repair sets this field; otherwise it is the complement of the best key, which is not 0. */
    CHECK((state.best_inverted == UINT64_MAX) == repaired);
    CHECK(state.better >= KEPT || state.better + state.equal >= KEPT);
    CHECK(state.better <= state.room);
}

/* Selects the best elements; wanted: these. */
static void try(ech_ctx *ctx, const uint32_t *keys, size_t n, bool smallest, const uint32_t *wanted,
                bool repaired)
{
    ech_topk_options o = { .size = sizeof o, .algorithm = "select", .smallest = smallest };
    struct buffer in = { 0 }, values = { 0 }, work = { 0 };
    size_t bytes = 0;
    if (takes_sample(ctx, n, &o) &&
        CHECK_STATUS(ech_topk_workspace(ech_device_name(ctx), ECH_TOPK_CALL_ARRAY, n, 1, KEPT,
                                        ECH_U32, &o, &bytes),
                     ECH_OK) &&
        buffer_make(&in, ctx, n * 4, 0) && buffer_set(&in, keys) &&
        buffer_make(&values, ctx, KEPT * 4, 0) && buffer_make(&work, ctx, bytes, 0)) {
        o.work = work.data;
        o.work_bytes = bytes;
        if (CHECK_STATUS(ech_topk(ctx, in.data, values.data, NULL, n, KEPT, ECH_U32, ECH_U32, &o),
                         ECH_OK))
            check(ctx, &values, &work, wanted, repaired);
    }
    struct buffer *all[] = { &in, &values, &work };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->base) buffer_free(all[i]);
}

/* The best element is the last one, and so on. */
static void try_sorted(ech_ctx *ctx, uint32_t *keys, size_t n, bool smallest)
{
    uint32_t wanted[KEPT];
    for (size_t i = 0; i < n; i++) keys[i] = 5 + (uint32_t)(smallest ? n - i : i);
    for (size_t i = 0; i < KEPT; i++) wanted[i] = keys[n - 1 - i];
    try(ctx, keys, n, smallest, wanted, false);
}

/* The sampled elements are 1, so that all others are better than any pivot. */
static void try_misled(ech_ctx *ctx, uint32_t *keys, size_t n)
{
    const uint64_t sample = topk_sample_size(n);
    uint32_t wanted[KEPT];
    for (size_t i = 0; i < n; i++) keys[i] = 5 + (uint32_t)(i * 40503 % 65521);
    for (uint64_t i = 0; i < sample; i++) keys[sampled_at(n, sample, i)] = 1;
    for (uint32_t i = 0, best = 70000; i < KEPT; best--)
        for (size_t j = 0; j < n && i < KEPT; j++)
            if (keys[j] == best) wanted[i++] = best;
    try(ctx, keys, n, false, wanted, true);
}

static void sampled(ech_ctx *ctx, size_t n)
{
    for (int smallest = 0; smallest < 2; smallest++) {
        if (!test_begin("sampled(%s,n=%zu,%s)", ech_device_name(ctx), n,
                        smallest ? "smallest" : "largest"))
            continue;
        uint32_t *keys = malloc(n * sizeof *keys);
        if (CHECK(keys)) try_sorted(ctx, keys, n, smallest);
        free(keys);
        test_end();
    }
}

void topk_sampled(ech_ctx *ctx)
{
    if (test_is_cpu(ctx)) return;
    for (size_t k = 0; k < sizeof sampled_n / sizeof *sampled_n; k++) sampled(ctx, sampled_n[k]);
    for (size_t k = 0; k < sizeof misled_n / sizeof *misled_n; k++) {
        const size_t n = misled_n[k];
        if (!test_begin("misled(%s,n=%zu)", ech_device_name(ctx), n)) continue;
        uint32_t *keys = malloc(n * sizeof *keys);
        if (CHECK(keys)) try_misled(ctx, keys, n);
        free(keys);
        test_end();
    }
}

void topk_sampled_large(ech_ctx *ctx)
{
    if (test_is_cpu(ctx)) return;
    for (size_t k = 0; k < sizeof large_n / sizeof *large_n; k++) sampled(ctx, large_n[k]);
}
