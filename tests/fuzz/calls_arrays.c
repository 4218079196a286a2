/*
 * calls_arrays.c - one call of an operation on small arrays, for fuzz_calls.c. Results of integers
 * are compared with the simplest computation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calls.h"

#include <string.h>

enum { MOST_PLACES = 300 }; /* place_of() is slow */

static size_t size_of(ech_dtype dtype)
{
    const size_t bytes = ech_dtype_bytes(dtype);
    return bytes ? bytes : 8; /* the call rejects the dtype */
}

static bool is_float(ech_dtype dtype)
{
    return dtype >= ECH_F16;
}

/* Element i of integers, as a number with the order of the elements. */
static uint64_t rank_of(const void *at, size_t i, ech_dtype dtype)
{
    const size_t bytes = size_of(dtype);
    uint64_t x = 0;
    memcpy(&x, (const char *)at + i * bytes, bytes);
    return dtype <= ECH_I64 ? x ^ (uint64_t)1 << (8 * bytes - 1) : x;
}

static uint64_t value_of(const void *at, size_t i, ech_dtype dtype)
{
    const size_t bits = 8 * size_of(dtype);
    const uint64_t x = rank_of(at, i, dtype);
    if (dtype > ECH_I64) return x;
    return (uint64_t)((int64_t)((x ^ (uint64_t)1 << (bits - 1)) << (64 - bits)) >> (64 - bits));
}

static uint64_t at64(const uint64_t *at, size_t i)
{
    uint64_t x;
    memcpy(&x, (const char *)at + 8 * i, sizeof x);
    return x;
}

/* ---- Sorts ---- */

/* The number of elements that come before element i in a stable sort. */
static size_t place_of(const void *in, size_t i, size_t n, ech_dtype dtype, bool descending)
{
    const uint64_t x = rank_of(in, i, dtype);
    size_t place = 0;
    for (size_t j = 0; j < n; j++) {
        const uint64_t y = rank_of(in, j, dtype);
        place += (descending ? y > x : y < x) || (y == x && j < i);
    }
    return place;
}

static void sort_call(struct input *in, ech_ctx *ctx)
{
    struct call c;
    call_begin(&c, in, ctx);
    const ech_dtype dtype = take_dtype(in), index = take_index(in);
    const unsigned kind = take(in) % 3; /* keys, pairs, argsort */
    const size_t n = take_size(in), bytes = size_of(dtype), wide = 1 + take(in) % 9;
    const size_t out_bytes = kind == 2 ? size_of(index) : bytes;
    const bool simple = take(in) < 200;
    ech_sort_options o = { .size = sizeof o, .descending = take(in) % 2 };
    if (!simple) {
        o.order = (ech_order)(take(in) % 3);
        o.begin_bit = (int)(take(in) % 70) - 1;
        o.end_bit = (int)(take(in) % 70) - 1;
        o.descending = (int)take(in) - 1;
    }
    const void *keys = array_in(&c, n, bytes, bytes), *from = array_last(&c), *values = NULL;
    if (kind == 1) values = array_in(&c, n, wide, 1);
    const void *values_from = array_last(&c);
    void *out = array_out(&c, n, out_bytes, out_bytes), *out_at = array_last(&c);
    void *more = kind == 1 ? array_out(&c, n, wide, 1) : NULL, *more_at = array_last(&c);
    size_t needed = 0;
    const ech_sort_options plain = o;
    ech_status s = kind == 2
                       ? ech_argsort_workspace("cpu", n, dtype, index, &plain, &needed)
                       : ech_sort_workspace("cpu", n, dtype, kind ? wide : 0, &plain, &needed);
    if (s != ECH_OK) needed = 0;
    call_options(&c, &o.size, &o.work, &o.work_bytes, needed, &o.algorithm);
    s = kind == 0   ? ech_sort(ctx, keys, out, n, dtype, &o)
        : kind == 1 ? ech_sort_pairs(ctx, keys, values, out, more, n, dtype, wide, &o)
                    : ech_argsort(ctx, keys, out, n, dtype, index, &o);
    const bool check = call_check(&c, s) && simple && !is_float(dtype);
    if (check && n > MOST_PLACES && kind != 2)
        for (size_t i = 1; i < n; i++) {
            const uint64_t x = rank_of(out_at, i - 1, dtype), y = rank_of(out_at, i, dtype);
            FUZZ_CHECK(o.descending ? x >= y : x <= y);
        }
    else if (check && n <= MOST_PLACES)
        for (size_t i = 0; i < n; i++) {
            const size_t place = place_of(from, i, n, dtype, o.descending != 0);
            if (kind == 2)
                FUZZ_CHECK(value_of(out_at, place, index) == i);
            else
                FUZZ_CHECK(rank_of(out_at, place, dtype) == rank_of(from, i, dtype));
            if (kind == 1)
                FUZZ_CHECK(memcmp((char *)more_at + place * wide,
                                  (const char *)values_from + i * wide, wide) == 0);
        }
    call_end(&c);
}

