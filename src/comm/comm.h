/*
 * comm/comm.h - a communicator inside the library: checked collective steps with a time limit.
 *
 *     echi_comm_begin()     every public call: compares the calls of all ranks, gathers their sizes
 *     echi_comm_agree()     between steps: one status for all ranks, and a few bytes of each
 *     echi_comm_allgather()  |
 *     echi_comm_exchange()   | data
 *
 * A step that fails because of another rank marks the communicator as failed, so that no later call
 * waits.  A step that fails only on this rank is passed to the next echi_comm_agree(), so that all
 * ranks return the same status and the communicator remains usable.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_COMM_COMM_H
#define ECHI_COMM_COMM_H

#include "core/backend.h"

enum {
    ECHI_COMM_OPTIONS = 12, /* maximum number of options that a call compares */
    ECHI_COMM_TEXT = 240,   /* of the message of another rank */
    ECHI_COMM_NOTE = 256    /* bytes that echi_comm_agree() gathers of each rank */
};

/* What a rank calls.  Every field except n, n_out, room and the status must be the same on all
 * ranks. */
struct echi_comm_call {
    char name[32];    /* of the public function */
    uint64_t version; /* of the library */
    uint64_t sequence;
    uint64_t option[ECHI_COMM_OPTIONS];
    uint64_t n, n_out; /* of this rank */
    uint64_t room;     /* a limit of this rank, for the operation */
    int64_t status;    /* of the checks on this rank, with their message */
    char text[ECHI_COMM_TEXT];
};

/* A status and a note, which is any ECHI_COMM_NOTE bytes. */
struct echi_comm_note {
    int64_t status;
    char text[ECHI_COMM_TEXT];
    char note[ECHI_COMM_NOTE];
};

struct ech_comm {
    ech_comm_table table;
    double limit_s;
    uint64_t sequence;            /* number of calls so far */
    bool failed;                  /* a step failed, for this reason */
    char reason[ECHI_COMM_TEXT];  /* without the name of the call */
    struct echi_comm_call *calls; /* [ranks], of the call that began last */
    struct echi_comm_note *notes; /* [ranks], of the last agreement */
    void *library;                /* from dlopen(); NULL: none */
    void *tables; /* memory that calls reuse: new memory costs a page fault per 4 KiB */
    size_t tables_bytes;
};

/* Reads and checks options. */
ech_status echi_comm_limit(const ech_comm_options *options, double *limit_s);

/*
 * Begins a public call.  call->name, option, n, n_out are set; mine is the status of the checks on
 * this rank, whose message is in ctx.  names[i] describes option i in messages, such as
 * "options->descending"; NULL ends the list.  An option whose name is "dtype" or "index_dtype" is
 * printed as a type.  On success comm->calls has the sizes of all ranks.
 */
ech_status echi_comm_begin_all(ech_ctx *ctx, ech_comm *comm, struct echi_comm_call *call,
                               const char *const *names, ech_status mine);
static inline ech_status echi_comm_begin(ech_ctx *ctx, ech_comm *comm, struct echi_comm_call *call,
                                         const char *const *names, ech_status mine)
{
    const ech_status all = echi_comm_begin_all(ctx, comm, call, names, mine);
    return all == ECH_OK ? mine : all; /* mine, to show that success includes this rank */
}

/* Gathers a status and `bytes` bytes of each rank, at most ECHI_COMM_NOTE: comm->notes has them.
 * Returns the status of the lowest rank that failed. */
ech_status echi_comm_agree_all(ech_ctx *ctx, ech_comm *comm, ech_status mine, const void *note,
                               size_t bytes);
static inline ech_status echi_comm_agree(ech_ctx *ctx, ech_comm *comm, ech_status mine,
                                         const void *note, size_t bytes)
{
    const ech_status all = echi_comm_agree_all(ctx, comm, mine, note, bytes);
    return all == ECH_OK ? mine : all;
}

/* Gathers `bytes` bytes of host memory of each rank. */
ech_status echi_comm_allgather(ech_ctx *ctx, ech_comm *comm, const void *in, void *out,
                               uint64_t bytes);

/* Agrees on the status, and adds [n] host counters of all ranks, in place. */
ech_status echi_comm_sum_all(ech_ctx *ctx, ech_comm *comm, ech_status mine, uint64_t *counts,
                             size_t n);
static inline ech_status echi_comm_sum(ech_ctx *ctx, ech_comm *comm, ech_status mine,
                                       uint64_t *counts, size_t n)
{
    const ech_status all = echi_comm_sum_all(ctx, comm, mine, counts, n);
    return all == ECH_OK ? mine : all;
}

/* Exchanges messages in host memory, or in memory of ctx.  The ranks agree on the status of the
 * staging of messages, if the communicator needs it. */
ech_status echi_comm_exchange(ech_ctx *ctx, ech_comm *comm, const ech_comm_message *sends,
                              size_t n_sends, const ech_comm_message *receives, size_t n_receives);

/* The same for messages that are in memory of the device on all ranks: no agreement with NCCL. */
ech_status echi_comm_exchange_device(ech_ctx *ctx, ech_comm *comm, const ech_comm_message *sends,
                                     size_t n_sends, const ech_comm_message *receives,
                                     size_t n_receives);

/* Whether exchanges can be queued: echi_comm_queue(). */
bool echi_comm_queues(const ech_comm *comm);

/* Queues an exchange of messages in memory of ctx, in lane 0 of echi_backend.copy_beside(): it
 * overlaps with the work of the stream. */
ech_status echi_comm_queue(ech_ctx *ctx, ech_comm *comm, const ech_comm_message *sends,
                           size_t n_sends, const ech_comm_message *receives, size_t n_receives);

/* Waits for the stream, and for what it waits for; fails if another rank has failed. */
ech_status echi_comm_finish(ech_ctx *ctx, ech_comm *comm);

/* Whether the ranks are threads of this process that can read each other's memory. */
bool echi_comm_direct(const ech_comm *comm);

/* The context whose stream the exchanges of such a communicator wait for; NULL: none, or it is
 * another kind of communicator. */
ech_ctx *echi_threads_ctx(const ech_comm *comm);
ech_ctx *echi_nccl_ctx(const ech_comm *comm);

/* nccl.c: the same for the state of its table. */
bool echi_nccl_is(const ech_comm *comm);
ech_status echi_nccl_queue(void *state, const ech_comm_message *sends, size_t n_sends,
                           const ech_comm_message *receives, size_t n_receives, double limit_s);
ech_status echi_nccl_finish(void *state, double limit_s);

/* Allocates what the next exchange needs for messages in host memory, so that the ranks can agree
 * on the status before it; the message is in the context of the communicator.  Without the
 * exchange, echi_nccl_unstage() releases it. */
ech_status echi_nccl_stage(void *state, const ech_comm_message *sends, size_t n_sends,
                           const ech_comm_message *receives, size_t n_receives);
void echi_nccl_unstage(void *state);

/* The monotonic clock, in seconds: only for time limits. */
double echi_comm_now(void);

#endif
