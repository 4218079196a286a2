/*
 * comm/nccl.c - communicators of NCCL, which is opened at run time.
 *
 * Messages in memory of the GPU are sent directly; those in host memory pass through memory of the
 * GPU.  NCCL's own communicators are non-blocking if the library supports it: a call that waits for
 * a dead rank can then be aborted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include "comm/comm.h"
#include "core/call.h"
#include "core/environment.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- NCCL ---- */

enum { NCCL_SUCCESS = 0, NCCL_IN_PROGRESS = 7, NCCL_UINT8 = 1 };

struct nccl_id {
    char bytes[128];
};

/* ncclConfig_t of version 2.14; later versions accept it. */
struct nccl_config {
    size_t size;
    unsigned magic, version;
    int blocking;
};
enum { CONFIG_VERSION = 21400 };
#define CONFIG_MAGIC 0xcafebeefu

/* NAME(function, parameters); all return an int, except the text of an error. */
#define NCCL_FUNCTIONS(NAME)                                                                       \
    NAME(ncclGetUniqueId, (struct nccl_id * id))                                                   \
    NAME(ncclCommInitRank, (void **comm, int ranks, struct nccl_id id, int rank))                  \
    NAME(ncclCommCount, (void *comm, int *ranks))                                                  \
    NAME(ncclCommUserRank, (void *comm, int *rank))                                                \
    NAME(ncclCommGetAsyncError, (void *comm, int *error))                                          \
    NAME(ncclCommAbort, (void *comm))                                                              \
    NAME(ncclCommDestroy, (void *comm))                                                            \
    NAME(ncclGroupStart, (void))                                                                   \
    NAME(ncclGroupEnd, (void))                                                                     \
    NAME(ncclSend, (const void *data, size_t n, int type, int rank, void *comm, void *stream))     \
    NAME(ncclRecv, (void *data, size_t n, int type, int rank, void *comm, void *stream))           \
    NAME(ncclAllGather, (const void *in, void *out, size_t n, int type, void *comm, void *stream))

