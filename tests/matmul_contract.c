/*
 * matmul_contract.c - tests the contract of matrix products: invalid arguments, inputs that must
 * not be read, workspace, and independence of the number of threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "matmul_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void matmul_contract(ech_ctx *const *all, int n);

static void bad_on(ech_ctx *ctx)
{
    float a[64] = { 0 }, b[64] = { 0 }, c[64] = { 0 };
    const void *pa[2] = { a, NULL }, *pb[2] = { b, b };
    void *pc[2] = { c, c + 16 };
    ech_matmul_options o = { .size = 1 };
#define BAD(text, ...) CHECK_FAILS(ctx, __VA_ARGS__, ECH_ERR_ARG, text)
#define CALL(a_, as, b_, bs, c_, cs, dtype)                                                        \
    ech_matmul(ctx, 4, 4, 4, 1, a_, as, b_, bs, 0, c_, cs, dtype, &o)
    BAD("options->size", CALL(a, 4, b, 4, c, 4, ECH_F32));
    o.size = sizeof o;
    BAD("a_stride is 3", CALL(a, 3, b, 4, c, 4, ECH_F32));
    BAD("b_stride is 2", CALL(a, 4, b, 2, c, 4, ECH_F32));
    BAD("c_stride is 1", CALL(a, 4, b, 4, c, 1, ECH_F32));
    BAD("dtype is i32", CALL(a, 4, b, 4, c, 4, ECH_I32));
    BAD("dtype is ?", CALL(a, 4, b, 4, c, 4, (ech_dtype)77));
    BAD("a is NULL", CALL(NULL, 4, b, 4, c, 4, ECH_F32));
    BAD("b is NULL", CALL(a, 4, NULL, 4, c, 4, ECH_F32));
    BAD("c is NULL", CALL(a, 4, b, 4, NULL, 4, ECH_F32));
    BAD("a is not aligned", CALL((char *)a + 2, 4, b, 4, c, 4, ECH_F32));
    BAD("overlap", CALL(a, 4, b, 4, a + 3, 4, ECH_F32));
    BAD("overlap", CALL(a, 4, b, 4, b, 4, ECH_F32));
    BAD("overflows size_t",
        ech_matmul(ctx, (size_t)-1 / 2, 4, 4, 1, a, 4, b, 4, 0, c, 4, ECH_F32, &o));
    o.accumulate_wide = 1;
    BAD("options->accumulate_wide", CALL(a, 4, b, 4, c, 4, ECH_F32));
    o.accumulate_wide = 2;
    BAD("options->accumulate_wide is 2", CALL(a, 4, b, 4, c, 4, ECH_F16));
    o.accumulate_wide = 0;
    o.transpose_a = 2;
    BAD("options->transpose_a is 2", CALL(a, 4, b, 4, c, 4, ECH_F32));
    o.transpose_a = 0;
    o.transpose_b = -1;
    BAD("options->transpose_b is -1", CALL(a, 4, b, 4, c, 4, ECH_F32));
    o.transpose_b = 0;
    o.batch_count = 2;
    o.c_batch_stride = 15;
    BAD("options->c_batch_stride is 15", CALL(a, 4, b, 4, c, 4, ECH_F32));
    BAD("options->batch_count",
        ech_matmul_pointers(ctx, 2, 4, 4, 4, 1, pa, 4, pb, 4, 0, pc, 4, ECH_F32, &o));
    o.batch_count = o.c_batch_stride = 0;
    o.algorithm = "magic";
    BAD("\"magic\"", CALL(a, 4, b, 4, c, 4, ECH_F32));
    o.algorithm = NULL;
    BAD("a[1] is NULL",
        ech_matmul_pointers(ctx, 2, 4, 4, 4, 1, pa, 4, pb, 4, 0, pc, 4, ECH_F32, &o));
    BAD("b is NULL",
        ech_matmul_pointers(ctx, 2, 4, 4, 4, 1, pa, 4, NULL, 4, 0, pc, 4, ECH_F32, &o));
    const ech_matvec_options vector = { .size = sizeof vector, .transpose = 3 };
    BAD("options->transpose is 3", ech_matvec(ctx, 4, 4, 1, a, 4, b, 0, c, ECH_F32, &vector));
    BAD("dtype is f16", ech_matvec(ctx, 4, 4, 1, a, 4, b, 0, c, ECH_F16, NULL));
    BAD("a_stride is 3", ech_matvec(ctx, 4, 4, 1, a, 3, b, 0, c, ECH_F32, NULL));
    BAD("x is NULL", ech_matvec(ctx, 4, 4, 1, a, 4, NULL, 0, c, ECH_F32, NULL));
    BAD("y is NULL", ech_matvec(ctx, 4, 4, 1, a, 4, b, 0, NULL, ECH_F32, NULL));
    BAD("overlap", ech_matvec(ctx, 4, 4, 1, a, 4, b, 0, b + 2, ECH_F32, NULL));
#undef CALL
#undef BAD
    CHECK_FAILS(NULL, ech_matvec(NULL, 1, 1, 1, a, 1, b, 0, c, ECH_F32, NULL), ECH_ERR_ARG,
                "ctx is NULL");
    CHECK_FAILS(NULL, ech_matmul(NULL, 1, 1, 1, 1, a, 1, b, 1, 0, c, 1, ECH_F32, NULL), ECH_ERR_ARG,
                "ctx is NULL");
    CHECK_FAILS(NULL, ech_matmul_workspace(NULL, 1, 1, 1, ECH_F32, NULL, NULL), ECH_ERR_ARG,
                "bytes is NULL");
    CHECK_FAILS(NULL, ech_matmul_explain(NULL, 1, 1, 1, ECH_F32, NULL, ECH_FORMAT_TEXT, NULL, 0),
                ECH_ERR_ARG, "text is NULL");
}

/* With alpha 0 or k 0, a and b are not read and may be NULL. With beta 0, c is not read. */
static void unread_on(ech_ctx *ctx)
{
    float a[16], c[16], y[4];
    for (int i = 0; i < 16; i++) a[i] = c[i] = NAN;
    for (int i = 0; i < 4; i++) y[i] = NAN;
    CHECK_STATUS(ech_matmul(ctx, 4, 4, 4, 0, NULL, 4, NULL, 4, 0, c, 4, ECH_F32, NULL), ECH_OK);
    for (int i = 0; i < 16; i++) CHECK(c[i] == 0);
    for (int i = 0; i < 16; i++) c[i] = 3;
    CHECK_STATUS(ech_matmul(ctx, 4, 4, 0, 1, NULL, 0, NULL, 4, 2, c, 4, ECH_F32, NULL), ECH_OK);
    CHECK_STATUS(ech_matmul(ctx, 4, 4, 4, 0, a, 4, a, 4, 1, c, 4, ECH_F32, NULL), ECH_OK);
    for (int i = 0; i < 16; i++) CHECK(c[i] == 6);
    CHECK_STATUS(ech_matvec(ctx, 4, 4, 0, NULL, 4, NULL, 0, y, ECH_F32, NULL), ECH_OK);
    for (int i = 0; i < 4; i++) CHECK(y[i] == 0);
    for (int i = 0; i < 4; i++) y[i] = 3;
    const ech_matvec_options transposed = { .size = sizeof transposed, .transpose = 1 };
    CHECK_STATUS(ech_matvec(ctx, 0, 4, 1, NULL, 4, NULL, 0.5, y, ECH_F32, &transposed), ECH_OK);
    for (int i = 0; i < 4; i++) CHECK(y[i] == 1.5F);
    CHECK_STATUS(ech_matmul(ctx, 0, 4, 4, 1, NULL, 4, NULL, 4, 0, NULL, 4, ECH_F32, NULL), ECH_OK);
    CHECK_STATUS(ech_matvec(ctx, 0, 4, 1, NULL, 4, NULL, 0, NULL, ECH_F32, NULL), ECH_OK);
}

