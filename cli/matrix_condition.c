/*
 * matrix_condition.c - estimates the condition number |A| |A^-1|.
 *
 *     small, or dense        in the 1-norm, from LU or Cholesky factors (Hager 1984, Higham 1988)
 *     symmetric, positive    in the 2-norm, from the extreme eigenvalues of the tridiagonal matrix
 *                            of the Lanczos process
 *     others                 the same for A^T A, whose eigenvalues are squares, so that condition
 *                            numbers above 1e7 are not found
 *
 * These eigenvalues lie within the spectrum of A, so their quotient is always a lower bound.  It is
 * reported as an estimate if it did not change over the last half of the steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "matrix_info.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum {
    SMALL = 2000,         /* rows; up to here A is always factored */
    LARGE = 6000,         /* rows; up to here A is factored if Lanczos fails: 864 MB, 72 GFLOP */
    STEPS = 20000,        /* maximum of Lanczos steps */
    ONE_THREAD = 1 << 21, /* entries; below, one thread is faster than starting several */
    FIRST = 16            /* steps before the first convergence test; intervals grow by half */
};
static const double most_work = 4e9; /* maximum of entries read, a few seconds */
static const double rest = 0.01;     /* relative change below which an eigenvalue has converged */
static const double noise = 1e-14;   /* of the maximum; smaller eigenvalues are rounding errors */

/* ---- Factored ---- */

static int find_factored(ech_ctx *ctx, const struct matrix_view *view, struct matrix_condition *c)
{
    const size_t n = view->rows;
    const ech_direct_options o = { .size = sizeof o };
    ech_direct_report report = { .size = sizeof report };
    double *own = NULL;
    if (!view->dense) {
        const int64_t *offsets = view->a.row_offsets, *columns = view->a.col_indices;
        const double *values = view->a.values;
        own = calloc(n * n, sizeof *own);
        if (!own)
            return cli_fail(EXIT_MEMORY, "out of memory: cannot allocate %zu x %zu numbers", n, n);
        for (size_t i = 0; i < n; i++)
            for (int64_t e = offsets[i]; e < offsets[i + 1]; e++)
                own[i * n + (size_t)columns[e]] = values[e];
    }
    const ech_status status = ech_solve_direct(ctx, n, n, own ? own : view->dense, n, 0, NULL, 0,
                                               NULL, 0, ECH_F64, &o, &report);
    free(own);
    if (status != ECH_OK) return cli_fail_ech(status, ctx);
    c->norm = 1;
    if (report.status == ECH_DIRECT_STATUS_SINGULAR) {
        c->kind = CONDITION_INFINITE;
        snprintf(c->how, sizeof c->how, "the pivot of column %llu is zero",
                 (unsigned long long)report.failed_index + 1);
    } else if (report.status != ECH_DIRECT_STATUS_SOLVED || !(report.rcond > 0)) {
        snprintf(c->how, sizeof c->how, "the factors overflow f64");
    } else {
        c->kind = CONDITION_ESTIMATE;
        c->value = 1 / report.rcond;
        snprintf(c->how, sizeof c->how, "estimated from %s factors",
                 report.kind == ECH_FACTOR_CHOLESKY ? "Cholesky" : "LU");
    }
    return EXIT_DONE;
}

/* ---- The Lanczos process ---- */

struct lanczos {
    ech_ctx *ctx;
    const struct matrix_view *view;
    bool squared; /* of A^T A */
    size_t steps, most;
    double *diagonal, *off_diagonal;   /* [most]; off_diagonal[i]: element (i, i + 1) */
    double *v, *before, *next, *image; /* [n] */
    double low, high;                  /* extreme eigenvalues of the tridiagonal matrix */
    bool resting;
};

static ech_status product(const struct lanczos *z, bool transpose, const double *x, double *y)
{
    const struct matrix_view *view = z->view;
    const ech_matvec_options options = { .size = sizeof options, .transpose = transpose };
    if (view->dense)
        return ech_matvec(z->ctx, view->rows, view->cols, 1, view->dense, view->cols, x, 0, y,
                          ECH_F64, &options);
    return ech_spmv(z->ctx, 1, transpose ? &view->t : &view->a, x, 0, y, NULL);
}

