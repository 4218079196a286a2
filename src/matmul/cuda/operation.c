/*
 * matmul/cuda/operation.c - products of matrices on the GPU, host code: the plan, the table of
 * strategies, and their steps.
 *
 *     "blas"    cuBLAS (cublas.h), if it is found; the workspace contains that of cuBLAS
 *     "tiled"   matmul_large, or kernels with smaller tiles if larger ones would leave
 *               multiprocessors idle; f64 on FP64 tensor cores: matmul_tensor_large and so on;
 *               no workspace
 *
 *     module matmul_<dtype>
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/backend.h"
#include "cuda/cublas.h"
#include "cuda/steps.h"
#include "matmul/cuda/common.h"

#include <stdio.h>
#include <string.h>

struct strategy;

/* The plan, which depends on the request only. */
struct plan {
    const struct strategy *strategy;
    char module[16];
};

/* Everything needed to make and to run the steps of a call; first the kernels' argument. */
struct whole {
    struct matmul_args args;
    const struct echi_matmul *p;
    void *work;
    struct echi_steps steps;
};

/* The context in which steps are made. */
struct build {
    const struct echi_matmul *p;
    const struct plan *plan;
    struct echi_gpu gpu;
    struct whole *w;
};

struct strategy {
    const char *name, *what;
    const char *when;                            /* when it is chosen, for the documentation */
    const char *(*library)(const char **reason); /* NULL: the library's own kernels */
    bool (*can)(const struct echi_matmul *p);
    size_t work_bytes;
    void (*steps)(const struct build *b);
};

/* ---- Choice ---- */

static bool fits_int(const struct echi_matmul *p)
{
    const size_t most = INT32_MAX;
    return p->m <= most && p->n <= most && p->k <= most && p->count <= most &&
           p->a_stride <= most && p->b_stride <= most && p->c_stride <= most;
}

/* The reason why a strategy is not available; NULL: it is. */
static const char *missing(const struct strategy *strategy, const struct echi_matmul *p)
{
    const char *reason = "";
    if (!strategy->library) return NULL;
    if (!p->backend->direct_vendor) return "the SIMT emulator runs the library's own kernels";
    return strategy->library(&reason) ? NULL : reason;
}

static bool can_blas(const struct echi_matmul *p)
{
    return p->k && (fits_int(p) || echi_cublas_is_64());
}

static bool always(const struct echi_matmul *p)
{
    (void)p;
    return true;
}

/* ---- Steps ---- */

static uint64_t parts_of(uint64_t n, uint64_t part)
{
    return n / part + (n % part != 0);
}

static unsigned grid(uint64_t blocks)
{
    return blocks < INT32_MAX ? (unsigned)blocks : INT32_MAX;
}

static ech_status call_blas(ech_ctx *ctx, void *user)
{
    const struct whole *w = user;
    return echi_cublas_multiply(ctx, w->p, w->work);
}

static void steps_of_blas(const struct build *b)
{
    echi_step_add(&b->w->steps, (struct echi_step){ .phase = ECHI_MOVE,
                                                    .kind = ECHI_CALL,
                                                    .level = -1,
                                                    .name = "cuBLAS",
                                                    .call = call_blas,
                                                    .user = b->w });
}

static void launch(const struct build *b, const char *kernel, uint64_t blocks, unsigned threads,
                   unsigned shared_bytes)
{
    echi_step_add(&b->w->steps, (struct echi_step){ .phase = ECHI_MOVE,
                                                    .kind = ECHI_LAUNCH,
                                                    .module = b->plan->module,
                                                    .name = kernel,
                                                    .blocks = grid(blocks),
                                                    .threads = threads,
                                                    .shared_bytes = shared_bytes,
                                                    .level = -1 });
}

/* A kernel, its tiles of c, and its blocks. */
struct tiling {
    const char *kernel;
    unsigned rows, cols, threads;
    unsigned shared_bytes, less_shared_bytes; /* the second: code for GPUs with less of it */
    unsigned weight;                          /* relative time per element of c and step of k */
    unsigned steps; /* that take as long as the beginning and the end of a tile */
};

/* Smaller tiles do less work per load.  H200, 2026-11-27. */
#define TILING(name, size, type, weight, steps)                                                    \
    {                                                                                              \
        name, MATMUL_TILE_ROWS(size, type), MATMUL_TILE_COLS(size, type),                          \
            MATMUL_TILE_THREADS(size, type),                                                       \
            MATMUL_STAGES(size, (type) == 0) * MATMUL_STAGE_BYTES(size, type),                     \
            MATMUL_STAGES(size, 0) * MATMUL_STAGE_BYTES(size, type), weight, steps                 \
    }
