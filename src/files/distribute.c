/*
 * files/distribute.c - the first pass: reads blocks, partitions each by bins and writes it.
 *
 *     read block i + 1  |  partition block i  |  write block i - 1
 *
 * A record that the end of a block cuts moves to the begin of the next block, so each block has
 * whole records only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "files/internal.h"
#include "files/journal.h"

#include <stdlib.h>
#include <string.h>

/* ---- The reader ---- */

void files_reader_open(struct files_reader *reader, struct files_run *run,
                       const struct files_extents *extents)
{
    *reader = (struct files_reader){ .run = run, .extents = extents };
    reader->name = extents->count ? extents->at[0].name : run->sort->inputs[0].name;
}

void files_reader_skip(struct files_reader *reader, uint64_t bytes)
{
    while (bytes && reader->extent < reader->extents->count) {
        const struct files_extent *extent = &reader->extents->at[reader->extent];
        const uint64_t all = extent->bytes + extent->open_end;
        reader->offset = bytes < all ? bytes : 0;
        if (bytes < all) return;
        bytes -= all;
        reader->extent++;
    }
}

/* Requests the next part of the current extent: at most room bytes to to.  Returns its bytes, with
 * those of a terminator. */
static size_t request(struct files_reader *reader, unsigned char *to, size_t room)
{
    const struct files_extent *extent = &reader->extents->at[reader->extent];
    const uint64_t left = extent->bytes - reader->offset;
    size_t n = left < room ? (size_t)left : room;
    /* The terminator must fit behind the last byte. */
    if (n == left && extent->open_end && n == room) n--;
    if (n) {
        files_read(reader->run->queue, &reader->batch, extent->fd, to, n,
                   extent->offset + reader->offset);
        reader->name = extent->name;
    }
    reader->offset += n;
    if (reader->offset < extent->bytes) return n;
    reader->extent++;
    reader->offset = 0;
    if (!extent->open_end) return n;
    to[n] = (unsigned char)reader->run->kind->terminator;
    return n + 1;
}

void files_reader_begin(struct files_reader *reader, unsigned char *buffer, size_t room,
                        size_t have)
{
    const struct files_kind *kind = reader->run->kind;
    reader->buffer = buffer;
    reader->have = have;
    reader->room = room;
    reader->input_at = 0;
    reader->kept = have;
    if (reader->extents->extend) {
        const size_t n = room / kind->record_bytes;
        reader->room = n * kind->record_bytes;
        reader->have = reader->kept = reader->input_at =
            n * (kind->record_bytes - kind->input_bytes);
    } else if (kind->record_bytes) {
        reader->room -= room % kind->record_bytes;
    }
    while (reader->have < reader->room && reader->extent < reader->extents->count) {
        const size_t n = request(reader, buffer + reader->have, reader->room - reader->have);
        if (!n) break; /* the last byte and the terminator are for the next block */
        reader->have += n;
    }
}

io_status files_reader_end(struct files_reader *reader, size_t *bytes, size_t *whole)
{
    struct files_run *run = reader->run;
    const struct files_kind *kind = run->kind;
    const double start = files_seconds();
    const int why = files_wait(run->queue, &reader->batch);
    run->sort->times.read += files_seconds() - start;
    *bytes = *whole = 0;
    if (why) return files_failed(run->error, reader->name, why, false);
    run->sort->times.read_bytes += reader->have - reader->kept;
    *bytes = *whole = reader->have;
    if (reader->extents->extend) {
        const size_t n = (reader->have - reader->input_at) / kind->input_bytes;
        kind->prepare(kind, reader->buffer + reader->input_at, reader->buffer, n, run->position);
        run->position += n;
        *bytes = *whole = n * kind->record_bytes;
    }
    if (kind->record_bytes || reader->extent == reader->extents->count || !*bytes) return IO_OK;
    *whole = kind->cut(kind, reader->buffer, *bytes);
    if (*whole) return IO_OK;
    return io_fail(run->error, IO_FAIL, reader->name,
                   "a record is longer than %zu bytes, the size of a block for this memory "
                   "budget%s; give a larger budget with --memory",
                   reader->room, kind->valid ? ", or a quote is not closed" : "");
}

