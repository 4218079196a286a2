/*
 * dist/linear/gf2_eliminate.c - elimination over GF(2) by blocks of columns, with one broadcast per
 * block.
 *
 *     publish   one agreement and one exchange: pivots, rows that move, factor
 *     apply     every rank moves rows, and multiplies the factor by the pivot rows
 *     factor    the owner of the next block: gf2_factor.c
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
#include "core/call.h"
#include "dist/linear/gf2.h"

#include <stdlib.h>
#include <string.h>

/* Products of `rest` in launches of about 0.3 ms on an H200; the kernels that search pivots are
 * small. */
enum { TILES = 80, SPARE = 12 };

/* ---- Memory ---- */

ech_status echi_gf2_dist_allocate(struct echi_gf2_dist *g, size_t count, size_t bytes,
                                  void *pointer)
{
    void *memory = NULL;
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all))
        return echi_fail(g->d.ctx, ECH_ERR_MEMORY, "an elimination needs more than SIZE_MAX bytes");
    ech_status status = echi_allocate(g->d.ctx, all, "an elimination", &memory);
    if (status == ECH_OK && all) {
        const unsigned char zero = 0; /* unused bits of rows are read, and written back */
        g->array[g->arrays++] = (struct echi_linear_memory){ memory, all };
        status = ech_fill(g->d.ctx, memory, all, 1, &zero);
    }
    *(void **)pointer = memory;
    return status;
}

static ech_status allocate_panel(struct echi_gf2_dist *g, struct echi_gf2_panel *p)
{
    const size_t block = g->block;
    ech_status status;
    TRY(echi_gf2_dist_allocate(g, g->rows * (block / 64), 8, &p->factor));
    TRY(echi_gf2_dist_allocate(g, 4 * block + 1, 4, &p->pivots));
    p->rows = p->pivots + block;
    p->from = p->rows + block;
    p->to = p->from + block;
    p->count = p->to + block;
done:
    return status;
}

static ech_status allocate_lane(struct echi_gf2_dist *g, struct echi_gf2_lane *lane, size_t words)
{
    ech_status status;
    TRY(echi_gf2_dist_allocate(g, g->block * words, 8, &lane->top));
    TRY(echi_gf2_dist_allocate(g, g->block * words, 8, &lane->moved));
done:
    return status;
}

/* The context that factors blocks. */
static ech_status open_side(struct echi_gf2_dist *g)
{
    const struct echi_backend *backend = g->d.ctx->backend;
    ech_status status = ECH_OK;
    if (ech_open(&g->side, ech_device_name(g->d.ctx)) != ECH_OK)
        FAIL(g->d.ctx, ECH_ERR_MEMORY, "a second context: %s", ech_error(NULL));
    TRY(backend->raise_priority(g->side));
    TRY(ech_set_private_stream(g->side));
    for (int i = 0; i < ECHI_GF2_PANELS; i++) TRY(backend->make_event(g->d.ctx, &g->applied[i]));
    for (int i = 0; i < 2; i++) TRY(backend->make_event(g->d.ctx, &g->current[i]));
    g->direct = echi_comm_direct(g->d.comm);
done:
    if (status != ECH_OK && g->side && ech_error(g->side)[0])
        return echi_fail(g->d.ctx, status, "a second context: %s", ech_error(g->side));
    return status;
}