static double dot(const double *x, const double *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* The number of eigenvalues less than x, by a Sturm sequence. */
static size_t count_below(const struct lanczos *z, double x)
{
    size_t count = 0;
    double d = 1;
    for (size_t i = 0; i < z->steps; i++) {
        const double b = i ? z->off_diagonal[i - 1] : 0;
        d = z->diagonal[i] - x - b * b / d;
        if (d == 0) d = DBL_MIN;
        count += d < 0;
    }
    return count;
}

/* Eigenvalue number rank in ascending order, by bisection between low and high. */
static double eigenvalue(const struct lanczos *z, size_t rank, double low, double high)
{
    for (int i = 0; i < 100; i++) {
        const double middle = low / 2 + high / 2;
        if (count_below(z, middle) > rank)
            high = middle;
        else
            low = middle;
    }
    return low / 2 + high / 2;
}

static void check_ends(struct lanczos *z)
{
    const double low = z->low, high = z->high;
    double least = INFINITY, most = -INFINITY; /* Gershgorin */
    for (size_t i = 0; i < z->steps; i++) {
        const double reach =
            (i ? z->off_diagonal[i - 1] : 0) + (i + 1 < z->steps ? z->off_diagonal[i] : 0);
        least = fmin(least, z->diagonal[i] - reach);
        most = fmax(most, z->diagonal[i] + reach);
    }
    z->low = eigenvalue(z, 0, least, most);
    z->high = eigenvalue(z, z->steps - 1, least, most);
    z->resting = fabs(z->low - low) <= rest * fabs(z->low) && z->high - high <= rest * z->high;
}

/* One Lanczos step.  Returns false if the Krylov space is exhausted. */
static bool advance(struct lanczos *z, ech_status *status)
{
    const size_t n = z->view->rows, j = z->steps;
    *status = product(z, false, z->v, z->squared ? z->image : z->next);
    if (*status == ECH_OK && z->squared) *status = product(z, true, z->image, z->next);
    if (*status != ECH_OK) return false;
    const double alpha = dot(z->v, z->next, n), beta = j ? z->off_diagonal[j - 1] : 0;
    for (size_t i = 0; i < n; i++) z->next[i] -= alpha * z->v[i] + beta * z->before[i];
    const double norm = sqrt(dot(z->next, z->next, n));
    z->diagonal[j] = alpha;
    z->off_diagonal[j] = norm;
    z->steps = j + 1;
    if (!(norm > 10 * DBL_EPSILON * fabs(z->diagonal[0]))) return false;
    double *spare = z->before;
    z->before = z->v;
    z->v = z->next;
    z->next = spare;
    for (size_t i = 0; i < n; i++) z->v[i] /= norm;
    return true;
}

static void begin(struct lanczos *z)
{
    const size_t n = z->view->rows;
    uint64_t state = 1;
    for (size_t i = 0; i < n; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        z->v[i] = (double)(state >> 11) * 0x1p-53 - 0.5;
    }
    const double norm = sqrt(dot(z->v, z->v, n));
    for (size_t i = 0; i < n; i++) z->v[i] /= norm;
}

static int iterate(struct lanczos *z, struct cli_progress *progress)
{
    size_t look = FIRST, still = 0;
    bool more = true;
    char text[64];
    begin(z);
    z->high = z->low = 1; /* initial values */
    while (more && z->steps < z->most && still < 2 && fabs(z->low) >= noise * z->high) {
        ech_status status;
        more = advance(z, &status);
        if (status != ECH_OK) return cli_fail_ech(status, z->ctx);
        if (z->steps % 16 == 0) {
            snprintf(text, sizeof text, "estimating the condition number: step %zu", z->steps);
            cli_progress_say(progress, text);
        }
        if (z->steps < look && more && z->steps < z->most) continue;
        look += look / 2;
        check_ends(z);
        still = z->resting ? still + 1 : 0;
    }
    z->resting = still >= 2 || !more;
    return EXIT_DONE;
}

static int find_spectrum(ech_ctx *ctx, const struct matrix_view *view, bool squared, int threads,
                         struct cli_progress *progress, struct lanczos *z)
{
    const size_t n = view->rows;
    const double entries = view->dense ? (double)n * (double)n : (double)view->entries;
    const double most = most_work / ((squared ? 2 : 1) * entries + 10 * (double)n);
    *z = (struct lanczos){ .ctx = ctx,
                           .view = view,
                           .squared = squared,
                           .most = most > STEPS   ? STEPS
                                   : most < FIRST ? FIRST
                                                  : (size_t)most };
    double *memory = calloc(2 * z->most + 4 * n, sizeof *memory);
    if (!memory)
        return cli_fail(EXIT_MEMORY, "out of memory: cannot allocate vectors of %zu numbers", n);
    z->diagonal = memory;
    z->off_diagonal = z->diagonal + z->most;
    z->v = z->off_diagonal + z->most;
    z->before = z->v + n;
    z->next = z->before + n;
    z->image = z->next + n;
    if (entries < ONE_THREAD) ech_set_threads(ctx, 1);
    const int code = iterate(z, progress);
    ech_set_threads(ctx, threads);
    free(memory);
    return code;
}

/* Converts the extreme eigenvalues to a condition number. */
static void judge(const struct lanczos *z, struct matrix_condition *c)
{
    const double least = fmax(z->low, noise * z->high), ratio = z->high / least;
    const bool seen = z->low > noise * z->high;
    const char *of = z->squared ? "A'A" : "A";
    c->norm = 2;
    c->value = z->squared ? sqrt(ratio) : ratio;
    c->kind = z->resting && seen ? CONDITION_ESTIMATE : CONDITION_AT_LEAST;
    if (!isfinite(ratio)) {
        c->kind = CONDITION_UNKNOWN;
        snprintf(c->how, sizeof c->how, "eigenvalues overflow f64");
    } else if (c->kind == CONDITION_ESTIMATE) {
        snprintf(c->how, sizeof c->how, "estimated by %zu Lanczos steps on %s", z->steps, of);
    } else {
        snprintf(c->how, sizeof c->how, "by %zu Lanczos steps on %s, %s", z->steps, of,
                 seen ? "not converged" : "the limit of its accuracy");
    }
}

/* ---- Choice of the method ---- */

int matrix_find_condition(ech_ctx *ctx, const struct matrix_view *view,
                          const struct matrix_facts *f, int threads, struct cli_progress *progress,
                          struct matrix_condition *c)
{
    const size_t n = view->rows;
    const char *why = n != view->cols ? "not square"
                      : !n            ? "no rows"
                                      : "some entries are not finite";
    struct lanczos z;
    int code = EXIT_DONE;
    *c = (struct matrix_condition){ .kind = CONDITION_UNKNOWN };
    if (n != view->cols || !n || f->nans) {
        snprintf(c->how, sizeof c->how, "%s", why);
        return EXIT_DONE;
    }
    if (f->zero_row || f->zero_column) {
        c->kind = CONDITION_INFINITE;
        snprintf(c->how, sizeof c->how, "%s %llu is zero", f->zero_row ? "row" : "column",
                 (unsigned long long)(f->zero_row ? f->zero_row : f->zero_column));
        return EXIT_DONE;
    }
    cli_progress_stage(progress, "estimating the condition number");
    if (n <= SMALL || (view->dense && n <= LARGE)) return find_factored(ctx, view, c);
    if (f->asymmetry == 0 && f->positive == n) {
        code = find_spectrum(ctx, view, false, threads, progress, &z);
        const bool definite = z.low > -noise * z.high;
        if (code == EXIT_DONE && definite) judge(&z, c);
        if (code != EXIT_DONE || c->kind == CONDITION_ESTIMATE) return code;
    }
    if (n <= LARGE) return find_factored(ctx, view, c);
    if (c->kind == CONDITION_AT_LEAST) return code;
    code = find_spectrum(ctx, view, true, threads, progress, &z);
    if (code == EXIT_DONE) judge(&z, c);
    return code;
}
