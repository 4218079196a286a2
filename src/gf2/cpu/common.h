/*
 * gf2/cpu/common.h - what the files of the CPU's products and eliminations over GF(2) share:
 * matrices as columns of bytes, the kernels that have instruction-set variants, and the elimination
 * in blocks.
 *
 * While they work, matrices lie as columns of bytes: a byte column has eight columns, one byte a
 * row.  A tile is 256 rows of all byte columns, one byte column after another, so that a vector of
 * 64 bytes is 64 rows:
 *
 *              column 0          column 1              column 8c + t of row r is bit t of
 *     tile 0   rows 0 .. 255     rows 0 .. 255   ...   base[c * 256 + (r / 256) * tile + r % 256]
 *     tile 1   rows 256 .. 511   ...
 *
 * All arithmetic is then out[j] ^= a[k] * B(k, j), where a byte of a times a block B(k, j) of 8 x 8
 * bits is a byte: one instruction for 64 rows (GFNI), two table look-ups for 32 (AVX2).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_CPU_COMMON_H
#define ECHI_GF2_CPU_COMMON_H

#include "gf2/gf2.h"
#include "cpu/cpu.h"

#include <string.h>

#define INLINED static inline __attribute__((always_inline))

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "bits of words are taken as bytes");

enum {
    ECHI_GF2_TILE = 256, /* rows of a tile */
    ECHI_GF2_LINE = 64,  /* rows of a vector: tiles have whole ones */
    ECHI_GF2_LINES = ECHI_GF2_TILE / ECHI_GF2_LINE,
    ECHI_GF2_OPERAND = 32, /* most bytes of a block as an operand */
    ECHI_GF2_STRIP = 32    /* words of a row that the tables of "m4r" are made for at a time */
};

/* ---- Columns of bytes ---- */

struct echi_gf2_columns {
    uint8_t *base;
    size_t tile; /* bytes from a tile to the next */
};

/* Tiles of so many byte columns do not all begin in the same sets of a cache. */
static inline size_t echi_gf2_tile_bytes(size_t columns)
{
    return columns * ECHI_GF2_TILE + 9 * ECHI_GF2_TILE;
}

static inline size_t echi_gf2_tiles(size_t rows)
{
    return rows / ECHI_GF2_TILE + (rows % ECHI_GF2_TILE != 0);
}

/* Lines of the given tile of a matrix of so many rows. */
static inline int echi_gf2_lines(size_t rows, size_t tile)
{
    const size_t left = rows - tile * ECHI_GF2_TILE;
    return left >= ECHI_GF2_TILE ? ECHI_GF2_LINES
                                 : (int)((left + ECHI_GF2_LINE - 1) / ECHI_GF2_LINE);
}

static inline uint8_t *echi_gf2_at(const struct echi_gf2_columns *m, size_t column, size_t row)
{
    return m->base + row / ECHI_GF2_TILE * m->tile + column * ECHI_GF2_TILE + row % ECHI_GF2_TILE;
}

/* A block of 8 x 8 bits, a row a byte, turned over. */
static inline uint64_t echi_gf2_turned(uint64_t x)
{
    uint64_t t = (x ^ x >> 7) & 0x00aa00aa00aa00aa;
    x ^= t ^ t << 7;
    t = (x ^ x >> 14) & 0x0000cccc0000cccc;
    x ^= t ^ t << 14;
    t = (x ^ x >> 28) & 0x00000000f0f0f0f0;
    return x ^ t ^ t << 28;
}

/* ---- Kernels: kernels.h ---- */

/* One table a field of bits of a multiplier: what a row adds is the sum of an entry of each. */
struct echi_gf2_tables {
    const uint64_t *entries; /* [tables][1 << bits][ECHI_GF2_STRIP] */
    int tables, bits;
};

/* Swaps of rows put together: row to[i] becomes what row from[i] was.  With lines, of 64 rows: line
 * number line[i] is changed by the moves which[i][j], j <
 * count[i], from lines from_line[i][j], which are places in line[], too. */
enum { ECHI_GF2_PAIRS = 1024, ECHI_GF2_MOVE_LINES = 16, ECHI_GF2_MOVES = 64 };
struct echi_gf2_moves {
    size_t pairs;
    uint32_t to[ECHI_GF2_PAIRS], from[ECHI_GF2_PAIRS];
    int lines, moves;
    size_t line[ECHI_GF2_MOVE_LINES];
    int count[ECHI_GF2_MOVE_LINES];
    uint8_t which[ECHI_GF2_MOVE_LINES][ECHI_GF2_MOVE_LINES];
    uint8_t from_line[ECHI_GF2_MOVE_LINES][ECHI_GF2_MOVE_LINES];
    struct echi_gf2_move {
        uint8_t index[ECHI_GF2_LINE]; /* byte i becomes byte index[i], if it is in mask */
        uint64_t mask;
    } move[ECHI_GF2_MOVES];
};

