/*
 * topk/cpu/width.h - template: the kernels of a top-k selection for one key width.
 *
 *   FROM      u8 ... u64 (undefined at the end)
 *
 * Comparisons result in the bits of 64 keys.  Keys after the last one are read,
 * but have no effect.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#define NAME(x) JOINED(x##_, FROM)
#define KEY     JOINED(FROM, _element)
#include "cpu/predicate.h"

INLINE KEY NAME(form)(const struct echi_order *o, KEY u)
{
    return o->float_mask ? NAME(merged)(o, u) : (KEY)(u ^ (KEY)(o->sign ^ o->flip));
}

INLINE KEY NAME(encode_all)(const struct echi_order *order, const KEY *restrict x, size_t stride,
                            size_t n, KEY *restrict e)
{
    const struct echi_order o = *order; /* a copy, which stores cannot alias */
    KEY least = (KEY)-1;
    for (size_t i = 0; i < n; i++) {
        const KEY own = NAME(form)(&o, x[i * stride]);
        e[i] = own;
        least = own < least ? own : least;
    }
    return least;
}

static uint64_t NAME(encode)(const struct echi_order *order, const void *keys, size_t stride,
                             size_t n, void *e)
{
    if (stride != 1) return NAME(encode_all)(order, keys, stride, n, e);
    return NAME(encode_all)(order, keys, 1, n, e);
}

static void NAME(sample)(const struct echi_order *order, const void *keys, size_t stride, size_t n,
                         void *e, size_t count)
{
    const KEY *x = keys;
    KEY *to = e;
    for (size_t i = 0; i < count; i++)
        to[i] = NAME(form)(order, x[sample_at(i, n / count) * stride]);
}

/* The bits of 64 keys, of which `there` exist, that pass the bound.  Counts ties down. */
INLINE uint64_t NAME(passing)(const KEY *e, uint64_t there, KEY limit, size_t *ties)
{
    uint64_t bits = NAME(at_most)(e, limit) & there;
    if (*ties == SIZE_MAX) return bits;
    const uint64_t less = limit ? NAME(at_most)(e, (KEY)(limit - 1)) & there : 0;
    const size_t equal = (size_t)__builtin_popcountll(bits ^ less);
    if (*ties == 0) return less;
    for (size_t count = equal; count > *ties; count--) /* the last one does not pass */
        bits ^= (uint64_t)1 << (63 - __builtin_clzll(bits ^ less));
    *ties -= equal < *ties ? equal : *ties;
    return bits;
}

static size_t NAME(collect)(struct echi_bound *bound, const void *keys, const uint64_t *positions,
                            uint64_t first, size_t n, void *e_out, uint64_t *positions_out)
{
    enum { FEW = 12 }; /* keys that are moved in less time one by one */
    const KEY *e = keys, limit = (KEY)bound->limit;
    KEY *to = e_out;
    size_t count = 0, ties = bound->ties;
    for (size_t i = 0; i < n; i += 64) {
        uint64_t bits = NAME(passing)(e + i, low_bits(n - i), limit, &ties);
        if (__builtin_popcountll(bits) > FEW) {
            NAME(keep_some)((char *)(to + count), (const char *)(e + i), bits);
            if (positions)
                keep_some_u64((char *)(positions_out + count), (const char *)(positions + i), bits);
            else
                positions_some(positions_out + count, first + i, bits);
            count += (size_t)__builtin_popcountll(bits);
            continue;
        }
        for (; bits; bits &= bits - 1) {
            const size_t at = i + (size_t)__builtin_ctzll(bits);
            to[count] = e[at];
            positions_out[count++] = positions ? positions[at] : first + at;
        }
    }
    bound->ties = ties;
    return count;
}

/* The number of keys that are at most v, of 64 and of n. */
INLINE size_t NAME(count_block)(const KEY *e, uint64_t there, KEY v)
{
    return (size_t)__builtin_popcountll(NAME(at_most)(e, v) & there);
}

INLINE size_t NAME(count)(const KEY *e, size_t n, KEY v)
{
    size_t count = 0, i = 0;
#ifdef __AVX512F__
    if (sizeof(KEY) >= 4) {
        count = sizeof(KEY) == 4 ? count_lanes_32(e, n / 64, (uint32_t)v)
                                 : count_lanes_64(e, n / 64, (uint64_t)v);
        i = n / 64 * 64;
    }
#endif
    for (; i + 64 <= n; i += 64) count += NAME(count_block)(e + i, ~(uint64_t)0, v);
    return i < n ? count + NAME(count_block)(e + i, low_bits(n - i), v) : count;
}

/* The minimum and the maximum of n keys, compared with those that are given. */
INLINE void NAME(range)(const KEY *e, size_t n, KEY *low, KEY *high)
{
    KEY least = *low, most = *high;
    for (size_t i = 0; i < n; i++) {
        least = e[i] < least ? e[i] : least;
        most = e[i] > most ? e[i] : most;
    }
    *low = least;
    *high = most;
}

static void NAME(tally)(const void *e, size_t n, uint64_t low, uint64_t high, size_t counts[4])
{
    const KEY *x = e, l = (KEY)low, h = (KEY)high;
    memset(counts, 0, 4 * sizeof *counts);
    for (size_t i = 0; i < n; i += 64) {
        const uint64_t there = low_bits(n - i);
        counts[0] += l ? NAME(count_block)(x + i, there, (KEY)(l - 1)) : 0;
        counts[1] += NAME(count_block)(x + i, there, l);
        counts[2] += h ? NAME(count_block)(x + i, there, (KEY)(h - 1)) : 0;
        counts[3] += NAME(count_block)(x + i, there, h);
    }
}

/* Copies the keys from low to high, inclusive, to an array that may be their own; returns their
 * number. */
