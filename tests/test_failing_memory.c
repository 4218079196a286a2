/*
 * test_failing_memory.c - allocations on the host that fail while a device opens, or while its
 * first calls load and run kernels: each failure is a status, and the next attempt succeeds.
 *
 * Every allocation fails once, in a process of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "test.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__GLIBC__) && !defined(TEST_SANITIZED)

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *pointer, size_t bytes);

static atomic_int left = -1; /* allocations that succeed before one fails; -1: none fails */

/* glibc ends the process if there is no memory for thread-local data, which the shared memory of
 * the emulator is. */
enum { THREAD_LOCAL_BYTES = 200 << 10 };

static bool fails(size_t bytes)
{
    int now = atomic_load(&left);
    if (now < 0 || bytes >= THREAD_LOCAL_BYTES) return false;
    while (!atomic_compare_exchange_weak(&left, &now, now - 1))
        if (now < 0) return false;
    return now == 0;
}

__attribute__((visibility("default"))) void *malloc(size_t bytes)
{
    return fails(bytes) ? NULL : __libc_malloc(bytes);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t bytes)
{
    return fails(count * bytes) ? NULL : __libc_calloc(count, bytes);
}

__attribute__((visibility("default"))) void *realloc(void *pointer, size_t bytes)
{
    return fails(bytes) ? NULL : __libc_realloc(pointer, bytes);
}

/* LOADER: glibc can leave a library half loaded if it had no memory for the list of its
 * dependencies; such a library cannot be loaded later in this process. */
enum { N = 40, MOST = 400, DONE = 0, BAD = 1, NO_FAILURE = 2, LOADER = 3, MOST_LOADER = 2 };

static ech_status sort(ech_ctx *ctx)
{
    uint32_t keys[N];
    for (uint32_t i = 0; i < N; i++) keys[i] = (i * 7919) % N;
    const ech_status status = ech_sort(ctx, keys, keys, N, ECH_U32, NULL);
    for (uint32_t i = 1; i < N && status == ECH_OK; i++)
        if (keys[i] < keys[i - 1]) return ECH_ERR_DEVICE;
    return status;
}

static bool is_good(ech_status status)
{
    return status == ECH_OK || status == ECH_ERR_MEMORY || status == ECH_ERR_NO_DEVICE;
}

/* Opens the device with the nth allocation failing, and again. */
static int open_twice(const char *device, int nth)
{
    ech_ctx *ctx = NULL;
    atomic_store(&left, nth);
    const ech_status status = ech_open(&ctx, device);
    const bool failed = atomic_exchange(&left, -1) < 0;
    if (!is_good(status) || (status != ECH_OK && (ctx || !*ech_error(NULL)))) return BAD;
    ech_close(ctx);
    if (ech_open(&ctx, device) != ECH_OK || sort(ctx) != ECH_OK) return BAD;
    ech_close(ctx);
    return failed ? DONE : NO_FAILURE;
}

/* The same with the first sort, on one context. */
static int sort_twice(const char *device, int nth)
{
    ech_ctx *ctx = NULL;
    if (ech_open(&ctx, device) != ECH_OK) return BAD;
    atomic_store(&left, nth);
    const ech_status status = sort(ctx);
    const bool failed = atomic_exchange(&left, -1) < 0;
    if (!is_good(status)) return BAD;
    if (sort(ctx) != ECH_OK)
        return status == ECH_ERR_MEMORY && strstr(ech_error(ctx), "_INVALID_IMAGE") ? LOADER : BAD;
    ech_close(ctx);
    return failed ? DONE : NO_FAILURE;
}

/* A scan whose blocks wait for each other. On the emulator they need memory for blocks, and for
 * records of the detection of races. */
enum { SCANNED = 3000, SEGMENTS = 8 };

static ech_status scan(ech_ctx *ctx)
{
    static uint32_t in[SCANNED], out[SCANNED];
    uint64_t offsets[SEGMENTS + 1];
    for (uint32_t i = 0; i < SCANNED; i++) in[i] = i, out[i] = 0;
    for (uint32_t i = 0; i <= SEGMENTS; i++) offsets[i] = (uint64_t)i * SCANNED / SEGMENTS;
    const ech_status status = ech_scan_segments(ctx, ECH_OP_SUM, in, offsets, out, SCANNED,
                                                SEGMENTS, ECH_U32, ECH_U64, NULL);
    uint32_t sum = 0, segment = 0;
    for (uint32_t i = 0; i < SCANNED && status == ECH_OK; i++) {
        if (i == offsets[segment + 1]) segment++, sum = 0;
        if (out[i] != (sum += in[i])) return ECH_ERR_DEVICE;
    }
    return status;
}

static int scan_again(const char *device, int nth)
{
    ech_ctx *ctx = NULL;
    if (ech_open(&ctx, device) != ECH_OK || scan(ctx) != ECH_OK) return BAD;
    atomic_store(&left, nth);
    const ech_status status = scan(ctx);
    const bool failed = atomic_exchange(&left, -1) < 0;
    if (!is_good(status) || scan(ctx) != ECH_OK) return BAD;
    ech_close(ctx);
    return failed ? DONE : NO_FAILURE;
}

static void run(const char *name, int (*twice)(const char *device, int nth), const char *device,
                int least)
{
    int loaders = 0;
    if (!test_begin("%s on %s", name, device)) return;
    for (int nth = 0; nth < MOST; nth++) {
        int status = 0;
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0) _exit(twice(device, nth));
        if (!CHECK(child > 0 && waitpid(child, &status, 0) == child)) break;
        if (WIFEXITED(status) && WEXITSTATUS(status) == NO_FAILURE) {
            CHECK(nth >= least); /* that many allocations have failed */
            break;
        }
        const bool loader = WIFEXITED(status) && WEXITSTATUS(status) == LOADER;
        if (loader && ++loaders <= MOST_LOADER) continue;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != DONE)
            test_fail(__FILE__, __LINE__, "allocation %d: %s %d", nth,
                      WIFEXITED(status) ? "status" : "signal",
                      WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    }
    test_end();
}

/* Whether the device opens; asked in a process of its own, as the first opening is a case. */
static bool is_here(const char *device)
{
    int status = 1;
    const pid_t child = fork();
    if (child == 0) {
        ech_ctx *ctx = NULL;
        _exit(ech_open(&ctx, device) != ECH_OK);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    run("open", open_twice, "cpu", 1);
    run("first sort", sort_twice, "cpu", 0);
    if (is_here("simt")) {
        run("open", open_twice, "simt", 10);
        run("first sort", sort_twice, "simt", 10);
        run("second scan", scan_again, "simt", 10);
    }
    return test_finish();
}

#else

int main(void)
{
    puts("this C library or a sanitizer does not let a program replace malloc()");
    return 77;
}

#endif
