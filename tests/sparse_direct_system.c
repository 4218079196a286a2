/*
 * sparse_direct_system.c - synthetic sparse systems for the tests of sparse direct solvers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sparse_direct_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__
/* MUMPS 5.5 loses 4 bytes per analysis. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libdmumps";
}
#endif

enum { PER_ROW = 8, BLOCK = 25 };

static double between(struct rng *rng, double low, double high)
{
    return low + (high - low) * (double)(rng_next(rng) >> 11) * 0x1p-53;
}

void direct_csr_entry(struct direct_csr *s, int64_t column, double value)
{
    s->columns[s->nnz] = column;
    s->values[s->nnz++] = value;
}

static void band_row(struct direct_csr *s, size_t i, struct rng *rng)
{
    if (i > 0) direct_csr_entry(s, (int64_t)i - 1, between(rng, -1, 1));
    direct_csr_entry(s, (int64_t)i, between(rng, 2.5, 4));
    if (i + 1 < s->n) direct_csr_entry(s, (int64_t)i + 1, between(rng, -1, 1));
}

static void arrow_row(struct direct_csr *s, size_t i, struct rng *rng)
{
    if (i > 0) direct_csr_entry(s, 0, between(rng, -1, 1));
    direct_csr_entry(s, (int64_t)i, i ? between(rng, 1, 2) : (double)s->n);
    for (size_t j = 1; i == 0 && j < s->n; j++) direct_csr_entry(s, (int64_t)j, 0.5);
}

static void mesh_row(struct direct_csr *s, size_t i)
{
    const size_t side = (size_t)sqrt((double)s->n), x = i % side, y = i / side;
    if (y > 0) direct_csr_entry(s, (int64_t)(i - side), -1);
    if (x > 0) direct_csr_entry(s, (int64_t)i - 1, -1);
    direct_csr_entry(s, (int64_t)i, 4);
    if (x + 1 < side) direct_csr_entry(s, (int64_t)i + 1, -1);
    if (y + 1 < side) direct_csr_entry(s, (int64_t)(i + side), -1);
}

static size_t cube_side(size_t n)
{
    size_t side = 1;
    while ((side + 1) * (side + 1) * (side + 1) <= n) side++;
    return side;
}

static void box_row(struct direct_csr *s, size_t i)
{
    const size_t side = cube_side(s->n);
    size_t step = 1;
    for (int d = 0; d < 3; d++, step *= side) {
        if (i / step % side > 0) direct_csr_entry(s, (int64_t)(i - step), -1);
        if (i / step % side + 1 < side) direct_csr_entry(s, (int64_t)(i + step), -1);
    }
    direct_csr_entry(s, (int64_t)i, 6.5);
}

/* Row i of a block has its large element in column (i + 7) of the block, cyclically. */
static void plant_row(struct direct_csr *s, size_t i, struct rng *rng)
{
    const size_t begin = i / BLOCK * BLOCK, left = s->n - begin, size = left < BLOCK ? left : BLOCK;
    const double scale = pow(10, between(rng, -4, 4));
    const size_t main = begin + (i - begin + 7) % size;
    direct_csr_entry(s, (int64_t)main, scale * between(rng, 2, 3));
    for (int k = 0; k < 2; k++) {
        const size_t j = begin + (size_t)rng_below(rng, size);
        if (j != main && (j != i || i % 5 == 0))
            direct_csr_entry(s, (int64_t)j, scale * between(rng, -0.5, 0.5));
    }
    if (begin) direct_csr_entry(s, (int64_t)(begin - 1 - rng_below(rng, BLOCK)), scale * 0.3);
}

static void twice_row(struct direct_csr *s, size_t i, struct rng *rng)
{
    if (i + 1 < s->n) direct_csr_entry(s, (int64_t)i + 1, between(rng, -1, 1));
    direct_csr_entry(s, (int64_t)i, 2);
    if (i > 0) direct_csr_entry(s, (int64_t)i - 1, between(rng, -1, 1));
    direct_csr_entry(s, (int64_t)i, 1.5);
}

