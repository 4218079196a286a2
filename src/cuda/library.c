/*
 * cuda/library.c - an additional library of NVIDIA (cuBLAS, cuSOLVER), opened at run time like the
 * driver: a build needs none of them, and a process uses those that it finds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda/library.h"
#include "core/environment.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool open_one(struct echi_cuda_library *library, const char *name,
                     bool (*take)(void *handle))
{
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL); /* never closed: its handles need it */
    if (!handle) return false;
    if (!take(handle)) {
        dlclose(handle);
        return false;
    }
    snprintf(library->name, sizeof library->name, "%s", name);
    return true;
}

void echi_cuda_library_open(struct echi_cuda_library *library, const char *const *versions,
                            size_t count, bool (*take)(void *handle))
{
    static const char *const folders[] = { "", "/usr/local/cuda/lib64/" };
    const char *named = echi_secure_getenv(library->variable);
    char name[64];
    if (named && *named) {
        if (strcmp(named, "none") == 0 || !open_one(library, named, take))
            snprintf(library->reason, sizeof library->reason, "%s is \"%.64s\"", library->variable,
                     named);
        return;
    }
    for (size_t folder = 0; folder < sizeof folders / sizeof *folders; folder++)
        for (size_t i = 0; i < count; i++) {
            snprintf(name, sizeof name, "%s%s.so.%s", folders[folder], library->stem, versions[i]);
            if (open_one(library, name, take)) return;
        }
    snprintf(library->reason, sizeof library->reason, "%s.so was not found: set %s to its path",
             library->stem, library->variable);
}

ech_status echi_cuda_library_check(ech_ctx *ctx, const struct echi_cuda_library *library,
                                   int result, const char *call)
{
    if (result == 0) return ECH_OK;
    return echi_fail(ctx, result == library->no_memory ? ECH_ERR_MEMORY : ECH_ERR_DEVICE,
                     "%s of %s failed with status %d", call, library->name, result);
}

ech_status echi_cuda_library_start(ech_ctx *ctx, const struct echi_cuda_library *library,
                                   void **handle, int (*create)(void **handle), const char *call)
{
    const struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    int capturing = 0;
    if (*handle) return ECH_OK;
    CU(cuStreamIsCapturing, echi_cuda_stream(ctx), &capturing);
    if (capturing)
        FAIL(ctx, ECH_ERR_UNSUPPORTED,
             "a context's first %s cannot be captured: call it once before, or choose \"%s\"",
             library->what, library->instead);
    const int result = create(handle);
    if (result)
        FAIL(ctx, result == library->no_memory ? ECH_ERR_MEMORY : ECH_ERR_UNSUPPORTED,
             "%s of %s failed with status %d: set %s=none to disable it", call, library->name,
             result, library->variable);
done:
    return status;
}
