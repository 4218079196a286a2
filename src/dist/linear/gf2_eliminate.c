/*
 * dist/linear/gf2_eliminate.c - elimination over GF(2) by blocks of columns, with one broadcast per
 * block.
 *
 *     factor    the owner of a block eliminates a copy of it, which gives the order of the rows and
 *               the pivots, and computes the factor of the other columns from the pivot columns
 *     publish   one agreement and one exchange: order, pivots, factor
 *     permute   every rank moves rows
 *     apply     every rank multiplies the factor by the pivot rows
 *
 * The columns of the next block come first, so that its owner factors it on a second stream while
 * the first one applies the factor to the rest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "dist/linear/gf2.h"

#include <stdlib.h>
#include <string.h>

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

ech_status echi_gf2_dist_begin(struct echi_gf2_dist *g, const ech_gf2 *a, const ech_gf2 *b)
{
    const size_t rows = g->rows, block = g->block, block_words = block / 64;
    const size_t most = rows < g->cols ? rows : g->cols;
    ech_gf2 to;
    ech_status status;
    g->a_words = echi_gf2_words(g->own);
    g->words = g->a_words + echi_gf2_words(g->more);
    g->pivots = malloc((most + 1) * sizeof *g->pivots);
    g->host = malloc((3 * rows + 1) * sizeof *g->host);
    if (!g->pivots || !g->host)
        FAIL(g->d.ctx, ECH_ERR_MEMORY, "out of memory for an elimination of %zu rows", rows);
    TRY(echi_gf2_dist_allocate(g, rows * g->words, 8, &g->m));
    for (int i = 0; i < 2; i++) {
        TRY(echi_gf2_dist_allocate(g, rows * block_words, 8, &g->panel[i].factor));
        TRY(echi_gf2_dist_allocate(g, rows, 4, &g->panel[i].order));
        TRY(echi_gf2_dist_allocate(g, block, 4, &g->panel[i].pivots));
    }
    TRY(echi_gf2_dist_allocate(g, rows * block_words, 8, &g->strip));
    TRY(echi_gf2_dist_allocate(g, (rows > 4 * block ? rows : 4 * block) * block_words, 8,
                               &g->left));
    TRY(echi_gf2_dist_allocate(g, block * block_words, 8, &g->right));
    TRY(echi_gf2_dist_allocate(g, block * block_words, 8, &g->inverse));
    TRY(echi_gf2_dist_allocate(g, block * g->words, 8, &g->top));
    TRY(echi_gf2_dist_allocate(g, 2 * block * g->words, 8, &g->moved));
    TRY(echi_gf2_dist_allocate(g, 2 * block, 4, &g->from));
    TRY(echi_gf2_dist_allocate(g, 2 * block, 4, &g->to));
    if (rows && g->words) {
        to = echi_gf2_dist_view(g, 0, 0, rows, g->words * 64);
        TRY(ech_gf2_copy(g->d.ctx, a, 0, 0, &to, 0, 0, rows, g->own));
        if (b) TRY(ech_gf2_copy(g->d.ctx, b, 0, 0, &to, 0, g->a_words * 64, rows, g->more));
    }
    if (g->d.ctx->backend != &echi_cpu) {
        if (ech_open(&g->side, ech_device_name(g->d.ctx)) != ECH_OK)
            FAIL(g->d.ctx, ECH_ERR_MEMORY, "a second context: %s", ech_error(NULL));
        if (ech_set_private_stream(g->side) != ECH_OK)
            FAIL(g->d.ctx, ECH_ERR_MEMORY, "a second context: %s", ech_error(g->side));
    }
done:
    return status;
}

void echi_gf2_dist_end(struct echi_gf2_dist *g)
{
    ech_close(g->side);
    for (int i = 0; i < g->arrays; i++)
        echi_release(g->d.ctx, g->array[i].pointer, g->array[i].bytes);
    free(g->pivots);
    free(g->host);
}

/* ---- Blocks ---- */

static size_t blocks_of(const struct echi_gf2_dist *g)
{
    return g->cols / g->block + (g->cols % g->block != 0);
}

static int owner_of(const struct echi_gf2_dist *g, size_t j)
{
    return (int)(j % (size_t)g->d.ranks);
}

static size_t width_of(const struct echi_gf2_dist *g, size_t j)
{
    const size_t left = g->cols - j * g->block;
    return left < g->block ? left : g->block;
}

/* The first word of this rank's columns of block j or of the blocks after it. */
static size_t word_of(const struct echi_gf2_dist *g, size_t j)
{
    const size_t ranks = (size_t)g->d.ranks, rank = (size_t)g->d.rank;
    const size_t number = j > rank ? (j - rank + ranks - 1) / ranks : 0;
    const size_t word = number * (g->block / 64);
    return word < g->a_words ? word : g->a_words;
}

