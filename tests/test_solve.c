/*
 * test_solve.c - iterative solvers: compared with theory and with the residual in long double, and
 * bit-identical on every device, with any number of threads and for any check interval.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONTEXTS = 8 };
static ech_ctx *contexts[CONTEXTS], *one_thread;
static int context_count;

static bool on_gpu(void)
{
    return context_count && !test_is_cpu(contexts[0]);
}

static void open_all(void)
{
    char name[32];
    for (int i = 0; context_count < CONTEXTS && test_device(i, name, sizeof name); i++)
        if (ech_open(&contexts[context_count], name) == ECH_OK) {
            context_count++;
        } else {
            fprintf(stderr, "%s\n", ech_error(NULL));
            exit(1);
        }
    if (ech_open(&one_thread, "cpu") != ECH_OK) abort();
    ech_set_threads(one_thread, 1);
}

static ech_solve_options options_of(ech_method method, ech_precond precond)
{
    return (ech_solve_options){ .size = sizeof(ech_solve_options),
                                .method = method,
                                .precond = precond };
}

/* The report must agree with the residual in long double. */
static void check_report(const struct solve_system *s, ech_dtype dtype, const struct solve_run *run,
                         size_t i, const ech_solve_options *options)
{
    const ech_solve_report *r = &run->reports[i];
    const size_t bytes = ech_dtype_bytes(dtype);
    double *b = calloc(s->n + 1, sizeof *b);
    if (!b) abort();
    system_rotated(s, i, b);
    const long double norm = system_norm(s, dtype, b);
    long double size = 0;
    const long double residual =
        system_residual(s, dtype, b, (const char *)run->x + i * s->n * bytes, &size);
    const long double unit = dtype == ECH_F32 ? 6e-8L : 1.2e-16L;
    const double rtol = options->rtol > 0   ? options->rtol
                        : options->atol > 0 ? 0
                        : dtype == ECH_F32  ? 1e-5
                                            : 1e-8;
    CHECK(fabsl(r->b_norm - norm) <= 100 * unit * norm);
    if (isfinite(r->residual) &&
        fabsl(r->residual - residual) > 1e-3L * residual + 30 * unit * size)
        test_fail(__FILE__, __LINE__, "the report has the residual %g instead of %Lg", r->residual,
                  residual);
    if (r->status > 0) {
        const double relative = rtol * r->b_norm;
        CHECK(r->residual <= (relative > options->atol ? relative : options->atol));
        CHECK(r->status == (r->residual <= relative ? ECH_SOLVE_STATUS_CONVERGED_RTOL
                                                    : ECH_SOLVE_STATUS_CONVERGED_ATOL));
    }
    CHECK(ech_solve_status_text(r->status)[0] != '?');
    CHECK_INT(r->history_count, r->iterations + 1);
    free(b);
}

/* ---- Every method, in every form, on every device ---- */

