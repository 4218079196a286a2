/*
 * sort/cuda/chunk.cuh - device code of short.cu: checks adjacent segments and lists them by class.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_CHUNK_CUH
#define ECHI_SORT_CUDA_CHUNK_CUH

#include "sort/cuda/short.cuh"

/* The class of n > 0 elements. */
static __device__ inline uint32_t chunk_class(uint64_t n)
{
    return 64 - __clzll((long long)(n - 1));
}

/* Puts a segment that is longer than a warp's words on its list. */
static __device__ inline void chunk_add_long(const struct sort_groups &g, uint64_t s, uint32_t c)
{
    const uint32_t list = c > g.most_class ? (uint32_t)SORT_LONG : COUNTED ? 0 : c - WORDS_LOG - 1;
    const uint32_t at = atomicAdd(&g.state->counts[list], 1);
    if (at < g.capacity[list]) g.lists[list][at] = (uint32_t)s; /* always, if offsets are valid */
}

/* ---- Classes ---- */

/* Lists those of the segments from `from` on, at most `most`, that a warp can sort; afterwards all
 * threads can read the list.  The others are added to the lists of other kernels. */
static __device__ inline void chunk_classify(const struct sort_short_args &a,
                                             struct short_chunk &chunk, uint64_t from,
                                             uint64_t segments, uint32_t most)
{
    enum { THREADS = SORT_SHORT_THREADS, EACH = SORT_CHUNK / THREADS, NONE = SORT_SHORT_CLASSES };
    const struct sort_groups &g = a.groups;
    const uint32_t me = threadIdx.x;
    const uint32_t all = (uint32_t)min((uint64_t)most, segments - from);
    uint32_t c[EACH], rank[EACH];
    if (me < SORT_SHORT_CLASSES) chunk.counts[me] = 0;
    __syncthreads(); /* the counters are clear */
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const uint32_t k = me + i * THREADS;
        uint64_t in = 0, n = 0;
        c[i] = NONE;
        rank[i] = 0;
        if (k < all) n = group_length(g, from + k, in);
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
