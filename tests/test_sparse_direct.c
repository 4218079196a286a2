/*
 * test_sparse_direct.c - direct solvers of sparse systems, with each library that is available:
 * accuracy against long double, singular and invalid matrices, arguments, memory.
 *
 * A library that is not installed is counted as skipped, with its name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sparse_direct_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ech_ctx *ctx;
static const char *const algorithms[] = { "klu", "mumps", "superlu", "cudss", "dense" };
enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms, MOST_SIDES = 3 };

static ech_sparse_direct_options options_of(const char *algorithm)
{
    return (ech_sparse_direct_options){ .size = sizeof(ech_sparse_direct_options),
                                        .algorithm = algorithm };
}

static ech_sparse_direct_report new_report(void)
{
    return (ech_sparse_direct_report){ .size = sizeof(ech_sparse_direct_report) };
}

/* Whether an algorithm is available on this device. */
static bool available(const char *algorithm)
{
    int64_t offsets[] = { 0, 1 }, column = 0;
    double value = 2;
    const ech_csr a = { sizeof a, 1, 1, 1, offsets, &column, &value, ECH_I64, ECH_F64 };
    ech_sparse_direct_options o = options_of(algorithm);
    ech_sparse_direct_report report = new_report();
    return ech_solve_sparse(ctx, &a, 0, NULL, 0, NULL, 0, &o, &report) == ECH_OK;
}

/* ---- Solvable systems ---- */

static const char *const kinds[] = { "line", "band", "arrow", "cycle",
                                     "mesh", "box",  "plant", "twice" };
static const size_t sizes[] = { 1, 2, 7, 100, 400 };

/* b and x of several right-hand sides: x, 2 x, 3 x. */
static void check_solution(const struct direct_csr *s, bool transpose, ech_dtype dtype,
                           const double *b, const char *x, size_t x_stride,
                           const ech_sparse_direct_report *report, size_t count)
{
    const double unit = dtype == ECH_F32 ? 0x1p-24 : 0x1p-53;
    double worst = 0;
    for (size_t k = 0; k < count; k++) {
        const char *here = x + k * x_stride * ech_dtype_bytes(dtype);
        const double error = direct_csr_error(s, transpose, dtype, b + k * s->n, here);
        if (!(error <= worst)) worst = error;
        for (size_t i = 0; !transpose && dtype == ECH_F64 && i < s->n; i++) {
            const double got = ((const double *)here)[i], want = s->x[i] * (double)(k + 1);
            if (!(fabs(got - want) <= 1e-8 * (fabs(want) + 1))) {
                test_fail(__FILE__, __LINE__, "x[%zu] of %zu is %g, not %g", i, k, got, want);
                return;
            }
        }
    }
    CHECK(worst <= 2 * unit);
    CHECK(fabs(report->backward_error - worst) <= 0.01 * worst + 1e-18);
    CHECK_INT(report->status, ECH_DIRECT_STATUS_SOLVED);
}

