/*
 * set/set.c - ech_set_operation() and its related functions: checks the arguments and calls the
 * backend.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "set/set.h"
#include "core/call.h"

#include <string.h>

static const struct {
    const char *name;
    unsigned kept;
} operations[] = { [ECH_SET_UNION] = { "union", ECHI_SET_A | ECHI_SET_B | ECHI_SET_BOTH },
                   [ECH_SET_INTERSECTION] = { "intersection", ECHI_SET_BOTH },
                   [ECH_SET_DIFFERENCE] = { "difference", ECHI_SET_A },
                   [ECH_SET_SYMMETRIC] = { "symmetric_difference", ECHI_SET_A | ECHI_SET_B } };

static const struct echi_operation *find(const struct echi_backend *backend)
{
    return backend->operations[ECHI_OP_set];
}

static ech_status check_options(ech_ctx *ctx, const ech_set_options *options)
{
    if (options->descending != 0 && options->descending != 1)
        return echi_fail(ctx, ECH_ERR_ARG, "options->descending is %d, not 0 or 1",
                         options->descending);
    if (options->order != ECH_ORDER_NAN_LAST && options->order != ECH_ORDER_TOTAL)
        return echi_fail(ctx, ECH_ERR_ARG, "options->order is %d, not an ech_order",
                         (int)options->order);
    if (options->algorithm && *options->algorithm &&
        strcmp(options->algorithm, "balanced_path") != 0)
        return echi_fail(ctx, ECH_ERR_ARG,
                         "unknown algorithm \"%s\"; available for set operations: balanced_path",
                         options->algorithm);
    return ECH_OK;
}

/* All fields of the request except pointers. value_bytes 0: no values. */
static ech_status start(ech_ctx *ctx, size_t n_a, size_t n_b, ech_set operation, ech_dtype dtype,
                        size_t value_bytes, const ech_set_options *options, struct echi_set *s)
{
    ech_status status;
    if ((unsigned)operation > ECH_SET_SYMMETRIC)
        FAIL(ctx, ECH_ERR_ARG, "operation is %d, not an ech_set", (int)operation);
    TRY(echi_check_dtype(ctx, "dtype", dtype));
    TRY(check_options(ctx, options));
    *s = (struct echi_set){ .n = { n_a, n_b },
                            .operation = operation,
                            .kept = operations[operation].kept,
                            .dtype = dtype,
                            .key_bytes = echi_dtype_bytes(dtype),
                            .value_bytes = value_bytes,
                            .order = echi_order_make(dtype, options->order,
                                                     options->descending != 0, true) };
    const size_t largest = value_bytes > s->key_bytes ? value_bytes : s->key_bytes;
    TRY(echi_check_count(ctx, "n_a", n_a, largest));
    TRY(echi_check_count(ctx, "n_b", n_b, largest));
    if (n_a > SIZE_MAX - n_b)
        FAIL(ctx, ECH_ERR_ARG, "n_a is %zu and n_b is %zu: n_a + n_b overflows size_t", n_a, n_b);
    TRY(echi_check_count(ctx, "n_a + n_b", n_a + n_b, largest));
done:
    return status;
}

static void add_keys(struct echi_call *call, const char *name, void *pointer, size_t n,
                     const struct echi_set *s)
{
    echi_call_add(call, name, pointer, n * s->key_bytes, s->key_bytes, ECHI_IN)->element =
        echi_dtype_name(s->dtype);
}

static void add_values(struct echi_call *call, const char *name, void *pointer, size_t n,
                       const struct echi_set *s)
{
    echi_call_add(call, name, pointer, n * s->value_bytes, 0, ECHI_IN)->device_align =
        echi_opaque_align(s->value_bytes);
}

