/*
 * test_arrange.c - gather, scatter, reverse, rotate, transpose, fill, iota and random
 * permutations: each case on every device; invalid arguments and indices, threads, allocators.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "arrange_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONTEXTS = 8 };
static ech_ctx *contexts[CONTEXTS];
static int n_contexts;

static bool open_devices(void)
{
    char name[32];
    while (n_contexts < CONTEXTS && test_device(n_contexts, name, sizeof name)) {
        if (ech_open(&contexts[n_contexts], name) != ECH_OK) {
            test_begin("open(%s)", name);
            test_fail(__FILE__, __LINE__, "%s", ech_error(NULL));
            test_end();
            test_finish();
            return false;
        }
        n_contexts++;
    }
    return true;
}

/* ---- Cases ---- */

/* With --quick, large arrays are only tested if they have few bytes or elements. */
static bool too_large(const struct arrange_case *c)
{
    const size_t n = c->what == TRANSPOSE ? c->n * c->other : c->n;
    return n * c->element_bytes > 70000 && n > 17000;
}

static void run_case(const struct arrange_case *c)
{
    char id[256];
    arrange_case_id(c, id, sizeof id);
    const uint64_t seed = hash_text(id);
    if (c->always ? !test_drawn_often(seed) : !test_drawn(seed, !too_large(c))) return;
    if (!test_begin("%s", id)) return;
    struct arrange_data d;
    const bool made = arrange_data_make(c, seed, &d);
    for (int i = 0; i < n_contexts; i++) {
        static const int threads[] = { 0, 1, 2, 7 };
        test_begin("%s", id);
        if (test_is_cpu(contexts[i])) ech_set_threads(contexts[i], threads[seed >> 20 & 3]);
        if (CHECK(made)) arrange_run(contexts[i], c, &d);
        test_end();
    }
    arrange_data_free(&d);
}

/* ---- Invalid arguments ---- */