static void run_solve(const char *algorithm, const char *kind, size_t n, ech_dtype index,
                      ech_dtype dtype, size_t count, bool on_device)
{
    if (!test_begin("solve(%s,%s,n=%zu,%s,%s,nrhs=%zu%s)", algorithm, kind, n,
                    ech_dtype_name(index), ech_dtype_name(dtype), count,
                    on_device ? ",device" : ""))
        return;
    struct direct_csr s = direct_csr_make(kind, n, 1);
    const size_t stride = s.n + 3, bytes = ech_dtype_bytes(dtype);
    ech_csr a = csr_of(&s, index, dtype), given = a;
    double *sides = calloc(count * s.n + 1, sizeof *sides);
    char *x = calloc(count * stride + 1, bytes);
    struct buffer b, out, parts[3];
    ech_sparse_direct_options o = options_of(algorithm);
    ech_sparse_direct_report report = new_report();
    if (!sides || !x) abort();
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < s.n; i++) sides[k * s.n + i] = s.b[i] * (double)(k + 1);
    void *numbers = numbers_of(sides, count * s.n, dtype);
    ech_ctx *where = on_device ? ctx : NULL;
    const size_t index_bytes = ech_dtype_bytes(index);
    buffer_make(&b, where, count * s.n * bytes, 0);
    buffer_make(&out, where, ((count - 1) * stride + s.n) * bytes, 0);
    buffer_make(&parts[0], where, (s.n + 1) * index_bytes, 0);
    buffer_make(&parts[1], where, s.nnz * index_bytes, 0);
    buffer_make(&parts[2], where, s.nnz * bytes, 0);
    buffer_set(&b, numbers);
    buffer_set(&parts[0], a.row_offsets);
    buffer_set(&parts[1], a.col_indices);
    buffer_set(&parts[2], a.values);
    given.row_offsets = parts[0].data;
    given.col_indices = parts[1].data;
    given.values = parts[2].data;
    const ech_status status =
        ech_solve_sparse(ctx, &given, count, b.data, s.n, out.data, stride, &o, &report);
    CHECK_STATUS(status, ECH_OK);
    buffer_get(&out, x);
    check_solution(&s, false, dtype, sides, x, stride, &report, count);
    CHECK_TEXT(report.algorithm, algorithm);
    CHECK(report.rcond == 0);
    buffer_check_guards(&out, "x");
    buffer_free(&b);
    buffer_free(&out);
    for (int i = 0; i < 3; i++) buffer_free(&parts[i]);
    free(numbers);
    free(sides);
    free(x);
    csr_free(&a);
    direct_csr_free(&s);
    test_end();
}

static void run_solves(const char *algorithm)
{
    unsigned number = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++, number++) {
            const ech_dtype indices[] = { ECH_I32, ECH_I64, ECH_U32, ECH_U64 };
            run_solve(algorithm, kinds[k], sizes[i], indices[number % 4],
                      number % 3 == 1 ? ECH_F32 : ECH_F64, 1 + number % 2 * 2, number % 5 == 2);
        }
}

/* Factors that are used several times, also for A^T, by two calls with different options. */
static void run_factor(const char *algorithm)
{
    if (!test_begin("factor(%s)", algorithm)) return;
    struct direct_csr s = direct_csr_make("plant", 300, 5);
    ech_csr a = csr_of(&s, ECH_I32, ECH_F64);
    double *x = calloc(s.n, sizeof *x);
    ech_sparse_direct_options o = options_of(algorithm);
    ech_sparse_direct_report report = new_report();
    ech_sparse_factor *factor;
    if (!x) abort();
    CHECK_STATUS(ech_sparse_factor_create(ctx, &a, &o, &factor, &report), ECH_OK);
    CHECK(factor != NULL);
    CHECK(report.factor_nnz > 0);
    memset(a.values, 0, s.nnz * sizeof(double)); /* the factors do not refer to a */
    csr_free(&a);
    for (int turn = 0; factor && turn < 4; turn++) {
        o.transpose = turn % 2;
        CHECK_STATUS(ech_sparse_factor_solve(ctx, factor, 1, s.b, 0, x, 0, &o, &report), ECH_OK);
        CHECK(direct_csr_error(&s, turn % 2, ECH_F64, s.b, x) < 0x1p-52);
        CHECK(report.backward_error < 0x1p-52);
        CHECK(report.factor_nnz > 0);
    }
    o.transpose = 0;
    memcpy(x, s.b, s.n * sizeof *x); /* in place */
    if (factor)
        CHECK_STATUS(ech_sparse_factor_solve(ctx, factor, 1, x, 0, x, 0, &o, &report), ECH_OK);
    CHECK(direct_csr_error(&s, false, ECH_F64, s.b, x) < 0x1p-52);
    ech_sparse_factor_free(factor);
    free(x);
    direct_csr_free(&s);
    test_end();
}

