/*
 * core/environment.h - environment variables that name code to load, or files with code.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CORE_ENVIRONMENT_H
#define ECHI_CORE_ENVIRONMENT_H

#include <stdlib.h>
#include <sys/auxv.h>

/* getenv(), but NULL in a process with more privileges than its caller, such as a setuid
 * program. */
static inline const char *echi_secure_getenv(const char *name)
{
    return getauxval(AT_SECURE) ? NULL : getenv(name);
}

#endif
