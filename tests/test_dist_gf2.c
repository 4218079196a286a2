/*
 * test_dist_gf2.c - distributed products, echelon forms, ranks and solutions over GF(2) are those
 * of one device, for 1 to 16 ranks and several widths of blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dist_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ech_ctx *one; /* the device whose results are expected */
static const char *device;

/* A call, and what is expected: whole matrices in host memory. */
struct problem {
    size_t rows, k, n, block; /* a is rows x k; b is k x n, or rows x n */
    ech_gf2 a, b, out;
    uint32_t rank, *pivots;
    uint8_t *solvable;
    ech_gf2_form form;
    bool wide; /* pivots of 64 bits */
    int fault;
};

static ech_gf2 matrix(size_t rows, size_t cols)
{
    ech_gf2 m = { .size = sizeof m, .rows = rows, .cols = cols, .stride = ech_gf2_stride(cols) };
    m.words = dist_allocate(rows * m.stride * 8);
    return m;
}

/* Random bits of which `rank` rows are independent at most.  In a half of all matrices, the first
 * two thirds of the rows have ones only in even columns, so that the other pivots are far below. */
static void fill(ech_gf2 *m, size_t rank, struct rng *rng)
{
    const size_t even = rng_below(rng, 2) ? rank * 2 / 3 : 0;
    for (size_t i = 0; i < m->rows; i++)
        for (size_t w = 0; w < m->stride; w++) {
            uint64_t *to = &m->words[i * m->stride + w];
            *to = rng_next(rng) & (rng_below(rng, 3) ? ~(uint64_t)0 : rng_next(rng));
            if (i < even) *to &= 0x5555555555555555;
            if (i >= rank) *to = rank ? m->words[i % rank * m->stride + w] : 0;
            if (i >= rank && rank > 1) *to ^= m->words[(i * 7 + 1) % rank * m->stride + w];
            if (w + 1 == m->stride && m->cols % 64) *to &= ((uint64_t)1 << m->cols % 64) - 1;
        }
}

/* The columns of this rank; NULL: zeros. */
static ech_gf2 part(struct dist_rank *r, const struct problem *p, const ech_gf2 *whole,
                    bool contents)
{
    const size_t cols = ech_dist_gf2_cols(whole->cols, p->block, r->rank, r->ranks);
    ech_gf2 m = matrix(whole->rows, cols);
    const size_t words = p->block / 64;
    for (size_t i = 0; i < m.rows && contents; i++)
        for (size_t w = 0; w < m.stride; w++) {
            const size_t from =
                (w / words * (size_t)r->ranks + (size_t)r->rank) * words + w % words;
            m.words[i * m.stride + w] = whole->words[i * whole->stride + from];
        }
    uint64_t *host = m.words;
    m.words = dist_array(r, host, m.rows * m.stride * 8);
    free(host);
    return m;
}

/* Compares the columns of this rank with those of the whole matrix. */
static void expect(struct dist_rank *r, const struct problem *p, const char *name,
                   const ech_gf2 *got, const ech_gf2 *whole)
{
    ech_gf2 wanted = matrix(whole->rows, got->cols);
    const size_t words = p->block / 64;
    for (size_t i = 0; i < wanted.rows; i++)
        for (size_t w = 0; w < wanted.stride; w++)
            wanted.words[i * wanted.stride + w] =
                whole->words[i * whole->stride +
                             (w / words * (size_t)r->ranks + (size_t)r->rank) * words + w % words];
    dist_expect(r, name, got->words, wanted.words, wanted.rows * wanted.stride * 8);
    free(wanted.words);
}

static bool begin(const char *what, struct problem *p, int ranks)
{
    if (!dist_drawn(what, ranks, p->rows * p->k, p->rows * p->k < 100000)) return false;
    return test_begin("%s(%zux%zu,n=%zu,block=%zu,%s,ranks=%d) on %s", what, p->rows, p->k, p->n,
                      p->block, p->form == ECH_GF2_FORM_ECHELON ? "echelon" : "reduced", ranks,
                      device);
}

static void problem_free(struct problem *p)
{
    free(p->a.words);
    free(p->b.words);
    free(p->out.words);
    free(p->pivots);
    free(p->solvable);
}

/* ---- Products ---- */

