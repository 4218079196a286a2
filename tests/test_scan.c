/*
 * test_scan.c - scans, compared with an oracle, on every device; invalid arguments.
 *
 *     test_scan                              every case on every device
 *     test_scan --device cpu --quick         one of seven cases, only small ones
 *     test_scan 'whole(sum,f32,n=4097'       cases with this prefix; data depends only on the id
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scan_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 16, NAME_BYTES = 64 };

static ech_ctx *contexts[DEVICES];
static int n_contexts;

/* ---- Cases ---- */

static void run_case(const struct scan_case *c)
{
    static const char *const shapes[] = { "whole", "rows", "segments", "keys" };
    static const char *const ops[] = { "sum", "product", "min", "max", "and", "or", "xor" };
    static unsigned number;
    char id[256];
    snprintf(id, sizeof id, "%s(%s,%s,n=%zu,columns=%zu,run=%zu,key=%s,%s%s%s%s%sdist=%s)",
             shapes[c->shape], ops[c->op], ech_dtype_name(c->dtype), c->n, c->columns, c->run,
             c->shape == SCAN_KEYS ? ech_dtype_name(c->key_dtype) : "none",
             c->exclusive ? "exclusive," : "", c->backward ? "backward," : "",
             c->wide ? "wide," : "", c->ignore_nan ? "ignore," : "", c->init ? "init," : "",
             c->dist);
    const bool drawn = test_drawn(number++, c->n <= 150000);
    if (!(c->always ? test_drawn_often(number) : drawn) && test_options.n_ids == 0) return;
    if (!test_begin("%s", id)) return;
    struct scan_data d;
    uint64_t seed = hash_text(id);
    if (scan_data_make(c, seed, &d))
        for (int i = 0; i < n_contexts; i++) scan_run(contexts[i], &d, seed);
    scan_data_free(&d);
    test_end();
}

static bool allowed(ech_op op, ech_dtype dtype)
{
    return op < ECH_OP_AND || dtype < ECH_F16;
}

/* Decodes the flags of a case. Every combination occurs in some case. */
static void set_flags(struct scan_case *c, unsigned bits)
{
    c->exclusive = bits & 1;
    c->init = bits >> 1 & 1;
    c->backward = bits >> 2 & 1;
    c->wide = bits >> 3 & 1;
    c->ignore_nan = bits >> 4 & 1;
}

static const char *dist_of(ech_op op, ech_dtype dtype, unsigned bits)
{
    if (dtype < ECH_F16) return "bits";
    if (bits % 3 == 0) return "special";
    return op == ECH_OP_PRODUCT ? "unit" : "small";
}

/* Every type and operator, with varying flags. */
static void run_types(void)
{
    static const size_t sizes[] = { 1, 33, 257, 5000, 20011 };
    unsigned bits = 0;
    for (int dtype = ECH_I8; dtype <= ECH_F64; dtype++)
        for (int op = ECH_OP_SUM; op <= ECH_OP_XOR; op++)
            for (int i = 0; i < 5 && allowed((ech_op)op, (ech_dtype)dtype); i++) {
                struct scan_case c = { .op = (ech_op)op, .dtype = (ech_dtype)dtype, .n = sizes[i] };
                c.dist = dist_of(c.op, c.dtype, bits);
                set_flags(&c, bits += 7);
                run_case(&c);
            }
}

/* Every combination of flags, for some types. */
static void run_flags(void)
{
    static const ech_dtype dtypes[] = { ECH_I8,   ECH_U16, ECH_I32, ECH_F16,
                                        ECH_BF16, ECH_F32, ECH_F64 };
    static const ech_op ops[] = { ECH_OP_SUM, ECH_OP_PRODUCT, ECH_OP_MIN, ECH_OP_MAX };
    for (int t = 0; t < 7; t++)
        for (int op = 0; op < 4; op++)
            for (unsigned bits = 0; bits < 32; bits++) {
                struct scan_case c = { .op = ops[op], .dtype = dtypes[t], .n = 700 + bits };
                c.dist = c.dtype < ECH_F16 ? "bits" : "special";
                set_flags(&c, bits);
                run_case(&c);
            }
}

