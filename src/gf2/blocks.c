/*
 * gf2/blocks.c - elimination over GF(2) by blocks of columns.
 *
 *     factor    the owner of a block: blocks_factor.c
 *     publish   with ranks: one agreement and one exchange: pivots, rows that move, factor
 *     apply     every rank moves rows, and multiplies the factor by the pivot rows
 *
 * The chain of publish, apply to the next block, factor is the longest if there are many ranks.  On
 * a GPU a second context runs it, and does not wait for the updates of the other columns:
 *
 *     ahead   | apply 0 to block 1 | factor 1 | apply 1 to block 2 | factor 2 | ...
 *     rest    | apply 0 to block 2 | apply 0 to the others  | apply 1 to block 3 | apply 1 ...
 *
 * `rest` may be ECHI_GF2_PANELS blocks behind.  Kernels of `ahead` have a higher priority; products
 * of `rest` are divided into short launches, which leave some multiprocessors free.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2/blocks.h"

#include <stdlib.h>
#include <string.h>

/* Products of `rest` in launches of about 0.3 ms on an H200; the kernels that search pivots are
 * small. */
enum { TILES = 80, SPARE = 12 };

/* ---- Memory ---- */

ech_status echi_gf2_blocks_allocate(struct echi_gf2_blocks *g, size_t count, size_t bytes,
                                    void *pointer)
{
    void *memory = NULL;
    size_t all;
    *(void **)pointer = NULL;
    if (!g->ctx) { /* only the size is needed */
        echi_part(&g->layout, count, bytes);
        return ECH_OK;
    }
    if (__builtin_mul_overflow(count, bytes, &all))
        return echi_fail(g->ctx, ECH_ERR_MEMORY, "an elimination needs more than SIZE_MAX bytes");
    ech_status status = echi_allocate(g->ctx, all, "an elimination", &memory);
    if (status == ECH_OK && all) {
        const unsigned char zero = 0; /* unused bits of rows are read, and written back */
        g->array[g->arrays].pointer = memory;
        g->array[g->arrays++].bytes = all;
        status = ech_fill(g->ctx, memory, all, 1, &zero);
    }
    *(void **)pointer = memory;
    return status;
}

static ech_status allocate_panel(struct echi_gf2_blocks *g, struct echi_gf2_panel *p)
{
    const size_t block = g->block;
    ech_status status;
    TRY(echi_gf2_blocks_allocate(g, (g->rows + block) * (block / 64), 8, &p->factor));
    TRY(echi_gf2_blocks_allocate(g, 4 * block + 1, 4, &p->pivots));
    if (!p->pivots) return ECH_OK;
    p->rows = p->pivots + block;
    p->from = p->rows + block;
    p->to = p->from + block;
    p->count = p->to + block;
done:
    return status;
}

static ech_status allocate_lane(struct echi_gf2_blocks *g, struct echi_gf2_lane *lane, size_t words)
{
    ech_status status;
    TRY(echi_gf2_blocks_allocate(g, g->block * words, 8, &lane->top));
    TRY(echi_gf2_blocks_allocate(g, g->block * words, 8, &lane->moved));
done:
    return status;
}

static ech_status allocate_all(struct echi_gf2_blocks *g, bool overlaps)
{
    const size_t rows = g->rows, block = g->block, block_words = block / 64;
    const size_t few = echi_gf2_blocks_few(g);
    ech_status status = ECH_OK;
    for (int i = 0; i < (overlaps ? ECHI_GF2_PANELS : 1); i++) TRY(allocate_panel(g, &g->panel[i]));
    TRY(allocate_lane(g, &g->rest, g->words));
    if (overlaps) TRY(allocate_lane(g, &g->ahead, block_words));
    TRY(echi_gf2_blocks_allocate(g, rows * block_words, 8, &g->strip));
    TRY(echi_gf2_blocks_allocate(g, few * echi_gf2_words(few), 8, &g->left));
    TRY(echi_gf2_blocks_allocate(g, block * block_words, 8, &g->right));
    TRY(echi_gf2_blocks_allocate(g, block * block_words, 8, &g->inverse));
    TRY(echi_gf2_blocks_allocate(g, rows, 4, &g->order));
done:
    return status;
}

