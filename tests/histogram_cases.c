/*
 * histogram_cases.c - the cases of test_histogram.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "histogram_case.h"

enum { DTYPES = 12 };
#define LENGTH(array) (sizeof(array) / sizeof *(array))

typedef void (*run_function)(const struct histogram_case *);

static bool is_float(ech_dtype dtype)
{
    return dtype >= ECH_F16;
}

/* Every dtype at sizes where a loop starts, or a warp, a vector or a block is exactly full. */
static void small_sizes(run_function run)
{
    static const size_t sizes[] = { 0,  1,  2,   3,   15,  16,  17,  31,   32,   33,
                                    63, 64, 255, 256, 257, 511, 999, 1024, 2047, 4099 };
    for (int t = 0; t < DTYPES; t++)
        for (size_t s = 0; s < LENGTH(sizes); s++) {
            struct histogram_case c = { .dtype = (ech_dtype)t, .n = sizes[s], .dist = "inside" };
            c.bins = 1 + s * 7 % 40;
            c.lower = 3;
            c.upper = 103;
            c.outside = (ech_outside)(s % 3);
            c.closed = (s + (size_t)t) % 2;
            run(&c);
            c.kind = EDGES;
            run(&c);
        }
}

/* All options in turn, with ranges inside and beyond the range of the dtype. */
static void options(run_function run)
{
    static const struct {
        double lower, upper;
        size_t bins;
    } ranges[] = { { 0, 256, 256 },        { -128, 128, 256 },     { 0, 100, 10 },
                   { -7, 50, 13 },         { 5, 77, 300 },         { -1000, 1000, 8 },
                   { -0x1p31, 0x1p31, 7 }, { 0, 0x1p32, 1000 },    { -0x1p63, 0x1p63, 1000 },
                   { 0, 0x1p64, 33 },      { 200, 1000, 5 },       { -0x1p40, 0x1p41, 4096 },
                   { 300, 70000, 4097 },   { -0x1p62, 0x1p62, 1 }, { 0, 1, 1 },
                   { -300, -200, 9 },      { 0, 3, 1000 },         { 100000, 100001, 2 } };
    static const char *const dists[] = { "inside", "ends", "special", "random" };
    for (int t = 0; t < DTYPES; t++)
        for (size_t r = 0; r < LENGTH(ranges); r++)
            for (unsigned o = 0; o < 6; o++) {
                struct histogram_case c = { .dtype = (ech_dtype)t,
                                            .n = 1500,
                                            .bins = ranges[r].bins };
                if (is_float(c.dtype) && ranges[r].upper > 30000 && c.dtype == ECH_F16) continue;
                c.lower = ranges[r].lower;
                c.upper = ranges[r].upper;
                c.dist = dists[(o + r) % LENGTH(dists)];
                c.outside = (ech_outside)(o % 3);
                c.closed = o / 3;
                c.add = (o + r) % 2;
                c.channels = (int)((o + r) % 5 == 4 ? 3 : (o + r) % 5 == 2 ? 4 : 0);
                bool whole = c.upper - c.lower >= 0x1p64 && c.lower < 0;
                if (whole && c.closed && c.dtype == ECH_U64) continue; /* rejected */
                run(&c);
            }
}

static void counts(run_function run)
{
    static const size_t bins[] = {
        1, 2, 100, 255, 256, 257, 1000, 4096, 20000, 65536, 70000, 200000
    };
    static const char *const dists[] = { "random", "constant", "few", "zipf", "inside" };
    for (int t = 0; t <= ECH_U64; t++)
        for (size_t b = 0; b < LENGTH(bins); b++)
            for (unsigned o = 0; o < 3; o++) {
                struct histogram_case c = { .kind = COUNT, .dtype = (ech_dtype)t, .bins = bins[b] };
                c.n = 6000;
                c.dist = o == 2 ? "inside" : dists[(b + o) % LENGTH(dists)];
                c.outside = (ech_outside)o;
                c.add = b % 2;
                c.channels = b % 4 == 3 ? 3 : 0;
                run(&c);
            }
}

static void edges(run_function run)
{
    static const size_t bins[] = { 1, 2, 3, 63, 64, 99, 1000, 1025, 5000, 30000 };
    static const char *const dists[] = { "inside", "ends", "special" };
    for (int t = 0; t < DTYPES; t++)
        for (size_t b = 0; b < LENGTH(bins); b++)
            for (unsigned o = 0; o < 3; o++) {
                struct histogram_case c = { .kind = EDGES, .dtype = (ech_dtype)t, .bins = bins[b] };
                bool narrow = ech_dtype_bytes(c.dtype) == 1 || c.dtype == ECH_F16;
                size_t most = narrow || c.dtype == ECH_BF16 ? 99 : 30000;
                if (c.bins > most) continue;
                c.n = 2001;
                c.lower = ech_dtype_bytes(c.dtype) == 1 || o ? 1 : 100;
                c.upper = c.lower + (c.bins > 120 ? 31000 : 100);
                c.dist = dists[o];
                c.outside = (ech_outside)((o + b) % 3);
                c.closed = (o + b) % 2;
                c.channels = b % 3 == 1 ? 3 : 0;
                run(&c);
            }
}

