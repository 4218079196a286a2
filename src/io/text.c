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

enum { PLACE = 64 };

/* "line 7" or "line 7, column 2," of the text at at; column 0: none. */
static void name_place(const struct parse *p, const char *at, uint64_t column, char place[PLACE])
{
    int n = snprintf(place, PLACE, "line %llu", (unsigned long long)io_line_at(p->column, at));
    if (column)
        snprintf(place + n, PLACE - (size_t)n, ", column %llu,", (unsigned long long)column);
}

/* A hint, if the first line may be a header, or the text is a table, but --column is not given. */
static const char *advice(const struct parse *p, uint64_t i, const char *at, const char *end)
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

/* [at, end) is a part of record i. */
static io_status bad_line(const struct parse *p, uint64_t i, const char *at, const char *end,
                          io_number why)
{
    if (end > at && end[-1] == '\r') end--;
    char shown[48], place[PLACE];
    size_t n = 0;
    bool blank = true;
    for (const char *c = at; c < end; c++) {
        blank &= *c == ' ' || *c == '\t' || *c == '\r';
        if (n < sizeof shown - 1) shown[n++] = *c >= ' ' && *c <= '~' ? *c : '?';
    }
    shown[n] = 0;
    const char *dots = (size_t)(end - at) > n ? "..." : "";
    name_place(p, at, p->cut.number, place);
    if (blank) return io_fail(p->error, IO_FAIL, p->name, "%s is blank, not a number", place);
    if (why == IO_NUMBER_BAD)
        return io_fail(p->error, IO_FAIL, p->name, "%s is not a number: \"%s%s\"%s", place, shown,
                       dots, advice(p, i, at, end));
    return io_fail(p->error, IO_FAIL, p->name, "%s is %s %s: \"%s%s\"", place,
                   why == IO_NUMBER_FRACTION ? "not an integer of type" : "out of range for",
                   ech_dtype_name(p->column->dtype), shown, dots);
}

static io_status short_line(const struct parse *p, const char *at, uint64_t columns)
{
    unsigned long long has = columns, want = p->cut.number;
    char place[PLACE];
    name_place(p, at, 0, place);
    return io_fail(p->error, IO_FAIL, p->name, "%s has %llu column%s, but column %llu is selected",
                   place, has, has == 1 ? "" : "s", want);
}

/* The fault is in this column, which begins at at. */
static io_status bad_quotes(const struct parse *p, const char *at, uint64_t column,
                            const char *fault)
{
    char place[PLACE];
    name_place(p, at, column, place);
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
static io_status rounded(const struct parse *p, const char *at, const char *end, const char *reason)
{
    enum { MOST = 40 };
    bool negative;
    uint64_t magnitude;
    char place[PLACE];
    name_place(p, at, p->cut.number, place);
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

/* Parses every record as dtype.  If reason is not NULL, dtype is f64, and integers that f64 would
 * round are errors. */
static io_status parse_as(const struct parse *p, ech_dtype dtype, const char *reason)
{
    static const char nan[] = "nan";
    struct io_column *column = p->column;
    const char *end = column->text + column->text_bytes, *at = column->text + column->head_bytes;
    size_t bytes = ech_dtype_bytes(dtype);
    char *key = column->keys;
    const char *round_at = NULL, *round_end = NULL;
    column->dtype = dtype;
    for (uint64_t i = 0; i < column->n; i++, key += bytes) {
        const char *newline = record_end(column, at, end), *first = at, *last = newline;
        column->lines[i] = (uint64_t)(at - column->text);
        if (p->cut.number) {
            const char *fault;
            uint64_t columns = io_cut_record(&p->cut, &first, &last, &fault);
            if (fault) return bad_quotes(p, first, columns, fault);
            if (columns != p->cut.number) return short_line(p, at, columns);
        }
        io_number found;
        if (p->cut.number && io_is_float(dtype) && all_blank(first, last))
            found = io_parse_key(nan, nan + sizeof nan - 1, dtype, key);
        else
            found = io_parse_key(first, last, dtype, key);
        if (found != IO_NUMBER_OK) return bad_line(p, i, first, last, found);
        if (reason && !round_at && is_rounded(first, last, key)) round_at = first, round_end = last;
        at = newline + 1;
        if (p->progress && i % (1 << 20) == 0)
            p->progress->tick(p->progress->user, (uint64_t)(at - column->text), column->text_bytes);
    }
    /* A line that is not a number is reported first. */
    return round_at ? rounded(p, round_at, round_end, reason) : IO_OK;
}

/* Writes "line 7 <what>"; returns false. */
static bool not_integers(const struct parse *p, char reason[REASON], const char *at,
                         const char *what)
{
    char place[PLACE];
    name_place(p, at, p->cut.number, place);
    snprintf(reason, REASON, "%s %s", place, what);
    return false;
}

/* Parses records as 64-bit integers.  Returns false if one requires f64 or is invalid, with the
 * reason. */
static bool parse_integers(const struct parse *p, char reason[REASON])
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
        if (found == IO_NUMBER_BAD)
            return not_integers(p, reason, first,
                                all_blank(first, last) ? "is empty" : "is not an integer");
        if (found == IO_NUMBER_RANGE || (negative && magnitude > (uint64_t)1 << 63))
            return not_integers(p, reason, first, "is out of range for i64 and u64");
        if (negative && magnitude != 0 && !below) first_below = first;
        if (!negative && magnitude > INT64_MAX && !above) first_above = first;
        below |= negative && magnitude != 0;
        above |= !negative && magnitude > INT64_MAX;
        if (below && above) {
            char place[PLACE], what[112];
            name_place(p, first_above, p->cut.number, place);
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
    char reason[REASON] = "";
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
