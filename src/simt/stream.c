/*
 * simt/stream.c - streams and events.
 *
 * Without the option "late", work is complete when the call that queues it returns. With it, work
 * stays in its stream until a call has to wait for it, which is the latest time that CUDA permits.
 * A call that does not wait for work of another stream, or reads a result too early, sees the old
 * contents of the memory then, in every run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simt/stream.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct CUstream_st {
    unsigned long long id;
    unsigned long long queued, done; /* work, since the stream was created */
    struct simt_work *first, *last;
    struct CUstream_st *next;
};

struct CUevent_st {
    unsigned long long stream, position; /* the event occurs when `position` works are done */
};

static struct CUstream_st default_stream;
static struct CUstream_st *streams = &default_stream; /* all */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- Work ---- */

enum { ALIGN = 64 }; /* of parameters */

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* A copy with everything that the caller may change after the call: the parameters of a launch, and
 * the source of a copy from pageable memory. */
static struct simt_work *keep(const struct simt_work *work)
{
    const struct simt_kernel *k = work->kind == SIMT_LAUNCH ? work->launch.function->kernel : NULL;
    const size_t count = k ? k->parameter_count : 0, head = aligned(sizeof *work);
    const size_t pointers = aligned(count * sizeof(void *));
    size_t bytes = head + pointers + (work->pageable ? aligned(work->bytes) : 0);
    for (size_t i = 0; i < count; i++) bytes += aligned(k->parameter_bytes[i]);
    struct simt_work *kept = aligned_alloc(ALIGN, bytes);
    if (!kept) return NULL;
    memcpy(kept, work, sizeof *work);
    void **parameters = (void **)(void *)((char *)kept + head);
    char *at = (char *)kept + head + pointers;
    for (size_t i = 0; i < count; i++) {
        parameters[i] = memcpy(at, work->launch.parameters[i], k->parameter_bytes[i]);
        at += aligned(k->parameter_bytes[i]);
    }
    if (k) kept->launch.parameters = parameters;
    if (work->pageable) kept->from = memcpy(at, work->from, work->bytes);
    return kept;
}

static CUresult drain(CUstream stream, unsigned long long position);

static CUresult perform(struct simt_work *work)
{
    if (work->kind != SIMT_AWAIT) return simt_perform(work);
    for (CUstream s = streams; s; s = s->next)
        if (s->id == work->event.stream) return drain(s, work->event.position);
    return CUDA_SUCCESS; /* a stream's work is done before it is destroyed */
}

/* Does the work of a stream up to a position. The result is that of the first failure. */
static CUresult drain(CUstream stream, unsigned long long position)
{
    CUresult result = CUDA_SUCCESS;
    while (stream->first && stream->done < position) {
        struct simt_work *work = stream->first;
        stream->first = work->next;
        stream->done++;
        const CUresult one = perform(work);
        if (result == CUDA_SUCCESS) result = one;
        free(work);
    }
    return result;
}

static CUresult drain_all(void)
{
    CUresult result = CUDA_SUCCESS;
    for (CUstream s = streams; s; s = s->next) {
        const CUresult one = drain(s, s->queued);
        if (result == CUDA_SUCCESS) result = one;
    }
    return result;
}

