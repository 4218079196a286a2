/*
 * lines/lines.h - records of text: where they end, their order, and the sort of a block of them.
 *
 * A record is a line that ends in a newline or, with zero-terminated records, in a zero byte.  In
 * CSV a newline between quotes does not end a record.  The order is that of GNU sort in the C
 * locale.  It is defined by the normalized key of a record: a string of bytes that memcmp()
 * compares correctly (a prefix is smaller).  Except with stable or unique, the whole record follows
 * as the last resort.
 *
 *     lines_order_new()  words -> order           (order.c, words.c)
 *     lines_key()        record -> key            (key.c, field.c, number.c, version.c)
 *     lines_sort()       block -> sorted block    (sort.c, ties.c)
 *     lines_gather()     sorted block -> output   (gather.c)
 *
 * An order is not changed by calls with a const pointer: any number of threads may use it.  No
 * function opens a file or prints.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_LINES_H
#define ECHELON_LINES_H

#include "echelon.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- The order: order.c ---- */

enum {
    LINES_BLANKS = -1, /* delimiter: fields are separated by the empty string between a non-blank
                           and a blank, as in GNU sort */
    LINES_MOST_KEYS = 64,
    LINES_ERROR = 512 /* capacity of a message */
};

/* What the user typed.  Zero is the default of every field except delimiter. */
struct lines_words {
    const char *const *keys; /* [n_keys] "2,2nr", "1.3b,4" as GNU's -k; "price:n" is a column by its
                                name, which needs header; ":2024:n" is a name that begins with a
                                digit */
    int n_keys;
    const char
        *letters;     /* global ordering letters, out of bdfghiMnRrV, repeated or not; NULL: none */
    int delimiter;    /* an unsigned char, or LINES_BLANKS.  For CSV, LINES_BLANKS is a comma */
    bool stable;      /* no last resort */
    bool unique;      /* keep only the first of records with equal keys; no last resort */
    bool zero;        /* records end in a zero byte */
    bool csv;         /* fields may be quoted as in RFC 4180; not with zero */
    bool header;      /* the first record of each input is a header, which is not sorted */
    uint64_t seed[2]; /* for the letter R */
};

struct lines_order;

/* Returns NULL after it has written a message without a prefix, such as: key "0": the field number
 * is zero.  The words may be freed after the call. */
struct lines_order *lines_order_new(const struct lines_words *words, char error[LINES_ERROR]);
void lines_order_free(struct lines_order *order);

/* The first key that is a column by name, so that lines_bind() must be called before any key is
 * made; NULL: none. */
const char *lines_first_name(const struct lines_order *order);
/* Finds the columns in a header record (without terminator).  Returns false after a message. */
bool lines_bind(struct lines_order *order, const char *header, size_t bytes,
                char error[LINES_ERROR]);

char lines_terminator(const struct lines_order *order); /* '\n' or 0 */
bool lines_is_unique(const struct lines_order *order);
/* Whether equal keys are followed by a comparison of whole records. */
bool lines_has_last_resort(const struct lines_order *order);
/* Describes the keys for a report: "bytes of the line", "field 2, bytes; field 1, number,
 * descending".  Always terminated. */
void lines_describe(const struct lines_order *order, char *text, size_t capacity_bytes);

/* ---- For --debug: debug.c ---- */

/* The bytes [*from, *from + *n) of a record that key i compares, or the last resort after the last
 * key.  Returns false if there is no such key. */
bool lines_underline(const struct lines_order *order, int i, const char *record, size_t bytes,
                     size_t *from, size_t *n);
/* What may surprise about key i; empty: nothing.  Returns false if there is no such key. */
bool lines_warning(const struct lines_order *order, int i, char *text, size_t capacity_bytes);

/* ---- Records: record.c.  A block begins at the beginning of a record ---- */

/* The length of the part of an input that is not sorted and stays first: with header or CSV, a
 * UTF-8 byte order mark, and with header the first record.  text is the beginning of the input;
 * if it does not contain the end of the head, *whole is false. */
size_t lines_head(const struct lines_order *order, const char *text, size_t bytes, bool *whole);
/* The length of the complete records at the beginning of a block: up to and including its last
 * terminator; 0 if it has none.  *misplaced receives the offset of the first quote of CSV that is
 * inside a value without quotes or does not end one; SIZE_MAX: none.  It may be NULL. */
size_t lines_complete(const struct lines_order *order, const char *text, size_t bytes, int threads,
                      size_t *misplaced);
/* The offset of such a quote in whole records, or of one that is not closed; SIZE_MAX: none. */
size_t lines_misplaced(const struct lines_order *order, const char *text, size_t bytes,
                       int threads);
/* The offset of a quote that is not closed in records whose other quotes are in their places;
 * SIZE_MAX: all are closed. */
size_t lines_open_quote(const char *text, size_t bytes);
/* Writes a message about the quote at at, with the text around it. */
void lines_quote_error(const char *text, size_t bytes, size_t at, char error[LINES_ERROR]);
/* The length of the next record with its terminator; bytes if there is no terminator. */
size_t lines_next(const struct lines_order *order, const char *text, size_t bytes);
/* The length of a record that lines_next() returned, without its terminator. */
size_t lines_body(const struct lines_order *order, const char *record, size_t bytes);
/* The number of records of a block; a last one without terminator counts.  threads 0: all. */
uint64_t lines_count(const struct lines_order *order, const char *text, size_t bytes, int threads);

