/*
 * segments_cases.c - the cases of test_sort_segments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "segments_case.h"

#include <stdio.h>

enum { DTYPES = 12 };
#define LENGTH(array) (sizeof(array) / sizeof *(array))

typedef void (*run_function)(const struct segments_case *);

/* Sets the payload: in turn none, values of 4, 8, 12, 1 and 16 bytes, and indices. */
static struct segments_case payload(struct segments_case c, size_t which)
{
    static const size_t values[] = { 0, 4, 0, 8, 0, 12, 0, 1, 0, 16 };
    static const int indices[] = { 0, 0, 4, 0, 8, 0, 0, 0, 4, 0 };
    c.sort.value_bytes = values[which % LENGTH(values)];
    c.sort.index_bytes = indices[which % LENGTH(values)];
    return c;
}

static struct segments_case rows_case(size_t rows, size_t cols, size_t dtype, const char *dist)
{
    return (struct segments_case){ .sort = { .dtype = (ech_dtype)(dtype % DTYPES), .dist = dist },
                                   .rows = rows,
                                   .cols = cols,
                                   .strides = "" };
}

/* Every dtype and every power of two of the columns, with neighbours. */
static void row_sizes(run_function run)
{
    static const size_t cols[] = { 1,    2,    3,    4,    5,    7,    8,    9,    15,   16,
                                   17,   31,   32,   33,   63,   64,   65,   100,  127,  128,
                                   129,  255,  256,  257,  500,  512,  513,  1000, 1023, 1025,
                                   2048, 2049, 3000, 4096, 4097, 6000, 8192, 8193 };
    static const char *const dists[] = { "random", "special", "few", "ties" };
    for (size_t t = 0; t < DTYPES; t++)
        for (size_t s = 0; s < LENGTH(cols); s++)
            for (size_t p = 0; p < 2; p++) {
                const size_t rows = cols[s] < 600 ? 1 + 1500 / cols[s] : 3;
                struct segments_case c = rows_case(rows, cols[s], t, dists[(s + p) % 4]);
                c.sort.descending = (t + s + p) % 2;
                c = payload(c, p == 0 ? 0 : 3 * t + s + p);
                run(&c);
            }
}

static void row_strides(run_function run)
{
    static const char *const strides[] = { "padded", "columns", "columns-rows", "rows-columns",
                                           "spread" };
    static const size_t sizes[][2] = {
        { 1, 700 }, { 700, 1 }, { 37, 41 }, { 5, 1025 }, { 600, 33 }
    };
    for (size_t k = 0; k < LENGTH(strides); k++)
        for (size_t s = 0; s < LENGTH(sizes); s++)
            for (size_t p = 0; p < 10; p++) {
                struct segments_case c =
                    rows_case(sizes[s][0], sizes[s][1], 5 * k + s + 7 * p, "random");
                c.strides = strides[k];
                c = payload(c, p);
                run(&c);
            }
}

/* Distributions that skew bins, digits and pivots. */
static void row_distributions(run_function run)
{
    static const char *const dists[] = { "sorted", "reversed", "constant", "hot",  "zipf", "and4",
                                         "steps",  "unlucky",  "normal",   "huge", "and8" };
    static const ech_dtype dtypes[] = { ECH_U8, ECH_F16, ECH_I32, ECH_F32, ECH_U64, ECH_F64 };
    static const size_t cols[] = { 30, 400, 1500, 5000, 20000 };
    for (size_t d = 0; d < LENGTH(dists); d++)
        for (size_t t = 0; t < LENGTH(dtypes); t++)
            for (size_t s = 0; s < LENGTH(cols); s++)
                for (size_t p = 0; p < 2; p++) {
                    struct segments_case c = rows_case(3, cols[s], dtypes[t], dists[d]);
                    c.sort.descending = (d + t) % 2;
                    if (p) c = payload(c, 1 + d + t + s);
                    run(&c);
                }
}

static void orders(run_function run)
{
    static const int bits[][2] = { { 0, 0 }, { 3, 8 }, { 4, 13 }, { 0, 7 }, { 5, 5 } };
    for (size_t t = 0; t < DTYPES; t++)
        for (size_t b = 0; b < LENGTH(bits); b++)
            for (size_t s = 0; s < 3; s++)
                for (size_t p = 0; p < 3; p++) {
                    static const size_t cols[] = { 20, 300, 5003 };
                    struct segments_case c = rows_case(s == 0 ? 50 : 4, cols[s], t, "special");
                    const int width = 8 * (int)ech_dtype_bytes(c.sort.dtype);
                    if (bits[b][1] > width) continue;
                    c.sort.begin_bit = bits[b][0];
                    c.sort.end_bit = bits[b][1];
                    c.sort.total = b == 0 || p == 1;
                    c.sort.descending = p == 2;
                    c = payload(c, p * 4);
                    run(&c);
                }
}

static void segments(run_function run)
{
    static const char *const lengths[] = { "empty",    "tiny", "short", "middle", "powers",
                                           "powerlaw", "one",  "lone",  "long" };
    static const ech_dtype offsets[] = { ECH_U64, ECH_I32, ECH_I64, ECH_U32 };
    for (size_t l = 0; l < LENGTH(lengths); l++)
        for (size_t t = 0; t < DTYPES; t++)
            for (size_t p = 0; p < 10; p++)
                for (size_t e = 0; e < 2; e++) {
                    struct segments_case c = { .sort = { .dtype = (ech_dtype)t,
                                                         .dist = p % 2 ? "random" : "few" },
                                               .lengths = lengths[l],
                                               .n = l == 8  ? 120000
                                                    : l > 3 ? 30000
                                                            : 6000,
                                               .ends = e,
                                               .offsets_dtype = offsets[(l + t + p) % 4] };
                    if ((p > 4 && (p + t) % 3) || (p + l + t + e) % 2) continue;
                    c.sort.descending = (l + p) % 2;
                    c = payload(c, p);
                    run(&c);
                }
}

