/*
 * solve/step.h - one step of an iterative solver, as every device does it: sums of vectors, dot
 * products of what comes out, and the scalars that follow from those.
 *
 *     a = sum of vectors          b = sum of vectors          z = diagonal .* b
 *     dots among a, b, z, e, f    scalars: recur.h, by whoever is done last
 *
 * Coefficients are scalars in device memory, so that a step follows a step without the host.  A
 * term is a product and a sum, each rounded by itself, in f32 of f32 vectors.  Dot products are
 * added up in f64, in the order of docs/reduce.md: those of ech_dot(), of f32 with `wide`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SOLVE_STEP_H
#define ECHI_SOLVE_STEP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define ECHI_SOLVE_STEP_BOTH static __device__ inline
#else
#define ECHI_SOLVE_STEP_BOTH static inline
#endif

enum {
    ECHI_SOLVE_LINE_BYTES = 512, /* as ECHI_LINE_BYTES of reduce/value.h ... */
    ECHI_SOLVE_LINES = 8,        /* ... and a chunk of so many lines */
    ECHI_SOLVE_TERMS = 3,
    ECHI_SOLVE_DOTS = 3,
    ECHI_SOLVE_VECTORS = 8, /* of a projection, most */
    ECHI_SOLVE_BLOCK = 32,  /* rows of a square, most */
    ECHI_SOLVE_RING = 256,  /* residuals of the last iterations, for the history */
    ECHI_SOLVE_WARPS = 8,
    ECHI_SOLVE_BLOCK_WARPS = 4,     /* of a GPU's block that inverts squares, ... */
    ECHI_SOLVE_BLOCK_THREADS = 256, /* ... and of one that multiplies */
    ECHI_SOLVE_MOST_CHUNKS = 256,   /* of an item, which a block or a thread takes */
    ECHI_SOLVE_ITEMS = 4096         /* so many, before items grow to that */
};

/* Scalars of all methods; a method's own begin at ECHI_S_OWN. */
enum echi_scalar {
    ECHI_S_STOP,      /* 0, or enum echi_solve_stop: guarded steps do nothing any more */
    ECHI_S_ITERATION, /* how many are done */
    ECHI_S_RESIDUAL,  /* after the last */
    ECHI_S_TARGET,    /* stop at it or below */
    ECHI_S_LIMIT,     /* stop above it */
    ECHI_S_LAST,      /* stop at that iteration */
    ECHI_S_BEST,      /* the least residual, and when it was */
    ECHI_S_BEST_AT,
    ECHI_S_STALL,    /* stop so many iterations after it */
    ECHI_S_WHERE,    /* bits of a uint64_t: ~the first row without what divides; 0: none */
    ECHI_S_COUNTER,  /* bits of a uint32_t: blocks that are done, 0 between steps */
    ECHI_S_DOT,      /* [ECHI_SOLVE_DOTS] the last that came out */
    ECHI_S_OWN = 16, /* [32] */
    ECHI_S_RING = 48,
    ECHI_S_MORE = ECHI_S_RING + ECHI_SOLVE_RING /* of GMRES: as many as it wants */
};

/* As in ech_solve_status, but for the one that is still to be proved. */
enum echi_solve_stop {
    ECHI_STOP_SMALL = 1,
    ECHI_STOP_ITERATIONS = -1,
    ECHI_STOP_DIVERGED = -2,
    ECHI_STOP_BREAKDOWN = -3,
    ECHI_STOP_STAGNATED = -4,
    ECHI_STOP_INDEFINITE = -5,
    ECHI_STOP_NAN = -6
};

/* What becomes of the scalars after a step: recur.h. */
enum echi_solve_recur {
    ECHI_RECUR_NONE,
    ECHI_RECUR_RESIDUAL, /* an iteration is done, its r.r is dot 0 */
    ECHI_RECUR_CG_START,
    ECHI_RECUR_CG_ALPHA,
    ECHI_RECUR_CG_BETA,    /* dot 0 is r.r, dot 1 r.z ... */
    ECHI_RECUR_CG_BETA_RR, /* ... without M */
    ECHI_RECUR_CG_RZ,      /* after RESIDUAL, as CG_BETA: dot 0 is r.z */
    ECHI_RECUR_BI_START,
    ECHI_RECUR_BI_ALPHA,
    ECHI_RECUR_BI_OMEGA,
    ECHI_RECUR_BI_BETA,
    ECHI_RECUR_MINRES_START,
    ECHI_RECUR_MINRES_ALFA,
    ECHI_RECUR_MINRES_ROTATE,
    ECHI_RECUR_MINRES_END,
    ECHI_RECUR_MINRES_RR,
    ECHI_RECUR_GMRES_START,
    ECHI_RECUR_GMRES_NORM,
    ECHI_RECUR_GMRES_SOLVE
};

