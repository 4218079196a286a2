/*
 * files/sort.c - sorts files of any size: the levels, and what surrounds them.
 *
 *     files_sort()          opens the queue, reserves the output, checks the contents at the end
 *       files_sort_level()    fits: single.c; otherwise sample -> cuts -> distribute -> collect,
 *                             which calls files_sort_level() for a bin that is too large
 *       files_sort_stream()   an input is a stream: spool.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "files/internal.h"
#include "files/journal.h"
#include "io/threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_DEPTH = 48, PROBES = 16, PROBE = 16 << 10 };

/* ---- Inputs ---- */

static bool has_stream(const struct files_sort *sort)
{
    for (int i = 0; i < sort->input_count; i++)
        if (sort->inputs[i].fd < 0) return true;
    return false;
}

static io_status read_at(const struct files_input *input, uint64_t offset, unsigned char *to,
                         size_t n, struct io_error *error)
{
    for (size_t done = 0; done < n;) {
        const ssize_t got =
            pread(input->fd, to + done, n - done, (off_t)(input->offset + offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return files_failed(error, input->name, got < 0 ? errno : FILES_ENDED, false);
        done += (size_t)got;
    }
    return IO_OK;
}

/* Makes extents of the inputs that are not empty. */
static io_status make_extents(const struct files_sort *sort, struct files_extent *list,
                              struct files_extents *extents, struct io_error *error)
{
    const struct files_kind *kind = sort->kind;
    *extents = (struct files_extents){ .at = list, .extend = kind->prepare != NULL };
    for (int i = 0; i < sort->input_count; i++) {
        const struct files_input *input = &sort->inputs[i];
        unsigned char last;
        if (!input->bytes) continue;
        if (kind->record_bytes && input->bytes % kind->input_bytes)
            return io_fail(error, IO_FAIL, input->name,
                           "has %llu bytes, which is not a multiple of the %zu bytes of a record",
                           (unsigned long long)input->bytes, kind->input_bytes);
        struct files_extent *extent = &list[extents->count++];
        *extent =
            (struct files_extent){ input->fd, input->name, input->offset, input->bytes, false, 0 };
        extents->bytes += input->bytes;
        if (kind->terminator < 0) continue;
        const io_status status = read_at(input, input->bytes - 1, &last, 1, error);
        if (status != IO_OK) return status;
        extent->open_end = last != (unsigned char)kind->terminator;
        extents->bytes += extent->open_end;
    }
    return IO_OK;
}

/* The mean length of a record, from some places of the inputs. */
static io_status measure_records(const struct files_sort *sort, const struct files_extents *extents,
                                 double *mean, struct io_error *error)
{
    const struct files_kind *kind = sort->kind;
    uint64_t bytes = 0, count = 0;
    *mean = kind->record_bytes ? (double)kind->record_bytes : 16;
    if (kind->record_bytes || !extents->bytes) return IO_OK;
    unsigned char *chunk = malloc(PROBE);
    if (!chunk) return io_no_memory(error, extents->at[0].name, PROBE, "a sample");
    io_status status = IO_OK;
    for (uint64_t i = 0; i < PROBES && status == IO_OK; i++) {
        uint64_t at = extents->bytes / PROBES * i;
        size_t e = 0;
        while (at >= extents->at[e].bytes && e + 1 < extents->count) at -= extents->at[e++].bytes;
        const struct files_extent *extent = &extents->at[e];
        if (at >= extent->bytes) continue;
        const uint64_t left = extent->bytes - at;
        const size_t n = left < PROBE ? (size_t)left : PROBE;
        const struct files_input input = { .name = extent->name,
                                           .fd = extent->fd,
                                           .offset = extent->offset };
        status = read_at(&input, at, chunk, n, error);
        if (status != IO_OK) break;
        bytes += n;
        for (size_t j = 0; j < n; j++) count += chunk[j] == (unsigned char)kind->terminator;
    }
    free(chunk);
    *mean = (double)bytes / (double)(count + 1);
    if (*mean < 1) *mean = 1;
    return status;
}

/* ---- The plan ---- */

static io_status plan_extents(struct files_sort *sort, const struct files_extents *extents,
                              struct io_error *error)
{
    const struct files_kind *kind = sort->kind;
    const bool stream = has_stream(sort);
    double mean = kind->record_bytes ? (double)kind->record_bytes : 16;
    io_status status = IO_OK;
    if (!stream) status = measure_records(sort, extents, &mean, error);
    if (status != IO_OK) return status;
    uint64_t bytes = extents->bytes;
    if (kind->record_bytes) bytes = bytes / kind->input_bytes * kind->record_bytes;
    status =
        files_plan_level(sort, sort->memory_bytes, bytes, mean, stream, false, &sort->plan, error);
    /* What the budget leaves of the available memory may hold temporary files. */
    const uint64_t available = files_memory() / 3 * 4;
    const uint64_t cache = available > sort->memory_bytes ? available - sort->memory_bytes : 0;
    const bool large =
        stream ? sort->memory_bytes > cache / 4 : sort->plan.temporary_bytes > cache / 2;
    sort->plan.direct = !sort->buffered && (sort->direct || large);
    sort->plan.direct_output = !sort->buffered && (stream || sort->plan.temporary_bytes > 0);
    return status;
}

/* Lists the inputs and plans the sort.  The caller frees *list. */
static io_status prepare(struct files_sort *sort, struct files_extent **list,
                         struct files_extents *extents, struct io_error *error)
{
    *list = calloc((size_t)sort->input_count, sizeof **list);
    if (!*list)
        return io_no_memory(error, sort->inputs[0].name,
                            (uint64_t)sort->input_count * sizeof **list, "the inputs");
    const io_status status = has_stream(sort) ? IO_OK : make_extents(sort, *list, extents, error);
    return status == IO_OK ? plan_extents(sort, extents, error) : status;
}

io_status files_plan(struct files_sort *sort, struct io_error *error)
{
    struct files_extents extents = { 0 };
    struct files_extent *list;
    const io_status status = prepare(sort, &list, &extents, error);
    free(list);
    return status;
}

/* ---- A level ---- */

static io_status run_level(struct files_run *run, const struct files_plan *plan,
                           const struct files_extents *extents, int depth)
{
    struct files_sort *sort = run->sort;
    struct files_space space = { 0 };
    struct files_sample sample;
    struct files_cuts cuts = { 0 };
    struct files_index index = { 0 };
    const bool direct = depth == 0 && sort->plan.direct;
    const size_t arena = (size_t)(plan->budget_bytes - plan->fixed_bytes - plan->index_bytes);
    struct files_resume *resume = depth == 0 && run->journal ? sort->resume : NULL;
    io_status status =
        files_space_open(&space, sort, plan->blocks, plan->block_bytes, direct, resume, run->error);
    if (status == IO_OK && depth == 0)
        status = files_reserve_output(sort, sort->output_bytes, run->error);
    const bool measure = depth == 0 && sort->measure && !(resume && resume->blocks_before);
    if (status == IO_OK && measure) files_measure(run, &space, plan, extents);
    if (status == IO_OK) status = files_take_sample(run, extents, plan->bins, arena, &sample);
    if (status == IO_OK) status = files_make_cuts(run, &sample, plan->bins, &cuts);
    if (status == IO_OK && depth == 0) status = files_journal_cuts(run, &cuts);
    if (status == IO_OK) status = files_index_open(&index, cuts.count + 1, plan->blocks, run);
    run->depth = depth;
    if (status == IO_OK) status = files_distribute(run, plan, extents, &cuts, &space, &index);
    if (status == IO_OK && sort->stage && depth == 0) sort->stage(sort->user, "sorting bins");
    for (uint32_t bin = 0; bin < index.bins && depth == 0 && status == IO_OK; bin++)
        sort->records += run->kind->record_bytes ? index.bytes[bin] / run->kind->record_bytes
                                                 : index.records[bin];
    if (status == IO_OK) status = files_collect(run, plan, &cuts, &space, &index, depth);
    files_index_close(&index);
    files_free_cuts(&cuts);
    files_space_close(&space);
    return status;
}

io_status files_sort_level(struct files_run *run, const struct files_extents *extents,
                           uint64_t budget_bytes, uint64_t records, int depth)
{
    const struct files_kind *kind = run->kind;
    struct files_plan plan = run->sort->plan;
    uint64_t bytes = extents->bytes;
    bool done = false;
    if (extents->extend) bytes = bytes / kind->input_bytes * kind->record_bytes;
    run->depth = depth;
    if (depth > MOST_DEPTH)
        return io_fail(run->error, IO_FAIL, run->sort->inputs[0].name,
                       "cannot be divided further within the memory budget; give a larger budget "
                       "with --memory");
    const double mean = kind->record_bytes ? (double)kind->record_bytes
                        : records          ? (double)bytes / (double)records
                                           : plan.record_bytes;
    if (files_fits(run->sort, budget_bytes, bytes, (uint64_t)((double)bytes / mean) + 1)) {
        io_status status = IO_OK;
        if (depth == 0)
            status = files_reserve_output(run->sort, run->sort->output_bytes, run->error);
        if (status == IO_OK) status = files_sort_single(run, extents, budget_bytes, &done);
        if (status != IO_OK || done) return status;
    }
    const io_status status =
        files_plan_level(run->sort, budget_bytes, bytes, mean, false, depth > 0, &plan, run->error);
    if (depth == 0) run->total_bytes = 2 * bytes;
    return status == IO_OK ? run_level(run, &plan, extents, depth) : status;
}

/* ---- The sort ---- */

static io_status write_head(struct files_run *run)
{
    const struct files_sort *sort = run->sort;
    if (run->direct.fd >= 0) return IO_OK; /* the first page contains it */
    return sort->head_bytes ? io_write(sort->output, sort->head, sort->head_bytes, run->error)
                            : IO_OK;
}

/* Compares what was read with what was written, and gives back what was reserved for nothing. */
static io_status finish(struct files_run *run)
{
    struct files_sort *sort = run->sort;
    struct io_output *output = sort->output;
    const uint64_t bytes = sort->head_bytes + run->emitted_bytes;
    const bool equal = run->read.count == run->written.count && run->read.sum == run->written.sum;
    if (sort->verify && !equal) {
        io_fail(run->error, IO_FAIL, output->name,
                "verification failed: %llu records with checksum %016llx were read, and %llu with "
                "checksum %016llx are to be written",
                (unsigned long long)run->read.count, (unsigned long long)run->read.sum,
                (unsigned long long)run->written.count, (unsigned long long)run->written.sum);
        return files_journal_hopeless(run);
    }
    sort->checksum = run->read.sum;
    const bool longer = bytes < sort->output_bytes || run->journal;
    if (sort->output_is_file && longer && ftruncate(output->fd, (off_t)bytes) != 0)
        return io_fail(run->error, IO_FAIL, output->name, "cannot write: %s", strerror(errno));
    if (!sort->patch) return IO_OK;
    unsigned char *head = malloc(sort->head_bytes + 1);
    if (!head) return io_no_memory(run->error, output->name, sort->head_bytes, "the header");
    memcpy(head, sort->head, sort->head_bytes);
    sort->patch(sort->user, sort->written, head);
    io_status status = IO_OK;
    if (run->direct.fd >= 0 && !run->direct.offset)
        memcpy(run->direct.page, head, sort->head_bytes);
    else if (run->direct.fd < 0 && !output->written_bytes)
        memcpy(output->buffer, head, sort->head_bytes); /* it is not written yet */
    else if (pwrite(output->fd, head, sort->head_bytes, 0) != (ssize_t)sort->head_bytes)
        status = io_fail(run->error, IO_FAIL, output->name, "cannot write the header: %s",
                         strerror(errno));
    free(head);
    return status;
}

static io_status run_sort(struct files_run *run, const struct files_extents *extents)
{
    struct files_sort *sort = run->sort;
    files_direct_open(run);
    io_status status = write_head(run);
    run->total_bytes = 2 * sort->plan.input_bytes;
    if (sort->stage) sort->stage(sort->user, sort->plan.fits ? "sorting" : "distributing");
    if (status == IO_OK && sort->plan.counted)
        status = files_sort_counted(run, extents);
    else if (status == IO_OK && sort->plan.stream)
        status = files_sort_stream(run);
    else if (status == IO_OK)
        status = files_sort_level(run, extents, sort->memory_bytes, 0, 0);
    if (status == IO_OK) status = finish(run);
    return status == IO_OK && run->direct.fd >= 0 ? files_direct_end(run) : status;
}

static io_status open_run(struct files_run *run)
{
    struct files_sort *sort = run->sort;
    run->threads = sort->threads ? sort->threads : io_threads();
    if (run->threads > FILES_MOST_THREADS) run->threads = FILES_MOST_THREADS;
    run->arena_bytes = (size_t)(sort->memory_bytes - sort->plan.fixed_bytes);
    const uint64_t bytes = sort->plan.input_bytes;
    /* How many lines there are, and so what they need, is known later. */
    if (sort->plan.fits && sort->kind->record_bytes)
        run->arena_bytes =
            (size_t)files_need(sort, bytes, bytes / sort->kind->record_bytes) + FILES_ALIGN;
    run->arena = files_map(run->arena_bytes);
    if (!run->arena)
        return io_no_memory(run->error, sort->inputs[0].name, run->arena_bytes,
                            "the memory budget");
    run->queue = files_queue_open(sort->transfers);
    if (run->queue) {
        sort->used_transfers = files_queue_name(run->queue);
        return IO_OK;
    }
    return io_fail(run->error, IO_FAIL, sort->inputs[0].name, "transfers by %s do not work here",
                   sort->transfers ? sort->transfers : "threads");
}

/* A sort that can be continued needs files that are read again. */
static io_status begin_resume(const struct files_sort *sort, struct io_error *error)
{
    if (!sort->resume) return IO_OK;
    for (int i = 0; i < sort->input_count; i++)
        if (sort->inputs[i].fd < 0)
            return io_fail(error, IO_FAIL, sort->inputs[i].name,
                           "is a pipe or compressed; --resume needs inputs that can be read again");
    return files_resume_begin(sort->resume, sort, error);
}

io_status files_sort(struct files_sort *sort, struct io_error *error)
{
    struct files_run run = {
        .sort = sort, .kind = sort->kind, .error = error, .direct = { .fd = -1 }
    };
    struct files_extents extents = { 0 };
    struct files_extent *list;
    io_status status = prepare(sort, &list, &extents, error);
    if (status == IO_OK) status = begin_resume(sort, error);
    if (status == IO_OK) status = files_journal_open(&run);
    if (status == IO_OK) status = open_run(&run);
    if (status == IO_OK) files_reader_use_direct(&run, &extents);
    if (status == IO_OK && !sort->plan.stream)
        sort->output_bytes =
            sort->head_bytes + (sort->kind->record_bytes ? extents.bytes / sort->kind->input_bytes *
                                                               sort->kind->output_bytes
                                                         : extents.bytes);
    if (status == IO_OK) status = run_sort(&run, &extents);
    sort->used_transfers = run.queue ? files_queue_name(run.queue) : NULL;
    files_journal_close(&run);
    files_reader_close_direct(&extents);
    files_queue_close(run.queue);
    files_unmap(run.arena, run.arena_bytes);
    files_direct_close(&run);
    if (status != IO_OK && sort->resume) files_resume_leave(sort->resume, sort->output);
    free(run.last);
    free(list);
    return status;
}
