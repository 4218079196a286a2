/*
 * reduce/reduce.c - ech_reduce() and its related functions: checks the arguments, converts an
 * ech_op and a dtype to a kind and a rule, and calls the backend.
 *
 *     ech_reduce, _rows, _segments, _by_key, ech_dot   each fills one struct echi_reduce
 *       start()       op, dtype, options -> kind and rule
 *       rule_*()      the parameters of one family of operations
 *       echi_call_run()
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reduce/reduce.h"
#include "core/call.h"
#include "core/prepared.h"
#include "cpu/cpu.h"

#include <string.h>

int ech_reduce_dtype(ech_op op, ech_dtype dtype, int accumulate_wide)
{
    if (!echi_dtype_known(dtype)) return -1;
    bool is_float = echi_dtype_is_float(dtype);
    bool narrow = is_float && dtype != ECH_F64 && !accumulate_wide;
    switch (op) {
    case ECH_OP_SUM:
    case ECH_OP_PRODUCT:
        if (is_float) return narrow ? ECH_F32 : ECH_F64;
        return echi_dtype_is_signed(dtype) ? ECH_I64 : ECH_U64;
    case ECH_OP_MIN:
    case ECH_OP_MAX:
    case ECH_OP_MINMAX:
        return (int)dtype;
    case ECH_OP_AND:
    case ECH_OP_OR:
    case ECH_OP_XOR:
        return is_float ? -1 : (int)dtype;
    case ECH_OP_ARGMIN:
    case ECH_OP_ARGMAX:
    case ECH_OP_COUNT:
        return ECH_U64;
    case ECH_OP_ANY:
    case ECH_OP_ALL:
        return ECH_U8;
    case ECH_OP_MEAN:
    case ECH_OP_VARIANCE:
    case ECH_OP_NORM:
    case ECH_OP_STDDEV:
        return narrow ? ECH_F32 : ECH_F64;
    default:
        return -1;
    }
}

/* ---- From an ech_op to a kind and its rule ---- */

static uint64_t ones_of(const struct echi_reduce *r)
{
    return ~(uint64_t)0 >> (64 - 8 * r->rule.bytes);
}

/* A minimum is the maximum of the flipped elements.  NaN get the top of the order if they decide;
 * if they are ignored, the bottom, which is also 0, the e of an empty input. */
static void rule_max(struct echi_reduce *r, bool least)
{
    struct echi_reduce_rule *rule = &r->rule;
    int bytes = (int)rule->bytes;
    uint64_t ones = ones_of(r), top = ones ^ ones >> 1;
    bool is_float = echi_dtype_is_float(r->dtype), nan_first = least != (rule->ignore != 0);
    r->kind = ECHI_REDUCE_MAX;
    rule->order = nan_first && is_float ? echi_order_nan_first(r->dtype)
                                        : echi_order_ascending(r->dtype, false);
    rule->order.flip = least ? ones : 0;
    rule->special_first = 1; /* no e is special */
    rule->special_last = 0;
    if (!is_float) return;
    uint64_t infinity = echi_dtype_infinity(r->dtype);
    uint64_t end = nan_first ? infinity | top : infinity; /* the number next to the NaN */
    uint64_t e = echi_order_encode(&rule->order, bytes, end);
    rule->special_first = rule->ignore ? 0 : e + 1;
    rule->special_last = rule->ignore ? e - 1 : ones;
    rule->special = rule->ignore ? end : echi_dtype_nan(r->dtype);
}

static void rule_minmax(struct echi_reduce *r)
{
    struct echi_reduce_rule *rule = &r->rule;
    r->kind = ECHI_REDUCE_MINMAX;
    rule->order = echi_order_ascending(r->dtype, false);
    rule->limit = ones_of(r);
    if (!echi_dtype_is_float(r->dtype)) return;
    rule->limit = echi_order_encode(&rule->order, (int)rule->bytes, echi_dtype_infinity(r->dtype));
    rule->special = echi_dtype_nan(r->dtype);
}

