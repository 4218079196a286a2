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
    return n - 1 < 64 && echi_call_is_quick(ctx) && in && out && count &&
           ((uintptr_t)count & 7) == 0 && echi_are_apart(out, n * sizeof(KEY), in, n * sizeof(KEY)) &&
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
    if (n <= 64 / sizeof(KEY)) {
        KEEP_ONE(out, in, kept);
        return;
    }
#endif
    (void)n;
    KEEP_SOME(out, in, kept);
}

/* Which of n elements begin a run. */
INLINED uint64_t NAME(run_bits)(const struct echi_order *order, const KEY *x, size_t n)
{
#ifdef __AVX512BW__
    return NAME(rest_starts)(order, x, n, true);
#else
    uint64_t bits;
    NAME(starts)(order, x, n, true, &bits);
    return bits;
#endif
}

/* Which of n elements are in a range of the order. */
INLINED uint64_t NAME(range_bits)(const struct echi_order *order, KEY low, KEY span, const KEY *x,
                                  size_t n)
{
    const struct echi_predicate p = {
        .order = *order, .mask = (KEY)~(KEY)0, .low = low, .span = span, .invert = 0
    };
#ifdef __AVX512BW__
    return order->float_mask ? NAME(test_rest)(&p, x, n, false) : NAME(test_rest)(&p, x, n, true);
#else
    uint64_t bits;
    NAME(test)(&p, x, n, &bits);
    return bits;
#endif
}

/* Converts a comparison to a range; false if all elements or none pass, or if it is none of those
 * with a value. */
INLINED bool NAME(range_of)(const struct echi_order *order, ech_compare compare, const void *value,
                            KEY *low, KEY *span)
{
    const bool is_float = order->float_mask != 0;
    KEY u, e, most = (KEY)~(KEY)0; /* the largest that is not NaN */
    if (!value) return false;
    memcpy(&u, value, sizeof u);
    e = u ^ (KEY)order->sign;
    if (is_float) {
        e = (KEY)echi_order_encode(order, (int)sizeof(KEY), u);
        most = (KEY)(order->last - 1);
        if (e > most) return false;
    }
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
        *low = e;
        *span = 0;
        return true;
    case ECH_COMPARE_NOT_EQUAL: /* all others */
        *low = (KEY)(e + 1);
        *span = (KEY)-2;
        return true;
    case ECH_COMPARE_GREATER_EQUAL:
        *low = e;
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
    NAME(pack)((KEY *)out + first, in, kept ^ bits_below(n), n);
    return ECH_OK;
}

static ech_status NAME(select_if)(ech_ctx *ctx, ech_compare compare, const void *in, void *out,
                                  uint64_t *count, size_t n, ech_dtype dtype, const void *value,
                                  const ech_select_options *options)
{
    const struct echi_order *order = &echi_orders[1][dtype];
    KEY low, span;
    (void)options;
    if (!NAME(is_typed_few)(ctx, in, out, count, n) ||
        !NAME(range_of)(order, compare, value, &low, &span))
        return echi_select_if_any(ctx, compare, in, out, count, n, dtype, value, NULL);
    const uint64_t kept = NAME(range_bits)(order, low, span, in, n);
    *count = (uint64_t)__builtin_popcountll(kept);
    NAME(pack)(out, in, kept, n);
    return ECH_OK;
}

static ech_status NAME(unique)(ech_ctx *ctx, const void *in, void *out, uint64_t *count, size_t n,
                               ech_dtype dtype, const ech_select_options *options)
{
    (void)options;
    if (!NAME(is_typed_few)(ctx, in, out, count, n))
        return echi_unique_any(ctx, in, out, count, n, dtype, NULL);
    const uint64_t kept = NAME(run_bits)(&echi_orders[1][dtype], in, n);
    *count = (uint64_t)__builtin_popcountll(kept);
    NAME(pack)(out, in, kept, n);
    return ECH_OK;
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
    const uint64_t kept = NAME(run_bits)(&echi_orders[1][dtype], in, n);
    *count = (uint64_t)__builtin_popcountll(kept);
    NAME(pack)(out, in, kept, n);
    lengths_of_few(lengths, kept, n);
    return ECH_OK;
}

#undef KEEP_ONE
