/*
 * topk/cuda/order.cuh - device code: a block sorts all keys of 8 or 16 bits of a group by counting
 * them, and writes the first k.
 *
 *     counts   each warp counts the digits of its part of the keys: a digit's rank in the warp
 *     starts   sums of the counts of all warps, then of all digits
 *     write    an element whose place is less than k
 *
 * Keys of 16 bits take two digits of 8 bits: by the lower one to shared memory, then by the other.
 * A large k of few elements takes less time than with an interval and a sort of the elements in it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_TOPK_CUDA_ORDER_CUH
#define ECHI_TOPK_CUDA_ORDER_CUH

#include "cuda/device/warp.cuh"
#include "topk/cuda/group.cuh"

enum {
    ORDER_EACH = TOPK_ORDER_MOST / TOPK_THREADS, /* elements of a thread, at most */
    ORDER_WARPS = TOPK_THREADS / 32,
    ORDER_DIGITS = 256
};

struct order_shared {
    union {
        uint16_t of[ORDER_WARPS][ORDER_DIGITS];
        uint4 vectors[ORDER_WARPS * ORDER_DIGITS / 8];
    } counts;
    uint32_t starts[ORDER_DIGITS];
    uint32_t sums[ORDER_DIGITS / 32];
};

/* rank[j] becomes the place of element j of the thread in the stable order by its digit.  `each`
 * elements of a thread are in use: those of a warp are adjacent. */
static __device__ inline void order_ranks(struct order_shared &s, const uint32_t (&x)[ORDER_EACH],
                                          uint32_t shift, uint32_t each,
                                          uint32_t (&rank)[ORDER_EACH])
{
    const uint32_t t = threadIdx.x, warp = t / 32;
    uint16_t *mine = s.counts.of[warp];
    s.counts.vectors[t] = make_uint4(0, 0, 0, 0); /* of this warp */
    __syncwarp();
#pragma unroll
    for (uint32_t j = 0; j < ORDER_EACH; j++) {
        if (j >= each) break;
        const uint32_t digit = x[j] >> shift & (ORDER_DIGITS - 1);
        const uint32_t peers = warp_match<8>(digit), before = __popc(peers & lanes_below());
        rank[j] = mine[digit] + before;
        __syncwarp(); /* all lanes have read */
        if (before == 0) mine[digit] = (uint16_t)(rank[j] + (uint32_t)__popc(peers));
        __syncwarp(); /* the counts are complete */
    }
    __syncthreads(); /* all warps have counted */
    uint32_t total = 0, sum = 0;
    if (t < ORDER_DIGITS) {
#pragma unroll
        for (uint32_t w = 0; w < ORDER_WARPS; w++) {
            const uint32_t count = s.counts.of[w][t];
            s.counts.of[w][t] = (uint16_t)total;
            total += count;
        }
        sum = warp_scan(total);
        if (lane_id() == 31) s.sums[warp] = sum;
    }
    __syncthreads(); /* the sums of warps of digits are written */
    if (t < ORDER_DIGITS) {
        for (uint32_t w = 0; w < warp; w++) sum += s.sums[w];
        s.starts[t] = sum - total;
    }
    __syncthreads(); /* the starts are complete */
#pragma unroll
    for (uint32_t j = 0; j < ORDER_EACH; j++) {
        if (j >= each) break;
        const uint32_t digit = x[j] >> shift & (ORDER_DIGITS - 1);
        rank[j] += mine[digit] + s.starts[digit];
    }
}

/* The first element of a thread; the next ones are 32 apart. */
static __device__ inline uint32_t order_first(uint32_t each)
{
    return threadIdx.x / 32 * each * 32 + lane_id();
}

/* Elements after the group have the last place. */
template <typename key>
static __device__ inline void order_select(const struct topk_args &a, struct order_shared &s,
                                           const struct group &group)
{
    const uint32_t n = (uint32_t)group.n, k = (uint32_t)group.k;
    const uint32_t each = (n + TOPK_THREADS - 1) / TOPK_THREADS, first = order_first(each);
    const key *in = (const key *)a.in + group.begin;
    uint32_t x[ORDER_EACH], rank[ORDER_EACH];
#pragma unroll
    for (uint32_t j = 0; j < ORDER_EACH; j++) {
        const uint32_t i = first + 32 * j;
        x[j] = j < each && i < n ? in[i] : 0;
    }
#pragma unroll
    for (uint32_t j = 0; j < ORDER_EACH; j++)
        x[j] = first + 32 * j < n ? (key)key_of(a, (ukey)x[j]) : (key) ~(key)0;
    order_ranks(s, x, 0, each, rank);
    if (sizeof(key) == 2) {
        uint32_t *words = (uint32_t *)shared_bytes;
#pragma unroll
        for (uint32_t j = 0; j < ORDER_EACH; j++)
            if (j < each) words[rank[j]] = x[j] << 16 | (first + 32 * j);
        __syncthreads(); /* the words are in order by the lower digit, and the counts are read */
#pragma unroll
        for (uint32_t j = 0; j < ORDER_EACH; j++)
            if (j < each) x[j] = words[first + 32 * j];
        order_ranks(s, x, 24, each, rank);
    }
#pragma unroll
    for (uint32_t j = 0; j < ORDER_EACH; j++) {
        const uint32_t i = sizeof(key) == 2 ? x[j] & 0xffff : first + 32 * j;
        if (j < each && rank[j] < k) write_result(a, group, rank[j], i);
    }
    __syncthreads(); /* all threads have read the counts */
}

template <typename key> static __device__ inline void order_groups(const struct topk_args &a)
{
    __shared__ struct order_shared s;
    wait_for_earlier();
    for (uint64_t i = blockIdx.x; i < a.groups; i += gridDim.x) {
        const struct group group = group_at(a, i);
        if (group.k) order_select<key>(a, s, group);
    }
}

#endif