/* Makes the second context, which is kept for the next call only if it is complete. */
static ech_status make_side(ech_ctx *ctx)
{
    const char *name = ech_device_name(ctx);
    ech_ctx *side = NULL;
    if (strncmp(name, "auto:", 5) == 0) name += 5; /* without a context of the CPU */
    if (ech_open(&side, name) != ECH_OK)
        return echi_fail(ctx, ECH_ERR_MEMORY, "a second context: %s", ech_error(NULL));
    ech_status status = ctx->backend->raise_priority(side);
    if (status == ECH_OK) status = ech_set_private_stream(side);
    if (status == ECH_OK) {
        ctx->side = side;
    } else {
        echi_fail(ctx, status, "a second context: %s", ech_error(side));
        ech_close(side);
    }
    return status;
}

static ech_status open_side(struct echi_gf2_blocks *g)
{
    const struct echi_backend *backend = g->ctx->backend;
    ech_status status = ECH_OK;
    if (!g->ctx->side) TRY(make_side(g->ctx));
    g->side = g->ctx->side;
    for (int i = 0; i < ECHI_GF2_PANELS; i++) TRY(backend->make_event(g->ctx, &g->applied[i]));
    for (int i = 0; i < 2; i++) TRY(backend->make_event(g->ctx, &g->current[i]));
done:
    return status;
}

ech_status echi_gf2_blocks_begin(struct echi_gf2_blocks *g, bool overlaps)
{
    const size_t most = g->rows < g->cols ? g->rows : g->cols;
    ech_status status;
    g->pivots = malloc((most + 1) * sizeof *g->pivots);
    g->host = calloc(g->rows + 3 * g->block + 1, sizeof *g->host);
    g->before = malloc(2 * g->block * sizeof *g->before);
    if (!g->pivots || !g->host || !g->before)
        FAIL(g->ctx, ECH_ERR_MEMORY, "out of memory for an elimination of %zu rows", g->rows);
    TRY(allocate_all(g, overlaps));
    g->rest.ctx = g->ctx;
    if (overlaps) {
        TRY(open_side(g));
        g->rest.tiles = TILES;
        g->rest.spare = SPARE;
        g->ahead.ctx = g->side;
    } else {
        g->ahead = g->rest;
    }
done:
    return status;
}

void echi_gf2_blocks_end(struct echi_gf2_blocks *g)
{
    if (g->side) {
        ech_sync(g->side); /* after a failure, kernels may still use the memory */
        for (int i = 0; i < ECHI_GF2_PANELS; i++)
            g->side->backend->free_event(g->side, g->applied[i]);
        for (int i = 0; i < 2; i++) g->side->backend->free_event(g->side, g->current[i]);
    }
    for (int i = 0; i < g->arrays; i++)
        echi_release(g->ctx, g->array[i].pointer, g->array[i].bytes);
    free(g->pivots);
    free(g->host);
    free(g->before);
}

/* ---- Steps on a lane ---- */

static ech_status run_step(ech_ctx *ctx, const struct echi_operation *operation,
                           const void *request)
{
    void *work = NULL;
    size_t bytes = 0;
    ech_status status;
    TRY(echi_operation_workspace(operation, request, &bytes));
    TRY(echi_allocate(ctx, bytes, "a step", &work));
    TRY(echi_operation_run(ctx, operation, request, work));
done:
    echi_release(ctx, work, bytes);
    return status;
}

ech_status echi_gf2_blocks_step(ech_ctx *ctx, const struct echi_gf2 *request)
{
    return run_step(ctx, ctx->backend->operations[ECHI_OP_gf2], request);
}

ech_status echi_gf2_blocks_product(const struct echi_gf2_lane *lane, const ech_gf2 *a,
                                   const ech_gf2 *b, const ech_gf2 *out, bool add)
{
    const struct echi_gf2_mul request = {
        .a = *a, .b = *b, .out = *out, .add = add, .tiles = lane->tiles, .spare = lane->spare
    };
    if (out->rows == 0 || out->cols == 0) return ECH_OK;
    return run_step(lane->ctx, lane->ctx->backend->operations[ECHI_OP_gf2_mul], &request);
}

