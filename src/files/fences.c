/*
 * files/fences.c - finds where the bins begin in sorted blocks of a stream, whose cuts were not
 * known when the blocks were written.
 *
 * A fence is the prefix of a record at every step-th byte or so of a block.  Two fences enclose a
 * cut; the records between them are read to find its exact place.  If the fences need too much
 * memory, every second one is dropped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "files/internal.h"

#include <stdlib.h>
#include <string.h>

enum { STEP = 4096, BATCH = 256, AT_ONCE = 32 };

io_status files_fences_open(struct files_fences *fences, struct files_run *run, size_t bytes)
{
    *fences = (struct files_fences){ .step = STEP, .blocks_room = 64 };
    fences->room = bytes / (sizeof *fences->prefixes + 2 * sizeof *fences->offsets);
    if (fences->room < 64) fences->room = 64;
    fences->prefixes = malloc(fences->room * sizeof *fences->prefixes);
    fences->offsets = malloc(fences->room * sizeof *fences->offsets);
    fences->numbers = malloc(fences->room * sizeof *fences->numbers);
    fences->first = calloc(fences->blocks_room + 1, sizeof *fences->first);
    fences->bytes = malloc(fences->blocks_room * sizeof *fences->bytes);
    fences->records = malloc(fences->blocks_room * sizeof *fences->records);
    const bool good = fences->prefixes && fences->offsets && fences->numbers && fences->first;
    if (good && fences->bytes && fences->records) return IO_OK;
    return io_no_memory(run->error, run->sort->inputs[0].name, bytes, "the index of the blocks");
}

void files_fences_close(struct files_fences *fences)
{
    free(fences->prefixes);
    free(fences->offsets);
    free(fences->numbers);
    free(fences->first);
    free(fences->bytes);
    free(fences->records);
    *fences = (struct files_fences){ 0 };
}

/* Drops every second fence, but not the first one of a block. */
static void thin_out(struct files_fences *fences)
{
    uint64_t to = 0, from = 0;
    for (uint64_t block = 0; block < fences->blocks; block++) {
        const uint64_t end = fences->first[block + 1], begin = to;
        for (uint64_t i = 0; from + i < end; i += 2, to++) {
            fences->prefixes[to] = fences->prefixes[from + i];
            fences->offsets[to] = fences->offsets[from + i];
            fences->numbers[to] = fences->numbers[from + i];
        }
        from = end;
        fences->first[block] = begin;
    }
    fences->first[fences->blocks] = to;
    fences->step *= 2;
}

static io_status grow(struct files_fences *fences, struct files_run *run)
{
    const uint64_t room = 2 * fences->blocks_room;
    uint64_t *first = realloc(fences->first, (room + 1) * sizeof *first);
    if (first) fences->first = first;
    uint32_t *bytes = realloc(fences->bytes, room * sizeof *bytes);
    if (bytes) fences->bytes = bytes;
    uint32_t *records = realloc(fences->records, room * sizeof *records);
    if (records) fences->records = records;
    if (!first || !bytes || !records)
        return io_no_memory(run->error, run->sort->inputs[0].name, room * sizeof *first,
                            "the index of the blocks");
    fences->blocks_room = room;
    return IO_OK;
}

/* Adds the fences of a block; false if there is no room for them. */
static bool add_all(struct files_fences *fences, const struct files_kind *kind,
                    const unsigned char *block, size_t bytes)
{
    uint32_t lengths[BATCH];
    uint64_t prefixes[BATCH], at = fences->first[fences->blocks];
    size_t wanted = 0, offset = 0;
    uint32_t number = 0;
    while (offset < bytes) {
        const size_t n = kind->scan(kind, block + offset, bytes - offset, BATCH, lengths, prefixes);
        for (size_t i = 0; i < n; i++) {
            if (offset >= wanted) {
                if (at == fences->room) return false;
                fences->prefixes[at] = prefixes[i];
                fences->numbers[at] = number;
                fences->offsets[at++] = (uint32_t)offset;
                wanted = offset + fences->step;
            }
            number++;
            offset += kind->record_bytes ? kind->record_bytes : lengths[i];
        }
    }
    fences->first[fences->blocks + 1] = at;
    fences->records[fences->blocks] = number;
    return true;
}

