/*
 * files/collect.c - the second pass: reads the bins in order, sorts each and writes it.
 *
 *     read units i + 1, i + 2  |  sort unit i  |  write units i - 1, i - 2
 *
 * A unit is several small bins, one bin, or a part of a large bin of equal records, which needs no
 * sort.  A bin that is too large becomes the input of another level.
 *
 * A buffer is read as soon as it is free, also while the unit before is still being read, and a
 * write begins before the one before it ended.  So the disk always has requests: it is slower if
 * they run out between two units.
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
    MOST_LOADS = 2,
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

/* A unit that is being read. */
struct load {
    struct unit unit;
    unsigned char *buffer;
    struct files_batch batch;
};

struct pass {
    struct files_run *run;
    const struct files_plan *plan;
    const struct files_cuts *cuts;
    const struct files_space *space;
    const struct files_index *index;
    bool direct;
    uint32_t bin; /* of the unit after the next one */
    uint64_t block;
    uint64_t copied; /* with a journal: the hash of the parts of a bin that are copied */
    struct files_journal *journal; /* only at the top */
    /* Each buffer is unused, read, written, or has the unit that is sorted, or its output. */
    unsigned char *unused[MOST_BUFFERS], *written[MOST_BUFFERS];
    int unused_count, written_count; /* written: the oldest first */
    struct load loads[MOST_LOADS];   /* loading of them, from first_load */
    int first_load, loading;
    struct unit next; /* which is not being read yet; more: there is one */
    bool more;
    void *work;
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

/* ---- Buffers ---- */

static void divide(struct pass *pass)
{
    const size_t bin = (size_t)pass->plan->bin_bytes;
    unsigned char *at = (unsigned char *)pass->run->arena;
    pass->unused_count = pass->run->kind->in_place ? 3 : 4;
    for (int i = 0; i < pass->unused_count; i++, at += bin) pass->unused[i] = at;
    pass->work = at;
}

static void release(struct pass *pass, unsigned char *buffer)
{
    pass->unused[pass->unused_count++] = buffer;
}

/* Releases the buffers whose writes ended. */
static void reclaim(struct pass *pass)
{
    const struct files_run *run = pass->run;
    const int left = (int)(run->writes_begun - run->writes_ended);
    const int ended = pass->written_count > left ? pass->written_count - left : 0;
    for (int i = 0; i < ended; i++) release(pass, pass->written[i]);
    pass->written_count -= ended;
    for (int i = 0; i < pass->written_count; i++) pass->written[i] = pass->written[i + ended];
}

static io_status wait_written(struct pass *pass, bool all)
{
    const io_status status = all ? files_emit_wait(pass->run) : files_emit_wait_one(pass->run);
    reclaim(pass);
    return status;
}

/* An unused buffer.  Waits for a write if there is none: at most MOST_LOADS are read. */
static io_status take(struct pass *pass, unsigned char **buffer)
{
    const io_status status = pass->unused_count ? IO_OK : wait_written(pass, false);
    *buffer = status == IO_OK ? pass->unused[--pass->unused_count] : NULL;
    return status;
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

static void begin_read(struct pass *pass, struct load *load)
{
    const struct unit *unit = &load->unit;
    unsigned char *to = load->buffer + (pass->direct ? FILES_ALIGN : 0);
    for (uint64_t block = unit->begin; block < unit->end; block++) {
        const struct piece piece = find_piece(pass, unit, block);
        if (!piece.use) continue;
        files_read(pass->run->queue, &load->batch, piece.fd, to, piece.bytes, piece.offset);
        to += piece.bytes;
    }
}

/* Begins to read the next units, as far as there are buffers. */
static void load_more(struct pass *pass)
{
    while (pass->loading < MOST_LOADS && pass->unused_count && pass->more &&
           pass->next.kind != DEEP) {
        struct load *load = &pass->loads[(pass->first_load + pass->loading++) % MOST_LOADS];
        load->unit = pass->next;
        load->buffer = pass->unused[--pass->unused_count];
        begin_read(pass, load);
        pass->more = next_unit(pass, &pass->next);
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

/* Waits for the oldest load. */
static io_status end_read(struct pass *pass, struct unit *unit, unsigned char **buffer)
{
    struct files_run *run = pass->run;
    struct load *load = &pass->loads[pass->first_load];
    const double start = files_seconds();
    const int why = files_wait(run->queue, &load->batch);
    if (why) return cannot_read(pass, why);
    *unit = load->unit;
    *buffer = load->buffer;
    pass->first_load = (pass->first_load + 1) % MOST_LOADS;
    pass->loading--;
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

/* Copies the pieces in a buffer together, by all threads, to another one. */
static void copy_pieces(struct pass *pass, const struct unit *unit, const unsigned char *buffer,
                        unsigned char *to)
{
    struct join join;
    const unsigned char *from = buffer + FILES_ALIGN;
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
}

/* Moves the pieces in *buffer together, to the place from which they can be written, while other
 * units are read.  Unless the sort is in place, they move to *other, the buffer of its output, and
 * the buffers are exchanged. */
static io_status join_pieces(struct pass *pass, struct unit *unit, unsigned char **in,
                             unsigned char **other)
{
    struct files_run *run = pass->run;
    const bool in_place = sorts_in_place(pass, unit);
    unit->shift = in_place ? files_direct_shift(run) : 0;
    if (pass->direct && !in_place) {
        unsigned char *joined = *other;
        copy_pieces(pass, unit, *in, joined);
        *other = *in;
        *in = joined;
    }
    unsigned char *buffer = *in, *from = buffer + FILES_ALIGN;
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
    struct files_batch batch = { 0 };
    uint64_t hash = 0;
    for (uint64_t block = 0; block < pass->index->blocks; block++) {
        const int file = files_space_file(pass->space, block);
        const uint64_t begin = files_index_row(pass->index, block)[unit->first];
        files_read(run->queue, &batch, pass->space->files[file].plain_fd, pass->unused[0],
                   (size_t)piece_bytes(pass, unit, block),
                   files_space_offset(pass->space, block) + begin);
        const int why = files_wait(run->queue, &batch);
        if (why) return cannot_read(pass, why);
        hash += files_hash_bins(run, pass->index, unit->first, unit->last, block, block + 1,
                                pass->unused[0]);
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

/* Sorts what was read, and begins to write it. */
static io_status sort_unit(struct pass *pass, const struct unit *unit, unsigned char *in,
                           unsigned char *other)
{
    struct files_run *run = pass->run;
    struct files_block block = { .in = in + unit->shift,
                                 .out = other ? other + files_direct_shift(run) : NULL,
                                 .bytes = unit->bytes,
                                 .records = unit->records,
                                 .work = pass->work,
                                 .work_bytes = (size_t)pass->plan->work_bytes };
    io_status status = IO_OK;
    const bool in_place = sorts_in_place(pass, unit);
    block.out_bytes = block.bytes;
    if (unit->kind == SORT) status = files_sort_block(run, &block);
    const uint64_t begun = run->writes_begun;
    if (status == IO_OK) status = files_emit(run, in_place ? block.in : block.out, block.out_bytes);
    unsigned char *const sorted = in_place ? in : other;
    if (run->writes_begun > begun)
        pass->written[pass->written_count++] = sorted;
    else
        release(pass, sorted); /* nothing was left to be written */
    if (other) release(pass, in_place ? other : in);
    reclaim(pass);
    files_progress(run, unit->bytes);
    return status;
}

/* Reads and sorts the oldest unit that is being read. */
static io_status run_unit(struct pass *pass)
{
    struct unit unit = { 0 };
    unsigned char *in = NULL, *other = NULL;
    io_status status = end_read(pass, &unit, &in);
    if (status == IO_OK && !sorts_in_place(pass, &unit)) status = take(pass, &other);
    if (status != IO_OK) return status;
    load_more(pass);
    status = join_pieces(pass, &unit, &in, &other);
    if (status != IO_OK) return status;
    pass->run->sort->bins++;
    return sort_unit(pass, &unit, in, other);
}

static io_status run_deep(struct pass *pass, uint64_t budget, int depth)
{
    const struct unit unit = pass->next;
    io_status status = wait_written(pass, true);
    if (status == IO_OK) status = sort_deep(pass, &unit, budget, depth);
    pass->more = next_unit(pass, &pass->next);
    return status;
}

/* Records which unit is the next one to be sorted. */
static void record_unit(struct pass *pass)
{
    const struct unit *next = pass->loading ? &pass->loads[pass->first_load].unit
                              : pass->more  ? &pass->next
                                            : NULL;
    files_journal_unit(
        pass->run, &(struct files_position){ .bin = next ? next->first : pass->index->bins,
                                             .block = next && next->kind == COPY ? next->begin : 0,
                                             .copied = pass->copied });
}

static io_status run_units(struct pass *pass, uint64_t budget, int depth)
{
    pass->more = next_unit(pass, &pass->next);
    for (;;) {
        io_status status = IO_OK;
        load_more(pass);
        /* If only one unit is read, reading would pause when that ends. */
        if (pass->loading == 1 && pass->more && pass->next.kind != DEEP) {
            status = wait_written(pass, false);
            load_more(pass);
        }
        if (status != IO_OK || (!pass->loading && !pass->more)) return status;
        status = pass->loading ? run_unit(pass) : run_deep(pass, budget, depth);
        if (status != IO_OK) return status;
        if (pass->journal) record_unit(pass);
    }
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
    run->most_writes = run->direct.fd >= 0 && !run->journal ? FILES_MOST_WRITES : 1;
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
    /* After an error. */
    for (int i = 0; i < MOST_LOADS; i++) files_wait(run->queue, &pass.loads[i].batch);
    return status == IO_OK ? written : status;
}
