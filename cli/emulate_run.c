/*
 * emulate_run.c - opens the SIMT emulator for "echelon emulate", and runs the kernel in one or
 * several orders of its blocks and warps.
 *
 * Each run has its own copies of the arrays.  The first run is counted and recorded; the others
 * only search for faults, and their results are compared with those of the first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _XOPEN_SOURCE 700 /* sigaltstack() */
#include "emulate.h"
#include "simt/driver.h"
#include "simt/runtime.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int driver_failed(const struct emulator_device *d, CUresult result, const char *call)
{
    const char *name = NULL, *text = NULL;
    d->driver->cuGetErrorName(result, &name);
    d->driver->cuGetErrorString(result, &text);
    return cli_fail(result == CUDA_ERROR_OUT_OF_MEMORY ? EXIT_MEMORY : EXIT_DEVICE, "%s: %s: %s",
                    call, name ? name : "unknown", text ? text : "no text");
}

int emulate_open(struct emulator_device *d, const char *options)
{
    struct echi_driver_failure failure = { .status = ECH_OK };
    char message[512];
    CUcontext context;
    d->driver = echi_driver(&echi_libsimt, &failure);
    if (!d->driver) return cli_fail(EXIT_DEVICE, "%s", failure.reason);
    if (!simt_find_emulator(&d->emulator, message, sizeof message))
        return cli_fail(EXIT_DEVICE, "%s", message);
    if (!d->emulator.set_options(options, message, sizeof message))
        return cli_fail(EXIT_BAD, "%s", message);
    CUresult result = d->driver->cuInit(0);
    if (result == CUDA_SUCCESS) result = d->driver->cuDevicePrimaryCtxRetain(&context, 0);
    if (result == CUDA_SUCCESS) result = d->driver->cuCtxPushCurrent(context);
    return result == CUDA_SUCCESS ? EXIT_DONE : driver_failed(d, result, "the SIMT emulator");
}

int emulate_load_module(struct emulator_device *d, const struct compile *c, CUkernel *kernel,
                        const struct simt_signature **signature)
{
    CUlibrary library;
    CUresult result =
        d->driver->cuLibraryLoadData(&library, c->module, NULL, NULL, 0, NULL, NULL, 0);
    if (result != CUDA_SUCCESS)
        return cli_fail(EXIT_DEVICE,
                        "%s: the compiled module cannot be loaded; if no program may run from this "
                        "folder, set TMPDIR to another one",
                        c->module);
    result = d->driver->cuLibraryGetKernel(kernel, library, c->name);
    if (result != CUDA_SUCCESS) return driver_failed(d, result, c->name);
    void *handle = dlopen(c->module, RTLD_NOW | RTLD_NOLOAD);
    *signature = handle ? dlsym(handle, "simt_signatures") : NULL;
    if (handle) dlclose(handle); /* the library remains loaded */
    return *signature ? EXIT_DONE
                      : cli_fail(EXIT_DEVICE, "%s: has no table of parameters", c->module);
}

/* ---- Signals that the kernel raises ---- */

static const struct crash {
    int number;
    const char *text;
} crashes[] = {
#define MESSAGE(text) "echelon emulate: a thread of the kernel " text "\n"
    { SIGFPE, MESSAGE("divided an integer by 0, so a signal (SIGFPE) ends the command") },
    { SIGSEGV, MESSAGE("exceeded its stack of 64 KiB or a local array, so a signal (SIGSEGV) ends "
                       "the command") },
    { SIGBUS, MESSAGE("accessed memory that does not exist, so a signal (SIGBUS) ends the "
                      "command") },
    { SIGILL, MESSAGE("reached code that the compiler takes for impossible, so a signal (SIGILL) "
                      "ends the command") },
#undef MESSAGE
};
enum { CRASHES = sizeof crashes / sizeof *crashes };

/* Only functions that a signal handler may call. */
static void report_crash(int number)
{
    for (int i = 0; i < CRASHES; i++)
        if (crashes[i].number == number &&
            write(STDERR_FILENO, crashes[i].text, strlen(crashes[i].text)) < 0)
            break;
    raise(number); /* the handler was reset, so the signal now ends the program */
}

struct watch {
    struct sigaction actions[CRASHES]; /* before */
    stack_t stack;
};

/* The handler has a stack of its own, because that of the kernel's thread may be full. */
static void watch_crashes(struct watch *before)
{
    static _Alignas(16) char stack[64 << 10];
    const stack_t own = { .ss_sp = stack, .ss_size = sizeof stack };
    struct sigaction action = { .sa_handler = report_crash,
                                .sa_flags = (int)SA_RESETHAND | SA_ONSTACK };
    sigemptyset(&action.sa_mask);
    sigaltstack(&own, &before->stack);
    for (int i = 0; i < CRASHES; i++) sigaction(crashes[i].number, &action, &before->actions[i]);
}

