/*
 * cpu/gf2_block.c - elimination in blocks of columns, in blocks of those, down to one byte column.
 *
 * A block of columns is factored with all rows at hand, but nothing outside it is touched: the
 * block keeps for each row the multipliers G by which that row's new value differs from its old
 * one, in terms of the old values of the rows that became pivot rows.  What lies right of the
 * block, and the multipliers of the block around it, which are columns like others, then take one
 * product:
 *
 *     +--------+--------+------------+       swaps of rows, in each column of the rest;
 *     | block  |  rest  | G of outer |       operands made of the pivot rows there;
 *     +--------+--------+------------+       rest ^= G * pivot rows
 *
 * Of a byte column eight pivots are found by looking for the first row with an odd number of ones
 * under a mask, which stands for the sums made so far.  The way back, to the reduced form, factors
 * blocks of pivot columns likewise, where no pivot is looked for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2.h"

static const uint64_t ones = 0x0101010101010101;

/* Bit 8i: whether byte i of masks has an odd number of ones in common with p. */
static uint64_t parities(uint64_t masks, uint8_t p)
{
    uint64_t x = masks & p * ones;
    x ^= x >> 4;
    x ^= x >> 2;
    x ^= x >> 1;
    return x & ones;
}

/* Bits 0, 8, 16 ... as a byte. */
static uint8_t together(uint64_t bits)
{
    return (uint8_t)(bits * 0x0102040810204080 >> 56);
}

/* Bytes 0xff where bits has ones. */
static uint64_t apart(uint8_t bits)
{
    const uint64_t t = (bits * ones) & 0x8040201008040201;
    return ((t + 0x7f * ones) >> 7 & ones) * 0xff;
}

/* The sum of all bytes. */
static uint8_t folded(uint64_t x)
{
    x ^= x >> 32;
    x ^= x >> 16;
    return (uint8_t)(x ^ x >> 8);
}

/* ---- Which threads do what ---- */

static int threads_for_bytes(const struct echi_gf2_block *e, size_t bytes)
{
    return e->ctx ? echi_parallel_for_bytes(e->ctx, bytes) : 1;
}

static int threads_for(const struct echi_gf2_block *e, double products)
{
    return e->ctx ? echi_gf2_threads(e->ctx, e->isa, products) : 1;
}

/* Rows that are added to now: from the next pivot row down, or, on the way back, all above. */
static size_t first_tile(const struct echi_gf2_block *e)
{
    return e->begin / ECHI_GF2_TILE;
}

static int lines_of(const struct echi_gf2_block *e, size_t tile)
{
    return echi_gf2_lines(e->end, tile);
}

/* ---- Eight columns ---- */

/* Pivots of one byte column: q rows from start on. */
struct pivots {
    size_t start;
    int q;
    uint64_t multiplier; /* byte j: what of a byte makes the multiplier of pivot row j */
    uint64_t own;        /* byte i: the multipliers of pivot row i itself */
};

static void swap_rows(const struct echi_gf2_columns *m, size_t first, size_t end, size_t a,
                      size_t b)
{
    uint8_t *pa = echi_gf2_at(m, first, a), *pb = echi_gf2_at(m, first, b);
    for (size_t c = first; c < end; c++, pa += ECHI_GF2_TILE, pb += ECHI_GF2_TILE) {
        const uint8_t byte = *pa;
        *pa = *pb;
        *pb = byte;
    }
}

static size_t find(const struct echi_gf2_block *e, const struct echi_gf2_columns *m, size_t c,
                   uint8_t mask)
{
    for (size_t row = e->at; row < e->end;) {
        const size_t tile = row - row % ECHI_GF2_TILE;
        const size_t to = echi_min(e->end - tile, ECHI_GF2_TILE);
        const size_t i = e->isa->find(echi_gf2_at(m, c, tile), row - tile, to, mask);
        if (i < to) return tile + i;
        row = tile + to;
    }
    return e->end;
}

