/*
 * unique/unique.c - ech_unique_all() and ech_mode(): checks the arguments, calls the backend.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "unique/unique.h"
#include "core/call.h"

static const struct echi_operation *operation(const struct echi_backend *backend)
{
    return backend->operations[ECHI_OP_unique];
}

struct echi_sort echi_unique_sort(const struct echi_unique *u)
{
    const bool pairs = echi_unique_pairs(u);
    const int position = pairs ? echi_unique_position_bytes(u) : 0;
    return (struct echi_sort){ .n = u->n,
                               .value_bytes = (size_t)position,
                               .index_bytes = position,
                               .keep_keys = pairs,
                               .dtype = u->dtype,
                               .key_bytes = u->key_bytes,
                               .order = echi_order_ascending(u->dtype, pairs),
                               .end_bit = 8 * u->key_bytes,
                               .stable = pairs };
}

/* ---- Checks ---- */

/* Checks everything except pointers, and fills in the fields that depend on it. */
static ech_status check(ech_ctx *ctx, const ech_unique_options *options, struct echi_unique *u)
{
    ech_status status;
    TRY(echi_check_dtype(ctx, "dtype", u->dtype));
    if (options->appearance != 0 && options->appearance != 1)
        FAIL(ctx, ECH_ERR_ARG, "options->appearance is %d, not 0 or 1", options->appearance);
    TRY(echi_check_count(ctx, "n", u->n, 16));
    u->appearance = options->appearance && !u->mode;
    u->key_bytes = (int)echi_dtype_bytes(u->dtype);
    u->order = echi_order_ascending(u->dtype, true);
done:
    return status;
}

/* ---- The calls ---- */

/* The arrays after count; all of them are counted by it, except inverse and a mode. */
static void add_outputs(struct echi_call *call, struct echi_unique *u, ech_dtype index_dtype)
{
    const struct {
        const char *name;
        void *pointer;
        size_t bytes;
        ech_dtype dtype;
        bool here, counted;
    } outputs[] = {
        { u->mode ? "value" : "values", &u->values, (size_t)u->key_bytes, u->dtype, u->has_values,
          !u->mode },
        { "first", &u->first, (size_t)u->index_bytes, index_dtype, u->has_first, true },
        { "inverse", &u->inverse, (size_t)u->index_bytes, index_dtype, u->has_inverse, false },
        { "counts", &u->counts, sizeof *u->counts, ECH_U64, u->has_counts, true },
    };
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        const size_t elements = u->mode ? u->n > 0 : u->n, bytes = outputs[i].bytes;
        if (!outputs[i].here) continue;
        struct echi_array *a = echi_call_add(call, outputs[i].name, outputs[i].pointer,
                                             elements * bytes, bytes, ECHI_OUT);
        a->element = echi_dtype_name(outputs[i].dtype);
        a->counted_by = outputs[i].counted;
        a->element_bytes = outputs[i].counted ? bytes : 0;
    }
}

