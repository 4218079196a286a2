/*
 * dist/linear/linear.h - a sparse matrix whose rows are divided among ranks, and its products.
 *
 *     the caller's rows   | rank 0       | rank 1              |      given: any division
 *     rows in the matrix  | rank 0          | rank 1           |      first: multiples of a granule
 *
 *     x of a rank           | its elements | halo: elements of other ranks, by ascending position |
 *     rows of a rank        | before | interior: needs no halo | after |
 *
 * The granule makes chunks of dot products and diagonal blocks belong to one rank each.  At most
 * half a granule of rows moves across each boundary.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_DIST_LINEAR_LINEAR_H
#define ECHI_DIST_LINEAR_LINEAR_H

#include "dist/dist.h"
#include "echelon/dist_linear.h"

enum {
    ECHI_LINEAR_ARRAYS = 8,          /* allocations of a matrix */
    ECHI_LINEAR_PARTS = 3,           /* rows before, interior, after */
    ECHI_LINEAR_OVERLAP = 1 << 18,   /* entries of the interior from which it is worth to compute
                                           it during the exchange (2 cores, 2026-11-27: a thread
                                           starts in 30 us, and so many entries take 400 us) */
    ECHI_LINEAR_BLOCK_ROWS = 1 << 14 /* rows that a thread renumbers at a time */
};

/* Memory of the device. */
struct echi_linear_memory {
    void *pointer;
    size_t bytes;
};

/* Consecutive rows as a matrix of their own. */
struct echi_linear_part {
    ech_csr csr;
    size_t row; /* its first row, of those of this rank */
    struct echi_linear_memory work;
};

struct ech_dist_csr {
    ech_ctx *ctx;
    ech_comm *comm;
    int rank, ranks;
    uint64_t serial; /* the number of the call that made it, the same on all ranks */
    uint64_t total;
    ech_dtype dtype;
    size_t bytes;            /* of a value */
    uint64_t *given, *first; /* [ranks + 1] */
    bool moved;              /* given is not first */
    size_t n, halo;          /* rows of this rank, and elements after them in x */
    ech_csr csr;             /* all rows; columns are positions in x of this rank */
    struct echi_linear_part part[ECHI_LINEAR_PARTS];
    ech_ctx *side; /* computes the interior during the exchange; NULL: it is computed after it */
    uint64_t *halo_first;           /* [ranks + 1] elements of the halo by owner */
    uint64_t *send_first;           /* [ranks + 1] elements to send, by receiver */
    void *send_index, *send;        /* [send_first[ranks]] in memory of the device */
    ech_dtype send_dtype;           /* of send_index */
    ech_comm_message *messages;     /* [2 * ranks] */
    struct echi_linear_memory x, y; /* [n + halo], [n]: for ech_dist_spmv() */
    struct echi_linear_memory array[ECHI_LINEAR_ARRAYS];
    int arrays;
};

/* ---- call.c ---- */

/* Whether a can be used with ctx and comm. */
ech_status echi_linear_check(ech_ctx *ctx, const ech_comm *comm, const ech_dist_csr *a);

/* Fails on all ranks if a number differs. */
struct echi_linear_number {
    const char *name;
    double value;
};
ech_status echi_linear_same(ech_ctx *ctx, ech_comm *comm, const char *call,
                            const struct echi_linear_number *numbers, size_t n);

/* Moves elements from one division to another; what stays on this rank is copied.  A failure of
 * this rank does not skip the exchange: it is kept in *status.  The result is that of the
 * exchange. */
ech_status echi_linear_move(ech_dist_csr *a, const void *in, const uint64_t *in_first, void *out,
                            const uint64_t *out_first, size_t element_bytes, ech_status *status);

/* ---- create.c ---- */

/* Memory of the device that lives as long as the matrix. */
ech_status echi_linear_allocate(ech_dist_csr *a, size_t bytes, const char *what, void **pointer);

/* ---- renumber.c ---- */

/* The columns of a matrix in host memory, as the caller gives them. */
struct echi_linear_columns {
    const uint64_t *offsets; /* [n + 1] */
    const void *columns;     /* [offsets[n]] */
    ech_dtype index_dtype;
};

/* Sets halo, halo_first and csr.col_indices, which are in host memory if the device is a GPU: the
 * caller copies and frees them.  ids [halo] receives the columns of the halo, with malloc();
 * remote [n] is 1 for a row that needs the halo. */
ech_status echi_linear_renumber(ech_dist_csr *a, const struct echi_linear_columns *in,
                                void **columns, uint64_t **ids, unsigned char *remote);

/* ---- product.c ---- */

/* y = alpha A x + beta y for x [n + halo], whose halo it fills.  A failure of this rank does not
 * skip the exchange: it is kept in *status, which may already be one.  The result is that of the
 * exchange. */
ech_status echi_linear_product(ech_dist_csr *a, double alpha, void *x, double beta, void *y,
                               ech_status *status);

#endif