static void is_sorted_call(struct input *in, ech_ctx *ctx)
{
    struct call c;
    call_begin(&c, in, ctx);
    const ech_dtype dtype = take_dtype(in);
    const size_t n = take_size(in);
    ech_is_sorted_options o = { .size = sizeof o, .strict = take(in) % 2 };
    const void *keys = array_in(&c, n, size_of(dtype), size_of(dtype)), *from = array_last(&c);
    uint64_t *position = array_out(&c, 1, 8, 8), *at = array_last(&c);
    size_t needed = 0, expected = 1;
    if (ech_is_sorted_workspace("cpu", n, dtype, &o, &needed) != ECH_OK) needed = 0;
    call_options(&c, &o.size, &o.work, &o.work_bytes, needed, NULL);
    const ech_status s = ech_is_sorted(ctx, keys, position, n, dtype, &o);
    if (call_check(&c, s) && !is_float(dtype)) {
        for (; expected < n; expected++) {
            const uint64_t a = rank_of(from, expected - 1, dtype),
                           b = rank_of(from, expected, dtype);
            if (b < a || (o.strict && a == b)) break;
        }
        FUZZ_CHECK(at64(at, 0) == (n ? expected : 0));
    }
    call_end(&c);
}

/* ---- Reductions and scans ---- */

static void reduce_call(struct input *in, ech_ctx *ctx)
{
    struct call c;
    call_begin(&c, in, ctx);
    const ech_dtype dtype = take_dtype(in);
    const ech_op op = (ech_op)(take(in) % 17);
    const size_t n = take_size(in);
    const uint64_t value = take(in);
    ech_reduce_options o = { .size = sizeof o,
                             .nan = (ech_nan)(take(in) % 2),
                             .accumulate_wide = take(in) % 2,
                             .compare = (ech_compare)(take(in) % 11),
                             .value = &value };
    const void *from = array_in(&c, n, size_of(dtype), size_of(dtype)), *given = array_last(&c);
    void *out =
        array_out(&c, 2, 8, size_of((ech_dtype)ech_reduce_dtype(op, dtype, o.accumulate_wide)));
    const void *result = array_last(&c);
    size_t needed = 0;
    if (ech_reduce_workspace("cpu", ECH_REDUCE_CALL_ROWS, op, n, 1, dtype, &o, &needed) != ECH_OK)
        needed = 0;
    call_options(&c, &o.size, &o.work, &o.work_bytes, needed, NULL);
    const ech_status s = ech_reduce(ctx, op, from, out, n, dtype, &o);
    if (call_check(&c, s) && !is_float(dtype) && op == ECH_OP_SUM) {
        uint64_t sum = 0;
        for (size_t i = 0; i < n; i++) sum += value_of(given, i, dtype);
        FUZZ_CHECK(at64(result, 0) == sum);
    } else if (s == ECH_OK && !is_float(dtype) && op == ECH_OP_MAX && n) {
        size_t best = 0;
        for (size_t i = 1; i < n; i++)
            if (rank_of(given, i, dtype) > rank_of(given, best, dtype)) best = i;
        FUZZ_CHECK(rank_of(result, 0, dtype) == rank_of(given, best, dtype));
    }
    call_end(&c);
}

