/*
 * comm/mpi/mpi.c - libechelon_mpi.so: the communicator of MPI processes.
 *
 * This file is compiled by the mpicc of any MPI library, and uses no other file of the library.
 * Compiled by mpicc_abi, it runs with every MPI library that has the standard binary interface. The
 * build compiles it with comm/mpi/abi instead, without an MPI library, and opens one at run time.
 *
 * All operations are non-blocking, so that a wait can end at its time limit, or when another rank
 * aborts: that rank sends its reason through a second communicator, which each wait probes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L /* clocks */
#include <echelon/mpi.h>

#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef ECHI_MPI_OPEN /* the MPI library is linked */
#define ECHI_MPI_OPEN(message, capacity_bytes) ((void)(message), (void)(capacity_bytes), true)
#endif

enum { TEXT = 240, TAG = 1, SPINS = 2000 };

/* Messages are sent in pieces whose size fits in an int.  Tests make them smaller. */
#ifndef ECHELON_MPI_PIECE_BYTES
#define ECHELON_MPI_PIECE_BYTES (1 << 30)
#endif
#define PIECE_BYTES ((uint64_t)ECHELON_MPI_PIECE_BYTES)

struct mpi {
    MPI_Comm data, control;
    int rank, ranks;
    bool failed;
    char reason[TEXT];
    char *buffer; /* of gathers: MPI may access it after a failure, so it is then not freed */
    uint64_t buffer_bytes;
};

static bool initialised_here, some_failed;

static ech_status fail(struct mpi *m, ech_status status, const char *reason)
{
    if (!m->failed) snprintf(m->reason, sizeof m->reason, "%s", reason);
    m->failed = some_failed = true;
    return status;
}

static ech_status fail_mpi(struct mpi *m, int code, const char *call)
{
    char text[MPI_MAX_ERROR_STRING] = "", reason[TEXT];
    int length = 0;
    MPI_Error_string(code, text, &length);
    snprintf(reason, sizeof reason, "%s failed: %.180s", call, text);
    return fail(m, ECH_ERR_COMM, reason);
}

/* ---- Waits ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Whether another rank has aborted. */
static bool is_aborted(struct mpi *m)
{
    char reason[TEXT] = "";
    int found = 0;
    MPI_Status status;
    if (MPI_Iprobe(MPI_ANY_SOURCE, TAG, m->control, &found, &status) != MPI_SUCCESS || !found)
        return false;
    MPI_Recv(reason, TEXT, MPI_CHAR, status.MPI_SOURCE, TAG, m->control, MPI_STATUS_IGNORE);
    reason[TEXT - 1] = 0;
    fail(m, ECH_ERR_COMM, reason);
    return true;
}

/* Waits for all requests. */
static ech_status await(struct mpi *m, MPI_Request *requests, int n, double limit_s)
{
    const double end = now() + limit_s;
    int done = 0;
    for (unsigned i = 0; !done; i++) {
        const int code = MPI_Testall(n, requests, &done, MPI_STATUSES_IGNORE);
        if (code != MPI_SUCCESS) return fail_mpi(m, code, "MPI_Testall");
        if (done || i % 16) continue;
        if (is_aborted(m)) return ECH_ERR_COMM;
        if (i < SPINS)
            sched_yield();
        else
            nanosleep(&(struct timespec){ .tv_nsec = 20000 }, NULL);
        if (now() < end) continue;
        char reason[TEXT];
        snprintf(reason, sizeof reason,
                 "rank %d waited %g s for another rank; raise options->time_limit_s if it still "
                 "works",
                 m->rank, limit_s);
        return fail(m, ECH_ERR_COMM, reason);
    }
    return ECH_OK;
}

/* ---- Steps ---- */

static ech_status mpi_exchange(void *state, const ech_comm_message *sends, size_t n_sends,
                               const ech_comm_message *receives, size_t n_receives, void *stream,
                               double limit_s);

/* Large gathers are exchanges. */
static ech_status gather_large(struct mpi *m, const void *in, void *out, uint64_t bytes,
                               double limit_s)
{
    const size_t ranks = (size_t)m->ranks;
    ech_comm_message *messages = calloc(2 * ranks, sizeof *messages);
    if (!messages) return fail(m, ECH_ERR_MEMORY, "out of memory");
    for (size_t r = 0; r < ranks; r++) {
        messages[r] = (ech_comm_message){ (void *)(uintptr_t)in, bytes, (int64_t)r };
        messages[ranks + r] = (ech_comm_message){ (char *)out + r * bytes, bytes, (int64_t)r };
    }
    const ech_status status =
        mpi_exchange(m, messages, ranks, messages + ranks, ranks, NULL, limit_s);
    free(messages);
    return status;
}

