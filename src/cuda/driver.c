/*
 * cuda/driver.c - opens the CUDA driver, or the SIMT emulator, at run time; the library is not
 * linked against either.
 *
 * The environment variables ECHELON_LIBCUDA and ECHELON_LIBSIMT name libraries to open instead of
 * libcuda.so.1 and libechelon_simt.so.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* pthread_mutex_t with -std=c11 */
#include "cuda/driver.h"
#include "core/environment.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef CUresult (*get_proc_function)(const char *name, void **function, int version,
                                      uint64_t flags, int *symbol_status);

struct echi_driver_file echi_libcuda = { .called = "the CUDA driver",
                                         .library = "libcuda.so.1",
                                         .variable = "ECHELON_LIBCUDA" };
struct echi_driver_file echi_libsimt = { .called = "the SIMT emulator",
                                         .library = "libechelon_simt.so",
                                         .variable = "ECHELON_LIBSIMT" };

/* dlsym() returns an object pointer; POSIX guarantees that it can hold a function pointer, although
 * C has no conversion. */
static get_proc_function get_proc_of(void *library)
{
    union {
        void *object;
        get_proc_function function;
    } symbol = { dlsym(library, "cuGetProcAddress_v2") };
    return symbol.function;
}

static void __attribute__((format(printf, 2, 3)))
fail(struct echi_driver_file *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(p->failure.reason, sizeof p->failure.reason, format, args);
    va_end(args);
    p->failure.status = ECH_ERR_NO_DEVICE;
}

static bool fill_table(struct echi_driver_file *p, get_proc_function get_proc)
{
    union {
        void **object;
        void *field;
    } slot;
#define DRIVER(name, parameters)                                                                   \
    slot.field = &p->driver.name;                                                                  \
    if (get_proc(#name, slot.object, ECHI_DRIVER_VERSION, 0, NULL) != CUDA_SUCCESS ||              \
        !p->driver.name) {                                                                         \
        fail(p, "%s has no %s: it may be too old, version %d.%d is needed", p->called, #name,      \
             ECHI_DRIVER_VERSION / 1000, ECHI_DRIVER_VERSION % 1000 / 10);                         \
        return false;                                                                              \
    }
#include "cuda/driver.def"
#undef DRIVER
    slot.field = &p->driver.cuMemcpyBatchAsync;
    if (get_proc("cuMemcpyBatchAsync", slot.object, ECHI_BATCH_VERSION, 0, NULL) != CUDA_SUCCESS)
        p->driver.cuMemcpyBatchAsync = NULL;
    return true;
}

static void explain(struct echi_driver_file *p, const char *call, CUresult error)
{
    const char *text = NULL;
    p->driver.cuGetErrorString(error, &text);
    fail(p, "%s of %s failed with error %d: %s", call, p->called, error,
         text ? text : "unknown error");
    if (error == CUDA_ERROR_OUT_OF_MEMORY) p->failure.status = ECH_ERR_MEMORY;
}

/* Whether the result is final: memory that was missing, also for the loader of shared libraries,
 * may be there next time. */
static bool open_driver(struct echi_driver_file *p)
{
    const char *name = echi_secure_getenv(p->variable);
    if (!name || !*name) name = p->library;
    void *library =
        dlopen(name, RTLD_NOW | RTLD_LOCAL); /* never closed: the driver cannot restart */
    if (!library) {
        fail(p, "there is no %s: cannot open %s", p->called + strlen("the "), name);
        return false;
    }
    get_proc_function get_proc = get_proc_of(library);
    if (!get_proc) {
        fail(p, "%s in %s is too old: version %d.%d is needed", p->called, name,
             ECHI_DRIVER_VERSION / 1000, ECHI_DRIVER_VERSION % 1000 / 10);
        return true;
    }
    if (!fill_table(p, get_proc)) return true;
    struct echi_driver *driver = &p->driver;
    CUresult error = driver->cuDriverGetVersion(&driver->version);
    if (error == CUDA_SUCCESS && driver->version < ECHI_DRIVER_VERSION) {
        fail(p, "%s has version %d.%d, which is too old: version %d.%d is needed", p->called,
             driver->version / 1000, driver->version % 1000 / 10, ECHI_DRIVER_VERSION / 1000,
             ECHI_DRIVER_VERSION % 1000 / 10);
        return true;
    }
    error = driver->cuInit(0);
    if (error != CUDA_SUCCESS) {
        if (error == CUDA_ERROR_NO_DEVICE)
            fail(p, "%s finds no GPU", p->called);
        else
            explain(p, "cuInit", error);
        return error != CUDA_ERROR_OUT_OF_MEMORY;
    }
    error = driver->cuDeviceGetCount(&driver->devices);
    if (error != CUDA_SUCCESS)
        explain(p, "cuDeviceGetCount", error);
    else if (driver->devices < 1)
        fail(p, "%s finds no GPU", p->called);
    return error != CUDA_ERROR_OUT_OF_MEMORY;
}

const struct echi_driver *echi_driver(struct echi_driver_file *p,
                                      struct echi_driver_failure *failure)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (!p->opened) {
        memset(&p->failure, 0, sizeof p->failure);
        p->opened = open_driver(p);
    }
    const bool usable = !*p->failure.reason;
    if (failure) *failure = p->failure;
    pthread_mutex_unlock(&lock);
    return usable ? &p->driver : NULL;
}
