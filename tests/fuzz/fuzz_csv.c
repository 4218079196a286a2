/*
 * fuzz_csv.c - divides arbitrary bytes into records of CSV, and compares them and their columns
 * with those of a state machine that reads one byte at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"
#include "io/io.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 64 };

struct field {
    const char *begin, *end;
    bool quoted, bad; /* bad: characters follow the closing quote */
};

/* A record, which ends at its newline or at the end of the text. */
struct record {
    const char *begin, *end;
    bool open; /* a quote is not closed */
    const char *opened;
    unsigned columns;
    struct field fields[MOST_COLUMNS];
};

static void end_field(struct record *r, struct field *f, const char *end)
{
    if (!f->quoted) f->end = end;
    if (r->columns < MOST_COLUMNS) r->fields[r->columns] = *f;
    r->columns++;
}

static struct record next_record(const char *at, const char *end, char delimiter)
{
    enum { BEGIN, TEXT, QUOTED, QUOTE, AFTER } state = BEGIN;
    struct record r = { .begin = at };
    struct field f = { .begin = at };
    for (; at < end; at++) {
        const bool plain = state != QUOTED;
        if (plain && (*at == '\n' || *at == delimiter)) {
            end_field(&r, &f, at);
            if (*at == '\n') break;
            f = (struct field){ .begin = at + 1 };
            state = BEGIN;
        } else if (state == BEGIN && *at == '"') {
            f = (struct field){ .begin = at + 1, .quoted = true };
            r.opened = at;
            state = QUOTED;
        } else if (state == BEGIN && *at != ' ') {
            state = TEXT;
        } else if (state == QUOTED && *at == '"') {
            f.end = at;
            state = QUOTE;
        } else if (state == QUOTE && *at == '"') {
            state = QUOTED;
        } else if (state == QUOTE || state == AFTER) {
            f.bad |= !strchr(" \t\r", *at) || !*at;
            state = AFTER;
        }
    }
    r.end = at;
    r.open = state == QUOTED;
    return r;
}

/* The records of a text, also if only a part of it is in memory. */
static uint64_t check_records(const char *text, size_t n, char delimiter, size_t cut)
{
    const char *end = text + n;
    uint64_t records = 0;
    for (const char *at = text; at < end; records++) {
        const char *open;
        const struct record r = next_record(at, end, delimiter);
        FUZZ_CHECK(io_record_end(at, end, delimiter, &open) == r.end);
        FUZZ_CHECK(r.open ? open == r.opened : open == NULL);
        const char *part = text + cut;
        if (part > at)
            FUZZ_CHECK(io_record_end(at, part, delimiter, &open) == (part > r.end ? r.end : part));
        at = r.end + 1;
    }
    return records;
}

static void check_key(const struct io_column *c, uint64_t i, const struct field *f)
{
    char number[256];
    double got;
    memcpy(&got, (const char *)c->keys + 8 * i, sizeof got);
    const size_t n = (size_t)(f->end - f->begin);
    if (n >= sizeof number) return;
    for (size_t k = 0; k < n; k++) number[k] = f->begin[k] == '\r' ? ' ' : f->begin[k];
    number[n] = 0;
    const double want = strspn(number, " \t") == n ? NAN : strtod(number, NULL);
    FUZZ_CHECK(isnan(want) ? isnan(got) : memcmp(&want, &got, sizeof got) == 0);
}

/* Column 1 to 4 of a text in which the first record is data. */
static void check_column(const unsigned char *bytes, size_t n, char delimiter, unsigned column)
{
    char number[2] = { (char)('0' + column), 0 };
    const struct io_hints hints = { .format = IO_TEXT,
                                    .dtype = ECH_F64,
                                    .field = { number, delimiter, IO_HEADER_NO } };
    struct io_source source;
    struct io_column c;
    struct io_error error = { "" };
    io_open_memory(&source, "fuzz", bytes, n);
    const io_status status = io_load_column(&source, &hints, &c, &error);
    FUZZ_CHECK(status == IO_OK || strncmp(error.text, "fuzz: line ", 11) == 0);
    if (status != IO_OK) return;
    size_t at = c.head_bytes;
    for (uint64_t i = 0; i < c.n; i++) {
        const struct record r = next_record(c.text + at, c.text + c.text_bytes, delimiter);
        FUZZ_CHECK(!r.open && c.lines[i] == at && r.columns >= column);
        FUZZ_CHECK(io_record_bytes(&c, at) == (size_t)(r.end + 1 - r.begin));
        for (unsigned k = 0; k < r.columns && k < MOST_COLUMNS; k++) FUZZ_CHECK(!r.fields[k].bad);
        check_key(&c, i, &r.fields[column - 1]);
        at = (size_t)(r.end + 1 - c.text);
    }
    FUZZ_CHECK(at == c.text_bytes && c.text_bytes - n <= 1);
    FUZZ_CHECK(n == 0 || memcmp(c.text, bytes, n) == 0);
    io_free_column(&c);
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t n)
{
    /* The first byte selects the delimiter, the column, and where the memory ends. */
    static const char delimiters[] = { ',', ';', '\t', '|' };
    if (n == 0) return 0;
    const char delimiter = delimiters[bytes[0] & 3];
    const unsigned column = 1 + (bytes[0] >> 2 & 3);
    const size_t cut = (n - 1) * (bytes[0] >> 4) / 16;
    bytes++, n--;
    check_records((const char *)bytes, n, delimiter, cut);
    check_column(bytes, n, delimiter, column);
    return 0;
}
