/*
 * strings/strings.c - ech_argsort_strings() and its related functions: checks the arguments and
 * calls the backend.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "strings/strings.h"
#include "core/call.h"

#include <string.h>

static const struct echi_operation *operation(const struct echi_backend *backend)
{
    return backend->operations[ECHI_OP_strings];
}

struct echi_sort echi_strings_sort(const struct echi_strings *s, bool first)
{
    return (struct echi_sort){ .n = s->n,
                               .value_bytes = (size_t)s->index_bytes,
                               .index_bytes = first ? s->index_bytes : 0,
                               .keep_keys = first,
                               .dtype = ECH_U64,
                               .key_bytes = 8,
                               .order = echi_order_ascending(ECH_U64, false),
                               .end_bit = 64,
                               .stable = true };
}

/* ---- Checks ---- */

static ech_status check_options(ech_ctx *ctx, const ech_strings_options *options, size_t n)
{
    ech_status status = ECH_OK;
    if (options->descending != 0 && options->descending != 1)
        FAIL(ctx, ECH_ERR_ARG, "options->descending is %d, not 0 or 1", options->descending);
    if (options->nulls_first != 0 && options->nulls_first != 1)
        FAIL(ctx, ECH_ERR_ARG, "options->nulls_first is %d, not 0 or 1", options->nulls_first);
    if (!options->validity && options->validity_offset)
        FAIL(ctx, ECH_ERR_ARG, "options->validity is NULL, but validity_offset is %zu",
             options->validity_offset);
    if (options->validity_offset > SIZE_MAX - 7 - n)
        FAIL(ctx, ECH_ERR_ARG, "options->validity_offset is %zu: the sum with n overflows size_t",
             options->validity_offset);
done:
    return status;
}

/* Fills in the request, and checks everything except the pointers of arrays. */
static ech_status read_request(ech_ctx *ctx, size_t n, size_t total_bytes, ech_dtype offsets_dtype,
                               ech_dtype index_dtype, const ech_strings_options *options,
                               struct echi_strings *s)
{
    ech_status status;
    memset(s, 0, sizeof *s);
    TRY(echi_check_count(ctx, "n", n, 16));
    TRY(echi_check_count(ctx, "total_bytes", total_bytes, 1));
    TRY(echi_check_index(ctx, "offsets_dtype", offsets_dtype, "n", 0));
    TRY(echi_check_index(ctx, "index_dtype", index_dtype, "n", n));
    TRY(check_options(ctx, options, n));
    s->n = n;
    s->index_bytes = (int)ech_dtype_bytes(index_dtype);
    s->array = (struct echi_string_array){ .validity = options->validity,
                                           .validity_offset = options->validity_offset,
                                           .n = n,
                                           .total_bytes = total_bytes,
                                           .index = echi_index_of(offsets_dtype),
                                           .descending = (uint32_t)options->descending,
                                           .nulls_first = (uint32_t)options->nulls_first };
    s->algorithm = options->algorithm && *options->algorithm ? options->algorithm : NULL;
done:
    return status;
}

/* ---- The call ---- */

/* The bytes of the bitmap up to its last bit.  A part before the first bit may be on another
 * page, so the pointer moves to the byte of that bit. */
static size_t skip_bits(struct echi_string_array *a)
{
    a->validity += a->validity_offset / 8;
    a->validity_offset %= 8;
    return (size_t)(a->validity_offset + a->n + 7) / 8;
}

ech_status ech_argsort_strings(ech_ctx *ctx, const void *offsets, const void *bytes, void *indices,
                               size_t n, size_t total_bytes, ech_dtype offsets_dtype,
                               ech_dtype index_dtype, const ech_strings_options *options)
{
    READ_OPTIONS(ctx, ech_strings_options, options);
    struct echi_strings s;
    ech_status status;
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    struct echi_call call;
    echi_call_begin(&call, "a sort of strings", operation(ctx->backend), &s, options->work,
                    options->work_bytes);
    TRY(read_request(ctx, n, total_bytes, offsets_dtype, index_dtype, options, &s));
    if (n == 0) return echi_call_check(ctx, &call); /* rejects an unknown algorithm */
    s.array.offsets = offsets;
    s.array.bytes = bytes;
    s.indices = indices;
    const size_t offset_bytes = s.array.index.bytes, index_bytes = (size_t)s.index_bytes;
    echi_call_add(&call, "offsets", &s.array.offsets, (n + 1) * offset_bytes, offset_bytes, ECHI_IN)
        ->element = ech_dtype_name(offsets_dtype);
    echi_call_add(&call, "bytes", &s.array.bytes, total_bytes, 1, ECHI_IN);
    if (s.array.validity)
        echi_call_add(&call, "options->validity", &s.array.validity, skip_bits(&s.array), 1,
                      ECHI_IN);
    echi_call_add(&call, "indices", &s.indices, n * index_bytes, index_bytes, ECHI_OUT)->element =
        ech_dtype_name(index_dtype);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

/* ---- Queries ---- */

ech_status ech_strings_workspace(const char *device, size_t n, size_t total_bytes,
                                 ech_dtype offsets_dtype, ech_dtype index_dtype,
                                 const ech_strings_options *options, size_t *bytes)
{
    READ_OPTIONS(NULL, ech_strings_options, options);
    struct echi_strings s;
    if (bytes) *bytes = 0;
    const ech_status status =
        read_request(NULL, n, total_bytes, offsets_dtype, index_dtype, options, &s);
    return status == ECH_OK ? echi_call_workspace(device, operation, &s, bytes) : status;
}

ech_status ech_strings_explain(const char *device, size_t n, size_t total_bytes,
                               ech_dtype offsets_dtype, ech_dtype index_dtype,
                               const ech_strings_options *options, ech_format format, char *text,
                               size_t capacity_bytes)
{
    READ_OPTIONS(NULL, ech_strings_options, options);
    struct echi_strings s;
    const ech_status status =
        read_request(NULL, n, total_bytes, offsets_dtype, index_dtype, options, &s);
    if (status != ECH_OK) return status;
    return echi_explain(device, "argsort_strings", operation, &s, format, text, capacity_bytes);
}