/* ---- The index ---- */

static io_status grow(struct files_index *index, uint64_t blocks, struct files_run *run)
{
    const size_t row = (index->bins + (size_t)1) * sizeof *index->starts;
    uint32_t *starts = realloc(index->starts, (size_t)blocks * row);
    if (!starts)
        return io_no_memory(run->error, run->sort->inputs[0].name, blocks * row,
                            "the begins of the bins");
    index->starts = starts;
    index->room = blocks;
    return IO_OK;
}

io_status files_index_open(struct files_index *index, uint32_t bins, uint64_t blocks,
                           struct files_run *run)
{
    *index = (struct files_index){ .bins = bins };
    index->bytes = calloc(bins, sizeof *index->bytes);
    index->records = calloc(bins, sizeof *index->records);
    if (index->bytes && index->records) return grow(index, blocks ? blocks : 1, run);
    return io_no_memory(run->error, run->sort->inputs[0].name, bins * sizeof *index->bytes,
                        "the sizes of the bins");
}

io_status files_index_room(struct files_index *index, struct files_run *run)
{
    return index->blocks == index->room ? grow(index, 2 * index->blocks, run) : IO_OK;
}

void files_index_close(struct files_index *index)
{
    free(index->hashes);
    free(index->pieces);
    free(index->starts);
    free(index->bytes);
    free(index->records);
    *index = (struct files_index){ 0 };
}

/* ---- The pass ---- */

struct pass {
    struct files_run *run;
    const struct files_plan *plan;
    const struct files_cuts *cuts;
    struct files_space *space;
    struct files_index *index;
    struct files_reader reader;
    struct files_scratch scratch;
    unsigned char *in[2], *out[2];
    struct files_batch writing[2];
    bool at_top;
    struct files_journal *journal; /* only at the top */
};

static void divide(struct pass *pass)
{
    const size_t block = (size_t)pass->plan->block_bytes;
    unsigned char *at = (unsigned char *)pass->run->arena;
    for (int i = 0; i < 2; i++) {
        pass->in[i] = at + (size_t)i * block;
        pass->out[i] = at + (size_t)(2 + i) * block;
    }
    pass->scratch.ids = (uint16_t *)(void *)(at + 4 * block);
    pass->scratch.ids_room = (size_t)pass->plan->ids_bytes / sizeof *pass->scratch.ids;
}

static io_status wait_for(struct pass *pass, int which)
{
    struct files_run *run = pass->run;
    const double start = files_seconds();
    const int why = files_wait(run->queue, &pass->writing[which]);
    run->sort->times.write += files_seconds() - start;
    if (why) return files_failed(run->error, pass->space->files[0].directory, why, true);
    return pass->journal ? files_journal_written(run, which) : IO_OK;
}

/* Partitions a block and begins to write it. */
static io_status put(struct pass *pass, const unsigned char *in, size_t bytes)
{
    struct files_run *run = pass->run;
    struct files_index *index = pass->index;
    const uint64_t block = index->blocks;
    const int which = (int)(block % 2);
    io_status status = wait_for(pass, which);
    if (status == IO_OK) status = files_index_room(index, run);
    if (status != IO_OK) return status;
    if (run->sort->verify && pass->at_top) files_add_sum(run, &run->read, in, bytes);
    const double start = files_seconds();
    uint32_t *row = files_index_row(index, block);
    files_partition(run, pass->cuts, in, bytes, pass->out[which], &pass->scratch, row,
                    index->records);
    run->sort->times.partition += files_seconds() - start;
    for (uint32_t bin = 0; bin < index->bins; bin++) index->bytes[bin] += row[bin + 1] - row[bin];
    const size_t whole = pass->space->direct ? (size_t)files_round_up(bytes, FILES_ALIGN) : bytes;
    const int file = files_space_file(pass->space, block);
    files_write(run->queue, &pass->writing[which], pass->space->files[file].fd, pass->out[which],
                whole, files_space_offset(pass->space, block));
    run->sort->times.temporary_bytes += whole;
    if (pass->journal) status = files_journal_block(run, index, block, pass->out[which]);
    index->blocks++;
    files_progress(run, bytes);
    return status;
}

