/*
 * sparse/sparse.h - the checked form of a call on sparse matrices, and the order in which a row is
 * added, which determines the bits of the result, for the CPU and for kernels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SPARSE_SPARSE_H
#define ECHI_SPARSE_SPARSE_H

#include "sort/sort.h"

/* Products that are added sequentially: docs/sparse.md. */
enum { ECHI_SPARSE_CHUNK = 32 };

enum echi_sparse_what {
    ECHI_SPARSE_MULTIPLY,  /* y = alpha a x + beta y: n columns of x and y, at strides */
    ECHI_SPARSE_FROM_COO,  /* out from n COO entries, and the number of entries of out */
    ECHI_SPARSE_TRANSPOSE, /* out = a^T */
    ECHI_SPARSE_DIAGONAL,  /* y = the diagonal of a: the first of duplicate entries */
    ECHI_SPARSE_CHECK      /* reports errors of a */
};

/* Unused fields are 0. */
struct echi_sparse {
    enum echi_sparse_what what;
    ech_csr a, out;
    double alpha, beta; /* rounded to a.dtype */
    const void *x;
    void *y;
    size_t n, x_stride, y_stride;
    const void *rows, *columns, *values; /* [n] */
    uint64_t *entries;
    bool in_order;
};

/* The number of rows plus entries of a matrix, by which work is divided. */
static inline uint64_t echi_sparse_items(const ech_csr *a)
{
    return (uint64_t)a->nnz + a->rows;
}

/* The number of bits of 0 ... n. */
static inline int echi_sparse_bits(uint64_t n)
{
    return n ? 64 - __builtin_clzll(n) : 0;
}

/* Entries are sorted by row << columns_bits | column; an invalid row becomes the one past the
 * last. */
static inline int echi_sparse_column_bits(const ech_csr *m)
{
    return m->cols ? echi_sparse_bits(m->cols - 1) : 0;
}

static inline int echi_sparse_key_bits(const ech_csr *m)
{
    return echi_sparse_bits(m->rows) + echi_sparse_column_bits(m);
}

/* If a row and a column do not fit in a key of 64 bits, the occurring columns are numbered. */
static inline bool echi_sparse_is_wide(const ech_csr *m)
{
    return echi_sparse_key_bits(m) > 64;
}

static inline int echi_sparse_number_bits(const ech_csr *m, size_t n)
{
    if (!echi_sparse_is_wide(m)) return echi_sparse_column_bits(m);
    return echi_sparse_bits(n ? n - 1 : 0);
}

/* The stable sort of n such keys, by all bits from begin_bit on, with 32- or 64-bit numbers as
 * values. */
static inline struct echi_sort echi_sparse_sort(const ech_csr *m, size_t n, int begin_bit)
{
    const int bits = echi_sparse_bits(m->rows) + echi_sparse_number_bits(m, n);
    return (struct echi_sort){ .n = n,
                               .value_bytes = ech_dtype_bytes(m->dtype),
                               .dtype = ECH_U64,
                               .key_bytes = 8,
                               .order = echi_order_make(ECH_U64, ECH_ORDER_NAN_LAST, false, true),
                               .begin_bit = begin_bit < bits ? begin_bit : bits,
                               .end_bit = bits,
                               .stable = true };
}

/* For a wide matrix: the preceding sort by columns, with the entries' numbers as values. */
static inline struct echi_sort echi_sparse_sort_columns(const ech_csr *m, size_t n)
{
    struct echi_sort sort = echi_sparse_sort(m, n, 0);
    sort.value_bytes = sizeof(uint64_t);
    sort.end_bit = echi_sparse_column_bits(m);
    return sort;
}

#endif
