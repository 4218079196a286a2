/*
 * io/bits_mtx.c - Matrix Market coordinate format: ones, or integers modulo 2.
 *
 *     %%MatrixMarket matrix coordinate pattern general
 *     % comments
 *     rows cols lines
 *     row col            counted from 1; if the field is integer, followed by a value
 *
 * A symmetric file contains only one triangle.  Format: math.nist.gov/MatrixMarket/formats.html
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/bits.h"

#include <stdio.h>
#include <strings.h>

struct banner {
    bool values, symmetric;
};

static io_status bad_banner(struct io_scan *scan, const char *what, const char *word)
{
    return io_fail(scan->error, IO_FAIL, scan->source->name,
                   "is not a supported Matrix Market file: in line 1 the %s is \"%s\"", what, word);
}

/* Reads the next word of the line, truncated to fit; "" if there is none. */
static void take_word(struct io_scan *scan, char word[24])
{
    size_t n = 0;
    io_scan_blanks(scan);
    for (int c = io_scan_peek(scan); c > ' '; c = io_scan_peek(scan)) {
        io_scan_take(scan);
        if (n < 23) word[n++] = c <= '~' ? (char)c : '?';
    }
    word[n] = 0;
}

static io_status read_banner(struct io_scan *scan, struct banner *banner)
{
    static const char *const names[] = { "banner", "object", "format", "field", "symmetry" };
    static const char *const allowed[][3] = { { "%%MatrixMarket" },
                                              { "matrix" },
                                              { "coordinate" },
                                              { "pattern", "integer" },
                                              { "general", "symmetric" } };
    *banner = (struct banner){ false, false };
    for (int i = 0; i < 5; i++) {
        char word[24];
        take_word(scan, word);
        if (scan->status != IO_OK) return scan->status;
        bool second = allowed[i][1] && strcasecmp(word, allowed[i][1]) == 0;
        if (!second && strcasecmp(word, allowed[i][0]) != 0)
            return bad_banner(scan, names[i], word);
        if (i == 3) banner->values = second;
        if (i == 4) banner->symmetric = second;
    }
    io_scan_blanks(scan);
    int c = io_scan_take(scan);
    if (c != '\n' && c >= 0) return io_scan_fail(scan, "has more than the five words of a banner");
    for (io_scan_space(scan); io_scan_peek(scan) == '%'; io_scan_space(scan)) do
            c = io_scan_take(scan);
        while (c >= 0 && c != '\n');
    return scan->status;
}

static io_status read_entry(struct io_scan *scan, const struct banner *banner)
{
    struct io_bits *bits = scan->bits;
    uint64_t i, j, value = 1;
    bool negative;
    io_status status = io_scan_number(scan, "a row", bits->rows, &i);
    if (status == IO_OK) status = io_scan_number(scan, "a column", bits->cols, &j);
    if (status == IO_OK && banner->values)
        status = io_scan_signed(scan, "a value", UINT64_MAX, &negative, &value);
    if (status != IO_OK) return status;
    if (i == 0 || j == 0)
        return io_scan_fail(scan, "has row or column 0; rows and columns are counted from 1");
    if (value % 2 == 0) return IO_OK;
    if (io_bits_get(bits, i - 1, j - 1))
        return io_scan_fail(scan, "has a duplicate of row %llu, column %llu%s",
                            (unsigned long long)i, (unsigned long long)j,
                            banner->symmetric ? ", or of its mirror image" : "");
    io_bits_set(bits, i - 1, j - 1);
    if (banner->symmetric) io_bits_set(bits, j - 1, i - 1);
    return IO_OK;
}

io_status io_bits_load_mtx(struct io_scan *scan)
{
    struct banner banner;
    uint64_t rows, cols, lines;
    io_status status = read_banner(scan, &banner);
    if (status == IO_OK) status = io_scan_number(scan, "the number of rows", io_bits_most, &rows);
    if (status == IO_OK)
        status = io_scan_number(scan, "the number of columns", io_bits_most, &cols);
    if (status == IO_OK) status = io_scan_number(scan, "the number of entries", UINT64_MAX, &lines);
    if (status != IO_OK) return status;
    if (banner.symmetric && rows != cols)
        return io_scan_fail(scan,
                            "has %llu rows and %llu columns, but a symmetric matrix is square",
                            (unsigned long long)rows, (unsigned long long)cols);
    status = io_bits_shape(scan, rows, cols);
    if (status == IO_OK) status = io_bits_allocate(scan);
    for (uint64_t k = 0; k < lines && status == IO_OK; k++) {
        io_scan_space(scan);
        if (io_scan_peek(scan) < 0)
            return io_scan_fail(scan, "is the last line, but only %llu of %llu entries were found",
                                (unsigned long long)k, (unsigned long long)lines);
        status = read_entry(scan, &banner);
    }
    return status == IO_OK ? io_scan_end(scan, "the last entry") : status;
}

io_status io_bits_write_mtx(struct io_output *output, io_bits_format format,
                            const struct io_bits *bits, struct io_error *error)
{
    (void)format;
    char head[128];
    uint64_t ones = 0, rows = bits->cols ? bits->rows : 0;
    for (uint64_t i = 0; i < rows; i++) ones += io_bits_weight(bits, i);
    int n = snprintf(
        head, sizeof head, "%%%%MatrixMarket matrix coordinate pattern general\n%llu %llu %llu\n",
        (unsigned long long)bits->rows, (unsigned long long)bits->cols, (unsigned long long)ones);
    io_status status = io_write(output, head, (size_t)n, error);
    for (uint64_t i = 0; i < rows; i++)
        for (uint64_t j = io_bits_next(bits, i, 0); j < bits->cols && status == IO_OK;
             j = io_bits_next(bits, i, j + 1)) {
            status = io_write_number(output, i + 1, ' ', error);
            if (status == IO_OK) status = io_write_number(output, j + 1, '\n', error);
        }
    return status;
}
