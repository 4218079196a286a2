/*
 * cuda/exchange.h - copies between host and device memory, with work on the device in between, in
 * steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_EXCHANGE_H
#define ECHI_EXCHANGE_H

#include "cuda/cuda.h"

/* Up: from host to device memory; down: from device to host memory. */
struct echi_move {
    void *host, *device;
    size_t bytes;
    bool pinned; /* of the host memory */
};

/* Step t copies up, works, and copies down.  It begins when the copies down of step t - buffers,
 * which used the same device memory, are complete; other work overlaps.  The functions are called
 * in the calling thread, each of them for one step after another; NULL: there is nothing to do.
 *
 * up and down return the moves of a step and their number.  The moves may be modified, and must
 * stay valid until the step after the next is requested.  Moves up that are adjacent in device
 * memory are copied as one. */
struct echi_exchange {
    size_t steps, buffers; /* buffers is at most ECHI_LINK_BUFFERS */
    size_t pageable_bytes; /* host memory that all steps copy and that is not pinned */
    CUstream up_stream, down_stream;
    int (*up)(void *user, size_t step, struct echi_move **moves);
    int (*down)(void *user, size_t step, struct echi_move **moves);
    ech_status (*work)(ech_ctx *ctx, void *user, size_t step); /* queued on the context's stream */
    void *user;
};

/* When it returns, all results are in host memory, and host memory that is not pinned may be
 * changed; pinned memory may be changed when the streams are done. After a failure they are
 * done. */
ech_status echi_cuda_exchange(ech_ctx *ctx, const struct echi_exchange *x);

/* One copy, in stream order of the context's stream. */
ech_status echi_cuda_move(ech_ctx *ctx, const struct echi_move *move, bool up);

#endif
