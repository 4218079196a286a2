/*
 * io/text.h - shared by the parsers of numbers from text: text.c parses a text in memory,
 * text_scan.c checks one block by block, text_error.c writes their messages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_IO_TEXT_H
#define ECHELON_IO_TEXT_H

#include "io/io.h"

/* The arguments of the parsers. */
struct io_text_parser {
    struct io_column *column;
    struct io_cut cut;
    bool guessed; /* neither --header nor --no-header is given */
    bool matrix;  /* the text is a matrix; there is no option --column */
    const char *name;
    const struct io_progress *progress;
    struct io_error *error;
};

enum { IO_PLACE = 64, IO_REASON = 192 };

/* An integer that f64 would round. */
struct io_rounded {
    bool found, huge;                /* huge: 2^64 or more */
    char place[IO_PLACE];            /* "line 7, column 2," */
    char digits[IO_NUMBER_TEXT + 8]; /* of the number, truncated */
};

/* Whether [at, end) consists of blanks. */
static inline bool io_is_blank(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r')) at++;
    return at == end;
}

/* "line 7" or "line 7, column 2," of the text at at; column 0: none. */
void io_name_place(const struct io_text_parser *p, const char *at, uint64_t column,
                   char place[IO_PLACE]);
/* Fails because [at, end), a part of record i, is not a number of the type. */
io_status io_bad_line(const struct io_text_parser *p, uint64_t i, const char *at, const char *end,
                      io_number why);
/* Fails because the record at at has only this number of columns. */
io_status io_short_line(const struct io_text_parser *p, const char *at, uint64_t columns);
/* Fails because of the quotes of this column, which begins at at. */
io_status io_bad_quotes(const struct io_text_parser *p, const char *at, uint64_t column,
                        const char *fault);
/* If the number is an integer that differs from key, the same number as f64, or one of 2^64 or
 * more, describes the first one of them. */
void io_note_rounded(const struct io_text_parser *p, const char *at, const char *end,
                     const void *key, struct io_rounded *rounded);
/* Fails because of it; reason states why the column is not one of integers. */
io_status io_fail_rounded(const struct io_text_parser *p, const struct io_rounded *rounded,
                          const char *reason);
/* Writes "line 7 <what>" into reason. */
void io_not_integers(const struct io_text_parser *p, char reason[IO_REASON], const char *at,
                     const char *what);

/* ---- A text that is checked block by block: text_scan.c ---- */

struct io_text_scan {
    struct io_text_parser parser;
    struct io_column block; /* its text, its delimiter, the lines before it */
    int type;               /* -1: it is chosen */
    bool integers, below, above, failed;
    bool quotes; /* the text has one */
    uint64_t records;
    char reason[IO_REASON]; /* why the column is not one of integers */
    char first_below[IO_PLACE], first_above[IO_PLACE];
    struct io_rounded rounded;
    struct io_error error; /* of the first record that is not a number */
};

/* begin: the first records, of which io_find_field() has found the column.  The first block begins
 * after their head. */
void io_text_scan_begin(struct io_text_scan *scan, const struct io_column *begin,
                        const struct io_cut *cut, const struct io_hints *hints, const char *name);
/* Checks the whole records of a block, and returns their bytes.  At the end of the text, the block
 * ends in a newline.  threads 0: all. */
size_t io_text_scan(struct io_text_scan *scan, char *text, size_t bytes, bool at_end, int threads);
/* The type of the column, or the error that io_text_parse() reports for the whole text. */
io_status io_text_scan_end(struct io_text_scan *scan, ech_dtype *dtype, struct io_error *error);

#endif
