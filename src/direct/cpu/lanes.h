/*
 * direct/cpu/lanes.h - template: factors and solves WIDTH small systems at once, one per vector
 * lane.  Each lane executes the steps of panel.h and real.h in the same order, so the results are
 * bit-identical.
 *
 * Element (i, j) of all systems is one vector; rows have `stride` vectors.  n <= 32.
 *
 * REAL, REAL_BITS, and SIZED(x), which adds the type to a name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define V          NAME(vector)
#define M          NAME(mask)
#define ROWS(g)    (SIZE ? SIZE : (g)->n)
#define HAS_SINGLE (SIZE == 0 && VECTOR_BYTES > 16)
#define STEP(g)    (SIZE ? SIZE | 1 : (g)->stride) /* vectors from row to row */

/* ---- Factors ---- */

/* A group of systems in progress. */
struct SIZED(group) {
    size_t n, cols, stride, x_stride; /* strides in vectors */
    V *a, *factor;                    /* [n][stride] */
    V *b, *residual, *x;              /* [n][x_stride] */
    M failed; /* 1 + the row of the first pivot that is zero or not positive */
    M pivots[LEAF];
    M order[LEAF]; /* row i of the factor is this row of a */
    bool cholesky;
    REAL *rows, *columns; /* of one system, see single.h; NULL: there may be several */
};

/* Exchanges rows k and pivots[k] of the factor in each lane. */
static void SIZED(swap_lanes)(struct SIZED(group) * g, size_t k)
{
    V *top = g->factor + k * STEP(g);
    uint32_t rows = 0;
    for (int l = 0; l < WIDTH; l++) rows |= (uint32_t)1 << g->pivots[k][l];
    for (rows &= ~((uint32_t)1 << k); rows; rows &= rows - 1) {
        const size_t i = (size_t)__builtin_ctz(rows);
        const M here = g->pivots[k] == NAME(all_whole)(i);
        V *row = g->factor + i * STEP(g);
        for (size_t j = 0; j < ROWS(g); j++) {
            const V differ = (V)(((M)top[j] ^ (M)row[j]) & here);
            top[j] = (V)((M)top[j] ^ (M)differ);
            row[j] = (V)((M)row[j] ^ (M)differ);
        }
    }
}

/* Exchanges rows i and pivots[i] in each lane, of one column of at most MASKED rows. */
INLINE void SIZED(exchange_rows)(const struct SIZED(group) * g, bool turned, V *x)
{
    const size_t n = ROWS(g);
    for (size_t turn = 0; turn + 1 < n; turn++) {
        const size_t k = turned ? n - 2 - turn : turn;
        const M pivot = g->pivots[k];
        V top = x[k];
        for (size_t i = k + 1; i < n; i++) {
            const M differ = ((M)top ^ (M)x[i]) & (pivot == NAME(all_whole)(i));
            top = (V)((M)top ^ differ);
            x[i] = (V)((M)x[i] ^ differ);
        }
        x[k] = top;
    }
}

static void SIZED(find_order)(struct SIZED(group) * g)
{
    const size_t n = ROWS(g);
    NAME(whole) *order = (NAME(whole) *)g->order;
    for (size_t i = 0; i < n; i++) g->order[i] = NAME(all_whole)(i);
    if (n <= MASKED) {
        SIZED(exchange_rows)(g, false, (V *)g->order);
        return;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < WIDTH; l++) {
            NAME(whole) *here = order + i * WIDTH + l;
            NAME(whole) *there = order + (size_t)g->pivots[i][l] * WIDTH + l;
            const NAME(whole) row = *here;
            *here = *there;
            *there = row;
        }
}

static void SIZED(lu_lanes)(struct SIZED(group) * g)
{
    const size_t n = ROWS(g), stride = STEP(g);
    V *c = g->factor;
    for (size_t k = 0; k < n; k++) {
        V best = NAME(all)(-1), *top = c + k * stride;
        M place = NAME(all_whole)(k);
        for (size_t i = k; i < n; i++) {
            const V here = NAME(absolute)(c[i * stride + k]);
            const M more = here > best;
            best = NAME(select)(more, here, best);
            place = (more & NAME(all_whole)(i)) | (~more & place);
        }
        g->pivots[k] = place;
        SIZED(swap_lanes)(g, k);
        const V pivot = top[k];
        g->failed |= (pivot == 0) & (g->failed == 0) & NAME(all_whole)(k + 1);
        for (size_t i = k + 1; i < n; i++) {
            V *row = c + i * stride;
            const V by = row[k] / pivot;
            row[k] = by;
            for (size_t j = k + 1; j < n; j++) row[j] -= by * top[j];
        }
    }
}

