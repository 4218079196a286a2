/*
 * sort_cases.c - the cases of test_sort: selected combinations of parameters, because all
 * combinations would be millions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort_case.h"

#include <stdio.h>

enum { DTYPES = 12 };
#define LENGTH(array) (sizeof(array) / sizeof *(array))

typedef void (*run_function)(const struct sort_case *);

/* Sets the payload: in turn none, values of 4 and 8 bytes, and indices. */
static struct sort_case payload(struct sort_case c, unsigned which)
{
    static const size_t values[] = { 0, 4, 0, 8, 0 };
    static const int indices[] = { 0, 0, 4, 0, 8 };
    c.value_bytes = values[which % 5];
    c.index_bytes = indices[which % 5];
    return c;
}

/* Every dtype at sizes where a loop starts, or a warp, a vector or a block is exactly full. */
static void small_sizes(run_function run)
{
    static const size_t sizes[] = { 0,   1,   2,   3,   5,   31,  32,  33,   63,   64,  65,
                                    127, 128, 129, 255, 256, 257, 511, 1000, 2047, 2049 };
    for (int t = 0; t < DTYPES; t++)
        for (size_t s = 0; s < LENGTH(sizes); s++)
            for (unsigned p = 0; p < 5; p++)
                run(&(struct sort_case){
                    .dtype = (ech_dtype)t,
                    .n = sizes[s],
                    .value_bytes = payload((struct sort_case){ 0 }, p).value_bytes,
                    .index_bytes = payload((struct sort_case){ 0 }, p).index_bytes,
                    .descending = (s + p) % 2,
                    .dist = p % 2 ? "special" : "random" });
}

static void distributions(run_function run)
{
    static const char *const dists[] = { "random",   "sorted", "reversed", "nearly", "runs", "few",
                                         "constant", "hot",    "zipf",     "and2",   "and4", "and8",
                                         "special",  "ties",   "some",     "rare" };
    for (int t = 0; t < DTYPES; t++)
        for (size_t d = 0; d < LENGTH(dists); d++)
            for (unsigned p = 0; p < 3; p++) {
                struct sort_case c = { .dtype = (ech_dtype)t, .n = 10007, .dist = dists[d] };
                c.descending = ((size_t)t + d + p) % 2;
                c = payload(c, p == 2 ? 3 : p == 1 ? 2 + (unsigned)(d % 2) * 2 : 0);
                run(&c);
            }
}

/* Sizes near the tiles of the GPU kernels and the blocks of the CPU. */
static void tile_edges(run_function run)
{
    static const size_t tiles[] = { 3072, 3840,  4096,  4608,  5760,  6144, 7680,
                                    8192, 11520, 15360, 16384, 32768, 65536 };
    static const ech_dtype dtypes[] = { ECH_U8, ECH_I16, ECH_F32, ECH_U32, ECH_U64, ECH_F64 };
    for (size_t s = 0; s < LENGTH(tiles); s++)
        for (size_t t = 0; t < LENGTH(dtypes); t++)
            for (int edge = -1; edge <= 1; edge++) {
                struct sort_case c = { .dtype = dtypes[t], .n = tiles[s] + (size_t)(edge + 2) - 2 };
                c.dist = s % 2 ? "random" : "hot";
                c.descending = (t + s) % 3 == 0;
                c = payload(c, (unsigned)(s + t) + (unsigned)(edge + 1));
                run(&c);
            }
}

static void value_sizes(run_function run)
{
    static const size_t bytes[] = { 1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 64, 100 };
    static const ech_dtype dtypes[] = { ECH_I8, ECH_F16, ECH_F32, ECH_U32, ECH_F64 };
    static const size_t sizes[] = { 3, 257, 5003 };
    for (size_t v = 0; v < LENGTH(bytes); v++)
        for (size_t t = 0; t < LENGTH(dtypes); t++)
            for (size_t s = 0; s < LENGTH(sizes); s++)
                run(&(struct sort_case){ .dtype = dtypes[t],
                                         .n = sizes[s],
                                         .value_bytes = bytes[v],
                                         .descending = (v + t + s) % 2,
                                         .dist = t % 2 ? "few" : "special" });
}