static ech_status mpi_allgather(void *state, const void *in, void *out, uint64_t bytes,
                                double limit_s)
{
    struct mpi *m = state;
    const uint64_t need = bytes * ((uint64_t)m->ranks + 1);
    MPI_Request request;
    if (m->failed) return ECH_ERR_COMM;
    if (bytes > PIECE_BYTES / (uint64_t)m->ranks) return gather_large(m, in, out, bytes, limit_s);
    if (m->buffer_bytes < need) {
        char *more = realloc(m->buffer, need);
        if (!more) return fail(m, ECH_ERR_MEMORY, "out of memory for a gather");
        m->buffer = more;
        m->buffer_bytes = need;
    }
    memcpy(m->buffer, in, bytes);
    const int code = MPI_Iallgather(m->buffer, (int)bytes, MPI_BYTE, m->buffer + bytes, (int)bytes,
                                    MPI_BYTE, m->data, &request);
    if (code != MPI_SUCCESS) return fail_mpi(m, code, "MPI_Iallgather");
    const ech_status status = await(m, &request, 1, limit_s);
    if (status == ECH_OK) memcpy(out, m->buffer + bytes, bytes * (uint64_t)m->ranks);
    return status;
}

static size_t count_pieces(const ech_comm_message *messages, size_t n)
{
    size_t pieces = 0;
    for (size_t i = 0; i < n; i++)
        pieces += (size_t)((messages[i].bytes + PIECE_BYTES - 1) / PIECE_BYTES);
    return pieces;
}

/* Starts the pieces of messages, and returns the error of MPI. */
static int start(struct mpi *m, const ech_comm_message *messages, size_t n, bool sends,
                 MPI_Request *requests, size_t *at)
{
    int code = MPI_SUCCESS;
    for (size_t i = 0; i < n; i++)
        for (uint64_t from = 0; from < messages[i].bytes && code == MPI_SUCCESS;
             from += PIECE_BYTES) {
            const uint64_t left = messages[i].bytes - from;
            const int bytes = (int)(left < PIECE_BYTES ? left : PIECE_BYTES);
            char *data = (char *)messages[i].data + from;
            const int rank = (int)messages[i].rank;
            MPI_Request *request = &requests[(*at)++];
            code = sends ? MPI_Isend(data, bytes, MPI_BYTE, rank, TAG, m->data, request)
                         : MPI_Irecv(data, bytes, MPI_BYTE, rank, TAG, m->data, request);
        }
    return code;
}

/* After a failure: MPI must not access the memory of messages any more. */
static void cancel(MPI_Request *requests, size_t n)
{
    const double end = now() + 1;
    int done = 0;
    for (size_t i = 0; i < n; i++)
        if (requests[i] != MPI_REQUEST_NULL) MPI_Cancel(&requests[i]);
    while (!done && now() < end) MPI_Testall((int)n, requests, &done, MPI_STATUSES_IGNORE);
}

static ech_status mpi_exchange(void *state, const ech_comm_message *sends, size_t n_sends,
                               const ech_comm_message *receives, size_t n_receives, void *stream,
                               double limit_s)
{
    struct mpi *m = state;
    const size_t pieces = count_pieces(sends, n_sends) + count_pieces(receives, n_receives);
    size_t started = 0;
    (void)stream;
    if (m->failed) return ECH_ERR_COMM;
    MPI_Request *requests = malloc((pieces + 1) * sizeof *requests);
    if (!requests) return fail(m, ECH_ERR_MEMORY, "out of memory for an exchange");
    for (size_t i = 0; i < pieces; i++) requests[i] = MPI_REQUEST_NULL;
    int code = start(m, receives, n_receives, false, requests, &started);
    if (code == MPI_SUCCESS) code = start(m, sends, n_sends, true, requests, &started);
    const ech_status status = code == MPI_SUCCESS ? await(m, requests, (int)pieces, limit_s)
                                                  : fail_mpi(m, code, "MPI_Isend or MPI_Irecv");
    if (status != ECH_OK) cancel(requests, pieces);
    free(requests);
    return status;
}

