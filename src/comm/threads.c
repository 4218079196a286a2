/*
 * comm/threads.c - the communicator of several threads of one process, which may use several GPUs.
 *
 * Ranks post what they offer, wait at a barrier, and copy what they need from each other's memory:
 *
 *     post   |  meet  |  copy from the posts of others  |  meet: the posts may be reused
 *
 * Small allgathers go through memory of the group, which two steps use in turn, so that they need
 * only one barrier: a rank reaches the next but one only after all ranks have left the first.
 *
 * A receiver copies memory of a GPU with its own context, so that the copy uses the link between
 * the two GPUs.  Every wait ends when a rank is late, closes its communicator or aborts; the first
 * such event is the reason that all ranks report.  A rank that fails returns only when no other
 * rank reads from its memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L /* clocks */
#include "comm/comm.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    SMALL_BYTES = 1 << 10, /* of an allgather with one barrier */
    SPINS = 20000          /* of a wait before it sleeps, which takes longer to end */
};

enum step { NO_STEP, ALLGATHER, EXCHANGE };

static const char *const step_names[] = { "nothing", "an allgather", "an exchange" };

/* What a rank posts for every step. */
struct slot {
    enum step step;
    uint64_t bytes;
    char small[SMALL_BYTES];
};

struct post {
    const void *in;                /* allgather */
    const ech_comm_message *sends; /* exchange */
    size_t n_sends;
    bool arrived; /* at the present barrier */
};

struct group {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    int ranks, open, arrived;
    atomic_int reading;          /* ranks that may still read from the memory of others */
    _Atomic uint64_t generation; /* number of barriers that all ranks have passed */
    atomic_bool failed;
    bool spin; /* there is a processor for each rank */
    char reason[ECHI_COMM_TEXT];
    struct post *posts;     /* [ranks] */
    struct slot *slots[2];  /* [ranks], of even and odd steps */
    struct member *members; /* [ranks] */
};

struct member {
    struct group *group;
    ech_ctx *ctx; /* NULL: host memory */
    int rank;
    uint64_t steps; /* number of steps so far */
};

/* ---- Failures ---- */

/* The mutex is locked.  Only the first reason is kept. */
static void fail_locked(struct group *g, const char *reason)
{
    if (!g->failed) snprintf(g->reason, sizeof g->reason, "%s", reason);
    g->failed = true;
    pthread_cond_broadcast(&g->cond);
}

static void fail(struct group *g, const char *reason)
{
    pthread_mutex_lock(&g->mutex);
    fail_locked(g, reason);
    pthread_mutex_unlock(&g->mutex);
}

static ech_status threads_poll(void *state, char *message, size_t capacity_bytes)
{
    struct group *g = ((struct member *)state)->group;
    pthread_mutex_lock(&g->mutex);
    const bool failed = g->failed;
    snprintf(message, capacity_bytes, "%s", g->reason);
    pthread_mutex_unlock(&g->mutex);
    return failed ? ECH_ERR_COMM : ECH_OK;
}

static void threads_abort(void *state, const char *reason)
{
    fail(((struct member *)state)->group, reason);
}

/* ---- The barrier ---- */

static void fail_late(struct group *g, double limit_s)
{
    char reason[ECHI_COMM_TEXT];
    int late = 0, count = 0;
    for (int r = g->ranks - 1; r >= 0; r--)
        if (!g->posts[r].arrived) {
            late = r;
            count++;
        }
    snprintf(reason, sizeof reason,
             "rank %d%s did not answer within %g s; raise options->time_limit_s if it still works",
             late, count > 1 ? " and others" : "", limit_s);
    fail_locked(g, reason);
}

/* The mutex is locked: this rank no longer reads from the memory of others. */
static void stop_reading(struct group *g)
{
    if (--g->reading == 0) pthread_cond_broadcast(&g->cond);
}

/* The same without the mutex, for which the ranks that leave a barrier would wait in turn.  A rank
 * that waits for readers has set `failed` before it reads `reading`. */
static void leave_small(struct group *g)
{
    if (atomic_fetch_sub(&g->reading, 1) > 1 || !atomic_load(&g->failed)) return;
    pthread_mutex_lock(&g->mutex);
    pthread_cond_broadcast(&g->cond);
    pthread_mutex_unlock(&g->mutex);
}

/* The mutex is locked, and the group has failed. */
static void await_readers(struct group *g)
{
    while (g->reading > 0) pthread_cond_wait(&g->cond, &g->mutex);
}

/* Ends a step that failed on this rank. */
static ech_status leave(struct member *m, const char *reason)
{
    struct group *g = m->group;
    pthread_mutex_lock(&g->mutex);
    fail_locked(g, reason);
    stop_reading(g);
    await_readers(g);
    pthread_mutex_unlock(&g->mutex);
    return ECH_ERR_COMM;
}