static void make_row(struct direct_csr *s, const char *kind, size_t i, struct rng *rng)
{
    if (strcmp(kind, "line") == 0)
        direct_csr_entry(s, (int64_t)i, 1 + (double)i);
    else if (strcmp(kind, "band") == 0)
        band_row(s, i, rng);
    else if (strcmp(kind, "arrow") == 0)
        arrow_row(s, i, rng);
    else if (strcmp(kind, "cycle") == 0)
        direct_csr_entry(s, (int64_t)((i + 1) % s->n), i % 2 ? -2 : 2);
    else if (strcmp(kind, "mesh") == 0)
        mesh_row(s, i);
    else if (strcmp(kind, "box") == 0)
        box_row(s, i);
    else if (strcmp(kind, "plant") == 0)
        plant_row(s, i, rng);
    else
        twice_row(s, i, rng);
}

/* n rows with room for entries, and x. */
static struct direct_csr allocate(size_t n, size_t entries, struct rng *rng)
{
    struct direct_csr s = { .n = n };
    s.offsets = calloc(n + 1, sizeof *s.offsets);
    s.columns = calloc(entries + 1, sizeof *s.columns);
    s.values = calloc(entries + 1, sizeof *s.values);
    s.x = calloc(n + 1, sizeof *s.x);
    s.b = calloc(n + 1, sizeof *s.b);
    if (!s.offsets || !s.columns || !s.values || !s.x || !s.b) abort();
    for (size_t i = 0; i < n; i++) s.x[i] = (double)(int)(rng_below(rng, 19)) - 9;
    return s;
}

/* Row i is complete. */
static void end_row(struct direct_csr *s, size_t i)
{
    long double sum = 0;
    s->offsets[i + 1] = (int64_t)s->nnz;
    for (int64_t e = s->offsets[i]; e < s->offsets[i + 1]; e++)
        sum += (long double)s->values[e] * s->x[s->columns[e]];
    s->b[i] = (double)sum;
}

struct direct_csr direct_csr_make(const char *kind, size_t n, uint64_t seed)
{
    struct rng rng = { seed + hash_text(kind) };
    if (strcmp(kind, "mesh") == 0) n = (size_t)sqrt((double)n) * (size_t)sqrt((double)n);
    if (strcmp(kind, "box") == 0) n = cube_side(n) * cube_side(n) * cube_side(n);
    struct direct_csr s = allocate(n, n * PER_ROW + n, &rng);
    for (size_t i = 0; i < n; i++) {
        make_row(&s, kind, i, &rng);
        end_row(&s, i);
    }
    return s;
}

/* Entries of a file, which may be in any order, in the order of rows. */
static struct direct_csr read_entries(FILE *file, size_t n, size_t entries)
{
    struct rng rng = { 1 };
    struct direct_csr s = allocate(n, entries, &rng);
    size_t *rows = calloc(entries + 1, sizeof *rows), *columns = calloc(entries + 1, sizeof *rows);
    double *values = calloc(entries + 1, sizeof *values);
    if (!rows || !columns || !values) abort();
    for (size_t e = 0; e < entries; e++)
        if (fscanf(file, "%zu %zu %lf", &rows[e], &columns[e], &values[e]) != 3) abort();
    for (size_t i = 0; i < n; i++) {
        for (size_t e = 0; e < entries; e++)
            if (rows[e] == i + 1) direct_csr_entry(&s, (int64_t)columns[e] - 1, values[e]);
        end_row(&s, i);
    }
    free(rows);
    free(columns);
    free(values);
    return s;
}

struct direct_csr direct_csr_read(const char *folder, const char *name)
{
    struct direct_csr s = { 0 };
    char path[4096], line[1024];
    size_t n, columns, entries;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (!file) return s;
    do {
        if (!fgets(line, sizeof line, file)) abort();
    } while (line[0] == '%');
    if (sscanf(line, "%zu %zu %zu", &n, &columns, &entries) != 3 || n != columns) abort();
    s = read_entries(file, n, entries);
    fclose(file);
    return s;
}

