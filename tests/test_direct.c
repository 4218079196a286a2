/*
 * test_direct.c - direct solvers of dense systems: residuals and condition numbers in long double,
 * singular systems, and bit-identical results with any number of threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "direct_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONTEXTS = 8 };
static ech_ctx *contexts[CONTEXTS], *one_thread;
static int context_count;

static const char *algorithms[] = { "blocked", NULL /* NULL: the vendor's library if available */ };

/* With --every N, only one of N cases is run. */
static bool is_drawn(void)
{
    static unsigned number;
    return test_drawn(number++, true);
}

/* ---- Solvable systems ---- */

static const struct {
    const char *kind;
    size_t m, n, count;
    ech_factor factor, used;
    bool long_case;
} cases[] = {
    { "random", 1, 1, 1, ECH_FACTOR_AUTO, ECH_FACTOR_AUTO, false },
    { "random", 2, 2, 1, ECH_FACTOR_LU, ECH_FACTOR_LU, false },
    { "random", 2, 2, 3, ECH_FACTOR_AUTO, ECH_FACTOR_LU, false },
    { "random", 5, 5, 2, ECH_FACTOR_QR, ECH_FACTOR_QR, false },
    { "random", 31, 31, 1, ECH_FACTOR_LU, ECH_FACTOR_LU, false },
    { "random", 32, 32, 2, ECH_FACTOR_LU, ECH_FACTOR_LU, false },
    { "random", 33, 33, 33, ECH_FACTOR_AUTO, ECH_FACTOR_LU, false },
    { "random", 64, 64, 1, ECH_FACTOR_QR, ECH_FACTOR_QR, false },
    { "random", 65, 65, 5, ECH_FACTOR_LU, ECH_FACTOR_LU, false },
    { "random", 127, 127, 1, ECH_FACTOR_LU, ECH_FACTOR_LU, true },
    { "random", 128, 128, 2, ECH_FACTOR_AUTO, ECH_FACTOR_LU, true },
    { "random", 129, 129, 70, ECH_FACTOR_LU, ECH_FACTOR_LU, true },
    { "random", 300, 300, 3, ECH_FACTOR_LU, ECH_FACTOR_LU, true },
    { "random", 300, 300, 1, ECH_FACTOR_QR, ECH_FACTOR_QR, true },
    { "random", 1100, 1100, 2, ECH_FACTOR_LU, ECH_FACTOR_LU, true },
    { "random", 3, 1, 1, ECH_FACTOR_AUTO, ECH_FACTOR_QR, false },
    { "random", 40, 31, 1, ECH_FACTOR_AUTO, ECH_FACTOR_QR, false },
    { "random", 63, 33, 4, ECH_FACTOR_QR, ECH_FACTOR_QR, false },
    { "random", 200, 65, 2, ECH_FACTOR_QR, ECH_FACTOR_QR, true },
    { "random", 2100, 3, 1, ECH_FACTOR_QR, ECH_FACTOR_QR, false },
    { "random", 9000, 40, 1, ECH_FACTOR_QR, ECH_FACTOR_QR, true },
    { "random", 1000, 100, 1, ECH_FACTOR_AUTO, ECH_FACTOR_QR, true },
    { "spd", 2, 2, 1, ECH_FACTOR_AUTO, ECH_FACTOR_CHOLESKY, false },
    { "spd", 31, 31, 1, ECH_FACTOR_CHOLESKY, ECH_FACTOR_CHOLESKY, false },
    { "spd", 33, 33, 2, ECH_FACTOR_AUTO, ECH_FACTOR_CHOLESKY, false },
    { "spd", 63, 63, 1, ECH_FACTOR_LU, ECH_FACTOR_LU, false },
    { "spd", 65, 65, 65, ECH_FACTOR_CHOLESKY, ECH_FACTOR_CHOLESKY, false },
    { "spd", 129, 129, 1, ECH_FACTOR_CHOLESKY, ECH_FACTOR_CHOLESKY, true },
    { "spd", 300, 300, 3, ECH_FACTOR_AUTO, ECH_FACTOR_CHOLESKY, true },
    { "spd", 600, 600, 1, ECH_FACTOR_AUTO, ECH_FACTOR_CHOLESKY, true },
    { "kms", 100, 100, 1, ECH_FACTOR_AUTO, ECH_FACTOR_CHOLESKY, false },
    { "hilbert", 5, 5, 1, ECH_FACTOR_AUTO, ECH_FACTOR_CHOLESKY, false },
    { "hilbert", 5, 5, 1, ECH_FACTOR_LU, ECH_FACTOR_LU, false },
    { "identity", 64, 64, 2, ECH_FACTOR_AUTO, ECH_FACTOR_CHOLESKY, false },
    { "cycle", 65, 65, 1, ECH_FACTOR_AUTO, ECH_FACTOR_LU, false },
    { "cycle", 40, 40, 2, ECH_FACTOR_QR, ECH_FACTOR_QR, false },
    { "signs", 2, 2, 1, ECH_FACTOR_AUTO, ECH_FACTOR_LU, false },
    { "signs", 70, 70, 1, ECH_FACTOR_AUTO, ECH_FACTOR_LU, false },
};
enum { CASES = sizeof cases / sizeof *cases };

