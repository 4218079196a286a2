/*
 * columns/cpu/words.c - the words of the keys of rows, column after column in blocks that stay in
 * the cache.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "columns/cpu/common.h"

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

/* word[j] |= what a column of elements of `bytes` contributes to row first + j. */
static inline void add(const struct build *b, const struct echi_column *c, uint32_t bytes,
                       size_t first, size_t n, uint64_t *word)
{
    const struct echi_order order = c->order;
    for (size_t j = 0; j < n; j++) {
        const uint64_t row = position_at(b, first + j);
        const uint64_t e = echi_column_encode(&order, bytes, echi_column_load(c->data, bytes, row));
        word[j] |= echi_column_part(c, &b->word, e, c->validity ? echi_column_valid(c, row) : 1);
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
        const struct echi_column *c = &b->request->column[i];
        if (c->bytes == 1) add(b, c, 1, first, n, word);
        if (c->bytes == 2) add(b, c, 2, first, n, word);
        if (c->bytes == 4) add(b, c, 4, first, n, word);
        if (c->bytes == 8) add(b, c, 8, first, n, word);
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
        const struct echi_column *column = &c->column[i];
        const uint64_t u = echi_column_load(column->data, column->bytes, position);
        const uint32_t valid = column->validity ? echi_column_valid(column, position) : 1;
        word |= echi_column_part(column, w, echi_column_encode(&column->order, column->bytes, u),
                                 valid);
    }
    return word & echi_column_mask(w);
}
