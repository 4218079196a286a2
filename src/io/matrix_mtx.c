/*
 * io/matrix_mtx.c - reads Matrix Market files: coordinates, or an array in column-major order.
 *
 *     %%MatrixMarket matrix coordinate real general       field: real, integer, pattern
 *     % comments                                          symmetry: general, symmetric,
 *     rows cols lines                                     skew-symmetric
 *     row col value                                       counted from 1; a pattern has no values
 *
 * A symmetric file contains only the lower triangle.  The whole text is read and divided at line
 * ends into parts.  All threads count the lines of the parts, which gives the index of the first
 * entry of each part, and then parse them.  If several lines are invalid, the first is reported.
 * Format: math.nist.gov/MatrixMarket/formats.html
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/matrix.h"
#include "io/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PARTS = 256, MIN_PART = 1 << 16 };

struct part {
    const char *at, *end;
    uint64_t lines, entries; /* number of lines and of entries before this part */
    uint64_t mirrored;       /* entries off the diagonal: in this part; later, before this part */
    uint64_t bad_line;       /* 0: none */
    char bad[192];
};

struct reading {
    const char *name;
    struct io_error *error;
    struct io_matrix *matrix;
    const char *text, *end;
    uint64_t bytes; /* of the input */
    uint64_t line;  /* of the header, from 1 */
    bool integer;
    uint64_t announced; /* number of entries in the header */
    struct part *parts;
    int count;
};

static io_status fail_line(const struct reading *r, uint64_t line, const char *text)
{
    return io_fail(r->error, IO_FAIL, r->name, "line %llu %s", (unsigned long long)line, text);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at)) at++;
    return at;
}

static const char *word_end(const char *at, const char *end)
{
    while (at < end && !is_blank(*at)) at++;
    return at;
}

/* The end of the line; every line ends in a newline. */
static const char *line_end(const char *at, const char *end)
{
    return memchr(at, '\n', (size_t)(end - at));
}

/* Writes 'has "12x" for a row'; unprintable characters are shown as "?". */
static void say_word(char bad[192], const char *at, const char *end, const char *what)
{
    char shown[32];
    size_t n = 0;
    for (; at < end && !is_blank(*at) && n < sizeof shown - 1; at++)
        shown[n++] = *at > ' ' && *at <= '~' ? *at : '?';
    shown[n] = 0;
    if (n)
        snprintf(bad, 192, "has \"%s\" instead of %s", shown, what);
    else
        snprintf(bad, 192, "ends before %s", what);
}

/* Parses an integer and returns the position after it, or NULL after a message. */
static const char *take_number(const char *at, const char *end, const char *what, uint64_t *value,
                               char bad[192])
{
    at = skip_blanks(at, end);
    const char *first = at;
    uint64_t x = 0;
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        const unsigned digit = (unsigned)(*at - '0');
        if (x > ((uint64_t)INT64_MAX - digit) / 10) break;
        x = x * 10 + digit;
    }
    *value = x;
    if (at > first && (at == end || is_blank(*at))) return at;
    say_word(bad, first, end, what);
    return NULL;
}

/* ---- The header ---- */

static io_status read_banner(struct reading *r, const char *end)
{
    static const char *const names[] = { "banner", "object", "format", "field", "symmetry" };
    static const char *const allowed[][4] = {
        { "%%MatrixMarket" },
        { "matrix" },
        { "coordinate", "array" },
        { "real", "double", "integer", "pattern" },
        { "general", "symmetric", "skew-symmetric" },
    };
    const char *at = r->text;
    int which[5];
    for (int i = 0; i < 5; i++) {
        char word[24] = "";
        at = skip_blanks(at, end);
        const char *after = word_end(at, end);
        for (size_t j = 0; at + j < after && j < sizeof word - 1; j++)
            word[j] = at[j] > ' ' && at[j] <= '~' ? at[j] : '?';
        at = after;
        for (which[i] = 0; which[i] < 4; which[i]++)
            if (allowed[i][which[i]] && strcasecmp(word, allowed[i][which[i]]) == 0) break;
        if (which[i] < 4) continue;
        return io_fail(r->error, IO_FAIL, r->name,
                       "is not a supported Matrix Market file: in line 1 the %s is \"%s\"",
                       names[i], word);
    }
    if (skip_blanks(at, end) < end)
        return fail_line(r, 1, "has more than the five words of a banner");
    r->matrix->dense = which[2] == 1;
    r->integer = which[3] == 2;
    r->matrix->pattern = which[3] == 3;
    r->matrix->symmetry = (io_symmetry)which[4];
    if (r->matrix->dense && r->matrix->pattern)
        return fail_line(r, 1, "declares an array to be a pattern, which has no values");
    return IO_OK;
}

