/*
 * sparse/cpu/common.h - declarations that the files of the CPU's sparse operations share: the
 * kernels that have instruction-set variants, and the division of work.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SPARSE_CPU_COMMON_H
#define ECHI_SPARSE_CPU_COMMON_H

#include "sparse/sparse.h"
#include "cpu/cpu.h"

enum {
    ECHI_SPARSE_STRIP = 32,       /* columns that a product with a matrix processes at once */
    ECHI_SPARSE_GROUPS = 1 << 10, /* maximum number of groups of rows plus entries */
    ECHI_SPARSE_SLOTS = 2 * ((1 << 10) + 1)
};

/* A position before an entry of a row, at which a task begins. */
struct echi_sparse_place {
    size_t row, entry;
    bool inside; /* after the row's first entry */
};

/* A product in progress. */
struct echi_sparse_product {
    const struct echi_sparse *s;
    bool by_row;      /* AVX-512: short rows are summed one by one, not in blocks */
    size_t group;     /* entries per group of a row, from its first: a power of two */
    void *partials;   /* [ECHI_SPARSE_SLOTS][width] sums of groups of rows that several tasks
                         share */
    size_t at, width; /* of a product with a matrix: the current columns */
};

/* By [64-bit index][f64]. */
struct echi_sparse_isa {
    /* The place at which a task begins, given the number of rows and entries before it; within a
     * row, at the start of a group. */
    struct echi_sparse_place (*place[2][2])(const struct echi_sparse_product *p, size_t items);

    /* Between two places: complete rows are written to y, groups of other rows to partials. */
    void (*rows[2][2])(const struct echi_sparse_product *p, struct echi_sparse_place from,
                       struct echi_sparse_place to);

    /* Adds the partials of a row and writes it to y. */
    void (*join[2][2])(const struct echi_sparse_product *p, size_t row);

    /* The same for a product with a matrix. */
    void (*rows_wide[2][2])(const struct echi_sparse_product *p, struct echi_sparse_place from,
                            struct echi_sparse_place to);
    void (*join_wide[2][2])(const struct echi_sparse_product *p, size_t row);
};

/* make.c: operations other than products.  Sets *bytes if they need a workspace. */
ech_status echi_cpu_sparse_make_workspace(const struct echi_sparse *s, size_t *bytes);
ech_status echi_cpu_sparse_make(ech_ctx *ctx, const struct echi_sparse *s, void *work);

extern const struct echi_sparse_isa echi_sparse_portable, echi_sparse_avx2, echi_sparse_avx512;

#endif
