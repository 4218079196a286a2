/*
 * msd.c - the ladder of radix sorts from the most significant digit, which differ in how a block
 * ranks the digits of a tile: stably, or in any order.
 *
 * Every rung has four rows.  The first sorts keys.  "One scatter" stops after the first level and
 * returns the keys as order-preserving bits; its second row has equal keys.  "With values" sorts
 * few distinct keys whose value is their index, and returns the keys, then the values.  observe()
 * counts the keys, or values, that are not where a stable scatter, or sort, puts them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.h"

#include "io/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    THREADS = 256,
    TILE = 4096,
    LARGE_TILE = 11264,
    BINS = 256,
    FIRST_SHIFT = 24,
    DIGITS = 1 << 16
};
enum { SCATTER = 1, EQUAL = 2, PAIRS = 4 }; /* parameters of rows */
enum { PRODUCTION = 5, COPIES = 16 /* of each key, with values */ };

static bool has(const struct trial *trial, unsigned flag)
{
    return trial->rung->parameter & flag;
}

/* p[0]: bytes of an array of items; p[1]: blocks of the first level; p[2]: bits of the second, so
 * that the buckets have at most about 64 keys, or 2^-16 of all; p[3]: buckets after both. */
static void shape(struct trial *trial)
{
    ladder_shape_keys(trial);
    if (has(trial, PAIRS)) trial->out_bytes = 2 * trial->in_bytes;
    trial->p[0] = trial->n * sizeof(uint64_t);
    uint64_t most = trial->device ? 4 * (uint64_t)trial->device->multiprocessors : 1;
    uint64_t tiles = ladder_ceil(trial->n, trial->rung->number == 4 ? LARGE_TILE : TILE);
    trial->p[1] = tiles < most ? tiles : most;
    trial->p[2] = 0;
    while (trial->p[2] < 8 && trial->n > (uint64_t)1 << (14 + trial->p[2])) trial->p[2]++;
    trial->p[3] = (uint64_t)BINS << trial->p[2];
    trial->scratch_bytes = 2 * trial->p[0] + (BINS * trial->p[1] + trial->p[3]) * sizeof(uint32_t);
}

/* ---- Data and oracle ---- */

static void make(struct trial *trial)
{
    if (has(trial, EQUAL)) trial->seed = 3;
    ladder_make_keys(trial);
    if (!has(trial, PAIRS) || trial->seed == 3) return;
    uint64_t distinct = ladder_ceil(trial->n, COPIES), step = ((uint64_t)1 << 32) / (distinct + 1);
    for (uint64_t i = 0; i < trial->n; i++)
        io_store((char *)trial->host_in + i * trial->element_bytes, trial->element_bytes,
                 io_unrank(trial->type, ladder_random(trial->seed, i) % distinct * step));
}

/* Sorts items stably by the `bits` bits at `shift`. */
static void sort_digit(const uint64_t *from, uint64_t *to, uint64_t n, int shift, int bits,
                       uint64_t *places)
{
    uint64_t mask = ((uint64_t)1 << bits) - 1;
    memset(places, 0, (DIGITS + 1) * sizeof *places);
    for (uint64_t i = 0; i < n; i++) places[(from[i] >> shift & mask) + 1]++;
    for (uint64_t digit = 0; digit < mask; digit++) places[digit + 1] += places[digit];
    for (uint64_t i = 0; i < n; i++) to[places[from[i] >> shift & mask]++] = from[i];
}

