/*
 * io/text.c - a column of numbers from the records of a text, which are lines or records of CSV.
 *
 * Records are not copied or changed: lines[i] is the offset of record i, and keys[i] its number.
 * Keys and offsets have at most 8 bytes each.  They are sorted as keys and values; then the records
 * are written from the original text.
 *
 * If records have several columns, field.c finds that of the number.  An empty column is NaN.
 *
 * Without a type, a column of integers is i64, or u64 if one exceeds i64 and none is negative.  Any
 * other column is f64, and is rejected if it contains an integer that f64 would round:
 * different identifiers must not become equal because of one empty column.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the number of lines.  The counts of a block fit in a byte, so that 16 bytes of the text
 * are compared and counted per vector instruction. */
static uint64_t count_lines(const char *text, size_t bytes, bool *quotes)
{
    enum { BLOCK = 240 };
    uint64_t n = 0;
    unsigned char quote = 0;
    for (size_t i = 0; i < bytes; i += BLOCK) {
        const size_t some = bytes - i < BLOCK ? bytes - i : BLOCK;
        unsigned char newlines = 0;
        for (size_t k = i; k < i + some; k++) {
            newlines = (unsigned char)(newlines + (text[k] == '\n'));
            quote = (unsigned char)(quote | (text[k] == '"'));
        }
        n += newlines;
    }
    *quotes = quote != 0;
    return n;
}

/* Counts the records after the head.  Fails if a quote is not closed. */
static io_status count_records(struct io_column *column, const char *name, struct io_error *error)
{
    const char *at = column->text + column->head_bytes, *end = column->text + column->text_bytes;
    for (column->n = 0; at < end; column->n++) {
        const char *open, *begin = at;
        at = io_record_end(at, end, column->delimiter, &open) + 1;
        if (open) return io_fail_quote(column, column->delimiter, begin, open, name, error);
    }
    return IO_OK;
}

/* The newline of the record at at. */
static const char *record_end(const struct io_column *column, const char *at, const char *end)
{
    const char *open;
    if (!column->delimiter) return memchr(at, '\n', (size_t)(end - at));
    return io_record_end(at, end, column->delimiter, &open);
}

/* A header ends in a newline, a byte order mark does not. */
bool io_has_header(const struct io_column *column)
{
    return column->head_bytes && column->text[column->head_bytes - 1] == '\n';
}

io_number io_column_key(const struct io_cut *cut, const char *first, const char *last,
                        ech_dtype dtype, void *key)
{
    static const char nan[] = "nan";
    if (cut->number && io_is_float(dtype) && io_is_blank(first, last))
        return io_parse_key(nan, nan + sizeof nan - 1, dtype, key);
    return io_parse_key(first, last, dtype, key);
}

/* Parses every record as dtype.  If reason is not NULL, dtype is f64, and integers that f64 would
 * round are errors. */
static io_status parse_as(const struct io_text_parser *p, ech_dtype dtype, const char *reason)
{
    struct io_column *column = p->column;
    const char *end = column->text + column->text_bytes, *at = column->text + column->head_bytes;
    size_t bytes = ech_dtype_bytes(dtype);
    char *key = column->keys;
    struct io_rounded rounded = { .found = false };
    column->dtype = dtype;
    for (uint64_t i = 0; i < column->n; i++, key += bytes) {
        const char *newline = record_end(column, at, end), *first = at, *last = newline;
        column->lines[i] = (uint64_t)(at - column->text);
        if (p->cut.number) {
            const char *fault;
            uint64_t columns = io_cut_record(&p->cut, &first, &last, &fault);
            if (fault) return io_bad_quotes(p, first, columns, fault);
            if (columns != p->cut.number) return io_short_line(p, at, columns);
        }
        const io_number found = io_column_key(&p->cut, first, last, dtype, key);
        if (found != IO_NUMBER_OK) return io_bad_line(p, i, first, last, found);
        if (reason) io_note_rounded(p, first, last, key, &rounded);
        at = newline + 1;
        if (p->progress && i % (1 << 20) == 0)
            p->progress->tick(p->progress->user, (uint64_t)(at - column->text), column->text_bytes);
    }
    /* A line that is not a number is reported first. */
    return rounded.found ? io_fail_rounded(p, &rounded, reason) : IO_OK;
}

/* Parses records as 64-bit integers.  Returns false if one requires f64 or is invalid, with the
 * reason. */
