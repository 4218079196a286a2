/*
 * reduce/cpu/calls.h - template: complete reductions of few elements of one type, to which
 * ech_reduce() jumps.
 *
 *   FROM      i8 ... f64
 *   BITS      u8 ... u64: an unsigned integer of the same size
 *   SIGN      the sign bit of signed integers, otherwise 0
 *   SUM       the type of a sum: u64, f32 or f64
 *   IS_FLOAT  1 if FROM is a float
 *   EXTREMES  1 if there are minima and maxima
 *
 * (All are undefined at the end.)  Sizes are constants here, so the checks of the arrays take few
 * instructions.  A call that is not one on few elements on the CPU, or has an error, goes on in
 * echi_reduce_any().  Results have the same bits as there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#define NAME(x) JOINED(x##_, FROM)
#define ELEM    JOINED(FROM, _element)
#define KEY     JOINED(BITS, _element)

/* Whether n elements, at most most_bytes, can be reduced to a result of out_bytes at once. */
INLINE bool NAME(can_reduce)(const ech_ctx *ctx, const void *in, const void *out, size_t n,
                             size_t most_bytes, size_t out_bytes)
{
    return n - 1 < most_bytes / sizeof(ELEM) && echi_call_is_quick(ctx) && in && out &&
           ((uintptr_t)in & (sizeof(ELEM) - 1)) == 0 && ((uintptr_t)out & (out_bytes - 1)) == 0 &&
           echi_are_apart(out, out_bytes, in, n * sizeof(ELEM));
}

#if IS_FLOAT
#define SUM_BYTES ECHI_CHUNK_BYTES
#else
#define SUM_BYTES (1 << 15) /* the sum fits in the type SHORT of integers.h */
#endif

static ech_status NAME(sum_call)(ech_ctx *ctx, ech_op op, const void *in, void *out, size_t n,
                                 ech_dtype dtype, const ech_reduce_options *options)
{
    const ELEM *x = (const ELEM *)in;
    JOINED(SUM, _element) *to = (JOINED(SUM, _element) *)out;
    (void)options;
    if (!NAME(can_reduce)(ctx, in, out, n, SUM_BYTES, sizeof *to))
        return echi_reduce_any(ctx, op, in, out, n, dtype, NULL);
#if IS_FLOAT
    *to = NAME(total)(x, n) + 0; /* of -0: +0 */
    if (*to != *to) *to = JOINED(nan_, SUM)();
#else
#ifdef __AVX512F__
    *to = n <= 64 ? NAME(few_sum)(x, n) : NAME(sum_of)(x, n);
#else
    *to = NAME(sum_of)(x, n);
#endif
#endif
    return ECH_OK;
}
#undef SUM_BYTES

#if !IS_FLOAT
/* The minimum, or the maximum. */
INLINE KEY NAME(extreme_few)(const KEY *x, size_t n, bool least)
{
    /* Elements XORed with turn have the order of unsigned integers, with the result first. */
    const KEY turn = (KEY)(least ? SIGN : (KEY) ~(KEY)SIGN);
#ifdef __AVX512F__
    enum { W = VECTOR_BYTES / sizeof(KEY) };
    const __m512i ones = JOINED(all_, BITS)((KEY) ~(KEY)0);
    __m512i a, b;
    if (n <= W) {
        const uint64_t there = _bzhi_u64(~(uint64_t)0, (unsigned)n);
        a = b = JOINED(load_or_, BITS)(JOINED(all_, BITS)((KEY)~turn), there, x);
    } else {
        size_t i = W;
        a = _mm512_loadu_si512(x);
        b = _mm512_loadu_si512(x + n - W); /* may overlap the others */
        if (n > 4 * W) {
            __m512i c = a, d = b;
            for (; i + 4 * W < n; i += 4 * W) {
                a = NAME(pick)(a, _mm512_loadu_si512(x + i), least);
                b = NAME(pick)(b, _mm512_loadu_si512(x + i + W), least);
                c = NAME(pick)(c, _mm512_loadu_si512(x + i + 2 * W), least);
                d = NAME(pick)(d, _mm512_loadu_si512(x + i + 3 * W), least);
            }
            a = NAME(pick)(a, c, least);
            b = NAME(pick)(b, d, least);
        }
        for (; i + W < n; i += W) a = NAME(pick)(a, _mm512_loadu_si512(x + i), least);
        a = NAME(pick)(a, b, least);
    }
    const __m512i e = _mm512_xor_si512(a, _mm512_xor_si512(ones, JOINED(all_, BITS)(turn)));
    return (KEY) ~(KEY)(JOINED(highest_, BITS)(e) ^ turn);
#else
    KEY most = 0;
    SEVERAL_SUMS
    for (size_t i = 0; i < n; i++) {
        const KEY e = (KEY) ~(KEY)(x[i] ^ turn);
        most = e > most ? e : most;
    }
    return (KEY) ~(KEY)(most ^ turn);
#endif
}
#endif

#if EXTREMES
/* Writes the minimum or the maximum; false: the complete function must. */
INLINE bool NAME(write_extreme)(const ech_ctx *ctx, const void *in, void *out, size_t n, bool least)
{
    enum { MOST_BYTES = 1 << 15 };
    const KEY *x = (const KEY *)in;
    if (!NAME(can_reduce)(ctx, in, out, n, MOST_BYTES, sizeof(KEY))) return false;
#if IS_FLOAT
    KEY bits;
    if (n < VECTOR_BYTES / sizeof(KEY) || !JOINED(extreme_, BITS)(x, n, least, &bits)) return false;
    *(KEY *)out = bits;
    return true;
#else
    *(KEY *)out = NAME(extreme_few)(x, n, least);
    return true;
#endif
}

static ech_status NAME(min_call)(ech_ctx *ctx, ech_op op, const void *in, void *out, size_t n,
                                 ech_dtype dtype, const ech_reduce_options *options)
{
    (void)options;
    return NAME(write_extreme)(ctx, in, out, n, true)
               ? ECH_OK
               : echi_reduce_any(ctx, op, in, out, n, dtype, NULL);
}

static ech_status NAME(max_call)(ech_ctx *ctx, ech_op op, const void *in, void *out, size_t n,
                                 ech_dtype dtype, const ech_reduce_options *options)
{
    (void)options;
    return NAME(write_extreme)(ctx, in, out, n, false)
               ? ECH_OK
               : echi_reduce_any(ctx, op, in, out, n, dtype, NULL);
}
#endif

#if IS_FLOAT
static ech_status NAME(variance_call)(ech_ctx *ctx, ech_op op, const void *in, void *out, size_t n,
                                      ech_dtype dtype, const ech_reduce_options *options)
{
    static const struct echi_reduce_rule rule = { .in_f64 = sizeof(ELEM) == 8 };
    (void)options;
    if (!NAME(can_reduce)(ctx, in, out, n, ECHI_CHUNK_BYTES, sizeof(JOINED(SUM, _element))))
        return echi_reduce_any(ctx, op, in, out, n, dtype, NULL);
    const uint64_t bits = NAME(variance_of)(&rule, (const ELEM *)in, n);
    if (sizeof(ELEM) == 8)
        *(uint64_t *)out = bits;
    else
        *(uint32_t *)out = (uint32_t)bits;
    return ECH_OK;
}
#endif

#undef NAME
#undef ELEM
#undef KEY
#undef FROM
#undef BITS
#undef SIGN
#undef SUM
#undef IS_FLOAT
#undef EXTREMES
