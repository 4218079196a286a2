/*
 * matrix_spy.c - a picture of the sparsity pattern of a matrix: Braille characters on the terminal,
 * or an uncompressed PNG file in which cells with more entries are darker.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Counts ---- */

static unsigned scaled(uint64_t i, uint64_t n, unsigned cells)
{
    return (unsigned)((long double)i * cells / (long double)n);
}

int spy_make(struct spy *spy, const struct io_matrix *m, unsigned most_rows, unsigned most_cols)
{
    const double rows = (double)m->rows, cols = (double)m->cols;
    double scale = 1; /* cells per row */
    if (rows > most_rows) scale = most_rows / rows;
    if (cols * scale > most_cols) scale = most_cols / cols;
    spy->rows = m->rows ? (unsigned)fmax(1, ceil(rows * scale)) : 0;
    spy->cols = m->cols ? (unsigned)fmax(1, ceil(cols * scale)) : 0;
    spy->counts = calloc((size_t)spy->rows * spy->cols + 1, sizeof *spy->counts);
    if (!spy->counts)
        return cli_fail(EXIT_MEMORY, "out of memory: cannot allocate the grid of the picture");
    if (!m->dense) {
        for (uint64_t e = 0; e < m->entries; e++)
            spy->counts[(size_t)scaled((uint64_t)m->row[e], m->rows, spy->rows) * spy->cols +
                        scaled((uint64_t)m->column[e], m->cols, spy->cols)]++;
        return EXIT_DONE;
    }
    for (uint64_t i = 0; i < m->rows; i++)
        for (uint64_t j = 0; j < m->cols; j++)
            if (m->values[i * m->cols + j] != 0)
                spy->counts[(size_t)scaled(i, m->rows, spy->rows) * spy->cols +
                            scaled(j, m->cols, spy->cols)]++;
    return EXIT_DONE;
}

void spy_free(struct spy *spy)
{
    free(spy->counts);
    spy->counts = NULL;
}

/* ---- Terminal ---- */

/* U+2800 plus one bit per dot in Unicode's order: three rows of the left column, three of the right
 * column, then the fourth row. */
static void put_braille(const struct spy *spy, unsigned row, unsigned col)
{
    static const unsigned char bits[4][2] = {
        { 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 }
    };
    unsigned dots = 0;
    for (unsigned i = 0; i < 4 && row + i < spy->rows; i++)
        for (unsigned j = 0; j < 2 && col + j < spy->cols; j++)
            if (spy->counts[(size_t)(row + i) * spy->cols + col + j]) dots |= bits[i][j];
    printf("%c%c%c", 0xe2, 0xa0 | (int)(dots >> 6), 0x80 | (int)(dots & 0x3f));
}

static void rule(const struct spy *spy, const char *left, const char *right)
{
    fputs(left, stdout);
    for (unsigned j = 0; j < spy->cols; j += 2) fputs("─", stdout);
    puts(right);
}

void spy_print(const struct spy *spy)
{
    rule(spy, "┌", "┐");
    for (unsigned i = 0; i < spy->rows; i += 4) {
        fputs("│", stdout);
        for (unsigned j = 0; j < spy->cols; j += 2) put_braille(spy, i, j);
        puts("│");
    }
    rule(spy, "└", "┘");
}

/* ---- PNG (ISO/IEC 15948) with stored blocks (RFC 1950, 1951) ---- */

struct png {
    struct io_output *output;
    struct io_error *error;
    io_status status;
    uint32_t crc;
};

static void put(struct png *png, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    if (png->status == IO_OK) png->status = io_write(png->output, bytes, n, png->error);
    for (size_t i = 0; i < n; i++) {
        png->crc ^= at[i];
        for (int bit = 0; bit < 8; bit++)
            png->crc = png->crc >> 1 ^ (png->crc & 1 ? 0xedb88320u : 0);
    }
}

static void put_u32(struct png *png, uint32_t value)
{
    const unsigned char bytes[4] = { (unsigned char)(value >> 24), (unsigned char)(value >> 16),
                                     (unsigned char)(value >> 8), (unsigned char)value };
    put(png, bytes, 4);
}

static void begin_chunk(struct png *png, size_t bytes, const char *type)
{
    put_u32(png, (uint32_t)bytes);
    png->crc = ~0u;
    put(png, type, 4);
}

static void end_chunk(struct png *png)
{
    put_u32(png, ~png->crc);
}

/* An empty cell is white; others are grey to black, on a logarithmic scale. */
static unsigned char shade(uint64_t count, uint64_t most)
{
    if (!count) return 255;
    return (unsigned char)(160 - 160 * (log1p((double)count) / log1p((double)most)));
}

static void put_pixels(struct png *png, const struct spy *spy, unsigned char *line)
{
    const size_t line_bytes = (size_t)spy->cols + 1;
    const size_t bytes = 2 + spy->rows * (5 + line_bytes) + 4;
    uint32_t low = 1, high = 0; /* Adler-32 */
    uint64_t most = 1;
    for (size_t i = 0; i < (size_t)spy->rows * spy->cols; i++)
        if (spy->counts[i] > most) most = spy->counts[i];
    begin_chunk(png, bytes, "IDAT");
    put(png, "\x78\x01", 2);
    for (unsigned i = 0; i < spy->rows; i++) {
        line[0] = 0; /* no filter */
        for (unsigned j = 0; j < spy->cols; j++)
            line[1 + j] = shade(spy->counts[(size_t)i * spy->cols + j], most);
        const unsigned n = (unsigned)line_bytes;
        const unsigned char block[5] = { i + 1 == spy->rows, (unsigned char)n,
                                         (unsigned char)(n >> 8), (unsigned char)~n,
                                         (unsigned char)(~n >> 8) };
        put(png, block, 5);
        put(png, line, line_bytes);
        for (size_t j = 0; j < line_bytes; j++) {
            low = (low + line[j]) % 65521;
            high = (high + low) % 65521;
        }
    }
    put_u32(png, high << 16 | low);
    end_chunk(png);
}

int spy_write_png(const struct spy *spy, const char *path)
{
    struct io_output output;
    struct io_error error;
    if (!spy->rows || !spy->cols)
        return cli_fail(EXIT_BAD, "%s: cannot draw a matrix without rows or columns", path);
    unsigned char *line = malloc((size_t)spy->cols + 1);
    if (!line) return cli_fail(EXIT_MEMORY, "out of memory: cannot allocate a line of the picture");
    struct png png = { &output, &error, io_create(&output, path, &error), 0 };
    if (png.status == IO_OK) {
        put(&png, "\x89PNG\r\n\x1a\n", 8);
        begin_chunk(&png, 13, "IHDR");
        put_u32(&png, spy->cols);
        put_u32(&png, spy->rows);
        put(&png, "\x08\0\0\0\0", 5); /* 8 bits of grey */
        end_chunk(&png);
        put_pixels(&png, spy, line);
        begin_chunk(&png, 0, "IEND");
        end_chunk(&png);
        if (png.status == IO_OK) png.status = io_commit(&output, &error);
        io_discard(&output);
    }
    free(line);
    return png.status == IO_OK ? EXIT_DONE : cli_fail_io(png.status, &error);
}
