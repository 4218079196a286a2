/*
 * direct_batch.c - batches of small systems, which the CPU solves in vector lanes: bit-identical to
 * the algorithm "blocked" for systems with so many right-hand sides that lanes are not used.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "direct_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SYSTEMS = 43, MANY = 33 /* right-hand sides, too many for lanes */, GAP = 2 };

static const char *const kinds[] = { "random", "spd",  "signs", "zero", "random", "hilbert",
                                     "near",   "ones", "cycle", "kms",  "spd" };
enum { KINDS = sizeof kinds / sizeof *kinds };

/* The systems of a batch, with gaps between rows and between matrices. */
struct batch {
    size_t n, count, element, a_step, b_step, x_step;
    ech_dtype dtype;
    char *a, *b, *x;
    ech_direct_report *reports;
};

static void *get(size_t count, size_t bytes)
{
    void *memory = calloc(count + 1, bytes);
    if (!memory) abort();
    return memory;
}

static void put(char *to, size_t at, ech_dtype dtype, double x)
{
    const float narrow = (float)x;
    if (dtype == ECH_F32)
        memcpy(to + at * sizeof narrow, &narrow, sizeof narrow);
    else
        memcpy(to + at * sizeof x, &x, sizeof x);
}

/* System i; some contain NaN or infinity. All its right-hand sides are equal. */
static void add_system(struct batch *batch, size_t i)
{
    const size_t n = batch->n;
    struct direct_system s = direct_make(kinds[i % KINDS], n, n, 1, batch->dtype, i + 100 * n + 7);
    if (i % 13 == 12) s.a[n * n / 2] = i % 2 ? NAN : HUGE_VAL;
    if (i % 17 == 16) s.b[n / 2] = i % 2 ? NAN : -HUGE_VAL;
    if (i == 5) s.a[0] = batch->dtype == ECH_F32 ? 1e-40 : 5e-320; /* subnormal */
    for (size_t j = 0; j < n; j++) {
        for (size_t k = 0; k < n; k++)
            put(batch->a, i * batch->a_step + j * (n + GAP) + k, batch->dtype, s.a[j * n + k]);
        for (size_t k = 0; k < batch->count; k++)
            put(batch->b, i * batch->b_step + j * (batch->count + 1) + k, batch->dtype, s.b[j]);
    }
    direct_free(&s);
}

static struct batch batch_make(size_t n, size_t count, ech_dtype dtype)
{
    struct batch batch = { .n = n, .count = count, .dtype = dtype };
    batch.element = ech_dtype_bytes(dtype);
    batch.a_step = n * (n + GAP) + 3;
    batch.b_step = n * (count + 1) + 1;
    batch.x_step = n * (count + GAP) + 5;
    batch.a = get(SYSTEMS * batch.a_step, batch.element);
    batch.b = get(SYSTEMS * batch.b_step, batch.element);
    batch.x = get(SYSTEMS * batch.x_step, batch.element);
    memset(batch.x, 0x5A, SYSTEMS * batch.x_step * batch.element);
    batch.reports = get(SYSTEMS, sizeof *batch.reports);
    batch.reports[0].size = sizeof *batch.reports;
    for (size_t i = 0; i < SYSTEMS; i++) add_system(&batch, i);
    return batch;
}

static void batch_free(struct batch *batch)
{
    free(batch->a);
    free(batch->b);
    free(batch->x);
    free(batch->reports);
}

static ech_status solve(ech_ctx *ctx, struct batch *batch, ech_direct_options o)
{
    const size_t n = batch->n, count = batch->count;
    o.batch_count = SYSTEMS;
    o.a_batch_stride = batch->a_step;
    o.b_batch_stride = batch->b_step;
    o.x_batch_stride = batch->x_step;
    return ech_solve_direct(ctx, n, n, batch->a, n + GAP, count, batch->b, count + 1, batch->x,
                            count + GAP, batch->dtype, &o, batch->reports);
}

static bool reports_same(const ech_direct_report *p, const ech_direct_report *q)
{
    return p->size == q->size && p->status == q->status && p->kind == q->kind &&
           p->failed_index == q->failed_index && p->sign == q->sign &&
           p->refinements == q->refinements && memcmp(&p->log_abs, &q->log_abs, 8) == 0 &&
           memcmp(&p->rcond, &q->rcond, 8) == 0 &&
           memcmp(&p->backward_error, &q->backward_error, 8) == 0;
}

/* Whether row j of x has `count` times the element that x_many has; the gap must not be written. */
static bool row_same(const struct batch *batch, size_t i, size_t j, const char *x_many, size_t many)
{
    const size_t element = batch->element, width = batch->count + GAP;
    const char *row = batch->x + (i * batch->x_step + j * width) * element;
    bool same = true;
    for (size_t k = 0; k < batch->count; k++)
        same &= memcmp(row + k * element, x_many + j * many * element, element) == 0;
    for (size_t at = batch->count * element; at < width * element; at++) same &= row[at] == 0x5A;
    return same;
}

