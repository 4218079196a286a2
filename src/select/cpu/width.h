/*
 * select/cpu/width.h - template: the kernels of selections of elements of one width, in the
 * instruction set that the including file is compiled for.
 *
 *   KEY            uint8_t ... uint64_t
 *   NAME(x)        x##_u8 ...
 *   KEEP_SOME      packs some of 64 elements: out, in, their bits
 *   KEEP_WHOLE     the same; may write up to 64 bytes past them, and reads all 64 elements
 *
 * A test writes bytes, in loops that vectorise, and bits_of_bytes() converts them to bits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/predicate.h"

#ifdef __AVX512BW__
/* The encoded form of a vector of elements that are merged; plain: of integers. */
static inline __m512i NAME(merged_vector)(const struct echi_order *o, __m512i v, bool plain)
{
    const __m512i sign = NAME(all)((KEY)o->sign);
    if (plain) return _mm512_xor_si512(v, sign);
    const __m512i turned = _mm512_or_si512(NAME(negative)(v), sign);
    __m512i e = NAME(minus)(_mm512_xor_si512(v, turned), NAME(all)((KEY)o->shift));
    if (o->merge) e = NAME(raised)(e, NAME(all)((KEY)o->zero));
    return _mm512_xor_si512(NAME(lower)(e, NAME(all)((KEY)o->last)), NAME(all)((KEY)o->flip));
}

/* Tests n elements, a multiple of 64. */
static inline void NAME(test_vectors)(const struct echi_predicate *p, const KEY *x, size_t n,
                                      bool plain, uint64_t *bits)
{
    enum { LANES = 64 / sizeof(KEY) };
    const __m512i mask = NAME(all)((KEY)p->mask), low = NAME(all)((KEY)p->low);
    const __m512i span = NAME(all)((KEY)p->span);
    const uint64_t others = p->invert ? ~(uint64_t)0 : 0;
    for (size_t i = 0; i < n; i += 64) {
        uint64_t passes = 0;
        ahead_of(x + i, 64 * sizeof(KEY));
        for (size_t k = 0; k < 64; k += LANES) {
            const __m512i v = _mm512_loadu_si512(x + i + k);
            const __m512i e = _mm512_and_si512(NAME(merged_vector)(&p->order, v, plain), mask);
            passes |= NAME(not_above)(NAME(minus)(e, low), span) << k;
        }
        bits[i / 64] = passes ^ others;
    }
}

/* Tests n elements, at most 64. */
static inline uint64_t NAME(test_rest)(const struct echi_predicate *p, const KEY *x, size_t n,
                                       bool plain)
{
    enum { LANES = 64 / sizeof(KEY) };
    const __m512i mask = NAME(all)((KEY)p->mask), low = NAME(all)((KEY)p->low);
    const __m512i span = NAME(all)((KEY)p->span);
    uint64_t passes = 0;
    for (size_t k = 0; k < n; k += LANES) {
        const __m512i v = NAME(loaded)(bits_below_few(n - k), x + k);
        const __m512i e = _mm512_and_si512(NAME(merged_vector)(&p->order, v, plain), mask);
        passes |= NAME(not_above)(NAME(minus)(e, low), span) << k;
    }
    return (passes ^ (p->invert ? ~(uint64_t)0 : 0)) & bits_below_few(n);
}

/* The elements before those of a vector; `before` is the previous vector.  From registers, because
 * elements that have just been written cannot be loaded across the ends of their stores. */
static inline __m512i NAME(previous)(__m512i v, __m512i before)
{
    return _mm512_alignr_epi8(v, _mm512_alignr_epi64(v, before, 6), 16 - sizeof(KEY));
}

/* Which of n elements, at most 64, differ from the previous one in their bits. */
static inline uint64_t NAME(rest_unequal)(const KEY *own, size_t n, bool first)
{
    enum { LANES = 64 / sizeof(KEY) };
    __m512i before = first ? _mm512_setzero_si512() : NAME(all)(own[-1]);
    uint64_t bits = 0;
    for (size_t k = 0; k < n; k += LANES) {
        const __m512i v = NAME(loaded)(bits_below_few(n - k), own + k);
        bits |= NAME(unequal)(v, NAME(previous)(v, before)) << k;
        before = v;
    }
    return bits & bits_below_few(n);
}

