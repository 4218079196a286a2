/*
 * test_explain.c - every ech_*_explain(), on every kind of device, as text and as JSON.
 *
 * The JSON must be one object with the members that all explanations have.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "json.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

/* ---- All explanations ---- */

static double x[4] = { 1, 0, 0, 1 };
static int64_t offsets[] = { 0, 1, 2 }, columns[] = { 0, 1 };
static const ech_csr csr = { sizeof(ech_csr), 2, 2, 2, offsets, columns, x, ECH_I64, ECH_F64 };

static ech_status sort(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_sort_explain(d, 100000, ECH_F32, 0, NULL, f, text, bytes);
}

static ech_status sort_pairs(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_sort_explain(d, 1 << 26, ECH_U64, 12, NULL, f, text, bytes);
}

static ech_status sort_wide(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_sort_explain(d, 7787, ECH_I64, 16, NULL, f, text, bytes);
}

/* The algorithm that is chosen can also be named. */
static ech_status sort_wide_named(const char *d, ech_format f, char *text, size_t bytes)
{
    ech_sort_options options = ECH_INIT(ech_sort_options);
    if (strcmp(d, "cpu") != 0) options.algorithm = "samplesort";
    return ech_sort_explain(d, 7787, ECH_I64, 16, &options, f, text, bytes);
}

static ech_status argsort(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_argsort_explain(d, 3000, ECH_I16, ECH_I64, NULL, f, text, bytes);
}

static ech_status sort_rows(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_sort_segments_explain(d, ECH_SORT_CALL_ROWS, 320000, 10000, ECH_F32, 0, NULL, f,
                                     text, bytes);
}

static ech_status argsort_segments(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_sort_segments_explain(d, ECH_SORT_CALL_ARGSORT_SEGMENTS, 320000, 1000, ECH_U64, 4,
                                     NULL, f, text, bytes);
}

static ech_status topk(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_topk_explain(d, ECH_TOPK_CALL_ARRAY, 1 << 20, 1, 100, ECH_F32, NULL, f, text, bytes);
}

static ech_status topk_half(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_topk_explain(d, ECH_TOPK_CALL_ARRAY, 6000, 1, 3000, ECH_F32, NULL, f, text, bytes);
}

static ech_status topk_rows(const char *d, ech_format f, char *text, size_t bytes)
{
    ech_topk_options options = ECH_INIT(ech_topk_options);
    options.smallest = 1;
    return ech_topk_explain(d, ECH_TOPK_CALL_ROWS, 320000, 320, 10, ECH_I64, &options, f, text,
                            bytes);
}

static ech_status merge(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_merge_explain(d, 100000, 5, ECH_F32, 0, NULL, f, text, bytes);
}

static ech_status set_union(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_set_operation_explain(d, 100000, 5, ECH_SET_UNION, ECH_F32, 0, NULL, f, text, bytes);
}

static ech_status set_pairs(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_set_operation_explain(d, 0, 70000, ECH_SET_SYMMETRIC, ECH_U64, 12, NULL, f, text,
                                     bytes);
}

static ech_status merge_pairs(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_merge_explain(d, 0, 70000, ECH_U64, 12, NULL, f, text, bytes);
}

static ech_status table(const char *d, ech_format f, char *text, size_t bytes, size_t count)
{
    static const uint8_t validity[1];
    const ech_sort_column two[2] = {
        { .size = sizeof two[0], .dtype = ECH_I32, .validity = validity, .nulls_first = 1 },
        { .size = sizeof two[1], .dtype = ECH_F64, .descending = 1 },
    };
    return ech_argsort_columns_explain(d, two, 1 << 20, count, ECH_U32, NULL, f, text, bytes);
}

static ech_status one_column(const char *d, ech_format f, char *text, size_t bytes)
{
    return table(d, f, text, bytes, 1);
}

static ech_status two_columns(const char *d, ech_format f, char *text, size_t bytes)
{
    return table(d, f, text, bytes, 2);
}

static ech_status merge_many(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_merge_many_explain(d, 100000, 5, ECH_U32, 0, NULL, f, text, bytes);
}

static ech_status merge_many_pairs(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_merge_many_explain(d, 100000, 5, ECH_U16, 4, NULL, f, text, bytes);
}

static ech_status lower_bound(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_search_explain(d, ECH_SEARCH_CALL_LOWER, 1 << 20, 1 << 20, ECH_F64, NULL, f, text,
                              bytes);
}

