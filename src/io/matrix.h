/*
 * io/matrix.h - reads a matrix of numbers from a file, and writes one.
 *
 *     matrix.c        which format it is; memory; one number, one vector, from and to others
 *     matrix_mtx.c    Matrix Market's text, coordinates and arrays, read by all threads
 *     matrix_write.c  Matrix Market and .npy, written
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_IO_MATRIX_H
#define ECHELON_IO_MATRIX_H

#include "io/io.h"

typedef enum io_symmetry { IO_GENERAL = 0, IO_SYMMETRIC = 1, IO_SKEW = 2 } io_symmetry;

/* Of a sparse matrix, entry e is at (row[e], column[e]), both from 0, in the order of the file, and
 * those that a symmetric file leaves out behind them; a place may be there more than once.  A dense
 * one lies row by row. */
struct io_matrix {
    bool dense;
    uint64_t rows, cols;
    uint64_t entries; /* sparse alone, as row and column */
    int64_t *row, *column;
    double *values;       /* [rows * cols], or [entries] */
    io_symmetry symmetry; /* that the file says of itself; all entries are there in any case */
    bool pattern;         /* the file has places alone: every value is 1 */
};

/* Reads source to its end: Matrix Market, a .npy array of one dimension (a column) or two, or text
 * of one number a line (a column).  On failure matrix holds nothing. */
io_status io_matrix_load(struct io_source *source, struct io_matrix *matrix,
                         struct io_error *error);
/* The same of Matrix Market alone; on failure io_matrix_free() frees what it has. */
io_status io_matrix_load_mtx(struct io_source *source, struct io_matrix *matrix,
                             struct io_error *error);
void io_matrix_free(struct io_matrix *matrix);

/* Adds what a sparse matrix has into [rows * cols] zeros; makes a sparse matrix dense. */
io_status io_matrix_to_dense(struct io_matrix *matrix, const char *name, struct io_error *error);

/* Writes a dense matrix, [rows][cols] of F32 or F64. */
io_status io_matrix_write_mtx(struct io_output *output, const void *values, ech_dtype dtype,
                              uint64_t rows, uint64_t cols, struct io_error *error);
io_status io_matrix_write_npy(struct io_output *output, const void *values, ech_dtype dtype,
                              uint64_t rows, uint64_t cols, struct io_error *error);

#endif
