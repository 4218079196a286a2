/*
 * gf2/cpu/block.c - recursive block elimination: blocks of columns consist of smaller blocks, down
 * to one byte column.
 *
 * A block of columns is factored with all rows, but nothing outside the block is modified.  For
 * each row the block keeps multipliers G: the difference between the row's new and old values, as a
 * linear combination of the old values of the rows that became pivot rows.  The columns to the
 * right of the block, and the multipliers of the enclosing block, which are treated like columns,
 * are then updated by one product:
 *
 *     +--------+--------+------------+       swaps of rows, in each column of the rest;
 *     | block  |  rest  | G of outer |       operands made of the pivot rows there;
 *     +--------+--------+------------+       rest ^= G * pivot rows
 *
 * step.c eliminates a single byte column.  Back substitution, for the reduced form, factors blocks
 * of pivot columns in the same way, without a search for pivots.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2/cpu/block.h"

static int threads_for(const struct echi_gf2_block *e, double products)
{
    return e->ctx ? echi_gf2_threads(e->ctx, e->isa, products) : 1;
}

/* ---- A block, applied to other columns ---- */

/* The bytes of q rows from row on, in one byte column. */
static void take_rows(const struct echi_gf2_columns *m, size_t c, size_t row, size_t q,
                      uint8_t *out)
{
    if (q == ECHI_GF2_LINE && row % ECHI_GF2_TILE <= ECHI_GF2_TILE - ECHI_GF2_LINE) {
        memcpy(out, echi_gf2_at(m, c, row), ECHI_GF2_LINE); /* a constant size */
        return;
    }
    for (size_t done = 0; done < q;) {
        const size_t some = echi_min(q - done, ECHI_GF2_TILE - row % ECHI_GF2_TILE);
        memcpy(out + done, echi_gf2_at(m, c, row), some);
        done += some;
        row += some;
    }
}

struct target {
    const struct echi_gf2_columns *m;
    const uint32_t *list; /* byte columns; NULL: consecutive from first on */
    size_t first, n;
    bool multipliers; /* of the enclosing block: new pivots have a one in them */
};

struct update {
    struct echi_gf2_block *e;
    const struct echi_gf2_level *level; /* the block's */
    size_t start, q, k;                 /* its pivot rows; multipliers in bytes */
    size_t outer;                       /* first pivot row of the enclosing block */
    const struct target *target;
    size_t chunk, chunks, first, tiles, parts;
    struct echi_gf2_moves moves;
};

enum { PREPARE_COLUMNS = 8 /* of a task */, MOST_WIDTH = 64 /* of a level */ };

static size_t column_of(const struct target *t, size_t j)
{
    return t->list ? t->list[j] : t->first + j;
}

/* Loads the pivot rows in one byte column, as u->k blocks. */
static void take_column(const struct update *u, const struct target *t, size_t j, uint64_t *blocks)
{
    const size_t c = column_of(t, j);
    blocks[u->k - 1] = 0;
    take_rows(t->m, c, u->start, u->q, (uint8_t *)blocks);
    if (t->multipliers) echi_gf2_add_diagonal((uint8_t *)blocks, c, u->start - u->outer, u->q);
}

/* Swaps come first, in all columns of the task: a vector load of bytes that were just stored one by
 * one would stall. */
static void prepare_some(void *arg, size_t task, int thread)
{
    const struct update *u = arg;
    (void)thread;
    const size_t begin = task * PREPARE_COLUMNS, before = u->target[0].n;
    const size_t end = echi_min(before + u->target[1].n, begin + PREPARE_COLUMNS);
    for (size_t j = begin; j < end && u->moves.pairs; j++) {
        const struct target *t = &u->target[j >= before];
        echi_gf2_moves_apply(&u->moves, u->e->isa, t->m,
                             column_of(t, j >= before ? j - before : j));
    }
    uint64_t blocks[PREPARE_COLUMNS * MOST_WIDTH];
    for (size_t j = begin; j < end; j++)
        take_column(u, &u->target[j >= before], j >= before ? j - before : j,
                    blocks + (j - begin) * u->k);
    u->e->isa->prepare(blocks, (end - begin) * u->k,
                       u->level->operands + begin * u->k * u->e->isa->operand_bytes);
}

static bool all_zero(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i += ECHI_GF2_TILE) {
        uint64_t words[ECHI_GF2_TILE / 8], any = 0;
        memcpy(words, bytes + i, sizeof words);
        for (int j = 0; j < ECHI_GF2_TILE / 8; j++) any |= words[j];
        if (any) return false;
    }
    return true;
}