/* The ranks of floats reserve 0 for NaN that are ignored, and all ones for NaN that are not. */
static void rule_arg(struct echi_reduce *r, bool least)
{
    struct echi_reduce_rule *rule = &r->rule;
    uint64_t ones = ones_of(r);
    bool is_float = echi_dtype_is_float(r->dtype);
    r->kind = ECHI_REDUCE_ARG;
    rule->order = echi_order_ascending(r->dtype, true);
    rule->flip = least ? ones : 0;
    rule->add = !is_float ? 0 : least ? ones : 1;
    rule->special = is_float ? (rule->ignore ? 0 : ones) : ones ^ rule->flip;
    rule->limit = is_float ? 1 : 0; /* the minimum rank of an element that can be the result */
}

/* Leaves NaN, the end of the order, out of the range.  What a range leaves out is two ranges if it
 * is in the middle of the numbers: then the rule stays inverted. */
static void count_numbers(struct echi_reduce *r)
{
    struct echi_reduce_rule *rule = &r->rule;
    rule->limit = echi_order_encode(&rule->order, (int)rule->bytes, echi_dtype_infinity(r->dtype));
    uint64_t first = rule->low, last = rule->low + rule->span;
    if (last > rule->limit) last = rule->limit;
    bool none = first > last;
    if (rule->invert && none) {
        first = 0;
        last = rule->limit;
        none = false;
    } else if (rule->invert && first == 0) {
        first = last + 1;
        last = rule->limit;
        none = first > last;
    } else if (rule->invert && last == rule->limit) {
        last = first - 1;
        first = 0;
    } else if (rule->invert) {
        return;
    }
    rule->invert = 0;
    rule->low = none ? 1 : first;
    rule->span = none ? 0 : last - first;
    if (none) rule->mask = 0;
}

/* The test as a range of the order that distinguishes -0 and +0, and NaN, because that order is
 * cheaper. */
static ech_status rule_count(ech_ctx *ctx, struct echi_reduce *r, ech_op op,
                             const ech_reduce_options *options)
{
    struct echi_reduce_rule *rule = &r->rule;
    struct echi_predicate p;
    ech_status status = echi_predicate_make(ctx, r->dtype, options->compare, options->value, &p);
    if (status != ECH_OK) return status;
    r->kind = ECHI_REDUCE_COUNT;
    rule->quantified = op == ECH_OP_ANY ? 1 : op == ECH_OP_ALL ? 2 : 0;
    rule->order = p.order;
    rule->order.merge = 0;
    rule->order.last = ones_of(r);
    uint64_t first = p.low, last = p.low + p.span;
    if (p.order.merge) {
        if (first == p.order.zero + 1) first = p.order.zero;
        if (last == p.order.zero) last--;
        if (last >= p.order.last) last = ones_of(r);
    }
    rule->mask = p.mask;
    rule->low = first;
    rule->span = last - first;
    rule->invert = p.invert != (rule->quantified == 2);
    if (rule->ignore) count_numbers(r);
    return ECH_OK;
}

static void rule_bits(struct echi_reduce *r, ech_op op)
{
    r->kind = ECHI_REDUCE_BITS;
    r->rule.exclusive = op == ECH_OP_XOR;
    r->rule.first = op == ECH_OP_AND ? ones_of(r) : 0; /* AND is the inverse of the OR of the
                                                          inverted elements */
}

/* Sums, products and the operations based on them. */
static void rule_arithmetic(struct echi_reduce *r, ech_op op, bool dot)
{
    struct echi_reduce_rule *rule = &r->rule;
    bool is_float = echi_dtype_is_float(r->dtype);
    bool in_f64 = op >= ECH_OP_MEAN || rule->out_bytes == 8;
    if (op == ECH_OP_VARIANCE || op == ECH_OP_STDDEV)
        r->kind = ECHI_REDUCE_VARIANCE;
    else if (!is_float && op < ECH_OP_MEAN)
        r->kind = dot                ? ECHI_REDUCE_IDOT
                  : op == ECH_OP_SUM ? ECHI_REDUCE_ISUM
                                     : ECHI_REDUCE_IPRODUCT;
    else if (in_f64)
        r->kind = dot                    ? ECHI_REDUCE_DOT64
                  : op == ECH_OP_PRODUCT ? ECHI_REDUCE_PRODUCT64
                                         : ECHI_REDUCE_SUM64;
    else
        r->kind = dot                    ? ECHI_REDUCE_DOT
                  : op == ECH_OP_PRODUCT ? ECHI_REDUCE_PRODUCT
                                         : ECHI_REDUCE_SUM;
    rule->finish = op == ECH_OP_MEAN     ? ECHI_FINISH_MEAN
                   : op == ECH_OP_NORM   ? ECHI_FINISH_NORM
                   : op == ECH_OP_STDDEV ? ECHI_FINISH_STDDEV
                                         : ECHI_FINISH_SUM;
    rule->in_f64 = rule->out_bytes == 8;
    if (echi_dtype_is_signed(r->dtype)) rule->sign = ones_of(r) ^ ones_of(r) >> 1;
}

