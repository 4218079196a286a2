/*
 * direct/solve.c - the solution of a dense system: checks the matrix, factors, solves, refines, and
 * fills in the report.
 *
 *     rows, columns   norms; NaN; symmetric?
 *     factor          factor.c; its diagonal: the determinant, linearly dependent columns
 *     estimate        |A^-1| in the 1-norm (Hager 1984, Higham 1988)
 *     solve           x = A^-1 b
 *     refine          r = b - A x in twice the precision, x += A^-1 r, while the corrections halve
 *
 * The host decides, based on values that it copies from the device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "direct/determinant.h"
#include "direct/direct.h"

enum { PIECE = 1024 /* elements that are copied at once */, ESTIMATE_TURNS = 5 };

/* ---- Values on the host ---- */

static ech_status fetch(struct echi_direct_run *run, void *to, const void *from, size_t bytes)
{
    return run->ctx->backend->copy(run->ctx, to, from, bytes);
}

static ech_status fetch_scalars(struct echi_direct_run *run, struct echi_direct_scalars *scalars)
{
    return fetch(run, scalars, run->parts.scalars, sizeof *scalars);
}

/* The maximum of sums, and the first that is not finite, or n. */
static ech_status find_largest(struct echi_direct_run *run, const double *sums, size_t n,
                               double *largest, size_t *bad)
{
    double piece[PIECE];
    ech_status status = ECH_OK;
    *largest = 0;
    *bad = n;
    for (size_t i = 0; i < n; i += PIECE) {
        const size_t count = n - i < PIECE ? n - i : PIECE;
        TRY(fetch(run, piece, sums + i, count * sizeof *piece));
        for (size_t j = 0; j < count; j++) {
            if (!isfinite(piece[j]) && *bad == n) *bad = i + j;
            if (!(piece[j] <= *largest)) *largest = piece[j];
        }
    }
done:
    return status;
}

/* ---- The matrix ---- */

struct norms {
    double row, column; /* the maximum row and column sums of |a| */
};

static ech_status stop(struct echi_direct_run *run, ech_direct_status end, size_t where)
{
    run->call->report->status = end;
    run->call->report->failed_index = where;
    if (end == ECH_DIRECT_STATUS_SINGULAR && run->m == run->n)
        run->call->report->log_abs = -HUGE_VAL;
    return ECH_OK;
}

static struct echi_direct_step step_of_matrix(struct echi_direct_run *run, unsigned what)
{
    struct echi_direct_step step = echi_direct_step(run, what);
    step.rows = run->m;
    step.cols = run->n;
    step.a = run->call->a;
    step.a_stride = run->call->a_stride;
    step.lower = run->lower;
    step.c = run->parts.factor;
    step.c_stride = run->stride;
    return step;
}

static ech_status load_matrix(struct echi_direct_run *run)
{
    const struct echi_direct_scalars none = { 0 };
    struct echi_direct_step step = step_of_matrix(run, ECHI_DIRECT_ROWS);
    ech_status status;
    TRY(run->ctx->backend->copy(run->ctx, run->parts.scalars, &none, sizeof none));
    step.sums = run->parts.row_sums;
    step.compare = run->kind == ECH_FACTOR_AUTO && run->m == run->n;
    TRY(echi_direct_do(run, &step));
done:
    return status;
}

static ech_status inspect_matrix(struct echi_direct_run *run, struct norms *norms)
{
    struct echi_direct_step step;
    struct echi_direct_scalars scalars;
    size_t bad;
    ech_status status;
    TRY(load_matrix(run));
    TRY(find_largest(run, run->parts.row_sums, run->m, &norms->row, &bad));
    if (bad < run->m) return stop(run, ECH_DIRECT_STATUS_NOT_FINITE, bad);
    step = step_of_matrix(run, ECHI_DIRECT_COLUMNS);
    step.sums = run->lower ? run->parts.row_sums : run->parts.column_sums;
    if (!run->lower) TRY(echi_direct_do(run, &step));
    TRY(find_largest(run, step.sums, run->n, &norms->column, &bad));
    if (bad < run->n) return stop(run, ECH_DIRECT_STATUS_OVERFLOW, bad);
    if (run->kind == ECH_FACTOR_AUTO) {
        TRY(fetch_scalars(run, &scalars));
        run->kind = run->m > run->n      ? ECH_FACTOR_QR
                    : scalars.asymmetric ? ECH_FACTOR_LU
                                         : ECH_FACTOR_CHOLESKY;
    }
done:
    return status;
}

