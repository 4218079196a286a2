/*
 * solve/factor.c - triangular preconditioners: the triangles of A, and incomplete factors.
 *
 *     lower, upper   a triangle's rows in levels: a row comes after all rows that it depends on.
 *                    The rows of a level are independent and are processed in parallel; the result
 *                    is bit-identical to the sequential one
 *     ILU(0), IC(0)  A = L U where A has entries (Meijerink and van der Vorst, 1977), in f64 on the
 *                    host, row by row; the result depends on A only
 *
 *     SOR     z = (D / omega + L)^-1 r
 *     SSOR    y = (D / omega + L)^-1 r,  z_i = y_i - w_i (U z)_i with w = omega / diagonal
 *     ILU(0)  y = L^-1 r,                z = U^-1 y
 *     ILUT    the same, with the factors of ilut.c
 *
 * Levels and factors are computed once on the host, for all right-hand sides.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/solve.h"

#include <stdlib.h>
#include <string.h>

static bool is_incomplete(ech_precond precond)
{
    return precond == ECH_PRECOND_ILU0 || precond == ECH_PRECOND_IC0 || precond == ECH_PRECOND_ILUT;
}

bool echi_factor_wanted(ech_method method, ech_precond precond)
{
    return method == ECH_METHOD_GAUSS_SEIDEL || method == ECH_METHOD_SOR ||
           precond == ECH_PRECOND_SSOR || is_incomplete(precond);
}

/* ---- A on the host ---- */

static void host_free(struct echi_host_csr *a)
{
    free(a->offsets);
    free(a->columns);
    free(a->values);
    free(a->diagonal);
}

/* Copies `count` indices into out, clamped to limit. */
static ech_status fetch_indices(ech_ctx *ctx, const void *from, ech_dtype index, uint64_t count,
                                uint64_t limit, uint64_t *out)
{
    const size_t bytes = ech_dtype_bytes(index);
    ech_status status = ctx->backend->copy(ctx, out, from, count * bytes);
    /* Widens in place, from the end: narrow indices that are still needed precede the written
     * ones. */
    for (uint64_t i = count; status == ECH_OK && i-- > 0;) {
        int64_t wide = 0;
        int32_t narrow = 0;
        memcpy(&wide, (char *)out + i * bytes, bytes);
        memcpy(&narrow, (char *)out + i * bytes, sizeof narrow);
        const uint64_t value = bytes == 4 ? (uint64_t)(int64_t)narrow : (uint64_t)wide;
        out[i] = value < limit ? value : limit;
    }
    return status;
}

static ech_status fetch_values(ech_ctx *ctx, const ech_csr *csr, double *out)
{
    const size_t bytes = ech_dtype_bytes(csr->dtype);
    ech_status status = ctx->backend->copy(ctx, out, csr->values, csr->nnz * bytes);
    for (size_t i = csr->nnz; status == ECH_OK && bytes == 4 && i-- > 0;) {
        float narrow;
        memcpy(&narrow, (char *)out + i * bytes, sizeof narrow);
        out[i] = narrow;
    }
    return status;
}

static ech_status host_fetch(struct echi_run *run, struct echi_host_csr *a)
{
    const ech_csr *csr = &run->call->csr;
    const size_t n = csr->rows;
    ech_status status;
    *a = (struct echi_host_csr){ .n = n, .entries = csr->nnz };
    a->offsets = malloc((n + 1) * 8);
    a->columns = malloc((a->entries + 1) * 8);
    a->values = malloc((a->entries + 1) * 8);
    a->diagonal = malloc(n * 8);
    if (!a->offsets || !a->columns || !a->values || !a->diagonal)
        FAIL(run->ctx, ECH_ERR_MEMORY, "out of host memory for a copy of a->csr");
    TRY(fetch_indices(run->ctx, csr->row_offsets, csr->index_dtype, n + 1, a->entries, a->offsets));
    TRY(fetch_indices(run->ctx, csr->col_indices, csr->index_dtype, a->entries, n - 1, a->columns));
    TRY(fetch_values(run->ctx, csr, a->values));
    for (size_t i = 0; i < n; i++) {
        a->diagonal[i] = UINT64_MAX;
        for (uint64_t e = a->offsets[i]; e < a->offsets[i + 1]; e++)
            if (a->columns[e] == i && a->diagonal[i] == UINT64_MAX) a->diagonal[i] = e;
    }
done:
    return status;
}

/* ---- Levels ---- */

