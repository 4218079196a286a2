/*
 * solve/cpu/operation.c - steps of iterative solvers on the CPU: threads process items of full
 * chunks, whose dot products are added in adjacent pairs; then the scalars are updated.  Diagonal
 * blocks are inverted and applied by parts of rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/backend.h"
#include "solve/recur.h"
#include "cpu/cpu.h"

#include <math.h>
#include <string.h>

#define REAL    double
#define NAME(x) x##_f64
#include "solve/cpu/width.h"
#undef REAL
#undef NAME
#define REAL    float
#define NAME(x) x##_f32
#include "solve/cpu/width.h"

/* A sequence of values, added in adjacent pairs: digit i is the sum of 2^i of them. */
struct pairs {
    uint64_t count;
    double digits[64];
};

static void pairs_add(struct pairs *p, double value)
{
    int digit = 0;
    for (; p->count >> digit & 1; digit++) value = p->digits[digit] + value;
    p->digits[digit] = value;
    p->count++;
}

static double pairs_sum(const struct pairs *p)
{
    double sum = -0.0;
    bool any = false;
    for (int digit = 0; p->count >> digit; digit++) {
        if (!(p->count >> digit & 1)) continue;
        sum = any ? p->digits[digit] + sum : p->digits[digit];
        any = true;
    }
    return sum;
}

struct job {
    const struct echi_solve_step *step;
    size_t chunk, each; /* elements; chunks per item */
    _Atomic uint64_t bad;
};

static void found_bad(struct job *job, uint64_t row)
{
    uint64_t before = atomic_load(&job->bad);
    while (row < before && !atomic_compare_exchange_weak(&job->bad, &before, row)) {
    }
}

static void run_item(void *arg, size_t item, int thread)
{
    struct job *job = arg;
    const struct echi_solve_step *step = job->step;
    struct pairs pairs[ECHI_SOLVE_VECTORS];
    const int n_dots = step->dots;
    (void)thread;
    for (int k = 0; k < n_dots; k++) pairs[k].count = 0;
    for (size_t c = 0; c < job->each; c++) {
        const size_t from = (item * job->each + c) * job->chunk;
        if (from >= step->n) break;
        const size_t n = echi_min(job->chunk, step->n - from);
        double dots[ECHI_SOLVE_VECTORS];
        if (step->what <= ECHI_SOLVE_PROJECT) {
            const bool update = step->what == ECHI_SOLVE_UPDATE;
            if (step->bytes == 8)
                (update ? chunk_f64 : project_f64)(step, from, n, dots);
            else
                (update ? chunk_f32 : project_f32)(step, from, n, dots);
            for (int k = 0; k < n_dots; k++) pairs_add(&pairs[k], dots[k]);
            continue;
        }
        const size_t bad =
            step->bytes == 8 ? elements_f64(step, from, n) : elements_f32(step, from, n);
        found_bad(job, bad);
    }
    for (int k = 0; k < n_dots; k++)
        step->partials[item * (size_t)n_dots + (size_t)k] = pairs_sum(&pairs[k]);
}

/* One thread processes the rows in order; several threads, level by level. */
struct level {
    const struct echi_solve_step *step;
    uint64_t begin, end, each;
};

static void run_part(void *arg, size_t part, int thread)
{
    const struct level *level = arg;
    const uint64_t begin = level->begin + part * level->each, end = begin + level->each;
    const uint64_t until = end < level->end ? end : level->end;
    (void)thread;
    if (level->step->bytes == 8)
        rows_f64(level->step, level->step->order, begin, until);
    else
        rows_f32(level->step, level->step->order, begin, until);
}

static void sweep(ech_ctx *ctx, const struct echi_solve_step *step)
{
    enum { ROWS = 512 }; /* minimum per thread */
    const int threads = echi_parallel_for_bytes(ctx, step->n * (size_t)step->bytes * 16);
    if (threads == 1 || step->n / step->level_count < 2 * ROWS) {
        if (step->bytes == 8)
            rows_f64(step, NULL, 0, step->n);
        else
            rows_f32(step, NULL, 0, step->n);
        return;
    }
    for (uint64_t l = 0; l < step->level_count; l++) {
        struct level level = { step, step->levels[l], step->levels[l + 1], ROWS };
        const uint64_t rows = level.end - level.begin;
        echi_parallel(rows < 2 * ROWS ? 1 : threads, (rows + ROWS - 1) / ROWS, run_part, &level);
    }
}

/* ---- Diagonal blocks ---- */

static void exchange(double *x, double *y)
{
    const double z = *x;
    *x = *y;
    *y = z;
}

/* Inverts in place; returns the first row without a pivot, or size.  The same algorithm as in
 * solve/cuda/blocks.cuh. */
