/*
 * reduce_oracle.c - computes the expected result of a reduction as echelon/reduce.h and
 * docs/reduce.md define it.
 *
 * Floats are computed in double. For f32 every result is rounded to float. This equals a float
 * operation, because a double has more than twice as many significand bits.  Variances are computed
 * in quadruple precision, each result rounded to 53 bits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reduce_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_float(ech_dtype t)
{
    return t >= ECH_F16;
}

static bool is_signed(ech_dtype t)
{
    return t <= ECH_I64;
}

static uint64_t raw(ech_dtype t, const char *at)
{
    uint64_t u = 0;
    memcpy(&u, at, ech_dtype_bytes(t)); /* little-endian, as the library */
    return u;
}

/* An integer as 64-bit two's complement. */
static uint64_t integer(ech_dtype t, const char *at)
{
    uint64_t u = raw(t, at);
    unsigned width = 8 * (unsigned)ech_dtype_bytes(t);
    if (is_signed(t) && width < 64 && u >> (width - 1)) u |= ~(uint64_t)0 << width;
    return u;
}

static double number(ech_dtype t, const char *at)
{
    uint64_t u = raw(t, at);
    float f;
    double d;
    if (!is_float(t)) {
        u = integer(t, at);
        return is_signed(t) ? (double)(int64_t)u : (double)u;
    }
    if (t == ECH_F64) {
        memcpy(&d, &u, sizeof d);
        return d;
    }
    if (t == ECH_F16) {
        int exponent = (int)(u >> 10 & 31);
        double fraction = (double)(u & 1023);
        d = exponent == 31  ? (u & 1023 ? (double)NAN : (double)INFINITY)
            : exponent == 0 ? ldexp(fraction, -24)
                            : ldexp(fraction + 1024, exponent - 25);
        return u >> 15 ? -d : d;
    }
    uint32_t word = (uint32_t)(t == ECH_BF16 ? u << 16 : u);
    memcpy(&f, &word, sizeof f);
    return f;
}

static uint64_t f32_bits(double x)
{
    float f = (float)x;
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return x != x ? 0x7fc00000 : u;
}

static uint64_t f64_bits(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return x != x ? (uint64_t)0x7ff8 << 48 : u;
}

/* ---- The tree of docs/reduce.md ---- */

__extension__ typedef __float128 wide;
__extension__ typedef __int128 integer128;

struct sums {
    double sum, n;
};

/* The moments of n elements; offset: of the mean from element `center` if elements have 64 bits,
 * otherwise from 0. */
struct moments {
    wide offset, m2, n;
    size_t center;
};

struct tree {
    const struct reduce_case *c;
    struct reduce_part part;
    bool f32; /* computed in f32 */
    size_t bytes, lanes;
};

static double rounded(const struct tree *t, double x)
{
    return t->f32 ? (double)(float)x : x;
}

static bool left_out(const struct tree *t, size_t i)
{
    double x = number(t->c->dtype, t->part.in + i * t->bytes);
    double y = t->c->shape == DOT ? number(t->c->dtype, t->part.b + i * t->bytes) : 0;
    return t->c->ignore && is_float(t->c->dtype) && (x != x || y != y);
}

static double term(const struct tree *t, size_t i)
{
    double x = number(t->c->dtype, t->part.in + i * t->bytes);
    if (t->c->shape == DOT) return rounded(t, x * number(t->c->dtype, t->part.b + i * t->bytes));
    return t->c->op == ECH_OP_NORM ? x * x : x;
}

static double adjacent(const struct tree *t, const double *lane, size_t n)
{
    if (n == 1) return lane[0];
    double a = adjacent(t, lane, n / 2), b = adjacent(t, lane + n / 2, n / 2);
    return rounded(t, t->c->op == ECH_OP_PRODUCT ? a * b : a + b);
}

static struct sums of_chunk(const struct tree *t, size_t from, size_t to)
{
    double lane[512];
    bool product = t->c->op == ECH_OP_PRODUCT;
    struct sums s = { 0, 0 };
    for (size_t j = 0; j < 512; j++) lane[j] = product ? 1.0 : -0.0;
    for (size_t i = from; i < to; i++) {
        size_t j = (i - from) % t->lanes;
        if (left_out(t, i)) continue;
        double x = term(t, i);
        s.n++;
        lane[j] = rounded(t, product ? lane[j] * x : lane[j] + x);
    }
    s.sum = adjacent(t, lane, t->lanes);
    return s;
}