static void *no_memory(void *user, size_t bytes, void *stream)
{
    (void)user;
    (void)bytes;
    (void)stream;
    return NULL;
}

static void no_release(void *user, void *pointer, size_t bytes, void *stream)
{
    (void)user;
    (void)pointer;
    (void)bytes;
    (void)stream;
}

/* A workspace of the exact size, one byte less, and a failing allocator. */
static void workspace_on(ech_ctx *ctx)
{
    enum { N = 70, K = 300 };
    static const char *const algorithms[] = { "tiled", NULL };
    const size_t a_bytes = N * K * sizeof(float), c_bytes = N * N * sizeof(float);
    ech_ctx *where = test_is_cpu(ctx) ? NULL : ctx;
    struct buffer a, c, work;
    ech_allocator none = { sizeof(ech_allocator), no_memory, no_release, NULL };
    if (!CHECK(buffer_make(&a, where, a_bytes, 0) && buffer_make(&c, where, c_bytes, 0))) return;
    for (int i = 0; i < 2; i++) {
        ech_matmul_options o = { .size = sizeof o, .algorithm = algorithms[i] };
        size_t bytes = 0;
        CHECK_STATUS(ech_matmul_workspace(ech_device_name(ctx), N, N, K, ECH_F32, &o, &bytes),
                     ECH_OK);
        if (!bytes) continue;
        if (CHECK(buffer_make(&work, where, bytes, 0))) {
            o.work = work.data;
            o.work_bytes = bytes;
            CHECK_STATUS(
                ech_matmul(ctx, N, N, K, 1, a.data, K, a.data, N, 0, c.data, N, ECH_F32, &o),
                ECH_OK);
            CHECK_STATUS(ech_sync(ctx), ECH_OK);
            buffer_check_guards(&work, "work");
            o.work_bytes--;
            CHECK_FAILS(
                ctx, ech_matmul(ctx, N, N, K, 1, a.data, K, a.data, N, 0, c.data, N, ECH_F32, &o),
                ECH_ERR_MEMORY, "options->work_bytes");
            buffer_free(&work);
        }
        o.work = NULL;
        o.work_bytes = 0;
        ech_trim(ctx);
        if (where) continue; /* the device buffers belong to the current allocator */
        CHECK_STATUS(ech_set_allocator(ctx, &none), ECH_OK);
        CHECK_FAILS(ctx,
                    ech_matmul(ctx, N, N, K, 1, a.data, K, a.data, N, 0, c.data, N, ECH_F32, &o),
                    ECH_ERR_MEMORY, "product");
        CHECK_STATUS(ech_set_allocator(ctx, NULL), ECH_OK);
    }
    buffer_free(&a);
    buffer_free(&c);
}

