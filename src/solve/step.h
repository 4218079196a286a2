/*
 * solve/step.h - one step of an iterative solver, common to all devices: sums of vectors, dot
 * products of the results, and the scalars that depend on them.
 *
 *     a = sum of vectors          b = sum of vectors          z = diagonal .* b
 *     dots among a, b, z, e, f    scalars: recur.h, by the thread or block that finishes last
 *
 * Coefficients are scalars in device memory, so that steps follow each other without the host.  A
 * term is a product and a sum, each rounded separately, in f32 for f32 vectors.  Dot products are
 * added in f64, in the order of docs/reduce.md: that of ech_dot(), for f32 with accumulate_wide.
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
    ECHI_SOLVE_LINES = 8,        /* ... and lines per chunk */
    ECHI_SOLVE_TERMS = 3,
    ECHI_SOLVE_DOTS = 3,
    ECHI_SOLVE_VECTORS = 8, /* maximum of a projection */
    ECHI_SOLVE_BLOCK = 32,  /* maximum rows of a diagonal block */
    ECHI_SOLVE_RING = 256,  /* residuals of the last iterations, for the history */
    ECHI_SOLVE_WARPS = 8,
    ECHI_SOLVE_BLOCK_WARPS = 4,     /* of a thread block that inverts diagonal blocks, ... */
    ECHI_SOLVE_BLOCK_THREADS = 256, /* ... and of one that applies them */
    ECHI_SOLVE_MOST_CHUNKS = 256,   /* maximum of an item, which one thread block or thread
                                       processes */
    ECHI_SOLVE_ITEMS = 4096         /* number of items before items grow to that maximum */
};

/* Scalars of all methods; a method's own begin at ECHI_S_OWN. */
enum echi_scalar {
    ECHI_S_STOP,      /* 0, or enum echi_solve_stop: guarded steps do nothing */
    ECHI_S_ITERATION, /* number of completed iterations */
    ECHI_S_RESIDUAL,  /* after the last */
    ECHI_S_TARGET,    /* stop at or below this */
    ECHI_S_LIMIT,     /* stop above this */
    ECHI_S_LAST,      /* stop at this iteration */
    ECHI_S_BEST,      /* the minimum residual, and its iteration */
    ECHI_S_BEST_AT,
    ECHI_S_STALL,    /* stop this many iterations after it */
    ECHI_S_WHERE,    /* bits of a uint64_t: ~the first row without a valid divisor; 0: none */
    ECHI_S_COUNTER,  /* bits of a uint32_t: blocks that have finished, 0 between steps */
    ECHI_S_DOT,      /* [ECHI_SOLVE_DOTS] the last results */
    ECHI_S_OWN = 16, /* [32] */
    ECHI_S_RING = 48,
    ECHI_S_MORE = ECHI_S_RING + ECHI_SOLVE_RING /* more for GMRES */
};

/* As in ech_solve_status, except for convergence, which must still be verified. */
enum echi_solve_stop {
    ECHI_STOP_SMALL = 1,
    ECHI_STOP_ITERATIONS = -1,
    ECHI_STOP_DIVERGED = -2,
    ECHI_STOP_BREAKDOWN = -3,
    ECHI_STOP_STAGNATED = -4,
    ECHI_STOP_INDEFINITE = -5,
    ECHI_STOP_NAN = -6
};

/* The recurrence after a step: recur.h. */
enum echi_solve_recur {
    ECHI_RECUR_NONE,
    ECHI_RECUR_RESIDUAL, /* an iteration has been completed, its r.r is dot 0 */
    ECHI_RECUR_CG_START,
    ECHI_RECUR_CG_ALPHA,
    ECHI_RECUR_CG_BETA,    /* dot 0 is r.r, dot 1 r.z ... */
    ECHI_RECUR_CG_BETA_RR, /* ... without M */
    ECHI_RECUR_CG_RZ,      /* after RESIDUAL, like CG_BETA: dot 0 is r.z */
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
    ECHI_SOLVE_RANDOM,  /* a.out = random numbers from -1 to 1, which depend on the position only */
    ECHI_SOLVE_INVERT,  /* a.out[i] = scale / e[i * e_step], or / the diagonal of csr, subject to
                           enum echi_invert */
    ECHI_SOLVE_BLOCKS,  /* a.out = inverse diagonal blocks of e, with rows e_step apart, or of csr,
                           computed in f64: element (i, j) of the block of row i is at j *
                           block_step + i.  Gauss-Jordan elimination in place with row pivoting (the
                           first of the largest elements); without a pivot, sets ECHI_S_WHERE */
    ECHI_SOLVE_BLOCKED, /* a.out = those inverses, at diagonal, times e; summed by columns */
    ECHI_SOLVE_SWEEP    /* a.out[i] = (e[i] - sum) * diagonal[i]; without a diagonal e[i] - sum;
                           with scaled_sum e[i] - sum * diagonal[i].  The sum is over the entries
                           (i, j) left of the diagonal, or right of it, times a.out[j], in their
                           order; the rows by level */
};