/* The same, and which are a float 0 or NaN. */
static inline uint64_t NAME(rest_differing)(const KEY *own, size_t n, bool first, uint64_t *special)
{
    enum { LANES = 64 / sizeof(KEY) };
    const KEY from = sizeof(KEY) == 8   ? (KEY)0xffe0000000000000
                     : sizeof(KEY) == 4 ? (KEY)0xff000000
                                        : (KEY)0xf800; /* as zeros_and_nans_u16 ... */
    __m512i before = first ? _mm512_setzero_si512() : NAME(all)(own[-1]);
    uint64_t bits = 0;
    *special = 0;
    for (size_t k = 0; k < n; k += LANES) {
        const __m512i v = NAME(loaded)(bits_below_few(n - k), own + k);
        const __m512i twice = NAME(minus)(v, NAME(minus)(NAME(all)(1), v)); /* minus 1 */
        bits |= NAME(unequal)(v, NAME(previous)(v, before)) << k;
        *special |= NAME(not_above)(NAME(all)(from), twice) << k;
        before = v;
    }
    return bits & bits_below_few(n);
}

/* Which of n floats, at most 64, differ from the previous one: a zero and a NaN may be equal to one
 * with other bits. */
NOINLINE static uint64_t NAME(merged_starts)(const struct echi_order *o, const KEY *own, size_t n,
                                             bool first)
{
    enum { LANES = 64 / sizeof(KEY) };
    __m512i before = first ? _mm512_setzero_si512() : NAME(all)(own[-1]);
    uint64_t bits = 0;
    for (size_t k = 0; k < n; k += LANES) {
        const __m512i v = NAME(loaded)(bits_below_few(n - k), own + k);
        bits |= NAME(unequal)(NAME(merged_vector)(o, v, false),
                              NAME(merged_vector)(o, NAME(previous)(v, before), false))
                << k;
        before = v;
    }
    return (bits & bits_below_few(n)) | first;
}

/* Which of n elements, at most 64, differ from the previous one. */
static inline uint64_t NAME(rest_starts)(const struct echi_order *o, const KEY *own, size_t n,
                                         bool first)
{
    uint64_t special;
    if (!o->float_mask) return NAME(rest_unequal)(own, n, first) | first;
    const uint64_t bits = NAME(rest_differing)(own, n, first, &special);
    if (bits & special & (special << 1 | !first)) return NAME(merged_starts)(o, own, n, first);
    return bits | first;
}
#endif

static void NAME(test)(const struct echi_predicate *p, const void *in, size_t n, uint64_t *bits)
{
    const struct echi_predicate test = *p; /* a copy: stores of bytes cannot alias it */
    const KEY *x = in, mask = (KEY)test.mask, low = (KEY)test.low, span = (KEY)test.span;
    const KEY sign = (KEY)test.order.sign;
    uint8_t passes[64], invert = (uint8_t)test.invert;
    size_t i = 0;
#ifdef __AVX512BW__
    i = n / 64 * 64;
    if (test.order.float_mask)
        NAME(test_vectors)(&test, x, i, false, bits);
    else
        NAME(test_vectors)(&test, x, i, true, bits);
    if (i < n && test.order.float_mask)
        bits[i / 64] = NAME(test_rest)(&test, x + i, n - i, false);
    else if (i < n)
        bits[i / 64] = NAME(test_rest)(&test, x + i, n - i, true);
    i = n;
#endif
    for (; i < n; i += 64) {
        size_t here = echi_min(64, n - i);
        ahead_of(x + i, 64 * sizeof(KEY));
        if (test.order.float_mask)
            for (size_t k = 0; k < here; k++) passes[k] = NAME(passes)(&test, x[i + k]);
        else if (here == 64) /* the encoding of integers only flips the sign */
            for (size_t k = 0; k < 64; k++)
                passes[k] = (uint8_t)(((KEY)(((x[i + k] ^ sign) & mask) - low) <= span) ^ invert);
        else
            for (size_t k = 0; k < here; k++)
                passes[k] = (uint8_t)(((KEY)(((x[i + k] ^ sign) & mask) - low) <= span) ^ invert);
        bits[i / 64] = bits_of_bytes(passes, here);
    }
}

/* Computes which of 64 elements differ from the previous one, and returns true, if the instruction
 * set has a faster way than bytes, and only bits decide: two adjacent floats that differ are not
 * both 0 or NaN. */
