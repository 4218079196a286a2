/*
 * matrix.h - what the commands share that work on matrices of numbers: matrix, matmul, solve.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_MATRIX_H
#define ECHELON_CLI_MATRIX_H

#include "io/matrix.h"
#include "cli.h"

/* ---- Files: matrix_file.c.  Each: EXIT_DONE, or an exit code after its message ---- */

/* Reads the file; path "-" is standard input. */
int matrix_load(const char *path, struct cli_progress *progress, struct io_matrix *matrix);

/* Names the first number that is NaN or infinite. */
int matrix_check_finite(const struct io_matrix *matrix, const char *name);

/* What the output is to be: .npy or .mtx by its name, else .mtx; a terminal is refused .npy. */
struct matrix_output {
    struct io_output output;
    bool open, npy;
};
int matrix_create(struct matrix_output *to, const char *path);
int matrix_write(struct matrix_output *to, const void *values, ech_dtype dtype, uint64_t rows,
                 uint64_t cols, struct cli_progress *progress);
void matrix_discard(struct matrix_output *to); /* harmless after matrix_write() */

/* A dense matrix's numbers as dtype, F32 or F64, in memory from malloc(); F64: its own, which are
 * then taken out of it. */
int matrix_values(struct io_matrix *matrix, ech_dtype dtype, const char *name, void **values);

/* ---- The picture of where entries are: matrix_spy.c ---- */

/* Counts of entries in cells of a grid that has the matrix's shape. */
struct spy {
    unsigned rows, cols;
    uint64_t *counts; /* [rows][cols] */
};
int spy_make(struct spy *spy, const struct io_matrix *matrix, unsigned most_rows,
             unsigned most_cols);
void spy_print(const struct spy *spy); /* eight cells a character, on standard output */
int spy_write_png(const struct spy *spy, const char *path);
void spy_free(struct spy *spy);

#endif