/* ---- Factor ---- */

/* The products of the factor, from the pivot columns: columns [rows - rank][r], in the new order,
 * whose first r rows are B.  Below: columns B^-1.  The pivot rows: B^-1, or for the echelon form
 * the transform of B to it.  Above: pivot columns B^-1. */
static ech_status make_factor(struct echi_gf2_dist *g, ech_ctx *ctx, struct echi_gf2_panel *p,
                              const ech_gf2 *columns, const ech_gf2 *block)
{
    const size_t r = p->r, below = columns->rows - r, first = g->reduced ? 0 : g->rank;
    const size_t stride = echi_gf2_words(r);
    const ech_gf2 inverse = echi_gf2_matrix(g->inverse, r, r);
    ech_gf2 b = echi_gf2_matrix(g->right, r, r);
    ech_gf2 middle = echi_gf2_matrix(p->factor + (g->rank - first) * stride, r, r);
    ech_gf2 lower = echi_gf2_matrix(middle.words + r * stride, below, r);
    const ech_gf2 rest = echi_gf2_matrix(columns->words + r * stride, below, r);
    uint32_t full = 0;
    ech_status status = ECH_OK;
    if (below) TRY(ech_gf2_mul(ctx, &rest, &inverse, &lower, NULL));
    if (g->reduced) {
        TRY(ech_gf2_copy(ctx, &inverse, 0, 0, &middle, 0, 0, r, r));
    } else if (!g->rank_only) {
        const ech_gf2_echelon_options options = { .size = sizeof options,
                                                  .form = ECH_GF2_FORM_ECHELON,
                                                  .transform = &middle };
        TRY(ech_gf2_copy(ctx, columns, 0, 0, &b, 0, 0, r, r));
        TRY(ech_gf2_echelon(ctx, &b, &full, NULL, &options));
    }
    if (g->reduced && g->rank) {
        ech_gf2 above = echi_gf2_matrix(g->strip, g->rank, r);
        ech_gf2 upper = echi_gf2_matrix(p->factor, g->rank, r);
        const ech_gf2 view = { .size = sizeof view,
                               .words = block->words - g->rank * block->stride,
                               .rows = g->rank,
                               .cols = block->cols,
                               .stride = block->stride };
        TRY(ech_gf2_gather_cols(ctx, &view, p->pivots, &above, ECH_U32));
        TRY(ech_gf2_mul(ctx, &above, &inverse, &upper, NULL));
    }
done:
    return status;
}

/* Finds the pivots in the first `rows` rows of a block: order, pivots and r, and B^-1 from the
 * transform to the reduced form. */
static ech_status find_pivots(struct echi_gf2_dist *g, ech_ctx *ctx, const ech_gf2 *block,
                              size_t rows, struct echi_gf2_panel *p)
{
    ech_gf2 copy = echi_gf2_matrix(g->strip, rows, block->cols);
    ech_gf2 transform = echi_gf2_matrix(g->left, rows, rows);
    const bool small = rows <= 2 * g->block;
    const ech_gf2_echelon_options options = { .size = sizeof options,
                                              .form = small ? ECH_GF2_FORM_REDUCED
                                                            : ECH_GF2_FORM_ECHELON,
                                              .transform = small ? &transform : NULL,
                                              .rows_from = p->order,
                                              .algorithm = g->algorithm };
    ech_status status;
    p->span = (uint32_t)rows;
    TRY(ech_gf2_copy(ctx, block, 0, 0, &copy, 0, 0, rows, block->cols));
    TRY(ech_gf2_echelon(ctx, &copy, &p->r, p->pivots, &options));
    if (p->r && small) { /* only pivot rows are in the first r rows of the transform */
        ech_gf2 top = transform, inverse = echi_gf2_matrix(g->inverse, p->r, p->r);
        top.rows = p->r;
        TRY(ech_gf2_gather_cols(ctx, &top, p->order, &inverse, ECH_U32));
    }
done:
    return status;
}

/* B^-1 from B. */
static ech_status invert(struct echi_gf2_dist *g, ech_ctx *ctx, const ech_gf2 *columns, size_t r)
{
    ech_gf2 b = echi_gf2_matrix(g->right, r, r), inverse = echi_gf2_matrix(g->inverse, r, r);
    uint32_t full = 0;
    const ech_status status = ech_gf2_copy(ctx, columns, 0, 0, &b, 0, 0, r, r);
    return status == ECH_OK ? ech_gf2_inverse(ctx, &b, &inverse, &full, NULL) : status;
}

