/*
 * simt/intrinsics_integer.c - expected results of the intrinsic functions on integers, computed
 * bit by bit or byte by byte.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "intrinsics_oracle.h"

#define PUT(slot, word) (out[(size_t)INTEGER_##slot * n] = (uint64_t)(word))

static uint64_t bit(uint64_t x, int i)
{
    return x >> i & 1;
}

static uint32_t byte(uint32_t x, int i)
{
    return x >> 8 * i & 0xff;
}

static int32_t signed_byte(uint32_t x, int i)
{
    uint32_t b = byte(x, i);
    return b < 128 ? (int32_t)b : (int32_t)b - 256;
}

static int32_t signed_half(uint32_t x, int i)
{
    uint32_t half = x >> 16 * i & 0xffff;
    return half < 32768 ? (int32_t)half : (int32_t)half - 65536;
}

static int64_t signed_word(uint32_t x)
{
    return x < 1u << 31 ? (int64_t)x : (int64_t)x - ((int64_t)1 << 32);
}

static int ones(uint64_t x, int width)
{
    int count = 0;
    for (int i = 0; i < width; i++) count += (int)bit(x, i);
    return count;
}

static int zeros_above(uint64_t x, int width)
{
    int count = 0;
    while (count < width && !bit(x, width - 1 - count)) count++;
    return count;
}

static int first_one(uint64_t x, int width)
{
    for (int i = 0; i < width; i++)
        if (bit(x, i)) return i + 1;
    return 0;
}

static uint64_t mirrored(uint64_t x, int width)
{
    uint64_t result = 0;
    for (int i = 0; i < width; i++) result |= bit(x, i) << (width - 1 - i);
    return result;
}

/* The word at bit `from` of high:low, 0 <= from <= 32. */
static uint32_t window(uint32_t low, uint32_t high, uint32_t from)
{
    uint32_t result = 0;
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t at = from + i;
        result |= (at < 32 ? low >> at & 1 : high >> (at - 32) & 1) << i;
    }
    return result;
}

static void bits(uint64_t xx, uint32_t x, uint32_t y, uint32_t z, uint32_t n, uint64_t *out)
{
    PUT(POPC, ones(x, 32));
    PUT(POPCLL, ones(xx, 64));
    PUT(CLZ, zeros_above(x, 32));
    PUT(CLZLL, zeros_above(xx, 64));
    PUT(FFS, first_one(x, 32));
    PUT(FFSLL, first_one(xx, 64));
    PUT(BREV, mirrored(x, 32));
    PUT(BREVLL, mirrored(xx, 64));
    uint32_t chosen = 0;
    for (int i = 0; i < 4; i++) {
        int from = (int)(z >> 4 * i & 7);
        chosen |= (from < 4 ? byte(x, from) : byte(y, from - 4)) << 8 * i;
    }
    PUT(BYTE_PERM, chosen);
    PUT(FUNNEL_L, window(x, y, 32 - z % 32));
    PUT(FUNNEL_R, window(x, y, z % 32));
    PUT(FUNNEL_LC, window(x, y, z > 32 ? 0 : 32 - z));
    PUT(FUNNEL_RC, window(x, y, z > 32 ? 32 : z));
}

/* The upper half of a 128-bit product, by schoolbook multiplication. */
static uint64_t product_high(uint64_t x, uint64_t y)
{
    uint64_t x0 = x & 0xffffffffu, x1 = x >> 32, y0 = y & 0xffffffffu, y1 = y >> 32;
    uint64_t middle = x1 * y0 + (x0 * y0 >> 32);
    uint64_t other = x0 * y1 + (middle & 0xffffffffu);
    return x1 * y1 + (middle >> 32) + (other >> 32);
}

static int64_t low24(uint32_t x)
{
    x &= 0xffffffu;
    return x < 1u << 23 ? (int64_t)x : (int64_t)x - (1 << 24);
}

static void products(uint64_t xx, uint64_t yy, uint32_t x, uint32_t y, uint32_t z, uint32_t n,
                     uint64_t *out)
{
    PUT(MULHI, (uint32_t)((uint64_t)(signed_word(x) * signed_word(y)) >> 32));
    PUT(UMULHI, (uint64_t)x * y >> 32);
    PUT(MUL64HI, product_high(xx, yy) - (xx >> 63 ? yy : 0) - (yy >> 63 ? xx : 0));
    PUT(UMUL64HI, product_high(xx, yy));
    PUT(MUL24, (uint32_t)(low24(x) * low24(y)));
    PUT(UMUL24, (uint32_t)((uint64_t)(x & 0xffffffu) * (y & 0xffffffu)));
    int64_t dot = 0, low = 0, high = 0;
    uint64_t udot = 0, ulow = 0, uhigh = 0;
    for (int i = 0; i < 4; i++) {
        dot += signed_byte(x, i) * signed_byte(y, i);
        udot += byte(x, i) * byte(y, i);
    }
    for (int i = 0; i < 2; i++) {
        low += signed_half(x, i) * signed_byte(y, i);
        high += signed_half(x, i) * signed_byte(y, i + 2);
        ulow += (x >> 16 * i & 0xffff) * byte(y, i);
        uhigh += (x >> 16 * i & 0xffff) * byte(y, i + 2);
    }
    PUT(DP4A, (uint32_t)(dot + z));
    PUT(UDP4A, (uint32_t)(udot + z));
    PUT(DP2A_LO, (uint32_t)(low + z));
    PUT(DP2A_HI, (uint32_t)(high + z));
    PUT(UDP2A_LO, (uint32_t)(ulow + z));
    PUT(UDP2A_HI, (uint32_t)(uhigh + z));
}

