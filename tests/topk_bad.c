/*
 * topk_bad.c - wrong arguments of top-k selections, with the message of each, and calls that do
 * nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "topk_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t in[64], values[64], indices[64];

static void bad_arrays(ech_ctx *ctx)
{
#define REFUSED(part, ...) CHECK_FAILS(ctx, ech_topk(ctx, __VA_ARGS__), ECH_ERR_ARG, part)
    const size_t beyond_i32 = ((size_t)1 << 31) + 1;
    CHECK_FAILS(NULL, ech_topk(NULL, in, values, NULL, 6, 2, ECH_U32, ECH_U32, NULL), ECH_ERR_ARG,
                "ctx is NULL");
    CHECK_FAILS(NULL, ech_topk(NULL, in, values, NULL, 6, 0, ECH_U32, ECH_U32, NULL), ECH_ERR_ARG,
                "ctx is NULL");
    REFUSED("in is NULL", NULL, values, NULL, 6, 2, ECH_U32, ECH_U32, NULL);
    REFUSED("values and indices are NULL", in, NULL, NULL, 6, 2, ECH_U32, ECH_U32, NULL);
    REFUSED("k is 7, more than the 6 elements", in, values, NULL, 6, 7, ECH_U32, ECH_U32, NULL);
    REFUSED("k is 1, more than the 0 elements", in, values, NULL, 0, 1, ECH_U32, ECH_U32, NULL);
    REFUSED("dtype is 12", in, values, NULL, 6, 2, (ech_dtype)12, ECH_U32, NULL);
    REFUSED("index_dtype is f32", in, NULL, indices, 6, 2, ECH_U32, ECH_F32, NULL);
    REFUSED("index_dtype i32 represents only", in, NULL, indices, beyond_i32, 2, ECH_U32, ECH_I32,
            NULL);
    REFUSED("in and values overlap", in, in, NULL, 6, 2, ECH_U32, ECH_U32, NULL);
    REFUSED("in and indices overlap", in, values, in + 5, 6, 2, ECH_U32, ECH_U32, NULL);
    REFUSED("values and indices overlap", in, values, values + 1, 6, 2, ECH_U32, ECH_U32, NULL);
    REFUSED("values is not aligned", in, (char *)values + 1, NULL, 6, 2, ECH_U32, ECH_U32, NULL);
    REFUSED("indices is not aligned", in, NULL, indices + 1, 6, 2, ECH_U32, ECH_I64, NULL);
    REFUSED("n is ", in, values, NULL, SIZE_MAX / 2, 2, ECH_U32, ECH_U32, NULL);
#undef REFUSED
    CHECK_STATUS(ech_topk(ctx, in, values, NULL, 6, 2, ECH_U32, ECH_F32, NULL), ECH_OK);
}

static void bad_options(ech_ctx *ctx)
{
    ech_topk_options o = { .size = sizeof o };
#define REFUSED(part) REFUSED_BY(part, 6, 2)
#define REFUSED_BY(part, n, k)                                                                     \
    CHECK_FAILS(ctx, ech_topk(ctx, in, values, NULL, n, k, ECH_U32, ECH_U32, &o), ECH_ERR_ARG, part)
    o.smallest = 2;
    REFUSED("options->smallest is 2");
    o.smallest = 0, o.unsorted = -1;
    REFUSED("options->unsorted is -1");
    o.unsorted = 0, o.order = (ech_order)2;
    REFUSED("options->order is 2");
    o.order = ECH_ORDER_NAN_LAST, o.counts = indices, o.counts_dtype = ECH_F64;
    REFUSED("options->counts_dtype is f64");
    o.counts_dtype = ECH_U32, o.counts = (char *)indices + 2;
    REFUSED("options->counts is not aligned");
    o.counts = values;
    REFUSED("values and options->counts overlap");
    o.counts = NULL, o.algorithm = "unheard-of";
    REFUSED("unheard-of");
    REFUSED_BY("unheard-of", 0, 0);
    REFUSED_BY("available: ", 6, 0);
    o.algorithm = NULL, o.out_element_stride = 2;
    REFUSED("out_element_stride must be 0: they are for rows");
    o.out_element_stride = 0, o.work_bytes = 1;
    REFUSED("options->work is NULL");
    o.work_bytes = 0, o.size = 4;
    REFUSED("options->size is 4");
#undef REFUSED
#undef REFUSED_BY
}

/* A workspace that is too small, by one byte. */
static void bad_work(ech_ctx *ctx)
{
    enum { N = 5000, K = 200 };
    static float x[N], best[K];
    ech_topk_options o = { .size = sizeof o };
    size_t bytes = 0;
    void *work = NULL;
    CHECK_STATUS(ech_topk_workspace(ech_device_name(ctx), ECH_TOPK_CALL_ARRAY, N, 1, K, ECH_F32,
                                    NULL, &bytes),
                 ECH_OK);
    if (!bytes || !CHECK_STATUS(ech_malloc(ctx, &work, bytes), ECH_OK)) return;
    o.work = work;
    o.work_bytes = bytes - 1;
    CHECK_FAILS(ctx, ech_topk(ctx, x, best, NULL, N, K, ECH_F32, ECH_U32, &o), ECH_ERR_MEMORY,
                "options->work_bytes is ");
    o.work_bytes = bytes;
    CHECK_STATUS(ech_topk(ctx, x, best, NULL, N, K, ECH_F32, ECH_U32, &o), ECH_OK);
    ech_free(ctx, work, bytes);
}

