/*
 * sparse_direct/sparse_direct.c - ech_solve_sparse() and its related functions: checks the
 * arguments, factors, solves the right-hand sides one by one, and reports.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sparse_direct/sparse_direct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Checks ---- */

static ech_status check_options(ech_ctx *ctx, const ech_sparse_direct_options *given,
                                ech_sparse_direct_options *o)
{
    ech_status status;
    TRY(echi_read_struct(ctx, "options", "ech_sparse_direct_options", given, o, sizeof *o));
    TRY(echi_sparse_check_name(ctx, o->algorithm));
    if (o->refine < -1 || o->refine > 1000)
        FAIL(ctx, ECH_ERR_ARG, "options->refine is %d, not from -1 to 1000", o->refine);
    if (o->transpose != 0 && o->transpose != 1)
        FAIL(ctx, ECH_ERR_ARG, "options->transpose is %d, not 0 or 1", o->transpose);
    if (o->estimate_condition != 0 && o->estimate_condition != 1)
        FAIL(ctx, ECH_ERR_ARG, "options->estimate_condition is %d, not 0 or 1",
             o->estimate_condition);
    if (o->no_scaling != 0 && o->no_scaling != 1)
        FAIL(ctx, ECH_ERR_ARG, "options->no_scaling is %d, not 0 or 1", o->no_scaling);
    o->refine = o->refine < 0 ? 0 : o->refine ? o->refine : 10;
done:
    return status;
}

static ech_status check_matrix(ech_ctx *ctx, const ech_csr *given, ech_csr *a)
{
    ech_status status;
    if (!given) FAIL(ctx, ECH_ERR_ARG, "a is NULL");
    TRY(echi_read_struct(ctx, "a", "ech_csr", given, a, sizeof *a));
    if (a->rows != a->cols)
        FAIL(ctx, ECH_ERR_ARG, "a is %zu x %zu, but must be square", a->rows, a->cols);
    if (a->dtype != ECH_F32 && a->dtype != ECH_F64)
        FAIL(ctx, ECH_ERR_ARG, "a->dtype is %s (%d), not f32 or f64", ech_dtype_name(a->dtype),
             (int)a->dtype);
    if (a->index_dtype == ECH_U32) a->index_dtype = ECH_I32;
    if (a->index_dtype == ECH_U64) a->index_dtype = ECH_I64;
    if (a->index_dtype != ECH_I32 && a->index_dtype != ECH_I64)
        FAIL(ctx, ECH_ERR_ARG, "a->index_dtype is %s, not i32, u32, i64 or u64",
             ech_dtype_name(a->index_dtype));
    TRY(echi_check_count(ctx, "a->rows", a->rows, 64));
    TRY(echi_check_count(ctx, "a->nnz", a->nnz, 64));
done:
    return status;
}

static ech_status check_sides(ech_ctx *ctx, size_t n, size_t nrhs, const void *b, size_t b_stride,
                              const void *x, size_t x_stride)
{
    ech_status status = ECH_OK;
    if (!nrhs || !n) goto done;
    if (!b) FAIL(ctx, ECH_ERR_ARG, "b is NULL");
    if (!x) FAIL(ctx, ECH_ERR_ARG, "x is NULL");
    if (nrhs > 1 && b_stride < n)
        FAIL(ctx, ECH_ERR_ARG, "b_batch_stride is %zu, less than a->rows, %zu", b_stride, n);
    if (nrhs > 1 && x_stride < n)
        FAIL(ctx, ECH_ERR_ARG, "x_batch_stride is %zu, less than a->rows, %zu", x_stride, n);
    if (nrhs > 1) {
        TRY(echi_check_count(ctx, "nrhs x b_batch_stride", b_stride, 8 * nrhs));
        TRY(echi_check_count(ctx, "nrhs x x_batch_stride", x_stride, 8 * nrhs));
    }
done:
    return status;
}

static ech_status check_report(ech_ctx *ctx, ech_sparse_direct_report *report)
{
    if (!report) return echi_fail(ctx, ECH_ERR_ARG, "report is NULL");
    return echi_check_size(ctx, "report", "ech_sparse_direct_report", report->size, sizeof *report);
}

/* ---- Factors ---- */

void ech_sparse_factor_free(ech_sparse_factor *f)
{
    if (!f) return;
    if (f->state) f->library->release(f->ctx, f->state);
    echi_csc_free(&f->a);
    free(f->work);
    free(f);
}

/* A column without an entry other than 0; n: there is none. */
static size_t empty_column(const struct echi_csc *a)
{
    for (size_t j = 0; j < a->n; j++) {
        bool empty = true;
        for (int64_t e = a->offsets[j]; empty && e < a->offsets[j + 1]; e++)
            empty = a->values[e] == 0;
        if (empty) return j;
    }
    return a->n;
}

