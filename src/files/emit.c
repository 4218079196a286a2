/*
 * files/emit.c - what happens to sorted records: the check of order and contents (check.c), unique,
 * the output.
 *
 * A thread writes while the caller sorts the next records.  The last record that was written is
 * kept, so that unique and the check of order see the neighbours of all records.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* sync_file_range() */
#include "files/internal.h"
#include "files/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 256 };

io_status files_failed(struct io_error *error, const char *name, int why, bool writing)
{
    if (why == FILES_ENDED)
        return io_fail(error, IO_FAIL, name, "ended early: it was changed during the sort");
    return io_fail(error, IO_FAIL, name, "cannot %s: %s", writing ? "write" : "read",
                   strerror(why));
}

void files_progress(struct files_run *run, uint64_t bytes)
{
    const struct io_progress *progress = run->sort->progress;
    run->done_bytes += bytes;
    if (progress) progress->tick(progress->user, run->done_bytes, run->total_bytes);
}

/* ---- Neighbours ---- */

struct walk {
    struct files_run *run;
    const unsigned char *last; /* the last record that is kept; NULL: none */
    size_t last_bytes;
    uint64_t last_prefix;
    unsigned char *to; /* where the next record goes */
    uint64_t count;    /* of records that are kept */
};

static bool is_same(const struct walk *walk, const unsigned char *record, size_t bytes,
                    uint64_t prefix)
{
    const struct files_kind *kind = walk->run->kind;
    if (!walk->last) return false;
    if (kind->same) return kind->same(kind, walk->last, walk->last_bytes, record, bytes);
    if (walk->last_prefix != prefix) return false;
    return kind->whole_prefix ||
           kind->compare(kind, walk->last, walk->last_bytes, record, bytes) == 0;
}

static void step(struct walk *walk, const unsigned char *record, size_t bytes, uint64_t prefix)
{
    if (is_same(walk, record, bytes, prefix)) return;
    if (walk->to != record) memmove(walk->to, record, bytes);
    walk->last = walk->to;
    walk->last_bytes = bytes;
    walk->last_prefix = prefix;
    walk->to += bytes;
    walk->count++;
}

io_status files_keep_last(struct files_run *run, const unsigned char *last, size_t bytes)
{
    if (!last || last == run->last) return IO_OK;
    if (bytes > run->last_room) {
        unsigned char *larger = realloc(run->last, bytes);
        if (!larger) return io_no_memory(run->error, run->sort->inputs[0].name, bytes, "a record");
        run->last = larger;
        run->last_room = bytes;
    }
    memcpy(run->last, last, bytes);
    run->last_bytes = bytes;
    run->has_last = true;
    return IO_OK;
}

/* Keeps the first of equal records.  *n: their bytes. */
static io_status keep_first(struct files_run *run, unsigned char *bytes, size_t *n, uint64_t *count)
{
    const struct files_kind *kind = run->kind;
    struct walk walk = { .run = run, .to = bytes };
    uint32_t lengths[BATCH];
    uint64_t prefixes[BATCH];
    const double start = files_seconds();
    if (run->has_last) {
        walk.last = run->last;
        walk.last_bytes = run->last_bytes;
        kind->scan(kind, run->last, run->last_bytes, 1, lengths, &walk.last_prefix);
    }
    for (size_t at = 0; at < *n;) {
        const size_t found = kind->scan(kind, bytes + at, *n - at, BATCH, lengths, prefixes);
        for (size_t i = 0; i < found; i++) {
            const size_t length = kind->record_bytes ? kind->record_bytes : lengths[i];
            step(&walk, bytes + at, length, prefixes[i]);
            at += length;
        }
    }
    *n = (size_t)(walk.to - bytes);
    *count = walk.count;
    run->sort->times.check += files_seconds() - start;
    return files_keep_last(run, walk.last, walk.last_bytes);
}

/* Checks the order, also against the records before; without unique, which does it itself, keeps
 * the last record. */
static io_status verify(struct files_run *run, const unsigned char *bytes, size_t n)
{
    struct files_checked checked;
    files_check(run, bytes, n, true, &checked);
    run->written.count += checked.sum.count;
    run->written.sum += checked.sum.sum;
    if (!checked.sorted) {
        io_fail(run->error, IO_FAIL, run->sort->output->name,
                "verification failed: the records are not in order; the output was not written");
        return files_journal_hopeless(run);
    }
    return run->sort->unique ? IO_OK : files_keep_last(run, checked.last, checked.last_bytes);
}

/* ---- The output ---- */

/* On a thread.  The file system begins to write at once, so that fsync() does not have to. */
static int write_out(void *arg)
{
    struct files_run *run = arg;
    struct io_output *output = run->sort->output;
    const uint64_t begin = output->written_bytes;
    if (io_write(output, run->writing_at, run->writing_bytes, &run->writing_error) != IO_OK)
        return EIO;
#ifdef SYNC_FILE_RANGE_WRITE
    if (run->sort->output_is_file && output->written_bytes > begin)
        sync_file_range(output->fd, (off_t)begin, (off_t)(output->written_bytes - begin),
                        SYNC_FILE_RANGE_WRITE);
#else
    (void)begin;
#endif
    return 0;
}

io_status files_emit_wait_one(struct files_run *run)
{
    if (run->writes_ended == run->writes_begun) return IO_OK;
    const double start = files_seconds();
    const int why = files_wait(run->queue, &run->writing[run->writes_ended % FILES_MOST_WRITES]);
    run->writes_ended++;
    run->sort->times.write += files_seconds() - start;
    if (!why) return IO_OK;
    if (run->direct.fd >= 0) return files_failed(run->error, run->sort->output->name, why, true);
    *run->error = run->writing_error;
    return IO_FAIL;
}

/* Waits until at most this many writes run. */
static io_status wait_until(struct files_run *run, uint64_t most)
{
    io_status status = IO_OK;
    while (run->writes_begun - run->writes_ended > most) {
        const io_status one = files_emit_wait_one(run);
        if (status == IO_OK) status = one;
    }
    return status;
}

io_status files_emit_wait(struct files_run *run)
{
    return wait_until(run, 0);
}

io_status files_emit(struct files_run *run, unsigned char *bytes, size_t n)
{
    const struct files_kind *kind = run->kind;
    struct files_sort *sort = run->sort;
    uint64_t count = files_count(run, bytes, n);
    io_status status = IO_OK;
    if (sort->verify) status = verify(run, bytes, n);
    if (status == IO_OK && sort->unique) status = keep_first(run, bytes, &n, &count);
    if (status == IO_OK && kind->finish) {
        kind->finish(kind, bytes, (size_t)count);
        n = (size_t)count * kind->output_bytes;
    }
    const uint64_t hash = run->journal ? files_hash_output(run, bytes, n) : 0;
    const io_status before = wait_until(run, run->most_writes ? (uint64_t)run->most_writes - 1 : 0);
    if (status != IO_OK || before != IO_OK) return status != IO_OK ? status : before;
    if (run->journal) status = files_journal_checkpoint(run, false);
    if (status != IO_OK) return status;
    if (run->journal) files_journal_emit(run, hash, n);
    sort->written += count;
    run->emitted_bytes += n;
    if (n && run->direct.fd >= 0) return files_direct_write(run, bytes, n);
    if (!n) return IO_OK;
    run->writing_at = bytes;
    run->writing_bytes = n;
    files_call(run->queue, files_emit_begin(run), write_out, run);
    return IO_OK;
}