/* Without refinement the error is larger; the report counts the steps. */
static void run_refine(const char *algorithm)
{
    if (!test_begin("refine(%s)", algorithm)) return;
    struct direct_csr s = direct_csr_make("plant", 1000, 6);
    ech_csr a = csr_of(&s, ECH_I64, ECH_F64);
    double *x = calloc(s.n, sizeof *x), plain, once;
    ech_sparse_direct_options o = options_of(algorithm);
    ech_sparse_direct_report report = new_report();
    if (!x) abort();
    o.refine = -1;
    CHECK_STATUS(ech_solve_sparse(ctx, &a, 1, s.b, 0, x, 0, &o, &report), ECH_OK);
    CHECK_INT(report.refinements, 0);
    plain = report.backward_error;
    o.refine = 1;
    CHECK_STATUS(ech_solve_sparse(ctx, &a, 1, s.b, 0, x, 0, &o, &report), ECH_OK);
    CHECK_INT(report.refinements, 1);
    once = report.backward_error;
    CHECK(once <= plain && once < 0x1p-53);
    o.refine = 0;
    CHECK_STATUS(ech_solve_sparse(ctx, &a, 1, s.b, 0, x, 0, &o, &report), ECH_OK);
    CHECK(report.refinements >= 1 && report.refinements <= 10);
    CHECK(report.backward_error <= once * 1.01);
    free(x);
    csr_free(&a);
    direct_csr_free(&s);
    test_end();
}

/* The matrix of a chemical plant, enlarged to n above 10^4: factors without many entries, a
 * backward error that refinement reduces to the rounding of x, and the same for the transpose. */
static void run_enlarged(const char *algorithm, const char *name)
{
    enum { COPIES = 21 };
    if (!test_begin("enlarged(%s,%s,copies=%d,synthetic)", algorithm, name, COPIES)) return;
    const char *folder = getenv("ECHELON_DATA");
    struct direct_csr block = strcmp(name, "plant") == 0
                                  ? direct_csr_make("plant", 479, 3)
                                  : direct_csr_read(folder ? folder : TEST_DATA, name);
    if (block.n == 0) {
        test_skip("%s is not in the folder that ECHELON_DATA names", name);
        test_end();
        return;
    }
    struct direct_csr s = direct_csr_enlarge(&block, COPIES, 11);
    ech_csr a = csr_of(&s, ECH_I32, ECH_F64);
    double *x = calloc(s.n, sizeof *x), *sides = calloc(s.n, sizeof *sides);
    ech_sparse_direct_options o = options_of(algorithm);
    ech_sparse_direct_report report = new_report();
    ech_sparse_factor *factor = NULL;
    if (!x || !sides) abort();
    CHECK(s.n > 10000);
    CHECK_STATUS(ech_sparse_factor_create(ctx, &a, &o, &factor, &report), ECH_OK);
    CHECK_INT(report.status, ECH_DIRECT_STATUS_SOLVED);
    CHECK(report.factor_nnz >= s.n && report.factor_nnz <= 32 * s.nnz);
    for (size_t i = 0; i < s.n; i++) /* A^T x */
        for (int64_t e = s.offsets[i]; e < s.offsets[i + 1]; e++)
            sides[s.columns[e]] += s.values[e] * s.x[i];
    for (int transpose = 0; transpose < 2; transpose++) {
        const double *b = transpose ? sides : s.b;
        double plain;
        o.transpose = transpose;
        o.refine = -1;
        CHECK_STATUS(ech_sparse_factor_solve(ctx, factor, 1, b, 0, x, 0, &o, &report), ECH_OK);
        CHECK_INT(report.refinements, 0);
        plain = direct_csr_error(&s, transpose, ECH_F64, b, x);
        CHECK(plain < 1e-9 && fabs(report.backward_error - plain) <= 0.01 * plain);
        o.refine = 0;
        CHECK_STATUS(ech_sparse_factor_solve(ctx, factor, 1, b, 0, x, 0, &o, &report), ECH_OK);
        CHECK(report.refinements >= 1 && report.refinements <= 10);
        CHECK(report.backward_error <= 0x1p-52 && report.backward_error <= plain);
        CHECK(direct_csr_error(&s, transpose, ECH_F64, b, x) <= 0x1p-52);
    }
    ech_sparse_factor_free(factor);
    free(sides);
    free(x);
    csr_free(&a);
    direct_csr_free(&s);
    direct_csr_free(&block);
    test_end();
}