static void check_solution(const struct direct_system *s, const struct direct_answer *answer,
                           int which, int refine)
{
    const ech_direct_report *r = &answer->report;
    const double unit = unit_of(s->dtype), error = oracle_error(s, answer->x);
    const double most = refine < 0 ? 60 * (double)s->m * unit : 6 * unit;
    CHECK_INT(r->status, ECH_DIRECT_STATUS_SOLVED);
    if (cases[which].used) CHECK_INT(r->kind, cases[which].used);
    if (!(error <= most) || !(fabs(r->backward_error - error) <= 0.1 * error + most))
        test_fail(__FILE__, __LINE__, "error %g, reported %g, allowed %g; %d refinements", error,
                  r->backward_error, most, r->refinements);
    CHECK(r->rcond > 0 && r->rcond < 1.001);
    CHECK(refine > -1 ? r->refinements <= 10 : r->refinements == 0);
    CHECK(s->m == s->n ? (r->sign == 1 || r->sign == -1) && isfinite(r->log_abs)
                       : r->sign == 0 && isnan(r->log_abs));
}

static void run_case(ech_ctx *ctx, int which, ech_dtype dtype, const char *algorithm, int refine)
{
    const size_t m = cases[which].m, n = cases[which].n, count = cases[which].count;
    if (!test_begin("direct(%s,%s,%s,%zux%zu,%zu,%s,%s,%d)", ech_device_name(ctx), algorithm,
                    cases[which].kind, m, n, count, ech_factor_name(cases[which].factor),
                    ech_dtype_name(dtype), refine))
        return;
    if (!direct_has(ctx, algorithm)) {
        test_skip("%s is not available", algorithm);
        test_end();
        return;
    }
    struct direct_system s = direct_make(cases[which].kind, m, n, count, dtype, m + n);
    const ech_direct_options o = direct_options(cases[which].factor, algorithm, refine);
    const bool blocked = strcmp(algorithm, "blocked") == 0;
    struct direct_answer first = direct_solve(blocked ? one_thread : ctx, &s, true, &o);
    if (CHECK_STATUS(first.status, ECH_OK)) check_solution(&s, &first, which, refine);
    for (int turn = 0; turn < 3 && blocked && !test_failed(); turn++) {
        static const int threads[] = { 2, 7, 0 };
        if (test_is_cpu(ctx)) ech_set_threads(ctx, threads[turn]);
        struct direct_answer again = direct_solve(ctx, &s, turn % 2, &o);
        if (CHECK_STATUS(again.status, ECH_OK)) answers_same(&s, &first, &again, "again");
        answer_free(&again);
        if (!test_is_cpu(ctx) && turn == 1) break;
    }
    answer_free(&first);
    direct_free(&s);
    test_end();
}

/* ---- Unsolvable systems ---- */

