/*
 * matmul_oracle.c - creates the data of products and computes the expected results.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "matmul_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Elements ---- */

static double get_f16(uint16_t u)
{
    const int exponent = u >> 10 & 31, fraction = u & 1023;
    const double magnitude = exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
                             : exponent     ? (1024 + fraction) * (double)(1u << exponent) * 0x1p-25
                                            : fraction * 0x1p-24;
    return u >> 15 ? -magnitude : magnitude;
}

/* Rounds to the precision of the format, ties to even, as rint() does. */
static uint16_t put_small(double x, int fraction_bits, int least_exponent, int bias)
{
    const uint16_t sign = (uint16_t)(signbit(x) ? 0x8000 : 0);
    const uint16_t infinity = (uint16_t)(0x7fff >> fraction_bits << fraction_bits);
    int exponent;
    if (isnan(x)) return (uint16_t)(infinity | 1 << (fraction_bits - 1));
    x = fabs(x);
    if (isinf(x)) return (uint16_t)(sign | infinity);
    if (x == 0) return sign;
    frexp(x, &exponent); /* x is in [2^(exponent - 1), 2^exponent) */
    exponent = exponent - 1 < least_exponent ? least_exponent : exponent - 1;
    const double places = rint(ldexp(x, fraction_bits - exponent));
    const double whole = ldexp(places, exponent - fraction_bits);
    if (whole >= ldexp(1, (1 << (15 - fraction_bits)) - 1 - bias))
        return (uint16_t)(sign | infinity);
    /* the largest subnormal is followed by the smallest normal number */
    const int base = (exponent + bias - 1) * (1 << fraction_bits);
    return (uint16_t)(sign | (uint16_t)(base + (int)places));
}

double matmul_get(ech_dtype dtype, const void *from, size_t i)
{
    uint32_t u;
    float x;
    switch (dtype) {
    case ECH_F16:
        return get_f16(((const uint16_t *)from)[i]);
    case ECH_BF16:
        u = (uint32_t)((const uint16_t *)from)[i] << 16;
        memcpy(&x, &u, sizeof x);
        return x;
    case ECH_F32:
        return ((const float *)from)[i];
    default:
        return ((const double *)from)[i];
    }
}

void matmul_put(ech_dtype dtype, void *to, size_t i, double x)
{
    const uint64_t nan64 = 0x7ff8000000000000;
    const uint32_t nan32 = 0x7fc00000;
    const float narrow = (float)x;
    switch (dtype) {
    case ECH_F16:
        ((uint16_t *)to)[i] = put_small(x, 10, -14, 15);
        break;
    case ECH_BF16:
        ((uint16_t *)to)[i] = put_small(x, 7, -126, 127);
        break;
    case ECH_F32:
        memcpy((char *)to + 4 * i, isnan(x) ? (const void *)&nan32 : &narrow, 4);
        break;
    default:
        memcpy((char *)to + 8 * i, isnan(x) ? (const void *)&nan64 : &x, 8);
    }
}

void matmul_fill(ech_dtype dtype, const char *dist, void *to, size_t n, uint64_t seed)
{
    static const double special[] = {
        (double)NAN, (double)INFINITY, -(double)INFINITY, 0.0, -0.0, 1e-40, -6e-8, 1e30
    };
    const bool is_special = strcmp(dist, "special") == 0, is_nan = strcmp(dist, "nan") == 0;
    struct rng rng = { seed };
    for (size_t i = 0; i < n; i++) {
        const uint64_t r = rng_next(&rng);
        double x = ldexp((double)(int64_t)(r >> 11) - 0x1p52, -51);
        if (is_special && r % 16 == 0) x = special[r / 16 % 8];
        if (is_nan) x = (double)NAN;
        matmul_put(dtype, to, i, dtype == ECH_F64 ? x : (double)(float)x);
    }
}

/* ---- Products ---- */

