/*
 * set/cpu/width.h - template: boundaries of parts and the result of a part, for one key width.
 *
 *   FROM      u8 ... u64 (undefined at the end)
 *
 * Which key comes next, and whether it is kept, is computed without a branch, because on random
 * data the processor would predict every second branch wrongly. Between blocks of such steps, one
 * branch each tests for runs: elements of one input that precede the next one of the other input,
 * and equal elements of both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#define NAME(x) JOINED(x##_, FROM)
#define KEY     JOINED(FROM, _element)
#include "cpu/merge_path.h"

/* How many of the sorted keys from..to - 1 are less than v, or equal it; plus from. */
static size_t NAME(search)(const struct echi_order *o, const KEY *keys, size_t from, size_t to,
                           KEY v, bool after_equal)
{
    while (from < to) {
        const size_t i = from + (to - from) / 2;
        const KEY e = NAME(merged)(o, keys[i]);
        if (e < v || (after_equal && e == v))
            from = i + 1;
        else
            to = i;
    }
    return from;
}

/* Where the first `diagonal` elements of the merged inputs end; one earlier, if it would divide a
 * pair. t elements before the boundary equal the next one: as many of a as of b, until one of the
 * two has no more. */
static struct bound NAME(bound)(const struct echi_set *s, size_t diagonal)
{
    const KEY *a = s->keys[0], *b = s->keys[1];
    const struct echi_order *o = &s->order;
    const size_t i = NAME(merge_path)(o, a, s->n[0], b, s->n[1], diagonal), j = diagonal - i;
    if (i == s->n[0] && j == s->n[1]) return (struct bound){ { i, j } };
    const bool next_a =
        i < s->n[0] && (j == s->n[1] || NAME(merged)(o, a[i]) <= NAME(merged)(o, b[j]));
    const KEY v = NAME(merged)(o, next_a ? a[i] : b[j]);
    const size_t first_a = NAME(search)(o, a, 0, i, v, false);
    const size_t first_b = NAME(search)(o, b, 0, j, v, false);
    const size_t m = NAME(search)(o, a, i, s->n[0], v, true) - first_a;
    const size_t n = NAME(search)(o, b, j, s->n[1], v, true) - first_b;
    const size_t t = (i - first_a) + (j - first_b), pairs = echi_min(m, n);
    if (t <= 2 * pairs) return (struct bound){ { first_a + t / 2, first_b + t / 2 } };
    if (m < n) return (struct bound){ { first_a + m, first_b + (t - m) } };
    return (struct bound){ { first_a + (t - n), first_b + n } };
}

/* The forms of the next elements, at most BLOCK. The compiler vectorises this loop; the loop over
 * steps would compute a form between a load and the next address. */
INLINE void NAME(encode)(const struct echi_order *o, const KEY *keys, size_t n, KEY *forms)
{
    const struct echi_order order = *o;
    for (size_t k = 0; k < echi_min(n, BLOCK); k++) forms[k] = NAME(merged)(&order, keys[k]);
}

/* Takes elements of both inputs until one of them has no more, or BLOCK are taken, and stores those
 * that are kept. With from, also where they are: the position in a or in b, from `begin` on. */
INLINE size_t NAME(block)(const struct echi_set *s, struct bound *at, const struct bound *end,
                          KEY *keys, uint32_t *from, bool is_float)
{
    const KEY *a = s->keys[0], *b = s->keys[1];
    const struct echi_order o = s->order;
    const struct bound begin = *at;
    size_t i = at->at[0], j = at->at[1], k = 0;
    KEY forms[2][BLOCK];
    if (is_float) {
        NAME(encode)(&o, a + i, end->at[0] - i, forms[0]);
        NAME(encode)(&o, b + j, end->at[1] - j, forms[1]);
    }
    for (int step = 0; step < BLOCK && i < end->at[0] && j < end->at[1]; step++) {
        const KEY x = a[i], y = b[j];
        const KEY e = is_float ? forms[0][i - begin.at[0]] : NAME(form)(&o, x, false);
        const KEY f = is_float ? forms[1][j - begin.at[1]] : NAME(form)(&o, y, false);
        const bool first = e <= f, second = f <= e;
        keys[k] = NAME(either)(first, x, y);
        if (from)
            from[k] = first ? (uint32_t)(i - begin.at[0]) : FROM_B | (uint32_t)(j - begin.at[1]);
        k += s->kept >> (first + 2 * second) & 1;
        i += first;
        j += second;
    }
    *at = (struct bound){ { i, j } };
    return k;
}

/* Writes elements first ... first + n - 1 of input i to the outputs, from element `to` on, if
 * elements of this kind (ECHI_SET_A, ...) are kept; returns how many it has written. */
