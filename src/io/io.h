/*
 * io/io.h - reads a column of numbers from a .npy, raw or text file, and writes one without ever
 * leaving half a file.
 *
 *     source.c   bytes of a file, a pipe or memory, with a look ahead
 *     format.c   which of the formats it is; loads a column in it
 *     npy.c      the header of a .npy file, read and written
 *     number.c   one number from text
 *     field.c    one of several columns of a line
 *     text.c     a column of numbers from lines
 *     key.c      the order of keys, byte order, half precision
 *     output.c   a file that appears whole or not at all
 *
 * These files are not part of libechelon: the command and the tests link them.  No reader trusts
 * what it reads: a length is compared with the bytes that are there before memory is asked for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_IO_H
#define ECHELON_IO_H

#include "echelon.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef enum io_status {
    IO_OK = 0,
    IO_FAIL = 1,  /* bad input, or the system refused to read or write */
    IO_MEMORY = 2 /* out of memory */
} io_status;

/* Why a call failed, in a sentence that begins with the name of the file. */
struct io_error {
    char text[1024];
};

/* Writes "<name>: <message>" and returns status. */
io_status io_fail(struct io_error *error, io_status status, const char *name, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));
#ifdef __clang_analyzer__ /* clang-tidy reads one file at a time; here it sees what is returned */
#define io_fail(error, status, ...) ((void)io_fail(error, status, __VA_ARGS__), (status))
#endif

/* Out of memory for bytes of what, as a message. */
io_status io_no_memory(struct io_error *error, const char *name, uint64_t bytes, const char *what);

/* Called now and then while bytes move; total 0 when it is not known. */
struct io_progress {
    void (*tick)(void *user, uint64_t done_bytes, uint64_t total_bytes);
    void *user;
};

enum {
    IO_BLOCK = 16 << 20, /* most that one read() or write() is asked for */
    IO_LOOK = 4096,      /* bytes of look ahead, from which a format is guessed */
    IO_BUFFER = 1 << 20  /* bytes that an output collects before it writes them */
};

/* ---- Source: source.c ---- */

struct io_source {
    int fd;                     /* -1: the bytes ahead are all there is */
    const char *name;           /* for messages; "standard input" for "-" */
    uint64_t size;              /* bytes left when it was opened; 0 when that is not known */
    const unsigned char *ahead; /* read but not yet taken */
    size_t ahead_bytes;
    unsigned char look[IO_LOOK];
    const struct io_progress *progress; /* may be NULL */
};

/* path "-" is standard input. */
io_status io_open(struct io_source *source, const char *path, struct io_error *error);
/* The bytes themselves, which stay the caller's. */
void io_open_memory(struct io_source *source, const char *name, const void *bytes, size_t n);
void io_close(struct io_source *source);

/* Makes up to IO_LOOK first bytes visible in source->ahead. */
io_status io_look(struct io_source *source, struct io_error *error);

/* Reads up to want bytes; fewer only at the end. */
io_status io_read(struct io_source *source, void *to, size_t want, size_t *got,
                  struct io_error *error);

/*
 * Reads up to most bytes into memory from malloc(), grown as bytes arrive, so that a length which
 * nobody has checked costs nothing.  spare more bytes can be written behind them.  expected sizes
 * the first allocation.
 */
io_status io_read_all(struct io_source *source, uint64_t most, uint64_t expected, size_t spare,
                      void **bytes, size_t *got, struct io_error *error);

/* ---- Keys: key.c ---- */

/* How keys compare; the same order as the library's. */
struct io_order {
    ech_dtype dtype;
    ech_order order;
    bool descending;
    bool merged;            /* -0 equals +0 and every NaN is the same, as in stable sorts */
    int begin_bit, end_bit; /* end_bit 0: all bits */
};

/* The key at p as an unsigned number of its own width that orders as keys do: a before b exactly
 * when io_rank(a) < io_rank(b). */
uint64_t io_rank(const struct io_order *order, const void *p);

/* The bits of the key that has this rank in ascending totalOrder. */
uint64_t io_unrank(ech_dtype dtype, uint64_t rank);

/* First i in 1 .. n-1 with keys[i] before keys[i-1], or not after it when strictly; n if none. */
uint64_t io_first_unsorted(const struct io_order *order, const void *keys, uint64_t n,
                           bool strictly);

