/*
 * simt/image_shared.c - a module's dynamic shared memory, whose size is given at launch.
 *
 * In a separate file, because kernels declare it as an array of various types.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simt/runtime.h"

#define HIDDEN __attribute__((visibility("hidden")))

extern HIDDEN _Thread_local unsigned char shared_bytes[SIMT_MOST_SHARED_BYTES];
HIDDEN void *simt_shared(void);

_Thread_local unsigned char shared_bytes[SIMT_MOST_SHARED_BYTES] __attribute__((aligned(1024)));

void *simt_shared(void)
{
    return shared_bytes;
}