struct direct_csr direct_csr_enlarge(const struct direct_csr *block, size_t copies, uint64_t seed)
{
    enum { COUPLINGS = 3 };
    struct rng rng = { seed };
    const size_t n = block->n * copies;
    struct direct_csr s = allocate(n, (block->nnz + COUPLINGS) * copies, &rng);
    for (size_t c = 0; c < copies; c++) {
        size_t rows[COUPLINGS];
        for (int k = 0; k < COUPLINGS; k++) rows[k] = (size_t)rng_below(&rng, block->n);
        for (size_t i = 0; i < block->n; i++) {
            for (int64_t e = block->offsets[i]; e < block->offsets[i + 1]; e++)
                direct_csr_entry(&s, (int64_t)(c * block->n) + block->columns[e], block->values[e]);
            for (int k = 0; k < COUPLINGS; k++)
                if (c > 0 && rows[k] == i)
                    direct_csr_entry(&s, (int64_t)(c * block->n - 1 - rng_below(&rng, block->n)),
                                     between(&rng, -1, 1));
            end_row(&s, c * block->n + i);
        }
    }
    return s;
}

void direct_csr_free(struct direct_csr *s)
{
    free(s->offsets);
    free(s->columns);
    free(s->values);
    free(s->x);
    free(s->b);
}

static double rounded(double value, ech_dtype dtype)
{
    return dtype == ECH_F32 ? (float)value : value;
}

double direct_csr_error(const struct direct_csr *s, bool transpose, ech_dtype dtype,
                        const double *b, const void *x)
{
    long double *r = calloc(s->n + 1, sizeof *r), *sums = calloc(s->n + 1, sizeof *sums);
    long double norm = 0, size = 0, b_size = 0, error = 0;
    if (!r || !sums) abort();
    for (size_t i = 0; i < s->n; i++)
        for (int64_t e = s->offsets[i]; e < s->offsets[i + 1]; e++) {
            const size_t to = transpose ? (size_t)s->columns[e] : i;
            const size_t from = transpose ? i : (size_t)s->columns[e];
            const double value = rounded(s->values[e], dtype);
            const double known =
                dtype == ECH_F32 ? ((const float *)x)[from] : ((const double *)x)[from];
            r[to] -= (long double)value * known;
            sums[to] += fabsl((long double)value);
            if (fabsl((long double)known) > size) size = fabsl((long double)known);
        }
    for (size_t i = 0; i < s->n; i++) {
        const long double here = fabsl(r[i] + (long double)rounded(b[i], dtype));
        if (!(here <= error)) error = here;
        if (sums[i] > norm) norm = sums[i];
        if (fabs(b[i]) > b_size) b_size = fabs(b[i]);
    }
    free(r);
    free(sums);
    return error == 0 ? 0 : (double)(error / (norm * size + b_size));
}

void *numbers_of(const double *from, size_t n, ech_dtype dtype)
{
    void *to = malloc((n + 1) * sizeof *from);
    if (!to) abort();
    for (size_t i = 0; i < n; i++) {
        if (dtype == ECH_F32)
            ((float *)to)[i] = (float)from[i];
        else
            ((double *)to)[i] = from[i];
    }
    return to;
}

ech_csr csr_of(const struct direct_csr *s, ech_dtype index, ech_dtype dtype)
{
    ech_csr a = { .size = sizeof a,
                  .rows = s->n,
                  .cols = s->n,
                  .nnz = s->nnz,
                  .index_dtype = index,
                  .dtype = dtype };
    a.row_offsets = index_array((const uint64_t *)s->offsets, s->n + 1, index);
    a.col_indices = index_array((const uint64_t *)s->columns, s->nnz, index);
    a.values = numbers_of(s->values, s->nnz, dtype);
    return a;
}

void csr_free(ech_csr *a)
{
    free(a->row_offsets);
    free(a->col_indices);
    free(a->values);
}
