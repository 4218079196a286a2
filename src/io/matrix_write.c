/*
 * io/matrix_write.c - writes dense matrices as Matrix Market arrays and as .npy.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/matrix.h"

#include <stdio.h>

io_status io_matrix_write_mtx(struct io_output *output, const void *values, ech_dtype dtype,
                              uint64_t rows, uint64_t cols, struct io_error *error)
{
    const size_t bytes = ech_dtype_bytes(dtype);
    char text[128];
    const int n =
        snprintf(text, sizeof text, "%%%%MatrixMarket matrix array real general\n%llu %llu\n",
                 (unsigned long long)rows, (unsigned long long)cols);
    io_status status = io_write(output, text, (size_t)n, error);
    for (uint64_t j = 0; j < cols; j++)
        for (uint64_t i = 0; i < rows && status == IO_OK; i++) {
            size_t length =
                io_format_key(dtype, (const char *)values + (i * cols + j) * bytes, text);
            text[length++] = '\n';
            status = io_write(output, text, length, error);
        }
    return status;
}

io_status io_matrix_write_npy(struct io_output *output, const void *values, ech_dtype dtype,
                              uint64_t rows, uint64_t cols, struct io_error *error)
{
    unsigned char header[IO_NPY_HEADER];
    const size_t n = io_npy_header_matrix(io_npy_descr(dtype), rows, cols, header);
    const io_status status = io_write(output, header, n, error);
    if (status != IO_OK || !rows || !cols) return status;
    return io_write(output, values, (size_t)(rows * cols) * ech_dtype_bytes(dtype), error);
}