static void bad_arguments(ech_ctx *ctx)
{
    if (!test_begin("arguments on %s", ech_device_name(ctx))) return;
    uint64_t data[64] = { 0 }, other[64] = { 0 };
    uint32_t index[8] = { 0 };
    const size_t huge = (size_t)1 << 63;
    CHECK_STATUS(ech_gather(NULL, data, index, other, 8, 8, ECH_U32, 8), ECH_ERR_ARG);
    CHECK_FAILS(ctx, ech_gather(ctx, data, index, other, 8, 8, ECH_U32, 0), ECH_ERR_ARG,
                "element_bytes is 0");
    CHECK_FAILS(ctx, ech_gather(ctx, NULL, index, other, 8, 8, ECH_U32, 8), ECH_ERR_ARG,
                "in is NULL");
    CHECK_FAILS(ctx, ech_gather(ctx, data, NULL, other, 8, 8, ECH_U32, 8), ECH_ERR_ARG,
                "index is NULL");
    CHECK_FAILS(ctx, ech_gather(ctx, data, index, NULL, 8, 8, ECH_U32, 8), ECH_ERR_ARG,
                "out is NULL");
    CHECK_FAILS(ctx, ech_gather(ctx, data, index, other, 8, 8, ECH_I16, 8), ECH_ERR_ARG,
                "index_dtype is i16");
    CHECK_FAILS(ctx, ech_gather(ctx, data, (char *)index + 1, other, 7, 8, ECH_U32, 8), ECH_ERR_ARG,
                "index is not aligned");
    CHECK_FAILS(ctx, ech_gather(ctx, data, index, data + 4, 8, 8, ECH_U32, 8), ECH_ERR_ARG,
                "overlap");
    CHECK_FAILS(ctx, ech_gather(ctx, data, index, other, huge, 8, ECH_U32, 8), ECH_ERR_ARG, "n is");
    CHECK_FAILS(ctx, ech_gather(ctx, data, index, other, 8, huge, ECH_U32, 8), ECH_ERR_ARG,
                "n_in is");
    CHECK_FAILS(ctx, ech_scatter(ctx, data, index, other, 8, huge, ECH_U32, 8), ECH_ERR_ARG,
                "n_out is");
    CHECK_FAILS(ctx, ech_scatter(ctx, data, index, other, 8, 8, ECH_F32, 8), ECH_ERR_ARG,
                "index_dtype is f32");
    CHECK_FAILS(ctx, ech_scatter(ctx, data, index, index, 8, 4, ECH_U32, 8), ECH_ERR_ARG,
                "overlap");
    CHECK_FAILS(ctx, ech_reverse(ctx, data, data + 1, 8, 8), ECH_ERR_ARG, "overlap but are not");
    CHECK_FAILS(ctx, ech_reverse(ctx, data, other, huge, 8), ECH_ERR_ARG, "n is");
    CHECK_FAILS(ctx, ech_reverse(ctx, data, NULL, 8, 8), ECH_ERR_ARG, "out is NULL");
    CHECK_FAILS(ctx, ech_rotate(ctx, data, data, 8, 8, 1), ECH_ERR_ARG, "overlap");
    CHECK_FAILS(ctx, ech_rotate(ctx, data, other, 8, 0, 1), ECH_ERR_ARG, "element_bytes is 0");
    CHECK_FAILS(ctx, ech_transpose(ctx, data, data, 2, 4, 8), ECH_ERR_ARG, "overlap");
    CHECK_FAILS(ctx, ech_transpose(ctx, data, other, huge, 4, 1), ECH_ERR_ARG, "rows is");
    CHECK_FAILS(ctx, ech_transpose(ctx, data, other, 2, 4, 0), ECH_ERR_ARG, "element_bytes is 0");
    CHECK_FAILS(ctx, ech_fill(ctx, data, 8, 8, NULL), ECH_ERR_ARG, "value is NULL");
    CHECK_FAILS(ctx, ech_fill(ctx, NULL, 8, 8, data), ECH_ERR_ARG, "out is NULL");
    CHECK_FAILS(ctx, ech_fill(ctx, other, 8, 0, data), ECH_ERR_ARG, "element_bytes is 0");
    CHECK_FAILS(ctx, ech_iota(ctx, NULL, 8, ECH_F32, NULL, NULL), ECH_ERR_ARG, "out is NULL");
    CHECK_FAILS(ctx, ech_iota(ctx, data, 8, (ech_dtype)12, NULL, NULL), ECH_ERR_ARG, "dtype is 12");
    CHECK_FAILS(ctx, ech_iota(ctx, (char *)data + 2, 8, ECH_F32, NULL, NULL), ECH_ERR_ARG,
                "out is not aligned");
    CHECK_FAILS(ctx, ech_permutation(ctx, data, 8, ECH_I16, 0), ECH_ERR_ARG, "dtype is i16");
    CHECK_FAILS(ctx, ech_permutation(ctx, data, ((size_t)1 << 32) + 1, ECH_U32, 0), ECH_ERR_ARG,
                "n is 4294967297");
    CHECK_FAILS(ctx, ech_permutation(ctx, data, huge, ECH_U64, 0), ECH_ERR_ARG, "n is");
    CHECK_FAILS(ctx, ech_shuffle(ctx, data, data, 8, 8, 0), ECH_ERR_ARG, "overlap");
    CHECK_FAILS(ctx, ech_shuffle(ctx, data, other, ((size_t)1 << 62) + 1, 1, 0), ECH_ERR_ARG,
                "2^62");
    CHECK_FAILS(ctx, ech_sample(ctx, data, other, 8, 9, 8, 0), ECH_ERR_ARG, "k is 9");
    /* What has no elements needs no pointer. */
    CHECK_STATUS(ech_gather(ctx, NULL, NULL, NULL, 0, 0, ECH_U32, 8), ECH_OK);
    CHECK_STATUS(ech_scatter(ctx, NULL, NULL, NULL, 0, 0, ECH_U64, 8), ECH_OK);
    CHECK_STATUS(ech_reverse(ctx, NULL, NULL, 0, 8), ECH_OK);
    CHECK_STATUS(ech_rotate(ctx, NULL, NULL, 0, 8, 5), ECH_OK);
    CHECK_STATUS(ech_transpose(ctx, NULL, NULL, 0, 7, 8), ECH_OK);
    CHECK_STATUS(ech_transpose(ctx, NULL, NULL, 7, 0, 8), ECH_OK);
    CHECK_STATUS(ech_fill(ctx, NULL, 0, 8, NULL), ECH_OK);
    CHECK_STATUS(ech_iota(ctx, NULL, 0, ECH_U8, NULL, NULL), ECH_OK);
    CHECK_STATUS(ech_permutation(ctx, NULL, 0, ECH_U32, 1), ECH_OK);
    CHECK_STATUS(ech_shuffle(ctx, NULL, NULL, 0, 3, 1), ECH_OK);
    CHECK_STATUS(ech_sample(ctx, NULL, NULL, 8, 0, 3, 1), ECH_OK);
    test_end();
}