/* Waits a short time for the others, without the mutex. */
static void spin(const struct group *g, uint64_t generation)
{
    for (int i = 0; g->spin && i < SPINS; i++) {
        if (atomic_load_explicit(&g->generation, memory_order_acquire) != generation) return;
        if (atomic_load_explicit(&g->failed, memory_order_relaxed)) return;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
}

/* Waits for all ranks; false if the group has failed.  begin: of a step in which ranks then read
 * from each other's memory; end_reading: the end of one. */
static bool meet(struct member *m, bool begin, bool end_reading, double limit_s)
{
    struct group *g = m->group;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const double end = (double)until.tv_sec + 1e-9 * (double)until.tv_nsec + limit_s;
    until.tv_sec = (time_t)end;
    until.tv_nsec = (long)((end - (double)until.tv_sec) * 1e9);
    pthread_mutex_lock(&g->mutex);
    const uint64_t generation = g->generation;
    if (end_reading) stop_reading(g);
    if (g->open < g->ranks) fail_locked(g, "another rank has closed its communicator");
    g->posts[m->rank].arrived = true;
    if (!g->failed && ++g->arrived == g->ranks) {
        g->arrived = 0;
        g->generation++;
        if (begin) g->reading += g->ranks;
        for (int r = 0; r < g->ranks; r++) g->posts[r].arrived = false;
        pthread_cond_broadcast(&g->cond);
    } else if (!g->failed) {
        pthread_mutex_unlock(&g->mutex);
        spin(g, generation);
        pthread_mutex_lock(&g->mutex);
    }
    while (!g->failed && g->generation == generation)
        if (pthread_cond_timedwait(&g->cond, &g->mutex, &until) != 0 && !g->failed &&
            g->generation == generation)
            fail_late(g, limit_s);
    const bool passed = g->generation != generation;
    if (!passed) await_readers(g);
    pthread_mutex_unlock(&g->mutex);
    return passed;
}

/* Whether all ranks posted the same step; otherwise reason describes what differs. */
static bool same_steps(const struct member *m, const struct slot *slots, char *reason)
{
    const struct group *g = m->group;
    const struct slot *own = &slots[m->rank];
    for (int r = 0; r < g->ranks; r++) {
        const struct slot *other = &slots[r];
        if (other->step == own->step && other->bytes == own->bytes) continue;
        snprintf(
            reason, ECHI_COMM_TEXT,
            "the ranks make different calls: rank %d is in %s of %llu bytes, and rank %d in %s "
            "of %llu bytes",
            m->rank, step_names[own->step], (unsigned long long)own->bytes, r,
            step_names[other->step], (unsigned long long)other->bytes);
        return false;
    }
    return true;
}

/* Posts a step and waits for those of the others.  small: the ranks read only from *slots, which
 * has what they posted, and need not wait at the end of the step. */
static ech_status begin_step(struct member *m, enum step step, uint64_t bytes, struct post post,
                             bool small, const struct slot **slots, double limit_s)
{
    char reason[ECHI_COMM_TEXT];
    struct group *g = m->group;
    struct slot *all = g->slots[m->steps++ % 2], *own = &all[m->rank];
    own->step = step;
    own->bytes = bytes;
    if (small) memcpy(own->small, post.in, bytes);
    pthread_mutex_lock(&g->mutex);
    const bool arrived = g->posts[m->rank].arrived;
    g->posts[m->rank] = post;
    g->posts[m->rank].arrived = arrived;
    pthread_mutex_unlock(&g->mutex);
    if (!meet(m, true, false, limit_s)) return ECH_ERR_COMM;
    if (slots) *slots = all;
    return same_steps(m, all, reason) ? ECH_OK : leave(m, reason);
}

static ech_status end_step(struct member *m, double limit_s)
{
    return meet(m, false, true, limit_s) ? ECH_OK : ECH_ERR_COMM;
}

/* ---- Steps ---- */

static ech_status threads_allgather(void *state, const void *in, void *out, uint64_t bytes,
                                    double limit_s)
{
    struct member *m = state;
    const struct post post = { .in = in };
    const bool small = bytes <= SMALL_BYTES;
    const struct slot *slots = NULL;
    if (begin_step(m, ALLGATHER, bytes, post, small, &slots, limit_s) != ECH_OK)
        return ECH_ERR_COMM;
    for (int r = 0; r < m->group->ranks; r++)
        memcpy((char *)out + (size_t)r * bytes, small ? slots[r].small : m->group->posts[r].in,
               bytes);
    if (!small) return end_step(m, limit_s);
    leave_small(m->group);
    return ECH_OK;
}

/* The message of rank `from` to rank `to` after `skip` others, without those of 0 bytes. */
static const ech_comm_message *find_message(const struct post *from, int to, size_t skip)
{
    for (size_t i = 0; i < from->n_sends; i++)
        if (from->sends[i].rank == to && from->sends[i].bytes && skip-- == 0)
            return &from->sends[i];
    return NULL;
}

/* The copies of messages of different ranks may overlap. */
static ech_status copy_device(struct member *m, const struct echi_copy *copy, int64_t rank)
{
    const struct echi_backend *backend = m->ctx->backend;
    const int64_t distance = (rank - m->rank + m->group->ranks) % m->group->ranks;
    if (!backend->copy_beside) return ech_copy_async(m->ctx, copy->to, copy->from, copy->bytes);
    return backend->copy_beside(m->ctx, (unsigned)distance % ECHI_LANES, copy, 1);
}

/* Waits for all copies, so that what is sent may be changed. */
static ech_status wait_device(struct member *m)
{
    const struct echi_backend *backend = m->ctx->backend;
    const ech_status status = backend->wait_beside ? backend->wait_beside(m->ctx) : ECH_OK;
    const ech_status synced = ech_sync(m->ctx);
    return status == ECH_OK ? synced : status;
}

/* Copies one message; false: reason describes the failure. */
static bool copy_message(struct member *m, const ech_comm_message *receive, size_t skip,
                         char *reason)
{
    struct group *g = m->group;
    const ech_comm_message *send = NULL;
    if (receive->rank >= 0 && receive->rank < g->ranks)
        send = find_message(&g->posts[receive->rank], m->rank, skip);
    if (!send || send->bytes != receive->bytes) {
        snprintf(reason, ECHI_COMM_TEXT,
                 "rank %d waits for %llu bytes of rank %lld, which sends %llu", m->rank,
                 (unsigned long long)receive->bytes, (long long)receive->rank,
                 (unsigned long long)(send ? send->bytes : 0));
        return false;
    }
    if (!m->ctx) {
        memcpy(receive->data, send->data, receive->bytes);
        return true;
    }
    const struct echi_copy copy = { receive->data, send->data, receive->bytes };
    if (copy_device(m, &copy, receive->rank) == ECH_OK) return true;
    snprintf(reason, ECHI_COMM_TEXT, "rank %d cannot copy from rank %lld: %.150s", m->rank,
             (long long)receive->rank, ech_error(m->ctx));
    return false;
}

/* Each rank begins with the messages of the rank after it, so that the ranks read from different
 * ones. */
static bool copy_messages(struct member *m, const ech_comm_message *receives, size_t n,
                          char *reason)
{
    for (size_t k = 0; k < 2 * n; k++) {
        const size_t i = k % n;
        size_t skip = 0;
        if (receives[i].bytes == 0 || (receives[i].rank > m->rank) != (k < n)) continue;
        for (size_t j = 0; j < i; j++)
            skip += receives[j].rank == receives[i].rank && receives[j].bytes;
        if (copy_message(m, &receives[i], skip, reason)) continue;
        if (m->ctx) wait_device(m); /* no copy continues */
        return false;
    }
    if (!m->ctx || wait_device(m) == ECH_OK) return true;
    snprintf(reason, ECHI_COMM_TEXT, "rank %d: %.200s", m->rank, ech_error(m->ctx));
    return false;
}

/* What a rank sends may be memory of another owner: other GPUs must be able to read it. */
static ech_status share_messages(const struct member *m, const ech_comm_message *sends, size_t n)
{
    ech_status status = ECH_OK;
    for (size_t i = 0; i < n && status == ECH_OK; i++)
        if (sends[i].bytes && sends[i].rank != m->rank) status = echi_share(m->ctx, sends[i].data);
    return status;
}

static ech_status threads_exchange(void *state, const ech_comm_message *sends, size_t n_sends,
                                   const ech_comm_message *receives, size_t n_receives,
                                   void *stream, double limit_s)
{
    struct member *m = state;
    char reason[ECHI_COMM_TEXT];
    const struct post post = { .sends = sends, .n_sends = n_sends };
    (void)stream; /* that of m->ctx, or complete: echi_comm_exchange_device() */
    /* what is sent has been written */
    if (m->ctx && (ech_sync(m->ctx) != ECH_OK || share_messages(m, sends, n_sends) != ECH_OK)) {
        fail(m->group, ech_error(m->ctx));
        return ECH_ERR_COMM;
    }
    if (begin_step(m, EXCHANGE, 0, post, false, NULL, limit_s) != ECH_OK) return ECH_ERR_COMM;
    if (!copy_messages(m, receives, n_receives, reason)) return leave(m, reason);
    return end_step(m, limit_s);
}

ech_ctx *echi_threads_ctx(const ech_comm *comm)
{
    if (comm->table.exchange != threads_exchange) return NULL;
    return ((const struct member *)comm->table.state)->ctx;
}

bool echi_comm_direct(const ech_comm *comm)
{
    return comm->table.exchange == threads_exchange && comm->table.device_memory;
}

/* ---- Creation and end ---- */

static void group_free(struct group *g)
{
    pthread_cond_destroy(&g->cond);
    pthread_mutex_destroy(&g->mutex);
    free(g->posts);
    free(g->slots[0]);
    free(g->slots[1]);
    free(g->members);
    free(g);
}

static void threads_close(void *state)
{
    struct group *g = ((struct member *)state)->group;
    pthread_mutex_lock(&g->mutex);
    const bool last = --g->open == 0;
    if (g->arrived) fail_locked(g, "another rank has closed its communicator");
    pthread_mutex_unlock(&g->mutex);
    if (last) group_free(g);
}

static struct group *group_make(ech_ctx *const *contexts, int ranks)
{
    struct group *g = calloc(1, sizeof *g);
    pthread_condattr_t attributes;
    if (!g) return NULL;
    g->ranks = g->open = ranks;
    g->posts = calloc((size_t)ranks, sizeof *g->posts);
    g->members = calloc((size_t)ranks, sizeof *g->members);
    for (int i = 0; i < 2; i++) g->slots[i] = calloc((size_t)ranks, sizeof *g->slots[i]);
    g->spin = sysconf(_SC_NPROCESSORS_ONLN) >= 2 * (long)ranks;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&g->mutex, NULL);
    pthread_cond_init(&g->cond, &attributes);
    pthread_condattr_destroy(&attributes);
    if (!g->posts || !g->members || !g->slots[0] || !g->slots[1]) {
        group_free(g);
        return NULL;
    }
    for (int r = 0; r < ranks; r++)
        g->members[r] = (struct member){ g, contexts ? contexts[r] : NULL, r, 0 };
    return g;
}

