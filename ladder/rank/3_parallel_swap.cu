/*
 * 3_parallel_swap.cu - one block, in place.
 *
 * Idea:   all threads read the array from shared memory, where it lies once for the whole block;
 *         then each reads its own key, all wait, and each writes it to its place: no second array
 * Cost:   n steps, two barriers
 * Wastes: the rank is in memory still, though a nearer one, and the key is fetched twice; one block
 *         is one multiprocessor of the many
 * From:   the course's "parallel swap"
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void rank_3(element *keys, uint64_t n)
{
    __shared__ element x[1024];
    __shared__ unsigned rank[1024];
    unsigned t = threadIdx.x, count = (unsigned)n; /* of a block: 1024 at most */
    if (t < count) x[t] = keys[t];
    __syncthreads(); /* all of x is there */
    element own = 0;
    if (t < count) {
        rank[t] = 0;
        for (unsigned i = 0; i < count; i++)
            if (before(x[i], x[t]) || (!before(x[t], x[i]) && i < t)) rank[t]++;
        own = keys[t];
    }
    __syncthreads(); /* every key is in somebody's hand */
    if (t < count) keys[rank[t]] = own;
}
