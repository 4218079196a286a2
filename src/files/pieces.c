/*
 * files/pieces.c - hashes of the pieces of bins and of parts of the output, by several threads.
 *
 * The hash of a bin is the sum of the hashes of its pieces, which contain the number of the block
 * and of the bin.  So pieces can be hashed in any order, and pieces that were exchanged are found.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "files/journal.h"
#include "files/manifest.h"
#include "io/threads.h"

enum { PART = 1 << 20, SMALL = 1 << 18 };

struct hashing {
    const struct files_index *index;
    const unsigned char *at;
    size_t bytes;
    uint32_t first, last; /* bins */
    uint64_t begin, end;  /* blocks */
    int parts;
    const unsigned char *starts[FILES_MOST_THREADS]; /* of the blocks of each part */
    uint64_t sums[FILES_MOST_THREADS];
};

static uint64_t hash_piece(const unsigned char *at, size_t n, uint64_t block, uint32_t bin)
{
    return n ? files_hash(at, n, block << 16 | bin) : 0;
}

static int count_parts(const struct files_run *run, size_t bytes)
{
    return bytes < SMALL ? 1 : run->threads;
}

/* ---- A block ---- */

static void hash_bins(void *arg, int i)
{
    struct hashing *h = arg;
    const uint32_t *row = files_index_row(h->index, h->begin);
    const uint64_t bins = h->index->bins, parts = (uint64_t)h->parts, part = (uint64_t)i;
    for (uint64_t bin = bins * part / parts; bin < bins * (part + 1) / parts; bin++) {
        const uint64_t hash =
            hash_piece(h->at + row[bin], row[bin + 1] - row[bin], h->begin, (uint32_t)bin);
        h->index->pieces[bin] = hash;
        h->index->hashes[bin] += hash;
    }
}

void files_hash_block(const struct files_run *run, const struct files_index *index, uint64_t block,
                      const unsigned char *bytes)
{
    const uint32_t *row = files_index_row(index, block);
    struct hashing h = {
        .index = index, .at = bytes, .begin = block, .parts = count_parts(run, row[index->bins])
    };
    io_for_each(h.parts, hash_bins, &h);
}

/* ---- Bins of several blocks, one block after the other ---- */

static void hash_blocks(void *arg, int i)
{
    struct hashing *h = arg;
    const uint64_t blocks = h->end - h->begin, parts = (uint64_t)h->parts, part = (uint64_t)i;
    const unsigned char *at = h->starts[i];
    uint64_t sum = 0;
    for (uint64_t b = blocks * part / parts; b < blocks * (part + 1) / parts; b++) {
        const uint32_t *row = files_index_row(h->index, h->begin + b);
        for (uint32_t bin = h->first; bin < h->last; bin++) {
            const size_t n = row[bin + 1] - row[bin];
            sum += hash_piece(at, n, h->begin + b, bin);
            at += n;
        }
    }
    h->sums[i] = sum;
}

uint64_t files_hash_bins(const struct files_run *run, const struct files_index *index,
                         uint32_t first, uint32_t last, uint64_t begin, uint64_t end,
                         const unsigned char *bytes)
{
    struct hashing h = { .index = index, .first = first, .last = last, .begin = begin, .end = end };
    uint64_t sum = 0, b = 0;
    size_t at = 0;
    h.parts = run->threads;
    for (int i = 0; i < h.parts; i++) {
        h.starts[i] = bytes + at;
        for (; b < (end - begin) * (uint64_t)(i + 1) / (uint64_t)h.parts; b++) {
            const uint32_t *row = files_index_row(index, begin + b);
            at += row[last] - row[first];
        }
    }
    io_for_each(h.parts, hash_blocks, &h);
    for (int i = 0; i < h.parts; i++) sum += h.sums[i];
    return sum;
}

/* ---- A part of the output ---- */

static void hash_parts(void *arg, int i)
{
    struct hashing *h = arg;
    uint64_t sum = 0;
    for (size_t at = (size_t)i * PART; at < h->bytes; at += (size_t)h->parts * PART) {
        const size_t left = h->bytes - at;
        sum += files_hash(h->at + at, left < PART ? left : (size_t)PART, at);
    }
    h->sums[i] = sum;
}

uint64_t files_hash_output(const struct files_run *run, const unsigned char *bytes, size_t n)
{
    struct hashing h = { .at = bytes, .bytes = n, .parts = count_parts(run, n) };
    uint64_t sum = 0;
    io_for_each(h.parts, hash_parts, &h);
    for (int i = 0; i < h.parts; i++) sum += h.sums[i];
    return sum;
}