static const struct {
    const char *kind;
    size_t m, n;
    ech_factor factor;
    ech_direct_status end;
    size_t where;
} failures[] = {
    { "zero", 7, 7, ECH_FACTOR_LU, ECH_DIRECT_STATUS_SINGULAR, 3 },
    { "zero", 100, 100, ECH_FACTOR_AUTO, ECH_DIRECT_STATUS_SINGULAR, 50 },
    { "zero", 66, 66, ECH_FACTOR_QR, ECH_DIRECT_STATUS_SINGULAR, 33 },
    { "zero", 90, 20, ECH_FACTOR_AUTO, ECH_DIRECT_STATUS_SINGULAR, 10 },
    { "ones", 40, 40, ECH_FACTOR_LU, ECH_DIRECT_STATUS_SINGULAR, 1 },
    { "ones", 40, 40, ECH_FACTOR_AUTO, ECH_DIRECT_STATUS_SINGULAR, 1 },
    { "ones", 40, 40, ECH_FACTOR_CHOLESKY, ECH_DIRECT_STATUS_INDEFINITE, 1 },
    { "ones", 40, 30, ECH_FACTOR_QR, ECH_DIRECT_STATUS_SINGULAR, 1 },
    { "dependent", 80, 40, ECH_FACTOR_QR, ECH_DIRECT_STATUS_SINGULAR, 39 },
    { "dependent", 33, 33, ECH_FACTOR_QR, ECH_DIRECT_STATUS_SINGULAR, 32 },
    { "signs", 70, 70, ECH_FACTOR_CHOLESKY, ECH_DIRECT_STATUS_INDEFINITE, 1 },
    { "signs", 3, 3, ECH_FACTOR_CHOLESKY, ECH_DIRECT_STATUS_INDEFINITE, 1 },
};
enum { FAILURES = sizeof failures / sizeof *failures };

static void run_failure(ech_ctx *ctx, int which, ech_dtype dtype, const char *algorithm)
{
    if (!test_begin("fails(%s,%s,%s,%zux%zu,%s,%s)", ech_device_name(ctx), algorithm,
                    failures[which].kind, failures[which].m, failures[which].n,
                    ech_factor_name(failures[which].factor), ech_dtype_name(dtype)))
        return;
    if (!direct_has(ctx, algorithm)) {
        test_skip("%s is not available", algorithm);
        test_end();
        return;
    }
    struct direct_system s =
        direct_make(failures[which].kind, failures[which].m, failures[which].n, 2, dtype, 5);
    const ech_direct_options o = direct_options(failures[which].factor, algorithm, 0);
    struct direct_answer answer = direct_solve(ctx, &s, true, &o);
    CHECK_STATUS(answer.status, ECH_OK);
    CHECK_INT(answer.report.status, failures[which].end);
    CHECK_INT(answer.report.failed_index, failures[which].where);
    CHECK(ech_direct_status_text(answer.report.status)[0] != '?');
    CHECK(answer.report.sign == 0);
    if (answer.report.status == ECH_DIRECT_STATUS_SINGULAR && s.m == s.n)
        CHECK(answer.report.log_abs == -HUGE_VAL);
    else
        CHECK(isnan(answer.report.log_abs));
    answer_free(&answer);
    direct_free(&s);
    test_end();
}

static void run_not_finite(ech_ctx *ctx, double bad)
{
    if (!test_begin("not_finite(%s,%g)", ech_device_name(ctx), bad)) return;
    struct direct_system s = direct_make("spd", 40, 40, 3, ECH_F64, 5);
    ech_direct_options o = direct_options(ECH_FACTOR_AUTO, NULL, 0);
    s.b[5 * 3 + 1] = bad;
    struct direct_answer answer = direct_solve(ctx, &s, true, &o);
    CHECK_STATUS(answer.status, ECH_OK);
    CHECK_INT(answer.report.status, ECH_DIRECT_STATUS_NOT_FINITE_B);
    CHECK_INT(answer.report.failed_index, 1);
    answer_free(&answer);
    s.b[5 * 3 + 1] = 0;
    s.a[7 * 40 + 30] = bad; /* above the diagonal */
    answer = direct_solve(ctx, &s, true, &o);
    CHECK_STATUS(answer.status, ECH_OK);
    CHECK_INT(answer.report.status, ECH_DIRECT_STATUS_NOT_FINITE);
    CHECK_INT(answer.report.failed_index, 7);
    CHECK(isnan(answer.report.log_abs));
    answer_free(&answer);
    o.kind = ECH_FACTOR_CHOLESKY; /* reads only the lower triangle */
    answer = direct_solve(ctx, &s, true, &o);
    CHECK_STATUS(answer.status, ECH_OK);
    CHECK_INT(answer.report.status, ECH_DIRECT_STATUS_SOLVED);
    s.a[7 * 40 + 30] = s.a[30 * 40 + 7];
    CHECK(oracle_error(&s, answer.x) < 1e-15);
    answer_free(&answer);
    direct_free(&s);
    test_end();
}