/* Without scaling the rounding errors differ; refinement removes them. */
static void run_scaling(const char *algorithm)
{
    if (!test_begin("scaling(%s)", algorithm)) return;
    struct direct_csr s = direct_csr_make("plant", 200, 8);
    ech_csr a = csr_of(&s, ECH_I64, ECH_F64);
    double *x = calloc(2 * s.n, sizeof *x);
    ech_sparse_direct_options o = options_of(algorithm);
    ech_sparse_direct_report report = new_report();
    if (!x) abort();
    o.refine = -1;
    for (int turn = 0; turn < 2; turn++) {
        o.no_scaling = turn;
        CHECK_STATUS(ech_solve_sparse(ctx, &a, 1, s.b, 0, x + (size_t)turn * s.n, 0, &o, &report),
                     ECH_OK);
    }
    if (strcmp(algorithm, "mumps") != 0) /* which chooses the same pivots for this matrix */
        CHECK(memcmp(x, x + s.n, s.n * sizeof *x) != 0);
    o.refine = 0;
    CHECK_STATUS(ech_solve_sparse(ctx, &a, 1, s.b, 0, x, 0, &o, &report), ECH_OK);
    CHECK(direct_csr_error(&s, false, ECH_F64, s.b, x) < 0x1p-52);
    free(x);
    csr_free(&a);
    direct_csr_free(&s);
    test_end();
}

static void run_condition(const char *algorithm)
{
    if (!test_begin("condition(%s)", algorithm)) return;
    struct direct_csr s = direct_csr_make("line", 64, 7);
    ech_sparse_direct_options o = options_of(algorithm);
    ech_sparse_direct_report report = new_report();
    o.estimate_condition = 1;
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < s.n; i++) s.values[i] = turn ? pow(2, -(double)i) : 3;
        ech_csr a = csr_of(&s, ECH_I32, ECH_F64);
        CHECK_STATUS(ech_solve_sparse(ctx, &a, 0, NULL, 0, NULL, 0, &o, &report), ECH_OK);
        const double want = turn ? pow(2, -63) : 1;
        CHECK(fabs(report.rcond - want) <= 1e-10 * want);
        csr_free(&a);
    }
    direct_csr_free(&s);
    test_end();
}

/* ---- Systems without a solution ---- */

/* Solves a 4 x 4 matrix with these entries. */
static ech_sparse_direct_report solve_small(const char *algorithm, const double (*m)[4])
{
    struct direct_csr s = direct_csr_make("line", 4, 1);
    double x[4] = { 1, 2, 3, 4 };
    ech_sparse_direct_options o = options_of(algorithm);
    ech_sparse_direct_report report = new_report();
    s.nnz = 0;
    for (int64_t i = 0; i < 4; i++) {
        for (int64_t j = 0; j < 4; j++)
            if (m[i][j] != 0) direct_csr_entry(&s, j, m[i][j]);
        s.offsets[i + 1] = (int64_t)s.nnz;
    }
    ech_csr a = csr_of(&s, ECH_I32, ECH_F64);
    CHECK_STATUS(ech_solve_sparse(ctx, &a, 1, x, 0, x, 0, &o, &report), ECH_OK);
    csr_free(&a);
    direct_csr_free(&s);
    return report;
}

