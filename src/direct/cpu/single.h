/*
 * direct/cpu/single.h - template: the steps of lanes.h for one system, whose rows or columns are in
 * the lanes.
 *
 *     rows     row i at rows + i LEAF       LU: a row less a multiple of the pivot's row
 *     columns  column j at columns + j LEAF residuals and norms of WIDTH rows at once
 *
 * In lanes.h each lane has a system, so that one system needs as many instructions as WIDTH do.
 * Each element is the result of the same operations in the same order, so the results are
 * bit-identical.  Elements beyond the matrix are zero or unspecified.
 *
 * REAL, REAL_BITS, and NAME(x), which adds the type to a name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

INLINE V NAME(some_of)(const REAL *from)
{
    V some;
    memcpy(&some, from, sizeof some);
    return some;
}

/* The matrix of a system; lower: only the elements below the diagonal exist. */
static __attribute__((noinline)) void NAME(load_single)(struct NAME(group) * g, const REAL *a,
                                                        size_t stride, bool lower)
{
    memset(g->rows, 0, LEAF * LEAF * sizeof(REAL));
    memset(g->columns, 0, LEAF * LEAF * sizeof(REAL));
    for (size_t i = 0; i < g->n; i++)
        for (size_t j = 0; j < g->n; j++) {
            const REAL x = lower && j > i ? a[j * stride + i] : a[i * stride + j];
            g->rows[i * LEAF + j] = g->columns[j * LEAF + i] = x;
            g->a[i * g->stride + j] = NAME(all)(x);
        }
}

/* ---- LU ---- */

INLINE size_t NAME(pivot_single)(const REAL *rows, size_t k, size_t n)
{
    REAL best = -1;
    size_t place = k;
    for (size_t i = k; i < n; i++) {
        const REAL x = rows[i * LEAF + k], here = x < 0 ? -x : x;
        place = here > best ? i : place;
        best = here > best ? here : best;
    }
    return place;
}

INLINE void NAME(swap_single)(REAL *a, REAL *b, size_t n)
{
    for (size_t j = 0; j < n; j += WIDTH) {
        const V here = NAME(some_of)(a + j), there = NAME(some_of)(b + j);
        memcpy(a + j, &there, sizeof there);
        memcpy(b + j, &here, sizeof here);
    }
}

/* row -= by * top from a vector on, in which the lanes `keep` do not change, and lane `own`
 * becomes `by`: a scalar store of it would delay the load of the vector. */
INLINE void NAME(subtract_row)(REAL *row, const REAL *top, REAL by, M keep, M own, size_t n)
{
    const V multiple = NAME(all)(by), old = NAME(some_of)(row);
    const V new = old - multiple *NAME(some_of)(top);
    const V some = NAME(select)(keep, old, NAME(select)(own, multiple, new));
    memcpy(row, &some, sizeof some);
    for (size_t j = WIDTH; j < n; j += WIDTH) {
        const V more = NAME(some_of)(row + j) - multiple * NAME(some_of)(top + j);
        memcpy(row + j, &more, sizeof more);
    }
}

/* As lu_lanes(), without the order of the rows. */
static __attribute__((noinline)) void NAME(lu_single)(struct NAME(group) * g)
{
    const size_t n = g->n;
    size_t failed = 0;
    for (size_t k = 0; k < n; k++) {
        const size_t place = NAME(pivot_single)(g->rows, k, n);
        REAL *top = g->rows + k * LEAF;
        g->pivots[k] = NAME(all_whole)(place);
        if (place != k) NAME(swap_single)(top, g->rows + place * LEAF, n);
        const REAL pivot = top[k];
        if (pivot == 0 && !failed) failed = k + 1;
        const size_t from = (k + 1) / WIDTH * WIDTH;
        M keep = (M){ 0 }, own = (M){ 0 };
        for (size_t l = 0; from + l < k; l++) keep[l] = -1;
        if (from <= k) own[k - from] = -1;
        for (size_t i = k + 1; i < n; i++) {
            REAL *row = g->rows + i * LEAF;
            const REAL by = row[k] / pivot;
            if (from > k) row[k] = by;
            NAME(subtract_row)(row + from, top + from, by, keep, own, n - from);
        }
    }
    g->failed = NAME(all_whole)(failed);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            g->factor[i * g->stride + j] = NAME(all)(g->rows[i * LEAF + j]);
}

/* ---- Residuals ---- */

/* Element (i + l, c) of an array is lane l; those that do not exist are zero. */
INLINE V NAME(gather_rows)(const V *from, size_t stride, size_t i, size_t n, size_t c)
{
    V some = (V){ 0 };
    for (size_t l = 0; l < WIDTH && i + l < n; l++) some[l] = from[(i + l) * stride + c][0];
    return some;
}

INLINE void NAME(scatter_rows)(V some, V *to, size_t stride, size_t i, size_t n, size_t c)
{
    for (size_t l = 0; l < WIDTH && i + l < n; l++) to[(i + l) * stride + c] = NAME(all)(some[l]);
}

/* Column c of x, whose other lanes may lack corrections. */
INLINE void NAME(spread_column)(const struct NAME(group) * g, size_t c, V *x)
{
    for (size_t j = 0; j < g->n; j++) x[j] = NAME(all)(g->x[j * g->x_stride + c][0]);
}

static __attribute__((noinline)) void NAME(residual_single)(const struct NAME(group) * g)
{
    const size_t n = g->n;
    V x[LEAF];
    for (size_t c = 0; c < g->cols; c++) {
        NAME(spread_column)(g, c, x);
        for (size_t i = 0; i < n; i += WIDTH) {
            const V b = NAME(gather_rows)(g->b, g->x_stride, i, n, c);
            NAME(scatter_rows)
            (NAME(residual_of)(g->columns + i, LEAF, x, 1, n, b), g->residual, g->x_stride, i, n,
             c);
        }
    }
}
