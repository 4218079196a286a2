/*
 * executor.c - finds the functions of simt/simt.h in the library that stands in for a CUDA driver.
 *
 * The library opens it under a name, as a driver; to open the same name again gives the same
 * instance, with the counts of what that one ran.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* RTLD_NOLOAD */
#include "executor.h"
#include "cli.h"

#include <dlfcn.h>
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

int cli_find_executor(struct executor *executor)
{
    const char *name = getenv("ECHELON_LIBSIMT");
    if (!name || !*name) name = "libechelon_simt.so";
    void *library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    if (!library)
        return cli_fail(EXIT_DEVICE, "there is no executor: %s is not what the library has opened",
                        name);
    bool whole = find(library, "simt_set_options", &executor->set_options) &&
                 find(library, "simt_fault_name", &executor->fault_name) &&
                 find(library, "simt_findings", &executor->findings) &&
                 find(library, "simt_profile", &executor->profile) &&
                 find(library, "simt_forget", &executor->forget);
    if (!whole)
        return cli_fail(EXIT_DEVICE, "the executor in %s is of another version: it counts nothing",
                        name);
    return EXIT_DONE;
}