/*
 * Factors block j, from row `rank` on.  A pivot is in the first row that can have one, so if the
 * first 2 * block rows have a pivot for every column of the block, the other rows need not be
 * searched.  This is nearly always so for a matrix of random bits.
 */
static ech_status factor(struct echi_gf2_dist *g, ech_ctx *ctx, size_t j, struct echi_gf2_panel *p)
{
    const size_t rows = g->rows - g->rank, width = width_of(g, j), few = 2 * g->block;
    const ech_gf2 block = echi_gf2_dist_view(g, g->rank, word_of(g, j), rows, width);
    size_t searched = rows < few ? rows : few;
    ech_status status;
    TRY(find_pivots(g, ctx, &block, searched, p));
    if (p->r < width && searched < rows) {
        searched = rows;
        TRY(find_pivots(g, ctx, &block, searched, p));
    }
    if (p->r == 0) return ECH_OK;
    const ech_gf2 gathered = echi_gf2_matrix(g->strip, rows, p->r);
    const ech_gf2 columns = echi_gf2_matrix(g->left, rows, p->r);
    ech_gf2 from = gathered, to = columns;
    TRY(ech_gf2_gather_cols(ctx, &block, p->pivots, &from, ECH_U32));
    TRY(ech_gf2_copy(ctx, &gathered, searched, 0, &to, searched, 0, rows - searched, p->r));
    from.rows = to.rows = searched;
    TRY(ech_gf2_gather_rows(ctx, &from, p->order, &to, ECH_U32));
    if (searched > few) TRY(invert(g, ctx, &columns, p->r));
    TRY(make_factor(g, ctx, p, &columns, &block));
    TRY(ech_sync(ctx));
done:
    return status;
}

/* ---- Publish ---- */

static ech_status send_all(struct echi_gf2_dist *g, size_t j, struct echi_gf2_panel *p)
{
    struct echi_dist *d = &g->d;
    const int owner = owner_of(g, j);
    const size_t rows = g->reduced ? g->rows : g->rows - g->rank;
    const ech_comm_message parts[] = { { p->order, (g->rows - g->rank) * sizeof *p->order, owner },
                                       { p->pivots, p->r * sizeof *p->pivots, owner },
                                       { p->factor, rows * echi_gf2_words(p->r) * sizeof *p->factor,
                                         owner } };
    if (d->ranks == 1) return ECH_OK;
    if (d->rank != owner) return echi_comm_exchange(d->ctx, d->comm, NULL, 0, parts, 3);
    ech_comm_message *sends = calloc(3 * (size_t)d->ranks, sizeof *sends);
    size_t n = 0;
    if (!sends) {
        ech_comm_abort(d->comm, "out of memory for messages");
        return echi_fail(d->ctx, ECH_ERR_COMM, "out of memory for messages");
    }
    for (int r = 0; r < d->ranks; r++)
        for (int i = 0; i < 3 && r != owner; i++) {
            sends[n] = parts[i];
            sends[n++].rank = r;
        }
    const ech_status status = echi_comm_exchange(d->ctx, d->comm, sends, n, NULL, 0);
    free(sends);
    return status;
}

/* status: that of this rank. */
static ech_status publish(struct echi_gf2_dist *g, ech_status status, size_t j,
                          struct echi_gf2_panel *p)
{
    struct echi_dist *d = &g->d;
    uint32_t note[2] = { p->r, p->span };
    TRY(echi_comm_agree(d->ctx, d->comm, status, note, sizeof note));
    memcpy(note, d->comm->notes[owner_of(g, j)].note, sizeof note);
    p->r = note[0];
    p->span = note[1];
    if (p->r) TRY(send_all(g, j, p));
done:
    return status;
}

/* ---- Permute and apply ---- */

/* Moves the rows that the factorization has swapped: at most two per pivot. */
static ech_status permute(struct echi_gf2_dist *g, const struct echi_gf2_panel *p)
{
    ech_ctx *ctx = g->d.ctx;
    const size_t rows = p->span, bytes = g->words * 8;
    uint32_t *order = g->host, *from = order + g->rows, *to = from + g->rows;
    void *first = g->m + g->rank * g->words;
    size_t n = 0;
    ech_status status;
    if (g->words == 0) return ECH_OK;
    TRY(ech_copy(ctx, order, p->order, rows * sizeof *order));
    for (size_t i = 0; i < rows; i++)
        if (order[i] != i) {
            from[n] = order[i];
            to[n++] = (uint32_t)i;
        }
    if (n == 0) return ECH_OK;
    TRY(ech_copy(ctx, g->from, from, n * sizeof *from));
    TRY(ech_copy(ctx, g->to, to, n * sizeof *to));
    TRY(ech_gather(ctx, first, g->from, g->moved, n, rows, ECH_U32, bytes));
    TRY(ech_scatter(ctx, g->moved, g->to, first, n, rows, ECH_U32, bytes));
done:
    return status;
}

