/*
 * simt/image_shared.c - an image's shared memory whose size the launch gives.
 *
 * A file of its own, since kernels declare it as an array of whatever type.
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
