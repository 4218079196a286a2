/*
 * queued_calls.cuh - the calls of test_queued.cu: one of each kind, on given arrays.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef QUEUED_CALLS_CUH
#define QUEUED_CALLS_CUH

/* ---- One call of each kind, on given arrays ---- */

struct arrays {
    const float *f32;
    const uint32_t *u32;
    const uint8_t *flags;
    const uint64_t *offsets;
    void *out, *out2;
    uint64_t *count;
    void *work;
    size_t n, work_bytes;
};

enum { SEGMENTS = 1000 };

static ech_reduce_options reduce_options(const struct arrays *a)
{
    ech_reduce_options o = {};
    o.size = sizeof o;
    o.work = a->work;
    o.work_bytes = a->work_bytes;
    return o;
}

static ech_scan_options scan_options(const struct arrays *a)
{
    ech_scan_options o = {};
    o.size = sizeof o;
    o.work = a->work;
    o.work_bytes = a->work_bytes;
    return o;
}

static ech_select_options select_options(const struct arrays *a)
{
    ech_select_options o = {};
    o.size = sizeof o;
    o.work = a->work;
    o.work_bytes = a->work_bytes;
    return o;
}

static ech_histogram_options histogram_options(const struct arrays *a)
{
    ech_histogram_options o = {};
    o.size = sizeof o;
    o.work = a->work;
    o.work_bytes = a->work_bytes;
    return o;
}

static ech_status is_sorted(const struct arrays *a)
{
    ech_is_sorted_options o = {};
    o.size = sizeof o;
    o.work = a->work;
    o.work_bytes = a->work_bytes;
    return ech_is_sorted(ctx, a->offsets, (uint64_t *)a->out, SEGMENTS + 1, ECH_U64, &o);
}

static ech_status sum(const struct arrays *a)
{
    ech_reduce_options o = reduce_options(a);
    return ech_reduce(ctx, ECH_OP_SUM, a->f32, a->out, a->n, ECH_F32, &o);
}

static ech_status variance(const struct arrays *a)
{
    ech_reduce_options o = reduce_options(a);
    return ech_reduce(ctx, ECH_OP_VARIANCE, a->f32, a->out, a->n, ECH_F32, &o);
}

static ech_status argmax(const struct arrays *a)
{
    ech_reduce_options o = reduce_options(a);
    return ech_reduce(ctx, ECH_OP_ARGMAX, a->u32, a->out, a->n, ECH_U32, &o);
}

static ech_status sum_rows(const struct arrays *a)
{
    ech_reduce_options o = reduce_options(a);
    return ech_reduce_rows(ctx, ECH_OP_SUM, a->f32, a->out, a->n / 33, 33, ECH_F32, &o);
}

static ech_status sum_segments(const struct arrays *a)
{
    ech_reduce_options o = reduce_options(a);
    return ech_reduce_segments(ctx, ECH_OP_SUM, a->f32, a->offsets, a->out, a->n, SEGMENTS, ECH_F32,
                               ECH_U64, &o);
}

static ech_status sum_by_key(const struct arrays *a)
{
    ech_reduce_options o = reduce_options(a);
    return ech_reduce_by_key(ctx, ECH_OP_SUM, a->flags, a->f32, a->out2, a->out, a->count, a->n,
                             ECH_U8, ECH_F32, &o);
}

static ech_status scan(const struct arrays *a)
{
    ech_scan_options o = scan_options(a);
    return ech_scan(ctx, ECH_OP_SUM, a->f32, a->out, a->n, ECH_F32, &o);
}

static ech_status scan_backward(const struct arrays *a)
{
    ech_scan_options o = scan_options(a);
    o.reverse = o.exclusive = 1;
    return ech_scan(ctx, ECH_OP_MAX, a->u32, a->out, a->n, ECH_U32, &o);
}

static ech_status scan_segments(const struct arrays *a)
{
    ech_scan_options o = scan_options(a);
    return ech_scan_segments(ctx, ECH_OP_SUM, a->f32, a->offsets, a->out, a->n, SEGMENTS, ECH_F32,
                             ECH_U64, &o);
}

