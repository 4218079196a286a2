/*
 * write.c - writes a column of numbers, or lines of text, to a file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "job.h"

#include <string.h>

io_status write_lines(struct io_output *output, const struct io_column *column,
                      const uint64_t *lines, uint64_t n, struct io_error *error)
{
    enum { AHEAD = 16 }; /* prefetch distance in lines */
    io_status status = io_write(output, column->text, column->head_bytes, error);
    for (uint64_t i = 0; i < n && status == IO_OK; i++) {
        if (i + AHEAD < n) __builtin_prefetch(column->text + lines[i + AHEAD]);
        const size_t bytes = io_record_bytes(column, lines[i]);
        status = io_write(output, column->text + lines[i], bytes, error);
    }
    return status;
}

io_status write_numbers(struct io_output *output, ech_dtype dtype, const void *values, uint64_t n,
                        struct io_error *error)
{
    const char *at = values;
    size_t bytes = ech_dtype_bytes(dtype);
    io_status status = IO_OK;
    for (uint64_t i = 0; i < n && status == IO_OK; i++, at += bytes) {
        char text[IO_NUMBER_TEXT];
        size_t length = io_format_key(dtype, at, text);
        text[length++] = '\n';
        status = io_write(output, text, length, error);
    }
    return status;
}

io_status write_values(struct io_output *output, io_format format, ech_dtype dtype,
                       const void *values, uint64_t n, struct io_error *error)
{
    if (format == IO_TEXT) return write_numbers(output, dtype, values, n, error);
    io_status status = IO_OK;
    if (format == IO_NPY) {
        unsigned char header[IO_NPY_HEADER];
        const char *descr = io_npy_descr(dtype);
        size_t header_bytes = io_npy_header(descr ? descr : "<u2", n, header);
        status = io_write(output, header, header_bytes, error);
    }
    if (status != IO_OK) return status;
    return io_write(output, values, (size_t)n * ech_dtype_bytes(dtype), error);
}

io_status write_keys(struct io_output *output, struct io_column *column, io_format format,
                     uint64_t n, struct io_error *error)
{
    size_t bytes = ech_dtype_bytes(column->dtype);
    unsigned char header[IO_NPY_HEADER];
    if (format != IO_NPY || column->format != IO_NPY)
        return write_values(output, format, column->dtype, column->keys, n, error);
    /* The header of the input is copied unchanged if it is valid for the output. */
    bool same = n == column->n;
    size_t header_bytes =
        same ? column->npy.header_bytes : io_npy_header(column->npy.descr, n, header);
    io_status status = io_write(output, same ? column->header : header, header_bytes, error);
    if (column->npy.big_endian) io_swap(column->keys, n, bytes);
    return status == IO_OK ? io_write(output, column->keys, (size_t)n * bytes, error) : status;
}

io_status write_index(struct io_output *output, io_format format, const void *index,
                      size_t index_bytes, uint64_t n, const struct io_column *matrix,
                      struct io_error *error)
{
    if (format == IO_TEXT)
        return write_numbers(output, index_bytes == 4 ? ECH_U32 : ECH_U64, index, n, error);
    io_status status = IO_OK;
    if (format == IO_NPY) {
        unsigned char header[IO_NPY_HEADER];
        const char *descr = io_npy_descr(ECH_U64);
        size_t header_bytes =
            matrix ? io_npy_header_matrix(descr, matrix->npy.rows, matrix->npy.columns, header)
                   : io_npy_header(descr, n, header);
        status = io_write(output, header, header_bytes, error);
    }
    uint64_t block[512];
    const char *at = index;
    for (uint64_t done = 0; done < n && status == IO_OK;) {
        size_t some = n - done < 512 ? (size_t)(n - done) : 512;
        for (size_t i = 0; i < some; i++, at += index_bytes) block[i] = io_load(at, index_bytes);
        status = io_write(output, block, some * sizeof *block, error);
        done += some;
    }
    return status;
}
