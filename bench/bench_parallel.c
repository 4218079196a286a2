/*
 * bench_parallel.c - measures calls on the CPU whose time depends on how fast threads start: one
 * operation after another at sizes from 2^16 elements on, and solvers with many short loops.
 *
 *     bench_parallel [threads [milliseconds [row ...]]]      0 (all), 50, all
 *
 * A row is named op/n, such as "sum/65536"; a part of the name selects all rows that contain it.
 * Each row is called for so many milliseconds; the mean of the fastest half of the calls is
 * reported.  The data of one call is that of the previous one, so it is in the cache if it fits.
 * To compare two builds, run the program with each alternately, with LD_LIBRARY_PATH.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include <echelon.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_N = 1 << 24, MOST_CALLS = 100000 };

static ech_ctx *ctx;
static uint32_t *in, *out, *values;

static void must(ech_status status)
{
    if (status == ECH_OK) return;
    fprintf(stderr, "bench_parallel: %s\n", ech_error(ctx));
    exit(1);
}

static void *memory(size_t bytes)
{
    void *p = calloc(bytes, 1);
    if (p) return p;
    fprintf(stderr, "bench_parallel: out of memory\n");
    exit(4);
}

/* ---- Rows ---- */

static void sum(size_t n)
{
    float result;
    must(ech_reduce(ctx, ECH_OP_SUM, in, &result, n, ECH_F32, NULL));
}

static void scan(size_t n)
{
    must(ech_scan(ctx, ECH_OP_SUM, in, out, n, ECH_U32, NULL));
}

static void sort(size_t n)
{
    must(ech_sort(ctx, in, out, n, ECH_U32, NULL));
}

static void sort_pairs(size_t n)
{
    must(ech_sort_pairs(ctx, in, in, out, values, n, ECH_U32, 4, NULL));
}

static void select_if(size_t n)
{
    const uint32_t half = 1u << 31;
    uint64_t count;
    must(ech_select_if(ctx, ECH_COMPARE_LESS, in, out, &count, n, ECH_U32, &half, NULL));
}

static void count_bytes(size_t n)
{
    must(ech_bincount(ctx, in, out, 4 * n, ECH_U8, 256, NULL));
}

static void reverse(size_t n)
{
    must(ech_reverse(ctx, in, out, n, 4));
}

static void is_sorted(size_t n)
{
    static uint32_t *zeros;
    uint64_t position;
    if (!zeros) zeros = memory((size_t)MOST_N * 4);
    must(ech_is_sorted(ctx, zeros, &position, n, ECH_U32, NULL));
}

/* n: rows and columns. */
static void multiply_bits(size_t n)
{
    const size_t stride = ech_gf2_stride(n);
    ech_gf2 a = { .size = sizeof a, .words = (uint64_t *)(void *)in, n, n, stride };
    ech_gf2 c = { .size = sizeof c, .words = (uint64_t *)(void *)out, n, n, stride };
    must(ech_gf2_mul(ctx, &a, &a, &c, NULL));
}

static void eliminate_bits(size_t n)
{
    const size_t stride = ech_gf2_stride(n);
    ech_gf2 c = { .size = sizeof c, .words = (uint64_t *)(void *)out, n, n, stride };
    uint32_t rank;
    memcpy(out, in, n * stride * 8);
    must(ech_gf2_echelon(ctx, &c, &rank, NULL, NULL));
}

static void multiply(size_t n)
{
    static const ech_matmul_options options = { .size = sizeof options, .algorithm = "tiled" };
    static float *a, *c;
    if (!a) {
        a = memory(1024 * 1024 * 4);
        c = memory(1024 * 1024 * 4);
        for (int i = 0; i < 1024 * 1024; i++) a[i] = (float)(i % 17);
    }
    must(ech_matmul(ctx, n, n, n, 1, a, n, a, n, 0, c, n, ECH_F32, &options));
}

/* The 5-point Laplace operator of a grid of n x n points. */
static ech_csr grid(size_t n)
{
    static ech_csr a;
    if (a.rows == n * n) return a;
    free(a.row_offsets);
    free(a.col_indices);
    free(a.values);
    int32_t *offsets = memory((n * n + 1) * 4), *columns = memory(n * n * 5 * 4);
    double *entries = memory(n * n * 5 * 8);
    size_t e = 0;
    for (size_t y = 0; y < n; y++)
        for (size_t x = 0; x < n; x++) {
            const size_t i = y * n + x;
            const bool here[5] = { y > 0, x > 0, true, x + 1 < n, y + 1 < n };
            const size_t column[5] = { i - n, i - 1, i, i + 1, i + n };
            for (int k = 0; k < 5; k++)
                if (here[k]) {
                    columns[e] = (int32_t)column[k];
                    entries[e++] = k == 2 ? 4 : -1;
                }
            offsets[i + 1] = (int32_t)e;
        }
    a = (ech_csr){ .size = sizeof a,
                   .rows = n * n,
                   .cols = n * n,
                   .nnz = e,
                   .row_offsets = offsets,
                   .col_indices = columns,
                   .values = entries,
                   .index_dtype = ECH_I32,
                   .dtype = ECH_F64 };
    return a;
}

