/*
 * sort/cuda/chunk.cuh - device code of short.cu: checks adjacent segments, sorts tiny ones, and
 * lists the others by class.
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

/* The class of n > 1 elements. */
static __device__ inline uint32_t chunk_class(uint64_t n)
{
    return 64 - __clzll((long long)(n - 1));
}

/* Puts a segment that is longer than a warp's words on its list. */
static __device__ inline void chunk_add_long(const struct sort_groups &g, uint64_t s, uint32_t c)
{
    const uint32_t list = c > g.most_class ? (uint32_t)SORT_LONG : c - WORDS_LOG - 1;
    const uint32_t at = atomicAdd(&g.state->counts[list], 1);
    if (at < g.capacity[list]) g.lists[list][at] = (uint32_t)s; /* always, if offsets are valid */
}

/* ---- Segments of up to four elements: one thread each ---- */

enum { TINY = 4 };

#if POSITIONS
/* Moves the elements of one array, unit by unit. */
template <typename unit>
static __device__ inline void tiny_move(const void *from, void *to, const word (&w)[TINY],
                                        uint64_t at, uint32_t n, uint32_t units)
{
    const unit *in = (const unit *)from + at * units;
    unit *out = (unit *)to + at * units;
    for (uint32_t u = 0; u < units; u++) {
        unit moved[TINY];
#pragma unroll
        for (uint32_t j = 0; j < TINY; j++)
            if (j < n) moved[j] = in[position_of(w[j]) * units + u];
#pragma unroll
        for (uint32_t j = 0; j < TINY; j++)
            if (j < n) out[j * units + u] = moved[j];
    }
}

static __device__ inline void tiny_write_values(const struct sort_short_args &a,
                                                const word (&w)[TINY], uint64_t at, uint32_t n)
{
    const void *in = a.common.values_in;
    void *out = a.common.values_out;
    const uint32_t units = a.value_bytes ? a.value_bytes / a.unit : 0;
#pragma unroll
    for (uint32_t j = 0; j < TINY; j++) {
        if (j < n && a.index_bytes == 4) ((uint32_t *)out)[at + j] = position_of(w[j]);
        if (j < n && a.index_bytes == 8) ((uint64_t *)out)[at + j] = position_of(w[j]);
    }
    if (units == 0) return;
    if (a.unit == 4)
        tiny_move<uint32_t>(in, out, w, at, n, units);
    else if (a.unit == 8)
        tiny_move<uint64_t>(in, out, w, at, n, units);
    else if (a.unit == 2)
        tiny_move<uint16_t>(in, out, w, at, n, units);
    else
        tiny_move<uint8_t>(in, out, w, at, n, units);
}
#endif

/* Sorts n elements from `at` on.  All are read before the first is written. */
static __device__ inline void tiny_sort(const struct sort_short_args &a, uint64_t at, uint32_t n)
{
    const ukey *in = (const ukey *)a.common.keys_in + at;
    ukey *out = (ukey *)a.common.keys_out;
    word w[TINY];
#pragma unroll
    for (uint32_t j = 0; j < TINY; j++)
        w[j] = j < n ? (word)compared(a.common, in[j]) << POSITION_BITS | (POSITIONS ? j : 0)
                     : last_word();
#define COMPARE(i, j)                                                                              \
    {                                                                                              \
        const word x = w[i], y = w[j];                                                             \
        w[i] = x < y ? x : y;                                                                      \
        w[j] = x < y ? y : x;                                                                      \
    }
#define NETWORK_4
#include "sort/network.def"
#undef NETWORK_4
#undef COMPARE
#if POSITIONS
    tiny_write_values(a, w, at, n);
    if (a.gather && out) {
        tiny_move<ukey>(a.common.keys_in, out, w, at, n, 1);
        return;
    }
#endif
    if (out)
#pragma unroll
        for (uint32_t j = 0; j < TINY; j++)
            if (j < n) out[at + j] = order_decode(a.common.order, (ukey)(w[j] >> POSITION_BITS));
}

/* ---- Classes ---- */

/* Sorts the tiny ones of the segments from `from` on, and lists those that a warp can sort;
 * afterwards all threads can read the lists. */
static __device__ inline void chunk_classify(const struct sort_short_args &a,
                                             struct short_chunk &chunk, uint64_t from)
{
    enum { THREADS = SORT_SHORT_THREADS, EACH = SORT_CHUNK / THREADS, NONE = SORT_SHORT_CLASSES };
    const struct sort_groups &g = a.groups;
    const uint32_t me = threadIdx.x;
    const uint32_t all = (uint32_t)min((uint64_t)g.chunk, g.groups - from);
    uint32_t c[EACH], rank[EACH], tiny = 0;
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
        if (n <= TINY) {
            tiny |= 1u << i;
            continue;
        }
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
    for (; tiny; tiny &= tiny - 1) { /* one copy of the code */
        const struct group group = group_at(g, from + me + (__ffs((int)tiny) - 1) * THREADS);
        tiny_sort(a, group.in, (uint32_t)group.n);
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
