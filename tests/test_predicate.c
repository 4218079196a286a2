/*
 * test_predicate.c - every comparison of every dtype, compared with C's own, for values at
 * boundaries.
 *
 * The program contains internal functions of the library. The oracle converts values to double or
 * to a 64-bit integer and compares these.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/internal.h"
#include "test.h"

#include <math.h>
#include <string.h>

#define KEY     uint8_t
#define NAME(x) x##_u8
#include "cpu/predicate.h"
#undef KEY
#undef NAME
#define KEY     uint16_t
#define NAME(x) x##_u16
#include "cpu/predicate.h"
#undef KEY
#undef NAME
#define KEY     uint32_t
#define NAME(x) x##_u32
#include "cpu/predicate.h"
#undef KEY
#undef NAME
#define KEY     uint64_t
#define NAME(x) x##_u64
#include "cpu/predicate.h"

static bool passes(const struct echi_predicate *p, int bytes, uint64_t u)
{
    switch (bytes) {
    case 1:
        return passes_u8(p, (uint8_t)u);
    case 2:
        return passes_u16(p, (uint16_t)u);
    case 4:
        return passes_u32(p, (uint32_t)u);
    default:
        return passes_u64(p, u);
    }
}

/* The value of a float with 1 + exponent_bits + fraction_bits bits. */
static double float_value(uint64_t u, int exponent_bits, int fraction_bits)
{
    uint64_t fraction = u & (((uint64_t)1 << fraction_bits) - 1);
    int most = (1 << exponent_bits) - 1, bias = most >> 1;
    int exponent = (int)(u >> fraction_bits) & most;
    double sign = u >> (exponent_bits + fraction_bits) & 1 ? -1 : 1;
    if (exponent == most) return fraction ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * ldexp((double)fraction, 1 - bias - fraction_bits);
    return sign * ldexp((double)(fraction | (uint64_t)1 << fraction_bits),
                        exponent - bias - fraction_bits);
}

static double double_value(ech_dtype dtype, uint64_t u)
{
    switch (dtype) {
    case ECH_F16:
        return float_value(u, 5, 10);
    case ECH_BF16:
        return float_value(u, 8, 7);
    case ECH_F32:
        return float_value(u, 8, 23);
    default:
        return float_value(u, 11, 52);
    }
}

static int64_t signed_value(int bytes, uint64_t u)
{
    int unused = 64 - 8 * bytes;
    return (int64_t)(u << unused) >> unused;
}

/* -1, 0 or 1; 2 if one is NaN. */
static int order_of(ech_dtype dtype, uint64_t x, uint64_t v)
{
    int bytes = (int)ech_dtype_bytes(dtype);
    if (dtype >= ECH_F16) {
        double a = double_value(dtype, x), b = double_value(dtype, v);
        return isnan(a) || isnan(b) ? 2 : (a > b) - (a < b);
    }
    if (dtype <= ECH_I64) {
        int64_t a = signed_value(bytes, x), b = signed_value(bytes, v);
        return (a > b) - (a < b);
    }
    return (x > v) - (x < v);
}

static bool wanted(ech_dtype dtype, ech_compare compare, uint64_t x, uint64_t v)
{
    int o = order_of(dtype, x, v);
    switch (compare) {
    case ECH_COMPARE_NONZERO:
        return order_of(dtype, x, 0) != 0;
    case ECH_COMPARE_LESS:
        return o == -1;
    case ECH_COMPARE_LESS_EQUAL:
        return o == -1 || o == 0;
    case ECH_COMPARE_EQUAL:
        return o == 0;
    case ECH_COMPARE_NOT_EQUAL:
        return o != 0;
    case ECH_COMPARE_GREATER_EQUAL:
        return o == 0 || o == 1;
    case ECH_COMPARE_GREATER:
        return o == 1;
    case ECH_COMPARE_IS_NAN:
        return order_of(dtype, x, x) == 2;
    case ECH_COMPARE_HAS_ANY:
        return (x & v) != 0;
    case ECH_COMPARE_HAS_ALL:
        return (x & v) == v;
    default:
        return (x & v) == 0;
    }
}

static int edges(ech_dtype dtype, uint64_t out[40])
{
    int width = 8 * (int)ech_dtype_bytes(dtype), n = 0;
    uint64_t top = (uint64_t)1 << (width - 1), ones = top | (top - 1);
    const int fractions[] = { 10, 7, 23, 52 };
    uint64_t fraction = dtype >= ECH_F16 ? ((uint64_t)1 << fractions[dtype - ECH_F16]) - 1 : 0xf;
    uint64_t infinity = (top - 1) & ~fraction;
    const uint64_t magnitudes[] = { 0,
                                    1,
                                    2,
                                    fraction,
                                    fraction + 1,
                                    top / 2,
                                    infinity - 1,
                                    infinity,
                                    infinity + 1,
                                    top - 1,
                                    top / 2 + 3,
                                    0x35 };
    struct rng rng = { 5 };
    for (size_t i = 0; i < sizeof magnitudes / sizeof *magnitudes; i++) {
        out[n++] = magnitudes[i] & (top - 1);
        out[n++] = (magnitudes[i] | top) & ones;
    }
    while (n < 40) out[n++] = rng_next(&rng) & ones;
    return n;
}

static void run_dtype(ech_dtype dtype)
{
    uint64_t values[40];
    int n = edges(dtype, values), bytes = (int)ech_dtype_bytes(dtype);
    for (int compare = ECH_COMPARE_NONZERO; compare <= ECH_COMPARE_HAS_NONE; compare++) {
        if (!test_begin("predicate(%s,%d)", ech_dtype_name(dtype), compare)) continue;
        bool refused = compare >= ECH_COMPARE_HAS_ANY && dtype >= ECH_F16;
        for (int v = 0; v < n; v++) {
            struct echi_predicate p;
            ech_status status =
                echi_predicate_make(NULL, dtype, (ech_compare)compare, &values[v], &p);
            CHECK_INT(status, refused ? ECH_ERR_ARG : ECH_OK);
            for (int x = 0; x < n && !refused; x++) {
                bool want = wanted(dtype, (ech_compare)compare, values[x], values[v]);
                if (passes(&p, bytes, values[x]) != want)
                    test_fail(__FILE__, __LINE__, "0x%llx and 0x%llx: the result is not %d",
                              (unsigned long long)values[x], (unsigned long long)values[v], want);
            }
        }
        test_end();
    }
}

int main(int argc, char **argv)
{
    struct echi_predicate p;
    test_main(argc, argv);
    for (int dtype = ECH_I8; dtype <= ECH_F64; dtype++) run_dtype((ech_dtype)dtype);
    if (test_begin("predicate(refused)")) {
        CHECK_FAILS(NULL, echi_predicate_make(NULL, ECH_I32, (ech_compare)11, &p, &p), ECH_ERR_ARG,
                    "compare is 11");
        CHECK_FAILS(NULL, echi_predicate_make(NULL, ECH_I32, ECH_COMPARE_LESS, NULL, &p),
                    ECH_ERR_ARG, "value is NULL");
        CHECK_FAILS(NULL, echi_predicate_make(NULL, ECH_F32, ECH_COMPARE_HAS_ALL, &p, &p),
                    ECH_ERR_ARG, "f32");
        test_end();
    }
    return test_finish();
}
