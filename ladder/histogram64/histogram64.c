/*
 * histogram64.c - the ladder of histograms with 64 bins: the counts of the upper six bits of n
 * bytes.
 *
 * The parameter of a rung is the distribution of the bytes: RANDOM, or ALIKE (all equal).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.h"

#include <stdio.h>
#include <string.h>

enum {
    BINS = 64,
    THREADS = 64,
    TILE = 64 * 63 * 4,
    ATOMIC_THREADS = 256,
    MERGE_THREADS = 256,
    TILES_AT_ONCE = 32 /* per multiprocessor */
};
enum { RANDOM = 0, ALIKE = 1 };

static void shape(struct trial *trial)
{
    trial->in_bytes = trial->n;
    trial->out_bytes = BINS * sizeof(uint64_t);
    trial->scratch_bytes = ladder_ceil(trial->n, TILE) * BINS * sizeof(uint64_t); /* tables */
}

static void make(struct trial *trial)
{
    ladder_make_bytes(trial, trial->rung->parameter == ALIKE);
}

static void expect(struct trial *trial)
{
    const uint8_t *bytes = trial->host_in;
    uint64_t *bins = trial->expected;
    memset(bins, 0, trial->out_bytes);
    for (uint64_t i = 0; i < trial->n; i++) bins[bytes[i] >> 2]++;
}

/* ---- Rungs ---- */

/* One block per piece, but at most `each` per multiprocessor. */
static uint64_t blocks_for(const struct trial *trial, uint64_t piece, uint64_t each)
{
    uint64_t blocks = ladder_ceil(trial->n, piece);
    uint64_t most = each * (uint64_t)trial->device->multiprocessors;
    return blocks < most ? blocks : most;
}

/* The blocks store tables, which the second kernel adds up. */
static void count_and_merge(struct trial *trial, const char *kernel)
{
    uint64_t blocks = blocks_for(trial, TILE, TILES_AT_ONCE);
    if (blocks == 0) ladder_zero(trial, trial->out, trial->out_bytes);
    LAUNCH(trial, kernel, blocks, THREADS, 0, &trial->in, &trial->n, &trial->scratch);
    LAUNCH(trial, "histogram64_merge", blocks ? BINS : 0, MERGE_THREADS, 0, &trial->scratch,
           &blocks, &trial->out);
}

/* The blocks add to the bins. */
static void count(struct trial *trial, const char *kernel, unsigned threads, uint64_t blocks)
{
    ladder_zero(trial, trial->out, trial->out_bytes);
    LAUNCH(trial, kernel, blocks, threads, 0, &trial->in, &trial->n, &trial->out);
}

static void run_1(struct trial *trial)
{
    count_and_merge(trial, "histogram64_1");
}

static void run_2(struct trial *trial)
{
    count_and_merge(trial, "histogram64_2");
}

static void run_3(struct trial *trial)
{
    count_and_merge(trial, "histogram64_3");
}

static void run_4(struct trial *trial)
{
    count(trial, "histogram64_4", THREADS, blocks_for(trial, TILE, TILES_AT_ONCE));
}

static void run_5(struct trial *trial)
{
    count(trial, "histogram64_5", THREADS, blocks_for(trial, TILE, TILES_AT_ONCE));
}

static void run_6(struct trial *trial)
{
    count(trial, "histogram64_6", ATOMIC_THREADS, blocks_for(trial, 16 * ATOMIC_THREADS, 8));
}

static void run_production(struct trial *trial)
{
    ladder_try(trial, ech_histogram(trial->device->ctx, ladder_pointer(trial->in),
                                    ladder_pointer(trial->out), (size_t)trial->n, ECH_U8, BINS, 0,
                                    256, NULL));
}

#define RUNG(n, name, words, function)                                                             \
    { .number = n, .idea = name, .text = words, .parameter = RANDOM, .run = function },            \
    {                                                                                              \
        .number = n, .idea = name, .text = words " (all equal)", .parameter = ALIKE,               \
        .own_data = true, .run = function                                                          \
    }