static void threads_on(ech_ctx *ctx)
{
    enum { N = 301, K = 530 };
    static const int threads[] = { 1, 2, 7 };
    float *a = calloc(N * K, sizeof *a), *c[3], *y[3];
    const ech_matmul_options o = { .size = sizeof o, .algorithm = "tiled" };
    if (!a) abort();
    matmul_fill(ECH_F32, "plain", a, N * K, 5);
    const ech_matvec_options transposed = { .size = sizeof transposed, .transpose = 1 };
    for (int i = 0; i < 3; i++) {
        c[i] = calloc(N * N, sizeof(float));
        y[i] = calloc(K, sizeof(float));
        if (!c[i] || !y[i]) abort();
        CHECK_STATUS(ech_set_threads(ctx, threads[i]), ECH_OK);
        CHECK_STATUS(ech_matmul(ctx, N, N, K, 1, a, K, a, N, 0, c[i], N, ECH_F32, &o), ECH_OK);
        CHECK_STATUS(ech_matvec(ctx, N, K, 1, a, K, a, 0, y[i], ECH_F32, &transposed), ECH_OK);
        CHECK(memcmp(c[0], c[i], N * N * sizeof(float)) == 0);
        CHECK(memcmp(y[0], y[i], K * sizeof(float)) == 0);
    }
    CHECK_STATUS(ech_set_threads(ctx, 0), ECH_OK);
    for (int i = 0; i < 3; i++) {
        free(c[i]);
        free(y[i]);
    }
    free(a);
}

/* a and b may be the same array, also in host memory, and matrices of the same batch. */
static void same_on(ech_ctx *ctx)
{
    const double a[9] = { 1, 2, 3, 4, 5, 6, 7, 8, 10 };
    const double square[9] = { 30, 36, 45, 66, 81, 102, 109, 134, 169 };
    const double gram[4] = { 14, 32, 32, 77 };
    const ech_matmul_options turned = { .size = sizeof turned, .transpose_b = 1 };
    const void *list[2] = { a, a };
    double c[18] = { 0 };
    void *out[2] = { c, c + 9 };
    CHECK_STATUS(ech_matmul(ctx, 3, 3, 3, 1, a, 3, a, 3, 0, c, 3, ECH_F64, NULL), ECH_OK);
    CHECK(memcmp(c, square, sizeof square) == 0);
    CHECK_STATUS(ech_matmul(ctx, 2, 2, 3, 1, a, 3, a, 3, 0, c, 2, ECH_F64, &turned), ECH_OK);
    CHECK(memcmp(c, gram, sizeof gram) == 0);
    CHECK_STATUS(
        ech_matmul_pointers(ctx, 2, 3, 3, 3, 1, list, 3, list, 3, 0, out, 3, ECH_F64, NULL),
        ECH_OK);
    CHECK(memcmp(c, square, sizeof square) == 0 && memcmp(c + 9, square, sizeof square) == 0);
}

static void explain_on(ech_ctx *ctx)
{
    static char text[2048];
    CHECK_STATUS(ech_matmul_explain(ech_device_name(ctx), 100, 100, 100, ECH_F32, NULL,
                                    ECH_FORMAT_TEXT, text, sizeof text),
                 ECH_OK);
    CHECK_TEXT(text, "algorithm ");
    CHECK_TEXT(text, "tiled:");
    CHECK_TEXT(text, "workspace ");
    CHECK_STATUS(ech_matmul_explain(ech_device_name(ctx), 0, 1, 1, ECH_F32, NULL, ECH_FORMAT_TEXT,
                                    text, sizeof text),
                 ECH_OK);
    CHECK_TEXT(text, "empty");
}

void matmul_contract(ech_ctx *const *all, int n)
{
    static const struct {
        const char *name;
        void (*run)(ech_ctx *ctx);
        bool cpu_alone;
    } cases[] = { { "bad arguments", bad_on, false },
                  { "inputs that are not read", unread_on, false },
                  { "workspace", workspace_on, false },
                  { "threads", threads_on, true },
                  { "a and b are the same array", same_on, false },
                  { "explain", explain_on, false } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!test_begin("%s", cases[i].name)) continue;
        for (int j = 0; j < n; j++)
            if (test_is_cpu(all[j]) || !cases[i].cpu_alone) cases[i].run(all[j]);
        test_end();
    }
}