static ech_status run_mul(struct dist_rank *r)
{
    const struct problem *p = r->task;
    const ech_gf2 a = part(r, p, &p->a, true), b = part(r, p, &p->b, true);
    ech_gf2 out = part(r, p, &p->out, false);
    size_t k = p->k, n = p->n, block = p->block;
    if (p->fault == 1 && r->rank == 1) k++;
    if (p->fault == 2 && r->rank == 1) block = 63;
    const ech_status status = ech_dist_gf2_mul(r->ctx, r->comm, &a, &b, &out, k, n, block, NULL);
    if (status == ECH_OK) expect(r, p, "out", &out, &p->out);
    return status;
}

static void mul_case(size_t rows, size_t k, size_t n, size_t block, int ranks)
{
    struct problem p = { .rows = rows, .k = k, .n = n, .block = block };
    struct rng rng = dist_seed("mul", ECH_U8, (int)(rows + k + n + block), ranks);
    if (!begin("mul", &p, ranks)) return;
    p.a = matrix(rows, k);
    p.b = matrix(k, n);
    p.out = matrix(rows, n);
    fill(&p.a, rows, &rng);
    fill(&p.b, k, &rng);
    if (CHECK_STATUS(ech_gf2_mul(one, &p.a, &p.b, &p.out, NULL), ECH_OK))
        dist_run(ranks, 0, run_mul, &p, ECH_OK, NULL);
    problem_free(&p);
    test_end();
}

/* ---- Eliminations ---- */

static ech_status run_echelon(struct dist_rank *r)
{
    const struct problem *p = r->task;
    const size_t most = p->rows < p->k ? p->rows : p->k, bytes = p->wide ? 8 : 4;
    const ech_gf2_echelon_options options = { .size = sizeof options,
                                              .form = p->form,
                                              .index_dtype = p->wide ? ECH_I64 : ECH_U32,
                                              .max_rank = p->fault == 3 };
    ech_gf2 a = part(r, p, &p->a, true);
    void *pivots = dist_array(r, NULL, most * bytes);
    uint32_t rank = UINT32_MAX, again = UINT32_MAX;
    if (p->fault == 4 && r->rank == 1) ech_set_memory_limit(r->ctx, 1);
    ech_status status = ech_dist_gf2_rank(r->ctx, r->comm, &a, &again, p->k, p->block, NULL);
    if (p->fault == 4 && r->rank == 1) ech_set_memory_limit(r->ctx, 0);
    if (status == ECH_OK) expect(r, p, "a after rank", &a, &p->a);
    if (status == ECH_OK)
        status = ech_dist_gf2_echelon(r->ctx, r->comm, &a, &rank, pivots, p->k, p->block, &options);
    if (status != ECH_OK) return status;
    expect(r, p, "a", &a, &p->out);
    if ((rank != p->rank || again != p->rank) && !r->problem[0])
        snprintf(r->problem, sizeof r->problem, "the rank is %u and %u, not %u", rank, again,
                 p->rank);
    uint64_t *wide = dist_allocate(p->rank * sizeof *wide);
    for (uint32_t i = 0; i < p->rank; i++) wide[i] = p->pivots[i];
    dist_expect(r, "pivots", pivots, p->wide ? (void *)wide : p->pivots, p->rank * bytes);
    free(wide);
    return status;
}

static void echelon_case(size_t rows, size_t k, size_t limit, size_t block, ech_gf2_form form,
                         int ranks)
{
    struct problem p = { .rows = rows, .k = k, .block = block, .form = form };
    const ech_gf2_echelon_options options = { .size = sizeof options, .form = form };
    struct rng rng = dist_seed("echelon", ECH_U8, (int)(rows + k + limit + block), ranks);
    if (!begin("echelon", &p, ranks)) return;
    p.wide = rng_below(&rng, 2);
    p.a = matrix(rows, k);
    p.out = matrix(rows, k);
    p.pivots = dist_allocate((rows < k ? rows : k) * sizeof *p.pivots);
    fill(&p.a, limit, &rng);
    if (rows && k) memcpy(p.out.words, p.a.words, rows * p.a.stride * 8);
    if (CHECK_STATUS(ech_gf2_echelon(one, &p.out, &p.rank, p.pivots, &options), ECH_OK))
        dist_run(ranks, 0, run_echelon, &p, ECH_OK, NULL);
    problem_free(&p);
    test_end();
}

