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

/* The order of keys as vectors and, for comparisons of two keys, as it is.  Integers have no sign
 * and no shift, only flip. */
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
    if (!c->is_float) return bit_xor(v, c->flip);
    /* v ^ (sign bits | sign) */
    v = _mm512_ternarylogic_epi64(v, LANED(sign_bits)(v), c->sign, 0x1e);
    return bit_xor(LANED(subtract)(v, c->shift), c->flip);
}

INLINE vec NAME(decode)(const struct NAME(coding) * c, vec e)
{
    if (!c->is_float) return bit_xor(e, c->flip);
    e = LANED(add)(bit_xor(e, c->flip), c->shift);
    /* e ^ (~sign bits | sign) */
    return _mm512_ternarylogic_epi64(e, LANED(sign_bits)(e), c->sign, 0x4b);
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

/* Writes the next keys of the result, as many as a vector or the output has, from inputs that have
 * n_a and n_b keys. */
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

/* Whether the next RUN keys are from one input. */
INLINE bool NAME(begins_with_run)(const struct NAME(coding) * c, const struct NAME(chain) * k)
{
    if (k->a_end - k->a < RUN || k->b_end - k->b < RUN) return false;
    return NAME(head)(c, k->a + RUN - 1) <= NAME(head)(c, k->b) ||
           NAME(head)(c, k->b + RUN - 1) < NAME(head)(c, k->a);
}

/* Copies runs, all of them, or as long as they are at least RUN keys. */
static void NAME(copy_runs)(const struct NAME(coding) * c, struct NAME(chain) * k, bool all)
{
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

/* Merges what is left of a chain. */
static NOINLINE void NAME(finish)(const struct NAME(coding) * c, struct NAME(chain) * k)
{
    const KEY *a = k->a, *b = k->b;
    if (NAME(begins_with_run)(c, k)) NAME(copy_runs)(c, k, false);
    for (size_t turn = 1; k->a < k->a_end && k->b < k->b_end; turn++) {
        const size_t n_a = (size_t)(k->a_end - k->a), n_b = (size_t)(k->b_end - k->b);
        NAME(step)(c, k, n_a, n_b, (size_t)(k->out_end - k->out));
        if (turn % STEPS) continue;
        if (k->a == a || k->b == b) NAME(copy_runs)(c, k, n_a < NAME(W) || n_b < NAME(W));
        a = k->a;
        b = k->b;
    }
    NAME(copy_runs)(c, k, true);
}

/* A few steps of all chains, in turn.  Copies runs of a chain that took keys of one input only. */
INLINE void NAME(some_steps)(const struct NAME(coding) * c, struct NAME(chain) * k, size_t steps)
{
    const KEY *a[CHAINS], *b[CHAINS];
    for (int h = 0; h < CHAINS; h++) a[h] = k[h].a, b[h] = k[h].b;
    for (size_t s = 0; s < steps; s++)
        UNROLLED(h, CHAINS) NAME(step)(c, &k[h], NAME(W), NAME(W), NAME(W));
    for (int h = 0; h < CHAINS; h++)
        if (k[h].a == a[h] || k[h].b == b[h]) NAME(copy_runs)(c, &k[h], false);
}

/* Finds the places where all chains begin, at the same time and without branches that depend on the
 * keys.  A chain but the last has `share` keys. */
INLINE void NAME(begin)(const struct NAME(coding) * c, const KEY *a, size_t n_a, const KEY *b,
                        size_t n_b, size_t share, size_t from[CHAINS + 1])
{
    size_t low[CHAINS] = { 0 }, n[CHAINS] = { 0 }, most = 0;
    UNROLLED(h, CHAINS)
    {
        const size_t d = share * (size_t)h;
        low[h] = d > n_b ? d - n_b : 0;
        n[h] = echi_min(d, n_a) - low[h];
        most = n[h] > most ? n[h] : most;
    }
    for (int bits = echi_bit_length(most); bits; bits--) UNROLLED(h, CHAINS)
        {
            if (!n[h]) continue;
            const size_t half = n[h] / 2, i = low[h] + half, d = share * (size_t)h;
            const size_t up = 0 - (size_t)(NAME(head)(c, a + i) <= NAME(head)(c, b + (d - 1 - i)));
            low[h] += up & (half + 1);
            n[h] = half - (up & (2 * half + 1 - n[h]));
        }
    memcpy(from, low, sizeof low);
    from[CHAINS] = n_a;
}

/* Chains read keys beyond their ends, which change nothing, but none of what follows the inputs. */
INLINE bool NAME(merge_all)(const struct NAME(coding) * c, const KEY *a, size_t n_a, const KEY *b,
                            size_t n_b, KEY *out)
{
    const KEY *a_end = a + n_a, *b_end = b + n_b;
    const size_t n = n_a + n_b, share = n / (CHAINS * NAME(W)) * NAME(W);
    size_t from[CHAINS + 1];
    struct NAME(chain) k[CHAINS];
    NAME(begin)(c, a, n_a, b, n_b, share, from);
    for (size_t h = 0; h < CHAINS; h++) {
        const size_t begin = share * h, end = h == CHAINS - 1 ? n : begin + share;
        /* Inputs that are not sorted may have boundaries in descending order. */
        const size_t from_a =
            from[h + 1] < from[h] ? 0 : echi_min(from[h + 1] - from[h], end - begin);
        k[h] = (struct NAME(chain)){ .a = a + from[h],
                                     .a_end = a + from[h] + from_a,
                                     .b = b + (begin - from[h]),
                                     .b_end = b + (end - from[h] - from_a),
                                     .out = out + begin,
                                     .out_end = out + end };
    }
    for (int h = 0; h < CHAINS; h++)
        if (NAME(begins_with_run)(c, &k[h])) NAME(copy_runs)(c, &k[h], false);
    for (;;) {
        size_t steps = STEPS * NAME(W);
        for (int h = 0; h < CHAINS; h++) {
            const size_t left = echi_min((size_t)(a_end - k[h].a), (size_t)(b_end - k[h].b));
            steps = echi_min(steps, echi_min(left, (size_t)(k[h].out_end - k[h].out)));
        }
        if (steps < NAME(W)) break;
        NAME(some_steps)(c, k, steps / NAME(W));
    }
    for (int h = 0; h < CHAINS; h++) NAME(finish)(c, &k[h]);
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
    c.flip = LANED(broadcast)((JOINED(LANE, _element))(KEY)order->flip);
    if (c.is_float) {
        c.is_float = true;
        c.sign = LANED(broadcast)((JOINED(LANE, _element))(KEY)order->sign);
        c.shift = LANED(broadcast)((JOINED(LANE, _element))(KEY)order->shift);
        return NAME(merge_all)(&c, a, n_a, b, n_b, out);
    }
    c.is_float = false;
    c.flip = LANED(broadcast)((JOINED(LANE, _element))(KEY)(order->sign ^ order->flip));
    return NAME(merge_all)(&c, a, n_a, b, n_b, out);
}

#undef NAME
#undef LANED
#undef KEY
#undef FROM
#undef LANE