static void multiply_tile(const struct update *u, size_t tile, size_t begin, size_t end)
{
    const struct echi_gf2_block *e = u->e;
    const uint8_t *a = echi_gf2_at(&u->level->g, 0, tile * ECHI_GF2_TILE);
    if (all_zero(a, u->k * ECHI_GF2_TILE)) return;
    for (int i = 0; i < 2; i++) {
        const struct target *t = &u->target[i];
        const size_t before = i ? u->target[0].n : 0;
        const size_t from = begin > before ? begin - before : 0;
        const size_t to = end > before ? echi_min(t->n, end - before) : 0;
        if (from >= to) continue;
        uint8_t *out = echi_gf2_at(t->m, t->list ? 0 : t->first + from, tile * ECHI_GF2_TILE);
        e->isa->multiply(
            a, u->k, u->level->operands + (before + from) * u->k * e->isa->operand_bytes, u->k, out,
            t->list ? t->list + from : NULL, to - from, echi_gf2_lines_of(e, tile));
    }
}

/* A task is a range of tiles and a chunk of columns, so that the operands stay in the cache. */
static void multiply_part(void *arg, size_t task, int thread)
{
    const struct update *u = arg;
    (void)thread;
    const size_t part = task % u->parts, chunk = task / u->parts;
    for (size_t i = u->tiles * part / u->parts; i < u->tiles * (part + 1) / u->parts; i++)
        multiply_tile(u, u->first + i, chunk * u->chunk, (chunk + 1) * u->chunk);
}

/* Applies the q pivot rows from start on, whose multipliers are in level, to target[0] and
 * target[1]; outer is the first pivot row of the enclosing block. */
static void update(struct echi_gf2_block *e, const struct echi_gf2_level *level, size_t start,
                   size_t q, size_t outer, const struct target *target)
{
    const size_t all = target[0].n + target[1].n;
    struct update whole, *u = &whole; /* not initialised, because moves are large */
    if (!all) return;
    u->e = e;
    u->level = level;
    u->start = start;
    u->q = q;
    u->outer = outer;
    u->target = target;
    u->moves.pairs = 0;
    if (!e->known)
        echi_gf2_moves_make(&u->moves, e->swapped, u->start, u->q, e->moved,
                            e->isa->permute && all >= PREPARE_COLUMNS);
    u->k = (u->q + 7) / 8;
    u->first = echi_gf2_first_tile(e);
    u->tiles = echi_gf2_tiles(e->end) - u->first;
    const double products = 64.0 * (double)all * (double)u->k * (double)(e->end - e->begin);
    const int threads = threads_for(e, products);
    echi_parallel(threads, (all + PREPARE_COLUMNS - 1) / PREPARE_COLUMNS, prepare_some, u);
    u->chunk = 512;
    u->chunks = (all + u->chunk - 1) / u->chunk;
    u->parts = threads == 1 ? 1 : echi_min(u->tiles, (size_t)threads * 4);
    echi_parallel(threads, u->parts * u->chunks, multiply_part, u);
}

/* ---- Recursive blocks ---- */

static bool done(const struct echi_gf2_block *e)
{
    return e->at == e->end || e->at == e->max_rank;
}

static void clear(const struct echi_gf2_block *e, const struct echi_gf2_level *level)
{
    for (size_t tile = echi_gf2_first_tile(e); tile < echi_gf2_tiles(e->end); tile++)
        memset(echi_gf2_at(&level->g, 0, tile * ECHI_GF2_TILE), 0, level->width * ECHI_GF2_TILE);
}

/* Factors byte columns [begin, end), a block of the level; the first `limit` bits may contain
 * pivots. */
static void factor(struct echi_gf2_block *e, int l, const struct echi_gf2_columns *m, size_t begin,
                   size_t end, size_t limit)
{
    const size_t start = e->at, width = l ? e->level[l - 1].width : 1;
    clear(e, &e->level[l]);
    for (size_t c = begin; c < end && c * 8 < limit && !done(e); c += width) {
        if (!e->whole) e->begin = e->at;
        if (l == 0) {
            echi_gf2_step(e, m, c, end, (int)echi_min(8, limit - c * 8), start);
            continue;
        }
        const size_t next = echi_min(end, c + width), was = e->at;
        factor(e, l - 1, m, c, next, limit);
        if (e->at == was) continue;
        if (!e->whole) e->begin = was;
        const struct target targets[2] = {
            { m, NULL, next, end - next, false },
            { &e->level[l].g, NULL, 0, (e->at - start + 7) / 8, true },
        };
        update(e, &e->level[l - 1], was, e->at - was, start, targets);
    }
}

