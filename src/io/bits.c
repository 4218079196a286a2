/*
 * io/bits.c - which format a matrix of bits has; its memory; its rows as bytes.
 *
 * The extension counts first, then the first bytes, which in every format say what it is: those of
 * a bitmap, of .npy, of Matrix Market; else numbers, three on the first line of JCF and two on that
 * of an alist.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "io/bits.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const struct {
    const char *name, *extension;
    bool binary;
    io_status (*load)(struct io_scan *scan);
    io_status (*write)(struct io_output *output, io_bits_format format, const struct io_bits *bits,
                       struct io_error *error);
} formats[] = {
    [IO_BITS_PBM] = { "pbm", "pbm", true, io_bits_load_pbm, io_bits_write_pbm },
    [IO_BITS_PBM_TEXT] = { "pbm-text", "pbm", false, io_bits_load_pbm, io_bits_write_pbm },
    [IO_BITS_NPY] = { "npy", "npy", true, io_bits_load_npy, io_bits_write_npy },
    [IO_BITS_NPY_LITTLE] = { "npy-little", "npy", true, io_bits_load_npy, io_bits_write_npy },
    [IO_BITS_NPY_BIG] = { "npy-big", "npy", true, io_bits_load_npy, io_bits_write_npy },
    [IO_BITS_JCF] = { "jcf", "jcf", false, io_bits_load_jcf, io_bits_write_jcf },
    [IO_BITS_MTX] = { "mtx", "mtx", false, io_bits_load_mtx, io_bits_write_mtx },
    [IO_BITS_ALIST] = { "alist", "alist", false, io_bits_load_alist, io_bits_write_alist },
};

/* ---- Names ---- */

const char *io_bits_name(io_bits_format format)
{
    return formats[format].name;
}

int io_bits_from_name(const char *name)
{
    for (int i = 0; i < IO_BITS_FORMATS; i++)
        if (strcmp(name, formats[i].name) == 0) return i;
    return -1;
}

int io_bits_from_extension(const char *path)
{
    const char *slash = strrchr(path, '/'), *point = strrchr(path, '.');
    if (!point || (slash && point < slash)) return -1;
    for (int i = 0; i < IO_BITS_FORMATS; i++)
        if (strcasecmp(point + 1, formats[i].extension) == 0) return i;
    return -1;
}

bool io_bits_same_family(io_bits_format a, io_bits_format b)
{
    return strcmp(formats[a].extension, formats[b].extension) == 0;
}

bool io_bits_is_binary(io_bits_format format)
{
    return formats[format].binary;
}

/* ---- Memory ---- */

static uint64_t machine_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : INT64_MAX;
}

io_status io_bits_shape(struct io_scan *scan, uint64_t rows, uint64_t cols)
{
    struct io_bits *bits = scan->bits;
    uint64_t most = scan->hints->most_bytes ? scan->hints->most_bytes : machine_bytes();
    if (rows > io_bits_most || cols > io_bits_most)
        return io_fail(scan->error, IO_FAIL, scan->source->name,
                       "has %llu rows and %llu columns: at most %llu of each",
                       (unsigned long long)rows, (unsigned long long)cols,
                       (unsigned long long)io_bits_most);
    bits->rows = rows;
    bits->cols = cols;
    bits->stride = (size_t)((cols + 63) / 64);
    uint64_t words = rows * bits->stride; /* less than 2^58 */
    if (words > most / 8)
        return io_fail(scan->error, IO_FAIL, scan->source->name,
                       "has %llu rows and %llu columns, which take %llu bytes, more than the %llu "
                       "of this machine's memory",
                       (unsigned long long)rows, (unsigned long long)cols,
                       (unsigned long long)words * 8, (unsigned long long)most);
    return IO_OK;
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

/* ---- A whole file ---- */

/* How many numbers the first line of what is ahead has; 0 when it has anything else. */
static int first_numbers(const unsigned char *at, size_t n)
{
    int numbers = 0;
    bool inside = false;
    for (size_t i = 0; i < n && at[i] != '\n'; i++) {
        bool digit = at[i] >= '0' && at[i] <= '9';
        if (!digit && at[i] != ' ' && at[i] != '\t' && at[i] != '\r') return 0;
        numbers += digit && !inside;
        inside = digit;
    }
    return numbers;
}

static int guess(const unsigned char *at, size_t n)
{
    static const char market[] = "%%MatrixMarket", npy[] = "\x93NUMPY";
    if (n >= 2 && at[0] == 'P' && (at[1] == '1' || at[1] == '4')) return IO_BITS_PBM;
    if (n >= sizeof npy - 1 && memcmp(at, npy, sizeof npy - 1) == 0) return IO_BITS_NPY;
    if (n >= sizeof market - 1 && strncasecmp((const char *)at, market, sizeof market - 1) == 0)
        return IO_BITS_MTX;
    int numbers = first_numbers(at, n);
    return numbers == 3 ? IO_BITS_JCF : numbers == 2 ? IO_BITS_ALIST : -1;
}

io_status io_bits_load(struct io_source *source, const struct io_bits_hints *hints,
                       struct io_bits *bits, struct io_error *error)
{
    *bits = (struct io_bits){ 0 };
    struct io_scan scan = { .source = source,
                            .hints = hints,
                            .error = error,
                            .bits = bits,
                            .line = 1,
                            .size = source->size };
    int format = io_bits_from_extension(source->name);
    if (format < 0) {
        io_status status = io_look(source, error);
        if (status != IO_OK) return status;
        if (source->ahead_bytes == 0) return io_fail(error, IO_FAIL, source->name, "is empty");
        format = guess(source->ahead, source->ahead_bytes);
    }
    if (format < 0)
        return io_fail(error, IO_FAIL, source->name,
                       "cannot tell its format: not PBM, .npy, JCF, Matrix Market or alist");
    bits->format = (io_bits_format)format;
    io_status status = formats[format].load(&scan);
    if (status != IO_OK) io_bits_free(bits);
    return status;
}

io_status io_bits_write(struct io_output *output, io_bits_format format, const struct io_bits *bits,
                        struct io_error *error)
{
    return formats[format].write(output, format, bits, error);
}
