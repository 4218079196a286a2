/*
 * echelon/comm.h - communicators: how the ranks of a distributed operation (echelon/dist.h)
 * exchange data.
 *
 * Stability: not yet stable.  Until version 1.0 a minor version may change it (docs/releases.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_COMM_H
#define ECHELON_COMM_H

#include <echelon/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A communicator connects a fixed number of ranks.  A rank is one thread with its own context: one
 * per GPU, per process, or per part of a machine.  Every rank has its own ech_comm.
 *
 *   - Collective.  A call that takes an ech_comm is collective, unless its comment states
 *                  otherwise: every rank must make the same calls in the same order.  Each call
 *                  compares its name, number, types and options on all ranks.  If they differ, it
 *                  fails with ECH_ERR_ARG on every rank, and the message names the rank and the
 *                  difference.
 *   - Errors.      If a call fails on one rank, for example with ECH_ERR_MEMORY, it fails with the
 *                  same status on every rank, and the message names the rank.  The communicator can
 *                  then still be used.
 *   - Time limit.  If a rank ends, is killed or does not answer within the time limit, the call
 *                  fails with ECH_ERR_COMM on every other rank.  Later calls with this communicator
 *                  then fail with ECH_ERR_COMM at once.
 *   - Threads.     One thread at a time may use an ech_comm.  Different communicators are
 *                  independent, and may connect the same ranks.
 *
 * Functions without a context leave their message in ech_error(NULL).
 */
typedef struct ech_comm ech_comm;

/* Options of a communicator.  Zero is the default of every field except size. */
typedef struct ech_comm_options {
    size_t size;         /* sizeof(ech_comm_options) */
    double time_limit_s; /* how many seconds a rank waits for the others in one step of a call,
                            including their computation since the last step; 0: 300 */
} ech_comm_options;

/* ---- Constructors ---------------------------------------------------------------------------- */

/*
 * ech_comm_open() opens the communicator that a library provides.
 *
 *   comm     [1] receives the communicator; NULL on failure.  The caller must pass it to
 *            ech_comm_close()
 *   library  the file name of a shared library that exports ech_comm_library() (see below), such as
 *            "libechelon_mpi.so" for the ranks of MPI_COMM_WORLD; NULL: the one that the
 *            environment variable ECHELON_COMM names, or a communicator of one rank if it is
 *            not set
 *   options  NULL for the defaults
 *
 * Fails with ECH_ERR_UNSUPPORTED if the library cannot be opened or does not export the function.
 */
ECH_API ech_status ech_comm_open(ech_comm **comm, const char *library,
                                 const ech_comm_options *options);

/*
 * ech_comm_threads() makes the communicators of several threads of this process.  One thread calls
 * it, without the others.
 *
 *   comms     [ranks] receives the communicators; comms[r] is for the thread that is rank r
 *   contexts  NULL: all arrays are in host memory.  Otherwise [ranks]: the context of each rank.
 *             Arrays may then be in memory of their GPUs, which may be different GPUs of this
 *             machine: the receiving rank copies directly from the memory of the sending rank.
 *             This may be memory of cuMemAlloc() or of a pool (cuMemAllocAsync()), which then
 *             permits the other GPUs to read it; memory that the caller maps (cuMemMap()) must
 *             permit this itself.  Each context must live until its communicator is closed
 *   ranks     at least 1
 */
ECH_API ech_status ech_comm_threads(ech_comm **comms, ech_ctx *const *contexts, int ranks,
                                    const ech_comm_options *options);

/*
 * ech_comm_nccl() makes a communicator from an existing communicator of NCCL.
 *
 *   comm       [1] receives the communicator
 *   ctx        the context of the GPU of nccl_comm; it must live until the communicator is closed,
 *              which holds about 1 MiB of its memory for gathers
 *   nccl_comm  an ncclComm_t, owned by the caller.  If a rank fails or the time limit is exceeded,
 *              it is aborted by ncclCommAbort(), and must then not be used
 *
 * ech_comm_nccl_over() makes a new communicator of NCCL with the ranks of another communicator,
 * which is used for small messages in host memory.  `over` must live as long as comm.
 *
 * NCCL is opened at run time: libnccl.so.2 of the system, or the file that the environment variable
 * ECHELON_NCCL names.  Both calls fail with ECH_ERR_UNSUPPORTED if it is missing, or if ctx is a
 * context of the CPU.
 */
ECH_API ech_status ech_comm_nccl(ech_comm **comm, ech_ctx *ctx, void *nccl_comm,
                                 const ech_comm_options *options);
