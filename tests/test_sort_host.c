/*
 * test_sort_host.c - sorts of host memory on a GPU: they run out of core within the memory limit,
 * write nothing if memory is exhausted, and keep all elements after a failed copy; and they run on
 * the CPU if that is faster.
 *
 * test_sort checks their output. With --quick, half of the combinations of limits and threads, and
 * of arrays and a workspace, are run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 1024, MOST = 30011 };
static uint32_t N = MOST; /* elements */

/* ---- Data: few distinct keys with their positions ---- */

struct data {
    uint32_t *keys, *values, *keys_out, *values_out;
};

static bool make_data(struct data *d)
{
    struct rng rng = { 7 };
    uint32_t *all = malloc(4 * N * sizeof *all);
    if (!CHECK(all != NULL)) return false;
    *d = (struct data){ all, all + N, all + 2 * N, all + 3 * N };
    for (uint32_t i = 0; i < N; i++) {
        d->keys[i] = (uint32_t)rng_below(&rng, 3000) * 1000003;
        d->values[i] = i;
    }
    memset(d->keys_out, 0x5C, 2 * N * sizeof *all);
    return true;
}

/* The output has the keys in order with their input positions; equal keys keep their order. */
static void check_sorted(const struct data *d)
{
    for (uint32_t i = 0; i < N; i++) {
        uint32_t from = d->values_out[i];
        if (from < N && d->keys[from] == d->keys_out[i] &&
            (i == 0 || d->keys_out[i - 1] < d->keys_out[i] ||
             (d->keys_out[i - 1] == d->keys_out[i] && d->values_out[i - 1] < from)))
            continue;
        test_fail(__FILE__, __LINE__, "element %u is key %u from position %u", i, d->keys_out[i],
                  from);
        return;
    }
}

static void check_untouched(const struct data *d)
{
    const unsigned char *out = (const unsigned char *)d->keys_out;
    for (size_t i = 0; i < 2 * N * sizeof *d->keys; i++)
        if (out[i] != 0x5C) {
            test_fail(__FILE__, __LINE__, "byte %zu of the output was written", i);
            return;
        }
}

static ech_status sort_pairs(ech_ctx *ctx, const struct data *d)
{
    return ech_sort_pairs(ctx, d->keys, d->values, d->keys_out, d->values_out, N, ECH_U32,
                          sizeof *d->values, NULL);
}

/* ---- The limit ---- */

static size_t least_limit(ech_ctx *ctx)
{
    size_t work_bytes = 0;
    CHECK_STATUS(ech_sort_workspace(ech_device_name(ctx), LEAST, ECH_U32, 4, NULL, &work_bytes),
                 ECH_OK);
    return 4 * LEAST * 8 + work_bytes;
}

static void look_for_chunks(void *user, ech_log_level level, const char *message)
{
    (void)level;
    const char *at = strstr(message, "does not fit on");
    if (at) sscanf(strstr(at, ": "), ": %d chunks", (int *)user);
}