/* The columns, of the eight that masks make, in which a row from e->at on has a one. */
static uint8_t alive(const struct echi_gf2_block *e, const struct echi_gf2_columns *m, size_t c,
                     uint64_t masks)
{
    uint8_t operand[ECHI_GF2_OPERAND];
    const uint64_t block = echi_gf2_turned(masks);
    uint64_t any = 0;
    e->isa->prepare(&block, 1, operand);
    for (size_t row = e->at; row < e->end && any != ~(uint64_t)0;) {
        const size_t tile = row / ECHI_GF2_TILE, end = (tile + 1) * ECHI_GF2_TILE;
        uint64_t bytes[ECHI_GF2_TILE / 8] = { 0 };
        e->isa->multiply(echi_gf2_at(m, c, tile * ECHI_GF2_TILE), 1, operand, 1, (uint8_t *)bytes,
                         NULL, 1, lines_of(e, tile));
        memset(bytes, 0, row % ECHI_GF2_TILE);
        if (end > e->end) memset((uint8_t *)bytes + e->end % ECHI_GF2_TILE, 0, end - e->end);
        for (int i = 0; i < ECHI_GF2_TILE / 8; i++) any |= bytes[i];
        row = end;
    }
    uint8_t columns = 0;
    for (int i = 0; i < 8; i++) columns |= (uint8_t)(any >> 8 * i);
    return columns;
}

/* Makes row the next pivot row, for column t of byte column c: swaps rows of byte columns [c, end)
 * and of g. */
static void take_pivot(struct echi_gf2_block *e, const struct echi_gf2_columns *m, size_t c,
                       size_t end, int t, size_t row, size_t g_columns)
{
    e->pivots[e->at] = (uint32_t)(c * 8 + (size_t)t);
    e->swapped[e->at] = (uint32_t)row;
    if (row == e->at) return;
    swap_rows(m, c, end, e->at, row);
    swap_rows(&e->level[0].g, 0, g_columns, e->at, row);
    const uint32_t from = e->from[row];
    e->from[row] = e->from[e->at];
    e->from[e->at] = from;
}

/* Finds the pivots among the first bits of byte column c. */
static void find_pivots(struct echi_gf2_block *e, const struct echi_gf2_columns *m, size_t c,
                        size_t end, int bits, size_t g_columns, struct pivots *p)
{
    /* Byte t of masks: what of a row's byte makes the bit that is left in column t.  Byte i of the
     * others is pivot row i's: what made the bit that it was added for, its old rows, its bits. */
    uint64_t masks = 0x8040201008040201, taken = 0, sums = 0;
    uint64_t own = 0, lefts = 0; /* sums and bits, with later pivots' rows where those are added */
    uint8_t seen = 0xff;
    int q = 0;
    p->start = e->at;
    p->multiplier = 0;
    for (int t = 0; t < bits && e->at < e->end && e->at < e->max_rank; t++) {
        if (!(seen >> t & 1)) continue;
        const uint8_t mask = (uint8_t)(masks >> 8 * t);
        const size_t row = e->known ? e->at : find(e, m, c, mask);
        if (row == e->end) {
            seen = alive(e, m, c, masks);
            continue;
        }
        if (!e->known) take_pivot(e, m, c, end, t, row, g_columns);
        const uint8_t byte = *echi_gf2_at(m, c, e->at);
        const uint64_t bits_left = parities(masks, byte), left = together(bits_left);
        const uint64_t sum = folded(sums & parities(taken, byte) * 0xff) ^ (uint64_t)1 << q;
        p->multiplier ^= apart((uint8_t)sum) & mask * ones;
        if (e->whole) { /* pivot rows above take this one too */
            const uint64_t above = (lefts >> t & ones) * 0xff;
            own ^= above & sum * ones;
            lefts ^= above & left * ones;
        }
        sums |= sum << 8 * q;
        own |= sum << 8 * q;
        lefts |= left << 8 * q;
        taken |= (uint64_t)mask << 8 * q;
        masks ^= bits_left * 0xff & mask * ones;
        q++;
        e->at++;
    }
    p->q = q;
    p->own = own ^ (q ? 0x8040201008040201 & ~(uint64_t)0 >> (64 - 8 * q) : 0);
}