/* ---- The factors ---- */

static ech_status factor(struct echi_direct_run *run)
{
    const struct echi_direct *call = run->call;
    struct echi_direct_scalars scalars;
    ech_status status;
    TRY(echi_direct_factor(run));
    TRY(fetch_scalars(run, &scalars));
    if (scalars.failed && run->kind == ECH_FACTOR_CHOLESKY && call->kind == ECH_FACTOR_AUTO) {
        run->kind = ECH_FACTOR_LU;
        TRY(load_matrix(run));
        TRY(echi_direct_factor(run));
        TRY(fetch_scalars(run, &scalars));
    }
    call->report->kind = run->kind;
    if (scalars.failed)
        status = stop(run,
                      run->kind == ECH_FACTOR_CHOLESKY ? ECH_DIRECT_STATUS_INDEFINITE
                                                       : ECH_DIRECT_STATUS_SINGULAR,
                      (size_t)scalars.failed - 1);
done:
    return status;
}

/* Checks the diagonal: the determinant; for QR, whether columns are linearly dependent. */
static ech_status inspect_diagonal(struct echi_direct_run *run)
{
    struct echi_direct_step step = echi_direct_step(run, ECHI_DIRECT_DIAGONAL);
    const double unit = run->bytes == 8 ? 0x1p-53 : 0x1p-24;
    struct echi_big big = { 1, 0 };
    double diagonal[PIECE], sums[PIECE];
    uint64_t pivots[PIECE];
    const bool is_qr = run->kind == ECH_FACTOR_QR, is_lu = run->kind == ECH_FACTOR_LU;
    ech_status status;
    step.rows = run->n;
    step.c = run->parts.factor;
    step.c_stride = run->stride;
    step.sums = run->parts.row_sums;
    step.turned = is_qr;
    TRY(echi_direct_do(run, &step));
    for (size_t i = 0; i < run->n; i += PIECE) {
        const size_t count = run->n - i < PIECE ? run->n - i : PIECE;
        TRY(fetch(run, diagonal, run->parts.row_sums + i, count * sizeof *diagonal));
        if (is_qr) TRY(fetch(run, sums, run->parts.column_sums + i, count * sizeof *sums));
        if (is_lu) TRY(fetch(run, pivots, run->parts.pivots + i, count * sizeof *pivots));
        for (size_t j = 0; j < count; j++) {
            if (!isfinite(diagonal[j])) return stop(run, ECH_DIRECT_STATUS_OVERFLOW, i + j);
            if (is_qr && !(fabs(diagonal[j]) > 16 * unit * sums[j]))
                return stop(run, ECH_DIRECT_STATUS_SINGULAR, i + j);
            if (is_lu && pivots[j] != i + j) diagonal[j] = -diagonal[j];
            echi_multiply_big(&big, diagonal[j]);
        }
    }
    if (run->m == run->n) echi_direct_determinant(run->call->report, run->kind, &big);
done:
    return status;
}

/* ---- Solving ---- */

/* x [m][cols] becomes A^-1 x; turned: A^-T x; only R of QR: R^-1 x. */
static ech_status solve(struct echi_direct_run *run, void *x, size_t stride, size_t cols,
                        bool turned, bool only_r)
{
    const void *f = run->parts.factor;
    const unsigned side = turned ? ECHI_TRIANGLE_TURNED : 0;
    const unsigned lower = run->kind == ECH_FACTOR_LU ? ECHI_TRIANGLE_UNIT : 0;
    const size_t n = run->n;
    ech_status status;
    if (run->kind == ECH_FACTOR_QR) {
        if (!only_r) TRY(echi_direct_apply(run, x, stride, cols));
        return echi_direct_triangle(run, ECHI_TRIANGLE_UPPER | side, f, n, x, stride, cols);
    }
    if (run->kind == ECH_FACTOR_CHOLESKY) {
        TRY(echi_direct_triangle(run, 0, f, n, x, stride, cols));
        return echi_direct_triangle(run, ECHI_TRIANGLE_TURNED, f, n, x, stride, cols);
    }
    if (!turned) TRY(echi_direct_swap(run, x, stride, cols, 0, n, false));
    for (int i = 0; i < 2; i++)
        TRY(echi_direct_triangle(run, side | (turned == (i == 0) ? ECHI_TRIANGLE_UPPER : lower), f,
                                 n, x, stride, cols));
    if (turned) TRY(echi_direct_swap(run, x, stride, cols, 0, n, true));
done:
    return status;
}

