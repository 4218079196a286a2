/*
 * iterate.c - the ladder of iterations: A x = f by x1 = x0 + alpha (A x0 - f), beginning with x =
 * 0.
 *
 * A is the matrix of an implicit step of the heat equation on a grid of about sqrt(n) x sqrt(n)
 * points, whose rows are joined end to end: 5 on the diagonal, -1 for each of at most 4
 * neighbours.  Its eigenvalues are between 1 and 9, and a step multiplies the maximum error by at
 * most |1 + 5 alpha| + 4 |alpha|: 0.9 with alpha = -0.1, 0.8 with -0.2, and 1.25 with -0.25.  The
 * iteration with alpha = -0.25 diverges on large grids.  The parameter of a rung is -100 alpha.
 * The input contains A as a dense matrix, f, and A as compressed sparse rows:
 *
 *     A [n][n]   f [n]   values [entries]   offsets [n + 1] i32   columns [entries] i32
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 256, STEPS = 32, MOST_STEPS = 96, LOOK = 8, DIAGONAL = 5 };
enum { SMALL_STEP = 10, BEST_STEP = 20, LARGE_STEP = 25 }; /* -100 alpha */
enum { DIVERGED = 1000 /* added to trial->noted, the number of steps */ };

/* The residual at which rung 4 and production stop: the bound of an initial error of 1 after STEPS
 * steps with alpha = -0.2.  A is diagonally dominant, so no error exceeds the residual. */
static double limit(void)
{
    return pow(0.8, STEPS);
}

/* alpha, rounded to the element type. */
static double alpha_of(const struct trial *trial)
{
    double alpha = -(double)trial->rung->parameter / 100;
    return trial->type == ECH_F32 ? (double)(float)alpha : alpha;
}

/* ---- The system ---- */

struct parts {
    size_t f, values, offsets, columns; /* offsets in the input, in bytes */
};

static uint64_t width_of_grid(uint64_t n)
{
    uint64_t width = (uint64_t)sqrt((double)n);
    return width < 2 ? 2 : width;
}

static uint64_t entries_of(uint64_t n)
{
    uint64_t width = width_of_grid(n);
    return n + (n > 1 ? 2 * (n - 1) : 0) + (n > width ? 2 * (n - width) : 0);
}

static struct parts parts_of(const struct trial *trial)
{
    struct parts parts;
    parts.f = trial->n * trial->n * trial->element_bytes;
    parts.values = parts.f + trial->n * trial->element_bytes;
    parts.offsets = parts.values + entries_of(trial->n) * trial->element_bytes;
    parts.columns = parts.offsets + (trial->n + 1) * sizeof(int32_t);
    return parts;
}

static void shape(struct trial *trial)
{
    trial->rows = trial->cols = trial->n;
    trial->in_bytes = parts_of(trial).columns + entries_of(trial->n) * sizeof(int32_t);
    trial->out_bytes = trial->n * trial->element_bytes;
    trial->scratch_bytes = 2 * trial->out_bytes + sizeof(double); /* x0, x1, a sum of squares */
}

/* Multiples of 2^-10, so f is exact. */
static double solution(const struct trial *trial, uint64_t i)
{
    return (double)(ladder_random(trial->seed, i) % 2048) / 1024 - 1;
}

static void put(const struct trial *trial, void *array, uint64_t i, double x)
{
    if (trial->type == ECH_F64)
        ((double *)array)[i] = x;
    else
        ((float *)array)[i] = (float)x;
}

static void make(struct trial *trial)
{
    struct parts parts = parts_of(trial);
    char *in = trial->host_in;
    int32_t *offsets = (int32_t *)(in + parts.offsets), *columns = (int32_t *)(in + parts.columns);
    uint64_t n = trial->n, width = width_of_grid(n), entry = 0;
    memset(in, 0, parts.f);
    offsets[0] = 0;
    for (uint64_t row = 0; row < n; row++) {
        /* negative columns wrap around to large numbers */
        uint64_t in_order[] = { row - width, row - 1, row, row + 1, row + width };
        double f = 0;
        for (int i = 0; i < 5; i++) {
            if (in_order[i] >= n) continue;
            double x = in_order[i] == row ? DIAGONAL : -1;
            put(trial, in, row * n + in_order[i], x);
            put(trial, in + parts.values, entry, x);
            columns[entry++] = (int32_t)in_order[i];
            f += x * solution(trial, in_order[i]);
        }
        put(trial, in + parts.f, row, f);
        offsets[row + 1] = (int32_t)entry;
    }
}

