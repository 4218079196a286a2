/*
 * structs.c - a program compiled with a header of another version: structs.sh removes the last
 * fields of the structs that begin with `size`, or adds fields to them.
 *
 *     structs        exit status 0: every call returned the right result
 *     OLDER          work_bytes, the last field of options, is missing
 *     NEWER          the field `newer` exists: 0 has no effect, other values are rejected
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <echelon.h>
#include <stdio.h>
#include <string.h>

static int failures;

static void expect(const char *what, ech_status got, ech_status wanted)
{
    if (got == wanted) return;
    failures++;
    printf("%s: %s instead of %s: %s\n", what, ech_status_name(got), ech_status_name(wanted),
           ech_error(NULL));
}

static void expect_true(const char *what, int holds)
{
    if (holds) return;
    failures++;
    printf("check failed: %s\n", what);
}

/* All fields of the options are set, so the test detects any field that is read from a wrong
 * offset. */
static void sorts(ech_ctx *ctx)
{
    float keys[5] = { 3, 1, 2, 5, 4 }, out[5];
    ech_sort_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.descending = 1;
    options.algorithm = "msd";
    expect("ech_sort", ech_sort(ctx, keys, out, 5, ECH_F32, &options), ECH_OK);
    expect_true("descending", out[0] == 5 && out[4] == 1);
    options.algorithm = "bogo";
    expect("ech_sort by bogo", ech_sort(ctx, keys, out, 5, ECH_F32, &options), ECH_ERR_ARG);
#ifndef OLDER
    options.algorithm = NULL;
    options.row_stride = 1;
    options.element_stride = 2;
    options.out_row_stride = 2;
    options.out_element_stride = 1;
    expect("ech_sort_rows", ech_sort_rows(ctx, keys, out, 2, 2, ECH_F32, &options), ECH_OK);
    expect_true("strides", out[0] == 3 && out[1] == 2 && out[2] == 5 && out[3] == 1);
    options.row_stride = options.element_stride = 0;
    options.out_row_stride = options.out_element_stride = 0;
#endif
#ifdef NEWER
    options.algorithm = NULL;
    options.newer[1] = 1;
    expect("ech_sort with an unknown field", ech_sort(ctx, keys, out, 5, ECH_F32, &options),
           ECH_ERR_UNSUPPORTED);
#endif
}

static void topks(ech_ctx *ctx)
{
    float in[5] = { 3, 1, 2, 5, 4 }, values[2] = { 0, 0 };
    ech_topk_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.smallest = 1;
    options.unsorted = 1;
    options.algorithm = "select";
    expect("ech_topk", ech_topk(ctx, in, values, NULL, 5, 2, ECH_F32, ECH_U32, &options), ECH_OK);
    expect_true("the smallest", values[0] == 1 && values[1] == 2);
#ifdef NEWER
    options.newer[0] = 1;
    expect("ech_topk with an unknown field",
           ech_topk(ctx, in, values, NULL, 5, 2, ECH_F32, ECH_U32, &options), ECH_ERR_UNSUPPORTED);
#endif
}

static void merges(ech_ctx *ctx)
{
    int a[2] = { 4, 2 }, b[2] = { 3, 1 }, out[4] = { 0, 0, 0, 0 };
    ech_merge_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.descending = 1;
    expect("ech_merge", ech_merge(ctx, a, b, out, 2, 2, ECH_I32, &options), ECH_OK);
    expect_true("merged", out[0] == 4 && out[1] == 3 && out[2] == 2 && out[3] == 1);
#ifdef NEWER
    options.newer[0] = 1;
    expect("ech_merge with an unknown field", ech_merge(ctx, a, b, out, 2, 2, ECH_I32, &options),
           ECH_ERR_UNSUPPORTED);
#endif
}

static void sets(ech_ctx *ctx)
{
    int a[2] = { 4, 2 }, b[2] = { 3, 2 }, out[4] = { 0, 0, 0, 0 };
    uint64_t count = 9;
    ech_set_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.descending = 1;
    expect("ech_set_operation",
           ech_set_operation(ctx, a, b, out, &count, 2, 2, ECH_SET_UNION, ECH_I32, &options),
           ECH_OK);
    expect_true("the union",
                count == 3 && out[0] == 4 && out[1] == 3 && out[2] == 2 && out[3] == 0);
#ifdef NEWER
    options.newer[0] = 1;
    expect("ech_set_operation with an unknown field",
           ech_set_operation(ctx, a, b, out, &count, 2, 2, ECH_SET_UNION, ECH_I32, &options),
           ECH_ERR_UNSUPPORTED);
#endif
}

