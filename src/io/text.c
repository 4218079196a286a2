/*
 * text.c - a column of numbers from lines of text.
 *
 * Nothing of a line is copied or changed: lines[i] is where it begins, and its number is keys[i].
 * Both are of 8 bytes or fewer a line, sorted as keys and values, after which the lines are written
 * from where they lie.
 *
 * Without a type, a column of integers is i64, or u64 when none is negative and one is past i64;
 * a column with anything else, or with integers that fit neither, is f64.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io.h"

#include <stdlib.h>
#include <string.h>

static uint64_t count_lines(const char *text, size_t bytes)
{
    uint64_t n = 0;
    for (size_t i = 0; i < bytes; i++) n += text[i] == '\n';
    return n;
}

static io_status bad_line(const struct io_column *column, uint64_t line, const char *end,
                          io_number why, ech_dtype dtype, const char *name, struct io_error *error)
{
    const char *at = column->text + column->lines[line];
    if (end > at && end[-1] == '\r') end--;
    char shown[48];
    size_t n = 0;
    bool blank = true;
    for (const char *c = at; c < end; c++) {
        blank &= *c == ' ' || *c == '\t' || *c == '\r';
        if (n < sizeof shown - 1) shown[n++] = *c >= ' ' && *c <= '~' ? *c : '?';
    }
    shown[n] = 0;
    const char *dots = (size_t)(end - at) > n ? "..." : "";
    unsigned long long number = line + 1;
    if (blank) return io_fail(error, IO_FAIL, name, "line %llu is blank, not a number", number);
    if (why == IO_NUMBER_BAD)
        return io_fail(error, IO_FAIL, name, "line %llu is not a number: \"%s%s\"", number, shown,
                       dots);
    return io_fail(error, IO_FAIL, name, "line %llu is %s %s: \"%s%s\"", number,
                   why == IO_NUMBER_FRACTION ? "a fraction, which cannot be" : "past the range of",
                   ech_dtype_name(dtype), shown, dots);
}

/* Parses every line as dtype. */
static io_status parse_as(struct io_column *column, ech_dtype dtype, const char *name,
                          const struct io_progress *progress, struct io_error *error)
{
    const char *end = column->text + column->text_bytes, *at = column->text;
    size_t bytes = ech_dtype_bytes(dtype);
    char *key = column->keys;
    column->dtype = dtype;
    for (uint64_t i = 0; i < column->n; i++, key += bytes) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        column->lines[i] = (uint64_t)(at - column->text);
        io_number found = io_parse_key(at, newline, dtype, key);
        if (found != IO_NUMBER_OK) return bad_line(column, i, newline, found, dtype, name, error);
        at = newline + 1;
        if (progress && i % (1 << 20) == 0)
            progress->tick(progress->user, (uint64_t)(at - column->text), column->text_bytes);
    }
    return IO_OK;
}

/* Parses lines as integers of 64 bits; false at the first thing that needs a float. */
static bool parse_integers(struct io_column *column)
{
    const char *end = column->text + column->text_bytes, *at = column->text;
    uint64_t *keys = column->keys;
    bool below = false, above = false;
    for (uint64_t i = 0; i < column->n; i++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        bool negative;
        uint64_t magnitude;
        column->lines[i] = (uint64_t)(at - column->text);
        if (io_parse_integer(at, newline, &negative, &magnitude) != IO_NUMBER_OK) return false;
        if (negative && magnitude > (uint64_t)1 << 63) return false;
        below |= negative && magnitude != 0;
        above |= !negative && magnitude > INT64_MAX;
        if (below && above) return false;
        keys[i] = negative ? 0 - magnitude : magnitude;
        at = newline + 1;
    }
    column->dtype = above ? ECH_U64 : ECH_I64;
    return true;
}

io_status io_text_parse(struct io_column *column, int dtype, const char *name,
                        const struct io_progress *progress, struct io_error *error)
{
    size_t bytes = dtype < 0 ? 8 : ech_dtype_bytes((ech_dtype)dtype);
    column->n = count_lines(column->text, column->text_bytes);
    column->keys_bytes = (size_t)column->n * bytes;
    column->keys = malloc(column->keys_bytes + 1);
    column->lines = malloc((size_t)column->n * sizeof *column->lines + 1);
    if (!column->keys || !column->lines)
        return io_no_memory(error, name, column->n * (bytes + sizeof *column->lines),
                            "the numbers of its lines");
    if (dtype >= 0) return parse_as(column, (ech_dtype)dtype, name, progress, error);
    if (parse_integers(column)) return IO_OK;
    return parse_as(column, ECH_F64, name, progress, error);
}

io_status io_text_load(struct io_source *source, int dtype, struct io_column *column,
                       struct io_error *error)
{
    void *text = NULL;
    io_status status =
        io_read_all(source, PTRDIFF_MAX - 2, source->size, 1, &text, &column->text_bytes, error);
    if (status != IO_OK) return status;
    column->text = text;
    size_t *bytes = &column->text_bytes;
    if (*bytes && column->text[*bytes - 1] != '\n') column->text[(*bytes)++] = '\n';
    return io_text_parse(column, dtype, source->name, source->progress, error);
}
