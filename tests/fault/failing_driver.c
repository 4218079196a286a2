/*
 * failing_driver.c - the SIMT emulator with a call of the CUDA driver that fails, or with failures
 * from one call on; counts what is allocated.
 *
 * The library links with libechelon_simt.so for all functions except cuGetProcAddress_v2(), which
 * returns the wrappers below. A wrapper that releases something does so, and then returns the
 * error: the CUDA driver also returns errors of earlier work from such functions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "cuda/driver.h"
#include "fault/failing_driver.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { ILLEGAL_ADDRESS = 700 };

static struct echi_driver real;
static struct failing_driver settings = { .position = -1 };
static atomic_long calls, live, depth;
static const char *_Atomic failed, *_Atomic misused;
static _Thread_local long own_depth;

EXPORT void failing_driver_begin(struct failing_driver *state);
EXPORT void failing_driver_end(struct failing_driver *state);

EXPORT void failing_driver_begin(struct failing_driver *state)
{
    settings = *state;
    atomic_store(&calls, 0);
    atomic_store(&live, 0);
    atomic_store(&depth, 0);
    own_depth = 0;
    atomic_store(&failed, NULL);
    atomic_store(&misused, NULL);
}

EXPORT void failing_driver_end(struct failing_driver *state)
{
    settings.position = -1;
    state->calls = atomic_load(&calls);
    state->failed = atomic_load(&failed);
    state->live = atomic_load(&live);
    state->depth = atomic_load(&depth);
    state->misused = atomic_load(&misused);
}

/* The error that this call must return, or CUDA_SUCCESS. */
static CUresult failure(const char *name)
{
    const char *none = NULL;
    const long call = atomic_fetch_add(&calls, 1);
    if (settings.position < 0 || call < settings.position) return CUDA_SUCCESS;
    if (call > settings.position && !settings.sticky) return CUDA_SUCCESS;
    atomic_compare_exchange_strong(&failed, &none, name);
    return settings.error;
}

static CUresult counted(CUresult result, long change)
{
    if (result == CUDA_SUCCESS) atomic_fetch_add(&live, change);
    return result;
}

static CUresult released(CUresult result, CUresult error, const char *name)
{
    if (result != CUDA_SUCCESS) atomic_store(&misused, name);
    counted(result, -1);
    return error != CUDA_SUCCESS ? error : result;
}

/* PLAIN only fails; MAKE creates something; FREE releases it. */
#define PLAIN(name, parameters, arguments)                                                         \
    static CUresult failing_##name parameters                                                      \
    {                                                                                              \
        const CUresult error = failure(#name);                                                     \
        return error != CUDA_SUCCESS ? error : real.name arguments;                                \
    }
#define MAKE(name, parameters, arguments)                                                          \
    static CUresult failing_##name parameters                                                      \
    {                                                                                              \
        const CUresult error = failure(#name);                                                     \
        return error != CUDA_SUCCESS ? error : counted(real.name arguments, 1);                    \
    }
#define FREE(name, parameters, arguments)                                                          \
    static CUresult failing_##name parameters                                                      \
    {                                                                                              \
        const CUresult error = failure(#name);                                                     \
        return released(real.name arguments, error, #name);                                        \
    }
#include "fault/failing_driver.def"

static CUresult failing_cuCtxPushCurrent(CUcontext context)
{
    CUresult result = failure("cuCtxPushCurrent");
    if (result == CUDA_SUCCESS) result = real.cuCtxPushCurrent(context);
    if (result != CUDA_SUCCESS) return result;
    own_depth++;
    atomic_fetch_add(&depth, 1);
    return CUDA_SUCCESS;
}

static CUresult failing_cuCtxPopCurrent(CUcontext *context)
{
    const CUresult error = failure("cuCtxPopCurrent");
    if (own_depth-- <= 0) atomic_store(&misused, "cuCtxPopCurrent");
    atomic_fetch_sub(&depth, 1);
    const CUresult result = real.cuCtxPopCurrent(context);
    return error != CUDA_SUCCESS ? error : result;
}

static CUresult failing_cuGetErrorName(CUresult error, const char **text)
{
    if (error != ILLEGAL_ADDRESS) return real.cuGetErrorName(error, text);
    *text = "CUDA_ERROR_ILLEGAL_ADDRESS";
    return CUDA_SUCCESS;
}

static CUresult failing_cuGetErrorString(CUresult error, const char **text)
{
    if (error != ILLEGAL_ADDRESS) return real.cuGetErrorString(error, text);
    *text = "an illegal memory access was encountered";
    return CUDA_SUCCESS;
}

/* ---- The table ---- */

typedef CUresult (*get_proc)(const char *name, void **function, int version, uint64_t flags,
                             int *symbol_status);

EXPORT CUresult cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                                    int *symbol_status);

EXPORT CUresult cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                                    int *symbol_status)
{
    union {
        void *object;
        get_proc function;
    } next = { dlsym(RTLD_NEXT, "cuGetProcAddress_v2") };
    CUresult result =
        next.function ? next.function(name, function, version, flags, symbol_status) : 999;
    if (result != CUDA_SUCCESS) return result;
#define DRIVER(member, parameters)                                                                 \
    if (strcmp(name, #member) == 0) {                                                              \
        CUresult(*mine) parameters = failing_##member;                                             \
        memcpy(&real.member, function, sizeof real.member);                                        \
        memcpy(function, &mine, sizeof mine);                                                      \
    }
#include "cuda/driver.def"
#undef DRIVER
    return CUDA_SUCCESS;
}
