/*
 * iterate.c - the ladder of iterations: A x = f by x1 = x0 + alpha (A x0 - f), beginning with x =
 * 0.
 *
 * A is the matrix of an implicit step of the heat equation on a grid of about sqrt(n) x sqrt(n)
 * points: 5 on the diagonal, -1 for each of at most 4 neighbours.  Its eigenvalues are between 1
 * and 9; with alpha = -2 / (1 + 9) a step reduces the maximum error at least by the factor 0.8.
 * The input contains A as a dense matrix, f, and A as compressed sparse rows:
 *
 *     A [n][n]   f [n]   values [entries]   offsets [n + 1] i32   columns [entries] i32
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/trial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 256, STEPS = 32, MOST_STEPS = 96, LOOK = 8, DIAGONAL = 5 };
static const double alpha = -0.2, contraction = 0.8;

/* The bound of an initial error of 1 after STEPS steps, and the residual at which variant 4 and
 * production stop.  A is diagonally dominant, so no error exceeds the residual. */
static double limit(void)
{
    return pow(contraction, STEPS);
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

/* The initial error shrinks; a step adds a dozen rounding errors of numbers below 10, which also
 * shrink. */
static bool accept(const struct trial *trial, char *message, size_t bytes)
{
    double most = limit() + 128 * (trial->type == ECH_F32 ? 0x1p-24 : 0x1p-53);
    for (uint64_t i = 0; i < trial->n; i++) {
        double got = ladder_number(trial->type, trial->host_out, i);
        if (fabs(got - solution(trial, i)) <= most) continue;
        snprintf(message, bytes, "x[%llu] is %.9g, not %.9g within %.3g", (unsigned long long)i,
                 got, solution(trial, i), most);
        return false;
    }
    return true;
}

/* The bytes of the products: per step, each stored entry once, with its column index if stored. */
static double bytes_moved(const struct trial *trial)
{
    double n = (double)trial->n, element = (double)trial->element_bytes;
    double matrix = trial->rung->number <= 2 ? n * n * element
                                             : (double)entries_of(trial->n) * (element + 4) + 4 * n;
    return STEPS * (matrix + 3 * n * element);
}

/* ---- Rungs ---- */

/* alpha as a kernel argument of the element type. */
static void *step_of(const struct trial *trial)
{
    static double of_f64;
    static float of_f32;
    of_f64 = alpha;
    of_f32 = (float)alpha;
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
    ladder_zero(trial, x0, trial->out_bytes);
    for (int step = 1; step <= (stops ? MOST_STEPS : STEPS) && !trial->failed; step++) {
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
            if (sqrt(sum) <= limit()) break;
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
}

static const struct rung rungs[] = {
    { .number = 1, .idea = "thread", .text = "dense, one thread per row", .run = run_dense },
    { .number = 2, .idea = "warp", .text = "dense, one warp per row", .run = run_dense },
    { .number = 3, .idea = "sparse", .text = "sparse rows", .run = run_sparse },
    { .number = 4, .idea = "residual", .text = "sparse, until convergence", .run = run_sparse },
    { .number = 5, .idea = "production", .text = "production, ech_solve()", .run = run_production },
};

/* ---- Claims: n is a multiple of 32 ---- */

static uint64_t sectors(const struct results *results, int number)
{
    return ladder_row(results, number, 0, 0)->counts.load_sectors;
}

/* f32: one element of 32 rows each is 32 sectors, and one of x0; of 32 columns 4 and 4. */
static bool one_sector_a_lane(const struct results *results, char *because, size_t bytes)
{
    uint64_t n = ladder_row(results, 1, 0, 0)->n;
    snprintf(because, bytes, "%llu sectors per step against %llu",
             (unsigned long long)(sectors(results, 1) / STEPS),
             (unsigned long long)(sectors(results, 2) / STEPS));
    return sectors(results, 1) == STEPS * (n / 32) * (n * (32 + 1) + 4 + 4) &&
           sectors(results, 2) == STEPS * n * (n / 32 * (4 + 4) + 1 + 1);
}

static bool zeros_cost(const struct results *results, char *because, size_t bytes)
{
    snprintf(because, bytes, "n = %llu: %llu sectors per step against %llu",
             (unsigned long long)ladder_row(results, 3, 0, 0)->n,
             (unsigned long long)(sectors(results, 3) / STEPS),
             (unsigned long long)(sectors(results, 2) / STEPS));
    return 4 * sectors(results, 3) < sectors(results, 2);
}

static bool stops_itself(const struct results *results, char *because, size_t bytes)
{
    uint64_t steps = ladder_row(results, 4, 0, 0)->launches;
    snprintf(because, bytes, "it stops after %llu steps", (unsigned long long)steps);
    return steps < MOST_STEPS;
}

static double ms_of(const struct results *results, int number)
{
    return ladder_row(results, number, 0, 0)->ms;
}

static bool warp_faster(const struct results *results, char *because, size_t bytes)
{
    snprintf(because, bytes, "%.4g ms against %.4g ms", ms_of(results, 2), ms_of(results, 1));
    return ms_of(results, 2) < ms_of(results, 1);
}

static bool sparse_faster(const struct results *results, char *because, size_t bytes)
{
    snprintf(because, bytes, "n = %llu: %.4g ms against %.4g ms",
             (unsigned long long)ladder_row(results, 3, 0, 0)->n, ms_of(results, 3),
             ms_of(results, 2));
    return 10 * ms_of(results, 3) < ms_of(results, 2);
}

static const struct claim claims[] = {
    { .text = "One thread per row touches 32 sectors per load of A, one warp per row touches 4",
      .holds = one_sector_a_lane },
    { .text = "Sparse rows need less than a quarter of the sectors", .holds = zeros_cost },
    { .text = "Variant 4 stops by itself", .holds = stops_itself },
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
