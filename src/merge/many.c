/*
 * merge/many.c - ech_merge_many() and its related functions: checks the arguments, chooses between
 * merges of neighbours and a sort, and calls the backend.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "merge/merge.h"

#include <string.h>

static const struct echi_operation *find(const struct echi_backend *backend)
{
    return backend->operations[ECHI_OP_merge_many];
}

/* ---- What both backends share ---- */

unsigned echi_merge_rounds(const struct echi_merge_many *m)
{
    unsigned rounds = 0;
    while (m->runs > 1 && (m->runs - 1) >> rounds) rounds++;
    return rounds;
}

struct echi_sort echi_merge_sort(const struct echi_merge_many *m)
{
    return (struct echi_sort){ .keys_in = m->keys,
                               .keys_out = m->keys_out,
                               .values_in = m->values,
                               .values_out = m->values_out,
                               .n = m->n,
                               .value_bytes = m->value_bytes,
                               .dtype = m->dtype,
                               .key_bytes = (int)m->key_bytes,
                               .order = m->order,
                               .end_bit = 8 * (int)m->key_bytes,
                               .stable = m->value_bytes != 0 };
}

const char *echi_merge_way_name(enum echi_merge_way way)
{
    return way == ECHI_MERGE_SORT ? "sort" : "rounds";
}

/* Whether a sort has the same result.  Without values, -0 and +0, or two NaN, do not keep their
 * order in a sort. */
static bool can_sort(const struct echi_merge_many *m)
{
    return m->n && (m->value_bytes || !m->order.merge);
}

ech_status echi_merge_choose(const struct echi_merge_many *m, const char *device, size_t most,
                             enum echi_merge_way *way)
{
    *way = can_sort(m) && echi_merge_rounds(m) > most ? ECHI_MERGE_SORT : ECHI_MERGE_ROUNDS;
    if (!m->algorithm) return ECH_OK;
    for (*way = ECHI_MERGE_ROUNDS; *way <= ECHI_MERGE_SORT; ++*way)
        if (strcmp(m->algorithm, echi_merge_way_name(*way)) == 0) break;
    if (*way > ECHI_MERGE_SORT)
        return echi_fail(
            NULL, ECH_ERR_ARG,
            "unknown algorithm \"%s\" for merges of runs on the %s; available: rounds, "
            "sort",
            m->algorithm, device);
    if (m->n == 0) *way = ECHI_MERGE_ROUNDS;
    if (*way == ECHI_MERGE_SORT && !can_sort(m))
        return echi_fail(NULL, ECH_ERR_ARG,
                         "algorithm \"sort\" merges runs of floats without values only in "
                         "ECH_ORDER_TOTAL; use rounds");
    return ECH_OK;
}

/* ---- The calls ---- */

/* All fields of the request except pointers and the offsets. value_bytes 0: no values. */
static ech_status start(ech_ctx *ctx, size_t n, size_t runs, ech_dtype dtype, size_t value_bytes,
                        const ech_merge_options *options, struct echi_merge_many *m)
{
    ech_status status;
    TRY(echi_check_dtype(ctx, "dtype", dtype));
    TRY(echi_merge_check_options(ctx, options));
    *m = (struct echi_merge_many){
        .n = n,
        .runs = runs,
        .index = ECHI_INDEX_U64,
        .dtype = dtype,
        .key_bytes = ech_dtype_bytes(dtype),
        .value_bytes = value_bytes,
        .order = echi_order_make(dtype, options->order, options->descending != 0, true),
        .algorithm = options->algorithm && *options->algorithm ? options->algorithm : NULL
    };
    TRY(echi_check_count(ctx, "n", n, value_bytes > 8 ? value_bytes : 8));
    TRY(echi_check_count(ctx, "runs", runs, 16));
    if (runs == 0 && n) FAIL(ctx, ECH_ERR_ARG, "runs is 0, but n is %zu", n);
done:
    return status;
}

static void add(struct echi_call *call, const char *name, void *pointer,
                const struct echi_merge_many *m, enum echi_use use, bool values)
{
    if (values)
        echi_call_add(call, name, pointer, m->n * m->value_bytes, 0, use)->device_align =
            echi_opaque_align(m->value_bytes);
    else
        echi_call_add(call, name, pointer, m->n * m->key_bytes, m->key_bytes, use)->element =
            ech_dtype_name(m->dtype);
}

