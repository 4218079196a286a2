/*
 * solve/solve.c - iterative solvers: checks the arguments, chooses a method where none is named,
 * solves one right-hand side after the other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/solve.h"
#include "solve/recur.h"

#include <math.h>
#include <string.h>

_Static_assert((int)ECHI_STOP_ITERATIONS == (int)ECH_STOPPED_ITERATIONS &&
                   (int)ECHI_STOP_DIVERGED == (int)ECH_STOPPED_DIVERGED &&
                   (int)ECHI_STOP_BREAKDOWN == (int)ECH_STOPPED_BREAKDOWN &&
                   (int)ECHI_STOP_STAGNATED == (int)ECH_STOPPED_STAGNATED &&
                   (int)ECHI_STOP_INDEFINITE == (int)ECH_STOPPED_INDEFINITE &&
                   (int)ECHI_STOP_NAN == (int)ECH_STOPPED_NAN,
               "the device stops for the public reasons");

/* ---- Names ---- */

static const struct {
    const char *name;
    const struct echi_method *steps; /* NULL: chosen */
} methods[ECHI_METHODS] = {
    [ECH_METHOD_AUTO] = { "auto", NULL },
    [ECH_RICHARDSON] = { "richardson", &echi_solve_richardson },
    [ECH_JACOBI] = { "jacobi", &echi_solve_richardson },
    [ECH_CHEBYSHEV] = { "chebyshev", &echi_solve_chebyshev },
    [ECH_CG] = { "cg", &echi_solve_cg },
    [ECH_MINRES] = { "minres", &echi_solve_minres },
    [ECH_BICGSTAB] = { "bicgstab", &echi_solve_bicgstab },
    [ECH_GMRES] = { "gmres", &echi_solve_gmres },
    [ECH_GAUSS_SEIDEL] = { "gauss-seidel", &echi_solve_richardson },
    [ECH_SOR] = { "sor", &echi_solve_richardson },
};

static const char *const preconds[ECHI_PRECONDS] = {
    [ECH_PRECOND_NONE] = "none", [ECH_PRECOND_JACOBI] = "jacobi",
    [ECH_PRECOND_SSOR] = "ssor", [ECH_PRECOND_ILU0] = "ilu0",
    [ECH_PRECOND_IC0] = "ic0",   [ECH_PRECOND_BLOCK_JACOBI] = "block-jacobi",
};

const char *ech_method_name(ech_method method)
{
    return (unsigned)method < ECHI_METHODS ? methods[method].name : "?";
}

int ech_method_from_name(const char *name)
{
    for (int i = 0; name && i < ECHI_METHODS; i++)
        if (strcmp(name, methods[i].name) == 0) return i;
    return -1;
}

const char *ech_precond_name(ech_precond precond)
{
    return (unsigned)precond < ECHI_PRECONDS ? preconds[precond] : "?";
}

int ech_precond_from_name(const char *name)
{
    for (int i = 0; name && i < ECHI_PRECONDS; i++)
        if (strcmp(name, preconds[i]) == 0) return i;
    return -1;
}

const char *ech_reason_text(ech_reason reason)
{
    switch (reason) {
    case ECH_CONVERGED_RTOL:
        return "converged: the residual is at most rtol times that of x = 0";
    case ECH_CONVERGED_ATOL:
        return "converged: the residual is at most atol";
    case ECH_STOPPED_ITERATIONS:
        return "not converged within the iterations allowed";
    case ECH_STOPPED_DIVERGED:
        return "diverged: the residual grew beyond dtol";
    case ECH_STOPPED_BREAKDOWN:
        return "broke down: the method would divide by zero; another method may do";
    case ECH_STOPPED_STAGNATED:
        return "stagnated: the residual does not fall any more; the system may be singular or the "
               "tolerance beyond what the type can reach";
    case ECH_STOPPED_INDEFINITE:
        return "the matrix or the preconditioner is not symmetric positive definite; MINRES solves "
               "symmetric, GMRES all systems";
    case ECH_STOPPED_NAN:
        return "NaN or infinity in the matrix, the right-hand side or the guess, or numbers beyond "
               "the type's range";
    case ECH_STOPPED_MONITOR:
        return "ended by the monitor";
    case ECH_STOPPED_SINGULAR:
        return "a zero on the diagonal, or for a pivot, by which would be divided";
    }
    return "?";
}

const struct echi_method *echi_method_of(ech_method method)
{
    return methods[method].steps;
}

/* ---- Checks ---- */

