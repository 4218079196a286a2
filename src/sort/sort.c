/*
 * sort/sort.c - ech_sort() and its related functions: checks the arguments and calls the backend.
 *
 *     ech_sort, ech_sort_pairs, ech_argsort          the calls; each fills one struct echi_sort
 *       whole_shape()      checks without pointers: dtype, options, sizes
 *       call_of()          the list of arrays, which core/call.c checks, stages and runs
 *     ech_*_workspace, ech_*_explain                 whole_shape(), then ask the backend
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/sort.h"
#include "core/call.h"
#include "cpu/cpu.h"
#include "sort/choice.h"

#include <stdlib.h>

static ech_status check_options(ech_ctx *ctx, const ech_sort_options *options, int key_bits)
{
    if (options->descending != 0 && options->descending != 1)
        return echi_fail(ctx, ECH_ERR_ARG, "options->descending is %d, not 0 or 1",
                         options->descending);
    if (options->order != ECH_ORDER_NAN_LAST && options->order != ECH_ORDER_TOTAL)
        return echi_fail(ctx, ECH_ERR_ARG, "options->order is %d, not an ech_order",
                         (int)options->order);
    int end = options->end_bit ? options->end_bit : key_bits;
    if (options->begin_bit < 0 || options->begin_bit > end || end > key_bits)
        return echi_fail(ctx, ECH_ERR_ARG,
                         "options->begin_bit is %d and end_bit is %d: not within 0 <= begin_bit <= "
                         "end_bit <= %d",
                         options->begin_bit, end, key_bits);
    return ECH_OK;
}

ech_status echi_sort_check(ech_ctx *ctx, const ech_sort_options *options, struct echi_sort *s)
{
    ech_status status = echi_check_dtype(ctx, "dtype", s->dtype);
    if (status != ECH_OK) return status;
    s->key_bytes = (int)echi_dtype_bytes(s->dtype);
    status = check_options(ctx, options, 8 * s->key_bytes);
    if (status != ECH_OK) return status;

    s->begin_bit = options->begin_bit;
    s->end_bit = options->end_bit ? options->end_bit : 8 * s->key_bytes;
    bool all_bits = s->begin_bit == 0 && s->end_bit == 8 * s->key_bytes;
    s->stable = s->value_bytes || !all_bits;
    s->order = echi_order_make(s->dtype, options->order, options->descending, s->value_bytes != 0);
    s->algorithm = options->algorithm;
    if (!s->algorithm || !*s->algorithm)
        s->algorithm = ctx ? ctx->algorithm : getenv("ECHELON_ALGORITHM");
    if (s->algorithm && !*s->algorithm) s->algorithm = NULL;
    s->room_bytes = options->work_bytes;

    size_t widest = s->value_bytes > (size_t)s->key_bytes ? s->value_bytes : (size_t)s->key_bytes;
    status = echi_check_count(ctx, "n", s->n, widest);
    if (status != ECH_OK) return status;
    return ECH_OK;
}

/* The same for one array. */
static ech_status whole_shape(ech_ctx *ctx, const ech_sort_options *options, struct echi_sort *s)
{
    if (options->row_stride || options->element_stride || options->out_row_stride ||
        options->out_element_stride)
        return echi_fail(ctx, ECH_ERR_ARG,
                         "options->row_stride, element_stride, out_row_stride and "
                         "out_element_stride must be 0: they are for sorts of rows");
    return echi_sort_check(ctx, options, s);
}

static const struct echi_operation *operation(const struct echi_backend *backend)
{
    return backend->operations[ECHI_OP_sort];
}

/* The names of the arrays: of the keys in and out, and of the values in and out. */
static const char *const keys_only[] = { "in", "out", "", "" };
static const char *const pairs[] = { "keys_in", "keys_out", "values_in", "values_out" };
static const char *const argsort[] = { "keys", "", "", "index" };

/* GPU kernels move values as words of their size, which must be aligned. */
static void add_values(struct echi_call *call, struct echi_sort *s, const char *const names[4])
{
    size_t bytes = s->n * s->value_bytes;
    if (s->index_bytes) {
        echi_call_add(call, names[3], &s->values_out, bytes, s->value_bytes, ECHI_OUT)->element =
            s->index_bytes == 4 ? "u32" : "u64";
        return;
    }
    struct echi_array *in = echi_call_add(call, names[2], &s->values_in, bytes, 0, ECHI_IN);
    in->device_align = echi_opaque_align(s->value_bytes);
    struct echi_array *out = echi_call_add(call, names[3], &s->values_out, bytes, 0, ECHI_OUT);
    out->device_align = in->device_align;
    out->may_be = call->count - 1;
}