static void searches(ech_ctx *ctx)
{
    int sorted[3] = { 7, 5, 5 }, needles[2] = { 5, 9 };
    unsigned positions[2] = { 9, 9 };
    ech_search_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.descending = 1;
    expect("ech_lower_bound",
           ech_lower_bound(ctx, sorted, needles, positions, 3, 2, ECH_I32, ECH_U32, &options),
           ECH_OK);
    expect_true("positions", positions[0] == 1 && positions[1] == 0);
#ifdef NEWER
    options.newer[0] = 1;
    expect("ech_lower_bound with an unknown field",
           ech_lower_bound(ctx, sorted, needles, positions, 3, 2, ECH_I32, ECH_U32, &options),
           ECH_ERR_UNSUPPORTED);
#endif
}

/* The structs of an array have the size of the caller's header. */
static void columns(ech_ctx *ctx)
{
    unsigned char high[4] = { 1, 0, 1, 0 };
    float low[4] = { 4, 3, 2, 1 };
    unsigned indices[4] = { 9, 9, 9, 9 };
    ech_sort_column two[2];
    memset(two, 0, sizeof two);
    two[0].size = two[1].size = sizeof two[0];
    two[0].data = high;
    two[0].dtype = ECH_U8;
    two[1].data = low;
    two[1].dtype = ECH_F32;
    expect("ech_argsort_columns", ech_argsort_columns(ctx, two, indices, 4, 2, ECH_U32, NULL),
           ECH_OK);
    expect_true("the order of columns",
                indices[0] == 3 && indices[1] == 1 && indices[2] == 2 && indices[3] == 0);
#ifdef NEWER
    two[1].newer[0] = 1;
    expect("ech_argsort_columns with an unknown field",
           ech_argsort_columns(ctx, two, indices, 4, 2, ECH_U32, NULL), ECH_ERR_UNSUPPORTED);
#endif
}

static void records(ech_ctx *ctx)
{
    const unsigned in[4] = { 1, 7, 0, 7 };
    unsigned out[4] = { 0, 0, 0, 0 };
    ech_record_key key;
    memset(&key, 0, sizeof key);
    key.size = sizeof key;
    key.dtype = ECH_U32;
    expect("ech_sort_records", ech_sort_records(ctx, in, out, 2, 8, &key, 1, NULL), ECH_OK);
    expect_true("the order of records", out[0] == 0 && out[2] == 1);
#ifdef NEWER
    key.newer[0] = 1;
    expect("ech_sort_records with an unknown field",
           ech_sort_records(ctx, in, out, 2, 8, &key, 1, NULL), ECH_ERR_UNSUPPORTED);
#endif
}

static void strings(ech_ctx *ctx)
{
    const unsigned offsets[4] = { 0, 2, 3, 5 };
    unsigned indices[3] = { 9, 9, 9 };
    ech_strings_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.descending = 1;
    expect("ech_argsort_strings",
           ech_argsort_strings(ctx, offsets, "abbbc", indices, 3, 5, ECH_U32, ECH_U32, &options),
           ECH_OK);
    expect_true("the order of strings", indices[0] == 2 && indices[1] == 1 && indices[2] == 0);
#ifdef NEWER
    options.newer[0] = 1;
    expect("ech_argsort_strings with an unknown field",
           ech_argsort_strings(ctx, offsets, "abbbc", indices, 3, 5, ECH_U32, ECH_U32, &options),
           ECH_ERR_UNSUPPORTED);
#endif
}

static void uniques(ech_ctx *ctx)
{
    float in[5] = { 3, 1, 3, 5, 1 }, values[5] = { 0 };
    uint64_t count = 0;
    ech_unique_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.appearance = 1;
    expect("ech_unique_all",
           ech_unique_all(ctx, in, values, NULL, NULL, NULL, &count, 5, ECH_F32, ECH_U32, &options),
           ECH_OK);
    expect_true("the order of appearance", count == 3 && values[0] == 3 && values[2] == 5);
#ifdef NEWER
    options.newer[0] = 1;
    expect("ech_unique_all with an unknown field",
           ech_unique_all(ctx, in, values, NULL, NULL, NULL, &count, 5, ECH_F32, ECH_U32, &options),
           ECH_ERR_UNSUPPORTED);
#endif
}

