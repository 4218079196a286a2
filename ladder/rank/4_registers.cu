/*
 * 4_registers.cu - rank and own key in registers.
 *
 * Idea:   data of only one thread belongs in registers. The own key is taken before the counting,
 *         so one barrier separates the counting from the overwriting: no thread overwrites a key
 *         that another thread's counting loop has still to read
 * Cost:   n steps with one load from shared memory each, three barriers
 * Wastes: still one block, and one key per load
 * From:   the article's last version (2010)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ladder/ladder.cuh"

extern "C" __global__ void rank_4(const element *in, uint64_t n, element *out)
{
    __shared__ element x[1024];
    unsigned t = threadIdx.x, count = (unsigned)n, rank = 0; /* at most 1024 */
    element own = 0;
    if (t < count) x[t] = in[t];
    __syncthreads(); /* x is loaded */
    if (t < count) {
        own = x[t];
        for (unsigned i = 0; i < count; i++)
            if (before(x[i], own) || (!before(own, x[i]) && i < t)) rank++;
    }
    __syncthreads(); /* all threads have counted, so x may be overwritten */
    if (t < count) x[rank] = own;
    __syncthreads(); /* x is sorted */
    if (t < count) out[t] = x[t];
}
