/*
 * 3_atomics.cu - one table per block, with atomics in shared memory.
 *
 * Idea:   256 counters of 32 bits per block, to which every thread adds by atomicAdd()
 * Cost:   one atomic per value, and 1 KB per block instead of six
 * Wastes: lanes with different values in one bank are serialised, also between warps; so were lanes
 *         with one value when an addition was a lock, a read and a write
 * From:   the lecture names the atomic increment and counters in shared memory, without code.
 *         Atomics in shared memory came with sm_12, and are native instructions since sm_50
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void histogram256_3(const uint32_t *in, uint64_t n, unsigned long long *bins)
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
    __syncthreads(); /* the block has counted its values */
    atomicAdd(&bins[t], (unsigned long long)count[t]);
}
