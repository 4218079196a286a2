/*
 * test_memory.c - device memory: it is counted, does not exceed the documented amount, comes from
 * the caller's allocator if there is one, and is released after failures.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 10007 };

static void memory(ech_ctx *ctx)
{
    if (!test_begin("memory on %s", ech_device_name(ctx))) return;
    uint64_t now_bytes, peak_bytes;
    void *a = NULL, *b = NULL;
    char text[6] = "abcde", back[6] = "";
    CHECK_STATUS(ech_malloc(ctx, &a, 5000), ECH_OK);
    CHECK_STATUS(ech_malloc(ctx, &b, 3), ECH_OK);
    CHECK(a && b && (uintptr_t)a % 256 == 0 && (uintptr_t)b % 256 == 0);
    ech_memory_usage(ctx, 1, &now_bytes, &peak_bytes);
    CHECK_INT(now_bytes, 5003);
    CHECK(peak_bytes >= 5003);
    CHECK_STATUS(ech_copy(ctx, a, text, sizeof text), ECH_OK);
    CHECK_STATUS(ech_copy(ctx, b, a, 3), ECH_OK);
    CHECK_STATUS(ech_copy(ctx, back, b, 3), ECH_OK);
    CHECK(strcmp(back, "abc") == 0);
    ech_free(ctx, b, 3);
    ech_free(ctx, NULL, 100);
    ech_memory_usage(ctx, 0, &now_bytes, &peak_bytes);
    CHECK_INT(now_bytes, 5000);
    CHECK_INT(peak_bytes, 5003);
    ech_free(ctx, a, 5000);
    ech_trim(ctx);
    ech_memory_usage(ctx, 0, &now_bytes, NULL);
    CHECK_INT(now_bytes, 0);
    CHECK_STATUS(ech_malloc(ctx, &a, 0), ECH_OK);
    CHECK(a == NULL);
    CHECK_FAILS(ctx, ech_malloc(ctx, NULL, 8), ECH_ERR_ARG, "pointer is NULL");
    CHECK_FAILS(ctx, ech_malloc(ctx, &a, (size_t)1 << 60), ECH_ERR_MEMORY, "1152921504606846976");
    CHECK_FAILS(ctx, ech_copy(ctx, NULL, text, 1), ECH_ERR_ARG, "to is NULL");
    CHECK_FAILS(ctx, ech_copy(ctx, text, NULL, 1), ECH_ERR_ARG, "from is NULL");
    CHECK_STATUS(ech_copy(ctx, NULL, NULL, 0), ECH_OK);
    test_end();
}

/* During a sort the context never holds more than the query returns. Afterwards it holds
 * nothing. */
static void peak(ech_ctx *ctx, ech_dtype dtype, size_t value_bytes)
{
    if (!test_begin("peak(%s,v=%zu) on %s", ech_dtype_name(dtype), value_bytes,
                    ech_device_name(ctx)))
        return;
    struct buffer keys, values;
    uint64_t before, after, peak_bytes;
    size_t work_bytes;
    buffer_make(&keys, ctx, N * ech_dtype_bytes(dtype), 0);
    buffer_make(&values, ctx, N * value_bytes, 0);
    CHECK_STATUS(ech_sort_workspace(ech_device_name(ctx), N, dtype, value_bytes, NULL, &work_bytes),
                 ECH_OK);
    ech_memory_usage(ctx, 1, &before, NULL);
    if (value_bytes)
        CHECK_STATUS(ech_sort_pairs(ctx, keys.data, values.data, keys.data, values.data, N, dtype,
                                    value_bytes, NULL),
                     ECH_OK);
    else
        CHECK_STATUS(ech_sort(ctx, keys.data, keys.data, N, dtype, NULL), ECH_OK);
    ech_memory_usage(ctx, 0, &after, &peak_bytes);
    CHECK_INT(after, before);
    CHECK_INT(peak_bytes - before, work_bytes);
    buffer_free(&keys);
    buffer_free(&values);
    test_end();
}

/* ---- An allocator of the caller ---- */

struct hook {
    ech_ctx *source; /* a context whose memory the allocator uses */
    int calls, fail_at, held;
    struct {
        void *pointer;
        size_t bytes;
    } released[64]; /* kept until the work that may use it is complete */
    int n_released;
};

static void *hook_allocate(void *user, size_t bytes, void *stream)
{
    struct hook *hook = user;
    (void)stream;
    void *pointer = NULL;
    if (hook->calls++ == hook->fail_at) return NULL;
    if (ech_malloc(hook->source, &pointer, bytes) != ECH_OK || ech_sync(hook->source) != ECH_OK)
        return NULL;
    hook->held++;
    return pointer;
}

static void hook_release(void *user, void *pointer, size_t bytes, void *stream)
{
    struct hook *hook = user;
    (void)stream;
    hook->held--;
    if (!CHECK(hook->n_released < 64)) return;
    hook->released[hook->n_released].pointer = pointer;
    hook->released[hook->n_released++].bytes = bytes;
}

/* Called after ech_sync() of the context that used the memory. */
static void hook_flush(struct hook *hook)
{
    while (hook->n_released > 0) {
        hook->n_released--;
        ech_free(hook->source, hook->released[hook->n_released].pointer,
                 hook->released[hook->n_released].bytes);
    }
}

/* Each allocation of a call fails in turn. The call reports it, writes nothing and leaks
 * nothing. */
