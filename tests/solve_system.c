/*
 * solve_system.c - systems with a known spectrum, and a call of ech_solve().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Systems ---- */

static void *room(size_t count, size_t bytes)
{
    void *p = calloc(count + 1, bytes);
    if (!p) abort();
    return p;
}

static void entry(struct solve_system *s, size_t column, double value)
{
    s->columns[s->entries] = (int64_t)column;
    s->values[s->entries++] = value;
}

static double uniform(struct rng *rng)
{
    return (double)(rng_next(rng) >> 11) / 4503599627370496.0 - 1;
}

static void grid_row(struct solve_system *s, size_t i, size_t side, double middle, double wind)
{
    const size_t row = i / side, col = i % side;
    if (row) entry(s, i - side, -1 - wind);
    if (col) entry(s, i - 1, -1 - wind);
    entry(s, i, middle);
    if (col + 1 < side) entry(s, i + 1, -1 + wind);
    if (row + 1 < side) entry(s, i + side, -1 + wind);
}

static void cube_row(struct solve_system *s, size_t i, size_t side)
{
    const size_t x = i % side, y = i / side % side, z = i / side / side;
    if (z) entry(s, i - side * side, -1);
    if (y) entry(s, i - side, -1);
    if (x) entry(s, i - 1, -1);
    entry(s, i, 6);
    if (x + 1 < side) entry(s, i + 1, -1);
    if (y + 1 < side) entry(s, i + side, -1);
    if (z + 1 < side) entry(s, i + side * side, -1);
}

static void random_row(struct solve_system *s, size_t i, struct rng *rng)
{
    double sum = 1;
    size_t column = i % 7;
    for (; column < s->n; column += 1 + rng_below(rng, 7 + s->n / 4)) {
        const double value = uniform(rng);
        if (column == i) continue;
        entry(s, column, value);
        sum += fabs(value);
    }
    entry(s, i, i % 2 ? sum : -sum); /* not in order: the diagonal comes last */
}

/* 5 x 5 blocks with the eigenvalues 0.05 and 5.05, times 1, 2 or 3; the coupling is 0.01. */
static void block_row(struct solve_system *s, size_t i)
{
    const size_t square = i / 5 * 5;
    if (i >= 5) entry(s, i - 5, -0.01);
    for (size_t j = square; j < square + 5 && j < s->n; j++)
        entry(s, j, (double)(1 + square / 5 % 3) * (i == j ? 1.05 : 1));
    if (i + 5 < s->n) entry(s, i + 5, -0.01);
}

struct solve_system system_make(const char *kind, size_t side, double kappa, uint64_t seed)
{
    struct solve_system s = { .n = side };
    struct rng rng = { seed };
    const bool grid =
        !strcmp(kind, "poisson") || !strcmp(kind, "convection") || !strcmp(kind, "indefinite");
    if (grid) s.n = side * side;
    if (!strcmp(kind, "poisson3")) s.n = side * side * side;
    s.offsets = room(s.n + 1, sizeof *s.offsets);
    s.columns = room(s.n * 12, sizeof *s.columns);
    s.values = room(s.n * 12, sizeof *s.values);
    s.b = room(s.n, sizeof *s.b);
    for (size_t i = 0; i < s.n; i++) {
        const double at = s.n > 1 ? (double)i / (double)(s.n - 1) : 0;
        if (grid)
            grid_row(&s, i, side, !strcmp(kind, "indefinite") ? 2.3 : 4,
                     !strcmp(kind, "convection") ? kappa : 0);
        if (!strcmp(kind, "poisson3")) cube_row(&s, i, side);
        if (!strcmp(kind, "line")) entry(&s, i, 1 + at * (kappa - 1));
        if (!strcmp(kind, "seven")) entry(&s, i, (double)(1 + i % 7 * 3));
        if (!strcmp(kind, "signs")) entry(&s, i, (double)(i % 7) * 2 - 5);
        if (!strcmp(kind, "cycle")) entry(&s, (i + 1) % s.n, 1);
        if (!strcmp(kind, "blocks")) block_row(&s, i);
        if (!strcmp(kind, "zigzag")) {
            if (i > 1) entry(&s, i - 2, 0.2);
            if (i % 2 || i + 1 < s.n) entry(&s, i ^ 1, i % 2 ? 1 : -2);
        }
        if (!strcmp(kind, "random")) random_row(&s, i, &rng);
        if (!strcmp(kind, "neumann")) {
            if (i) entry(&s, i - 1, -1);
            entry(&s, i, i == 0 || i + 1 == s.n ? 1 : 2);
            if (i + 1 < s.n) entry(&s, i + 1, -1);
        }
        s.offsets[i + 1] = (int64_t)s.entries;
        s.b[i] = uniform(&rng);
    }
    return s;
}

