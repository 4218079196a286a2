/*
 * test_api.c - invalid arguments of the sorts: each call must fail with the right status and a
 * message that names the argument, and write nothing.
 *
 * A case changes one argument of a valid call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000, BYTES = 16 * N };

enum which { SORT, PAIRS, ARGSORT };

struct call {
    enum which which;
    ech_ctx *ctx;
    char *keys_in, *keys_out, *values_in, *values_out;
    size_t value_bytes, n;
    int dtype, index_dtype;
    const ech_sort_options *options;
};

/* Memory for inputs and outputs at distant addresses. Outputs hold a pattern that must not
 * change. */
static _Alignas(256) char room[5][BYTES];

static ech_sort_options options;

static struct call good(ech_ctx *ctx, enum which which)
{
    memset(room, 0x5C, sizeof room);
    options = (ech_sort_options){ .size = sizeof options };
    return (struct call){ .which = which,
                          .ctx = ctx,
                          .keys_in = room[0],
                          .keys_out = room[1],
                          .values_in = room[2],
                          .values_out = room[3],
                          .value_bytes = 4,
                          .n = N,
                          .dtype = ECH_F32,
                          .index_dtype = ECH_U32,
                          .options = &options };
}

static ech_status make(const struct call *c)
{
    ech_dtype dtype = (ech_dtype)c->dtype, index_dtype = (ech_dtype)c->index_dtype;
    if (c->which == SORT) return ech_sort(c->ctx, c->keys_in, c->keys_out, c->n, dtype, c->options);
    if (c->which == PAIRS)
        return ech_sort_pairs(c->ctx, c->keys_in, c->values_in, c->keys_out, c->values_out, c->n,
                              dtype, c->value_bytes, c->options);
    return ech_argsort(c->ctx, c->keys_in, c->values_out, c->n, dtype, index_dtype, c->options);
}

static void expect(const struct call *c, ech_status status, const char *part)
{
    CHECK_FAILS(c->ctx, make(c), status, part);
    bool untouched = true;
    for (size_t i = 0; i < sizeof room; i++) untouched &= ((const char *)room)[i] == 0x5C;
    CHECK(untouched);
}