static bool parse_integers(const struct io_text_parser *p, char reason[IO_REASON])
{
    struct io_column *column = p->column;
    const char *end = column->text + column->text_bytes, *at = column->text + column->head_bytes;
    uint64_t *keys = column->keys;
    bool below = false, above = false;
    const char *first_below = NULL, *first_above = NULL;
    for (uint64_t i = 0; i < column->n; i++) {
        const char *newline = record_end(column, at, end), *first = at, *last = newline;
        const char *fault = NULL;
        bool negative;
        uint64_t magnitude;
        column->lines[i] = (uint64_t)(at - column->text);
        if (p->cut.number && io_cut_record(&p->cut, &first, &last, &fault) != p->cut.number)
            return false;
        if (fault) return false;
        io_number found = io_parse_integer(first, last, &negative, &magnitude);
        const bool out = found == IO_NUMBER_RANGE || (negative && magnitude > (uint64_t)1 << 63);
        if (found == IO_NUMBER_BAD)
            io_not_integers(p, reason, first,
                            io_is_blank(first, last) ? "is empty" : "is not an integer");
        if (out) io_not_integers(p, reason, first, "is out of range for i64 and u64");
        if (found == IO_NUMBER_BAD || out) return false;
        if (negative && magnitude != 0 && !below) first_below = first;
        if (!negative && magnitude > INT64_MAX && !above) first_above = first;
        below |= negative && magnitude != 0;
        above |= !negative && magnitude > INT64_MAX;
        if (below && above) {
            char place[IO_PLACE], what[112];
            io_name_place(p, first_above, p->cut.number, place);
            snprintf(what, sizeof what, "is negative and %s exceeds i64", place);
            io_not_integers(p, reason, first_below, what);
            return false;
        }
        keys[i] = negative ? 0 - magnitude : magnitude;
        at = newline + 1;
    }
    column->dtype = above ? ECH_U64 : ECH_I64;
    return true;
}

io_status io_text_parse(struct io_column *column, const struct io_hints *hints, const char *name,
                        const struct io_progress *progress, struct io_error *error)
{
    struct io_text_parser p = { .column = column,
                                .guessed = hints->field.header == IO_HEADER_GUESS,
                                .matrix = hints->matrix,
                                .name = name,
                                .progress = progress,
                                .error = error };
    size_t bytes = hints->dtype < 0 ? 8 : ech_dtype_bytes((ech_dtype)hints->dtype);
    bool quotes;
    const uint64_t lines = count_lines(column->text, column->text_bytes, &quotes);
    io_status status = io_find_field(column, &hints->field, quotes, name, &p.cut, error);
    column->n = lines - (io_has_header(column) ? 1 : 0);
    if (status == IO_OK && column->delimiter) status = count_records(column, name, error);
    if (status != IO_OK) return status;
    column->keys_bytes = (size_t)column->n * bytes;
    column->keys = malloc(column->keys_bytes + 1);
    column->lines = malloc((size_t)column->n * sizeof *column->lines + 1);
    if (!column->keys || !column->lines)
        return io_no_memory(error, name, column->n * (bytes + sizeof *column->lines),
                            "its numbers");
    char reason[IO_REASON] = "";
    if (hints->dtype >= 0) return parse_as(&p, (ech_dtype)hints->dtype, NULL);
    if (parse_integers(&p, reason)) return IO_OK;
    /* The elements of a matrix are always f64. */
    return parse_as(&p, ECH_F64, p.matrix ? NULL : reason);
}

io_status io_text_lines(struct io_column *column, const char *name, struct io_error *error)
{
    const char *end = column->text + column->text_bytes, *at = column->text + column->head_bytes;
    bool quotes;
    column->n = count_lines(column->text, column->text_bytes, &quotes);
    if (!quotes) column->delimiter = 0;
    io_status status = column->delimiter ? count_records(column, name, error) : IO_OK;
    if (status != IO_OK) return status;
    column->lines = malloc((size_t)column->n * sizeof *column->lines + 1);
    if (!column->lines)
        return io_no_memory(error, name, column->n * sizeof *column->lines, "its lines");
    for (uint64_t i = 0; i < column->n; i++) {
        column->lines[i] = (uint64_t)(at - column->text);
        at = record_end(column, at, end) + 1;
    }
    return IO_OK;
}

io_status io_text_read(struct io_source *source, struct io_column *column, struct io_error *error)
{
    void *text = NULL;
    io_status status =
        io_read_all(source, PTRDIFF_MAX - 2, source->size, 1, &text, &column->text_bytes, error);
    if (status != IO_OK) return status;
    column->text = text;
    size_t *bytes = &column->text_bytes;
    /* A UTF-8 byte order mark is not part of the first line. */
    if (*bytes >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) column->head_bytes = 3;
    if (*bytes && column->text[*bytes - 1] != '\n') column->text[(*bytes)++] = '\n';
    return IO_OK;
}

io_status io_text_load(struct io_source *source, const struct io_hints *hints,
                       struct io_column *column, struct io_error *error)
{
    io_status status = io_text_read(source, column, error);
    if (status != IO_OK) return status;
    return io_text_parse(column, hints, source->name, source->progress, error);
}
