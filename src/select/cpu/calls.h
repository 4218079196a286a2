/*
 * select/cpu/calls.h - template: complete calls on at most 64 elements of one width, in the
 * instruction set that the including file is compiled for.
 *
 *   KEY, NAME(x), KEEP_SOME   as in width.h
 *   KEEP_ONE                  packs some of the elements of one vector of 64 bytes
 *
 * The public functions jump to them: sizes are constants here, so the checks of the arrays take few
 * instructions.  A call that is not one on few elements on the CPU, or has an error, goes on in the
 * complete function, echi_..._any().
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* ---- Checks ---- */

/* Whether the outputs are present and aligned, and apart from the input and from each other. */
INLINED bool NAME(can_few)(const ech_ctx *ctx, const void *in, const void *out,
                           const uint64_t *count, size_t n)
{
    return n - 1 < ECHI_SELECT_FEW && echi_call_is_quick(ctx) && in && out && count &&
           ((uintptr_t)count & 7) == 0 &&
           echi_are_apart(out, n * sizeof(KEY), in, n * sizeof(KEY)) &&
           echi_are_apart(count, 8, in, n * sizeof(KEY)) &&
           echi_are_apart(count, 8, out, n * sizeof(KEY));
}

INLINED bool NAME(is_flagged_few)(const ech_ctx *ctx, const void *in, const uint8_t *flags,
                                  const void *out, const uint64_t *count, size_t n)
{
    return NAME(can_few)(ctx, in, out, count, n) && flags &&
           echi_are_apart(out, n * sizeof(KEY), flags, n) && echi_are_apart(count, 8, flags, n);
}

INLINED bool NAME(is_typed_few)(const ech_ctx *ctx, const void *in, const void *out,
                                const uint64_t *count, size_t n)
{
    return NAME(can_few)(ctx, in, out, count, n) &&
           (((uintptr_t)in | (uintptr_t)out) & (sizeof(KEY) - 1)) == 0;
}

/* ---- Bits, packing ---- */

/* Packs those of n elements whose bits are set. */
INLINED void NAME(pack)(void *out, const void *in, uint64_t kept, size_t n)
{
#ifdef __AVX512BW__
    enum { LANES = 64 / sizeof(KEY), OF_ONE = sizeof(KEY) > 1 ? LANES : 0 };
    if (n <= LANES) {
        KEEP_ONE(out, in, kept);
        return;
    }
    if (n <= 2 * LANES) {
        const uint64_t first = kept & (((uint64_t)1 << OF_ONE) - 1);
        KEEP_ONE(out, in, first);
        KEEP_ONE((char *)out + (size_t)__builtin_popcountll(first) * sizeof(KEY),
                 (const char *)in + 64, kept >> OF_ONE);
        return;
    }
#endif
    (void)n;
    KEEP_SOME(out, in, kept);
}

/* Which of n elements begin a run. */
INLINED uint64_t NAME(run_bits)(ech_dtype dtype, const KEY *x, size_t n, bool is_float)
{
#ifdef __AVX512BW__
    if (!is_float) return NAME(rest_unequal)(x, n, true) | 1;
    return NAME(rest_starts)(&echi_orders[1][dtype], x, n, true);
#else
    (void)is_float;
    uint64_t bits;
    NAME(starts)(&echi_orders[1][dtype], x, n, true, &bits);
    return bits;
#endif
}

INLINED ech_status NAME(write_runs)(const void *in, void *out, uint64_t *lengths, uint64_t *count,
                                    size_t n, ech_dtype dtype, bool is_float)
{
    const uint64_t kept = NAME(run_bits)(dtype, in, n, is_float);
    *count = (uint64_t)__builtin_popcountll(kept);
    NAME(pack)(out, in, kept, n);
    if (lengths) lengths_of_few(lengths, kept, n);
    return ECH_OK;
}

/* These need other registers than the checks, so that fewer must be saved. */
NOINLINE static ech_status NAME(unique_integers)(const void *in, void *out, uint64_t *count,
                                                 size_t n)
{
    return NAME(write_runs)(in, out, NULL, count, n, ECH_I8, false);
}

NOINLINE static ech_status NAME(encode_integers)(const void *in, void *out, uint64_t *lengths,
                                                 uint64_t *count, size_t n)
{
    return NAME(write_runs)(in, out, lengths, count, n, ECH_I8, false);
}

