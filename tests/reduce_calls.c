/*
 * reduce_calls.c - reductions that must fail: status, message and effects.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reduce_case.h"

#include <stdlib.h>
#include <string.h>

enum { N = 5000 };

struct arrays {
    struct buffer in, b, offsets, out, keys_out, count;
};

static bool make(ech_ctx *ctx, struct arrays *a)
{
    ech_ctx *memory = test_is_cpu(ctx) ? NULL : ctx;
    char *zeros = calloc(N, 8);
    memset(a, 0, sizeof *a);
    bool made = zeros && buffer_make(&a->in, memory, N * 8, 0) && buffer_set(&a->in, zeros) &&
                buffer_make(&a->b, memory, N * 8, 0) && buffer_set(&a->b, zeros) &&
                buffer_make(&a->offsets, memory, 5 * 8, 0) &&
                buffer_make(&a->out, memory, N * 8, 0) &&
                buffer_make(&a->keys_out, memory, N * 8, 0) && buffer_make(&a->count, memory, 8, 0);
    free(zeros);
    return made;
}

static void drop(struct arrays *a)
{
    struct buffer *all[] = { &a->in, &a->b, &a->offsets, &a->out, &a->keys_out, &a->count };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->base) buffer_free(all[i]);
}

/* the field of the options that differs from its default */
#define WITH(...)                                                                                  \
    &(ech_reduce_options)                                                                          \
    {                                                                                              \
        .size = sizeof(ech_reduce_options), __VA_ARGS__                                            \
    }

static void bad_arguments(ech_ctx *ctx, struct arrays *a)
{
    void *in = a->in.data, *out = a->out.data;
    size_t bytes;
#define FAILS(part, op, in, out, n, dtype, options)                                                \
    CHECK_FAILS(ctx, ech_reduce(ctx, op, in, out, n, dtype, options), ECH_ERR_ARG, part)
    CHECK_FAILS(NULL, ech_reduce(NULL, ECH_OP_SUM, in, out, 1, ECH_F32, NULL), ECH_ERR_ARG, "ctx");
    FAILS("op is 99", (ech_op)99, in, out, 1, ECH_F32, NULL);
    FAILS("op works on bits", ECH_OP_XOR, in, out, 1, ECH_F32, NULL);
    FAILS("dtype is 12", ECH_OP_SUM, in, out, 1, (ech_dtype)12, NULL);
    FAILS("in is NULL", ECH_OP_SUM, NULL, out, 1, ECH_F32, NULL);
    FAILS("out is NULL", ECH_OP_SUM, in, NULL, 1, ECH_F32, NULL);
    FAILS("out is NULL", ECH_OP_SUM, NULL, NULL, 0, ECH_F32, NULL);
    FAILS("in is not aligned", ECH_OP_SUM, (char *)in + 1, out, 1, ECH_F32, NULL);
    FAILS("out is not aligned", ECH_OP_ARGMAX, in, (char *)out + 4, 1, ECH_F32, NULL);
    FAILS("overlap", ECH_OP_SUM, in, in, 9, ECH_F32, NULL);
    FAILS("n is", ECH_OP_SUM, in, out, SIZE_MAX / 2, ECH_F32, NULL);
    FAILS("options->size", ECH_OP_SUM, in, out, 1, ECH_F32, &(ech_reduce_options){ .size = 3 });
    FAILS("options->nan is 2", ECH_OP_SUM, in, out, 1, ECH_F32, WITH(.nan = (ech_nan)2));
    FAILS("options->accumulate_wide is 5", ECH_OP_SUM, in, out, 1, ECH_F32,
          WITH(.accumulate_wide = 5));
    FAILS("options->ddof is -1", ECH_OP_VARIANCE, in, out, 1, ECH_F32, WITH(.ddof = -1));
    FAILS("compare is 11", ECH_OP_COUNT, in, out, 1, ECH_F32, WITH(.compare = (ech_compare)11));
    FAILS("value is NULL", ECH_OP_ANY, in, out, 1, ECH_F32, WITH(.compare = ECH_COMPARE_LESS));
    FAILS("compare tests bits", ECH_OP_ALL, in, out, 1, ECH_F32,
          WITH(.compare = ECH_COMPARE_HAS_ANY, .value = ""));
    FAILS("options->work is NULL", ECH_OP_SUM, in, out, 1, ECH_F32, WITH(.work_bytes = 1));
    FAILS("options->work is not aligned", ECH_OP_SUM, in, out, 1, ECH_F32,
          WITH(.work = a->b.data + 8, .work_bytes = 8));
#undef FAILS
    CHECK_FAILS(ctx, ech_reduce_rows(ctx, ECH_OP_SUM, in, out, SIZE_MAX / 8, 64, ECH_U8, NULL),
                ECH_ERR_ARG, "rows is");
    CHECK_FAILS(ctx, ech_dot(ctx, in, NULL, out, 1, ECH_F32, NULL), ECH_ERR_ARG, "b is NULL");
    CHECK_FAILS(ctx, ech_dot(ctx, in, in, in, 1, ECH_F32, NULL), ECH_ERR_ARG, "overlap");
    CHECK_FAILS(ctx,
                ech_reduce_segments(ctx, ECH_OP_SUM, in, NULL, out, N, 4, ECH_F32, ECH_U64, NULL),
                ECH_ERR_ARG, "offsets is NULL");
    CHECK_FAILS(ctx,
                ech_reduce_by_key(ctx, ECH_OP_SUM, in, in, a->keys_out.data, out,
                                  (void *)a->count.data, 1, (ech_dtype)-1, ECH_F32, NULL),
                ECH_ERR_ARG, "key_dtype");
    CHECK_FAILS(ctx,
                ech_reduce_by_key(ctx, ECH_OP_SUM, in, in, a->keys_out.data, out, NULL, 1, ECH_U8,
                                  ECH_F32, NULL),
                ECH_ERR_ARG, "count is NULL");
    const char *device = ech_device_name(ctx);
    CHECK_FAILS(
        NULL,
        ech_reduce_workspace(device, ECH_REDUCE_CALL_ROWS, ECH_OP_SUM, 1, 1, ECH_F32, NULL, NULL),
        ECH_ERR_ARG, "bytes is NULL");
    CHECK_FAILS(
        NULL,
        ech_reduce_workspace("gpu9", ECH_REDUCE_CALL_ROWS, ECH_OP_SUM, 1, 1, ECH_F32, NULL, &bytes),
        ECH_ERR_ARG, "gpu9");
    CHECK_FAILS(
        NULL,
        ech_reduce_workspace(device, (ech_reduce_call)9, ECH_OP_SUM, 1, 1, ECH_F32, NULL, &bytes),
        ECH_ERR_ARG, "call is 9");
}