/* ---- Determinants and inverses ---- */

static void check_determinant(ech_ctx *ctx, const char *kind, size_t n, ech_dtype dtype,
                              ech_factor factor, const char *algorithm, int sign, double log_abs)
{
    struct direct_system s = direct_make(kind, n, n, 0, dtype, 1);
    const ech_direct_options o = direct_options(factor, algorithm, 0);
    float *narrow = calloc(n * n + 1, sizeof *narrow);
    int got_sign = 7;
    double got = 7;
    if (!narrow) abort();
    for (size_t i = 0; i < n * n; i++) narrow[i] = (float)s.a[i];
    CHECK_STATUS(ech_determinant(ctx, n, dtype == ECH_F32 ? (const void *)narrow : s.a, n, dtype,
                                 &o, &got_sign, &got),
                 ECH_OK);
    CHECK_INT(got_sign, sign);
    if (!(fabs(got - log_abs) <= (dtype == ECH_F32 ? 2e-3 : 1e-10)) && got != log_abs)
        test_fail(__FILE__, __LINE__, "%s(%zu) by %s: %.15g instead of %.15g", kind, n,
                  ech_factor_name(factor), got, log_abs);
    free(narrow);
    direct_free(&s);
}

static void run_determinant(ech_ctx *ctx, ech_dtype dtype, const char *algorithm)
{
    static const ech_factor factors[] = { ECH_FACTOR_AUTO, ECH_FACTOR_LU, ECH_FACTOR_QR,
                                          ECH_FACTOR_CHOLESKY };
    if (!test_begin("determinant(%s,%s,%s)", ech_device_name(ctx), algorithm,
                    ech_dtype_name(dtype)))
        return;
    if (!direct_has(ctx, algorithm)) {
        test_skip("%s is not available", algorithm);
        test_end();
        return;
    }
    for (int i = 0; i < 4; i++) {
        const ech_factor f = factors[i];
        check_determinant(ctx, "identity", 50, dtype, f, algorithm, 1, 0);
        check_determinant(ctx, "hilbert", 4, dtype, f, algorithm, 1, -log(6048000.0));
        check_determinant(ctx, "kms", 200, dtype, f, algorithm, 1, 199 * log(0.75));
        if (f == ECH_FACTOR_CHOLESKY) continue;
        check_determinant(ctx, "cycle", 64, dtype, f, algorithm, -1, 0);
        check_determinant(ctx, "cycle", 35, dtype, f, algorithm, 1, 0);
        check_determinant(ctx, "signs", 2, dtype, f, algorithm, -1, log(3.0));
        check_determinant(ctx, "ones", 9, dtype, f, algorithm, 0, -HUGE_VAL);
    }
    test_end();
}

static void run_inverse(ech_ctx *ctx, const char *kind, size_t n, ech_dtype dtype,
                        const char *algorithm)
{
    if (!test_begin("inverse(%s,%s,%s,%zu,%s)", ech_device_name(ctx), algorithm, kind, n,
                    ech_dtype_name(dtype)))
        return;
    if (!direct_has(ctx, algorithm)) {
        test_skip("%s is not available", algorithm);
        test_end();
        return;
    }
    struct direct_system s = direct_make(kind, n, n, n, dtype, n);
    free(s.b);
    s.b = NULL;
    for (int refine = 0; refine < 3; refine += 2) {
        const ech_direct_options o = direct_options(ECH_FACTOR_AUTO, algorithm, refine);
        struct direct_answer answer = direct_solve(ctx, &s, refine == 0, &o);
        CHECK_STATUS(answer.status, ECH_OK);
        CHECK_INT(answer.report.status, ECH_DIRECT_STATUS_SOLVED);
        const double error = oracle_error(&s, answer.x), unit = unit_of(dtype);
        if (!(error <= (refine ? 6 : 60 * (double)n) * unit) ||
            !(answer.report.backward_error <= 60 * (double)n * unit))
            test_fail(__FILE__, __LINE__, "error %g, reported %g", error,
                      answer.report.backward_error);
        answer_free(&answer);
    }
    direct_free(&s);
    test_end();
}

