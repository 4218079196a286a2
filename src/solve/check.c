/*
 * solve/check.c - checks the operator and the options, and sets the defaults.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/solve.h"

static ech_status check_csr(ech_ctx *ctx, const ech_operator *a, ech_csr *csr)
{
    ech_status status = echi_read_struct(ctx, "a->csr", "ech_csr", a->csr, csr, sizeof *csr);
    if (status != ECH_OK) return status;
    if (csr->rows != a->n || csr->cols != a->n)
        return echi_fail(ctx, ECH_ERR_ARG, "a->csr is %zu x %zu, but a->n is %zu", csr->rows,
                         csr->cols, a->n);
    if (csr->dtype != a->dtype)
        return echi_fail(ctx, ECH_ERR_ARG, "a->csr->dtype is %s, but a->dtype is %s",
                         ech_dtype_name(csr->dtype), ech_dtype_name(a->dtype));
    csr->index_dtype = echi_csr_index_dtype(csr->index_dtype);
    if (csr->index_dtype != ECH_I32 && csr->index_dtype != ECH_I64)
        return echi_fail(ctx, ECH_ERR_ARG, "a->csr->index_dtype is %s, not i32, u32, i64 or u64",
                         ech_dtype_name(csr->index_dtype));
    return echi_check_count(ctx, "a->csr->nnz", csr->nnz, 8);
}

static ech_status check_operator(ech_ctx *ctx, const ech_operator *a, struct echi_solve *call)
{
    if (a->dtype != ECH_F32 && a->dtype != ECH_F64)
        return echi_fail(ctx, ECH_ERR_ARG, "a->dtype is not ECH_F32 or ECH_F64");
    if (!!a->csr + !!a->dense + !!a->apply != 1)
        return echi_fail(ctx, ECH_ERR_ARG, "set exactly one of a->csr, a->dense and a->apply");
    ech_status status = echi_check_count(ctx, "a->n", a->n, 8);
    if (status != ECH_OK) return status;
    if (a->dense && a->stride < a->n)
        return echi_fail(ctx, ECH_ERR_ARG, "a->stride is %zu, less than a->n, %zu", a->stride,
                         a->n);
    if (a->dense && a->n && a->stride > (size_t)PTRDIFF_MAX / 8 / a->n)
        return echi_fail(ctx, ECH_ERR_ARG, "a->n x a->stride overflows size_t");
    if (a->diagonal && !a->apply)
        return echi_fail(ctx, ECH_ERR_ARG, "a->diagonal is set, but is only used with a->apply");
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
    const bool divides = o->method == ECH_METHOD_JACOBI ||
                         (o->method != ECH_METHOD_AUTO && o->precond == ECH_PRECOND_JACOBI);
    if (divides && a->apply && !a->diagonal)
        return echi_fail(ctx, ECH_ERR_ARG,
                         "a->diagonal is NULL, but the method or preconditioner divides by it");
    const bool own = o->method == ECH_METHOD_JACOBI || o->method == ECH_METHOD_GAUSS_SEIDEL ||
                     o->method == ECH_METHOD_SOR;
    if (own && o->precond != ECH_PRECOND_NONE)
        return echi_fail(ctx, ECH_ERR_ARG,
                         "\"%s\" has its own preconditioner; leave options->precond none",
                         ech_method_name(o->method));
    if (o->precondition && (own || o->method == ECH_METHOD_AUTO))
        return echi_fail(ctx, ECH_ERR_ARG,
                         "options->precondition is set, but \"%s\" chooses its preconditioner",
                         ech_method_name(o->method));
    if (o->precondition && o->precond != ECH_PRECOND_NONE)
        return echi_fail(ctx, ECH_ERR_ARG,
                         "options->precondition is set, but options->precond is \"%s\"",
                         ech_precond_name(o->precond));
    const bool triangles =
        o->method != ECH_METHOD_AUTO && echi_factor_wanted(o->method, o->precond);
    if (triangles && !a->csr)
        return echi_fail(ctx, ECH_ERR_ARG, "\"%s\" needs a->csr",
                         own ? ech_method_name(o->method) : ech_precond_name(o->precond));
    if (o->method != ECH_METHOD_AUTO && o->precond == ECH_PRECOND_BLOCK_JACOBI && a->apply)
        return echi_fail(ctx, ECH_ERR_ARG, "\"%s\" needs a->csr or a->dense",
                         ech_precond_name(o->precond));
    if ((o->method == ECH_METHOD_SOR || o->precond == ECH_PRECOND_SSOR) && o->omega >= 2)
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
    TRY(check_number(ctx, "drop_tolerance", o->drop_tolerance));
    if ((o->lower > 0) != (o->upper > 0) || o->lower > o->upper)
        FAIL(ctx, ECH_ERR_ARG,
             "options->lower is %g and options->upper %g; set both with lower <= upper, or none",
             o->lower, o->upper);
    if (o->use_initial_guess != 0 && o->use_initial_guess != 1)
        FAIL(ctx, ECH_ERR_ARG, "options->use_initial_guess is %d, not 0 or 1",
             o->use_initial_guess);
    if (o->restart < 0 || o->restart > 1000)
        FAIL(ctx, ECH_ERR_ARG, "options->restart is %d, not from 0 to 1000", o->restart);
    if (o->block < 0 || o->block > ECHI_SOLVE_BLOCK)
        FAIL(ctx, ECH_ERR_ARG, "options->block is %d, not from 0 to %d", o->block,
             (int)ECHI_SOLVE_BLOCK);
    if (o->fill > 1000) FAIL(ctx, ECH_ERR_ARG, "options->fill is %zu, more than 1000", o->fill);
    if (o->check_every > ECHI_SOLVE_RING)
        FAIL(ctx, ECH_ERR_ARG, "options->check_every is %u, more than %d", o->check_every,
             (int)ECHI_SOLVE_RING);
    if (o->history_capacity && !o->history)
        FAIL(ctx, ECH_ERR_ARG, "options->history is NULL, but history_capacity is %zu",
             o->history_capacity);
done:
    return status;
}

/* Replaces zeros by the defaults. */
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
    if (o->drop_tolerance == 0) o->drop_tolerance = 1e-4;
    if (o->fill == 0) o->fill = 10;
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
        FAIL(ctx, ECH_ERR_UNSUPPORTED, "this device does not support iterative solvers");
    if (!a) FAIL(ctx, ECH_ERR_ARG, "a is NULL");
    TRY(echi_read_struct(ctx, "a", "ech_operator", a, &call->a, sizeof call->a));
    a = &call->a;
    TRY(check_operator(ctx, a, call));
    call->options = *options;
    TRY(check_choice(ctx, a, &call->options));
    TRY(check_numbers(ctx, &call->options));
    set_defaults(call);
done:
    return status;
}
