/*
 * 3_patterns.cu - lanes that read one word, permuted words, or several words of one bank.
 *
 * Idea:   only the words matter, not which lane reads which: a permutation of 32 adjacent words is
 *         as good as their order. Lanes that read the same word share it (broadcast). If 6 lanes
 *         read different words of one bank, the load takes 6 wavefronts, whatever the others do
 * Cost:   1, 1, 2 and 6 wavefronts per load
 * Wastes: with a conflict, the other 31 banks wait for one
 * From:   the lecture names the broadcast and shows patterns without conflicts and with conflicts
 *         of 2 and of 6 lanes; its pictures are lost, so the patterns here are new
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

/* The word at which a lane begins.  ways: 0 for a broadcast, 1 for a permutation, otherwise the
 * number of lanes that share bank 0; each other lane has a bank of its own. */
static __device__ inline unsigned banks_3_word(uint32_t ways, unsigned lane)
{
    if (ways == 0) return 7;
    if (ways == 1) return (5 * lane + 3) % 32;
    return lane < ways ? 32 * lane : lane;
}

extern "C" __global__ void banks_3(const uint32_t *in, uint64_t n, uint32_t ways, uint32_t *sums)
{
    __shared__ uint32_t x[1280];
    uint64_t first = 256 * global_thread(); /* of this thread's accesses */
    const uint32_t *from = &x[banks_3_word(ways, threadIdx.x % 32)];
    uint32_t sum = 0;
    for (unsigned i = threadIdx.x; i < 1280; i += blockDim.x) x[i] = in[i];
    __syncthreads(); /* x is loaded */
    if (first >= n) return;
    unsigned count = n - first < 256 ? (unsigned)(n - first) : 256;
#pragma unroll 16
    for (unsigned i = 0; i < count; i++) sum += from[i];
    sums[global_thread()] = sum;
}