/* Invalid data. The CPU and staged calls report it at once; queued calls report it in
 * ech_sync(). */
static void bad_offsets(ech_ctx *ctx, struct arrays *a)
{
    static const struct {
        uint64_t offsets[5];
        const char *message;
    } cases[] = {
        { { 0, 10, 9, 20, N }, "offsets[2] is less than the one before" },
        { { 0, 10, 20, 30, N + 1 }, "offsets[4] is more than n" },
        { { 0, UINT64_MAX, 20, 30, 40 }, "offsets[1] is more than n" },
        { { N + 1, N, 0, N, 0 }, "offsets[0] is more than n" },
        { { 0, N, 0, N, 0 }, "offsets[2] is less than the one before" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int staged = 0; staged < 4; staged++) { /* the second half with i32 offsets */
            const ech_dtype dtype = staged < 2 ? ECH_U64 : ECH_I32;
            char array[sizeof cases[i].offsets] = "";
            void *typed = index_array(cases[i].offsets, 5, dtype);
            if (!CHECK(typed != NULL)) return;
            memcpy(array, typed, 5 * ech_dtype_bytes(dtype));
            free(typed);
            const void *offsets = staged % 2 ? (const void *)array : a->offsets.data;
            if (!buffer_set(&a->offsets, array)) return;
            ech_status status = ech_reduce_segments(ctx, ECH_OP_SUM, a->in.data, offsets,
                                                    a->out.data, N, 4, ECH_F64, dtype, NULL);
            if (status == ECH_OK && staged % 2 == 0 && !test_is_cpu(ctx)) status = ech_sync(ctx);
            test_check_fails(__FILE__, __LINE__, "a reduction with bad offsets", status,
                             ECH_ERR_ARG, ctx, cases[i].message);
            CHECK_STATUS(ech_sync(ctx), ECH_OK); /* reported only once */
            buffer_check_guards(&a->out, "out");
        }
}

static void *refuse(void *user, size_t bytes, void *stream)
{
    (void)bytes;
    (void)stream;
    ++*(int *)user;
    return NULL;
}

static void refuse_release(void *user, void *pointer, size_t bytes, void *stream)
{
    (void)user;
    (void)pointer;
    (void)bytes;
    (void)stream;
}

static void no_memory(ech_ctx *ctx, struct arrays *a)
{
    int asked = 0;
    const ech_allocator allocator = { sizeof(ech_allocator), refuse, refuse_release, &asked };
    uint64_t result, guard = 0;
    ech_trim(ctx);
    if (!CHECK_STATUS(ech_set_allocator(ctx, &allocator), ECH_OK)) return;
    char *host = calloc(N, 8);
    ech_status status = ech_reduce(ctx, ECH_OP_SUM, host, &result, N, ECH_U64, NULL);
    if (test_is_cpu(ctx))
        CHECK_STATUS(status, ECH_OK); /* the CPU needs no workspace */
    else
        CHECK_STATUS(status, ECH_ERR_MEMORY);
    CHECK(test_is_cpu(ctx) || asked > 0);
    CHECK_STATUS(ech_set_allocator(ctx, NULL), ECH_OK);
    CHECK_STATUS(ech_reduce(ctx, ECH_OP_SUM, host, &result, N, ECH_U64, NULL), ECH_OK);
    CHECK_INT(result, guard);
    free(host);
    (void)a;
}

void reduce_calls(ech_ctx *ctx)
{
    struct arrays a;
    static const struct {
        const char *name;
        void (*run)(ech_ctx *ctx, struct arrays *a);
    } groups[] = { { "bad_arguments", bad_arguments },
                   { "bad_offsets", bad_offsets },
                   { "no_memory", no_memory } };
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        if (!test_begin("%s(%s)", groups[i].name, ech_device_name(ctx))) continue;
        if (groups[i].run == no_memory) {
            groups[i].run(ctx, NULL); /* no memory may be allocated */
        } else {
            if (CHECK(make(ctx, &a))) groups[i].run(ctx, &a);
            drop(&a);
        }
        test_end();
    }
}
