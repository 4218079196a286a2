/*
 * reduce_cases.c - the cases of test_reduce: every operation, dtype and shape, at sizes where a
 * vector, a line, a chunk or a group of chunks is exactly full.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reduce_case.h"

#include <stdio.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

typedef void (*run_function)(const struct reduce_case *);

static const char *const ops[] = { "sum",   "product", "min",      "max",    "and",   "or",
                                   "xor",   "argmin",  "argmax",   "minmax", "any",   "all",
                                   "count", "mean",    "variance", "norm",   "stddev" };
enum { OPS = LENGTH(ops), DTYPES = 12 };

void reduce_case_id(const struct reduce_case *c, char *text, size_t capacity_bytes)
{
    static const char *const shapes[] = { "reduce", "rows", "segments", "by_key", "dot" };
    size_t used = (size_t)snprintf(text, capacity_bytes, "%s(%s,%s,n=%zu", shapes[c->shape],
                                   ops[c->op], ech_dtype_name(c->dtype), c->n);
#define ADD(...) used += (size_t)snprintf(text + used, capacity_bytes - used, __VA_ARGS__)
    if (c->shape == ROWS || c->shape == SEGMENTS) ADD(",parts=%zu", c->parts);
    if (c->shape == BY_KEY) ADD(",keys=%s", ech_dtype_name(c->key_dtype));
    if (c->lengths) ADD(",lengths=%s", c->lengths);
    if (c->op >= ECH_OP_ANY && c->op <= ECH_OP_COUNT) ADD(",compare=%d", (int)c->compare);
    if (c->ignore) ADD(",ignore");
    if (c->wide) ADD(",wide");
    if (c->ddof) ADD(",ddof=1");
    ADD(",dist=%s)", c->dist);
#undef ADD
}

static bool exists(ech_op op, ech_dtype dtype)
{
    return ech_reduce_dtype(op, dtype, 0) >= 0;
}

/* Varies every option that the operation uses. */
static struct reduce_case options(struct reduce_case c, unsigned turn)
{
    bool is_float = c.dtype >= ECH_F16;
    c.ignore = is_float && turn % 2;
    c.wide = is_float && turn / 2 % 2;
    c.ddof = (c.op == ECH_OP_VARIANCE || c.op == ECH_OP_STDDEV) && turn % 3 == 1;
    c.compare = (ech_compare)(turn % (is_float ? 8 : 11));
    if (!c.dist)
        c.dist = turn % 3 == 0 ? "tame" : turn % 3 == 1 ? (is_float ? "nan" : "random") : "special";
    return c;
}

static void sizes(run_function run)
{
    for (int t = 0; t < DTYPES; t++)
        for (int op = 0; op < (int)OPS; op++) {
            size_t line = 512 / ech_dtype_bytes((ech_dtype)t), chunk = 8 * line;
            const size_t n[] = { 0,
                                 1,
                                 2,
                                 3,
                                 5,
                                 31,
                                 32,
                                 33,
                                 127,
                                 255,
                                 257,
                                 line - 1,
                                 line,
                                 line + 1,
                                 8 * line + 3,
                                 chunk - 1,
                                 chunk,
                                 chunk + 1,
                                 2 * chunk,
                                 3 * chunk + 7,
                                 5 * chunk + 1 };
            if (!exists((ech_op)op, (ech_dtype)t)) continue;
            for (size_t i = 0; i < LENGTH(n); i++)
                for (unsigned turn = 0; turn < 2; turn++) {
                    struct reduce_case c = { .op = (ech_op)op, .dtype = (ech_dtype)t, .n = n[i] };
                    c = options(c, (unsigned)(i + 7 * (size_t)t) + 5 * turn + (unsigned)op);
                    run(&c);
                }
        }
}

