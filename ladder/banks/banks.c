/*
 * banks.c - the ladder of banks: n reads of shared memory with different strides, element sizes and
 * patterns.
 *
 * A thread adds up 256 consecutive elements of the 1280 words of its block; the sum shows that it
 * read the right elements.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.h"

#include <stdio.h>
#include <string.h>

enum { WORDS = 1280, EACH = 256, THREADS = 256, STRIDES = 1, SIZES = 2, PATTERNS = 3 };
enum { BROADCAST = 0, PERMUTED = 1 /* otherwise the number of lanes in one bank */ };

static void shape(struct trial *trial)
{
    trial->in_bytes = WORDS * sizeof(uint32_t);
    trial->rows = ladder_ceil(trial->n, EACH); /* threads */
    trial->out_bytes = trial->rows * sizeof(uint32_t);
}

static void make(struct trial *trial)
{
    uint32_t *words = trial->host_in;
    for (uint64_t i = 0; i < WORDS; i++) words[i] = (uint32_t)ladder_random(trial->seed, i);
}

/* Element `at` as one word; for 8 bytes the sum of its halves. */
static uint32_t element_at(const struct trial *trial, uint64_t at)
{
    const unsigned char *x = trial->host_in;
    uint64_t bytes = trial->rung->number == SIZES ? trial->rung->parameter : sizeof(uint32_t);
    uint64_t element = 0;
    memcpy(&element, x + at * bytes, (size_t)bytes);
    return (uint32_t)element + (uint32_t)(element >> 32);
}

/* The element at which a lane begins. */
static uint64_t first_of(const struct trial *trial, uint64_t lane)
{
    uint64_t parameter = trial->rung->parameter;
    if (trial->rung->number == STRIDES) return lane * parameter;
    if (trial->rung->number == SIZES) return lane;
    if (parameter == BROADCAST) return 7;
    if (parameter == PERMUTED) return (5 * lane + 3) % 32;
    return lane < parameter ? 32 * lane : lane;
}

static uint32_t sum_of(const struct trial *trial, uint64_t lane, uint64_t count)
{
    uint64_t first = first_of(trial, lane);
    uint32_t sum = 0;
    for (uint64_t i = 0; i < count; i++) sum += element_at(trial, first + i);
    return sum;
}

/* All warps read the same elements; only the last thread may have fewer reads. */
static void expect(struct trial *trial)
{
    uint32_t *sums = trial->expected;
    for (uint64_t i = 0; i < trial->rows; i++)
        sums[i] = i < 32 ? sum_of(trial, i, EACH) : sums[i - 32];
    if (trial->n % EACH)
        sums[trial->rows - 1] = sum_of(trial, (trial->rows - 1) % 32, trial->n % EACH);
}

static void run(struct trial *trial)
{
    char kernel[16];
    uint32_t parameter = (uint32_t)trial->rung->parameter;
    snprintf(kernel, sizeof kernel, "banks_%d", trial->rung->number);
    LAUNCH(trial, kernel, ladder_ceil(trial->rows, THREADS), THREADS, 0, &trial->in, &trial->n,
           &parameter, &trial->out);
}

#define STRIDE(words, what)                                                                        \
    {                                                                                              \
        .number = STRIDES, .idea = "strides", .text = what, .parameter = words, .run = run         \
    }
#define SIZE(bytes, what)                                                                          \
    {                                                                                              \
        .number = SIZES, .idea = "sizes", .text = what, .parameter = bytes, .run = run             \
    }

#define PATTERN(ways, what)                                                                        \
    {                                                                                              \
        .number = PATTERNS, .idea = "patterns", .text = what, .parameter = ways, .run = run        \
    }

