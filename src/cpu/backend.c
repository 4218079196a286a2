/*
 * cpu/backend.c - the CPU as a device: host memory, no stream, nothing to wait for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* sysconf's memory names */
#include "core/backend.h"
#include "cpu/cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int cpu_count(void)
{
    return 1;
}

static ech_status cpu_describe(int ordinal, ech_device *device)
{
    (void)ordinal;
    snprintf(device->name, sizeof device->name, "cpu");
    snprintf(device->description, sizeof device->description, "CPU");
    FILE *file = fopen("/proc/cpuinfo", "re");
    for (char line[256]; file && fgets(line, sizeof line, file);) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(device->description, sizeof device->description, "%s", colon + 2);
        break;
    }
    if (file) fclose(file);
    echi_cpu_features(device->features, sizeof device->features);
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    device->memory_bytes = page * (uint64_t)sysconf(_SC_PHYS_PAGES);
    device->free_bytes = page * (uint64_t)sysconf(_SC_AVPHYS_PAGES);
    device->multiprocessors = echi_processors();
    return ECH_OK;
}

static ech_status cpu_open(ech_ctx *ctx, int ordinal)
{
    if (ordinal != 0)
        return echi_fail(ctx, ECH_ERR_NO_DEVICE, "device is \"cpu:%d\", but there is only \"cpu\"",
                         ordinal);
    snprintf(ctx->name, sizeof ctx->name, "cpu");
    const char *wrong = echi_processors_wrong();
    if (wrong)
        return echi_fail(ctx, ECH_ERR_ARG, "ECHELON_THREADS is \"%s\", not a positive integer",
                         wrong);
    return echi_cpu_check_isa(ctx);
}

static void cpu_close(ech_ctx *ctx)
{
    (void)ctx;
}

static ech_status cpu_sync(ech_ctx *ctx)
{
    (void)ctx;
    return ECH_OK;
}

static ech_status cpu_poll(ech_ctx *ctx, bool *done)
{
    (void)ctx;
    *done = true;
    return ECH_OK;
}

static void *cpu_stream(ech_ctx *ctx)
{
    (void)ctx;
    return NULL;
}

/* Large blocks use pages of 2 MiB: the first access to each page of 400 MiB then takes a quarter of
 * the time in total, compared with pages of 4 KiB. */
static ech_status cpu_allocate(ech_ctx *ctx, size_t bytes, void **pointer)
{
    (void)ctx;
    *pointer = NULL;
    const size_t huge = (size_t)2 << 20;
    size_t align = bytes >= 2 * huge ? huge : ECHI_ALIGN;
    if (bytes > SIZE_MAX - align) return ECH_ERR_MEMORY;
    *pointer = aligned_alloc(align, (bytes + align - 1) / align * align);
#ifdef MADV_HUGEPAGE
    if (*pointer && align == huge) madvise(*pointer, bytes, MADV_HUGEPAGE);
#endif
    return *pointer ? ECH_OK : ECH_ERR_MEMORY;
}

static void cpu_release(ech_ctx *ctx, void *pointer, size_t bytes)
{
    (void)ctx;
    (void)bytes;
    free(pointer);
}

static void cpu_trim(ech_ctx *ctx)
{
    (void)ctx; /* free() keeps no relevant amount */
}

static ech_status cpu_copy(ech_ctx *ctx, void *to, const void *from, size_t bytes)
{
    (void)ctx;
    memmove(to, from, bytes);
    return ECH_OK;
}

static ech_status cpu_side(ech_ctx *ctx, const void *pointer, enum echi_side *side, bool *pinned)
{
    (void)ctx;
    (void)pointer;
    if (pinned) *pinned = false;
    *side = ECHI_DEVICE;
    return ECH_OK;
}

const struct echi_backend echi_cpu = {
    .name = "cpu",
    .count = cpu_count,
    .describe = cpu_describe,
    .open = cpu_open,
    .close = cpu_close,
    .sync = cpu_sync,
    .poll = cpu_poll,
    .stream = cpu_stream,
    .allocate = cpu_allocate,
    .release = cpu_release,
    .trim = cpu_trim,
    .copy = cpu_copy,
    .copy_async = cpu_copy,
    .side = cpu_side,
    .operations = {
#define OPERATION(name, folder, call, command, tests, benchmark)                                   \
    [ECHI_OP_##name] = &echi_cpu_##name,
#include "operations.def"
#undef OPERATION
    },
    .direct_vendor = &echi_cpu_direct_vendor,
    .direct_vendor_name = "lapack",
    .direct_small = &echi_cpu_direct_small,
};
