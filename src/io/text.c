/*
 * io/text.c - a column of numbers from lines of text.
 *
 * Lines are not copied or changed: lines[i] is the offset of line i, and keys[i] its number.  Keys
 * and offsets have at most 8 bytes each.  They are sorted as keys and values; then the lines are
 * written from the original text.
 *
 * If lines have several columns, field.c finds the column of the number.  An empty column is NaN.
 *
 * Without a type, a column of integers is i64, or u64 if one exceeds i64 and none is negative.  Any
 * other column is f64, and is rejected if it contains an integer that f64 would round:
 * different identifiers must not become equal because of one empty column.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The arguments of the parsers. */
struct parse {
    struct io_column *column;
    struct io_cut cut;
    bool guessed; /* neither --header nor --no-header is given */
    bool matrix;  /* the text is a matrix; there is no option --column */
    const char *name;
    const struct io_progress *progress;
    struct io_error *error;
};

static uint64_t count_lines(const char *text, size_t bytes)
{
    uint64_t n = 0;
    for (size_t i = 0; i < bytes; i++) n += text[i] == '\n';
    return n;
}

/* A header line ends in a newline, a byte order mark does not. */
bool io_has_header(const struct io_column *column)
{
    return column->head_bytes && column->text[column->head_bytes - 1] == '\n';
}

/* "line 7" or "line 7, column 2,", counted from 1. */
static void name_place(const struct parse *p, uint64_t line, char place[64])
{
    unsigned long long number = line + 1 + (io_has_header(p->column) ? 1 : 0);
    int n = snprintf(place, 64, "line %llu", number);
    if (p->cut.number)
        snprintf(place + n, 64 - (size_t)n, ", column %llu,", (unsigned long long)p->cut.number);
}

/* A hint, if the first line may be a header, or the text is a table, but --column is not given. */
static const char *advice(const struct parse *p, uint64_t line, const char *at, const char *end)
{
    static const char header[] = "; if the first line is a header, use --header";
    const bool first_line = p->guessed && line == 0 && !io_has_header(p->column);
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

static io_status bad_line(const struct parse *p, uint64_t line, const char *at, const char *end,
                          io_number why)
{
    if (end > at && end[-1] == '\r') end--;
    char shown[48], place[64];
    size_t n = 0;
    bool blank = true;
    for (const char *c = at; c < end; c++) {
        blank &= *c == ' ' || *c == '\t' || *c == '\r';
        if (n < sizeof shown - 1) shown[n++] = *c >= ' ' && *c <= '~' ? *c : '?';
    }
    shown[n] = 0;
    const char *dots = (size_t)(end - at) > n ? "..." : "";
    name_place(p, line, place);
    if (blank) return io_fail(p->error, IO_FAIL, p->name, "%s is blank, not a number", place);
    if (why == IO_NUMBER_BAD)
        return io_fail(p->error, IO_FAIL, p->name, "%s is not a number: \"%s%s\"%s", place, shown,
                       dots, advice(p, line, at, end));
    return io_fail(p->error, IO_FAIL, p->name, "%s is %s %s: \"%s%s\"", place,
                   why == IO_NUMBER_FRACTION ? "not an integer of type" : "out of range for",
                   ech_dtype_name(p->column->dtype), shown, dots);
}

static io_status short_line(const struct parse *p, uint64_t line, uint64_t columns)
{
    unsigned long long has = columns, want = p->cut.number;
    struct parse whole = *p;
    char place[64];
    whole.cut.number = 0;
    name_place(&whole, line, place);
    return io_fail(p->error, IO_FAIL, p->name, "%s has %llu column%s, but column %llu is selected",
                   place, has, has == 1 ? "" : "s", want);
}

/* The fault is in this column of the line. */
static io_status bad_quotes(const struct parse *p, uint64_t line, uint64_t column,
                            const char *fault)
{
    struct parse other = *p;
    char place[64];
    other.cut.number = column;
    name_place(&other, line, place);
    return io_fail(p->error, IO_FAIL, p->name, "%s %s", place, fault);
}

static bool all_blank(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r')) at++;
    return at == end;
}

enum { REASON = 192 };

/* Whether the number is an integer that differs from key, the same number as f64, or one of 2^64 or
 * more.  Exact integers are accepted, because f64 is written as such up to 10^17. */
static bool is_rounded(const char *at, const char *end, const void *key)
{
    double value = fabs(io_key_to_double(ECH_F64, key));
    bool negative;
    uint64_t magnitude;
    if (!(value >= 9007199254740992.0)) return false; /* 2^53 */
    io_number found = io_parse_integer(at, end, &negative, &magnitude);
    if (found != IO_NUMBER_OK) return found == IO_NUMBER_RANGE;
    return value >= 18446744073709551616.0 || (uint64_t)value != magnitude;
}

/* [at, end) is an integer, and reason states why the column is not one of integers. */
static io_status rounded(const struct parse *p, uint64_t line, const char *at, const char *end,
                         const char *reason)
{
    enum { MOST = 40 };
    bool negative;
    uint64_t magnitude;
    char place[64];
    name_place(p, line, place);
    const bool huge = io_parse_integer(at, end, &negative, &magnitude) == IO_NUMBER_RANGE;
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    int length = (int)strspn(at, "+-0123456789");
    const char *dots = length > MOST ? "..." : "";
    if (length > MOST) length = MOST;
    if (huge)
        return io_fail(p->error, IO_FAIL, p->name,
                       "%s is %.*s%s, an integer out of range for i64 and u64; use --type f64 to "
                       "accept rounded integers",
                       place, length, at, dots);
    return io_fail(p->error, IO_FAIL, p->name,
                   "%s is %.*s%s, an integer that f64 would round; the column must be f64 because "
                   "%s; use --type f64 to accept rounded integers, or --type i64 or u64 to accept "
                   "only integers",
                   place, length, at, dots, reason);
}

/* Parses every line as dtype.  If reason is not NULL, dtype is f64, and integers that f64 would
 * round are errors. */
static io_status parse_as(const struct parse *p, ech_dtype dtype, const char *reason)
{
    static const char nan[] = "nan";
    struct io_column *column = p->column;
    const char *end = column->text + column->text_bytes, *at = column->text + column->head_bytes;
    size_t bytes = ech_dtype_bytes(dtype);
    char *key = column->keys;
    const char *round_at = NULL, *round_end = NULL;
    uint64_t round_line = 0;
    column->dtype = dtype;
    for (uint64_t i = 0; i < column->n; i++, key += bytes) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *first = at, *last = newline;
        column->lines[i] = (uint64_t)(at - column->text);
        if (p->cut.number) {
            const char *fault;
            uint64_t columns = io_cut_line(&p->cut, &first, &last, &fault);
            if (fault) return bad_quotes(p, i, columns, fault);
            if (columns != p->cut.number) return short_line(p, i, columns);
        }
        io_number found;
        if (p->cut.number && io_is_float(dtype) && all_blank(first, last))
            found = io_parse_key(nan, nan + sizeof nan - 1, dtype, key);
        else
            found = io_parse_key(first, last, dtype, key);
        if (found != IO_NUMBER_OK) return bad_line(p, i, first, last, found);
        if (reason && !round_at && is_rounded(first, last, key))
            round_at = first, round_end = last, round_line = i;
        at = newline + 1;
        if (p->progress && i % (1 << 20) == 0)
            p->progress->tick(p->progress->user, (uint64_t)(at - column->text), column->text_bytes);
    }
    /* A line that is not a number is reported first. */
    return round_at ? rounded(p, round_line, round_at, round_end, reason) : IO_OK;
}