/* Sizes near multiples of lines, tiles and groups. */
static void run_sizes(void)
{
    static const ech_dtype dtypes[] = { ECH_U8, ECH_U32, ECH_F16, ECH_F32, ECH_F64 };
    static const size_t sizes[] = { 2, 31, 32, 64, 127, 128, 129, 255, 256, 1009 };
    for (int t = 0; t < 5; t++) {
        size_t tile = 16384 / ech_dtype_bytes(dtypes[t]);
        struct scan_case c = { .op = ECH_OP_SUM, .dtype = dtypes[t], .dist = "small" };
        for (int i = 0; i < 10; i++) run_case((c.n = sizes[i], &c));
        for (size_t i = 1; i <= 33; i += i < 3 ? 1 : 29) /* 1, 2, 3, 32 */
            for (size_t n = i * tile - 1; n <= i * tile + 1; n++) run_case((c.n = n, &c));
        c.n = 67 * tile + 5;
        run_case(&c);
        c.n = 34 * tile + 77;
        run_case(&c);
        c.backward = c.exclusive = 1;
        run_case(&c);
        c.n = 1000003;
        run_case(&c);
        c.wide = c.init = 1;
        run_case(&c);
        c.n = 66 * 16384 / ech_dtype_bytes(dtypes[t]) * 33;
        c.wide = c.backward = 0;
        if (ech_dtype_bytes(dtypes[t]) == 8) run_case(&c); /* more than 32 groups */
    }
    for (int t = ECH_F32; t <= ECH_F64; t++) { /* more tiles than there are blocks */
        struct scan_case c = { .op = ECH_OP_SUM, .dtype = (ech_dtype)t, .n = 5000003 };
        c.dist = "small";
        run_case(&c);
        c.exclusive = c.init = 1;
        run_case(&c);
        c = (struct scan_case){ .op = ECH_OP_SUM, .n = 300007, .dist = "small" };
        c.dtype = t == ECH_F32 ? ECH_U32 : ECH_U64;
        run_case(&c);
        c.n = t == ECH_F32 ? 7000003 : 2500003; /* more than a GPU holds in shared memory */
        run_case(&c);
        c.op = ECH_OP_MIN; /* fewer */
        c.n = t == ECH_F32 ? 2000003 : 1000003;
        c.backward = t == ECH_F64;
        c.dist = dist_of(c.op, c.dtype, 1);
        run_case(&c);
    }
    struct scan_case longs = { .op = ECH_OP_SUM, .dtype = ECH_I64, .n = 1000003, .dist = "small" };
    longs.backward = 1;
    run_case(&longs);
    struct scan_case zeros = { .op = ECH_OP_SUM, .dtype = ECH_F32, .n = 5001, .dist = "zeros" };
    run_case(&zeros);
    zeros.exclusive = 1;
    run_case(&zeros);
}

static void run_rows(void)
{
    static const ech_dtype dtypes[] = { ECH_I8, ECH_I32, ECH_F16, ECH_F32, ECH_F64 };
    static const size_t columns[] = { 1,    2,    3,    4,    7,    8,    16,   17,   31,   32,
                                      33,   64,   100,  127,  128,  200,  256,  257,  500,  1000,
                                      1024, 1027, 2048, 2049, 4096, 4097, 5000, 9001, 16385 };
    unsigned bits = 0;
    for (int t = 0; t < 5; t++)
        for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
            struct scan_case c = { .shape = SCAN_ROWS,
                                   .op = i % 4 == 3   ? ECH_OP_MIN
                                         : i % 4 == 2 ? ECH_OP_PRODUCT
                                                      : ECH_OP_SUM,
                                   .dtype = dtypes[t],
                                   .columns = columns[i] };
            c.n = columns[i] * (columns[i] < 300 ? 130 : columns[i] < 3000 ? 11 : 3);
            c.dist = dist_of(c.op, c.dtype, bits);
            set_flags(&c, i % 2 ? bits += 5 : 0);
            run_case(&c);
        }
    struct scan_case c = {
        .shape = SCAN_ROWS, .op = ECH_OP_SUM, .dtype = ECH_F32, .columns = 200000, .n = 1000000
    };
    c.dist = "small";
    run_case(&c);
    c.columns = 1000;
    run_case(&c);
    c.dtype = ECH_F16; /* results for which the CPU uses non-temporal stores, in reverse */
    c.columns = 3000001;
    c.n = 3 * c.columns;
    c.backward = 1;
    run_case(&c);
}

