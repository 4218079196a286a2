/*
 * reduce.c - the ladder of reductions: the sum of n elements, of their type; also their minimum and
 * maximum.  The parameter of a rung is the operation.
 *
 * A rung computes one sum per block; the sums of the blocks are reduced in the same way until one
 * is left.  Integers are added modulo 2^32 or 2^64; floats in any order, so the result may differ
 * by the rounding errors of a tree.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 256 };
enum { SUM = 0, MINIMUM = 1, MAXIMUM = 2 };

static void shape(struct trial *trial)
{
    trial->in_bytes = trial->n * trial->element_bytes;
    trial->out_bytes = trial->element_bytes;
    /* The sums of the blocks, and the sums of these; production's result has 64 bits. */
    trial->p[0] = ladder_ceil(trial->n, THREADS) + 2;
    trial->scratch_bytes = 2 * trial->p[0] * trial->element_bytes;
}

/* 0 if there is no element. */
static void expect_best(struct trial *trial)
{
    const char *in = trial->host_in;
    uint64_t best = 0;
    memset(trial->expected, 0, trial->element_bytes);
    for (uint64_t i = 1; i < trial->n; i++) {
        uint64_t a = ladder_order_bits(trial->type, in, i);
        uint64_t b = ladder_order_bits(trial->type, in, best);
        if (trial->rung->parameter == MINIMUM ? a < b : a > b) best = i;
    }
    if (trial->n) memcpy(trial->expected, in + best * trial->element_bytes, trial->element_bytes);
}

static void expect(struct trial *trial)
{
    if (trial->rung->parameter != SUM) {
        expect_best(trial);
        return;
    }
    double sum = 0;
    float narrow;
    uint64_t bits = 0;
    for (uint64_t i = 0; i < trial->n; i++) {
        uint64_t x = 0;
        memcpy(&x, (char *)trial->host_in + i * trial->element_bytes, trial->element_bytes);
        bits += x;
        sum += ladder_number(trial->type, trial->host_in, i);
    }
    narrow = (float)sum;
    if (trial->type == ECH_F64)
        memcpy(trial->expected, &sum, sizeof sum);
    else if (trial->type == ECH_F32)
        memcpy(trial->expected, &narrow, sizeof narrow);
    else
        memcpy(trial->expected, &bits, trial->element_bytes);
}

/* An addition rounds by at most half a unit.  From an element to the root of a tree there are fewer
 * than 64 additions, and n / threads in the loop of a thread. */
static bool accept(const struct trial *trial, char *message, size_t bytes)
{
    double got = ladder_number(trial->type, trial->host_out, 0);
    double wanted = ladder_number(trial->type, trial->expected, 0), all = 0;
    if (trial->rung->parameter != SUM || (trial->type != ECH_F32 && trial->type != ECH_F64)) {
        if (memcmp(trial->host_out, trial->expected, trial->out_bytes) == 0) return true;
        snprintf(message, bytes, "the result is %.17g, not %.17g", got, wanted);
        return false;
    }
    for (uint64_t i = 0; i < trial->n; i++)
        all += fabs(ladder_number(trial->type, trial->host_in, i));
    double steps = 64 + (double)trial->n / 256;
    double limit = all * steps * (trial->type == ECH_F32 ? 0x1p-24 : 0x1p-53);
    if (fabs(got - wanted) <= limit || (isnan(wanted) && isnan(got)) || got == wanted) return true;
    snprintf(message, bytes, "the sum is %.17g, not %.17g within %.3g", got, wanted, limit);
    return false;
}

/* ---- Rungs ---- */

/* Launches a kernel whose blocks reduce `each` elements, until there is one sum. */
static void climb(struct trial *trial, const char *kernel, uint64_t each)
{
    CUdeviceptr from = trial->in, to = trial->scratch;
    CUdeviceptr other = trial->scratch + trial->p[0] * trial->element_bytes;
    uint64_t n = trial->n;
    do {
        uint64_t blocks = n ? ladder_ceil(n, each) : 1; /* the empty sum is 0 */
        if (blocks == 1) to = trial->out;
        LAUNCH(trial, kernel, blocks, THREADS, 0, &from, &n, &to);
        from = to;
        to = to == trial->scratch ? other : trial->scratch;
        n = blocks;
    } while (n > 1);
}

static void run_1(struct trial *trial)
{
    climb(trial, "reduce_1", THREADS);
}

static void run_2(struct trial *trial)
{
    climb(trial, "reduce_2", THREADS);
}

static void run_3(struct trial *trial)
{
    climb(trial, "reduce_3", THREADS);
}

static void run_4(struct trial *trial)
{
    climb(trial, "reduce_4", 2 * THREADS);
}

static void run_5(struct trial *trial)
{
    climb(trial, "reduce_5", 2 * THREADS);
}

static void run_6(struct trial *trial)
{
    climb(trial, "reduce_6", 2 * THREADS);
}

