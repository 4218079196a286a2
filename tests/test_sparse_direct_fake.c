/*
 * test_sparse_direct_fake.c - sparse direct solvers with a fake library that
 * ECHELON_SPARSE_DIRECT names: failures of KLU, and cuDSS on the SIMT emulator.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "sparse_direct_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ech_ctx *ctx;
static struct direct_csr line, plant;
static ech_csr line_csr, plant_csr;
enum { N = 60 };
static double x[N];

static ech_sparse_direct_report report;

static ech_status solve_csr(const ech_csr *a, const double *b, const char *algorithm)
{
    const ech_sparse_direct_options o = { .size = sizeof o, .algorithm = algorithm };
    report = (ech_sparse_direct_report){ .size = sizeof report };
    return ech_solve_sparse(ctx, a, 1, b, 0, x, 0, &o, &report);
}

/* Solves the diagonal system while the fake library behaves as `behaviour` states. */
static ech_status solve_line(const char *behaviour, const char *algorithm)
{
    setenv("FAKE_SOLVER", behaviour, 1);
    return solve_csr(&line_csr, line.b, algorithm);
}

static void run_failures(const char *algorithm, const char *(*rows)[2], size_t count)
{
    static const ech_status statuses[] = {
        ['d'] = ECH_ERR_DEVICE, ['m'] = ECH_ERR_MEMORY, ['u'] = ECH_ERR_UNSUPPORTED
    };
    for (size_t i = 0; i < count; i++) {
        if (!test_begin("fails(%s,%s)", algorithm, rows[i][0])) continue;
        const ech_status want = statuses[(unsigned char)rows[i][1][0]];
        CHECK_FAILS(ctx, solve_line(rows[i][0], algorithm), want, rows[i][1] + 1);
        CHECK_STATUS(solve_line("", algorithm), ECH_OK); /* the next call succeeds */
        CHECK_INT(report.status, ECH_DIRECT_STATUS_SOLVED);
        CHECK_TEXT(report.algorithm, algorithm);
        test_end();
    }
}

/* ---- KLU ---- */

static void run_klu(void)
{
    static const char *failures[][2] = {
        { "defaults=0", "dklu_l_defaults" },
        { "analyze=-2", "mout of memory" },
        { "analyze=-3", "dklu_l_analyze of KLU failed with status -3" },
        { "analyze=-4", "moverflows an integer" },
        { "factor=-2", "mout of memory" },
        { "factor=-7", "dklu_l_factor of KLU failed with status -7" },
        { "solve=0", "dklu_l_solve of KLU failed with status -3" },
    };
    run_failures("klu", failures, sizeof failures / sizeof *failures);
    if (test_begin("klu_default")) {
        CHECK_STATUS(solve_line("", NULL), ECH_OK);
        CHECK_TEXT(report.algorithm, "klu");
        CHECK_FAILS(ctx, solve_line("", "superlu"), ECH_ERR_UNSUPPORTED, "names another library");
        test_end();
    }
    if (test_begin("klu_singular")) {
        CHECK_STATUS(solve_line("column=5", NULL), ECH_OK);
        CHECK_INT(report.status, ECH_DIRECT_STATUS_SINGULAR);
        CHECK_INT(report.failed_index, 5);
        CHECK_STATUS(solve_line("column=-1", NULL), ECH_OK); /* the library does not know it */
        CHECK_INT(report.status, ECH_DIRECT_STATUS_SINGULAR);
        CHECK(report.failed_index == UINT64_MAX);
        CHECK_STATUS(solve_line("column=99999", NULL), ECH_OK);
        CHECK(report.failed_index == UINT64_MAX);
        test_end();
    }
    if (test_begin("klu_wrong")) { /* the report shows that the solution is wrong */
        CHECK_STATUS(solve_line("wrong=1", NULL), ECH_OK);
        CHECK(report.backward_error > 1e-3);
        CHECK_STATUS(solve_line("wrong=2", NULL), ECH_OK);
        CHECK_INT(report.status, ECH_DIRECT_STATUS_OVERFLOW);
        CHECK_INT(report.failed_index, 0);
        test_end();
    }
}

/* ---- cuDSS ---- */

