/*
 * test_solve_ilut.c - the preconditioner ILUT of ech_solve(): convergence on every device, its
 * limits, its drop tolerance, and rows without a pivot.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ech_ctx *ctx;

static ech_solve_options options_of(double drop_tolerance, size_t fill)
{
    return (ech_solve_options){ .size = sizeof(ech_solve_options),
                                .method = ECH_METHOD_GMRES,
                                .precond = ECH_PRECOND_ILUT,
                                .drop_tolerance = drop_tolerance,
                                .fill = fill };
}

static void run_case(const char *kind, size_t side, double kappa, ech_method method,
                     enum solve_form form, ech_dtype dtype, bool on_host)
{
    if (!test_begin("ilut(%s,%zu,%s,%s,%s%s)", kind, side, ech_method_name(method),
                    form == FORM_I32 ? "i32" : "i64", ech_dtype_name(dtype),
                    on_host ? ",host" : ""))
        return;
    struct solve_system s = system_make(kind, side, kappa, 5);
    ech_solve_options o = options_of(0, 0);
    o.method = method;
    struct solve_run run = solve_on(ctx, &s, form, dtype, 2, on_host, NULL, &o);
    CHECK_STATUS(run.status, ECH_OK);
    double *b = calloc(s.n, sizeof *b);
    if (!b) abort();
    for (size_t i = 0; i < 2; i++) {
        const ech_solve_report *r = &run.reports[i];
        system_rotated(&s, i, b);
        const long double residual =
            system_residual(&s, dtype, b, (char *)run.x + i * s.n * ech_dtype_bytes(dtype), NULL);
        CHECK_INT(r->status, ECH_SOLVE_STATUS_CONVERGED_RTOL);
        CHECK_INT(r->precond, ECH_PRECOND_ILUT);
        CHECK(residual <= (dtype == ECH_F32 ? 1.1e-5L : 1.1e-8L) * system_norm(&s, dtype, b));
        CHECK(r->iterations <= 40);
    }
    free(b);
    run_free(&run);
    system_free(&s);
    test_end();
}

static uint64_t iterations_of(const struct solve_system *s, const ech_solve_options *o)
{
    struct solve_run run = solve_on(ctx, s, FORM_I32, ECH_F64, 1, true, NULL, o);
    CHECK_STATUS(run.status, ECH_OK);
    CHECK(run.reports[0].status > 0);
    const uint64_t iterations = run.reports[0].iterations;
    run_free(&run);
    return iterations;
}

/* With all fill and nothing dropped, the factors are those of LU. */
static void run_exact(void)
{
    if (!test_begin("ilut_exact")) return;
    struct solve_system s = system_make("convection", test_is_cpu(ctx) ? 13 : 8, 0.9, 6);
    ech_solve_options all = options_of(1e-300, 1000);
    CHECK(iterations_of(&s, &all) <= 2);
    system_free(&s);
    test_end();
}

/* More fill and a smaller tolerance take fewer iterations. */
static void run_order(size_t side)
{
    if (!test_begin("ilut_order(%zu)", side)) return;
    struct solve_system s = system_make("convection", side, 0.3, 7);
    ech_solve_options usual = options_of(0, 0), same = options_of(1e-4, 10);
    ech_solve_options few = options_of(1e-4, 2), coarse = options_of(0.1, 10);
    ech_solve_options ilu0 = usual;
    ilu0.precond = ECH_PRECOND_ILU0;
    const uint64_t usually = iterations_of(&s, &usual);
    CHECK_INT(iterations_of(&s, &same), usually); /* these are the defaults */
    CHECK(usually < iterations_of(&s, &few));
    CHECK(usually < iterations_of(&s, &coarse));
    CHECK(2 * usually < iterations_of(&s, &ilu0));
    system_free(&s);
    test_end();
}