/* All begin and end bits of {0, w/3, 3w/4, w}, including empty ranges, and odd values. */
static void bit_ranges(run_function run)
{
    static const int odd[][2] = { { 4, 10 }, { 3, 22 }, { 8, 20 },  { 0, 34 },  { 5, 6 },
                                  { 7, 8 },  { 0, 1 },  { 16, 32 }, { 31, 33 }, { 63, 64 } };
    for (int t = 0; t < DTYPES; t++) {
        int w = (int)(8 * ech_dtype_bytes((ech_dtype)t));
        const int ends[] = { 0, w / 3, 3 * w / 4, w };
        unsigned count = 0;
        for (unsigned i = 0; i < 16 + LENGTH(odd); i++) {
            int begin = i < 16 ? ends[i / 4] : odd[i - 16][0];
            int end = i < 16 ? ends[i % 4] : odd[i - 16][1];
            if (begin > end || end == 0 || end > w) continue;
            for (unsigned p = 0; p < 3; p++) {
                struct sort_case c = { .dtype = (ech_dtype)t, .n = 3001 + 31 * i };
                c.begin_bit = begin;
                c.end_bit = end;
                c.descending = count % 2;
                c.total = count % 5 == 0;
                c.dist = count % 3 ? "special" : "random";
                c = payload(c, p == 2 ? 2 + count % 2 : p);
                run(&c);
                count++;
            }
        }
    }
}

/* Keys without values that need several levels of digits, or none. */
static void levels(run_function run)
{
    static const char *const dists[] = { "random", "sorted", "constant", "few", "hot",
                                         "zipf",   "and2",   "and4",     "and8" };
    static const ech_dtype dtypes[] = { ECH_I32, ECH_F32, ECH_U64, ECH_F64 };
    for (size_t t = 0; t < LENGTH(dtypes); t++)
        for (size_t d = 0; d < LENGTH(dists); d++)
            for (size_t n = 14337; n <= 20000; n += 5663)
                run(&(struct sort_case){
                    .dtype = dtypes[t], .n = n, .descending = (t + d) % 2, .dist = dists[d] });
    /* a bucket larger than a leaf, with smaller bins: its digits are already counted */
    run(&(struct sort_case){ .dtype = ECH_U32, .n = 15800, .dist = "and4" });
}

/* Keys without values, of which many are equal, in and above the sizes of vector sorts. */
static void repeated(run_function run)
{
    static const char *const dists[] = { "two", "third", "few", "heavy", "and8", "rare" };
    static const size_t sizes[] = { 300, 700, 1025, 3000, 9001 };
    for (int t = 0; t < DTYPES; t++)
        for (size_t d = 0; d < LENGTH(dists); d++)
            for (size_t s = (size_t)t + d; s < (size_t)t + d + 2; s++)
                run(&(struct sort_case){ .dtype = (ech_dtype)t,
                                         .n = sizes[s % LENGTH(sizes)],
                                         .descending = s % 2,
                                         .dist = dists[d] });
}

/* Few distinct keys with values or positions, which are counted and placed: in a block, in more
 * than one, and with a key that a sample does not contain. */
static void few_with_values(run_function run)
{
    static const ech_dtype dtypes[] = { ECH_U32, ECH_F32, ECH_I64, ECH_F64 };
    static const char *const dists[] = { "dozen", "some", "rare", "zipf" };
    static const size_t sizes[] = { 511, 512, 1025, 5003, 16384, 16385, 50023 };
    for (size_t t = 0; t < LENGTH(dtypes); t++)
        for (size_t s = 0; s < LENGTH(sizes); s++) {
            struct sort_case c = { .dtype = dtypes[t],
                                   .n = sizes[s],
                                   .value_bytes = s % 2 ? 4 : 8,
                                   .descending = t / 2 == s % 2,
                                   .total = s % 3 == 2,
                                   .dist = dists[s % 3 == 1 ? (t + s) % LENGTH(dists) : 0] };
            run(&c);
            c.value_bytes = 0;
            c.index_bytes = s % 2 ? 8 : 4;
            run(&c);
        }
    run(&(struct sort_case){ .dtype = ECH_U32,
                             .n = 5003,
                             .value_bytes = 8,
                             .begin_bit = 3,
                             .end_bit = 29,
                             .dist = "dozen" });
    run(&(struct sort_case){ .dtype = ECH_I64,
                             .n = 20011,
                             .value_bytes = 4,
                             .begin_bit = 40,
                             .end_bit = 64,
                             .descending = true,
                             .dist = "dozen" });
}