static void expect(struct trial *trial)
{
    for (uint64_t i = 0; i < trial->n; i++) put(trial, trial->expected, i, solution(trial, i));
}

/* ---- The check ---- */

struct reference {
    double *x, *next;    /* the iterate, in double precision */
    double rounding;     /* the maximum difference of the rung's iterate */
    double residual;     /* the norm of A x - f, before the last step */
    double largest, sum; /* |x| and |f| at most */
};

/* One step, from the sparse rows.  The step multiplies earlier rounding errors like any error, and
 * adds those of a dozen operations. */
static void refer_step(const struct trial *trial, struct reference *r)
{
    struct parts parts = parts_of(trial);
    const char *in = trial->host_in;
    const int32_t *offsets = (const int32_t *)(in + parts.offsets);
    const int32_t *columns = (const int32_t *)(in + parts.columns);
    double alpha = alpha_of(trial), unit = trial->type == ECH_F32 ? 0x1p-24 : 0x1p-53;
    double squares = 0, largest = 0;
    for (uint64_t row = 0; row < trial->n; row++) {
        double residual = -ladder_number(trial->type, in + parts.f, row);
        for (int32_t e = offsets[row]; e < offsets[row + 1]; e++)
            residual +=
                ladder_number(trial->type, in + parts.values, (uint64_t)e) * r->x[columns[e]];
        squares += residual * residual;
        r->next[row] = r->x[row] + alpha * residual;
        if (fabs(r->next[row]) > largest) largest = fabs(r->next[row]);
    }
    double growth = fabs(1 + DIAGONAL * alpha) + 4 * fabs(alpha);
    r->rounding = growth * r->rounding +
                  16 * unit * (fabs(alpha) * (9 * r->largest + r->sum) + r->largest + largest);
    r->residual = sqrt(squares);
    r->largest = largest;
    double *x = r->x;
    r->x = r->next;
    r->next = x;
}

/* Whether rung 4 was right to stop after these steps, with the previous tested residual. */
static bool stops_rightly(const struct trial *trial, const struct reference *r, double tested)
{
    double error = 16 * r->rounding * sqrt((double)trial->n); /* of a residual */
    if (trial->noted >= DIVERGED) return r->residual > tested - error;
    return r->residual <= limit() + error || trial->noted == MOST_STEPS;
}

static bool compare(const struct trial *trial, struct reference *r, char *message, size_t bytes)
{
    uint64_t steps = trial->noted % DIVERGED;
    double tested = INFINITY;
    for (uint64_t i = 0; i < trial->n; i++)
        r->sum =
            fmax(r->sum,
                 fabs(ladder_number(trial->type, (char *)trial->host_in + parts_of(trial).f, i)));
    for (uint64_t step = 1; step <= steps; step++) {
        refer_step(trial, r);
        if (step % LOOK == 0 && step < steps) tested = r->residual;
    }
    for (uint64_t i = 0; i < trial->n; i++) {
        double got = ladder_number(trial->type, trial->host_out, i);
        if (fabs(got - r->x[i]) <= r->rounding) continue;
        snprintf(message, bytes, "after %llu steps x[%llu] is %.9g, not %.9g within %.3g",
                 (unsigned long long)steps, (unsigned long long)i, got, r->x[i], r->rounding);
        return false;
    }
    if (trial->rung->number != 4 || trial->n == 0 || stops_rightly(trial, r, tested)) return true;
    snprintf(message, bytes, "it stops after %llu steps with a residual of %.3g",
             (unsigned long long)steps, r->residual);
    return false;
}

