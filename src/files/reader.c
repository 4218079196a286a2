/*
 * files/reader.c - reads the blocks of the first pass from extents, several at the same time.
 *
 * If temporary files bypass the page cache, the input does so, too: a copy by the kernel of each
 * byte costs more processor time than the other work on records, and the disk has more requests at
 * the same time.  What is in the page cache is read from there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* O_DIRECT, mincore(), pread() */
#include "files/internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    LEAST_OPENED = 64 << 10, /* bytes of an input that is opened for direct reads */
    MOST_OPENED = 64,        /* inputs */
    PROBES = 16
};

void files_reader_open(struct files_reader *reader, struct files_run *run,
                       const struct files_extents *extents)
{
    *reader = (struct files_reader){ .run = run, .extents = extents };
}

void files_reader_skip(struct files_reader *reader, uint64_t bytes)
{
    struct files_place *at = &reader->at;
    while (bytes && at->extent < reader->extents->count) {
        const struct files_extent *extent = &reader->extents->at[at->extent];
        const uint64_t all = extent->bytes + extent->open_end;
        at->offset = bytes < all ? bytes : 0;
        if (bytes < all) return;
        bytes -= all;
        at->extent++;
    }
}

/* ---- Reads past the page cache ---- */

/* 0 if the file cannot be opened or read so; some file systems need a larger alignment. */
static int open_direct(struct files_run *run, int fd)
{
    char name[32];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    const int direct = io_open_file(name, O_RDONLY | O_DIRECT);
    if (direct > 0 && pread(direct, run->arena, FILES_ALIGN, FILES_ALIGN) == FILES_ALIGN)
        return direct;
    if (direct >= 0) close(direct);
    return 0;
}

void files_reader_use_direct(struct files_run *run, struct files_extents *extents)
{
    int opened = 0;
    for (size_t i = 0; i < extents->count && run->sort->plan.direct && opened < MOST_OPENED; i++) {
        struct files_extent *extent = &extents->at[i];
        if (extent->bytes < LEAST_OPENED) continue;
        extent->direct_fd = open_direct(run, extent->fd);
        opened += extent->direct_fd > 0;
    }
}

void files_reader_close_direct(const struct files_extents *extents)
{
    for (size_t i = 0; i < extents->count; i++)
        if (extents->at[i].direct_fd) close(extents->at[i].direct_fd);
}

/* Whether half of a part of a file is in the page cache, by some of its pages. */
static bool is_cached(int fd, uint64_t offset, size_t bytes)
{
    const uint64_t from = offset / FILES_ALIGN * FILES_ALIGN;
    const size_t all = bytes + (size_t)(offset - from);
    int cached = 0, asked = 0;
    unsigned char *pages = mmap(NULL, all, PROT_READ, MAP_SHARED, fd, (off_t)from);
    if (pages == MAP_FAILED) return false;
    for (; asked < PROBES; asked++) {
        const size_t at = all / PROBES * (size_t)asked / FILES_ALIGN * FILES_ALIGN;
        unsigned char in_memory;
        if (mincore(pages + at, 1, &in_memory) != 0) break;
        cached += in_memory & 1;
    }
    munmap(pages, all);
    return cached > asked / 2;
}

/* Reads the pages of a part of an extent past the page cache, if they are not in it and begin at
 * pages in memory; the rest through it. */
static void read_part(struct files_run *run, struct files_batch *batch,
                      const struct files_extent *extent, uint64_t offset, unsigned char *to,
                      size_t n)
{
    struct files_queue *queue = run->queue;
    const size_t before = (size_t)(-offset % FILES_ALIGN);
    const bool placed = ((uintptr_t)to - offset) % FILES_ALIGN == 0;
    const bool direct = extent->direct_fd && placed && n >= before + FILES_ALIGN;
    if (!direct || (is_cached(extent->fd, offset, n) && !run->sort->direct)) {
        files_read(queue, batch, extent->fd, to, n, offset);
        return;
    }
    const size_t pages = (n - before) / FILES_ALIGN * FILES_ALIGN, after = n - before - pages;
    files_read(queue, batch, extent->fd, to, before, offset);
    files_read(queue, batch, extent->direct_fd, to + before, pages, offset + before);
    files_read(queue, batch, extent->fd, to + before + pages, after, offset + before + pages);
}

size_t files_reader_shift(const struct files_reader *reader, const unsigned char *buffer,
                          size_t room)
{
    const struct files_kind *kind = reader->run->kind;
    const struct files_extents *extents = reader->extents;
    if (reader->at.extent == extents->count || extents->extend || room < FILES_LEAST_SHIFTED)
        return 0;
    const struct files_extent *extent = &extents->at[reader->at.extent];
    const uint64_t offset = extent->offset + reader->at.offset;
    const size_t shift = (size_t)((offset - (uintptr_t)buffer) % FILES_ALIGN);
    /* Numbers must be aligned. */
    return extent->direct_fd && !(kind->in_place && shift % kind->record_bytes) ? shift : 0;
}

