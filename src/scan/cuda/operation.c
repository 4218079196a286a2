/*
 * scan/cuda/operation.c - scans on the GPU, host code: the plan, the table of strategies, and their
 * steps.
 *
 *     module scan_<type>   k8 ... k64: integers, and types that core/order.h maps to them; f16,
 *                          bf16, f32 and f64; with a w: computed and written in 64 bits
 *     kernel scan_<op>     arrays, or rows longer than a tile; _short: arrays of few tiles; _rows:
 *                          shorter rows; _segments: segments, but scan_other has both
 *     module scan_ring_<type>, kernels scan_<op>_ring, _ring_segments: strategy "ring"
 *
 *     workspace            [ counters, totals of tiles, prefixes of groups | flags ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scan/scan.h"
#include "core/backend.h"
#include "core/call.h"
#include "cuda/steps.h"
#include "scan/cuda/common.h"

#include <stdio.h>
#include <stdlib.h>

/* The plan, which depends on the request only. */
struct plan {
    char module[16], flags_module[16];
    bool look_back; /* over tiles; otherwise short rows */
    bool flags;
    uint64_t row_tiles, row_groups, tiles, words;
    unsigned lanes, row_blocks; /* of short rows */
};

/* Parts of the workspace. */
struct parts {
    uint64_t *words;
    uint32_t *flags;
    size_t flags_bytes;
};

/* Everything needed to make and to run the steps of a call; first the kernels' argument. */
struct whole {
    struct scan_args args;
    const struct plan *plan;
    struct parts parts;
    bool wide_words; /* two words per tile */
    char ring_module[16];
    struct echi_steps steps;
};

/* The context in which steps are made. */
struct build {
    const struct echi_scan *s;
    const struct plan *plan;
    struct echi_gpu gpu;
    struct whole *w;
};

struct strategy {
    const char *name, *what;
    const char *when; /* when it is chosen, for the documentation */
    bool (*can)(const struct build *b);
    void (*steps)(const struct build *b);
};

enum form { TILES, ROWS, SEGMENTED, SHORT, HELD, RING, RING_SEGMENTED };

/* Results of 64 bits from smaller elements, and integers of 8 and 16 bits except sums, have one
 * kernel for all operators. */
static const char *kernel_of(const struct echi_scan *s, enum form form)
{
    static const char *const names[3][7] = {
        { "scan_sum", "scan_sum_rows", "scan_sum_segments", "scan_sum_short", "scan_sum_held",
          "scan_sum_ring", "scan_sum_ring_segments" },
        { "scan_min", "scan_min_rows", "scan_min_segments", "scan_min_short", "scan_min_held" },
        { "scan_other", "scan_other_rows", "scan_other", "scan_other_short", NULL,
          "scan_other_ring" },
    };
    const bool sum = s->op == ECHI_SCAN_SUM && !s->wide;
    const bool min = s->op == ECHI_SCAN_MIN && ech_dtype_bytes(s->dtype) > 2;
    return names[sum ? 0 : min ? 1 : 2][form];
}

static void plan_rows(const struct echi_scan *s, struct plan *plan, uint64_t vector)
{
    enum { WARPS = SCAN_THREADS / SCAN_WARP };
    uint64_t vectors = (s->columns + vector - 1) / vector, per_block = WARPS;
    plan->lanes = 1;
    while (plan->lanes < SCAN_WARP && plan->lanes < vectors) plan->lanes *= 2;
    if (plan->lanes < SCAN_WARP)
        per_block = WARPS * SCAN_SLOTS * (uint64_t)(SCAN_WARP / plan->lanes);
    plan->row_blocks = (unsigned)((s->rows + per_block - 1) / per_block);
}

static void name_module(const struct echi_scan *s, const char *kind, char module[16])
{
    if (s->is_float)
        snprintf(module, 16, "%s_%s%s", kind, ech_dtype_name(s->dtype), s->wide ? "w" : "");
    else
        snprintf(module, 16, "%s_k%zu%s", kind, 8 * ech_dtype_bytes(s->dtype), s->wide ? "w" : "");
}

/* One array that a warp scans more slowly than blocks: longer than 4 KiB. */
static bool suits_short(const struct echi_scan *s)
{
    const bool segments = s->shape == ECHI_SCAN_SEGMENTS || s->shape == ECHI_SCAN_KEYS;
    const uint64_t warp_bytes = 4 << 10;
    return !segments && !s->wide && s->rows <= 1 &&
           s->columns * ech_dtype_bytes(s->dtype) > warp_bytes &&
           (s->op == ECHI_SCAN_SUM || s->op == ECHI_SCAN_MIN);
}

