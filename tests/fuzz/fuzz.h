/*
 * fuzz.h - the interface of the fuzz targets, and a check that aborts the program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_FUZZ_H
#define ECHELON_FUZZ_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t n);

#define FUZZ_CHECK(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #condition);          \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
