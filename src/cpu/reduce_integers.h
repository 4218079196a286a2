/*
 * cpu/reduce_integers.h - template: sums, products and dot products of integers modulo 2^64.
 *
 *   ELEM       int8_t ... uint64_t
 *   SHORT      what the sum of a chunk fits
 *   NAME(x)    x##_i8 ...
 *
 * SPDX-License-Identifier: Apache-2.0
 */

static void NAME(isum)(const struct echi_reduce_rule *rule, const void *in, const void *b, size_t n,
                       struct echi_value *value)
{
    const ELEM *x = (const ELEM *)in;
    SHORT sum = 0;
    (void)rule;
    (void)b;
    for (size_t i = 0; i < n; i++) sum += (SHORT)x[i];
    value->u = (uint64_t)sum;
}

static void NAME(iproduct)(const struct echi_reduce_rule *rule, const void *in, const void *b,
                           size_t n, struct echi_value *value)
{
    enum { LANES = 16 };
    const ELEM *x = (const ELEM *)in;
    uint64_t lane[LANES], product = 1;
    size_t i = 0;
    (void)rule;
    (void)b;
    for (size_t j = 0; j < LANES; j++) lane[j] = 1;
    for (; i + LANES <= n; i += LANES)
        for (size_t j = 0; j < LANES; j++) lane[j] *= (uint64_t)x[i + j];
    for (; i < n; i++) product *= (uint64_t)x[i];
    for (size_t j = 0; j < LANES; j++) product *= lane[j];
    value->u = product;
}

static void NAME(idot)(const struct echi_reduce_rule *rule, const void *in, const void *b, size_t n,
                       struct echi_value *value)
{
    const ELEM *x = (const ELEM *)in, *y = (const ELEM *)b;
    uint64_t sum = 0;
    (void)rule;
    for (size_t i = 0; i < n; i++) sum += (uint64_t)x[i] * (uint64_t)y[i];
    value->u = sum;
}
