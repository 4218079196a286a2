/*
 * sort/segments.c - ech_sort_rows(), ech_sort_segments() and their related functions: checks the
 * arguments and calls the backend.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/segments.h"
#include "core/call.h"

#include <string.h>

static const struct echi_operation *operation(const struct echi_backend *backend)
{
    return backend->operations[ECHI_OP_sort_segments];
}

/* The names of the arrays: of the keys in and out, and of the values in and out. */
struct names {
    const char *keys_in, *keys_out, *values_in, *values_out;
};
static const struct names keys_only = { "in", "out", "", "" };
static const struct names pairs = { "keys_in", "keys_out", "values_in", "values_out" };
static const struct names argsort = { "keys", "", "", "index" };

/* ---- Rows ---- */

static size_t extent_of(const struct echi_sort_segments *s, const struct echi_strides *strides)
{
    return echi_rows_extent(s->groups, s->cols, strides);
}

static ech_status set_rows(ech_ctx *ctx, const ech_sort_options *options,
                           struct echi_sort_segments *s)
{
    ech_status status;
    s->in = (struct echi_strides){ options->row_stride, options->element_stride };
    TRY(echi_rows_strides(ctx, "", s->groups, s->cols, &(struct echi_strides){ 0, 1 }, &s->in));
    s->out = (struct echi_strides){ options->out_row_stride, options->out_element_stride };
    TRY(echi_rows_strides(ctx, "out_", s->groups, s->cols, &s->in, &s->out));
done:
    return status;
}

/* ---- Checks ---- */

/* Checks everything except pointers, and fills in the fields that depend on it. n is that of rows *
 * cols. */
static ech_status check_shape(ech_ctx *ctx, const ech_sort_options *options, bool rows,
                              struct echi_sort_segments *s)
{
    ech_status status;
    const size_t widest = s->sort.value_bytes > 8 ? s->sort.value_bytes : 8;
    if (rows) {
        TRY(set_rows(ctx, options, s));
        TRY(echi_check_count(ctx, "the extent of the rows", extent_of(s, &s->in), widest));
        TRY(echi_check_count(ctx, "the extent of the rows", extent_of(s, &s->out), widest));
    } else {
        s->in = s->out = (struct echi_strides){ 1, 1 };
        if (options->row_stride || options->element_stride || options->out_row_stride ||
            options->out_element_stride)
            FAIL(ctx, ECH_ERR_ARG,
                 "options->row_stride, element_stride, out_row_stride and out_element_stride must "
                 "be 0: they are for sorts of rows");
        TRY(echi_check_count(ctx, "segments", s->groups, 16));
    }
    TRY(echi_sort_check(ctx, options, &s->sort));
done:
    return status;
}

/* ---- The calls ---- */

/* The bytes of an array of elements of this size. */
static size_t bytes_of(const struct echi_sort_segments *s, const struct echi_strides *strides,
                       size_t element_bytes)
{
    return (s->offsets ? s->sort.n : extent_of(s, strides)) * element_bytes;
}

/* Elements between rows, and elements in no segment, keep their values. */
static enum echi_use use_of(const struct echi_sort_segments *s)
{
    return s->offsets || extent_of(s, &s->out) > s->sort.n ? ECHI_KEPT : ECHI_OUT;
}

static bool same_strides(const struct echi_sort_segments *s)
{
    return s->in.row == s->out.row && s->in.element == s->out.element;
}

static void add_keys(struct echi_call *call, struct echi_sort_segments *s,
                     const struct names *names)
{
    const size_t bytes = (size_t)s->sort.key_bytes;
    const char *element = echi_dtype_name(s->sort.dtype);
    echi_call_add(call, names->keys_in, &s->sort.keys_in, bytes_of(s, &s->in, bytes), bytes,
                  ECHI_IN)
        ->element = element;
    if (s->sort.index_bytes) return;
    struct echi_array *out = echi_call_add(call, names->keys_out, &s->sort.keys_out,
                                           bytes_of(s, &s->out, bytes), bytes, use_of(s));
    out->element = element;
    if (same_strides(s)) out->may_be = 1;
}

/* GPU kernels move values as words of their size, which must be aligned. */
static void add_values(struct echi_call *call, struct echi_sort_segments *s,
                       const struct names *names)
{
    const size_t bytes = s->sort.value_bytes;
    if (s->sort.index_bytes) {
        echi_call_add(call, names->values_out, &s->sort.values_out, bytes_of(s, &s->out, bytes),
                      bytes, use_of(s))
            ->element = s->sort.index_bytes == 4 ? "u32" : "u64";
        return;
    }
    struct echi_array *in = echi_call_add(call, names->values_in, &s->sort.values_in,
                                          bytes_of(s, &s->in, bytes), 0, ECHI_IN);
    in->device_align = echi_opaque_align(bytes);
    struct echi_array *out = echi_call_add(call, names->values_out, &s->sort.values_out,
                                           bytes_of(s, &s->out, bytes), 0, use_of(s));
    out->device_align = in->device_align;
    if (same_strides(s)) out->may_be = call->count - 1;
}