/* The expected result: of a stable scatter, or of a stable sort with values. */
static void expect_stable(struct trial *trial)
{
    uint32_t *expected = trial->expected;
    uint64_t *from = malloc((size_t)trial->n * sizeof *from + 1);
    uint64_t *to = malloc((size_t)trial->n * sizeof *to + 1);
    uint64_t *places = malloc((DIGITS + 1) * sizeof *places);
    if (from && to && places) {
        for (uint64_t i = 0; i < trial->n; i++)
            from[i] = ladder_order_bits(trial->type, trial->host_in, i) << 32 | (uint32_t)i;
        if (has(trial, SCATTER)) {
            sort_digit(from, to, trial->n, 32 + FIRST_SHIFT, 8, places);
            for (uint64_t i = 0; i < trial->n; i++) expected[i] = (uint32_t)(to[i] >> 32);
        } else {
            sort_digit(from, to, trial->n, 32, 16, places);
            sort_digit(to, from, trial->n, 48, 16, places);
            for (uint64_t i = 0; i < trial->n; i++) {
                io_store(&expected[i], sizeof *expected, io_unrank(trial->type, from[i] >> 32));
                expected[trial->n + i] = (uint32_t)from[i];
            }
        }
    } else {
        ladder_fail(trial, "out of memory for %llu keys", (unsigned long long)trial->n);
    }
    free(from);
    free(to);
    free(places);
}

static void expect(struct trial *trial)
{
    if (has(trial, SCATTER | PAIRS))
        expect_stable(trial);
    else
        ladder_expect_sorted(trial);
}

static bool refuse(char *message, size_t bytes, const char *what, uint64_t i)
{
    snprintf(message, bytes, "%s at position %llu", what, (unsigned long long)i);
    return false;
}

/* Digits in the right places, and in each bucket the expected keys in any order: their number and
 * the sum of a hash of the keys are as expected. */
static bool accept_scatter(const struct trial *trial, char *message, size_t bytes)
{
    const uint32_t *out = trial->host_out, *expected = trial->expected;
    uint64_t sums[BINS] = { 0 };
    for (uint64_t i = 0; i < trial->n; i++) {
        uint32_t digit = out[i] >> FIRST_SHIFT;
        if (digit != expected[i] >> FIRST_SHIFT) return refuse(message, bytes, "another digit", i);
        sums[digit] += ladder_random(1, out[i]) - ladder_random(1, expected[i]);
    }
    for (uint64_t digit = 0; digit < BINS; digit++)
        if (sums[digit]) return refuse(message, bytes, "other keys in the bucket", digit);
    return true;
}

/* The keys are sorted, and each value is the index of a key like its own, once. */
static bool accept_pairs(const struct trial *trial, char *message, size_t bytes)
{
    const uint32_t *out = trial->host_out, *values = out + trial->n, *in = trial->host_in;
    if (memcmp(out, trial->expected, trial->in_bytes) != 0)
        return refuse(message, bytes, "the keys are not sorted: a difference", 0);
    bool *taken = calloc((size_t)trial->n + 1, sizeof *taken);
    uint64_t i = 0;
    if (!taken) return refuse(message, bytes, "out of memory", 0);
    for (; i < trial->n; i++) {
        if (values[i] >= trial->n || taken[values[i]] || in[values[i]] != out[i]) break;
        taken[values[i]] = true;
    }
    free(taken);
    return i == trial->n || refuse(message, bytes, "the value does not belong to its key", i);
}

static bool accept(const struct trial *trial, char *message, size_t bytes)
{
    if (has(trial, SCATTER)) return accept_scatter(trial, message, bytes);
    if (has(trial, PAIRS)) return accept_pairs(trial, message, bytes);
    if (memcmp(trial->host_out, trial->expected, trial->out_bytes) == 0) return true;
    return refuse(message, bytes, "the keys are not sorted: a difference", 0);
}

static uint64_t observe(const struct trial *trial)
{
    const uint32_t *out = trial->host_out, *expected = trial->expected;
    uint64_t differ = 0;
    for (uint64_t i = 0; i < trial->out_bytes / sizeof *out; i++) differ += out[i] != expected[i];
    return differ;
}

/* ---- Rungs ---- */

static void launch_second(struct trial *trial, const char *kernel, CUdeviceptr from, CUdeviceptr to,
                          CUdeviceptr starts, CUdeviceptr parts)
{
    unsigned stride = (unsigned)trial->p[1], bits = (unsigned)trial->p[2];
    LAUNCH(trial, kernel, BINS, THREADS, 0, &from, &trial->n, &to, &starts, &stride, &bits, &parts);
}