/* Offsets that may decrease, or exceed n. */
static const void *offsets_of(struct call *c, size_t segments, size_t n, ech_dtype index)
{
    const void *offsets = array_in(c, segments + 1, size_of(index), size_of(index));
    char *at = array_last(c);
    const size_t bytes = size_of(index);
    uint64_t offset = 0;
    for (size_t i = 0; i <= segments && take(c->in) < 250; i++) {
        offset += n ? take(c->in) % (n / (segments + 1) + 2) : 0;
        memcpy(at + i * bytes, &offset, bytes);
    }
    array_keep(c);
    c->data_error = true;
    return offsets;
}

static void segments_call(struct input *in, ech_ctx *ctx)
{
    struct call c;
    call_begin(&c, in, ctx);
    const ech_dtype dtype = take_dtype(in), index = take_index(in);
    const ech_op op = (ech_op)(take(in) % 17);
    const size_t n = take_size(in), segments = take(in) % 20;
    const bool scan = take(in) % 2;
    const void *from = array_in(&c, n, size_of(dtype), size_of(dtype));
    const void *offsets = offsets_of(&c, segments, n, index);
    void *out =
        scan ? array_out(&c, n, size_of(dtype), size_of(dtype))
             : array_out(&c, 2 * segments, 8, size_of((ech_dtype)ech_reduce_dtype(op, dtype, 0)));
    ech_reduce_options r = { .size = sizeof r };
    ech_scan_options o = { .size = sizeof o, .exclusive = take(in) % 2, .reverse = take(in) % 2 };
    if (!segments) c.array_spoiled = false; /* the only offset has no effect */
    call_size(&c, scan ? &o.size : &r.size);
    const ech_status s =
        scan ? ech_scan_segments(ctx, op, from, offsets, out, n, segments, dtype, index, &o)
             : ech_reduce_segments(ctx, op, from, offsets, out, n, segments, dtype, index, &r);
    call_check(&c, s);
    call_end(&c);
}

/* Each segment, or each row if offsets is NULL, must be in order. */
static void check_groups(const void *offsets, size_t index_bytes, size_t groups, size_t cols,
                         const void *keys, ech_dtype dtype, bool descending)
{
    for (size_t g = 0; g < groups; g++) {
        size_t begin = g * cols, end = begin + cols;
        if (offsets) {
            begin = end = 0; /* little-endian */
            memcpy(&begin, (const char *)offsets + g * index_bytes, index_bytes);
            memcpy(&end, (const char *)offsets + (g + 1) * index_bytes, index_bytes);
        }
        for (size_t i = begin + 1; i < end; i++) {
            const uint64_t x = rank_of(keys, i - 1, dtype), y = rank_of(keys, i, dtype);
            FUZZ_CHECK(descending ? x >= y : x <= y);
        }
    }
}

