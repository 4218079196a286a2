/*
 * select/select.c - ech_select_flags() and related functions: checks the arguments, lists the
 * arrays, calls the backend.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "select/select.h"
#include "core/call.h"
#include "cpu/cpu.h"
#include "select/at_once.h"

#include <string.h>

/* The differences between calls, except their arrays. */
struct call {
    struct echi_select s;
    struct echi_call call;
};

static const struct echi_operation *find(const struct echi_backend *backend)
{
    return backend->operations[ECHI_OP_select];
}

/* ---- Checks ---- */

enum takes { NOTHING = 0, INVERT = 1, POSITIONS = 2 };

static ech_status check_options(ech_ctx *ctx, const ech_select_options *o, size_t n, int takes)
{
    if (o->invert && !(takes & INVERT))
        return echi_fail(ctx, ECH_ERR_ARG,
                         "options->invert is set, but this function drops no elements");
    if (!o->positions) return ECH_OK;
    if (!(takes & POSITIONS))
        return echi_fail(ctx, ECH_ERR_ARG,
                         "options->positions is set: only ech_select_flags() and ech_select_if() "
                         "support it");
    return echi_check_index(ctx, "options->positions", o->positions, "n", n);
}

/* Begins a call on n elements of element_bytes. */
static ech_status begin(ech_ctx *ctx, struct call *c, enum echi_select_what what,
                        enum echi_select_by by, size_t n, size_t element_bytes,
                        const ech_select_options *o, int takes)
{
    ech_status status;
    c->s = (struct echi_select){ .what = what, .by = by, .n = n, .element_bytes = element_bytes };
    echi_call_begin(&c->call, "a selection", NULL, &c->s, o->work, o->work_bytes);
    TRY(check_options(ctx, o, n, takes));
    if (element_bytes == 0) FAIL(ctx, ECH_ERR_ARG, "element_bytes is 0");
    TRY(echi_check_count(ctx, "n", n, element_bytes > 8 ? element_bytes : 8));
    c->s.invert = o->invert != 0;
    c->s.narrow = o->positions && echi_dtype_bytes(o->positions) == 4;
done:
    return status;
}

/* The same for elements of a dtype, with a test or with the equality of keys. */
static ech_status begin_typed(ech_ctx *ctx, struct call *c, enum echi_select_what what,
                              enum echi_select_by by, size_t n, ech_dtype dtype,
                              const ech_select_options *o, int takes)
{
    ech_status status = echi_check_dtype(ctx, "dtype", dtype);
    if (status != ECH_OK) return status;
    status = begin(ctx, c, what, by, n, echi_dtype_bytes(dtype), o, takes);
    if (by == ECHI_BY_STARTS) c->s.test[0].order = echi_order_ascending(dtype, true);
    return status;
}

static struct echi_array *add(struct call *c, const char *name, void *pointer, size_t bytes,
                              size_t align, enum echi_use use)
{
    return echi_call_add(&c->call, name, pointer, bytes, align, use);
}

/* Opaque elements, which must be aligned only on the GPU. */
static struct echi_array *add_opaque(struct call *c, const char *name, void *pointer, size_t n,
                                     size_t bytes, enum echi_use use)
{
    struct echi_array *a = add(c, name, pointer, n * bytes, 1, use);
    a->device_align = echi_opaque_align(bytes);
    return a;
}

static void add_typed(struct call *c, const char *name, void *pointer, enum echi_use use)
{
    add(c, name, pointer, c->s.n * c->s.element_bytes, c->s.element_bytes, use);
}

/* count must be the first array, so that others can be counted by it. */
static void add_count(struct call *c, const char *name, uint64_t *const *count, size_t counts)
{
    c->s.count = *count;
    add(c, name, &c->s.count, counts * sizeof(uint64_t), sizeof(uint64_t), ECHI_OUT);
}

/* Only the first *count elements of the array added last are written. */
static void counted(struct call *c, size_t element_bytes)
{
    struct echi_array *a = echi_call_array(&c->call, c->call.count - 1);
    a->counted_by = 1;
    a->element_bytes = element_bytes;
}

/* Positions instead of elements. */
static void add_positions(struct call *c, void *out)
{
    const size_t bytes = c->s.narrow ? 4 : 8;
    c->s.starts = out;
    add(c, "out", &c->s.starts, c->s.n * bytes, bytes, ECHI_OUT);
    counted(c, bytes);
}