static void weights(run_function run)
{
    static const ech_dtype kinds[] = { ECH_I32, ECH_U32, ECH_I64, ECH_U64, ECH_F32, ECH_F64 };
    static const ech_dtype dtypes[] = { ECH_U8,  ECH_I16, ECH_BF16, ECH_F32,
                                        ECH_U32, ECH_I64, ECH_F64 };
    for (size_t w = 0; w < LENGTH(kinds); w++)
        for (size_t t = 0; t < LENGTH(dtypes); t++)
            for (unsigned o = 0; o < 6; o++) {
                struct histogram_case c = { .dtype = dtypes[t], .weighted = true };
                c.weights = kinds[w];
                c.n = o ? (size_t)1023 + 3 * o : 0;
                c.n -= c.n % 3;
                c.bins = o == 5 ? 5000 : 10 * o + 1;
                c.lower = -20;
                c.upper = 100;
                c.dist = o % 2 ? "inside" : "special";
                c.outside = (ech_outside)((o + t) % 3);
                c.add = (o + w + t) % 2;
                c.kind = o == 2 && c.outside != ECH_OUTSIDE_COUNT ? PAIRS : o == 3 ? EDGES : EVEN;
                if (c.kind == EDGES) c.lower = 1;
                c.y_bins = 3;
                if (c.kind != PAIRS && o > 3) c.channels = 3;
                run(&c);
            }
}

static void pairs(run_function run)
{
    for (int t = 0; t < DTYPES; t++)
        for (unsigned o = 0; o < 8; o++) {
            struct histogram_case c = { .kind = PAIRS, .dtype = (ech_dtype)t, .n = 3000 + o };
            c.bins = o == 7 ? 300 : 1 + 5 * o;
            c.y_bins = o == 7 ? 500 : 1 + 3 * (o % 3);
            c.lower = o % 2 ? 0 : -64;
            c.upper = o % 2 ? 96 : 64;
            c.dist = o % 3 == 2 ? "special" : "inside";
            c.outside = o % 4 == 1 ? ECH_OUTSIDE_CLAMP : ECH_OUTSIDE_DROP;
            c.closed = o % 3 == 1;
            c.add = o / 4;
            run(&c);
        }
}

/* Interleaved channels, with several vectors per thread on the emulator; and more counters than
 * shared memory has, which blocks divide. */
static void always(run_function run)
{
    static const struct histogram_case cases[] = {
        { COUNT, ECH_U8, .n = 420000, .bins = 256, .channels = 3, .dist = "random" },
        { PAIRS, ECH_U8, 3007, 200, 320, 0, 256, .dist = "inside" },
        { PAIRS, ECH_F32, 3007, 200, 320, -3, 3, .dist = "inside" },
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct histogram_case c = cases[i];
        c.always = true;
        run(&c);
    }
}

/* Many blocks and threads. The library chooses different algorithms for these cases. */
static void big_sizes(run_function run)
{
    static const struct histogram_case biggest[] = {
        { COUNT, ECH_U8, .n = 1000003, .bins = 256, .dist = "random" },
        { COUNT, ECH_U8, .n = 1000003, .bins = 256, .dist = "constant" },
        { COUNT, ECH_U8, .n = 1000002, .bins = 256, .channels = 3, .dist = "few" },
        { COUNT, ECH_U16, .n = 1000003, .bins = 65536, .dist = "random" },
        { COUNT, ECH_U32, .n = 1000003, .bins = 2048, .dist = "inside" },
        { COUNT, ECH_U32, .n = 1000003, .bins = 2048, .dist = "constant" },
        { COUNT, ECH_U32, .n = 1000003, .bins = 65536, .dist = "zipf" },
        { COUNT, ECH_U32, .n = 1000003, .bins = 1 << 20, .dist = "inside" },
        { COUNT, ECH_U64, .n = 300007, .bins = 1 << 20, .dist = "zipf" },
        { EVEN, ECH_F32, 1000003, 256, 0, -3, 3, .dist = "inside" },
        { EVEN, ECH_F16, 500009, 100, 0, 0, 100, .dist = "inside" },
        { EVEN, ECH_I32, 500009, 77, 0, -1000, 5000, .dist = "inside" },
        { EDGES, ECH_F32, 500009, 1000, 0, 0, 5, .dist = "inside" },
        { EDGES, ECH_I64, 500009, 9999, 0, 0, 1e12, .dist = "inside" },
        { EVEN, ECH_F64, 300007, 50, 0, 0, 9, .weighted = true, .weights = ECH_F64,
          .dist = "inside" },
        { EVEN, ECH_F32, 300007, 3, 0, 0, 9, .weighted = true, .weights = ECH_I32,
          .dist = "inside" },
        { EVEN, ECH_F32, 300007, 3, 0, 0, 9, .weighted = true, .weights = ECH_F32,
          .dist = "inside" },
    };
    for (size_t i = 0; i < LENGTH(biggest); i++) {
        struct histogram_case c = biggest[i];
        run(&c);
        c.n = 60000; /* several blocks, also on the SIMT emulator */
        run(&c);
    }
}

void histogram_cases(run_function run)
{
    small_sizes(run);
    options(run);
    counts(run);
    edges(run);
    weights(run);
    pairs(run);
    always(run);
    big_sizes(run);
}