static void limits(ech_ctx *ctx)
{
    if (!test_begin("limits on %s", ech_device_name(ctx))) return;
    struct data d;
    size_t least = least_limit(ctx);
    const size_t limits[] = { 0, N * 8 * 4, N * 8, N * 2, least };
    const int least_chunks[] = { 0, 0, 3, 12, MOST / LEAST };
    const int threads[] = { 0, 1, 2, 5, 13 };
    enum { LIMITS = sizeof limits / sizeof *limits, THREADS = sizeof threads / sizeof *threads };
    for (int k = 0; k < LIMITS * THREADS && !test_failed(); k++) {
        int chunks = 0, i = k % LIMITS;
        uint64_t now, peak;
        if (k >= LIMITS && (!least_chunks[i] || (test_options.quick && i != k / LIMITS))) continue;
        if (!make_data(&d)) continue;
        CHECK_STATUS(ech_set_threads(ctx, threads[k / LIMITS]), ECH_OK);
        CHECK_STATUS(ech_set_memory_limit(ctx, limits[i]), ECH_OK);
        CHECK_STATUS(ech_set_log(ctx, ECH_LOG_INFO, look_for_chunks, &chunks), ECH_OK);
        ech_memory_usage(ctx, 1, NULL, NULL);
        CHECK_STATUS(sort_pairs(ctx, &d), ECH_OK);
        ech_memory_usage(ctx, 0, &now, &peak);
        CHECK_INT(now, 0);
        CHECK(limits[i] == 0 || peak <= limits[i]);
        CHECK(least_chunks[i] ? chunks >= least_chunks[i] : chunks == 0);
        check_sorted(&d);
        free(d.keys);
        if (k % 3 == 0) ech_trim(ctx); /* otherwise the next sort reuses this workspace */
    }
    CHECK_STATUS(ech_set_log(ctx, ECH_LOG_NONE, NULL, NULL), ECH_OK);
    CHECK_STATUS(ech_set_threads(ctx, 0), ECH_OK);
    if (make_data(&d)) {
        CHECK_STATUS(ech_set_memory_limit(ctx, least - 1), ECH_OK);
        CHECK_FAILS(ctx, sort_pairs(ctx, &d), ECH_ERR_MEMORY, "at least");
        check_untouched(&d);
        free(d.keys);
    }
    CHECK_STATUS(ech_set_memory_limit(ctx, 0), ECH_OK);
    test_end();
}

static void limited_memory(ech_ctx *ctx)
{
    if (!test_begin("memory limit on %s", ech_device_name(ctx))) return;
    void *pointer = NULL;
    CHECK_STATUS(ech_set_memory_limit(ctx, 1000), ECH_OK);
    CHECK_FAILS(ctx, ech_malloc(ctx, &pointer, 1001), ECH_ERR_MEMORY, "limit of 1000");
    CHECK_STATUS(ech_malloc(ctx, &pointer, 600), ECH_OK);
    void *more = NULL;
    CHECK_FAILS(ctx, ech_malloc(ctx, &more, 401), ECH_ERR_MEMORY, "600 are in use");
    ech_free(ctx, pointer, 600);
    CHECK_STATUS(ech_set_memory_limit(ctx, 0), ECH_OK);
    CHECK_FAILS(NULL, ech_set_memory_limit(NULL, 0), ECH_ERR_ARG, "ctx is NULL");
    test_end();
}

/* ---- The device auto ---- */