/* 20 iterations of CG with a preconditioner that has many short levels. */
static void solve(size_t n)
{
    const ech_csr a = grid(n);
    const ech_solve_options options = { .size = sizeof options,
                                        .method = ECH_METHOD_CG,
                                        .precond = ECH_PRECOND_SSOR,
                                        .rtol = 1e-30,
                                        .max_iterations = 20 };
    double *b = (double *)(void *)in, *x = (double *)(void *)out;
    for (size_t i = 0; i < n * n; i++) b[i] = 1;
    const ech_operator of = { .size = sizeof of, .n = n * n, .dtype = ECH_F64, .csr = &a };
    ech_solve_report report = { .size = sizeof report };
    must(ech_solve(ctx, &of, 1, b, 0, x, 0, &options, &report));
}

static const struct row {
    const char *name;
    void (*call)(size_t n);
    size_t first, last, factor;
} rows[] = {
    { "sum", sum, 1 << 16, 1 << 24, 4 },          { "scan", scan, 1 << 16, 1 << 24, 4 },
    { "sort", sort, 1 << 16, 1 << 24, 4 },        { "sort_pairs", sort_pairs, 1 << 16, 1 << 22, 4 },
    { "select", select_if, 1 << 16, 1 << 24, 4 }, { "bincount", count_bytes, 1 << 16, 1 << 22, 4 },
    { "reverse", reverse, 1 << 16, 1 << 24, 4 },  { "is_sorted", is_sorted, 1 << 16, 1 << 24, 4 },
    { "gf2_mul", multiply_bits, 512, 8192, 2 },   { "gf2_echelon", eliminate_bits, 512, 8192, 2 },
    { "matmul", multiply, 128, 1024, 2 },         { "solve", solve, 100, 800, 2 }
};

/* ---- The measurement ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_time(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void measure(const struct row *row, size_t n, int threads, double seconds)
{
    static double times[MOST_CALLS];
    double fast = 0;
    int calls = 0;
    for (size_t i = 0; i < MOST_N; i++) in[i] = (uint32_t)(i * 2654435761u) >> 8 << 5;
    row->call(n);
    row->call(n);
    const double end = now() + seconds;
    while (calls < MOST_CALLS && (calls < 3 || now() < end)) {
        const double begin = now();
        row->call(n);
        times[calls++] = now() - begin;
    }
    qsort(times, (size_t)calls, sizeof *times, by_time);
    for (int i = 0; i < (calls + 1) / 2; i++) fast += times[i];
    printf("%s,%zu,%d,%.2f,%d\n", row->name, n, threads, fast / ((calls + 1) / 2) * 1e6, calls);
    fflush(stdout);
}

static bool wanted(const struct row *row, size_t n, int argc, char **argv)
{
    char name[64];
    snprintf(name, sizeof name, "%s/%zu", row->name, n);
    for (int i = 3; i < argc; i++)
        if (strstr(name, argv[i])) return true;
    return argc <= 3;
}

int main(int argc, char **argv)
{
    const int threads = argc > 1 ? atoi(argv[1]) : 0;
    const double seconds = argc > 2 ? atof(argv[2]) / 1000 : 0.05;
    ech_device device = { .size = sizeof device };
    must(ech_open(&ctx, "cpu"));
    must(ech_set_threads(ctx, threads));
    in = memory((size_t)MOST_N * 4);
    out = memory((size_t)MOST_N * 4);
    values = memory((size_t)MOST_N * 4);
    for (int i = 0; ech_device_get(i, &device) == ECH_OK; i++)
        if (strcmp(device.name, "cpu") == 0) break;
    printf("# machine: %s, %d threads; echelon %s\n", device.description, device.multiprocessors,
           ech_version());
    printf("op,n,threads,us,calls\n");
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (size_t n = rows[r].first; n <= rows[r].last; n *= rows[r].factor)
            if (wanted(&rows[r], n, argc, argv)) measure(&rows[r], n, threads, seconds);
    free(in);
    free(out);
    free(values);
    ech_close(ctx);
    return 0;
}
