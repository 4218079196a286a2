/*
 * bench_gf2.c - measures Echelon's products, eliminations and batches over GF(2), and writes CSV;
 * see gf2_bench.h.  ECHELON_DEVICE selects the device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "gf2_bench.h"

#include <echelon.h>

#include <time.h>

static int threads = 1;
static double seconds = 1;
static ech_ctx *ctx;

static void must(ech_status status)
{
    if (status == ECH_OK) return;
    fprintf(stderr, "bench_gf2: %s\n", ech_error(ctx));
    exit(1);
}

static void *memory(size_t bytes)
{
    void *p = calloc(bytes + 1, 1);
    if (p) return p;
    fprintf(stderr, "bench_gf2: out of memory\n");
    exit(4);
}

static ech_gf2 matrix(uint64_t seed, size_t rows, size_t cols)
{
    const ech_gf2 m = { sizeof(ech_gf2), memory(rows * ech_gf2_stride(cols) * 8), rows, cols,
                        ech_gf2_stride(cols) };
    for (size_t i = 0; i < rows; i++) gf2_random_row(seed, i, cols, m.words + i * m.stride);
    return m;
}

static size_t words_of(const ech_gf2 *m)
{
    return m->rows * m->stride;
}

static void run_mul(const struct gf2_row *row)
{
    ech_gf2 a = matrix(1, row->rows, row->cols), b = matrix(2, row->cols, row->rows);
    ech_gf2 out = matrix(3, row->rows, row->rows);
    struct gf2_times times = { .n = 0 };
    do {
        const double begin = gf2_now_ms(threads);
        must(ech_gf2_mul(ctx, &a, &b, &out, NULL));
        must(ech_sync(ctx));
        times.at[times.n++] = gf2_now_ms(threads) - begin;
    } while (gf2_again(&times, seconds));
    gf2_print(row, threads, "Echelon", ech_version(), &times, 0,
              gf2_hash(0, out.words, words_of(&out)));
    free(a.words), free(b.words), free(out.words);
}

static void run_rref(const struct gf2_row *row)
{
    ech_gf2 a = matrix(1, row->rows, row->cols), m = matrix(0, row->rows, row->cols);
    struct gf2_times times = { .n = 0 };
    uint32_t rank;
    if (row->rank) {
        ech_gf2 left = matrix(4, row->rows, row->rank), right = matrix(5, row->rank, row->cols);
        must(ech_gf2_mul(ctx, &left, &right, &a, NULL));
        must(ech_sync(ctx));
        free(left.words), free(right.words);
    }
    do {
        memcpy(m.words, a.words, words_of(&a) * 8);
        const double begin = gf2_now_ms(threads);
        must(ech_gf2_echelon(ctx, &m, &rank, NULL, NULL));
        must(ech_sync(ctx));
        times.at[times.n++] = gf2_now_ms(threads) - begin;
    } while (gf2_again(&times, seconds));
    gf2_print(row, threads, "Echelon", ech_version(), &times, rank,
              gf2_hash(0, m.words, words_of(&m)));
    free(a.words), free(m.words);
}

/* A different column order for each matrix, as in a decoder. */
static uint32_t *orders(size_t count, size_t cols)
{
    uint32_t *order = memory(count * cols * sizeof *order);
    for (size_t i = 0; i < count * cols; i++) order[i] = (uint32_t)(i % cols);
    for (size_t i = 0; i < count; i++)
        for (size_t j = cols - 1; j > 0; j--) {
            uint32_t *at = order + i * cols;
            const size_t k = gf2_word(6, i * cols + j) % (j + 1);
            const uint32_t swapped = at[j];
            at[j] = at[k];
            at[k] = swapped;
        }
    return order;
}

static void run_batch(const struct gf2_row *row)
{
    const size_t n = row->count, size = row->rows * ech_gf2_stride(row->cols);
    const size_t b_words = ech_gf2_stride(row->rows), x_words = ech_gf2_stride(row->cols);
    ech_gf2 all = matrix(1, n * row->rows, row->cols), work = matrix(1, n * row->rows, row->cols);
    ech_gf2_batch a = { sizeof(ech_gf2_batch), work.words, n, row->rows, row->cols,
                        work.stride,           size };
    uint32_t *rank = memory(n * sizeof *rank), *order = orders(n, row->cols);
    uint64_t *b = memory(n * b_words * 8), *x = memory(n * x_words * 8);
    uint8_t *solvable = memory(n);
    ech_gf2_echelon_options options = { .size = sizeof options, .pivot_cols = row->cols };
    struct gf2_times times = { .n = 0 };
    const char *op = row->op + strlen("batch ");
    if (strstr(op, "order")) options.column_order = order;
    for (size_t i = 0; i < n; i++) gf2_random_row(7, i, row->rows, b + i * b_words);
    do {
        memcpy(work.words, all.words, words_of(&all) * 8);
        const double begin = gf2_now_ms(threads);
        if (strcmp(op, "rref") == 0) must(ech_gf2_echelon_batched(ctx, &a, rank, NULL, &options));
        if (strcmp(op, "rank") == 0) must(ech_gf2_rank_batched(ctx, &a, rank, &options));
        if (strncmp(op, "solve", 5) == 0)
            must(ech_gf2_solve_batched(ctx, &a, b, x, solvable, &options));
        must(ech_sync(ctx));
        times.at[times.n++] = gf2_now_ms(threads) - begin;
    } while (gf2_again(&times, seconds));
    uint64_t hash = 0;
    if (strcmp(op, "rref") == 0) hash = gf2_hash(0, work.words, words_of(&work));
    if (strncmp(op, "solve", 5) == 0) hash = gf2_hash(0, x, n * x_words);
    gf2_print(row, threads, "Echelon", ech_version(), &times, rank[0], hash);
    free(all.words), free(work.words), free(rank), free(order), free(b), free(x), free(solvable);
}

/* The opened device, as described by ech_device_get(). */
static void print_about(void)
{
    ech_device device = { .size = sizeof device };
    char date[32];
    time_t now = time(NULL);
    for (int i = 0; i < ech_device_count(); i++)
        if (ech_device_get(i, &device) == ECH_OK && strcmp(device.name, ech_device_name(ctx)) == 0)
            break;
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    printf("# machine: %s, %d multiprocessors or threads, %s\n", device.description,
           device.multiprocessors, device.features);
    printf("# versions: Echelon %s\n# date: %s\n", ech_version(), date);
    printf("# command: bench_gf2 %d %g\n", threads, seconds);
    printf("# time: %s\n", threads == 1 ? "CPU time of the process" : "wall time");
}

int main(int argc, char **argv)
{
    if (argc > 1) threads = atoi(argv[1]);
    if (argc > 2) seconds = atof(argv[2]);
    must(ech_open(&ctx, NULL));
    must(ech_set_threads(ctx, threads));
    print_about();
    gf2_title();
    for (int i = 0; i < GF2_ROWS; i++) {
        const struct gf2_row *row = &gf2_rows[i];
        if (!gf2_wanted(row, argc, argv)) continue;
        if (strcmp(row->op, "mul") == 0) run_mul(row);
        if (strcmp(row->op, "rref") == 0) run_rref(row);
        if (strncmp(row->op, "batch", 5) == 0) run_batch(row);
    }
    ech_close(ctx);
    return 0;
}
