/*
 * topk_cases.c - the cases of test_topk.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "topk_case.h"

#include <stdio.h>

enum { DTYPES = 12 };
#define LENGTH(array) (sizeof(array) / sizeof *(array))

typedef void (*run_function)(const struct topk_case *);

/* Sets the options by a number that differs between cases: all combinations occur. */
static struct topk_case variant(struct topk_case c, size_t which)
{
    static const ech_dtype dtypes[] = { ECH_U32, ECH_I64, ECH_I32, ECH_U64 };
    struct rng rng = { which };
    c.groups.sort.descending = rng_below(&rng, 2);
    c.groups.sort.total = rng_below(&rng, 4) == 0;
    c.groups.sort.index_bytes = 8; /* equal keys keep the order of their positions */
    c.unsorted = rng_below(&rng, 3) == 0;
    const uint64_t output = rng_below(&rng, 4);
    c.no_values = output == 0;
    c.no_indices = output == 1;
    c.index_dtype = dtypes[rng_below(&rng, 4)];
    c.counts_dtype = dtypes[rng_below(&rng, 4)];
    c.groups.offsets_dtype = dtypes[rng_below(&rng, 4)];
    return c;
}

static struct topk_case rows_case(size_t rows, size_t cols, size_t k, size_t dtype,
                                  const char *dist)
{
    return (struct topk_case){ .groups = { .sort = { .dtype = (ech_dtype)(dtype % DTYPES),
                                                     .dist = dist },
                                           .rows = rows,
                                           .cols = cols,
                                           .strides = "" },
                               .k = k,
                               .out = "" };
}

static const size_t ks[] = { 0, 1, 2, 10, 31, 32, 33, 100, 1000, 2048, 2049, 5000 };

static void array_sizes(run_function run)
{
    static const size_t sizes[] = { 0, 1, 2, 31, 32, 33, 100, 1000, 4097, 40000, 300000, 3000 };
    static const char *const dists[] = { "random", "special", "few", "ties", "normal" };
    for (size_t t = 0; t < DTYPES; t++)
        for (size_t s = 0; s < LENGTH(sizes); s++)
            for (size_t i = 0; i < LENGTH(ks) + 3; i++) {
                const size_t n = sizes[s], which = (t * 16 + s) * 16 + i;
                const size_t k = i < LENGTH(ks)
                                     ? ks[i]
                                     : (const size_t[]){ n / 2, n - (n > 0), n }[i - LENGTH(ks)];
                if (k > n || (n == 300000 && (t + i) % 4)) continue;
                struct topk_case c = rows_case(1, n, k, t, dists[which % 5]);
                c.array = true;
                c = variant(c, which);
                run(&c);
            }
}

/* Distributions that skew bounds and digits, or in which most keys are equal to the k-th. */
static void distributions(run_function run)
{
    static const char *const dists[] = { "sorted", "reversed", "constant", "hot",  "zipf",
                                         "and4",   "steps",    "unlucky",  "huge", "heavy",
                                         "rare",   "narrow",   "hidden",   "near", "halved",
                                         "runs",   "nearly",   "strewn" };
    static const ech_dtype dtypes[] = { ECH_U8, ECH_F16, ECH_I32, ECH_F32, ECH_U64, ECH_F64 };
    static const size_t sizes[] = { 1000, 20000, 40000, 200000, 4000 },
                        few[] = { 1, 10, 100, 1000 };
    for (size_t d = 0; d < LENGTH(dists); d++)
        for (size_t t = 0; t < LENGTH(dtypes); t++)
            for (size_t s = 0; s < LENGTH(sizes); s++)
                for (size_t p = 0; p < 4; p++) {
                    const size_t which = 10000 + ((d * 8 + t) * 4 + s) * 4 + p;
                    const size_t k = p < 3 ? few[(p + d + s) % 4] : sizes[s] / 2 + d;
                    struct topk_case c = rows_case(1, sizes[s], k, dtypes[t], dists[d]);
                    if (s == 3 && (d + t + p) % 3) continue;
                    c.array = which % 2;
                    c = variant(c, which);
                    run(&c);
                }
}

