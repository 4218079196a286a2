/*
 * solve/solve.c - iterative solvers: chooses a method if none is named, and solves the right-hand
 * sides one by one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/solve.h"
#include "solve/recur.h"

#include <math.h>
#include <string.h>

_Static_assert((int)ECHI_STOP_ITERATIONS == (int)ECH_SOLVE_STATUS_STOPPED_ITERATIONS &&
                   (int)ECHI_STOP_DIVERGED == (int)ECH_SOLVE_STATUS_STOPPED_DIVERGED &&
                   (int)ECHI_STOP_BREAKDOWN == (int)ECH_SOLVE_STATUS_STOPPED_BREAKDOWN &&
                   (int)ECHI_STOP_STAGNATED == (int)ECH_SOLVE_STATUS_STOPPED_STAGNATED &&
                   (int)ECHI_STOP_INDEFINITE == (int)ECH_SOLVE_STATUS_STOPPED_INDEFINITE &&
                   (int)ECHI_STOP_NAN == (int)ECH_SOLVE_STATUS_STOPPED_NAN,
               "the device stops for the public reasons");

/* ---- Choice ---- */

/* Whether y.(A x) and x.(A y) of random vectors agree up to rounding. */
static ech_status find_symmetric(struct echi_run *run, bool *symmetric)
{
    void *x = echi_vector(run, ECHI_VECTORS), *y = echi_vector(run, ECHI_VECTORS + 1);
    void *ax = echi_vector(run, ECHI_Q), *ay = echi_vector(run, ECHI_R);
    double dots[2] = { 0, 0 }, sizes[2] = { 0, 0 };
    ech_status status;
    for (int i = 0; i < 2; i++) {
        struct echi_solve_step random = echi_step(run);
        random.what = ECHI_SOLVE_RANDOM;
        random.guarded = 0;
        random.column = i;
        random.a.out = i ? y : x;
        TRY(echi_do(run, &random));
        TRY(echi_apply(run, i ? y : x, i ? ay : ax));
    }
    for (int i = 0; i < 2; i++) {
        struct echi_solve_step step = echi_step(run);
        step.guarded = 0;
        step.e = i ? ay : ax;
        step.f = i ? x : y;
        echi_dot(&step, ECHI_OF_E, ECHI_OF_F);
        echi_dot(&step, ECHI_OF_E, ECHI_OF_E);
        echi_dot(&step, ECHI_OF_F, ECHI_OF_F);
        TRY(echi_do(run, &step));
        TRY(echi_fetch(run));
        dots[i] = run->head[ECHI_S_DOT];
        sizes[i] = sqrt(run->head[ECHI_S_DOT + 1]) * sqrt(run->head[ECHI_S_DOT + 2]);
    }
    const double size = sizes[0] > sizes[1] ? sizes[0] : sizes[1];
    *symmetric = fabs(dots[0] - dots[1]) <= (run->call->a.dtype == ECH_F32 ? 1e-6 : 1e-14) * size;
done:
    return status;
}

static ech_status choose(struct echi_run *run)
{
    ech_solve_report *report = run->report;
    bool symmetric = false;
    ech_status status;
    TRY(find_symmetric(run, &symmetric));
    report->method = symmetric ? ECH_METHOD_MINRES : ECH_METHOD_GMRES;
    if (!symmetric && echi_solve_may_factor(run->call)) {
        report->precond = ECH_PRECOND_ILU0;
        TRY(echi_precond_make(run));
        if (report->status == 0) return ECH_OK;
        echi_precond_drop(run);
    }
    report->precond = ECH_PRECOND_NONE;
    if (run->call->a.apply && !run->call->a.diagonal) return ECH_OK;
    report->precond = ECH_PRECOND_JACOBI;
    if (symmetric) report->method = ECH_METHOD_CG;
    TRY(echi_precond_make(run));
    if (report->status == 0) return ECH_OK;
    echi_precond_drop(run);
    report->precond = ECH_PRECOND_NONE;
    if (symmetric) report->method = ECH_METHOD_MINRES;
done:
    return status;
}

