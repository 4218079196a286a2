/*
 * gf2_bench.h - input and output of the two programs that measure matrices over GF(2): bench_gf2
 * for Echelon and gf2_m4ri for M4RI, whose licence (GPL) requires a separate program.  Both use the
 * same bits and print the same columns.
 *
 *     bench_gf2 [THREADS [SECONDS [ROW ...]]]      1, 1, all
 *     gf2_m4ri  [THREADS [SECONDS [ROW ...]]]
 *
 * A row is named op/shape/case, such as "rref/4096x4096/half"; a part of the name selects all rows
 * that contain it.  A case is repeated for SECONDS, at least three times.  With one thread, times
 * are CPU time, which depends little on other programs.  The time of a batch is per matrix.  result
 * is the rank and a hash of the resulting bits, which must be equal in both programs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GF2_BENCH_H
#define GF2_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* rank 0: random matrices.  count: matrices per batch. */
struct gf2_row {
    const char *op;
    size_t rows, cols, rank, count;
};

static const struct gf2_row gf2_rows[] = {
    { "mul", 1024, 1024, 0, 1 },         { "mul", 2048, 2048, 0, 1 },
    { "mul", 4096, 4096, 0, 1 },         { "mul", 8192, 8192, 0, 1 },
    { "mul", 16384, 16384, 0, 1 },       { "rref", 1024, 1024, 0, 1 },
    { "rref", 2048, 2048, 0, 1 },        { "rref", 2048, 2048, 1024, 1 },
    { "rref", 4096, 4096, 0, 1 },        { "rref", 4096, 4096, 2048, 1 },
    { "rref", 8192, 8192, 0, 1 },        { "rref", 8192, 8192, 4096, 1 },
    { "rref", 16384, 16384, 0, 1 },      { "rref", 16384, 16384, 8192, 1 },
    { "rref", 4096, 16384, 0, 1 },       { "rref", 16384, 4096, 0, 1 },
    { "batch rref", 64, 128, 0, 256 },   { "batch rref", 256, 512, 0, 64 },
    { "batch rref", 512, 1024, 0, 64 },  { "batch rank", 512, 1024, 0, 64 },
    { "batch solve", 512, 1024, 0, 64 }, { "batch solve in order", 512, 1024, 0, 64 },
    { "batch rref", 2000, 4000, 0, 4 },
};
enum { GF2_ROWS = sizeof gf2_rows / sizeof *gf2_rows };

static inline uint64_t gf2_word(uint64_t seed, uint64_t i)
{
    uint64_t x = (seed << 40) + (i + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Random rows; bits beyond cols are 0. */
static inline void gf2_random_row(uint64_t seed, size_t row, size_t cols, uint64_t *words)
{
    const size_t n = (cols + 63) / 64;
    for (size_t w = 0; w < n; w++) words[w] = gf2_word(seed, row * n + w);
    if (cols % 64) words[n - 1] &= ((uint64_t)1 << cols % 64) - 1;
}

static inline uint64_t gf2_hash(uint64_t hash, const uint64_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++) hash = (hash ^ words[i]) * 0x100000001b3u + (hash >> 29);
    return hash;
}

static inline double gf2_now_ms(int threads)
{
    struct timespec t;
    clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

struct gf2_times {
    double at[1000];
    int n;
};

static inline bool gf2_again(const struct gf2_times *times, double seconds)
{
    double sum = 0;
    for (int i = 0; i < times->n; i++) sum += times->at[i];
    return times->n < 3 || (times->n < 1000 && sum < 1000 * seconds);
}

static inline int gf2_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline const char *gf2_case_of(const struct gf2_row *row)
{
    return strcmp(row->op, "mul") == 0 ? "-" : row->rank ? "half" : "full";
}

static inline bool gf2_wanted(const struct gf2_row *row, int argc, char **argv)
{
    char name[96];
    snprintf(name, sizeof name, "%s/%zux%zu/%s", row->op, row->rows, row->cols, gf2_case_of(row));
    for (int i = 3; i < argc; i++)
        if (strstr(name, argv[i])) return true;
    return argc <= 3;
}

static inline void gf2_title(void)
{
    printf("op,shape,case,threads,contender,version,ms,ms_min,ms_max,runs_per_s,result\n");
}

static inline void gf2_print(const struct gf2_row *row, int threads, const char *contender,
                             const char *version, struct gf2_times *times, size_t rank,
                             uint64_t hash)
{
    qsort(times->at, (size_t)times->n, sizeof *times->at, gf2_compare);
    const double each = 1 / (double)row->count, ms = times->at[times->n / 2] * each;
    printf("%s,%zux%zu,%s,%d,%s,%s,%.5f,%.5f,%.5f,%.3f,%zu:%016llx\n", row->op, row->rows,
           row->cols, gf2_case_of(row), threads, contender, version, ms, times->at[0] * each,
           times->at[times->n - 1] * each, 1000 / ms, rank, (unsigned long long)hash);
    fflush(stdout);
}

#endif