static size_t NAME(copy)(const struct echi_set *s, int i, unsigned kind, size_t first, size_t n,
                         size_t to)
{
    if (n == 0 || !(s->kept & kind)) return 0;
    memcpy((KEY *)s->keys_out + to, (const KEY *)s->keys[i] + first, n * sizeof(KEY));
    if (s->value_bytes)
        memcpy((char *)s->values_out + to * s->value_bytes,
               (const char *)s->values[i] + first * s->value_bytes, n * s->value_bytes);
    return n;
}

/* How many elements from keys[from] on, at most `end`, are less than v; by steps that double. */
static size_t NAME(less)(const struct echi_order *o, const KEY *keys, size_t from, size_t end,
                         KEY v)
{
    size_t low = from, step = RUN;
    while (step < end - low && NAME(merged)(o, keys[low + step]) < v) {
        low += step;
        step *= 2;
    }
    return NAME(search)(o, keys, low, low + echi_min(step, end - low), v, false) - from;
}

/* Takes the next element, or the next pair; another run may follow it. Returns how many elements it
 * writes. */
static size_t NAME(next)(const struct echi_set *s, struct bound *at, const struct bound *end,
                         size_t to)
{
    const size_t i = at->at[0], j = at->at[1];
    if (i == end->at[0] || j == end->at[1]) return 0;
    const KEY e = NAME(merged)(&s->order, ((const KEY *)s->keys[0])[i]);
    const KEY f = NAME(merged)(&s->order, ((const KEY *)s->keys[1])[j]);
    at->at[0] += e <= f;
    at->at[1] += f <= e;
    if (e == f) return NAME(copy)(s, 0, ECHI_SET_BOTH, i, 1, to);
    return e < f ? NAME(copy)(s, 0, ECHI_SET_A, i, 1, to) : NAME(copy)(s, 1, ECHI_SET_B, j, 1, to);
}

/* Takes a run of at least RUN elements and the element after it, if the next elements are a run;
 * adds how many it writes to *to. Returns false if they are not. */
INLINE bool NAME(run)(const struct echi_set *s, struct bound *at, const struct bound *end,
                      size_t *to, bool is_float)
{
    const struct echi_order o = s->order;
    const KEY *next[2] = { (const KEY *)s->keys[0] + at->at[0],
                           (const KEY *)s->keys[1] + at->at[1] };
    const size_t n[2] = { end->at[0] - at->at[0], end->at[1] - at->at[1] };
    const KEY first[2] = { NAME(form)(&o, *next[0], is_float), NAME(form)(&o, *next[1], is_float) };
    bool equal = first[0] == first[1] && n[0] >= RUN && n[1] >= RUN;
    for (int i = 0; i < 2; i++) {
        if (n[i] < RUN) continue;
        const KEY last = NAME(form)(&o, next[i][RUN - 1], is_float);
        equal &= last == first[0];
        if (last >= first[1 - i]) continue;
        const size_t count = NAME(less)(&o, s->keys[i], at->at[i], end->at[i], first[1 - i]);
        *to += NAME(copy)(s, i, i ? ECHI_SET_B : ECHI_SET_A, at->at[i], count, *to);
        at->at[i] += count;
        if (count == 0) return false; /* not sorted */
        *to += NAME(next)(s, at, end, *to);
        return true;
    }
    if (!equal) return false;
    *to += NAME(copy)(s, 0, ECHI_SET_BOTH, at->at[0], RUN, *to);
    at->at[0] += RUN;
    at->at[1] += RUN;
    return true;
}

/* Writes the result of the elements between two bounds, from element `to` of the outputs on.
 * Returns how many it has. */
static size_t NAME(part)(const struct echi_set *s, struct bound at, const struct bound *end,
                         size_t to)
{
    KEY keys[BLOCK], *out = s->keys_out;
    uint32_t from[BLOCK];
    const size_t first = to;
    const bool is_float = s->order.float_mask != 0, values = s->value_bytes != 0;
    while (at.at[0] < end->at[0] && at.at[1] < end->at[1]) {
        const struct bound begin = at;
        if (is_float ? NAME(run)(s, &at, end, &to, true) : NAME(run)(s, &at, end, &to, false))
            continue;
        const size_t n = is_float ? values ? NAME(block)(s, &at, end, keys, from, true)
                                           : NAME(block)(s, &at, end, keys, NULL, true)
                         : values ? NAME(block)(s, &at, end, keys, from, false)
                                  : NAME(block)(s, &at, end, keys, NULL, false);
        if (n) memcpy(out + to, keys, n * sizeof *keys);
        if (values) move_values(s, &begin, from, n, to);
        to += n;
    }
    for (int i = 0; i < 2; i++) /* the rest of the other input has no partners */
        to += NAME(copy)(s, i, i ? ECHI_SET_B : ECHI_SET_A, at.at[i], end->at[i] - at.at[i], to);
    return to - first;
}

#undef NAME
#undef KEY
#undef FROM