static ech_status check_csr(ech_ctx *ctx, const ech_operator *a, ech_csr *csr)
{
    *csr = *a->csr;
    if (csr->rows != a->n || csr->cols != a->n)
        return echi_fail(ctx, ECH_ERR_ARG, "a->csr is %zu x %zu, and a->n is %zu", csr->rows,
                         csr->cols, a->n);
    if (csr->dtype != a->dtype)
        return echi_fail(ctx, ECH_ERR_ARG, "a->csr->dtype is %s, and a->dtype is %s",
                         ech_dtype_name(csr->dtype), ech_dtype_name(a->dtype));
    if (csr->index != ECH_I32 && csr->index != ECH_I64)
        return echi_fail(ctx, ECH_ERR_ARG, "a->csr->index is not ECH_I32 or ECH_I64");
    return echi_check_count(ctx, "a->csr->entries", csr->entries, 8);
}

static ech_status check_operator(ech_ctx *ctx, const ech_operator *a, struct echi_solve *call)
{
    if (!a) return echi_fail(ctx, ECH_ERR_ARG, "a is NULL");
    if (a->size != sizeof *a)
        return echi_fail(ctx, ECH_ERR_ARG, "a->size is %zu, not sizeof(ech_operator), %zu", a->size,
                         sizeof *a);
    if (a->dtype != ECH_F32 && a->dtype != ECH_F64)
        return echi_fail(ctx, ECH_ERR_ARG, "a->dtype is not ECH_F32 or ECH_F64");
    if (!!a->csr + !!a->dense + !!a->apply != 1)
        return echi_fail(ctx, ECH_ERR_ARG, "of a->csr, a->dense and a->apply not one is set");
    ech_status status = echi_check_count(ctx, "a->n", a->n, 8);
    if (status != ECH_OK) return status;
    if (a->dense && a->stride < a->n)
        return echi_fail(ctx, ECH_ERR_ARG, "a->stride is %zu, less than a->n, %zu", a->stride,
                         a->n);
    if (a->dense && a->n && a->stride > (size_t)PTRDIFF_MAX / 8 / a->n)
        return echi_fail(ctx, ECH_ERR_ARG, "a->n x a->stride is more than an address space");
    if (a->diagonal && !a->apply)
        return echi_fail(ctx, ECH_ERR_ARG, "a->diagonal is set, and is for a->apply alone");
    call->a = *a;
    return a->csr ? check_csr(ctx, a, &call->csr) : ECH_OK;
}

static ech_status check_number(ech_ctx *ctx, const char *name, double x)
{
    if (x >= 0 && x - x == 0) return ECH_OK;
    return echi_fail(ctx, ECH_ERR_ARG, "options->%s is %g, not a number of at least 0", name, x);
}

static ech_status check_choice(ech_ctx *ctx, const ech_operator *a, const ech_solve_options *o)
{
    if ((unsigned)o->method >= ECHI_METHODS)
        return echi_fail(ctx, ECH_ERR_ARG, "options->method is %d, not an ech_method",
                         (int)o->method);
    if ((unsigned)o->precond >= ECHI_PRECONDS)
        return echi_fail(ctx, ECH_ERR_ARG, "options->precond is %d, not an ech_precond",
                         (int)o->precond);
    const bool divides = o->method == ECH_JACOBI ||
                         (o->method != ECH_METHOD_AUTO && o->precond == ECH_PRECOND_JACOBI);
    if (divides && a->apply && !a->diagonal)
        return echi_fail(ctx, ECH_ERR_ARG,
                         "the diagonal is divided by, and a->diagonal is NULL beside a->apply");
    const bool own =
        o->method == ECH_JACOBI || o->method == ECH_GAUSS_SEIDEL || o->method == ECH_SOR;
    if (own && o->precond != ECH_PRECOND_NONE)
        return echi_fail(ctx, ECH_ERR_ARG, "options->precond is not for \"%s\", which has its own",
                         ech_method_name(o->method));
    const bool triangles =
        o->method != ECH_METHOD_AUTO && echi_factor_wanted(o->method, o->precond);
    if (triangles && !a->csr)
        return echi_fail(ctx, ECH_ERR_ARG, "\"%s\" needs a->csr",
                         own ? ech_method_name(o->method) : ech_precond_name(o->precond));
    if (o->method != ECH_METHOD_AUTO && o->precond == ECH_PRECOND_BLOCK_JACOBI && a->apply)
        return echi_fail(ctx, ECH_ERR_ARG, "\"%s\" needs a->csr or a->dense",
                         ech_precond_name(o->precond));
    if ((o->method == ECH_SOR || o->precond == ECH_PRECOND_SSOR) && o->omega >= 2)
        return echi_fail(ctx, ECH_ERR_ARG, "options->omega is %g, not less than 2", o->omega);
    return ECH_OK;
}

