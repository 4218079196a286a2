/*
 * gf2_m4ri.c - measures M4RI (libm4ri, GPL) on the input of bench_gf2, and writes CSV; see
 * gf2_bench.h.  This program contains no code of Echelon.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "gf2_bench.h"

#include <m4ri/m4ri.h>

#ifndef M4RI_VERSION_TEXT
#define M4RI_VERSION_TEXT "-"
#endif

static double seconds = 1;

static mzd_t *matrix(uint64_t seed, size_t rows, size_t cols)
{
    mzd_t *m = mzd_init((int)rows, (int)cols);
    for (size_t i = 0; i < rows; i++) gf2_random_row(seed, i, cols, m->rows[i]);
    return m;
}

static uint64_t hash_of(uint64_t hash, const mzd_t *m, size_t cols)
{
    for (int i = 0; i < m->nrows; i++) hash = gf2_hash(hash, m->rows[i], (cols + 63) / 64);
    return hash;
}

static void run_mul(const struct gf2_row *row)
{
    mzd_t *a = matrix(1, row->rows, row->cols), *b = matrix(2, row->cols, row->rows);
    mzd_t *out = matrix(3, row->rows, row->rows);
    struct gf2_times times = { .n = 0 };
    do {
        const double begin = gf2_now_ms(1);
        mzd_mul(out, a, b, 0);
        times.at[times.n++] = gf2_now_ms(1) - begin;
    } while (gf2_again(&times, seconds));
    gf2_print(row, 1, "M4RI", M4RI_VERSION_TEXT, &times, 0, hash_of(0, out, row->rows));
    mzd_free(a), mzd_free(b), mzd_free(out);
}

static void run_rref(const struct gf2_row *row)
{
    mzd_t *a = matrix(1, row->rows, row->cols), *m = matrix(0, row->rows, row->cols);
    struct gf2_times times = { .n = 0 };
    size_t rank;
    if (row->rank) {
        mzd_t *left = matrix(4, row->rows, row->rank), *right = matrix(5, row->rank, row->cols);
        mzd_mul(a, left, right, 0);
        mzd_free(left), mzd_free(right);
    }
    do {
        mzd_copy(m, a);
        const double begin = gf2_now_ms(1);
        rank = (size_t)mzd_echelonize(m, 1);
        times.at[times.n++] = gf2_now_ms(1) - begin;
    } while (gf2_again(&times, seconds));
    gf2_print(row, 1, "M4RI", M4RI_VERSION_TEXT, &times, rank, hash_of(0, m, row->cols));
    mzd_free(a), mzd_free(m);
}

/* A batch is a loop over its matrices. */
static void run_batch(const struct gf2_row *row)
{
    const size_t n = row->count;
    mzd_t **a = malloc(n * sizeof(mzd_t *)), **m = malloc(n * sizeof(mzd_t *));
    struct gf2_times times = { .n = 0 };
    size_t rank = 0;
    uint64_t hash = 0;
    if (!a || !m) exit(4);
    for (size_t i = 0; i < n; i++) {
        a[i] = mzd_init((int)row->rows, (int)row->cols);
        m[i] = mzd_init((int)row->rows, (int)row->cols);
        for (size_t j = 0; j < row->rows; j++)
            gf2_random_row(1, i * row->rows + j, row->cols, a[i]->rows[j]);
    }
    do {
        for (size_t i = 0; i < n; i++) mzd_copy(m[i], a[i]);
        const double begin = gf2_now_ms(1);
        for (size_t i = 0; i < n; i++) {
            const size_t found = (size_t)mzd_echelonize(m[i], strcmp(row->op, "batch rank") != 0);
            if (i == 0) rank = found;
        }
        times.at[times.n++] = gf2_now_ms(1) - begin;
    } while (gf2_again(&times, seconds));
    for (size_t i = 0; i < n && strcmp(row->op, "batch rref") == 0; i++)
        hash = hash_of(hash, m[i], row->cols);
    gf2_print(row, 1, "M4RI", M4RI_VERSION_TEXT, &times, rank, hash);
    for (size_t i = 0; i < n; i++) mzd_free(a[i]), mzd_free(m[i]);
    free(a), free(m);
}

int main(int argc, char **argv)
{
    if (argc > 2) seconds = atof(argv[2]);
    gf2_title();
    for (int i = 0; i < GF2_ROWS; i++) {
        const struct gf2_row *row = &gf2_rows[i];
        if (!gf2_wanted(row, argc, argv)) continue;
        if (strcmp(row->op, "mul") == 0) run_mul(row);
        if (strcmp(row->op, "rref") == 0) run_rref(row);
        if (strcmp(row->op, "batch rref") == 0 || strcmp(row->op, "batch rank") == 0)
            run_batch(row);
    }
    return 0;
}
