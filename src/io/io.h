/*
 * io/io.h - reads a column of numbers from a .npy, raw or text file, and writes one atomically.
 *
 *     source.c   bytes of a file, a pipe or memory, with look-ahead; decompresses them
 *     format.c   determines the format of a file; loads a column
 *     npy.c      reads and writes the header of a .npy file
 *     number.c   converts a number from and to text
 *     record.c   lines, or records of CSV
 *     field.c    one of several columns of a record
 *     text.c     a column of numbers from records of text; text_scan.c checks one block by block
 *     key.c      the order of keys, byte order, half precision
 *     output.c   writes a file completely or not at all
 *     temporary.c  temporary files, and a folder for the files of another program
 *
 * These files are not part of libechelon: the command and the tests link them.  Readers do not
 * trust their input: they compare a length with the available bytes before they allocate memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_IO_H
#define ECHELON_IO_H

#include "echelon.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

typedef enum io_status {
    IO_OK = 0,
    IO_FAIL = 1,  /* invalid input, or reading or writing failed */
    IO_MEMORY = 2 /* out of memory */
} io_status;

/* The error message, which begins with the name of the file. */
struct io_error {
    char text[1024];
};

/* Writes "<name>: <message>" and returns status. */
io_status io_fail(struct io_error *error, io_status status, const char *name, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));
#ifdef __clang_analyzer__ /* clang-tidy reads one file at a time; here it sees what is returned */
#define io_fail(error, status, ...) ((void)io_fail(error, status, __VA_ARGS__), (status))
#endif

/* Writes a message that bytes for what cannot be allocated; returns IO_MEMORY. */
io_status io_no_memory(struct io_error *error, const char *name, uint64_t bytes, const char *what);

/*
 * Fails if a matrix that needs need bytes of memory is too large for the number of bytes that were
 * read: more than 1 GiB and per_byte bytes per byte.  A short file with a large header is invalid.
 * For a compressed file, input_bytes counts the bytes that were decompressed.
 */
io_status io_check_memory(struct io_error *error, const char *name, uint64_t rows, uint64_t cols,
                          uint64_t need, uint64_t input_bytes, uint64_t per_byte);
uint64_t io_machine_bytes(void); /* physical memory */

/* open(), again if a signal interrupts it; the file is closed in child processes that exec(). */
int io_open_file(const char *path, int flags);

/* Called repeatedly during reads and writes; total_bytes is 0 if unknown. */
struct io_progress {
    void (*tick)(void *user, uint64_t done_bytes, uint64_t total_bytes);
    void *user;
};

enum {
    IO_BLOCK = 16 << 20, /* maximum size of one read() or write() */
    IO_LOOK = 4096,      /* bytes of look-ahead, which determine the format */
    IO_BUFFER = 1 << 20  /* size of the buffer of an output */
};

/* ---- Source: source.c ---- */

struct io_source {
    int fd;                       /* -1: all bytes are in ahead */
    const char *name;             /* for messages; "standard input" for "-" */
    uint64_t size;                /* remaining bytes when it was opened; 0: unknown */
    uint64_t file_bytes;          /* the same, but before decompression */
    bool detect;                  /* the first bytes decide whether it is compressed */
    const struct io_codec *codec; /* NULL: not compressed */
    struct io_unpack *unpack;     /* NULL: no byte was decompressed */
    const unsigned char *ahead;   /* bytes that were read but not yet consumed */
    size_t ahead_bytes;
    unsigned char look[IO_LOOK];
    const struct io_progress *progress; /* may be NULL */
};

/* path "-" is standard input.  If its first bytes are those of a compressed file, the source is the
 * decompressed contents; not if the extension means raw elements, and .gz or .zst does not follow.
 */
io_status io_open(struct io_source *source, const char *path, struct io_error *error);
/* Reads from memory, which the caller owns.  To decompress it, set source->detect. */
void io_open_memory(struct io_source *source, const char *name, const void *bytes, size_t n);
void io_close(struct io_source *source);

/* The bytes are raw elements, also if they begin as a compressed file.  Without effect if the
 * extension is .gz or .zst.  Call it before the first byte is read. */
void io_set_raw(struct io_source *source);

/* Reads up to IO_LOOK bytes into source->ahead. */
io_status io_look(struct io_source *source, struct io_error *error);

/* Reads want bytes; fewer only at the end of the source. */
io_status io_read(struct io_source *source, void *to, size_t want, size_t *got,
                  struct io_error *error);

/*
 * Reads up to most bytes into memory from malloc(), which grows as bytes arrive, so that an
 * unverified length does not allocate memory.  The memory has room for spare more bytes.  expected
 * determines the size of the first allocation.
 */
