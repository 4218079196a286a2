/*
 * gf2/blocks_factor.c - the owner of a block of columns finds its pivots and computes the
 * factor of the other columns.
 *
 *     find    eliminates a copy of the first rows: order of the rows, pivots, B^-1
 *     list    which rows become pivot rows, and which others move to make room for them
 *     make    the pivot columns of all rows, and B^-1
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2/blocks.h"
#include "gf2/echelon.h"

/* The pivot columns, which often are all. */
static ech_status take_columns(ech_ctx *ctx, const ech_gf2 *from, const struct echi_gf2_panel *p,
                               ech_gf2 *to)
{
    if (p->r < from->cols) return ech_gf2_gather_cols(ctx, from, p->pivots, to, ECH_U32);
    return ech_gf2_copy(ctx, from, 0, 0, to, 0, 0, from->rows, from->cols);
}

/* The factor: the pivot columns of the rows, in the new order, and B^-1 and T. */
static ech_status make_factor(struct echi_gf2_blocks *g, const struct echi_gf2_lane *lane,
                              struct echi_gf2_panel *p, const ech_gf2 *block, bool inverts)
{
    ech_ctx *ctx = lane->ctx;
    struct echi_gf2_factor f = echi_gf2_blocks_parts(g, p);
    const bool form = !g->reduced && !g->rank_only;
    ech_gf2 columns = echi_gf2_matrix(f.inverse.words, block->rows, p->r);
    ech_gf2 b = echi_gf2_matrix(g->right, p->r, p->r);
    const ech_gf2 inverse = echi_gf2_matrix(g->inverse, p->r, p->r);
    uint32_t full = 0;
    ech_status status = ECH_OK;
    TRY(take_columns(ctx, block, p, &columns));
    if (inverts || form) TRY(ech_gf2_gather_rows(ctx, &columns, p->rows, &b, ECH_U32));
    TRY(echi_gf2_blocks_move_rows(lane, p, &columns, g->left));
    if (inverts)
        TRY(ech_gf2_inverse(ctx, &b, &f.inverse, &full, NULL));
    else
        TRY(ech_gf2_copy(ctx, &inverse, 0, 0, &f.inverse, 0, 0, p->r, p->r));
    if (form) {
        const ech_gf2_echelon_options options = { .size = sizeof options,
                                                  .form = ECH_GF2_FORM_ECHELON,
                                                  .transform = &f.transform };
        TRY(ech_gf2_echelon(ctx, &b, &full, NULL, &options));
    }
    if (g->reduced && g->rank) {
        const ech_gf2 view = { .size = sizeof view,
                               .words = block->words - g->rank * block->stride,
                               .rows = g->rank,
                               .cols = block->cols,
                               .stride = block->stride };
        TRY(take_columns(ctx, &view, p, &f.before));
    }
done:
    return status;
}

/* Finds the pivots in the first `rows` rows of a block: g->order, pivots and r.  If they are few,
 * also B^-1, from the transform to the reduced form. */
static ech_status find_pivots(struct echi_gf2_blocks *g, ech_ctx *ctx, const ech_gf2 *block,
                              size_t rows, bool quick, struct echi_gf2_panel *p)
{
    ech_gf2 copy = echi_gf2_matrix(g->strip, rows, block->cols);
    ech_gf2 transform = echi_gf2_matrix(g->left, rows, rows);
    const bool small = rows <= echi_gf2_blocks_few(g);
    const ech_gf2_echelon_options options = { .size = sizeof options,
                                              .form = small ? ECH_GF2_FORM_REDUCED
                                                            : ECH_GF2_FORM_ECHELON,
                                              .max_rank = g->limit - g->rank,
                                              .transform = small ? &transform : NULL,
                                              .rows_from = g->order,
                                              .algorithm = g->algorithm };
    ech_status status;
    TRY(ech_gf2_copy(ctx, block, 0, 0, &copy, 0, 0, rows, block->cols));
    TRY(echi_gf2_echelon(ctx, &copy, &p->r, p->pivots, &options, quick));
    if (p->r && small) { /* only pivot rows are in the first r rows of the transform */
        ech_gf2 top = transform, inverse = echi_gf2_matrix(g->inverse, p->r, p->r);
        top.rows = p->r;
        TRY(ech_gf2_gather_cols(ctx, &top, g->order, &inverse, ECH_U32));
    }
done:
    return status;
}