static void by_digits(struct trial *trial)
{
    char first[32], second[32];
    const char *pairs = has(trial, PAIRS) ? "_pairs" : "";
    snprintf(first, sizeof first, "msd_%d_first%s", trial->rung->number, pairs);
    snprintf(second, sizeof second, "msd_%d_second%s", trial->rung->number, pairs);
    uint64_t blocks = trial->p[1];
    unsigned stride = (unsigned)blocks, counts = BINS * stride;
    CUdeviceptr items = trial->scratch, other = items + trial->p[0], starts = other + trial->p[0];
    CUdeviceptr parts = starts + counts * sizeof(uint32_t);
    CUdeviceptr to = has(trial, SCATTER) ? trial->out : items;
    LAUNCH(trial, "msd_count", blocks, THREADS, 0, &trial->in, &trial->n, &starts);
    LAUNCH(trial, "msd_scan", blocks > 0, THREADS, 0, &starts, &counts);
    LAUNCH(trial, first, blocks, THREADS, 0, &trial->in, &trial->n, &to, &starts);
    if (has(trial, SCATTER) || trial->n == 0) return;
    if (trial->p[2] > 0) {
        launch_second(trial, second, items, other, starts, parts);
        CUdeviceptr swap = items;
        items = other;
        other = swap;
        starts = parts;
        stride = 1;
    }
    LAUNCH(trial, has(trial, PAIRS) ? "msd_finish_pairs" : "msd_finish", trial->p[3], THREADS, 0,
           &items, &other, &trial->n, &trial->out, &starts, &stride);
}

static void run_production(struct trial *trial)
{
    const size_t n = (size_t)trial->n;
    ech_ctx *ctx = trial->device->ctx;
    const ech_sort_options options = { .size = sizeof options, .order = ECH_ORDER_TOTAL };
    const void *in = ladder_pointer(trial->in);
    char *out = ladder_pointer(trial->out);
    if (!has(trial, PAIRS)) {
        ladder_try(trial, ech_sort(ctx, in, out, n, trial->type, &options));
        return;
    }
    LAUNCH(trial, "msd_indices", ladder_ceil(trial->n, THREADS), THREADS, 0, &trial->scratch,
           &trial->n);
    ladder_try(trial,
               ech_sort_pairs(ctx, in, ladder_pointer(trial->scratch), out, out + trial->in_bytes,
                              n, trial->type, sizeof(uint32_t), &options));
}

#define ROW(n, name, words, flags, own, function)                                                  \
    {                                                                                              \
        .number = n, .idea = name, .text = words, .parameter = flags, .own_data = own,             \
        .most = UINT32_MAX, .run = function                                                        \
    }
/* The four rows of a rung. */
#define RUNG(n, name, words)                                                                       \
    ROW(n, name, words, 0, false, by_digits),                                                      \
        ROW(n, name, "... one scatter", SCATTER, true, by_digits),                                 \
        ROW(n, name, "... one scatter, equal keys", SCATTER | EQUAL, true, by_digits),             \
        ROW(n, name, "... with values", PAIRS, true, by_digits)

static const struct rung rungs[] = {
    RUNG(1, "ballots", "ranks by ballots"),
    RUNG(2, "match", "ranks by __match_any_sync()"),
    RUNG(3, "atomics", "ranks by shared atomics"),
    RUNG(4, "large_tiles", "... and tiles of 11,264 keys"),
    ROW(PRODUCTION, "production", "production, ech_sort()", 0, false, run_production),
    ROW(PRODUCTION, "production", "... with values, ech_sort_pairs()", PAIRS, true, run_production),
};

/* ---- Claims of counts ---- */

static const struct result *row_of(const struct results *results, int number, unsigned flags)
{
    return ladder_row(results, number, flags, 0);
}

/* Per 32 keys, in one scatter. */
static double operations(const struct results *results, int number)
{
    const struct result *row = row_of(results, number, SCATTER);
    return (double)row->counts.warp_operations / ((double)row->n / 32);
}