io_status files_fences_add(struct files_fences *fences, struct files_run *run,
                           const unsigned char *block, size_t bytes)
{
    if (fences->blocks == fences->blocks_room) {
        const io_status status = grow(fences, run);
        if (status != IO_OK) return status;
    }
    fences->bytes[fences->blocks] = (uint32_t)bytes;
    for (int tries = 0; !add_all(fences, run->kind, block, bytes); tries++) {
        /* Each block has a fence at least, so at some time nothing can be dropped. */
        if (tries > 40)
            return io_no_memory(run->error, run->sort->inputs[0].name, fences->room,
                                "the index of the blocks");
        thin_out(fences);
    }
    fences->blocks++;
    return IO_OK;
}

/* ---- Cuts ---- */

struct finder {
    const struct files_fences *fences;
    struct files_run *run;
    const struct files_cuts *cuts;
    const struct files_space *space;
    uint64_t block;
    unsigned char *memory; /* [AT_ONCE][room] */
    size_t room;
};

/* Whether a record lies behind a cut. */
static bool is_behind(const struct finder *f, uint32_t cut, const unsigned char *record,
                      size_t bytes, uint64_t prefix)
{
    const struct files_cuts *cuts = f->cuts;
    const struct files_kind *kind = f->run->kind;
    if (prefix != cuts->bounds[cut]) return prefix > cuts->bounds[cut];
    if (kind->whole_prefix) return false;
    const int c = kind->compare(kind, record, bytes, cuts->at[cut], cuts->bytes[cut]);
    return c > 0 || (c == 0 && !cuts->inclusive[cut]);
}

static uint32_t fence_end(const struct finder *f, uint64_t i)
{
    const struct files_fences *fences = f->fences;
    return i + 1 < fences->first[f->block + 1] ? fences->offsets[i + 1] : fences->bytes[f->block];
}

static void request(const struct finder *f, struct files_batch *batch, uint64_t fence,
                    unsigned char *to)
{
    const uint32_t at = f->fences->offsets[fence];
    const int file = files_space_file(f->space, f->block);
    files_read(f->run->queue, batch, f->space->files[file].plain_fd, to, fence_end(f, fence) - at,
               files_space_offset(f->space, f->block) + at);
}

static io_status wait_for(const struct finder *f, struct files_batch *batch)
{
    const int why = files_wait(f->run->queue, batch);
    if (!why) return IO_OK;
    return files_failed(f->run->error, f->space->files[0].directory, why, false);
}

/* The first fence of the block whose prefix is above limit, or not below it. */
static uint64_t first_fence(const struct finder *f, uint64_t limit, bool above)
{
    uint64_t low = f->fences->first[f->block], high = f->fences->first[f->block + 1];
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2, prefix = f->fences->prefixes[middle];
        if (prefix < limit || (above && prefix == limit))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Finds the last fence whose record is not behind the cut; UINT64_MAX if all are.  Fences with the
 * prefix of the cut are compared by their records. */
static io_status find_fence(const struct finder *f, uint32_t cut, uint64_t *fence)
{
    const struct files_kind *kind = f->run->kind;
    uint64_t low = first_fence(f, f->cuts->bounds[cut], kind->whole_prefix);
    uint64_t high = kind->whole_prefix ? low : first_fence(f, f->cuts->bounds[cut], true);
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        struct files_batch batch = { 0 };
        uint32_t length = 0;
        uint64_t prefix;
        request(f, &batch, middle, f->memory);
        const io_status status = wait_for(f, &batch);
        if (status != IO_OK) return status;
        const uint32_t room = fence_end(f, middle) - f->fences->offsets[middle];
        kind->scan(kind, f->memory, room, 1, &length, &prefix);
        if (kind->record_bytes) length = (uint32_t)kind->record_bytes;
        if (is_behind(f, cut, f->memory, length, prefix))
            high = middle;
        else
            low = middle + 1;
    }
    *fence = low > f->fences->first[f->block] ? low - 1 : UINT64_MAX;
    return IO_OK;
}

struct place {
    uint32_t bytes, records; /* before a cut */
};

