/*
 * cpu/vendor.h - a library of somebody else's, opened at run time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CPU_VENDOR_H
#define ECHI_CPU_VENDOR_H

#include <stdbool.h>
#include <stddef.h>

struct echi_vendor {
    char what[160]; /* in texts: its name, and what it says of itself */
    bool fast;      /* it has kernels for this machine, or was asked for by name and may have */
    /* How many threads it uses; both NULL: nobody can tell it. */
    void (*set_threads)(int threads);
    int (*get_threads)(void);
};

/* Opens what the environment variable names, unless that is "none", else the first of count names
 * in which take() finds all functions that it wants.  kind is what to call an unknown one, "a
 * BLAS".  False: there is none. */
bool echi_vendor_open(struct echi_vendor *vendor, const char *variable, const char *const *names,
                      size_t count, const char *kind, bool (*take)(void *library));

/* A function's address into a field of such a type; false: the library has no such function. */
bool echi_vendor_find(void *library, const char *name, void *field);

/* Limits it to so many threads, 0: leaves it alone; and takes that back. */
int echi_vendor_limit(const struct echi_vendor *vendor, int threads);
void echi_vendor_unlimit(const struct echi_vendor *vendor, int before);

#endif
