/*
 * scan/cuda/operation.c - scans on the GPU, host half: chooses kernels, lays out the workspace,
 * queues.
 *
 *     image scan_<type>    k8 ... k64: integers, and what core/order.h makes such; f16, bf16, f32,
 * f64;
 *                          with a w: computed and written in 64 bits
 *     kernel scan_<op>     whole, or rows longer than a tile; _few: whole, of few tiles; _rows:
 *                          shorter rows; _heads: segments
 *     image scan_ring_<type>, kernels scan_<op>_ring, _ring_heads: where plan_ring() says so
 *
 *     workspace            [ counters, totals of tiles, prefixes of groups | heads ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scan/scan.h"
#include "core/backend.h"
#include "core/call.h"
#include "cuda/cuda.h"
#include "scan/cuda/common.h"

#include <stdio.h>

struct plan {
    char image[16], keys_image[16];
    const char *kernel;
    bool look_back; /* over tiles; else short rows */
    bool heads;
    uint64_t row_tiles, row_groups, tiles, words;
    unsigned lanes, blocks, threads, stages, servers, shared_bytes;
};

enum form { TILES, ROWS, HEADS, FEW, RING, RING_HEADS };

static const char *kernel_of(const struct echi_scan *s, enum form form)
{
    static const char *const names[3][6] = {
        { "scan_sum", "scan_sum_rows", "scan_sum_heads", "scan_sum_few", "scan_sum_ring",
          "scan_sum_ring_heads" },
        { "scan_min", "scan_min_rows", "scan_min_heads", "scan_min_few" },
        { "scan_other", "scan_other_rows", "scan_other_heads", NULL, "scan_other_ring" },
    };
    return names[s->op == ECHI_SCAN_SUM ? 0 : s->op == ECHI_SCAN_MIN ? 1 : 2][form];
}

static void plan_rows(const struct echi_scan *s, struct plan *plan, uint64_t vector)
{
    enum { WARPS = SCAN_THREADS / SCAN_WARP };
    uint64_t vectors = (s->columns + vector - 1) / vector, per_block = WARPS;
    plan->lanes = 1;
    while (plan->lanes < SCAN_WARP && plan->lanes < vectors) plan->lanes *= 2;
    if (plan->lanes < SCAN_WARP)
        per_block = WARPS * SCAN_SLOTS * (uint64_t)(SCAN_WARP / plan->lanes);
    plan->blocks = (unsigned)((s->rows + per_block - 1) / per_block);
    plan->threads = SCAN_THREADS;
}

static void name_image(const struct echi_scan *s, const char *kind, char image[16])
{
    if (s->is_float)
        snprintf(image, 16, "%s_%s%s", kind, ech_dtype_name(s->dtype), s->wide ? "w" : "");
    else
        snprintf(image, 16, "%s_k%zu%s", kind, 8 * ech_dtype_bytes(s->dtype), s->wide ? "w" : "");
}

