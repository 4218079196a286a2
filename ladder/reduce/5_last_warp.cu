/*
 * 5_last_warp.cu - the last warp without block barriers.
 *
 * Idea:   from 64 sums on, only the first 32 threads work, and they need not wait for other warps:
 *         their six steps are unrolled, with __syncwarp() between reading and writing
 * Cost:   no block barrier for the steps of one warp: 3 barriers per block instead of 9
 * Wastes: shared memory is written and read for sums that a lane could pass to another directly
 * From:   the lecture's fifth variant, which used `volatile` without any barrier, because the lanes
 *         of a warp ran in lockstep then. Since sm_70 they must be synchronised
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void reduce_5(const element *in, uint64_t n, element *sums)
{
    __shared__ element x[256];
    unsigned t = threadIdx.x;
    uint64_t i = (uint64_t)blockIdx.x * 512 + t;
    element first = i < n ? in[i] : (element)0, second = i + 256 < n ? in[i + 256] : (element)0;
    x[t] = first + second;
    __syncthreads(); /* x is loaded */
    for (unsigned s = 128; s > 32; s /= 2) {
        if (t < s) x[t] += x[t + s];
        __syncthreads(); /* before the next step reads these sums */
    }
    if (t >= 32) return;
#pragma unroll
    for (unsigned s = 32; s > 0; s /= 2) {
        element sum = x[t] + x[t + s]; /* the sums of lanes from s on are not used */
        __syncwarp();                  /* all have read */
        x[t] = sum;
        __syncwarp(); /* all have written */
    }
    if (t == 0) sums[blockIdx.x] = x[0];
}
