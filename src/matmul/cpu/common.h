/*
 * matmul/cpu/common.h - what the files of the CPU's products share: the kernels that have
 * instruction-set variants.
 *
 * A micro-kernel has a tile of c in registers, rows x cols, and adds up so many steps of k from
 *
 *     a  [rows][ECHI_MATMUL_PITCH]   a panel of a: each row's steps one after the other
 *     b  [steps][cols]               a panel of b
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_MATMUL_CPU_COMMON_H
#define ECHI_MATMUL_CPU_COMMON_H

#include "matmul/matmul.h"

enum {
    ECHI_MATMUL_STEPS = 256, /* of k that a panel holds, most */
    ECHI_MATMUL_PITCH =
        ECHI_MATMUL_STEPS + 16 /* so that rows do not fall into one set of a cache */
};

/* What c is made of in the end: alpha s, or alpha s + beta c. */
struct echi_matmul_end {
    double alpha, beta;
    ech_dtype dtype; /* of c */
};

/* The kernels of what is computed in one type, f32 or f64. */
struct echi_matmul_real {
    size_t rows, cols; /* of a micro tile */

    /* sums [rows][cols of a tile] += a b; begin: = a b.  Rows and columns beyond what is asked for
     * may be computed too. */
    void (*tile)(size_t rows, size_t cols, size_t steps, const void *a, const void *b, void *sums,
                 bool begin);

    /* Panels of a, and of b [k][n], from matrices of dtype; turned: that lie as [k][m], [n][k]. */
    void (*pack_a)(const void *from, size_t stride, ech_dtype dtype, bool turned, size_t rows,
                   size_t steps, void *panel);
    void (*pack_b)(const void *from, size_t stride, ech_dtype dtype, bool turned, size_t cols,
                   size_t steps, void *panel);

    /* c [rows][cols] of sums [rows][cols of a tile]. */
    void (*end)(const struct echi_matmul_end *end, const void *sums, size_t rows, size_t cols,
                void *c, size_t c_stride);

    /* x [n] of dtype times beta. */
    void (*scale)(ech_dtype dtype, double beta, void *x, size_t n);

    /* The sum of a chunk of a row's products a[j] x[j]; x NULL: of a[j]. */
    void (*row)(const void *a, const void *x, size_t n, void *sum);

    /* sums [cols] of a block of rows: sum of a[i][j] x[i]; x NULL: of a[i][j]. */
    void (*columns)(const void *a, size_t stride, const void *x, size_t rows, size_t cols,
                    void *sums);
};

struct echi_matmul_isa {
    const char *name;
    const struct echi_matmul_real *f32, *f64;
};

extern const struct echi_matmul_isa echi_matmul_portable, echi_matmul_avx2, echi_matmul_avx512;

/* operation.c: what this machine runs. */
const struct echi_matmul_isa *echi_matmul_isa(void);

#endif