static struct plan make_plan(const struct echi_scan *s)
{
    struct plan plan = { 0 };
    size_t bytes = ech_dtype_bytes(s->dtype);
    uint64_t vector = 16 / bytes, tile = SCAN_TILE_BYTES / bytes;
    name_module(s, "scan", plan.module);
    plan.flags = s->shape == ECHI_SCAN_SEGMENTS || s->shape == ECHI_SCAN_KEYS;
    snprintf(plan.flags_module, sizeof plan.flags_module, "scan_k%zu",
             s->shape == ECHI_SCAN_KEYS ? 8 * ech_dtype_bytes(s->key_dtype) : 64);
    plan.look_back = plan.flags || s->columns > tile || suits_short(s);
    if (!plan.look_back) {
        plan_rows(s, &plan, vector);
        return plan;
    }
    plan.row_tiles = (s->columns + tile - 1) / tile;
    plan.row_groups = (plan.row_tiles + SCAN_GROUP - 1) / SCAN_GROUP;
    plan.tiles = s->rows * plan.row_tiles;
    uint64_t parts = s->wide || bytes == 8 ? 2 : 1;
    plan.words = SCAN_COUNTERS + parts * (plan.tiles + s->rows * plan.row_groups);
    return plan;
}

static size_t lay_out(const struct echi_scan *s, const struct plan *plan, void *base,
                      struct parts *parts)
{
    struct echi_layout layout = { .base = base };
    *parts = (struct parts){ 0 };
    if (plan->look_back) parts->words = echi_part(&layout, plan->words, sizeof *parts->words);
    parts->flags_bytes = (s->n + 31) / 32 * sizeof *parts->flags;
    if (plan->flags) parts->flags = echi_part(&layout, parts->flags_bytes, 1);
    return layout.bytes;
}

static ech_status plan_scan(const void *request, void *place, size_t *work_bytes)
{
    const struct echi_scan *s = request;
    struct plan *plan = place;
    struct parts parts;
    *plan = make_plan(s);
    *work_bytes = s->n ? lay_out(s, plan, NULL, &parts) : 0;
    return ECH_OK;
}

/* ---- Steps ---- */

static void launch(const struct build *b, enum echi_phase phase, const char *module,
                   const char *kernel, uint64_t blocks, unsigned threads, unsigned shared_bytes)
{
    echi_step_add(&b->w->steps, (struct echi_step){ .phase = phase,
                                                    .kind = ECHI_LAUNCH_PDL,
                                                    .module = module,
                                                    .name = kernel,
                                                    .blocks = (unsigned)blocks,
                                                    .threads = threads,
                                                    .shared_bytes = shared_bytes,
                                                    .level = -1 });
}

static uint64_t flags_blocks(const struct build *b, uint64_t threads)
{
    uint64_t work = (threads + SCAN_FLAGS_THREADS - 1) / SCAN_FLAGS_THREADS;
    uint64_t fill = 8 * (uint64_t)b->gpu.multiprocessors;
    return work < fill ? work : fill;
}

static void find_flags(const struct build *b)
{
    const struct echi_scan *s = b->s;
    const struct parts *parts = &b->w->parts;
    if (s->shape == ECHI_SCAN_KEYS) {
        launch(b, ECHI_LOOK, b->plan->flags_module, "scan_flags_keys",
               flags_blocks(b, (s->n + 3) / 4), SCAN_FLAGS_THREADS, 0);
        return;
    }
    if (s->n)
        echi_step_add(&b->w->steps, (struct echi_step){ .phase = ECHI_LOOK,
                                                        .kind = ECHI_CLEAR,
                                                        .level = -1,
                                                        .to = parts->flags,
                                                        .bytes = parts->flags_bytes });
    launch(b, ECHI_LOOK, b->plan->flags_module, "scan_flags_offsets",
           flags_blocks(b, s->segments + 1), SCAN_FLAGS_THREADS, 0);
}

/* Gets the tile status descriptors, cleared. */
static void get_words(const struct build *b)
{
    struct whole *w = b->w;
    echi_step_add(&w->steps,
                  (struct echi_step){ .phase = ECHI_COUNT,
                                      .kind = ECHI_ZEROS,
                                      .level = -1,
                                      .to = w->parts.words,
                                      .slot = &w->args.counters,
                                      .bytes = b->plan->words * sizeof *w->parts.words });
}

