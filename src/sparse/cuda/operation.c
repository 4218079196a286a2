/*
 * sparse/cuda/operation.c - sparse matrices on the GPU, host code: the plan of a product, the table
 * of strategies, and their steps.
 *
 *     products   a matrix of few tiles: one kernel, whose blocks search the starts of their tiles;
 *                otherwise another kernel before it finds the starts of all tiles
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sparse/sparse.h"
#include "core/backend.h"
#include "cuda/steps.h"
#include "sparse/cuda/make.h"
#include "sparse/cuda/common.h"

enum {
    /* If nearly all tiles run at once, a search per tile costs less than a kernel. */
    FEW_TILES = 4096,
    WIDE_FEW_TILES = 1024,

    /* Rows and entries of a tile, as powers of two.  With larger tiles, the kernel that searches
     * places takes less time, and the last tiles take more. */
    MIN_TILE_BITS = 8,
    TILE_BITS = 11, /* SPARSE_TILE_MOST */
    MANY_TILES = 32768,
    WIDE_TILE_BITS = 10,

    /* Percentage of shared memory, less than 6 blocks of f64 or 9 of f32 need on an H200.  The
     * hardware rounds it to 64 KiB; the rest of the L1 cache is for x. */
    SHARED_PERCENT = 15
};

static uint64_t quotient_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

/* ---- Products ---- */

struct strategy;

/* The plan, which depends on the request only. */
struct plan {
    const struct strategy *strategy; /* NULL: no product */
    uint64_t tiles;
    uint32_t tile_bits;
};

/* Everything needed to make and to run the steps of a call; first the kernels' argument. */
struct whole {
    struct sparse_args args;
    const struct echi_sparse *s;
    char module[SPARSE_IMAGE_BYTES];
    struct echi_steps steps;
};

struct strategy {
    const char *name, *what;
    const char *when; /* when it is chosen, for the documentation */
    bool (*can)(const struct echi_sparse *s);
    uint32_t (*tile_bits)(const ech_csr *a);
    uint64_t few_tiles; /* up to this number, each block searches its own place */
    uint32_t whole;
    size_t width; /* columns at a time */
    void (*steps)(struct whole *w);
};

/* Matrices of one column without gaps are vectors. */
static bool is_vector(const struct echi_sparse *s)
{
    return s->n == 1 && s->x_stride == 1 && s->y_stride == 1;
}

/* Two per tile, and one for all. */
static size_t done_words(uint64_t tiles)
{
    return 2 * tiles + 1;
}

/* Tiles of a vector product are small if there would be few of them: then each warp searches the
 * start of its own.  If there must be more, there are so many that the last take little time. */
static uint32_t vector_tile_bits(const ech_csr *a)
{
    const uint64_t items = echi_sparse_items(a);
    uint32_t bits = MIN_TILE_BITS;
    const uint64_t most = items >> TILE_BITS > FEW_TILES ? MANY_TILES : FEW_TILES;
    while (bits < TILE_BITS && items >> bits > most) bits++;
    return bits;
}

static uint32_t wide_tile_bits(const ech_csr *a)
{
    (void)a;
    return WIDE_TILE_BITS;
}

static bool has_places(const struct plan *plan)
{
    return plan->tiles > plan->strategy->few_tiles;
}

/* Otherwise, no row has parts in several tiles, and nothing is counted. */
static bool shares_rows(const struct echi_sparse *s, const struct plan *plan)
{
    return s->a.nnz > plan->strategy->whole;
}

/* Lays out its parts of the workspace, as pointers in args. */
static void lay_out(const struct echi_sparse *s, const struct plan *plan,
                    struct echi_layout *layout, struct sparse_args *args)
{
    const uint64_t items = echi_sparse_items(&s->a);
    args->places = NULL;
    args->done = NULL;
    args->partials = NULL;
    if (has_places(plan))
        args->places = echi_part(layout, plan->tiles + 1, sizeof *args->places);
    else if (!shares_rows(s, plan))
        return;
    args->done = echi_part(layout, done_words(plan->tiles), sizeof *args->done);
    args->partials = echi_part(layout, 2 * (items / SPARSE_GROUP + 1) * plan->strategy->width,
                               ech_dtype_bytes(s->a.dtype));
}

