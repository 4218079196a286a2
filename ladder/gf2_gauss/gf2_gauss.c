/*
 * gf2_gauss.c - the ladder of Gaussian elimination over GF(2): the echelon form of an n x n matrix
 * of bits (rung 1), or its reduced echelon form.
 *
 * The reduced form is unique.  Rung 1 is checked against it: its rows must have their first ones in
 * the same columns, and each must be a linear combination of the rows of the reduced form.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 256, LANES = 32, PANEL = 32, STATE_BYTES = 4 * (2 + PANEL + PANEL) };
enum { SHRINKING = 0, FIXED = 1 }; /* the grid of rung 1 */

static void shape(struct trial *trial)
{
    ladder_shape_bits(trial);
    /* For the panel: its state, the linear combination of each row, a copy of the pivot rows. */
    trial->p[1] = STATE_BYTES;
    trial->p[2] = trial->p[1] + 4 * trial->n;
    trial->scratch_bytes = trial->p[2] + PANEL * 4 * trial->p[0];
}

/* ---- The check of an echelon form ---- */

/* The column of a row's first one; 64 * stride if it has none. */
static uint64_t first_one(const uint64_t *row, uint64_t stride)
{
    uint64_t j = 0;
    while (j < stride && row[j] == 0) j++;
    return 64 * j + (j < stride ? (uint64_t)__builtin_ctzll(row[j]) : 0);
}

/* The product of a row and a matrix of 64 columns, one word per column of the row. */
static uint64_t product(const uint64_t *row, uint64_t stride, const uint64_t *with)
{
    uint64_t sum = 0;
    for (uint64_t j = 0; j < stride; j++)
        for (uint64_t left = row[j]; left; left &= left - 1)
            sum ^= with[64 * j + (uint64_t)__builtin_ctzll(left)];
    return sum;
}

/* A row of the echelon form has ones in pivot columns; the sum of the rows of the reduced form with
 * these pivots must be that row.  Both are compared by their products with 64 random vectors, which
 * misses a difference with a probability of 2^-64.  of_pivot: such a product per pivot column. */
static bool is_combination(const struct trial *trial, uint64_t i, const uint64_t *random,
                           const uint64_t *of_pivot)
{
    uint64_t stride = trial->p[0] / 2;
    const uint64_t *row = (const uint64_t *)trial->host_out + i * stride;
    return product(row, stride, random) == product(row, stride, of_pivot);
}

static bool accept_echelon(const struct trial *trial, char *message, size_t bytes)
{
    uint64_t stride = trial->p[0] / 2, columns = 64 * stride;
    const uint64_t *out = trial->host_out, *reduced = trial->expected;
    uint64_t *random = calloc((size_t)(2 * columns + 1), sizeof *random);
    uint64_t *of_pivot = random ? random + columns : NULL;
    bool right = random != NULL;
    if (!random) snprintf(message, bytes, "out of memory for the check");
    for (uint64_t c = 0; right && c < columns; c++) random[c] = ladder_random(trial->seed + 64, c);
    for (uint64_t i = 0; right && i < trial->n; i++) {
        uint64_t pivot = first_one(reduced + i * stride, stride);
        uint64_t found = first_one(out + i * stride, stride);
        if (pivot < columns) of_pivot[pivot] = product(reduced + i * stride, stride, random);
        right = pivot == found;
        if (!right)
            snprintf(message, bytes, "row %llu has its first one in column %llu, not %llu",
                     (unsigned long long)i, (unsigned long long)found, (unsigned long long)pivot);
    }
    for (uint64_t i = 0; right && i < trial->n; i++) {
        right = is_combination(trial, i, random, of_pivot);
        if (!right)
            snprintf(message, bytes, "row %llu is not a linear combination of the expected rows",
                     (unsigned long long)i);
    }
    free(random);
    return right;
}

static bool accept(const struct trial *trial, char *message, size_t bytes)
{
    const unsigned char *out = trial->host_out, *expected = trial->expected;
    size_t i = 0;
    if (trial->rung->number == 1) return accept_echelon(trial, message, bytes);
    if (memcmp(out, expected, trial->out_bytes) == 0) return true;
    while (out[i] == expected[i]) i++;
    snprintf(message, bytes, "byte %zu of %zu differs from the oracle's result", i,
             trial->out_bytes);
    return false;
}

/* ---- Rungs ---- */

/* Threads per row: one per remaining word, at most LANES. */
static uint32_t lanes_for(uint64_t words)
{
    uint32_t lanes = 1;
    while (lanes < words && lanes < LANES) lanes *= 2;
    return lanes;
}

/* Column by column.  The number of finished rows is read every 32 columns, when a word of each row
 * is finished, too; the grid covers the rows and words that remained then. */
