/*
 * column_merge.c - the ladder of column sorts: the keys form a matrix, one thread sorts each
 * column; then several merges, compared with a sort on the host.
 *
 * The parameter of a rung is the number of columns; --columns changes it.  By default the keys are
 * 0 ... n - 1, shuffled, as in the original version; other seeds have equal keys.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ONE_BLOCK = 5000, /* keys twice and the heads of 1024 columns fit in 48 KB of shared memory */
    TILE = 4096,      /* per block of rung 5 */
    COLUMNS = 32,     /* of the original version */
    MORE = 256,
    PATH = 5,
    PATH_THREADS = 256 /* per block of rung 5; one sorts a column */
};

enum { PHASE_1 = 1 << 16 }; /* added to the parameter: only sorts the columns */

static unsigned columns_of(const struct rung *rung)
{
    return (unsigned)(rung->parameter % PHASE_1);
}

static bool is_phase_1(const struct rung *rung)
{
    return rung->parameter & PHASE_1;
}

static bool adapt(const struct ladder_settings *settings, struct rung *rung, char *text,
                  size_t bytes)
{
    static const char *const merges[] = { "one thread", "atomicMin", "tree", "chunks",
                                          "merge path" };
    const unsigned columns = settings->columns;
    if (rung->parameter == 0) return true; /* the host, production */
    if (rung->number == PATH && columns > PATH_THREADS) return false;
    rung->parameter = (rung->parameter & PHASE_1) | columns;
    snprintf(text, bytes, "%u column%s, %s", columns, columns == 1 ? "" : "s",
             is_phase_1(rung) ? "phase 1 only" : merges[rung->number - 1]);
    return true;
}

static void shape(struct trial *trial)
{
    ladder_shape_keys(trial);
    trial->scratch_bytes = trial->in_bytes;
}

/* Seed 0: 0 ... n - 1, shuffled; seed 2: random bits; otherwise equal keys. */
static void make(struct trial *trial)
{
    uint32_t *keys = trial->host_in;
    if (trial->seed % 2) {
        ladder_make_keys(trial);
        return;
    }
    for (uint64_t i = 0; i < trial->n; i++) {
        uint64_t random = ladder_random(trial->seed, i), at = random % (i + 1);
        keys[i] = (uint32_t)(trial->seed ? random : i);
        if (trial->seed) continue;
        keys[i] = keys[at];
        keys[at] = (uint32_t)i;
    }
}

/* Each column by itself, by insertion. */
static void expect_columns(struct trial *trial, unsigned columns)
{
    uint32_t *keys = trial->expected;
    memcpy(keys, trial->host_in, trial->in_bytes);
    for (uint64_t i = columns; i < trial->n; i++) {
        const uint32_t key = keys[i];
        uint64_t at = i;
        for (; at >= columns && keys[at - columns] > key; at -= columns)
            keys[at] = keys[at - columns];
        keys[at] = key;
    }
}

static void expect(struct trial *trial)
{
    if (is_phase_1(trial->rung))
        expect_columns(trial, columns_of(trial->rung));
    else
        ladder_expect_sorted(trial);
}

/* Whole warps. */
static unsigned threads_for(unsigned columns)
{
    return (columns + 31) / 32 * 32;
}

static void one_block(struct trial *trial, const char *kernel)
{
    unsigned columns = columns_of(trial->rung);
    LAUNCH(trial, kernel, trial->n > 0, threads_for(columns), 2 * trial->in_bytes, &trial->in,
           &trial->n, &trial->out, &columns);
}

static void run_1(struct trial *trial)
{
    one_block(trial, is_phase_1(trial->rung) ? "column_merge_1_columns" : "column_merge_1");
}

static void run_2(struct trial *trial)
{
    one_block(trial, "column_merge_2");
}

static void run_3(struct trial *trial)
{
    one_block(trial, "column_merge_3");
}

static void run_4(struct trial *trial)
{
    one_block(trial, "column_merge_4");
}