INLINE size_t NAME(between)(const KEY *x, size_t n, uint64_t low, uint64_t high, KEY *to)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i += 64) {
        const uint64_t below = low ? NAME(at_most)(x + i, (KEY)(low - 1)) : 0;
        const uint64_t bits = NAME(at_most)(x + i, (KEY)high) & ~below & low_bits(n - i);
        if (bits) NAME(keep_some)((char *)(to + count), (const char *)(x + i), bits);
        count += (size_t)__builtin_popcountll(bits);
    }
    return count;
}

static size_t NAME(narrow)(const void *e, size_t n, uint64_t low, uint64_t high, void *to)
{
    return NAME(between)(e, n, low, high, to);
}

/* The minimum and the maximum of the keys from *low to *high, of which there is at least one. */
INLINE void NAME(tighten)(const KEY *e, size_t n, KEY *low, KEY *high)
{
    const KEY first = *low, last = *high;
    KEY least = (KEY)-1, most = 0;
    for (size_t i = 0; i < n; i++) {
        const KEY above = (KEY)(e[i] | (KEY)(0 - (KEY)(e[i] < first)));
        const KEY below = (KEY)(e[i] & (KEY)(0 - (KEY)(e[i] <= last)));
        least = above < least ? above : least;
        most = below > most ? below : most;
    }
    *low = least;
    *high = most;
}

static struct echi_bound NAME(bisect)(const void *e, size_t n, size_t k, size_t most);

/* The same, if there are `inside` keys from low to high, which are copied. */
static NOINLINE struct echi_bound NAME(bisect_inside)(const KEY *x, size_t n, size_t k, size_t most,
                                                      KEY low, KEY high, size_t inside)
{
    KEY some[INSIDE] = { 0 };
    NAME(between)(x, n, low, high, some);
    return NAME(bisect)(some, inside, k, most);
}

static struct echi_bound NAME(bisect)(const void *e, size_t n, size_t k, size_t most)
{
    enum {
        FEW = 64,
        MANY = 4 * FEW,
        SLOW = 5, /* steps: uniform keys do not need more */
        STEPS = 8 /* then the interval is that of its keys: few distinct ones may be left */
    };
    const KEY *x = e;
    KEY few[FEW], low = (KEY)-1, high = 0; /* the k-th key is between them */
    size_t less = 0, upto = n;             /* keys that are less than low; that are at most high */
    NAME(range)(x, n & ~(size_t)63, &low, &high);
    if (n < 64)
        NAME(range)(x, n, &low, &high);
    else
        NAME(range)(x + n - 64, 64, &low, &high);
    for (int step = 1; low < high; step++) {
        if (upto - less <= FEW && n > MANY) { /* the other keys are not read again */
            memset(few, 0, sizeof few);
            NAME(between)(x, n, low, high, few);
            return NAME(bisect)(few, upto - less, k - less, most - less);
        }
        if (step > SLOW && upto - less <= INSIDE && n > 3 * INSIDE)
            return NAME(bisect_inside)(x, n, k - less, most - less, low, high, upto - less);
        if (step % STEPS == 0) NAME(tighten)(x, n, &low, &high);
        const KEY middle = (KEY)(low + (high - low) / 2);
        const size_t count = NAME(count)(x, n, middle);
        const bool below = count < k;
        if (count - k <= most - k) return (struct echi_bound){ middle, SIZE_MAX };
        low = below ? (KEY)(middle + 1) : low;
        high = below ? high : middle;
        less = below ? count : less;
        upto = below ? upto : count;
    }
    return (struct echi_bound){ low, k - less };
}

/* The k-th of the minima of 64 groups, or one of the next: at least k keys pass it, and few more if
 * the smallest keys are in different groups. */
static bool NAME(guess)(const void *e, size_t n, size_t k, size_t most, struct echi_bound *bound)
{
    enum { GROUPS = 64 };
    const KEY *x = e;
    KEY minima[GROUPS];
    size_t i = GROUPS;
    memcpy(minima, x, sizeof minima);
    for (; i + GROUPS <= n; i += GROUPS)
        for (size_t j = 0; j < GROUPS; j++) minima[j] = x[i + j] < minima[j] ? x[i + j] : minima[j];
    for (size_t j = 0; i + j < n; j++) minima[j] = x[i + j] < minima[j] ? x[i + j] : minima[j];
    const KEY limit = (KEY)NAME(bisect)(minima, GROUPS, k, k + k / 4).limit;
    *bound = (struct echi_bound){ limit, SIZE_MAX };
    if (NAME(count)(x, n, limit) <= most) return true;
    const size_t less = limit ? NAME(count)(x, n, (KEY)(limit - 1)) : 0;
    bound->ties = k - less;
    return less < k;
}

/* No branch depends on the keys.  If k keys are at most key i, its rank is the highest free one
 * below k: equal keys take ranks in descending order. */
static void NAME(sort)(const void *keys, const uint64_t *positions, size_t n, uint64_t *out)
{
    const KEY *e = keys;
    uint64_t free = low_bits(n);
    for (size_t i = n; i-- > 0;) {
        const size_t k = (size_t)__builtin_popcountll(NAME(at_most)(e, e[i]) & low_bits(n));
        const int rank = 63 - __builtin_clzll(free & low_bits(k));
        free ^= (uint64_t)1 << rank;
        out[rank] = positions[i];
    }
}

static const struct echi_topk_width NAME(width) = {
    .encode = NAME(encode),
    .sample = NAME(sample),
    .collect = NAME(collect),
    .tally = NAME(tally),
    .narrow = NAME(narrow),
    .bisect = NAME(bisect),
    .guess = NAME(guess),
    .sort = NAME(sort),
};

#undef NAME
#undef KEY
#undef FROM
