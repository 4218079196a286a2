/*
 * io/matrix.c - determines the format of a matrix of numbers; memory; columns as matrices.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/matrix.h"

#include <stdlib.h>
#include <string.h>

void io_matrix_free(struct io_matrix *matrix)
{
    free(matrix->row);
    free(matrix->column);
    free(matrix->values);
    *matrix = (struct io_matrix){ .rows = 0 };
}

/* Loads a .npy array of one or two dimensions, or text with one number per line (a column). */
static io_status load_column(struct io_source *source, struct io_matrix *matrix,
                             struct io_error *error)
{
    const struct io_hints hints = { .format = -1, .dtype = -1, .dimensions = 2, .matrix = true };
    struct io_column column;
    io_format format;
    int dtype;
    io_status status = io_detect(source, &hints, &format, &dtype, error);
    if (status == IO_FAIL || (status == IO_OK && format == IO_RAW))
        return io_fail(error, IO_FAIL, source->name,
                       "unknown format: it is neither Matrix Market, nor .npy, nor text with one "
                       "number per line");
    if (status == IO_OK) status = io_load_column(source, &hints, &column, error);
    if (status != IO_OK) return status;
    const bool two = column.format == IO_NPY && column.npy.dimensions == 2;
    const bool turned = two && column.npy.fortran;
    *matrix = (struct io_matrix){ .dense = true, .rows = column.n, .cols = 1 };
    if (two) {
        matrix->rows = column.npy.rows;
        matrix->cols = column.npy.columns;
    }
    matrix->values = malloc(((size_t)column.n + 1) * sizeof *matrix->values);
    if (!matrix->values) {
        io_free_column(&column);
        return io_no_memory(error, source->name, column.n * sizeof *matrix->values, "its numbers");
    }
    const size_t bytes = ech_dtype_bytes(column.dtype);
    for (uint64_t i = 0; i < matrix->rows; i++)
        for (uint64_t j = 0; j < matrix->cols; j++) {
            const uint64_t at = turned ? j * matrix->rows + i : i * matrix->cols + j;
            matrix->values[i * matrix->cols + j] =
                io_key_to_double(column.dtype, (const char *)column.keys + at * bytes);
        }
    io_free_column(&column);
    return IO_OK;
}

io_status io_matrix_load(struct io_source *source, struct io_matrix *matrix, struct io_error *error)
{
    static const char banner[] = "%%MatrixMarket";
    io_status status = io_look(source, error);
    if (status != IO_OK) return status;
    if (!source->ahead_bytes)
        return io_fail(error, IO_FAIL, source->name, "is empty, but must contain a matrix");
    if (source->ahead_bytes < 2 || memcmp(source->ahead, banner, 2) != 0)
        return load_column(source, matrix, error);
    status = io_matrix_load_mtx(source, matrix, error);
    if (status != IO_OK) io_matrix_free(matrix);
    return status;
}

io_status io_matrix_to_dense(struct io_matrix *matrix, const char *name, struct io_error *error)
{
    if (matrix->dense) return IO_OK;
    const uint64_t most = io_machine_bytes();
    if (matrix->cols && matrix->rows > most / 8 / matrix->cols)
        return io_fail(error, IO_MEMORY, name,
                       "has %llu rows and %llu columns, and a dense matrix of this size exceeds "
                       "the %llu bytes of memory of the machine",
                       (unsigned long long)matrix->rows, (unsigned long long)matrix->cols,
                       (unsigned long long)most);
    double *values = calloc((size_t)(matrix->rows * matrix->cols) + 1, sizeof *values);
    if (!values)
        return io_no_memory(error, name, matrix->rows * matrix->cols * 8, "a dense matrix");
    for (uint64_t e = 0; e < matrix->entries; e++)
        values[(uint64_t)matrix->row[e] * matrix->cols + (uint64_t)matrix->column[e]] +=
            matrix->values[e];
    free(matrix->row);
    free(matrix->column);
    free(matrix->values);
    matrix->row = matrix->column = NULL;
    matrix->values = values;
    matrix->dense = true;
    return IO_OK;
}
