/*
 * gf2_m4ri.c - the ladder of the method of the four Russians: the reduced echelon form of an n x n
 * matrix of bits, k columns at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    THREADS = 256,
    MOST_K = 10,
    TABLES = 4, /* of 8 columns */
    NARROW = 32,
    WIDE = 256,               /* columns of the panel for tensor cores */
    ENTRY_BYTES = 4 * NARROW, /* per table entry: 32 words */
    STATE_BYTES = 4 * (2 + WIDE + WIDE * WIDE / 32),
    FAILED_BYTES = 4,
    SURPLUS_K = 8 /* columns of a panel with surplus rows */
};

static void shape(struct trial *trial)
{
    ladder_shape_bits(trial);
    /* For the panel: its state and the number of failed panels, the pivots that each row needs, the
     * pivot rows. */
    trial->p[1] = STATE_BYTES + FAILED_BYTES;
    trial->p[2] = trial->p[1] + WIDE / 8 * trial->n;
    trial->scratch_bytes = trial->p[2] + WIDE * 4 * trial->p[0];
}

/* ---- Rungs ---- */

/* Few blocks compute few tables; many blocks run more work in parallel. */
static uint32_t rows_of_a_block(uint64_t n)
{
    uint64_t rows = n / 32;
    return rows < 64 ? 64 : rows > 512 ? 512 : (uint32_t)rows;
}

enum panel { ALL_ROWS, SURPLUS };

/* Panels of k columns and a table of 2^(k - 1) entries, or of 32 columns and four tables. */
static void m4r(struct trial *trial, uint32_t columns, enum panel panel)
{
    uint64_t *stride = &trial->p[0];
    CUdeviceptr state = trial->scratch, sums = state + trial->p[1], pivots = state + trial->p[2];
    CUdeviceptr failed = state + STATE_BYTES;
    uint32_t rows = rows_of_a_block(trial->n), surplus = (uint32_t)trial->rung->parameter;
    ladder_copy(trial, trial->out, trial->in, trial->in_bytes);
    ladder_zero(trial, state, STATE_BYTES + FAILED_BYTES);
    for (uint64_t begin = 0; begin < trial->n; begin += columns) {
        uint64_t left = trial->n - begin, tiles = ladder_ceil(*stride - begin / 32, NARROW);
        uint32_t width = left < columns ? (uint32_t)left : columns;
        if (panel == SURPLUS)
            LAUNCH(trial, "gf2_m4ri_2_panel", 1, THREADS, 0, &trial->out, &trial->n, stride, &begin,
                   &width, &surplus, &state, &failed);
        else
            LAUNCH(trial, "gf2_m4ri_panel", 1, THREADS, 0, &trial->out, &trial->n, stride, &begin,
                   &width, &state);
        LAUNCH(trial, "gf2_m4ri_sums", ladder_ceil(trial->n, THREADS), THREADS, 0, &trial->out,
               &trial->n, stride, &begin, &width, &state, &sums, &pivots);
        if (columns == 8 * TABLES)
            LAUNCH_2D(trial, "gf2_m4ri_3_add", tiles, ladder_ceil(trial->n, rows), THREADS, 1,
                      (size_t)TABLES * 128 * ENTRY_BYTES, &trial->out, &trial->n, stride, &begin,
                      &rows, &state, &sums, &pivots);
        else
            LAUNCH_2D(trial, "gf2_m4ri_1_add", tiles, ladder_ceil(trial->n, rows), THREADS, 1,
                      (size_t)ENTRY_BYTES << (columns - 1), &trial->out, &trial->n, stride, &begin,
                      &columns, &rows, &state, &sums, &pivots);
    }
}

static void run_1(struct trial *trial)
{
    m4r(trial, (uint32_t)trial->rung->parameter, ALL_ROWS);
}

static void run_2(struct trial *trial)
{
    uint32_t failed = 0;
    m4r(trial, SURPLUS_K, SURPLUS);
    ladder_download(trial, &failed, trial->scratch + STATE_BYTES, sizeof failed);
    trial->noted = failed;
}

static void run_3(struct trial *trial)
{
    m4r(trial, 8 * TABLES, ALL_ROWS);
}