static const struct {
    ech_method method;
    ech_precond precond;
    const char *kind;
    size_t side;
    double kappa;
    bool converges;
    int block;
} cases[] = {
    { ECH_METHOD_RICHARDSON, ECH_PRECOND_NONE, "line", 70, 10, true, 0 },
    { ECH_METHOD_RICHARDSON, ECH_PRECOND_JACOBI, "poisson", 6, 0, true, 0 },
    { ECH_METHOD_JACOBI, ECH_PRECOND_NONE, "random", 90, 0, true, 0 },
    { ECH_METHOD_CHEBYSHEV, ECH_PRECOND_NONE, "poisson", 9, 0, true, 0 },
    { ECH_METHOD_CHEBYSHEV, ECH_PRECOND_JACOBI, "poisson3", 5, 0, true, 0 },
    { ECH_METHOD_CG, ECH_PRECOND_NONE, "poisson", 24, 0, true, 0 },
    { ECH_METHOD_CG, ECH_PRECOND_JACOBI, "line", 600, 1000, true, 0 },
    { ECH_METHOD_CG, ECH_PRECOND_NONE, "poisson3", 6, 0, true, 0 },
    { ECH_METHOD_MINRES, ECH_PRECOND_NONE, "indefinite", 8, 0, true, 0 },
    { ECH_METHOD_MINRES, ECH_PRECOND_JACOBI, "poisson", 11, 0, true, 0 },
    { ECH_METHOD_MINRES, ECH_PRECOND_JACOBI, "signs", 300, 0, true, 0 },
    { ECH_METHOD_BICGSTAB, ECH_PRECOND_NONE, "convection", 10, 0.4, true, 0 },
    { ECH_METHOD_BICGSTAB, ECH_PRECOND_JACOBI, "random", 530, 0, true, 0 },
    { ECH_METHOD_GMRES, ECH_PRECOND_NONE, "convection", 8, 0.7, true, 0 },
    { ECH_METHOD_GMRES, ECH_PRECOND_JACOBI, "random", 90, 0, true, 0 },
    { ECH_METHOD_GAUSS_SEIDEL, ECH_PRECOND_NONE, "poisson", 6, 0, true, 0 },
    { ECH_METHOD_GAUSS_SEIDEL, ECH_PRECOND_NONE, "random", 120, 0, true, 0 },
    { ECH_METHOD_SOR, ECH_PRECOND_NONE, "poisson", 9, 0, true, 0 },
    { ECH_METHOD_RICHARDSON, ECH_PRECOND_SSOR, "poisson", 8, 0, true, 0 },
    { ECH_METHOD_CHEBYSHEV, ECH_PRECOND_IC0, "poisson", 8, 0, true, 0 },
    { ECH_METHOD_CG, ECH_PRECOND_SSOR, "poisson", 25, 0, true, 0 },
    { ECH_METHOD_CG, ECH_PRECOND_IC0, "poisson3", 7, 0, true, 0 },
    { ECH_METHOD_MINRES, ECH_PRECOND_IC0, "poisson", 9, 0, true, 0 },
    { ECH_METHOD_BICGSTAB, ECH_PRECOND_ILU0, "convection", 8, 0.7, true, 0 },
    { ECH_METHOD_BICGSTAB, ECH_PRECOND_SSOR, "convection", 10, 0.2, true, 0 },
    { ECH_METHOD_GMRES, ECH_PRECOND_ILU0, "random", 140, 0, true, 0 },
    { ECH_METHOD_GMRES, ECH_PRECOND_ILU0, "convection", 11, 1.4, true, 0 },
    { ECH_METHOD_CG, ECH_PRECOND_BLOCK_JACOBI, "blocks", 173, 0, true, 5 },
    { ECH_METHOD_CG, ECH_PRECOND_BLOCK_JACOBI, "poisson", 21, 0, true, 32 },
    { ECH_METHOD_CG, ECH_PRECOND_BLOCK_JACOBI, "poisson3", 6, 0, true, 0 },
    { ECH_METHOD_RICHARDSON, ECH_PRECOND_BLOCK_JACOBI, "blocks", 99, 0, true, 10 },
    { ECH_METHOD_CHEBYSHEV, ECH_PRECOND_BLOCK_JACOBI, "blocks", 128, 0, true, 3 },
    { ECH_METHOD_MINRES, ECH_PRECOND_BLOCK_JACOBI, "blocks", 131, 0, true, 7 },
    { ECH_METHOD_BICGSTAB, ECH_PRECOND_BLOCK_JACOBI, "convection", 12, 0.4, true, 12 },
    { ECH_METHOD_BICGSTAB, ECH_PRECOND_BLOCK_JACOBI, "random", 530, 0, true, 31 },
    { ECH_METHOD_GMRES, ECH_PRECOND_BLOCK_JACOBI, "random", 90, 0, true, 17 },
    { ECH_METHOD_GMRES, ECH_PRECOND_BLOCK_JACOBI, "zigzag", 77 + 1, 0, true, 2 },
    { ECH_METHOD_GMRES, ECH_PRECOND_BLOCK_JACOBI, "cycle", 12, 0, false, 3 },
    { ECH_METHOD_CG, ECH_PRECOND_IC0, "indefinite", 7, 0, false, 0 },
    { ECH_METHOD_GAUSS_SEIDEL, ECH_PRECOND_NONE, "cycle", 12, 0, false, 0 },
    { ECH_METHOD_GMRES, ECH_PRECOND_ILU0, "cycle", 12, 0, false, 0 },
    { ECH_METHOD_AUTO, ECH_PRECOND_NONE, "poisson", 8, 0, true, 0 },
    { ECH_METHOD_AUTO, ECH_PRECOND_NONE, "indefinite", 7, 0, true, 0 },
    { ECH_METHOD_AUTO, ECH_PRECOND_NONE, "signs", 40, 0, true, 0 },
    { ECH_METHOD_AUTO, ECH_PRECOND_NONE, "convection", 9, 0.3, true, 0 },
    { ECH_METHOD_CG, ECH_PRECOND_NONE, "convection", 8, 0.9, false, 0 },
    { ECH_METHOD_CG, ECH_PRECOND_NONE, "signs", 50, 0, false, 0 },
    { ECH_METHOD_CG, ECH_PRECOND_NONE, "neumann", 64, 0, false, 0 },
    { ECH_METHOD_MINRES, ECH_PRECOND_NONE, "neumann", 20, 0, false, 0 },
    { ECH_METHOD_GMRES, ECH_PRECOND_NONE, "neumann", 12, 0, false, 0 },
    { ECH_METHOD_BICGSTAB, ECH_PRECOND_NONE, "neumann", 20, 0, false, 0 },
    { ECH_METHOD_CHEBYSHEV, ECH_PRECOND_NONE, "signs", 20, 0, false, 0 },
    { ECH_METHOD_GMRES, ECH_PRECOND_NONE, "cycle", 50, 0, false, 0 },
};
enum { CASES = sizeof cases / sizeof *cases };

