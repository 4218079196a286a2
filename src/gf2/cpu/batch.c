/*
 * gf2/cpu/batch.c - many small eliminations over GF(2) on the CPU: one thread per matrix, in
 * per-thread memory that stays in the cache.
 *
 *     load     rows become columns of bytes; with an order, columns come in that order
 *     forward  block.c; a right-hand side is one more byte column, of one bit.  If only the
 *              solution is requested, elimination ends when the rest of that column is zero: later
 *              pivots would have zeros there.  If block products are slow, "m4r" eliminates rows
 *              of words (rows.c), which are converted from the columns and back
 *     back     all columns for the reduced form, only the right-hand side for a solution
 *     store    the columns in their original order
 *
 * batch_columns.c eliminates matrices of few rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2/cpu/common.h"
#include "core/data_error.h"

enum { MOST_THREADS = 64 };
static const size_t most_bytes = 0x10000000; /* maximum memory of all threads, if there are
                                                several */

/* Each matrix is processed by one thread. */
static int one = 1;
static const ech_ctx one_thread = { .threads = 1, .processors = &one };

/* The memory of one thread. */
struct slot {
    struct echi_gf2_block block;
    struct echi_gf2_columns stage; /* with an order: columns in the order of a */
    uint32_t *full, *inverse;      /* [cols] each: the columns' order, and its inverse */
    ech_gf2 words;                 /* for "m4r": the matrix, with its right-hand side */
    struct echi_gf2_rows rows;
    uint64_t data_error, error_kind; /* the smallest invalid position, and the kind of error */
};

struct plan {
    const struct echi_gf2_batch *request;
    struct slot *slots;
    size_t threads, columns; /* byte columns of a */
    enum algorithm { COLUMNS, BLOCK, M4R } algorithm;
    struct slot first; /* without memory: the properties that all slots share */
};

/* ---- One matrix ---- */

/* Completes the order; if it is invalid, records the error and returns false. */
static bool take_order(const struct plan *p, struct slot *s, size_t i)
{
    const struct echi_gf2_batch *r = p->request;
    const uint32_t *order = r->order + i * r->columns;
    memset(s->inverse, 0xff, r->a.cols * sizeof *s->inverse);
    for (size_t j = 0; j < r->columns; j++) {
        const uint32_t c = order[j];
        const bool large = c >= r->a.cols;
        if (large || s->inverse[c] != UINT32_MAX) {
            if (i * r->columns + j < s->data_error) {
                s->data_error = i * r->columns + j;
                s->error_kind = large ? ECHI_ORDER_TOO_LARGE : ECHI_ORDER_TWICE;
            }
            return false;
        }
        s->full[j] = c;
        s->inverse[c] = (uint32_t)j;
    }
    size_t next = r->columns;
    for (size_t c = 0; c < r->a.cols; c++) {
        if (s->inverse[c] != UINT32_MAX) continue;
        s->full[next] = (uint32_t)c;
        s->inverse[c] = (uint32_t)next++;
    }
    return true;
}

/* Column j of to = column order[j] of from. */
static void arrange(const struct plan *p, const struct slot *s, const struct echi_gf2_columns *from,
                    const uint32_t *order, const struct echi_gf2_columns *to)
{
    const ech_gf2_batch *a = &p->request->a;
    for (size_t tile = 0; tile < echi_gf2_tiles(a->rows); tile++) {
        const int lines = echi_gf2_lines(a->rows, tile);
        for (size_t c = 0; c < p->columns; c++) {
            const uint8_t *columns[8];
            uint8_t bits[8];
            const int n = (int)echi_min(8, a->cols - c * 8);
            for (int t = 0; t < n; t++) {
                const uint32_t column = order[c * 8 + (size_t)t];
                columns[t] = echi_gf2_at(from, column / 8, tile * ECHI_GF2_TILE);
                bits[t] = column % 8;
            }
            s->block.isa->gather(columns, bits, n, echi_gf2_at(to, c, tile * ECHI_GF2_TILE), lines);
        }
    }
}

