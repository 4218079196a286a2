/*
 * test_solve_callback.c - functions of the caller that ech_solve() calls: a preconditioner, and a
 * monitor function that reads x.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ech_ctx *ctx;

static ech_solve_options options_of(ech_method method)
{
    return (ech_solve_options){ .size = sizeof(ech_solve_options),
                                .method = method,
                                .max_iterations = 5000 };
}

/* ---- A preconditioner ---- */

struct inverse {
    size_t n, calls;
    ech_dtype dtype;
    double *diagonal; /* [n], 1 / a_ii */
    ech_status refuse;
};

static struct inverse inverse_of(const struct solve_system *s, ech_dtype dtype)
{
    struct inverse m = { .n = s->n, .dtype = dtype, .diagonal = calloc(s->n, sizeof(double)) };
    if (!m.diagonal) abort();
    for (size_t i = 0; i < s->n; i++)
        for (int64_t e = s->offsets[i]; e < s->offsets[i + 1]; e++) {
            const double value = s->values[e];
            if (s->columns[e] != (int64_t)i) continue;
            m.diagonal[i] = dtype == ECH_F32 ? 1 / (double)(float)value : 1 / value;
        }
    return m;
}

/* z = M^-1 r, in the memory of the device. */
static ech_status divide(void *user, ech_ctx *c, const void *r, void *z)
{
    struct inverse *m = user;
    const size_t bytes = m->n * ech_dtype_bytes(m->dtype);
    if (m->refuse) return m->refuse;
    void *all = malloc(bytes);
    if (!all) abort();
    ech_status status = ech_copy(c, all, r, bytes);
    for (size_t i = 0; i < m->n; i++) {
        if (m->dtype == ECH_F32)
            ((float *)all)[i] *= (float)m->diagonal[i];
        else
            ((double *)all)[i] *= m->diagonal[i];
    }
    if (status == ECH_OK) status = ech_copy(c, z, all, bytes);
    free(all);
    m->calls++;
    return status;
}

/* The function computes the same M as block Jacobi with blocks of one row, so the results are
 * bit-identical. */
static void run_same(ech_method method, ech_dtype dtype)
{
    if (!test_begin("same(%s,%s)", ech_method_name(method), ech_dtype_name(dtype))) return;
    struct solve_system s = system_make("blocks", 8, 0, 3);
    struct inverse m = inverse_of(&s, dtype);
    ech_solve_options o = options_of(method), f = o;
    o.precond = ECH_PRECOND_BLOCK_JACOBI;
    o.block = 1;
    f.precondition = divide;
    f.precondition_user = &m;
    for (int host = 0; host < 2; host++) {
        m.calls = 0;
        struct solve_run wanted = solve_on(ctx, &s, FORM_I32, dtype, 2, host, NULL, &o);
        struct solve_run run = solve_on(ctx, &s, FORM_I32, dtype, 2, host, NULL, &f);
        CHECK_STATUS(wanted.status, ECH_OK);
        CHECK_STATUS(run.status, ECH_OK);
        for (int i = 0; i < 2; i++) {
            CHECK(run.reports[i].status > 0);
            CHECK(run.reports[i].iterations > 2);
            CHECK_INT(run.reports[i].precond, ECH_PRECOND_NONE);
            run.reports[i].precond = ECH_PRECOND_BLOCK_JACOBI;
        }
        CHECK(m.calls > 2);
        runs_same(&wanted, &run, 2, "the function and block-jacobi");
        run_free(&wanted);
        run_free(&run);
    }
    free(m.diagonal);
    system_free(&s);
    test_end();
}

/* ---- A monitor function that reads x ---- */

struct seen {
    const struct solve_system *s;
    ech_ctx *other; /* a monitor function must not use the context of the call */
    void *x;        /* in the memory of the device */
    uint64_t iterations;
    double worst; /* maximum difference between the residuals, relative to |b| */
};

static int compare_residual(void *user, size_t which, uint64_t iteration, double residual)
{
    struct seen *seen = user;
    const struct solve_system *s = seen->s;
    double *x = calloc(s->n, sizeof *x);
    if (!x) abort();
    CHECK_INT(which, 0);
    CHECK_STATUS(ech_copy(seen->other, x, seen->x, s->n * sizeof *x), ECH_OK);
    const long double size = system_norm(s, ECH_F64, s->b);
    const double true_residual = (double)system_residual(s, ECH_F64, s->b, x, NULL);
    const double difference = fabs(true_residual - residual) / (double)size;
    if (difference > seen->worst) seen->worst = difference;
    seen->iterations = iteration;
    free(x);
    return 0;
}

