/*
 * direct/cpu/real.h - template: the steps of direct/step.h that read or copy a matrix, the residual
 * and the estimate.  REAL, REAL_BITS, and NAME(x), which adds the type to a name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* ---- Matrices ---- */

static void NAME(move_rows)(void *arg, size_t task, int thread)
{
    const struct echi_direct_step *s = ((struct job *)arg)->step;
    const size_t begin = task * ROWS_OF_TASK, end = echi_min(begin + ROWS_OF_TASK, s->rows);
    (void)thread;
    for (size_t i = begin; i < end; i++) {
        REAL *c = (REAL *)s->c + i * s->c_stride;
        const REAL *a = s->what == ECHI_DIRECT_MAKE ? NULL : (const REAL *)s->a + i * s->a_stride;
        if (s->what == ECHI_DIRECT_COPY) {
            memcpy(c, a, s->cols * sizeof *c);
        } else if (s->what == ECHI_DIRECT_ADD) {
            for (size_t j = 0; j < s->cols; j++) c[j] += a[j];
        } else if (s->make == ECHI_DIRECT_IDENTITY) {
            memset(c, 0, s->cols * sizeof *c);
            if (i >= s->first && i - s->first < s->cols) c[i - s->first] = 1;
        } else if (s->make == ECHI_DIRECT_EVEN) {
            c[0] = 1 / (REAL)s->rows;
        } else {
            const REAL size = 1 + (REAL)i / (REAL)(s->rows - 1);
            c[0] = i % 2 ? -size : size;
        }
    }
}

static void NAME(add_matrices)(void *arg, size_t task, int thread)
{
    const struct echi_direct_step *s = ((struct job *)arg)->step;
    const size_t begin = task * ROWS_OF_TASK, end = echi_min(begin + ROWS_OF_TASK, s->rows);
    (void)thread;
    for (size_t i = begin; i < end; i++) {
        REAL *c = (REAL *)s->c + i * s->c_stride;
        const REAL *a = (const REAL *)s->a + i * s->a_stride;
        memcpy(c, a, s->cols * sizeof *c);
        for (size_t k = 1; k < s->inner; k++) {
            a += s->rows * s->a_stride;
            for (size_t j = 0; j < s->cols; j++) c[j] += a[j];
        }
    }
}

/* A row of a symmetric matrix of which only the lower triangle is read. */
static double NAME(add_lower_row)(const struct echi_direct_step *s, size_t i)
{
    double lanes[LANES] = { 0 };
    const REAL *a = s->a;
    REAL *c = (REAL *)s->c + i * s->c_stride;
    for (size_t j = 0; j < s->cols; j++) {
        const REAL x = j <= i ? a[i * s->a_stride + j] : a[j * s->a_stride + i];
        c[j] = j <= i ? x : 0;
        lanes[j % LANES] += fabs((double)x);
    }
    return fold_lanes(lanes, LANES);
}

static double NAME(add_row)(const REAL *a, REAL *c, size_t n)
{
    double lanes[LANES] = { 0 };
    size_t j = 0;
    for (; j + LANES <= n; j += LANES)
        for (size_t k = 0; k < LANES; k++) lanes[k] += fabs((double)a[j + k]);
    for (size_t k = 0; j + k < n; k++) lanes[k] += fabs((double)a[j + k]);
    memcpy(c, a, n * sizeof *c);
    return fold_lanes(lanes, LANES);
}

/* Whether rows begin ... end - 1 equal the columns, with a positive diagonal. */
static bool NAME(is_symmetric)(const struct echi_direct_step *s, size_t begin, size_t end)
{
    const REAL *a = s->a;
    const size_t stride = s->a_stride;
    for (size_t block = 0; block < end; block += ROWS_OF_TASK)
        for (size_t i = begin; i < end; i++)
            for (size_t j = block; j < echi_min(block + ROWS_OF_TASK, i + 1); j++)
                if (i == j ? !(a[i * stride + i] > 0) : a[i * stride + j] != a[j * stride + i])
                    return false;
    return true;
}

static void NAME(load_rows)(void *arg, size_t task, int thread)
{
    const struct echi_direct_step *s = ((struct job *)arg)->step;
    const size_t begin = task * ROWS_OF_TASK, end = echi_min(begin + ROWS_OF_TASK, s->rows);
    (void)thread;
    for (size_t i = begin; i < end; i++)
        s->sums[i] = s->lower ? NAME(add_lower_row)(s, i)
                              : NAME(add_row)((const REAL *)s->a + i * s->a_stride,
                                              (REAL *)s->c + i * s->c_stride, s->cols);
    if (s->compare && !__atomic_load_n(&s->scalars->asymmetric, __ATOMIC_RELAXED) &&
        !NAME(is_symmetric)(s, begin, end))
        __atomic_store_n(&s->scalars->asymmetric, 1, __ATOMIC_RELAXED);
}