ech_status echi_gf2_blocks_move_rows(const struct echi_gf2_lane *lane,
                                     const struct echi_gf2_panel *p, ech_gf2 *rows, uint64_t *moved)
{
    ech_gf2 copy = echi_gf2_matrix(moved, p->moves, rows->cols);
    ech_status status = ECH_OK;
    if (p->moves == 0) return ECH_OK;
    TRY(ech_gf2_gather_rows(lane->ctx, rows, p->from, &copy, ECH_U32));
    TRY(echi_gf2_blocks_step(lane->ctx, &(struct echi_gf2){ .what = ECHI_GF2_PUT_ROWS,
                                                            .a = copy,
                                                            .out = *rows,
                                                            .positions = p->to,
                                                            .rank = p->count }));
done:
    return status;
}

/* Applies a panel to words word ... end - 1. */
static ech_status apply(struct echi_gf2_blocks *g, const struct echi_gf2_lane *lane,
                        const struct echi_gf2_panel *p, size_t word, size_t end)
{
    const size_t r = p->r, last = end * 64 < g->bits ? end * 64 : g->bits;
    const size_t cols = last > word * 64 ? last - word * 64 : 0, after = g->rank + r;
    const bool form = !g->reduced && !g->rank_only;
    const struct echi_gf2_factor f = echi_gf2_blocks_parts(g, p);
    const ech_gf2 pivot_rows = echi_gf2_blocks_view(g, g->rank, word, r, cols);
    const ech_gf2 below = echi_gf2_blocks_view(g, after, word, g->rows - after, cols);
    const ech_gf2 above = echi_gf2_blocks_view(g, 0, word, g->rank, cols);
    ech_gf2 rows = echi_gf2_blocks_view(g, g->rank, word, g->rows - g->rank, cols);
    ech_gf2 top = echi_gf2_matrix(lane->top, r, cols), reduced = pivot_rows;
    ech_status status = ECH_OK;
    if (r == 0 || cols == 0) return ECH_OK;
    TRY(ech_gf2_gather_rows(lane->ctx, &rows, p->rows, &top, ECH_U32));
    TRY(echi_gf2_blocks_move_rows(lane, p, &rows, lane->moved));
    if (form) reduced = echi_gf2_matrix(lane->moved, r, cols);
    TRY(echi_gf2_blocks_product(lane, &f.inverse, &top, &reduced, false));
    if (form) TRY(echi_gf2_blocks_product(lane, &f.transform, &top, &pivot_rows, false));
    TRY(echi_gf2_blocks_product(lane, &f.after, &reduced, &below, true));
    if (g->reduced) TRY(echi_gf2_blocks_product(lane, &f.before, &reduced, &above, true));
done:
    return status;
}

/* ---- All blocks ---- */

ech_status echi_gf2_blocks_await(struct echi_gf2_blocks *g, size_t j)
{
    if (!g->side || j < ECHI_GF2_PANELS) return ECH_OK;
    return g->side->backend->wait_event(g->side, g->applied[j % ECHI_GF2_PANELS]);
}

/* Makes the panel of block j available on `ahead`, and keeps its pivots. */
static ech_status receive(struct echi_gf2_blocks *g, size_t j)
{
    const struct echi_gf2_panel *p = echi_gf2_blocks_panel(g, j);
    uint32_t *to = g->pivots + g->rank;
    ech_status status = ECH_OK;
    if (g->exchange) TRY(g->exchange->receive(g, j));
    TRY(ech_copy(g->ahead.ctx, to, p->pivots, p->r * sizeof *to)); /* the end of the copies */
    for (uint32_t i = 0; i < p->r; i++) to[i] += (uint32_t)(j * g->block);
done:
    return status;
}

