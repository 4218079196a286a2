/*
 * histogram/cpu/calls.h - template: complete histograms of few elements of one type, to which
 * ech_histogram() and ech_bincount() jump.
 *
 *   ELEM      float, double, int8_t ... uint64_t
 *   NAME(x)   x##_f32 ...
 *   IS_FLOAT  1: ranges of equal width; 0: a counter per value
 *
 * (All are undefined at the end.)  The counters are cleared and incremented in the output.  A call
 * that is not one on few elements on the CPU, or has an error, goes on in the complete function,
 * echi_..._any().
 *
 * SPDX-License-Identifier: Apache-2.0
 */

INLINE bool NAME(can_count)(const ech_ctx *ctx, const void *in, const uint64_t *counts, size_t n,
                            size_t bins)
{
    enum { MOST = 64, MOST_BINS = 4096 };
    return n - 1 < MOST && bins - 1 < MOST_BINS && echi_call_is_quick(ctx) && in && counts &&
           ((uintptr_t)in & (sizeof(ELEM) - 1)) == 0 && ((uintptr_t)counts & 7) == 0 &&
           echi_are_apart(counts, bins * 8, in, n * sizeof(ELEM));
}

#if IS_FLOAT
static ech_status NAME(histogram)(ech_ctx *ctx, const void *in, void *counts, size_t n,
                                  ech_dtype dtype, size_t bins, double lower, double upper,
                                  const ech_histogram_options *options)
{
    const ELEM *x = in;
    const ELEM from = (ELEM)lower, to = (ELEM)upper, length = to - from;
    const ELEM factor = (ELEM)bins / length;
    uint64_t *count = counts;
    (void)options;
    /* An infinite end makes the length infinite or NaN; the first difference is 0 or infinite. */
    if (!NAME(can_count)(ctx, in, counts, n, bins) || !(from < to) || !(length - length == 0) ||
        !(factor - factor == 0))
        return echi_histogram_any(ctx, in, counts, n, dtype, bins, lower, upper, NULL);
    clear_counts(count, bins);
#ifdef __AVX512F__
    uint32_t slots[ECHI_HISTOGRAM_FEW];
    uint64_t inside = NAME(few_slots)(x, n, from, to, factor, (uint32_t)bins - 1, slots);
    if (inside == ~(uint64_t)0 >> (64 - n)) {
        for (size_t i = 0; i < n; i++) count[slots[i]]++;
        return ECH_OK;
    }
    for (; inside; inside &= inside - 1) count[slots[__builtin_ctzll(inside)]]++;
#else
    for (size_t i = 0; i < n; i++) {
        const ELEM v = x[i];
        if (!(v >= from && v < to)) continue;
        const size_t bin = (size_t)(int64_t)((v - from) * factor);
        count[bin < bins ? bin : bins - 1]++;
    }
#endif
    return ECH_OK;
}
#else
static ech_status NAME(bincount)(ech_ctx *ctx, const void *in, void *counts, size_t n,
                                 ech_dtype dtype, size_t bins, const ech_histogram_options *options)
{
    const ELEM *x = in;
    uint64_t *count = counts;
    (void)options;
    if (!NAME(can_count)(ctx, in, counts, n, bins))
        return echi_bincount_any(ctx, in, counts, n, dtype, bins, NULL);
    clear_counts(count, bins);
    for (size_t i = 0; i < n; i++) {
        const uint64_t bin = (uint64_t)x[i]; /* of a negative value, a large one */
        if (bin < bins) count[bin]++;
    }
    return ECH_OK;
}
#endif

#undef ELEM
#undef NAME
#undef IS_FLOAT