/* The records before the cut. */
static struct place count_before(const struct finder *f, uint32_t cut, const unsigned char *records,
                                 size_t bytes)
{
    struct place place = { 0 };
    const struct files_kind *kind = f->run->kind;
    uint32_t lengths[BATCH];
    uint64_t prefixes[BATCH];
    for (size_t at = 0; at < bytes;) {
        const size_t n = kind->scan(kind, records + at, bytes - at, BATCH, lengths, prefixes);
        for (size_t i = 0; i < n; i++) {
            const size_t length = kind->record_bytes ? kind->record_bytes : lengths[i];
            if (is_behind(f, cut, records + at, length, prefixes[i])) return place;
            at += length;
            place.bytes = (uint32_t)at;
            place.records++;
        }
    }
    return place;
}

/* Finds the places of up to AT_ONCE cuts in the block. */
static io_status find_some(const struct finder *f, uint32_t cut, uint32_t n, struct place *places)
{
    struct files_batch batch = { 0 };
    uint64_t fences[AT_ONCE];
    for (uint32_t i = 0; i < n; i++) {
        const io_status status = find_fence(f, cut + i, &fences[i]);
        if (status != IO_OK) return status;
    }
    for (uint32_t i = 0; i < n; i++)
        if (fences[i] != UINT64_MAX) request(f, &batch, fences[i], f->memory + i * f->room);
    const io_status status = wait_for(f, &batch);
    for (uint32_t i = 0; i < n && status == IO_OK; i++) {
        places[i] = (struct place){ 0 };
        if (fences[i] == UINT64_MAX) continue;
        const uint32_t at = f->fences->offsets[fences[i]];
        places[i] = count_before(f, cut + i, f->memory + i * f->room, fence_end(f, fences[i]) - at);
        places[i].bytes += at;
        places[i].records += f->fences->numbers[fences[i]];
    }
    return status;
}

/* The longest distance of two fences. */
static size_t longest(const struct files_fences *fences)
{
    size_t most = 0;
    for (uint64_t block = 0; block < fences->blocks; block++) {
        const struct finder f = { .fences = fences, .block = block };
        for (uint64_t i = fences->first[block]; i < fences->first[block + 1]; i++) {
            const size_t bytes = fence_end(&f, i) - fences->offsets[i];
            if (bytes > most) most = bytes;
        }
    }
    return most;
}

/* Finds the places of all cuts in the block, and adds the sizes of the bins. */
static io_status find_all(const struct finder *f, uint32_t at_once, struct files_index *index)
{
    uint32_t *row = files_index_row(index, f->block);
    struct place places[AT_ONCE];
    uint32_t before = 0;
    row[0] = 0;
    row[index->bins] = f->fences->bytes[f->block];
    for (uint32_t cut = 0; cut < f->cuts->count; cut += at_once) {
        const uint32_t left = f->cuts->count - cut, n = left < at_once ? left : at_once;
        const io_status status = find_some(f, cut, n, places);
        if (status != IO_OK) return status;
        for (uint32_t i = 0; i < n; i++) {
            row[cut + i + 1] = places[i].bytes;
            index->records[cut + i] += places[i].records - before;
            before = places[i].records;
        }
    }
    index->records[index->bins - 1] += f->fences->records[f->block] - before;
    for (uint32_t bin = 0; bin < index->bins; bin++) index->bytes[bin] += row[bin + 1] - row[bin];
    return IO_OK;
}

io_status files_fences_find(const struct files_fences *fences, struct files_run *run,
                            const struct files_cuts *cuts, const struct files_space *space,
                            struct files_index *index)
{
    struct finder f = { .fences = fences,
                        .run = run,
                        .cuts = cuts,
                        .space = space,
                        .memory = (unsigned char *)run->arena,
                        .room = longest(fences) + 64 };
    const size_t most = run->arena_bytes / f.room;
    io_status status = IO_OK;
    for (f.block = 0; f.block < fences->blocks && status == IO_OK; f.block++)
        status = find_all(&f, most < AT_ONCE ? (uint32_t)most : AT_ONCE, index);
    index->blocks = fences->blocks;
    return status;
}