/* names: of the keys and the values of a and b, and of the outputs. */
static ech_status run(ech_ctx *ctx, struct echi_set *s, const char *const names[6],
                      const ech_set_options *options)
{
    struct echi_call call;
    echi_call_begin(&call, "a set operation", find(ctx->backend), s, options->work,
                    options->work_bytes);
    const size_t n = echi_set_capacity(s, s->n[0], s->n[1]);
    echi_call_add(&call, "count", &s->count, sizeof *s->count, sizeof *s->count, ECHI_OUT)
        ->element = "u64";
    for (int i = 0; i < 2; i++) {
        add_keys(&call, names[2 * i], (void *)&s->keys[i], s->n[i], s);
        if (!s->value_bytes) continue;
        const bool needed = i == 0 || s->kept & ECHI_SET_B;
        if (!needed) s->values[i] = NULL;
        add_values(&call, names[2 * i + 1], (void *)&s->values[i], needed ? s->n[i] : 0, s);
    }
    struct echi_array *out = echi_call_add(&call, names[4], (void *)&s->keys_out, n * s->key_bytes,
                                           s->key_bytes, ECHI_OUT);
    out->element = echi_dtype_name(s->dtype);
    out->counted_by = 1;
    out->element_bytes = s->key_bytes;
    if (s->value_bytes) {
        out =
            echi_call_add(&call, names[5], (void *)&s->values_out, n * s->value_bytes, 0, ECHI_OUT);
        out->device_align = echi_opaque_align(s->value_bytes);
        out->counted_by = 1;
        out->element_bytes = s->value_bytes;
    }
    return echi_call_run(ctx, &call);
}

ech_status ech_set_operation(ech_ctx *ctx, const void *a, const void *b, void *out, uint64_t *count,
                             size_t n_a, size_t n_b, ech_set operation, ech_dtype dtype,
                             const ech_set_options *options)
{
    static const char *const names[6] = { "a", "", "b", "", "out", "" };
    READ_OPTIONS(ctx, ech_set_options, options);
    struct echi_set s;
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    const ech_status status = start(ctx, n_a, n_b, operation, dtype, 0, options, &s);
    if (status != ECH_OK) return status;
    s.keys[0] = a;
    s.keys[1] = b;
    s.keys_out = out;
    s.count = count;
    return run(ctx, &s, names, options);
}

ech_status ech_set_operation_pairs(ech_ctx *ctx, const void *a_keys, const void *a_values,
                                   const void *b_keys, const void *b_values, void *keys_out,
                                   void *values_out, uint64_t *count, size_t n_a, size_t n_b,
                                   ech_set operation, ech_dtype dtype, size_t value_bytes,
                                   const ech_set_options *options)
{
    static const char *const names[6] = { "a_keys",   "a_values", "b_keys",
                                          "b_values", "keys_out", "values_out" };
    READ_OPTIONS(ctx, ech_set_options, options);
    struct echi_set s;
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    if (value_bytes == 0)
        return echi_fail(ctx, ECH_ERR_ARG, "value_bytes is 0; use ech_set_operation() for keys");
    const ech_status status = start(ctx, n_a, n_b, operation, dtype, value_bytes, options, &s);
    if (status != ECH_OK) return status;
    s.keys[0] = a_keys;
    s.keys[1] = b_keys;
    s.values[0] = a_values;
    s.values[1] = b_values;
    s.keys_out = keys_out;
    s.values_out = values_out;
    s.count = count;
    return run(ctx, &s, names, options);
}

/* ---- Queries ---- */

ech_status ech_set_operation_workspace(const char *device, size_t n_a, size_t n_b,
                                       ech_set operation, ech_dtype dtype, size_t value_bytes,
                                       const ech_set_options *options, size_t *bytes)
{
    READ_OPTIONS(NULL, ech_set_options, options);
    struct echi_set s;
    if (bytes) *bytes = 0;
    const ech_status status = start(NULL, n_a, n_b, operation, dtype, value_bytes, options, &s);
    return status == ECH_OK ? echi_call_workspace(device, find, &s, bytes) : status;
}

ech_status ech_set_operation_explain(const char *device, size_t n_a, size_t n_b, ech_set operation,
                                     ech_dtype dtype, size_t value_bytes,
                                     const ech_set_options *options, ech_format format, char *text,
                                     size_t capacity_bytes)
{
    READ_OPTIONS(NULL, ech_set_options, options);
    struct echi_set s;
    const ech_status status = start(NULL, n_a, n_b, operation, dtype, value_bytes, options, &s);
    if (status != ECH_OK) return status;
    return echi_explain(device, operations[operation].name, find, &s, format, text, capacity_bytes);
}
