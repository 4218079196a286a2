/*
 * files/spool.c - sorts inputs of which one is a stream, whose size is unknown.
 *
 *     ends within the budget   sorted in memory
 *     otherwise                read block i + 1  |  sort block i  |  write block i - 1,
 *                              then the bins are chosen from a sample of all blocks, the fences of
 *                              each block show where its bins begin, and the second pass follows
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "files/internal.h"

#include <stdlib.h>
#include <string.h>

struct spool {
    struct files_run *run;
    struct files_plan *plan;
    struct files_stream stream;
    struct files_space space;
    struct files_fences fences;
    unsigned char *buffers[4]; /* read, sorted, written, output of the sort */
    void *work;
    size_t room; /* of a block: whole records of a fixed size */
    struct files_batch writing;
};

/* ---- Blocks ---- */

/* Extends the input in to, of n bytes, to records; returns their bytes. */
static size_t extend(struct files_run *run, unsigned char *memory, size_t input_at, size_t n)
{
    const struct files_kind *kind = run->kind;
    if (!kind->prepare) return n;
    const size_t records = n / kind->input_bytes;
    kind->prepare(kind, memory + input_at, memory, records, run->position);
    run->position += records;
    return records * kind->record_bytes;
}

/* Where the input of room bytes of records is read to, so that it can be extended. */
static size_t input_at(const struct files_run *run, size_t room)
{
    const struct files_kind *kind = run->kind;
    return kind->prepare ? room / kind->record_bytes * (kind->record_bytes - kind->input_bytes) : 0;
}

static io_status whole_records(const struct spool *spool, const unsigned char *block, size_t bytes,
                               bool at_end, size_t *whole)
{
    struct files_run *run = spool->run;
    *whole = bytes;
    if (run->kind->record_bytes) return IO_OK;
    if (!at_end) *whole = run->kind->cut(run->kind, block, bytes);
    /* Short records need more memory to be sorted. */
    while (*whole && files_work_bytes(run, *whole, (size_t)files_count(run, block, *whole)) >
                         spool->plan->work_bytes)
        *whole = run->kind->cut(run->kind, block, *whole / 2);
    if (*whole || !bytes) return IO_OK;
    return io_fail(run->error, IO_FAIL, run->sort->inputs[0].name,
                   "a record is longer than %zu bytes, the size of a block for this memory "
                   "budget%s; give a larger budget with --memory",
                   spool->room, run->kind->misplaced ? ", or a quote is not closed" : "");
}

static io_status wait_written(struct spool *spool)
{
    struct files_run *run = spool->run;
    const double start = files_seconds();
    const int why = files_wait(run->queue, &spool->writing);
    run->sort->times.write += files_seconds() - start;
    return why ? files_failed(run->error, spool->space.files[0].directory, why, true) : IO_OK;
}

/* Sorts a block and begins to write it.  The sort must not drop equal records, so that the block
 * keeps its size. */
static io_status put(struct spool *spool, unsigned char *in, unsigned char *out, size_t bytes)
{
    struct files_run *run = spool->run;
    const bool in_place = run->kind->in_place;
    struct files_block block = { .in = in,
                                 .out = out,
                                 .bytes = bytes,
                                 .records = (size_t)files_count(run, in, bytes),
                                 .work = spool->work,
                                 .work_bytes = (size_t)spool->plan->work_bytes };
    run->sort->records += block.records;
    if (run->sort->verify) files_add_sum(run, &run->read, in, bytes);
    io_status status = files_sort_block(run, &block);
    unsigned char *sorted = in_place ? in : out;
    if (status == IO_OK) status = files_fences_add(&spool->fences, run, sorted, block.out_bytes);
    const io_status before = wait_written(spool);
    if (status != IO_OK || before != IO_OK) return status != IO_OK ? status : before;
    const uint64_t number = spool->fences.blocks - 1;
    const int file = files_space_file(&spool->space, number);
    const bool direct = spool->space.direct && (uintptr_t)sorted % FILES_ALIGN == 0;
    const size_t n =
        direct ? (size_t)files_round_up(block.out_bytes, FILES_ALIGN) : block.out_bytes;
    files_write(run->queue, &spool->writing,
                direct ? spool->space.files[file].fd : spool->space.files[file].plain_fd, sorted, n,
                files_space_offset(&spool->space, number));
    run->sort->times.temporary_bytes += n;
    files_progress(run, bytes);
    return IO_OK;
}