static void run_segments(void)
{
    static const size_t sizes[] = { 1, 40, 700, 5000, 20000 }, runs[] = { 1, 3, 40, 3000 };
    unsigned bits = 0;
    for (int shape = SCAN_SEGMENTS; shape <= SCAN_KEYS; shape++)
        for (int dtype = ECH_I8; dtype <= ECH_F64; dtype++)
            for (int i = 0; i < 5; i++)
                for (int r = 0; r < 4; r++) {
                    struct scan_case c = { .shape = (enum scan_shape)shape,
                                           .op = (ech_op)((unsigned)(i + r) % 4),
                                           .dtype = (ech_dtype)dtype,
                                           .n = sizes[i],
                                           .run = runs[r],
                                           .key_dtype = (ech_dtype)((dtype + i * 4 + r) % 12) };
                    if (!allowed(c.op, c.dtype)) continue;
                    c.dist = dist_of(c.op, c.dtype, bits);
                    set_flags(&c, r % 2 ? bits += 3 : 0);
                    run_case(&c);
                }
    for (int t = ECH_F32; t <= ECH_F64; t++)
        for (int r = 0; r < 2; r++) {
            struct scan_case c = { .shape = r ? SCAN_KEYS : SCAN_SEGMENTS,
                                   .dtype = (ech_dtype)t,
                                   .n = 600011,
                                   .run = r ? 10 : 40000,
                                   .key_dtype = ECH_I32,
                                   .dist = "small" };
            run_case(&c);
            c.n = 67 * 2048 + 9;
            c.run = r ? 2 : 9000;
            for (unsigned flags = 0; flags < 8; flags++) {
                set_flags(&c, flags);
                run_case(&c);
            }
        }
}

/* For each kernel of each type: at least five tiles, or blocks of short rows (simt_tiles.py). On
 * the emulator, arrays of up to 16 tiles are "short", and those of up to 48 tiles "held" if their
 * elements have 4 or 8 bytes. */
static void run_tiles(void)
{
    static const ech_dtype dtypes[] = { ECH_U8,  ECH_I16, ECH_F16, ECH_BF16,
                                        ECH_U32, ECH_F32, ECH_I64, ECH_F64 };
    static const ech_op ops[] = { ECH_OP_SUM, ECH_OP_MIN, ECH_OP_PRODUCT };
    for (int t = 0; t < 8; t++)
        for (int k = 0; k < 3; k++) {
            const ech_dtype dtype = dtypes[t];
            const size_t tile = 16384 / ech_dtype_bytes(dtype);
            struct scan_case c = { .op = ops[k], .dtype = dtype, .always = true };
            c.dist = dist_of(c.op, dtype, 1);
            c.n = k < 2 ? 15 * tile + 77 : 6 * tile + 77;
            run_case(&c);
            for (size_t i = 0; i < 6 && ech_dtype_bytes(dtype) >= 4; i++) /* at some alignment */
                run_case((c.n = (k > 1 ? 6 : i < 2 ? 7 : i < 4 ? 18 : 50) * tile + 78 + i, &c));
            c.n = 5 * tile + 77;
            c.run = 300;
            c.shape = SCAN_KEYS;
            c.key_dtype = dtype;
            c.backward = k != 0;
            run_case(&c);
            for (size_t i = 0; i < 4 && k == 0 && ech_dtype_bytes(dtype) == 4; i++)
                run_case((c.n += 1, &c)); /* at some alignment */
            if (k == 0) run_case((c.backward = 1, &c));
            c.shape = SCAN_SEGMENTS;
            c.n = 6007;
            c.run = 2;
            if (k == 0) run_case(&c);
            c.shape = SCAN_ROWS;
            c.backward = 0;
            c.columns = 2 * tile + 77;
            c.n = 2 * c.columns;
            run_case(&c);
            c.wide = k != 1 && ech_dtype_bytes(dtype) < 8;
            if (c.wide) run_case(&c);
            c.columns = 90;
            c.n = c.columns * (ech_dtype_bytes(dtype) < 4 ? 601 : 201);
            if (c.wide) run_case(&c);
            c.wide = 0;
            run_case(&c);
        }
}

