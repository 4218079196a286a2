/*
 * simt/driver.c - the functions of the CUDA driver, for a device that is this machine's CPU.
 *
 * Streams are in stream.c. Functions beyond those of ../cuda/driver.def, such as cooperative
 * launches, are in more.def.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simt/emulator.h"
#include "simt/driver.h"
#include "simt/stream.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t launches = PTHREAD_MUTEX_INITIALIZER; /* one at a time */
static char first_finding[sizeof((struct simt_finding *)0)->text];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static CUresult opened = CUDA_ERROR_NOT_INITIALIZED;
static char open_message[400];

/* ---- The device ---- */

static void open_device(void)
{
    const char *options = getenv("ECHELON_SIMT");
    opened = CUDA_ERROR_INVALID_VALUE;
    if (options && !simt_set_options(options, open_message, sizeof open_message)) return;
    opened = CUDA_SUCCESS;
}

static CUresult simt_cuInit(unsigned flags)
{
    (void)flags;
    pthread_once(&once, open_device);
    return opened;
}

static CUresult simt_cuDriverGetVersion(int *version)
{
    *version = ECHI_DRIVER_VERSION;
    return CUDA_SUCCESS;
}

static const struct {
    CUresult error;
    const char *name, *text;
} errors[] = {
    { CUDA_SUCCESS, "CUDA_SUCCESS", "no error" },
    { CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "an argument is invalid" },
    { CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory" },
    { CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "cuInit() was not called" },
    { CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "there is no device of that number" },
    { CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE",
      "the module was not built with this library and emulator; build all targets" },
    { CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU",
      "the SIMT emulator has no module of that name" },
    { CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "the module has no kernel of that name" },
    { CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", first_finding },
    { CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
      "more blocks than can be resident at once" },
};

static CUresult simt_cuGetErrorName(CUresult error, const char **text)
{
    *text = NULL;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].error == error) *text = errors[i].name;
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult simt_cuGetErrorString(CUresult error, const char **text)
{
    *text = NULL;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].error == error) *text = errors[i].text;
    if (error == CUDA_ERROR_INVALID_VALUE && *open_message) *text = open_message;
    if (error == CUDA_ERROR_INVALID_VALUE && *first_finding) *text = first_finding;
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult simt_cuDeviceGetName(char *name, int bytes, CUdevice device)
{
    (void)device;
    snprintf(name, (size_t)bytes, "Echelon's SIMT emulator");
    return CUDA_SUCCESS;
}

static CUresult simt_cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    (void)device;
    *bytes = simt_memory_total();
    return CUDA_SUCCESS;
}

/* What depends on the compute capability (CUDA programming guide): the shared memory of a block,
 * and the threads of a multiprocessor.  A row is valid up to the next one. */
static const struct generation {
    uint64_t sm;
    unsigned shared_bytes, threads;
} generations[] = { { 75, SIMT_OLDEST_SHARED_BYTES, 1024 },
                    { 80, 163 << 10, 2048 },
                    { 86, 99 << 10, 1536 },
                    { 87, 163 << 10, 1536 },
                    { 89, 99 << 10, 1536 },
                    { 90, 227 << 10, 2048 },
                    { 110, 227 << 10, 1536 },
                    { 120, 99 << 10, 1536 } };

static const struct generation *generation(void)
{
    size_t i = sizeof generations / sizeof *generations - 1;
    while (i > 0 && generations[i].sm > simt_options.sm) i--;
    return &generations[i];
}

static CUresult simt_cuDeviceGetAttribute(int *value, int attribute, CUdevice device)
{
    (void)device;
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = SIMT_MULTIPROCESSORS;
        break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = (int)simt_options.sm / 10;
        break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = (int)simt_options.sm % 10;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = SIMT_MOST_THREADS;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
        *value = SIMT_DEFAULT_SHARED_BYTES;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        *value = (int)generation()->shared_bytes;
        break;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
        *value = SIMT_L2_BYTES;
        break;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
        *value = SIMT_LANES;
        break;
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
        *value = 1;
        break;
    case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH:
        *value = simt_options.sm >= 90;
        break;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

/* ---- Contexts ---- */

static CUresult simt_cuDevicePrimaryCtxRelease(CUdevice device)
{
    simt_wait_for_all();
    pthread_mutex_lock(&launches);
    if (simt_release_context(device)) simt_launch_close();
    pthread_mutex_unlock(&launches);
    return CUDA_SUCCESS;
}

/* ---- Memory ---- */

static CUresult simt_cuMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    *total_bytes = simt_memory_total();
    *free_bytes = simt_memory_total() - simt_memory_used();
    return CUDA_SUCCESS;
}

