/*
 * merge/merge.c - ech_merge() and its related functions: checks the arguments and calls the
 * backend.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "merge/merge.h"
#include "core/call.h"
#include "cpu/cpu.h"

#include <string.h>

static const struct echi_operation *find(const struct echi_backend *backend)
{
    return backend->operations[ECHI_OP_merge];
}

ech_status echi_merge_check_options(ech_ctx *ctx, const ech_merge_options *options)
{
    if (options->descending != 0 && options->descending != 1)
        return echi_fail(ctx, ECH_ERR_ARG, "options->descending is %d, not 0 or 1",
                         options->descending);
    if (options->order != ECH_ORDER_NAN_LAST && options->order != ECH_ORDER_TOTAL)
        return echi_fail(ctx, ECH_ERR_ARG, "options->order is %d, not an ech_order",
                         (int)options->order);
    return ECH_OK;
}

/* All fields of the request except pointers. value_bytes 0: no values. */
static ech_status start(ech_ctx *ctx, size_t n_a, size_t n_b, ech_dtype dtype, size_t value_bytes,
                        const ech_merge_options *options, struct echi_merge *m)
{
    ech_status status;
    TRY(echi_check_dtype(ctx, "dtype", dtype));
    TRY(echi_merge_check_options(ctx, options));
    const char *algorithm = options->algorithm && *options->algorithm ? options->algorithm : NULL;
    if (algorithm && strcmp(algorithm, "merge_path") != 0 && strcmp(algorithm, "table") != 0)
        FAIL(ctx, ECH_ERR_ARG, "unknown algorithm \"%s\"; available for merges: merge_path, table",
             algorithm);
    *m = (struct echi_merge){ .n = { n_a, n_b },
                              .dtype = dtype,
                              .key_bytes = echi_dtype_bytes(dtype),
                              .value_bytes = value_bytes,
                              .order = echi_order_make(dtype, options->order,
                                                       options->descending != 0, true),
                              .algorithm = algorithm };
    const size_t largest = value_bytes > m->key_bytes ? value_bytes : m->key_bytes;
    TRY(echi_check_count(ctx, "n_a", n_a, largest));
    TRY(echi_check_count(ctx, "n_b", n_b, largest));
    if (n_a > SIZE_MAX - n_b)
        FAIL(ctx, ECH_ERR_ARG, "n_a is %zu and n_b is %zu: n_a + n_b overflows size_t", n_a, n_b);
    TRY(echi_check_count(ctx, "n_a + n_b", n_a + n_b, largest));
done:
    return status;
}

static void add_keys(struct echi_call *call, const char *name, void *pointer, size_t n,
                     const struct echi_merge *m, enum echi_use use)
{
    echi_call_add(call, name, pointer, n * m->key_bytes, m->key_bytes, use)->element =
        echi_dtype_name(m->dtype);
}

static void add_values(struct echi_call *call, const char *name, void *pointer, size_t n,
                       const struct echi_merge *m, enum echi_use use)
{
    echi_call_add(call, name, pointer, n * m->value_bytes, 0, use)->device_align =
        echi_opaque_align(m->value_bytes);
}

/* names: of the keys and the values of a and b, and of the outputs. */
static ech_status run(ech_ctx *ctx, struct echi_merge *m, const char *const names[6],
                      const ech_merge_options *options)
{
    struct echi_call call;
    echi_call_begin(&call, "a merge", find(ctx->backend), m, options->work, options->work_bytes);
    const size_t n = m->n[0] + m->n[1];
    if (n == 0) return echi_call_check(ctx, &call);
    for (int i = 0; i < 2; i++) {
        add_keys(&call, names[2 * i], (void *)&m->keys[i], m->n[i], m, ECHI_IN);
        if (m->value_bytes)
            add_values(&call, names[2 * i + 1], (void *)&m->values[i], m->n[i], m, ECHI_IN);
    }
    add_keys(&call, names[4], (void *)&m->keys_out, n, m, ECHI_OUT);
    if (m->value_bytes) add_values(&call, names[5], (void *)&m->values_out, n, m, ECHI_OUT);
    return echi_call_run(ctx, &call);
}

