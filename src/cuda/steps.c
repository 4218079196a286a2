/*
 * cuda/steps.c - enqueues the steps of a plan on the context's stream.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda/steps.h"

#include <string.h>

struct echi_gpu echi_gpu_of(ech_ctx *ctx)
{
    struct echi_gpu nominal = { NULL, 132, 90, 90, 227 << 10, 50 << 20 };
    if (!ctx) return nominal;
    const struct echi_cuda *cuda = ctx->state;
    return (struct echi_gpu){ ctx,
                              cuda->multiprocessors,
                              cuda->gpu_architecture,
                              cuda->architecture,
                              cuda->shared_bytes,
                              cuda->l2_bytes };
}

bool echi_gpu_has(const struct echi_gpu *gpu, const char *module, const char *kernel)
{
    return !gpu->ctx || echi_cuda_has(gpu->ctx, module, kernel);
}

ech_status echi_gpu_compiled_for(const struct echi_gpu *gpu, const char *module, const char *kernel,
                                 int *architecture)
{
    *architecture = gpu->architecture;
    return gpu->ctx ? echi_cuda_compiled_for(gpu->ctx, module, kernel, architecture) : ECH_OK;
}

unsigned echi_gpu_blocks(const struct echi_gpu *gpu, uint64_t n, uint64_t each, unsigned most)
{
    return echi_cuda_least((n + each - 1) / each + (n == 0),
                           (uint64_t)most * (uint64_t)gpu->multiprocessors);
}

unsigned echi_gpu_resident(const struct echi_gpu *gpu, unsigned blocks, unsigned threads,
                           unsigned shared_bytes)
{
    unsigned by_threads = (gpu->gpu_architecture < 80 ? 1024u : 1536u) / threads;
    unsigned by_shared = (gpu->shared_bytes + ECHI_BLOCK_RESERVED_BYTES) /
                         (shared_bytes + ECHI_BLOCK_RESERVED_BYTES);
    unsigned least = by_threads < by_shared ? by_threads : by_shared;
    return blocks < least ? blocks : least;
}

static ech_status launch(ech_ctx *ctx, const struct echi_step *s, unsigned blocks, const void *args)
{
    if (s->kind == ECHI_LAUNCH_PDL)
        return echi_cuda_launch_pdl(ctx, s->module, s->name, blocks, s->threads, s->shared_bytes,
                                    args);
    if (s->kind == ECHI_LAUNCH_COOPERATIVE)
        return echi_cuda_launch_cooperative(ctx, s->module, s->name, blocks, s->threads,
                                            s->shared_bytes, args);
    return echi_cuda_launch(ctx, s->module, s->name, blocks, s->threads, s->shared_bytes, args);
}

static CUdeviceptr address(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

static ech_status launch_parts(ech_ctx *ctx, struct echi_step s, void *args,
                               void (*set)(void *args, struct echi_step *step, uint64_t part))
{
    const uint64_t parts = s.parts ? s.parts : 1;
    ech_status status = ECH_OK;
    if (s.shared_percent) TRY(echi_cuda_prefer_cache(ctx, s.module, s.name, s.shared_percent));
    for (uint64_t part = 0; part < parts; part++) {
        if (set) set(args, &s, part);
        TRY(launch(ctx, &s, parts > 1 && part == parts - 1 ? s.last_blocks : s.blocks,
                   s.args ? s.args : args));
    }
done:
    return status;
}

static ech_status enqueue(ech_ctx *ctx, const struct echi_step *s, void *args,
                          void (*set)(void *args, struct echi_step *step, uint64_t part))
{
    const struct echi_driver *driver = ((const struct echi_cuda *)ctx->state)->driver;
    ech_status status = ECH_OK;
    void *zeros = NULL;
    switch (s->kind) {
    case ECHI_CLEAR:
        CU(cuMemsetD8Async, address(s->to), 0, s->bytes, echi_cuda_stream(ctx));
        break;
    case ECHI_ZEROS:
        TRY(echi_cuda_zeros(ctx, s->to, s->bytes, &zeros));
        memcpy(s->slot, &zeros, sizeof zeros);
        break;
    case ECHI_COPY:
        CU(cuMemcpyAsync, address(s->to), address(s->from), s->bytes, echi_cuda_stream(ctx));
        break;
    case ECHI_CALL:
        TRY(s->call(ctx, s->user));
        break;
    case ECHI_LAUNCH:
    case ECHI_LAUNCH_PDL:
    case ECHI_LAUNCH_COOPERATIVE:
        TRY(launch_parts(ctx, *s, args, set));
        break;
    }
done:
    return status;
}

ech_status echi_cuda_enqueue(ech_ctx *ctx, const struct echi_steps *steps, void *args,
                             void (*set)(void *args, struct echi_step *step, uint64_t part))
{
    ech_status status = ECH_OK;
    if (steps->count > ECHI_STEPS)
        FAIL(ctx, ECH_ERR_UNSUPPORTED, "a plan has %d steps, but at most %d are supported",
             steps->count, ECHI_STEPS);
    for (int i = 0; i < steps->count; i++) TRY(enqueue(ctx, &steps->step[i], args, set));
done:
    return status;
}