enum echi_solve_what {
    ECHI_SOLVE_UPDATE,
    ECHI_SOLVE_PROJECT, /* b.out -= vectors; then its dot products with others: struct
                           echi_solve_projection */
    ECHI_SOLVE_RANDOM,  /* a.out = numbers from -1 to 1, from their position alone */
    ECHI_SOLVE_INVERT,  /* a.out[i] = scale / e[i * e_step], or of the diagonal of csr, as enum
                          echi_invert says */
    ECHI_SOLVE_BLOCKS,  /* a.out = squares on the diagonal of e, rows e_step apart, or of csr,
                          inverted in f64: element (i, j) of the square of row i is at
                          j * block_step + i.  Gauss and Jordan's elimination in place, of rows
                          exchanged the first of the largest of its column; without a pivot,
                          ECHI_S_WHERE */
    ECHI_SOLVE_BLOCKED, /* a.out = those inverses, at diagonal, times e; added up by columns */
    ECHI_SOLVE_SWEEP    /* a.out[i] = (e[i] - sum) * diagonal[i], without a diagonal e[i] - sum,
                          with scaled_sum e[i] - sum * diagonal[i]; sum is of the entries (i, j)
                          left of the diagonal, or right of it, times a.out[j], in their order;
                          the rows by level */
};

/* What of a diagonal is inverted, and what is bad in it: ECHI_S_WHERE. */
enum echi_invert { ECHI_INVERT_NONZERO, ECHI_INVERT_ABSOLUTE, ECHI_INVERT_POSITIVE };

/* Operands of dot products. */
enum echi_solve_operand { ECHI_OF_A, ECHI_OF_B, ECHI_OF_Z, ECHI_OF_E, ECHI_OF_F };

/* out = sum of factor[k] * scalars[scalar[k]] * v[k]; scalar -1: of factor[k] * v[k].  In b, v[k]
 * may be a's out, which is then as a leaves it; of one's own out it is as it was. */
struct echi_solve_sum {
    void *out; /* NULL: it is not written; without terms too, there is no such sum */
    int32_t terms;
    int32_t scalar[ECHI_SOLVE_TERMS];
    const void *v[ECHI_SOLVE_TERMS];
    double factor[ECHI_SOLVE_TERMS];
};

/* What b.out loses: factor * scalars[loses_by + k] * loses[k], one after the other; and whose dot
 * products with it then go to scalars[meets_to + k].  Of no `meets` and one dot: b.out with itself,
 * to ECHI_S_DOT. */
struct echi_solve_projection {
    int32_t losses, loses_by, meetings, meets_to;
    double factor;
    const void *loses[ECHI_SOLVE_VECTORS], *meets[ECHI_SOLVE_VECTORS];
};

/* Of a sparse matrix. */
struct echi_solve_csr {
    const void *offsets, *columns, *values;
    uint64_t entries;
    int32_t index_bytes; /* of offsets and columns */
};

/* What a step has, as numbers; a GPU has kernels of their own for those that methods take. */
struct echi_solve_shape {
    int32_t a, b, z; /* terms of a and of b; whether there is a diagonal */
    int32_t dots;    /* ECHI_DOT_BITS each: 0, or 64 | left << 3 | right */
};

enum {
    ECHI_DOT_BITS = 7,
    ECHI_DOTS_EF = 64 | ECHI_OF_E << 3 | ECHI_OF_F,
    ECHI_DOTS_EE = 64 | ECHI_OF_E << 3 | ECHI_OF_E,
    ECHI_DOTS_EF_EE = ECHI_DOTS_EF | ECHI_DOTS_EE << ECHI_DOT_BITS,
    ECHI_DOTS_BB = 64 | ECHI_OF_B << 3 | ECHI_OF_B,
    ECHI_DOTS_BE = 64 | ECHI_OF_B << 3 | ECHI_OF_E,
    ECHI_DOTS_BZ = 64 | ECHI_OF_B << 3 | ECHI_OF_Z,
    ECHI_DOTS_BB_BE = ECHI_DOTS_BB | ECHI_DOTS_BE << ECHI_DOT_BITS,
    ECHI_DOTS_BB_BZ = ECHI_DOTS_BB | ECHI_DOTS_BZ << ECHI_DOT_BITS
};

