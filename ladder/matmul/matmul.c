/*
 * matmul.c - the ladder of matrix products: c = a b, n x n.
 *
 * The input contains a, b and the transpose of b, so that rungs that multiply by a transpose
 * compute the same c.  Sums may be computed in any order: each element may differ by the rounding
 * errors of n additions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LOOKED_AT = 256 /* up to this n every element is compared, then every 61st */ };

static void shape(struct trial *trial)
{
    trial->rows = trial->cols = trial->n;
    trial->out_bytes = trial->n * trial->n * trial->element_bytes;
    trial->in_bytes = 3 * trial->out_bytes;
}

/* An element of a (which is 0), b (1) or its transpose (2): in [-1, 1), a multiple of 2^-10. */
static double element_of(const struct trial *trial, unsigned which, uint64_t row, uint64_t column)
{
    uint64_t i = which == 2 ? column * trial->n + row : row * trial->n + column;
    uint64_t x = ladder_random(trial->seed, 2 * i + (which != 0));
    return (double)(x % 2048) / 1024 - 1;
}

static void make(struct trial *trial)
{
    uint64_t i = 0;
    for (unsigned which = 0; which < 3; which++)
        for (uint64_t row = 0; row < trial->n; row++)
            for (uint64_t column = 0; column < trial->n; column++, i++) {
                double x = element_of(trial, which, row, column);
                if (trial->type == ECH_F64)
                    ((double *)trial->host_in)[i] = x;
                else
                    ((float *)trial->host_in)[i] = (float)x;
            }
}

/* accept() computes the elements that it compares. */
static void expect(struct trial *trial)
{
    memset(trial->expected, 0, trial->out_bytes);
}

/* Products of such elements are multiples of 2^-20, so sums in double are exact. */
static bool accept(const struct trial *trial, char *message, size_t bytes)
{
    uint64_t n = trial->n, step = n > LOOKED_AT ? 61 : 1;
    double unit = trial->type == ECH_F32 ? 0x1p-24 : 0x1p-53;
    for (uint64_t i = 0; i < n * n; i += step) {
        double sum = 0, all = 0, got = ladder_number(trial->type, trial->host_out, i);
        for (uint64_t k = 0; k < n; k++) {
            uint64_t at = i / n * n + k, of_b = 2 * n * n + i % n * n + k;
            double x = trial->type == ECH_F32
                           ? (double)((float *)trial->host_in)[at] * ((float *)trial->host_in)[of_b]
                           : ((double *)trial->host_in)[at] * ((double *)trial->host_in)[of_b];
            sum += x;
            all += fabs(x);
        }
        if (fabs(got - sum) <= (double)n * unit * all) continue;
        snprintf(message, bytes, "element (%llu, %llu) is %.9g, not %.9g within %.3g",
                 (unsigned long long)(i / n), (unsigned long long)(i % n), got, sum,
                 (double)n * unit * all);
        return false;
    }
    return true;
}

static double operations(const struct trial *trial)
{
    return 2 * pow((double)trial->n, 3);
}

/* ---- Rungs ---- */

/* One block per tile of c; b or its transpose. */
static void squares(struct trial *trial, const char *kernel, uint64_t width, unsigned threads_x,
                    unsigned threads_y, bool transpose)
{
    CUdeviceptr a = trial->in, b = trial->in + (transpose ? 2 : 1) * trial->out_bytes;
    uint64_t blocks = ladder_ceil(trial->n, width);
    LAUNCH_2D(trial, kernel, blocks, blocks, threads_x, threads_y, 0, &a, &b, &trial->n,
              &trial->out);
}

static void run_1(struct trial *trial)
{
    squares(trial, "matmul_1", 16, 16, 16, false);
}

static void run_2(struct trial *trial)
{
    squares(trial, "matmul_2", 16, 16, 16, false);
}

static void run_3_or_4(struct trial *trial)
{
    char kernel[32];
    unsigned width = (unsigned)trial->rung->parameter;
    snprintf(kernel, sizeof kernel, "matmul_%d_%u", trial->rung->number, width);
    squares(trial, kernel, width, width, width, true);
}

static void run_5(struct trial *trial)
{
    squares(trial, "matmul_5", 128, 256, 1, false);
}

static void run_production(struct trial *trial)
{
    size_t n = (size_t)trial->n;
    ladder_try(trial, ech_matmul(trial->device->ctx, n, n, n, 1, ladder_pointer(trial->in), n,
                                 ladder_pointer(trial->in + trial->out_bytes), n, 0,
                                 ladder_pointer(trial->out), n, trial->type, NULL));
}

static const struct rung rungs[] = {
    { .number = 1, .idea = "naive", .text = "from global memory", .run = run_1 },
    { .number = 2, .idea = "tiles", .text = "tiles of 16 x 16", .run = run_2 },
    { .number = 3,
      .idea = "transposed",
      .text = "A B^T, tiles of 16 x 16",
      .parameter = 16,
      .run = run_3_or_4 },
    { .number = 3,
      .idea = "transposed",
      .text = "A B^T, tiles of 32 x 32",
      .parameter = 32,
      .run = run_3_or_4 },
    { .number = 4,
      .idea = "padded",
      .text = "A B^T, rows of 17",
      .parameter = 16,
      .run = run_3_or_4 },
    { .number = 4,
      .idea = "padded",
      .text = "A B^T, rows of 33",
      .parameter = 32,
      .run = run_3_or_4 },
    { .number = 5, .idea = "registers", .text = "8 x 8 elements per thread", .run = run_5 },
    { .number = 6,
      .idea = "production",
      .text = "production, ech_matmul()",
      .run = run_production },
};

/* ---- Claims ---- */

