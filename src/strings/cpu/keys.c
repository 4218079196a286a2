/*
 * strings/cpu/keys.c - the keys of strings at a depth, and their common prefix.
 *
 * Positions in a tie are not adjacent, so each string is a miss of the cache for its offsets and
 * one for its bytes. Both are prefetched.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "strings/cpu/common.h"

#include <string.h>

enum {
    CHUNK = 1 << 13,    /* strings that a thread takes at a time */
    OFFSETS_AHEAD = 32, /* strings whose offsets are prefetched */
    BYTES_AHEAD = 16    /* strings whose bytes are prefetched */
};

static uint64_t big_endian(uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return __builtin_bswap64(word);
#else
    return word;
#endif
}

/* ---- Keys ---- */

uint64_t echi_strings_key(const struct echi_string_array *a, struct echi_string s, uint64_t depth)
{
    const uint64_t at = s.begin + depth, left = s.n - depth;
    uint64_t word = 0;
    if (a->total_bytes - at >= sizeof word)
        memcpy(&word, a->bytes + at, sizeof word);
    else if (left)
        memcpy(&word, a->bytes + at, (size_t)left);
    return echi_string_key(a, big_endian(word), left);
}

static uint64_t key_at(const struct echi_string_array *a, uint64_t i, uint64_t depth)
{
    if (a->validity && echi_string_null(a, i)) return echi_string_null_key(a);
    return echi_strings_key(a, echi_string_at(a, i), depth);
}

struct build {
    const struct echi_strings *request;
    struct echi_strings_tie tie;
    uint64_t *keys;
    _Atomic bool differ;
    struct echi_string first; /* of the common prefix */
    _Atomic uint64_t common;
};

static void prefetch(const struct echi_string_array *a, const void *positions,
                     const struct echi_strings *s, size_t i, size_t end)
{
    if (i + OFFSETS_AHEAD < end)
        __builtin_prefetch((const char *)a->offsets +
                           echi_strings_position(s, positions, i + OFFSETS_AHEAD) * a->index.bytes);
    if (i + BYTES_AHEAD < end) {
        const uint64_t position = echi_strings_position(s, positions, i + BYTES_AHEAD);
        __builtin_prefetch(a->bytes + echi_index_at(a->offsets, a->index, position));
    }
}

static void build_chunk(void *arg, size_t chunk, int thread)
{
    struct build *b = arg;
    const struct echi_strings *s = b->request;
    const struct echi_string_array array = s->array;
    const void *positions = b->tie.positions;
    const size_t begin = chunk * CHUNK, end = echi_min(b->tie.n, begin + CHUNK);
    uint64_t all = 0;
    (void)thread;
    if (!positions) {
        for (size_t i = begin; i < end; i++) b->keys[i] = key_at(&array, i, b->tie.depth);
        return;
    }
    for (size_t i = begin; i < end; i++) {
        prefetch(&array, positions, s, i, end);
        const uint64_t position = echi_strings_position(s, positions, i);
        b->keys[i] = echi_strings_key(&array, echi_string_at(&array, position), b->tie.depth);
        all |= b->keys[i] ^ b->keys[begin];
    }
    if (all) b->differ = true;
}

/* ---- Common prefixes ---- */

uint64_t echi_strings_common(const struct echi_string_array *a, struct echi_string x,
                             struct echi_string y, uint64_t depth, uint64_t most)
{
    const uint8_t *p = a->bytes + x.begin, *q = a->bytes + y.begin;
    if (most > x.n) most = x.n;
    if (most > y.n) most = y.n;
    for (; depth + 8 <= most; depth += 8) {
        uint64_t u, v;
        memcpy(&u, p + depth, 8);
        memcpy(&v, q + depth, 8);
        if (u != v) return depth + (uint64_t)__builtin_clzll(big_endian(u ^ v)) / 8;
    }
    while (depth < most && p[depth] == q[depth]) depth++;
    return depth;
}

static void common_chunk(void *arg, size_t chunk, int thread)
{
    struct build *b = arg;
    const struct echi_strings *s = b->request;
    const struct echi_string_array array = s->array;
    const void *positions = b->tie.positions;
    const size_t begin = chunk * CHUNK, end = echi_min(b->tie.n, begin + CHUNK);
    uint64_t common = atomic_load(&b->common);
    (void)thread;
    for (size_t i = begin; i < end && common > b->tie.depth; i++) {
        const uint64_t p = positions ? echi_strings_position(s, positions, i) : i;
        if (positions) prefetch(&array, positions, s, i, end);
        if (array.validity && echi_string_null(&array, p)) continue;
        common =
            echi_strings_common(&array, b->first, echi_string_at(&array, p), b->tie.depth, common);
    }
    uint64_t now = atomic_load(&b->common);
    while (common < now && !atomic_compare_exchange_weak(&b->common, &now, common)) continue;
}

/* ---- Ties ---- */

static void run(struct build *b, int threads, void (*chunk)(void *arg, size_t i, int thread))
{
    const size_t chunks = (b->tie.n + CHUNK - 1) / CHUNK;
    if (threads > 1)
        echi_parallel(threads, chunks, chunk, b);
    else
        for (size_t i = 0; i < chunks; i++) chunk(b, i, 0);
}

/* Increases the depth to the common prefix of the strings that are not null. */
static void skip_common(struct build *b, int threads)
{
    const struct echi_strings *s = b->request;
    const struct echi_string_array *a = &s->array;
    const void *positions = b->tie.positions;
    size_t first = 0;
    if (!positions) {
        while (first < b->tie.n && echi_string_null(a, first)) first++;
        if (first == b->tie.n) return;
    }
    b->first = echi_string_at(a, positions ? echi_strings_position(s, positions, 0) : first);
    b->common = b->first.n;
    run(b, threads, common_chunk);
    b->tie.depth = b->common;
}

void echi_strings_keys(const struct echi_strings *s, struct echi_strings_tie *tie, uint64_t *keys,
                       int threads)
{
    struct build b = { .request = s, .tie = *tie, .keys = keys };
    if (!tie->positions) skip_common(&b, threads);
    run(&b, threads, build_chunk);
    bool differ = !tie->positions || b.differ;
    for (size_t i = CHUNK; i < tie->n && !differ; i += CHUNK) differ = keys[i] != keys[0];
    if (!differ && echi_string_open(&s->array, keys[0])) {
        b.tie.depth += STRINGS_STEP;
        skip_common(&b, threads);
        run(&b, threads, build_chunk);
    }
    tie->depth = b.tie.depth;
}
