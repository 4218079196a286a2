/*
 * quantile/quantile.c - ech_nth_element(), ech_partition_at() and ech_quantiles(): checks the
 * arguments, calls the backend.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "quantile/quantile.h"
#include "core/call.h"

#include <string.h>

static const char *const call_names[] = { "nth_element", "partition_at", "quantiles" };

static const struct echi_operation *operation(const struct echi_backend *backend)
{
    return backend->operations[ECHI_OP_quantile];
}

struct echi_sort echi_quantile_sort(const struct echi_quantile *s)
{
    const bool positions = s->call != ECH_QUANTILE_CALL_QUANTILES;
    const int bytes = positions ? echi_quantile_position_bytes(s) : 0;
    return (struct echi_sort){ .n = s->n,
                               .value_bytes = (size_t)bytes,
                               .index_bytes = bytes,
                               .dtype = s->dtype,
                               .key_bytes = s->key_bytes,
                               .order = echi_order_ascending(s->dtype, positions),
                               .end_bit = 8 * s->key_bytes,
                               .stable = positions };
}

int ech_quantile_dtype(ech_quantile_method method, ech_dtype dtype)
{
    if (!echi_dtype_known(dtype)) return -1;
    switch (method) {
    case ECH_QUANTILE_INVERTED_CDF:
    case ECH_QUANTILE_CLOSEST_OBSERVATION:
    case ECH_QUANTILE_LOWER:
    case ECH_QUANTILE_HIGHER:
    case ECH_QUANTILE_NEAREST:
        return (int)dtype;
    default:
        return (unsigned)method > ECH_QUANTILE_NEAREST ? -1 : ECH_F64;
    }
}

/* ---- Checks ---- */

/* Checks everything except pointers, ranks and quantiles, and fills in the fields that depend on
 * it. */
static ech_status check(ech_ctx *ctx, const ech_quantile_options *options, struct echi_quantile *s)
{
    ech_status status;
    TRY(echi_check_dtype(ctx, "dtype", s->dtype));
    if (options->nan != ECH_NAN_PROPAGATE && options->nan != ECH_NAN_IGNORE)
        FAIL(ctx, ECH_ERR_ARG, "options->nan is %d, not an ech_nan", (int)options->nan);
    TRY(echi_check_count(ctx, "n", s->n, 16));
    s->ignore_nan = options->nan == ECH_NAN_IGNORE;
    s->algorithm = options->algorithm && *options->algorithm ? options->algorithm : NULL;
    s->key_bytes = (int)echi_dtype_bytes(s->dtype);
    s->order = echi_order_ascending(s->dtype, true);
    s->out_dtype = s->dtype;
    if (s->call == ECH_QUANTILE_CALL_QUANTILES) {
        const int dtype = ech_quantile_dtype(s->method, s->dtype);
        if (dtype < 0)
            FAIL(ctx, ECH_ERR_ARG, "method is %d, not an ech_quantile_method", (int)s->method);
        s->out_dtype = (ech_dtype)dtype;
    }
done:
    return status;
}

/* Inserts a rank into the ascending ones. */
static void add_rank(struct echi_quantile *s, uint64_t rank)
{
    size_t at = s->count;
    while (at > 0 && s->ranks[at - 1] > rank) at--;
    if (at > 0 && s->ranks[at - 1] == rank) return;
    memmove(s->ranks + at + 1, s->ranks + at, (s->count - at) * sizeof *s->ranks);
    s->ranks[at] = rank;
    s->count++;
}

static ech_status check_ranks(ech_ctx *ctx, struct echi_quantile *s, const uint64_t *ranks,
                              size_t n_ranks)
{
    if (n_ranks > ECHI_RANKS)
        return echi_fail(ctx, ECH_ERR_ARG, "n_ranks is %zu, more than %d", n_ranks, ECHI_RANKS);
    if (n_ranks && !ranks) return echi_fail(ctx, ECH_ERR_ARG, "ranks is NULL");
    for (size_t i = 0; i < n_ranks; i++) {
        if (ranks[i] >= s->n)
            return echi_fail(ctx, ECH_ERR_ARG, "ranks[%zu] is %llu, not less than n, %zu", i,
                             (unsigned long long)ranks[i], s->n);
        add_rank(s, ranks[i]);
    }
    return ECH_OK;
}

static ech_status check_quantiles(ech_ctx *ctx, const struct echi_quantile *s)
{
    if (s->count && !s->q) return echi_fail(ctx, ECH_ERR_ARG, "q is NULL");
    for (size_t i = 0; i < s->count; i++)
        if (!(s->q[i] >= 0 && s->q[i] <= 1))
            return echi_fail(ctx, ECH_ERR_ARG, "q[%zu] is %g, not from 0 to 1", i, s->q[i]);
    if (s->n == 0 && s->count && !echi_dtype_is_float(s->out_dtype))
        return echi_fail(ctx, ECH_ERR_ARG,
                         "n is 0: no quantile of type %s exists; other methods return NaN",
                         echi_dtype_name(s->out_dtype));
    return ECH_OK;
}