static struct {
#define MEMBER(name, parameters) int(*name) parameters;
    NCCL_FUNCTIONS(MEMBER)
#undef MEMBER
    const char *(*ncclGetErrorString)(int error);
    int (*ncclCommInitRankConfig)(void **comm, int ranks, struct nccl_id id, int rank,
                                  struct nccl_config *config); /* NULL before version 2.14 */
    bool found;
    char reason[192];
} nccl;

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* C has no conversion to a pointer to a function. */
static bool find(void *handle, const char *name, void *function)
{
    void *symbol = dlsym(handle, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static void open_nccl(void)
{
    const char *named = echi_secure_getenv("ECHELON_NCCL");
    const char *name = named && *named ? named : "libnccl.so.2";
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL); /* never closed: its handles need it */
    if (!handle) {
        snprintf(nccl.reason, sizeof nccl.reason,
                 "NCCL was not found: %.100s; set ECHELON_NCCL to the path of libnccl.so.2",
                 dlerror());
        return;
    }
    const char *missing = NULL;
    if (!find(handle, "ncclGetErrorString", &nccl.ncclGetErrorString))
        missing = "ncclGetErrorString";
#define FIND(name, parameters)                                                                     \
    if (!find(handle, #name, &nccl.name) && !missing) missing = #name;
    NCCL_FUNCTIONS(FIND)
#undef FIND
    find(handle, "ncclCommInitRankConfig", &nccl.ncclCommInitRankConfig);
    nccl.found = missing == NULL;
    if (nccl.found) return;
    snprintf(nccl.reason, sizeof nccl.reason,
             "%.100s has no function %s(): it is not NCCL 2.7 or later", name, missing);
    dlclose(handle);
}

/* ---- State ---- */

struct state {
    ech_ctx *ctx;
    void *comm;     /* NULL after an abort */
    bool own;       /* made here */
    ech_comm *over; /* for gathers of host memory; NULL: by NCCL */
    int rank, ranks;
    char *gathers; /* (without over) memory of the GPU: what this rank sends, what all ranks send */
    uint64_t gather_bytes; /* of a rank, in one step */
    /* From echi_nccl_stage(), for the next exchange: where each message is in memory of the GPU,
     * and a buffer for those in host memory. */
    void **where, *buffer;
    size_t buffer_bytes;
    char reason[ECHI_COMM_TEXT];
};

static ech_status fail(struct state *s, ech_status status, const char *call, int result)
{
    if (!s->reason[0])
        snprintf(s->reason, sizeof s->reason, "%s failed on rank %d: %.150s", call, s->rank,
                 result == NCCL_SUCCESS ? ech_error(s->ctx) : nccl.ncclGetErrorString(result));
    return status;
}

static void pause_shortly(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 5000 }, NULL);
}

static ech_status fail_late(struct state *s, double limit_s)
{
    if (!s->reason[0])
        snprintf(s->reason, sizeof s->reason,
                 "rank %d waited %g s for another rank; raise options->time_limit_s if it still "
                 "works",
                 s->rank, limit_s);
    return ECH_ERR_COMM;
}

/* Waits until a non-blocking call of NCCL has been started. */
static ech_status await_start(struct state *s, const char *call, int result, double limit_s)
{
    const double end = echi_comm_now() + limit_s;
    while (result == NCCL_IN_PROGRESS) {
        const int asked = nccl.ncclCommGetAsyncError(s->comm, &result);
        if (asked != NCCL_SUCCESS) result = asked;
        if (result != NCCL_IN_PROGRESS) break;
        if (echi_comm_now() > end) return fail_late(s, limit_s);
        pause_shortly();
    }
    return result == NCCL_SUCCESS ? ECH_OK : fail(s, ECH_ERR_COMM, call, result);
}

/* Waits for the work that has been queued on the stream of the context. */
static ech_status await_stream(struct state *s, double limit_s)
{
    const double end = echi_comm_now() + limit_s;
    for (;;) {
        int done = 0, error = NCCL_SUCCESS;
        if (ech_poll(s->ctx, &done) != ECH_OK) return fail(s, ECH_ERR_COMM, "ech_poll", 0);
        if (done) return ECH_OK;
        const int asked = nccl.ncclCommGetAsyncError(s->comm, &error);
        if (asked != NCCL_SUCCESS) error = asked;
        if (error != NCCL_SUCCESS && error != NCCL_IN_PROGRESS)
            return fail(s, ECH_ERR_COMM, "NCCL", error);
        if (echi_comm_now() > end) return fail_late(s, limit_s);
        pause_shortly();
    }
}

static ech_status enter(struct state *s)
{
    const struct echi_backend *backend = s->ctx->backend;
    return backend->enter ? backend->enter(s->ctx) : ECH_OK;
}

static void leave(struct state *s)
{
    if (s->ctx->backend->leave) s->ctx->backend->leave(s->ctx);
}

/* ---- Steps ---- */

/* Gathers `bytes` bytes of each rank: out [ranks], `stride` bytes apart. */
static ech_status gather(struct state *s, const void *in, char *out, uint64_t bytes,
                         uint64_t stride, double limit_s)
{
    char *all = s->gathers + s->gather_bytes;
    if (ech_copy(s->ctx, s->gathers, in, bytes) != ECH_OK)
        return fail(s, ECH_ERR_COMM, "a copy", NCCL_SUCCESS);
    const int result = nccl.ncclAllGather(s->gathers, all, bytes, NCCL_UINT8, s->comm,
                                          s->ctx->backend->stream(s->ctx));
    ech_status status = await_start(s, "ncclAllGather", result, limit_s);
    if (status == ECH_OK) status = await_stream(s, limit_s);
    const size_t parts = stride == bytes ? 1 : (size_t)s->ranks;
    const uint64_t part = stride == bytes ? bytes * (uint64_t)s->ranks : bytes;
    for (size_t i = 0; i < parts && status == ECH_OK; i++)
        if (ech_copy(s->ctx, out + i * stride, all + i * part, part) != ECH_OK)
            status = fail(s, ECH_ERR_COMM, "a copy", NCCL_SUCCESS);
    return status;
}

static ech_status nccl_allgather(void *state, const void *in, void *out, uint64_t bytes,
                                 double limit_s)
{
    struct state *s = state;
    ech_status status = ECH_OK;
    if (s->over) {
        const ech_comm_table *over = &s->over->table;
        status = over->allgather(over->state, in, out, bytes, limit_s);
        if (status != ECH_OK && !s->reason[0]) over->poll(over->state, s->reason, sizeof s->reason);
        return status;
    }
    if (!s->comm || enter(s) != ECH_OK) return ECH_ERR_COMM;
    for (uint64_t at = 0; at < bytes && status == ECH_OK; at += s->gather_bytes) {
        const uint64_t left = bytes - at, now = left < s->gather_bytes ? left : s->gather_bytes;
        status = gather(s, (const char *)in + at, (char *)out + at, now, bytes, limit_s);
    }
    leave(s);
    return status;
}

/* Sets where[i] to the memory that NCCL uses for message i: that of the message, or the next part
 * of buffer if it is in host memory.  Returns the end of the parts. */
static char *place(struct state *s, const ech_comm_message *messages, size_t n, char *buffer,
                   void **where)
{
    for (size_t i = 0; i < n; i++) {
        enum echi_side side = ECHI_DEVICE;
        where[i] = messages[i].data;
        if (messages[i].bytes) s->ctx->backend->side(s->ctx, messages[i].data, &side, NULL);
        if (side == ECHI_DEVICE) continue;
        where[i] = buffer;
        buffer += messages[i].bytes;
    }
    return buffer;
}

/* Copies the messages that are in host memory to or from the GPU. */
static bool copy_staged(struct state *s, const ech_comm_message *messages, size_t n, void **where,
                        bool up)
{
    for (size_t i = 0; i < n; i++)
        if (where[i] != messages[i].data &&
            ech_copy(s->ctx, up ? where[i] : messages[i].data, up ? messages[i].data : where[i],
                     messages[i].bytes) != ECH_OK)
            return false;
    return true;
}

static bool is_good(int result)
{
    return result == NCCL_SUCCESS || result == NCCL_IN_PROGRESS;
}

/* where [n_sends + n_receives]: the memory of the messages, or NULL: that of the messages. */
static ech_status send_and_receive(struct state *s, const ech_comm_message *sends, size_t n_sends,
                                   const ech_comm_message *receives, size_t n_receives,
                                   void *const *where, void *stream, double limit_s)
{
    int result = nccl.ncclGroupStart(), ended;
    for (size_t i = 0; i < n_sends && is_good(result); i++)
        if (sends[i].bytes)
            result = nccl.ncclSend(where ? where[i] : sends[i].data, sends[i].bytes, NCCL_UINT8,
                                   (int)sends[i].rank, s->comm, stream);
    for (size_t i = 0; i < n_receives && is_good(result); i++)
        if (receives[i].bytes)
            result = nccl.ncclRecv(where ? where[n_sends + i] : receives[i].data, receives[i].bytes,
                                   NCCL_UINT8, (int)receives[i].rank, s->comm, stream);
    ended = nccl.ncclGroupEnd();
    if (is_good(result)) result = ended;
    return await_start(s, "an exchange of NCCL", result, limit_s);
}

void echi_nccl_unstage(void *state)
{
    struct state *s = state;
    echi_release(s->ctx, s->buffer, s->buffer_bytes);
    free(s->where);
    s->where = NULL;
    s->buffer = NULL;
    s->buffer_bytes = 0;
}

ech_status echi_nccl_stage(void *state, const ech_comm_message *sends, size_t n_sends,
                           const ech_comm_message *receives, size_t n_receives)
{
    struct state *s = state;
    ech_status status = ECH_OK;
    size_t bytes;
    s->where = calloc(n_sends + n_receives + 1, sizeof *s->where);
    if (!s->where) FAIL(s->ctx, ECH_ERR_MEMORY, "out of memory for an exchange");
    TRY(enter(s));
    char *end = place(s, sends, n_sends, NULL, s->where); /* counts the bytes in host memory */
    end = place(s, receives, n_receives, end, s->where + n_sends);
    bytes = (size_t)(uintptr_t)end;
    if (bytes) status = echi_allocate(s->ctx, bytes, "an exchange", &s->buffer);
    if (status == ECH_OK) {
        s->buffer_bytes = bytes;
        end = place(s, sends, n_sends, s->buffer, s->where);
        place(s, receives, n_receives, end, s->where + n_sends);
    }
    leave(s);
done:
    if (status != ECH_OK) echi_nccl_unstage(s);
    return status;
}

static ech_status nccl_exchange(void *state, const ech_comm_message *sends, size_t n_sends,
                                const ech_comm_message *receives, size_t n_receives, void *stream,
                                double limit_s)
{
    struct state *s = state;
    ech_status status = ECH_OK;
    (void)stream; /* that of s->ctx, or complete: echi_comm_exchange_device() */
    if (!s->comm) return ECH_ERR_COMM;
    if (!s->where) status = echi_nccl_stage(s, sends, n_sends, receives, n_receives);
    if (status == ECH_OK) status = enter(s);
    if (status != ECH_OK) return fail(s, ECH_ERR_COMM, "an exchange", NCCL_SUCCESS);
    status = copy_staged(s, sends, n_sends, s->where, true)
                 ? send_and_receive(s, sends, n_sends, receives, n_receives, s->where,
                                    s->ctx->backend->stream(s->ctx), limit_s)
                 : fail(s, ECH_ERR_COMM, "a copy", NCCL_SUCCESS);
    if (status == ECH_OK) status = await_stream(s, limit_s);
    if (status == ECH_OK && !copy_staged(s, receives, n_receives, s->where + n_sends, false))
        status = fail(s, ECH_ERR_COMM, "a copy", NCCL_SUCCESS);
    leave(s);
    echi_nccl_unstage(s);
    return status;
}

bool echi_nccl_is(const ech_comm *comm)
{
    return comm->table.exchange == nccl_exchange;
}

ech_ctx *echi_nccl_ctx(const ech_comm *comm)
{
    return echi_nccl_is(comm) ? ((const struct state *)comm->table.state)->ctx : NULL;
}

ech_status echi_nccl_queue(void *state, const ech_comm_message *sends, size_t n_sends,
                           const ech_comm_message *receives, size_t n_receives, double limit_s)
{
    struct state *s = state;
    void *stream = NULL;
    if (!s->comm || enter(s) != ECH_OK) return fail(s, ECH_ERR_COMM, "an exchange", NCCL_SUCCESS);
    ech_status status = s->ctx->backend->lane(s->ctx, 0, &stream);
    if (status == ECH_OK)
        status = send_and_receive(s, sends, n_sends, receives, n_receives, NULL, stream, limit_s);
    else
        fail(s, ECH_ERR_COMM, "a stream", NCCL_SUCCESS);
    leave(s);
    return status;
}

ech_status echi_nccl_finish(void *state, double limit_s)
{
    struct state *s = state;
    if (!s->comm || enter(s) != ECH_OK) return fail(s, ECH_ERR_COMM, "a wait", NCCL_SUCCESS);
    const ech_status status = await_stream(s, limit_s);
    leave(s);
    return status;
}

static ech_status nccl_poll(void *state, char *message, size_t capacity_bytes)
{
    struct state *s = state;
    int error = NCCL_SUCCESS;
    if (s->comm && !s->reason[0] && nccl.ncclCommGetAsyncError(s->comm, &error) == NCCL_SUCCESS &&
        error != NCCL_SUCCESS && error != NCCL_IN_PROGRESS)
        fail(s, ECH_ERR_COMM, "NCCL", error);
    if (s->over && !s->reason[0])
        s->over->table.poll(s->over->table.state, s->reason, sizeof s->reason);
    snprintf(message, capacity_bytes, "%s", s->reason);
    return s->reason[0] ? ECH_ERR_COMM : ECH_OK;
}

static void nccl_abort(void *state, const char *reason)
{
    struct state *s = state;
    if (!s->reason[0]) snprintf(s->reason, sizeof s->reason, "%s", reason);
    if (s->over) ech_comm_abort(s->over, reason);
    if (s->comm && enter(s) == ECH_OK) {
        nccl.ncclCommAbort(s->comm);
        leave(s);
    }
    s->comm = NULL;
}

static size_t gathers_bytes(const struct state *s)
{
    return (size_t)(s->gather_bytes * ((uint64_t)s->ranks + 1));
}

static void nccl_close(void *state)
{
    struct state *s = state;
    if (s->comm && s->own && enter(s) == ECH_OK) {
        nccl.ncclCommDestroy(s->comm);
        leave(s);
    }
    echi_nccl_unstage(s);
    echi_release(s->ctx, s->gathers, gathers_bytes(s));
    free(s);
}

/* ---- Constructors ---- */

static ech_status check(ech_comm **comm, ech_ctx *ctx)
{
    if (!comm) return echi_fail(NULL, ECH_ERR_ARG, "comm is NULL");
    *comm = NULL;
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    if (ctx->backend == &echi_cpu)
        return echi_fail(NULL, ECH_ERR_UNSUPPORTED,
                         "ctx is a context of the CPU: NCCL connects only GPUs");
    pthread_once(&once, open_nccl);
    return nccl.found ? ECH_OK : echi_fail(NULL, ECH_ERR_UNSUPPORTED, "%s", nccl.reason);
}

/* Memory of gathers: they are part of every agreement, and must not fail for lack of memory. */
static ech_status allocate_gathers(struct state *s)
{
    enum { ALL_BYTES = 1 << 20, LEAST_BYTES = 4096 };
    void *memory = NULL;
    s->gather_bytes = ALL_BYTES / (uint64_t)s->ranks;
    if (s->gather_bytes < LEAST_BYTES) s->gather_bytes = LEAST_BYTES;
    s->gather_bytes -= s->gather_bytes % LEAST_BYTES;
    const ech_status status = echi_allocate(s->ctx, gathers_bytes(s), "a communicator", &memory);
    if (status != ECH_OK) return echi_fail(NULL, status, "%s", ech_error(s->ctx));
    s->gathers = memory;
    return ECH_OK;
}

/* Makes the communicator; on failure the state is released. */
static ech_status make(ech_comm **comm, struct state *s, const ech_comm_options *options)
{
    const ech_comm_table table = { .size = sizeof table,
                                   .state = s,
                                   .rank = s->rank,
                                   .ranks = s->ranks,
                                   .device_memory = 1,
                                   .allgather = nccl_allgather,
                                   .exchange = nccl_exchange,
                                   .poll = nccl_poll,
                                   .abort = nccl_abort,
                                   .close = nccl_close };
    ech_status status = s->over ? ECH_OK : allocate_gathers(s);
    if (status == ECH_OK) status = ech_comm_create(comm, &table, options);
    if (status != ECH_OK) nccl_close(s);
    return status;
}

ech_status ech_comm_nccl(ech_comm **comm, ech_ctx *ctx, void *nccl_comm,
                         const ech_comm_options *options)
{
    ech_status status = check(comm, ctx);
    if (status != ECH_OK) return status;
    if (!nccl_comm) return echi_fail(NULL, ECH_ERR_ARG, "nccl_comm is NULL");
    struct state *s = calloc(1, sizeof *s);
    if (!s) return echi_fail(NULL, ECH_ERR_MEMORY, "out of memory for a communicator");
    s->ctx = ctx;
    s->comm = nccl_comm;
    int result = nccl.ncclCommCount(nccl_comm, &s->ranks);
    if (result == NCCL_SUCCESS) result = nccl.ncclCommUserRank(nccl_comm, &s->rank);
    if (result == NCCL_SUCCESS) return make(comm, s, options);
    status =
        echi_fail(NULL, ECH_ERR_COMM, "ncclCommCount failed: %s", nccl.ncclGetErrorString(result));
    free(s);
    return status;
}

static ech_status init_rank(struct state *s, struct nccl_id id, double limit_s)
{
    struct nccl_config config = {
        .size = sizeof config, .magic = CONFIG_MAGIC, .version = CONFIG_VERSION, .blocking = 0
    };
    if (enter(s) != ECH_OK) return fail(s, ECH_ERR_COMM, "a context", NCCL_SUCCESS);
    const int result = nccl.ncclCommInitRankConfig
                           ? nccl.ncclCommInitRankConfig(&s->comm, s->ranks, id, s->rank, &config)
                           : nccl.ncclCommInitRank(&s->comm, s->ranks, id, s->rank);
    const ech_status status = await_start(s, "ncclCommInitRank", result, limit_s);
    leave(s);
    return status;
}

ech_status ech_comm_nccl_over(ech_comm **comm, ech_ctx *ctx, ech_comm *over,
                              const ech_comm_options *options)
{
    struct echi_comm_call call = { .name = "ech_comm_nccl_over" };
    struct nccl_id id = { { 0 } };
    double limit_s = 0;
    struct state *s = NULL;
    if (!over) return echi_fail(NULL, ECH_ERR_ARG, "over is NULL");
    ech_status status = check(comm, ctx);
    if (status == ECH_OK) status = echi_comm_limit(options, &limit_s);
    if (status == ECH_OK && !(s = calloc(1, sizeof *s)))
        status = echi_fail(NULL, ECH_ERR_MEMORY, "out of memory for a communicator");
    if (status == ECH_OK && over->table.rank == 0 && nccl.ncclGetUniqueId(&id) != NCCL_SUCCESS)
        status = echi_fail(NULL, ECH_ERR_COMM, "ncclGetUniqueId failed");
    TRY(echi_comm_begin(NULL, over, &call, NULL, status));
    TRY(echi_comm_agree(NULL, over, ECH_OK, &id, sizeof id));
    memcpy(&id, over->notes[0].note, sizeof id);
    s->ctx = ctx;
    s->own = true;
    s->over = over;
    s->rank = over->table.rank;
    s->ranks = over->table.ranks;
    status = init_rank(s, id, limit_s);
    if (status != ECH_OK) echi_fail(NULL, status, "%s", s->reason);
    TRY(echi_comm_agree(NULL, over, status, NULL, 0));
    return make(comm, s, options);
done:
    if (s) nccl_close(s);
    return status;
}