/* Moves the first of each run of equal keys to the front; values, where not NULL, along with them.
 * Returns how many runs there are. */
uint64_t io_unique(const struct io_order *order, void *keys, uint64_t *values, uint64_t n);

/* The same for an index of 32 or 64 bits into keys. */
uint64_t io_unique_index(const struct io_order *order, const void *keys, void *index,
                         size_t index_bytes, uint64_t n);

bool io_is_float(ech_dtype dtype);
bool io_is_signed(ech_dtype dtype);    /* floats are */
int io_fraction_bits(ech_dtype dtype); /* of a float's significand, without the implicit one */
uint64_t io_load(const void *p, size_t bytes);
void io_store(void *p, size_t bytes, uint64_t value);

/* Reverses the bytes of each of n elements. */
void io_swap(void *elements, uint64_t n, size_t element_bytes);

/* To and from 16-bit floats, rounding to nearest even. */
uint16_t io_half_from_double(ech_dtype dtype, double x);
double io_half_to_double(ech_dtype dtype, uint16_t bits);

/* ---- Numbers: number.c ---- */

typedef enum io_number {
    IO_NUMBER_OK,
    IO_NUMBER_BAD,      /* not a number */
    IO_NUMBER_FRACTION, /* a number, but no integer */
    IO_NUMBER_RANGE     /* does not fit the type */
} io_number;

/*
 * Each parses all of [at, end), blanks at both ends allowed; *end must be readable and no part of a
 * number.  A carriage return counts as a blank.
 */
io_number io_parse_integer(const char *at, const char *end, bool *negative, uint64_t *magnitude);
io_number io_parse_float(const char *at, const char *end, double *value);
/* Stores the number as a dtype at key. */
io_number io_parse_key(const char *at, const char *end, ech_dtype dtype, void *key);

/* The key, of integers of 64 bits the nearest. */
double io_key_to_double(ech_dtype dtype, const void *key);

/* Longest text that io_format_key() writes, its terminator included. */
enum { IO_NUMBER_TEXT = 40 };
/* In the fewest digits that parse to the same key (any NaN becomes nan or -nan); returns the
 * length. */
size_t io_format_key(ech_dtype dtype, const void *key, char *text);

/* ---- A column of numbers: format.c ---- */

typedef enum io_format { IO_NPY = 0, IO_RAW = 1, IO_TEXT = 2, IO_FORMATS = 3 } io_format;

const char *io_format_name(io_format format);
int io_format_from_name(const char *name);      /* -1 when there is none */
int io_format_from_extension(const char *path); /* -1 when it says nothing */
int io_dtype_from_extension(const char *path);  /* x.u32 is raw u32; -1 when it says nothing */

struct io_npy {
    ech_dtype dtype;
    uint64_t n;          /* of all dimensions together */
    uint64_t dimensions; /* at least 1 */
    uint64_t columns;    /* length of the last dimension */
    uint64_t rows;       /* that of all others together */
    bool fortran;        /* the first dimension is the one whose neighbours are adjacent */
    bool big_endian;
    bool boolean;
    char descr[16];      /* as in the file: "<f4" */
    size_t header_bytes; /* all before the data */
};

struct io_column {
    io_format format;
    ech_dtype dtype;
    uint64_t n;
    void *keys; /* [n] of dtype in this machine's byte order; from malloc() */
    size_t keys_bytes;
    struct io_npy npy; /* IO_NPY alone, as the rest of these two lines */
    unsigned char *header;
    char *text; /* IO_TEXT alone, as the rest: the file, each line ended by '\n' */
    size_t text_bytes;
    size_t head_bytes; /* of a first line that names the columns, and is in no way a number */
    uint64_t *lines;   /* [n] where in text each line begins */
};

/* Which of the columns of a text is meant. */
struct io_field {
    const char *column; /* its number, from 1, or its name in the first line; NULL: there is one */
    char delimiter;     /* 0: the first of tab, comma and semicolon that the first line has, else
                           blanks, as many as there are */
};

/* What the user said of the file; -1 when nothing. */
struct io_hints {
    int format;
    int dtype;
    int dimensions;        /* most that a .npy array may have; 0: one */
    struct io_field field; /* of text */
};