/* ---- The calls ---- */

static ech_status run(ech_ctx *ctx, const ech_quantile_options *options, struct echi_quantile *s,
                      ech_dtype index_dtype)
{
    static const char *const whats[] = { "a search for an element", "a partition",
                                         "a computation of quantiles" };
    static const char *const outs[] = { "value", "out", "out" };
    const bool partition = s->call == ECH_QUANTILE_CALL_PARTITION;
    const size_t outputs = partition ? s->n : s->call == ECH_QUANTILE_CALL_NTH ? 1 : s->count;
    struct echi_call call;
    echi_call_begin(&call, whats[s->call], operation(ctx->backend), s, options->work,
                    options->work_bytes);
    ech_status status;
    s->has_out = s->out != NULL;
    s->has_index = s->index != NULL;
    if (s->index) {
        TRY(echi_check_index(ctx, "index_dtype", index_dtype, "n", s->n));
        s->index_bytes = (int)echi_dtype_bytes(index_dtype);
    }
    if (outputs == 0) return echi_call_check(ctx, &call);
    if (!s->out && !s->index && s->call != ECH_QUANTILE_CALL_QUANTILES)
        FAIL(ctx, ECH_ERR_ARG,
             partition ? "out and index_out are NULL" : "value and index are NULL");
    const size_t bytes = (size_t)s->key_bytes, out = echi_dtype_bytes(s->out_dtype);
    const size_t index = (size_t)s->index_bytes;
    echi_call_add(&call, "in", &s->in, s->n * bytes, bytes, ECHI_IN)->element =
        echi_dtype_name(s->dtype);
    if (s->out || s->call == ECH_QUANTILE_CALL_QUANTILES)
        echi_call_add(&call, outs[s->call], &s->out, outputs * out, out, ECHI_OUT)->element =
            echi_dtype_name(s->out_dtype);
    if (s->index)
        echi_call_add(&call, partition ? "index_out" : "index", &s->index, outputs * index, index,
                      ECHI_OUT)
            ->element = echi_dtype_name(index_dtype);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

/* An element of few without options, by a request; false if the call is not one. */
NOINLINE static bool element_of_several(const void *in, void *value, size_t n, size_t rank,
                                        ech_dtype dtype)
{
    struct echi_quantile s; /* has room for many ranks, which are not initialised */
    s.in = in;
    s.out = value;
    s.index = NULL;
    s.n = n;
    s.call = ECH_QUANTILE_CALL_NTH;
    s.count = 1;
    s.ranks[0] = rank;
    s.q = NULL;
    s.method = ECH_QUANTILE_LINEAR;
    s.ignore_nan = false;
    s.dtype = s.out_dtype = dtype;
    s.key_bytes = (int)echi_dtype_bytes(dtype);
    s.index_bytes = 0;
    s.order = echi_order_ascending(dtype, true);
    s.algorithm = NULL;
    s.has_out = true;
    s.has_index = false;
    return echi_cpu_quantile.quick(&s);
}

/* The same with the arrays checked, and for very few elements without a request. */
INLINED bool element_at_once(const ech_ctx *ctx, const void *in, void *value, size_t n, size_t rank,
                             ech_dtype dtype)
{
    enum { AT_ONCE = 1024 };
    if (n > AT_ONCE || rank >= n || !echi_dtype_known(dtype)) return false;
    const size_t bytes = echi_dtype_bytes(dtype);
    const struct echi_span from = { in, n * bytes, bytes }, to = { value, bytes, bytes };
    if (!echi_call_is_simple(ctx, &from, 1, &to, 1)) return false;
    return echi_cpu_element_few(in, value, n, rank, dtype) ||
           element_of_several(in, value, n, rank, dtype);
}

NOINLINE static ech_status element(ech_ctx *ctx, const void *in, void *value, void *index, size_t n,
                                   size_t rank, ech_dtype dtype, ech_dtype index_dtype,
                                   const ech_quantile_options *options)
{
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    READ_OPTIONS(ctx, ech_quantile_options, options);
    struct echi_quantile s = { .in = in,
                               .out = value,
                               .index = index,
                               .n = n,
                               .call = ECH_QUANTILE_CALL_NTH,
                               .dtype = dtype };
    ech_status status;
    TRY(check(ctx, options, &s));
    if (rank >= n) FAIL(ctx, ECH_ERR_ARG, "rank is %zu, not less than n, %zu", rank, n);
    add_rank(&s, rank);
    TRY(run(ctx, options, &s, index_dtype));
done:
    return status;
}

ech_status ech_nth_element(ech_ctx *ctx, const void *in, void *value, void *index, size_t n,
                           size_t rank, ech_dtype dtype, ech_dtype index_dtype,
                           const ech_quantile_options *options)
{
    if (!options && !index && element_at_once(ctx, in, value, n, rank, dtype)) return ECH_OK;
    return element(ctx, in, value, index, n, rank, dtype, index_dtype, options);
}

ech_status ech_partition_at(ech_ctx *ctx, const void *in, void *out, void *index_out, size_t n,
                            const uint64_t *ranks, size_t n_ranks, ech_dtype dtype,
                            ech_dtype index_dtype, const ech_quantile_options *options)
{
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    READ_OPTIONS(ctx, ech_quantile_options, options);
    struct echi_quantile s = { .in = in,
                               .out = out,
                               .index = index_out,
                               .n = n,
                               .call = ECH_QUANTILE_CALL_PARTITION,
                               .dtype = dtype };
    ech_status status;
    TRY(check(ctx, options, &s));
    TRY(check_ranks(ctx, &s, ranks, n_ranks));
    TRY(run(ctx, options, &s, index_dtype));
done:
    return status;
}

ech_status ech_quantiles(ech_ctx *ctx, const void *in, void *out, const double *q, size_t n,
                         size_t n_q, ech_dtype dtype, ech_quantile_method method,
                         const ech_quantile_options *options)
{
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    READ_OPTIONS(ctx, ech_quantile_options, options);
    struct echi_quantile s = { .in = in,
                               .out = out,
                               .n = n,
                               .call = ECH_QUANTILE_CALL_QUANTILES,
                               .count = n_q,
                               .q = q,
                               .method = method,
                               .dtype = dtype };
    ech_status status;
    TRY(check(ctx, options, &s));
    TRY(echi_check_count(ctx, "n_q", n_q, 16));
    TRY(check_quantiles(ctx, &s));
    TRY(run(ctx, options, &s, ECH_U64));
done:
    return status;
}

/* ---- Queries ---- */

/* The request of such a call with every output, without pointers. */
static ech_status question(struct echi_quantile *s, ech_quantile_call call, size_t n, size_t count,
                           ech_dtype dtype, const ech_quantile_options *options)
{
    ech_status status;
    if ((unsigned)call > ECH_QUANTILE_CALL_QUANTILES)
        FAIL(NULL, ECH_ERR_ARG, "call is %d, not an ech_quantile_call", (int)call);
    if (call == ECH_QUANTILE_CALL_NTH && count != 1)
        FAIL(NULL, ECH_ERR_ARG, "count is %zu, not 1, for one element", count);
    if (call == ECH_QUANTILE_CALL_PARTITION && count > ECHI_RANKS)
        FAIL(NULL, ECH_ERR_ARG, "count is %zu, more than %d ranks", count, ECHI_RANKS);
    *s = (struct echi_quantile){ .n = n,
                                 .dtype = dtype,
                                 .call = call,
                                 .count = count,
                                 .index_bytes = 8,
                                 .has_out = true,
                                 .has_index = call != ECH_QUANTILE_CALL_QUANTILES };
    TRY(check(NULL, options, s));
    TRY(echi_check_count(NULL, "count", count, 16));
done:
    return status;
}

ech_status ech_quantile_workspace(const char *device, ech_quantile_call call, size_t n,
                                  size_t count, ech_dtype dtype,
                                  const ech_quantile_options *options, size_t *bytes)
{
    READ_OPTIONS(NULL, ech_quantile_options, options);
    struct echi_quantile s;
    size_t fewer = 0;
    ech_status status;
    if (bytes) *bytes = 0;
    TRY(question(&s, call, n, count, dtype, options));
    TRY(echi_call_workspace(device, operation, &s, bytes));
    while (call == ECH_QUANTILE_CALL_PARTITION && s.count-- > 0) { /* fewer distinct ranks */
        TRY(echi_call_workspace(device, operation, &s, &fewer));
        if (fewer > *bytes) *bytes = fewer;
    }
done:
    return status;
}

ech_status ech_quantile_explain(const char *device, ech_quantile_call call, size_t n, size_t count,
                                ech_dtype dtype, const ech_quantile_options *options,
                                ech_format format, char *text, size_t capacity_bytes)
{
    READ_OPTIONS(NULL, ech_quantile_options, options);
    struct echi_quantile s;
    const ech_status status = question(&s, call, n, count, dtype, options);
    if (status != ECH_OK) return status;
    return echi_explain(device, call_names[call], operation, &s, format, text, capacity_bytes);
}
