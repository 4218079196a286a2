/*
 * test_dist_linear.c - products and iterative solvers of distributed matrices return the bits, the
 * iterations and the residuals of one device, for 1 to 16 ranks and every division of the rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L /* nanosleep() */
#include "comm/comm.h"
#include "dist_case.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_HISTORY = 200 };

static ech_ctx *one; /* the device whose results are expected */
static const char *device;

/* ---- Matrices ---- */

/* A square matrix in host memory with 64-bit indices, vectors, and what is expected. */
struct system {
    ech_dtype dtype, index_dtype;
    size_t bytes, index_bytes, n, nnz;
    uint64_t *offsets, *columns;
    double *values;
    char *dense, *b, *x, *y; /* dense: [rows of dense][n] */
    size_t dense_rows;
    double alpha, beta;
    uint64_t first[DIST_MAX_RANKS + 1], x_first[DIST_MAX_RANKS + 1];
    ech_solve_options options;
    ech_solve_report report;
    double history[MOST_HISTORY];
    int fault;
};

static void put(void *array, ech_dtype dtype, size_t i, double value)
{
    if (dtype == ECH_F32)
        ((float *)array)[i] = (float)value;
    else
        ((double *)array)[i] = value;
}

static void add(struct system *s, size_t row, uint64_t column, double value)
{
    s->columns[s->nnz] = column;
    s->values[s->nnz++] = value;
    s->offsets[row + 1] = s->nnz;
}

static double noise(struct rng *rng)
{
    return (double)rng_below(rng, 2001) / 1000 - 1;
}

/* The five-point stencil of a grid `width` wide; convection makes it unsymmetric. */
static void fill_grid(struct system *s, size_t width, double convection)
{
    for (size_t i = 0; i < s->n; i++) {
        s->offsets[i + 1] = s->nnz;
        if (i >= width) add(s, i, i - width, -1);
        if (i % width) add(s, i, i - 1, -1 - convection);
        add(s, i, i, 4.01 + 0.3 * (double)(i % 7));
        if (i % width + 1 < width && i + 1 < s->n) add(s, i, i + 1, -1 + convection);
        if (i + width < s->n) add(s, i, i + width, -1);
    }
}

/* Rows of any length with columns anywhere, some empty except for the diagonal. */
static void fill_random(struct system *s, struct rng *rng)
{
    for (size_t i = 0; i < s->n; i++) {
        const size_t length = rng_below(rng, 20) ? rng_below(rng, 6) : rng_below(rng, 80);
        add(s, i, i, 50 + noise(rng));
        for (size_t k = 0; k < length; k++) add(s, i, rng_below(rng, s->n), 0.5 * noise(rng));
    }
}

static struct system system_make(ech_dtype dtype, ech_dtype index_dtype, size_t n, bool grid,
                                 double convection, struct rng *rng)
{
    struct system s = { .dtype = dtype, .index_dtype = index_dtype, .n = n };
    const size_t most = n * (grid ? 5 : 81) + 1;
    s.bytes = ech_dtype_bytes(dtype);
    s.index_bytes = ech_dtype_bytes(index_dtype);
    s.offsets = dist_allocate((n + 1) * sizeof *s.offsets);
    s.columns = dist_allocate(most * sizeof *s.columns);
    s.values = dist_allocate(most * sizeof *s.values);
    s.b = dist_allocate(n * s.bytes);
    s.x = dist_allocate(n * s.bytes);
    s.y = dist_allocate(n * s.bytes);
    if (grid)
        fill_grid(&s, (size_t)sqrt((double)n) + 1, convection);
    else
        fill_random(&s, rng);
    for (size_t i = 0; i < n; i++) {
        put(s.b, dtype, i, noise(rng));
        put(s.x, dtype, i, noise(rng));
    }
    return s;
}

static void system_free(struct system *s)
{
    free(s->offsets);
    free(s->columns);
    free(s->values);
    free(s->dense);
    free(s->b);
    free(s->x);
    free(s->y);
}