static void bad_rows(ech_ctx *ctx)
{
    ech_topk_options o = { .size = sizeof o };
#define REFUSED(part, rows, cols, k)                                                               \
    CHECK_FAILS(ctx, ech_topk_rows(ctx, in, values, NULL, rows, cols, k, ECH_U32, ECH_U32, &o),    \
                ECH_ERR_ARG, part)
    REFUSED("k is 4, more than the 3 elements", 2, 3, 4);
    REFUSED("rows * cols overflows", SIZE_MAX / 2, 3, 1);
    o.row_stride = 2;
    REFUSED("options->row_stride is 2", 2, 3, 1);
    o.row_stride = 3, o.element_stride = 2;
    REFUSED("element_stride is 2", 2, 3, 1);
    o.row_stride = SIZE_MAX / 2, o.element_stride = 1;
    REFUSED("overflow", 4, 3, 1);
    o.row_stride = 0, o.element_stride = SIZE_MAX / 2;
    REFUSED("overflow", 4, 3, 1);
    o.element_stride = 0, o.out_row_stride = 1;
    REFUSED("options->out_row_stride is 1", 2, 3, 2);
    o.out_row_stride = 2, o.out_element_stride = 2;
    REFUSED("out_element_stride is 2", 2, 3, 2);
    o.out_row_stride = SIZE_MAX / 2, o.out_element_stride = 1;
    REFUSED("overflow", 4, 3, 2);
#undef REFUSED
    CHECK_STATUS(ech_topk_rows(ctx, NULL, NULL, NULL, 0, 3, 2, ECH_U32, ECH_U32, NULL), ECH_OK);
    CHECK_STATUS(ech_topk_rows(ctx, NULL, NULL, NULL, 3, 0, 0, ECH_U32, ECH_U32, NULL), ECH_OK);
    CHECK_STATUS(ech_topk_rows(ctx, NULL, NULL, NULL, 3, 5, 0, ECH_U32, ECH_U32, NULL), ECH_OK);
}

static void bad_questions(ech_ctx *ctx)
{
    const char *device = ech_device_name(ctx);
    size_t bytes;
    char text[64];
#define REFUSED(part, call, n, groups, k, bytes)                                                   \
    CHECK_FAILS(NULL, ech_topk_workspace(device, call, n, groups, k, ECH_U32, NULL, bytes),        \
                ECH_ERR_ARG, part)
    REFUSED("call is 3", (ech_topk_call)3, 6, 1, 1, &bytes);
    REFUSED("groups is 2, not 1", ECH_TOPK_CALL_ARRAY, 6, 2, 1, &bytes);
    REFUSED("not a multiple of the 2 rows", ECH_TOPK_CALL_ROWS, 7, 2, 1, &bytes);
    REFUSED("k is 4, more than the 3 elements", ECH_TOPK_CALL_ROWS, 6, 2, 4, &bytes);
    REFUSED("bytes is NULL", ECH_TOPK_CALL_ROWS, 6, 2, 1, NULL);
#undef REFUSED
    CHECK_FAILS(NULL,
                ech_topk_explain(device, ECH_TOPK_CALL_ROWS, 6, 2, 1, (ech_dtype)12, NULL,
                                 ECH_FORMAT_TEXT, text, sizeof text),
                ECH_ERR_ARG, "dtype is 12");
}