struct step {
    struct echi_gf2_block *e;
    const struct echi_gf2_columns *m;
    size_t c, end, g_columns;
    const struct pivots *p;
    const uint8_t *make, *operands; /* of the multipliers; of [c, end) and then of g */
    size_t parts;
};

static void step_tile(const struct step *s, size_t tile)
{
    const struct echi_gf2_block *e = s->e;
    const struct echi_gf2_isa *isa = e->isa;
    const size_t row = tile * ECHI_GF2_TILE;
    const int lines = lines_of(e, tile);
    uint64_t words[ECHI_GF2_TILE / 8] = { 0 };
    uint8_t *a = (uint8_t *)words;
    isa->multiply(echi_gf2_at(s->m, s->c, row), 1, s->make, 1, a, NULL, 1, lines);
    const size_t begin = e->whole ? 0 : s->p->start;
    if (begin > row) memset(a, 0, echi_min(begin - row, ECHI_GF2_TILE));
    if (e->end < row + ECHI_GF2_TILE) memset(a + (e->end - row), 0, row + ECHI_GF2_TILE - e->end);
    for (int i = 0; i < s->p->q; i++) {
        const size_t pivot = s->p->start + (size_t)i;
        if (pivot / ECHI_GF2_TILE == tile) a[pivot - row] = (uint8_t)(s->p->own >> 8 * i);
    }
    uint64_t any = 0;
    for (int i = 0; i < ECHI_GF2_TILE / 8; i++) any |= words[i];
    if (!any) return;
    isa->multiply(a, 1, s->operands, 1, echi_gf2_at(s->m, s->c, row), NULL, s->end - s->c, lines);
    isa->multiply(a, 1, s->operands + (s->end - s->c) * isa->operand_bytes, 1,
                  echi_gf2_at(&e->level[0].g, 0, row), NULL, s->g_columns, lines);
}

static void step_part(void *arg, size_t part, int thread)
{
    const struct step *s = arg;
    (void)thread;
    const size_t first = first_tile(s->e), tiles = echi_gf2_tiles(s->e->end) - first;
    for (size_t i = tiles * part / s->parts; i < tiles * (part + 1) / s->parts; i++)
        step_tile(s, first + i);
}

/* The bytes of q <= 8 rows from row on, in one byte column, as a block whose other rows are 0. */
static uint64_t take_block(const struct echi_gf2_columns *m, size_t c, size_t row, size_t q)
{
    const size_t left = ECHI_GF2_TILE - row % ECHI_GF2_TILE;
    const uint64_t wanted = ~(uint64_t)0 >> (64 - 8 * q);
    uint64_t block;
    memcpy(&block, echi_gf2_at(m, c, left >= 8 ? row : row + left - 8), sizeof block);
    if (left >= 8) return block & wanted;
    block >>= 8 * (8 - left);
    if (q <= left) return block & wanted;
    uint64_t next;
    memcpy(&next, echi_gf2_at(m, c, row + left), sizeof next);
    return (block | next << 8 * left) & wanted;
}

/* The bytes of q rows from row on, in one byte column. */
static void take_rows(const struct echi_gf2_columns *m, size_t c, size_t row, size_t q,
                      uint8_t *out)
{
    for (size_t done = 0; done < q;) {
        const size_t some = echi_min(q - done, ECHI_GF2_TILE - row % ECHI_GF2_TILE);
        memcpy(out + done, echi_gf2_at(m, c, row), some);
        done += some;
        row += some;
    }
}

/* Multiplier columns of q new pivots have ones on a diagonal, from row first of g's block on. */
static void add_diagonal(uint8_t *bytes, size_t column, size_t first, size_t q)
{
    for (size_t i = 0; i < q; i++)
        if ((first + i) / 8 == column) bytes[i] ^= (uint8_t)(1 << (first + i) % 8);
}