static void run_case(int which, enum solve_form form, ech_dtype dtype)
{
    static const char *const forms[FORMS] = { "i32", "i64", "dense", "apply" };
    const char *method = ech_method_name(cases[which].method);
    if (!test_begin("solve(%s,%s,%s,%zu,%s,%s)", method, ech_precond_name(cases[which].precond),
                    cases[which].kind, cases[which].side, forms[form], ech_dtype_name(dtype)))
        return;
    struct solve_system s =
        system_make(cases[which].kind, cases[which].side, cases[which].kappa, 7);
    ech_solve_options o = options_of(cases[which].method, cases[which].precond);
    if (cases[which].method == ECH_METHOD_SOR || cases[which].precond == ECH_PRECOND_SSOR)
        o.omega = 1.4;
    const size_t count = 1 + (size_t)(which % 2);
    o.check_every = 1;
    o.block = cases[which].block;
    if (dtype == ECH_F32) o.rtol = 1e-4;
    struct solve_run first = solve_on(one_thread, &s, form, dtype, count, true, NULL, &o);
    CHECK_STATUS(first.status, ECH_OK);
    for (size_t i = 0; i < count && !test_failed(); i++) {
        check_report(&s, dtype, &first, i, &o);
        if (!(cases[which].converges ? first.reports[i].status > 0 : first.reports[i].status < 0))
            test_fail(__FILE__, __LINE__, "%s after %llu iterations, residual %g of %g",
                      ech_solve_status_text(first.reports[i].status),
                      (unsigned long long)first.reports[i].iterations, first.reports[i].residual,
                      first.reports[i].b_norm);
    }
    static const unsigned every[] = { 0, 1, 7, 256 };
    for (int i = 0; i < context_count && !test_failed(); i++)
        for (int j = 0; j < (on_gpu() ? 2 : 3) && !test_failed(); j++) {
            if (test_is_cpu(contexts[i])) ech_set_threads(contexts[i], j == 0 ? 1 : j == 1 ? 2 : 7);
            o.check_every = every[(which + j) % 4];
            struct solve_run run = solve_on(contexts[i], &s, form, dtype, count, j % 2, NULL, &o);
            if (CHECK_STATUS(run.status, ECH_OK))
                runs_same(&first, &run, count, ech_device_name(contexts[i]));
            run_free(&run);
        }
    run_free(&first);
    system_free(&s);
    test_end();
}