/* ---- Steps ---- */

static void steps_of_vector(struct whole *w)
{
    echi_step_add(&w->steps, (struct echi_step){ .phase = ECHI_MOVE,
                                                 .kind = ECHI_LAUNCH_PDL,
                                                 .module = w->module,
                                                 .name = "sparse_multiply",
                                                 .blocks = (unsigned)quotient_up(
                                                     w->args.tiles, SPARSE_THREADS / 32),
                                                 .threads = SPARSE_THREADS,
                                                 .level = -1,
                                                 .shared_percent = SHARED_PERCENT });
}

/* One launch per strip of columns. */
static void steps_of_strips(struct whole *w)
{
    if (w->s->n == 0) return;
    echi_step_add(&w->steps, (struct echi_step){ .phase = ECHI_MOVE,
                                                 .kind = ECHI_LAUNCH_PDL,
                                                 .module = w->module,
                                                 .name = "sparse_multiply_wide",
                                                 .blocks = (unsigned)w->args.tiles,
                                                 .threads = SPARSE_WIDE_THREADS,
                                                 .level = -1,
                                                 .parts = quotient_up(w->s->n, SPARSE_STRIP),
                                                 .last_blocks = (unsigned)w->args.tiles });
}

/* The strip of a launch. */
static void set_args(void *args, struct echi_step *step, uint64_t part)
{
    struct whole *w = args;
    const struct echi_sparse *s = w->s;
    const size_t bytes = ech_dtype_bytes(s->a.dtype), at = part * SPARSE_STRIP;
    if (!step->parts) return;
    w->args.x = (const char *)s->x + at * bytes;
    w->args.y = (char *)s->y + at * bytes;
    w->args.width = s->n - at < SPARSE_STRIP ? (uint32_t)(s->n - at) : SPARSE_STRIP;
    for (w->args.lanes = 1; w->args.lanes * SPARSE_WIDE_EACH(bytes) < w->args.width;)
        w->args.lanes *= 2;
}

/* ---- The strategies ---- */

static bool always(const struct echi_sparse *s)
{
    (void)s;
    return true;
}

/* The first one that applies is used. */
static const struct strategy strategies[] = {
    {
        .name = "vector",
        .what = "one warp per tile of rows and entries",
        .when = "a vector without gaps",
        .can = is_vector,
        .tile_bits = vector_tile_bits,
        .few_tiles = FEW_TILES,
        .whole = SPARSE_WHOLE,
        .width = 1,
        .steps = steps_of_vector,
    },
    {
        .name = "strips",
        .what = "one block per tile of rows and entries, several columns at a time",
        .when = "a matrix, or a vector with gaps",
        .can = always,
        .tile_bits = wide_tile_bits,
        .few_tiles = WIDE_FEW_TILES,
        .width = SPARSE_STRIP,
        .steps = steps_of_strips,
    },
};

static void plan_product(const struct echi_sparse *s, struct plan *plan)
{
    plan->strategy = strategies;
    while (!plan->strategy->can(s)) plan->strategy++;
    plan->tile_bits = plan->strategy->tile_bits(&s->a);
    plan->tiles = quotient_up(echi_sparse_items(&s->a), (uint64_t)1 << plan->tile_bits);
}

/* If there are few tiles, blocks search the starts of their own; otherwise another kernel does so
 * first. */