static const struct rung rungs[] = {
    STRIDE(1, "words, stride 1"),
    STRIDE(2, "words, stride 2"),
    STRIDE(4, "words, stride 4"),
    STRIDE(16, "words, stride 16"),
    STRIDE(32, "words, stride 32"),
    STRIDE(33, "words, stride 33: 32 + 1 of padding"),
    SIZE(1, "elements of 1 byte"),
    SIZE(2, "elements of 2 bytes"),
    SIZE(4, "elements of 4 bytes"),
    SIZE(8, "elements of 8 bytes"),
    PATTERN(BROADCAST, "words, all lanes the same"),
    PATTERN(PERMUTED, "words, permuted"),
    PATTERN(2, "words, 2 lanes in one bank"),
    PATTERN(6, "words, 6 lanes in one bank"),
};

/* ---- Claims: n is a multiple of a warp's reads ---- */

static const struct result *row_of(const struct results *results, int number, uint64_t parameter)
{
    return ladder_row(results, number, parameter, 0);
}

/* Excess wavefronts per load of a warp, with 32 banks, and of both half warps with 16 banks. */
static uint64_t extra(const struct result *row, bool of_16)
{
    uint64_t loads = row->n / 32;
    uint64_t conflicts = of_16 ? row->counts.bank16_conflicts : row->counts.bank_conflicts;
    return conflicts % loads ? UINT64_MAX : conflicts / loads;
}

static bool strides_today(const struct results *results, char *because, size_t bytes)
{
    static const uint64_t strides[] = { 1, 2, 4, 16, 32 };
    bool holds = true;
    size_t length = (size_t)snprintf(because, bytes, "wavefronts per load:");
    for (int i = 0; i < 5; i++) {
        uint64_t passes = 1 + extra(row_of(results, STRIDES, strides[i]), false);
        length +=
            (size_t)snprintf(because + length, bytes - length, " %llu", (unsigned long long)passes);
        holds = holds && passes == strides[i];
    }
    return holds;
}

static bool strides_of_16(const struct results *results, char *because, size_t bytes)
{
    static const uint64_t strides[] = { 1, 2, 4, 16, 32 }, wanted[] = { 1, 2, 4, 16, 16 };
    bool holds = true;
    size_t length = (size_t)snprintf(because, bytes, "wavefronts per load of a half warp:");
    for (int i = 0; i < 5; i++) {
        uint64_t more = extra(row_of(results, STRIDES, strides[i]), true);
        length += (size_t)snprintf(because + length, bytes - length, " %llu",
                                   (unsigned long long)(1 + more / 2));
        holds = holds && more == 2 * (wanted[i] - 1);
    }
    return holds;
}

static bool odd_none(const struct results *results, char *because, size_t bytes)
{
    const struct simt_counts *c = &row_of(results, STRIDES, 33)->counts;
    snprintf(because, bytes, "%llu conflicts with 32 banks, %llu with 16",
             (unsigned long long)c->bank_conflicts, (unsigned long long)c->bank16_conflicts);
    return c->bank_conflicts == 0 && c->bank16_conflicts == 0;
}

/* Doubles were two requests of words 2 apart: 2 + 2 wavefronts per half warp, not 1 + 1. */
static bool sizes_of_16(const struct results *results, char *because, size_t bytes)
{
    uint64_t of_1 = extra(row_of(results, SIZES, 1), true);
    uint64_t of_2 = extra(row_of(results, SIZES, 2), true);
    uint64_t of_4 = extra(row_of(results, SIZES, 4), true);
    uint64_t of_8 = extra(row_of(results, SIZES, 8), true);
    snprintf(because, bytes, "excess wavefronts per load of a warp: %llu, %llu, %llu, %llu",
             (unsigned long long)of_1, (unsigned long long)of_2, (unsigned long long)of_4,
             (unsigned long long)of_8);
    return of_1 == 2 * 3 && of_2 == 2 * 1 && of_4 == 0 && of_8 == 2 * 2;
}

static bool sizes_today(const struct results *results, char *because, size_t bytes)
{
    uint64_t all = 0;
    for (uint64_t size = 1; size <= 8; size *= 2)
        all += row_of(results, SIZES, size)->counts.bank_conflicts;
    snprintf(because, bytes, "%llu conflicts in all four", (unsigned long long)all);
    return all == 0;
}

