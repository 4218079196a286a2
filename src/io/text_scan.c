/*
 * io/text_scan.c - checks a column of numbers in a text that does not fit in memory, block by
 * block, and chooses its type.
 *
 * The result is that of io_text_parse() for the whole text.  As the type is known only at the end,
 * places that may be needed for a message are noted as text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/text.h"

#include <stdio.h>
#include <string.h>

static uint64_t count_newlines(const char *text, size_t bytes)
{
    uint64_t n = 0;
    for (size_t i = 0; i < bytes; i++) n += text[i] == '\n';
    return n;
}

void io_text_scan_begin(struct io_text_scan *scan, const struct io_column *begin,
                        const struct io_cut *cut, const struct io_hints *hints, const char *name)
{
    const bool chosen = hints->dtype < 0;
    *scan = (struct io_text_scan){
        .parser = { .cut = *cut, .guessed = hints->field.header == IO_HEADER_GUESS, .name = name },
        .block = { .delimiter = begin->delimiter,
                   .dtype = chosen ? ECH_F64 : (ech_dtype)hints->dtype,
                   .lines_before = count_newlines(begin->text, begin->head_bytes) },
        .type = hints->dtype,
        .integers = chosen
    };
    /* A message about the first record depends on whether there is a header. */
    scan->parser.guessed &= !io_has_header(begin);
}

/* Whether the record is an integer that both i64 or u64 and f64 represent. */
static bool check_integer(struct io_text_scan *scan, const char *first, const char *last)
{
    const struct io_text_parser *p = &scan->parser;
    bool negative;
    uint64_t magnitude;
    const io_number found = io_parse_integer(first, last, &negative, &magnitude);
    const bool out = found == IO_NUMBER_RANGE || (negative && magnitude > (uint64_t)1 << 63);
    scan->integers = found != IO_NUMBER_BAD && !out;
    if (found == IO_NUMBER_BAD)
        io_not_integers(p, scan->reason, first,
                        io_is_blank(first, last) ? "is empty" : "is not an integer");
    if (out) io_not_integers(p, scan->reason, first, "is out of range for i64 and u64");
    if (!scan->integers) return false;
    const bool below = negative && magnitude != 0, above = !negative && magnitude > INT64_MAX;
    if (below && !scan->below) io_name_place(p, first, p->cut.number, scan->first_below);
    if (above && !scan->above) io_name_place(p, first, p->cut.number, scan->first_above);
    scan->below |= below;
    scan->above |= above;
    if (scan->below && scan->above) {
        scan->integers = false;
        snprintf(scan->reason, sizeof scan->reason, "%s is negative and %s exceeds i64",
                 scan->first_below, scan->first_above);
    }
    return magnitude < (uint64_t)1 << 53;
}

static io_status check_record(struct io_text_scan *scan, const char *at, const char *newline)
{
    struct io_text_parser *p = &scan->parser;
    const char *first = at, *last = newline;
    uint64_t key = 0;
    if (p->cut.number) {
        const char *fault;
        const uint64_t columns = io_cut_record(&p->cut, &first, &last, &fault);
        if (fault) return io_bad_quotes(p, first, columns, fault);
        if (columns != p->cut.number) return io_short_line(p, at, columns);
    }
    if (scan->integers && check_integer(scan, first, last)) return IO_OK;
    const ech_dtype dtype = scan->block.dtype;
    const io_number found = io_column_key(&p->cut, first, last, dtype, &key);
    if (found != IO_NUMBER_OK) return io_bad_line(p, scan->records, first, last, found);
    if (scan->type < 0) io_note_rounded(p, first, last, &key, &scan->rounded);
    return IO_OK;
}

size_t io_text_scan(struct io_text_scan *scan, char *text, size_t bytes, bool at_end)
{
    struct io_column *block = &scan->block;
    const char *at = text, *end = text + bytes, *open = NULL;
    block->text = text;
    block->text_bytes = bytes;
    block->n = 2; /* records; a message about the first one asks whether it is the only one */
    scan->parser.column = block;
    scan->parser.error = &scan->error;
    while (at < end) {
        const char *newline = block->delimiter ? io_record_end(at, end, block->delimiter, &open)
                                               : memchr(at, '\n', (size_t)(end - at));
        if (!newline || newline == end) break;
        if (!scan->failed) scan->failed = check_record(scan, at, newline) != IO_OK;
        scan->records++;
        at = newline + 1;
    }
    /* A quote that is not closed is reported before any other error. */
    if (at_end && open && at < end) {
        io_fail_quote(block, scan->parser.cut.delimiter, at, open, scan->parser.name, &scan->error);
        scan->failed = true;
    }
    scan->quotes = scan->quotes || memchr(text, '"', (size_t)(at - text));
    block->lines_before += count_newlines(text, (size_t)(at - text));
    return (size_t)(at - text);
}

io_status io_text_scan_end(struct io_text_scan *scan, ech_dtype *dtype, struct io_error *error)
{
    scan->parser.error = error;
    *dtype = scan->type >= 0   ? (ech_dtype)scan->type
             : !scan->integers ? ECH_F64
             : scan->above     ? ECH_U64
                               : ECH_I64;
    if (scan->failed) *error = scan->error;
    if (scan->failed) return IO_FAIL;
    const bool rounded = scan->rounded.found && scan->type < 0 && !scan->integers;
    return rounded ? io_fail_rounded(&scan->parser, &scan->rounded, scan->reason) : IO_OK;
}
