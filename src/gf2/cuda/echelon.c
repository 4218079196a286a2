/*
 * gf2/cuda/echelon.c - echelon forms over GF(2) on the GPU, host code: the plan, the table of
 * strategies, and their steps.
 *
 *     "block"     gf2_window and gf2_window_rows for every 512 columns, then gf2_step for every 64
 *                 of them that are left, and gf2_rows; gf2_apply: by tensor cores that multiply
 *                 bits (sm_80 to sm_90), otherwise by tables
 *     "lookahead" blocks of columns, whose pivots are searched by "block" in a copy of a few rows;
 *                 the other columns follow by products (gf2/blocks.h)
 *     "m4r"       as "block", always by tables
 *     "gauss"     gf2_find and gf2_add for every column
 *
 *     workspace   [ states | join | window | strip | left | right | packed ]
 *
 * Only the device knows how much work there is: kernels without work end immediately.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/backend.h"
#include "gf2/blocks.h"
#include "cuda/steps.h"
#include "gf2/cuda/echelon.h"

#include <string.h>

static const char module[] = "gf2_echelon_all";

/* A backend whose operations are those of this one. */
#ifdef ECHELON_CUDA
static const struct echi_backend *const backend = &echi_cuda;
#else
static const struct echi_backend *const backend = &echi_simt;
#endif

struct strategy;

/* The plan, which depends on the request only. */
struct plan {
    const struct strategy *strategy;
    size_t bytes; /* of the workspace */
};

/* Everything needed to make and to run the steps of a call. */
struct whole {
    struct gf2_echelon_args args;
    struct echi_steps steps;
};

struct strategy {
    const char *name, *what;
    const char *when; /* when it is chosen, for the documentation */
    bool blocks;      /* of columns: gf2/blocks.h */
    size_t least;     /* chosen for that many rows and columns, if no strategy is named */
    bool panels;      /* of 64 columns; otherwise column by column */
    bool units;       /* updates on tensor cores, if they multiply bits */
    const char *kernels;
    ech_status (*call)(ech_ctx *ctx, void *args); /* enqueues them */
};

/* ---- Workspace ---- */

struct parts {
    struct gf2_state *state;
    struct gf2_join *join;
    struct gf2_window *window;
    uint64_t *strip, *left, *right;
    uint32_t *packed;
    size_t zero_bytes; /* from strip on: read before all of it is written */
};

static size_t lay_out(const struct echi_gf2_echelon *e, const struct plan *plan, void *base,
                      bool *overflow, struct parts *parts)
{
    struct echi_layout layout = { .base = base };
    const size_t words = echi_gf2_words(e->a.cols), rows = e->a.rows;
    *parts = (struct parts){ 0 };
    parts->state = echi_part(&layout, GF2_SLOTS, sizeof *parts->state);
    parts->join = echi_part(&layout, 1, sizeof *parts->join);
    if (plan->strategy->panels) {
        parts->window = echi_part(&layout, 1, sizeof *parts->window);
        const size_t before = layout.bytes;
        parts->strip = echi_part(&layout, rows, sizeof *parts->strip);
        parts->left = echi_part(&layout, rows, GF2_SLOTS * sizeof *parts->left);
        parts->right = echi_part(&layout, words, GF2_DEPTH * sizeof *parts->right);
        parts->packed = echi_part(&layout, (words + 3) / 4 * 4, GF2_DEPTH * sizeof(uint64_t));
        parts->zero_bytes = layout.bytes - before;
    }
    *overflow = layout.overflow;
    return layout.bytes;
}

/* ---- Queued work ---- */

static size_t blocks_for(size_t n, size_t each)
{
    return n / each + (n % each != 0);
}

/* The number of rows of a block of gf2_apply: chosen for two blocks per multiprocessor, but at
 * least the number that keeps all warps busy. */
static uint32_t rows_of_apply(const ech_ctx *ctx, const struct gf2_echelon_args *a, size_t strips)
{
    const struct echi_cuda *cuda = ctx->state;
    const size_t fill = 4 * (size_t)cuda->multiprocessors;
    size_t rows = 4 * GF2_APPLY_ROWS;
    while (rows > GF2_APPLY_ROWS && blocks_for(a->rows, rows) * strips < fill)
        rows -= GF2_APPLY_ROWS;
    return (uint32_t)rows;
}