static void sort_groups_call(struct input *in, ech_ctx *ctx)
{
    struct call c;
    call_begin(&c, in, ctx);
    const ech_dtype dtype = take_dtype(in), index = take_index(in), result = take_index(in);
    const bool rows = take(in) % 2, argsort = take(in) % 2, strides = take(in) > 200;
    const size_t groups = take(in) % 20, cols = rows && groups ? take_size(in) / groups : 0;
    const size_t n = rows ? groups * cols : take_size(in), bytes = size_of(dtype);
    const size_t out_bytes = argsort ? size_of(result) : bytes;
    const ech_sort_call call = (ech_sort_call)(!rows + 2 * argsort);
    ech_sort_options o = { .size = sizeof o, .descending = take(in) % 2 };
    if (strides) { /* most of them are wrong */
        o.row_stride = take(in) % 4;
        o.element_stride = take(in) % 4 * groups;
        o.out_row_stride = take(in) % 4;
    }
    const size_t room = strides ? 4 * n * (groups + 1) : n;
    const void *keys = array_in(&c, room, bytes, bytes);
    const void *offsets = rows ? NULL : offsets_of(&c, groups, n, index);
    const void *given = rows ? NULL : array_last(&c);
    void *out = array_out(&c, room, out_bytes, out_bytes);
    const void *out_at = array_last(&c);
    size_t needed = 0;
    if (ech_sort_segments_workspace("cpu", call, n, groups, dtype, argsort ? out_bytes : 0, &o,
                                    &needed) != ECH_OK)
        needed = 0;
    if (!groups || (rows && !cols)) c.array_spoiled = false;
    call_options(&c, &o.size, &o.work, &o.work_bytes, needed, &o.algorithm);
    const ech_status s =
        rows && argsort ? ech_argsort_rows(ctx, keys, out, groups, cols, dtype, result, &o)
        : rows          ? ech_sort_rows(ctx, keys, out, groups, cols, dtype, &o)
        : argsort ? ech_argsort_segments(ctx, keys, offsets, NULL, out, n, groups, dtype, result,
                                         index, &o)
                  : ech_sort_segments(ctx, keys, offsets, NULL, out, n, groups, dtype, index, &o);
    if (call_check(&c, s) && !argsort && !strides && !is_float(dtype))
        check_groups(given, size_of(index), groups, cols, out_at, dtype, o.descending != 0);
    call_end(&c);
}

/* The element that is at this place of each row must be the one that was selected for it. */
static void check_topk(const void *in, size_t rows, size_t cols, size_t k, ech_dtype dtype,
                       bool smallest, const void *values, const void *indices, ech_dtype result)
{
    const size_t bytes = size_of(dtype);
    for (size_t g = 0; g < rows; g++)
        for (size_t i = 0; i < cols; i++) {
            const char *row = (const char *)in + g * cols * bytes;
            const size_t place = place_of(row, i, cols, dtype, !smallest);
            if (place >= k) continue;
            if (values) FUZZ_CHECK(rank_of(values, g * k + place, dtype) == rank_of(row, i, dtype));
            if (indices) FUZZ_CHECK(value_of(indices, g * k + place, result) == i);
        }
}

/* Counts that may be greater than k. */
static const void *counts_of(struct call *c, size_t groups, size_t k, ech_dtype index)
{
    const void *counts = array_in(c, groups, size_of(index), size_of(index));
    char *at = array_last(c);
    for (size_t g = 0; g < groups; g++) {
        const uint64_t count = take(c->in) % (k + 2);
        memcpy(at + g * size_of(index), &count, size_of(index));
    }
    array_keep(c);
    c->data_error = true;
    return counts;
}

