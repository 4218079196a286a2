/*
 * files/journal.c - what a sort that can be continued records in its manifest, and reads again.
 *
 *     block or unit is written -> record -> pending -> thread: fdatasync() of the data,
 *                                                      write and fdatasync() of the records
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _XOPEN_SOURCE 700
#include "files/journal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PARTS = 32,                /* a part of the input after which records are written */
    MOST_INTERVAL = 256 << 20, /* bytes */
    MOST_PENDING = 4           /* records of blocks that wait for those that are being written */
};

struct block_head {
    uint64_t block, bins, read_count, read_sum;
};

struct output_head {
    uint64_t bin, block, copied;
    uint64_t emitted_bytes, written, written_count, written_sum, sorted_bins;
    uint64_t has_last, last_bytes;
};

struct chunk {
    uint64_t bytes, hash;
};

/* ---- Open ---- */

io_status files_journal_open(struct files_run *run)
{
    struct files_sort *sort = run->sort;
    struct files_resume *resume = sort->resume;
    if (!resume || !resume->active) return IO_OK;
    struct files_journal *journal = calloc(1, sizeof *journal);
    if (!journal) return io_no_memory(run->error, resume->target, sizeof *journal, "the manifest");
    journal->resume = resume;
    journal->interval = sort->plan.input_bytes / PARTS;
    if (journal->interval > MOST_INTERVAL) journal->interval = MOST_INTERVAL;
    run->journal = journal;
    return IO_OK;
}

void files_journal_close(struct files_run *run)
{
    struct files_journal *journal = run->journal;
    if (!journal) return;
    if (journal->running) files_wait(run->queue, &journal->batch);
    for (int i = 0; i < 2; i++) files_bytes_free(&journal->held[i]);
    files_bytes_free(&journal->state);
    files_bytes_free(&journal->chunks);
    files_bytes_free(&journal->contents);
    free(journal);
    run->journal = NULL;
}

io_status files_journal_hopeless(struct files_run *run)
{
    char *text = run->error->text;
    const size_t used = strlen(text);
    if (!run->journal) return IO_FAIL;
    run->journal->resume->hopeless = true;
    snprintf(text + used, sizeof run->error->text - used, "; begin again with --resume=restart");
    return IO_FAIL;
}

static io_status damaged(struct files_run *run, const char *name, const char *what)
{
    io_fail(run->error, IO_FAIL, name, "%s of the interrupted sort changed since it was recorded",
            what);
    return files_journal_hopeless(run);
}

io_status files_journal_damaged(struct files_run *run, const char *directory)
{
    return damaged(run, directory, "a temporary file");
}

/* ---- Writing ---- */

/* On a thread. */
static int write_records(void *arg)
{
    struct files_journal *journal = arg;
    int why = 0;
    journal->failed = journal->to_output ? journal->resume->part : journal->resume->temporary[0];
    for (int i = 0; i < journal->fd_count && !why; i++) why = files_sync(journal->fds[i]);
    if (why && journal->to_output) journal->resume->lost = true;
    if (why) return why;
    journal->failed = journal->resume->manifest.path;
    return files_manifest_write(&journal->resume->manifest);
}

static io_status wait_records(struct files_run *run)
{
    struct files_journal *journal = run->journal;
    if (!journal->running) return IO_OK;
    journal->running = false;
    const double start = files_seconds();
    const int why = files_wait(run->queue, &journal->batch);
    run->sort->times.sync += files_seconds() - start;
    return why ? files_failed(run->error, journal->failed, why, true) : IO_OK;
}

/* Begins to write the records that are pending, unless that is still done with earlier ones. */
static io_status write_pending(struct files_run *run, bool wait)
{
    struct files_journal *journal = run->journal;
    struct files_manifest *m = &journal->resume->manifest;
    if (!wait && journal->running && files_is_busy(run->queue, &journal->batch)) return IO_OK;
    const io_status status = wait_records(run);
    if (status != IO_OK || !files_manifest_take(m)) return status;
    journal->since = 0;
    journal->running = true;
    files_call(run->queue, &journal->batch, write_records, journal);
    return wait ? wait_records(run) : IO_OK;
}

