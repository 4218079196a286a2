/*
 * select_cases.c - the cases of test_select: selected combinations of parameters, because all
 * combinations would be millions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "select_case.h"

#include <stdio.h>

enum { DTYPES = 12, COMPARES = 11, CALLS = 9 };
#define LENGTH(array) (sizeof(array) / sizeof *(array))

typedef void (*run_function)(const struct select_case *);

static bool by_flags(enum select_call call)
{
    return call == CALL_SELECT_FLAGS || call == CALL_PARTITION_FLAGS;
}

/* A case of any call; `which` selects its other parameters. */
static struct select_case some_case(enum select_call call, ech_dtype dtype, size_t n,
                                    unsigned which)
{
    static const size_t bytes[] = { 4, 1, 8, 2, 3, 16, 12 };
    static const char *const dists[] = { "len1", "len10", "special", "few", "ties", "constant" };
    static const ech_compare compares[] = { ECH_COMPARE_LESS, ECH_COMPARE_GREATER_EQUAL,
                                            ECH_COMPARE_NOT_EQUAL };
    struct select_case c = { .call = call, .dtype = dtype, .n = n, .dist = dists[which % 6] };
    c.compare = compares[which % 3];
    c.percent = (int)(which * 30 % 101);
    if (by_flags(call) || call == CALL_DECODE) c.element_bytes = bytes[which % 7];
    if (by_flags(call)) c.packed = which / 2 % 2;
    if (call == CALL_UNIQUE_BY_KEY) c.value_bytes = bytes[which % 7];
    if (call == CALL_SELECT_FLAGS || call == CALL_SELECT_IF) c.index = which % 4 == 3;
    c.invert = which % 3 == 1 && call != CALL_THREE && call != CALL_ENCODE && call != CALL_DECODE;
    if (call == CALL_DECODE) {
        static const char *const lengths[] = { "len1", "ones", "zeros", "len10", "one" };
        c.dist = lengths[which % 5];
        c.extra = which % 4;
    }
    return c;
}

static void sizes(run_function run)
{
    static const size_t small[] = { 0,  1,  2,   3,   15,  16,  17,  31,  32,   33,   63,
                                    64, 65, 127, 128, 129, 255, 256, 257, 1000, 2047, 2049 };
    for (int call = 0; call < CALLS; call++)
        for (size_t s = 0; s < LENGTH(small); s++)
            for (unsigned k = 0; k < 4; k++) {
                unsigned which = (unsigned)call + (unsigned)s * 5 + k * 7;
                struct select_case c =
                    some_case((enum select_call)call, (ech_dtype)(which % DTYPES), small[s], which);
                run(&c);
            }
}

/* Lengths near the tile sizes of the GPU kernels and the chunk sizes of the CPU. */
static void edges(run_function run)
{
    static const size_t tiles[] = { 2048, 4096, 8192, 16384, 32768, 65536 };
    static const ech_dtype dtypes[] = { ECH_U8, ECH_F16, ECH_F32, ECH_I64, ECH_I8, ECH_U32 };
    for (int call = 0; call < CALLS; call++)
        for (size_t s = 0; s < LENGTH(tiles); s++)
            for (size_t t = 0; t < LENGTH(dtypes); t++)
                for (unsigned edge = 0; edge < 3; edge++) {
                    struct select_case c =
                        some_case((enum select_call)call, dtypes[t], tiles[s] + edge - 1,
                                  (unsigned)(s + 2 * t) + edge);
                    run(&c);
                }
}

static void comparisons(run_function run)
{
    for (int t = 0; t < DTYPES; t++)
        for (int compare = 0; compare < COMPARES; compare++)
            for (unsigned k = 0; k < 3; k++) {
                if (t >= ECH_F16 && compare >= ECH_COMPARE_HAS_ANY) continue;
                struct select_case c = { .call = k == 2 ? CALL_PARTITION_IF : CALL_SELECT_IF,
                                         .dtype = (ech_dtype)t,
                                         .n = 3001,
                                         .compare = (ech_compare)compare,
                                         .invert = (t + compare) % 2,
                                         .index = k == 1,
                                         .dist = (t + (int)k) % 3 ? "special" : "few" };
                run(&c);
            }
}