static ech_status run(ech_ctx *ctx, const ech_sort_options *options, struct echi_sort_segments *s,
                      const struct names *names)
{
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    struct echi_call call;
    echi_call_begin(&call, s->offsets ? "a sort of segments" : "a sort of rows",
                    operation(ctx->backend), s, options->work, options->work_bytes);
    if (s->groups == 0 || (s->sort.n == 0 && !s->offsets)) return echi_call_check(ctx, &call);
    add_keys(&call, s, names);
    if (s->sort.value_bytes) add_values(&call, s, names);
    if (s->offsets) {
        const size_t bytes = s->offsets_index.bytes;
        echi_call_add(&call, "offsets", &s->offsets, (s->groups + !s->ends) * bytes, bytes,
                      ECHI_IN);
        if (s->ends) echi_call_add(&call, "ends", &s->ends, s->groups * bytes, bytes, ECHI_IN);
    }
    return echi_call_run(ctx, &call);
}

static ech_status run_rows(ech_ctx *ctx, const ech_sort_options *options,
                           struct echi_sort_segments *s, size_t rows, size_t cols,
                           const struct names *names)
{
    if (__builtin_mul_overflow(rows, cols, &s->sort.n) || s->sort.n > PTRDIFF_MAX / 8)
        return echi_fail(ctx, ECH_ERR_ARG,
                         "rows is %zu and cols is %zu: rows * cols overflows size_t", rows, cols);
    s->groups = rows;
    s->cols = cols;
    const ech_status status = check_shape(ctx, options, true, s);
    return status == ECH_OK ? run(ctx, options, s, names) : status;
}

static ech_status run_segments(ech_ctx *ctx, const ech_sort_options *options,
                               struct echi_sort_segments *s, const void *offsets, const void *ends,
                               size_t n, size_t segments, ech_dtype offsets_dtype,
                               const struct names *names)
{
    ech_status status;
    s->sort.n = n;
    s->groups = segments;
    s->offsets = offsets;
    s->ends = ends;
    TRY(check_shape(ctx, options, false, s));
    TRY(echi_check_index(ctx, "offsets_dtype", offsets_dtype, "n", 0));
    s->offsets_index = echi_index_of(offsets_dtype);
    if (!offsets && segments) FAIL(ctx, ECH_ERR_ARG, "offsets is NULL");
    TRY(run(ctx, options, s, names));
done:
    return status;
}

static ech_status no_values(ech_ctx *ctx, const char *instead)
{
    return echi_fail(ctx, ECH_ERR_ARG, "value_bytes is 0; use %s() for keys without values",
                     instead);
}

static ech_status set_index(ech_ctx *ctx, struct echi_sort_segments *s, ech_dtype index_dtype,
                            const char *name, size_t count)
{
    s->sort.index_bytes = (int)echi_dtype_bytes(index_dtype);
    s->sort.value_bytes = echi_dtype_bytes(index_dtype);
    return echi_check_index(ctx, "index_dtype", index_dtype, name, count);
}

ech_status ech_sort_rows(ech_ctx *ctx, const void *in, void *out, size_t rows, size_t cols,
                         ech_dtype dtype, const ech_sort_options *options)
{
    READ_OPTIONS(ctx, ech_sort_options, options);
    struct echi_sort_segments s = { .sort = { .keys_in = in, .keys_out = out, .dtype = dtype } };
    return run_rows(ctx, options, &s, rows, cols, &keys_only);
}

ech_status ech_sort_pairs_rows(ech_ctx *ctx, const void *keys_in, const void *values_in,
                               void *keys_out, void *values_out, size_t rows, size_t cols,
                               ech_dtype dtype, size_t value_bytes, const ech_sort_options *options)
{
    READ_OPTIONS(ctx, ech_sort_options, options);
    struct echi_sort_segments s = { .sort = { .keys_in = keys_in,
                                              .keys_out = keys_out,
                                              .values_in = values_in,
                                              .values_out = values_out,
                                              .value_bytes = value_bytes,
                                              .dtype = dtype } };
    if (value_bytes == 0) return no_values(ctx, "ech_sort_rows");
    return run_rows(ctx, options, &s, rows, cols, &pairs);
}

ech_status ech_argsort_rows(ech_ctx *ctx, const void *keys, void *index, size_t rows, size_t cols,
                            ech_dtype dtype, ech_dtype index_dtype, const ech_sort_options *options)
{
    READ_OPTIONS(ctx, ech_sort_options, options);
    struct echi_sort_segments s = { .sort = {
                                        .keys_in = keys, .values_out = index, .dtype = dtype } };
    const ech_status status = set_index(ctx, &s, index_dtype, "cols", cols);
    return status == ECH_OK ? run_rows(ctx, options, &s, rows, cols, &argsort) : status;
}

