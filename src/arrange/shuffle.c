/*
 * arrange/shuffle.c - ech_permutation() and related functions: checks the arguments, computes the
 * map of shuffle.h, and calls the backend.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "arrange/arrange.h"

/* ---- The map ---- */

/* The output function of splitmix64 (Steele, Lea and Flood 2014). */
static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* The minimum even number whose square is at least n <= 2^62. */
static uint64_t even_root(uint64_t n)
{
    uint64_t low = 0, high = (uint64_t)1 << 30; /* half of it, by bisection */
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (4 * middle * middle < n)
            low = middle + 1;
        else
            high = middle;
    }
    return 2 * low;
}

static uint64_t at_least(uint64_t x, uint64_t least)
{
    return x < least ? least : x;
}

struct echi_shuffle echi_shuffle_make(uint64_t n, uint64_t seed)
{
    const uint64_t golden = 0x9E3779B97F4A7C15u;
    struct echi_shuffle map = { .n = n };
    uint64_t a = at_least(even_root(n), ECHI_SHUFFLE_MIN);
    map.a = (uint32_t)a;
    map.b = (uint32_t)at_least(n / a + (n % a != 0), ECHI_SHUFFLE_MIN);
    map.inverse = UINT64_MAX / a; /* rounded down; if a is a power of two, this is one too small */
    if ((a & (a - 1)) == 0) map.inverse++;
    uint64_t state = mix(mix(seed + golden) ^ n);
    for (uint64_t r = 0; r < ECHI_SHUFFLE_ROUNDS; r++)
        map.keys[r] = (uint32_t)(mix(state + (r + 1) * golden) >> 32);
    return map;
}

/* ---- Calls ---- */

static ech_status check_n(ech_ctx *ctx, size_t n)
{
    if (n <= (size_t)1 << 62) return ECH_OK;
    return echi_fail(ctx, ECH_ERR_ARG, "n is %zu: at most 2^62 is supported", n);
}

ech_status ech_permutation(ech_ctx *ctx, void *out, size_t n, ech_dtype dtype, uint64_t seed)
{
    struct echi_arrange a = { .what = ECHI_PERMUTATION, .out = out, .n = n };
    ech_status status;
    TRY(echi_check_index(ctx, "dtype", dtype, "n", n));
    a.element_bytes = echi_dtype_bytes(dtype);
    TRY(echi_check_count(ctx, "n", n, a.element_bytes));
    a.map = echi_shuffle_make(n, seed);
    struct echi_call call;
    echi_arrange_call(&call, ctx, &a, "a permutation", 0, n * a.element_bytes);
    echi_call_array(&call, 0)->align = a.element_bytes;
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

/* The first k elements of the shuffled array. */
static ech_status shuffle(ech_ctx *ctx, const char *what, const void *in, void *out, size_t n,
                          size_t k, size_t element_bytes, uint64_t seed)
{
    struct echi_arrange a = {
        .what = ECHI_SHUFFLE, .in = in, .out = out, .n = k, .element_bytes = element_bytes
    };
    ech_status status;
    TRY(echi_check_elements(ctx, n, element_bytes));
    TRY(check_n(ctx, n));
    if (k > n) FAIL(ctx, ECH_ERR_ARG, "k is %zu: it must not exceed n, which is %zu", k, n);
    a.map = echi_shuffle_make(n, seed);
    struct echi_call call;
    echi_arrange_call(&call, ctx, &a, what, k ? n * element_bytes : 0, k * element_bytes);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

ech_status ech_shuffle(ech_ctx *ctx, const void *in, void *out, size_t n, size_t element_bytes,
                       uint64_t seed)
{
    return shuffle(ctx, "a shuffle", in, out, n, n, element_bytes, seed);
}

ech_status ech_sample(ech_ctx *ctx, const void *in, void *out, size_t n, size_t k,
                      size_t element_bytes, uint64_t seed)
{
    return shuffle(ctx, "a sample", in, out, n, k, element_bytes, seed);
}