/* Rows by level, and the start of each level: levels[0 ... count]. */
static ech_status make_levels(struct echi_run *run, const struct echi_host_csr *a, bool upper,
                              struct echi_triangle *t)
{
    const uint64_t n = a->n;
    uint64_t *level = calloc(n, 8), *order = malloc(n * 8), most = 0;
    ech_status status = ECH_OK;
    t->levels = NULL;
    if (!level || !order)
        FAIL(run->ctx, ECH_ERR_MEMORY, "out of host memory for the levels of a triangle");
    for (uint64_t k = 0; k < n; k++) {
        const uint64_t i = upper ? n - 1 - k : k;
        for (uint64_t e = a->offsets[i]; e < a->offsets[i + 1]; e++) {
            const uint64_t j = a->columns[e];
            if ((upper ? j > i : j < i) && level[j] >= level[i]) level[i] = level[j] + 1;
        }
        if (level[i] > most) most = level[i];
    }
    t->count = most + 1;
    t->levels = calloc(t->count + 1, 8);
    if (!t->levels)
        FAIL(run->ctx, ECH_ERR_MEMORY, "out of host memory for the levels of a triangle");
    for (uint64_t i = 0; i < n; i++) t->levels[level[i] + 1]++;
    for (uint64_t k = 0; k < t->count; k++) t->levels[k + 1] += t->levels[k];
    for (uint64_t i = 0; i < n; i++) order[t->levels[level[i]]++] = i;
    for (uint64_t k = t->count; k > 0; k--) t->levels[k] = t->levels[k - 1];
    t->levels[0] = 0;
    t->order = upper ? run->parts.upper : run->parts.lower;
    TRY(run->ctx->backend->copy(run->ctx, t->order, order, n * 8));
done:
    free(level);
    free(order);
    return status;
}

void echi_triangles_free(struct echi_run *run)
{
    free(run->lower.levels);
    free(run->upper.levels);
    run->lower.levels = run->upper.levels = NULL;
}

/* ---- Incomplete factors ---- */

/* The entries of a row left of the diagonal, by ascending column. */
static uint64_t sort_left(const struct echi_host_csr *a, uint64_t i, uint64_t *list)
{
    uint64_t count = 0;
    for (uint64_t e = a->offsets[i]; e < a->offsets[i + 1]; e++) {
        if (a->columns[e] >= i) continue;
        uint64_t at = count++;
        for (; at > 0 && a->columns[list[at - 1]] > a->columns[e]; at--) list[at] = list[at - 1];
        list[at] = e;
    }
    return count;
}

/* Replaces A's values by L, without its unit diagonal, and U. False: row *where has no pivot. */
static bool factor(const struct echi_host_csr *a, bool positive, uint64_t *place, uint64_t *list,
                   uint64_t *where)
{
    for (uint64_t i = 0; i < a->n; i++) place[i] = UINT64_MAX;
    for (uint64_t i = 0; i < a->n; i++) {
        const uint64_t begin = a->offsets[i], end = a->offsets[i + 1];
        const uint64_t left = sort_left(a, i, list);
        for (uint64_t e = begin; e < end; e++) place[a->columns[e]] = e;
        for (uint64_t l = 0; l < left; l++) {
            const uint64_t k = a->columns[list[l]];
            const double ratio = a->values[list[l]] / a->values[a->diagonal[k]];
            a->values[list[l]] = ratio;
            for (uint64_t e = a->offsets[k]; e < a->offsets[k + 1]; e++)
                if (a->columns[e] > k && place[a->columns[e]] != UINT64_MAX)
                    a->values[place[a->columns[e]]] -= ratio * a->values[e];
        }
        for (uint64_t e = begin; e < end; e++) place[a->columns[e]] = UINT64_MAX;
        *where = i;
        if (a->diagonal[i] == UINT64_MAX) return false;
        const double pivot = a->values[a->diagonal[i]];
        if (pivot == 0 || (positive && !(pivot > 0))) return false;
    }
    return true;
}

/* Copies the factors' values and the inverse pivots to the device, in the type of the vectors. */
static ech_status put_factor(struct echi_run *run, struct echi_host_csr *a)
{
    const size_t bytes = ech_dtype_bytes(run->call->a.dtype);
    double *inverse = malloc(a->n * 8);
    ech_status status = ECH_OK;
    if (!inverse) FAIL(run->ctx, ECH_ERR_MEMORY, "out of host memory for the pivots of a factor");
    for (uint64_t i = 0; i < a->n; i++) inverse[i] = 1 / a->values[a->diagonal[i]];
    for (uint64_t i = 0; bytes == 4 && i < a->n; i++) {
        const float narrow = (float)inverse[i];
        memcpy((char *)inverse + i * 4, &narrow, 4);
    }
    for (uint64_t e = 0; bytes == 4 && e < a->entries; e++) {
        const float narrow = (float)a->values[e];
        memcpy((char *)a->values + e * 4, &narrow, 4);
    }
    TRY(run->ctx->backend->copy(run->ctx, run->parts.diagonal, inverse, a->n * bytes));
    TRY(run->ctx->backend->copy(run->ctx, run->parts.factor, a->values, a->entries * bytes));
done:
    free(inverse);
    return status;
}

