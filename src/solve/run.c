/*
 * solve/run.c - the solution of one right-hand side: the parts that all methods share.
 *
 *     |b|, first residual        ends here if b is zero or the initial guess is good enough
 *     begin, iterate ... look    steps are queued; the host checks every few iterations
 *     r = b - A x                convergence is decided by this only; otherwise begin again from
 *                                this x, as long as that halves the residual
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/solve.h"

#include <math.h>
#include <string.h>

/* ---- Steps ---- */

void *echi_vector(const struct echi_run *run, size_t i)
{
    return (char *)run->parts.vectors + i * run->parts.vector_bytes;
}

struct echi_solve_step echi_step(const struct echi_run *run)
{
    return (struct echi_solve_step){ .what = ECHI_SOLVE_UPDATE,
                                     .bytes = (int32_t)ech_dtype_bytes(run->call->a.dtype),
                                     .n = run->call->a.n,
                                     .scalars = run->parts.scalars,
                                     .partials = run->parts.partials,
                                     .guarded = !run->forced };
}

void echi_term(struct echi_solve_sum *sum, const void *v, int scalar, double factor)
{
    sum->v[sum->terms] = v;
    sum->scalar[sum->terms] = scalar;
    sum->factor[sum->terms++] = factor;
}

void echi_dot(struct echi_solve_step *step, enum echi_solve_operand left,
              enum echi_solve_operand right)
{
    step->left[step->dots] = (int32_t)left;
    step->right[step->dots++] = (int32_t)right;
}

ech_status echi_do(const struct echi_run *run, const struct echi_solve_step *step)
{
    const struct echi_backend *backend = run->ctx->backend;
    if (run->spread) return run->spread->step(run, step);
    return echi_operation_run(run->ctx, backend->operations[ECHI_OP_solve], step, NULL);
}

ech_status echi_copy_vector(const struct echi_run *run, void *to, const void *from)
{
    struct echi_solve_step step = echi_step(run);
    step.guarded = 0;
    step.a.out = to;
    if (from) echi_term(&step.a, from, -1, 1);
    return echi_do(run, &step);
}

ech_status echi_do_scalars(const struct echi_run *run, enum echi_solve_recur what, int column,
                           int restart, bool guarded)
{
    struct echi_solve_step step = echi_step(run);
    step.n = 0;
    step.guarded = guarded;
    step.after = (int32_t)what;
    step.column = column;
    step.restart = restart;
    return echi_do(run, &step);
}

ech_status echi_apply(struct echi_run *run, const void *x, void *y)
{
    const ech_operator *a = &run->call->a;
    ech_ctx *ctx = run->ctx;
    run->report->applications++;
    if (run->spread) return run->spread->apply(run, x, y);
    if (a->csr) {
        const ech_csr_options options = { .size = sizeof options,
                                          .work = run->parts.product,
                                          .work_bytes = run->parts.product_bytes };
        return ech_spmv(ctx, 1, &run->call->csr, x, 0, y, &options);
    }
    if (a->dense)
        return ech_matvec(ctx, a->n, a->n, 1, a->dense, a->stride, x, 0, y, a->dtype, NULL);
    ech_status status = a->apply(a->user, ctx, x, y);
    if (status != ECH_OK)
        return echi_fail(ctx, status, "a->apply returned %s", ech_status_name(status));
    return ECH_OK;
}

/* ---- Scalars on the host ---- */

ech_status echi_fetch(struct echi_run *run)
{
    if (run->spread) return run->spread->fetch(run);
    return run->ctx->backend->copy(run->ctx, run->head, run->parts.scalars, sizeof run->head);
}

ech_status echi_put(struct echi_run *run)
{
    if (run->spread) return run->spread->put(run);
    return run->ctx->backend->copy(run->ctx, run->parts.scalars, run->head, sizeof run->head);
}

/* Reports another residual to the history and the monitor. */
static void report_residual(struct echi_run *run, uint64_t iteration, double residual)
{
    const ech_solve_options *options = &run->call->options;
    const size_t at = run->report->history_count++;
    if (options->history && at < options->history_capacity)
        options->history[run->which * options->history_capacity + at] = residual;
    if (options->monitor && !run->monitored &&
        options->monitor(options->monitor_user, run->which, iteration, residual))
        run->monitored = run->ended = true;
}

static void report_new_residuals(struct echi_run *run)
{
    for (const uint64_t done = (uint64_t)run->head[ECHI_S_ITERATION]; run->seen < done; run->seen++)
        report_residual(run, run->seen + 1, run->head[ECHI_S_RING + run->seen % ECHI_SOLVE_RING]);
}

/* After the last iteration, iterate() reports the residuals when finish() has updated x. */
ech_status echi_look(struct echi_run *run)
{
    ech_status status;
    TRY(echi_fetch(run));
    run->since = 0;
    if (run->head[ECHI_S_STOP] != 0)
        run->ended = true;
    else
        report_new_residuals(run);
done:
    return status;
}

/* Dot 0 of a step that is not guarded. */
static ech_status dot_now(struct echi_run *run, const struct echi_solve_step *step, double *dot)
{
    ech_status status;
    TRY(echi_do(run, step));
    TRY(echi_fetch(run));
    *dot = run->head[ECHI_S_DOT];
done:
    return status;
}

ech_status echi_residual(struct echi_run *run, double *norm)
{
    struct echi_solve_step step = echi_step(run);
    double rr = 0;
    ech_status status;
    TRY(echi_apply(run, run->x, echi_vector(run, ECHI_Q)));
    step.guarded = 0;
    step.b.out = echi_vector(run, ECHI_R);
    echi_term(&step.b, run->b, -1, 1);
    echi_term(&step.b, echi_vector(run, ECHI_Q), -1, -1);
    echi_dot(&step, ECHI_OF_B, ECHI_OF_B);
    TRY(dot_now(run, &step, &rr));
    *norm = sqrt(rr);
done:
    return status;
}