/* The device memory that a sort of host arrays uses shows on which device it ran. */
static void automatic(const char *device)
{
    const size_t sizes[] = { 1000, N };
    char name[80], text[1024];
    struct data d;
    ech_ctx *ctx;
    snprintf(name, sizeof name, "auto:%s", device);
    if (!test_begin("%s", name)) return;
    if (!CHECK_STATUS(ech_open(&ctx, name), ECH_OK)) goto done;
    CHECK(strncmp(ech_device_name(ctx), name, strlen(name)) == 0); /* "cuda" stands for "cuda:0" */
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && make_data(&d); i++) {
        uint64_t peak;
        CHECK_STATUS(
            ech_sort_explain(name, sizes[i], ECH_U32, 4, NULL, ECH_FORMAT_TEXT, text, sizeof text),
            ECH_OK);
        CHECK_TEXT(text, "\nreason       arrays in host memory");
        if (!i) CHECK_TEXT(text, "device       cpu\n");
        ech_memory_usage(ctx, 1, NULL, NULL);
        CHECK_STATUS(ech_sort_pairs(ctx, d.keys, d.values, d.keys_out, d.values_out, sizes[i],
                                    ECH_U32, 4, NULL),
                     ECH_OK);
        ech_memory_usage(ctx, 0, NULL, &peak);
        CHECK((peak == 0) == (strstr(text, "device       cpu") != NULL));
        if (i) check_sorted(&d);
        for (size_t j = 1; j < sizes[i]; j++)
            if (d.keys_out[j - 1] > d.keys_out[j]) CHECK(d.keys_out[j - 1] <= d.keys_out[j]);

        /* A named algorithm of the GPU, and arrays in GPU memory, run on the GPU. */
        const ech_sort_options named = { .size = sizeof named, .algorithm = "onesweep" };
        void *there = NULL;
        CHECK_STATUS(ech_sort(ctx, d.keys, d.keys_out, sizes[i], ECH_U32, &named), ECH_OK);
        ech_memory_usage(ctx, 1, NULL, &peak);
        CHECK(peak >= 4 * sizes[i]);
        CHECK_STATUS(ech_malloc(ctx, &there, 4 * sizes[i]), ECH_OK);
        CHECK_STATUS(ech_copy(ctx, there, d.keys, 4 * sizes[i]), ECH_OK);
        CHECK_STATUS(ech_sort(ctx, there, there, sizes[i], ECH_U32, NULL), ECH_OK);
        CHECK_STATUS(ech_copy(ctx, d.values_out, there, 4 * sizes[i]), ECH_OK);
        CHECK(memcmp(d.values_out, d.keys_out, 4 * sizes[i]) == 0);
        ech_free(ctx, there, 4 * sizes[i]);
        free(d.keys);
    }
    static _Alignas(256) char work[256];
    uint32_t keys[3] = { 3, 1, 2 };
    const ech_sort_options given = { .size = sizeof given,
                                     .work = work,
                                     .work_bytes = sizeof work };
    CHECK_FAILS(ctx, ech_sort(ctx, keys, keys, 3, ECH_U32, &given), ECH_ERR_ARG, "options->work");
    CHECK_FAILS(ctx, ech_sort(ctx, keys, NULL, 3, ECH_U32, NULL), ECH_ERR_ARG, "out is NULL");
    CHECK_STATUS(ech_sort(ctx, keys, keys, 3, ECH_U32, NULL), ECH_OK);
    CHECK(keys[0] == 1 && keys[1] == 2 && keys[2] == 3);
    CHECK_STATUS(ech_sort(ctx, NULL, NULL, 0, ECH_U32, NULL), ECH_OK);
    ech_trim(ctx);
    ech_close(ctx);
done:
    test_end();
}

/* ---- Arrays of one call in different memories ---- */

enum { KEYS_IN, KEYS_OUT, VALUES_IN, VALUES_OUT, ARRAYS };

/* A sort with array i in device memory if bit i of `there` is set; work: with a workspace. */
static void sort_mixed(ech_ctx *ctx, const struct data *d, unsigned there, bool work)
{
    const size_t bytes = N * sizeof *d->keys;
    uint32_t *host[ARRAYS] = { d->keys, d->keys_out, d->values, d->values_out };
    void *at[ARRAYS];
    ech_sort_options options = { .size = sizeof options };
    for (int i = 0; i < ARRAYS; i++) {
        at[i] = host[i];
        if (!(there >> i & 1)) continue;
        CHECK_STATUS(ech_malloc(ctx, &at[i], bytes), ECH_OK);
        CHECK_STATUS(ech_copy(ctx, at[i], host[i], bytes), ECH_OK);
    }
    if (work) {
        CHECK_STATUS(
            ech_sort_workspace(ech_device_name(ctx), N, ECH_U32, 4, NULL, &options.work_bytes),
            ECH_OK);
        CHECK_STATUS(ech_malloc(ctx, &options.work, options.work_bytes), ECH_OK);
    }
    CHECK_STATUS(ech_sort_pairs(ctx, at[KEYS_IN], at[VALUES_IN], at[KEYS_OUT], at[VALUES_OUT], N,
                                ECH_U32, 4, &options),
                 ECH_OK);
    for (int i = 0; i < ARRAYS; i++) {
        if (!(there >> i & 1)) continue;
        if (i == KEYS_OUT || i == VALUES_OUT)
            CHECK_STATUS(ech_copy(ctx, host[i], at[i], bytes), ECH_OK);
        ech_free(ctx, at[i], bytes);
    }
    ech_free(ctx, options.work, options.work_bytes);
    check_sorted(d);
}

