/*
 * io/bits_rows.c - memory of a matrix of bits, with a limit; converts rows from and to bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/bits.h"

#include <stdlib.h>
#include <string.h>

/* ---- Memory ---- */

io_status io_bits_shape(struct io_scan *scan, uint64_t rows, uint64_t cols)
{
    struct io_bits *bits = scan->bits;
    uint64_t most = scan->hints->most_bytes ? scan->hints->most_bytes : io_machine_bytes();
    if (rows > io_bits_most || cols > io_bits_most)
        return io_fail(scan->error, IO_FAIL, scan->source->name,
                       "has %llu rows and %llu columns; the maximum of each is %llu",
                       (unsigned long long)rows, (unsigned long long)cols,
                       (unsigned long long)io_bits_most);
    bits->rows = rows;
    bits->cols = cols;
    bits->stride = (size_t)((cols + 63) / 64);
    uint64_t words = rows * bits->stride; /* less than 2^58 */
    if (words > most / 8)
        return io_fail(scan->error, IO_FAIL, scan->source->name,
                       "has %llu rows and %llu columns, which need %llu bytes of memory; the "
                       "machine has %llu",
                       (unsigned long long)rows, (unsigned long long)cols,
                       (unsigned long long)words * 8, (unsigned long long)most);
    /* A one in a sparse format has at least two bytes, and a row of ones may be long. */
    if (!scan->size) return IO_OK;
    return io_check_memory(scan->error, scan->source->name, rows, cols, 8 * words, scan->size,
                           1024);
}

io_status io_bits_allocate(struct io_scan *scan)
{
    struct io_bits *bits = scan->bits;
    return io_bits_zeros(bits, bits->rows, bits->cols, scan->source->name, scan->error);
}

io_status io_bits_reserve(struct io_scan *scan, uint64_t rows, uint64_t *reserved)
{
    enum { FIRST = 1 << 13 }; /* words */
    struct io_bits *bits = scan->bits;
    if (rows <= *reserved && bits->words) return IO_OK;
    size_t stride = bits->stride;
    uint64_t more = *reserved ? 2 * *reserved : stride ? FIRST / stride + 1 : rows;
    if (more < rows) more = rows;
    if (more > bits->rows) more = bits->rows;
    uint64_t *words = realloc(bits->words, (size_t)(more * stride + 1) * sizeof *words);
    if (!words) return io_no_memory(scan->error, scan->source->name, more * stride * 8, "its bits");
    memset(words + *reserved * stride, 0, (size_t)((more - *reserved) * stride) * sizeof *words);
    bits->words = words;
    *reserved = more;
    return IO_OK;
}

io_status io_bits_zeros(struct io_bits *bits, uint64_t rows, uint64_t cols, const char *name,
                        struct io_error *error)
{
    bits->rows = rows;
    bits->cols = cols;
    bits->stride = (size_t)((cols + 63) / 64);
    bits->words = calloc((size_t)(rows * bits->stride) + 1, sizeof *bits->words);
    if (bits->words) return IO_OK;
    return io_no_memory(error, name, rows * bits->stride * 8, "its bits");
}

void io_bits_free(struct io_bits *bits)
{
    free(bits->words);
    *bits = (struct io_bits){ 0 };
}

/* ---- Rows ---- */

uint64_t io_bits_weight(const struct io_bits *bits, uint64_t row)
{
    const uint64_t *words = bits->words + row * bits->stride;
    uint64_t ones = 0;
    for (size_t i = 0; i < bits->stride; i++) ones += (uint64_t)__builtin_popcountll(words[i]);
    return ones;
}

uint64_t io_bits_next(const struct io_bits *bits, uint64_t row, uint64_t col)
{
    const uint64_t *words = bits->words + row * bits->stride;
    size_t i = (size_t)(col / 64);
    if (col >= bits->cols) return bits->cols;
    uint64_t word = words[i] & ~(uint64_t)0 << col % 64;
    while (!word && ++i < bits->stride) word = words[i];
    return word ? i * 64 + (uint64_t)__builtin_ctzll(word) : bits->cols;
}

static unsigned char reversed(unsigned char byte)
{
    unsigned b = byte;
    b = (b & 0x0f) << 4 | b >> 4;
    b = (b & 0x33) << 2 | (b >> 2 & 0x33);
    b = (b & 0x55) << 1 | (b >> 1 & 0x55);
    return (unsigned char)b;
}

void io_bits_from_bytes(struct io_bits *bits, const unsigned char *bytes, bool highest_first)
{
    size_t row_bytes = (size_t)((bits->cols + 7) / 8);
    if (row_bytes == 0) return;
    uint64_t last = bits->cols % 64 ? ((uint64_t)1 << bits->cols % 64) - 1 : ~(uint64_t)0;
    for (uint64_t i = 0; i < bits->rows; i++, bytes += row_bytes) {
        uint64_t *words = bits->words + i * bits->stride;
        for (size_t k = 0; k < row_bytes; k++) {
            unsigned char byte = highest_first ? reversed(bytes[k]) : bytes[k];
            words[k / 8] |= (uint64_t)byte << 8 * (k % 8);
        }
        words[bits->stride - 1] &= last;
    }
}

void io_bits_to_bytes(const struct io_bits *bits, uint64_t row, bool highest_first,
                      unsigned char *bytes)
{
    const uint64_t *words = bits->words + row * bits->stride;
    size_t row_bytes = (size_t)((bits->cols + 7) / 8);
    for (size_t k = 0; k < row_bytes; k++) {
        unsigned char byte = (unsigned char)(words[k / 8] >> 8 * (k % 8));
        bytes[k] = highest_first ? reversed(byte) : byte;
    }
}

io_status io_write_number(struct io_output *output, uint64_t value, char after,
                          struct io_error *error)
{
    char text[24];
    size_t at = sizeof text;
    text[--at] = after;
    do text[--at] = (char)('0' + value % 10);
    while (value /= 10);
    return io_write(output, text + at, sizeof text - at, error);
}
