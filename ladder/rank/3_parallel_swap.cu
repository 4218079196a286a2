/*
 * 3_parallel_swap.cu - one block sorts in place, in shared memory.
 *
 * Idea:   the array is in shared memory, and the result overwrites it: all threads count; each
 *         takes its own key out of the array; each puts it back at its rank. A second array in
 *         shared memory is not needed
 * Cost:   n steps; four barriers: around the load, the counting, the taking out and the putting
 *         back
 * Wastes: rank and own key are read from memory in every step, although in shared memory; one
 *         block uses one multiprocessor
 * From:   the article's "parallel swap" (2010), invented because a second array did not fit the 16
 *         KB of shared memory of the time. It does not state where the ranks are; here they are
 *         in shared memory too
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void rank_3(const element *in, uint64_t n, element *out)
{
    __shared__ element x[1024];
    __shared__ unsigned rank[1024];
    unsigned t = threadIdx.x, count = (unsigned)n; /* at most 1024 */
    element own = 0;
    if (t < count) x[t] = in[t];
    __syncthreads(); /* x is loaded */
    if (t < count) {
        rank[t] = 0;
        for (unsigned i = 0; i < count; i++)
            if (before(x[i], x[t]) || (!before(x[t], x[i]) && i < t)) rank[t]++;
    }
    __syncthreads(); /* all threads have counted */
    if (t < count) own = x[t];
    __syncthreads(); /* all threads have taken their key, so x may be overwritten */
    if (t < count) x[rank[t]] = own;
    __syncthreads(); /* x is sorted */
    if (t < count) out[t] = x[t];
}