ech_status echi_gf2_dist_begin(struct echi_gf2_dist *g, const ech_gf2 *a, const ech_gf2 *b)
{
    const size_t rows = g->rows, block = g->block, block_words = block / 64;
    const size_t most = rows < g->cols ? rows : g->cols, few = echi_gf2_dist_few(g);
    const bool overlaps = g->d.ctx->backend->make_event != NULL;
    ech_gf2 to;
    ech_status status;
    g->a_words = echi_gf2_words(g->own);
    g->words = g->a_words + echi_gf2_words(g->more);
    g->pivots = malloc((most + 1) * sizeof *g->pivots);
    g->host = calloc(rows + 3 * block + 1, sizeof *g->host);
    if (!g->pivots || !g->host)
        FAIL(g->d.ctx, ECH_ERR_MEMORY, "out of memory for an elimination of %zu rows", rows);
    TRY(echi_gf2_dist_allocate(g, rows * g->words, 8, &g->m));
    for (int i = 0; i < (overlaps ? ECHI_GF2_PANELS : 1); i++) TRY(allocate_panel(g, &g->panel[i]));
    TRY(allocate_lane(g, &g->rest, g->words));
    TRY(echi_gf2_dist_allocate(g, rows * block_words, 8, &g->strip));
    TRY(echi_gf2_dist_allocate(g, few * echi_gf2_words(few), 8, &g->left));
    TRY(echi_gf2_dist_allocate(g, block * block_words, 8, &g->right));
    TRY(echi_gf2_dist_allocate(g, block * block_words, 8, &g->inverse));
    TRY(echi_gf2_dist_allocate(g, rows, 4, &g->order));
    if (rows && g->words) {
        to = echi_gf2_dist_view(g, 0, 0, rows, g->words * 64);
        TRY(ech_gf2_copy(g->d.ctx, a, 0, 0, &to, 0, 0, rows, g->own));
        if (b) TRY(ech_gf2_copy(g->d.ctx, b, 0, 0, &to, 0, g->a_words * 64, rows, g->more));
    }
    g->rest.ctx = g->d.ctx;
    if (overlaps) {
        TRY(allocate_lane(g, &g->ahead, block_words));
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

void echi_gf2_dist_end(struct echi_gf2_dist *g)
{
    if (g->side) {
        ech_sync(g->side); /* after a failure, kernels may still use the memory */
        for (int i = 0; i < ECHI_GF2_PANELS; i++)
            g->side->backend->free_event(g->side, g->applied[i]);
        for (int i = 0; i < 2; i++) g->side->backend->free_event(g->side, g->current[i]);
    }
    ech_close(g->side);
    for (int i = 0; i < g->arrays; i++)
        echi_release(g->d.ctx, g->array[i].pointer, g->array[i].bytes);
    free(g->pivots);
    free(g->host);
}

static struct echi_gf2_panel *panel_of(struct echi_gf2_dist *g, size_t j)
{
    return &g->panel[g->side ? j % ECHI_GF2_PANELS : 0];
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

ech_status echi_gf2_dist_run(ech_ctx *ctx, const struct echi_gf2 *request)
{
    return run_step(ctx, ctx->backend->operations[ECHI_OP_gf2], request);
}

ech_status echi_gf2_dist_product(const struct echi_gf2_lane *lane, const ech_gf2 *a,
                                 const ech_gf2 *b, const ech_gf2 *out, bool add)
{
    const struct echi_gf2_mul request = {
        .a = *a, .b = *b, .out = *out, .add = add, .tiles = lane->tiles, .spare = lane->spare
    };
    if (out->rows == 0 || out->cols == 0) return ECH_OK;
    return run_step(lane->ctx, lane->ctx->backend->operations[ECHI_OP_gf2_mul], &request);
}

ech_status echi_gf2_dist_move_rows(const struct echi_gf2_lane *lane, const struct echi_gf2_panel *p,
                                   ech_gf2 *rows, uint64_t *moved)
{
    ech_gf2 copy = echi_gf2_matrix(moved, p->moves, rows->cols);
    ech_status status = ECH_OK;
    if (p->moves == 0) return ECH_OK;
    TRY(ech_gf2_gather_rows(lane->ctx, rows, p->from, &copy, ECH_U32));
    TRY(echi_gf2_dist_run(lane->ctx, &(struct echi_gf2){ .what = ECHI_GF2_PUT_ROWS,
                                                         .a = copy,
                                                         .out = *rows,
                                                         .positions = p->to,
                                                         .rank = p->count }));
done:
    return status;
}

/* Applies a panel to words word ... end - 1. */
static ech_status apply(struct echi_gf2_dist *g, const struct echi_gf2_lane *lane,
                        const struct echi_gf2_panel *p, size_t word, size_t end)
{
    const size_t r = p->r, stride = echi_gf2_words(r), cols = end > word ? (end - word) * 64 : 0;
    const size_t first = g->reduced ? 0 : g->rank, after = g->rank + r;
    const ech_gf2 middle = echi_gf2_matrix(p->factor + (g->rank - first) * stride, r, r);
    const ech_gf2 lower = echi_gf2_matrix(middle.words + r * stride, g->rows - after, r);
    const ech_gf2 upper = echi_gf2_matrix(p->factor, g->rank, r);
    ech_gf2 rows = echi_gf2_dist_view(g, g->rank, word, g->rows - g->rank, cols);
    ech_gf2 top = echi_gf2_matrix(lane->top, r, cols);
    const ech_gf2 pivot_rows = echi_gf2_dist_view(g, g->rank, word, r, cols);
    const ech_gf2 below = echi_gf2_dist_view(g, after, word, g->rows - after, cols);
    const ech_gf2 above = echi_gf2_dist_view(g, 0, word, g->rank, cols);
    ech_status status = ECH_OK;
    if (r == 0 || cols == 0) return ECH_OK;
    TRY(ech_gf2_gather_rows(lane->ctx, &rows, p->rows, &top, ECH_U32));
    TRY(echi_gf2_dist_move_rows(lane, p, &rows, lane->moved));
    if (!g->rank_only) TRY(echi_gf2_dist_product(lane, &middle, &top, &pivot_rows, false));
    TRY(echi_gf2_dist_product(lane, &lower, &top, &below, true));
    if (g->reduced) TRY(echi_gf2_dist_product(lane, &upper, &top, &above, true));
done:
    return status;
}

/* ---- Publish ---- */

struct note {
    uint32_t r, moves;
    uint64_t factor, pivots; /* addresses on the owner */
};

static size_t list_bytes(const struct echi_gf2_dist *g)
{
    return (4 * g->block + 1) * sizeof(uint32_t);
}

static size_t factor_bytes(const struct echi_gf2_dist *g, const struct echi_gf2_panel *p)
{
    const size_t rows = g->reduced ? g->rows : g->rows - g->rank;
    return rows * echi_gf2_words(p->r) * sizeof *p->factor;
}

static ech_status send_all(struct echi_gf2_dist *g, size_t j, struct echi_gf2_panel *p)
{
    struct echi_dist *d = &g->d;
    const int owner = echi_gf2_dist_owner(g, j);
    const ech_comm_message parts[] = { { p->pivots, list_bytes(g), owner },
                                       { p->factor, factor_bytes(g, p), owner } };
    ech_ctx *ctx = g->ahead.ctx;
    if (d->rank != owner) return echi_comm_exchange(ctx, d->comm, NULL, 0, parts, 2);
    ech_comm_message *sends = calloc(2 * (size_t)d->ranks, sizeof *sends);
    size_t n = 0;
    if (!sends) {
        ech_comm_abort(d->comm, "out of memory for messages");
        return echi_fail(d->ctx, ECH_ERR_COMM, "out of memory for messages");
    }
    for (int r = 0; r < d->ranks; r++)
        for (int i = 0; i < 2 && r != owner; i++) {
            sends[n] = parts[i];
            sends[n++].rank = r;
        }
    const ech_status status = echi_comm_exchange(ctx, d->comm, sends, n, NULL, 0);
    free(sends);
    return status;
}

/* The panel of block j is no longer used. */
static ech_status await_panel(struct echi_gf2_dist *g, size_t j)
{
    if (!g->side || j < ECHI_GF2_PANELS) return ECH_OK;
    return g->side->backend->wait_event(g->side, g->applied[j % ECHI_GF2_PANELS]);
}

/* status: that of this rank.  *note: that of the owner. */
static ech_status publish(struct echi_gf2_dist *g, ech_status status, size_t j, struct note *note)
{
    struct echi_dist *d = &g->d;
    struct echi_gf2_panel *p = panel_of(g, j);
    *note = (struct note){ p->r, p->moves, (uintptr_t)p->factor, (uintptr_t)p->pivots };
    TRY(echi_comm_agree(d->ctx, d->comm, status, note, sizeof *note));
    memcpy(note, d->comm->notes[echi_gf2_dist_owner(g, j)].note, sizeof *note);
    p->r = note->r;
    p->moves = note->moves;
    if (p->r == 0 || d->ranks == 1 || g->direct) return ECH_OK;
    if (g->side && d->rank != echi_gf2_dist_owner(g, j)) {
        const ech_status free_status = await_panel(g, j);
        if (free_status != ECH_OK) {
            ech_comm_abort(d->comm, "a stream has failed");
            return echi_fail(d->ctx, ECH_ERR_COMM, "%s", ech_error(g->side));
        }
    }
    TRY(send_all(g, j, p));
done:
    return status;
}

/* Copies the panel of block j from the owner's memory, and keeps its pivots. */
static ech_status receive(struct echi_gf2_dist *g, size_t j, const struct note *note)
{
    struct echi_gf2_panel *p = panel_of(g, j);
    uint32_t *to = g->pivots + g->rank;
    ech_ctx *ctx = g->ahead.ctx;
    ech_status status = ECH_OK;
    if (g->direct && echi_gf2_dist_owner(g, j) != g->d.rank) {
        const void *factor = (const void *)(uintptr_t)note->factor;
        const void *pivots = (const void *)(uintptr_t)note->pivots;
        TRY(await_panel(g, j));
        TRY(ech_copy_async(ctx, p->pivots, pivots, list_bytes(g)));
        TRY(ech_copy_async(ctx, p->factor, factor, factor_bytes(g, p)));
    }
    TRY(ech_copy(ctx, to, p->pivots, p->r * sizeof *to)); /* the end of the copies */
    for (uint32_t i = 0; i < p->r; i++) to[i] += (uint32_t)(j * g->block);
done:
    return status;
}

/* ---- All blocks ---- */

/* Applies block j to the columns that `rest` has: the block after the next first. */
static ech_status apply_rest(struct echi_gf2_dist *g, size_t j)
{
    const struct echi_gf2_panel *p = panel_of(g, j);
    const struct echi_backend *backend = g->d.ctx->backend;
    const bool mine = echi_gf2_dist_owner(g, j) == g->d.rank;
    const size_t own = echi_gf2_dist_word(g, j), after = echi_gf2_dist_word(g, j + 1);
    const size_t from = echi_gf2_dist_word(g, j + 2), to = echi_gf2_dist_word(g, j + 3);
    ech_status status = ECH_OK;
    TRY(apply(g, &g->rest, p, from, to));
    if (g->side) TRY(backend->record_event(g->d.ctx, g->current[j % 2]));
    if (mine && !g->rank_only) TRY(apply(g, &g->rest, p, own, after));
    TRY(apply(g, &g->rest, p, to, g->words));
    if (g->side) TRY(backend->record_event(g->d.ctx, g->applied[j % ECHI_GF2_PANELS]));
done:
    return status;
}

/* Applies block j to this rank's columns; the owner of block j + 1 factors it. */
static ech_status advance(struct echi_gf2_dist *g, size_t j, const struct note *note)
{
    const struct echi_gf2_panel *p = panel_of(g, j);
    const struct echi_backend *backend = g->d.ctx->backend;
    const bool factors =
        j + 1 < echi_gf2_dist_blocks(g) && echi_gf2_dist_owner(g, j + 1) == g->d.rank;
    const uint32_t rank = g->rank, r = p->r;
    ech_status status = ECH_OK;
    if (r) TRY(receive(g, j, note));
    if (factors) {
        if (g->side && j) TRY(backend->wait_event(g->side, g->current[(j + 1) % 2]));
        TRY(apply(g, &g->ahead, p, echi_gf2_dist_word(g, j + 1), echi_gf2_dist_word(g, j + 2)));
    }
    TRY(apply_rest(g, j));
    g->rank += r;
    if (factors && g->rank < g->rows) {
        TRY(await_panel(g, j + 1));
        TRY(echi_gf2_dist_factor(g, &g->ahead, j + 1, panel_of(g, j + 1)));
    }
done:
    g->rank = rank + r;
    if (status != ECH_OK && g->side && ech_error(g->side)[0])
        echi_fail(g->d.ctx, status, "%s", ech_error(g->side));
    return status;
}

ech_status echi_gf2_dist_eliminate(struct echi_gf2_dist *g)
{
    const size_t blocks = echi_gf2_dist_blocks(g);
    ech_status status = ECH_OK;
    struct note note;
    if (g->rows == 0 || blocks == 0) return ECH_OK;
    if (g->side) TRY(ech_sync(g->d.ctx));
    if (echi_gf2_dist_owner(g, 0) == g->d.rank)
        status = echi_gf2_dist_factor(g, &g->ahead, 0, panel_of(g, 0));
    for (size_t j = 0; j < blocks && g->rank < g->rows; j++) {
        TRY(publish(g, status, j, &note));
        if (j + 1 < blocks && g->side) panel_of(g, j + 1)->r = 0;
        status = advance(g, j, &note);
    }
    TRY(echi_comm_agree(g->d.ctx, g->d.comm, status, NULL, 0));
done:
    return status;
}