/* ---- Arguments and memory ---- */

static void run_empty(ech_ctx *ctx)
{
    ech_direct_report r = { .size = sizeof r };
    double a[4] = { 4, 1, 1, 3 }, log_abs = 7;
    int sign = 7;
    if (!test_begin("empty(%s)", ech_device_name(ctx))) return;
    CHECK_STATUS(ech_solve_direct(ctx, 0, 0, NULL, 0, 3, NULL, 3, NULL, 3, ECH_F64, NULL, &r),
                 ECH_OK);
    CHECK(r.status == ECH_DIRECT_STATUS_SOLVED && r.sign == 1 && r.log_abs == 0);
    CHECK_STATUS(ech_inverse(ctx, 0, NULL, 0, NULL, 0, ECH_F32, NULL, &r), ECH_OK);
    CHECK_STATUS(ech_determinant(ctx, 0, NULL, 0, ECH_F64, NULL, &sign, &log_abs), ECH_OK);
    CHECK(sign == 1 && log_abs == 0);
    CHECK_STATUS(ech_solve_direct(ctx, 2, 2, a, 2, 0, NULL, 0, NULL, 0, ECH_F64, NULL, &r), ECH_OK);
    CHECK(r.status == ECH_DIRECT_STATUS_SOLVED && r.kind == ECH_FACTOR_CHOLESKY && r.sign == 1);
    CHECK(fabs(r.log_abs - log(11.0)) < 1e-14 && fabs(r.rcond - 11 / 25.0) < 1e-14);
    test_end();
}

