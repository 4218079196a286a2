/*
 * cuda/steps.h - the execution of a plan's steps, and the properties of the GPU that plans depend
 * on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_STEPS_H
#define ECHI_CUDA_STEPS_H

#include "core/plan.h"
#include "cuda/cuda.h"

/* The properties of a GPU that a plan depends on. */
struct echi_gpu {
    ech_ctx *ctx; /* NULL: a nominal GPU, for explanations: an H200 */
    int multiprocessors;
    int gpu_architecture;  /* 90 for sm_90 */
    int architecture;      /* of the kernels' code: may be older than the GPU's */
    unsigned shared_bytes; /* maximum per block */
    unsigned l2_bytes;
};

/* The GPU of a context, or the nominal one if ctx is NULL. */
struct echi_gpu echi_gpu_of(ech_ctx *ctx);

/* The number of blocks that process n elements, `each` per block: at least 1, and at most `most`
 * per multiprocessor. */
unsigned echi_gpu_blocks(const struct echi_gpu *gpu, uint64_t n, uint64_t each, unsigned most);

/* Whether a module has a kernel, in the code that the GPU takes from it.  The nominal GPU has all.
 */
bool echi_gpu_has(const struct echi_gpu *gpu, const char *module, const char *kernel);

/* The architecture of a kernel's code (echi_cuda_compiled_for()). */
ech_status echi_gpu_compiled_for(const struct echi_gpu *gpu, const char *module, const char *kernel,
                                 int *architecture);

/* Shared memory that the system reserves per block. */
enum { ECHI_BLOCK_RESERVED_BYTES = 1024 };

/* How many of the blocks that a kernel's registers permit fit on a multiprocessor, given its
 * threads and its shared memory. */
unsigned echi_gpu_resident(const struct echi_gpu *gpu, unsigned blocks, unsigned threads,
                           unsigned shared_bytes);

/* Enqueues the steps on the context's stream. args is the argument of all kernels whose step has
 * none of its own, or a struct that begins with it. set(args, step, part), which may be NULL, is
 * called before each launch; its changes to the step apply to that launch and to later parts. */
ech_status echi_cuda_enqueue(ech_ctx *ctx, const struct echi_steps *steps, void *args,
                             void (*set)(void *args, struct echi_step *step, uint64_t part));

#endif
