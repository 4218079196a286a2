/*
 * simt/stream.h - work of streams.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_STREAM_H
#define SIMT_STREAM_H

#include "simt/driver.h"
#include "simt/emulator.h"

enum simt_work_kind {
    SIMT_LAUNCH,
    SIMT_COPY,
    SIMT_SET,
    SIMT_FREE,
    SIMT_AWAIT /* work of another stream */
};

struct simt_work {
    enum simt_work_kind kind;
    struct simt_launch launch;
    void *to;         /* of a copy, a fill, a release */
    const void *from; /* of a copy */
    size_t bytes;
    unsigned char value; /* of a fill */
    bool pageable;       /* `from` may change after the call */
    bool waits;          /* the call waits for the work */
    struct {
        unsigned long long stream, position;
    } event;
    struct simt_work *next;
};

/* Does the work, or keeps it in the stream: the option "late". */
CUresult simt_submit(CUstream stream, struct simt_work *work);
/* Does one piece of work now: driver.c. */
CUresult simt_perform(struct simt_work *work);
CUresult simt_wait_for_all(void);

CUresult simt_cuStreamCreate(CUstream *stream, unsigned flags);
CUresult simt_cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority);
CUresult simt_cuStreamGetId(CUstream stream, unsigned long long *id);
CUresult simt_cuStreamIsCapturing(CUstream stream, int *state);
CUresult simt_cuStreamDestroy(CUstream stream);
CUresult simt_cuStreamSynchronize(CUstream stream);
CUresult simt_cuStreamQuery(CUstream stream);
CUresult simt_cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags);
CUresult simt_cuEventCreate(CUevent *event, unsigned flags);
CUresult simt_cuEventDestroy(CUevent event);
CUresult simt_cuEventRecord(CUevent event, CUstream stream);
CUresult simt_cuEventSynchronize(CUevent event);
CUresult simt_cuEventQuery(CUevent event);
CUresult simt_cuEventElapsedTime(float *milliseconds, CUevent from, CUevent to);

#endif