/* Arrays of few elements, which fit in one warp, one block or a few blocks. */
static void small_segments(run_function run)
{
    static const char *const lengths[] = { "single", "middle", "one" };
    static const size_t sizes[] = { 1, 2, 100, 192, 300, 505, 1100, 2000, 4000 };
    for (size_t t = 0; t < DTYPES; t++)
        for (size_t s = 0; s < LENGTH(sizes); s++) {
            struct segments_case c = { .sort = { .dtype = (ech_dtype)t, .dist = "random" },
                                       .lengths = lengths[s % 2 ? 0 : (t + s) % 3],
                                       .n = sizes[s],
                                       .offsets_dtype = ECH_I64 };
            c.sort.descending = (t + s) % 2;
            run(&c);
        }
}

/* At least five blocks of each kernel, on the emulator too. */
static void tiles(run_function run)
{
    static const ech_dtype dtypes[] = { ECH_U8, ECH_U16, ECH_U32, ECH_U64 };
    for (size_t t = 0; t < LENGTH(dtypes); t++)
        for (size_t p = 0; p < 3; p += 2) {
            struct segments_case c = rows_case(700, 33, dtypes[t], "random");
            c = payload(c, p);
            run(&c);
            c.rows = c.cols = 0;
            c.lengths = "tiny";
            c.n = 24000;
            c.offsets_dtype = ECH_U32;
            run(&c);
        }
}

/* Larger than what one block, or one level, sorts. */
static void large(run_function run)
{
    static const ech_dtype dtypes[] = { ECH_U32, ECH_F64, ECH_I16, ECH_U8 };
    static const char *const dists[] = { "random", "zipf", "normal" };
    for (size_t t = 0; t < LENGTH(dtypes); t++)
        for (size_t d = 0; d < LENGTH(dists); d++)
            for (size_t p = 0; p < 4; p++) {
                struct segments_case c = rows_case(5, 150001, dtypes[t], dists[d]);
                c = payload(c, p);
                run(&c);
                if (d != p) continue;
                c.rows = 2;
                c.cols = 700001;
                run(&c);
            }
    for (size_t t = 0; t < LENGTH(dtypes); t++)
        for (size_t p = 0; p < 4; p++) {
            struct segments_case c = { .sort = { .dtype = dtypes[t], .dist = "random" },
                                       .lengths = p % 2 ? "powerlaw" : "lone",
                                       .n = 1000000,
                                       .ends = t % 2,
                                       .offsets_dtype = ECH_I64 };
            c = payload(c, p);
            run(&c);
        }
}

/* Rows that a block sorts by a network, in arrays too large for bins or for counting. */
static void networks(run_function run)
{
    struct segments_case c = rows_case(400, 700, ECH_U16, "random");
    run(&c);
    c = rows_case(2700, 500, ECH_U64, "random");
    run(&c);
}

/* A single row, and a million rows of three elements. */
static void extreme_shapes(run_function run)
{
    static const ech_dtype dtypes[] = { ECH_U32, ECH_F64, ECH_I16, ECH_U8 };
    for (size_t t = 0; t < LENGTH(dtypes); t++)
        for (size_t p = 0; p < 4; p++) {
            struct segments_case c = rows_case(1, 1500007, dtypes[t], "random");
            c = payload(c, p);
            run(&c);
            c.rows = 1000000;
            c.cols = 3;
            run(&c);
        }
}

void segments_cases(run_function run)
{
    row_sizes(run);
    row_strides(run);
    row_distributions(run);
    orders(run);
    segments(run);
    small_segments(run);
    networks(run);
    tiles(run);
    large(run);
    extreme_shapes(run);
}

void segments_case_id(const struct segments_case *c, char *text, size_t capacity_bytes)
{
    const struct sort_case *s = &c->sort;
    char payload[32] = "", bits[48] = "", shape[80];
    if (s->index_bytes) snprintf(payload, sizeof payload, ",i=%d", s->index_bytes);
    if (s->value_bytes) snprintf(payload, sizeof payload, ",v=%zu", s->value_bytes);
    if (s->begin_bit || s->end_bit)
        snprintf(bits, sizeof bits, ",bits=%d:%d", s->begin_bit, s->end_bit);
    if (c->lengths)
        snprintf(shape, sizeof shape, "%s,n=%zu%s,%s", c->lengths, c->n, c->ends ? ",ends" : "",
                 ech_dtype_name(c->offsets_dtype));
    else
        snprintf(shape, sizeof shape, "%zux%zu%s%s", c->rows, c->cols, *c->strides ? "," : "",
                 c->strides);
    snprintf(text, capacity_bytes, "%s(%s,%s%s%s%s%s,dist=%s)", c->lengths ? "segments" : "rows",
             ech_dtype_name(s->dtype), shape, payload, s->descending ? ",desc" : "",
             s->total ? ",total" : "", bits, s->dist);
}
