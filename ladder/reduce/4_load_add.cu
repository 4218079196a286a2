/*
 * 4_load_add.cu - the first addition while loading.
 *
 * Idea:   a thread loads two elements and adds them: half as many blocks for the same n
 * Cost:   two loads per thread, which are in flight together; then 8 steps
 * Wastes: in the last six steps one warp works, and all eight warps wait at the barriers
 * From:   the lecture's fourth variant
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void reduce_4(const element *in, uint64_t n, element *sums)
{
    __shared__ element x[256];
    unsigned t = threadIdx.x;
    uint64_t i = (uint64_t)blockIdx.x * 512 + t;
    element first = i < n ? in[i] : (element)0, second = i + 256 < n ? in[i + 256] : (element)0;
    x[t] = first + second;
    __syncthreads(); /* x is loaded */
    for (unsigned s = 128; s > 0; s /= 2) {
        if (t < s) x[t] += x[t + s];
        __syncthreads(); /* before the next step reads these sums */
    }
    if (t == 0) sums[blockIdx.x] = x[0];
}
