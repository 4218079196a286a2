/*
 * matrix.h - shared by the subcommands on matrices of numbers: matrix, matmul, solve.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_MATRIX_H
#define ECHELON_CLI_MATRIX_H

#include "io/matrix.h"
#include "cli.h"

/* ---- Files: matrix_file.c.  Each returns EXIT_DONE, or an exit code after a message ---- */

/* Reads the file; path "-" is standard input. */
int matrix_load(const char *path, struct cli_progress *progress, struct io_matrix *matrix);

/* Fails with the position of the first number that is NaN or infinite. */
int matrix_check_finite(const struct io_matrix *matrix, const char *name);

/* The output: .npy if its name has this extension, otherwise Matrix Market. */
struct matrix_output {
    struct io_output output;
    bool open, npy;
};
int matrix_create(struct matrix_output *to, const char *path);
int matrix_write(struct matrix_output *to, const void *values, ech_dtype dtype, uint64_t rows,
                 uint64_t cols, struct cli_progress *progress);
void matrix_discard(struct matrix_output *to); /* harmless after matrix_write() */

/* Returns the numbers of a dense matrix as dtype, F32 or F64, in memory from malloc().  For F64 the
 * matrix gives up its own array. */
int matrix_values(struct io_matrix *matrix, ech_dtype dtype, const char *name, void **values);

/* ---- The picture of the sparsity pattern: matrix_spy.c ---- */

/* Counts of entries in the cells of a grid with the aspect ratio of the matrix. */
struct spy {
    unsigned rows, cols;
    uint64_t *counts; /* [rows][cols] */
};
int spy_make(struct spy *spy, const struct io_matrix *matrix, unsigned most_rows,
             unsigned most_cols);
void spy_print(const struct spy *spy); /* eight cells per character, on standard output */
int spy_write_png(const struct spy *spy, const char *path);
void spy_free(struct spy *spy);

#endif
