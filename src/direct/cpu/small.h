/*
 * direct/cpu/small.h - template: a batch of small systems, in groups of WIDTH.  It computes what
 * solve.c computes for each system, with the same results.
 *
 *     sort      the systems of a task by factorization: LU or Cholesky
 *     load      one system per lane
 *     inspect   norms, NaN; factor; the diagonal
 *     estimate, solve, refine (lanes.h), while any lane needs it
 *     store     the solutions and reports of the lanes that were solved
 *
 * REAL, REAL_BITS, and SIZED(x), which adds the type to a name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* ---- Lanes in memory ---- */

/* An array of n x cols, of each system of a group, as vectors; idle lanes repeat the last one. */
static void SIZED(load_lanes)(const struct lanes *lanes, const REAL *from, size_t step,
                              size_t from_stride, size_t n, size_t cols, bool lower, V *to,
                              size_t stride)
{
#ifdef __AVX512F__
    long long first[WIDTH];
    for (size_t l = 0; l < WIDTH; l++) first[l] = (long long)(lanes->system[l] * step);
    const __m512i places = _mm512_loadu_si512(first);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < cols; j++) {
            const size_t at = lower && j > i ? j * from_stride + i : i * from_stride + j;
#if REAL_BITS == 32
            to[i * stride + j] = (V)_mm512_i64gather_ps(places, from + at, sizeof(REAL));
#else
            to[i * stride + j] = (V)_mm512_i64gather_pd(places, from + at, sizeof(REAL));
#endif
        }
#else
    const REAL *one[WIDTH];
    for (size_t l = 0; l < WIDTH; l++) one[l] = from + lanes->system[l] * step;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < cols; j++) {
            const size_t at = lower && j > i ? j * from_stride + i : i * from_stride + j;
            for (size_t l = 0; l < WIDTH; l++) to[i * stride + j][l] = one[l][at];
        }
#endif
}

static void SIZED(store_lanes)(const struct lanes *lanes, const struct SIZED(group) * g,
                               const struct echi_direct *call)
{
    for (size_t l = 0; l < lanes->count; l++) {
        REAL *one = (REAL *)call->x + lanes->system[l] * call->x_step;
        const REAL *lane = (const REAL *)g->x + l;
        if (lanes->report[l].status != ECH_DIRECT_STATUS_SOLVED) continue;
        for (size_t i = 0; i < ROWS(g); i++)
            for (size_t j = 0; j < g->cols; j++)
                one[i * call->x_stride + j] = lane[(i * g->x_stride + j) * WIDTH];
    }
}

/* The systems of a batch whose factorization is automatic. */
static bool SIZED(suits_cholesky)(const struct echi_direct *call, size_t i)
{
    const struct echi_direct_step step = { .a = (const REAL *)call->a + i * call->a_step,
                                           .a_stride = call->a_stride };
    return NAME(is_symmetric)(&step, 0, call->n);
}

/* ---- The matrix ---- */

/* The row and column norms; a lane with NaN or infinity, or whose norms overflow, is stopped. */
static void SIZED(inspect_lanes)(struct lanes *lanes, const struct SIZED(group) * g, bool lower)
{
    struct largest rows = no_largest(), columns = no_largest();
    wide sums[LEAF], column[LEAF];
    for (size_t j = 0; j < ROWS(g); j++) column[j] = (wide){ 0 };
    for (size_t i = 0; i < ROWS(g); i++) {
        for (size_t j = 0; j < ROWS(g); j++) {
            sums[j] = NAME(widen)(NAME(absolute)(g->a[i * STEP(g) + j]));
            column[j] += sums[j];
        }
        for (size_t half = LANES / 2, rest = ROWS(g); half; half /= 2) {
            for (size_t j = 0; j < half && j + half < rest; j++) sums[j] += sums[j + half];
            if (rest > half) rest = half;
        }
        add_largest(&rows, sums[0], i);
    }
    for (size_t j = 0; j < ROWS(g); j++) add_largest(&columns, column[j], j);
    lanes->row = rows.value;
    lanes->column = lower ? rows.value : columns.value;
    stop_lanes(lanes, ECH_DIRECT_STATUS_NOT_FINITE, rows.bad);
    if (!lower) stop_lanes(lanes, ECH_DIRECT_STATUS_OVERFLOW, columns.bad);
}

