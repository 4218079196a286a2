/*
 * sparse/cpu/width.h - template: products of a sparse matrix with a vector and with a matrix.
 * Parameters: INDEX (unsigned), REAL, NAME(x).
 *
 *     row     | chunk | chunk | chunk | chunk | ch|   a chunk: its products are added in order
 *                \ /         \ /        |             chunks: in pairs from the row's start, by a
 *                 +           +         |             binary counter
 *
 * Invalid offsets and columns are replaced by valid ones, so that no memory outside of the arrays
 * is accessed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

static inline size_t NAME(offset)(const ech_csr *a, size_t row)
{
    return echi_min(((const INDEX *)a->row_offsets)[row], a->nnz);
}

static struct echi_sparse_place NAME(place)(const struct echi_sparse_product *p, size_t items)
{
    const ech_csr *a = &p->s->a;
    size_t low = 0, high = a->rows; /* the last row that begins at `items` or before contains the
                                       place */
    while (low < high) {
        size_t middle = high - (high - low) / 2;
        if (NAME(offset)(a, middle) + middle <= items)
            low = middle;
        else
            high = middle - 1;
    }
    struct echi_sparse_place at = { low, NAME(offset)(a, low), false };
    if (low == a->rows || low + at.entry >= items) return at;
    size_t end = NAME(offset)(a, low + 1), past = items - low - at.entry;
    past = (past + p->group - 1) & ~(p->group - 1);
    if (at.entry + past < end)
        at = (struct echi_sparse_place){ low, at.entry + past, true };
    else
        at = (struct echi_sparse_place){ low + 1, end, false };
    return at;
}

/* Two partial sums may begin in the same range of items: the first of one row, and the last of
 * another. */
static inline size_t NAME(slot)(const struct echi_sparse_product *p, size_t row, size_t begin,
                                size_t entry)
{
    return 2 * ((row + entry) / p->group) + (entry == begin);
}

static inline REAL NAME(result)(REAL x)
{
    return x == x ? x : (REAL)NAN; /* the canonical NaN that every device returns */
}

/* ---- A product with a vector ---- */

/* Adds n products, at least 1. */
static inline REAL NAME(chunk)(const INDEX *columns, const REAL *values, const REAL *x, size_t cols,
                               size_t n)
{
    REAL sum = values[0] * x[columns[0] < cols ? columns[0] : 0];
    for (size_t i = 1; i < n; i++) sum += values[i] * x[columns[i] < cols ? columns[i] : 0];
    return sum;
}

static inline void NAME(put)(const struct echi_sparse *s, size_t row, REAL sum)
{
    REAL *y = (REAL *)s->y + row, result = (REAL)s->alpha * sum;
    if (s->beta != 0) result += (REAL)s->beta * *y;
    *y = NAME(result)(result);
}

#include "sparse/cpu/rows.h"

static REAL NAME(sum)(const ech_csr *a, const REAL *x, size_t begin, size_t end)
{
    enum { N = ECHI_SPARSE_CHUNK };
    const INDEX *columns = a->col_indices;
    const REAL *values = a->values;
    REAL digits[64], sum;
    size_t count = 0; /* number of chunks: digit l of the counter is the sum of 2^l of them */
    if (begin >= end) return 0;
    for (size_t n; begin < end; begin += n, count++) {
        int l = 0;
        n = echi_min(end - begin, N);
        if (a->nnz - begin >= N && NAME(valid)(a, begin))
            sum = NAME(valid_chunk)(columns + begin, values + begin, x, n);
        else
            sum = NAME(chunk)(columns + begin, values + begin, x, a->cols, n);
        for (; count >> l & 1; l++) sum = digits[l] + sum;
        digits[l] = sum;
    }
    int l = __builtin_ctzll(count);
    for (sum = digits[l++]; count >> l; l++)
        if (count >> l & 1) sum = digits[l] + sum;
    return sum;
}

