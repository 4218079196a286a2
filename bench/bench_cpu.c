/*
 * bench_cpu.c - measures the CPU sorts and their competitors, and writes CSV.
 *
 *     bench_cpu [threads [largest_n [repeats [row ...]]]]      1, 10^7, 5, all
 *
 * A row is named dtype/n/value_bytes/distribution, such as "u32/10000000/0/zipf"; a part of the
 * name selects all rows that contain it.  The name of a sort of rows begins with "rows/".
 *
 * In each row every contender sorts a copy of the same input in place, alternating, repeats times.
 * Every result is checked outside the measured time; the median is reported.  Rows of small arrays
 * sort a batch of different arrays.  The context keeps the workspace, so only the first call
 * includes its allocation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "bench_cpu_data.h"
#include "cpu_rivals.h"

#include <echelon.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct row {
    const char *dtype, *distribution;
    size_t n, batch, value_bytes;
    enum { SORT, ARGSORT, ROWS } call; /* ROWS: Echelon sorts the batch in one call */
} rows[] = {
    { "u32", "uniform", 10, 20000, 0, 0 },         { "u32", "uniform", 100, 2000, 0, 0 },
    { "u32", "uniform", 1000, 200, 0, 0 },         { "u32", "uniform", 100000, 10, 0, 0 },
    { "u32", "uniform", 1000000, 1, 0, 0 },        { "u32", "uniform", 10000000, 1, 0, 0 },
    { "u32", "uniform", 100000000, 1, 0, 0 },      { "u32", "sorted", 10000000, 1, 0, 0 },
    { "u32", "reversed", 10000000, 1, 0, 0 },      { "u32", "equal", 10000000, 1, 0, 0 },
    { "u32", "few16", 10000000, 1, 0, 0 },         { "u32", "zipf", 10000000, 1, 0, 0 },
    { "u32", "almost_sorted", 10000000, 1, 0, 0 }, { "f32", "uniform", 1000, 200, 0, 0 },
    { "f32", "uniform", 100000, 10, 0, 0 },        { "f32", "uniform", 10000000, 1, 0, 0 },
    { "u64", "uniform", 10, 20000, 0, 0 },         { "u64", "uniform", 1000, 200, 0, 0 },
    { "u64", "uniform", 100000, 10, 0, 0 },        { "u64", "uniform", 10000000, 1, 0, 0 },
    { "f64", "uniform", 1000, 200, 0, 0 },         { "f64", "uniform", 100000, 10, 0, 0 },
    { "f64", "uniform", 10000000, 1, 0, 0 },       { "u8", "uniform", 10000000, 1, 0, 0 },
    { "u16", "uniform", 1000, 200, 0, 0 },         { "u16", "uniform", 10000000, 1, 0, 0 },
    { "u32", "uniform", 1000, 200, 4, 0 },         { "u32", "uniform", 100000, 10, 4, 0 },
    { "u32", "uniform", 10000000, 1, 4, 0 },       { "u32", "uniform", 100000000, 1, 4, 0 },
    { "u32", "zipf", 10000000, 1, 4, 0 },          { "u64", "uniform", 1000, 200, 8, 0 },
    { "u64", "uniform", 100000, 10, 8, 0 },        { "u64", "uniform", 10000000, 1, 8, 0 },
    { "u64", "uniform", 10000000, 1, 4, 0 },       { "u32", "uniform", 10000000, 1, 4, 1 },
    { "f64", "uniform", 10000000, 1, 8, 1 },       { "u32", "uniform", 32, 1000000, 0, ROWS },
    { "u32", "uniform", 1000, 10000, 0, ROWS },
};

static const struct rival *const rivals[] = {
    NULL, /* Echelon */
#ifdef RIVAL_STD
    &rival_std,
    &rival_std_stable,
    &rival_std_parallel,
#endif
#ifdef RIVAL_X86SIMDSORT_AVX512
    &rival_x86simdsort_avx512,
#endif
#ifdef RIVAL_X86SIMDSORT_AVX2
    &rival_x86simdsort_avx2,
#endif
#ifdef RIVAL_VQSORT
    &rival_vqsort,
#endif
};

enum { RIVALS = sizeof rivals / sizeof *rivals, MOST_REPEATS = 99 };

struct arrays {
    char *input, *keys, *positions, *values;
    size_t key_bytes;
};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int sort_echelon(ech_ctx *ctx, const struct row *row, const struct job *job)
{
    ech_dtype dtype = (ech_dtype)ech_dtype_from_name(job->dtype);
    if (row->call == ARGSORT)
        return ech_argsort(ctx, job->keys, job->values, job->n, dtype,
                           job->value_bytes == 4 ? ECH_U32 : ECH_U64, NULL) == ECH_OK;
    if (row->call == ROWS)
        return ech_sort_rows(ctx, job->keys, job->keys, row->batch, row->n, dtype, NULL) == ECH_OK;
    if (job->values)
        return ech_sort_pairs(ctx, job->keys, job->values, job->keys, job->values, job->n, dtype,
                              job->value_bytes, NULL) == ECH_OK;
    return ech_sort(ctx, job->keys, job->keys, job->n, dtype, NULL) == ECH_OK;
}

static bool right(const struct row *row, const struct arrays *a, bool stable)
{
    for (size_t b = 0; b < row->batch; b++) {
        const char *keys = a->keys + b * row->n * a->key_bytes;
        const char *input = a->input + b * row->n * a->key_bytes;
        const char *values = a->values + b * row->n * row->value_bytes;
        if (row->call == ARGSORT) continue;
        if (!data_sorted(keys, row->n, row->dtype) ||
            data_sum(keys, row->n, a->key_bytes) != data_sum(input, row->n, a->key_bytes))
            return false;
        if (row->value_bytes &&
            !data_pairs(keys, values, row->value_bytes, input, row->n, a->key_bytes, stable))
            return false;
    }
    return true;
}