static ech_status run(ech_ctx *ctx, struct call *c)
{
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    c->call.operation = find(ctx->backend);
    return echi_call_run(ctx, &c->call);
}

/* ---- Short calls ---- */

/* The functions for short calls on elements of this size. */
INLINED const struct echi_select_calls *calls_of(size_t element_bytes)
{
    return echi_select_calls[echi_cpu_level()][element_bytes];
}

/* ---- By flags ---- */

static ech_status by_flags(ech_ctx *ctx, enum echi_select_what what, const void *in,
                           const uint8_t *flags, void *out, uint64_t *count, size_t n,
                           size_t element_bytes, const ech_select_options *o)
{
    struct call c;
    const bool packed = o->packed;
    ech_status status;
    TRY(begin(ctx, &c, what, packed ? ECHI_BY_BITS : ECHI_BY_BYTES, n, element_bytes, o,
              what == ECHI_KEEP ? INVERT | POSITIONS : INVERT));
    add_count(&c, "count", &count, 1);
    c.s.flags = flags;
    add(&c, "flags", &c.s.flags, packed ? n / 8 + (n % 8 != 0) : n, 1, ECHI_IN);
    if (o->positions) {
        add_positions(&c, out);
        return run(ctx, &c);
    }
    c.s.in = in;
    c.s.out = out;
    add_opaque(&c, "in", &c.s.in, n, element_bytes, ECHI_IN);
    add_opaque(&c, "out", &c.s.out, n, element_bytes, ECHI_OUT);
    if (what == ECHI_KEEP) counted(&c, element_bytes);
    status = run(ctx, &c);
done:
    return status;
}

NOINLINE static ech_status select_flags_complete(ech_ctx *ctx, const void *in, const uint8_t *flags,
                                                 void *out, uint64_t *count, size_t n,
                                                 size_t element_bytes,
                                                 const ech_select_options *options)
{
    READ_OPTIONS(ctx, ech_select_options, options);
    return by_flags(ctx, ECHI_KEEP, in, flags, out, count, n, element_bytes, options);
}

NOINLINE ech_status echi_select_flags_any(ech_ctx *ctx, const void *in, const uint8_t *flags,
                                          void *out, uint64_t *count, size_t n,
                                          size_t element_bytes, const ech_select_options *options)
{
    if (!options && flags_at_once(ctx, ECHI_KEEP, in, flags, out, count, n, element_bytes))
        return ECH_OK;
    return select_flags_complete(ctx, in, flags, out, count, n, element_bytes, options);
}

ech_status ech_select_flags(ech_ctx *ctx, const void *in, const uint8_t *flags, void *out,
                            uint64_t *count, size_t n, size_t element_bytes,
                            const ech_select_options *options)
{
    if (options || n > ECHI_SELECT_FEW || element_bytes > ECHI_SELECT_BYTES)
        return echi_select_flags_any(ctx, in, flags, out, count, n, element_bytes, options);
    return calls_of(element_bytes)
        ->select_flags(ctx, in, flags, out, count, n, element_bytes, options);
}

NOINLINE static ech_status partition_flags_complete(ech_ctx *ctx, const void *in,
                                                    const uint8_t *flags, void *out,
                                                    uint64_t *count, size_t n, size_t element_bytes,
                                                    const ech_select_options *options)
{
    READ_OPTIONS(ctx, ech_select_options, options);
    return by_flags(ctx, ECHI_PARTITION, in, flags, out, count, n, element_bytes, options);
}

NOINLINE ech_status echi_partition_flags_any(ech_ctx *ctx, const void *in, const uint8_t *flags,
                                             void *out, uint64_t *count, size_t n,
                                             size_t element_bytes,
                                             const ech_select_options *options)
{
    if (!options && flags_at_once(ctx, ECHI_PARTITION, in, flags, out, count, n, element_bytes))
        return ECH_OK;
    return partition_flags_complete(ctx, in, flags, out, count, n, element_bytes, options);
}

