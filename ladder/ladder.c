/*
 * ladder.c - the device of the rungs: the driver, the modules of the ladders, memory and launches.
 *
 * The driver is opened here in the same way as in the library, which exports no driver functions.
 * Rungs that call the library use a context with the stream of the other rungs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "trial.h"

#include "cuda/pack.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Results of the build ---- */

#ifdef ECHELON_CUDA
static const bool built_for_gpus = true; /* echelon/ladder.pack */
#else
static const bool built_for_gpus = false;
#endif

static const char *const images[] = {
#define IMAGE(name) #name,
#include "ladder_images.def"
#undef IMAGE
};
enum { IMAGES = sizeof images / sizeof *images, MOST_KERNELS = 1024, FLUSH_BYTES = 256 << 20 };

/* ---- Failure ---- */

static void __attribute__((format(printf, 2, 3)))
say(struct ladder_device *device, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(device->message, sizeof device->message, format, args);
    va_end(args);
}

void ladder_fail(struct trial *trial, const char *format, ...)
{
    va_list args;
    if (trial->failed) return;
    trial->failed = true;
    va_start(args, format);
    vsnprintf(trial->device->message, sizeof trial->device->message, format, args);
    va_end(args);
}

void ladder_try(struct trial *trial, ech_status status)
{
    if (status != ECH_OK) ladder_fail(trial, "%s", ech_error(trial->device->ctx));
}

void ladder_sort_on_host(struct trial *trial)
{
    struct ladder_device *device = trial->device;
    ech_sort_options options = { .size = sizeof options, .order = ECH_ORDER_TOTAL };
    if (!device->host && ech_open(&device->host, "cpu") != ECH_OK) {
        ladder_fail(trial, "%s", ech_error(NULL));
        return;
    }
    if (ech_sort(device->host, trial->host_in, trial->host_out, (size_t)trial->n, trial->type,
                 &options) != ECH_OK)
        ladder_fail(trial, "%s", ech_error(device->host));
}

static bool works(struct ladder_device *device, CUresult result, const char *call)
{
    if (result == CUDA_SUCCESS) return true;
    const char *name = NULL, *text = NULL;
    device->driver->cuGetErrorName(result, &name);
    device->driver->cuGetErrorString(result, &text);
    say(device, "%s failed with %s: %s", call, name ? name : "an unknown error",
        text ? text : "no text");
    return false;
}