static void run_4(struct trial *trial)
{
    uint64_t *stride = &trial->p[0];
    CUdeviceptr state = trial->scratch, sums = state + trial->p[1], turned = state + trial->p[2];
    ladder_copy(trial, trial->out, trial->in, trial->in_bytes);
    ladder_zero(trial, state, STATE_BYTES);
    for (uint64_t begin = 0; begin < trial->n; begin += WIDE) {
        uint32_t width = trial->n - begin < WIDE ? (uint32_t)(trial->n - begin) : WIDE;
        LAUNCH(trial, "gf2_m4ri_4_panel", 1, THREADS, 0, &trial->out, &trial->n, stride, &begin,
               &width, &state);
        LAUNCH(trial, "gf2_m4ri_4_sums", ladder_ceil(trial->n, THREADS), THREADS, 0, &trial->out,
               &trial->n, stride, &begin, &width, &state, &sums);
        LAUNCH(trial, "gf2_m4ri_4_turn", *stride - begin / 32, THREADS, 0, &trial->out, stride,
               &begin, &state, &turned);
        LAUNCH_2D(trial, "gf2_m4ri_4_add", ladder_ceil(*stride - begin / 32, NARROW),
                  ladder_ceil(trial->n, 128), THREADS, 1, 0, &trial->out, &trial->n, stride, &begin,
                  &sums, &turned);
    }
}

static void run_production(struct trial *trial)
{
    ech_gf2 a = { .size = sizeof(ech_gf2),
                  .words = ladder_pointer(trial->out),
                  .rows = (size_t)trial->n,
                  .cols = (size_t)trial->n,
                  .stride = (size_t)trial->p[0] / 2 };
    ladder_copy(trial, trial->out, trial->in, trial->in_bytes);
    ladder_try(trial,
               ech_gf2_echelon(trial->device->ctx, &a, ladder_pointer(trial->scratch), NULL, NULL));
}

/* Larger matrices would take minutes with these. */
enum { MOST_ALL = 1 << 14, MOST_SOME = 1 << 15, MOST_BEST = 1 << 16 };

#define TABLE_OF(k, what, maximum)                                                                 \
    {                                                                                              \
        .number = 1, .idea = "m4r", .text = what, .parameter = k, .most = maximum, .run = run_1    \
    }
#define SURPLUS_OF(m, what, maximum)                                                               \
    {                                                                                              \
        .number = 2, .idea = "surplus", .text = what, .parameter = m, .most = maximum,             \
        .run = run_2                                                                               \
    }

static const struct rung rungs[] = {
    TABLE_OF(1, "k = 1", MOST_ALL),
    TABLE_OF(2, "k = 2", MOST_ALL),
    TABLE_OF(3, "k = 3", MOST_ALL),
    TABLE_OF(4, "k = 4", MOST_ALL),
    TABLE_OF(5, "k = 5", MOST_ALL),
    TABLE_OF(6, "k = 6", MOST_ALL),
    TABLE_OF(7, "k = 7", MOST_ALL),
    TABLE_OF(8, "k = 8", MOST_SOME),
    TABLE_OF(9, "k = 9", MOST_BEST),
    TABLE_OF(10, "k = 10", MOST_SOME),
    SURPLUS_OF(0, "k = 8, panels of 8 rows", MOST_ALL),
    SURPLUS_OF(1, "k = 8, panels of 8 + 1 rows", MOST_ALL),
    SURPLUS_OF(2, "k = 8, panels of 8 + 2 rows", MOST_ALL),
    SURPLUS_OF(4, "k = 8, panels of 8 + 4 rows", MOST_ALL),
    SURPLUS_OF(8, "k = 8, panels of 8 + 8 rows", MOST_ALL),
    SURPLUS_OF(24, "k = 8, panels of 8 + 24 rows", MOST_SOME),
    { .number = 3, .idea = "tables", .text = "four tables of 8", .run = run_3 },
    { .number = 4,
      .idea = "tensor",
      .text = "256 columns by tensor cores",
      .most = MOST_BEST,
      .run = run_4 },
    { .number = 5,
      .idea = "production",
      .text = "production, ech_gf2_echelon()",
      .run = run_production },
};

/* ---- Claims ---- */