/* ---- The reader ---- */

/* Requests the next part of the current extent: at most room bytes to to.  Returns its bytes, with
 * those of a terminator. */
static size_t request(struct files_reader *reader, struct files_fill *fill, unsigned char *to,
                      size_t room)
{
    struct files_place *at = &reader->at;
    const struct files_extent *extent = &reader->extents->at[at->extent];
    const uint64_t left = extent->bytes - at->offset;
    size_t n = left < room ? (size_t)left : room;
    /* The terminator must fit behind the last byte. */
    if (n == left && extent->open_end && n == room) n--;
    if (n) {
        read_part(reader->run, &fill->batch, extent, extent->offset + at->offset, to, n);
        fill->name = extent->name;
    }
    at->offset += n;
    if (at->offset < extent->bytes) return n;
    at->extent++;
    at->offset = 0;
    if (!extent->open_end) return n;
    to[n] = (unsigned char)reader->run->kind->terminator;
    return n + 1;
}

void files_reader_begin(struct files_reader *reader, struct files_fill *fill, unsigned char *buffer,
                        size_t room, size_t have)
{
    const struct files_kind *kind = reader->run->kind;
    *fill = (struct files_fill){ .from = reader->at, .buffer = buffer, .have = have, .room = room };
    fill->name = reader->run->sort->inputs[0].name;
    if (reader->extents->extend) {
        const size_t n = room / kind->record_bytes;
        fill->room = n * kind->record_bytes;
        fill->have = fill->input_at = n * (kind->record_bytes - kind->input_bytes);
    } else if (kind->record_bytes) {
        fill->room -= room % kind->record_bytes;
    }
    fill->kept = fill->have;
    while (fill->have < fill->room && reader->at.extent < reader->extents->count) {
        const size_t n = request(reader, fill, buffer + fill->have, fill->room - fill->have);
        if (!n) break; /* the last byte and the terminator are for the next block */
        fill->have += n;
    }
    fill->at_end = reader->at.extent == reader->extents->count;
}

io_status files_reader_end(struct files_reader *reader, struct files_fill *fill, size_t *bytes)
{
    struct files_run *run = reader->run;
    const struct files_kind *kind = run->kind;
    const double start = files_seconds();
    const int why = files_wait(run->queue, &fill->batch);
    run->sort->times.read += files_seconds() - start;
    *bytes = 0;
    if (why) return files_failed(run->error, fill->name, why, false);
    run->sort->times.read_bytes += fill->have - fill->kept;
    *bytes = fill->have;
    if (!reader->extents->extend) return IO_OK;
    const size_t n = (fill->have - fill->input_at) / kind->input_bytes;
    kind->prepare(kind, fill->buffer + fill->input_at, fill->buffer, n, run->position);
    run->position += n;
    *bytes = n * kind->record_bytes;
    return IO_OK;
}

/* ---- Quotes of CSV ---- */

static io_status bad_quote(const struct files_reader *reader, const char *name,
                           const unsigned char *bytes, size_t n, size_t at)
{
    char message[LINES_ERROR];
    lines_quote_error((const char *)bytes, n, at, message);
    return io_fail(reader->run->error, IO_FAIL, name, "%s", message);
}

/* Each input must close its quotes, so that the next one does not.  *name receives the name of the
 * input that contains byte at of the block, if it is not SIZE_MAX. */
static io_status check_ends(const struct files_reader *reader, const struct files_fill *fill,
                            const unsigned char *block, size_t at, const char **name)
{
    const unsigned char *begin = block, *end = fill->buffer + fill->kept;
    const unsigned char *const limit = fill->buffer + fill->have;
    for (struct files_place p = fill->from; p.extent < reader->extents->count; p.extent++) {
        const struct files_extent *extent = &reader->extents->at[p.extent];
        const uint64_t left = extent->bytes - p.offset + extent->open_end;
        *name = extent->name;
        if (left > (uint64_t)(limit - end)) break;
        end += left;
        const size_t n = (size_t)(end - begin);
        const size_t open = lines_open_quote((const char *)begin, n);
        if (open != SIZE_MAX) return bad_quote(reader, extent->name, begin, n, open);
        if (at < (size_t)(end - block)) break;
        begin = end;
        p.offset = 0;
    }
    return IO_OK;
}

io_status files_reader_quotes(const struct files_reader *reader, const struct files_fill *fill,
                              const unsigned char *block, size_t bytes, bool last)
{
    const struct files_kind *kind = reader->run->kind;
    const char *name = fill->name;
    if (!kind->misplaced) return IO_OK;
    const size_t at = kind->misplaced(kind, block, bytes, last);
    if (reader->extents->count > 1) {
        const io_status status = check_ends(reader, fill, block, at, &name);
        if (status != IO_OK) return status;
    }
    return at == SIZE_MAX ? IO_OK : bad_quote(reader, name, block, bytes, at);
}