static void SIZED(cholesky_lanes)(struct SIZED(group) * g)
{
    const size_t n = ROWS(g), stride = STEP(g);
    V *c = g->factor;
    for (size_t j = 0; j < n; j++) {
        V *left = c + j * stride, root = left[j];
        for (size_t k = 0; k < j; k++) root -= left[k] * left[k];
        const M bad = ~(root > 0);
        g->failed |= bad & (g->failed == 0) & NAME(all_whole)(j + 1);
        root = NAME(select)(bad, NAME(all)(1), root);
        for (int l = 0; l < WIDTH; l++) root[l] = (REAL)sqrt((double)root[l]);
        left[j] = root;
        for (size_t i = j + 1; i < n; i++) {
            V sum = c[i * stride + j];
            for (size_t k = 0; k < j; k++) sum -= c[i * stride + k] * left[k];
            c[i * stride + j] = sum / root;
        }
    }
}

/* ---- Solutions ---- */

/* x = op(t)^-1 x for one column.  t_down, t_right: from an element to the next of op(t). */
INLINE void SIZED(triangle_lanes)(const V *t, size_t t_down, size_t t_right, size_t n, bool forward,
                                  bool unit, V *x)
{
    V here = x[forward ? 0 : n - 1];
    for (size_t turn = 0; turn < n; turn++) {
        const size_t k = forward ? turn : n - 1 - turn, last = forward ? n - 1 : 0;
        const size_t next = k == last ? k : forward ? k + 1 : k - 1;
        const V *column = t + k * t_right;
        if (!unit) here = here / column[k * t_down];
        const V by = here;
        x[k] = by;
        here = x[next] - column[next * t_down] * by; /* in a register: every step waits for it */
        if (forward)
            for (size_t i = k + 2; i < n; i++) x[i] -= column[i * t_down] * by;
        else
            for (size_t i = k; i > 1; i--) x[i - 2] -= column[(i - 2) * t_down] * by;
    }
}

/* The same for COLUMNS columns at once, of which `cols` exist. */
enum { SIZED(COLUMNS) = 4 };
INLINE void SIZED(triangle_columns)(const V *t, size_t t_down, size_t t_right, size_t n,
                                    bool forward, bool unit, V *x, size_t x_stride,
                                    const size_t cols)
{
    for (size_t turn = 0; turn < n; turn++) {
        const size_t i = forward ? turn : n - 1 - turn;
        const V *row = t + i * t_down;
        V sum[SIZED(COLUMNS)];
        for (size_t c = 0; c < cols; c++) sum[c] = x[i * x_stride + c];
        for (size_t before = 0; before < turn; before++) {
            const size_t k = forward ? before : n - 1 - before;
            const V by = row[k * t_right];
            for (size_t c = 0; c < cols; c++) sum[c] -= by * x[k * x_stride + c];
        }
        const V diagonal = row[i * t_right];
        for (size_t c = 0; c < cols; c++) x[i * x_stride + c] = unit ? sum[c] : sum[c] / diagonal;
    }
}

static void SIZED(triangles)(const struct SIZED(group) * g, bool forward, bool turned, bool unit,
                             V *x, size_t x_stride, size_t cols)
{
    const size_t down = turned ? 1 : STEP(g), right = turned ? STEP(g) : 1, n = ROWS(g);
    size_t c = 0;
    if (cols == 1 && x_stride == 1) {
        SIZED(triangle_lanes)(g->factor, down, right, n, forward, unit, x);
        return;
    }
    for (; c + SIZED(COLUMNS) <= cols; c += SIZED(COLUMNS)) SIZED(triangle_columns)
    (g->factor, down, right, n, forward, unit, x + c, x_stride, SIZED(COLUMNS));
    if (c < cols) SIZED(triangle_columns)
    (g->factor, down, right, n, forward, unit, x + c, x_stride, cols - c);
}

