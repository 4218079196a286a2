/*
 * select_bad.c - calls of test_select that must fail: checks the status, and that the message
 * names the argument.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "select_case.h"

#include <stdlib.h>
#include <string.h>

enum { N = 100 };

static uint32_t in[N + 1], out[N + 1], low = 3, high = 5;
static uint8_t flags[N + 1];
static uint64_t lengths[N + 1], count[2];
static char values[N], values_out[N];

static void arguments(ech_ctx *ctx)
{
    uint64_t *odd_count = (uint64_t *)(void *)((char *)count + 1);
    uint32_t *odd = (uint32_t *)(void *)((char *)in + 2);
    CHECK_FAILS(NULL, ech_unique(NULL, in, out, count, N, ECH_U32, NULL), ECH_ERR_ARG, "ctx");
    CHECK_FAILS(ctx, ech_unique(ctx, NULL, out, count, N, ECH_U32, NULL), ECH_ERR_ARG,
                "in is NULL");
    CHECK_FAILS(ctx, ech_unique(ctx, in, NULL, count, N, ECH_U32, NULL), ECH_ERR_ARG,
                "out is NULL");
    CHECK_FAILS(ctx, ech_unique(ctx, in, out, NULL, N, ECH_U32, NULL), ECH_ERR_ARG,
                "count is NULL");
    CHECK_FAILS(ctx, ech_unique(ctx, NULL, NULL, NULL, 0, ECH_U32, NULL), ECH_ERR_ARG,
                "count is NULL");
    CHECK_FAILS(ctx, ech_unique(ctx, in, out, odd_count, N, ECH_U32, NULL), ECH_ERR_ARG, "count");
    CHECK_FAILS(ctx, ech_unique(ctx, in, in, count, N, ECH_U32, NULL), ECH_ERR_ARG, "overlap");
    CHECK_FAILS(ctx, ech_unique(ctx, odd, out, count, N - 1, ECH_U32, NULL), ECH_ERR_ARG,
                "in is not aligned");
    CHECK_FAILS(ctx, ech_unique(ctx, in, out, count, N, (ech_dtype)77, NULL), ECH_ERR_ARG, "dtype");
    CHECK_FAILS(ctx, ech_unique(ctx, in, out, count, SIZE_MAX / 2, ECH_U32, NULL), ECH_ERR_ARG,
                "n is");
    CHECK_FAILS(ctx, ech_select_if(ctx, (ech_compare)99, in, out, count, N, ECH_U32, &low, NULL),
                ECH_ERR_ARG, "compare");
    CHECK_FAILS(ctx, ech_select_if(ctx, ECH_COMPARE_LESS, in, out, count, N, ECH_U32, NULL, NULL),
                ECH_ERR_ARG, "value is NULL");
    CHECK_FAILS(ctx,
                ech_select_if(ctx, ECH_COMPARE_HAS_ANY, in, out, count, N, ECH_F32, &low, NULL),
                ECH_ERR_ARG, "bits");
    CHECK_FAILS(ctx, ech_select_flags(ctx, in, NULL, out, count, N, 4, NULL), ECH_ERR_ARG,
                "flags is NULL");
    CHECK_FAILS(ctx, ech_select_flags(ctx, in, flags, out, count, N, 0, NULL), ECH_ERR_ARG,
                "element_bytes is 0");
    CHECK_FAILS(ctx, ech_partition_flags(ctx, in, flags, in, count, N, 4, NULL), ECH_ERR_ARG,
                "overlap");
    CHECK_FAILS(ctx, ech_partition_3way(ctx, in, out, count, N, ECH_U32, NULL, &high, NULL),
                ECH_ERR_ARG, "low is NULL");
    CHECK_FAILS(ctx, ech_partition_3way(ctx, in, out, count, N, ECH_U32, &low, NULL, NULL),
                ECH_ERR_ARG, "high is NULL");
    CHECK_FAILS(ctx, ech_partition_3way(ctx, in, out, count, N, ECH_U32, &high, &low, NULL),
                ECH_ERR_ARG, "low is greater");
    CHECK_FAILS(ctx, ech_partition_3way(ctx, in, out, NULL, N, ECH_U32, &low, &high, NULL),
                ECH_ERR_ARG, "counts is NULL");
    CHECK_FAILS(ctx,
                ech_unique_by_key(ctx, in, values, out, values_out, count, N, ECH_U32, 0, NULL),
                ECH_ERR_ARG, "value_bytes is 0");
    CHECK_FAILS(ctx, ech_unique_by_key(ctx, in, values, out, NULL, count, N, ECH_U32, 1, NULL),
                ECH_ERR_ARG, "values_out is NULL");
    CHECK_FAILS(ctx, ech_rle_encode(ctx, in, out, NULL, count, N, ECH_U32, NULL), ECH_ERR_ARG,
                "lengths is NULL");
    CHECK_FAILS(ctx, ech_rle_decode(ctx, in, NULL, out, N, N, 4, NULL), ECH_ERR_ARG,
                "lengths is NULL");
    CHECK_FAILS(ctx, ech_rle_decode(ctx, in, lengths, NULL, N, N, 4, NULL), ECH_ERR_ARG,
                "out is NULL");
}

static void nan_bounds(ech_ctx *ctx)
{
    const uint32_t nan = 0x7fc00000u, zero = 0;
    CHECK_FAILS(ctx, ech_partition_3way(ctx, in, out, count, N, ECH_F32, &zero, &nan, NULL),
                ECH_ERR_ARG, "NaN");
    CHECK_FAILS(ctx, ech_partition_3way(ctx, in, out, count, N, ECH_F32, &nan, &nan, NULL),
                ECH_ERR_ARG, "NaN");
}

static void options(ech_ctx *ctx)
{
    ech_select_options o = { .size = 7 };
    size_t bytes = 1;
    CHECK_FAILS(ctx, ech_unique(ctx, in, out, count, N, ECH_U32, &o), ECH_ERR_ARG, "options->size");
    o = (ech_select_options){ .size = sizeof o, .positions = ECH_U64 };
    CHECK_FAILS(ctx, ech_unique(ctx, in, out, count, N, ECH_U32, &o), ECH_ERR_ARG,
                "options->positions");
    CHECK_FAILS(ctx, ech_partition_flags(ctx, in, flags, out, count, N, 4, &o), ECH_ERR_ARG,
                "options->positions");
    o = (ech_select_options){ .size = sizeof o, .invert = 1 };
    CHECK_FAILS(ctx, ech_rle_encode(ctx, in, out, lengths, count, N, ECH_U32, &o), ECH_ERR_ARG,
                "options->invert");
    CHECK_FAILS(ctx, ech_partition_3way(ctx, in, out, count, N, ECH_U32, &low, &high, &o),
                ECH_ERR_ARG, "options->invert");
    CHECK_FAILS(ctx, ech_rle_decode(ctx, in, lengths, out, N, N, 4, &o), ECH_ERR_ARG,
                "options->invert");
    o = (ech_select_options){ .size = sizeof o, .work_bytes = 1 };
    CHECK_FAILS(ctx, ech_unique(ctx, in, out, count, N, ECH_U32, &o), ECH_ERR_ARG,
                "options->work is NULL");
    o = (ech_select_options){ .size = sizeof o, .work = (char *)in + 4, .work_bytes = 4 };
    CHECK_FAILS(ctx, ech_unique(ctx, in, out, count, N, ECH_U32, &o), ECH_ERR_ARG,
                "options->work is not aligned");
    CHECK_FAILS(NULL, ech_select_workspace("cpu", ECH_SELECT_CALL_IF, N, 4, 0, NULL, NULL),
                ECH_ERR_ARG, "bytes is NULL");
    CHECK_FAILS(NULL, ech_select_workspace("cpu", ECH_SELECT_CALL_IF, N, 0, 0, NULL, &bytes),
                ECH_ERR_ARG, "element_bytes is 0");
    CHECK_FAILS(NULL, ech_select_workspace("abacus", ECH_SELECT_CALL_IF, N, 4, 0, NULL, &bytes),
                ECH_ERR_ARG, "abacus");
}

/* Lengths whose sum exceeds n or 2^64. With host memory the call itself fails. */
static void long_lengths(ech_ctx *ctx)
{
    static const uint64_t sets[][3] = { { 50, 51, 0 }, { 1, 2, UINT64_MAX }, { 101, 0, 0 } };
    static const char *const wheres[] = { "lengths[1]", "lengths[2]", "lengths[0]" };
    static const uint64_t two = (uint64_t)1 << 63;
    for (int i = 0; i < 3; i++) {
        memset(lengths, 0, sizeof lengths);
        memcpy(lengths, sets[i], sizeof sets[i]);
        CHECK_FAILS(ctx, ech_rle_decode(ctx, in, lengths, out, N, N, 4, NULL), ECH_ERR_ARG,
                    wheres[i]);
    }
    for (size_t i = 0; i < 6; i++) lengths[i] = two;
    CHECK_FAILS(ctx, ech_rle_decode(ctx, in, lengths, out, N, N, 4, NULL), ECH_ERR_ARG,
                "lengths[0]");
    memset(lengths, 0, sizeof lengths);
    CHECK_STATUS(ech_rle_decode(ctx, in, lengths, out, N, N, 4, NULL), ECH_OK);
    CHECK_STATUS(ech_rle_decode(ctx, in, lengths, NULL, N, 0, 4, NULL), ECH_OK);
    CHECK_STATUS(ech_rle_decode(ctx, NULL, NULL, out, 0, N, 4, NULL), ECH_OK);
    lengths[7] = 1;
    CHECK_FAILS(ctx, ech_rle_decode(ctx, in, lengths, NULL, N, 0, 4, NULL), ECH_ERR_ARG,
                "lengths[7]");
    CHECK_STATUS(ech_sync(ctx), ECH_OK);
}

