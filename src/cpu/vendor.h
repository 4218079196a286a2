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
    /* The number of threads that it uses in this process; both NULL: it cannot be set. */
    void (*set_threads)(int threads);
    int (*get_threads)(void);
    /* Sets the number for calls of this thread and returns the previous one; may be NULL. */
    int (*set_own_threads)(int threads);
};

/* Opens the library that the environment variable names, unless that is "none", or by default the
 * first of count names in which take() finds all functions that it needs. kind describes an unknown
 * library, "a BLAS". False: none was found. */
bool echi_vendor_open(struct echi_vendor *vendor, const char *variable, const char *const *names,
                      size_t count, const char *kind, bool (*take)(void *library));

/* Stores a function's address in a field of that type; false: the library has no such function. */
bool echi_vendor_find(void *library, const char *name, void *field);

/* Limits calls of this thread to so many threads (0: unchanged) until echi_vendor_unlimit(), which
 * needs the result of echi_vendor_limit(). If the library has only a number for the process, calls
 * with different limits wait for each other. */
int echi_vendor_limit(const struct echi_vendor *vendor, int threads);
void echi_vendor_unlimit(const struct echi_vendor *vendor, int threads, int own);

#endif