/* ---- The cuts ---- */

static uint64_t hash_cuts(const struct files_cuts *cuts)
{
    const size_t n = cuts->count;
    uint64_t hash = files_hash(cuts->bounds, n * sizeof *cuts->bounds, n);
    hash = files_hash(cuts->inclusive, n, hash);
    for (size_t i = 0; i < n; i++)
        if (cuts->at[i]) hash = files_hash(cuts->at[i], cuts->bytes[i], hash);
    return hash;
}

io_status files_journal_cuts(struct files_run *run, const struct files_cuts *cuts)
{
    struct files_journal *journal = run->journal;
    if (!journal) return IO_OK;
    struct files_manifest *m = &journal->resume->manifest;
    struct files_bytes contents = { 0 };
    const uint64_t now = hash_cuts(cuts);
    uint64_t before = now;
    io_status status;
    if (files_manifest_next(m, FILES_RECORD_CUTS, run->error, &status)) {
        if (m->record.n == sizeof before) memcpy(&before, m->record.at, sizeof before);
        if (before != now) return damaged(run, run->sort->inputs[0].name, "the input");
        return IO_OK;
    }
    if (status != IO_OK) return status;
    files_bytes_add(&contents, &now, sizeof now);
    files_manifest_add(m, FILES_RECORD_CUTS, &contents);
    files_bytes_free(&contents);
    return IO_OK;
}

/* ---- Blocks ---- */

/* What follows the head: the begins of the bins, the hashes of the pieces, and the numbers of
 * records so far, if records differ in length. */
static size_t block_bytes(const struct files_run *run, const struct files_index *index)
{
    const size_t bins = index->bins;
    return sizeof(struct block_head) + (bins + 1) * sizeof *index->starts +
           bins * sizeof *index->pieces +
           (run->kind->record_bytes ? 0 : bins * sizeof *index->records);
}

static bool is_row(const uint32_t *row, uint32_t bins, uint64_t most)
{
    for (uint32_t bin = 0; bin < bins; bin++)
        if (row[bin] > row[bin + 1]) return false;
    return row[0] == 0 && row[bins] <= most;
}

static io_status load_block(struct files_run *run, const struct files_plan *plan,
                            struct files_index *index)
{
    const struct files_bytes *record = &run->journal->resume->manifest.record;
    const unsigned char *at = record->at;
    const size_t bins = index->bins;
    struct block_head head;
    const char *path = run->journal->resume->manifest.path;
    if (record->n != block_bytes(run, index)) return damaged(run, path, "the manifest");
    memcpy(&head, at, sizeof head);
    at += sizeof head;
    const io_status status = files_index_room(index, run);
    if (status != IO_OK) return status;
    uint32_t *row = files_index_row(index, index->blocks);
    memcpy(row, at, (bins + 1) * sizeof *row);
    at += (bins + 1) * sizeof *row;
    if (head.block != index->blocks || head.bins != bins ||
        !is_row(row, index->bins, plan->block_bytes))
        return damaged(run, path, "the manifest");
    memcpy(index->pieces, at, bins * sizeof *index->pieces);
    at += bins * sizeof *index->pieces;
    if (!run->kind->record_bytes) memcpy(index->records, at, bins * sizeof *index->records);
    for (size_t bin = 0; bin < bins; bin++) {
        index->hashes[bin] += index->pieces[bin];
        index->bytes[bin] += row[bin + 1] - row[bin];
    }
    run->read = (struct files_sum){ head.read_count, head.read_sum };
    files_progress(run, row[bins]);
    index->blocks++;
    return IO_OK;
}

io_status files_journal_load_blocks(struct files_run *run, const struct files_plan *plan,
                                    const struct files_space *space, struct files_index *index)
{
    struct files_journal *journal = run->journal;
    const size_t bins = index->bins;
    io_status status;
    index->hashes = calloc(bins, sizeof *index->hashes);
    index->pieces = calloc(bins, sizeof *index->pieces);
    if (!index->hashes || !index->pieces)
        return io_no_memory(run->error, run->sort->inputs[0].name, bins * sizeof *index->hashes,
                            "the hashes of the bins");
    journal->fd_count = space->count;
    for (int i = 0; i < space->count; i++) journal->fds[i] = space->files[i].plain_fd;
    while (
        files_manifest_next(&journal->resume->manifest, FILES_RECORD_BLOCK, run->error, &status)) {
        status = load_block(run, plan, index);
        if (status != IO_OK) return status;
    }
    return status;
}