/* Rows from ... to - 1 as a matrix in host memory; free() its arrays. */
static ech_csr rows_of(const struct system *s, size_t from, size_t to)
{
    const uint64_t begin = s->offsets[from], nnz = s->offsets[to] - begin;
    ech_csr csr = { .size = sizeof csr,
                    .rows = to - from,
                    .cols = s->n,
                    .nnz = (size_t)nnz,
                    .index_dtype = s->index_dtype,
                    .dtype = s->dtype };
    csr.row_offsets = dist_allocate((csr.rows + 1) * s->index_bytes);
    csr.col_indices = dist_allocate(csr.nnz * s->index_bytes);
    csr.values = dist_allocate(csr.nnz * s->bytes);
    for (size_t i = 0; i <= csr.rows; i++) {
        const uint64_t offset = s->offsets[from + i] - begin;
        memcpy((char *)csr.row_offsets + i * s->index_bytes, &offset, s->index_bytes);
    }
    for (size_t i = 0; i < csr.nnz; i++) {
        memcpy((char *)csr.col_indices + i * s->index_bytes, &s->columns[begin + i],
               s->index_bytes);
        put(csr.values, s->dtype, i, s->values[begin + i]);
    }
    return csr;
}

static void csr_free(ech_csr *csr)
{
    free(csr->row_offsets);
    free(csr->col_indices);
    free(csr->values);
}

static ech_status make_matrix(struct dist_rank *r, const struct system *s, ech_dist_csr **a)
{
    const size_t from = (size_t)s->first[r->rank], to = (size_t)s->first[r->rank + 1];
    ech_csr csr = rows_of(s, from, to), given = csr;
    if (r->rank % 2 && !s->fault) { /* in memory of the device */
        given.row_offsets = dist_array(r, csr.row_offsets, (csr.rows + 1) * s->index_bytes);
        given.col_indices = dist_array(r, csr.col_indices, csr.nnz * s->index_bytes);
    }
    if (s->fault == 1 && r->rank == r->ranks - 1) given.cols++;
    if (s->fault == 2 && r->rank == 1 && csr.nnz) memset(given.col_indices, 0x7f, s->index_bytes);
    if (s->fault == 3 && r->rank == 1 && csr.rows)
        memset((char *)given.row_offsets + s->index_bytes, 0x7f, s->index_bytes);
    if (s->fault == 4) given.cols = s->n + 1;
    if (s->fault == 5) given.dtype = ECH_I32;
    if (s->fault == 21 && r->rank == 1) ech_set_memory_limit(r->ctx, 1);
    const ech_status status = ech_dist_csr_create(r->ctx, r->comm, &given, a);
    if (s->fault == 21 && r->rank == 1) ech_set_memory_limit(r->ctx, 0);
    csr_free(&csr);
    return status;
}

/* ---- Products ---- */

static ech_status run_spmv(struct dist_rank *r)
{
    const struct system *s = r->task;
    const size_t n = dist_part(s->first, r), at = (size_t)s->first[r->rank] * s->bytes;
    ech_dist_csr *a = NULL;
    ech_status status = make_matrix(r, s, &a);
    const void *x = dist_array(r, s->x + at, n * s->bytes);
    void *y = dist_array(r, s->b + at, n * s->bytes);
    if (status == ECH_OK) status = ech_dist_spmv(r->ctx, r->comm, s->alpha, a, x, s->beta, y);
    if (status == ECH_OK) dist_expect(r, "y", y, s->y + at, n * s->bytes);
    ech_dist_csr_free(a);
    return status;
}

static void spmv_case(ech_dtype dtype, ech_dtype index_dtype, size_t n, bool grid, int ranks,
                      enum dist_division division)
{
    struct rng rng = dist_seed("spmv", dtype, (int)n + grid + (int)division, ranks);
    if (!dist_drawn(n > 100000 ? "large spmv" : "spmv", ranks, n, n < 1000)) return;
    if (!test_begin("spmv(%s,%s,n=%zu,%s,ranks=%d,division=%s) on %s", ech_dtype_name(dtype),
                    ech_dtype_name(index_dtype), n, grid ? "grid" : "random", ranks,
                    dist_division_names[division], device))
        return;
    struct system s = system_make(dtype, index_dtype, n, grid, 0.1, &rng);
    s.alpha = 1 + noise(&rng);
    s.beta = rng_below(&rng, 2) ? noise(&rng) : 0;
    dist_divide(s.first, n, ranks, division, &rng);
    ech_csr whole = rows_of(&s, 0, n);
    memcpy(s.y, s.b, n * s.bytes);
    if (CHECK_STATUS(ech_spmv(one, s.alpha, &whole, s.x, s.beta, s.y, NULL), ECH_OK))
        dist_run(ranks, 0, run_spmv, &s, ECH_OK, NULL);
    csr_free(&whole);
    system_free(&s);
    test_end();
}

