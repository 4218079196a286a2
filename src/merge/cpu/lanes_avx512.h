/*
 * merge/cpu/lanes_avx512.h - template: the merge of two sorted arrays of keys by bitonic networks
 * of vectors, for one key width.
 *
 *   FROM    u8 ... u64: the keys (undefined at the end)
 *   LANE    u16, u32 or u64: a lane of a vector; a byte takes 16 bits (undefined at the end)
 *
 *     next keys of a  1 4 6 9      those of b, reversed  8 5 3 2      smaller of each pair  1 4 3 2
 *
 * The smaller of each pair are the next keys of the result, which a network sorts, and their number
 * in each input is how far this is read.  So a step waits for one comparison of the step before,
 * not for the network, and several parts of the result are merged at the same time.  Long runs of
 * keys from one input are copied instead.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#define NAME(x)  JOINED(x##_of_, FROM)
#define LANED(x) JOINED(JOINED(x, _), LANE)
#define KEY      JOINED(FROM, _element)
#include "cpu/merge_path.h"

enum { NAME(W) = sizeof(vec) / sizeof(JOINED(LANE, _element)) };

/* The order of keys as vectors and, for comparisons of two keys, as it is. */
struct NAME(coding) {
    struct echi_order order;
    vec sign, shift, flip;
    bool is_float;
};

/* One merge: both inputs, the next keys of each, and the rest of the output. */
struct NAME(chain) {
    const KEY *a, *a_end, *b, *b_end;
    KEY *out, *out_end;
};

INLINE KEY NAME(head)(const struct NAME(coding) * c, const KEY *key)
{
    return NAME(form)(&c->order, *key, c->is_float);
}

INLINE vec NAME(encode)(const struct NAME(coding) * c, vec v)
{
    if (!c->is_float) return bit_xor(bit_xor(v, c->sign), c->flip);
    v = bit_xor(v, _mm512_or_si512(LANED(sign_bits)(v), c->sign));
    return bit_xor(LANED(subtract)(v, c->shift), c->flip);
}

INLINE vec NAME(decode)(const struct NAME(coding) * c, vec e)
{
    if (!c->is_float) return bit_xor(bit_xor(e, c->sign), c->flip);
    e = LANED(add)(bit_xor(e, c->flip), c->shift);
    const vec positive = LANED(sign_bits)(e);
    return bit_xor(e,
                   _mm512_or_si512(_mm512_andnot_si512(positive, _mm512_set1_epi64(-1)), c->sign));
}

/* The first n keys, or a vector, encoded; all ones in other lanes. */
INLINE vec NAME(read)(const struct NAME(coding) * c, const KEY *keys, size_t n)
{
    const vec ones = _mm512_set1_epi64(-1);
    if (n >= NAME(W) && sizeof(KEY) == 1)
        return NAME(encode)(c, _mm512_cvtepu8_epi16(_mm256_loadu_si256((const void *)keys)));
    if (n >= NAME(W)) return NAME(encode)(c, load(keys));
    const JOINED(mask_, LANE) there = (JOINED(mask_, LANE))_bzhi_u64(~(uint64_t)0, (unsigned)n);
    const vec v = sizeof(KEY) == 1
                      ? _mm512_cvtepu8_epi16(_mm256_maskz_loadu_epi8((__mmask32)there, keys))
                      : LANED(load_some)((const void *)keys, there, ones);
    return LANED(only)(there, NAME(encode)(c, v), ones);
}

INLINE void NAME(write)(const struct NAME(coding) * c, KEY *keys, size_t n, vec e)
{
    const vec v = NAME(decode)(c, e);
    const JOINED(mask_, LANE) there =
        (JOINED(mask_, LANE))_bzhi_u64(~(uint64_t)0, n < NAME(W) ? (unsigned)n : NAME(W));
    if (sizeof(KEY) == 1 && n >= NAME(W))
        _mm256_storeu_si256((void *)keys, _mm512_cvtepi16_epi8(v));
    else if (sizeof(KEY) == 1)
        _mm256_mask_storeu_epi8(keys, (__mmask32)there, _mm512_cvtepi16_epi8(v));
    else if (n >= NAME(W))
        store(keys, v);
    else
        LANED(store_some)((void *)keys, there, v);
}

