/*
 * cpu/vendor.h - a vendor's library, opened at run time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CPU_VENDOR_H
#define ECHI_CPU_VENDOR_H

#include <stdbool.h>
#include <stddef.h>

struct echi_vendor {
    char what[160]; /* for messages: its name, and the kernels it reports to use */
    bool fast; /* it has kernels for this machine, or it was selected by name and may have them */
    /* The number of threads it uses; both NULL: it cannot be set. */
    void (*set_threads)(int threads);
    int (*get_threads)(void);
};

/* Opens the library that the environment variable names, unless that is "none", or by default the
 * first of count names in which take() finds all functions that it needs. kind describes an unknown
 * library, "a BLAS". False: none was found. */
bool echi_vendor_open(struct echi_vendor *vendor, const char *variable, const char *const *names,
                      size_t count, const char *kind, bool (*take)(void *library));

/* Stores a function's address in a field of that type; false: the library has no such function. */
bool echi_vendor_find(void *library, const char *name, void *field);

/* Limits the library to this many threads (0: unchanged); and restores the previous number. */
int echi_vendor_limit(const struct echi_vendor *vendor, int threads);
void echi_vendor_unlimit(const struct echi_vendor *vendor, int before);

#endif