static ech_status run(ech_ctx *ctx, const ech_unique_options *options, struct echi_unique *u,
                      ech_dtype index_dtype)
{
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    struct echi_call call;
    echi_call_begin(&call, u->mode ? "a mode" : "a search for distinct elements",
                    operation(ctx->backend), u, options->work, options->work_bytes);
    ech_status status;
    u->has_values = u->values != NULL;
    u->has_first = u->first != NULL;
    u->has_inverse = u->inverse != NULL;
    u->has_counts = u->counts != NULL;
    TRY(check(ctx, options, u));
    if (u->first || u->inverse) {
        TRY(echi_check_index(ctx, "index_dtype", index_dtype, "n", u->n));
        u->index_bytes = (int)echi_dtype_bytes(index_dtype);
    }
    echi_call_add(&call, "count", &u->count, sizeof *u->count, sizeof *u->count, ECHI_OUT)
        ->element = "u64";
    echi_call_add(&call, "in", &u->in, u->n * (size_t)u->key_bytes, (size_t)u->key_bytes, ECHI_IN)
        ->element = echi_dtype_name(u->dtype);
    add_outputs(&call, u, index_dtype);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

/* A search for the values of few elements without options; false if it is not one. */
static bool values_at_once(const ech_ctx *ctx, const void *in, void *values, uint64_t *count,
                           size_t n, ech_dtype dtype)
{
    enum { AT_ONCE = 1024 };
    if (n - 1 >= AT_ONCE || !echi_dtype_known(dtype)) return false;
    const size_t bytes = echi_dtype_bytes(dtype);
    const struct echi_span from = { in, n * bytes, bytes };
    const struct echi_span to[2] = { { count, sizeof *count, sizeof *count },
                                     { values, n * bytes, bytes } };
    if (!echi_call_is_simple(ctx, &from, 1, to, 2)) return false;
    if (echi_cpu_values_few(in, values, count, n, dtype)) return true;
    const struct echi_unique u = { .in = in,
                                   .values = values,
                                   .count = count,
                                   .n = n,
                                   .dtype = dtype,
                                   .key_bytes = (int)bytes,
                                   .order = echi_order_ascending(dtype, true),
                                   .has_values = true };
    return echi_cpu_unique.quick(&u);
}

NOINLINE static ech_status unique_any(ech_ctx *ctx, const void *in, void *values, void *first,
                                      void *inverse, uint64_t *counts, uint64_t *count, size_t n,
                                      ech_dtype dtype, ech_dtype index_dtype,
                                      const ech_unique_options *options)
{
    READ_OPTIONS(ctx, ech_unique_options, options);
    struct echi_unique u = { .in = in,
                             .values = values,
                             .first = first,
                             .inverse = inverse,
                             .counts = counts,
                             .count = count,
                             .n = n,
                             .dtype = dtype };
    return run(ctx, options, &u, index_dtype);
}

ech_status ech_unique_all(ech_ctx *ctx, const void *in, void *values, void *first, void *inverse,
                          uint64_t *counts, uint64_t *count, size_t n, ech_dtype dtype,
                          ech_dtype index_dtype, const ech_unique_options *options)
{
    if (!options && !first && !inverse && !counts &&
        values_at_once(ctx, in, values, count, n, dtype))
        return ECH_OK;
    return unique_any(ctx, in, values, first, inverse, counts, count, n, dtype, index_dtype,
                      options);
}

ech_status ech_mode(ech_ctx *ctx, const void *in, void *value, uint64_t *count, size_t n,
                    ech_dtype dtype, const ech_unique_options *options)
{
    READ_OPTIONS(ctx, ech_unique_options, options);
    struct echi_unique u = {
        .in = in, .values = value, .count = count, .n = n, .dtype = dtype, .mode = true
    };
    return run(ctx, options, &u, ECH_U64);
}

/* ---- Queries ---- */

/* The request of such a call with every output, without pointers. */
static ech_status question(struct echi_unique *u, ech_unique_call call, size_t n, ech_dtype dtype,
                           const ech_unique_options *options)
{
    ech_status status;
    if ((unsigned)call > ECH_UNIQUE_CALL_MODE)
        FAIL(NULL, ECH_ERR_ARG, "call is %d, not an ech_unique_call", (int)call);
    *u = (struct echi_unique){ .n = n,
                               .dtype = dtype,
                               .index_bytes = 8,
                               .mode = call == ECH_UNIQUE_CALL_MODE,
                               .has_values = true,
                               .has_first = call == ECH_UNIQUE_CALL_ALL,
                               .has_inverse = call == ECH_UNIQUE_CALL_ALL,
                               .has_counts = call != ECH_UNIQUE_CALL_MODE };
    TRY(check(NULL, options, u));
done:
    return status;
}

ech_status ech_unique_workspace(const char *device, ech_unique_call call, size_t n, ech_dtype dtype,
                                const ech_unique_options *options, size_t *bytes)
{
    READ_OPTIONS(NULL, ech_unique_options, options);
    struct echi_unique u;
    size_t keys_only = 0;
    ech_status status;
    if (bytes) *bytes = 0;
    TRY(question(&u, call, n, dtype, options));
    TRY(echi_call_workspace(device, operation, &u, bytes));
    if (call != ECH_UNIQUE_CALL_ALL) goto done;
    TRY(question(&u, ECH_UNIQUE_CALL_VALUES, n, dtype, options));
    TRY(echi_call_workspace(device, operation, &u, &keys_only));
    if (keys_only > *bytes) *bytes = keys_only;
done:
    return status;
}

ech_status ech_unique_explain(const char *device, ech_unique_call call, size_t n, ech_dtype dtype,
                              const ech_unique_options *options, ech_format format, char *text,
                              size_t capacity_bytes)
{
    READ_OPTIONS(NULL, ech_unique_options, options);
    struct echi_unique u;
    const ech_status status = question(&u, call, n, dtype, options);
    if (status != ECH_OK) return status;
    return echi_explain(device, u.mode ? "mode" : "unique_all", operation, &u, format, text,
                        capacity_bytes);
}
