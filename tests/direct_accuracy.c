/*
 * direct_accuracy.c - compares direct solvers with long double: condition number, least squares,
 * refinement.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "direct_case.h"

#include <math.h>
#include <stdlib.h>

void direct_condition(ech_ctx *ctx, const char *kind, size_t n, ech_factor factor)
{
    if (!test_begin("condition(%s,%s,%zu,%s)", ech_device_name(ctx), kind, n,
                    ech_factor_name(factor)))
        return;
    struct direct_system s = direct_make(kind, n, n, 1, ECH_F64, n);
    const ech_direct_options o = direct_options(factor, NULL, 0);
    long double *a = calloc(3 * n * n, sizeof *a);
    if (!a) abort();
    long double *one = a + n * n, *inverse = one + n * n, norm[2] = { 0, 0 };
    for (size_t i = 0; i < n * n; i++) {
        a[i] = s.a[i];
        one[i] = i / n == i % n;
    }
    CHECK(oracle_solve(a, one, inverse, n, n));
    for (size_t j = 0; j < n; j++) {
        long double sum[2] = { 0, 0 };
        for (size_t i = 0; i < n; i++) {
            sum[0] += fabsl(a[i * n + j]);
            sum[1] += fabsl(inverse[i * n + j]);
        }
        for (int k = 0; k < 2; k++) norm[k] = fmaxl(norm[k], sum[k]);
    }
    const double right = (double)(1 / norm[0] / norm[1]);
    struct direct_answer answer = direct_solve(ctx, &s, true, &o);
    const double rcond = answer.report.rcond;
    CHECK_STATUS(answer.status, ECH_OK);
    if (!(rcond >= (factor == ECH_FACTOR_QR ? 0.1 : 0.999) * right) || !(rcond <= 10 * right))
        test_fail(__FILE__, __LINE__, "rcond is %g; the exact value is %g", rcond, right);
    answer_free(&answer);
    free(a);
    direct_free(&s);
    test_end();
}

/* Solves the normal equations in long double. */
void direct_least_squares(ech_ctx *ctx, size_t m, size_t n, ech_dtype dtype)
{
    if (!test_begin("least_squares(%s,%zux%zu,%s)", ech_device_name(ctx), m, n,
                    ech_dtype_name(dtype)))
        return;
    struct direct_system s = direct_make("random", m, n, 1, dtype, m * n);
    const ech_direct_options o = direct_options(ECH_FACTOR_AUTO, NULL, 0);
    long double *normal = calloc(n * n + 2 * n, sizeof *normal), worst = 0, most = 0;
    if (!normal) abort();
    long double *right = normal + n * n, *x = right + n;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            for (size_t k = 0; k < n; k++)
                normal[j * n + k] += (long double)s.a[i * n + j] * s.a[i * n + k];
            right[j] += (long double)s.a[i * n + j] * s.b[i];
        }
    CHECK(oracle_solve(normal, right, x, n, 1));
    struct direct_answer answer = direct_solve(ctx, &s, true, &o);
    CHECK_STATUS(answer.status, ECH_OK);
    for (size_t j = 0; j < n; j++) {
        worst = fmaxl(worst, fabsl(x[j] - answer.x[j]));
        most = fmaxl(most, fabsl(x[j]));
    }
    if (!(worst <= 1000 * unit_of(dtype) * most))
        test_fail(__FILE__, __LINE__, "the error is %Lg, the largest element is %Lg", worst, most);
    answer_free(&answer);
    free(normal);
    direct_free(&s);
    test_end();
}

/* Iterative refinement raises the accuracy from a few digits to nearly full precision. */
void direct_refinement(ech_ctx *ctx, const char *kind, size_t n, ech_dtype dtype, ech_factor factor,
                       const char *algorithm)
{
    if (!test_begin("refinement(%s,%s,%s,%zu,%s,%s)", ech_device_name(ctx), algorithm, kind, n,
                    ech_dtype_name(dtype), ech_factor_name(factor)))
        return;
    if (!direct_has(ctx, algorithm)) {
        test_skip("%s is not available", algorithm);
        test_end();
        return;
    }
    struct direct_system s = direct_make(kind, n, n, 1, dtype, n);
    long double *a = calloc(n * n + 2 * n, sizeof *a), error[2] = { 0, 0 }, most = 0, own = 0;
    if (!a) abort();
    long double *b = a + n * n, *x = b + n;
    for (size_t i = 0; i < n * n; i++) a[i] = s.a[i];
    for (size_t i = 0; i < n; i++) b[i] = s.b[i];
    CHECK(oracle_solve(a, b, x, n, 1));
    for (int turn = 0; turn < 2; turn++) {
        const ech_direct_options o = direct_options(factor, algorithm, turn ? 0 : -1);
        struct direct_answer answer = direct_solve(ctx, &s, true, &o);
        CHECK_STATUS(answer.status, ECH_OK);
        CHECK_INT(answer.report.status, ECH_DIRECT_STATUS_SOLVED);
        own = 0x1p-58L / answer.report.rcond; /* the error of the oracle itself */
        CHECK(turn ? answer.report.refinements > 0 : answer.report.refinements == 0);
        for (size_t i = 0; i < n; i++) {
            error[turn] = fmaxl(error[turn], fabsl(x[i] - answer.x[i]));
            most = fmaxl(most, fabsl(x[i]));
        }
        answer_free(&answer);
    }
    if (!(error[1] <= (2 * unit_of(dtype) + own) * most) || !(error[0] > 10 * error[1]))
        test_fail(__FILE__, __LINE__, "error %Lg before, %Lg after refinement, largest element %Lg",
                  error[0], error[1], most);
    free(a);
    direct_free(&s);
    test_end();
}
