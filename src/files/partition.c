/*
 * files/partition.c - moves the records of a block in memory by their bins, stably and in parallel.
 *
 *     count   each thread: its part of the block, 256 records at a time: scan -> classify -> ids
 *     offsets bin by bin, and within a bin part by part
 *     move    each thread: its part again, with the ids
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "files/internal.h"
#include "io/threads.h"

#include <string.h>

enum { BATCH = 256 };

struct part {
    size_t begin, end; /* of the block */
    uint16_t *ids;
    size_t ids_room;
    uint32_t *counts;  /* [bins] bytes of each bin; then where the next record goes */
    uint32_t *records; /* [bins] their number, of records that differ in length */
};

struct partition {
    const struct files_kind *kind;
    const struct files_cuts *cuts;
    const unsigned char *in;
    unsigned char *out;
    struct part parts[FILES_MOST_THREADS];
};

struct batch {
    uint32_t lengths[BATCH];
    uint64_t prefixes[BATCH];
    uint16_t ids[BATCH];
};

static size_t batch_bytes(const struct files_kind *kind, const struct batch *batch, size_t n)
{
    size_t bytes = 0;
    if (kind->record_bytes) return n * kind->record_bytes;
    for (size_t i = 0; i < n; i++) bytes += batch->lengths[i];
    return bytes;
}

static void count(void *arg, int i)
{
    struct partition *p = arg;
    struct part *part = &p->parts[i];
    const struct files_kind *kind = p->kind;
    const uint32_t fixed = (uint32_t)kind->record_bytes;
    struct batch batch;
    size_t done = 0;
    for (size_t at = part->begin; at < part->end;) {
        const unsigned char *records = p->in + at;
        const size_t n =
            kind->scan(kind, records, part->end - at, BATCH, batch.lengths, batch.prefixes);
        const bool kept = done + n <= part->ids_room;
        uint16_t *ids = kept ? part->ids + done : batch.ids;
        files_classify(kind, p->cuts, records, fixed ? NULL : batch.lengths, batch.prefixes, n,
                       ids);
        for (size_t j = 0; j < n && fixed; j++) part->counts[ids[j]] += fixed;
        for (size_t j = 0; j < n && !fixed; j++) {
            part->counts[ids[j]] += batch.lengths[j];
            part->records[ids[j]]++;
        }
        at += batch_bytes(kind, &batch, n);
        done += n;
    }
}

/* Copies n records; the sizes of numbers as assignments. */
static void move_fixed(unsigned char *out, uint32_t *to, const unsigned char *from,
                       const uint16_t *ids, size_t n, uint32_t bytes)
{
    switch (bytes) {
    case 4:
        for (size_t i = 0; i < n; i++) memcpy(out + to[ids[i]], from + 4 * i, 4), to[ids[i]] += 4;
        break;
    case 8:
        for (size_t i = 0; i < n; i++) memcpy(out + to[ids[i]], from + 8 * i, 8), to[ids[i]] += 8;
        break;
    case 16:
        for (size_t i = 0; i < n; i++)
            memcpy(out + to[ids[i]], from + 16 * i, 16), to[ids[i]] += 16;
        break;
    default:
        for (size_t i = 0; i < n; i++) {
            memcpy(out + to[ids[i]], from + (size_t)bytes * i, bytes);
            to[ids[i]] += bytes;
        }
    }
}

static void move(void *arg, int i)
{
    struct partition *p = arg;
    struct part *part = &p->parts[i];
    const struct files_kind *kind = p->kind;
    const uint32_t fixed = (uint32_t)kind->record_bytes;
    struct batch batch;
    size_t done = 0;
    for (size_t at = part->begin; at < part->end;) {
        const unsigned char *records = p->in + at;
        const size_t left = part->end - at;
        size_t n = fixed ? left / fixed : 0;
        if (n > BATCH) n = BATCH;
        const bool kept = done + (fixed ? n : (size_t)BATCH) <= part->ids_room;
        if (!fixed || !kept)
            n = kind->scan(kind, records, left, BATCH, batch.lengths, kept ? NULL : batch.prefixes);
        const uint16_t *ids = kept ? part->ids + done : batch.ids;
        if (!kept)
            files_classify(kind, p->cuts, records, fixed ? NULL : batch.lengths, batch.prefixes, n,
                           batch.ids);
        if (fixed)
            move_fixed(p->out, part->counts, records, ids, n, fixed);
        else
            for (size_t j = 0, from = at; j < n; j++) {
                memcpy(p->out + part->counts[ids[j]], p->in + from, batch.lengths[j]);
                part->counts[ids[j]] += batch.lengths[j];
                from += batch.lengths[j];
            }
        at += batch_bytes(kind, &batch, n);
        done += n;
    }
}

/* Splits the block at the begins of records. */
static int split(struct files_run *run, struct partition *p, size_t bytes,
                 const struct files_scratch *scratch, uint32_t bins)
{
    const size_t all = (size_t)run->threads * bins;
    const struct files_kind *kind = run->kind;
    const size_t fixed = kind->record_bytes;
    int parts = run->threads;
    if (bytes < (size_t)64 << 10) parts = 1;
    size_t begin = 0;
    for (int i = 0; i < parts; i++) {
        size_t end = bytes / (size_t)parts * (size_t)(i + 1);
        if (fixed) end -= end % fixed;
        if (i == parts - 1 || end > bytes) end = bytes;
        if (!fixed && end < bytes && end > begin)
            end = kind->boundary(kind, p->in, bytes, begin, end);
        if (end < begin) end = begin;
        const size_t room = scratch->ids_room / (size_t)parts;
        uint32_t *counts = scratch->counts + (size_t)bins * (size_t)i;
        p->parts[i] = (struct part){ .begin = begin,
                                     .end = end,
                                     .ids = scratch->ids + room * (size_t)i,
                                     .ids_room = room,
                                     .counts = counts,
                                     .records = counts + all };
        begin = end;
    }
    return parts;
}

void files_partition(struct files_run *run, const struct files_cuts *cuts, const unsigned char *in,
                     size_t bytes, unsigned char *out, const struct files_scratch *scratch,
                     uint32_t *starts, uint64_t *records)
{
    const uint32_t bins = cuts->count + 1;
    struct partition p = { .kind = run->kind, .cuts = cuts, .in = in, .out = out };
    memset(scratch->counts, 0, 2 * (size_t)run->threads * bins * sizeof *scratch->counts);
    const int parts = split(run, &p, bytes, scratch, bins);
    io_for_each(parts, count, &p);
    uint32_t at = 0;
    for (uint32_t bin = 0; bin < bins; bin++) {
        starts[bin] = at;
        for (int i = 0; i < parts; i++) {
            const uint32_t size = p.parts[i].counts[bin];
            p.parts[i].counts[bin] = at;
            records[bin] += p.parts[i].records[bin];
            at += size;
        }
    }
    starts[bins] = at;
    io_for_each(parts, move, &p);
}