/* The magnitudes of each column; infinity if it has a NaN. */
static void SIZED(peaks_lanes)(const struct SIZED(group) * g, const V *from, wide *peaks)
{
    for (size_t c = 0; c < g->cols; c++) {
        V peak = (V){ 0 };
        for (size_t i = 0; i < ROWS(g); i++) {
            const V x = from[i * g->x_stride + c];
            const V here = NAME(select)(x == x, NAME(absolute)(x), NAME(all)((REAL)HUGE_VAL));
            peak = NAME(select)(here > peak, here, peak);
        }
        peaks[c] = NAME(widen)(peak);
    }
}

/* Element i of the diagonal, negated where rows were exchanged. */
INLINE wide SIZED(diagonal)(const struct SIZED(group) * g, size_t i)
{
    const V here = g->factor[i * STEP(g) + i];
    if (g->cholesky) return NAME(widen)(here);
    return NAME(widen)(NAME(select)(g->pivots[i] == NAME(all_whole)(i), here, -here));
}

static void SIZED(inspect_diagonals)(struct lanes *lanes, const struct SIZED(group) * g)
{
    wide_mask bad = ~(wide_mask){ 0 };
    for (size_t i = ROWS(g); i-- > 0;) {
        const wide here = NAME(widen)(g->factor[i * STEP(g) + i]);
        bad = select_whole(is_finite(here), bad, all_whole(i));
    }
    stop_lanes(lanes, ECH_DIRECT_STATUS_OVERFLOW, bad);
    wide mantissa = all_wide(1);
    wide_mask exponent = { 0 }, odd = { 0 }; /* the exponents' sum; lanes with subnormal numbers */
    for (size_t i = 0; i < ROWS(g); i++) {
        mantissa *= split_lanes(SIZED(diagonal)(g, i), &exponent, &odd);
        mantissa = split_lanes(mantissa, &exponent, &odd);
    }
    for (size_t l = 0; l < lanes->count; l++) {
        struct echi_big big = { mantissa[l], exponent[l] };
        if (lanes->report[l].status != ECH_DIRECT_STATUS_SOLVED) continue;
        if (odd[l]) big = (struct echi_big){ 1, 0 };
        for (size_t i = 0; odd[l] && i < ROWS(g); i++)
            echi_multiply_big(&big, SIZED(diagonal)(g, i)[l]);
        echi_direct_determinant(&lanes->report[l], lanes->report[l].kind, &big);
    }
}

/* Lanes whose automatic Cholesky factorization failed are returned: LU has to follow. */
static uint32_t SIZED(factor_lanes)(struct lanes *lanes, struct SIZED(group) * g, bool is_auto)
{
    const ech_direct_status end =
        g->cholesky ? ECH_DIRECT_STATUS_INDEFINITE : ECH_DIRECT_STATUS_SINGULAR;
    uint32_t again = 0;
    g->failed = (M){ 0 };
#if HAS_SINGLE
    const bool single = g->rows;
#else
    const bool single = false;
#endif
    if (!single || g->cholesky) memcpy(g->factor, g->a, ROWS(g) * STEP(g) * sizeof *g->factor);
    if (g->cholesky)
        SIZED(cholesky_lanes)(g);
    else if (!single)
        SIZED(lu_lanes)(g);
#if HAS_SINGLE
    else
        NAME(lu_single)(g);
#endif
    if (!g->cholesky) SIZED(find_order)(g);
    for (size_t l = 0; l < lanes->count; l++) {
        ech_direct_report *report = &lanes->report[l];
        if (report->status != ECH_DIRECT_STATUS_SOLVED) continue;
        if (g->failed[l] && g->cholesky && is_auto) again |= (uint32_t)1 << l;
        report->kind = g->cholesky ? ECH_FACTOR_CHOLESKY : ECH_FACTOR_LU;
        if (!g->failed[l]) continue;
        report->status = end;
        report->failed_index = (uint64_t)g->failed[l] - 1;
        if (!g->cholesky) report->log_abs = -HUGE_VAL;
    }
    return again;
}

/* ---- Solutions ---- */