ech_status ech_sort_segments(ech_ctx *ctx, const void *in, const void *offsets, const void *ends,
                             void *out, size_t n, size_t segments, ech_dtype dtype,
                             ech_dtype offsets_dtype, const ech_sort_options *options)
{
    READ_OPTIONS(ctx, ech_sort_options, options);
    struct echi_sort_segments s = { .sort = { .keys_in = in, .keys_out = out, .dtype = dtype } };
    return run_segments(ctx, options, &s, offsets, ends, n, segments, offsets_dtype, &keys_only);
}

ech_status ech_sort_pairs_segments(ech_ctx *ctx, const void *keys_in, const void *values_in,
                                   const void *offsets, const void *ends, void *keys_out,
                                   void *values_out, size_t n, size_t segments, ech_dtype dtype,
                                   size_t value_bytes, ech_dtype offsets_dtype,
                                   const ech_sort_options *options)
{
    READ_OPTIONS(ctx, ech_sort_options, options);
    struct echi_sort_segments s = { .sort = { .keys_in = keys_in,
                                              .keys_out = keys_out,
                                              .values_in = values_in,
                                              .values_out = values_out,
                                              .value_bytes = value_bytes,
                                              .dtype = dtype } };
    if (value_bytes == 0) return no_values(ctx, "ech_sort_segments");
    return run_segments(ctx, options, &s, offsets, ends, n, segments, offsets_dtype, &pairs);
}

ech_status ech_argsort_segments(ech_ctx *ctx, const void *keys, const void *offsets,
                                const void *ends, void *index, size_t n, size_t segments,
                                ech_dtype dtype, ech_dtype index_dtype, ech_dtype offsets_dtype,
                                const ech_sort_options *options)
{
    READ_OPTIONS(ctx, ech_sort_options, options);
    struct echi_sort_segments s = { .sort = {
                                        .keys_in = keys, .values_out = index, .dtype = dtype } };
    const ech_status status = set_index(ctx, &s, index_dtype, "n", n);
    if (status != ECH_OK) return status;
    return run_segments(ctx, options, &s, offsets, ends, n, segments, offsets_dtype, &argsort);
}

/* ---- Queries that need no device ---- */

/* A request without pointers. */
static ech_status question(struct echi_sort_segments *s, ech_sort_call call, size_t n,
                           size_t groups, ech_dtype dtype, size_t value_bytes,
                           const ech_sort_options *options)
{
    static const uint64_t no_offsets; /* only distinguishes segments from rows */
    const bool rows = call == ECH_SORT_CALL_ROWS || call == ECH_SORT_CALL_ARGSORT_ROWS;
    if ((unsigned)call > ECH_SORT_CALL_ARGSORT_SEGMENTS)
        return echi_fail(NULL, ECH_ERR_ARG, "call is %d, not an ech_sort_call", (int)call);
    *s =
        (struct echi_sort_segments){ .sort = { .n = n, .dtype = dtype, .value_bytes = value_bytes },
                                     .groups = groups };
    if (call >= ECH_SORT_CALL_ARGSORT_ROWS) {
        if (value_bytes != 4 && value_bytes != 8)
            return echi_fail(NULL, ECH_ERR_ARG,
                             "value_bytes is %zu, not 4 or 8, the size of an index", value_bytes);
        s->sort.index_bytes = (int)value_bytes;
    }
    s->offsets_index = ECHI_INDEX_U64;
    if (rows && groups && n % groups)
        return echi_fail(NULL, ECH_ERR_ARG, "n is %zu, not a multiple of groups, %zu", n, groups);
    if (rows)
        s->cols = groups ? n / groups : 0;
    else
        s->offsets = &no_offsets;
    return check_shape(NULL, options, rows, s);
}

ech_status ech_sort_segments_workspace(const char *device, ech_sort_call call, size_t n,
                                       size_t groups, ech_dtype dtype, size_t value_bytes,
                                       const ech_sort_options *options, size_t *bytes)
{
    READ_OPTIONS(NULL, ech_sort_options, options);
    struct echi_sort_segments s;
    if (bytes) *bytes = 0;
    const ech_status status = question(&s, call, n, groups, dtype, value_bytes, options);
    return status == ECH_OK ? echi_call_workspace(device, operation, &s, bytes) : status;
}

ech_status ech_sort_segments_explain(const char *device, ech_sort_call call, size_t n,
                                     size_t groups, ech_dtype dtype, size_t value_bytes,
                                     const ech_sort_options *options, ech_format format, char *text,
                                     size_t capacity_bytes)
{
    READ_OPTIONS(NULL, ech_sort_options, options);
    static const char *const names[] = { "sort_rows", "sort_segments", "argsort_rows",
                                         "argsort_segments" };
    struct echi_sort_segments s;
    const ech_status status = question(&s, call, n, groups, dtype, value_bytes, options);
    if (status != ECH_OK) return status;
    return echi_explain(device, names[call], operation, &s, format, text, capacity_bytes);
}
