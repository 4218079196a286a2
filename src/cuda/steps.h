/*
 * cuda/steps.h - a plan's steps on the GPU, and the properties of the GPU that they depend on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_STEPS_H
#define ECHI_CUDA_STEPS_H

#include "core/plan.h"
#include "cuda/cuda.h"

/* What a plan has to know of a GPU. */
struct echi_gpu {
    ech_ctx *ctx; /* NULL: a nominal GPU, for explanations: an H200 */
    int multiprocessors;
    int gpu_architecture;  /* 90 for sm_90 */
    int architecture;      /* that the kernels' code is for: it may be older than the GPU's */
    unsigned shared_bytes; /* that a block may ask for */
};

/* The GPU of a context, or with ctx NULL the nominal one. */
struct echi_gpu echi_gpu_of(ech_ctx *ctx);

/* Whether a module has a kernel, in the code that the GPU takes from it.  The nominal GPU has all.
 */
bool echi_gpu_has(const struct echi_gpu *gpu, const char *module, const char *kernel);

/* The architecture that a kernel's code is for (echi_cuda_compiled_for()). */
ech_status echi_gpu_compiled_for(const struct echi_gpu *gpu, const char *module, const char *kernel,
                                 int *architecture);

/* Shared memory of a multiprocessor that each block takes beside what it asks for. */
enum { ECHI_BLOCK_RESERVED_BYTES = 1024 };

/* How many of the blocks that a kernel's registers admit a multiprocessor holds, by its threads and
 * its shared memory. */
unsigned echi_gpu_resident(const struct echi_gpu *gpu, unsigned blocks, unsigned threads,
                           unsigned shared_bytes);

/* Enqueues the steps on the context's stream.  args is the argument of all kernels whose step has
 * none of its own, or a struct that begins with it.  set(args, step, part), which may be NULL, is
 * called before each launch; what it changes of the step holds for that launch and later parts. */
ech_status echi_cuda_enqueue(ech_ctx *ctx, const struct echi_steps *steps, void *args,
                             void (*set)(void *args, struct echi_step *step, uint64_t part));

#endif
