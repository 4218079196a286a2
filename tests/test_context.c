/*
 * test_context.c - what all operations share: names, devices, errors, the log, and one context per
 * thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L /* setenv, strdup */
#include "test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Names ---- */

static void names(void)
{
    if (!test_begin("version, statuses and dtypes")) return;
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", ECH_VERSION_MAJOR, ECH_VERSION_MINOR,
             ECH_VERSION_PATCH);
    CHECK(strcmp(ech_version(), version) == 0);

    CHECK(strcmp(ech_status_name(ECH_OK), "ECH_OK") == 0);
    CHECK(strcmp(ech_status_name(ECH_ERR_ARG), "ECH_ERR_ARG") == 0);
    CHECK(strcmp(ech_status_name(ECH_ERR_DEVICE), "ECH_ERR_DEVICE") == 0);
    CHECK(strcmp(ech_status_name(ECH_ERR_CANCELED), "ECH_ERR_CANCELED") == 0);
    CHECK(strcmp(ech_status_name(ECH_ERR_COMM), "ECH_ERR_COMM") == 0);
    CHECK(strcmp(ech_status_name((ech_status)8), "ECH_ERR_?") == 0);
    CHECK(strcmp(ech_status_name((ech_status)-1), "ECH_ERR_?") == 0);

    static const char *const dtypes[] = { "i8",  "i16", "i32", "i64",  "u8",  "u16",
                                          "u32", "u64", "f16", "bf16", "f32", "f64" };
    static const size_t bytes[] = { 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8 };
    for (int t = 0; t < 12; t++) {
        CHECK(strcmp(ech_dtype_name((ech_dtype)t), dtypes[t]) == 0);
        CHECK_INT(ech_dtype_from_name(dtypes[t]), t);
        CHECK_INT(ech_dtype_bytes((ech_dtype)t), bytes[t]);
    }
    CHECK(strcmp(ech_dtype_name((ech_dtype)12), "?") == 0);
    CHECK(strcmp(ech_dtype_name((ech_dtype)-1), "?") == 0);
    CHECK_INT(ech_dtype_bytes((ech_dtype)12), 0);
    CHECK_INT(ech_dtype_from_name("f33"), -1);
    CHECK_INT(ech_dtype_from_name(""), -1);
    CHECK_INT(ech_dtype_from_name("?"), -1);
    CHECK_INT(ech_dtype_from_name(NULL), -1);
    test_end();
}

/* ---- Devices ---- */

static void expect_open(const char *name, ech_status status, const char *part)
{
    ech_ctx *ctx = (ech_ctx *)&ctx; /* must become NULL */
    if (!test_begin("open(\"%s\")", name)) return;
    CHECK_FAILS(NULL, ech_open(&ctx, name), status, part);
    CHECK(ctx == NULL);
    test_end();
}

static void device_names(void)
{
    static const char *const bad[] = {
        "",     "gpu",   "CPU",    "cpux",    "auto:",  "autox",   "auto:auto",    "auto:x",
        "cpu:", "cuda:", "cuda:x", "cuda:-1", "cuda 0", "cuda:0x", "cuda:99999999"
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) expect_open(bad[i], ECH_ERR_ARG, bad[i]);
    expect_open("cpu:1", ECH_ERR_NO_DEVICE, "cpu:1");
    expect_open("cuda:99", ECH_ERR_NO_DEVICE, "cuda");

    if (test_begin("ECHELON_DEVICE")) {
        const char *before = getenv("ECHELON_DEVICE");
        char *kept = before ? strdup(before) : NULL;
        ech_ctx *ctx = NULL;
        setenv("ECHELON_DEVICE", "cpu", 1);
        CHECK_STATUS(ech_open(&ctx, NULL), ECH_OK);
        CHECK_TEXT(ech_device_name(ctx), "cpu");
        ech_close(ctx);
        setenv("ECHELON_DEVICE", "tpu", 1);
        CHECK_FAILS(NULL, ech_open(&ctx, NULL), ECH_ERR_ARG, "ECHELON_DEVICE is \"tpu\"");
        CHECK_STATUS(ech_open(&ctx, "cpu"), ECH_OK); /* an explicit name has priority */
        ech_close(ctx);
        setenv("ECHELON_DEVICE", "", 1);
        CHECK_STATUS(ech_open(&ctx, NULL), ECH_OK);
        ech_close(ctx);
        unsetenv("ECHELON_DEVICE");
        CHECK_STATUS(ech_open(&ctx, NULL), ECH_OK);
        ech_close(ctx);
        if (kept) setenv("ECHELON_DEVICE", kept, 1);
        free(kept);
        test_end();
    }
}