/* ---- Checks ---- */

static ech_status check_options(ech_ctx *ctx, const ech_reduce_options *o)
{
    if (o->nan != ECH_NAN_PROPAGATE && o->nan != ECH_NAN_IGNORE)
        return echi_fail(ctx, ECH_ERR_ARG, "options->nan is %d, not an ech_nan", (int)o->nan);
    if (o->accumulate_wide != 0 && o->accumulate_wide != 1)
        return echi_fail(ctx, ECH_ERR_ARG, "options->accumulate_wide is %d, not 0 or 1",
                         o->accumulate_wide);
    if (o->ddof != 0 && o->ddof != 1)
        return echi_fail(ctx, ECH_ERR_ARG, "options->ddof is %d, not 0 or 1", o->ddof);
    return ECH_OK;
}

/* Fills everything but the arrays and their sizes. */
static ech_status start(ech_ctx *ctx, struct echi_reduce *r, ech_op op, bool dot, ech_dtype dtype,
                        const ech_reduce_options *options)
{
    *r = (struct echi_reduce){ .dtype = dtype };
    ech_status status = echi_check_dtype(ctx, "dtype", dtype);
    if (status == ECH_OK) status = check_options(ctx, options);
    if (status != ECH_OK) return status;
    int result = ech_reduce_dtype(op, dtype, options->accumulate_wide);
    if (result < 0 && (unsigned)op > ECH_OP_STDDEV)
        return echi_fail(ctx, ECH_ERR_ARG, "op is %d, not an ech_op", (int)op);
    if (result < 0)
        return echi_fail(ctx, ECH_ERR_ARG,
                         "op works on bits, but dtype is %s; use an integer dtype",
                         echi_dtype_name(dtype));
    r->rule.bytes = (uint32_t)echi_dtype_bytes(dtype);
    r->rule.out_bytes =
        (uint32_t)echi_dtype_bytes((ech_dtype)result) * (op == ECH_OP_MINMAX ? 2 : 1);
    r->rule.ignore = options->nan == ECH_NAN_IGNORE && echi_dtype_is_float(dtype);
    r->rule.ddof = (uint32_t)options->ddof;
    switch (op) {
    case ECH_OP_MIN:
    case ECH_OP_MAX:
        rule_max(r, op == ECH_OP_MIN);
        break;
    case ECH_OP_MINMAX:
        rule_minmax(r);
        break;
    case ECH_OP_ARGMIN:
    case ECH_OP_ARGMAX:
        rule_arg(r, op == ECH_OP_ARGMIN);
        break;
    case ECH_OP_AND:
    case ECH_OP_OR:
    case ECH_OP_XOR:
        rule_bits(r, op);
        break;
    case ECH_OP_ANY:
    case ECH_OP_ALL:
    case ECH_OP_COUNT:
        return rule_count(ctx, r, op, options);
    default:
        rule_arithmetic(r, op, dot);
    }
    return ECH_OK;
}

ech_status echi_reduce_request(ech_ctx *ctx, struct echi_reduce *r, ech_op op, ech_dtype dtype,
                               const ech_reduce_options *options)
{
    return start(ctx, r, op, false, dtype, options);
}

/* The alignment of results: of one of the two for minmax. */
static size_t out_align(const struct echi_reduce *r)
{
    return r->kind == ECHI_REDUCE_MINMAX ? r->rule.bytes : r->rule.out_bytes;
}

