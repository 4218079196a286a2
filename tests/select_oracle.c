/*
 * select_oracle.c - creates the data of test_select and computes the expected results.
 *
 * Every element is converted to a long double, which represents all values of all types, and
 * compared in C.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "select_case.h"
#include "sort_case.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(LDBL_MANT_DIG >= 64, "a long double holds 64-bit integers");

static uint64_t bits_at(const char *in, size_t i, size_t bytes)
{
    uint64_t u = 0;
    memcpy(&u, in + i * bytes, bytes); /* little-endian */
    return u;
}

static long double half_value(uint64_t u, int exponent_bits, int fraction_bits)
{
    uint64_t fraction = u & (((uint64_t)1 << fraction_bits) - 1);
    int most = (1 << exponent_bits) - 1, bias = most >> 1;
    int exponent = (int)(u >> fraction_bits) & most;
    long double sign = u >> 15 & 1 ? -1 : 1;
    if (exponent == most) return fraction ? (long double)NAN : sign * (long double)INFINITY;
    if (exponent == 0) return sign * ldexpl((long double)fraction, 1 - bias - fraction_bits);
    return sign * ldexpl((long double)(fraction | (uint64_t)1 << fraction_bits),
                         exponent - bias - fraction_bits);
}

static long double value_of(ech_dtype dtype, uint64_t u)
{
    float f;
    double d;
    int unused = 64 - 8 * (int)ech_dtype_bytes(dtype);
    switch (dtype) {
    case ECH_F16:
        return half_value(u, 5, 10);
    case ECH_BF16:
        return half_value(u, 8, 7);
    case ECH_F32:
        memcpy(&f, &u, sizeof f);
        return (long double)f;
    case ECH_F64:
        memcpy(&d, &u, sizeof d);
        return (long double)d;
    default:
        return dtype <= ECH_I64 ? (long double)((int64_t)(u << unused) >> unused) : (long double)u;
    }
}

static bool passes(ech_compare compare, ech_dtype dtype, uint64_t u, uint64_t v)
{
    long double x = value_of(dtype, u), y = value_of(dtype, v);
    switch (compare) {
    case ECH_COMPARE_NONZERO:
        return x != 0;
    case ECH_COMPARE_LESS:
        return x < y;
    case ECH_COMPARE_LESS_EQUAL:
        return x <= y;
    case ECH_COMPARE_EQUAL:
        return x == y;
    case ECH_COMPARE_NOT_EQUAL:
        return x != y;
    case ECH_COMPARE_GREATER_EQUAL:
        return x >= y;
    case ECH_COMPARE_GREATER:
        return x > y;
    case ECH_COMPARE_IS_NAN:
        return x != x;
    case ECH_COMPARE_HAS_ANY:
        return (u & v) != 0;
    case ECH_COMPARE_HAS_ALL:
        return (u & v) == v;
    default:
        return (u & v) == 0;
    }
}

static bool same(ech_dtype dtype, uint64_t u, uint64_t v)
{
    long double x = value_of(dtype, u), y = value_of(dtype, v);
    return x == y || (x != x && y != y);
}

/* ---- Inputs ---- */

static struct select_array *array(struct select_data *d, int which, const char *name, size_t bytes,
                                  size_t align, size_t gpu_align)
{
    struct select_array *a = &d->arrays[which];
    *a = (struct select_array){ name, bytes, align, gpu_align, NULL, NULL, 0 };
    bool is_input = which < ARRAY_OUT;
    a->input = is_input ? calloc(bytes + 8, 1) : NULL;
    a->want = is_input ? NULL : calloc(bytes + 8, 1);
    return a;
}

static void fill_random(struct select_array *a, uint64_t seed)
{
    struct rng rng = { seed };
    for (size_t b = 0; b < a->bytes; b++) a->input[b] = (char)rng_next(&rng);
}

static bool fill_keys(const struct select_case *c, uint64_t seed, char *keys)
{
    bool lengths = strncmp(c->dist, "len", 3) == 0;
    struct sort_case s = { .dtype = c->dtype, .n = c->n, .dist = lengths ? "special" : c->dist };
    size_t bytes = ech_dtype_bytes(c->dtype), mean = lengths ? (size_t)atoi(c->dist + 3) : 1;
    struct rng rng = { seed + 1 };
    if (!keys_fill(&s, seed, keys)) return false;
    for (size_t i = 1; i < c->n && lengths; i++)
        if (rng_below(&rng, mean)) memcpy(keys + i * bytes, keys + (i - 1) * bytes, bytes);
    return true;
}

