/*
 * search/search.c - ech_lower_bound() and its related functions: checks the arguments and calls the
 * backend.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "search/search.h"
#include "core/call.h"

static const struct echi_operation *find(const struct echi_backend *backend)
{
    return backend->operations[ECHI_OP_search];
}

/* All fields of the request except pointers and the index. */
static ech_status start(ech_ctx *ctx, bool upper, size_t n, size_t m, ech_dtype dtype,
                        const ech_search_options *options, struct echi_search *s)
{
    ech_status status;
    TRY(echi_check_dtype(ctx, "dtype", dtype));
    if (options->descending != 0 && options->descending != 1)
        FAIL(ctx, ECH_ERR_ARG, "options->descending is %d, not 0 or 1", options->descending);
    if (options->order != ECH_ORDER_NAN_LAST && options->order != ECH_ORDER_TOTAL)
        FAIL(ctx, ECH_ERR_ARG, "options->order is %d, not an ech_order", (int)options->order);
    if (options->needles_sorted != 0 && options->needles_sorted != 1)
        FAIL(ctx, ECH_ERR_ARG, "options->needles_sorted is %d, not 0 or 1",
             options->needles_sorted);
    *s = (struct echi_search){
        .n = n,
        .m = m,
        .dtype = dtype,
        .key_bytes = echi_dtype_bytes(dtype),
        .index_bytes = 8,
        .order = echi_order_make(dtype, options->order, options->descending != 0, true),
        .upper = upper,
        .needles_sorted = options->needles_sorted != 0,
        .algorithm = options->algorithm && *options->algorithm ? options->algorithm : NULL
    };
    TRY(echi_check_count(ctx, "n", n, 8));
    TRY(echi_check_count(ctx, "m", m, 8));
done:
    return status;
}

static ech_status run(ech_ctx *ctx, bool upper, const void *sorted, const void *needles,
                      void *positions, size_t n, size_t m, ech_dtype dtype, ech_dtype index_dtype,
                      const ech_search_options *options)
{
    struct echi_search s;
    ech_status status;
    if (!ctx) FAIL(NULL, ECH_ERR_ARG, "ctx is NULL");
    TRY(start(ctx, upper, n, m, dtype, options, &s));
    TRY(echi_check_index(ctx, "index_dtype", index_dtype, "n + 1", (uint64_t)n + 1));
    s.sorted = sorted;
    s.needles = needles;
    s.positions = positions;
    s.index_bytes = echi_dtype_bytes(index_dtype);
    struct echi_call call;
    echi_call_begin(&call, "a search", find(ctx->backend), &s, options->work, options->work_bytes);
    if (m == 0) return echi_call_check(ctx, &call);
    echi_call_add(&call, "sorted", &s.sorted, n * s.key_bytes, s.key_bytes, ECHI_IN)->element =
        echi_dtype_name(dtype);
    echi_call_add(&call, "needles", &s.needles, m * s.key_bytes, s.key_bytes, ECHI_IN)->element =
        echi_dtype_name(dtype);
    echi_call_add(&call, "positions", &s.positions, m * s.index_bytes, s.index_bytes, ECHI_OUT)
        ->element = echi_dtype_name(index_dtype);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

/* A search for few needles without options; false if it is not one. */
static bool search_at_once(ech_ctx *ctx, bool upper, const void *sorted, const void *needles,
                           void *positions, size_t n, size_t m, ech_dtype dtype,
                           ech_dtype index_dtype)
{
    enum { AT_ONCE = 1024, MOST = 1 << 30 };
    if (m - 1 >= AT_ONCE || n - 1 >= MOST || !echi_dtype_known(dtype) ||
        echi_check_index(ctx, "index_dtype", index_dtype, "n + 1", (uint64_t)n + 1) != ECH_OK)
        return false;
    const size_t bytes = echi_dtype_bytes(dtype), index = echi_dtype_bytes(index_dtype);
    const struct echi_span in[2] = { { sorted, n * bytes, bytes }, { needles, m * bytes, bytes } };
    const struct echi_span out = { positions, m * index, index };
    if (!echi_call_is_simple(ctx, in, 2, &out, 1)) return false;
    const struct echi_search s = { .sorted = sorted,
                                   .needles = needles,
                                   .positions = positions,
                                   .n = n,
                                   .m = m,
                                   .dtype = dtype,
                                   .key_bytes = bytes,
                                   .index_bytes = index,
                                   .order = echi_order_ascending(dtype, true),
                                   .upper = upper };
    return find(ctx->backend)->quick(&s);
}

ech_status ech_lower_bound(ech_ctx *ctx, const void *sorted, const void *needles, void *positions,
                           size_t n, size_t m, ech_dtype dtype, ech_dtype index_dtype,
                           const ech_search_options *options)
{
    if (!options &&
        search_at_once(ctx, false, sorted, needles, positions, n, m, dtype, index_dtype))
        return ECH_OK;
    READ_OPTIONS(ctx, ech_search_options, options);
    return run(ctx, false, sorted, needles, positions, n, m, dtype, index_dtype, options);
}

ech_status ech_upper_bound(ech_ctx *ctx, const void *sorted, const void *needles, void *positions,
                           size_t n, size_t m, ech_dtype dtype, ech_dtype index_dtype,
                           const ech_search_options *options)
{
    if (!options && search_at_once(ctx, true, sorted, needles, positions, n, m, dtype, index_dtype))
        return ECH_OK;
    READ_OPTIONS(ctx, ech_search_options, options);
    return run(ctx, true, sorted, needles, positions, n, m, dtype, index_dtype, options);
}

/* ---- Queries ---- */

static ech_status question(ech_search_call call, size_t n, size_t m, ech_dtype dtype,
                           const ech_search_options *options, struct echi_search *s)
{
    if ((unsigned)call > ECH_SEARCH_CALL_UPPER)
        return echi_fail(NULL, ECH_ERR_ARG, "call is %d, not an ech_search_call", (int)call);
    return start(NULL, call == ECH_SEARCH_CALL_UPPER, n, m, dtype, options, s);
}

ech_status ech_search_workspace(const char *device, ech_search_call call, size_t n, size_t m,
                                ech_dtype dtype, const ech_search_options *options, size_t *bytes)
{
    READ_OPTIONS(NULL, ech_search_options, options);
    struct echi_search s;
    if (bytes) *bytes = 0;
    const ech_status status = question(call, n, m, dtype, options, &s);
    return status == ECH_OK ? echi_call_workspace(device, find, &s, bytes) : status;
}

ech_status ech_search_explain(const char *device, ech_search_call call, size_t n, size_t m,
                              ech_dtype dtype, const ech_search_options *options, ech_format format,
                              char *text, size_t capacity_bytes)
{
    READ_OPTIONS(NULL, ech_search_options, options);
    struct echi_search s;
    const ech_status status = question(call, n, m, dtype, options, &s);
    if (status != ECH_OK) return status;
    return echi_explain(device, s.upper ? "upper_bound" : "lower_bound", find, &s, format, text,
                        capacity_bytes);
}