/* Applies the slots up to that of a->panel. */
static ech_status apply(ech_ctx *ctx, struct gf2_echelon_args *a)
{
    const size_t words = a->words - a->panel / GF2_SLOTS * GF2_SLOTS;
    size_t strips, blocks;
    if (a->packed) {
        strips = blocks_for(words, GF2_APPLY_WORDS);
        a->apply_rows = rows_of_apply(ctx, a, strips);
        blocks = strips * blocks_for(a->rows, a->apply_rows);
        return echi_cuda_launch_pdl(ctx, module, "gf2_apply", (unsigned)blocks, GF2_THREADS,
                                    GF2_APPLY_BYTES, a);
    }
    strips = blocks_for(words, GF2_TABLE_WORDS);
    blocks = strips * blocks_for(a->rows, GF2_TABLE_ROWS);
    return echi_cuda_launch_pdl(ctx, module, "gf2_apply_tables", (unsigned)blocks, GF2_THREADS, 0,
                                a);
}

/* A panel.  The words of the slots' columns are made at once, since the next panels need them. */
static ech_status find_panel(ech_ctx *ctx, struct gf2_echelon_args *a)
{
    const struct echi_cuda *cuda = ctx->state;
    const uint32_t slot = a->panel % GF2_SLOTS, left = a->words - (a->panel - slot);
    const size_t strips = blocks_for(a->rows, GF2_PANEL_THREADS);
    const size_t most = 2 * (size_t)cuda->multiprocessors;
    const uint32_t others = slot ? (left < GF2_SLOTS ? left : GF2_SLOTS) - 1 : 0;
    a->strips = (uint32_t)(strips < most ? strips : most);
    return echi_cuda_launch_pdl(ctx, module, "gf2_step", a->strips + others, GF2_PANEL_THREADS, 0,
                                a);
}

/* The pivot rows of the slots up to that of a->panel, and the multipliers for the last of them. */
static ech_status make_rows(ech_ctx *ctx, struct gf2_echelon_args *a)
{
    const size_t notes = blocks_for(a->rows, GF2_THREADS);
    a->strips = a->words - a->panel / GF2_SLOTS * GF2_SLOTS;
    return echi_cuda_launch_pdl(ctx, module, "gf2_rows", a->strips + (unsigned)notes, GF2_THREADS,
                                0, a);
}

/* The pivots and the pivot rows of up to 8 panels, if they are in the next rows. */
static ech_status find_window(ech_ctx *ctx, struct gf2_echelon_args *a)
{
    const size_t notes = blocks_for(a->rows, GF2_THREADS);
    ech_status status;
    a->strips = a->words - a->panel;
    TRY(echi_cuda_launch_pdl(ctx, module, "gf2_window", 1, GF2_WINDOW_THREADS, 0, a));
    TRY(echi_cuda_launch_pdl(ctx, module, "gf2_window_rows", a->strips + (unsigned)notes,
                             GF2_THREADS, 0, a));
    if (a->quick) return ECH_OK;
    a->panel += GF2_SLOTS - 1;
    a->partial = 1;
    status = apply(ctx, a);
    a->panel -= GF2_SLOTS - 1;
    a->partial = 0;
done:
    return status;
}

/* With `quick`, the rows of the identity matrix that have been added to others are the first. */
static void limit_words(struct gf2_echelon_args *a, uint32_t words, uint64_t last_mask)
{
    const uint32_t rows = (a->panel / GF2_SLOTS + 1) * GF2_DEPTH + GF2_WINDOW_MORE;
    const uint64_t used = a->columns / 64 + blocks_for(rows, 64);
    if (!a->quick) return;
    a->words = used < words ? (uint32_t)used : words;
    a->last_mask = a->words < words ? ~(uint64_t)0 : last_mask;
}

/* The number of launches depends on the matrix, so they do not fit in a list of steps.  They are
 * short, so that blocks which are set up early save time. */
static ech_status run_panels(ech_ctx *ctx, void *args)
{
    struct gf2_echelon_args *a = args;
    const uint32_t panels = (uint32_t)echi_gf2_words(a->columns);
    const uint32_t words = a->words;
    const uint64_t last_mask = a->last_mask;
    ech_status status = ECH_OK;
    for (a->panel = 0; a->panel < panels; a->panel++) {
        limit_words(a, words, last_mask);
        if (a->panel % GF2_SLOTS == 0 && a->columns / 64 - a->panel >= GF2_SLOTS &&
            a->limit >= GF2_DEPTH)
            TRY(find_window(ctx, a));
        if (!a->quick) TRY(find_panel(ctx, a));
        if (a->panel % GF2_SLOTS != GF2_SLOTS - 1 && a->panel != panels - 1) continue;
        if (!a->quick) TRY(make_rows(ctx, a));
        TRY(apply(ctx, a));
    }
done:
    return status;
}