/* Applies block j to the columns that `rest` has: the block after the next first. */
static ech_status apply_rest(struct echi_gf2_blocks *g, size_t j)
{
    const struct echi_gf2_panel *p = echi_gf2_blocks_panel(g, j);
    const struct echi_backend *backend = g->ctx->backend;
    const bool mine = echi_gf2_blocks_owner(g, j) == g->number;
    const size_t own = echi_gf2_blocks_word(g, j), after = echi_gf2_blocks_word(g, j + 1);
    const size_t from = echi_gf2_blocks_word(g, j + 2), to = echi_gf2_blocks_word(g, j + 3);
    ech_status status = ECH_OK;
    TRY(apply(g, &g->rest, p, from, to));
    if (g->side) TRY(backend->record_event(g->ctx, g->current[j % 2]));
    if (mine && !g->rank_only) TRY(apply(g, &g->rest, p, own, after));
    TRY(apply(g, &g->rest, p, to, g->words));
    if (g->side) TRY(backend->record_event(g->ctx, g->applied[j % ECHI_GF2_PANELS]));
done:
    return status;
}

/* Applies block j to this rank's columns; the owner of block j + 1 factors it. */
static ech_status advance(struct echi_gf2_blocks *g, size_t j)
{
    const struct echi_gf2_panel *p = echi_gf2_blocks_panel(g, j);
    const struct echi_backend *backend = g->ctx->backend;
    const bool factors =
        j + 1 < echi_gf2_blocks_count(g) && echi_gf2_blocks_owner(g, j + 1) == g->number;
    const uint32_t rank = g->rank, r = p->r;
    ech_status status = ECH_OK;
    if (r) TRY(receive(g, j));
    if (factors) {
        if (g->side && j) TRY(backend->wait_event(g->side, g->current[(j + 1) % 2]));
        TRY(apply(g, &g->ahead, p, echi_gf2_blocks_word(g, j + 1), echi_gf2_blocks_word(g, j + 2)));
    }
    TRY(apply_rest(g, j));
    g->rank += r;
    if (factors && g->rank < g->limit) {
        TRY(echi_gf2_blocks_await(g, j + 1));
        TRY(echi_gf2_blocks_factor(g, &g->ahead, j + 1, echi_gf2_blocks_panel(g, j + 1)));
    }
done:
    g->rank = rank + r;
    if (status != ECH_OK && g->side && ech_error(g->side)[0])
        echi_fail(g->ctx, status, "%s", ech_error(g->side));
    return status;
}

ech_status echi_gf2_blocks_eliminate(struct echi_gf2_blocks *g)
{
    const size_t blocks = echi_gf2_blocks_count(g);
    ech_status status = ECH_OK;
    if (g->limit == 0 || blocks == 0) return ECH_OK;
    if (g->side) TRY(ech_sync(g->ctx));
    if (echi_gf2_blocks_owner(g, 0) == g->number)
        status = echi_gf2_blocks_factor(g, &g->ahead, 0, echi_gf2_blocks_panel(g, 0));
    for (size_t j = 0; j < blocks && g->rank < g->limit; j++) {
        if (g->exchange) status = g->exchange->publish(g, status, j);
        if (status != ECH_OK) return status;
        if (j + 1 < blocks && g->side) echi_gf2_blocks_panel(g, j + 1)->r = 0;
        status = advance(g, j);
    }
    if (g->side && status == ECH_OK) status = ech_sync(g->side); /* it may apply the last panel */
    if (g->exchange) status = g->exchange->agree(g, status);
done:
    return status;
}

/* ---- On one device ---- */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Wide blocks make few products, narrow ones a short search of the first: H200, 2026-11-27. */
static size_t block_of(size_t columns)
{
    enum { LEAST = 64, MIDDLE = 4096, MOST = 8192 };
    const size_t narrow = least(columns / 8, MIDDLE), wide = least(columns / 16, MOST);
    const size_t block = (narrow > wide ? narrow : wide) / 64 * 64;
    return block < LEAST ? LEAST : block;
}

static struct echi_gf2_blocks blocks_of(ech_ctx *ctx, const struct echi_gf2_echelon *e)
{
    const size_t most = least(e->a.rows, e->columns);
    return (struct echi_gf2_blocks){ .ctx = ctx,
                                     .ranks = 1,
                                     .rows = e->a.rows,
                                     .cols = e->columns,
                                     .block = block_of(e->columns),
                                     .limit = least(e->max_rank, most),
                                     .bits = e->a.cols,
                                     .own_words = echi_gf2_words(e->columns),
                                     .words = echi_gf2_words(e->a.cols),
                                     .stride = e->a.stride,
                                     .reduced = e->reduced,
                                     .rank_only = e->rank_only,
                                     .m = e->a.words };
}