/* Finds the format of source: hints, else its extension, else its first bytes. */
io_status io_detect(struct io_source *source, const struct io_hints *hints, io_format *format,
                    int *dtype, struct io_error *error);

/* Reads source to its end.  On failure column holds nothing. */
io_status io_load_column(struct io_source *source, const struct io_hints *hints,
                         struct io_column *column, struct io_error *error);
void io_free_column(struct io_column *column);

/* ---- .npy: npy.c ---- */

/* How long the header is, from the first n bytes of a file; 12 tell. */
io_status io_npy_header_bytes(const unsigned char *bytes, size_t n, const char *name,
                              size_t *header_bytes, struct io_error *error);
/* Reads a whole header, of that length.  hints->dtype ECH_BF16 says what '<u2' stands for. */
io_status io_npy_parse(const unsigned char *header, size_t header_bytes, const char *name,
                       const struct io_hints *hints, struct io_npy *npy, struct io_error *error);

/* Writes a header of version 1 for n elements into header, which holds IO_NPY_HEADER bytes; its
 * length, a multiple of 64. */
enum { IO_NPY_HEADER = 192 };
size_t io_npy_header(const char *descr, uint64_t n, unsigned char *header);
/* The same of two dimensions, of columns each, and of a descr that is written as it is given, so
 * that it can be a list of fields; columns 0: of one dimension. */
size_t io_npy_header_of(const char *descr, uint64_t n, uint64_t columns, unsigned char *header);
/* The same of two dimensions in any case. */
size_t io_npy_header_matrix(const char *descr, uint64_t rows, uint64_t columns,
                            unsigned char *header);
/* The descr of dtype in little endian; NULL for bf16, which .npy has no name for. */
const char *io_npy_descr(ech_dtype dtype);

io_status io_npy_load(struct io_source *source, const struct io_hints *hints,
                      struct io_column *column, struct io_error *error);

/* ---- Columns of text: field.c ---- */

/* Where the number of a line stands. */
struct io_cut {
    uint64_t number; /* of the column, from 1; 0: the whole line */
    char delimiter;  /* 0: blanks */
};

/* Makes [*at, *end), a line, the column of it that is meant, without its quotes.  Returns the
 * number of the column, less when the line has only so many. */
uint64_t io_cut_line(const struct io_cut *cut, const char **at, const char **end);

/* Finds out from the first line of text where the number stands, and whether that line names the
 * columns: its length then is in column->head_bytes. */
io_status io_find_field(struct io_column *column, const struct io_field *field, const char *name,
                        struct io_cut *cut, struct io_error *error);

/* ---- Text: text.c ---- */

/* Reads the text alone, into column->text, each line ended by '\n'. */
io_status io_text_read(struct io_source *source, struct io_column *column, struct io_error *error);
/* Fills column->lines, for n lines. */
io_status io_text_lines(struct io_column *column, const char *name, struct io_error *error);
/* Parses text, already there; hints->dtype -1 chooses. */
io_status io_text_parse(struct io_column *column, const struct io_hints *hints, const char *name,
                        const struct io_progress *progress, struct io_error *error);
io_status io_text_load(struct io_source *source, const struct io_hints *hints,
                       struct io_column *column, struct io_error *error);

/* ---- Output: output.c ---- */

struct io_output {
    int fd;
    const char *name; /* for messages */
    char *path;       /* of the file to be, NULL for a stream */
    char *temporary;  /* beside it, until io_commit() */
    char *buffer;     /* [IO_BUFFER], of which used are not yet written */
    size_t used;
    uint64_t written_bytes;
    const struct io_progress *progress;
    uint64_t total_bytes; /* for progress; 0: not known */
};

/*
 * Opens path, "-" or NULL for standard output.  A regular file, or one to be, is written as a
 * temporary file beside it, which io_commit() makes it; a device or a pipe is written directly.
 * A signal that ends the program removes the temporary file.
 */
io_status io_create(struct io_output *output, const char *path, struct io_error *error);
io_status io_write(struct io_output *output, const void *bytes, size_t n, struct io_error *error);
/* Flushes, checks, and puts the file in its place. */
io_status io_commit(struct io_output *output, struct io_error *error);
/* Gives up what was not committed; harmless after io_commit(). */
void io_discard(struct io_output *output);

#endif