/* ---- Run ---- */

/* Makes M, and the bounds if the method needs them; a failure becomes the report's status. */
static ech_status prepare(struct echi_run *run)
{
    const ech_solve_options *o = &run->call->options;
    ech_solve_report *report = run->report;
    bool found = true;
    ech_status status;
    report->method = o->method;
    report->precond = o->precond;
    TRY(o->method == ECH_METHOD_AUTO ? choose(run) : echi_precond_make(run));
    const bool bad = report->status != 0;
    run->method = echi_method_of(report->method);
    report->lower = o->lower;
    report->upper = o->upper;
    const bool wants = report->method == ECH_METHOD_CHEBYSHEV ||
                       (report->method == ECH_METHOD_RICHARDSON &&
                        (o->omega == 0 || report->precond == ECH_PRECOND_SSOR));
    if (!bad && wants && o->upper == 0) TRY(echi_solve_bounds(run, &found));
    if (!found) report->status = ECH_SOLVE_STATUS_STOPPED_INDEFINITE;
done:
    return status;
}

/* A symmetric matrix with a positive diagonal need not be definite. */
static ech_status try_minres(struct echi_run *run)
{
    ech_solve_report *report = run->report;
    struct echi_solve call = *run->call;
    const struct echi_solve *before = run->call;
    const uint64_t iterations = report->iterations;
    call.options.use_initial_guess = 1;
    run->call = &call;
    run->method = echi_method_of(report->method = ECH_METHOD_MINRES);
    run->seen = 0;
    run->ended = false;
    report->status = (ech_solve_status)0;
    report->history_count--; /* the last residual of CG is the first of MINRES */
    ech_status status = echi_solve_one(run);
    report->iterations += iterations;
    run->call = before;
    return status;
}

/* The reports have the size of the struct in the caller's header. */
static void write_report(const struct echi_solve *call, size_t i, const ech_solve_report *report)
{
    echi_write_struct(report, sizeof *report, (char *)call->reports + i * call->report_bytes);
}

static ech_status check_reports(ech_ctx *ctx, struct echi_solve *call)
{
    if (!call->count) return ECH_OK;
    if (!call->reports) return echi_fail(ctx, ECH_ERR_ARG, "reports is NULL");
    call->report_bytes = call->reports[0].size;
    ech_status status = echi_check_size(ctx, "reports", "ech_solve_report", call->report_bytes,
                                        sizeof *call->reports);
    for (size_t i = 1; status == ECH_OK && i < call->count; i++) {
        size_t size;
        memcpy(&size, (char *)call->reports + i * call->report_bytes, sizeof size);
        if (size != call->report_bytes)
            return echi_fail(ctx, ECH_ERR_ARG,
                             "reports[%zu].size is %zu, but reports[0].size is %zu", i, size,
                             call->report_bytes);
    }
    return status;
}

static ech_status run_call(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    (void)plan;
    const struct echi_solve *call = request;
    const size_t element = ech_dtype_bytes(call->a.dtype);
    struct echi_run run = { .ctx = ctx, .call = call, .every = call->options.check_every };
    ech_solve_report first = { 0 };
    size_t bytes;
    ech_status status;
    TRY(echi_solve_lay_out(call, work, &run.parts, &bytes));
    run.report = &first;
    TRY(echi_put(&run)); /* zeros: initialises the scalars */
    TRY(prepare(&run));
    for (size_t i = 0; i < call->count; i++) {
        ech_solve_report here = first, *report = &here;
        first.applications = 0; /* counts the preparation only once */
        run.report = report;
        run.which = i;
        run.b = (const char *)call->b + i * call->b_step * element;
        run.x = (char *)call->x + i * call->x_step * element;
        run.seen = 0;
        run.ended = run.monitored = false;
        run.method = echi_method_of(first.method);
        TRY(echi_solve_one(&run));
        if (call->options.method == ECH_METHOD_AUTO && report->method == ECH_METHOD_CG &&
            report->status == ECH_SOLVE_STATUS_STOPPED_INDEFINITE)
            TRY(try_minres(&run));
        write_report(call, i, report);
    }
done:
    echi_triangles_free(&run);
    return status;
}

