/*
 * failing_libsimt.c - the SIMT emulator with copies that fail, for test_sort_host.
 *
 * The library links with libechelon_simt.so for all other functions. The environment variable
 * FAILING_COPIES is the number of copies that succeed before all others fail. If it is not set,
 * all copies succeed and the count is reset.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { ILLEGAL_ADDRESS = 700 };

typedef int (*get_proc)(const char *name, void **function, int version, uint64_t flags,
                        int *symbol_status);
typedef int (*copy)(unsigned long long to, unsigned long long from, size_t bytes, void *stream);

static copy real_copy;
static atomic_int copies;

static int failing_copy(unsigned long long to, unsigned long long from, size_t bytes, void *stream)
{
    const char *most = getenv("FAILING_COPIES");
    if (!most)
        atomic_store(&copies, 0);
    else if (atomic_fetch_add(&copies, 1) >= atoi(most))
        return ILLEGAL_ADDRESS;
    return real_copy(to, from, bytes, stream);
}

EXPORT int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                               int *symbol_status);

EXPORT int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                               int *symbol_status)
{
    union {
        void *object;
        get_proc function;
    } real = { dlsym(RTLD_NEXT, "cuGetProcAddress_v2") };
    int result = real.function ? real.function(name, function, version, flags, symbol_status) : 999;
    if (result == 0 && strcmp(name, "cuMemcpyAsync") == 0) {
        copy mine = failing_copy;
        memcpy(&real_copy, function, sizeof real_copy);
        memcpy(function, &mine, sizeof mine);
    }
    return result;
}
