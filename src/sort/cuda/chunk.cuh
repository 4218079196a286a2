/*
 * sort/cuda/chunk.cuh - device code of short.cu: checks adjacent segments, and lists them by class.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_CHUNK_CUH
#define ECHI_SORT_CUDA_CHUNK_CUH

#include "cuda/device/data_error.cuh"
#include "sort/cuda/short.cuh"

static __device__ inline void chunk_report(const struct sort_groups &g, enum echi_data_error what,
                                           uint64_t where)
{
    report_error(g.data_error, what, where);
    atomicOr(&g.state->bad, 1);
}

/* The length of segment s, which begins at `in`; 0 if it is invalid, which is reported. */
static __device__ inline uint64_t chunk_length(const struct sort_groups &g, uint64_t s,
                                               uint64_t &in)
{
    const uint64_t begin = echi_index_at(g.offsets, g.index, s);
    const uint64_t end =
        g.ends ? echi_index_at(g.ends, g.index, s) : echi_index_at(g.offsets, g.index, s + 1);
    in = begin;
    if (begin > g.n)
        chunk_report(g, ECHI_OFFSETS_PAST_END, s);
    else if (g.ends && s && begin < echi_index_at(g.ends, g.index, s - 1))
        chunk_report(g, ECHI_SEGMENTS_OVERLAP, s);
    else if (g.ends && (end < begin || end > g.n))
        chunk_report(g, ECHI_SEGMENT_END, s);
    else if (end < begin)
        chunk_report(g, ECHI_OFFSETS_DECREASE, s + 1);
    else if (end > g.n)
        chunk_report(g, ECHI_OFFSETS_PAST_END, s + 1);
    else if (end - begin > (uint64_t)1 << 31)
        chunk_report(g, ECHI_SEGMENT_TOO_LONG, s);
    else
        return end - begin;
    return 0;
}

/* The class of n > 0 elements. */
static __device__ inline uint32_t chunk_class(uint64_t n)
{
    return n == 1 ? 0 : 64 - __clzll((long long)(n - 1));
}

/* Puts a segment that is longer than a warp's words on its list. */
static __device__ inline void chunk_add_long(const struct sort_groups &g, uint64_t s, uint32_t c)
{
    const uint32_t list = c > g.most_class ? (uint32_t)SORT_LONG : c - WORDS_LOG - 1;
    const uint32_t at = atomicAdd(&g.state->counts[list], 1);
    if (at < g.capacity[list]) g.lists[list][at] = (uint32_t)s; /* always, if offsets are valid */
}

/* Lists the segments from `from` on that a warp can sort; afterwards all threads can read the
 * lists. */
static __device__ inline void chunk_classify(const struct sort_groups &g, struct short_chunk &chunk,
                                             uint64_t from)
{
    enum { THREADS = SORT_SHORT_THREADS, EACH = SORT_CHUNK / THREADS, NONE = SORT_SHORT_CLASSES };
    const uint32_t me = threadIdx.x;
    const uint32_t all = (uint32_t)min((uint64_t)g.chunk, g.groups - from);
    uint32_t c[EACH], rank[EACH];
    if (me < SORT_SHORT_CLASSES) chunk.counts[me] = 0;
    __syncthreads(); /* the counters are clear */
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const uint32_t k = me + i * THREADS;
        uint64_t in = 0, n = 0;
        c[i] = NONE;
        rank[i] = 0;
        if (k < all) n = chunk_length(g, from + k, in);
        if (n == 0) continue;
        const uint32_t class_of_n = chunk_class(n);
        if (class_of_n > WORDS_LOG) {
            chunk_add_long(g, from + k, class_of_n);
            continue;
        }
        c[i] = class_of_n;
        chunk.in[k] = in;
        chunk.n[k] = (uint16_t)n;
        rank[i] = atomicAdd(&chunk.counts[c[i]], 1);
    }
    __syncthreads(); /* every segment is counted */
    if (me < 32) {
        const uint32_t count = me < SORT_SHORT_CLASSES ? chunk.counts[me] : 0;
        const uint32_t through = warp_scan(count);
        if (me < SORT_SHORT_CLASSES) chunk.first[me] = through - count;
    }
    __syncthreads(); /* the classes have their places in the list */
#pragma unroll
    for (int i = 0; i < EACH; i++)
        if (c[i] != NONE) chunk.list[chunk.first[c[i]] + rank[i]] = (uint16_t)(me + i * THREADS);
    __syncthreads(); /* the list is written */
}

#endif