void system_free(struct solve_system *s)
{
    free(s->offsets);
    free(s->columns);
    free(s->values);
    free(s->b);
}

void system_rotated(const struct solve_system *s, size_t i, double *b)
{
    for (size_t j = 0; j < s->n; j++) b[j] = s->b[(j + i * 3) % s->n];
}

static long double rounded(double x, ech_dtype dtype)
{
    return dtype == ECH_F32 ? (long double)(float)x : (long double)x;
}

long double system_residual(const struct solve_system *s, ech_dtype dtype, const double *b,
                            const void *x, long double *size)
{
    long double rr = 0, all = 0;
    for (size_t i = 0; i < s->n; i++) {
        long double r = rounded(b[i], dtype), sum = fabsl(r);
        for (int64_t e = s->offsets[i]; e < s->offsets[i + 1]; e++) {
            const size_t j = (size_t)s->columns[e];
            const long double xj = dtype == ECH_F32 ? (long double)((const float *)x)[j]
                                                    : (long double)((const double *)x)[j];
            r -= rounded(s->values[e], dtype) * xj;
            sum += fabsl(rounded(s->values[e], dtype) * xj);
        }
        rr += r * r;
        all += sum * sum;
    }
    if (size) *size = sqrtl(all);
    return sqrtl(rr);
}

long double system_norm(const struct solve_system *s, ech_dtype dtype, const double *b)
{
    long double bb = 0;
    for (size_t i = 0; i < s->n; i++) bb += rounded(b[i], dtype) * rounded(b[i], dtype);
    return sqrtl(bb);
}

/* ---- Arrays ---- */

/* An array in device or host memory, with a copy of its contents. */
struct array {
    struct buffer buffer;
    void *image;
};

static bool array_of(struct array *a, ech_ctx *ctx, const void *from, size_t count, size_t bytes)
{
    a->image = room(count, bytes);
    if (from) memcpy(a->image, from, count * bytes);
    return buffer_make(&a->buffer, ctx, count * bytes, bytes) &&
           (!from || buffer_set(&a->buffer, a->image));
}

static bool numbers_of(struct array *a, ech_ctx *ctx, const double *from, size_t count,
                       ech_dtype dtype)
{
    float *narrow = room(count, sizeof *narrow);
    for (size_t i = 0; i < count; i++) narrow[i] = (float)from[i];
    const bool made = array_of(a, ctx, dtype == ECH_F32 ? (const void *)narrow : from, count,
                               ech_dtype_bytes(dtype));
    free(narrow);
    return made;
}

static bool indices_of(struct array *a, ech_ctx *ctx, const int64_t *from, size_t count,
                       ech_dtype index)
{
    int32_t *narrow = room(count, sizeof *narrow);
    for (size_t i = 0; i < count; i++) narrow[i] = (int32_t)from[i];
    const bool made = array_of(a, ctx, index == ECH_I32 ? (const void *)narrow : from, count,
                               ech_dtype_bytes(index));
    free(narrow);
    return made;
}

static void array_end(struct array *a, const char *name)
{
    void *now = room(a->buffer.bytes, 1);
    if (!test_failed() && a->buffer.data && name && CHECK(buffer_get(&a->buffer, now)))
        CHECK(memcmp(now, a->image, a->buffer.bytes) == 0); /* inputs are unchanged */
    if (a->buffer.data) buffer_check_guards(&a->buffer, name ? name : "x");
    buffer_free(&a->buffer);
    free(now);
    free(a->image);
}

