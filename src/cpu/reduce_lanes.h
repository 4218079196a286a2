/*
 * cpu/reduce_lanes.h - template: sums and products of floats in lanes, and variance.
 *
 *   ELEM       the element as it lies in memory
 *   ACC        float or double, in which it is computed
 *   LOAD(u)    an ELEM as an ACC
 *   NAME(x)    x##_bf16_f32 ...
 *
 * The lanes are an array in the nearest cache: a line of 512 bytes is added to it at a time, by
 * vectors of whatever width the including file has.  docs/reduce.md has the order of the additions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Lane j becomes the sum of the lanes 2j and 2j + 1, until one is left. */
static inline __attribute__((always_inline)) ACC NAME(fold)(ACC *lane, size_t n, int product)
{
    size_t width = 1;
    while (width < n) width *= 2;
    for (size_t half = width / 2; half; half /= 2)
        for (size_t j = 0; j < half; j++)
            lane[j] = product ? lane[2 * j] * lane[2 * j + 1] : lane[2 * j] + lane[2 * j + 1];
    return lane[0];
}

/* One line, or what the last has, is added to the lanes. */
static inline __attribute__((always_inline)) void NAME(add)(ACC *lane, const ELEM *x, const ELEM *y,
                                                            size_t n, int how, bool ignore)
{
    for (size_t j = 0; j < n; j++) {
        ACC v = LOAD(x[j]);
        bool nan = v != v;
        if (how == OF_DOT) {
            ACC w = LOAD(y[j]);
            nan |= w != w;
            v = v * w;
        }
        if (how == OF_SQUARES) v = v * v;
        v = ignore & nan ? (how == OF_PRODUCT ? (ACC)1 : (ACC)-0.0) : v;
        lane[j] = how == OF_PRODUCT ? lane[j] * v : lane[j] + v;
    }
}

static inline __attribute__((always_inline)) ACC NAME(lanes)(const void *in, const void *other,
                                                             size_t n, int how, bool ignore)
{
    enum { L = ECHI_LINE_BYTES / sizeof(ELEM) };
    const ELEM *x = (const ELEM *)in, *y = (const ELEM *)other;
    ACC lane[L];
    size_t used = n < L ? n : L;
    for (size_t j = 0; j < L; j++) lane[j] = how == OF_PRODUCT ? (ACC)1 : (ACC)-0.0;
    size_t i = 0;
    for (; i + L <= n; i += L) NAME(add)(lane, x + i, how == OF_DOT ? y + i : y, L, how, ignore);
    NAME(add)(lane, x + i, how == OF_DOT ? y + i : y, n - i, how, ignore);
    return NAME(fold)(lane, used, how == OF_PRODUCT);
}

static inline uint64_t NAME(nans)(const void *in, size_t n)
{
    const ELEM *x = (const ELEM *)in;
    uint64_t count = 0;
    for (size_t i = 0; i < n; i++) {
        ACC v = LOAD(x[i]);
        count += v != v;
    }
    return count;
}

#ifdef IN_F64
static void NAME(sum)(const struct echi_reduce_rule *rule, const void *in, const void *b, size_t n,
                      struct echi_value *value)
{
    (void)b;
    value->d.sum = rule->finish == ECHI_FINISH_NORM
                       ? NAME(lanes)(in, NULL, n, OF_SQUARES, rule->ignore)
                       : NAME(lanes)(in, NULL, n, OF_SUM, rule->ignore);
    value->d.ignored = rule->ignore ? NAME(nans)(in, n) : 0;
}

static void NAME(variance)(const struct echi_reduce_rule *rule, const void *in, const void *b,
                           size_t n, struct echi_value *value)
{
    enum { L = ECHI_LINE_BYTES / sizeof(ELEM) };
    const ELEM *x = (const ELEM *)in;
    double first[L], second[L], k = LOAD(x[0]);
    bool ignore = rule->ignore;
    size_t used = n < L ? n : L;
    (void)b;
    for (size_t i = 1; ignore && k != k && i < n; i++) k = LOAD(x[i]);
    for (size_t j = 0; j < L; j++) first[j] = second[j] = -0.0;
    for (size_t i = 0; i < n; i += L) {
        size_t here = n - i < L ? n - i : L;
        for (size_t j = 0; j < here; j++) {
            double d = LOAD(x[i + j]) - k, square = d * d;
            /* k is a number where NaN are ignored, or there is no number at all */
            bool skip = ignore & (LOAD(x[i + j]) != LOAD(x[i + j]));
            first[j] += skip ? -0.0 : d;
            second[j] += skip ? -0.0 : square;
        }
    }
    size_t there = n - (ignore ? NAME(nans)(in, n) : 0);
    double s1 = NAME(fold)(first, used, 0), s2 = NAME(fold)(second, used, 0);
    value->moments = moments_make((double)there, k, s1, s2);
}

#define RESULT d.sum
#else
static void NAME(sum)(const struct echi_reduce_rule *rule, const void *in, const void *b, size_t n,
                      struct echi_value *value)
{
    (void)b;
    value->f = NAME(lanes)(in, NULL, n, OF_SUM, rule->ignore);
}

#define RESULT f
#endif

#ifdef IS_FLOAT
static void NAME(product)(const struct echi_reduce_rule *rule, const void *in, const void *b,
                          size_t n, struct echi_value *value)
{
    (void)b;
    *value = (struct echi_value){ .RESULT = NAME(lanes)(in, NULL, n, OF_PRODUCT, rule->ignore) };
}

static void NAME(dot)(const struct echi_reduce_rule *rule, const void *in, const void *b, size_t n,
                      struct echi_value *value)
{
    *value = (struct echi_value){ .RESULT = NAME(lanes)(in, b, n, OF_DOT, rule->ignore) };
}
#endif

#undef RESULT
