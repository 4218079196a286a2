/*
 * histogram256.c - the ladder of histograms with 256 bins: the counts of n bytes.
 *
 * The parameter of a rung is the distribution of the bytes: RANDOM, or ALIKE (all equal).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.h"

#include <stdio.h>
#include <string.h>

enum { BINS = 256, WARPS = 6, ATOMIC_THREADS = 256, MERGE_THREADS = 256, PIECE = 4096 };
enum { RANDOM = 0, ALIKE = 1 };

static void shape(struct trial *trial)
{
    trial->in_bytes = trial->n;
    trial->out_bytes = BINS * sizeof(uint64_t);
    trial->scratch_bytes = ladder_ceil(trial->n, PIECE) * BINS * sizeof(uint32_t); /* tables */
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
    for (uint64_t i = 0; i < trial->n; i++) bins[bytes[i]]++;
}

/* ---- Rungs ---- */

/* One block per 4 KB, but at most eight per multiprocessor.  minimum: the number of blocks with
 * which no counter of a warp overflows. */
static uint64_t blocks_for(const struct trial *trial, uint64_t minimum)
{
    uint64_t blocks = ladder_ceil(trial->n, PIECE);
    uint64_t most = 8 * (uint64_t)trial->device->multiprocessors;
    if (most < minimum) most = minimum;
    return blocks < most ? blocks : most;
}

/* 27 bits in each of six tables; half of that, because parts differ in size. */
static uint64_t tagged_minimum(uint64_t n)
{
    return ladder_ceil(n, WARPS * ((uint64_t)1 << 26));
}

/* The blocks add to the bins. */
static void count(struct trial *trial, const char *kernel, unsigned threads, uint64_t minimum)
{
    ladder_zero(trial, trial->out, trial->out_bytes);
    LAUNCH(trial, kernel, blocks_for(trial, minimum), threads, 0, &trial->in, &trial->n,
           &trial->out);
}

/* The blocks store tables, which the second kernel adds up. */
static void run_1(struct trial *trial)
{
    uint64_t blocks = blocks_for(trial, tagged_minimum(trial->n));
    if (blocks == 0) ladder_zero(trial, trial->out, trial->out_bytes);
    LAUNCH(trial, "histogram256_1", blocks, 32 * WARPS, 0, &trial->in, &trial->n, &trial->scratch);
    LAUNCH(trial, "histogram256_merge", blocks ? BINS : 0, MERGE_THREADS, 0, &trial->scratch,
           &blocks, &trial->out);
}

static void run_2(struct trial *trial)
{
    count(trial, "histogram256_2", 32 * WARPS, tagged_minimum(trial->n));
}

static void run_3(struct trial *trial)
{
    count(trial, "histogram256_3", ATOMIC_THREADS, ladder_ceil(trial->n, (uint64_t)1 << 31));
}

static void run_production(struct trial *trial)
{
    ladder_try(trial,
               ech_bincount(trial->device->ctx, ladder_pointer(trial->in),
                            ladder_pointer(trial->out), (size_t)trial->n, ECH_U8, BINS, NULL));
}

#define RUNG(n, name, words, function)                                                             \
    { .number = n, .idea = name, .text = words, .parameter = RANDOM, .run = function },            \
    {                                                                                              \
        .number = n, .idea = name, .text = words " (all equal)", .parameter = ALIKE,               \
        .own_data = true, .run = function                                                          \
    }

static const struct rung rungs[] = {
    RUNG(1, "tagged", "a tagged table per warp", run_1),
    RUNG(2, "global_atomics", "the same, global atomics", run_2),
    RUNG(3, "atomics", "shared atomics", run_3),
    RUNG(4, "production", "production, ech_bincount()", run_production),
};

/* ---- Claims ---- */

static const struct result *row_of(const struct results *results, int number, uint64_t bytes_are)
{
    return ladder_row(results, number, bytes_are, 0);
}

/* Writes of a warp per 32 values: all writes to the tables except their initialisation. */
static double rounds(const struct result *row)
{
    uint64_t blocks = ladder_ceil(row->n, PIECE), values = row->n / 32;
    return (double)(row->counts.shared_stores - blocks * WARPS * BINS / 32) / (double)values;
}