static bool near_solution(const struct trial *trial, double most, char *message, size_t bytes)
{
    for (uint64_t i = 0; i < trial->n; i++) {
        double got = ladder_number(trial->type, trial->host_out, i);
        if (fabs(got - solution(trial, i)) <= most) continue;
        snprintf(message, bytes, "x[%llu] is %.9g, not %.9g within %.3g", (unsigned long long)i,
                 got, solution(trial, i), most);
        return false;
    }
    return true;
}

/* Rungs are compared with the same iteration in double precision.  With alpha = -0.2, and for
 * production, the result must also be near the solution. */
static bool accept(const struct trial *trial, char *message, size_t bytes)
{
    double most = limit() + 128 * (trial->type == ECH_F32 ? 0x1p-24 : 0x1p-53);
    if (trial->rung->number < 5) {
        double *x = calloc(2 * (size_t)trial->n + 1, sizeof *x);
        struct reference r = { .x = x, .next = x + trial->n };
        bool right = x && compare(trial, &r, message, bytes);
        if (!x) snprintf(message, bytes, "out of memory for the check");
        free(x);
        if (!right || trial->rung->parameter != BEST_STEP) return right;
    }
    return near_solution(trial, most, message, bytes);
}

/* The bytes of the products: per step, each stored entry once, with its column index if stored. */
static double bytes_moved(const struct trial *trial)
{
    double n = (double)trial->n, element = (double)trial->element_bytes;
    double matrix = trial->rung->number <= 2 ? n * n * element
                                             : (double)entries_of(trial->n) * (element + 4) + 4 * n;
    return (double)(trial->noted % DIVERGED) * (matrix + 3 * n * element);
}

/* ---- Rungs ---- */

/* alpha as a kernel argument of the element type. */
static void *step_of(const struct trial *trial)
{
    static double of_f64;
    static float of_f32;
    of_f64 = alpha_of(trial);
    of_f32 = (float)of_f64;
    return trial->type == ECH_F64 ? (void *)&of_f64 : (void *)&of_f32;
}

/* x0 is 0; STEPS steps alternate between two vectors. */
static void run_dense(struct trial *trial)
{
    CUdeviceptr x0 = trial->scratch, x1 = trial->scratch + trial->out_bytes;
    CUdeviceptr f = trial->in + parts_of(trial).f;
    bool warps = trial->rung->number == 2;
    uint64_t threads = trial->n * (warps ? 32 : 1);
    ladder_zero(trial, x0, trial->out_bytes);
    for (int step = 0; step < STEPS; step++) {
        LAUNCH(trial, warps ? "iterate_2" : "iterate_1", ladder_ceil(threads, THREADS), THREADS, 0,
               &trial->in, &f, &trial->n, step_of(trial), &x0, &x1);
        CUdeviceptr next = x1;
        x1 = x0;
        x0 = next;
    }
    trial->noted = STEPS;
    ladder_copy(trial, trial->out, x0, trial->out_bytes);
}

static void run_sparse(struct trial *trial)
{
    struct parts parts = parts_of(trial);
    CUdeviceptr x0 = trial->scratch, x1 = trial->scratch + trial->out_bytes;
    CUdeviceptr squares = x1 + trial->out_bytes; /* the squared residual norm */
    CUdeviceptr offsets = trial->in + parts.offsets, columns = trial->in + parts.columns;
    CUdeviceptr values = trial->in + parts.values, f = trial->in + parts.f;
    uint64_t blocks = ladder_ceil(trial->n, THREADS);
    bool stops = trial->rung->number == 4;
    double before = INFINITY; /* the squared residual norm of the previous test */
    ladder_zero(trial, x0, trial->out_bytes);
    trial->noted = stops ? MOST_STEPS : STEPS;
    for (uint64_t step = 1; step <= trial->noted && !trial->failed; step++) {
        if (step == 1 || step % LOOK == 0) ladder_zero(trial, squares, sizeof(double));
        if (stops)
            LAUNCH(trial, "iterate_4", blocks, THREADS, 0, &offsets, &columns, &values, &f,
                   &trial->n, step_of(trial), &x0, &x1, &squares);
        else
            LAUNCH(trial, "iterate_3", blocks, THREADS, 0, &offsets, &columns, &values, &f,
                   &trial->n, step_of(trial), &x0, &x1);
        CUdeviceptr next = x1;
        x1 = x0;
        x0 = next;
        if (stops && step % LOOK == 0) {
            double sum = 0;
            ladder_download(trial, &sum, squares, sizeof sum);
            if (sqrt(sum) <= limit()) trial->noted = step;
            if (sum > before) { /* A is symmetric, so the residual will grow from here on */
                trial->noted = DIVERGED + step;
                break;
            }
            before = sum;
        }
    }
    ladder_copy(trial, trial->out, x0, trial->out_bytes);
}