static bool flag_at(const struct select_case *c, const char *flags, size_t i)
{
    return c->packed ? (unsigned char)flags[i / 8] >> i % 8 & 1 : flags[i] != 0;
}

static void fill_flags(const struct select_case *c, uint64_t seed, char *flags)
{
    struct rng rng = { seed + 2 };
    for (size_t i = 0; i < c->n; i++) {
        bool set = rng_below(&rng, 100) < (uint64_t)c->percent;
        if (c->packed)
            flags[i / 8] = (char)(flags[i / 8] | (set ? 1 << i % 8 : 0));
        else
            flags[i] = (char)(set ? 1 + rng_below(&rng, 255) : 0);
    }
    if (c->packed && c->n % 8) flags[c->n / 8] |= (char)(0xff << c->n % 8); /* unused bits */
}

/* Lengths of runs: mostly 0 for "zeros", a single long run for "one", 0 to 20 for "len10". */
static uint64_t fill_lengths(const struct select_case *c, uint64_t seed, char *lengths)
{
    struct rng rng = { seed + 3 };
    uint64_t sum = 0, mean = strncmp(c->dist, "len", 3) == 0 ? (uint64_t)atoi(c->dist + 3) : 0;
    for (size_t i = 0; i < c->n; i++) {
        uint64_t length = mean ? rng_below(&rng, 2 * mean + 1) : 0;
        if (strcmp(c->dist, "ones") == 0) length = 1;
        if (strcmp(c->dist, "zeros") == 0) length = rng_below(&rng, 50) ? 0 : rng_below(&rng, 99);
        if (strcmp(c->dist, "one") == 0) length = i == c->n / 2 ? 9001 : 0;
        memcpy(lengths + 8 * i, &length, 8);
        sum += length;
    }
    return sum;
}

static size_t opaque_align(size_t bytes)
{
    size_t align = 16;
    while (bytes % align) align /= 2;
    return align;
}

/* ---- Expected results ---- */

static void append(struct select_array *a, const char *from, size_t bytes)
{
    if (!a->bytes) return;
    memcpy(a->want + a->want_bytes, from, bytes);
    a->want_bytes += bytes;
}

/* The part of the output that element i belongs to: 0 first, 1 second of three, 2 last. */
static int kind_of(const struct select_data *d, size_t i)
{
    const struct select_case *c = d->c;
    const char *in = d->arrays[ARRAY_IN].input;
    bool kept;
    if (c->call == CALL_SELECT_FLAGS || c->call == CALL_PARTITION_FLAGS) {
        kept = flag_at(c, d->arrays[ARRAY_FLAGS].input, i);
        return kept != c->invert ? 0 : 2;
    }
    uint64_t u = bits_at(in, i, d->element_bytes);
    uint64_t low = bits_at(d->value, 0, d->element_bytes);
    uint64_t high = bits_at(d->high, 0, d->element_bytes);
    if (c->call == CALL_THREE)
        return passes(ECH_COMPARE_LESS, c->dtype, u, low)          ? 0
               : passes(ECH_COMPARE_LESS_EQUAL, c->dtype, u, high) ? 1
                                                                   : 2;
    if (c->call == CALL_SELECT_IF || c->call == CALL_PARTITION_IF)
        kept = passes(c->compare, c->dtype, u, low);
    else
        kept = i == 0 || !same(c->dtype, u, bits_at(in, i - 1, d->element_bytes));
    return kept != c->invert ? 0 : 2;
}

ech_dtype select_positions(const struct select_case *c)
{
    return index_dtype(c->n / 2 + (size_t)c->percent, c->n);
}

static void answer(struct select_data *d)
{
    const struct select_case *c = d->c;
    struct select_array *out = &d->arrays[ARRAY_OUT], *values = &d->arrays[ARRAY_VALUES];
    bool all =
        c->call == CALL_THREE || c->call == CALL_PARTITION_FLAGS || c->call == CALL_PARTITION_IF;
    uint64_t counts[2] = { 0, 0 }, last = 0;
    for (int kind = 0; kind < 3; kind++)
        for (uint64_t i = 0; i < c->n; i++) {
            if (kind_of(d, i) != kind || (kind && !all)) continue;
            if (kind < 2) counts[kind]++;
            if (c->index)
                append(out, (const char *)&i, ech_dtype_bytes(select_positions(c)));
            else
                append(out, d->arrays[ARRAY_IN].input + i * d->element_bytes, d->element_bytes);
            if (c->value_bytes)
                append(&d->arrays[ARRAY_VALUES_OUT], values->input + i * c->value_bytes,
                       c->value_bytes);
            uint64_t length = i - last;
            if (i) append(&d->arrays[ARRAY_LENGTHS_OUT], (const char *)&length, 8);
            last = i;
        }
    uint64_t length = c->n - last;
    if (c->n) append(&d->arrays[ARRAY_LENGTHS_OUT], (const char *)&length, 8);
    append(&d->arrays[ARRAY_COUNT], (const char *)counts, c->call == CALL_THREE ? 16 : 8);
}