static wide SIZED(ratio_lanes)(const struct SIZED(group) * g, const wide *residual, const wide *x,
                               const wide *b, wide row)
{
    wide ratio = (wide){ 0 };
    for (size_t c = 0; c < g->cols; c++) {
        const wide below = row * x[c] + (b ? b[c] : (wide){ 0 });
        const wide here = select_wide(residual[c] == 0, (wide){ 0 }, residual[c] / below);
        ratio = select_wide(~(here <= ratio), here, ratio);
    }
    return ratio;
}

/* As refine() in solve.c. */
static void SIZED(refine_lanes)(struct lanes *lanes, const struct SIZED(group) * g, int most)
{
    const double unit = REAL_BITS == 64 ? 0x1p-53 : 0x1p-24;
    wide before = all_wide(1), peaks_x[LEAF], peaks_r[LEAF];
    wide_mask active = solved_lanes(lanes), steps = { 0 };
    for (int turn = 0; turn < most && any_lane(active); turn++) {
        SIZED(residual_lanes)(g);
        SIZED(solve_lanes)(g, false, g->residual, g->x_stride, g->cols);
        SIZED(peaks_lanes)(g, g->x, peaks_x);
        SIZED(peaks_lanes)(g, g->residual, peaks_r);
        const wide now = SIZED(ratio_lanes)(g, peaks_r, peaks_x, NULL, all_wide(1));
        active &= (now <= before / 2) & (now != 0);
        const M adds = NAME(narrow_mask)(active);
        for (size_t i = 0; i < ROWS(g); i++)
            for (size_t c = 0; c < g->cols; c++) {
                V *x = &g->x[i * g->x_stride + c];
                *x = NAME(select)(adds, *x + g->residual[i * g->x_stride + c], *x);
            }
        steps -= active;
        before = now;
        active &= ~(now <= unit);
    }
    for (size_t l = 0; l < lanes->count; l++) lanes->report[l].refinements = (int)steps[l];
}

static void SIZED(solve_right)(struct lanes *lanes, const struct SIZED(group) * g,
                               const struct echi_direct *call, const wide *peaks_b)
{
    const bool lower = call->kind == ECH_FACTOR_CHOLESKY;
    wide peaks_x[LEAF], peaks_r[LEAF], ones[LEAF];
    memcpy(g->x, g->b, ROWS(g) * g->x_stride * sizeof *g->x);
    SIZED(solve_lanes)(g, false, g->x, g->x_stride, g->cols);
    SIZED(refine_lanes)(lanes, g, call->refine);
    if (call->refine || lower)
        SIZED(residual_lanes)(g);
    else
        SIZED(product_lanes)(g, g->cols > 1 || call->x_stride > 1);
    SIZED(peaks_lanes)(g, g->x, peaks_x);
    SIZED(peaks_lanes)(g, g->residual, peaks_r);
    for (size_t c = 0; c < g->cols; c++) ones[c] = all_wide(1);
    const wide ratio =
        SIZED(ratio_lanes)(g, peaks_r, peaks_x, call->b ? peaks_b : ones, lanes->row);
    for (size_t l = 0; l < lanes->count; l++)
        lanes->report[l].backward_error = isnan(ratio[l]) ? HUGE_VAL : ratio[l];
}

static void SIZED(load_right)(struct lanes *lanes, const struct SIZED(group) * g,
                              const struct echi_direct *call, wide *peaks)
{
    struct largest largest = no_largest();
    if (call->call != ECH_DIRECT_CALL_SOLVE) {
        for (size_t i = 0; i < ROWS(g); i++)
            for (size_t c = 0; c < g->cols; c++)
                g->b[i * g->x_stride + c] = NAME(all)((REAL)(i == c));
        return;
    }
    SIZED(load_lanes)
    (lanes, call->b, call->b_step, call->b_stride, ROWS(g), g->cols, false, g->b, g->x_stride);
    SIZED(peaks_lanes)(g, g->b, peaks);
    for (size_t c = 0; c < g->cols; c++) add_largest(&largest, peaks[c], c);
    stop_lanes(lanes, ECH_DIRECT_STATUS_NOT_FINITE_B, largest.bad);
}

/* ---- Groups ---- */

