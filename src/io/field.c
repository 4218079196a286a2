/*
 * io/field.c - one of several columns of a record.
 *
 *     id,name,price        the first record may be a header
 *     7,"Smith, A.",1.5    quoted fields may contain the delimiter and newlines, and "" for a quote
 *
 * If blanks are the delimiter, fields cannot be quoted, and blanks at the beginning of a line are
 * ignored.  record.c divides the text into records.
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
 * it to NULL at the end of the record.  Returns false if there is none. */
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

/* Sets *fault if the quotes of the field are malformed. */
static bool next_field(char delimiter, const char **at, const char *end, const char **first,
                       const char **last, const char **fault)
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
        if (c >= end) *fault = "has no closing quote";
        for (c++; c < end && *c != delimiter; c++)
            if (!is_blank(*c)) *fault = "has characters after its closing quote";
    }
    while (c < end && *c != delimiter) c++;
    if (!quoted) *last = c;
    *at = c < end ? c + 1 : NULL;
    return true;
}

uint64_t io_cut_record(const struct io_cut *cut, const char **at, const char **end,
                       const char **fault)
{
    const char *next = *at, *here = next, *first = next, *last = *end, *ignored;
    uint64_t n = 0;
    *fault = NULL;
    while (n < cut->number && !*fault) {
        here = next;
        if (!next_field(cut->delimiter, &next, *end, &first, &last, fault)) break;
        n++;
    }
    const uint64_t found = n;
    /* The quotes of later columns are checked, too. */
    if (!*fault && cut->delimiter && next && memchr(next, '"', (size_t)(*end - next)))
        for (; !*fault; n++) {
            here = next;
            if (!next_field(cut->delimiter, &next, *end, &ignored, &ignored, fault)) break;
        }
    if (*fault) *at = here;
    if (*fault) return n;
    if (found == cut->number) *at = first, *end = last;
    return found;
}

/* ---- The first record ---- */

static void trim(const char **first, const char **last)
{
    while (*first < *last && is_blank(**first)) (*first)++;
    while (*first < *last && is_blank((*last)[-1])) (*last)--;
}

/* Whether [first, last) is this name.  If it was quoted, two quotes are one. */
static bool is_name(const char *first, const char *last, bool quoted, const char *column)
{
    for (; first < last && *column == *first; first++, column++)
        if (quoted && *first == '"') first++;
    return first == last && !*column;
}

/* The number of the column with this name; 0 if there is none.  Then names lists the columns.
 * *second is the next column with this name, or 0. */
static uint64_t find_name(const char *column, char delimiter, const char *at, const char *end,
                          char names[SHOWN], uint64_t *second)
{
    const char *begin = at, *first, *last, *fault;
    size_t used = 0;
    uint64_t found = 0;
    *second = 0;
    for (uint64_t n = 1; next_field(delimiter, &at, end, &first, &last, &fault); n++) {
        const bool quoted = delimiter && first > begin && first[-1] == '"';
        trim(&first, &last);
        size_t length = (size_t)(last - first);
        if (is_name(first, last, quoted, column)) {
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
        if ((unsigned char)*c < ' ' || *c == 127) *c = '?';
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

static bool begins_as_number(const char *at, const char *end)
{
    double ignored;
    trim(&at, &end);
    if (io_parse_float(at, end, &ignored) == IO_NUMBER_OK) return true;
    if (at < end && (*at == '+' || *at == '-')) at++;
    if (at < end && *at == '.') at++;
    return at < end && *at >= '0' && *at <= '9';
}

/* Whether the first record is a header, if its column is [at, end) and the second one begins at
 * next.  Empty columns and misspelled numbers are data, so that no number is lost without a
 * message. */
static bool guess_header(const struct io_column *column, const struct io_cut *cut, const char *at,
                         const char *end, const char *next)
{
    const char *fault, *open, *stop = column->text + column->text_bytes;
    double ignored;
    trim(&at, &end);
    if (at == end || begins_as_number(at, end) || next == stop) return false;
    const char *last = io_record_end(next, stop, column->delimiter, &open);
    /* If the quotes of the second record are malformed, the parser reports that record. */
    if (open) return true;
    if (io_cut_record(cut, &next, &last, &fault) != cut->number || fault) return fault != NULL;
    return io_parse_float(next, last, &ignored) == IO_NUMBER_OK;
}

io_status io_fail_quote(const struct io_column *column, char delimiter, const char *at,
                        const char *open, const char *name, struct io_error *error)
{
    const char *end = column->text + column->text_bytes, *first, *last, *ignored;
    unsigned long long n = 0;
    while (next_field(delimiter, &at, end, &first, &last, &ignored)) {
        n++;
        if (!at || at > open) break;
    }
    return io_fail(error, IO_FAIL, name, "line %llu, column %llu, has no closing quote",
                   (unsigned long long)io_line_at(column, open), n);
}

/* The number of the named column; 0 after a message. */
static uint64_t find_column(const struct io_field *field, char delimiter, const char *at,
                            const char *end, const char *name, struct io_error *error)
{
    char names[SHOWN] = "";
    uint64_t second, found = find_name(field->column, delimiter, at, end, names, &second);
    if (!found)
        io_fail(error, IO_FAIL, name, "has no column \"%s\"; the columns are: %s", field->column,
                names);
    if (second)
        io_fail(error, IO_FAIL, name,
                "columns %llu and %llu are both named \"%s\"; select one by its number",
                (unsigned long long)found, (unsigned long long)second, field->column);
    return second ? 0 : found;
}

io_status io_find_field(struct io_column *column, const struct io_field *field, bool quotes,
                        const char *name, struct io_cut *cut, struct io_error *error)
{
    *cut = (struct io_cut){ 0 };
    if (field->column) cut->number = parse_number(field->column);
    if (column->text_bytes == 0) {
        if (cut->number || !field->column) return IO_OK;
        return io_fail(error, IO_FAIL, name, "is empty, so it has no column \"%s\"", field->column);
    }
    const char *text = column->text, *at = text + column->head_bytes; /* a byte order mark */
    const char *stop = text + column->text_bytes, *fault, *open;
    if (field->column)
        cut->delimiter = field->delimiter ? field->delimiter : io_find_delimiter(at, stop);
    column->delimiter = quotes ? cut->delimiter : 0;
    const char *end = io_record_end(at, stop, column->delimiter, &open);
    if (open) return io_fail_quote(column, cut->delimiter, at, open, name, error);
    const size_t record_bytes = (size_t)(end + 1 - text);
    if (field->header == IO_HEADER_YES) column->head_bytes = record_bytes;
    if (!field->column) return IO_OK;
    bool header = cut->number == 0;
    if (header) cut->number = find_column(field, cut->delimiter, at, end, name, error);
    if (!cut->number) return IO_FAIL;
    const char *last = end;
    const uint64_t columns = io_cut_record(cut, &at, &last, &fault);
    if (fault)
        return io_fail(error, IO_FAIL, name, "line %llu, column %llu, %s",
                       (unsigned long long)io_line_at(column, at), (unsigned long long)columns,
                       fault);
    if (columns == cut->number && field->header == IO_HEADER_GUESS && !header)
        header = guess_header(column, cut, at, last, end + 1);
    if (header) column->head_bytes = record_bytes;
    return IO_OK;
}
