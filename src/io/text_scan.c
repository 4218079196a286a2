/*
 * io/text_scan.c - checks a column of numbers in a text that does not fit in memory, block by
 * block, and chooses its type.
 *
 * The result is that of io_text_parse() for the whole text.  As the type is known only at the end,
 * places that may be needed for a message are noted as text.  All threads check parts of a block;
 * if one finds something to note, the block is checked again, one record after the other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/text.h"
#include "io/threads.h"

#include <stdatomic.h>
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

/* ---- A block by all threads ---- */

enum { PART_BYTES = 1 << 16 };

struct parts {
    const struct io_text_scan *scan;
    const char *text;
    size_t bytes;      /* whole lines */
    atomic_bool other; /* something must be noted */
    atomic_uint_fast64_t records;
};

/* The lines that begin in a part. */
static void check_part(void *arg, int i)
{
    struct parts *p = arg;
    struct io_text_scan own = *p->scan;
    const char *end = p->text + p->bytes, *at = p->text + (size_t)i * PART_BYTES;
    const char *stop = end - at < PART_BYTES ? end : at + PART_BYTES;
    struct io_column block = own.block;
    bool other = memchr(at, '"', (size_t)(stop - at)) != NULL;
    own.parser.column = &block;
    own.parser.error = &own.error;
    if (i && at[-1] != '\n') at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
    const uint64_t before = own.records;
    while (at < stop && !other && !atomic_load_explicit(&p->other, memory_order_relaxed)) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        other = check_record(&own, at, newline) != IO_OK;
        own.records++;
        at = newline + 1;
    }
    const struct io_text_scan *scan = p->scan;
    if (other || own.integers != scan->integers || own.below != scan->below ||
        own.above != scan->above || own.rounded.found != scan->rounded.found)
        atomic_store(&p->other, true);
    atomic_fetch_add(&p->records, own.records - before);
}

/* Returns whether nothing had to be noted. */
static bool check_parts(struct io_text_scan *scan, const char *text, size_t bytes, int threads)
{
    struct parts p = { .scan = scan, .text = text, .bytes = bytes };
    if (bytes < 2 * (size_t)PART_BYTES || threads == 1 || scan->failed) return false;
    io_for_each_by(threads, (int)((bytes + PART_BYTES - 1) / PART_BYTES), check_part, &p);
    if (p.other) return false;
    scan->records += p.records;
    scan->block.lines_before += p.records;
    return true;
}

static size_t whole_lines(const char *text, size_t bytes)
{
    while (bytes && text[bytes - 1] != '\n') bytes--;
    return bytes;
}

size_t io_text_scan(struct io_text_scan *scan, char *text, size_t bytes, bool at_end, int threads)
{
    struct io_column *block = &scan->block;
    const char *at = text, *end = text + bytes, *open = NULL;
    const size_t lines = whole_lines(text, bytes);
    block->text = text;
    block->text_bytes = bytes;
    block->n = 2; /* records; a message about the first one asks whether it is the only one */
    scan->parser.column = block;
    scan->parser.error = &scan->error;
    if (check_parts(scan, text, lines, threads)) return lines;
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