static const struct rung rungs[] = {
    RUNG(1, "by_thread", "64 thread + value", run_1),
    RUNG(2, "by_value", "64 value + thread", run_2),
    RUNG(3, "permuted", "permuted for 16 banks", run_3),
    RUNG(4, "global_atomics", "the same, global atomics", run_4),
    RUNG(5, "permuted_32", "permuted for 32 banks", run_5),
    RUNG(6, "atomics", "shared atomics", run_6),
    RUNG(7, "production", "production, ech_histogram()", run_production),
};

/* ---- Claims ---- */

static const struct result *row_of(const struct results *results, int number, uint64_t bytes_are)
{
    return ladder_row(results, number, bytes_are, 0);
}

/* Accesses of half warps to counters: one read and one write per value. */
static uint64_t half_accesses(const struct results *results)
{
    return row_of(results, 1, RANDOM)->n / 16 * 2;
}

static uint64_t old_conflicts(const struct results *results, int number, uint64_t bytes_are)
{
    return row_of(results, number, bytes_are)->counts.bank16_conflicts;
}

static uint64_t conflicts(const struct results *results, int number, uint64_t bytes_are)
{
    return row_of(results, number, bytes_are)->counts.bank_conflicts;
}

/* The counters of threads t ... t + 3 are in one word, so a half warp uses four banks: three excess
 * wavefronts per access, for any values. */
static bool four_way(const struct results *results, char *because, size_t bytes)
{
    uint64_t a = old_conflicts(results, 2, RANDOM), b = old_conflicts(results, 3, RANDOM);
    uint64_t accesses = half_accesses(results);
    snprintf(because, bytes, "on 16 banks %llu and %llu conflicts in %llu accesses of half warps",
             (unsigned long long)a, (unsigned long long)b, (unsigned long long)accesses);
    return a == 3 * accesses && old_conflicts(results, 2, ALIKE) == a && b == 0 &&
           old_conflicts(results, 3, ALIKE) == 0;
}

/* A half warp in one bank: 15 excess wavefronts.  In the sums, 16 threads read adjacent bytes of
 * four banks: three more for each of 64 reads of 4 half warps per tile. */
static bool sixteen_way(const struct results *results, char *because, size_t bytes)
{
    uint64_t random = old_conflicts(results, 1, RANDOM), alike = old_conflicts(results, 1, ALIKE);
    uint64_t sums = row_of(results, 1, ALIKE)->n / TILE * 64 * 4 * 3;
    snprintf(because, bytes,
             "on 16 banks %llu conflicts for random values, %llu if all values are equal",
             (unsigned long long)random, (unsigned long long)alike);
    return alike == 15 * half_accesses(results) + sums && random < alike / 3;
}

static bool two_way_today(const struct results *results, char *because, size_t bytes)
{
    uint64_t old = conflicts(results, 3, RANDOM), ours = conflicts(results, 5, RANDOM);
    uint64_t accesses = half_accesses(results) / 2;
    snprintf(because, bytes, "on 32 banks %llu conflicts in %llu accesses; permuted for them: %llu",
             (unsigned long long)old, (unsigned long long)accesses, (unsigned long long)ours);
    return old > accesses / 2 && old <= accesses && ours == 0 &&
           conflicts(results, 5, ALIKE) == 0 && old_conflicts(results, 5, RANDOM) == 0;
}

/* Rung 3 stores 64 sums of 8 bytes per block, and its second launch 64 bins. */
static bool merged(const struct results *results, char *because, size_t bytes)
{
    const struct result *tables = row_of(results, 3, RANDOM), *atomics = row_of(results, 4, RANDOM);
    uint64_t blocks = atomics->blocks;
    snprintf(because, bytes,
             "%llu blocks: %llu bytes stored and no atomics; %llu bytes, %llu atomics",
             (unsigned long long)blocks, (unsigned long long)tables->counts.store_bytes,
             (unsigned long long)atomics->counts.store_bytes,
             (unsigned long long)atomics->counts.atomic_requests);
    return tables->blocks == blocks + BINS && tables->counts.atomic_requests == 0 &&
           tables->counts.store_bytes == 8 * BINS * (blocks + 1) &&
           atomics->counts.store_bytes == 0 &&
           atomics->counts.atomic_requests == blocks * BINS / 32;
}

