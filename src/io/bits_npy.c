/*
 * io/bits_npy.c - NumPy arrays as matrices of bits: one element per bit, or packed bits.
 *
 * An array of one dimension is a matrix of one column.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/bits.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Read ---- */

static io_status bad_element(struct io_scan *scan, const struct io_column *c, uint64_t i,
                             uint64_t j)
{
    uint64_t at = c->npy.fortran ? j * scan->bits->rows + i : i * scan->bits->cols + j;
    char text[IO_NUMBER_TEXT], place[64];
    size_t element_bytes = ech_dtype_bytes(c->dtype);
    io_format_key(c->dtype, (const char *)c->keys + at * element_bytes, text);
    if (c->npy.dimensions == 1)
        snprintf(place, sizeof place, "[%llu]", (unsigned long long)i);
    else
        snprintf(place, sizeof place, "[%llu, %llu]", (unsigned long long)i, (unsigned long long)j);
    return io_fail(scan->error, IO_FAIL, scan->source->name, "element %s is %s, not 0 or 1%s",
                   place, text,
                   c->dtype == ECH_U8 ? "; if the bytes are packed bits, give --packed" : "");
}

/* One element per bit. */
static io_status from_elements(struct io_scan *scan, const struct io_column *c)
{
    struct io_bits *bits = scan->bits;
    size_t element_bytes = ech_dtype_bytes(c->dtype);
    uint64_t row_step = c->npy.fortran ? 1 : bits->cols, col_step = c->npy.fortran ? bits->rows : 1;
    for (uint64_t i = 0; bits->cols && i < bits->rows; i++) {
        const char *at = (const char *)c->keys + i * row_step * element_bytes;
        uint64_t *words = bits->words + i * bits->stride, word = 0;
        for (uint64_t j = 0; j < bits->cols; j++, at += col_step * element_bytes) {
            uint64_t value =
                element_bytes == 1 ? *(const unsigned char *)at : io_load(at, element_bytes);
            if (value > 1) return bad_element(scan, c, i, j);
            word |= value << j % 64;
            if (j % 64 < 63 && j + 1 < bits->cols) continue;
            words[j / 64] = word;
            word = 0;
        }
    }
    return IO_OK;
}

/* packbits() sets padding bits to 0, so other values mean that the number of columns is wrong. */
static io_status check_spare(struct io_scan *scan, const unsigned char *bytes)
{
    const struct io_bits *bits = scan->bits;
    size_t row_bytes = (size_t)((bits->cols + 7) / 8);
    unsigned used = bits->cols % 8;
    if (used == 0) return IO_OK;
    unsigned spare = scan->hints->packed == IO_BITS_NPY_BIG ? 0xffu >> used : 0xffu << used & 0xffu;
    for (uint64_t i = 0; i < bits->rows; i++)
        if (bytes[(i + 1) * row_bytes - 1] & spare)
            return io_fail(scan->error, IO_FAIL, scan->source->name,
                           "has ones in row %llu after column %llu, the last column of --packed",
                           (unsigned long long)i, (unsigned long long)bits->cols - 1);
    return IO_OK;
}

static io_status from_packed(struct io_scan *scan, const struct io_column *c)
{
    const char *name = scan->source->name;
    uint64_t row_bytes = c->npy.columns, cols = scan->hints->columns;
    if (c->dtype != ECH_U8 || c->npy.boolean || c->npy.dimensions != 2 || c->npy.fortran)
        return io_fail(scan->error, IO_FAIL, name,
                       "--packed needs an array of u8 with two dimensions in C order");
    if (cols == 0) cols = row_bytes < io_bits_most ? 8 * row_bytes : row_bytes;
    if ((cols + 7) / 8 != row_bytes)
        return io_fail(scan->error, IO_FAIL, name,
                       "has %llu bytes per row, not the %llu that %llu columns need",
                       (unsigned long long)row_bytes, (unsigned long long)((cols + 7) / 8),
                       (unsigned long long)cols);
    io_status status = io_bits_shape(scan, c->npy.rows, cols);
    if (status == IO_OK) status = io_bits_allocate(scan);
    if (status == IO_OK) status = check_spare(scan, c->keys);
    if (status == IO_OK)
        io_bits_from_bytes(scan->bits, c->keys, scan->hints->packed == IO_BITS_NPY_BIG);
    return status;
}

io_status io_bits_load_npy(struct io_scan *scan)
{
    struct io_hints hints = { .format = IO_NPY, .dtype = -1, .dimensions = 2 };
    struct io_column c = { 0 };
    bool packed = scan->hints->packed >= 0;
    io_status status = io_npy_load(scan->source, &hints, &c, scan->error);
    if (status == IO_OK && io_is_float(c.dtype))
        status =
            io_fail(scan->error, IO_FAIL, scan->source->name,
                    "contains %s, but bits must be bools or integers", ech_dtype_name(c.dtype));
    scan->bits->format = packed ? (io_bits_format)scan->hints->packed : IO_BITS_NPY;
    if (status == IO_OK && packed) {
        status = from_packed(scan, &c);
    } else if (status == IO_OK) {
        bool line = c.npy.dimensions == 1;
        status = io_bits_shape(scan, line ? c.npy.columns : c.npy.rows, line ? 1 : c.npy.columns);
        if (status == IO_OK) status = io_bits_allocate(scan);
        if (status == IO_OK) status = from_elements(scan, &c);
    }
    io_free_column(&c);
    return status;
}

/* ---- Write ---- */

static void spread(const struct io_bits *bits, uint64_t row, unsigned char *bytes)
{
    for (uint64_t j = 0; j < bits->cols; j++) bytes[j] = io_bits_get(bits, row, j);
}

io_status io_bits_write_npy(struct io_output *output, io_bits_format format,
                            const struct io_bits *bits, struct io_error *error)
{
    bool packed = format != IO_BITS_NPY;
    size_t row_bytes = (size_t)(packed ? (bits->cols + 7) / 8 : bits->cols);
    unsigned char head[IO_NPY_HEADER];
    size_t n = io_npy_header_matrix("|u1", bits->rows, row_bytes, head);
    io_status status = io_write(output, head, n, error);
    if (row_bytes == 0 || status != IO_OK) return status;
    unsigned char *bytes = malloc(row_bytes);
    if (!bytes) return io_no_memory(error, output->name, row_bytes, "a row");
    for (uint64_t i = 0; i < bits->rows && status == IO_OK; i++) {
        if (packed)
            io_bits_to_bytes(bits, i, format == IO_BITS_NPY_BIG, bytes);
        else
            spread(bits, i, bytes);
        status = io_write(output, bytes, row_bytes, error);
    }
    free(bytes);
    return status;
}
