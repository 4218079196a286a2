/*
 * arrange_order.c - random permutations: known values that must never change, and statistical
 * tests of uniformity.
 *
 * A statistic may differ from its mean by six standard deviations. A chi-square statistic with f
 * degrees of freedom has mean f and standard deviation sqrt(2 f). Seeds are fixed, so the results
 * are reproducible.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "arrange_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fails if the counts differ from a uniform distribution by more than chance explains. */
static void check_even(const uint64_t *counts, size_t n, double freedom, const char *what)
{
    double sum = 0, chi = 0;
    for (size_t i = 0; i < n; i++) sum += (double)counts[i];
    const double mean = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        chi += ((double)counts[i] - mean) * ((double)counts[i] - mean) / mean;
    const double deviations = (chi - freedom) / sqrt(2 * freedom);
    if (fabs(deviations) > 6)
        test_fail(__FILE__, __LINE__,
                  "%s: chi-square is %.0f with %.0f degrees of freedom: %.1f standard deviations "
                  "from the mean",
                  what, chi, freedom, deviations);
}

/* The rank of a permutation among all permutations of n elements. */
static size_t rank_of(const uint32_t *p, size_t n)
{
    size_t rank = 0;
    for (size_t i = 0; i < n; i++) {
        size_t less = 0;
        for (size_t j = i + 1; j < n; j++) less += p[j] < p[i];
        rank = rank * (n - i) + less;
    }
    return rank;
}

/* All permutations of a few elements are equally frequent. */
static void all_orders(ech_ctx *ctx, size_t n)
{
    if (!test_begin("orders(n=%zu) on %s", n, ech_device_name(ctx))) return;
    size_t factorial = 1;
    for (size_t i = 2; i <= n; i++) factorial *= i;
    uint64_t *counts = calloc(factorial, sizeof *counts);
    uint32_t p[8];
    if (CHECK(counts != NULL)) {
        for (uint64_t seed = 0; seed < 100 * factorial; seed++) {
            if (ech_permutation(ctx, p, n, ECH_U32, seed) != ECH_OK) break;
            counts[rank_of(p, n)]++;
        }
        check_even(counts, factorial, (double)factorial - 1, "orders");
    }
    free(counts);
    test_end();
}

/* Each element is equally frequent in each position, and even and odd permutations are equally
 * frequent. */
static void places(ech_ctx *ctx, size_t n)
{
    enum { SEEDS = 20000 };
    if (!test_begin("places(n=%zu) on %s", n, ech_device_name(ctx))) return;
    uint64_t *counts = calloc(n * n, sizeof *counts), parity[2] = { 0, 0 };
    uint32_t p[256];
    for (uint64_t seed = 0; counts && seed < SEEDS; seed++) {
        if (ech_permutation(ctx, p, n, ECH_U32, seed << 32 | seed) != ECH_OK) break;
        size_t cycles = 0;
        for (size_t i = 0; i < n; i++) counts[i * n + p[i]]++;
        for (size_t i = 0; i < n; i++) { /* a visited position has the value UINT32_MAX */
            if (p[i] == UINT32_MAX) continue;
            cycles++;
            for (size_t j = i; p[j] != UINT32_MAX;) {
                const size_t next = p[j];
                p[j] = UINT32_MAX;
                j = next;
            }
        }
        parity[(n - cycles) % 2]++;
    }
    if (CHECK(counts != NULL)) {
        check_even(counts, n * n, (double)((n - 1) * (n - 1)), "places");
        check_even(parity, 2, 1, "parity");
    }
    free(counts);
    test_end();
}

