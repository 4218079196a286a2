/*
 * arrange_cases.c - the cases of test_arrange: every operation with element sizes, lengths near
 * tile sizes, alignments and memory locations.
 *
 * Alignment, memory location and order of indices vary from case to case. They are not combined
 * with each other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "arrange_case.h"

#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const size_t sizes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 100 };
static const size_t large_sizes[] = { 255, 256, 257,  512,  513,   514,
                                      516, 528, 1000, 4000, 10007, 70000 };
static const size_t lengths[] = { 0,    1,    2,    3,    5,    31,    32,    33,     255,
                                  256,  257,  1000, 1023, 1025, 2047,  2048,  2049,   4095,
                                  4096, 4097, 8191, 8193, 9973, 16385, 65537, 1000003 };

static void (*run_case)(const struct arrange_case *c);
static unsigned turn;

/* Sets the alignment and the memory location, which vary from case to case. */
static void add(struct arrange_case c)
{
    turn = turn * 1664525u + 1013904223u;
    c.offset = (int)(turn >> 8 & 3);
    c.place = turn >> 12 & 3 ? ON_DEVICE : (enum arrange_place)(turn >> 16 & 3);
    run_case(&c);
}

/* ---- Opaque elements of one size and length ---- */

static void opaque(size_t bytes, size_t n)
{
    struct arrange_case c = { .n = n, .element_bytes = bytes };
    static const ech_dtype index[] = { ECH_U32, ECH_U64, ECH_I32, ECH_I64 };
    c.what = GATHER;
    for (int i = 0; i < 2; i++) {
        c.dtype = index[i + (int)(turn >> 28 & 2)];
        c.variant = (int)(turn >> 20) % 4;
        c.other = turn >> 24 & 1 ? n : n / 3 + 1;
        add(c);
    }
    c.what = SCATTER;
    for (int i = 0; i < 2; i++) {
        c.dtype = index[i + (int)(turn >> 28 & 2)];
        c.variant = 0;
        c.other = turn >> 24 & 1 ? n : n + n / 2 + 5;
        add(c);
    }
    c.dtype = 0;
    c.what = REVERSE;
    for (c.variant = 0; c.variant < 2; c.variant++) add(c);
    c.variant = 0;
    c.what = ROTATE;
    const size_t by[] = { 0, 1, n / 2, 3 * n + 2, n - (n > 0) };
    for (size_t i = 0; i < COUNT(by); i++) {
        c.other = by[i];
        if (n < 5000 || i % 2) add(c);
    }
    c.other = 0;
    c.what = FILL;
    add(c);
    c.what = SHUFFLE;
    c.seed = turn % 3 ? turn : 0;
    add(c);
    c.what = SAMPLE;
    c.other = n / 3;
    add(c);
}

static void transposes(size_t bytes)
{
    static const size_t shapes[][2] = {
        { 0, 5 },     { 5, 0 },     { 1, 1 },      { 1, 2 },    { 2, 1 },     { 1, 3000 },
        { 3000, 1 },  { 2, 2 },     { 2, 1025 },   { 1025, 2 }, { 3, 700 },   { 700, 3 },
        { 7, 600 },   { 600, 7 },   { 31, 33 },    { 33, 31 },  { 32, 32 },   { 63, 65 },
        { 64, 64 },   { 65, 63 },   { 66, 130 },   { 17, 257 }, { 257, 17 },  { 128, 128 },
        { 132, 140 }, { 127, 129 }, { 999, 1001 }, { 68, 196 }, { 260, 132 }, { 64, 516 }
    };
    for (size_t i = 0; i < COUNT(shapes); i++) {
        struct arrange_case c = { .what = TRANSPOSE, .element_bytes = bytes };
        c.n = shapes[i][0];
        c.other = shapes[i][1];
        if (c.n * c.other * bytes <= 4000000) add(c);
    }
    /* Several tiles in both directions, whose rows begin at multiples of 4 or 16 bytes. */
    for (int turned = 0; turned < 2 && (bytes <= 2 || bytes == 4); turned++) {
        struct arrange_case c = { .what = TRANSPOSE, .element_bytes = bytes, .always = true };
        c.n = turned ? 308 : 196;
        c.other = turned ? 196 : 308;
        run_case(&c);
    }
}

/* ---- Typed elements ---- */

static void typed(size_t n)
{
    for (int dtype = ECH_I8; dtype <= ECH_F64; dtype++)
        for (int variant = 0; variant < 8; variant++) {
            struct arrange_case c = { .what = IOTA, .n = n, .dtype = (ech_dtype)dtype };
            c.element_bytes = ech_dtype_bytes(c.dtype);
            c.variant = variant;
            if (n < 5000 || (variant + dtype) % 4 == 0) add(c);
        }
    static const uint64_t seeds[] = { 0, 1, 12345678901234567u };
    for (int s = 0; s < 3; s++)
        for (int wide = 0; wide < 2; wide++) {
            struct arrange_case c = { .what = PERMUTATION, .n = n, .seed = seeds[s] };
            c.dtype = index_sign(wide ? ECH_U64 : ECH_U32, n + (size_t)s);
            c.element_bytes = ech_dtype_bytes(c.dtype);
            add(c);
        }
}

void arrange_cases(void (*run)(const struct arrange_case *c))
{
    run_case = run;
    turn = 1;
    for (size_t s = 0; s < COUNT(sizes); s++) {
        for (size_t i = 0; i < COUNT(lengths); i++)
            if (lengths[i] * sizes[s] <= 8200000) opaque(sizes[s], lengths[i]);
        transposes(sizes[s]);
    }
    for (size_t s = 0; s < COUNT(large_sizes); s++) {
        const size_t few[] = { 0, 1, 2, 3, 16, 17, 37 };
        for (size_t i = 0; i < COUNT(few); i++) opaque(large_sizes[s], few[i]);
        transposes(large_sizes[s]);
    }
    for (size_t i = 0; i < COUNT(lengths); i++) typed(lengths[i]);
    for (size_t n = 0; n < 100; n++) typed(n); /* also around squares and powers of two */
}

void arrange_case_id(const struct arrange_case *c, char *id, size_t capacity_bytes)
{
    static const char *const names[] = { "gather", "scatter", "reverse",     "rotate",  "transpose",
                                         "fill",   "iota",    "permutation", "shuffle", "sample" };
    static const char *const places[] = { "device", "host", "in-on-host", "out-on-host" };
    int length = snprintf(id, capacity_bytes, "%s(n=%zu", names[c->what], c->n);
    char *end = id + length;
    capacity_bytes -= (size_t)length;
    if (c->what == IOTA || c->what == PERMUTATION)
        length = snprintf(end, capacity_bytes, ",%s", ech_dtype_name(c->dtype));
    else if (c->what == GATHER || c->what == SCATTER)
        length = snprintf(end, capacity_bytes, ",%zu,bytes=%zu,index=%s", c->other,
                          c->element_bytes, ech_dtype_name(c->dtype));
    else
        length = snprintf(end, capacity_bytes, ",%zu,bytes=%zu", c->other, c->element_bytes);
    snprintf(end + length, capacity_bytes - (size_t)length, ",v=%d,seed=%llu,off=%d,%s)",
             c->variant, (unsigned long long)c->seed, c->offset, places[c->place]);
}