static ech_status run_solve(struct dist_rank *r)
{
    const struct problem *p = r->task;
    const ech_gf2 a = part(r, p, &p->a, true), b = part(r, p, &p->b, true);
    ech_gf2 x = part(r, p, &p->out, false);
    uint8_t *solvable = dist_array(r, NULL, b.cols);
    const ech_status status =
        ech_dist_gf2_solve(r->ctx, r->comm, &a, &b, &x, solvable, p->k, p->n, p->block, NULL);
    if (status != ECH_OK) return status;
    expect(r, p, "x", &x, &p->out);
    uint8_t *wanted = dist_allocate(b.cols);
    for (size_t j = 0; j < b.cols; j++)
        wanted[j] = p->solvable[(j / p->block * (size_t)r->ranks + (size_t)r->rank) * p->block +
                                j % p->block];
    dist_expect(r, "solvable", solvable, wanted, b.cols);
    free(wanted);
    return status;
}

static void solve_case(size_t rows, size_t k, size_t n, size_t limit, size_t block, int ranks)
{
    struct problem p = { .rows = rows, .k = k, .n = n, .block = block };
    struct rng rng = dist_seed("solve", ECH_U8, (int)(rows + k + limit + block), ranks);
    if (!begin("solve", &p, ranks)) return;
    p.a = matrix(rows, k);
    p.b = matrix(rows, n);
    p.out = matrix(k, n);
    p.solvable = dist_allocate(n);
    fill(&p.a, limit, &rng);
    fill(&p.b, rng_below(&rng, 2) ? rows : limit, &rng);
    if (CHECK_STATUS(ech_gf2_solve(one, &p.a, &p.b, &p.out, p.solvable, NULL, NULL), ECH_OK))
        dist_run(ranks, 0, run_solve, &p, ECH_OK, NULL);
    problem_free(&p);
    test_end();
}

/* ---- Faults ---- */

static void fault_case(int fault, ech_status status, const char *message)
{
    struct problem p = { .rows = 100, .k = 300, .n = 200, .block = 64, .fault = fault };
    struct rng rng = dist_seed("fault", ECH_U8, fault, 3);
    if (!dist_can_run(3)) return;
    if (!test_begin("fault(%d) on %s", fault, device)) return;
    p.a = matrix(p.rows, p.k);
    p.b = matrix(p.k, p.n);
    p.out = matrix(p.rows, p.n);
    fill(&p.a, p.rows, &rng);
    if (fault >= 3) memcpy(p.out.words, p.a.words, p.rows * p.out.stride * 8);
    dist_run(3, 0, fault >= 3 ? run_echelon : run_mul, &p, status, message);
    problem_free(&p);
    test_end();
}

static void cases(int ranks)
{
    static const struct {
        size_t rows, k, n, limit;
    } shapes[] = { { 0, 100, 70, 0 },       { 5, 0, 3, 0 },         { 1, 1, 1, 1 },
                   { 70, 500, 130, 70 },    { 500, 70, 129, 70 },   { 300, 300, 64, 300 },
                   { 300, 700, 200, 123 },  { 900, 1000, 65, 640 }, { 1500, 1500, 300, 1500 },
                   { 2000, 1000, 100, 999 } };
    static const size_t blocks[] = { 64, 128, 512 };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t b = 0; b < 3; b++) {
            const size_t rows = shapes[i].rows, k = shapes[i].k, n = shapes[i].n;
            mul_case(rows, k, n, blocks[b], ranks);
            echelon_case(rows, k, shapes[i].limit, blocks[b], ECH_GF2_FORM_REDUCED, ranks);
            echelon_case(rows, k, shapes[i].limit, blocks[b], ECH_GF2_FORM_ECHELON, ranks);
            solve_case(rows, k, n, shapes[i].limit, blocks[b], ranks);
        }
}

int main(int argc, char **argv)
{
    static const char *const operations[] = { "mul", "echelon", "solve", NULL };
    test_main(argc, argv);
    device = dist_open();
    if (ech_open(&one, device) != ECH_OK) return 1;
    dist_cases(cases, operations);
    fault_case(1, ECH_ERR_ARG, "rank 1: a is 100 x 108, not 100 x 109");
    fault_case(2, ECH_ERR_ARG, "rank 1: block_cols is 63");
    fault_case(3, ECH_ERR_UNSUPPORTED, "options->max_rank");
    fault_case(4, ECH_ERR_MEMORY, "rank 1: out of memory");
    ech_close(one);
    dist_close();
    return test_finish();
}