enum { STEP_COLUMNS = 8 }; /* byte columns of a block of level 0 */

/* Eliminates in byte column c of a block of level 0 that ends before end and whose first pivot row
 * is block. */
static void step(struct echi_gf2_block *e, const struct echi_gf2_columns *m, size_t c, size_t end,
                 int bits, size_t block)
{
    struct pivots p;
    const struct echi_gf2_columns *g = &e->level[0].g;
    find_pivots(e, m, c, end, bits, (e->at - block + 7) / 8, &p);
    if (!p.q) return;
    const size_t q = (size_t)p.q, n = end - c, g_columns = (e->at - block + 7) / 8;
    uint64_t blocks[2 * STEP_COLUMNS] = { 0 };
    uint8_t operands[2 * STEP_COLUMNS * ECHI_GF2_OPERAND], make[ECHI_GF2_OPERAND];
    for (size_t j = 0; j < n; j++) blocks[j] = take_block(m, c + j, p.start, q);
    for (size_t j = 0; j < g_columns; j++) {
        blocks[n + j] = take_block(g, j, p.start, q);
        add_diagonal((uint8_t *)&blocks[n + j], j, p.start - block, q);
    }
    e->isa->prepare(blocks, n + g_columns, operands);
    const uint64_t multiplier = echi_gf2_turned(p.multiplier);
    e->isa->prepare(&multiplier, 1, make);
    struct step s = { e, m, c, end, g_columns, &p, make, operands, 1 };
    const int threads = threads_for_bytes(e, (e->end - e->begin) * (n + g_columns));
    s.parts = (size_t)threads;
    echi_parallel(threads, s.parts, step_part, &s);
}

/* ---- A block, applied to other columns ---- */

struct target {
    const struct echi_gf2_columns *m;
    const uint32_t *list; /* byte columns; NULL: first, first + 1 ... */
    size_t first, n;
    bool multipliers; /* of the block around: new pivots have a one in them */
};

struct update {
    struct echi_gf2_block *e;
    const struct echi_gf2_level *level; /* the block's */
    size_t start, q, k;                 /* its pivot rows; bytes of multipliers */
    size_t outer;                       /* first pivot row of the block around */
    const struct target *target;
    size_t chunk, chunks, first, tiles, parts;
    struct echi_gf2_moves moves;
};

enum { PREPARE_COLUMNS = 8 /* of a task */, MOST_WIDTH = 64 /* of a level */ };

static size_t column_of(const struct target *t, size_t j)
{
    return t->list ? t->list[j] : t->first + j;
}

/* The pivot rows in one byte column, as u->k blocks. */
static void take_column(const struct update *u, const struct target *t, size_t j, uint64_t *blocks)
{
    const size_t c = column_of(t, j);
    blocks[u->k - 1] = 0;
    take_rows(t->m, c, u->start, u->q, (uint8_t *)blocks);
    if (t->multipliers) add_diagonal((uint8_t *)blocks, c, u->start - u->outer, u->q);
}

/* Swaps come first, in all columns of the task: what was just written byte by byte is better not
 * read as vectors at once. */
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
        e->isa->multiply(a, u->k,
                         u->level->operands + (before + from) * u->k * e->isa->operand_bytes, u->k,
                         out, t->list ? t->list + from : NULL, to - from, lines_of(e, tile));
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

/* Applies the q pivot rows from start on, of which level has the multipliers, to target[0] and
 * target[1]; outer is the first pivot row of the block around. */
static void update(struct echi_gf2_block *e, const struct echi_gf2_level *level, size_t start,
                   size_t q, size_t outer, const struct target *target)
{
    const size_t all = target[0].n + target[1].n;
    struct update whole, *u = &whole; /* moves are large and need not be cleared */
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
    u->first = first_tile(e);
    u->tiles = echi_gf2_tiles(e->end) - u->first;
    const double products = 64.0 * (double)all * (double)u->k * (double)(e->end - e->begin);
    const int threads = threads_for(e, products);
    echi_parallel(threads, (all + PREPARE_COLUMNS - 1) / PREPARE_COLUMNS, prepare_some, u);
    u->chunk = 512;
    u->chunks = (all + u->chunk - 1) / u->chunk;
    u->parts = threads == 1 ? 1 : echi_min(u->tiles, (size_t)threads * 4);
    echi_parallel(threads, u->parts * u->chunks, multiply_part, u);
}