/* ---- The condition ---- */

static ech_status make_vector(struct echi_direct_run *run, enum echi_direct_make make, size_t first)
{
    struct echi_direct_step step = echi_direct_step(run, ECHI_DIRECT_MAKE);
    step.make = make;
    step.rows = run->n;
    step.cols = 1;
    step.first = first;
    step.c = run->parts.vector;
    step.c_stride = 1;
    return echi_direct_do(run, &step);
}

/* vector = A^-1 vector, and the results of ESTIMATE for it. */
static ech_status apply_inverse(struct echi_direct_run *run, bool turned, bool again, size_t first,
                                struct echi_direct_scalars *scalars)
{
    struct echi_direct_step step = echi_direct_step(run, ECHI_DIRECT_ESTIMATE);
    ech_status status;
    step.rows = run->n;
    step.first = first;
    step.turned = turned;
    step.compare = again;
    step.c = run->parts.vector;
    step.tau = run->parts.signs;
    TRY(solve(run, run->parts.vector, 1, 1, turned, true));
    TRY(echi_direct_do(run, &step));
    TRY(fetch_scalars(run, scalars));
done:
    return status;
}

/* A lower bound of the 1-norm of A^-1, for QR of R^-1: rarely less than a third of it. */
static ech_status estimate(struct echi_direct_run *run, double *norm)
{
    struct echi_direct_scalars scalars;
    size_t place = 0;
    ech_status status;
    TRY(make_vector(run, ECHI_DIRECT_EVEN, 0));
    TRY(apply_inverse(run, false, false, 0, &scalars));
    *norm = scalars.sum;
    if (run->n == 1) goto done;
    for (int turn = 0; turn < ESTIMATE_TURNS; turn++) {
        TRY(apply_inverse(run, true, false, place, &scalars)); /* of the signs */
        if (turn && !(scalars.sum > scalars.before)) break;
        place = (size_t)scalars.largest;
        TRY(make_vector(run, ECHI_DIRECT_IDENTITY, place));
        TRY(apply_inverse(run, false, true, 0, &scalars));
        const bool grew = scalars.sum > *norm;
        if (!(scalars.sum <= *norm)) *norm = scalars.sum;
        if (!grew || !scalars.changed) break;
    }
    TRY(make_vector(run, ECHI_DIRECT_WAVE, 0));
    TRY(apply_inverse(run, false, false, 0, &scalars));
    scalars.sum = 2 * scalars.sum / (3 * (double)run->n);
    if (!(scalars.sum <= *norm)) *norm = scalars.sum;
done:
    return status;
}

static ech_status estimate_condition(struct echi_direct_run *run, double norm)
{
    struct echi_direct_step step = step_of_matrix(run, ECHI_DIRECT_COLUMNS);
    double inverse = 0;
    size_t bad;
    ech_status status;
    if (run->kind == ECH_FACTOR_QR) {
        step.rows = run->n;
        step.a = run->parts.factor;
        step.a_stride = run->stride;
        step.upper = 1;
        step.lower = 0;
        step.sums = run->parts.column_sums;
        TRY(echi_direct_do(run, &step));
        TRY(find_largest(run, step.sums, run->n, &norm, &bad));
    }
    TRY(estimate(run, &inverse));
    run->call->report->rcond = isfinite(inverse) && inverse > 0 ? 1 / norm / inverse : 0;
done:
    return status;
}

/* ---- Right-hand sides ---- */

static ech_status move(struct echi_direct_run *run, unsigned what, size_t rows, const void *from,
                       size_t from_stride, void *to, size_t to_stride)
{
    struct echi_direct_step step = echi_direct_step(run, what);
    step.rows = rows;
    step.cols = run->call->count;
    step.a = from;
    step.a_stride = from_stride;
    step.c = to;
    step.c_stride = to_stride;
    return echi_direct_do(run, &step);
}

/* Initialises the residual with b, or the identity. */
static ech_status load_right(struct echi_direct_run *run)
{
    const struct echi_direct *call = run->call;
    struct echi_direct_step step = echi_direct_step(run, ECHI_DIRECT_MAKE);
    if (call->call == ECH_DIRECT_CALL_SOLVE)
        return move(run, ECHI_DIRECT_COPY, run->m, call->b, call->b_stride, run->parts.residual,
                    call->count);
    step.make = ECHI_DIRECT_IDENTITY;
    step.rows = run->m;
    step.cols = call->count;
    step.c = run->parts.residual;
    step.c_stride = call->count;
    return echi_direct_do(run, &step);
}