static void topk_call(struct input *in, ech_ctx *ctx)
{
    struct call c;
    call_begin(&c, in, ctx);
    const ech_dtype dtype = take_dtype(in), index = take_index(in), result = take_index(in);
    const bool rows = take(in) % 2, counts = take(in) % 4 == 0;
    const size_t groups = take(in) % 20, cols = rows && groups ? take_size(in) / groups : 0;
    const size_t n = rows ? groups * cols : take_size(in), bytes = size_of(dtype);
    const unsigned output = take(in) % 3; /* values, indices, both */
    size_t k = take(in) % 50, needed = 0;
    ech_topk_options o = { .size = sizeof o };
    o.smallest = take(in) % 2;
    o.unsorted = take(in) % 4 == 0;
    if (rows && k > cols && take(in) < 250) k = cols;
    c.spoiled |= rows && groups && k > cols;
    const void *keys = array_in(&c, n, bytes, bytes), *given = array_last(&c);
    const void *offsets = rows ? NULL : offsets_of(&c, groups, n, index);
    void *values = NULL, *indices = NULL;
    const void *values_at = NULL, *indices_at = NULL;
    if (output != 1) values = array_out(&c, groups * k, bytes, bytes), values_at = array_last(&c);
    if (output != 0)
        indices = array_out(&c, groups * k, size_of(result), size_of(result)),
        indices_at = array_last(&c);
    if (output == 2) c.array_spoiled &= values && indices; /* one of them is sufficient */
    if (counts) o.counts = counts_of(&c, groups, k, index), o.counts_dtype = index;
    if (ech_topk_workspace("cpu", rows ? ECH_TOPK_CALL_ROWS : ECH_TOPK_CALL_SEGMENTS, n, groups, k,
                           dtype, &o, &needed) != ECH_OK)
        needed = 0;
    if (!groups || !k || counts) c.array_spoiled = false;
    call_options(&c, &o.size, &o.work, &o.work_bytes, needed, &o.algorithm);
    const ech_status s =
        rows ? ech_topk_rows(ctx, keys, values, indices, groups, cols, k, dtype, result, &o)
             : ech_topk_segments(ctx, keys, offsets, NULL, values, indices, n, groups, k, dtype,
                                 result, index, &o);
    if (call_check(&c, s) && rows && !counts && !o.unsorted && n <= MOST_PLACES && !is_float(dtype))
        check_topk(given, groups, cols, k, dtype, o.smallest, values ? values_at : NULL,
                   indices ? indices_at : NULL, result);
    call_end(&c);
}

void sort_array(void *keys, size_t n, ech_dtype dtype, bool descending)
{
    ech_ctx *cpu;
    const ech_sort_options o = { .size = sizeof o, .descending = descending };
    FUZZ_CHECK(ech_open(&cpu, "cpu") == ECH_OK);
    FUZZ_CHECK(ech_sort(cpu, keys, keys, n, dtype, &o) == ECH_OK);
    ech_close(cpu);
}

/* The inputs are sorted, or in any order; then only the limits of the memory are checked. */
static void merge_call(struct input *in, ech_ctx *ctx)
{
    struct call c;
    call_begin(&c, in, ctx);
    const ech_dtype dtype = take_dtype(in);
    const size_t a_n = take_size(in), b_n = take_size(in), bytes = size_of(dtype);
    const size_t wide = take(in) % 2 ? 1 + take(in) % 20 : 0, n = a_n + b_n;
    const bool sorted = take(in) < 200 && dtype <= ECH_F64;
    ech_merge_options o = { .size = sizeof o, .descending = take(in) % 2 };
    const void *a = array_in(&c, a_n, bytes, bytes);
    if (sorted && a_n) sort_array(array_last(&c), a_n, dtype, o.descending), array_keep(&c);
    const void *b = array_in(&c, b_n, bytes, bytes);
    if (sorted && b_n) sort_array(array_last(&c), b_n, dtype, o.descending), array_keep(&c);
    const void *a_values = wide ? array_in(&c, a_n, wide, 1) : NULL;
    const void *b_values = wide ? array_in(&c, b_n, wide, 1) : NULL;
    void *out = array_out(&c, n, bytes, bytes), *out_at = array_last(&c);
    void *values = wide ? array_out(&c, n, wide, 1) : NULL;
    size_t needed = 0;
    if (ech_merge_workspace("cpu", a_n, b_n, dtype, wide, &o, &needed) != ECH_OK) needed = 0;
    call_options(&c, &o.size, &o.work, &o.work_bytes, needed, &o.algorithm);
    const ech_status s = wide ? ech_merge_pairs(ctx, a, a_values, b, b_values, out, values, a_n,
                                                b_n, dtype, wide, &o)
                              : ech_merge(ctx, a, b, out, a_n, b_n, dtype, &o);
    if (call_check(&c, s) && sorted && !is_float(dtype))
        for (size_t i = 1; i < n; i++) {
            const uint64_t x = rank_of(out_at, i - 1, dtype), y = rank_of(out_at, i, dtype);
            FUZZ_CHECK(o.descending ? x >= y : x <= y);
        }
    call_end(&c);
}

