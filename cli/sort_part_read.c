/*
 * sort_part_read.c - reads the lines of text that begin in the part of a rank.
 *
 *     part      ...|   part of this rank   |...
 *     lines     ......\n..........\n..........\n      from the first line that begins in the part,
 *                      ----------------------         to the end of the last one
 *
 * In CSV a newline between quotes does not end a record.  Whether a part begins between quotes
 * depends on the number of quotes before it, which the ranks count.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "sort_distributed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEP = 1 << 20 };

/* ---- Quotes ---- */

static uint64_t count_quotes(const unsigned char *text, uint64_t bytes)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < bytes; i++) count += text[i] == '"';
    return count;
}

/* Whether the part of this rank begins between quotes. */
static int find_quoted(struct part *p, const unsigned char *text, bool *quoted)
{
    uint64_t own = count_quotes(text, p->n), all = 0;
    const int code = part_check_host(
        p, ech_dist_scan(p->host, p->comm, ECH_OP_SUM, &own, &all, 1, ECH_U64, NULL));
    *quoted = (all - own) % 2 == 1;
    return code;
}

/* The place behind the terminator of the record that at is in; NULL: it is not in the text. */
static const unsigned char *end_of_record(const struct part *p, const unsigned char *at,
                                          const unsigned char *end, bool *quoted)
{
    const unsigned char terminator = (unsigned char)lines_terminator(p->order);
    if (!p->set->text.csv) {
        at = memchr(at, terminator, (size_t)(end - at));
        return at ? at + 1 : NULL;
    }
    for (; at < end; at++) {
        if (*at == '"') *quoted = !*quoted;
        if (*at == terminator && !*quoted) return at + 1;
    }
    return NULL;
}

/* ---- Read ---- */

/* Reads on to the end of the record that began in the part. */
static void read_on(struct part *p, struct block *block, bool quoted)
{
    const unsigned char *end = NULL;
    uint64_t from = p->plan.offset + p->first + p->n;
    while (!end && p->code == EXIT_DONE) {
        unsigned char *larger = realloc(block->at, block->bytes + STEP);
        if (!larger) {
            part_fail(p, EXIT_MEMORY, "%s: out of memory for a line on rank %d", p->input, p->rank);
            return;
        }
        block->at = larger;
        const ssize_t got = pread(p->in, larger + block->bytes, STEP, (off_t)from);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            part_fail(p, EXIT_BAD, "%s: rank %d cannot read it: %s", p->input, p->rank,
                      strerror(errno));
        if (got <= 0) return; /* the end of the file */
        const unsigned char *at = block->at + block->bytes;
        end = end_of_record(p, at, at + got, &quoted);
        block->bytes += end ? (uint64_t)(end - at) : (uint64_t)got;
        from += (uint64_t)got;
    }
}

/* Reduces the text of the part, with the byte before it, to the records that begin in it. */
static void keep_own(struct part *p, struct block *block, uint64_t before, bool quoted)
{
    const unsigned char terminator = (unsigned char)lines_terminator(p->order);
    const unsigned char *begin = block->at + before, *end = begin + p->n, *next = begin;
    const bool last = p->first + p->n == p->plan.n;
    /* A record begins at the first byte, or behind the end of the one that this byte is in. */
    if (before && (quoted || block->at[0] != terminator))
        next = end_of_record(p, begin, end, &quoted);
    block->bytes = next ? (uint64_t)(end - next) : 0;
    if (!next) return;
    const bool open = p->set->text.csv && count_quotes(next, block->bytes) % 2;
    memmove(block->at, next, block->bytes);
    if (block->bytes && !last && (open || block->at[block->bytes - 1] != terminator))
        read_on(p, block, open);
}

/* Ends the last line of the file, and checks the quotes. */
static void check_end(struct part *p, struct block *block)
{
    char error[LINES_ERROR];
    const unsigned char terminator = (unsigned char)lines_terminator(p->order);
    const size_t n = (size_t)block->bytes;
    const size_t quote =
        p->kind->misplaced ? p->kind->misplaced(p->kind, block->at, n, true) : SIZE_MAX;
    if (quote != SIZE_MAX) {
        lines_quote_error((const char *)block->at, n, quote, error);
        part_fail(p, EXIT_BAD, "%s: %s", p->input, error);
    }
    if (!block->bytes || block->at[block->bytes - 1] == terminator) return;
    unsigned char *larger = realloc(block->at, block->bytes + 1);
    if (!larger) {
        part_fail(p, EXIT_MEMORY, "%s: out of memory for a line on rank %d", p->input, p->rank);
        return;
    }
    block->at = larger;
    block->at[block->bytes++] = terminator;
}

int part_read_lines(struct part *p, struct block *block)
{
    const uint64_t before = p->first ? 1 : 0;
    bool quoted = false;
    block->at = part_allocate(p, p->n + before + 1);
    if (block->at) part_read(p, block->at, p->n + before, p->plan.offset + p->first - before);
    int code = part_agree(p);
    if (code != EXIT_DONE || !block->at) return code;
    if (p->set->text.csv) code = find_quoted(p, block->at + before, &quoted);
    if (code != EXIT_DONE) return code;
    keep_own(p, block, before, quoted);
    if (p->code == EXIT_DONE) check_end(p, block);
    if (p->code == EXIT_DONE)
        block->records = p->kind->count(p->kind, block->at, (size_t)block->bytes);
    return EXIT_DONE;
}