/* The number of values in the file of an array. */
static uint64_t array_entries(const struct io_matrix *m)
{
    if (m->symmetry == IO_GENERAL) return m->rows * m->cols;
    if (m->symmetry == IO_SYMMETRIC) return m->rows * (m->rows + 1) / 2;
    return m->rows ? m->rows * (m->rows - 1) / 2 : 0;
}

static io_status read_sizes(struct reading *r, const char *at, const char *end)
{
    struct io_matrix *m = r->matrix;
    char bad[192];
    at = take_number(at, end, "the number of rows", &m->rows, bad);
    if (at) at = take_number(at, end, "the number of columns", &m->cols, bad);
    if (at && !m->dense) at = take_number(at, end, "the number of entries", &r->announced, bad);
    if (!at) return fail_line(r, r->line, bad);
    if (skip_blanks(at, end) < end) return fail_line(r, r->line, "has more than the sizes");
    if (m->symmetry != IO_GENERAL && m->rows != m->cols)
        return io_fail(r->error, IO_FAIL, r->name,
                       "line %llu has %llu rows and %llu columns, but a symmetric matrix is square",
                       (unsigned long long)r->line, (unsigned long long)m->rows,
                       (unsigned long long)m->cols);
    if (m->dense && m->cols && m->rows > (uint64_t)(INT64_MAX / 16) / m->cols)
        return io_fail(r->error, IO_FAIL, r->name,
                       "line %llu has %llu rows and %llu columns, which exceeds the address space",
                       (unsigned long long)r->line, (unsigned long long)m->rows,
                       (unsigned long long)m->cols);
    if (m->dense) r->announced = array_entries(m);
    return IO_OK;
}

/* Reads the banner, comments and sizes; advances r->text past them. */
static io_status read_head(struct reading *r)
{
    io_status status = IO_OK;
    for (r->line = 1; r->text < r->end; r->line++) {
        const char *end = line_end(r->text, r->end), *at = skip_blanks(r->text, end);
        const bool sizes = r->line > 1 && at < end && *at != '%';
        if (r->line == 1) status = read_banner(r, end);
        if (sizes) status = read_sizes(r, at, end);
        r->text = end + 1;
        if (status != IO_OK || sizes) return status;
    }
    return io_fail(r->error, IO_FAIL, r->name,
                   "ends before the line with the numbers of rows and columns");
}

/* ---- Parts ---- */

static void cut(struct reading *r)
{
    const size_t bytes = (size_t)(r->end - r->text);
    size_t step = bytes / PARTS + 1;
    if (step < MIN_PART) step = MIN_PART;
    r->count = 0;
    for (const char *at = r->text; at < r->end;) {
        struct part *p = &r->parts[r->count++];
        const size_t left = (size_t)(r->end - at);
        *p = (struct part){ .at = at };
        at = left <= step ? r->end : line_end(at + step - 1, r->end) + 1;
        p->end = at;
    }
}

/* The next line with an entry, without blanks at its ends; NULL at the end. */
static const char *next_entry(const char **at, const char *end, const char **last, uint64_t *lines)
{
    while (*at < end) {
        const char *first = *at, *newline = line_end(first, end);
        *at = newline + 1;
        ++*lines;
        first = skip_blanks(first, newline);
        if (first == newline || *first == '%') continue;
        *last = newline;
        while (is_blank((*last)[-1])) --*last;
        return first;
    }
    return NULL;
}

static void count_part(struct part *p)
{
    const char *at = p->at, *last;
    uint64_t lines = 0, entries = 0;
    while (next_entry(&at, p->end, &last, &lines)) entries++;
    p->lines = lines;
    p->entries = entries;
}

static const char *parse_value(const struct reading *r, const char *at, const char *last,
                               double *value, char bad[192])
{
    at = skip_blanks(at, last);
    bool negative;
    uint64_t magnitude;
    const io_number found = r->integer ? io_parse_integer(at, last, &negative, &magnitude)
                                       : io_parse_float(at, last, value);
    if (found != IO_NUMBER_OK) {
        say_word(bad, at, last, r->integer ? "an integer" : "a value");
        return NULL;
    }
    if (r->integer) *value = negative ? -(double)magnitude : (double)magnitude;
    return last;
}