/* With 16 banks the lanes of one bank are in the first half of the warp. */
static bool patterns_count(const struct results *results, char *because, size_t bytes)
{
    static const uint64_t ways[] = { BROADCAST, PERMUTED, 2, 6 };
    bool holds = true;
    size_t length = (size_t)snprintf(because, bytes, "wavefronts per load:");
    for (int i = 0; i < 4; i++) {
        uint64_t more = extra(row_of(results, PATTERNS, ways[i]), false);
        length += (size_t)snprintf(because + length, bytes - length, " %llu",
                                   (unsigned long long)(1 + more));
        holds = holds && more == (ways[i] < 2 ? 0 : ways[i] - 1) &&
                more == extra(row_of(results, PATTERNS, ways[i]), true);
    }
    return holds;
}

static bool time_follows(const struct results *results, char *because, size_t bytes)
{
    static const uint64_t strides[] = { 1, 2, 4, 16, 32, 33 };
    size_t length = 0;
    for (int i = 0; i < 6; i++)
        length += (size_t)snprintf(because + length, bytes - length, "%s%.3g ms", i ? ", " : "",
                                   row_of(results, STRIDES, strides[i])->ms);
    return row_of(results, STRIDES, 32)->ms > 16 * row_of(results, STRIDES, 1)->ms;
}

static bool small_cost_nothing(const struct results *results, char *because, size_t bytes)
{
    double of_1 = row_of(results, SIZES, 1)->ms, of_2 = row_of(results, SIZES, 2)->ms;
    double of_4 = row_of(results, SIZES, 4)->ms, of_8 = row_of(results, SIZES, 8)->ms;
    snprintf(because, bytes, "%.3g ms, %.3g ms, %.3g ms; 8 bytes: %.3g ms", of_1, of_2, of_4, of_8);
    return of_1 < 1.15 * of_4 && of_2 < 1.15 * of_4;
}

static bool six_ways(const struct results *results, char *because, size_t bytes)
{
    return ladder_ratio(row_of(results, PATTERNS, 6), row_of(results, PATTERNS, BROADCAST), 5, 7,
                        because, bytes);
}

static const struct claim claims[] = {
    { .text =
          "Strides of 1, 2, 4, 16, 32 words conflict 1-, 2-, 4-, 16- and 32-way on today's banks",
      .holds = strides_today },
    { .text = "With 16 banks they conflict 1-, 2-, 4-, 16- and 16-way", .holds = strides_of_16 },
    { .text = "One word of padding removes the conflicts of a stride of 32", .holds = odd_none },
    { .text = "Bytes conflicted 4-way, shorts 2-way and doubles 2-way on the first hardware",
      .holds = sizes_of_16 },
    { .text = "None of them conflicts on today's banks", .holds = sizes_today },
    { .text = "A broadcast and a permutation have no conflict; 2 and 6 lanes in one bank conflict "
              "2-way and 6-way, with 32 and with 16 banks",
      .holds = patterns_count },
    { .text = "A stride of 32 words takes more than 16 times as long as adjacent words",
      .of_gpu = true,
      .holds = time_follows },
    { .text = "Six lanes in one bank take six times as long as a broadcast",
      .of_gpu = true,
      .holds = six_ways },
    { .text = "Bytes and shorts are read as fast as words",
      .of_gpu = true,
      .holds = small_cost_nothing },
};

static const uint64_t checked[] = { 0, 1, 255, 256, 257, 8191, 8192, 65536, 70001, LADDER_END };
static const uint64_t counted[] = { 1 << 17, LADDER_END };
static const uint64_t timed[] = { (uint64_t)1 << 32, LADDER_END };

const struct ladder banks_ladder = { .name = "banks",
                                     .summary =
                                         "reads of shared memory, by stride, size and pattern",
                                     .types = "u32",
                                     .unit = "reads",
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
                                     .expect = expect };