/* n is at least 1. */
static struct plan make_plan(const struct echi_scan *s)
{
    struct plan plan = { 0 };
    size_t bytes = ech_dtype_bytes(s->dtype);
    uint64_t vector = 16 / bytes, tile = SCAN_TILE_BYTES / bytes;
    name_image(s, "scan", plan.image);
    plan.heads = s->shape == ECHI_SCAN_SEGMENTS || s->shape == ECHI_SCAN_KEYS;
    snprintf(plan.keys_image, sizeof plan.keys_image, "scan_k%zu",
             s->shape == ECHI_SCAN_KEYS ? 8 * ech_dtype_bytes(s->key_dtype) : 64);
    plan.look_back = plan.heads || s->columns > tile;
    plan.kernel = kernel_of(s, plan.heads ? HEADS : plan.look_back ? TILES : ROWS);
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

struct parts {
    uint64_t *words;
    uint32_t *heads;
    size_t heads_bytes;
};

static size_t lay_out(const struct echi_scan *s, const struct plan *plan, void *base,
                      struct parts *parts)
{
    struct echi_layout layout = { .base = base };
    *parts = (struct parts){ 0 };
    if (plan->look_back) parts->words = echi_part(&layout, plan->words, sizeof *parts->words);
    parts->heads_bytes = (s->n + 31) / 32 * sizeof *parts->heads;
    if (plan->heads) parts->heads = echi_part(&layout, parts->heads_bytes, 1);
    return layout.bytes;
}

/* Of any shape: segments take their heads; rows just longer than a tile take two tiles each, and
 * with them two words of groups. */
static ech_status workspace(const void *request, void *kept, size_t *bytes)
{
    (void)kept;
    struct echi_scan s = *(const struct echi_scan *)request;
    struct parts parts;
    *bytes = 0;
    if (s.n == 0) return ECH_OK;
    if (s.shape != ECHI_SCAN_ANY) {
        struct plan plan = make_plan(&s);
        *bytes = lay_out(&s, &plan, NULL, &parts);
        return ECH_OK;
    }
    s.shape = ECHI_SCAN_SEGMENTS;
    struct plan plan = make_plan(&s);
    *bytes = lay_out(&s, &plan, NULL, &parts);
    s.shape = ECHI_SCAN_ROWS;
    s.columns = SCAN_TILE_BYTES / ech_dtype_bytes(s.dtype) + 1;
    s.rows = s.n / s.columns;
    if (s.rows == 0) return ECH_OK;
    plan = make_plan(&s);
    size_t rows_bytes = lay_out(&s, &plan, NULL, &parts);
    if (rows_bytes > *bytes) *bytes = rows_bytes;
    return ECH_OK;
}

/* ---- What is queued ---- */

static unsigned heads_blocks(const ech_ctx *ctx, uint64_t threads)
{
    const struct echi_cuda *cuda = ctx->state;
    uint64_t work = (threads + SCAN_HEADS_THREADS - 1) / SCAN_HEADS_THREADS;
    uint64_t fill = 8 * (uint64_t)cuda->multiprocessors;
    return (unsigned)(work < fill ? work : fill);
}

static ech_status find_heads(ech_ctx *ctx, const struct echi_scan *s, const struct plan *plan,
                             const struct parts *parts, const struct scan_args *args)
{
    const struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    if (s->shape == ECHI_SCAN_KEYS)
        return echi_cuda_launch_early(ctx, plan->keys_image, "scan_heads_keys",
                                      heads_blocks(ctx, (s->n + 3) / 4), SCAN_HEADS_THREADS, 0,
                                      args);
    if (s->n)
        CU(cuMemsetD8Async, (CUdeviceptr)(uintptr_t)parts->heads, 0, parts->heads_bytes,
           echi_cuda_stream(ctx));
    TRY(echi_cuda_launch_early(ctx, plan->keys_image, "scan_heads_offsets",
                               heads_blocks(ctx, s->segments + 1), SCAN_HEADS_THREADS, 0, args));
done:
    return status;
}

static int stage_bytes(const struct echi_scan *s, const struct plan *plan)
{
    int heads = SCAN_TILE_BYTES / (int)ech_dtype_bytes(s->dtype) / 8;
    return SCAN_TILE_BYTES + (plan->heads ? heads : 0);
}

/* A tile a block while there are fewer than multiprocessors; then more, so that fewer ask. */
static bool plan_few(const struct echi_cuda *cuda, const struct echi_scan *s, struct plan *plan)
{
    const uint64_t multiprocessors = (uint64_t)cuda->multiprocessors;
    if (plan->heads || s->wide || !kernel_of(s, FEW) || s->rows > 1 ||
        plan->tiles > 4 * multiprocessors || plan->tiles > SCAN_FEW_TILES)
        return false;
    unsigned each = plan->tiles <= multiprocessors / 2                                    ? 1
                    : plan->tiles <= 2 * multiprocessors || ech_dtype_bytes(s->dtype) < 4 ? 2
                                                                                          : 4;
    plan->kernel = kernel_of(s, FEW);
    plan->blocks = (unsigned)((plan->tiles + each - 1) / each);
    plan->threads = each * SCAN_FEW_THREADS;
    return true;
}

/* Whole vectors are copied from where they lie, and stay in their order.  Where it takes longest to
 * compute, blocks that all do the same are as fast. */
static bool plan_ring(const struct echi_cuda *cuda, const struct echi_scan *s, struct plan *plan)
{
    const int bytes = (int)ech_dtype_bytes(s->dtype), least = SCAN_RING_SUMMERS + SCAN_RING_AHEAD;
    if (cuda->architecture < 90 || s->wide || s->backward || s->rows > 1 || (uintptr_t)s->in % 16 ||
        bytes < 4 || (plan->heads && bytes == 8) ||
        (s->op != ECHI_SCAN_SUM && (plan->heads || !s->is_float)))
        return false;
    int stages = ((int)cuda->shared_bytes - SCAN_RING_SHARED - SCAN_RING_VALUES * bytes) /
                 stage_bytes(s, plan);
    if (stages < least) return false;
    name_image(s, "scan_ring", plan->image);
    plan->kernel = kernel_of(s, plan->heads ? RING_HEADS : RING);
    plan->stages = (unsigned)(stages < SCAN_RING_STAGES ? stages : SCAN_RING_STAGES);
    plan->shared_bytes = plan->stages * (unsigned)stage_bytes(s, plan);
    uint64_t fill = (uint64_t)cuda->multiprocessors;
    plan->blocks = (unsigned)(plan->tiles < fill ? plan->tiles : fill);
    plan->threads = SCAN_RING_WARPS * SCAN_WARP;
    return true;
}

/* Stages: as many as leave room for two blocks a multiprocessor; where that is less than four, for
 * one. */
static void plan_tiles(const struct echi_cuda *cuda, const struct echi_scan *s, struct plan *plan)
{
    const int keep = 6 << 10; /* of a block: other shared memory, and the system's */
    const int most = (int)cuda->shared_bytes, stage = stage_bytes(s, plan);
    int stages = (most / 2 - keep) / stage, resident = 2;
    if (stages < 4) {
        stages = (most - keep) / stage;
        resident = 1;
    }
    if (stages < 3) stages = 3;
    plan->stages = (unsigned)(stages < SCAN_STAGES ? stages : SCAN_STAGES);
    plan->shared_bytes = plan->stages * (unsigned)stage;
    plan->servers = plan->row_groups > 1;
    uint64_t fill = (uint64_t)(resident * cuda->multiprocessors);
    uint64_t need = plan->tiles + plan->servers;
    plan->blocks = (unsigned)(need < fill ? need : fill);
    plan->threads = SCAN_WARPS * SCAN_WARP;
}

/* The words of the look-back, which are zero. */
static ech_status prepare_words(ech_ctx *ctx, const struct echi_scan *s, const struct plan *plan,
                                const struct parts *parts, struct scan_args *args)
{
    void *zeros;
    uint64_t each = s->wide || ech_dtype_bytes(s->dtype) == 8 ? 2 : 1;
    ech_status status =
        echi_cuda_zeros(ctx, parts->words, plan->words * sizeof *parts->words, &zeros);
    if (status != ECH_OK) return status;
    args->counters = zeros;
    args->tiles = args->counters + SCAN_COUNTERS;
    args->prefixes = args->tiles + each * plan->tiles;
    args->words = zeros == parts->words ? 0 : plan->words;
    return ECH_OK;
}

static ech_status run(ech_ctx *ctx, const void *request, const void *kept, void *work)
{
    (void)kept;
    const struct echi_cuda *cuda = ctx->state;
    const struct echi_scan *s = request;
    struct plan plan = make_plan(s);
    struct parts parts;
    ech_status status = ECH_OK;
    lay_out(s, &plan, work, &parts);
    struct scan_args args = { .in = s->in,
                              .out = s->out,
                              .rows = s->rows,
                              .columns = s->columns,
                              .row_tiles = plan.row_tiles,
                              .row_groups = plan.row_groups,
                              .heads = parts.heads,
                              .offsets = s->offsets,
                              .segments = s->segments,
                              .keys = s->keys,
                              .order = s->order,
                              .key_order = s->key_order,
                              .clamp = s->clamp,
                              .first = s->first,
                              .other = s->op == ECHI_SCAN_OR    ? SCAN_OR
                                       : s->op == ECHI_SCAN_XOR ? SCAN_XOR
                                                                : SCAN_PRODUCT,
                              .lanes = plan.lanes,
                              .exclusive = s->exclusive,
                              .backward = s->backward,
                              .is_signed = s->is_signed,
                              .ignore_nan = s->ignore_nan };
    if (s->offsets) args.complaint = echi_cuda_complaint(ctx);
    if (plan.heads) TRY(find_heads(ctx, s, &plan, &parts, &args));
    if (s->n == 0) return ECH_OK;
    if (plan.look_back) {
        if (!plan_few(cuda, s, &plan) && !plan_ring(cuda, s, &plan)) plan_tiles(cuda, s, &plan);
        args.stages = plan.stages;
        args.servers = plan.servers;
        TRY(prepare_words(ctx, s, &plan, &parts, &args));
    }
    TRY(echi_cuda_launch_early(ctx, plan.image, plan.kernel, plan.blocks, plan.threads,
                               plan.shared_bytes, &args));
done:
    return status;
}

const struct echi_operation echi_cuda_scan = { .plan = workspace, .run = run };