static void NAME(add_columns)(void *arg, size_t task, int thread)
{
    const struct echi_direct_step *s = ((struct job *)arg)->step;
    const size_t begin = task * COLUMNS_OF_TASK;
    const size_t end = echi_min(begin + COLUMNS_OF_TASK, s->cols);
    double *sums = s->sums;
    (void)thread;
    for (size_t j = begin; j < end; j++) sums[j] = 0;
    for (size_t i = 0; i < s->rows; i++) {
        const REAL *a = (const REAL *)s->a + i * s->a_stride;
        for (size_t j = s->upper && i > begin ? i : begin; j < end; j++)
            sums[j] += fabs((double)a[j]);
    }
}

static void NAME(find_peaks)(void *arg, size_t task, int thread)
{
    const struct echi_direct_step *s = ((struct job *)arg)->step;
    const size_t begin = task * COLUMNS_OF_TASK;
    const size_t end = echi_min(begin + COLUMNS_OF_TASK, s->cols);
    double *peaks = s->sums;
    (void)thread;
    for (size_t j = begin; j < end; j++) peaks[j] = 0;
    for (size_t i = 0; i < s->rows; i++) {
        const REAL *a = (const REAL *)s->a + i * s->a_stride;
        for (size_t j = begin; j < end; j++) {
            const double here = a[j] == a[j] ? fabs((double)a[j]) : HUGE_VAL;
            if (here > peaks[j]) peaks[j] = here;
        }
    }
}

static void NAME(swap_columns)(void *arg, size_t task, int thread)
{
    const struct echi_direct_step *s = ((struct job *)arg)->step;
    const size_t begin = task * COLUMNS_OF_TASK;
    const size_t cols = echi_min(COLUMNS_OF_TASK, s->cols - begin);
    REAL *c = (REAL *)s->c + begin;
    (void)thread;
    for (size_t turn = 0; turn < s->rows; turn++) {
        const size_t i = s->first + (s->turned ? s->rows - 1 - turn : turn);
        const size_t place = (size_t)s->pivots[i];
        if (place != i) NAME(swap_rows)(c + i * s->c_stride, c + place * s->c_stride, cols);
    }
}

static void NAME(copy_diagonal)(const struct echi_direct_step *s)
{
    for (size_t i = 0; i < s->rows; i++) {
        const double here = (double)((const REAL *)s->c)[i * s->c_stride + i];
        s->sums[i] = s->turned && ((const REAL *)s->tau)[i] != 0 ? -here : here;
    }
}

/* ---- Residual ---- */

/* A sum in lanes, in twice the precision: f32 in f64, where products are exact; f64 with the
 * rounding error of each operation in addition (Ogita, Rump, Oishi 2005). */
struct NAME(wide) {
    double sum[LANES], lost[LANES];
};

static inline void NAME(add_product)(struct NAME(wide) * w, size_t lane, REAL a, REAL x)
{
#if REAL_BITS == 32
    w->sum[lane] += (double)a * (double)x;
#else
    const double product = a * x, rest = fma(a, x, -product), before = w->sum[lane];
    const double sum = before + product, part = sum - before;
    w->lost[lane] += ((before - (sum - part)) + (product - part)) + rest;
    w->sum[lane] = sum;
#endif
}

static void NAME(add_products)(struct NAME(wide) * w, const REAL *a, const REAL *x, size_t n)
{
    size_t j = 0;
    for (; j + LANES <= n; j += LANES)
        for (size_t k = 0; k < LANES; k++) NAME(add_product)(w, k, a[j + k], x[j + k]);
    for (size_t k = 0; j + k < n; k++) NAME(add_product)(w, k, a[j + k], x[j + k]);
}

static REAL NAME(subtract_wide)(struct NAME(wide) * w, REAL b)
{
    for (size_t half = LANES / 2; half; half /= 2)
        for (size_t i = 0; i < half; i++) {
            const double before = w->sum[i], more = w->sum[i + half], sum = before + more;
            const double part = sum - before;
            w->lost[i] += w->lost[i + half] + ((before - (sum - part)) + (more - part));
            w->sum[i] = sum;
        }
    const double from = b, minus = -w->sum[0], sum = from + minus, part = sum - from;
    const double lost = ((from - (sum - part)) + (minus - part)) - w->lost[0];
    return (REAL)(sum + lost);
}

static void NAME(find_residual)(void *arg, size_t task, int thread)
{
    const struct job *job = arg;
    const struct echi_direct_step *s = job->step;
    const size_t begin = task * ROWS_OF_TASK, end = echi_min(begin + ROWS_OF_TASK, s->rows);
    const size_t n = s->inner, column = job->column;
    const REAL *a = s->a, *b = s->b, *x = job->x;
    (void)thread;
    for (size_t i = begin; i < end; i++) {
        struct NAME(wide) w = { { 0 }, { 0 } };
        NAME(add_products)(&w, a + i * s->a_stride, x, s->lower ? 0 : n);
        for (size_t j = 0; s->lower && j < n; j++) {
            const REAL here = j <= i ? a[i * s->a_stride + j] : a[j * s->a_stride + i];
            NAME(add_product)(&w, j % LANES, here, x[j]);
        }
        ((REAL *)s->c)[i * s->c_stride + column] =
            NAME(subtract_wide)(&w, b ? b[i * s->b_stride + column] : (REAL)(i == column));
    }
}