/* ---- Cases ---- */

static bool make_decode(struct select_data *d, uint64_t seed)
{
    const struct select_case *c = d->c;
    struct select_array *in, *lengths, *out;
    in = array(d, ARRAY_IN, "in", c->n * c->element_bytes, 1, opaque_align(c->element_bytes));
    lengths = array(d, ARRAY_LENGTHS, "lengths", c->n * 8, 8, 8);
    fill_random(in, seed);
    d->out_n = (size_t)fill_lengths(c, seed, lengths->input) + c->extra;
    out =
        array(d, ARRAY_OUT, "out", d->out_n * c->element_bytes, 1, opaque_align(c->element_bytes));
    for (size_t run = 0; run < c->n; run++)
        for (uint64_t k = 0; k < bits_at(lengths->input, run, 8); k++)
            append(out, in->input + run * c->element_bytes, c->element_bytes);
    memset(out->want + out->want_bytes, 0x5C, out->bytes - out->want_bytes); /* unchanged */
    out->want_bytes = out->bytes;
    return true;
}

/* The operands of the comparison are taken from the data, so that some elements are equal to
 * them. */
static void choose_values(struct select_data *d)
{
    const struct select_case *c = d->c;
    uint64_t v[2] = { 0, 0 };
    for (size_t k = 0; k < 2 && c->n; k++)
        v[k] = bits_at(d->arrays[ARRAY_IN].input, (k + 1) * c->n / 3, d->element_bytes);
    for (size_t k = 0; k < 2 && c->call == CALL_THREE; k++)
        if (value_of(c->dtype, v[k]) != value_of(c->dtype, v[k])) v[k] = 0;
    bool swap = c->call == CALL_THREE && value_of(c->dtype, v[0]) > value_of(c->dtype, v[1]);
    memcpy(d->value, &v[swap], 8);
    memcpy(d->high, &v[!swap], 8);
}

bool select_make(const struct select_case *c, uint64_t seed, struct select_data *d)
{
    bool by_flags = c->call == CALL_SELECT_FLAGS || c->call == CALL_PARTITION_FLAGS;
    *d = (struct select_data){ .c = c };
    d->element_bytes = c->element_bytes ? c->element_bytes : ech_dtype_bytes(c->dtype);
    if (c->call == CALL_DECODE) return make_decode(d, seed);
    size_t bytes = d->element_bytes, align = by_flags ? 1 : bytes;
    size_t gpu_align = by_flags ? opaque_align(bytes) : bytes;
    struct select_array *in = array(d, ARRAY_IN, "in", c->n * bytes, align, gpu_align);
    if (by_flags)
        fill_random(in, seed);
    else if (!fill_keys(c, seed, in->input))
        return false;
    if (by_flags) {
        array(d, ARRAY_FLAGS, "flags", c->packed ? (c->n + 7) / 8 : c->n, 1, 1);
        fill_flags(c, seed, d->arrays[ARRAY_FLAGS].input);
    }
    if (c->index) {
        const size_t width = ech_dtype_bytes(select_positions(c));
        array(d, ARRAY_OUT, "out", c->n * width, width, width);
    } else
        array(d, ARRAY_OUT, "out", c->n * bytes, align, gpu_align);
    if (c->value_bytes) {
        size_t value_align = opaque_align(c->value_bytes);
        array(d, ARRAY_VALUES_OUT, "values_out", c->n * c->value_bytes, 1, value_align);
        fill_random(array(d, ARRAY_VALUES, "values", c->n * c->value_bytes, 1, value_align), seed);
    }
    if (c->call == CALL_ENCODE) array(d, ARRAY_LENGTHS_OUT, "lengths", c->n * 8, 8, 8);
    array(d, ARRAY_COUNT, "count", c->call == CALL_THREE ? 16 : 8, 8, 8);
    if (!by_flags) choose_values(d);
    answer(d);
    return true;
}

void select_free(struct select_data *d)
{
    for (int i = 0; i < ARRAYS; i++) {
        free(d->arrays[i].input);
        free(d->arrays[i].want);
    }
}