static ech_status run_gauss(ech_ctx *ctx, void *args)
{
    struct gf2_echelon_args *a = args;
    const struct echi_cuda *cuda = ctx->state;
    const size_t most = 8 * (size_t)cuda->multiprocessors;
    const size_t wanted = blocks_for(a->rows, GF2_THREADS / 32);
    const unsigned blocks = (unsigned)(wanted < most ? wanted : most);
    ech_status status = ECH_OK;
    for (uint64_t column = 0; column < a->columns; column++) {
        a->column = (uint32_t)column;
        TRY(echi_cuda_launch(ctx, module, "gf2_find", 1, GF2_GAUSS_THREADS, 0, a));
        TRY(echi_cuda_launch(ctx, module, "gf2_add", blocks, GF2_THREADS, 0, a));
    }
done:
    return status;
}

/* ---- The strategies ---- */

/* The first that applies is chosen. */
static const struct strategy strategies[] = {
    {
        .name = "lookahead",
        .what = "pivots of up to 8192 columns in a copy of the first rows, while products update "
                "the columns after them",
        .when = "at least 32768 rows and columns",
        .least = 32768,
        .blocks = true,
        .panels = true,
        .units = true,
        .kernels = "gf2_window, gf2_window_rows, gf2_apply for a few rows, gf2_mul for all",
        .call = run_panels,
    },
    {
        .name = "block",
        .what = "pivots of 512 columns by one block if they are in the next rows, otherwise of "
                "64; updates by 512 rows at once: on tensor cores if they multiply bits, otherwise "
                "by tables",
        .when = "all other matrices",
        .panels = true,
        .units = true,
        .kernels = "gf2_window, gf2_window_rows and gf2_apply for every 512 columns; gf2_step for "
                   "every 64 and gf2_rows if some are left",
        .call = run_panels,
    },
    {
        .name = "m4r",
        .what = "like block, updates by tables in shared memory",
        .when = "only by name",
        .least = SIZE_MAX,
        .panels = true,
        .kernels = "as block, but gf2_apply_tables",
        .call = run_panels,
    },
    {
        .name = "gauss",
        .what = "two kernels per column",
        .when = "only by name",
        .least = SIZE_MAX,
        .kernels = "gf2_find, gf2_add per column",
        .call = run_gauss,
    },
};
enum { STRATEGIES = sizeof strategies / sizeof *strategies };

static ech_status choose(const struct echi_gf2_echelon *e, const struct strategy **choice)
{
    for (int i = 0; i < STRATEGIES; i++) {
        *choice = &strategies[i];
        const size_t least = e->a.rows < e->columns ? e->a.rows : e->columns;
        if (e->algorithm ? strcmp(e->algorithm, (*choice)->name) == 0 : least >= (*choice)->least)
            return ECH_OK;
    }
    return echi_fail(NULL, ECH_ERR_ARG,
                     "unknown algorithm \"%s\"; available for echelon forms on the GPU: lookahead, "
                     "block, m4r, gauss",
                     e->algorithm);
}

static ech_status plan_echelon(const void *request, void *place, size_t *work_bytes)
{
    const struct echi_gf2_echelon *e = request;
    struct plan *plan = place;
    struct parts parts;
    bool overflow;
    ech_status status = choose(e, &plan->strategy);
    if (status != ECH_OK) return status;
    *work_bytes = lay_out(e, plan, NULL, &overflow, &parts);
    if (overflow)
        return echi_fail(NULL, ECH_ERR_MEMORY,
                         "the matrix is %zu x %zu: the workspace exceeds SIZE_MAX bytes", e->a.rows,
                         e->a.cols);
    if (plan->strategy->blocks) {
        size_t bytes = 0;
        status = echi_gf2_blocks_workspace(backend, e, &bytes);
        if (bytes > *work_bytes) *work_bytes = bytes;
    }
    plan->bytes = *work_bytes;
    return status;
}