/* The columns that may be named, as bits: each depends on the others. */
static void run_singular(const char *algorithm)
{
    static const struct {
        const char *name;
        double m[4][4];
        unsigned columns;
    } singular[] = {
        { "empty column", { { 1, 2, 0, 0 }, { 3, 1, 0, 4 }, { 0, 1, 0, 2 }, { 1, 0, 0, 1 } }, 4 },
        { "empty row", { { 1, 2, 3, 0 }, { 0, 0, 0, 0 }, { 0, 1, 5, 2 }, { 1, 0, 2, 1 } }, 15 },
        { "structure", { { 1, 0, 0, 2 }, { 3, 0, 0, 1 }, { 5, 1, 7, 1 }, { 4, 0, 0, 0 } }, 15 },
        { "equal columns", { { 1, 2, 1, 0 }, { 4, 1, 4, 0 }, { 2, 3, 2, 1 }, { 0, 0, 0, 1 } }, 7 },
    };
    if (!test_begin("singular(%s)", algorithm)) return;
    for (size_t i = 0; i < sizeof singular / sizeof *singular; i++) {
        const ech_sparse_direct_report r = solve_small(algorithm, singular[i].m);
        if (r.status != ECH_DIRECT_STATUS_SINGULAR || r.failed_index >= 4 ||
            !(singular[i].columns >> r.failed_index & 1))
            test_fail(__FILE__, __LINE__, "%s: %s, column %llu", singular[i].name,
                      ech_direct_status_text(r.status), (unsigned long long)r.failed_index);
    }
    test_end();
}

static void run_not_finite(const char *algorithm)
{
    if (!test_begin("not_finite(%s)", algorithm)) return;
    static const double bad[] = { NAN, INFINITY, -INFINITY };
    for (int i = 0; i < 3; i++) {
        struct direct_csr s = direct_csr_make("band", 9, 1);
        double b[18], x[18];
        ech_sparse_direct_options o = options_of(algorithm);
        ech_sparse_direct_report report = new_report();
        ech_csr a = csr_of(&s, ECH_I32, ECH_F64);
        for (int k = 0; k < 18; k++) b[k] = s.b[k % 9];
        b[12] = bad[i];
        CHECK_STATUS(ech_solve_sparse(ctx, &a, 2, b, 9, x, 9, &o, &report), ECH_OK);
        CHECK_INT(report.status, ECH_DIRECT_STATUS_NOT_FINITE_B);
        CHECK_INT(report.failed_index, 1);
        ((double *)a.values)[s.offsets[5]] = bad[i];
        CHECK_STATUS(ech_solve_sparse(ctx, &a, 2, b, 9, x, 9, &o, &report), ECH_OK);
        CHECK_INT(report.status, ECH_DIRECT_STATUS_NOT_FINITE);
        CHECK_INT(report.failed_index, 5);
        csr_free(&a);
        direct_csr_free(&s);
    }
    test_end();
}

static void run_overflow(const char *algorithm)
{
    if (!test_begin("overflow(%s)", algorithm)) return;
    const double m[4][4] = { { 1e-300, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 }, { 0, 0, 0, 1 } };
    ech_sparse_direct_report r = solve_small(algorithm, m);
    CHECK_INT(r.status, ECH_DIRECT_STATUS_SOLVED);
    struct direct_csr s = direct_csr_make("line", 4, 1);
    ech_csr a = csr_of(&s, ECH_I32, ECH_F64);
    double b[8] = { 1, 1, 1, 1, 1e10, 1, 1, 1 }, x[8];
    ech_sparse_direct_options o = options_of(algorithm);
    ((double *)a.values)[0] = 1e-300;
    CHECK_STATUS(ech_solve_sparse(ctx, &a, 2, b, 4, x, 4, &o, &r), ECH_OK);
    CHECK_INT(r.status, ECH_DIRECT_STATUS_OVERFLOW);
    CHECK_INT(r.failed_index, 1);
    csr_free(&a);
    direct_csr_free(&s);
    test_end();
}

/* ---- Arguments ---- */