static inline bool NAME(start_bits)(const struct echi_order *order, const KEY *own, uint64_t *bits)
{
#ifdef __AVX512BW__
    *bits = NAME(differing)(own);
    if (!order->float_mask) return true;
    const uint64_t special = NAME(zeros_and_nans)(own); /* or infinity */
    return (*bits & special & (special << 1 | 1)) == 0;
#else
    (void)order;
    (void)own;
    (void)bits;
    return false;
#endif
}

/* Which of at most 64 elements differ from the previous one, by bytes. */
static inline uint64_t NAME(bytes_starts)(const struct echi_order *order, const KEY *own, size_t n,
                                          bool first)
{
    uint8_t differs[64];
    differs[0] = 1;
    if (order->float_mask)
        for (size_t k = first; k < n; k++)
            differs[k] = NAME(merged)(order, own[k]) != NAME(merged)(order, own[k - 1]);
    else if (n == 64 && !first)
        for (size_t k = 0; k < 64; k++) differs[k] = own[k] != own[k - 1];
    else
        for (size_t k = first; k < n; k++) differs[k] = own[k] != own[k - 1];
    return bits_of_bytes(differs, n);
}

static void NAME(starts)(const struct echi_order *o, const void *in, size_t n, bool first,
                         uint64_t *bits)
{
    const struct echi_order order = *o;
    const KEY *x = in;
    for (size_t i = 0; i < n; i += 64) {
        const size_t here = echi_min(64, n - i);
        const bool none_before = first && i == 0;
        ahead_of(x + i, 64 * sizeof(KEY));
        if (here == 64 && !none_before && NAME(start_bits)(&order, x + i, &bits[i / 64])) continue;
#ifdef __AVX512BW__
        if (here < 64 || none_before) {
            bits[i / 64] = NAME(rest_starts)(&order, x + i, here, none_before);
            continue;
        }
#endif
        bits[i / 64] = NAME(bytes_starts)(&order, x + i, here, none_before);
    }
}

static void NAME(keep)(void *out, const void *in, const uint64_t *bits, size_t n)
{
    const size_t words = (n + 63) / 64;
    const char *from = in;
    char *to = out;
    size_t whole = words, after = 0; /* at least a vector is written after `whole` words */
    while (whole && after < 64 / sizeof(KEY)) after += (size_t)__builtin_popcountll(bits[--whole]);
    for (size_t w = 0; w < words; w++, from += 64 * sizeof(KEY)) {
        const uint64_t kept = bits[w];
        ahead_of(from, 64 * sizeof(KEY));
        if (kept == ~(uint64_t)0) {
            ahead_of(to, 64 * sizeof(KEY));
            memcpy(to, from, 64 * sizeof(KEY));
        } else if (w < whole)
            KEEP_WHOLE(to, from, kept);
        else if (kept)
            KEEP_SOME(to, from, kept);
        to += (size_t)__builtin_popcountll(kept) * sizeof(KEY);
    }
}

/* Which of at most 64 elements are selected. */
static inline uint64_t NAME(few_bits)(const struct echi_select *s, size_t n)
{
    const KEY *x = s->in;
    if (s->by == ECHI_BY_BYTES) return bits_of_bytes(s->flags, n);
#ifdef __AVX512BW__
    const struct echi_predicate *p = &s->test[0];
    if (s->by == ECHI_BY_STARTS) return NAME(rest_starts)(&p->order, x, n, true);
    return p->order.float_mask ? NAME(test_rest)(p, x, n, false) : NAME(test_rest)(p, x, n, true);
#else
    uint64_t bits;
    if (s->by == ECHI_BY_TEST)
        NAME(test)(&s->test[0], x, n, &bits);
    else
        NAME(starts)(&s->test[0].order, x, n, true, &bits);
    return bits;
#endif
}

static void NAME(few)(const struct echi_select *s)
{
    const size_t n = s->n;
    const char *in = s->in;
    char *out = s->out;
    const uint64_t all = bits_below(n), others = s->invert ? all : 0;
    const uint64_t kept = (NAME(few_bits)(s, n) & all) ^ others;
    const size_t count = (size_t)__builtin_popcountll(kept);
    KEEP_SOME(out, in, kept);
    *s->count = count;
    if (s->what == ECHI_PARTITION) KEEP_SOME(out + count * sizeof(KEY), in, kept ^ all);
    if (s->lengths) lengths_of_few(s->lengths, kept, n);
}

