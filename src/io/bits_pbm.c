/*
 * io/bits_pbm.c - Netpbm bitmaps: a row of pixels is a row of the matrix, black is one.
 *
 *     P1 width height  1 0 0 1 ...   text with optional blanks between bits, and # comments
 *     P4 width height  bytes         after one blank; the first bit of a byte is the highest, and
 *                                    each row begins with a new byte
 *
 * Format: netpbm.sourceforge.net/doc/pbm.html.  As an extension, a width or height of 0 is a matrix
 * without bits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/bits.h"

#include <stdio.h>
#include <stdlib.h>

enum { A_LINE = 35 }; /* bits per line; lines have at most 70 characters */

/* ---- Read ---- */

/* Skips blanks, newlines, and comments from # to the end of the line. */
static void skip(struct io_scan *scan)
{
    for (;;) {
        io_scan_space(scan);
        if (io_scan_peek(scan) != '#') return;
        int c;
        do c = io_scan_take(scan);
        while (c >= 0 && c != '\n');
    }
}

static io_status read_text(struct io_scan *scan)
{
    struct io_bits *bits = scan->bits;
    uint64_t cells = bits->rows * bits->cols, reserved = 0;
    uint64_t left = scan->size > scan->taken ? scan->size - scan->taken : 0;
    if (scan->size && left < cells)
        return io_fail(scan->error, IO_FAIL, scan->source->name,
                       "the header specifies %llu x %llu bits, but only %llu bytes follow",
                       (unsigned long long)bits->rows, (unsigned long long)bits->cols,
                       (unsigned long long)left);
    io_status status = io_bits_reserve(scan, bits->cols ? 0 : bits->rows, &reserved);
    for (uint64_t i = 0; cells && i < bits->rows && status == IO_OK; i++) {
        status = io_bits_reserve(scan, i + 1, &reserved);
        for (uint64_t j = 0; j < bits->cols && status == IO_OK; j++) {
            skip(scan);
            int c = io_scan_peek(scan);
            if (c == '1')
                io_bits_set(bits, i, j);
            else if (c < 0)
                status = io_scan_fail(
                    scan, "is the last line, but only %llu of %llu bits were found",
                    (unsigned long long)(i * bits->cols + j), (unsigned long long)cells);
            else if (c != '0')
                status = io_scan_fail(scan, "has \"%c\" in row %llu, column %llu, not 0 or 1",
                                      c > ' ' && c <= '~' ? c : '?', (unsigned long long)i,
                                      (unsigned long long)j);
            io_scan_take(scan);
        }
    }
    if (status != IO_OK) return status;
    skip(scan);
    return io_scan_end(scan, "the last bit");
}

static io_status read_bytes(struct io_scan *scan)
{
    struct io_bits *bits = scan->bits;
    struct io_source *source = scan->source;
    uint64_t need = bits->rows * ((bits->cols + 7) / 8);
    int c = io_scan_take(scan);
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
        return io_scan_fail(scan, "needs a blank after the height");
    uint64_t left = scan->size > scan->taken ? scan->size - scan->taken : 0;
    unsigned long long says = need, has = left;
    if (scan->size && left != need)
        return io_fail(scan->error, IO_FAIL, source->name,
                       "the header specifies %llu bytes of bits, but %llu bytes follow", says, has);
    void *bytes;
    size_t got, extra = 0;
    char more;
    io_status status =
        io_read_all(source, need, scan->size ? need : 0, 0, &bytes, &got, scan->error);
    if (status != IO_OK) return status;
    if (got == need) status = io_read(source, &more, 1, &extra, scan->error);
    if (status == IO_OK && (got != need || extra))
        status = io_fail(scan->error, IO_FAIL, source->name,
                         "the header specifies %llu bytes of bits, but %s follow", says,
                         extra ? "more" : "fewer");
    if (status == IO_OK) status = io_bits_allocate(scan);
    if (status == IO_OK) io_bits_from_bytes(bits, bytes, true);
    free(bytes);
    return status;
}

io_status io_bits_load_pbm(struct io_scan *scan)
{
    int p = io_scan_take(scan), kind = io_scan_take(scan);
    if (p != 'P' || (kind != '1' && kind != '4')) {
        if (scan->status != IO_OK) return scan->status;
        return io_fail(scan->error, IO_FAIL, scan->source->name,
                       "is not a Netpbm bitmap: it does not begin with P1 or P4");
    }
    uint64_t cols, rows;
    skip(scan);
    io_status status = io_scan_number(scan, "the width", io_bits_most, &cols);
    if (status != IO_OK) return status;
    skip(scan);
    status = io_scan_number(scan, "the height", io_bits_most, &rows);
    if (status == IO_OK) status = io_bits_shape(scan, rows, cols);
    if (status != IO_OK) return status;
    scan->bits->format = kind == '1' ? IO_BITS_PBM_TEXT : IO_BITS_PBM;
    return kind == '1' ? read_text(scan) : read_bytes(scan);
}

/* ---- Write ---- */

static io_status write_text_row(struct io_output *output, const struct io_bits *bits, uint64_t row,
                                struct io_error *error)
{
    io_status status = IO_OK;
    for (uint64_t j = 0; j < bits->cols && status == IO_OK; j += A_LINE) {
        char line[2 * A_LINE];
        size_t n = 0;
        for (uint64_t k = j; k < bits->cols && k < j + A_LINE; k++) {
            line[n++] = io_bits_get(bits, row, k) ? '1' : '0';
            line[n++] = ' ';
        }
        line[n - 1] = '\n';
        status = io_write(output, line, n, error);
    }
    return status;
}

io_status io_bits_write_pbm(struct io_output *output, io_bits_format format,
                            const struct io_bits *bits, struct io_error *error)
{
    char head[64];
    bool text = format == IO_BITS_PBM_TEXT;
    size_t row_bytes = (size_t)((bits->cols + 7) / 8);
    int n = snprintf(head, sizeof head, "P%c\n%llu %llu\n", text ? '1' : '4',
                     (unsigned long long)bits->cols, (unsigned long long)bits->rows);
    io_status status = io_write(output, head, (size_t)n, error);
    if (status != IO_OK || bits->cols == 0) return status;
    unsigned char *bytes = malloc(row_bytes);
    if (!bytes) return io_no_memory(error, output->name, row_bytes, "a row");
    for (uint64_t i = 0; i < bits->rows && status == IO_OK; i++) {
        if (text) {
            status = write_text_row(output, bits, i, error);
        } else {
            io_bits_to_bytes(bits, i, true, bytes);
            status = io_write(output, bytes, row_bytes, error);
        }
    }
    free(bytes);
    return status;
}
