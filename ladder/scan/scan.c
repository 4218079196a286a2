/*
 * scan.c - the ladder of exclusive prefix sums: out[i] is the sum of all elements before i.
 *
 * The first three rungs scan tiles of 512 elements in one block, one tile after another; the others
 * use the whole GPU.  Integers are added modulo 2^32; floats in any order, so a result may differ
 * by the rounding errors of a tree and of the preceding tiles.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TILE = 512, THREADS = 256, LOOK_BACK_TILE = 2048 };

static void shape(struct trial *trial)
{
    uint64_t sums = 0, tiles = ladder_ceil(trial->n, TILE);
    trial->in_bytes = trial->out_bytes = trial->n * trial->element_bytes;
    for (; tiles > 1; tiles = ladder_ceil(tiles, TILE)) sums += tiles;
    /* Sums of tiles, sums of these ...; or a status descriptor per tile and the next tile number.
     * */
    trial->p[0] = (sums + 1) * trial->element_bytes;
    trial->p[1] = (ladder_ceil(trial->n, LOOK_BACK_TILE) + 1) * sizeof(uint64_t);
    trial->scratch_bytes = trial->p[0] > trial->p[1] ? trial->p[0] : trial->p[1];
}

static void expect(struct trial *trial)
{
    double sum = 0;
    uint32_t bits = 0;
    for (uint64_t i = 0; i < trial->n; i++) {
        float narrow = (float)sum;
        const void *element = (char *)trial->host_in + i * trial->element_bytes;
        uint32_t x;
        memcpy((char *)trial->expected + i * trial->element_bytes,
               trial->type == ECH_F32 ? (const void *)&narrow : &bits, trial->element_bytes);
        memcpy(&x, element, sizeof x);
        bits += x;
        if (trial->type == ECH_F32) sum += ladder_number(trial->type, trial->host_in, i);
    }
}

/* A prefix sum passes fewer than 64 additions in trees, and one per preceding tile. */
static bool accept(const struct trial *trial, char *message, size_t bytes)
{
    double all = 0;
    for (uint64_t i = 0; i < trial->n; i++) {
        double got = ladder_number(trial->type, trial->host_out, i);
        double wanted = ladder_number(trial->type, trial->expected, i);
        double limit = all * (64 + (double)i / TILE) * 0x1p-24;
        if (trial->type != ECH_F32) limit = 0;
        if (!(fabs(got - wanted) <= limit || (isnan(wanted) && isnan(got)) || got == wanted)) {
            snprintf(message, bytes, "the sum before element %llu is %.9g, not %.9g within %.3g",
                     (unsigned long long)i, got, wanted, limit);
            return false;
        }
        if (trial->type == ECH_F32) all += fabs(ladder_number(trial->type, trial->host_in, i));
    }
    return true;
}

/* ---- Rungs ---- */

static void run_1(struct trial *trial)
{
    LAUNCH(trial, "scan_1", 1, TILE, 0, &trial->in, &trial->n, &trial->out);
}

static void run_2(struct trial *trial)
{
    LAUNCH(trial, "scan_2", 1, THREADS, 0, &trial->in, &trial->n, &trial->out);
}

static void run_3(struct trial *trial)
{
    LAUNCH(trial, trial->rung->parameter == 16 ? "scan_3_16" : "scan_3_32", 1, THREADS, 0,
           &trial->in, &trial->n, &trial->out);
}

/* Scans tiles, then their sums, then adds the exclusive prefixes. */
static void scan_level(struct trial *trial, CUdeviceptr from, CUdeviceptr to, uint64_t n,
                       CUdeviceptr sums)
{
    uint64_t tiles = ladder_ceil(n, TILE);
    LAUNCH(trial, "scan_4", tiles, THREADS, 0, &from, &n, &to, &sums);
    if (tiles < 2) return;
    scan_level(trial, sums, sums, tiles, sums + tiles * trial->element_bytes);
    LAUNCH(trial, "scan_4_add", tiles - 1, THREADS, 0, &to, &n, &sums);
}