static ech_status upper_bound(const char *d, ech_format f, char *text, size_t bytes)
{
    ech_search_options options = ECH_INIT(ech_search_options);
    options.needles_sorted = 1;
    return ech_search_explain(d, ECH_SEARCH_CALL_UPPER, 1000, 100000, ECH_U8, &options, f, text,
                              bytes);
}

static ech_status records(const char *d, ech_format f, char *text, size_t bytes)
{
    const ech_record_key key = { .size = sizeof key, .kind = ECH_KEY_BYTES, .width_bytes = 10 };
    return ech_sort_records_explain(d, 100000, 100, &key, 1, 0, NULL, f, text, bytes);
}

static ech_status few_records(const char *d, ech_format f, char *text, size_t bytes)
{
    const ech_record_key key = { .size = sizeof key, .kind = ECH_KEY_BYTES, .width_bytes = 10 };
    return ech_sort_records_explain(d, 1000, 100, &key, 1, 0, NULL, f, text, bytes);
}

static ech_status few_rows(const char *d, ech_format f, char *text, size_t bytes)
{
    const ech_sort_column c[2] = { { .size = sizeof *c, .dtype = ECH_I32 },
                                   { .size = sizeof *c, .dtype = ECH_U16, .descending = 1 } };
    return ech_argsort_columns_explain(d, c, 4096, 2, ECH_U32, NULL, f, text, bytes);
}

static ech_status few_strings(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_strings_explain(d, 1000, 1 << 20, ECH_I32, ECH_U32, NULL, f, text, bytes);
}

static ech_status strings(const char *d, ech_format f, char *text, size_t bytes)
{
    const uint8_t some = 0;
    ech_strings_options options = ECH_INIT(ech_strings_options);
    options.validity = &some;
    return ech_strings_explain(d, 1 << 20, 1 << 24, ECH_I64, ECH_U32, &options, f, text, bytes);
}

static ech_status unique_all(const char *d, ech_format f, char *text, size_t bytes)
{
    ech_unique_options options = ECH_INIT(ech_unique_options);
    options.appearance = 1;
    return ech_unique_explain(d, ECH_UNIQUE_CALL_ALL, 1 << 20, ECH_F32, &options, f, text, bytes);
}

static ech_status mode(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_unique_explain(d, ECH_UNIQUE_CALL_MODE, 1 << 20, ECH_F32, NULL, f, text, bytes);
}

static ech_status nth_element(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_quantile_explain(d, ECH_QUANTILE_CALL_NTH, 1 << 17, 1, ECH_F32, NULL, f, text,
                                bytes);
}

static ech_status partition_at(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_quantile_explain(d, ECH_QUANTILE_CALL_PARTITION, 1 << 20, 100, ECH_F32, NULL, f,
                                text, bytes);
}

static ech_status partition_at_few(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_quantile_explain(d, ECH_QUANTILE_CALL_PARTITION, 1 << 21, 7, ECH_U16, NULL, f, text,
                                bytes);
}

static ech_status partition_at_some(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_quantile_explain(d, ECH_QUANTILE_CALL_PARTITION, 1 << 22, 15, ECH_I64, NULL, f, text,
                                bytes);
}

static ech_status partition_at_one(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_quantile_explain(d, ECH_QUANTILE_CALL_PARTITION, 1000, 1, ECH_F16, NULL, f, text,
                                bytes);
}

static ech_status quantiles(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_quantile_explain(d, ECH_QUANTILE_CALL_QUANTILES, 1000, 3, ECH_F32, NULL, f, text,
                                bytes);
}

static ech_status is_sorted(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_is_sorted_explain(d, 100000, ECH_F32, NULL, f, text, bytes);
}

static ech_status reduce(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_reduce_explain(d, ECH_REDUCE_CALL_ROWS, ECH_OP_MEAN, 1 << 20, 1, ECH_F32, NULL, f,
                              text, bytes);
}

static ech_status reduce_by_key(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_reduce_explain(d, ECH_REDUCE_CALL_BY_KEY, ECH_OP_ARGMAX, 1 << 20, 0, ECH_U8, NULL, f,
                              text, bytes);
}

static ech_status scan(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_scan_explain(d, ECH_SCAN_CALL_SEGMENTS, ECH_OP_SUM, 1 << 20, 1000, ECH_F64, NULL, f,
                            text, bytes);
}