static struct sums both(const struct tree *t, struct sums a, struct sums b)
{
    struct sums s = a;
    s.n = a.n + b.n;
    s.sum = rounded(t, t->c->op == ECH_OP_PRODUCT ? a.sum * b.sum : a.sum + b.sum);
    return s;
}

/* The sum of chunks first ... first + width - 1, as far as they exist; width is a power of two. */
static struct sums of_chunks(const struct tree *t, size_t first, size_t width)
{
    size_t chunk = 8 * t->lanes, n = t->part.n;
    if (width == 1)
        return of_chunk(t, first * chunk, (first + 1) * chunk < n ? (first + 1) * chunk : n);
    struct sums left = of_chunks(t, first, width / 2);
    if ((first + width / 2) * chunk >= n) return left;
    return both(t, left, of_chunks(t, first + width / 2, width / 2));
}

/* ---- Variances ---- */

/* x rounded to 53 bits, without the limits of double's exponent. */
static wide to53(wide x)
{
    int steps = 0;
    if (x != x || x - x != 0 || x == 0) return x;
    for (; x > 0x1p500 || x < -0x1p500; steps++) x *= 0x1p-500;
    for (; x < 0x1p-400 && x > -0x1p-400; steps--) x *= 0x1p500;
    x = (double)x;
    for (; steps > 0; steps--) x *= 0x1p500;
    for (; steps < 0; steps++) x *= 0x1p-500;
    return x;
}

static wide root53(wide x)
{
    int steps = 0;
    if (!(x > 0) || x - x != 0) return x;
    for (; x > 0x1p500; steps++) x *= 0x1p-500;
    for (; x < 0x1p-400; steps--) x *= 0x1p500;
    x = sqrt((double)x);
    for (; steps > 0; steps--) x *= 0x1p250;
    for (; steps < 0; steps++) x *= 0x1p-250;
    return x;
}

/* Element i minus element j. */
static wide distance(const struct tree *t, size_t i, size_t j)
{
    const char *x = t->part.in + i * t->bytes, *y = t->part.in + j * t->bytes;
    if (is_float(t->c->dtype)) return to53((wide)number(t->c->dtype, x) - number(t->c->dtype, y));
    uint64_t u = integer(t->c->dtype, x), v = integer(t->c->dtype, y);
    if (is_signed(t->c->dtype))
        return to53((wide)((integer128)(int64_t)u - (integer128)(int64_t)v));
    return to53((wide)((integer128)u - (integer128)v));
}

static wide pairwise(const wide *lane, size_t n)
{
    return n == 1 ? lane[0] : to53(pairwise(lane, n / 2) + pairwise(lane + n / 2, n / 2));
}

static struct moments moments_of_chunk(const struct tree *t, size_t from, size_t to)
{
    wide lane[512], square[512];
    struct moments m = { 0, 0, 0, from };
    for (size_t j = 0; j < 512; j++) lane[j] = square[j] = 0;
    for (size_t i = from; i < to; i++) {
        size_t j = (i - from) % t->lanes;
        if (left_out(t, i)) continue;
        if (m.n == 0) m.center = i;
        wide d = distance(t, i, m.center);
        lane[j] = to53(lane[j] + d);
        square[j] = to53(square[j] + to53(d * d));
        m.n++;
    }
    wide s1 = pairwise(lane, t->lanes), s2 = pairwise(square, t->lanes);
    if (m.n == 0) return m;
    m.offset = to53(s1 / m.n);
    m.m2 = to53(s2 - to53(to53(s1 * s1) / m.n));
    if (m.m2 < 0) m.m2 = 0;
    if (t->bytes < 8)
        m.offset = to53(number(t->c->dtype, t->part.in + m.center * t->bytes) + m.offset);
    return m;
}

static struct moments moments_of_both(const struct tree *t, struct moments a, struct moments b)
{
    if (b.n == 0) return a;
    if (a.n == 0) return b;
    struct moments m = { 0, 0, a.n + b.n, a.center };
    wide delta = to53(b.offset - a.offset);
    if (t->bytes == 8) delta = to53(distance(t, b.center, a.center) + delta);
    m.offset = to53(a.offset + to53(delta * to53(b.n / m.n)));
    m.m2 = to53(to53(a.m2 + b.m2) + to53(to53(delta * delta) * to53(to53(a.n * b.n) / m.n)));
    return m;
}

