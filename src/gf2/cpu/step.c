/*
 * gf2/cpu/step.c - elimination in one byte column: finds up to eight pivots, and updates the
 * columns and multipliers of the enclosing block.
 *
 * A pivot row is the first row with an odd number of ones under a mask, which represents the
 * additions so far: no row is modified before all eight pivots are known.  Then one product
 * computes from every row's byte its multipliers of the original pivot rows, and another adds these
 * rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gf2/cpu/block.h"

static const uint64_t ones = 0x0101010101010101;

/* Bit 8i: whether byte i of masks and p have an odd number of common ones. */
static uint64_t parities(uint64_t masks, uint8_t p)
{
    uint64_t x = masks & p * ones;
    x ^= x >> 4;
    x ^= x >> 2;
    x ^= x >> 1;
    return x & ones;
}

/* Collects bits 0, 8, 16 ... in a byte. */
static uint8_t together(uint64_t bits)
{
    return (uint8_t)(bits * 0x0102040810204080 >> 56);
}

/* Byte i is 0xff if bit i is one. */
static uint64_t apart(uint8_t bits)
{
    const uint64_t t = (bits * ones) & 0x8040201008040201;
    return ((t + 0x7f * ones) >> 7 & ones) * 0xff;
}

/* The XOR of all bytes. */
static uint8_t folded(uint64_t x)
{
    x ^= x >> 32;
    x ^= x >> 16;
    return (uint8_t)(x ^ x >> 8);
}

/* Pivots of one byte column: q rows from start on. */
struct pivots {
    size_t start;
    int q;
    uint64_t multiplier; /* byte j: the mask of a row's byte whose parity is the multiplier of pivot
                            row j */
    uint64_t own;        /* byte i: the multipliers of pivot row i */
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

/* The columns, given by the eight masks, in which a row from e->at on has a one. */
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
                         NULL, 1, echi_gf2_lines_of(e, tile));
        memset(bytes, 0, row % ECHI_GF2_TILE);
        if (end > e->end) memset((uint8_t *)bytes + e->end % ECHI_GF2_TILE, 0, end - e->end);
        for (int i = 0; i < ECHI_GF2_TILE / 8; i++) any |= bytes[i];
        row = end;
    }
    uint8_t columns = 0;
    for (int i = 0; i < 8; i++) columns |= (uint8_t)(any >> 8 * i);
    return columns;
}

/* Makes `row` the next pivot row, for column t of byte column c: swaps rows of byte columns [c,
 * end) and of g. */
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

/* Finds the pivots among the first `bits` bits of byte column c. */
static void find_pivots(struct echi_gf2_block *e, const struct echi_gf2_columns *m, size_t c,
                        size_t end, int bits, size_t g_columns, struct pivots *p)
{
    /* Byte t of masks: the mask of a row's byte whose parity is its current bit in column t.  Byte
     * i of the others belongs to pivot row i. taken: the mask of its column; sums: the original
     * pivot rows that it consists of; lefts: its current bits. */
    uint64_t masks = 0x8040201008040201, taken = 0, sums = 0;
    uint64_t own = 0, lefts = 0; /* sums and lefts, including later pivot rows if those are added */
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
        if (e->whole) { /* pivot rows above add this one too */
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
    const uint8_t *make, *operands; /* operands of the multipliers; of [c, end) and then of g */
    size_t parts;
};

static void step_tile(const struct step *s, size_t tile)
{
    const struct echi_gf2_block *e = s->e;
    const struct echi_gf2_isa *isa = e->isa;
    const size_t row = tile * ECHI_GF2_TILE;
    const int lines = echi_gf2_lines_of(e, tile);
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
    const size_t first = echi_gf2_first_tile(s->e), tiles = echi_gf2_tiles(s->e->end) - first;
    for (size_t i = tiles * part / s->parts; i < tiles * (part + 1) / s->parts; i++)
        step_tile(s, first + i);
}

/* Loads the bytes of q <= 8 rows from row on, in one byte column, as a block whose other rows are
 * 0. */
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

void echi_gf2_step(struct echi_gf2_block *e, const struct echi_gf2_columns *m, size_t c, size_t end,
                   int bits, size_t block)
{
    struct pivots p;
    const struct echi_gf2_columns *g = &e->level[0].g;
    find_pivots(e, m, c, end, bits, (e->at - block + 7) / 8, &p);
    if (!p.q) return;
    const size_t q = (size_t)p.q, n = end - c, g_columns = (e->at - block + 7) / 8;
    uint64_t blocks[2 * ECHI_GF2_STEP_COLUMNS] = { 0 };
    uint8_t operands[2 * ECHI_GF2_STEP_COLUMNS * ECHI_GF2_OPERAND], make[ECHI_GF2_OPERAND];
    for (size_t j = 0; j < n; j++) blocks[j] = take_block(m, c + j, p.start, q);
    for (size_t j = 0; j < g_columns; j++) {
        blocks[n + j] = take_block(g, j, p.start, q);
        echi_gf2_add_diagonal((uint8_t *)&blocks[n + j], j, p.start - block, q);
    }
    e->isa->prepare(blocks, n + g_columns, operands);
    const uint64_t multiplier = echi_gf2_turned(p.multiplier);
    e->isa->prepare(&multiplier, 1, make);
    struct step s = { e, m, c, end, g_columns, &p, make, operands, 1 };
    const int threads = echi_gf2_block_threads(e, (e->end - e->begin) * (n + g_columns) / 8);
    s.parts = (size_t)threads;
    echi_parallel(threads, s.parts, step_part, &s);
}
