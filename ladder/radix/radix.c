/*
 * radix.c - the ladder of radix sorts: least significant digit first, with prefix sums of the
 * ladder.
 *
 * The parameter of a rung is the number of key bits to sort by: 32, or 10 for keys below 2^10 (in
 * their order, counted from 0).  The user's keys are sorted by all bits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.h"

#include "io/io.h"

#include <stdio.h>

enum { TILE = 1024, THREADS = 256, ALL_BITS = 32, FEW_BITS = 10, DIGIT = 4 };

static void shape(struct trial *trial)
{
    uint64_t counts = trial->n > 16 ? trial->n : 16, sums = 0;
    for (uint64_t level = counts; level > 1; level = ladder_ceil(level, TILE)) sums += level;
    trial->in_bytes = trial->out_bytes = trial->n * trial->element_bytes;
    /* Keys twice; counts, their sums, the sums of these.  16 digits per tile have fewer counts. */
    trial->p[0] = trial->n * sizeof(uint32_t);
    trial->scratch_bytes = 2 * trial->p[0] + (sums + 16 * 2 + 2) * sizeof(uint32_t);
}

static void make(struct trial *trial)
{
    uint64_t middle = trial->type == ECH_U32 ? 0 : (uint64_t)1 << 31; /* the rank of 0 */
    ladder_make_keys(trial);
    if (trial->rung->parameter == ALL_BITS) return;
    for (uint64_t i = 0; i < trial->n; i++) {
        uint64_t few = ladder_random(trial->seed, i) % (trial->seed == 1 ? 5 : 1 << FEW_BITS);
        io_store((char *)trial->host_in + i * trial->element_bytes, trial->element_bytes,
                 io_unrank(trial->type, middle + few));
    }
}

static unsigned bits_of(const struct trial *trial)
{
    return (unsigned)trial->rung->parameter;
}

/* ---- Rungs ---- */

/* Scans tiles of counts, then their sums, then adds the exclusive prefixes. */
static void scan(struct trial *trial, CUdeviceptr counts, uint64_t n)
{
    uint64_t tiles = ladder_ceil(n, TILE);
    CUdeviceptr sums = counts + n * sizeof(uint32_t);
    LAUNCH(trial, "radix_1_scan", tiles, TILE, 0, &counts, &n, &sums);
    if (tiles < 2) return;
    scan(trial, sums, tiles);
    LAUNCH(trial, "radix_1_add", tiles - 1, TILE, 0, &counts, &n, &sums);
}

/* All passes of a rung, between the map and the inverse map. */
static void passes(struct trial *trial, unsigned digit,
                   void (*pass)(struct trial *trial, CUdeviceptr from, CUdeviceptr to,
                                CUdeviceptr counts, unsigned shift))
{
    uint64_t blocks = ladder_ceil(trial->n, THREADS);
    CUdeviceptr from = trial->scratch, to = from + trial->p[0], counts = to + trial->p[0];
    LAUNCH(trial, "radix_1_flip", blocks, THREADS, 0, &trial->in, &trial->n, &from);
    for (unsigned shift = 0; shift < bits_of(trial); shift += digit) {
        pass(trial, from, to, counts, shift);
        CUdeviceptr other = from;
        from = to;
        to = other;
    }
    LAUNCH(trial, "radix_1_flip_back", blocks, THREADS, 0, &from, &trial->n, &trial->out);
}

static void pass_1(struct trial *trial, CUdeviceptr from, CUdeviceptr to, CUdeviceptr counts,
                   unsigned shift)
{
    uint64_t blocks = ladder_ceil(trial->n, THREADS);
    LAUNCH(trial, "radix_1_bits", blocks, THREADS, 0, &from, &trial->n, &shift, &counts);
    scan(trial, counts, trial->n);
    LAUNCH(trial, "radix_1_move", blocks, THREADS, 0, &from, &trial->n, &shift, &counts, &to);
}

static void pass_2(struct trial *trial, CUdeviceptr from, CUdeviceptr to, CUdeviceptr counts,
                   unsigned shift)
{
    uint64_t tiles = ladder_ceil(trial->n, TILE);
    LAUNCH(trial, "radix_2_count", tiles, THREADS, 0, &from, &trial->n, &shift, &counts);
    scan(trial, counts, 16 * tiles);
    LAUNCH(trial, "radix_2_move", tiles, THREADS, 0, &from, &trial->n, &shift, &counts, &to);
}

static void run_1(struct trial *trial)
{
    passes(trial, 1, pass_1);
}

static void run_2(struct trial *trial)
{
    passes(trial, DIGIT, pass_2);
}

static void run_production(struct trial *trial)
{
    ech_sort_options options = { .size = sizeof options,
                                 .order = ECH_ORDER_TOTAL,
                                 .end_bit = (int)bits_of(trial) };
    ladder_try(trial,
               ech_sort(trial->device->ctx, ladder_pointer(trial->in), ladder_pointer(trial->out),
                        (size_t)trial->n, trial->type, &options));
}