static void begin(struct echi_call *call, ech_ctx *ctx, struct echi_reduce *r,
                  const ech_reduce_options *options)
{
    echi_call_begin(call, "a reduction", ctx ? ctx->backend->operations[ECHI_OP_reduce] : NULL, r,
                    options->work, options->work_bytes);
}

static void add_in(struct echi_call *call, const char *name, const void **in,
                   const struct echi_reduce *r)
{
    echi_call_add(call, name, (void *)in, r->n * r->rule.bytes, r->rule.bytes, ECHI_IN);
}

/* ---- The calls ---- */

/* The sizes have been checked. */
static ech_status run_rows(ech_ctx *ctx, struct echi_reduce *r, const void *in, void *out,
                           size_t rows, size_t columns, const ech_reduce_options *options)
{
    r->in = in;
    r->out = out;
    r->rows = rows;
    r->columns = columns;
    r->n = rows * columns;
    struct echi_call call;
    begin(&call, ctx, r, options);
    add_in(&call, "in", &r->in, r);
    echi_call_add(&call, "out", &r->out, rows * r->rule.out_bytes, out_align(r), ECHI_OUT);
    return echi_call_run(ctx, &call);
}

ech_status ech_reduce_rows(ech_ctx *ctx, ech_op op, const void *in, void *out, size_t rows,
                           size_t cols, ech_dtype dtype, const ech_reduce_options *options)
{
    READ_OPTIONS(ctx, ech_reduce_options, options);
    struct echi_reduce r;
    ech_status status = start(ctx, &r, op, false, dtype, options);
    if (status == ECH_OK) status = echi_check_count(ctx, "rows", rows, r.rule.out_bytes);
    if (status == ECH_OK) status = echi_check_count(ctx, "cols", cols, r.rule.bytes);
    if (status != ECH_OK) return status;
    if (rows && cols > (size_t)PTRDIFF_MAX / r.rule.bytes / rows)
        return echi_fail(ctx, ECH_ERR_ARG,
                         "rows is %zu and cols is %zu: rows * cols overflows size_t", rows, cols);
    return run_rows(ctx, &r, in, out, rows, cols, options);
}

NOINLINE static bool prepare(ech_op op, ech_dtype dtype, struct echi_reduce *r,
                             echi_prepared *state)
{
    static const ech_reduce_options none = { .size = sizeof none };
    struct echi_reduce made;
    return start(NULL, &made, op, false, dtype, &none) == ECH_OK &&
           echi_prepare(state, r, &made, sizeof made);
}

/* The request of an operation without options and arrays, which is the same for every call; NULL if
 * there is none. */
static const struct echi_reduce *prepared(ech_op op, ech_dtype dtype)
{
    static struct echi_reduce requests[ECH_OP_STDDEV + 1][ECHI_DTYPE_COUNT];
    static echi_prepared states[ECH_OP_STDDEV + 1][ECHI_DTYPE_COUNT];
    if ((unsigned)op > ECH_OP_STDDEV || !echi_dtype_known(dtype)) return NULL;
    struct echi_reduce *r = &requests[op][dtype];
    echi_prepared *state = &states[op][dtype];
    return echi_is_prepared(state) || prepare(op, dtype, r, state) ? r : NULL;
}

/* A reduction of few elements without options; false if it is not one. */
static bool reduce_at_once(ech_ctx *ctx, ech_op op, const void *in, void *out, size_t n,
                           ech_dtype dtype)
{
    enum { MOST = 1 << 16 };
    if (n - 1 >= MOST || !ctx) return false;
    const struct echi_reduce *ready = prepared(op, dtype);
    if (!ready) return false;
    const size_t bytes = ready->rule.bytes, out_bytes = ready->rule.out_bytes;
    const size_t align = bytes > out_bytes ? bytes : out_bytes;
    if (!echi_call_is_plain(ctx, in, n * bytes, out, out_bytes, align) || in == out) return false;
    return echi_cpu_reduce_few(ready, in, out, n);
}

