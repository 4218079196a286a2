/*
 * rank.c - the ladder of rank sorts: the final position of every key is found by counting.
 *
 * Equal keys keep their order, so every position is taken once.  Variants 3 and 4 are one block and
 * work in place: in is copied to out first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.h"

#include <math.h>
#include <stdio.h>

enum { THREADS = 256, ONE_BLOCK = 1024, LEAST = 1 << 10, MOST = 1 << 18 };

static void shape(struct trial *trial)
{
    ladder_shape_keys(trial);
    trial->scratch_bytes = trial->n * sizeof(uint64_t); /* the ranks */
}

static void run_1(struct trial *trial)
{
    LAUNCH(trial, "rank_1", ladder_ceil(trial->n, THREADS), THREADS, 0, &trial->in, &trial->n,
           &trial->scratch, &trial->out);
}

static void run_2(struct trial *trial)
{
    uint64_t blocks = ladder_ceil(trial->n, 4 * THREADS);
    uint64_t most = (uint64_t)trial->device->multiprocessors;
    LAUNCH(trial, "rank_2", blocks < most ? blocks : most, THREADS, 0, &trial->in, &trial->n,
           &trial->scratch, &trial->out);
}

static void one_block(struct trial *trial, const char *kernel)
{
    unsigned threads = (unsigned)(32 * ladder_ceil(trial->n, 32));
    ladder_copy(trial, trial->out, trial->in, trial->out_bytes);
    LAUNCH(trial, kernel, trial->n > 0, threads, 0, &trial->out, &trial->n);
}

static void run_3(struct trial *trial)
{
    one_block(trial, "rank_3");
}

static void run_4(struct trial *trial)
{
    one_block(trial, "rank_4");
}

static void run_5(struct trial *trial)
{
    LAUNCH(trial, "rank_5", ladder_ceil(trial->n, THREADS), THREADS, 0, &trial->in, &trial->n,
           &trial->out);
}

static void run_production(struct trial *trial)
{
    ech_sort_options options = { .size = sizeof options, .order = ECH_ORDER_TOTAL };
    ladder_try(trial,
               ech_sort(trial->device->ctx, ladder_pointer(trial->in), ladder_pointer(trial->out),
                        (size_t)trial->n, trial->type, &options));
}

static const struct rung rungs[] = {
    { .number = 1, .idea = "thread_a_key", .text = "one thread per key", .run = run_1 },
    { .number = 2, .idea = "fewer_threads", .text = "several keys per thread", .run = run_2 },
    { .number = 3,
      .idea = "parallel_swap",
      .text = "one block, parallel swap",
      .most = ONE_BLOCK,
      .run = run_3 },
    { .number = 4,
      .idea = "registers",
      .text = "rank and own key in registers",
      .most = ONE_BLOCK,
      .run = run_4 },
    { .number = 5, .idea = "tiles", .text = "tiles, four keys per load", .run = run_5 },
    { .number = 6, .idea = "production", .text = "production, ech_sort()", .run = run_production },
};

/* ---- Claims of counts ---- */

enum { FEW = 512, TWICE = 1024 }; /* n of the counted runs */

static const struct simt_counts *counts(const struct results *results, int number, uint64_t n)
{
    return &ladder_row(results, number, 0, n)->counts;
}

/* A barrier counts once per warp. */
static bool one_barrier_fewer(const struct results *results, char *because, size_t bytes)
{
    uint64_t third = counts(results, 3, TWICE)->barriers;
    uint64_t fourth = counts(results, 4, TWICE)->barriers, warps = TWICE / 32;
    snprintf(because, bytes, "%llu and %llu per warp", (unsigned long long)(third / warps),
             (unsigned long long)(fourth / warps));
    return third == fourth + warps;
}

static bool steps_are_n(const struct results *results, char *because, size_t bytes)
{
    double a_warp = (double)counts(results, 1, FEW)->load_requests / (FEW / 32);
    double twice = (double)counts(results, 1, TWICE)->load_requests / (TWICE / 32);
    snprintf(because, bytes, "%.0f loads per warp for %d keys, %.0f for %d: %.2f times", a_warp,
             FEW, twice, TWICE, twice / a_warp);
    return fabs(twice / a_warp - 2) < 0.05;
}

/* A block of 8 warps reads n keys once, 32 per load of four sectors; then its own keys. */
static bool tiles_ask_once(const struct results *results, char *because, size_t bytes)
{
    const struct simt_counts *first = counts(results, 1, TWICE);
    const struct simt_counts *fifth = counts(results, 5, TWICE);
    uint64_t blocks = TWICE / THREADS, requests = blocks * (TWICE + THREADS) / 32;
    snprintf(because, bytes, "%llu loads of %llu sectors; variant 1: %llu of %llu",
             (unsigned long long)fifth->load_requests, (unsigned long long)fifth->load_sectors,
             (unsigned long long)first->load_requests, (unsigned long long)first->load_sectors);
    return fifth->load_requests == requests && fifth->load_sectors == 4 * requests &&
           first->load_requests > 32 * fifth->load_requests;
}

static bool four_a_load(const struct results *results, char *because, size_t bytes)
{
    uint64_t fourth = counts(results, 4, TWICE)->shared_loads;
    uint64_t fifth = counts(results, 5, TWICE)->shared_loads;
    snprintf(because, bytes, "%llu loads from shared memory, variant 4 %llu",
             (unsigned long long)fifth, (unsigned long long)fourth);
    return 2 * fifth < fourth;
}