static void run_4(struct trial *trial)
{
    scan_level(trial, trial->in, trial->out, trial->n, trial->scratch);
}

static void run_5(struct trial *trial)
{
    uint64_t tiles = ladder_ceil(trial->n, LOOK_BACK_TILE);
    CUdeviceptr next = trial->scratch + tiles * sizeof(uint64_t);
    ladder_zero(trial, trial->scratch, trial->p[1]);
    LAUNCH(trial, "scan_5", tiles, THREADS, 0, &trial->in, &trial->n, &trial->out, &trial->scratch,
           &next);
}

static void run_production(struct trial *trial)
{
    ech_scan_options options = { .size = sizeof options, .exclusive = 1 };
    ladder_try(trial,
               ech_scan(trial->device->ctx, ECH_OP_SUM, ladder_pointer(trial->in),
                        ladder_pointer(trial->out), (size_t)trial->n, trial->type, &options));
}

static const struct rung rungs[] = {
    { .number = 1,
      .idea = "work_inefficient",
      .text = "one block, n log n additions",
      .run = run_1 },
    { .number = 2, .idea = "tree", .text = "one block, up-sweep and down-sweep", .run = run_2 },
    { .number = 3,
      .idea = "padded",
      .text = "one word of padding after every 16",
      .parameter = 16,
      .run = run_3 },
    { .number = 3,
      .idea = "padded",
      .text = "one word of padding after every 32",
      .parameter = 32,
      .run = run_3 },
    { .number = 4, .idea = "blocks", .text = "many blocks, their sums scanned", .run = run_4 },
    { .number = 5, .idea = "look_back", .text = "single pass with look-back", .run = run_5 },
    { .number = 6, .idea = "production", .text = "production, ech_scan()", .run = run_production },
};

/* ---- Claims ---- */

static const struct result *row_of(const struct results *results, int number)
{
    return ladder_row(results, number, number == 3 ? 32 : 0, 0);
}

static const struct simt_counts *counts_of(const struct results *results, int number)
{
    return &row_of(results, number)->counts;
}

static uint64_t tiles_of(const struct results *results)
{
    return ladder_ceil(row_of(results, 1)->n, TILE);
}

/* Per tile and access of the tree: strides of 2, 4, 8, 16, 32 and more words; active warps times
 * excess wavefronts: 8 * 1, 4 * 3, 2 * 7, 15, 15, 7, 3, 1.  The up-sweep has three accesses per
 * step, the down-sweep four. */
static bool tree_conflicts(const struct results *results, char *because, size_t bytes)
{
    uint64_t a_tile = (3 + 4) * (8 * 1 + 4 * 3 + 2 * 7 + 15 + 15 + 7 + 3 + 1);
    uint64_t tree = counts_of(results, 2)->bank_conflicts;
    uint64_t padded = counts_of(results, 3)->bank_conflicts;
    snprintf(because, bytes, "%llu conflicts, %llu per tile of 512; padded: %llu",
             (unsigned long long)tree, (unsigned long long)(tree / tiles_of(results)),
             (unsigned long long)padded);
    return tree == a_tile * tiles_of(results) && padded == 0;
}

/* With 16 banks and padding after every 16 words, the distances 32, 64, 128 and 256 are still
 * two-way conflicts, because the padding itself is 2, 4, 8 and 16 words there. */
static bool padded_for_16(const struct results *results, char *because, size_t bytes)
{
    uint64_t tree = counts_of(results, 2)->bank16_conflicts;
    uint64_t by_16 = ladder_row(results, 3, 16, 0)->counts.bank16_conflicts;
    uint64_t by_32 = ladder_row(results, 3, 32, 0)->counts.bank16_conflicts;
    snprintf(because, bytes,
             "conflicts per tile on 16 banks: %llu, padded by 16 %llu, padded by 32 %llu",
             (unsigned long long)(tree / tiles_of(results)),
             (unsigned long long)(by_16 / tiles_of(results)),
             (unsigned long long)(by_32 / tiles_of(results)));
    return 10 * by_16 < tree && by_16 < by_32;
}

