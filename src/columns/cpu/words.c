/*
 * columns/cpu/words.c - the words of the keys of rows, part after part in blocks that stay in
 * the cache.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "columns/cpu/common.h"

#include <string.h>

enum { BLOCK = 1 << 10, CHUNK = 1 << 15 /* rows that a thread takes at a time */ };

struct build {
    const struct echi_columns *request;
    struct echi_column_word word;
    const void *positions;
    void *out;
    size_t n;
};

static inline uint64_t position_at(const struct build *b, size_t i)
{
    if (!b->positions) return i;
    return echi_column_load(b->positions, (uint32_t)b->request->index_bytes, i);
}

/* The bits of a part.  bytes: those of the part; a constant is faster. */
static inline uint64_t load(const struct echi_source *s, const struct echi_part *p, uint32_t bytes,
                            size_t row)
{
    const uint8_t *at = echi_part_at(s, p, row);
    uint64_t u = 0;
    if (bytes == 8 || bytes == 4 || bytes == 2 || bytes == 1)
        memcpy(&u, at, bytes);
    else
        u = echi_load_bytes(at, bytes);
    return p->reversed ? echi_reverse_bytes(u, bytes) : u;
}

/* word[j] |= what a part of `bytes` contributes to row first + j. */
static inline void add(const struct build *b, const struct echi_part *part, uint32_t bytes,
                       size_t first, size_t n, uint64_t *word)
{
    const struct echi_source source = b->request->source[part->source];
    const struct echi_part p = *part;
    for (size_t j = 0; j < n; j++) {
        const uint64_t row = position_at(b, first + j);
        const uint64_t e = echi_column_encode(&p.order, bytes, load(&source, &p, bytes, row));
        word[j] |= echi_part_place(&p, &b->word, e, echi_source_valid(&source, row));
    }
}

static void store(const struct build *b, size_t first, size_t n, const uint64_t *word)
{
    const uint32_t bytes = echi_columns_word_bytes(&b->word);
    const uint64_t mask = echi_column_mask(&b->word);
    uint8_t *out = (uint8_t *)b->out + first * bytes;
    if (bytes == 8)
        for (size_t j = 0; j < n; j++) ((uint64_t *)(void *)out)[j] = word[j] & mask;
    else if (bytes == 4)
        for (size_t j = 0; j < n; j++) ((uint32_t *)(void *)out)[j] = (uint32_t)(word[j] & mask);
    else if (bytes == 2)
        for (size_t j = 0; j < n; j++) ((uint16_t *)(void *)out)[j] = (uint16_t)(word[j] & mask);
    else
        for (size_t j = 0; j < n; j++) out[j] = (uint8_t)(word[j] & mask);
}

static void build_block(const struct build *b, size_t first, size_t n)
{
    uint64_t word[BLOCK] = { 0 };
    for (uint32_t i = b->word.first; i < b->word.first + b->word.count; i++) {
        const struct echi_part *p = &b->request->part[i];
        if (p->bytes == 1) add(b, p, 1, first, n, word);
        if (p->bytes == 2) add(b, p, 2, first, n, word);
        if (p->bytes == 4) add(b, p, 4, first, n, word);
        if (p->bytes == 8) add(b, p, 8, first, n, word);
        if (p->bytes & (p->bytes - 1)) add(b, p, p->bytes, first, n, word);
    }
    store(b, first, n, word);
}

static void build_chunk(void *arg, size_t i, int thread)
{
    const struct build *b = arg;
    const size_t begin = i * CHUNK, end = echi_min(b->n, begin + CHUNK);
    (void)thread;
    for (size_t first = begin; first < end; first += BLOCK)
        build_block(b, first, echi_min(BLOCK, end - first));
}

void echi_columns_build(const struct echi_columns_job *job, uint32_t word, const void *positions,
                        void *out, size_t n, int threads)
{
    struct build b = { .request = job->request,
                       .word = job->request->word[word],
                       .positions = positions,
                       .out = out,
                       .n = n };
    if (threads > 1)
        echi_parallel(threads, (n + CHUNK - 1) / CHUNK, build_chunk, &b);
    else
        for (size_t i = 0; i < (n + CHUNK - 1) / CHUNK; i++) build_chunk(&b, i, 0);
}

uint64_t echi_columns_at(const struct echi_columns *c, const struct echi_column_word *w,
                         uint64_t position)
{
    uint64_t word = 0;
    for (uint32_t i = w->first; i < w->first + w->count; i++) {
        const struct echi_part *p = &c->part[i];
        const struct echi_source *source = &c->source[p->source];
        const uint64_t u = load(source, p, p->bytes, position);
        word |= echi_part_place(p, w, echi_column_encode(&p->order, p->bytes, u),
                                echi_source_valid(source, position));
    }
    return word & echi_column_mask(w);
}