/* Sorts a bitonic sequence of lanes. */
INLINE vec NAME(sort_lanes)(vec v)
{
    UNROLLED(s, 5)
    {
        const int distance = NAME(W) >> (s + 1);
        const uint32_t upper[5] = { 0xffff0000u, 0xff00ff00u, 0xf0f0f0f0u, 0xccccccccu,
                                    0xaaaaaaaau };
        const int at = distance == 16  ? 0
                       : distance == 8 ? 1
                       : distance == 4 ? 2
                       : distance == 2 ? 3
                                       : 4;
        if (!distance) continue;
        const vec other = LANED(swap_lanes)(v, distance);
        v = LANED(max_in)(upper[at], LANED(min)(v, other), v, other);
    }
    return v;
}

/* Writes the next keys of the result, as many as a vector or the output has, from inputs that have n_a
 * and n_b keys. */
INLINE void NAME(step)(const struct NAME(coding) * c, struct NAME(chain) * k, size_t n_a,
                       size_t n_b, size_t room)
{
    const vec x = NAME(read)(c, k->a, n_a), y = NAME(read)(c, k->b, n_b);
    const vec back = LANED(swap_lanes)(y, NAME(W) - 1);
    const JOINED(mask_, LANE) from_a = LANED(at_most)(x, back);
    const size_t taken = (size_t)__builtin_popcount(from_a);
    NAME(write)(c, k->out, room, NAME(sort_lanes)(LANED(only)(from_a, x, back)));
    k->a += echi_min(taken, n_a);
    k->b += echi_min(NAME(W) - taken, n_b);
    k->out += echi_min(room, NAME(W));
}

/* How many steps read whole vectors, wherever the keys are from. */
INLINE size_t NAME(whole_steps)(const struct NAME(chain) * k)
{
    return echi_min((size_t)(k->a_end - k->a), (size_t)(k->b_end - k->b)) / NAME(W);
}

INLINE bool NAME(is_open)(const struct NAME(chain) * k)
{
    return NAME(whole_steps)(k) > 0;
}

/* How many keys are less than `most`, or not greater if equal is set: first those of a short
 * distance, then of twice that, ... */
