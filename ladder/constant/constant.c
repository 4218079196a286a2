/*
 * constant.c - the ladder of constant memory: a polynomial of 32 terms at each of n numbers.
 *
 * The parameter of a rung is the number of parts.  A part is a launch with coefficients of its own:
 * those of part p are rotated by p positions.  The input contains the numbers and then the
 * coefficients of part 0.  Rungs add the terms in different orders, so a result may differ by the
 * rounding errors of all of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.h"

#include "polynomial.cuh"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 256, ONE = 1, MANY = 64 };

static const struct constant_coefficients coefficients = { CONSTANT_COEFFICIENTS };

static struct constant_coefficients of_part(uint64_t part)
{
    struct constant_coefficients rotated;
    for (uint64_t k = 0; k < CONSTANT_TERMS; k++)
        rotated.c[k] = coefficients.c[(k + part) % CONSTANT_TERMS];
    return rotated;
}

/* The numbers of a part, except that the last may have fewer. */
static uint64_t part_size(const struct trial *trial)
{
    return ladder_ceil(trial->n, trial->rung->parameter);
}

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
static double value(const struct constant_coefficients *with, double x, double *all)
{
    double sum = 0;
    *all = 0;
    for (int k = CONSTANT_TERMS - 1; k >= 0; k--) {
        sum = sum * x + (double)with->c[k];
        *all = *all * fabs(x) + fabs((double)with->c[k]);
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
    struct constant_coefficients with = { { 0 } };
    for (uint64_t i = 0; i < trial->n; i++) {
        if (i % part_size(trial) == 0) with = of_part(i / part_size(trial));
        double got = ladder_number(trial->type, trial->host_out, i), all;
        double wanted = value(&with, ladder_number(trial->type, trial->host_in, i), &all);
        /* A term has the rounding errors of its power, and of the additions after it. */
        if (fabs(got - wanted) <= 3 * CONSTANT_TERMS * 0x1p-24 * all) continue;
        snprintf(message, bytes, "y[%llu] is %.9g, not %.9g", (unsigned long long)i, got, wanted);
        return false;
    }
    return true;
}

/* ---- Rungs ---- */

/* From the coefficients in the input, in global memory. */
static void run_global(struct trial *trial)
{
    CUdeviceptr table = trial->in + trial->out_bytes;
    LAUNCH(trial, trial->rung->number == 1 ? "constant_1" : "constant_5",
           ladder_ceil(trial->n, THREADS), THREADS, 0, &trial->in, &trial->n, &table, &trial->out);
}

/* Launches a kernel for each part, with coefficients in a __constant__ array or as a parameter. */
static void run_parts(struct trial *trial)
{
    uint64_t size = part_size(trial), part = 0;
    for (uint64_t first = 0; first < trial->n; first += size, part++) {
        struct constant_coefficients given = of_part(part);
        uint64_t n = trial->n - first < size ? trial->n - first : size;
        uint64_t blocks = ladder_ceil(n, THREADS);
        CUdeviceptr x = trial->in + first * sizeof(float), y = trial->out + first * sizeof(float);
        if (trial->rung->number == 2)
            ladder_copy_to_symbol(trial, "constant_2_c", &given, sizeof given);
        if (trial->rung->number == 4)
            ladder_copy_to_symbol(trial, "constant_4_c", &given, sizeof given);
        if (trial->rung->number == 2) LAUNCH(trial, "constant_2", blocks, THREADS, 0, &x, &n, &y);
        if (trial->rung->number == 3)
            LAUNCH(trial, "constant_3", blocks, THREADS, 0, &x, &n, &given, &y);
        if (trial->rung->number == 4) LAUNCH(trial, "constant_4", blocks, THREADS, 0, &x, &n, &y);
    }
}

#define RUNG(of, name, words, parts, function)                                                     \
    {                                                                                              \
        .number = of, .idea = name, .text = words, .parameter = parts, .run = function             \
    }

static const struct rung rungs[] = {
    RUNG(1, "global", "from global memory", ONE, run_global),
    RUNG(2, "constant", "from constant memory", ONE, run_parts),
    RUNG(2, "constant", "constant memory, written 64 times", MANY, run_parts),
    RUNG(3, "parameters", "as a parameter", ONE, run_parts),
    RUNG(3, "parameters", "parameters of 64 launches", MANY, run_parts),
    RUNG(4, "divergent", "constant, a different index per lane", ONE, run_parts),
    RUNG(5, "shared", "shared, a different index per lane", ONE, run_global),
};

/* ---- Claims ---- */

static bool loads_vanish(const struct results *results, char *because, size_t bytes)
{
    uint64_t loads[4], warps = ladder_row(results, 1, ONE, 0)->n / 32;
    for (int i = 1; i <= 3; i++) loads[i] = ladder_row(results, i, ONE, 0)->counts.load_requests;
    snprintf(because, bytes, "loads of %llu warps: %llu, %llu, %llu", (unsigned long long)warps,
             (unsigned long long)loads[1], (unsigned long long)loads[2],
             (unsigned long long)loads[3]);
    return loads[1] == (1 + CONSTANT_TERMS) * warps && loads[2] == warps && loads[3] == warps;
}

static bool no_conflicts(const struct results *results, char *because, size_t bytes)
{
    const struct simt_counts *c = &ladder_row(results, 5, ONE, 0)->counts;
    uint64_t warps = ladder_row(results, 5, ONE, 0)->n / 32;
    snprintf(because, bytes, "%llu loads of %llu warps from the table, %llu conflicts",
             (unsigned long long)c->shared_loads, (unsigned long long)warps,
             (unsigned long long)c->bank_conflicts);
    return c->shared_loads == CONSTANT_TERMS * warps && c->bank_conflicts == 0;
}

/* The number of launches shows that the coefficients were changed 64 times. */
static bool changes_need_no_loads(const struct results *results, char *because, size_t bytes)
{
    const struct result *written = ladder_row(results, 2, MANY, 0);
    const struct result *passed = ladder_row(results, 3, MANY, 0);
    uint64_t warps = written->n / 32;
    snprintf(because, bytes, "%llu and %llu launches; loads of %llu warps: %llu, %llu",
             (unsigned long long)written->launches, (unsigned long long)passed->launches,
             (unsigned long long)warps, (unsigned long long)written->counts.load_requests,
             (unsigned long long)passed->counts.load_requests);
    return written->launches == MANY && passed->launches == MANY &&
           written->counts.load_requests == warps && passed->counts.load_requests == warps;
}

static double ms_of(const struct results *results, int number)
{
    return ladder_row(results, number, ONE, 0)->ms;
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

static bool changes_cost(const struct results *results, char *because, size_t bytes)
{
    double written = ladder_row(results, 2, MANY, 0)->ms, once = ms_of(results, 2);
    double passed = ladder_row(results, 3, MANY, 0)->ms;
    snprintf(because, bytes,
             "64 launches: %.4g ms with copies, %.4g ms with parameters; one launch: %.4g ms",
             written, passed, once);
    return written > passed;
}

static bool divergent_slow(const struct results *results, char *because, size_t bytes)
{
    snprintf(because, bytes, "%.4g ms against %.4g ms; from shared memory %.4g ms",
             ms_of(results, 4), ms_of(results, 2), ms_of(results, 5));
    return ms_of(results, 4) > 10 * ms_of(results, 2) && ms_of(results, 4) > ms_of(results, 5);
}

static const struct claim claims[] = {
    { .text = "Constants need no loads: 1 per warp instead of 33", .holds = loads_vanish },
    { .text = "The host changes constants between launches, and kernels still need no loads",
      .holds = changes_need_no_loads },
    { .text = "A table in shared memory has no conflict if each lane reads another word",
      .holds = no_conflicts },
    { .text = "Coefficients in constant memory are faster than in global memory",
      .of_gpu = true,
      .holds = faster },
    { .text = "Parameters are as fast as constant memory", .of_gpu = true, .holds = as_fast },
    { .text = "New coefficients as a parameter are faster than a copy to constant memory",
      .of_gpu = true,
      .holds = changes_cost },
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