/* Floats that are, or look, more uniform in value than in bits; with few and with more levels. */
static void values_of_floats(run_function run)
{
    static const char *const dists[] = { "unit",   "negative", "normal", "narrow", "strewn",
                                         "halved", "hidden",   "tiny",   "huge" };
    static const size_t sizes[] = { 5000, 20000, 60000, 300000 };
    for (int t = 0; t < 2; t++)
        for (size_t d = 0; d < LENGTH(dists); d++)
            for (size_t s = 0; s < LENGTH(sizes); s++)
                run(&(struct sort_case){ .dtype = t ? ECH_F64 : ECH_F32,
                                         .n = sizes[s],
                                         .descending = ((size_t)t + d + s) % 2,
                                         .total = (d + s) % 8 == 7,
                                         .dist = dists[d] });
}

/* Keys with values and indices of every width. "and8" of small dtypes and "ties" fill leaves with
 * keys that differ only in low bits. */
static void levels_of_pairs(run_function run)
{
    static const char *const dists[] = { "random", "sorted", "reversed", "constant", "few",
                                         "hot",    "zipf",   "and2",     "and4",     "and8",
                                         "ties",   "rare",   "some",     "special" };
    static const ech_dtype dtypes[] = { ECH_I32, ECH_F32, ECH_U64, ECH_F64 };
    for (size_t t = 0; t < LENGTH(dtypes); t++)
        for (size_t d = 0; d < LENGTH(dists); d++)
            for (unsigned p = 1; p < 5; p++) {
                struct sort_case c = { .dtype = dtypes[t], .n = 9217 + 5000 * p };
                c.dist = dists[d];
                c.descending = (t + d + p) % 2;
                c = payload(c, p);
                run(&c);
            }
    /* keys that are mapped; in the larger arrays some bins do not fit in a leaf */
    static const char *const smooth[] = { "bell", "unit", "normal", "strewn", "nearly" };
    for (size_t d = 0; d < LENGTH(smooth); d++)
        for (unsigned p = 0; p < 4; p++)
            run(&(struct sort_case){ .dtype = d == 0 && p % 2 ? ECH_I32 : ECH_F32,
                                     .n = p == 3 && d == 0 ? 1050001 : 20000 + 9000 * p,
                                     .value_bytes = p % 2 ? 4 : 0,
                                     .index_bytes = p % 2 ? 0 : 4,
                                     .descending = (d + p) % 2,
                                     .total = p == 2,
                                     .dist = smooth[d] });
    /* distributions that a sample does not reveal */
    static const struct sort_case unseen[] = {
        { .dtype = ECH_U32, .n = 20000, .value_bytes = 4, .dist = "unseen" },
        { .dtype = ECH_U32, .n = 20000, .value_bytes = 4, .dist = "wider" },
        { .dtype = ECH_I32, .n = 20000, .index_bytes = 4, .descending = true, .dist = "unseen" },
    };
    for (size_t i = 0; i < LENGTH(unseen); i++) run(&unseen[i]);
}

/* Input that a sample shows incompletely: in order except at the end, or with a range that is too
 * narrow. */
