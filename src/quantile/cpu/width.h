/*
 * quantile/cpu/width.h - template: the loops over encoded keys and elements of one width.
 *
 *   FROM      u8 ... u64 (undefined at the end)
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#define NAME(x) JOINED(x##_, FROM)
#define KEY     JOINED(FROM, _element)
#include "cpu/predicate.h"

static uint64_t NAME(key)(const struct echi_order *order, const void *in, size_t i)
{
    return NAME(merged)(order, ((const KEY *)in)[i]);
}

/* Few enough keys for a counter of type KEY. */
enum { NAME(SOME) = sizeof(KEY) == 1 ? 128 : ECHI_QUANTILE_BLOCK };

static size_t NAME(count_equal)(const void *e, size_t n, uint64_t key)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i += NAME(SOME)) {
        const KEY *x = (const KEY *)e + i;
        const size_t here = echi_min(n - i, NAME(SOME));
        KEY some = 0;
        for (size_t j = 0; j < here; j++) some = (KEY)(some + (x[j] == (KEY)key));
        count += some;
    }
    return count;
}

static size_t NAME(find_equal)(const void *e, size_t n, uint64_t key, size_t tie)
{
    const KEY *x = e;
    size_t i = 0;
    for (; i < n; i++)
        if (x[i] == (KEY)key && tie-- == 0) break;
    return i;
}

/* ---- Selection ---- */

INLINE void NAME(tally)(const KEY *x, size_t n, KEY low, KEY high, uint64_t counts[4])
{
    KEY a = 0, b = 0, c = 0, d = 0;
    for (size_t i = 0; i < n; i++) {
        a = (KEY)(a + (x[i] < low));
        b = (KEY)(b + (x[i] <= low));
        c = (KEY)(c + (x[i] < high));
        d = (KEY)(d + (x[i] <= high));
    }
    counts[0] += a;
    counts[1] += b;
    counts[2] += c;
    counts[3] += d;
}

static size_t NAME(sift)(const void *e, size_t n, const uint64_t pivots[2], void *list,
                         uint64_t counts[4])
{
    const KEY *x = e, low = (KEY)pivots[0], high = (KEY)pivots[1];
    const uint64_t before = counts[2] - counts[1];
    KEY *to = list;
    for (size_t i = 0; i < n; i += NAME(SOME))
        NAME(tally)(x + i, echi_min(n - i, NAME(SOME)), low, high, counts);
    if ((int64_t)(counts[2] - counts[1] - before) <= 0) return 0; /* or low equals high */
    for (size_t i = 0; i < n; i += 64) {
        const uint64_t bits = NAME(at_most)(x + i, (KEY)(high - 1)) & ~NAME(at_most)(x + i, low);
        NAME(keep_some)((char *)to, (const char *)(x + i), bits & low_bits(n - i));
        to += ones(bits & low_bits(n - i));
    }
    return (size_t)(to - (KEY *)list);
}

static void NAME(describe)(const void *e, size_t n, uint64_t limit,
                           struct echi_quantile_found *found)
{
    const KEY *x = e, most = (KEY)limit;
    KEY key = 0, next = (KEY)-1;
    size_t less = 0, equal = 0;
    for (size_t i = 0; i < n; i++) key = x[i] <= most && x[i] > key ? x[i] : key;
    for (size_t i = 0; i < n; i++) {
        less += x[i] < key;
        equal += x[i] == key;
        next = x[i] > key && x[i] < next ? x[i] : next;
    }
    *found = (struct echi_quantile_found){
        .key = key, .less = less, .equal = equal, .next = next, .has_next = less + equal < n
    };
}

/* ---- Partitions ---- */

static void NAME(count)(const struct echi_quantile_job *job, const void *e, size_t n,
                        uint64_t *counts)
{
    const size_t bounds = job->request->count;
    for (size_t i = 0; i < n; i += NAME(SOME)) {
        const KEY *x = (const KEY *)e + i;
        const size_t here = echi_min(n - i, NAME(SOME));
        for (size_t k = 0; k < bounds; k++) {
            const KEY key = (KEY)job->bounds[k].key;
            KEY less = 0, equal = 0;
            for (size_t j = 0; j < here; j++) {
                less = (KEY)(less + (x[j] < key));
                equal = (KEY)(equal + (x[j] == key));
            }
            counts[2 * k] += less;
            counts[2 * k + 1] += equal;
        }
    }
}

INLINE void NAME(store)(const struct echi_quantile *s, size_t to, size_t i)
{
    if (s->out) ((KEY *)s->out)[to] = ((const KEY *)s->in)[i];
    if (s->index) store_number(s->index, s->index_bytes, to, i);
}