static void quantiles(ech_ctx *ctx)
{
    const float in[5] = { 3, 1, 3, 5, 1 };
    const double q = 0.5;
    double median = 0;
    ech_quantile_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.nan = ECH_NAN_IGNORE;
    expect("ech_quantiles",
           ech_quantiles(ctx, in, &median, &q, 5, 1, ECH_F32, ECH_QUANTILE_LINEAR, &options),
           ECH_OK);
    expect_true("the median", median == 3);
#ifdef NEWER
    options.newer[0] = 1;
    expect("ech_quantiles with an unknown field",
           ech_quantiles(ctx, in, &median, &q, 5, 1, ECH_F32, ECH_QUANTILE_LINEAR, &options),
           ECH_ERR_UNSUPPORTED);
#endif
}

static void scans(ech_ctx *ctx)
{
    int in[4] = { 1, 2, 3, 4 }, out[4], first = 10;
    ech_scan_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.exclusive = 1;
    options.init = &first;
    expect("ech_scan", ech_scan(ctx, ECH_OP_SUM, in, out, 4, ECH_I32, &options), ECH_OK);
    expect_true("exclusive scan", out[0] == 10 && out[3] == 16);
#ifdef NEWER
    options.newer[0] = 3;
    expect("ech_scan with an unknown field",
           ech_scan(ctx, ECH_OP_SUM, in, out, 4, ECH_I32, &options), ECH_ERR_UNSUPPORTED);
#endif
}

static ech_status twice(void *user, ech_ctx *ctx, const void *x, void *y)
{
    (void)ctx;
    for (size_t i = 0; i < *(const size_t *)user; i++)
        ((double *)y)[i] = 2 * ((const double *)x)[i];
    return ECH_OK;
}

/* ech_operator is an input; its last field is `diagonal`. */
static void solves(ech_ctx *ctx)
{
    double b[3] = { 2, 4, 6 }, x[3] = { 0, 0, 0 };
    size_t n = 3;
    ech_operator a;
    ech_solve_options options;
    ech_solve_report report = { .size = sizeof report };
    memset(&a, 0, sizeof a);
    memset(&options, 0, sizeof options);
    a.size = sizeof a;
    a.n = n;
    a.dtype = ECH_F64;
    a.apply = twice;
    a.user = &n;
    options.size = sizeof options;
    options.method = ECH_METHOD_CG;
    expect("ech_solve", ech_solve(ctx, &a, 1, b, n, x, n, &options, &report), ECH_OK);
    expect_true("solution", x[0] == 1 && x[1] == 2 && x[2] == 3);
    expect_true("bytes after the report", report.history_count > 0 || report.lower == 0);
#ifdef NEWER
    expect_true("unknown fields of a report are 0", report.newer[0] == 0 && report.newer[1] == 0);
    a.newer[0] = 1;
    expect("ech_solve with an unknown field", ech_solve(ctx, &a, 1, b, n, x, n, &options, &report),
           ECH_ERR_UNSUPPORTED);
#endif
}

/* ech_device is an output: the bytes after it are unchanged, and unknown fields become 0. */
static void devices(void)
{
    struct {
        ech_device device;
        unsigned char after[64];
    } d;
    memset(&d, 0x5c, sizeof d);
    d.device.size = sizeof d.device;
    expect("ech_device_get", ech_device_get(0, &d.device), ECH_OK);
    expect_true("multiprocessors", d.device.multiprocessors > 0);
    expect_true("size is kept", d.device.size == sizeof d.device);
    for (size_t i = 0; i < sizeof d.after; i++) expect_true("bytes after", d.after[i] == 0x5c);
#ifdef NEWER
    expect_true("an unknown field is 0", d.device.newer[0] == 0 && d.device.newer[1] == 0);
#endif
}

int main(void)
{
    ech_ctx *ctx;
    if (ech_open(&ctx, "cpu")) {
        puts(ech_error(NULL));
        return 1;
    }
    sorts(ctx);
    topks(ctx);
    merges(ctx);
    sets(ctx);
    searches(ctx);
    columns(ctx);
    records(ctx);
    strings(ctx);
    uniques(ctx);
    quantiles(ctx);
    scans(ctx);
    solves(ctx);
    devices();
    ech_close(ctx);
    return failures != 0;
}