static bool no_conflicts(const struct results *results, char *because, size_t bytes)
{
    uint64_t sum = 0;
    for (int number = 3; number <= 5; number++)
        sum += counts(results, number, TWICE)->bank_conflicts;
    snprintf(because, bytes, "%llu in variants 3, 4 and 5", (unsigned long long)sum);
    return sum == 0;
}

/* ---- Claims of times ---- */

static double ms(const struct results *results, int number, uint64_t n)
{
    const struct result *row = ladder_row(results, number, 0, n);
    return row ? row->ms : INFINITY;
}

/* Four times the keys take 4 times as long in O(n), 16 times in O(n^2); 8 separates the two. */
static bool is_linear(const struct results *results, int number, uint64_t n)
{
    return ms(results, number, n) < 8 * ms(results, number, n / 4);
}

static bool linear_at_first(const struct results *results, char *because, size_t bytes)
{
    double few = ms(results, 1, 1 << 10), more = ms(results, 1, 1 << 12);
    double many = ms(results, 1, 1 << 14);
    snprintf(because, bytes, "2^10, 2^12, 2^14 keys: %.3g, %.3g, %.3g ms; %.1f and %.1f times", few,
             more, many, more / few, many / more);
    return is_linear(results, 1, 1 << 12) && is_linear(results, 1, 1 << 14);
}

static bool quadratic_at_last(const struct results *results, char *because, size_t bytes)
{
    double few = ms(results, 1, MOST / 4), many = ms(results, 1, MOST);
    snprintf(because, bytes, "2^16, 2^18 keys: %.3g, %.3g ms; %.1f times", few, many, many / few);
    return !is_linear(results, 1, MOST);
}

/* The first size that took more than eight times as long as the previous one; 0: none. */
static uint64_t crossing(const struct results *results, int number)
{
    for (uint64_t n = 4 * LEAST; n <= MOST; n *= 4)
        if (!is_linear(results, number, n)) return n;
    return 0;
}

static bool threads_last(const struct results *results, char *because, size_t bytes)
{
    uint64_t all = crossing(results, 1), few = crossing(results, 2);
    snprintf(
        because, bytes,
        "more than 8 times the time for 4 times the keys: first at %llu with a thread per key, at "
        "%llu with %d threads (0: nowhere)",
        (unsigned long long)all, (unsigned long long)few,
        THREADS * results->device->multiprocessors);
    return few && (!all || few <= all);
}

static bool each_faster(const struct results *results, char *because, size_t bytes)
{
    double first = ms(results, 1, LEAST), third = ms(results, 3, LEAST);
    double fourth = ms(results, 4, LEAST);
    snprintf(because, bytes, "%.3g, %.3g, %.3g ms for 1024 keys", first, third, fourth);
    return third < first && fourth < third;
}

static bool tiles_faster(const struct results *results, char *because, size_t bytes)
{
    double first = ms(results, 1, MOST), fifth = ms(results, 5, MOST);
    snprintf(because, bytes, "2^18 keys: %.3g ms, variant 1 %.3g ms", fifth, first);
    return 4 * fifth < first;
}

static bool beats_production(const struct results *results, char *because, size_t bytes)
{
    uint64_t last = 0;
    double best = INFINITY;
    for (uint64_t n = LEAST; n <= MOST; n *= 4)
        for (int number = 1; number <= 5; number++) {
            if (ms(results, number, n) < ms(results, 6, n)) last = n;
            if (n == LEAST) best = fmin(best, ms(results, number, n));
        }
    snprintf(because, bytes, "1024 keys: %.3g ms, ech_sort() %.3g ms; last ahead with %llu keys",
             best, ms(results, 6, LEAST), (unsigned long long)last);
    return best < ms(results, 6, LEAST);
}

static const struct claim claims[] = {
    { .text = "Variant 4 has one barrier fewer than variant 3", .holds = one_barrier_fewer },
    { .text = "A thread of variant 1 takes O(N) steps", .holds = steps_are_n },
    { .text = "Variant 5 has less than 1/32 of the global memory requests of variant 1",
      .holds = tiles_ask_once },
    { .text = "Variant 5 has less than half of the shared memory requests of variant 4",
      .holds = four_a_load },
    { .text = "Lanes that read the same key, or each its own key, have no bank conflict",
      .holds = no_conflicts },
    { .text = "O(N) time while there is a thread per key: up to 2^14 keys",
      .of_gpu = true,
      .holds = linear_at_first },
    { .text = "O(N^2) time beyond that: from 2^16 to 2^18 keys",
      .of_gpu = true,
      .holds = quadratic_at_last },
    { .text = "With fewer threads, O(N^2) begins at smaller N",
      .of_gpu = true,
      .holds = threads_last },
    { .text = "Shared memory is faster than global memory, registers than both",
      .of_gpu = true,
      .holds = each_faster },
    { .text = "Tiles are four times as fast as one thread per key",
      .of_gpu = true,
      .holds = tiles_faster },
    { .text = "With a thread per key no other sort is as fast",
      .of_gpu = true,
      .holds = beats_production },
};

static const uint64_t checked[] = { 0, 1, 2, 31, 33, 100, 256, 257, 515, 1000, LADDER_END };
static const uint64_t counted[] = { FEW, TWICE, LADDER_END };
static const uint64_t timed[] = { LEAST, 1 << 12, 1 << 14, 1 << 16, MOST, LADDER_END };

const struct ladder rank_ladder = { .name = "rank",
                                    .summary = "rank sort: counts the position of every key",
                                    .types = "u32 i32 f32",
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
                                    .make = ladder_make_keys,
                                    .expect = ladder_expect_sorted };
