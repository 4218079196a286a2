/*
 * files/collect.c - the second pass: reads the bins in order, sorts each and writes it.
 *
 *     read unit i + 1  |  sort unit i  |  write unit i - 1
 *
 * A unit is several small bins, one bin, or a part of a large bin of equal records, which needs no
 * sort.  A bin that is too large becomes the input of another level.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "files/internal.h"
#include "files/journal.h"
#include "io/threads.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_BUFFERS = 4,
    JOINED = 64 /* pieces that are copied together at a time */
};
enum unit_kind { SORT, COPY, DEEP };

/* Bins first .. last - 1 of blocks begin .. end - 1. */
struct unit {
    enum unit_kind kind;
    uint32_t first, last;
    uint64_t begin, end;
    size_t bytes, records;
    size_t shift; /* where the records begin in the buffer */
};

struct pass {
    struct files_run *run;
    const struct files_plan *plan;
    const struct files_cuts *cuts;
    const struct files_space *space;
    const struct files_index *index;
    bool direct;
    uint32_t bin; /* of the next unit */
    uint64_t block;
    uint64_t copied; /* with a journal: the hash of the parts of a bin that are copied */
    struct files_journal *journal;        /* only at the top */
    unsigned char *buffers[MOST_BUFFERS]; /* read, sorted, written, output of the sort */
    int buffer_count;
    void *work;
    struct files_batch batch;
};

/* ---- Units ---- */

/* What direct transfers read around the pieces of the bins, and a page before the records. */
static uint64_t slack(const struct pass *pass)
{
    const uint64_t around = pass->direct ? pass->index->blocks * 2 * FILES_ALIGN : 0;
    return around + FILES_ALIGN;
}

static uint64_t records_of(const struct pass *pass, uint32_t bin)
{
    const size_t fixed = pass->run->kind->record_bytes;
    return fixed ? pass->index->bytes[bin] / fixed : pass->index->records[bin];
}

static bool fits(const struct pass *pass, uint64_t bytes, uint64_t records)
{
    return bytes + slack(pass) <= pass->plan->bin_bytes &&
           files_work_bytes(pass->run, (size_t)bytes, (size_t)records) <= pass->plan->work_bytes;
}

static uint64_t piece_bytes(const struct pass *pass, const struct unit *unit, uint64_t block)
{
    const uint32_t *row = files_index_row(pass->index, block);
    return row[unit->last] - row[unit->first];
}

/* A large bin of equal records becomes several units; with unique, its first record suffices,
 * unless all are checked. */
static bool copy_unit(struct pass *pass, struct unit *unit)
{
    const uint64_t blocks = pass->index->blocks;
    const bool all = pass->run->sort->verify || pass->journal;
    const bool first_only = pass->run->sort->unique && !all;
    const uint64_t room = pass->plan->bin_bytes - slack(pass);
    unit->kind = COPY;
    unit->begin = pass->block;
    unit->end = unit->begin;
    while (unit->end < blocks) {
        const uint64_t piece = piece_bytes(pass, unit, unit->end);
        if (unit->bytes + piece > room) break;
        unit->bytes += (size_t)piece;
        unit->end++;
        if (piece && first_only) break;
    }
    pass->block = unit->end;
    if (unit->end < blocks && !first_only) return true;
    pass->block = 0;
    pass->bin++;
    return true;
}

static bool next_unit(struct pass *pass, struct unit *unit)
{
    const struct files_index *index = pass->index;
    while (pass->bin < index->bins && !index->bytes[pass->bin]) pass->bin++;
    if (pass->bin == index->bins) return false;
    const uint32_t bin = pass->bin;
    *unit = (struct unit){ .kind = SORT, .first = bin, .last = bin + 1, .end = index->blocks };
    uint64_t bytes = index->bytes[bin], records = records_of(pass, bin);
    const bool fit = fits(pass, bytes, records), large = bytes > pass->plan->bin_bytes / 4;
    if (pass->cuts->equal[bin] && (large || !fit || pass->block)) return copy_unit(pass, unit);
    if (!fit) {
        unit->kind = DEEP;
        pass->bin++;
        unit->records = (size_t)records;
        unit->bytes = (size_t)bytes;
        return true;
    }
    for (; unit->last < index->bins; unit->last++) {
        const uint64_t more = index->bytes[unit->last], count = records_of(pass, unit->last);
        const bool copy = pass->cuts->equal[unit->last] && more > pass->plan->bin_bytes / 4;
        if (copy || !fits(pass, bytes + more, records + count)) break;
        bytes += more;
        records += count;
    }
    unit->bytes = (size_t)bytes;
    unit->records = (size_t)records;
    pass->bin = unit->last;
    return true;
}

