/*
 * sparse_direct/matrix.c - A in host memory by columns: copied from CSR, equal entries added,
 * scaled; and residuals in twice the precision of f64.
 *
 *     CSR (any order, equal columns)   -- count, distribute -->   CSC with ascending rows
 *
 * The rows are distributed in ascending order, so the entries of a column need no sort, and equal
 * entries follow each other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sparse_direct/sparse_direct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The caller's arrays ---- */

struct source {
    size_t n, nnz, index_bytes;
    bool f64;
    const void *offsets, *columns, *values;
    void *own[3]; /* copies of arrays in device memory */
};

static int64_t index_at(const void *array, size_t index_bytes, size_t i)
{
    return index_bytes == 4 ? ((const int32_t *)array)[i] : ((const int64_t *)array)[i];
}

/* An array in host memory: the caller's, or a copy of it. */
static ech_status fetch(ech_ctx *ctx, const char *name, const void *from, size_t bytes,
                        const void **to, void **own)
{
    enum echi_side side = ECHI_HOST;
    ech_status status = ECH_OK;
    *to = from;
    if (!bytes) return ECH_OK;
    if (!from) FAIL(ctx, ECH_ERR_ARG, "a->%s is NULL", name);
    if (ctx->backend == &echi_cpu) return ECH_OK;
    TRY(ctx->backend->side(ctx, from, &side, NULL));
    if (side == ECHI_HOST) return ECH_OK;
    *own = malloc(bytes);
    if (!*own) FAIL(ctx, ECH_ERR_MEMORY, "out of host memory for a copy of a->%s", name);
    TRY(ctx->backend->copy(ctx, *own, from, bytes));
    *to = *own;
done:
    return status;
}

static ech_status fetch_all(ech_ctx *ctx, const ech_csr *csr, struct source *s)
{
    ech_status status;
    *s = (struct source){ .n = csr->rows,
                          .nnz = csr->nnz,
                          .index_bytes = ech_dtype_bytes(csr->index_dtype),
                          .f64 = csr->dtype == ECH_F64 };
    TRY(fetch(ctx, "row_offsets", csr->row_offsets, (s->n + 1) * s->index_bytes, &s->offsets,
              &s->own[0]));
    TRY(fetch(ctx, "col_indices", csr->col_indices, s->nnz * s->index_bytes, &s->columns,
              &s->own[1]));
    TRY(fetch(ctx, "values", csr->values, s->nnz * (s->f64 ? 8 : 4), &s->values, &s->own[2]));
done:
    return status;
}

/* Validates the indices; *bad: the first row with a value that is not finite. */
static ech_status check(ech_ctx *ctx, const struct source *s, size_t *bad)
{
    const int64_t n = (int64_t)s->n, nnz = (int64_t)s->nnz;
    int64_t begin = index_at(s->offsets, s->index_bytes, 0);
    *bad = s->n;
    if (begin != 0)
        return echi_fail(ctx, ECH_ERR_ARG, "a->row_offsets[0] is %lld, not 0", (long long)begin);
    for (int64_t i = 0; i < n; i++) {
        const int64_t end = index_at(s->offsets, s->index_bytes, (size_t)i + 1);
        if (end < begin || end > nnz)
            return echi_fail(ctx, ECH_ERR_ARG,
                             "a->row_offsets[%lld] is %lld, not from %lld to a->nnz, %lld",
                             (long long)i + 1, (long long)end, (long long)begin, (long long)nnz);
        for (int64_t e = begin; e < end; e++) {
            const int64_t column = index_at(s->columns, s->index_bytes, (size_t)e);
            if (column < 0 || column >= n)
                return echi_fail(ctx, ECH_ERR_ARG,
                                 "row %lld of a has an entry in column %lld, but a has %lld "
                                 "columns",
                                 (long long)i, (long long)column, (long long)n);
            const double value =
                s->f64 ? ((const double *)s->values)[e] : ((const float *)s->values)[e];
            if (!isfinite(value) && *bad == s->n) *bad = (size_t)i;
        }
        begin = end;
    }
    if (begin != nnz)
        return echi_fail(ctx, ECH_ERR_ARG, "a->row_offsets[%lld] is %lld, but a->nnz is %lld",
                         (long long)n, (long long)begin, (long long)nnz);
    return ECH_OK;
}

/* ---- By columns ---- */

static void distribute(const struct source *s, struct echi_csc *a)
{
    int64_t begin = 0;
    for (size_t e = 0; e < s->nnz; e++) a->offsets[index_at(s->columns, s->index_bytes, e) + 1]++;
    for (size_t j = 0; j < s->n; j++) a->offsets[j + 1] += a->offsets[j];
    for (size_t i = 0; i < s->n; i++) {
        const int64_t end = index_at(s->offsets, s->index_bytes, i + 1);
        for (int64_t e = begin; e < end; e++) {
            const int64_t at = a->offsets[index_at(s->columns, s->index_bytes, (size_t)e)]++;
            a->rows[at] = (int64_t)i;
            a->values[at] = s->f64 ? ((const double *)s->values)[e] : ((const float *)s->values)[e];
        }
        begin = end;
    }
    for (size_t j = s->n; j > 0; j--) a->offsets[j] = a->offsets[j - 1];
    a->offsets[0] = 0;
}

