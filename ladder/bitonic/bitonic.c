/*
 * bitonic.c - the ladder of bitonic sorts: a fixed pattern of comparisons, independent of the data.
 *
 * A sort of n = 2^m keys has m merges, the k-th of k steps.  For other n, elements past the end
 * count as larger than all keys, so no step moves them.  Only the row with alternating directions
 * needs a power of two; it sorts a padded copy.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.h"

#include <stdio.h>

enum { TILE = 1024, THREADS = 256, ALTERNATING = 1 /* a parameter of rung 1 */ };

/* n = 2^m or less. */
static uint64_t merges_of(uint64_t n)
{
    uint64_t m = 0;
    while ((uint64_t)1 << m < n) m++;
    return m;
}

static void shape(struct trial *trial)
{
    ladder_shape_keys(trial);
    if (trial->rung->parameter == ALTERNATING)
        trial->scratch_bytes = trial->element_bytes << merges_of(trial->n);
}

/* ---- Rungs ---- */

static void copy_to_out(struct trial *trial)
{
    ladder_copy(trial, trial->out, trial->in, trial->in_bytes);
}

/* One step in global memory, one thread per pair. */
static void step(struct trial *trial, uint64_t half, uint64_t flip)
{
    uint64_t blocks = ladder_ceil(ladder_ceil(trial->n, 2 * half) * half, THREADS);
    LAUNCH(trial, "bitonic_1", blocks, THREADS, 0, &trial->out, &trial->n, &half, &flip);
}

static void run_1(struct trial *trial)
{
    copy_to_out(trial);
    for (uint64_t half = 1; half < trial->n; half *= 2) {
        step(trial, half, 2 * half - 1);
        for (uint64_t near = half / 2; near > 0; near /= 2) step(trial, near, near);
    }
}

/* The k-th merge sorts runs of `sorted` = 2^k keys, alternately ascending and descending. */
static void run_alternating(struct trial *trial)
{
    uint64_t padded = trial->n ? (uint64_t)1 << merges_of(trial->n) : 0;
    LAUNCH(trial, "bitonic_1_pad", ladder_ceil(padded, THREADS), THREADS, 0, &trial->in, &trial->n,
           &trial->scratch, &padded);
    for (uint64_t sorted = 2; sorted <= padded; sorted *= 2)
        for (uint64_t half = sorted / 2; half > 0; half /= 2)
            LAUNCH(trial, "bitonic_1_alternating", ladder_ceil(padded / 2, THREADS), THREADS, 0,
                   &trial->scratch, &padded, &half, &sorted);
    ladder_copy(trial, trial->out, trial->scratch, trial->out_bytes);
}

/* One kernel sorts tiles; later merges have wide steps as before, and one kernel for the others. */
static void by_tiles(struct trial *trial, const char *sort, const char *merge, unsigned threads)
{
    uint64_t tiles = ladder_ceil(trial->n, TILE);
    copy_to_out(trial);
    LAUNCH(trial, sort, tiles, threads, 0, &trial->out, &trial->n);
    for (uint64_t half = TILE; half < trial->n; half *= 2) {
        step(trial, half, 2 * half - 1);
        for (uint64_t near = half / 2; near >= TILE; near /= 2) step(trial, near, near);
        LAUNCH(trial, merge, tiles, threads, 0, &trial->out, &trial->n);
    }
}

static void run_2(struct trial *trial)
{
    by_tiles(trial, "bitonic_2_sort", "bitonic_2_merge", TILE / 2);
}

static void run_3(struct trial *trial)
{
    by_tiles(trial, "bitonic_3_sort", "bitonic_3_merge", TILE / 4);
}

static void run_production(struct trial *trial)
{
    ech_sort_options options = { .size = sizeof options, .order = ECH_ORDER_TOTAL };
    ladder_try(trial,
               ech_sort(trial->device->ctx, ladder_pointer(trial->in), ladder_pointer(trial->out),
                        (size_t)trial->n, trial->type, &options));
}

static const struct rung rungs[] = {
    { .number = 1, .idea = "global", .text = "one launch per half-cleaner", .run = run_1 },
    { .number = 1,
      .idea = "global",
      .text = "... in alternating directions",
      .parameter = ALTERNATING,
      .run = run_alternating },
    { .number = 2,
      .idea = "shared",
      .text = "steps within a block in shared memory",
      .run = run_2 },
    { .number = 3, .idea = "registers", .text = "steps within a warp by shuffles", .run = run_3 },
    { .number = 4, .idea = "production", .text = "production, ech_sort()", .run = run_production },
};

/* ---- Claims ---- */

/* Launches for n = 2^m: m (m + 1) / 2 steps; or one for the tiles, and k wide steps and one more
 * for the k-th merge beyond them. */
static bool launches_fall(const struct results *results, char *because, size_t bytes)
{
    const struct result *a = ladder_row(results, 1, 0, 0), *b = ladder_row(results, 2, 0, 0);
    uint64_t m = merges_of(a->n), beyond = m - merges_of(TILE);
    snprintf(because, bytes, "2^%llu keys: %llu launches, %llu with tiles", (unsigned long long)m,
             (unsigned long long)a->launches, (unsigned long long)b->launches);
    return a->launches == m * (m + 1) / 2 && b->launches == 1 + beyond * (beyond + 1) / 2 + beyond;
}