static size_t NAME(run_of)(const struct NAME(coding) * c, const KEY *keys, size_t n, KEY most,
                           bool equal)
{
    size_t low = 0, step = 1, high;
    const KEY limit = most - !equal;
    if (!equal && !most) return 0;
    while (low + step <= n && NAME(head)(c, keys + low + step - 1) <= limit) {
        low += step;
        step *= 2;
    }
    for (high = echi_min(low + step, n + 1); high - low > 1;) {
        const size_t middle = low + (high - low) / 2;
        if (NAME(head)(c, keys + middle - 1) <= limit)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Copies runs, all of them, or as long as they are at least RUN keys. */
static void NAME(copy_runs)(const struct NAME(coding) * c, struct NAME(chain) * k, bool all)
{
    enum { RUN = 64 };
    for (size_t n = RUN, turn = 0;
         (all || n >= RUN || turn < 2) && k->a < k->a_end && k->b < k->b_end; turn++) {
        const bool from_b = NAME(head)(c, k->b) < NAME(head)(c, k->a);
        const KEY *from = from_b ? k->b : k->a;
        n = from_b ? NAME(run_of)(c, k->b, (size_t)(k->b_end - k->b), NAME(head)(c, k->a), false)
                   : NAME(run_of)(c, k->a, (size_t)(k->a_end - k->a), NAME(head)(c, k->b), true);
        memcpy(k->out, from, n * sizeof(KEY));
        k->out += n;
        k->a += from_b ? 0 : n;
        k->b += from_b ? n : 0;
    }
    const bool done = k->a == k->a_end || k->b == k->b_end;
    const KEY *rest = k->a < k->a_end ? k->a : k->b;
    if (!done) return;
    memcpy(k->out, rest, (size_t)(k->out_end - k->out) * sizeof(KEY));
    k->a = k->a_end;
    k->b = k->b_end;
    k->out = k->out_end;
}

/* The end of a chain. */
static NOINLINE void NAME(finish)(const struct NAME(coding) * c, struct NAME(chain) * k)
{
    enum { MANY = 16 * NAME(W) };
    while (k->a < k->a_end && k->b < k->b_end) {
        const size_t n_a = (size_t)(k->a_end - k->a), n_b = (size_t)(k->b_end - k->b);
        if ((n_a < NAME(W) && n_b > MANY) || (n_b < NAME(W) && n_a > MANY)) break;
        NAME(step)(c, k, n_a, n_b, (size_t)(k->out_end - k->out));
    }
    NAME(copy_runs)(c, k, true);
}

/* A few steps of all chains, in turn.  Copies runs of a chain that took keys of one input only. */
INLINE void NAME(some_steps)(const struct NAME(coding) * c, struct NAME(chain) * k, int chains,
                             size_t steps)
{
    const KEY *a[4], *b[4];
    for (int h = 0; h < chains; h++) a[h] = k[h].a, b[h] = k[h].b;
    for (size_t s = 0; s < steps; s++)
        UNROLLED(h, chains) NAME(step)(c, &k[h], NAME(W), NAME(W), NAME(W));
    for (int h = 0; h < chains; h++)
        if (k[h].a == a[h] || k[h].b == b[h]) NAME(copy_runs)(c, &k[h], false);
}

INLINE bool NAME(merge_all)(const struct NAME(coding) * c, const KEY *a, size_t n_a, const KEY *b,
                            size_t n_b, KEY *out)
{
    enum { STEPS = 4 };
    const size_t n = n_a + n_b, half = n / 2;
    const size_t i = NAME(merge_path)(&c->order, a, n_a, b, n_b, half), j = half - i;
    struct NAME(chain) k[2] = {
        { .a = a, .a_end = a + i, .b = b, .b_end = b + j, .out = out, .out_end = out + half },
        { .a = a + i,
          .a_end = a + n_a,
          .b = b + j,
          .b_end = b + n_b,
          .out = out + half,
          .out_end = out + n },
    };
    for (int h = 0; h < 2; h++) NAME(copy_runs)(c, &k[h], false);
    for (;;) {
        const size_t steps = echi_min(NAME(whole_steps)(&k[0]), NAME(whole_steps)(&k[1]));
        if (!steps) break;
        NAME(some_steps)(c, k, 2, echi_min(steps, STEPS));
    }
    for (int h = 0; h < 2; h++) NAME(finish)(c, &k[h]);
    return true;
}

/* Whether no two of these floats are equal but differ in bits. */
static bool NAME(distinct_bits)(const struct echi_order *order, const KEY *keys, size_t n)
{
    const struct echi_order merged = *order;
    struct echi_order apart = merged;
    KEY differ = 0;
    apart.merge = 0;
    apart.last = (KEY) ~(KEY)0;
    for (size_t i = 0; i < n; i++)
        differ |= (KEY)(NAME(form)(&merged, keys[i], true) ^ NAME(form)(&apart, keys[i], true));
    return !differ;
}

static bool NAME(merge)(const struct echi_order *order, const void *a, size_t n_a, const void *b,
                        size_t n_b, void *out)
{
    const KEY ones = (KEY) ~(KEY)0;
    struct NAME(coding) c = { .order = *order, .is_float = order->float_mask != 0 };
    if (c.is_float && !(NAME(distinct_bits)(order, a, n_a) && NAME(distinct_bits)(order, b, n_b)))
        return false;
    c.order.merge = 0;
    c.order.last = ones;
    c.sign = LANED(broadcast)((JOINED(LANE, _element))(KEY)order->sign);
    c.shift = LANED(broadcast)((JOINED(LANE, _element))(KEY)order->shift);
    c.flip = LANED(broadcast)((JOINED(LANE, _element))(KEY)order->flip);
    if (c.is_float) {
        c.is_float = true;
        return NAME(merge_all)(&c, a, n_a, b, n_b, out);
    }
    c.is_float = false;
    return NAME(merge_all)(&c, a, n_a, b, n_b, out);
}

#undef NAME
#undef LANED
#undef KEY
#undef FROM
#undef LANE
