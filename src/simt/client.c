/*
 * simt/client.c - finds the functions of simt.h in the SIMT emulator that the library has opened;
 * for commands and ladders, part of neither library.
 *
 * The library opens the emulator by a name, like a driver. Opening the same name again returns the
 * same instance, with the counts of its launches.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* RTLD_NOLOAD */
#include "simt/client.h"
#include "core/environment.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* dlsym() returns an object pointer; POSIX guarantees that it can hold a function pointer, although
 * C has no conversion. */
static bool find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

bool simt_find_emulator(struct emulator *emulator, char *message, size_t message_bytes)
{
    const char *name = echi_secure_getenv("ECHELON_LIBSIMT");
    if (!name || !*name) name = "libechelon_simt.so";
    void *library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    if (!library) {
        snprintf(message, message_bytes, "there is no SIMT emulator: the library has not opened %s",
                 name);
        return false;
    }
    bool whole = find(library, "simt_set_options", &emulator->set_options) &&
                 find(library, "simt_fault_name", &emulator->fault_name) &&
                 find(library, "simt_findings", &emulator->findings) &&
                 find(library, "simt_profile", &emulator->profile) &&
                 find(library, "simt_forget", &emulator->forget) &&
                 find(library, "simt_record", &emulator->record) &&
                 find(library, "simt_recorded", &emulator->recorded);
    if (!whole)
        snprintf(message, message_bytes,
                 "the SIMT emulator in %s has another version, without these functions", name);
    return whole;
}