/* Sets the parts of the descriptors, when their address is known. */
static void set_args(void *args, struct echi_step *step, uint64_t part)
{
    struct whole *w = args;
    struct scan_args *a = args;
    (void)step, (void)part;
    if (!a->counters) return;
    a->tiles = a->counters + SCAN_COUNTERS;
    a->prefixes = a->tiles + (w->wide_words ? 2 : 1) * w->plan->tiles;
    a->words = a->counters == w->parts.words ? 0 : w->plan->words;
}

static int stage_bytes(const struct build *b)
{
    int flags = SCAN_TILE_BYTES / (int)ech_dtype_bytes(b->s->dtype) / 8;
    return SCAN_TILE_BYTES + (b->plan->flags ? flags : 0);
}

/* ---- Strategies: empty input, and short rows ---- */

static bool is_empty(const struct build *b)
{
    return b->s->n == 0;
}

static void no_steps(const struct build *b)
{
    (void)b;
}

static bool are_short(const struct build *b)
{
    return !b->plan->look_back;
}

static void steps_of_rows(const struct build *b)
{
    launch(b, ECHI_MOVE, b->plan->module, kernel_of(b->s, ROWS), b->plan->row_blocks, SCAN_THREADS,
           0);
}

/* ---- Strategy: few tiles ---- */

static bool can_short(const struct build *b)
{
    const struct plan *plan = b->plan;
    return suits_short(b->s) && plan->tiles <= 8 * (uint64_t)b->gpu.multiprocessors &&
           plan->tiles <= SCAN_SHORT_TILES;
}

/* One tile per block as long as there are fewer than multiprocessors; beyond that several tiles per
 * block, so that fewer blocks poll. */
static void steps_of_short(const struct build *b)
{
    const uint64_t multiprocessors = (uint64_t)b->gpu.multiprocessors, tiles = b->plan->tiles;
    unsigned each = tiles <= multiprocessors / 2                                       ? 1
                    : tiles <= 2 * multiprocessors || ech_dtype_bytes(b->s->dtype) < 4 ? 2
                                                                                       : 4;
    get_words(b);
    launch(b, ECHI_MOVE, b->plan->module, kernel_of(b->s, SHORT), (tiles + each - 1) / each,
           each * SCAN_SHORT_THREADS, 0);
}

/* ---- Strategy: all tiles in shared memory ---- */

static unsigned held_tiles(const struct build *b)
{
    const uint64_t blocks = (uint64_t)b->gpu.multiprocessors;
    return (unsigned)((b->plan->tiles + blocks - 1) / blocks);
}

static bool can_held(const struct build *b)
{
    const int values = (int)(SCAN_HELD_TILES * (SCAN_LINES + 1) + SCAN_SHORT_TILES / SCAN_GROUP);
    const int others = 24; /* bytes of struct held_shared that are not values */
    const int room = (int)b->gpu.shared_bytes - others - values * (int)ech_dtype_bytes(b->s->dtype);
    const int64_t each = held_tiles(b);
    return suits_short(b->s) && ech_dtype_bytes(b->s->dtype) >= 4 &&
           b->plan->tiles > 4 * (uint64_t)b->gpu.multiprocessors &&
           b->plan->tiles <= SCAN_SHORT_TILES && each <= SCAN_HELD_TILES &&
           each * SCAN_TILE_BYTES <= room;
}

static void steps_of_held(const struct build *b)
{
    const unsigned each = held_tiles(b);
    b->w->args.stages = each;
    get_words(b);
    launch(b, ECHI_MOVE, b->plan->module, kernel_of(b->s, HELD), (b->plan->tiles + each - 1) / each,
           SCAN_HELD_THREADS, each * SCAN_TILE_BYTES);
}

/* ---- Strategy: a ring of stages ---- */

static int ring_stages(const struct build *b)
{
    const int bytes = (int)ech_dtype_bytes(b->s->dtype);
    return ((int)b->gpu.shared_bytes - SCAN_RING_SHARED - SCAN_RING_VALUES * bytes) /
           stage_bytes(b);
}

/* Full vectors are copied to shared memory without reordering.  If the computation is the
 * bottleneck, blocks whose warps all do the same are as fast. */
static bool can_ring(const struct build *b)
{
    const struct echi_scan *s = b->s;
    const size_t bytes = ech_dtype_bytes(s->dtype);
    if (b->gpu.architecture < 90 || s->wide || s->backward || s->rows > 1 ||
        (uintptr_t)s->in % 16 || bytes < 4 || (b->plan->flags && bytes == 8) ||
        (s->op != ECHI_SCAN_SUM && (b->plan->flags || !s->is_float)))
        return false;
    return ring_stages(b) >= SCAN_RING_SUMMERS + SCAN_RING_AHEAD;
}

