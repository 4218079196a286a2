/*
 * comm/mpi/abi/open.c - opens an MPI library that has the standard binary interface, libmpi_abi.so.
 *
 * It is the first one of these: the file that ECHELON_MPI_ABI names; the one that the process has
 * loaded; the one that belongs to the mpiexec in PATH; the one that the dynamic linker finds. A
 * process that has loaded an MPI library with another interface cannot use a second one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* secure_getenv */
#include <mpi.h>

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct echi_mpi echi_mpi;

static const char *const names[] = { "libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi_abi.so", NULL };
/* MPICH, that of Debian, Open MPI. */
static const char *const others[] = { "libmpi.so.12", "libmpich.so.12", "libmpi.so.40", NULL };

static bool is_open;
static char reason[320];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The folder is "" or ends with a slash. */
static void *open_in(const char *folder, int flags)
{
    for (int i = 0; names[i]; i++) {
        char path[PATH_MAX];
        const int length = snprintf(path, sizeof path, "%s%s", folder, names[i]);
        void *handle = length < (int)sizeof path ? dlopen(path, RTLD_NOW | flags) : NULL;
        if (handle) return handle;
    }
    return NULL;
}

/* The library in lib/ next to the bin/ of the first mpiexec in PATH. */
static void *open_of_launcher(void)
{
    const char *path = secure_getenv("PATH");
    while (path && *path) {
        const int length = (int)strcspn(path, ":");
        char file[PATH_MAX];
        snprintf(file, sizeof file, "%.*s/mpiexec", length, path);
        if (length && access(file, X_OK) == 0) {
            snprintf(file, sizeof file, "%.*s/../lib/", length, path);
            return open_in(file, 0);
        }
        path += length;
        path += *path == ':';
    }
    return NULL;
}

/* An MPI library with another binary interface that the process has loaded, or NULL. */
static const char *find_other(void)
{
    for (int i = 0; others[i]; i++) {
        void *handle = dlopen(others[i], RTLD_NOW | RTLD_NOLOAD);
        if (!handle) continue;
        dlclose(handle);
        return others[i];
    }
    return NULL;
}

/* NULL with a reason if there is none. */
static void *open_library(void)
{
    const char *named = secure_getenv("ECHELON_MPI_ABI");
    const bool is_named = named && *named;
    void *handle = is_named ? dlopen(named, RTLD_NOW) : open_in("", RTLD_NOLOAD);
    const char *other = handle || is_named ? NULL : find_other();
    if (other) {
        snprintf(reason, sizeof reason,
                 "the process has loaded %s, which lacks the standard binary interface; build "
                 "libechelon_mpi.so with its mpicc, or, with mpi4py, use from_mpi4py()",
                 other);
        return NULL;
    }
    if (!handle && !is_named) handle = open_of_launcher();
    if (!handle && !is_named) handle = open_in("", 0);
    if (!handle)
        snprintf(reason, sizeof reason,
                 "there is no MPI library with the standard binary interface: %.120s; set "
                 "ECHELON_MPI_ABI to the path of libmpi_abi.so if your MPI has it",
                 dlerror());
    return handle;
}

/* C has no conversion to a pointer to a function. */
static bool find(void *handle, const char *name, void *function)
{
    void *symbol = dlsym(handle, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static void open_once(void)
{
    int major = -1, minor = -1;
    void *handle = open_library(); /* never closed: MPI cannot be initialised again */
    if (!handle) return;
    is_open = true;
#define FIND(name, parameters) is_open = find(handle, "MPI_" #name, &echi_mpi.name) && is_open;
    ECHI_MPI_FUNCTIONS(FIND)
#undef FIND
    if (is_open) echi_mpi.Abi_get_version(&major, &minor);
    is_open = is_open && major == 1;
    if (!is_open)
        snprintf(reason, sizeof reason,
                 "the MPI library does not have version 1 of the standard binary interface");
}

bool echi_mpi_open(char *message, size_t message_bytes)
{
    pthread_once(&once, open_once);
    if (!is_open) snprintf(message, message_bytes, "%s", reason);
    return is_open;
}
