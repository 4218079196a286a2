/*
 * matrix_facts.c - properties of a matrix that one or two passes over its entries determine.
 *
 * Duplicate entries are added first, so that the properties are those of the matrix and not of the
 * file.  Stored zeros count only in the number of entries.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "matrix_info.h"

#include <math.h>
#include <stdlib.h>

/* ---- CSR and its transpose ---- */

static void free_csr(ech_csr *a)
{
    free(a->row_offsets);
    free(a->col_indices);
    free(a->values);
}

void matrix_view_free(struct matrix_view *view)
{
    free_csr(&view->a);
    free_csr(&view->t);
}

static bool make_csr(ech_csr *a, uint64_t rows, uint64_t cols, uint64_t entries)
{
    *a = (ech_csr){ .size = sizeof(ech_csr),
                    .rows = (size_t)rows,
                    .cols = (size_t)cols,
                    .nnz = (size_t)entries,
                    .index_dtype = ECH_I64,
                    .dtype = ECH_F64 };
    a->row_offsets = malloc(((size_t)rows + 1) * sizeof(int64_t));
    a->col_indices = malloc(((size_t)entries + 1) * sizeof(int64_t));
    a->values = malloc(((size_t)entries + 1) * sizeof(double));
    return a->row_offsets && a->col_indices && a->values;
}

int matrix_view_make(ech_ctx *ctx, const struct io_matrix *m, struct matrix_view *view)
{
    *view = (struct matrix_view){ .rows = (size_t)m->rows, .cols = (size_t)m->cols };
    if (m->dense) {
        view->dense = m->values;
        return EXIT_DONE;
    }
    if (!make_csr(&view->a, m->rows, m->cols, m->entries))
        return cli_fail(EXIT_MEMORY, "out of memory: cannot allocate %llu bytes for the CSR matrix",
                        (unsigned long long)(m->rows * 8 + m->entries * 16));
    ech_status status = ech_csr_from_coo(ctx, m->row, m->column, m->values, &view->a,
                                         &view->entries, m->entries, NULL);
    if (status != ECH_OK) return cli_fail_ech(status, ctx);
    view->a.nnz = (size_t)view->entries;
    if (!make_csr(&view->t, m->cols, m->rows, view->entries))
        return cli_fail(EXIT_MEMORY, "out of memory: cannot allocate %llu bytes for the transpose",
                        (unsigned long long)(m->cols * 8 + view->entries * 16));
    status = ech_csr_transpose(ctx, &view->a, &view->t, NULL);
    return status == ECH_OK ? EXIT_DONE : cli_fail_ech(status, ctx);
}

/* ---- Rows ---- */

/* Sums over a row. */
struct row {
    uint64_t i, count;
    double others, diagonal; /* sum of |a_ij|, and a_ii */
};

static void inspect_entry(struct row *row, uint64_t j, double value, struct matrix_facts *f)
{
    const uint64_t i = row->i;
    if (!isfinite(value)) f->nans++;
    f->zeros += value == 0;
    f->square += value * value;
    if (value != 0 && j < i && i - j > f->below) f->below = i - j;
    if (value != 0 && j > i && j - i > f->above) f->above = j - i;
    if (j == i)
        row->diagonal = value;
    else
        row->others += fabs(value);
    row->count++;
}

static void end_row(const struct row *row, struct matrix_facts *f)
{
    const double diagonal = row->diagonal, others = row->others;
    if (row->i == 0 || row->count < f->least) f->least = row->count;
    if (row->count > f->most) f->most = row->count;
    f->empty += row->count == 0;
    if (!f->zero_row && others == 0 && diagonal == 0) f->zero_row = row->i + 1;
    f->row_sum = fmax(f->row_sum, others + fabs(diagonal));
    f->diagonal += diagonal != 0;
    f->positive += diagonal > 0;
    f->strict += fabs(diagonal) > others;
    f->weak += fabs(diagonal) >= others;
    f->low = row->i == 0 ? diagonal - others : fmin(f->low, diagonal - others);
    f->high = row->i == 0 ? diagonal + others : fmax(f->high, diagonal + others);
}

