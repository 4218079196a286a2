/*
 * test_algorithm.c - an algorithm that does not exist is rejected by every call that has such an
 * option, also if there is nothing to compute or only one algorithm.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test.h"

enum { N = 40 };

static uint64_t numbers[4][N * N];
static ech_ctx *ctx;
static size_t n; /* N or 0 */

static ech_gf2 bits(int i)
{
    return (
        ech_gf2){ .size = sizeof(ech_gf2), .words = numbers[i], .rows = n, .cols = n, .stride = 1 };
}

#define REJECTS(call) CHECK_FAILS(ctx, call, ECH_ERR_ARG, "zzz")

static void sorts(void)
{
    const ech_sort_options o = { .size = sizeof o, .algorithm = "zzz" };
    REJECTS(ech_sort(ctx, numbers[0], numbers[1], n, ECH_U32, &o));
    REJECTS(ech_sort(ctx, numbers[0], numbers[1], n, ECH_U8, &o));
    REJECTS(ech_sort_pairs(ctx, numbers[0], numbers[1], numbers[2], numbers[3], n, ECH_F32, 8, &o));
    REJECTS(ech_argsort(ctx, numbers[0], numbers[1], n, ECH_U32, ECH_U32, &o));
}

static void histograms(void)
{
    const ech_histogram_options o = { .size = sizeof o, .algorithm = "zzz" };
    REJECTS(ech_histogram(ctx, numbers[0], numbers[1], n, ECH_F32, 10, 0, 1, &o));
    REJECTS(ech_histogram_edges(ctx, numbers[0], numbers[1], numbers[2], n, ECH_F32, 1, &o));
    REJECTS(ech_bincount(ctx, numbers[0], numbers[1], n, ECH_U8, 256, &o));
    REJECTS(ech_bincount(ctx, numbers[0], numbers[1], n, ECH_U32, 8, &o));
    REJECTS(ech_histogram_2d(ctx, numbers[0], numbers[1], numbers[2], n, ECH_F32, 3, 0, 1, 3, 0, 1,
                             &o));
}

static void products(void)
{
    const ech_matmul_options o = { .size = sizeof o, .algorithm = "zzz" };
    const void *a[1] = { numbers[0] }, *b[1] = { numbers[1] };
    void *c[1] = { numbers[2] };
    static const ech_dtype dtypes[] = { ECH_F32, ECH_F64, ECH_F16 };
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        REJECTS(ech_matmul(ctx, n, n, n, 1, a[0], N, b[0], N, 0, c[0], N, dtypes[i], &o));
    REJECTS(ech_matmul_pointers(ctx, 1, n, n, n, 1, a, N, b, N, 0, c, N, ECH_F32, &o));
}

static void dense_systems(void)
{
    const ech_direct_options o = { .size = sizeof o, .algorithm = "zzz" };
    ech_direct_report report = { .size = sizeof report };
    int sign;
    double log_abs;
    REJECTS(ech_solve_direct(ctx, n, n, numbers[0], N, 1, numbers[1], 1, numbers[2], 1, ECH_F64, &o,
                             &report));
    REJECTS(ech_inverse(ctx, n, numbers[0], N, numbers[1], N, ECH_F32, &o, &report));
    REJECTS(ech_determinant(ctx, n, numbers[0], N, ECH_F64, &o, &sign, &log_abs));
}

static void bit_products(void)
{
    const ech_gf2_options o = { .size = sizeof o, .algorithm = "zzz" };
    ech_gf2 a = bits(0), b = bits(1), out = bits(2), x = bits(1), y = bits(2);
    x.rows = y.rows = n ? 1 : 0;
    REJECTS(ech_gf2_mul(ctx, &a, &b, &out, &o));
    REJECTS(ech_gf2_addmul(ctx, &a, &b, &out, &o));
    if (n) REJECTS(ech_gf2_mul_vec(ctx, &a, &x, &y, &o));
}

static void eliminations(void)
{
    const ech_gf2_echelon_options o = { .size = sizeof o, .algorithm = "zzz" };
    ech_gf2 a = bits(0), b = bits(1), out = bits(2);
    uint32_t rank, p[N], q[N];
    uint8_t solvable[N];
    REJECTS(ech_gf2_echelon(ctx, &a, &rank, p, &o));
    REJECTS(ech_gf2_rank(ctx, &a, &rank, &o));
    REJECTS(ech_gf2_pluq(ctx, &a, &rank, p, q, &o));
    REJECTS(ech_gf2_solve(ctx, &a, &b, &out, solvable, NULL, &o));
    REJECTS(ech_gf2_nullspace(ctx, &a, &out, &rank, &o));
    REJECTS(ech_gf2_left_nullspace(ctx, &a, &out, &rank, &o));
    REJECTS(ech_gf2_inverse(ctx, &a, &out, &rank, &o));
}

static void batches(void)
{
    const ech_gf2_echelon_options o = { .size = sizeof o, .algorithm = "zzz" };
    ech_gf2_batch a = { .size = sizeof a,
                        .words = numbers[0],
                        .count = n ? 3 : 0,
                        .rows = N,
                        .cols = N,
                        .stride = 1,
                        .batch_stride = N };
    uint32_t rank[3], pivots[3 * N];
    uint8_t solvable[3];
    REJECTS(ech_gf2_echelon_batched(ctx, &a, rank, pivots, &o));
    REJECTS(ech_gf2_rank_batched(ctx, &a, rank, &o));
    REJECTS(ech_gf2_solve_batched(ctx, &a, numbers[1], numbers[2], solvable, &o));
}

static const struct {
    const char *name;
    void (*run)(void);
} groups[] = {
    { "sorts", sorts },
    { "histograms", histograms },
    { "products", products },
    { "dense systems", dense_systems },
    { "products over GF(2)", bit_products },
    { "eliminations", eliminations },
    { "batches", batches },
};

int main(int argc, char **argv)
{
    char device[64];
    test_main(argc, argv);
    for (int d = 0; test_device(d, device, sizeof device); d++) {
        if (ech_open(&ctx, device) != ECH_OK) {
            if (test_begin("%s", device)) test_skip("%s", ech_error(NULL));
            continue;
        }
        for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
            for (n = 0; n <= N; n += N) {
                if (!test_begin("%s on %s, n=%zu", groups[i].name, device, n)) continue;
                groups[i].run();
                test_end();
            }
        ech_close(ctx);
    }
    return test_finish();
}