/* Rungs 1 and 2 have two warp barriers per 32 keys and a few shuffles per tile, as rung 3 has. */
static bool one_atomic(const struct results *results, char *because, size_t bytes)
{
    double ballots = operations(results, 1) - operations(results, 3) - 2;
    double match = operations(results, 2) - operations(results, 3) - 2;
    const struct result *third = row_of(results, 3, SCATTER);
    /* The count of the digits is another atomic per 32 keys. */
    double atomics = (double)third->counts.shared_atomics / ((double)third->n / 32) - 1;
    snprintf(because, bytes, "per 32 keys: %.0f ballots; %.0f match; %.0f atomic", ballots, match,
             atomics);
    return ballots == 9 && match == 1 && atomics == 1;
}

static double shared_requests(const struct results *results, int number)
{
    const struct result *row = row_of(results, number, SCATTER);
    const struct simt_counts *c = &row->counts;
    return (double)(c->shared_loads + c->shared_stores + c->shared_atomics) / ((double)row->n / 32);
}

static bool fewer_requests(const struct results *results, char *because, size_t bytes)
{
    double first = shared_requests(results, 1), third = shared_requests(results, 3);
    snprintf(because, bytes, "%.1f requests to shared memory per 32 keys, by ballots %.1f", third,
             first);
    return third < first;
}

static bool stable_scatter(const struct results *results, char *because, size_t bytes)
{
    uint64_t moved[5] = { 0 };
    for (int number = 1; number <= 4; number++)
        moved[number] = row_of(results, number, SCATTER)->observed;
    snprintf(because, bytes,
             "keys not in their stable position: %llu, %llu, %llu, %llu of %llu in rungs 1 to 4",
             (unsigned long long)moved[1], (unsigned long long)moved[2],
             (unsigned long long)moved[3], (unsigned long long)moved[4],
             (unsigned long long)row_of(results, 1, SCATTER)->n);
    return moved[1] == 0 && moved[2] == 0 && moved[3] > 0 && moved[4] > 0;
}

static bool keys_equal(const struct results *results, char *because, size_t bytes)
{
    bool right = true;
    for (int number = 1; number <= PRODUCTION; number++) {
        const struct result *row = row_of(results, number, 0);
        right = right && row->right && row->observed == 0;
    }
    snprintf(because, bytes, "all five results are byte-identical");
    return right;
}

static bool pairs_differ(const struct results *results, char *because, size_t bytes)
{
    uint64_t moved[PRODUCTION + 1] = { 0 };
    for (int number = 1; number <= PRODUCTION; number++)
        moved[number] = row_of(results, number, PAIRS)->observed;
    snprintf(because, bytes,
             "values out of their stable order: %llu, %llu, %llu, %llu in rungs 1 to 4, "
             "ech_sort_pairs() %llu",
             (unsigned long long)moved[1], (unsigned long long)moved[2],
             (unsigned long long)moved[3], (unsigned long long)moved[4],
             (unsigned long long)moved[PRODUCTION]);
    return moved[1] == 0 && moved[2] == 0 && moved[3] > 0 && moved[4] > 0 && moved[PRODUCTION] == 0;
}

static double wavefronts(const struct result *row)
{
    return (double)row->counts.shared_atomic_wavefronts / (double)row->counts.shared_atomics;
}

static bool equal_digits(const struct results *results, char *because, size_t bytes)
{
    double random = wavefronts(row_of(results, 3, SCATTER));
    double equal = wavefronts(row_of(results, 3, SCATTER | EQUAL));
    snprintf(because, bytes, "%.1f wavefronts per atomic for random keys, %.1f for equal keys",
             random, equal);
    return random < 6 && equal == 32;
}

static bool longer_runs(const struct results *results, char *because, size_t bytes)
{
    double sectors[2];
    for (int i = 0; i < 2; i++) {
        const struct result *row = row_of(results, 3 + i, SCATTER);
        sectors[i] = (double)row->counts.store_sectors / ((double)row->n / 32);
    }
    snprintf(because, bytes, "%.1f sectors written per 32 keys, by small tiles %.1f", sectors[1],
             sectors[0]);
    return sectors[1] < 0.8 * sectors[0];
}

/* ---- Claims of times ---- */

