/*
 * test_solve_call.c - the contract of ech_solve(): its reasons to stop, its options and memory,
 * and invalid arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "solve_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ech_ctx *ctx;
static const ech_method all[] = { ECH_METHOD_RICHARDSON, ECH_METHOD_JACOBI,
                                  ECH_METHOD_CHEBYSHEV,  ECH_METHOD_CG,
                                  ECH_METHOD_MINRES,     ECH_METHOD_BICGSTAB,
                                  ECH_METHOD_GMRES,      ECH_METHOD_GAUSS_SEIDEL,
                                  ECH_METHOD_SOR,        ECH_METHOD_AUTO };
enum { METHODS = sizeof all / sizeof *all };

static ech_solve_options options_of(ech_method method)
{
    return (ech_solve_options){ .size = sizeof(ech_solve_options), .method = method };
}

static struct solve_run simply(const struct solve_system *s, const double *guess,
                               const ech_solve_options *o)
{
    struct solve_run run = solve_on(ctx, s, FORM_I32, ECH_F64, 1, true, guess, o);
    CHECK_STATUS(run.status, ECH_OK);
    return run;
}

/* ---- Reasons to stop ---- */

static void run_zero(void)
{
    if (!test_begin("zero")) return;
    struct solve_system s = system_make("poisson", 5, 0, 1);
    double guess[25], zero[25] = { 0 };
    for (int i = 0; i < 25; i++) guess[i] = i;
    memset(s.b, 0, s.n * sizeof *s.b);
    for (int m = 0; m < METHODS; m++) {
        ech_solve_options o = options_of(all[m]);
        struct solve_run run = simply(&s, guess, &o);
        CHECK_INT(run.reports[0].status, ECH_SOLVE_STATUS_CONVERGED_RTOL);
        CHECK_INT(run.reports[0].iterations, 0);
        CHECK(run.reports[0].residual == 0);
        CHECK(memcmp(run.x, zero, sizeof zero) == 0);
        run_free(&run);
    }
    system_free(&s);
    test_end();
}

/* An initial guess that solves the system is unchanged; a good guess saves iterations. */
static void run_guess(void)
{
    if (!test_begin("guess")) return;
    struct solve_system s = system_make("poisson", 7, 0, 2);
    ech_solve_options o = options_of(ECH_METHOD_CG);
    struct solve_run cold = simply(&s, NULL, &o);
    for (int m = 0; m < METHODS; m++) {
        o = options_of(all[m]);
        struct solve_run warm = simply(&s, cold.x, &o);
        CHECK_INT(warm.reports[0].status, ECH_SOLVE_STATUS_CONVERGED_RTOL);
        CHECK_INT(warm.reports[0].iterations, 0);
        CHECK(memcmp(warm.x, cold.x, cold.x_bytes) == 0);
        run_free(&warm);
    }
    o = options_of(ECH_METHOD_CG);
    o.rtol = 1e-10;
    struct solve_run further = simply(&s, cold.x, &o), anew = simply(&s, NULL, &o);
    CHECK(further.reports[0].iterations > 0);
    CHECK(further.reports[0].iterations < anew.reports[0].iterations);
    run_free(&further);
    run_free(&anew);
    run_free(&cold);
    system_free(&s);
    test_end();
}

static void run_nan(double what, bool in_matrix)
{
    if (!test_begin("nan(%g,%s)", what, in_matrix ? "A" : "b")) return;
    struct solve_system s = system_make("poisson", 5, 0, 3);
    *(in_matrix ? &s.values[31] : &s.b[7]) = what;
    for (int m = 0; m < METHODS; m++) {
        ech_solve_options o = options_of(all[m]);
        struct solve_run run = simply(&s, NULL, &o);
        const ech_solve_status reason = run.reports[0].status;
        if (reason != ECH_SOLVE_STATUS_STOPPED_NAN &&
            !(reason == ECH_SOLVE_STATUS_STOPPED_INDEFINITE && in_matrix))
            test_fail(__FILE__, __LINE__, "%s: %s", ech_method_name(all[m]),
                      ech_solve_status_text(reason));
        run_free(&run);
    }
    system_free(&s);
    test_end();
}

