/*
 * strings/cpu/refine.c - sorts the ties of keys by the bytes that follow.
 *
 * The strings are sorted by their keys at a depth. Strings with equal open keys are a tie; they are
 * adjacent. One thread sorts a short tie, several ties at the same time. All threads sort a long
 * one. A tie is sorted by its next keys, and so on for the ties of these.
 *
 *     keys        ab.. ab.. ab.. ca.. cb.. cb.. d        sorted by these
 *     ties        |------------|      |-------|          sorted by the next keys
 *
 * The largest of the ties within a tie is sorted last, in a loop instead of a recursion. Each other
 * one has at most half of the strings, so the depth of the recursion is at most log2(n).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "strings/cpu/common.h"

#include <string.h>

enum {
    CHUNK = 1 << 13, /* strings in which a thread looks for ties at a time */
    FEW = 24         /* strings that an insertion sort sorts; more are sorted by their keys */
};

struct refine {
    const struct echi_strings_job *job;
    uint64_t depth;
    const uint64_t *keys; /* [n], of strings begin, begin + 1, ... */
    size_t begin, n;
    _Atomic ech_status status; /* of a short tie that failed */
};

/* A tie within a tie. */
struct part {
    size_t begin, n;
};

static void set_position(const struct echi_strings *s, size_t i, uint64_t position)
{
    if (s->index_bytes == 8)
        ((uint64_t *)s->indices)[i] = position;
    else
        ((uint32_t *)s->indices)[i] = (uint32_t)position;
}

/* Whether string y must precede x, which agree before the depth; y is after x in the input. */
static bool precedes(const struct echi_string_array *a, struct echi_string x, struct echi_string y,
                     uint64_t depth)
{
    const uint64_t least = x.n < y.n ? x.n : y.n;
    const int order =
        memcmp(a->bytes + y.begin + depth, a->bytes + x.begin + depth, (size_t)(least - depth));
    if (order) return a->descending ? order > 0 : order < 0;
    return a->descending ? y.n > x.n : y.n < x.n;
}

/* The keys of a few strings; if all are equal, the depth increases to the common prefix first. */
static uint64_t few_keys(const struct echi_string_array *a, const struct echi_string *strings,
                         size_t n, uint64_t depth, uint64_t *keys)
{
    for (bool again = false;; again = true) {
        uint64_t all = 0;
        for (size_t i = 0; i < n; i++) {
            keys[i] = echi_strings_key(a, strings[i], depth);
            all |= keys[i] ^ keys[0];
        }
        if (all || again || !echi_string_open(a, keys[0])) return depth;
        depth += STRINGS_STEP;
        uint64_t common = strings[0].n;
        for (size_t i = 1; i < n && common > depth; i++)
            common = echi_strings_common(a, strings[0], strings[i], depth, common);
        depth = common;
    }
}

/* Sorts strings [begin, begin + n), which agree before the depth. */
static void sort_few(const struct echi_strings *s, size_t begin, size_t n, uint64_t depth)
{
    const struct echi_string_array *a = &s->array;
    uint64_t keys[FEW], positions[FEW];
    struct echi_string strings[FEW];
    if (n < 2) return;
    for (size_t i = 0; i < n; i++) {
        positions[i] = echi_strings_position(s, s->indices, begin + i);
        strings[i] = echi_string_at(a, positions[i]);
    }
    depth = few_keys(a, strings, n, depth, keys);
    for (size_t i = 1; i < n; i++) {
        const uint64_t key = keys[i], position = positions[i];
        const struct echi_string string = strings[i];
        const bool open = echi_string_open(a, key);
        size_t j = i;
        for (; j > 0; j--) {
            if (keys[j - 1] < key) break;
            if (keys[j - 1] == key &&
                !(open && precedes(a, strings[j - 1], string, depth + STRINGS_STEP)))
                break;
            keys[j] = keys[j - 1];
            positions[j] = positions[j - 1];
            strings[j] = strings[j - 1];
        }
        keys[j] = key;
        positions[j] = position;
        strings[j] = string;
    }
    for (size_t i = 0; i < n; i++) set_position(s, begin + i, positions[i]);
}

/* ---- Short ties ---- */

/* Sorts strings [begin, begin + n), which agree before the depth, n up to job->room.  keys: room
 * for their keys; work: of a sort. */