/* names: of the keys and the values, then of the outputs. */
static ech_status run(ech_ctx *ctx, struct echi_merge_many *m, const char *const names[4],
                      ech_dtype offsets_dtype, const ech_merge_options *options)
{
    struct echi_call call;
    echi_call_begin(&call, "a merge of runs", find(ctx->backend), m, options->work,
                    options->work_bytes);
    ech_status status;
    TRY(echi_check_index(ctx, "offsets_dtype", offsets_dtype, "n", 0));
    m->index = echi_index_of(offsets_dtype);
    if (m->runs == 0) return echi_call_check(ctx, &call);
    add(&call, names[0], &m->keys, m, ECHI_IN, false);
    if (m->value_bytes) add(&call, names[1], &m->values, m, ECHI_IN, true);
    add(&call, names[2], &m->keys_out, m, ECHI_OUT, false);
    if (m->value_bytes) add(&call, names[3], &m->values_out, m, ECHI_OUT, true);
    echi_call_add(&call, "offsets", &m->offsets, (m->runs + 1) * m->index.bytes, m->index.bytes,
                  ECHI_IN)
        ->element = ech_dtype_name(offsets_dtype);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

ech_status ech_merge_many(ech_ctx *ctx, const void *in, const void *offsets, void *out, size_t n,
                          size_t runs, ech_dtype dtype, ech_dtype offsets_dtype,
                          const ech_merge_options *options)
{
    static const char *const names[4] = { "in", "", "out", "" };
    READ_OPTIONS(ctx, ech_merge_options, options);
    struct echi_merge_many m;
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    const ech_status status = start(ctx, n, runs, dtype, 0, options, &m);
    if (status != ECH_OK) return status;
    m.keys = in;
    m.offsets = offsets;
    m.keys_out = out;
    return run(ctx, &m, names, offsets_dtype, options);
}

ech_status ech_merge_many_pairs(ech_ctx *ctx, const void *keys_in, const void *values_in,
                                const void *offsets, void *keys_out, void *values_out, size_t n,
                                size_t runs, ech_dtype dtype, size_t value_bytes,
                                ech_dtype offsets_dtype, const ech_merge_options *options)
{
    static const char *const names[4] = { "keys_in", "values_in", "keys_out", "values_out" };
    READ_OPTIONS(ctx, ech_merge_options, options);
    struct echi_merge_many m;
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    if (value_bytes == 0)
        return echi_fail(ctx, ECH_ERR_ARG,
                         "value_bytes is 0; use ech_merge_many() for keys without values");
    const ech_status status = start(ctx, n, runs, dtype, value_bytes, options, &m);
    if (status != ECH_OK) return status;
    m.keys = keys_in;
    m.values = values_in;
    m.offsets = offsets;
    m.keys_out = keys_out;
    m.values_out = values_out;
    return run(ctx, &m, names, offsets_dtype, options);
}

/* ---- Queries ---- */

ech_status ech_merge_many_workspace(const char *device, size_t n, size_t runs, ech_dtype dtype,
                                    size_t value_bytes, const ech_merge_options *options,
                                    size_t *bytes)
{
    READ_OPTIONS(NULL, ech_merge_options, options);
    struct echi_merge_many m;
    if (bytes) *bytes = 0;
    const ech_status status = start(NULL, n, runs, dtype, value_bytes, options, &m);
    return status == ECH_OK ? echi_call_workspace(device, find, &m, bytes) : status;
}

ech_status ech_merge_many_explain(const char *device, size_t n, size_t runs, ech_dtype dtype,
                                  size_t value_bytes, const ech_merge_options *options,
                                  ech_format format, char *text, size_t capacity_bytes)
{
    READ_OPTIONS(NULL, ech_merge_options, options);
    struct echi_merge_many m;
    const ech_status status = start(NULL, n, runs, dtype, value_bytes, options, &m);
    if (status != ECH_OK) return status;
    return echi_explain(device, value_bytes ? "merge_many_pairs" : "merge_many", find, &m, format,
                        text, capacity_bytes);
}
