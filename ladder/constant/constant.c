/*
 * constant.c - the ladder of constant memory: a polynomial of 32 terms at each of n numbers.
 *
 * The input contains the numbers and then the coefficients.  Rungs add the terms in different
 * orders, so a result may differ by the rounding errors of all of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.h"

#include "polynomial.cuh"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 256 };

static const struct constant_coefficients coefficients = { CONSTANT_COEFFICIENTS };

static void shape(struct trial *trial)
{
    trial->out_bytes = trial->n * sizeof(float);
    trial->in_bytes = trial->out_bytes + sizeof coefficients;
}

static void make(struct trial *trial)
{
    ladder_make_numbers(trial);
    memcpy((char *)trial->host_in + trial->out_bytes, &coefficients, sizeof coefficients);
}

/* The polynomial, and the sum of the absolute values of its terms. */
static double value(double x, double *all)
{
    double sum = 0;
    *all = 0;
    for (int k = CONSTANT_TERMS - 1; k >= 0; k--) {
        sum = sum * x + (double)coefficients.c[k];
        *all = *all * fabs(x) + fabs((double)coefficients.c[k]);
    }
    return sum;
}

/* accept() computes the expected values. */
static void expect(struct trial *trial)
{
    memset(trial->expected, 0, trial->out_bytes);
}

static bool accept(const struct trial *trial, char *message, size_t bytes)
{
    for (uint64_t i = 0; i < trial->n; i++) {
        double got = ladder_number(trial->type, trial->host_out, i), all;
        double wanted = value(ladder_number(trial->type, trial->host_in, i), &all);
        /* A term has the rounding errors of its power, and of the additions after it. */
        if (fabs(got - wanted) <= 3 * CONSTANT_TERMS * 0x1p-24 * all) continue;
        snprintf(message, bytes, "y[%llu] is %.9g, not %.9g", (unsigned long long)i, got, wanted);
        return false;
    }
    return true;
}

/* ---- Rungs ---- */

/* With or without coefficients in memory. */
static void run(struct trial *trial)
{
    char kernel[16];
    CUdeviceptr table = trial->in + trial->out_bytes;
    uint64_t blocks = ladder_ceil(trial->n, THREADS);
    snprintf(kernel, sizeof kernel, "constant_%d", trial->rung->number);
    if (trial->rung->number == 1 || trial->rung->number == 5)
        LAUNCH(trial, kernel, blocks, THREADS, 0, &trial->in, &trial->n, &table, &trial->out);
    else
        LAUNCH(trial, kernel, blocks, THREADS, 0, &trial->in, &trial->n, &trial->out);
}

static void run_3(struct trial *trial)
{
    struct constant_coefficients given = coefficients;
    LAUNCH(trial, "constant_3", ladder_ceil(trial->n, THREADS), THREADS, 0, &trial->in, &trial->n,
           &given, &trial->out);
}

static const struct rung rungs[] = {
    { .number = 1, .idea = "global", .text = "from global memory", .run = run },
    { .number = 2, .idea = "constant", .text = "from constant memory", .run = run },
    { .number = 3, .idea = "parameters", .text = "as a parameter", .run = run_3 },
    { .number = 4,
      .idea = "divergent",
      .text = "constant, a different index per lane",
      .run = run },
    { .number = 5, .idea = "shared", .text = "shared, a different index per lane", .run = run },
};

/* ---- Claims ---- */

static bool loads_vanish(const struct results *results, char *because, size_t bytes)
{
    uint64_t loads[4], warps = ladder_row(results, 1, 0, 0)->n / 32;
    for (int i = 1; i <= 3; i++) loads[i] = ladder_row(results, i, 0, 0)->counts.load_requests;
    snprintf(because, bytes, "loads of %llu warps: %llu, %llu, %llu", (unsigned long long)warps,
             (unsigned long long)loads[1], (unsigned long long)loads[2],
             (unsigned long long)loads[3]);
    return loads[1] == (1 + CONSTANT_TERMS) * warps && loads[2] == warps && loads[3] == warps;
}

static bool no_conflicts(const struct results *results, char *because, size_t bytes)
{
    const struct simt_counts *c = &ladder_row(results, 5, 0, 0)->counts;
    uint64_t warps = ladder_row(results, 5, 0, 0)->n / 32;
    snprintf(because, bytes, "%llu loads of %llu warps from the table, %llu conflicts",
             (unsigned long long)c->shared_loads, (unsigned long long)warps,
             (unsigned long long)c->bank_conflicts);
    return c->shared_loads == CONSTANT_TERMS * warps && c->bank_conflicts == 0;
}

static double ms_of(const struct results *results, int number)
{
    return ladder_row(results, number, 0, 0)->ms;
}

static bool faster(const struct results *results, char *because, size_t bytes)
{
    snprintf(because, bytes, "%.4g ms against %.4g ms", ms_of(results, 2), ms_of(results, 1));
    return ms_of(results, 2) < ms_of(results, 1);
}

static bool as_fast(const struct results *results, char *because, size_t bytes)
{
    snprintf(because, bytes, "%.4g ms against %.4g ms", ms_of(results, 3), ms_of(results, 2));
    return fabs(ms_of(results, 3) / ms_of(results, 2) - 1) < 0.05;
}

static bool divergent_slow(const struct results *results, char *because, size_t bytes)
{
    snprintf(because, bytes, "%.4g ms against %.4g ms; from shared memory %.4g ms",
             ms_of(results, 4), ms_of(results, 2), ms_of(results, 5));
    return ms_of(results, 4) > 10 * ms_of(results, 2) && ms_of(results, 4) > ms_of(results, 5);
}

static const struct claim claims[] = {
    { .text = "Constants need no loads: 1 per warp instead of 33", .holds = loads_vanish },
    { .text = "A table in shared memory has no conflict if each lane reads another word",
      .holds = no_conflicts },
    { .text = "Coefficients in constant memory are faster than in global memory",
      .of_gpu = true,
      .holds = faster },
    { .text = "Parameters are as fast as constant memory", .of_gpu = true, .holds = as_fast },
    { .text = "If each lane reads another constant, constant memory is ten times as slow, and "
              "shared memory is faster",
      .of_gpu = true,
      .holds = divergent_slow },
};

static const uint64_t checked[] = { 0, 1, 31, 32, 33, 255, 256, 257, 1000, 4097, LADDER_END };
static const uint64_t counted[] = { 1 << 12, LADDER_END };
static const uint64_t timed[] = { 1 << 25, LADDER_END };

const struct ladder constant_ladder = { .name = "constant",
                                        .summary = "a polynomial with constant coefficients",
                                        .types = "f32",
                                        .unit = "numbers",
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
                                        .accept = accept };