/* ---- Calls that must fail ---- */

static void run_refused(ech_ctx *ctx)
{
    float x[8] = { 1, 2, 3 }, y[8];
    int32_t i32[8] = { 0 };
    uint64_t offsets[3] = { 0, 4, 8 };
    ech_scan_options o = { .size = sizeof o };
    if (!test_begin("refused(%s)", ech_device_name(ctx))) return;
    CHECK_FAILS(NULL, ech_scan(NULL, ECH_OP_SUM, x, y, 8, ECH_F32, NULL), ECH_ERR_ARG,
                "ctx is NULL");
    CHECK_FAILS(ctx, ech_scan(ctx, ECH_OP_ARGMIN, x, y, 8, ECH_F32, NULL), ECH_ERR_ARG, "op is 7");
    CHECK_FAILS(ctx, ech_scan(ctx, (ech_op)-1, x, y, 8, ECH_F32, NULL), ECH_ERR_ARG, "op is -1");
    CHECK_FAILS(ctx, ech_scan(ctx, ECH_OP_XOR, x, y, 8, ECH_F32, NULL), ECH_ERR_ARG, "f32");
    CHECK_FAILS(ctx, ech_scan(ctx, ECH_OP_SUM, x, y, 8, (ech_dtype)12, NULL), ECH_ERR_ARG,
                "dtype is 12");
    CHECK_FAILS(ctx, ech_scan(ctx, ECH_OP_SUM, NULL, y, 8, ECH_F32, NULL), ECH_ERR_ARG,
                "in is NULL");
    CHECK_FAILS(ctx, ech_scan(ctx, ECH_OP_SUM, x, NULL, 8, ECH_F32, NULL), ECH_ERR_ARG,
                "out is NULL");
    CHECK_FAILS(ctx, ech_scan(ctx, ECH_OP_SUM, x, x + 1, 7, ECH_F32, NULL), ECH_ERR_ARG, "overlap");
    CHECK_FAILS(ctx, ech_scan(ctx, ECH_OP_SUM, x, y, SIZE_MAX / 4, ECH_F32, NULL), ECH_ERR_ARG,
                "n is");
    CHECK_FAILS(ctx, ech_scan(ctx, ECH_OP_SUM, (char *)x + 1, y, 4, ECH_F32, NULL), ECH_ERR_ARG,
                "in is not aligned");
    CHECK_FAILS(ctx, ech_scan_rows(ctx, ECH_OP_SUM, x, y, SIZE_MAX / 2, 3, ECH_F32, NULL),
                ECH_ERR_ARG, "rows is");
    CHECK_FAILS(ctx, ech_scan_segments(ctx, ECH_OP_SUM, x, NULL, y, 8, 2, ECH_F32, ECH_U64, NULL),
                ECH_ERR_ARG, "offsets is NULL");
    CHECK_FAILS(ctx, ech_scan_by_key(ctx, ECH_OP_SUM, NULL, x, y, 8, ECH_I32, ECH_F32, NULL),
                ECH_ERR_ARG, "keys is NULL");
    CHECK_FAILS(ctx, ech_scan_by_key(ctx, ECH_OP_SUM, i32, x, y, 8, (ech_dtype)-1, ECH_F32, NULL),
                ECH_ERR_ARG, "key_dtype is -1");
    o.accumulate_wide = 1;
    CHECK_FAILS(ctx, ech_scan(ctx, ECH_OP_SUM, x, x, 4, ECH_F32, &o), ECH_ERR_ARG, "overlap");
    o.accumulate_wide = 2;
    CHECK_FAILS(ctx, ech_scan(ctx, ECH_OP_SUM, x, y, 4, ECH_F32, &o), ECH_ERR_ARG,
                "accumulate_wide is 2");
    o = (ech_scan_options){ .size = sizeof o, .exclusive = -1 };
    CHECK_FAILS(ctx, ech_scan(ctx, ECH_OP_SUM, x, y, 4, ECH_F32, &o), ECH_ERR_ARG,
                "exclusive is -1");
    o = (ech_scan_options){ .size = sizeof o, .reverse = 3 };
    CHECK_FAILS(ctx, ech_scan(ctx, ECH_OP_SUM, x, y, 4, ECH_F32, &o), ECH_ERR_ARG, "reverse is 3");
    o = (ech_scan_options){ .size = sizeof o, .nan = (ech_nan)2 };
    CHECK_FAILS(ctx, ech_scan(ctx, ECH_OP_SUM, x, y, 4, ECH_F32, &o), ECH_ERR_ARG, "nan is 2");
    o = (ech_scan_options){ .size = 7 };
    CHECK_FAILS(ctx, ech_scan(ctx, ECH_OP_SUM, x, y, 4, ECH_F32, &o), ECH_ERR_ARG, "size is 7");
    o = (ech_scan_options){ .size = sizeof o, .work_bytes = 8 };
    CHECK_FAILS(ctx, ech_scan(ctx, ECH_OP_SUM, x, y, 4, ECH_F32, &o), ECH_ERR_ARG, "work is NULL");
    CHECK_FAILS(
        NULL, ech_scan_workspace("cpu", ECH_SCAN_CALL_ROWS, ECH_OP_SUM, 4, 1, ECH_F32, NULL, NULL),
        ECH_ERR_ARG, "bytes is NULL");
    CHECK_STATUS(ech_scan(ctx, ECH_OP_SUM, NULL, NULL, 0, ECH_F32, NULL), ECH_OK);
    CHECK_STATUS(ech_scan_rows(ctx, ECH_OP_SUM, NULL, NULL, 0, 5, ECH_F32, NULL), ECH_OK);
    CHECK_STATUS(ech_scan_rows(ctx, ECH_OP_SUM, NULL, NULL, 5, 0, ECH_F32, NULL), ECH_OK);
    CHECK_STATUS(ech_scan_segments(ctx, ECH_OP_SUM, x, NULL, y, 8, 0, ECH_F32, ECH_U64, NULL),
                 ECH_OK);
    CHECK_STATUS(
        ech_scan_segments(ctx, ECH_OP_SUM, NULL, offsets, NULL, 0, 0, ECH_F32, ECH_U64, NULL),
        ECH_OK);
    CHECK_STATUS(ech_scan_by_key(ctx, ECH_OP_SUM, NULL, NULL, NULL, 0, ECH_I32, ECH_F32, NULL),
                 ECH_OK);
    test_end();
}