/* A merge of few keys without options; false if it is not one. */
INLINED bool merge_at_once(ech_ctx *ctx, const void *a, const void *b, void *out, size_t n_a,
                           size_t n_b, ech_dtype dtype)
{
    enum { AT_ONCE = 1024 };
    if (n_a - 1 >= AT_ONCE || n_b - 1 >= AT_ONCE || !echi_dtype_known(dtype)) return false;
    const size_t bytes = echi_dtype_bytes(dtype);
    const struct echi_span in[2] = { { a, n_a * bytes, bytes }, { b, n_b * bytes, bytes } };
    const struct echi_span to = { out, (n_a + n_b) * bytes, bytes };
    if (!echi_call_is_simple(ctx, in, 2, &to, 1)) return false;
    const struct echi_merge m = { .keys = { a, b },
                                  .keys_out = out,
                                  .n = { n_a, n_b },
                                  .dtype = dtype,
                                  .key_bytes = bytes,
                                  .order = echi_order_ascending(dtype, true) };
    return echi_cpu_merge.quick(&m);
}

NOINLINE static ech_status merge_complete(ech_ctx *ctx, const void *a, const void *b, void *out,
                                          size_t n_a, size_t n_b, ech_dtype dtype,
                                          const ech_merge_options *options)
{
    static const char *const names[6] = { "a", "", "b", "", "out", "" };
    READ_OPTIONS(ctx, ech_merge_options, options);
    struct echi_merge m;
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    const ech_status status = start(ctx, n_a, n_b, dtype, 0, options, &m);
    if (status != ECH_OK) return status;
    m.keys[0] = a;
    m.keys[1] = b;
    m.keys_out = out;
    return run(ctx, &m, names, options);
}

NOINLINE ech_status echi_merge_any(ech_ctx *ctx, const void *a, const void *b, void *out,
                                   size_t n_a, size_t n_b, ech_dtype dtype,
                                   const ech_merge_options *options)
{
    if (!options && merge_at_once(ctx, a, b, out, n_a, n_b, dtype)) return ECH_OK;
    return merge_complete(ctx, a, b, out, n_a, n_b, dtype, options);
}

ech_status ech_merge(ech_ctx *ctx, const void *a, const void *b, void *out, size_t n_a, size_t n_b,
                     ech_dtype dtype, const ech_merge_options *options)
{
    enum { MOST = 32 }; /* for more keys, the time of the checks does not matter */
    if (!options && n_a + n_b <= MOST && echi_dtype_known(dtype)) {
        const int log2 = __builtin_ctz((unsigned)echi_dtypes[dtype].bytes);
        echi_merge_function *const call = echi_merge_calls[echi_cpu_level()][log2];
        if (call) return call(ctx, a, b, out, n_a, n_b, dtype, NULL);
    }
    return echi_merge_any(ctx, a, b, out, n_a, n_b, dtype, options);
}

ech_status ech_merge_pairs(ech_ctx *ctx, const void *a_keys, const void *a_values,
                           const void *b_keys, const void *b_values, void *keys_out,
                           void *values_out, size_t n_a, size_t n_b, ech_dtype dtype,
                           size_t value_bytes, const ech_merge_options *options)
{
    static const char *const names[6] = { "a_keys",   "a_values", "b_keys",
                                          "b_values", "keys_out", "values_out" };
    READ_OPTIONS(ctx, ech_merge_options, options);
    struct echi_merge m;
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    if (value_bytes == 0)
        return echi_fail(ctx, ECH_ERR_ARG, "value_bytes is 0; use ech_merge() for keys only");
    const ech_status status = start(ctx, n_a, n_b, dtype, value_bytes, options, &m);
    if (status != ECH_OK) return status;
    m.keys[0] = a_keys;
    m.keys[1] = b_keys;
    m.values[0] = a_values;
    m.values[1] = b_values;
    m.keys_out = keys_out;
    m.values_out = values_out;
    return run(ctx, &m, names, options);
}

/* ---- Queries ---- */

ech_status ech_merge_workspace(const char *device, size_t n_a, size_t n_b, ech_dtype dtype,
                               size_t value_bytes, const ech_merge_options *options, size_t *bytes)
{
    READ_OPTIONS(NULL, ech_merge_options, options);
    struct echi_merge m;
    if (bytes) *bytes = 0;
    const ech_status status = start(NULL, n_a, n_b, dtype, value_bytes, options, &m);
    return status == ECH_OK ? echi_call_workspace(device, find, &m, bytes) : status;
}

ech_status ech_merge_explain(const char *device, size_t n_a, size_t n_b, ech_dtype dtype,
                             size_t value_bytes, const ech_merge_options *options,
                             ech_format format, char *text, size_t capacity_bytes)
{
    READ_OPTIONS(NULL, ech_merge_options, options);
    struct echi_merge m;
    const ech_status status = start(NULL, n_a, n_b, dtype, value_bytes, options, &m);
    if (status != ECH_OK) return status;
    return echi_explain(device, value_bytes ? "merge_pairs" : "merge", find, &m, format, text,
                        capacity_bytes);
}