/* Adds entries of the same row and column. */
static void merge(struct echi_csc *a)
{
    int64_t to = 0, begin = 0;
    for (size_t j = 0; j < a->n; j++) {
        const int64_t end = a->offsets[j + 1], first = to;
        for (int64_t e = begin; e < end; e++) {
            if (to > first && a->rows[to - 1] == a->rows[e]) {
                a->values[to - 1] += a->values[e];
                continue;
            }
            a->rows[to] = a->rows[e];
            a->values[to++] = a->values[e];
        }
        begin = end;
        a->offsets[j + 1] = to;
    }
    a->nnz = (size_t)to;
}

/* The power of 2 that makes size, if it is not 0, at least a half and less than 1. */
static double scale_of(double size)
{
    int exponent = 0;
    if (size > 0) frexp(size, &exponent);
    return ldexp(1, exponent > 1000 ? -1000 : exponent < -1000 ? 1000 : -exponent);
}

/* Scales each row, then each column, by its largest element. */
static void find_scales(struct echi_csc *a, double *largest)
{
    for (size_t e = 0; e < a->nnz; e++) {
        const double size = fabs(a->values[e]);
        if (size > largest[a->rows[e]]) largest[a->rows[e]] = size;
    }
    for (size_t i = 0; i < a->n; i++) a->row_scale[i] = scale_of(largest[i]);
    for (size_t j = 0; j < a->n; j++) {
        double size = 0;
        for (int64_t e = a->offsets[j]; e < a->offsets[j + 1]; e++) {
            const double here = fabs(a->values[e]) * a->row_scale[a->rows[e]];
            if (here > size) size = here;
        }
        a->col_scale[j] = scale_of(size);
    }
}

static void find_norms(struct echi_csc *a, double *sums)
{
    memset(sums, 0, a->n * sizeof *sums);
    for (size_t j = 0; j < a->n; j++) {
        double sum = 0;
        for (int64_t e = a->offsets[j]; e < a->offsets[j + 1]; e++) {
            sum += fabs(a->values[e]);
            sums[a->rows[e]] += fabs(a->values[e]);
        }
        if (sum > a->col_norm) a->col_norm = sum;
    }
    for (size_t i = 0; i < a->n; i++)
        if (sums[i] > a->row_norm) a->row_norm = sums[i];
}

ech_status echi_csc_make(ech_ctx *ctx, const ech_csr *from, bool scaled, struct echi_csc *to,
                         size_t *bad)
{
    struct source s = { .n = 0 };
    double *sums = NULL;
    ech_status status;
    *to = (struct echi_csc){ .n = from->rows };
    TRY(fetch_all(ctx, from, &s));
    TRY(check(ctx, &s, bad));
    if (*bad < s.n) goto done;
    to->offsets = calloc(s.n + 1, sizeof *to->offsets);
    to->rows = malloc((s.nnz + 1) * sizeof *to->rows);
    to->values = malloc((s.nnz + 1) * sizeof *to->values);
    to->row_scale = calloc(s.n + 1, sizeof *to->row_scale);
    to->col_scale = calloc(s.n + 1, sizeof *to->col_scale);
    sums = calloc(s.n + 1, sizeof *sums);
    if (!to->offsets || !to->rows || !to->values || !to->row_scale || !to->col_scale || !sums)
        FAIL(ctx, ECH_ERR_MEMORY, "out of host memory for a copy of a");
    distribute(&s, to);
    merge(to);
    for (size_t i = 0; i < s.n; i++) to->row_scale[i] = to->col_scale[i] = 1;
    if (scaled) find_scales(to, sums);
    find_norms(to, sums);
done:
    for (int i = 0; i < 3; i++) free(s.own[i]);
    free(sums);
    if (status != ECH_OK) echi_csc_free(to);
    return status;
}

void echi_csc_free(struct echi_csc *a)
{
    free(a->offsets);
    free(a->rows);
    free(a->values);
    free(a->row_scale);
    free(a->col_scale);
    *a = (struct echi_csc){ .n = 0 };
}

double *echi_csc_scaled(const struct echi_csc *a)
{
    double *scaled = malloc((a->nnz + 1) * sizeof *scaled);
    for (size_t j = 0; scaled && j < a->n; j++)
        for (int64_t e = a->offsets[j]; e < a->offsets[j + 1]; e++)
            scaled[e] = a->values[e] * a->row_scale[a->rows[e]] * a->col_scale[j];
    return scaled;
}

/* ---- Residuals ---- */

/* *high + *low += -a * x, with an error of about 2^-104 of the terms: the product is exact, and the
 * rounding errors of the sums of the upper halves are added to the lower half (Dekker, Knuth). */
static void subtract(double a, double x, double *high, double *low)
{
    const double product = -a * x, rest = fma(-a, x, -product);
    const double sum = *high + product, part = sum - *high;
    *low += (*high - (sum - part)) + (product - part) + rest;
    *high = sum;
}

void echi_csc_residual(const struct echi_csc *a, bool transpose, const double *b, const double *x,
                       double *high, double *low)
{
    memcpy(high, b, a->n * sizeof *high);
    memset(low, 0, a->n * sizeof *low);
    for (size_t j = 0; j < a->n; j++)
        for (int64_t e = a->offsets[j]; e < a->offsets[j + 1]; e++) {
            const size_t i = (size_t)a->rows[e];
            if (transpose)
                subtract(a->values[e], x[i], &high[j], &low[j]);
            else
                subtract(a->values[e], x[j], &high[i], &low[i]);
        }
    for (size_t i = 0; i < a->n; i++) high[i] += low[i];
}
