/*
 * io/matrix.h - reads and writes a matrix of numbers.
 *
 *     matrix.c        determines the format; memory; converts to dense
 *     matrix_mtx.c    reads Matrix Market coordinate and array files with all threads
 *     matrix_write.c  writes Matrix Market and .npy
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_IO_MATRIX_H
#define ECHELON_IO_MATRIX_H

#include "io/io.h"

typedef enum io_symmetry { IO_GENERAL = 0, IO_SYMMETRIC = 1, IO_SKEW = 2 } io_symmetry;

/* A sparse matrix is in COO format: entry e is at (row[e], column[e]), counted from 0, in the order
 * of the file.  The entries that a symmetric file omits follow.  Duplicates are possible.  A dense
 * matrix is in row-major order. */
struct io_matrix {
    bool dense;
    uint64_t rows, cols;
    uint64_t entries;      /* only if sparse */
    int64_t *row, *column; /* only if sparse */
    double *values;        /* [rows * cols], or [entries] */
    io_symmetry symmetry;  /* declared by the file; values always contains all entries */
    bool pattern;          /* the file has no values; all are 1 */
};

/* Reads source to its end: Matrix Market, a .npy array of one dimension (a column) or two, or text
 * with one number per line (a column).  On failure matrix is empty. */
io_status io_matrix_load(struct io_source *source, struct io_matrix *matrix,
                         struct io_error *error);
/* Reads Matrix Market.  After a failure io_matrix_free() must be called. */
io_status io_matrix_load_mtx(struct io_source *source, struct io_matrix *matrix,
                             struct io_error *error);
void io_matrix_free(struct io_matrix *matrix);

/* Converts a sparse matrix to a dense one; duplicate entries are added. */
io_status io_matrix_to_dense(struct io_matrix *matrix, const char *name, struct io_error *error);

/* Writes a dense matrix, [rows][cols] of F32 or F64. */
io_status io_matrix_write_mtx(struct io_output *output, const void *values, ech_dtype dtype,
                              uint64_t rows, uint64_t cols, struct io_error *error);
io_status io_matrix_write_npy(struct io_output *output, const void *values, ech_dtype dtype,
                              uint64_t rows, uint64_t cols, struct io_error *error);

#endif