/* ---- What is read before the end is known ---- */

/* The most bytes of records that surely can be sorted in memory, of records of this length. */
static size_t most_in_memory(const struct files_run *run, uint64_t budget)
{
    const size_t record = run->kind->record_bytes ? run->kind->record_bytes : 16;
    size_t low = 0, high = (size_t)budget / record;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (files_fits(run->sort, budget, middle * record, middle))
            low = middle;
        else
            high = middle;
    }
    return low * record;
}

/* Sorts blocks of the begin of the arena; *bytes: those that remain there. */
static io_status put_first(struct spool *spool, size_t *bytes)
{
    struct files_run *run = spool->run;
    unsigned char *at = (unsigned char *)run->arena;
    /* The output of the sort and its workspace are behind what was read. */
    unsigned char *out = at + files_round_up(*bytes + 1, 256);
    size_t left = *bytes;
    void *work = spool->work;
    spool->work = run->kind->in_place ? out : out + files_round_up(spool->room, 256);
    io_status status = IO_OK;
    while (left >= spool->room && status == IO_OK) {
        size_t whole;
        status = whole_records(spool, at, spool->room, false, &whole);
        if (status == IO_OK) status = put(spool, at, out, whole);
        if (status == IO_OK) status = wait_written(spool);
        at += whole;
        left -= whole;
    }
    spool->work = work;
    memmove(run->arena, at, left);
    *bytes = left;
    return status;
}

static io_status put_rest(struct spool *spool, size_t have)
{
    struct files_run *run = spool->run;
    const bool in_place = run->kind->in_place;
    const size_t at = input_at(run, spool->room), offset = run->kind->prepare ? at : 0;
    unsigned char **b = spool->buffers;
    /* Records of a fixed size that were extended already are a block of their own. */
    if (run->kind->record_bytes && have) {
        const io_status status = put(spool, b[0], b[3], have);
        const io_status written = wait_written(spool);
        if (status != IO_OK || written != IO_OK) return status != IO_OK ? status : written;
        have = 0;
    }
    files_stream_begin(&spool->stream, b[0] + offset, have, spool->room - offset);
    for (;;) {
        size_t got, whole;
        io_status status = files_stream_end(&spool->stream, &got);
        if (status != IO_OK || !got) return status;
        unsigned char *block = b[0];
        const size_t bytes = extend(run, block, offset, got);
        const bool at_end = spool->stream.input == run->sort->input_count;
        status = whole_records(spool, block, bytes, at_end, &whole);
        if (status != IO_OK) return status;
        b[0] = b[1], b[1] = block;
        memcpy(b[0], block + whole, bytes - whole);
        files_stream_begin(&spool->stream, b[0] + offset, bytes - whole, spool->room - offset);
        status = put(spool, block, b[3], whole);
        /* What was written before is free now. */
        const int written = in_place ? 1 : 3;
        unsigned char *buffer = b[2];
        b[2] = b[written], b[written] = buffer;
        if (status != IO_OK) return status;
    }
}

/* ---- The bins ---- */

