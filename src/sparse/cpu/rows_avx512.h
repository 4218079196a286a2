/*
 * sparse/cpu/rows_avx512.h - template: a product of a block of short rows with a vector, with
 * AVX-512.  Parameters: INDEX, REAL, NAME(x), and V(x) and GATHER(x, c) of eight_avx512.h.
 *
 *     products of all entries of the block -> array       without branches that depend on rows
 *     eight rows of the array -> transposed -> sums       lane r of a vector is row r
 *
 * The lengths of rows are not predictable, so a loop per row would lose about 15 cycles at its end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Products of the entries from begin to end, and of up to seven more, which exist.  Returns false
 * if a column is invalid. */
static inline bool NAME(products)(const ech_csr *a, const REAL *x, size_t begin, size_t end,
                                  REAL *to)
{
    const INDEX *columns = a->col_indices;
    const REAL *values = a->values;
    for (size_t i = begin; i < end; i += EIGHT, to += EIGHT) {
        const INDEX *c = columns + i;
        if (!eight_below(c, sizeof *c, a->cols)) return false;
        V(store)(to, V(times)(V(load)(values + i), GATHER(x, c)));
    }
    return true;
}

/* Computes y for eight rows from the products of their entries. */
static inline void NAME(add_eight)(const struct echi_sparse *s, size_t row, const REAL *products,
                                   __m512i begins, __m512i lengths)
{
    const __m512i zero = _mm512_setzero_si512();
    V(vector) sum = V(choose)(_mm512_cmpgt_epi64_mask(lengths, zero), V(all)(-0.0), V(all)(0));
    V(vector) t[EIGHT];
    size_t at[EIGHT];
    _mm512_storeu_si512(at, begins);
    for (; _mm512_cmpgt_epi64_mask(lengths, zero); products += EIGHT) {
        for (int r = 0; r < EIGHT; r++) t[r] = V(load)(products + at[r]);
        V(transpose)(t);
        for (int j = 0; j < EIGHT; j++)
            sum = V(add)(_mm512_cmpgt_epi64_mask(lengths, _mm512_set1_epi64(j)), sum, t[j]);
        lengths = _mm512_sub_epi64(lengths, _mm512_set1_epi64(EIGHT));
    }
    REAL *y = (REAL *)s->y + row;
    sum = V(times)(V(all)(s->alpha), sum);
    if (s->beta != 0) sum = V(add)(0xff, sum, V(times)(V(all)(s->beta), V(load)(y)));
    V(store)(y, V(choose)(V(is_nan)(sum), V(all)((REAL)NAN), sum));
}

/* Computes y for BLOCK rows, and returns true, if all are short and valid. */
static bool NAME(block)(const struct echi_sparse *s, size_t row)
{
    enum { LONGEST = ECHI_SPARSE_CHUNK, GROUPS = BLOCK / EIGHT };
    _Alignas(64) REAL products[(BLOCK + 1) * LONGEST + EIGHT];
    const INDEX *offsets = (const INDEX *)s->a.row_offsets + row;
    const size_t begin = offsets[0], end = offsets[BLOCK];
    const __m512i base = _mm512_set1_epi64((long long)begin), longest = _mm512_set1_epi64(LONGEST);
    __m512i begins[GROUPS], lengths[GROUPS];
    __mmask8 bad = 0;
    for (int g = 0; g < GROUPS; g++) {
        begins[g] = eight_indices(offsets + g * EIGHT, sizeof *offsets);
        const __m512i ends = eight_indices(offsets + g * EIGHT + 1, sizeof *offsets);
        lengths[g] = _mm512_sub_epi64(ends, begins[g]);
        begins[g] = _mm512_sub_epi64(begins[g], base);
        bad |= _mm512_cmpgt_epu64_mask(lengths[g], longest);
    }
    if (bad || begin > end || end > s->a.nnz || s->a.nnz - end < EIGHT ||
        !NAME(products)(&s->a, s->x, begin, end, products))
        return false;
    for (int g = 0; g < GROUPS; g++)
        NAME(add_eight)(s, row + (size_t)g * EIGHT, products, begins[g], lengths[g]);
    return true;
}

/* Computes y for blocks of short rows; returns the row after the last of them. */
static size_t NAME(blocks)(const struct echi_sparse *s, size_t row, size_t last)
{
    while (last - row >= BLOCK && NAME(block)(s, row)) row += BLOCK;
    return row;
}