/* Applies the factor to words word ... end - 1. */
static ech_status apply(struct echi_gf2_dist *g, struct echi_gf2_panel *p, size_t word, size_t end)
{
    ech_ctx *ctx = g->d.ctx;
    const size_t r = p->r, stride = echi_gf2_words(r), cols = end > word ? (end - word) * 64 : 0;
    const size_t first = g->reduced ? 0 : g->rank, after = g->rank + r;
    const ech_gf2 middle = echi_gf2_matrix(p->factor + (g->rank - first) * stride, r, r);
    const ech_gf2 lower = echi_gf2_matrix(middle.words + r * stride, g->rows - after, r);
    const ech_gf2 upper = echi_gf2_matrix(p->factor, g->rank, r);
    ech_gf2 top = echi_gf2_matrix(g->top, r, cols);
    ech_gf2 pivot_rows = echi_gf2_dist_view(g, g->rank, word, r, cols);
    ech_gf2 below = echi_gf2_dist_view(g, after, word, g->rows - after, cols);
    ech_gf2 above = echi_gf2_dist_view(g, 0, word, g->rank, cols);
    ech_status status;
    if (cols == 0) return ECH_OK;
    TRY(ech_gf2_copy(ctx, &pivot_rows, 0, 0, &top, 0, 0, r, cols));
    if (!g->rank_only) TRY(ech_gf2_mul(ctx, &middle, &top, &pivot_rows, NULL));
    if (below.rows) TRY(ech_gf2_addmul(ctx, &lower, &top, &below, NULL));
    if (g->reduced && g->rank) TRY(ech_gf2_addmul(ctx, &upper, &top, &above, NULL));
done:
    return status;
}

static ech_status keep_pivots(struct echi_gf2_dist *g, size_t j, const struct echi_gf2_panel *p)
{
    uint32_t *to = g->pivots + g->rank;
    const ech_status status = ech_copy(g->d.ctx, to, p->pivots, p->r * sizeof *to);
    for (uint32_t i = 0; i < p->r && status == ECH_OK; i++) to[i] += (uint32_t)(j * g->block);
    return status;
}

/* ---- All blocks ---- */

/* Applies block j to this rank's columns; the owner of block j + 1 factors it. */
static ech_status advance(struct echi_gf2_dist *g, size_t j, struct echi_gf2_panel *p,
                          struct echi_gf2_panel *next)
{
    const bool mine = owner_of(g, j) == g->d.rank;
    const bool factors = j + 1 < blocks_of(g) && owner_of(g, j + 1) == g->d.rank;
    const size_t own = word_of(g, j), after = word_of(g, j + 1), rank = g->rank;
    size_t rest = after;
    ech_status status = ECH_OK;
    if (p->r) {
        TRY(keep_pivots(g, j, p));
        TRY(permute(g, p));
        if (factors) {
            rest = after + g->block / 64 < g->a_words ? after + g->block / 64 : g->a_words;
            TRY(apply(g, p, after, rest));
        }
    }
    if (factors && g->side) TRY(ech_sync(g->d.ctx)); /* the second stream may read these columns */
    if (p->r) {
        if (mine && !g->rank_only) TRY(apply(g, p, own, after));
        TRY(apply(g, p, rest, g->words));
    }
    g->rank += p->r;
    if (factors && g->rank < g->rows) {
        TRY(factor(g, g->side ? g->side : g->d.ctx, j + 1, next));
    }
done:
    g->rank = (uint32_t)rank + p->r;
    if (status != ECH_OK && g->side && ech_error(g->side)[0])
        echi_fail(g->d.ctx, status, "%s", ech_error(g->side));
    return status;
}

ech_status echi_gf2_dist_eliminate(struct echi_gf2_dist *g)
{
    const size_t blocks = blocks_of(g);
    ech_status status = ECH_OK;
    if (g->rows == 0 || blocks == 0) return ECH_OK;
    if (g->side) TRY(ech_sync(g->d.ctx));
    if (owner_of(g, 0) == g->d.rank)
        status = factor(g, g->side ? g->side : g->d.ctx, 0, &g->panel[0]);
    for (size_t j = 0; j < blocks && g->rank < g->rows; j++) {
        struct echi_gf2_panel *p = &g->panel[j % 2], *next = &g->panel[(j + 1) % 2];
        TRY(publish(g, status, j, p));
        next->r = 0;
        status = advance(g, j, p, next);
    }
    TRY(echi_comm_agree(g->d.ctx, g->d.comm, status, NULL, 0));
done:
    return status;
}
