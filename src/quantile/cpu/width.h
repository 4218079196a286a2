/*
 * quantile/cpu/width.h - template: the loops over elements of one width.
 *
 *   KEY       uint8_t ... uint64_t (undefined at the end, as NAME)
 *   NAME(x)   x##_u8 ...
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/predicate.h"

static uint64_t NAME(key)(const struct echi_order *order, const void *in, size_t i)
{
    return NAME(merged)(order, ((const KEY *)in)[i]);
}

static size_t NAME(count_equal)(const struct echi_order *order, const void *in, size_t from,
                                size_t to, uint64_t key)
{
    const struct echi_order o = *order;
    const KEY *x = in;
    size_t count = 0;
    for (size_t i = from; i < to; i++) count += NAME(merged)(&o, x[i]) == (KEY)key;
    return count;
}

static size_t NAME(find_equal)(const struct echi_order *order, const void *in, size_t from,
                               uint64_t key, size_t tie)
{
    const KEY *x = in;
    for (size_t i = from;; i++)
        if (NAME(merged)(order, x[i]) == (KEY)key && tie-- == 0) return i;
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

/* The number of the part or bound to which an element belongs: 2 j is part j, and 2 j + 1 bound
 * j. */
static inline size_t NAME(id)(const struct echi_quantile_job *job, KEY e, size_t i)
{
    size_t low = 0;
    for (size_t count = job->request->count; count > 0;) { /* bounds before the element */
        const size_t half = count / 2;
        const struct echi_quantile_bound *b = &job->bounds[low + half];
        const bool less = (KEY)b->key < e || ((KEY)b->key == e && b->position < i);
        low += less ? half + 1 : 0;
        count = less ? count - half - 1 : half;
    }
    return 2 * low + (low < job->request->count && job->bounds[low].position == i);
}

static void NAME(count)(const struct echi_quantile_job *job, size_t from, size_t to,
                        uint64_t *counts)
{
    const struct echi_order o = job->request->order;
    const KEY *in = job->request->in;
    for (size_t i = from; i < to; i++) counts[NAME(id)(job, NAME(merged)(&o, in[i]), i)]++;
}

static inline void NAME(store)(const struct echi_quantile *s, size_t to, KEY element, size_t i)
{
    if (s->out) ((KEY *)s->out)[to] = element;
    if (s->index) store_number(s->index, s->index_bytes, to, i);
}

/* Around one bound.  Only values: both destinations are written, and one of them advances. */
static void NAME(move_two)(const struct echi_quantile_job *job, size_t from, size_t to,
                           uint64_t *counts)
{
    const struct echi_quantile *s = job->request;
    const struct echi_order o = s->order;
    const KEY *in = s->in, key = (KEY)job->bounds[0].key;
    const size_t position = (size_t)job->bounds[0].position;
    size_t left = (size_t)counts[0], right = (size_t)counts[2];
    for (size_t i = from; i < to; i++) {
        const KEY u = in[i], e = NAME(merged)(&o, u);
        const bool after = (e > key) | ((e == key) & (i > position));
        const size_t at = i == position ? (size_t)counts[1] : after ? right : left;
        NAME(store)(s, at, u, i);
        left += !after & (i != position);
        right += after;
    }
}

static void NAME(move)(const struct echi_quantile_job *job, size_t from, size_t to,
                       uint64_t *counts)
{
    const struct echi_quantile *s = job->request;
    const struct echi_order o = s->order;
    const KEY *in = s->in;
    if (s->count == 1) {
        NAME(move_two)(job, from, to, counts);
        return;
    }
    for (size_t i = from; i < to; i++)
        NAME(store)(s, (size_t)counts[NAME(id)(job, NAME(merged)(&o, in[i]), i)]++, in[i], i);
}

static const struct echi_quantile_width NAME(width) = {
    .key = NAME(key),
    .count_equal = NAME(count_equal),
    .find_equal = NAME(find_equal),
    .describe = NAME(describe),
    .count = NAME(count),
    .move = NAME(move),
};

#undef NAME
#undef KEY