static void mixed_memories(ech_ctx *ctx)
{
    if (!test_begin("arrays in different memories on %s", ech_device_name(ctx))) return;
    struct data d;
    if (test_options.quick) N = 10007;
    for (unsigned k = 0; k < 2u << ARRAYS && !test_failed() && make_data(&d); k++) {
        if (!test_options.quick || (k & 1) == (unsigned)__builtin_parity(k >> 1))
            sort_mixed(ctx, &d, k >> 1, k & 1);
        free(d.keys);
    }
    /* Indices in device memory with keys in host memory; an in-place sort with values in device
     * memory. */
    if (make_data(&d)) {
        void *index = NULL;
        CHECK_STATUS(ech_malloc(ctx, &index, N * 4), ECH_OK);
        CHECK_STATUS(ech_argsort(ctx, d.keys, index, N, ECH_U32, ECH_U32, NULL), ECH_OK);
        CHECK_STATUS(ech_copy(ctx, d.values_out, index, N * 4), ECH_OK);
        memcpy(d.keys_out, d.keys, N * 4);
        CHECK_STATUS(ech_copy(ctx, index, d.values, N * 4), ECH_OK);
        CHECK_STATUS(ech_sort_pairs(ctx, d.keys_out, index, d.keys_out, index, N, ECH_U32, 4, NULL),
                     ECH_OK);
        check_sorted(&d); /* the keys of the second call with the indices of the first */
        CHECK_STATUS(ech_copy(ctx, d.values_out, index, N * 4), ECH_OK);
        check_sorted(&d);
        ech_free(ctx, index, N * 4);
        free(d.keys);
    }
    static _Alignas(256) char work[256];
    uint32_t keys[3] = { 3, 1, 2 };
    const ech_sort_options given = { .size = sizeof given,
                                     .work = work,
                                     .work_bytes = sizeof work };
    CHECK_FAILS(ctx, ech_sort(ctx, keys, keys, 3, ECH_U32, &given), ECH_ERR_ARG,
                "options->work is in host memory");
    N = MOST;
    test_end();
}

/* ---- Allocations that fail ---- */

struct hook {
    ech_ctx *source;
    int calls, from, until; /* the calls from `from` to `until` - 1 fail */
};

static void *hook_allocate(void *user, size_t bytes, void *stream)
{
    struct hook *hook = user;
    void *pointer = NULL;
    int call = hook->calls++;
    (void)stream;
    if (call >= hook->from && call < hook->until) return NULL;
    return ech_malloc(hook->source, &pointer, bytes) == ECH_OK && ech_sync(hook->source) == ECH_OK
               ? pointer
               : NULL;
}

static void hook_release(void *user, void *pointer, size_t bytes, void *stream)
{
    struct hook *hook = user;
    (void)stream;
    ech_free(hook->source, pointer, bytes); /* sorts of host memory are complete when they return */
}

static void failing_allocations(ech_ctx *ctx)
{
    if (!test_begin("allocations that fail on %s", ech_device_name(ctx))) return;
    struct data d;
    struct hook hook = { .source = NULL };
    ech_allocator allocator = { sizeof(ech_allocator), hook_allocate, hook_release, &hook };
    CHECK_STATUS(ech_open(&hook.source, ech_device_name(ctx)), ECH_OK);
    CHECK_STATUS(ech_set_allocator(ctx, &allocator), ECH_OK);
    for (int until = 0; until <= 3 && make_data(&d); until++) { /* less after a failure */
        hook.calls = hook.from = 0;
        hook.until = until;
        CHECK_STATUS(sort_pairs(ctx, &d), ECH_OK);
        CHECK_INT(hook.calls, until + 1);
        check_sorted(&d);
        free(d.keys);
    }
    if (make_data(&d)) {
        hook.until = 1000;
        CHECK_FAILS(ctx, sort_pairs(ctx, &d), ECH_ERR_MEMORY, "out of memory");
        check_untouched(&d);
        free(d.keys);
    }
    CHECK_STATUS(ech_set_allocator(ctx, NULL), ECH_OK);
    ech_close(hook.source);
    test_end();
}

