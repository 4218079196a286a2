/*
 * cuda/device/segments.cuh - device code: where a segment is, and checks of its offsets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_DEVICE_SEGMENTS_CUH
#define ECHI_CUDA_DEVICE_SEGMENTS_CUH

#include <stdint.h>
#include "core/data_error.h"
#include "core/index.h"

/* Segments of an array of n elements: offsets [segments + 1], or begins and ends [segments]. */
struct segments {
    const void *offsets, *ends; /* ends: may be NULL */
    struct echi_index index;
    uint64_t n;
};

/* A segment, and what is wrong with it: then n is 0, and `where` is the number of an offset. */
struct segment {
    uint64_t begin, n;
    uint32_t error; /* enum echi_data_error; 0: none */
    uint64_t where;
};

static __device__ inline struct segment segment_at(const struct segments &a, uint64_t s)
{
    struct segment found = { echi_index_at(a.offsets, a.index, s), 0, 0, s };
    const uint64_t begin = found.begin;
    const uint64_t end =
        a.ends ? echi_index_at(a.ends, a.index, s) : echi_index_at(a.offsets, a.index, s + 1);
    if (begin > a.n)
        found.error = ECHI_OFFSETS_PAST_END;
    else if (a.ends && s && begin < echi_index_at(a.ends, a.index, s - 1))
        found.error = ECHI_SEGMENTS_OVERLAP;
    else if (a.ends && (end < begin || end > a.n))
        found.error = ECHI_SEGMENT_END;
    else if (end < begin || end > a.n) {
        found.error = end < begin ? ECHI_OFFSETS_DECREASE : ECHI_OFFSETS_PAST_END;
        found.where = s + 1;
    } else {
        found.n = end - begin;
    }
    return found;
}

#endif