static io_status collect(struct spool *spool, uint64_t total, double record_bytes)
{
    struct files_run *run = spool->run;
    const struct files_fences *fences = &spool->fences;
    struct files_plan plan;
    struct files_sample sample;
    struct files_cuts cuts = { 0 };
    struct files_index index = { 0 };
    struct files_extents extents = { .count = fences->blocks, .bytes = total };
    struct files_extent *list = malloc((size_t)fences->blocks * sizeof *list);
    if (!list)
        return io_no_memory(run->error, run->sort->inputs[0].name, fences->blocks * sizeof *list,
                            "the blocks");
    for (uint64_t i = 0; i < fences->blocks; i++) {
        const int file = files_space_file(&spool->space, i);
        list[i] = (struct files_extent){ .fd = spool->space.files[file].plain_fd,
                                         .name = spool->space.files[file].directory,
                                         .offset = files_space_offset(&spool->space, i),
                                         .bytes = fences->bytes[i] };
    }
    extents.at = list;
    io_status status = files_plan_level(run->sort, spool->plan->budget_bytes, total, record_bytes,
                                        false, false, &plan, run->error);
    /* The blocks were written for the bins of the plan without the size. */
    plan.bin_bytes = spool->plan->bin_bytes;
    plan.work_bytes = spool->plan->work_bytes;
    const uint64_t most = spool->plan->index_bytes / 2 / (4 * fences->blocks + 32) / 2;
    if (plan.bins > most) plan.bins = (uint32_t)(most < 2 ? 2 : most);
    if (status == IO_OK)
        status = files_take_sample(run, &extents, plan.bins, run->arena_bytes / 2, &sample);
    if (status == IO_OK) status = files_make_cuts(run, &sample, plan.bins, &cuts);
    if (status == IO_OK) status = files_index_open(&index, cuts.count + 1, fences->blocks, run);
    if (status == IO_OK) status = files_fences_find(fences, run, &cuts, &spool->space, &index);
    if (status == IO_OK) status = files_collect(run, &plan, &cuts, &spool->space, &index, 0);
    files_index_close(&index);
    files_free_cuts(&cuts);
    free(list);
    return status;
}

/* ---- The sort ---- */

static void divide(struct spool *spool)
{
    const struct files_kind *kind = spool->run->kind;
    const size_t bin = (size_t)spool->plan->bin_bytes;
    unsigned char *at = (unsigned char *)spool->run->arena;
    const int count = kind->in_place ? 3 : 4;
    for (int i = 0; i < count; i++, at += bin) spool->buffers[i] = at;
    spool->work = at;
    spool->room = bin / 8 * 7 - FILES_ALIGN; /* as of the blocks of the first pass */
    if (kind->record_bytes) spool->room -= spool->room % kind->record_bytes;
}

static io_status sort_blocks(struct spool *spool, size_t bytes)
{
    struct files_run *run = spool->run;
    const struct files_plan *plan = spool->plan;
    io_status status = files_reserve_output(run->sort, 0, run->error);
    if (status == IO_OK)
        status =
            files_space_open(&spool->space, run->sort, 0, files_round_up(spool->room, FILES_ALIGN),
                             plan->direct, NULL, run->error);
    if (status == IO_OK)
        status = files_fences_open(&spool->fences, run, (size_t)plan->index_bytes / 2);
    if (status == IO_OK) status = put_first(spool, &bytes);
    if (status == IO_OK) status = put_rest(spool, bytes);
    files_wait(run->queue, &spool->stream.batch); /* after an error */
    const io_status written = wait_written(spool);
    if (status == IO_OK) status = written;
    uint64_t total = 0, records = 0;
    for (uint64_t i = 0; i < spool->fences.blocks; i++) {
        total += spool->fences.bytes[i];
        records += spool->fences.records[i];
    }
    if (status == IO_OK && total) {
        const double mean = (double)total / (double)records;
        run->total_bytes = 2 * total;
        if (run->sort->stage) run->sort->stage(run->sort->user, "sorting bins");
        status = collect(spool, total, mean);
    }
    files_fences_close(&spool->fences);
    files_space_close(&spool->space);
    return status;
}

io_status files_sort_stream(struct files_run *run)
{
    struct spool spool = { .run = run, .plan = &run->sort->plan, .stream = { .run = run } };
    size_t got, most = most_in_memory(run, spool.plan->budget_bytes);
    divide(&spool);
    if (run->kind->record_bytes) most -= most % run->kind->record_bytes;
    const size_t at = input_at(run, most);
    files_stream_begin(&spool.stream, (unsigned char *)run->arena + at, 0, most - at);
    io_status status = files_stream_end(&spool.stream, &got);
    if (status != IO_OK) return status;
    const size_t bytes = extend(run, (unsigned char *)run->arena, at, got);
    if (spool.stream.input == run->sort->input_count) {
        const size_t records = (size_t)files_count(run, (unsigned char *)run->arena, bytes);
        if (files_fits(run->sort, spool.plan->budget_bytes, bytes, records)) {
            run->sort->records = records;
            if (run->sort->verify)
                files_add_sum(run, &run->read, (unsigned char *)run->arena, bytes);
            return files_sort_arena(run, bytes, records);
        }
    }
    return sort_blocks(&spool, bytes);
}
