/*
 * scan/scan.c - ech_scan() and its related functions: checks the arguments, maps operators and
 * types to those of scan.h, calls the backend.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scan/scan.h"
#include "core/call.h"
#include "core/half.h"
#include "core/prepared.h"
#include "cpu/cpu.h"

#include <math.h>
#include <string.h>

/* ---- The initial value ---- */

static uint64_t load_bits(const void *at, size_t bytes)
{
    uint64_t u = 0;
    memcpy(&u, at, bytes);
    return u;
}

static uint64_t f64_bits(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

/* Converts a float of a dtype, or of f64 if wide, to the bits of the type of the computation. */
static uint64_t computed_bits(const struct echi_scan *s, const void *init)
{
    if (s->wide || s->dtype == ECH_F64) return load_bits(init, 8);
    if (s->dtype == ECH_F32) return load_bits(init, 4);
    uint64_t u = load_bits(init, 2);
    return s->dtype == ECH_BF16 ? u << 16 : echi_bits_of_f32(echi_f32_of_f16((uint32_t)u));
}

/* The identity element of a sum of floats is -0: x + -0 is x for every x.  An empty sum in the
 * output is +0, however. */
static uint64_t neutral_float(const struct echi_scan *s)
{
    bool shown = s->exclusive || s->ignore_nan;
    double neutral = s->op == ECHI_SCAN_PRODUCT ? 1 : shown ? 0 : -0.0;
    return s->wide || s->dtype == ECH_F64 ? f64_bits(neutral) : echi_bits_of_f32((float)neutral);
}

static uint64_t encode(const struct echi_scan *s, uint64_t u)
{
    return echi_order_encode(&s->order, (int)echi_dtype_bytes(s->dtype), u);
}

static uint64_t sign_bit(ech_dtype dtype)
{
    return (uint64_t)1 << (8 * echi_dtype_bytes(dtype) - 1);
}

/* Whether init is used: a NaN is not, if NaN are ignored. */
static bool init_counts(const struct echi_scan *s, const ech_scan_options *options)
{
    if (!options->init) return false;
    if (!echi_dtype_is_float(s->dtype) || options->nan != ECH_NAN_IGNORE) return true;
    ech_dtype dtype = s->wide ? ECH_F64 : s->dtype;
    uint64_t init = load_bits(options->init, echi_dtype_bytes(dtype));
    return (init & ~sign_bit(dtype)) <= echi_dtype_infinity(dtype);
}

static void prepare_order(struct echi_scan *s, ech_op op, bool ignore_nan)
{
    uint64_t ones = ~(uint64_t)0 >> (64 - 8 * echi_dtype_bytes(s->dtype));
    s->clamp = ones;
    s->order = (struct echi_order){ .last = ones, .flip = op == ECH_OP_AND ? ones : 0 };
    if (op != ECH_OP_MIN && op != ECH_OP_MAX) return;
    bool nan_is_least = (op == ECH_OP_MIN) != ignore_nan;
    s->order =
        nan_is_least ? echi_order_nan_first(s->dtype) : echi_order_ascending(s->dtype, false);
    s->order.flip = op == ECH_OP_MAX ? ones : 0;
    s->first = ones;
    if (!echi_dtype_is_float(s->dtype)) return;
    uint64_t infinity =
        encode(s, echi_dtype_infinity(s->dtype) | (op == ECH_OP_MAX ? sign_bit(s->dtype) : 0));
    if (ignore_nan) s->clamp = infinity;
    if (ignore_nan || s->exclusive) s->first = infinity;
}

static void prepare_values(struct echi_scan *s, ech_op op, const ech_scan_options *options)
{
    static const enum echi_scan_op ops[] = {
        [ECH_OP_SUM] = ECHI_SCAN_SUM, [ECH_OP_PRODUCT] = ECHI_SCAN_PRODUCT,
        [ECH_OP_MIN] = ECHI_SCAN_MIN, [ECH_OP_MAX] = ECHI_SCAN_MIN,
        [ECH_OP_AND] = ECHI_SCAN_OR,  [ECH_OP_OR] = ECHI_SCAN_OR,
        [ECH_OP_XOR] = ECHI_SCAN_XOR,
    };
    bool arithmetic = op == ECH_OP_SUM || op == ECH_OP_PRODUCT,
         ignore = options->nan == ECH_NAN_IGNORE;
    s->op = ops[op];
    s->is_float = arithmetic && echi_dtype_is_float(s->dtype);
    s->is_signed = echi_dtype_is_signed(s->dtype);
    s->wide = options->accumulate_wide && arithmetic && echi_dtype_bytes(s->dtype) < 8;
    s->exclusive = options->exclusive;
    s->backward = options->reverse;
    s->ignore_nan = s->is_float && ignore;
    bool init = init_counts(s, options);
    s->first = op == ECH_OP_PRODUCT;
    prepare_order(s, op, ignore);
    if (s->is_float)
        s->first = init ? computed_bits(s, options->init) : neutral_float(s);
    else if (init)
        s->first = s->wide ? load_bits(options->init, 8)
                           : encode(s, load_bits(options->init, echi_dtype_bytes(s->dtype)));
}

/* ---- Checks ---- */

static ech_status check_flag(ech_ctx *ctx, const char *name, int value)
{
    if (value == 0 || value == 1) return ECH_OK;
    return echi_fail(ctx, ECH_ERR_ARG, "options->%s is %d, not 0 or 1", name, value);
}

/* Checks everything except pointers, and fills in the fields that depend on it. */
static ech_status check_shape(ech_ctx *ctx, ech_op op, const ech_scan_options *options,
                              struct echi_scan *s)
{
    ech_status status;
    if ((unsigned)op > ECH_OP_XOR)
        FAIL(ctx, ECH_ERR_ARG, "op is %d, not one of ECH_OP_SUM ... ECH_OP_XOR", (int)op);
    TRY(echi_check_dtype(ctx, "dtype", s->dtype));
    if (op >= ECH_OP_AND && echi_dtype_is_float(s->dtype))
        FAIL(ctx, ECH_ERR_ARG, "op works on bits, but dtype is %s; use an integer dtype",
             echi_dtype_name(s->dtype));
    TRY(check_flag(ctx, "exclusive", options->exclusive));
    TRY(check_flag(ctx, "reverse", options->reverse));
    TRY(check_flag(ctx, "accumulate_wide", options->accumulate_wide));
    if (options->nan != ECH_NAN_PROPAGATE && options->nan != ECH_NAN_IGNORE)
        FAIL(ctx, ECH_ERR_ARG, "options->nan is %d, not an ech_nan", (int)options->nan);
    TRY(echi_check_count(ctx, "n", s->n, 8));
    prepare_values(s, op, options);
done:
    return status;
}

static const struct echi_operation *operation(const struct echi_backend *backend)
{
    return backend->operations[ECHI_OP_scan];
}

/* The call with the arrays that every scan has. */
static void begin(struct echi_call *call, ech_ctx *ctx, struct echi_scan *s,
                  const ech_scan_options *options)
{
    size_t bytes = echi_dtype_bytes(s->dtype), out_bytes = echi_scan_out_bytes(s);
    echi_call_begin(call, "a scan", ctx ? operation(ctx->backend) : NULL, s, options->work,
                    options->work_bytes);
    bool part = s->shape == ECHI_SCAN_SEGMENTS;
    echi_call_add(call, "in", &s->in, s->n * bytes, bytes, ECHI_IN);
    struct echi_array *out = echi_call_add(call, "out", &s->out, s->n * out_bytes, out_bytes,
                                           part ? ECHI_KEPT : ECHI_OUT);
    if (bytes == out_bytes) out->may_be = 1;
}

/* ---- The calls ---- */

static ech_status run(ech_ctx *ctx, struct echi_scan *s, struct echi_call *call)
{
    if (ctx && s->n == 0 && s->shape != ECHI_SCAN_SEGMENTS) return ECH_OK;
    return echi_call_run(ctx, call);
}

NOINLINE static bool prepare(ech_op op, ech_dtype dtype, struct echi_scan *s, echi_prepared *state)
{
    static const ech_scan_options none = { .size = sizeof none };
    struct echi_scan made = { .shape = ECHI_SCAN_WHOLE, .rows = 1, .dtype = dtype };
    return check_shape(NULL, op, &none, &made) == ECH_OK &&
           echi_prepare(state, s, &made, sizeof made);
}

/* The request of a scan without options, arrays and sizes; NULL if there is none. */
static const struct echi_scan *prepared(ech_op op, ech_dtype dtype)
{
    static struct echi_scan requests[ECH_OP_XOR + 1][ECHI_DTYPE_COUNT];
    static echi_prepared states[ECH_OP_XOR + 1][ECHI_DTYPE_COUNT];
    if ((unsigned)op > ECH_OP_XOR || !echi_dtype_known(dtype)) return NULL;
    struct echi_scan *s = &requests[op][dtype];
    echi_prepared *state = &states[op][dtype];
    return echi_is_prepared(state) || prepare(op, dtype, s, state) ? s : NULL;
}

/* A scan of few elements without options; false if it is not one. */
INLINED bool scan_at_once(ech_ctx *ctx, ech_op op, const void *in, void *out, size_t n,
                          ech_dtype dtype)
{
    enum { MOST = 1024 };
    if (n - 1 >= MOST) return false;
    const struct echi_scan *s = prepared(op, dtype);
    if (!s) return false;
    const size_t bytes = echi_dtype_bytes(dtype);
    if (!echi_call_is_plain(ctx, in, n * bytes, out, n * bytes, bytes)) return false;
    echi_cpu_scan_few(s, in, out, n);
    return true;
}

NOINLINE static ech_status scan_complete(ech_ctx *ctx, ech_op op, const void *in, void *out,
                                         size_t n, ech_dtype dtype, const ech_scan_options *options)
{
    READ_OPTIONS(ctx, ech_scan_options, options);
    struct echi_scan s = { .shape = ECHI_SCAN_WHOLE,
                           .in = in,
                           .out = out,
                           .n = n,
                           .rows = 1,
                           .columns = n,
                           .dtype = dtype };
    ech_status status = check_shape(ctx, op, options, &s);
    if (status != ECH_OK) return status;
    struct echi_call call;
    begin(&call, ctx, &s, options);
    return run(ctx, &s, &call);
}

NOINLINE ech_status echi_scan_any(ech_ctx *ctx, ech_op op, const void *in, void *out, size_t n,
                                  ech_dtype dtype, const ech_scan_options *options)
{
    if (!options && scan_at_once(ctx, op, in, out, n, dtype)) return ECH_OK;
    return scan_complete(ctx, op, in, out, n, dtype, options);
}

ech_status ech_scan(ech_ctx *ctx, ech_op op, const void *in, void *out, size_t n, ech_dtype dtype,
                    const ech_scan_options *options)
{
    const size_t line = ECHI_SCAN_FEW_BYTES / (dtype == ECH_F64 ? sizeof(double) : sizeof(float));
    const size_t few = dtype < ECH_F32 ? (size_t)ECHI_SCAN_FEW_INTEGERS : line;
    if (!options && n <= few && op == ECH_OP_SUM && echi_dtype_known(dtype)) {
        echi_scan_function *const sum = echi_scan_calls[echi_cpu_level()][dtype];
        if (sum) return sum(ctx, op, in, out, n, dtype, NULL);
    }
    return echi_scan_any(ctx, op, in, out, n, dtype, options);
}

ech_status echi_scan_from(ech_ctx *ctx, ech_op op, const void *in, void *out, size_t n,
                          ech_dtype dtype, const ech_scan_options *options, uint64_t first)
{
    struct echi_scan s = { .in = in, .out = out, .n = n, .columns = n };
    ech_status status = echi_scan_request(ctx, &s, op, dtype, options);
    if (status != ECH_OK) return status;
    s.first = first;
    struct echi_call call;
    begin(&call, ctx, &s, options);
    return run(ctx, &s, &call);
}

ech_status echi_scan_request(ech_ctx *ctx, struct echi_scan *s, ech_op op, ech_dtype dtype,
                             const ech_scan_options *options)
{
    s->shape = ECHI_SCAN_WHOLE;
    s->rows = 1;
    s->dtype = dtype;
    return check_shape(ctx, op, options, s);
}

ech_status ech_scan_rows(ech_ctx *ctx, ech_op op, const void *in, void *out, size_t rows,
                         size_t cols, ech_dtype dtype, const ech_scan_options *options)
{
    READ_OPTIONS(ctx, ech_scan_options, options);
    struct echi_scan s = {
        .shape = ECHI_SCAN_ROWS, .in = in, .out = out, .rows = rows, .columns = cols, .dtype = dtype
    };
    if (__builtin_mul_overflow(rows, cols, &s.n)) s.n = SIZE_MAX;
    if (s.n > PTRDIFF_MAX / 8)
        return echi_fail(ctx, ECH_ERR_ARG,
                         "rows is %zu and cols is %zu: rows * cols overflows size_t", rows, cols);
    ech_status status = check_shape(ctx, op, options, &s);
    if (status != ECH_OK) return status;
    struct echi_call call;
    begin(&call, ctx, &s, options);
    return run(ctx, &s, &call);
}

ech_status ech_scan_segments(ech_ctx *ctx, ech_op op, const void *in, const void *offsets,
                             void *out, size_t n, size_t segments, ech_dtype dtype,
                             ech_dtype offsets_dtype, const ech_scan_options *options)
{
    READ_OPTIONS(ctx, ech_scan_options, options);
    struct echi_scan s = { .shape = ECHI_SCAN_SEGMENTS,
                           .in = in,
                           .out = out,
                           .n = n,
                           .rows = 1,
                           .columns = n,
                           .offsets = offsets,
                           .offsets_index = echi_index_of(offsets_dtype),
                           .segments = segments,
                           .dtype = dtype };
    ech_status status;
    TRY(check_shape(ctx, op, options, &s));
    TRY(echi_check_count(ctx, "segments", segments, 16));
    TRY(echi_check_index(ctx, "offsets_dtype", offsets_dtype, "n", 0));
    if (segments == 0 && ctx) return ECH_OK;
    struct echi_call call;
    begin(&call, ctx, &s, options);
    const size_t offset_bytes = s.offsets_index.bytes;
    echi_call_add(&call, "offsets", &s.offsets, (segments + 1) * offset_bytes, offset_bytes,
                  ECHI_IN);
    TRY(run(ctx, &s, &call));
done:
    return status;
}

ech_status ech_scan_by_key(ech_ctx *ctx, ech_op op, const void *keys, const void *in, void *out,
                           size_t n, ech_dtype key_dtype, ech_dtype dtype,
                           const ech_scan_options *options)
{
    READ_OPTIONS(ctx, ech_scan_options, options);
    struct echi_scan s = { .shape = ECHI_SCAN_KEYS,
                           .in = in,
                           .out = out,
                           .n = n,
                           .rows = 1,
                           .columns = n,
                           .keys = keys,
                           .key_dtype = key_dtype,
                           .dtype = dtype };
    ech_status status;
    TRY(echi_check_dtype(ctx, "key_dtype", key_dtype));
    TRY(check_shape(ctx, op, options, &s));
    s.key_order = echi_order_ascending(key_dtype, true);
    struct echi_call call;
    begin(&call, ctx, &s, options);
    size_t key_bytes = echi_dtype_bytes(key_dtype);
    echi_call_add(&call, "keys", &s.keys, n * key_bytes, key_bytes, ECHI_IN);
    TRY(run(ctx, &s, &call));
done:
    return status;
}

/* ---- Queries that need no device ---- */

/* A request without pointers. */
static ech_status question(struct echi_scan *s, ech_scan_call call, ech_op op, size_t n,
                           size_t groups, ech_dtype dtype, const ech_scan_options *options)
{
    static const enum echi_scan_shape shapes[] = { ECHI_SCAN_ROWS, ECHI_SCAN_SEGMENTS,
                                                   ECHI_SCAN_KEYS };
    if ((unsigned)call > ECH_SCAN_CALL_BY_KEY)
        return echi_fail(NULL, ECH_ERR_ARG, "call is %d, not an ech_scan_call", (int)call);
    *s = (struct echi_scan){
        .shape = shapes[call], .n = n, .rows = 1, .columns = n, .dtype = dtype, .key_dtype = ECH_U64
    };
    if (call == ECH_SCAN_CALL_SEGMENTS) s->segments = groups;
    if (call == ECH_SCAN_CALL_ROWS) {
        s->rows = groups ? groups : 1;
        s->columns = n / s->rows;
    }
    return check_shape(NULL, op, options, s);
}

ech_status ech_scan_workspace(const char *device, ech_scan_call call, ech_op op, size_t n,
                              size_t groups, ech_dtype dtype, const ech_scan_options *options,
                              size_t *bytes)
{
    READ_OPTIONS(NULL, ech_scan_options, options);
    struct echi_scan s;
    if (bytes) *bytes = 0;
    const ech_status status = question(&s, call, op, n, groups, dtype, options);
    return status == ECH_OK ? echi_call_workspace(device, operation, &s, bytes) : status;
}

ech_status ech_scan_explain(const char *device, ech_scan_call call, ech_op op, size_t n,
                            size_t groups, ech_dtype dtype, const ech_scan_options *options,
                            ech_format format, char *text, size_t capacity_bytes)
{
    READ_OPTIONS(NULL, ech_scan_options, options);
    static const char *const names[] = { "scan_rows", "scan_segments", "scan_by_key" };
    struct echi_scan s;
    const ech_status status = question(&s, call, op, n, groups, dtype, options);
    if (status != ECH_OK) return status;
    return echi_explain(device, names[call], operation, &s, format, text, capacity_bytes);
}
