/*
 * io/bits_jcf.c - JCF, the sparse text format of M4RI: rows of column numbers.
 *
 *     rows cols 2
 *     ones           maximum number of ones
 *     -3 5 9         columns, counted from 1; a negative number begins the next row
 *     -1 2
 *
 * Only rows at the end can be zero: a zero row before a nonzero row cannot be written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/bits.h"

#include <stdio.h>

io_status io_bits_load_jcf(struct io_scan *scan)
{
    struct io_bits *bits = scan->bits;
    uint64_t rows, cols, modulus, bound, ones = 0, row = 0;
    io_status status = io_scan_number(scan, "the number of rows", io_bits_most, &rows);
    if (status == IO_OK)
        status = io_scan_number(scan, "the number of columns", io_bits_most, &cols);
    if (status == IO_OK) status = io_scan_number(scan, "the modulus", UINT64_MAX, &modulus);
    if (status == IO_OK && modulus != 2)
        status = io_scan_fail(scan, "has the modulus %llu; only 2 is supported",
                              (unsigned long long)modulus);
    if (status == IO_OK) status = io_scan_number(scan, "the number of ones", UINT64_MAX, &bound);
    if (status == IO_OK) status = io_bits_shape(scan, rows, cols);
    if (status == IO_OK) status = io_bits_allocate(scan);
    for (;;) {
        if (status != IO_OK) return status;
        io_scan_space(scan);
        if (io_scan_peek(scan) < 0) return scan->status;
        bool begins;
        uint64_t col;
        status = io_scan_signed(scan, "a column", cols, &begins, &col);
        if (status != IO_OK) return status;
        row += begins;
        if (col == 0) return io_scan_fail(scan, "has column 0; columns are counted from 1");
        if (row == 0)
            return io_scan_fail(scan, "has a column before the first row, which begins with \"-\"");
        if (row > rows)
            return io_scan_fail(scan, "has more rows than the %llu that line 1 specifies",
                                (unsigned long long)rows);
        if (++ones > bound)
            return io_scan_fail(scan, "has more ones than the %llu that line 2 allows",
                                (unsigned long long)bound);
        if (io_bits_get(bits, row - 1, col - 1))
            return io_scan_fail(scan, "has a duplicate of column %llu in row %llu",
                                (unsigned long long)col, (unsigned long long)row);
        io_bits_set(bits, row - 1, col - 1);
    }
}

static uint64_t count_ones(const struct io_bits *bits)
{
    uint64_t ones = 0;
    for (uint64_t i = 0; bits->cols && i < bits->rows; i++) ones += io_bits_weight(bits, i);
    return ones;
}

io_status io_bits_write_jcf(struct io_output *output, io_bits_format format,
                            const struct io_bits *bits, struct io_error *error)
{
    (void)format;
    char head[96];
    uint64_t left = count_ones(bits);
    int n = snprintf(head, sizeof head, "%llu %llu 2\n%llu\n", (unsigned long long)bits->rows,
                     (unsigned long long)bits->cols, (unsigned long long)left);
    io_status status = io_write(output, head, (size_t)n, error);
    for (uint64_t i = 0; left && status == IO_OK; i++) {
        uint64_t j = io_bits_next(bits, i, 0);
        if (j == bits->cols)
            return io_fail(
                error, IO_FAIL, output->name,
                "row %llu, counted from 0, is zero; JCF cannot represent a zero row before a "
                "nonzero row",
                (unsigned long long)i);
        status = io_write(output, "-", 1, error);
        while (j < bits->cols && status == IO_OK) {
            uint64_t next = io_bits_next(bits, i, j + 1);
            status = io_write_number(output, j + 1, next < bits->cols ? ' ' : '\n', error);
            j = next;
            left--;
        }
    }
    return status;
}