#define TENSOR_TILING(name, size, weight, steps)                                                   \
    {                                                                                              \
        name, TENSOR_TILE_ROWS(size), TENSOR_TILE_COLS(size), TENSOR_TILE_THREADS(size),           \
            TENSOR_STAGES_90 *TENSOR_STAGE_BYTES(size),                                            \
            TENSOR_STAGES_80 *TENSOR_STAGE_BYTES(size), weight, steps                              \
    }

/* The estimated time: the multiprocessor with the most tiles, and the relative time per element. */
static double cost_of(const struct tiling *t, const struct build *b)
{
    const struct echi_matmul *p = b->p;
    const uint64_t tiles = parts_of(p->m, t->rows) * parts_of(p->n, t->cols) * p->count;
    return (double)parts_of(tiles, (uint64_t)b->gpu.multiprocessors) * t->rows * t->cols *
           t->weight * ((double)p->k + t->steps);
}

/* As in MATMUL_MORE_STAGES and TENSOR_STAGES.  The emulator's modules are compiled for one
 * architecture, which may not be that of its device. */
static unsigned shared_bytes_of(const struct tiling *t, const struct build *b)
{
    int architecture = b->gpu.architecture;
    if (!b->p->backend->direct_vendor)
        (void)echi_gpu_compiled_for(&b->gpu, b->plan->module, t->kernel, &architecture);
    return architecture >= 90 && architecture < 120 ? t->shared_bytes : t->less_shared_bytes;
}

/* Tiles from large to small, per type of computation; the last one fits every GPU and matrix. */
static const struct tiling *tilings_of(const struct build *b, int *count)
{
    static const struct tiling f32[] = { TILING("matmul_large", 0, 0, 16, 80),
                                         TILING("matmul_medium", 1, 0, 17, 56),
                                         TILING("matmul_square", 2, 0, 19, 44),
                                         TILING("matmul_small", 3, 0, 28, 40) };
    static const struct tiling half[] = { TILING("matmul_large", 0, 2, 16, 80),
                                          TILING("matmul_medium", 1, 2, 18, 56),
                                          TILING("matmul_small", 3, 2, 32, 40) };
    static const struct tiling f64[] = { TILING("matmul_large", 0, 1, 16, 80),
                                         TILING("matmul_medium", 1, 1, 18, 56),
                                         TILING("matmul_small", 3, 1, 32, 40) };
    static const struct tiling tensor[] = { TENSOR_TILING("matmul_tensor_large", 0, 16, 105),
                                            TENSOR_TILING("matmul_tensor_medium", 1, 19, 87),
                                            TENSOR_TILING("matmul_tensor_small", 2, 24, 64) };
    *count = b->p->dtype == ECH_F32 ? 4 : 3;
    if (b->p->dtype == ECH_F32) return f32;
    if (b->p->dtype != ECH_F64) return half;
    return b->gpu.architecture >= 80 && echi_gpu_has(&b->gpu, b->plan->module, tensor[0].kernel)
               ? tensor
               : f64;
}

/* The fastest one that fits the shared memory of a block and is not larger than c. */
static const struct tiling *tiling_of(const struct build *b)
{
    int count;
    const struct tiling *set = tilings_of(b, &count), *best = set + count - 1;
    for (const struct tiling *t = best - 1; t >= set; t--)
        if (shared_bytes_of(t, b) <= b->gpu.shared_bytes && t->rows <= b->p->m &&
            t->cols <= b->p->n && cost_of(t, b) <= cost_of(best, b))
            best = t;
    return best;
}

static void steps_of_tiled(const struct build *b)
{
    const struct echi_matmul *p = b->p;
    struct matmul_args *args = &b->w->args;
    if (p->k == 0) { /* c = beta c */
        if (p->beta != 1)
            launch(b, "matmul_scale", parts_of(p->m * p->n * p->count, MATMUL_THREADS),
                   MATMUL_THREADS, 0);
        return;
    }
    const struct tiling *tiling = tiling_of(b);
    args->row_tiles = parts_of(p->m, tiling->rows);
    args->column_tiles = parts_of(p->n, tiling->cols);
    launch(b, tiling->kernel, args->row_tiles * args->column_tiles * p->count, tiling->threads,
           shared_bytes_of(tiling, b));
}

/* ---- The strategies ---- */

