/*
 * core/context.c - opens a device by name; functions of a context that do not belong to one
 * operation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "cpu/cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct echi_backend *const echi_backends[] = {
#ifdef ECHELON_CUDA
    &echi_cuda,
#endif
    &echi_cpu,
#ifdef ECHELON_SIMT
    &echi_simt,
#endif
    NULL,
};

#define STRING(x)                    #x
#define VERSION(major, minor, patch) STRING(major) "." STRING(minor) "." STRING(patch)

const char *ech_version(void)
{
    return VERSION(ECH_VERSION_MAJOR, ECH_VERSION_MINOR, ECH_VERSION_PATCH);
}

int ech_version_number(void)
{
    return ECH_VERSION_NUMBER;
}

/* ---- Names ---- */

/* "cuda:12" is backend "cuda" and ordinal 12; a name without a number means ordinal 0. */
static bool name_means(const char *name, const char *backend, int *ordinal)
{
    size_t length = strlen(backend);
    if (strncmp(name, backend, length) != 0) return false;
    name += length;
    *ordinal = 0;
    if (*name == 0) return true;
    if (*name++ != ':' || *name == 0) return false;
    for (; *name; name++) {
        if (*name < '0' || *name > '9' || *ordinal > 9999) return false;
        *ordinal = *ordinal * 10 + (*name - '0');
    }
    return true;
}

bool echi_backend_auto(const char *name)
{
    if (!name) name = getenv("ECHELON_DEVICE");
    if (!name || !*name) return true;
    return strncmp(name, "auto", 4) == 0 && (name[4] == 0 || name[4] == ':');
}

ech_status echi_backend_find(const char *name, const struct echi_backend **backend, int *ordinal)
{
    const char *from = "device";
    *backend = NULL;
    *ordinal = 0;
    if (!name) {
        name = getenv("ECHELON_DEVICE");
        from = "the environment variable ECHELON_DEVICE";
        if (!name || !*name) return ECH_OK;
    }
    if (strcmp(name, "auto") == 0) return ECH_OK;
    const char *device = strncmp(name, "auto:", 5) == 0 ? name + 5 : name;
    for (int i = 0; echi_backends[i]; i++)
        if (name_means(device, echi_backends[i]->name, ordinal)) {
            *backend = echi_backends[i];
            return ECH_OK;
        }
    int unused;
    if (name_means(device, "cuda", &unused))
        return echi_fail(NULL, ECH_ERR_NO_DEVICE,
                         "%s is \"%s\", but this build of the library has no CUDA backend", from,
                         name);
    if (name_means(device, "simt", &unused))
        return echi_fail(NULL, ECH_ERR_NO_DEVICE,
                         "%s is \"%s\", but this build of the library has no SIMT emulator", from,
                         name);
    return echi_fail(
        NULL, ECH_ERR_ARG,
        "%s is \"%s\", which is not \"cpu\", \"cuda\", \"cuda:N\", \"simt\" or \"auto\"", from,
        name);
}

/* ---- Open and close ---- */

static ech_status open_on(const struct echi_backend *backend, int ordinal, ech_ctx **ctx)
{
    ech_ctx *c = calloc(1, sizeof *c);
    if (!c) return echi_fail(NULL, ECH_ERR_MEMORY, "out of memory for a context");
    c->backend = backend;
    const char *algorithm = getenv("ECHELON_ALGORITHM");
    snprintf(c->algorithm, sizeof c->algorithm, "%s", algorithm ? algorithm : "");
    ech_status status = backend->open(c, ordinal);
    if (status != ECH_OK) {
        echi_fail(NULL, status, "%s", c->error);
        free(c);
        return status;
    }
    c->processors = &c->processors_state;
    echi_parallel_open();
    *ctx = c;
    return ECH_OK;
}

ech_status ech_open(ech_ctx **ctx, const char *device)
{
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    *ctx = NULL;
    const struct echi_backend *backend;
    int ordinal;
    ech_status status = echi_backend_find(device, &backend, &ordinal);
    if (status != ECH_OK) return status;
    if (backend) status = open_on(backend, ordinal, ctx);
    for (int i = 0; !backend && echi_backends[i]; i++) {
        status = open_on(echi_backends[i], 0, ctx);
        if (status == ECH_OK) break;
    }
    if (status != ECH_OK || !*ctx) return status;
    if (echi_backend_auto(device) && (*ctx)->backend != &echi_cpu) {
        status = open_on(&echi_cpu, 0, &(*ctx)->cpu);
        if (status != ECH_OK) {
            ech_close(*ctx);
            *ctx = NULL;
            return status;
        }
        char name[sizeof(*ctx)->name];
        snprintf(name, sizeof name, "auto:%.20s", (*ctx)->name);
        memcpy((*ctx)->name, name, sizeof name);
    }
    return status;
}

void ech_close(ech_ctx *ctx)
{
    if (!ctx) return;
    ech_close(ctx->cpu);
    ech_close(ctx->side);
    echi_drop_spare(ctx);
    ctx->backend->close(ctx);
    echi_parallel_close();
    free(ctx);
}

ech_status ech_sync(ech_ctx *ctx)
{
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    return ctx->backend->sync(ctx);
}

