/*
 * sparse/cpu/rows.h - template: a product of rows of at most one chunk with a vector, row by row.
 * Parameters: INDEX (unsigned), REAL, NAME(x).
 *
 *     columns of a block of rows -> valid?       by vectors, before one of them is used
 *     row -> sum                                 without a test per entry
 *
 * Blocks are short, so that their columns stay in the L1 cache. Rows are faster than the blocks of
 * rows_avx512.h as long as the processor predicts the ends of their loops: products are repeated.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

enum {
    NAME(lanes) = VECTOR_BYTES / sizeof(INDEX),
    NAME(step) = 2 * NAME(lanes) /* columns that are checked at once */
};

typedef INDEX NAME(vector) __attribute__((vector_size(VECTOR_BYTES)));

/* *most becomes the maximum of itself and columns. */
static inline void NAME(maximum)(NAME(vector) * most, const INDEX *columns)
{
    NAME(vector) v;
    memcpy(&v, columns, sizeof v);
#ifdef __AVX512F__
    *most = (NAME(vector))(sizeof(INDEX) == 4 ? _mm512_max_epu32((__m512i)*most, (__m512i)v)
                                              : _mm512_max_epu64((__m512i)*most, (__m512i)v));
#else
#ifdef __AVX2__
    if (sizeof(INDEX) == 4) {
        *most = (NAME(vector))_mm256_max_epu32((__m256i)*most, (__m256i)v);
        return;
    }
#endif
    const NAME(vector) above = (NAME(vector))(v > *most);
    *most = (v & above) | (*most & ~above);
#endif
}

/* Whether all lanes are valid columns. */
static inline bool NAME(below)(NAME(vector) most, size_t cols)
{
    const NAME(vector) bound = (NAME(vector)){ 0 } + (INDEX)echi_min(cols, (INDEX)-1);
#ifdef __AVX512F__
    return sizeof(INDEX) == 4 ? _mm512_cmplt_epu32_mask((__m512i)most, (__m512i)bound) == 0xffff
                              : _mm512_cmplt_epu64_mask((__m512i)most, (__m512i)bound) == 0xff;
#else
    uint64_t invalid[VECTOR_BYTES / sizeof(uint64_t)], any = 0;
    most = (NAME(vector))(most >= bound);
    memcpy(invalid, &most, sizeof most);
    for (size_t i = 0; i < VECTOR_BYTES / sizeof(uint64_t); i++) any |= invalid[i];
    return !any;
#endif
}

/* Whether the columns from *checked to `end` are valid.  Up to NAME(step) - 1 more are checked. */
static inline bool NAME(check)(const ech_csr *a, size_t *checked, size_t end)
{
    const INDEX *columns = a->col_indices;
    NAME(vector) most = { 0 };
    for (; *checked < end; *checked += NAME(step)) {
        NAME(maximum)(&most, columns + *checked);
        NAME(maximum)(&most, columns + *checked + NAME(lanes));
    }
    return NAME(below)(most, a->cols);
}

/* Whether the columns of the chunk that begins at `entry` are valid. */
static inline bool NAME(valid)(const ech_csr *a, size_t entry)
{
    const INDEX *columns = (const INDEX *)a->col_indices + entry;
    NAME(vector) most = { 0 };
    for (int i = 0; i < ECHI_SPARSE_CHUNK; i += NAME(lanes)) NAME(maximum)(&most, columns + i);
    return NAME(below)(most, a->cols);
}

/* Adds n products, at least 1, with valid columns. */
static inline REAL NAME(valid_chunk)(const INDEX *c, const REAL *v, const REAL *x, size_t n)
{
    enum { NEAR = 64, FAR = 640 }; /* in entries: measured on a Zen 4, 2026-11-27 */
    REAL sum = *v++ * x[*c++];
    for (n--; n & 3; n--) sum += *v++ * x[*c++];
    for (; n; n -= 4, c += 4, v += 4) {
        __builtin_prefetch(v + NEAR);
        __builtin_prefetch(c + FAR);
        sum += v[0] * x[c[0]];
        sum += v[1] * x[c[1]];
        sum += v[2] * x[c[2]];
        sum += v[3] * x[c[3]];
    }
    return sum;
}

/* y of n rows, from their sums. */
static inline void NAME(finish)(const struct echi_sparse *s, const REAL *sums, REAL *y, size_t n)
{
    const REAL alpha = (REAL)s->alpha, beta = (REAL)s->beta;
    if (beta == 0)
        for (size_t i = 0; i < n; i++) y[i] = NAME(result)(alpha * sums[i]);
    else
        for (size_t i = 0; i < n; i++) y[i] = NAME(result)(alpha * sums[i] + beta * y[i]);
}

/* The first row from `row` on that is not short, at most `last`. */
static inline size_t NAME(long_row)(const INDEX *offsets, size_t row, size_t last)
{
    while (row < last && (INDEX)(offsets[row + 1] - offsets[row]) <= ECHI_SPARSE_CHUNK) row++;
    return row;
}

/* Computes y for rows from `row` on as long as they are short and valid and precede `last`; returns
 * the row after them. */
static size_t NAME(valid_rows)(const struct echi_sparse *s, size_t row, size_t last)
{
    enum { ROWS = 24 };
    const ech_csr *a = &s->a;
    const INDEX *offsets = a->row_offsets, *columns = a->col_indices;
    const REAL *values = a->values, *x = s->x;
    REAL sums[ROWS], *y = s->y;
    size_t checked = offsets[row], next = NAME(long_row)(offsets, row, echi_min(last, row + ROWS));
    if (next == row) return row;
    for (; checked < a->nnz && (uintptr_t)(columns + checked) % VECTOR_BYTES; checked++)
        if (columns[checked] >= a->cols) return row;
    for (; row < next; next = NAME(long_row)(offsets, row, echi_min(last, row + ROWS))) {
        size_t at = offsets[row];
        const size_t end = offsets[next], begin = row;
        if (end > a->nnz || a->nnz - end < NAME(step) || !NAME(check)(a, &checked, end)) break;
        for (; row < next; row++) {
            const size_t n = offsets[row + 1] - at;
            sums[row - begin] = n ? NAME(valid_chunk)(columns + at, values + at, x, n) : 0;
            at += n;
        }
        NAME(finish)(s, sums, y + begin, next - begin);
    }
    return row;
}
