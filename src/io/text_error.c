/*
 * io/text_error.c - the messages of the parsers of numbers from text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void io_name_place(const struct io_text_parser *p, const char *at, uint64_t column,
                   char place[IO_PLACE])
{
    int n = snprintf(place, IO_PLACE, "line %llu", (unsigned long long)io_line_at(p->column, at));
    if (column)
        snprintf(place + n, IO_PLACE - (size_t)n, ", column %llu,", (unsigned long long)column);
}

/* A hint, if the first line may be a header, or the text is a table, but --column is not given. */
static const char *advice(const struct io_text_parser *p, uint64_t i, const char *at,
                          const char *end)
{
    static const char header[] = "; if the first line is a header, use --header";
    const bool first_line = p->guessed && i == 0 && !io_has_header(p->column);
    if (p->cut.number) return first_line ? header : "";
    for (const char *c = at; c < end; c++)
        if (*c == ',' || *c == ';' || *c == '\t' || (p->matrix && *c == ' '))
            return p->matrix ? "; for several columns, use .npy or Matrix Market"
                             : "; if the text has several columns, select one with --column";
    if (p->matrix) return "";
    char first = (char)(*at | 0x20);
    bool name = first_line && p->column->n > 1 && first >= 'a' && first <= 'z';
    return name ? header : "";
}

io_status io_bad_line(const struct io_text_parser *p, uint64_t i, const char *at, const char *end,
                      io_number why)
{
    if (end > at && end[-1] == '\r') end--;
    char shown[48], place[IO_PLACE];
    size_t n = 0;
    bool blank = true;
    for (const char *c = at; c < end; c++) {
        blank &= *c == ' ' || *c == '\t' || *c == '\r';
        if (n < sizeof shown - 1) shown[n++] = *c >= ' ' && *c <= '~' ? *c : '?';
    }
    shown[n] = 0;
    const char *dots = (size_t)(end - at) > n ? "..." : "";
    io_name_place(p, at, p->cut.number, place);
    if (blank) return io_fail(p->error, IO_FAIL, p->name, "%s is blank, not a number", place);
    if (why == IO_NUMBER_BAD)
        return io_fail(p->error, IO_FAIL, p->name, "%s is not a number: \"%s%s\"%s", place, shown,
                       dots, advice(p, i, at, end));
    return io_fail(p->error, IO_FAIL, p->name, "%s is %s %s: \"%s%s\"", place,
                   why == IO_NUMBER_FRACTION ? "not an integer of type" : "out of range for",
                   ech_dtype_name(p->column->dtype), shown, dots);
}

io_status io_short_line(const struct io_text_parser *p, const char *at, uint64_t columns)
{
    unsigned long long has = columns, want = p->cut.number;
    char place[IO_PLACE];
    io_name_place(p, at, 0, place);
    return io_fail(p->error, IO_FAIL, p->name, "%s has %llu column%s, but column %llu is selected",
                   place, has, has == 1 ? "" : "s", want);
}

io_status io_bad_quotes(const struct io_text_parser *p, const char *at, uint64_t column,
                        const char *fault)
{
    char place[IO_PLACE];
    io_name_place(p, at, column, place);
    return io_fail(p->error, IO_FAIL, p->name, "%s %s", place, fault);
}

/* Exact integers are accepted, because f64 is written as such up to 10^17. */
static bool is_rounded(const char *at, const char *end, const void *key, bool *huge)
{
    const double value = fabs(io_key_to_double(ECH_F64, key));
    bool negative;
    uint64_t magnitude;
    if (!(value >= 9007199254740992.0)) return false; /* 2^53 */
    const io_number found = io_parse_integer(at, end, &negative, &magnitude);
    *huge = found == IO_NUMBER_RANGE;
    if (found != IO_NUMBER_OK) return *huge;
    return value >= 18446744073709551616.0 || (uint64_t)value != magnitude;
}

void io_note_rounded(const struct io_text_parser *p, const char *at, const char *end,
                     const void *key, struct io_rounded *rounded)
{
    enum { MOST = 40 };
    if (rounded->found || !is_rounded(at, end, key, &rounded->huge)) return;
    rounded->found = true;
    io_name_place(p, at, p->cut.number, rounded->place);
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    const int length = (int)strspn(at, "+-0123456789");
    snprintf(rounded->digits, sizeof rounded->digits, "%.*s%s", length > MOST ? MOST : length, at,
             length > MOST ? "..." : "");
}

io_status io_fail_rounded(const struct io_text_parser *p, const struct io_rounded *rounded,
                          const char *reason)
{
    if (rounded->huge)
        return io_fail(p->error, IO_FAIL, p->name,
                       "%s is %s, an integer out of range for i64 and u64; use --type f64 to "
                       "accept rounded integers",
                       rounded->place, rounded->digits);
    return io_fail(p->error, IO_FAIL, p->name,
                   "%s is %s, an integer that f64 would round; the column must be f64 because "
                   "%s; use --type f64 to accept rounded integers, or --type i64 or u64 to accept "
                   "only integers",
                   rounded->place, rounded->digits, reason);
}

void io_not_integers(const struct io_text_parser *p, char reason[IO_REASON], const char *at,
                     const char *what)
{
    char place[IO_PLACE];
    io_name_place(p, at, p->cut.number, place);
    snprintf(reason, IO_REASON, "%s %s", place, what);
}