/* Enough chunks to give every thread several; few iterations. */
static void run_long(ech_method method, size_t n, ech_dtype dtype, uint64_t iterations)
{
    if (!test_begin("long(%s,%zu,%s)", ech_method_name(method), n, ech_dtype_name(dtype))) return;
    struct solve_system s = system_make("line", n, 1000, 3);
    ech_solve_options o = options_of(method, ECH_PRECOND_NONE);
    o.max_iterations = iterations;
    struct solve_run first = solve_on(one_thread, &s, FORM_I32, dtype, 1, true, NULL, &o);
    CHECK_STATUS(first.status, ECH_OK);
    CHECK_INT(first.reports[0].status, ECH_SOLVE_STATUS_STOPPED_ITERATIONS);
    CHECK_INT(first.reports[0].iterations, iterations);
    check_report(&s, dtype, &first, 0, &o);
    for (int i = 0; i < context_count; i++)
        for (int threads = 1; threads < 8 && !test_failed(); threads += 3) {
            if (test_is_cpu(contexts[i])) ech_set_threads(contexts[i], threads);
            if (on_gpu() && threads > 1) break;
            struct solve_run run = solve_on(contexts[i], &s, FORM_I32, dtype, 1, true, NULL, &o);
            if (CHECK_STATUS(run.status, ECH_OK)) runs_same(&first, &run, 1, "long");
            run_free(&run);
        }
    run_free(&first);
    system_free(&s);
    test_end();
}

/* The norm of b is bit-identical with the result of ech_dot(). */
static void run_dot(size_t n, ech_dtype dtype)
{
    if (!test_begin("dot(%zu,%s)", n, ech_dtype_name(dtype))) return;
    struct solve_system s = system_make("line", n, 2, 11);
    ech_solve_options o = options_of(ECH_METHOD_CG, ECH_PRECOND_NONE);
    o.max_iterations = 1;
    o.rtol = 1e-30;
    float *narrow = calloc(n + 1, sizeof *narrow);
    if (!narrow) abort();
    for (size_t i = 0; i < n; i++) narrow[i] = (float)s.b[i];
    for (int i = 0; i < context_count; i++) {
        double dot = 0;
        ech_reduce_options wide = { .size = sizeof wide, .accumulate_wide = 1 };
        const void *b = dtype == ECH_F32 ? (const void *)narrow : s.b;
        struct solve_run run = solve_on(contexts[i], &s, FORM_I32, dtype, 1, i % 2, NULL, &o);
        CHECK_STATUS(ech_dot(contexts[i], b, b, &dot, n, dtype, dtype == ECH_F32 ? &wide : NULL),
                     ECH_OK);
        if (run.reports[0].b_norm != sqrt(dot))
            test_fail(__FILE__, __LINE__, "the norm is %.17g, ech_dot() returns %.17g",
                      run.reports[0].b_norm, sqrt(dot));
        run_free(&run);
    }
    free(narrow);
    system_free(&s);
    test_end();
}

/* ---- Theory ---- */

static struct solve_run simply(const struct solve_system *s, const ech_solve_options *o)
{
    struct solve_run run = solve_on(contexts[0], s, FORM_I32, ECH_F64, 1, true, NULL, o);
    CHECK_STATUS(run.status, ECH_OK);
    check_report(s, ECH_F64, &run, 0, o);
    return run;
}

/* CG needs at least `side` iterations, because a product moves information by one grid point, and
 * at most as many as the Chebyshev bound: O(side). */
static void run_poisson(size_t side)
{
    if (!test_begin("poisson(%zu)", side)) return;
    const double pi = acos(-1), angle = pi / (double)(side + 1);
    const double kappa = (1 + cos(angle)) / (1 - cos(angle)), root = sqrt(kappa);
    struct solve_system s = system_make("poisson", side, 0, side);
    for (size_t i = 0; i < s.n; i++) s.b[i] = i == 0; /* in one corner */
    ech_solve_options o = options_of(ECH_METHOD_CG, ECH_PRECOND_NONE);
    struct solve_run run = simply(&s, &o);
    CHECK(run.reports[0].status > 0);
    CHECK((double)run.reports[0].iterations <= ceil(root / 2 * log(2 * root / 1e-8)));
    CHECK(run.reports[0].iterations >= side);
    run_free(&run);
    system_free(&s);
    test_end();
}

