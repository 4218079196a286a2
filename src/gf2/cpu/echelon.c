/*
 * gf2/cpu/echelon.c - elimination over GF(2) on the CPU: chooses an algorithm, lays out the
 * workspace, runs it.
 *
 *     block      on byte columns (block.c): forward elimination and, for the reduced form, back
 *                substitution
 *     m4r        on rows of words with tables (rows.c), above pivots too for the reduced form
 *     gauss      column by column (rows.c)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2/cpu/common.h"

enum { SMALL_ROWS = 16 /* up to this many rows "gauss" is fastest */ };

struct plan {
    const struct echi_gf2_echelon *request;
    const ech_ctx *ctx;
    struct echi_gf2_block block;
    struct echi_gf2_rows rows;
    size_t open; /* byte columns of block.list */
};

static void give(const struct plan *p, size_t rank, const uint32_t *pivots, const uint32_t *from)
{
    const struct echi_gf2_echelon *r = p->request;
    *r->rank = (uint32_t)rank;
    if (r->pivots && rank) memcpy(r->pivots, pivots, rank * sizeof *pivots);
    if (r->rows_from && r->a.rows) memcpy(r->rows_from, from, r->a.rows * sizeof *from);
}

/* ---- block ---- */

static void block_plan(struct plan *p, struct echi_layout *layout)
{
    const struct echi_gf2_echelon *r = p->request;
    p->block.isa = echi_gf2_isa();
    p->block.ctx = p->ctx;
    p->block.max_rank = r->max_rank;
    p->block.watched = SIZE_MAX;
    echi_gf2_block_plan(&p->block, layout, r->a.rows, r->a.cols, r->columns, r->reduced);
}

static void load_tile(void *arg, size_t tile, int thread)
{
    const struct plan *p = arg;
    const ech_gf2 *a = &p->request->a;
    (void)thread;
    const size_t row = tile * ECHI_GF2_TILE;
    p->block.isa->to_columns(a->words + row * a->stride, a->stride,
                             echi_min(ECHI_GF2_TILE, a->rows - row), p->block.columns,
                             echi_gf2_at(&p->block.w, 0, row));
}

static void store_tile(void *arg, size_t tile, int thread)
{
    struct plan *p = arg;
    const ech_gf2 *a = &p->request->a;
    (void)thread;
    const size_t row = tile * ECHI_GF2_TILE;
    if (p->request->reduced) echi_gf2_block_close(&p->block, p->open, tile);
    p->block.isa->from_columns(echi_gf2_at(&p->block.w, 0, row),
                               echi_min(ECHI_GF2_TILE, a->rows - row), a->cols,
                               a->words + row * a->stride, a->stride, false);
}

static void block_run(struct plan *p)
{
    struct echi_gf2_block *e = &p->block;
    const struct echi_gf2_echelon *r = p->request;
    const size_t tiles = echi_gf2_tiles(r->a.rows);
    const int threads = echi_parallel_for_bytes(p->ctx, r->a.rows * e->columns);
    echi_parallel(threads, tiles, load_tile, p);
    echi_gf2_block_forward(e);
    if (echi_canceled(p->ctx)) return;
    if (r->reduced) {
        p->open = echi_gf2_block_open(e);
        echi_gf2_block_back(e, e->list, p->open);
        if (echi_canceled(p->ctx)) return;
    }
    echi_parallel(threads, tiles, store_tile, p);
    give(p, e->at, e->pivots, e->from);
}

/* ---- m4r, gauss ---- */

static void rows_plan(struct plan *p, struct echi_layout *layout)
{
    const struct echi_gf2_echelon *r = p->request;
    p->rows.request = r;
    p->rows.m4r.ctx = p->ctx;
    p->rows.pivots = echi_part(layout, echi_min(r->a.rows, r->columns), sizeof(uint32_t));
    p->rows.from = echi_part(layout, r->a.rows, sizeof(uint32_t));
}

static void m4r_plan(struct plan *p, struct echi_layout *layout)
{
    const struct echi_gf2_echelon *r = p->request;
    rows_plan(p, layout);
    p->rows.m4r = (struct echi_gf2_m4r){ .isa = echi_gf2_isa(), .ctx = p->ctx };
    echi_gf2_m4r_plan(&p->rows.m4r, layout, r->a.rows);
    p->rows.column = echi_part(layout, r->a.rows, sizeof(uint64_t));
}

static void gauss_run(struct plan *p)
{
    echi_gf2_gauss(&p->rows);
    give(p, p->rows.rank, p->rows.pivots, p->rows.from);
}

static void m4r_run(struct plan *p)
{
    echi_gf2_m4r(&p->rows);
    give(p, p->rows.rank, p->rows.pivots, p->rows.from);
}