/* Merge rounds alternate between two arrays; the last one writes to out. */
static void run_5(struct trial *trial)
{
    enum { THREADS = PATH_THREADS, KEYS_A_THREAD = 8 };
    unsigned columns = columns_of(trial->rung);
    uint64_t n = trial->n, blocks = ladder_ceil(n, TILE), rounds = 0;
    CUdeviceptr from = trial->scratch, to = trial->out;
    for (uint64_t runs = blocks; runs > 1; runs = ladder_ceil(runs, 2)) rounds++;
    if (rounds % 2 == 0) from = trial->out, to = trial->scratch;
    LAUNCH(trial, "column_merge_5_block", blocks, THREADS, 2 * TILE * trial->element_bytes,
           &trial->in, &n, &from, &columns);
    for (uint64_t run = TILE; run < n; run *= 2) {
        LAUNCH(trial, "column_merge_5", ladder_ceil(n, THREADS * KEYS_A_THREAD), THREADS, 0, &from,
               &n, &to, &run);
        CUdeviceptr swap = from;
        from = to;
        to = swap;
    }
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void run_qsort(struct trial *trial)
{
    memcpy(trial->host_out, trial->host_in, trial->out_bytes);
    qsort(trial->host_out, (size_t)trial->n, sizeof(uint32_t), compare);
}

static void run_production(struct trial *trial)
{
    ladder_try(trial, ech_sort(trial->device->ctx, ladder_pointer(trial->in),
                               ladder_pointer(trial->out), (size_t)trial->n, trial->type, NULL));
}

static const struct rung rungs[] = {
    { .number = 1,
      .idea = "one_thread",
      .text = "32 columns, merged by one thread",
      .parameter = COLUMNS,
      .most = ONE_BLOCK,
      .run = run_1 },
    { .number = 1,
      .idea = "one_thread",
      .text = "... 256 columns",
      .parameter = MORE,
      .most = ONE_BLOCK,
      .run = run_1 },
    { .number = 1,
      .idea = "one_thread",
      .text = "... 32 columns, phase 1 only",
      .parameter = COLUMNS | PHASE_1,
      .own_data = true,
      .most = ONE_BLOCK,
      .run = run_1 },
    { .number = 1,
      .idea = "one_thread",
      .text = "... 256 columns, phase 1 only",
      .parameter = MORE | PHASE_1,
      .own_data = true,
      .most = ONE_BLOCK,
      .run = run_1 },
    { .number = 2,
      .idea = "atomic_min",
      .text = "32 columns, atomicMin on one word",
      .parameter = COLUMNS,
      .most = ONE_BLOCK,
      .run = run_2 },
    { .number = 2,
      .idea = "atomic_min",
      .text = "... 256 columns",
      .parameter = MORE,
      .most = ONE_BLOCK,
      .run = run_2 },
    { .number = 3,
      .idea = "tree",
      .text = "32 columns, minimum head by a tree",
      .parameter = COLUMNS,
      .most = ONE_BLOCK,
      .run = run_3 },
    { .number = 3,
      .idea = "tree",
      .text = "... 256 columns",
      .parameter = MORE,
      .most = ONE_BLOCK,
      .run = run_3 },
    { .number = 4,
      .idea = "two_levels",
      .text = "32 columns, minimum of chunks",
      .parameter = COLUMNS,
      .most = ONE_BLOCK,
      .run = run_4 },
    { .number = 4,
      .idea = "two_levels",
      .text = "... 256 columns",
      .parameter = MORE,
      .most = ONE_BLOCK,
      .run = run_4 },
    { .number = 4,
      .idea = "two_levels",
      .text = "... 1000 columns",
      .parameter = 1000,
      .most = ONE_BLOCK,
      .run = run_4 },
    { .number = 5,
      .idea = "merge_path",
      .text = "32 columns per block, merge path",
      .parameter = COLUMNS,
      .run = run_5 },
    { .number = 5,
      .idea = "merge_path",
      .text = "... 256 columns per block",
      .parameter = MORE,
      .run = run_5 },
    { .number = 6,
      .idea = "host_qsort",
      .text = "the host's qsort()",
      .on_host = true,
      .run = run_qsort },
    { .number = 7,
      .idea = "host_sort",
      .text = "ech_sort() on the host",
      .on_host = true,
      .run = ladder_sort_on_host },
    { .number = 8, .idea = "production", .text = "production, ech_sort()", .run = run_production },
};

/* ---- Claims of counts ---- */

static const struct simt_counts *counts(const struct results *results, int number, unsigned columns)
{
    return &ladder_row(results, number, columns, 0)->counts;
}

/* Loading and sorting the columns has two barriers; the merges have some per key. */
static uint64_t barriers_a_key(const struct results *results, int number, unsigned columns)
{
    const struct result *row = ladder_row(results, number, columns, 0);
    uint64_t warps = threads_for(columns) / 32;
    return (row->counts.barriers / warps - 2) / row->n;
}

static bool fewer_barriers(const struct results *results, char *because, size_t bytes)
{
    uint64_t third = barriers_a_key(results, 3, COLUMNS);
    uint64_t fourth = barriers_a_key(results, 4, COLUMNS);
    snprintf(because, bytes, "%llu per key by the tree, %llu by chunks", (unsigned long long)third,
             (unsigned long long)fourth);
    return third == 7 && fourth == 3;
}

static bool barriers_by_columns(const struct results *results, char *because, size_t bytes)
{
    uint64_t third = barriers_a_key(results, 3, MORE), fourth = barriers_a_key(results, 4, MORE);
    uint64_t most = barriers_a_key(results, 4, 1000);
    snprintf(because, bytes,
             "256 columns: %llu per key by the tree, %llu by chunks; 1000 columns: %llu by chunks",
             (unsigned long long)third, (unsigned long long)fourth, (unsigned long long)most);
    return third == 10 && fourth == 3 && most == 3;
}

static bool one_barrier(const struct results *results, char *because, size_t bytes)
{
    uint64_t second = barriers_a_key(results, 2, COLUMNS);
    const struct simt_counts *c = counts(results, 2, COLUMNS);
    double passes = (double)c->shared_atomic_wavefronts / (double)c->shared_atomics;
    snprintf(because, bytes, "%llu barrier per key, %.1f wavefronts per atomic",
             (unsigned long long)second, passes);
    return second == 1 && passes > 24;
}

static bool no_conflicts(const struct results *results, char *because, size_t bytes)
{
    const struct simt_counts *c = counts(results, 1, COLUMNS);
    snprintf(because, bytes, "%llu in %llu requests, on 16 banks %llu",
             (unsigned long long)c->bank_conflicts,
             (unsigned long long)(c->shared_loads + c->shared_stores),
             (unsigned long long)c->bank16_conflicts);
    return c->bank_conflicts == 0 && c->bank16_conflicts == 0;
}

/* Two barriers for the columns and one per round, for each of the block's 8 warps. */
static bool barriers_of_rounds(const struct results *results, char *because, size_t bytes)
{
    uint64_t few = counts(results, 5, COLUMNS)->barriers / 8;
    uint64_t many = counts(results, 5, MORE)->barriers / 8;
    snprintf(because, bytes, "%llu per warp in total with 32 columns, %llu with 256",
             (unsigned long long)few, (unsigned long long)many);
    return few == 2 + 5 && many == 2 + 8;
}

/* ---- Claims of times ---- */

static const uint64_t timed[] = { TILE, 1 << 20, 1 << 22, LADDER_END };

static double ms(const struct results *results, int number, unsigned columns, uint64_t n)
{
    return ladder_row(results, number, columns, n)->ms;
}

static bool each_faster(const struct results *results, char *because, size_t bytes)
{
    bool holds = true;
    size_t length = 0;
    double before = INFINITY;
    for (int i = 1; i <= 4; i++) {
        double time = ms(results, i, COLUMNS, TILE);
        length += (size_t)snprintf(because + length, bytes - length, "%s%.3g ms", i > 1 ? ", " : "",
                                   time);
        holds = holds && time < before;
        before = time;
    }
    return holds;
}

/* Phase 1 of rungs 1 to 4, compared with all of rung 1. */
static bool merge_dominates(const struct results *results, char *because, size_t bytes)
{
    double columns = ms(results, 1, COLUMNS | PHASE_1, TILE), all = ms(results, 1, COLUMNS, TILE);
    snprintf(because, bytes, "32 columns: %.3g ms of %.3g ms; 256 columns: %.3g ms", columns, all,
             ms(results, 1, MORE | PHASE_1, TILE));
    return columns < all / 2;
}

static bool path_beats_merges(const struct results *results, char *because, size_t bytes)
{
    double path = ms(results, 5, COLUMNS, TILE), best = INFINITY;
    for (int i = 1; i <= 4; i++) best = fmin(best, ms(results, i, COLUMNS, TILE));
    snprintf(because, bytes, "%.3g ms, the best of rungs 1 to 4 %.3g ms: %.1f times", path, best,
             best / path);
    return path < best;
}

static bool chunks_faster(const struct results *results, char *because, size_t bytes)
{
    double tree = ms(results, 3, MORE, TILE), chunks = ms(results, 4, MORE, TILE);
    snprintf(because, bytes, "256 columns: %.3g ms, the tree %.3g ms", chunks, tree);
    return chunks < tree;
}

static bool host_faster(const struct results *results, char *because, size_t bytes)
{
    double host = ms(results, 6, 0, TILE), best = INFINITY;
    for (int i = 1; i <= 4; i++) best = fmin(best, ms(results, i, COLUMNS, TILE));
    snprintf(because, bytes, "qsort() %.3g ms, the best of rungs 1 to 4 %.3g ms: %.1f times", host,
             best, best / host);
    return host < best;
}

static bool path_beats_host(const struct results *results, char *because, size_t bytes)
{
    double best = fmin(ms(results, 5, COLUMNS, TILE), ms(results, 5, MORE, TILE));
    double host = ms(results, 6, 0, TILE);
    snprintf(because, bytes, "4096 keys: %.3g ms, qsort() %.3g ms, ech_sort() on the host %.3g ms",
             best, host, ms(results, 7, 0, TILE));
    return best < host;
}

static bool more_columns_faster(const struct results *results, char *because, size_t bytes)
{
    double few = ms(results, 5, COLUMNS, TILE), many = ms(results, 5, MORE, TILE);
    snprintf(because, bytes, "merge path: %.3g ms with 32 columns, %.3g ms with 256", few, many);
    return many < few;
}

static bool device_beats_host(const struct results *results, char *because, size_t bytes)
{
    bool holds = true;
    size_t length = 0;
    for (int i = 0; timed[i] != LADDER_END; i++) {
        double device = ms(results, 8, 0, timed[i]), host = ms(results, 7, 0, timed[i]);
        length += (size_t)snprintf(because + length, bytes - length,
                                   "%s%llu keys: %.3g ms, on the host %.3g ms", i ? "; " : "",
                                   (unsigned long long)timed[i], device, host);
        holds = holds && device < host;
    }
    return holds;
}

static const struct claim claims[] = {
    { .text = "Rung 4 has fewer barriers than rung 3", .holds = fewer_barriers },
    { .text = "The barriers of the tree grow with the columns, those of two levels do not",
      .holds = barriers_by_columns },
    { .text = "Rung 2 has one barrier per key, but its atomics are serialised",
      .holds = one_barrier },
    { .text = "A row-major matrix has no bank conflicts between columns", .holds = no_conflicts },
    { .text = "Merge path has barriers per round, not per key", .holds = barriers_of_rounds },
    { .text = "Each of the four merges is faster than the previous one",
      .of_gpu = true,
      .holds = each_faster },
    { .text = "Sorting the columns takes less than half of the time of rung 1",
      .of_gpu = true,
      .holds = merge_dominates },
    { .text = "Merge path is faster than all four", .of_gpu = true, .holds = path_beats_merges },
    { .text = "Two levels are faster than a tree", .of_gpu = true, .holds = chunks_faster },
    { .text = "The host's sort is faster than one block with rungs 1 to 4",
      .of_gpu = true,
      .holds = host_faster },
    { .text = "Merge path is faster than the host's sort",
      .of_gpu = true,
      .holds = path_beats_host },
    { .text = "More columns are faster", .of_gpu = true, .holds = more_columns_faster },
    { .text = "Production is faster than the host at every size",
      .of_gpu = true,
      .holds = device_beats_host },
};

static const uint64_t checked[] = { 0, 1, 2, 31, 32, 33, 100, 257, 450, 8200, 12289, LADDER_END };
static const uint64_t counted[] = { 512, LADDER_END };

const struct ladder column_merge_ladder = { .name = "column_merge",
                                            .summary =
                                                "columns sorted by one thread each, then merged",
                                            .types = "u32",
                                            .unit = "keys",
                                            .takes_input = true,
                                            .out_type = LADDER_SAME,
                                            .ceiling = CEILING_NONE,
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
                                            .settings = LADDER_COLUMNS,
                                            .adapt = adapt };
