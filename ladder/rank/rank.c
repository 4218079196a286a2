/*
 * rank.c - the ladder of rank sorts: the final position of every key is found by counting.
 *
 * Equal keys keep their order, so every position is taken once.  Rungs 3 and 4 are one block, whose
 * shared memory contains the whole array.
 *
 * Two rows of rung 1 have data and results of their own.  "Descending" has few distinct keys, and
 * also returns the index of each key, which shows the order of equal keys.  "The original's ranks"
 * has five keys of which two are equal, and returns the ranks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.h"

#include "io/io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 256, ONE_BLOCK = 1024, LEAST = 1 << 10, MOST = 1 << 18 };
enum { DESCENDING = 1, DISTINCT = 2 }; /* parameters of rows of rung 1 */
enum { FIVE = 5, DESCENDING_KEYS = 11 /* distinct keys of the descending row */ };

static const unsigned five_keys[FIVE] = { 1, 1, 2, 4, 7 };
static const unsigned five_ranks[FIVE] = { 0, 0, 2, 3, 4 };

static bool descends(const struct trial *trial)
{
    return trial->rung->parameter == DESCENDING;
}

static bool is_distinct(const struct trial *trial)
{
    return trial->rung->parameter == DISTINCT;
}

static void shape(struct trial *trial)
{
    ladder_shape_keys(trial);
    if (descends(trial)) trial->out_bytes *= 2;         /* the keys, then their indices */
    trial->scratch_bytes = trial->n * sizeof(uint64_t); /* the ranks */
}

/* ---- Data and oracles of the two rows ---- */

static void store(const struct trial *trial, void *elements, uint64_t i, uint64_t number)
{
    const size_t bytes = trial->element_bytes;
    const float f = (float)number;
    const uint32_t u = (uint32_t)number;
    memcpy((char *)elements + i * bytes, trial->type == ECH_F32 ? (const void *)&f : &u, bytes);
}

static void make(struct trial *trial)
{
    ladder_make_keys(trial);
    for (uint64_t i = 0; i < trial->n && trial->rung->parameter; i++)
        store(trial, trial->host_in, i,
              is_distinct(trial) ? five_keys[i] : ladder_random(trial->seed, i) % DESCENDING_KEYS);
}

/* Descending: the maximum key first, and for equal keys the last index. */
static void expect_descending(struct trial *trial)
{
    uint64_t place = 0;
    for (unsigned key = DESCENDING_KEYS; key-- > 0;)
        for (uint64_t i = trial->n; i-- > 0;) {
            if (ladder_number(trial->type, trial->host_in, i) != key) continue;
            store(trial, trial->expected, place, key);
            store(trial, trial->expected, trial->n + place, i);
            place++;
        }
}

static void expect(struct trial *trial)
{
    if (descends(trial))
        expect_descending(trial);
    else if (is_distinct(trial))
        for (uint64_t i = 0; i < trial->n; i++) store(trial, trial->expected, i, five_ranks[i]);
    else
        ladder_expect_sorted(trial);
}

/* "Descending": the number of adjacent equal keys in reverse order.  "The original's ranks": the
 * number of positions that no key has. */
static uint64_t observe(const struct trial *trial)
{
    const char *out = trial->host_out;
    uint64_t found = 0;
    if (descends(trial)) {
        for (uint64_t i = 1; i < trial->n; i++)
            found += ladder_number(trial->type, out, i - 1) == ladder_number(trial->type, out, i) &&
                     ladder_number(trial->type, out, trial->n + i - 1) >
                         ladder_number(trial->type, out, trial->n + i);
    } else if (is_distinct(trial)) {
        for (uint64_t place = 0; place < trial->n; place++) {
            bool taken = false;
            for (uint64_t i = 0; i < trial->n; i++)
                taken = taken || ladder_number(trial->type, out, i) == (double)place;
            found += !taken;
        }
    }
    return found;
}

/* ---- Rungs ---- */

static void run_1(struct trial *trial)
{
    const char *kernel = descends(trial)      ? "rank_1_descending"
                         : is_distinct(trial) ? "rank_1_distinct"
                                              : "rank_1";
    LAUNCH(trial, kernel, ladder_ceil(trial->n, THREADS), THREADS, 0, &trial->in, &trial->n,
           &trial->out, &trial->scratch);
}

