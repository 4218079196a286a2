/*
 * sparse_direct/library.c - opens the libraries of sparse direct solvers at run time, each once.
 *
 * The environment variable ECHELON_SPARSE_DIRECT names an algorithm, a file, or "none". The library
 * in a file is recognised by its functions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* pthread_once with -std=c11 */
#include "sparse_direct/sparse_direct.h"
#include "core/environment.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#if !defined ECHELON_CUDA && !defined ECHELON_SIMT
static bool take_none(void *handle, const char **why)
{
    (void)handle;
    (void)why;
    return false;
}

/* A build without GPUs knows the name, and why it is not available (choose.c). */
const struct echi_sparse_library echi_sparse_cudss = { .name = "cudss", .take = take_none };
#endif

const struct echi_sparse_library *const echi_sparse_libraries[] = {
    &echi_sparse_cudss,   &echi_sparse_klu,   &echi_sparse_mumps,
    &echi_sparse_superlu, &echi_sparse_dense, NULL
};

enum { LIBRARIES = 5 };

static struct echi_sparse_setting setting;
static char reasons[LIBRARIES][200]; /* "": the library is open */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A handle is never closed: factors in other threads may need it. */
static bool open_file(const struct echi_sparse_library *library, const char *file, char *reason,
                      size_t reason_bytes)
{
    const char *why = "it lacks a function of this library";
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return false;
    if (library->take(handle, &why)) return true;
    snprintf(reason, reason_bytes, "%s cannot be used: %s", file, why);
    dlclose(handle);
    return false;
}

static void open_default(const struct echi_sparse_library *library, char *reason, size_t bytes)
{
    for (int i = 0; library->files && library->files[i]; i++)
        if (open_file(library, library->files[i], reason, bytes)) {
            *reason = '\0';
            return;
        }
    if (library->files && !*reason)
        snprintf(reason, bytes, "%s was not found; install %s", library->files[0],
                 library->packages);
}

/* The library that a file contains. */
static void open_named(const char *file)
{
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *error = dlerror();
        snprintf(setting.reason, sizeof setting.reason, "cannot be opened: %.120s",
                 error ? error : "?");
        return;
    }
    snprintf(setting.reason, sizeof setting.reason,
             "has not all functions that are needed of one of the libraries");
    for (int i = 0; echi_sparse_libraries[i]; i++) {
        const struct echi_sparse_library *library = echi_sparse_libraries[i];
        const char *why = NULL;
        if (!library->take) continue;
        if (library->take(handle, &why)) {
            setting.only = library;
            setting.reason[0] = reasons[i][0] = '\0';
            return; /* the handle is kept */
        }
        if (why) snprintf(setting.reason, sizeof setting.reason, "cannot be used: %s", why);
    }
    dlclose(handle);
}

static void read_setting(void)
{
    setting.text = echi_secure_getenv("ECHELON_SPARSE_DIRECT");
    if (setting.text && !*setting.text) setting.text = NULL;
    if (!setting.text) return;
    setting.none = strcmp(setting.text, "none") == 0;
    for (int i = 0; echi_sparse_libraries[i]; i++)
        if (strcmp(setting.text, echi_sparse_libraries[i]->name) == 0)
            setting.only = echi_sparse_libraries[i];
}

static void look(void)
{
    read_setting();
    const bool file = setting.text && !setting.none && !setting.only;
    for (int i = 0; echi_sparse_libraries[i]; i++) {
        if (setting.none && echi_sparse_libraries[i]->files)
            snprintf(reasons[i], sizeof reasons[i], "ECHELON_SPARSE_DIRECT is \"none\"");
        else if (file && echi_sparse_libraries[i]->files)
            snprintf(reasons[i], sizeof reasons[i], "ECHELON_SPARSE_DIRECT names another library");
        else
            open_default(echi_sparse_libraries[i], reasons[i], sizeof reasons[i]);
    }
    if (file) open_named(setting.text);
}

const char *echi_sparse_open(const struct echi_sparse_library *library)
{
    int i = 0;
    pthread_once(&once, look);
    while (echi_sparse_libraries[i] != library) i++;
    return *reasons[i] ? reasons[i] : NULL;
}

const struct echi_sparse_setting *echi_sparse_setting(void)
{
    pthread_once(&once, look);
    return &setting;
}