/* ---- Keys: key.c.  A record is without its terminator ---- */

/* Writes the first room bytes of the normalized key without the last resort, and returns its whole
 * length.  to may be NULL if room is 0.  The key of a descending order is complemented, so that
 * memcmp() is right for it, too. */
size_t lines_key(const struct lines_order *order, const char *record, size_t bytes,
                 unsigned char *to, size_t room);
/* The same with the last resort, if there is one: memcmp() of full keys, a prefix being smaller, is
 * lines_compare(). */
size_t lines_full_key(const struct lines_order *order, const char *record, size_t bytes,
                      unsigned char *to, size_t room);
/* The first 8 bytes of the key as a big-endian number, padded with zeros.  If the prefixes of two
 * keys differ, they decide the order. */
uint64_t lines_prefix(const struct lines_order *order, const char *record, size_t bytes);
/* Finds at most most records at the beginning of a block: their lengths with terminators, and their
 * prefixes unless prefixes is NULL.  Returns their number.  A block has less than 4 GiB. */
size_t lines_scan(const struct lines_order *order, const char *text, size_t bytes, size_t most,
                  uint32_t *lengths, uint64_t *prefixes);
/* Whether functions for AVX2 and BMI2 are used: the processor has both, and the environment
 * variable ECHELON_CPU is not portable. */
bool lines_has_avx2(void);
/* If the key is a part of the record as it is, returns where it begins and sets *key_bytes.
 * Otherwise returns NULL.  The answer does not depend on the record. */
const char *lines_direct(const struct lines_order *order, const char *record, size_t bytes,
                         size_t *key_bytes);

/* ---- Comparison: compare.c ---- */

/* < 0, 0 or > 0: the order of two records, with the last resort.  0 means that the order keeps
 * their positions, and that unique drops the second. */
int lines_compare(const struct lines_order *order, const char *a, size_t a_bytes, const char *b,
                  size_t b_bytes);

/* Finds the first record of a block that is out of order with the one before it (with unique:
 * equal to it, too).  before: the last record of the previous block, without its terminator, or
 * NULL.  Returns its offset and sets *number to its number from 0; returns bytes if there is
 * none, with *number the number of records. */
size_t lines_unsorted(const struct lines_order *order, const char *before, size_t before_bytes,
                      const char *text, size_t bytes, uint64_t *number);

/* ---- Sort of a block in memory: sort.c ---- */

/* The bytes of memory that lines_sort() takes at most for a block with n records, in addition to
 * the block itself: records, keys, and the workspace of the library.  threads: as of lines_sort();
 * 0: all. */
uint64_t lines_memory(const struct lines_order *order, size_t bytes, uint64_t n, int threads);

/* Memory for a block or for arrays, freed with free(): in huge pages if it is large. */
void *lines_allocate(size_t bytes);

struct lines_sorted {
    const char *text; /* the block, which the caller owns and keeps until lines_free(), or copy */
    size_t bytes;
    uint64_t n;         /* records in order; with unique, without those that were dropped */
    uint64_t n_read;    /* records of the block */
    uint64_t out_bytes; /* of all records in order, each with its terminator */
    /* private */
    char *copy;      /* the records without repetitions, if few differ */
    void *begins;    /* offsets of records, of begin_bytes each */
    void *index;     /* [n] positions in begins, of index_bytes each */
    uint64_t *spans; /* [n] the place of each record in order; or NULL */
    uint64_t *sums;  /* bytes of the records before each chunk of index */
    size_t begin_bytes, index_bytes;
    char terminator;
};

/* Sorts the records of a block, stably.  The last record may lack a terminator.  On failure
 * *sorted is empty.  threads 0: all that the process may use; ctx has its own limit.  After
 * ECH_ERR_MEMORY, errors of the library, and ECH_ERR_ARG, which means that quotes of CSV are
 * misplaced, error contains a message. */
ech_status lines_sort(ech_ctx *ctx, const struct lines_order *order, const char *text, size_t bytes,
                      int threads, struct lines_sorted *sorted, char error[LINES_ERROR]);
void lines_free(struct lines_sorted *sorted);

/* The i-th record in order, without terminator.  If few records differ, it is a copy, which is
 * valid until lines_free(). */
const char *lines_record(const struct lines_sorted *sorted, uint64_t i, size_t *bytes);

/* A position in the output of a sorted block; zero is its beginning. */
struct lines_cursor {
    uint64_t at; /* in bytes, 0 .. out_bytes */
};

/* Copies the next bytes of the output into to and advances the cursor; records may be split.
 * Returns how many: room, or fewer at the end.  A missing terminator is added.  Use a room of
 * several megabytes, so that all threads copy. */
size_t lines_gather(const struct lines_sorted *sorted, struct lines_cursor *cursor, char *to,
                    size_t room, int threads);

#endif
