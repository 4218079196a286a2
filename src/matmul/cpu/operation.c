/*
 * matmul/cpu/operation.c - products of matrices on the CPU: chooses an algorithm, lays out the
 * workspace, runs it.
 *
 *     "blas"    a vendor's library (blas.h), if one is known to be fast on this machine
 *     "tiled"   c in tiles; each thread processes one tile after another:
 *
 *               for blocks of k:   b's block, packed into panels, stays in the L2 cache
 *                 for panels of a: packed, stays in the L1 cache
 *                   for panels of b: the micro-kernel (kernels.h)
 *
 * Sums are in the order of k: a micro tile continues with the result of the previous block of k,
 * which is kept in the workspace if there are several blocks.
 *
 *     workspace of a thread   [ panel of a | panels of b | sums ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "matmul/cpu/common.h"
#include "core/backend.h"
#include "cpu/blas.h"
#include "cpu/cpu.h"

#include <string.h>

enum { BLAS, TILED, STRATEGIES };

enum {
    PANELS_OF_A = 32,      /* of a tile, maximum */
    PANEL_BYTES = 2 << 10, /* of a row of b's panels: they fill half of an L2 cache */
    THREADS_MIN = 8        /* minimum number of threads that the workspace is for */
};

const struct echi_matmul_isa *echi_matmul_isa(void)
{
#ifdef ECHI_CPU_X86
    switch (echi_cpu_isa()) {
    case ECHI_AVX512:
        return &echi_matmul_avx512;
    case ECHI_AVX2:
        return &echi_matmul_avx2;
    case ECHI_PORTABLE:
        break;
    }
#endif
    return &echi_matmul_portable;
}

/* ---- Plan ---- */

struct plan {
    int strategy;
    const struct echi_matmul_real *real;
    size_t bytes;            /* of the type of computation */
    size_t steps;            /* of a block of k */
    size_t row_panels, rows; /* of c; of a tile, in panels */
    size_t column_panels, cols;
    size_t row_tiles, column_tiles;
    size_t threads; /* number of threads that the workspace is for */
};

static size_t parts_of(size_t n, size_t part)
{
    return n / part + (n % part != 0);
}

static bool fits_int(const struct echi_matmul *p)
{
    const size_t most = INT32_MAX;
    return p->m <= most && p->n <= most && p->k <= most && p->a_stride <= most &&
           p->b_stride <= most && p->c_stride <= most;
}

static bool blas_can(const struct echi_matmul *p)
{
    return (p->dtype == ECH_F32 || p->dtype == ECH_F64) && fits_int(p) && p->k;
}

static bool blas_is_best(const struct echi_matmul *p)
{
    return blas_can(p) && echi_blas() && echi_blas()->vendor.fast;
}

static bool always(const struct echi_matmul *p)
{
    (void)p;
    return true;
}

static const struct strategy {
    const char *name, *what;
    const char *when; /* when it is chosen, for the documentation */
    bool (*can)(const struct echi_matmul *p);
    bool (*best)(const struct echi_matmul *p); /* whether it is chosen if no strategy is named */
} strategies[] = {
    [BLAS] = {
        .name = "blas",
        .what = "the machine's BLAS library",
        .when = "f32 or f64, sizes below 2^31, and the library is known to be fast on this CPU",
        .can = blas_can,
        .best = blas_is_best,
    },
    [TILED] = {
        .name = "tiled",
        .what = "the library's own kernels, in the order of k",
        .when = "all other products",
        .can = always,
        .best = always,
    },
};

/* If BLAS is selected by name, it is used for the products that it supports. */
static ech_status choose(const struct echi_matmul *p, int *choice)
{
    int named = 0;
    while (p->algorithm && named < STRATEGIES && strcmp(p->algorithm, strategies[named].name) != 0)
        named++;
    if (named == STRATEGIES)
        return echi_fail(NULL, ECH_ERR_ARG,
                         "unknown algorithm \"%s\"; available for products: blas, tiled",
                         p->algorithm);
    if (p->algorithm && named == BLAS && !echi_blas())
        return echi_fail(NULL, ECH_ERR_UNSUPPORTED,
                         "algorithm \"blas\": no BLAS library was found; set ECHELON_BLAS to its "
                         "path");
    *choice = named;
    while (!(p->algorithm ? strategies[*choice].can(p) : strategies[*choice].best(p))) ++*choice;
    return ECH_OK;
}

/* Tiles of equal size, and enough of them that all threads end at about the same time. */
static void plan_tiles(const struct echi_matmul *p, size_t threads, struct plan *plan)
{
    const size_t most = PANEL_BYTES / (plan->real->cols * plan->bytes);
    plan->row_panels = parts_of(p->m, plan->real->rows);
    plan->column_panels = parts_of(p->n, plan->real->cols);
    plan->row_tiles = parts_of(plan->row_panels, PANELS_OF_A);
    plan->column_tiles = parts_of(plan->column_panels, most);
    for (;;) {
        plan->rows = parts_of(plan->row_panels, plan->row_tiles);
        plan->cols = parts_of(plan->column_panels, plan->column_tiles);
        if (threads == 1 || p->count >= 4 * threads ||
            p->count * plan->row_tiles * plan->column_tiles >= 4 * threads ||
            (plan->rows <= 4 && plan->cols <= 2))
            break;
        if (plan->rows > 4)
            plan->row_tiles = parts_of(plan->row_panels, plan->rows / 2);
        else
            plan->column_tiles = parts_of(plan->column_panels, plan->cols / 2);
    }
    plan->row_tiles = parts_of(plan->row_panels, plan->rows);
    plan->column_tiles = parts_of(plan->column_panels, plan->cols);
}