/* As many iterations as there are distinct eigenvalues. */
static void run_seven(ech_method method, const char *kind, size_t n, uint64_t most)
{
    if (!test_begin("seven(%s,%s,%zu)", ech_method_name(method), kind, n)) return;
    struct solve_system s = system_make(kind, n, 0, n);
    ech_solve_options o = options_of(method, ECH_PRECOND_NONE);
    o.rtol = 1e-11;
    o.restart = (int)most;
    struct solve_run run = simply(&s, &o);
    CHECK(run.reports[0].status > 0);
    CHECK(run.reports[0].iterations <= most);
    CHECK(run.reports[0].iterations + 1 >= most);
    run_free(&run);
    system_free(&s);
    test_end();
}

/* Asymptotically, each iteration of Richardson multiplies the residual by (kappa - 1) / (kappa +
 * 1). */
static void run_richardson(double kappa)
{
    if (!test_begin("richardson(%g)", kappa)) return;
    struct solve_system s = system_make("line", 64, kappa, 5);
    ech_solve_options o = options_of(ECH_METHOD_RICHARDSON, ECH_PRECOND_NONE);
    o.lower = 1;
    o.upper = kappa;
    struct solve_run run = simply(&s, &o);
    const uint64_t k = run.reports[0].iterations;
    CHECK(run.reports[0].status > 0);
    const double ratio = run.history[k] / run.history[k - 1], wanted = (kappa - 1) / (kappa + 1);
    if (fabs(ratio - wanted) > 1e-3)
        test_fail(__FILE__, __LINE__, "the rate is %g instead of %g", ratio, wanted);
    run_free(&run);
    system_free(&s);
    test_end();
}

/* The residual of Chebyshev is below its bound after every iteration, but not far below. */
static void run_chebyshev(double kappa)
{
    if (!test_begin("chebyshev(%g)", kappa)) return;
    struct solve_system s = system_make("line", 300, kappa, 5);
    ech_solve_options o = options_of(ECH_METHOD_CHEBYSHEV, ECH_PRECOND_NONE);
    o.lower = 1;
    o.upper = kappa;
    struct solve_run run = simply(&s, &o);
    const double rho = (sqrt(kappa) - 1) / (sqrt(kappa) + 1);
    CHECK(run.reports[0].status > 0);
    for (size_t k = 1; k < run.reports[0].history_count && !test_failed(); k++) {
        const double bound = 2 * pow(rho, (double)k) / (1 + pow(rho, 2 * (double)k));
        CHECK(run.history[k] <= bound * run.history[0] * (1 + 1e-6));
        CHECK(run.history[k] >= 0.01 * bound * run.history[0]);
    }
    run_free(&run);
    system_free(&s);
    test_end();
}

/* The estimated bounds contain the spectrum and are not much wider. */
static void run_bounds(double kappa)
{
    if (!test_begin("bounds(%g)", kappa)) return;
    struct solve_system s = system_make("line", 400, kappa, 9);
    ech_solve_options o = options_of(ECH_METHOD_CHEBYSHEV, ECH_PRECOND_NONE);
    struct solve_run run = simply(&s, &o);
    CHECK(run.reports[0].status > 0);
    CHECK(run.reports[0].upper >= kappa && run.reports[0].upper <= 1.1 * kappa);
    CHECK(run.reports[0].lower >= 0.9 && run.reports[0].lower <= 1.2);
    run_free(&run);
    system_free(&s);
    test_end();
}

/* The residuals of MINRES and GMRES never increase, and GMRES without restart ends after n
 * iterations. */
static void run_least(ech_method method, const char *kind, size_t side)
{
    if (!test_begin("least(%s,%s,%zu)", ech_method_name(method), kind, side)) return;
    struct solve_system s = system_make(kind, side, 0.6, side);
    ech_solve_options o = options_of(method, ECH_PRECOND_NONE);
    o.restart = 1000;
    struct solve_run run = simply(&s, &o);
    CHECK(run.reports[0].status > 0);
    CHECK(method != ECH_METHOD_GMRES || run.reports[0].iterations <= s.n);
    for (size_t k = 1; k < run.reports[0].history_count; k++)
        CHECK(run.history[k] <= run.history[k - 1] * (1 + 1e-10));
    run_free(&run);
    system_free(&s);
    test_end();
}

/* In f32 the recurrence soon underestimates the true residual. After a restart the method must aim
 * at a smaller residual, otherwise it ends slightly above the tolerance. */