static void steps_of_ring(const struct build *b)
{
    const int stages = ring_stages(b);
    const uint64_t fill = (uint64_t)b->gpu.multiprocessors, tiles = b->plan->tiles;
    struct scan_args *args = &b->w->args;
    args->stages = (unsigned)(stages < SCAN_RING_STAGES ? stages : SCAN_RING_STAGES);
    name_module(b->s, "scan_ring", b->w->ring_module);
    get_words(b);
    launch(b, ECHI_MOVE, b->w->ring_module, kernel_of(b->s, b->plan->flags ? RING_SEGMENTED : RING),
           tiles < fill ? tiles : fill, SCAN_RING_WARPS * SCAN_WARP,
           args->stages * (unsigned)stage_bytes(b));
}

/* ---- Strategy: tiles ---- */

static bool always(const struct build *b)
{
    (void)b;
    return true;
}

/* Stages: as many as leave space for two blocks per multiprocessor; if that is less than four, for
 * one block. */
static void steps_of_tiles(const struct build *b)
{
    const int keep = 6 << 10; /* per block: other shared memory, and the system's */
    const int most = (int)b->gpu.shared_bytes, stage = stage_bytes(b);
    int stages = (most / 2 - keep) / stage, resident = 2;
    struct scan_args *args = &b->w->args;
    if (stages < 4) {
        stages = (most - keep) / stage;
        resident = 1;
    }
    if (stages < 3) stages = 3;
    args->stages = (unsigned)(stages < SCAN_STAGES ? stages : SCAN_STAGES);
    args->servers = b->plan->row_groups > 1;
    const uint64_t fill = (uint64_t)(resident * b->gpu.multiprocessors);
    const uint64_t need = b->plan->tiles + args->servers;
    get_words(b);
    launch(b, ECHI_MOVE, b->plan->module, kernel_of(b->s, b->plan->flags ? SEGMENTED : TILES),
           need < fill ? need : fill, SCAN_WARPS * SCAN_WARP, args->stages * (unsigned)stage);
}

/* ---- The strategies ---- */

/* The first one that applies is used. */
static const struct strategy strategies[] = {
    {
        .name = "empty",
        .what = "writes nothing; offsets are still checked",
        .when = "there are no elements",
        .can = is_empty,
        .steps = no_steps,
    },
    {
        .name = "rows",
        .what = "lanes of a warp scan a row; blocks exchange nothing",
        .when = "rows that fit in one tile",
        .can = are_short,
        .steps = steps_of_rows,
    },
    {
        .name = "held",
        .what = "a block per multiprocessor holds its tiles in shared memory, and adds up the "
                "totals of all tiles before them",
        .when = "one array of more than four tiles per multiprocessor that fits in shared memory, "
                "of elements of 4 or 8 bytes; no segments, no 64-bit accumulators; sums, minima "
                "and maxima",
        .can = can_held,
        .steps = steps_of_held,
    },
    {
        .name = "short",
        .what =
            "a block scans one, two or four tiles and adds up the totals of all tiles before it",
        .when = "one array of few tiles: at most eight per multiprocessor; no segments, no 64-bit "
                "accumulators; sums, minima and maxima",
        .can = can_short,
        .steps = steps_of_short,
    },
    {
        .name = "ring",
        .what =
            "one persistent block per multiprocessor: specialised warps copy, sum and write tiles "
            "in a ring in shared memory",
        .when = "one aligned array of elements of 4 or 8 bytes on sm_90 and later, scanned "
                "forward: sums, and all operations on floats; with segments only sums of 4 bytes",
        .can = can_ring,
        .steps = steps_of_ring,
    },
    {
        .name = "tiles",
        .what = "persistent blocks take one tile after the other, with decoupled look-back over "
                "groups of tiles",
        .when = "all other calls",
        .can = always,
        .steps = steps_of_tiles,
    },
};

