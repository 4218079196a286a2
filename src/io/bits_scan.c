/*
 * io/bits_scan.c - reads words and numbers of a text, and counts lines for messages.
 *
 * Bytes are consumed from the look-ahead of the source, so that the remaining bytes can be read
 * from the source afterwards.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/bits.h"

#include <stdarg.h>
#include <stdio.h>

int io_scan_fill(struct io_scan *scan)
{
    struct io_source *source = scan->source;
    if (source->progress) source->progress->tick(source->progress->user, scan->taken, scan->size);
    if (scan->status == IO_OK) scan->status = io_look(source, scan->error);
    return source->ahead_bytes ? *source->ahead : -1;
}

static bool is_blank(int c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

void io_scan_blanks(struct io_scan *scan)
{
    while (is_blank(io_scan_peek(scan))) io_scan_take(scan);
}

void io_scan_space(struct io_scan *scan)
{
    while (is_blank(io_scan_peek(scan)) || io_scan_peek(scan) == '\n') io_scan_take(scan);
}

io_status io_scan_fail(struct io_scan *scan, const char *format, ...)
{
    if (scan->status != IO_OK) return scan->status;
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return io_fail(scan->error, IO_FAIL, scan->source->name, "line %llu %s",
                   (unsigned long long)scan->line, text);
}

/* Reports a word that is not a number; its first n characters are already in word. */
static io_status bad_word(struct io_scan *scan, const char *what, char *word, size_t n)
{
    enum { SHOWN = 24 };
    int c;
    bool more = false;
    while ((c = io_scan_peek(scan)) >= 0 && c != '\n' && !is_blank(c)) {
        more = n == SHOWN;
        if (more) break;
        word[n++] = c > ' ' && c <= '~' ? (char)c : '?';
        io_scan_take(scan);
    }
    word[n] = 0;
    if (n == 0) return io_scan_fail(scan, "ends before %s", what);
    return io_scan_fail(scan, "has \"%s%s\" instead of %s", word, more ? "..." : "", what);
}

io_status io_scan_signed(struct io_scan *scan, const char *what, uint64_t most, bool *negative,
                         uint64_t *value)
{
    char word[64];
    size_t n = 0;
    bool over = false;
    io_scan_space(scan);
    int c = io_scan_peek(scan);
    if (c < 0) return io_scan_fail(scan, "ends before %s", what);
    *negative = c == '-';
    *value = 0;
    if (c == '-' || c == '+') word[n++] = (char)io_scan_take(scan);
    size_t sign = n;
    while ((c = io_scan_peek(scan)) >= '0' && c <= '9') {
        unsigned digit = (unsigned)c - '0';
        over |= *value > (UINT64_MAX - digit) / 10;
        *value = *value * 10 + digit;
        io_scan_take(scan);
        if (n < 21) word[n++] = (char)c;
    }
    bool ends = c < 0 || c == '\n' || is_blank(c);
    if (n == sign || !ends) return bad_word(scan, what, word, n);
    word[n] = 0;
    if (over || *value > most)
        return io_scan_fail(scan, "has %s%s as %s; the maximum is %llu", word, n == 21 ? "..." : "",
                            what, (unsigned long long)most);
    return scan->status;
}

io_status io_scan_number(struct io_scan *scan, const char *what, uint64_t most, uint64_t *value)
{
    bool negative = false;
    io_status status = io_scan_signed(scan, what, most, &negative, value);
    if (status == IO_OK && negative)
        return io_scan_fail(scan, "has -%llu as %s, which cannot be negative",
                            (unsigned long long)*value, what);
    return status;
}

io_status io_scan_end(struct io_scan *scan, const char *after)
{
    io_scan_space(scan);
    if (io_scan_peek(scan) >= 0) return io_scan_fail(scan, "has more text after %s", after);
    return scan->status;
}