io_status files_journal_block(struct files_run *run, const struct files_index *index,
                              uint64_t block, const unsigned char *bytes)
{
    struct files_journal *journal = run->journal;
    struct files_bytes *held = &journal->held[block % 2];
    const struct files_manifest *m = &journal->resume->manifest;
    const size_t bins = index->bins;
    const struct block_head head = { block, bins, run->read.count, run->read.sum };
    const uint32_t *row = files_index_row(index, block);
    files_hash_block(run, index, block, bytes);
    held->n = 0;
    files_bytes_add(held, &head, sizeof head);
    files_bytes_add(held, row, (bins + 1) * sizeof *row);
    files_bytes_add(held, index->pieces, bins * sizeof *index->pieces);
    if (!run->kind->record_bytes)
        files_bytes_add(held, index->records, bins * sizeof *index->records);
    journal->since += row[bins];
    const bool many = m->pending.n >= MOST_PENDING * block_bytes(run, index);
    if (!many && journal->since < journal->interval) return IO_OK;
    if (!many) return write_pending(run, false);
    const io_status status = wait_records(run);
    return status == IO_OK ? write_pending(run, false) : status;
}

io_status files_journal_written(struct files_run *run, int which)
{
    struct files_journal *journal = run->journal;
    struct files_bytes *held = &journal->held[which];
    if (held->failed)
        return io_no_memory(run->error, journal->resume->target, held->n, "the manifest");
    if (held->n) files_manifest_add(&journal->resume->manifest, FILES_RECORD_BLOCK, held);
    held->n = 0;
    return IO_OK;
}

io_status files_journal_end_blocks(struct files_run *run)
{
    return write_pending(run, true);
}

/* ---- The output ---- */

void files_journal_emit(struct files_run *run, uint64_t hash, size_t n)
{
    const struct chunk chunk = { n, hash };
    if (!n) return;
    files_bytes_add(&run->journal->chunks, &chunk, sizeof chunk);
    run->journal->since += n;
}

void files_journal_unit(struct files_run *run, const struct files_position *position)
{
    struct files_journal *journal = run->journal;
    struct files_bytes *state = &journal->state;
    const struct files_sort *sort = run->sort;
    const struct output_head head = { .bin = position->bin,
                                      .block = position->block,
                                      .copied = position->copied,
                                      .emitted_bytes = run->emitted_bytes,
                                      .written = sort->written,
                                      .written_count = run->written.count,
                                      .written_sum = run->written.sum,
                                      .sorted_bins = sort->bins,
                                      .has_last = run->has_last,
                                      .last_bytes = run->has_last ? run->last_bytes : 0 };
    state->n = 0;
    files_bytes_add(state, &head, sizeof head);
    files_bytes_add(state, run->last, (size_t)head.last_bytes);
    journal->state_bytes = run->emitted_bytes;
    journal->has_state = true;
}

io_status files_journal_checkpoint(struct files_run *run, bool at_end)
{
    struct files_journal *journal = run->journal;
    struct files_bytes *contents = &journal->contents;
    const bool due = at_end || journal->since >= journal->interval;
    /* A part of a bin that was distributed again is not recorded. */
    if (!due || !journal->has_state || journal->state_bytes != run->emitted_bytes) return IO_OK;
    if (!at_end && journal->running && files_is_busy(run->queue, &journal->batch)) return IO_OK;
    const int why = files_write_tail(run);
    if (why) return files_failed(run->error, run->sort->output->name, why, true);
    io_status status = wait_records(run); /* before the files change that it flushes */
    if (status != IO_OK) return status;
    contents->n = 0;
    files_bytes_add(contents, journal->state.at, journal->state.n);
    files_bytes_add(contents, journal->chunks.at, journal->chunks.n);
    contents->failed |= journal->state.failed || journal->chunks.failed;
    if (contents->failed)
        return io_no_memory(run->error, journal->resume->target, contents->n, "the manifest");
    files_manifest_add(&journal->resume->manifest, FILES_RECORD_OUTPUT, contents);
    journal->chunks.n = 0;
    journal->has_state = false;
    journal->fds[0] = run->sort->output->fd;
    journal->fd_count = 1;
    journal->to_output = true;
    return write_pending(run, at_end);
}

