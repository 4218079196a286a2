/*
 * scan/cpu/calls.h - template: complete sums of few elements of one type, to which ech_scan()
 * jumps.
 *
 *   IN        u8 ... u64, f32, f64
 *   IS_FLOAT  1: sums in the order of float.h, with AVX-512
 *
 * (Both are undefined at the end.)  A call that is not one on few elements on the CPU, or has an
 * error, goes on in echi_scan_any().
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#define NAME(x) JOINED(x##_, IN)
#define RAW     JOINED(IN, _element)

static ech_status NAME(sum_call)(ech_ctx *ctx, ech_op op, const void *in, void *out, size_t n,
                                 ech_dtype dtype, const ech_scan_options *options)
{
    enum { MOST = IS_FLOAT ? ECHI_SCAN_FEW_BYTES / sizeof(RAW) : ECHI_SCAN_FEW_INTEGERS };
    const RAW *x = (const RAW *)in;
    RAW *to = (RAW *)out;
    (void)options;
    if (n - 1 >= MOST || !echi_call_is_quick(ctx) || !in || !out ||
        (((uintptr_t)in | (uintptr_t)out) & (sizeof(RAW) - 1)) != 0 ||
        (in != out && !echi_are_apart(in, n * sizeof(RAW), out, n * sizeof(RAW))))
        return echi_scan_any(ctx, op, in, out, n, dtype, NULL);
#if IS_FLOAT
    const RAW carry = (RAW)-0.0; /* the sum of the initial value and the prefix */
    JOINED(JOINED(few_, IN), JOINED(_, IN))(x, to, n, carry);
#else
    RAW sum = 0;
    for (size_t i = 0; i < n; i++) to[i] = sum = (RAW)(sum + x[i]);
#endif
    return ECH_OK;
}

#undef NAME
#undef RAW
#undef IN
#undef IS_FLOAT
