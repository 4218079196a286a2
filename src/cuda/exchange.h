/*
 * cuda/exchange.h - copies between host and device memory, and what is done with it there, step
 * after step.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_EXCHANGE_H
#define ECHI_EXCHANGE_H

#include "cuda/cuda.h"

/* Up: from host to device memory; down: the other way. */
struct echi_move {
    void *host, *device;
    size_t bytes;
    bool pinned; /* the host memory is */
};

/* Step t copies up, works, and copies down.  It begins when the copies down of step t - buffers are
 * done, whose device memory it has; what is apart from that goes on at once.  The functions are
 * called in the calling thread, each of them step after step; NULL: there is nothing to do.
 *
 * up and down give the moves of a step, and how many they are; they may be changed, and hold until
 * the step after the next is asked for.  Moves up that follow on each other in device memory are
 * copied as one. */
struct echi_exchange {
    size_t steps, buffers; /* buffers is at most ECHI_LINK_BUFFERS */
    size_t pageable_bytes; /* what all steps copy of host memory that is not pinned */
    CUstream up_stream, down_stream;
    int (*up)(void *user, size_t step, struct echi_move **moves);
    int (*down)(void *user, size_t step, struct echi_move **moves);
    ech_status (*work)(ech_ctx *ctx, void *user, size_t step); /* queued on the context's stream */
    void *user;
};

/* When it returns, what went down is there, and host memory that is not pinned may be changed;
 * pinned memory may when the streams are done.  After a failure they are. */
ech_status echi_cuda_exchange(ech_ctx *ctx, const struct echi_exchange *x);

/* One copy in the order of the context's stream. */
ech_status echi_cuda_move(ech_ctx *ctx, const struct echi_move *move, bool up);

#endif