static ech_status run_matvec(struct dist_rank *r)
{
    const struct system *s = r->task;
    const size_t rows = dist_part(s->first, r), n_x = dist_part(s->x_first, r);
    const size_t at = (size_t)s->first[r->rank] * s->bytes;
    const void *a = dist_array(r, s->dense + at * s->n, rows * s->n * s->bytes);
    const void *x = dist_array(r, s->x + s->x_first[r->rank] * s->bytes, n_x * s->bytes);
    void *y = dist_array(r, s->b + at, rows * s->bytes);
    const ech_status status = ech_dist_matvec(r->ctx, r->comm, rows, s->n, s->alpha, a, s->n, x,
                                              n_x, s->beta, y, s->dtype);
    if (status == ECH_OK) dist_expect(r, "y", y, s->y + at, rows * s->bytes);
    return status;
}

static void matvec_case(ech_dtype dtype, size_t rows, size_t n, int ranks,
                        enum dist_division division)
{
    struct rng rng = dist_seed("matvec", dtype, (int)(rows + n), ranks);
    if (!dist_drawn("matvec", ranks, rows * n, true)) return;
    if (!test_begin("matvec(%s,%zux%zu,ranks=%d,division=%s) on %s", ech_dtype_name(dtype), rows, n,
                    ranks, dist_division_names[division], device))
        return;
    struct system s = system_make(dtype, ECH_I64, n > rows ? n : rows, false, 0, &rng);
    s.n = n;
    s.alpha = noise(&rng);
    s.beta = rng_below(&rng, 2) ? noise(&rng) : 0;
    s.dense = dist_allocate(rows * n * s.bytes);
    for (size_t i = 0; i < rows * n; i++) put(s.dense, dtype, i, noise(&rng));
    dist_divide(s.first, rows, ranks, division, &rng);
    dist_divide(s.x_first, n, ranks, DIST_RANDOM, &rng);
    memcpy(s.y, s.b, rows * s.bytes);
    if (CHECK_STATUS(ech_matvec(one, rows, n, s.alpha, s.dense, n, s.x, s.beta, s.y, dtype, NULL),
                     ECH_OK))
        dist_run(ranks, 0, run_matvec, &s, ECH_OK, NULL);
    system_free(&s);
    test_end();
}

/* ---- Solvers ---- */

static bool same_reports(const ech_solve_report *a, const ech_solve_report *b)
{
    return a->status == b->status && a->method == b->method && a->precond == b->precond &&
           a->iterations == b->iterations && a->applications == b->applications &&
           a->restarts == b->restarts && memcmp(&a->residual, &b->residual, 8) == 0 &&
           memcmp(&a->b_norm, &b->b_norm, 8) == 0 && a->failed_index == b->failed_index &&
           a->history_count == b->history_count;
}

static ech_status run_solve(struct dist_rank *r)
{
    const struct system *s = r->task;
    const size_t n = dist_part(s->first, r), at = (size_t)s->first[r->rank] * s->bytes;
    double history[MOST_HISTORY] = { 0 };
    ech_solve_options options = s->options;
    ech_solve_report report = { .size = sizeof report };
    ech_dist_csr *a = NULL;
    ech_status status = make_matrix(r, s, &a);
    const void *b = dist_array(r, s->b + at, n * s->bytes);
    void *x = dist_array(r, s->x + at, n * s->bytes);
    options.history = history;
    if (s->fault == 11 && r->rank == 1) options.rtol = 1e-3;
    if (s->fault == 12 && r->rank == 1) options.restart = 7;
    if (s->fault == 13 && r->rank == 1) options.method = ECH_METHOD_GMRES;
    if (s->fault == 22 && r->rank == 1) ech_set_memory_limit(r->ctx, 1);
    if (status == ECH_OK) status = ech_dist_solve(r->ctx, r->comm, a, b, x, &options, &report);
    if (s->fault == 22 && r->rank == 1) ech_set_memory_limit(r->ctx, 0);
    if (status == ECH_OK) {
        dist_expect(r, "x", x, s->y + at, n * s->bytes);
        if (!same_reports(&report, &s->report))
            snprintf(r->problem, sizeof r->problem,
                     "status %d after %llu iterations, residual %.17g; one device: %d, %llu, %.17g",
                     (int)report.status, (unsigned long long)report.iterations, report.residual,
                     (int)s->report.status, (unsigned long long)s->report.iterations,
                     s->report.residual);
        if (memcmp(history, s->history, sizeof history) != 0 && !r->problem[0])
            snprintf(r->problem, sizeof r->problem, "the history differs");
    }
    ech_dist_csr_free(a);
    return status;
}