/* The allowed elements of a diagonal that is inverted; others set ECHI_S_WHERE. */
enum echi_invert { ECHI_INVERT_NONZERO, ECHI_INVERT_ABSOLUTE, ECHI_INVERT_POSITIVE };

/* Operands of dot products. */
enum echi_solve_operand { ECHI_OF_A, ECHI_OF_B, ECHI_OF_Z, ECHI_OF_E, ECHI_OF_F };

/* out = sum of factor[k] * scalars[scalar[k]] * v[k]; if scalar is -1, of factor[k] * v[k].  In b,
 * v[k] may be a's out, with its new value; v[k] may also be the sum's own out, with its old
 * value. */
struct echi_solve_sum {
    void *out; /* NULL: not stored; without terms too, there is no such sum */
    int32_t terms;
    int32_t scalar[ECHI_SOLVE_TERMS];
    const void *v[ECHI_SOLVE_TERMS];
    double factor[ECHI_SOLVE_TERMS];
};

/* Subtracts factor * scalars[loses_by + k] * loses[k] from b.out, one after the other; then stores
 * its dot products with meets[k] in scalars[meets_to + k].  With no `meets` and one dot: b.out with
 * itself, in ECHI_S_DOT. */
struct echi_solve_projection {
    int32_t losses, loses_by, meetings, meets_to;
    double factor;
    const void *loses[ECHI_SOLVE_VECTORS], *meets[ECHI_SOLVE_VECTORS];
};

/* A sparse matrix. */
struct echi_solve_csr {
    const void *offsets, *columns, *values;
    uint64_t entries;
    int32_t index_bytes; /* of offsets and columns */
};

/* The operations of a step, as numbers; the GPU has specialised kernels for the frequent ones. */
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

/* Recurrences that may follow: one bit for each of enum echi_solve_recur. */
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
    int32_t block;  /* rows of a diagonal block; the last has the rest */
    uint64_t block_step;
    int32_t dots, left[ECHI_SOLVE_DOTS], right[ECHI_SOLVE_DOTS];
    struct echi_solve_projection projection;
    int32_t after;  /* enum echi_solve_recur */
    int32_t column; /* of GMRES's matrix */
    int32_t restart;
    uint32_t item;   /* set for a GPU: chunks per block, and ... */
    int32_t aligned; /* ... whether all vectors are, to 16 bytes, ... */
    struct echi_solve_shape shape;
    struct echi_solve_csr csr;
    const uint64_t *order, *levels; /* of a sweep: levels, [level_count + 1], is in host memory */
    uint64_t level_count;
    uint64_t begin, end; /* set for a GPU: rows of one level, in order */
    int32_t upper, scaled_sum;
    double scale;
};

/* Element i of an array of indices. */
ECHI_SOLVE_STEP_BOTH uint64_t echi_solve_index(const void *at, int index_bytes, uint64_t i)
{
    return index_bytes == 4 ? (uint64_t)((const int32_t *)at)[i]
                            : (uint64_t)((const int64_t *)at)[i];
}

/* The first diagonal entry of a row; UINT64_MAX: there is none. */
ECHI_SOLVE_STEP_BOTH uint64_t echi_solve_diagonal(const struct echi_solve_csr *a, uint64_t row)
{
    const uint64_t begin = echi_solve_index(a->offsets, a->index_bytes, row);
    const uint64_t last = echi_solve_index(a->offsets, a->index_bytes, row + 1);
    const uint64_t end = last < a->entries ? last : a->entries;
    for (uint64_t i = begin; i < end; i++)
        if (echi_solve_index(a->columns, a->index_bytes, i) == row) return i;
    return UINT64_MAX;
}

/* The division of an array: a power of two of chunks per item. */
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
