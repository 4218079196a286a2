/*
 * topk_large.c - top-k selections from more than 2^32 elements, if memory suffices.
 *
 * All elements of a group are 100, except for PLANTED elements, which are less or greater and whose
 * positions are spread over the group.  The remaining selected elements are the first ones that are
 * 100, so that positions and ties at both ends of the group are tested.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "topk_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLANTED = 20, GROUPS = 3, MOST_K = 3000 };

struct large {
    ech_dtype dtype; /* u8 or u32 */
    ech_topk_call call;
    size_t groups, n; /* elements of one group */
    size_t k;
};

#define BILLIONS ((size_t)1 << 32)

static const struct large cases[] = {
    { ECH_U8, ECH_TOPK_CALL_ARRAY, 1, BILLIONS + 1000003, 30 },
    { ECH_U8, ECH_TOPK_CALL_ARRAY, 1, BILLIONS + 1000003, MOST_K },
    { ECH_U8, ECH_TOPK_CALL_ROWS, 3, BILLIONS / 2 - 12345, 30 },
    { ECH_U8, ECH_TOPK_CALL_SEGMENTS, 2, BILLIONS + 7, 30 },
    { ECH_U32, ECH_TOPK_CALL_ARRAY, 1, BILLIONS + 1000003, 30 },
    { ECH_U32, ECH_TOPK_CALL_ROWS, 3, BILLIONS / 2 - 12345, MOST_K },
};

/* Planted element j of a group. */
static size_t planted_at(const struct large *c, size_t g, size_t j)
{
    return j == PLANTED - 1 ? c->n - 1 - g : c->n / PLANTED * j + 1000 + g;
}

static uint32_t planted_value(size_t j)
{
    return (uint32_t)(j % 2 ? 101 + 7 * j % PLANTED : 99 - 7 * j % PLANTED);
}

static bool plant(ech_ctx *ctx, const struct large *c, char *in)
{
    const size_t bytes = ech_dtype_bytes(c->dtype);
    const uint32_t hundred = 100;
    if (!CHECK_STATUS(ech_fill(ctx, in, c->groups * c->n, bytes, &hundred), ECH_OK)) return false;
    for (size_t g = 0; g < c->groups; g++)
        for (size_t j = 0; j < PLANTED; j++) {
            const uint32_t value = planted_value(j);
            char *at = in + (g * c->n + planted_at(c, g, j)) * bytes;
            if (!CHECK_STATUS(ech_copy(ctx, at, &value, bytes), ECH_OK)) return false;
        }
    return true;
}

/* The expected positions: the planted elements of one side, the best first, then the first
 * others. */
static void expect(const struct large *c, size_t g, bool smallest, uint64_t *positions)
{
    size_t count = 0;
    for (uint32_t away = 100; away > 0; away--)
        for (size_t j = 0; j < PLANTED; j++)
            if (planted_value(j) == (smallest ? 100 - away : 100 + away))
                positions[count++] = planted_at(c, g, j);
    for (uint64_t i = 0; count < c->k; i++) {
        bool planted = false;
        for (size_t j = 0; j < PLANTED; j++) planted |= planted_at(c, g, j) == i;
        if (!planted) positions[count++] = i;
    }
}

static uint64_t free_memory(const ech_ctx *ctx)
{
    for (int i = 0; i < ech_device_count(); i++) {
        ech_device device = { .size = sizeof device };
        if (ech_device_get(i, &device) == ECH_OK && !strcmp(device.name, ech_device_name(ctx)))
            return device.free_bytes;
    }
    return 0;
}

static void select_and_check(ech_ctx *ctx, const struct large *c, const void *in, uint64_t *indices,
                             const void *offsets, bool smallest)
{
    const ech_topk_options o = { .size = sizeof o, .smallest = smallest };
    uint64_t *got = calloc(c->groups * c->k, sizeof *got);
    uint64_t *wanted = calloc(c->k + PLANTED, sizeof *wanted);
    const ech_status status =
        c->call == ECH_TOPK_CALL_ARRAY
            ? ech_topk(ctx, in, NULL, indices, c->n, c->k, c->dtype, ECH_U64, &o)
        : c->call == ECH_TOPK_CALL_ROWS
            ? ech_topk_rows(ctx, in, NULL, indices, c->groups, c->n, c->k, c->dtype, ECH_U64, &o)
            : ech_topk_segments(ctx, in, offsets, NULL, NULL, indices, c->groups * c->n, c->groups,
                                c->k, c->dtype, ECH_U64, ECH_U64, &o);
    if (!CHECK(got && wanted) ||
        !test_check_status(__FILE__, __LINE__, "the selection", status, ECH_OK, ctx) ||
        !CHECK_STATUS(ech_copy(ctx, got, indices, c->groups * c->k * sizeof *got), ECH_OK))
        goto done;
    for (size_t g = 0; g < c->groups; g++) {
        expect(c, g, smallest, wanted);
        size_t j = 0;
        while (j < c->k && got[g * c->k + j] == wanted[j]) j++;
        if (j < c->k)
            test_fail(__FILE__, __LINE__, "group %zu, position %zu is %llu, not %llu", g, j,
                      (unsigned long long)got[g * c->k + j], (unsigned long long)wanted[j]);
    }
done:
    free(got);
    free(wanted);
}

static void run(ech_ctx *ctx, const struct large *c)
{
    const size_t bytes = ech_dtype_bytes(c->dtype), n = c->groups * c->n;
    const size_t offsets_bytes = (c->groups + 1) * 8, index_bytes = 8 * c->groups * c->k;
    void *in = NULL, *indices = NULL, *offsets = NULL;
    size_t work_bytes = 0;
    CHECK_STATUS(ech_topk_workspace(ech_device_name(ctx), c->call, n, c->groups, c->k, c->dtype,
                                    NULL, &work_bytes),
                 ECH_OK);
    ech_trim(ctx); /* the pool keeps the memory of earlier cases */
    const uint64_t needed = n * bytes + index_bytes + offsets_bytes + work_bytes;
    if (needed + needed / 16 > free_memory(ctx)) {
        test_skip("needs %.1f GB; %.1f GB are free", (double)needed / 1e9,
                  (double)free_memory(ctx) / 1e9);
        return;
    }
    uint64_t starts[GROUPS + 1];
    for (size_t g = 0; g <= c->groups; g++) starts[g] = g * c->n;
    if (CHECK_STATUS(ech_malloc(ctx, &in, n * bytes), ECH_OK) &&
        CHECK_STATUS(ech_malloc(ctx, &indices, index_bytes), ECH_OK) &&
        CHECK_STATUS(ech_malloc(ctx, &offsets, offsets_bytes), ECH_OK) &&
        CHECK_STATUS(ech_copy(ctx, offsets, starts, offsets_bytes), ECH_OK) && plant(ctx, c, in))
        for (int smallest = 0; smallest < 2; smallest++)
            select_and_check(ctx, c, in, indices, offsets, smallest);
    ech_free(ctx, in, n * bytes);
    ech_free(ctx, indices, index_bytes);
    ech_free(ctx, offsets, offsets_bytes);
}

void topk_large(ech_ctx *ctx)
{
    static const char *const calls[] = { "array", "rows", "segments" };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct large *c = &cases[i];
        if (!test_begin("large(%s,%s,%s,%zux%zu,k=%zu)", ech_device_name(ctx),
                        ech_dtype_name(c->dtype), calls[c->call], c->groups, c->n, c->k))
            continue;
        run(ctx, c);
        test_end();
    }
}
