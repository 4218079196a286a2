/*
 * matmul/cpu/common.h - declarations that the files of the CPU's products share: the kernels that
 * have instruction-set variants.
 *
 * A micro-kernel has a tile of c in registers, rows x cols, and adds products over several steps of
 * k from
 *
 *     a  [rows][ECHI_MATMUL_PITCH]   a panel of a: the steps of each row are contiguous
 *     b  [steps][cols]               a panel of b
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_MATMUL_CPU_COMMON_H
#define ECHI_MATMUL_CPU_COMMON_H

#include "matmul/matmul.h"

enum {
    ECHI_MATMUL_STEPS = 256,                   /* of k in a panel, maximum */
    ECHI_MATMUL_PITCH = ECHI_MATMUL_STEPS + 16 /* so that rows are in different cache sets */
};

/* The final operation on c: alpha s, or alpha s + beta c. */
struct echi_matmul_end {
    double alpha, beta;
    ech_dtype dtype; /* of c */
};

/* How a product with a vector reads rows: several at a time, one by one, or one by one with
 * prefetches of the next page.  One stream is faster from the L3 cache; from memory, four are as
 * fast as one with prefetches, and faster if the matrix is large. */
enum echi_matvec_way { ECHI_MATVEC_SEVERAL, ECHI_MATVEC_SINGLE, ECHI_MATVEC_PAGES };

/* The kernels for one type of computation, f32 or f64. */
struct echi_matmul_real {
    size_t rows, cols; /* of a micro tile */

    /* sums [rows][cols of a tile] += a b; begin: = a b.  May also compute rows and columns beyond
     * the requested ones. */
    void (*tile)(size_t rows, size_t cols, size_t steps, const void *a, const void *b, void *sums,
                 bool begin);

    /* Packs panels of a, and of b [k][n], from matrices of dtype; turned: stored as [k][m],
     * [n][k]. */
    void (*pack_a)(const void *from, size_t stride, ech_dtype dtype, bool turned, size_t rows,
                   size_t steps, void *panel);
    void (*pack_b)(const void *from, size_t stride, ech_dtype dtype, bool turned, size_t cols,
                   size_t steps, void *panel);

    /* Writes c [rows][cols] from sums [rows][cols of a tile]. */
    void (*end)(const struct echi_matmul_end *end, const void *sums, size_t rows, size_t cols,
                void *c, size_t c_stride);

    /* x [n] of dtype times beta. */
    void (*scale)(ech_dtype dtype, double beta, void *x, size_t n);

    /* The sums of a chunk of each row's products a[i][j] x[j], j < n; x NULL: of a[i][j]. */
    void (*sum_rows)(const void *a, size_t stride, const void *x, size_t n, size_t rows, void *sums,
                     size_t sums_stride, enum echi_matvec_way way);

    /* sums [cols] of a block of rows: sums of a[i][j] x[i]; x NULL: of a[i][j]. */
    void (*columns)(const void *a, size_t stride, const void *x, size_t rows, size_t cols,
                    void *sums);
};

struct echi_matmul_isa {
    const char *name;
    const struct echi_matmul_real *f32, *f64;
};

extern const struct echi_matmul_isa echi_matmul_portable, echi_matmul_avx2, echi_matmul_avx512;

/* operation.c: the kernels for this machine. */
const struct echi_matmul_isa *echi_matmul_isa(void);

#endif