size_t product_a_stride(const struct product *p)
{
    return (p->turn_a ? p->m : p->k) + p->a_gap;
}

size_t product_b_stride(const struct product *p)
{
    return (p->turn_b ? p->k : p->n) + p->b_gap;
}

size_t product_a_step(const struct product *p)
{
    return p->shared_a ? 0 : (p->turn_a ? p->k : p->m) * product_a_stride(p) + 3 * p->a_gap;
}

size_t product_b_step(const struct product *p)
{
    return p->shared_b ? 0 : (p->turn_b ? p->n : p->k) * product_b_stride(p) + p->b_gap;
}

size_t product_c_step(const struct product *p)
{
    return p->m * (p->n + p->c_gap) + 5 * p->c_gap;
}

ech_dtype product_c_dtype(const struct product *p)
{
    return p->wide ? ECH_F32 : p->dtype;
}

static double get_a(const struct product *p, const void *a, size_t which, size_t i, size_t t)
{
    const size_t stride = product_a_stride(p);
    return matmul_get(p->dtype, a,
                      which * product_a_step(p) + (p->turn_a ? t * stride + i : i * stride + t));
}

static double get_b(const struct product *p, const void *b, size_t which, size_t t, size_t j)
{
    const size_t stride = product_b_stride(p);
    return matmul_get(p->dtype, b,
                      which * product_b_step(p) + (p->turn_b ? j * stride + t : t * stride + j));
}

static double end_f32(double s, double alpha, double beta, double before)
{
    volatile float r = (float)alpha * (float)s;
    return beta != 0 ? fmaf((float)beta, (float)before, r) : r;
}

static double end_f64(double s, double alpha, double beta, double before)
{
    volatile double r = alpha * s;
    return beta != 0 ? fma(beta, before, r) : r;
}

static double scaled(bool f64, double beta, double before)
{
    volatile float narrow = (float)beta * (float)before;
    volatile double wide = beta * before;
    return f64 ? wide : narrow;
}

void product_exact(const struct product *p, const void *a, const void *b, void *c)
{
    const bool f64 = p->dtype == ECH_F64, empty = p->k == 0 || p->alpha == 0;
    const ech_dtype out = product_c_dtype(p);
    if (empty && p->beta == 1) return;
    for (size_t which = 0; which < p->count; which++)
        for (size_t i = 0; i < p->m; i++)
            for (size_t j = 0; j < p->n; j++) {
                const size_t at = which * product_c_step(p) + i * (p->n + p->c_gap) + j;
                const double before = p->beta != 0 ? matmul_get(out, c, at) : 0;
                double s = 0;
                for (size_t t = 0; t < p->k && !empty; t++) {
                    const double x = get_a(p, a, which, i, t), y = get_b(p, b, which, t, j);
                    s = f64 ? fma(x, y, s) : (double)fmaf((float)x, (float)y, (float)s);
                }
                if (empty)
                    s = p->beta == 0 ? 0 : scaled(f64, p->beta, before);
                else
                    s = f64 ? end_f64(s, p->alpha, p->beta, before)
                            : end_f32(s, p->alpha, p->beta, before);
                matmul_put(out, c, at, s);
            }
}

double product_bound(const struct product *p, const void *a, const void *b, const void *before,
                     size_t which, size_t i, size_t j, double *value)
{
    const ech_dtype out = product_c_dtype(p);
    const size_t at = which * product_c_step(p) + i * (p->n + p->c_gap) + j;
    const double eps = p->dtype == ECH_F64 ? 0x1p-53 : 0x1p-24;
    const double last = out == ECH_F16 ? 0x1p-11 : out == ECH_BF16 ? 0x1p-8 : eps;
    const double c = p->beta != 0 ? matmul_get(out, before, at) : 0;
    long double sum = 0, size = 0;
    for (size_t t = 0; t < p->k; t++) {
        const long double x =
            (long double)get_a(p, a, which, i, t) * (long double)get_b(p, b, which, t, j);
        sum += x;
        size += fabsl(x);
    }
    const long double exact = (long double)p->alpha * sum + (long double)p->beta * c;
    const long double all = fabsl((long double)p->alpha) * size + fabsl((long double)(p->beta * c));
    *value = (double)exact;
    return (double)(all * (eps * (double)(p->k + 8)) + fabsl(exact) * last * 1.01L +
                    0x1p-24L * (last > 1e-4));
}