static void run_bad(ech_ctx *ctx)
{
    double a[6] = { 4, 1, 1, 3, 0, 1 }, b[3] = { 1, 2, 3 }, x[3] = { 0 };
    ech_direct_report r = { .size = sizeof r };
    ech_direct_options o = direct_options(ECH_FACTOR_AUTO, NULL, 0);
    size_t bytes;
    char text[900];
    int sign;
    if (!test_begin("bad(%s)", ech_device_name(ctx))) return;
#define SOLVE(m, n, a_stride, count, b_stride, x_stride, dtype)                                    \
    ech_solve_direct(ctx, m, n, a, a_stride, count, b, b_stride, x, x_stride, dtype, &o, &r)
    CHECK_FAILS(ctx, SOLVE(2, 2, 1, 1, 1, 1, ECH_F64), ECH_ERR_ARG, "a_stride is 1");
    CHECK_FAILS(ctx, SOLVE(2, 2, 2, 1, 0, 1, ECH_F64), ECH_ERR_ARG, "b_stride is 0");
    CHECK_FAILS(ctx, SOLVE(2, 2, 2, 1, 1, 0, ECH_F64), ECH_ERR_ARG, "x_stride is 0");
    CHECK_FAILS(ctx, SOLVE(1, 2, 2, 1, 1, 1, ECH_F64), ECH_ERR_ARG, "m is 1, less than n");
    CHECK_FAILS(ctx, SOLVE(2, 2, 2, 1, 1, 1, ECH_I32), ECH_ERR_ARG, "dtype is i32");
    CHECK_FAILS(ctx, SOLVE((size_t)1 << 40, 2, (size_t)1 << 40, 1, 1, 1, ECH_F64), ECH_ERR_ARG,
                "overflows size_t");
    o.kind = ECH_FACTOR_LU;
    CHECK_FAILS(ctx, SOLVE(3, 2, 2, 1, 1, 1, ECH_F64), ECH_ERR_ARG, "options->kind is lu");
    o.kind = (ech_factor)9;
    CHECK_FAILS(ctx, SOLVE(2, 2, 2, 1, 1, 1, ECH_F64), ECH_ERR_ARG, "options->kind is 9");
    o = direct_options(ECH_FACTOR_AUTO, NULL, -2);
    CHECK_FAILS(ctx, SOLVE(2, 2, 2, 1, 1, 1, ECH_F64), ECH_ERR_ARG, "options->refine is -2");
    o = direct_options(ECH_FACTOR_AUTO, "magic", 0);
    CHECK_FAILS(ctx, SOLVE(2, 2, 2, 1, 1, 1, ECH_F64), ECH_ERR_ARG, "\"magic\"");
    o = direct_options(ECH_FACTOR_AUTO, test_is_cpu(ctx) ? "cusolver" : "lapack", 0);
    CHECK_FAILS(ctx, SOLVE(2, 2, 2, 1, 1, 1, ECH_F64), ECH_ERR_ARG, algorithms[1]);
    o = direct_options(ECH_FACTOR_AUTO, NULL, 0);
    o.size = 1;
    CHECK_FAILS(ctx, SOLVE(2, 2, 2, 1, 1, 1, ECH_F64), ECH_ERR_ARG, "options->size is 1");
    o.size = sizeof o;
    o.work_bytes = 9;
    CHECK_FAILS(ctx, SOLVE(2, 2, 2, 1, 1, 1, ECH_F64), ECH_ERR_ARG, "options->work is NULL");
    o.work_bytes = 0;
#undef SOLVE
    CHECK_FAILS(ctx, ech_solve_direct(ctx, 2, 2, a, 2, 1, b, 1, x, 1, ECH_F64, &o, NULL),
                ECH_ERR_ARG, "report is NULL");
    CHECK_FAILS(ctx, ech_solve_direct(ctx, 2, 2, NULL, 2, 1, b, 1, x, 1, ECH_F64, &o, &r),
                ECH_ERR_ARG, "a is NULL");
    CHECK_FAILS(ctx, ech_solve_direct(ctx, 2, 2, a, 2, 1, NULL, 1, x, 1, ECH_F64, &o, &r),
                ECH_ERR_ARG, "b is NULL");
    CHECK_FAILS(ctx, ech_solve_direct(ctx, 2, 2, a, 2, 1, b, 1, NULL, 1, ECH_F64, &o, &r),
                ECH_ERR_ARG, "x is NULL");
    CHECK_FAILS(ctx, ech_solve_direct(ctx, 2, 2, a, 2, 1, b, 1, b, 1, ECH_F64, &o, &r), ECH_ERR_ARG,
                "overlap");
    CHECK_FAILS(ctx, ech_inverse(ctx, 2, a, 2, a, 2, ECH_F64, &o, &r), ECH_ERR_ARG, "overlap");
    CHECK_FAILS(ctx, ech_inverse(ctx, 2, a, 2, x, 1, ECH_F64, &o, &r), ECH_ERR_ARG,
                "out_stride is 1");
    CHECK_FAILS(ctx, ech_determinant(ctx, 2, a, 2, ECH_F64, &o, NULL, b), ECH_ERR_ARG,
                "sign is NULL");
    CHECK_FAILS(ctx, ech_determinant(ctx, 2, a, 2, ECH_F64, &o, &sign, NULL), ECH_ERR_ARG,
                "log_abs is NULL");
    CHECK_FAILS(NULL, ech_solve_direct(NULL, 2, 2, a, 2, 1, b, 1, x, 1, ECH_F64, &o, &r),
                ECH_ERR_ARG, "ctx is NULL");
    CHECK_FAILS(NULL,
                ech_direct_workspace(ech_device_name(ctx), ECH_DIRECT_CALL_INVERSE, 3, 2, 2,
                                     ECH_F64, NULL, &bytes),
                ECH_ERR_ARG, "m is 3");
    CHECK_FAILS(NULL,
                ech_direct_workspace(ech_device_name(ctx), ECH_DIRECT_CALL_SOLVE, 3, 2, 2, ECH_F64,
                                     NULL, NULL),
                ECH_ERR_ARG, "bytes is NULL");
    CHECK_STATUS(ech_direct_explain(ech_device_name(ctx), ECH_DIRECT_CALL_SOLVE, 9, 9, 1, ECH_F64,
                                    NULL, ECH_FORMAT_TEXT, text, sizeof text),
                 ECH_OK);
    CHECK_TEXT(text, "blocked: ");
    CHECK_TEXT(text, algorithms[1]);
    CHECK_TEXT(text, "workspace  ");
    CHECK(strcmp(ech_factor_name((ech_factor)8), "?") == 0);
    CHECK(strcmp(ech_direct_status_text((ech_direct_status)-1), "?") == 0);
    test_end();
}