static void run_near(ech_method method, size_t side, double least)
{
    if (!test_begin("near(%s,%zu)", ech_method_name(method), side)) return;
    struct solve_system s = system_make("poisson", side, 0, side);
    const bool gpu = on_gpu();
    uint64_t restarts = 0;
    for (double rtol = 1e-5; rtol > least; rtol *= gpu ? 0.4 : 0.9) {
        ech_solve_options o = options_of(method, ECH_PRECOND_NONE);
        o.rtol = rtol;
        struct solve_run run = solve_on(contexts[0], &s, FORM_I32, ECH_F32, 1, true, NULL, &o);
        CHECK_STATUS(run.status, ECH_OK);
        check_report(&s, ECH_F32, &run, 0, &o);
        CHECK(run.reports[0].status > 0);
        restarts += run.reports[0].restarts;
        run_free(&run);
    }
    CHECK(gpu || restarts > 0); /* small systems may need no restart */
    system_free(&s);
    test_end();
}

/* Each iteration multiplies the residual of Gauss-Seidel by the square of Jacobi's rate, cos^2(pi /
 * (side + 1)), and that of SOR with the best omega by omega - 1 (Young, 1954). The test also
 * computes the iterates. */
static void run_gauss_seidel(size_t side, double omega)
{
    if (!test_begin("gauss-seidel(%zu,%g)", side, omega)) return;
    struct solve_system s = system_make("poisson", side, 0, 3);
    ech_solve_options o =
        options_of(omega == 1 ? ECH_METHOD_GAUSS_SEIDEL : ECH_METHOD_SOR, ECH_PRECOND_NONE);
    o.omega = omega;
    struct solve_run run = simply(&s, &o);
    const uint64_t k = run.reports[0].iterations;
    const double jacobi = cos(acos(-1) / (double)(side + 1));
    double *x = calloc(s.n, sizeof *x);
    if (!x) abort();
    for (uint64_t t = 0; t < k; t++) /* the textbook algorithm, row by row */
        for (size_t i = 0; i < s.n; i++) {
            double sum = s.b[i], middle = 1;
            for (int64_t e = s.offsets[i]; e < s.offsets[i + 1]; e++)
                if ((size_t)s.columns[e] == i)
                    middle = s.values[e];
                else
                    sum -= s.values[e] * x[s.columns[e]];
            x[i] += omega * (sum / middle - x[i]);
        }
    CHECK(run.reports[0].status > 0);
    for (size_t i = 0; i < s.n; i++) CHECK(fabs(x[i] - ((double *)run.x)[i]) <= 1e-11);
    if (omega == 1) CHECK(fabs(run.history[k] / run.history[k - 1] - jacobi * jacobi) < 1e-3);
    free(x);
    run_free(&run);
    system_free(&s);
    test_end();
}

/* ILU(0) and IC(0) are exact if the factors have no fill-in: one or two iterations. */
static void run_exact(ech_method method, ech_precond precond)
{
    if (!test_begin("exact(%s,%s)", ech_method_name(method), ech_precond_name(precond))) return;
    struct solve_system s = system_make("neumann", 500, 0, 3);
    s.values[0] = 1.25; /* makes the matrix regular */
    ech_solve_options o = options_of(method, precond);
    struct solve_run run = simply(&s, &o);
    CHECK(run.reports[0].status > 0);
    CHECK(run.reports[0].iterations <= 2);
    run_free(&run);
    system_free(&s);
    test_end();
}

/* IC(0) takes about a third of the iterations (Meijerink and van der Vorst). */
static void run_fewer(size_t side)
{
    if (!test_begin("fewer(%zu)", side)) return;
    struct solve_system s = system_make("poisson", side, 0, 3);
    ech_solve_options o = options_of(ECH_METHOD_CG, ECH_PRECOND_NONE);
    struct solve_run plain = simply(&s, &o);
    o.precond = ECH_PRECOND_IC0;
    struct solve_run ic = simply(&s, &o);
    o.precond = ECH_PRECOND_SSOR;
    o.omega = 2 / (1 + 3 / (double)side);
    struct solve_run ssor = simply(&s, &o);
    CHECK(ic.reports[0].iterations * 10 <= plain.reports[0].iterations * 5);
    CHECK(ssor.reports[0].iterations * 10 <= plain.reports[0].iterations * 5);
    run_free(&plain);
    run_free(&ic);
    run_free(&ssor);
    system_free(&s);
    test_end();
}

