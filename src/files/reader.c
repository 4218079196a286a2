/*
 * files/reader.c - reads the blocks of the first pass from extents, several at the same time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "files/internal.h"

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
        files_read(reader->run->queue, &fill->batch, extent->fd, to, n,
                   extent->offset + at->offset);
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