static void set_status(ech_sparse_direct_report *report, ech_direct_status status, uint64_t index)
{
    report->status = status;
    report->failed_index = index;
}

/* *out is NULL unless A was factored; the report then has the reason. */
static ech_status make(ech_ctx *ctx, const ech_csr *a, const ech_sparse_direct_options *o,
                       ech_sparse_direct_report *report, ech_sparse_factor **out)
{
    struct echi_sparse_outcome outcome = { .status = ECH_DIRECT_STATUS_SOLVED };
    struct ech_sparse_factor *f = calloc(1, sizeof *f);
    size_t bad;
    ech_status status = ECH_OK;
    *out = NULL;
    if (!f) FAIL(ctx, ECH_ERR_MEMORY, "out of host memory for the factors");
    f->ctx = ctx;
    f->dtype = a->dtype;
    TRY(echi_csc_make(ctx, a, !o->no_scaling, &f->a, &bad));
    if (bad < a->rows) {
        set_status(report, ECH_DIRECT_STATUS_NOT_FINITE, bad);
        goto done;
    }
    const size_t empty = empty_column(&f->a);
    if (empty < a->rows) {
        set_status(report, ECH_DIRECT_STATUS_SINGULAR, empty);
        goto done;
    }
    if (!f->a.n) { /* there is nothing to factor */
        f->library = &echi_sparse_dense;
        report->rcond = 1;
        *out = f;
        return ECH_OK;
    }
    f->work = malloc((2 * f->a.n + 1) * sizeof *f->work);
    if (!f->work) FAIL(ctx, ECH_ERR_MEMORY, "out of host memory for the residuals");
    TRY(echi_sparse_factor(f, o->algorithm, &outcome));
    report->algorithm = f->library->name;
    if (outcome.status == ECH_DIRECT_STATUS_SINGULAR && outcome.failed_index == UINT64_MAX)
        outcome.failed_index = echi_csc_unmatched(&f->a);
    set_status(report, outcome.status, outcome.failed_index);
    f->factor_nnz = report->factor_nnz = outcome.factor_nnz;
    if (outcome.status != ECH_DIRECT_STATUS_SOLVED) goto done;
    if (o->estimate_condition) TRY(echi_sparse_condition(f, &report->rcond));
    *out = f;
    f = NULL;
done:
    ech_sparse_factor_free(f);
    return status;
}

/* ---- Right-hand sides ---- */

/* Copies one right-hand side into f64; *finite: it has no NaN and no infinity. */
static ech_status load(ech_ctx *ctx, const struct ech_sparse_factor *f, const void *from, double *b,
                       bool *finite)
{
    const size_t n = f->a.n;
    const ech_status status = ctx->backend->copy(ctx, b, from, n * ech_dtype_bytes(f->dtype));
    *finite = true;
    for (size_t i = n; f->dtype == ECH_F32 && i-- > 0;) {
        float narrow;
        memcpy(&narrow, (char *)b + i * sizeof narrow, sizeof narrow);
        b[i] = narrow;
    }
    for (size_t i = 0; i < n; i++) *finite &= isfinite(b[i]) != 0;
    return status;
}

static ech_status store(ech_ctx *ctx, const struct ech_sparse_factor *f, double *x, void *to)
{
    const size_t n = f->a.n;
    for (size_t i = 0; f->dtype == ECH_F32 && i < n; i++) {
        const float narrow = (float)x[i];
        memcpy((char *)x + i * sizeof narrow, &narrow, sizeof narrow);
    }
    return ctx->backend->copy(ctx, to, x, n * ech_dtype_bytes(f->dtype));
}

struct sides {
    size_t count, b_stride, x_stride;
    const void *b;
    void *x;
};

/* Solves for one right-hand side after the other, until one has no solution. */
static ech_status solve_all(struct ech_sparse_factor *f, const struct sides *s,
                            const ech_sparse_direct_options *o, ech_sparse_direct_report *report)
{
    const size_t n = f->a.n, element = ech_dtype_bytes(f->dtype);
    double *b = malloc((2 * n + 1) * sizeof *b), *x = b ? b + n : NULL;
    struct echi_sparse_result result;
    ech_status status = ECH_OK;
    bool finite;
    if (!b) FAIL(f->ctx, ECH_ERR_MEMORY, "out of host memory for a right-hand side");
    for (size_t i = 0; i < s->count && n; i++) {
        TRY(load(f->ctx, f, (const char *)s->b + i * s->b_stride * element, b, &finite));
        if (!finite) {
            set_status(report, ECH_DIRECT_STATUS_NOT_FINITE_B, i);
            break;
        }
        TRY(echi_sparse_solve(f, o->transpose, o->refine, b, x, &result));
        if (result.overflow) {
            set_status(report, ECH_DIRECT_STATUS_OVERFLOW, i);
            break;
        }
        if (result.refinements > report->refinements) report->refinements = result.refinements;
        if (result.backward_error > report->backward_error)
            report->backward_error = result.backward_error;
        TRY(store(f->ctx, f, x, (char *)s->x + i * s->x_stride * element));
    }
done:
    free(b);
    return status;
}