static void *refuse(void *user, size_t bytes, void *stream)
{
    (void)user;
    (void)bytes;
    (void)stream;
    return NULL;
}

static void take_back(void *user, void *pointer, size_t bytes, void *stream)
{
    (void)user;
    (void)pointer;
    (void)bytes;
    (void)stream;
}

static void no_memory(ech_ctx *ctx)
{
    enum { MANY = 5000 }; /* fewer elements need no workspace on the CPU */
    static uint32_t many[MANY], many_out[MANY];
    static uint64_t zeros[MANY];
    const ech_allocator none = { sizeof(ech_allocator), refuse, take_back, NULL };
    if (!CHECK_STATUS(ech_set_allocator(ctx, &none), ECH_OK)) return;
    CHECK_FAILS(ctx, ech_unique(ctx, many, many_out, count, MANY, ECH_U32, NULL), ECH_ERR_MEMORY,
                "out of memory");
    CHECK_FAILS(ctx, ech_rle_decode(ctx, many, zeros, many_out, MANY, MANY, 4, NULL),
                ECH_ERR_MEMORY, "out of memory");
    CHECK_STATUS(ech_set_allocator(ctx, NULL), ECH_OK);
}

void select_bad(ech_ctx *ctx)
{
    static const struct {
        const char *name;
        void (*run)(ech_ctx *ctx);
    } groups[] = { { "arguments", arguments },
                   { "nan_bounds", nan_bounds },
                   { "options", options },
                   { "long_lengths", long_lengths },
                   { "no_memory", no_memory } };
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        if (!test_begin("bad_%s(%s)", groups[i].name, ech_device_name(ctx))) continue;
        groups[i].run(ctx);
        test_end();
    }
}
