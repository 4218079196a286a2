/*
 * io/bits.h - reads a matrix of bits from a file of any of the formats that such matrices come in,
 * and writes one.
 *
 *     bits.c        which format it is
 *     bits_rows.c   memory; a matrix from rows of bytes and back
 *     bits_scan.c   the words and numbers of a text, with the line they are on
 *     bits_pbm.c    Netpbm's bitmaps: P1, text, and P4, eight bits a byte
 *     bits_jcf.c    M4RI's text: rows of column numbers
 *     bits_npy.c    NumPy's arrays: a byte or an integer a bit, or packed
 *     bits_mtx.c    Matrix Market's coordinates
 *     bits_alist.c  MacKay's parity-check matrices
 *
 * What a header says of the size is held against the bytes that are there, or, where a few bytes
 * may stand for many, against the machine's memory, before memory is asked for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_IO_BITS_H
#define ECHELON_IO_BITS_H

#include "io/io.h"

typedef enum io_bits_format {
    IO_BITS_PBM = 0,        /* P4 */
    IO_BITS_PBM_TEXT = 1,   /* P1 */
    IO_BITS_NPY = 2,        /* a byte a bit */
    IO_BITS_NPY_LITTLE = 3, /* numpy.packbits(axis=1, bitorder="little") */
    IO_BITS_NPY_BIG = 4,    /* and "big", which is NumPy's default */
    IO_BITS_JCF = 5,
    IO_BITS_MTX = 6,
    IO_BITS_ALIST = 7,
    IO_BITS_FORMATS = 8
} io_bits_format;

/* Bit j of row i is bit j % 64 of words[i * stride + j / 64]; bits beyond cols are 0. */
struct io_bits {
    io_bits_format format; /* that it was read in */
    uint64_t rows, cols;   /* each less than 2^32 */
    size_t stride;         /* cols / 64, rounded up */
    uint64_t *words;       /* from malloc(); never NULL once a matrix is there */
};

struct io_bits_hints {
    int packed; /* IO_BITS_NPY_LITTLE or IO_BITS_NPY_BIG: what an array of bytes is; else -1 */
    uint64_t columns;    /* of a packed array; 0: as many as its bytes have bits */
    uint64_t most_bytes; /* that a matrix may take; 0: the machine's memory */
};

const char *io_bits_name(io_bits_format format); /* "pbm", "pbm-text", "npy-little" ... */
int io_bits_from_name(const char *name);         /* -1 when there is none */
int io_bits_from_extension(const char *path);    /* -1 when it says nothing */
bool io_bits_same_family(io_bits_format a, io_bits_format b); /* of one extension */
bool io_bits_is_binary(io_bits_format format);

/* Reads source to its end.  On failure bits holds nothing. */
io_status io_bits_load(struct io_source *source, const struct io_bits_hints *hints,
                       struct io_bits *bits, struct io_error *error);
io_status io_bits_write(struct io_output *output, io_bits_format format, const struct io_bits *bits,
                        struct io_error *error);
void io_bits_free(struct io_bits *bits);

/* A matrix of zeros; name is for the message when there is no memory. */
io_status io_bits_zeros(struct io_bits *bits, uint64_t rows, uint64_t cols, const char *name,
                        struct io_error *error);

static inline bool io_bits_get(const struct io_bits *bits, uint64_t row, uint64_t col)
{
    return bits->words[row * bits->stride + col / 64] >> col % 64 & 1;
}

static inline void io_bits_set(struct io_bits *bits, uint64_t row, uint64_t col)
{
    bits->words[row * bits->stride + col / 64] |= (uint64_t)1 << col % 64;
}

/* The ones of a row. */
uint64_t io_bits_weight(const struct io_bits *bits, uint64_t row);
/* The first one of a row at or after col; cols when there is none. */
uint64_t io_bits_next(const struct io_bits *bits, uint64_t row, uint64_t col);