static struct SIZED(group) SIZED(group_of)(const struct echi_direct *call, char *work)
{
    struct SIZED(group) g = { .n = call->n, .cols = call->count };
    g.stride = call->n | 1; /* so that a column is distributed over the cache sets */
    g.x_stride = call->count | 1;
    V *at = (V *)(void *)work;
    g.a = at;
    g.factor = g.a + g.n * g.stride;
    g.b = g.factor + g.n * g.stride;
    g.residual = g.b + g.n * g.x_stride;
    g.x = g.residual + g.n * g.x_stride;
    return g;
}

/* Returns the lanes that have to be factored by LU instead. */
static uint32_t SIZED(run_group)(const struct echi_direct *call, struct lanes *lanes, bool cholesky,
                                 char *work)
{
    struct SIZED(group) g = SIZED(group_of)(call, work);
    const bool lower = call->kind == ECH_FACTOR_CHOLESKY;
    wide peaks[LEAF];
    uint32_t again;
    g.cholesky = cholesky;
    begin_lanes(lanes, call->kind);
#if HAS_SINGLE
    REAL rows[LEAF * LEAF], columns[LEAF * LEAF];
    if (lanes->count == 1) {
        g.rows = rows;
        g.columns = columns;
        NAME(load_single)
        (&g, (const REAL *)call->a + lanes->system[0] * call->a_step, call->a_stride, lower);
    } else
#endif
        SIZED(load_lanes)
    (lanes, call->a, call->a_step, call->a_stride, ROWS(&g), ROWS(&g), lower, g.a, STEP(&g));
    SIZED(inspect_lanes)(lanes, &g, lower);
    if (g.cols) SIZED(load_right)(lanes, &g, call, peaks);
    again = SIZED(factor_lanes)(lanes, &g, call->kind == ECH_FACTOR_AUTO);
    SIZED(inspect_diagonals)(lanes, &g);
    if (call->call != ECH_DIRECT_CALL_DETERMINANT) {
        const wide inverse = SIZED(estimate_lanes)(&g), rcond = 1 / lanes->column / inverse;
        for (size_t l = 0; l < lanes->count; l++)
            if (lanes->report[l].status == ECH_DIRECT_STATUS_SOLVED)
                lanes->report[l].rcond = isfinite(inverse[l]) && inverse[l] > 0 ? rcond[l] : 0;
    }
    if (g.cols) SIZED(solve_right)(lanes, &g, call, peaks);
    if (g.cols) SIZED(store_lanes)(lanes, &g, call);
    finish_lanes(lanes, call, again);
    return again;
}

static void SIZED(run_small)(void *arg, size_t task, int thread)
{
    const struct echi_direct_small *small = arg;
    const struct echi_direct *call = small->call;
    const size_t begin = task * small->systems, end = echi_min(begin + small->systems, call->batch);
    char *work = small->work + (size_t)thread * small->thread_bytes;
    struct lanes lu = { .count = 0 }, cholesky = { .count = 0 };
    for (size_t i = begin; i < end || lu.count || cholesky.count; i += i < end) {
        const bool more = i < end;
        if (more) {
            const bool suits = call->kind == ECH_FACTOR_AUTO ? SIZED(suits_cholesky)(call, i)
                                                             : call->kind == ECH_FACTOR_CHOLESKY;
            struct lanes *lanes = suits ? &cholesky : &lu;
            lanes->system[lanes->count++] = i;
        }
        if (cholesky.count == WIDTH || (!more && cholesky.count)) {
            uint32_t again = SIZED(run_group)(call, &cholesky, true, work);
            for (; again; again &= again - 1) {
                lu.system[lu.count++] = cholesky.system[__builtin_ctz(again)];
                if (lu.count < WIDTH) continue;
                SIZED(run_group)(call, &lu, false, work);
                lu.count = 0;
            }
            cholesky.count = 0;
        }
        if (lu.count == WIDTH || (!more && !cholesky.count && lu.count)) {
            SIZED(run_group)(call, &lu, false, work);
            lu.count = 0;
        }
    }
}
#undef V
#undef M
#undef ROWS
#undef STEP
#undef SIZE
#undef SIZED
#undef HAS_SINGLE
