/*
 * gf2/gf2.h - the checked form of a call on matrices over GF(2).
 *
 * A backend has four operations, from which all public calls are composed:
 *
 *     gf2          copies and other element-wise operations           struct echi_gf2
 *     gf2_mul      a product                                          struct echi_gf2_mul
 *     gf2_echelon  an elimination in the order of the columns         struct echi_gf2_echelon
 *     gf2_batch    many small eliminations                            struct echi_gf2_batch
 *
 * None of them reads or changes the bits of a row's last word beyond cols; the public calls
 * document which matrices may overlap.  Every matrix has rows, columns and words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_GF2_GF2_H
#define ECHI_GF2_GF2_H

#include "core/call.h"

enum echi_gf2_what {
    ECHI_GF2_COPY,           /* out = a; here a and out begin at bits a_bit and out_bit of words */
    ECHI_GF2_ADD,            /* out = a + b; out may be a or b */
    ECHI_GF2_TRANSPOSE,      /* out = a^T */
    ECHI_GF2_GATHER_ROWS,    /* row i of out = row order[i] of a */
    ECHI_GF2_GATHER_COLUMNS, /* column j of out = column order[j] of a */
    ECHI_GF2_ZERO,
    ECHI_GF2_IDENTITY,
    ECHI_GF2_RANDOM, /* from seed and threshold: see echi_gf2_random_word() */
    ECHI_GF2_PACK,   /* out(i, j) = bytes[i * cols + j] & 1 */
    ECHI_GF2_UNPACK, /* bytes[i * cols + j] = a(i, j) */
    ECHI_GF2_COUNT,  /* *count = ones of a */
    ECHI_GF2_EQUAL,  /* *bytes = a == b */
    ECHI_GF2_ORDER,  /* from order[columns], different columns below limit, makes full[limit]: those
                        and then the others in ascending order; and inverse[limit], if not NULL:
                        inverse[full[j]] = j. order may be NULL: then the columns are the first
                        *rank pivots */
    ECHI_GF2_MAP,    /* positions[i] = order[positions[i]] for i < *rank */
    ECHI_GF2_SPREAD_ROWS, /* row positions[i] of out = row i of a for i < *rank; the other rows 0 */
    ECHI_GF2_PUT_ROWS,    /* the same, but the other rows keep their values */
    ECHI_GF2_KERNEL,   /* the basis of ech_gf2_nullspace() in out, its dimension in *dim, from a in
                          reduced form with the pivots positions[0 ... *rank - 1], ascending */
    ECHI_GF2_SOLVABLE, /* bytes[j] = no row i >= *rank of a has bit j */
    ECHI_GF2_CLEAR,    /* column j of out becomes 0 if a row i >= *rank of a has bit j */
    ECHI_GF2_CERTIFICATE, /* row j of out = row i of b, i the first >= *rank with a(i, j); otherwise
                             0 */
    ECHI_GF2_UNIT,        /* out(i, j) = a(i, j) for i, j < *rank, otherwise i == j */
    ECHI_GF2_LU           /* out(i, j) = b(i, j) for j < i and j < *rank, a(i, j) for j >= i and i <
                             *rank, otherwise 0 */
};

/* Fields that a request does not use are 0. */
struct echi_gf2 {
    enum echi_gf2_what what;
    ech_gf2 a, b, out;
    unsigned a_bit, out_bit; /* ECHI_GF2_COPY: 0 to 63 */
    const uint32_t *order;
    bool wide_index;       /* the caller has order as u64 */
    size_t limit, columns; /* ECHI_GF2_GATHER_*: order[i] must be less than limit */
    uint32_t *full, *inverse;
    const uint32_t *rank;
    uint32_t *positions, *dim;
    uint64_t seed, threshold;
    uint8_t *bytes;
    uint64_t *count;
};

/* out = a b, or out += a b. */
struct echi_gf2_mul {
    ech_gf2 a, b, out;
    bool add;
    bool transposed;       /* b is given transposed: out = a b^T */
    unsigned tiles, spare; /* to let kernels of another stream run at the same time: tiles of the
                              result per thread block and launch, and multiprocessors that are left
                              free; tiles 0: one launch, on all */
    const char *algorithm;
};

/* Brings a to echelon form in place, with pivots in the first `columns` columns. */
struct echi_gf2_echelon {
    ech_gf2 a;
    size_t columns, max_rank; /* max_rank <= columns, and <= rows: stop there */
    bool reduced;
    bool rank_only;      /* only the rank is needed: a may keep any bits */
    bool quick;          /* the columns after `columns` are an identity matrix, and results are only
                            needed if the first rows have a pivot in each column: otherwise they
                            may be wrong, with a lower rank */
    uint32_t *rank;      /* [1] */
    uint32_t *pivots;    /* NULL, or [max_rank], of which the first *rank are defined */
    uint32_t *rows_from; /* NULL, or [rows] */
    const char *algorithm;
};

/* For each of count matrices: echi_gf2_echelon, and with b ech_gf2_solve(). */
struct echi_gf2_batch {
    ech_gf2_batch a;          /* read */
    uint64_t *out;            /* NULL, or the results, with the strides of a; may be a.words */
    bool wide_index;          /* the caller has order and pivots as u64 */
    const uint32_t *order;    /* NULL, or [count][columns]; a position out of range, or a duplicate
                                 in an order, is an error */
    size_t columns, max_rank; /* as above */
    bool reduced;
    uint32_t *rank;    /* NULL, or [count] */
    uint32_t *pivots;  /* NULL, or [count][min(rows, cols)] */
    const uint64_t *b; /* NULL, or [count] vectors of rows bits, padded to full words */
    uint64_t *x;       /* with b: [count] vectors of cols bits, padded to full words */
    uint8_t *solvable; /* with b: [count] */
    const char *algorithm;
};

/* The words of a row of cols bits. */
static inline size_t echi_gf2_words(size_t cols)
{
    return cols / 64 + (cols % 64 != 0);
}

/* The valid bits of the last word of a row of cols bits, cols > 0. */
static inline uint64_t echi_gf2_last_mask(size_t cols)
{
    return cols % 64 ? ((uint64_t)1 << cols % 64) - 1 : ~(uint64_t)0;
}

#endif