static void rows(run_function run)
{
    static const size_t sizes[][2] = { { 1, 700 },   { 700, 3 },   { 37, 41 },   { 5, 1025 },
                                       { 600, 33 },  { 40, 1000 }, { 3, 10000 }, { 9, 4096 },
                                       { 300, 129 }, { 1000, 1 },  { 2, 20000 } };
    static const char *const dists[] = { "random", "few", "special", "heavy" };
    for (size_t t = 0; t < DTYPES; t++)
        for (size_t s = 0; s < LENGTH(sizes); s++)
            for (size_t i = 0; i < LENGTH(ks) + 2; i++) {
                const size_t cols = sizes[s][1], which = 20000 + (t * 16 + s) * 16 + i;
                const size_t k = i < LENGTH(ks) ? ks[i] : i == LENGTH(ks) ? cols : cols / 2;
                if (k > cols || k == 0) continue;
                struct topk_case c = rows_case(sizes[s][0], cols, k, t, dists[which % 4]);
                c.counts = which % 3 == 0;
                c = variant(c, which);
                run(&c);
            }
}

static void strides(run_function run)
{
    static const char *const in[] = { "", "padded", "columns", "spread" };
    static const size_t sizes[][2] = { { 1, 700 },  { 700, 3 },  { 37, 41 },
                                       { 5, 1025 }, { 600, 33 }, { 4, 9000 } };
    for (size_t i = 0; i < LENGTH(in); i++)
        for (size_t o = 0; o < LENGTH(in); o++)
            for (size_t s = 0; s < LENGTH(sizes); s++)
                for (size_t p = 0; p < 6; p++) {
                    const size_t cols = sizes[s][1], which = 30000 + ((i * 4 + o) * 8 + s) * 8 + p;
                    const size_t k = (const size_t[]){ 1, 2, 10, 40, cols / 2, cols }[p];
                    if (k > cols || k == 0) continue;
                    struct topk_case c = rows_case(sizes[s][0], cols, k, which, "random");
                    c.groups.strides = in[i];
                    c.out = in[o];
                    c.counts = p % 2;
                    c = variant(c, which);
                    run(&c);
                }
}

static void segments(run_function run)
{
    static const char *const lengths[] = { "empty",    "tiny", "short", "middle", "powers",
                                           "powerlaw", "one",  "lone",  "long" };
    static const char *const dists[] = { "random", "few", "special", "heavy" };
    static const char *const outs[] = { "", "", "padded", "columns" };
    static const size_t some[] = { 1, 3, 10, 32, 100, 1000, 5000, 1000000 };
    for (size_t l = 0; l < LENGTH(lengths); l++)
        for (size_t t = 0; t < DTYPES; t++)
            for (size_t p = 0; p < LENGTH(some); p++)
                for (size_t e = 0; e < 2; e++) {
                    const size_t which = 40000 + ((l * 16 + t) * 16 + p) * 2 + e;
                    struct topk_case c = { .groups = { .sort = { .dtype = (ech_dtype)t,
                                                                 .dist = dists[which / 3 % 4] },
                                                       .lengths = lengths[l],
                                                       .n = l == 8  ? 120000
                                                            : l > 3 ? 30000
                                                                    : 6000,
                                                       .ends = e },
                                           .counts = which % 5 < 2,
                                           .out = outs[which / 5 % 4],
                                           .k = some[p] };
                    if ((p + l + t + e) % 2 && p != 2) continue;
                    /* The output has k elements per segment. */
                    if (l < 4 && c.k > 100) c.k = 40;
                    if (l == 5 && c.k > 100) c.k = 70;
                    if (c.k > 5000 && l != 6) c.k = 700;
                    c = variant(c, which);
                    run(&c);
                }
}