/* ---- Copies that fail ---- */

#ifdef FAILING_LIBSIMT_PATH
/* The output contains every key as often as the input, each with one of its values. */
static void check_permuted(const struct data *d)
{
    unsigned char *seen = calloc(N, 1);
    for (uint32_t i = 0; seen && i < N; i++) {
        uint32_t from = d->values_out[i];
        if (from < N && !seen[from]++ && d->keys[from] == d->keys_out[i]) continue;
        test_fail(__FILE__, __LINE__, "element %u is key %u from position %u", i, d->keys_out[i],
                  from);
        break;
    }
    free(seen);
}

/* An out-of-core sort in place: after a failed copy all elements are still there, in some order. */
static void failing_copies(void)
{
    if (!test_begin("copies that fail")) return;
    struct data d;
    ech_status status = ECH_ERR_DEVICE;
    int step = 1, failures = 0;
    for (int copies = 0; status != ECH_OK && !test_failed() && make_data(&d); copies += step) {
        ech_ctx *ctx;
        char text[16];
        snprintf(text, sizeof text, "%d", copies);
        unsetenv("FAILING_COPIES");
        if (!CHECK_STATUS(ech_open(&ctx, "simt"), ECH_OK)) break;
        CHECK_STATUS(ech_set_memory_limit(ctx, N * 5 / 3), ECH_OK);
        uint64_t word = 1;
        void *place = NULL;
        CHECK_STATUS(ech_malloc(ctx, &place, sizeof word), ECH_OK);
        CHECK_STATUS(ech_copy(ctx, place, &word, sizeof word), ECH_OK); /* the count starts here */
        ech_free(ctx, place, sizeof word);
        setenv("FAILING_COPIES", text, 1);
        memcpy(d.keys_out, d.keys, N * sizeof *d.keys);
        memcpy(d.values_out, d.values, N * sizeof *d.values);
        status = ech_sort_pairs(ctx, d.keys_out, d.values_out, d.keys_out, d.values_out, N, ECH_U32,
                                sizeof *d.values, NULL);
        if (status == ECH_OK) {
            check_sorted(&d);
        } else {
            CHECK_INT(status, ECH_ERR_DEVICE);
            CHECK_TEXT(ech_error(ctx), "failed");
            check_permuted(&d);
            failures++;
        }
        unsetenv("FAILING_COPIES");
        step = copies / 8 + 1;
        ech_close(ctx);
        free(d.keys);
    }
    CHECK_INT(status, ECH_OK);
    CHECK(failures > 20);
    test_end();
}
#else
static void failing_copies(void)
{
}
#endif

int main(int argc, char **argv)
{
    test_main(argc, argv);
    char name[64];
#ifdef FAILING_LIBSIMT_PATH
    if (test_options.device && strcmp(test_options.device, "simt") == 0)
        setenv("ECHELON_LIBSIMT", FAILING_LIBSIMT_PATH, 1);
#endif
    for (int i = 0; test_device(i, name, sizeof name); i++) {
        ech_ctx *ctx;
        if (ech_open(&ctx, name) != ECH_OK) {
            fprintf(stderr, "%s\n", ech_error(NULL));
            return 1;
        }
        limited_memory(ctx);
        if (!test_is_cpu(ctx)) {
            limits(ctx);
            failing_allocations(ctx);
            mixed_memories(ctx);
            automatic(name);
        }
        ech_close(ctx);
        if (strcmp(name, "simt") == 0) failing_copies();
    }
    return test_finish();
}
