/*
 * cuda/library.h - a library of NVIDIA's beside the driver (cuBLAS, cuSOLVER), opened at run time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_LIBRARY_H
#define ECHI_CUDA_LIBRARY_H

#include "cuda/cuda.h"

struct echi_cuda_library {
    const char *stem;     /* "libcublas": its file without a version */
    const char *variable; /* of the environment, that names it */
    const char *what;     /* a call of ours that takes it, in messages */
    const char *instead;  /* the algorithm that does without */
    int no_memory;        /* its status for that; success is 0 */
    char name[64];        /* "": there is none, */
    char reason[128];     /* ... and why */
};

/* Looks for it: what the environment names ("none": none), else the stem with each of the versions,
 * where the system's loader looks and then where CUDA is installed.  take() finds the functions
 * that are needed, with echi_vendor_find(), or says that they are not all there. */
void echi_cuda_library_open(struct echi_cuda_library *library, const char *const *versions,
                            size_t count, bool (*take)(void *handle));

/* The result of a call as a status. */
ech_status echi_cuda_library_check(ech_ctx *ctx, const struct echi_cuda_library *library,
                                   int result, const char *call);

/* A handle is made by `create` where *handle is NULL: that makes memory of its own, which a stream
 * that is captured must not. */
ech_status echi_cuda_library_start(ech_ctx *ctx, const struct echi_cuda_library *library,
                                   void **handle, int (*create)(void **handle), const char *call);

#endif