/* x has the residual that the method reports, also after the last iteration. */
static void run_reads(ech_method method, bool precondition)
{
    if (!test_begin("reads(%s,%s)", ech_method_name(method), precondition ? "function" : "none"))
        return;
    struct solve_system s = system_make("blocks", 8, 0, 5);
    struct inverse m = inverse_of(&s, ECH_F64);
    struct seen seen = { .s = &s };
    ech_operator a = { .size = sizeof a, .n = s.n, .dtype = ECH_F64 };
    const ech_csr csr = { .size = sizeof csr,
                          .rows = s.n,
                          .cols = s.n,
                          .nnz = s.entries,
                          .row_offsets = s.offsets,
                          .col_indices = s.columns,
                          .values = s.values,
                          .index_dtype = ECH_I64,
                          .dtype = ECH_F64 };
    a.csr = &csr;
    ech_solve_report report = { .size = sizeof report };
    ech_solve_options o = options_of(method);
    o.check_every = 1;
    o.monitor = compare_residual;
    o.monitor_user = &seen;
    if (precondition) {
        o.precondition = divide;
        o.precondition_user = &m;
    }
    CHECK_STATUS(ech_open(&seen.other, ech_device_name(ctx)), ECH_OK);
    CHECK_STATUS(ech_malloc(ctx, &seen.x, s.n * sizeof(double)), ECH_OK);
    CHECK_STATUS(ech_solve(ctx, &a, 1, s.b, 0, seen.x, 0, &o, &report), ECH_OK);
    CHECK(report.status > 0);
    CHECK_INT(seen.iterations, report.iterations);
    CHECK(seen.worst < 1e-12);
    ech_free(ctx, seen.x, s.n * sizeof(double));
    ech_close(seen.other);
    free(m.diagonal);
    system_free(&s);
    test_end();
}

/* ---- Errors ---- */

static void run_errors(void)
{
    if (!test_begin("errors")) return;
    struct solve_system s = system_make("poisson", 5, 0, 1);
    struct inverse m = inverse_of(&s, ECH_F64);
    double x[25];
    char text[1000];
    ech_solve_report report = { .size = sizeof report };
    const ech_operator a = {
        .size = sizeof a, .n = 25, .dtype = ECH_F64, .apply = divide, .user = &m
    };
    const struct {
        ech_method method;
        ech_precond precond;
        const char *part;
    } wrong[] = {
        { ECH_METHOD_AUTO, ECH_PRECOND_NONE, "\"auto\" chooses its preconditioner" },
        { ECH_METHOD_GAUSS_SEIDEL, ECH_PRECOND_NONE, "\"gauss-seidel\" chooses its" },
        { ECH_METHOD_SOR, ECH_PRECOND_NONE, "\"sor\" chooses its preconditioner" },
        { ECH_METHOD_CG, ECH_PRECOND_SSOR, "precond is \"ssor\"" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ech_solve_options o = options_of(wrong[i].method);
        o.precond = wrong[i].precond;
        o.precondition = divide;
        o.precondition_user = &m;
        CHECK_FAILS(ctx, ech_solve(ctx, &a, 1, s.b, 0, x, 0, &o, &report), ECH_ERR_ARG,
                    wrong[i].part);
    }
    struct inverse refuses = m;
    ech_solve_options o = options_of(ECH_METHOD_CG);
    o.precondition = divide;
    o.precondition_user = &refuses;
    refuses.refuse = ECH_ERR_UNSUPPORTED;
    CHECK_FAILS(ctx, ech_solve(ctx, &a, 1, s.b, 0, x, 0, &o, &report), ECH_ERR_UNSUPPORTED,
                "options->precondition returned");
    CHECK_STATUS(
        ech_solve_explain(ech_device_name(ctx), &a, &o, ECH_FORMAT_TEXT, text, sizeof text),
        ECH_OK);
    CHECK(strstr(text, "precond      a function of the caller\n") != NULL);
    free(m.diagonal);
    system_free(&s);
    test_end();
}

int main(int argc, char **argv)
{
    static const ech_method methods[] = { ECH_METHOD_RICHARDSON, ECH_METHOD_CHEBYSHEV,
                                          ECH_METHOD_CG,         ECH_METHOD_MINRES,
                                          ECH_METHOD_BICGSTAB,   ECH_METHOD_GMRES };
    char name[32];
    test_main(argc, argv);
    for (int i = 0; test_device(i, name, sizeof name); i++) {
        if (ech_open(&ctx, name) != ECH_OK) {
            fprintf(stderr, "%s\n", ech_error(NULL));
            return 1;
        }
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
            run_same(methods[m], ECH_F64);
            run_same(methods[m], ECH_F32);
            if (methods[m] == ECH_METHOD_GMRES) continue; /* x is updated once per cycle */
            run_reads(methods[m], false);
            run_reads(methods[m], true);
        }
        run_errors();
        ech_close(ctx);
    }
    return test_finish();
}
