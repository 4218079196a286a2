/*
 * gf2/cpu/common.h - declarations that the CPU's products and eliminations over GF(2) share:
 * matrices as byte columns, the kernels that have instruction-set variants, and the block
 * elimination.
 *
 * During these operations, matrices are stored as byte columns: a byte column has eight columns,
 * one byte per row.  A tile is 256 rows of all byte columns, one byte column after another, so that
 * a vector of 64 bytes is 64 rows:
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
    ECHI_GF2_LINE = 64,  /* rows of a vector: a tile has an integral number of lines */
    ECHI_GF2_LINES = ECHI_GF2_TILE / ECHI_GF2_LINE,
    ECHI_GF2_OPERAND = 32, /* maximum bytes of a block as an operand */
    ECHI_GF2_STRIP = 32    /* words of a row for which the tables of "m4r" are made at a time */
};

/* ---- Columns of bytes ---- */

struct echi_gf2_columns {
    uint8_t *base;
    size_t tile; /* bytes from a tile to the next */
};

/* The tile size is chosen so that tiles do not all begin in the same cache sets. */
static inline size_t echi_gf2_tile_bytes(size_t columns)
{
    return columns * ECHI_GF2_TILE + 9 * ECHI_GF2_TILE;
}

static inline size_t echi_gf2_tiles(size_t rows)
{
    return rows / ECHI_GF2_TILE + (rows % ECHI_GF2_TILE != 0);
}

/* The number of lines of a tile, for a matrix of this many rows. */
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

/* Transposes a block of 8 x 8 bits, one row per byte. */
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

/* One table per bit field of a multiplier: a row adds the sum of one entry of each table. */
struct echi_gf2_tables {
    const uint64_t *entries; /* [tables][1 << bits][ECHI_GF2_STRIP] */
    int tables, bits;
};

/* A composition of row swaps: row to[i] gets the previous row from[i].  With lines of 64 rows: line
 * line[i] is changed by the moves which[i][j], j < count[i], from lines from_line[i][j], which are
 * indices in line[], too. */
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

/* The parameters of an elimination with one word per column. */
struct echi_gf2_turned {
    size_t rows, limit, most; /* at most 64; columns that may have pivots; maximum number of
                                 pivots */
    bool swaps;               /* a pivot's row is swapped to its place; otherwise it stays */
    bool reduced;             /* it is also added to the rows above */
};

struct echi_gf2_isa {
    const char *name;
    size_t operand_bytes;
    bool fast; /* "block" is the fastest multiplication */

    /* Makes operands of n blocks; a block is 8 bytes, one per row. */
    void (*prepare)(const uint64_t *blocks, size_t n, void *operands);

    /* out[list[j]] ^= sum of a[i] * B(i, j) over i < k, for j < n, in one tile of the given number
     * of lines: byte column c of a tile begins at c * ECHI_GF2_TILE bytes. list NULL: j.  The
     * operand of B(i, j) is number j * step + i. */
    void (*multiply)(const uint8_t *a, size_t k, const void *operands, size_t step, uint8_t *out,
                     const uint32_t *list, size_t n, int lines);

    /* The first i in from <= i < to <= ECHI_GF2_TILE with an odd number of ones in bytes[i] & mask;
     * to, if there is none.  Reads full lines. */
    size_t (*find)(const uint8_t *bytes, size_t from, size_t to, uint8_t mask);

    /* Converts rows, of `bytes` bytes, stride words apart, to the columns of a tile; the padding
     * rows of its last line become 0. */
    void (*to_columns)(const uint64_t *words, size_t stride, size_t rows, size_t bytes,
                       uint8_t *tile);

    /* The inverse: writes the first cols bits of rows, or adds them. */
    void (*from_columns)(const uint8_t *tile, size_t rows, size_t cols, uint64_t *words,
                         size_t stride, bool add);

    /* Moves rows of a byte column, given its touched lines.  NULL: not faster than moving single
     * bytes. */
    void (*permute)(const struct echi_gf2_moves *moves, uint8_t *const *lines);

    /* Bit t of out = bit bit[t] of byte column from[t], for t < n <= 8, in the given number of
     * lines. */
    void (*gather)(const uint8_t *const *from, const uint8_t *bit, int n, uint8_t *out, int lines);

    /* out ^= the table entries for the multiplier of each row; width words of each row. */
    void (*combine)(const struct echi_gf2_tables *tables, const uint64_t *multipliers, size_t rows,
                    uint64_t *out, size_t stride, size_t width);

    /* Transposes 64 x 64 bits: bit i of word j becomes bit j of word i. */
    void (*turn)(uint64_t words[64]);

    /* Eliminates a matrix with one word per column: the first t->limit of all columns may have
     * pivots.  Reads and writes columns in groups of eight.  Returns the rank, the pivots and their
     * rows. */
    size_t (*eliminate)(uint64_t *column, size_t all, const struct echi_gf2_turned *t,
                        uint32_t *pivots, uint8_t *pivot_rows);
};

extern const struct echi_gf2_isa echi_gf2_portable, echi_gf2_avx2, echi_gf2_avx512;

/* The fastest variant that this machine supports, or the one that ECHELON_CPU selects. */
const struct echi_gf2_isa *echi_gf2_isa(void);