static struct moments moments_of_chunks(const struct tree *t, size_t first, size_t width)
{
    size_t chunk = 8 * t->lanes, n = t->part.n;
    if (width == 1)
        return moments_of_chunk(t, first * chunk,
                                (first + 1) * chunk < n ? (first + 1) * chunk : n);
    struct moments left = moments_of_chunks(t, first, width / 2);
    if ((first + width / 2) * chunk >= n) return left;
    return moments_of_both(t, left, moments_of_chunks(t, first + width / 2, width / 2));
}

static double spread(const struct tree *t, size_t width)
{
    struct moments m = moments_of_chunks(t, 0, width);
    if (!(m.n > t->c->ddof)) return (double)NAN;
    wide variance = to53(m.m2 / (m.n - t->c->ddof));
    return (double)(t->c->op == ECH_OP_STDDEV ? root53(variance) : variance);
}

static uint64_t arithmetic(const struct reduce_case *c, struct reduce_part part)
{
    bool narrow = is_float(c->dtype) && c->dtype != ECH_F64 && !c->wide;
    struct tree t = { c, part, narrow && c->op <= ECH_OP_PRODUCT, ech_dtype_bytes(c->dtype), 0 };
    t.lanes = 512 / t.bytes;
    size_t width = 1;
    while (width * 8 * t.lanes < part.n) width *= 2;
    if (c->op == ECH_OP_VARIANCE || c->op == ECH_OP_STDDEV) {
        const double x = spread(&t, width);
        return narrow ? f32_bits(x) : f64_bits(x);
    }
    struct sums s = of_chunks(&t, 0, width);
    double x = s.sum;
    if (c->op != ECH_OP_PRODUCT && x == 0) x = 0; /* never -0 */
    if (c->op == ECH_OP_MEAN) x = s.n > 0 ? x / s.n : (double)NAN;
    if (c->op == ECH_OP_NORM) x = sqrt(x);
    return narrow ? f32_bits(x) : f64_bits(x);
}

/* ---- Integers ---- */

static uint64_t modular(const struct reduce_case *c, struct reduce_part part)
{
    size_t bytes = ech_dtype_bytes(c->dtype);
    uint64_t result = c->op == ECH_OP_PRODUCT ? 1 : c->op == ECH_OP_AND ? ~(uint64_t)0 : 0;
    for (size_t i = 0; i < part.n; i++) {
        uint64_t x = integer(c->dtype, part.in + i * bytes);
        if (c->shape == DOT) x *= integer(c->dtype, part.b + i * bytes);
        switch (c->op) {
        case ECH_OP_SUM:
            result += x;
            break;
        case ECH_OP_PRODUCT:
            result *= x;
            break;
        case ECH_OP_AND:
            result &= x;
            break;
        case ECH_OP_OR:
            result |= x;
            break;
        default:
            result ^= x;
        }
    }
    return result;
}

/* ---- Order ---- */

static int compare(ech_dtype t, const char *a, const char *b, bool signed_zeros)
{
    if (is_float(t)) {
        double x = number(t, a), y = number(t, b);
        if (x == y && signed_zeros) return !!signbit(y) - !!signbit(x);
        return (x > y) - (x < y);
    }
    uint64_t x = integer(t, a), y = integer(t, b);
    if (is_signed(t)) return ((int64_t)x > (int64_t)y) - ((int64_t)x < (int64_t)y);
    return (x > y) - (x < y);
}

bool oracle_equal(ech_dtype t, const char *a, const char *b)
{
    if (!is_float(t)) return raw(t, a) == raw(t, b);
    double x = number(t, a), y = number(t, b);
    return x == y || (x != x && y != y);
}

/* The position of the first maximum (sign 1) or minimum (sign -1); part.n if all elements are
 * ignored. */