static CUresult release(void *at, enum simt_memory_kind kind)
{
    return !at || simt_memory_release(at, kind) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult simt_cuMemFree(CUdeviceptr pointer)
{
    const CUresult before = simt_wait_for_all();
    const CUresult result = release((void *)(uintptr_t)pointer, SIMT_MEMORY_DEVICE);
    return before == CUDA_SUCCESS ? result : before;
}

static CUresult simt_cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void *value)
{
    (void)value; /* a pool keeps no memory, so that accesses to freed memory are found */
    return pool && attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD ? CUDA_SUCCESS
                                                                  : CUDA_ERROR_INVALID_VALUE;
}

static CUresult simt_cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes)
{
    (void)bytes;
    return pool ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult simt_cuMemFreeAsync(CUdeviceptr pointer, CUstream stream)
{
    struct simt_work work = { .kind = SIMT_FREE, .to = (void *)(uintptr_t)pointer };
    return simt_submit(stream, &work);
}

static CUresult simt_cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    (void)flags;
    if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    *pointer = simt_memory_allocate(bytes, SIMT_MEMORY_PINNED);
    return *pointer ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult simt_cuMemFreeHost(void *pointer)
{
    const CUresult before = simt_wait_for_all();
    const CUresult result = release(pointer, SIMT_MEMORY_PINNED);
    return before == CUDA_SUCCESS ? result : before;
}

static bool is_pageable(const void *pointer)
{
    void *base;
    size_t bytes;
    enum simt_memory_kind kind;
    return !simt_memory_find(pointer, &base, &bytes, &kind);
}

/* From pageable memory, the source is copied before the call returns; to it, the target. */
static CUresult simt_cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    struct simt_work work = { .kind = SIMT_COPY,
                              .to = (void *)(uintptr_t)to,
                              .from = (const void *)(uintptr_t)from,
                              .bytes = bytes };
    if (!simt_memory_holds(work.to, bytes) || !simt_memory_holds(work.from, bytes) ||
        !simt_may_access(work.to) || !simt_may_access(work.from))
        return CUDA_ERROR_INVALID_VALUE;
    if (simt_options.late) {
        work.pageable = is_pageable(work.from);
        work.waits = is_pageable(work.to);
    }
    return simt_submit(stream, &work);
}

static CUresult simt_cuMemcpyBatchAsync(CUdeviceptr *to, CUdeviceptr *from, size_t *bytes,
                                        size_t count, CUmemcpyAttributes *attributes, size_t *first,
                                        size_t attribute_count, size_t *failed, CUstream stream)
{
    (void)attributes, (void)first;
    if (attribute_count != 1 || count == 0) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        const CUresult result = simt_cuMemcpyAsync(to[i], from[i], bytes[i], stream);
        if (result == CUDA_SUCCESS) continue;
        *failed = i;
        return result;
    }
    return CUDA_SUCCESS;
}

static CUresult simt_cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes,
                                     CUstream stream)
{
    struct simt_work work = {
        .kind = SIMT_SET, .to = (void *)(uintptr_t)to, .value = value, .bytes = bytes
    };
    return simt_memory_holds(work.to, bytes) ? simt_submit(stream, &work)
                                             : CUDA_ERROR_INVALID_VALUE;
}

static CUresult simt_cuPointerGetAttributes(unsigned count, int *attributes, void **values,
                                            CUdeviceptr pointer)
{
    void *base;
    size_t bytes;
    enum simt_memory_kind kind = SIMT_MEMORY_DEVICE;
    bool known = simt_memory_find((void *)(uintptr_t)pointer, &base, &bytes, &kind);
    struct simt_owner owner = { 0 };
    for (unsigned i = 0; i < count; i++) {
        unsigned value = 0;
        if (attributes[i] == CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE) {
            simt_memory_owner((void *)(uintptr_t)pointer, &owner);
            memcpy(values[i], &owner.pool, sizeof owner.pool);
            continue;
        }
        if (attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE && known)
            value = kind == SIMT_MEMORY_DEVICE ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
        memcpy(values[i], &value, sizeof value);
    }
    return CUDA_SUCCESS;
}

/* ---- Modules ---- */

/* image is a module's name or path. */
static CUresult simt_cuLibraryLoadData(CUlibrary *library, const void *image, void *jit_options,
                                       void **jit_values, unsigned jit_count, void *options,
                                       void **values, unsigned count)
{
    struct simt_loaded *module = NULL;
    (void)jit_options, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    CUresult result = simt_module_load(image, &module);
    *library = (CUlibrary)module;
    return result;
}

static CUresult simt_cuLibraryUnload(CUlibrary library)
{
    const CUresult result = simt_wait_for_all();
    simt_module_unload((struct simt_loaded *)library);
    return result;
}

static CUresult simt_cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    *kernel = (CUkernel)simt_module_find((struct simt_loaded *)library, name);
    return *kernel ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/* The architecture for which the modules are compiled.  The shared memory of the kernels themselves
 * is unknown. */