static void end_column(uint64_t j, double sum, struct matrix_facts *f)
{
    f->column_sum = fmax(f->column_sum, sum);
    if (!f->zero_column && sum == 0) f->zero_column = j + 1;
}

/* ---- Sparse ---- */

static void compare(double x, double y, struct matrix_facts *f)
{
    f->asymmetry = fmax(f->asymmetry, fabs(x - y));
    f->skewness = fmax(f->skewness, fabs(x + y));
}

/* Compares row i of A with row i of the transpose by merging their ascending columns. */
static void compare_row(const struct matrix_view *view, size_t i, struct matrix_facts *f)
{
    const int64_t *ao = view->a.row_offsets, *to = view->t.row_offsets;
    const int64_t *ac = view->a.col_indices, *tc = view->t.col_indices;
    const double *av = view->a.values, *tv = view->t.values;
    int64_t p = ao[i], q = to[i];
    while (p < ao[i + 1] || q < to[i + 1]) {
        const int64_t a = p < ao[i + 1] ? ac[p] : INT64_MAX, t = q < to[i + 1] ? tc[q] : INT64_MAX;
        const double x = a <= t ? av[p] : 0, y = t <= a ? tv[q] : 0;
        if (a <= t && t != a && x != 0) f->lonely++;
        compare(x, y, f);
        p += a <= t;
        q += t <= a;
    }
}

static void inspect_sparse(const struct matrix_view *view, struct matrix_facts *f)
{
    const int64_t *offsets = view->a.row_offsets, *columns = view->a.col_indices;
    const double *values = view->a.values;
    for (size_t i = 0; i < view->rows; i++) {
        struct row row = { .i = i };
        for (int64_t e = offsets[i]; e < offsets[i + 1]; e++)
            inspect_entry(&row, (uint64_t)columns[e], values[e], f);
        end_row(&row, f);
    }
    offsets = view->t.row_offsets;
    values = view->t.values;
    for (size_t j = 0; j < view->cols; j++) {
        double sum = 0;
        for (int64_t e = offsets[j]; e < offsets[j + 1]; e++) sum += fabs(values[e]);
        end_column(j, sum, f);
    }
    for (size_t i = 0; view->rows == view->cols && i < view->rows; i++) compare_row(view, i, f);
}

/* ---- Dense ---- */

/* Compares blocks of A with their transposed blocks; both fit in the cache. */
static void compare_dense(const double *a, size_t n, struct matrix_facts *f)
{
    enum { SIDE = 32 };
    for (size_t top = 0; top < n; top += SIDE)
        for (size_t left = 0; left <= top; left += SIDE)
            for (size_t i = top; i < n && i < top + SIDE; i++)
                for (size_t j = left; j <= i && j < left + SIDE; j++) {
                    const double x = a[i * n + j], y = a[j * n + i];
                    f->lonely += (x != 0) != (y != 0);
                    compare(x, y, f);
                }
}

static int inspect_dense(struct matrix_view *view, struct matrix_facts *f)
{
    double *sums = calloc(view->cols + 1, sizeof *sums);
    if (!sums) return cli_fail(EXIT_MEMORY, "out of memory: cannot allocate the column sums");
    for (size_t i = 0; i < view->rows; i++) {
        const double *values = view->dense + i * view->cols;
        struct row row = { .i = i };
        for (size_t j = 0; j < view->cols; j++) {
            if (values[j] == 0) continue;
            inspect_entry(&row, j, values[j], f);
            sums[j] += fabs(values[j]);
        }
        view->entries += row.count;
        end_row(&row, f);
    }
    for (size_t j = 0; j < view->cols; j++) end_column(j, sums[j], f);
    free(sums);
    if (view->rows == view->cols) compare_dense(view->dense, view->rows, f);
    return EXIT_DONE;
}

int matrix_find_facts(struct matrix_view *view, struct matrix_facts *f)
{
    int code = EXIT_DONE;
    *f = (struct matrix_facts){ 0 };
    if (view->dense)
        code = inspect_dense(view, f);
    else
        inspect_sparse(view, f);
    f->square = sqrt(f->square);
    return code;
}
