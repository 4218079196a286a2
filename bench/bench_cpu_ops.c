/*
 * bench_cpu_ops.c - measures reduce, scan, histogram, select and arrange on the CPU, and their
 * competitors, and writes CSV.
 *
 *     bench_cpu_ops [threads [n [repeats [row ...]]]]      1, 10^8, 7, all
 *
 * A row is named op/dtype/distribution, such as "sum/f32/uniform"; a part of the name selects all
 * rows that contain it.  The contenders process the same input, alternating, repeats times; the
 * median is reported.  Results are compared with Echelon's outside the measured time.  gb_per_s
 * counts each byte that must be read or written once; the rows read and copy measure the bandwidth
 * ceiling of the machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "cpu_ops.h"

#include <echelon.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct row {
    const char *name, *dtype, *dist;
    enum call_op op;
    int reads, writes; /* per element; writes -1: only selected elements are written */
} rows[] = {
    { "read", "f64", "uniform", CALL_READ, 1, 0 },
    { "copy", "f64", "uniform", CALL_COPY, 1, 1 },
    { "sum", "f32", "uniform", CALL_SUM, 1, 0 },
    { "sum", "f64", "uniform", CALL_SUM, 1, 0 },
    { "sum", "i32", "uniform", CALL_SUM, 1, 0 },
    { "sum", "u8", "uniform", CALL_SUM, 1, 0 },
    { "max", "f32", "uniform", CALL_MAX, 1, 0 },
    { "max", "i32", "uniform", CALL_MAX, 1, 0 },
    { "variance", "f32", "uniform", CALL_VARIANCE, 1, 0 },
    { "variance", "f64", "uniform", CALL_VARIANCE, 1, 0 },
    { "scan", "i32", "uniform", CALL_SCAN, 1, 1 },
    { "scan", "f32", "uniform", CALL_SCAN, 1, 1 },
    { "scan", "f64", "uniform", CALL_SCAN, 1, 1 },
    { "bincount", "u8", "uniform", CALL_COUNT, 1, 0 },
    { "bincount", "u8", "equal", CALL_COUNT, 1, 0 },
    { "bincount", "u8", "few16", CALL_COUNT, 1, 0 },
    { "bincount", "u16", "uniform", CALL_COUNT, 1, 0 },
    { "histogram", "f32", "uniform", CALL_HISTOGRAM, 1, 0 },
    { "select", "u32", "uniform", CALL_SELECT, 1, -1 },
    { "select", "f64", "uniform", CALL_SELECT, 1, -1 },
    { "unique", "u32", "runs", CALL_UNIQUE, 1, -1 },
    { "unique", "u32", "few16", CALL_UNIQUE, 1, -1 },
    { "reverse", "u32", "uniform", CALL_REVERSE, 1, 1 },
    { "reverse", "u8", "uniform", CALL_REVERSE, 1, 1 },
    { "shuffle", "u32", "uniform", CALL_SHUFFLE, 1, 1 },
};

static ech_ctx *ctx;

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* ---- Data ---- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static void fill(const struct row *row, char *to, size_t n, size_t bytes)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t r = mix(i + 1), x = r;
        if (strcmp(row->dist, "equal") == 0) x = 0x41;
        if (strcmp(row->dist, "few16") == 0) x = r % 16;
        if (strcmp(row->dist, "runs") == 0) x = mix(i / 10);
        float f = (float)(r >> 40) * 0x1p-24f;
        double d = (double)(r >> 11) * 0x1p-53;
        if (*row->dtype == 'f') memcpy(&x, bytes == 4 ? (void *)&f : (void *)&d, bytes);
        memcpy(to + i * bytes, &x, bytes); /* little-endian */
    }
}

/* ---- Echelon, and the bandwidth ceilings ---- */

static double as_double(const void *at, ech_dtype dtype)
{
    int64_t i;
    uint64_t u;
    float f;
    double d;
    int32_t w;
    switch (dtype) {
    case ECH_I64:
        memcpy(&i, at, 8);
        return (double)i;
    case ECH_U64:
        memcpy(&u, at, 8);
        return (double)u;
    case ECH_F32:
        memcpy(&f, at, 4);
        return (double)f;
    case ECH_I32:
        memcpy(&w, at, 4);
        return (double)w;
    default:
        memcpy(&d, at, 8);
        return d;
    }
}