static void solve_case(ech_method method, ech_precond precond, ech_dtype dtype, size_t n, int ranks,
                       enum dist_division division, int special)
{
    struct rng rng =
        dist_seed("solve", dtype, (int)n + (int)method + (int)precond * 16 + special, ranks);
    const bool symmetric = method == ECH_METHOD_CG || method == ECH_METHOD_MINRES;
    if (!dist_drawn(n > 100000 ? "large solve" : ech_method_name(method), ranks, n, n < 2000))
        return;
    if (!test_begin("solve(%s,%s,%s,n=%zu,ranks=%d,division=%s%s) on %s", ech_method_name(method),
                    ech_precond_name(precond), ech_dtype_name(dtype), n, ranks,
                    dist_division_names[division], special ? ",special" : "", device))
        return;
    struct system s = system_make(dtype, special ? ECH_U32 : ECH_I64, n, symmetric || n % 2,
                                  symmetric ? 0 : 0.2, &rng);
    s.options = (ech_solve_options){ .size = sizeof s.options,
                                     .method = method,
                                     .precond = precond,
                                     .max_iterations = 150,
                                     .check_every = 1, /* otherwise queued products count, too */
                                     .block = 1 << rng_below(&rng, 6),
                                     .restart = 5 + (int)rng_below(&rng, 20),
                                     .use_initial_guess = (int)rng_below(&rng, 2),
                                     .history = s.history,
                                     .history_capacity = MOST_HISTORY };
    if (special) s.values[s.nnz / 2] = special == 1 ? (double)INFINITY : 0;
    for (size_t i = 0; i < s.n && special == 2; i++) /* a zero on the diagonal */
        for (uint64_t e = s.offsets[i]; e < s.offsets[i + 1]; e++)
            if (s.columns[e] == i && i == s.n * 2 / 3) s.values[e] = 0;
    dist_divide(s.first, n, ranks, division, &rng);
    ech_csr whole = rows_of(&s, 0, n);
    const ech_operator a = { .size = sizeof a, .n = n, .dtype = dtype, .csr = &whole };
    s.report.size = sizeof s.report;
    memcpy(s.y, s.x, n * s.bytes);
    if (CHECK_STATUS(ech_solve(one, &a, 1, s.b, n, s.y, n, &s.options, &s.report), ECH_OK))
        dist_run(ranks, 0, run_solve, &s, ECH_OK, NULL);
    csr_free(&whole);
    system_free(&s);
    test_end();
}

/* ---- Faults ---- */

static const struct {
    const char *name;
    int fault;
    ech_method method;
    ech_precond precond;
    int block;
    ech_status status;
    const char *part;
} faults[] = {
    { "other cols", 1, ECH_METHOD_CG, 0, 0, ECH_ERR_ARG, "rows->cols is 3001 on rank 3, but 3000" },
    { "column out of range", 2, ECH_METHOD_CG, 0, 0, ECH_ERR_ARG, "rank 1: rows->col_indices" },
    { "offsets", 3, ECH_METHOD_CG, 0, 0, ECH_ERR_ARG, "rank 1: rows->row_offsets[1]" },
    { "not square", 4, ECH_METHOD_CG, 0, 0, ECH_ERR_ARG, "have 3000 rows, but rows->cols is 3001" },
    { "dtype", 5, ECH_METHOD_CG, 0, 0, ECH_ERR_ARG, "rank 0: rows->dtype is i32" },
    { "other rtol", 11, ECH_METHOD_CG, 0, 0, ECH_ERR_ARG, "options->rtol is 0.001" },
    { "other restart", 12, ECH_METHOD_GMRES, 0, 0, ECH_ERR_ARG, "options->restart is 7 on rank 1" },
    { "other method", 13, ECH_METHOD_CG, 0, 0, ECH_ERR_ARG, "options->method is 7 on rank 1" },
    { "no memory for a matrix", 21, ECH_METHOD_CG, 0, 0, ECH_ERR_MEMORY, "rank 1: " },
    { "no memory for a solve", 22, ECH_METHOD_CG, 0, 0, ECH_ERR_MEMORY, "rank 1: " },
    { "auto", 0, ECH_METHOD_AUTO, 0, 0, ECH_ERR_UNSUPPORTED, "supports cg, minres" },
    { "ilu0", 0, ECH_METHOD_GMRES, ECH_PRECOND_ILU0, 0, ECH_ERR_UNSUPPORTED, "\"ilu0\"" },
    { "block", 0, ECH_METHOD_CG, ECH_PRECOND_BLOCK_JACOBI, 7, ECH_ERR_UNSUPPORTED, "block is 7" },
};