static void element_sizes(run_function run)
{
    static const size_t bytes[] = { 1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 64, 100 };
    static const int percents[] = { 0, 10, 50, 90, 100 };
    static const char *const lengths[] = { "len1", "len3", "len100", "ones", "zeros", "one" };
    for (size_t b = 0; b < LENGTH(bytes); b++) {
        for (unsigned k = 0; k < 20; k++) {
            struct select_case c = { .call = k % 2 ? CALL_PARTITION_FLAGS : CALL_SELECT_FLAGS,
                                     .n = 5003,
                                     .element_bytes = bytes[b],
                                     .packed = k / 2 % 2,
                                     .percent = percents[k / 4],
                                     .invert = k % 3 == 0 };
            run(&c);
        }
        for (unsigned k = 0; k < LENGTH(lengths); k++) {
            struct select_case c = { .call = CALL_DECODE,
                                     .n = k == 2 ? 301 : 5003,
                                     .element_bytes = bytes[b],
                                     .extra = k * 3,
                                     .dist = lengths[k] };
            run(&c);
        }
    }
    for (size_t width = 1; width <= 8; width *= 2) /* an array that a CPU reads from memory */
        run(&(struct select_case){ .call = CALL_SELECT_FLAGS,
                                   .n = (13 << 20) / (width + 1) + 5,
                                   .element_bytes = width,
                                   .percent = 50,
                                   .cpu_only = true });
    for (unsigned k = 0; k < 2; k++)
        run(&(struct select_case){ .call = k ? CALL_UNIQUE : CALL_PARTITION_FLAGS,
                                   .dtype = ECH_F64,
                                   .n = (13 << 20) / 9 + 7,
                                   .element_bytes = 8,
                                   .dist = "few",
                                   .percent = 50,
                                   .cpu_only = true });
    for (unsigned k = 0; k < 2; k++) /* larger than the output buffer of any tile */
        run(&(struct select_case){ .call = k ? CALL_PARTITION_FLAGS : CALL_SELECT_FLAGS,
                                   .n = 41,
                                   .element_bytes = 5000,
                                   .percent = 50,
                                   .always = true });
}

static void runs(run_function run)
{
    static const char *const dists[] = { "ties",   "special", "few",   "constant", "sorted",
                                         "random", "len2",    "len10", "len1000" };
    static const size_t bytes[] = { 1, 2, 4, 8, 16, 3, 20 };
    for (int t = 0; t < DTYPES; t++)
        for (size_t k = 0; k < LENGTH(dists); k++) {
            struct select_case c = { .dtype = (ech_dtype)t, .n = 9001, .dist = dists[k] };
            c.call = CALL_UNIQUE;
            run(&c);
            c.invert = true;
            run(&c);
            c.invert = false;
            c.call = CALL_ENCODE;
            run(&c);
            c.call = CALL_UNIQUE_BY_KEY;
            c.value_bytes = bytes[((size_t)t + k) % LENGTH(bytes)];
            run(&c);
        }
}

static void three(run_function run)
{
    static const char *const dists[] = { "random", "special", "few", "sorted", "constant" };
    static const size_t n[] = { 700, 5003, 17011 };
    for (int t = 0; t < DTYPES; t++)
        for (size_t k = 0; k < LENGTH(dists); k++)
            run(&(struct select_case){ .call = CALL_THREE,
                                       .dtype = (ech_dtype)t,
                                       .n = n[((size_t)t + k) % 3],
                                       .dist = dists[k] });
}

static void big(run_function run)
{
    static const ech_dtype dtypes[] = { ECH_U8, ECH_BF16, ECH_F32, ECH_U64 };
    for (int call = 0; call < CALLS; call++)
        for (unsigned t = 0; t < LENGTH(dtypes); t++) {
            struct select_case c =
                some_case((enum select_call)call, dtypes[t], 300007, 4 * t + (unsigned)call);
            run(&c);
            c.kind = SELECT_THREADS;
            run(&c);
            c.kind = SELECT_REPEAT;
            c.n = 32003;
            run(&c);
        }
    for (int call = 0; call < CALLS; call++) {
        struct select_case c = some_case((enum select_call)call, ECH_F32, 1000003, 3);
        run(&c);
        c = some_case((enum select_call)call, ECH_F64, 1000003, 1);
        run(&c);
    }
}

