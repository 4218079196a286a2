/*
 * topk/topk.c - ech_topk() and its related functions: checks the arguments and calls the backend.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "topk/topk.h"
#include "core/call.h"
#include "cpu/cpu.h"

static const struct echi_operation *operation(const struct echi_backend *backend)
{
    return backend->operations[ECHI_OP_topk];
}

/* ---- Checks ---- */

static ech_status check_options(ech_ctx *ctx, const ech_topk_options *options)
{
    if (options->smallest != 0 && options->smallest != 1)
        return echi_fail(ctx, ECH_ERR_ARG, "options->smallest is %d, not 0 or 1",
                         options->smallest);
    if (options->unsorted != 0 && options->unsorted != 1)
        return echi_fail(ctx, ECH_ERR_ARG, "options->unsorted is %d, not 0 or 1",
                         options->unsorted);
    if (options->order != ECH_ORDER_NAN_LAST && options->order != ECH_ORDER_TOTAL)
        return echi_fail(ctx, ECH_ERR_ARG, "options->order is %d, not an ech_order",
                         (int)options->order);
    if (options->counts)
        return echi_check_index(ctx, "options->counts_dtype", options->counts_dtype, "k", 0);
    return ECH_OK;
}

/* An array is one row, but has no strides. */
static ech_status check_array(ech_ctx *ctx, const ech_topk_options *options, size_t n)
{
    if (options->row_stride || options->element_stride || options->out_row_stride ||
        options->out_element_stride)
        return echi_fail(ctx, ECH_ERR_ARG,
                         "options->row_stride, element_stride, out_row_stride and "
                         "out_element_stride must be 0: they are for rows");
    return echi_check_count(ctx, "n", n, 8);
}

static ech_status check_strides(ech_ctx *ctx, const ech_topk_options *options, struct echi_topk *t)
{
    const struct echi_strides adjacent = { 0, 1 };
    ech_status status;
    t->in_strides = (struct echi_strides){ options->row_stride, options->element_stride };
    t->out_strides = (struct echi_strides){ options->out_row_stride, options->out_element_stride };
    if (t->offsets) {
        if (options->row_stride || options->element_stride)
            FAIL(ctx, ECH_ERR_ARG,
                 "options->row_stride and element_stride must be 0: they are for rows");
        t->in_strides = (struct echi_strides){ 1, 1 };
    } else {
        TRY(echi_rows_strides(ctx, "", t->groups, t->cols, &adjacent, &t->in_strides));
        TRY(echi_check_count(ctx, "the extent of the rows",
                             echi_rows_extent(t->groups, t->cols, &t->in_strides), 8));
    }
    TRY(echi_rows_strides(ctx, "out_", t->groups, t->k, &adjacent, &t->out_strides));
    TRY(echi_check_count(ctx, "the extent of the output",
                         echi_rows_extent(t->groups, t->k, &t->out_strides), 8));
done:
    return status;
}

/* Checks everything except pointers, and fills in the fields that depend on it.  n is that of
 * rows * cols. */
static ech_status check_request(ech_ctx *ctx, const ech_topk_options *options, struct echi_topk *t)
{
    ech_status status;
    TRY(echi_check_dtype(ctx, "dtype", t->dtype));
    TRY(check_options(ctx, options));
    t->key_bytes = (int)echi_dtype_bytes(t->dtype);
    t->order = echi_order_make(t->dtype, options->order, !options->smallest, true);
    t->sorted = !options->unsorted;
    t->algorithm = options->algorithm && *options->algorithm ? options->algorithm : NULL;
    if (t->offsets) {
        TRY(echi_check_count(ctx, "n", t->n, 16));
        TRY(echi_check_count(ctx, "segments", t->groups, 16));
    } else if (t->groups && t->k > t->cols) {
        FAIL(ctx, ECH_ERR_ARG, "k is %zu, more than the %zu elements", t->k, t->cols);
    }
    TRY(check_strides(ctx, options, t));
    if (options->counts) {
        t->counts = options->counts;
        t->counts_index = echi_index_of(options->counts_dtype);
    }
done:
    return status;
}

/* ---- The calls ---- */

static void add_output(struct echi_call *call, struct echi_topk *t, const char *name, void *pointer,
                       size_t bytes, const char *element)
{
    const size_t extent = echi_rows_extent(t->groups, t->k, &t->out_strides);
    const bool all = !t->offsets && !t->counts && extent == t->groups * t->k;
    echi_call_add(call, name, pointer, extent * bytes, bytes, all ? ECHI_OUT : ECHI_KEPT)->element =
        element;
}