/* ---- The solve ---- */

static ech_status norm_of_b(struct echi_run *run, double *norm)
{
    struct echi_solve_step step = echi_step(run);
    double bb = 0;
    step.guarded = 0;
    step.e = run->b;
    echi_dot(&step, ECHI_OF_E, ECHI_OF_E);
    ech_status status = dot_now(run, &step, &bb);
    *norm = sqrt(bb);
    return status;
}

static bool is_finite(double x)
{
    return x - x == 0;
}

static void converged(struct echi_run *run, double residual)
{
    const bool by_rtol = residual <= run->call->options.rtol * run->report->b_norm;
    run->report->status =
        by_rtol ? ECH_SOLVE_STATUS_CONVERGED_RTOL : ECH_SOLVE_STATUS_CONVERGED_ATOL;
}

/* Sets the stopping criteria of the device. */
static void set_head(struct echi_run *run, double first, double target)
{
    const ech_solve_options *options = &run->call->options;
    const size_t n = run->spread ? run->spread->total : run->call->a.n;
    const double scale = first > run->report->b_norm ? first : run->report->b_norm;
    memset(run->head, 0, sizeof run->head);
    run->head[ECHI_S_TARGET] = target;
    run->head[ECHI_S_LIMIT] = options->dtol * scale;
    run->head[ECHI_S_LAST] = (double)options->max_iterations;
    run->head[ECHI_S_STALL] = n < 1000 ? 1000 : n > 100000 ? 100000 : (double)n;
}

/* Whether the host checks the scalars: after every `every` iterations, and at the last iteration,
 * after which products would be useless. */
static bool is_time(const struct echi_run *run)
{
    const uint64_t queued = (uint64_t)run->head[ECHI_S_ITERATION] + run->since;
    return run->since >= run->every || queued >= run->call->options.max_iterations;
}

/* Iterates from the current x until the device or the monitor stops. */
static ech_status iterate(struct echi_run *run, double residual)
{
    ech_status status;
    run->head[ECHI_S_STOP] = 0;
    run->head[ECHI_S_RESIDUAL] = run->head[ECHI_S_BEST] = residual;
    run->head[ECHI_S_BEST_AT] = run->head[ECHI_S_ITERATION];
    run->begun = (uint64_t)run->head[ECHI_S_ITERATION];
    run->since = 0;
    TRY(echi_put(run));
    TRY(run->method->begin(run));
    while (!run->ended) {
        TRY(run->method->iterate(run));
        run->since++;
        if (!run->ended && is_time(run)) TRY(echi_look(run));
    }
    run->forced = true;
    if (run->method->finish) TRY(run->method->finish(run));
    if (run->call->options.monitor) TRY(echi_fetch(run)); /* waits for x */
    report_new_residuals(run);
done:
    run->forced = false;
    return status;
}

/* Determines the status from the device's reason and the true residual; false: begin again. */
static bool is_over(struct echi_run *run, double residual, double target, double started_from)
{
    const int stop = (int)run->head[ECHI_S_STOP];
    const bool halved = residual <= 0.5 * started_from;
    run->report->residual = residual;
    if (residual <= target)
        converged(run, residual);
    else if (run->monitored)
        run->report->status = ECH_SOLVE_STATUS_STOPPED_MONITOR;
    else if (!is_finite(residual))
        run->report->status = ECH_SOLVE_STATUS_STOPPED_NAN;
    else if ((stop == ECHI_STOP_SMALL || stop == ECHI_STOP_BREAKDOWN) && halved)
        return run->head[ECHI_S_ITERATION] >= run->head[ECHI_S_LAST]
                   ? (run->report->status = ECH_SOLVE_STATUS_STOPPED_ITERATIONS, true)
                   : false;
    else
        run->report->status =
            stop == ECHI_STOP_SMALL ? ECH_SOLVE_STATUS_STOPPED_STAGNATED : (ech_solve_status)stop;
    return true;
}

ech_status echi_solve_one(struct echi_run *run)
{
    const ech_solve_options *options = &run->call->options;
    ech_solve_report *report = run->report;
    double residual = 0;
    ech_status status;
    TRY(norm_of_b(run, &report->b_norm));
    if (report->b_norm == 0 || !options->use_initial_guess)
        TRY(echi_copy_vector(run, run->x, NULL));
    if (report->b_norm == 0) {
        report->status = ECH_SOLVE_STATUS_CONVERGED_RTOL;
        report->residual = 0;
        report_residual(run, 0, 0);
        return ECH_OK;
    }
    const double relative = options->rtol * report->b_norm;
    const double target = relative > options->atol ? relative : options->atol;
    TRY(echi_residual(run, &residual));
    report->residual = residual;
    report_residual(run, 0, residual);
    if (!is_finite(residual) || !is_finite(report->b_norm))
        report->status = ECH_SOLVE_STATUS_STOPPED_NAN;
    if (report->status) return ECH_OK;
    set_head(run, residual, target);
    if (residual <= target) converged(run, residual);
    if (run->monitored) report->status = ECH_SOLVE_STATUS_STOPPED_MONITOR;
    for (bool over = residual <= target || run->monitored; !over;) {
        const double from = residual;
        run->ended = false;
        TRY(iterate(run, from));
        TRY(echi_residual(run, &residual));
        over = is_over(run, residual, target, from);
        if (over) break;
        report->restarts++;
        run->head[ECHI_S_TARGET] = target / 2; /* the recursive residual was smaller than the true
                                                  one */
    }
    report->iterations = (uint64_t)run->head[ECHI_S_ITERATION];
done:
    return status;
}