io_status io_read_all(struct io_source *source, uint64_t most, uint64_t expected, size_t spare,
                      void **bytes, size_t *got, struct io_error *error);

/* ---- Keys: key.c ---- */

/* The order of keys, identical to that of the library. */
struct io_order {
    ech_dtype dtype;
    ech_order order;
    bool descending;
    bool merged;            /* -0 equals +0 and all NaN are equal, as in stable sorts */
    int begin_bit, end_bit; /* end_bit 0: all bits */
};

/* Maps the key at p to an unsigned integer such that a precedes b if and only if
 * io_rank(a) < io_rank(b). */
uint64_t io_rank(const struct io_order *order, const void *p);

/* Returns the bits of the key with this rank in ascending totalOrder. */
uint64_t io_unrank(ech_dtype dtype, uint64_t rank);

/* The first i in 1 .. n-1 such that keys[i] precedes keys[i-1], or, if strictly, does not follow
 * it; n if there is none. */
uint64_t io_first_unsorted(const struct io_order *order, const void *keys, uint64_t n,
                           bool strictly);

/* Moves the first key of each run of equal keys to the front, and its value unless values is NULL.
 * Returns the number of runs. */
uint64_t io_unique(const struct io_order *order, void *keys, uint64_t *values, uint64_t n);

/* The same for indices of 32 or 64 bits into keys. */
uint64_t io_unique_index(const struct io_order *order, const void *keys, void *index,
                         size_t index_bytes, uint64_t n);

bool io_is_float(ech_dtype dtype);
bool io_is_signed(ech_dtype dtype);    /* floats are */
int io_fraction_bits(ech_dtype dtype); /* bits of a float's significand, without the implicit one */
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
    IO_NUMBER_FRACTION, /* a number, but not an integer */
    IO_NUMBER_RANGE     /* out of the range of the type */
} io_number;

/*
 * These functions parse all of [at, end), with optional blanks at both ends.  *end must be readable
 * and must not be part of a number.  A carriage return counts as a blank.
 */
io_number io_parse_integer(const char *at, const char *end, bool *negative, uint64_t *magnitude);
io_number io_parse_float(const char *at, const char *end, double *value);
/* Stores the number as dtype at key. */
io_number io_parse_key(const char *at, const char *end, ech_dtype dtype, void *key);

/* Converts a key; 64-bit integers are rounded to nearest. */
double io_key_to_double(ech_dtype dtype, const void *key);

/* The maximum size of the text that io_format_key() writes, including its terminator. */
enum { IO_NUMBER_TEXT = 40 };
/* Formats a key in the fewest digits that parse to the same key (NaN becomes nan or -nan).  Returns
 * the length. */
size_t io_format_key(ech_dtype dtype, const void *key, char *text);

/* ---- A column of numbers: format.c ---- */

typedef enum io_format { IO_NPY = 0, IO_RAW = 1, IO_TEXT = 2, IO_FORMATS = 3 } io_format;

/* The extension of the file name without .gz or .zst; "" if there is none or it is long. */
enum { IO_EXTENSION = 16 };
void io_extension(const char *path, char text[IO_EXTENSION]);

const char *io_format_name(io_format format);
int io_format_from_name(const char *name);      /* -1: unknown */
int io_format_from_extension(const char *path); /* -1: unknown */
int io_dtype_from_extension(const char *path);  /* x.u32 is raw u32; -1: unknown */

struct io_npy {
    ech_dtype dtype;
    uint64_t n;          /* product of all dimensions */
    uint64_t dimensions; /* at least 1 */
    uint64_t columns;    /* the last dimension */
    uint64_t rows;       /* product of the other dimensions */
    bool fortran;        /* Fortran order: adjacent elements differ in the first index */
    bool big_endian;
    bool boolean;
    bool records;        /* a structured dtype; dtype and descr have no meaning */
    char descr[16];      /* as in the file: "<f4" */
    size_t header_bytes; /* all bytes before the data */
};

struct io_column {
    io_format format;
    ech_dtype dtype;
    uint64_t n;
    void *keys; /* [n] of dtype in the machine's byte order; from malloc() */
    size_t keys_bytes;
    struct io_npy npy;     /* only IO_NPY */
    unsigned char *header; /* only IO_NPY */
    char *text;            /* only IO_TEXT, as all following fields: the file; lines end in '\n' */
    size_t text_bytes;
    size_t head_bytes; /* length of a byte order mark and the header; 0: none */
    uint64_t *lines;   /* [n] offsets of the records in text */
    char delimiter;    /* records are those of CSV with this delimiter; 0: every line is a record */
    uint64_t lines_before; /* newlines of the file before text */
};