static ech_status histogram(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_histogram_explain(d, 1 << 20, ECH_U8, 256, NULL, f, text, bytes);
}

static ech_status select_if(const char *d, ech_format f, char *text, size_t bytes)
{
    ech_select_options options = ECH_INIT(ech_select_options);
    options.positions = ECH_U32;
    return ech_select_explain(d, ECH_SELECT_CALL_IF, 1 << 20, 8, 0, &options, f, text, bytes);
}

static ech_status decode(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_select_explain(d, ECH_SELECT_CALL_RLE_DECODE, 1 << 20, 5, 0, NULL, f, text, bytes);
}

static ech_status transpose(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_arrange_explain(d, ECH_ARRANGE_CALL_TRANSPOSE, 1 << 20, 4, f, text, bytes);
}

static ech_status fill(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_arrange_explain(d, ECH_ARRANGE_CALL_FILL, 100, 5000, f, text, bytes);
}

static ech_status permutation(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_arrange_explain(d, ECH_ARRANGE_CALL_PERMUTATION, 100, 8, f, text, bytes);
}

static ech_status gf2_mul(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_gf2_explain(d, ECH_GF2_CALL_MUL, 4096, 4096, 4096, NULL, f, text, bytes);
}

static ech_status gf2_solve(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_gf2_explain(d, ECH_GF2_CALL_SOLVE, 4096, 4096, 1, NULL, f, text, bytes);
}

static ech_status gf2_batched(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_gf2_explain(d, ECH_GF2_CALL_BATCHED, 64, 64, 1000, NULL, f, text, bytes);
}

static ech_status matmul(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_matmul_explain(d, 500, 500, 500, ECH_F32, NULL, f, text, bytes);
}

static ech_status matvec(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_matvec_explain(d, 5000, 9000, ECH_F32, NULL, f, text, bytes);
}

static ech_status direct(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_direct_explain(d, ECH_DIRECT_CALL_SOLVE, 9, 9, 1, ECH_F64, NULL, f, text, bytes);
}

static ech_status spmv(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_csr_explain(d, ECH_CSR_CALL_SPMV, &csr, 0, NULL, f, text, bytes);
}

static ech_status from_coo(const char *d, ech_format f, char *text, size_t bytes)
{
    return ech_csr_explain(d, ECH_CSR_CALL_FROM_COO, &csr, 100, NULL, f, text, bytes);
}

static ech_status solve(const char *d, ech_format f, char *text, size_t bytes)
{
    const ech_operator a = { .size = sizeof a, .n = 2, .dtype = ECH_F64, .csr = &csr };
    return ech_solve_explain(d, &a, NULL, f, text, bytes);
}

static const struct {
    const char *operation;
    ech_status (*explain)(const char *device, ech_format format, char *text, size_t bytes);
    const char *algorithms; /* of a GPU: the chosen one, and the alternatives */
} calls[] = {
    { "sort", sort, "samplesort adaptive buckets msd onesweep low_memory" },
    { "sort_pairs", sort_pairs, "adaptive msd onesweep low_memory" },
    { "sort_pairs", sort_wide, "samplesort adaptive msd onesweep" },
    { "sort_pairs", sort_wide_named, "samplesort adaptive msd onesweep" },
    { "argsort", argsort, "block samplesort onesweep" },
    { "sort_rows", sort_rows, "classes" },
    { "argsort_segments", argsort_segments, "classes" },
    { "topk", topk, "select sort" },
    { "topk", topk_half, "sort" },
    { "topk_rows", topk_rows, "select sort" },
    { "merge", merge, "merge_path" },
    { "merge_pairs", merge_pairs, "merge_path" },
    { "union", set_union, "balanced_path" },
    { "symmetric_difference", set_pairs, "balanced_path" },
    { "merge_many", merge_many, "sort rounds" },
    { "merge_many_pairs", merge_many_pairs, "sort rounds" },
    { "lower_bound", lower_bound, "tree warp binary sorted" },
    { "upper_bound", upper_bound, "binary warp table" },
    { "argsort_columns", one_column, "pack lsd" },
    { "argsort_columns", two_columns, "lsd" },
    { "argsort_columns", few_rows, "block pack lsd" },
    { "sort_records", records, "lsd" },
    { "sort_records", few_records, "block lsd" },
    { "argsort_strings", few_strings, "merge refine" },
    { "argsort_strings", strings, "refine merge" },
    { "unique_all", unique_all, "sort" },
    { "mode", mode, "sort" },
    { "nth_element", nth_element, "select sort" },
    { "partition_at", partition_at, "sort_ids" },
    { "partition_at", partition_at_few, "select sort select_ids sort_ids" },
    { "partition_at", partition_at_some, "select_ids sort_ids" },
    { "partition_at", partition_at_one, "sort select" },
    { "quantiles", quantiles, "sort select" },
    { "is_sorted", is_sorted, "parts" },
    { "reduce_rows", reduce, "shared" },
    { "reduce_by_key", reduce_by_key, "runs" },
    { "scan_segments", scan, "tiles" },
    { "histogram", histogram, "bytes shared multiblock global" },
    { "select_if", select_if, "tiles" },
    { "rle_decode", decode, "decode" },
    { "transpose", transpose, "kernels" },
    { "fill", fill, "kernels" },
    { "permutation", permutation, "kernels" },
    { "gf2_mul", gf2_mul, "block strassen strassen2 m4r" },
    { "gf2_solve", gf2_solve, "block lookahead m4r gauss" },
    { "gf2_batched", gf2_batched, "m4r gauss" },
    { "matmul", matmul, "tiled" },
    { "matvec", matvec, "rows" },
    { "direct_solve", direct, "blocked" },
    { "spmv", spmv, "vector" },
    { "csr_from_coo", from_coo, "sort" },
    { "solve", solve, "auto" },
};

