/*
 * cpu/solve.c - steps of iterative solvers on the CPU: items of whole chunks are for threads, their
 * dot products are added in adjacent pairs, and the scalars follow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../backend.h"
#include "../solve_recur.h"
#include "cpu.h"

#include <string.h>

#define REAL    double
#define NAME(x) x##_f64
#include "solve_width.h"
#undef REAL
#undef NAME
#define REAL    float
#define NAME(x) x##_f32
#include "solve_width.h"

/* Values that come one after the other, added in adjacent pairs: digit i is of 2^i of them. */
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
    size_t chunk, each; /* elements, chunks of an item */
    _Atomic uint64_t bad;
};

static void run_item(void *arg, size_t item, int thread)
{
    struct job *job = arg;
    const struct echi_solve_step *step = job->step;
    struct pairs pairs[ECHI_SOLVE_DOTS];
    (void)thread;
    for (int k = 0; k < step->dots; k++) pairs[k].count = 0;
    for (size_t c = 0; c < job->each; c++) {
        const size_t from = (item * job->each + c) * job->chunk;
        if (from >= step->n) break;
        const size_t n = echi_min(job->chunk, step->n - from);
        double dots[ECHI_SOLVE_DOTS];
        if (step->what == ECHI_SOLVE_UPDATE) {
            if (step->bytes == 8)
                chunk_f64(step, from, n, dots);
            else
                chunk_f32(step, from, n, dots);
            for (int k = 0; k < step->dots; k++) pairs_add(&pairs[k], dots[k]);
            continue;
        }
        const size_t bad =
            step->bytes == 8 ? elements_f64(step, from, n) : elements_f32(step, from, n);
        uint64_t before = atomic_load(&job->bad);
        while (bad < before && !atomic_compare_exchange_weak(&job->bad, &before, bad)) {
        }
    }
    for (int k = 0; k < step->dots; k++)
        step->partials[item * ECHI_SOLVE_DOTS + (size_t)k] = pairs_sum(&pairs[k]);
}

/* One thread goes through the rows as they are; several, level by level. */
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
    enum { ROWS = 512 }; /* of a thread, at least */
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

static ech_status run(ech_ctx *ctx, const void *request, void *work)
{
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
    echi_parallel(echi_parallel_for_bytes(ctx, step->n * (size_t)step->bytes * 3), items, run_item,
                  &job);
    for (int k = 0; k < step->dots; k++) {
        struct pairs pairs = { 0 };
        for (size_t i = 0; i < items; i++)
            pairs_add(&pairs, step->partials[i * ECHI_SOLVE_DOTS + (size_t)k]);
        step->scalars[ECHI_S_DOT + k] = pairs_sum(&pairs) + 0.0;
    }
    if (job.bad != UINT64_MAX) {
        const uint64_t where = ~job.bad;
        memcpy(&step->scalars[ECHI_S_WHERE], &where, sizeof where);
    }
    solve_recur(step->after, step->scalars, step->row, step->column, step->restart);
    return ECH_OK;
}

static ech_status workspace(const void *request, size_t *bytes)
{
    (void)request;
    *bytes = 0;
    return ECH_OK;
}

const struct echi_operation echi_cpu_solve = { .workspace = workspace, .run = run };