static ech_status run(ech_ctx *ctx, const ech_sort_options *options, struct echi_sort *s,
                      const char *const names[4])
{
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    ech_status status = whole_shape(ctx, options, s);
    if (status != ECH_OK) return status;
    struct echi_call call;
    echi_call_begin(&call, "a sort", operation(ctx->backend), s, options->work,
                    options->work_bytes);
    call.workspace = "the workspace of a sort";
    if (s->n == 0) return echi_call_check(ctx, &call); /* rejects an unknown algorithm */
    size_t key_bytes = (size_t)s->key_bytes, bytes = s->n * key_bytes;
    const char *element = echi_dtype_name(s->dtype);
    echi_call_add(&call, names[0], &s->keys_in, bytes, key_bytes, ECHI_IN)->element = element;
    if (!s->index_bytes) {
        struct echi_array *out =
            echi_call_add(&call, names[1], &s->keys_out, bytes, key_bytes, ECHI_OUT);
        out->element = element;
        out->may_be = 1;
    }
    if (s->value_bytes) add_values(&call, s, names);
    return echi_call_run(ctx, &call);
}

enum {
    AT_ONCE = 1024, /* keys; for more, the time of the checks does not matter */
    MOST_VALUE = 16 /* bytes */
};

/* A sort of AT_ONCE keys or fewer on the CPU, whose arrays are plain. */
NOINLINE static bool sort_at_once(const void *keys_in, const void *values_in, void *keys_out,
                                  void *values_out, size_t n, ech_dtype dtype, size_t value_bytes,
                                  int index_bytes)
{
    const bool stable = value_bytes != 0;
    const int key_bytes = (int)echi_dtype_bytes(dtype);
    const struct echi_sort s = { .keys_in = keys_in,
                                 .keys_out = keys_out,
                                 .values_in = values_in,
                                 .values_out = values_out,
                                 .value_bytes = value_bytes,
                                 .index_bytes = index_bytes,
                                 .n = n,
                                 .dtype = dtype,
                                 .key_bytes = key_bytes,
                                 .end_bit = 8 * key_bytes,
                                 .stable = stable,
                                 .order = echi_order_ascending(dtype, stable) };
    return echi_cpu_sort.quick(&s);
}

/* Whether a call without options is one on the CPU, on few keys. */
INLINED bool is_short(const ech_ctx *ctx, size_t n, ech_dtype dtype)
{
    return n - 1 < AT_ONCE && echi_dtype_known(dtype) && ctx && !*ctx->algorithm;
}

INLINED bool keys_at_once(const ech_ctx *ctx, const void *in, void *out, size_t n, ech_dtype dtype)
{
    const size_t bytes = echi_dtype_bytes(dtype);
    return is_short(ctx, n, dtype) &&
           echi_call_is_plain(ctx, in, n * bytes, out, n * bytes, bytes) &&
           (echi_cpu_sort_few(&echi_orders[0][dtype], in, out, n, bytes) ||
            sort_at_once(in, NULL, out, NULL, n, dtype, 0, 0));
}

NOINLINE static ech_status sort_keys(ech_ctx *ctx, const void *in, void *out, size_t n,
                                     ech_dtype dtype, const ech_sort_options *options)
{
    READ_OPTIONS(ctx, ech_sort_options, options);
    struct echi_sort s = { .keys_in = in, .keys_out = out, .n = n, .dtype = dtype };
    return run(ctx, options, &s, keys_only);
}

ech_status ech_sort(ech_ctx *ctx, const void *in, void *out, size_t n, ech_dtype dtype,
                    const ech_sort_options *options)
{
    if (!options && keys_at_once(ctx, in, out, n, dtype)) return ECH_OK;
    return sort_keys(ctx, in, out, n, dtype, options);
}

/* Whether there is a quicker function for so few keys with values. */
INLINED bool has_ranks(size_t n)
{
    enum { MOST = 24 };
    return n <= MOST && echi_cpu_isa() == ECHI_AVX512;
}