/* ---- The output that was written before ---- */

/* Reads what was written at *at, and compares its hash. */
static io_status check_chunk(struct files_run *run, const struct chunk *chunk, uint64_t at)
{
    const struct files_sort *sort = run->sort;
    struct files_batch batch = { 0 };
    unsigned char *to = (unsigned char *)run->arena;
    const char *part = run->journal->resume->part;
    if (chunk->bytes > run->arena_bytes) return damaged(run, part, "the output");
    files_read(run->queue, &batch, sort->output->fd, to, (size_t)chunk->bytes,
               sort->head_bytes + at);
    const int why = files_wait(run->queue, &batch);
    if (why && why != FILES_ENDED) return files_failed(run->error, part, why, false);
    if (why || files_hash_output(run, to, (size_t)chunk->bytes) != chunk->hash)
        return damaged(run, part, "the output");
    files_progress(run, chunk->bytes);
    return IO_OK;
}

static io_status check_record(struct files_run *run, struct output_head *head, uint64_t *at)
{
    const struct files_bytes *record = &run->journal->resume->manifest.record;
    const char *path = run->journal->resume->manifest.path;
    struct chunk chunk;
    if (record->n < sizeof *head) return damaged(run, path, "the manifest");
    memcpy(head, record->at, sizeof *head);
    if (head->last_bytes > record->n - sizeof *head) return damaged(run, path, "the manifest");
    size_t next = sizeof *head + (size_t)head->last_bytes;
    for (; next + sizeof chunk <= record->n; next += sizeof chunk) {
        memcpy(&chunk, record->at + next, sizeof chunk);
        const io_status status = check_chunk(run, &chunk, *at);
        if (status != IO_OK) return status;
        *at += chunk.bytes;
    }
    return *at == head->emitted_bytes ? IO_OK : damaged(run, path, "the manifest");
}

static io_status go_on(struct files_run *run, const struct output_head *head,
                       struct files_position *position)
{
    struct files_sort *sort = run->sort;
    const struct files_bytes *record = &run->journal->resume->manifest.record;
    *position = (struct files_position){ (uint32_t)head->bin, head->block, head->copied };
    run->emitted_bytes = head->emitted_bytes;
    run->written = (struct files_sum){ head->written_count, head->written_sum };
    sort->written = head->written;
    sort->bins = head->sorted_bins;
    run->journal->resume->bytes_before = head->emitted_bytes;
    if (head->has_last) {
        const io_status status =
            files_keep_last(run, record->at + sizeof *head, (size_t)head->last_bytes);
        if (status != IO_OK) return status;
    }
    const int why = files_seek_output(run, sort->head_bytes + head->emitted_bytes);
    return why ? files_failed(run->error, sort->output->name, why, true) : IO_OK;
}

io_status files_journal_load_output(struct files_run *run, struct files_position *position)
{
    struct files_journal *journal = run->journal;
    struct files_manifest *m = &journal->resume->manifest;
    struct output_head head = { 0 };
    uint64_t at = 0;
    io_status status;
    *position = (struct files_position){ 0 };
    journal->has_state = false;
    if (m->counts[FILES_RECORD_OUTPUT] && run->sort->stage)
        run->sort->stage(run->sort->user, "checking the output");
    while (files_manifest_next(m, FILES_RECORD_OUTPUT, run->error, &status)) {
        status = check_record(run, &head, &at);
        if (status != IO_OK) return status;
        status = go_on(run, &head, position);
        if (status != IO_OK) return status;
    }
    return status;
}
