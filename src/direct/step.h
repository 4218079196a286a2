/*
 * direct/step.h - the steps by which dense systems are solved directly, for the CPU and kernels.
 *
 * A backend's .direct does one step; what is large of the work is products, by .matmul and .matvec.
 * Each step adds in an order that depends on sizes alone, so that every device gets the same bits:
 *
 *   ROWS      32 lanes take elements in turn; then lane i + 16 is added to lane i, i + 8, ... 1
 *   COLUMNS   from top to bottom
 *   QR        like ROWS, down each column of the panel
 *   ESTIMATE  256 lanes, then i + 128, ... 1
 *   TRIANGLE  in the order in which x becomes known; of one column, 32 rows at a time: what is
 *             known before them by 32 lanes, row i by lane i % 32, folded like ROWS
 *   SUM       one matrix after the other
 *   others    one operation after another, products rounded before they are subtracted
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_DIRECT_STEP_H
#define ECHI_DIRECT_STEP_H

#include <stdint.h>

enum {
    ECHI_DIRECT_LEAF = 32, /* columns of a panel, and rows of a triangle that is solved at once */
    ECHI_DIRECT_LANES = 32,
    ECHI_DIRECT_ESTIMATE_LANES = 256
};

enum echi_direct_what {
    ECHI_DIRECT_COPY,       /* c = a */
    ECHI_DIRECT_ADD,        /* c += a */
    ECHI_DIRECT_MAKE,       /* c by `make` */
    ECHI_DIRECT_ROWS,       /* c = a, sums = sums of |a| in each row; scalars->asymmetric */
    ECHI_DIRECT_COLUMNS,    /* sums = sums of |a| in each column; upper: i <= j alone */
    ECHI_DIRECT_PEAKS,      /* sums = the largest |a| of each column; what is no number: infinity */
    ECHI_DIRECT_DIAGONAL,   /* sums = the diagonal of c; turned: negated where tau is not 0 */
    ECHI_DIRECT_LU,         /* c, a panel, = its L and U; pivots; scalars->failed */
    ECHI_DIRECT_CHOLESKY,   /* c, cols x cols, = its L, in the lower half; scalars->failed */
    ECHI_DIRECT_QR,         /* c, a panel, = its R and reflectors; tau */
    ECHI_DIRECT_REFLECTORS, /* a's reflectors as a matrix of their own, c */
    ECHI_DIRECT_CHAIN,      /* c = T of H1 H2 ... = I - V T V^T; a = V^T V */
    ECHI_DIRECT_SWAP, /* c's rows first + i and pivots[first + i], i < rows; turned: backwards */
    ECHI_DIRECT_TRIANGLE, /* c = op(a)^-1 c, a is rows x rows; at most 32, but of one column that
                             lies without gaps as many as there are */
    ECHI_DIRECT_SUM,      /* c = the sum of `inner` matrices a, one behind the other */
    ECHI_DIRECT_RESIDUAL, /* c = b - a x in twice the precision */
    ECHI_DIRECT_ESTIMATE  /* the sum of |c|, and its signs; turned: where |c| is largest */
};

enum echi_direct_make {
    ECHI_DIRECT_IDENTITY, /* ones in the places (first + i, i) */
    ECHI_DIRECT_EVEN,     /* 1 / rows */
    ECHI_DIRECT_WAVE      /* 1, -1, 1 ... growing to 2 */
};

struct echi_direct_scalars {
    uint64_t failed;     /* 1 + the row of the first pivot that is zero or not positive; 0: none */
    uint64_t asymmetric; /* not 0: a is not symmetric with a positive diagonal */
    uint64_t largest;    /* of ESTIMATE: where */
    uint64_t changed;    /* ... signs that changed */
    double sum, before;  /* ... and |c| there and at `first` */
};

struct echi_direct_step {
    uint32_t what, f64;
    uint32_t make, upper, unit, turned;
    uint32_t compare; /* ROWS: is a symmetric?  ESTIMATE: have signs changed? */
    uint32_t lower;   /* a is symmetric, and its lower half alone is read */
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
