/*
 * files/count.c - sorts numbers of 8 or 16 bits by counting them: one read, one write.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "files/internal.h"
#include "io/threads.h"

#include <stdlib.h>
#include <string.h>

enum { VALUES = 1 << 16, BUFFERS = 4, LEAST_BUFFER = 16 << 10, MOST_BUFFER = 8 << 20 };

uint64_t files_count_bytes(void)
{
    return VALUES * (sizeof(uint64_t) + sizeof(uint32_t)) + BUFFERS * (uint64_t)LEAST_BUFFER;
}

struct counting {
    struct files_run *run;
    uint64_t *counts;                /* [VALUES] of the bits of a number */
    uint32_t *order;                 /* [VALUES] the bits by their rank */
    unsigned char *buffers[BUFFERS]; /* two for reading, two for writing */
    size_t room;                     /* of each */
};

static void count(struct counting *c, const unsigned char *numbers, size_t bytes)
{
    struct files_run *run = c->run;
    const double start = files_seconds();
    if (run->sort->verify) files_add_sum(run, &run->read, numbers, bytes);
    if (run->kind->record_bytes == 1)
        for (size_t i = 0; i < bytes; i++) c->counts[numbers[i]]++;
    else
        for (size_t i = 0; i < bytes; i += 2) c->counts[io_load(numbers + i, 2)]++;
    run->sort->records += bytes / run->kind->record_bytes;
    run->sort->times.partition += files_seconds() - start;
    files_progress(run, bytes);
}

static io_status read_files(struct counting *c, const struct files_extents *extents)
{
    struct files_reader reader;
    struct files_fill fills[2];
    files_reader_open(&reader, c->run, extents);
    for (int i = 0; i < 2; i++) files_reader_begin(&reader, &fills[i], c->buffers[i], c->room, 0);
    for (int which = 0;; which = !which) {
        size_t bytes;
        const io_status status = files_reader_end(&reader, &fills[which], &bytes);
        if (status != IO_OK || !bytes) {
            files_wait(c->run->queue, &fills[!which].batch);
            return status;
        }
        count(c, c->buffers[which], bytes);
        files_reader_begin(&reader, &fills[which], c->buffers[which], c->room, 0);
    }
}

static io_status read_stream(struct counting *c)
{
    const struct files_kind *kind = c->run->kind;
    struct files_stream stream = { .run = c->run };
    files_stream_begin(&stream, c->buffers[0], 0, c->room);
    for (int which = 0;; which = !which) {
        size_t bytes;
        const io_status status = files_stream_end(&stream, &bytes);
        if (status != IO_OK || !bytes) return status;
        files_stream_begin(&stream, c->buffers[!which], 0, c->room);
        if (kind->prepare)
            kind->prepare(kind, c->buffers[which], c->buffers[which], bytes / kind->record_bytes,
                          0);
        count(c, c->buffers[which], bytes);
    }
}

static io_status write_all(struct counting *c)
{
    struct files_run *run = c->run;
    const size_t bytes = run->kind->record_bytes;
    const uint32_t values = (uint32_t)1 << 8 * bytes;
    size_t used = 0;
    int which = 2;
    for (uint32_t i = 0; i < values; i++) {
        uint64_t left = c->counts[c->order[i]];
        if (run->sort->unique && !run->sort->verify && left) left = 1;
        for (; left; left--) {
            io_store(c->buffers[which] + used, bytes, c->order[i]);
            used += bytes;
            if (used < c->room) continue;
            const io_status status = files_emit(run, c->buffers[which], used);
            if (status != IO_OK) return status;
            files_progress(run, used);
            which = which == 2 ? 3 : 2;
            used = 0;
        }
    }
    const io_status status = used ? files_emit(run, c->buffers[which], used) : IO_OK;
    const io_status written = files_emit_wait(run);
    return status == IO_OK ? written : status;
}

io_status files_sort_counted(struct files_run *run, const struct files_extents *extents)
{
    struct counting c = { .run = run, .counts = (uint64_t *)(void *)run->arena };
    const struct files_rank *rank = run->kind->rank;
    const uint32_t values = (uint32_t)1 << 8 * rank->bytes;
    c.order = (uint32_t *)(void *)(c.counts + VALUES);
    unsigned char *at = (unsigned char *)(c.order + VALUES);
    const size_t used = (size_t)((char *)at - run->arena);
    c.room = (run->arena_bytes - used) / BUFFERS;
    if (c.room > MOST_BUFFER) c.room = MOST_BUFFER;
    c.room -= c.room % LEAST_BUFFER;
    for (int i = 0; i < BUFFERS; i++) c.buffers[i] = at + (size_t)i * c.room;
    for (uint32_t i = 0; i < values; i++) c.order[files_rank_of(rank, i)] = i;
    io_status status = run->sort->plan.stream
                           ? IO_OK
                           : files_reserve_output(run->sort, run->sort->output_bytes, run->error);
    if (status != IO_OK) return status;
    status = run->sort->plan.stream ? read_stream(&c) : read_files(&c, extents);
    return status == IO_OK ? write_all(&c) : status;
}