/* What may follow those: a bit for each of enum echi_solve_recur. */
enum {
    ECHI_AFTER_NONE = 1 << ECHI_RECUR_NONE,
    ECHI_AFTER_RESIDUAL = 1 << ECHI_RECUR_RESIDUAL,
    ECHI_AFTER_EF = 1 << ECHI_RECUR_CG_ALPHA | 1 << ECHI_RECUR_CG_RZ | 1 << ECHI_RECUR_BI_ALPHA |
                    1 << ECHI_RECUR_MINRES_START | 1 << ECHI_RECUR_MINRES_ROTATE,
    ECHI_AFTER_EE = ECHI_AFTER_NONE | 1 << ECHI_RECUR_MINRES_START | 1 << ECHI_RECUR_GMRES_START,
    ECHI_AFTER_EF_EE = 1 << ECHI_RECUR_BI_OMEGA,
    ECHI_AFTER_B2_BB = ECHI_AFTER_NONE | ECHI_AFTER_RESIDUAL | 1 << ECHI_RECUR_CG_BETA_RR |
                       1 << ECHI_RECUR_MINRES_ROTATE | 1 << ECHI_RECUR_MINRES_RR,
    ECHI_AFTER_B2_BE = 1 << ECHI_RECUR_MINRES_ALFA,
    ECHI_AFTER_B2Z_BZ = 1 << ECHI_RECUR_MINRES_ROTATE,
    ECHI_AFTER_B2Z_BB_BZ = 1 << ECHI_RECUR_CG_BETA,
    ECHI_AFTER_A3B2 = ECHI_AFTER_NONE | 1 << ECHI_RECUR_MINRES_END,
    ECHI_AFTER_A3B2_BB_BE = 1 << ECHI_RECUR_BI_BETA
};

struct echi_solve_step {
    int32_t what, bytes; /* bytes of an element: 4 or 8 */
    uint64_t n;
    double *scalars, *partials; /* partials: [items][dots] */
    int32_t guarded;
    struct echi_solve_sum a, b;
    const void *diagonal; /* NULL: there is no z; its out may be NULL */
    void *z;
    const void *e, *f;
    uint64_t e_step;
    int32_t invert; /* enum echi_invert */
    int32_t block;  /* rows of a square; the last has what is left */
    uint64_t block_step;
    int32_t dots, left[ECHI_SOLVE_DOTS], right[ECHI_SOLVE_DOTS];
    struct echi_solve_projection projection;
    int32_t after;  /* enum echi_solve_recur */
    int32_t column; /* of GMRES's matrix */
    int32_t restart;
    uint32_t item;   /* set on the way to a GPU: chunks a block, and ... */
    int32_t aligned; /* ... whether all vectors are, to 16 bytes, ... */
    struct echi_solve_shape shape;
    struct echi_solve_csr csr;
    const uint64_t *order, *levels; /* of a sweep: levels, [level_count + 1], lie on the host */
    uint64_t level_count;
    uint64_t begin, end; /* set on the way to a GPU: rows of one level, in order */
    int32_t upper, scaled_sum;
    double scale;
};

/* Element i of an array of indices. */
ECHI_SOLVE_STEP_BOTH uint64_t echi_solve_index(const void *at, int index_bytes, uint64_t i)
{
    return index_bytes == 4 ? (uint64_t)((const int32_t *)at)[i]
                            : (uint64_t)((const int64_t *)at)[i];
}

/* Where the entry on the diagonal of a row is, the first; UINT64_MAX: there is none. */
ECHI_SOLVE_STEP_BOTH uint64_t echi_solve_diagonal(const struct echi_solve_csr *a, uint64_t row)
{
    const uint64_t begin = echi_solve_index(a->offsets, a->index_bytes, row);
    const uint64_t last = echi_solve_index(a->offsets, a->index_bytes, row + 1);
    const uint64_t end = last < a->entries ? last : a->entries;
    for (uint64_t i = begin; i < end; i++)
        if (echi_solve_index(a->columns, a->index_bytes, i) == row) return i;
    return UINT64_MAX;
}

/* How an array is divided: a power of two of chunks an item. */
static inline uint64_t echi_solve_chunks(uint64_t n, int bytes)
{
    const uint64_t chunk = (uint64_t)(ECHI_SOLVE_LINE_BYTES * ECHI_SOLVE_LINES / bytes);
    return n / chunk + (n % chunk != 0);
}

static inline uint64_t echi_solve_item_chunks(uint64_t chunks)
{
    uint64_t each = 1;
    while (each < ECHI_SOLVE_WARPS && chunks / each > 512) each *= 2;
    while (each < ECHI_SOLVE_MOST_CHUNKS && chunks / each >= ECHI_SOLVE_ITEMS) each *= 2;
    return each;
}

static inline uint64_t echi_solve_items(uint64_t n, int bytes)
{
    const uint64_t chunks = echi_solve_chunks(n, bytes), each = echi_solve_item_chunks(chunks);
    return chunks ? (chunks + each - 1) / each : 1;
}

#endif