/* Compares each system with a call of its own for many right-hand sides. */
static void compare(ech_ctx *ctx, const struct batch *batch, ech_direct_options o)
{
    const size_t n = batch->n, element = batch->element;
    char *b = get(n * MANY, element), *x = get(n * MANY, element);
    const size_t many = n < MANY ? MANY : batch->count; /* n too large for lanes */
    size_t solved = 0;
    o.algorithm = "blocked";
    for (size_t i = 0; i < SYSTEMS && !test_failed(); i++) {
        ech_direct_report report = { .size = sizeof report };
        const ech_direct_report *mine = &batch->reports[i];
        const char *a = batch->a + i * batch->a_step * element;
        for (size_t j = 0; j < n; j++)
            for (size_t k = 0; k < many; k++)
                memcpy(b + (j * many + k) * element,
                       batch->b + (i * batch->b_step + j * (batch->count + 1)) * element, element);
        CHECK_STATUS(ech_solve_direct(ctx, n, n, a, n + GAP, many, b, many, x, many, batch->dtype,
                                      &o, &report),
                     ECH_OK);
        if (!reports_same(mine, &report))
            test_fail(
                __FILE__, __LINE__, "system %zu (%s): status %d and %d, rcond %.17g and %.17g", i,
                kinds[i % KINDS], (int)mine->status, (int)report.status, mine->rcond, report.rcond);
        for (size_t j = 0; j < n && report.status == ECH_DIRECT_STATUS_SOLVED; j++)
            if (!row_same(batch, i, j, x, many))
                test_fail(__FILE__, __LINE__, "system %zu (%s): row %zu differs", i,
                          kinds[i % KINDS], j);
        solved += report.status == ECH_DIRECT_STATUS_SOLVED;
    }
    CHECK(solved > SYSTEMS / 8 && solved < SYSTEMS);
    free(b);
    free(x);
}

/* Inverses and determinants have the reports of the systems, with the identity for b. */
static void check_others(ech_ctx *ctx, struct batch *batch, ech_direct_options o)
{
    const size_t n = batch->n;
    char *out = get(SYSTEMS * n * n, batch->element);
    int *signs = get(SYSTEMS, sizeof *signs);
    double *logs = get(SYSTEMS, sizeof *logs);
    ech_direct_report *reports = get(SYSTEMS, sizeof *reports);
    reports[0].size = sizeof *reports;
    o.batch_count = SYSTEMS;
    o.a_batch_stride = batch->a_step;
    o.x_batch_stride = n * n;
    CHECK_STATUS(ech_inverse(ctx, n, batch->a, n + GAP, out, n, batch->dtype, &o, reports), ECH_OK);
    CHECK_STATUS(ech_determinant(ctx, n, batch->a, n + GAP, batch->dtype, &o, signs, logs), ECH_OK);
    for (size_t i = 0; i < SYSTEMS; i++) {
        const ech_direct_report *p = &reports[i], *q = &batch->reports[i];
        const bool b_failed = q->status == ECH_DIRECT_STATUS_NOT_FINITE_B;
        CHECK(b_failed || (p->status == q->status && p->kind == q->kind && p->rcond == q->rcond));
        CHECK(p->status != ECH_DIRECT_STATUS_SOLVED || n == 1 || /* the inverse may overflow */
              p->backward_error <= 60 * (double)n * unit_of(batch->dtype));
        CHECK_INT(signs[i], p->sign);
        CHECK(memcmp(&logs[i], &p->log_abs, sizeof *logs) == 0);
    }
    free(out);
    free(signs);
    free(logs);
    free(reports);
}

/* A step of 0 repeats a matrix; the size of a report may be smaller than this header's. */
static void check_steps(ech_ctx *ctx)
{
    const double a[4] = { 2, 0, 0, 4 }, b[4] = { 2, 4, 6, 16 };
    double x[5] = { 0, 0, 0, 0, 7 };
    ech_direct_report r[2] = { { .size = sizeof *r } };
    ech_direct_options o = direct_options(ECH_FACTOR_AUTO, NULL, 0);
    o.batch_count = o.b_batch_stride = o.x_batch_stride = 2;
    CHECK_STATUS(ech_solve_direct(ctx, 2, 2, a, 2, 1, b, 1, x, 1, ECH_F64, &o, r), ECH_OK);
    CHECK(x[0] == 1 && x[1] == 1 && x[2] == 3 && x[3] == 4 && x[4] == 7);
    o.x_batch_stride = 1;
    CHECK_FAILS(ctx, ech_solve_direct(ctx, 2, 2, a, 2, 1, b, 1, x, 1, ECH_F64, &o, r), ECH_ERR_ARG,
                "options->x_batch_stride is 1");
    o.x_batch_stride = (size_t)1 << 62;
    CHECK_FAILS(ctx, ech_solve_direct(ctx, 2, 2, a, 2, 1, b, 1, x, 1, ECH_F64, &o, r), ECH_ERR_ARG,
                "x has 2 matrices");
}

void direct_batch(ech_ctx *ctx, size_t n, ech_dtype dtype)
{
    static const ech_factor factors[] = { ECH_FACTOR_AUTO, ECH_FACTOR_LU, ECH_FACTOR_CHOLESKY };
    if (!test_begin("batch(%s,%zu,%s)", ech_device_name(ctx), n, ech_dtype_name(dtype))) return;
    for (int i = 0; i < 6 && !test_failed(); i++) {
        struct batch batch = batch_make(n, 1 + (size_t)i % 2, dtype);
        const ech_direct_options o = direct_options(factors[i / 2], "blocked", i == 1 ? -1 : 0);
        ech_set_threads(ctx, 1 + i % 3);
        if (CHECK_STATUS(solve(ctx, &batch, o), ECH_OK)) compare(ctx, &batch, o);
        check_others(ctx, &batch, o);
        batch_free(&batch);
    }
    check_steps(ctx);
    ech_set_threads(ctx, 0);
    test_end();
}