static ech_status scan_by_key(const struct arrays *a)
{
    ech_scan_options o = scan_options(a);
    return ech_scan_by_key(ctx, ECH_OP_SUM, a->flags, a->f32, a->out, a->n, ECH_U8, ECH_F32, &o);
}

static ech_status histogram(const struct arrays *a)
{
    ech_histogram_options o = histogram_options(a);
    return ech_histogram(ctx, a->f32, a->out, a->n, ECH_F32, 1000, 0.0, 1.0, &o);
}

static ech_status histogram_large(const struct arrays *a)
{
    ech_histogram_options o = histogram_options(a);
    return ech_histogram(ctx, a->u32, a->out, a->n, ECH_U32, 1 << 20, 0.0, 4294967296.0, &o);
}

static ech_status histogram_weighted(const struct arrays *a)
{
    ech_histogram_options o = histogram_options(a);
    o.weights = a->f32;
    o.weights_dtype = ECH_F32;
    return ech_bincount(ctx, a->flags, a->out, a->n, ECH_U8, 4, &o);
}

static ech_status select_if(const struct arrays *a)
{
    ech_select_options o = select_options(a);
    float half = 0.5f;
    return ech_select_if(ctx, ECH_COMPARE_LESS, a->f32, a->out, a->count, a->n, ECH_F32, &half, &o);
}

static ech_status partition(const struct arrays *a)
{
    ech_select_options o = select_options(a);
    return ech_partition_flags(ctx, a->u32, a->flags, a->out, a->count, a->n, 4, &o);
}

static ech_status unique(const struct arrays *a)
{
    ech_select_options o = select_options(a);
    return ech_unique(ctx, a->flags, a->out, a->count, a->n, ECH_U8, &o);
}

static ech_status encode_runs(const struct arrays *a)
{
    ech_select_options o = select_options(a);
    return ech_rle_encode(ctx, a->flags, a->out2, (uint64_t *)a->out, a->count, a->n, ECH_U8, &o);
}

static ech_status shuffle(const struct arrays *a)
{
    return ech_shuffle(ctx, a->u32, a->out, a->n, 4, 42);
}

static ech_status transpose(const struct arrays *a)
{
    return ech_transpose(ctx, a->u32, a->out, a->n / 1009, 1009, 4);
}

static ech_sort_options sort_options(const struct arrays *a)
{
    ech_sort_options o = {};
    o.size = sizeof o;
    o.work = a->work;
    o.work_bytes = a->work_bytes;
    return o;
}

static ech_status sort_rows(const struct arrays *a)
{
    ech_sort_options o = sort_options(a);
    return ech_sort_rows(ctx, a->u32, a->out, a->n / 1009, 1009, ECH_U32, &o);
}

static ech_status argsort_rows(const struct arrays *a)
{
    ech_sort_options o = sort_options(a);
    return ech_argsort_rows(ctx, a->f32, a->out, a->n / 1009, 1009, ECH_F32, ECH_U32, &o);
}

static ech_status sort_segments(const struct arrays *a)
{
    ech_sort_options o = sort_options(a);
    return ech_sort_segments(ctx, a->f32, a->offsets, NULL, a->out, a->n, SEGMENTS, ECH_F32,
                             ECH_U64, &o);
}

static ech_status sort_pairs_segments(const struct arrays *a)
{
    ech_sort_options o = sort_options(a);
    return ech_sort_pairs_segments(ctx, a->u32, a->f32, a->offsets, NULL, a->out, a->out2, a->n,
                                   SEGMENTS, ECH_U32, 4, ECH_U64, &o);
}

static ech_topk_options topk_options(const struct arrays *a)
{
    ech_topk_options o = {};
    o.size = sizeof o;
    o.work = a->work;
    o.work_bytes = a->work_bytes;
    return o;
}