static void make_steps(const struct echi_gf2_echelon *e, const struct plan *plan,
                       struct echi_gpu gpu, void *work, struct whole *w)
{
    const struct strategy *strategy = plan->strategy;
    const bool native = strategy->units && gpu.architecture >= 80 && gpu.architecture < 100;
    const size_t limit = e->max_rank < e->a.rows ? e->max_rank : e->a.rows;
    struct parts parts;
    bool overflow;
    lay_out(e, plan, work, &overflow, &parts);
    w->steps.count = 0;
    w->args = (struct gf2_echelon_args){ .a = e->a.words,
                                         .stride = e->a.stride,
                                         .last_mask = e->a.cols ? echi_gf2_last_mask(e->a.cols) : 0,
                                         .columns = e->columns,
                                         .rows = (uint32_t)e->a.rows,
                                         .words = (uint32_t)echi_gf2_words(e->a.cols),
                                         .limit = (uint32_t)limit,
                                         .reduced = e->reduced,
                                         .quick = e->quick && strategy->panels &&
                                                  e->columns % GF2_DEPTH == 0,
                                         .rank = e->rank,
                                         .pivots = e->pivots,
                                         .rows_from = e->rows_from,
                                         .state = parts.state,
                                         .join = parts.join,
                                         .window = parts.window,
                                         .strip = parts.strip,
                                         .left = parts.left,
                                         .right = parts.right,
                                         .packed = native ? parts.packed : NULL };
    const size_t words = GF2_SLOTS * sizeof *parts.state / sizeof(uint64_t);
    const size_t threads = e->rows_from && e->a.rows > words ? e->a.rows : words;
    echi_step_add(&w->steps,
                  (struct echi_step){ .phase = ECHI_LOOK,
                                      .kind = ECHI_LAUNCH,
                                      .module = module,
                                      .name = "gf2_begin",
                                      .blocks = (unsigned)blocks_for(threads, GF2_THREADS),
                                      .threads = GF2_THREADS,
                                      .level = -1 });
    if (w->args.rows == 0 || w->args.columns == 0 || w->args.limit == 0) return;
    if (strategy->panels)
        echi_step_add(&w->steps, (struct echi_step){ .phase = ECHI_LOOK,
                                                     .kind = ECHI_CLEAR,
                                                     .level = -1,
                                                     .to = parts.strip,
                                                     .bytes = parts.zero_bytes });
    echi_step_add(&w->steps, (struct echi_step){ .phase = ECHI_MOVE,
                                                 .kind = ECHI_CALL,
                                                 .level = -1,
                                                 .name = strategy->kernels,
                                                 .call = strategy->call,
                                                 .user = &w->args });
}

/* The steps of "lookahead" depend on results, which a graph cannot wait for: "block" is captured
 * instead. */
static ech_status run_echelon(ech_ctx *ctx, const void *request, const void *plan_given, void *work)
{
    const struct plan *plan = plan_given;
    const struct echi_gf2_echelon *e = request;
    const struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    struct whole w;
    int capturing = 0;
    ech_status status = ECH_OK;
    if (plan->strategy->blocks && e->a.rows && e->columns && e->max_rank) {
        CU(cuStreamIsCapturing, echi_cuda_stream(ctx), &capturing);
        if (!capturing) return echi_gf2_blocks_run(ctx, e, work, plan->bytes);
    }
    make_steps(request, plan, echi_gpu_of(ctx), work, &w);
    status = echi_cuda_enqueue(ctx, &w.steps, &w.args, NULL);
done:
    return status;
}

static ech_status explain_echelon(const void *request, struct echi_explain *text)
{
    const struct echi_gf2_echelon *e = request;
    struct plan plan;
    struct whole w;
    size_t bytes;
    ech_status status = plan_echelon(e, &plan, &bytes);
    if (status != ECH_OK) return status;
    make_steps(e, &plan, echi_gpu_of(NULL), NULL, &w);
    echi_explain_algorithm(text, true, plan.strategy->name, "%s", plan.strategy->what);
    for (int i = 0; i < STRATEGIES; i++)
        if (&strategies[i] != plan.strategy)
            echi_explain_algorithm(text, false, strategies[i].name, "%s", strategies[i].what);
    if (plan.strategy->panels)
        echi_explain_line(text, "panels", "at most %zu, of 64 columns", echi_gf2_words(e->columns));
    echi_explain_steps(text, &w.steps);
    return ECH_OK;
}

const struct echi_operation echi_cuda_gf2_echelon = {
    .plan = plan_echelon,
    .plan_bytes = sizeof(struct plan),
    .explain = explain_echelon,
    .run = run_echelon,
};