/* Replaces the residual by b - A x: in twice the precision, or by products. */
static ech_status find_residual(struct echi_direct_run *run)
{
    const struct echi_direct *call = run->call;
    struct echi_direct_step step = step_of_matrix(run, ECHI_DIRECT_RESIDUAL);
    const struct echi_direct_product p = { .m = run->m,
                                           .n = call->count,
                                           .k = run->n,
                                           .a = call->a,
                                           .b = call->x,
                                           .c = run->parts.residual,
                                           .a_stride = call->a_stride,
                                           .b_stride = call->x_stride,
                                           .c_stride = call->count,
                                           .alpha = -1,
                                           .beta = 1 };
    if (!call->refine && !run->lower) {
        const ech_status status = run->ctx ? load_right(run) : ECH_OK;
        return status == ECH_OK ? echi_direct_multiply(run, &p) : status;
    }
    step.inner = run->n;
    step.cols = call->count;
    step.b = call->b;
    step.b_stride = call->b_stride;
    step.x = call->x;
    step.x_stride = call->x_stride;
    step.c = run->parts.residual;
    step.c_stride = call->count;
    step.tau = run->parts.image;
    return echi_direct_do(run, &step);
}

enum { PEAKS_B, PEAKS_X, PEAKS_R };

static ech_status find_peaks(struct echi_direct_run *run, int which, size_t rows, const void *from,
                             size_t stride)
{
    struct echi_direct_step step = echi_direct_step(run, ECHI_DIRECT_PEAKS);
    step.rows = rows;
    step.cols = run->call->count;
    step.a = from;
    step.a_stride = stride;
    step.sums = run->parts.peaks + (size_t)which * run->call->count;
    return echi_direct_do(run, &step);
}

/* The maximum ratio of the residual to row |x| + |b| over all columns; b_too false: to row |x|. */
static ech_status find_ratio(struct echi_direct_run *run, double row, bool b_too, double *ratio)
{
    const size_t n = run->call->count;
    double piece[3][PIECE / 2];
    ech_status status = ECH_OK;
    *ratio = 0;
    for (size_t i = 0; i < n; i += PIECE / 2) {
        const size_t count = n - i < PIECE / 2 ? n - i : PIECE / 2;
        for (int k = 0; k < 3; k++)
            TRY(fetch(run, piece[k], run->parts.peaks + (size_t)k * n + i, count * sizeof(double)));
        for (size_t j = 0; j < count; j++) {
            const double b = run->call->b ? piece[PEAKS_B][j] : 1;
            const double below = row * piece[PEAKS_X][j] + (b_too ? b : 0);
            const double here = piece[PEAKS_R][j] == 0 ? 0 : piece[PEAKS_R][j] / below;
            if (!(here <= *ratio)) *ratio = here;
        }
    }
done:
    return status;
}

/* x += A^-1 (b - A x), as long as each correction is at most half of the previous one. */
static ech_status refine(struct echi_direct_run *run)
{
    const struct echi_direct *call = run->call;
    const double unit = run->bytes == 8 ? 0x1p-53 : 0x1p-24;
    double before = 1, now;
    ech_status status = ECH_OK;
    for (int i = 0; i < call->refine; i++) {
        TRY(find_residual(run));
        TRY(solve(run, run->parts.residual, call->count, call->count, false, false));
        TRY(find_peaks(run, PEAKS_X, run->n, call->x, call->x_stride));
        TRY(find_peaks(run, PEAKS_R, run->n, run->parts.residual, call->count));
        TRY(find_ratio(run, 1, false, &now));
        if (!(now <= before / 2)) break;
        if (now == 0) break;
        TRY(move(run, ECHI_DIRECT_ADD, run->n, run->parts.residual, call->count, call->x,
                 call->x_stride));
        call->report->refinements++;
        before = now;
        if (now <= unit) break;
    }
done:
    return status;
}

