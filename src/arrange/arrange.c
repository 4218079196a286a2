/*
 * arrange/arrange.c - ech_gather() and related functions: checks the arguments and calls the
 * backend.
 *
 * ech_permutation(), ech_shuffle() and ech_sample() are in shuffle.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "arrange/arrange.h"

#include <string.h>

/* ---- Shared code ---- */

ech_status echi_check_elements(ech_ctx *ctx, size_t n, size_t bytes)
{
    if (bytes == 0) return echi_fail(ctx, ECH_ERR_ARG, "element_bytes is 0");
    return echi_check_count(ctx, "n", n, bytes);
}

void echi_arrange_call(struct echi_call *call, ech_ctx *ctx, struct echi_arrange *a,
                       const char *what, size_t in_bytes, size_t out_bytes)
{
    const size_t align = echi_opaque_align(a->element_bytes);
    echi_call_begin(call, what, ctx ? ctx->backend->operations[ECHI_OP_arrange] : NULL, a, NULL, 0);
    if (in_bytes) echi_call_add(call, "in", &a->in, in_bytes, 0, ECHI_IN)->device_align = align;
    echi_call_add(call, "out", &a->out, out_bytes, 0, ECHI_OUT)->device_align = align;
}

/* ---- Moved by index ---- */

/* For gather, n_other is the number of elements of in; for scatter, of out. */
static ech_status by_index(ech_ctx *ctx, struct echi_arrange *a, ech_dtype index_dtype, size_t n,
                           size_t n_other)
{
    const bool gather = a->what == ECHI_GATHER;
    const size_t bytes = a->element_bytes;
    ech_status status;
    TRY(echi_check_elements(ctx, n, bytes));
    TRY(echi_check_count(ctx, gather ? "n_in" : "n_out", n_other, bytes));
    TRY(echi_check_index(ctx, "index_dtype", index_dtype, "n", 0));
    a->index_bytes = (int)echi_dtype_bytes(index_dtype);
    TRY(echi_check_count(ctx, "n", n, (size_t)a->index_bytes));
    a->n = n;
    a->limit = n_other;
    if (index_dtype == ECH_I32 && n_other > (size_t)1 << 31) a->limit = (size_t)1 << 31;
    const size_t other_bytes = n ? n_other * bytes : 0;
    struct echi_call call;
    echi_arrange_call(&call, ctx, a, gather ? "a gather" : "a scatter",
                      gather ? other_bytes : n * bytes, gather ? n * bytes : other_bytes);
    if (!gather) echi_call_array(&call, call.count - 1)->use = ECHI_KEPT;
    echi_call_add(&call, "index", &a->index, n * (size_t)a->index_bytes, (size_t)a->index_bytes,
                  ECHI_IN);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

NOINLINE ech_status echi_gather_any(ech_ctx *ctx, const void *in, const void *index, void *out,
                                    size_t n, size_t n_in, ech_dtype index_dtype,
                                    size_t element_bytes)
{
    struct echi_arrange a = {
        .what = ECHI_GATHER, .in = in, .index = index, .out = out, .element_bytes = element_bytes
    };
    return by_index(ctx, &a, index_dtype, n, n_in);
}

ech_status ech_gather(ech_ctx *ctx, const void *in, const void *index, void *out, size_t n,
                      size_t n_in, ech_dtype index_dtype, size_t element_bytes)
{
    if ((unsigned)index_dtype > ECH_U64 || element_bytes > ECHI_GATHER_BYTES)
        return echi_gather_any(ctx, in, index, out, n, n_in, index_dtype, element_bytes);
    return echi_cpu_gathers[index_dtype][element_bytes](ctx, in, index, out, n, n_in, index_dtype,
                                                        element_bytes);
}

ech_status ech_scatter(ech_ctx *ctx, const void *in, const void *index, void *out, size_t n,
                       size_t n_out, ech_dtype index_dtype, size_t element_bytes)
{
    struct echi_arrange a = {
        .what = ECHI_SCATTER, .in = in, .index = index, .out = out, .element_bytes = element_bytes
    };
    return by_index(ctx, &a, index_dtype, n, n_out);
}

/* ---- Moved by a fixed rule ---- */

ech_status ech_reverse(ech_ctx *ctx, const void *in, void *out, size_t n, size_t element_bytes)
{
    struct echi_arrange a = {
        .what = ECHI_REVERSE, .in = in, .out = out, .n = n, .element_bytes = element_bytes
    };
    ech_status status;
    TRY(echi_check_elements(ctx, n, element_bytes));
    struct echi_call call;
    echi_arrange_call(&call, ctx, &a, "a reverse", n * element_bytes, n * element_bytes);
    echi_call_array(&call, call.count - 1)->may_be = 1;
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

ech_status ech_rotate(ech_ctx *ctx, const void *in, void *out, size_t n, size_t element_bytes,
                      size_t by)
{
    struct echi_arrange a = { .what = ECHI_ROTATE,
                              .in = in,
                              .out = out,
                              .n = n,
                              .by = n ? by % n : 0,
                              .element_bytes = element_bytes };
    ech_status status;
    TRY(echi_check_elements(ctx, n, element_bytes));
    struct echi_call call;
    echi_arrange_call(&call, ctx, &a, "a rotate", n * element_bytes, n * element_bytes);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

/* A transpose of few elements; false if it is not one. */
static bool transpose_at_once(const ech_ctx *ctx, struct echi_arrange *a)
{
    enum {
        AT_ONCE = 1024, /* elements; for more, the time of the checks does not matter */
        MOST_BYTES = 16 /* of an element */
    };
    if (a->rows - 1 >= AT_ONCE || a->columns - 1 >= AT_ONCE || a->element_bytes - 1 >= MOST_BYTES)
        return false;
    a->n = a->rows * a->columns;
    const struct echi_span in = { a->in, a->n * a->element_bytes, 1 };
    const struct echi_span out = { a->out, a->n * a->element_bytes, 1 };
    return echi_call_is_simple(ctx, &in, 1, &out, 1) &&
           ctx->backend->operations[ECHI_OP_arrange]->quick(a);
}

ech_status ech_transpose(ech_ctx *ctx, const void *in, void *out, size_t rows, size_t cols,
                         size_t element_bytes)
{
    struct echi_arrange a = { .what = ECHI_TRANSPOSE,
                              .in = in,
                              .out = out,
                              .rows = rows,
                              .columns = cols,
                              .element_bytes = element_bytes };
    ech_status status;
    if (transpose_at_once(ctx, &a)) return ECH_OK;
    if (element_bytes == 0) FAIL(ctx, ECH_ERR_ARG, "element_bytes is 0");
    if (cols && (rows > SIZE_MAX / cols || rows * cols > PTRDIFF_MAX / element_bytes))
        FAIL(ctx, ECH_ERR_ARG,
             "rows is %zu, cols is %zu and element_bytes is %zu: the product overflows size_t",
             rows, cols, element_bytes);
    a.n = rows * cols;
    struct echi_call call;
    echi_arrange_call(&call, ctx, &a, "a transpose", a.n * element_bytes, a.n * element_bytes);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

/* ---- Generated ---- */

ech_status ech_fill(ech_ctx *ctx, void *out, size_t n, size_t element_bytes, const void *value)
{
    struct echi_arrange a = {
        .what = ECHI_FILL, .out = out, .n = n, .value = value, .element_bytes = element_bytes
    };
    ech_status status;
    TRY(echi_check_elements(ctx, n, element_bytes));
    if (n && !value) FAIL(ctx, ECH_ERR_ARG, "value is NULL");
    struct echi_call call;
    echi_arrange_call(&call, ctx, &a, "a fill", 0, n * element_bytes);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

/* The bits of one element; signed integers are sign-extended. */
static uint64_t bits_of(const void *element, ech_dtype dtype)
{
    const size_t bytes = echi_dtype_bytes(dtype);
    uint8_t b[8];
    uint64_t bits = 0;
    memcpy(b, element, bytes);
    switch (bytes) {
    case 1:
        bits = b[0];
        break;
    case 2: {
        uint16_t u;
        memcpy(&u, b, sizeof u);
        bits = u;
        break;
    }
    case 4: {
        uint32_t u;
        memcpy(&u, b, sizeof u);
        bits = u;
        break;
    }
    default:
        memcpy(&bits, b, sizeof bits);
        break;
    }
    uint64_t sign = (uint64_t)1 << (8 * bytes - 1);
    return echi_dtype_is_signed(dtype) ? (bits ^ sign) - sign : bits;
}

ech_status ech_iota(ech_ctx *ctx, void *out, size_t n, ech_dtype dtype, const void *start,
                    const void *step)
{
    struct echi_arrange a = { .what = ECHI_IOTA, .out = out, .n = n, .dtype = dtype };
    ech_status status;
    TRY(echi_check_dtype(ctx, "dtype", dtype));
    a.element_bytes = echi_dtype_bytes(dtype);
    TRY(echi_check_count(ctx, "n", n, a.element_bytes));
    a.start = start ? bits_of(start, dtype) : 0;
    a.step = step ? bits_of(step, dtype) : echi_dtype_one(dtype);
    struct echi_call call;
    echi_arrange_call(&call, ctx, &a, "an iota", 0, n * a.element_bytes);
    echi_call_array(&call, 0)->align = a.element_bytes;
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

/* ---- Indices of another width, for other operations ---- */

ech_status echi_convert_index(ech_ctx *ctx, const void *from, size_t from_bytes, void *to,
                              size_t to_bytes, size_t n)
{
    const struct echi_arrange a = { .what = ECHI_CONVERT_INDEX,
                                    .in = from,
                                    .index_bytes = (int)from_bytes,
                                    .out = to,
                                    .element_bytes = to_bytes,
                                    .n = n };
    return echi_operation_run(ctx, ctx->backend->operations[ECHI_OP_arrange], &a, NULL);
}

/* ---- The explanation ---- */

static const struct echi_operation *find(const struct echi_backend *backend)
{
    return backend->operations[ECHI_OP_arrange];
}

ech_status ech_arrange_explain(const char *device, ech_arrange_call call, size_t n,
                               size_t element_bytes, ech_format format, char *text,
                               size_t capacity_bytes)
{
    static const struct {
        const char *name;
        enum echi_arrange_what what;
    } calls[] = { [ECH_ARRANGE_CALL_GATHER] = { "gather", ECHI_GATHER },
                  [ECH_ARRANGE_CALL_SCATTER] = { "scatter", ECHI_SCATTER },
                  [ECH_ARRANGE_CALL_REVERSE] = { "reverse", ECHI_REVERSE },
                  [ECH_ARRANGE_CALL_ROTATE] = { "rotate", ECHI_ROTATE },
                  [ECH_ARRANGE_CALL_TRANSPOSE] = { "transpose", ECHI_TRANSPOSE },
                  [ECH_ARRANGE_CALL_FILL] = { "fill", ECHI_FILL },
                  [ECH_ARRANGE_CALL_IOTA] = { "iota", ECHI_IOTA },
                  [ECH_ARRANGE_CALL_PERMUTATION] = { "permutation", ECHI_PERMUTATION },
                  [ECH_ARRANGE_CALL_SHUFFLE] = { "shuffle", ECHI_SHUFFLE } };
    static const ech_dtype integers[] = {
        [1] = ECH_U8, [2] = ECH_U16, [4] = ECH_U32, [8] = ECH_U64
    };
    struct echi_arrange a = {
        .n = n, .element_bytes = element_bytes, .index_bytes = 8, .limit = n, .rows = 1
    };
    ech_status status;
    if ((unsigned)call > ECH_ARRANGE_CALL_SHUFFLE)
        FAIL(NULL, ECH_ERR_ARG, "call is %d, not an ech_arrange_call", (int)call);
    TRY(echi_check_elements(NULL, n, element_bytes));
    a.what = calls[call].what;
    if (a.what == ECHI_IOTA || a.what == ECHI_PERMUTATION) {
        if (element_bytes > 8 || (element_bytes & (element_bytes - 1)) != 0)
            FAIL(NULL, ECH_ERR_ARG, "element_bytes is %zu: no dtype has this size", element_bytes);
        a.dtype = integers[element_bytes];
    }
    while (a.what == ECHI_TRANSPOSE && (a.rows + 1) <= n / (a.rows + 1)) a.rows++;
    if (a.what == ECHI_TRANSPOSE && n) a.n = a.rows * (a.columns = a.rows);
    TRY(echi_explain(device, calls[call].name, find, &a, format, text, capacity_bytes));
done:
    return status;
}