NOINLINE static ech_status NAME(unique_floats)(const void *in, void *out, uint64_t *count, size_t n,
                                               ech_dtype dtype)
{
    return NAME(write_runs)(in, out, NULL, count, n, dtype, true);
}

NOINLINE static ech_status NAME(encode_floats)(const void *in, void *out, uint64_t *lengths,
                                               uint64_t *count, size_t n, ech_dtype dtype)
{
    return NAME(write_runs)(in, out, lengths, count, n, dtype, true);
}

/* Packs the elements for which the encoded form minus low is at most span: of integers, without the
 * encoding, because the difference contains that of the sign. */
NOINLINE static ech_status NAME(select_integers)(const KEY *x, void *out, uint64_t *count, size_t n,
                                                 KEY low, KEY span)
{
    uint64_t kept = 0;
#ifdef __AVX512BW__
    enum { LANES = 64 / sizeof(KEY) };
    size_t k = 0;
    do {
        const __m512i v = NAME(loaded)(bits_below_few(n - k), x + k);
        kept |= NAME(not_above)(NAME(minus)(v, NAME(all)(low)), NAME(all)(span)) << k;
        k += LANES;
    } while (k < n);
    kept &= bits_below_few(n);
#else
    uint8_t passes[64];
    for (size_t k = 0; k < n; k++) passes[k] = (KEY)(x[k] - low) <= span;
    kept = bits_of_bytes(passes, n);
#endif
    *count = (uint64_t)__builtin_popcountll(kept);
    NAME(pack)(out, x, kept, n);
    return ECH_OK;
}

/* The same for floats, encoded as signed integers: negative ones with all bits but the sign
 * inverted, so that -0 is -1. */
INLINED KEY NAME(signed_of)(KEY u)
{
    const KEY negative = (KEY)(0 - (u >> (8 * sizeof(KEY) - 1)));
    return u ^ (KEY)(negative >> 1);
}

NOINLINE static ech_status NAME(select_floats)(const KEY *x, void *out, uint64_t *count, size_t n,
                                               KEY low, KEY span)
{
    uint64_t kept = 0;
#ifdef __AVX512BW__
    enum { LANES = 64 / sizeof(KEY) };
    const __m512i sign = NAME(all)((KEY)((KEY)1 << (8 * sizeof(KEY) - 1)));
    size_t k = 0;
    do {
        const __m512i v = NAME(loaded)(bits_below_few(n - k), x + k);
        const __m512i e = _mm512_xor_si512(v, _mm512_andnot_si512(sign, NAME(negative)(v)));
        kept |= NAME(not_above)(NAME(minus)(e, NAME(all)(low)), NAME(all)(span)) << k;
        k += LANES;
    } while (k < n);
    kept &= bits_below_few(n);
#else
    uint8_t passes[64];
    for (size_t k = 0; k < n; k++) passes[k] = (KEY)(NAME(signed_of)(x[k]) - low) <= span;
    kept = bits_of_bytes(passes, n);
#endif
    *count = (uint64_t)__builtin_popcountll(kept);
    NAME(pack)(out, x, kept, n);
    return ECH_OK;
}

/* Converts a comparison of floats to a range of such integers; false if none pass, if the value is
 * NaN, or if there is none. */
INLINED bool NAME(float_range_of)(ech_dtype dtype, ech_compare compare, const void *value, KEY *low,
                                  KEY *span)
{
    const KEY top = (KEY)((KEY)1 << (8 * sizeof(KEY) - 1));
    const KEY infinity = (KEY)(echi_orders[0][dtype].shift ^ (top - 1));
    KEY u;
    memcpy(&u, value, sizeof u);
    if ((u & (top - 1)) > infinity) return false;
    const bool is_zero = (u & (top - 1)) == 0; /* -0 and +0, -1 and 0, are equal */
    const KEY e = NAME(signed_of)(u), first = is_zero ? (KEY)-1 : e, last = is_zero ? 0 : e;
    const KEY least = (KEY)~infinity, most = infinity; /* -infinity, infinity */
    switch (compare) {
    case ECH_COMPARE_LESS:
        *low = least;
        *span = (KEY)(first - least - 1);
        return first != least;
    case ECH_COMPARE_LESS_EQUAL:
        *low = least;
        *span = (KEY)(last - least);
        return true;
    case ECH_COMPARE_EQUAL:
        *low = first;
        *span = (KEY)(last - first);
        return true;
    case ECH_COMPARE_NOT_EQUAL: /* all others, and NaN */
        *low = (KEY)(last + 1);
        *span = (KEY)(first - last - 2);
        return true;
    case ECH_COMPARE_GREATER_EQUAL:
        *low = first;
        *span = (KEY)(most - first);
        return true;
    case ECH_COMPARE_GREATER:
        *low = (KEY)(last + 1);
        *span = (KEY)(most - last - 1);
        return last != most;
    default:
        return false;
    }
}

