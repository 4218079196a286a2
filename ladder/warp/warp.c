/*
 * warp.c - the ladder of warp sorts: 32 consecutive keys are a row, which one warp sorts.
 *
 * The last row may be shorter.  All rungs except the network take the range of bits [begin, end) to
 * sort by: bits that are equal in all keys can be omitted, and keys with equal bits in the range
 * keep their order.  Rung 3 takes the number of bits per pass too.  --bits and --digit-bits change
 * them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.h"

#include <stdio.h>
#include <string.h>

enum { THREADS = 256, ROW = 32, KEY_BITS = 32, MANY_ROWS = 100000 };
enum { NETWORK = 4, PRODUCTION = 5 }; /* numbers of rungs */

/* The parameter of a rung: the bits to sort by, and the bits per pass; 0: all bits. */
#define BITS(begin, end)          ((begin) | (uint64_t)(end) << 8)
#define DIGIT(begin, end, digits) (BITS(begin, end) | (uint64_t)(digits) << 16)

struct bits {
    unsigned begin, end, digit;
};

static struct bits bits_of(const struct rung *rung)
{
    const uint64_t p = rung->parameter;
    struct bits bits = { p % 256, p / 256 % 256, (unsigned)(p >> 16) };
    if (p == 0) bits.end = KEY_BITS;
    return bits;
}

static bool adapt(const struct ladder_settings *settings, struct rung *rung, char *text,
                  size_t bytes)
{
    struct bits bits = bits_of(rung);
    const bool has_digit = rung->number == 3;
    const char *name = rung->number == 1   ? "ballots, shared memory"
                       : rung->number == 2 ? "ballots, shuffles"
                                           : "production";
    if (settings->bits && rung->number == NETWORK) return false;
    if (!settings->bits && !(settings->digit_bits && has_digit)) return true;
    if (settings->bits) bits.begin = settings->begin_bit, bits.end = settings->end_bit;
    if (settings->digit_bits && has_digit) bits.digit = settings->digit_bits;
    rung->parameter = DIGIT(bits.begin, bits.end, bits.digit);
    if (has_digit)
        snprintf(text, bytes, "%u bits per pass, bits %u to %u", bits.digit, bits.begin,
                 bits.end - 1);
    else
        snprintf(text, bytes, "%s, bits %u to %u", name, bits.begin, bits.end - 1);
    return true;
}

/* Sorts a row by the bits in mask, stably. */
static void sort_row(ech_dtype type, size_t element_bytes, const char *row, uint64_t count,
                     uint64_t mask, char *out)
{
    uint64_t keys[ROW], from[ROW];
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at = i, key = ladder_order_bits(type, row, i) & mask;
        for (; at > 0 && keys[at - 1] > key; at--) {
            keys[at] = keys[at - 1];
            from[at] = from[at - 1];
        }
        keys[at] = key;
        from[at] = i;
    }
    for (uint64_t i = 0; i < count; i++)
        memcpy(out + i * element_bytes, row + from[i] * element_bytes, element_bytes);
}

static void expect(struct trial *trial)
{
    const struct bits bits = bits_of(trial->rung);
    uint64_t mask = ((uint64_t)1 << bits.end) - ((uint64_t)1 << bits.begin);
    for (uint64_t first = 0; first < trial->n; first += ROW) {
        uint64_t left = trial->n - first;
        size_t at = first * trial->element_bytes;
        sort_row(trial->type, trial->element_bytes, (char *)trial->host_in + at,
                 left < ROW ? left : ROW, mask, (char *)trial->expected + at);
    }
}

/* ---- Rungs ---- */

static void by_bits(struct trial *trial, const char *kernel)
{
    struct bits bits = bits_of(trial->rung);
    LAUNCH(trial, kernel, ladder_ceil(trial->n, THREADS), THREADS, 0, &trial->in, &trial->n,
           &trial->out, &bits.begin, &bits.end);
}

static void run_1(struct trial *trial)
{
    by_bits(trial, "warp_1");
}

static void run_2(struct trial *trial)
{
    by_bits(trial, "warp_2");
}

static void run_3(struct trial *trial)
{
    struct bits bits = bits_of(trial->rung);
    LAUNCH(trial, "warp_3", ladder_ceil(trial->n, THREADS), THREADS, 0, &trial->in, &trial->n,
           &trial->out, &bits.begin, &bits.end, &bits.digit);
}

