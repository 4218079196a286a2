/*
 * late_driver.c - a CUDA driver that runs each stream in a thread with random delays, for
 * test_exchange.
 *
 *     stream 0   copy  copy  record e  |  copy            one thread per stream, which waits a
 *     stream 1   wait e  ......... call                   random time before each operation
 *
 * A missing dependency therefore causes a failure. The SIMT emulator cannot show it, because it
 * runs every operation immediately.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "late_driver.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FAILED = 700, ROOM = 4096 };

struct CUevent_st {
    size_t recorded, done; /* number of records */
};

struct task {
    CUevent event; /* the record to reach or to wait for; NULL: a copy or a call */
    bool wait;
    size_t times;
    void *to;
    const void *from;
    size_t bytes;
    void (*run)(void *arg, size_t number);
};

struct CUstream_st {
    pthread_t thread;
    struct task tasks[ROOM];
    size_t given, done;
    bool closing;
    uint64_t random;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static size_t left;
static long may_succeed = -1;

void late_fail_after(long most)
{
    pthread_mutex_lock(&lock);
    may_succeed = most;
    pthread_mutex_unlock(&lock);
}

size_t late_left(void)
{
    pthread_mutex_lock(&lock);
    size_t now = left;
    pthread_mutex_unlock(&lock);
    return now;
}

/* ---- Streams ---- */

static void wait_a_while(struct CUstream_st *stream)
{
    stream->random = stream->random * 6364136223846793005u + 1442695040888963407u;
    uint64_t r = stream->random >> 40;
    struct timespec t = { 0, (long)(r % 20000) };
    if (r % 4 == 0) nanosleep(&t, NULL);
}

static void *run_stream(void *arg)
{
    struct CUstream_st *stream = arg;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (stream->done == stream->given && !stream->closing)
            pthread_cond_wait(&changed, &lock);
        if (stream->done == stream->given) break;
        struct task task = stream->tasks[stream->done % ROOM];
        while (task.wait && task.event->done < task.times) pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
        wait_a_while(stream);
        if (task.run)
            task.run(task.to, task.bytes);
        else if (task.bytes)
            memcpy(task.to, task.from, task.bytes);
        pthread_mutex_lock(&lock);
        if (task.event && !task.wait) task.event->done = task.times;
        stream->done++;
        if (!task.event) left--;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static CUresult give(CUstream stream, struct task task)
{
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    if (may_succeed == 0 && !task.run) {
        result = FAILED;
    } else {
        if (may_succeed > 0) may_succeed--;
        while (stream->given - stream->done == ROOM) pthread_cond_wait(&changed, &lock);
        if (task.event) task.times = task.wait ? task.event->recorded : ++task.event->recorded;
        stream->tasks[stream->given++ % ROOM] = task;
        if (!task.event) left++;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return result;
}

void late_call(CUstream stream, void (*run)(void *arg, size_t number), void *arg, size_t number)
{
    give(stream, (struct task){ .run = run, .to = arg, .bytes = number });
}

static CUresult create_stream(CUstream *stream, unsigned flags)
{
    static uint64_t streams;
    (void)flags;
    *stream = calloc(1, sizeof **stream);
    if (!*stream) return CUDA_ERROR_OUT_OF_MEMORY;
    (*stream)->random = ++streams;
    return pthread_create(&(*stream)->thread, NULL, run_stream, *stream) == 0 ? CUDA_SUCCESS
                                                                              : FAILED;
}

static CUresult destroy_stream(CUstream stream)
{
    pthread_mutex_lock(&lock);
    stream->closing = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(stream->thread, NULL);
    free(stream);
    return CUDA_SUCCESS;
}

static CUresult wait_for_stream(CUstream stream)
{
    pthread_mutex_lock(&lock);
    for (size_t given = stream->given; stream->done < given;) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

static CUresult copy(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return give(stream, (struct task){ .to = (void *)(uintptr_t)to,
                                       .from = (const void *)(uintptr_t)from,
                                       .bytes = bytes });
}

/* ---- Events ---- */

static CUresult create_event(CUevent *event, unsigned flags)
{
    (void)flags;
    *event = calloc(1, sizeof **event);
    return *event ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult destroy_event(CUevent event)
{
    free(event);
    return CUDA_SUCCESS;
}

static CUresult record(CUevent event, CUstream stream)
{
    return give(stream, (struct task){ .event = event });
}

static CUresult wait_in_stream(CUstream stream, CUevent event, unsigned flags)
{
    (void)flags;
    return give(stream, (struct task){ .event = event, .wait = true });
}

static CUresult query_event(CUevent event)
{
    pthread_mutex_lock(&lock);
    CUresult result = event->done == event->recorded ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
    pthread_mutex_unlock(&lock);
    return result;
}

/* ---- Other functions ---- */

static CUresult push(CUcontext context)
{
    (void)context;
    return CUDA_SUCCESS;
}

static CUresult pop(CUcontext *context)
{
    *context = NULL;
    return CUDA_SUCCESS;
}

static CUresult allocate(void **pointer, size_t bytes, unsigned flags)
{
    (void)flags;
    *pointer = malloc(bytes);
    return *pointer ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult release(void *pointer)
{
    free(pointer);
    return CUDA_SUCCESS;
}

void late_driver(struct echi_driver *driver)
{
    *driver = (struct echi_driver){ .cuCtxPushCurrent = push,
                                    .cuCtxPopCurrent = pop,
                                    .cuMemHostAlloc = allocate,
                                    .cuMemFreeHost = release,
                                    .cuMemcpyAsync = copy,
                                    .cuStreamCreate = create_stream,
                                    .cuStreamDestroy = destroy_stream,
                                    .cuStreamSynchronize = wait_for_stream,
                                    .cuStreamWaitEvent = wait_in_stream,
                                    .cuEventCreate = create_event,
                                    .cuEventDestroy = destroy_event,
                                    .cuEventRecord = record,
                                    .cuEventQuery = query_event };
}
