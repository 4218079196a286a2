/*
 * columns/cpu/refine.c - sorts the ties of a word by the words below it.
 *
 * The rows are sorted by word 0, and the sorted words are kept.  Rows with equal words are a tie;
 * they are adjacent.  One thread sorts a short tie, several ties at the same time.  All threads
 * sort a long one.  Then the ties of the next word are sorted in the same way.
 *
 *     words       2 2 2 5 7 7 7 7 7 7 9         sorted by this word
 *     ties        |---|   |---------|           sorted by the next word
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "columns/cpu/common.h"

#include <string.h>

enum {
    CHUNK = 1 << 13, /* rows in which a thread looks for ties at a time */
    FEW = 32         /* rows that an insertion sort sorts; more are sorted by a radix sort */
};

struct refine {
    const struct echi_columns_job *job;
    uint32_t word;
    const uint64_t *words; /* [n], of rows begin, begin + 1, ... */
    size_t begin, n;
    _Atomic ech_status status; /* of a short tie that failed */
};

/* ---- Short ties ---- */

static uint64_t position_at(const struct echi_columns_job *job, size_t i)
{
    return echi_column_load(job->indices, (uint32_t)job->request->index_bytes, i);
}

static void set_position(const struct echi_columns_job *job, size_t i, uint64_t position)
{
    if (job->request->index_bytes == 8)
        ((uint64_t *)job->indices)[i] = position;
    else
        ((uint32_t *)job->indices)[i] = (uint32_t)position;
}

/* Less than 0: the row at position a comes before the one at b, by `word` and those below it. */
static int compare(const struct echi_columns *c, uint32_t word, uint64_t a, uint64_t b)
{
    for (; word < echi_columns_words(c); word++) {
        const uint64_t x = echi_columns_at(c, &c->word[word], a);
        const uint64_t y = echi_columns_at(c, &c->word[word], b);
        if (x != y) return x < y ? -1 : 1;
    }
    return 0;
}

/* Sorts rows [begin, begin + n) by `word` and those below it. */
static void sort_few(const struct echi_columns_job *job, size_t begin, size_t n, uint32_t word)
{
    const struct echi_columns *c = job->request;
    uint64_t words[FEW], positions[FEW];
    for (size_t i = 0; i < n; i++) {
        const uint64_t position = position_at(job, begin + i);
        const uint64_t w = echi_columns_at(c, &c->word[word], position);
        size_t j = i;
        for (; j > 0; j--) {
            if (words[j - 1] < w) break;
            if (words[j - 1] == w && compare(c, word + 1, positions[j - 1], position) <= 0) break;
            words[j] = words[j - 1];
            positions[j] = positions[j - 1];
        }
        words[j] = w;
        positions[j] = position;
    }
    for (size_t i = 0; i < n; i++) set_position(job, begin + i, positions[i]);
}

/* The same for any number of rows up to job->room.  words: room for their words; work: of a
 * sort. */
static ech_status sort_short(const struct echi_columns_job *job, size_t begin, size_t n,
                             uint32_t word, uint64_t *words, void *work)
{
    const struct echi_columns *c = job->request;
    ech_status status = ECH_OK;
    if (n <= FEW) {
        sort_few(job, begin, n, word);
        return ECH_OK;
    }
    TRY(echi_columns_pass(job, word, begin, n, words, work, 1));
    if (word + 1 == echi_columns_words(c)) goto done;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && words[end] == words[i]; end++) continue;
        if (end - i > 1) TRY(sort_short(job, begin + i, end - i, word + 1, words + i, work));
    }
done:
    return status;
}

/* The short ties that begin in a chunk. */
static void refine_chunk(void *arg, size_t chunk, int thread)
{
    struct refine *r = arg;
    const struct echi_columns_job *job = r->job;
    const uint64_t *words = r->words;
    char *own = job->own + (size_t)thread * job->own_bytes;
    const size_t keys_bytes = job->room * sizeof(uint64_t);
    void *work = own, *keys = own + (job->own_bytes - keys_bytes) / ECHI_ALIGN * ECHI_ALIGN;
    size_t i = chunk * CHUNK, end;
    const size_t chunk_end = echi_min(r->n, i + CHUNK);
    while (i > 0 && i < chunk_end && words[i] == words[i - 1]) i++; /* of an earlier chunk */
    for (; i < chunk_end; i = end) {
        const size_t most = echi_min(r->n, i + job->room + 1);
        for (end = i + 1; end < most && words[end] == words[i]; end++) continue;
        if (end - i > 1 && end - i <= job->room) {
            const ech_status status =
                sort_short(job, r->begin + i, end - i, r->word + 1, keys, work);
            if (status != ECH_OK) atomic_store(&r->status, status);
        }
        if (end - i > job->room)
            while (end < chunk_end && words[end] == words[i]) end++;
    }
}

/* ---- Long ties ---- */

/* The first of words[begin .. end) that is at least (or, with after, more than) word. */
static size_t bound(const uint64_t *words, size_t begin, size_t end, uint64_t word, bool after)
{
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        if (words[middle] < word || (after && words[middle] == word))
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* A tie of more than job->room rows contains one of the positions that are tested.  The words of a
 * tie are replaced by the next ones, so earlier words are not read again. */
static ech_status refine_long(const struct refine *r, uint64_t *words)
{
    const struct echi_columns_job *job = r->job;
    const uint32_t next = r->word + 1;
    size_t from = 0, i = 0;
    ech_status status = ECH_OK;
    while (i < r->n) {
        const size_t first = bound(words, from, i, words[i], false);
        const size_t last = bound(words, i, r->n, words[i], true);
        if (last - first <= job->room) {
            i += job->room;
            continue;
        }
        TRY(echi_columns_pass(job, next, r->begin + first, last - first, words + first,
                              job->sort_work, job->threads));
        if (next + 1 < echi_columns_words(job->request))
            TRY(echi_columns_refine(job, next, r->begin + first, last - first, words + first));
        from = i = last;
    }
done:
    return status;
}

ech_status echi_columns_refine(const struct echi_columns_job *job, uint32_t word, size_t begin,
                               size_t n, uint64_t *words)
{
    struct refine r = { .job = job, .word = word, .words = words, .begin = begin, .n = n };
    echi_parallel(job->threads, (n + CHUNK - 1) / CHUNK, refine_chunk, &r);
    const ech_status status = atomic_load(&r.status);
    return status == ECH_OK ? refine_long(&r, words) : status;
}
