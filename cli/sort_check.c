/*
 * sort_check.c - checks for "echelon sort" whether lines are sorted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort.h"

#include <stdlib.h>
#include <string.h>

/* Reports the record at offset at of a block. */
static int disorder(const struct sort_set *set, const struct sort_text *text, const char *name,
                    const char *block, size_t bytes, size_t at, uint64_t number)
{
    enum { MOST = 1 << 16 };
    if (set->text.check_quiet) return EXIT_NO;
    const size_t n = lines_next(text->order, block + at, bytes - at);
    size_t body = lines_body(text->order, block + at, n);
    if (body > MOST) body = MOST;
    return cli_fail(EXIT_NO, "%s:%llu: disorder: %.*s", name, (unsigned long long)number + 1,
                    (int)body, block + at);
}

/* The number of lines that end in these bytes: more than records if values contain newlines. */
static uint64_t count_lines(const struct sort_text *text, const char *at, size_t bytes)
{
    const char terminator = lines_terminator(text->order), *end = at + bytes;
    uint64_t n = 0;
    while (at < end && (at = memchr(at, terminator, (size_t)(end - at))) != NULL) {
        n++;
        at++;
    }
    return n;
}

int sort_check_lines(const struct sort_set *set, const struct sort_text *text, const char *name)
{
    const char *block = text->text + text->head;
    const size_t bytes = text->bytes - text->head;
    uint64_t number;
    const size_t at = lines_unsorted(text->order, NULL, 0, block, bytes, &number);
    if (at == bytes) return EXIT_DONE;
    return disorder(set, text, name, block, bytes, at,
                    count_lines(text, text->text, text->head + at));
}

/* ---- Block by block ---- */

struct stream {
    struct io_source *source;
    char *block;
    size_t bytes, room;
    size_t before; /* length of the last record that was checked, at the beginning of the block */
    bool has_before, end;
    uint64_t lines; /* before the block */
};

/* Reads until the block is full or the source ends. */
static int fill(struct stream *s)
{
    struct io_error error;
    size_t got;
    if (s->room - s->bytes < s->room / 2) {
        char *larger = s->room < PTRDIFF_MAX / 2 ? realloc(s->block, 2 * s->room) : NULL;
        if (!larger)
            return cli_fail(EXIT_MEMORY, "%s: out of memory: cannot allocate %zu bytes for a line",
                            s->source->name, 2 * s->room);
        s->block = larger;
        s->room *= 2;
    }
    const size_t want = s->room - s->bytes;
    const io_status status = io_read(s->source, s->block + s->bytes, want, &got, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    s->bytes += got;
    s->end = got < want;
    return EXIT_DONE;
}

int sort_bad_quote(const char *name, const char *text, size_t bytes, size_t quote)
{
    char message[LINES_ERROR];
    lines_quote_error(text, bytes, quote, message);
    return cli_fail(EXIT_BAD, "%s: %s", name, message);
}

/* Checks the complete records, and keeps the last one with what follows it. */
static int check_block(const struct sort_set *set, const struct sort_text *text, struct stream *s)
{
    const struct lines_order *order = text->order;
    const char *from = s->block + s->before;
    size_t bytes = s->bytes - s->before;
    size_t quote;
    if (s->end)
        quote = lines_misplaced(order, from, bytes, 0);
    else
        bytes = lines_complete(order, from, bytes, 0, &quote);
    if (quote != SIZE_MAX)
        return sort_bad_quote(s->source->name, from, s->bytes - s->before, quote);
    if (!bytes) return EXIT_DONE;
    uint64_t number;
    const size_t body = lines_body(order, s->block, s->before);
    const size_t at =
        lines_unsorted(order, s->has_before ? s->block : NULL, body, from, bytes, &number);
    const bool csv = set->text.csv;
    if (at < bytes)
        return disorder(set, text, s->source->name, from, bytes, at,
                        s->lines + (csv ? count_lines(text, from, at) : number));
    s->lines += csv ? count_lines(text, from, bytes) : number;
    size_t last = bytes, next = 0; /* the beginning of the last record */
    for (size_t i = 0; i < bytes; i += next) {
        next = lines_next(order, from + i, bytes - i);
        last = i;
    }
    const size_t keep = s->before + last;
    s->before = next;
    s->has_before = true;
    memmove(s->block, s->block + keep, s->bytes - keep);
    s->bytes -= keep;
    return EXIT_DONE;
}

static int skip_head(struct sort_text *text, struct stream *s)
{
    bool whole = false;
    size_t head = 0;
    while (!whole) {
        const int filled = fill(s);
        if (filled != EXIT_DONE) return filled;
        head = lines_head(text->order, s->block, s->bytes, &whole);
        if (s->end) break;
    }
    s->lines = count_lines(text, s->block, head);
    const int code = sort_bind(text, s->block, head);
    memmove(s->block, s->block + head, s->bytes - head);
    s->bytes -= head;
    return code;
}

int sort_check_source(const struct sort_set *set, struct sort_text *text, struct io_source *source)
{
    enum { ROOM = 4 << 20 };
    struct stream s = { .source = source, .room = ROOM };
    s.block = malloc(s.room);
    int code =
        s.block ? skip_head(text, &s) : cli_fail(EXIT_MEMORY, "%s: out of memory", source->name);
    if (code == EXIT_DONE) code = check_block(set, text, &s);
    while (code == EXIT_DONE && !s.end) {
        code = fill(&s);
        if (code == EXIT_DONE) code = check_block(set, text, &s);
    }
    free(s.block);
    return code;
}

int sort_check_stream(const struct sort_set *set, struct sort_text *text)
{
    struct io_source source;
    int code = sort_open_text(&source, text->names[0]);
    if (code != EXIT_DONE) return code;
    code = sort_check_source(set, text, &source);
    io_close(&source);
    return code;
}