static void failing_allocations(ech_ctx *ctx, bool pairs)
{
    if (!test_begin("failing allocations of a sort of %s on %s", pairs ? "pairs" : "keys",
                    ech_device_name(ctx)))
        return;
    struct hook hook = { .fail_at = -1 };
    struct buffer in, out;
    char *copy = calloc(8, N), *got = calloc(8, N), *fill = malloc((size_t)8 * N);
    CHECK_STATUS(ech_open(&hook.source, ech_device_name(ctx)), ECH_OK);
    struct rng rng = { 1 };
    for (size_t i = 0; i < (size_t)8 * N; i++) copy[i] = (char)rng_next(&rng);
    memset(fill, 0x5C, (size_t)8 * N);
    ech_ctx *place = test_is_cpu(ctx) ? NULL : hook.source;
    buffer_make(&in, place, (size_t)8 * N, 0);
    buffer_make(&out, place, (size_t)8 * N, 0);
    buffer_set(&in, copy);

    ech_allocator allocator = { sizeof(ech_allocator), hook_allocate, hook_release, &hook };
    CHECK_STATUS(ech_set_allocator(ctx, &allocator), ECH_OK);
    ech_status status = ECH_ERR_MEMORY;
    for (int fail_at = 0; fail_at < 100 && status != ECH_OK && !test_failed(); fail_at++) {
        hook.calls = 0;
        hook.fail_at = fail_at;
        status = pairs ? ech_sort_pairs(ctx, in.data, in.data + 4 * N, out.data, out.data + 4 * N,
                                        N, ECH_F32, 4, NULL)
                       : ech_sort(ctx, in.data, out.data, 2 * N, ECH_F32, NULL);
        CHECK_INT(hook.held, 0);
        CHECK_STATUS(ech_sync(ctx), ECH_OK);
        hook_flush(&hook);
        if (status == ECH_OK) {
            CHECK(hook.calls <= fail_at); /* every failure was reported */
            break;
        }
        CHECK_INT(status, ECH_ERR_MEMORY);
        CHECK_TEXT(ech_error(ctx), "memory");
        buffer_get(&out, got);
        CHECK(memcmp(got, fill, (size_t)8 * N) == 0);
        buffer_get(&in, got);
        CHECK(memcmp(got, copy, (size_t)8 * N) == 0);
    }
    CHECK_STATUS(status, ECH_OK);

    void *pointer = NULL;
    hook.fail_at = -1;
    CHECK_STATUS(ech_malloc(ctx, &pointer, 64), ECH_OK);
    CHECK_FAILS(ctx, ech_set_allocator(ctx, NULL), ECH_ERR_ARG, "64 bytes");
    ech_free(ctx, pointer, 64);
    CHECK_INT(hook.held, 0);
    CHECK_STATUS(ech_sync(ctx), ECH_OK);
    hook_flush(&hook);
    allocator.release = NULL;
    CHECK_FAILS(ctx, ech_set_allocator(ctx, &allocator), ECH_ERR_ARG, "release");
    CHECK_STATUS(ech_set_allocator(ctx, NULL), ECH_OK);
    buffer_free(&in);
    buffer_free(&out);
    ech_close(hook.source);
    free(copy);
    free(got);
    free(fill);
    test_end();
}

static void count_reuse(void *user, ech_log_level level, const char *message)
{
    (void)level;
    *(int *)user += strncmp(message, "reuse ", 6) == 0;
}

/* The CPU keeps its workspace for later calls that need at most as much, until ech_trim(). */
static void kept_workspace(void)
{
    enum { MANY = 100000 };
    ech_ctx *ctx;
    uint32_t *keys = malloc(MANY * sizeof *keys);
    const size_t sizes[] = { MANY / 2, MANY / 2, MANY / 4, MANY, MANY };
    const int reused[] = { 0, 1, 1, 0, 1 };
    int reuses = 0;
    if (!test_begin("the workspace that the CPU keeps")) {
        free(keys);
        return;
    }
    CHECK_STATUS(ech_open(&ctx, "cpu"), ECH_OK);
    CHECK_STATUS(ech_set_log(ctx, ECH_LOG_TRACE, count_reuse, &reuses), ECH_OK);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            uint64_t now, before = (uint64_t)reuses;
            for (size_t j = 0; j < MANY; j++) keys[j] = (uint32_t)(j * 2654435761u);
            CHECK_STATUS(ech_sort(ctx, keys, keys, sizes[i], ECH_U32, NULL), ECH_OK);
            for (size_t j = 1; j < sizes[i]; j++)
                if (keys[j - 1] > keys[j]) CHECK(keys[j - 1] <= keys[j]);
            CHECK((uint64_t)reuses - before == (uint64_t)reused[i]);
            ech_memory_usage(ctx, 0, &now, NULL);
            CHECK(now == 0);
        }
        ech_trim(ctx);
    }
    ech_close(ctx);
    free(keys);
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
        memory(ctx);
        for (int t = 0; t < 12; t++) {
            peak(ctx, (ech_dtype)t, 0);
            peak(ctx, (ech_dtype)t, 4);
            peak(ctx, (ech_dtype)t, 12);
        }
        failing_allocations(ctx, false);
        failing_allocations(ctx, true);
        ech_close(ctx);
    }
    kept_workspace();
    return test_finish();
}
