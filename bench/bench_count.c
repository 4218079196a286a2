/*
 * bench_count.c - calls each operation once on small arrays; another program counts instructions.
 *
 *     bench_count [--perf] [TEXT ...]      all rows, or those whose id begins with a TEXT
 *
 * bench/count.py runs this program under callgrind, which counts the instructions in
 * bench_count_call() and writes one file per call; the program prints one line per call, in the
 * same order: op,dtype,n.  With --perf it reads the hardware counter of the processor instead and
 * adds the number of instructions to each line; it exits with 77 if there is no such counter.
 *
 * Every call is made once before it is counted: allocations of the first call are not part of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* syscall */
#include <echelon.h>

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST = 1000, MATRIX = MOST * MOST, PERF_RUNS = 5 };

static ech_ctx *ctx;
static char *in, *in_order, *more, *out, *out_2; /* MATRIX elements of at most 8 bytes each */
static uint64_t *counts;
static uint32_t *index_of; /* a permutation of the n elements */
static uint8_t *flags;

/* ---- Calls: of n elements, or of matrices with n rows ---- */

static ech_status call_sort(size_t n, ech_dtype t)
{
    return ech_sort(ctx, in, out, n, t, NULL);
}

static ech_status call_pairs(size_t n, ech_dtype t)
{
    return ech_sort_pairs(ctx, in, index_of, out, out_2, n, t, 4, NULL);
}

static ech_status call_argsort(size_t n, ech_dtype t)
{
    return ech_argsort(ctx, in, out, n, t, ECH_U32, NULL);
}

static ech_status call_rows(size_t n, ech_dtype t)
{
    return ech_sort_rows(ctx, in, out, n / 10, 10, t, NULL);
}

static ech_status call_is_sorted(size_t n, ech_dtype t)
{
    return ech_is_sorted(ctx, in_order, counts, n, t, NULL);
}

static ech_status call_merge(size_t n, ech_dtype t)
{
    const size_t half = n / 2;
    return ech_merge(ctx, in_order, in_order + half * ech_dtype_bytes(t), out, half, n - half, t,
                     NULL);
}

static ech_status call_set(size_t n, ech_dtype t)
{
    return ech_set_operation(ctx, in_order, in_order, out, counts, n, n / 2, ECH_SET_DIFFERENCE, t,
                             NULL);
}

static ech_status call_search(size_t n, ech_dtype t)
{
    return ech_lower_bound(ctx, in_order, in, out, n, n, t, ECH_U32, NULL);
}

static ech_status call_topk(size_t n, ech_dtype t)
{
    return ech_topk(ctx, in, out, out_2, n, 10, t, ECH_U32, NULL);
}

static ech_status call_partition(size_t n, ech_dtype t)
{
    const uint64_t rank = n / 2;
    return ech_partition_at(ctx, in, out, NULL, n, &rank, 1, t, ECH_U32, NULL);
}

static ech_status call_argpartition(size_t n, ech_dtype t)
{
    const uint64_t rank = n / 2;
    return ech_partition_at(ctx, in, NULL, out, n, &rank, 1, t, ECH_U32, NULL);
}

static ech_status call_median(size_t n, ech_dtype t)
{
    const double half = 0.5;
    return ech_quantiles(ctx, in, out, &half, n, 1, t, ECH_QUANTILE_LINEAR, NULL);
}

static ech_status call_unique(size_t n, ech_dtype t)
{
    return ech_unique(ctx, in_order, out, counts, n, t, NULL);
}

static ech_status call_unique_all(size_t n, ech_dtype t)
{
    return ech_unique_all(ctx, in, out, NULL, NULL, NULL, counts, n, t, ECH_U32, NULL);
}

static ech_status call_mode(size_t n, ech_dtype t)
{
    return ech_mode(ctx, in, out, counts, n, t, NULL);
}

static ech_status call_select(size_t n, ech_dtype t)
{
    return ech_select_flags(ctx, in, flags, out, counts, n, ech_dtype_bytes(t), NULL);
}

static ech_status call_select_if(size_t n, ech_dtype t)
{
    return ech_select_if(ctx, ECH_COMPARE_LESS, in, out, counts, n, t, in, NULL);
}

static ech_status call_sum(size_t n, ech_dtype t)
{
    return ech_reduce(ctx, ECH_OP_SUM, in, out, n, t, NULL);
}

static ech_status call_max(size_t n, ech_dtype t)
{
    return ech_reduce(ctx, ECH_OP_MAX, in, out, n, t, NULL);
}