/* Reads by warps, per tile.  Rung 1: 9 steps of 16 warps; 129 reads of the element s positions
 * before, by warps with a thread >= s; 32 for the output.  Rung 2: 20 active warps in the up-sweep,
 * 20 in the down-sweep, two words each; 24 for the output. */
static bool fewer_additions(const struct results *results, char *because, size_t bytes)
{
    uint64_t first = counts_of(results, 1)->shared_loads / tiles_of(results);
    uint64_t tree = counts_of(results, 2)->shared_loads / tiles_of(results);
    snprintf(
        because, bytes,
        "per tile: 4097 additions against 1022; warps read shared memory %llu times against %llu",
        (unsigned long long)first, (unsigned long long)tree);
    return first == 9 * 16 + 129 + 32 && tree == 2 * (20 + 20) + 24;
}

static bool twice_the_steps(const struct results *results, char *because, size_t bytes)
{
    uint64_t first = counts_of(results, 1)->barriers / (TILE / 32) / tiles_of(results);
    uint64_t tree = counts_of(results, 2)->barriers / (THREADS / 32) / tiles_of(results);
    snprintf(because, bytes, "barriers per tile: %llu, %llu", (unsigned long long)first,
             (unsigned long long)tree);
    return first == 2 + 9 && tree == 2 * (2 + 9);
}

/* In sectors of 8 words. */
static double words_moved(const struct results *results, int number)
{
    const struct simt_counts *c = counts_of(results, number);
    return 8 * (double)(c->load_sectors + c->store_sectors) / (double)row_of(results, number)->n;
}

static bool half_the_traffic(const struct results *results, char *because, size_t bytes)
{
    double many = words_moved(results, 4), once = words_moved(results, 5);
    snprintf(because, bytes, "words moved per element: %.2f, %.2f", many, once);
    return many > 3.9 && many < 4.2 && once >= 2 && once < 2.1;
}

static bool tree_faster(const struct results *results, char *because, size_t bytes)
{
    return ladder_ratio(row_of(results, 1), row_of(results, 2), 1, 1e9, because, bytes);
}

static bool padded_faster(const struct results *results, char *because, size_t bytes)
{
    return ladder_ratio(row_of(results, 2), row_of(results, 3), 1, 1e9, because, bytes);
}

static bool look_back_faster(const struct results *results, char *because, size_t bytes)
{
    return ladder_ratio(row_of(results, 4), row_of(results, 5), 1.5, 1e9, because, bytes);
}

static const struct claim claims[] = {
    { .text =
          "The padded tree has no bank conflicts; those of the unpadded tree double in each step",
      .holds = tree_conflicts },
    { .text = "On 16 banks, padding after every 16 words removes more than 90 % of the conflicts",
      .holds = padded_for_16 },
    { .text = "The Hillis-Steele scan has n log n additions, the tree 2n",
      .holds = fewer_additions },
    { .text = "The tree takes twice as many steps", .holds = twice_the_steps },
    { .text = "Block sums move 4n words, the look-back 2n", .holds = half_the_traffic },
    { .text = "The work-efficient tree is faster than n log n additions",
      .of_gpu = true,
      .holds = tree_faster },
    { .text = "The padded tree is faster than the unpadded tree",
      .of_gpu = true,
      .holds = padded_faster },
    { .text = "The look-back is at least 1.5 times as fast as block sums",
      .of_gpu = true,
      .holds = look_back_faster },
};

static const uint64_t checked[] = { 0,    1,    2,    31,   32,   33,    511,    512,       513,
                                    1000, 2047, 2049, 4097, 9999, 65537, 262145, LADDER_END };
static const uint64_t counted[] = { 1 << 14, LADDER_END };
static const uint64_t timed[] = { 1 << 26, LADDER_END };

const struct ladder scan_ladder = { .name = "scan",
                                    .summary = "exclusive prefix sums",
                                    .types = "u32 f32",
                                    .unit = "elements",
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
                                    .make = ladder_make_numbers,
                                    .expect = expect,
                                    .accept = accept };