ech_status ech_partition_flags(ech_ctx *ctx, const void *in, const uint8_t *flags, void *out,
                               uint64_t *count, size_t n, size_t element_bytes,
                               const ech_select_options *options)
{
    if (options || n > ECHI_SELECT_FEW || element_bytes > ECHI_SELECT_BYTES)
        return echi_partition_flags_any(ctx, in, flags, out, count, n, element_bytes, options);
    return calls_of(element_bytes)
        ->partition_flags(ctx, in, flags, out, count, n, element_bytes, options);
}

/* ---- By a test ---- */

static ech_status by_test(ech_ctx *ctx, enum echi_select_what what, const void *in, void *out,
                          uint64_t *count, size_t n, ech_dtype dtype, ech_compare compare,
                          const void *value, const ech_select_options *o)
{
    struct call c;
    ech_status status;
    TRY(begin_typed(ctx, &c, what, ECHI_BY_TEST, n, dtype, o,
                    what == ECHI_KEEP ? INVERT | POSITIONS : INVERT));
    TRY(echi_predicate_make(ctx, dtype, compare, value, &c.s.test[0]));
    add_count(&c, "count", &count, 1);
    c.s.in = in;
    add_typed(&c, "in", &c.s.in, ECHI_IN);
    if (o->positions) {
        add_positions(&c, out);
        return run(ctx, &c);
    }
    c.s.out = out;
    add_typed(&c, "out", &c.s.out, ECHI_OUT);
    if (what == ECHI_KEEP) counted(&c, c.s.element_bytes);
    status = run(ctx, &c);
done:
    return status;
}

NOINLINE static ech_status select_if_complete(ech_ctx *ctx, ech_compare compare, const void *in,
                                              void *out, uint64_t *count, size_t n, ech_dtype dtype,
                                              const void *value, const ech_select_options *options)
{
    READ_OPTIONS(ctx, ech_select_options, options);
    return by_test(ctx, ECHI_KEEP, in, out, count, n, dtype, compare, value, options);
}

NOINLINE ech_status echi_select_if_any(ech_ctx *ctx, ech_compare compare, const void *in, void *out,
                                       uint64_t *count, size_t n, ech_dtype dtype,
                                       const void *value, const ech_select_options *options)
{
    if (!options && test_at_once(ctx, ECHI_KEEP, in, out, count, n, dtype, compare, value))
        return ECH_OK;
    return select_if_complete(ctx, compare, in, out, count, n, dtype, value, options);
}

ech_status ech_select_if(ech_ctx *ctx, ech_compare compare, const void *in, void *out,
                         uint64_t *count, size_t n, ech_dtype dtype, const void *value,
                         const ech_select_options *options)
{
    if (options || n > ECHI_SELECT_FEW || !echi_dtype_known(dtype))
        return echi_select_if_any(ctx, compare, in, out, count, n, dtype, value, options);
    return calls_of(echi_dtype_bytes(dtype))
        ->select_if(ctx, compare, in, out, count, n, dtype, value, options);
}

NOINLINE static ech_status checked_partition_if(ech_ctx *ctx, ech_compare compare, const void *in,
                                                void *out, uint64_t *count, size_t n,
                                                ech_dtype dtype, const void *value,
                                                const ech_select_options *options)
{
    READ_OPTIONS(ctx, ech_select_options, options);
    return by_test(ctx, ECHI_PARTITION, in, out, count, n, dtype, compare, value, options);
}

ech_status ech_partition_if(ech_ctx *ctx, ech_compare compare, const void *in, void *out,
                            uint64_t *count, size_t n, ech_dtype dtype, const void *value,
                            const ech_select_options *options)
{
    if (!options && test_at_once(ctx, ECHI_PARTITION, in, out, count, n, dtype, compare, value))
        return ECH_OK;
    return checked_partition_if(ctx, compare, in, out, count, n, dtype, value, options);
}

/* low <= high, with the comparison of C. */
static bool in_order(ech_dtype dtype, const void *low, const void *high)
{
    int bytes = (int)echi_dtype_bytes(dtype);
    struct echi_order order = echi_order_ascending(dtype, true);
    uint64_t u[2] = { 0, 0 };
    memcpy(&u[0], low, (size_t)bytes); /* little-endian */
    memcpy(&u[1], high, (size_t)bytes);
    uint64_t first = echi_order_encode(&order, bytes, u[0]);
    uint64_t last = echi_order_encode(&order, bytes, u[1]);
    return first <= last && !(echi_dtype_is_float(dtype) && last == order.last);
}

