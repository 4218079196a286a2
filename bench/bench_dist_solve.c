/*
 * bench_dist_solve.c - measures conjugate gradients on distributed matrices
 * (echelon/dist_linear.h): a thread per rank, each with a GPU or with one thread of the CPU.
 *
 *     bench_dist_solve [--device cuda|cpu|simt] [--ranks R] [--comm NAME] [--log2 N]
 *                      [--dim 2|3] [--iterations K] [--local 1] [--side S] [--repeat K]
 *                      [--jacobi 0]
 *
 * The matrix is that of Poisson's equation on a square or cubic grid with about 2^N unknowns, or
 * with S points per side, f64.
 * Each rank generates its rows.  A CSV line has the call, the ranks, the unknowns, the iterations,
 * the seconds to make the matrix, the milliseconds per iteration (the best of K solves, 3) and the
 * residual, whose digits must not depend on the number of ranks.  --local 1: one rank also measures
 * ech_solve() with the same matrix.  --jacobi 0: without a preconditioner.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench_ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int log2_n = 24, dim = 3, iterations = 50, local, repeats = 3, jacobi = 1;
static size_t side, total; /* of the grid; unknowns */

const char *bench_program = "bench_dist_solve";

static void *memory(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    if (!p) bench_stop("out of memory");
    return p;
}

/* ---- The matrix ---- */

struct rank {
    const struct bench_rank *rank;
    ech_ctx *ctx;
    ech_comm *comm;
    size_t n, first;
    void *b, *x;
};

/* Rows first ... first + n - 1; 32-bit indices. */
static ech_csr make_rows(size_t first, size_t n)
{
    const size_t plane = side * side;
    ech_csr csr = {
        .size = sizeof csr, .rows = n, .cols = total, .index_dtype = ECH_I32, .dtype = ECH_F64
    };
    int32_t *offsets = memory((n + 1) * sizeof *offsets);
    int32_t *columns = memory(n * (size_t)(2 * dim + 1) * sizeof *columns);
    double *values = memory(n * (size_t)(2 * dim + 1) * sizeof *values);
    size_t e = 0;
    for (size_t k = 0; k < n; k++) {
        const size_t i = first + k, at[3] = { i % side, i / side % side, i / plane };
        const size_t step[3] = { 1, side, plane };
        offsets[k] = (int32_t)e;
        for (int d = dim; d-- > 0;)
            if (at[d]) {
                columns[e] = (int32_t)(i - step[d]);
                values[e++] = -1;
            }
        columns[e] = (int32_t)i;
        values[e++] = 2 * dim;
        for (int d = 0; d < dim; d++)
            if (at[d] + 1 < side) {
                columns[e] = (int32_t)(i + step[d]);
                values[e++] = -1;
            }
    }
    offsets[n] = (int32_t)e;
    csr.nnz = e;
    csr.row_offsets = offsets;
    csr.col_indices = columns;
    csr.values = values;
    return csr;
}

static void free_rows(ech_csr *csr)
{
    free(csr->row_offsets);
    free(csr->col_indices);
    free(csr->values);
}

/* ---- Measurements ---- */

/* Stops after `iterations` iterations, whose residual is never that small. */
static ech_solve_options options(void)
{
    return (ech_solve_options){ .size = sizeof(ech_solve_options),
                                .method = ECH_METHOD_CG,
                                .precond = jacobi ? ECH_PRECOND_JACOBI : ECH_PRECOND_NONE,
                                .rtol = 1e-200,
                                .max_iterations = (uint64_t)iterations };
}

static void print(const char *name, double made, double best, const ech_solve_report *report)
{
    printf("%s,%d,%zu,%llu,%.2f,%.4f,%.17g\n", name, bench_ranks, total,
           (unsigned long long)report->iterations, made * 1e-3, best / iterations,
           report->residual);
    fflush(stdout);
}

static void measure_dist(const struct rank *r, const ech_csr *rows)
{
    const ech_solve_options o = options();
    ech_solve_report report = { .size = sizeof report };
    ech_dist_csr *a;
    double best = HUGE_VAL, begin = bench_now();
    bench_must(ech_dist_csr_create(r->ctx, r->comm, rows, &a), r->ctx);
    const double made = bench_slowest(r->rank, bench_now() - begin);
    for (int i = 0; i < repeats; i++) {
        bench_must(ech_comm_barrier(r->comm), r->ctx);
        begin = bench_now();
        bench_must(ech_dist_solve(r->ctx, r->comm, a, r->b, r->x, &o, &report), r->ctx);
        const double t = bench_slowest(r->rank, bench_now() - begin);
        if (t < best) best = t;
    }
    ech_dist_csr_free(a);
    if (r->rank->number == 0) print("ech_dist_solve", made, best, &report);
}

