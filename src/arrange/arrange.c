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

struct echi_call echi_arrange_call(ech_ctx *ctx, struct echi_arrange *a, const char *what,
                                   size_t in_bytes, size_t out_bytes)
{
    struct echi_call call = { .what = what,
                              .operation = ctx ? ctx->backend->operations[ECHI_OP_arrange] : NULL,
                              .request = a };
    size_t align = echi_opaque_align(a->element_bytes);
    if (in_bytes) echi_call_add(&call, "in", &a->in, in_bytes, 0, ECHI_IN)->device_align = align;
    echi_call_add(&call, "out", &a->out, out_bytes, 0, ECHI_OUT)->device_align = align;
    return call;
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
    if (index_dtype != ECH_U32 && index_dtype != ECH_U64)
        FAIL(ctx, ECH_ERR_ARG, "index_dtype is %d: it must be ECH_U32 or ECH_U64",
             (int)index_dtype);
    a->index_bytes = index_dtype == ECH_U32 ? 4 : 8;
    TRY(echi_check_count(ctx, "n", n, (size_t)a->index_bytes));
    a->n = n;
    a->limit = n_other;
    const size_t other_bytes = n ? n_other * bytes : 0;
    struct echi_call call =
        echi_arrange_call(ctx, a, gather ? "a gather" : "a scatter",
                          gather ? other_bytes : n * bytes, gather ? n * bytes : other_bytes);
    if (!gather) call.arrays[call.count - 1].use = ECHI_KEPT;
    echi_call_add(&call, "index", &a->index, n * (size_t)a->index_bytes, (size_t)a->index_bytes,
                  ECHI_IN);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

ech_status ech_gather(ech_ctx *ctx, const void *in, const void *index, ech_dtype index_dtype,
                      void *out, size_t n, size_t n_in, size_t element_bytes)
{
    struct echi_arrange a = {
        .what = ECHI_GATHER, .in = in, .index = index, .out = out, .element_bytes = element_bytes
    };
    return by_index(ctx, &a, index_dtype, n, n_in);
}

ech_status ech_scatter(ech_ctx *ctx, const void *in, const void *index, ech_dtype index_dtype,
                       void *out, size_t n, size_t n_out, size_t element_bytes)
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
    struct echi_call call =
        echi_arrange_call(ctx, &a, "a reverse", n * element_bytes, n * element_bytes);
    call.arrays[call.count - 1].may_be = 1;
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

ech_status ech_rotate(ech_ctx *ctx, const void *in, void *out, size_t n, size_t by,
                      size_t element_bytes)
{
    struct echi_arrange a = { .what = ECHI_ROTATE,
                              .in = in,
                              .out = out,
                              .n = n,
                              .by = n ? by % n : 0,
                              .element_bytes = element_bytes };
    ech_status status;
    TRY(echi_check_elements(ctx, n, element_bytes));
    struct echi_call call =
        echi_arrange_call(ctx, &a, "a rotate", n * element_bytes, n * element_bytes);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

ech_status ech_transpose(ech_ctx *ctx, const void *in, void *out, size_t rows, size_t columns,
                         size_t element_bytes)
{
    struct echi_arrange a = { .what = ECHI_TRANSPOSE,
                              .in = in,
                              .out = out,
                              .rows = rows,
                              .columns = columns,
                              .element_bytes = element_bytes };
    ech_status status;
    if (element_bytes == 0) FAIL(ctx, ECH_ERR_ARG, "element_bytes is 0");
    if (columns && (rows > SIZE_MAX / columns || rows * columns > PTRDIFF_MAX / element_bytes))
        FAIL(ctx, ECH_ERR_ARG,
             "rows is %zu and columns is %zu: rows * columns * %zu bytes overflows size_t", rows,
             columns, element_bytes);
    a.n = rows * columns;
    struct echi_call call =
        echi_arrange_call(ctx, &a, "a transpose", a.n * element_bytes, a.n * element_bytes);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

/* ---- Generated ---- */

ech_status ech_fill(ech_ctx *ctx, void *out, const void *value, size_t n, size_t element_bytes)
{
    struct echi_arrange a = {
        .what = ECHI_FILL, .out = out, .n = n, .value = value, .element_bytes = element_bytes
    };
    ech_status status;
    TRY(echi_check_elements(ctx, n, element_bytes));
    if (n && !value) FAIL(ctx, ECH_ERR_ARG, "value is NULL");
    struct echi_call call = echi_arrange_call(ctx, &a, "a fill", 0, n * element_bytes);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

/* The bits of one element; signed integers are sign-extended. */
static uint64_t bits_of(const void *element, ech_dtype dtype)
{
    const size_t bytes = ech_dtype_bytes(dtype);
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
    a.element_bytes = ech_dtype_bytes(dtype);
    TRY(echi_check_count(ctx, "n", n, a.element_bytes));
    a.start = start ? bits_of(start, dtype) : 0;
    a.step = step ? bits_of(step, dtype) : echi_dtype_one(dtype);
    struct echi_call call = echi_arrange_call(ctx, &a, "an iota", 0, n * a.element_bytes);
    call.arrays[0].align = a.element_bytes;
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}