static void *allocate_none(void *user, size_t bytes, void *stream)
{
    (void)user;
    (void)bytes;
    (void)stream;
    return NULL;
}

static void release_none(void *user, void *pointer, size_t bytes, void *stream)
{
    (void)user;
    (void)pointer;
    (void)bytes;
    (void)stream;
}

/* A workspace of the size that the query returns suffices and is not exceeded. One byte less is
 * reported. */
static void run_memory(ech_ctx *ctx, size_t m, size_t n, size_t count, ech_factor kind,
                       const char *algorithm)
{
    struct buffer work;
    size_t bytes = 0;
    if (!test_begin("memory(%s,%s,%zux%zu,%zu,%s)", ech_device_name(ctx), algorithm, m, n, count,
                    ech_factor_name(kind)))
        return;
    if (!direct_has(ctx, algorithm)) {
        test_skip("%s is not available", algorithm);
        test_end();
        return;
    }
    struct direct_system s = direct_make(m > n ? "random" : "spd", m, n, count, ECH_F64, 3);
    ech_direct_options o = direct_options(kind, algorithm, count == 1 ? -1 : 0);
    const ech_allocator none = { .size = sizeof(ech_allocator),
                                 .allocate = allocate_none,
                                 .release = release_none };
    CHECK_STATUS(ech_direct_workspace(ech_device_name(ctx), ECH_DIRECT_CALL_SOLVE, m, n, count,
                                      ECH_F64, &o, &bytes),
                 ECH_OK);
    ech_set_threads(ctx, 7);
    if (buffer_make(&work, test_is_cpu(ctx) ? NULL : ctx, bytes, 0)) {
        o.work = work.data;
        o.work_bytes = bytes;
        struct direct_answer answer = direct_solve(ctx, &s, false, &o);
        CHECK_STATUS(answer.status, ECH_OK);
        CHECK_INT(answer.report.status, ECH_DIRECT_STATUS_SOLVED);
        answer_free(&answer);
        double *x = calloc(n * (count + 2), sizeof *x);
        CHECK_STATUS(ech_solve_direct(ctx, m, n, s.a, n, count, s.b, count, x, count + 2, ECH_F64,
                                      &o, &answer.report),
                     ECH_OK); /* the workspace does not depend on strides */
        CHECK_INT(answer.report.status, ECH_DIRECT_STATUS_SOLVED);
        o.work_bytes = bytes - 1;
        CHECK_FAILS(ctx,
                    ech_solve_direct(ctx, m, n, s.a, n, count, s.b, count, x, count, ECH_F64, &o,
                                     &answer.report),
                    ECH_ERR_MEMORY, "options->work_bytes");
        buffer_check_guards(&work, "work");
        buffer_free(&work);
        o.work = NULL;
        o.work_bytes = 0;
        CHECK_STATUS(ech_set_allocator(ctx, &none), ECH_OK);
        CHECK_FAILS(ctx,
                    ech_solve_direct(ctx, m, n, s.a, n, count, s.b, count, x, count, ECH_F64, &o,
                                     &answer.report),
                    ECH_ERR_MEMORY, "out of memory");
        CHECK_STATUS(ech_set_allocator(ctx, NULL), ECH_OK);
        free(x);
    }
    ech_set_threads(ctx, 0);
    direct_free(&s);
    test_end();
}

/* ---- All cases ---- */

