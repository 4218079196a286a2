/*
 * cuda/driver.c - opens the CUDA driver at run time; nothing here is linked against it.
 *
 * The environment variable ECHELON_LIBCUDA names another library than libcuda.so.1 to open.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* pthread_once with -std=c11 */
#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef CUresult (*get_proc_function)(const char *name, void **function, int version,
                                      uint64_t flags, int *symbol_status);

static struct echi_driver driver;
static struct echi_driver_failure failure; /* its reason is "" when the table is usable */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* dlsym() gives an object pointer; C has no conversion to a function pointer, POSIX promises the
 * bits fit. */
static get_proc_function get_proc_of(void *library)
{
    union {
        void *object;
        get_proc_function function;
    } symbol = { dlsym(library, "cuGetProcAddress_v2") };
    return symbol.function;
}

static void __attribute__((format(printf, 1, 2))) fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(failure.reason, sizeof failure.reason, format, args);
    va_end(args);
    failure.status = ECH_ERR_NO_DEVICE;
}

static bool fill_table(get_proc_function get_proc)
{
    union {
        void **object;
        void *field;
    } slot;
#define DRIVER(name, parameters)                                                                   \
    slot.field = &driver.name;                                                                     \
    if (get_proc(#name, slot.object, ECHI_DRIVER_VERSION, 0, NULL) != CUDA_SUCCESS ||              \
        !driver.name) {                                                                            \
        fail("the CUDA driver has no %s; it may be too old: "                                      \
             "this library needs version %d.%d",                                                   \
             #name, ECHI_DRIVER_VERSION / 1000, ECHI_DRIVER_VERSION % 1000 / 10);                  \
        return false;                                                                              \
    }
#include "driver.def"
#undef DRIVER
    return true;
}

static void explain(const char *call, CUresult error)
{
    const char *text = NULL;
    driver.cuGetErrorString(error, &text);
    fail("%s of the CUDA driver failed with error %d: %s", call, error,
         text ? text : "unknown error");
    if (error == CUDA_ERROR_OUT_OF_MEMORY) failure.status = ECH_ERR_MEMORY;
}

static void open_driver(void)
{
    const char *name = getenv("ECHELON_LIBCUDA");
    if (!name || !*name) name = "libcuda.so.1";
    void *library =
        dlopen(name, RTLD_NOW | RTLD_LOCAL); /* never closed: the driver cannot restart */
    if (!library) {
        fail("there is no CUDA driver: cannot open %s", name);
        return;
    }
    get_proc_function get_proc = get_proc_of(library);
    if (!get_proc) {
        fail("the CUDA driver in %s is too old: this library needs version %d.%d", name,
             ECHI_DRIVER_VERSION / 1000, ECHI_DRIVER_VERSION % 1000 / 10);
        return;
    }
    if (!fill_table(get_proc)) return;
    CUresult error = driver.cuDriverGetVersion(&driver.version);
    if (error == CUDA_SUCCESS && driver.version < ECHI_DRIVER_VERSION) {
        fail("the CUDA driver has version %d.%d and is too old: this library needs %d.%d",
             driver.version / 1000, driver.version % 1000 / 10, ECHI_DRIVER_VERSION / 1000,
             ECHI_DRIVER_VERSION % 1000 / 10);
        return;
    }
    error = driver.cuInit(0);
    if (error != CUDA_SUCCESS) {
        if (error == CUDA_ERROR_NO_DEVICE)
            fail("the CUDA driver sees no GPU");
        else
            explain("cuInit", error);
        return;
    }
    error = driver.cuDeviceGetCount(&driver.devices);
    if (error != CUDA_SUCCESS)
        explain("cuDeviceGetCount", error);
    else if (driver.devices < 1)
        fail("the CUDA driver sees no GPU");
}

const struct echi_driver *echi_driver(const struct echi_driver_failure **why)
{
    pthread_once(&once, open_driver);
    if (why) *why = &failure;
    return *failure.reason ? NULL : &driver;
}