static bool lanes_of_a_word(const struct results *results, char *because, size_t bytes)
{
    const struct simt_counts *r = &row_of(results, 6, RANDOM)->counts;
    const struct simt_counts *a = &row_of(results, 6, ALIKE)->counts;
    double random = (double)r->shared_atomic_wavefronts / (double)r->shared_atomics;
    double alike = (double)a->shared_atomic_wavefronts / (double)a->shared_atomics;
    snprintf(because, bytes, "maximum of lanes per bank, on average: %.2f for random values, %.2f",
             random, alike);
    return alike > 31 && alike <= 32 && random < 8;
}

static bool permuted_faster(const struct results *results, char *because, size_t bytes)
{
    return ladder_ratio(row_of(results, 2, RANDOM), row_of(results, 3, RANDOM), 1.05, 1e9, because,
                        bytes);
}

static bool permuted_32_faster(const struct results *results, char *because, size_t bytes)
{
    return ladder_ratio(row_of(results, 4, RANDOM), row_of(results, 5, RANDOM), 1.05, 1e9, because,
                        bytes);
}

static bool any_data(const struct results *results, char *because, size_t bytes)
{
    return ladder_ratio(row_of(results, 5, ALIKE), row_of(results, 5, RANDOM), 0.9, 1.1, because,
                        bytes);
}

static bool alike_slower(const struct results *results, char *because, size_t bytes)
{
    return ladder_ratio(row_of(results, 6, ALIKE), row_of(results, 6, RANDOM), 1.1, 1e9, because,
                        bytes);
}

static bool atomics_slower(const struct results *results, char *because, size_t bytes)
{
    return ladder_ratio(row_of(results, 6, ALIKE), row_of(results, 5, ALIKE), 1, 1e9, because,
                        bytes);
}

static bool atomics_end_faster(const struct results *results, char *because, size_t bytes)
{
    return ladder_ratio(row_of(results, 3, RANDOM), row_of(results, 4, RANDOM), 1, 1e9, because,
                        bytes);
}

static const struct claim claims[] = {
    { .text = "64 value + thread conflicts 4-way with 16 banks; permuted it has no conflicts",
      .holds = four_way },
    { .text = "The conflicts of 64 thread + value depend on the values, up to 16-way",
      .holds = sixteen_way },
    { .text = "With today's 32 banks that permutation conflicts 2-way; rung 5 has no conflicts",
      .holds = two_way_today },
    { .text = "Merged tables need a second launch, global atomics need no tables",
      .holds = merged },
    { .text = "If all values are equal, the 32 lanes of an atomic access one word",
      .holds = lanes_of_a_word },
    { .text = "Permuted is faster than unpermuted", .of_gpu = true, .holds = permuted_faster },
    { .text = "Global atomics are faster than tables that a second kernel merges",
      .of_gpu = true,
      .holds = atomics_end_faster },
    { .text = "Permuted for 32 banks is faster still",
      .of_gpu = true,
      .holds = permuted_32_faster },
    { .text = "A privatised histogram takes the same time for any values",
      .of_gpu = true,
      .holds = any_data },
    { .text = "Atomics take longer if all values are equal",
      .of_gpu = true,
      .holds = alike_slower },
    { .text = "Atomics are slower than a privatised histogram if all values are equal",
      .of_gpu = true,
      .holds = atomics_slower },
};

static const uint64_t checked[] = { 0,   1,    2,    3,     4,     5,     63,        255,
                                    256, 1001, 4095, 16127, 16128, 16129, LADDER_END };
static const uint64_t counted[] = { 2 * TILE, LADDER_END }; /* whole tiles */
static const uint64_t timed[] = { 1 << 28, LADDER_END };

const struct ladder histogram64_ladder = { .name = "histogram64",
                                           .summary = "a histogram of 64 bins",
                                           .types = "u8",
                                           .unit = "bytes",
                                           .takes_input = true,
                                           .out_type = ECH_U64,
                                           .ceiling = CEILING_MEMORY,
                                           .rungs = rungs,
                                           .rung_count = sizeof rungs / sizeof *rungs,
                                           .claims = claims,
                                           .claim_count = sizeof claims / sizeof *claims,
                                           .checked = checked,
                                           .counted = counted,
                                           .timed = timed,
                                           .shape = shape,
                                           .make = make,
                                           .expect = expect };
