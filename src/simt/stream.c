/*
 * simt/stream.c - the driver's function for streams of a priority, which has no effect: all work is
 * complete when a call returns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simt/driver.h"

CUresult simt_cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
    (void)priority;
    return simt_cuStreamCreate(stream, flags);
}