/* The first available one is used, unless one is selected by name. */
static const struct strategy strategies[] = {
    {
        .name = "blas",
        .what = "cuBLAS",
        .when = "cuBLAS is available and supports the sizes",
        .library = echi_cublas_name,
        .can = can_blas,
        .work_bytes = ECHI_CUBLAS_WORK_BYTES,
        .steps = steps_of_blas,
    },
    {
        .name = "tiled",
        .what = "the library's own kernels, in the order of k",
        .when = "all other products",
        .can = always,
        .steps = steps_of_tiled,
    },
};
enum { STRATEGIES = sizeof strategies / sizeof *strategies };

/* If the named one is available but does not support the product, the next ones are tried. */
static ech_status choose(const struct echi_matmul *p, const struct strategy **choice)
{
    const struct strategy *named = strategies, *end = strategies + STRATEGIES;
    while (p->algorithm && named < end && strcmp(p->algorithm, named->name) != 0) named++;
    if (named == end)
        return echi_fail(NULL, ECH_ERR_ARG,
                         "unknown algorithm \"%s\"; available for products: blas, tiled",
                         p->algorithm);
    if (p->algorithm && missing(named, p))
        return echi_fail(NULL, ECH_ERR_UNSUPPORTED, "algorithm \"%s\" is not available: %s",
                         named->name, missing(named, p));
    for (*choice = named; missing(*choice, p) || !(*choice)->can(p);) ++*choice;
    return ECH_OK;
}

static ech_status plan_product(const void *request, void *place, size_t *work_bytes)
{
    const struct echi_matmul *p = request;
    struct plan *plan = place;
    ech_status status = choose(p, &plan->strategy);
    *work_bytes = status == ECH_OK ? plan->strategy->work_bytes : 0;
    snprintf(plan->module, sizeof plan->module, "matmul_%s", ech_dtype_name(p->dtype));
    return status;
}

static void make_steps(const struct echi_matmul *p, const struct plan *plan, struct echi_gpu gpu,
                       void *work, struct whole *w)
{
    const struct build b = { p, plan, gpu, w };
    w->args = (struct matmul_args){ .a = p->a,
                                    .b = p->b,
                                    .c = p->c,
                                    .m = p->m,
                                    .n = p->n,
                                    .k = p->k,
                                    .count = p->count,
                                    .a_stride = p->a_stride,
                                    .b_stride = p->b_stride,
                                    .c_stride = p->c_stride,
                                    .a_step = p->a_step,
                                    .b_step = p->b_step,
                                    .c_step = p->c_step,
                                    .alpha = p->alpha,
                                    .beta = p->beta,
                                    .a_turned = p->a_turned,
                                    .b_turned = p->b_turned,
                                    .list = p->list,
                                    .wide = p->wide };
    w->p = p;
    w->work = work;
    w->steps.count = 0;
    plan->strategy->steps(&b);
}

static ech_status run_product(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    struct whole w;
    make_steps(request, plan, echi_gpu_of(ctx), work, &w);
    return echi_cuda_enqueue(ctx, &w.steps, &w, NULL);
}

static void describe(const struct strategy *strategy, bool chosen, struct echi_explain *e)
{
    const char *reason;
    if (strategy->library)
        echi_explain_algorithm(e, chosen, strategy->name, "%s (%s)", strategy->what,
                               strategy->library(&reason));
    else
        echi_explain_algorithm(e, chosen, strategy->name, "%s", strategy->what);
}

static ech_status explain_product(const void *request, struct echi_explain *e)
{
    const struct echi_matmul *p = request;
    struct plan plan;
    struct whole w;
    size_t bytes;
    ech_status status = plan_product(p, &plan, &bytes);
    if (status != ECH_OK) return status;
    make_steps(p, &plan, echi_gpu_of(NULL), NULL, &w);
    describe(plan.strategy, true, e);
    for (int i = 0; i < STRATEGIES; i++)
        if (&strategies[i] != plan.strategy && !missing(&strategies[i], p))
            describe(&strategies[i], false, e);
    for (int i = 0; i < STRATEGIES && p->backend->direct_vendor; i++)
        if (missing(&strategies[i], p))
            echi_explain_line(e, "unavailable", "%s: %s", strategies[i].name,
                              missing(&strategies[i], p));
    echi_explain_steps(e, &w.steps);
    return ECH_OK;
}

const struct echi_operation echi_cuda_matmul = {
    .plan = plan_product,
    .plan_bytes = sizeof(struct plan),
    .explain = explain_product,
    .run = run_product,
};