/* The number of threads that this many bit multiplications repay. */
int echi_gf2_threads(const ech_ctx *ctx, const struct echi_gf2_isa *isa, double products);

/* ---- Swaps: moves.c ---- */

/* Composes q swaps: of rows i and swapped[i] for i from start on. moved[i] = i before and after,
 * for all rows. lines: many columns will be permuted, and isa->permute is not NULL. */
void echi_gf2_moves_make(struct echi_gf2_moves *moves, const uint32_t *swapped, size_t start,
                         size_t q, uint32_t *moved, bool lines);

/* Permutes the rows of byte column c. */
void echi_gf2_moves_apply(const struct echi_gf2_moves *moves, const struct echi_gf2_isa *isa,
                          const struct echi_gf2_columns *columns, size_t c);

/* ---- Block elimination: block.c ---- */

enum {
    ECHI_GF2_LEVELS = 2,
    ECHI_GF2_JORDAN_ROWS = 512 /* for at most this many rows, adding pivot rows to the rows above
                                  immediately is faster than back substitution */
};

/* Multipliers of a block of columns, for all rows, in terms of the rows that become pivot rows,
 * with their values at the start of the block; and space for operands. */
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
    size_t limit;               /* bits; only the first `limit` columns are searched for pivots */
    size_t max_rank;
    size_t watched; /* forward() ends when rows from the next pivot's on are 0 in this byte column;
                       SIZE_MAX: none */
    struct echi_gf2_level level[ECHI_GF2_LEVELS];
    int levels;
    struct echi_gf2_columns q;  /* the pivot columns, for back substitution */
    uint32_t *pivots, *swapped; /* [maximum number of pivots] */
    uint32_t *from, *moved;     /* [rows] */
    uint32_t *list;             /* [columns] */
    size_t at;                  /* number of pivots found so far, and the row of the next */
    size_t begin, end;          /* rows to which pivot rows are added */
    bool back;                  /* back() will follow */
    bool jordan;  /* forward() also adds pivot rows to the rows above, and back() has nothing to
                     do */
    bool known;   /* the pivots are known: no search, no swaps */
    bool whole;   /* pivot rows are now added to the rows above */
    double spent; /* bit products computed so far, for progress reports */
};

/* Lays out the workspace for a matrix of rows x cols, and fills in block.  If layout's base is
 * NULL, only measures. */
void echi_gf2_block_plan(struct echi_gf2_block *block, struct echi_layout *layout, size_t rows,
                         size_t cols, size_t limit, bool reduced);

/* Brings w to echelon form, and finds at, pivots and from (initialised to the row numbers). */
void echi_gf2_block_forward(struct echi_gf2_block *block);

/* Whether rows from row on are zero in a byte column. */
bool echi_gf2_block_zero_from(const struct echi_gf2_block *block, size_t column, size_t row);

/* Adds pivot rows to the rows above them, in the byte columns of the list that follow a pivot's. */
void echi_gf2_block_back(struct echi_gf2_block *block, const uint32_t *list, size_t n);

/* Writes the byte columns that contain other columns than pivots to block->list, and returns their
 * number. */
size_t echi_gf2_block_open(struct echi_gf2_block *block);

/* In one tile, writes the reduced form to all other byte columns. */
void echi_gf2_block_close(const struct echi_gf2_block *block, size_t open, size_t tile);

/* ---- Method of the four Russians: m4r.c ---- */

/* Tables of linear combinations of 64 rows, for one strip of words at a time, and the rows'
 * multipliers. */
struct echi_gf2_m4r {
    const struct echi_gf2_isa *isa;
    const ech_ctx *ctx;
    int bits;              /* of a table's index */
    uint64_t *entries;     /* of all tables */
    uint64_t *multipliers; /* [rows] */
};

/* Chooses bits for this many rows, and lays out the workspace. */
void echi_gf2_m4r_plan(struct echi_gf2_m4r *r, struct echi_layout *layout, size_t rows);

/* Rows [begin, end) of out += multipliers * the n <= 64 rows of b from first on, in words from word
 * on.  b may be out: the rows are read before any is written, strip by strip. */
void echi_gf2_m4r_add(const struct echi_gf2_m4r *r, const ech_gf2 *b, size_t first, size_t n,
                      const ech_gf2 *out, size_t begin, size_t end, size_t word);

/* ---- Row by row: rows.c ---- */

void echi_gf2_swap_rows(const ech_gf2 *a, size_t i, size_t j, size_t word);

/* Elimination column by column, and in blocks of 64 columns with tables. */
struct echi_gf2_rows {
    const struct echi_gf2_echelon *request;
    uint32_t *pivots, *from; /* [most pivots], [rows] */
    struct echi_gf2_m4r m4r;
    uint64_t *column; /* [rows] */
    size_t rank;
};
void echi_gf2_gauss(struct echi_gf2_rows *e);
void echi_gf2_m4r(struct echi_gf2_rows *e);

/* ---- One word per column: batch_columns.c ---- */

enum { ECHI_GF2_TURNED_COLUMNS = 512 };

/* Whether this method supports the request; and the elimination of matrix i, with its order of all
 * columns, or NULL. */
bool echi_gf2_batch_columns_can(const struct echi_gf2_batch *r);
void echi_gf2_batch_columns(const struct echi_gf2_batch *r, const struct echi_gf2_isa *isa,
                            size_t i, const uint32_t *full);

#endif