bool echi_gf2_block_zero_from(const struct echi_gf2_block *e, size_t column, size_t row)
{
    while (row < e->rows) {
        const size_t some = echi_min(e->rows - row, ECHI_GF2_TILE - row % ECHI_GF2_TILE);
        const uint8_t *bytes = echi_gf2_at(&e->w, column, row);
        uint8_t any = 0;
        for (size_t i = 0; i < some; i++) any |= bytes[i];
        if (any) return false;
        row += some;
    }
    return true;
}

/* The bit products for q pivots from now on, in `columns` bits from the first pivot on. */
static double products_of(const struct echi_gf2_block *e, double q, double columns)
{
    const double rows = (double)(e->rows - (e->whole ? 0 : e->at));
    const double fewer =
        e->whole ? columns / 2 : (rows + columns) / 2; /* rows and columns shrink */
    return q * (rows * columns - q * fewer + (e->whole ? 0 : q * q / 3));
}

/* The bit products of back substitution for this many pivots. */
static double products_back(const struct echi_gf2_block *e, double rank)
{
    return e->back && !e->whole ? rank * rank / 2 * ((double)e->cols - rank) : 0;
}

/* Reports progress as if every remaining column had a pivot. */
static bool report_forward(struct echi_gf2_block *e, size_t column)
{
    const size_t bits = column * 8, columns = bits < e->limit ? e->limit - bits : 0;
    const double q = (double)echi_min(columns, echi_min(e->rows, e->max_rank) - e->at);
    const double left = products_of(e, q, (double)(e->cols - echi_min(bits, e->cols)));
    return echi_progress(e->ctx, e->spent, left + products_back(e, (double)e->at + q));
}

void echi_gf2_block_forward(struct echi_gf2_block *e)
{
    const int top = e->levels - 1;
    const size_t width = e->level[top].width;
    e->known = false;
    e->at = e->begin = 0;
    e->end = e->rows;
    e->whole = e->jordan;
    e->spent = 0;
    for (size_t i = 0; i < e->rows; i++) e->from[i] = e->moved[i] = (uint32_t)i;
    for (size_t c = 0; c < e->columns && c * 8 < e->limit && !done(e); c += width) {
        const size_t next = echi_min(e->columns, c + width), was = e->at;
        if (e->watched < e->columns && echi_gf2_block_zero_from(e, e->watched, was)) break;
        if (!e->whole) e->begin = was;
        factor(e, top, &e->w, c, next, e->limit);
        if (e->at == was) continue;
        if (!e->whole) e->begin = was;
        const struct target targets[2] = { { &e->w, NULL, next, e->columns - next, false } };
        update(e, &e->level[top], was, e->at - was, was, targets);
        e->spent += (double)(e->at - was) * (double)(e->rows - (e->whole ? 0 : was)) *
                    (double)(e->cols - echi_min(c * 8, e->cols));
        if (report_forward(e, next)) return;
    }
}

/* ---- Back substitution ---- */

struct take {
    const struct echi_gf2_block *e;
    size_t first, q, tiles;
};

/* Gathers the pivot columns, eight per byte. */
static void take_tile(void *arg, size_t tile, int thread)
{
    const struct take *t = arg;
    const struct echi_gf2_block *e = t->e;
    (void)thread;
    for (size_t i = 0; i < t->q; i += 8) {
        const uint8_t *from[8];
        uint8_t bit[8];
        const int n = (int)echi_min(8, t->q - i);
        for (int j = 0; j < n && j < 8;
             j++) { /* 8: gcc for 64-bit Arm does not see that n is less */
            const uint32_t column = e->pivots[t->first + i + (size_t)j];
            from[j] = echi_gf2_at(&e->w, column / 8, tile * ECHI_GF2_TILE);
            bit[j] = column % 8;
        }
        e->isa->gather(from, bit, n, echi_gf2_at(&e->q, i / 8, tile * ECHI_GF2_TILE),
                       echi_gf2_lines_of(e, tile));
    }
}

