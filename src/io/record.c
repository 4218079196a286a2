/*
 * io/record.c - the records of a text: lines, or records of CSV, which may contain newlines.
 *
 *     7,"Smith, A.",1.5      the rules of RFC 4180: a field that begins with a quote ends at the
 *     8,"two                 next quote, except that "" is a quote of its contents; so it may
 *     lines",2.5             contain delimiters and newlines
 *
 * Spaces may precede the opening quote.  Any other quote is text.  Quotes have a meaning only if a
 * character separates the columns: not in columns separated by runs of blanks, and not in a text
 * without columns.  All readers use this definition of the end of a record; lines/record.c has a
 * parallel search for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/io.h"

#include <string.h>

/* Returns what follows the field whose opening quote is at at; NULL if no quote closes it. */
static const char *skip_quoted(const char *at, const char *end)
{
    for (at++; (at = memchr(at, '"', (size_t)(end - at))) != NULL; at += 2)
        if (at + 1 == end || at[1] != '"') return at + 1;
    return NULL;
}

const char *io_record_end(const char *at, const char *end, char delimiter, const char **open)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    *open = NULL;
    if (!newline) newline = end;
    if (!delimiter || !memchr(at, '"', (size_t)(newline - at))) return newline;
    for (;; at++) {
        while (at < end && *at == ' ' && *at != delimiter) at++;
        if (at < end && *at == '"') {
            *open = at;
            at = skip_quoted(at, end);
            if (!at) return end;
            *open = NULL;
        }
        while (at < end && *at != delimiter && *at != '\n') at++;
        if (at == end || *at == '\n') return at;
    }
}

char io_find_delimiter(const char *at, const char *end)
{
    enum { COUNT = 3 };
    static const char candidates[COUNT + 1] = "\t,;";
    bool found[COUNT] = { false };
    const char *line = at, *c = at;
    for (;; c++) {
        const char *which;
        while (*c == ' ') c++;
        if (*c == '"') c = skip_quoted(c, end);
        if (!c) break;
        while (*c != '\n' && !(which = memchr(candidates, *c, COUNT))) c++;
        if (*c == '\n') break;
        found[which - candidates] = true;
    }
    /* A quote that is not closed has no meaning here; the caller reports it. */
    const char *newline = memchr(line, '\n', (size_t)(end - line));
    for (int i = 0; i < COUNT; i++)
        if (c ? found[i] : memchr(line, candidates[i], (size_t)(newline - line)) != NULL)
            return candidates[i];
    return 0;
}

uint64_t io_line_at(const struct io_column *column, const char *at)
{
    uint64_t line = 1 + column->lines_before;
    for (const char *c = column->text; c < at; c++) line += *c == '\n';
    return line;
}

uint64_t io_line_number(const struct io_column *column, uint64_t i)
{
    return io_line_at(column, column->text + column->lines[i]);
}
