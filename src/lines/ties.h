/*
 * lines/ties.h - sorts records whose full keys agree in their first bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_LINES_TIES_H
#define ECHELON_LINES_TIES_H

#include "lines/order.h"

#include <stdatomic.h>

/* Memory of ties, which is allocated once per thread. */
enum { POOL_SLOTS = 64 };
struct pool {
    size_t bytes; /* of each */
    _Atomic(void *) free[POOL_SLOTS];
};

enum { LONG_WINDOW = 1 << 17 }; /* bytes of a long key that are compared at a time */

/* A block that is being sorted. */
struct block {
    const struct lines_order *order;
    const char *text;
    size_t bytes;
    const void *begins; /* [n + 1] */
    void *index;        /* [n] positions in begins */
    uint64_t *words;    /* [n] the word of index[i] at the depth that was sorted last */
    uint64_t *next;     /* [n] the word of record i at depth skip + WORD_BYTES; or NULL */
    uint64_t *ties;     /* a bit per position of index: its word differs from the one before */
    uint8_t *drops;     /* with unique, a bit per record that is dropped; otherwise NULL */
    uint64_t n;
    size_t begin_bytes, index_bytes;
    size_t skip; /* first bytes of the full keys in which all agree */
    struct pool *pool;
    int threads;
};

static inline const char *block_record(const struct block *b, uint64_t record, size_t *bytes)
{
    const uint64_t begin = load_uint(b->begins, b->begin_bytes, record);
    *bytes = (size_t)(load_uint(b->begins, b->begin_bytes, record + 1) - begin) - 1;
    return b->text + begin;
}

static inline uint64_t block_word(const struct block *b, uint64_t record, size_t depth)
{
    size_t bytes;
    const char *text = block_record(b, record, &bytes);
    return lines_word(b->order, text, bytes, depth, b->text + b->bytes);
}

/* The words at depth skip and skip + WORD_BYTES. */
static inline uint64_t block_words(const struct block *b, uint64_t record, uint64_t *next)
{
    size_t bytes;
    const char *text = block_record(b, record, &bytes);
    return lines_words(b->order, text, bytes, b->skip, next, b->text + b->bytes);
}

/* The number of first bytes, at least depth, in which the full keys of index[from .. to) agree with
 * that of index[model]; they agree in depth bytes. */
size_t lines_common(const struct block *b, uint64_t model, uint64_t from, uint64_t to,
                    size_t depth);

/* Sorts index[from .. from + n), whose full keys agree in their first depth bytes, by one thread.
 * Returns false if out of memory. */
bool lines_sort_tie(const struct block *b, uint64_t from, uint64_t n, size_t depth);
/* The same for keys that agree in their first word, and whose next words are in b->next. */
bool lines_sort_next(const struct block *b, uint64_t from, uint64_t n);
/* Whether the records index[from .. from + n) have the same bytes. */
bool lines_are_same(const struct block *b, uint64_t from, uint64_t n);
/* Frees the memory of a pool that is not in use. */
void lines_free_pool(struct pool *pool);
/* The memory that one of these takes. */
size_t lines_tie_bytes(const struct lines_order *order, size_t n);

#endif