static ech_status mpi_poll(void *state, char *message, size_t capacity_bytes)
{
    struct mpi *m = state;
    if (!m->failed) is_aborted(m);
    snprintf(message, capacity_bytes, "%s", m->reason);
    return m->failed ? ECH_ERR_COMM : ECH_OK;
}

/* Sends the reason to all other ranks, without waiting: the text must remain valid. */
static void mpi_abort(void *state, const char *reason)
{
    struct mpi *m = state;
    char *text = calloc(TEXT, 1);
    fail(m, ECH_ERR_COMM, reason);
    if (!text) return;
    snprintf(text, TEXT, "%s", m->reason);
    for (int r = 0; r < m->ranks; r++) {
        MPI_Request request;
        if (r != m->rank &&
            MPI_Isend(text, TEXT, MPI_CHAR, r, TAG, m->control, &request) == MPI_SUCCESS)
            MPI_Request_free(&request);
    }
}

static void mpi_close(void *state)
{
    struct mpi *m = state;
    if (m->failed) return; /* MPI may still use the memory */
    MPI_Comm_free(&m->data);
    MPI_Comm_free(&m->control);
    free(m->buffer);
    free(m);
}

/* ---- Constructors ---- */

static ech_status make(MPI_Comm from, ech_comm_table *table, char *message, size_t capacity)
{
    struct mpi *m = calloc(1, sizeof *m);
    int code = MPI_SUCCESS;
    if (!m) {
        snprintf(message, capacity, "out of memory for a communicator");
        return ECH_ERR_MEMORY;
    }
    code = MPI_Comm_dup(from, &m->data);
    if (code == MPI_SUCCESS) code = MPI_Comm_dup(from, &m->control);
    if (code == MPI_SUCCESS) code = MPI_Comm_set_errhandler(m->data, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS) code = MPI_Comm_set_errhandler(m->control, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS) code = MPI_Comm_rank(m->data, &m->rank);
    if (code == MPI_SUCCESS) code = MPI_Comm_size(m->data, &m->ranks);
    if (code != MPI_SUCCESS) {
        snprintf(message, capacity, "MPI cannot duplicate the communicator: error %d", code);
        free(m);
        return ECH_ERR_COMM;
    }
    *table = (ech_comm_table){ .size = sizeof *table,
                               .state = m,
                               .rank = m->rank,
                               .ranks = m->ranks,
                               .allgather = mpi_allgather,
                               .exchange = mpi_exchange,
                               .poll = mpi_poll,
                               .abort = mpi_abort,
                               .close = mpi_close };
    return ECH_OK;
}

ech_status ech_comm_mpi(ech_comm **comm, const void *mpi_comm, const ech_comm_options *options)
{
    char message[TEXT] = "";
    ech_comm_table table;
    if (comm) *comm = NULL;
    int initialised = 0;
    if (ECHI_MPI_OPEN(message, sizeof message)) MPI_Initialized(&initialised);
    if (!comm || !mpi_comm || !initialised) return ECH_ERR_ARG;
    ech_status status = make(*(const MPI_Comm *)mpi_comm, &table, message, sizeof message);
    if (status != ECH_OK) return status;
    status = ech_comm_create(comm, &table, options);
    if (status != ECH_OK) mpi_close(table.state);
    return status;
}

/* Without a failure, a process that ends must call MPI_Finalize(); after one, it would wait. */
static void finalise(void)
{
    int finalised = 0;
    MPI_Finalized(&finalised);
    if (!finalised && !some_failed) MPI_Finalize();
}

/* For ech_comm_open(): the ranks of MPI_COMM_WORLD. */
ECH_API ech_status ech_comm_library(ech_comm_table *table, char *message, size_t capacity_bytes);
ech_status ech_comm_library(ech_comm_table *table, char *message, size_t capacity_bytes)
{
    int initialised = 0, level;
    if (!ECHI_MPI_OPEN(message, capacity_bytes)) return ECH_ERR_UNSUPPORTED;
    MPI_Initialized(&initialised);
    if (!initialised) {
        if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS) {
            snprintf(message, capacity_bytes, "MPI_Init_thread failed");
            return ECH_ERR_COMM;
        }
        if (!initialised_here) atexit(finalise);
        initialised_here = true;
    }
    return make(MPI_COMM_WORLD, table, message, capacity_bytes);
}
