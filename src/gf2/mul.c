/*
 * gf2/mul.c - products of matrices over GF(2): checks the arguments and calls the backend.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2/call.h"

/* If out's use is ECHI_KEPT, adds to it. a, b: the arguments' names. */
static ech_status run(ech_ctx *ctx, struct echi_gf2_mul *mul, const char *a, const char *b,
                      const ech_gf2_options *options)
{
    struct echi_call call = { .what = "a product",
                              .operation = ctx->backend->operations[ECHI_OP_gf2_mul],
                              .request = mul,
                              .work = options->work,
                              .work_bytes = options->work_bytes };
    mul->algorithm = options->algorithm;
    echi_gf2_add(&call, a, &mul->a, ECHI_IN);
    echi_gf2_add(&call, b, &mul->b, ECHI_IN);
    echi_gf2_add(&call, "out", &mul->out, mul->add ? ECHI_KEPT : ECHI_OUT);
    return echi_call_run(ctx, &call);
}

/* Rejects an unknown algorithm. Backends never get empty matrices. */
static ech_status check_algorithm(ech_ctx *ctx, const ech_gf2_options *options)
{
    const ech_gf2 bit = { .size = sizeof bit, .rows = 1, .cols = 1, .stride = 1 };
    struct echi_gf2_mul mul = { .a = bit, .b = bit, .out = bit, .algorithm = options->algorithm };
    const struct echi_call call = { .what = "a product",
                                    .operation = ctx->backend->operations[ECHI_OP_gf2_mul],
                                    .request = &mul };
    return echi_call_check(ctx, &call);
}

static ech_status multiply(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *b, ech_gf2 *out,
                           const ech_gf2_options *options, bool add)
{
    struct echi_gf2_mul mul = { .add = add };
    ech_status status;
    TRY(echi_gf2_backend(ctx, ctx ? ctx->backend->operations[ECHI_OP_gf2_mul] : NULL));
    TRY(echi_gf2_check(ctx, "a", a, &mul.a));
    TRY(echi_gf2_check(ctx, "b", b, &mul.b));
    TRY(echi_gf2_check(ctx, "out", out, &mul.out));
    TRY(echi_gf2_check_shape(ctx, "b", &mul.b, mul.a.cols, mul.b.cols));
    TRY(echi_gf2_check_shape(ctx, "out", &mul.out, mul.a.rows, mul.b.cols));
    if (!mul.out.rows || !mul.out.cols || !mul.a.cols) TRY(check_algorithm(ctx, options));
    if (mul.out.rows == 0 || mul.out.cols == 0) return ECH_OK;
    if (mul.a.cols == 0) return add ? ECH_OK : ech_gf2_zero(ctx, out);
    TRY(run(ctx, &mul, "a", "b", options));
done:
    return status;
}

ech_status ech_gf2_mul(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *b, ech_gf2 *out,
                       const ech_gf2_options *options)
{
    READ_OPTIONS(ctx, ech_gf2_options, options);
    return multiply(ctx, a, b, out, options, false);
}

ech_status ech_gf2_addmul(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *b, ech_gf2 *out,
                          const ech_gf2_options *options)
{
    READ_OPTIONS(ctx, ech_gf2_options, options);
    return multiply(ctx, a, b, out, options, true);
}

ech_status ech_gf2_mul_vec(ech_ctx *ctx, const ech_gf2 *a, const ech_gf2 *x, ech_gf2 *out,
                           const ech_gf2_options *options)
{
    READ_OPTIONS(ctx, ech_gf2_options, options);
    struct echi_gf2_mul mul = { .transposed = true }; /* out = x a^T */
    ech_status status;
    TRY(echi_gf2_backend(ctx, ctx ? ctx->backend->operations[ECHI_OP_gf2_mul] : NULL));
    TRY(echi_gf2_check(ctx, "a", a, &mul.b));
    TRY(echi_gf2_check(ctx, "x", x, &mul.a));
    TRY(echi_gf2_check(ctx, "out", out, &mul.out));
    TRY(echi_gf2_check_shape(ctx, "x", &mul.a, mul.a.rows, mul.b.cols));
    TRY(echi_gf2_check_shape(ctx, "out", &mul.out, mul.a.rows, mul.b.rows));
    if (!mul.out.rows || !mul.out.cols || !mul.a.cols) TRY(check_algorithm(ctx, options));
    if (mul.out.rows == 0 || mul.out.cols == 0) return ECH_OK;
    if (mul.a.cols == 0) return ech_gf2_zero(ctx, out);
    TRY(run(ctx, &mul, "x", "a", options));
done:
    return status;
}