NOINLINE static ech_status reduce_complete(ech_ctx *ctx, ech_op op, const void *in, void *out,
                                           size_t n, ech_dtype dtype,
                                           const ech_reduce_options *options)
{
    READ_OPTIONS(ctx, ech_reduce_options, options);
    struct echi_reduce r;
    ech_status status = start(ctx, &r, op, false, dtype, options);
    if (status == ECH_OK) status = echi_check_count(ctx, "n", n, r.rule.bytes);
    return status == ECH_OK ? run_rows(ctx, &r, in, out, 1, n, options) : status;
}

NOINLINE ech_status echi_reduce_any(ech_ctx *ctx, ech_op op, const void *in, void *out, size_t n,
                                    ech_dtype dtype, const ech_reduce_options *options)
{
    if (!options && reduce_at_once(ctx, op, in, out, n, dtype)) return ECH_OK;
    return reduce_complete(ctx, op, in, out, n, dtype, options);
}

ech_status ech_reduce(ech_ctx *ctx, ech_op op, const void *in, void *out, size_t n, ech_dtype dtype,
                      const ech_reduce_options *options)
{
    if (!options && n <= ECHI_REDUCE_FEW && (unsigned)op <= ECH_OP_STDDEV &&
        echi_dtype_known(dtype)) {
        echi_reduce_function *const run = echi_reduce_calls[echi_cpu_level()][op][dtype];
        if (run) return run(ctx, op, in, out, n, dtype, NULL);
    }
    return echi_reduce_any(ctx, op, in, out, n, dtype, options);
}

ech_status ech_reduce_segments(ech_ctx *ctx, ech_op op, const void *in, const void *offsets,
                               void *out, size_t n, size_t segments, ech_dtype dtype,
                               ech_dtype offsets_dtype, const ech_reduce_options *options)
{
    READ_OPTIONS(ctx, ech_reduce_options, options);
    struct echi_reduce r;
    ech_status status = start(ctx, &r, op, false, dtype, options);
    if (status == ECH_OK) status = echi_check_count(ctx, "n", n, r.rule.bytes);
    if (status == ECH_OK) status = echi_check_count(ctx, "segments", segments, 16);
    if (status == ECH_OK) status = echi_check_index(ctx, "offsets_dtype", offsets_dtype, "n", 0);
    if (status != ECH_OK) return status;
    const size_t offset_bytes = echi_dtype_bytes(offsets_dtype);
    r.shape = ECHI_REDUCE_SEGMENTS;
    r.in = in;
    r.out = out;
    r.offsets = offsets;
    r.offsets_index = echi_index_of(offsets_dtype);
    r.segments = segments;
    r.n = n;
    struct echi_call call;
    begin(&call, ctx, &r, options);
    add_in(&call, "in", &r.in, &r);
    echi_call_add(&call, "offsets", (void *)&r.offsets,
                  segments ? (segments + 1) * offset_bytes : 0, offset_bytes, ECHI_IN);
    echi_call_add(&call, "out", &r.out, segments * r.rule.out_bytes, out_align(&r), ECHI_OUT);
    return echi_call_run(ctx, &call);
}

ech_status ech_reduce_by_key(ech_ctx *ctx, ech_op op, const void *keys, const void *in,
                             void *keys_out, void *out, uint64_t *count, size_t n,
                             ech_dtype key_dtype, ech_dtype dtype,
                             const ech_reduce_options *options)
{
    READ_OPTIONS(ctx, ech_reduce_options, options);
    struct echi_reduce r;
    ech_status status = start(ctx, &r, op, false, dtype, options);
    if (status == ECH_OK) status = echi_check_dtype(ctx, "key_dtype", key_dtype);
    if (status == ECH_OK) status = echi_check_count(ctx, "n", n, 16);
    if (status != ECH_OK) return status;
    size_t key_bytes = echi_dtype_bytes(key_dtype);
    r.shape = ECHI_REDUCE_BY_KEY;
    r.key_dtype = key_dtype;
    r.keys = keys;
    r.in = in;
    r.keys_out = keys_out;
    r.out = out;
    r.count = count;
    r.n = n;
    struct echi_call call;
    begin(&call, ctx, &r, options);
    echi_call_add(&call, "keys", (void *)&r.keys, n * key_bytes, key_bytes, ECHI_IN);
    add_in(&call, "in", &r.in, &r);
    echi_call_add(&call, "count", (void *)&r.count, 8, 8, ECHI_OUT);
    int counted_by = call.count;
    struct echi_array *a =
        echi_call_add(&call, "keys_out", &r.keys_out, n * key_bytes, key_bytes, ECHI_OUT);
    a->counted_by = counted_by;
    a->element_bytes = key_bytes;
    a = echi_call_add(&call, "out", &r.out, n * r.rule.out_bytes, out_align(&r), ECHI_OUT);
    a->counted_by = counted_by;
    a->element_bytes = r.rule.out_bytes;
    return echi_call_run(ctx, &call);
}