/* Reads the index of the blocks of an interrupted sort, and skips their records. */
static io_status go_on(struct pass *pass)
{
    struct files_run *run = pass->run;
    const struct files_kind *kind = run->kind;
    const struct files_index *index = pass->index;
    if (!pass->journal) return IO_OK;
    const io_status status = files_journal_load_blocks(run, pass->plan, pass->space, pass->index);
    uint64_t bytes = 0;
    for (uint32_t bin = 0; bin < index->bins; bin++) bytes += index->bytes[bin];
    if (pass->reader.extents->extend) {
        run->position = bytes / kind->record_bytes;
        bytes = run->position * kind->input_bytes;
    }
    files_reader_skip(&pass->reader, bytes);
    return status;
}

static io_status check_valid(const struct pass *pass, size_t bytes, int which)
{
    struct files_run *run = pass->run;
    const struct files_reader *reader = &pass->reader;
    const bool last = reader->extent == reader->extents->count;
    char message[LINES_ERROR];
    if (!pass->at_top || !run->kind->valid ||
        run->kind->valid(run->kind, pass->in[which], bytes, last, message))
        return IO_OK;
    return io_fail(run->error, IO_FAIL, reader->name, "%s", message);
}

static io_status put_all(struct pass *pass)
{
    const size_t room = (size_t)pass->plan->block_bytes;
    size_t bytes, whole;
    files_reader_begin(&pass->reader, pass->in[0], room, 0);
    for (int which = 0;; which = !which) {
        io_status status = files_reader_end(&pass->reader, &bytes, &whole);
        if (status == IO_OK && bytes) status = check_valid(pass, bytes, which);
        if (status != IO_OK || !bytes) return status;
        memcpy(pass->in[!which], pass->in[which] + whole, bytes - whole);
        files_reader_begin(&pass->reader, pass->in[!which], room, bytes - whole);
        status = put(pass, pass->in[which], whole);
        if (status != IO_OK) return status;
    }
}

io_status files_distribute(struct files_run *run, const struct files_plan *plan,
                           const struct files_extents *extents, const struct files_cuts *cuts,
                           struct files_space *space, struct files_index *index)
{
    struct pass pass = { .run = run,
                         .plan = plan,
                         .cuts = cuts,
                         .space = space,
                         .index = index,
                         .at_top = run->depth == 0,
                         .journal = run->depth == 0 ? run->journal : NULL };
    const size_t counts = 2 * (size_t)run->threads * index->bins * sizeof *pass.scratch.counts;
    divide(&pass);
    pass.scratch.counts = malloc(counts);
    if (!pass.scratch.counts)
        return io_no_memory(run->error, run->sort->inputs[0].name, counts, "the partition");
    files_reader_open(&pass.reader, run, extents);
    io_status status = go_on(&pass);
    if (status == IO_OK) status = put_all(&pass);
    for (uint64_t i = 0; i < 2; i++) {            /* the older block first */
        if (status != IO_OK) pass.journal = NULL; /* it may not be written */
        const io_status written = wait_for(&pass, (int)((index->blocks + i) % 2));
        if (status == IO_OK) status = written;
    }
    if (status == IO_OK && pass.journal) status = files_journal_end_blocks(run);
    files_wait(run->queue, &pass.reader.batch); /* after an error */
    free(pass.scratch.counts);
    return status;
}