static void run_4(struct trial *trial)
{
    LAUNCH(trial, "warp_4", ladder_ceil(trial->n, THREADS), THREADS, 0, &trial->in, &trial->n,
           &trial->out);
}

/* All rows in one call; the shorter last row is an array of its own. */
static void run_production(struct trial *trial)
{
    ech_ctx *ctx = trial->device->ctx;
    const char *in = ladder_pointer(trial->in);
    char *out = ladder_pointer(trial->out);
    const size_t rows = (size_t)(trial->n / ROW), rest = (size_t)(trial->n % ROW);
    const size_t at = rows * ROW * trial->element_bytes;
    const struct bits bits = bits_of(trial->rung);
    const ech_sort_options options = { .size = sizeof options,
                                       .order = ECH_ORDER_TOTAL,
                                       .begin_bit = (int)bits.begin,
                                       .end_bit = (int)bits.end };
    ladder_try(trial, ech_sort_rows(ctx, in, out, rows, ROW, trial->type, &options));
    ladder_try(trial, ech_sort(ctx, in + at, out + at, rest, trial->type, &options));
}

static const struct rung rungs[] = {
    { .number = 1, .idea = "ballot", .text = "ballots, shared memory", .run = run_1 },
    { .number = 1,
      .idea = "ballot",
      .text = "... only by bits 0 to 9",
      .parameter = BITS(0, 10),
      .run = run_1 },
    { .number = 1,
      .idea = "ballot",
      .text = "... only by bits 22 to 31",
      .parameter = BITS(22, 32),
      .run = run_1 },
    { .number = 2, .idea = "shuffle", .text = "ballots, shuffles", .run = run_2 },
    { .number = 2,
      .idea = "shuffle",
      .text = "... only by bits 0 to 9",
      .parameter = BITS(0, 10),
      .run = run_2 },
    { .number = 3,
      .idea = "more_bits",
      .text = "two bits per pass",
      .parameter = DIGIT(0, KEY_BITS, 2),
      .run = run_3 },
    { .number = 3,
      .idea = "more_bits",
      .text = "three bits per pass, last: two",
      .parameter = DIGIT(0, KEY_BITS, 3),
      .run = run_3 },
    { .number = 3,
      .idea = "more_bits",
      .text = "four bits per pass",
      .parameter = DIGIT(0, KEY_BITS, 4),
      .run = run_3 },
    { .number = 3,
      .idea = "more_bits",
      .text = "eight bits per pass",
      .parameter = DIGIT(0, KEY_BITS, 8),
      .run = run_3 },
    { .number = 3,
      .idea = "more_bits",
      .text = "all 32 bits in one pass",
      .parameter = DIGIT(0, KEY_BITS, 32),
      .run = run_3 },
    { .number = 4, .idea = "bitonic", .text = "bitonic network by shuffles", .run = run_4 },
    { .number = 5,
      .idea = "production",
      .text = "production, ech_sort_rows()",
      .run = run_production },
};

/* ---- Claims of counts ---- */

static const struct simt_counts *counts(const struct results *results, int number,
                                        uint64_t parameter)
{
    return &ladder_row(results, number, parameter, 0)->counts;
}

static uint64_t rows_of(const struct results *results)
{
    return ladder_row(results, 1, 0, 0)->n / ROW;
}

static bool no_barrier(const struct results *results, char *because, size_t bytes)
{
    uint64_t sum = 0;
    for (int i = 0; i < results->count; i++)
        if (results->rows[i].rung->number < PRODUCTION) sum += results->rows[i].counts.barriers;
    snprintf(because, bytes, "%llu barriers in rungs 1 to 4", (unsigned long long)sum);
    return sum == 0;
}

static uint64_t shared(const struct simt_counts *c)
{
    return c->shared_loads + c->shared_stores + c->shared_atomics;
}

static bool shuffles_instead(const struct results *results, char *because, size_t bytes)
{
    uint64_t first = shared(counts(results, 1, 0)), second = shared(counts(results, 2, 0));
    uint64_t fourth = shared(counts(results, 4, 0));
    snprintf(because, bytes,
             "requests to shared memory per row: %llu in rung 1, %llu in 2, %llu in 4",
             (unsigned long long)(first / rows_of(results)),
             (unsigned long long)(second / rows_of(results)),
             (unsigned long long)(fourth / rows_of(results)));
    return first == 2 * KEY_BITS * rows_of(results) && second == 0 && fourth == 0;
}