static void samples_that_mislead(run_function run)
{
    static const char *const dists[] = { "range", "outlier", "wider",  "late",
                                         "back",  "last",    "sorted", "reversed" };
    static const ech_dtype dtypes[] = { ECH_U32, ECH_F64, ECH_I64, ECH_F32, ECH_I16, ECH_F16 };
    for (size_t t = 0; t < LENGTH(dtypes); t++)
        for (size_t d = 0; d < LENGTH(dists); d++)
            for (unsigned p = 0; p < 5; p++) {
                struct sort_case c = { .dtype = dtypes[t], .n = 20000, .dist = dists[d] };
                c.descending = (t + d + p) % 2;
                c = payload(c, p);
                run(&c);
            }
}

/* Distributions for the kernel that ranks the keys of one block by bins: some bins receive many
 * equal or many different keys. */
static void bins(run_function run)
{
    static const char *const dists[] = {
        "random", "sorted", "reversed", "nearly", "runs", "few",  "hot",   "zipf", "and2",
        "and3",   "and4",   "and8",     "ties",   "some", "rare", "heavy", "near", "steps"
    };
    static const ech_dtype dtypes[] = { ECH_U32, ECH_F32, ECH_I64, ECH_F64 };
    static const size_t sizes[] = { 1000, 2500, 4096 };
    for (size_t t = 0; t < LENGTH(dtypes); t++)
        for (size_t d = 0; d < LENGTH(dists); d++)
            for (unsigned p = 0; p < 3; p++) {
                struct sort_case c = { .dtype = dtypes[t], .n = sizes[p], .dist = dists[d] };
                c.descending = (t + d + p) % 2;
                c = payload(c, (unsigned)(t + d) + p);
                run(&c);
            }
    /* keys that are skewed on several levels, with each payload, and also by some bits */
    static const char *const crowds[] = { "zipf", "and3", "and4", "heavy", "near", "steps" };
    for (size_t t = 0; t < LENGTH(dtypes); t++)
        for (size_t d = 0; d < LENGTH(crowds); d++)
            for (unsigned p = 0; p < 4; p++) {
                struct sort_case c = { .dtype = dtypes[t], .n = 4096 - 500 * p };
                c.dist = crowds[d];
                c.descending = (t + d + p) % 2;
                c = payload(c, p);
                if (p == 3) c.begin_bit = 4, c.end_bit = 30;
                run(&c);
            }
}

/* Sizes that add a bucket or a tile to a sample sort, and buckets that are sorted in chunks. */
static void samples(run_function run)
{
    static const size_t sizes[] = { 512, 4097, 8191, 8193, 12800, 16383, 20000 };
    static const ech_dtype dtypes[] = { ECH_U32, ECH_F32, ECH_I64, ECH_F64 };
    static const char *const dists[] = { "random", "sorted", "few", "constant", "zipf" };
    for (size_t t = 0; t < LENGTH(dtypes); t++)
        for (size_t s = 0; s < LENGTH(sizes); s++) {
            struct sort_case c = { .dtype = dtypes[t], .n = sizes[s], .dist = dists[s % 5] };
            c.descending = (s + t) % 2;
            c = payload(c, (unsigned)(s + t));
            run(&c);
        }
    for (size_t t = 0; t < LENGTH(dtypes); t++)
        for (unsigned p = 0; p < 5; p++) {
            struct sort_case c = { .dtype = dtypes[t], .n = 20000, .dist = "unlucky" };
            c.descending = (t + p) % 2;
            c = payload(c, p);
            run(&c);
        }
    static const size_t larger[] = { 32768, 65537, 524289, 1048576 };
    for (size_t t = 0; t < LENGTH(dtypes); t++)
        for (size_t s = 0; s < LENGTH(larger); s++) {
            struct sort_case c = { .dtype = dtypes[t], .n = larger[s], .dist = dists[(s + t) % 5] };
            c = payload(c, (unsigned)(s + t));
            run(&c);
        }
}

static void total_order(run_function run)
{
    static const char *const dists[] = { "special", "random", "ties" };
    for (int t = ECH_I32; t < DTYPES; t++)
        for (size_t d = 0; d < LENGTH(dists); d++)
            for (unsigned p = 0; p < 4; p++)
                for (int descending = 0; descending < 2; descending++) {
                    struct sort_case c = { .dtype = (ech_dtype)t, .n = 4099, .total = true };
                    c.descending = descending;
                    c.dist = dists[d];
                    c = payload(c, p);
                    run(&c);
                }
}