/* The number of threads that the work repays: waking a thread takes about 100 us. */
static size_t worth_threads(const struct echi_matmul *p, size_t most)
{
    const double each = 1 << 23, work = (double)p->m * (double)p->n * (double)(p->k + 1);
    const double worth = work * (double)p->count / each;
    return worth < 2 ? 1 : worth < (double)most ? (size_t)worth : most;
}

static ech_status make_plan(const struct echi_matmul *p, struct plan *plan)
{
    const struct echi_matmul_isa *isa = echi_matmul_isa();
    const size_t threads = (size_t)echi_processors_at_start();
    memset(plan, 0, sizeof *plan);
    ech_status status = choose(p, &plan->strategy);
    if (status != ECH_OK) return status;
    plan->real = p->dtype == ECH_F64 ? isa->f64 : isa->f32;
    plan->bytes = p->dtype == ECH_F64 ? 8 : 4;
    plan->steps = echi_min(p->k, ECHI_MATMUL_STEPS);
    plan->threads = worth_threads(p, threads < THREADS_MIN ? THREADS_MIN : threads);
    plan_tiles(p, worth_threads(p, threads), plan);
    return ECH_OK;
}

struct parts {
    char *a, *b, *sums;
    size_t a_bytes, b_bytes, sums_bytes; /* per thread */
};

static ech_status lay_out(const struct echi_matmul *p, const struct plan *plan, void *work,
                          struct parts *parts, size_t *bytes)
{
    struct echi_layout layout = { .base = work };
    const size_t tile = plan->real->rows * plan->real->cols * plan->bytes;
    memset(parts, 0, sizeof *parts);
    *bytes = 0;
    if (plan->strategy == BLAS || !p->k) return ECH_OK;
    parts->a_bytes = plan->real->rows * ECHI_MATMUL_PITCH * plan->bytes;
    parts->b_bytes = plan->cols * plan->real->cols * plan->steps * plan->bytes;
    parts->sums_bytes = p->k > plan->steps ? plan->rows * plan->cols * tile : tile;
    parts->a = echi_part(&layout, plan->threads, parts->a_bytes);
    parts->b = echi_part(&layout, plan->threads, parts->b_bytes);
    parts->sums = echi_part(&layout, plan->threads, parts->sums_bytes);
    *bytes = layout.bytes;
    return layout.overflow ? echi_fail(NULL, ECH_ERR_MEMORY,
                                       "the workspace of the product exceeds SIZE_MAX bytes")
                           : ECH_OK;
}

static ech_status plan_product(const void *request, void *plan, size_t *bytes)
{
    struct parts parts;
    ech_status status = make_plan(request, plan);
    return status == ECH_OK ? lay_out(request, plan, NULL, &parts, bytes) : status;
}

static ech_status explain(const void *request, struct echi_explain *e)
{
    const struct echi_matmul *p = request;
    const struct echi_blas *blas = echi_blas();
    struct plan plan;
    ech_status status = make_plan(p, &plan);
    if (status != ECH_OK) return status;
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < STRATEGIES; i++) {
            if ((i == plan.strategy) != (turn == 0)) continue;
            if (i == TILED)
                echi_explain_algorithm(e, turn == 0, "tiled", "kernels for %s",
                                       echi_matmul_isa()->name);
            else if (blas && (p->dtype == ECH_F32 || p->dtype == ECH_F64))
                echi_explain_algorithm(e, turn == 0, "blas", "%s", blas->vendor.what);
        }
    if (!blas) echi_explain_line(e, "no_blas", "none was found; set ECHELON_BLAS to its path");
    if (plan.strategy == TILED)
        echi_explain_line(e, "tiles", "%zu x %zu, of %zu x %zu elements, in blocks of %d of k",
                          plan.row_tiles, plan.column_tiles, plan.rows * plan.real->rows,
                          plan.cols * plan.real->cols, ECHI_MATMUL_STEPS);
    return ECH_OK;
}

/* ---- Run ---- */

struct job {
    const struct echi_matmul *p;
    const struct plan *plan;
    struct parts parts;
    struct echi_matmul_end end;
};

/* A tile of c, its position in panels, and the thread's part of the workspace. */
struct tile {
    const void *a, *b;
    char *c;
    size_t row_panel, rows, column_panel, cols;
    char *packed_a, *packed_b, *sums;
};

static const void *element_at(const void *matrix, size_t stride, bool turned, size_t i, size_t j,
                              size_t bytes)
{
    return (const char *)matrix + (turned ? j * stride + i : i * stride + j) * bytes;
}