/* Moves row order[i] to row i; turned: row i to row order[i]. */
static void SIZED(order_rows)(const struct SIZED(group) * g, bool turned, V *x, size_t x_stride,
                              size_t cols)
{
    if (ROWS(g) <= MASKED && cols == 1 && x_stride == 1) {
        SIZED(exchange_rows)(g, turned, x);
        return;
    }
    for (size_t c = 0; c < cols; c++) {
        V column[LEAF], moved[LEAF];
        const REAL *from = (const REAL *)column;
        REAL *to = (REAL *)moved;
        const NAME(whole) *order = (const NAME(whole) *)g->order;
        for (size_t i = 0; i < ROWS(g); i++) column[i] = x[i * x_stride + c];
        for (size_t i = 0; i < ROWS(g); i++)
            for (size_t l = 0; l < WIDTH; l++) {
                const size_t place = (size_t)order[i * WIDTH + l];
                if (turned)
                    to[place * WIDTH + l] = from[i * WIDTH + l];
                else
                    to[i * WIDTH + l] = from[place * WIDTH + l];
            }
        for (size_t i = 0; i < ROWS(g); i++) x[i * x_stride + c] = moved[i];
    }
}

/* x [n][cols] = A^-1 x, where the rows of x have the order of the factor. */
static void SIZED(solve_ordered)(const struct SIZED(group) * g, V *x, size_t x_stride, size_t cols)
{
    SIZED(triangles)(g, true, false, !g->cholesky, x, x_stride, cols);
    SIZED(triangles)(g, false, g->cholesky, false, x, x_stride, cols);
}

/* x [n][cols] = A^-1 x; turned: A^-T x. */
static void SIZED(solve_lanes)(const struct SIZED(group) * g, bool turned, V *x, size_t x_stride,
                               size_t cols)
{
    if (g->cholesky) {
        SIZED(solve_ordered)(g, x, x_stride, cols);
    } else if (turned) {
        SIZED(triangles)(g, true, true, false, x, x_stride, cols);
        SIZED(triangles)(g, false, true, true, x, x_stride, cols);
        SIZED(order_rows)(g, true, x, x_stride, cols);
    } else {
        SIZED(order_rows)(g, false, x, x_stride, cols);
        SIZED(solve_ordered)(g, x, x_stride, cols);
    }
}

/* ---- Residuals ---- */

/* The sum and its rounding errors, in the order of real.h: without the lanes that are zero. */
INLINE void SIZED(fold_wide)(wide *sum, wide *lost, size_t n)
{
    for (size_t half = LANES / 2; half; half /= 2) {
        for (size_t i = 0; i < half && i + half < n; i++) {
            const wide before = sum[i], more = sum[i + half], both = before + more;
            const wide part = both - before;
            lost[i] += lost[i + half] + ((before - (both - part)) + (more - part));
            sum[i] = both;
        }
        if (n > half) n = half;
    }
}

/* b - a x in twice the precision, where a has a vector for each of n columns. */
INLINE V SIZED(residual_of)(const REAL *a, size_t a_step, const V *x, size_t x_step, size_t n, V b)
{
    wide sum[LEAF], lost[LEAF];
    for (size_t j = 0; j < n; j++) {
        const V here = x[j * x_step];
        V column;
        memcpy(&column, a + j * a_step, sizeof column);
#if REAL_BITS == 32
        sum[j] = NAME(widen)(column) * NAME(widen)(here) + 0;
        lost[j] = (wide){ 0 };
#else
        const V product = column * here;
        sum[j] = product + 0;
        lost[j] = NAME(fused)(column, here, -product) + 0;
#endif
    }
    SIZED(fold_wide)(sum, lost, n);
    const wide from = NAME(widen)(b), minus = -sum[0];
    const wide both = from + minus, part = both - from;
    const wide rest = ((from - (both - part)) + (minus - part)) - lost[0];
    return NAME(narrow)(both + rest);
}

#if HAS_SINGLE
#include "direct/cpu/single.h"
#endif

/* residual = b - a x in twice the precision. */
static void SIZED(residual_lanes)(const struct SIZED(group) * g)
{
    const size_t n = ROWS(g);
#if HAS_SINGLE
    if (g->columns) {
        NAME(residual_single)(g);
        return;
    }
#endif
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < g->cols; c++)
            g->residual[i * g->x_stride + c] =
                SIZED(residual_of)((const REAL *)(g->a + i * STEP(g)), WIDTH, g->x + c, g->x_stride,
                                   n, g->b[i * g->x_stride + c]);
}

/* residual = b - a x as the products of ech_matmul() (in_turn) and ech_matvec() compute it. */
static void SIZED(product_lanes)(const struct SIZED(group) * g, bool in_turn)
{
    const size_t n = ROWS(g);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < g->cols; c++) {
            V sum[LEAF];
            for (size_t j = 0; j < n; j++) {
                const V a = g->a[i * STEP(g) + j], x = g->x[j * g->x_stride + c];
                if (in_turn)
                    sum[0] = j ? NAME(fused)(a, x, sum[0]) : a * x;
                else
                    sum[j] = a * x;
            }
            for (size_t half = LANES / 2, rest = n; !in_turn && half; half /= 2) {
                for (size_t j = 0; j < half && j + half < rest; j++) sum[j] += sum[j + half];
                if (rest > half) rest = half;
            }
            g->residual[i * g->x_stride + c] = g->b[i * g->x_stride + c] - sum[0];
        }
}