static void run_limits(void)
{
    if (!test_begin("limits")) return;
    struct solve_system s = system_make("poisson", 12, 0, 4);
    for (int m = 0; m < METHODS; m++) {
        ech_solve_options o = options_of(all[m]);
        o.max_iterations = 5;
        struct solve_run run = simply(&s, NULL, &o);
        CHECK_INT(run.reports[0].status, ECH_SOLVE_STATUS_STOPPED_ITERATIONS);
        CHECK_INT(run.reports[0].iterations, 5);
        run_free(&run);
    }
    ech_solve_options o = options_of(ECH_METHOD_CG);
    o.max_iterations = 5;
    o.check_every = 100; /* the last iteration needs no further product, except for the residual */
    struct solve_run run = simply(&s, NULL, &o);
    CHECK_INT(run.reports[0].applications, 7);
    run_free(&run);
    o = options_of(ECH_METHOD_RICHARDSON);
    o.omega = 3; /* the limit is 2 / 8 */
    run = simply(&s, NULL, &o);
    CHECK_INT(run.reports[0].status, ECH_SOLVE_STATUS_STOPPED_DIVERGED);
    CHECK(run.reports[0].residual > 1e5 * run.reports[0].b_norm);
    run_free(&run);
    o = options_of(ECH_METHOD_CG);
    o.atol = 0.5;
    run = simply(&s, NULL, &o);
    CHECK_INT(run.reports[0].status, ECH_SOLVE_STATUS_CONVERGED_ATOL);
    CHECK(run.reports[0].residual <= 0.5 && run.reports[0].residual > 1e-4);
    run_free(&run);
    o.atol = 0;
    o.rtol = 1e-19; /* below the precision of f64 */
    run = simply(&s, NULL, &o);
    CHECK_INT(run.reports[0].status, ECH_SOLVE_STATUS_STOPPED_STAGNATED);
    CHECK(run.reports[0].residual < 1e-13);
    run_free(&run);
    system_free(&s);
    test_end();
}

/* A zero on the diagonal is reported with its row; missing entries are zeros. */
static void run_singular(void)
{
    if (!test_begin("singular")) return;
    struct solve_system s = system_make("cycle", 30, 0, 5);
    ech_solve_options o = options_of(ECH_METHOD_JACOBI);
    struct solve_run run = simply(&s, NULL, &o);
    CHECK_INT(run.reports[0].status, ECH_SOLVE_STATUS_STOPPED_SINGULAR);
    CHECK_INT(run.reports[0].failed_index, 0);
    run_free(&run);
    system_free(&s);
    s = system_make("line", 700, 9, 5);
    s.values[600] = s.values[450] = -0.0;
    o = options_of(ECH_METHOD_GMRES);
    o.precond = ECH_PRECOND_JACOBI;
    run = simply(&s, NULL, &o);
    CHECK_INT(run.reports[0].status, ECH_SOLVE_STATUS_STOPPED_SINGULAR);
    CHECK_INT(run.reports[0].failed_index, 450);
    CHECK(run.reports[0].residual > 0);
    run_free(&run);
    o.precond = ECH_PRECOND_ILU0;
    run = simply(&s, NULL, &o);
    CHECK_INT(run.reports[0].status, ECH_SOLVE_STATUS_STOPPED_SINGULAR);
    CHECK_INT(run.reports[0].failed_index, 450);
    run_free(&run);
    o.precond = ECH_PRECOND_BLOCK_JACOBI;
    o.block = 7;
    run = simply(&s, NULL, &o);
    CHECK_INT(run.reports[0].status, ECH_SOLVE_STATUS_STOPPED_SINGULAR);
    CHECK_INT(run.reports[0].failed_index, 450);
    run_free(&run);
    s.values[300] = -1;
    o.method = ECH_METHOD_CG;
    o.precond = ECH_PRECOND_IC0;
    run = simply(&s, NULL, &o);
    CHECK_INT(run.reports[0].status, ECH_SOLVE_STATUS_STOPPED_INDEFINITE);
    CHECK_INT(run.reports[0].failed_index, 300);
    run_free(&run);
    system_free(&s);
    s = system_make("blocks", 88, 0, 5);
    for (size_t i = 35; i < 40; i++) /* a singular diagonal block: all rows are equal */
        for (int64_t e = s.offsets[i]; e < s.offsets[i + 1]; e++)
            if ((size_t)s.columns[e] == i) s.values[e] = 2;
    o = options_of(ECH_METHOD_BICGSTAB);
    o.precond = ECH_PRECOND_BLOCK_JACOBI;
    o.block = 5;
    run = simply(&s, NULL, &o);
    CHECK_INT(run.reports[0].status, ECH_SOLVE_STATUS_STOPPED_SINGULAR);
    CHECK_INT(run.reports[0].failed_index, 36);
    run_free(&run);
    o.block = 10; /* the larger block is regular */
    run = simply(&s, NULL, &o);
    CHECK(run.reports[0].status > 0);
    run_free(&run);
    system_free(&s);
    test_end();
}

