/*
 * files/single.c - sorts records that fit in the budget, and a block of a larger sort.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "files/internal.h"

#include <string.h>

io_status files_sort_block(struct files_run *run, struct files_block *block)
{
    const double start = files_seconds();
    block->threads = run->threads;
    block->name = run->sort->inputs[0].name;
    block->out_bytes = block->bytes;
    const io_status status =
        block->bytes ? run->kind->sort(run->kind, run->sort->ctx, block, run->error) : IO_OK;
    run->sort->times.sort += files_seconds() - start;
    if (status != IO_OK) run->sort->library = block->status;
    if (status != IO_OK || !run->sort->verify || block->out_bytes == block->bytes) return status;
    /* Equal records that the sort dropped count as written. */
    struct files_sum before = { 0 }, after = { 0 };
    files_add_sum(run, &before, block->in, block->bytes);
    files_add_sum(run, &after, block->out, block->out_bytes);
    run->written.count += before.count - after.count;
    run->written.sum += before.sum - after.sum;
    return status;
}

io_status files_sort_arena(struct files_run *run, size_t bytes, size_t records)
{
    const struct files_kind *kind = run->kind;
    const size_t room = (size_t)files_round_up(bytes + 1, 256);
    struct files_block block = { .in = (unsigned char *)run->arena,
                                 .bytes = bytes,
                                 .records = records,
                                 .work_bytes = files_work_bytes(run, bytes, records) };
    block.out = block.in + room;
    block.work = kind->in_place ? block.out : block.out + room;
    io_status status = files_sort_block(run, &block);
    if (status == IO_OK)
        status = files_emit(run, kind->in_place ? block.in : block.out, block.out_bytes);
    files_progress(run, bytes);
    /* The caller may use the arena again. */
    const io_status written = files_emit_wait(run);
    return status == IO_OK ? written : status;
}

io_status files_sort_single(struct files_run *run, const struct files_extents *extents,
                            uint64_t budget_bytes, bool *done)
{
    struct files_reader reader;
    struct files_fill fill;
    size_t bytes;
    *done = true;
    if (!extents->bytes) return IO_OK;
    size_t room = (size_t)extents->bytes;
    if (extents->extend) room = room / run->kind->input_bytes * run->kind->record_bytes;
    const uint64_t position = run->position;
    files_reader_open(&reader, run, extents);
    files_reader_begin(&reader, &fill, (unsigned char *)run->arena, room, 0);
    const io_status status = files_reader_end(&reader, &fill, &bytes);
    if (status != IO_OK) return status;
    files_progress(run, bytes);
    const size_t records = (size_t)files_count(run, (unsigned char *)run->arena, bytes);
    *done = files_fits(run->sort, budget_bytes, bytes, records);
    run->position = *done ? run->position : position;
    if (!*done) {
        run->done_bytes -= bytes;
        return IO_OK;
    }
    /* The sort checks the quotes of one input. */
    if (run->depth == 0 && extents->count > 1) {
        const io_status valid =
            files_reader_quotes(&reader, &fill, (unsigned char *)run->arena, bytes, true);
        if (valid != IO_OK) return valid;
    }
    run->sort->records += run->depth ? 0 : records;
    if (run->sort->verify && run->depth == 0)
        files_add_sum(run, &run->read, (unsigned char *)run->arena, bytes);
    return files_sort_arena(run, bytes, records);
}