static void swap(struct pass *pass, int a, int b)
{
    unsigned char *buffer = pass->buffers[a];
    pass->buffers[a] = pass->buffers[b];
    pass->buffers[b] = buffer;
}

/* ---- Reading ---- */

/* Calls each piece: in the file, and where it goes in the buffer. */
struct piece {
    int fd;
    uint64_t offset;         /* where the transfer begins */
    size_t bytes, skip, use; /* of the transfer; before the piece; of the piece */
};

static struct piece find_piece(const struct pass *pass, const struct unit *unit, uint64_t block)
{
    const struct files_space *space = pass->space;
    const int file = files_space_file(space, block);
    const uint64_t at =
        files_space_offset(space, block) + files_index_row(pass->index, block)[unit->first];
    struct piece piece = { .fd = space->files[file].plain_fd,
                           .offset = at,
                           .use = (size_t)piece_bytes(pass, unit, block) };
    piece.bytes = piece.use;
    if (!pass->direct || !piece.use) return piece;
    piece.fd = space->files[file].fd;
    piece.offset = at / FILES_ALIGN * FILES_ALIGN;
    piece.skip = (size_t)(at - piece.offset);
    piece.bytes = (size_t)files_round_up(piece.skip + piece.use, FILES_ALIGN);
    return piece;
}

static void begin_read(struct pass *pass, const struct unit *unit)
{
    unsigned char *to = pass->buffers[0] + (pass->direct ? FILES_ALIGN : 0);
    for (uint64_t block = unit->begin; block < unit->end; block++) {
        const struct piece piece = find_piece(pass, unit, block);
        if (!piece.use) continue;
        files_read(pass->run->queue, &pass->batch, piece.fd, to, piece.bytes, piece.offset);
        to += piece.bytes;
    }
}

static bool sorts_in_place(const struct pass *pass, const struct unit *unit)
{
    return pass->run->kind->in_place || unit->kind == COPY;
}

static io_status cannot_read(const struct pass *pass, int why)
{
    const char *directory = pass->space->files[0].directory;
    if (why == FILES_ENDED && pass->journal) return files_journal_damaged(pass->run, directory);
    return files_failed(pass->run->error, directory, why, false);
}

/* Compares the hashes of what was read with those of what was written in the first pass. */
static io_status check_unit(struct pass *pass, const struct unit *unit, const unsigned char *bytes)
{
    const struct files_index *index = pass->index;
    uint64_t hash = 0;
    for (uint32_t bin = unit->first; bin < unit->last; bin++) hash -= index->hashes[bin];
    hash +=
        files_hash_bins(pass->run, index, unit->first, unit->last, unit->begin, unit->end, bytes);
    if (unit->kind == COPY) {
        hash += pass->copied;
        pass->copied = unit->end < index->blocks ? hash + index->hashes[unit->first] : 0;
        if (unit->end < index->blocks) return IO_OK;
    }
    return hash ? files_journal_damaged(pass->run, pass->space->files[0].directory) : IO_OK;
}

static io_status end_read(struct pass *pass, const struct unit *unit)
{
    struct files_run *run = pass->run;
    const double start = files_seconds();
    const int why = files_wait(run->queue, &pass->batch);
    if (why) return cannot_read(pass, why);
    run->sort->times.collect += files_seconds() - start;
    run->sort->times.temporary_bytes += unit->bytes;
    return IO_OK;
}

/* Pieces that are copied at the same time. */
struct join {
    struct join_piece {
        const unsigned char *from;
        unsigned char *to;
        size_t bytes;
    } pieces[JOINED];
};

static void join_one(void *arg, int i)
{
    const struct join_piece *piece = &((struct join *)arg)->pieces[i];
    memcpy(piece->to, piece->from, piece->bytes);
}

