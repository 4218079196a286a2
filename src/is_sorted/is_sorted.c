/*
 * is_sorted/is_sorted.c - ech_is_sorted(): checks the arguments and calls the backend.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "is_sorted/is_sorted.h"
#include "core/call.h"

static ech_status check_options(ech_ctx *ctx, const ech_is_sorted_options *options)
{
    if (options->descending != 0 && options->descending != 1)
        return echi_fail(ctx, ECH_ERR_ARG, "options->descending is %d, not 0 or 1",
                         options->descending);
    if (options->strict != 0 && options->strict != 1)
        return echi_fail(ctx, ECH_ERR_ARG, "options->strict is %d, not 0 or 1", options->strict);
    if (options->order != ECH_ORDER_NAN_LAST && options->order != ECH_ORDER_TOTAL)
        return echi_fail(ctx, ECH_ERR_ARG, "options->order is %d, not an ech_order",
                         (int)options->order);
    return ECH_OK;
}

/* All fields of the request except pointers. */
static ech_status start(ech_ctx *ctx, size_t n, ech_dtype dtype,
                        const ech_is_sorted_options *options, struct echi_is_sorted *s)
{
    ech_status status;
    TRY(echi_check_dtype(ctx, "dtype", dtype));
    TRY(check_options(ctx, options));
    *s = (struct echi_is_sorted){ .n = n,
                                  .dtype = dtype,
                                  .key_bytes = echi_dtype_bytes(dtype),
                                  .strict = options->strict != 0,
                                  .order = echi_order_make(dtype, options->order,
                                                           options->descending != 0, true) };
    TRY(echi_check_count(ctx, "n", n, s->key_bytes));
done:
    return status;
}

static const struct echi_operation *find(const struct echi_backend *backend)
{
    return backend->operations[ECHI_OP_is_sorted];
}

ech_status ech_is_sorted(ech_ctx *ctx, const void *in, uint64_t *position, size_t n,
                         ech_dtype dtype, const ech_is_sorted_options *options)
{
    READ_OPTIONS(ctx, ech_is_sorted_options, options);
    struct echi_is_sorted s;
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    ech_status status = start(ctx, n, dtype, options, &s);
    if (status != ECH_OK) return status;
    s.in = in;
    s.position = position;
    struct echi_call call;
    echi_call_begin(&call, "a check of the order", find(ctx->backend), &s, options->work,
                    options->work_bytes);
    echi_call_add(&call, "in", (void *)&s.in, n * s.key_bytes, s.key_bytes, ECHI_IN)->element =
        echi_dtype_name(dtype);
    echi_call_add(&call, "position", (void *)&s.position, sizeof *position, sizeof *position,
                  ECHI_OUT)
        ->element = "u64";
    return echi_call_run(ctx, &call);
}

ech_status ech_is_sorted_workspace(const char *device, size_t n, ech_dtype dtype,
                                   const ech_is_sorted_options *options, size_t *bytes)
{
    READ_OPTIONS(NULL, ech_is_sorted_options, options);
    struct echi_is_sorted s;
    if (bytes) *bytes = 0;
    ech_status status = start(NULL, n, dtype, options, &s);
    return status == ECH_OK ? echi_call_workspace(device, find, &s, bytes) : status;
}

ech_status ech_is_sorted_explain(const char *device, size_t n, ech_dtype dtype,
                                 const ech_is_sorted_options *options, ech_format format,
                                 char *text, size_t capacity_bytes)
{
    READ_OPTIONS(NULL, ech_is_sorted_options, options);
    struct echi_is_sorted s;
    const ech_status status = start(NULL, n, dtype, options, &s);
    if (status != ECH_OK) return status;
    return echi_explain(device, "is_sorted", find, &s, format, text, capacity_bytes);
}
