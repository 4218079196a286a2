/*
 * files/transfer.c - reads and writes by threads that run while the caller computes.
 *
 * A request is one system call of at most FILES_TRANSFER bytes, or a function.  The threads take
 * requests from a queue of fixed length.  If no thread can be created, the caller does the work.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "files/transfer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    THREADS = 8,       /* of transfers by threads */
    CALL_THREADS = 2,  /* with io_uring: one for the input, one for the output */
    REQUESTS = 256,    /* length of the queue */
    STACK = 256 << 10, /* bytes of a thread's stack */
    STALLS = 16        /* transfers without progress before it counts as an error */
};

enum operation { READ, WRITE, CALL };

struct request {
    struct files_batch *batch;
    enum operation operation;
    int fd;
    char *at;
    size_t bytes;
    uint64_t offset;
    int (*call)(void *arg);
    void *arg;
};

struct files_queue {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a request was added or has finished */
    struct request requests[REQUESTS];
    unsigned first, count;
    bool ending;
    pthread_t threads[THREADS];
    int started;
    struct files_ring *ring;
};

size_t files_whole_part(size_t n, uint64_t offset)
{
    const size_t beyond = (size_t)((offset + n) % FILES_ALIGN);
    return beyond < n ? n - beyond : 0;
}

/* Continues at a multiple of FILES_ALIGN, unless that makes no progress. */
static int transfer(const struct request *request)
{
    size_t done = 0;
    for (int stalls = 0; done < request->bytes;) {
        char *at = request->at + done;
        const size_t left = request->bytes - done;
        const off_t offset = (off_t)(request->offset + done);
        const ssize_t n = request->operation == READ ? pread(request->fd, at, left, offset)
                                                     : pwrite(request->fd, at, left, offset);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        if (n == 0) return request->operation == READ ? FILES_ENDED : EIO;
        if ((size_t)n == left) return 0;
        const size_t whole = files_whole_part((size_t)n, request->offset + done);
        if (!whole && ++stalls > STALLS) return EIO;
        /* A file that ends within a page delivers the same bytes again. */
        if (!whole && stalls > 1) done += (size_t)n;
        done += whole;
    }
    return 0;
}

static int perform(const struct request *request)
{
    return request->operation == CALL ? request->call(request->arg) : transfer(request);
}

static void *work(void *argument)
{
    struct files_queue *queue = argument;
    pthread_mutex_lock(&queue->lock);
    for (;;) {
        while (!queue->count && !queue->ending) pthread_cond_wait(&queue->changed, &queue->lock);
        if (!queue->count) break;
        const struct request request = queue->requests[queue->first];
        queue->first = (queue->first + 1) % REQUESTS;
        queue->count--;
        pthread_mutex_unlock(&queue->lock);
        const int error = perform(&request);
        pthread_mutex_lock(&queue->lock);
        if (error && !request.batch->error) request.batch->error = error;
        request.batch->on_threads--;
        pthread_cond_broadcast(&queue->changed);
    }
    pthread_mutex_unlock(&queue->lock);
    return NULL;
}

/* The threads block signals, so that the main thread handles them. */
static void start_threads(struct files_queue *queue, int count)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    if (pthread_attr_init(&attributes) != 0) return;
    pthread_attr_setstacksize(&attributes, STACK);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    while (queue->started < count &&
           pthread_create(&queue->threads[queue->started], &attributes, work, queue) == 0)
        queue->started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

struct files_queue *files_queue_open(const char *transfers)
{
    const bool ring = !transfers || strcmp(transfers, "io_uring") == 0;
    const bool none = transfers && strcmp(transfers, "none") == 0;
    struct files_queue *queue = calloc(1, sizeof *queue);
    if (!queue) return NULL;
    if (ring) queue->ring = files_ring_open();
    if (transfers && ring && !queue->ring) {
        free(queue);
        return NULL;
    }
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->changed, NULL);
    if (!none) start_threads(queue, queue->ring ? CALL_THREADS : THREADS);
    return queue;
}

void files_queue_close(struct files_queue *queue)
{
    if (!queue) return;
    pthread_mutex_lock(&queue->lock);
    queue->ending = true;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    for (int i = 0; i < queue->started; i++) pthread_join(queue->threads[i], NULL);
    pthread_mutex_destroy(&queue->lock);
    pthread_cond_destroy(&queue->changed);
    if (queue->ring) files_ring_close(queue->ring);
    free(queue);
}

const char *files_queue_name(const struct files_queue *queue)
{
    return queue->ring ? "io_uring" : queue->started ? "threads" : "none";
}

static void submit(struct files_queue *queue, const struct request *request)
{
    if (!queue->started) {
        const int error = perform(request);
        if (error && !request->batch->error) request->batch->error = error;
        return;
    }
    pthread_mutex_lock(&queue->lock);
    while (queue->count == REQUESTS) pthread_cond_wait(&queue->changed, &queue->lock);
    queue->requests[(queue->first + queue->count) % REQUESTS] = *request;
    queue->count++;
    request->batch->on_threads++;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

static void submit_parts(struct files_queue *queue, struct request *request)
{
    const size_t bytes = request->bytes;
    for (size_t done = 0; done < bytes; done += request->bytes) {
        request->bytes = bytes - done < FILES_TRANSFER ? bytes - done : (size_t)FILES_TRANSFER;
        if (queue->ring)
            files_ring_submit(queue->ring, request->batch, request->operation == WRITE, request->fd,
                              request->at, request->bytes, request->offset);
        else
            submit(queue, request);
        request->at += request->bytes;
        request->offset += request->bytes;
    }
}

void files_read(struct files_queue *queue, struct files_batch *batch, int fd, void *to,
                size_t bytes, uint64_t offset)
{
    submit_parts(queue, &(struct request){ batch, READ, fd, to, bytes, offset, NULL, NULL });
}

void files_write(struct files_queue *queue, struct files_batch *batch, int fd, const void *from,
                 size_t bytes, uint64_t offset)
{
    struct request request = { batch, WRITE, fd, NULL, bytes, offset, NULL, NULL };
    memcpy(&request.at, &from, sizeof from); /* reads and writes share the field */
    submit_parts(queue, &request);
}

void files_call(struct files_queue *queue, struct files_batch *batch, int (*call)(void *arg),
                void *arg)
{
    submit(queue, &(struct request){ batch, CALL, -1, NULL, 0, 0, call, arg });
}

bool files_is_busy(struct files_queue *queue, const struct files_batch *batch)
{
    pthread_mutex_lock(&queue->lock);
    const bool busy = batch->on_threads > 0;
    pthread_mutex_unlock(&queue->lock);
    return busy;
}

int files_wait(struct files_queue *queue, struct files_batch *batch)
{
    if (queue->ring) files_ring_wait(queue->ring, batch);
    pthread_mutex_lock(&queue->lock);
    while (batch->on_threads) pthread_cond_wait(&queue->changed, &queue->lock);
    const int error = batch->error;
    batch->error = 0;
    pthread_mutex_unlock(&queue->lock);
    return error;
}