static size_t best(const struct reduce_case *c, struct reduce_part part, int sign, bool zeros)
{
    size_t bytes = ech_dtype_bytes(c->dtype), at = part.n;
    for (size_t i = 0; i < part.n; i++) {
        const char *x = part.in + i * bytes;
        bool nan = is_float(c->dtype) && number(c->dtype, x) != number(c->dtype, x);
        if (nan && c->ignore) continue;
        if (nan) return i;
        if (at == part.n || sign * compare(c->dtype, x, part.in + at * bytes, zeros) > 0) at = i;
    }
    return at;
}

static uint64_t extreme(const struct reduce_case *c, struct reduce_part part, int sign)
{
    static const uint64_t nans[] = { 0x7e00, 0x7fc0, 0x7fc00000, (uint64_t)0x7ff8 << 48 };
    static const uint64_t infinities[] = { 0x7c00, 0x7f80, 0x7f800000, (uint64_t)0x7ff << 52 };
    size_t bytes = ech_dtype_bytes(c->dtype), at = best(c, part, sign, true);
    uint64_t top = (uint64_t)1 << (8 * bytes - 1), all = top | (top - 1);
    if (at < part.n) {
        double x = number(c->dtype, part.in + at * bytes);
        return x == x ? raw(c->dtype, part.in + at * bytes) : nans[c->dtype - ECH_F16];
    }
    if (is_float(c->dtype)) return infinities[c->dtype - ECH_F16] | (sign > 0 ? top : 0);
    if (is_signed(c->dtype)) return sign > 0 ? top : top - 1;
    return sign > 0 ? 0 : all;
}

/* ---- Tests of elements ---- */

static bool passes(const struct reduce_case *c, const char *at, const void *value)
{
    uint64_t u = raw(c->dtype, at), v = raw(c->dtype, value);
    bool nan = is_float(c->dtype) && (number(c->dtype, at) != number(c->dtype, at) ||
                                      number(c->dtype, value) != number(c->dtype, value));
    int order = compare(c->dtype, at, value, false);
    switch (c->compare) {
    case ECH_COMPARE_NONZERO:
        return is_float(c->dtype) ? number(c->dtype, at) != 0 : u != 0;
    case ECH_COMPARE_LESS:
        return !nan && order < 0;
    case ECH_COMPARE_LESS_EQUAL:
        return !nan && order <= 0;
    case ECH_COMPARE_EQUAL:
        return !nan && order == 0;
    case ECH_COMPARE_NOT_EQUAL:
        return nan || order != 0;
    case ECH_COMPARE_GREATER_EQUAL:
        return !nan && order >= 0;
    case ECH_COMPARE_GREATER:
        return !nan && order > 0;
    case ECH_COMPARE_IS_NAN:
        return is_float(c->dtype) && number(c->dtype, at) != number(c->dtype, at);
    case ECH_COMPARE_HAS_ANY:
        return (u & v) != 0;
    case ECH_COMPARE_HAS_ALL:
        return (u & v) == v;
    default:
        return (u & v) == 0;
    }
}

void oracle_reduce(const struct reduce_case *c, const void *value, struct reduce_part part,
                   uint64_t bits[2])
{
    size_t bytes = ech_dtype_bytes(c->dtype), at, count = 0, n = 0;
    switch (c->op) {
    case ECH_OP_MIN:
    case ECH_OP_MAX:
        bits[0] = extreme(c, part, c->op == ECH_OP_MAX ? 1 : -1);
        break;
    case ECH_OP_MINMAX:
        bits[0] = extreme(c, part, -1);
        bits[1] = extreme(c, part, 1);
        break;
    case ECH_OP_ARGMIN:
    case ECH_OP_ARGMAX:
        at = best(c, part, c->op == ECH_OP_ARGMAX ? 1 : -1, false);
        bits[0] = at < part.n ? at : UINT64_MAX;
        break;
    case ECH_OP_ANY:
    case ECH_OP_ALL:
    case ECH_OP_COUNT:
        for (size_t i = 0; i < part.n; i++) {
            const char *x = part.in + i * bytes;
            if (c->ignore && is_float(c->dtype) && number(c->dtype, x) != number(c->dtype, x))
                continue;
            count += passes(c, x, value);
            n++;
        }
        bits[0] = c->op == ECH_OP_COUNT ? count : c->op == ECH_OP_ANY ? count > 0 : count == n;
        break;
    default:
        bits[0] =
            is_float(c->dtype) || c->op >= ECH_OP_MEAN ? arithmetic(c, part) : modular(c, part);
    }
}
