/*
 * solve/plan.c - the workspace of a system and the text of explain, computed without the matrix
 * values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve/solve.h"
#include "solve/recur.h"

#include <stdio.h>

enum { MOST_FACTORED = 1 << 24 };

/* ---- The workspace ---- */

bool echi_solve_may_factor(const struct echi_solve *call)
{
    if (call->options.method == ECH_METHOD_AUTO) return call->a.csr && call->a.n <= MOST_FACTORED;
    return echi_factor_wanted(call->options.method, call->options.precond);
}

static size_t most_vectors(const struct echi_solve *call)
{
    size_t most = 0;
    struct echi_solve other = *call;
    if (call->options.method != ECH_METHOD_AUTO)
        return echi_method_of(call->options.method)->vectors(call);
    other.options.precond = ECH_PRECOND_JACOBI;
    for (int i = ECH_METHOD_CG; i <= ECH_METHOD_GMRES; i++) {
        const size_t n = echi_method_of((ech_method)i)->vectors(&other);
        if (n > most) most = n;
    }
    return most;
}

static bool has_diagonal(const ech_solve_options *o)
{
    return o->method == ECH_METHOD_AUTO || o->method == ECH_METHOD_JACOBI ||
           o->precond == ECH_PRECOND_JACOBI || echi_factor_wanted(o->method, o->precond);
}

static bool may_be_gmres(const ech_solve_options *o)
{
    return o->method == ECH_METHOD_AUTO || o->method == ECH_METHOD_GMRES;
}

bool echi_solve_has_m(const ech_solve_options *o)
{
    return o->precond != ECH_PRECOND_NONE || o->precondition;
}

bool echi_solve_has_blocks(const ech_solve_options *o)
{
    return o->method != ECH_METHOD_AUTO && o->precond == ECH_PRECOND_BLOCK_JACOBI;
}

ech_status echi_solve_lay_out(const struct echi_solve *call, void *base,
                              struct echi_solve_parts *parts, size_t *bytes)
{
    struct echi_layout layout = { .base = base };
    const size_t n = call->a.n, element = ech_dtype_bytes(call->a.dtype);
    const size_t m = (size_t)call->options.restart;
    ech_status status = ECH_OK;
    const size_t vector_bytes = (n + call->beyond) * element;
    *parts = (struct echi_solve_parts){ .vector_bytes = (vector_bytes + ECHI_ALIGN - 1) /
                                                        ECHI_ALIGN * ECHI_ALIGN };
    if (call->a.csr && !call->beyond)
        TRY(ech_csr_workspace(call->backend->name, ECH_CSR_CALL_SPMV, &call->csr, 1, NULL,
                              &parts->product_bytes));
    parts->scalars = echi_part(&layout, ECHI_S_MORE + (m + ECHI_GM_LISTS) * (m + 1), 8);
    const size_t dots = may_be_gmres(&call->options) ? ECHI_SOLVE_VECTORS : ECHI_SOLVE_DOTS;
    parts->partials = echi_part(&layout, (size_t)echi_solve_items(n, (int)element) * dots, 8);
    parts->diagonal = echi_part(&layout, has_diagonal(&call->options) ? n : 0, element);
    if (echi_solve_has_blocks(&call->options))
        parts->blocks = echi_part(&layout, (size_t)call->options.block, parts->vector_bytes);
    parts->vectors = echi_part(&layout, most_vectors(call), parts->vector_bytes);
    if (echi_solve_may_factor(call)) {
        parts->lower = echi_part(&layout, n, 8);
        parts->upper = echi_part(&layout, n, 8);
        const bool ilut = call->options.precond == ECH_PRECOND_ILUT;
        parts->factor_entries = call->csr.nnz;
        if (ilut) parts->factor_entries = echi_ilut_entries(n, call->csr.nnz, call->options.fill);
        parts->factor = echi_part(&layout, parts->factor_entries, element);
        if (ilut) parts->factor_columns = echi_part(&layout, parts->factor_entries, 8);
        if (ilut) parts->factor_offsets = echi_part(&layout, n + 1, 8);
    }
    parts->product = echi_part(&layout, parts->product_bytes, 1);
    *bytes = layout.bytes;
    if (layout.overflow)
        FAIL(NULL, ECH_ERR_MEMORY, "a->n is %zu: the workspace exceeds SIZE_MAX bytes", n);
done:
    return status;
}

static ech_status ask(const char *device, const ech_operator *a, const ech_solve_options *options,
                      struct echi_solve *call, size_t *bytes)
{
    struct echi_solve_parts parts;
    ech_status status;
    *call = (struct echi_solve){ .count = 1 };
    *bytes = 0;
    TRY(echi_backend_ask(device, &call->backend));
    TRY(echi_solve_check(NULL, a, options, call));
    if (a->n) TRY(echi_solve_lay_out(call, NULL, &parts, bytes));
done:
    return status;
}

ech_status ech_solve_workspace(const char *device, const ech_operator *a,
                               const ech_solve_options *options, size_t *bytes)
{
    READ_OPTIONS(NULL, ech_solve_options, options);
    struct echi_solve call;
    if (!bytes) return echi_fail(NULL, ECH_ERR_ARG, "bytes is NULL");
    return ask(device, a, options, &call, bytes);
}

/* ---- Explanation ---- */

