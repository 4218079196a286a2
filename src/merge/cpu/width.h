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

/* Merges a part of both inputs, from both ends: the two sequences of steps are independent, so that
 * the processor executes them at the same time. Sets from_b[k] to whether element k of the part is
 * from b; NULL: it is not needed. */
INLINE void NAME(merge)(const struct echi_merge *m, const struct part *p, unsigned char *from_b,
                        bool is_float)
{
    const KEY *a = (const KEY *)m->keys[0] + p->from[0], *a_end = a + p->n[0];
    const KEY *b = (const KEY *)m->keys[1] + p->from[1], *b_end = b + p->n[1];
    KEY *out = (KEY *)m->keys_out + p->from[0] + p->from[1], *out_end = out + p->n[0] + p->n[1];
    unsigned char *from_b_end = from_b ? from_b + p->n[0] + p->n[1] : NULL;
    const struct echi_order o = m->order;
    while (a < a_end && b < b_end) { /* neither input ends within so many steps at both ends */
        size_t least = echi_min((size_t)(a_end - a), (size_t)(b_end - b));
        if (least >= MERGE_RUN) {
            const bool run_b =
                NAME(form)(&o, b[MERGE_RUN - 1], is_float) < NAME(form)(&o, *a, is_float);
            if (run_b ||
                NAME(form)(&o, a[MERGE_RUN - 1], is_float) <= NAME(form)(&o, *b, is_float)) {
                memcpy(out, run_b ? b : a, MERGE_RUN * sizeof(KEY));
                if (from_b) memset(from_b, run_b, MERGE_RUN);
                out += MERGE_RUN;
                a += run_b ? 0 : MERGE_RUN;
                b += run_b ? MERGE_RUN : 0;
                from_b += from_b ? MERGE_RUN : 0;
                continue;
            }
            least = echi_min(least, MERGE_STEPS);
        }
        for (size_t s = least - least / 2; s; s--) {
            const KEY x = *a, y = *b;
            const bool second = NAME(form)(&o, y, is_float) < NAME(form)(&o, x, is_float);
            *out++ = NAME(either)(second, y, x);
            a += !second;
            b += second;
            if (from_b) *from_b++ = second;
            if (s > least / 2) continue;
            const KEY v = a_end[-1], w = b_end[-1];
            const bool last = !(NAME(form)(&o, w, is_float) < NAME(form)(&o, v, is_float));
            *--out_end = NAME(either)(last, w, v);
            a_end -= !last;
            b_end -= last;
            if (from_b) *--from_b_end = last;
        }
    }
    const size_t rest_a = (size_t)(a_end - a), rest_b = (size_t)(b_end - b);
    if (rest_a) memcpy(out, a, rest_a * sizeof(KEY));
    if (rest_b) memcpy(out, b, rest_b * sizeof(KEY));
    if (from_b) memset(from_b, rest_b != 0, rest_a + rest_b);
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

#undef NAME
#undef KEY
#undef FROM
