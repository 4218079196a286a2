/*
 * io/bits.h - reads and writes matrices of bits in several file formats.
 *
 *     bits.c        determines the format
 *     bits_rows.c   memory; converts rows from and to bytes
 *     bits_scan.c   words and numbers of a text, with line numbers
 *     bits_pbm.c    Netpbm bitmaps: P1 (text) and P4 (eight bits per byte)
 *     bits_jcf.c    M4RI's text format: rows of column numbers
 *     bits_npy.c    NumPy arrays: one element per bit, or packed bits
 *     bits_mtx.c    Matrix Market coordinate format
 *     bits_alist.c  MacKay's alist format of parity-check matrices
 *
 * Before memory is allocated, the size in a header is compared with the size of the file or, for
 * sparse formats, with the machine's memory and the size of the input.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_IO_BITS_H
#define ECHELON_IO_BITS_H

#include "io/io.h"

typedef enum io_bits_format {
    IO_BITS_PBM = 0,        /* P4 */
    IO_BITS_PBM_TEXT = 1,   /* P1 */
    IO_BITS_NPY = 2,        /* one element per bit */
    IO_BITS_NPY_LITTLE = 3, /* numpy.packbits(axis=1, bitorder="little") */
    IO_BITS_NPY_BIG = 4,    /* numpy.packbits(axis=1), bitorder="big" */
    IO_BITS_JCF = 5,
    IO_BITS_MTX = 6,
    IO_BITS_ALIST = 7,
    IO_BITS_FORMATS = 8
} io_bits_format;

/* Bit j of row i is bit j % 64 of words[i * stride + j / 64]; bits beyond cols are 0. */
struct io_bits {
    io_bits_format format; /* of the file it was read from */
    uint64_t rows, cols;   /* each less than 2^32 */
    size_t stride;         /* cols / 64, rounded up */
    uint64_t *words;       /* from malloc(); not NULL after a successful load */
};

struct io_bits_hints {
    int packed;          /* .npy is packed: IO_BITS_NPY_LITTLE or IO_BITS_NPY_BIG; not packed: -1 */
    uint64_t columns;    /* of a packed array; 0: all bits of its bytes */
    uint64_t most_bytes; /* memory limit of a matrix; 0: the machine's memory */
};

const char *io_bits_name(io_bits_format format); /* "pbm", "pbm-text", "npy-little" ... */
int io_bits_from_name(const char *name);         /* -1: unknown */
int io_bits_from_extension(const char *path);    /* -1: unknown */
bool io_bits_same_family(io_bits_format a, io_bits_format b); /* same extension */
bool io_bits_is_binary(io_bits_format format);

/* Reads source to its end.  On failure bits is empty. */
io_status io_bits_load(struct io_source *source, const struct io_bits_hints *hints,
                       struct io_bits *bits, struct io_error *error);
io_status io_bits_write(struct io_output *output, io_bits_format format, const struct io_bits *bits,
                        struct io_error *error);
void io_bits_free(struct io_bits *bits);

/* Allocates a matrix of zeros; name is used in the error message. */
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

/* The number of ones in a row. */
uint64_t io_bits_weight(const struct io_bits *bits, uint64_t row);
/* The column of the first one of a row at or after col; cols if there is none. */
uint64_t io_bits_next(const struct io_bits *bits, uint64_t row, uint64_t col);

/* ---- Shared by the formats ---- */

/* The state of a reader. */
struct io_scan {
    struct io_source *source;
    const struct io_bits_hints *hints;
    struct io_error *error;
    struct io_bits *bits;
    uint64_t line;    /* of the next byte, from 1 */
    uint64_t taken;   /* bytes consumed */
    uint64_t size;    /* of the source; 0: unknown */
    io_status status; /* distinguishes a read error from the end of the source */
};

/* Reads more of the source and returns the next byte, as io_scan_peek(). */
int io_scan_fill(struct io_scan *scan);

/* Return the next byte, without and with consuming it; -1 at the end or after a read error. */
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

/* Skip blanks within the line, and blanks and newlines. */
void io_scan_blanks(struct io_scan *scan);
void io_scan_space(struct io_scan *scan);
/* Parse a number of at most most, after blanks and newlines.  what names it in a message. */
io_status io_scan_number(struct io_scan *scan, const char *what, uint64_t most, uint64_t *value);
io_status io_scan_signed(struct io_scan *scan, const char *what, uint64_t most, bool *negative,
                         uint64_t *value);
/* Fails unless only blanks and newlines follow. */
io_status io_scan_end(struct io_scan *scan, const char *after);
/* Writes the message "name: line 7 <message>", unless there is a read error. */
io_status io_scan_fail(struct io_scan *scan, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The maximum number of rows and columns. */
static const uint64_t io_bits_most = UINT32_MAX;

/* Set rows, cols and stride, and check the memory limit; allocate all rows as zeros; allocate only
 * the first rows, and more in later calls. */
io_status io_bits_shape(struct io_scan *scan, uint64_t rows, uint64_t cols);
io_status io_bits_allocate(struct io_scan *scan);
io_status io_bits_reserve(struct io_scan *scan, uint64_t rows, uint64_t *reserved);

/* Fill an allocated matrix from rows of bytes, and convert a row to ceil(cols / 8) bytes.  The
 * first bit of a byte is its lowest or its highest.  Padding bits are ignored. */
void io_bits_from_bytes(struct io_bits *bits, const unsigned char *bytes, bool highest_first);
void io_bits_to_bytes(const struct io_bits *bits, uint64_t row, bool highest_first,
                      unsigned char *bytes);

/* Writes a decimal number followed by a character. */
io_status io_write_number(struct io_output *output, uint64_t value, char after,
                          struct io_error *error);

io_status io_bits_load_pbm(struct io_scan *scan);
io_status io_bits_load_jcf(struct io_scan *scan);
io_status io_bits_load_npy(struct io_scan *scan);
io_status io_bits_load_mtx(struct io_scan *scan);
io_status io_bits_load_alist(struct io_scan *scan);

/* format selects a variant if the format has several. */
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