/* The row without a pivot is named. */
static void run_pivots(void)
{
    if (!test_begin("ilut_pivots")) return;
    struct solve_system cycle = system_make("cycle", 12, 0, 8);
    ech_solve_options o = options_of(0, 0);
    struct solve_run run = solve_on(ctx, &cycle, FORM_I64, ECH_F64, 1, true, NULL, &o);
    CHECK_STATUS(run.status, ECH_OK);
    CHECK_INT(run.reports[0].status, ECH_SOLVE_STATUS_STOPPED_SINGULAR);
    CHECK_INT(run.reports[0].failed_index, 0);
    run_free(&run);
    system_free(&cycle);
    test_end();
}

static const ech_csr small_csr = { .size = sizeof small_csr,
                                   .rows = 10,
                                   .cols = 10,
                                   .nnz = 30,
                                   .index_dtype = ECH_I32,
                                   .dtype = ECH_F64 };

static void run_wrong(void)
{
    if (!test_begin("ilut_wrong")) return;
    const ech_operator a = { .size = sizeof a, .n = 10, .dtype = ECH_F64, .csr = &small_csr };
    const ech_operator dense = {
        .size = sizeof dense, .n = 10, .dtype = ECH_F64, .dense = &small_csr, .stride = 10
    };
    static const struct {
        double drop;
        size_t fill;
        const char *part;
    } wrong[] = { { -1, 0, "drop_tolerance is -1" },
                  { NAN, 0, "drop_tolerance" },
                  { 0, 1001, "fill is 1001" },
                  { 0, SIZE_MAX, "more than 1000" } };
    size_t bytes;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const ech_solve_options o = options_of(wrong[i].drop, wrong[i].fill);
        CHECK_FAILS(NULL, ech_solve_workspace("cpu", &a, &o, &bytes), ECH_ERR_ARG, wrong[i].part);
    }
    const ech_solve_options o = options_of(0, 0);
    CHECK_FAILS(NULL, ech_solve_workspace("cpu", &dense, &o, &bytes), ECH_ERR_ARG,
                "\"ilut\" needs a->csr");
    test_end();
}

static void run_names(void)
{
    if (!test_begin("ilut_names")) return;
    const ech_operator a = { .size = sizeof a, .n = 10, .dtype = ECH_F64, .csr = &small_csr };
    ech_solve_options o = options_of(0.25, 7), small = options_of(0.25, 1);
    char text[2048];
    size_t bytes = 0, fewer = 0;
    CHECK_INT(ech_precond_from_name("ilut"), ECH_PRECOND_ILUT);
    CHECK_TEXT(ech_precond_name(ECH_PRECOND_ILUT), "ilut");
    CHECK_STATUS(ech_solve_explain("cpu", &a, &o, ECH_FORMAT_TEXT, text, sizeof text), ECH_OK);
    CHECK_TEXT(text, "below 0.25 |row|, and with at most 7 more");
    CHECK_STATUS(ech_solve_workspace("cpu", &a, &o, &bytes), ECH_OK);
    CHECK_STATUS(ech_solve_workspace("cpu", &a, &small, &fewer), ECH_OK);
    CHECK(bytes > fewer + 10 * 6 * 2 * 16 - 512);
    test_end();
}

int main(int argc, char **argv)
{
    char name[32];
    test_main(argc, argv);
    for (int i = 0; test_device(i, name, sizeof name); i++) {
        if (ech_open(&ctx, name) != ECH_OK) {
            fprintf(stderr, "%s\n", ech_error(NULL));
            return 1;
        }
        const bool gpu = !test_is_cpu(ctx);
        run_case("convection", gpu ? 7 : 12, 0.7, ECH_METHOD_BICGSTAB, FORM_I32, ECH_F64, true);
        run_case("convection", gpu ? 7 : 9, 1.4, ECH_METHOD_GMRES, FORM_I64, ECH_F32, false);
        run_case("random", gpu ? 60 : 140, 0, ECH_METHOD_GMRES, FORM_I64, ECH_F64, false);
        run_case("poisson", gpu ? 6 : 11, 0, ECH_METHOD_RICHARDSON, FORM_I32, ECH_F64, false);
        run_case("line", 1, 1, ECH_METHOD_GMRES, FORM_I32, ECH_F64, true);
        run_exact();
        run_order(gpu ? 9 : 40);
        run_pivots();
        run_wrong();
        run_names();
        ech_close(ctx);
    }
    return test_finish();
}