void topk_bad(ech_ctx *ctx)
{
    static const struct {
        const char *name;
        void (*run)(ech_ctx *ctx);
    } tests[] = { { "arrays", bad_arrays },
                  { "options", bad_options },
                  { "work", bad_work },
                  { "rows", bad_rows },
                  { "questions", bad_questions } };
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        if (!test_begin("bad_%s(%s)", tests[i].name, ech_device_name(ctx))) continue;
        tests[i].run(ctx);
        test_end();
    }
}

/* ---- Offsets and counts ---- */

enum { SEGMENTS = 70, N = 7 * SEGMENTS, K = 3 };
static uint32_t array[N], out[SEGMENTS * K], offsets[SEGMENTS + 1], ends[SEGMENTS];

static void fill(void)
{
    for (size_t i = 0; i < SEGMENTS * K; i++) out[i] = 77;
}

/* On the CPU, nothing is written. */
static void check_unchanged(ech_ctx *ctx)
{
    size_t changed = 0;
    for (size_t i = 0; i < SEGMENTS * K; i++) changed += out[i] != 77;
    if (test_is_cpu(ctx)) CHECK_INT(changed, 0);
    fill();
}

static void refused(ech_ctx *ctx, bool with_ends, ech_dtype dtype, const char *text)
{
    CHECK_FAILS(ctx,
                ech_topk_segments(ctx, array, offsets, with_ends ? ends : NULL, out, NULL, N,
                                  SEGMENTS, K, ECH_U32, ECH_U32, dtype, NULL),
                ECH_ERR_ARG, text);
    check_unchanged(ctx);
}

/* Offsets that decrease, overlap or exceed n, at each of 70 positions. */
static void bad_segments(ech_ctx *ctx)
{
    char text[64];
    ech_topk_options o = { .size = sizeof o, .row_stride = 7 };
    for (uint32_t s = 0; s <= SEGMENTS; s++) offsets[s] = 7 * s;
    for (uint32_t s = 0; s < SEGMENTS; s++) ends[s] = 7 * s + 5;
    fill();
    for (uint32_t s = 0; s <= SEGMENTS; s++) {
        const uint32_t kept = offsets[s];
        snprintf(text, sizeof text, "offsets[%u] is ", s);
        offsets[s] = N + 1;
        refused(ctx, false, ECH_U32, text);
        if (s < SEGMENTS) refused(ctx, true, ECH_I32, text);
        if (s) offsets[s] = 7 * (s - 1) + 4;
        if (s && s < SEGMENTS) refused(ctx, true, ECH_U32, text);
        if (s) offsets[s] = 7 * (s - 1) - 1;
        if (s > 1) refused(ctx, false, ECH_I32, text);
        offsets[s] = kept;
        if (s == SEGMENTS) break;
        snprintf(text, sizeof text, "ends[%u] is ", s);
        ends[s] = N + 1;
        refused(ctx, true, ECH_U32, text);
        ends[s] = 7 * s + 5;
    }
    CHECK_FAILS(ctx,
                ech_topk_segments(ctx, array, NULL, NULL, out, NULL, N, SEGMENTS, K, ECH_U32,
                                  ECH_U32, ECH_U32, NULL),
                ECH_ERR_ARG, "offsets is NULL");
    CHECK_FAILS(ctx,
                ech_topk_segments(ctx, array, offsets, NULL, out, NULL, N, SEGMENTS, K, ECH_U32,
                                  ECH_U32, ECH_U32, &o),
                ECH_ERR_ARG, "options->row_stride and element_stride must be 0");
    refused(ctx, false, ECH_F32, "offsets_dtype");
    CHECK_STATUS(ech_topk_segments(ctx, NULL, NULL, NULL, NULL, NULL, 0, 0, K, ECH_U32, ECH_U32,
                                   ECH_U32, NULL),
                 ECH_OK);
    CHECK_STATUS(ech_topk_segments(ctx, array, offsets, ends, out, NULL, N, SEGMENTS, K, ECH_U32,
                                   ECH_U32, ECH_U32, NULL),
                 ECH_OK);
}

