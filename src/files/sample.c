/*
 * files/sample.c - reads records from random places of the input.
 *
 * The input is divided into as many equal parts as there are chunks, and a chunk is read from a
 * random place of each part, so that a sorted input is sampled exactly.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "files/internal.h"

#include <string.h>

enum {
    CHUNK = 4096,
    MOST_PER_CHUNK = 64, /* records */
    LEAST_CHUNKS = 64,
    MOST_CHUNKS = 16384,
    CHUNKS_PER_BIN = 8,
    LEAST_PER_BIN = 16, /* records; with fewer, larger chunks are read */
    AT_ONCE = 32        /* chunks */
};

struct sampler {
    struct files_run *run;
    const struct files_extents *extents;
    struct files_sample *sample;
    size_t record_bytes; /* in the input; 0: they differ */
    size_t chunk_bytes;  /* in the input */
    size_t slot_bytes;   /* of a chunk in the arena */
    char *slots;
    uint64_t chunks, random;
};

/* xorshift64*; the sample is the same in every run. */
static uint64_t next_random(struct sampler *s)
{
    s->random ^= s->random >> 12;
    s->random ^= s->random << 25;
    s->random ^= s->random >> 27;
    return s->random * UINT64_C(2685821657736338717);
}

struct chunk {
    const struct files_extent *extent;
    char *at;
    size_t bytes;
    bool begins; /* at the begin of a record */
};

/* A random place in part i of the input. */
static struct chunk place(struct sampler *s, uint64_t i, uint64_t *offset)
{
    const double part = (double)s->extents->bytes / (double)s->chunks;
    const double inside = (double)(next_random(s) >> 11) / 9007199254740992.0;
    uint64_t at = (uint64_t)(((double)i + inside) * part);
    size_t e = 0;
    if (at >= s->extents->bytes) at = s->extents->bytes - 1;
    while (at >= s->extents->at[e].bytes) at -= s->extents->at[e++].bytes;
    const struct files_extent *extent = &s->extents->at[e];
    if (s->record_bytes) at -= at % s->record_bytes;
    struct chunk chunk = { .extent = extent, .begins = s->record_bytes || at == 0 };
    const uint64_t left = extent->bytes - at;
    chunk.bytes = left < s->chunk_bytes ? (size_t)left : s->chunk_bytes;
    if (s->record_bytes) chunk.bytes -= chunk.bytes % s->record_bytes;
    *offset = extent->offset + at;
    return chunk;
}

/* Reduces a chunk to the whole records in it.  Extends records of a fixed size. */
static void trim(const struct sampler *s, struct chunk *chunk)
{
    const struct files_kind *kind = s->run->kind;
    if (kind->record_bytes) {
        const size_t n = chunk->bytes / s->record_bytes;
        unsigned char *to = (unsigned char *)chunk->at - (s->slot_bytes - s->chunk_bytes);
        if (!s->extents->extend) return;
        kind->prepare(kind, (unsigned char *)chunk->at, to, n, 0);
        chunk->at = (char *)to;
        chunk->bytes = n * kind->record_bytes;
        return;
    }
    const char *end = chunk->at + chunk->bytes, *first = chunk->at;
    if (!chunk->begins) {
        first = memchr(chunk->at, kind->terminator, chunk->bytes);
        if (first) first++;
    }
    while (first && end > first && (unsigned char)end[-1] != kind->terminator) end--;
    chunk->bytes = first && end > first ? (size_t)(end - first) : 0;
    if (chunk->bytes) chunk->at += first - chunk->at;
}

static void take(struct sampler *s, const struct chunk *chunk)
{
    const struct files_kind *kind = s->run->kind;
    struct files_sample *sample = s->sample;
    uint32_t lengths[MOST_PER_CHUNK];
    uint64_t prefixes[MOST_PER_CHUNK];
    const unsigned char *at = (unsigned char *)chunk->at;
    const size_t n = kind->scan(kind, at, chunk->bytes, MOST_PER_CHUNK, lengths, prefixes);
    for (size_t i = 0; i < n && sample->count < sample->room; i++) {
        const uint32_t bytes = kind->record_bytes ? (uint32_t)kind->record_bytes : lengths[i];
        sample->records[sample->count++] = (struct files_sample_record){ prefixes[i], at, bytes };
        at += bytes;
    }
}