static void scan_call(struct input *in, ech_ctx *ctx)
{
    struct call c;
    call_begin(&c, in, ctx);
    const ech_dtype dtype = take_dtype(in);
    const ech_op op = (ech_op)(take(in) % 8);
    const size_t n = take_size(in);
    ech_scan_options o = { .size = sizeof o, .exclusive = take(in) % 2, .reverse = take(in) % 2 };
    const void *from = array_in(&c, n, size_of(dtype), size_of(dtype)), *given = array_last(&c);
    void *out = array_out(&c, n, size_of(dtype), size_of(dtype));
    const void *result = array_last(&c);
    size_t needed = 0;
    if (ech_scan_workspace("cpu", ECH_SCAN_CALL_ROWS, op, n, 1, dtype, &o, &needed) != ECH_OK)
        needed = 0;
    call_options(&c, &o.size, &o.work, &o.work_bytes, needed, NULL);
    const ech_status s = ech_scan(ctx, op, from, out, n, dtype, &o);
    if (call_check(&c, s) && !is_float(dtype) && op == ECH_OP_SUM) {
        const unsigned unused = 64 - 8 * (unsigned)size_of(dtype);
        uint64_t sum = 0;
        for (size_t k = 0; k < n; k++) {
            const size_t i = o.reverse ? n - 1 - k : k;
            if (!o.exclusive) sum += value_of(given, i, dtype);
            FUZZ_CHECK(value_of(result, i, dtype) << unused == sum << unused);
            if (o.exclusive) sum += value_of(given, i, dtype);
        }
    }
    call_end(&c);
}

/* ---- Selections ---- */

static void unique_call(struct input *in, ech_ctx *ctx)
{
    struct call c;
    call_begin(&c, in, ctx);
    const ech_dtype dtype = take_dtype(in);
    const size_t n = take_size(in), bytes = size_of(dtype);
    const bool lengths = take(in) % 2;
    ech_select_options o = { .size = sizeof o };
    const void *from = array_in(&c, n, bytes, bytes), *given = array_last(&c);
    void *out = array_out(&c, n, bytes, bytes), *result = array_last(&c);
    uint64_t *count = array_out(&c, 1, 8, 8), *counted = array_last(&c);
    uint64_t *runs = lengths ? array_out(&c, n, 8, 8) : NULL, *run = array_last(&c);
    size_t needed = 0, kept = 0, first = 0;
    if (ech_select_workspace("cpu", lengths ? ECH_SELECT_CALL_RLE_ENCODE : ECH_SELECT_CALL_UNIQUE,
                             n, bytes, 0, &o, &needed) != ECH_OK)
        needed = 0;
    call_options(&c, &o.size, &o.work, &o.work_bytes, needed, NULL);
    const ech_status s = lengths ? ech_rle_encode(ctx, from, out, runs, count, n, dtype, &o)
                                 : ech_unique(ctx, from, out, count, n, dtype, &o);
    if (call_check(&c, s) && !is_float(dtype)) {
        for (size_t i = 0; i < n; i++) {
            if (i && rank_of(given, i, dtype) == rank_of(given, i - 1, dtype)) continue;
            FUZZ_CHECK(rank_of(result, kept, dtype) == rank_of(given, i, dtype));
            if (lengths && kept) FUZZ_CHECK(at64(run, kept - 1) == i - first);
            first = i;
            kept++;
        }
        FUZZ_CHECK(at64(counted, 0) == kept);
    }
    call_end(&c);
}