/* Diagonal blocks of size 1 are bit-identical with Jacobi. Blocks that match the matrix save
 * iterations. */
static void run_blocks(ech_method method)
{
    if (!test_begin("blocks(%s)", ech_method_name(method))) return;
    struct solve_system s = system_make("blocks", 213, 0, 4);
    ech_solve_options o = options_of(method, ECH_PRECOND_JACOBI);
    struct solve_run jacobi = simply(&s, &o);
    o.precond = ECH_PRECOND_BLOCK_JACOBI;
    o.block = 1;
    struct solve_run one = simply(&s, &o);
    o.block = 5;
    struct solve_run five = simply(&s, &o);
    CHECK(jacobi.reports[0].status > 0 && five.reports[0].status > 0);
    CHECK_INT(one.reports[0].iterations, jacobi.reports[0].iterations);
    CHECK(memcmp(one.x, jacobi.x, one.x_bytes) == 0);
    CHECK(2 * five.reports[0].iterations < jacobi.reports[0].iterations);
    run_free(&jacobi);
    run_free(&one);
    run_free(&five);
    system_free(&s);
    test_end();
}

/* A block diagonal matrix is solved in one iteration if the inverses are accurate to f64
 * precision. */
static void run_inverse(const char *kind, int block)
{
    if (!test_begin("inverse(%s,%d)", kind, block)) return;
    struct solve_system s = system_make(kind, (size_t)block, 0, (uint64_t)block);
    ech_solve_options o = options_of(ECH_METHOD_GMRES, ECH_PRECOND_BLOCK_JACOBI);
    o.block = 32;
    o.rtol = 1e-12;
    struct solve_run run = simply(&s, &o);
    CHECK(run.reports[0].status > 0);
    CHECK_INT(run.reports[0].iterations, 1);
    run_free(&run);
    system_free(&s);
    test_end();
}

/* Several right-hand sides give the same iterates as each right-hand side separately. */
static void run_several(ech_method method, ech_precond precond, const char *kind, size_t side)
{
    enum { COUNT = 4 };
    if (!test_begin("several(%s,%s,%s)", ech_method_name(method), ech_precond_name(precond), kind))
        return;
    struct solve_system s = system_make(kind, side, 0.3, 12);
    ech_solve_options o = options_of(method, precond);
    for (int i = 0; i < context_count; i++) {
        struct solve_run all = solve_on(contexts[i], &s, FORM_I32, ECH_F64, COUNT, i % 2, NULL, &o);
        double *b = calloc(s.n, sizeof *b);
        if (!b) abort();
        memcpy(b, s.b, s.n * sizeof *b);
        for (size_t which = 0; which < COUNT && !test_failed(); which++) {
            for (size_t j = 0; j < s.n; j++) s.b[j] = b[(j + which * 3) % s.n];
            struct solve_run one = solve_on(contexts[i], &s, FORM_I32, ECH_F64, 1, i % 2, NULL, &o);
            struct solve_run mine = { .reports = all.reports + which,
                                      .history = all.history + which * HISTORY,
                                      .x = (double *)all.x + which * s.n,
                                      .x_bytes = one.x_bytes };
            CHECK_STATUS(one.status, ECH_OK);
            check_report(&s, ECH_F64, &one, 0, &o);
            runs_same(&one, &mine, 1, "alone");
            run_free(&one);
        }
        memcpy(s.b, b, s.n * sizeof *b);
        free(b);
        run_free(&all);
    }
    system_free(&s);
    test_end();
}