static const struct simt_counts *counts(const struct results *results, int number,
                                        uint64_t parameter)
{
    return &ladder_row(results, number, parameter, 0)->counts;
}

static bool fewer_loads(const struct results *results, char *because, size_t bytes)
{
    const struct simt_counts *one = counts(results, 1, 0), *two = counts(results, 2, 0);
    snprintf(because, bytes,
             "%llu loads of a warp against %llu, of %llu against %llu sectors: adjacent threads in "
             "a row of rung 1 share sectors",
             (unsigned long long)one->load_requests, (unsigned long long)two->load_requests,
             (unsigned long long)one->load_sectors, (unsigned long long)two->load_sectors);
    return one->load_requests == 16 * two->load_requests &&
           one->load_sectors == 8 * two->load_sectors;
}

/* For each k of a step a warp loads from both tiles: one or two words of a. */
static bool conflicts_16(const struct results *results, char *because, size_t bytes)
{
    uint64_t n = ladder_row(results, 3, 16, 0)->n, columns = n / 16;
    uint64_t loads = columns * columns * n * 8; /* loads from b: blocks, k, warps */
    const struct simt_counts *c = counts(results, 3, 16);
    snprintf(because, bytes,
             "a load of a warp takes %llu excess wavefronts with 16 banks, %llu with 32",
             (unsigned long long)(c->bank16_conflicts / loads),
             (unsigned long long)(c->bank_conflicts / loads));
    return c->bank16_conflicts == 2 * 15 * loads && c->bank_conflicts == 7 * loads;
}

static bool conflicts_32(const struct results *results, char *because, size_t bytes)
{
    uint64_t n = ladder_row(results, 3, 32, 0)->n, columns = n / 32;
    uint64_t loads = columns * columns * n * 32;
    const struct simt_counts *c = counts(results, 3, 32);
    snprintf(because, bytes,
             "a load of a warp takes %llu excess wavefronts with 16 banks, %llu with 32",
             (unsigned long long)(c->bank16_conflicts / loads),
             (unsigned long long)(c->bank_conflicts / loads));
    return c->bank16_conflicts == 2 * 15 * loads && c->bank_conflicts == 31 * loads;
}

static bool padded_none(const struct results *results, char *because, size_t bytes)
{
    const struct simt_counts *small = counts(results, 4, 16), *large = counts(results, 4, 32);
    snprintf(because, bytes, "rows of 17: %llu with 16 banks; rows of 33: %llu with 32",
             (unsigned long long)small->bank16_conflicts,
             (unsigned long long)large->bank_conflicts);
    return small->bank16_conflicts == 0 && large->bank_conflicts == 0;
}

enum { LARGE = 4096 };

static double ms_of(const struct results *results, int number, uint64_t parameter)
{
    return ladder_row(results, number, parameter, LARGE)->ms;
}

static bool twenty_times(const struct results *results, char *because, size_t bytes)
{
    double naive = ms_of(results, 1, 0), tiles = ms_of(results, 2, 0);
    snprintf(because, bytes,
             "n = %d: %.4g ms against %.4g ms: %.3g times as fast; the lecture: 2578 ms and 132 ms "
             "for an unknown n",
             LARGE, naive, tiles, naive / tiles);
    return naive > 15 * tiles;
}

static bool padding_pays(const struct results *results, char *because, size_t bytes)
{
    snprintf(because, bytes, "16 x 16: %.4g ms against %.4g ms; 32 x 32: %.4g ms against %.4g ms",
             ms_of(results, 3, 16), ms_of(results, 4, 16), ms_of(results, 3, 32),
             ms_of(results, 4, 32));
    return ms_of(results, 3, 16) > ms_of(results, 4, 16) &&
           ms_of(results, 3, 32) > ms_of(results, 4, 32);
}

static bool library_wins(const struct results *results, char *because, size_t bytes)
{
    double registers = ms_of(results, 5, 0), library = ms_of(results, 6, 0);
    snprintf(because, bytes, "n = %d: %.4g ms against %.4g ms of rung 5", LARGE, library,
             registers);
    return library < registers;
}

static const struct claim claims[] = {
    { .text = "Tiles of 16 x 16 need a sixteenth of the loads", .holds = fewer_loads },
    { .text = "A B^T in tiles of 16 x 16 conflicts 16-way with 16 banks, and 8-way with today's 32",
      .holds = conflicts_16 },
    { .text = "A B^T in tiles of 32 x 32 conflicts 32-way on today's banks",
      .holds = conflicts_32 },
    { .text = "With one element of padding per row, A B^T has no conflict", .holds = padded_none },
    { .text = "Tiles make the product more than fifteen times as fast",
      .of_gpu = true,
      .holds = twenty_times },
    { .text = "Padding makes A B^T faster", .of_gpu = true, .holds = padding_pays },
    { .text = "The vendor's library is faster than the best rung",
      .of_gpu = true,
      .holds = library_wins },
};

static const uint64_t checked[] = { 0, 1, 2, 15, 16, 17, 33, 65, 130, LADDER_END };
static const uint64_t counted[] = { 64, LADDER_END };
static const uint64_t timed[] = { 1024, LARGE, LADDER_END };

const struct ladder matmul_ladder = { .name = "matmul",
                                      .summary = "the product of two square matrices",
                                      .types = "f32 f64",
                                      .unit = "rows",
                                      .ceiling = CEILING_ARITHMETIC,
                                      .rungs = rungs,
                                      .rung_count = sizeof rungs / sizeof *rungs,
                                      .claims = claims,
                                      .claim_count = sizeof claims / sizeof *claims,
                                      .checked = checked,
                                      .counted = counted,
                                      .timed = timed,
                                      .shape = shape,
                                      .make = make,
                                      .expect = expect,
                                      .accept = accept,
                                      .operations = operations };