/* Ties, sorted values, and only NaN. */
static void contents(run_function run)
{
    static const char *const dists[] = { "ties", "constant", "few", "sorted", "reversed", "nans" };
    for (int t = 0; t < DTYPES; t++)
        for (int op = 0; op < (int)OPS; op++)
            for (size_t d = 0; d < LENGTH(dists); d++)
                for (unsigned turn = 0; turn < 2; turn++) {
                    struct reduce_case c = { .op = (ech_op)op, .dtype = (ech_dtype)t, .n = 1237 };
                    bool nans = strcmp(dists[d], "nans") == 0;
                    c.dist = dists[d];
                    if (!exists(c.op, c.dtype) || (nans && c.dtype < ECH_F16)) continue;
                    c = options(c, turn + (unsigned)(d + (size_t)op));
                    run(&c);
                }
}

/* Minima and maxima that are zeros: -0 is less than +0. */
static void zeros(run_function run)
{
    static const size_t sizes[] = { 16, 47, 128, 1237, 9001 };
    for (int t = ECH_F32; t <= ECH_F64; t++)
        for (size_t s = 0; s < LENGTH(sizes); s++)
            for (int d = 0; d < 4; d++)
                run(&(struct reduce_case){ .op = d % 2 ? ECH_OP_MAX : ECH_OP_MIN,
                                           .dtype = (ech_dtype)t,
                                           .n = sizes[s],
                                           .dist = d / 2 ? "ceiling" : "floor" });
}

static void compares(run_function run)
{
    for (int t = 0; t < DTYPES; t++)
        for (int op = ECH_OP_ANY; op <= ECH_OP_COUNT; op++)
            for (int compare = 0;
                 compare <= (t < ECH_F16 ? ECH_COMPARE_HAS_NONE : ECH_COMPARE_IS_NAN); compare++)
                for (int d = 0; d < 3; d++)
                    run(&(struct reduce_case){ .op = (ech_op)op,
                                               .dtype = (ech_dtype)t,
                                               .n = 611,
                                               .compare = (ech_compare)compare,
                                               .dist = d == 0   ? "special"
                                                       : d == 1 ? "few"
                                                                : "ties" });
    /* Numbers that differ from one in the middle are two ranges, the second up to infinity. */
    for (int t = ECH_F16; t < DTYPES; t++)
        for (size_t n = 300; n < 2000; n += 211)
            run(&(struct reduce_case){ .op = ECH_OP_COUNT,
                                       .dtype = (ech_dtype)t,
                                       .n = n,
                                       .compare = ECH_COMPARE_NOT_EQUAL,
                                       .ignore = true,
                                       .always = true,
                                       .dist = "special" });
}

static void rows(run_function run)
{
    for (int t = 0; t < DTYPES; t++)
        for (int op = 0; op < (int)OPS; op++) {
            size_t line = 512 / ech_dtype_bytes((ech_dtype)t), chunk = 8 * line;
            /* columns, rows */
            const size_t shapes[][2] = {
                { 0, 3 },
                { 1, 100 },
                { 4, 65 },
                { 5, 33 },
                { 17, 70 },
                { 32, 40 },
                { 33, 31 },
                { 65, 9 },
                { 97, 33 },
                { line - 3, 7 },
                { line + 1, 6 },
                { 3 * line + 5, 5 },
                { chunk + 11, 3 },
                { 0, 0 },
                { line / 32, 45 },
                { line / 16, 33 },
                { 3 * line / 32, 37 },
                { line / 4, 65 },
                { 17 * line / 32, 34 },
                { line, 33 },
            };
            if (!exists((ech_op)op, (ech_dtype)t)) continue;
            for (size_t i = 0; i < LENGTH(shapes); i++) {
                struct reduce_case c = { .shape = ROWS, .op = (ech_op)op, .dtype = (ech_dtype)t };
                c.n = shapes[i][0];
                c.parts = shapes[i][1];
                c = options(c, (unsigned)i + (unsigned)op + 3 * (unsigned)t);
                run(&c);
            }
        }
}