static void instruction_set(void)
{
    const char *before = getenv("ECHELON_CPU");
    char *kept = before ? strdup(before) : NULL;
    ech_ctx *ctx = NULL;
    if (!test_begin("ECHELON_CPU")) return;
    setenv("ECHELON_CPU", "avx", 1);
    CHECK_FAILS(NULL, ech_open(&ctx, "cpu"), ECH_ERR_ARG, "ECHELON_CPU is \"avx\"");
    setenv("ECHELON_CPU", "avx512", 1); /* or the best one that the machine has */
    CHECK_STATUS(ech_open(&ctx, "cpu"), ECH_OK);
    ech_close(ctx);
    setenv("ECHELON_CPU", "", 1);
    CHECK_STATUS(ech_open(&ctx, "cpu"), ECH_OK);
    ech_close(ctx);
    unsetenv("ECHELON_CPU");
    if (kept) setenv("ECHELON_CPU", kept, 1);
    free(kept);
    test_end();
}

static void device_list(void)
{
    if (!test_begin("the list of devices")) return;
    int count = ech_device_count();
    CHECK(count >= 1);
    for (int i = 0; i < count; i++) {
        ech_device device = { .size = sizeof device };
        ech_ctx *ctx = NULL;
        if (!CHECK_STATUS(ech_device_get(i, &device), ECH_OK)) break;
        CHECK_INT(device.size, sizeof device);
        CHECK(device.description[0] && device.multiprocessors > 0 && device.memory_bytes > 0);
        CHECK(device.free_bytes <= device.memory_bytes);
        if (i == count - 1) CHECK(strcmp(device.name, "cpu") == 0 && device.driver == 0);
        CHECK_STATUS(ech_open(&ctx, device.name), ECH_OK);
        CHECK(strcmp(ech_device_name(ctx), device.name) == 0);
        ech_close(ctx);
    }
    ech_device device = { .size = sizeof device };
    CHECK_FAILS(NULL, ech_device_get(count, &device), ECH_ERR_ARG, "i is");
    CHECK_FAILS(NULL, ech_device_get(-1, &device), ECH_ERR_ARG, "i is -1");
    CHECK_FAILS(NULL, ech_device_get(0, NULL), ECH_ERR_ARG, "device is NULL");
    device.size = 7;
    CHECK_FAILS(NULL, ech_device_get(0, &device), ECH_ERR_ARG, "device->size is 7");
    test_end();
}

static void null_contexts(void)
{
    if (!test_begin("NULL contexts")) return;
    void *p;
    int done;
    uint64_t now_bytes = 1, peak_bytes = 1;
    CHECK_FAILS(NULL, ech_open(NULL, "cpu"), ECH_ERR_ARG, "ctx");
    CHECK_FAILS(NULL, ech_sync(NULL), ECH_ERR_ARG, "ctx");
    CHECK_FAILS(NULL, ech_malloc(NULL, &p, 1), ECH_ERR_ARG, "ctx");
    CHECK_FAILS(NULL, ech_copy(NULL, &p, &p, 1), ECH_ERR_ARG, "ctx");
    CHECK_FAILS(NULL, ech_set_allocator(NULL, NULL), ECH_ERR_ARG, "ctx");
    CHECK_FAILS(NULL, ech_set_stream(NULL, NULL), ECH_ERR_ARG, "ctx");
    CHECK_FAILS(NULL, ech_set_private_stream(NULL), ECH_ERR_ARG, "ctx");
    CHECK_FAILS(NULL, ech_get_stream(NULL, &p), ECH_ERR_ARG, "ctx");
    CHECK_FAILS(NULL, ech_record_event(NULL, &p), ECH_ERR_ARG, "ctx");
    CHECK_FAILS(NULL, ech_wait_event(NULL, &p), ECH_ERR_ARG, "ctx");
    CHECK_FAILS(NULL, ech_poll(NULL, &done), ECH_ERR_ARG, "ctx");
    CHECK_FAILS(NULL, ech_copy_async(NULL, &p, &p, 1), ECH_ERR_ARG, "ctx");
    CHECK_FAILS(NULL, ech_set_threads(NULL, 1), ECH_ERR_ARG, "ctx");
    CHECK_FAILS(NULL, ech_set_log(NULL, ECH_LOG_INFO, NULL, NULL), ECH_ERR_ARG, "ctx");
    ech_close(NULL);
    ech_free(NULL, NULL, 0);
    ech_trim(NULL);
    ech_memory_usage(NULL, 1, &now_bytes, &peak_bytes);
    CHECK_INT(now_bytes, 0);
    CHECK_INT(peak_bytes, 0);
    CHECK(strcmp(ech_device_name(NULL), "") == 0);
    test_end();
}