static bool tags_repeat(const struct results *results, char *because, size_t bytes)
{
    double random = rounds(row_of(results, 2, RANDOM)), alike = rounds(row_of(results, 2, ALIKE));
    snprintf(because, bytes, "rounds for 32 values: %.2f for random values, %.2f", random, alike);
    return alike == 32 && random > 1.5 && random < 4;
}

/* Rung 1 stores 256 counts of 4 bytes per block, and its second launch 256 bins. */
static bool merged(const struct results *results, char *because, size_t bytes)
{
    const struct result *tables = row_of(results, 1, RANDOM), *atomics = row_of(results, 2, RANDOM);
    uint64_t blocks = atomics->blocks;
    snprintf(because, bytes,
             "%llu blocks: %llu bytes stored and no atomics; %llu bytes, %llu atomics",
             (unsigned long long)blocks, (unsigned long long)tables->counts.store_bytes,
             (unsigned long long)atomics->counts.store_bytes,
             (unsigned long long)atomics->counts.atomic_requests);
    return tables->blocks == blocks + BINS && tables->counts.atomic_requests == 0 &&
           tables->counts.store_bytes == BINS * (4 * blocks + 8) &&
           atomics->counts.store_bytes == 0 &&
           atomics->counts.atomic_requests == blocks * BINS / 32;
}

static bool lanes_of_a_word(const struct results *results, char *because, size_t bytes)
{
    const struct simt_counts *r = &row_of(results, 3, RANDOM)->counts;
    const struct simt_counts *a = &row_of(results, 3, ALIKE)->counts;
    double random = (double)r->shared_atomic_wavefronts / (double)r->shared_atomics;
    double alike = (double)a->shared_atomic_wavefronts / (double)a->shared_atomics;
    snprintf(because, bytes, "maximum of lanes per bank, on average: %.2f for random values, %.2f",
             random, alike);
    return alike == 32 && random > 1.5 && random < 6;
}

static bool tags_slow_alike(const struct results *results, char *because, size_t bytes)
{
    return ladder_ratio(row_of(results, 1, ALIKE), row_of(results, 1, RANDOM), 5, 1e9, because,
                        bytes);
}

static bool atomics_end_faster(const struct results *results, char *because, size_t bytes)
{
    return ladder_ratio(row_of(results, 1, RANDOM), row_of(results, 2, RANDOM), 1, 1e9, because,
                        bytes);
}

static bool alike_slower(const struct results *results, char *because, size_t bytes)
{
    return ladder_ratio(row_of(results, 3, ALIKE), row_of(results, 3, RANDOM), 1.1, 1e9, because,
                        bytes);
}

static bool atomics_faster(const struct results *results, char *because, size_t bytes)
{
    return ladder_ratio(row_of(results, 1, RANDOM), row_of(results, 3, RANDOM), 1, 1e9, because,
                        bytes);
}

static bool production_steady(const struct results *results, char *because, size_t bytes)
{
    return ladder_ratio(row_of(results, 4, ALIKE), row_of(results, 4, RANDOM), 0, 1.1, because,
                        bytes);
}

static const struct claim claims[] = {
    { .text = "Tags take about two rounds for random values, 32 if all values are equal",
      .holds = tags_repeat },
    { .text = "If all values are equal, the 32 lanes of an atomic access one word, too",
      .holds = lanes_of_a_word },
    { .text = "Merged tables need a second launch, global atomics need no tables",
      .holds = merged },
    { .text = "Global atomics are faster than tables that a second kernel merges",
      .of_gpu = true,
      .holds = atomics_end_faster },
    { .text = "The tagged tables take at least five times as long if all values are equal",
      .of_gpu = true,
      .holds = tags_slow_alike },
    { .text = "Atomics take longer if all values are equal",
      .of_gpu = true,
      .holds = alike_slower },
    { .text = "Atomics are faster than tags", .of_gpu = true, .holds = atomics_faster },
    { .text = "Production takes no longer if all values are equal",
      .of_gpu = true,
      .holds = production_steady },
};

static const uint64_t checked[] = { 0,   1,    2,    3,    4,    5,     63,        255,
                                    256, 1001, 4095, 4097, 9999, 16387, LADDER_END };
static const uint64_t counted[] = { 1 << 14, LADDER_END };
static const uint64_t timed[] = { 1 << 28, LADDER_END };

const struct ladder histogram256_ladder = { .name = "histogram256",
                                            .summary = "a histogram of 256 bins",
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