static void end_watch(const struct watch *before)
{
    for (int i = 0; i < CRASHES; i++) sigaction(crashes[i].number, &before->actions[i], NULL);
    sigaltstack(&before->stack, NULL);
}

/* ---- One run ---- */

static int upload(struct emulator_device *d, struct emulate_arguments *a)
{
    for (int i = 0; i < a->count; i++) {
        struct emulate_argument *x = &a->list[i];
        x->device = 0;
        if (!x->array || x->bytes == 0) continue; /* as cudaMalloc() of 0 bytes */
        CUresult result = d->driver->cuMemAlloc(&x->device, x->bytes);
        if (result == CUDA_SUCCESS && x->initial)
            result = d->driver->cuMemcpyAsync(x->device, (CUdeviceptr)(uintptr_t)x->initial,
                                              x->bytes, NULL);
        if (result != CUDA_SUCCESS) return driver_failed(d, result, x->name);
    }
    return EXIT_DONE;
}

static void release(struct emulator_device *d, const struct emulate_arguments *a)
{
    for (int i = 0; i < a->count; i++)
        if (a->list[i].device) d->driver->cuMemFree(a->list[i].device);
}

static int download(struct emulator_device *d, struct emulate_argument *x, void **to)
{
    if (!*to) *to = malloc(x->bytes + 1);
    if (!*to) return cli_fail(EXIT_MEMORY, "out of memory for %s", x->name);
    CUresult result =
        d->driver->cuMemcpyAsync((CUdeviceptr)(uintptr_t)*to, x->device, x->bytes, NULL);
    return result == CUDA_SUCCESS ? EXIT_DONE : driver_failed(d, result, x->name);
}

/* Compares the array after this run with that after the first. */
static void compare(struct emulate_argument *x)
{
    const size_t size = ech_dtype_bytes(x->dtype);
    const char *a = x->result, *b = x->other;
    if (x->differs >= 0 || memcmp(a, b, x->bytes) == 0) return;
    uint64_t i = 0;
    while (memcmp(a + i * size, b + i * size, size) == 0) i++;
    x->differs = (int64_t)i;
}

static int collect(struct emulator_device *d, struct emulate_arguments *a, bool first)
{
    int code = EXIT_DONE;
    for (int i = 0; i < a->count && code == EXIT_DONE; i++) {
        struct emulate_argument *x = &a->list[i];
        if (!x->device) continue;
        if (first) x->shown = x->device;
        code = download(d, x, first ? &x->result : &x->other);
        if (code == EXIT_DONE && !first) compare(x);
    }
    return code;
}

static int launch(struct emulator_device *d, CUkernel kernel, const struct emulate_launch *l,
                  struct emulate_arguments *a)
{
    enum { WITHOUT_ASKING = 48 << 10 };
    const struct simt_finding *findings;
    CUlaunchAttribute cluster = { .id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION };
    memcpy(cluster.value.cluster, l->cluster, sizeof l->cluster);
    for (int i = 0; i < a->count; i++) {
        const struct emulate_argument *x = &a->list[i];
        if (x->array)
            memcpy((char *)a->parameters[x->parameter] + x->offset, &x->device, sizeof x->device);
    }
    const CUlaunchConfig config = { l->grid[0],
                                    l->grid[1],
                                    l->grid[2],
                                    l->block[0],
                                    l->block[1],
                                    l->block[2],
                                    (unsigned)l->shared_bytes,
                                    NULL,
                                    &cluster,
                                    1 };
    const uint64_t shared =
        l->shared_bytes < SIMT_MOST_SHARED_BYTES ? l->shared_bytes : SIMT_MOST_SHARED_BYTES;
    if (shared > WITHOUT_ASKING)
        d->driver->cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                        (int)shared, kernel, 0);
    struct watch before;
    watch_crashes(&before);
    const CUresult result = d->driver->cuLaunchKernelEx(&config, kernel, a->parameters, NULL);
    end_watch(&before);
    if (result == CUDA_SUCCESS || d->emulator.findings(&findings) > 0) return EXIT_DONE;
    return driver_failed(d, result, "the launch failed");
}

int emulate_run(struct emulator_device *d, CUkernel kernel, const struct emulate_launch *l,
                struct emulate_arguments *a)
{
    char options[64], message[256];
    d->emulator.forget();
    if (!d->emulator.record(l->record, l->events)) return cli_fail(EXIT_MEMORY, "out of memory");
    for (uint64_t i = 0; i < l->seeds; i++) {
        snprintf(options, sizeof options, "%s,seed=%llu", i ? "noprofile" : "profile",
                 (unsigned long long)(l->seed + i));
        if (!d->emulator.set_options(options, message, sizeof message))
            return cli_fail(EXIT_BAD, "%s", message);
        int code = upload(d, a);
        if (code == EXIT_DONE) code = launch(d, kernel, l, a);
        if (code == EXIT_DONE) code = collect(d, a, i == 0);
        release(d, a);
        if (code != EXIT_DONE) return code;
    }
    return EXIT_DONE;
}