/* Opaque elements in GPU memory have a required alignment. */
static void bad_alignment(ech_ctx *ctx)
{
    if (test_is_cpu(ctx)) return;
    if (!test_begin("alignment on %s", ech_device_name(ctx))) return;
    struct buffer in, out;
    if (buffer_make(&in, ctx, 96, 4) && buffer_make(&out, ctx, 96, 0))
        CHECK_FAILS(ctx, ech_reverse(ctx, in.data, out.data, 4, 24), ECH_ERR_ARG,
                    "in is not aligned to 8 bytes");
    buffer_free(&in);
    buffer_free(&out);
    test_end();
}

/* ---- Indices that are too large ---- */

/* The first of two invalid indices is reported, by the call or by ech_sync(). Later calls
 * succeed. */
static void bad_index(ech_ctx *ctx, bool gather, bool wide, size_t bytes, bool on_host,
                      size_t first)
{
    enum { N = 3000, LIMIT = 500 };
    if (!test_begin("index(%s,%s,bytes=%zu,%s,first=%zu) on %s", gather ? "gather" : "scatter",
                    wide ? "u64" : "u32", bytes, on_host ? "host" : "device", first,
                    ech_device_name(ctx)))
        return;
    static uint64_t index64[N];
    static uint32_t index32[N];
    char message[64];
    snprintf(message, sizeof message, "index[%zu] is out of range", first);
    for (size_t i = 0; i < N; i++) {
        index64[i] = i * 7 % LIMIT;
        if (i == N - 110) index64[i] = wide ? UINT64_MAX : UINT32_MAX;
        if (i == first) index64[i] = LIMIT;
        index32[i] = (uint32_t)index64[i];
    }
    ech_ctx *where = on_host ? NULL : ctx;
    struct buffer in, out, index;
    const ech_dtype dtype = wide ? ECH_U64 : ECH_U32;
    if (buffer_make(&in, where, (gather ? LIMIT : N) * bytes, 0) &&
        buffer_make(&out, where, (gather ? N : LIMIT) * bytes, 0) &&
        buffer_make(&index, where, N * ech_dtype_bytes(dtype), 0) &&
        buffer_set(&index, wide ? (const void *)index64 : index32)) {
        ech_status status =
            gather ? ech_gather(ctx, in.data, index.data, out.data, N, LIMIT, dtype, bytes)
                   : ech_scatter(ctx, in.data, index.data, out.data, N, LIMIT, dtype, bytes);
        if (status == ECH_OK && !on_host) status = ech_sync(ctx);
        CHECK_FAILS(ctx, status, ECH_ERR_ARG, message);
        CHECK_STATUS(ech_sync(ctx), ECH_OK);
        buffer_check_guards(&in, "in");
        buffer_check_guards(&out, "out");
    }
    buffer_free(&in);
    buffer_free(&out);
    buffer_free(&index);
    test_end();
}

/* A thread processes several indices, and each of them must be checked. */
static void bad_indices(ech_ctx *ctx)
{
    static const size_t first[] = { 0, 300, 1234, 2889 };
    static const size_t bytes[] = { 1, 2, 4, 8, 12, 16 };
    for (unsigned kind = 0; kind < 8; kind++)
        for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
            for (size_t j = 0; j < sizeof first / sizeof *first; j++)
                bad_index(ctx, kind & 1, kind & 2, bytes[i], kind & 4, first[j]);
}

/* With duplicate indices the result is one of the elements, without tearing. */
static void same_index(ech_ctx *ctx, size_t bytes)
{
    enum { N = 5000, PLACES_HIT = 10 };
    if (!test_begin("same(bytes=%zu) on %s", bytes, ech_device_name(ctx))) return;
    static uint32_t index[N];
    unsigned char *in = malloc(N * bytes), *out = calloc(PLACES_HIT, bytes);
    for (size_t i = 0; i < N; i++) index[i] = (uint32_t)(i * 31 % PLACES_HIT);
    for (size_t i = 0; in && i < N; i++) memset(in + i * bytes, (int)(i / 20 % 250 + 1), bytes);
    if (CHECK(in && out)) {
        CHECK_STATUS(ech_scatter(ctx, in, index, out, N, PLACES_HIT, ECH_U32, bytes), ECH_OK);
        for (size_t p = 0; p < PLACES_HIT; p++)
            for (size_t b = 0; b < bytes; b++)
                CHECK(out[p * bytes + b] == out[p * bytes] && out[p * bytes] > 0);
    }
    free(in);
    free(out);
    test_end();
}

/* ---- Memory ---- */

static void *no_memory(void *user, size_t bytes, void *stream)
{
    (void)user, (void)bytes, (void)stream;
    return NULL;
}

static void no_release(void *user, void *pointer, size_t bytes, void *stream)
{
    (void)user, (void)pointer, (void)bytes, (void)stream;
}