/* ---- Rules that measurements on a GPU determine: both sides of each boundary ---- */

enum {
    M = 1 << 20,
    NTH = ECH_QUANTILE_CALL_NTH,
    PARTITION = ECH_QUANTILE_CALL_PARTITION,
    QUANTILES = ECH_QUANTILE_CALL_QUANTILES
};

static ech_status explain_runs(const size_t *sizes, ech_dtype dtype, char *text, size_t bytes)
{
    return ech_merge_many_explain("simt", sizes[0], sizes[1], dtype, sizes[2], NULL,
                                  ECH_FORMAT_TEXT, text, bytes);
}

static ech_status explain_search(const size_t *sizes, ech_dtype dtype, char *text, size_t bytes)
{
    ech_search_options options = ECH_INIT(ech_search_options);
    options.needles_sorted = sizes[2] != 0;
    return ech_search_explain("simt", ECH_SEARCH_CALL_LOWER, sizes[0], sizes[1], dtype, &options,
                              ECH_FORMAT_TEXT, text, bytes);
}

static ech_status explain_strings(const size_t *sizes, ech_dtype dtype, char *text, size_t bytes)
{
    return ech_strings_explain("simt", sizes[0], sizes[1], ECH_I64, dtype, NULL, ECH_FORMAT_TEXT,
                               text, bytes);
}

static ech_status explain_quantile(const size_t *sizes, ech_dtype dtype, char *text, size_t bytes)
{
    return ech_quantile_explain("simt", (ech_quantile_call)sizes[2], sizes[0], sizes[1], dtype,
                                NULL, ECH_FORMAT_TEXT, text, bytes);
}

typedef ech_status explain_sizes(const size_t *sizes, ech_dtype dtype, char *text, size_t bytes);