/* As many blocks as can run at once, and one block for their results. */
static void grid(struct trial *trial, const char *kernel)
{
    uint64_t most = 8 * (uint64_t)trial->device->multiprocessors;
    uint64_t blocks = ladder_ceil(trial->n, 4 * THREADS);
    if (blocks > most) blocks = most;
    if (blocks == 0) blocks = 1;
    LAUNCH(trial, kernel, blocks, THREADS, 0, &trial->in, &trial->n, &trial->scratch);
    LAUNCH(trial, kernel, 1, THREADS, 0, &trial->scratch, &blocks, &trial->out);
}

static void run_7(struct trial *trial)
{
    grid(trial, "reduce_7");
}

static void run_8(struct trial *trial)
{
    if (trial->n == 0)
        ladder_zero(trial, trial->out, trial->out_bytes); /* no elements have no minimum */
    else
        grid(trial, trial->rung->parameter == MINIMUM ? "reduce_8_min" : "reduce_8_max");
}

static void run_production(struct trial *trial)
{
    static const ech_op ops[] = { ECH_OP_SUM, ECH_OP_MIN, ECH_OP_MAX };
    if (trial->n == 0 && trial->rung->parameter != SUM) {
        ladder_zero(trial, trial->out, trial->out_bytes);
        return;
    }
    /* Production's sums of 32-bit integers have 64 bits; the lower half is the sum modulo 2^32. */
    ladder_try(trial, ech_reduce(trial->device->ctx, ops[trial->rung->parameter],
                                 ladder_pointer(trial->in), ladder_pointer(trial->scratch),
                                 (size_t)trial->n, trial->type, NULL));
    ladder_copy(trial, trial->out, trial->scratch, trial->element_bytes);
}

static const struct rung rungs[] = {
    { .number = 1, .idea = "interleaved", .text = "interleaved, by t modulo 2s", .run = run_1 },
    { .number = 2, .idea = "strided", .text = "interleaved, by the first threads", .run = run_2 },
    { .number = 3, .idea = "sequential", .text = "upper half onto lower", .run = run_3 },
    { .number = 4, .idea = "load_add", .text = "first addition while loading", .run = run_4 },
    { .number = 5, .idea = "last_warp", .text = "last warp without block barriers", .run = run_5 },
    { .number = 6, .idea = "shuffle", .text = "shuffles", .run = run_6 },
    { .number = 7, .idea = "many_loads", .text = "few blocks, many loads", .run = run_7 },
    { .number = 8,
      .idea = "minimum",
      .text = "the minimum, by few blocks",
      .parameter = MINIMUM,
      .own_data = true,
      .run = run_8 },
    { .number = 8,
      .idea = "minimum",
      .text = "the maximum, by few blocks",
      .parameter = MAXIMUM,
      .own_data = true,
      .run = run_8 },
    { .number = 9,
      .idea = "production",
      .text = "production, ech_reduce()",
      .run = run_production },
    { .number = 9,
      .idea = "production",
      .text = "production, the minimum",
      .parameter = MINIMUM,
      .own_data = true,
      .run = run_production },
    { .number = 9,
      .idea = "production",
      .text = "production, the maximum",
      .parameter = MAXIMUM,
      .own_data = true,
      .run = run_production },
};

/* ---- Claims ---- */

static uint64_t conflicts(const struct results *results, int number)
{
    return ladder_row(results, number, 0, 0)->counts.bank_conflicts;
}

/* In step s = 1, 2, 4 ... 128, 128 / s of 256 threads work, 2s words apart: 2, 4, 8, 8, 8, 4, 2
 * lanes of a warp access the same bank, in 4, 2, 1, 1, 1, 1, 1 warps.  An addition reads two words
 * and writes one. */
static bool conflicts_double(const struct results *results, char *because, size_t bytes)
{
    const struct result *row = ladder_row(results, 2, 0, 0);
    uint64_t blocks = 0, a_block = 3 * (4 * 1 + 2 * 3 + 3 * 7 + 3 + 1);
    for (uint64_t n = row->n; n > 1; n = ladder_ceil(n, THREADS)) blocks += ladder_ceil(n, THREADS);
    snprintf(because, bytes, "%llu conflicts, %llu per block; rung 3: %llu",
             (unsigned long long)conflicts(results, 2),
             (unsigned long long)(conflicts(results, 2) / blocks),
             (unsigned long long)conflicts(results, 3));
    return conflicts(results, 2) == a_block * blocks && conflicts(results, 3) == 0;
}

static bool divergence_falls(const struct results *results, char *because, size_t bytes)
{
    uint64_t first = ladder_row(results, 1, 0, 0)->counts.divergent;
    uint64_t second = ladder_row(results, 2, 0, 0)->counts.divergent;
    snprintf(because, bytes, "%llu divergent branches in rung 1, %llu in rung 2",
             (unsigned long long)first, (unsigned long long)second);
    return first > 2 * second;
}