static void run_arguments(void)
{
    if (!test_begin("arguments")) return;
    struct direct_csr s = direct_csr_make("band", 9, 1);
    ech_csr a = csr_of(&s, ECH_I32, ECH_F64), bad = a;
    double x[18];
    ech_sparse_direct_options o = options_of("dense");
    ech_sparse_direct_report report = new_report(), wrong = { .size = 3 };
    ech_sparse_factor *factor = NULL;
#define SOLVE(a, nrhs, b, bs, x, xs, o, r) ech_solve_sparse(ctx, a, nrhs, b, bs, x, xs, o, r)
    CHECK_FAILS(NULL, ech_solve_sparse(NULL, &a, 1, s.b, 0, x, 0, &o, &report), ECH_ERR_ARG, "ctx");
    CHECK_FAILS(ctx, SOLVE(NULL, 1, s.b, 0, x, 0, &o, &report), ECH_ERR_ARG, "a is NULL");
    CHECK_FAILS(ctx, SOLVE(&a, 1, NULL, 0, x, 0, &o, &report), ECH_ERR_ARG, "b is NULL");
    CHECK_FAILS(ctx, SOLVE(&a, 1, s.b, 0, NULL, 0, &o, &report), ECH_ERR_ARG, "x is NULL");
    CHECK_FAILS(ctx, SOLVE(&a, 1, s.b, 0, x, 0, &o, NULL), ECH_ERR_ARG, "report is NULL");
    CHECK_FAILS(ctx, SOLVE(&a, 1, s.b, 0, x, 0, &o, &wrong), ECH_ERR_ARG, "report");
    CHECK_FAILS(ctx, SOLVE(&a, 2, s.b, 8, x, 9, &o, &report), ECH_ERR_ARG, "b_batch_stride is 8");
    CHECK_FAILS(ctx, SOLVE(&a, 2, s.b, 9, x, 8, &o, &report), ECH_ERR_ARG, "x_batch_stride is 8");
    bad.cols = 8;
    CHECK_FAILS(ctx, SOLVE(&bad, 1, s.b, 0, x, 0, &o, &report), ECH_ERR_ARG, "a is 9 x 8");
    bad = a;
    bad.dtype = ECH_F16;
    CHECK_FAILS(ctx, SOLVE(&bad, 1, s.b, 0, x, 0, &o, &report), ECH_ERR_ARG, "f16");
    bad = a;
    bad.index_dtype = ECH_F32;
    CHECK_FAILS(ctx, SOLVE(&bad, 1, s.b, 0, x, 0, &o, &report), ECH_ERR_ARG, "index_dtype is f32");
    bad = a;
    bad.values = NULL;
    CHECK_FAILS(ctx, SOLVE(&bad, 1, s.b, 0, x, 0, &o, &report), ECH_ERR_ARG, "a->values is NULL");
    bad = a;
    bad.nnz--;
    CHECK_FAILS(ctx, SOLVE(&bad, 1, s.b, 0, x, 0, &o, &report), ECH_ERR_ARG, "row_offsets[9]");
    ((int32_t *)a.col_indices)[7] = 9;
    CHECK_FAILS(ctx, SOLVE(&a, 1, s.b, 0, x, 0, &o, &report), ECH_ERR_ARG, "row 2 of a");
    ((int32_t *)a.row_offsets)[4] = 1;
    CHECK_FAILS(ctx, SOLVE(&a, 1, s.b, 0, x, 0, &o, &report), ECH_ERR_ARG, "row");
    o.algorithm = "lapack";
    CHECK_FAILS(ctx, SOLVE(&a, 1, s.b, 0, x, 0, &o, &report), ECH_ERR_ARG, "\"lapack\"; use");
    o = options_of(NULL);
    o.refine = 1001;
    CHECK_FAILS(ctx, SOLVE(&a, 1, s.b, 0, x, 0, &o, &report), ECH_ERR_ARG, "refine is 1001");
    o.refine = 0;
    o.transpose = 2;
    CHECK_FAILS(ctx, SOLVE(&a, 1, s.b, 0, x, 0, &o, &report), ECH_ERR_ARG, "transpose is 2");
    o.transpose = 0;
    o.estimate_condition = -1;
    CHECK_FAILS(ctx, SOLVE(&a, 1, s.b, 0, x, 0, &o, &report), ECH_ERR_ARG, "estimate_condition");
    o.estimate_condition = 0;
    o.no_scaling = 3;
    CHECK_FAILS(ctx, SOLVE(&a, 1, s.b, 0, x, 0, &o, &report), ECH_ERR_ARG, "no_scaling is 3");
    CHECK_FAILS(ctx, ech_sparse_factor_create(ctx, &a, NULL, NULL, &report), ECH_ERR_ARG,
                "factor is NULL");
    CHECK_FAILS(ctx, ech_sparse_factor_solve(ctx, factor, 1, s.b, 0, x, 0, NULL, &report),
                ECH_ERR_ARG, "factor is NULL");
    ech_sparse_factor_free(NULL);
    csr_free(&a);
    direct_csr_free(&s);
    test_end();
}

