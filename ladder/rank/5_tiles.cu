/*
 * 5_tiles.cu - all blocks, tile by tile through shared memory.
 *
 * Idea:   a block reads 256 keys at a time into shared memory, once for its 256 threads, as the
 *         bits that they order by; a thread reads four of them in one load.  Of a tile that lies
 *         wholly before or behind the own key one comparison decides, ties too
 * Cost:   n * n comparisons, n / 4 loads a thread; a block reads the array once instead of 8 times
 * Wastes: it is n * n, and no care changes that
 * From:   the tiles of the lecture's matrix product
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

/* How many of a tile are less than own, or less or equal. */
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
        __syncthreads(); /* the tile is there */
        if (here == 256 && at < first) {
            rank += rank_5_count<true>(tile, own);
        } else if (here == 256 && at > first) {
            rank += rank_5_count<false>(tile, own);
        } else {
            for (unsigned i = 0; i < here; i++)
                rank += x[i] < own || (x[i] == own && at + i < mine);
        }
        __syncthreads(); /* before the next tile takes its place */
    }
    if (mine < n) out[rank] = key;
}