static void segments(run_function run)
{
    static const char *const lengths[] = { "few", "mixed", "one", "tiny", "power" };
    for (int t = 0; t < DTYPES; t++)
        for (int op = 0; op < (int)OPS; op++)
            for (size_t l = 0; l < LENGTH(lengths); l++) {
                struct reduce_case c = { .op = (ech_op)op, .dtype = (ech_dtype)t, .n = 6007 };
                if (!exists(c.op, c.dtype)) continue;
                c.lengths = lengths[l];
                c.shape = SEGMENTS;
                c.parts = 100;
                run((c = options(c, (unsigned)l + (unsigned)op), &c));
                c.shape = BY_KEY;
                c.key_dtype = (ech_dtype)((unsigned)(t + op) % DTYPES);
                run(&c);
            }
}

static void dots(run_function run)
{
    for (int t = 0; t < DTYPES; t++) {
        size_t line = 512 / ech_dtype_bytes((ech_dtype)t), chunk = 8 * line;
        const size_t n[] = { 0, 1, 3, 33, line, line + 5, chunk, 2 * chunk + 9 };
        for (size_t i = 0; i < LENGTH(n); i++)
            for (unsigned turn = 0; turn < 4; turn++) {
                struct reduce_case c = { .shape = DOT, .dtype = (ech_dtype)t, .n = n[i] };
                if (turn % 2) c.dist = "tame";
                c = options(c, turn);
                run(&c);
            }
    }
}

/* Distances whose squares exceed the range of f64, and integers that f64 rounds. */
static void extremes(run_function run)
{
    static const ech_op of_moments[] = { ECH_OP_VARIANCE, ECH_OP_STDDEV };
    static const char *const dists[] = { "huge", "tiny", "scales", "constant", "near" };
    static const ech_dtype dtypes[] = { ECH_F64, ECH_I64, ECH_U64, ECH_I32, ECH_F32 };
    static const struct {
        enum reduce_shape shape;
        size_t n, parts;
        const char *lengths;
    } shapes[] = {
        { WHOLE, 1, 1, NULL },          { WHOLE, 63, 1, NULL },
        { WHOLE, 700, 1, NULL },        { WHOLE, 1024, 1, NULL },
        { WHOLE, 20011, 1, NULL },      { ROWS, 4, 65, NULL },
        { ROWS, 31, 40, NULL },         { ROWS, 64, 35, NULL },
        { ROWS, 4096, 3, NULL },        { ROWS, 1537, 4, NULL },
        { SEGMENTS, 6007, 100, "few" }, { SEGMENTS, 60007, 70, "mixed" },
        { BY_KEY, 6007, 100, "power" },
    };
    for (size_t t = 0; t < LENGTH(dtypes); t++)
        for (size_t op = 0; op < LENGTH(of_moments); op++)
            for (size_t d = 0; d < LENGTH(dists); d++)
                for (size_t s = 0; s < LENGTH(shapes); s++) {
                    struct reduce_case c = { .shape = shapes[s].shape,
                                             .op = of_moments[op],
                                             .dtype = dtypes[t],
                                             .n = shapes[s].n,
                                             .parts = shapes[s].parts,
                                             .lengths = shapes[s].lengths,
                                             .dist = dists[d],
                                             .key_dtype = ECH_U16 };
                    run((c = options(c, (unsigned)(s + 3 * d + op)), &c));
                }
}

/* Arrays that a CPU reads from memory. */
static void far(run_function run)
{
    static const ech_op of_far[] = { ECH_OP_SUM, ECH_OP_MIN, ECH_OP_MAX };
    static const ech_dtype dtypes[] = { ECH_F32, ECH_F64, ECH_U8, ECH_I32 };
    for (size_t op = 0; op < LENGTH(of_far); op++)
        for (size_t t = 0; t < LENGTH(dtypes); t++)
            run(&(struct reduce_case){ .op = of_far[op],
                                       .dtype = dtypes[t],
                                       .n = ((13 << 20) + 40) / ech_dtype_bytes(dtypes[t]),
                                       .dist = t < 2 && op == 1 ? "nan" : "tame",
                                       .cpu_only = true });
}