static uint64_t invert(double (*a)[ECHI_SOLVE_BLOCK], uint64_t size)
{
    uint64_t pivots[ECHI_SOLVE_BLOCK];
    for (uint64_t k = 0; k < size; k++) {
        uint64_t p = k;
        for (uint64_t i = k + 1; i < size; i++)
            if (fabs(a[i][k]) > fabs(a[p][k])) p = i;
        if (a[p][k] == 0) return k;
        pivots[k] = p;
        for (uint64_t j = 0; p != k && j < size; j++) exchange(&a[k][j], &a[p][j]);
        const double inverse = 1 / a[k][k];
        for (uint64_t j = 0; j < size; j++) a[k][j] = j == k ? inverse : a[k][j] * inverse;
        for (uint64_t i = 0; i < size; i++) {
            if (i == k) continue;
            const double ratio = a[i][k];
            for (uint64_t j = 0; j < size; j++)
                a[i][j] = j == k ? -ratio * inverse : a[i][j] - ratio * a[k][j];
        }
    }
    for (uint64_t k = size; k-- > 0;)
        for (uint64_t i = 0; pivots[k] != k && i < size; i++) exchange(&a[i][k], &a[i][pivots[k]]);
    return size;
}

enum { PART_ROWS = 1024 }; /* approximate number per thread at a time: full blocks */

static uint64_t part_rows(const struct echi_solve_step *step)
{
    return PART_ROWS / (uint64_t)step->block * (uint64_t)step->block;
}

static void run_squares(void *arg, size_t part, int thread)
{
    struct job *job = arg;
    const struct echi_solve_step *step = job->step;
    const uint64_t rows = part_rows(step), begin = part * rows, block = (uint64_t)step->block;
    const uint64_t end = begin + echi_min(rows, step->n - begin);
    (void)thread;
    if (step->what == ECHI_SOLVE_BLOCKED) {
        if (step->bytes == 8)
            times_squares_f64(step, begin, end);
        else
            times_squares_f32(step, begin, end);
        return;
    }
    for (uint64_t start = begin; start < end; start += block) {
        const uint64_t size = echi_min(block, end - start);
        double square[ECHI_SOLVE_BLOCK][ECHI_SOLVE_BLOCK];
        (step->bytes == 8 ? take_square_f64 : take_square_f32)(step, start, size, square);
        const uint64_t k = invert(square, size);
        if (k < size) {
            found_bad(job, start + k);
            continue;
        }
        (step->bytes == 8 ? put_square_f64 : put_square_f32)(step, start, size, square);
    }
}

static void run_rows(ech_ctx *ctx, struct job *job)
{
    const struct echi_solve_step *step = job->step;
    const uint64_t rows = part_rows(step);
    const size_t bytes = step->n * (size_t)step->bytes * (size_t)step->block;
    echi_parallel(echi_parallel_for_bytes(ctx, bytes), (step->n + rows - 1) / rows, run_squares,
                  job);
}

static ech_status run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    (void)plan;
    const struct echi_solve_step *step = request;
    const size_t chunks = echi_solve_chunks(step->n, step->bytes);
    const size_t each = echi_solve_item_chunks(chunks), items = (chunks + each - 1) / each;
    struct job job = { .step = step,
                       .chunk =
                           (size_t)ECHI_SOLVE_LINE_BYTES * ECHI_SOLVE_LINES / (size_t)step->bytes,
                       .each = each,
                       .bad = UINT64_MAX };
    (void)work;
    if (step->guarded && step->scalars[ECHI_S_STOP] != 0) return ECH_OK;
    if (step->what == ECHI_SOLVE_SWEEP) {
        sweep(ctx, step);
        return ECH_OK;
    }
    if (step->what == ECHI_SOLVE_BLOCKS || step->what == ECHI_SOLVE_BLOCKED)
        run_rows(ctx, &job);
    else
        echi_parallel(echi_parallel_for_bytes(ctx, step->n * (size_t)step->bytes * 3), items,
                      run_item, &job);
    const int first = step->projection.meetings ? step->projection.meets_to : ECHI_S_DOT;
    for (int k = 0; k < step->dots; k++) {
        struct pairs pairs = { 0 };
        for (size_t i = 0; i < items; i++)
            pairs_add(&pairs, step->partials[i * (size_t)step->dots + (size_t)k]);
        step->scalars[first + k] = pairs_sum(&pairs) + 0.0;
    }
    if (job.bad != UINT64_MAX) {
        const uint64_t where = ~job.bad;
        memcpy(&step->scalars[ECHI_S_WHERE], &where, sizeof where);
    }
    solve_recur(step->after, step->scalars, step->column, step->restart);
    return ECH_OK;
}

static ech_status workspace(const void *request, void *plan, size_t *bytes)
{
    (void)plan;
    (void)request;
    *bytes = 0;
    return ECH_OK;
}

const struct echi_operation echi_cpu_solve = { .plan = workspace, .run = run };