/* ---- Choice of the algorithm ---- */

static bool gauss_chosen(const struct echi_gf2_echelon *r)
{
    return r->a.rows <= SMALL_ROWS;
}

static bool block_chosen(const struct echi_gf2_echelon *r)
{
    (void)r;
    return echi_gf2_isa()->fast;
}

static bool always(const struct echi_gf2_echelon *r)
{
    (void)r;
    return true;
}

static const struct algorithm {
    const char *name, *what;
    const char *when; /* when it is chosen, for the documentation */
    bool (*chosen)(const struct echi_gf2_echelon *r);
    void (*plan)(struct plan *p, struct echi_layout *layout);
    void (*run)(struct plan *p);
} algorithms[] = {
    {
        .name = "gauss",
        .what = "one column after the other, on rows of words",
        .when = "up to 16 rows",
        .chosen = gauss_chosen,
        .plan = rows_plan,
        .run = gauss_run,
    },
    {
        .name = "block",
        .what = "eliminates blocks of byte columns, updates the rest by products",
        .when = "more rows, the CPU has AVX2",
        .chosen = block_chosen,
        .plan = block_plan,
        .run = block_run,
    },
    {
        .name = "m4r",
        .what = "64 columns at a time, tables of linear combinations of rows (M4R)",
        .when = "all other matrices",
        .chosen = always,
        .plan = m4r_plan,
        .run = m4r_run,
    },
};

enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };

static ech_status choose(const struct echi_gf2_echelon *r, const struct algorithm **algorithm)
{
    for (int i = 0; i < ALGORITHMS; i++) {
        *algorithm = &algorithms[i];
        if (r->algorithm ? strcmp(r->algorithm, algorithms[i].name) == 0 : algorithms[i].chosen(r))
            return ECH_OK;
    }
    return echi_fail(NULL, ECH_ERR_ARG, "unknown algorithm \"%s\"; available: gauss, block, m4r",
                     r->algorithm);
}

static ech_status lay_out(const ech_ctx *ctx, const struct echi_gf2_echelon *r, void *work,
                          struct plan *p, const struct algorithm *algorithm, size_t *bytes)
{
    *p = (struct plan){ .request = r, .ctx = ctx };
    struct echi_layout layout = { .base = work };
    if (r->a.rows && r->a.cols) algorithm->plan(p, &layout);
    if (layout.overflow)
        return echi_fail(NULL, ECH_ERR_MEMORY, "the workspace exceeds SIZE_MAX bytes");
    *bytes = layout.bytes;
    return ECH_OK;
}

static ech_status plan_echelon(const void *request, void *plan, size_t *bytes)
{
    const struct algorithm **algorithm = plan;
    struct plan p;
    const ech_status status = choose(request, algorithm);
    return status == ECH_OK ? lay_out(NULL, request, NULL, &p, *algorithm, bytes) : status;
}

static ech_status explain(const void *request, struct echi_explain *e)
{
    struct plan p;
    const struct algorithm *algorithm;
    size_t bytes;
    ech_status status;
    TRY(choose(request, &algorithm));
    TRY(lay_out(NULL, request, NULL, &p, algorithm, &bytes));
    echi_explain_algorithm(e, true, algorithm->name, "%s", algorithm->what);
    for (int i = 0; i < ALGORITHMS; i++)
        if (&algorithms[i] != algorithm)
            echi_explain_algorithm(e, false, algorithms[i].name, "%s", algorithms[i].what);
    echi_explain_line(e, "isa", "%s", echi_gf2_isa()->name);
    if (algorithm->run == block_run)
        echi_explain_line(e, "blocks", "%zu columns",
                          p.block.levels ? p.block.level[p.block.levels - 1].width * 8 : 0);
    if (algorithm->run == m4r_run)
        echi_explain_line(e, "tables", "2^%d linear combinations each", p.rows.m4r.bits);
done:
    return status;
}

static ech_status run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    const struct algorithm *algorithm = *(const struct algorithm *const *)plan;
    struct plan p;
    size_t bytes;
    const struct echi_gf2_echelon *r = request;
    const ech_status status = lay_out(ctx, r, work, &p, algorithm, &bytes);
    if (status != ECH_OK) return status;
    if (r->a.rows && r->a.cols) {
        algorithm->run(&p);
    } else {
        *r->rank = 0;
        for (size_t i = 0; i < r->a.rows && r->rows_from; i++) r->rows_from[i] = (uint32_t)i;
    }
    return ECH_OK;
}

const struct echi_operation echi_cpu_gf2_echelon = { .plan = plan_echelon,
                                                     .plan_bytes = sizeof(const struct algorithm *),
                                                     .explain = explain,
                                                     .run = run };