typedef enum io_header {
    IO_HEADER_GUESS = 0, /* io_find_field() decides */
    IO_HEADER_YES = 1,
    IO_HEADER_NO = 2 /* the column must be a number */
} io_header;

/* Selects one of several columns of a text. */
struct io_field {
    const char *column; /* its number, from 1, or its name in the first line; NULL: single column */
    char delimiter;     /* 0: the first of tab, comma and semicolon that occurs in the first line,
                           otherwise runs of blanks */
    io_header header;   /* whether the first line is a header */
};

/* The fields of a structured dtype. */
enum { IO_MOST_FIELDS = 256 };
struct io_record_field {
    char name[64], descr[32]; /* longer names and types are truncated */
    bool array;               /* several elements of the type */
    uint64_t offset_bytes, element_bytes;
};

struct io_records {
    int count;
    uint64_t bytes; /* of a record */
    struct io_record_field fields[IO_MOST_FIELDS];
};

/* The options of the user; -1: not given. */
struct io_hints {
    int format;
    int dtype;
    int dimensions;        /* maximum for a .npy array; 0: one */
    bool matrix;           /* text is a matrix of f64; there are no options --column and --type */
    struct io_field field; /* for text */
    struct io_records *records; /* receives the fields of a structured .npy array; NULL: such an
                                   array is an error */
};

/* Determines the format of source from the hints, the extension, or the first bytes. */
io_status io_detect(struct io_source *source, const struct io_hints *hints, io_format *format,
                    int *dtype, struct io_error *error);

/* Reads source to its end.  On failure column is empty. */
io_status io_load_column(struct io_source *source, const struct io_hints *hints,
                         struct io_column *column, struct io_error *error);
void io_free_column(struct io_column *column);

/* ---- .npy: npy.c ---- */

/* The length of the header, from the first n bytes of a file; 12 are needed. */
io_status io_npy_header_bytes(const unsigned char *bytes, size_t n, const char *name,
                              size_t *header_bytes, struct io_error *error);
/* Parses a whole header.  If hints->dtype is ECH_BF16, '<u2' is bf16. */
io_status io_npy_parse(const unsigned char *header, size_t header_bytes, const char *name,
                       const struct io_hints *hints, struct io_npy *npy, struct io_error *error);

/* Writes a header of version 1 for n elements into header, which has IO_NPY_HEADER bytes.  Returns
 * its length, a multiple of 64. */
enum { IO_NPY_HEADER = 192 };
size_t io_npy_header(const char *descr, uint64_t n, unsigned char *header);
/* The same for shape (n, columns), or (n,) if columns is 0.  descr may be a list of fields. */
size_t io_npy_header_of(const char *descr, uint64_t n, uint64_t columns, unsigned char *header);
/* The same for shape (rows, columns), also if columns is 0. */
size_t io_npy_header_matrix(const char *descr, uint64_t rows, uint64_t columns,
                            unsigned char *header);
/* The descr of dtype in little endian; NULL for bf16, for which .npy has no name. */
const char *io_npy_descr(ech_dtype dtype);

io_status io_npy_load(struct io_source *source, const struct io_hints *hints,
                      struct io_column *column, struct io_error *error);

/* ---- Records of text: record.c ---- */

/*
 * Returns the newline that ends the record of CSV at at, or end if [at, end) has only a part of it.
 * A newline between quotes does not end a record; delimiter 0: quotes have no meaning.  If
 * [at, end) ends between quotes, *open is the opening one, otherwise NULL.
 */
const char *io_record_end(const char *at, const char *end, char delimiter, const char **open);

/* The size of the record of column->text at the offset, with its newline. */
static inline size_t io_record_bytes(const struct io_column *column, uint64_t offset)
{
    const char *at = column->text + offset, *end = column->text + column->text_bytes, *open;
    const char *newline = column->delimiter ? io_record_end(at, end, column->delimiter, &open)
                                            : (const char *)memchr(at, '\n', (size_t)(end - at));
    return (size_t)(newline + 1 - at);
}

/* The number of the line that contains at, or in which record i begins, from 1. */
uint64_t io_line_at(const struct io_column *column, const char *at);
uint64_t io_line_number(const struct io_column *column, uint64_t i);

/* ---- Columns of text: field.c ---- */

/* The column of a record that contains the number. */
struct io_cut {
    uint64_t number; /* of the column, from 1; 0: the whole record */
    char delimiter;  /* 0: blanks */
};