/* Milliseconds of one sort of the whole batch; negative if the contender does not support it. */
static double once(ech_ctx *ctx, const struct row *row, const struct arrays *a, int r, int threads)
{
    size_t bytes = row->n * row->batch * a->key_bytes;
    memcpy(a->keys, a->input, bytes);
    memcpy(a->values, a->positions, row->n * row->batch * row->value_bytes);
    double start = now_ms();
    for (size_t b = 0; b < row->batch; b++) {
        struct job job = { row->dtype,
                           a->keys + b * row->n * a->key_bytes,
                           row->value_bytes ? a->values + b * row->n * row->value_bytes : NULL,
                           row->n,
                           row->value_bytes,
                           threads };
        if (!(rivals[r] ? row->call != ARGSORT && rivals[r]->sort(&job)
                        : sort_echelon(ctx, row, &job)))
            return -1;
        if (row->call == ROWS && !rivals[r]) break; /* all of them are sorted */
    }
    return now_ms() - start;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(ech_ctx *ctx, const struct row *row, int threads, int repeats)
{
    size_t total = row->n * row->batch, value_bytes = row->value_bytes;
    struct arrays a = { .key_bytes = ech_dtype_bytes((ech_dtype)ech_dtype_from_name(row->dtype)) };
    double times[RIVALS][MOST_REPEATS];
    bool able[RIVALS], verified[RIVALS];
    a.input = malloc(total * a.key_bytes);
    a.keys = malloc(total * a.key_bytes);
    a.positions = malloc(total * value_bytes + 1);
    a.values = malloc(total * value_bytes + 1);
    if (!a.input || !a.keys || !a.positions || !a.values) exit(1);
    for (size_t b = 0; b < row->batch; b++) {
        data_keys(a.input + b * row->n * a.key_bytes, row->n, row->dtype, row->distribution);
        if (value_bytes)
            data_positions(a.positions + b * row->n * value_bytes, row->n, value_bytes);
    }
    for (int r = 0; r < RIVALS; r++) able[r] = verified[r] = true;
    uint64_t peak = 0;
    for (int i = -1; i < repeats; i++) /* the first is a warm-up */
        for (int j = 0; j < RIVALS; j++) {
            int r = (j + i + RIVALS) % RIVALS;
            if (!able[r]) continue;
            double ms = once(ctx, row, &a, r, threads);
            able[r] = ms >= 0;
            if (i >= 0) times[r][i] = ms;
            if (able[r]) verified[r] &= right(row, &a, rivals[r] ? rivals[r]->stable : true);
        }
    ech_memory_usage(ctx, 1, NULL, &peak);
    for (int r = 0; r < RIVALS; r++) {
        if (!able[r]) continue;
        qsort(times[r], (size_t)repeats, sizeof **times, by_value);
        double ms = times[r][repeats / 2];
        printf("%s,%s,%zu,%zu,%s,%d,%s,%s,%.4f,%.5f,%s,%.2f\n",
               row->call == ARGSORT ? "argsort"
               : row->call == ROWS  ? "rows"
               : value_bytes        ? "pairs"
                                    : "keys",
               row->dtype, row->n, value_bytes, row->distribution, threads,
               rivals[r] ? rivals[r]->name : "Echelon",
               rivals[r] ? rivals[r]->version : ech_version(), ms, (double)total / ms / 1e6,
               verified[r] ? "yes" : "NO",
               rivals[r] ? 0.0 : (double)peak / (double)(row->call == ROWS ? total : row->n));
    }
    fflush(stdout);
    free(a.input);
    free(a.keys);
    free(a.positions);
    free(a.values);
}

static int wanted(const struct row *row, int names, char **name)
{
    char text[96];
    snprintf(text, sizeof text, "%s%s/%zu/%zu/%s", row->call == ROWS ? "rows/" : "", row->dtype,
             row->n, row->value_bytes, row->distribution);
    for (int i = 0; i < names; i++)
        if (strstr(text, name[i])) return 1;
    return names == 0;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    double largest = argc > 2 ? atof(argv[2]) : 1e7;
    int repeats = argc > 3 ? atoi(argv[3]) : 5;
    if (repeats < 1 || repeats > MOST_REPEATS || threads < 1) return 2;
    ech_ctx *ctx;
    if (ech_open(&ctx, "cpu") != ECH_OK || ech_set_threads(ctx, threads) != ECH_OK) {
        fprintf(stderr, "%s\n", ech_error(NULL));
        return 1;
    }
    ech_device device = { .size = sizeof device };
    ech_device_get(ech_device_count() - 1, &device);
    char date[32];
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    printf("# machine: %s, %d threads, kernels for %s\n", device.description,
           device.multiprocessors, device.features);
    printf("# versions: Echelon %s, compiler %s\n# date: %s\n", ech_version(), COMPILER, date);
    printf("# command: bench_cpu %d %.0e %d\n", threads, largest, repeats);
    printf("op,dtype,n,value_bytes,dist,threads,contender,version,ms,gkeys_per_s,verified,"
           "workspace_bytes_per_key\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if ((double)rows[i].n <= largest && wanted(&rows[i], argc > 4 ? argc - 4 : 0, argv + 4))
            measure(ctx, &rows[i], threads, repeats);
    ech_close(ctx);
    return 0;
}