static ech_status reduce(struct call *c, ech_dtype dtype, ech_op op)
{
    uint64_t out = 0;
    ech_status status = ech_reduce(ctx, op, c->in, &out, c->n, dtype, NULL);
    c->result = as_double(&out, (ech_dtype)ech_reduce_dtype(op, dtype, 0));
    return status;
}

static ech_status select_or_unique(struct call *c, ech_dtype dtype)
{
    uint64_t count = 0;
    uint32_t half = (uint32_t)1 << 31;
    double middle = 0.5;
    ech_status status =
        c->op == CALL_UNIQUE
            ? ech_unique(ctx, c->in, c->out, &count, c->n, dtype, NULL)
            : ech_select_if(ctx, ECH_COMPARE_LESS, c->in, c->out, &count, c->n, dtype,
                            dtype == ECH_U32 ? (void *)&half : (void *)&middle, NULL);
    c->result = (double)count;
    return status;
}

static int run_echelon(struct call *c)
{
    ech_dtype dtype = (ech_dtype)ech_dtype_from_name(c->dtype);
    size_t bytes = ech_dtype_bytes(dtype);
    switch (c->op) {
    case CALL_SUM:
        return reduce(c, dtype, ECH_OP_SUM) == ECH_OK;
    case CALL_MAX:
        return reduce(c, dtype, ECH_OP_MAX) == ECH_OK;
    case CALL_VARIANCE:
        return reduce(c, dtype, ECH_OP_VARIANCE) == ECH_OK;
    case CALL_SCAN:
        return ech_scan(ctx, ECH_OP_SUM, c->in, c->out, c->n, dtype, NULL) == ECH_OK;
    case CALL_COUNT:
        return ech_bincount(ctx, c->in, c->out, c->n, dtype, (size_t)1 << (8 * bytes), NULL) ==
               ECH_OK;
    case CALL_HISTOGRAM:
        return ech_histogram(ctx, c->in, c->out, c->n, dtype, 256, 0, 1, NULL) == ECH_OK;
    case CALL_SELECT:
    case CALL_UNIQUE:
        return select_or_unique(c, dtype) == ECH_OK;
    case CALL_REVERSE:
        return ech_reverse(ctx, c->in, c->out, c->n, bytes) == ECH_OK;
    case CALL_SHUFFLE:
        return ech_shuffle(ctx, c->in, c->out, c->n, bytes, 42) == ECH_OK;
    default:
        return 0;
    }
}

static int run_ceiling(struct call *c)
{
    const uint64_t *words = c->in;
    size_t n = c->n, part = (n + (size_t)c->threads - 1) / (size_t)c->threads;
    uint64_t sum = 0;
    if (c->op != CALL_READ && c->op != CALL_COPY) return 0;
#pragma omp parallel for num_threads(c->threads) reduction(+ : sum)
    for (int t = 0; t < c->threads; t++) {
        size_t from = (size_t)t * part, to = from + part < n ? from + part : n;
        if (c->op == CALL_COPY)
            memcpy((char *)c->out + 8 * from, words + from, 8 * (to - from));
        else
            for (size_t i = from; i < to; i++) sum += words[i];
    }
    c->result = c->op == CALL_COPY ? 0 : (double)(sum >> 12);
    return 1;
}

static const struct contender echelon = { "Echelon", "", run_echelon },
                              ceiling = { "plain loop", COMPILER, run_ceiling };
static const struct contender *const contenders[] = {
    &echelon,          &ceiling,
#ifdef RIVAL_STD
    &contender_std,    &contender_gnu_parallel,
    &contender_openmp,
#endif
#ifdef RIVAL_TBB
    &contender_tbb,
#endif
};
enum { CONTENDERS = sizeof contenders / sizeof *contenders, MOST_REPEATS = 99 };

