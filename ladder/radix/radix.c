/*
 * radix.c - the ladder of radix sorts: least significant digit first, with prefix sums of the
 * ladder.
 *
 * The parameter of a rung is the number of key bits to sort by: 32, or 10 for keys below 2^10 (in
 * their order, counted from 0).  The user's keys are sorted by all bits.
 *
 * Two rows of rung 1 have the lecture's order of bits, from 31 to 0.  They must not sort: the
 * oracle is the order by the reversed bits, and observe() counts the neighbours that are out of
 * order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.h"

#include "io/io.h"

#include <stdio.h>
#include <stdlib.h>

enum { TILE = 1024, THREADS = 256, ALL_BITS = 32, FEW_BITS = 10, DIGIT = 4 };
enum { TOP_DOWN = 256, EXAMPLE = 512 | TOP_DOWN }; /* added to the parameter */
enum { FOUR = 4, MOST_TOP_DOWN = 1 << 16 };

static const uint64_t four_keys[FOUR] = { 7, 14, 4, 1 };
static const uint64_t four_after[FOUR] = { 4, 14, 1, 7 };

static bool is_top_down(const struct trial *trial)
{
    return trial->rung->parameter & TOP_DOWN;
}

static bool is_example(const struct trial *trial)
{
    return (trial->rung->parameter & EXAMPLE) == EXAMPLE;
}

static void shape(struct trial *trial)
{
    uint64_t counts = trial->n > 16 ? trial->n : 16, sums = 0;
    for (uint64_t level = counts; level > 1; level = ladder_ceil(level, TILE)) sums += level;
    trial->in_bytes = trial->out_bytes = trial->n * trial->element_bytes;
    /* Keys twice; counts, their sums, the sums of these.  16 digits per tile have fewer counts. */
    trial->p[0] = trial->n * sizeof(uint32_t);
    trial->scratch_bytes = 2 * trial->p[0] + (sums + 16 * 2 + 2) * sizeof(uint32_t);
}

static unsigned bits_of(const struct trial *trial)
{
    return (unsigned)trial->rung->parameter % 256;
}

/* Stores the key of a rank counted from that of 0. */
static void store(const struct trial *trial, void *keys, uint64_t i, uint64_t rank)
{
    uint64_t middle = trial->type == ECH_U32 ? 0 : (uint64_t)1 << 31; /* the rank of 0 */
    io_store((char *)keys + i * trial->element_bytes, trial->element_bytes,
             io_unrank(trial->type, middle + rank));
}

static void make(struct trial *trial)
{
    ladder_make_keys(trial);
    for (uint64_t i = 0; i < trial->n && is_example(trial); i++)
        store(trial, trial->host_in, i, four_keys[i]);
    for (uint64_t i = 0; i < trial->n && bits_of(trial) == FEW_BITS; i++)
        store(trial, trial->host_in, i,
              ladder_random(trial->seed, i) % (trial->seed == 1 ? 5 : 1 << FEW_BITS));
}

/* ---- The order that stable passes from bit 31 to bit 0 produce ---- */

static uint32_t reversed(uint64_t bits)
{
    uint32_t result = 0;
    for (unsigned bit = 0; bit < ALL_BITS; bit++) result = result << 1 | (bits >> bit & 1);
    return result;
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void expect(struct trial *trial)
{
    uint32_t *keys = trial->expected; /* 32 bits, as every type of this ladder */
    if (!is_top_down(trial)) {
        ladder_expect_sorted(trial);
        return;
    }
    for (uint64_t i = 0; i < trial->n; i++)
        keys[i] = reversed(ladder_order_bits(trial->type, trial->host_in, i));
    qsort(keys, (size_t)trial->n, sizeof *keys, compare);
    for (uint64_t i = 0; i < trial->n; i++)
        io_store(&keys[i], sizeof *keys, io_unrank(trial->type, reversed(keys[i])));
    for (uint64_t i = 0; i < FOUR && is_example(trial) && trial->n == FOUR; i++)
        store(trial, trial->expected, i, four_after[i]);
}

/* The number of keys that are less than the key before them. */
static uint64_t observe(const struct trial *trial)
{
    uint64_t count = 0;
    for (uint64_t i = 1; i < trial->n; i++)
        count += ladder_order_bits(trial->type, trial->host_out, i) <
                 ladder_order_bits(trial->type, trial->host_out, i - 1);
    return count;
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
    for (unsigned at = 0; at < bits_of(trial); at += digit) {
        pass(trial, from, to, counts, is_top_down(trial) ? bits_of(trial) - digit - at : at);
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
    { .number = 1,
      .idea = "one_bit",
      .text = "... from bit 31 to bit 0: does not sort",
      .parameter = ALL_BITS | TOP_DOWN,
      .own_data = true,
      .most = MOST_TOP_DOWN,
      .run = run_1 },
    { .number = 1,
      .idea = "one_bit",
      .text = "... of the keys 7 14 4 1",
      .parameter = ALL_BITS | EXAMPLE,
      .own_data = true,
      .most = FOUR,
      .run = run_1 },
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

/* The results are those of the oracle, so the rows did what the lecture describes. */
static bool top_down_fails(const struct results *results, char *because, size_t bytes)
{
    const struct result *all = ladder_row(results, 1, ALL_BITS | TOP_DOWN, 0);
    const struct result *four = ladder_row(results, 1, ALL_BITS | EXAMPLE, FOUR);
    snprintf(because, bytes,
             "%llu of %llu keys are less than their predecessor; 7 14 4 1 becomes 4 14 1 7",
             (unsigned long long)all->observed, (unsigned long long)all->n);
    return all->right && all->observed > all->n / 4 && four->right && four->observed == 1;
}

/* An unstable pass would undo earlier passes: the result is sorted only if all passes kept the
 * order of keys with equal digits. */
static bool stable(const struct results *results, char *because, size_t bytes)
{
    bool right = true;
    for (int i = 0; i < results->count; i++)
        if (!(results->rows[i].rung->parameter & TOP_DOWN))
            right = right && results->rows[i].right && results->rows[i].observed == 0;
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
    { .text = "Stable passes over the whole array from bit 31 to bit 0 do not sort",
      .holds = top_down_fails },
    { .text = "Sorting by 10 bits takes 10/32 of the time", .of_gpu = true, .holds = ten_of_32 },
    { .text = "Four bits per pass are at least four times as fast",
      .of_gpu = true,
      .holds = four_faster },
    { .text = "Production also takes at most half of the time for 10 bits",
      .of_gpu = true,
      .holds = production_few },
};

static const uint64_t checked[] = { 0,   1,   2,    3,    4,    31,   33,
                                    255, 257, 1000, 1023, 1025, 2050, LADDER_END };
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
                                     .expect = expect,
                                     .observe = observe };