/* Fails the trial with a message that names the driver's function. */
#define DO(trial, function, ...)                                                                   \
    do {                                                                                           \
        struct ladder_device *at_ = (trial)->device;                                               \
        if (!(trial)->failed && !works(at_, at_->driver->function(__VA_ARGS__), #function))        \
            (trial)->failed = true;                                                                \
    } while (0)

/* ---- Open and close ---- */

/* Measures the rate of a device copy; computes the peak rate of multiplications from the clock. */
static bool find_ceilings(struct ladder_device *d)
{
    enum { CLOCK_RATE_KHZ = 13, TIMES = 5 };
    const size_t bytes = (size_t)1 << 29;
    CUdeviceptr from = 0, to = 0;
    float best = 0;
    int clock = 0;
    bool ok = works(d, d->driver->cuMemAlloc(&from, bytes), "cuMemAlloc") &&
              works(d, d->driver->cuMemAlloc(&to, bytes), "cuMemAlloc");
    for (int i = 0; ok && i < TIMES; i++) {
        float ms = 0;
        ok =
            works(d, d->driver->cuEventRecord(d->before, d->stream), "cuEventRecord") &&
            works(d, d->driver->cuMemcpyAsync(to, from, bytes, d->stream), "cuMemcpyAsync") &&
            works(d, d->driver->cuEventRecord(d->after, d->stream), "cuEventRecord") &&
            works(d, d->driver->cuEventSynchronize(d->after), "cuEventSynchronize") &&
            works(d, d->driver->cuEventElapsedTime(&ms, d->before, d->after), "cuEventElapsedTime");
        if (ok && (i == 0 || ms < best)) best = ms;
    }
    if (from) d->driver->cuMemFree(from);
    if (to) d->driver->cuMemFree(to);
    if (!ok) return false;
    d->copy_bytes_per_s = 2 * (double)bytes / (best * 1e-3);
    if (d->driver->cuDeviceGetAttribute(&clock, CLOCK_RATE_KHZ, d->device) == CUDA_SUCCESS) {
        bool many = d->architecture == 80 || d->architecture == 90 || d->architecture == 100;
        d->operations_per_s =
            2.0 * (d->architecture > 80 ? 128 : 64) * d->multiprocessors * clock * 1e3;
        d->f64_operations_per_s = d->operations_per_s * (many ? 0.5 : 1. / 64);
    }
    return true;
}

static bool find_device(struct ladder_device *d, const char *name)
{
    ech_status status;
    if (!name) {
        status = ech_open(&d->ctx, "cuda");
        name = status == ECH_OK ? "cuda" : "simt";
        if (status != ECH_OK) status = ech_open(&d->ctx, name);
    } else {
        status = ech_open(&d->ctx, name);
    }
    if (status != ECH_OK) {
        say(d, "%s", ech_error(NULL));
        return false;
    }
    d->simt = strncmp(name, "simt", 4) == 0;
    return true;
}

static int attribute(const struct ladder_device *d, int which)
{
    int value = 0;
    return d->driver->cuDeviceGetAttribute(&value, which, d->device) == CUDA_SUCCESS ? value : 0;
}

/* Opens the device of d->ctx by the driver. */
static bool open_driver(struct ladder_device *d)
{
    const char *colon = strchr(ech_device_name(d->ctx), ':');
    struct echi_driver_failure failure = { .status = ECH_OK };
    d->driver = echi_driver(d->simt ? &echi_libsimt : &echi_libcuda, &failure);
    if (!d->driver) {
        say(d, "%s", failure.reason);
        return false;
    }
    if (!works(d, d->driver->cuDeviceGet(&d->device, colon ? atoi(colon + 1) : 0), "cuDeviceGet") ||
        !works(d, d->driver->cuDevicePrimaryCtxRetain(&d->context, d->device),
               "cuDevicePrimaryCtxRetain") ||
        !works(d, d->driver->cuCtxPushCurrent(d->context), "cuCtxPushCurrent"))
        return false;
    d->entered = true;
    d->multiprocessors = attribute(d, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    d->architecture = 10 * attribute(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                      attribute(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    if (!works(d, d->driver->cuStreamCreate(&d->stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate"))
        return false;
    if (ech_set_stream(d->ctx, d->stream) == ECH_OK) return true;
    say(d, "%s", ech_error(d->ctx));
    return false;
}

bool ladder_open(struct ladder_device *d, const char *name)
{
    *d = (struct ladder_device){ 0 };
    if (name && strncmp(name, "cuda", 4) != 0 && strcmp(name, "simt") != 0) {
        say(d, "the device must be a GPU (cuda) or the SIMT emulator (simt), not \"%s\"", name);
        return false;
    }
    if (!find_device(d, name)) return false;
    if (!open_driver(d)) {
        ladder_close(d);
        return false;
    }
    d->libraries = calloc(IMAGES, sizeof *d->libraries);
    d->kernels = calloc(MOST_KERNELS, sizeof *d->kernels);
    if (!d->libraries || !d->kernels) {
        say(d, "out of memory for the tables of kernels");
        ladder_close(d);
        return false;
    }
    bool ok = d->simt ? simt_find_emulator(&d->emulator, d->message, sizeof d->message)
                      : works(d, d->driver->cuEventCreate(&d->before, 0), "cuEventCreate") &&
                            works(d, d->driver->cuEventCreate(&d->after, 0), "cuEventCreate") &&
                            works(d, d->driver->cuMemAlloc(&d->flush, FLUSH_BYTES), "cuMemAlloc") &&
                            find_ceilings(d);
    if (ok && d->simt) {
        /* Findings report faults; every launch is counted. */
        ok = d->emulator.set_options("keep,profile", d->message, sizeof d->message);
    }
    if (!ok) ladder_close(d);
    return ok;
}

void ladder_close(struct ladder_device *d)
{
    CUcontext popped;
    if (!d->ctx) return;
    for (int i = 0; d->libraries && i < IMAGES; i++)
        if (d->libraries[i]) d->driver->cuLibraryUnload(d->libraries[i]);
    if (d->before) d->driver->cuEventDestroy(d->before);
    if (d->after) d->driver->cuEventDestroy(d->after);
    if (d->flush) d->driver->cuMemFree(d->flush);
    free(d->libraries);
    free(d->kernels);
    ech_close(d->host);
    ech_close(d->ctx); /* waits for the stream */
    if (d->stream) d->driver->cuStreamDestroy(d->stream);
    if (d->entered) d->driver->cuCtxPopCurrent(&popped);
    if (d->context) d->driver->cuDevicePrimaryCtxRelease(d->device);
    d->stream = NULL;
    d->context = NULL;
    d->entered = false;
    d->ctx = NULL;
    d->host = NULL;
    d->libraries = NULL;
    d->kernels = NULL;
}

/* ---- Kernels ---- */

/* Loads a module from ladder.pack, which is in the folder of the library's kernels. */
static void load_ptx(struct trial *trial, const char *name, CUlibrary *library)
{
    static const char inside = 0; /* this program, if the library is static */
    char path[ECHI_PACK_PATH], reason[ECHI_PACK_REASON];
    const struct echi_pack pack = { .path = path, .id = ECHELON_VERSION };
    size_t bytes = 0;
    const void *beside = dlsym(RTLD_DEFAULT, "ech_version");
    echi_pack_find("ladder.pack", beside ? beside : &inside, path);
    void *data = echi_pack_read(&pack, name, trial->device->architecture, &bytes, reason);
    if (!data) {
        ladder_fail(trial, "no kernels for the ladder: %s", reason);
        return;
    }
    DO(trial, cuLibraryLoadData, library, data, NULL, NULL, 0, NULL, NULL, 0);
    free(data);
}

static bool load(struct trial *trial, const char *name, int *index)
{
    struct ladder_device *d = trial->device;
    int i = 0;
    while (i < IMAGES && strcmp(images[i], name) != 0) i++;
    if (i == IMAGES) {
        ladder_fail(trial, "this ladder has no rungs for %s", ech_dtype_name(trial->type));
        return false;
    }
    if (!d->simt && !built_for_gpus) {
        ladder_fail(trial, "this build has no rungs for GPUs; it was built without nvcc");
        return false;
    }
    if (!d->libraries[i] && d->simt)
        DO(trial, cuLibraryLoadData, &d->libraries[i], images[i], NULL, NULL, 0, NULL, NULL, 0);
    else if (!d->libraries[i])
        load_ptx(trial, name, &d->libraries[i]);
    *index = i;
    return !trial->failed;
}

static CUkernel find_kernel(struct trial *trial, const char *name)
{
    struct ladder_device *d = trial->device;
    char image[64];
    int index = 0, k = 0;
    CUkernel own = NULL;
    if (d->own && d->driver->cuLibraryGetKernel(&own, d->own, name) == CUDA_SUCCESS) {
        d->own_launches++;
        return own;
    }
    snprintf(image, sizeof image, "ladder_%s_%s", trial->ladder->name, ech_dtype_name(trial->type));
    if (!load(trial, image, &index)) return NULL;
    while (k < d->kernel_count &&
           (d->kernels[k].image != index || strcmp(d->kernels[k].name, name) != 0))
        k++;
    if (k < d->kernel_count) return d->kernels[k].kernel;
    if (k == MOST_KERNELS) {
        ladder_fail(trial, "more than %d kernels", MOST_KERNELS);
        return NULL;
    }
    CUkernel kernel = NULL;
    DO(trial, cuLibraryGetKernel, &kernel, d->libraries[index], name);
    if (trial->failed) return NULL;
    snprintf(d->kernels[k].name, sizeof d->kernels[k].name, "%s", name);
    d->kernels[k].kernel = kernel;
    d->kernels[k].image = index;
    d->kernel_count++;
    return kernel;
}

void ladder_copy_to_symbol(struct trial *trial, const char *symbol, const void *from, size_t bytes)
{
    struct ladder_device *d = trial->device;
    char image[64];
    int index = 0;
    CUdeviceptr to = 0;
    size_t room = 0;
    snprintf(image, sizeof image, "ladder_%s_%s", trial->ladder->name, ech_dtype_name(trial->type));
    if (trial->failed || !load(trial, image, &index)) return;
    /* The reader's kernels have an array of their own. */
    const bool own =
        d->own && d->driver->cuLibraryGetGlobal(&to, &room, d->own, symbol) == CUDA_SUCCESS;
    if (!own) DO(trial, cuLibraryGetGlobal, &to, &room, d->libraries[index], symbol);
    if (!trial->failed && room < bytes)
        ladder_fail(trial, "%s has %zu bytes, not %zu", symbol, room, bytes);
    ladder_copy(trial, to, (CUdeviceptr)(uintptr_t)from, bytes);
}

void ladder_launch(struct trial *trial, const char *name, uint64_t blocks_x, uint64_t blocks_y,
                   unsigned threads_x, unsigned threads_y, size_t shared_bytes, void **arguments)
{
    enum { WITHOUT_ASKING = 48 << 10 };
    if (trial->failed || blocks_x == 0 || blocks_y == 0) return;
    if (blocks_x > INT32_MAX || blocks_y > UINT16_MAX) {
        ladder_fail(trial, "%s: n = %llu exceeds the maximum of a grid", name,
                    (unsigned long long)trial->n);
        return;
    }
    CUkernel kernel = find_kernel(trial, name);
    if (shared_bytes > WITHOUT_ASKING)
        DO(trial, cuKernelSetAttribute, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
           (int)shared_bytes, kernel, trial->device->device);
    DO(trial, cuLaunchKernel, kernel, (unsigned)blocks_x, (unsigned)blocks_y, 1, threads_x,
       threads_y, 1, (unsigned)shared_bytes, trial->device->stream, arguments, NULL);
    if (!trial->failed) trial->launches++;
}

void ladder_zero(struct trial *trial, CUdeviceptr at, size_t bytes)
{
    if (bytes) DO(trial, cuMemsetD8Async, at, 0, bytes, trial->device->stream);
}

void ladder_copy(struct trial *trial, CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    if (bytes) DO(trial, cuMemcpyAsync, to, from, bytes, trial->device->stream);
}

/* ---- Memory and time, for measure.c ---- */

void ladder_allocate(struct trial *trial, CUdeviceptr *at, size_t bytes)
{
    if (bytes) DO(trial, cuMemAlloc, at, bytes);
}

void ladder_release(struct trial *trial, CUdeviceptr *at)
{
    if (*at) trial->device->driver->cuMemFree(*at);
    *at = 0;
}

void ladder_upload(struct trial *trial, CUdeviceptr to, const void *from, size_t bytes)
{
    ladder_copy(trial, to, (CUdeviceptr)(uintptr_t)from, bytes);
    ladder_wait(trial);
}

void ladder_download(struct trial *trial, void *to, CUdeviceptr from, size_t bytes)
{
    ladder_copy(trial, (CUdeviceptr)(uintptr_t)to, from, bytes);
    ladder_wait(trial);
}

void ladder_fill(struct trial *trial, CUdeviceptr at, unsigned char byte, size_t bytes)
{
    if (bytes) DO(trial, cuMemsetD8Async, at, byte, bytes, trial->device->stream);
}

void ladder_wait(struct trial *trial)
{
    DO(trial, cuStreamSynchronize, trial->device->stream);
}

double ladder_time(struct trial *trial)
{
    struct ladder_device *d = trial->device;
    float ms = 0;
    DO(trial, cuMemsetD8Async, d->flush, 1, FLUSH_BYTES, d->stream);
    DO(trial, cuEventRecord, d->before, d->stream);
    trial->rung->run(trial);
    DO(trial, cuEventRecord, d->after, d->stream);
    DO(trial, cuEventSynchronize, d->after);
    DO(trial, cuEventElapsedTime, &ms, d->before, d->after);
    return (double)ms;
}