/* Full groups of a row of which a task has only a part, or the rest at its end. */
static void NAME(part)(const struct echi_sparse_product *p, size_t row, size_t begin, size_t from,
                       size_t to)
{
    REAL *partials = p->partials;
    for (size_t next; from < to; from = next) {
        next = echi_min(from + p->group, to);
        partials[NAME(slot)(p, row, begin, from)] = NAME(sum)(&p->s->a, p->s->x, from, next);
    }
}

#ifdef __AVX512F__
#include "sparse/cpu/rows_avx512.h"
#endif

/* Rows from `row` on as long as they are short and precede `last`: most matrices have only such
 * rows. */
static size_t NAME(short_rows)(const struct echi_sparse_product *p, size_t row, size_t last)
{
    const struct echi_sparse *s = p->s;
    const INDEX *offsets = s->a.row_offsets, *columns = s->a.col_indices;
    const REAL *values = s->a.values, *x = s->x;
    const REAL alpha = (REAL)s->alpha, beta = (REAL)s->beta;
    const size_t cols = s->a.cols, entries = s->a.nnz;
    REAL *restrict y = s->y;
#ifdef __AVX512F__
    row = p->by_row ? NAME(valid_rows)(s, row, last) : NAME(blocks)(s, row, last);
#else
    row = NAME(valid_rows)(s, row, last);
#endif
    for (size_t begin = echi_min(offsets[row], entries); row < last; row++) {
        const size_t end = echi_min(offsets[row + 1], entries);
        if (end > begin + ECHI_SPARSE_CHUNK) break;
        REAL sum = 0;
        if (end > begin) sum = NAME(chunk)(columns + begin, values + begin, x, cols, end - begin);
        sum *= alpha;
        if (beta != 0) sum += beta * y[row];
        y[row] = NAME(result)(sum);
        begin = end;
    }
    return row;
}

static void NAME(rows)(const struct echi_sparse_product *p, struct echi_sparse_place from,
                       struct echi_sparse_place to)
{
    const struct echi_sparse *s = p->s;
    const ech_csr *a = &s->a;
    for (size_t row = from.row; row < a->rows && row <= to.row; row++) {
        const bool inside = row == from.row && from.inside;
        if (!inside && row < to.row) row = NAME(short_rows)(p, row, to.row);
        if (row == a->rows || (row == to.row && !to.inside)) return;
        const size_t begin = NAME(offset)(a, row), end = NAME(offset)(a, row + 1);
        const size_t first = inside ? from.entry : begin;
        if (row == to.row)
            NAME(part)(p, row, begin, first, to.entry);
        else if (inside)
            NAME(part)(p, row, begin, first, end);
        else
            NAME(put)(s, row, NAME(sum)(a, s->x, begin, end));
    }
}

static void NAME(join)(const struct echi_sparse_product *p, size_t row)
{
    const ech_csr *a = &p->s->a;
    const REAL *partials = p->partials;
    const size_t begin = NAME(offset)(a, row), end = NAME(offset)(a, row + 1);
    REAL digits[64], sum = 0;
    size_t count = 0;
    for (size_t at = begin; at < end; at += p->group) {
        int l = 0;
        for (sum = partials[NAME(slot)(p, row, begin, at)]; count >> l & 1; l++)
            sum = digits[l] + sum;
        digits[l] = sum;
        count++;
    }
    for (int l = count ? __builtin_ctzll(count) + 1 : 0; count >> l; l++)
        if (count >> l & 1) sum = digits[l] + sum;
    NAME(put)(p->s, row, sum);
}

/* ---- A product with a matrix, several columns at once ---- */

static void NAME(add_wide)(REAL *sum, const REAL *other, size_t width)
{
    for (size_t j = 0; j < width; j++) sum[j] = other[j] + sum[j];
}

static void NAME(chunk_wide)(const struct echi_sparse_product *p, size_t entry, size_t n,
                             size_t width, REAL *restrict sum)
{
    const ech_csr *a = &p->s->a;
    const INDEX *columns = (const INDEX *)a->col_indices + entry;
    const REAL *values = (const REAL *)a->values + entry, *x = (const REAL *)p->s->x + p->at;
    for (size_t i = 0; i < n; i++) {
        const size_t column = columns[i] < a->cols ? columns[i] : 0;
        const REAL *restrict row = x + column * p->s->x_stride, value = values[i];
        if (i == 0)
            for (size_t j = 0; j < width; j++) sum[j] = value * row[j];
        else
            for (size_t j = 0; j < width; j++) sum[j] += value * row[j];
    }
}