/* Converts a comparison with e to a range of encoded integers; false if no element passes, and for
 * other tests. */
INLINED bool NAME(range_of)(ech_compare compare, KEY e, KEY *low, KEY *span)
{
    const KEY most = (KEY) ~(KEY)0;
    *low = e;
    switch (compare) {
    case ECH_COMPARE_LESS:
        *low = 0;
        *span = (KEY)(e - 1);
        return e != 0;
    case ECH_COMPARE_LESS_EQUAL:
        *low = 0;
        *span = e;
        return true;
    case ECH_COMPARE_EQUAL:
        *span = 0;
        return true;
    case ECH_COMPARE_NOT_EQUAL: /* all others */
        *low = (KEY)(e + 1);
        *span = (KEY)-2;
        return true;
    case ECH_COMPARE_GREATER_EQUAL:
        *span = (KEY)(most - e);
        return true;
    case ECH_COMPARE_GREATER:
        *low = (KEY)(e + 1);
        *span = (KEY)(most - e - 1);
        return e != most;
    default:
        return false;
    }
}

/* ---- The calls ---- */

static ech_status NAME(select_flags)(ech_ctx *ctx, const void *in, const uint8_t *flags, void *out,
                                     uint64_t *count, size_t n, size_t bytes,
                                     const ech_select_options *options)
{
    (void)bytes, (void)options;
    if (!NAME(is_flagged_few)(ctx, in, flags, out, count, n))
        return echi_select_flags_any(ctx, in, flags, out, count, n, sizeof(KEY), NULL);
    const uint64_t kept = bits_of_bytes(flags, n);
    *count = (uint64_t)__builtin_popcountll(kept);
    NAME(pack)(out, in, kept, n);
    return ECH_OK;
}

static ech_status NAME(partition_flags)(ech_ctx *ctx, const void *in, const uint8_t *flags,
                                        void *out, uint64_t *count, size_t n, size_t bytes,
                                        const ech_select_options *options)
{
    (void)bytes, (void)options;
    if (!NAME(is_flagged_few)(ctx, in, flags, out, count, n))
        return echi_partition_flags_any(ctx, in, flags, out, count, n, sizeof(KEY), NULL);
    const uint64_t kept = bits_of_bytes(flags, n);
    const size_t first = (size_t)__builtin_popcountll(kept);
    *count = first;
    NAME(pack)(out, in, kept, n);
    NAME(pack)((KEY *)out + first, in, kept ^ bits_below_few(n), n);
    return ECH_OK;
}

NOINLINE static ech_status NAME(select_floats_if)(ech_ctx *ctx, ech_compare compare, const void *in,
                                                  void *out, uint64_t *count, size_t n,
                                                  ech_dtype dtype, const void *value)
{
    KEY low, span;
    if (!NAME(float_range_of)(dtype, compare, value, &low, &span))
        return echi_select_if_any(ctx, compare, in, out, count, n, dtype, value, NULL);
    return NAME(select_floats)(in, out, count, n, low, span);
}

static ech_status NAME(select_if)(ech_ctx *ctx, ech_compare compare, const void *in, void *out,
                                  uint64_t *count, size_t n, ech_dtype dtype, const void *value,
                                  const ech_select_options *options)
{
    const KEY sign = (KEY)((KEY)(dtype <= ECH_I64) << (8 * sizeof(KEY) - 1));
    KEY u, low, span;
    (void)options;
    if (!NAME(is_typed_few)(ctx, in, out, count, n) || !value)
        return echi_select_if_any(ctx, compare, in, out, count, n, dtype, value, NULL);
    if (dtype >= ECH_F16)
        return NAME(select_floats_if)(ctx, compare, in, out, count, n, dtype, value);
    memcpy(&u, value, sizeof u);
    if (!NAME(range_of)(compare, u ^ sign, &low, &span))
        return echi_select_if_any(ctx, compare, in, out, count, n, dtype, value, NULL);
    return NAME(select_integers)(in, out, count, n, low ^ sign, span);
}