/* ---- Calls ---- */

static ech_status enter(ech_ctx *ctx)
{
    return ctx->backend->enter ? ctx->backend->enter(ctx) : ECH_OK;
}

static void leave(ech_ctx *ctx)
{
    if (ctx->backend->leave) ctx->backend->leave(ctx);
}

ech_status ech_sparse_factor_create(ech_ctx *ctx, const ech_csr *a,
                                    const ech_sparse_direct_options *options,
                                    ech_sparse_factor **factor, ech_sparse_direct_report *report)
{
    ech_sparse_direct_options o;
    ech_sparse_direct_report here = { .algorithm = "none" };
    ech_csr csr;
    ech_status status;
    if (factor) *factor = NULL;
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    if (!factor) FAIL(ctx, ECH_ERR_ARG, "factor is NULL");
    TRY(check_report(ctx, report));
    TRY(check_options(ctx, options, &o));
    TRY(check_matrix(ctx, a, &csr));
    TRY(enter(ctx));
    status = make(ctx, &csr, &o, &here, factor);
    leave(ctx);
    echi_write_struct(&here, sizeof here, report);
done:
    return status;
}

ech_status ech_sparse_factor_solve(ech_ctx *ctx, ech_sparse_factor *f, size_t nrhs, const void *b,
                                   size_t b_stride, void *x, size_t x_stride,
                                   const ech_sparse_direct_options *options,
                                   ech_sparse_direct_report *report)
{
    ech_sparse_direct_options o;
    ech_sparse_direct_report here = { .algorithm = "none" };
    const struct sides sides = { nrhs, b_stride, x_stride, b, x };
    ech_status status;
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    if (!f) FAIL(ctx, ECH_ERR_ARG, "factor is NULL");
    if (f->ctx != ctx) FAIL(ctx, ECH_ERR_ARG, "factor was created with another context than ctx");
    TRY(check_report(ctx, report));
    TRY(check_options(ctx, options, &o));
    TRY(check_sides(ctx, f->a.n, nrhs, b, b_stride, x, x_stride));
    here.algorithm = f->library->name;
    here.factor_nnz = f->factor_nnz;
    TRY(enter(ctx));
    if (o.estimate_condition) status = echi_sparse_condition(f, &here.rcond);
    if (status == ECH_OK) status = solve_all(f, &sides, &o, &here);
    leave(ctx);
    echi_write_struct(&here, sizeof here, report);
done:
    return status;
}

ech_status ech_solve_sparse(ech_ctx *ctx, const ech_csr *a, size_t nrhs, const void *b,
                            size_t b_stride, void *x, size_t x_stride,
                            const ech_sparse_direct_options *options,
                            ech_sparse_direct_report *report)
{
    ech_sparse_direct_options o;
    ech_sparse_direct_report here = { .algorithm = "none" };
    const struct sides sides = { nrhs, b_stride, x_stride, b, x };
    struct ech_sparse_factor *f = NULL;
    ech_csr csr;
    ech_status status;
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    TRY(check_report(ctx, report));
    TRY(check_options(ctx, options, &o));
    TRY(check_matrix(ctx, a, &csr));
    TRY(check_sides(ctx, csr.rows, nrhs, b, b_stride, x, x_stride));
    TRY(enter(ctx));
    status = make(ctx, &csr, &o, &here, &f);
    if (status == ECH_OK && f) status = solve_all(f, &sides, &o, &here);
    ech_sparse_factor_free(f);
    leave(ctx);
    echi_write_struct(&here, sizeof here, report);
done:
    return status;
}

ech_status ech_solve_sparse_explain(const char *device, const ech_csr *a,
                                    const ech_sparse_direct_options *options, ech_format format,
                                    char *text, size_t capacity_bytes)
{
    ech_sparse_direct_options o;
    const struct echi_backend *backend;
    struct echi_explain e;
    ech_csr csr;
    ech_status status = echi_explain_begin(&e, format, text, capacity_bytes);
    if (status != ECH_OK) return status;
    TRY(echi_backend_ask(device, &backend));
    TRY(check_options(NULL, options, &o));
    TRY(check_matrix(NULL, a, &csr));
    echi_explain_call(&e, "solve_sparse", backend->name);
    echi_sparse_explain(backend, csr.rows, o.algorithm, &e);
    echi_explain_line(&e, "matrix", "%zu x %zu, %zu entries", csr.rows, csr.cols, csr.nnz);
    echi_explain_line(&e, "refinement", "at most %d steps", o.refine);
done:
    return echi_explain_end(&e, status);
}