/* Several tiles per block, also on the SIMT emulator. */
static void many_tiles(run_function run)
{
    static const struct {
        ech_dtype dtype;
        size_t n;
    } arrays[] = {
        { ECH_F64, 298001 }, { ECH_I64, 298001 }, { ECH_F32, 105011 }, { ECH_U32, 330017 }
    };
    static const enum select_call calls[] = { CALL_SELECT_IF, CALL_PARTITION_IF, CALL_UNIQUE };
    for (unsigned t = 0; t < LENGTH(arrays); t++)
        for (unsigned k = 0; k < LENGTH(calls); k++) {
            struct select_case c = { .call = calls[k],
                                     .dtype = arrays[t].dtype,
                                     .n = arrays[t].n + 4096 * k,
                                     .compare =
                                         t % 2 ? ECH_COMPARE_LESS : ECH_COMPARE_GREATER_EQUAL,
                                     .invert = (t + k) % 2,
                                     .always = true,
                                     .dist = t % 2 + k == 1 ? "random" : "special" };
            run(&c);
        }
    run(&(struct select_case){
        .call = CALL_UNIQUE, .dtype = ECH_I16, .n = 1190003, .always = true, .dist = "len10" });
    run(&(struct select_case){
        .call = CALL_ENCODE, .dtype = ECH_I16, .n = 1190003, .always = true, .dist = "len10" });
    /* More tiles than those whose counts a block adds. */
    run(&(struct select_case){
        .call = CALL_ENCODE, .dtype = ECH_I16, .n = 4300003, .always = true, .dist = "len10" });
    run(&(struct select_case){ .call = CALL_PARTITION_FLAGS,
                               .n = 2100011,
                               .element_bytes = 8,
                               .percent = 50,
                               .always = true });
}

/* Five blocks of each kernel that takes one tile per block (simt_tiles.py). */
static void several_blocks(run_function run)
{
    static const ech_dtype dtypes[] = { ECH_U8, ECH_BF16, ECH_F32, ECH_U64 };
    static const enum select_call calls[] = { CALL_SELECT_IF, CALL_SELECT_IF, CALL_PARTITION_IF,
                                              CALL_THREE,     CALL_UNIQUE,    CALL_ENCODE };
    run(&(struct select_case){
        .call = CALL_DECODE, .n = 25013, .element_bytes = 4, .always = true, .dist = "len10" });
    for (size_t i = 0; i < 12; i++) /* at some alignment, elements are read as vectors */
        run(&(struct select_case){ .call = CALL_PARTITION_FLAGS,
                                   .n = 5 * ((size_t)32768 >> i % 4) + 79 + i,
                                   .element_bytes = (size_t)1 << i % 4,
                                   .packed = i / 4 % 2,
                                   .percent = 50,
                                   .always = true });
    for (size_t i = 0; i < 12; i++)
        run(&(struct select_case){ .call = CALL_SELECT_FLAGS,
                                   .n = 5 * 4096 + 79 + i,
                                   .element_bytes = 1 + i % 2,
                                   .packed = i / 2 % 2,
                                   .percent = 50,
                                   .always = true });
    for (size_t t = 0; t < LENGTH(dtypes); t++)
        for (unsigned k = 0; k < LENGTH(calls); k++)
            run(&(struct select_case){ .call = calls[k],
                                       .dtype = dtypes[t],
                                       .n = 5 * 32768 / ech_dtype_bytes(dtypes[t]) + 77,
                                       .compare = ECH_COMPARE_LESS,
                                       .index = k == 1,
                                       .always = true,
                                       .dist = "few" });
}

/* Arrays that fill the blocks of the ring, on GPUs before sm_90: simt_tiles runs them with
 * sm=80. */
static void rings(run_function run)
{
    static const ech_dtype dtypes[] = { ECH_I8, ECH_U16, ECH_I32, ECH_I64 };
    for (size_t t = 0; t < LENGTH(dtypes); t++)
        for (unsigned k = 0; k < 2; k++)
            run(&(struct select_case){ .call = k ? CALL_PARTITION_IF : CALL_SELECT_IF,
                                       .dtype = dtypes[t],
                                       .n = 2400077 / ech_dtype_bytes(dtypes[t]),
                                       .compare = ECH_COMPARE_LESS,
                                       .dist = "few" });
}