/* ---- Measure ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static size_t out_bytes(const struct row *row, const struct call *c, size_t bytes)
{
    if (row->op == CALL_COUNT) return (size_t)8 << (8 * bytes);
    if (row->op == CALL_HISTOGRAM) return 8 * 256;
    if (row->writes < 0) return (size_t)c->result * bytes;
    return row->writes ? c->n * bytes : 0;
}

/* Sums of floats may differ in their last digits; shuffles are expected to differ. */
static bool agree(const struct row *row, const struct call *ours, const struct call *theirs,
                  const char *got, size_t bytes)
{
    double scale = fabs(ours->result) > 1 ? fabs(ours->result) : 1;
    bool loose = strcmp(row->dtype, "f32") == 0;
    if (!(fabs(ours->result - theirs->result) <= (loose ? 1e-2 : 1e-9) * scale)) return false;
    if (row->op == CALL_SHUFFLE || (row->op == CALL_SCAN && *row->dtype == 'f')) return true;
    return memcmp(ours->out, got, out_bytes(row, ours, bytes)) == 0;
}

static void measure(const struct row *row, size_t n, int threads, int repeats)
{
    size_t bytes = ech_dtype_bytes((ech_dtype)ech_dtype_from_name(row->dtype));
    double times[CONTENDERS][MOST_REPEATS];
    bool able[CONTENDERS], verified[CONTENDERS];
    struct call ours = { .op = row->op, .dtype = row->dtype, .n = n, .threads = threads };
    size_t room = n * bytes > 8 << 16 ? n * bytes : 8 << 16;
    char *in = aligned_alloc(4096, (n * bytes + 4095) / 4096 * 4096);
    char *out = aligned_alloc(4096, (room + 4095) / 4096 * 4096);
    char *other = aligned_alloc(4096, (room + 4095) / 4096 * 4096);
    if (!in || !out || !other) exit(1);
    fill(row, in, n, bytes);
    memset(out, 1, room);
    memset(other, 2, room);
    ours.in = in;
    ours.out = out;
    for (int c = 0; c < CONTENDERS; c++) able[c] = verified[c] = true;
    for (int i = -1; i < repeats; i++) /* the first is a warm-up */
        for (int j = 0; j < CONTENDERS; j++) {
            int c = i < 0 ? j : (j + i) % CONTENDERS;
            if (!able[c]) continue;
            struct call theirs = ours;
            struct call *call = c ? &theirs : &ours;
            if (c) theirs.out = other;
            double start = now_ms();
            able[c] = contenders[c]->run(call);
            if (i >= 0) times[c][i] = now_ms() - start;
            if (c && able[c] && able[0]) verified[c] &= agree(row, &ours, &theirs, other, bytes);
        }
    for (int c = 0; c < CONTENDERS; c++) {
        if (!able[c]) continue;
        qsort(times[c], (size_t)repeats, sizeof **times, by_value);
        double ms = times[c][repeats / 2];
        double moved = (double)(n * bytes * (size_t)row->reads);
        moved += row->writes < 0 ? ours.result * (double)bytes : (double)(n * bytes) * row->writes;
        printf("%s,%s,%zu,%s,%d,%s,%s,%.4f,%.4f,%.4f,%.3f,%s\n", row->name, row->dtype, n,
               row->dist, threads, contenders[c]->name, c ? contenders[c]->version : ech_version(),
               ms, times[c][0], times[c][repeats - 1], moved / ms * 1e-6,
               verified[c] ? "equal" : "wrong");
    }
    fflush(stdout);
    free(in);
    free(out);
    free(other);
}

static bool wanted(const struct row *row, int names, char **name)
{
    char text[96];
    snprintf(text, sizeof text, "%s/%s/%s", row->name, row->dtype, row->dist);
    for (int i = 0; i < names; i++)
        if (strstr(text, name[i])) return true;
    return names == 0;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 1, repeats = argc > 3 ? atoi(argv[3]) : 7;
    double n = argc > 2 ? atof(argv[2]) : 1e8;
    if (repeats < 1 || repeats > MOST_REPEATS || threads < 1 || n < 1) return 2;
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
    printf("# command: bench_cpu_ops %d %.0e %d\n", threads, n, repeats);
    printf("op,dtype,n,dist,threads,contender,version,ms,ms_min,ms_max,gb_per_s,result\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (wanted(&rows[i], argc > 4 ? argc - 4 : 0, argv + 4))
            measure(&rows[i], (size_t)n, threads, repeats);
    ech_close(ctx);
    return 0;
}