/* Counts have 32 bits. */
#define RUNG(n, name, words, most_keys, function)                                                  \
    { .number = n,                                                                                 \
      .idea = name,                                                                                \
      .text = words,                                                                               \
      .parameter = ALL_BITS,                                                                       \
      .most = most_keys,                                                                           \
      .run = function },                                                                           \
    {                                                                                              \
        .number = n, .idea = name, .text = words ", keys below 2^10", .parameter = FEW_BITS,       \
        .own_data = true, .most = most_keys, .run = function                                       \
    }

static const struct rung rungs[] = {
    RUNG(1, "one_bit", "one bit per pass", UINT32_MAX, run_1),
    RUNG(2, "four_bits", "four bits per pass", UINT32_MAX, run_2),
    RUNG(3, "production", "ech_sort()", 0, run_production),
};

/* ---- Claims ---- */

static uint64_t scan_launches(uint64_t n)
{
    return n > TILE ? 2 + scan_launches(ladder_ceil(n, TILE)) : 1;
}

/* The number of passes follows from the launches, two of which are the maps. */
static bool ten_passes(const struct results *results, char *because, size_t bytes)
{
    const struct result *all = ladder_row(results, 1, ALL_BITS, 0);
    const struct result *few = ladder_row(results, 1, FEW_BITS, 0);
    uint64_t a_pass = 2 + scan_launches(all->n);
    snprintf(because, bytes, "%llu launches per pass and two maps: %llu launches, %llu",
             (unsigned long long)a_pass, (unsigned long long)all->launches,
             (unsigned long long)few->launches);
    return all->launches == 32 * a_pass + 2 && few->launches == 10 * a_pass + 2;
}

static bool eight_passes(const struct results *results, char *because, size_t bytes)
{
    const struct result *all = ladder_row(results, 2, ALL_BITS, 0);
    const struct result *few = ladder_row(results, 2, FEW_BITS, 0);
    uint64_t a_pass = 2 + scan_launches(16 * ladder_ceil(all->n, TILE));
    snprintf(because, bytes, "%llu launches per pass and two maps: %llu launches, %llu",
             (unsigned long long)a_pass, (unsigned long long)all->launches,
             (unsigned long long)few->launches);
    return all->launches == 8 * a_pass + 2 && few->launches == 3 * a_pass + 2;
}

/* In sectors of 8 words, per key. */
static double words_moved(const struct result *row)
{
    return 8 * (double)(row->counts.load_sectors + row->counts.store_sectors) / (double)row->n;
}

static bool less_traffic(const struct results *results, char *because, size_t bytes)
{
    double one = words_moved(ladder_row(results, 1, ALL_BITS, 0));
    double four = words_moved(ladder_row(results, 2, ALL_BITS, 0));
    snprintf(because, bytes, "words moved per key: %.0f, %.0f; per pass %.1f, %.1f", one, four,
             one / 32, four / 8);
    return one > 5 * four;
}

/* An unstable pass would undo earlier passes: the result is sorted only if all passes kept the
 * order of keys with equal digits. */
static bool stable(const struct results *results, char *because, size_t bytes)
{
    bool right = true;
    for (int i = 0; i < results->count; i++) right = right && results->rows[i].right;
    snprintf(because, bytes, "32, 8, 10 and 3 passes from the lowest bit up sort the keys");
    return right;
}

static bool ten_of_32(const struct results *results, char *because, size_t bytes)
{
    return ladder_ratio(ladder_row(results, 1, ALL_BITS, 0), ladder_row(results, 1, FEW_BITS, 0),
                        2.9, 3.5, because, bytes);
}

static bool four_faster(const struct results *results, char *because, size_t bytes)
{
    return ladder_ratio(ladder_row(results, 1, ALL_BITS, 0), ladder_row(results, 2, ALL_BITS, 0), 4,
                        1e9, because, bytes);
}

static bool production_few(const struct results *results, char *because, size_t bytes)
{
    return ladder_ratio(ladder_row(results, 3, ALL_BITS, 0), ladder_row(results, 3, FEW_BITS, 0),
                        1.8, 4, because, bytes);
}

static const struct claim claims[] = {
    { .text = "Keys below 2^10 take 10 passes of one bit, other keys 32", .holds = ten_passes },
    { .text = "Four bits per pass take 8 passes, three for keys below 2^10",
      .holds = eight_passes },
    { .text = "Four bits per pass move less than a fifth of the words", .holds = less_traffic },
    { .text = "Each pass is stable", .holds = stable },
    { .text = "Sorting by 10 bits takes 10/32 of the time", .of_gpu = true, .holds = ten_of_32 },
    { .text = "Four bits per pass are at least four times as fast",
      .of_gpu = true,
      .holds = four_faster },
    { .text = "Production also takes at most half of the time for 10 bits",
      .of_gpu = true,
      .holds = production_few },
};

static const uint64_t checked[] = {
    0, 1, 2, 3, 31, 33, 255, 257, 1000, 1023, 1025, 2050, LADDER_END
};
static const uint64_t counted[] = { 1 << 12, LADDER_END };
static const uint64_t timed[] = { 1 << 24, LADDER_END };

const struct ladder radix_ladder = { .name = "radix",
                                     .summary = "radix sort, least significant digit first",
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
                                     .make = make,
                                     .expect = ladder_expect_sorted };