static ech_status call_scan(size_t n, ech_dtype t)
{
    return ech_scan(ctx, ECH_OP_SUM, in, out, n, t, NULL);
}

static ech_status call_histogram(size_t n, ech_dtype t)
{
    return ech_histogram(ctx, in, counts, n, t, 16, 0, 1, NULL);
}

static ech_status call_bincount(size_t n, ech_dtype t)
{
    return ech_bincount(ctx, t == ECH_U32 ? (const void *)index_of : in, counts, n, t,
                        t == ECH_U32 ? MOST : 256, NULL);
}

static ech_status call_gather(size_t n, ech_dtype t)
{
    return ech_gather(ctx, in, index_of, out, n, n, ECH_U32, ech_dtype_bytes(t));
}

static ech_status call_scatter(size_t n, ech_dtype t)
{
    return ech_scatter(ctx, in, index_of, out, n, n, ECH_U32, ech_dtype_bytes(t));
}

static ech_status call_reverse(size_t n, ech_dtype t)
{
    return ech_reverse(ctx, in, out, n, ech_dtype_bytes(t));
}

static ech_status call_transpose(size_t n, ech_dtype t)
{
    return ech_transpose(ctx, in, out, n / 10, 10, ech_dtype_bytes(t));
}

static ech_status call_shuffle(size_t n, ech_dtype t)
{
    return ech_shuffle(ctx, in, out, n, ech_dtype_bytes(t), 1);
}

static ech_status call_matmul(size_t n, ech_dtype t)
{
    return ech_matmul(ctx, n, n, n, 1, in, n, more, n, 0, out, n, t, NULL);
}

static ech_status call_matvec(size_t n, ech_dtype t)
{
    return ech_matvec(ctx, n, n, 1, in, n, more, 0, out, t, NULL);
}

static ech_status call_direct(size_t n, ech_dtype t)
{
    ech_direct_report report = { .size = sizeof report };
    const ech_status status =
        ech_solve_direct(ctx, n, n, in, n, 1, more, 1, out, 1, t, NULL, &report);
    return status == ECH_OK && report.status != ECH_DIRECT_STATUS_SOLVED ? ECH_ERR_ARG : status;
}

/* A tridiagonal matrix, which is built before the call is counted. */
static ech_status call_spmv(size_t n, ech_dtype t)
{
    static uint32_t offsets[MOST + 1], columns[3 * MOST];
    static double values[3 * MOST];
    ech_csr a = { sizeof a, n, n, 0, offsets, columns, values, ECH_U32, t };
    if (offsets[n] == 0)
        for (size_t i = 0, k = 0; i < n; i++, offsets[i] = (uint32_t)k)
            for (size_t j = i ? i - 1 : 0; j <= i + 1 && j < n; j++, k++) columns[k] = (uint32_t)j;
    a.nnz = offsets[n];
    return ech_spmv(ctx, 1, &a, more, 0, out, NULL);
}

static ech_gf2 bits(char *words, size_t n)
{
    return (ech_gf2){ sizeof(ech_gf2), (uint64_t *)(void *)words, n, n, ech_gf2_stride(n) };
}

static ech_status call_gf2_mul(size_t n, ech_dtype t)
{
    const ech_gf2 a = bits(more, n), b = bits(in_order, n);
    ech_gf2 c = bits(out, n);
    (void)t;
    return ech_gf2_mul(ctx, &a, &b, &c, NULL);
}

static ech_status call_gf2_rank(size_t n, ech_dtype t)
{
    const ech_gf2 a = bits(more, n);
    uint32_t rank;
    (void)t;
    return ech_gf2_rank(ctx, &a, &rank, NULL);
}

static ech_status call_gf2_echelon(size_t n, ech_dtype t)
{
    ech_gf2 a = bits(out, n);
    uint32_t rank;
    (void)t;
    memcpy(out, more, n * a.stride * sizeof(uint64_t));
    return ech_gf2_echelon(ctx, &a, &rank, NULL, NULL);
}

/* ---- Rows ---- */

static const size_t few[] = { 10, 100, 1000, 0 }, dense[] = { 10, 32, 100, 0 };