/* The positions of two elements are independent, whether the elements are adjacent or far apart. */
static void neighbours(ech_ctx *ctx, size_t n, size_t distance)
{
    enum { SEEDS = 10, BINS = 16 };
    if (!test_begin("neighbours(n=%zu,%zu) on %s", n, distance, ech_device_name(ctx))) return;
    uint64_t both[BINS * BINS] = { 0 }, apart[BINS * BINS] = { 0 }, moved[BINS * BINS] = { 0 };
    uint32_t *p = malloc(n * sizeof *p);
    double sum = 0;
    for (uint64_t seed = 0; p && seed < SEEDS; seed++) {
        if (!CHECK_STATUS(ech_permutation(ctx, p, n, ECH_U32, seed), ECH_OK)) break;
        for (size_t i = 0; i + distance < n; i++) {
            const uint64_t x = p[i], y = p[i + distance];
            both[x * BINS / n * BINS + y * BINS / n]++;
            apart[(y + n - x) % n * BINS * BINS / n]++;
            moved[(x + n - i) % n * BINS * BINS / n]++;
            sum += ((double)x / (double)n - 0.5) * ((double)y / (double)n - 0.5);
        }
    }
    if (CHECK(p != NULL)) {
        const double count = SEEDS * (double)(n - distance);
        check_even(both, BINS * BINS, BINS * BINS - 1, "both");
        check_even(apart, BINS * BINS, BINS * BINS - 1, "apart");
        check_even(moved, BINS * BINS, BINS * BINS - 1, "moved");
        /* The product of two uniform numbers around 0 has the standard deviation 1/12. */
        CHECK(fabs(sum / sqrt(count) * 12) < 6);
    }
    free(p);
    test_end();
}

/* Permutations of successive seeds or lengths agree in one position on average, as random ones
 * do. */
static void unrelated(ech_ctx *ctx)
{
    enum { N = 10000, ORDERS = 40 };
    if (!test_begin("unrelated on %s", ech_device_name(ctx))) return;
    static uint32_t p[2][N + ORDERS];
    unsigned by_seed = 0, by_length = 0;
    for (uint64_t k = 0; k < ORDERS; k++) {
        CHECK_STATUS(ech_permutation(ctx, p[0], N, ECH_U32, k), ECH_OK);
        CHECK_STATUS(ech_permutation(ctx, p[1], N, ECH_U32, k + 1), ECH_OK);
        for (size_t i = 0; i < N; i++) by_seed += p[0][i] == p[1][i];
        CHECK_STATUS(ech_permutation(ctx, p[1], N + 1 + k, ECH_U32, k), ECH_OK);
        for (size_t i = 0; i < N; i++) by_length += p[0][i] == p[1][i];
    }
    /* ORDERS agreements are expected; the standard deviation is its square root. */
    CHECK(by_seed > 2 && by_seed < 78);
    CHECK(by_length > 2 && by_length < 78);
    test_end();
}

/* A seed gives the same permutation in every version. */
static void fixed(ech_ctx *ctx)
{
    static const struct {
        size_t n;
        uint64_t seed;
        uint64_t first[8];
    } rows[] = {
        { 8, 0, { 7, 4, 6, 3, 5, 1, 0, 2 } },
        { 8, 1, { 1, 2, 5, 3, 4, 7, 6, 0 } },
        { 1000, 42, { 508, 213, 659, 26, 137, 787, 498, 433 } },
        { 65537, UINT64_MAX, { 44116, 58200, 2186, 9115, 49114, 49017, 15480, 16549 } },
        { 1000003, 7, { 217505, 501956, 833382, 548118, 418793, 457624, 63915, 120729 } },
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        if (!test_begin("fixed(n=%zu,seed=%llu) on %s", rows[r].n, (unsigned long long)rows[r].seed,
                        ech_device_name(ctx)))
            continue;
        uint64_t *all = malloc(rows[r].n * sizeof *all), first[8];
        for (size_t i = 0; all && i < rows[r].n; i++) all[i] = i;
        if (CHECK(all != NULL) &&
            CHECK_STATUS(ech_sample(ctx, all, first, rows[r].n, 8, 8, rows[r].seed), ECH_OK))
            for (size_t i = 0; i < 8; i++) CHECK_INT(first[i], rows[r].first[i]);
        free(all);
        test_end();
    }
}

void arrange_order(ech_ctx *ctx)
{
    fixed(ctx);
    if (!test_is_cpu(ctx)) return; /* the cases compare all devices */
    for (size_t n = 2; n <= 6; n++) all_orders(ctx, n);
    static const size_t few[] = { 9, 16, 17, 25, 64, 65, 81, 100, 121 };
    for (size_t i = 0; i < sizeof few / sizeof *few; i++) places(ctx, few[i]);
    static const size_t many[] = { 4096, 4097, 65536, 65537, 200003 };
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        neighbours(ctx, many[i], 1);
        neighbours(ctx, many[i], 64);
        neighbours(ctx, many[i], many[i] / 2);
    }
    unrelated(ctx);
}