static CUresult simt_cuKernelGetAttribute(int *value, int attribute, CUkernel kernel,
                                          CUdevice device)
{
    (void)kernel;
    (void)device;
    const bool shared = attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;
    *value = shared ? 0 : SIMT_CODE;
    return shared || attribute == CU_FUNC_ATTRIBUTE_PTX_VERSION ? CUDA_SUCCESS
                                                                : CUDA_ERROR_INVALID_VALUE;
}

static CUresult simt_cuKernelSetAttribute(int attribute, int value, CUkernel kernel,
                                          CUdevice device)
{
    struct simt_function *f = (struct simt_function *)kernel;
    (void)device;
    if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) /* there is no cache */
        return value <= 100 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
        value > (int)generation()->shared_bytes)
        return CUDA_ERROR_INVALID_VALUE;
    f->most_shared_bytes = (uint32_t)value;
    return CUDA_SUCCESS;
}

/* ---- Launches ---- */

static bool within_limits(struct simt_launch *l)
{
    const struct simt_function *f = l->function;
    const uint32_t *grid = l->grid, *block = l->block;
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    if (threads == 0 || threads > SIMT_MOST_THREADS || block[2] > 64)
        simt_found(SIMT_LIMIT, l, NULL, 0, "a block of %ux%ux%u threads: 1 to %d are supported",
                   block[0], block[1], block[2], SIMT_MOST_THREADS);
    else if (f->kernel->most_threads && threads > f->kernel->most_threads)
        simt_found(SIMT_LIMIT, l, NULL, 0,
                   "a block of %llu threads: __launch_bounds__ of the kernel permits %u",
                   (unsigned long long)threads, f->kernel->most_threads);
    else if (!grid[0] || !grid[1] || !grid[2] || grid[0] > INT32_MAX || grid[1] > 65535 ||
             grid[2] > 65535 || (uint64_t)grid[0] * grid[1] > UINT32_MAX / grid[2])
        simt_found(SIMT_LIMIT, l, NULL, 0, "a grid of %ux%ux%u blocks is not supported", grid[0],
                   grid[1], grid[2]);
    else if (l->shared_bytes > f->most_shared_bytes)
        simt_found(SIMT_LIMIT, l, NULL, 0,
                   "%u bytes of dynamic shared memory: the limit of the kernel is %u",
                   l->shared_bytes, f->most_shared_bytes);
    else if (l->cluster_blocks == 0 || l->cluster_blocks > SIMT_MOST_CLUSTER ||
             grid[0] % l->cluster[0] || grid[1] % l->cluster[1] || grid[2] % l->cluster[2])
        simt_found(SIMT_LIMIT, l, NULL, 0,
                   "clusters of %ux%ux%u blocks: at most %d blocks, which must divide the grid",
                   l->cluster[0], l->cluster[1], l->cluster[2], SIMT_MOST_CLUSTER);
    else if (l->cluster_blocks > 1 && simt_options.sm < 90)
        simt_found(SIMT_LIMIT, l, NULL, 0, "clusters: sm_%d has none", (int)simt_options.sm);
    return !l->faulted;
}

/* Blocks that a device of this size could hold at once. */
static uint64_t most_cooperative(const struct simt_launch *l)
{
    uint64_t by_threads = generation()->threads / l->thread_count;
    uint64_t by_shared = (generation()->shared_bytes + 1024) / (l->shared_bytes + 1024);
    uint64_t blocks = by_threads < by_shared ? by_threads : by_shared;
    return SIMT_MULTIPROCESSORS * (blocks < 32 ? blocks : 32);
}

static CUresult run(struct simt_launch *l)
{
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&launches);
    *first_finding = 0;
    l->thread_count = l->block[0] * l->block[1] * l->block[2];
    l->block_count = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    l->cluster_blocks = l->cluster[0] * l->cluster[1] * l->cluster[2];
    if (!within_limits(l))
        result = CUDA_ERROR_INVALID_VALUE;
    else if (l->cooperative && l->block_count > most_cooperative(l))
        result = CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    else if (!simt_launch_run(l))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    else if (l->faulted)
        result = CUDA_ERROR_LAUNCH_FAILED;
    if (l->first_finding && result == CUDA_ERROR_LAUNCH_FAILED)
        memcpy(first_finding, l->first_finding->text, sizeof first_finding);
    pthread_mutex_unlock(&launches);
    return result;
}