static void load(const struct plan *p, struct slot *s, size_t i)
{
    const struct echi_gf2_batch *r = p->request;
    const struct echi_gf2_columns *to = r->order ? &s->stage : &s->block.w;
    const uint64_t *words = r->a.words + i * r->a.batch_stride;
    for (size_t row = 0; row < r->a.rows; row += ECHI_GF2_TILE)
        s->block.isa->to_columns(words + row * r->a.stride, r->a.stride,
                                 echi_min(ECHI_GF2_TILE, r->a.rows - row), p->columns,
                                 echi_gf2_at(to, 0, row));
    if (r->order) arrange(p, s, &s->stage, s->full, &s->block.w);
    if (!r->b) return;
    const uint64_t *b = r->b + i * echi_gf2_words(r->a.rows);
    for (size_t row = 0; row < r->a.rows; row += ECHI_GF2_TILE) {
        uint8_t *bytes = echi_gf2_at(&s->block.w, p->columns, row);
        memset(bytes, 0, ECHI_GF2_TILE);
        for (size_t j = 0; j < echi_min(ECHI_GF2_TILE, r->a.rows - row); j++)
            bytes[j] = b[(row + j) / 64] >> (row + j) % 64 & 1;
    }
}

static void store(const struct plan *p, struct slot *s, size_t i)
{
    const struct echi_gf2_batch *r = p->request;
    const struct echi_gf2_columns *from = r->order ? &s->stage : &s->block.w;
    uint64_t *words = r->out + i * r->a.batch_stride;
    if (r->order) arrange(p, s, &s->block.w, s->inverse, &s->stage);
    for (size_t row = 0; row < r->a.rows; row += ECHI_GF2_TILE)
        s->block.isa->from_columns(echi_gf2_at(from, 0, row),
                                   echi_min(ECHI_GF2_TILE, r->a.rows - row), r->a.cols,
                                   words + row * r->a.stride, r->a.stride, false);
}

static void give_solution(const struct plan *p, const struct slot *s, size_t i)
{
    const struct echi_gf2_batch *r = p->request;
    const struct echi_gf2_block *e = &s->block;
    uint64_t *x = r->x + i * echi_gf2_words(r->a.cols);
    memset(x, 0, echi_gf2_words(r->a.cols) * sizeof *x);
    r->solvable[i] = echi_gf2_block_zero_from(e, p->columns, e->at);
    if (!r->solvable[i]) return;
    for (size_t j = 0; j < e->at; j++) {
        const uint32_t c = r->order ? s->full[e->pivots[j]] : e->pivots[j];
        x[c / 64] |= (uint64_t)(*echi_gf2_at(&e->w, p->columns, j) & 1) << c % 64;
    }
}

/* The equivalent of echi_gf2_block_forward() on rows of words. */
static void forward_by_rows(const struct plan *p, struct slot *s)
{
    const struct echi_gf2_batch *r = p->request;
    struct echi_gf2_block *e = &s->block;
    uint32_t rank;
    s->words.cols = e->columns * 8; /* excludes the space for a right-hand side if there is none */
    memset(s->words.words, 0, s->words.rows * s->words.stride * sizeof *s->words.words);
    const struct echi_gf2_echelon request = { .a = s->words,
                                              .columns = r->columns,
                                              .max_rank = r->max_rank,
                                              .reduced = e->jordan,
                                              .rank = &rank };
    for (size_t row = 0; row < r->a.rows; row += ECHI_GF2_TILE)
        e->isa->from_columns(echi_gf2_at(&e->w, 0, row), echi_min(ECHI_GF2_TILE, r->a.rows - row),
                             e->columns * 8, s->words.words + row * s->words.stride,
                             s->words.stride, false);
    s->rows.request = &request;
    echi_gf2_m4r(&s->rows);
    for (size_t row = 0; row < r->a.rows; row += ECHI_GF2_TILE)
        e->isa->to_columns(s->words.words + row * s->words.stride, s->words.stride,
                           echi_min(ECHI_GF2_TILE, r->a.rows - row), e->columns,
                           echi_gf2_at(&e->w, 0, row));
    e->at = s->rows.rank;
    e->whole = e->jordan;
    e->known = false;
}

