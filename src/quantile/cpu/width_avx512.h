/*
 * quantile/cpu/width_avx512.h - template: the selection and the partition with AVX-512, of elements
 * of 8 and 16 bits with VBMI2; part of width.h.
 *
 *   MASK  __mmask8 ... __mmask64, a bit per element of a vector
 *
 *     vector    3 9 1 7 5 8 2 6   bound 5
 *     left  <-  3 1 2 . . . . .   whole vectors are stored, and the next one overwrites what is not
 *     right <-  9 7 8 6 . . . .   needed; near the end of a part, only the needed lanes
 *
 * SPDX-License-Identifier: Apache-2.0
 */

enum { NAME(W) = 64 / sizeof(KEY) };

/* The bits of all lanes. */
#define ALL_LANES low_bits(NAME(W))

INLINE vec NAME(load)(const KEY *x, uint64_t there)
{
    if (there == ALL_LANES) return _mm512_loadu_si512(x);
    return JOINED(load_some_, FROM)(x, (MASK)there, _mm512_setzero_si512());
}

/* The merged keys of a vector.  plain: integers. */
INLINE vec NAME(keys)(const struct echi_order *o, vec x, bool plain)
{
    const vec sign = JOINED(broadcast_, FROM)((KEY)o->sign);
    if (plain) return _mm512_xor_si512(x, sign);
    const vec zero = JOINED(broadcast_, FROM)((KEY)o->zero);
    vec e = _mm512_xor_si512(x, _mm512_or_si512(JOINED(sign_bits_, FROM)(x), sign));
    e = JOINED(subtract_, FROM)(e, JOINED(broadcast_, FROM)((KEY)o->shift));
    const uint64_t zeros = JOINED(less_equal_, FROM)(e, zero) & ~JOINED(less_, FROM)(e, zero);
    e = JOINED(blend_, FROM)((MASK)zeros, e, JOINED(broadcast_, FROM)((KEY)(o->zero + o->merge)));
    return JOINED(min_, FROM)(e, JOINED(broadcast_, FROM)((KEY)o->last));
}

/* ---- Selection ---- */

/* Lists the keys of the lanes `there` that are between the pivots; returns their number. */
INLINE size_t NAME(sift_some)(const struct echi_order *o, const KEY *x, uint64_t there, vec low,
                              vec high, KEY *list, uint64_t counts[4], bool plain, bool exact)
{
    const vec e = NAME(keys)(o, NAME(load)(x, there), plain);
    const uint64_t most = JOINED(less_equal_, FROM)(e, low) & there;
    const uint64_t below = JOINED(less_, FROM)(e, high) & there;
    counts[1] += ones(most);
    if (exact) {
        counts[0] += ones(JOINED(less_, FROM)(e, low) & there);
        counts[2] += ones(below);
        counts[3] += ones(JOINED(less_equal_, FROM)(e, high) & there);
    }
    _mm512_storeu_si512(list, JOINED(compress_, FROM)((MASK)(below & ~most), e));
    return ones(below & ~most);
}

INLINE size_t NAME(sift_all)(const struct echi_order *order, const KEY *x, size_t n,
                             const struct echi_quantile_pivots *pivots, KEY *list,
                             uint64_t counts[4], bool plain, bool exact)
{
    const struct echi_order o = *order;
    const vec low = JOINED(broadcast_, FROM)((KEY)pivots->low);
    const vec high = JOINED(broadcast_, FROM)((KEY)pivots->high);
    uint64_t sums[4] = { 0 };
    KEY *to = list;
    size_t i = 0;
    for (; i + NAME(W) <= n; i += NAME(W))
        to += NAME(sift_some)(&o, x + i, ALL_LANES, low, high, to, sums, plain, exact);
    if (i < n) to += NAME(sift_some)(&o, x + i, low_bits(n - i), low, high, to, sums, plain, exact);
    for (int k = 0; k < 4; k++) counts[k] += sums[k];
    return (size_t)(to - list);
}

static size_t NAME(sift)(const struct echi_order *order, const void *x, size_t n,
                         const struct echi_quantile_pivots *pivots, void *list, uint64_t counts[4])
{
    const bool exact = pivots->exact;
    if (sizeof(KEY) > 1 && order->float_mask)
        return exact ? NAME(sift_all)(order, x, n, pivots, list, counts, false, true)
                     : NAME(sift_all)(order, x, n, pivots, list, counts, false, false);
    return exact ? NAME(sift_all)(order, x, n, pivots, list, counts, true, true)
                 : NAME(sift_all)(order, x, n, pivots, list, counts, true, false);
}

/* ---- Partitions ---- */

/* Writes the elements of some lanes of the vector x, which begins at position `at`, to part k. */
INLINE void NAME(keep)(const struct echi_quantile *s, const struct echi_quantile_places *places,
                       size_t k, size_t at, vec x, uint64_t lanes, int index_bytes)
{
    const uint64_t to = places->to[k], count = ones(lanes);
    if (s->out) {
        KEY *out = (KEY *)s->out + to;
        if (to + NAME(W) <= places->end[k])
            _mm512_storeu_si512(out, JOINED(compress_, FROM)((MASK)lanes, x));
        else
            JOINED(store_some_, FROM)
        (out, (MASK)low_bits(count), JOINED(compress_, FROM)((MASK)lanes, x));
    }
    if (index_bytes == 4) positions32_some((uint32_t *)s->index + to, at, lanes);
    if (index_bytes == 8) positions_some((uint64_t *)s->index + to, at, lanes);
    places->to[k] = to + count;
}

