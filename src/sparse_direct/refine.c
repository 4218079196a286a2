/*
 * sparse_direct/refine.c - the solution of one right-hand side with refinement, its backward error,
 * and an estimate of the condition number.
 *
 *     x = A^-1 b
 *     r = b - A x in twice the precision, d = A^-1 r, x += d     as long as |d| <= |d before| / 2
 *     backward error = |r| / (|A| |x| + |b|) in the maximum norm
 *
 * The library has factored the scaled matrix R A C, with diagonal matrices R and C of powers of 2:
 * A^-1 b = C (R A C)^-1 R b.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sparse_direct/sparse_direct.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { ESTIMATE_TURNS = 5 };

/* x becomes A^-1 x, or A^-T x. */
static ech_status apply(struct ech_sparse_factor *f, bool transpose, double *x)
{
    const double *before = transpose ? f->a.col_scale : f->a.row_scale;
    const double *after = transpose ? f->a.row_scale : f->a.col_scale;
    ech_status status;
    for (size_t i = 0; i < f->a.n; i++) x[i] *= before[i];
    TRY(f->library->solve(f->ctx, f->state, transpose, x));
    for (size_t i = 0; i < f->a.n; i++) x[i] *= after[i];
done:
    return status;
}

/* The maximum norm; NaN if an element is NaN. */
static double peak(const double *x, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        if (!(fabs(x[i]) <= most)) most = fabs(x[i]);
    return most;
}

static double sum_of(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += fabs(x[i]);
    return sum;
}

/* Rounds x to the type of the caller, so that its error is the error of what the caller gets. */
static void round_to(const struct ech_sparse_factor *f, double *x)
{
    if (f->dtype == ECH_F32)
        for (size_t i = 0; i < f->a.n; i++) x[i] = (float)x[i];
}

static ech_status refine(struct ech_sparse_factor *f, bool transpose, int most, const double *b,
                         double *x, int *steps)
{
    const size_t n = f->a.n;
    const double unit = f->dtype == ECH_F32 ? FLT_EPSILON / 2 : DBL_EPSILON / 2;
    double *r = f->work, *low = f->work + n, before = 1;
    ech_status status = ECH_OK;
    for (*steps = 0; *steps < most; ++*steps) {
        echi_csc_residual(&f->a, transpose, b, x, r, low);
        const double size = peak(x, n);
        TRY(apply(f, transpose, r));
        const double now = peak(r, n) / size;
        if (!(now <= before / 2) || now == 0) break;
        for (size_t i = 0; i < n; i++) x[i] += r[i];
        before = now;
        if (now <= unit) {
            ++*steps;
            break;
        }
    }
done:
    return status;
}

ech_status echi_sparse_solve(struct ech_sparse_factor *f, bool transpose, int most, const double *b,
                             double *x, struct echi_sparse_result *result)
{
    const size_t n = f->a.n;
    const double norm = transpose ? f->a.col_norm : f->a.row_norm;
    double *r = f->work, *low = f->work + n;
    ech_status status;
    *result = (struct echi_sparse_result){ .refinements = 0 };
    memcpy(x, b, n * sizeof *x);
    TRY(apply(f, transpose, x));
    if (!isfinite(peak(x, n))) {
        result->overflow = true;
        return ECH_OK;
    }
    TRY(refine(f, transpose, most, b, x, &result->refinements));
    round_to(f, x);
    echi_csc_residual(&f->a, transpose, b, x, r, low);
    const double size = peak(x, n), error = peak(r, n);
    result->overflow = !isfinite(size);
    if (!(error == 0)) result->backward_error = error / (norm * size + peak(b, n));
    if (isnan(result->backward_error)) result->backward_error = HUGE_VAL;
done:
    return status;
}

/* ---- The condition number ---- */

/* A lower bound of the 1-norm of A^-1 (Hager, Higham): rarely less than a third of it. */
static ech_status inverse_norm(struct ech_sparse_factor *f, double *norm)
{
    const size_t n = f->a.n;
    double *x = f->work, *signs = f->work + n;
    size_t place = n;
    ech_status status;
    for (size_t i = 0; i < n; i++) x[i] = 1 / (double)n;
    TRY(apply(f, false, x));
    *norm = sum_of(x, n);
    for (int turn = 0; turn < ESTIMATE_TURNS && n > 1; turn++) {
        size_t largest = 0;
        for (size_t i = 0; i < n; i++) signs[i] = x[i] < 0 ? -1 : 1;
        TRY(apply(f, true, signs));
        for (size_t i = 1; i < n; i++)
            if (fabs(signs[i]) > fabs(signs[largest])) largest = i;
        if (largest == place) break;
        place = largest;
        for (size_t i = 0; i < n; i++) x[i] = i == place;
        TRY(apply(f, false, x));
        const double now = sum_of(x, n);
        if (now <= *norm) break;
        *norm = now;
    }
    for (size_t i = 0; i < n && n > 1; i++)
        x[i] = (i % 2 ? -1 : 1) * (1 + (double)i / (double)(n - 1));
    if (n > 1) TRY(apply(f, false, x));
    const double wave = 2 * sum_of(x, n) / (3 * (double)n);
    if (n > 1 && !(wave <= *norm)) *norm = wave;
done:
    return status;
}

ech_status echi_sparse_condition(struct ech_sparse_factor *f, double *rcond)
{
    double norm = 0;
    const ech_status status = f->a.n ? inverse_norm(f, &norm) : ECH_OK;
    *rcond = isfinite(norm) && norm > 0 ? 1 / f->a.col_norm / norm : 0;
    if (!f->a.n) *rcond = 1;
    return status;
}