static bool parse_coordinate(const struct reading *r, const char *at, const char *last,
                             uint64_t entry, struct part *p)
{
    const struct io_matrix *m = r->matrix;
    uint64_t i, j;
    double value = 1;
    at = take_number(at, last, "a row", &i, p->bad);
    if (at) at = take_number(at, last, "a column", &j, p->bad);
    if (at && !m->pattern) at = parse_value(r, at, last, &value, p->bad);
    if (!at) return false;
    if (skip_blanks(at, last) < last) {
        snprintf(p->bad, sizeof p->bad, "has more than a row and a column number");
        return false;
    }
    if (i == 0 || j == 0 || i > m->rows || j > m->cols) {
        snprintf(p->bad, sizeof p->bad,
                 "has row %llu, column %llu; rows are 1 to %llu, columns 1 to %llu",
                 (unsigned long long)i, (unsigned long long)j, (unsigned long long)m->rows,
                 (unsigned long long)m->cols);
        return false;
    }
    if (m->symmetry == IO_SKEW && i == j) {
        snprintf(p->bad, sizeof p->bad,
                 "has diagonal element %llu, which is zero in a skew-symmetric matrix",
                 (unsigned long long)i);
        return false;
    }
    m->row[entry] = (int64_t)i - 1;
    m->column[entry] = (int64_t)j - 1;
    m->values[entry] = value;
    p->mirrored += m->symmetry != IO_GENERAL && i != j;
    return true;
}

/* The position of value number e of an array: column-major, only the lower triangle if symmetric */
static void place_of(const struct io_matrix *m, uint64_t e, uint64_t *i, uint64_t *j)
{
    if (m->symmetry == IO_GENERAL) {
        *i = e % m->rows;
        *j = e / m->rows;
        return;
    }
    /* Columns have side, side - 1, ... values.  Find the column that contains value e. */
    const uint64_t side = m->symmetry == IO_SYMMETRIC ? m->rows : m->rows - 1;
    uint64_t low = 0, high = side;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (middle * side - middle * (middle - 1) / 2 <= e)
            low = middle;
        else
            high = middle;
    }
    *j = low;
    *i = low + (e - (low * side - (low ? low * (low - 1) / 2 : 0))) +
         (m->symmetry == IO_SYMMETRIC ? 0 : 1);
}

static bool parse_element(const struct reading *r, const char *at, const char *last, uint64_t entry,
                          struct part *p)
{
    const struct io_matrix *m = r->matrix;
    uint64_t i, j;
    double value;
    at = parse_value(r, at, last, &value, p->bad);
    if (!at) return false;
    place_of(m, entry, &i, &j);
    m->values[i * m->cols + j] = value;
    if (m->symmetry != IO_GENERAL && i != j)
        m->values[j * m->cols + i] = m->symmetry == IO_SKEW ? -value : value;
    return true;
}

static void parse_part(const struct reading *r, struct part *p)
{
    const char *at = p->at, *first, *last;
    uint64_t line = p->lines, entry = p->entries;
    while (entry < r->announced && (first = next_entry(&at, p->end, &last, &line))) {
        const bool good = r->matrix->dense ? parse_element(r, first, last, entry, p)
                                           : parse_coordinate(r, first, last, entry, p);
        if (!good) {
            p->bad_line = line;
            return;
        }
        entry++;
    }
}

static void mirror_part(const struct reading *r, const struct part *p, uint64_t end)
{
    const struct io_matrix *m = r->matrix;
    uint64_t to = r->announced + p->mirrored;
    for (uint64_t e = p->entries; e < end; e++) {
        if (m->row[e] == m->column[e]) continue;
        m->row[to] = m->column[e];
        m->column[to] = m->row[e];
        m->values[to++] = m->symmetry == IO_SKEW ? -m->values[e] : m->values[e];
    }
}

/* ---- The whole file ---- */

static void tick(const struct io_source *source, uint64_t done, uint64_t total)
{
    if (source->progress) source->progress->tick(source->progress->user, done, total);
}

static void count_one(void *reading, int i)
{
    count_part(&((struct reading *)reading)->parts[i]);
}