static const struct row {
    const char *op;
    ech_dtype dtype;
    const size_t *sizes;
    ech_status (*call)(size_t n, ech_dtype dtype);
} rows[] = {
    { "sort", ECH_U8, few, call_sort },
    { "sort", ECH_I16, few, call_sort },
    { "sort", ECH_U32, few, call_sort },
    { "sort", ECH_F32, few, call_sort },
    { "sort", ECH_U64, few, call_sort },
    { "sort", ECH_F64, few, call_sort },
    { "sort_pairs", ECH_U32, few, call_pairs },
    { "sort_pairs", ECH_F64, few, call_pairs },
    { "argsort", ECH_U32, few, call_argsort },
    { "argsort", ECH_F64, few, call_argsort },
    { "sort_rows", ECH_U32, few, call_rows },
    { "is_sorted", ECH_U32, few, call_is_sorted },
    { "merge", ECH_U32, few, call_merge },
    { "set_difference", ECH_U32, few, call_set },
    { "lower_bound", ECH_U32, few, call_search },
    { "lower_bound", ECH_F64, few, call_search },
    { "topk", ECH_F32, few, call_topk },
    { "partition", ECH_U16, few, call_partition },
    { "partition", ECH_U32, few, call_partition },
    { "partition", ECH_F64, few, call_partition },
    { "argpartition", ECH_F32, few, call_argpartition },
    { "median", ECH_F32, few, call_median },
    { "unique", ECH_U32, few, call_unique },
    { "unique_all", ECH_U32, few, call_unique_all },
    { "mode", ECH_U32, few, call_mode },
    { "select_flags", ECH_U32, few, call_select },
    { "select_if", ECH_F32, few, call_select_if },
    { "sum", ECH_I32, few, call_sum },
    { "sum", ECH_F32, few, call_sum },
    { "sum", ECH_F64, few, call_sum },
    { "max", ECH_F32, few, call_max },
    { "scan", ECH_I32, few, call_scan },
    { "scan", ECH_F32, few, call_scan },
    { "histogram", ECH_F32, few, call_histogram },
    { "bincount", ECH_U8, few, call_bincount },
    { "bincount", ECH_U32, few, call_bincount },
    { "gather", ECH_U32, few, call_gather },
    { "gather", ECH_F64, few, call_gather },
    { "scatter", ECH_U32, few, call_scatter },
    { "reverse", ECH_U32, few, call_reverse },
    { "transpose", ECH_U32, few, call_transpose },
    { "shuffle", ECH_U32, few, call_shuffle },
    { "matmul", ECH_F32, dense, call_matmul },
    { "matmul", ECH_F64, dense, call_matmul },
    { "matvec", ECH_F32, dense, call_matvec },
    { "matvec", ECH_F64, dense, call_matvec },
    { "spmv", ECH_F64, few, call_spmv },
    { "solve_direct", ECH_F32, dense, call_direct },
    { "solve_direct", ECH_F64, dense, call_direct },
    { "gf2_mul", ECH_U8, few, call_gf2_mul },
    { "gf2_rank", ECH_U8, few, call_gf2_rank },
    { "gf2_echelon", ECH_U8, few, call_gf2_echelon },
};

/* ---- Data ---- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Random elements; floats are between 0 and 1. */
static void fill(char *to, size_t count, ech_dtype dtype, uint64_t seed)
{
    const size_t bytes = ech_dtype_bytes(dtype);
    for (size_t i = 0; i < count; i++) {
        uint64_t x = mix(i + seed);
        const float f = (float)(x >> 40) * 0x1p-24f;
        const double d = (double)(x >> 11) * 0x1p-53;
        if (dtype == ECH_F32) memcpy(&x, &f, sizeof f);
        if (dtype == ECH_F64) memcpy(&x, &d, sizeof d);
        memcpy(to + i * bytes, &x, bytes); /* little-endian */
    }
}

static void prepare(const struct row *row, size_t n)
{
    const bool matrix = row->sizes == dense;
    fill(in, matrix ? n * n : n, row->dtype, 1);
    fill(more, matrix ? n * n : MOST * 16, row->dtype, 1000000007);
    for (size_t i = 0; i < n; i++) index_of[i] = (uint32_t)i;
    for (size_t i = n; i-- > 1;) {
        const size_t j = mix(i + 77) % (i + 1);
        const uint32_t moved = index_of[i];
        index_of[i] = index_of[j];
        index_of[j] = moved;
    }
    for (size_t i = 0; i < n; i++) flags[i] = mix(i + 5) & 1;
    if (strncmp(row->op, "gf2", 3) == 0) {
        fill(in_order, MOST * 16, ECH_U64, 3);
        fill(more, MOST * 16, ECH_U64, 4);
    } else if (ech_sort(ctx, in, in_order, n, row->dtype, NULL) != ECH_OK) {
        fprintf(stderr, "bench_count: %s\n", ech_error(ctx));
        exit(1);
    }
}