ech_status ech_poll(ech_ctx *ctx, int *done)
{
    bool all = false;
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    if (!done) return echi_fail(ctx, ECH_ERR_ARG, "done is NULL");
    ech_status status = ctx->backend->poll(ctx, &all);
    *done = all;
    return status;
}

const char *ech_device_name(const ech_ctx *ctx)
{
    return ctx ? ctx->name : "";
}

/* ---- Devices ---- */

int ech_device_count(void)
{
    int count = 0;
    for (int i = 0; echi_backends[i]; i++) count += echi_backends[i]->count();
    return count;
}

ech_status ech_device_get(int i, ech_device *device)
{
    if (!device) return echi_fail(NULL, ECH_ERR_ARG, "device is NULL");
    ech_device all; /* of this library; the caller receives the fields that its header has */
    ech_status status = echi_check_size(NULL, "device", "ech_device", device->size, sizeof *device);
    if (status != ECH_OK) return status;
    memset(&all, 0, sizeof all);
    int ordinal = i;
    for (int b = 0; i >= 0 && echi_backends[b]; b++) {
        int count = echi_backends[b]->count();
        if (ordinal < count) {
            status = echi_backends[b]->describe(ordinal, &all);
            echi_write_struct(&all, sizeof all, device);
            return status;
        }
        ordinal -= count;
    }
    return echi_fail(NULL, ECH_ERR_ARG, "i is %d, but the number of devices is %d", i,
                     ech_device_count());
}

/* ---- Settings ---- */

ech_status ech_set_allocator(ech_ctx *ctx, const ech_allocator *allocator)
{
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    ech_allocator read;
    ech_status status =
        echi_read_struct(ctx, "allocator", "ech_allocator", allocator, &read, sizeof read);
    if (status != ECH_OK) return status;
    if (allocator && (!read.allocate || !read.release))
        return echi_fail(ctx, ECH_ERR_ARG, "allocator->%s is NULL",
                         read.allocate ? "release" : "allocate");
    if (ctx->held_bytes)
        return echi_fail(
            ctx, ECH_ERR_ARG,
            "the allocator cannot be replaced while the context holds %llu bytes: free them first",
            (unsigned long long)ctx->held_bytes);
    ctx->allocator = read;
    return ECH_OK;
}

static ech_status check_streams(ech_ctx *ctx)
{
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    if (!ctx->backend->record_event)
        return echi_fail(ctx, ECH_ERR_UNSUPPORTED, "%s has no streams", ctx->name);
    return ECH_OK;
}

ech_status ech_set_stream(ech_ctx *ctx, void *stream)
{
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    if (stream) {
        ech_status status = check_streams(ctx);
        if (status != ECH_OK) return status;
    }
    ctx->stream = stream;
    ctx->private_stream = false;
    return ECH_OK;
}

ech_status ech_set_private_stream(ech_ctx *ctx)
{
    ech_status status = check_streams(ctx);
    if (status == ECH_OK) ctx->private_stream = true;
    return status;
}

ech_status ech_get_stream(ech_ctx *ctx, void **stream)
{
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    if (!stream) return echi_fail(ctx, ECH_ERR_ARG, "stream is NULL");
    *stream = ctx->backend->stream(ctx);
    return ECH_OK;
}

ech_status ech_record_event(ech_ctx *ctx, void *event)
{
    ech_status status = check_streams(ctx);
    if (status != ECH_OK) return status;
    if (!event) return echi_fail(ctx, ECH_ERR_ARG, "event is NULL");
    return ctx->backend->record_event(ctx, event);
}

ech_status ech_wait_event(ech_ctx *ctx, void *event)
{
    ech_status status = check_streams(ctx);
    if (status != ECH_OK) return status;
    if (!event) return echi_fail(ctx, ECH_ERR_ARG, "event is NULL");
    return ctx->backend->wait_event(ctx, event);
}

ech_status ech_set_threads(ech_ctx *ctx, int threads)
{
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    if (threads < 0)
        return echi_fail(ctx, ECH_ERR_ARG, "threads is %d: it must not be negative", threads);
    ctx->threads = threads;
    return ECH_OK;
}

ech_status ech_set_memory_limit(ech_ctx *ctx, uint64_t bytes)
{
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    ctx->limit_bytes = bytes;
    return ECH_OK;
}

ech_status ech_set_log(ech_ctx *ctx, ech_log_level level, ech_log_function function, void *user)
{
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    ctx->log_level = level;
    ctx->log = function;
    ctx->log_user = user;
    if (function) echi_log(ctx, ECH_LOG_INFO, "echelon %s on %s", ech_version(), ctx->name);
    return ECH_OK;
}

ech_status ech_set_progress(ech_ctx *ctx, ech_progress_function function, void *user)
{
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    ctx->progress = &ctx->progress_state;
    ctx->progress_state = (struct echi_progress_state){ .function = function, .user = user };
    return ECH_OK;
}

bool echi_progress(const ech_ctx *ctx, double spent, double left)
{
    struct echi_progress_state *p = ctx ? ctx->progress : NULL;
    if (!p || !p->function) return false;
    if (!p->canceled && spent + left > 0)
        p->canceled = p->function(p->user, spent / (spent + left)) != 0;
    return p->canceled;
}

bool echi_canceled(const ech_ctx *ctx)
{
    return ctx && ctx->progress && ctx->progress->canceled;
}
