/*
 * sparse_direct/dense.c - the algorithm "dense": the inverse of A, for small systems without a
 * library of sparse direct solvers. Refinement makes its solutions as accurate as those of LU.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sparse_direct/sparse_direct.h"

#include <stdlib.h>
#include <string.h>

struct state {
    size_t n;
    double *inverse; /* [n][n] */
    double *copy;    /* [n] */
};

static bool take(void *library, const char **why)
{
    (void)library;
    (void)why;
    return false; /* it needs no library */
}

static void release(ech_ctx *ctx, void *at)
{
    struct state *s = at;
    (void)ctx;
    if (!s) return;
    free(s->inverse);
    free(s->copy);
    free(s);
}

static ech_status factor(ech_ctx *ctx, const struct echi_csc *a, const double *values,
                         const char *other, void **state, struct echi_sparse_outcome *outcome)
{
    const ech_direct_options options = { .size = sizeof options, .kind = ECH_FACTOR_LU };
    const size_t n = a->n;
    ech_direct_report report = { .size = sizeof report };
    struct state *s = calloc(1, sizeof *s);
    double *matrix = calloc(n * n + 1, sizeof *matrix);
    ech_status status = ECH_OK;
    (void)other;
    if (s) {
        s->n = n;
        s->inverse = malloc((n * n + 1) * sizeof *s->inverse);
        s->copy = malloc((n + 1) * sizeof *s->copy);
    }
    if (!s || !matrix || !s->inverse || !s->copy)
        FAIL(ctx, ECH_ERR_MEMORY, "out of host memory for a dense matrix of %zu x %zu", n, n);
    for (size_t j = 0; j < n; j++)
        for (int64_t e = a->offsets[j]; e < a->offsets[j + 1]; e++)
            matrix[(size_t)a->rows[e] * n + j] = values[e];
    TRY(ech_inverse(ctx, n, matrix, n, s->inverse, n, ECH_F64, &options, &report));
    outcome->status = report.status;
    outcome->failed_index = report.failed_index;
    outcome->factor_nnz = n * n;
    if (report.status == ECH_DIRECT_STATUS_SOLVED) {
        *state = s;
        s = NULL;
    }
done:
    free(matrix);
    release(ctx, s);
    return status;
}

static ech_status solve(ech_ctx *ctx, void *state, bool transpose, double *x)
{
    const struct state *s = state;
    const size_t n = s->n;
    (void)ctx;
    memcpy(s->copy, x, n * sizeof *x);
    memset(x, 0, n * sizeof *x);
    for (size_t i = 0; i < n; i++) {
        const double *row = s->inverse + i * n;
        double sum = 0;
        if (transpose)
            for (size_t j = 0; j < n; j++) x[j] += row[j] * s->copy[i];
        else
            for (size_t j = 0; j < n; j++) sum += row[j] * s->copy[j];
        if (!transpose) x[i] = sum;
    }
    return ECH_OK;
}

const struct echi_sparse_library echi_sparse_dense = { .name = "dense",
                                                       .title = "a dense inverse",
                                                       .take = take,
                                                       .factor = factor,
                                                       .solve = solve,
                                                       .release = release };