static bool ratio(const struct results *results, int a, int b, unsigned flags, double least,
                  char *because, size_t bytes)
{
    return ladder_ratio(row_of(results, a, flags), row_of(results, b, flags), least, 1e9, because,
                        bytes);
}

static bool atomics_faster(const struct results *results, char *because, size_t bytes)
{
    return ratio(results, 1, 3, SCATTER, 1.2, because, bytes);
}

static bool match_slower(const struct results *results, char *because, size_t bytes)
{
    return ratio(results, 2, 1, SCATTER, 1, because, bytes);
}

static bool match_fastest(const struct results *results, char *because, size_t bytes)
{
    double first = row_of(results, 1, SCATTER | EQUAL)->ms;
    double second = row_of(results, 2, SCATTER | EQUAL)->ms;
    double third = row_of(results, 3, SCATTER | EQUAL)->ms;
    snprintf(because, bytes, "equal keys: ballots %.4g ms, match %.4g ms, atomics %.4g ms", first,
             second, third);
    return second < first && second < third;
}

static bool equal_no_worse(const struct results *results, char *because, size_t bytes)
{
    return ladder_ratio(row_of(results, 3, SCATTER | EQUAL), row_of(results, 1, SCATTER | EQUAL), 0,
                        1.1, because, bytes);
}

static bool large_faster(const struct results *results, char *because, size_t bytes)
{
    return ratio(results, 3, 4, SCATTER, 1, because, bytes);
}

static bool production_faster(const struct results *results, char *because, size_t bytes)
{
    return ratio(results, 4, PRODUCTION, 0, 1, because, bytes);
}

static bool stability_costs(const struct results *results, char *because, size_t bytes)
{
    const struct result *keys = row_of(results, PRODUCTION, 0);
    const struct result *pairs = row_of(results, PRODUCTION, PAIRS);
    snprintf(because, bytes,
             "keys %.4g ms, stable pairs %.4g ms: %.2f times the time for twice the "
             "bytes",
             keys->ms, pairs->ms, pairs->ms / keys->ms);
    return pairs->ms > 2 * keys->ms;
}

static const struct claim claims[] = {
    { .text = "One atomic that returns replaces nine ballots or one match", .holds = one_atomic },
    { .text = "Atomics need fewer requests to shared memory than ballots",
      .holds = fewer_requests },
    { .text = "Ballots and match rank stably, atomics do not", .holds = stable_scatter },
    { .text = "Keys without values have one sorted order, however they are ranked",
      .holds = keys_equal },
    { .text = "With values the instability of atomics is visible", .holds = pairs_differ },
    { .text = "Atomics of equal digits are serialised", .holds = equal_digits },
    { .text = "Large tiles write less than four fifths of the sectors", .holds = longer_runs },
    { .text = "A scatter ranked by atomics is at least 1.2 times as fast as one by ballots",
      .of_gpu = true,
      .holds = atomics_faster },
    { .text = "For random digits match is slower than ballots",
      .of_gpu = true,
      .holds = match_slower },
    { .text = "For equal digits match is the fastest", .of_gpu = true, .holds = match_fastest },
    { .text = "For equal digits atomics are at most a tenth slower than ballots",
      .of_gpu = true,
      .holds = equal_no_worse },
    { .text = "Large tiles are faster", .of_gpu = true, .holds = large_faster },
    { .text = "Production is faster than every rung", .of_gpu = true, .holds = production_faster },
    { .text = "A stable sort of pairs takes more than twice the time of a sort of the keys",
      .of_gpu = true,
      .holds = stability_costs },
};

/* 6200 descending keys and 7000 equal keys are one bucket, which does not fit on chip; 16400 random
 * keys have a second level. */
static const uint64_t checked[] = { 0, 1, 33, 257, 4097, 7000, 16400, LADDER_END };
static const uint64_t counted[] = { 4 * LARGE_TILE, LADDER_END };
static const uint64_t timed[] = { 1 << 26, LADDER_END };

const struct ladder msd_ladder = { .name = "msd",
                                   .summary = "radix sort, most significant digit first: ranking",
                                   .types = "u32 f32",
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
                                   .accept = accept,
                                   .observe = observe };