/* Writes "line 7 <what>"; returns false. */
static bool not_integers(const struct parse *p, char reason[REASON], uint64_t line,
                         const char *what)
{
    char place[64];
    name_place(p, line, place);
    snprintf(reason, REASON, "%s %s", place, what);
    return false;
}

/* Parses lines as 64-bit integers.  Returns false if a line requires f64 or is invalid, with the
 * reason. */
static bool parse_integers(const struct parse *p, char reason[REASON])
{
    struct io_column *column = p->column;
    const char *end = column->text + column->text_bytes, *at = column->text + column->head_bytes;
    uint64_t *keys = column->keys;
    bool below = false, above = false;
    uint64_t first_below = 0, first_above = 0;
    for (uint64_t i = 0; i < column->n; i++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *first = at, *last = newline;
        const char *fault = NULL;
        bool negative;
        uint64_t magnitude;
        column->lines[i] = (uint64_t)(at - column->text);
        if (p->cut.number && io_cut_line(&p->cut, &first, &last, &fault) != p->cut.number)
            return false;
        if (fault) return false;
        io_number found = io_parse_integer(first, last, &negative, &magnitude);
        if (found == IO_NUMBER_BAD)
            return not_integers(p, reason, i,
                                all_blank(first, last) ? "is empty" : "is not an integer");
        if (found == IO_NUMBER_RANGE || (negative && magnitude > (uint64_t)1 << 63))
            return not_integers(p, reason, i, "is out of range for i64 and u64");
        if (negative && magnitude != 0 && !below) first_below = i;
        if (!negative && magnitude > INT64_MAX && !above) first_above = i;
        below |= negative && magnitude != 0;
        above |= !negative && magnitude > INT64_MAX;
        if (below && above) {
            char place[64], what[112];
            name_place(p, first_above, place);
            snprintf(what, sizeof what, "is negative and %s exceeds i64", place);
            return not_integers(p, reason, first_below, what);
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
    struct parse p = { .column = column,
                       .guessed = hints->field.header == IO_HEADER_GUESS,
                       .matrix = hints->matrix,
                       .name = name,
                       .progress = progress,
                       .error = error };
    size_t bytes = hints->dtype < 0 ? 8 : ech_dtype_bytes((ech_dtype)hints->dtype);
    io_status status = io_find_field(column, &hints->field, name, &p.cut, error);
    if (status != IO_OK) return status;
    column->n = count_lines(column->text, column->text_bytes) - (io_has_header(column) ? 1 : 0);
    column->keys_bytes = (size_t)column->n * bytes;
    column->keys = malloc(column->keys_bytes + 1);
    column->lines = malloc((size_t)column->n * sizeof *column->lines + 1);
    if (!column->keys || !column->lines)
        return io_no_memory(error, name, column->n * (bytes + sizeof *column->lines),
                            "its numbers");
    char reason[REASON] = "";
    if (hints->dtype >= 0) return parse_as(&p, (ech_dtype)hints->dtype, NULL);
    if (parse_integers(&p, reason)) return IO_OK;
    /* The elements of a matrix are always f64. */
    return parse_as(&p, ECH_F64, p.matrix ? NULL : reason);
}

io_status io_text_lines(struct io_column *column, const char *name, struct io_error *error)
{
    const char *end = column->text + column->text_bytes, *at = column->text + column->head_bytes;
    column->n = count_lines(column->text, column->text_bytes);
    column->lines = malloc((size_t)column->n * sizeof *column->lines + 1);
    if (!column->lines)
        return io_no_memory(error, name, column->n * sizeof *column->lines, "its lines");
    for (uint64_t i = 0; i < column->n; i++) {
        column->lines[i] = (uint64_t)(at - column->text);
        at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
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