static ech_status make_factor(struct echi_run *run, struct echi_host_csr *a, bool positive)
{
    uint64_t *place = malloc((a->n + 1) * 8), *list = malloc((a->entries + 1) * 8), where = 0;
    ech_status status = ECH_OK;
    if (!place || !list)
        FAIL(run->ctx, ECH_ERR_MEMORY, "out of host memory for an incomplete factor");
    if (factor(a, positive, place, list, &where)) {
        TRY(put_factor(run, a));
    } else {
        const bool there = a->diagonal[where] != UINT64_MAX;
        const bool zero = !there || a->values[a->diagonal[where]] == 0;
        run->report->status =
            zero ? ECH_SOLVE_STATUS_STOPPED_SINGULAR : ECH_SOLVE_STATUS_STOPPED_INDEFINITE;
        run->report->failed_index = where;
    }
done:
    free(place);
    free(list);
    return status;
}

static ech_status make_ilut(struct echi_run *run, const struct echi_host_csr *a)
{
    const ech_solve_options *o = &run->call->options;
    struct echi_host_csr f;
    uint64_t where;
    ech_status status;
    TRY(echi_ilut(run->ctx, a, o->drop_tolerance, o->fill, &f, &where));
    if (where != UINT64_MAX) {
        run->report->status = ECH_SOLVE_STATUS_STOPPED_SINGULAR;
        run->report->failed_index = where;
        goto done;
    }
    TRY(make_levels(run, &f, false, &run->lower));
    TRY(make_levels(run, &f, true, &run->upper));
    TRY(run->ctx->backend->copy(run->ctx, run->parts.factor_offsets, f.offsets, (f.n + 1) * 8));
    TRY(run->ctx->backend->copy(run->ctx, run->parts.factor_columns, f.columns, f.entries * 8));
    TRY(put_factor(run, &f));
done:
    host_free(&f);
    return status;
}

static ech_status make_triangles(struct echi_run *run)
{
    const ech_precond precond = run->report->precond;
    struct echi_host_csr a;
    const double given = run->call->options.omega;
    const double omega = run->report->method == ECH_METHOD_GAUSS_SEIDEL || given == 0 ? 1 : given;
    bool bad = false;
    ech_status status;
    TRY(host_fetch(run, &a));
    if (precond == ECH_PRECOND_ILUT) {
        TRY(make_ilut(run, &a));
        goto done;
    }
    if (a.n) TRY(make_levels(run, &a, false, &run->lower));
    if (precond != ECH_PRECOND_NONE) TRY(make_levels(run, &a, true, &run->upper));
    if (is_incomplete(precond)) {
        TRY(make_factor(run, &a, precond == ECH_PRECOND_IC0));
    } else {
        TRY(echi_diagonal_invert(run, ECHI_INVERT_NONZERO, omega, &bad));
        if (bad) run->report->status = ECH_SOLVE_STATUS_STOPPED_SINGULAR;
    }
done:
    host_free(&a);
    return status;
}

/* ---- z = M^-1 r ---- */

static struct echi_solve_step sweep(const struct echi_run *run, const struct echi_triangle *t,
                                    bool upper, const void *in, void *out)
{
    const ech_csr *csr = &run->call->csr;
    struct echi_solve_step step = echi_step(run);
    step.what = ECHI_SOLVE_SWEEP;
    step.e = in;
    step.a.out = out;
    step.csr = (struct echi_solve_csr){ .offsets = csr->row_offsets,
                                        .columns = csr->col_indices,
                                        .values = csr->values,
                                        .entries = csr->nnz,
                                        .index_bytes = (int32_t)ech_dtype_bytes(csr->index_dtype) };
    if (is_incomplete(run->report->precond)) step.csr.values = run->parts.factor;
    if (run->report->precond == ECH_PRECOND_ILUT) {
        step.csr.offsets = run->parts.factor_offsets;
        step.csr.columns = run->parts.factor_columns;
        step.csr.entries = run->parts.factor_entries;
        step.csr.index_bytes = 8;
    }
    step.diagonal = run->parts.diagonal;
    step.order = t->order;
    step.levels = t->levels;
    step.level_count = t->count;
    step.upper = upper;
    return step;
}

static ech_status apply_triangles(struct echi_run *run, const void *r, void *z)
{
    const ech_precond precond = run->report->precond;
    const bool incomplete = is_incomplete(precond);
    struct echi_solve_step lower = sweep(run, &run->lower, false, r, z);
    ech_status status;
    if (incomplete) lower.diagonal = NULL;
    TRY(echi_do(run, &lower));
    if (precond == ECH_PRECOND_NONE) return ECH_OK;
    struct echi_solve_step upper = sweep(run, &run->upper, true, z, z);
    if (!incomplete) upper.scaled_sum = 1;
    TRY(echi_do(run, &upper));
done:
    return status;
}

const struct echi_preconditioner echi_precond_triangles = { echi_factor_wanted, make_triangles,
                                                            apply_triangles };