/* The distinct elements of n integers in ascending order, or of first appearance. */
static void check_distinct(const void *in, size_t n, ech_dtype dtype, bool appearance,
                           const void *values, const void *inverse, ech_dtype index, uint64_t count)
{
    size_t distinct = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t at = value_of(inverse, i, index), rank = rank_of(in, i, dtype);
        bool first = true;
        FUZZ_CHECK(at < count && rank_of(values, (size_t)at, dtype) == rank);
        for (size_t j = 0; j < i && first; j++) first = rank_of(in, j, dtype) != rank;
        if (first && appearance) FUZZ_CHECK(at == distinct);
        distinct += first;
    }
    FUZZ_CHECK(count == distinct);
    for (size_t r = 1; r < count && !appearance; r++)
        FUZZ_CHECK(rank_of(values, r - 1, dtype) < rank_of(values, r, dtype));
}

static void distinct_call(struct input *in, ech_ctx *ctx)
{
    struct call c;
    call_begin(&c, in, ctx);
    const ech_dtype dtype = take_dtype(in), index = take_index(in);
    const size_t n = take_size(in), bytes = size_of(dtype), wide = size_of(index);
    const bool mode = take(in) % 4 == 0;
    ech_unique_options o = { .size = sizeof o, .appearance = take(in) % 2 };
    const void *from = array_in(&c, n, bytes, bytes), *given = array_last(&c);
    void *values = array_out(&c, mode ? n > 0 : n, bytes, bytes), *value = array_last(&c);
    uint64_t *count = array_out(&c, 1, 8, 8), *counted = array_last(&c);
    void *inverse = mode ? NULL : array_out(&c, n, wide, wide), *rank = array_last(&c);
    void *first = mode ? NULL : array_out(&c, n, wide, wide);
    uint64_t *counts = mode ? NULL : array_out(&c, n, 8, 8);
    size_t needed = 0;
    if (ech_unique_workspace("cpu", mode ? ECH_UNIQUE_CALL_MODE : ECH_UNIQUE_CALL_ALL, n, dtype, &o,
                             &needed) != ECH_OK)
        needed = 0;
    if (!values || (!mode && !(inverse && first && counts)))
        c.array_spoiled = false; /* they are optional */
    call_options(&c, &o.size, &o.work, &o.work_bytes, needed, NULL);
    const ech_status s = mode ? ech_mode(ctx, from, values, count, n, dtype, &o)
                              : ech_unique_all(ctx, from, values, first, inverse, counts, count, n,
                                               dtype, index, &o);
    if (call_check(&c, s) && !mode && values && inverse && n <= MOST_PLACES && !is_float(dtype))
        check_distinct(given, n, dtype, o.appearance, value, rank, index, at64(counted, 0));
    call_end(&c);
}

static void select_call(struct input *in, ech_ctx *ctx)
{
    struct call c;
    call_begin(&c, in, ctx);
    const ech_dtype dtype = take_dtype(in);
    const size_t n = take_size(in), bytes = size_of(dtype);
    const ech_compare compare = (ech_compare)(take(in) % 12);
    uint64_t value = take(in);
    if (take(in) % 4 == 0) value *= 0x9E3779B97F4A7C15u;
    ech_select_options o = { .size = sizeof o, .invert = take(in) % 2 };
    const void *from = array_in(&c, n, bytes, bytes), *given = array_last(&c);
    void *out = array_out(&c, n, bytes, bytes);
    const void *result = array_last(&c);
    uint64_t *count = array_out(&c, 1, 8, 8), *counted = array_last(&c);
    size_t needed = 0, kept = 0;
    if (ech_select_workspace("cpu", ECH_SELECT_CALL_IF, n, bytes, 0, &o, &needed) != ECH_OK)
        needed = 0;
    call_options(&c, &o.size, &o.work, &o.work_bytes, needed, NULL);
    const ech_status s = ech_select_if(ctx, compare, from, out, count, n, dtype, &value, &o);
    if (call_check(&c, s) && !is_float(dtype) && compare == ECH_COMPARE_LESS) {
        for (size_t i = 0; i < n; i++)
            if ((rank_of(given, i, dtype) < rank_of(&value, 0, dtype)) != (o.invert != 0))
                FUZZ_CHECK(rank_of(result, kept++, dtype) == rank_of(given, i, dtype));
        FUZZ_CHECK(at64(counted, 0) == kept);
    }
    call_end(&c);
}

