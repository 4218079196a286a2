/*
 * test_threads.c - the library's threads as a program sees them: in a child process, in a process
 * that may have no further thread, after the last context is closed, and after dlclose().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include "test.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1 << 20, NOBODY = 65534 };

/* Sorts N keys on 8 threads. */
static bool sort(ech_ctx *ctx)
{
    uint32_t *keys = malloc(N * sizeof *keys), state = 1;
    if (!keys) return false;
    for (size_t i = 0; i < N; i++) keys[i] = state = state * 1664525 + 1013904223;
    bool sorted =
        ech_set_threads(ctx, 8) == ECH_OK && ech_sort(ctx, keys, keys, N, ECH_U32, NULL) == ECH_OK;
    for (size_t i = 1; sorted && i < N; i++) sorted = keys[i - 1] <= keys[i];
    free(keys);
    return sorted;
}

static bool open_and_sort(void)
{
    ech_ctx *ctx;
    if (ech_open(&ctx, "cpu") != ECH_OK) return false;
    const bool sorted = sort(ctx);
    ech_close(ctx);
    return sorted;
}

/* Runs a function in a child process; false: it returned false, or a signal or exit() ended it. */
static bool in_child(bool (*run)(void))
{
    int status = -1;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(run() ? 42 : 1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 42;
}

static void children(void)
{
    ech_ctx *ctx;
    if (!test_begin("a child process of a parent that has threads")) return;
    if (CHECK_STATUS(ech_open(&ctx, "cpu"), ECH_OK)) {
        CHECK(sort(ctx));
        CHECK(test_count_threads(0) > 1);
        CHECK(in_child(open_and_sort));
        CHECK(sort(ctx));
        ech_close(ctx);
    }
    CHECK_INT(test_count_threads(1), 1);
    test_end();
}

/* As a user who may have one process: no thread can be created. */
static bool sort_alone(void)
{
    const struct rlimit one = { 1, 1 };
    if (setrlimit(RLIMIT_NPROC, &one) != 0) return false;
    if (geteuid() == 0 && setuid(NOBODY) != 0) return false;
    ech_ctx *ctx;
    if (ech_open(&ctx, "cpu") != ECH_OK) return false;
    const bool sorted = sort(ctx) && test_count_threads(0) == 1;
    ech_close(ctx);
    return sorted;
}

#ifndef TEST_SANITIZED
/* The same for memory: a thread needs some for its stack. */
static bool sort_in_little_memory(void)
{
    const struct rlimit few = { 64u << 20, 64u << 20 };
    ech_ctx *ctx;
    return setrlimit(RLIMIT_AS, &few) == 0 && ech_open(&ctx, "cpu") == ECH_OK && sort(ctx);
}
#endif

static void limits(void)
{
    if (!test_begin("limits of processes and of memory")) return;
    CHECK(in_child(sort_alone));
#ifndef TEST_SANITIZED
    CHECK(in_child(sort_in_little_memory));
#endif
    test_end();
}

static void last_close(void)
{
    ech_ctx *a, *b;
    if (!test_begin("the last context that closes ends the threads")) return;
    if (CHECK_STATUS(ech_open(&a, "cpu"), ECH_OK) && CHECK_STATUS(ech_open(&b, "cpu"), ECH_OK)) {
        CHECK(sort(a));
        ech_close(a);
        CHECK(test_count_threads(0) > 1);
        CHECK(sort(b));
        ech_close(b);
        CHECK_INT(test_count_threads(1), 1);
    }
    test_end();
}

int main(int argc, char **argv)
{
    test_main(argc, argv);
    children();
    limits();
    last_close();
    return test_finish();
}