static void run_empty(const char *algorithm)
{
    if (!test_begin("empty(%s)", algorithm)) return;
    const int32_t zero = 0;
    const ech_csr a = { .size = sizeof a,
                        .row_offsets = (void *)(uintptr_t)&zero,
                        .index_dtype = ECH_I32,
                        .dtype = ECH_F64 };
    ech_sparse_direct_options o = options_of(algorithm);
    ech_sparse_direct_report report = new_report();
    ech_sparse_factor *factor = NULL;
    o.estimate_condition = 1;
    CHECK_STATUS(ech_solve_sparse(ctx, &a, 3, NULL, 0, NULL, 0, &o, &report), ECH_OK);
    CHECK_INT(report.status, ECH_DIRECT_STATUS_SOLVED);
    CHECK(report.rcond == 1 && report.backward_error == 0);
    CHECK_STATUS(ech_sparse_factor_create(ctx, &a, &o, &factor, &report), ECH_OK);
    CHECK_STATUS(ech_sparse_factor_solve(ctx, factor, 1, NULL, 0, NULL, 0, &o, &report), ECH_OK);
    ech_sparse_factor_free(factor);
    test_end();
}

static void run_explain(void)
{
    if (!test_begin("explain")) return;
    const ech_csr a = { .size = sizeof a,
                        .rows = 5000,
                        .cols = 5000,
                        .nnz = 20000,
                        .index_dtype = ECH_I32,
                        .dtype = ECH_F64 };
    char text[4096];
    CHECK_STATUS(ech_solve_sparse_explain("cpu", &a, NULL, ECH_FORMAT_TEXT, text, sizeof text),
                 ECH_OK);
    CHECK_TEXT(text, "device       cpu\n");
    CHECK_TEXT(text, "no cudss     it needs a GPU");
    CHECK_TEXT(text, "no dense     n exceeds 4096");
    CHECK_TEXT(text, "5000 x 5000, 20000 entries");
    CHECK_STATUS(ech_solve_sparse_explain("cpu", &a, NULL, ECH_FORMAT_JSON, text, sizeof text),
                 ECH_OK);
    CHECK_TEXT(text, "\"operation\":");
    test_end();
}