/* A pass is a ballot and a warp barrier in rung 1, a ballot and a shuffle in rung 2. */
static bool passes_by_bits(const struct results *results, char *because, size_t bytes)
{
    uint64_t all[3], ten[3], rows = rows_of(results);
    bool holds = true;
    for (int i = 1; i <= 2; i++) {
        all[i] = counts(results, i, 0)->warp_operations;
        ten[i] = counts(results, i, BITS(0, 10))->warp_operations;
        holds = holds && all[i] == 2 * KEY_BITS * rows && ten[i] == 2 * 10 * rows;
    }
    uint64_t upper = counts(results, 1, BITS(22, 32))->warp_operations;
    snprintf(because, bytes, "warp operations per row: %llu by 32 bits, %llu by 10",
             (unsigned long long)(all[1] / rows), (unsigned long long)(ten[1] / rows));
    return holds && upper == ten[1];
}

static bool moves_by_digit(const struct results *results, char *because, size_t bytes)
{
    static const unsigned digits[] = { 2, 3, 4, 8, 32 };
    uint64_t stores[5], rows = rows_of(results);
    bool holds = true;
    for (int i = 0; i < 5; i++) {
        stores[i] = counts(results, 3, DIGIT(0, KEY_BITS, digits[i]))->shared_stores / rows;
        holds = holds && stores[i] == ladder_ceil(KEY_BITS, digits[i]);
    }
    snprintf(because, bytes,
             "stores per row: %llu, %llu, %llu, %llu, %llu by digits of 2, 3, 4, 8, 32 bits",
             (unsigned long long)stores[0], (unsigned long long)stores[1],
             (unsigned long long)stores[2], (unsigned long long)stores[3],
             (unsigned long long)stores[4]);
    return holds;
}

/* A pass by d bits is d ballots and a warp barrier. */
static bool ballots_remain(const struct results *results, char *because, size_t bytes)
{
    uint64_t rows = rows_of(results);
    uint64_t two = counts(results, 3, DIGIT(0, KEY_BITS, 2))->warp_operations / rows;
    uint64_t all = counts(results, 3, DIGIT(0, KEY_BITS, 32))->warp_operations / rows;
    snprintf(because, bytes, "ballots per row: %llu by digits of 2 bits, %llu by 32",
             (unsigned long long)two - 16, (unsigned long long)all - 1);
    return two == KEY_BITS + 16 && all == KEY_BITS + 1;
}

static bool no_conflicts(const struct results *results, char *because, size_t bytes)
{
    uint64_t first = counts(results, 1, 0)->bank_conflicts;
    uint64_t third = counts(results, 3, DIGIT(0, KEY_BITS, 2))->bank_conflicts;
    snprintf(because, bytes, "%llu in rung 1, %llu in rung 3", (unsigned long long)first,
             (unsigned long long)third);
    return first == 0 && third == 0;
}

static bool fifteen_steps(const struct results *results, char *because, size_t bytes)
{
    uint64_t fourth = counts(results, 4, 0)->warp_operations / rows_of(results);
    snprintf(because, bytes, "%llu shuffles per row", (unsigned long long)fourth);
    return fourth == 15;
}

/* ---- Claims of times ---- */

static const uint64_t timed[] = { 1 << 26, MANY_ROWS *ROW, LADDER_END };

static double ms(const struct results *results, int number, uint64_t parameter)
{
    return ladder_row(results, number, parameter, timed[0])->ms;
}

static bool rows_sorted(const struct results *results, char *because, size_t bytes)
{
    int right = 0, runs = 0;
    for (int i = 0; i < results->count; i++) {
        if (results->rows[i].n != MANY_ROWS * ROW) continue;
        runs++;
        right += results->rows[i].right;
    }
    snprintf(because, bytes, "equal to the CPU's result in %d of %d rungs", right, runs);
    return runs > 0 && right == runs;
}

static bool ten_bits_pay(const struct results *results, char *because, size_t bytes)
{
    double all = ms(results, 1, 0), ten = ms(results, 1, BITS(0, 10));
    snprintf(because, bytes, "%.3g ms by 32 bits, %.3g ms by 10: %.2f of it", all, ten, ten / all);
    return ten < 0.4 * all;
}