static ech_status NAME(unique)(ech_ctx *ctx, const void *in, void *out, uint64_t *count, size_t n,
                               ech_dtype dtype, const ech_select_options *options)
{
    (void)options;
    if (!NAME(is_typed_few)(ctx, in, out, count, n))
        return echi_unique_any(ctx, in, out, count, n, dtype, NULL);
    if (dtype >= ECH_F16) return NAME(unique_floats)(in, out, count, n, dtype);
    return NAME(unique_integers)(in, out, count, n);
}

static ech_status NAME(rle_encode)(ech_ctx *ctx, const void *in, void *out, uint64_t *lengths,
                                   uint64_t *count, size_t n, ech_dtype dtype,
                                   const ech_select_options *options)
{
    (void)options;
    if (!NAME(is_typed_few)(ctx, in, out, count, n) || !lengths || (uintptr_t)lengths & 7 ||
        !echi_are_apart(lengths, n * 8, in, n * sizeof(KEY)) ||
        !echi_are_apart(lengths, n * 8, out, n * sizeof(KEY)) ||
        !echi_are_apart(lengths, n * 8, count, 8))
        return echi_rle_encode_any(ctx, in, out, lengths, count, n, dtype, NULL);
    if (dtype >= ECH_F16) return NAME(encode_floats)(in, out, lengths, count, n, dtype);
    return NAME(encode_integers)(in, out, lengths, count, n);
}

/* Writes runs of `total` elements. */
NOINLINE static ech_status NAME(decode_few)(const char *in, const uint64_t *lengths, char *to,
                                            size_t runs, size_t total)
{
    const char *const end = to + total * sizeof(KEY);
    for (size_t r = 0; r < runs; r++, in += sizeof(KEY)) {
        const size_t size = (size_t)lengths[r] * sizeof(KEY);
        if (size > DECODE_BYTES) {
            for (size_t k = 0; k + DECODE_BYTES < size; k += DECODE_BYTES)
                NAME(store_copies)(to + k, in);
            NAME(store_copies)(to + size - DECODE_BYTES, in);
        } else if (end - to >= DECODE_BYTES) { /* what follows is overwritten */
            NAME(store_copies)(to, in);
        } else if (size == sizeof(KEY)) {
            memcpy(to, in, sizeof(KEY));
        } else {
#ifdef __AVX512BW__
            NAME(store_some)(to, in, (size_t)lengths[r]);
#else
            for (size_t k = 0; k < size; k += sizeof(KEY)) memcpy(to + k, in, sizeof(KEY));
#endif
        }
        to += size;
    }
    return ECH_OK;
}

static ech_status NAME(rle_decode)(ech_ctx *ctx, const void *in, const uint64_t *lengths, void *out,
                                   size_t runs, size_t n, size_t bytes,
                                   const ech_select_options *options)
{
    enum { MOST_RUNS = 1024, MOST_N = 1 << 16, FEW_BYTES = 128 };
    uint64_t total = 0, all = 0;
    (void)bytes, (void)options;
    if (runs - 1 >= MOST_RUNS || n - 1 >= MOST_N || !echi_call_is_quick(ctx) || !in || !lengths ||
        !out || (uintptr_t)lengths & 7 ||
        !echi_are_apart(out, n * sizeof(KEY), in, runs * sizeof(KEY)) ||
        !echi_are_apart(out, n * sizeof(KEY), lengths, runs * 8))
        goto other;
    for (size_t r = 0; r < runs; r++) {
        total += lengths[r];
        all |= lengths[r];
    }
    if (all >= MOST_N || total > n) goto other; /* the sum did not overflow */
    if (all == 1 && total == runs) {
        memcpy(out, in, runs * sizeof(KEY));
        return ECH_OK;
    }
    if (total * sizeof(KEY) <= (total < 2 * runs ? FEW_BYTES / 2 : FEW_BYTES))
        return NAME(decode_few)(in, lengths, out, runs, (size_t)total);
    NAME(decode)(out, (char *)out + total * sizeof(KEY), in, lengths, runs, lengths[0]);
    return ECH_OK;
other:
    return echi_rle_decode_any(ctx, in, lengths, out, runs, n, sizeof(KEY), NULL);
}

#undef KEEP_ONE