static ech_status check_numbers(ech_ctx *ctx, const ech_solve_options *o)
{
    ech_status status;
    TRY(check_number(ctx, "rtol", o->rtol));
    TRY(check_number(ctx, "atol", o->atol));
    TRY(check_number(ctx, "dtol", o->dtol));
    TRY(check_number(ctx, "omega", o->omega));
    TRY(check_number(ctx, "lower", o->lower));
    TRY(check_number(ctx, "upper", o->upper));
    if ((o->lower > 0) != (o->upper > 0) || o->lower > o->upper)
        FAIL(ctx, ECH_ERR_ARG, "options->lower is %g and options->upper %g: not bounds", o->lower,
             o->upper);
    if (o->guess != 0 && o->guess != 1)
        FAIL(ctx, ECH_ERR_ARG, "options->guess is %d, not 0 or 1", o->guess);
    if (o->restart < 0 || o->restart > 1000)
        FAIL(ctx, ECH_ERR_ARG, "options->restart is %d, not from 0 to 1000", o->restart);
    if (o->block < 0 || o->block > ECHI_SOLVE_BLOCK)
        FAIL(ctx, ECH_ERR_ARG, "options->block is %d, not from 0 to %d", o->block,
             (int)ECHI_SOLVE_BLOCK);
    if (o->check_every > ECHI_SOLVE_RING)
        FAIL(ctx, ECH_ERR_ARG, "options->check_every is %u, more than %d", o->check_every,
             (int)ECHI_SOLVE_RING);
    if (o->history_capacity && !o->history)
        FAIL(ctx, ECH_ERR_ARG, "options->history is NULL, but history_capacity is %zu",
             o->history_capacity);
done:
    return status;
}

/* Defaults take the place of zeros. */
static void set_defaults(struct echi_solve *call)
{
    ech_solve_options *o = &call->options;
    const uint64_t n = call->a.n, most = n < 10000 ? 10 * n : 100000;
    const bool f32 = call->a.dtype == ECH_F32;
    if (o->rtol == 0 && o->atol == 0) o->rtol = f32 ? 1e-5 : 1e-8;
    if (o->dtol == 0) o->dtol = 1e5;
    if (o->max_iterations == 0) o->max_iterations = most < 1000 ? 1000 : most;
    if (o->restart == 0) o->restart = 30;
    if (n && (uint64_t)o->restart > n) o->restart = (int)n;
    if (o->block == 0) o->block = 8;
    if (n && (uint64_t)o->block > n) o->block = (int)n;
    if (o->check_every == 0)
        o->check_every = call->backend == &echi_cpu ? 1 : n >= (uint64_t)1 << 22 ? 8 : 32;
}

ech_status echi_solve_check(ech_ctx *ctx, const ech_operator *a, const ech_solve_options *options,
                            struct echi_solve *call)
{
    ech_status status;
    if (!call->backend->operations[ECHI_OP_solve])
        FAIL(ctx, ECH_ERR_UNSUPPORTED, "this device has no iterative solvers");
    TRY(check_operator(ctx, a, call));
    call->options = (ech_solve_options){ .size = sizeof *options };
    if (options) call->options = *options;
    TRY(echi_check_options(ctx, call->options.size, sizeof *options, "ech_solve_options",
                           call->options.work, call->options.work_bytes));
    TRY(check_choice(ctx, a, &call->options));
    TRY(check_numbers(ctx, &call->options));
    set_defaults(call);
done:
    return status;
}

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
    bool symmetric = false, bad = true;
    ech_status status;
    TRY(find_symmetric(run, &symmetric));
    report->method = symmetric ? ECH_MINRES : ECH_GMRES;
    if (!symmetric && echi_solve_may_factor(run->call)) {
        report->precond = ECH_PRECOND_ILU0;
        TRY(echi_factor_make(run));
        if (report->reason == 0) return ECH_OK;
        run->preconditioned = false;
        echi_factor_free(run);
        report->reason = (ech_reason)0;
    }
    report->precond = ECH_PRECOND_NONE;
    if (run->call->a.apply && !run->call->a.diagonal) return ECH_OK;
    TRY(echi_precond_make(run, symmetric ? ECHI_INVERT_POSITIVE : ECHI_INVERT_NONZERO, 1, &bad));
    if (!bad) {
        report->precond = ECH_PRECOND_JACOBI;
        if (symmetric) report->method = ECH_CG;
    } else {
        run->preconditioned = false;
        run->diagonal = NULL;
    }
    report->where = 0;
done:
    return status;
}

/* ---- Run ---- */

