/*
 * direct/cpu/panel.h - template: factors panels of at most 32 columns, and solves triangles of 32
 * rows.  REAL, and NAME(x), which adds the type to a name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* ---- LU ---- */

static size_t NAME(find_pivot)(const REAL *column, size_t stride, size_t begin, size_t rows)
{
    REAL best = -1;
    size_t place = begin;
    for (size_t i = begin; i < rows; i++) {
        const REAL here = column[i * stride] < 0 ? -column[i * stride] : column[i * stride];
        if (here > best) {
            best = here;
            place = i;
        }
    }
    return place;
}

static void NAME(swap_rows)(REAL *a, REAL *b, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        const REAL t = a[j];
        a[j] = b[j];
        b[j] = t;
    }
}

static void NAME(factor_lu)(const struct echi_direct_step *s)
{
    REAL *c = s->c;
    const size_t rows = s->rows, cols = s->cols, stride = s->c_stride;
    for (size_t k = 0; k < cols; k++) {
        const size_t place = NAME(find_pivot)(c + k, stride, k, rows);
        REAL *top = c + k * stride;
        s->pivots[s->first + k] = s->first + place;
        if (place != k) NAME(swap_rows)(top, c + place * stride, cols);
        const REAL pivot = top[k];
        if (pivot == 0) {
            if (!s->scalars->failed) s->scalars->failed = s->first + k + 1;
            continue; /* the elements below it are zero too */
        }
        for (size_t i = k + 1; i < rows; i++) {
            REAL *row = c + i * stride;
            const REAL by = row[k] / pivot;
            row[k] = by;
            for (size_t j = k + 1; j < cols; j++) row[j] -= by * top[j];
        }
    }
}

/* ---- Cholesky ---- */

static void NAME(factor_cholesky)(const struct echi_direct_step *s)
{
    REAL *c = s->c;
    const size_t n = s->cols, stride = s->c_stride;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = j; i < n; i++) {
            REAL sum = c[i * stride + j];
            for (size_t k = 0; k < j; k++) sum -= c[i * stride + k] * c[j * stride + k];
            if (i > j) {
                c[i * stride + j] = sum / c[j * stride + j];
                continue;
            }
            if (!(sum > 0)) {
                if (!s->scalars->failed) s->scalars->failed = s->first + j + 1;
                sum = 1; /* any value: it is not used */
            }
            c[j * stride + j] = (REAL)sqrt(sum);
        }
    }
}

/* ---- QR ---- */

static REAL NAME(fold)(REAL *lanes, size_t step)
{
    for (size_t half = LANES / 2; half; half /= 2)
        for (size_t i = 0; i < half; i++) lanes[i * step] += lanes[(i + half) * step];
    return lanes[0];
}

/* Replaces column k by R's element and, below it, the reflector, whose first element is 1. */
static REAL NAME(make_reflector)(REAL *column, size_t stride, size_t k, size_t rows)
{
    REAL largest = 0, lanes[LANES] = { 0 };
    for (size_t i = k + 1; i < rows; i++) {
        const REAL here = column[i * stride] < 0 ? -column[i * stride] : column[i * stride];
        if (!(here <= largest)) largest = here;
    }
    if (largest == 0) return 0;
    const REAL alpha = column[k * stride], size = alpha < 0 ? -alpha : alpha;
    if (size > largest) largest = size;
    for (size_t i = k + 1; i < rows; i++) {
        const REAL x = column[i * stride] / largest;
        lanes[i % LANES] += x * x;
    }
    const REAL first = alpha / largest;
    const REAL norm = largest * (REAL)sqrt(NAME(fold)(lanes, 1) + first * first);
    const REAL beta = alpha < 0 ? norm : -norm, by = alpha - beta;
    for (size_t i = k + 1; i < rows; i++) column[i * stride] = column[i * stride] / by;
    column[k * stride] = beta;
    return (beta - alpha) / beta;
}

static void NAME(factor_qr)(const struct echi_direct_step *s)
{
    REAL *c = s->c, *tau = (REAL *)s->tau + s->first;
    const size_t rows = s->rows, cols = s->cols, stride = s->c_stride;
    for (size_t k = 0; k < cols; k++) {
        REAL lanes[LANES][LEAF];
        memset(lanes, 0, sizeof lanes);
        tau[k] = NAME(make_reflector)(c + k, stride, k, rows);
        for (size_t i = k; i < rows; i++) {
            const REAL *row = c + i * stride;
            const REAL v = i == k ? 1 : row[k];
            REAL *lane = lanes[i % LANES];
            for (size_t j = k + 1; j < cols; j++) lane[j] += v * row[j];
        }
        for (size_t j = k + 1; j < cols; j++) lanes[0][j] = tau[k] * NAME(fold)(&lanes[0][j], LEAF);
        for (size_t i = k; i < rows; i++) {
            REAL *row = c + i * stride;
            const REAL v = i == k ? 1 : row[k];
            for (size_t j = k + 1; j < cols; j++) row[j] -= v * lanes[0][j];
        }
    }
}