static void fault_case(size_t i)
{
    struct rng rng = dist_seed("fault", ECH_F64, (int)i, 4);
    if (!dist_can_run(4)) return;
    if (!test_begin("fault(%s) on %s", faults[i].name, device)) return;
    struct system s = system_make(ECH_F64, ECH_I64, 3000, true, 0, &rng);
    s.fault = faults[i].fault;
    s.options = (ech_solve_options){ .size = sizeof s.options,
                                     .method = faults[i].method,
                                     .precond = faults[i].precond,
                                     .block = faults[i].block };
    dist_divide(s.first, s.n, 4, DIST_EVEN, &rng);
    dist_run(4, 0, run_solve, &s, faults[i].status, faults[i].part);
    system_free(&s);
    test_end();
}

/* ---- A rank that dies ---- */

/* Rank 1 no longer answers, from its step `last` on: in an iteration of a solver.  To the others,
 * this is as if it were dead. */
static struct {
    ech_comm_table table; /* that of the communicator */
    int steps, last;
    atomic_int left; /* other ranks that have not returned */
} dead;

static bool is_dead(void)
{
    if (++dead.steps < dead.last) return false;
    for (int i = 0; i < 1000 && dead.left > 0; i++)
        nanosleep(&(struct timespec){ .tv_nsec = 10 * 1000 * 1000 }, NULL);
    return true;
}

static ech_status dead_allgather(void *state, const void *in, void *out, uint64_t bytes,
                                 double limit_s)
{
    return is_dead() ? ECH_ERR_COMM : dead.table.allgather(state, in, out, bytes, limit_s);
}

static ech_status dead_exchange(void *state, const ech_comm_message *sends, size_t n_sends,
                                const ech_comm_message *receives, size_t n_receives, void *stream,
                                double limit_s)
{
    return is_dead()
               ? ECH_ERR_COMM
               : dead.table.exchange(state, sends, n_sends, receives, n_receives, stream, limit_s);
}

static ech_status run_dead(struct dist_rank *r)
{
    const struct system *s = r->task;
    const size_t n = dist_part(s->first, r), at = (size_t)s->first[r->rank] * s->bytes;
    ech_dist_csr *a = NULL;
    ech_solve_report report = { .size = sizeof report };
    ech_status status = make_matrix(r, s, &a);
    const void *b = dist_array(r, s->b + at, n * s->bytes);
    void *x = dist_array(r, s->x + at, n * s->bytes);
    if (r->rank == 1) {
        dead.table = r->comm->table;
        r->comm->table.allgather = dead_allgather;
        r->comm->table.exchange = dead_exchange;
    }
    if (status == ECH_OK) status = ech_dist_solve(r->ctx, r->comm, a, b, x, &s->options, &report);
    if (r->rank != 1) dead.left--;
    if (dead.steps < dead.last && r->rank == 1)
        snprintf(r->problem, sizeof r->problem, "the solver has only %d steps", dead.steps);
    ech_dist_csr_free(a);
    return status;
}