static ech_status find_error(struct echi_direct_run *run, const struct norms *norms)
{
    const struct echi_direct *call = run->call;
    const bool tall = run->m > run->n;
    const struct echi_direct_product p = { .m = run->n,
                                           .n = call->count,
                                           .k = run->m,
                                           .a = call->a,
                                           .b = run->parts.residual,
                                           .c = run->parts.image,
                                           .a_stride = call->a_stride,
                                           .b_stride = call->count,
                                           .c_stride = call->count,
                                           .a_turned = true,
                                           .alpha = 1 };
    double ratio = 0;
    ech_status status;
    TRY(find_residual(run));
    if (tall) TRY(echi_direct_multiply(run, &p));
    if (!run->ctx) goto done;
    TRY(find_peaks(run, PEAKS_X, run->n, call->x, call->x_stride));
    TRY(find_peaks(run, PEAKS_R, tall ? run->n : run->m,
                   tall ? run->parts.image : run->parts.residual, call->count));
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a run with a context has norms */
    TRY(find_ratio(run, norms->row, true, &ratio));
    call->report->backward_error = isnan(ratio) ? HUGE_VAL : tall ? ratio / norms->column : ratio;
done:
    return status;
}

static ech_status solve_right(struct echi_direct_run *run, const struct norms *norms)
{
    const struct echi_direct *call = run->call;
    ech_status status;
    TRY(load_right(run));
    TRY(solve(run, run->parts.residual, call->count, call->count, false, false));
    TRY(move(run, ECHI_DIRECT_COPY, run->n, run->parts.residual, call->count, call->x,
             call->x_stride));
    TRY(refine(run));
    TRY(find_error(run, norms));
done:
    return status;
}

/* ---- The call ---- */

/* A row length that is not a power of two distributes rows over the cache sets. */
size_t echi_direct_stride(const struct echi_direct *call)
{
    return (call->n + 7) / 8 * 8 + 8;
}

static struct echi_direct_run run_of(const struct echi_direct *call)
{
    return (struct echi_direct_run){ .call = call,
                                     .m = call->m,
                                     .n = call->n,
                                     .stride = echi_direct_stride(call),
                                     .bytes = ech_dtype_bytes(call->dtype),
                                     .kind = call->kind,
                                     .lower = call->kind == ECH_FACTOR_CHOLESKY };
}

ech_status echi_direct_run(ech_ctx *ctx, const struct echi_direct *call,
                           const struct echi_direct_parts *parts)
{
    struct echi_direct_run run = run_of(call);
    struct norms norms = { 0, 0 };
    double largest;
    size_t bad;
    ech_direct_report *report = call->report;
    ech_status status;
    run.ctx = ctx;
    run.parts = *parts;
    TRY(inspect_matrix(&run, &norms));
    if (report->status != ECH_DIRECT_STATUS_SOLVED) goto done;
    if (call->call == ECH_DIRECT_CALL_SOLVE && call->count) {
        TRY(find_peaks(&run, PEAKS_B, run.m, call->b, call->b_stride));
        TRY(find_largest(&run, parts->peaks, call->count, &largest, &bad));
        if (bad < call->count) return stop(&run, ECH_DIRECT_STATUS_NOT_FINITE_B, bad);
    }
    TRY(factor(&run));
    if (report->status != ECH_DIRECT_STATUS_SOLVED) goto done;
    TRY(inspect_diagonal(&run));
    if (report->status != ECH_DIRECT_STATUS_SOLVED) goto done;
    if (call->call != ECH_DIRECT_CALL_DETERMINANT) TRY(estimate_condition(&run, norms.column));
    if (call->count) TRY(solve_right(&run, &norms));
done:
    return status;
}

/* Every product that a call may need. */
static ech_status walk(struct echi_direct_run *run)
{
    const struct echi_direct *call = run->call;
    ech_status status;
    TRY(echi_direct_factor(run));
    TRY(solve(run, NULL, 1, 1, false, true));
    TRY(solve(run, NULL, 1, 1, true, true));
    if (call->count) {
        TRY(solve(run, NULL, call->count, call->count, false, false));
        TRY(find_error(run, NULL));
    }
done:
    return status;
}

ech_status echi_direct_walk(const struct echi_direct *call, size_t *bytes)
{
    struct echi_direct_run run = run_of(call);
    ech_status status = ECH_OK;
    for (int kind = ECH_FACTOR_LU; kind <= ECH_FACTOR_QR; kind++) {
        const bool is_auto =
            call->kind == ECH_FACTOR_AUTO && (kind == ECH_FACTOR_QR) == (run.m > run.n);
        run.kind = (ech_factor)kind;
        if (is_auto || run.kind == call->kind) TRY(walk(&run));
    }
    *bytes = run.product_bytes;
done:
    return status;
}