/* Half of a sum, rounded down. */
static int64_t half(int64_t sum)
{
    return (sum - (sum & 1)) / 2;
}

static void sums(uint32_t x, uint32_t y, uint32_t z, uint32_t n, uint64_t *out)
{
    const int64_t i = signed_word(x), j = signed_word(y), p = x, q = y;
    PUT(SAD, (uint32_t)((i > j ? i - j : j - i) + z));
    PUT(USAD, (uint32_t)((p > q ? p - q : q - p) + z));
    PUT(HADD, (uint32_t)half(i + j));
    PUT(RHADD, (uint32_t)half(i + j + 1));
    PUT(UHADD, (uint32_t)half(p + q));
    PUT(URHADD, (uint32_t)half(p + q + 1));
    uint32_t add = 0, sub = 0, equal = 0, least = 0, most = 0;
    for (int b = 0; b < 4; b++) {
        uint32_t u = byte(x, b), v = byte(y, b), shift = 8 * (uint32_t)b;
        add |= ((u + v) & 0xff) << shift;
        sub |= ((u - v) & 0xff) << shift;
        equal |= (b % 2 == 1 || u == v ? 0xffu : 0) << shift; /* the odd bytes were set equal */
        least |= (u < v ? u : v) << shift;
        most |= (u < v ? v : u) << shift;
    }
    PUT(VADD4, add);
    PUT(VSUB4, sub);
    PUT(VCMPEQ4, equal);
    PUT(VMINU4, least);
    PUT(VMAXU4, most);
    uint32_t low = (x & 0xffff) < (y & 0xffff) ? y & 0xffff : x & 0xffff;
    PUT(VMAXU2, (x >> 16 < y >> 16 ? y >> 16 : x >> 16) << 16 | low);
}

static void choices(uint64_t xx, uint64_t yy, uint32_t x, uint32_t y, uint32_t n, uint64_t *out)
{
    const int less = signed_word(x) < signed_word(y), below = x < y, below64 = xx < yy;
    const int less64 = (xx ^ (uint64_t)1 << 63) < (yy ^ (uint64_t)1 << 63);
    PUT(MIN, less ? x : y);
    PUT(MAX, less ? y : x);
    PUT(MIN_U, below ? x : y);
    PUT(MAX_U, below ? y : x);
    PUT(MIN_IU, below ? x : y);
    PUT(MAX_IU, below ? y : x);
    PUT(MIN_UI, below ? x : y);
    PUT(MAX_UI, below ? y : x);
    PUT(MIN_LL, less64 ? xx : yy);
    PUT(MAX_LL, less64 ? yy : xx);
    PUT(MIN_ULL, below64 ? xx : yy);
    PUT(MAX_ULL, below64 ? yy : xx);
    PUT(MIN_LLULL, below64 ? xx : yy);
    PUT(MAX_ULLLL, below64 ? yy : xx);
    PUT(MIN_L, less64 ? xx : yy);
    PUT(MAX_UL, below64 ? yy : xx);
    PUT(UMIN, below ? x : y);
    PUT(UMAX, below ? y : x);
    PUT(LLMIN, less64 ? xx : yy);
    PUT(LLMAX, less64 ? yy : xx);
    PUT(ULLMIN, below64 ? xx : yy);
    PUT(ULLMAX, below64 ? yy : xx);
    int64_t halved = half(signed_word(x));
    PUT(ABS, halved < 0 ? -halved : halved);
    uint64_t halved64 = xx >> 1 | (xx & (uint64_t)1 << 63);
    PUT(LLABS, xx >> 63 ? 0 - halved64 : halved64);
    PUT(MIN_TYPE, 2);
}

void intrinsics_expect_integer(const struct intrinsics_case *c, uint32_t n, const uint64_t *in,
                               uint64_t *out)
{
    (void)c;
    for (uint32_t t = 0; t < n; t++, in += INTRINSICS_INPUTS, out++) {
        uint32_t x = (uint32_t)in[0], y = (uint32_t)in[1], z = (uint32_t)in[2];
        bits(in[0], x, y, z, n, out);
        products(in[0], in[1], x, y, z, n, out);
        sums(x, y, z, n, out);
        choices(in[0], in[1], x, y, n, out);
    }
}
