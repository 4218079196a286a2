/*
 * 2_atomics.cu - one table a block, counted by atomics in shared memory.
 *
 * Idea:   256 counters of 32 bits a block, to which every thread adds by atomicAdd()
 * Cost:   an atomic for each value, and 1 KB a block instead of six
 * Wastes: lanes with different values in one bank take turns, and so do lanes of other warps;
 *         lanes with one value want one word, which was as slow where an addition was a lock, a
 *         read and a write
 * From:   atomics in shared memory came with sm_12, and have been instructions of their own since
 *         sm_50
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void histogram256_2(const uint32_t *in, uint64_t n, unsigned long long *bins)
{
    __shared__ uint32_t count[256];
    const unsigned t = threadIdx.x;
    count[t] = 0;
    __syncthreads(); /* all counters are 0 */
    for (uint64_t i = 4 * global_thread(); i < n; i += 4 * global_threads()) {
        if (i + 4 <= n) {
            const uint32_t four = in[i / 4];
            for (unsigned b = 0; b < 4; b++) atomicAdd(&count[four >> 8 * b & 255], 1u);
        } else {
            for (uint64_t last = i; last < n; last++)
                atomicAdd(&count[((const uint8_t *)in)[last]], 1u);
        }
    }
    __syncthreads(); /* the block has counted all of its own */
    atomicAdd(&bins[t], (unsigned long long)count[t]);
}