/* Copies the pieces in buffer 1 together, by all threads, to the buffer of the sort's output, which
 * is free until the sort.  Exchanges the buffers. */
static void copy_pieces(struct pass *pass, const struct unit *unit)
{
    struct join join;
    const unsigned char *from = pass->buffers[1] + FILES_ALIGN;
    unsigned char *to = pass->buffers[3];
    int count = 0;
    for (uint64_t block = unit->begin; block < unit->end; block++) {
        const struct piece piece = find_piece(pass, unit, block);
        if (!piece.use) continue;
        join.pieces[count++] = (struct join_piece){ from + piece.skip, to, piece.use };
        to += piece.use;
        from += piece.bytes;
        if (count < JOINED) continue;
        io_for_each_by(pass->run->threads, count, join_one, &join);
        count = 0;
    }
    io_for_each_by(pass->run->threads, count, join_one, &join);
    swap(pass, 1, 3);
}

/* Moves the pieces in buffer 1 together, to the place from which they can be written, while the
 * next unit is read. */
static io_status join_pieces(struct pass *pass, struct unit *unit)
{
    struct files_run *run = pass->run;
    const bool in_place = sorts_in_place(pass, unit);
    unit->shift = in_place ? files_direct_shift(run) : 0;
    if (pass->direct && !in_place) copy_pieces(pass, unit);
    unsigned char *buffer = pass->buffers[1], *from = buffer + FILES_ALIGN;
    unsigned char *to = buffer + unit->shift;
    if (!pass->direct && unit->shift) memmove(to, buffer, unit->bytes);
    for (uint64_t block = unit->begin; pass->direct && in_place && block < unit->end; block++) {
        const struct piece piece = find_piece(pass, unit, block);
        if (!piece.use) continue;
        memmove(to, from + piece.skip, piece.use);
        to += piece.use;
        from += piece.bytes;
    }
    return pass->journal ? check_unit(pass, unit, buffer + unit->shift) : IO_OK;
}

/* ---- A bin that is too large ---- */

/* Reads the pieces of a bin that is too large, and compares their hashes. */
static io_status check_deep(struct pass *pass, const struct unit *unit)
{
    struct files_run *run = pass->run;
    uint64_t hash = 0;
    for (uint64_t block = 0; block < pass->index->blocks; block++) {
        const int file = files_space_file(pass->space, block);
        const uint64_t begin = files_index_row(pass->index, block)[unit->first];
        files_read(run->queue, &pass->batch, pass->space->files[file].plain_fd, pass->buffers[0],
                   (size_t)piece_bytes(pass, unit, block),
                   files_space_offset(pass->space, block) + begin);
        const int why = files_wait(run->queue, &pass->batch);
        if (why) return cannot_read(pass, why);
        hash += files_hash_bins(run, pass->index, unit->first, unit->last, block, block + 1,
                                pass->buffers[0]);
    }
    if (hash == pass->index->hashes[unit->first]) return IO_OK;
    return files_journal_damaged(run, pass->space->files[0].directory);
}

static io_status sort_deep(struct pass *pass, const struct unit *unit, uint64_t budget, int depth)
{
    struct files_run *run = pass->run;
    const uint64_t blocks = pass->index->blocks;
    struct files_extents extents = { .bytes = unit->bytes };
    if (pass->journal) {
        const io_status good = check_deep(pass, unit);
        if (good != IO_OK) return good;
    }
    struct files_extent *list = malloc((size_t)blocks * sizeof *list);
    if (!list)
        return io_no_memory(run->error, run->sort->inputs[0].name, blocks * sizeof *list,
                            "the pieces of a bin");
    for (uint64_t block = 0; block < blocks; block++) {
        const int file = files_space_file(pass->space, block);
        const uint64_t bytes = piece_bytes(pass, unit, block);
        if (!bytes) continue;
        list[extents.count++] =
            (struct files_extent){ .fd = pass->space->files[file].plain_fd,
                                   .name = pass->space->files[file].directory,
                                   .offset = files_space_offset(pass->space, block) +
                                             files_index_row(pass->index, block)[unit->first],
                                   .bytes = bytes };
    }
    extents.at = list;
    run->sort->deep++;
    const io_status status = files_sort_level(run, &extents, budget, unit->records, depth + 1);
    free(list);
    return status;
}