/* No array of the keys may overlap one of the values. */
INLINED bool pairs_at_once(const ech_ctx *ctx, const void *keys_in, const void *values_in,
                           void *keys_out, void *values_out, size_t n, ech_dtype dtype,
                           size_t value_bytes)
{
    const size_t bytes = echi_dtype_bytes(dtype), key = n * bytes, value = n * value_bytes;
    return is_short(ctx, n, dtype) && value_bytes - 1 < MOST_VALUE &&
           echi_call_is_plain(ctx, keys_in, key, keys_out, key, bytes) &&
           echi_call_is_plain(ctx, values_in, value, values_out, value, 1) &&
           echi_disjoint(keys_out, key, values_out, value) &&
           echi_disjoint(keys_out, key, values_in, value) &&
           echi_disjoint(keys_in, key, values_out, value) &&
           ((has_ranks(n) && echi_cpu_sort_pairs_few(&echi_orders[1][dtype], keys_in, values_in, n,
                                                     bytes, value_bytes, keys_out, values_out)) ||
            sort_at_once(keys_in, values_in, keys_out, values_out, n, dtype, value_bytes, 0));
}

NOINLINE static ech_status sort_pairs(ech_ctx *ctx, const void *keys_in, const void *values_in,
                                      void *keys_out, void *values_out, size_t n, ech_dtype dtype,
                                      size_t value_bytes, const ech_sort_options *options)
{
    READ_OPTIONS(ctx, ech_sort_options, options);
    struct echi_sort s = { .keys_in = keys_in,
                           .keys_out = keys_out,
                           .values_in = values_in,
                           .values_out = values_out,
                           .value_bytes = value_bytes,
                           .n = n,
                           .dtype = dtype };
    if (value_bytes == 0)
        return echi_fail(ctx, ECH_ERR_ARG,
                         "value_bytes is 0; use ech_sort() for keys without values");
    return run(ctx, options, &s, pairs);
}

ech_status ech_sort_pairs(ech_ctx *ctx, const void *keys_in, const void *values_in, void *keys_out,
                          void *values_out, size_t n, ech_dtype dtype, size_t value_bytes,
                          const ech_sort_options *options)
{
    if (!options &&
        pairs_at_once(ctx, keys_in, values_in, keys_out, values_out, n, dtype, value_bytes))
        return ECH_OK;
    return sort_pairs(ctx, keys_in, values_in, keys_out, values_out, n, dtype, value_bytes,
                      options);
}

static ech_status argsort_shape(ech_ctx *ctx, size_t n, ech_dtype dtype, ech_dtype index_dtype,
                                struct echi_sort *s)
{
    const int bytes = (int)echi_dtype_bytes(index_dtype);
    *s = (struct echi_sort){
        .n = n, .dtype = dtype, .value_bytes = (size_t)bytes, .index_bytes = bytes
    };
    return echi_check_index(ctx, "index_dtype", index_dtype, "n", n);
}

INLINED bool positions_at_once(ech_ctx *ctx, const void *keys, void *index, size_t n,
                               ech_dtype dtype, ech_dtype index_dtype)
{
    if (!is_short(ctx, n, dtype) ||
        echi_check_index(ctx, "index_dtype", index_dtype, "n", n) != ECH_OK)
        return false;
    const size_t bytes = echi_dtype_bytes(dtype), own = echi_dtype_bytes(index_dtype);
    const size_t most = bytes > own ? bytes : own;
    return echi_call_is_plain(ctx, keys, n * bytes, index, n * own, most) && keys != index &&
           ((has_ranks(n) && echi_cpu_sort_pairs_few(&echi_orders[1][dtype], keys, NULL, n, bytes,
                                                     own, NULL, index)) ||
            sort_at_once(keys, NULL, NULL, index, n, dtype, own, (int)own));
}

NOINLINE static ech_status sort_positions(ech_ctx *ctx, const void *keys, void *index, size_t n,
                                          ech_dtype dtype, ech_dtype index_dtype,
                                          const ech_sort_options *options)
{
    READ_OPTIONS(ctx, ech_sort_options, options);
    struct echi_sort s;
    ech_status status = argsort_shape(ctx, n, dtype, index_dtype, &s);
    if (status != ECH_OK) return status;
    s.keys_in = keys;
    s.values_out = index;
    return run(ctx, options, &s, argsort);
}