/* Calls by flags with several tiles per block: partitions of each width, and selections of 1 % and
 * 50 %. */
static void many_flags(run_function run)
{
    for (unsigned k = 0; k < 10; k++) {
        struct select_case c = { .call = k < 8 ? CALL_PARTITION_FLAGS : CALL_SELECT_FLAGS,
                                 .n = k & 1 ? 55001 : 105011,
                                 .element_bytes = k & 1 ? 8 : 4,
                                 .packed = k & 2,
                                 .percent = k & 4 ? 1 : 50,
                                 .invert = k == 5,
                                 .always = true };
        if (k >= 8) {
            c.n = 1460003;
            c.element_bytes = 4;
            c.packed = k == 8;
            c.percent = k == 8 ? 1 : 50;
        }
        run(&c);
        c.percent = 10;
        for (unsigned i = 1; i < 5; i++) { /* at some alignment, bulk copies are possible */
            c.n += 1;
            if (k < 2 || k == 9) run(&c);
        }
    }
}

/* Runs with several tiles per block, with keys or lengths as payload. */
static void many_runs(run_function run)
{
    static const char *const dists[] = { "special", "len10", "len1000", "constant", "random" };
    for (unsigned k = 0; k < 3 * LENGTH(dists); k++) {
        struct select_case c = { .call = k % 3 ? CALL_UNIQUE_BY_KEY : CALL_ENCODE,
                                 .dtype = k % 2   ? ECH_F32
                                          : k % 4 ? ECH_F64
                                                  : ECH_U32,
                                 .n = 105011 + 4096 * k,
                                 .value_bytes = k % 3 * 4,
                                 .always = true,
                                 .dist = dists[k / 3] };
        run(&c);
    }
    /* Values that bulk copies do not support. */
    run(&(struct select_case){ .call = CALL_UNIQUE_BY_KEY,
                               .dtype = ECH_U32,
                               .n = 400009,
                               .value_bytes = 3,
                               .always = true,
                               .dist = "len10" });
}

void select_cases(run_function run)
{
    sizes(run);
    edges(run);
    comparisons(run);
    element_sizes(run);
    runs(run);
    three(run);
    big(run);
    several_blocks(run);
    rings(run);
    many_tiles(run);
    many_flags(run);
    many_runs(run);
}

void select_case_id(const struct select_case *c, char *text, size_t capacity_bytes)
{
    static const char *const kinds[] = { "", "repeat_", "threads_" };
    static const char *const calls[] = { "select_flags",  "select_if",       "partition_flags",
                                         "partition_if",  "partition_three", "unique",
                                         "unique_by_key", "encode_runs",     "decode_runs" };
    static const char *const compares[] = { "nonzero",   "less",          "less_equal", "equal",
                                            "not_equal", "greater_equal", "greater",    "is_nan",
                                            "has_any",   "has_all",       "has_none" };
    char what[64] = "", test[64] = "", value[32] = "";
    if (c->element_bytes)
        snprintf(what, sizeof what, "%zu bytes", c->element_bytes);
    else
        snprintf(what, sizeof what, "%s", ech_dtype_name(c->dtype));
    if (by_flags(c->call))
        snprintf(test, sizeof test, ",%d%%%s", c->percent, c->packed ? ",packed" : "");
    else if (c->call == CALL_SELECT_IF || c->call == CALL_PARTITION_IF)
        snprintf(test, sizeof test, ",%s,dist=%s", compares[c->compare], c->dist);
    else
        snprintf(test, sizeof test, ",dist=%s", c->dist);
    if (c->value_bytes) snprintf(value, sizeof value, ",v=%zu", c->value_bytes);
    if (c->extra) snprintf(value, sizeof value, ",room=%zu", c->extra);
    snprintf(text, capacity_bytes, "%s%s(%s,n=%zu%s%s%s%s)", kinds[c->kind], calls[c->call], what,
             c->n, value, c->invert ? ",invert" : "", c->index ? ",index" : "", test);
}