/* last: a step after which the solver still has iterations to make. */
static void dead_case(ech_method method, int last)
{
    struct rng rng = dist_seed("dead", ECH_F64, last, 3);
    if (!dist_can_run(3) || getenv("ECHELON_COMM")) return;
    if (!test_begin("dead(%s,step=%d) on %s", ech_method_name(method), last, device)) return;
    struct system s = system_make(ECH_F64, ECH_I64, 2000, true, 0, &rng);
    s.options = (ech_solve_options){ .size = sizeof s.options, .method = method, .rtol = 1e-13 };
    dist_divide(s.first, s.n, 3, DIST_EVEN, &rng);
    dead.steps = 0;
    dead.last = last;
    dead.left = 2;
    dist_run(3, 0.2, run_dead, &s, ECH_ERR_COMM, NULL);
    if (dead.left) test_fail(__FILE__, __LINE__, "a rank waits longer than the time limit");
    system_free(&s);
    test_end();
}

/* ---- All cases ---- */

static void products(int ranks)
{
    static const size_t sizes[] = { 0, 1, 5, 700, 4000 };
    static const struct {
        size_t rows, cols;
    } shapes[] = { { 0, 801 }, { 5, 0 }, { 87, 141 }, { 600, 333 }, { 33, 5000 } };
    static const ech_dtype indices[] = { ECH_I32, ECH_U32, ECH_I64, ECH_U64 };
    for (int dtype = ECH_F32; dtype <= ECH_F64; dtype++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int division = 0; division < DIST_DIVISIONS; division++) {
                spmv_case((ech_dtype)dtype, indices[(i + (size_t)division) % 4], sizes[i],
                          ((i + (size_t)division) & 1) != 0, ranks, (enum dist_division)division);
                matvec_case((ech_dtype)dtype, shapes[i].rows, shapes[i].cols, ranks,
                            (enum dist_division)division);
            }
}

static void solvers(int ranks)
{
    static const ech_method methods[] = { ECH_METHOD_CG, ECH_METHOD_MINRES, ECH_METHOD_BICGSTAB,
                                          ECH_METHOD_GMRES };
    static const ech_precond preconds[] = { ECH_PRECOND_NONE, ECH_PRECOND_JACOBI,
                                            ECH_PRECOND_BLOCK_JACOBI };
    static const size_t sizes[] = { 1, 300, 1501, 9001, 20000 };
    for (size_t m = 0; m < 4; m++)
        for (size_t p = 0; p < 3; p++)
            for (size_t i = 0; i < 5; i++)
                solve_case(methods[m], preconds[p], i % 2 ? ECH_F32 : ECH_F64, sizes[i], ranks,
                           (enum dist_division)((m + p + i) % DIST_DIVISIONS), 0);
    solve_case(ECH_METHOD_CG, ECH_PRECOND_NONE, ECH_F64, 3000, ranks, DIST_EVEN, 1);
    solve_case(ECH_METHOD_CG, ECH_PRECOND_JACOBI, ECH_F64, 3000, ranks, DIST_RANDOM, 2);
}

/* The interior is computed during the exchange; items of dot products have several chunks. */
static void large(int ranks)
{
    spmv_case(ECH_F64, ECH_U32, 108000, true, ranks,
              DIST_EVEN); /* with two ranks, on the emulator */
    if (strstr(device, "simt")) return;
    spmv_case(ECH_F64, ECH_I64, 300000, true, ranks, DIST_EVEN);
    spmv_case(ECH_F32, ECH_I32, 300000, true, ranks, DIST_RANDOM);
    if (!getenv("ECHELON_COMM")) /* processes solve smaller systems */
        solve_case(ECH_METHOD_CG, ECH_PRECOND_JACOBI, ECH_F64, 600000, ranks, DIST_EVEN, 0);
}

static void cases(int ranks)
{
    products(ranks);
    solvers(ranks);
    if (ranks > 1) large(ranks);
}

int main(int argc, char **argv)
{
    static const char *const operations[] = { "spmv",     "matvec", "cg", "minres",
                                              "bicgstab", "gmres",  NULL };
    test_main(argc, argv);
    device = dist_open();
    if (ech_open(&one, device) != ECH_OK) return 1;
    dist_cases(cases, operations);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) fault_case(i);
    dead_case(ECH_METHOD_CG, 20);
    dead_case(ECH_METHOD_GMRES, 21);
    dead_case(ECH_METHOD_BICGSTAB, 25);
    ech_close(one);
    dist_close();
    return test_finish();
}
