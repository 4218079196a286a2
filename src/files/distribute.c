/*
 * files/distribute.c - the first pass: reads blocks, partitions each by bins and writes it.
 *
 *     read blocks i + 1, i + 2  |  partition block i  |  write blocks i - 1, i - 2
 *
 * A buffer is read again as soon as its block is partitioned, also while the next block is still
 * being read, so that the disk always has requests.  A record that the end of a block cuts moves to
 * the place before the next block, so each block has whole records only.  If it is too long for
 * this place, the next block is read again, behind it; from then on, a block is read only after the
 * one before it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "files/internal.h"
#include "files/journal.h"

#include <stdlib.h>
#include <string.h>

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
    struct files_fill fills[2];
    bool ahead; /* a block is read before the one before it is complete */
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

/* Finds the end of the last whole record of a block, which is not empty. */
static io_status cut_block(const struct pass *pass, const struct files_fill *fill,
                           const unsigned char *block, size_t bytes, size_t *whole)
{
    struct files_run *run = pass->run;
    const struct files_kind *kind = run->kind;
    const bool last = kind->record_bytes || fill->at_end;
    *whole = last ? bytes : kind->cut(kind, block, bytes);
    if (!*whole && !pass->ahead)
        return io_fail(run->error, IO_FAIL, fill->name,
                       "a record is longer than %zu bytes, the size of a block for this memory "
                       "budget%s; give a larger budget with --memory",
                       fill->room, kind->misplaced ? ", or a quote is not closed" : "");
    return pass->at_top ? files_reader_quotes(&pass->reader, fill, block, bytes, last) : IO_OK;
}

/* Begins to read a block, without knowing what the block before it leaves. */
static void read_ahead(struct pass *pass, int which)
{
    const size_t room = (size_t)pass->plan->block_bytes;
    const size_t carry = files_carry(pass->run->kind, room);
    const size_t from = carry + files_reader_shift(&pass->reader, pass->in[which] + carry, room);
    files_reader_begin(&pass->reader, &pass->fills[which], pass->in[which] + from, room - from, 0);
}

/* Moves the begin of a record to the next block.  *before receives its bytes if they are before
 * what is read, otherwise 0. */
static void move_rest(struct pass *pass, int next, const unsigned char *rest, size_t bytes,
                      size_t *before)
{
    struct files_fill *fill = &pass->fills[next];
    const size_t room = (size_t)pass->plan->block_bytes;
    *before = 0;
    if (pass->ahead && bytes > files_carry(pass->run->kind, room)) {
        files_wait(pass->run->queue, &fill->batch); /* it is read again */
        pass->reader.at = fill->from;
        pass->ahead = false;
    }
    if (pass->ahead) {
        memcpy(fill->buffer - bytes, rest, bytes);
        *before = bytes;
        return;
    }
    memcpy(pass->in[next], rest, bytes);
    files_reader_begin(&pass->reader, fill, pass->in[next], room, bytes);
}

static io_status put_all(struct pass *pass)
{
    size_t before = 0;
    pass->ahead = true;
    for (int i = 0; i < 2; i++) read_ahead(pass, i);
    for (int which = 0;; which = !which) {
        struct files_fill *fill = &pass->fills[which];
        size_t bytes, whole = 0;
        io_status status = files_reader_end(&pass->reader, fill, &bytes);
        const unsigned char *block = fill->buffer - before;
        bytes += before;
        if (status == IO_OK && bytes) status = cut_block(pass, fill, block, bytes, &whole);
        if (status != IO_OK || !bytes) return status;
        move_rest(pass, !which, block + whole, bytes - whole, &before);
        if (whole) status = put(pass, block, whole);
        if (status != IO_OK) return status;
        if (pass->ahead) read_ahead(pass, which);
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
    for (int i = 0; i < 2; i++) files_wait(run->queue, &pass.fills[i].batch); /* after an error */
    free(pass.scratch.counts);
    return status;
}