static ech_status workspace(const void *request, void *plan, size_t *bytes)
{
    (void)plan;
    struct echi_solve_parts parts;
    return echi_solve_lay_out(request, NULL, &parts, bytes);
}

static const struct echi_operation whole = { .plan = workspace, .run = run_call };

static void add_arrays(struct echi_call *list, struct echi_solve *call)
{
    const size_t n = call->a.n, element = ech_dtype_bytes(call->a.dtype);
    const size_t index = ech_dtype_bytes(call->csr.index_dtype);
    const size_t b_bytes = ((call->count - 1) * call->b_step + n) * element;
    const size_t x_bytes = ((call->count - 1) * call->x_step + n) * element;
    const bool kept = call->options.use_initial_guess || (call->count > 1 && call->x_step > n);
    echi_call_add(list, "b", (void *)&call->b, b_bytes, element, ECHI_IN);
    echi_call_add(list, "x", (void *)&call->x, x_bytes, element, kept ? ECHI_KEPT : ECHI_OUT);
    if (call->a.csr) {
        echi_call_add(list, "a->csr->row_offsets", (void *)&call->csr.row_offsets, (n + 1) * index,
                      index, ECHI_IN);
        echi_call_add(list, "a->csr->col_indices", (void *)&call->csr.col_indices,
                      call->csr.nnz * index, index, ECHI_IN);
        echi_call_add(list, "a->csr->values", (void *)&call->csr.values, call->csr.nnz * element,
                      element, ECHI_IN);
    }
    if (call->a.dense)
        echi_call_add(list, "a->dense", (void *)&call->a.dense,
                      ((n - 1) * call->a.stride + n) * element, element, ECHI_IN);
    if (call->a.diagonal)
        echi_call_add(list, "a->diagonal", (void *)&call->a.diagonal, n * element, element,
                      ECHI_IN);
}

ech_status ech_solve(ech_ctx *ctx, const ech_operator *a, size_t count, const void *b,
                     size_t b_step, void *x, size_t x_step, const ech_solve_options *options,
                     ech_solve_report *reports)
{
    READ_OPTIONS(ctx, ech_solve_options, options);
    ech_status status;
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    struct echi_solve call = { .backend = ctx->backend,
                               .count = count,
                               .b = b,
                               .b_step = count > 1 ? b_step : 0,
                               .x = x,
                               .x_step = count > 1 ? x_step : 0,
                               .reports = reports };
    TRY(echi_solve_check(ctx, a, options, &call));
    TRY(check_reports(ctx, &call));
    if (count > 1 && b_step < call.a.n)
        FAIL(ctx, ECH_ERR_ARG, "b_step is %zu, less than a->n, %zu", b_step, call.a.n);
    if (count > 1 && x_step < call.a.n)
        FAIL(ctx, ECH_ERR_ARG, "x_step is %zu, less than a->n, %zu", x_step, call.a.n);
    if (count > 1) {
        TRY(echi_check_count(ctx, "count x b_step", b_step, 8 * count));
        TRY(echi_check_count(ctx, "count x x_step", x_step, 8 * count));
    }
    for (size_t i = 0; i < count; i++)
        write_report(&call, i,
                     &(ech_solve_report){ .status = ECH_SOLVE_STATUS_CONVERGED_RTOL,
                                          .method = call.options.method });
    if (count == 0 || call.a.n == 0) return ECH_OK;
    struct echi_call list = { .what = "a system",
                              .operation = &whole,
                              .request = &call,
                              .work = call.options.work,
                              .work_bytes = call.options.work_bytes };
    add_arrays(&list, &call);
    TRY(echi_call_run(ctx, &list));
done:
    return status;
}