ech_status ech_partition_3way(ech_ctx *ctx, const void *in, void *out, uint64_t *counts, size_t n,
                              ech_dtype dtype, const void *low, const void *high,
                              const ech_select_options *options)
{
    READ_OPTIONS(ctx, ech_select_options, options);
    struct call c;
    ech_status status;
    TRY(begin_typed(ctx, &c, ECHI_DIVIDE, ECHI_BY_TEST, n, dtype, options, NOTHING));
    if (!low) FAIL(ctx, ECH_ERR_ARG, "low is NULL");
    if (!high) FAIL(ctx, ECH_ERR_ARG, "high is NULL");
    if (!in_order(dtype, low, high))
        FAIL(ctx, ECH_ERR_ARG, "low is greater than high, or one of them is NaN");
    TRY(echi_predicate_make(ctx, dtype, ECH_COMPARE_LESS, low, &c.s.test[0]));
    TRY(echi_predicate_make(ctx, dtype, ECH_COMPARE_LESS_EQUAL, high, &c.s.test[1]));
    c.s.in = in;
    c.s.out = out;
    add_count(&c, "counts", &counts, 2);
    add_typed(&c, "in", &c.s.in, ECHI_IN);
    add_typed(&c, "out", &c.s.out, ECHI_OUT);
    status = run(ctx, &c);
done:
    return status;
}

/* ---- Runs ---- */

NOINLINE static ech_status unique_complete(ech_ctx *ctx, const void *in, void *out, uint64_t *count,
                                           size_t n, ech_dtype dtype,
                                           const ech_select_options *options)
{
    READ_OPTIONS(ctx, ech_select_options, options);
    struct call c;
    ech_status status;
    TRY(begin_typed(ctx, &c, ECHI_KEEP, ECHI_BY_STARTS, n, dtype, options, INVERT));
    c.s.in = in;
    c.s.out = out;
    add_count(&c, "count", &count, 1);
    add_typed(&c, "in", &c.s.in, ECHI_IN);
    add_typed(&c, "out", &c.s.out, ECHI_OUT);
    counted(&c, c.s.element_bytes);
    status = run(ctx, &c);
done:
    return status;
}

NOINLINE ech_status echi_unique_any(ech_ctx *ctx, const void *in, void *out, uint64_t *count,
                                    size_t n, ech_dtype dtype, const ech_select_options *options)
{
    if (!options && runs_at_once(ctx, in, out, NULL, count, n, dtype)) return ECH_OK;
    return unique_complete(ctx, in, out, count, n, dtype, options);
}

ech_status ech_unique(ech_ctx *ctx, const void *in, void *out, uint64_t *count, size_t n,
                      ech_dtype dtype, const ech_select_options *options)
{
    if (options || n > ECHI_SELECT_FEW || !echi_dtype_known(dtype))
        return echi_unique_any(ctx, in, out, count, n, dtype, options);
    return calls_of(echi_dtype_bytes(dtype))->unique(ctx, in, out, count, n, dtype, options);
}

ech_status ech_unique_by_key(ech_ctx *ctx, const void *keys, const void *values, void *keys_out,
                             void *values_out, uint64_t *count, size_t n, ech_dtype dtype,
                             size_t value_bytes, const ech_select_options *options)
{
    READ_OPTIONS(ctx, ech_select_options, options);
    struct call c;
    ech_status status;
    TRY(begin_typed(ctx, &c, ECHI_KEEP, ECHI_BY_STARTS, n, dtype, options, INVERT));
    if (value_bytes == 0) FAIL(ctx, ECH_ERR_ARG, "value_bytes is 0");
    TRY(echi_check_count(ctx, "n", n, value_bytes));
    c.s.in = keys;
    c.s.out = keys_out;
    c.s.values = values;
    c.s.values_out = values_out;
    c.s.value_bytes = value_bytes;
    add_count(&c, "count", &count, 1);
    add_typed(&c, "keys", &c.s.in, ECHI_IN);
    add_opaque(&c, "values", &c.s.values, n, value_bytes, ECHI_IN);
    add_typed(&c, "keys_out", &c.s.out, ECHI_OUT);
    counted(&c, c.s.element_bytes);
    add_opaque(&c, "values_out", &c.s.values_out, n, value_bytes, ECHI_OUT);
    counted(&c, value_bytes);
    status = run(ctx, &c);
done:
    return status;
}