static void NAME(gather_reflectors)(const struct echi_direct_step *s)
{
    const REAL *a = s->a;
    REAL *c = s->c;
    for (size_t i = 0; i < s->rows; i++)
        for (size_t j = 0; j < s->cols; j++)
            c[i * s->c_stride + j] = i > j ? a[i * s->a_stride + j] : (REAL)(i == j);
}

/* T from V and tau: column j is -tau T (V^T v). */
static void NAME(chain)(const struct echi_direct_step *s)
{
    const REAL *gram = s->a, *tau = (const REAL *)s->tau + s->first;
    REAL *t = s->c;
    const size_t n = s->cols, stride = s->c_stride;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++) {
            REAL sum = 0;
            for (size_t k = i; k < j; k++) sum += t[i * stride + k] * gram[k * s->a_stride + j];
            t[i * stride + j] = i < j ? -tau[j] * sum : i == j ? tau[j] : 0;
        }
    }
}

/* ---- Triangles ---- */

static void NAME(solve_triangle)(void *arg, size_t task, int thread)
{
    const struct echi_direct_step *s = ((struct job *)arg)->step;
    const size_t begin = task * LEAF, cols = echi_min(LEAF, s->cols - begin), n = s->rows;
    const size_t down = s->beside ? 1 : s->c_stride, right = s->beside ? s->c_stride : 1;
    const size_t t_down = s->turned ? 1 : s->a_stride, t_right = s->turned ? s->a_stride : 1;
    const bool forward = s->upper == s->turned;
    const REAL *t = s->a;
    REAL *c = (REAL *)s->c + begin * right;
    REAL x[LEAF][LEAF];
    (void)thread;
    memset(x, 0, sizeof x);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < cols; j++) x[i][j] = c[i * down + j * right];
    for (size_t turn = 0; turn < n; turn++) {
        const size_t i = forward ? turn : n - 1 - turn;
        for (size_t before = 0; before < turn; before++) {
            const size_t k = forward ? before : n - 1 - before;
            const REAL by = t[i * t_down + k * t_right];
            for (size_t j = 0; j < LEAF; j++) x[i][j] -= by * x[k][j];
        }
        if (s->unit) continue;
        const REAL diagonal = t[i * s->a_stride + i];
        for (size_t j = 0; j < LEAF; j++) x[i][j] /= diagonal;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < cols; j++) c[i * down + j * right] = x[i][j];
}

/* The sums over the known elements for rows first ... of a triangle of one column, in 32 lanes
 * each. */
static void NAME(add_known)(const struct echi_direct_step *s, size_t turn, size_t first,
                            size_t rows, REAL sums[LEAF][LEAF])
{
    const size_t blocks = (s->rows + LEAF - 1) / LEAF, stride = s->a_stride;
    const bool forward = s->upper == s->turned;
    const REAL *t = s->a, *x = s->c;
    for (size_t i = 0; !s->turned && i < rows; i++)
        for (size_t before = 0; before < turn; before++) {
            const size_t from = (forward ? before : blocks - 1 - before) * LEAF;
            const REAL *row = t + (first + i) * stride + from;
            for (size_t j = 0; j < echi_min(LEAF, s->rows - from); j++)
                sums[i][j] += row[j] * x[from + j];
        }
    for (size_t before = 0; s->turned && before < turn; before++) {
        const size_t from = (forward ? before : blocks - 1 - before) * LEAF;
        for (size_t i = 0; i < echi_min(LEAF, s->rows - from); i++) {
            const REAL *row = t + (from + i) * stride + first;
            for (size_t j = 0; j < rows; j++) sums[i][j] += row[j] * x[from + i];
        }
    }
}

static void NAME(solve_vector)(const struct echi_direct_step *s)
{
    const size_t n = s->rows, blocks = (n + LEAF - 1) / LEAF;
    const bool forward = s->upper == s->turned;
    for (size_t turn = 0; turn < blocks; turn++) {
        const size_t first = (forward ? turn : blocks - 1 - turn) * LEAF;
        const size_t rows = echi_min(LEAF, n - first);
        REAL sums[LEAF][LEAF], *x = (REAL *)s->c + first;
        struct echi_direct_step square = *s;
        struct job job = { .step = &square };
        memset(sums, 0, sizeof sums);
        NAME(add_known)(s, turn, first, rows, sums);
        for (size_t i = 0; turn && i < rows; i++)
            x[i] -= s->turned ? NAME(fold)(&sums[0][i], LEAF) : NAME(fold)(sums[i], 1);
        square.rows = rows;
        square.a = (const REAL *)s->a + first * s->a_stride + first;
        square.c = x;
        NAME(solve_triangle)(&job, 0, 0);
    }
}
