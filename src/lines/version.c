/*
 * lines/version.c - versions such as file-1.10.tar.gz as bytes in their order.
 *
 * The order is that of GNU sort -V: "" first, then ".", "..", names that begin with a point, then
 * all others; names without their suffixes are compared first, then with them.  In a name, runs of
 * digits are compared as numbers, and other characters in the order ~, end, digits, letters, all
 * others.  The end of a name is compared with a run of digits as the number 0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "lines/order.h"

enum { TILDE = 1, END = 2, NUMBER = 3, FIRST_LETTER = 4, FIRST_OTHER = FIRST_LETTER + 52 };

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(int c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* The rank of a character that is not a digit. */
static unsigned char rank_of(int c)
{
    if (c == '~') return TILDE;
    if (c >= 'A' && c <= 'Z') return (unsigned char)(FIRST_LETTER + c - 'A');
    if (c >= 'a' && c <= 'z') return (unsigned char)(FIRST_LETTER + 26 + c - 'a');
    /* The characters before c that are neither digits, letters nor a tilde. */
    int before = c - 10 * (c > '9') - 26 * (c > 'Z') - 26 * (c > 'z') - (c > '~');
    return (unsigned char)(FIRST_OTHER + before);
}

/* The count of digits, such that a smaller count is less. */
static void put_count(struct sink *s, size_t n)
{
    enum { MOST = 0xf0 };
    if (n < MOST) {
        sink_put(s, (unsigned char)n);
        return;
    }
    int bytes = 0;
    for (uint64_t rest = n; rest; rest >>= 8) bytes++;
    sink_put(s, (unsigned char)(MOST + bytes));
    while (bytes--) sink_put(s, (unsigned char)((uint64_t)n >> 8 * bytes));
}

/* Appends the number whose first digit is c, and returns the character after it; *used counts the
 * characters that were read. */
static int put_digits(struct sink *s, struct reader *reader, int c, size_t *used)
{
    struct reader digits;
    size_t n = 0;
    while (c == '0') c = lines_read(reader), ++*used;
    digits = *reader;
    const int first = c;
    for (; is_digit(c); n++) c = lines_read(reader), ++*used;
    put_count(s, n);
    if (n) sink_put(s, (unsigned char)first);
    for (size_t i = 1; i < n && !sink_full(s); i++) sink_put(s, (unsigned char)lines_read(&digits));
    return c;
}

/* The first n characters. */
static void put_name(struct sink *s, struct reader reader, size_t n)
{
    bool number = false; /* the last characters were one */
    size_t used = 0;
    int c = n ? lines_read(&reader) : -1;
    if (c >= 0) used = 1;
    while (c >= 0 && used <= n && !sink_full(s)) {
        if (is_digit(c)) {
            /* A suffix begins with a point, so digits do not go beyond n. */
            sink_put(s, NUMBER);
            c = put_digits(s, &reader, c, &used);
            number = true;
        } else {
            sink_put(s, rank_of(c));
            c = lines_read(&reader);
            used++;
            number = false;
        }
    }
    if (!number) {
        sink_put(s, NUMBER);
        put_count(s, 0);
    }
    sink_put(s, END);
}

/* The length without the longest suffix that matches (\.[A-Za-z~][A-Za-z0-9~]*)*, which does not
 * contain the first character; *all receives the length with it. */
static size_t without_suffix(struct reader reader, size_t *all)
{
    enum { OUTSIDE, POINT, INSIDE } state = OUTSIDE;
    size_t length = 0, n = 0;
    for (int c; (c = lines_read(&reader)) >= 0; n++) {
        if (n && c == '.' && state != POINT) {
            /* Inside a suffix, another part of it may begin. */
            if (state == OUTSIDE) length = n;
            state = POINT;
        } else if (state == POINT) {
            if (is_letter(c) || c == '~') {
                state = INSIDE;
            } else if (c == '.') {
                length = n;
            } else {
                state = OUTSIDE;
            }
        } else if (state == INSIDE && !is_letter(c) && !is_digit(c) && c != '~') {
            state = OUTSIDE;
        }
    }
    *all = n;
    return state == INSIDE ? length : n;
}

void lines_put_version(struct sink *sink, struct reader reader)
{
    enum { EMPTY, ONE_POINT, TWO_POINTS, HIDDEN, OTHER };
    struct reader look = reader;
    int c[3];
    for (int i = 0; i < 3; i++) c[i] = lines_read(&look);
    if (c[0] < 0 || (c[0] == '.' && (c[1] < 0 || (c[1] == '.' && c[2] < 0)))) {
        sink_put(sink, c[0] < 0 ? EMPTY : c[1] < 0 ? ONE_POINT : TWO_POINTS);
        return;
    }
    sink_put(sink, c[0] == '.' ? HIDDEN : OTHER);
    size_t all;
    const size_t length = without_suffix(reader, &all);
    put_name(sink, reader, length);
    put_name(sink, reader, all);
}
