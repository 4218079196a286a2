/*
 * quantile/cpu/width.h - template: the loops over encoded keys and elements of one width.
 *
 *   FROM         u8 ... u64
 *   HAS_VECTORS  whether width_avx512.h has sift() and move() (both are undefined at the end)
 *   NARROW       only these two functions
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#define NAME(x) JOINED(x##_, FROM)
#define KEY     JOINED(FROM, _element)
#include "cpu/predicate.h"

INLINE void NAME(store)(const struct echi_quantile *s, size_t to, size_t i)
{
    if (s->out) ((KEY *)s->out)[to] = ((const KEY *)s->in)[i];
    if (s->index) store_number(s->index, s->index_bytes, to, i);
}

#if HAS_VECTORS
#include "quantile/cpu/width_avx512.h"
#endif

#ifdef NARROW
static const struct echi_quantile_width NAME(width) = { .sift = NAME(sift), .move = NAME(move) };
#else
static uint64_t NAME(key)(const struct echi_order *order, const void *in, size_t i)
{
    return NAME(merged)(order, ((const KEY *)in)[i]);
}

/* Few enough keys for a counter of type KEY. */
enum { NAME(SOME) = sizeof(KEY) == 1 ? 128 : ECHI_QUANTILE_BLOCK };

/* The keys of x[n], n <= ECHI_QUANTILE_BLOCK, of which 63 more can be read: x or e. */
INLINE const KEY *NAME(encoded)(const struct echi_order *order, const KEY *x, size_t n, KEY *e)
{
    const struct echi_order o = *order;
    if (o.float_mask)
        for (size_t i = 0; i < n; i++) e[i] = NAME(merged)(&o, x[i]);
    else if (o.sign || n % 64)
        for (size_t i = 0; i < n; i++) e[i] = (KEY)(x[i] ^ (KEY)o.sign);
    else
        return x;
    return e;
}

static size_t NAME(count_equal)(const struct echi_order *order, const void *x, size_t n,
                                uint64_t key)
{
    KEY e[NAME(SOME) + 64];
    size_t count = 0;
    for (size_t i = 0; i < n; i += NAME(SOME)) {
        const size_t here = echi_min(n - i, NAME(SOME));
        const KEY *own = NAME(encoded)(order, (const KEY *)x + i, here, e);
        KEY some = 0;
        for (size_t j = 0; j < here; j++) some = (KEY)(some + (own[j] == (KEY)key));
        count += some;
    }
    return count;
}

static size_t NAME(find_equal)(const struct echi_order *order, const void *in, size_t n,
                               uint64_t key, size_t tie)
{
    const KEY *x = in;
    size_t i = 0;
    for (size_t equal; i + 64 <= n; i += 64, tie -= equal) {
        equal = NAME(count_equal)(order, x + i, 64, key);
        if (tie < equal) break;
    }
    for (; i < n; i++)
        if (NAME(merged)(order, x[i]) == (KEY)key && tie-- == 0) break;
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

#if !HAS_VECTORS
static size_t NAME(sift)(const struct echi_order *order, const void *x, size_t n,
                         const struct echi_quantile_pivots *pivots, void *list, uint64_t counts[4])
{
    const KEY low = (KEY)pivots->low, high = (KEY)pivots->high;
    KEY e[NAME(SOME) + 64], *to = list;
    for (size_t at = 0; at < n; at += NAME(SOME)) {
        const size_t here = echi_min(n - at, NAME(SOME));
        const KEY *own = NAME(encoded)(order, (const KEY *)x + at, here, e);
        NAME(tally)(own, here, low, high, counts);
        for (size_t i = 0; low < high && i < here; i += 64) {
            uint64_t bits = NAME(at_most)(own + i, (KEY)(high - 1)) & low_bits(here - i);
            bits &= ~NAME(at_most)(own + i, low);
            NAME(keep_some)((char *)to, (const char *)(own + i), bits);
            to += ones(bits);
        }
    }
    return (size_t)(to - (KEY *)list);
}
#endif

typedef KEY NAME(lanes) __attribute__((vector_size(VECTOR_BYTES)));

/* The largest of n keys that are at most `most`, or 0. */
INLINE KEY NAME(greatest)(const KEY *x, size_t n, KEY most)
{
    enum { LANES = VECTOR_BYTES / sizeof(KEY) };
    NAME(lanes) v, found = { 0 };
    KEY key = 0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) { /* compilers do not vectorise such a conditional maximum */
        memcpy(&v, x + i, sizeof v);
        v &= (NAME(lanes))(v <= most);
        const NAME(lanes) more = (NAME(lanes))(v > found);
        found = (v & more) | (found & ~more);
    }
    for (; i < n; i++) key = x[i] <= most && x[i] > key ? x[i] : key;
    for (int j = 0; j < LANES; j++) key = found[j] > key ? found[j] : key;
    return key;
}

/* The smallest of n keys that are greater than `limit`, or the maximum. */
INLINE KEY NAME(next)(const KEY *x, size_t n, KEY limit)
{
    enum { LANES = VECTOR_BYTES / sizeof(KEY) };
    NAME(lanes) v, found = ~(NAME(lanes)){ 0 };
    KEY key = (KEY)-1;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        memcpy(&v, x + i, sizeof v);
        v |= (NAME(lanes))(v <= limit);
        const NAME(lanes) less = (NAME(lanes))(v < found);
        found = (v & less) | (found & ~less);
    }
    for (; i < n; i++) key = x[i] > limit && x[i] < key ? x[i] : key;
    for (int j = 0; j < LANES; j++) key = found[j] < key ? found[j] : key;
    return key;
}