/* Multiplies one panel of a by all of b's block. */
static void multiply_panel(const struct job *job, const struct tile *t, size_t panel, size_t begin,
                           size_t steps)
{
    const struct echi_matmul *p = job->p;
    const struct plan *plan = job->plan;
    const struct echi_matmul_real *real = plan->real;
    const size_t row = (t->row_panel + panel) * real->rows, in = ech_dtype_bytes(p->dtype);
    const size_t rows = echi_min(real->rows, p->m - row);
    const size_t tile_bytes = real->rows * real->cols * plan->bytes;
    const size_t c_bytes = ech_dtype_bytes(echi_matmul_c_dtype(p));
    real->pack_a(element_at(t->a, p->a_stride, p->a_turned, row, begin, in), p->a_stride, p->dtype,
                 p->a_turned, rows, steps, t->packed_a);
    for (size_t j = 0; j < t->cols; j++) {
        const size_t col = (t->column_panel + j) * real->cols;
        const size_t cols = echi_min(real->cols, p->n - col);
        char *sums = t->sums + (p->k > plan->steps ? (panel * t->cols + j) * tile_bytes : 0);
        real->tile(rows, cols, steps, t->packed_a,
                   t->packed_b + j * real->cols * steps * plan->bytes, sums, begin == 0);
        if (begin + steps == p->k)
            real->end(&job->end, sums, rows, cols, t->c + (row * p->c_stride + col) * c_bytes,
                      p->c_stride);
    }
}

static void multiply_tile(void *arg, size_t i, int thread)
{
    const struct job *job = arg;
    const struct echi_matmul *p = job->p;
    const struct plan *plan = job->plan;
    const struct echi_matmul_real *real = plan->real;
    const size_t tiles = plan->row_tiles * plan->column_tiles, at = (size_t)thread;
    const size_t in = ech_dtype_bytes(p->dtype), which = i / tiles;
    struct tile t = {
        .a = echi_matmul_at(p, p->a, p->a_step, p->dtype, which),
        .b = echi_matmul_at(p, p->b, p->b_step, p->dtype, which),
        .c = (char *)(uintptr_t)echi_matmul_at(p, p->c, p->c_step, echi_matmul_c_dtype(p), which),
        .row_panel = i % tiles % plan->row_tiles * plan->rows,
        .column_panel = i % tiles / plan->row_tiles * plan->cols,
        .packed_a = job->parts.a + at * job->parts.a_bytes,
        .packed_b = job->parts.b + at * job->parts.b_bytes,
        .sums = job->parts.sums + at * job->parts.sums_bytes,
    };
    t.rows = echi_min(plan->rows, plan->row_panels - t.row_panel);
    t.cols = echi_min(plan->cols, plan->column_panels - t.column_panel);
    for (size_t begin = 0; begin < p->k; begin += plan->steps) {
        const size_t steps = echi_min(plan->steps, p->k - begin);
        for (size_t j = 0; j < t.cols; j++) {
            const size_t col = (t.column_panel + j) * real->cols;
            real->pack_b(element_at(t.b, p->b_stride, p->b_turned, begin, col, in), p->b_stride,
                         p->dtype, p->b_turned, echi_min(real->cols, p->n - col), steps,
                         t.packed_b + j * real->cols * steps * plan->bytes);
        }
        for (size_t panel = 0; panel < t.rows; panel++)
            multiply_panel(job, &t, panel, begin, steps);
    }
}

/* c = beta c, for one row. */
static void scale_row(void *arg, size_t i, int thread)
{
    const struct job *job = arg;
    const struct echi_matmul *p = job->p;
    const size_t bytes = ech_dtype_bytes(echi_matmul_c_dtype(p));
    char *c =
        (char *)(uintptr_t)echi_matmul_at(p, p->c, p->c_step, echi_matmul_c_dtype(p), i / p->m);
    char *row = c + i % p->m * p->c_stride * bytes;
    (void)thread;
    if (p->beta == 0)
        memset(row, 0, p->n * bytes);
    else
        job->plan->real->scale(job->end.dtype, p->beta, row, p->n);
}

static ech_status run(ech_ctx *ctx, const void *request, const void *kept, void *work)
{
    const struct echi_matmul *p = request;
    const struct plan *plan = kept;
    struct job job = { .p = p, .plan = plan };
    size_t bytes;
    lay_out(p, plan, work, &job.parts, &bytes);
    job.end = (struct echi_matmul_end){ p->alpha, p->beta, echi_matmul_c_dtype(p) };
    const size_t most = (size_t)echi_threads(ctx);
    const int threads = (int)echi_min(plan->threads, most);
    if (!p->k) {
        if (p->beta != 1) echi_parallel(threads, p->m * p->count, scale_row, &job);
    } else if (plan->strategy == BLAS) {
        echi_blas_multiply(echi_blas(), p, echi_vendor_threads(ctx));
    } else {
        echi_parallel(threads, p->count * plan->row_tiles * plan->column_tiles, multiply_tile,
                      &job);
    }
    return ECH_OK;
}

const struct echi_operation echi_cpu_matmul = {
    .plan = plan_product, .plan_bytes = sizeof(struct plan), .explain = explain, .run = run
};