/* ---- A matrix times a vector ---- */

enum { LANES = 64, CHUNK = 4096, BLOCK = 64 };

static double fused(bool f64, double x, double y, double z)
{
    return f64 ? fma(x, y, z) : (double)fmaf((float)x, (float)y, (float)z);
}

static double added(bool f64, double x, double y)
{
    volatile float narrow = (float)x + (float)y;
    volatile double wide = x + y;
    return f64 ? wide : narrow;
}

/* The sum of terms [n] times factors [n] (NULL: ones). */
static double row_sum(bool f64, const double *terms, const double *factors, size_t n)
{
    const size_t chunks = n > CHUNK ? (n + CHUNK - 1) / CHUNK : 1;
    double *sums = calloc(chunks, sizeof *sums), result;
    if (!sums) abort();
    for (size_t c = 0; c < chunks; c++) {
        double lane[LANES] = { 0 };
        for (size_t i = c * CHUNK; i < n && i < (c + 1) * CHUNK; i++)
            lane[i % LANES] = fused(f64, terms[i], factors ? factors[i] : 1, lane[i % LANES]);
        for (size_t half = LANES / 2; half; half /= 2)
            for (size_t l = 0; l < half; l++) lane[l] = added(f64, lane[l], lane[l + half]);
        sums[c] = lane[0];
    }
    result = chunks > 1 ? row_sum(f64, sums, NULL, chunks) : sums[0];
    free(sums);
    return result;
}

static double column_sum(bool f64, const double *terms, const double *factors, size_t n)
{
    const size_t blocks = n > BLOCK ? (n + BLOCK - 1) / BLOCK : 1;
    double *sums = calloc(blocks, sizeof *sums), result;
    if (!sums) abort();
    for (size_t i = 0; i < n; i++)
        sums[i / BLOCK] = fused(f64, terms[i], factors ? factors[i] : 1, sums[i / BLOCK]);
    result = blocks > 1 ? column_sum(f64, sums, NULL, blocks) : sums[0];
    free(sums);
    return result;
}

void matvec_exact(ech_dtype dtype, int turn, size_t rows, size_t cols, double alpha, const void *a,
                  size_t stride, const void *x, double beta, void *y)
{
    const size_t n = turn ? cols : rows, terms = turn ? rows : cols;
    const bool f64 = dtype == ECH_F64, empty = terms == 0 || alpha == 0;
    double *line = calloc(terms + 1, sizeof *line), *factors = calloc(terms + 1, sizeof *factors);
    if (!line || !factors) abort();
    for (size_t t = 0; t < terms && !empty; t++) factors[t] = matmul_get(dtype, x, t);
    for (size_t i = 0; i < n && !(empty && beta == 1); i++) {
        const double before = beta != 0 ? matmul_get(dtype, y, i) : 0;
        double s;
        for (size_t t = 0; t < terms && !empty; t++)
            line[t] = matmul_get(dtype, a, turn ? t * stride + i : i * stride + t);
        if (empty) {
            s = beta == 0 ? 0 : scaled(f64, beta, before);
        } else {
            s = turn ? column_sum(f64, line, factors, terms) : row_sum(f64, line, factors, terms);
            s = f64 ? end_f64(s, alpha, beta, before) : end_f32(s, alpha, beta, before);
        }
        matmul_put(dtype, y, i, s);
    }
    free(line);
    free(factors);
}