static io_status count_all(struct reading *r)
{
    uint64_t lines = r->line, entries = 0;
    io_for_each(r->count, count_one, r);
    for (int i = 0; i < r->count; i++) {
        const struct part p = r->parts[i];
        r->parts[i].lines = lines;
        r->parts[i].entries = entries;
        lines += p.lines;
        entries += p.entries;
    }
    if (entries == r->announced) return IO_OK;
    return io_fail(r->error, IO_FAIL, r->name, "has %llu entries, but line %llu specifies %llu",
                   (unsigned long long)entries, (unsigned long long)r->line,
                   (unsigned long long)r->announced);
}

static void parse_one(void *reading, int i)
{
    struct reading *r = reading;
    parse_part(r, &r->parts[i]);
}

static io_status parse_all(struct reading *r)
{
    io_for_each(r->count, parse_one, r);
    for (int i = 0; i < r->count; i++)
        if (r->parts[i].bad_line) return fail_line(r, r->parts[i].bad_line, r->parts[i].bad);
    return IO_OK;
}

static void mirror_one(void *reading, int i)
{
    struct reading *r = reading;
    mirror_part(r, &r->parts[i], i + 1 < r->count ? r->parts[i + 1].entries : r->announced);
}

static void mirror_all(struct reading *r)
{
    uint64_t mirrored = 0;
    for (int i = 0; i < r->count; i++) {
        const uint64_t some = r->parts[i].mirrored;
        r->parts[i].mirrored = mirrored;
        mirrored += some;
    }
    r->matrix->entries = r->announced + mirrored;
    if (!mirrored) return;
    io_for_each(r->count, mirror_one, r);
}

/* Allocates the arrays after the lines are counted, with room for the other half if symmetric. */
static io_status allocate(struct reading *r)
{
    struct io_matrix *m = r->matrix;
    const bool twice = !m->dense && m->symmetry != IO_GENERAL;
    const uint64_t count = m->dense ? m->rows * m->cols : r->announced * (twice ? 2 : 1);
    m->values = calloc((size_t)count + 1, sizeof *m->values);
    if (!m->dense) {
        m->row = malloc(((size_t)count + 1) * sizeof *m->row);
        m->column = malloc(((size_t)count + 1) * sizeof *m->column);
    }
    if (m->values && (m->dense || (m->row && m->column))) return IO_OK;
    return io_no_memory(r->error, r->name, count * (m->dense ? 8 : 24), "its entries");
}

static io_status read_text(struct reading *r, const struct io_source *source)
{
    const uint64_t total = (uint64_t)(r->end - r->text);
    io_status status = read_head(r);
    if (status != IO_OK) return status;
    /* The offsets of the rows, and those of the columns of the transpose. */
    const struct io_matrix *m = r->matrix;
    const uint64_t most = (uint64_t)1 << 59;
    if (!m->dense) {
        const bool fits = m->rows < most && m->cols < most;
        const uint64_t need = fits ? (m->rows + m->cols) * 8 : INT64_MAX;
        status = io_check_memory(r->error, r->name, m->rows, m->cols, need, r->bytes, 64);
    }
    if (status != IO_OK) return status;
    cut(r);
    status = count_all(r);
    if (status == IO_OK) status = allocate(r);
    if (status != IO_OK) return status;
    tick(source, total - (uint64_t)(r->end - r->text) / 2, total);
    status = parse_all(r);
    if (status == IO_OK && !r->matrix->dense) mirror_all(r);
    return status;
}

io_status io_matrix_load_mtx(struct io_source *source, struct io_matrix *matrix,
                             struct io_error *error)
{
    static const size_t parts_bytes = (PARTS + 1) * sizeof(struct part);
    struct reading r = { .name = source->name, .error = error, .matrix = matrix };
    void *text = NULL;
    size_t bytes;
    *matrix = (struct io_matrix){ .rows = 0 };
    io_status status = io_read_all(source, PTRDIFF_MAX - 2, source->size, 1, &text, &bytes, error);
    if (status != IO_OK) return status;
    if (bytes && ((char *)text)[bytes - 1] != '\n') ((char *)text)[bytes++] = '\n';
    r.bytes = bytes;
    r.text = text;
    r.end = r.text + bytes;
    r.parts = malloc(parts_bytes);
    status = r.parts ? read_text(&r, source)
                     : io_no_memory(error, source->name, parts_bytes, "its parts");
    free(r.parts);
    free(text);
    return status;
}