static int stop_at(void *user, size_t which, uint64_t iteration, double residual)
{
    uint64_t *seen = user;
    CHECK_INT(iteration, *seen);
    CHECK_INT(which, 0);
    CHECK(residual > 0);
    return (*seen)++ == 6;
}

static void run_monitor(void)
{
    if (!test_begin("monitor")) return;
    struct solve_system s = system_make("poisson", 15, 0, 6);
    for (int m = 0; m < METHODS; m++) {
        uint64_t seen = 0;
        ech_solve_options o = options_of(all[m]);
        o.monitor = stop_at;
        o.monitor_user = &seen;
        o.check_every = 1;
        struct solve_run run = simply(&s, NULL, &o);
        CHECK_INT(run.reports[0].status, ECH_SOLVE_STATUS_STOPPED_MONITOR);
        CHECK_INT(run.reports[0].iterations, 6);
        CHECK_INT(seen, 7);
        run_free(&run);
    }
    system_free(&s);
    test_end();
}

/* Small systems, including n = 0. */
static void run_small(size_t n)
{
    if (!test_begin("small(%zu)", n)) return;
    struct solve_system s = system_make("line", n, 1, 6);
    for (int m = 0; m < METHODS; m++) {
        ech_solve_options o = options_of(all[m]);
        struct solve_run run = solve_on(ctx, &s, FORM_I64, ECH_F64, 2, m % 2, NULL, &o);
        CHECK_STATUS(run.status, ECH_OK);
        CHECK(run.reports[0].status > 0 && run.reports[1].status > 0);
        for (size_t i = 0; i < n; i++)
            CHECK(fabs(((double *)run.x)[i] - s.b[i]) <= 1e-7 * fabs(s.b[i]) + 1e-9);
        run_free(&run);
    }
    system_free(&s);
    test_end();
}

/* ---- Options and memory ---- */

struct plain {
    struct solve_system s;
    int32_t offsets[26], columns[200];
    double x[25];
    ech_csr csr;
    ech_operator a;
    ech_solve_report report;
};

static void plain_make(struct plain *p)
{
    p->s = system_make("poisson", 5, 0, 8);
    for (int i = 0; i < 26; i++) p->offsets[i] = (int32_t)p->s.offsets[i];
    for (size_t i = 0; i < p->s.entries; i++) p->columns[i] = (int32_t)p->s.columns[i];
    p->report = (ech_solve_report){ .size = sizeof p->report };
    p->csr = (ech_csr){ .size = sizeof(ech_csr),
                        .rows = 25,
                        .cols = 25,
                        .nnz = p->s.entries,
                        .row_offsets = p->offsets,
                        .col_indices = p->columns,
                        .values = p->s.values,
                        .index_dtype = ECH_I32,
                        .dtype = ECH_F64 };
    p->a = (ech_operator){ .size = sizeof p->a, .n = 25, .dtype = ECH_F64, .csr = &p->csr };
}

static ech_status solve_plain(struct plain *p, const ech_solve_options *o)
{
    return ech_solve(ctx, &p->a, 1, p->s.b, 0, p->x, 0, o, &p->report);
}