static void eliminate(void *arg, size_t i, int thread)
{
    const struct plan *p = arg;
    const struct echi_gf2_batch *r = p->request;
    struct slot *s = &p->slots[thread];
    struct echi_gf2_block *e = &s->block;
    if (r->order && !take_order(p, s, i)) return;
    if (p->algorithm == COLUMNS) {
        echi_gf2_batch_columns(r, s->block.isa, i, r->order ? s->full : NULL);
        return;
    }
    load(p, s, i);
    e->columns = p->columns + (r->b != NULL);
    e->watched = r->b && !r->out && !r->rank && !r->pivots ? p->columns : SIZE_MAX;
    const bool reduced = r->out ? r->reduced : r->b != NULL;
    e->jordan = reduced && (e->rows <= ECHI_GF2_JORDAN_ROWS || p->algorithm == M4R);
    if (p->algorithm == M4R)
        forward_by_rows(p, s);
    else
        echi_gf2_block_forward(e);
    if (r->rank) r->rank[i] = (uint32_t)e->at;
    uint32_t *pivots = r->pivots ? r->pivots + i * echi_min(r->a.rows, r->a.cols) : NULL;
    for (size_t j = 0; pivots && j < e->at; j++)
        pivots[j] = r->order ? s->full[e->pivots[j]] : e->pivots[j];
    if (r->out && !r->reduced) store(p, s, i);
    if (r->out && r->reduced) {
        const size_t open = echi_gf2_block_open(e);
        echi_gf2_block_back(e, e->list, open);
        for (size_t tile = 0; tile < echi_gf2_tiles(r->a.rows); tile++)
            echi_gf2_block_close(e, open, tile);
        store(p, s, i);
    } else if (r->b && echi_gf2_block_zero_from(e, p->columns, e->at)) {
        const uint32_t last = (uint32_t)p->columns;
        echi_gf2_block_back(e, &last, 1);
    }
    if (r->b) give_solution(p, s, i);
}

/* ---- The plan ---- */

static void slot_plan(const struct plan *p, struct slot *s, struct echi_layout *layout)
{
    const struct echi_gf2_batch *r = p->request;
    s->block.isa = echi_gf2_isa();
    s->block.max_rank = r->max_rank;
    s->data_error = UINT64_MAX;
    if (r->order) {
        s->full = echi_part(layout, r->a.cols, sizeof *s->full);
        s->inverse = echi_part(layout, r->a.cols, sizeof *s->inverse);
    }
    if (p->algorithm == COLUMNS) return;
    /* One byte column more than a has, for a right-hand side. */
    echi_gf2_block_plan(&s->block, layout, r->a.rows, p->columns * 8 + 1, r->columns, true);
    if (p->algorithm == M4R) {
        s->words.rows = r->a.rows;
        s->words.cols = p->columns * 8 + 8;
        s->words.stride = echi_gf2_words(s->words.cols);
        s->words.words = echi_part(layout, s->words.rows * s->words.stride, sizeof(uint64_t));
        s->rows.pivots = s->block.pivots;
        s->rows.from = s->block.from;
        s->rows.m4r = (struct echi_gf2_m4r){ .isa = s->block.isa, .ctx = &one_thread };
        echi_gf2_m4r_plan(&s->rows.m4r, layout, r->a.rows);
        s->rows.column = echi_part(layout, r->a.rows, sizeof(uint64_t));
    }
    if (!r->order) return;
    s->stage.tile = echi_gf2_tile_bytes(p->columns);
    s->stage.base = echi_part(layout, echi_gf2_tiles(r->a.rows), s->stage.tile);
}

static const struct {
    const char *name, *what;
    const char *when; /* when it is chosen, for the documentation */
} algorithms[] = {
    [COLUMNS] = {
        .name = "columns",
        .what = "one word per column, for up to 64 rows",
        .when = "up to 64 rows and 512 columns",
    },
    [BLOCK] = {
        .name = "block",
        .what = "eliminates blocks of byte columns, updates the rest by products",
        .when = "other matrices, the CPU has AVX2",
    },
    [M4R] = {
        .name = "m4r",
        .what = "64 columns at a time, tables of linear combinations of rows (M4R)",
        .when = "all other matrices",
    },
};
enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };

static bool can(const struct echi_gf2_batch *r, int algorithm)
{
    return algorithm != COLUMNS || echi_gf2_batch_columns_can(r);
}