/* Reduces the record [*at, *end) to the selected column without its quotes.  Returns the number of
 * the column, or the number of columns of the record if it has fewer.  If the quotes of a column
 * are malformed, sets *fault to the reason and *at to that column, of which it returns the number;
 * otherwise *fault is NULL. */
uint64_t io_cut_record(const struct io_cut *cut, const char **at, const char **end,
                       const char **fault);

/* The first of tab, comma and semicolon that occurs in the first record, outside quotes, of
 * [at, end), which ends in a newline; 0: none. */
char io_find_delimiter(const char *at, const char *end);

/* Determines the column and the delimiter from the first record of the text, and sets
 * column->delimiter if the text has quotes.  If that record is a header, sets column->head_bytes to
 * its end.  By default, it is a header if the column is a name, or if it is text that does not
 * begin as a number, above a number. */
io_status io_find_field(struct io_column *column, const struct io_field *field, bool quotes,
                        const char *name, struct io_cut *cut, struct io_error *error);

/* Fails because the quote at open is not closed, with its line and its column in the record at. */
io_status io_fail_quote(const struct io_column *column, char delimiter, const char *at,
                        const char *open, const char *name, struct io_error *error);

/* ---- Text: text.c ---- */

/* Whether the first record is a header: the head is not empty and not only a byte order mark. */
bool io_has_header(const struct io_column *column);
/* Reads the text into column->text; every line ends in '\n'. */
io_status io_text_read(struct io_source *source, struct io_column *column, struct io_error *error);
/* Sets column->n and column->lines according to column->delimiter. */
io_status io_text_lines(struct io_column *column, const char *name, struct io_error *error);
/* Parses column->text.  If hints->dtype is -1, chooses the type. */
io_status io_text_parse(struct io_column *column, const struct io_hints *hints, const char *name,
                        const struct io_progress *progress, struct io_error *error);
/* The number [first, last) of a column.  An empty column is NaN, if the type has it. */
io_number io_column_key(const struct io_cut *cut, const char *first, const char *last,
                        ech_dtype dtype, void *key);
io_status io_text_load(struct io_source *source, const struct io_hints *hints,
                       struct io_column *column, struct io_error *error);

/* ---- Output: output.c ---- */

struct io_output {
    int fd;
    const char *name; /* for messages */
    char *path;       /* of the final file; NULL for standard output */
    char *temporary;  /* path of the temporary file; NULL: none */
    bool unnamed;     /* the temporary file has no name */
    char *buffer;     /* [IO_BUFFER]; the first used bytes are not yet written */
    size_t used;
    uint64_t written_bytes; /* before compression */
    const struct io_progress *progress;
    uint64_t total_bytes;         /* for progress; 0: unknown */
    const struct io_codec *codec; /* NULL: not compressed; otherwise fd must not be written */
    struct io_pack *pack;         /* NULL: no byte was compressed */
    int threads;                  /* of the compression; 0: all */
};

/*
 * Opens path; "-" or NULL is standard output.  A regular file is written as a temporary file in the
 * same directory, which io_commit() links or renames to path.  Devices, pipes and open files such
 * as /dev/stdout are written directly.  A signal that ends the program removes the temporary file.
 * If the extension is .gz or .zst, the file is compressed.
 */
io_status io_create(struct io_output *output, const char *path, struct io_error *error);
io_status io_write(struct io_output *output, const void *bytes, size_t n, struct io_error *error);
/* Flushes the buffer and renames the temporary file. */
io_status io_commit(struct io_output *output, struct io_error *error);
/* Gives the temporary file the name output->temporary, so that other processes can open it. */
io_status io_name_temporary(struct io_output *output, struct io_error *error);
/* Gives up what was not committed; harmless after io_commit(). */
void io_discard(struct io_output *output);

/* ---- A folder for the files of another program: temporary.c ---- */

enum { IO_FOLDER_FILES = 8 };

/* Creates a private folder in $TMPDIR or /tmp, of which there is at most one.  names: files in it
 * for io_folder_file().  A signal that ends the program removes the folder with all its files. */
io_status io_folder_begin(const char *const *names, int n, struct io_error *error);
const char *io_folder_path(void);
const char *io_folder_file(unsigned i); /* the path of names[i] */
void io_folder_end(void);               /* harmless without a folder */

/* Runs a program, which is searched in the PATH, without a shell; its input is empty, and its
 * TMPDIR is the folder.  output: a
 * file for its standard output, or NULL; errors: for its standard error.  Returns its exit status,
 * 128 plus the number of the signal that ended it, or -1 and sets errno if it cannot be started. */
int io_folder_run(char *const *argv, const char *output, const char *errors);

#endif