/* The rows move. */
static void note_moves(struct echi_gf2_blocks *g, const uint32_t *rows, const uint32_t *from,
                       const uint32_t *to, const struct echi_gf2_panel *p)
{
    uint32_t *now = g->rows_from ? g->rows_from + g->rank : NULL, *before = g->before;
    if (!now) return;
    for (uint32_t i = 0; i < p->r; i++) before[i] = now[rows[i]];
    for (uint32_t i = 0; i < p->moves; i++) before[p->r + i] = now[from[i]];
    for (uint32_t i = 0; i < p->r; i++) now[i] = before[i];
    for (uint32_t i = 0; i < p->moves; i++) now[to[i]] = before[p->r + i];
}

/* The lists of a panel, from the order of the searched rows: the first r become pivot rows, and as
 * many others have moved as pivot rows came from below the first r. */
static ech_status list_rows(struct echi_gf2_blocks *g, ech_ctx *ctx, size_t searched,
                            struct echi_gf2_panel *p)
{
    const size_t block = g->block, r = p->r;
    uint32_t *order = g->host, *rows = order + g->rows, *from = rows + block, *to = from + block;
    uint32_t n = 0;
    ech_status status;
    TRY(ech_copy(ctx, order, g->order, searched * sizeof *order));
    for (size_t i = 0; i < r; i++) rows[i] = order[i];
    for (size_t i = r; i < searched; i++)
        if (order[i] != i) {
            from[n] = order[i];
            to[n++] = (uint32_t)i;
        }
    to[block] = p->moves = n;
    note_moves(g, rows, from, to, p);
    TRY(ech_copy(ctx, p->rows, rows, (3 * block + 1) * sizeof *rows));
done:
    return status;
}

static ech_status is_zero(ech_ctx *ctx, const ech_gf2 *block, bool *zero)
{
    uint64_t ones = 0;
    const ech_status status = ech_gf2_count(ctx, block, &ones);
    *zero = ones == 0;
    return status;
}

/* Whether the rows from `few` on are sums of the pivot rows that have been found in those before:
 * a row minus its pivot columns times the reduced rows is zero. find_pivots() has left the reduced
 * rows in g->strip. */
static ech_status is_dependent(struct echi_gf2_blocks *g, const struct echi_gf2_lane *lane,
                               const ech_gf2 *block, size_t few, const struct echi_gf2_panel *p,
                               bool *dependent)
{
    const size_t rows = block->rows - few, cols = block->cols, stride = echi_gf2_words(cols);
    ech_gf2 below = *block, copy = echi_gf2_matrix(g->strip + few * stride, rows, cols);
    ech_gf2 columns = echi_gf2_matrix(p->factor, rows, p->r); /* not in use yet */
    const ech_gf2 reduced = echi_gf2_matrix(g->strip, p->r, cols);
    ech_status status;
    below.words += few * below.stride;
    below.rows = rows;
    TRY(ech_gf2_copy(lane->ctx, &below, 0, 0, &copy, 0, 0, rows, cols));
    TRY(ech_gf2_gather_cols(lane->ctx, &below, p->pivots, &columns, ECH_U32));
    TRY(echi_gf2_blocks_product(lane, &columns, &reduced, &copy, true));
    TRY(is_zero(lane->ctx, &copy, dependent));
done:
    return status;
}

/*
 * A pivot is in the first row that can have one, so if the first rows have a pivot for every column
 * of the block, or the other rows depend on them, the others need not be searched.  This is nearly
 * always so for a matrix of random bits, also if some of its columns depend on others.  After a
 * block that has fewer pivots than columns, the next one may be zero.
 */