/* ---- Others ---- */

static void count_call(struct input *in, ech_ctx *ctx)
{
    struct call c;
    call_begin(&c, in, ctx);
    const ech_dtype dtype = take_dtype(in);
    const size_t n = take_size(in), bins = take(in) + (size_t)(take(in) < 250);
    ech_histogram_options o = { .size = sizeof o, .outside = (ech_outside)(take(in) % 3) };
    const void *from = array_in(&c, n, size_of(dtype), size_of(dtype)), *given = array_last(&c);
    void *counts = array_out(&c, bins + 3, 8, 8);
    const uint64_t *counted = array_last(&c);
    const bool even = take(in) % 2;
    size_t needed = 0;
    if (ech_histogram_workspace("cpu", n, dtype, bins, &o, &needed) != ECH_OK) needed = 0;
    call_options(&c, &o.size, &o.work, &o.work_bytes, needed, &o.algorithm);
    const ech_status s = even ? ech_histogram(ctx, from, counts, n, dtype, bins,
                                              (double)take(in) - 100, take(in) * 3.0, &o)
                              : ech_bincount(ctx, from, counts, n, dtype, bins, &o);
    if (call_check(&c, s) && !even && o.outside != ECH_OUTSIDE_CLAMP)
        for (size_t b = 0; b < bins; b++) {
            uint64_t expected = 0;
            for (size_t i = 0; i < n; i++) expected += value_of(given, i, dtype) == b;
            FUZZ_CHECK(at64(counted, b) == expected);
        }
    call_end(&c);
}

static void gather_call(struct input *in, ech_ctx *ctx)
{
    struct call c;
    call_begin(&c, in, ctx);
    const ech_dtype index = take_index(in);
    const size_t n = take_size(in), from_n = take_size(in), bytes = take(in) % 18;
    const bool scatter = take(in) % 2;
    const void *from = array_in(&c, scatter ? n : from_n, bytes, 1);
    const char *given = array_last(&c);
    const void *positions = array_in(&c, n, size_of(index), size_of(index));
    char *at = array_last(&c);
    for (size_t i = 0; i < n && from_n; i++) { /* a few are invalid */
        const uint64_t position = take(in) % (from_n + (take(in) > 250));
        memcpy(at + i * size_of(index), &position, size_of(index));
    }
    array_keep(&c);
    void *out = array_out(&c, scatter ? from_n : n, bytes, 1);
    const char *result = array_last(&c);
    c.data_error = true;
    if (!n) c.array_spoiled = false;
    const ech_status s = scatter ? ech_scatter(ctx, from, positions, out, n, from_n, index, bytes)
                                 : ech_gather(ctx, from, positions, out, n, from_n, index, bytes);
    if (call_check(&c, s) && !scatter && out == result && from == given)
        for (size_t i = 0; i < n; i++)
            FUZZ_CHECK(memcmp(result + i * bytes,
                              given + rank_of(at, i, ECH_U8 + (index & 3)) * bytes, bytes) == 0);
    call_end(&c);
}

void call_operation(struct input *in, ech_ctx *ctx)
{
    static void (*const calls[])(struct input *, ech_ctx *) = {
        sort_call,       is_sorted_call,   reduce_call, segments_call, scan_call,
        unique_call,     select_call,      count_call,  gather_call,   call_transpose,
        call_bits,       sort_groups_call, topk_call,   merge_call,    call_columns,
        distinct_call,   call_strings,     call_set,    call_quantile, call_search,
        call_merge_many, call_records
    };
    calls[take(in) % (sizeof calls / sizeof *calls)](in, ctx);
}