static bool shuffles_faster(const struct results *results, char *because, size_t bytes)
{
    double first = ms(results, 1, 0), second = ms(results, 2, 0);
    snprintf(because, bytes, "%.3g ms, by shared memory %.3g ms", second, first);
    return second < first;
}

static bool more_bits_faster(const struct results *results, char *because, size_t bytes)
{
    double one = ms(results, 1, 0), two = ms(results, 3, DIGIT(0, KEY_BITS, 2)),
           eight = ms(results, 3, DIGIT(0, KEY_BITS, 8));
    double all = ms(results, 3, DIGIT(0, KEY_BITS, 32));
    snprintf(because, bytes, "1, 2, 8, 32 bits per pass: %.3g, %.3g, %.3g, %.3g ms", one, two,
             eight, all);
    return two < one && eight < two && all < eight;
}

static bool radix_faster(const struct results *results, char *because, size_t bytes)
{
    double best = ms(results, 1, 0), network = ms(results, 4, 0);
    for (int i = 0; i < results->count; i++) {
        const struct result *row = &results->rows[i];
        bool whole = row->rung->number == 2 ? row->rung->parameter == 0 : row->rung->number == 3;
        if (row->n == timed[0] && whole && row->ms < best) best = row->ms;
    }
    snprintf(because, bytes, "%.3g ms by the best of rungs 1 to 3, the network %.3g ms", best,
             network);
    return best < network;
}

static bool memory_is_the_ceiling(const struct results *results, char *because, size_t bytes)
{
    const struct result *row = ladder_row(results, 4, 0, timed[0]);
    double reached = row->bytes / (row->ms * 1e-3);
    snprintf(because, bytes, "rung 4 moves %.0f GB/s, a copy %.0f GB/s", reached * 1e-9,
             results->device->copy_bytes_per_s * 1e-9);
    return reached > 0.8 * results->device->copy_bytes_per_s;
}

static bool production_as_fast(const struct results *results, char *because, size_t bytes)
{
    double network = ms(results, 4, 0), production = ms(results, 5, 0);
    snprintf(because, bytes, "%.3g ms, the network %.3g ms", production, network);
    return production <= 1.05 * network;
}

static const struct claim claims[] = {
    { .text = "The warp sort has no barrier", .holds = no_barrier },
    { .text = "Shuffles replace shared memory", .holds = shuffles_instead },
    { .text = "Keys below 2^10 need 10 passes instead of 32", .holds = passes_by_bits },
    { .text = "Keys move once per digit of any size", .holds = moves_by_digit },
    { .text = "The number of ballots does not depend on the digit", .holds = ballots_remain },
    { .text = "Permuting keys within a warp's words has no bank conflict", .holds = no_conflicts },
    { .text = "The network takes 15 shuffles", .holds = fifteen_steps },
    { .text = "100,000 random rows are all sorted correctly",
      .of_gpu = true,
      .holds = rows_sorted },
    { .text = "Sorting by 10 bits takes a third of the time of 32",
      .of_gpu = true,
      .holds = ten_bits_pay },
    { .text = "Shuffles are faster than shared memory", .of_gpu = true, .holds = shuffles_faster },
    { .text = "More bits per pass are faster", .of_gpu = true, .holds = more_bits_faster },
    { .text = "A warp's radix sort is faster than its bitonic network",
      .of_gpu = true,
      .holds = radix_faster },
    { .text = "The network sorts rows at the memory bandwidth",
      .of_gpu = true,
      .holds = memory_is_the_ceiling },
    { .text = "Production is as fast as the network", .of_gpu = true, .holds = production_as_fast },
};

static const uint64_t checked[] = { 0, 1, 2, 31, 32, 33, 63, 100, 256, 257, 300, 1000, LADDER_END };
static const uint64_t counted[] = { 1 << 10, LADDER_END };

const struct ladder warp_ladder = { .name = "warp",
                                    .summary = "warp sort: every 32 keys by one warp",
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
                                    .shape = ladder_shape_keys,
                                    .make = ladder_make_keys,
                                    .expect = expect,
                                    .settings = LADDER_BITS | LADDER_DIGIT,
                                    .adapt = adapt };
