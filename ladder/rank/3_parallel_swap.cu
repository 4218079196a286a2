/*
 * 3_parallel_swap.cu - one block, in place.
 *
 * Idea:   all threads read the array from shared memory; then each reads its own key, all wait at a
 *         barrier, and each writes its key to its position: no second array
 * Cost:   n steps, two barriers
 * Wastes: the rank is still in memory, although in shared memory, and the key is read twice; one
 *         block uses one multiprocessor
 * From:   the course's "parallel swap"
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void rank_3(element *keys, uint64_t n)
{
    __shared__ element x[1024];
    __shared__ unsigned rank[1024];
    unsigned t = threadIdx.x, count = (unsigned)n; /* at most 1024 */
    if (t < count) x[t] = keys[t];
    __syncthreads(); /* x is loaded */
    element own = 0;
    if (t < count) {
        rank[t] = 0;
        for (unsigned i = 0; i < count; i++)
            if (before(x[i], x[t]) || (!before(x[t], x[i]) && i < t)) rank[t]++;
        own = keys[t];
    }
    __syncthreads(); /* every thread has read its key */
    if (t < count) keys[rank[t]] = own;
}