ech_status ech_dot(ech_ctx *ctx, const void *a, const void *b, void *out, size_t n, ech_dtype dtype,
                   const ech_reduce_options *options)
{
    READ_OPTIONS(ctx, ech_reduce_options, options);
    struct echi_reduce r;
    ech_status status = start(ctx, &r, ECH_OP_SUM, true, dtype, options);
    if (status == ECH_OK) status = echi_check_count(ctx, "n", n, r.rule.bytes);
    if (status != ECH_OK) return status;
    r.in = a;
    r.b = b;
    r.out = out;
    r.rows = 1;
    r.columns = r.n = n;
    struct echi_call call;
    begin(&call, ctx, &r, options);
    add_in(&call, "a", &r.in, &r);
    add_in(&call, "b", &r.b, &r);
    echi_call_add(&call, "out", &r.out, r.rule.out_bytes, out_align(&r), ECHI_OUT);
    return echi_call_run(ctx, &call);
}

static const struct echi_operation *reduce_of(const struct echi_backend *backend)
{
    return backend->operations[ECHI_OP_reduce];
}

/* A request without pointers. */
static ech_status question(struct echi_reduce *r, ech_reduce_call call, ech_op op, size_t n,
                           size_t groups, ech_dtype dtype, const ech_reduce_options *options)
{
    const bool dot = call == ECH_REDUCE_CALL_DOT;
    ech_status status;
    if ((unsigned)call > ECH_REDUCE_CALL_DOT)
        FAIL(NULL, ECH_ERR_ARG, "call is %d, not an ech_reduce_call", (int)call);
    if (dot && op != ECH_OP_SUM)
        FAIL(NULL, ECH_ERR_ARG, "op is %d: a dot product is ECH_OP_SUM", (int)op);
    TRY(start(NULL, r, op, dot, dtype, options));
    TRY(echi_check_count(NULL, "n", n, call == ECH_REDUCE_CALL_BY_KEY ? 16 : r->rule.bytes));
    r->n = n;
    r->key_dtype = ECH_U64;
    if (call == ECH_REDUCE_CALL_BY_KEY) {
        r->shape = ECHI_REDUCE_BY_KEY;
    } else if (call == ECH_REDUCE_CALL_SEGMENTS) {
        r->shape = ECHI_REDUCE_SEGMENTS;
        r->segments = groups;
    } else {
        r->rows = dot || !groups ? 1 : groups;
        r->columns = n / r->rows;
    }
done:
    return status;
}

ech_status ech_reduce_workspace(const char *device, ech_reduce_call call, ech_op op, size_t n,
                                size_t groups, ech_dtype dtype, const ech_reduce_options *options,
                                size_t *bytes)
{
    READ_OPTIONS(NULL, ech_reduce_options, options);
    struct echi_reduce r;
    if (bytes) *bytes = 0;
    const ech_status status = question(&r, call, op, n, groups, dtype, options);
    return status == ECH_OK ? echi_call_workspace(device, reduce_of, &r, bytes) : status;
}

ech_status ech_reduce_explain(const char *device, ech_reduce_call call, ech_op op, size_t n,
                              size_t groups, ech_dtype dtype, const ech_reduce_options *options,
                              ech_format format, char *text, size_t capacity_bytes)
{
    READ_OPTIONS(NULL, ech_reduce_options, options);
    static const char *const names[] = { "reduce_rows", "reduce_segments", "reduce_by_key", "dot" };
    struct echi_reduce r;
    const ech_status status = question(&r, call, op, n, groups, dtype, options);
    if (status != ECH_OK) return status;
    return echi_explain(device, names[call], reduce_of, &r, format, text, capacity_bytes);
}