static void run_offsets(ech_ctx *ctx)
{
    uint64_t down[] = { 2, 6, 5, 8 }, past[] = { 0, 4, 9 }, none[] = { 0, 0, 0 };
    uint64_t wild[] = { 0, UINT64_MAX, 3 };
    float x[8] = { 1, 2, 3, 4 }, y[8];
    if (!test_begin("offsets(%s)", ech_device_name(ctx))) return;
    CHECK_FAILS(ctx, ech_scan_segments(ctx, ECH_OP_SUM, x, down, y, 8, 3, ECH_F32, ECH_U64, NULL),
                ECH_ERR_ARG, "offsets[2] is less");
    CHECK_FAILS(ctx, ech_scan_segments(ctx, ECH_OP_SUM, x, past, y, 8, 2, ECH_F32, ECH_U64, NULL),
                ECH_ERR_ARG, "offsets[2] is more");
    CHECK_FAILS(ctx, ech_scan_segments(ctx, ECH_OP_SUM, x, wild, y, 8, 2, ECH_F32, ECH_U64, NULL),
                ECH_ERR_ARG, "offsets[1] is more");
    const int32_t negative[] = { 0, -1, 3 };
    CHECK_FAILS(ctx,
                ech_scan_segments(ctx, ECH_OP_SUM, x, negative, y, 8, 2, ECH_F32, ECH_I32, NULL),
                ECH_ERR_ARG, "offsets[1] is more");
    CHECK_FAILS(ctx,
                ech_scan_segments(ctx, ECH_OP_SUM, NULL, past, NULL, 0, 2, ECH_F32, ECH_U64, NULL),
                ECH_ERR_ARG, "offsets[1] is more");
    CHECK_STATUS(ech_scan_segments(ctx, ECH_OP_SUM, NULL, none, NULL, 0, 2, ECH_F32, ECH_U64, NULL),
                 ECH_OK);
    test_end();
}

