/*
 * unique/cpu/width.h - template: the loops over sorted keys of one width.
 *
 *   KEY       uint8_t ... uint64_t (undefined at the end, as NAME)
 *   NAME(x)   x##_u8 ...
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/predicate.h"

/* Whether a run begins at key i. */
static inline bool NAME(begins)(const struct echi_order *order, const KEY *keys, size_t i)
{
    if (i == 0) return true;
    if (!order->float_mask) return keys[i] != keys[i - 1];
    return keys[i] != keys[i - 1] &&
           NAME(merged)(order, keys[i]) != NAME(merged)(order, keys[i - 1]);
}

static size_t NAME(count)(const struct echi_order *order, const void *sorted, size_t from,
                          size_t to, size_t *last)
{
    const KEY *keys = sorted;
    size_t runs = from == 0, i = to;
    for (size_t k = from + (from == 0); k < to; k++) runs += NAME(begins)(order, keys, k);
    if (runs == 0) return 0;
    while (!NAME(begins)(order, keys, i - 1)) i--;
    *last = i - 1;
    return runs;
}

static void NAME(write)(const struct unique_job *job, struct unique_part *part, size_t from,
                        size_t to)
{
    const struct echi_unique *u = job->u;
    const KEY *keys = job->keys;
    KEY *values = job->by_rank ? u->values : NULL;
    size_t runs = part->runs, begin = part->last;
    for (size_t i = from; i < to; i++) {
        if (NAME(begins)(&u->order, keys, i)) {
            if (runs) end_run(job, part, runs - 1, begin, i);
            begin = i;
            if (values) values[runs] = keys[i];
            begin_run(job, runs, i);
            runs++;
        }
        if (job->ranks)
            store_number(job->ranks, job->rank_bytes,
                         number_at(job->positions, job->position_bytes, i), runs - 1);
    }
    if (to == u->n) end_run(job, part, runs - 1, begin, to);
}

/* The first positions of -0 or +0, and of NaN. */
static void NAME(find)(const struct echi_unique *u, size_t from, size_t to, size_t first[2])
{
    const KEY *in = u->in;
    const KEY zero = (KEY)(u->order.zero + 1), nan = (KEY)u->order.last;
    for (size_t i = from; i < to; i++) {
        const KEY e = NAME(merged)(&u->order, in[i]);
        if (e == zero && i < first[0]) first[0] = i;
        if (e == nan && i < first[1]) first[1] = i;
    }
}

/* The places of zero and of NaN in n ascending values, or n; false if there are neither. */
static bool NAME(places)(const struct echi_unique *u, size_t n, size_t places[2])
{
    const KEY zero = (KEY)(u->order.zero + 1), *values = u->values;
    size_t low = 0;
    for (size_t count = n; count > 0;) { /* the first value that is not less than zero */
        const size_t half = count / 2;
        const bool less = NAME(merged)(&u->order, values[low + half]) < zero;
        low += less ? half + 1 : 0;
        count = less ? count - half - 1 : half;
    }
    places[0] = low < n && NAME(merged)(&u->order, values[low]) == zero ? low : n;
    places[1] = NAME(merged)(&u->order, values[n - 1]) == (KEY)u->order.last ? n - 1 : n;
    return places[0] < n || places[1] < n;
}

static const struct unique_width NAME(width) = {
    .count = NAME(count), .write = NAME(write), .find = NAME(find), .places = NAME(places)
};

#undef NAME
#undef KEY
