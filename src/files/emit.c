/*
 * files/emit.c - what happens to sorted records: unique, the check of order and contents, the
 * output.
 *
 * A thread writes while the caller sorts the next records.  The last record that was written is
 * kept, so that unique and the check of order see the neighbours of all records.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* sync_file_range() */
#include "files/internal.h"
#include "io/threads.h"

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

/* ---- Hashes ---- */

static uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

static uint64_t hash(const unsigned char *at, size_t n)
{
    uint64_t h = n * UINT64_C(0x9e3779b97f4a7c15), word;
    for (; n >= sizeof word; at += sizeof word, n -= sizeof word) {
        memcpy(&word, at, sizeof word);
        h = (h ^ word) * UINT64_C(0xff51afd7ed558ccd);
        h ^= h >> 29;
    }
    word = 0;
    memcpy(&word, at, n);
    return mix(h ^ word);
}

struct hashing {
    const struct files_kind *kind;
    const unsigned char *bytes;
    size_t begins[FILES_MOST_THREADS + 1];
    struct files_sum sums[FILES_MOST_THREADS];
};

static void hash_part(void *arg, int i)
{
    struct hashing *work = arg;
    const struct files_kind *kind = work->kind;
    uint32_t lengths[BATCH];
    struct files_sum sum = { 0 };
    for (size_t at = work->begins[i]; at < work->begins[i + 1];) {
        size_t n = BATCH;
        if (kind->record_bytes) {
            const size_t left = (work->begins[i + 1] - at) / kind->record_bytes;
            if (n > left) n = left;
        } else {
            n = kind->scan(kind, work->bytes + at, work->begins[i + 1] - at, BATCH, lengths, NULL);
        }
        for (size_t j = 0; j < n; j++) {
            const size_t bytes = kind->record_bytes ? kind->record_bytes : lengths[j];
            sum.sum += hash(work->bytes + at, bytes);
            at += bytes;
        }
        sum.count += n;
    }
    work->sums[i] = sum;
}

void files_add_sum(struct files_run *run, struct files_sum *sum, const unsigned char *bytes,
                   size_t n)
{
    struct hashing work = { .kind = run->kind, .bytes = bytes };
    const int parts = n < (size_t)64 << 10 ? 1 : run->threads;
    const double start = files_seconds();
    for (int i = 1; i <= parts; i++) {
        size_t at = i == parts ? n : n / (size_t)parts * (size_t)i;
        if (run->kind->record_bytes)
            at -= at % run->kind->record_bytes;
        else if (at > work.begins[i - 1])
            at = run->kind->boundary(run->kind, bytes, n, work.begins[i - 1], at);
        work.begins[i] = at < work.begins[i - 1] ? work.begins[i - 1] : at;
    }
    io_for_each(parts, hash_part, &work);
    for (int i = 0; i < parts; i++) {
        sum->count += work.sums[i].count;
        sum->sum += work.sums[i].sum;
    }
    run->sort->times.check += files_seconds() - start;
}

/* ---- Neighbours ---- */

struct walk {
    struct files_run *run;
    const unsigned char *last; /* the last record that is kept; NULL: none */
    size_t last_bytes;
    uint64_t last_prefix;
    unsigned char *to; /* where the next record goes */
    uint64_t count;    /* of records that are kept */
    bool unsorted;
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

static bool is_after(const struct walk *walk, const unsigned char *record, size_t bytes,
                     uint64_t prefix)
{
    const struct files_kind *kind = walk->run->kind;
    if (!walk->last || walk->last_prefix < prefix) return true;
    if (walk->last_prefix > prefix) return false;
    return kind->whole_prefix ||
           kind->compare(kind, walk->last, walk->last_bytes, record, bytes) <= 0;
}

static void step(struct walk *walk, const unsigned char *record, size_t bytes, uint64_t prefix)
{
    const struct files_sort *sort = walk->run->sort;
    if (sort->verify && !is_after(walk, record, bytes, prefix)) walk->unsorted = true;
    if (sort->unique && is_same(walk, record, bytes, prefix)) return;
    if (walk->to != record) memmove(walk->to, record, bytes);
    walk->last = walk->to;
    walk->last_bytes = bytes;
    walk->last_prefix = prefix;
    walk->to += bytes;
    walk->count++;
}

static io_status keep_last(struct files_run *run, const struct walk *walk)
{
    if (!walk->last || walk->last == run->last) return IO_OK;
    if (walk->last_bytes > run->last_room) {
        unsigned char *larger = realloc(run->last, walk->last_bytes);
        if (!larger)
            return io_no_memory(run->error, run->sort->inputs[0].name, walk->last_bytes,
                                "a record");
        run->last = larger;
        run->last_room = walk->last_bytes;
    }
    memcpy(run->last, walk->last, walk->last_bytes);
    run->last_bytes = walk->last_bytes;
    run->has_last = true;
    return IO_OK;
}

/* Checks the order, and with unique keeps the first of equal records.  *n: their bytes. */
static io_status walk_records(struct files_run *run, unsigned char *bytes, size_t *n,
                              uint64_t *count)
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
    if (!walk.unsorted) return keep_last(run, &walk);
    return io_fail(run->error, IO_FAIL, run->sort->output->name,
                   "verification failed: the records are not in order; the output was not written");
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
    if ((output->unnamed || output->temporary) && output->written_bytes > begin)
        sync_file_range(output->fd, (off_t)begin, (off_t)(output->written_bytes - begin),
                        SYNC_FILE_RANGE_WRITE);
#else
    (void)begin;
#endif
    return 0;
}

io_status files_emit_wait(struct files_run *run)
{
    const double start = files_seconds();
    const int why = files_wait(run->queue, &run->writing);
    run->sort->times.write += files_seconds() - start;
    if (!why) return IO_OK;
    *run->error = run->writing_error;
    return IO_FAIL;
}

io_status files_emit(struct files_run *run, unsigned char *bytes, size_t n)
{
    const struct files_kind *kind = run->kind;
    struct files_sort *sort = run->sort;
    uint64_t count = files_count(run, bytes, n);
    io_status status = IO_OK;
    if (sort->verify) files_add_sum(run, &run->written, bytes, n);
    if (sort->verify || sort->unique) status = walk_records(run, bytes, &n, &count);
    if (status == IO_OK && kind->finish) {
        kind->finish(kind, bytes, (size_t)count);
        n = (size_t)count * kind->output_bytes;
    }
    const io_status before = files_emit_wait(run);
    if (status != IO_OK || before != IO_OK) return status != IO_OK ? status : before;
    sort->written += count;
    run->emitted_bytes += n;
    run->writing_at = bytes;
    run->writing_bytes = n;
    if (n) files_call(run->queue, &run->writing, write_out, run);
    return IO_OK;
}