/* What an elimination with a word a column is to do. */
struct echi_gf2_turned {
    size_t rows, limit, most; /* at most 64; columns that may be pivots'; pivots */
    bool swaps;               /* a pivot's row is swapped to its place; else it stays */
    bool reduced;             /* it is added to those above too */
};

struct echi_gf2_isa {
    const char *name;
    size_t operand_bytes;
    bool fast; /* "block" is the quickest way to multiply */

    /* Makes operands of n blocks; a block is 8 bytes, one a row. */
    void (*prepare)(const uint64_t *blocks, size_t n, void *operands);

    /* out[list[j]] ^= sum of a[i] * B(i, j) over i < k, for j < n, in one tile of so many lines:
     * byte column c of a tile begins c * ECHI_GF2_TILE bytes from it.  list NULL: j.  The operand
     * of B(i, j) is number j * step + i. */
    void (*multiply)(const uint8_t *a, size_t k, const void *operands, size_t step, uint8_t *out,
                     const uint32_t *list, size_t n, int lines);

    /* The first i in from <= i < to <= ECHI_GF2_TILE with an odd number of ones in
     * bytes[i] & mask; to, if there is none.  Reads whole lines. */
    size_t (*find)(const uint8_t *bytes, size_t from, size_t to, uint8_t mask);

    /* Rows, of bytes each, stride words apart, to the columns of a tile; rows that fill its last
     * line up become 0. */
    void (*to_columns)(const uint64_t *words, size_t stride, size_t rows, size_t bytes,
                       uint8_t *tile);

    /* Back: writes the first cols bits of rows, or adds them. */
    void (*from_columns)(const uint8_t *tile, size_t rows, size_t cols, uint64_t *words,
                         size_t stride, bool add);

    /* Moves rows of a byte column, whose touched lines are given.  NULL: is no quicker than bytes
     * one by one. */
    void (*permute)(const struct echi_gf2_moves *moves, uint8_t *const *lines);

    /* Bit t of out = bit bit[t] of byte column from[t], for t < n <= 8, in so many lines. */
    void (*gather)(const uint8_t *const *from, const uint8_t *bit, int n, uint8_t *out, int lines);

    /* out ^= what the tables say for the multiplier of each row; width words of each row. */
    void (*combine)(const struct echi_gf2_tables *tables, const uint64_t *multipliers, size_t rows,
                    uint64_t *out, size_t stride, size_t width);

    /* Turns 64 x 64 bits over: bit i of word j becomes bit j of word i. */
    void (*turn)(uint64_t words[64]);

    /* Eliminates in a matrix with a word a column: of all columns, the first t->limit may be
     * pivots'.  Reads and writes whole eights of them.  Returns the rank, the pivots and their
     * rows. */
    size_t (*eliminate)(uint64_t *column, size_t all, const struct echi_gf2_turned *t,
                        uint32_t *pivots, uint8_t *pivot_rows);
};

extern const struct echi_gf2_isa echi_gf2_portable, echi_gf2_avx2, echi_gf2_avx512;

/* The variant that this machine runs best, or that ECHELON_CPU names. */
const struct echi_gf2_isa *echi_gf2_isa(void);

/* How many threads are worth waking for so many multiplications of bits. */
int echi_gf2_threads(const ech_ctx *ctx, const struct echi_gf2_isa *isa, double products);

/* ---- Swaps: moves.c ---- */

/* Puts q swaps together: of rows i and swapped[i] for i from start on.  moved[i] = i before and
 * after, for all rows.  lines: many columns will be permuted, and there is isa->permute. */
void echi_gf2_moves_make(struct echi_gf2_moves *moves, const uint32_t *swapped, size_t start,
                         size_t q, uint32_t *moved, bool lines);

/* Permutes the rows of byte column c. */
void echi_gf2_moves_apply(const struct echi_gf2_moves *moves, const struct echi_gf2_isa *isa,
                          const struct echi_gf2_columns *columns, size_t c);

/* ---- Elimination in blocks: block.c ---- */

enum {
    ECHI_GF2_LEVELS = 2,
    ECHI_GF2_JORDAN_ROWS = 512 /* up to so many, adding pivot rows to those above them at once takes
                                  less than a way back */
};