static void NAME(sum_wide)(const struct echi_sparse_product *p, size_t begin, size_t end, REAL *sum)
{
    enum { N = ECHI_SPARSE_CHUNK, W = ECHI_SPARSE_STRIP };
    REAL digits[48][W];
    size_t count = 0;
    for (size_t j = 0; j < p->width; j++) sum[j] = 0;
    for (; begin < end; begin += N, count++) {
        const size_t here = echi_min(end - begin, N);
        int l = 0;
        if (p->width == W) /* a constant */
            NAME(chunk_wide)(p, begin, here, W, sum);
        else
            NAME(chunk_wide)(p, begin, here, p->width, sum);
        if (end - begin <= N && count == 0) return;
        for (; count >> l & 1; l++) NAME(add_wide)(sum, digits[l], p->width);
        memcpy(digits[l], sum, p->width * sizeof *sum);
    }
    for (int l = count ? __builtin_ctzll(count) + 1 : 0; count >> l; l++)
        if (count >> l & 1) NAME(add_wide)(sum, digits[l], p->width);
}

static void NAME(put_wide)(const struct echi_sparse_product *p, size_t row, const REAL *sum)
{
    const struct echi_sparse *s = p->s;
    REAL *y = (REAL *)s->y + row * s->y_stride + p->at;
    for (size_t j = 0; j < p->width; j++) {
        REAL result = (REAL)s->alpha * sum[j];
        if (s->beta != 0) result += (REAL)s->beta * y[j];
        y[j] = NAME(result)(result);
    }
}

static void NAME(part_wide)(const struct echi_sparse_product *p, size_t row, size_t begin,
                            size_t from, size_t to)
{
    for (size_t next; from < to; from = next) {
        next = echi_min(from + p->group, to);
        NAME(sum_wide)
        (p, from, next, (REAL *)p->partials + NAME(slot)(p, row, begin, from) * p->width);
    }
}

static void NAME(rows_wide)(const struct echi_sparse_product *p, struct echi_sparse_place from,
                            struct echi_sparse_place to)
{
    const ech_csr *a = &p->s->a;
    REAL sum[ECHI_SPARSE_STRIP];
    for (size_t row = from.row; row < a->rows && row <= to.row; row++) {
        const size_t begin = NAME(offset)(a, row), end = NAME(offset)(a, row + 1);
        const bool inside = row == from.row && from.inside;
        const size_t first = inside ? from.entry : begin;
        if (row == to.row) {
            if (to.inside) NAME(part_wide)(p, row, begin, first, to.entry);
        } else if (inside) {
            NAME(part_wide)(p, row, begin, first, end);
        } else {
            NAME(sum_wide)(p, begin, end, sum);
            NAME(put_wide)(p, row, sum);
        }
    }
}

static void NAME(join_wide)(const struct echi_sparse_product *p, size_t row)
{
    const ech_csr *a = &p->s->a;
    const REAL *partials = p->partials;
    const size_t begin = NAME(offset)(a, row), end = NAME(offset)(a, row + 1);
    REAL digits[16][ECHI_SPARSE_STRIP], sum[ECHI_SPARSE_STRIP] = { 0 };
    size_t count = 0;
    for (size_t at = begin; at < end; at += p->group, count++) {
        int l = 0;
        memcpy(sum, partials + NAME(slot)(p, row, begin, at) * p->width, p->width * sizeof *sum);
        for (; count >> l & 1; l++) NAME(add_wide)(sum, digits[l], p->width);
        memcpy(digits[l], sum, p->width * sizeof *sum);
    }
    for (int l = count ? __builtin_ctzll(count) + 1 : 0; count >> l; l++)
        if (count >> l & 1) NAME(add_wide)(sum, digits[l], p->width);
    NAME(put_wide)(p, row, sum);
}