/* The workspace is that of the second context, then that of the call. */
static ech_status side_bytes(const struct echi_backend *backend, const struct echi_gf2_blocks *g,
                             size_t *bytes)
{
    const struct echi_gf2_mul mul = { .a = echi_gf2_matrix(NULL, g->rows, g->block),
                                      .b = echi_gf2_matrix(NULL, g->block, g->block),
                                      .out = echi_gf2_matrix(NULL, g->rows, g->block),
                                      .add = true };
    struct echi_layout layout = { .bytes = 0 };
    size_t product = 0;
    ech_status status;
    TRY(echi_operation_workspace(backend->operations[ECHI_OP_gf2_mul], &mul, &product));
    TRY(echi_gf2_blocks_factor_need(backend, g, bytes));
    echi_part(&layout, *bytes > product ? *bytes : product, 1);
    *bytes = layout.bytes;
done:
    return status;
}

ech_status echi_gf2_blocks_workspace(const struct echi_backend *backend,
                                     const struct echi_gf2_echelon *e, size_t *bytes)
{
    struct echi_gf2_blocks g = blocks_of(NULL, e);
    const struct echi_gf2_mul mul = { .a = echi_gf2_matrix(NULL, g.rows, g.block),
                                      .b = echi_gf2_matrix(NULL, g.block, g.bits),
                                      .out = echi_gf2_matrix(NULL, g.rows, g.bits),
                                      .add = true,
                                      .tiles = TILES,
                                      .spare = SPARE };
    size_t rest = 0, side = 0;
    ech_status status;
    TRY(side_bytes(backend, &g, &side));
    TRY(echi_operation_workspace(backend->operations[ECHI_OP_gf2_mul], &mul, &rest));
    echi_part(&g.layout, side, 1);
    echi_part(&g.layout, rest, 1);
    TRY(allocate_all(&g, true));
    *bytes = g.layout.overflow ? SIZE_MAX : g.layout.bytes;
done:
    return status;
}

/* Results, from host memory. */
static ech_status write(const struct echi_gf2_blocks *g, const struct echi_gf2_echelon *e)
{
    ech_status status = ECH_OK;
    TRY(ech_copy(g->ctx, e->rank, &g->rank, sizeof g->rank));
    if (e->pivots && g->rank)
        TRY(ech_copy(g->ctx, e->pivots, g->pivots, g->rank * sizeof *g->pivots));
    if (e->rows_from)
        TRY(ech_copy(g->ctx, e->rows_from, g->rows_from, g->rows * sizeof *g->rows_from));
done:
    return status;
}

ech_status echi_gf2_blocks_run(ech_ctx *ctx, const struct echi_gf2_echelon *e, void *work,
                               size_t work_bytes)
{
    struct echi_gf2_blocks g = blocks_of(ctx, e);
    struct echi_arena *const outer = ctx->arena;
    struct echi_arena side = { .base = work }, own;
    ech_status status;
    TRY(side_bytes(ctx->backend, &g, &side.bytes));
    own = (struct echi_arena){ .base = side.base + side.bytes, .bytes = work_bytes - side.bytes };
    ctx->arena = &own;
    if (e->rows_from) {
        g.rows_from = malloc(g.rows * sizeof *g.rows_from);
        if (!g.rows_from) FAIL(ctx, ECH_ERR_MEMORY, "out of memory for %zu rows", g.rows);
        for (size_t i = 0; i < g.rows; i++) g.rows_from[i] = (uint32_t)i;
    }
    TRY(echi_gf2_blocks_begin(&g, true));
    g.side->arena = &side;
    TRY(echi_gf2_blocks_eliminate(&g));
    TRY(write(&g, e));
done:
    echi_gf2_blocks_end(&g);
    if (g.side) g.side->arena = NULL;
    free(g.rows_from);
    ctx->arena = outer;
    return status;
}