/* ---- A user-defined operator ---- */

struct applied {
    const struct solve_system *s;
    ech_dtype dtype;
};

/* Adds the products of a row sequentially. */
static ech_status apply(void *user, ech_ctx *ctx, const void *x, void *y)
{
    const struct applied *a = user;
    const size_t n = a->s->n, bytes = ech_dtype_bytes(a->dtype);
    char *in = room(n, bytes), *out = room(n, bytes);
    ech_status status = ech_copy(ctx, in, x, n * bytes);
    for (size_t i = 0; i < n; i++) {
        float narrow = 0;
        double wide = 0;
        for (int64_t e = a->s->offsets[i]; e < a->s->offsets[i + 1]; e++) {
            const size_t j = (size_t)a->s->columns[e];
            narrow += (float)a->s->values[e] * ((float *)(void *)in)[a->dtype == ECH_F32 ? j : 0];
            if (a->dtype == ECH_F64) wide += a->s->values[e] * ((double *)(void *)in)[j];
        }
        if (a->dtype == ECH_F32)
            ((float *)(void *)out)[i] = narrow;
        else
            ((double *)(void *)out)[i] = wide;
    }
    if (status == ECH_OK) status = ech_copy(ctx, y, out, n * bytes);
    free(in);
    free(out);
    return status;
}

/* ---- The call ---- */

enum { A_OFFSETS, A_COLUMNS, A_VALUES, A_DIAGONAL, A_B, A_X, ARRAYS };

static double *dense_of(const struct solve_system *s, size_t stride)
{
    double *dense = room(s->n * stride, sizeof *dense);
    for (size_t i = 0; i < s->n; i++)
        for (int64_t e = s->offsets[i]; e < s->offsets[i + 1]; e++)
            dense[i * stride + (size_t)s->columns[e]] = s->values[e];
    return dense;
}

static double *diagonal_of(const struct solve_system *s)
{
    double *diagonal = room(s->n, sizeof *diagonal);
    for (size_t i = 0; i < s->n; i++)
        for (int64_t e = s->offsets[i]; e < s->offsets[i + 1]; e++)
            if ((size_t)s->columns[e] == i) diagonal[i] = s->values[e];
    return diagonal;
}