static ech_status topk(const struct arrays *a)
{
    ech_topk_options o = topk_options(a);
    return ech_topk(ctx, a->f32, a->out2, a->out, a->n, 1000, ECH_F32, ECH_U32, &o);
}

static ech_status topk_many(const struct arrays *a)
{
    ech_topk_options o = topk_options(a);
    o.smallest = o.unsorted = 1;
    return ech_topk(ctx, a->u32, a->out, a->out2, a->n, 100000, ECH_U32, ECH_U64, &o);
}

static ech_status topk_rows(const struct arrays *a)
{
    ech_topk_options o = topk_options(a);
    return ech_topk_rows(ctx, a->f32, a->out, NULL, a->n / 1009, 1009, 10, ECH_F32, ECH_U32, &o);
}

static ech_merge_options merge_options(const struct arrays *a)
{
    ech_merge_options o = {};
    o.size = sizeof o;
    o.work = a->work;
    o.work_bytes = a->work_bytes;
    return o;
}

static ech_unique_options unique_options(const struct arrays *a)
{
    ech_unique_options o = {};
    o.size = sizeof o;
    o.work = a->work;
    o.work_bytes = a->work_bytes;
    return o;
}

/* The inputs are not sorted; the result is deterministic anyway. */
static ech_status merge(const struct arrays *a)
{
    ech_merge_options o = merge_options(a);
    return ech_merge(ctx, a->u32, a->u32 + a->n / 3, a->out, a->n / 3, a->n - a->n / 3, ECH_U32,
                     &o);
}

static ech_status merge_pairs(const struct arrays *a)
{
    ech_merge_options o = merge_options(a);
    return ech_merge_pairs(ctx, a->f32, a->u32, a->f32 + a->n / 2, a->u32 + a->n / 2, a->out,
                           a->out2, a->n / 2, a->n - a->n / 2, ECH_F32, 4, &o);
}

/* The offsets are sorted: the first three quarters of them, and the last three. */
static ech_status set_operation(const struct arrays *a, ech_set operation, size_t value_bytes)
{
    const size_t n = SEGMENTS / 4 * 3, skip = SEGMENTS / 4;
    uint64_t *count = (uint64_t *)a->out2 + SEGMENTS * 2;
    ech_set_options o = {};
    o.size = sizeof o;
    o.work = a->work;
    o.work_bytes = a->work_bytes;
    if (value_bytes)
        return ech_set_operation_pairs(ctx, a->offsets, a->u32, a->offsets + skip, a->u32 + skip,
                                       a->out, a->out2, count, n, n, operation, ECH_U64,
                                       value_bytes, &o);
    return ech_set_operation(ctx, a->offsets, a->offsets + skip, a->out, count, n, n, operation,
                             ECH_U64, &o);
}

static ech_status set_union(const struct arrays *a)
{
    return set_operation(a, ECH_SET_UNION, 0);
}

static ech_status set_symmetric(const struct arrays *a)
{
    return set_operation(a, ECH_SET_SYMMETRIC, 4);
}

static ech_status merge_many(const struct arrays *a)
{
    ech_merge_options o = merge_options(a);
    o.algorithm = "rounds";
    return ech_merge_many(ctx, a->f32, a->offsets, a->out, a->n, SEGMENTS, ECH_F32, ECH_U64, &o);
}

static ech_status merge_many_pairs(const struct arrays *a)
{
    ech_merge_options o = merge_options(a);
    return ech_merge_many_pairs(ctx, a->u32, a->f32, a->offsets, a->out, a->out2, a->n, SEGMENTS,
                                ECH_U32, 4, ECH_U64, &o);
}

/* The array is not sorted; the positions are deterministic anyway. */
static ech_status search(const struct arrays *a, const char *algorithm)
{
    ech_search_options o = {};
    o.size = sizeof o;
    o.algorithm = algorithm;
    o.work = a->work;
    o.work_bytes = a->work_bytes;
    return ech_lower_bound(ctx, a->u32, a->u32 + a->n / 2, a->out, a->n / 2, a->n - a->n / 2,
                           ECH_U32, ECH_U32, &o);
}

