/*
 * simt/client.c - finds the functions of simt.h in the library that stands in for a CUDA driver;
 * for commands and ladders, no part of either library.
 *
 * The library opens it under a name, as a driver; to open the same name again gives the same
 * instance, with the counts of what that one ran.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* RTLD_NOLOAD */
#include "simt/client.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* dlsym() gives an object pointer; C has no conversion to a function pointer, POSIX promises the
 * bits fit. */
static bool find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

bool simt_find_executor(struct executor *executor, char *message, size_t message_bytes)
{
    const char *name = getenv("ECHELON_LIBSIMT");
    if (!name || !*name) name = "libechelon_simt.so";
    void *library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    if (!library) {
        snprintf(message, message_bytes,
                 "there is no executor: %s is not what the library has opened", name);
        return false;
    }
    bool whole = find(library, "simt_set_options", &executor->set_options) &&
                 find(library, "simt_fault_name", &executor->fault_name) &&
                 find(library, "simt_findings", &executor->findings) &&
                 find(library, "simt_profile", &executor->profile) &&
                 find(library, "simt_forget", &executor->forget);
    if (!whole)
        snprintf(message, message_bytes,
                 "the executor in %s is of another version: it counts nothing", name);
    return whole;
}
