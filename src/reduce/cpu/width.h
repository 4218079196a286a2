/*
 * reduce/cpu/width.h - template: reductions that need only the order or the bits of an element.
 *
 *   FROM      u8 ... u64 (undefined at the end)
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#define NAME(x) JOINED(x##_, FROM)
#define KEY     JOINED(FROM, _element)
#include "cpu/predicate.h"

/* plain: not floats, whose negative values are inverted. */
INLINE KEY NAME(encoded)(const struct echi_order *o, KEY u, bool plain)
{
    if (plain) return (KEY)(u ^ (KEY)(o->sign ^ o->flip));
    KEY negative = (KEY)(0 - (u >> (8 * sizeof(KEY) - 1))) & (KEY)o->float_mask;
    return (KEY)((KEY)((KEY)(u ^ (negative | (KEY)o->sign)) - (KEY)o->shift) ^ (KEY)o->flip);
}

static void NAME(bits)(const struct echi_reduce_rule *rule, const void *in, const void *b, size_t n,
                       size_t rows, struct echi_value *value)
{
    const KEY *x = (const KEY *)in, first = (KEY)rule->first;
    (void)b;
    for (size_t row = 0; row < rows; row++, x += n) {
        KEY any = 0;
        if (rule->exclusive)
            for (size_t i = 0; i < n; i++) any ^= x[i];
        else
            for (size_t i = 0; i < n; i++) any |= x[i] ^ first;
        value[row].u = any;
    }
}

INLINE KEY NAME(greatest)(const struct echi_order *o, const KEY *x, size_t n, bool plain)
{
    KEY most = 0;
    SEVERAL_SUMS
    for (size_t i = 0; i < n; i++) {
        KEY e = NAME(encoded)(o, x[i], plain);
        most = e > most ? e : most;
    }
    return most;
}

#ifdef __AVX512F__
INLINE __m512i NAME(encoded_vector)(const struct echi_order *o, const KEY *x, bool plain)
{
    const __m512i sign = JOINED(all_, FROM)((KEY)o->sign), flip = JOINED(all_, FROM)((KEY)o->flip);
    const __m512i v = _mm512_loadu_si512(x);
    if (plain) return _mm512_xor_si512(v, _mm512_xor_si512(sign, flip));
    const __m512i turned = _mm512_or_si512(JOINED(negative_, FROM)(v), sign);
    const __m512i e = _mm512_xor_si512(v, turned), shift = JOINED(all_, FROM)((KEY)o->shift);
    return _mm512_xor_si512(JOINED(minus_, FROM)(e, shift), flip);
}

/* The maximum of at least a vector of keys.  The last vector may overlap. */
INLINE KEY NAME(greatest_lane)(const struct echi_order *o, const KEY *x, size_t n, bool plain)
{
    enum { W = VECTOR_BYTES / sizeof(KEY) };
    __m512i most[4];
    const size_t count = n / (4 * W), apart = stream_elements(n, W, sizeof(KEY));
    const size_t next = apart == W ? 4 * W : W;
    size_t i = 0;
    UNROLLED(j, 4) most[j] = _mm512_setzero_si512();
    for (size_t k = 0; k < count; k++, i += next) UNROLLED(j, 4)
        {
            const KEY *from = x + i + (size_t)j * apart;
            most[j] = JOINED(higher_, FROM)(most[j], NAME(encoded_vector)(o, from, plain));
        }
    i = 4 * W * count;
    for (; i < n; i += W) {
        const size_t at = i + W <= n ? i : n - W;
        most[0] = JOINED(higher_, FROM)(most[0], NAME(encoded_vector)(o, x + at, plain));
    }
    most[0] = JOINED(higher_, FROM)(most[0], most[1]);
    most[2] = JOINED(higher_, FROM)(most[2], most[3]);
    return JOINED(highest_, FROM)(JOINED(higher_, FROM)(most[0], most[2]));
}
#endif

INLINE KEY NAME(greatest_of)(const struct echi_order *o, const KEY *x, size_t n, bool plain)
{
#ifdef __AVX512F__
    if (n >= VECTOR_BYTES / sizeof(KEY)) {
        KEY bits;
        if (!plain && JOINED(extreme_, FROM)(x, n, o->flip != 0, &bits))
            return NAME(encoded)(o, bits, false);
        return NAME(greatest_lane)(o, x, n, plain);
    }
#endif
    return NAME(greatest)(o, x, n, plain);
}

static void NAME(max)(const struct echi_reduce_rule *rule, const void *in, const void *b, size_t n,
                      size_t rows, struct echi_value *value)
{
    const struct echi_order o = rule->order;
    const KEY *x = (const KEY *)in;
    (void)b;
    for (size_t row = 0; row < rows; row++, x += n)
        value[row].u =
            o.float_mask ? NAME(greatest_of)(&o, x, n, false) : NAME(greatest_of)(&o, x, n, true);
}

/* If NaN are ignored, replacing one by 0 does not change the maximum. */
INLINE void NAME(ends)(const struct echi_order *o, const KEY *x, size_t n, bool plain, bool ignore,
                       KEY limit, struct echi_value *value)
{
    KEY most = 0, least = (KEY) ~(KEY)0;
    for (size_t i = 0; i < n; i++) {
        KEY e = NAME(encoded)(o, x[i], plain), number = ignore ? (e <= limit ? e : 0) : e;
        most = number > most ? number : most;
        least = e < least ? e : least;
    }
    value->ends.least = least;
    value->ends.most = most;
}

