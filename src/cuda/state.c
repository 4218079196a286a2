/*
 * cuda/state.c - small device memory of a context: words that are zero before and after every
 * kernel, and data errors that kernels report.
 *
 *     [ data error | slot of stream 0 | slot of stream 1 | ... | workspaces of the first streams ]
 *
 * A kernel whose blocks communicate (the last block to finish adds the partial results, a tile
 * looks back at its predecessors) needs counters that start at zero. Clearing them takes another
 * launch, which costs a small call half its time. Instead, each kernel leaves zeros for the next.
 * Kernels of one stream run one after another, so each stream has a slot. If there are more streams
 * than slots, if the memory needed is larger than a slot, or if the stream is being captured (its
 * graph may run concurrently with other work), a part of the workspace is cleared and used instead.
 * After a launch that failed, each slot is cleared before its next use.
 *
 * An allocation costs a call about 2 us of the processor's time, even from a pool.  So small
 * workspaces are in this memory, too.  They are not cleared.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "core/data_error.h"
#include "cuda/cuda.h"

_Static_assert(ECHI_SLOTS <= 32, "slots_to_clear has a bit per slot");

static char *slot_of(const struct echi_cuda *cuda, int i)
{
    return (char *)cuda->state + ECHI_ALIGN + (size_t)i * ECHI_SLOT_BYTES;
}

ech_status echi_cuda_state_open(ech_ctx *ctx)
{
    struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    CUdeviceptr state = 0;
    const size_t bytes = ECHI_ALIGN + (size_t)ECHI_SLOTS * ECHI_SLOT_BYTES;
    CU(cuMemAlloc, &state, bytes + (size_t)ECHI_SCRATCH_SLOTS * ECHI_SCRATCH_BYTES);
    cuda->state = (void *)(uintptr_t)state;
    CU(cuMemsetD8Async, state, 0, bytes, cuda->own_stream);
    CU(cuStreamSynchronize, cuda->own_stream);
done:
    return status;
}

void echi_cuda_state_close(ech_ctx *ctx)
{
    struct echi_cuda *cuda = ctx->state;
    if (cuda->state) cuda->driver->cuMemFree((CUdeviceptr)(uintptr_t)cuda->state);
    cuda->state = NULL;
}

/* The slot of the stream in use; -1: none is left. The handle of a destroyed stream may be reused
 * while its work still runs; its id is not. */
static ech_status find_slot(ech_ctx *ctx, int *slot)
{
    struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    unsigned long long id = 0;
    CU(cuStreamGetId, echi_cuda_stream(ctx), &id);
    for (*slot = 0; *slot < cuda->slots_used; ++*slot)
        if (cuda->slot_stream[*slot] == id) return ECH_OK;
    if (*slot < ECHI_SLOTS)
        cuda->slot_stream[cuda->slots_used++] = id;
    else
        *slot = -1;
done:
    return status;
}

ech_status echi_cuda_zeros(ech_ctx *ctx, void *part, size_t bytes, void **zeros)
{
    struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    int capturing = 0, slot = -1;
    *zeros = part;
    CU(cuStreamIsCapturing, echi_cuda_stream(ctx), &capturing);
    if (!capturing && bytes <= ECHI_SLOT_BYTES) TRY(find_slot(ctx, &slot));
    if (slot >= 0) {
        *zeros = slot_of(cuda, slot);
        if (!(cuda->slots_to_clear >> slot & 1)) return ECH_OK;
        CU(cuMemsetD8Async, (CUdeviceptr)(uintptr_t)*zeros, 0, ECHI_SLOT_BYTES,
           echi_cuda_stream(ctx));
        cuda->slots_to_clear &= ~(1u << slot);
    } else {
        CU(cuMemsetD8Async, (CUdeviceptr)(uintptr_t)part, 0, bytes, echi_cuda_stream(ctx));
    }
done:
    return status;
}

void *echi_cuda_scratch(ech_ctx *ctx, size_t bytes)
{
    const struct echi_cuda *cuda = ctx->state;
    int capturing = 0, slot = -1;
    if (bytes > ECHI_SCRATCH_BYTES) return NULL;
    if (cuda->driver->cuStreamIsCapturing(echi_cuda_stream(ctx), &capturing) != CUDA_SUCCESS ||
        capturing || find_slot(ctx, &slot) != ECH_OK || slot < 0 || slot >= ECHI_SCRATCH_SLOTS)
        return NULL;
    return slot_of(cuda, ECHI_SLOTS) + (size_t)slot * ECHI_SCRATCH_BYTES;
}

/* ---- Data errors ---- */

uint64_t *echi_cuda_error_word(ech_ctx *ctx)
{
    struct echi_cuda *cuda = ctx->state;
    cuda->may_report_error = true;
    return cuda->state;
}

ech_status echi_cuda_poll_error(ech_ctx *ctx)
{
    struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    ech_status status = ECH_OK;
    uint64_t data_error = 0;
    if (!cuda->may_report_error) return ECH_OK;
    TRY(echi_cuda_copy(ctx, &data_error, cuda->state, sizeof data_error));
    if (!data_error) return ECH_OK;
    CU(cuMemsetD8Async, (CUdeviceptr)(uintptr_t)cuda->state, 0, sizeof data_error,
       echi_cuda_stream(ctx));
    CU(cuStreamSynchronize, echi_cuda_stream(ctx));
    status = echi_noted_error(ctx, data_error);
done:
    return status;
}
