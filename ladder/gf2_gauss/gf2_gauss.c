/*
 * gf2_gauss.c - the ladder of Gaussian elimination over GF(2): the reduced echelon form of an n x n
 * matrix of bits, column by column.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.h"

#include <stdio.h>
#include <string.h>

enum { THREADS = 256, PANEL = 32, STATE_BYTES = 4 * (2 + PANEL + PANEL) };

static void shape(struct trial *trial)
{
    ladder_shape_bits(trial);
    /* For the panel: its state, the linear combination of each row, a copy of the pivot rows. */
    trial->p[1] = STATE_BYTES;
    trial->p[2] = trial->p[1] + 4 * trial->n;
    trial->scratch_bytes = trial->p[2] + PANEL * 4 * trial->p[0];
}

/* ---- Rungs ---- */

static void run_1(struct trial *trial)
{
    uint64_t *stride = &trial->p[0];
    ladder_copy(trial, trial->out, trial->in, trial->in_bytes);
    ladder_zero(trial, trial->scratch, STATE_BYTES);
    for (uint64_t column = 0; column < trial->n; column++) {
        LAUNCH(trial, "gf2_gauss_1_find", 1, THREADS, 0, &trial->out, &trial->n, stride, &column,
               &trial->scratch);
        LAUNCH(trial, "gf2_gauss_1_add", ladder_ceil(32 * trial->n, THREADS), THREADS, 0,
               &trial->out, &trial->n, stride, &column, &trial->scratch);
    }
}

static void run_2(struct trial *trial)
{
    uint64_t *stride = &trial->p[0];
    CUdeviceptr state = trial->scratch, sums = state + trial->p[1], pivots = state + trial->p[2];
    uint32_t rows = trial->n < 4096 ? 64 : 256;
    ladder_copy(trial, trial->out, trial->in, trial->in_bytes);
    ladder_zero(trial, state, STATE_BYTES);
    for (uint64_t begin = 0; begin < trial->n; begin += PANEL) {
        uint32_t width = trial->n - begin < PANEL ? (uint32_t)(trial->n - begin) : PANEL;
        LAUNCH(trial, "gf2_gauss_2_panel", 1, THREADS, 0, &trial->out, &trial->n, stride, &begin,
               &width, &state);
        LAUNCH(trial, "gf2_gauss_2_sums", ladder_ceil(trial->n, THREADS), THREADS, 0, &trial->out,
               &trial->n, stride, &begin, &width, &state, &sums, &pivots);
        LAUNCH_2D(trial, "gf2_gauss_2_add", ladder_ceil(*stride - begin / 32, 32),
                  ladder_ceil(trial->n, rows), THREADS, 1, 0, &trial->out, &trial->n, stride,
                  &begin, &rows, &state, &sums, &pivots);
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

static const struct rung rungs[] = {
    { .number = 1, .idea = "two_kernels", .text = "column by column", .run = run_1 },
    { .number = 2, .idea = "fused_panel", .text = "a panel of 32 columns", .run = run_2 },
    { .number = 3,
      .idea = "production",
      .text = "production, ech_gf2_echelon()",
      .run = run_production },
};

/* ---- Claims ---- */

static bool launches(const struct results *results, char *because, size_t bytes)
{
    const struct result *one = ladder_row(results, 1, 0, 0), *two = ladder_row(results, 2, 0, 0);
    snprintf(because, bytes, "n = %llu: %llu launches against %llu", (unsigned long long)one->n,
             (unsigned long long)one->launches, (unsigned long long)two->launches);
    return one->launches == 2 * one->n && two->launches == 3 * ladder_ceil(two->n, PANEL);
}

static bool fewer_stores(const struct results *results, char *because, size_t bytes)
{
    uint64_t one = ladder_row(results, 1, 0, 0)->counts.store_sectors;
    uint64_t two = ladder_row(results, 2, 0, 0)->counts.store_sectors;
    snprintf(because, bytes, "%llu sectors stored against %llu", (unsigned long long)one,
             (unsigned long long)two);
    return 4 * two < one;
}

enum { LARGE = 16384 };

static bool panel_faster(const struct results *results, char *because, size_t bytes)
{
    double one = ladder_row(results, 1, 0, LARGE)->ms, two = ladder_row(results, 2, 0, LARGE)->ms;
    snprintf(because, bytes, "n = %d: %.4g ms against %.4g ms; production: %.4g ms", LARGE, two,
             one, ladder_row(results, 3, 0, LARGE)->ms);
    return two < one;
}

static bool cubic(const struct results *results, char *because, size_t bytes)
{
    double half = ladder_row(results, 1, 0, LARGE / 2)->ms;
    double whole = ladder_row(results, 1, 0, LARGE)->ms;
    snprintf(because, bytes, "n = %d: %.4g ms; n = %d: %.4g ms, %.3g times as long", LARGE / 2,
             half, LARGE, whole, whole / half);
    return whole > 6 * half;
}

static const struct claim claims[] = {
    { .text = "Column by column takes 2 n launches, panels of 32 columns 3 n / 32",
      .holds = launches },
    { .text = "With panels less than a quarter of the sectors are stored", .holds = fewer_stores },
    { .text = "The fused panel is faster than two kernels per column",
      .of_gpu = true,
      .holds = panel_faster },
    { .text = "Gaussian elimination takes n^3 operations: twice the size takes eight times as long",
      .of_gpu = true,
      .holds = cubic },
};

static const uint64_t checked[] = { 0, 1, 2, 31, 32, 33, 63, 64, 65, 100, 129, LADDER_END };
static const uint64_t counted[] = { 128, LADDER_END };
static const uint64_t timed[] = { 1024, 2048, 4096, LARGE / 2, LARGE, LADDER_END };

const struct ladder gf2_gauss_ladder = { .name = "gf2_gauss",
                                         .summary = "reduced echelon form over GF(2), by Gauss",
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