struct solve_run solve_on(ech_ctx *ctx, const struct solve_system *s, enum solve_form form,
                          ech_dtype dtype, size_t count, bool on_host, const double *guess,
                          const ech_solve_options *options)
{
    const size_t bytes = ech_dtype_bytes(dtype), stride = s->n + 3;
    const ech_dtype index = form == FORM_I32 ? ECH_I32 : ECH_I64;
    const bool sparse = form == FORM_I32 || form == FORM_I64;
    ech_ctx *where = on_host ? NULL : ctx;
    struct array arrays[ARRAYS] = { { { 0 }, NULL } };
    struct solve_run run = { .x_bytes = count * s->n * bytes };
    struct applied applied = { s, dtype };
    double *b = room(count * s->n, sizeof *b), *first = room(count * s->n, sizeof *first);
    double *dense = form == FORM_DENSE ? dense_of(s, stride) : NULL, *diagonal = diagonal_of(s);
    for (size_t i = 0; i < count; i++) {
        system_rotated(s, i, b + i * s->n);
        for (size_t j = 0; j < s->n; j++) first[i * s->n + j] = guess ? guess[j] : NAN;
    }
    run.reports = room(count, sizeof *run.reports);
    for (size_t i = 0; i < count; i++) run.reports[i].size = sizeof *run.reports;
    run.history = room(count * HISTORY, sizeof *run.history);
    run.x = room(run.x_bytes, 1);
    bool made = numbers_of(&arrays[A_B], where, b, count * s->n, dtype) &&
                numbers_of(&arrays[A_X], where, first, count * s->n, dtype) &&
                numbers_of(&arrays[A_DIAGONAL], where, diagonal, s->n, dtype);
    if (sparse)
        made = made && indices_of(&arrays[A_OFFSETS], where, s->offsets, s->n + 1, index) &&
               indices_of(&arrays[A_COLUMNS], where, s->columns, s->entries, index) &&
               numbers_of(&arrays[A_VALUES], where, s->values, s->entries, dtype);
    if (dense) made = made && numbers_of(&arrays[A_VALUES], where, dense, s->n * stride, dtype);
    const ech_csr csr = { .size = sizeof(ech_csr),
                          .rows = s->n,
                          .cols = s->n,
                          .nnz = s->entries,
                          .row_offsets = arrays[A_OFFSETS].buffer.data,
                          .col_indices = arrays[A_COLUMNS].buffer.data,
                          .values = arrays[A_VALUES].buffer.data,
                          .index_dtype = index_sign(index, (uint64_t)s->n),
                          .dtype = dtype };
    const ech_operator a = { .size = sizeof a,
                             .n = s->n,
                             .dtype = dtype,
                             .csr = sparse ? &csr : NULL,
                             .dense = dense ? arrays[A_VALUES].buffer.data : NULL,
                             .stride = stride,
                             .apply = form == FORM_APPLY ? apply : NULL,
                             .user = &applied,
                             .diagonal =
                                 form == FORM_APPLY ? arrays[A_DIAGONAL].buffer.data : NULL };
    ech_solve_options all = *options;
    all.history = run.history;
    all.history_capacity = HISTORY;
    all.use_initial_guess = guess != NULL;
    if (CHECK(made)) {
        run.status = ech_solve(ctx, &a, count, arrays[A_B].buffer.data, s->n,
                               arrays[A_X].buffer.data, s->n, &all, run.reports);
        if (run.status != ECH_OK) test_fail(__FILE__, __LINE__, "%s", ech_error(ctx));
        CHECK(buffer_get(&arrays[A_X].buffer, run.x));
    }
    static const char *const names[ARRAYS] = {
        "offsets", "columns", "values", "diagonal", "b", NULL
    };
    for (int i = 0; i < ARRAYS; i++) array_end(&arrays[i], names[i]);
    free(b);
    free(first);
    free(dense);
    free(diagonal);
    return run;
}

void run_free(struct solve_run *run)
{
    free(run->reports);
    free(run->history);
    free(run->x);
}

bool runs_same(const struct solve_run *a, const struct solve_run *b, size_t count, const char *what)
{
    for (size_t i = 0; i < count; i++) {
        const ech_solve_report *p = &a->reports[i], *q = &b->reports[i];
        if (p->status != q->status || p->iterations != q->iterations ||
            p->history_count != q->history_count || p->method != q->method ||
            p->precond != q->precond || p->restarts != q->restarts ||
            memcmp(&p->residual, &q->residual, sizeof p->residual) ||
            memcmp(&p->lower, &q->lower, 2 * sizeof p->lower)) {
            test_fail(__FILE__, __LINE__,
                      "%s: status %d and %d, iterations %llu and %llu, residual %.17g and %.17g, "
                      "bounds %.17g %.17g and %.17g %.17g",
                      what, p->status, q->status, (unsigned long long)p->iterations,
                      (unsigned long long)q->iterations, p->residual, q->residual, p->lower,
                      p->upper, q->lower, q->upper);
            return false;
        }
        for (size_t j = 0; j < p->history_count && j < HISTORY; j++)
            if (memcmp(&a->history[i * HISTORY + j], &b->history[i * HISTORY + j], 8)) {
                test_fail(__FILE__, __LINE__, "%s: residual %zu of %zu is %.17g and %.17g", what, j,
                          i, a->history[i * HISTORY + j], b->history[i * HISTORY + j]);
                return false;
            }
    }
    if (memcmp(a->x, b->x, a->x_bytes) == 0) return true;
    test_fail(__FILE__, __LINE__, "%s: x differs", what);
    return false;
}