static const struct strategy *make_steps(const struct echi_scan *s, const struct plan *plan,
                                         struct echi_gpu gpu, void *work, struct whole *w)
{
    const struct build b = { s, plan, gpu, w };
    const struct strategy *strategy = strategies;
    static const uint32_t others[] = { [ECHI_SCAN_SUM] = SCAN_SUM,
                                       [ECHI_SCAN_MIN] = SCAN_MIN,
                                       [ECHI_SCAN_PRODUCT] = SCAN_PRODUCT,
                                       [ECHI_SCAN_OR] = SCAN_OR,
                                       [ECHI_SCAN_XOR] = SCAN_XOR };
    w->steps.count = 0;
    w->plan = plan;
    w->wide_words = s->wide || ech_dtype_bytes(s->dtype) == 8;
    lay_out(s, plan, work, &w->parts);
    w->args = (struct scan_args){ .in = s->in,
                                  .out = s->out,
                                  .rows = s->rows,
                                  .columns = s->columns,
                                  .row_tiles = b.plan->row_tiles,
                                  .row_groups = b.plan->row_groups,
                                  .flags = w->parts.flags,
                                  .offsets = s->offsets,
                                  .offsets_index = s->offsets_index,
                                  .segments = s->segments,
                                  .keys = s->keys,
                                  .order = s->order,
                                  .key_order = s->key_order,
                                  .first = s->first,
                                  .other = others[s->op],
                                  .lanes = b.plan->lanes,
                                  .exclusive = s->exclusive,
                                  .backward = s->backward,
                                  .is_signed = s->is_signed,
                                  .ignore_nan = s->ignore_nan };
    if (s->offsets && gpu.ctx) w->args.data_error = echi_cuda_error_word(gpu.ctx);
    if (b.plan->flags) find_flags(&b);
    while (!strategy->can(&b)) strategy++;
    strategy->steps(&b);
    return strategy;
}

static ech_status run_scan(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    struct whole w;
    make_steps(request, plan, echi_gpu_of(ctx), work, &w);
    return echi_cuda_enqueue(ctx, &w.steps, &w, set_args);
}

/* The words of the descriptors are those of the workspace, and are kept. */
static void keep_words(struct whole *w)
{
    for (int i = 0; i < w->steps.count; i++)
        if (w->steps.step[i].kind == ECHI_ZEROS) w->steps.step[i].kind = ECHI_CLEAR;
    w->args.counters = w->parts.words;
}

static ech_status tile_totals(ech_ctx *ctx, const struct echi_scan *s, uint64_t *totals)
{
    const struct plan plan = make_plan(s);
    const uint64_t parts = s->wide || ech_dtype_bytes(s->dtype) == 8 ? 2 : 1;
    const size_t bytes = (size_t)(parts * plan.tiles) * sizeof(uint64_t);
    struct whole w;
    struct parts places;
    void *work = NULL;
    const size_t work_bytes = lay_out(s, &plan, NULL, &places);
    uint64_t *words = malloc(bytes);
    ech_status status = echi_cuda_enter(ctx);
    if (status == ECH_OK && !words)
        status = echi_fail(ctx, ECH_ERR_MEMORY, "out of memory for the totals of a scan");
    if (status == ECH_OK) status = echi_allocate(ctx, work_bytes, "a scan", &work);
    if (status == ECH_OK) {
        make_steps(s, &plan, echi_gpu_of(ctx), work, &w);
        keep_words(&w);
        status = echi_cuda_enqueue(ctx, &w.steps, &w, set_args);
    }
    if (status == ECH_OK) status = ech_copy(ctx, words, w.parts.words + SCAN_COUNTERS, bytes);
    for (uint64_t i = 0; i < plan.tiles && status == ECH_OK; i++)
        totals[i] = (uint32_t)words[parts * i] | (parts == 2 ? words[2 * i + 1] << 32 : 0);
    echi_release(ctx, work, work_bytes);
    free(words);
    echi_cuda_leave(ctx);
    return status;
}

const struct echi_scan_ops echi_cuda_scan_ops = { .tile_bytes = SCAN_TILE_BYTES,
                                                  .tile_totals = tile_totals };

static ech_status explain_scan(const void *request, struct echi_explain *e)
{
    struct plan plan;
    struct whole w;
    size_t bytes;
    const ech_status status = plan_scan(request, &plan, &bytes);
    if (status != ECH_OK) return status;
    const struct strategy *strategy = make_steps(request, &plan, echi_gpu_of(NULL), NULL, &w);
    echi_explain_algorithm(e, true, strategy->name, "%s", strategy->what);
    echi_explain_steps(e, &w.steps);
    return ECH_OK;
}

_Static_assert(sizeof(struct plan) <= ECHI_PLAN_BYTES, "a plan of a scan is too large");

const struct echi_operation echi_cuda_scan = {
    .plan = plan_scan,
    .plan_bytes = sizeof(struct plan),
    .explain = explain_scan,
    .run = run_scan,
};