ech_status ech_argsort(ech_ctx *ctx, const void *keys, void *index, size_t n, ech_dtype dtype,
                       ech_dtype index_dtype, const ech_sort_options *options)
{
    if (!options && positions_at_once(ctx, keys, index, n, dtype, index_dtype)) return ECH_OK;
    return sort_positions(ctx, keys, index, n, dtype, index_dtype, options);
}

/* ---- Queries that need no device ---- */

static ech_status ask_workspace(const char *device, const ech_sort_options *options,
                                struct echi_sort *s, size_t *bytes)
{
    if (!bytes) return echi_fail(NULL, ECH_ERR_ARG, "bytes is NULL");
    *bytes = 0;
    ech_status status = whole_shape(NULL, options, s);
    s->room_bytes = 0; /* the minimum that is needed */
    return status == ECH_OK ? echi_call_workspace(device, operation, s, bytes) : status;
}

/* A context "auto" with a GPU: which device sorts arrays in host memory, and why. */
static void explain_choice(const struct echi_sort *s, const char *name,
                           const struct echi_backend **backend, struct echi_explain *e)
{
    const struct echi_sort_times times = echi_sort_times(s, 0);
    const bool on_cpu = !s->algorithm && times.cpu <= times.pageable;
    if (on_cpu) *backend = &echi_cpu;
    echi_explain_call(e, name, (*backend)->name);
    if (s->algorithm)
        echi_explain_line(e, "reason", "an algorithm is named");
    else
        echi_explain_line(e, "reason",
                          "arrays in host memory take about %.*f us on the CPU, and on the GPU "
                          "with the copies %.*f us, or %.*f us if they are pinned",
                          times.cpu < 10, times.cpu, times.pageable < 10, times.pageable,
                          times.pinned < 10, times.pinned);
}

static ech_status ask_explain(const char *device, const ech_sort_options *options,
                              struct echi_sort *s, const char *name, ech_format format, char *text,
                              size_t capacity_bytes)
{
    const struct echi_backend *backend;
    struct echi_explain e;
    ech_status status = echi_explain_begin(&e, format, text, capacity_bytes);
    if (status != ECH_OK) return status;
    TRY(echi_backend_ask(device, &backend));
    TRY(whole_shape(NULL, options, s));
    if (echi_backend_auto(device) && backend != &echi_cpu)
        explain_choice(s, name, &backend, &e);
    else
        echi_explain_call(&e, name, backend->name);
    TRY(echi_explain_operation(&e, operation(backend), s));
done:
    return echi_explain_end(&e, status);
}

ech_status ech_sort_workspace(const char *device, size_t n, ech_dtype dtype, size_t value_bytes,
                              const ech_sort_options *options, size_t *bytes)
{
    READ_OPTIONS(NULL, ech_sort_options, options);
    struct echi_sort s = { .n = n, .dtype = dtype, .value_bytes = value_bytes };
    return ask_workspace(device, options, &s, bytes);
}

ech_status ech_argsort_workspace(const char *device, size_t n, ech_dtype dtype,
                                 ech_dtype index_dtype, const ech_sort_options *options,
                                 size_t *bytes)
{
    READ_OPTIONS(NULL, ech_sort_options, options);
    struct echi_sort s;
    ech_status status = argsort_shape(NULL, n, dtype, index_dtype, &s);
    if (status != ECH_OK) return status;
    return ask_workspace(device, options, &s, bytes);
}

ech_status ech_sort_explain(const char *device, size_t n, ech_dtype dtype, size_t value_bytes,
                            const ech_sort_options *options, ech_format format, char *text,
                            size_t capacity_bytes)
{
    READ_OPTIONS(NULL, ech_sort_options, options);
    struct echi_sort s = { .n = n, .dtype = dtype, .value_bytes = value_bytes };
    return ask_explain(device, options, &s, value_bytes ? "sort_pairs" : "sort", format, text,
                       capacity_bytes);
}

ech_status ech_argsort_explain(const char *device, size_t n, ech_dtype dtype, ech_dtype index_dtype,
                               const ech_sort_options *options, ech_format format, char *text,
                               size_t capacity_bytes)
{
    READ_OPTIONS(NULL, ech_sort_options, options);
    struct echi_sort s;
    ech_status status = argsort_shape(NULL, n, dtype, index_dtype, &s);
    if (status != ECH_OK) return status;
    return ask_explain(device, options, &s, "argsort", format, text, capacity_bytes);
}