/* Many blocks or several threads share one row. */
static void large(run_function run)
{
    for (int t = 0; t < DTYPES; t++)
        for (int op = 0; op < (int)OPS; op++) {
            size_t chunk = 4096 / ech_dtype_bytes((ech_dtype)t);
            struct reduce_case c = { .op = (ech_op)op, .dtype = (ech_dtype)t };
            if (!exists(c.op, c.dtype)) continue;
            c.n = 300 * chunk + 13;
            run((c = options(c, (unsigned)op), &c));
            c.n = 200003;
            c.dist = NULL;
            run((c = options(c, (unsigned)op + 1), &c));
            c.shape = ROWS;
            c.n = 37 * chunk + 5;
            c.parts = 3;
            c.dist = "tame";
            run((c = options(c, (unsigned)op), &c));
            c.shape = SEGMENTS;
            c.n = (op % 2 ? 80 : 160) * chunk; /* of 160 chunks, blocks share a part */
            c.parts = 40;
            c.lengths = "one";
            run((c = options(c, (unsigned)op), &c));
            c.n = 360 * chunk; /* a block or a warp lists the long segments */
            c.parts = op % 2 ? 300 : 1500;
            c.lengths = op % 2 ? "one" : "power";
            run((c = options(c, (unsigned)op), &c));
            c.lengths = "power";
            c.shape = BY_KEY;
            c.key_dtype = ECH_U32;
            run(&c);
        }
    for (int op = 0; op < (int)OPS; op++) { /* enough rows for one warp per row */
        struct reduce_case c = { .shape = ROWS, .op = (ech_op)op, .dtype = ECH_F64, .n = 521 };
        c.parts = 1030;
        if (exists(c.op, c.dtype)) run((c = options(c, (unsigned)op), &c));
    }
    for (int t = 0; t < DTYPES; t++) /* more blocks than list long segments */
        run(&(struct reduce_case){ .shape = SEGMENTS,
                                   .op = ECH_OP_SUM,
                                   .dtype = (ech_dtype)t,
                                   .n = 360 * 4096 / ech_dtype_bytes((ech_dtype)t),
                                   .parts = 300,
                                   .lengths = "one",
                                   .dist = "tame" });
    /* a row of more partial results than the warps of a block hold at a time */
    run(&(struct reduce_case){ .shape = SEGMENTS,
                               .op = ECH_OP_VARIANCE,
                               .dtype = ECH_F64,
                               .n = (size_t)600 * 32 * 512,
                               .parts = 7,
                               .lengths = "one",
                               .dist = "tame" });
    for (int t = 0; t < DTYPES; t++)
        run(&(struct reduce_case){
            .shape = DOT, .dtype = (ech_dtype)t, .n = 300007, .dist = "tame" });
}

/* For each kernel of each type: at least five blocks (simt_tiles.py). */
static void several_blocks(run_function run)
{
    static const ech_dtype dtypes[] = { ECH_U8,  ECH_I16, ECH_F16, ECH_BF16,
                                        ECH_U32, ECH_F32, ECH_I64, ECH_F64 };
    for (size_t t = 0; t < LENGTH(dtypes); t++)
        for (int wide = 0; wide < 2; wide++) {
            const size_t chunk = 4096 / ech_dtype_bytes(dtypes[t]);
            struct reduce_case c = { .dtype = dtypes[t], .wide = wide, .dist = "tame" };
            c.always = true;
            for (int op = 0; op < (int)OPS; op++) {
                c.op = (ech_op)op;
                if (!exists(c.op, c.dtype)) continue;
                c.shape = WHOLE;
                c.n = 33 * chunk + 13;
                c.parts = 0;
                run(&c);
                c.shape = ROWS;
                c.n = 37;
                c.parts = 1201;
                run(&c);
            }
            c.op = ECH_OP_SUM;
            c.shape = DOT;
            c.n = 33 * chunk + 13;
            c.parts = 0;
            run(&c);
        }
}

void reduce_cases(run_function run)
{
    several_blocks(run);
    sizes(run);
    contents(run);
    zeros(run);
    compares(run);
    rows(run);
    segments(run);
    dots(run);
    extremes(run);
    large(run);
    far(run);
}
