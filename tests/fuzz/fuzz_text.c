/*
 * fuzz_text.c - reads arbitrary bytes as a column of numbers: the reader rejects them, or returns
 * the values of strtod() and strtoull().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"
#include "io/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The value of a line according to the C library. The grammar of the reader is stricter; the values
 * are the same. */
static void check_key(const struct io_column *c, uint64_t i)
{
    const char *line = c->text + c->lines[i];
    size_t bytes = ech_dtype_bytes(c->dtype);
    const char *key = (const char *)c->keys + i * bytes;
    while (*line == '\r') line++; /* a blank for the reader, but not for strtod() on every system */
    if (c->dtype == ECH_F64) {
        double want = strtod(line, NULL), got;
        memcpy(&got, key, sizeof got);
        FUZZ_CHECK(isnan(want) ? isnan(got) : memcmp(&want, &got, sizeof got) == 0);
    } else if (c->dtype == ECH_F32) {
        float want = strtof(line, NULL), got;
        memcpy(&got, key, sizeof got);
        FUZZ_CHECK(isnan(want) ? isnan(got) : memcmp(&want, &got, sizeof got) == 0);
    } else if (c->dtype == ECH_U64) {
        FUZZ_CHECK(io_load(key, 8) == strtoull(line, NULL, 10));
    } else if (c->dtype == ECH_I64) {
        FUZZ_CHECK((int64_t)io_load(key, 8) == strtoll(line, NULL, 10));
    }

    /* Printing and parsing a key returns the same key, except for the payload of a NaN. */
    char text[IO_NUMBER_TEXT];
    size_t n = io_format_key(c->dtype, key, text);
    uint64_t back = 0;
    FUZZ_CHECK(n > 0 && n < sizeof text);
    FUZZ_CHECK(io_parse_key(text, text + n, c->dtype, &back) == IO_NUMBER_OK);
    FUZZ_CHECK(strstr(text, "nan") || io_load(&back, bytes) == io_load(key, bytes));
}

static size_t mark_bytes(const struct io_column *c)
{
    static const char mark[] = "\xEF\xBB\xBF";
    return c->text_bytes >= 3 && memcmp(c->text, mark, 3) == 0 ? 3 : 0;
}

static void check_column(const struct io_column *c, const unsigned char *bytes, size_t n)
{
    FUZZ_CHECK(c->text_bytes - n <= 1 && (n == 0 || memcmp(c->text, bytes, n) == 0));
    for (uint64_t i = 0; i < c->n; i++) {
        size_t end = i + 1 < c->n ? (size_t)c->lines[i + 1] : c->text_bytes;
        FUZZ_CHECK(c->lines[i] < end && c->text[end - 1] == '\n');
        FUZZ_CHECK(memchr(c->text + c->lines[i], '\n', end - (size_t)c->lines[i]) ==
                   c->text + end - 1);
        check_key(c, i);
    }
    FUZZ_CHECK(c->head_bytes == mark_bytes(c) && (c->n == 0 || c->lines[0] == c->head_bytes));
}

/* With columns, every record after the header is present. */
static void check_lines(const struct io_column *c)
{
    size_t at = c->head_bytes;
    FUZZ_CHECK(at <= c->text_bytes && (at == mark_bytes(c) || c->text[at - 1] == '\n'));
    for (uint64_t i = 0; i < c->n; i++) {
        FUZZ_CHECK(c->lines[i] == at);
        at += io_record_bytes(c, at);
        FUZZ_CHECK(at <= c->text_bytes && c->text[at - 1] == '\n');
    }
    FUZZ_CHECK(at == c->text_bytes);
}

/* Checks the text in blocks of this size or more; the result must be that for the whole text. */
static void check_scan(const unsigned char *bytes, size_t n, const struct io_hints *hints,
                       size_t step, io_status want, ech_dtype want_type, const char *want_text)
{
    struct io_source source;
    struct io_column c = { .format = IO_TEXT };
    struct io_cut cut;
    struct io_error error = { "" };
    struct io_text_scan scan;
    ech_dtype dtype;
    io_open_memory(&source, "fuzz", bytes, n);
    FUZZ_CHECK(io_text_read(&source, &c, &error) == IO_OK);
    io_status status = io_find_field(&c, &hints->field, true, "fuzz", &cut, &error);
    if (status == IO_OK && c.text_bytes) {
        size_t at = c.head_bytes, have = 0;
        io_text_scan_begin(&scan, &c, &cut, hints, "fuzz");
        while (at < c.text_bytes) {
            have = c.text_bytes - at < have + step ? c.text_bytes - at : have + step;
            const size_t done =
                io_text_scan(&scan, c.text + at, have, at + have == c.text_bytes, 1);
            FUZZ_CHECK(done <= have);
            if (at + have == c.text_bytes) break;
            at += done;
            have -= done;
        }
        status = io_text_scan_end(&scan, &dtype, &error);
        FUZZ_CHECK(status != IO_OK || dtype == want_type);
        FUZZ_CHECK(status == IO_OK || scan.records < 2 || strcmp(error.text, want_text) == 0);
        FUZZ_CHECK(status == want);
    }
    io_free_column(&c);
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t n)
{
    /* The first byte selects the type (12 and more: none), columns, and whether there is a header
     * (13: yes, 14: no). */
    if (n == 0) return 0;
    int dtype = bytes[0] & 15;
    struct io_hints hints = { .format = IO_TEXT, .dtype = dtype <= ECH_F64 ? dtype : -1 };
    struct io_source source;
    struct io_column column;
    struct io_error error = { "" };
    io_open_memory(&source, "fuzz", bytes + 1, n - 1);
    if (bytes[0] & 16) source.size = 0;
    if (bytes[0] & 32) hints.field.column = bytes[0] & 64 ? "1" : "2";
    if (hints.field.column && dtype > 12 && dtype < 15)
        hints.field.header = dtype == 13 ? IO_HEADER_YES : IO_HEADER_NO;
    if (bytes[0] & 128) hints.field.delimiter = ',';
    io_status status = io_load_column(&source, &hints, &column, &error);
    FUZZ_CHECK(status == IO_OK || strncmp(error.text, "fuzz: line ", 11) == 0);
    check_scan(bytes + 1, n - 1, &hints, 1 + n % 50, status, column.dtype, error.text);
    if (status == IO_OK && hints.field.column)
        check_lines(&column);
    else if (status == IO_OK)
        check_column(&column, bytes + 1, n - 1);
    io_free_column(&column);
    return 0;
}