CUresult simt_perform(struct simt_work *work)
{
    switch (work->kind) {
    case SIMT_LAUNCH:
        return run(&work->launch);
    case SIMT_FREE:
        return release(work->to, SIMT_MEMORY_DEVICE);
    default:
        break;
    }
    if (!simt_memory_holds(work->to, work->bytes)) return CUDA_ERROR_INVALID_VALUE;
    if (work->kind == SIMT_SET)
        memset(work->to, work->value, work->bytes);
    else if (simt_memory_holds(work->from, work->bytes))
        memmove(work->to, work->from, work->bytes);
    else
        return CUDA_ERROR_INVALID_VALUE;
    simt_memory_written(work->to, work->bytes);
    return CUDA_SUCCESS;
}

static CUresult launch(CUstream stream, const struct simt_launch *l)
{
    struct simt_work work = { .kind = SIMT_LAUNCH, .launch = *l };
    return simt_submit(stream, &work);
}

static CUresult simt_cuLaunchKernel(CUkernel kernel, unsigned grid_x, unsigned grid_y,
                                    unsigned grid_z, unsigned block_x, unsigned block_y,
                                    unsigned block_z, unsigned dynamic_bytes, CUstream stream,
                                    void **parameters, void **extra)
{
    if (extra || !kernel) return CUDA_ERROR_INVALID_VALUE;
    struct simt_launch l = { .function = (struct simt_function *)kernel,
                             .parameters = parameters,
                             .grid = { grid_x, grid_y, grid_z },
                             .block = { block_x, block_y, block_z },
                             .cluster = { 1, 1, 1 },
                             .shared_bytes = dynamic_bytes };
    return launch(stream, &l);
}

static CUresult simt_cuLaunchCooperativeKernel(CUkernel kernel, unsigned grid_x, unsigned grid_y,
                                               unsigned grid_z, unsigned block_x, unsigned block_y,
                                               unsigned block_z, unsigned dynamic_bytes,
                                               CUstream stream, void **parameters)
{
    if (!kernel) return CUDA_ERROR_INVALID_VALUE;
    struct simt_launch l = { .function = (struct simt_function *)kernel,
                             .parameters = parameters,
                             .grid = { grid_x, grid_y, grid_z },
                             .block = { block_x, block_y, block_z },
                             .cluster = { 1, 1, 1 },
                             .shared_bytes = dynamic_bytes,
                             .cooperative = true };
    return launch(stream, &l);
}

static CUresult simt_cuLaunchKernelEx(const CUlaunchConfig *config, CUkernel kernel,
                                      void **parameters, void **extra)
{
    if (extra || !kernel) return CUDA_ERROR_INVALID_VALUE;
    struct simt_launch l = { .function = (struct simt_function *)kernel,
                             .parameters = parameters,
                             .grid = { config->grid_x, config->grid_y, config->grid_z },
                             .block = { config->block_x, config->block_y, config->block_z },
                             .cluster = { 1, 1, 1 },
                             .shared_bytes = config->shared_bytes };
    for (unsigned i = 0; i < config->attribute_count; i++) {
        const CUlaunchAttribute *a = &config->attributes[i];
        if (a->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            memcpy(l.cluster, a->value.cluster, sizeof l.cluster);
        else if (a->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            l.cooperative = a->value.cooperative != 0;
        else if (a->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            l.early = a->value.early != 0;
        else if (a->id != CU_LAUNCH_ATTRIBUTE_IGNORE)
            return CUDA_ERROR_INVALID_VALUE;
    }
    return launch(config->stream, &l);
}

static CUresult simt_cuLibraryGetGlobal(CUdeviceptr *pointer, size_t *bytes, CUlibrary library,
                                        const char *name)
{
    size_t length;
    void *at = simt_module_symbol((struct simt_loaded *)library, name, &length);
    *pointer = (CUdeviceptr)(uintptr_t)at;
    if (bytes) *bytes = length;
    return at ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/* ---- The table ---- */

SIMT_API void simt_forget(void)
{
    simt_findings_clear();
    simt_profile_clear();
}

SIMT_API CUresult cuGetProcAddress_v2(const char *name, void **function, int version,
                                      uint64_t flags, int *symbol_status);

SIMT_API CUresult cuGetProcAddress_v2(const char *name, void **function, int version,
                                      uint64_t flags, int *symbol_status)
{
    static const struct {
        const char *name;
        void (*function)(void);
    } table[] = {
#define DRIVER(function_name, parameters) { #function_name, (void (*)(void))simt_##function_name },
#include "cuda/driver.def"
#include "simt/more.def"
#undef DRIVER
        { "cuMemcpyBatchAsync", (void (*)(void))simt_cuMemcpyBatchAsync },
    };
    (void)version, (void)flags;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].name, name) == 0) {
            memcpy(function, &table[i].function, sizeof *function);
            if (symbol_status) *symbol_status = 0;
            return CUDA_SUCCESS;
        }
    if (symbol_status) *symbol_status = 1; /* CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND */
    return CUDA_ERROR_NOT_FOUND;
}