/* One more launch copies the keys. */
static bool same_steps(const struct results *results, char *because, size_t bytes)
{
    const struct result *one = ladder_row(results, 1, 0, 0);
    const struct result *alternating = ladder_row(results, 1, ALTERNATING, 0);
    uint64_t m = merges_of(one->n);
    snprintf(because, bytes, "2^%llu keys: %llu steps both; m squared is %llu",
             (unsigned long long)m, (unsigned long long)one->launches, (unsigned long long)(m * m));
    return alternating->right && alternating->launches == one->launches + 1 &&
           one->launches < m * m;
}

static double passes(const struct result *row)
{
    return (double)(row->counts.load_bytes + row->counts.store_bytes) / 4 / (double)row->n;
}

static bool traffic_falls(const struct results *results, char *because, size_t bytes)
{
    double a = passes(ladder_row(results, 1, 0, 0)), b = passes(ladder_row(results, 2, 0, 0));
    snprintf(because, bytes, "words loaded and stored per key: %.1f, %.1f", a, b);
    return a > 5 * b;
}

/* Barriers: rung 2 a tile's 55 steps, a merge's ten, and the load; rung 3 six and three, twice. */
static bool barriers_fall(const struct results *results, char *because, size_t bytes)
{
    const struct result *a = ladder_row(results, 2, 0, 0), *b = ladder_row(results, 3, 0, 0);
    uint64_t tiles = ladder_ceil(a->n, TILE), beyond = merges_of(a->n) - merges_of(TILE);
    snprintf(because, bytes, "barriers, counted once per warp: %llu, %llu",
             (unsigned long long)a->counts.barriers, (unsigned long long)b->counts.barriers);
    return a->counts.barriers == tiles * (TILE / 64) * (1 + 55 + beyond * (1 + 10)) &&
           b->counts.barriers == tiles * (TILE / 128) * 2 * (6 + beyond * 3);
}

/* Steps 1, 2, 4, 8, 16 apart take two wavefronts per access of a warp; so does a flip of 2, 4, ...
 * 32 keys.  These are 40 of the 55 steps of a tile, 5 of the 10 of a merge.  Each reads two words;
 * the number of writes depends on the keys, so the total is two to four times the reads. */
static bool conflicts_vanish(const struct results *results, char *because, size_t bytes)
{
    const struct result *a = ladder_row(results, 2, 0, 0), *b = ladder_row(results, 3, 0, 0);
    uint64_t tiles = ladder_ceil(a->n, TILE), beyond = merges_of(a->n) - merges_of(TILE);
    uint64_t reads = tiles * (TILE / 64) * 2 * (40 + beyond * 5);
    snprintf(because, bytes, "%llu conflicts, of which %llu when reading; then %llu",
             (unsigned long long)a->counts.bank_conflicts, (unsigned long long)reads,
             (unsigned long long)b->counts.bank_conflicts);
    return a->counts.bank_conflicts > reads && a->counts.bank_conflicts <= 2 * reads &&
           b->counts.bank_conflicts == 0;
}

static bool shared_faster(const struct results *results, char *because, size_t bytes)
{
    return ladder_ratio(ladder_row(results, 1, 0, 0), ladder_row(results, 2, 0, 0), 2, 1e9, because,
                        bytes);
}

static bool registers_faster(const struct results *results, char *because, size_t bytes)
{
    return ladder_ratio(ladder_row(results, 2, 0, 0), ladder_row(results, 3, 0, 0), 1, 1e9, because,
                        bytes);
}

static bool radix_faster(const struct results *results, char *because, size_t bytes)
{
    return ladder_ratio(ladder_row(results, 3, 0, 0), ladder_row(results, 4, 0, 0), 10, 1e9,
                        because, bytes);
}

static const struct claim claims[] = {
    { .text =
          "m (m + 1) / 2 launches sort 2^m keys; with tiles in shared memory only the wide steps "
          "remain",
      .holds = launches_fall },
    { .text = "Alternating directions take as many steps as one direction: fewer than m * m",
      .holds = same_steps },
    { .text = "With tiles less than a fifth of the words are moved", .holds = traffic_falls },
    { .text = "With shuffles 12 of the 56 barriers of a tile remain", .holds = barriers_fall },
    { .text = "Steps within a warp take two wavefronts in shared memory, none by shuffles",
      .holds = conflicts_vanish },
    { .text = "Tiles in shared memory are twice as fast", .of_gpu = true, .holds = shared_faster },
    { .text = "Shuffles are faster still", .of_gpu = true, .holds = registers_faster },
    { .text = "The library's radix sort is ten times as fast as the best rung",
      .of_gpu = true,
      .holds = radix_faster },
};

static const uint64_t checked[] = { 0,   1,    2,    3,    5,    31,   33,        128,
                                    257, 1000, 1023, 1025, 2048, 3001, LADDER_END };
static const uint64_t counted[] = { 1 << 12, LADDER_END };
static const uint64_t timed[] = { 1 << 24, 1 << 16, LADDER_END };

const struct ladder bitonic_ladder = { .name = "bitonic",
                                       .summary = "bitonic sort",
                                       .types = "u32 i32 f32",
                                       .unit = "keys",
                                       .takes_input = true,
                                       .out_type = LADDER_SAME,
                                       .ceiling = CEILING_MEMORY,
                                       .rungs = rungs,
                                       .rung_count = sizeof rungs / sizeof *rungs,
                                       .claims = claims,
                                       .claim_count = sizeof claims / sizeof *claims,
                                       .checked = checked,
                                       .counted = counted,
                                       .timed = timed,
                                       .shape = shape,
                                       .make = ladder_make_keys,
                                       .expect = ladder_expect_sorted };