static void run_production(struct trial *trial)
{
    struct parts parts = parts_of(trial);
    size_t n = (size_t)trial->n;
    ech_csr csr = { .size = sizeof(ech_csr),
                    .rows = n,
                    .cols = n,
                    .nnz = (size_t)entries_of(trial->n),
                    .row_offsets = ladder_pointer(trial->in + parts.offsets),
                    .col_indices = ladder_pointer(trial->in + parts.columns),
                    .values = ladder_pointer(trial->in + parts.values),
                    .index_dtype = ECH_I32,
                    .dtype = trial->type };
    ech_operator a = { .size = sizeof a, .n = n, .dtype = trial->type, .csr = &csr };
    ech_solve_options options = { .size = sizeof options,
                                  .method = ECH_METHOD_RICHARDSON,
                                  .rtol = 1e-30,
                                  .atol = limit(),
                                  .lower = 1,
                                  .upper = 9 };
    ech_solve_report report = { .size = sizeof report };
    ladder_try(trial, ech_solve(trial->device->ctx, &a, 1, ladder_pointer(trial->in + parts.f), n,
                                ladder_pointer(trial->out), n, &options, &report));
    if (n && report.status <= 0) ladder_fail(trial, "ech_solve() gives up (%d)", report.status);
    trial->noted = report.iterations;
}

#define RUNG(of, name, words, step, function)                                                      \
    {                                                                                              \
        .number = of, .idea = name, .text = words, .parameter = step, .run = function              \
    }

static const struct rung rungs[] = {
    RUNG(1, "thread", "dense, one thread per row", BEST_STEP, run_dense),
    RUNG(2, "warp", "dense, one warp per row", BEST_STEP, run_dense),
    RUNG(3, "sparse", "sparse rows, alpha = -0.1", SMALL_STEP, run_sparse),
    RUNG(3, "sparse", "sparse rows, alpha = -0.2", BEST_STEP, run_sparse),
    RUNG(3, "sparse", "sparse rows, alpha = -0.25", LARGE_STEP, run_sparse),
    RUNG(4, "residual", "until convergence, alpha = -0.1", SMALL_STEP, run_sparse),
    RUNG(4, "residual", "until convergence, alpha = -0.2", BEST_STEP, run_sparse),
    RUNG(4, "residual", "until divergence, alpha = -0.25", LARGE_STEP, run_sparse),
    RUNG(5, "production", "production, ech_solve()", 0, run_production),
};

/* ---- Claims: n is a multiple of 32 ---- */

/* The row of a rung with alpha = -0.2. */
static const struct result *row_of(const struct results *results, int number)
{
    return ladder_row(results, number, number == 5 ? 0 : BEST_STEP, 0);
}

static uint64_t sectors(const struct results *results, int number)
{
    return row_of(results, number)->counts.load_sectors;
}

/* f32: one element of 32 rows each is 32 sectors, and one of x0; of 32 columns 4 and 4. */
static bool one_sector_a_lane(const struct results *results, char *because, size_t bytes)
{
    uint64_t n = row_of(results, 1)->n;
    snprintf(because, bytes, "%llu sectors per step against %llu",
             (unsigned long long)(sectors(results, 1) / STEPS),
             (unsigned long long)(sectors(results, 2) / STEPS));
    return sectors(results, 1) == STEPS * (n / 32) * (n * (32 + 1) + 4 + 4) &&
           sectors(results, 2) == STEPS * n * (n / 32 * (4 + 4) + 1 + 1);
}