/* ---- What the formats share ---- */

/* A matrix being read. */
struct io_scan {
    struct io_source *source;
    const struct io_bits_hints *hints;
    struct io_error *error;
    struct io_bits *bits;
    uint64_t line;    /* of the next byte, from 1 */
    uint64_t taken;   /* bytes */
    uint64_t size;    /* of all of the source, 0 when that is not known */
    io_status status; /* of reading: a byte that does not come may be the end, or an error */
};

/* Looks at more of the source, and what io_scan_peek() then returns. */
int io_scan_fill(struct io_scan *scan);

/* The next byte, left where it is or taken; -1 at the end, or when it cannot be read. */
static inline int io_scan_peek(struct io_scan *scan)
{
    return scan->source->ahead_bytes ? *scan->source->ahead : io_scan_fill(scan);
}

static inline int io_scan_take(struct io_scan *scan)
{
    int c = io_scan_peek(scan);
    if (c < 0) return c;
    scan->source->ahead++;
    scan->source->ahead_bytes--;
    scan->line += c == '\n';
    scan->taken++;
    return c;
}

/* Skips blanks of the line; or also ends of lines. */
void io_scan_blanks(struct io_scan *scan);
void io_scan_space(struct io_scan *scan);
/* A number of at most most, after blanks and ends of lines; what it is, for the message. */
io_status io_scan_number(struct io_scan *scan, const char *what, uint64_t most, uint64_t *value);
io_status io_scan_signed(struct io_scan *scan, const char *what, uint64_t most, bool *negative,
                         uint64_t *value);
/* Nothing but blanks and ends of lines may follow. */
io_status io_scan_end(struct io_scan *scan, const char *after);
/* "name: line 7 <message>", or what reading failed of. */
io_status io_scan_fail(struct io_scan *scan, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What a number of rows or columns can be. */
static const uint64_t io_bits_most = UINT32_MAX;

/* Sets rows, cols and stride, and refuses a matrix past the limit; then all its memory, zero; or
 * memory for the first rows alone, which grows. */
io_status io_bits_shape(struct io_scan *scan, uint64_t rows, uint64_t cols);
io_status io_bits_allocate(struct io_scan *scan);
io_status io_bits_reserve(struct io_scan *scan, uint64_t rows, uint64_t *reserved);

/* Fills the matrix, allocated, from rows of bytes, the first bit the lowest or the highest; spare
 * bits do not matter.  And a row back, into cols / 8 bytes, rounded up. */
void io_bits_from_bytes(struct io_bits *bits, const unsigned char *bytes, bool highest_first);
void io_bits_to_bytes(const struct io_bits *bits, uint64_t row, bool highest_first,
                      unsigned char *bytes);

/* A number in decimal, and after it a character. */
io_status io_write_number(struct io_output *output, uint64_t value, char after,
                          struct io_error *error);

io_status io_bits_load_pbm(struct io_scan *scan);
io_status io_bits_load_jcf(struct io_scan *scan);
io_status io_bits_load_npy(struct io_scan *scan);
io_status io_bits_load_mtx(struct io_scan *scan);
io_status io_bits_load_alist(struct io_scan *scan);

/* format: which of its variants, where there are some. */
io_status io_bits_write_pbm(struct io_output *output, io_bits_format format,
                            const struct io_bits *bits, struct io_error *error);
io_status io_bits_write_jcf(struct io_output *output, io_bits_format format,
                            const struct io_bits *bits, struct io_error *error);
io_status io_bits_write_npy(struct io_output *output, io_bits_format format,
                            const struct io_bits *bits, struct io_error *error);
io_status io_bits_write_mtx(struct io_output *output, io_bits_format format,
                            const struct io_bits *bits, struct io_error *error);
io_status io_bits_write_alist(struct io_output *output, io_bits_format format,
                              const struct io_bits *bits, struct io_error *error);

#endif