static ech_status sort_short(const struct echi_strings_job *job, size_t begin, size_t n,
                             uint64_t depth, uint64_t *keys, void *work)
{
    const struct echi_strings *s = job->request;
    ech_status status = ECH_OK;
    while (n > FEW) {
        struct part largest = { 0, 0 };
        TRY(echi_strings_pass(job, begin, n, &depth, keys, work, 1));
        depth += STRINGS_STEP;
        for (size_t i = 0, end; i < n; i = end) {
            for (end = i + 1; end < n && keys[end] == keys[i]; end++) continue;
            if (end - i == 1 || !echi_string_open(&s->array, keys[i])) continue;
            struct part part = { i, end - i };
            if (part.n > largest.n) {
                const struct part other = largest;
                largest = part;
                part = other;
            }
            if (part.n)
                TRY(sort_short(job, begin + part.begin, part.n, depth, keys + part.begin, work));
        }
        begin += largest.begin;
        keys += largest.begin;
        n = largest.n;
    }
    sort_few(s, begin, n, depth);
done:
    return status;
}

/* The short ties that begin in a chunk. */
static void refine_chunk(void *arg, size_t chunk, int thread)
{
    struct refine *r = arg;
    const struct echi_strings_job *job = r->job;
    const uint64_t *keys = r->keys;
    char *own = job->own + (size_t)thread * job->own_bytes;
    const size_t keys_bytes = job->room * sizeof(uint64_t);
    void *work = own, *room = own + (job->own_bytes - keys_bytes) / ECHI_ALIGN * ECHI_ALIGN;
    size_t i = chunk * CHUNK, end;
    const size_t chunk_end = echi_min(r->n, i + CHUNK);
    while (i > 0 && i < chunk_end && keys[i] == keys[i - 1]) i++; /* of an earlier chunk */
    for (; i < chunk_end; i = end) {
        const size_t most = echi_min(r->n, i + job->room + 1);
        for (end = i + 1; end < most && keys[end] == keys[i]; end++) continue;
        if (end - i > 1 && end - i <= job->room &&
            echi_string_open(&job->request->array, keys[i])) {
            const ech_status status =
                sort_short(job, r->begin + i, end - i, r->depth + STRINGS_STEP, room, work);
            if (status != ECH_OK) atomic_store(&r->status, status);
        }
        if (end - i > job->room)
            while (end < chunk_end && keys[end] == keys[i]) end++;
    }
}

/* ---- Long ties ---- */

/* The first of keys[begin .. end) that is at least (or, with after, more than) key. */
static size_t bound(const uint64_t *keys, size_t begin, size_t end, uint64_t key, bool after)
{
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        if (keys[middle] < key || (after && keys[middle] == key))
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

static ech_status sort_long(const struct refine *r, struct part part, uint64_t *keys)
{
    const struct echi_strings_job *job = r->job;
    uint64_t depth = r->depth + STRINGS_STEP;
    ech_status status;
    TRY(echi_strings_pass(job, r->begin + part.begin, part.n, &depth, keys + part.begin,
                          job->sort_work, job->threads));
    TRY(echi_strings_refine(job, r->begin + part.begin, part.n, depth, keys + part.begin));
done:
    return status;
}

/* A tie of more than job->room strings contains one of the positions that are tested.  The keys of
 * a tie are replaced by the next ones, so earlier keys are not read again. */
static ech_status refine_long(const struct refine *r, uint64_t *keys, struct part *largest)
{
    const struct echi_strings_job *job = r->job;
    size_t from = 0, i = 0;
    ech_status status = ECH_OK;
    *largest = (struct part){ 0, 0 };
    while (i < r->n) {
        const size_t first = bound(keys, from, i, keys[i], false);
        const size_t last = bound(keys, i, r->n, keys[i], true);
        if (last - first <= job->room) {
            i += job->room;
            continue;
        }
        from = i = last;
        if (!echi_string_open(&job->request->array, keys[first])) continue;
        struct part part = { first, last - first };
        if (part.n > largest->n) {
            const struct part other = *largest;
            *largest = part;
            part = other;
        }
        if (part.n) TRY(sort_long(r, part, keys));
    }
done:
    return status;
}

ech_status echi_strings_refine(const struct echi_strings_job *job, size_t begin, size_t n,
                               uint64_t depth, uint64_t *keys)
{
    ech_status status = ECH_OK;
    while (n) {
        struct refine r = { .job = job, .depth = depth, .keys = keys, .begin = begin, .n = n };
        struct part largest;
        echi_parallel(job->threads, (n + CHUNK - 1) / CHUNK, refine_chunk, &r);
        TRY(atomic_load(&r.status));
        TRY(refine_long(&r, keys, &largest));
        begin += largest.begin;
        keys += largest.begin;
        n = largest.n;
        depth += STRINGS_STEP;
        if (n) TRY(echi_strings_pass(job, begin, n, &depth, keys, job->sort_work, job->threads));
    }
done:
    return status;
}