/* Moves the elements of the lanes `there` from position i on. */
INLINE void NAME(move_some)(const struct echi_quantile_job *job, size_t i, uint64_t there,
                            const struct echi_quantile_places *places, size_t bounds, bool plain,
                            int index_bytes)
{
    const struct echi_quantile *s = job->request;
    const vec x = NAME(load)((const KEY *)s->in + i, there), e = NAME(keys)(&s->order, x, plain);
    uint64_t moved = 0;
    for (size_t k = 0; k < bounds; k++) {
        const vec key = JOINED(broadcast_, FROM)((KEY)job->bounds[k].key);
        const uint64_t less = mask_bits(JOINED(less_, FROM)(e, key)) & there;
        uint64_t own = 0, lanes = less;
        if (places->seen[k] <= job->bounds[k].tie) { /* no branch on whether there is one: they may
                                                        be frequent */
            const uint64_t most = mask_bits(JOINED(less_equal_, FROM)(e, key)) & there;
            lanes = bits_before(&job->bounds[k], less, most ^ less, &places->seen[k], &own);
            if (own) NAME(store)(s, (size_t)s->ranks[k], i + (size_t)__builtin_ctzll(own));
        }
        NAME(keep)(s, places, k, i, x, lanes & ~moved, index_bytes);
        moved |= lanes | own;
    }
    NAME(keep)(s, places, bounds, i, x, there & ~moved, index_bytes);
}

/* Moves whole vectors around one bound, until it is reached or whole vectors do not fit into the
 * rest of a part.  passed: the bound was before.  Returns the position of the next element. */
INLINE size_t NAME(split_some)(const struct echi_quantile_job *job, size_t from, size_t to,
                               const struct echi_quantile_places *places, bool plain, bool passed)
{
    const struct echi_order o = job->request->order;
    const struct echi_quantile_bound bound = job->bounds[0];
    const vec key = JOINED(broadcast_, FROM)((KEY)bound.key);
    const KEY *x = (const KEY *)job->request->in + from, *end = x + (to - from);
    KEY *out = job->request->out, *left = out + places->to[0], *right = out + places->to[1];
    const KEY *left_end = out + places->end[0], *right_end = out + places->end[1];
    uint64_t seen = places->seen[0];
    for (; end - x >= NAME(W) && left_end - left >= NAME(W) && right_end - right >= NAME(W);
         x += NAME(W)) {
        const vec v = _mm512_loadu_si512(x), e = NAME(keys)(&o, v, plain);
        uint64_t lanes = JOINED(less_, FROM)(e, key);
        if (!passed) {
            const uint64_t most = JOINED(less_equal_, FROM)(e, key);
            seen += ones(lanes ^ most);
            if (seen > bound.tie) {
                seen -= ones(lanes ^ most);
                break;
            }
            lanes = most;
        }
        const size_t count = ones(lanes);
        _mm512_storeu_si512(left, JOINED(compress_, FROM)((MASK)lanes, v));
        _mm512_storeu_si512(right, JOINED(compress_, FROM)((MASK)~lanes, v));
        left += count;
        right += NAME(W) - count;
    }
    places->to[0] = (uint64_t)(left - out);
    places->to[1] = (uint64_t)(right - out);
    places->seen[0] = seen;
    return to - (size_t)(end - x);
}

/* Moves elements, without positions, around one bound. */
INLINE void NAME(split)(const struct echi_quantile_job *job, size_t from, size_t to,
                        const struct echi_quantile_places *places, bool plain)
{
    for (size_t i = from; i < to; i += NAME(W)) {
        const bool passed = places->seen[0] > job->bounds[0].tie;
        i = passed ? NAME(split_some)(job, i, to, places, plain, true)
                   : NAME(split_some)(job, i, to, places, plain, false);
        const size_t rest = echi_min(to - i, NAME(W));
        NAME(move_some)(job, i, low_bits(rest), places, 1, plain, 0);
    }
}

INLINE void NAME(move_all)(const struct echi_quantile_job *job, size_t from, size_t to,
                           const struct echi_quantile_places *places, size_t bounds, bool plain,
                           int index_bytes)
{
    size_t i = from;
    for (; i + NAME(W) <= to; i += NAME(W))
        NAME(move_some)(job, i, ALL_LANES, places, bounds, plain, index_bytes);
    if (i < to) NAME(move_some)(job, i, low_bits(to - i), places, bounds, plain, index_bytes);
}

static void NAME(move)(const struct echi_quantile_job *job, size_t from, size_t to,
                       const struct echi_quantile_places *places)
{
    const struct echi_quantile *s = job->request;
    const int bytes = s->index ? s->index_bytes : 0;
    const bool plain = sizeof(KEY) == 1 || !s->order.float_mask;
    if (s->count == 1 && bytes == 0 && plain)
        NAME(split)(job, from, to, places, true);
    else if (s->count == 1 && bytes == 0)
        NAME(split)(job, from, to, places, false);
    else
        NAME(move_all)(job, from, to, places, s->count, plain, bytes);
}

#undef ALL_LANES