static void big_sizes(run_function run)
{
    static const char *const dists[] = { "random", "zipf",    "few",  "nearly",
                                         "rare",   "special", "some", "and4" };
    for (int t = 0; t < DTYPES; t++)
        for (unsigned p = 0; p < 5; p++) {
            struct sort_case c = { .dtype = (ech_dtype)t, .n = 100003 };
            c.dist = dists[((unsigned)t + p) % LENGTH(dists)];
            c.descending = ((unsigned)t + p) % 3 == 0;
            c = payload(c, p);
            run(&c);
            if (p != 0 && p != 3) continue;
            c.kind = SORT_REPEAT;
            c.n = 50021;
            run(&c);
            c.kind = SORT_THREADS;
            c.n = 200003;
            run(&c);
        }
    static const struct sort_case biggest[] = {
        { .dtype = ECH_F32, .n = 1000003, .value_bytes = 8, .descending = true, .dist = "few" },
        { .dtype = ECH_U32, .n = 1000003, .dist = "random" },
        { .dtype = ECH_U32, .n = 1500007, .value_bytes = 4, .dist = "hot" },
        { .dtype = ECH_U8, .n = 1000003, .index_bytes = 4, .dist = "random" },
        { .dtype = ECH_I16, .n = 1000003, .value_bytes = 3, .dist = "zipf" },
        { .dtype = ECH_U64, .n = 1000003, .dist = "and2" },
        { .dtype = ECH_F64, .n = 1000003, .index_bytes = 8, .dist = "special" },
        { .dtype = ECH_I64, .n = 1000003, .value_bytes = 16, .dist = "nearly" },
        { .dtype = ECH_F16, .n = 1000003, .value_bytes = 64, .descending = true, .dist = "random" },
        { .dtype = ECH_BF16, .n = 1000003, .dist = "special" },
        { .dtype = ECH_I32, .n = 1000003, .begin_bit = 8, .end_bit = 32, .dist = "random" },
        { .dtype = ECH_U16, .n = 600011, .dist = "constant" },
        { .dtype = ECH_F16, .n = 600011, .descending = true, .dist = "few" },
        { .dtype = ECH_U32, .n = 3000017, .value_bytes = 8, .dist = "random" },
        { .dtype = ECH_F32, .n = 3000017, .dist = "special" },
        { .dtype = ECH_U32, .n = 4000037, .dist = "random" }, /* large leaves */
        { .dtype = ECH_U64, .n = 1500007, .dist = "zipf" },
        { .dtype = ECH_I64, .n = 2000003, .dist = "random", .descending = true },
        { .dtype = ECH_U64, .n = 300007, .dist = "lengths" },  /* digits by length */
        { .dtype = ECH_U64, .n = 1500007, .dist = "lengths" }, /* bins of tiles */
        { .dtype = ECH_U64, .n = 1000003, .dist = "lengths", .descending = true },
        { .dtype = ECH_U32, .n = 1000003, .dist = "lengths" },
        { .dtype = ECH_U64, .n = 2000003, .index_bytes = 4, .descending = true, .dist = "zipf" },
        { .dtype = ECH_I32, .n = 524288, .index_bytes = 8, .dist = "few" }, /* widened indices */
        { .dtype = ECH_U8, .n = 524289, .index_bytes = 8, .descending = true, .dist = "random" },
    };
    for (size_t i = 0; i < LENGTH(biggest); i++) run(&biggest[i]);
}