/* ---- Counting ---- */

/* callgrind counts the instructions in this function. */
__attribute__((noinline)) ech_status bench_count_call(const struct row *row, size_t n);
ech_status bench_count_call(const struct row *row, size_t n)
{
    const ech_status status = row->call(n, row->dtype);
    __asm__ volatile("" ::: "memory"); /* the call is not the last instruction of the function */
    return status;
}

/* The counter of instructions of this thread in user mode; -1: there is none. */
static int open_counter(void)
{
    struct perf_event_attr event;
    memset(&event, 0, sizeof event);
    event.type = PERF_TYPE_HARDWARE;
    event.size = sizeof event;
    event.config = PERF_COUNT_HW_INSTRUCTIONS;
    event.disabled = 1;
    event.exclude_kernel = event.exclude_hv = 1;
    return (int)syscall(SYS_perf_event_open, &event, 0, -1, -1, 0);
}

static ech_status nothing(size_t n, ech_dtype dtype)
{
    (void)n;
    (void)dtype;
    return ECH_OK;
}

static uint64_t count_once(int counter, const struct row *row, size_t n)
{
    uint64_t instructions = 0;
    ioctl(counter, PERF_EVENT_IOC_RESET, 0);
    ioctl(counter, PERF_EVENT_IOC_ENABLE, 0);
    bench_count_call(row, n);
    ioctl(counter, PERF_EVENT_IOC_DISABLE, 0);
    if (read(counter, &instructions, sizeof instructions) != sizeof instructions) exit(1);
    return instructions;
}

/* The minimum of several calls, without the instructions that start and stop the counter. */
static uint64_t count(int counter, const struct row *row, size_t n)
{
    static const struct row empty = { "", ECH_U8, few, nothing };
    uint64_t smallest = UINT64_MAX, around = UINT64_MAX;
    for (int i = 0; i < PERF_RUNS; i++) {
        const uint64_t one = count_once(counter, row, n), other = count_once(counter, &empty, n);
        if (one < smallest) smallest = one;
        if (other < around) around = other;
    }
    return smallest > around ? smallest - around : 0;
}

static void run(const struct row *row, size_t n, int counter)
{
    prepare(row, n);
    if (row->call(n, row->dtype) != ECH_OK) {
        fprintf(stderr, "bench_count: %s,%s,%zu: %s\n", row->op, ech_dtype_name(row->dtype), n,
                ech_error(ctx));
        exit(1);
    }
    printf("%s,%s,%zu", row->op, ech_dtype_name(row->dtype), n);
    if (counter >= 0)
        printf(",%llu", (unsigned long long)count(counter, row, n));
    else
        bench_count_call(row, n);
    printf("\n");
}

static bool is_wanted(const struct row *row, size_t n, char **texts)
{
    char id[64];
    snprintf(id, sizeof id, "%s,%s,%zu", row->op, ech_dtype_name(row->dtype), n);
    if (!*texts) return true;
    for (; *texts; texts++)
        if (strncmp(id, *texts, strlen(*texts)) == 0) return true;
    return false;
}

int main(int argc, char **argv)
{
    const bool perf = argc > 1 && strcmp(argv[1], "--perf") == 0;
    const int counter = perf ? open_counter() : -1;
    const size_t bytes = (size_t)MATRIX * 8;
    if (perf && counter < 0) return fprintf(stderr, "no counter of instructions\n"), 77;
    in = calloc(1, bytes), in_order = calloc(1, bytes), more = calloc(1, bytes);
    out = calloc(1, bytes), out_2 = calloc(1, bytes), flags = calloc(1, MOST);
    counts = calloc(MOST, sizeof *counts), index_of = calloc(MOST, sizeof *index_of);
    if (!in || !in_order || !more || !out || !out_2 || !flags || !counts || !index_of)
        return fprintf(stderr, "bench_count: out of memory\n"), 4;
    if (ech_open(&ctx, "cpu") != ECH_OK || ech_set_threads(ctx, 1) != ECH_OK)
        return fprintf(stderr, "bench_count: %s\n", ech_error(NULL)), 3;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (const size_t *n = rows[i].sizes; *n; n++)
            if (is_wanted(&rows[i], *n, argv + (perf ? 2 : 1))) run(&rows[i], *n, counter);
    ech_close(ctx);
    free(in), free(in_order), free(more), free(out), free(out_2);
    free(flags), free(counts), free(index_of);
    return 0;
}