static ech_status search(struct echi_gf2_blocks *g, const struct echi_gf2_lane *lane,
                         const ech_gf2 *block, size_t *searched, struct echi_gf2_panel *p)
{
    ech_ctx *ctx = lane->ctx;
    const size_t rows = block->rows, few = echi_gf2_blocks_few(g), left = g->limit - g->rank;
    const size_t most = block->cols < left ? block->cols : left;
    bool settled = false, found = false;
    ech_status status = ECH_OK;
    /* With a maximum rank, a column without a pivot in the first rows precedes others. */
    *searched = rows < few || g->scattered || left < block->cols ? rows : few;
    p->r = 0;
    if (g->deficient) TRY(is_zero(ctx, block, &settled));
    if (!settled && !g->deficient && *searched == few && block->cols == most) {
        TRY(find_pivots(g, ctx, block, few, true, p));
        found = p->r == most;
    }
    if (!settled && !found) TRY(find_pivots(g, ctx, block, *searched, false, p));
    if (!settled && p->r < most && *searched < rows) {
        if (p->r == 0)
            TRY(is_zero(ctx, block, &settled));
        else
            TRY(is_dependent(g, lane, block, few, p, &settled));
        g->scattered = !settled;
        if (!settled) {
            *searched = rows;
            TRY(find_pivots(g, ctx, block, rows, false, p));
        }
    } else if (p->r == most) {
        g->scattered = false;
    }
    g->deficient = p->r < most;
done:
    return status;
}

ech_status echi_gf2_blocks_factor(struct echi_gf2_blocks *g, const struct echi_gf2_lane *lane,
                                  size_t j, struct echi_gf2_panel *p)
{
    const size_t rows = g->rows - g->rank, few = echi_gf2_blocks_few(g);
    const ech_gf2 block = echi_gf2_blocks_view(g, g->rank, echi_gf2_blocks_word(g, j), rows,
                                               echi_gf2_blocks_width(g, j));
    size_t searched;
    ech_status status;
    TRY(search(g, lane, &block, &searched, p));
    if (p->r == 0) return ECH_OK;
    TRY(list_rows(g, lane->ctx, searched, p));
    TRY(make_factor(g, lane, p, &block, searched > few));
    TRY(ech_sync(lane->ctx)); /* other ranks copy it */
done:
    return status;
}

/* ---- Workspace ---- */

static ech_status most_of(const struct echi_operation *operation, const void *request,
                          size_t *bytes)
{
    size_t need = 0;
    const ech_status status = echi_operation_workspace(operation, request, &need);
    if (need > *bytes) *bytes = need;
    return status;
}

ech_status echi_gf2_blocks_factor_need(const struct echi_backend *backend,
                                       const struct echi_gf2_blocks *g, size_t *bytes)
{
    const size_t few = echi_gf2_blocks_few(g), first = few < g->rows ? few : g->rows;
    const size_t block = g->block < g->cols ? g->block : g->cols;
    struct echi_gf2_elimination e = { .call = ECH_GF2_CALL_ECHELON,
                                      .backend = backend,
                                      .has_transform = true,
                                      .has_pivots = true,
                                      .a = echi_gf2_matrix(NULL, first, block),
                                      .transform = echi_gf2_matrix(NULL, first, first),
                                      .columns = block,
                                      .reduced = true,
                                      .algorithm = g->algorithm };
    ech_status status;
    *bytes = 0;
    TRY(most_of(&echi_gf2_elimination, &e, bytes));
    e.has_transform = e.reduced = false;
    e.a = echi_gf2_matrix(NULL, g->rows, block);
    TRY(most_of(&echi_gf2_elimination, &e, bytes));
    e = (struct echi_gf2_elimination){ .call = ECH_GF2_CALL_INVERSE,
                                       .backend = backend,
                                       .has_transform = true,
                                       .a = echi_gf2_matrix(NULL, block, block),
                                       .out = echi_gf2_matrix(NULL, block, block),
                                       .columns = block };
    TRY(most_of(&echi_gf2_elimination, &e, bytes));
    *bytes += ECHI_GF2_SMALL_BYTES;
done:
    return status;
}