NOINLINE static ech_status rle_encode_complete(ech_ctx *ctx, const void *in, void *out,
                                               uint64_t *lengths, uint64_t *count, size_t n,
                                               ech_dtype dtype, const ech_select_options *options)
{
    READ_OPTIONS(ctx, ech_select_options, options);
    struct call c;
    ech_status status;
    TRY(begin_typed(ctx, &c, ECHI_KEEP, ECHI_BY_STARTS, n, dtype, options, NOTHING));
    c.s.in = in;
    c.s.out = out;
    c.s.lengths = lengths;
    add_count(&c, "count", &count, 1);
    add_typed(&c, "in", &c.s.in, ECHI_IN);
    add_typed(&c, "out", &c.s.out, ECHI_OUT);
    counted(&c, c.s.element_bytes);
    add(&c, "lengths", &c.s.lengths, n * sizeof *lengths, sizeof *lengths, ECHI_OUT);
    counted(&c, sizeof *lengths);
    status = run(ctx, &c);
done:
    return status;
}

NOINLINE ech_status echi_rle_encode_any(ech_ctx *ctx, const void *in, void *out, uint64_t *lengths,
                                        uint64_t *count, size_t n, ech_dtype dtype,
                                        const ech_select_options *options)
{
    if (!options && lengths && runs_at_once(ctx, in, out, lengths, count, n, dtype)) return ECH_OK;
    return rle_encode_complete(ctx, in, out, lengths, count, n, dtype, options);
}

ech_status ech_rle_encode(ech_ctx *ctx, const void *in, void *out, uint64_t *lengths,
                          uint64_t *count, size_t n, ech_dtype dtype,
                          const ech_select_options *options)
{
    if (options || n > ECHI_SELECT_FEW || !echi_dtype_known(dtype))
        return echi_rle_encode_any(ctx, in, out, lengths, count, n, dtype, options);
    return calls_of(echi_dtype_bytes(dtype))
        ->rle_encode(ctx, in, out, lengths, count, n, dtype, options);
}

NOINLINE static ech_status rle_decode_complete(ech_ctx *ctx, const void *in,
                                               const uint64_t *lengths, void *out, size_t runs,
                                               size_t n, size_t element_bytes,
                                               const ech_select_options *options)
{
    READ_OPTIONS(ctx, ech_select_options, options);
    struct call c;
    ech_status status;
    TRY(begin(ctx, &c, ECHI_DECODE, ECHI_BY_BYTES, runs, element_bytes, options, NOTHING));
    TRY(echi_check_count(ctx, "n", n, element_bytes));
    c.s.in = in;
    c.s.lengths_in = lengths;
    c.s.out = out;
    c.s.out_n = n;
    add_opaque(&c, "in", &c.s.in, runs, element_bytes, ECHI_IN);
    add(&c, "lengths", &c.s.lengths_in, runs * sizeof *lengths, sizeof *lengths, ECHI_IN);
    add_opaque(&c, "out", &c.s.out, n, element_bytes, ECHI_KEPT);
    status = run(ctx, &c);
done:
    return status;
}

NOINLINE ech_status echi_rle_decode_any(ech_ctx *ctx, const void *in, const uint64_t *lengths,
                                        void *out, size_t runs, size_t n, size_t element_bytes,
                                        const ech_select_options *options)
{
    if (!options && decode_at_once(ctx, in, lengths, out, runs, n, element_bytes)) return ECH_OK;
    return rle_decode_complete(ctx, in, lengths, out, runs, n, element_bytes, options);
}

ech_status ech_rle_decode(ech_ctx *ctx, const void *in, const uint64_t *lengths, void *out,
                          size_t runs, size_t n, size_t element_bytes,
                          const ech_select_options *options)
{
    if (options || runs > AT_ONCE || element_bytes > ECHI_SELECT_BYTES)
        return echi_rle_decode_any(ctx, in, lengths, out, runs, n, element_bytes, options);
    return calls_of(element_bytes)
        ->rle_decode(ctx, in, lengths, out, runs, n, element_bytes, options);
}

/* ---- Queries that need no device ---- */