/* At least five blocks of each kernel. */
static void tiles(run_function run)
{
    static const ech_dtype dtypes[] = { ECH_U8, ECH_U16, ECH_U32, ECH_U64 };
    for (size_t t = 0; t < LENGTH(dtypes); t++)
        for (size_t p = 0; p < 2; p++) {
            struct topk_case c = rows_case(700, 33, 5, dtypes[t], "random");
            c.unsorted = p;
            c = variant(c, 50000 + 2 * t + p);
            run(&c);
            c.groups.rows = c.groups.cols = 0;
            c.groups.lengths = "tiny";
            c.groups.n = 24000;
            run(&c);
        }
}

/* Groups that several threads or blocks process together. */
static void large(run_function run)
{
    static const ech_dtype dtypes[] = { ECH_U32, ECH_F64, ECH_I16, ECH_U8, ECH_F32 };
    static const char *const dists[] = { "random", "zipf", "reversed", "heavy" };
    static const size_t some[] = { 1, 100, 5000, 60000, 400000 };
    for (size_t t = 0; t < LENGTH(dtypes); t++)
        for (size_t d = 0; d < LENGTH(dists); d++)
            for (size_t p = 0; p < LENGTH(some); p++) {
                const size_t which = 60000 + (t * 4 + d) * 8 + p;
                if ((t + d + p) % 2) continue;
                struct topk_case c = rows_case(1, 1000003, some[p], dtypes[t], dists[d]);
                c.array = true;
                c = variant(c, which);
                run(&c);
                if (some[p] > 60000) continue;
                c = rows_case(4, 250001, some[p], dtypes[t], dists[d]);
                c = variant(c, which);
                run(&c);
                c.groups.rows = c.groups.cols = 0;
                c.groups.lengths = d % 2 ? "lone" : "long";
                c.groups.n = 700000;
                c.groups.ends = p % 2;
                c.counts = d > 1;
                if (c.groups.lengths[1] == 'o' && c.groups.lengths[2] == 'n' && d % 2)
                    c.k = c.k > 1000 ? 1000 : c.k;
                run(&c);
            }
}

void topk_cases(run_function run)
{
    array_sizes(run);
    distributions(run);
    rows(run);
    strides(run);
    segments(run);
    tiles(run);
    large(run);
}

void topk_case_id(const struct topk_case *c, char *text, size_t capacity_bytes)
{
    const struct sort_case *s = &c->groups.sort;
    char shape[96], outputs[64];
    if (c->array)
        snprintf(shape, sizeof shape, "n=%zu", c->groups.cols);
    else if (c->groups.lengths)
        snprintf(shape, sizeof shape, "%s,n=%zu%s,o=%s", c->groups.lengths, c->groups.n,
                 c->groups.ends ? ",ends" : "", ech_dtype_name(c->groups.offsets_dtype));
    else
        snprintf(shape, sizeof shape, "%zux%zu%s%s", c->groups.rows, c->groups.cols,
                 *c->groups.strides ? "," : "", c->groups.strides);
    snprintf(outputs, sizeof outputs, "%s%s%s%s%s", c->no_values ? "" : ",values",
             c->no_indices ? "" : ",i=", c->no_indices ? "" : ech_dtype_name(c->index_dtype),
             *c->out ? ",out=" : "", c->out);
    snprintf(text, capacity_bytes, "%s(%s,%s,k=%zu%s%s%s%s%s%s,dist=%s)",
             c->array            ? "topk"
             : c->groups.lengths ? "segments"
                                 : "rows",
             ech_dtype_name(s->dtype), shape, c->k, outputs, s->descending ? "" : ",smallest",
             c->unsorted ? ",unsorted" : "", s->total ? ",total" : "", c->counts ? ",counts=" : "",
             c->counts ? ech_dtype_name(c->counts_dtype) : "", s->dist);
}
