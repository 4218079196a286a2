/*
 * cuda/library.h - an additional library of NVIDIA (cuBLAS, cuSOLVER), opened at run time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_LIBRARY_H
#define ECHI_CUDA_LIBRARY_H

#include "cuda/cuda.h"

struct echi_cuda_library {
    const char *stem;     /* "libcublas": its file without a version */
    const char *variable; /* the environment variable that names it */
    const char *what;     /* a call of Echelon that uses it, in messages */
    const char *instead;  /* the algorithm that does not need it */
    int no_memory;        /* its status for out of memory; success is 0 */
    char name[64];        /* "": it is not available */
    char reason[128];     /* the cause, if it is not available */
};

/* Opens the library: the one that the environment variable names ("none": none), otherwise the stem
 * with each of the versions, on the loader's search path and then in CUDA's folder. take() finds
 * the required functions with echi_vendor_find(), or returns false. */
void echi_cuda_library_open(struct echi_cuda_library *library, const char *const *versions,
                            size_t count, bool (*take)(void *handle));

/* Converts the result of a call to a status. */
ech_status echi_cuda_library_check(ech_ctx *ctx, const struct echi_cuda_library *library,
                                   int result, const char *call);

/* Creates a handle by `create` if *handle is NULL. This allocates memory, which is not possible
 * while a stream is captured. */
ech_status echi_cuda_library_start(ech_ctx *ctx, const struct echi_cuda_library *library,
                                   void **handle, int (*create)(void **handle), const char *call);

#endif