/* The cost of an iteration without M (docs/solve.md). */
static const struct {
    const char *what;
    int products, passes; /* -1: increases */
} costs[ECHI_METHODS] = {
    [ECH_METHOD_RICHARDSON] = { "the spectrum right of 0", 1, 6 },
    [ECH_METHOD_JACOBI] = { "diagonally dominant matrices", 1, 8 },
    [ECH_METHOD_CHEBYSHEV] = { "symmetric positive definite matrices; no dot products except "
                               "for the residual",
                               1, 9 },
    [ECH_METHOD_CG] = { "symmetric positive definite matrices", 1, 10 },
    [ECH_METHOD_MINRES] = { "symmetric matrices", 1, 17 },
    [ECH_METHOD_BICGSTAB] = { "any matrix; the residual is not monotonic", 2, 20 },
    [ECH_METHOD_GMRES] = { "any matrix; the residual never increases within a cycle", 1, -1 },
    [ECH_METHOD_GAUSS_SEIDEL] = { "symmetric positive definite or diagonally dominant matrices", 1,
                                  6 },
    [ECH_METHOD_SOR] = { "symmetric positive definite or diagonally dominant matrices", 1, 6 },
};

static void explain_auto(const struct echi_solve *call, struct echi_explain *e)
{
    const bool unknown = call->a.apply && !call->a.diagonal;
    const char *factor = echi_solve_may_factor(call) ? "ilu0, or if a pivot is zero " : "";
    echi_explain_algorithm(e, true, "auto",
                           "chosen from products of A and random vectors, and "
                           "from the diagonal of A");
    if (unknown) {
        echi_explain_line(e, "symmetric", "minres, because the diagonal is unknown");
        echi_explain_line(e, "otherwise", "gmres(%d)", call->options.restart);
        return;
    }
    echi_explain_line(e, "positive",
                      "symmetric, with a positive diagonal: cg with jacobi; minres "
                      "if p.Ap <= 0 occurs");
    echi_explain_line(e, "symmetric", "minres");
    echi_explain_line(
        e, "otherwise",
        "gmres(%d) with %sjacobi; without a preconditioner if the diagonal has a zero",
        call->options.restart, factor);
    if (call->a.csr && !*factor)
        echi_explain_line(e, "no_ilu0", "A has more than %d rows", MOST_FACTORED);
}

static void explain_method(const struct echi_solve *call, struct echi_explain *e)
{
    const ech_solve_options *o = &call->options;
    if (o->method == ECH_METHOD_AUTO) {
        explain_auto(call, e);
        return;
    }
    echi_explain_algorithm(e, true, ech_method_name(o->method), "for %s", costs[o->method].what);
    if (o->method == ECH_METHOD_GMRES)
        echi_explain_line(e, "iteration",
                          "1 product with A, about 9/4 j passes over vectors in step j of %d",
                          o->restart);
    else
        echi_explain_line(e, "iteration", "%d product%s with A, %d passes over vectors",
                          costs[o->method].products, costs[o->method].products > 1 ? "s" : "",
                          costs[o->method].passes);
    if (o->precondition)
        echi_explain_line(e, "precond", "a function of the caller");
    else if (o->precond == ECH_PRECOND_ILUT)
        echi_explain_line(
            e, "precond",
            "ilut, without elements below %g |row|, and with at most %zu more per row "
            "than A in L, and in U",
            o->drop_tolerance, o->fill);
    else if (echi_solve_has_blocks(o))
        echi_explain_line(e, "precond", "%s, with diagonal blocks of %d rows",
                          ech_precond_name(o->precond), o->block);
    else
        echi_explain_line(e, "precond", "%s%s", ech_precond_name(o->precond),
                          echi_factor_wanted(o->method, o->precond)
                              ? ", with triangular solves by level scheduling"
                              : "");
}

ech_status ech_solve_explain(const char *device, const ech_operator *a,
                             const ech_solve_options *options, ech_format format, char *text,
                             size_t capacity_bytes)
{
    READ_OPTIONS(NULL, ech_solve_options, options);
    struct echi_explain e;
    struct echi_solve call;
    size_t bytes;
    ech_status status = echi_explain_begin(&e, format, text, capacity_bytes);
    if (status != ECH_OK) return status;
    TRY(ask(device, a, options, &call, &bytes));
    echi_explain_call(&e, "solve", call.backend->name);
    if (!a->n) {
        echi_explain_algorithm(&e, true, "empty", "the system has no equations");
        echi_explain_workspace(&e, 0);
        return echi_explain_end(&e, ECH_OK);
    }
    const ech_solve_options *o = &call.options;
    char atol[40] = "";
    explain_method(&call, &e);
    if (a->csr)
        echi_explain_line(&e, "matrix", "sparse, %zu entries", a->csr->nnz);
    else
        echi_explain_line(&e, "matrix", "%s", a->dense ? "dense" : "a function of the caller");
    if (o->atol > 0) snprintf(atol, sizeof atol, " or %g", o->atol);
    echi_explain_line(&e, "converged", "if |b - A x| <= %g |b|%s, for the true residual", o->rtol,
                      atol);
    echi_explain_count(&e, "iterations", o->max_iterations);
    echi_explain_count(&e, "check_every", o->check_every);
    echi_explain_workspace(&e, bytes);
done:
    return echi_explain_end(&e, status);
}