static void run_2(struct trial *trial)
{
    uint64_t blocks = ladder_ceil(trial->n, 4 * THREADS);
    uint64_t most = (uint64_t)trial->device->multiprocessors;
    LAUNCH(trial, "rank_2", blocks < most ? blocks : most, THREADS, 0, &trial->in, &trial->n,
           &trial->out, &trial->scratch);
}

static void one_block(struct trial *trial, const char *kernel)
{
    unsigned threads = (unsigned)(32 * ladder_ceil(trial->n, 32));
    LAUNCH(trial, kernel, trial->n > 0, threads, 0, &trial->in, &trial->n, &trial->out);
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

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The C library's sort, of the order-preserving form of the keys. */
static void run_qsort(struct trial *trial)
{
    size_t bytes = trial->element_bytes;
    uint64_t *keys = malloc((size_t)trial->n * sizeof *keys + 1);
    if (!keys) {
        ladder_fail(trial, "out of memory for %llu keys", (unsigned long long)trial->n);
        return;
    }
    for (uint64_t i = 0; i < trial->n; i++)
        keys[i] = ladder_order_bits(trial->type, trial->host_in, i);
    qsort(keys, (size_t)trial->n, sizeof *keys, compare);
    for (uint64_t i = 0; i < trial->n; i++)
        io_store((char *)trial->host_out + i * bytes, bytes, io_unrank(trial->type, keys[i]));
    free(keys);
}

static void run_production(struct trial *trial)
{
    ech_sort_options options = { .size = sizeof options, .order = ECH_ORDER_TOTAL };
    ladder_try(trial,
               ech_sort(trial->device->ctx, ladder_pointer(trial->in), ladder_pointer(trial->out),
                        (size_t)trial->n, trial->type, &options));
}

enum { PRODUCTION = 7 };

static const struct rung rungs[] = {
    { .number = 1, .idea = "thread_a_key", .text = "one thread per key", .run = run_1 },
    { .number = 1,
      .idea = "thread_a_key",
      .text = "... descending, with indices",
      .parameter = DESCENDING,
      .own_data = true,
      .most = ONE_BLOCK,
      .run = run_1 },
    { .number = 1,
      .idea = "thread_a_key",
      .text = "... the original's ranks: 1 1 2 4 7",
      .parameter = DISTINCT,
      .own_data = true,
      .most = FIVE,
      .run = run_1 },
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
    { .number = 6,
      .idea = "host_qsort",
      .text = "the host's qsort()",
      .on_host = true,
      .run = run_qsort },
    { .number = PRODUCTION,
      .idea = "production",
      .text = "production, ech_sort()",
      .run = run_production },
};

/* ---- Claims of counts ---- */

enum { FEW = 512, TWICE = 1024 }; /* n of the counted runs */

static const struct simt_counts *counts(const struct results *results, int number, uint64_t n)
{
    return &ladder_row(results, number, 0, n)->counts;
}

/* A barrier counts once per warp.  Rung 3: after the load, the counting, the taking out, the
 * putting back.  Rung 4 takes its key out before it counts. */
static bool one_barrier_fewer(const struct results *results, char *because, size_t bytes)
{
    uint64_t third = counts(results, 3, TWICE)->barriers;
    uint64_t fourth = counts(results, 4, TWICE)->barriers, warps = TWICE / 32;
    snprintf(because, bytes, "%llu and %llu per warp, including those after the load and the swap",
             (unsigned long long)(third / warps), (unsigned long long)(fourth / warps));
    return third == 4 * warps && fourth == 3 * warps;
}

/* Rung 3 reads x[t], rank[t] and x[i] in each step; rung 4 reads x[i]. */
static bool fewer_requests(const struct results *results, char *because, size_t bytes)
{
    const struct simt_counts *third = counts(results, 3, TWICE);
    const struct simt_counts *fourth = counts(results, 4, TWICE);
    uint64_t of_3 = third->shared_loads + third->shared_stores, warps = TWICE / 32;
    uint64_t of_4 = fourth->shared_loads + fourth->shared_stores;
    snprintf(because, bytes, "%.2f and %.2f requests per warp and step",
             (double)of_3 / (double)(warps * TWICE), (double)of_4 / (double)(warps * TWICE));
    return fourth->shared_loads == warps * (TWICE + 2) && of_3 > 2 * of_4;
}

static bool reversed(const struct results *results, char *because, size_t bytes)
{
    const struct result *row = ladder_row(results, 1, DESCENDING, TWICE);
    uint64_t pairs =
        TWICE - DESCENDING_KEYS; /* each key occurs, so this many neighbours are equal */
    snprintf(because, bytes, "%llu of %llu pairs of adjacent equal keys: the later key comes first",
             (unsigned long long)row->observed, (unsigned long long)pairs);
    return row->right && row->observed == pairs;
}

static bool ranks_collide(const struct results *results, char *because, size_t bytes)
{
    const struct result *row = ladder_row(results, 1, DISTINCT, FIVE);
    snprintf(because, bytes, "1 1 2 4 7 have the ranks 0 0 2 3 4: %llu position has no key",
             (unsigned long long)row->observed);
    return row->right && row->observed == 1;
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
    snprintf(because, bytes, "%llu loads of %llu sectors; rung 1: %llu of %llu",
             (unsigned long long)fifth->load_requests, (unsigned long long)fifth->load_sectors,
             (unsigned long long)first->load_requests, (unsigned long long)first->load_sectors);
    return fifth->load_requests == requests && fifth->load_sectors == 4 * requests &&
           first->load_requests > 32 * fifth->load_requests;
}

static bool four_a_load(const struct results *results, char *because, size_t bytes)
{
    uint64_t fourth = counts(results, 4, TWICE)->shared_loads;
    uint64_t fifth = counts(results, 5, TWICE)->shared_loads;
    snprintf(because, bytes, "%llu loads from shared memory, rung 4 %llu",
             (unsigned long long)fifth, (unsigned long long)fourth);
    return 2 * fifth < fourth;
}

/* Lanes that read one word, or each its own, use different banks or share a wavefront.  Only the
 * write of the swap is to any word: at most 31 conflicts per warp. */
static bool no_conflicts(const struct results *results, char *because, size_t bytes)
{
    uint64_t swap = counts(results, 4, TWICE)->bank_conflicts, warps = TWICE / 32;
    uint64_t tiles = counts(results, 5, TWICE)->bank_conflicts;
    snprintf(
        because, bytes, "%.1f per warp, in the write of the swap; 0 in %llu loads; rung 5: %llu",
        (double)swap / (double)warps, (unsigned long long)counts(results, 4, TWICE)->shared_loads,
        (unsigned long long)tiles);
    return tiles == 0 && swap > 0 && swap <= 31 * warps &&
           swap == counts(results, 4, TWICE)->shared_store_wavefronts -
                       counts(results, 4, TWICE)->shared_stores;
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
    snprintf(because, bytes, "2^18 keys: %.3g ms, rung 1 %.3g ms", fifth, first);
    return 4 * fifth < first;
}

static bool beats_production(const struct results *results, char *because, size_t bytes)
{
    uint64_t last = 0;
    double best = INFINITY;
    for (uint64_t n = LEAST; n <= MOST; n *= 4)
        for (int number = 1; number <= 5; number++) {
            if (ms(results, number, n) < ms(results, PRODUCTION, n)) last = n;
            if (n == LEAST) best = fmin(best, ms(results, number, n));
        }
    snprintf(because, bytes, "1024 keys: %.3g ms, ech_sort() %.3g ms; last ahead with %llu keys",
             best, ms(results, PRODUCTION, LEAST), (unsigned long long)last);
    return best < ms(results, PRODUCTION, LEAST);
}

static const struct claim claims[] = {
    { .text = "Rung 4 has one barrier fewer than rung 3", .holds = one_barrier_fewer },
    { .text = "Rung 4 has less than half of the shared memory requests of rung 3",
      .holds = fewer_requests },
    { .text = "Descending order reverses equal keys", .holds = reversed },
    { .text = "The original's ranks lose a key if two keys are equal", .holds = ranks_collide },
    { .text = "A thread of rung 1 takes O(N) steps", .holds = steps_are_n },
    { .text = "Rung 5 has less than 1/32 of the global memory requests of rung 1",
      .holds = tiles_ask_once },
    { .text = "Rung 5 has less than half of the shared memory requests of rung 4",
      .holds = four_a_load },
    { .text = "Counting has no bank conflict, the swap has some", .holds = no_conflicts },
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

static const uint64_t checked[] = { 0, 1, 2, 5, 31, 33, 100, 256, 257, 515, 1000, LADDER_END };
static const uint64_t counted[] = { FEW, TWICE, LADDER_END };
static const uint64_t timed[] = { 1000, LEAST, 1 << 12, 1 << 14, 1 << 16, MOST, LADDER_END };

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
                                    .make = make,
                                    .expect = expect,
                                    .observe = observe };