/* Whether each context can copy from the memory of the others. */
static ech_status reach_all(ech_ctx *const *contexts, int ranks, bool *all)
{
    *all = contexts != NULL;
    for (int a = 0; contexts && a < ranks; a++)
        for (int b = 0; b < ranks; b++) {
            const struct echi_backend *backend = contexts[a]->backend;
            bool can = backend == contexts[b]->backend;
            if (can && backend->reach) {
                const ech_status status = backend->reach(contexts[a], contexts[b], &can);
                if (status != ECH_OK) return echi_fail(NULL, status, "%s", ech_error(contexts[a]));
            }
            *all = *all && can;
        }
    return ECH_OK;
}

ech_status ech_comm_threads(ech_comm **comms, ech_ctx *const *contexts, int ranks,
                            const ech_comm_options *options)
{
    if (!comms) return echi_fail(NULL, ECH_ERR_ARG, "comms is NULL");
    if (ranks < 1) return echi_fail(NULL, ECH_ERR_ARG, "ranks is %d, less than 1", ranks);
    for (int r = 0; r < ranks; r++) comms[r] = NULL;
    for (int r = 0; contexts && r < ranks; r++)
        if (!contexts[r]) return echi_fail(NULL, ECH_ERR_ARG, "contexts[%d] is NULL", r);
    bool direct = false;
    ech_status status = reach_all(contexts, ranks, &direct);
    if (status != ECH_OK) return status;
    struct group *g = group_make(direct ? contexts : NULL, ranks);
    if (!g) return echi_fail(NULL, ECH_ERR_MEMORY, "out of memory for %d ranks", ranks);
    int made = 0;
    for (; made < ranks && status == ECH_OK; made++) {
        const ech_comm_table table = { .size = sizeof table,
                                       .state = &g->members[made],
                                       .rank = made,
                                       .ranks = ranks,
                                       .device_memory = direct,
                                       .allgather = threads_allgather,
                                       .exchange = threads_exchange,
                                       .poll = threads_poll,
                                       .abort = threads_abort,
                                       .close = threads_close };
        status = ech_comm_create(&comms[made], &table, options);
    }
    if (status == ECH_OK) return ECH_OK;
    const int created = made - 1; /* the last one failed */
    g->open = created;
    if (created == 0) group_free(g);
    for (int r = 0; r < created; r++) {
        ech_comm_close(comms[r]);
        comms[r] = NULL;
    }
    return status;
}