static ech_status choose(const struct echi_gf2_batch *r, enum algorithm *algorithm)
{
    *algorithm = can(r, COLUMNS) ? COLUMNS : echi_gf2_isa()->fast ? BLOCK : M4R;
    if (!r->algorithm) return ECH_OK;
    for (int i = 0; i < ALGORITHMS; i++) {
        *algorithm = (enum algorithm)i;
        if (can(r, i) && strcmp(r->algorithm, algorithms[i].name) == 0) return ECH_OK;
    }
    return echi_fail(NULL, ECH_ERR_ARG,
                     "algorithm \"%s\" is unknown or cannot run this call; available: %s%s",
                     r->algorithm, can(r, COLUMNS) ? "columns, " : "", "block, m4r");
}

static ech_status lay_out(const struct echi_gf2_batch *r, enum algorithm algorithm, void *work,
                          struct plan *p, size_t *bytes)
{
    *p = (struct plan){ .request = r, .columns = (r->a.cols + 7) / 8, .algorithm = algorithm };
    struct echi_layout each = { .base = NULL }, layout = { .base = work };
    slot_plan(p, &p->first, &each);
    p->threads = echi_min(MOST_THREADS, r->a.count);
    p->threads = echi_min(p->threads, each.bytes ? most_bytes / each.bytes : 1);
    if (p->threads < 1) p->threads = 1;
    p->slots = echi_part(&layout, p->threads, sizeof *p->slots);
    if (work) memset(p->slots, 0, p->threads * sizeof *p->slots);
    for (size_t i = 0; i < p->threads; i++) {
        struct slot unused = { .data_error = 0 };
        slot_plan(p, work ? &p->slots[i] : &unused, &layout);
    }
    if (each.overflow || layout.overflow)
        return echi_fail(NULL, ECH_ERR_MEMORY, "the workspace exceeds SIZE_MAX bytes");
    *bytes = layout.bytes;
    return ECH_OK;
}

static ech_status plan_batch(const void *request, void *plan, size_t *bytes)
{
    enum algorithm *algorithm = plan;
    struct plan p;
    const ech_status status = choose(request, algorithm);
    return status == ECH_OK ? lay_out(request, *algorithm, NULL, &p, bytes) : status;
}

static ech_status explain(const void *request, struct echi_explain *e)
{
    struct plan p;
    enum algorithm algorithm;
    size_t bytes;
    ech_status status;
    TRY(choose(request, &algorithm));
    TRY(lay_out(request, algorithm, NULL, &p, &bytes));
    echi_explain_algorithm(e, true, algorithms[p.algorithm].name, "%s",
                           algorithms[p.algorithm].what);
    for (int i = 0; i < ALGORITHMS; i++)
        if (i != (int)p.algorithm && can(request, i))
            echi_explain_algorithm(e, false, algorithms[i].name, "%s", algorithms[i].what);
    echi_explain_line(e, "isa", "%s", p.first.block.isa->name);
    if (p.algorithm == BLOCK)
        echi_explain_line(e, "blocks", "%zu columns",
                          p.first.block.level[p.first.block.levels - 1].width * 8);
    echi_explain_line(e, "threads", "at most %zu, one matrix per thread", p.threads);
done:
    return status;
}

static ech_status run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    struct plan p;
    size_t bytes;
    const ech_status status = lay_out(request, *(const enum algorithm *)plan, work, &p, &bytes);
    if (status != ECH_OK) return status;
    const struct echi_gf2_batch *r = request;
    const double rows = (double)r->a.rows, products = rows * rows * (double)r->a.cols;
    const int worth = echi_gf2_threads(ctx, p.first.block.isa, products * (double)r->a.count * 4);
    echi_parallel((int)echi_min((size_t)worth, p.threads), r->a.count, eliminate, &p);
    const struct slot *first = &p.slots[0];
    for (size_t i = 1; i < p.threads; i++)
        if (p.slots[i].data_error < first->data_error) first = &p.slots[i];
    return first->data_error == UINT64_MAX
               ? ECH_OK
               : echi_report_error(ctx, (unsigned)first->error_kind, first->data_error);
}

const struct echi_operation echi_cpu_gf2_batch = {
    .plan = plan_batch, .plan_bytes = sizeof(enum algorithm), .explain = explain, .run = run
};