static void NAME(find_residuals)(const ech_ctx *ctx, const struct echi_direct_step *s)
{
    const size_t tasks = (s->rows + ROWS_OF_TASK - 1) / ROWS_OF_TASK;
    for (size_t j = 0; j < s->cols; j++) {
        struct job job = { .step = s, .x = (const REAL *)s->x + j, .column = j };
        if (s->x_stride != 1) {
            REAL *line = s->tau;
            for (size_t i = 0; i < s->inner; i++)
                line[i] = ((const REAL *)s->x)[i * s->x_stride + j];
            job.x = line;
        }
        run_tasks(ctx, s->rows * s->inner * sizeof(REAL), tasks, NAME(find_residual), &job);
    }
}

/* ---- Estimate ---- */

static void NAME(add_signs)(const struct echi_direct_step *s)
{
    double lanes[ECHI_DIRECT_ESTIMATE_LANES] = { 0 };
    REAL *c = s->c, *signs = s->tau;
    uint64_t changed = 0;
    for (size_t i = 0; i < s->rows; i++) {
        const REAL sign = c[i] >= 0 ? 1 : -1;
        lanes[i % ECHI_DIRECT_ESTIMATE_LANES] += fabs((double)c[i]);
        changed += s->compare && signs[i] != sign;
        c[i] = signs[i] = sign;
    }
    s->scalars->sum = fold_lanes(lanes, ECHI_DIRECT_ESTIMATE_LANES);
    s->scalars->changed = changed;
}

static void NAME(find_place)(const struct echi_direct_step *s)
{
    const size_t place = NAME(find_pivot)(s->c, 1, 0, s->rows);
    s->scalars->largest = place;
    s->scalars->sum = fabs((double)((const REAL *)s->c)[place]);
    s->scalars->before = fabs((double)((const REAL *)s->c)[s->first]);
}

/* ---- Steps ---- */

static void NAME(step)(const ech_ctx *ctx, const struct echi_direct_step *s)
{
    struct job job = { .step = s };
    const size_t bytes = s->rows * s->cols * sizeof(REAL);
    const size_t row_tasks = (s->rows + ROWS_OF_TASK - 1) / ROWS_OF_TASK;
    const size_t column_tasks = (s->cols + COLUMNS_OF_TASK - 1) / COLUMNS_OF_TASK;
    switch ((enum echi_direct_what)s->what) {
    case ECHI_DIRECT_COPY:
    case ECHI_DIRECT_ADD:
    case ECHI_DIRECT_MAKE:
        run_tasks(ctx, bytes, row_tasks, NAME(move_rows), &job);
        break;
    case ECHI_DIRECT_ROWS:
        run_tasks(ctx, bytes, row_tasks, NAME(load_rows), &job);
        break;
    case ECHI_DIRECT_COLUMNS:
        run_tasks(ctx, bytes, column_tasks, NAME(add_columns), &job);
        break;
    case ECHI_DIRECT_PEAKS:
        run_tasks(ctx, bytes, column_tasks, NAME(find_peaks), &job);
        break;
    case ECHI_DIRECT_DIAGONAL:
        NAME(copy_diagonal)(s);
        break;
    case ECHI_DIRECT_LU:
        NAME(factor_lu)(s);
        break;
    case ECHI_DIRECT_CHOLESKY:
        NAME(factor_cholesky)(s);
        break;
    case ECHI_DIRECT_QR:
        NAME(factor_qr)(s);
        break;
    case ECHI_DIRECT_REFLECTORS:
        NAME(gather_reflectors)(s);
        break;
    case ECHI_DIRECT_CHAIN:
        NAME(chain)(s);
        break;
    case ECHI_DIRECT_SWAP:
        run_tasks(ctx, bytes, column_tasks, NAME(swap_columns), &job);
        break;
    case ECHI_DIRECT_SUM:
        run_tasks(ctx, s->inner * bytes, row_tasks, NAME(add_matrices), &job);
        break;
    case ECHI_DIRECT_TRIANGLE:
        if (s->rows > LEAF)
            NAME(solve_vector)(s);
        else
            run_tasks(ctx, 8 * bytes, (s->cols + LEAF - 1) / LEAF, NAME(solve_triangle), &job);
        break;
    case ECHI_DIRECT_RESIDUAL:
        NAME(find_residuals)(ctx, s);
        break;
    case ECHI_DIRECT_ESTIMATE:
        if (s->turned)
            NAME(find_place)(s);
        else
            NAME(add_signs)(s);
    }
}