/* Counts that are negative or greater than k. */
static void bad_counts(ech_ctx *ctx)
{
    static int64_t wide[SEGMENTS];
    static int32_t narrow[SEGMENTS];
    ech_topk_options o = { .size = sizeof o };
    char text[64];
    memset(wide, 0, sizeof wide);
    memset(narrow, 0, sizeof narrow);
    fill();
    for (uint32_t g = 0; g < SEGMENTS; g++) {
        const int wrong = g % 2 ? -1 : K + 1;
        snprintf(text, sizeof text, "options->counts[%u] is negative or more than k", g);
        wide[g] = narrow[g] = wrong;
        o.counts = g % 3 ? (const void *)wide : (const void *)narrow;
        o.counts_dtype = g % 3 ? ECH_I64 : ECH_I32;
        CHECK_FAILS(ctx, ech_topk_rows(ctx, array, out, NULL, SEGMENTS, 7, K, ECH_U32, ECH_U32, &o),
                    ECH_ERR_ARG, text);
        check_unchanged(ctx);
        CHECK_FAILS(ctx,
                    ech_topk_segments(ctx, array, offsets, NULL, out, NULL, N, SEGMENTS, K, ECH_U32,
                                      ECH_U32, ECH_U32, &o),
                    ECH_ERR_ARG, text);
        check_unchanged(ctx);
        wide[g] = narrow[g] = 0;
    }
    o.counts = narrow;
    o.counts_dtype = ECH_U32;
    CHECK_STATUS(ech_topk_rows(ctx, array, out, NULL, SEGMENTS, 7, K, ECH_U32, ECH_U32, &o),
                 ECH_OK);
    if (test_is_cpu(ctx)) check_unchanged(ctx);
}

/* Many groups, which several threads check: a wrong offset or count at the limits of their
 * parts. */
static void bad_many(ech_ctx *ctx)
{
    enum { MANY = 100000, PART = 1 << 14 };
    static const uint32_t places[] = { 1, PART - 1, PART, PART + 1, 5 * PART, MANY - 1 };
    uint64_t *starts = malloc((MANY + 1) * sizeof *starts);
    uint32_t *counts = calloc(MANY, sizeof *counts);
    uint8_t *x = calloc(2 * MANY, 1), *best = calloc(MANY, 1);
    if (!CHECK(starts && counts && x && best)) goto done;
    for (size_t s = 0; s <= MANY; s++) starts[s] = 2 * s;
    for (int threads = 1; threads <= 4; threads += 3) {
        CHECK_STATUS(ech_set_threads(ctx, threads), ECH_OK);
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            ech_topk_options o = { .size = sizeof o, .counts = counts, .counts_dtype = ECH_U32 };
            char text[64];
            const uint64_t kept = starts[places[i]];
            snprintf(text, sizeof text, "offsets[%u] is ", places[i]);
            starts[places[i]] = 2 * MANY + 1;
            CHECK_FAILS(ctx,
                        ech_topk_segments(ctx, x, starts, NULL, best, NULL, 2 * MANY, MANY, 1,
                                          ECH_U8, ECH_U32, ECH_U64, NULL),
                        ECH_ERR_ARG, text);
            starts[places[i]] = kept;
            snprintf(text, sizeof text, "options->counts[%u] is ", places[i]);
            counts[places[i]] = 2;
            CHECK_FAILS(ctx,
                        ech_topk_segments(ctx, x, starts, NULL, best, NULL, 2 * MANY, MANY, 1,
                                          ECH_U8, ECH_U32, ECH_U64, &o),
                        ECH_ERR_ARG, text);
            counts[places[i]] = 0;
        }
    }
done:
    free(starts);
    free(counts);
    free(x);
    free(best);
}

void topk_bad_groups(ech_ctx *ctx)
{
    static const struct {
        const char *name;
        void (*run)(ech_ctx *ctx);
    } tests[] = { { "segments", bad_segments }, { "counts", bad_counts }, { "many", bad_many } };
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        if (i == 2 && !test_is_cpu(ctx)) continue;
        if (!test_begin("bad_%s(%s)", tests[i].name, ech_device_name(ctx))) continue;
        tests[i].run(ctx);
        test_end();
    }
}
