/*
 * direct/step.h - the steps of the direct solvers, for the CPU and kernels.
 *
 * A backend's .direct runs one step; most of the work is done by products, with .matmul and
 * .matvec.  The order of the additions in each step depends on sizes only, so that all devices
 * return the same bits:
 *
 *   ROWS      32 lanes take elements in turn; then lane i + 16 is added to lane i, then 8, ... 1
 *   COLUMNS   from top to bottom
 *   QR        like ROWS, down each column of the panel
 *   ESTIMATE  256 lanes, then i + 128, ... 1
 *   TRIANGLE  in the order in which x becomes known; for one column, 32 rows at a time: 32 lanes
 *             add the elements known before, row i by lane i % 32, then as in ROWS
 *   SUM       one matrix after the other
 *   others    sequentially, products rounded before they are subtracted
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_DIRECT_STEP_H
#define ECHI_DIRECT_STEP_H

#include <stdint.h>

enum {
    ECHI_DIRECT_LEAF = 32, /* columns of a panel, and rows of a triangle that is solved as a unit */
    ECHI_DIRECT_LANES = 32,
    ECHI_DIRECT_ESTIMATE_LANES = 256
};

enum echi_direct_what {
    ECHI_DIRECT_COPY,       /* c = a */
    ECHI_DIRECT_ADD,        /* c += a */
    ECHI_DIRECT_MAKE,       /* c by `make` */
    ECHI_DIRECT_ROWS,       /* c = a, sums = sums of |a| in each row; scalars->asymmetric */
    ECHI_DIRECT_COLUMNS,    /* sums = sums of |a| in each column; upper: only i <= j */
    ECHI_DIRECT_PEAKS,      /* sums = the maximum |a| of each column; infinity if it has a NaN */
    ECHI_DIRECT_DIAGONAL,   /* sums = the diagonal of c; turned: negated if tau is not 0 */
    ECHI_DIRECT_LU,         /* c, a panel, = its L and U; pivots; scalars->failed */
    ECHI_DIRECT_CHOLESKY,   /* c, cols x cols, = its L, in the lower triangle; scalars->failed */
    ECHI_DIRECT_QR,         /* c, a panel, = its R and reflectors; tau */
    ECHI_DIRECT_REFLECTORS, /* c = a's reflectors as a matrix */
    ECHI_DIRECT_CHAIN,      /* c = T of H1 H2 ... = I - V T V^T; a = V^T V */
    ECHI_DIRECT_SWAP, /* exchanges c's rows first + i and pivots[first + i], i < rows; turned: in
                         reverse order */
    ECHI_DIRECT_TRIANGLE, /* c = op(a)^-1 c, a is rows x rows; at most 32 rows, except for one
                             column without gaps: any number */
    ECHI_DIRECT_SUM,      /* c = the sum of `inner` consecutive matrices a */
    ECHI_DIRECT_RESIDUAL, /* c = b - a x in twice the precision */
    ECHI_DIRECT_ESTIMATE  /* the sum of |c|, and its signs; turned: the position of the maximum
                             |c| */
};

enum echi_direct_make {
    ECHI_DIRECT_IDENTITY, /* ones at (first + i, i) */
    ECHI_DIRECT_EVEN,     /* 1 / rows */
    ECHI_DIRECT_WAVE      /* 1, -1, 1 ... with magnitudes growing to 2 */
};

struct echi_direct_scalars {
    uint64_t failed;     /* 1 + the row of the first pivot that is zero or not positive; 0: none */
    uint64_t asymmetric; /* nonzero: a is not symmetric with a positive diagonal */
    uint64_t largest;    /* of ESTIMATE: position of the maximum */
    uint64_t changed;    /* ... number of signs that changed */
    double sum, before;  /* ... and |c| there and at `first` */
};

struct echi_direct_step {
    uint32_t what, f64;
    uint32_t make, upper, unit, turned;
    uint32_t compare; /* ROWS: test whether a is symmetric; ESTIMATE: count changed signs */
    uint32_t lower;   /* a is symmetric, and only its lower triangle is read */
    uint32_t beside;  /* TRIANGLE: c holds the transpose */
    uint64_t rows, cols, inner, first;
    const void *a;
    uint64_t a_stride;
    const void *b; /* RESIDUAL; NULL: the identity */
    uint64_t b_stride;
    const void *x;
    uint64_t x_stride;
    void *c;
    uint64_t c_stride;
    void *tau; /* ESTIMATE: signs */
    double *sums;
    uint64_t *pivots;
    struct echi_direct_scalars *scalars;
};

#endif
