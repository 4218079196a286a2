/*
 * io/field.c - one of several columns of a line.
 *
 *     id,name,price        the first line is a header if its column is not a number
 *     7,"Smith, A.",1.5    quoted fields may contain the delimiter, and "" for a quote
 *
 * A quoted field ends within its line.  If blanks are the delimiter, fields cannot be quoted, and
 * blanks at the beginning of a line are ignored.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/io.h"

#include <stdio.h>
#include <string.h>

enum { SHOWN = 200 }; /* maximum length of the column names in a message */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Sets [*first, *last) to the next column of [*at, end) and moves *at past its delimiter, or sets
 * it to NULL at the end of the line.  Returns false if there is none. */
static bool next_blank(const char **at, const char *end, const char **first, const char **last)
{
    const char *c = *at;
    while (c && c < end && is_blank(*c)) c++;
    if (!c || c == end) return false;
    *first = c;
    while (c < end && !is_blank(*c)) c++;
    *last = *at = c;
    return true;
}

static bool next_field(char delimiter, const char **at, const char *end, const char **first,
                       const char **last)
{
    if (!delimiter) return next_blank(at, end, first, last);
    const char *c = *at;
    if (!c) return false;
    *first = c;
    while (c < end && *c == ' ' && *c != delimiter) c++;
    bool quoted = c < end && *c == '"';
    if (quoted) {
        *first = ++c;
        for (; c < end && (*c != '"' || c[1] == '"'); c++) c += *c == '"';
        *last = c;
    }
    while (c < end && *c != delimiter) c++;
    if (!quoted) *last = c;
    *at = c < end ? c + 1 : NULL;
    return true;
}

uint64_t io_cut_line(const struct io_cut *cut, const char **at, const char **end)
{
    const char *next = *at, *first = next, *last = *end;
    uint64_t n = 0;
    while (n < cut->number && next_field(cut->delimiter, &next, *end, &first, &last)) n++;
    if (n == cut->number) *at = first, *end = last;
    return n;
}

/* ---- The first line ---- */

static char find_delimiter(const char *at, const char *end)
{
    static const char candidates[] = "\t,;";
    for (const char *c = candidates; *c; c++)
        if (memchr(at, *c, (size_t)(end - at))) return *c;
    return 0;
}

static void trim(const char **first, const char **last)
{
    while (*first < *last && is_blank(**first)) (*first)++;
    while (*first < *last && is_blank((*last)[-1])) (*last)--;
}

/* The number of the column with this name; 0 if there is none.  Then names lists the columns.
 * *second is the next column with this name, or 0. */
static uint64_t find_name(const char *column, char delimiter, const char *at, const char *end,
                          char names[SHOWN], uint64_t *second)
{
    const char *first, *last;
    size_t used = 0;
    uint64_t found = 0;
    *second = 0;
    for (uint64_t n = 1; next_field(delimiter, &at, end, &first, &last); n++) {
        trim(&first, &last);
        size_t length = (size_t)(last - first);
        if (length == strlen(column) && memcmp(first, column, length) == 0) {
            *second = n;
            if (found) return found;
            found = n;
        }
        const char *between = n > 1 ? ", " : "";
        if (used + length + 6 > SHOWN) {
            if (used < SHOWN - 6) snprintf(names + used, SHOWN - used, "%s...", between);
            used = SHOWN;
            continue;
        }
        used += (size_t)snprintf(names + used, SHOWN - used, "%s%.*s", between, (int)length, first);
    }
    for (char *c = names; *c; c++)
        if (*c < ' ' || *c == 127) *c = *c < 0 ? *c : '?';
    *second = 0;
    return found;
}

/* Parses a column number; returns 0 if column is not a number. */
static uint64_t parse_number(const char *column)
{
    uint64_t n = 0;
    for (; *column >= '0' && *column <= '9' && n < UINT32_MAX; column++)
        n = n * 10 + (uint64_t)(*column - '0');
    return *column ? 0 : n;
}

io_status io_find_field(struct io_column *column, const struct io_field *field, const char *name,
                        struct io_cut *cut, struct io_error *error)
{
    *cut = (struct io_cut){ 0 };
    if (!field->column) return IO_OK;
    cut->number = parse_number(field->column);
    if (column->text_bytes == 0) {
        if (cut->number) return IO_OK;
        return io_fail(error, IO_FAIL, name, "is empty, so it has no column \"%s\"", field->column);
    }
    const char *line = column->text, *end = memchr(line, '\n', column->text_bytes);
    const char *at = line + column->head_bytes; /* after a byte order mark */
    cut->delimiter = field->delimiter ? field->delimiter : find_delimiter(at, end);
    bool named = cut->number == 0;
    if (named) {
        char names[SHOWN] = "";
        uint64_t second;
        cut->number = find_name(field->column, cut->delimiter, at, end, names, &second);
        if (second)
            return io_fail(error, IO_FAIL, name,
                           "columns %llu and %llu are both named \"%s\"; select one by its number",
                           (unsigned long long)cut->number, (unsigned long long)second,
                           field->column);
        if (!cut->number)
            return io_fail(error, IO_FAIL, name, "has no column \"%s\"; the columns are: %s",
                           field->column, names);
    } else {
        double ignored;
        const char *last = end;
        if (io_cut_line(cut, &at, &last) != cut->number) return IO_OK; /* the parser reports it */
        named = io_parse_float(at, last, &ignored) != IO_NUMBER_OK;
    }
    if (named) column->head_bytes = (size_t)(end + 1 - line);
    return IO_OK;
}
