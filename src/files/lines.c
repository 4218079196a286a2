/*
 * files/lines.c - records of text (src/lines) for the external sort.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* memrchr() */
#include "files/internal.h"

#include <string.h>

static const struct files_lines *lines_of(const struct files_kind *kind)
{
    return kind->state;
}

static size_t next(const struct files_kind *kind, const unsigned char *at, size_t n)
{
    const struct files_lines *lines = lines_of(kind);
    if (lines->quoted) return lines_next(lines->order, (const char *)at, n);
    const unsigned char *end = memchr(at, kind->terminator, n);
    return end ? (size_t)(end - at) + 1 : n;
}

static size_t body(const struct files_kind *kind, const unsigned char *record, size_t bytes)
{
    return lines_body(lines_of(kind)->order, (const char *)record, bytes);
}

static size_t scan(const struct files_kind *kind, const unsigned char *bytes, size_t n, size_t most,
                   uint32_t *lengths, uint64_t *prefixes)
{
    return lines_scan(lines_of(kind)->order, (const char *)bytes, n, most, lengths, prefixes);
}

static int compare(const struct files_kind *kind, const unsigned char *a, size_t a_bytes,
                   const unsigned char *b, size_t b_bytes)
{
    return lines_compare(lines_of(kind)->order, (const char *)a, body(kind, a, a_bytes),
                         (const char *)b, body(kind, b, b_bytes));
}

static size_t boundary(const struct files_kind *kind, const unsigned char *bytes, size_t n,
                       size_t from, size_t at)
{
    if (lines_of(kind)->quoted) {
        while (from < at) from += next(kind, bytes + from, n - from);
        return from;
    }
    if (at == 0 || at >= n) return at;
    return at - 1 + next(kind, bytes + at - 1, n - at + 1);
}

static size_t cut(const struct files_kind *kind, const unsigned char *bytes, size_t n)
{
    const struct files_lines *lines = lines_of(kind);
    if (lines->quoted)
        return lines_complete(lines->order, (const char *)bytes, n, lines->threads, lines->fault);
    const unsigned char *end = memrchr(bytes, kind->terminator, n);
    return end ? (size_t)(end - bytes) + 1 : 0;
}

/* Bins of equal keys are not sorted, so that lines_sort() does not check their quotes. */
static size_t misplaced(const struct files_kind *kind, const unsigned char *bytes, size_t n,
                        bool last)
{
    const struct files_lines *lines = lines_of(kind);
    return last ? lines_misplaced(lines->order, (const char *)bytes, n, lines->threads)
                : *lines->fault;
}

static uint64_t count(const struct files_kind *kind, const unsigned char *bytes, size_t n)
{
    const struct files_lines *lines = lines_of(kind);
    return lines_count(lines->order, (const char *)bytes, n, lines->threads);
}

/* The sort allocates it itself. */
static size_t work_bytes(const struct files_kind *kind, size_t bytes, size_t records)
{
    return (size_t)lines_memory(lines_of(kind)->order, bytes, records, lines_of(kind)->threads);
}

static io_status sort(const struct files_kind *kind, ech_ctx *ctx, struct files_block *block,
                      struct io_error *error)
{
    const struct files_lines *lines = lines_of(kind);
    struct lines_sorted sorted;
    struct lines_cursor cursor = { 0 };
    char message[LINES_ERROR] = "";
    const ech_status status = lines_sort(ctx, lines->order, (const char *)block->in, block->bytes,
                                         block->threads, &sorted, message);
    block->status = status;
    if (status != ECH_OK)
        return io_fail(error, status == ECH_ERR_MEMORY ? IO_MEMORY : IO_FAIL, block->name, "%s",
                       *message ? message : ech_error(ctx));
    block->out_bytes = (size_t)sorted.out_bytes;
    size_t done = 0;
    while (done < block->out_bytes)
        done += lines_gather(&sorted, &cursor, (char *)block->out + done, block->out_bytes - done,
                             block->threads);
    lines_free(&sorted);
    return IO_OK;
}

void files_lines_init(struct files_lines *lines, const struct lines_order *order, bool quoted,
                      int threads)
{
    *lines = (struct files_lines){ .order = order,
                                   .quoted = quoted,
                                   .threads = threads,
                                   .misplaced = SIZE_MAX,
                                   .fault = &lines->misplaced };
    lines->kind = (struct files_kind){ .name = "lines",
                                       .terminator = (unsigned char)lines_terminator(order),
                                       .state = lines,
                                       .scan = scan,
                                       .compare = compare,
                                       .boundary = boundary,
                                       .cut = cut,
                                       .count = count,
                                       .misplaced = quoted ? misplaced : NULL,
                                       .work_bytes = work_bytes,
                                       .sort = sort };
}