/* ---- Blocks of blocks ---- */

static bool done(const struct echi_gf2_block *e)
{
    return e->at == e->end || e->at == e->max_rank;
}

static void clear(const struct echi_gf2_block *e, const struct echi_gf2_level *level)
{
    for (size_t tile = first_tile(e); tile < echi_gf2_tiles(e->end); tile++)
        memset(echi_gf2_at(&level->g, 0, tile * ECHI_GF2_TILE), 0, level->width * ECHI_GF2_TILE);
}

/* Factors byte columns [begin, end), a block of the level, with limit bits that may be pivots. */
static void factor(struct echi_gf2_block *e, int l, const struct echi_gf2_columns *m, size_t begin,
                   size_t end, size_t limit)
{
    const size_t start = e->at, width = l ? e->level[l - 1].width : 1;
    clear(e, &e->level[l]);
    for (size_t c = begin; c < end && c * 8 < limit && !done(e); c += width) {
        if (!e->whole) e->begin = e->at;
        if (l == 0) {
            step(e, m, c, end, (int)echi_min(8, limit - c * 8), start);
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

void echi_gf2_block_forward(struct echi_gf2_block *e)
{
    const int top = e->levels - 1;
    const size_t width = e->level[top].width;
    e->known = false;
    e->at = e->begin = 0;
    e->end = e->rows;
    e->whole = e->jordan;
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
    }
}

/* ---- The way back ---- */

struct take {
    const struct echi_gf2_block *e;
    size_t first, q, tiles;
};

/* Brings the columns of the pivots together, eight a byte. */
static void take_tile(void *arg, size_t tile, int thread)
{
    const struct take *t = arg;
    const struct echi_gf2_block *e = t->e;
    (void)thread;
    for (size_t i = 0; i < t->q; i += 8) {
        const uint8_t *from[8];
        uint8_t bit[8];
        const int n = (int)echi_min(8, t->q - i);
        for (int j = 0; j < n; j++) {
            const uint32_t column = e->pivots[t->first + i + (size_t)j];
            from[j] = echi_gf2_at(&e->w, column / 8, tile * ECHI_GF2_TILE);
            bit[j] = column % 8;
        }
        e->isa->gather(from, bit, n, echi_gf2_at(&e->q, i / 8, tile * ECHI_GF2_TILE),
                       lines_of(e, tile));
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
    /* For few columns blocks of blocks are not worth what their multipliers take. */
    const int top = e->levels > 1 && n > 2 * e->level[1].width ? e->levels - 1 : 0;
    const size_t width = e->level[top].width * 8, rank = e->at;
    if (rank == 0 || e->whole) return;
    e->known = e->whole = true;
    e->begin = 0;
    for (size_t first = (rank - 1) / width * width, left = n;; first -= width) {
        const size_t end = echi_min(rank, first + width), q = end - first;
        while (left > 0 && list[left - 1] >= e->pivots[first] / 8) left--;
        if (left < n) {
            e->end = end;
            struct take t = { e, first, q, echi_gf2_tiles(end) };
            echi_parallel(threads_for_bytes(e, q / 8 * end), t.tiles, take_tile, &t);
            e->at = first;
            factor(e, top, &e->q, 0, (q + 7) / 8, q);
            const struct target targets[2] = { { &e->w, list + left, 0, n - left, false } };
            update(e, &e->level[top], first, q, first, targets);
        }
        if (first == 0) break;
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
    e->jordan = reduced && rows <= ECHI_GF2_JORDAN_ROWS;
    e->levels = most <= 1024 ? 1 : 2;
    e->level[0].width = STEP_COLUMNS;
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
