/*
 * dist/linear/gf2.c - linear algebra over GF(2) on columns that are distributed block-cyclically:
 * the public calls.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dist/linear/gf2.h"
#include "core/call.h"

#include <stdlib.h>
#include <string.h>

static size_t block_of(size_t block_cols)
{
    return block_cols ? block_cols : ECH_DIST_GF2_BLOCK;
}

size_t ech_dist_gf2_cols(size_t cols, size_t block_cols, int rank, int ranks)
{
    const size_t block = block_of(block_cols), whole = cols / block;
    if (rank < 0 || rank >= ranks) return 0;
    const size_t own = whole / (size_t)ranks + ((size_t)rank < whole % (size_t)ranks);
    return own * block + (whole % (size_t)ranks == (size_t)rank ? cols % block : 0);
}

/* ---- Checks ---- */

/* A matrix of a call, `cols` columns on all ranks. */
static ech_status check_matrix(ech_ctx *ctx, ech_comm *comm, const char *name, const ech_gf2 *given,
                               size_t rows, size_t cols, size_t block_cols, ech_gf2 *m)
{
    ech_status status;
    if (block_cols % 64 || block_cols > 65536)
        return echi_fail(ctx, ECH_ERR_ARG,
                         "block_cols is %zu, not a multiple of 64 of at most 65536", block_cols);
    if (cols > UINT32_MAX)
        return echi_fail(ctx, ECH_ERR_ARG, "%s has %zu columns: more than 2^32 - 1", name, cols);
    TRY(echi_gf2_check(ctx, name, given, m));
    TRY(echi_gf2_check_shape(
        ctx, name, m, rows == SIZE_MAX ? m->rows : rows,
        ech_dist_gf2_cols(cols, block_cols, ech_comm_rank(comm), ech_comm_size(comm))));
    if (m->rows && m->cols && !m->words) FAIL(ctx, ECH_ERR_ARG, "%s->words is NULL", name);
    if ((uintptr_t)m->words % 8)
        FAIL(ctx, ECH_ERR_ARG, "%s->words is not aligned to 8 bytes", name);
done:
    return status;
}