static bool launches(const struct results *results, char *because, size_t bytes)
{
    uint64_t n = ladder_row(results, 1, 1, 0)->n;
    bool holds = true;
    size_t length = (size_t)snprintf(because, bytes, "n = %llu:", (unsigned long long)n);
    for (uint64_t k = 1; k <= MOST_K; k++) {
        uint64_t launched = ladder_row(results, 1, k, 0)->launches;
        length += (size_t)snprintf(because + length, bytes - length, " %llu",
                                   (unsigned long long)launched);
        holds = holds && launched == 3 * ladder_ceil(n, k);
    }
    return holds;
}

static uint64_t stored(const struct results *results, int number, uint64_t k)
{
    return ladder_row(results, number, k, 0)->counts.store_sectors;
}

static bool fewer_stores(const struct results *results, char *because, size_t bytes)
{
    snprintf(because, bytes,
             "sectors stored: %llu with k = 1, %llu with k = 8, %llu with 32 columns",
             (unsigned long long)stored(results, 1, 1), (unsigned long long)stored(results, 1, 8),
             (unsigned long long)stored(results, 3, 0));
    return stored(results, 1, 8) * 2 < stored(results, 1, 1) &&
           stored(results, 3, 0) < stored(results, 1, 8);
}

static const uint64_t surplus[] = { 0, 1, 2, 4, 8, 24 };
enum { SURPLUSES = sizeof surplus / sizeof *surplus };

/* The probability that k + m random rows of k bits have a rank below k. */
static double failure(uint64_t m)
{
    double full = 1;
    for (int i = 1; i <= SURPLUS_K; i++) full *= 1 - ldexp(1, -(int)m - i);
    return 1 - full;
}

/* The panels that needed more rows, for each m: within three standard deviations and one panel. */
static bool fails_as_expected(const struct results *results, uint64_t n, char *because,
                              size_t bytes)
{
    double panels = (double)ladder_ceil(n, SURPLUS_K);
    bool holds = true;
    size_t length = (size_t)snprintf(because, bytes, "n = %llu, %.0f panels; m, failed, expected:",
                                     (unsigned long long)n, panels);
    for (int i = 0; i < SURPLUSES; i++) {
        uint64_t failed = ladder_row(results, 2, surplus[i], n)->noted;
        double p = failure(surplus[i]), expected = panels * p;
        length +=
            (size_t)snprintf(because + length, bytes - length, "%s %llu, %llu, %.1f", i ? ";" : "",
                             (unsigned long long)surplus[i], (unsigned long long)failed, expected);
        holds = holds && fabs((double)failed - expected) <= 3 * sqrt(expected * (1 - p)) + 1;
    }
    return holds;
}

static bool fails_on_simt(const struct results *results, char *because, size_t bytes)
{
    return fails_as_expected(results, ladder_row(results, 2, 0, 0)->n, because, bytes);
}

static bool fewer_barriers(const struct results *results, char *because, size_t bytes)
{
    uint64_t block = ladder_row(results, 1, SURPLUS_K, 0)->counts.barriers;
    uint64_t warp = ladder_row(results, 2, 24, 0)->counts.barriers;
    snprintf(because, bytes, "barriers, counted once per warp: %llu, %llu",
             (unsigned long long)block, (unsigned long long)warp);
    return 4 * warp < block;
}

enum { SMALL = 1024, LARGE = 16384, VAST = 131072 };

static uint64_t best_k(const struct results *results, uint64_t n)
{
    uint64_t best = 1;
    for (uint64_t k = 2; k <= MOST_K; k++)
        if (ladder_row(results, 1, k, n)->ms < ladder_row(results, 1, best, n)->ms) best = k;
    return best;
}

static bool best_k_grows(const struct results *results, char *because, size_t bytes)
{
    size_t length = (size_t)snprintf(because, bytes, "best k by n:");
    for (uint64_t n = SMALL; n <= LARGE; n *= 4)
        length += (size_t)snprintf(because + length, bytes - length, " %llu (%llu)",
                                   (unsigned long long)best_k(results, n), (unsigned long long)n);
    return best_k(results, LARGE) > best_k(results, SMALL);
}

static bool beats_gauss(const struct results *results, char *because, size_t bytes)
{
    uint64_t best = best_k(results, LARGE);
    double one = ladder_row(results, 1, 1, LARGE)->ms, k = ladder_row(results, 1, best, LARGE)->ms;
    snprintf(because, bytes, "n = %d: k = 1, which is Gauss, %.4g ms; k = %llu %.4g ms", LARGE, one,
             (unsigned long long)best, k);
    return k * 3 < one;
}

