/*
 * comm/open.c - ech_comm_open(): the communicator of a shared library, or of one rank.
 *
 * A library without a folder is one that the dynamic linker finds, also in the folder of libechelon
 * ($ORIGIN), or one in ECHELON_PACK_FOLDER there, for packages in which it has no other place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* dladdr */
#include "comm/comm.h"
#include "core/environment.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#ifndef ECHELON_PACK_FOLDER
#define ECHELON_PACK_FOLDER "echelon"
#endif

/* Opens a library; a failure writes the reason. */
static void *open_handle(const char *library, char reason[ECHI_COMM_TEXT])
{
    static const char inside;
    char path[PATH_MAX];
    Dl_info info;
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle) return handle;
    snprintf(reason, ECHI_COMM_TEXT, "%s", dlerror());
    if (strchr(library, '/') || !dladdr(&inside, &info) || !info.dli_fname) return NULL;
    const char *slash = strrchr(info.dli_fname, '/');
    const int folder = slash ? (int)(slash - info.dli_fname) + 1 : 0;
    const int length = snprintf(path, sizeof path, "%.*s" ECHELON_PACK_FOLDER "/%s", folder,
                                info.dli_fname, library);
    return length < (int)sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

static ech_status open_library(ech_comm **comm, const char *library,
                               const ech_comm_options *options)
{
    ech_status status;
    char message[ECHI_COMM_TEXT] = "";
    ech_comm_table table = { .size = sizeof table };
    ech_comm_library_function entry = NULL;
    void *handle = open_handle(library, message);
    if (!handle)
        FAIL(NULL, ECH_ERR_UNSUPPORTED, "cannot open the library of a communicator: %s", message);
    void *symbol = dlsym(handle, "ech_comm_library");
    memcpy(&entry, &symbol, sizeof entry); /* C has no conversion to a pointer to a function */
    if (!entry) FAIL(NULL, ECH_ERR_UNSUPPORTED, "%s does not export ech_comm_library()", library);
    status = entry(&table, message, sizeof message);
    if (status != ECH_OK) FAIL(NULL, status, "%s: %s", library, message);
    status = ech_comm_create(comm, &table, options);
    if (status != ECH_OK && table.close) table.close(table.state);
    if (status == ECH_OK) {
        (*comm)->library = handle;
        handle = NULL;
    }
done:
    if (handle) dlclose(handle);
    return status;
}

ech_status ech_comm_open(ech_comm **comm, const char *library, const ech_comm_options *options)
{
    if (!comm) return echi_fail(NULL, ECH_ERR_ARG, "comm is NULL");
    *comm = NULL;
    if (!library) library = echi_secure_getenv("ECHELON_COMM");
    if (library && *library) return open_library(comm, library, options);
    return ech_comm_threads(comm, NULL, 1, options);
}