/* At least five tiles of each width and payload; simt_tiles.py runs these cases on the emulator. */
static void several_tiles(run_function run)
{
    static const ech_dtype dtypes[] = { ECH_U8, ECH_U16, ECH_U32, ECH_U64 };
    static const size_t values[] = { 0, 4, 8, 16 };
    for (size_t t = 0; t < LENGTH(dtypes); t++)
        for (size_t v = 0; v < LENGTH(values); v++)
            run(&(struct sort_case){
                .dtype = dtypes[t], .n = 50023, .value_bytes = values[v], .dist = "few" });
    static const struct sort_case more[] = {
        { .dtype = ECH_U32, .n = 50023, .value_bytes = 16, .dist = "zipf" }, /* in place */
        { .dtype = ECH_U64, .n = 50023, .value_bytes = 4, .dist = "zipf" },
        { .dtype = ECH_U64, .n = 50023, .value_bytes = 8, .dist = "zipf" },
        { .dtype = ECH_U32, .n = 263003, .value_bytes = 4, .dist = "random" },
    };
    for (size_t i = 0; i < LENGTH(more); i++) run(&more[i]);
}

/* Each kernel that sorts an array in one block. */
static void one_block(run_function run)
{
    static const ech_dtype dtypes[] = { ECH_U8, ECH_U16, ECH_U32, ECH_U64 };
    static const size_t values[] = { 0, 4, 8, 16 }, sizes[] = { 501, 1501, 3003, 5005 };
    for (size_t t = 0; t < LENGTH(dtypes); t++)
        for (size_t v = 0; v < LENGTH(values); v++)
            for (size_t s = 0; s < LENGTH(sizes); s++)
                run(&(struct sort_case){
                    .dtype = dtypes[t], .n = sizes[s], .value_bytes = values[v], .dist = "hot" });
}

/* Few keys that the CPU counts, and short keys in reverse order. */
static void top_bits(run_function run)
{
    static const struct sort_case cases[] = {
        { .dtype = ECH_U32, .n = 50023, .value_bytes = 4, .dist = "top" },
        { .dtype = ECH_I64, .n = 50023, .value_bytes = 8, .descending = true, .dist = "top_last" },
        { .dtype = ECH_U64, .n = 5003, .value_bytes = 8, .dist = "top" },
        { .dtype = ECH_F32, .n = 5003, .index_bytes = 4, .dist = "top" },
        { .dtype = ECH_I32, .n = 5003, .value_bytes = 4, .dist = "top_last" },
        { .dtype = ECH_I32, .n = 50023, .descending = true, .dist = "top" },
        { .dtype = ECH_U64, .n = 5003, .dist = "top_last" },
        { .dtype = ECH_I32, .n = 1003, .dist = "reversed" }, /* in the vector leaf */
        { .dtype = ECH_F64, .n = 1003, .dist = "reversed" },
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct sort_case c = cases[i];
        c.cpu_only = true;
        run(&c);
    }
}

void sort_cases(run_function run)
{
    several_tiles(run);
    one_block(run);
    small_sizes(run);
    distributions(run);
    tile_edges(run);
    value_sizes(run);
    bit_ranges(run);
    levels(run);
    repeated(run);
    few_with_values(run);
    values_of_floats(run);
    levels_of_pairs(run);
    samples_that_mislead(run);
    bins(run);
    samples(run);
    total_order(run);
    big_sizes(run);
    top_bits(run);
}

void sort_case_id(const struct sort_case *c, char *text, size_t capacity_bytes)
{
    static const char *const kinds[] = { "sort", "repeat", "threads", "large" };
    char payload_text[32] = "", bits[32] = "";
    if (c->value_bytes) snprintf(payload_text, sizeof payload_text, ",v=%zu", c->value_bytes);
    if (c->index_bytes)
        snprintf(payload_text, sizeof payload_text, ",index=u%d", 8 * c->index_bytes);
    if (c->end_bit) snprintf(bits, sizeof bits, ",bits=%d:%d", c->begin_bit, c->end_bit);
    snprintf(text, capacity_bytes, "%s(%s,n=%zu%s%s%s%s,dist=%s)", kinds[c->kind],
             ech_dtype_name(c->dtype), c->n, payload_text, c->descending ? ",desc" : "",
             c->total ? ",total" : "", bits, c->dist);
}