static void gauss(struct trial *trial, const char *add, bool below, bool fixed)
{
    uint64_t *stride = &trial->p[0], rows = trial->n;
    uint32_t lanes = LANES, state[2] = { 0, 0 };
    ladder_copy(trial, trial->out, trial->in, trial->in_bytes);
    ladder_zero(trial, trial->scratch, STATE_BYTES);
    for (uint64_t column = 0; column < trial->n && !trial->failed; column++) {
        if (column % 32 == 0 && !fixed) {
            if (below) ladder_download(trial, state, trial->scratch, sizeof state);
            rows = trial->n - state[0] - state[1];
            lanes = lanes_for(*stride - column / 32);
        }
        LAUNCH(trial, "gf2_gauss_1_find", 1, THREADS, 0, &trial->out, &trial->n, stride, &column,
               &trial->scratch);
        LAUNCH(trial, add, ladder_ceil(rows * lanes, THREADS), THREADS, 0, &trial->out, &trial->n,
               stride, &column, &lanes, &trial->scratch);
    }
}

static void run_1(struct trial *trial)
{
    gauss(trial, "gf2_gauss_1_add", true, trial->rung->parameter == FIXED);
}

static void run_2(struct trial *trial)
{
    gauss(trial, "gf2_gauss_2_add", false, false);
}