static ech_status run(ech_ctx *ctx, const ech_topk_options *options, struct echi_topk *t,
                      ech_dtype index_dtype)
{
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    struct echi_call call;
    echi_call_begin(&call, "a top-k selection", operation(ctx->backend), t, options->work,
                    options->work_bytes);
    ech_status status = ECH_OK;
    if (t->indices) {
        TRY(echi_check_index(ctx, "index_dtype", index_dtype, "n", echi_topk_longest(t)));
        t->index_bytes = (int)echi_dtype_bytes(index_dtype);
    }
    if (t->groups == 0 || t->k == 0) return echi_call_check(ctx, &call);
    if (!t->values && !t->indices) FAIL(ctx, ECH_ERR_ARG, "values and indices are NULL");
    const size_t elements =
        t->offsets ? t->n : echi_rows_extent(t->groups, t->cols, &t->in_strides);
    const size_t bytes = (size_t)t->key_bytes, index = t->offsets_index.bytes;
    echi_call_add(&call, "in", &t->in, elements * bytes, bytes, ECHI_IN)->element =
        echi_dtype_name(t->dtype);
    if (t->values) add_output(&call, t, "values", &t->values, bytes, echi_dtype_name(t->dtype));
    if (t->indices)
        add_output(&call, t, "indices", &t->indices, (size_t)t->index_bytes,
                   echi_dtype_name(index_dtype));
    if (t->offsets)
        echi_call_add(&call, "offsets", &t->offsets, (t->groups + !t->ends) * index, index,
                      ECHI_IN);
    if (t->ends) echi_call_add(&call, "ends", &t->ends, t->groups * index, index, ECHI_IN);
    if (t->counts)
        echi_call_add(&call, "options->counts", &t->counts, t->groups * t->counts_index.bytes,
                      t->counts_index.bytes, ECHI_IN);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

ech_status ech_topk_rows(ech_ctx *ctx, const void *in, void *values, void *indices, size_t rows,
                         size_t cols, size_t k, ech_dtype dtype, ech_dtype index_dtype,
                         const ech_topk_options *options)
{
    READ_OPTIONS(ctx, ech_topk_options, options);
    struct echi_topk t = { .in = in,
                           .values = values,
                           .indices = indices,
                           .groups = rows,
                           .cols = cols,
                           .k = k,
                           .dtype = dtype };
    if (__builtin_mul_overflow(rows, cols, &t.n) || t.n > PTRDIFF_MAX / 8)
        return echi_fail(ctx, ECH_ERR_ARG,
                         "rows is %zu and cols is %zu: rows * cols overflows size_t", rows, cols);
    const ech_status status = check_request(ctx, options, &t);
    return status == ECH_OK ? run(ctx, options, &t, index_dtype) : status;
}

/* A selection from few elements without options; false if it is not one. */
INLINED bool topk_at_once(ech_ctx *ctx, struct echi_topk *t, ech_dtype index_dtype)
{
    enum { AT_ONCE = 1024, FEW = 24 /* are sorted by ranks */ };
    if (t->n > AT_ONCE || t->k - 1 >= t->n || !echi_dtype_known(t->dtype) || !t->values ||
        !t->indices || echi_check_index(ctx, "index_dtype", index_dtype, "n", t->n) != ECH_OK)
        return false;
    const size_t key = echi_dtype_bytes(t->dtype), index = echi_dtype_bytes(index_dtype);
    const struct echi_span in = { t->in, t->n * key, key };
    const struct echi_span out[2] = { { t->values, t->k * key, key },
                                      { t->indices, t->k * index, index } };
    if (!echi_call_is_simple(ctx, &in, 1, out, 2)) return false;
    if (t->n <= FEW && echi_cpu_topk_few(t->in, t->values, t->indices, t->n, t->k, t->dtype, index))
        return true;
    t->offsets = t->ends = t->counts = NULL;
    t->algorithm = NULL;
    t->groups = 1;
    t->cols = t->n;
    t->in_strides = (struct echi_strides){ t->n, 1 };
    t->out_strides = (struct echi_strides){ t->k, 1 };
    t->key_bytes = (int)key;
    t->index_bytes = (int)index;
    t->order = echi_order_make(t->dtype, ECH_ORDER_NAN_LAST, true, true);
    t->sorted = true;
    return echi_cpu_topk.quick(t);
}

NOINLINE static ech_status topk_any(ech_ctx *ctx, const void *in, void *values, void *indices,
                                    size_t n, size_t k, ech_dtype dtype, ech_dtype index_dtype,
                                    const ech_topk_options *options)
{
    READ_OPTIONS(ctx, ech_topk_options, options);
    const ech_status status = check_array(ctx, options, n);
    if (status != ECH_OK) return status;
    return ech_topk_rows(ctx, in, values, indices, 1, n, k, dtype, index_dtype, options);
}

ech_status ech_topk(ech_ctx *ctx, const void *in, void *values, void *indices, size_t n, size_t k,
                    ech_dtype dtype, ech_dtype index_dtype, const ech_topk_options *options)
{
    struct echi_topk t; /* not initialised: most fields are for other requests */
    if (!options) {
        t.in = in;
        t.values = values;
        t.indices = indices;
        t.n = n;
        t.k = k;
        t.dtype = dtype;
        if (topk_at_once(ctx, &t, index_dtype)) return ECH_OK;
    }
    return topk_any(ctx, in, values, indices, n, k, dtype, index_dtype, options);
}

ech_status ech_topk_segments(ech_ctx *ctx, const void *in, const void *offsets, const void *ends,
                             void *values, void *indices, size_t n, size_t segments, size_t k,
                             ech_dtype dtype, ech_dtype index_dtype, ech_dtype offsets_dtype,
                             const ech_topk_options *options)
{
    READ_OPTIONS(ctx, ech_topk_options, options);
    struct echi_topk t = { .in = in,
                           .values = values,
                           .indices = indices,
                           .offsets = offsets,
                           .ends = ends,
                           .n = n,
                           .groups = segments,
                           .k = k,
                           .dtype = dtype };
    ech_status status;
    if (!offsets && segments) FAIL(ctx, ECH_ERR_ARG, "offsets is NULL");
    TRY(check_request(ctx, options, &t));
    TRY(echi_check_index(ctx, "offsets_dtype", offsets_dtype, "n", 0));
    t.offsets_index = echi_index_of(offsets_dtype);
    TRY(run(ctx, options, &t, index_dtype));
done:
    return status;
}

/* ---- Queries ---- */

/* The request of such a call, without pointers. */
static ech_status question(struct echi_topk *t, ech_topk_call call, size_t n, size_t groups,
                           size_t k, ech_dtype dtype, const ech_topk_options *options)
{
    static const char no_offsets;
    ech_status status;
    *t = (struct echi_topk){ .n = n, .groups = groups, .k = k, .dtype = dtype, .index_bytes = 8 };
    if ((unsigned)call > ECH_TOPK_CALL_SEGMENTS)
        FAIL(NULL, ECH_ERR_ARG, "call is %d, not an ech_topk_call", (int)call);
    if (call == ECH_TOPK_CALL_ARRAY && groups != 1)
        FAIL(NULL, ECH_ERR_ARG, "groups is %zu, not 1, for an array", groups);
    if (call != ECH_TOPK_CALL_SEGMENTS && groups && n % groups)
        FAIL(NULL, ECH_ERR_ARG, "n is %zu, not a multiple of the %zu rows", n, groups);
    if (call == ECH_TOPK_CALL_ARRAY) TRY(check_array(NULL, options, n));
    TRY(echi_check_dtype(NULL, "dtype", dtype));
    TRY(echi_check_count(NULL, "n", n, 8));
    if (call == ECH_TOPK_CALL_SEGMENTS)
        t->offsets = &no_offsets;
    else
        t->cols = groups ? n / groups : 0;
    TRY(check_request(NULL, options, t));
done:
    return status;
}

ech_status ech_topk_workspace(const char *device, ech_topk_call call, size_t n, size_t groups,
                              size_t k, ech_dtype dtype, const ech_topk_options *options,
                              size_t *bytes)
{
    READ_OPTIONS(NULL, ech_topk_options, options);
    struct echi_topk t;
    if (bytes) *bytes = 0;
    const ech_status status = question(&t, call, n, groups, k, dtype, options);
    return status == ECH_OK ? echi_call_workspace(device, operation, &t, bytes) : status;
}

ech_status ech_topk_explain(const char *device, ech_topk_call call, size_t n, size_t groups,
                            size_t k, ech_dtype dtype, const ech_topk_options *options,
                            ech_format format, char *text, size_t capacity_bytes)
{
    static const char *const names[] = { "topk", "topk_rows", "topk_segments" };
    READ_OPTIONS(NULL, ech_topk_options, options);
    struct echi_topk t;
    const ech_status status = question(&t, call, n, groups, k, dtype, options);
    if (status != ECH_OK) return status;
    return echi_explain(device, names[call], operation, &t, format, text, capacity_bytes);
}