static const struct {
    const char *what;
    explain_sizes *explain;
    size_t sizes[3];
    ech_dtype dtype;
    const char *algorithm;
} rules[] = {
    /* elements, runs, bytes of a value */
    { "quantile", explain_quantile, { M / 8 - 1, 1, NTH }, ECH_F32, "sort" },
    { "quantile", explain_quantile, { M / 8, 1, NTH }, ECH_F32, "select" },
    { "quantile", explain_quantile, { 2 * M - 1, 5, PARTITION }, ECH_U16, "sort" },
    { "quantile", explain_quantile, { 2 * M, 5, PARTITION }, ECH_U16, "select" },
    { "quantile", explain_quantile, { 64 * M, 4, PARTITION }, ECH_I8, "select" },
    { "quantile", explain_quantile, { 64 * M, 5, PARTITION }, ECH_I8, "sort" },
    { "quantile", explain_quantile, { M, 4, PARTITION }, ECH_F64, "select" },
    { "quantile", explain_quantile, { M, 5, PARTITION }, ECH_F64, "sort" },
    { "quantile", explain_quantile, { 2 * M, 4, QUANTILES }, ECH_F32, "select" },
    { "quantile", explain_quantile, { 8 * M - 1, 5, QUANTILES }, ECH_F32, "sort" },
    { "quantile", explain_quantile, { 8 * M, 5, QUANTILES }, ECH_F32, "select" },
    { "quantile", explain_quantile, { 64 * M, 1, QUANTILES }, ECH_F16, "sort" },
    { "runs", explain_runs, { 4 * M - 1, 2, 0 }, ECH_U32, "rounds" },
    { "runs", explain_runs, { 4 * M - 1, 3, 0 }, ECH_U32, "sort" },
    { "runs", explain_runs, { 4 * M, 4, 0 }, ECH_U32, "rounds" },
    { "runs", explain_runs, { 4 * M, 5, 0 }, ECH_U32, "sort" },
    { "runs", explain_runs, { 16 * M - 1, 5, 4 }, ECH_U64, "sort" },
    { "runs", explain_runs, { 16 * M, 8, 4 }, ECH_U64, "rounds" },
    { "runs", explain_runs, { 16 * M, 9, 4 }, ECH_U64, "sort" },
    { "runs", explain_runs, { 64 * M - 1, 9, 0 }, ECH_I64, "sort" },
    { "runs", explain_runs, { 64 * M, 16, 0 }, ECH_I64, "rounds" },
    { "runs", explain_runs, { 64 * M, 17, 0 }, ECH_I64, "sort" },
    { "runs", explain_runs, { 64 * M, 17, 0 }, ECH_U32, "sort" },
    { "runs", explain_runs, { 64 * M, 32, 4 }, ECH_F32, "rounds" },
    { "runs", explain_runs, { 64 * M, 33, 4 }, ECH_F32, "sort" },
    { "runs", explain_runs, { 64 * M, 17, 4 }, ECH_F64, "sort" },
    { "runs", explain_runs, { 64 * M, 33, 0 }, ECH_F32, "rounds" }, /* -0 and +0 */
    { "runs", explain_runs, { 64 * M, 2, 0 }, ECH_U8, "rounds" },
    { "runs", explain_runs, { 64 * M, 3, 4 }, ECH_U8, "sort" },
    { "runs", explain_runs, { 64 * M, 4, 0 }, ECH_U16, "rounds" },
    { "runs", explain_runs, { 64 * M, 5, 0 }, ECH_U16, "sort" },
    /* elements, needles, whether they are sorted */
    { "search", explain_search, { M, 4096, 0 }, ECH_U32, "warp" },
    { "search", explain_search, { M, 4096, 1 }, ECH_U32, "warp" },
    { "search", explain_search, { M, 4097, 0 }, ECH_U32, "binary" },
    { "search", explain_search, { M, 4097, 1 }, ECH_U32, "binary" },
    { "search", explain_search, { M, M / 8 - 1, 0 }, ECH_U32, "binary" },
    { "search", explain_search, { M, M / 8, 0 }, ECH_U32, "tree" },
    { "search", explain_search, { M, M / 8 - 1, 1 }, ECH_U32, "binary" },
    { "search", explain_search, { M, M / 8, 1 }, ECH_U32, "tree" },
    { "search", explain_search, { 256 * M, 4 * M - 1, 0 }, ECH_F64, "binary" },
    { "search", explain_search, { 256 * M, 4 * M, 0 }, ECH_F64, "tree" },
    { "search", explain_search, { 256 * M, 8 * M - 1, 1 }, ECH_U32, "binary" },
    { "search", explain_search, { 256 * M, 8 * M, 1 }, ECH_U32, "tree" },
    { "search", explain_search, { M, 2 * M - 1, 1 }, ECH_U32, "tree" },
    { "search", explain_search, { M, 2 * M, 1 }, ECH_U32, "sorted" },
    { "search", explain_search, { M, 2 * M, 0 }, ECH_U32, "tree" },
    { "search", explain_search, { 64 * M, 32 * M - 1, 1 }, ECH_U32, "tree" },
    { "search", explain_search, { 64 * M, 32 * M, 1 }, ECH_U32, "sorted" },
    /* strings, their bytes */
    { "strings", explain_strings, { M / 8, 2 * M, 0 }, ECH_U32, "merge" },
    { "strings", explain_strings, { M / 8 + 1, 2 * M, 0 }, ECH_U32, "refine" },
    { "strings", explain_strings, { (size_t)2048 * M, 2 * M, 0 }, ECH_U64, "refine" },
    { "strings", explain_strings, { (size_t)2048 * M + 1, 2 * M, 0 }, ECH_U64, "merge" },
};