static void *to_device(const struct rank *r, const void *from, size_t bytes)
{
    void *p;
    bench_must(ech_malloc(r->ctx, &p, bytes), r->ctx);
    bench_must(ech_copy(r->ctx, p, from, bytes), r->ctx);
    return p;
}

static void measure_local(const struct rank *r, const ech_csr *rows)
{
    const ech_solve_options o = options();
    ech_solve_report report = { .size = sizeof report };
    ech_csr csr = *rows;
    const size_t bytes[] = { (csr.rows + 1) * 4, csr.nnz * 4, csr.nnz * 8 };
    double best = HUGE_VAL, begin = bench_now();
    csr.row_offsets = to_device(r, rows->row_offsets, bytes[0]);
    csr.col_indices = to_device(r, rows->col_indices, bytes[1]);
    csr.values = to_device(r, rows->values, bytes[2]);
    const double made = bench_now() - begin;
    const ech_operator a = { .size = sizeof a, .n = r->n, .dtype = ECH_F64, .csr = &csr };
    for (int i = 0; i < repeats; i++) {
        begin = bench_now();
        bench_must(ech_solve(r->ctx, &a, 1, r->b, r->n, r->x, r->n, &o, &report), r->ctx);
        const double t = bench_now() - begin;
        if (t < best) best = t;
    }
    ech_free(r->ctx, csr.row_offsets, bytes[0]);
    ech_free(r->ctx, csr.col_indices, bytes[1]);
    ech_free(r->ctx, csr.values, bytes[2]);
    print("ech_solve", made, best, &report);
}

static void run_rank(const struct bench_rank *rank)
{
    struct rank r = { .rank = rank, .ctx = rank->ctx, .comm = rank->comm };
    r.n = (size_t)ech_dist_even_share(total, rank->number, bench_ranks);
    for (int k = 0; k < rank->number; k++)
        r.first += (size_t)ech_dist_even_share(total, k, bench_ranks);
    bench_must(ech_malloc(r.ctx, &r.b, r.n * 8), r.ctx);
    bench_must(ech_malloc(r.ctx, &r.x, r.n * 8), r.ctx);
    const double value = 1;
    bench_must(ech_fill(r.ctx, r.b, r.n, sizeof value, &value), r.ctx);
    ech_csr rows = make_rows(r.first, r.n);
    measure_dist(&r, &rows);
    if (local && bench_ranks == 1) measure_local(&r, &rows);
    free_rows(&rows);
    ech_free(r.ctx, r.b, r.n * 8);
    ech_free(r.ctx, r.x, r.n * 8);
}

/* ---- Options ---- */

static void read_options(int argc, char **argv)
{
    for (int i = 1; i < argc; i += 2) {
        const char *value = argv[i + 1];
        if (bench_rank_option(argv[i], value)) continue;
        if (strcmp(argv[i], "--log2") == 0)
            log2_n = bench_number(argv[i], value, 4, 28);
        else if (strcmp(argv[i], "--dim") == 0)
            dim = bench_number(argv[i], value, 2, 3);
        else if (strcmp(argv[i], "--iterations") == 0)
            iterations = bench_number(argv[i], value, 1, 100000);
        else if (strcmp(argv[i], "--side") == 0)
            side = (size_t)bench_number(argv[i], value, 2, 30000);
        else if (strcmp(argv[i], "--local") == 0)
            local = bench_number(argv[i], value, 0, 1);
        else if (strcmp(argv[i], "--repeat") == 0)
            repeats = bench_number(argv[i], value, 1, 100);
        else if (strcmp(argv[i], "--jacobi") == 0)
            jacobi = bench_number(argv[i], value, 0, 1);
        else {
            fprintf(stderr, "usage: bench_dist_solve [--device cuda|cpu|simt] [--ranks R] "
                            "[--comm NAME] [--log2 N] [--dim 2|3] [--iterations K] "
                            "[--local 1] [--side S] [--repeat K] [--jacobi 0]\n");
            exit(2);
        }
    }
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    const bool prints = bench_open_ranks();
    if (!side) side = (size_t)lround(pow(2, (double)log2_n / dim));
    total = dim == 2 ? side * side : side * side * side;
    if ((double)total * (2 * dim + 1) / bench_ranks > 2147483647.0)
        bench_stop("too many unknowns per rank");
    if (prints)
        printf("# %s; %s; %d ranks; %s; %d-point Poisson matrix\n"
               "call,ranks,unknowns,iterations,make_s,ms_per_iteration,residual\n",
               ech_version(), bench_device_name(), bench_ranks, bench_comm_name(), 2 * dim + 1);
    bench_run_ranks(run_rank);
    return 0;
}