static void make_steps(const struct echi_sparse *s, const struct plan *plan, void *work,
                       struct whole *w)
{
    struct echi_layout layout = { .base = work };
    w->s = s;
    w->steps.count = 0;
    w->args = (struct sparse_args){ .offsets = s->a.row_offsets,
                                    .columns = s->a.col_indices,
                                    .values = s->a.values,
                                    .rows = s->a.rows,
                                    .cols = s->a.cols,
                                    .entries = s->a.nnz,
                                    .x = s->x,
                                    .y = s->y,
                                    .alpha = s->alpha,
                                    .beta = s->beta,
                                    .row_share = (double)s->a.rows / (double)(s->a.rows + s->a.nnz),
                                    .tiles = plan->tiles,
                                    .tile_bits = plan->tile_bits,
                                    .whole = plan->strategy->whole,
                                    .x_stride = s->x_stride,
                                    .y_stride = s->y_stride };
    lay_out(s, plan, &layout, &w->args);
    echi_cuda_sparse_image(&s->a, w->module);
    if (has_places(plan))
        echi_step_add(&w->steps,
                      (struct echi_step){ .phase = ECHI_PLAN,
                                          .kind = ECHI_LAUNCH_PDL,
                                          .module = w->module,
                                          .name = "sparse_places",
                                          .blocks = (unsigned)quotient_up(
                                              plan->tiles + 1, SPARSE_PLACE_THREADS / 16),
                                          .threads = SPARSE_PLACE_THREADS,
                                          .level = -1 });
    else if (shares_rows(s, plan))
        echi_step_add(&w->steps, (struct echi_step){ .phase = ECHI_PLAN,
                                                     .kind = ECHI_ZEROS,
                                                     .level = -1,
                                                     .to = w->args.done,
                                                     .slot = &w->args.done,
                                                     .bytes = done_words(plan->tiles) *
                                                              sizeof *w->args.done });
    plan->strategy->steps(w);
}

/* ---- The operation ---- */

static ech_status plan_sparse(const void *request, void *place, size_t *work_bytes)
{
    const struct echi_sparse *s = request;
    struct plan *plan = place;
    struct echi_layout layout = { 0 };
    struct sparse_args args;
    *plan = (struct plan){ NULL, 0, 0 };
    if (s->what != ECHI_SPARSE_MULTIPLY) return echi_cuda_sparse_make_workspace(s, work_bytes);
    plan_product(s, plan);
    lay_out(s, plan, &layout, &args);
    *work_bytes = layout.bytes;
    if (layout.overflow)
        return echi_fail(NULL, ECH_ERR_MEMORY, "the workspace exceeds SIZE_MAX bytes");
    return ECH_OK;
}

static ech_status run_sparse(ech_ctx *ctx, const void *request, const void *kept, void *work)
{
    const struct echi_sparse *s = request;
    const struct plan *plan = kept;
    struct whole w;
    if (!plan->strategy) return echi_cuda_sparse_make(ctx, s, work);
    make_steps(s, plan, work, &w);
    return echi_cuda_enqueue(ctx, &w.steps, &w, set_args);
}

static ech_status explain_sparse(const void *request, struct echi_explain *e)
{
    const struct echi_sparse *s = request;
    struct plan plan;
    struct whole w;
    size_t bytes;
    const ech_status status = plan_sparse(s, &plan, &bytes);
    if (status != ECH_OK) return status;
    if (!plan.strategy) {
        echi_explain_algorithm(
            e, true, "sort",
            s->what == ECHI_SPARSE_FROM_COO
                ? "a stable sort by row and column; equal positions are then added"
                : "a stable sort of the entries by column");
        return ECH_OK;
    }
    make_steps(s, &plan, NULL, &w);
    echi_explain_algorithm(e, true, plan.strategy->name, "%s", plan.strategy->what);
    echi_explain_line(e, "module", "%s", w.module);
    echi_explain_steps(e, &w.steps);
    return ECH_OK;
}

const struct echi_operation echi_cuda_sparse = {
    .plan = plan_sparse,
    .plan_bytes = sizeof(struct plan),
    .explain = explain_sparse,
    .run = run_sparse,
};