static ech_status search_warp(const struct arrays *a)
{
    return search(a, "warp");
}

static ech_status search_binary(const struct arrays *a)
{
    return search(a, "binary");
}

static ech_status search_tree(const struct arrays *a)
{
    return search(a, "tree");
}

static ech_status search_sorted(const struct arrays *a)
{
    return search(a, "sorted");
}

static ech_status columns(const struct arrays *a, int count)
{
    const ech_columns_options o = { sizeof o, NULL, a->work, a->work_bytes };
    const ech_sort_column c[4] = {
        { sizeof *c, a->flags, ECH_U8 },
        { sizeof *c, a->f32, ECH_F32, 1, ECH_ORDER_NAN_LAST, 0, a->flags, 3 },
        { sizeof *c, a->u32, ECH_U32 },
        { sizeof *c, a->f32, ECH_I32 },
    };
    return ech_argsort_columns(ctx, c, a->out, a->n, count, ECH_U32, &o);
}

static ech_status columns_pack(const struct arrays *a)
{
    return columns(a, 2);
}

static ech_status columns_lsd(const struct arrays *a)
{
    return columns(a, 4);
}

static ech_status records(const struct arrays *a)
{
    const ech_columns_options o = { sizeof o, NULL, a->work, a->work_bytes };
    const ech_record_key keys[2] = {
        { sizeof *keys, 5, ECH_KEY_BYTES, ECH_U8, 3 },
        { sizeof *keys, 0, ECH_KEY_DTYPE, ECH_F32, 0, 1 },
    };
    return ech_sort_records(ctx, a->u32, a->out, a->n / 2, 8, keys, 2, &o);
}

/* Sorts in one launch. */
static ech_status columns_block(const struct arrays *a)
{
    struct arrays few = *a;
    few.n = 1000;
    return columns(&few, 4);
}

static ech_status records_block(const struct arrays *a)
{
    struct arrays few = *a;
    few.n = 2 * 1001;
    return records(&few);
}

static ech_status strings(const struct arrays *a, const char *algorithm)
{
    ech_strings_options o = {};
    o.size = sizeof o;
    o.algorithm = algorithm;
    o.work = a->work;
    o.work_bytes = a->work_bytes;
    return ech_argsort_strings(ctx, a->offsets, a->flags, a->out, SEGMENTS, a->n, ECH_U64, ECH_U32,
                               &o);
}

static ech_status strings_refine(const struct arrays *a)
{
    return strings(a, "refine");
}

static ech_status strings_merge(const struct arrays *a)
{
    return strings(a, "merge");
}

static ech_status unique_appear(const struct arrays *a)
{
    const size_t n = a->n / 4; /* all outputs have room */
    ech_unique_options o = unique_options(a);
    o.appearance = 1;
    return ech_unique_all(ctx, a->u32, a->out, a->out2, (uint32_t *)a->out2 + n, NULL,
                          (uint64_t *)a->out2 + n + 1, n, ECH_U32, ECH_U32, &o);
}

static ech_status mode(const struct arrays *a)
{
    ech_unique_options o = unique_options(a);
    return ech_mode(ctx, a->f32, a->out2, (uint64_t *)a->out, a->n, ECH_F32, &o);
}

static ech_quantile_options quantile_options(const struct arrays *a)
{
    ech_quantile_options o = {};
    o.size = sizeof o;
    o.work = a->work;
    o.work_bytes = a->work_bytes;
    return o;
}

static ech_status nth_element(const struct arrays *a)
{
    ech_quantile_options o = quantile_options(a);
    return ech_nth_element(ctx, a->f32, a->out2, a->out, a->n, a->n / 3, ECH_F32, ECH_U64, &o);
}

static ech_status partition_at(const struct arrays *a)
{
    const uint64_t rank = a->n / 2;
    ech_quantile_options o = quantile_options(a);
    return ech_partition_at(ctx, a->u32, a->out, NULL, a->n, &rank, 1, ECH_U32, ECH_U32, &o);
}