static io_status read_chunks(struct sampler *s)
{
    struct files_run *run = s->run;
    struct files_batch batch = { 0 };
    for (uint64_t i = 0; i < s->chunks; i += AT_ONCE) {
        struct chunk chunks[AT_ONCE];
        const uint64_t n = s->chunks - i < AT_ONCE ? s->chunks - i : AT_ONCE;
        for (uint64_t j = 0; j < n; j++) {
            uint64_t offset;
            chunks[j] = place(s, i + j, &offset);
            chunks[j].at = s->slots + (i + j) * s->slot_bytes + (s->slot_bytes - s->chunk_bytes);
            files_read(run->queue, &batch, chunks[j].extent->fd, chunks[j].at, chunks[j].bytes,
                       offset);
        }
        const int why = files_wait(run->queue, &batch);
        if (why) return files_failed(run->error, chunks[0].extent->name, why, false);
        for (uint64_t j = 0; j < n; j++) {
            trim(s, &chunks[j]);
            take(s, &chunks[j]);
        }
    }
    return IO_OK;
}

/* Divides the arena: an array of records, the same for its sort, and the chunks. */
static void divide(struct sampler *s, size_t arena_bytes, uint32_t bins)
{
    const struct files_kind *kind = s->run->kind;
    const size_t each = 2 * MOST_PER_CHUNK * sizeof *s->sample->records;
    uint64_t chunks = (uint64_t)bins * CHUNKS_PER_BIN;
    s->slot_bytes = s->chunk_bytes;
    if (kind->record_bytes) s->slot_bytes = s->chunk_bytes / s->record_bytes * kind->record_bytes;
    if (chunks < LEAST_CHUNKS) chunks = LEAST_CHUNKS;
    if (chunks > MOST_CHUNKS) chunks = MOST_CHUNKS;
    const uint64_t most = arena_bytes / (each + s->slot_bytes + 64);
    if (chunks > most) chunks = most;
    const uint64_t useful = s->extents->bytes / (2 * s->chunk_bytes) + 1;
    if (chunks > useful) chunks = useful;
    s->chunks = chunks;
    s->sample->count = 0;
    s->sample->room = (size_t)chunks * MOST_PER_CHUNK;
    s->sample->records = (struct files_sample_record *)(void *)s->run->arena;
    s->sample->other = s->sample->records + s->sample->room;
    s->slots = (char *)(s->sample->other + s->sample->room);
}

io_status files_take_sample(struct files_run *run, const struct files_extents *extents,
                            uint32_t bins, size_t arena_bytes, struct files_sample *sample)
{
    const struct files_kind *kind = run->kind;
    struct sampler s = {
        .run = run, .extents = extents, .sample = sample, .random = UINT64_C(88172645463325252)
    };
    size_t chunk = CHUNK;
    if (kind->record_bytes) {
        s.record_bytes = extents->extend ? kind->input_bytes : kind->record_bytes;
        const size_t n = CHUNK / s.record_bytes;
        chunk = (n < 1 ? 1 : n < MOST_PER_CHUNK ? n : MOST_PER_CHUNK) * s.record_bytes;
    }
    const double start = files_seconds();
    for (;;) {
        s.chunk_bytes = chunk;
        divide(&s, arena_bytes, bins);
        const io_status status = read_chunks(&s);
        if (status != IO_OK) return status;
        const bool enough = sample->count >= (size_t)bins * LEAST_PER_BIN;
        if (enough || kind->record_bytes || chunk * 16 > arena_bytes / 4 || s.chunks < 2) break;
        chunk *= 16; /* long records */
    }
    run->sort->times.sample += files_seconds() - start;
    return IO_OK;
}
