/*
 * merge/cpu/width.h - template: the merge of a part of the result, for one key width.
 *
 *   FROM      u8 ... u64 (undefined at the end)
 *
 * Which key comes next is computed without a branch, because on random data the processor would
 * predict every second branch wrongly. Before some steps, one branch tests whether the next
 * MERGE_RUN elements are from one input; these are copied.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#define NAME(x) JOINED(x##_, FROM)
#define KEY     JOINED(FROM, _element)
#include "cpu/merge_path.h"

/* Whether no two of these floats are equal but differ in bits: there is no -0, and at most one NaN
 * pattern. */
static bool NAME(distinguishable)(const struct echi_order *order, const void *keys, size_t n)
{
    const struct echi_order merged = *order;
    struct echi_order apart = merged;
    const KEY *in = keys;
    KEY differ = 0;
    apart.merge = 0;
    apart.last = (KEY) ~(KEY)0;
    for (size_t i = 0; i < n; i++)
        differ |= (KEY)(NAME(form)(&merged, in[i], true) ^ NAME(form)(&apart, in[i], true));
    return !differ;
}

/* How many of the first `diagonal` elements of the result are from a. */
static size_t NAME(path)(const struct echi_merge *m, size_t diagonal)
{
    return NAME(merge_path)(&m->order, m->keys[0], m->n[0], m->keys[1], m->n[1], diagonal);
}

/* What is left of a merge: the rest of both inputs, and of the output. from_b and its end: NULL, or
 * receive whether an element is from b. */
struct NAME(rest) {
    const KEY *a, *a_end, *b, *b_end;
    KEY *out, *out_end;
    unsigned char *from_b, *from_b_end;
};

INLINE bool NAME(is_open)(const struct NAME(rest) * r)
{
    return r->a < r->a_end && r->b < r->b_end;
}

/* How many steps end neither input, wherever their elements are from. */
INLINE size_t NAME(steps)(const struct NAME(rest) * r)
{
    return echi_min((size_t)(r->a_end - r->a), (size_t)(r->b_end - r->b));
}

/* Copies MERGE_RUN elements if the next ones are from one input. */
INLINE bool NAME(copy_run)(const struct echi_order *o, struct NAME(rest) * r, bool is_float)
{
    const bool run_a =
        r->a_end - r->a >= MERGE_RUN &&
        NAME(form)(o, r->a[MERGE_RUN - 1], is_float) <= NAME(form)(o, *r->b, is_float);
    const bool run_b =
        !run_a && r->b_end - r->b >= MERGE_RUN &&
        NAME(form)(o, r->b[MERGE_RUN - 1], is_float) < NAME(form)(o, *r->a, is_float);
    if (!run_a && !run_b) return false;
    memcpy(r->out, run_b ? r->b : r->a, MERGE_RUN * sizeof(KEY));
    if (r->from_b) memset(r->from_b, run_b, MERGE_RUN);
    r->out += MERGE_RUN;
    r->a += run_b ? 0 : MERGE_RUN;
    r->b += run_b ? MERGE_RUN : 0;
    r->from_b += r->from_b ? MERGE_RUN : 0;
    return true;
}

INLINE void NAME(first)(const struct echi_order *o, struct NAME(rest) * r, bool is_float)
{
    const KEY x = *r->a, y = *r->b;
    const bool second = NAME(form)(o, y, is_float) < NAME(form)(o, x, is_float);
    *r->out++ = NAME(either)(second, y, x);
    r->a += !second;
    r->b += second;
    if (r->from_b) *r->from_b++ = second;
}

INLINE void NAME(last)(const struct echi_order *o, struct NAME(rest) * r, bool is_float)
{
    const KEY v = r->a_end[-1], w = r->b_end[-1];
    const bool last = !(NAME(form)(o, w, is_float) < NAME(form)(o, v, is_float));
    *--r->out_end = NAME(either)(last, w, v);
    r->a_end -= !last;
    r->b_end -= last;
    if (r->from_b) *--r->from_b_end = last;
}

/* Merges from both ends: the sequences of steps are independent, so that the processor executes
 * them at the same time. */
