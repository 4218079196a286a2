/*
 * sparse/cpu/common.h - what the files of the CPU's sparse matrices share: the kernels that have
 * instruction-set variants, and how work is shared out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SPARSE_CPU_COMMON_H
#define ECHI_SPARSE_CPU_COMMON_H

#include "sparse/sparse.h"
#include "cpu/cpu.h"

enum {
    ECHI_SPARSE_STRIP = 32,       /* columns that a product with a matrix adds up at once */
    ECHI_SPARSE_GROUPS = 1 << 10, /* most that rows and entries together are */
    ECHI_SPARSE_SLOTS = 2 * ((1 << 10) + 1)
};

/* Before an entry of a row, where a task begins. */
struct echi_sparse_place {
    size_t row, entry;
    bool inside; /* not before the row's first */
};

/* A product as it runs. */
struct echi_sparse_product {
    const struct echi_sparse *s;
    size_t group;     /* entries by which a row is divided, from its first: a power of two */
    void *partials;   /* [ECHI_SPARSE_SLOTS][width] sums of groups of rows that tasks share */
    size_t at, width; /* of a product with a matrix: the columns of now */
};

/* By [64-bit index][f64]. */
struct echi_sparse_isa {
    /* Where the task begins that so many rows and entries come before; in a row where a group
     * does. */
    struct echi_sparse_place (*place[2][2])(const struct echi_sparse_product *p, size_t items);

    /* Between two places: rows that lie there whole go to y, groups of others to partials. */
    void (*rows[2][2])(const struct echi_sparse_product *p, struct echi_sparse_place from,
                       struct echi_sparse_place to);

    /* The row whose groups are all in partials goes to y. */
    void (*join[2][2])(const struct echi_sparse_product *p, size_t row);

    /* The same of a product with a matrix. */
    void (*rows_wide[2][2])(const struct echi_sparse_product *p, struct echi_sparse_place from,
                            struct echi_sparse_place to);
    void (*join_wide[2][2])(const struct echi_sparse_product *p, size_t row);
};

/* make.c: what is no product.  Sets *bytes where it takes any. */
ech_status echi_cpu_sparse_make_workspace(const struct echi_sparse *s, size_t *bytes);
ech_status echi_cpu_sparse_make(ech_ctx *ctx, const struct echi_sparse *s, void *work);

extern const struct echi_sparse_isa echi_sparse_portable, echi_sparse_avx2, echi_sparse_avx512;

#endif