/* ---- The condition ---- */

struct SIZED(estimate) {
    V vector[LEAF], signs[LEAF];
    wide sum, before;
    M place;
    M changed; /* nonzero: some signs have */
};

/* vector, in the order of the factor, = A^-1 vector, then the sum of its magnitudes, and its
 * signs. */
static void SIZED(estimate_signs)(const struct SIZED(group) * g, struct SIZED(estimate) * e,
                                  bool again)
{
    const size_t n = ROWS(g);
    wide sum[LEAF];
    SIZED(solve_ordered)(g, e->vector, 1, 1);
    e->changed = (M){ 0 };
    for (size_t i = 0; i < n; i++) {
        const V sign = NAME(select)(e->vector[i] >= 0, NAME(all)(1), NAME(all)(-1));
        sum[i] = NAME(widen)(NAME(absolute)(e->vector[i]));
        if (again) e->changed |= e->signs[i] != sign;
        e->vector[i] = e->signs[i] = sign;
    }
    for (size_t half = LANES / 2, rest = n; half; half /= 2) {
        for (size_t i = 0; i < half && i + half < rest; i++) sum[i] += sum[i + half];
        if (rest > half) rest = half;
    }
    e->sum = sum[0];
}

/* vector = A^-T vector, then its largest magnitude, the place of it, and the magnitude at the
 * previous place. */
static void SIZED(estimate_place)(const struct SIZED(group) * g, struct SIZED(estimate) * e)
{
    const M first = e->place;
    V best = NAME(all)(-1), before = (V){ 0 }, largest;
    M place = (M){ 0 };
    SIZED(solve_lanes)(g, true, e->vector, 1, 1);
    largest = NAME(absolute)(e->vector[0]);
    for (size_t i = 0; i < ROWS(g); i++) {
        const V here = NAME(absolute)(e->vector[i]);
        const M more = here > best;
        best = NAME(select)(more, here, best);
        largest = NAME(select)(more, here, largest);
        place = (more & NAME(all_whole)(i)) | (~more & place);
        before = NAME(select)(first == NAME(all_whole)(i), here, before);
    }
    e->sum = NAME(widen)(largest);
    e->before = NAME(widen)(before);
    e->place = place;
}

INLINE M SIZED(order_of)(const struct SIZED(group) * g, size_t i)
{
    return g->cholesky ? NAME(all_whole)(i) : g->order[i];
}

/* As estimate() in solve.c. */
static wide SIZED(estimate_lanes)(const struct SIZED(group) * g)
{
    struct SIZED(estimate) e;
    const size_t n = ROWS(g);
    e.place = (M){ 0 };
    for (size_t i = 0; i < n; i++) e.vector[i] = NAME(all)(1 / (REAL)n);
    SIZED(estimate_signs)(g, &e, false);
    wide norm = e.sum;
    if (n == 1) return norm;
    wide_mask active = ~(wide_mask){ 0 };
    for (int turn = 0; turn < 5; turn++) {
        SIZED(estimate_place)(g, &e);
        if (turn) active &= e.sum > e.before;
        if (!any_lane(active)) break;
        for (size_t i = 0; i < n; i++)
            e.vector[i] = NAME(select)(e.place == SIZED(order_of)(g, i), NAME(all)(1), (V){ 0 });
        SIZED(estimate_signs)(g, &e, true);
        const wide_mask grew = e.sum > norm;
        norm = select_wide(active & ~(e.sum <= norm), e.sum, norm);
        active &= grew & __builtin_convertvector(e.changed, wide_mask);
        if (!any_lane(active)) break;
    }
    for (size_t i = 0; i < n; i++) {
        const REAL size = 1 + (REAL)i / (REAL)(n - 1);
        e.vector[i] = NAME(all)(i % 2 ? -size : size);
    }
    if (!g->cholesky) SIZED(order_rows)(g, false, e.vector, 1, 1);
    SIZED(estimate_signs)(g, &e, false);
    e.sum = 2 * e.sum / (3 * (double)n);
    return select_wide(~(e.sum <= norm), e.sum, norm);
}