/* Without any library: small systems are dense, others fail with the names of the packages. */
static void run_without(void)
{
    if (!test_begin("without_libraries")) return;
    const char *setting = getenv("ECHELON_SPARSE_DIRECT");
    struct direct_csr s = direct_csr_make("line", 5000, 1);
    ech_csr a = csr_of(&s, ECH_I32, ECH_F64);
    ech_sparse_direct_options o = options_of(NULL);
    ech_sparse_direct_report report = new_report();
    double *x = calloc(5000, sizeof *x);
    if (!x) abort();
    if (!setting || strcmp(setting, "none") != 0) {
        test_skip("ECHELON_SPARSE_DIRECT is not none");
    } else {
        CHECK_FAILS(ctx, SOLVE(&a, 1, s.b, 0, x, 0, &o, &report), ECH_ERR_UNSUPPORTED, "libklu1");
        CHECK_FAILS(ctx, SOLVE(&a, 1, s.b, 0, x, 0, &o, &report), ECH_ERR_UNSUPPORTED, "n is 5000");
        o.algorithm = "klu";
        CHECK_FAILS(ctx, SOLVE(&a, 1, s.b, 0, x, 0, &o, &report), ECH_ERR_UNSUPPORTED,
                    "\"klu\" is not available");
        o.algorithm = "dense";
        CHECK_FAILS(ctx, SOLVE(&a, 1, s.b, 0, x, 0, &o, &report), ECH_ERR_UNSUPPORTED, "4096");
        struct direct_csr small = direct_csr_make("plant", 100, 1);
        ech_csr few = csr_of(&small, ECH_I32, ECH_F64);
        CHECK_STATUS(SOLVE(&few, 1, small.b, 0, x, 0, NULL, &report), ECH_OK);
        CHECK_TEXT(report.algorithm, "dense");
        csr_free(&few);
        direct_csr_free(&small);
    }
    free(x);
    csr_free(&a);
    direct_csr_free(&s);
    test_end();
}

/* Much fill is left to cuDSS or MUMPS, little to KLU; cuDSS takes some that MUMPS does not. */
static void run_choice(void)
{
    static const size_t rows[] = { 20000, 40000, 4913 };
    static const char *const kind[] = { "plant", "mesh", "box" };
    static const char *const expected[2][3] = { { "klu", "klu", "mumps" },
                                                { "klu", "cudss", "cudss" } };
    if (!test_begin("choice")) return;
    const bool cudss = available("cudss");
    if (!available("klu") || !(cudss || available("mumps"))) {
        test_skip("libklu is not installed, or neither cuDSS nor libdmumps_seq-5.5");
        test_end();
        return;
    }
    for (int i = 0; i < 3; i++) {
        struct direct_csr s = direct_csr_make(kind[i], rows[i], 1);
        ech_csr a = csr_of(&s, ECH_I32, ECH_F64);
        ech_sparse_direct_options o = options_of(NULL);
        ech_sparse_direct_report report = new_report();
        CHECK_STATUS(SOLVE(&a, 0, NULL, 0, NULL, 0, &o, &report), ECH_OK);
        CHECK_TEXT(report.algorithm, expected[cudss][i]);
        csr_free(&a);
        direct_csr_free(&s);
    }
    test_end();
}

static void run_algorithm(const char *algorithm)
{
    if (!available(algorithm)) {
        if (!test_begin("library(%s)", algorithm)) return;
        test_skip("%s: %s", algorithm, ech_error(ctx));
        test_end();
        return;
    }
    run_solves(algorithm);
    run_factor(algorithm);
    run_refine(algorithm);
    if (strcmp(algorithm, "dense") != 0) {
        run_enlarged(algorithm, "west0479.mtx");
        run_enlarged(algorithm, "plant");
    }
    run_scaling(algorithm);
    run_condition(algorithm);
    if (strcmp(algorithm, "cudss") != 0) run_singular(algorithm); /* it does not name columns */
    run_not_finite(algorithm);
    run_overflow(algorithm);
    run_empty(algorithm);
}

int main(int argc, char **argv)
{
    char name[32];
    test_main(argc, argv);
    for (int i = 0; test_device(i, name, sizeof name); i++) {
        if (ech_open(&ctx, name) != ECH_OK) {
            fprintf(stderr, "%s\n", ech_error(NULL));
            return 1;
        }
        for (int k = 0; k < ALGORITHMS; k++) run_algorithm(algorithms[k]);
        run_arguments();
        if (i == 0) {
            run_explain();
            run_without();
            if (!test_options.quick) run_choice();
        }
        ech_close(ctx);
    }
    return test_finish();
}