/* Most of the cases that end after many iterations: the emulator is slow. */
static bool left_out(int which)
{
    const ech_method m = cases[which].precond ? ECH_METHOD_AUTO : cases[which].method;
    const bool slow = m == ECH_METHOD_GMRES || m == ECH_METHOD_MINRES || cases[which].kappa > 0;
    return slow && !cases[which].converges && !test_drawn((uint64_t)which, true);
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    open_all();
    const bool gpu = on_gpu();
    for (int which = 0; which < CASES; which++)
        for (int form = 0; form < FORMS; form++) {
            const ech_precond precond = cases[which].precond;
            const bool squares = precond == ECH_PRECOND_BLOCK_JACOBI;
            const bool rows = cases[which].method >= ECH_METHOD_GAUSS_SEIDEL ||
                              (precond >= ECH_PRECOND_SSOR && !squares);
            const int forms = rows ? FORM_DENSE : squares ? FORM_APPLY : FORMS;
            if (form >= forms) continue;
            const int most = cases[which].side > 100 ? FORM_DENSE : forms;
            if (gpu && (form != which % most || left_out(which))) continue;
            run_case(which, (enum solve_form)form, which % 3 == 2 ? ECH_F32 : ECH_F64);
        }
    for (int i = 0; i < 6; i++) /* steps of Richardson, Chebyshev, MINRES and BiCGSTAB in f32 */
        run_case((const int[]){ 0, 1, 3, 4, 9, 12 }[i], FORM_I32, ECH_F32);
    run_long(ECH_METHOD_CG, 263000, ECH_F64, gpu ? 1 : 5);
    run_long(ECH_METHOD_BICGSTAB, gpu ? 9000 : 530000, ECH_F32, 2);
    run_long(ECH_METHOD_GMRES, gpu ? 5000 : 300000, ECH_F64, 4);
    run_long(ECH_METHOD_MINRES, gpu ? 5000 : 300000, ECH_F64, 3);
    for (size_t n = 1; n < 9000; n = 2 * n + n / 3 + 1) {
        run_dot(n, ECH_F64);
        run_dot(n, ECH_F32);
    }
    for (size_t side = 8; side <= 16; side *= 2) run_poisson(side);
    run_poisson(gpu ? 20 : 100);
    run_seven(ECH_METHOD_CG, "seven", 200, 7);
    run_seven(ECH_METHOD_MINRES, "signs", 200, 7);
    run_seven(ECH_METHOD_GMRES, "signs", 200, 7);
    run_seven(ECH_METHOD_GMRES, "cycle", gpu ? 20 : 60, gpu ? 20 : 60);
    run_richardson(5);
    run_richardson(30);
    run_chebyshev(10);
    run_chebyshev(400);
    run_bounds(10);
    run_bounds(300);
    run_gauss_seidel(6, 1);
    run_gauss_seidel(8, 1.5);
    run_exact(ECH_METHOD_GMRES, ECH_PRECOND_ILU0);
    run_exact(ECH_METHOD_CG, ECH_PRECOND_IC0);
    run_fewer(gpu ? 16 : 60);
    static const ech_method blocked[] = { ECH_METHOD_CG, ECH_METHOD_MINRES, ECH_METHOD_BICGSTAB,
                                          ECH_METHOD_GMRES, ECH_METHOD_CHEBYSHEV };
    for (int i = 0; i < 5; i++) run_blocks(blocked[i]);
    for (int block = 1; block <= 32; block += gpu ? 31 : 1) {
        run_inverse("random", block);
        run_inverse("cycle", block); /* pivoting exchanges every row */
    }
    run_several(ECH_METHOD_AUTO, ECH_PRECOND_NONE, "indefinite", 7);
    run_several(ECH_METHOD_AUTO, ECH_PRECOND_NONE, "convection", 8);
    run_several(ECH_METHOD_CHEBYSHEV, ECH_PRECOND_BLOCK_JACOBI, "poisson", 9);
    run_several(ECH_METHOD_CG, ECH_PRECOND_IC0, "poisson", 9);
    run_several(ECH_METHOD_BICGSTAB, ECH_PRECOND_JACOBI, "convection", 8);
    run_several(ECH_METHOD_GMRES, ECH_PRECOND_NONE, "random", 60);
    run_least(ECH_METHOD_MINRES, "poisson", 10);
    run_least(ECH_METHOD_GMRES, "convection", 8);
    run_least(ECH_METHOD_GMRES, "random", 40);
    run_near(ECH_METHOD_GMRES, gpu ? 32 : 64, gpu ? 9e-7 : 1.5e-6);
    run_near(ECH_METHOD_MINRES, gpu ? 32 : 64, gpu ? 1e-6 : 1.5e-6);
    for (int i = 0; i < context_count; i++) ech_close(contexts[i]);
    ech_close(one_thread);
    return test_finish();
}
