/*
 * cpu/vendor.c - opens a vendor's library, and decides whether it is fast enough to be used.
 *
 * Some libraries are slow: the reference implementation multiplies one number at a time, and
 * OpenBLAS uses outdated kernels on a virtual machine that presents a processor it does not know.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/vendor.h"
#include "core/environment.h"
#include "cpu/cpu.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* dlsym() returns an object pointer; POSIX guarantees that it can hold a function pointer. */
bool echi_vendor_find(void *library, const char *name, void *field)
{
    void *symbol = dlsym(library, name);
    if (symbol) memcpy(field, &symbol, sizeof symbol);
    return symbol != NULL;
}

/* OpenBLAS's kernels that do not use the vector instructions of this machine. */
static bool is_old(const char *core)
{
    static const char *const old[] = { "Prescott",  "Core2",   "Katmai",     "Coppermine",
                                       "Northwood", "Banias",  "Atom",       "Athlon",
                                       "Opteron",   "Penryn",  "Dunnington", "Nehalem",
                                       "Barcelona", "Bobcat",  "Nano",       "Opteron_SSE3",
                                       "Generic",   "generic", "Unknown" };
    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        if (strcmp(core, old[i]) == 0) return true;
    return false;
}

static void inspect_openblas(struct echi_vendor *vendor, void *library, const char *name)
{
    const char *(*corename)(void) = NULL;
    const char *core = "";
    if (!echi_vendor_find(library, "openblas_set_num_threads", &vendor->set_threads) ||
        !echi_vendor_find(library, "openblas_get_num_threads", &vendor->get_threads))
        vendor->set_threads = NULL;
    if (echi_vendor_find(library, "openblas_get_corename", &corename)) core = corename();
    vendor->fast = !(is_old(core) && echi_cpu_isa() != ECHI_PORTABLE);
    if (vendor->fast)
        snprintf(vendor->what, sizeof vendor->what, "OpenBLAS, kernels for %s (%s)", core, name);
    else
        snprintf(vendor->what, sizeof vendor->what,
                 "OpenBLAS (%s), which uses kernels for %s: OPENBLAS_CORETYPE selects "
                 "another",
                 name, core);
}

/* MKL and BLIS select suitable kernels themselves. */
static void inspect(struct echi_vendor *vendor, void *library, const char *name, bool named,
                    const char *kind)
{
    *vendor = (struct echi_vendor){ .fast = false };
    if (dlsym(library, "openblas_get_config")) {
        inspect_openblas(vendor, library, name);
        return;
    }
    if (!echi_vendor_find(library, "MKL_Set_Num_Threads_Local", &vendor->set_own_threads))
        vendor->set_own_threads = NULL;
    const char *known = dlsym(library, "MKL_Get_Max_Threads") ? "MKL"
                        : dlsym(library, "bli_init")          ? "BLIS"
                                                              : NULL;
    vendor->fast = known || named;
    snprintf(vendor->what, sizeof vendor->what, "%s (%s)%s", known ? known : kind, name,
             vendor->fast ? "" : ", which may be the reference implementation");
}

bool echi_vendor_open(struct echi_vendor *vendor, const char *variable, const char *const *names,
                      size_t count, const char *kind, bool (*take)(void *library))
{
    const char *named = echi_secure_getenv(variable);
    if (named && !*named) named = NULL;
    if (named && strcmp(named, "none") == 0) return false;
    for (size_t i = 0; i < (named ? 1 : count); i++) {
        const char *name = named ? named : names[i];
        void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL); /* never closed: it may have threads */
        if (!library) continue;
        if (take(library)) {
            inspect(vendor, library, name, named != NULL, kind);
            return true;
        }
        dlclose(library);
    }
    return false;
}

/* OpenBLAS has one number of threads for the process. Calls with the same limit share it; calls
 * with another limit wait until the old number is restored. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int users, limit, before;

int echi_vendor_limit(const struct echi_vendor *vendor, int threads)
{
    if (!threads) return 0;
    if (vendor->set_own_threads) return vendor->set_own_threads(threads);
    if (!vendor->set_threads) return 0;
    pthread_mutex_lock(&lock);
    while (users && limit != threads) pthread_cond_wait(&changed, &lock);
    if (!users++) {
        before = vendor->get_threads();
        limit = threads;
        vendor->set_threads(threads);
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

void echi_vendor_unlimit(const struct echi_vendor *vendor, int threads, int own)
{
    if (!threads) return;
    if (vendor->set_own_threads) {
        vendor->set_own_threads(own);
        return;
    }
    if (!vendor->set_threads) return;
    pthread_mutex_lock(&lock);
    if (!--users) {
        vendor->set_threads(before);
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
}