/* ---- Streams, events, polling ---- */

/* A device without streams reports that. A device with streams changes them, and rejects NULL
 * events. */
static void streams(ech_ctx *ctx)
{
    if (!test_begin("streams on %s", ech_device_name(ctx))) return;
    void *stream = ctx;
    CHECK_STATUS(ech_get_stream(ctx, &stream), ECH_OK);
    CHECK(stream == NULL); /* the default of a context: the legacy default stream */
    CHECK_FAILS(ctx, ech_get_stream(ctx, NULL), ECH_ERR_ARG, "stream is NULL");
    if (test_is_cpu(ctx)) {
        CHECK_FAILS(ctx, ech_set_private_stream(ctx), ECH_ERR_UNSUPPORTED, "no streams");
        CHECK_FAILS(ctx, ech_record_event(ctx, ctx), ECH_ERR_UNSUPPORTED, "no streams");
        CHECK_FAILS(ctx, ech_wait_event(ctx, ctx), ECH_ERR_UNSUPPORTED, "no streams");
    } else {
        CHECK_STATUS(ech_set_private_stream(ctx), ECH_OK);
        CHECK_STATUS(ech_get_stream(ctx, &stream), ECH_OK);
        CHECK(stream != NULL);
        CHECK_FAILS(ctx, ech_record_event(ctx, NULL), ECH_ERR_ARG, "event is NULL");
        CHECK_FAILS(ctx, ech_wait_event(ctx, NULL), ECH_ERR_ARG, "event is NULL");
        float keys[3] = { 2, 3, 1 }; /* a call with host arrays does not change the setting */
        void *before = stream;
        CHECK_STATUS(ech_set_stream(ctx, NULL), ECH_OK);
        CHECK_STATUS(ech_sort(ctx, keys, keys, 3, ECH_F32, NULL), ECH_OK);
        CHECK_STATUS(ech_get_stream(ctx, &stream), ECH_OK);
        CHECK(stream == NULL && before != NULL && keys[0] == 1 && keys[2] == 3);
    }
    test_end();
}

static void polling(ech_ctx *ctx)
{
    if (!test_begin("polling on %s", ech_device_name(ctx))) return;
    int done = -1;
    const uint32_t from[4] = { 1, 2, 3, 4 };
    uint32_t to[4] = { 0 };
    void *device = NULL;
    CHECK_FAILS(ctx, ech_poll(ctx, NULL), ECH_ERR_ARG, "done is NULL");
    CHECK_STATUS(ech_malloc(ctx, &device, sizeof from), ECH_OK);
    CHECK_STATUS(ech_copy_async(ctx, device, from, sizeof from), ECH_OK);
    CHECK_STATUS(ech_copy_async(ctx, to, device, sizeof to), ECH_OK);
    CHECK_STATUS(ech_sync(ctx), ECH_OK);
    CHECK(memcmp(from, to, sizeof to) == 0);
    CHECK_STATUS(ech_poll(ctx, &done), ECH_OK);
    CHECK_INT(done, 1);
    CHECK_FAILS(ctx, ech_copy_async(ctx, NULL, from, 4), ECH_ERR_ARG, "to is NULL");
    CHECK_FAILS(ctx, ech_copy_async(ctx, to, NULL, 4), ECH_ERR_ARG, "from is NULL");
    CHECK_STATUS(ech_copy_async(ctx, NULL, NULL, 0), ECH_OK);
    ech_free(ctx, device, sizeof from);
    CHECK_INT(ech_version_number(), ECH_VERSION_NUMBER);
    test_end();
}

/* ---- Errors and the log ---- */

static void errors(ech_ctx *ctx)
{
    if (!test_begin("errors on %s", ech_device_name(ctx))) return;
    CHECK(strcmp(ech_error(ctx), "") == 0);
    CHECK_FAILS(ctx, ech_set_threads(ctx, -3), ECH_ERR_ARG, "threads is -3");
    CHECK_STATUS(ech_set_threads(ctx, 0), ECH_OK);
    CHECK_TEXT(ech_error(ctx), "threads is -3"); /* the last failure, also after a success */
    CHECK_FAILS(NULL, ech_open(NULL, "cpu"), ECH_ERR_ARG, "ctx");
    CHECK_TEXT(ech_error(ctx), "threads is -3");
    if (test_is_cpu(ctx)) CHECK_FAILS(ctx, ech_set_stream(ctx, ctx), ECH_ERR_UNSUPPORTED, "stream");
    CHECK_STATUS(ech_set_stream(ctx, NULL), ECH_OK);
    test_end();
}