/* These calls allocate nothing, except for staging host arrays on a GPU. */
static void allocator(ech_ctx *ctx)
{
    if (!test_begin("allocator on %s", ech_device_name(ctx))) return;
    const ech_allocator none = { .size = sizeof(ech_allocator),
                                 .allocate = no_memory,
                                 .release = no_release };
    uint32_t host[100] = { 0 }, to[100] = { 0 };
    struct buffer in, out;
    if (buffer_make(&in, test_is_cpu(ctx) ? NULL : ctx, 4000, 0) &&
        buffer_make(&out, test_is_cpu(ctx) ? NULL : ctx, 4000, 0)) {
        uint64_t held;
        ech_memory_usage(ctx, 0, &held, NULL);
        if (!held) CHECK_STATUS(ech_set_allocator(ctx, &none), ECH_OK);
        CHECK_STATUS(ech_iota(ctx, in.data, 1000, ECH_U32, NULL, NULL), ECH_OK);
        CHECK_STATUS(ech_reverse(ctx, in.data, out.data, 1000, 4), ECH_OK);
        CHECK_STATUS(ech_shuffle(ctx, in.data, out.data, 1000, 4, 1), ECH_OK);
        CHECK_STATUS(ech_transpose(ctx, in.data, out.data, 10, 100, 4), ECH_OK);
        CHECK_STATUS(ech_sync(ctx), ECH_OK);
        if (!held) CHECK_STATUS(ech_set_allocator(ctx, NULL), ECH_OK);
    }
    buffer_free(&in);
    buffer_free(&out);
    CHECK_STATUS(ech_set_allocator(ctx, &none), ECH_OK);
    const ech_status wanted = test_is_cpu(ctx) ? ECH_OK : ECH_ERR_MEMORY;
    CHECK_STATUS(ech_reverse(ctx, host, to, 100, 4), wanted);
    CHECK_STATUS(ech_set_allocator(ctx, NULL), ECH_OK);
    CHECK_STATUS(ech_reverse(ctx, host, to, 100, 4), ECH_OK);
    test_end();
}

/* Results of 16 MiB and more on the CPU bypass the caches; whole lines begin after some rows. */
static void large_transpose(ech_ctx *ctx, size_t rows, size_t cols, size_t bytes, size_t offset)
{
    const size_t n = rows * cols, guard = 64;
    if (!test_is_cpu(ctx) || !test_begin("large_transpose(rows=%zu,cols=%zu,bytes=%zu,offset=%zu)",
                                         rows, cols, bytes, offset))
        return;
    unsigned char *in = malloc(n * bytes), *block = malloc(n * bytes + 4 * guard);
    size_t wrong = 0;
    if (CHECK(in && block)) {
        unsigned char *out = block + 2 * guard - (uintptr_t)block % guard + offset * bytes;
        memset(block, 0x5a, n * bytes + 4 * guard);
        for (size_t i = 0; i < n; i++)
            memcpy(in + i * bytes, &(uint64_t){ i * 2654435761u }, bytes);
        CHECK_STATUS(ech_transpose(ctx, in, out, rows, cols, bytes), ECH_OK);
        for (size_t c = 0; c < cols; c++)
            for (size_t r = 0; r < rows; r++)
                wrong +=
                    memcmp(out + (c * rows + r) * bytes, in + (r * cols + c) * bytes, bytes) != 0;
        for (unsigned char *p = block; p < out; p++) wrong += *p != 0x5a;
        for (unsigned char *p = out + n * bytes; p < block + n * bytes + 4 * guard; p++)
            wrong += *p != 0x5a;
        CHECK_INT(wrong, 0);
    }
    free(in);
    free(block);
    test_end();
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    if (!open_devices()) return 1;
    arrange_cases(run_case);
    large_transpose(contexts[0], 1024, 4111, 4, 3);
    large_transpose(contexts[0], 1040, 2049, 8, 0);
    large_transpose(contexts[0], 528, 4007, 8, 5);
    large_transpose(contexts[0], 1025, 4101, 4, 1);
    for (int i = 0; i < n_contexts; i++) {
        ech_ctx *ctx = contexts[i];
        uint64_t now_bytes;
        bad_arguments(ctx);
        bad_alignment(ctx);
        bad_indices(ctx);
        for (size_t bytes = 1; bytes <= 8; bytes *= 2) same_index(ctx, bytes);
        allocator(ctx);
        arrange_order(ctx);
        if (test_begin("memory(%s)", ech_device_name(ctx))) {
            ech_memory_usage(ctx, 0, &now_bytes, NULL);
            CHECK_INT(now_bytes, 0);
            test_end();
        }
        ech_close(ctx);
    }
    return test_finish();
}