/* ---- The pass ---- */

static void divide(struct pass *pass)
{
    const size_t bin = (size_t)pass->plan->bin_bytes;
    unsigned char *at = (unsigned char *)pass->run->arena;
    pass->buffer_count = pass->run->kind->in_place ? 3 : 4;
    for (int i = 0; i < pass->buffer_count; i++, at += bin) pass->buffers[i] = at;
    pass->work = at;
}

/* Sorts what was read, in buffer 1, while buffer 0 is read and buffer 2 is written. */
static io_status sort_unit(struct pass *pass, const struct unit *unit)
{
    struct files_run *run = pass->run;
    unsigned char *out = run->kind->in_place ? NULL : pass->buffers[3] + files_direct_shift(run);
    struct files_block block = { .in = pass->buffers[1] + unit->shift,
                                 .out = out,
                                 .bytes = unit->bytes,
                                 .records = unit->records,
                                 .work = pass->work,
                                 .work_bytes = (size_t)pass->plan->work_bytes };
    io_status status = IO_OK;
    const bool in_place = sorts_in_place(pass, unit);
    block.out_bytes = block.bytes;
    if (unit->kind == SORT) status = files_sort_block(run, &block);
    if (status == IO_OK) status = files_emit(run, in_place ? block.in : block.out, block.out_bytes);
    /* The buffer that was written before is free now. */
    swap(pass, 2, in_place ? 1 : 3);
    files_progress(run, unit->bytes);
    return status;
}

static io_status run_units(struct pass *pass, uint64_t budget, int depth)
{
    struct files_run *run = pass->run;
    struct unit unit, next;
    bool loading = false;
    for (bool more = next_unit(pass, &unit); more; unit = next) {
        io_status status = IO_OK;
        if (unit.kind == DEEP) {
            status = files_emit_wait(run);
            if (status == IO_OK) status = sort_deep(pass, &unit, budget, depth);
            more = next_unit(pass, &next);
        } else {
            if (!loading) begin_read(pass, &unit);
            status = end_read(pass, &unit);
            if (status != IO_OK) return status;
            swap(pass, 0, 1);
            more = next_unit(pass, &next);
            loading = more && next.kind != DEEP;
            if (loading) begin_read(pass, &next);
            status = join_pieces(pass, &unit);
            if (status != IO_OK) return status;
            status = sort_unit(pass, &unit);
            run->sort->bins++;
        }
        if (status != IO_OK) return status;
        if (!pass->journal) continue;
        files_journal_unit(
            run, &(struct files_position){ .bin = more ? next.first : pass->index->bins,
                                           .block = more && next.kind == COPY ? next.begin : 0,
                                           .copied = pass->copied });
    }
    return IO_OK;
}

io_status files_collect(struct files_run *run, const struct files_plan *plan,
                        const struct files_cuts *cuts, const struct files_space *space,
                        const struct files_index *index, int depth)
{
    struct pass pass = { .run = run, .plan = plan, .cuts = cuts, .space = space, .index = index };
    /* Direct transfers read more than the pieces; with many blocks that would be much. */
    pass.direct =
        space->direct && index->blocks * 2 * FILES_ALIGN + FILES_ALIGN <= plan->bin_bytes / 8;
    divide(&pass);
    if (depth == 0 && run->journal) {
        struct files_position position;
        const io_status loaded = files_journal_load_output(run, &position);
        if (loaded != IO_OK) return loaded;
        pass.bin = position.bin;
        pass.block = position.block;
        pass.copied = position.copied;
        pass.journal = run->journal;
    }
    /* The index and the bins stay in memory while a bin is distributed again. */
    const uint64_t kept = index->room * (index->bins + (uint64_t)1) * sizeof *index->starts +
                          index->bins * (uint64_t)2 * sizeof *index->bytes + cuts->memory_bytes;
    const io_status status = run_units(&pass, plan->budget_bytes - kept, depth);
    io_status written = files_emit_wait(run);
    if (status == IO_OK && written == IO_OK && pass.journal)
        written = files_journal_checkpoint(run, true);
    files_wait(run->queue, &pass.batch); /* after an error */
    return status == IO_OK ? written : status;
}