/* Per block of 8 warps. */
static uint64_t a_block(const struct results *results, int number, uint64_t barriers)
{
    return barriers / (THREADS / 32) / ladder_row(results, number, SUM, 0)->blocks;
}

static bool fewer_barriers(const struct results *results, char *because, size_t bytes)
{
    uint64_t b[7] = { 0 };
    for (int i = 3; i <= 6; i++) b[i] = ladder_row(results, i, SUM, 0)->counts.barriers;
    snprintf(because, bytes,
             "counted once per warp: %llu, %llu, %llu, %llu; per block: %llu, %llu, %llu, %llu",
             (unsigned long long)b[3], (unsigned long long)b[4], (unsigned long long)b[5],
             (unsigned long long)b[6], (unsigned long long)a_block(results, 3, b[3]),
             (unsigned long long)a_block(results, 4, b[4]),
             (unsigned long long)a_block(results, 5, b[5]),
             (unsigned long long)a_block(results, 6, b[6]));
    return a_block(results, 3, b[3]) == 9 && a_block(results, 4, b[4]) == 9 && b[3] > b[4] &&
           a_block(results, 5, b[5]) == 3 && a_block(results, 6, b[6]) == 1;
}

static bool each_faster(const struct results *results, char *because, size_t bytes)
{
    bool holds = true;
    size_t length = 0;
    double before = INFINITY;
    for (int i = 1; i <= 5; i++) {
        double ms = ladder_row(results, i, 0, 0)->ms;
        length +=
            (size_t)snprintf(because + length, bytes - length, "%s%.3g ms", i > 1 ? ", " : "", ms);
        holds = holds && ms < before;
        before = ms;
    }
    return holds;
}

static bool half_the_blocks(const struct results *results, char *because, size_t bytes)
{
    uint64_t n = ladder_row(results, 4, SUM, 0)->n;
    uint64_t three = ladder_row(results, 3, SUM, 0)->blocks;
    uint64_t four = ladder_row(results, 4, SUM, 0)->blocks;
    snprintf(because, bytes, "blocks of both launches: %llu, %llu", (unsigned long long)three,
             (unsigned long long)four);
    return three == ladder_ceil(n, THREADS) + 1 && four == ladder_ceil(n, 2 * THREADS) + 1;
}

static bool minimum_as_sum(const struct results *results, char *because, size_t bytes)
{
    const struct simt_counts *sum = &ladder_row(results, 7, SUM, 0)->counts;
    const struct simt_counts *least = &ladder_row(results, 8, MINIMUM, 0)->counts;
    snprintf(because, bytes,
             "sectors loaded: %llu, %llu; barriers: %llu, %llu; shuffles: %llu, %llu",
             (unsigned long long)sum->load_sectors, (unsigned long long)least->load_sectors,
             (unsigned long long)sum->barriers, (unsigned long long)least->barriers,
             (unsigned long long)sum->warp_operations, (unsigned long long)least->warp_operations);
    /* Each warp also loads the first element. */
    return sum->barriers == least->barriers && sum->warp_operations == least->warp_operations &&
           least->load_sectors - sum->load_sectors ==
               ladder_row(results, 8, MINIMUM, 0)->blocks * (THREADS / 32);
}

static bool minimum_as_fast(const struct results *results, char *because, size_t bytes)
{
    return ladder_ratio(ladder_row(results, 9, MINIMUM, 0), ladder_row(results, 9, SUM, 0), 0.95,
                        1.05, because, bytes);
}

static const struct claim claims[] = {
    { .text = "The bank conflicts of rung 2 double in each step; rung 3 has none",
      .holds = conflicts_double },
    { .text = "Rung 2 diverges less than half as often as rung 1", .holds = divergence_falls },
    { .text = "Adding while loading halves the number of blocks", .holds = half_the_blocks },
    { .text = "A block has 9 barriers in rungs 3 and 4, 3 in rung 5, and 1 in rung 6",
      .holds = fewer_barriers },
    { .text =
          "The minimum needs the same shuffles and barriers as the sum, and a load more per warp",
      .holds = minimum_as_sum },
    { .text = "Each of the five rungs of the lecture is faster than the previous one",
      .of_gpu = true,
      .holds = each_faster },
    { .text = "Production computes a minimum as fast as a sum",
      .of_gpu = true,
      .holds = minimum_as_fast },
};

static const uint64_t checked[] = { 0,   1,   2,    31,   32,   33,    255,       256,
                                    257, 511, 1000, 4097, 9999, 65537, LADDER_END };
static const uint64_t counted[] = { 1 << 14, LADDER_END };
static const uint64_t timed[] = { 1 << 28, LADDER_END };

const struct ladder reduce_ladder = { .name = "reduce",
                                      .summary = "the sum of an array",
                                      .types = "u32 i32 f32 f64",
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