struct log {
    int messages[4];
    char last_error[256];
    bool broken;
};

static void on_log(void *user, ech_log_level level, const char *message)
{
    struct log *log = user;
    if (level < ECH_LOG_ERROR || level > ECH_LOG_TRACE || strchr(message, '\n') || !*message)
        log->broken = true;
    else
        log->messages[level]++;
    if (level == ECH_LOG_ERROR) snprintf(log->last_error, sizeof log->last_error, "%s", message);
}

static void logs(ech_ctx *ctx)
{
    if (!test_begin("log on %s", ech_device_name(ctx))) return;
    struct log log = { .broken = false };
    float keys[100] = { 0 };
    CHECK_STATUS(ech_set_log(ctx, ECH_LOG_ERROR, on_log, &log), ECH_OK);
    CHECK_STATUS(ech_sort(ctx, keys, keys, 100, ECH_F32, NULL), ECH_OK);
    CHECK_INT(log.messages[1] + log.messages[2] + log.messages[3], 0);
    CHECK_STATUS(ech_sort(ctx, NULL, keys, 100, ECH_F32, NULL), ECH_ERR_ARG);
    CHECK_INT(log.messages[ECH_LOG_ERROR], 1);
    CHECK_TEXT(log.last_error, "in is NULL");
    CHECK_STATUS(ech_set_log(ctx, ECH_LOG_TRACE, on_log, &log), ECH_OK);
    CHECK_STATUS(ech_sort(ctx, keys, keys, 100, ECH_F32, NULL), ECH_OK);
    CHECK(log.messages[ECH_LOG_INFO] > 0);
    CHECK_STATUS(ech_set_log(ctx, ECH_LOG_NONE, NULL, NULL), ECH_OK);
    int before = log.messages[ECH_LOG_ERROR];
    CHECK_STATUS(ech_sort(ctx, NULL, keys, 100, ECH_F32, NULL), ECH_ERR_ARG);
    CHECK_INT(log.messages[ECH_LOG_ERROR], before);
    CHECK(!log.broken);
    test_end();
}

/* ---- Threads ---- */

struct worker {
    const char *device;
    int number;
    bool done;
};

/* Alternates between sorts and failures. Each thread must see its own messages. */
static void *work(void *argument)
{
    struct worker *w = argument;
    uint32_t keys[3000];
    char wanted[64];
    ech_ctx *ctx;
    if (ech_open(&ctx, w->device) != ECH_OK) return NULL;
    struct rng rng = { (uint64_t)w->number };
    w->done = true;
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 3000; i++) keys[i] = (uint32_t)rng_next(&rng);
        w->done &= ech_sort(ctx, keys, keys, 3000, ECH_U32, NULL) == ECH_OK;
        for (int i = 1; i < 3000; i++) w->done &= keys[i - 1] <= keys[i];
        ech_set_threads(ctx, -1000 - w->number);
        snprintf(wanted, sizeof wanted, "%d", -1000 - w->number);
        w->done &= strstr(ech_error(ctx), wanted) != NULL;
        ech_ctx *none;
        snprintf(wanted, sizeof wanted, "device%d", w->number);
        ech_open(&none, wanted);
        w->done &= strstr(ech_error(NULL), wanted) != NULL;
    }
    ech_close(ctx);
    return NULL;
}

static void threads(const char *device)
{
    if (!test_begin("contexts in four threads on %s", device)) return;
    pthread_t thread[4];
    struct worker workers[4];
    for (int i = 0; i < 4; i++) {
        workers[i] = (struct worker){ device, i, false };
        CHECK_INT(pthread_create(&thread[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(thread[i], NULL);
        CHECK(workers[i].done);
    }
    test_end();
}

static void on_device(const char *name)
{
    ech_ctx *ctx = NULL;
    if (test_begin("open and close \"%s\"", name)) {
        CHECK_STATUS(ech_open(&ctx, name), ECH_OK);
        test_end();
    } else {
        ech_open(&ctx, name);
    }
    if (!ctx) return;
    errors(ctx);
    logs(ctx);
    streams(ctx);
    polling(ctx);
    ech_close(ctx);
    threads(name);
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    names();
    device_names();
    instruction_set();
    device_list();
    null_contexts();
    char name[64];
    for (int i = 0; test_device(i, name, sizeof name); i++) on_device(name);
    return test_finish();
}
