/*
 * matmul/cuda/vector.c - a matrix-vector product on the GPU, host code: the levels of its sums
 * (docs/matmul.md), one kernel each.
 *
 *     workspace   [ sums of the first level, third, ... | of the second, fourth, ... ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/backend.h"
#include "matmul/matmul.h"
#include "cuda/steps.h"
#include "matmul/cuda/common.h"

static uint64_t parts_of(uint64_t n, uint64_t part)
{
    return n / part + (n % part != 0);
}

static unsigned grid(uint64_t blocks)
{
    return blocks < INT32_MAX ? (unsigned)blocks : INT32_MAX;
}

static uint64_t chunks_of(const struct echi_matvec *v, uint64_t rows, uint64_t cols)
{
    const uint64_t chunks = v->turned ? parts_of(rows, MATVEC_ROWS) : parts_of(cols, MATVEC_CHUNK);
    return chunks ? chunks : 1;
}

static void lay_out(const struct echi_matvec *v, void *work, void *sums[2], size_t *bytes)
{
    struct echi_layout layout = { .base = work };
    uint64_t rows = v->rows, cols = v->cols;
    sums[0] = sums[1] = NULL;
    for (int i = 0; i < 2 && !v->empty; i++) {
        const uint64_t chunks = chunks_of(v, rows, cols);
        if (chunks == 1) break;
        *(v->turned ? &rows : &cols) = chunks;
        sums[i] = echi_part(&layout, rows * cols, ech_dtype_bytes(v->dtype));
    }
    *bytes = layout.bytes;
}

static ech_status plan_matvec(const void *request, void *plan, size_t *work_bytes)
{
    (void)plan;
    void *sums[2];
    lay_out(request, NULL, sums, work_bytes);
    return ECH_OK;
}

/* ---- The kernels of a level ---- */

/* Kernels that do more per thread need enough threads. */
struct strategy {
    const char *name, *what;
    const char *when; /* when it is chosen, for the documentation */
    const char *kernel;
    bool (*can)(const struct echi_matvec *v, const struct matvec_args *a, uint64_t multiprocessors);
    uint64_t (*threads)(const struct echi_matvec *v, const struct matvec_args *a);
};

/* Elements per 16 bytes. */
static unsigned vector_of(const struct echi_matvec *v)
{
    return (unsigned)(16 / ech_dtype_bytes(v->dtype));
}

static bool can_columns_wide(const struct echi_matvec *v, const struct matvec_args *a,
                             uint64_t multiprocessors)
{
    const unsigned vector = vector_of(v);
    return v->turned && a->vectors && a->cols >= vector &&
           a->cols / vector * a->chunks >= 32 * multiprocessors;
}

static uint64_t columns_wide_threads(const struct echi_matvec *v, const struct matvec_args *a)
{
    return parts_of(a->cols, vector_of(v)) * a->chunks;
}

static bool can_columns(const struct echi_matvec *v, const struct matvec_args *a,
                        uint64_t multiprocessors)
{
    (void)a, (void)multiprocessors;
    return v->turned;
}

static uint64_t columns_threads(const struct echi_matvec *v, const struct matvec_args *a)
{
    (void)v;
    return a->cols * a->chunks;
}

static uint64_t rows_many_threads(const struct echi_matvec *v, const struct matvec_args *a)
{
    (void)v;
    return parts_of(a->rows, MATVEC_MANY) * a->chunks * a->lanes;
}

static bool can_rows_many(const struct echi_matvec *v, const struct matvec_args *a,
                          uint64_t multiprocessors)
{
    return rows_many_threads(v, a) >= 256 * multiprocessors;
}

static bool always(const struct echi_matvec *v, const struct matvec_args *a,
                   uint64_t multiprocessors)
{
    (void)v, (void)a, (void)multiprocessors;
    return true;
}

static uint64_t rows_threads(const struct echi_matvec *v, const struct matvec_args *a)
{
    (void)v;
    return a->rows * a->chunks * a->lanes;
}

/* The first one that applies is used. */
static const struct strategy strategies[] = {
    {
        .name = "columns_wide",
        .what = "one thread per 16 bytes of columns of a chunk",
        .when = "a transposed matrix, aligned, with at least 32 threads per multiprocessor",
        .kernel = "matvec_columns_wide",
        .can = can_columns_wide,
        .threads = columns_wide_threads,
    },
    {
        .name = "columns",
        .what = "one thread per column of a chunk",
        .when = "other transposed matrices",
        .kernel = "matvec_columns",
        .can = can_columns,
        .threads = columns_threads,
    },
    {
        .name = "rows_many",
        .what = "a group of lanes per four rows of a chunk",
        .when = "at least 256 threads per multiprocessor remain",
        .kernel = "matvec_rows_many",
        .can = can_rows_many,
        .threads = rows_many_threads,
    },
    {
        .name = "rows",
        .what = "a group of lanes per row of a chunk",
        .when = "all other matrices",
        .kernel = "matvec_rows",
        .can = always,
        .threads = rows_threads,
    },
};