/* One row: the call, the change, the expected status and a part of the expected message. */
#define BAD(which, spoil, status, part)                                                            \
    if (test_begin("%s(%s) on %s", #which, #spoil, ech_device_name(ctx))) {                        \
        struct call c = good(ctx, which);                                                          \
        spoil;                                                                                     \
        expect(&c, status, part);                                                                  \
        test_end();                                                                                \
    }

static void pointers(ech_ctx *ctx)
{
    BAD(SORT, c.ctx = NULL, ECH_ERR_ARG, "ctx")
    BAD(PAIRS, c.ctx = NULL, ECH_ERR_ARG, "ctx")
    BAD(ARGSORT, c.ctx = NULL, ECH_ERR_ARG, "ctx")
    BAD(SORT, c.keys_in = NULL, ECH_ERR_ARG, "in is NULL")
    BAD(SORT, c.keys_out = NULL, ECH_ERR_ARG, "out is NULL")
    BAD(PAIRS, c.keys_in = NULL, ECH_ERR_ARG, "keys_in is NULL")
    BAD(PAIRS, c.keys_out = NULL, ECH_ERR_ARG, "keys_out is NULL")
    BAD(PAIRS, c.values_in = NULL, ECH_ERR_ARG, "values_in is NULL")
    BAD(PAIRS, c.values_out = NULL, ECH_ERR_ARG, "values_out is NULL")
    BAD(ARGSORT, c.keys_in = NULL, ECH_ERR_ARG, "keys is NULL")
    BAD(ARGSORT, c.values_out = NULL, ECH_ERR_ARG, "index is NULL")

    BAD(SORT, c.keys_in += 1, ECH_ERR_ARG, "in is not aligned")
    BAD(SORT, c.keys_out += 2, ECH_ERR_ARG, "out is not aligned")
    BAD(PAIRS, c.keys_out += 3, ECH_ERR_ARG, "keys_out is not aligned")
    BAD(ARGSORT, c.keys_in += 1, ECH_ERR_ARG, "keys is not aligned")
    BAD(ARGSORT, c.values_out += 2, ECH_ERR_ARG, "index is not aligned")
    BAD(ARGSORT, (c.index_dtype = ECH_U64, c.values_out += 4), ECH_ERR_ARG, "index is not aligned")

    BAD(SORT, c.keys_out = c.keys_in + 4, ECH_ERR_ARG, "in and out overlap but are not equal")
    BAD(SORT, c.keys_in = c.keys_out + 4 * N - 4, ECH_ERR_ARG, "overlap")
    BAD(PAIRS, c.keys_out = c.keys_in + 8, ECH_ERR_ARG, "keys_in and keys_out overlap")
    BAD(PAIRS, c.values_out = c.values_in + 4, ECH_ERR_ARG, "values_in and values_out overlap")
    BAD(PAIRS, c.values_out = c.keys_out, ECH_ERR_ARG, "keys_out and values_out overlap")
    BAD(PAIRS, c.values_out = c.keys_in, ECH_ERR_ARG, "keys_in and values_out overlap")
    BAD(PAIRS, c.keys_out = c.values_in, ECH_ERR_ARG, "keys_out and values_in overlap")
    BAD(ARGSORT, c.values_out = c.keys_in, ECH_ERR_ARG, "keys and index overlap")
}

static void numbers(ech_ctx *ctx)
{
    BAD(SORT, c.dtype = 12, ECH_ERR_ARG, "dtype is 12")
    BAD(SORT, c.dtype = -1, ECH_ERR_ARG, "dtype is -1")
    BAD(PAIRS, c.dtype = 99, ECH_ERR_ARG, "dtype is 99")
    BAD(ARGSORT, c.dtype = 99, ECH_ERR_ARG, "dtype is 99")
    BAD(ARGSORT, c.index_dtype = ECH_I16, ECH_ERR_ARG, "index_dtype is i16")
    BAD(ARGSORT, (c.index_dtype = ECH_I32, c.n = ((size_t)1 << 31) + 1), ECH_ERR_ARG,
        "i32 represents only")
    BAD(ARGSORT, c.index_dtype = 77, ECH_ERR_ARG, "index_dtype")
    BAD(ARGSORT, c.n = ((size_t)1 << 32) + 1, ECH_ERR_ARG, "u32 represents only")
    BAD(PAIRS, c.value_bytes = 0, ECH_ERR_ARG, "value_bytes is 0")
    BAD(PAIRS, c.value_bytes = SIZE_MAX / 2, ECH_ERR_ARG, "n is 1000")
    BAD(SORT, c.n = SIZE_MAX, ECH_ERR_ARG, "n is 18446744073709551615")
    BAD(SORT, c.n = SIZE_MAX / 4, ECH_ERR_ARG, "n is 4611686018427387903")
    BAD(PAIRS, (c.n = SIZE_MAX / 64, c.value_bytes = 64), ECH_ERR_ARG, "n is")

    BAD(SORT, options.size = 0, ECH_ERR_ARG, "options->size is 0")
    BAD(SORT, options.size = 7, ECH_ERR_ARG, "set it to sizeof(ech_sort_options)")
    BAD(SORT, options.size = 4097, ECH_ERR_ARG, "options->size is 4097")
    BAD(SORT, options.descending = 2, ECH_ERR_ARG, "options->descending is 2")
    BAD(SORT, options.descending = -1, ECH_ERR_ARG, "options->descending is -1")
    BAD(SORT, options.order = (ech_order)2, ECH_ERR_ARG, "options->order is 2")
    BAD(SORT, options.begin_bit = -1, ECH_ERR_ARG, "begin_bit is -1")
    BAD(SORT, options.end_bit = 33, ECH_ERR_ARG, "end_bit is 33")
    BAD(SORT, options.end_bit = -4, ECH_ERR_ARG, "end_bit is -4")
    BAD(SORT, options.begin_bit = 33, ECH_ERR_ARG, "begin_bit is 33")
    BAD(PAIRS, (options.begin_bit = 9, options.end_bit = 8), ECH_ERR_ARG, "begin_bit is 9")
    BAD(SORT, (c.dtype = ECH_U8, options.end_bit = 9), ECH_ERR_ARG, "end_bit is 9")

    BAD(SORT, options.algorithm = "bogo", ECH_ERR_ARG, "bogo")
    BAD(PAIRS, options.algorithm = "bogo", ECH_ERR_ARG, "bogo")
    BAD(ARGSORT, options.algorithm = "bogo", ECH_ERR_ARG, "bogo")
    BAD(SORT, (c.n = 0, options.algorithm = "bogo"), ECH_ERR_ARG, "bogo")
    BAD(SORT, options.work_bytes = 4096, ECH_ERR_ARG, "options->work is NULL")
}

/* A workspace is device memory, so these calls sort device memory. */
static void workspaces(ech_ctx *ctx)
{
    struct buffer keys, work;
    size_t bytes = 0;
    if (!test_begin("workspace of invalid size and address on %s", ech_device_name(ctx))) return;
    options = (ech_sort_options){ .size = sizeof options };
    CHECK_STATUS(ech_sort_workspace(ech_device_name(ctx), N, ECH_F32, 4, &options, &bytes), ECH_OK);
    ech_ctx *memory = test_is_cpu(ctx) ? NULL : ctx;
    buffer_make(&keys, memory, BYTES, 0);
    buffer_make(&work, memory, bytes + 256, 0);
    char *values = keys.data + BYTES / 2;

    options.work = work.data + 8;
    options.work_bytes = bytes;
    CHECK_FAILS(ctx,
                ech_sort_pairs(ctx, keys.data, values, keys.data, values, N, ECH_F32, 4, &options),
                ECH_ERR_ARG, "options->work is not aligned");
    if (bytes) {
        options.work = work.data;
        options.work_bytes = bytes - 1;
        CHECK_FAILS(
            ctx, ech_sort_pairs(ctx, keys.data, values, keys.data, values, N, ECH_F32, 4, &options),
            ECH_ERR_MEMORY, "options->work_bytes");
        options.work_bytes = 0;
        CHECK_FAILS(
            ctx, ech_sort_pairs(ctx, keys.data, values, keys.data, values, N, ECH_F32, 4, &options),
            ECH_ERR_MEMORY, "options->work_bytes");
    }
    options.work = keys.data;
    options.work_bytes = BYTES;
    CHECK_FAILS(ctx,
                ech_sort_pairs(ctx, keys.data, values, keys.data, values, N, ECH_F32, 4, &options),
                ECH_ERR_ARG, "options->work overlap");
    buffer_check_guards(&keys, "keys");
    buffer_check_guards(&work, "work");
    buffer_free(&keys);
    buffer_free(&work);
    test_end();
}

/* Errors that only occur with GPU memory. */
static void device_memory(ech_ctx *ctx)
{
    struct buffer keys;
    static _Alignas(256) char host[BYTES], other[BYTES];
    if (test_is_cpu(ctx) || !test_begin("device and host memory on %s", ech_device_name(ctx)))
        return;
    buffer_make(&keys, ctx, BYTES, 0);
    char *values = keys.data + BYTES / 2;
    CHECK_STATUS(ech_sort_pairs(ctx, keys.data, host, keys.data, host, N, ECH_F32, 4, NULL),
                 ECH_OK);
    CHECK_STATUS(ech_sort(ctx, host, keys.data, N, ECH_F32, NULL), ECH_OK);
    CHECK_FAILS(
        ctx, ech_sort_pairs(ctx, keys.data, values + 1, keys.data, values + 1, N, ECH_F32, 2, NULL),
        ECH_ERR_ARG, "values_in is not aligned to 2 bytes");
    CHECK_FAILS(
        ctx, ech_sort_pairs(ctx, keys.data, values + 2, keys.data, values + 2, N, ECH_F32, 4, NULL),
        ECH_ERR_ARG, "values_in is not aligned to 4 bytes");
    options = (ech_sort_options){ .size = sizeof options, .work = keys.data, .work_bytes = BYTES };
    CHECK_STATUS(ech_sort(ctx, host, host, N, ECH_F32, &options), ECH_OK);
    options.work = host;
    CHECK_FAILS(ctx, ech_sort(ctx, other, other, N, ECH_F32, &options), ECH_ERR_ARG,
                "options->work is in host memory");
    buffer_check_guards(&keys, "keys");
    buffer_free(&keys);
    test_end();
}

static void nothing_to_do(ech_ctx *ctx)
{
    if (!test_begin("n = 0 on %s", ech_device_name(ctx))) return;
    CHECK_STATUS(ech_sort(ctx, NULL, NULL, 0, ECH_I64, NULL), ECH_OK);
    CHECK_STATUS(ech_sort_pairs(ctx, NULL, NULL, NULL, NULL, 0, ECH_F16, 3, NULL), ECH_OK);
    CHECK_STATUS(ech_argsort(ctx, NULL, NULL, 0, ECH_U8, ECH_U32, NULL), ECH_OK);
    CHECK_FAILS(ctx, ech_sort(ctx, NULL, NULL, 0, (ech_dtype)40, NULL), ECH_ERR_ARG, "dtype is 40");
    test_end();
}

/* ---- Queries without a context ---- */

static void questions(const char *device)
{
    size_t bytes = 1;
    char text[2048];
    if (!test_begin("workspace and explain on %s", device)) return;
    ech_sort_options o = { .size = sizeof o, .algorithm = "bogo" };
    CHECK_FAILS(NULL, ech_sort_workspace(device, N, ECH_U32, 0, NULL, NULL), ECH_ERR_ARG, "bytes");
    CHECK_FAILS(NULL, ech_sort_workspace("nowhere", N, ECH_U32, 0, NULL, &bytes), ECH_ERR_ARG,
                "nowhere");
    CHECK_FAILS(NULL, ech_sort_workspace(device, N, (ech_dtype)12, 0, NULL, &bytes), ECH_ERR_ARG,
                "dtype is 12");
    CHECK_FAILS(NULL, ech_sort_workspace(device, N, ECH_U32, 0, &o, &bytes), ECH_ERR_ARG, "bogo");
    CHECK_FAILS(NULL, ech_sort_workspace(device, SIZE_MAX / 5, ECH_U32, 0, NULL, &bytes),
                ECH_ERR_ARG, "n is");
    CHECK_FAILS(NULL, ech_argsort_workspace(device, N, ECH_U32, ECH_F32, NULL, &bytes), ECH_ERR_ARG,
                "index_dtype is f32");
    CHECK_FAILS(NULL, ech_sort_explain(device, N, ECH_U32, 0, NULL, ECH_FORMAT_TEXT, NULL, 10),
                ECH_ERR_ARG, "text");
    CHECK_FAILS(NULL, ech_sort_explain(device, N, ECH_U32, 0, NULL, ECH_FORMAT_TEXT, text, 0),
                ECH_ERR_ARG, "capacity_bytes is 0");
    CHECK_FAILS(NULL,
                ech_sort_explain(device, N, ECH_U32, 0, NULL, (ech_format)7, text, sizeof text),
                ECH_ERR_ARG, "format is 7");
    CHECK_FAILS(NULL, ech_sort_explain(device, N, ECH_U32, 0, NULL, ECH_FORMAT_JSON, text, 20),
                ECH_ERR_ARG, "the JSON text needs");
    CHECK(*text == 0);
    CHECK_FAILS(NULL,
                ech_sort_explain(device, N, ECH_U32, 0, &o, ECH_FORMAT_TEXT, text, sizeof text),
                ECH_ERR_ARG, "bogo");

    CHECK_STATUS(ech_sort_workspace(device, 0, ECH_U32, 0, NULL, &bytes), ECH_OK);
    CHECK_STATUS(ech_sort_explain(device, N, ECH_U32, 4, NULL, ECH_FORMAT_TEXT, text, sizeof text),
                 ECH_OK);
    CHECK(strlen(text) > 0);
    char cut[8];
    memset(cut, 'x', sizeof cut);
    CHECK_STATUS(
        ech_sort_explain(device, N, ECH_U32, 4, NULL, ECH_FORMAT_TEXT, cut, sizeof cut - 1),
        ECH_OK);
    CHECK(memcmp(cut, text, 6) == 0 && cut[6] == 0 && cut[7] == 'x');
    CHECK_STATUS(
        ech_argsort_explain(device, N, ECH_F64, ECH_U64, NULL, ECH_FORMAT_TEXT, text, sizeof text),
        ECH_OK);
    CHECK(strlen(text) > 0);
    test_end();
}

/* The environment selects an algorithm if the caller does not. A context reads it in ech_open(). */
static void environment(const char *device)
{
    float keys[] = { 2, 1 };
    ech_ctx *ctx;
    if (!test_begin("ECHELON_ALGORITHM on %s", device)) return;
    setenv("ECHELON_ALGORITHM", "bogo", 1);
    CHECK_STATUS(ech_open(&ctx, device), ECH_OK);
    unsetenv("ECHELON_ALGORITHM");
    CHECK_FAILS(ctx, ech_sort(ctx, keys, keys, 2, ECH_F32, NULL), ECH_ERR_ARG, "bogo");
    options = (ech_sort_options){ .size = sizeof options, .algorithm = "" };
    CHECK_FAILS(ctx, ech_sort(ctx, keys, keys, 2, ECH_F32, &options), ECH_ERR_ARG, "bogo");
    options.algorithm = "stooge";
    CHECK_FAILS(ctx, ech_sort(ctx, keys, keys, 2, ECH_F32, &options), ECH_ERR_ARG, "stooge");
    ech_close(ctx);
    CHECK_STATUS(ech_open(&ctx, device), ECH_OK);
    CHECK_STATUS(ech_sort(ctx, keys, keys, 2, ECH_F32, NULL), ECH_OK);
    CHECK(keys[0] < keys[1]);
    ech_close(ctx);
    test_end();
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    char name[64];
    for (int i = 0; test_device(i, name, sizeof name); i++) {
        ech_ctx *ctx;
        if (ech_open(&ctx, name) != ECH_OK) {
            fprintf(stderr, "%s\n", ech_error(NULL));
            return 1;
        }
        pointers(ctx);
        numbers(ctx);
        workspaces(ctx);
        device_memory(ctx);
        nothing_to_do(ctx);
        questions(name);
        environment(ech_device_name(ctx));
        ech_close(ctx);
    }
    return test_finish();
}