static size_t NAME(keep_flagged)(void *out, const void *in, const uint8_t *flags, size_t n,
                                 bool invert)
{
    const uint64_t others = invert ? ~(uint64_t)0 : 0;
    const char *from = in;
    char *to = out;
    for (size_t i = 0; i < n; i += 64, from += 64 * sizeof(KEY)) {
        const uint64_t kept = bits_of_bytes(flags + i, 64) ^ others;
        ahead_of(flags + i, 64);
        ahead_of(from, 64 * sizeof(KEY));
        ahead_of(to, 32 * sizeof(KEY));
        KEEP_WHOLE(to, from, kept);
        to += (size_t)__builtin_popcountll(kept) * sizeof(KEY);
    }
    return (size_t)(to - (char *)out) / sizeof(KEY);
}

/* ---- Decoding ---- */

/* Stores copies of the element at `from`, which need not be aligned. */
static inline void NAME(store_copies)(char *to, const char *from)
{
    typedef KEY keys __attribute__((vector_size(DECODE_BYTES)));
    KEY key;
    memcpy(&key, from, sizeof key);
    const keys copies = (keys){ 0 } + key;
    memcpy(to, &copies, sizeof copies);
}

#ifdef __AVX512BW__
/* Stores n copies, at most as many as DECODE_BYTES hold. */
static inline void NAME(store_some)(char *to, const char *from, size_t n)
{
    KEY key;
    memcpy(&key, from, sizeof key);
    const __m256i copies = _mm512_castsi512_si256(NAME(all)(key));
    const uint64_t there = bits_below_few(n);
    if (sizeof key == 1)
        _mm256_mask_storeu_epi8(to, (__mmask32)there, copies);
    else if (sizeof key == 2)
        _mm256_mask_storeu_epi16(to, (__mmask16)there, copies);
    else if (sizeof key == 4)
        _mm256_mask_storeu_epi32(to, (__mmask8)there, copies);
    else
        _mm256_mask_storeu_epi64(to, (__mmask8)there, copies);
}
#endif

static void NAME(decode)(char *to, const char *end, const void *elements, const uint64_t *lengths,
                         size_t runs, uint64_t first)
{
    const uint64_t *lengths_end = lengths + runs;
    const char *in = elements;
    int wait = 0; /* short runs until single elements are copied together again */
    for (uint64_t n = first;; n = *++lengths, in += sizeof(KEY)) {
        if (n == 1 && wait <= 0) {
            while (lengths_end - lengths > DECODE_SINGLES && single_runs(lengths) &&
                   end - to > (ptrdiff_t)(DECODE_SINGLES * sizeof(KEY))) {
                memcpy(to, in, DECODE_SINGLES * sizeof(KEY));
                to += DECODE_SINGLES * sizeof(KEY);
                in += DECODE_SINGLES * sizeof(KEY);
                lengths += DECODE_SINGLES;
                n = *lengths; /* unlike the first length, which may be that of a part of a run */
            }
            wait = DECODE_WAIT;
        } else if (wait <= 0) {
            wait = DECODE_SHORT_WAIT;
        }
        /* a short run is one wide store, which later runs overwrite in part */
        for (; n <= DECODE_BYTES / sizeof(KEY) && end - to > DECODE_BYTES && wait-- > 0;
             in += sizeof(KEY)) {
            NAME(store_copies)(to, in);
            to += n * sizeof(KEY);
            n = *++lengths;
        }
        const size_t left = (size_t)(end - to);
        const size_t size = n > left / sizeof(KEY) ? left : (size_t)n * sizeof(KEY);
        if (size <= DECODE_BYTES && left >= DECODE_BYTES) {
            NAME(store_copies)(to, in);
        } else if (size > DECODE_BYTES) {
            for (size_t k = 0; k + DECODE_BYTES < size; k += DECODE_BYTES)
                NAME(store_copies)(to + k, in);
            NAME(store_copies)(to + size - DECODE_BYTES, in);
        } else {
            for (size_t k = 0; k < size; k += sizeof(KEY)) memcpy(to + k, in, sizeof(KEY));
        }
        to += size;
        if (to == end) return;
    }
}

static const struct echi_select_width NAME(width) = {
    NAME(test), NAME(starts), NAME(keep), NAME(few), NAME(keep_flagged), NAME(decode)
};

#include "select/cpu/calls.h"

#undef KEEP_SOME
#undef KEEP_WHOLE
#undef NAME
#undef KEY