static void run_cudss(void)
{
    static const char *failures[][2] = {
        { "create=2", "mcudssCreate of cuDSS failed with status 2" },
        { "matrix=3", "dcudssMatrixCreateCsr" },
        { "analysis=6", "dcudssExecute(analysis) of cuDSS failed with status 6" },
        { "factor=2", "mcudssExecute(factorization)" },
        { "factor=4", "ucudssExecute(factorization)" },
        { "get=5", "dcudssDataGet" },
        { "solve=5", "dcudssExecute(solve)" },
    };
    ech_sparse_direct_options o = { .size = sizeof o };
    ech_sparse_factor *factor = NULL;
    run_failures("cudss", failures, sizeof failures / sizeof *failures);
    setenv("FAKE_SOLVER", "", 1);
    if (test_begin("cudss_plant")) {
        CHECK_STATUS(ech_sparse_factor_create(ctx, &plant_csr, &o, &factor, &report), ECH_OK);
        CHECK_TEXT(report.algorithm, "cudss");
        CHECK_INT(report.factor_nnz, N * N);
        for (int turn = 0; factor && turn < 4; turn++) {
            o.transpose = turn % 2;
            CHECK_STATUS(ech_sparse_factor_solve(ctx, factor, 1, plant.b, 0, x, 0, &o, &report),
                         ECH_OK);
            CHECK(direct_csr_error(&plant, turn % 2, ECH_F64, plant.b, x) < 0x1p-52);
        }
        setenv("FAKE_SOLVER", "mode=4", 1);
        CHECK_FAILS(ctx, ech_sparse_factor_solve(ctx, factor, 1, plant.b, 0, x, 0, NULL, &report),
                    ECH_ERR_UNSUPPORTED, "solve mode");
        ech_sparse_factor_free(factor);
        test_end();
    }
    if (test_begin("cudss_singular")) { /* no library of the CPU may be used: it is named */
        CHECK_STATUS(solve_line("info=1", NULL), ECH_OK);
        CHECK_INT(report.status, ECH_DIRECT_STATUS_SINGULAR);
        CHECK_STATUS(solve_line("pivots=3", NULL), ECH_OK);
        CHECK_INT(report.status, ECH_DIRECT_STATUS_SOLVED);
        test_end();
    }
}

/* A file that is not one of the libraries, or of another version. */
static void run_unusable(const char *part)
{
    if (!test_begin("unusable(%s)", part)) return;
    const char *version = getenv("FAKE_VERSION");
    if (version) setenv("FAKE_SOLVER", version, 1);
    const ech_status status = solve_csr(&line_csr, line.b, NULL);
    CHECK_FAILS(ctx, status, ECH_ERR_UNSUPPORTED, part);
    CHECK_FAILS(ctx, solve_csr(&line_csr, line.b, NULL), ECH_ERR_UNSUPPORTED,
                "ECHELON_SPARSE_DIRECT is");
    CHECK_STATUS(solve_csr(&plant_csr, plant.b, "dense"), ECH_OK); /* on request */
    test_end();
}

int main(int argc, char **argv)
{
    const char *file = getenv("ECHELON_SPARSE_DIRECT"), *version = getenv("FAKE_VERSION");
    test_main(argc, argv);
    const bool klu = file && strstr(file, "fake_libklu"), unusable = version || !klu;
    const bool cudss = file && strstr(file, "fake_libcudss") && !version;
    line = direct_csr_make("line", N, 1);
    plant = direct_csr_make("plant", N, 2);
    line_csr = csr_of(&line, ECH_I32, ECH_F64);
    plant_csr = csr_of(&plant, ECH_I32, ECH_F64);
    const ech_status status = ech_open(&ctx, cudss ? "simt" : "cpu");
    if (!file || status != ECH_OK) {
        if (test_begin("fake")) {
            test_skip("%s", file ? ech_error(NULL) : "ECHELON_SPARSE_DIRECT names no library");
            test_end();
        }
    } else if (klu) {
        run_klu();
    } else if (cudss) {
        run_cudss();
    } else if (unusable) {
        run_unusable(version ? "its version is not 1" : "which");
    }
    ech_close(ctx);
    csr_free(&line_csr);
    csr_free(&plant_csr);
    direct_csr_free(&line);
    direct_csr_free(&plant);
    return test_finish();
}