/* ---- Steps ---- */

enum { LEVELS = 16 }; /* more than any size needs, with chunks of at least 64 */

/* Everything needed to make and to run the steps of a call. */
struct whole {
    struct matmul_args scale;
    struct matvec_args level[LEVELS];
    struct echi_steps steps;
};

static void launch(struct whole *w, const struct echi_matvec *v, const char *kernel, void *args,
                   unsigned blocks, unsigned threads, int level)
{
    echi_step_add(&w->steps,
                  (struct echi_step){ .phase = ECHI_MOVE,
                                      .kind = ECHI_LAUNCH_PDL,
                                      .module = v->dtype == ECH_F64 ? "matmul_f64" : "matmul_f32",
                                      .name = kernel,
                                      .blocks = blocks,
                                      .threads = threads,
                                      .level = level,
                                      .args = args });
}

/* y = beta y */
static void add_scale(const struct echi_matvec *v, struct whole *w)
{
    const uint64_t n = v->turned ? v->cols : v->rows;
    if (v->beta == 1) return;
    w->scale = (struct matmul_args){
        .c = v->y, .m = n, .n = 1, .count = 1, .c_stride = 1, .beta = v->beta
    };
    launch(w, v, "matmul_scale", &w->scale, grid(parts_of(n, MATMUL_THREADS)), MATMUL_THREADS, -1);
}

static void add_level(const struct echi_matvec *v, struct whole *w, int level,
                      uint64_t multiprocessors)
{
    const unsigned vector = vector_of(v);
    const struct strategy *strategy = strategies;
    struct matvec_args *args = &w->level[level];
    args->vectors = (uintptr_t)args->a % 16 == 0 && args->stride % vector == 0;
    if (!v->turned) {
        if ((uintptr_t)args->x % 16) args->vectors = 0;
        args->lanes = 1;
        while (args->lanes < MATVEC_LANES / vector && args->lanes * vector < args->cols)
            args->lanes *= 2;
    }
    while (!strategy->can(v, args, multiprocessors)) strategy++;
    launch(w, v, strategy->kernel, args, grid(parts_of(strategy->threads(v, args), MATVEC_THREADS)),
           MATVEC_THREADS, level);
}

static void add_levels(const struct echi_matvec *v, struct whole *w, void *work,
                       uint64_t multiprocessors)
{
    struct matvec_args args = { .a = v->a,
                                .x = v->x,
                                .rows = v->rows,
                                .cols = v->cols,
                                .stride = v->a_stride,
                                .alpha = v->alpha,
                                .beta = v->beta };
    void *sums[2];
    size_t bytes;
    lay_out(v, work, sums, &bytes);
    for (int level = 0; !args.last; level++) {
        args.chunks = chunks_of(v, args.rows, args.cols);
        args.last = args.chunks == 1;
        args.out = args.last ? v->y : sums[level % 2];
        w->level[level] = args;
        add_level(v, w, level, multiprocessors);
        *(v->turned ? &args.rows : &args.cols) = args.chunks;
        args.stride = args.cols;
        args.a = args.out;
        args.x = NULL;
    }
}

static void make_steps(const struct echi_matvec *v, struct echi_gpu gpu, void *work,
                       struct whole *w)
{
    w->steps.count = 0;
    if (v->empty)
        add_scale(v, w);
    else
        add_levels(v, w, work, (uint64_t)gpu.multiprocessors);
}

static ech_status run_matvec(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    struct whole w;
    (void)plan;
    make_steps(request, echi_gpu_of(ctx), work, &w);
    return echi_cuda_enqueue(ctx, &w.steps, NULL, NULL);
}

static ech_status explain_matvec(const void *request, struct echi_explain *e)
{
    const struct echi_matvec *v = request;
    struct whole w;
    make_steps(v, echi_gpu_of(NULL), NULL, &w);
    echi_explain_algorithm(e, true,
                           v->empty    ? "scale"
                           : v->turned ? "columns"
                                       : "rows",
                           v->empty ? "y is multiplied by beta"
                                    : "sums of chunks, which are added level by level");
    echi_explain_steps(e, &w.steps);
    return ECH_OK;
}

const struct echi_operation echi_cuda_matvec = { .plan = plan_matvec,
                                                 .explain = explain_matvec,
                                                 .run = run_matvec };