/* Multipliers of a block of columns, of all rows, in terms of the rows that become pivot rows, as
 * they were when the block was begun; and room for operands made of what they multiply. */
struct echi_gf2_level {
    size_t width; /* byte columns of a block */
    struct echi_gf2_columns g;
    uint8_t *operands;
};

struct echi_gf2_block {
    const struct echi_gf2_isa *isa;
    const ech_ctx *ctx; /* NULL: one thread */
    struct echi_gf2_columns w;
    size_t rows, cols, columns; /* columns of bits, of bytes */
    size_t limit;               /* bits; pivots are sought in the first so many */
    size_t max_rank;
    size_t watched; /* ends when rows from the next pivot's on are 0 in this byte column; SIZE_MAX:
                       in none */
    struct echi_gf2_level level[ECHI_GF2_LEVELS];
    int levels;
    struct echi_gf2_columns q;  /* the columns of pivots, for the way back */
    uint32_t *pivots, *swapped; /* [most pivots] */
    uint32_t *from, *moved;     /* [rows] */
    uint32_t *list;             /* [columns] */
    size_t at;                  /* pivots found so far, and the row of the next */
    size_t begin, end;          /* rows that are added to */
    bool back;                  /* back() is to follow */
    bool jordan;  /* forward() adds pivot rows to those above, too, and back() has nothing to do */
    bool known;   /* now the pivots are: no search, no swaps */
    bool whole;   /* now pivot rows are added to those above */
    double spent; /* products of bits that were made, for who wants to know how far this is */
};

/* Lays out the workspace for a matrix of rows x cols, and fills in block.  layout's base NULL only
 * measures. */
void echi_gf2_block_plan(struct echi_gf2_block *block, struct echi_layout *layout, size_t rows,
                         size_t cols, size_t limit, bool reduced);

/* Makes w echelon form, and finds at, pivots and from, which are set to be the rows' numbers. */
void echi_gf2_block_forward(struct echi_gf2_block *block);

/* Whether rows from row on are zero in a byte column. */
bool echi_gf2_block_zero_from(const struct echi_gf2_block *block, size_t column, size_t row);

/* Adds pivot rows to those above them, in byte columns of the list that follow a pivot's. */
void echi_gf2_block_back(struct echi_gf2_block *block, const uint32_t *list, size_t n);

/* Writes the byte columns that are not pivots' alone to block->list, and gives their number. */
size_t echi_gf2_block_open(struct echi_gf2_block *block);

/* In one tile, gives all other byte columns what the reduced form has there. */
void echi_gf2_block_close(const struct echi_gf2_block *block, size_t open, size_t tile);

/* ---- Four Russians: russians.c ---- */

/* Tables of sums of 64 rows, for a strip of words at a time, and what rows multiply them by. */
struct echi_gf2_russians {
    const struct echi_gf2_isa *isa;
    const ech_ctx *ctx;
    int bits;              /* of a table's index */
    uint64_t *entries;     /* of all tables */
    uint64_t *multipliers; /* [rows] */
};

/* Chooses bits for so many rows, and lays out the workspace. */
void echi_gf2_russians_plan(struct echi_gf2_russians *r, struct echi_layout *layout, size_t rows);

/* Rows [begin, end) of out += multipliers * the n <= 64 rows of b from first on, in words from word
 * on.  b may be out: the rows are read before any is written, strip by strip. */
void echi_gf2_russians_add(const struct echi_gf2_russians *r, const ech_gf2 *b, size_t first,
                           size_t n, const ech_gf2 *out, size_t begin, size_t end, size_t word);

/* ---- Row by row: rows.c ---- */

void echi_gf2_swap_rows(const ech_gf2 *a, size_t i, size_t j, size_t word);

/* Elimination by the book, and in blocks of 64 columns with tables. */
struct echi_gf2_rows {
    const struct echi_gf2_echelon *request;
    uint32_t *pivots, *from; /* [most pivots], [rows] */
    struct echi_gf2_russians russians;
    uint64_t *column; /* [rows] */
    size_t rank;
};
void echi_gf2_gauss(struct echi_gf2_rows *e);
void echi_gf2_russians(struct echi_gf2_rows *e);

/* ---- A word a column: batch_columns.c ---- */

enum { ECHI_GF2_TURNED_COLUMNS = 512 };

/* Whether it can do what is asked for; and for matrix i, with its order of all columns, or NULL. */
bool echi_gf2_batch_columns_can(const struct echi_gf2_batch *r);
void echi_gf2_batch_columns(const struct echi_gf2_batch *r, const struct echi_gf2_isa *isa,
                            size_t i, const uint32_t *full);

#endif
