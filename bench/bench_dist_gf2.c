/*
 * bench_dist_gf2.c - measures ranks, echelon forms and products over GF(2) whose columns are
 * distributed (echelon/dist_linear.h): a thread per rank, each with a GPU or with one CPU thread.
 *
 *     bench_dist_gf2 [--device cuda|cpu|simt] [--ranks R] [--comm NAME] [--log2 N]
 *                    [--block COLS] [--local 1] [--repeat K] [--only rank|echelon|mul] ...
 *
 * The matrices have 2^N rows and columns of random bits, which each rank makes in the memory of its
 * device.  A CSV line has the call, the ranks, the rows, the milliseconds of the slowest rank (the
 * best of K repetitions, 3) and the rank of the matrix, or the number of ones of a product, which
 * must not depend on the number of ranks.  --local 1: one rank also measures the calls of one
 * device.  --only may be repeated.  With --repeat 1 and without products, an echelon form replaces
 * the matrix, so that larger ones fit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench_ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_REPEATS = 100, RANK = 1, ECHELON = 2, MUL = 4, ALL = 7 };

static int log2_n = 15, block = ECH_DIST_GF2_BLOCK, local, repeats = 3;
static unsigned calls; /* RANK ...; 0: all */
static size_t n;

const char *bench_program = "bench_dist_gf2";

struct rank {
    const struct bench_rank *rank;
    ech_ctx *ctx;
    ech_comm *comm;
    ech_gf2 a, b, out; /* the columns of this rank */
};

static ech_gf2 matrix(const struct rank *r, size_t cols)
{
    ech_gf2 m = { .size = sizeof m, .rows = n, .cols = cols, .stride = ech_gf2_stride(cols) };
    void *words = NULL;
    bench_must(ech_malloc(r->ctx, &words, m.rows * m.stride * 8 + 8), r->ctx);
    m.words = words;
    return m;
}

static void matrix_free(const struct rank *r, ech_gf2 *m)
{
    ech_free(r->ctx, m->words, m->rows * m->stride * 8 + 8);
}

/* Random bits, the same for every number of ranks: each block has a seed of its own. */
static void fill(const struct rank *r, ech_gf2 *m, uint64_t seed)
{
    for (size_t col = 0, i = 0; col < m->cols; col += (size_t)block, i++) {
        ech_gf2 view = { .size = sizeof view };
        const size_t cols = m->cols - col < (size_t)block ? m->cols - col : (size_t)block;
        bench_must(ech_gf2_view(m, 0, col, n, cols, &view), NULL);
        bench_must(ech_gf2_random(r->ctx, &view, 0.5,
                                  seed + i * (uint64_t)bench_ranks + (uint64_t)r->rank->number),
                   r->ctx);
    }
}

/* ---- Calls ---- */

static uint64_t rank_dist(struct rank *r)
{
    uint32_t rank = 0;
    bench_must(ech_dist_gf2_rank(r->ctx, r->comm, &r->a, &rank, n, (size_t)block, NULL), r->ctx);
    return rank;
}

static uint64_t echelon_dist(struct rank *r)
{
    uint32_t rank = 0;
    bench_must(ech_dist_gf2_echelon(r->ctx, r->comm, &r->out, &rank, NULL, n, (size_t)block, NULL),
               r->ctx);
    return rank;
}

static uint64_t mul_dist(struct rank *r)
{
    bench_must(ech_dist_gf2_mul(r->ctx, r->comm, &r->a, &r->b, &r->out, n, n, (size_t)block, NULL),
               r->ctx);
    return 0;
}

static uint64_t rank_local(struct rank *r)
{
    uint32_t rank = 0;
    bench_must(ech_gf2_rank(r->ctx, &r->a, &rank, NULL), r->ctx);
    return rank;
}

static uint64_t echelon_local(struct rank *r)
{
    uint32_t rank = 0;
    bench_must(ech_gf2_echelon(r->ctx, &r->out, &rank, NULL, NULL), r->ctx);
    return rank;
}

static uint64_t mul_local(struct rank *r)
{
    bench_must(ech_gf2_mul(r->ctx, &r->a, &r->b, &r->out, NULL), r->ctx);
    return 0;
}