/* The algorithm that the library chooses without a request. */
static void check_rule(size_t i)
{
    char text[16384], name[64] = "";
    const size_t *sizes = rules[i].sizes;
    if (!test_begin("rule(%s,%zu,%zu,%zu,%s)", rules[i].what, sizes[0], sizes[1], sizes[2],
                    ech_dtype_name(rules[i].dtype)))
        return;
    if (CHECK_STATUS(rules[i].explain(sizes, rules[i].dtype, text, sizeof text), ECH_OK)) {
        const char *line = strstr(text, "\nalgorithm ");
        if (!line || sscanf(line, "\nalgorithm %63[^: \n]", name) != 1 ||
            strcmp(name, rules[i].algorithm) != 0)
            test_fail(__FILE__, __LINE__, "the algorithm is \"%s\" instead of \"%s\"", name,
                      rules[i].algorithm);
    }
    test_end();
}

static bool has(const char *text, const char *member)
{
    if (strstr(text, member)) return true;
    test_fail(__FILE__, __LINE__, "no %s in:\n%s", member, text);
    return false;
}

/* No number of the calls is as large as an address, which a variable that is not set may hold. */
static void check_numbers(const char *text)
{
    enum { DIGITS = 12 };
    for (const char *c = text; *c; c++) {
        const size_t digits = strspn(c, "0123456789");
        if (digits > DIGITS) test_fail(__FILE__, __LINE__, "a large number:\n%s", text);
        c += digits ? digits - 1 : 0;
    }
}

/* The names of all algorithms in a text must be the wanted ones, in this order. */
static void check_algorithms(const char *text, const char *wanted)
{
    char names[256] = "";
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        char name[64];
        if (sscanf(line, "algorithm %63[^: \n]", name) != 1 &&
            sscanf(line, "alternative %63[^: \n]", name) != 1)
            continue;
        const size_t length = strlen(names);
        snprintf(names + length, sizeof names - length, "%s%s", length ? " " : "", name);
    }
    if (strcmp(names, wanted) != 0)
        test_fail(__FILE__, __LINE__, "the algorithms are \"%s\" instead of \"%s\"", names, wanted);
}

/* The GPU's answers need no GPU, so they are tested in every build that has its backend. */
static void explain(const char *device, size_t i)
{
    char text[16384], member[64];
    if (!test_begin("%s on %s", calls[i].operation, device)) return;
    if (CHECK_STATUS(calls[i].explain(device, ECH_FORMAT_TEXT, text, sizeof text), ECH_OK)) {
        has(text, "device       ");
        has(text, "\nalgorithm    ");
        has(text, "\nworkspace    ");
        check_numbers(text);
        if (strcmp(device, "simt") == 0) check_algorithms(text, calls[i].algorithms);
    }
    if (CHECK_STATUS(calls[i].explain(device, ECH_FORMAT_JSON, text, sizeof text), ECH_OK)) {
        const char *end = json_value(text);
        if (!end || strcmp(end, "\n") != 0)
            test_fail(__FILE__, __LINE__, "not a JSON object:\n%s", text);
        snprintf(member, sizeof member, "\"operation\": \"%s\"", calls[i].operation);
        has(text, member);
        snprintf(member, sizeof member, "\"device\": \"%s\"", device);
        has(text, member);
        has(text, "\"algorithm\": {\"name\": \"");
        has(text, "\"workspace_bytes\": ");
    }
    test_end();
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    ech_ctx *ctx;
    size_t bytes;
    const bool simt = ech_open(&ctx, "simt") == ECH_OK;
    const bool cuda = ech_sort_workspace("cuda", 1, ECH_U32, 0, NULL, &bytes) == ECH_OK;
    if (simt) ech_close(ctx);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        explain("cpu", i);
        if (cuda) explain("cuda", i);
        if (simt) explain("simt", i);
    }
    for (size_t i = 0; simt && i < sizeof rules / sizeof *rules; i++) check_rule(i);
    return test_finish();
}