ECH_API ech_status ech_comm_nccl_over(ech_comm **comm, ech_ctx *ctx, ech_comm *over,
                                      const ech_comm_options *options);

/* ---- A communicator of the caller ------------------------------------------------------------ */

/* One message of an exchange. */
typedef struct ech_comm_message {
    void *data;     /* what is sent, which is not modified, or where it is received */
    uint64_t bytes; /* the same on both ranks; may exceed 2^32 */
    int64_t rank;   /* the other rank, which may be this one */
} ech_comm_message;

/*
 * The functions of a communicator.  Each returns ECH_OK or an error, whose text poll() then
 * reports.  A call waits for other ranks for at most limit_s seconds, and then fails with
 * ECH_ERR_COMM.
 *
 *   allgather  gathers `bytes` bytes of host memory of each rank: out is [ranks][bytes]
 *   exchange   sends and receives messages.  The messages between a pair of ranks are matched in
 *              their order.  Messages of 0 bytes may be omitted on both ranks.  stream is the
 *              CUstream of the context whose arrays are exchanged, cudaStreamLegacy for its default
 *              stream, and NULL if all messages are in host memory.  With a stream, each message
 *              may be in memory of the GPU or in host memory.  Work queued on the stream before the
 *              call may still write what is sent, and use the memory that receives: the function
 *              either waits for the stream, or queues its own work on it.  When it returns, what is
 *              in host memory is complete; memory of the GPU may be changed or used by work queued
 *              on the stream from then on
 *   poll       reports an error of the communicator without waiting: ECH_OK if there is none.
 *              message, [capacity_bytes], receives its text
 *   abort      makes calls of other ranks fail as soon as possible, if the communicator can
 *   close      releases state; called once
 */
typedef struct ech_comm_table {
    size_t size; /* sizeof(ech_comm_table) */
    void *state; /* is passed to each function */
    int rank, ranks;
    int device_memory; /* 1: exchange accepts memory of a GPU; 0: it is staged */
    int reserved;      /* 0 */
    ech_status (*allgather)(void *state, const void *in, void *out, uint64_t bytes, double limit_s);
    ech_status (*exchange)(void *state, const ech_comm_message *sends, size_t n_sends,
                           const ech_comm_message *receives, size_t n_receives, void *stream,
                           double limit_s);
    ech_status (*poll)(void *state, char *message, size_t capacity_bytes);
    void (*abort)(void *state, const char *reason);
    void (*close)(void *state);
} ech_comm_table;

/* ech_comm_create() makes a communicator from a table of functions, which is copied.  The
 * communicator owns table->state from then on; if the call fails, close() has not been called. */
ECH_API ech_status ech_comm_create(ech_comm **comm, const ech_comm_table *table,
                                   const ech_comm_options *options);

/*
 * The type of ech_comm_library(), which a library for ech_comm_open() exports.
 *
 *   table    [1] is filled by the function; its size is set
 *   message  [capacity_bytes] receives the reason of a failure
 */
typedef ech_status (*ech_comm_library_function)(ech_comm_table *table, char *message,
                                                size_t capacity_bytes);

/* ---- Use ------------------------------------------------------------------------------------- */

/* ech_comm_rank() returns the number of this rank, and ech_comm_size() the number of ranks.  Not
 * collective. */
ECH_API int ech_comm_rank(const ech_comm *comm);
ECH_API int ech_comm_size(const ech_comm *comm);

/* ech_comm_barrier() returns when every rank has called it. */
ECH_API ech_status ech_comm_barrier(ech_comm *comm);

/* ech_comm_poll() returns ECH_OK, or ECH_ERR_COMM if the communicator has failed, for example
 * because another rank has called ech_comm_abort().  It does not wait.  Not collective. */
ECH_API ech_status ech_comm_poll(ech_comm *comm);

/* ech_comm_abort() makes the calls of all ranks fail with ECH_ERR_COMM and this reason.  A rank
 * calls it if it cannot make the next collective call.  Not collective. */
ECH_API void ech_comm_abort(ech_comm *comm, const char *reason);

/* ech_comm_close() releases the communicator.  If other ranks wait for this one in a call, the call
 * fails.  NULL is allowed.  Not collective, except with MPI and NCCL, unless the communicator has
 * failed. */
ECH_API void ech_comm_close(ech_comm *comm);

#ifdef __cplusplus
}
#endif

#endif /* ECHELON_COMM_H */