static void run_accuracy(ech_ctx *ctx)
{
    static const ech_factor factors[] = { ECH_FACTOR_AUTO, ECH_FACTOR_LU, ECH_FACTOR_QR };
    for (int i = 0; i < 3; i++) {
        if (is_drawn()) direct_condition(ctx, "kms", 64, factors[i]);
        if (is_drawn()) direct_condition(ctx, "random", 33, factors[i]);
        if (is_drawn()) direct_condition(ctx, "random", 65, factors[i]);
        if (is_drawn()) direct_condition(ctx, "hilbert", 7, factors[i]);
        if (is_drawn()) direct_condition(ctx, "near", 40, factors[i]);
        if (is_drawn()) direct_condition(ctx, "spd", 2, factors[i]);
        for (int j = 0; j < 2; j++) {
            if (is_drawn()) direct_refinement(ctx, "near", 60, ECH_F32, factors[i], algorithms[j]);
            if (is_drawn())
                direct_refinement(ctx, "hilbert", 5, ECH_F32, factors[i], algorithms[j]);
            if (is_drawn()) direct_refinement(ctx, "near", 40, ECH_F64, factors[i], algorithms[j]);
        }
    }
    for (int i = 0; i < 2; i++) {
        const ech_dtype dtype = i ? ECH_F64 : ECH_F32;
        if (is_drawn()) direct_least_squares(ctx, 2, 1, dtype);
        if (is_drawn()) direct_least_squares(ctx, 50, 20, dtype);
        if (is_drawn()) direct_least_squares(ctx, 130, 40, dtype);
        for (int j = 0; j < 2; j++) {
            if (is_drawn()) run_determinant(ctx, dtype, algorithms[j]);
            if (is_drawn()) run_inverse(ctx, "random", 1, dtype, algorithms[j]);
            if (is_drawn()) run_inverse(ctx, "random", 40, dtype, algorithms[j]);
            if (is_drawn()) run_inverse(ctx, "spd", 65, dtype, algorithms[j]);
            if (is_drawn()) run_inverse(ctx, "cycle", 33, dtype, algorithms[j]);
        }
    }
}

int main(int argc, char **argv)
{
    char name[32];
    test_main(argc, argv);
    for (int i = 0; context_count < CONTEXTS && test_device(i, name, sizeof name); i++) {
        size_t bytes;
        if (ech_direct_workspace(name, ECH_DIRECT_CALL_SOLVE, 1, 1, 1, ECH_F64, NULL, &bytes) ==
            ECH_ERR_UNSUPPORTED)
            continue;
        if (ech_open(&contexts[context_count++], name) != ECH_OK) {
            fprintf(stderr, "%s: %s\n", name, ech_error(NULL));
            return 1;
        }
    }
    if (ech_open(&one_thread, "cpu") != ECH_OK) return 1;
    ech_set_threads(one_thread, 1);
    for (int c = 0; c < context_count; c++) {
        ech_ctx *ctx = contexts[c];
        algorithms[1] = test_is_cpu(ctx) ? "lapack" : "cusolver";
        for (int i = 0; i < CASES; i++) {
            const bool skipped = cases[i].long_case && test_options.quick;
            const bool tall = cases[i].m > 100 * cases[i].n; /* columns longer than a block */
            for (int j = 0; j < 8; j++)
                if ((is_drawn() && !skipped) || (tall && !skipped && j < 2))
                    run_case(ctx, i, j & 1 ? ECH_F64 : ECH_F32, algorithms[j / 2 % 2], j / 4 - 1);
        }
        for (int i = 0; i < FAILURES; i++)
            for (int j = 0; j < 4; j++)
                if (is_drawn()) run_failure(ctx, i, j & 1 ? ECH_F64 : ECH_F32, algorithms[j / 2]);
        run_not_finite(ctx, NAN);
        run_not_finite(ctx, -HUGE_VAL);
        run_accuracy(ctx);
        for (size_t n = 1; n <= 33; n += n < 10 ? 1 : n == 32 ? 1 : 11)
            for (int j = 0; j < 2; j++)
                if (is_drawn()) direct_batch(ctx, n, j ? ECH_F64 : ECH_F32);
        run_empty(ctx);
        run_bad(ctx);
        for (int j = 0; j < 2; j++) {
            if (is_drawn()) run_memory(ctx, 70, 70, 3, ECH_FACTOR_LU, algorithms[j]);
            if (is_drawn()) run_memory(ctx, 70, 70, 1, ECH_FACTOR_AUTO, algorithms[j]);
            if (is_drawn()) run_memory(ctx, 20, 20, 1, ECH_FACTOR_LU, algorithms[j]);
            if (is_drawn()) run_memory(ctx, 90, 70, 100, ECH_FACTOR_QR, algorithms[j]);
            if (is_drawn()) run_memory(ctx, 300, 300, 130, ECH_FACTOR_CHOLESKY, algorithms[j]);
        }
    }
    for (int c = 0; c < context_count; c++) ech_close(contexts[c]);
    ech_close(one_thread);
    return test_finish();
}