static void run_3(struct trial *trial)
{
    uint64_t *stride = &trial->p[0];
    CUdeviceptr state = trial->scratch, sums = state + trial->p[1], pivots = state + trial->p[2];
    uint32_t rows = trial->n < 4096 ? 64 : 256;
    ladder_copy(trial, trial->out, trial->in, trial->in_bytes);
    ladder_zero(trial, state, STATE_BYTES);
    for (uint64_t begin = 0; begin < trial->n; begin += PANEL) {
        uint32_t width = trial->n - begin < PANEL ? (uint32_t)(trial->n - begin) : PANEL;
        LAUNCH(trial, "gf2_gauss_3_panel", 1, THREADS, 0, &trial->out, &trial->n, stride, &begin,
               &width, &state);
        LAUNCH(trial, "gf2_gauss_3_sums", ladder_ceil(trial->n, THREADS), THREADS, 0, &trial->out,
               &trial->n, stride, &begin, &width, &state, &sums, &pivots);
        LAUNCH_2D(trial, "gf2_gauss_3_add", ladder_ceil(*stride - begin / 32, 32),
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
    { .number = 1,
      .idea = "echelon",
      .text = "echelon form, the grid shrinks",
      .parameter = SHRINKING,
      .run = run_1 },
    { .number = 1,
      .idea = "echelon",
      .text = "echelon form, always the first grid",
      .parameter = FIXED,
      .run = run_1 },
    { .number = 2, .idea = "reduced", .text = "reduced form, column by column", .run = run_2 },
    { .number = 3,
      .idea = "fused_panel",
      .text = "reduced form, a panel of 32 columns",
      .run = run_3 },
    { .number = 4,
      .idea = "production",
      .text = "production, ech_gf2_echelon()",
      .run = run_production },
};

/* ---- Claims ---- */

static const struct result *row_of(const struct results *results, int number, uint64_t grid)
{
    return ladder_row(results, number, grid, 0);
}

/* The blocks of the second kernel, over all columns; the first kernel has one block per column. */
static uint64_t blocks(const struct results *results, int number, uint64_t grid)
{
    const struct result *row = row_of(results, number, grid);
    return row->blocks - row->n;
}

/* If k rows are finished after k columns: the sum over columns of the blocks for n - k rows. */
static bool grid_shrinks(const struct results *results, char *because, size_t bytes)
{
    uint64_t n = row_of(results, 1, SHRINKING)->n, below = 0, all = 0;
    uint64_t first = n * ladder_ceil(LANES * n, THREADS);
    for (uint64_t column = 0; column < n; column += 32) {
        uint64_t lanes = lanes_for(2 * ladder_ceil(n, 64) - column / 32);
        below += 32 * ladder_ceil((n - column) * lanes, THREADS);
        all += 32 * ladder_ceil(n * lanes, THREADS);
    }
    snprintf(because, bytes, "n = %llu: %llu blocks; with the first grid %llu; reduced form %llu",
             (unsigned long long)n, (unsigned long long)blocks(results, 1, SHRINKING),
             (unsigned long long)blocks(results, 1, FIXED),
             (unsigned long long)blocks(results, 2, 0));
    /* A column without a pivot leaves one more row; few columns have none. */
    return blocks(results, 1, FIXED) == first && blocks(results, 2, 0) == all &&
           blocks(results, 1, SHRINKING) >= below && blocks(results, 1, SHRINKING) < all;
}

/* n^3 / 3 and n^3 / 2 bits, up to the rounding to words. */
static bool echelon_stores(const struct results *results, char *because, size_t bytes)
{
    uint64_t echelon = row_of(results, 1, SHRINKING)->counts.store_bytes;
    uint64_t reduced = row_of(results, 2, 0)->counts.store_bytes;
    double part = (double)echelon / (double)reduced;
    snprintf(because, bytes, "%llu bytes stored against %llu: %.2f of them",
             (unsigned long long)echelon, (unsigned long long)reduced, part);
    return part > 0.6 && part < 0.72;
}

static bool launches(const struct results *results, char *because, size_t bytes)
{
    const struct result *columns = row_of(results, 2, 0), *panels = row_of(results, 3, 0);
    snprintf(because, bytes, "n = %llu: %llu launches against %llu", (unsigned long long)columns->n,
             (unsigned long long)columns->launches, (unsigned long long)panels->launches);
    return columns->launches == 2 * columns->n &&
           panels->launches == 3 * ladder_ceil(panels->n, PANEL);
}

static bool fewer_stores(const struct results *results, char *because, size_t bytes)
{
    uint64_t columns = row_of(results, 2, 0)->counts.store_sectors;
    uint64_t panels = row_of(results, 3, 0)->counts.store_sectors;
    snprintf(because, bytes, "%llu sectors stored against %llu", (unsigned long long)columns,
             (unsigned long long)panels);
    return 4 * panels < columns;
}

enum { LARGE = 16384 };

static double ms_of(const struct results *results, int number, uint64_t grid, uint64_t n)
{
    return ladder_row(results, number, grid, n)->ms;
}

static bool shrinking_faster(const struct results *results, char *because, size_t bytes)
{
    double shrinks = ms_of(results, 1, SHRINKING, LARGE), fixed = ms_of(results, 1, FIXED, LARGE);
    snprintf(because, bytes, "n = %d: %.4g ms, with the first grid %.4g ms", LARGE, shrinks, fixed);
    return shrinks < fixed;
}

static bool echelon_faster(const struct results *results, char *because, size_t bytes)
{
    double echelon = ms_of(results, 1, SHRINKING, LARGE), reduced = ms_of(results, 2, 0, LARGE);
    snprintf(because, bytes, "n = %d: %.4g ms against %.4g ms: %.2f of it", LARGE, echelon, reduced,
             echelon / reduced);
    return echelon < 0.75 * reduced;
}

static bool panel_faster(const struct results *results, char *because, size_t bytes)
{
    double columns = ms_of(results, 2, 0, LARGE), panels = ms_of(results, 3, 0, LARGE);
    snprintf(because, bytes, "n = %d: %.4g ms against %.4g ms; production: %.4g ms", LARGE, panels,
             columns, ms_of(results, 4, 0, LARGE));
    return panels < columns;
}

static bool cubic(const struct results *results, char *because, size_t bytes)
{
    double half = ms_of(results, 2, 0, LARGE / 2), whole = ms_of(results, 2, 0, LARGE);
    snprintf(because, bytes, "n = %d: %.4g ms; n = %d: %.4g ms, %.3g times as long", LARGE / 2,
             half, LARGE, whole, whole / half);
    return whole > 6 * half;
}

static const struct claim claims[] = {
    { .text = "The grid shrinks with the rows and words that remain", .holds = grid_shrinks },
    { .text = "The echelon form stores about two thirds of the bytes of the reduced form",
      .holds = echelon_stores },
    { .text = "Column by column takes 2 n launches, panels of 32 columns 3 n / 32",
      .holds = launches },
    { .text = "With panels less than a quarter of the sectors are stored", .holds = fewer_stores },
    { .text = "A grid that shrinks is faster than one that does not",
      .of_gpu = true,
      .holds = shrinking_faster },
    { .text = "The echelon form takes less than three quarters of the time of the reduced form",
      .of_gpu = true,
      .holds = echelon_faster },
    { .text = "The fused panel is faster than two kernels per column",
      .of_gpu = true,
      .holds = panel_faster },
    { .text = "Gaussian elimination takes n^3 operations: twice the size takes eight times as long",
      .of_gpu = true,
      .holds = cubic },
};

static const uint64_t checked[] = { 0, 1, 2, 31, 32, 33, 63, 64, 65, 100, 129, LADDER_END };
static const uint64_t counted[] = { 256, LADDER_END };
static const uint64_t timed[] = { 1024, 2048, 4096, LARGE / 2, LARGE, LADDER_END };

const struct ladder gf2_gauss_ladder = { .name = "gf2_gauss",
                                         .summary = "echelon form over GF(2), by Gauss",
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
                                         .expect = ladder_expect_reduced,
                                         .accept = accept };