CUresult simt_submit(CUstream stream, struct simt_work *work)
{
    CUresult result = CUDA_SUCCESS;
    if (!simt_options.late) return work->kind == SIMT_AWAIT ? CUDA_SUCCESS : simt_perform(work);
    if (!stream) stream = &default_stream;
    pthread_mutex_lock(&lock);
    if (work->waits) { /* for the work before it, and the call for it */
        result = drain(stream, stream->queued);
        const CUresult one = perform(work);
        if (result == CUDA_SUCCESS) result = one;
    } else {
        struct simt_work *kept = keep(work);
        if (kept) {
            kept->next = NULL;
            if (stream->first)
                stream->last->next = kept;
            else
                stream->first = kept;
            stream->last = kept;
            stream->queued++;
        } else {
            result = CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult simt_wait_for_all(void)
{
    if (!simt_options.late) return CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    const CUresult result = drain_all();
    pthread_mutex_unlock(&lock);
    return result;
}

/* ---- Streams ---- */

CUresult simt_cuStreamCreate(CUstream *stream, unsigned flags)
{
    static unsigned long long ids;
    (void)flags;
    *stream = calloc(1, sizeof **stream);
    if (!*stream) return CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&lock);
    (*stream)->id = ++ids;
    (*stream)->next = default_stream.next;
    default_stream.next = *stream;
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

CUresult simt_cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
    (void)priority; /* one launch at a time */
    return simt_cuStreamCreate(stream, flags);
}

CUresult simt_cuStreamGetId(CUstream stream, unsigned long long *id)
{
    *id = stream ? stream->id : 0;
    return CUDA_SUCCESS;
}

CUresult simt_cuStreamIsCapturing(CUstream stream, int *state)
{
    (void)stream;
    *state = 0;
    return CUDA_SUCCESS;
}

CUresult simt_cuStreamDestroy(CUstream stream)
{
    if (!stream || stream == &default_stream) return CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    const CUresult result = drain(stream, stream->queued);
    for (CUstream s = streams; s; s = s->next)
        if (s->next == stream) s->next = stream->next;
    pthread_mutex_unlock(&lock);
    free(stream);
    return result;
}

CUresult simt_cuStreamSynchronize(CUstream stream)
{
    if (!simt_options.late) return CUDA_SUCCESS;
    if (!stream) stream = &default_stream;
    pthread_mutex_lock(&lock);
    const CUresult result = drain(stream, stream->queued);
    pthread_mutex_unlock(&lock);
    return result;
}

/* A query does one piece of work, so that a loop of queries ends. */
static CUresult query(CUstream stream, unsigned long long position)
{
    if (stream->done >= position) return CUDA_SUCCESS;
    const CUresult result = drain(stream, stream->done + 1);
    return result == CUDA_SUCCESS && stream->done < position ? CUDA_ERROR_NOT_READY : result;
}

CUresult simt_cuStreamQuery(CUstream stream)
{
    if (!simt_options.late) return CUDA_SUCCESS;
    if (!stream) stream = &default_stream;
    pthread_mutex_lock(&lock);
    const CUresult result = query(stream, stream->queued);
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult simt_cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    if (!event || flags) return CUDA_ERROR_INVALID_VALUE;
    struct simt_work work = { .kind = SIMT_AWAIT, .event = { event->stream, event->position } };
    return simt_submit(stream, &work);
}

/* ---- Events ---- */

CUresult simt_cuEventCreate(CUevent *event, unsigned flags)
{
    (void)flags;
    *event = calloc(1, sizeof **event);
    return *event ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult simt_cuEventDestroy(CUevent event)
{
    free(event);
    return CUDA_SUCCESS;
}

CUresult simt_cuEventRecord(CUevent event, CUstream stream)
{
    if (!event) return CUDA_ERROR_INVALID_VALUE;
    if (!stream) stream = &default_stream;
    pthread_mutex_lock(&lock);
    event->stream = stream->id;
    event->position = stream->queued;
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

static CUresult reach(CUevent event, CUresult (*to)(CUstream, unsigned long long))
{
    CUresult result = CUDA_SUCCESS;
    if (!event) return CUDA_ERROR_INVALID_VALUE;
    if (!simt_options.late) return CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    for (CUstream s = streams; s; s = s->next)
        if (s->id == event->stream) result = to(s, event->position);
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult simt_cuEventSynchronize(CUevent event)
{
    return reach(event, drain);
}

CUresult simt_cuEventQuery(CUevent event)
{
    return reach(event, query);
}

/* Events do not measure a GPU's time. */
CUresult simt_cuEventElapsedTime(float *milliseconds, CUevent from, CUevent to)
{
    *milliseconds = 0;
    return from && to ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