static ech_status check_options(ech_ctx *ctx, const ech_gf2_echelon_options *o, size_t count,
                                bool form)
{
    const char *name = o->column_order ? "column_order"
                       : o->pivot_cols ? "pivot_cols"
                       : o->max_rank   ? "max_rank"
                       : o->transform  ? "transform"
                       : o->rows_from  ? "rows_from"
                                       : NULL;
    bool wide;
    if (name)
        return echi_fail(ctx, ECH_ERR_UNSUPPORTED,
                         "options->%s is set: distributed eliminations do not support it", name);
    if (o->form != ECH_GF2_FORM_REDUCED && (!form || o->form != ECH_GF2_FORM_ECHELON))
        return echi_fail(ctx, ECH_ERR_ARG, "options->form is %d, not an ech_gf2_form of this call",
                         (int)o->form);
    const ech_status status = echi_dist_no_work(ctx, o->work);
    if (status != ECH_OK) return status;
    return echi_gf2_check_index(ctx, "options->index_dtype", o->index_dtype, count, &wide);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- Results ---- */

/* Every rank has the pivots in host memory. */
static ech_status write_pivots(struct echi_gf2_dist *e, ech_dtype dtype, void *pivots)
{
    uint64_t *wide = NULL;
    ech_status status = ECH_OK;
    if (!pivots || e->g.rank == 0) return ECH_OK;
    if (!dtype || ech_dtype_bytes(dtype) == 4)
        return ech_copy(e->d.ctx, pivots, e->g.pivots, e->g.rank * sizeof *e->g.pivots);
    wide = malloc(e->g.rank * sizeof *wide);
    if (!wide) return echi_fail(e->d.ctx, ECH_ERR_MEMORY, "out of memory for pivots");
    for (uint32_t i = 0; i < e->g.rank; i++) wide[i] = e->g.pivots[i];
    status = ech_copy(e->d.ctx, pivots, wide, e->g.rank * sizeof *wide);
    free(wide);
    return status;
}

static ech_status write_rank(struct echi_gf2_dist *e, uint32_t *rank)
{
    return ech_copy(e->d.ctx, rank, &e->g.rank, sizeof *rank);
}

/* ---- Elimination ---- */

static const char *const names[] = { "cols",
                                     "block_cols",
                                     "a->rows",
                                     "options->form",
                                     "whether pivots is given",
                                     "n_rhs",
                                     "whether solvable is given",
                                     NULL };

ech_status ech_dist_gf2_echelon(ech_ctx *ctx, ech_comm *comm, ech_gf2 *a, uint32_t *rank,
                                void *pivots, size_t cols, size_t block_cols,
                                const ech_gf2_echelon_options *given)
{
    struct echi_gf2_dist e = { .g = { .cols = cols, .block = block_of(block_cols) } };
    ech_gf2_echelon_options options = { 0 };
    ech_gf2 m = { 0 };
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    ech_status status = echi_read_options(ctx, "ech_gf2_echelon_options", given, &options,
                                          sizeof options, offsetof(ech_gf2_echelon_options, work));
    if (status == ECH_OK) status = check_matrix(ctx, comm, "a", a, SIZE_MAX, cols, block_cols, &m);
    if (status == ECH_OK)
        status = check_options(ctx, &options, m.rows > cols ? m.rows : cols, true);
    if (status == ECH_OK && !rank) status = echi_fail(ctx, ECH_ERR_ARG, "rank is NULL");
    struct echi_comm_call call = { .name = "ech_dist_gf2_echelon",
                                   .option = { cols, e.g.block, m.rows, (uint64_t)options.form,
                                               pivots != NULL } };
    status = echi_dist_begin(&e.d, ctx, comm, &call, names, status, false);
    if (status != ECH_OK) return status;
    e.g.rows = m.rows;
    e.own = m.cols;
    e.g.reduced = options.form == ECH_GF2_FORM_REDUCED;
    e.g.algorithm = options.algorithm;
    status = echi_gf2_dist_begin(&e, &m, NULL);
    TRY(echi_comm_agree(ctx, comm, status, NULL, 0));
    TRY(echi_gf2_blocks_eliminate(&e.g));
    if (e.g.rows && e.g.words) {
        const ech_gf2 result = echi_gf2_blocks_view(&e.g, 0, 0, e.g.rows, e.own);
        TRY(ech_gf2_copy(ctx, &result, 0, 0, &m, 0, 0, e.g.rows, e.own));
    }
    TRY(write_pivots(&e, options.index_dtype, pivots));
    TRY(write_rank(&e, rank));
done:
    echi_gf2_blocks_end(&e.g);
    return echi_dist_end(&e.d, status);
}

ech_status ech_dist_gf2_rank(ech_ctx *ctx, ech_comm *comm, const ech_gf2 *a, uint32_t *rank,
                             size_t cols, size_t block_cols, const ech_gf2_echelon_options *given)
{
    struct echi_gf2_dist e = {
        .g = { .cols = cols, .block = block_of(block_cols), .rank_only = true }
    };
    ech_gf2_echelon_options options = { 0 };
    ech_gf2 m = { 0 };
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    ech_status status = echi_read_options(ctx, "ech_gf2_echelon_options", given, &options,
                                          sizeof options, offsetof(ech_gf2_echelon_options, work));
    if (status == ECH_OK) status = check_matrix(ctx, comm, "a", a, SIZE_MAX, cols, block_cols, &m);
    if (status == ECH_OK) status = check_options(ctx, &options, 0, true);
    if (status == ECH_OK && !rank) status = echi_fail(ctx, ECH_ERR_ARG, "rank is NULL");
    struct echi_comm_call call = { .name = "ech_dist_gf2_rank",
                                   .option = { cols, e.g.block, m.rows } };
    status = echi_dist_begin(&e.d, ctx, comm, &call, names, status, false);
    if (status != ECH_OK) return status;
    e.g.rows = m.rows;
    e.own = m.cols;
    e.g.algorithm = options.algorithm;
    status = echi_gf2_dist_begin(&e, &m, NULL);
    TRY(echi_comm_agree(ctx, comm, status, NULL, 0));
    TRY(echi_gf2_blocks_eliminate(&e.g));
    TRY(write_rank(&e, rank));
done:
    echi_gf2_blocks_end(&e.g);
    return echi_dist_end(&e.d, status);
}

/* x and solvable, from the reduced form of a and the columns of b. */
static ech_status write_solutions(struct echi_gf2_dist *e, ech_gf2 *x, uint8_t *solvable)
{
    ech_ctx *ctx = e->d.ctx;
    uint32_t *positions = NULL, *rank = NULL;
    uint64_t *words = NULL;
    uint8_t *bytes = NULL;
    ech_status status = ECH_OK;
    if (e->more == 0) return ECH_OK;
    TRY(echi_gf2_blocks_allocate(&e->g, (size_t)e->g.rank + 1, sizeof *positions, &positions));
    TRY(echi_gf2_blocks_allocate(&e->g, 1, sizeof *rank, &rank));
    TRY(echi_gf2_blocks_allocate(&e->g, (x->rows + 1) * echi_gf2_words(e->more), 8, &words));
    TRY(echi_gf2_blocks_allocate(&e->g, e->more, 1, &bytes));
    if (e->g.rank) TRY(ech_copy(ctx, positions, e->g.pivots, e->g.rank * sizeof *positions));
    TRY(ech_copy(ctx, rank, &e->g.rank, sizeof *rank));
    ech_gf2 b = echi_gf2_blocks_view(&e->g, 0, e->g.own_words, e->g.rows, e->more);
    ech_gf2 out = echi_gf2_matrix(words, x->rows, e->more);
    if (e->g.rows == 0) /* a row of zeros */
        b = echi_gf2_matrix(words + x->rows * echi_gf2_words(e->more), 1, e->more);
    if (x->rows) {
        TRY(echi_gf2_blocks_step(ctx, &(struct echi_gf2){ .what = ECHI_GF2_SPREAD_ROWS,
                                                          .a = b,
                                                          .out = out,
                                                          .positions = positions,
                                                          .rank = rank }));
        TRY(echi_gf2_blocks_step(
            ctx, &(struct echi_gf2){ .what = ECHI_GF2_CLEAR, .a = b, .out = out, .rank = rank }));
        TRY(ech_gf2_copy(ctx, &out, 0, 0, x, 0, 0, x->rows, e->more));
    }
    if (solvable) {
        TRY(echi_gf2_blocks_step(
            ctx,
            &(struct echi_gf2){ .what = ECHI_GF2_SOLVABLE, .a = b, .rank = rank, .bytes = bytes }));
        TRY(ech_copy(ctx, solvable, bytes, e->more));
    }
done:
    return status;
}

ech_status ech_dist_gf2_solve(ech_ctx *ctx, ech_comm *comm, const ech_gf2 *a, const ech_gf2 *b,
                              ech_gf2 *x, uint8_t *solvable, size_t cols, size_t n_rhs,
                              size_t block_cols, const ech_gf2_echelon_options *given)
{
    struct echi_gf2_dist e = { .g = {
                                   .cols = cols, .block = block_of(block_cols), .reduced = true } };
    ech_gf2_echelon_options options = { 0 };
    ech_gf2 m = { 0 }, right = { 0 }, out = { 0 };
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    ech_status status = echi_read_options(ctx, "ech_gf2_echelon_options", given, &options,
                                          sizeof options, offsetof(ech_gf2_echelon_options, work));
    if (status == ECH_OK) status = check_matrix(ctx, comm, "a", a, SIZE_MAX, cols, block_cols, &m);
    if (status == ECH_OK)
        status = check_matrix(ctx, comm, "b", b, m.rows, n_rhs, block_cols, &right);
    if (status == ECH_OK) status = check_matrix(ctx, comm, "x", x, cols, n_rhs, block_cols, &out);
    if (status == ECH_OK) status = check_options(ctx, &options, 0, false);
    struct echi_comm_call call = { .name = "ech_dist_gf2_solve",
                                   .option = { cols, e.g.block, m.rows, 0, 0, n_rhs,
                                               solvable != NULL } };
    status = echi_dist_begin(&e.d, ctx, comm, &call, names, status, false);
    if (status != ECH_OK) return status;
    e.g.rows = m.rows;
    e.own = m.cols;
    e.more = right.cols;
    e.g.algorithm = options.algorithm;
    status = echi_gf2_dist_begin(&e, &m, &right);
    TRY(echi_comm_agree(ctx, comm, status, NULL, 0));
    TRY(echi_gf2_blocks_eliminate(&e.g));
    TRY(write_solutions(&e, &out, solvable));
done:
    echi_gf2_blocks_end(&e.g);
    return echi_dist_end(&e.d, status);
}

/* ---- Products ---- */

struct product {
    struct echi_dist d;
    ech_gf2 a, b, out;
    size_t k, block, depth;
    uint64_t *piece; /* [rows][block / 64]: a block of a */
    uint64_t *panel; /* [rows][depth / 64]: several, for one product; or piece */
    size_t piece_bytes, panel_bytes;
};

/* Every rank receives block j of a. */
static ech_status send_block(struct product *p, size_t j, size_t width, ech_status *status)
{
    struct echi_dist *d = &p->d;
    const int owner = (int)(j % (size_t)d->ranks);
    const size_t bytes = p->a.rows * echi_gf2_words(width) * 8;
    ech_gf2 piece = echi_gf2_matrix(p->piece, p->a.rows, width);
    size_t n = 0;
    if (d->rank == owner && *status == ECH_OK)
        *status = ech_gf2_copy(d->ctx, &p->a, 0, j / (size_t)d->ranks * p->block, &piece, 0, 0,
                               p->a.rows, width);
    for (int r = 0; r < d->ranks; r++)
        if (d->rank == owner && r != owner)
            d->messages[n++] = (ech_comm_message){ p->piece, bytes, r };
    d->messages[d->ranks] = (ech_comm_message){ p->piece, bytes, owner };
    return echi_comm_exchange_device(d->ctx, d->comm, d->messages, n, d->messages + d->ranks,
                                     d->rank != owner);
}

/* Columns at ... at + width - 1 of a, to the panel. */
static ech_status collect(struct product *p, size_t at, size_t width, ech_status *status)
{
    ech_gf2 panel = echi_gf2_matrix(p->panel, p->a.rows, width);
    for (size_t done = 0; done < width; done += p->block) {
        const size_t cols = least(p->block, width - done);
        const ech_gf2 piece = echi_gf2_matrix(p->piece, p->a.rows, cols);
        const ech_status step = send_block(p, (at + done) / p->block, cols, status);
        if (step != ECH_OK) return step;
        if (p->panel != p->piece && *status == ECH_OK)
            *status = ech_gf2_copy(p->d.ctx, &piece, 0, 0, &panel, 0, done, p->a.rows, cols);
    }
    return ECH_OK;
}

static ech_status multiply(struct product *p, const ech_gf2_options *options)
{
    ech_ctx *ctx = p->d.ctx;
    const bool any = p->out.rows && p->out.cols;
    ech_status status = ECH_OK;
    if (p->d.ranks == 1) return any ? ech_gf2_mul(ctx, &p->a, &p->b, &p->out, options) : ECH_OK;
    if (any) status = ech_gf2_zero(ctx, &p->out);
    for (size_t at = 0; at < p->k && p->a.rows; at += p->depth) {
        const size_t width = least(p->depth, p->k - at);
        const ech_status step = collect(p, at, width, &status);
        if (step != ECH_OK) return step;
        if (!any || status != ECH_OK) continue;
        const ech_gf2 panel = echi_gf2_matrix(p->panel, p->a.rows, width);
        ech_gf2 rows = p->b;
        rows.words += at * rows.stride;
        rows.rows = width;
        status = ech_gf2_addmul(ctx, &panel, &rows, &p->out, options);
    }
    return status;
}

/* Memory for a block, and, if there is any, for more blocks: a product of more columns takes less
 * time per column, but the panel shall not be larger than the columns of a on a rank. */
static ech_status allocate_blocks(struct product *p)
{
    enum { DEEP = 65536 };
    const size_t ranks = (size_t)p->d.ranks, rows = p->a.rows;
    const size_t depth = least(DEEP, p->k / ranks) / p->block * p->block;
    const unsigned char zero = 0; /* the unused bits of rows are read, and written back */
    ech_status status = ECH_OK;
    p->depth = p->block;
    if (ranks == 1 || rows == 0) return ECH_OK;
    p->piece_bytes = rows * (p->block / 64) * 8;
    TRY(echi_allocate(p->d.ctx, p->piece_bytes, "a product", (void **)&p->piece));
    TRY(ech_fill(p->d.ctx, p->piece, p->piece_bytes, 1, &zero));
    p->panel = p->piece;
    if (depth <= p->block) return ECH_OK;
    void *panel = NULL;
    p->panel_bytes = rows * (depth / 64) * 8;
    status = echi_try_allocate(p->d.ctx, p->panel_bytes, "a product", &panel);
    if (status == ECH_ERR_MEMORY) return ECH_OK;
    if (status != ECH_OK) return status;
    p->panel = panel;
    p->depth = depth;
    TRY(ech_fill(p->d.ctx, panel, p->panel_bytes, 1, &zero));
done:
    return status;
}

ech_status ech_dist_gf2_mul(ech_ctx *ctx, ech_comm *comm, const ech_gf2 *a, const ech_gf2 *b,
                            ech_gf2 *out, size_t k, size_t n, size_t block_cols,
                            const ech_gf2_options *given)
{
    static const char *const product_names[] = { "k", "n", "block_cols", "a->rows", NULL };
    struct product p = { .k = k, .block = block_of(block_cols) };
    ech_gf2_options options = { 0 };
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    ech_status status = echi_read_options(ctx, "ech_gf2_options", given, &options, sizeof options,
                                          offsetof(ech_gf2_options, work));
    if (status == ECH_OK) status = echi_dist_no_work(ctx, options.work);
    if (status == ECH_OK) status = check_matrix(ctx, comm, "a", a, SIZE_MAX, k, block_cols, &p.a);
    if (status == ECH_OK) status = check_matrix(ctx, comm, "b", b, k, n, block_cols, &p.b);
    if (status == ECH_OK)
        status = check_matrix(ctx, comm, "out", out, p.a.rows, n, block_cols, &p.out);
    struct echi_comm_call call = { .name = "ech_dist_gf2_mul",
                                   .option = { k, n, p.block, p.a.rows } };
    status = echi_dist_begin(&p.d, ctx, comm, &call, product_names, status, false);
    if (status != ECH_OK) return status;
    status = allocate_blocks(&p);
    TRY(echi_comm_agree(ctx, comm, status, NULL, 0));
    TRY(multiply(&p, &options));
done:
    if (p.panel != p.piece) echi_release(ctx, p.panel, p.panel_bytes);
    echi_release(ctx, p.piece, p.piece_bytes);
    return echi_dist_end(&p.d, status);
}