static bool zeros_cost(const struct results *results, char *because, size_t bytes)
{
    snprintf(because, bytes, "n = %llu: %llu sectors per step against %llu",
             (unsigned long long)row_of(results, 3)->n,
             (unsigned long long)(sectors(results, 3) / STEPS),
             (unsigned long long)(sectors(results, 2) / STEPS));
    return 4 * sectors(results, 3) < sectors(results, 2);
}

static bool stops_itself(const struct results *results, char *because, size_t bytes)
{
    uint64_t small = ladder_row(results, 4, SMALL_STEP, 0)->noted;
    uint64_t best = ladder_row(results, 4, BEST_STEP, 0)->noted;
    snprintf(because, bytes, "alpha = -0.1: %llu steps; alpha = -0.2: %llu",
             (unsigned long long)small, (unsigned long long)best);
    return best < MOST_STEPS && 2 * small > 3 * best && small < MOST_STEPS;
}

static bool diverges(const struct results *results, char *because, size_t bytes)
{
    uint64_t steps = ladder_row(results, 4, LARGE_STEP, 0)->noted;
    snprintf(because, bytes, "n = %llu: the residual has grown after %llu steps",
             (unsigned long long)row_of(results, 4)->n, (unsigned long long)steps % DIVERGED);
    return steps > DIVERGED;
}

static bool one_product(const struct results *results, char *because, size_t bytes)
{
    uint64_t n = row_of(results, 1)->n, warps = n / 32;
    uint64_t dense = row_of(results, 1)->counts.load_requests / STEPS / warps;
    snprintf(because, bytes, "n = %llu: %llu loads per warp and step", (unsigned long long)n,
             (unsigned long long)dense);
    return dense == 2 * n + 2;
}

static double ms_of(const struct results *results, int number)
{
    return row_of(results, number)->ms;
}

static bool warp_faster(const struct results *results, char *because, size_t bytes)
{
    snprintf(because, bytes, "%.4g ms against %.4g ms", ms_of(results, 2), ms_of(results, 1));
    return ms_of(results, 2) < ms_of(results, 1);
}

static bool sparse_faster(const struct results *results, char *because, size_t bytes)
{
    snprintf(because, bytes, "n = %llu: %.4g ms against %.4g ms",
             (unsigned long long)row_of(results, 3)->n, ms_of(results, 3), ms_of(results, 2));
    return 10 * ms_of(results, 3) < ms_of(results, 2);
}

static const struct claim claims[] = {
    { .text = "One thread per row touches 32 sectors per load of A, one warp per row touches 4",
      .holds = one_sector_a_lane },
    { .text = "Sparse rows need less than a quarter of the sectors", .holds = zeros_cost },
    { .text = "A thread of rung 1 takes O(n) steps: n loads of A and n of x per iteration",
      .holds = one_product },
    { .text =
          "Rung 4 stops by itself; with alpha = -0.1 it takes more than 1.5 times as many steps",
      .holds = stops_itself },
    { .text = "With alpha = -0.25 the iteration diverges on a large grid", .holds = diverges },
    { .text = "One warp per row is faster than one thread per row",
      .of_gpu = true,
      .holds = warp_faster },
    { .text = "Sparse rows are more than ten times as fast",
      .of_gpu = true,
      .holds = sparse_faster },
};

static const uint64_t checked[] = { 0, 1, 2, 3, 5, 31, 33, 64, 100, LADDER_END };
static const uint64_t counted[] = { 128, LADDER_END };
static const uint64_t timed[] = { 8192, LADDER_END };

const struct ladder iterate_ladder = { .name = "iterate",
                                       .summary = "a linear system, by an iterative method",
                                       .types = "f32 f64",
                                       .unit = "unknowns",
                                       .ceiling = CEILING_MEMORY,
                                       .rungs = rungs,
                                       .rung_count = sizeof rungs / sizeof *rungs,
                                       .claims = claims,
                                       .claim_count = sizeof claims / sizeof *claims,
                                       .checked = checked,
                                       .counted = counted,
                                       .timed = timed,
                                       .shape = shape,
                                       .make = make,
                                       .expect = expect,
                                       .accept = accept,
                                       .bytes = bytes_moved };