size_t echi_gf2_block_open(struct echi_gf2_block *e)
{
    size_t n = 0, i = 0;
    for (size_t c = 0; c < e->columns; c++) {
        size_t pivots = 0;
        for (; i < e->at && e->pivots[i] / 8 == c; i++) pivots++;
        if (pivots < echi_min(8, e->cols - c * 8)) e->list[n++] = (uint32_t)c;
    }
    return n;
}

void echi_gf2_block_close(const struct echi_gf2_block *e, size_t open, size_t tile)
{
    const size_t row = tile * ECHI_GF2_TILE;
    size_t i = 0, next = 0;
    for (size_t c = 0; c < e->columns; c++) {
        while (i < e->at && e->pivots[i] / 8 < c) i++;
        if (next < open && e->list[next] == c) {
            next++;
            continue;
        }
        uint8_t *bytes = echi_gf2_at(&e->w, c, row);
        memset(bytes, 0, ECHI_GF2_TILE);
        for (; i < e->at && e->pivots[i] / 8 == c; i++)
            if (i / ECHI_GF2_TILE == tile) bytes[i - row] = (uint8_t)(1 << e->pivots[i] % 8);
    }
}

void echi_gf2_block_back(struct echi_gf2_block *e, const uint32_t *list, size_t n)
{
    /* For few columns, two levels of blocks do not repay the computation of their multipliers. */
    const int top = e->levels > 1 && n > 2 * e->level[1].width ? e->levels - 1 : 0;
    const size_t width = e->level[top].width * 8, rank = e->at;
    if (rank == 0 || e->whole) return;
    const double before = e->spent, all = products_back(e, (double)rank);
    e->known = e->whole = true;
    e->begin = 0;
    for (size_t first = (rank - 1) / width * width, left = n;; first -= width) {
        const size_t end = echi_min(rank, first + width), q = end - first;
        while (left > 0 && list[left - 1] >= e->pivots[first] / 8) left--;
        if (left < n) {
            e->end = end;
            struct take t = { e, first, q, echi_gf2_tiles(end) };
            echi_parallel(echi_gf2_block_threads(e, q / 8 * end), t.tiles, take_tile, &t);
            e->at = first;
            factor(e, top, &e->q, 0, (q + 7) / 8, q);
            const struct target targets[2] = { { &e->w, list + left, 0, n - left, false } };
            update(e, &e->level[top], first, q, first, targets);
        }
        const double done = 1 - (double)first * (double)first / ((double)rank * (double)rank);
        if (echi_progress(e->ctx, before + all * done, all * (1 - done)) || first == 0) break;
    }
    e->at = rank;
    e->end = e->rows;
    e->known = false;
}

/* ---- Workspace ---- */

static struct echi_gf2_columns lay_out(struct echi_layout *layout, size_t rows, size_t columns)
{
    struct echi_gf2_columns m;
    m.tile = echi_gf2_tile_bytes(columns);
    m.base = echi_part(layout, echi_gf2_tiles(rows), m.tile);
    return m;
}

void echi_gf2_block_plan(struct echi_gf2_block *e, struct echi_layout *layout, size_t rows,
                         size_t cols, size_t limit, bool reduced)
{
    const size_t most = rows < cols ? rows : cols;
    e->rows = rows;
    e->cols = cols;
    e->columns = (cols + 7) / 8;
    e->limit = limit;
    e->back = reduced;
    e->jordan = reduced && rows <= ECHI_GF2_JORDAN_ROWS;
    e->levels = most <= 1024 ? 1 : 2;
    e->level[0].width = ECHI_GF2_STEP_COLUMNS;
    e->level[1].width = most <= 8192 ? 32 : MOST_WIDTH;
    e->w = lay_out(layout, rows, e->columns);
    for (int l = 0; l < e->levels; l++) {
        struct echi_gf2_level *level = &e->level[l];
        const size_t inside = l + 1 < e->levels ? 2 * e->level[l + 1].width : e->columns;
        level->g = lay_out(layout, rows, level->width);
        level->operands = echi_part(layout, inside * level->width, e->isa->operand_bytes);
    }
    e->q = reduced ? lay_out(layout, rows, e->level[e->levels - 1].width)
                   : (struct echi_gf2_columns){ NULL, 0 };
    e->pivots = echi_part(layout, most, sizeof *e->pivots);
    e->swapped = echi_part(layout, most, sizeof *e->swapped);
    e->from = echi_part(layout, rows, sizeof *e->from);
    e->moved = echi_part(layout, rows, sizeof *e->moved);
    e->list = echi_part(layout, e->columns, sizeof *e->list);
}