static void NAME(describe)(const void *e, size_t n, uint64_t limit,
                           struct echi_quantile_found *found)
{
    const KEY *x = e, key = NAME(greatest)(x, n, (KEY)limit);
    uint64_t counts[4] = { 0 };
    for (size_t i = 0; i < n; i += NAME(SOME))
        NAME(tally)(x + i, echi_min(n - i, NAME(SOME)), key, key, counts);
    *found = (struct echi_quantile_found){ .key = key,
                                           .less = counts[0],
                                           .equal = counts[1] - counts[0],
                                           .next = NAME(next)(x, n, key),
                                           .has_next = counts[1] < n };
}

/* ---- Partitions ---- */

static void NAME(count)(const struct echi_quantile_job *job, const struct echi_order *order,
                        const void *x, size_t n, uint64_t *counts)
{
    KEY e[NAME(SOME) + 64];
    for (size_t i = 0; i < n; i += NAME(SOME)) {
        const size_t here = echi_min(n - i, NAME(SOME));
        const KEY *own = NAME(encoded)(order, (const KEY *)x + i, here, e);
        for (size_t k = 0; k < job->request->count; k++) {
            const KEY key = (KEY)job->bounds[k].key;
            KEY less = 0, equal = 0;
            for (size_t j = 0; j < here; j++) {
                less = (KEY)(less + (own[j] < key));
                equal = (KEY)(equal + (own[j] == key));
            }
            counts[2 * k] += less;
            counts[2 * k + 1] += equal;
        }
    }
}

#if !HAS_VECTORS
/* Writes the elements at + i of the bits i of 64 from position `to` on. */
INLINE void NAME(keep)(const struct echi_quantile *s, size_t to, size_t at, uint64_t bits)
{
    if (s->out) NAME(keep_some)
    ((char *)((KEY *)s->out + to), (const char *)((const KEY *)s->in + at), bits);
    if (s->index && s->index_bytes == 4)
        positions32_some((uint32_t *)s->index + to, at, bits);
    else if (s->index)
        positions_some((uint64_t *)s->index + to, at, bits);
}

/* Moves up to 64 elements; the bits of the elements before each bound contain those of the bounds
 * before it. */
INLINE void NAME(move_some)(const struct echi_quantile_job *job, const KEY *e, size_t at, size_t n,
                            const struct echi_quantile_places *places)
{
    const struct echi_quantile *s = job->request;
    const uint64_t there = low_bits(n);
    uint64_t moved = 0;
    for (size_t k = 0; k < s->count; k++) {
        const KEY key = (KEY)job->bounds[k].key;
        const uint64_t less = key ? NAME(at_most)(e, (KEY)(key - 1)) & there : 0;
        const uint64_t equal = NAME(at_most)(e, key) & there & ~less;
        uint64_t own, bits = bits_before(&job->bounds[k], less, equal, &places->seen[k], &own);
        bits &= ~moved;
        NAME(keep)(s, (size_t)places->to[k], at, bits);
        places->to[k] += ones(bits);
        moved |= bits | own;
        if (own) NAME(store)(s, (size_t)s->ranks[k], at + (size_t)__builtin_ctzll(own));
    }
    NAME(keep)(s, (size_t)places->to[s->count], at, there & ~moved);
    places->to[s->count] += ones(there & ~moved);
}

static void NAME(move)(const struct echi_quantile_job *job, size_t from, size_t to,
                       const struct echi_quantile_places *places)
{
    const struct echi_quantile *s = job->request;
    KEY e[ECHI_QUANTILE_BLOCK + 64];
    for (size_t at = from; at < to; at += ECHI_QUANTILE_BLOCK) {
        const size_t n = echi_min(to - at, ECHI_QUANTILE_BLOCK);
        const KEY *own = NAME(encoded)(&s->order, (const KEY *)s->in + at, n, e);
        for (size_t i = 0; i < n; i += 64) NAME(move_some)(job, own + i, at + i, n - i, places);
    }
}
#endif

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

/* Moves a vector of elements, or n: the number of bounds that are less than a key is its part,
 * unless it equals a bound. */
INLINE void NAME(place_some)(const struct echi_quantile_job *job, const KEY *e, size_t at, size_t n,
                             const struct echi_quantile_places *places)
{
    enum { LANES = VECTOR_BYTES / sizeof(KEY) };
    const struct echi_quantile *s = job->request;
    NAME(lanes) x, less = { 0 }, most = { 0 };
    KEY first[LANES], end[LANES];
    memcpy(&x, e, sizeof x);
    for (size_t k = 0; k < s->count; k++) {
        const KEY key = (KEY)job->bounds[k].key;
        less -= (NAME(lanes))(x > key);
        most -= (NAME(lanes))(x >= key);
    }
    memcpy(first, &less, sizeof less);
    memcpy(end, &most, sizeof most);
    for (size_t j = 0; j < n && j < LANES; j++)
        if (first[j] == end[j])
            NAME(store)(s, (size_t)places->to[first[j]]++, at + j);
        else
            NAME(place_equal)(job, at + j, first[j], end[j], places);
}

static void NAME(place)(const struct echi_quantile_job *job, size_t from, size_t to,
                        const struct echi_quantile_places *places)
{
    const struct echi_quantile *s = job->request;
    KEY e[ECHI_QUANTILE_BLOCK + 64];
    for (size_t at = from; at < to; at += ECHI_QUANTILE_BLOCK) {
        const size_t n = echi_min(to - at, ECHI_QUANTILE_BLOCK);
        const KEY *own = NAME(encoded)(&s->order, (const KEY *)s->in + at, n, e);
        for (size_t i = 0; i < n; i += VECTOR_BYTES / sizeof(KEY))
            NAME(place_some)(job, own + i, at + i, n - i, places);
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
#endif

#undef NAME
#undef KEY
#undef FROM
#undef HAS_VECTORS
