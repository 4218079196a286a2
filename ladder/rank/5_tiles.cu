/*
 * 5_tiles.cu - all blocks, tile by tile through shared memory.
 *
 * Idea:   a block loads tiles of 256 keys into shared memory, once for its 256 threads, as
 *         order-preserving bits; a thread reads four keys per load. If a tile lies entirely before
 *         or after the own key, one comparison decides, also for equal keys
 * Cost:   n * n comparisons, n / 4 loads per thread; a block reads the array once instead of 8
 *         times
 * Wastes: it is still O(n^2)
 * From:   the tiles of the lecture's matrix product
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

/* The number of keys of a tile that are less than own, or less or equal. */
template <bool OR_EQUAL>
static __device__ inline unsigned rank_5_count(const uint4 *tile, uint32_t own)
{
    unsigned count = 0;
#pragma unroll 8
    for (unsigned i = 0; i < 64; i++) {
        uint4 x = tile[i];
        count += OR_EQUAL ? x.x <= own : x.x < own;
        count += OR_EQUAL ? x.y <= own : x.y < own;
        count += OR_EQUAL ? x.z <= own : x.z < own;
        count += OR_EQUAL ? x.w <= own : x.w < own;
    }
    return count;
}

extern "C" __global__ void rank_5(const element *in, uint64_t n, element *out)
{
    __shared__ uint4 tile[64];
    uint32_t *x = (uint32_t *)tile;
    unsigned t = threadIdx.x;
    uint64_t mine = global_thread(), first = (uint64_t)blockIdx.x * 256, rank = 0;
    element key = mine < n ? in[mine] : (element)0;
    uint32_t own = order_bits(key);
    for (uint64_t at = 0; at < n; at += 256) {
        unsigned here = n - at < 256 ? (unsigned)(n - at) : 256;
        if (t < here) x[t] = order_bits(in[at + t]);
        __syncthreads(); /* the tile is loaded */
        if (here == 256 && at < first) {
            rank += rank_5_count<true>(tile, own);
        } else if (here == 256 && at > first) {
            rank += rank_5_count<false>(tile, own);
        } else {
            for (unsigned i = 0; i < here; i++)
                rank += x[i] < own || (x[i] == own && at + i < mine);
        }
        __syncthreads(); /* all have read before the next tile is loaded */
    }
    if (mine < n) out[rank] = key;
}