static void *allocate_none(void *user, size_t bytes, void *stream)
{
    (void)user;
    (void)bytes;
    (void)stream;
    return NULL;
}

static void release_none(void *user, void *pointer, size_t bytes, void *stream)
{
    (void)user;
    (void)pointer;
    (void)bytes;
    (void)stream;
}

/* A workspace that is one byte too small, and a failing allocator. */
static void run_memory(ech_ctx *ctx)
{
    enum { N = 20000 };
    struct buffer in, out, work, offsets;
    uint64_t ends[] = { 0, N };
    size_t bytes = 0;
    if (test_is_cpu(ctx) || !test_begin("memory(%s)", ech_device_name(ctx))) return;
    CHECK_STATUS(ech_scan_workspace(ech_device_name(ctx), ECH_SCAN_CALL_SEGMENTS, ECH_OP_SUM, N, 1,
                                    ECH_F32, NULL, &bytes),
                 ECH_OK);
    CHECK(bytes > 0);
    float *x = calloc(N, sizeof *x);
    if (x && buffer_make(&in, ctx, N * 4, 0) && buffer_set(&in, x) &&
        buffer_make(&out, ctx, N * 4, 0) && buffer_make(&work, ctx, bytes, 0) &&
        buffer_make(&offsets, ctx, sizeof ends, 0) && buffer_set(&offsets, ends)) {
        const uint64_t *at = (const uint64_t *)(const void *)offsets.data;
        ech_scan_options o = { .size = sizeof o, .work = work.data, .work_bytes = bytes - 1 };
        CHECK_FAILS(
            ctx,
            ech_scan_segments(ctx, ECH_OP_SUM, in.data, at, out.data, N, 1, ECH_F32, ECH_U64, &o),
            ECH_ERR_MEMORY, "work_bytes");
        o.work_bytes = bytes;
        CHECK_STATUS(
            ech_scan_segments(ctx, ECH_OP_SUM, in.data, at, out.data, N, 1, ECH_F32, ECH_U64, &o),
            ECH_OK);
        CHECK_STATUS(ech_sync(ctx), ECH_OK);
        buffer_free(&in);
        buffer_free(&out);
        buffer_free(&work);
        buffer_free(&offsets);
        ech_allocator none = { .size = sizeof(ech_allocator),
                               .allocate = allocate_none,
                               .release = release_none };
        CHECK_STATUS(ech_set_allocator(ctx, &none), ECH_OK);
        CHECK_FAILS(ctx, ech_scan(ctx, ECH_OP_SUM, x, x, N, ECH_F32, NULL), ECH_ERR_MEMORY,
                    "memory");
        CHECK_STATUS(ech_set_allocator(ctx, NULL), ECH_OK);
    }
    free(x);
    test_end();
}

int main(int argc, char **argv)
{
    char name[NAME_BYTES];
    test_main(argc, argv);
    for (int i = 0; n_contexts < DEVICES && test_device(i, name, sizeof name); i++)
        if (ech_open(&contexts[n_contexts++], name) != ECH_OK) {
            fprintf(stderr, "ech_open(\"%s\"): %s\n", name, ech_error(NULL));
            return 1;
        }
    run_types();
    run_flags();
    run_sizes();
    run_rows();
    run_segments();
    run_tiles();
    for (int i = 0; i < n_contexts; i++) {
        run_refused(contexts[i]);
        run_offsets(contexts[i]);
        run_memory(contexts[i]);
        ech_close(contexts[i]);
    }
    return test_finish();
}