static void NAME(minmax)(const struct echi_reduce_rule *rule, const void *in, const void *b,
                         size_t n, size_t rows, struct echi_value *value)
{
    const struct echi_order o = rule->order;
    const KEY *x = (const KEY *)in, limit = (KEY)rule->limit;
    (void)b;
    for (size_t row = 0; row < rows; row++, x += n)
        if (rule->ignore)
            NAME(ends)(&o, x, n, false, true, limit, value + row);
        else if (o.float_mask)
            NAME(ends)(&o, x, n, false, false, limit, value + row);
        else
            NAME(ends)(&o, x, n, true, false, limit, value + row);
}

INLINE KEY NAME(rank)(const struct echi_reduce_rule *rule, KEY u, bool plain)
{
    if (plain) return (KEY)(u ^ (KEY)(rule->order.sign ^ rule->flip));
    KEY e = NAME(merged)(&rule->order, u);
    KEY rank = (KEY)((e ^ (KEY)rule->flip) + (KEY)rule->add);
    return e == (KEY)rule->order.last ? (KEY)rule->special : rank;
}

/* The maximum rank of each line; then the position in the first line that has the overall
 * maximum. */
INLINE void NAME(place)(const struct echi_reduce_rule *rule, const KEY *x, size_t n, bool plain,
                        struct echi_value *value)
{
    enum { LINE = ECHI_LINE_BYTES / sizeof(KEY) };
    KEY best = (KEY)value->best.rank;
    bool none = value->best.at == UINT64_MAX;
    size_t line = n;
    for (size_t i = 0; i < n; i += LINE) {
        size_t here = n - i < LINE ? n - i : LINE;
        KEY most = 0;
        for (size_t j = 0; j < here; j++) {
            KEY rank = NAME(rank)(rule, x[i + j], plain);
            most = rank > most ? rank : most;
        }
        if (most > best || (none && line == n && most >= (KEY)rule->limit)) {
            best = most;
            line = i;
        }
    }
    if (line == n) return;
    while (NAME(rank)(rule, x[line], plain) != best) line++;
    value->best.rank = best;
    value->best.at = line;
}

static void NAME(arg)(const struct echi_reduce_rule *rule, const void *in, const void *b, size_t n,
                      size_t rows, struct echi_value *value)
{
    const struct echi_reduce_rule own = *rule;
    const KEY *x = (const KEY *)in;
    (void)b;
    for (size_t row = 0; row < rows; row++, x += n)
        if (own.order.float_mask)
            NAME(place)(&own, x, n, false, value + row);
        else
            NAME(place)(&own, x, n, true, value + row);
}

/* others: numbers that are not within the range. */
INLINE size_t NAME(within)(const struct echi_reduce_rule *rule, const KEY *x, size_t n, bool plain,
                           bool others)
{
    const KEY mask = (KEY)rule->mask, low = (KEY)rule->low, span = (KEY)rule->span;
    const KEY limit = (KEY)rule->limit;
    size_t in_range = 0;
    for (size_t i = 0; i < n; i += 128) { /* few enough for a counter of type KEY */
        size_t here = n - i < 128 ? n - i : 128;
        KEY some = 0;
        for (size_t j = 0; j < here; j++) {
            KEY e = NAME(encoded)(&rule->order, x[i + j], plain) & mask;
            const KEY within = (KEY)(e - low) <= span;
            some = (KEY)(some + (others ? (KEY)!within & (KEY)(e <= limit) : within));
        }
        in_range += some;
    }
    return in_range;
}

static void NAME(count)(const struct echi_reduce_rule *rule, const void *in, const void *b,
                        size_t n, size_t rows, struct echi_value *value)
{
    const struct echi_reduce_rule own = *rule;
    const KEY *x = (const KEY *)in;
    (void)b;
    for (size_t row = 0; row < rows; row++, x += n)
        value[row].u = own.ignore && own.invert ? NAME(within)(&own, x, n, false, true)
                       : own.order.float_mask   ? NAME(within)(&own, x, n, false, false)
                                                : NAME(within)(&own, x, n, true, false);
}

/* ---- Runs of equal keys ---- */

static size_t NAME(run_starts)(const struct echi_order *order, const void *keys, size_t from,
                               size_t to)
{
    const struct echi_order o = *order;
    const KEY *x = (const KEY *)keys;
    size_t count = 0;
    for (size_t i = from; i < to; i++)
        count += NAME(merged)(&o, x[i]) != NAME(merged)(&o, x[i - 1]);
    return count;
}

static size_t NAME(run_end)(const struct echi_order *order, const void *keys, size_t at, size_t n)
{
    const struct echi_order o = *order;
    const KEY *x = (const KEY *)keys;
    const KEY key = NAME(merged)(&o, x[at]);
    while (at < n && NAME(merged)(&o, x[at]) == key) at++;
    return at;
}

#undef NAME
#undef KEY
#undef FROM