/* Writes the elements at + i of the bits i of 64 from position `to` on. */
INLINE void NAME(keep)(const struct echi_quantile *s, size_t to, size_t at, uint64_t bits)
{
    if (s->out)
        NAME(keep_some)
        ((char *)((KEY *)s->out + to), (const char *)((const KEY *)s->in + at), bits);
    if (s->index && s->index_bytes == 4)
        positions32_some((uint32_t *)s->index + to, at, bits);
    else if (s->index)
        positions_some((uint64_t *)s->index + to, at, bits);
}

/* The bits of the 64 keys e, of which `there` exist, that are before bound k; *own gets the bit of
 * its element. */
INLINE uint64_t NAME(before)(const struct echi_quantile_bound *bound, const KEY *e, uint64_t there,
                             uint64_t *seen, uint64_t *own)
{
    const KEY key = (KEY)bound->key;
    const uint64_t less = key ? NAME(at_most)(e, (KEY)(key - 1)) & there : 0;
    *own = 0;
    if (*seen > bound->tie) return less;
    const uint64_t equal = NAME(at_most)(e, key) & there & ~less;
    if (equal == 0) return less;
    const uint64_t before = bound->tie - *seen;
    *seen += ones(equal);
    if (*seen <= bound->tie) return less | equal;
    *own = bit_at(equal, before);
    return less | (equal & (*own - 1));
}

/* The bits of the parts are nested: each bound's contain those of the bounds before it. */
INLINE void NAME(move_all)(const struct echi_quantile_job *job, const KEY *e, size_t at, size_t n,
                           size_t bounds, const struct echi_quantile_places *places)
{
    const struct echi_quantile *s = job->request;
    for (size_t i = 0; i < n; i += 64) {
        const uint64_t there = low_bits(n - i);
        uint64_t moved = 0;
        for (size_t k = 0; k < bounds; k++) {
            uint64_t own;
            const uint64_t bits =
                NAME(before)(&job->bounds[k], e + i, there, &places->seen[k], &own) & ~moved;
            NAME(keep)(s, (size_t)places->to[k], at + i, bits);
            places->to[k] += ones(bits);
            moved |= bits | own;
            if (own) NAME(store)(s, (size_t)s->ranks[k], at + i + (size_t)__builtin_ctzll(own));
        }
        NAME(keep)(s, (size_t)places->to[bounds], at + i, there & ~moved);
        places->to[bounds] += ones(there & ~moved);
    }
}

static void NAME(move)(const struct echi_quantile_job *job, const void *e, size_t at, size_t n,
                       const struct echi_quantile_places *places)
{
    if (job->request->count == 1)
        NAME(move_all)(job, e, at, n, 1, places);
    else
        NAME(move_all)(job, e, at, n, job->request->count, places);
}

/* Moves an element that is equal to bounds first to end - 1. */
INLINE void NAME(place_equal)(const struct echi_quantile_job *job, size_t i, size_t first,
                              size_t end, const struct echi_quantile_places *places)
{
    const struct echi_quantile *s = job->request;
    const uint64_t before = places->seen[first]++;
    size_t k = (size_t)places->next[first];
    while (k < end && job->bounds[k].tie < before) k++;
    places->next[first] = k;
    if (k < end && job->bounds[k].tie == before)
        NAME(store)(s, (size_t)s->ranks[k], i);
    else
        NAME(store)(s, (size_t)places->to[k]++, i);
}

typedef KEY NAME(lanes) __attribute__((vector_size(VECTOR_BYTES)));

/* The number of bounds that are less than a key is its part, unless it equals a bound. */
static void NAME(place)(const struct echi_quantile_job *job, const void *keys, size_t at, size_t n,
                        const struct echi_quantile_places *places)
{
    enum { LANES = VECTOR_BYTES / sizeof(KEY) };
    const struct echi_quantile *s = job->request;
    const KEY *e = keys;
    for (size_t i = 0; i < n; i += LANES) {
        NAME(lanes) x, less = { 0 }, most = { 0 };
        memcpy(&x, e + i, sizeof x);
        for (size_t k = 0; k < s->count; k++) {
            const KEY key = (KEY)job->bounds[k].key;
            less -= (NAME(lanes))(x > key);
            most -= (NAME(lanes))(x >= key);
        }
        const size_t here = echi_min(n - i, LANES);
        KEY first[LANES], end[LANES];
        memcpy(first, &less, sizeof less);
        memcpy(end, &most, sizeof most);
        for (size_t j = 0; j < here; j++)
            if (first[j] == end[j])
                NAME(store)(s, (size_t)places->to[first[j]]++, at + i + j);
            else
                NAME(place_equal)(job, at + i + j, first[j], end[j], places);
    }
}

static const struct echi_quantile_width NAME(width) = {
    .key = NAME(key),
    .count_equal = NAME(count_equal),
    .find_equal = NAME(find_equal),
    .sift = NAME(sift),
    .describe = NAME(describe),
    .count = NAME(count),
    .move = NAME(move),
    .place = NAME(place),
};

#undef NAME
#undef KEY
#undef FROM