static ech_status no_product(void *user, ech_ctx *c, const void *x, void *y)
{
    (void)c;
    (void)x;
    (void)y;
    return *(ech_status *)user;
}

static void run_bad(void)
{
    if (!test_begin("bad")) return;
    struct plain p;
    plain_make(&p);
    const ech_solve_options fine = options_of(ECH_METHOD_CG);
    const struct {
        ech_solve_options o;
        const char *part;
    } wrong[] = {
        { { .size = 3 }, "sizeof(ech_solve_options)" },
        { { .size = sizeof fine, .method = (ech_method)99 }, "method is 99" },
        { { .size = sizeof fine, .precond = (ech_precond)-1 }, "precond is -1" },
        { { .size = sizeof fine, .rtol = -1 }, "rtol is -1" },
        { { .size = sizeof fine, .atol = NAN }, "atol" },
        { { .size = sizeof fine, .dtol = INFINITY }, "dtol" },
        { { .size = sizeof fine, .omega = -0.5 }, "omega" },
        { { .size = sizeof fine, .lower = 2, .upper = 1 }, "lower is 2" },
        { { .size = sizeof fine, .lower = 2 }, "lower <= upper" },
        { { .size = sizeof fine, .use_initial_guess = 2 }, "use_initial_guess is 2" },
        { { .size = sizeof fine, .restart = -1 }, "restart is -1" },
        { { .size = sizeof fine, .restart = 1001 }, "restart is 1001" },
        { { .size = sizeof fine, .block = -1 }, "block is -1" },
        { { .size = sizeof fine, .block = 33 }, "block is 33, not from 0 to 32" },
        { { .size = sizeof fine, .check_every = 257 }, "check_every is 257" },
        { { .size = sizeof fine, .history_capacity = 1 }, "history is NULL" },
        { { .size = sizeof fine, .method = ECH_METHOD_SOR, .omega = 2 }, "omega is 2" },
        { { .size = sizeof fine, .method = ECH_METHOD_SOR, .precond = ECH_PRECOND_ILU0 },
          "has its own" },
        { { .size = sizeof fine, .method = ECH_METHOD_JACOBI, .precond = ECH_PRECOND_JACOBI },
          "has its own" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK_FAILS(ctx, solve_plain(&p, &wrong[i].o), ECH_ERR_ARG, wrong[i].part);
    ech_solve_report two[2] = { { .size = sizeof *two }, { .size = sizeof *two } };
    CHECK_FAILS(NULL, ech_solve(NULL, &p.a, 1, p.s.b, 0, p.x, 0, NULL, &p.report), ECH_ERR_ARG,
                "ctx is NULL");
    CHECK_FAILS(ctx, ech_solve(ctx, NULL, 1, p.s.b, 0, p.x, 0, NULL, &p.report), ECH_ERR_ARG,
                "a is NULL");
    CHECK_FAILS(ctx, ech_solve(ctx, &p.a, 1, p.s.b, 0, p.x, 0, NULL, NULL), ECH_ERR_ARG,
                "reports is NULL");
    CHECK_FAILS(ctx, ech_solve(ctx, &p.a, 1, NULL, 0, p.x, 0, NULL, &p.report), ECH_ERR_ARG,
                "b is NULL");
    CHECK_FAILS(ctx, ech_solve(ctx, &p.a, 1, p.s.b, 0, p.s.b + 3, 0, NULL, &p.report), ECH_ERR_ARG,
                "overlap");
    CHECK_FAILS(ctx, ech_solve(ctx, &p.a, 2, p.s.b, 24, p.x, 25, NULL, two), ECH_ERR_ARG,
                "b_step is 24");
    CHECK_FAILS(ctx, ech_solve(ctx, &p.a, 2, p.s.b, 25, p.x, 1, NULL, two), ECH_ERR_ARG,
                "x_step is 1");
    two[1].size--;
    CHECK_FAILS(ctx, ech_solve(ctx, &p.a, 2, p.s.b, 25, p.x, 25, NULL, two), ECH_ERR_ARG,
                "reports[1].size");
    two[0].size = 3;
    CHECK_FAILS(ctx, ech_solve(ctx, &p.a, 2, p.s.b, 25, p.x, 25, NULL, two), ECH_ERR_ARG,
                "sizeof(ech_solve_report)");
    struct plain q = p;
    q.a.size = 1;
    CHECK_FAILS(ctx, solve_plain(&q, &fine), ECH_ERR_ARG, "sizeof(ech_operator)");
    q.a = p.a;
    q.a.dtype = ECH_F16;
    CHECK_FAILS(ctx, solve_plain(&q, &fine), ECH_ERR_ARG, "a->dtype");
    q.a = p.a;
    q.a.dtype = ECH_F32;
    CHECK_FAILS(ctx, solve_plain(&q, &fine), ECH_ERR_ARG, "a->csr->dtype is f64");
    q.a = p.a;
    q.a.n = 24;
    CHECK_FAILS(ctx, solve_plain(&q, &fine), ECH_ERR_ARG, "25 x 25");
    q.a = p.a;
    q.a.csr = NULL;
    CHECK_FAILS(ctx, solve_plain(&q, &fine), ECH_ERR_ARG, "set exactly one");
    q.a.dense = p.s.values;
    q.a.stride = 20;
    CHECK_FAILS(ctx, solve_plain(&q, &fine), ECH_ERR_ARG, "a->stride is 20");
    q.a.dense = NULL;
    ech_status refused = ECH_ERR_UNSUPPORTED;
    q.a.apply = no_product;
    q.a.user = &refused;
    CHECK_FAILS(ctx, solve_plain(&q, &fine), ECH_ERR_UNSUPPORTED, "a->apply returned");
    ech_solve_options triangles = fine;
    triangles.precond = ECH_PRECOND_IC0;
    CHECK_FAILS(ctx, solve_plain(&q, &triangles), ECH_ERR_ARG, "\"ic0\" needs a->csr");
    triangles.precond = ECH_PRECOND_BLOCK_JACOBI;
    CHECK_FAILS(ctx, solve_plain(&q, &triangles), ECH_ERR_ARG,
                "\"block-jacobi\" needs a->csr or a->dense");
    ech_solve_options jacobi = fine;
    jacobi.precond = ECH_PRECOND_JACOBI;
    CHECK_FAILS(ctx, solve_plain(&q, &jacobi), ECH_ERR_ARG, "a->diagonal is NULL");
    q.a = p.a;
    q.a.diagonal = p.s.b;
    CHECK_FAILS(ctx, solve_plain(&q, &fine), ECH_ERR_ARG, "a->diagonal is set");
    q.a = p.a;
    q.a.n = q.csr.rows = q.csr.cols = 0;
    q.a.csr = &q.csr;
    CHECK_STATUS(ech_solve(ctx, &q.a, 1, NULL, 0, NULL, 0, &fine, &p.report), ECH_OK);
    CHECK_INT(p.report.status, ECH_SOLVE_STATUS_CONVERGED_RTOL);
    CHECK_STATUS(ech_solve(ctx, &p.a, 0, NULL, 0, NULL, 0, &fine, NULL), ECH_OK);
    system_free(&p.s);
    test_end();
}

static void run_workspace(ech_method method, ech_precond precond)
{
    if (!test_begin("workspace(%s,%s)", ech_method_name(method), ech_precond_name(precond))) return;
    struct plain p;
    struct buffer work;
    size_t bytes = 0;
    double wanted[25];
    plain_make(&p);
    ech_solve_options o = options_of(method);
    if (method < ECH_METHOD_GAUSS_SEIDEL && method != ECH_METHOD_JACOBI) o.precond = precond;
    CHECK_STATUS(solve_plain(&p, &o), ECH_OK);
    memcpy(wanted, p.x, sizeof wanted);
    CHECK_STATUS(ech_solve_workspace(ech_device_name(ctx), &p.a, &o, &bytes), ECH_OK);
    CHECK(bytes > 0);
    CHECK_FAILS(NULL, ech_solve_workspace("cpu", &p.a, &o, NULL), ECH_ERR_ARG, "bytes is NULL");
    if (CHECK(buffer_make(&work, ctx, bytes, 0))) {
        o.work = work.data;
        o.work_bytes = bytes;
        memset(p.x, 0, sizeof p.x);
        CHECK_STATUS(solve_plain(&p, &o), ECH_OK);
        CHECK(memcmp(p.x, wanted, sizeof wanted) == 0);
        buffer_check_guards(&work, "work");
        o.work_bytes--;
        CHECK_FAILS(ctx, solve_plain(&p, &o), ECH_ERR_MEMORY, "work_bytes");
    }
    buffer_free(&work);
    system_free(&p.s);
    test_end();
}

/* The explanation agrees with the call: the number of workspace bytes, and the method. */
static void run_explain(void)
{
    if (!test_begin("explain")) return;
    struct plain p;
    char text[2000], wanted[64];
    size_t bytes = 0;
    plain_make(&p);
    p.csr.row_offsets = p.csr.col_indices = p.csr.values = NULL;
    const char *device = ech_device_name(ctx);
    for (int m = 0; m < METHODS; m++) {
        const ech_solve_options o = options_of(all[m]);
        CHECK_STATUS(ech_solve_explain(device, &p.a, &o, ECH_FORMAT_TEXT, text, sizeof text),
                     ECH_OK);
        CHECK_STATUS(ech_solve_workspace(device, &p.a, &o, &bytes), ECH_OK);
        snprintf(wanted, sizeof wanted, "\nworkspace    %zu bytes\n", bytes);
        CHECK(strstr(text, wanted) != NULL);
        snprintf(wanted, sizeof wanted, "\nalgorithm    %s: ", ech_method_name(all[m]));
        CHECK(strstr(text, wanted) != NULL);
        CHECK(strstr(text, "sparse") != NULL);
    }
    CHECK_STATUS(ech_solve_explain(device, &p.a, NULL, ECH_FORMAT_TEXT, text, sizeof text), ECH_OK);
    CHECK(strstr(text, "ilu0") != NULL);
    p.a.csr = NULL;
    p.a.dense = text;
    p.a.stride = 25;
    CHECK_STATUS(ech_solve_explain(device, &p.a, NULL, ECH_FORMAT_TEXT, text, sizeof text), ECH_OK);
    CHECK(strstr(text, "ilu0") == NULL && strstr(text, "dense") != NULL);
    CHECK_STATUS(ech_solve_explain(device, &p.a, NULL, ECH_FORMAT_TEXT, text, 8), ECH_OK);
    CHECK_INT(strlen(text), 7);
    p.a.n = 0;
    CHECK_STATUS(ech_solve_explain(device, &p.a, NULL, ECH_FORMAT_TEXT, text, sizeof text), ECH_OK);
    CHECK_TEXT(text, "empty");
    CHECK_FAILS(NULL, ech_solve_explain(device, &p.a, NULL, ECH_FORMAT_TEXT, NULL, 9), ECH_ERR_ARG,
                "text is NULL");
    CHECK_FAILS(NULL, ech_solve_explain(device, &p.a, NULL, ECH_FORMAT_TEXT, text, 0), ECH_ERR_ARG,
                "capacity_bytes is 0");
    CHECK_FAILS(NULL, ech_solve_explain(device, NULL, NULL, ECH_FORMAT_TEXT, text, 9), ECH_ERR_ARG,
                "a is NULL");
    system_free(&p.s);
    test_end();
}

static void *allocate_some(void *user, size_t bytes, void *stream)
{
    int *left = user;
    (void)stream;
    return (*left)-- > 0 ? aligned_alloc(256, (bytes + 255) / 256 * 256) : NULL;
}

static void release_some(void *user, void *pointer, size_t bytes, void *stream)
{
    (void)user;
    (void)bytes;
    (void)stream;
    free(pointer);
}

static void run_memory(void)
{
    if (!test_begin("memory")) return;
    struct plain p;
    int left = 0;
    const ech_allocator allocator = { sizeof(ech_allocator), allocate_some, release_some, &left };
    uint64_t now = 1;
    plain_make(&p);
    if (!test_is_cpu(ctx)) {
        test_skip("the test allocates host memory");
    } else {
        ech_trim(ctx);
        CHECK_STATUS(ech_set_allocator(ctx, &allocator), ECH_OK);
        const ech_solve_options o = options_of(ECH_METHOD_CG);
        CHECK_FAILS(ctx, solve_plain(&p, &o), ECH_ERR_MEMORY, "out of memory");
        left = 100;
        CHECK_STATUS(solve_plain(&p, &o), ECH_OK);
        ech_memory_usage(ctx, 0, &now, NULL);
        CHECK_INT(now, 0);
        CHECK_STATUS(ech_set_allocator(ctx, NULL), ECH_OK);
    }
    system_free(&p.s);
    test_end();
}

/* A user-defined product calls the library while ech_solve() uses a workspace of the context. */
static ech_status sum_product(void *user, ech_ctx *c, const void *x, void *y)
{
    static double sums[20000];
    const size_t n = *(size_t *)user;
    ech_status status = ech_scan(c, ECH_OP_SUM, x, sums, n, ECH_F64, NULL);
    if (status == ECH_OK) status = ech_sort(c, x, sums, n, ECH_F64, NULL);
    return status == ECH_OK ? ech_copy(c, y, x, n * sizeof(double)) : status;
}

static void run_nested(void)
{
    if (!test_begin("nested")) return;
    static double b[20000], x[20000];
    size_t n = 20000;
    ech_solve_report report = { .size = sizeof report };
    const ech_operator a = {
        .size = sizeof a, .n = n, .dtype = ECH_F64, .apply = sum_product, .user = &n
    };
    const ech_solve_options o = options_of(ECH_METHOD_CG);
    for (size_t i = 0; i < n; i++) b[i] = (double)(i * 7919 % 1000) - 500;
    if (!test_is_cpu(ctx)) {
        test_skip("the test is about workspaces of the CPU");
    } else {
        for (int i = 0; i < 3; i++) {
            uint64_t now = 1;
            CHECK_STATUS(ech_solve(ctx, &a, 1, b, 0, x, 0, &o, &report), ECH_OK);
            CHECK(report.status > 0 && memcmp(b, x, sizeof b) == 0);
            ech_memory_usage(ctx, 0, &now, NULL);
            CHECK_INT(now, 0);
        }
    }
    test_end();
}

static void run_names(void)
{
    if (!test_begin("names")) return;
    for (int i = 0; i < METHODS; i++)
        CHECK_INT(ech_method_from_name(ech_method_name(all[i])), all[i]);
    CHECK_INT(ech_precond_from_name(ech_precond_name(ECH_PRECOND_JACOBI)), ECH_PRECOND_JACOBI);
    CHECK_INT(ech_precond_from_name("none"), ECH_PRECOND_NONE);
    CHECK_INT(ech_precond_from_name("block-jacobi"), ECH_PRECOND_BLOCK_JACOBI);
    CHECK_INT(ech_method_from_name("nothing"), -1);
    CHECK_INT(ech_method_from_name(NULL), -1);
    CHECK_INT(ech_precond_from_name(NULL), -1);
    CHECK_TEXT(ech_method_name((ech_method)77), "?");
    CHECK_TEXT(ech_precond_name((ech_precond)77), "?");
    CHECK_TEXT(ech_solve_status_text((ech_solve_status)77), "?");
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
        run_zero();
        run_guess();
        run_nan(NAN, false);
        run_nan(INFINITY, false);
        run_nan(NAN, true);
        run_nan(-INFINITY, true);
        run_limits();
        run_singular();
        run_monitor();
        for (size_t n = 1; n < 4; n++) run_small(n);
        run_bad();
        for (int m = 0; m < METHODS; m++) run_workspace(all[m], ECH_PRECOND_JACOBI);
        run_workspace(ECH_METHOD_CG, ECH_PRECOND_IC0);
        run_workspace(ECH_METHOD_BICGSTAB, ECH_PRECOND_BLOCK_JACOBI);
        run_workspace(ECH_METHOD_GMRES, ECH_PRECOND_ILU0);
        run_workspace(ECH_METHOD_CHEBYSHEV, ECH_PRECOND_SSOR);
        run_explain();
        run_memory();
        run_nested();
        run_names();
        ech_close(ctx);
    }
    return test_finish();
}