INLINE void NAME(finish)(const struct echi_order *o, struct NAME(rest) r, bool is_float)
{
    while (NAME(is_open)(&r)) {
        if (NAME(copy_run)(o, &r, is_float)) continue;
        const size_t steps = echi_min(NAME(steps)(&r), MERGE_STEPS);
        for (size_t s = steps - steps / 2; s; s--) {
            NAME(first)(o, &r, is_float);
            if (s <= steps / 2) NAME(last)(o, &r, is_float);
        }
    }
    const size_t rest_a = (size_t)(r.a_end - r.a), rest_b = (size_t)(r.b_end - r.b);
    if (rest_a) memcpy(r.out, r.a, rest_a * sizeof(KEY));
    if (rest_b) memcpy(r.out, r.b, rest_b * sizeof(KEY));
    if (r.from_b) memset(r.from_b, rest_b != 0, rest_a + rest_b);
}

/* Merges a part of both inputs, its halves at the same time. Sets from_b[k] to whether element k of
 * the part is from b; NULL: it is not needed. */
INLINE void NAME(merge)(const struct echi_merge *m, const struct part *p, unsigned char *from_b,
                        bool is_float)
{
    const KEY *a = (const KEY *)m->keys[0] + p->from[0], *b = (const KEY *)m->keys[1] + p->from[1];
    KEY *out = (KEY *)m->keys_out + p->from[0] + p->from[1];
    const struct echi_order o = m->order;
    const size_t n = p->n[0] + p->n[1], half = n < MERGE_HALVES ? n : n / 2;
    const size_t i =
        n < MERGE_HALVES ? p->n[0] : NAME(merge_path)(&m->order, a, p->n[0], b, p->n[1], half);
    const size_t j = half - i;
    unsigned char *middle = from_b ? from_b + half : NULL, *end = from_b ? from_b + n : NULL;
    struct NAME(rest) low = { a, a + i, b, b + j, out, out + half, from_b, middle };
    struct NAME(rest)
        high = { a + i, a + p->n[0], b + j, b + p->n[1], out + half, out + n, middle, end };
    while (NAME(is_open)(&low) && NAME(is_open)(&high)) {
        if (NAME(copy_run)(&o, &low, is_float) || NAME(copy_run)(&o, &high, is_float)) continue;
        const size_t steps =
            echi_min(echi_min(NAME(steps)(&low), NAME(steps)(&high)), MERGE_STEPS) / 2;
        if (!steps) break;
        for (size_t s = steps; s; s--) {
            NAME(first)(&o, &low, is_float);
            NAME(first)(&o, &high, is_float);
            NAME(last)(&o, &low, is_float);
            NAME(last)(&o, &high, is_float);
        }
    }
    const struct NAME(rest) rests[2] = { low, high };
    for (int k = 0; k < 2; k++) NAME(finish)(&o, rests[k], is_float); /* one copy of the code */
}

static void NAME(part)(const struct echi_merge *m, const struct part *p, unsigned char *from_b)
{
    if (m->order.float_mask && from_b)
        NAME(merge)(m, p, from_b, true);
    else if (m->order.float_mask)
        NAME(merge)(m, p, NULL, true);
    else if (from_b)
        NAME(merge)(m, p, from_b, false);
    else
        NAME(merge)(m, p, NULL, false);
}

/* Copies both inputs of a part, if all keys of one come before those of the other; otherwise
 * returns false. */
static bool NAME(concatenate)(const struct echi_merge *m, const struct part *p,
                              unsigned char *from_b)
{
    const size_t n_a = p->n[0], n_b = p->n[1];
    const KEY *a = (const KEY *)m->keys[0] + p->from[0], *b = (const KEY *)m->keys[1] + p->from[1];
    KEY *out = (KEY *)m->keys_out + p->from[0] + p->from[1];
    const bool is_float = m->order.float_mask != 0;
    if (!n_a || !n_b) return false;
    const bool b_first =
        NAME(form)(&m->order, b[n_b - 1], is_float) < NAME(form)(&m->order, a[0], is_float);
    if (!b_first &&
        NAME(form)(&m->order, b[0], is_float) < NAME(form)(&m->order, a[n_a - 1], is_float))
        return false;
    memcpy(b_first ? out + n_b : out, a, n_a * sizeof *a);
    memcpy(b_first ? out : out + n_a, b, n_b * sizeof *b);
    if (from_b) memset(from_b, b_first, b_first ? n_b : n_a);
    if (from_b) memset(from_b + (b_first ? n_b : n_a), !b_first, b_first ? n_a : n_b);
    return true;
}

#undef NAME
#undef KEY
#undef FROM