/* What each call does. */
static const struct {
    const char *name;
    enum echi_select_what what;
    enum echi_select_by by;
    int takes;
} calls[] = {
    [ECH_SELECT_CALL_FLAGS] = { "select_flags", ECHI_KEEP, ECHI_BY_BYTES, INVERT | POSITIONS },
    [ECH_SELECT_CALL_IF] = { "select_if", ECHI_KEEP, ECHI_BY_TEST, INVERT | POSITIONS },
    [ECH_SELECT_CALL_PARTITION_FLAGS] = { "partition_flags", ECHI_PARTITION, ECHI_BY_BYTES,
                                          INVERT },
    [ECH_SELECT_CALL_PARTITION_IF] = { "partition_if", ECHI_PARTITION, ECHI_BY_TEST, INVERT },
    [ECH_SELECT_CALL_PARTITION_3WAY] = { "partition_3way", ECHI_DIVIDE, ECHI_BY_TEST, NOTHING },
    [ECH_SELECT_CALL_UNIQUE] = { "unique", ECHI_KEEP, ECHI_BY_STARTS, INVERT },
    [ECH_SELECT_CALL_UNIQUE_BY_KEY] = { "unique_by_key", ECHI_KEEP, ECHI_BY_STARTS, INVERT },
    [ECH_SELECT_CALL_RLE_ENCODE] = { "rle_encode", ECHI_KEEP, ECHI_BY_STARTS, NOTHING },
    [ECH_SELECT_CALL_RLE_DECODE] = { "rle_decode", ECHI_DECODE, ECHI_BY_BYTES, NOTHING },
};

static ech_status question(struct call *c, ech_select_call call, size_t n, size_t element_bytes,
                           size_t value_bytes, const ech_select_options *o)
{
    static uint64_t there; /* stands for an array that the call would have */
    ech_status status;
    if ((unsigned)call > ECH_SELECT_CALL_RLE_DECODE)
        FAIL(NULL, ECH_ERR_ARG, "call is %d, not an ech_select_call", (int)call);
    TRY(begin(NULL, c, calls[call].what, calls[call].by, n, element_bytes, o, calls[call].takes));
    const bool typed = c->s.by == ECHI_BY_TEST || c->s.by == ECHI_BY_STARTS;
    if (typed && element_bytes != 1 && element_bytes != 2 && element_bytes != 4 &&
        element_bytes != 8)
        FAIL(NULL, ECH_ERR_ARG, "element_bytes is %zu: no dtype has this size", element_bytes);
    if (o->packed && c->s.by == ECHI_BY_BYTES) c->s.by = ECHI_BY_BITS;
    if (o->positions)
        c->s.starts = &there;
    else
        c->s.out = &there;
    if (call == ECH_SELECT_CALL_RLE_ENCODE) c->s.lengths = &there;
    if (call == ECH_SELECT_CALL_RLE_DECODE) c->s.out_n = n;
    if (call == ECH_SELECT_CALL_UNIQUE_BY_KEY) {
        if (value_bytes == 0) FAIL(NULL, ECH_ERR_ARG, "value_bytes is 0");
        c->s.values = c->s.values_out = &there;
        c->s.value_bytes = value_bytes;
    }
done:
    return status;
}

ech_status ech_select_workspace(const char *device, ech_select_call call, size_t n,
                                size_t element_bytes, size_t value_bytes,
                                const ech_select_options *options, size_t *bytes)
{
    READ_OPTIONS(NULL, ech_select_options, options);
    struct call c;
    if (bytes) *bytes = 0;
    const ech_status status = question(&c, call, n, element_bytes, value_bytes, options);
    return status == ECH_OK ? echi_call_workspace(device, find, &c.s, bytes) : status;
}

ech_status ech_select_explain(const char *device, ech_select_call call, size_t n,
                              size_t element_bytes, size_t value_bytes,
                              const ech_select_options *options, ech_format format, char *text,
                              size_t capacity_bytes)
{
    READ_OPTIONS(NULL, ech_select_options, options);
    struct call c;
    const ech_status status = question(&c, call, n, element_bytes, value_bytes, options);
    if (status != ECH_OK) return status;
    return echi_explain(device, calls[call].name, find, &c.s, format, text, capacity_bytes);
}