static const struct row {
    const char *name;
    bool local;
    unsigned call;
    uint64_t (*run)(struct rank *r);
} rows[] = {
    { "ech_dist_gf2_rank", false, RANK, rank_dist },
    { "ech_gf2_rank", true, RANK, rank_local },
    { "ech_dist_gf2_echelon", false, ECHELON, echelon_dist },
    { "ech_gf2_echelon", true, ECHELON, echelon_local },
    { "ech_dist_gf2_mul", false, MUL, mul_dist },
    { "ech_gf2_mul", true, MUL, mul_local },
};

static uint64_t count(struct rank *r)
{
    uint64_t ones = 0;
    bench_must(ech_gf2_count(r->ctx, &r->out, &ones), r->ctx);
    bench_must(ech_sync(r->ctx), r->ctx);
    return bench_sum(r->rank, ones);
}

static void measure(struct rank *r, const struct row *row)
{
    double best = HUGE_VAL;
    uint64_t result = 0;
    for (int i = 0; i < repeats; i++) {
        if (row->call == ECHELON && r->out.words != r->a.words)
            bench_must(ech_gf2_copy(r->ctx, &r->a, 0, 0, &r->out, 0, 0, n, r->a.cols), r->ctx);
        bench_must(ech_sync(r->ctx), r->ctx);
        bench_must(ech_comm_barrier(r->comm), r->ctx);
        const double start = bench_now();
        result = row->run(r);
        bench_must(ech_sync(r->ctx), r->ctx);
        const double slowest = bench_slowest(r->rank, bench_now() - start);
        if (slowest < best) best = slowest;
    }
    if (row->call == MUL) result = count(r);
    if (r->rank->number) return;
    printf("%s,%d,%zu,%.3f,%llu\n", row->name, bench_ranks, n, best, (unsigned long long)result);
    fflush(stdout);
}

static void run_rank(const struct bench_rank *rank)
{
    struct rank r = { .rank = rank, .ctx = rank->ctx, .comm = rank->comm };
    const size_t cols = ech_dist_gf2_cols(n, (size_t)block, rank->number, bench_ranks);
    const bool copies = repeats > 1 || local || (calls & MUL);
    r.a = matrix(&r, cols);
    fill(&r, &r.a, 1);
    r.out = copies ? matrix(&r, cols) : r.a;
    if (calls & MUL) {
        r.b = matrix(&r, cols);
        fill(&r, &r.b, 1000000);
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if ((rows[i].call & calls) && (!rows[i].local || (local && bench_ranks == 1)))
            measure(&r, &rows[i]);
    matrix_free(&r, &r.a);
    if (calls & MUL) matrix_free(&r, &r.b);
    if (copies) matrix_free(&r, &r.out);
}

static unsigned call_of(const char *name)
{
    static const char *const names[] = { "rank", "echelon", "mul" };
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(name, names[i]) == 0) return 1u << i;
    bench_stop("--only needs rank, echelon or mul");
}

/* ---- Options ---- */

static void read_options(int argc, char **argv)
{
    for (int i = 1; i < argc; i += 2) {
        const char *value = argv[i + 1];
        if (bench_rank_option(argv[i], value)) continue;
        if (strcmp(argv[i], "--log2") == 0)
            log2_n = bench_number(argv[i], value, 6, 21);
        else if (strcmp(argv[i], "--block") == 0)
            block = bench_number(argv[i], value, 64, 65536);
        else if (strcmp(argv[i], "--local") == 0)
            local = bench_number(argv[i], value, 0, 1);
        else if (strcmp(argv[i], "--repeat") == 0)
            repeats = bench_number(argv[i], value, 1, MOST_REPEATS);
        else if (strcmp(argv[i], "--only") == 0 && value)
            calls |= call_of(value);
        else {
            fprintf(stderr, "usage: bench_dist_gf2 [--device cuda|cpu|simt] [--ranks R] "
                            "[--comm NAME] [--log2 N] [--block COLS] [--local 1] "
                            "[--repeat K] [--only rank|echelon|mul]\n");
            exit(2);
        }
    }
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    if (!calls) calls = ALL;
    n = (size_t)1 << log2_n;
    const bool prints = bench_open_ranks();
    if (prints)
        printf("# %s; %s; %d ranks; %s; blocks of %d columns\ncall,ranks,rows,ms,result\n",
               ech_version(), bench_device_name(), bench_ranks, bench_comm_name(), block);
    bench_run_ranks(run_rank);
    return 0;
}
