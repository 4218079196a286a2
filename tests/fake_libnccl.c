/*
 * fake_libnccl.c - the functions of NCCL that the library calls, for threads of one process on the
 * SIMT emulator, whose memory is that of the process.
 *
 * Every call is non-blocking: ncclCommGetAsyncError() completes it, when all ranks have made it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { SUCCESS = 0, REMOTE_ERROR = 6, IN_PROGRESS = 7, RANKS = 16, MESSAGES = 64, GROUPS = 256 };

struct id {
    char bytes[128];
};

struct message {
    const void *from;
    void *to;
    size_t bytes;
    int rank;
    bool receives, done;
};

struct group {
    uint64_t id;
    int ranks, joined;
    bool aborted;
    struct message posts[RANKS][MESSAGES];
    int counts[RANKS];
};

struct comm {
    struct group *group;
    int rank;
    bool waits_for_ranks; /* of the constructor */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct group groups[GROUPS];
static uint64_t ids;

static _Thread_local struct message pending[MESSAGES];
static _Thread_local int n_pending;
static _Thread_local struct comm *pending_comm;

EXPORT const char *ncclGetErrorString(int error);
const char *ncclGetErrorString(int error)
{
    return error == REMOTE_ERROR ? "remote process exited" : "unknown error";
}

EXPORT int ncclGetUniqueId(struct id *id);
int ncclGetUniqueId(struct id *id)
{
    pthread_mutex_lock(&mutex);
    ids++;
    memset(id, 0, sizeof *id);
    memcpy(id->bytes, &ids, sizeof ids);
    pthread_mutex_unlock(&mutex);
    return SUCCESS;
}

EXPORT int ncclCommInitRankConfig(void **comm, int ranks, struct id id, int rank, void *config);
int ncclCommInitRankConfig(void **comm, int ranks, struct id id, int rank, void *config)
{
    struct comm *c = calloc(1, sizeof *c);
    uint64_t number;
    (void)config;
    if (!c) return REMOTE_ERROR;
    memcpy(&number, id.bytes, sizeof number);
    pthread_mutex_lock(&mutex);
    struct group *g = &groups[number % GROUPS];
    if (g->id != number) {
        memset(g, 0, sizeof *g);
        g->id = number;
        g->ranks = ranks;
    }
    g->joined++;
    *c = (struct comm){ g, rank, true };
    pthread_mutex_unlock(&mutex);
    *comm = c;
    return IN_PROGRESS;
}

/* The same, but blocking. */
EXPORT int ncclCommGetAsyncError(void *comm, int *error);
EXPORT int ncclCommInitRank(void **comm, int ranks, struct id id, int rank);
int ncclCommInitRank(void **comm, int ranks, struct id id, int rank)
{
    int error = ncclCommInitRankConfig(comm, ranks, id, rank, NULL);
    while (error == IN_PROGRESS) ncclCommGetAsyncError(*comm, &error);
    return error;
}

EXPORT int ncclCommCount(void *comm, int *ranks);
int ncclCommCount(void *comm, int *ranks)
{
    *ranks = ((struct comm *)comm)->group->ranks;
    return SUCCESS;
}

EXPORT int ncclCommUserRank(void *comm, int *rank);
int ncclCommUserRank(void *comm, int *rank)
{
    *rank = ((struct comm *)comm)->rank;
    return SUCCESS;
}

EXPORT int ncclGroupStart(void);
int ncclGroupStart(void)
{
    n_pending = 0;
    pending_comm = NULL;
    return SUCCESS;
}

static int add(struct message message, void *comm)
{
    if (n_pending == MESSAGES) return REMOTE_ERROR;
    pending[n_pending++] = message;
    pending_comm = comm;
    return SUCCESS;
}

EXPORT int ncclSend(const void *data, size_t n, int type, int rank, void *comm, void *stream);
int ncclSend(const void *data, size_t n, int type, int rank, void *comm, void *stream)
{
    (void)type;
    (void)stream;
    return add((struct message){ .from = data, .bytes = n, .rank = rank }, comm);
}

EXPORT int ncclRecv(void *data, size_t n, int type, int rank, void *comm, void *stream);
int ncclRecv(void *data, size_t n, int type, int rank, void *comm, void *stream)
{
    (void)type;
    (void)stream;
    return add((struct message){ .to = data, .bytes = n, .rank = rank, .receives = true }, comm);
}

EXPORT int ncclGroupEnd(void);
int ncclGroupEnd(void)
{
    if (n_pending == 0) return SUCCESS;
    struct group *g = pending_comm->group;
    const int me = pending_comm->rank;
    pthread_mutex_lock(&mutex);
    memcpy(g->posts[me], pending, sizeof pending);
    g->counts[me] = n_pending;
    pthread_mutex_unlock(&mutex);
    return IN_PROGRESS;
}

EXPORT int ncclAllGather(const void *in, void *out, size_t n, int type, void *comm, void *stream);
int ncclAllGather(const void *in, void *out, size_t n, int type, void *comm, void *stream)
{
    const struct comm *c = comm;
    ncclGroupStart();
    for (int r = 0; r < c->group->ranks; r++) {
        ncclSend(in, n, type, r, comm, stream);
        ncclRecv((char *)out + (size_t)r * n, n, type, r, comm, stream);
    }
    return ncclGroupEnd();
}

int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                        int *symbol_status); /* of libechelon_simt.so */

/* The emulator's copy: it records that the memory has been written. */
static void copy_memory(void *to, const void *from, size_t bytes)
{
    int (*copy)(unsigned long long to, unsigned long long from, size_t bytes, void *stream) = NULL;
    int symbol_status;
    void *symbol = NULL;
    if (cuGetProcAddress_v2("cuMemcpyAsync", &symbol, 12000, 0, &symbol_status) != 0) abort();
    memcpy(&copy, &symbol, sizeof symbol);
    if (copy((uintptr_t)to, (uintptr_t)from, bytes, NULL) != 0) abort();
}

/* Copies what has been sent to a rank; whether all its messages have been copied. */
static bool copy_messages(struct group *g, int me)
{
    bool all = true;
    for (int i = 0; i < g->counts[me]; i++) {
        struct message *m = &g->posts[me][i];
        for (int j = 0; m->receives && !m->done && j < g->counts[m->rank]; j++) {
            struct message *other = &g->posts[m->rank][j];
            if (other->rank != me || other->receives || other->done || other->bytes != m->bytes)
                continue;
            copy_memory(m->to, other->from, m->bytes);
            m->done = other->done = true;
        }
        all &= m->done;
    }
    if (all) g->counts[me] = 0;
    return all;
}

int ncclCommGetAsyncError(void *comm, int *error)
{
    struct comm *c = comm;
    struct group *g = c->group;
    pthread_mutex_lock(&mutex);
    if (c->waits_for_ranks) c->waits_for_ranks = g->joined < g->ranks;
    if (g->aborted)
        *error = REMOTE_ERROR;
    else
        *error = c->waits_for_ranks || !copy_messages(g, c->rank) ? IN_PROGRESS : SUCCESS;
    pthread_mutex_unlock(&mutex);
    return SUCCESS;
}

EXPORT int ncclCommAbort(void *comm);
int ncclCommAbort(void *comm)
{
    pthread_mutex_lock(&mutex);
    ((struct comm *)comm)->group->aborted = true;
    pthread_mutex_unlock(&mutex);
    free(comm);
    return SUCCESS;
}

EXPORT int ncclCommDestroy(void *comm);
int ncclCommDestroy(void *comm)
{
    free(comm);
    return SUCCESS;
}