static ech_status partition_at_many(const struct arrays *a)
{
    const uint64_t ranks[3] = { a->n / 2, 5, a->n - 1 };
    ech_quantile_options o = quantile_options(a);
    return ech_partition_at(ctx, a->f32, a->out2, a->out, a->n, ranks, 3, ECH_F32, ECH_U32, &o);
}

static ech_status quantiles(const struct arrays *a)
{
    const double q[4] = { 0.01, 0.5, 0.9, 1 };
    ech_quantile_options o = quantile_options(a);
    return ech_quantiles(ctx, a->f32, a->out, q, a->n, 4, ECH_F32, ECH_QUANTILE_LINEAR, &o);
}

static const struct call {
    const char *name;
    ech_status (*run)(const struct arrays *a);
    size_t bytes_each; /* of out, per element that may be written; 0: out_bytes */
    size_t out_bytes;
} calls[] = {
    { "is sorted", is_sorted, 0, 8 },
    { "sum", sum, 0, 4 },
    { "variance", variance, 0, 4 },
    { "argmax", argmax, 0, 8 },
    { "sums of rows", sum_rows, 0, 4 * 1000 },
    { "sums of segments", sum_segments, 0, 4 * SEGMENTS },
    { "sums by key", sum_by_key, 4, 0 },
    { "scan", scan, 4, 0 },
    { "scan backward", scan_backward, 4, 0 },
    { "scan of segments", scan_segments, 4, 0 },
    { "scan by key", scan_by_key, 4, 0 },
    { "histogram", histogram, 0, 8 * 1000 },
    { "histogram of 2^20 bins", histogram_large, 0, (size_t)8 << 20 },
    { "weighted histogram", histogram_weighted, 0, 8 * 4 },
    { "select", select_if, 4, 0 },
    { "partition", partition, 4, 0 },
    { "unique", unique, 1, 0 },
    { "runs", encode_runs, 8, 0 },
    { "shuffle", shuffle, 4, 0 },
    { "transpose", transpose, 4, 0 },
    { "sort of rows", sort_rows, 4, 0 },
    { "argsort of rows", argsort_rows, 4, 0 },
    { "sort of segments", sort_segments, 4, 0 },
    { "sort of pairs in segments", sort_pairs_segments, 4, 0 },
    { "argsort of packed columns", columns_pack, 4, 0 },
    { "argsort of columns, two words", columns_lsd, 4, 0 },
    { "sort of records", records, 0, 8 * (1000003 / 2) },
    { "argsort of few rows", columns_block, 0, 4 * 1000 },
    { "sort of few records", records_block, 0, 8 * 1001 },
    { "argsort of strings", strings_refine, 0, 4 * SEGMENTS },
    { "argsort of few strings", strings_merge, 0, 4 * SEGMENTS },
    { "top-k", topk, 0, 4 * 1000 },
    { "top-k, large k", topk_many, 0, 4 * 100000 },
    { "merge", merge, 4, 0 },
    { "merge of pairs", merge_pairs, 4, 0 },
    { "union", set_union, 0, 8 * (SEGMENTS / 4 * 3) },
    { "symmetric difference of pairs", set_symmetric, 0, 8 * (SEGMENTS / 4) },
    { "merge of runs", merge_many, 4, 0 },
    { "merge of runs of pairs, sort", merge_many_pairs, 4, 0 },
    { "search, warp", search_warp, 2, 0 },
    { "search, binary", search_binary, 2, 0 },
    { "search, tree", search_tree, 2, 0 },
    { "search, sorted", search_sorted, 2, 0 },
    { "top-k of rows", topk_rows, 0, 4 * 10 * (1000003 / 1009) },
    { "distinct elements by appearance", unique_appear, 0, 4 * 100 },
    { "mode", mode, 0, 8 },
    { "element of a rank", nth_element, 0, 8 },
    { "partition around a rank", partition_at, 4, 0 },
    { "partition around three ranks", partition_at_many, 4, 0 },
    { "quantiles", quantiles, 0, 8 * 4 },
};

#endif