static bool fails_on_gpu(const struct results *results, char *because, size_t bytes)
{
    return fails_as_expected(results, LARGE, because, bytes);
}

static bool surplus_faster(const struct results *results, char *because, size_t bytes)
{
    double all = ladder_row(results, 1, SURPLUS_K, LARGE)->ms;
    double some = ladder_row(results, 2, 24, LARGE)->ms;
    snprintf(because, bytes, "n = %d, k = 8: %.4g ms against %.4g ms", LARGE, some, all);
    return some < all;
}

/* Eight times the work from n to 2 n. */
static bool cubic(const struct results *results, char *because, size_t bytes)
{
    const struct result *half = ladder_row(results, 3, 0, VAST / 2);
    const struct result *whole = ladder_row(results, 3, 0, VAST);
    if (!half || !whole) return false;
    snprintf(because, bytes, "four tables, n = %d: %.4g ms; n = %d: %.4g ms, %.3g times as long",
             VAST / 2, half->ms, VAST, whole->ms, whole->ms / half->ms);
    return whole->ms > 6 * half->ms && whole->ms < 10 * half->ms;
}

static bool more_tables(const struct results *results, char *because, size_t bytes)
{
    uint64_t best = best_k(results, LARGE);
    double one = ladder_row(results, 1, best, LARGE)->ms;
    double four = ladder_row(results, 3, 0, LARGE)->ms;
    snprintf(because, bytes, "n = %d: %.4g ms with four tables, %.4g ms with k = %llu", LARGE, four,
             one, (unsigned long long)best);
    return four < one;
}

static bool tensor_wins(const struct results *results, char *because, size_t bytes)
{
    double tensor = ladder_row(results, 4, 0, LARGE)->ms;
    double four = ladder_row(results, 3, 0, LARGE)->ms;
    snprintf(because, bytes, "n = %d: %.4g ms against %.4g ms; production: %.4g ms", LARGE, tensor,
             four, ladder_row(results, 5, 0, LARGE)->ms);
    return tensor < four;
}

static const struct claim claims[] = {
    { .text = "k columns per pass take 3 n / k launches", .holds = launches },
    { .text = "More columns per pass store less", .holds = fewer_stores },
    { .text = "A panel of k + m rows fails with a probability of about 2^-m",
      .holds = fails_on_simt },
    { .text = "A panel by one warp has less than a quarter of the barriers",
      .holds = fewer_barriers },
    { .text = "A panel of k + m rows fails with a probability of about 2^-m, in a large matrix",
      .of_gpu = true,
      .holds = fails_on_gpu },
    { .text = "A panel of 32 rows by one warp is faster than a search by a block",
      .of_gpu = true,
      .holds = surplus_faster },
    { .text = "Twice the size takes eight times as long, up to n = 2^17",
      .of_gpu = true,
      .holds = cubic },
    { .text = "The best k grows with the matrix", .of_gpu = true, .holds = best_k_grows },
    { .text = "M4R is more than three times as fast as Gauss",
      .of_gpu = true,
      .holds = beats_gauss },
    { .text = "Several tables per pass are faster than the best single table",
      .of_gpu = true,
      .holds = more_tables },
    { .text = "Tensor cores are faster than the tables", .of_gpu = true, .holds = tensor_wins },
};

static const uint64_t checked[] = { 0, 1, 2, 31, 33, 64, 65, 100, 129, 300, LADDER_END };
static const uint64_t counted[] = { 256, LADDER_END };
static const uint64_t timed[] = { SMALL, 4096, LARGE, 32768, 65536, VAST, LADDER_END };

const struct ladder gf2_m4ri_ladder = { .name = "gf2_m4ri",
                                        .summary = "reduced echelon form over GF(2), by M4R",
                                        .types = "u32",
                                        .unit = "rows",
                                        .ceiling = CEILING_NONE,
                                        .rungs = rungs,
                                        .rung_count = sizeof rungs / sizeof *rungs,
                                        .claims = claims,
                                        .claim_count = sizeof claims / sizeof *claims,
                                        .checked = checked,
                                        .counted = counted,
                                        .timed = timed,
                                        .shape = shape,
                                        .make = ladder_make_bits,
                                        .expect = ladder_expect_reduced };