/* M, and bounds where the method wants them; what forbids it becomes the report's reason. */
static ech_status prepare(struct echi_run *run)
{
    const ech_solve_options *o = &run->call->options;
    ech_solve_report *report = run->report;
    bool bad = false, found = true;
    ech_status status = ECH_OK;
    report->method = o->method;
    report->precond = o->precond;
    if (o->method == ECH_METHOD_AUTO) {
        TRY(choose(run));
    } else if (echi_factor_wanted(o->method, o->precond)) {
        TRY(echi_factor_make(run));
        bad = report->reason != 0;
    } else if (echi_solve_has_blocks(o)) {
        TRY(echi_blocks_make(run, &bad));
        if (bad) report->reason = ECH_STOPPED_SINGULAR;
    } else if (o->method == ECH_JACOBI || o->precond == ECH_PRECOND_JACOBI) {
        TRY(echi_precond_make(
            run, o->method == ECH_MINRES ? ECHI_INVERT_ABSOLUTE : ECHI_INVERT_NONZERO, 1, &bad));
        if (bad) report->reason = ECH_STOPPED_SINGULAR;
    }
    run->method = echi_method_of(report->method);
    report->lower = o->lower;
    report->upper = o->upper;
    const bool wants =
        report->method == ECH_CHEBYSHEV || (report->method == ECH_RICHARDSON &&
                                            (o->omega == 0 || report->precond == ECH_PRECOND_SSOR));
    if (!bad && wants && o->upper == 0) TRY(echi_solve_bounds(run, &found));
    if (!found) report->reason = ECH_STOPPED_INDEFINITE;
done:
    return status;
}

/* Symmetric with a positive diagonal need not be definite. */
static ech_status try_minres(struct echi_run *run)
{
    ech_solve_report *report = run->report;
    struct echi_solve call = *run->call;
    const struct echi_solve *before = run->call;
    const uint64_t iterations = report->iterations;
    call.options.guess = 1;
    run->call = &call;
    run->method = echi_method_of(report->method = ECH_MINRES);
    run->seen = 0;
    run->ended = false;
    report->reason = (ech_reason)0;
    report->history_count--; /* the residual that CG left is the first of MINRES */
    ech_status status = echi_solve_one(run);
    report->iterations += iterations;
    run->call = before;
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
    TRY(echi_put(&run)); /* zeros: the scalars are there */
    TRY(prepare(&run));
    for (size_t i = 0; i < call->count; i++) {
        ech_solve_report *report = &call->reports[i];
        *report = first;
        first.applications = 0; /* of what was prepared: told once */
        run.report = report;
        run.which = i;
        run.b = (const char *)call->b + i * call->b_step * element;
        run.x = (char *)call->x + i * call->x_step * element;
        run.seen = 0;
        run.ended = run.monitored = false;
        run.method = echi_method_of(first.method);
        TRY(echi_solve_one(&run));
        if (call->options.method == ECH_METHOD_AUTO && report->method == ECH_CG &&
            report->reason == ECH_STOPPED_INDEFINITE)
            TRY(try_minres(&run));
    }
done:
    echi_factor_free(&run);
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
    const size_t index = ech_dtype_bytes(call->csr.index);
    const size_t b_bytes = ((call->count - 1) * call->b_step + n) * element;
    const size_t x_bytes = ((call->count - 1) * call->x_step + n) * element;
    const bool kept = call->options.guess || (call->count > 1 && call->x_step > n);
    echi_call_add(list, "b", (void *)&call->b, b_bytes, element, ECHI_IN);
    echi_call_add(list, "x", (void *)&call->x, x_bytes, element, kept ? ECHI_KEPT : ECHI_OUT);
    if (call->a.csr) {
        echi_call_add(list, "a->csr->offsets", (void *)&call->csr.offsets, (n + 1) * index, index,
                      ECHI_IN);
        echi_call_add(list, "a->csr->columns", (void *)&call->csr.columns,
                      call->csr.entries * index, index, ECHI_IN);
        echi_call_add(list, "a->csr->values", (void *)&call->csr.values,
                      call->csr.entries * element, element, ECHI_IN);
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
    if (count && !reports) FAIL(ctx, ECH_ERR_ARG, "reports is NULL");
    if (count > 1 && b_step < a->n)
        FAIL(ctx, ECH_ERR_ARG, "b_step is %zu, less than a->n, %zu", b_step, a->n);
    if (count > 1 && x_step < a->n)
        FAIL(ctx, ECH_ERR_ARG, "x_step is %zu, less than a->n, %zu", x_step, a->n);
    if (count > 1) {
        TRY(echi_check_count(ctx, "count x b_step", b_step, 8 * count));
        TRY(echi_check_count(ctx, "count x x_step", x_step, 8 * count));
    }
    for (size_t i = 0; i < count; i++)
        reports[i] =
            (ech_solve_report){ .reason = ECH_CONVERGED_RTOL, .method = call.options.method };
    if (count == 0 || a->n == 0) return ECH_OK;
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
