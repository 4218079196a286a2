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

static void NAME(test)(const struct echi_predicate *p, const void *in, size_t n, uint64_t *bits)
{
    const struct echi_predicate test = *p; /* a copy: stores of bytes cannot alias it */
    const KEY *x = in, mask = (KEY)test.mask, low = (KEY)test.low, span = (KEY)test.span;
    const KEY sign = (KEY)test.order.sign;
    uint8_t passes[64], invert = (uint8_t)test.invert;
    for (size_t i = 0; i < n; i += 64) {
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

static void NAME(starts)(const struct echi_order *o, const void *in, size_t n, uint64_t *bits)
{
    const struct echi_order order = *o;
    const KEY *x = in;
    uint8_t differs[64];
    for (size_t i = 0; i < n; i += 64) {
        size_t here = echi_min(64, n - i);
        const KEY *before = x + i - 1, *own = x + i;
        ahead_of(own, 64 * sizeof(KEY));
        if (here == 64 && NAME(start_bits)(&order, own, &bits[i / 64])) continue;
        if (order.float_mask)
            for (size_t k = 0; k < here; k++)
                differs[k] = NAME(merged)(&order, own[k]) != NAME(merged)(&order, before[k]);
        else if (here == 64)
            for (size_t k = 0; k < 64; k++) differs[k] = own[k] != before[k];
        else
            for (size_t k = 0; k < here; k++) differs[k] = own[k] != before[k];
        bits[i / 64] = bits_of_bytes(differs, here);
    }
}

static void NAME(keep)(void *out, const void *in, const uint64_t *bits, size_t n)
{
    char *to = out;
    const char *from = in;
    size_t rest = 0; /* elements that are not written yet */
    for (size_t i = 0; i < n; i += 64) rest += (size_t)__builtin_popcountll(bits[i / 64]);
    for (size_t i = 0; i < n; i += 64, from += 64 * sizeof(KEY)) {
        const uint64_t kept = bits[i / 64];
        const size_t here = (size_t)__builtin_popcountll(kept);
        ahead_of(from, 64 * sizeof(KEY));
        rest -= here;
        if (kept == ~(uint64_t)0)
            memcpy(to, from, 64 * sizeof(KEY));
        else if (rest >= 64 / sizeof(KEY))
            KEEP_WHOLE(to, from, kept);
        else if (kept)
            KEEP_SOME(to, from, kept);
        to += here * sizeof(KEY);
    }
}

static const struct echi_select_width NAME(width) = { NAME(test), NAME(starts), NAME(keep) };

#undef KEEP_SOME
#undef KEEP_WHOLE
#undef NAME
#undef KEY
